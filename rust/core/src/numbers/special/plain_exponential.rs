//! Exponentials from a table, as a sum of two doubles and a power of two.

use super::LN_2;
use crate::numbers::ball::Ball;
use crate::numbers::double_double::DoubleDouble;
use std::sync::LazyLock;

/// Entries of the table: `2^(j/64)`.
const STEPS: f64 = 64.0;
/// `ln 2 / 64` cut after 33 bits, so that its product with an integer below `2^20` is exact.
const STEP_HEAD: f64 = f64::from_bits(LN_2.hi.to_bits() & !0xf_ffff) / STEPS;
/// The rest of `ln 2 / 64`, below `2^-38`.
const STEP_TAIL: f64 = ((LN_2.hi - f64::from_bits(LN_2.hi.to_bits() & !0xf_ffff)) + LN_2.lo) / STEPS;
/// Adding and subtracting this rounds a double of size up to `2^51` to an integer.
const ROUNDER: f64 = 1.5 * (1u64 << 52) as f64;

/// Relative error of [`exp`].
pub(crate) const EXPONENTIAL_ERROR: f64 = 1.0 / (1u64 << 57) as f64;

/// `e^(hi + lo) = mantissa · 2^exponent`, for `|hi| ≤ 11000` and `|lo| ≤ 2^-40`, with a relative error of at most
/// [`EXPONENTIAL_ERROR`]. The mantissa is a sum `hi + lo`, `1 ≤ hi < 2`, `|lo| ≤ 0.006 hi`.
///
/// `hi + lo = k ln 2/64 + r` with `|r| ≤ 0.00542`. The product of `k` with the head is exact, and so is its difference
/// from `hi`; the tail's product errs by less than `2^-53 · 2^20 · 2^-38`; two additions err by `u` of a result below
/// `0.0055`. Of the series of `e^r − 1` terms below `r^7/5040 < 2^-64` are left out; its evaluation errs by `1.1u|r|`, the
/// product with the table's entry by `u|r|` and the addition of its lower part by `u|r|`. Together less than
/// `5.2u · 0.0055 + 2^-63 < 2^-57`.
#[inline(always)]
pub(crate) fn exp(hi: f64, lo: f64) -> (DoubleDouble, i64) {
    static POWERS: LazyLock<[DoubleDouble; 64]> = LazyLock::new(|| {
        std::array::from_fn(|j| {
            let exponent = Ball::ln_2() * Ball::from_u64(j as u64) / Ball::from_u64(64);
            exponent.exp().to_double_double().unwrap_or(DoubleDouble::ONE)
        })
    });
    let k = (hi * (STEPS * std::f64::consts::LOG2_E) + ROUNDER) - ROUNDER;
    let r = (hi - k * STEP_HEAD) + (lo - k * STEP_TAIL);
    let growth = r + r * r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r / 720.0))));
    let steps = k as i64;
    let power = POWERS[(steps & 63) as usize];
    (DoubleDouble { hi: power.hi, lo: power.lo + power.hi * growth }, steps >> 6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(1000, 5000)))]

        #[test]
        fn exponentials_err_by_at_most_their_bound(hi in -11_000.0..11_000.0f64, small in -1.0..1.0f64, lo in -1.0..1.0f64) {
            let exact = |x| Ball::from_rational(&Rational::from_f64(x).unwrap());
            for hi in [hi, hi * small.powi(9), hi / 16.0] {
                let lo = lo * 2f64.powi(-41);
                let (mantissa, exponent) = exp(hi, lo);
                let truth = (exact(hi) + exact(lo) - Ball::ln_2() * Ball::from_i64(exponent)).exp();
                let error = (exact(mantissa.hi) + exact(mantissa.lo) - truth) / truth;
                prop_assert!(error.to_enclosure().upper() <= EXPONENTIAL_ERROR);
                prop_assert!(error.to_enclosure().lower() >= -EXPONENTIAL_ERROR);
                prop_assert!((1.0..2.0).contains(&mantissa.hi) && mantissa.lo.abs() < 0.006 * mantissa.hi);
            }
        }
    }
}
