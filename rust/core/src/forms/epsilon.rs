//! ε, prepared once for a whole curve.

use crate::budget::MAX_PRECISE_ENTRIES;
use crate::error::Error;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use crate::numbers::special::trigonometric::exp_minus_one;
use std::sync::OnceLock;

/// From here on the curve of a count is constant. Its largest finite likelihood ratio is below `n/(pq w)`, and for
/// `n ≤ 2^53` and `p`, `w` of less than `2^37` bits (16 GiB) each, its logarithm is below `2^40`.
pub(super) const LARGEST: u64 = 1 << 40;

/// ε, prepared once for a whole curve.
#[derive(Clone, Debug)]
pub struct Epsilon {
    /// ε in nats.
    pub value: Ball,
    given: Number,
    ratio: OnceLock<Ball>,
    /// Whether counts of up to [`MAX_PRECISE_ENTRIES`] entries are summed in double-doubles: dearer, and to 25 digits.
    pub(super) precise: bool,
}

/// A number as it was given.
#[derive(Clone, Debug)]
enum Number {
    Double(f64),
    Rational(Rational),
    /// Above zero, and the logarithm of another number: see [`Epsilon::amplified`].
    Logarithm,
}

impl Epsilon {
    /// From an exact rational of either sign.
    #[must_use]
    pub fn new(epsilon: &Rational) -> Self {
        let given = Number::Rational(epsilon.clone());
        Self { value: Ball::from_rational(epsilon), given, ratio: OnceLock::new(), precise: false }
    }

    /// From the rational that a double stores, of either sign; nothing for NaN and infinities.
    #[must_use]
    pub fn from_f64(epsilon: f64) -> Option<Self> {
        let value = Ball::from_f64(epsilon)?;
        Some(Self { value, given: Number::Double(epsilon), ratio: OnceLock::new(), precise: false })
    }

    /// `ε' = ln(1 + (e^ε − 1)/γ)` for `ε ≥ 0` and `0 < γ ≤ 1`.
    ///
    /// `ε' = ε + ln((1 − (1−γ)e^{−ε})/γ)`, also where ε is too large for `e^ε`; so `ε' ≥ ε`.
    #[must_use]
    pub(crate) fn amplified(&self, rate: Ball) -> Self {
        let missed = Ball::ONE - rate;
        if self.is_zero() || missed.is_exact_zero() {
            return self.clone();
        }
        let value = self.value + ((Ball::ONE - missed * (-self.value).exp()) / rate).ln();
        let ratio = OnceLock::from((self.ratio() - missed) / rate);
        Self { value, given: Number::Logarithm, ratio, precise: self.precise }
    }

    /// The same ε, for values that are subtracted from each other.
    #[must_use]
    pub(crate) fn precisely(self) -> Self {
        Self { precise: true, ..self }
    }

    /// Whether a count of `size` entries is to be summed in double-doubles.
    pub(super) fn is_precise_for(&self, size: u64) -> bool {
        self.precise && size <= MAX_PRECISE_ENTRIES
    }

    /// `e^ε`, or `e^LARGEST` if that is less.
    #[must_use]
    pub fn ratio(&self) -> Ball {
        *self.ratio.get_or_init(|| {
            let largest = Ball::from_u64(LARGEST);
            if largest.certainly_less(self.value) { largest.exp() } else { self.value.exp() }
        })
    }

    /// `e^ε − 1`, with its relative accuracy for a small ε.
    #[must_use]
    pub(crate) fn ratio_minus_one(&self) -> Ball {
        if self.value.certainly_less(Ball::ONE) {
            exp_minus_one(self.value)
        } else {
            self.ratio() - Ball::ONE
        }
    }

    /// ε as it was given, if it was given as a rational.
    #[must_use]
    pub fn exact(&self) -> Option<Rational> {
        match &self.given {
            Number::Rational(exact) => Some(exact.clone()),
            Number::Double(epsilon) => Rational::from_f64(*epsilon).ok(),
            Number::Logarithm => None,
        }
    }

    /// Whether `value` errs by no more than the rounding of a rational.
    pub(super) fn is_given(&self) -> bool {
        !matches!(self.given, Number::Logarithm)
    }

    /// Whether ε is below zero.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        match &self.given {
            Number::Rational(exact) => exact.is_negative(),
            Number::Double(epsilon) => *epsilon < 0.0,
            Number::Logarithm => false,
        }
    }

    /// `Δ_{v,w}(ε) = 1 − e^ε + e^ε Δ_{w,v}(−ε)`, for ε < 0 a sum of two positive terms: the value of a curve at ε from
    /// that of the opposite direction at −ε.
    pub(crate) fn reflect(&self, opposite: impl FnOnce(&Self) -> Result<Ball, Error>) -> Result<Ball, Error> {
        let Some(exact) = self.exact() else { return Err(Error::precision("an irrational epsilon below 0")) };
        let reflected = opposite(&Self { precise: self.precise, ..Self::new(&exact.neg()) })?;
        Ok(Ball::ONE - self.ratio() * (Ball::ONE - reflected))
    }

    /// Whether ε is exactly zero, where Δ is the total variation distance.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.value.is_exact_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `e^ε' = 1 + (e^ε − 1)/γ`, of ε' itself and of the ratio.
    #[test]
    fn an_amplified_epsilon_is_the_logarithm_of_its_ratio() {
        let ball = |text: &str| Ball::from_rational(&Rational::parse(text).unwrap());
        for (epsilon, rate) in ["0.001", "0.5", "3", "300"]
            .iter()
            .flat_map(|e| ["1", "1/2", "1e-3", "1e-12"].map(|rate| (e, rate)))
        {
            let found = Epsilon::new(&Rational::parse(epsilon).unwrap()).amplified(ball(rate));
            let truth = Ball::ONE + (ball(epsilon).exp() - Ball::ONE) / ball(rate);
            for ratio in [found.value.exp(), found.ratio()] {
                assert!(!ratio.certainly_less(truth) && !truth.certainly_less(ratio), "{epsilon} {rate}");
                assert!(ratio.relative_error() < 1e-23, "{epsilon} {rate}: {:e}", ratio.relative_error());
            }
        }
    }
}
