//! Elementary functions in double-double arithmetic, each with its proven error bound.
//!
//! The platform's `exp`, `ln` and `lgamma` are specified to no accuracy, so the kernel carries its own. Each
//! bound below counts the double-double operations (`u² = 2^-106`, see [`crate::double_double`]) and the
//! truncation of one series.

pub(crate) mod deviance;
pub(crate) mod plain_exponential;
pub(crate) mod plain_logarithm;
mod stirling;

use crate::double_double::{DoubleDouble, UNIT};
pub(crate) use stirling::stirling_parts;
pub use stirling::stirling_remainder;

/// `ln 2` (truncated after two doubles: relative error below `2^-106`).
pub(crate) const LN_2: DoubleDouble =
    DoubleDouble { hi: std::f64::consts::LN_2, lo: 2.319_046_813_846_299_6e-17 };
/// `ln 2` in three parts: its first 32 bits, the next 33, and the rest.
const LN_2_FIRST: f64 = 0.693_147_180_369_123_8;
const LN_2_SECOND: f64 = 1.908_214_929_114_120_8e-10;
const LN_2_REST: DoubleDouble = DoubleDouble { hi: 1.564_670_158_533_888e-20, lo: -9.896_083_983_394_73e-37 };
/// `ln 2π` (likewise).
pub(crate) const LN_2_PI: DoubleDouble =
    DoubleDouble { hi: 1.837_877_066_409_345_6, lo: -7.756_588_316_134_483e-17 };

/// Relative error of [`ln_near_one`]: `64u² = 2^-100`.
pub(crate) const LN_ERROR: f64 = 4.0 * UNIT;

const LN_TERMS: usize = 22;
const EXP_TERMS: usize = 25;

/// `1/(2k+1)` (relative error `3u²`).
const ODD_RECIPROCALS: [DoubleDouble; LN_TERMS] = {
    let mut table = [DoubleDouble::ONE; LN_TERMS];
    let mut k = 1;
    while k < LN_TERMS {
        table[k] = DoubleDouble::ONE.div_f64((2 * k + 1) as f64);
        k += 1;
    }
    table
};

/// `1/k!` (relative error at most `3(k−2)u²`: the first two divisions are exact).
const INVERSE_FACTORIALS: [DoubleDouble; EXP_TERMS] = {
    let mut table = [DoubleDouble::ONE; EXP_TERMS];
    let mut k = 2;
    while k < EXP_TERMS {
        table[k] = table[k - 1].div_f64(k as f64);
        k += 1;
    }
    table
};

/// `c_0 + z (c_1 + z (c_2 + …))`.
fn horner(coefficients: &[DoubleDouble], z: DoubleDouble) -> DoubleDouble {
    coefficients.iter().rev().fold(DoubleDouble::ZERO, |sum, &c| sum.mul(z).add(c))
}

/// `ln m` for `√½ ≤ m ≤ √2`, with a relative error of at most [`LN_ERROR`].
///
/// `ln m = 2 artanh s = 2s Σ z^k/(2k+1)` with `s = (m−1)/(m+1)`, `|s| ≤ 0.1716`, `z = s² ≤ 0.02945`. Dropping the
/// terms from `k = 22` costs less than `z^22/45/(1−z) < 2^-117` of a sum that is at least one. `s` errs by
/// `3u² + 3u² + 16u² = 22u²`. In the Horner sum what is multiplied by `z` stays below `0.0102`, so its error,
/// below `70u²`, counts as `0.72u²`; the last addition adds `3u²`. Then `22u² + 4u² + 7u² < 64u²`.
pub(crate) fn ln_near_one(m: DoubleDouble) -> DoubleDouble {
    let s = m.add(DoubleDouble::from_f64(-1.0)).div(m.add(DoubleDouble::ONE));
    s.mul(horner(&ODD_RECIPROCALS, s.mul(s))).scale(2.0)
}

/// `e^x = mantissa · 2^exponent` and a bound of the mantissa's relative error, for `|x| ≤ 2^50`.
///
/// `x = k ln 2 + r` with `|r| ≤ 0.35`, see [`reduce`]; for `|k| > 2^20` up to `0.48`, see there. Taylor's polynomial
/// of degree 24 leaves less than `0.35^25/25!·1.01 < 2^-120`. In its Horner sums `S_k = 1/k! + r S_{k+1}`, an error `E_{k+1}` becomes
/// `E_k ≤ 3u²|S_k| + 7u²|r S_{k+1}| + |r| E_{k+1}` and, from the table, at most `u²/2` more. From `E_2 ≤ 4u²`,
/// `E_1 ≤ 7u²` and `E_0 ≤ 10u²` for `r > 0`; for `r < 0`, where the value is at least `0.707`, `E_0 ≤ 7u²`. So the relative error
/// is below `12u²`. The error of `r` is one of the result, relatively.
pub(crate) fn exp(x: DoubleDouble) -> (DoubleDouble, i64, f64) {
    let k = (x.hi * std::f64::consts::LOG2_E).round();
    let (r, reduction) = reduce(x, k);
    (horner(&INVERSE_FACTORIALS, r), k as i64, 0.75 * UNIT + reduction)
}

/// `x − k ln 2` and a bound of what its error, and the polynomial's beyond `12u²`, do to the result, relatively.
///
/// For `|k| ≤ 2^20` with `ln 2` in three parts, of which the first two have 32 bits and so exact products with `k`:
/// two subtractions err by `3u²` of results below `0.36`, and the third part, below `2^-65`, contributes less than
/// `u²/4`: together below `4u²`. For larger `k` the product errs by `2u²`, the constant by `u²`, each of a
/// magnitude of at most `|x| + 1`, and the subtraction by `3u²` of the result. There `k` itself is rounded from a
/// product that errs by up to `2^-3` at `2^50`, so `|r| ≤ 0.48`: the polynomial leaves `0.48^25/25! < 2^-109` and its sum
/// errs by less than `20u²`, which the rest of `8u²(|x| + 1)`, above `2^21 u²`, pays for many times.
fn reduce(x: DoubleDouble, k: f64) -> (DoubleDouble, f64) {
    if k.abs() > 1_048_576.0 {
        return (x.add(LN_2.mul_f64(k).neg()), UNIT * 0.5 * (x.hi.abs() + 1.0));
    }
    let parts = [LN_2_FIRST, LN_2_SECOND].map(DoubleDouble::from_f64).into_iter().chain([LN_2_REST]);
    (parts.fold(x, |rest, part| rest.add(part.mul_f64(k).neg())), UNIT / 4.0)
}

#[cfg(test)]
mod tests {
    use crate::ball::Ball;
    use crate::rational::Rational;

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
        let sum = [super::LN_2_FIRST, super::LN_2_SECOND, super::LN_2_REST.hi, super::LN_2_REST.lo]
            .map(exact)
            .into_iter()
            .fold(Rational::from(0i64), |sum, part| sum.add(&part));
        let digits = "0.693147180559945309417232121458176568075500134360255254120680009493393621969694716";
        let gap = sum.sub(&Rational::parse(digits).unwrap()).abs();
        assert!(gap < Rational::parse("1e-50").unwrap());
        for part in [super::LN_2_FIRST, super::LN_2_SECOND] {
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
