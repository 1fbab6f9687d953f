//! The exact sum of doubles.

use crate::numbers::rational::Rational;
use dashu_int::{IBig, UBig};

/// Exponents that a double can have.
const EXPONENTS: usize = 2048;

/// A sum of non-negative doubles without rounding: one integer for each exponent. There is room for `2^75` summands.
pub(super) struct ExactSum {
    significands: Vec<u128>,
}

impl ExactSum {
    pub(super) fn new() -> Self {
        Self { significands: vec![0; EXPONENTS] }
    }

    /// Adds a finite double; its sign is ignored.
    pub(super) fn add(&mut self, x: f64) {
        let bits = x.to_bits();
        let (exponent, fraction) = (((bits >> 52) & 0x7ff) as usize, bits & ((1 << 52) - 1));
        // Subnormal numbers have the unit of the smallest normal ones, and no hidden bit.
        let hidden = u64::from(exponent > 0) << 52;
        if let Some(sum) = self.significands.get_mut(exponent.max(1)) {
            *sum += u128::from(fraction | hidden);
        }
    }

    /// `Σ significand_e 2^(e − 1075)`, by Horner's scheme from the largest exponent down.
    pub(super) fn total(&self) -> Rational {
        let (mut sum, mut at) = (UBig::ZERO, EXPONENTS);
        for (exponent, &significand) in self.significands.iter().enumerate().rev() {
            if significand != 0 {
                sum = (sum << (at - exponent)) + UBig::from(significand);
                at = exponent;
            }
        }
        let shift = at as i64 - 1075;
        let by = shift.unsigned_abs() as usize;
        if shift >= 0 { Rational::from(IBig::from(sum << by)) } else { Rational::dyadic(sum, by) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum_of(summands: &[f64]) -> Rational {
        let mut sum = ExactSum::new();
        for &x in summands {
            sum.add(x);
        }
        sum.total()
    }

    proptest! {
        #[test]
        fn it_is_the_sum_of_the_rationals(
            summands in prop::collection::vec((0u64..1 << 52, 0u64..2047).prop_map(|(f, e)| f64::from_bits(e << 52 | f)), 0..20),
        ) {
            let zero = Rational::from(0i64);
            let expected = summands.iter().fold(zero, |sum, &x| sum.add(&Rational::from_f64(x).unwrap()));
            prop_assert_eq!(sum_of(&summands), expected);
        }
    }

    #[test]
    fn subnormal_numbers_count_too() {
        let unit = Rational::from_f64(f64::from_bits(1)).unwrap();
        let sum = sum_of(&[f64::from_bits(1), f64::from_bits(3), f64::MIN_POSITIVE, 0.0]);
        assert_eq!(sum, unit.mul(&Rational::from(4 + (1i64 << 52))));
    }
}
