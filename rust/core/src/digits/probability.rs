//! Probabilities and likelihood ratios that can be had to any number of bits.

use super::ball::Ball;
use super::elementary::exp;
use crate::rational::Rational;
use dashu_int::ops::BitTest;

/// `r = e^ε > 0`.
#[derive(Clone, Debug)]
pub(super) enum Ratio {
    /// `ε = 0`.
    One,
    /// `e^ε` for a rational `ε ≠ 0`: transcendental, by the theorem of Lindemann.
    Exponential(Rational),
    /// `1 + (e^ε − 1)/γ` for rationals `ε ≠ 0` and `γ`, and so transcendental too; or one over that.
    Amplified { epsilon: Rational, rate: Rational, inverted: bool },
}

impl Ratio {
    /// `e^ε`.
    pub(super) fn new(epsilon: &Rational) -> Self {
        if epsilon.is_zero() { Self::One } else { Self::Exponential(epsilon.clone()) }
    }

    /// `1 + (e^ε − 1)/γ`.
    pub(super) fn amplified(epsilon: &Rational, rate: &Rational) -> Self {
        if epsilon.is_zero() || *rate == Rational::from(1i64) {
            return Self::new(epsilon);
        }
        Self::Amplified { epsilon: epsilon.clone(), rate: rate.clone(), inverted: false }
    }

    /// To about `bits` bits; nothing if it is too large to be written down.
    pub(super) fn at(&self, bits: usize) -> Option<Ball> {
        match self {
            Self::One => Some(Ball::one()),
            Self::Exponential(epsilon) => exp(&Ball::rational(epsilon, bits + 64), bits),
            Self::Amplified { epsilon, rate, inverted } => {
                let bits = bits + 8;
                let grown = exp(&Ball::rational(epsilon, bits + 64), bits)?.minus(&Ball::one(), bits);
                let ratio = grown.over(&Ball::rational(rate, bits), bits)?.plus(&Ball::one(), bits);
                if *inverted { Ball::one().over(&ratio, bits) } else { Some(ratio) }
            }
        }
    }

    /// `1/r`.
    pub(super) fn inverse(&self) -> Self {
        match self {
            Self::One => Self::One,
            Self::Exponential(epsilon) => Self::Exponential(epsilon.neg()),
            Self::Amplified { epsilon, rate, inverted } => {
                Self::Amplified { epsilon: epsilon.clone(), rate: rate.clone(), inverted: !inverted }
            }
        }
    }
}

/// A number from 0 to 1, both excluded.
#[derive(Clone, Debug)]
pub(super) enum Probability {
    /// A rational.
    Exact(Rational),
    /// `s/(s + f r)`: where the test "more than `s` of the others" tells two values apart best.
    Peak { successes: u64, failures: u64, ratio: Ratio },
}

impl Probability {
    /// `p` and `1 − p`, each to about `bits` bits.
    pub(super) fn at(&self, bits: usize) -> Option<(Ball, Ball)> {
        match self {
            Self::Exact(p) => {
                let q = Rational::from(1i64).sub(p);
                Some((Ball::rational(p, bits), Ball::rational(&q, bits)))
            }
            Self::Peak { successes, failures, ratio } => {
                let hits = Ball::from(*successes);
                let misses = ratio.at(bits + 8)?.times_integer(*failures, bits + 8);
                let total = hits.plus(&misses, bits + 8);
                Some((hits.over(&total, bits)?, misses.over(&total, bits)?))
            }
        }
    }

    /// `1 − p`.
    pub(super) fn complement(&self) -> Self {
        match self {
            Self::Exact(p) => Self::Exact(Rational::from(1i64).sub(p)),
            Self::Peak { successes, failures, ratio } => {
                Self::Peak { successes: *failures, failures: *successes, ratio: ratio.inverse() }
            }
        }
    }

    /// The rational it is, if it is one.
    pub(super) fn exact(&self) -> Option<&Rational> {
        match self {
            Self::Exact(p) => Some(p),
            Self::Peak { .. } => None,
        }
    }
}

/// Bits in which a rational is written.
pub(super) fn size(x: &Rational) -> u64 {
    (x.numerator().bit_len() + x.denominator().bit_len()) as u64
}
