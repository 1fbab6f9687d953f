//! What the evaluation of a form at one ε needs, to any number of digits.

use super::ball::Ball;
use super::hockey_stick::{Complement, complement, one_against_zero};
use super::probability::{Probability, Ratio, size};
use super::settle;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::rational::Rational;

/// What the evaluation of a curve at one ε needs.
pub struct Evaluation<'a> {
    pub(crate) epsilon: &'a Rational,
    /// `γ` where the curve is taken at `ln(1 + (e^ε − 1)/γ)`, for an ε of at least 0; else 1.
    pub(crate) rate: Rational,
    /// Bits of relative accuracy.
    pub(crate) accuracy: usize,
    pub(crate) interrupt: &'a dyn Interrupt,
}

impl<'a> Evaluation<'a> {
    /// At ε itself.
    pub(crate) fn new(epsilon: &'a Rational, accuracy: usize, interrupt: &'a dyn Interrupt) -> Self {
        Self { epsilon, rate: Rational::from(1i64), accuracy, interrupt }
    }

    /// The same to another accuracy.
    pub(crate) fn to_accuracy(&self, accuracy: usize) -> Self {
        Self { rate: self.rate.clone(), accuracy, ..*self }
    }

    /// The ratio `r` that likelihoods are compared with, or `e^most` where ε, and so `ln r`, is above that and the curve does not change
    /// any more.
    pub(crate) fn ratio(&self, most: u64) -> Ratio {
        let most = Rational::from(most);
        if *self.epsilon > most { Ratio::new(&most) } else { self.whole_ratio() }
    }

    pub(crate) fn whole_ratio(&self) -> Ratio {
        Ratio::amplified(self.epsilon, &self.rate)
    }

    /// The first and the last `j` with `p_j` in the range. The end 0 has `p_0 = 0`, the end 1 has `p_N = 1`.
    pub(crate) fn peaks_within(
        &self,
        others: u64,
        lower: &Rational,
        upper: &Rational,
        ratio: &Ratio,
    ) -> Result<(u64, u64), Error> {
        let first = if lower.is_zero() { 0 } else { others - self.peak(others, lower, ratio)?.0 };
        if *upper == Rational::from(1i64) {
            return Ok((first, others));
        }
        let (floor, whole) = self.peak(others, upper, ratio)?;
        Ok((first, (others - floor).saturating_sub(u64::from(!whole))))
    }

    /// The greatest `Δ_{1,0}` of a count at these probabilities, and at the peaks of these tests but those of `p = 0` and `p = 1`.
    pub(crate) fn greatest(
        &self,
        n: u64,
        ratio: &Ratio,
        mut probabilities: Vec<Probability>,
        peaks: &[u64],
    ) -> Result<Ball, Error> {
        let one = Rational::from(1i64);
        let inner = peaks.iter().filter(|&j| (1..n - 1).contains(j));
        probabilities.extend(inner.map(|&j| Probability::Peak {
            successes: j,
            failures: n - 1 - j,
            ratio: ratio.clone(),
        }));
        probabilities.into_iter().try_fold(Ball::zero(), |supremum, probability| {
            let value = settle(self.accuracy, self.interrupt, |bits| {
                one_against_zero(n, &probability, &one, ratio, bits, self.interrupt)
            })?;
            Ok(supremum.largest(value, self.accuracy + 64))
        })
    }

    /// `⌊y⌋`, and whether `y` is an integer.
    fn peak(&self, n: u64, p: &Rational, ratio: &Ratio) -> Result<(u64, bool), Error> {
        let mut found = None;
        settle(0, self.interrupt, |bits| {
            let located = complement(n, p, &Rational::from(1i64), ratio, bits + 64);
            found = located.map(|located| match located {
                Complement::NotPositive => (0, true),
                Complement::Positive(floor, rest) => (floor, rest.is_zero()),
            });
            Ok(found.map(|_| Ball::one()))
        })?;
        found.ok_or(Error::Interrupted)
    }
}

/// An ε from which on the curve of a count with these probabilities is constant.
///
/// A certain count changes up to `r = nq/p < 2^53 · 2^size(p)`, a sampled one up to `r = 1 + w/((1−w)p) ≤ 1 + 2^{size(w)+size(p)}`.
pub(crate) fn last_change(probabilities: &[&Rational]) -> u64 {
    64 + probabilities.iter().map(|p| size(p)).sum::<u64>()
}
