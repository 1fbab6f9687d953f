//! Elementary functions in double-double arithmetic, each with its proven error bound.
//!
//! The platform's `exp`, `ln` and `lgamma` are specified to no accuracy, so the kernel carries its own. Each
//! bound counts the double-double operations (`u² = 2^-106`, see [`crate::numbers::double_double`]) and the truncation of one
//! series. The tables from which the fast forms start are filled, when first used, by plain series.

pub(crate) mod deviance;
mod exponential;
mod logarithm;
pub(crate) mod plain_exponential;
pub(crate) mod plain_logarithm;
mod series;
mod stirling;
pub mod trigonometric;

use crate::numbers::double_double::DoubleDouble;
pub(crate) use exponential::{exp, exp_and_expm1};
pub(crate) use logarithm::{LN_ERROR, ln_1p, ln_near_one};
use statpriv_simd::Arithmetic;
pub(crate) use stirling::stirling_parts;
pub use stirling::stirling_remainder;

/// `ln 2` (truncated after two doubles: relative error below `2^-106`).
pub(crate) const LN_2: DoubleDouble =
    DoubleDouble { hi: std::f64::consts::LN_2, lo: 2.319_046_813_846_299_6e-17 };
/// `ln 2π` (likewise).
pub(crate) const LN_2_PI: DoubleDouble =
    DoubleDouble { hi: 1.837_877_066_409_345_6, lo: -7.756_588_316_134_483e-17 };

/// `c_0 + x (c_1 + x (c_2 + …))` in doubles.
#[inline(always)]
fn polynomial<A: Arithmetic, const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    let mut sum = coefficients[N - 1];
    for k in (0..N - 1).rev() {
        sum = A::multiply_add(sum, x, coefficients[k]);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::exponential::{EXP_ERROR, FIRST, REST, SECOND, exp_reduced};
    use super::*;
    use crate::numbers::ball::Ball;
    use crate::numbers::double_double::UNIT;
    use crate::numbers::rational::{Rational, exponential};
    use proptest::prelude::*;
    use statpriv_simd::Portable;

    fn exact(x: DoubleDouble) -> Rational {
        Rational::from_f64(x.hi).unwrap().add(&Rational::from_f64(x.lo).unwrap())
    }

    /// `e^x` to two hundred bits, in big integers.
    fn exact_exponential(x: &Rational) -> Rational {
        let bits = 1800;
        let power = Rational::dyadic(exponential(&x.abs(), bits).0, bits);
        if x.is_negative() { Rational::from(1i64).div(&power).unwrap() } else { power }
    }

    /// `|computed − truth| ≤ error · size`.
    fn within(error: f64, computed: &Rational, truth: &Rational, size: &Rational) -> bool {
        computed.sub(truth).abs() <= size.abs().mul(&Rational::from_f64(error).unwrap())
    }

    /// `|computed − ln y| ≤ error · |ln y|`, since `e^(c(1∓2t)) − y` changes its sign.
    fn is_logarithm(error: f64, computed: DoubleDouble, y: &Rational) -> bool {
        let c = exact(computed);
        let off = c.abs().mul(&Rational::from_f64(error * (1.0 + error)).unwrap());
        exact_exponential(&c.sub(&off)) <= *y && *y <= exact_exponential(&c.add(&off))
    }

    fn double_double(hi: f64, lo: f64) -> DoubleDouble {
        DoubleDouble::from_f64(hi).add(DoubleDouble::from_f64(hi * lo * f64::EPSILON / 2.0))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn exponentials_err_by_their_bounds(hi in -700.0..700.0f64, lo in -1.0..1.0f64, scale in 0i32..40) {
            let x = double_double(hi * 2f64.powi(-scale), lo);
            let truth = exact_exponential(&exact(x));
            let one = Rational::from(1i64);
            let (mantissa, exponent) = exp_reduced::<Portable>(x);
            prop_assert!((0.7..1.42).contains(&mantissa.hi));
            let unit = if exponent < 0 { one.div(&Rational::from(2i64)).unwrap() } else { Rational::from(2i64) };
            let unit = (0..exponent.abs()).fold(one.clone(), |product, _| product.mul(&unit));
            prop_assert!(within(EXP_ERROR, &exact(mantissa).mul(&unit), &truth, &truth), "e^{:?}", x);
            let x = if x.hi < -600.0 { x.scale(0.5) } else { x };
            let truth = exact_exponential(&exact(x));
            let (ratio, excess) = exp_and_expm1::<Portable>(x);
            prop_assert!(within(EXP_ERROR, &exact(ratio), &truth, &truth), "e^{:?}", x);
            let difference = truth.sub(&one);
            let size = if x.hi.abs() <= 0.001 { difference.clone() } else { truth.clone().max(one) };
            let error = if x.hi.abs() <= 0.001 { EXP_ERROR } else { 1.25 * EXP_ERROR };
            prop_assert!(within(error, &exact(excess), &difference, &size), "e^{:?} − 1", x);
        }

        #[test]
        fn large_exponentials_err_by_the_bound_they_state(hi in 1000.0..1100.0f64, lo in -1.0..1.0f64, negative in any::<bool>()) {
            let x = double_double(if negative { -hi } else { hi }, lo);
            let (mantissa, exponent, error) = exp(x);
            let truth = exact_exponential(&exact(x));
            let two = if exponent < 0 { Rational::from(1i64).div(&Rational::from(2i64)).unwrap() } else { Rational::from(2i64) };
            let power = (0..exponent.abs()).fold(Rational::from(1i64), |product, _| product.mul(&two));
            prop_assert!(within(error, &exact(mantissa).mul(&power), &truth, &truth), "e^{:?}", x);
            let most = if hi <= 1024.0 { EXP_ERROR } else { EXP_ERROR + 0.501 * UNIT * (hi + 1.0) };
            prop_assert!(error <= most);
        }

        #[test]
        fn logarithms_err_by_their_bounds(m in 0.708..1.414f64, lo in -1.0..1.0f64, x in -0.5..10.0f64, scale in 0i32..60) {
            let m = double_double(m, lo);
            prop_assert!(is_logarithm(LN_ERROR, ln_near_one::<Portable>(m), &exact(m)), "ln {:?}", m);
            let near = double_double(1.0 + x.clamp(-0.29, 0.4) * 2f64.powi(-scale), lo);
            prop_assert!(is_logarithm(LN_ERROR, ln_near_one::<Portable>(near), &exact(near)), "ln {:?}", near);
            for x in [double_double(x * 2f64.powi(-scale), lo), double_double(x.abs() * 2f64.powi(scale * 2), lo)] {
                let y = exact(x).add(&Rational::from(1i64));
                prop_assert!(is_logarithm(4.0 * LN_ERROR, ln_1p::<Portable>(x), &y), "ln(1 + {:?})", x);
            }
        }
    }

    fn ball(text: &str) -> Ball {
        Ball::from_rational(&Rational::parse(text).unwrap())
    }

    /// The truth lies inside, and the radius is at most `2^-94` of it.
    fn check(computed: Ball, truth: &str) {
        let gap = computed - ball(truth);
        assert!(!gap.is_positive() && !(-gap).is_positive(), "{truth} is outside {computed:?}");
        assert!(computed.relative_error() < 2f64.powi(-94), "{computed:?}");
    }

    #[test]
    fn exponentials_and_logarithms_to_thirty_digits() {
        check(Ball::ONE.exp(), "2.71828182845904523536028747135266249775724709369995");
        check((-Ball::ONE).exp(), "0.36787944117144232159552377016146086744581113103177");
        check(ball("1/3").exp(), "1.39561242508608952862812531960258683759790651519943");
        check(ball("700").exp(), "1.0142320547350045094553295952312676152046795722430733e304");
        check(ball("-700").exp(), "9.8596765437597708567053729478494911267493797186735e-305");
        check(ball("2").ln(), "0.69314718055994530941723212145817656807550013436026");
        check(ball("10").ln(), "2.30258509299404568401799145468436420760110148862877");
        check(
            ball("1.00000095367431640625").ln(),
            "0.0000009536738616591882339084155149633361436031480709793",
        );
        check(ball("1e-300").ln(), "-690.77552789821370520539743640530926228033044658863189");
        check(ball("1.41421356").ln(), "0.34657358860194105189282600383054868968709268051117");
    }

    #[test]
    fn the_parts_of_ln_2_add_up_and_multiply_exactly() {
        let exact = |x: f64| Rational::from_f64(x).unwrap();
        let sum = [FIRST, SECOND, REST]
            .map(exact)
            .into_iter()
            .fold(Rational::from(0i64), |sum, part| sum.add(&part));
        let digits = "0.693147180559945309417232121458176568075500134360255254120680009493393621969694716";
        let gap = sum.sub(&Rational::parse(digits).unwrap()).abs();
        assert!(gap < exact(2f64.powi(-119)));
        for part in [FIRST, SECOND] {
            for k in [1_048_576.0, 1_048_575.0, 699_051.0] {
                assert_eq!(exact(part * k), exact(part).mul(&exact(k)));
            }
        }
    }

    #[test]
    fn exp_and_ln_undo_each_other() {
        for text in ["1e-12", "0.3465735", "0.3465736", "17.25", "-0.7", "345.678"] {
            let back = ball(text).exp().ln();
            let gap = back - ball(text);
            assert!(!gap.is_positive() && !(-gap).is_positive(), "{text}: {back:?}");
        }
    }
}
