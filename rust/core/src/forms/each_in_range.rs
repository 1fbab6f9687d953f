//! The count of a property that each of the other entries has with a probability of its own, anywhere in a range.
//!
//! `N` other entries are independent, entry i has the property with a probability `p_i` in `[lo, hi]`, and the answer is `d + S` or `S`, `S` their number.
//! With `r = e^ε` the form is the supremum of `H_r(d + S ‖ S)`, or of `H_r(S ‖ d + S)`, over all `p_1, …, p_N`.
//!
//! **Vertices.** For each event `A` the advantage `P[d + S ∈ A] − r P[S ∈ A]` is affine in each `p_i`, so their maximum over all events is convex in each,
//! and its supremum over the box is attained where every `p_i` is `lo` or `hi`. Only their number matters:
//!
//! ```text
//! sup Δ = max_{0 ≤ k ≤ N} Δ(k, N−k),     Δ(k, l): the hockey stick for S = Bin(k, hi) + Bin(l, lo).
//! ```
//!
//! **Blocks.** An entry that is revealed shifts both answers by the same number. What is told in addition raises the hockey stick or leaves it (data
//! processing), and given the revealed bits it is that of the others. So all `k` from `k₁` to `k₂` have
//!
//! ```text
//! Δ(k, N−k) ≤ Δ(k₁, N−k₂),
//! ```
//!
//! by revealing the `k₂−k₁` entries whose end is left open. A block is split in two while its bound is above what was found by more than the tolerance; one
//! of a single `k` is a value. The tolerance falls step by step, so that a search that stops at its limit of work has spent it evenly. What is returned is
//! everything from the largest value that was found, which is attained, to the largest bound of the blocks that were not split.
//!
//! Each `Δ(k, l)` is a [`GroupedCount`]'s: the law of `S` is log-concave.

mod tilted;

use super::direction::Directed;
use super::grouped_count::{GroupedCount, oriented};
use super::hockey_stick::{End, Form, HockeyStick, WrittenOut};
use super::{Answers, Direction, Epsilon};
use crate::answer::Law;
use crate::budget::{
    MAX_EACH_CERTAIN, MAX_EACH_ROUGHLY_CERTAIN, MAX_EACH_VALUES, MAX_EACH_WORK, MAX_EACH_WORK_BEYOND,
    MAX_EACH_WRITTEN_OUT,
};
use crate::error::Error;
use crate::fourier::{Lattice, LatticeSum};
use crate::interrupt::Interrupt;
use crate::laws::Probability;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use std::sync::Arc;

/// Relative gaps between the bounds of blocks and the largest value, one after the other. Bounds are known to about the last.
const TOLERANCES: [f64; 11] = [1e3, 10.0, 1.0, 0.3, 0.1, 0.04, 1.5e-2, 1e-4, 1e-6, 1e-9, 1e-12];
/// The gap that is worth most work.
const WANTED: f64 = 5e-3;
/// The gap at which a rough search of many entries ends.
const ROUGH: f64 = 1.5e-2;
/// The same where the largest value is below [`RARE`].
const ROUGH_IF_RARE: f64 = 4e-2;
/// Values below this matter less to what a rough search is for.
const RARE: f64 = 1e-6;

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct EachInRange {
    others: u64,
    gap: u64,
    given: Arc<(Rational, Rational)>,
    /// One end of the bracket alone.
    end: Option<End>,
    /// Whether a bracket of about [`ROUGH`] is enough.
    rough: bool,
}

/// All numbers of entries at the upper end from the first to the last, and what none of them exceeds.
struct Block {
    first: u64,
    last: u64,
    bound: Ball,
}

impl EachInRange {
    /// `others` entries with probabilities from `lower` to `upper`, and answers that are `gap` apart.
    ///
    /// # Errors
    /// Ends outside `[0, 1]` or in the wrong order, a gap of 0 or above 2^53, 2^53 entries or more.
    pub fn new(others: u64, gap: u64, lower: &Rational, upper: &Rational) -> Result<Self, Error> {
        if lower.is_negative() || *upper > Rational::from(1i64) || lower > upper {
            return Err(Error::argument("a range of probabilities needs 0 ≤ lower ≤ upper ≤ 1"));
        }
        if !(1..=1 << 53).contains(&gap) {
            return Err(Error::argument(format!("gap = {gap}; an integer from 1 to 2^53 is required")));
        }
        if others >= 1 << 53 {
            return Err(Error::argument(format!("others = {others}; at most 2^53 − 1 are allowed")));
        }
        Ok(Self { others, gap, given: Arc::new((lower.clone(), upper.clone())), end: None, rough: false })
    }

    /// The same, whose values for many entries are brackets of about two per cent, or four below a millionth.
    #[must_use]
    pub fn roughly(self) -> Self {
        Self { rough: true, ..self }
    }

    /// Whether some value may be a bracket: see [`MAX_EACH_CERTAIN`].
    fn is_wide(&self) -> bool {
        self.others > if self.rough { MAX_EACH_ROUGHLY_CERTAIN } else { MAX_EACH_CERTAIN }
    }

    /// Whether such a bracket is enough.
    fn is_coarse(&self) -> bool {
        self.rough && self.is_wide()
    }

    /// `k` other entries at the upper end and `l` at the lower one.
    fn at(&self, k: u64, l: u64) -> Result<GroupedCount, Error> {
        GroupedCount::new(vec![(k, self.given.1.clone()), (l, self.given.0.clone())])
    }

    /// Whether some choice of probabilities tells the values apart with certainty.
    fn is_certain(&self) -> bool {
        self.others < self.gap || self.given.0.is_zero() || self.given.1 == Rational::from(1i64)
    }

    /// `sup Δ_{v,w}(ε)`, for an ε of either sign.
    ///
    /// # Errors
    /// As [`GroupedCount::delta`].
    pub fn delta(
        &self,
        direction: Direction,
        epsilon: &Epsilon,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        if epsilon.is_negative() {
            return epsilon.reflect(|opposite| self.delta(direction.reversed(), opposite, interrupt));
        }
        if self.is_certain() {
            return Ok(Ball::ONE);
        }
        let search = self.search(direction, epsilon, interrupt)?;
        if self.given.0 == self.given.1 {
            return search.value(self.others, 0);
        }
        let (attained, rest) = search.bracket()?;
        let proved = attained.max(rest).min(Ball::ONE);
        Ok(match self.end {
            Some(End::Lower) => attained,
            None if rest.certainly_less(attained) => attained,
            None => attained.hull(proved),
            Some(_) => proved,
        })
    }

    /// The search at one ε ≥ 0, for a range that holds neither 0 nor 1.
    fn search<'a>(
        &'a self,
        direction: Direction,
        epsilon: &'a Epsilon,
        interrupt: &'a dyn Interrupt,
    ) -> Result<Search<'a>, Error> {
        let (lower, upper) = (Probability::new(&self.given.0)?, Probability::new(&self.given.1)?);
        let ends = [lower, upper].map(|at| oriented(at, direction));
        let deviations = ends.map(|at| (self.others as f64 * (at.p * at.q).to_enclosure().upper()).sqrt());
        // Of long rows the transform is inverted instead, at a constant cost.
        let work = (1e3 + 20.0 * deviations[0].max(deviations[1])).min(1.7e5);
        Ok(Search { of: self, direction, epsilon, interrupt, ends, work })
    }

    /// The limit for ε → ∞: `P[S > N−d]`, which rises with every probability.
    fn infinity_mass(&self, direction: Direction, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        if self.is_certain() {
            return Ok(Ball::ONE);
        }
        let end = match direction {
            Direction::OneAgainstZero => &self.given.1,
            Direction::ZeroAgainstOne => &self.given.0,
        };
        if self.gap == 1 {
            return Ok(oriented(Probability::new(end)?, direction).p.powi(self.others));
        }
        let count = GroupedCount::new(vec![(self.others, end.clone())])?;
        let (small, large) = count.parts(direction);
        LatticeSum::new(all(&small, &large)).upper_tail((self.others - self.gap + 1) as i64, interrupt)
    }

    /// The laws of the answer for every number of entries at the upper end.
    fn written_out(&self, direction: Direction) -> Result<Vec<Answers>, Error> {
        if self.others > MAX_EACH_WRITTEN_OUT {
            return Err(Error::precision(format!(
                "digits and exact values of a count of {} other entries with a probability of their own each take too long; up to \
                 {MAX_EACH_WRITTEN_OUT} are tried, and delta() without digits= encloses it for any number",
                self.others
            )));
        }
        let (lower, upper) = (&self.given.0, &self.given.1);
        let last = if lower == upper { 0 } else { self.others };
        let laws = |k: u64| {
            let others = Law::sum(vec![Law::binomial(k, upper)?, Law::binomial(self.others - k, lower)?])?;
            Ok(Answers::in_direction(others.shifted(self.gap as i64)?, others, direction))
        };
        (0..=last).map(laws).collect()
    }
}

/// All parts of a count.
fn all<'a>(small: &'a dyn Lattice, large: &'a [impl Lattice]) -> Vec<&'a dyn Lattice> {
    std::iter::once(small).chain(large.iter().map(|group| group as &dyn Lattice)).collect()
}

/// The search for the worst number of entries at the upper end, at one ε ≥ 0.
struct Search<'a> {
    of: &'a EachInRange,
    direction: Direction,
    epsilon: &'a Epsilon,
    interrupt: &'a dyn Interrupt,
    /// Both ends, read in the direction.
    ends: [Probability; 2],
    /// The approximate number of terms of one bound.
    work: f64,
}

impl Search<'_> {
    /// `Δ(k, l)`.
    fn value(&self, k: u64, l: u64) -> Result<Ball, Error> {
        self.of.at(k, l)?.delta_of_gap(self.of.gap, self.direction, self.epsilon, self.interrupt)
    }

    /// A bound of `Δ(k, l)` next to it.
    fn bound(&self, k: u64, l: u64) -> Result<Ball, Error> {
        let [lower, upper] = &self.ends;
        let quick = if k + l < self.of.gap {
            None
        } else {
            tilted::upper_bound((k, upper), (l, lower), self.of.gap, self.epsilon)
        };
        match quick {
            Some(bound) => Ok(bound.min(Ball::ONE)),
            None => self.value(k, l),
        }
    }

    /// The largest value that was found, and what all other values do not exceed.
    fn bracket(&self) -> Result<(Ball, Ball), Error> {
        let n = self.of.others;
        let mut singles = vec![(0, self.bound(0, n)?), (n, self.bound(n, 0)?)];
        let mut open = Vec::new();
        if n > 1 {
            open.push(Block { first: 1, last: n - 1, bound: self.bound(1, 1)? });
        }
        // The largest bound of a single k; it decides what is split, not what is true.
        let mut leading = singles.iter().fold(Ball::ZERO, |leading, single| leading.max(single.1));
        let (mut settled, mut work) = (Ball::ZERO, 0.0);
        for tolerance in TOLERANCES {
            if tolerance < self.enough(leading) {
                break;
            }
            let factor = Ball::from_f64(1.0 + tolerance).unwrap_or(Ball::ONE);
            let mut waiting = Vec::new();
            while let Some(block) = open.pop() {
                if !(leading * factor).certainly_less(block.bound) {
                    waiting.push(block);
                    continue;
                }
                let most = if tolerance > WANTED { MAX_EACH_WORK } else { MAX_EACH_WORK_BEYOND };
                if self.of.is_wide() && work >= most {
                    settled = settled.max(block.bound);
                    continue;
                }
                self.interrupt.check()?;
                let middle = block.first.midpoint(block.last);
                for (first, last) in [(block.first, middle), (middle + 1, block.last)] {
                    if first > last {
                        continue;
                    }
                    let bound = self.bound(first, n - last)?;
                    work += self.work;
                    if first == last {
                        leading = leading.max(bound);
                        singles.push((first, bound));
                    } else {
                        open.push(Block { first, last, bound });
                    }
                }
            }
            open = waiting;
        }
        let settled = open.into_iter().fold(settled, |settled, block| settled.max(block.bound));
        self.decided(singles, settled)
    }

    /// The gap at which the search ends where this is the largest value.
    fn enough(&self, leading: Ball) -> f64 {
        if !self.of.is_coarse() {
            0.0
        } else if leading.to_enclosure().upper() < RARE {
            ROUGH_IF_RARE
        } else {
            ROUGH
        }
    }

    /// The most promising single k are evaluated until no other one can exceed what was found.
    fn decided(&self, mut singles: Vec<(u64, Ball)>, settled: Ball) -> Result<(Ball, Ball), Error> {
        let n = self.of.others;
        let most = if self.of.is_coarse() { 1 } else { MAX_EACH_VALUES };
        let (mut found, mut rest) = (Ball::ZERO, settled);
        for evaluated in 0.. {
            let next = singles
                .iter()
                .enumerate()
                .reduce(|largest, next| if largest.1.1.certainly_less(next.1.1) { next } else { largest });
            let Some((index, &(k, bound))) = next else { break };
            if evaluated == most || bound.certainly_less(found) {
                rest = rest.max(bound);
                break;
            }
            found = found.max(self.value(k, n - k)?);
            singles.swap_remove(index);
        }
        Ok((found, rest))
    }
}

impl HockeyStick for Directed<EachInRange> {
    fn delta(&self, epsilon: &Epsilon, _: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        self.0.delta(self.1, epsilon, interrupt)
    }

    fn infinity_mass(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        self.0.infinity_mass(self.1, interrupt)
    }

    fn reversed(&self) -> Form {
        Arc::new(self.opposite())
    }

    fn terms(&self) -> f64 {
        let one = self.0.at(self.0.others / 2, self.0.others.div_ceil(2)).map_or(0.0, |count| count.terms());
        one * 100.0
    }

    fn written_out(&self) -> Result<Option<WrittenOut>, Error> {
        self.0.written_out(self.1).map(|laws| Some(WrittenOut::Worst(laws)))
    }

    fn is_bracket(&self) -> bool {
        self.0.end.is_none() && self.0.is_wide()
    }

    fn end(&self, end: End) -> Option<Form> {
        let one = EachInRange { end: Some(end), ..self.0.clone() };
        self.is_bracket().then(|| Arc::new(Self(one, self.1)) as Form)
    }
}

#[cfg(test)]
mod tests {
    use super::super::grouped_count::tests::{contains, rational};
    use super::*;
    use crate::forms::BinomialRange;
    use crate::interrupt::Uninterrupted;
    use proptest::prelude::*;

    fn over(a: u64, b: u64) -> Rational {
        Rational::from(a).div(&Rational::from(b)).unwrap()
    }

    fn delta(count: &EachInRange, direction: Direction, epsilon: f64) -> Ball {
        count.delta(direction, &Epsilon::from_f64(epsilon).unwrap(), &Uninterrupted).unwrap()
    }

    /// The law of a sum of bits, multiplied out in rationals.
    fn law(probabilities: &[Rational]) -> Vec<Rational> {
        let (zero, one) = (Rational::from(0i64), Rational::from(1i64));
        probabilities.iter().fold(vec![one.clone()], |law, p| {
            let shifted = std::iter::once(zero.clone()).chain(law.clone());
            let padded = law.iter().cloned().chain([zero.clone()]);
            padded.zip(shifted).map(|(stays, moves)| stays.mul(&one.sub(p)).add(&moves.mul(p))).collect()
        })
    }

    /// `H_r` of `gap + S` and `S`, in this direction, from the definition.
    fn by_definition(probabilities: &[Rational], gap: usize, direction: Direction, epsilon: f64) -> Ball {
        let ratio = Ball::from_f64(epsilon).unwrap().exp();
        let law: Vec<Ball> = law(probabilities).iter().map(Ball::from_rational).collect();
        let at = |k: usize| law.get(k).copied().unwrap_or(Ball::ZERO);
        (0..law.len() + gap).fold(Ball::ZERO, |sum, k| {
            let (high, low) = (if k < gap { Ball::ZERO } else { at(k - gap) }, at(k));
            let (v, w) = match direction {
                Direction::OneAgainstZero => (high, low),
                Direction::ZeroAgainstOne => (low, high),
            };
            sum + (v - ratio * w).max(Ball::ZERO)
        })
    }

    /// Every number of entries at the upper end.
    fn by_vertices(
        n: u64,
        (lo, hi): (&Rational, &Rational),
        gap: usize,
        direction: Direction,
        epsilon: f64,
    ) -> Ball {
        (0..=n).fold(Ball::ZERO, |best, k| {
            let ends: Vec<Rational> = (0..n).map(|i| if i < k { hi.clone() } else { lo.clone() }).collect();
            best.max(by_definition(&ends, gap, direction, epsilon))
        })
    }

    /// With few entries nothing changes, with many the bracket contains the narrower one.
    #[test]
    fn a_rough_search_of_many_entries_ends_at_about_two_per_cent() {
        for (others, epsilon) in
            [(500, 0.05), (3_000, 0.02), (20_000, 0.01), (20_000, 0.0), (1_000_000, 1e-3)]
        {
            let form = EachInRange::new(others, 1, &over(3, 10), &over(2, 5)).unwrap();
            for direction in Direction::BOTH {
                let [fine, rough] = [form.clone(), form.clone().roughly()]
                    .map(|form| delta(&form, direction, epsilon).to_enclosure());
                assert!(rough.lower() <= fine.upper() && fine.lower() <= rough.upper());
                assert!(
                    rough.upper() >= fine.upper() * (1.0 - 1e-12) && rough.upper() <= 1.02 * fine.upper()
                );
                assert!(others > MAX_EACH_ROUGHLY_CERTAIN || rough == fine);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(40, 400)))]

        #[test]
        fn it_is_the_worst_of_the_definition_over_all_numbers_of_entries_at_either_end(
            n in 0u64..13, first in 1u64..1000, second in 1u64..1000, gap in 1u64..5,
            epsilon in prop_oneof![Just(0.0), 0.0..0.5f64, 0.0..5.0f64, -2.0..0.0f64],
        ) {
            let (lo, hi) = (over(first.min(second), 1000), over(first.max(second), 1000));
            let count = EachInRange::new(n, gap, &lo, &hi).unwrap();
            for direction in Direction::BOTH {
                let truth = by_vertices(n, (&lo, &hi), gap as usize, direction, epsilon);
                let found = delta(&count, direction, epsilon);
                prop_assert!(contains(found, truth), "{:?} {:?}", found, truth);
                prop_assert!(found.relative_error() < 1e-12, "{:?} {:?}", found, truth);
            }
        }

        /// The vertex lemma: no probabilities inside the box are worse.
        #[test]
        fn no_choice_of_probabilities_in_the_range_exceeds_it(
            places in prop::collection::vec(0u64..=100, 1..9), first in 1u64..100, second in 1u64..100, gap in 1u64..4,
            epsilon in prop_oneof![Just(0.0), 0.0..3.0f64],
        ) {
            let (lo, hi) = (over(first.min(second), 100), over(first.max(second), 100));
            let inside: Vec<Rational> =
                places.iter().map(|&place| lo.add(&hi.sub(&lo).mul(&over(place, 100)))).collect();
            let count = EachInRange::new(places.len() as u64, gap, &lo, &hi).unwrap();
            for direction in Direction::BOTH {
                let one = by_definition(&inside, gap as usize, direction, epsilon);
                prop_assert!(!delta(&count, direction, epsilon).certainly_less(one));
            }
        }
    }

    /// `1 + S` against `S` for six others in [.1, .9] at r = 1.05: three at either end are worse than all at one, and than any probability that all share.
    #[test]
    fn the_worst_number_may_lie_inside_and_a_shared_probability_is_not_as_bad() {
        let (lo, hi) = (rational("1/10"), rational("9/10"));
        let nats = 1.05f64.ln();
        let own = EachInRange::new(6, 1, &lo, &hi).unwrap();
        let shared = BinomialRange::new(7, &lo, &hi).unwrap();
        let at = Epsilon::from_f64(nats).unwrap();
        let both = Direction::BOTH.map(|direction| {
            (delta(&own, direction, nats), shared.delta(direction, &at, &Uninterrupted).unwrap())
        });
        let own = both.iter().fold(Ball::ZERO, |best, pair| best.max(pair.0)).to_enclosure();
        let shared = both.iter().fold(Ball::ZERO, |best, pair| best.max(pair.1)).to_enclosure();
        assert!(
            (own.lower() * 1e4).round() == 5810.0 && (shared.lower() * 1e4).round() == 5314.0,
            "{own:?} {shared:?}"
        );
    }

    #[test]
    fn a_range_of_one_point_is_one_count_and_a_range_that_holds_a_certain_answer_protects_nothing() {
        let p = rational("3/10");
        let point = EachInRange::new(300, 1, &p, &p).unwrap();
        let one = BinomialRange::new(301, &p, &p).unwrap();
        for direction in Direction::BOTH {
            let truth = one.delta(direction, &Epsilon::from_f64(0.1).unwrap(), &Uninterrupted).unwrap();
            assert!(contains(delta(&point, direction, 0.1), truth));
            for (lo, hi) in [("0", "1/2"), ("1/2", "1"), ("0", "1"), ("1", "1")] {
                let certain = EachInRange::new(300, 1, &rational(lo), &rational(hi)).unwrap();
                assert!(contains(delta(&certain, direction, 2.0), Ball::ONE));
            }
        }
    }

    #[test]
    fn beyond_what_is_certain_the_bracket_holds_both_its_ends() {
        let count = EachInRange::new(MAX_EACH_CERTAIN + 1, 1, &rational("3/10"), &rational("1/2")).unwrap();
        let form = Directed(count, Direction::OneAgainstZero);
        assert!(form.is_bracket());
        let epsilon = Epsilon::from_f64(0.02).unwrap();
        let at =
            |form: &dyn HockeyStick| form.delta(&epsilon, Ball::ZERO, &Uninterrupted).unwrap().to_enclosure();
        let [low, high] = [End::Lower, End::Upper].map(|end| at(form.end(end).unwrap().as_ref()));
        let whole = at(&form);
        assert!(whole.lower() <= low.upper() && high.lower() <= whole.upper() && low.lower() <= high.upper());
        assert!(high.upper() <= 1.02 * low.lower(), "{low:?} {high:?}");
    }

    #[test]
    fn the_limit_is_the_mass_of_the_extreme_answers() {
        let (lo, hi) = (rational("1/5"), rational("1/2"));
        for (gap, truths) in
            [(1, ["1/16", "256/625"]), (2, ["5/16", "512/625"]), (4, ["15/16", "624/625"]), (5, ["1", "1"])]
        {
            let form = EachInRange::new(4, gap, &lo, &hi).unwrap();
            for (direction, truth) in Direction::BOTH.into_iter().zip(truths) {
                let limit = form.infinity_mass(direction, &Uninterrupted).unwrap();
                assert!(
                    contains(limit, Ball::from_rational(&rational(truth))) && limit.relative_error() < 1e-20
                );
                assert!(contains(delta(&form, direction, 60.0), limit));
            }
        }
    }

    #[test]
    fn what_is_no_range_or_takes_too_long_is_refused() {
        let refused = |others, gap, lo: &str, hi: &str| {
            EachInRange::new(others, gap, &rational(lo), &rational(hi)).unwrap_err().to_string()
        };
        assert!(refused(3, 1, "1/2", "1/3").contains("0 ≤ lower ≤ upper ≤ 1"));
        assert!(refused(3, 1, "1/2", "3/2").contains("0 ≤ lower ≤ upper ≤ 1"));
        assert!(refused(3, 0, "1/3", "1/2").contains("gap = 0"));
        assert!(refused(1 << 53, 1, "1/3", "1/2").contains("at most 2^53"));
        let many = EachInRange::new(MAX_EACH_WRITTEN_OUT + 1, 1, &rational("1/3"), &rational("1/2")).unwrap();
        let why = many.written_out(Direction::OneAgainstZero).unwrap_err().to_string();
        assert!(why.contains("201 other entries") && why.contains("up to 200"), "{why}");
    }
}
