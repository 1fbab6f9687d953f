//! `ln m` and `ln(1 + x)`.

use super::LN_2;
use super::polynomial;
use super::series::{self, ODD_RECIPROCALS};
use crate::numbers::double_double::{DoubleDouble, UNIT};
use statpriv_simd::Arithmetic;
use std::sync::LazyLock;

/// Bound of the relative error of [`ln_near_one`]: `1024u² = 2^-96`.
pub(crate) const LN_ERROR: f64 = 64.0 * UNIT;

/// Reciprocals in the table are multiples of `1/GRID`.
const GRID: usize = 256;
/// The least and the greatest of them, for numbers from `√½` to `√2`.
const LEAST: usize = 181;
const GREATEST: usize = 363;
/// Up to here [`ln_1p`] needs no table.
const SMALL: f64 = 0.0019;

/// `ln(i/GRID)`, with a relative error of at most `64u²`.
static LOGARITHMS: LazyLock<Vec<DoubleDouble>> = LazyLock::new(|| {
    (LEAST..=GREATEST).map(|i| series::ln(DoubleDouble::from_f64(i as f64 / GRID as f64))).collect()
});

/// `ln m` for `√½ ≤ m ≤ √2`, with a relative error of at most [`LN_ERROR`].
///
/// With `c ≈ 1/m` from the table, `ln m = ln(1 + z) − ln c` for `z = mc − 1`, `|z| ≤ m/512 < 0.003`. Where `c = 1`, `z` errs by `3u²` and its
/// logarithm by `32u²`, relatively. Elsewhere `|ln m| ≥ 0.0019`: the product and the difference err by less than `1.6u²`, `850u²` of the result;
/// `ln c`, less than `2.5 |ln m|` in size, by `160u²`, and the last sum by `3u²`.
#[inline(always)]
pub(crate) fn ln_near_one<A: Arithmetic>(m: DoubleDouble) -> DoubleDouble {
    let i = ((GRID as f64 / m.hi + 0.5) as usize).clamp(LEAST, GREATEST);
    let z = m.mul_f64_with::<A>(i as f64 / GRID as f64).add(DoubleDouble::from_f64(-1.0));
    let small = ln_1p_small::<A>(z);
    if i == GRID { small } else { small.add(table(i).neg()) }
}

/// `ln(1 + x)` for `−½ ≤ x < 2^1000`, with a relative error of at most `4096u² = 2^-94`.
///
/// `1 + x` rounds with `3u²`, which is below `1600u²` of a result of at least 0.0019. Where a power of two is split off, the result is at least
/// `ln √2`, and `ln 2` times an integer errs by `3u²` of at most twice its size.
#[inline(always)]
pub(crate) fn ln_1p<A: Arithmetic>(x: DoubleDouble) -> DoubleDouble {
    if x.hi.abs() <= SMALL {
        return ln_1p_small::<A>(x);
    }
    let y = x.add(DoubleDouble::ONE);
    // y.hi = m · 2^exponent with 1 ≤ m < 2; above √2 one factor of two more.
    let exponent = (y.hi.to_bits() >> 52) as i64 - 1023;
    let mantissa = y.scale(f64::from_bits(((1023 - exponent) as u64) << 52));
    let above = mantissa.hi > std::f64::consts::SQRT_2;
    let (mantissa, exponent) = if above { (mantissa.scale(0.5), exponent + 1) } else { (mantissa, exponent) };
    let fraction = ln_near_one::<A>(mantissa);
    if exponent == 0 { fraction } else { LN_2.mul_f64_with::<A>(exponent as f64).add(fraction) }
}

#[inline(always)]
fn table(i: usize) -> DoubleDouble {
    LOGARITHMS.get(i - LEAST).copied().unwrap_or(DoubleDouble::ZERO)
}

/// `ln(1 + z)` for `|z| ≤ 0.003`, with a relative error of at most `32u²`.
///
/// `2 artanh s = 2(s + s³(1/3 + s²(1/5 + s² T)))` with `s = z/(2 + z)`, `|s| < 2^-9.3`, which errs by `8u² + 15u²`. `T = 1/7 + s²/9 + …`, cut after `s^6/13`
/// (what follows is below `2^-130`), counts for `2^-58` and errs by less than `8u`. The other terms count for `2^-20` and err by less than `60u²`; the
/// last step errs by `5u²`. Below `2^-110` the result is `z`, to half of that.
#[inline(always)]
fn ln_1p_small<A: Arithmetic>(z: DoubleDouble) -> DoubleDouble {
    if z.hi.abs() < 1.0 / ((1u128 << 110) as f64) {
        return z;
    }
    let s = z.div_with::<A>(DoubleDouble::from_f64(2.0).add_smaller(z));
    let square = s.mul_with::<A>(s);
    let tail = [1.0 / 7.0, 1.0 / 9.0, 1.0 / 11.0, 1.0 / 13.0];
    let t = DoubleDouble::from_f64(polynomial::<A, 4>(&tail, square.hi));
    let third = t.horner_step::<A>(square, ODD_RECIPROCALS[2]).horner_step::<A>(square, ODD_RECIPROCALS[1]);
    third.horner_step::<A>(s.mul_with::<A>(square), s).normalised().scale(2.0)
}
