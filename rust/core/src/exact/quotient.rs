//! Rationals that are summed without a gcd: a numerator over a product of powers.
//!
//! The denominators of one curve are powers of a few numbers (that of `p`, of `e^ε`, of the weights), so a common one is read
//! off the exponents, and only the last result is brought to lowest terms.

use crate::numbers::rational::Rational;
use dashu_int::ops::{Gcd, UnsignedAbs};
use dashu_int::{IBig, Sign, UBig};
use std::collections::BTreeMap;

/// `numerator / (2^twos · Π base^exponent)`; the bases are odd and above 1, and need not be coprime.
#[derive(Clone, Debug)]
pub struct Quotient {
    numerator: IBig,
    twos: usize,
    powers: BTreeMap<UBig, usize>,
}

impl Quotient {
    /// An integer.
    pub fn integer(numerator: impl Into<IBig>) -> Self {
        Self { numerator: numerator.into(), twos: 0, powers: BTreeMap::new() }
    }

    /// A rational.
    pub fn rational(x: &Rational) -> Self {
        Self::integer(x.numerator().clone()).over(x.denominator(), 1)
    }

    /// Divided by `base^exponent`, for a positive `base`.
    pub fn over(mut self, base: &UBig, exponent: usize) -> Self {
        let twos = base.trailing_zeros().unwrap_or(0);
        self.twos += twos * exponent;
        let odd = base >> twos;
        if odd > UBig::ONE && exponent > 0 {
            *self.powers.entry(odd).or_insert(0) += exponent;
        }
        self
    }

    /// Multiplied by an integer.
    pub fn times(self, factor: impl Into<IBig>) -> Self {
        Self { numerator: self.numerator * factor.into(), ..self }
    }

    /// Multiplied by a rational.
    pub fn scaled(self, factor: &Rational) -> Self {
        self.times(factor.numerator().clone()).over(factor.denominator(), 1)
    }

    pub fn plus(self, other: Self) -> Self {
        let (left, right) = self.over_common(other);
        Self { numerator: left.numerator + right.numerator, ..left }
    }

    pub fn minus(self, other: Self) -> Self {
        self.plus(other.times(-1))
    }

    /// Both numerators over one denominator, whose size in bits does not matter to their quotient.
    pub fn numerators(self, other: Self) -> (IBig, IBig) {
        let (left, right) = self.over_common(other);
        (left.numerator, right.numerator)
    }

    pub fn sign(&self) -> i8 {
        match (self.numerator.is_zero(), self.numerator.sign()) {
            (true, _) => 0,
            (_, Sign::Negative) => -1,
            (_, Sign::Positive) => 1,
        }
    }

    fn over_common(self, other: Self) -> (Self, Self) {
        let mut powers = self.powers.clone();
        for (base, &exponent) in &other.powers {
            let common = powers.entry(base.clone()).or_insert(0);
            *common = exponent.max(*common);
        }
        let twos = self.twos.max(other.twos);
        (self.raised(twos, &powers), other.raised(twos, &powers))
    }

    /// The same number over a denominator with exponents that are nowhere smaller.
    fn raised(self, twos: usize, powers: &BTreeMap<UBig, usize>) -> Self {
        let mut numerator = self.numerator << (twos - self.twos);
        for (base, &exponent) in powers {
            let missing = exponent - self.powers.get(base).copied().unwrap_or(0);
            if missing > 0 {
                numerator *= IBig::from(base.pow(missing));
            }
        }
        Self { numerator, twos, powers: powers.clone() }
    }

    /// Lowest terms: each power is cleared of what it shares with the numerator, which what follows cannot undo.
    pub fn to_rational(&self) -> Rational {
        let Some(even) = self.numerator.trailing_zeros() else { return Rational::from(0i64) };
        let shared = even.min(self.twos);
        let mut numerator = &self.numerator >> shared;
        let mut denominator = UBig::ONE;
        for (base, &exponent) in &self.powers {
            let common = gcd_with_power(&numerator, base, exponent);
            numerator /= IBig::from(common.clone());
            denominator *= base.pow(exponent) / common;
        }
        Rational::from_coprime(numerator, denominator << (self.twos - shared))
    }
}

/// `gcd(x, base^exponent)`, from remainders modulo small powers.
///
/// If `base^k` and `base^{2k}` have the same gcd with `x`, then `min(v(x), k v(base)) = min(v(x), 2k v(base))` for the valuation at each
/// prime of `base`, so `v(x) ≤ k v(base)`, and no larger power shares more with `x`.
fn gcd_with_power(x: &IBig, base: &UBig, exponent: usize) -> UBig {
    let x = x.clone().unsigned_abs();
    let (mut power, mut reached) = (base.clone(), 1);
    let mut common = (&x % &power).gcd(&power);
    while common > UBig::ONE && reached < exponent {
        let doubled = (2 * reached).min(exponent);
        power = base.pow(doubled);
        let larger = (&x % &power).gcd(&power);
        if larger == common && doubled == 2 * reached {
            break;
        }
        (common, reached) = (larger, doubled);
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fraction(top: i64, bottom: u64) -> Rational {
        Rational::new(IBig::from(top), UBig::from(bottom)).unwrap()
    }

    proptest! {
        #[test]
        fn sums_are_those_of_rationals_in_lowest_terms(
            parts in prop::collection::vec((-1_000_000i64..1_000_000, 1u64..40, 0usize..9), 1..6)
        ) {
            let mut exact = Rational::from(0i64);
            let mut sum = Quotient::integer(0);
            for (top, base, exponent) in parts {
                sum = sum.plus(Quotient::integer(top).over(&UBig::from(base), exponent));
                exact = exact.add(&fraction(top, 1).div(&fraction((base as i64).pow(exponent as u32), 1)).unwrap());
            }
            prop_assert_eq!(sum.to_rational(), exact);
        }

        #[test]
        fn the_gcd_with_a_power_is_the_gcd(x in 1i64..i64::MAX, twos in 0u32..40, base in 2u64..200, exponent in 1usize..30) {
            let x = IBig::from(x) << twos as usize;
            let power = UBig::from(base).pow(exponent);
            prop_assert_eq!(gcd_with_power(&x, &UBig::from(base), exponent), x.clone().unsigned_abs().gcd(&power));
        }
    }

    #[test]
    fn powers_shared_to_a_high_degree_are_cleared() {
        for (shared, exponent) in [(1, 1), (5, 100), (64, 100), (100, 100), (200, 100)] {
            let six = UBig::from(6u8);
            let quotient = Quotient::integer(six.pow(shared) * UBig::from(35u8)).over(&six, exponent);
            let expected =
                Rational::new(IBig::from(six.pow(shared) * UBig::from(35u8)), six.pow(exponent)).unwrap();
            assert_eq!(quotient.to_rational(), expected);
        }
    }
}
