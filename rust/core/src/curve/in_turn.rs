//! A bound for two entries that differ in several attributes: one attribute after the other is changed.
//!
//! Let `δ_k` bound the hockey stick of two entries that differ in attribute `k` alone, in both directions. Between entries `x` and `y` that differ in
//! `m` attributes lie `z_0 = x, z_1, …, z_m = y`, where `z_k` has the first `k` attributes of `y`. For every event
//!
//! ```text
//! P_{z_{k−1}}[A] ≤ e^{ε_k} P_{z_k}[A] + δ_k(ε_k),    so    Δ(ε_1 + … + ε_m) ≤ Σ_k e^{ε_1 + … + ε_{k−1}} δ_k(ε_k)
//! ```
//!
//! for every order of the attributes and all `ε_k ≥ 0` with a sum of at most `ε`. The form is that sum for the split and the order that a search finds.
//! The search is in plain doubles and needs no certainty: any split is a bound. Only the sum at the split that was found is certified.
//!
//! **The search.** `(f ∘ g)(ε) = min_x f(x) + e^x g(ε − x)` is associative, and in terms of `r = e^ε` a partial minimum of a jointly convex function
//! (`s g(r/s)` is the perspective of a convex `g`), so `f ∘ g` is convex in `r` again and each minimum over one number has one valley. Tables of `ln f`
//! stand for the functions. The attributes of one kind are composed by squaring, kinds one after the other, in all orders if these are few. The tables
//! come from a *guide*, a function that costs little and is about as large as the curve. Curves of few entries have kinks that tables do not follow, so
//! the split of few attributes is then improved by the guides themselves, two neighbours after the other.

use crate::budget::{MAX_ATTRIBUTES_IN_TURN, MAX_ATTRIBUTES_REFINED, MAX_KINDS_IN_ALL_ORDERS};
use crate::curve::Curve;
use crate::error::Error;
use crate::forms::{End, Epsilon, Form, HockeyStick};
use crate::interrupt::Interrupt;
use crate::numbers::approximate;
use crate::numbers::ball::Ball;
use std::sync::Arc;

/// Points of a table. They lie closer together at small ε.
const POINTS: usize = 64;
/// Stands for the logarithm of zero.
const NOTHING: f64 = -1e5;
/// A guide that is within this part of its limit is taken to be there.
const CLOSE_TO_LIMIT: f64 = 1e-9;
/// Beyond it a curve is at its limit: no ε of the search is larger.
const LARGEST_EPSILON: f64 = 4096.0;
/// Points at which a minimum is bracketed, and steps by the golden section.
const LOOKS: usize = 16;
const STEPS: usize = 40;
/// How often the split of few attributes is improved.
const SWEEPS: usize = 2;
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Attributes with one curve.
#[derive(Clone, Debug)]
pub struct Kind {
    /// `δ_k`, a bound of both directions.
    pub curve: Curve,
    /// What a search takes for it.
    pub guide: Curve,
    /// The number of these attributes.
    pub count: u64,
}

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct InTurn {
    kinds: Vec<Kind>,
}

impl InTurn {
    /// Attributes of these kinds.
    ///
    /// # Errors
    /// No attribute, or too many.
    pub fn new(kinds: Vec<Kind>) -> Result<Self, Error> {
        let total = kinds.iter().fold(0u64, |sum, kind| sum.saturating_add(kind.count));
        if kinds.is_empty() || kinds.iter().any(|kind| kind.count == 0) || total > MAX_ATTRIBUTES_IN_TURN {
            return Err(Error::argument(format!(
                "{total} attributes are changed in turn; 1 to {MAX_ATTRIBUTES_IN_TURN} are required"
            )));
        }
        Ok(Self { kinds })
    }

    /// The sum at a split, each part with the index of its kind, in the order of the attributes. What the parts leave of ε goes to the largest of them.
    fn at(
        &self,
        mut split: Vec<(usize, f64)>,
        epsilon: &Epsilon,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        give_the_rest(&mut split, epsilon.value)?;
        let (mut sum, mut before) = (Ball::ZERO, Ball::ZERO);
        for (kind, part) in split {
            let prepared = Epsilon::from_f64(part).ok_or_else(no_split)?;
            let delta = self.kinds[kind].curve.ball(&prepared, interrupt)?;
            sum = sum + before.exp() * delta;
            before = before + prepared.value;
        }
        Ok(sum.min(Ball::ONE))
    }

    /// The best split that is found.
    fn split(&self, epsilon: f64, interrupt: &dyn Interrupt) -> Result<Vec<(usize, f64)>, Error> {
        if epsilon == 0.0 {
            let zeros = self.kinds.iter().enumerate();
            return Ok(zeros.flat_map(|(k, kind)| (0..kind.count).map(move |_| (k, 0.0))).collect());
        }
        let mut powers = Vec::new();
        for (k, kind) in self.kinds.iter().enumerate() {
            let single = Table::of(k, &kind.guide, epsilon, interrupt)?;
            powers.push(power(&Arc::new(single), kind.count, epsilon));
        }
        let best = Self::orders(&powers, epsilon)
            .iter()
            .map(|order| {
                let first = Arc::clone(&powers[order[0]]);
                order[1..].iter().fold(first, |all, &k| Arc::new(Table::composed(&all, &powers[k], epsilon)))
            })
            .min_by(|one, other| one.at(epsilon).total_cmp(&other.at(epsilon)));
        let mut found = Vec::new();
        if let Some(best) = best {
            best.recover(epsilon, &mut found);
        }
        if found.len() <= MAX_ATTRIBUTES_REFINED {
            for _ in 0..SWEEPS {
                self.refine(&mut found, interrupt)?;
            }
        }
        Ok(found)
    }

    /// Moves ε between neighbours, each pair to its best split: the sum of the others does not change.
    fn refine(&self, split: &mut [(usize, f64)], interrupt: &dyn Interrupt) -> Result<(), Error> {
        for k in 1..split.len() {
            let [(first, part), (second, other)] = [split[k - 1], split[k]];
            let both = part + other;
            let delta = |kind: usize, epsilon: f64| {
                let prepared = Epsilon::from_f64(epsilon.clamp(0.0, both)).ok_or_else(no_split)?;
                Ok(logarithm(self.kinds[kind].guide.ball(&prepared, interrupt)?))
            };
            let value = |x: f64| Ok::<f64, Error>(sum_of(delta(first, x)?, x + delta(second, both - x)?));
            let (mut best, mut least) = (part, value(part)?);
            let (mut low, mut high) = (0.0, both);
            for _ in 0..STEPS {
                let inner = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
                let values = [value(inner[0])?, value(inner[1])?];
                for (x, found) in inner.into_iter().zip(values) {
                    if found < least {
                        (best, least) = (x, found);
                    }
                }
                if values[0] <= values[1] {
                    high = inner[1];
                } else {
                    low = inner[0];
                }
            }
            split[k - 1].1 = best;
            split[k].1 = both - best;
        }
        Ok(())
    }

    /// The orders of kinds that are tried: all if these are few, else by their value both ways.
    fn orders(powers: &[Arc<Table>], epsilon: f64) -> Vec<Vec<usize>> {
        let mut order: Vec<usize> = (0..powers.len()).collect();
        if powers.len() <= MAX_KINDS_IN_ALL_ORDERS {
            return permutations(&order);
        }
        let equal = epsilon / powers.len() as f64;
        order.sort_by(|&one, &other| powers[one].at(equal).total_cmp(&powers[other].at(equal)));
        let backwards = order.iter().rev().copied().collect();
        vec![order, backwards]
    }

    /// The same attributes with other curves.
    fn with(&self, change: impl Fn(&Curve) -> Curve) -> Self {
        let changed = |kind: &Kind| Kind { curve: change(&kind.curve), ..kind.clone() };
        Self { kinds: self.kinds.iter().map(changed).collect() }
    }
}

fn no_split() -> Error {
    Error::precision("epsilon cannot be split among the attributes")
}

/// Adds to the largest part what the parts leave of ε, rounded down, so that they do not exceed ε.
fn give_the_rest(split: &mut [(usize, f64)], epsilon: Ball) -> Result<(), Error> {
    let largest = (0..split.len()).fold(0, |best, k| if split[k].1 > split[best].1 { k } else { best });
    let mut left = epsilon;
    for (k, &(_, part)) in split.iter().enumerate() {
        if k != largest {
            left = left - Ball::from_f64(part).ok_or_else(no_split)?;
        }
    }
    let rest = left.to_enclosure().lower();
    let exact = Ball::from_f64(rest).filter(|_| rest >= 0.0).ok_or_else(no_split)?;
    debug_assert!(!left.certainly_less(exact));
    split[largest].1 = rest;
    Ok(())
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    if items.len() <= 1 {
        return vec![items.to_vec()];
    }
    let starting_with = |&first: &usize| {
        let others: Vec<usize> = items.iter().copied().filter(|&other| other != first).collect();
        permutations(&others).into_iter().map(move |rest| [vec![first], rest].concat())
    };
    items.iter().flat_map(starting_with).collect()
}

/// `ln f` at [`POINTS`] + 1 points from 0 to `span`; beyond it `f` is constant.
#[derive(Debug)]
struct Table {
    span: f64,
    logarithms: Vec<f64>,
    made_of: MadeOf,
}

/// Where a table comes from.
#[derive(Debug)]
enum MadeOf {
    Kind(usize),
    Two(Arc<Table>, Arc<Table>),
}

impl Table {
    /// The table of a guide up to ε, or up to where it is at its limit.
    fn of(kind: usize, guide: &Curve, epsilon: f64, interrupt: &dyn Interrupt) -> Result<Self, Error> {
        let at = |epsilon: f64| {
            let prepared = Epsilon::from_f64(epsilon).ok_or_else(no_split)?;
            Ok(logarithm(guide.within(1e-4, &prepared, interrupt)?))
        };
        let limit = logarithm(guide.mass_ball(interrupt)?);
        let mut span = 1.0f64;
        while span < epsilon && at(span)? > limit.max(-700.0) + CLOSE_TO_LIMIT {
            span *= 2.0;
        }
        let span = span.min(epsilon);
        let logarithms = points(span).map(at).collect::<Result<_, Error>>()?;
        Ok(Self { span, logarithms, made_of: MadeOf::Kind(kind) })
    }

    /// `f ∘ g`.
    fn composed(first: &Arc<Self>, second: &Arc<Self>, epsilon: f64) -> Self {
        let span = (first.span + second.span).min(epsilon);
        let logarithms = points(span).map(|at| best(first, second, at).1).collect();
        Self { span, logarithms, made_of: MadeOf::Two(Arc::clone(first), Arc::clone(second)) }
    }

    /// `ln f`, by a cubic through the neighbouring points.
    fn at(&self, epsilon: f64) -> f64 {
        let place = (epsilon / self.span).clamp(0.0, 1.0).sqrt() * POINTS as f64;
        let left = (place as usize).min(POINTS - 1);
        let [t, y] = [place - left as f64, self.logarithms[left]];
        let next = self.logarithms[left + 1];
        let before = if left == 0 { 2.0 * y - next } else { self.logarithms[left - 1] };
        let after = if left + 2 > POINTS { 2.0 * next - y } else { self.logarithms[left + 2] };
        let [start, end] = [(next - before) / 2.0, (after - y) / 2.0];
        let gap = next - y;
        let cubic = y + t * (start + t * (3.0 * gap - 2.0 * start - end + t * (start + end - 2.0 * gap)));
        cubic.clamp(y.min(next), y.max(next))
    }

    /// The parts of ε, in the order of the attributes.
    fn recover(&self, epsilon: f64, found: &mut Vec<(usize, f64)>) {
        match &self.made_of {
            MadeOf::Kind(kind) => found.push((*kind, epsilon)),
            MadeOf::Two(first, second) => {
                let part = best(first, second, epsilon).0;
                first.recover(part, found);
                second.recover(epsilon - part, found);
            }
        }
    }
}

/// From 0 to `span`, in squares.
fn points(span: f64) -> impl Iterator<Item = f64> {
    (0..=POINTS).map(move |j| {
        let share = j as f64 / POINTS as f64;
        span * share * share
    })
}

/// About the logarithm of an upper end.
fn logarithm(value: Ball) -> f64 {
    if value.is_positive() { value.ln().to_enclosure().upper().max(NOTHING) } else { NOTHING }
}

/// `ln(e^a + e^b)`.
fn sum_of(a: f64, b: f64) -> f64 {
    a.max(b) + approximate::ln(1.0 + approximate::exp(-(a - b).abs()))
}

/// The minimum over `x` of `f(x) + e^x g(ε − x)`, and its logarithm.
fn best(first: &Table, second: &Table, epsilon: f64) -> (f64, f64) {
    let value = |x: f64| sum_of(first.at(x), x + second.at(epsilon - x));
    let most = epsilon.min(first.span);
    let looks: Vec<f64> = (0..=LOOKS).map(|j| most * j as f64 / LOOKS as f64).collect();
    let least = (0..=LOOKS).fold(0, |best, j| if value(looks[j]) < value(looks[best]) { j } else { best });
    let (mut low, mut high) = (looks[least.saturating_sub(1)], looks[(least + 1).min(LOOKS)]);
    for _ in 0..STEPS {
        let (left, right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
        if value(left) <= value(right) {
            high = right;
        } else {
            low = left;
        }
    }
    let candidates = [looks[least], low.midpoint(high)].map(|x| (x, value(x)));
    if candidates[1].1 < candidates[0].1 { candidates[1] } else { candidates[0] }
}

/// `count` attributes of one kind.
fn power(single: &Arc<Table>, mut count: u64, epsilon: f64) -> Arc<Table> {
    let (mut square, mut all) = (Arc::clone(single), None);
    loop {
        if count % 2 == 1 {
            all = Some(match all {
                None => Arc::clone(&square),
                Some(others) => Arc::new(Table::composed(&others, &square, epsilon)),
            });
        }
        count /= 2;
        match all {
            Some(all) if count == 0 => return all,
            _ => square = Arc::new(Table::composed(&square, &square, epsilon)),
        }
    }
}

impl HockeyStick for InTurn {
    fn delta(&self, epsilon: &Epsilon, _: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let about = epsilon.value.to_enclosure().lower().clamp(0.0, LARGEST_EPSILON);
        self.at(self.split(about, interrupt)?, epsilon, interrupt)
    }

    /// The value at the largest ε of a search, which is not below the limit.
    fn infinity_mass(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let largest = Epsilon::from_f64(LARGEST_EPSILON).ok_or_else(no_split)?;
        self.delta(&largest, Ball::ZERO, interrupt)
    }

    fn reversed(&self) -> Form {
        Arc::new(self.with(Curve::reversed))
    }

    fn terms(&self) -> f64 {
        self.kinds.iter().map(|kind| kind.count as f64 * kind.curve.terms()).sum()
    }

    fn is_bracket(&self) -> bool {
        self.kinds.iter().any(|kind| kind.curve.is_bracket())
    }

    fn end(&self, end: End) -> Option<Form> {
        self.is_bracket().then(|| Arc::new(self.with(|curve| curve.end(end))) as Form)
    }

    fn is_loose(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::CountFamily;
    use crate::interrupt::Uninterrupted;
    use crate::inverse;
    use crate::numbers::rational::Rational;
    use crate::trade_off;

    fn number(text: &str) -> Rational {
        Rational::parse(text).unwrap()
    }

    fn count(size: u64, p: &str) -> Curve {
        CountFamily::new(&number(p), &number(p), None).unwrap().of_size(size).unwrap()
    }

    fn in_turn(kinds: &[(&Curve, u64)]) -> Curve {
        let kind =
            |&(curve, count): &(&Curve, u64)| Kind { curve: curve.clone(), guide: curve.clone(), count };
        InTurn::new(kinds.iter().map(kind).collect()).unwrap().into()
    }

    fn delta(curve: &Curve, epsilon: f64) -> f64 {
        curve.delta_at(epsilon, &Uninterrupted).unwrap().upper()
    }

    #[test]
    fn one_attribute_is_its_own_curve() {
        let curve = count(40, "0.3");
        for epsilon in [0.0, 0.01, 0.3, 1.0, 9.0, 200.0] {
            let (found, truth) = (delta(&in_turn(&[(&curve, 1)]), epsilon), delta(&curve, epsilon));
            assert!((found - truth).abs() <= 1e-14 * truth, "{epsilon}: {found} {truth}");
        }
    }

    /// At ε = 0 nothing is split, and total variation distances add up.
    #[test]
    fn at_zero_the_curves_add_up() {
        let (one, other) = (count(40, "0.3"), count(900, "0.6"));
        let sum = 2.0 * delta(&one, 0.0) + delta(&other, 0.0);
        let found = delta(&in_turn(&[(&one, 2), (&other, 1)]), 0.0);
        assert!((found - sum).abs() <= 1e-14, "{found} {sum}");
        assert_eq!(delta(&in_turn(&[(&count(2, "0.3"), 5)]), 0.0), 1.0, "no δ exceeds 1");
    }

    /// The sum at every split is at least the minimum. The one that is found is hardly above the least on a fine grid, in the better order.
    #[test]
    fn no_split_of_two_is_much_better_than_the_one_that_is_found() {
        let (one, other) = (count(60, "0.3"), count(400, "0.5"));
        for epsilon in [0.02, 0.2, 0.7] {
            let found = delta(&in_turn(&[(&one, 1), (&other, 1)]), epsilon);
            let mut least = 1.0f64;
            for (first, second) in [(&one, &other), (&other, &one)] {
                for j in 0..=200 {
                    let part = epsilon * f64::from(j) / 200.0;
                    least = least.min(delta(first, part) + part.exp() * delta(second, epsilon - part));
                }
            }
            assert!(found <= 1.001 * least && found >= 0.999 * least, "{epsilon}: {found} {least}");
        }
    }

    /// Three attributes of one kind, on a grid of both parts.
    #[test]
    fn no_split_of_three_is_much_better() {
        let curve = count(100, "0.4");
        let values: Vec<f64> = (0..=60).map(|j| delta(&curve, f64::from(j) * 0.01)).collect();
        let sum = |i: usize, j: usize| {
            let [first, second] = [i, j].map(|part| part as f64 * 0.01);
            values[i] + first.exp() * values[j] + (first + second).exp() * values[60 - i - j]
        };
        let least = (0..=60).flat_map(|i| (0..=60 - i).map(move |j| (i, j))).map(|(i, j)| sum(i, j));
        let least = least.fold(1.0, f64::min);
        let found = delta(&in_turn(&[(&curve, 3)]), 0.6);
        assert!(found <= 1.000_1 * least && found >= 0.999 * least, "{found} {least}");
    }

    /// With more ε to split, or fewer attributes, the bound is smaller; its inverse and its trade-off function are found.
    #[test]
    fn it_is_a_curve_like_every_other() {
        let curve = count(300, "0.4");
        let several = in_turn(&[(&curve, 7)]);
        let mut before = 1.0;
        for j in 0..40 {
            let at = f64::from(j) * 0.1;
            let [found, fewer, alone] =
                [&several, &in_turn(&[(&curve, 6)]), &curve].map(|curve| delta(curve, at));
            assert!(found <= before * 1.000_001 && fewer <= found && alone <= fewer, "{at}");
            before = found;
        }
        let level = number("0.01");
        let found = inverse::epsilon(&several, &level, &Uninterrupted).unwrap();
        assert!(delta(&several, found.upper()) <= 0.01 && found.width() < 1e-9);
        assert_eq!(inverse::epsilon(&several, &number("0"), &Uninterrupted).unwrap().upper(), f64::INFINITY);
        let beta = trade_off::beta(&several, &number("0.05"), &Uninterrupted).unwrap();
        assert!(
            beta.lower() > 0.3
                && beta.lower() <= trade_off::beta(&curve, &number("0.05"), &Uninterrupted).unwrap().upper()
        );
        let logarithm = several.log_delta(&number("40"), &Uninterrupted).unwrap();
        assert!(logarithm.upper() < -40.0 && logarithm.width() < 1e-6);
    }

    /// Where an answer of one attribute gives it away, so does it here: the limit is not zero.
    #[test]
    fn the_limit_is_that_of_the_best_split() {
        let (small, large) = (count(4, "0.6"), count(2000, "0.5"));
        let both = in_turn(&[(&small, 1), (&large, 1)]);
        let limit = both.infinity_mass(&Uninterrupted).unwrap();
        assert!(limit.lower() >= 0.216 && limit.upper() < 0.2161, "{limit:?}");
        assert!(delta(&both, 3000.0) >= 0.216);
    }

    #[test]
    fn no_attributes_and_too_many_are_refused() {
        let kind = |count| Kind { curve: self::count(4, "0.6"), guide: self::count(4, "0.6"), count };
        assert!(InTurn::new(vec![]).is_err() && InTurn::new(vec![kind(0)]).is_err());
        let refused = InTurn::new(vec![kind(4000), kind(97)]).unwrap_err().to_string();
        assert_eq!(refused, "4097 attributes are changed in turn; 1 to 4096 are required");
        assert!(InTurn::new(vec![kind(4096)]).is_ok());
    }
}
