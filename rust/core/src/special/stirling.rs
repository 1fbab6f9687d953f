//! Stirling's remainder, `s(k) = ln k! − (k ln k − k + ½ ln 2πk)`.

use crate::ball::Ball;
use crate::double_double::{DoubleDouble, UNIT};
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
