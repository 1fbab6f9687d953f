//! exp, ln and e^{2πix} in fixed point: integers in units of `2^-places`, each with a bound of its error in units.
//!
//! `⌊x⌋` and `x >> k` err by less than one unit, always downwards; the bounds below count these.

use super::ball::{Ball, shifted};
use super::complex::Complex;
use dashu_int::ops::RemEuclid;
use dashu_int::{IBig, Sign};
use std::sync::OnceLock;

/// Places to which constants are kept.
const KEPT: usize = 1024;

/// `Σ_i 1/((2i+1) m^{2i+1})` with alternating signs (arctan) or without (artanh) of `1/m`, `m ≥ 4`, in units.
///
/// Each term errs by less than 2 units (a floor of the power, whose own error a division by `m²` has made small, and a
/// floor of the quotient), the rest of the series by less than one: below `2 (places + 2)` units, as a term is less
/// than a sixteenth of the one before.
fn inverse_tangent(m: u32, alternating: bool, places: usize) -> IBig {
    let square = u64::from(m) * u64::from(m);
    let mut power = (IBig::ONE << places) / m;
    let (mut sum, mut k, mut negative) = (IBig::ZERO, 1u64, false);
    while !power.is_zero() {
        let term = &power / k;
        sum = if negative { sum - term } else { sum + term };
        negative = alternating && !negative;
        power /= square;
        k += 2;
    }
    sum
}

/// π, to less than two units. Machin: `π = 16 arctan(1/5) − 4 arctan(1/239)`.
pub(crate) fn pi(places: usize) -> IBig {
    static PI: OnceLock<IBig> = OnceLock::new();
    // 20 series errors of at most 2^(1+ln2(places + 2)) units each lie far below 2^32 units.
    let compute = |places: usize| {
        let fine = places + 40;
        let sum: IBig = inverse_tangent(5, true, fine) * 16 - inverse_tangent(239, true, fine) * 4;
        sum >> 40usize
    };
    if places > KEPT { compute(places) } else { PI.get_or_init(|| compute(KEPT)) >> (KEPT - places) }
}

/// ln 2, to less than two units: `18 artanh(1/26) − 2 artanh(1/4801) + 8 artanh(1/8749)`.
///
/// As `artanh(1/m) = ½ ln((m+1)/(m−1))`, this is `ln((27/25)^9 (4800/4802) (8750/8748)^4)`, and
/// `27^9 · 4800 · 8750^4 / (25^9 · 4802 · 8748^4) = 2`.
pub(crate) fn ln_2(places: usize) -> IBig {
    static LN_2: OnceLock<IBig> = OnceLock::new();
    let compute = |places: usize| {
        let fine = places + 40;
        let part = |m, factor: i32| inverse_tangent(m, false, fine) * factor;
        let sum: IBig = part(26, 18) + part(4801, -2) + part(8749, 8);
        sum >> 40usize
    };
    if places > KEPT { compute(places) } else { LN_2.get_or_init(|| compute(KEPT)) >> (KEPT - places) }
}

/// How often an argument is halved before its series: about as many terms as halvings are left.
fn halvings(places: usize) -> usize {
    4 + (places as f64 / 2.0).sqrt() as usize
}

/// `e^x`; nothing for an `x` above `2^60` in size, or known to less than a quarter.
///
/// The radius η of `x` enters as `|e^{x+η} − e^x| ≤ 2|η| e^x` for `|η| ≤ 1`.
pub(crate) fn exp(x: &Ball, bits: usize) -> Option<Ball> {
    let whole = usize::try_from(x.log2().max(0)).ok().filter(|&size| size <= 61)?;
    let value = exp_of_number(&x.midpoint(), whole, bits)?;
    let spread = x.spread();
    if spread.log2() > 0 {
        return None;
    }
    Some(value.widened(&value.times(&spread, 64).scaled(1), bits))
}

/// `e^x` for an exact `x` below `2^whole` in size.
///
/// `x = k ln 2 + 2^h y` with `0 ≤ 2^h y ≤ ln 2` up to the errors below, counted in units:
/// * the halved argument is rounded down once: 1; two for each `ln 2`, and one for `x`, before that;
/// * the Taylor sum of `e^y`, `y ≤ 1/16`: `t ← ((t y) >> places)/i` adds less than 3/2 to the error and shrinks what was there,
///   so each of the `i` terms errs by less than 2; the rest of the series is below 2 when a term vanishes;
/// * a squaring takes an error `E` of `s` to at most `2 s E + 2`; the `s = e^{y 2^j}` multiply to at most 2, so `h` squarings
///   take it to at most `2 · 2^h (E + 2)`.
fn exp_of_number(x: &Ball, whole: usize, bits: usize) -> Option<Ball> {
    let h = halvings(bits);
    let places = bits + h + whole + 24;
    let fixed = x.to_fixed(places);
    let ln_2 = ln_2(places);
    let k = i64::try_from(&fixed / &ln_2).ok()?;
    let k = if fixed.sign() == Sign::Negative { k - 1 } else { k };
    let y = (fixed - &ln_2 * IBig::from(k)) >> h;
    let mut sum = (IBig::ONE << places) + &y;
    let (mut term, mut i) = (y.clone(), 1u64);
    while !term.is_zero() {
        i += 1;
        term = ((term * &y) >> places) / i;
        sum += &term;
    }
    for _ in 0..h {
        sum = sum.squared() >> places;
    }
    // In units of 2^(h − places): 4i + 8 from the series, and 2 (1 + 2|k|), relative to e^x ≤ 2, from the argument.
    let error = u128::from(4 * i + 10) + 4 * u128::from(k.unsigned_abs());
    Some(Ball::new(sum >> h, error, i128::from(k) + h as i128 - places as i128, bits))
}

/// `ln x`; nothing for an `x` that may not be positive.
///
/// `ln x = ln m + k ln 2` with `m` between 1/4 and 1, and `k = 0` where `x` is within a factor 4 of 1: so nothing cancels.
pub(crate) fn ln(x: &Ball, bits: usize) -> Option<Ball> {
    if !x.is_positive() {
        return None;
    }
    let k = x.log2() - 1;
    if k.abs() <= 2 {
        return ln_near_one(x, bits);
    }
    let units = ln_2(bits + 128);
    let error = Ball::dyadic(IBig::from(2), -(bits as i128) - 128);
    let ln_2 = Ball::dyadic(units, -(bits as i128) - 128).widened(&error, bits + 128);
    let multiple = ln_2.times(&Ball::dyadic(IBig::from(k), 0), bits + 128);
    Some(ln_near_one(&x.scaled(-k), bits)?.plus(&multiple, bits))
}

/// `ln x` for an `x` between 1/8 and 8.
///
/// With any `y`, `ln x = y + 2 artanh u`, `u = (x − e^y)/(x + e^y)`, and `artanh u = u + u³/3 + R`, `|R| ≤ |u|^5` for `|u| ≤ ½`:
/// the digits of `y` are right five times over.
fn ln_near_one(x: &Ball, bits: usize) -> Option<Ball> {
    let guess = if bits <= 64 {
        first_guess(x.to_f64())
    } else {
        ln_near_one(&x.midpoint().rounded(64 + bits / 5), bits / 5 + 8)?.midpoint()
    };
    let bits = bits + 8;
    let power = exp(&guess, bits)?;
    let u = x.minus(&power, bits).over(&x.plus(&power, bits), bits)?;
    if u.log2() > -1 {
        return None;
    }
    let square = u.times(&u, bits);
    let cube = square.times(&u, bits);
    let third = cube.over(&Ball::from(3), bits)?;
    let artanh = u.plus(&third, bits).widened(&cube.times(&square, 64), bits);
    Some(guess.plus(&artanh.scaled(1), bits))
}

/// About `ln x` for an `x` between 1/8 and 8, to sixteen bits.
fn first_guess(x: f64) -> Ball {
    // x = 2^j m with m in [1/√2, √2], and ln m = 2 artanh v, v = (m−1)/(m+1).
    let (mut m, mut j) = (x, 0.0);
    while m > std::f64::consts::SQRT_2 {
        (m, j) = (m / 2.0, j + 1.0);
    }
    while m < std::f64::consts::FRAC_1_SQRT_2 {
        (m, j) = (m * 2.0, j - 1.0);
    }
    let v = (m - 1.0) / (m + 1.0);
    let w = v * v;
    let ln = j * std::f64::consts::LN_2
        + 2.0 * v * (1.0 + w * (1.0 / 3.0 + w * (1.0 / 5.0 + w * (1.0 / 7.0 + w / 9.0))));
    Ball::dyadic(IBig::from((ln * 65536.0) as i64), -16)
}

/// `e^{2πi · numerator/denominator}` in units of `2^-places`, and a bound of its error in units.
///
/// The angle `t`, between −π and π, is halved `h` times; the series of sine and cosine err by less than 2 units a term as
/// in [`exp`]; a squaring takes an error `E` to at most `2E + 2` up to terms of second order, as the number has modulus 1.
pub(crate) fn root_of_unity(numerator: &IBig, denominator: &IBig, places: usize) -> (Complex, u64) {
    let h = halvings(places);
    let fine = places + h + 16;
    let turn = IBig::from(numerator.rem_euclid(denominator));
    let turn = if &turn + &turn > *denominator { turn - denominator } else { turn };
    let angle: IBig = pi(fine) * turn * 2 / denominator;
    let y = angle >> h;
    let mut z = Complex { re: IBig::ONE << fine, im: IBig::ZERO };
    let (mut term, mut i) = (z.re.clone(), 0u64);
    loop {
        i += 1;
        term = ((term * &y) >> fine) / i;
        if term.is_zero() || term == IBig::NEG_ONE {
            break;
        }
        match i % 4 {
            0 => z.re += &term,
            1 => z.im += &term,
            2 => z.re -= &term,
            _ => z.im -= &term,
        }
    }
    for _ in 0..h {
        z = z.square(fine);
    }
    // 2^h (4i + 8) units of 2^-fine, and the truncation of the two parts.
    let error = ((4 * i + 16) >> 15) + 3;
    (Complex { re: shifted(&z.re, -((h + 16) as i128)), im: shifted(&z.im, -((h + 16) as i128)) }, error)
}

/// The square of a signed integer, which the integer library returns without a sign.
trait Squared {
    fn squared(&self) -> IBig;
}

impl Squared for IBig {
    fn squared(&self) -> IBig {
        self.sqr().into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::number;
    use super::*;
    use crate::numbers::rational::{Rational, exponential};
    use dashu_int::UBig;
    use proptest::prelude::*;

    fn ball(text: &str, bits: usize) -> Ball {
        Ball::rational(&Rational::parse(text).unwrap(), bits)
    }

    fn agrees(a: &Ball, b: &Ball) -> bool {
        !a.exceeds(b) && !b.exceeds(a)
    }

    #[test]
    fn constants_to_forty_digits() {
        let units = |fixed: IBig| Ball::dyadic(fixed, -200).widened(&Ball::dyadic(IBig::ONE, -200), 200);
        assert!(agrees(
            &units(pi(200)),
            &ball("3.1415926535897932384626433832795028841971", 500).widened(&ball("1e-40", 64), 500)
        ));
        assert!(agrees(
            &units(ln_2(200)),
            &ball("0.6931471805599453094172321214581765680755", 500).widened(&ball("1e-40", 64), 500)
        ));
        for places in [1024, 1030, 5000] {
            assert!((pi(places) >> (places - 200)) - pi(200) <= IBig::ONE);
        }
    }

    /// Compares a constant of each number of places with one of many more: its error bound holds at every number.
    #[test]
    fn constants_err_by_less_than_two_units() {
        let (pi_further, ln_2_further) = (pi(6000), ln_2(6000));
        for places in [1, 60, 900, 1023, 1024, 1025, 1026, 3000] {
            for (found, further) in [(pi(places), &pi_further), (ln_2(places), &ln_2_further)] {
                let gap = (found << (6000 - places)) - further;
                assert!(gap.abs_below(&(IBig::from(2) << (6000 - places))), "{places}");
            }
        }
    }

    /// The series of the exact tier shares no code with this one.
    #[test]
    fn exponentials_are_those_of_another_series_and_as_narrow_as_they_say() {
        for x in ["0", "1/3", "-1/3", "1e-30", "41/2", "-41/2", "700.25", "-700.25", "100000"] {
            for bits in [30, 64, 200, 1000] {
                let given = number(x);
                let found = exp(&Ball::rational(&given, bits + 64), bits).unwrap();
                let further = bits + 64;
                let (low, high) = exponential(&given.abs(), further);
                let dyadic = |end: UBig| Ball::dyadic(IBig::from(end), -(further as i128));
                let ends = if given.is_negative() {
                    // Where e^|x| is large, so is its number of bits.
                    [dyadic(high), dyadic(low)].map(|end| Ball::one().over(&end, bits + 1200).unwrap())
                } else {
                    [dyadic(low), dyadic(high)]
                };
                assert!(
                    !ends[1].exceeds(&found.midpoint().plus(&found.spread(), bits + 2000)),
                    "e^{x} to {bits}"
                );
                assert!(
                    !found.midpoint().minus(&found.spread(), bits + 2000).exceeds(&ends[0]),
                    "e^{x} to {bits}"
                );
                assert!(found.accuracy() >= bits as i128 - 10, "e^{x} to {bits}: {}", found.accuracy());
            }
        }
        // What is known to a half only, or too large.
        let vague = |radius| Ball::one().widened(&Ball::one().scaled(radius), 90);
        assert!(exp(&vague(-2), 90).is_some() && exp(&vague(-1), 90).is_none());
        assert!(exp(&Ball::one().scaled(59), 40).is_some() && exp(&Ball::one().scaled(60), 40).is_none());
    }

    /// Against the same point to many more places.
    #[test]
    fn roots_of_unity_err_by_less_than_is_said_and_that_is_little() {
        for (top, bottom) in [(1, 7), (-1, 7), (3, 7), (4, 7), (1, 2), (3, 4), (900, 1001), (-12_345, 98_765)]
        {
            for places in [40, 100, 400, 1500] {
                let (top, bottom) = (IBig::from(top), IBig::from(bottom));
                let (root, error) = root_of_unity(&top, &bottom, places);
                let (further, _) = root_of_unity(&top, &bottom, places + 80);
                for (found, fine) in [(root.re, further.re), (root.im, further.im)] {
                    let gap = (found << 80usize) - fine;
                    assert!(gap.abs_below(&(IBig::from(error) << 80usize)), "{top}/{bottom} to {places}");
                }
                assert!(error <= 3, "{top}/{bottom} to {places}: {error}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(32, 64)))]
        #[test]
        fn exponentials_multiply(a in -1000i64..1000, b in -1000i64..1000, e in -40i128..0, bits in 30usize..900) {
            let (x, y) = (Ball::dyadic(IBig::from(a), e), Ball::dyadic(IBig::from(b), e));
            let (left, right) = (exp(&x, bits).unwrap(), exp(&y, bits).unwrap());
            let both = exp(&x.plus(&y, bits), bits).unwrap();
            prop_assert!(agrees(&left.times(&right, bits), &both));
            prop_assert!(both.accuracy() >= bits as i128 - 12);
        }

        #[test]
        fn the_logarithm_undoes_the_exponential(a in -100_000i64..100_000, e in -60i128..2, bits in 30usize..900) {
            prop_assume!(a != 0);
            let x = Ball::dyadic(IBig::from(a), e);
            let back = ln(&exp(&x, bits + 80).unwrap(), bits + 70).unwrap();
            prop_assert!(agrees(&back, &x) && back.accuracy() >= bits as i128 - 12);
        }

        #[test]
        fn roots_of_unity_return_to_one(m in 1u64..5000, k in -9000i64..9000, places in 60usize..700) {
            let (root, error) = root_of_unity(&IBig::from(k), &IBig::from(m), places);
            let mut power = Complex { re: IBig::ONE << places, im: IBig::ZERO };
            for _ in 0..m {
                power = power.times(&root, places);
            }
            let bound = IBig::from(2 * m * (error + 3));
            prop_assert!((power.re - (IBig::ONE << places)).abs_below(&bound) && power.im.abs_below(&bound));
        }
    }

    trait AbsBelow {
        fn abs_below(&self, bound: &IBig) -> bool;
    }

    impl AbsBelow for IBig {
        fn abs_below(&self, bound: &IBig) -> bool {
            self < bound && -self < *bound
        }
    }

    #[test]
    fn known_values() {
        let e = exp(&Ball::one(), 150).unwrap();
        assert!(agrees(
            &e,
            &ball("2.7182818284590452353602874713526624977572", 300).widened(&ball("1e-40", 64), 300)
        ));
        let (fifth, _) = root_of_unity(&IBig::from(1), &IBig::from(6), 100);
        assert!((fifth.re - (IBig::ONE << 99)).abs_below(&IBig::from(8)));
        assert!(ln(&Ball::zero(), 90).is_none() && exp(&Ball::dyadic(IBig::ONE, 80), 90).is_none());
        assert!(ln(&ball("1e-3000", 300), 200).unwrap().accuracy() > 190);
        let tiny = ln(&Ball::one().scaled(-(1 << 90)), 100).unwrap();
        let units = Ball::dyadic(ln_2(100), -100).widened(&Ball::dyadic(IBig::ONE, -99), 100);
        assert!(agrees(&tiny, &units.scaled(90).negative()));
    }
}
