//! The elementary functions of the contour, of four doubles at a time. `u = 2^-53`.

pub(super) use crate::numbers::lanes::{Lanes, WIDTH};
use statpriv_simd::Arithmetic;

/// Adding `1.5·2^52` rounds to an integer, which then stands in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// `1/k!`.
const fn inverse_factorial(k: usize) -> f64 {
    let (mut product, mut i) = (1.0, 2);
    while i <= k {
        product *= i as f64;
        i += 1;
    }
    1.0 / product
}

/// `sign^k/(2k + offset)!`: the coefficients of the sine, the cosine and their like in the square of the argument.
const fn alternating<const N: usize>(offset: usize) -> [f64; N] {
    let mut table = [0.0; N];
    let mut k = 0;
    while k < N {
        let value = inverse_factorial(2 * k + offset);
        table[k] = if k % 2 == 0 { value } else { -value };
        k += 1;
    }
    table
}

const EXPONENTIAL: [f64; 15] = {
    let mut table = [0.0; 15];
    let mut k = 0;
    while k < 15 {
        table[k] = inverse_factorial(k);
        k += 1;
    }
    table
};
const SINE: [f64; 12] = alternating(1);
const COSINE: [f64; 12] = alternating(0);
const SHORT_SINE: [f64; 7] = alternating(1);
const SHORT_VERSINE: [f64; 7] = alternating(2);

/// `e^x` for `−700 ≤ x ≤ 700`, with a relative error of at most `6u`.
///
/// `x = k ln 2 + r`, `|r| ≤ 0.347`; the first part of `ln 2` has 32 bits and `k` has 11, so that product and difference are exact; the second
/// part errs by `2u·2^-22` and the sum rounds by `0.35u`. Taylor's polynomial of degree 14 leaves less than `2^-60`. Its Horner sum errs by
/// `u` in the last addition and, in what is multiplied by `r`, by at most `3u · 0.42/0.7`; coefficients count for less than `u`.
#[inline(always)]
pub(super) fn exp<A: Arithmetic>(x: Lanes) -> Lanes {
    const FIRST: f64 = 0.693_147_180_369_123_8;
    const REST: f64 = 1.908_214_929_270_587_7e-10;
    let rounded = x.multiply_add::<A>(Lanes::all(std::f64::consts::LOG2_E), Lanes::all(ROUNDER));
    let k = rounded - Lanes::all(ROUNDER);
    let r = x - k * Lanes::all(FIRST) - k * Lanes::all(REST);
    let power = rounded.map(|x| f64::from_bits((x.to_bits() << 52).wrapping_add(1023 << 52)));
    r.polynomial::<A, 15>(&EXPONENTIAL) * power
}

/// `cos x` and `sin x` for `|x| ≤ 1000`, each with an absolute error of at most `8u`.
///
/// `x = kπ + r`, `|r| ≤ 1.5709`, with π in two parts. The first part has 33 bits and `k` has 9: the first difference is exact, the second rounds with
/// `1.6u`, its product with `2^-23 u`. The series are cut before `r^25/25!` and `r^24/24!`, which are below `2^-60`. The Horner sums err by at most `2u` times the sum of
/// the sizes of their terms, `cosh 1.5709 < 2.52`.
#[inline(always)]
pub(super) fn cos_sin<A: Arithmetic>(x: Lanes) -> (Lanes, Lanes) {
    const FIRST: f64 = 3.141_592_653_468_251_2;
    const REST: f64 = 1.215_420_101_301_238_4e-10;
    let rounded = x.multiply_add::<A>(Lanes::all(std::f64::consts::FRAC_1_PI), Lanes::all(ROUNDER));
    let k = rounded - Lanes::all(ROUNDER);
    let r = x - k * Lanes::all(FIRST) - k * Lanes::all(REST);
    // (−1)^k: the lowest bit of k becomes the sign.
    let sign = rounded.map(|x| f64::from_bits(1f64.to_bits() | (x.to_bits() << 63)));
    let square = r * r;
    let cosine = square.polynomial::<A, 12>(&COSINE);
    let sine = r * square.polynomial::<A, 12>(&SINE);
    (cosine * sign, sine * sign)
}

/// `1 − cos x` and `sin x` for `|x| ≤ 0.5`, each with a relative error of at most `5u`.
///
/// Cut before `x^15/15!` and `x^16/16!`, which are below `u/2` of the result. The Horner sums in `x² ≤ ¼` err by at most `2u`, the square by `u`, and two
/// products by `u` each.
#[inline(always)]
pub(super) fn versine_and_sine<A: Arithmetic>(x: Lanes) -> (Lanes, Lanes) {
    let square = x * x;
    (square * square.polynomial::<A, 7>(&SHORT_VERSINE), x * square.polynomial::<A, 7>(&SHORT_SINE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::ball::Ball;
    use crate::numbers::special::trigonometric;
    use statpriv_simd::{Backend, Kernel};

    const U: f64 = f64::EPSILON / 2.0;

    #[derive(Clone, Copy)]
    struct Functions(Lanes);

    impl Kernel for Functions {
        /// `e^x`, `cos x`, `sin x`, `1 − cos x` and `sin x` again.
        type Output = [Lanes; 5];

        #[inline(always)]
        fn run<A: Arithmetic>(self) -> [Lanes; 5] {
            let (cos, sin) = cos_sin::<A>(self.0);
            let (versine, short_sine) = versine_and_sine::<A>(self.0);
            [exp::<A>(self.0), cos, sin, versine, short_sine]
        }
    }

    /// The distance in units of `u`.
    fn distance(computed: f64, truth: Ball) -> f64 {
        let gap = (Ball::from_f64(computed).unwrap() - truth).to_enclosure();
        gap.upper().max(-gap.lower()) / U
    }

    fn size(truth: Ball) -> f64 {
        truth.to_enclosure().upper().abs()
    }

    /// What `check` says of the functions at `x`, lane by lane, on every processor.
    fn everywhere(limit: f64, check: impl Fn(Ball, [f64; 5])) {
        for backend in Backend::available() {
            for step in -100..100 {
                let x = Lanes::from(limit * f64::from(step) / 100.1, limit / 401.7);
                let values = backend.run(Functions(x));
                for lane in 0..WIDTH {
                    check(Ball::from_f64(x.0[lane]).unwrap(), values.map(|value| value.0[lane]));
                }
            }
        }
    }

    #[test]
    fn the_exponential_errs_by_six_units() {
        for limit in [0.01, 1.0, 700.0] {
            everywhere(limit, |x, [exp, ..]| {
                let truth = x.exp();
                assert!(distance(exp, truth) <= 6.0 * size(truth), "{x:?}: {exp:e}");
            });
        }
    }

    #[test]
    fn sine_and_cosine_err_by_eight_units() {
        for limit in [0.01, 4.0, 1000.0] {
            everywhere(limit, |x, [_, cos, sin, ..]| {
                let truth = trigonometric::sin_cos(x);
                assert!(
                    distance(sin, truth.0) <= 8.0 && distance(cos, truth.1) <= 8.0,
                    "{x:?}: {cos:e}, {sin:e}"
                );
            });
        }
    }

    #[test]
    fn short_angles_err_by_five_units_relatively() {
        for limit in [1e-8, 0.01, 0.5] {
            everywhere(limit, |x, [.., versine, sine]| {
                let half = trigonometric::sin_cos(x / Ball::from_u64(2)).0;
                let (sin, versin) = (trigonometric::sin_cos(x).0, Ball::from_u64(2) * half * half);
                assert!(distance(sine, sin) <= 5.0 * size(sin), "{x:?}: {sine:e}");
                assert!(distance(versine, versin) <= 5.0 * size(versin), "{x:?}: {versine:e}");
            });
        }
    }
}
