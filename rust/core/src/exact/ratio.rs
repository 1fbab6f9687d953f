//! The ratio `e^ε` that a hockey stick compares likelihoods with, and decisions that hang on it.

use super::quotient::Quotient;
use crate::budget::MAX_RATIO_BITS;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::rational::{Rational, exponential};
use dashu_int::ops::{BitTest, UnsignedAbs};
use dashu_int::{IBig, UBig};
use std::cmp::Ordering;

/// Bits of `e^ε` that a decision is first tried with.
const FIRST_BITS: usize = 128;

/// `e^ε ≥ 1` wherever something is decided.
#[derive(Clone, Debug)]
pub enum Ratio {
    /// A rational number.
    Rational(Rational),
    /// `1 + (e^ε − 1)/γ` for a rational ε other than 0 and a rational γ from 0 to 1, mostly 1: irrational (Lindemann).
    Exponential { epsilon: Rational, rate: Rational },
}

impl Ratio {
    pub fn from_epsilon(epsilon: &Rational) -> Self {
        if epsilon.is_zero() {
            Self::Rational(Rational::from(1i64))
        } else {
            Self::Exponential { epsilon: epsilon.clone(), rate: Rational::from(1i64) }
        }
    }

    /// `1 + (r − 1)/γ` where this is `r`.
    pub fn amplified(&self, rate: &Rational) -> Self {
        match self {
            Self::Rational(ratio) => Self::Rational(amplified(ratio, rate)),
            Self::Exponential { epsilon, rate: before } => {
                Self::Exponential { epsilon: epsilon.clone(), rate: before.mul(rate) }
            }
        }
    }

    /// `1/e^ε` where `e^ε < 1`.
    pub fn inverse_of_below_one(&self) -> Option<Self> {
        match self {
            Self::Rational(ratio) if *ratio < Rational::from(1i64) => Some(Self::Rational(reciprocal(ratio))),
            Self::Exponential { epsilon, .. } if epsilon.is_negative() => {
                Some(Self::from_epsilon(&epsilon.neg()))
            }
            _ => None,
        }
    }

    /// What holds for both ends of ever narrower enclosures of the ratio.
    ///
    /// `decision` must not change between one ratio and another that are both beyond `2^range`, so that no larger ones
    /// are written out: the ratio is at least `e^ε ≥ 2^ε`.
    pub fn decide<T: PartialEq>(
        &self,
        range: usize,
        interrupt: &dyn Interrupt,
        decision: impl Fn(&Rational) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (epsilon, rate) = match self {
            Self::Rational(ratio) => return decision(ratio),
            Self::Exponential { epsilon, rate } => (epsilon, rate),
        };
        if *epsilon > Rational::from(range as u64) {
            return decision(&Rational::from(IBig::ONE << (range + 1)));
        }
        let mut bits = FIRST_BITS;
        while bits <= MAX_RATIO_BITS {
            interrupt.check()?;
            let (low, high) = exponential(epsilon, bits);
            let at = |units: UBig| decision(&amplified(&Rational::dyadic(units, bits), rate));
            let (low, high) = (at(low)?, at(high)?);
            if low == high {
                return Ok(low);
            }
            bits *= 2;
        }
        Err(Error::precision(format!(
            "{MAX_RATIO_BITS} bits of e^epsilon do not decide which side of a threshold it is on"
        )))
    }

    /// How `left − e^ε right` compares with zero.
    pub fn compare(
        &self,
        left: &Quotient,
        right: &Quotient,
        interrupt: &dyn Interrupt,
    ) -> Result<Ordering, Error> {
        if left.sign() == right.sign() && left.sign() == 0 {
            return Ok(Ordering::Equal);
        }
        if left.sign() != right.sign() {
            return Ok(left.sign().cmp(&right.sign()));
        }
        let (left, right) = left.clone().numerators(right.clone());
        let bits = |x: &IBig| x.clone().unsigned_abs().bit_len();
        let range = bits(&left).abs_diff(bits(&right)) + 1;
        self.decide(range, interrupt, |ratio| {
            Ok((&left * IBig::from(ratio.denominator().clone())).cmp(&(&right * ratio.numerator())))
        })
    }
}

/// `1 + (r − 1)/γ` for a positive γ.
fn amplified(ratio: &Rational, rate: &Rational) -> Rational {
    let one = Rational::from(1i64);
    if *rate == one {
        return ratio.clone();
    }
    ratio.sub(&one).mul(&reciprocal(rate)).add(&one)
}

/// `1/x` for a positive x.
fn reciprocal(x: &Rational) -> Rational {
    Rational::from_coprime(IBig::from(x.denominator().clone()), x.numerator().clone().unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Uninterrupted;

    fn quotient(text: &str) -> Quotient {
        Quotient::rational(&Rational::parse(text).unwrap())
    }

    #[test]
    fn comparisons_are_as_fine_as_they_must_be() {
        let e = "2.718281828459045235360287471352662497757247093699959574966967627724076630353547594571382178525166427427466391932003059921817413596629";
        let epsilon = |text: &str| Ratio::from_epsilon(&Rational::parse(text).unwrap());
        let compare = |ratio: &Ratio, left: &str, right: &str| {
            ratio.compare(&quotient(left), &quotient(right), &Uninterrupted).unwrap()
        };
        let one = epsilon("1");
        assert_eq!(compare(&one, e, "1"), Ordering::Less);
        assert_eq!(compare(&one, &format!("{e}04"), "1"), Ordering::Less);
        assert_eq!(compare(&one, &format!("{e}05"), "1"), Ordering::Greater);
        assert_eq!(compare(&one, &format!("-{e}05"), "-1"), Ordering::Less);
        assert_eq!(compare(&epsilon("0"), "1/3", "1/3"), Ordering::Equal);
        assert_eq!(compare(&one, "0", "0"), Ordering::Equal);
        assert_eq!(compare(&one, "0", "-1"), Ordering::Greater);
        assert_eq!(compare(&epsilon("1e30"), "1e300", "1"), Ordering::Less);
    }
}
