//! How far a count lies from its mean: `x ln(x/m) + m − x`, the rate function of Poisson's law.
//!
//! Loader's `bd0`: a binomial log probability is minus two of these, a hypergeometric one minus four, and a small
//! rest. It is formed from the deviation `m − x`, which the caller knows to full accuracy, so nothing cancels.

use super::plain_logarithm::{Neighbours, pairwise_polynomial};
use crate::numbers::lanes::{DoubleDoubles, Lanes, WIDTH};
use statpriv_simd::Arithmetic;

/// `c_i = 8/9 (a_{i+1} − a_{i+2})` with `a_i = (1 − (−½)^i)/i`, `i = 2..=8`: see [`beyond_tangent`].
const CORRECTION: [f64; 7] =
    [1.0 / 8.0, 1.0 / 40.0, 3.0 / 80.0, 1.0 / 56.0, 31.0 / 1792.0, 3.0 / 256.0, 13.0 / 1280.0];

/// Relative error, `2^-65`, of [`deviances`] for the `x` and `m` it is given.
pub(crate) const DEVIANCE_ERROR: f64 = 1.0 / (1u64 << 63) as f64 / 4.0;

/// `x ln(x/m) + m − x` for integers `0 ≤ x ≤ 2^53` and means `m ≥ 2^-901` with given deviations `m − x`, four at a time,
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
pub(crate) fn deviances<A: Arithmetic>(
    x: Lanes,
    deviation: DoubleDoubles,
    mean: impl FnOnce() -> DoubleDoubles,
) -> DoubleDoubles {
    let is_near = x.each(deviation.hi, |x, deviation| x > 0.0 && deviation.abs() <= x / 256.0);
    if is_near == [true; WIDTH] {
        return beyond_tangent::<A>(x, deviation).stored();
    }
    let mean = mean();
    let Neighbours { number, logarithm } = Neighbours::of(x / mean.hi);
    let (half, other_half) = mean.hi.split();
    let (distance, lost) = (number * half - x).two_sum(number * other_half);
    let distance = DoubleDoubles::from_sum(distance, lost + number * mean.lo);
    let rest = beyond_tangent::<A>(x, deviation.or(is_near, distance));
    let main = logarithm.mul_f64_with::<A>(x);
    let (sum, first) = mean.hi.two_sum(-x);
    let (sum, second) = sum.two_sum(main.hi);
    let (sum, third) = sum.two_sum(-distance.hi);
    let (sum, fourth) = sum.two_sum(rest.hi);
    let lower = ((first + second) + (third + fourth)) + ((main.lo + mean.lo) + (rest.lo - distance.lo));
    let far = mean.or(x.0.map(|x| x == 0.0), DoubleDoubles::from_sum(sum, lower));
    rest.or(is_near, far).stored()
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
fn beyond_tangent<A: Arithmetic>(x: Lanes, e: DoubleDoubles) -> DoubleDoubles {
    let (square, square_rest) = e.hi.two_product::<A>(e.hi);
    let square_rest = square_rest + Lanes::all(2.0) * e.hi * e.lo;
    let (part, part_rest) = (Lanes::all(0.5) * x).two_sum(e.hi);
    let (divisor, divisor_rest) = x.two_sum(part);
    let divisor_rest = divisor_rest + (part_rest + e.lo);
    let reciprocal = Lanes::all(1.0) / divisor;
    let quotient = square * reciprocal;
    let (back, back_rest) = quotient.two_product::<A>(divisor);
    let remainder = (square - back - back_rest) + (square_rest - quotient * divisor_rest);
    let w = e.hi * reciprocal;
    let correction = w * w * pairwise_polynomial::<A>(&CORRECTION, w);
    let (hi, lo) = quotient.two_sum(Lanes::all(-0.25) * quotient);
    DoubleDoubles { hi, lo: lo + (Lanes::all(0.75) * (remainder * reciprocal) + hi * correction) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::ball::Ball;
    use crate::numbers::double_double::DoubleDouble;
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;
    use statpriv_simd::Portable;

    fn exact(x: DoubleDouble) -> Ball {
        let ball = |x| Ball::from_rational(&Rational::from_f64(x).unwrap());
        ball(x.hi) + ball(x.lo)
    }

    /// Whether the computed value is within the stated error, as far as balls can tell, beside other ones that are near their means, and far.
    fn holds<A: Arithmetic>(x: f64, mean: DoubleDouble) -> bool {
        let [near, far] = [1.0 + 1.0 / 512.0, 3.0].map(DoubleDouble::from_f64);
        let beside = |other: DoubleDouble| {
            let (counts, means) = ([1.0, x, 1.0, 0.0], [other, mean, other, far]);
            let deviation = [0, 1, 2, 3].map(|i| means[i].add(DoubleDouble::from_f64(-counts[i])));
            let means = DoubleDoubles::from(means);
            let all = deviances::<A>(Lanes(counts), DoubleDoubles::from(deviation), || means);
            assert_eq!(all.lane(3), far);
            all.lane(1)
        };
        is_deviance(x, mean, beside(near)) && is_deviance(x, mean, beside(far))
    }

    fn is_deviance(x: f64, mean: DoubleDouble, computed: DoubleDouble) -> bool {
        let computed = exact(computed);
        let (count, centre) = (exact(DoubleDouble::from_f64(x)), exact(mean));
        let truth = count * (count / centre).ln() + centre - count;
        let error = (computed - truth) / truth;
        !(error.relative_error().is_finite() && error.to_enclosure().upper().abs() > DEVIANCE_ERROR)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(1000, 5000)))]

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
