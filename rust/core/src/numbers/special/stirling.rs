//! Stirling's remainder, `s(k) = ln k! − (k ln k − k + ½ ln 2πk)`.

use crate::numbers::ball::Ball;
use crate::numbers::double_double::{DoubleDouble, UNIT};
use crate::numbers::lanes::{Lanes, WIDTH};
use std::sync::LazyLock;

/// From here on the asymptotic series is accurate enough; below it `k!` has at most 103 bits.
const SERIES_FROM: u64 = 28;

/// `B_{2j}/(2j(2j−1))`, `j = 1..=14`, as numerator and denominator.
const COEFFICIENTS: [(f64, f64); 14] = [
    (1.0, 12.0),
    (-1.0, 360.0),
    (1.0, 1260.0),
    (-1.0, 1680.0),
    (1.0, 1188.0),
    (-691.0, 360_360.0),
    (1.0, 156.0),
    (-3617.0, 122_400.0),
    (43_867.0, 244_188.0),
    (-174_611.0, 125_400.0),
    (77_683.0, 5796.0),
    (-236_364_091.0, 1_506_960.0),
    (657_931.0, 300.0),
    (-3_392_780_147.0, 93_960.0),
];

/// `s(k)` for `k ≥ 1`.
#[must_use]
pub fn stirling_remainder(k: u64) -> Ball {
    static SMALL: LazyLock<Vec<Ball>> = LazyLock::new(|| (1..SERIES_FROM).map(from_factorial).collect());
    match k {
        0 => Ball::WHOLE,
        1..SERIES_FROM => SMALL[k as usize - 1],
        _ => from_series(k),
    }
}

/// From here on four terms of the series are within `2^-64`.
const PLAIN_SERIES_FROM: u64 = 64;

/// `s(k) = coarse + fine` for `1 ≤ k ≤ 2^53` with an error of at most `2^-61`, four at a time; nothing at 0. The coarse part is a multiple
/// of `2^-20`, so that sums of some of them are exact, and the fine part is below `2^-9`.
///
/// In the series `1/12k − 1/360k³ + 1/1260k⁵ − 1/1680k⁷` for `k ≥ 64` what is left out is below `1/(1188k⁹) < 2^-64`, and it
/// errs by less than `4u` of a value below `1/768`: the reciprocal, its product with the sum, and a sum that is `1/12`
/// up to `2^-17` of it.
#[inline(always)]
pub(crate) fn stirling_parts(k: [u64; WIDTH]) -> (Lanes, Lanes) {
    static SMALL: LazyLock<[(f64, f64); PLAIN_SERIES_FROM as usize]> =
        LazyLock::new(|| std::array::from_fn(|k| coarse_and_fine(k as u64)));
    let reciprocal = Lanes::all(1.0) / Lanes(k.map(|k| k as i64 as f64));
    let square = reciprocal * reciprocal;
    let sum = Lanes::all(1.0 / 1260.0) - square * Lanes::all(1.0 / 1680.0);
    let sum = Lanes::all(1.0 / 12.0) - square * (Lanes::all(1.0 / 360.0) - square * sum);
    let (mut coarse, mut fine) = (Lanes::all(0.0), sum * reciprocal);
    // Mostly there is none, and then the table is not even looked at.
    if k.iter().any(|&k| k < PLAIN_SERIES_FROM) {
        for (i, &k) in k.iter().enumerate() {
            if let Some(parts) = SMALL.get(k as usize) {
                (coarse.0[i], fine.0[i]) = *parts;
            }
        }
    }
    (coarse, fine)
}

/// A ball's midpoint, split: the fine part is below `2^-20` and rounded, so it errs by less than `2^-73`.
fn coarse_and_fine(k: u64) -> (f64, f64) {
    let grid = (1u64 << 20) as f64;
    let value = match k {
        0 => DoubleDouble::ZERO,
        _ => stirling_remainder(k).to_double_double().unwrap_or(DoubleDouble::ZERO),
    };
    let coarse = (value.hi * grid).floor() / grid;
    (coarse, (value.hi - coarse) + value.lo)
}

/// The definition, with `k!` as a product that is exact while it fits 53 bits.
fn from_factorial(k: u64) -> Ball {
    let factorial = (2..=k).fold(Ball::ONE, |product, i| product * Ball::from_u64(i));
    let x = Ball::from_u64(k);
    let half = Ball::ONE / Ball::from_u64(2);
    factorial.ln() - (x * x.ln() - x + half * (Ball::ln_2_pi() + x.ln()))
}

/// Stirling's series `Σ_j B_{2j}/(2j(2j−1) k^{2j−1})`.
///
/// For `k > 0` it envelops `s(k)`: the error is smaller than the first term left out (Whittaker & Watson, 12.33).
/// That term is `B_30/(30·29·k^29) < 692·10³/k^29`, for `k ≥ 28` below `2^-119`. The terms fall by more than a
/// factor 10 at `k ≥ 28`, so the Horner sum errs by less than `32u²` relatively.
fn from_series(k: u64) -> Ball {
    let reciprocal = DoubleDouble::ONE.div(Ball::from_u64(k).to_double_double().unwrap_or(DoubleDouble::ONE));
    let square = reciprocal.mul(reciprocal);
    let sum = COEFFICIENTS.iter().rev().fold(DoubleDouble::ZERO, |sum, &(top, bottom)| {
        sum.mul(square).add(DoubleDouble::from_f64(top).div_f64(bottom))
    });
    let remainder = sum.mul(reciprocal);
    let truncation = 2f64.powi(-119) / remainder.hi;
    Ball::from_double_double(remainder, 2.0 * UNIT + 2.0 * truncation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn series_and_factorial_agree_where_both_work() {
        for k in SERIES_FROM..34 {
            let gap = from_series(k) - from_factorial(k);
            assert!(!gap.is_positive() && !(-gap).is_positive(), "{k}");
            assert!(from_series(k).relative_error() < 2f64.powi(-99));
        }
    }

    #[test]
    fn the_parts_are_the_remainder() {
        let exact = |x| Ball::from_rational(&crate::numbers::rational::Rational::from_f64(x).unwrap());
        for k in (1..200).chain([1000, 12_345_678, 1 << 53]) {
            let (coarse, fine) = stirling_parts([64, 1, k, 1000]);
            let (coarse, fine) = (coarse.0[2], fine.0[2]);
            let error = (exact(coarse) + exact(fine) - stirling_remainder(k)).to_enclosure();
            assert!(error.upper() <= 2f64.powi(-61) && error.lower() >= -(2f64.powi(-61)), "{k} {error:?}");
            assert!(coarse * 1_048_576.0 == (coarse * 1_048_576.0).floor() && fine.abs() < 2f64.powi(-9));
        }
    }

    proptest! {
        /// `s(k) − s(k+1) = (k + ½) ln(1 + 1/k) − 1`.
        #[test]
        fn the_remainder_satisfies_its_difference_equation(k in 1u64..1_000_000) {
            let x = Ball::from_u64(k);
            let half = Ball::ONE / Ball::from_u64(2);
            let step = (x + half) * (Ball::from_u64(k + 1) / x).ln() - Ball::ONE;
            let gap = stirling_remainder(k) - stirling_remainder(k + 1) - step;
            prop_assert!(!gap.is_positive() && !(-gap).is_positive());
        }
    }
}
