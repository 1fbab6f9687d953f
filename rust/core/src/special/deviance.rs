//! How far a count lies from its mean: `x ln(x/m) + m − x`, the rate function of Poisson's law.
//!
//! Loader's `bd0`: a binomial log probability is minus two of these, a hypergeometric one minus four, and a small
//! rest. It is formed from the deviation `m − x`, which the caller knows to full accuracy, so nothing cancels.

use super::plain_logarithm::{Neighbour, polynomial};
use crate::double_double::{DoubleDouble, two_sum};
use statpriv_simd::{Arithmetic, split};

/// `c_i = 8/9 (a_{i+1} − a_{i+2})` with `a_i = (1 − (−½)^i)/i`, `i = 2..=8`: see [`beyond_tangent`].
const CORRECTION: [f64; 7] =
    [1.0 / 8.0, 1.0 / 40.0, 3.0 / 80.0, 1.0 / 56.0, 31.0 / 1792.0, 3.0 / 256.0, 13.0 / 1280.0];

/// Relative error, `2^-65`, of [`deviance`] for the `x` and `m` it is given.
pub(crate) const DEVIANCE_ERROR: f64 = 1.0 / (1u64 << 63) as f64 / 4.0;

/// A deviation `m − x` and its square, which several cells with the same deviation share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deviation {
    value: DoubleDouble,
    square: DoubleDouble,
}

impl Deviation {
    #[inline(always)]
    pub(crate) fn new<A: Arithmetic>(value: DoubleDouble) -> Self {
        let (hi, lo) = A::two_product(value.hi, value.hi);
        Self { value, square: DoubleDouble { hi, lo: lo + 2.0 * value.hi * value.lo } }
    }

    /// That of the complementary count.
    pub(crate) fn neg(self) -> Self {
        Self { value: self.value.neg(), ..self }
    }
}

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
#[inline(always)]
pub(crate) fn deviance<A: Arithmetic>(
    x: f64,
    deviation: Deviation,
    mean: impl FnOnce() -> DoubleDouble,
) -> DoubleDouble {
    if x == 0.0 {
        return mean();
    }
    if deviation.value.hi.abs() <= x / 256.0 {
        return beyond_tangent::<A>(x, deviation);
    }
    let mean = mean();
    let Neighbour { number, logarithm } = Neighbour::of(x / mean.hi);
    let (half, other_half) = split(mean.hi);
    let (distance, lost) = two_sum(number * half - x, number * other_half);
    let (hi, lo) = two_sum(distance, lost + number * mean.lo);
    let rest = beyond_tangent::<A>(x, Deviation::new::<A>(DoubleDouble { hi, lo }));
    let main = logarithm.mul_f64_with::<A>(x);
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
/// With `w = e/(3x/2 + e)`, `|w| ≤ 0.0037`, so that `1 + t = (1 + w/2)/(1 − w)`, the value is `¾ e²/(3x/2 + e)` times
/// `8/(9w²) · (3w/2 + (1 − w)(ln(1 − w) − ln(1 + w/2))) = 1 + Σ_{i ≥ 2} c_i w^i` with `c_i` as in [`CORRECTION`]: the term of first order
/// is gone. So the correction `ρ` is at most `w²/8 · 1.01 < 2^-19`.
///
/// The quotient is that of two double-doubles, from an approximate one (by the reciprocal, `2u`) and its remainder, whose
/// leading difference is exact: with the square's dropped `lo²` and the roundings of lower parts it errs by less than
/// `64u²`. The correction is plain, with seven terms: as `|c_i| ≤ 1/(i+1)`, what is left out is below `|w|^9/10 · 1.01 < 2^-75`; `w` errs
/// by `3u`, its square by `7u`, the sum by `4u` and two products by `2u`, all relatively to `ρ`: below `13u · 2^-19 < 2^-68`. The
/// last additions of lower parts, all below `2^-18` of the result, err by less than `3u · 2^-18 < 2^-69`.
#[inline(always)]
fn beyond_tangent<A: Arithmetic>(x: f64, e: Deviation) -> DoubleDouble {
    let (part, part_rest) = two_sum(0.5 * x, e.value.hi);
    let (divisor, divisor_rest) = two_sum(x, part);
    let divisor_rest = divisor_rest + (part_rest + e.value.lo);
    let reciprocal = 1.0 / divisor;
    let quotient = e.square.hi * reciprocal;
    let (back, back_rest) = A::two_product(quotient, divisor);
    let remainder = (e.square.hi - back - back_rest) + (e.square.lo - quotient * divisor_rest);
    let w = e.value.hi * reciprocal;
    let correction = w * w * polynomial::<A>(&CORRECTION, w);
    let (hi, lo) = two_sum(quotient, -0.25 * quotient);
    DoubleDouble { hi, lo: lo + (0.75 * (remainder * reciprocal) + hi * correction) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ball::Ball;
    use crate::rational::Rational;
    use proptest::prelude::*;
    use statpriv_simd::Portable;

    fn exact(x: DoubleDouble) -> Ball {
        let ball = |x| Ball::from_rational(&Rational::from_f64(x).unwrap());
        ball(x.hi) + ball(x.lo)
    }

    /// Whether the computed value is within the stated error, as far as balls can tell.
    fn holds<A: Arithmetic>(x: f64, mean: DoubleDouble) -> bool {
        let deviation = Deviation::new::<A>(mean.add(DoubleDouble::from_f64(-x)));
        let computed = exact(deviance::<A>(x, deviation, || mean));
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
            prop_assert!(holds::<Portable>(x, mean), "{x} {mean:?}");
        }
    }

    #[test]
    fn the_correction_is_the_series() {
        for (coefficient, i) in CORRECTION.iter().zip(2i32..) {
            let a = |i: i32| (1.0 - (-0.5f64).powi(i)) / f64::from(i);
            let expected = 8.0 / 9.0 * (a(i + 1) - a(i + 2));
            assert!((coefficient - expected).abs() < 1e-16);
        }
    }
}
