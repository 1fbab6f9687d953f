//! `e^x` and `e^x − 1`.

use super::LN_2;
use super::polynomial;
use super::series::{self, INVERSE_FACTORIALS};
use crate::numbers::double_double::{DoubleDouble, UNIT, two_sum};
use statpriv_simd::{Arithmetic, Portable};
use std::sync::LazyLock;

/// Steps of the table in a factor of two.
const STEPS: i64 = 256;
/// `ln 2` in three parts: its first 32 bits, the next 33, and the rest.
pub(super) const FIRST: f64 = 0.693_147_180_369_123_8;
pub(super) const SECOND: f64 = 1.908_214_929_114_120_8e-10;
/// Rounded: by less than `2^-119`.
pub(super) const REST: f64 = 1.564_670_158_533_888e-20;

/// Bound of the relative error of the mantissa of [`exp_reduced`]: `32u²`.
pub(crate) const EXP_ERROR: f64 = 2.0 * UNIT;

/// `2^(i/STEPS)` for `i = −STEPS/2, …, STEPS/2 − 1`, with a relative error of at most `13u²`: `12u²` of the series, and `2.5u²`
/// of an argument of at most 0.35.
static POWERS: LazyLock<Vec<DoubleDouble>> = LazyLock::new(|| {
    (-STEPS / 2..STEPS / 2).map(|i| series::exp(LN_2.mul_f64(i as f64 / STEPS as f64))).collect()
});

/// `e^x = mantissa · 2^exponent` and a bound of the mantissa's relative error, for `|x| ≤ 2^50`.
///
/// Up to `2^10` the argument is reduced by the table alone. Beyond, whole factors of two are split off first: their product with
/// `ln 2` errs by `2u²`, the constant by `u²`, each of a magnitude of at most `|x| + 1`, and the subtraction by `3u²` of the result.
pub(crate) fn exp(x: DoubleDouble) -> (DoubleDouble, i64, f64) {
    if x.hi.abs() <= 1024.0 {
        let (mantissa, exponent) = exp_reduced::<Portable>(x);
        return (mantissa, exponent, EXP_ERROR);
    }
    let twos = (x.hi * std::f64::consts::LOG2_E).round();
    let (mantissa, exponent) = exp_reduced::<Portable>(x.add(LN_2.mul_f64(twos).neg()));
    (mantissa, exponent + twos as i64, EXP_ERROR + UNIT * 0.5 * (x.hi.abs() + 1.0))
}

/// `e^x = mantissa · 2^exponent`, for `|x| ≤ 1024`.
///
/// With `x = (256 exponent + i) ln 2/256 + r`, `mantissa = 2^(i/256) (1 + m)`, `m = e^r − 1`. The table errs by `13u²`, `r` (an absolute
/// error is a relative one here) by `u²`, `m` counts for its `2^-9`th part, and the last step errs by `5u²`: below `32u²`.
#[inline(always)]
pub(crate) fn exp_reduced<A: Arithmetic>(x: DoubleDouble) -> (DoubleDouble, i64) {
    let (steps, rest) = reduce(x);
    let exponent = (steps + STEPS / 2).div_euclid(STEPS);
    let power = table(steps - exponent * STEPS);
    (expm1_of_rest::<A>(rest).horner_step::<A>(power, power).normalised(), exponent)
}

/// `e^x` and `e^x − 1`, for `−600 ≤ x ≤ 700` (below, the lower half of `e^x` is subnormal).
///
/// `e^x` errs by at most `32u²` relatively. `e^x − 1` errs by at most `40u² max(1, e^x)`, and for `|x| ≤ 0.001`, where it does not come from
/// a difference, by at most `32u²` relatively.
#[inline(always)]
pub(crate) fn exp_and_expm1<A: Arithmetic>(x: DoubleDouble) -> (DoubleDouble, DoubleDouble) {
    if x.hi.abs() <= 0.001 {
        let difference = expm1_of_rest::<A>(x);
        return (DoubleDouble::ONE.add_smaller(difference), difference);
    }
    let (mantissa, exponent) = exp_reduced::<A>(x);
    let exp = mantissa.scale(f64::from_bits(((exponent + 1023) as u64) << 52));
    (exp, exp.add(DoubleDouble::from_f64(-1.0)))
}

/// The number of steps `k = round(256 x/ln 2)` and `r = x − k ln 2/256`, `|r| < 0.00136`, with an absolute error below `u²`.
///
/// `|k| ≤ 2^19`, so the products with the first two parts of `ln 2` are exact. The first is a multiple of `2^-40`, so its difference from the upper part of `x` is
/// one of `ulp(x.hi) ≤ 2^-43`, not larger than `1.001 |x|`, and exact, too. The two sums keep what they lose, below `2^-62` each. The third
/// product, below `2^-55`, rounds by `2^-108`, as does its sum with these; its constant errs by less than `2^-108`.
#[inline(always)]
fn reduce(x: DoubleDouble) -> (i64, DoubleDouble) {
    const SCALE: f64 = 1.0 / STEPS as f64;
    /// Adding and subtracting `1.5·2^52` rounds to an integer.
    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    let k = (x.hi * (STEPS as f64 * std::f64::consts::LOG2_E) + ROUNDER) - ROUNDER;
    let step = k * SCALE;
    let (sum, first) = two_sum(x.hi - step * FIRST, -step * SECOND);
    let (sum, second) = two_sum(sum, x.lo);
    let (hi, lo) = two_sum(sum, (first + second) - step * REST);
    (k as i64, DoubleDouble { hi, lo })
}

#[inline(always)]
fn table(i: i64) -> DoubleDouble {
    POWERS.get((i + STEPS / 2) as usize).copied().unwrap_or(DoubleDouble::ONE)
}

/// `e^r − 1` for `|r| ≤ 0.00136 < 2^-9.5`, with a relative error of at most `32u²`.
///
/// `r + r² S_2` with `S_k = 1/k! + r S_{k+1}`. Doubles are enough from `S_6` on, which is cut after `k = 11`: it counts for `r^5/720 < 2^-56` of
/// the result and errs by less than `8u`, and what is cut off, `r^11/12!`, is below `2^-132`. `S_5`, `S_4` and `S_3` err by at most `15u²` each and count
/// for `2^-20`. `S_2` errs by less than `6u²` and counts, with the square's `7u²`, for `2^-9`, so all that matters is the last step, `5u²`.
/// Below `2^-110` the result is `r`, to half of that.
#[inline(always)]
fn expm1_of_rest<A: Arithmetic>(r: DoubleDouble) -> DoubleDouble {
    const C: [f64; 6] =
        [1.0 / 720.0, 1.0 / 5040.0, 1.0 / 40_320.0, 1.0 / 362_880.0, 1.0 / 3_628_800.0, 1.0 / 39_916_800.0];
    if r.hi.abs() < 1.0 / ((1u128 << 110) as f64) {
        return r;
    }
    let s6 = DoubleDouble::from_f64(polynomial::<A, 6>(&C, r.hi));
    let s4 = s6.horner_step::<A>(r, INVERSE_FACTORIALS[5]).horner_step::<A>(r, INVERSE_FACTORIALS[4]);
    let s2 = s4.horner_step::<A>(r, INVERSE_FACTORIALS[3]).horner_step::<A>(r, INVERSE_FACTORIALS[2]);
    s2.horner_step::<A>(r.mul_with::<A>(r), r).normalised()
}
