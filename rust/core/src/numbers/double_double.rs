//! Unevaluated sums `hi + lo` of two doubles, and the published error bound of every operation.
//!
//! With `u = 2^-53`, and as long as nothing underflows or overflows, the relative errors below are those
//! proved in M. Joldes, J.-M. Muller, V. Popescu, *Tight and rigorous error bounds for basic building
//! blocks of double-word arithmetic*, ACM TOMS 44(2), 2017. The largest of them is `15u² + 56u³`, so
//! [`UNIT`] `= 16u² = 2^-102` covers one operation of any kind; [`ADDITION`] and [`MULTIPLICATION`] need less.
//!
//! Products are exact with or without a fused multiply-add, so every operation gives the same bits on every machine;
//! the `_with` forms use what the processor has (see [`statpriv_simd`]), the others Dekker's product.

use statpriv_simd::{Arithmetic, Portable};

pub use statpriv_simd::two_product;

/// Bound of the relative error of one double-double operation: `2^-102`.
pub const UNIT: f64 = 1.0 / ((1u64 << 51) as f64) / ((1u64 << 51) as f64);

/// Bound of the relative error of an addition: `4u²`.
pub const ADDITION: f64 = UNIT / 4.0;
/// Bound of the relative error of a multiplication: `8u²`.
pub const MULTIPLICATION: f64 = UNIT / 2.0;

/// `hi + lo` with `|lo| ≤ ulp(hi)/2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoubleDouble {
    /// The sum rounded to nearest.
    pub hi: f64,
    /// What `hi` leaves over.
    pub lo: f64,
}

/// Knuth: `a + b` as a rounded sum and its exact error, for any finite `a`, `b`.
#[must_use]
#[inline(always)]
pub const fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let bb = s - a;
    (s, (a - (s - bb)) + (b - bb))
}

/// Dekker: as [`two_sum`], for `|a| ≥ |b|` or `a = 0`.
#[inline(always)]
const fn fast_two_sum(a: f64, b: f64) -> DoubleDouble {
    let s = a + b;
    DoubleDouble { hi: s, lo: b - (s - a) }
}

// Methods, not operators: each has a bound of its own, and a choice of arithmetic.
#[allow(clippy::should_implement_trait)]
impl DoubleDouble {
    /// Zero.
    pub const ZERO: Self = Self::from_f64(0.0);
    /// One.
    pub const ONE: Self = Self::from_f64(1.0);

    /// A double, exactly.
    #[must_use]
    #[inline(always)]
    pub const fn from_f64(hi: f64) -> Self {
        Self { hi, lo: 0.0 }
    }

    /// Algorithm 6 (`AccurateDWPlusDW`): relative error at most `3u² + 13u³`, cancellation included.
    #[must_use]
    #[inline(always)]
    pub const fn add(self, other: Self) -> Self {
        let (sh, sl) = two_sum(self.hi, other.hi);
        let (th, tl) = two_sum(self.lo, other.lo);
        let v = fast_two_sum(sh, sl + th);
        fast_two_sum(v.hi, tl + v.lo)
    }

    /// The exact negative.
    #[must_use]
    #[inline(always)]
    pub const fn neg(self) -> Self {
        Self { hi: -self.hi, lo: -self.lo }
    }

    /// `a + b` for `|b| ≤ |a|/2`, cheaper than [`Self::add`]: relative error at most `8u²`.
    ///
    /// The high parts add up to `s + e` exactly, with `|a|/2 ≤ |s|` up to rounding. `|lo a + lo b| ≤ 1.5u|a|` rounds with an
    /// error of `1.5u²|a|`, and the sum of that and `e`, `|e| ≤ u|s|`, with one of `u²|s| + 1.5u²|a|`: together `7u²|s|`, up to
    /// terms in `u³`.
    #[must_use]
    #[inline(always)]
    pub const fn add_smaller(self, other: Self) -> Self {
        let s = fast_two_sum(self.hi, other.hi);
        fast_two_sum(s.hi, s.lo + (self.lo + other.lo))
    }

    /// `a + b` for `a, b ≥ 0`, cheaper than [`Self::add`]: relative error at most `3u² + 6u³`.
    ///
    /// The high parts add up to `s + e` exactly. `|lo a + lo b| ≤ u s(1 + u)` rounds with an error of `u²s(1 + u)`, and the sum of that
    /// and `e`, `|e| ≤ u s`, with one of `2u²s(1 + 2u)`, where `a + b ≥ s(1 − 2u)`.
    #[must_use]
    #[inline(always)]
    pub const fn add_positive(self, other: Self) -> Self {
        let (s, e) = two_sum(self.hi, other.hi);
        fast_two_sum(s, e + (self.lo + other.lo))
    }

    /// Algorithm 7 (`DWTimesFP1`): relative error at most `3u²/2 + 4u³`.
    #[must_use]
    #[inline(always)]
    pub fn mul_f64_with<A: Arithmetic>(self, y: f64) -> Self {
        let (ch, cl1) = A::two_product(self.hi, y);
        let t = fast_two_sum(ch, self.lo * y);
        fast_two_sum(t.hi, t.lo + cl1)
    }

    /// Algorithm 10 (`DWTimesDW1`): relative error at most `7u²`.
    #[must_use]
    #[inline(always)]
    pub fn mul_with<A: Arithmetic>(self, other: Self) -> Self {
        let (ch, cl1) = A::two_product(self.hi, other.hi);
        let cl2 = self.hi * other.lo + self.lo * other.hi;
        fast_two_sum(ch, cl1 + cl2)
    }

    /// `c + x · self`, one step of Horner's scheme, for `|x · self| ≤ |c|/16`: relative error at most `5u²`.
    ///
    /// Cheaper than a product and a sum, because the result is not normalised: `|lo| ≤ 2.6u |hi|`, and no more is asked of `self`. `x` and `c` are normalised.
    ///
    /// Let `P` be the product of the upper parts, `e ≤ u|P|` what it loses. The product of the lower parts is left out, `2.6u²|P|`; the mixed ones,
    /// `3.6u|P|` together, round by `7.2u²|P|`, and by `4.6u²|P|` where `e` is added: with `|P| ≤ |c|/16 (1 + 4u)` less than `0.91u²|c|`. The sum of that with
    /// `c`'s lower part is at most `1.29u|c|` and rounds by `1.29u²|c|`; the sum of the upper parts loses at most `u|s|`, `|s| ≤ 17/16 |c|`, and the last
    /// sum, `2.36u|c|`, rounds by `2.36u²|c|`: together `4.6u²|c|`, and `|s| ≥ 15/16 |c|`.
    #[must_use]
    #[inline(always)]
    pub fn horner_step<A: Arithmetic>(self, x: Self, c: Self) -> Self {
        let (product, rest) = A::two_product(self.hi, x.hi);
        let mixed = self.hi * x.lo + self.lo * x.hi;
        let sum = fast_two_sum(c.hi, product);
        Self { hi: sum.hi, lo: sum.lo + (c.lo + (rest + mixed)) }
    }

    /// The same number with `|lo| ≤ ulp(hi)/2`, after [`Self::horner_step`].
    #[must_use]
    #[inline(always)]
    pub const fn normalised(self) -> Self {
        fast_two_sum(self.hi, self.lo)
    }

    /// Algorithm 17 (`DWDivDW2`): relative error at most `15u² + 56u³`.
    #[must_use]
    #[inline(always)]
    pub fn div_with<A: Arithmetic>(self, other: Self) -> Self {
        let th = self.hi / other.hi;
        let r = other.mul_f64_with::<A>(th);
        let d = (self.hi - r.hi) + (self.lo - r.lo);
        fast_two_sum(th, d / other.hi)
    }

    /// [`Self::mul_f64_with`] on any processor.
    #[must_use]
    pub fn mul_f64(self, y: f64) -> Self {
        self.mul_f64_with::<Portable>(y)
    }

    /// [`Self::mul_with`] on any processor.
    #[must_use]
    pub fn mul(self, other: Self) -> Self {
        self.mul_with::<Portable>(other)
    }

    /// [`Self::div_with`] on any processor.
    #[must_use]
    pub fn div(self, other: Self) -> Self {
        self.div_with::<Portable>(other)
    }

    /// Algorithm 15 (`DWDivFP3`): relative error at most `3u²`.
    #[must_use]
    pub const fn div_f64(self, y: f64) -> Self {
        let th = self.hi / y;
        let (ph, pl) = two_product(th, y);
        let d = ((self.hi - ph) - pl) + self.lo;
        fast_two_sum(th, d / y)
    }

    /// Exact scaling by a power of two, as long as nothing underflows or overflows.
    #[must_use]
    #[inline(always)]
    pub const fn scale(self, power_of_two: f64) -> Self {
        Self { hi: self.hi * power_of_two, lo: self.lo * power_of_two }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;

    fn exact(x: DoubleDouble) -> Rational {
        Rational::from_f64(x.hi).unwrap().add(&Rational::from_f64(x.lo).unwrap())
    }

    fn double_double() -> impl Strategy<Value = DoubleDouble> {
        (1.0..2.0f64, -1.0..1.0f64, -20i32..20, any::<bool>()).prop_map(|(hi, lo, e, negative)| {
            let (hi, lo) = two_sum(hi, lo * 2f64.powi(-53));
            DoubleDouble { hi, lo }.scale(2f64.powi(e) * if negative { -1.0 } else { 1.0 })
        })
    }

    /// `|computed − truth| ≤ unit · |truth|`, in exact rationals.
    fn within(unit: f64, computed: DoubleDouble, truth: &Rational) -> bool {
        let error = exact(computed).sub(truth).abs();
        error <= truth.abs().mul(&Rational::from_f64(unit).unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn every_operation_errs_by_at_most_its_bound(x in double_double(), y in double_double()) {
            let (a, b) = (exact(x), exact(y));
            prop_assert!(within(ADDITION, x.add(y), &a.add(&b)));
            prop_assert!(within(ADDITION, x.add(y.neg()), &a.sub(&b)));
            if x.hi > 0.0 && y.hi > 0.0 {
                prop_assert!(within(ADDITION, x.add_positive(y), &a.add(&b)));
            }
            if x.hi.abs() >= 2.0 * y.hi.abs() {
                prop_assert!(within(MULTIPLICATION, x.add_smaller(y), &a.add(&b)));
            }
            prop_assert!(within(MULTIPLICATION, x.mul(y), &a.mul(&b)));
            prop_assert!(within(UNIT, x.div(y), &a.div(&b).unwrap()));
            let c = Rational::from_f64(y.hi).unwrap();
            prop_assert!(within(MULTIPLICATION, x.mul_f64(y.hi), &a.mul(&c)));
            prop_assert!(within(ADDITION, x.div_f64(y.hi), &a.div(&c).unwrap()));
        }

        /// Of a value that is not normalised, at the largest product that is allowed and below.
        #[test]
        fn a_step_of_horner_errs_by_at_most_its_bound(x in double_double(), c in double_double(), share in 0.0..1.0f64, lo in -2.6..2.6f64) {
            let hi = share * c.hi / x.hi / 16.1;
            let value = DoubleDouble { hi, lo: hi * lo * 2f64.powi(-53) };
            let step = value.horner_step::<Portable>(x, c);
            let truth = exact(value).mul(&exact(x)).add(&exact(c));
            prop_assert!(within(5.0 / 16.0 * UNIT, step, &truth));
            prop_assert!(step.lo.abs() <= 2.6 * 2f64.powi(-53) * step.hi.abs());
            let normalised = step.normalised();
            prop_assert_eq!(exact(normalised), exact(step));
            prop_assert!(normalised.hi + normalised.lo == normalised.hi);
        }

        #[test]
        fn the_error_of_a_sum_or_product_is_exact(a in -1e9..1e9f64, b in -1e-9..1e9f64) {
            let (x, y) = (Rational::from_f64(a).unwrap(), Rational::from_f64(b).unwrap());
            let (s, e) = two_sum(a, b);
            prop_assert_eq!(exact(DoubleDouble { hi: s, lo: e }), x.add(&y));
            let (p, e) = two_product(a, b);
            prop_assert_eq!(exact(DoubleDouble { hi: p, lo: e }), x.mul(&y));
        }
    }
}
