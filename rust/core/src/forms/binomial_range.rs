//! The count of a property with a probability in a known range: the exact supremum over the range.
//!
//! `N = n−1`, `r = e^ε`, `f_j(p) = P[B ≥ j] − r P[B ≥ j+1]` for `B ~ Bin(N, p)`. Then `Δ_{1,0}(p) = max_j f_j(p)`, and
//! each `f_j` rises up to its peak `p_j = j/(j+(N−j)r)`, of height `h_j`, and falls after it.
//!
//! **Theorem.** For `N ≥ 2`, `r > 0`, `1 ≤ j ≤ N−1`: `h_j < max(h_{j−1}, h_{j+1})`, so the heights first strictly
//! decrease, then strictly increase. Therefore
//!
//! ```text
//! sup_{[lo,hi]} Δ_{1,0} = max{Δ(lo), Δ(hi), h_jL, h_jR},
//! jL = ⌈N r lo/(1−lo+r lo)⌉,  jR = ⌊N r hi/(1−hi+r hi)⌋   (the h's only if jL ≤ jR).
//! ```
//!
//! The proof is in `docs/explanation/ranges.md`.

use super::binomial_peaks::{self, height};
use super::direction::Directed;
use super::hockey_stick::{Digits, Form, HockeyStick};
use super::shifted_binomial::TERMS;
use super::threshold::{Position, Threshold};
use super::{Direction, Epsilon, check_size};
use crate::digits::{
    self,
    ends::{self, Limit},
    evaluation::last_change,
    probability,
};
use crate::error::Error;
use crate::exact::{self, cost, count};
use crate::interrupt::Interrupt;
use crate::laws::Probability;
use crate::numbers::approximate;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use std::sync::Arc;

/// `size` independent entries, one of them critical, with a probability anywhere in `[lower, upper]`.
#[derive(Clone, Debug)]
pub struct BinomialRange {
    size: u64,
    given: Arc<(Rational, Rational)>,
    ends: Option<(Probability, Probability)>,
}

impl BinomialRange {
    /// See the module documentation. A range that holds 0 or 1 is allowed: there Δ = 1.
    ///
    /// # Errors
    /// `size` of 0 or above 2^53, ends outside `[0, 1]` or in the wrong order.
    pub fn new(size: u64, lower: &Rational, upper: &Rational) -> Result<Self, Error> {
        let one = Rational::from(1i64);
        check_size(size)?;
        if lower.is_negative() || *upper > one || lower > upper {
            return Err(Error::argument("a range of probabilities needs 0 ≤ lower ≤ upper ≤ 1"));
        }
        let ends = if lower.is_zero() || *upper == one {
            None
        } else {
            Some((Probability::new(lower)?, Probability::new(upper)?))
        };
        Ok(Self { size, given: Arc::new((lower.clone(), upper.clone())), ends })
    }

    /// The same range for another number of entries.
    ///
    /// # Errors
    /// `size` of 0 or above 2^53.
    pub fn with_size(&self, size: u64) -> Result<Self, Error> {
        check_size(size)?;
        Ok(Self { size, ..self.clone() })
    }

    /// The number of entries that are counted.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The ends of the range as they were given.
    #[must_use]
    pub fn given(&self) -> (&Rational, &Rational) {
        (&self.given.0, &self.given.1)
    }

    /// The supremum of `Δ_{v,w}(ε)` over the range, for an ε of either sign, by at most four evaluations.
    ///
    /// # Errors
    /// As [`super::ShiftedBinomial::delta`].
    pub fn delta(
        &self,
        direction: Direction,
        epsilon: &Epsilon,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        if epsilon.is_negative() {
            return epsilon.reflect(|opposite| self.delta(direction.reversed(), opposite, interrupt));
        }
        let Some((lower, upper)) = self.ends else { return Ok(Ball::ONE) };
        let (lower, upper) = match direction {
            Direction::OneAgainstZero => (lower, upper),
            Direction::ZeroAgainstOne => (upper.complement(), lower.complement()),
        };
        let at = |p: Probability| binomial_peaks::at(self.size, p, epsilon, interrupt);
        let ends = at(lower)?.max(at(upper)?);
        self.outermost_peaks(&lower, &upper, epsilon)?.into_iter().try_fold(ends, |supremum, peak| {
            let raised = supremum.max(height(self.size, peak.index, epsilon, interrupt)?);
            // A peak that may lie just outside the range bounds the supremum but need not be attained.
            Ok(if peak.inside { raised } else { raised.hull(supremum) })
        })
    }

    /// The approximate number of terms of one evaluation.
    #[must_use]
    pub fn terms(&self) -> f64 {
        4.0 * TERMS
    }

    /// The limit for ε → ∞.
    #[must_use]
    pub fn infinity_mass(&self, direction: Direction) -> Ball {
        match (self.ends, direction) {
            (None, _) => Ball::ONE,
            (Some((_, upper)), Direction::OneAgainstZero) => upper.p.powi(self.size - 1),
            (Some((lower, _)), Direction::ZeroAgainstOne) => lower.q.powi(self.size - 1),
        }
    }

    /// `jL` and `jR`; where rounding leaves two candidates, the outer one, which is safe by the theorem.
    fn outermost_peaks(
        &self,
        lower: &Probability,
        upper: &Probability,
        epsilon: &Epsilon,
    ) -> Result<Vec<Peak>, Error> {
        let locate = |p: &Probability| {
            Threshold::locate(self.size - 1, p.odds * epsilon.ratio(), Ball::ONE)
                .ok_or_else(|| Error::precision("the peaks of the range cannot be located"))
        };
        let (left, right) = (locate(lower)?, locate(upper)?);
        if self.size < 3 || left.first > right.floor() {
            return Ok(Vec::new());
        }
        let inside = |threshold: &Threshold| threshold.position != Position::Undecided;
        let mut peaks = vec![Peak { index: left.first, inside: inside(&left) }];
        if right.floor() > left.first {
            peaks.push(Peak { index: right.floor(), inside: inside(&right) });
        }
        // Heights at 0 and N are 1 and belong to p = 0 and p = 1, which this range does not hold.
        peaks.retain(|peak| (1..self.size - 1).contains(&peak.index));
        Ok(peaks)
    }
}

struct Peak {
    index: u64,
    /// Whether `p_j` certainly lies in the range.
    inside: bool,
}

impl HockeyStick for Directed<BinomialRange> {
    fn delta(&self, epsilon: &Epsilon, _: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        self.0.delta(self.1, epsilon, interrupt)
    }

    fn infinity_mass(&self, _: &dyn Interrupt) -> Result<Ball, Error> {
        Ok(self.0.infinity_mass(self.1))
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

    /// The supremum over a range of probabilities, by the theorem of the module documentation.
    fn exact(&self, at: &exact::Evaluation<'_>) -> Result<Option<exact::Terms>, Error> {
        let Self(laws, direction) = self;
        let one = Rational::from(1i64);
        let (lower, upper) = laws.given();
        let ratio = at.rational_ratio()?;
        let (lower, upper) = match direction {
            Direction::OneAgainstZero => (lower.clone(), upper.clone()),
            Direction::ZeroAgainstOne => (one.sub(upper), one.sub(lower)),
        };
        let others = laws.size() - 1;
        let (first, last) = count::peaks_within(others, &lower, &upper, ratio)?;
        let peaks = if first <= last { vec![first, last] } else { Vec::new() };
        let mut candidates = count::inner_peaks(others, &peaks, ratio);
        candidates.extend([lower, upper]);
        at.greatest(laws.size(), candidates).map(Some)
    }

    fn cost(&self, at: &cost::At) -> cost::Cost {
        let (lower, upper) = self.0.given();
        let peak = approximate::log2(self.0.size() as f64) + at.ratio_bits;
        let widest = at.count(self.0.size(), 0.5, cost::bits(lower).max(cost::bits(upper)).max(peak));
        cost::Cost { seconds: 4.0 * widest.seconds, ..widest }
    }
}

impl Digits for Directed<BinomialRange> {
    /// The supremum over a range of probabilities: at its ends, or at the outermost peaks inside.
    ///
    /// The theorem is in `docs/explanation/ranges.md`. With `N = n−1` the outermost peaks are `jL = ⌈κ(lo)⌉`, `jR = ⌊κ(hi)⌋`,
    /// `κ(p) = N − y(p)`, where `y` is that of a certain count of `N` entries; heights at 0 and `N` belong to p = 0, 1.
    fn value(&self, at: &digits::Evaluation<'_>) -> Result<digits::Ball, Error> {
        let Self(range, direction) = self;
        let one = Rational::from(1i64);
        let (lower, upper) = range.given();
        if lower.is_zero() || *upper == one {
            return Ok(digits::Ball::one());
        }
        let (lower, upper) = match direction {
            Direction::OneAgainstZero => (lower.clone(), upper.clone()),
            Direction::ZeroAgainstOne => (one.sub(upper), one.sub(lower)),
        };
        let ratio = at.ratio(last_change(&[&lower, &upper]));
        let n = range.size();
        let mut candidates = Vec::new();
        if n > 2 {
            let (first, last) = at.peaks_within(n - 1, &lower, &upper, &ratio)?;
            if first <= last {
                candidates = vec![first, last];
                candidates.dedup();
            }
        }
        let ends = vec![probability::Probability::Exact(lower), probability::Probability::Exact(upper)];
        at.greatest(n, &ratio, ends, &candidates)
    }

    fn last_change(&self) -> u64 {
        let (lower, upper) = self.0.given();
        last_change(&[lower, upper])
    }

    fn limit(&self, limit: Limit) -> Option<Rational> {
        let Self(range, direction) = self;
        let one = Rational::from(1i64);
        let (lower, upper) = range.given();
        if lower.is_zero() || *upper == one {
            return Some(one);
        }
        let (lower, upper) = match direction {
            Direction::OneAgainstZero => (lower.clone(), upper.clone()),
            Direction::ZeroAgainstOne => (one.sub(upper), one.sub(lower)),
        };
        match limit {
            Limit::Infinity => ends::binomial(range.size() - 1, range.size() - 1, &upper),
            Limit::Zero => ends::supremum_of_total_variation(range.size(), &lower, &upper),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With eleven entries and ε = 0 `p_j = j/10`: a range that holds one of them has one peak, one that holds more has two.
    #[test]
    fn the_outermost_peaks_are_those_of_the_range_and_none_is_named_twice() {
        let epsilon = Epsilon::new(&Rational::from(0i64));
        for (lower, upper, indices) in [
            ("0.25", "0.35", vec![3]),
            ("0.25", "0.45", vec![3, 4]),
            ("0.25", "0.75", vec![3, 7]),
            ("0.31", "0.39", vec![]),
            ("0.01", "0.15", vec![1]),
            ("0.01", "0.99", vec![1, 9]),
        ] {
            let number = |text: &str| Rational::parse(text).unwrap();
            let range = BinomialRange::new(11, &number(lower), &number(upper)).unwrap();
            let (lower, upper) = range.ends.unwrap();
            let peaks = range.outermost_peaks(&lower, &upper, &epsilon).unwrap();
            assert_eq!(peaks.iter().map(|peak| peak.index).collect::<Vec<_>>(), indices);
            assert!(peaks.iter().all(|peak| peak.inside));
        }
    }
}
