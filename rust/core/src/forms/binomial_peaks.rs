//! Some tests of a count, each at the probability where it distinguishes best: the part of a supremum over a range that tests inside it add.
//!
//! `N = n−1`, `r = e^ε`, `f_j(p) = P[B ≥ j] − r P[B ≥ j+1]` for `B ~ Bin(N, p)`: the test "answer ≥ j+1". It rises up to its peak
//! `p_j = j/(j+(N−j)r)`, of height `h_j`, and falls after it; `h_j = 1` for `j ≤ 0` and `j ≥ N`. For a set `J` of tests and `r ≥ 1` this is
//!
//! ```text
//! max { h_j : j the first or the last of J with p_j in [lo, hi] }      (0 if there is none).
//! ```
//!
//! **Coarsened counts.** Where answers are published alike in intervals, the likelihood ratio stays monotone and `Δ_J(p) = max_{j∈J} f_j(p)`, `J` the last answers
//! of the intervals. By the theorem of `binomial_range.rs` heights first decrease, then increase, also along `J`; so `sup_{[lo,hi]} Δ_J` is the maximum
//! of `Δ_J(lo)`, `Δ_J(hi)` and this.
//!
//! **Gated counts.** If the count is published only within `[A1, A2]`, `sup_p Δ_{1,0} ≤ max(h_{A1−1}, h_{A2})` over all p: this, with `J = {A1−1, A2}` and `[0, 1]`.
//!
//! `Δ_{0,1}` at `p` is `Δ_{1,0}` at `1−p` of the answers counted from above: `J` becomes `N − J`. The proofs are in `docs/explanation/ranges.md`.

use super::direction::Directed;
use super::hockey_stick::{Digits, Form, HockeyStick};
use super::shifted_binomial::{ShiftedBinomial, TERMS};
use super::threshold::{Position, Threshold};
use super::{Direction, Epsilon, check_size};
use crate::digits::{
    self,
    ends::{self, Limit},
    evaluation::last_change,
};
use crate::error::Error;
use crate::exact::{self, cost, count};
use crate::interrupt::Interrupt;
use crate::laws::Probability;
use crate::numbers::approximate;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use std::sync::Arc;

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct BinomialPeaks {
    size: u64,
    /// `J`, in order.
    tests: Arc<[u64]>,
    given: Arc<(Rational, Rational)>,
    /// Nothing for 0 and 1.
    ends: [Option<Probability>; 2],
}

impl BinomialPeaks {
    /// The tests "answer ≥ j+1" of a count of `size` entries, for probabilities in `[lower, upper]`.
    ///
    /// # Errors
    /// `size` of 0 or above 2^53, tests from `size` on, ends outside `[0, 1]` or in the wrong order.
    pub fn new(size: u64, mut tests: Vec<u64>, lower: &Rational, upper: &Rational) -> Result<Self, Error> {
        let one = Rational::from(1i64);
        check_size(size)?;
        if lower.is_negative() || *upper > one || lower > upper {
            return Err(Error::argument("a range of probabilities needs 0 ≤ lower ≤ upper ≤ 1"));
        }
        tests.sort_unstable();
        tests.dedup();
        if let Some(test) = tests.last().filter(|&&test| test >= size) {
            return Err(Error::argument(format!(
                "tests has {test}; a count of {size} entries is at most {size}"
            )));
        }
        let end = |p: &Rational| {
            if p.is_zero() || *p == one { Ok(None) } else { Probability::new(p).map(Some) }
        };
        let ends = [end(lower)?, end(upper)?];
        Ok(Self { size, tests: tests.into(), given: Arc::new((lower.clone(), upper.clone())), ends })
    }

    /// The number of entries that are counted.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The ends of the range, as `Δ_{1,0}` sees it.
    #[must_use]
    pub fn range(&self, direction: Direction) -> (Rational, Rational) {
        let one = Rational::from(1i64);
        let (lower, upper) = &*self.given;
        match direction {
            Direction::OneAgainstZero => (lower.clone(), upper.clone()),
            Direction::ZeroAgainstOne => (one.sub(upper), one.sub(lower)),
        }
    }

    /// Whether the range reaches 0 or 1, so that the curve changes at arbitrarily large ε.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let (lower, upper) = &*self.given;
        lower.is_zero() || *upper == Rational::from(1i64)
    }

    /// The first and the last test from `first` to `last`, as `Δ_{1,0}` sees them.
    pub(crate) fn outermost(&self, direction: Direction, first: u64, last: u64) -> Vec<u64> {
        let others = self.size - 1;
        let mirrored = |j: u64| others.saturating_sub(j);
        let inside = |least: u64, most: u64| {
            let from = self.tests.partition_point(|&test| test < least);
            let to = self.tests.partition_point(|&test| test <= most);
            self.tests.get(from..to).unwrap_or(&[])
        };
        let last = last.min(others);
        let inside: Vec<u64> = match direction {
            _ if first > last => Vec::new(),
            Direction::OneAgainstZero => inside(first, last).to_vec(),
            Direction::ZeroAgainstOne => {
                inside(mirrored(last), mirrored(first)).iter().rev().map(|&j| mirrored(j)).collect()
            }
        };
        let mut outermost: Vec<u64> = inside.first().into_iter().chain(inside.last()).copied().collect();
        outermost.dedup();
        outermost
    }

    /// Whether a test shows the value of the critical entry with certainty at every ε: `h_0` and `h_N`, at the probabilities 0 and 1.
    #[must_use]
    pub fn gives_away(&self) -> bool {
        let (lower, upper) = &*self.given;
        let has = |test: u64| self.tests.binary_search(&test).is_ok();
        (lower.is_zero() || self.size == 1) && has(0) || *upper == Rational::from(1i64) && has(self.size - 1)
    }

    /// The maximum of the module documentation, for an ε of at least 0.
    ///
    /// # Errors
    /// As [`ShiftedBinomial::delta`].
    pub fn delta(
        &self,
        direction: Direction,
        epsilon: &Epsilon,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        if self.gives_away() {
            return Ok(Ball::ONE);
        }
        let [lower, upper] = match direction {
            Direction::OneAgainstZero => self.ends,
            Direction::ZeroAgainstOne => {
                [self.ends[1], self.ends[0]].map(|end| end.map(Probability::complement))
            }
        };
        let locate = |p: &Probability| {
            Threshold::locate(self.size - 1, p.odds * epsilon.ratio(), Ball::ONE)
                .ok_or_else(|| Error::precision("the peaks of the range cannot be located"))
        };
        let left = lower.as_ref().map(locate).transpose()?;
        let right = upper.as_ref().map(locate).transpose()?;
        let first = left.map_or(0, |left| left.first);
        let last = right.map_or(self.size - 1, |right| right.floor());
        let peaks = self.outermost(direction, first, last);
        // Heights at 0 and N belong to p = 0 and p = 1.
        peaks.into_iter().filter(|j| (1..self.size - 1).contains(j)).try_fold(Ball::ZERO, |greatest, j| {
            let mut found = height(self.size, j, epsilon, interrupt)?;
            for (threshold, end) in [(left, lower), (right, upper)] {
                if let (Some(threshold), Some(end)) = (threshold, end)
                    && threshold.position == Position::Undecided
                    && threshold.first == j
                {
                    // The peak lies at this end up to rounding. Its test is the best of all there.
                    found = found.hull(at(self.size, end, epsilon, interrupt)?);
                }
            }
            Ok(greatest.max(found))
        })
    }

    /// The approximate number of terms of one evaluation.
    #[must_use]
    pub fn terms(&self) -> f64 {
        2.0 * TERMS
    }
}

/// `h_j` for `1 ≤ j ≤ n−2`: at its peak the test is the best of all.
pub(super) fn height(
    size: u64,
    index: u64,
    epsilon: &Epsilon,
    interrupt: &dyn Interrupt,
) -> Result<Ball, Error> {
    let misses = Ball::from_u64(size - 1 - index);
    let odds = Ball::from_u64(index) / (misses * epsilon.ratio());
    at(size, Probability::from_odds(odds), epsilon, interrupt)
}

/// `Δ_{1,0}` of a count.
pub(super) fn at(
    size: u64,
    p: Probability,
    epsilon: &Epsilon,
    interrupt: &dyn Interrupt,
) -> Result<Ball, Error> {
    ShiftedBinomial::certain(size, p).delta(Direction::OneAgainstZero, epsilon, interrupt)
}

impl HockeyStick for Directed<BinomialPeaks> {
    fn delta(&self, epsilon: &Epsilon, _: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        self.0.delta(self.1, epsilon, interrupt)
    }

    fn infinity_mass(&self, _: &dyn Interrupt) -> Result<Ball, Error> {
        // The heights between the first and the last test fall to zero.
        Ok(if self.0.gives_away() { Ball::ONE } else { Ball::ZERO })
    }

    fn reversed(&self) -> Form {
        Arc::new(self.opposite())
    }

    fn terms(&self) -> f64 {
        self.0.terms()
    }

    fn digits(&self) -> Result<&dyn Digits, Error> {
        Ok(self)
    }

    fn exact(&self, at: &exact::Evaluation<'_>) -> Result<Option<exact::Terms>, Error> {
        let Self(tests, direction) = self;
        if tests.gives_away() {
            return Ok(Some(exact::Terms::integers(1, 0)));
        }
        let ratio = at.rational_ratio()?;
        let (lower, upper) = tests.range(*direction);
        let others = tests.size() - 1;
        let (first, last) = count::peaks_within(others, &lower, &upper, ratio)?;
        let peaks = count::inner_peaks(others, &tests.outermost(*direction, first, last), ratio);
        at.greatest(tests.size(), peaks).map(Some)
    }

    fn cost(&self, at: &cost::At) -> cost::Cost {
        let peak = approximate::log2(self.0.size() as f64) + at.ratio_bits;
        let widest = at.count(self.0.size(), 0.5, peak);
        cost::Cost { seconds: 2.0 * widest.seconds, ..widest }
    }
}

impl Digits for Directed<BinomialPeaks> {
    fn value(&self, at: &digits::Evaluation<'_>) -> Result<digits::Ball, Error> {
        let Self(tests, direction) = self;
        if tests.gives_away() {
            return Ok(digits::Ball::one());
        }
        // Beside no other entry a test gives the value away, or there is none.
        if tests.size() == 1 {
            return Ok(digits::Ball::zero());
        }
        let (lower, upper) = tests.range(*direction);
        let ratio = if tests.is_open() { at.whole_ratio() } else { at.ratio(last_change(&[&lower, &upper])) };
        let (first, last) = at.peaks_within(tests.size() - 1, &lower, &upper, &ratio)?;
        at.greatest(tests.size(), &ratio, Vec::new(), &tests.outermost(*direction, first, last))
    }

    fn last_change(&self) -> u64 {
        let (lower, upper) = self.0.range(Direction::OneAgainstZero);
        last_change(&[&lower, &upper])
    }

    /// The heights of peaks near an end of `[0, 1]` fall for ever; where there are none the curve is 0.
    fn falls_for_ever(&self) -> bool {
        self.0.is_open() && !self.0.gives_away()
    }

    fn limit(&self, limit: Limit) -> Option<Rational> {
        let Self(tests, direction) = self;
        if tests.gives_away() {
            return Some(Rational::from(1i64));
        }
        match limit {
            Limit::Infinity => (!tests.is_open()).then_some(Rational::from(0i64)),
            Limit::Zero => {
                let (lower, upper) = tests.range(*direction);
                let (first, last) = ends::peaks_of_total_variation(tests.size(), &lower, &upper)?;
                let outermost = tests.outermost(*direction, first, last);
                ends::greatest_total_variation(tests.size(), Vec::new(), &outermost)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Curve;
    use crate::interrupt::Uninterrupted;

    /// Each test alone, on ranges that end next to its peak or far from it: what the digits tier finds, which locates peaks on its own.
    #[test]
    fn single_tests_have_the_digits_of_their_peaks() {
        let tenths = |x: u64| Rational::from(x).div(&Rational::from(10u64)).unwrap();
        for (test, first) in (1..8u64).flat_map(|test| (1..9u64).map(move |first| (test, first))) {
            for last in [first + 1, 9] {
                let peaks = BinomialPeaks::new(9, vec![test], &tenths(first), &tenths(last)).unwrap();
                for (direction, epsilon) in
                    Direction::BOTH.into_iter().flat_map(|d| ["0.1", "0.9"].map(|e| (d, e)))
                {
                    let given = Rational::parse(epsilon).unwrap();
                    let found =
                        peaks.delta(direction, &Epsilon::new(&given), &Uninterrupted).unwrap().to_enclosure();
                    let curve = Curve::from(Directed(peaks.clone(), direction));
                    let truth = crate::curve::digits::delta(&curve, &given, 20, &Uninterrupted)
                        .unwrap()
                        .midpoint()
                        .unwrap();
                    let truth = truth.to_rational().unwrap();
                    let input = format!("{test} from {first} to {last}, {direction:?}, {epsilon}");
                    assert!(found.contains(&truth) && found.width() < 1e-14, "{input}: {found:?}");
                }
            }
        }
    }
}
