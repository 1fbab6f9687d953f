//! `e^x` and `e^x − 1`.

use super::LN_2;
use super::polynomial;
use super::series::{self, INVERSE_FACTORIALS};
use crate::double_double::{DoubleDouble, UNIT};
use statpriv_simd::{Arithmetic, Portable};
use std::sync::LazyLock;

/// Steps of the table in a factor of two.
const STEPS: i64 = 256;
/// `ln 2` in three parts: its first 32 bits, the next 33, and the rest.
pub(super) const FIRST: f64 = 0.693_147_180_369_123_8;
pub(super) const SECOND: f64 = 1.908_214_929_114_120_8e-10;
pub(super) const REST: DoubleDouble =
    DoubleDouble { hi: 1.564_670_158_533_888e-20, lo: -9.896_083_983_394_73e-37 };

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
/// error is a relative one here) by `u²`, `m` counts for its `2^-9`th part, and the last addition errs by `8u²`: below `32u²`.
#[inline(always)]
pub(crate) fn exp_reduced<A: Arithmetic>(x: DoubleDouble) -> (DoubleDouble, i64) {
    let (steps, rest) = reduce::<A>(x);
    let exponent = (steps + STEPS / 2).div_euclid(STEPS);
    let power = table(steps - exponent * STEPS);
    (power.add_smaller(power.mul_with::<A>(expm1_of_rest::<A>(rest))), exponent)
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
/// `|k| ≤ 2^19`, so the products with the first two parts of `ln 2` are exact; the differences, below 0.003, round with `3u²`
/// each, and the third product, below `2^-54`, with `8u²`.
#[inline(always)]
fn reduce<A: Arithmetic>(x: DoubleDouble) -> (i64, DoubleDouble) {
    const SCALE: f64 = 1.0 / STEPS as f64;
    /// Adding and subtracting `1.5·2^52` rounds to an integer.
    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    let k = (x.hi * (STEPS as f64 * std::f64::consts::LOG2_E) + ROUNDER) - ROUNDER;
    let step = k * SCALE;
    let rest = x
        .add(DoubleDouble::from_f64(-step * FIRST))
        .add(DoubleDouble::from_f64(-step * SECOND))
        .add(REST.mul_f64_with::<A>(-step));
    (k as i64, rest)
}

#[inline(always)]
fn table(i: i64) -> DoubleDouble {
    POWERS.get((i + STEPS / 2) as usize).copied().unwrap_or(DoubleDouble::ONE)
}

/// `e^r − 1` for `|r| ≤ 0.00136 < 2^-9.5`, with a relative error of at most `32u²`.
///
/// `r + r² S_2` with `S_k = 1/k! + r S_{k+1}`. Doubles are enough from `S_6` on, which is cut after `k = 11`: it counts for `r^5/720 < 2^-56` of
/// the result and errs by less than `8u`, and what is cut off, `r^11/12!`, is below `2^-132`. `S_5` and `S_4` err by at most `12u²` each and count
/// for `2^-28`. `S_2` errs by less than `12u²` and counts for `2^-9`, so all that matters is the last sum, `8u²`.
/// Below `2^-110` the result is `r`, to half of that.
#[inline(always)]
fn expm1_of_rest<A: Arithmetic>(r: DoubleDouble) -> DoubleDouble {
    const C: [f64; 6] =
        [1.0 / 720.0, 1.0 / 5040.0, 1.0 / 40_320.0, 1.0 / 362_880.0, 1.0 / 3_628_800.0, 1.0 / 39_916_800.0];
    if r.hi.abs() < 1.0 / ((1u128 << 110) as f64) {
        return r;
    }
    let x = r.hi;
    let s6 = polynomial::<A, 6>(&C, x);
    let s5 = INVERSE_FACTORIALS[5].add_smaller(DoubleDouble::from_f64(x * s6));
    let s4 = INVERSE_FACTORIALS[4].add_smaller(s5.mul_with::<A>(r));
    let s3 = INVERSE_FACTORIALS[3].add_smaller(s4.mul_with::<A>(r));
    let s2 = INVERSE_FACTORIALS[2].add_smaller(s3.mul_with::<A>(r));
    r.add_smaller(r.mul_with::<A>(r).mul_with::<A>(s2))
}
