//! Logarithms from a table, as sums of two doubles.

use super::LN_2;
use crate::ball::Ball;
use crate::double_double::{DoubleDouble, two_sum};
use statpriv_simd::{Arithmetic, split};
use std::sync::LazyLock;

/// `ln 2` cut after 41 bits, so that its product with an exponent is exact.
const LN_2_HEAD: f64 = f64::from_bits(LN_2.hi.to_bits() & !0xfff);
/// The rest of `ln 2`, below `2^-41`; its rounding and that of its product with an exponent `e` are `2^-94 |e|`.
const LN_2_TAIL: f64 = (LN_2.hi - LN_2_HEAD) + LN_2.lo;

/// `(t − ln(1 + t))/t²`, by powers of `t`.
pub(crate) const SERIES: [f64; 7] =
    [1.0 / 2.0, -1.0 / 3.0, 1.0 / 4.0, -1.0 / 5.0, 1.0 / 6.0, -1.0 / 7.0, 1.0 / 8.0];

/// A number of at most eight bits next to another one, and its logarithm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbour {
    pub(crate) number: f64,
    pub(crate) logarithm: DoubleDouble,
}

impl Neighbour {
    /// The neighbour `j/128 · 2^e` of a normal positive double; 1 is one of them.
    ///
    /// It is within `0.00553`, relatively: half a step at `√½`, which is `√2/256 < 0.005525`, and a few roundings.
    /// The logarithm errs by at most `2^-93` relatively, as a sum of `e ln 2` and of a ball's midpoint.
    pub(crate) fn of(x: f64) -> Self {
        static LOGARITHMS: LazyLock<[DoubleDouble; 256]> = LazyLock::new(|| {
            std::array::from_fn(|j| {
                let ratio = Ball::from_u64(j as u64) / Ball::from_u64(128);
                ratio.ln().to_double_double().unwrap_or(DoubleDouble::ZERO)
            })
        });
        let bits = x.to_bits();
        let mantissa = f64::from_bits((bits & 0xf_ffff_ffff_ffff) | (1023 << 52));
        let upper_half = mantissa > std::f64::consts::SQRT_2;
        let j = (mantissa * if upper_half { 64.0 } else { 128.0 } + 0.5) as u8;
        let exponent = ((bits >> 52) & 0x7ff) as i64 - 1023 + i64::from(upper_half);
        let scale = f64::from_bits(((exponent.clamp(-1015, 1022) + 1023) as u64) << 52);
        let table = LOGARITHMS[usize::from(j)];
        let (hi, lo) = two_sum(exponent as f64 * LN_2_HEAD, table.hi);
        let lo = lo + (exponent as f64 * LN_2_TAIL + table.lo);
        Self { number: f64::from(j) / 128.0 * scale, logarithm: DoubleDouble { hi, lo } }
    }
}

/// `ln(x/y) = head + tail` for normal positive `x` and `y`, `|tail| ≤ 0.0056`, with an error of at most `2^-58 + 2^-93 |ln(x/y)|`.
///
/// With the neighbour `r` of the quotient, `ln(x/y) = ln r + ln(1 + t)`, `t = (x − ry)/(ry)`. The products of `r` with the halves of
/// `y` are exact, and so is the difference of the first from the upper part of `x`, within `0.6 %` of it (Sterbenz); two more
/// additions, the product in the divisor and the division make `t` err by `4.1u|t|`. Of the series `t − t²(½ − t(⅓ − …))` the
/// terms left out are below `|t|^9/9 · 1.01 < 2^-70`; the part after `t` is below `0.51t²` and errs by less than `10u` times
/// that, and the last subtraction errs by `1.01u|t|`: together less than `5.2u · 0.00553 + 2^-70 < 2^-58`.
#[inline(always)]
pub(crate) fn ln_of_quotient<A: Arithmetic>(x: DoubleDouble, y: f64) -> (DoubleDouble, f64) {
    let Neighbour { number, logarithm } = Neighbour::of(x.hi / y);
    let (half, other_half) = split(y);
    let t = (((x.hi - number * half) - number * other_half) + x.lo) / (number * y);
    (logarithm, t - t * t * polynomial::<A>(&SERIES, t))
}

/// `Σ c_i t^i`, in pairs: for `|t| ≤ 1/128` and coefficients below `|c_0|`·1.2 the error is below `4u|c_0|`.
#[inline(always)]
pub(crate) fn polynomial<A: Arithmetic>(c: &[f64; 7], t: f64) -> f64 {
    let square = t * t;
    let low = A::multiply_add(square, A::multiply_add(c[3], t, c[2]), A::multiply_add(c[1], t, c[0]));
    let high = A::multiply_add(square, c[6], A::multiply_add(c[5], t, c[4]));
    A::multiply_add(square * square, high, low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rational::Rational;
    use proptest::prelude::*;
    use statpriv_simd::Portable;

    fn exact(x: f64) -> Ball {
        Ball::from_rational(&Rational::from_f64(x).unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5000))]

        #[test]
        fn logarithms_err_by_at_most_their_bound(mantissa in 1.0..2.0f64, exponent in -900i32..900, lo in -1.0..1.0f64, y in 1.0..1e15f64) {
            let hi = mantissa * 2f64.powi(exponent);
            let x = DoubleDouble { hi, lo: lo * hi * 2f64.powi(-54) };
            let truth = ((exact(x.hi) + exact(x.lo)) / exact(y)).ln();
            let (head, tail) = ln_of_quotient::<Portable>(x, y);
            let error = (exact(head.hi) + exact(head.lo) + exact(tail) - truth).to_enclosure();
            let bound = 2f64.powi(-58) + 2f64.powi(-93) * head.hi.abs();
            prop_assert!(error.upper() <= bound && error.lower() >= -bound, "{error:?}");
            prop_assert!(tail.abs() <= 0.0056);
        }

        #[test]
        fn a_neighbour_is_near(mantissa in 1.0..2.0f64, exponent in -1000i32..1000) {
            let x = mantissa * 2f64.powi(exponent);
            let Neighbour { number, logarithm } = Neighbour::of(x);
            prop_assert!((number / x - 1.0).abs() <= 0.00553);
            let error = exact(number).ln() - exact(logarithm.hi) - exact(logarithm.lo);
            let bound = logarithm.hi.abs() * 2f64.powi(-93);
            prop_assert!(error.to_enclosure().upper() <= bound && error.to_enclosure().lower() >= -bound);
        }
    }

    #[test]
    fn one_is_its_own_neighbour() {
        let Neighbour { number, logarithm } = Neighbour::of(1.0);
        assert_eq!((number, logarithm), (1.0, DoubleDouble::ZERO));
    }
}
