//! How far a count lies from its mean: `x ln(x/m) + m − x`, the rate function of Poisson's law.
//!
//! Loader's `bd0`: a binomial log probability is minus two of these, a hypergeometric one minus four, and a small
//! rest. It is formed from the deviation `m − x`, which the caller knows to full accuracy, so nothing cancels.

use super::logarithm::{Neighbour, polynomial};
use crate::double_double::{DoubleDouble, split, two_product, two_sum};

/// `c_i = (−1)^i · 2(i − 1)/(3(i + 1)(i + 2))`, `i = 2..=8`: see [`beyond_tangent`].
const CORRECTION: [f64; 7] =
    [1.0 / 18.0, -1.0 / 15.0, 1.0 / 15.0, -4.0 / 63.0, 5.0 / 84.0, -1.0 / 18.0, 7.0 / 135.0];

/// Relative error, `2^-65`, of [`deviance`] for the `x` and `m` it is given.
pub(crate) const DEVIANCE_ERROR: f64 = 1.0 / (1u64 << 63) as f64 / 4.0;

/// `x ln(x/m) + m − x` for an integer `0 ≤ x ≤ 2^53` and a mean `m ≥ 2^-901`, of which the deviation `m − x` is also known,
/// with a relative error of at most [`DEVIANCE_ERROR`] (or `2^-1000` absolutely). The result is a sum `hi + lo` with
/// `|lo| ≤ 2^-18 |hi|`.
///
/// Within `x/256` of the mean it is [`beyond_tangent`]. Elsewhere let `r` be the neighbour of `x/m` and `e = rm − x`, `|e| ≤
/// 0.00553x`; then `x ln(x/m) + m − x = x ln r + (m − x) − e + x(t − ln(1 + t))`, `t = e/x`. In units of `x` and with `v = m/x`
/// the result is `φ(v) = v − 1 − ln v`, `|v − 1| ≥ 1/256`, so `φ(v) ≥ 2^-17.1`, `|ln v| ≤ 2^9.1 φ(v)`, `v ≤ 2^17.1 φ(v)`. The products of
/// `r` with the halves of the mean's upper part are exact; the first lies within `2^-7` of `x`, so its difference from `x` is
/// exact too, and `e` errs by `2^-104 x`. The product with `ln r` errs by `2^-92 |ln r|`; the lower parts, each below `2^-52` of
/// what it belongs to, are added with errors below `2^-102 (1 + v + |ln r|)`. With `|ln r| ≤ |ln v| + 0.0056` all this is below
/// `2^-80 φ(v)`. What remains is [`beyond_tangent`]: at most `t² (½ + |t|) ≤ 2.1 φ(v)`, with an error of `2^-67` of it.
pub(crate) fn deviance(x: f64, deviation: DoubleDouble, mean: impl FnOnce() -> DoubleDouble) -> DoubleDouble {
    if x == 0.0 {
        return mean();
    }
    if deviation.hi.abs() <= x / 256.0 {
        return beyond_tangent(x, deviation);
    }
    let mean = mean();
    let Neighbour { number, logarithm } = Neighbour::of(x / mean.hi);
    let (half, other_half) = split(mean.hi);
    let (distance, lost) = two_sum(number * half - x, number * other_half);
    let (hi, lo) = two_sum(distance, lost + number * mean.lo);
    let rest = beyond_tangent(x, DoubleDouble { hi, lo });
    let main = logarithm.mul_f64(x);
    let (sum, first) = two_sum(mean.hi, -x);
    let (sum, second) = two_sum(sum, main.hi);
    let (sum, third) = two_sum(sum, -hi);
    let (sum, fourth) = two_sum(sum, rest.hi);
    let lower = ((first + second) + (third + fourth)) + ((main.lo + mean.lo) + (rest.lo - lo));
    let (hi, lo) = two_sum(sum, lower);
    DoubleDouble { hi, lo }
}

/// `x(t − ln(1 + t))` for `t = e/x`, `|t| ≤ 0.00553`, with a relative error of at most `2^-67`.
///
/// `(t − ln(1 + t))/t² = Σ (−1)^i t^i/(i+2)`, so `(t − ln(1 + t)) · (6 + 4t)/(3t²) = 1 + Σ_{i ≥ 2} c_i t^i` with `c_i` as in
/// [`CORRECTION`]: the term of first order is gone. So the value is `¾ · e²/(3x/2 + e) · (1 + ρ)`, `|ρ| ≤ t²/17 < 2^-19`. The
/// quotient is formed in double-double arithmetic, by the steps of a division of two double-doubles (relative error below
/// `32u²`, together with the square's dropped `lo²` and the roundings of lower parts). The correction is plain, with seven
/// terms: what is left out is below `|t|^9/15 · 1.01 < 2^-70`, `t` errs by `2u`, its square by `5u`, the sum by `4u` and two products
/// by `2u`, all relatively to `ρ`: below `11u · 2^-19 < 2^-68`. The last additions of lower parts, all below `2^-18` of the
/// result, err by less than `3u · 2^-18 < 2^-69`.
#[inline]
fn beyond_tangent(x: f64, e: DoubleDouble) -> DoubleDouble {
    let (square, square_rest) = two_product(e.hi, e.hi);
    let square_rest = square_rest + 2.0 * e.hi * e.lo;
    let (part, part_rest) = two_sum(0.5 * x, e.hi);
    let (divisor, divisor_rest) = two_sum(x, part);
    let divisor_rest = divisor_rest + (part_rest + e.lo);
    let quotient = square / divisor;
    let (back, back_rest) = two_product(quotient, divisor);
    let remainder = (square - back - back_rest) + (square_rest - quotient * divisor_rest);
    let t = e.hi / x;
    let correction = t * t * polynomial(&CORRECTION, t);
    let (hi, lo) = two_sum(quotient, -0.25 * quotient);
    DoubleDouble { hi, lo: lo + (0.75 * (remainder / divisor) + hi * correction) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ball::Ball;
    use crate::rational::Rational;
    use proptest::prelude::*;

    fn exact(x: DoubleDouble) -> Ball {
        let ball = |x| Ball::from_rational(&Rational::from_f64(x).unwrap());
        ball(x.hi) + ball(x.lo)
    }

    /// Whether the computed value is within the stated error, as far as balls can tell.
    fn holds(x: f64, mean: DoubleDouble) -> bool {
        let deviation = mean.add(DoubleDouble::from_f64(-x));
        let computed = exact(deviance(x, deviation, || mean));
        let (count, centre) = (exact(DoubleDouble::from_f64(x)), exact(mean));
        let truth = count * (count / centre).ln() + centre - count;
        let error = (computed - truth) / truth;
        !(error.relative_error().is_finite() && error.to_enclosure().upper().abs() > DEVIANCE_ERROR)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5000))]

        #[test]
        fn deviances_err_by_at_most_their_bound(
            x in 1u64..(1 << 53), shift in 0u32..52, mantissa in 1.0..2.0f64, exponent in -890i32..53, near in any::<bool>(),
            distance in -9.0..1.0f64, lo in -1.0..1.0f64, below in any::<bool>(),
        ) {
            let x = (x >> shift) as f64;
            let sign = if below { -1.0 } else { 1.0 };
            let hi = if near { x * (1.0 + sign * 10f64.powf(distance) / 10.5) } else { mantissa * 2f64.powi(exponent) };
            let mean = DoubleDouble { hi, lo: lo * hi * 2f64.powi(-54) };
            prop_assert!(holds(x, mean), "{x} {mean:?}");
        }
    }

    #[test]
    fn the_correction_is_the_series() {
        for (coefficient, i) in CORRECTION.iter().zip(2i32..) {
            let expected = (-1f64).powi(i) * f64::from(2 * (i - 1)) / f64::from(3 * (i + 1) * (i + 2));
            assert!((coefficient - expected).abs() < 1e-16);
        }
    }
}
