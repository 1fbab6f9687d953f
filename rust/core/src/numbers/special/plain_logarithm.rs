//! Logarithms from a table, as sums of two doubles.

use super::LN_2;
use crate::numbers::ball::Ball;
use crate::numbers::double_double::DoubleDouble;
use crate::numbers::lanes::{DoubleDoubles, Lanes, WIDTH};
use statpriv_simd::Arithmetic;
use std::sync::LazyLock;

/// `ln 2` cut after 41 bits, so that its product with an exponent is exact.
const LN_2_HEAD: f64 = f64::from_bits(LN_2.hi.to_bits() & !0xfff);
/// The rest of `ln 2`, below `2^-41`; its rounding and that of its product with an exponent `e` are `2^-94 |e|`.
const LN_2_TAIL: f64 = (LN_2.hi - LN_2_HEAD) + LN_2.lo;

/// `(t − ln(1 + t))/t²`, by powers of `t`.
pub(crate) const SERIES: [f64; 7] =
    [1.0 / 2.0, -1.0 / 3.0, 1.0 / 4.0, -1.0 / 5.0, 1.0 / 6.0, -1.0 / 7.0, 1.0 / 8.0];

/// Numbers of at most eight bits next to others, and their logarithms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbours {
    pub(crate) number: Lanes,
    pub(crate) logarithm: DoubleDoubles,
}

impl Neighbours {
    /// The neighbours `j/128 · 2^e` of normal positive doubles; 1 is one of them. Of other doubles, some number.
    ///
    /// Each is within `0.00553`, relatively: half a step at `√½`, which is `√2/256 < 0.005525`, and a few roundings.
    /// The logarithm errs by at most `2^-93` relatively, as a sum of `e ln 2` and of a ball's midpoint.
    #[inline(always)]
    pub(crate) fn of(x: Lanes) -> Self {
        static LOGARITHMS: LazyLock<[DoubleDouble; 256]> = LazyLock::new(|| {
            std::array::from_fn(|j| {
                let ratio = Ball::from_u64(j as u64) / Ball::from_u64(128);
                ratio.ln().to_double_double().unwrap_or(DoubleDouble::ZERO)
            })
        });
        let table = &*LOGARITHMS;
        let (mut number, mut exponents, mut logarithms) =
            ([0.0; WIDTH], [0.0; WIDTH], [DoubleDouble::ZERO; WIDTH]);
        for i in 0..WIDTH {
            let bits = x.0[i].to_bits();
            let mantissa = f64::from_bits((bits & 0xf_ffff_ffff_ffff) | (1023 << 52));
            let upper_half = mantissa > std::f64::consts::SQRT_2;
            let j = (mantissa * if upper_half { 64.0 } else { 128.0 } + 0.5) as u8;
            let exponent = ((bits >> 52) & 0x7ff) as i64 - 1023 + i64::from(upper_half);
            let scale = f64::from_bits(((exponent.clamp(-1015, 1022) + 1023) as u64) << 52);
            number[i] = f64::from(j) / 128.0 * scale;
            exponents[i] = exponent as f64;
            logarithms[i] = table[usize::from(j)];
        }
        let (exponents, logarithms) = (Lanes(exponents), DoubleDoubles::from(logarithms));
        let (hi, lo) = (exponents * Lanes::all(LN_2_HEAD)).two_sum(logarithms.hi);
        let lo = lo + (exponents * Lanes::all(LN_2_TAIL) + logarithms.lo);
        Self { number: Lanes(number), logarithm: DoubleDoubles { hi, lo } }
    }
}

/// `ln(x/y) = head + tail` for normal positive `x` and `y`, `|tail| ≤ 0.0056`, with an error of at most `2^-58 + 2^-93 |ln(x/y)|`, four at a
/// time.
///
/// With the neighbour `r` of the quotient, `ln(x/y) = ln r + ln(1 + t)`, `t = (x − ry)/(ry)`. The products of `r` with the halves of
/// `y` are exact, and so is the difference of the first from the upper part of `x`, within `0.6 %` of it (Sterbenz); two more
/// additions, the product in the divisor and the division make `t` err by `4.1u|t|`. Of the series `t − t²(½ − t(⅓ − …))` the
/// terms left out are below `|t|^9/9 · 1.01 < 2^-70`; the part after `t` is below `0.51t²` and errs by less than `10u` times
/// that, and the last subtraction errs by `1.01u|t|`: together less than `5.2u · 0.00553 + 2^-70 < 2^-58`.
#[inline(always)]
pub(crate) fn ln_of_quotients<A: Arithmetic>(x: DoubleDoubles, y: Lanes) -> (DoubleDoubles, Lanes) {
    let Neighbours { number, logarithm } = Neighbours::of(x.hi / y);
    let (half, other_half) = y.split();
    let t = (((x.hi - number * half) - number * other_half) + x.lo) / (number * y);
    (logarithm.stored(), (t - t * t * pairwise_polynomial::<A>(&SERIES, t)).stored())
}

/// `Σ c_i t^i`, in pairs: for `|t| ≤ 1/128` and coefficients below `|c_0|`·1.2 the error is below `4u|c_0|`.
#[inline(always)]
pub(crate) fn pairwise_polynomial<A: Arithmetic>(c: &[f64; 7], t: Lanes) -> Lanes {
    let square = t * t;
    let pair = |i: usize| Lanes::all(c[i + 1]).multiply_add::<A>(t, Lanes::all(c[i]));
    let low = square.multiply_add::<A>(pair(2), pair(0));
    let high = square.multiply_add::<A>(Lanes::all(c[6]), pair(4));
    (square * square).multiply_add::<A>(high, low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;
    use statpriv_simd::Portable;

    fn exact(x: f64) -> Ball {
        Ball::from_rational(&Rational::from_f64(x).unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(1000, 5000)))]

        #[test]
        fn logarithms_err_by_at_most_their_bound(mantissa in 1.0..2.0f64, exponent in -900i32..900, lo in -1.0..1.0f64, y in 1.0..1e15f64) {
            let hi = mantissa * 2f64.powi(exponent);
            let x = DoubleDouble { hi, lo: lo * hi * 2f64.powi(-54) };
            let truth = ((exact(x.hi) + exact(x.lo)) / exact(y)).ln();
            // Beside other ones.
            let all = [DoubleDouble::ONE, x, DoubleDouble::from_f64(2.5), x];
            let (heads, tails) = ln_of_quotients::<Portable>(DoubleDoubles::from(all), Lanes([1.0, y, 7.0, y]));
            let (head, tail) = (heads.lane(1), tails.0[1]);
            prop_assert!((head, tail) == (heads.lane(3), tails.0[3]));
            prop_assert!((heads.lane(0), tails.0[0]) == (DoubleDouble::ZERO, 0.0));
            let error = (exact(head.hi) + exact(head.lo) + exact(tail) - truth).to_enclosure();
            let bound = 2f64.powi(-58) + 2f64.powi(-93) * head.hi.abs();
            prop_assert!(error.upper() <= bound && error.lower() >= -bound, "{error:?}");
            prop_assert!(tail.abs() <= 0.0056);
        }

        #[test]
        fn a_neighbour_is_near(mantissa in 1.0..2.0f64, exponent in -1000i32..1000) {
            let x = mantissa * 2f64.powi(exponent);
            let Neighbours { number, logarithm } = Neighbours::of(Lanes([3.0, 1.0, x, 1e-9]));
            let (number, logarithm) = (number.0[2], logarithm.lane(2));
            prop_assert!((number / x - 1.0).abs() <= 0.00553);
            let error = exact(number).ln() - exact(logarithm.hi) - exact(logarithm.lo);
            let bound = logarithm.hi.abs() * 2f64.powi(-93);
            prop_assert!(error.to_enclosure().upper() <= bound && error.to_enclosure().lower() >= -bound);
        }
    }

    #[test]
    fn one_is_its_own_neighbour() {
        let Neighbours { number, logarithm } = Neighbours::of(Lanes::all(1.0));
        assert_eq!((number.0, logarithm.lane(3)), ([1.0; WIDTH], DoubleDouble::ZERO));
    }
}
