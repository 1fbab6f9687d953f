//! Probabilities and likelihood ratios that can be had to any number of bits.

use super::ball::Ball;
use super::elementary::exp;
use crate::numbers::rational::Rational;
use dashu_int::ops::BitTest;

/// `r = e^ε > 0`.
#[derive(Clone, Debug)]
pub enum Ratio {
    /// `ε = 0`.
    One,
    /// `e^ε` for a rational `ε ≠ 0`: transcendental, by the theorem of Lindemann.
    Exponential(Rational),
    /// `1 + (e^ε − 1)/γ` for rationals `ε ≠ 0` and `γ`, and so transcendental too; or one over that.
    Amplified { epsilon: Rational, rate: Rational, inverted: bool },
}

impl Ratio {
    /// `e^ε`.
    pub(crate) fn new(epsilon: &Rational) -> Self {
        if epsilon.is_zero() { Self::One } else { Self::Exponential(epsilon.clone()) }
    }

    /// `1 + (e^ε − 1)/γ`.
    pub(crate) fn amplified(epsilon: &Rational, rate: &Rational) -> Self {
        if epsilon.is_zero() || *rate == Rational::from(1i64) {
            return Self::new(epsilon);
        }
        Self::Amplified { epsilon: epsilon.clone(), rate: rate.clone(), inverted: false }
    }

    /// To about `bits` bits; nothing if it is too large to be written down.
    pub(crate) fn at(&self, bits: usize) -> Option<Ball> {
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
    pub(crate) fn inverse(&self) -> Self {
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
pub(crate) enum Probability {
    /// A rational.
    Exact(Rational),
    /// `s/(s + f r)`: where the test "more than `s` of the others" tells two values apart best.
    Peak { successes: u64, failures: u64, ratio: Ratio },
}

impl Probability {
    /// `p` and `1 − p`, each to about `bits` bits.
    pub(crate) fn at(&self, bits: usize) -> Option<(Ball, Ball)> {
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
    pub(crate) fn complement(&self) -> Self {
        match self {
            Self::Exact(p) => Self::Exact(Rational::from(1i64).sub(p)),
            Self::Peak { successes, failures, ratio } => {
                Self::Peak { successes: *failures, failures: *successes, ratio: ratio.inverse() }
            }
        }
    }

    /// The rational it is, if it is one.
    pub(crate) fn exact(&self) -> Option<&Rational> {
        match self {
            Self::Exact(p) => Some(p),
            Self::Peak { .. } => None,
        }
    }
}

/// Bits in which a rational is written.
pub(crate) fn size(x: &Rational) -> u64 {
    (x.numerator().bit_len() + x.denominator().bit_len()) as u64
}

#[cfg(test)]
mod tests {
    use super::super::examples::number;
    use super::*;

    fn ratios() -> Vec<(&'static str, Ratio)> {
        vec![
            ("one", Ratio::new(&number("0"))),
            ("e^(1/3)", Ratio::new(&number("1/3"))),
            ("e^-9", Ratio::new(&number("-9"))),
            ("amplified", Ratio::amplified(&number("0.7"), &number("1/10"))),
            ("amplified below zero", Ratio::amplified(&number("-0.7"), &number("9/10"))),
        ]
    }

    fn agrees(a: &Ball, b: &Ball) -> bool {
        !a.exceeds(b) && !b.exceeds(a)
    }

    /// `r · 1/r = 1`, `p + q = 1`, the complement of a complement, and `γ(r − 1) = e^ε − 1`.
    #[test]
    fn ratios_and_probabilities_are_what_they_are_defined_to_be() {
        let (rate, epsilon) = (number("1/10"), number("0.7"));
        let grown = Ratio::amplified(&epsilon, &rate).at(90).unwrap().minus(&Ball::one(), 90);
        let plain = Ratio::new(&epsilon).at(90).unwrap().minus(&Ball::one(), 90);
        assert!(agrees(&grown.times(&Ball::rational(&rate, 90), 90), &plain));
        for (name, ratio) in ratios() {
            let (r, inverse) = (ratio.at(90).unwrap(), ratio.inverse().at(90).unwrap());
            let again = ratio.inverse().inverse().at(90).unwrap();
            assert!(agrees(&r.times(&inverse, 90), &Ball::one()) && agrees(&again, &r), "{name}");
            assert!(r.accuracy() >= 80 && inverse.accuracy() >= 80, "{name}");
            let peak = Probability::Peak { successes: 3, failures: 5, ratio };
            let ((p, q), (q_again, p_again)) = (peak.at(90).unwrap(), peak.complement().at(90).unwrap());
            // p/q = 3/(5r)
            assert!(agrees(&p.times(&r, 90).times_integer(5, 90), &q.times_integer(3, 90)), "{name}");
            assert!(
                agrees(&p.plus(&q, 90), &Ball::one()) && agrees(&p, &p_again) && agrees(&q, &q_again),
                "{name}"
            );
            assert!(p.accuracy() >= 80 && peak.exact().is_none(), "{name}");
        }
        let third = Probability::Exact(number("1/3"));
        assert_eq!((third.exact(), third.complement().exact()), (Some(&number("1/3")), Some(&number("2/3"))));
        assert_eq!([number("0"), number("-5/8"), number("1/3")].map(|x| size(&x)), [1, 3 + 4, 1 + 2]);
    }
}
