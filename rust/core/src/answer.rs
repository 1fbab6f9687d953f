//! Laws of answers on the integers, as recipes: what a query, a sampling, a post-processing and a noise make of entries.
//!
//! The normal forms with closed formulas serve the commonest situations at any size. Everything else is a recipe: it says how
//! a law comes about, and its probabilities are evaluated as balls ([`pmf`]) or as rationals ([`rationals`]), which share the
//! description and no computation. Answers that are no integers are labelled by integers: a hockey stick does not depend
//! on labels.

mod conditional;
mod few_values;
mod noise;
pub(crate) mod pmf;
mod poisson_binomial;
pub(crate) mod rationals;
pub(crate) mod sampling;
#[cfg(test)]
pub(crate) mod tests;

pub use noise::Noise;
pub use poisson_binomial::PoissonBinomial;
pub use sampling::Sampling;

use crate::budget::MAX_ABSOLUTE_ANSWER;
use crate::error::Error;
use crate::numbers::rational::Rational;
use pmf::Pmf;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A law on the integers.
#[derive(Clone, Debug)]
pub struct Law(Arc<Prepared>);

#[derive(Debug)]
struct Prepared {
    recipe: Recipe,
    /// Rows that were asked for, by the mass that they may leave out.
    rows: Mutex<Vec<(Option<u32>, Arc<Pmf>)>>,
}

/// How a law comes about.
#[derive(Clone, Debug)]
pub(crate) enum Recipe {
    /// Probabilities of `first`, `first + 1`, ….
    Table { first: i64, masses: Vec<Rational> },
    /// The number of hits in independent trials.
    Binomial { trials: u64, p: Rational },
    /// The sum of independent copies.
    Repeated { law: Law, count: u64 },
    /// The sum of independent numbers.
    Sum(Vec<Law>),
    /// One of several laws, drawn.
    Mixture(Vec<(Rational, Law)>),
    /// A constant is added.
    Shifted(Law, i64),
    /// A constant, not zero, is multiplied.
    Scaled(Law, i64),
    /// A sample is drawn, and the marked ones in it are counted.
    Sampled(Law, Sampling),
    /// Answers are published as others.
    Relabelled(Law, Relabelling),
    /// The r-th smallest of several numbers; see [`Law::order_statistic`].
    OrderStatistic { counts: Vec<Law>, rank: u64 },
    /// Added noise.
    Noise(Noise),
}

/// A deterministic post-processing, answers being labelled by integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relabelling {
    /// Answers of at most this become one: suppression of small counts.
    AtMost(i64),
    /// `⌊(a·factor + offset)/divisor⌋`: rounding.
    Quotient {
        /// Multiplies the answer.
        factor: i64,
        /// Is added.
        offset: i64,
        /// Divides; positive.
        divisor: i64,
    },
    /// Answers below the first become it, those above the second that one: bottom- and top-coding.
    Clamped(Option<i64>, Option<i64>),
    /// Single answers; others stay.
    Table(BTreeMap<i64, i64>),
}

impl Relabelling {
    /// The label of an answer.
    #[must_use]
    pub fn apply(&self, answer: i64) -> i64 {
        match self {
            Self::AtMost(most) => answer.max(*most),
            Self::Quotient { factor, offset, divisor } => {
                let moved = i128::from(answer) * i128::from(*factor) + i128::from(*offset);
                // The quotient of numbers below 2^123 by at least one; beyond i64 only for labels that nobody can ask for.
                let quotient = moved.div_euclid(i128::from(*divisor));
                i64::try_from(quotient).unwrap_or(if quotient < 0 { i64::MIN } else { i64::MAX })
            }
            Self::Clamped(least, most) => {
                let above = least.map_or(answer, |least| answer.max(least));
                most.map_or(above, |most| above.min(most))
            }
            Self::Table(labels) => labels.get(&answer).copied().unwrap_or(answer),
        }
    }

    /// Ends around the window of an answer, to which these relabellings are applied in turn: the answers on or below the first all have one
    /// label, or labels that no answer above it has; likewise on and above the last.
    pub(crate) fn ends_around(applied: &[&Self], window: [i64; 2]) -> [i64; 2] {
        let Some((inner, outer)) = applied.split_first() else { return window };
        inner.ends(window, Self::ends_around(outer, inner.labels_around(window)))
    }

    /// A window of labels that holds those of a window of answers, and whatever a table names.
    fn labels_around(&self, window: [i64; 2]) -> [i64; 2] {
        let ends = |answers: &mut dyn Iterator<Item = i64>| {
            answers.fold([i64::MAX, i64::MIN], |[least, most], one| [least.min(one), most.max(one)])
        };
        let Self::Table(labels) = self else {
            return ends(&mut window.map(|answer| self.apply(answer)).into_iter());
        };
        let told = labels.iter().flat_map(|(&answer, &label)| [answer, label]);
        let [least, most] = ends(&mut told.chain(window));
        [least.saturating_sub(1), most.saturating_add(1)]
    }

    /// The same for one relabelling, of whose labels these ends are wanted.
    fn ends(&self, [first, last]: [i64; 2], [low, high]: [i64; 2]) -> [i64; 2] {
        match self {
            Self::AtMost(most) => Self::Clamped(Some(*most), None).ends([first, last], [low, high]),
            Self::Clamped(floor, ceiling) => {
                let below = floor.map_or(low, |floor| low.max(floor));
                let above = ceiling.map_or(high, |ceiling| high.min(ceiling));
                let over = floor.map_or(last, |floor| floor.saturating_add(1));
                let under = ceiling.map_or(first, |ceiling| ceiling.saturating_sub(1));
                [first.min(below).min(under), last.max(above).max(over)]
            }
            Self::Quotient { factor: 0, .. } => [first, last],
            Self::Quotient { factor, offset, divisor } => {
                // The greatest answer a with a·factor + offset below label·divisor; for a negative factor, not below it.
                let before = |label: i128| {
                    let from = label * i128::from(*divisor) - i128::from(*offset);
                    let size = i128::from(factor.unsigned_abs());
                    let answer =
                        if *factor > 0 { (from - 1).div_euclid(size) } else { (-from).div_euclid(size) };
                    i64::try_from(answer).unwrap_or(if answer < 0 { i64::MIN } else { i64::MAX })
                };
                let ends = [before(low.into()), before(i128::from(high) + 1)];
                let [below, above] = if *factor > 0 { ends } else { [ends[1], ends[0]] };
                [first.min(below), last.max(above.saturating_add(1))]
            }
            Self::Table(_) => [low, high],
        }
    }
}

impl Law {
    fn new(recipe: Recipe) -> Self {
        Self(Arc::new(Prepared { recipe, rows: Mutex::new(Vec::new()) }))
    }

    pub(crate) fn recipe(&self) -> &Recipe {
        &self.0.recipe
    }

    /// Whether it is the very same object.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Probabilities of `first`, `first + 1`, ….
    ///
    /// # Errors
    /// A negative probability, a sum other than one, values beyond `2^60`.
    pub fn table(first: i64, masses: Vec<Rational>) -> Result<Self, Error> {
        let zero = Rational::from(0i64);
        let total = masses.iter().fold(zero.clone(), |sum, mass| sum.add(mass));
        if masses.iter().any(Rational::is_negative) || total != Rational::from(1i64) {
            return Err(Error::argument(format!(
                "the probabilities of a table must not be negative and must sum to one; they sum to {}",
                total.shown()
            )));
        }
        let last = i64::try_from(masses.len()).ok().and_then(|length| first.checked_add(length));
        if first.abs() > MAX_ABSOLUTE_ANSWER || last.is_none_or(|last| last > MAX_ABSOLUTE_ANSWER) {
            return Err(Error::argument("the values of a table must lie within ±2^60"));
        }
        Ok(Self::new(Recipe::Table { first, masses }))
    }

    /// A certain value.
    #[must_use]
    pub fn point(value: i64) -> Self {
        Self::new(Recipe::Table { first: value, masses: vec![Rational::from(1i64)] })
    }

    /// The number of hits in `trials` independent trials.
    ///
    /// # Errors
    /// `p` outside `[0, 1]`, more than `2^53` trials.
    pub fn binomial(trials: u64, p: &Rational) -> Result<Self, Error> {
        if p.is_negative() || *p > Rational::from(1i64) {
            return Err(Error::argument(format!("p = {}; a probability from 0 to 1 is required", p.shown())));
        }
        if trials > 1 << 53 {
            return Err(Error::argument(format!("trials = {trials}; at most 2^53 are allowed")));
        }
        if p.is_zero() || trials == 0 {
            return Ok(Self::point(0));
        }
        if *p == Rational::from(1i64) {
            return Ok(Self::point(trials as i64));
        }
        Ok(Self::new(Recipe::Binomial { trials, p: p.clone() }))
    }

    /// The sum of `count` independent numbers of this law.
    ///
    /// # Errors
    /// Sums beyond `2^60`.
    pub fn repeated(&self, count: u64) -> Result<Self, Error> {
        let law = match count {
            0 => Self::point(0),
            1 => self.clone(),
            _ => Self::new(Recipe::Repeated { law: self.clone(), count }),
        };
        law.in_reach()
    }

    /// The sum of independent numbers.
    ///
    /// # Errors
    /// Sums beyond `2^60`.
    pub fn sum(parts: Vec<Self>) -> Result<Self, Error> {
        match parts.as_slice() {
            [] => Ok(Self::point(0)),
            [one] => Ok(one.clone()),
            _ => Self::new(Recipe::Sum(parts)).in_reach(),
        }
    }

    /// One of several laws, drawn with these probabilities.
    ///
    /// # Errors
    /// Weights that are negative or do not sum to one.
    pub fn mixture(parts: Vec<(Rational, Self)>) -> Result<Self, Error> {
        let total = parts.iter().fold(Rational::from(0i64), |sum, (weight, _)| sum.add(weight));
        if parts.iter().any(|(weight, _)| weight.is_negative()) || total != Rational::from(1i64) {
            return Err(Error::argument(format!(
                "the weights of a mixture must not be negative and must sum to one; they sum to {}",
                total.shown()
            )));
        }
        let parts: Vec<_> = parts.into_iter().filter(|(weight, _)| !weight.is_zero()).collect();
        Ok(match parts.as_slice() {
            [(_, law)] => law.clone(),
            _ => Self::new(Recipe::Mixture(parts)),
        })
    }

    /// A constant is added.
    ///
    /// # Errors
    /// Answers beyond `2^60`.
    pub fn shifted(&self, by: i64) -> Result<Self, Error> {
        if by == 0 { Ok(self.clone()) } else { Self::new(Recipe::Shifted(self.clone(), by)).in_reach() }
    }

    /// A constant other than zero is multiplied.
    ///
    /// # Errors
    /// A factor of zero; answers beyond `2^60`.
    pub fn scaled(&self, by: i64) -> Result<Self, Error> {
        match by {
            0 => Err(Error::argument("an answer is not multiplied by zero")),
            1 => Ok(self.clone()),
            _ => Self::new(Recipe::Scaled(self.clone(), by)).in_reach(),
        }
    }

    /// The number of marked ones in a sample, this being the law of their number in the population.
    ///
    /// # Errors
    /// A sample that the population does not allow, a law of more marked ones than there are entries.
    pub fn sampled(&self, sampling: Sampling) -> Result<Self, Error> {
        sampling.check()?;
        let (least, most) = self.support();
        let population = sampling.population();
        let possible = least.is_some_and(|least| least >= 0)
            && most.is_some_and(|most| population.is_none_or(|population| most.unsigned_abs() <= population));
        if !possible {
            return Err(Error::argument("more marked entries, or fewer, than the population has"));
        }
        Ok(Self::new(Recipe::Sampled(self.clone(), sampling)))
    }

    /// Answers are published as others.
    ///
    /// # Errors
    /// A divisor that is not positive, ends in the wrong order.
    pub fn relabelled(&self, relabelling: Relabelling) -> Result<Self, Error> {
        let sensible = match &relabelling {
            Relabelling::Quotient { divisor, .. } => *divisor > 0,
            Relabelling::Clamped(Some(least), Some(most)) => least <= most,
            _ => true,
        };
        if !sensible {
            return Err(Error::argument(
                "a divisor above 0, and a lower end not above the upper one, are required",
            ));
        }
        Ok(Self::new(Recipe::Relabelled(self.clone(), relabelling)))
    }

    /// The `rank`-th smallest of numbers on `0, 1, …`. `counts[x]` is the law of the number of them that are at most `x`:
    /// `P[answer ≤ x] = P[counts[x] ≥ rank]`.
    ///
    /// The counts are of the same numbers, so that they do not fall with `x`. Where nothing changes from one to the next they are
    /// one object: then `x` is no possible answer.
    ///
    /// # Errors
    /// A rank of zero, or a rank above the number of values that are certainly at most the last one.
    pub fn order_statistic(counts: Vec<Self>, rank: u64) -> Result<Self, Error> {
        let all = counts.last().and_then(|count| count.support().0).unwrap_or(0);
        if rank == 0 || !u64::try_from(all).is_ok_and(|all| rank <= all) {
            return Err(Error::argument(format!("an order statistic needs a rank from 1 to {all}")));
        }
        Ok(Self::new(Recipe::OrderStatistic { counts, rank }))
    }

    /// Noise by itself.
    ///
    /// # Errors
    /// Parameters out of range.
    pub fn noise(noise: Noise) -> Result<Self, Error> {
        noise.check()?;
        Ok(Self::new(Recipe::Noise(noise)))
    }

    /// Noise, given that it lies between two numbers.
    ///
    /// # Errors
    /// A law that is no noise by itself; ends in the wrong order or far away.
    pub fn truncated(&self, least: i64, most: i64) -> Result<Self, Error> {
        let Recipe::Noise(noise) = self.recipe() else {
            return Err(Error::argument("only noise by itself is truncated"));
        };
        Self::noise(Noise::Truncated { noise: Box::new(noise.clone()), least, most })
    }

    /// The least and the greatest answer, where there are such.
    #[must_use]
    pub fn support(&self) -> (Option<i64>, Option<i64>) {
        let both = |least: i64, most: i64| (Some(least), Some(most));
        match self.recipe() {
            Recipe::Table { first, masses } => {
                let positive = |mass: &Rational| !mass.is_zero();
                let before = masses.iter().position(positive).unwrap_or(0) as i64;
                let after = masses.iter().rposition(positive).unwrap_or(0) as i64;
                both(first + before, first + after)
            }
            Recipe::Binomial { trials, .. } => both(0, *trials as i64),
            Recipe::Repeated { law, count } => {
                let times = |end: Option<i64>| end.map(|end| end.saturating_mul(*count as i64));
                let (least, most) = law.support();
                (times(least), times(most))
            }
            Recipe::Sum(parts) => parts.iter().map(Self::support).fold(both(0, 0), |sum, part| {
                let add = |a: Option<i64>, b: Option<i64>| a.zip(b).map(|(a, b)| a.saturating_add(b));
                (add(sum.0, part.0), add(sum.1, part.1))
            }),
            Recipe::Mixture(parts) => {
                let supports = || parts.iter().map(|(_, law)| law.support());
                let least = supports().map(|(least, _)| least).try_fold(i64::MAX, |a, b| b.map(|b| a.min(b)));
                let most = supports().map(|(_, most)| most).try_fold(i64::MIN, |a, b| b.map(|b| a.max(b)));
                (least, most)
            }
            Recipe::Shifted(law, by) => {
                let (least, most) = law.support();
                (least.map(|end| end.saturating_add(*by)), most.map(|end| end.saturating_add(*by)))
            }
            Recipe::Scaled(law, by) => {
                let (least, most) = law.support();
                let ends =
                    (least.map(|end| end.saturating_mul(*by)), most.map(|end| end.saturating_mul(*by)));
                if *by < 0 { (ends.1, ends.0) } else { ends }
            }
            Recipe::Sampled(law, sampling) => {
                let (least, most) = law.support();
                let (least, most) = sampling.support(least.unwrap_or(0), most.unwrap_or(MAX_ABSOLUTE_ANSWER));
                both(least, most)
            }
            Recipe::Relabelled(law, relabelling) => relabelled_support(law.support(), relabelling),
            Recipe::OrderStatistic { counts, .. } => both(0, counts.len() as i64 - 1),
            Recipe::Noise(noise) => noise.support(),
        }
    }

    /// Whether a sample of a population is drawn anywhere in it.
    pub(crate) fn is_sampled(&self) -> bool {
        match self.recipe() {
            Recipe::Sampled(..) => true,
            Recipe::Repeated { law, .. }
            | Recipe::Shifted(law, _)
            | Recipe::Scaled(law, _)
            | Recipe::Relabelled(law, _) => law.is_sampled(),
            Recipe::Sum(parts) => parts.iter().any(Self::is_sampled),
            Recipe::Mixture(parts) => parts.iter().any(|(_, law)| law.is_sampled()),
            Recipe::OrderStatistic { counts, .. } => counts.iter().any(Self::is_sampled),
            Recipe::Table { .. } | Recipe::Binomial { .. } | Recipe::Noise(_) => false,
        }
    }

    /// The number of answers without noise that has no bounds.
    #[must_use]
    pub fn span(&self) -> f64 {
        match (self.recipe(), self.support()) {
            (_, (Some(least), Some(most))) => most.abs_diff(least) as f64 + 1.0,
            (Recipe::Sum(parts), _) => parts.iter().map(Self::span).sum(),
            (Recipe::Shifted(law, _) | Recipe::Relabelled(law, _) | Recipe::Scaled(law, _), _) => law.span(),
            (Recipe::Mixture(parts), _) => parts.iter().map(|(_, law)| law.span()).fold(0.0, f64::max),
            _ => 1.0,
        }
    }

    /// A sum without its two-sided geometric noise, and that noise.
    pub(crate) fn without_noise(&self) -> Option<(Self, &Noise)> {
        if let Recipe::Shifted(law, by) = self.recipe() {
            let (data, noise) = law.without_noise()?;
            return Some((data.shifted(*by).ok()?, noise));
        }
        let Recipe::Sum(parts) = self.recipe() else { return None };
        let noise = |part: &Self| matches!(part.recipe(), Recipe::Noise(noise) if noise.alpha().is_some());
        let (noises, data): (Vec<&Self>, Vec<&Self>) = parts.iter().partition(|part| noise(part));
        let [only] = noises.as_slice() else { return None };
        let found = parts.iter().find(|part| part.is(only))?;
        let Recipe::Noise(noise) = found.recipe() else { return None };
        Some((Self::sum(data.into_iter().cloned().collect()).ok()?, noise))
    }

    /// Whether certainly every integer of the support is a possible answer.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        match self.recipe() {
            Recipe::Table { first, masses } => {
                let (Some(least), Some(most)) = self.support() else { return false };
                let inside = masses
                    .iter()
                    .skip(first.abs_diff(least) as usize)
                    .take(most.abs_diff(least) as usize + 1);
                inside.into_iter().all(|mass| !mass.is_zero())
            }
            Recipe::Binomial { .. } | Recipe::Noise(_) => true,
            Recipe::Repeated { law, .. } | Recipe::Shifted(law, _) => law.is_contiguous(),
            // Noise without bounds makes every integer possible.
            Recipe::Sum(parts) => {
                parts.iter().all(Self::is_contiguous) || parts.iter().any(Self::is_everywhere)
            }
            Recipe::Mixture(parts) => {
                let mut ends: Vec<_> = parts.iter().map(|(_, law)| law.support()).collect();
                ends.sort_unstable();
                let mut reached = ends.first().and_then(|ends| ends.1);
                let touching = parts.iter().all(|(_, law)| law.is_contiguous())
                    && ends.iter().all(|(least, most)| {
                        let touches = least.zip(reached).is_some_and(|(least, reached)| least <= reached + 1);
                        reached = reached.max(*most);
                        touches
                    });
                touching || parts.iter().any(|(_, law)| law.is_everywhere())
            }
            Recipe::Sampled(law, sampling) => law.is_contiguous() && sampling.is_contiguous(),
            Recipe::Relabelled(law, relabelling) => {
                let keeps = match relabelling {
                    Relabelling::AtMost(_) | Relabelling::Clamped(..) => true,
                    Relabelling::Quotient { factor, divisor, .. } => factor.abs() <= *divisor,
                    Relabelling::Table(_) => false,
                };
                keeps && law.is_contiguous()
            }
            Recipe::Scaled(..) | Recipe::OrderStatistic { .. } => false,
        }
    }

    /// Whether certainly every integer is a possible answer.
    fn is_everywhere(&self) -> bool {
        self.support() == (None, None) && self.is_contiguous()
    }

    /// Unless sums may come near to an overflow.
    fn in_reach(self) -> Result<Self, Error> {
        let far = |end: Option<i64>| {
            end.is_some_and(|end| !(-MAX_ABSOLUTE_ANSWER..=MAX_ABSOLUTE_ANSWER).contains(&end))
        };
        let (least, most) = self.support();
        if far(least) || far(most) {
            return Err(Error::argument("answers beyond ±2^60 are too large for a law of integers"));
        }
        Ok(self)
    }

    /// What was computed before for this law, if it was.
    fn remembered(&self, left_out: Option<u32>) -> Option<Arc<Pmf>> {
        let rows = self.0.rows.lock().ok()?;
        rows.iter().find(|(known, _)| *known == left_out).map(|(_, row)| Arc::clone(row))
    }

    fn remember(&self, left_out: Option<u32>, row: &Arc<Pmf>) {
        if let Ok(mut rows) = self.0.rows.lock() {
            rows.push((left_out, Arc::clone(row)));
        }
    }
}

/// The ends of what is published: of a table of single answers, the hull.
fn relabelled_support(
    (least, most): (Option<i64>, Option<i64>),
    relabelling: &Relabelling,
) -> (Option<i64>, Option<i64>) {
    let ends = match relabelling {
        Relabelling::AtMost(bottom) => {
            (Some(least.map_or(*bottom, |end| end.max(*bottom))), most.map(|end| end.max(*bottom)))
        }
        Relabelling::Quotient { factor, .. } if *factor < 0 => (most, least),
        Relabelling::Quotient { .. } => (least, most),
        Relabelling::Clamped(bottom, top) => {
            let low = least.map(|end| bottom.map_or(end, |bottom| end.max(bottom))).or(*bottom);
            let high = most.map(|end| top.map_or(end, |top| end.min(top))).or(*top);
            return (
                low.map(|end| top.map_or(end, |top| end.min(top))),
                high.map(|end| bottom.map_or(end, |bottom| end.max(bottom))),
            );
        }
        Relabelling::Table(labels) => {
            let hull = |end: Option<i64>, keep: fn(i64, i64) -> i64| {
                end.map(|end| labels.values().fold(end, |end, &label| keep(end, label)))
            };
            return (hull(least, i64::min), hull(most, i64::max));
        }
    };
    match relabelling {
        Relabelling::Quotient { .. } => {
            (ends.0.map(|end| relabelling.apply(end)), ends.1.map(|end| relabelling.apply(end)))
        }
        _ => ends,
    }
}
