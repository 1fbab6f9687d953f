//! Sine, cosine and angles of balls, and `e^x − 1` and `ln(1 + x)` where they are small.
//!
//! All are power series in ball arithmetic, which accounts for every rounding and for the width of the argument; what
//! remains to be said is only where a series is cut, and that is said below.

use crate::numbers::ball::Ball;
use crate::numbers::double_double::{DoubleDouble, UNIT};

/// `π` (truncated after two doubles: relative error below `2^-109`).
const PI: DoubleDouble = DoubleDouble { hi: std::f64::consts::PI, lo: 1.224_646_799_147_353_2e-16 };

/// `π`.
#[must_use]
pub fn pi() -> Ball {
    Ball::from_double_double(PI, UNIT)
}

fn integer(n: i64) -> Ball {
    Ball::from_i64(n)
}

/// A double, exactly.
fn exact(x: f64) -> Ball {
    Ball::from_double_double(DoubleDouble::from_f64(x), 0.0)
}

/// A number near the middle, for decisions that need not be right; zero where nothing is known.
fn about(x: Ball) -> f64 {
    x.to_enclosure().midpoint().unwrap_or(0.0)
}

/// Whether `|x| ≤ bound`, certainly.
fn within(x: Ball, bound: f64) -> bool {
    let ends = x.to_enclosure();
    ends.lower() >= -bound && ends.upper() <= bound
}

/// A ball around zero that reaches as far as `x` does.
fn around_zero(x: Ball) -> Ball {
    Ball::ZERO.plus_at_most(x)
}

/// `sin x` and `cos x`; `[−1, 1]` where the argument is too wide.
///
/// `x = m π/2 + r` with `|r| ≤ 0.8`; the series of `sin r / r` and `cos r` alternate with falling terms, so what is left out
/// is at most the first term left out: below `0.8^28/29! < 2^-111` and `0.8^28/28! < 2^-106`.
#[must_use]
pub fn sin_cos(x: Ball) -> (Ball, Ball) {
    let quarters = (about(x) * std::f64::consts::FRAC_2_PI).round();
    let r = x - exact(quarters) * pi() * exact(0.5);
    if quarters.abs() > 9e15 || !within(r, 0.8) {
        return (around_zero(Ball::ONE), around_zero(Ball::ONE));
    }
    let square = r * r;
    // 1 − r²/(a(a+1)) (1 − r²/((a+2)(a+3)) (…)), fourteen factors deep.
    let series = |first: i64| {
        let left_out = around_zero(exact(1.0 / (1u128 << 105) as f64));
        let step =
            |sum: Ball, i: i64| Ball::ONE - square * sum / integer((first + 2 * i) * (first + 2 * i + 1));
        (0..13).rev().fold(Ball::ONE, step) + left_out
    };
    let (sine, cosine) = (r * series(2), series(1));
    match (quarters as i64).rem_euclid(4) {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

/// `Σ z^k/(2k+1)` for `|z| ≤ bound^2`, cut after `terms`: the rest is at most `|z|^terms/(1 − |z|)`.
fn odd_reciprocal_series(z: Ball, terms: i64) -> Ball {
    let sum = (0..terms).rev().fold(Ball::ZERO, |sum, k| Ball::ONE / integer(2 * k + 1) + z * sum);
    sum + around_zero(z.powi(terms.unsigned_abs()) / (Ball::ONE - z))
}

/// `e^x − 1`, with its relative accuracy next to zero.
///
/// There Taylor's polynomial of degree 25: the rest is below `|x| 0.35^25/26! 1.1 < |x| 2^-125`.
#[must_use]
pub fn exp_minus_one(x: Ball) -> Ball {
    if !within(x, 0.35) {
        return x.exp() - Ball::ONE;
    }
    let sum = (2..=25).rev().fold(Ball::ONE, |sum, k| Ball::ONE + x * sum / integer(k));
    x * (sum + around_zero(exact(1.0 / (1u128 << 124) as f64)))
}

/// `ln(1 + x)`, with its relative accuracy next to zero, where it is `2 artanh(x/(2+x))`; the whole line for `x ≤ −1`.
#[must_use]
pub fn ln_one_plus(x: Ball) -> Ball {
    if !within(x, 0.25) {
        return (Ball::ONE + x).ln();
    }
    // |s| ≤ 1/7, and 7^-42 < 2^-117.
    let s = x / (integer(2) + x);
    integer(2) * s * odd_reciprocal_series(s * s, 21)
}

/// The angle of `x + iy`, up to a multiple of `2π`; anything where zero may be the point.
///
/// Turned back by an angle that need not be exact, the point lies next to the positive axis, at `atan v` with `|v| ≤ 0.05`. The
/// series alternates, and `0.05^26 < 2^-112`.
#[must_use]
pub fn angle(x: Ball, y: Ball) -> Ball {
    let turn = rough_angle(about(x), about(y));
    let (sine, cosine) = sin_cos(exact(turn));
    let (along, across) = (x * cosine + y * sine, y * cosine - x * sine);
    let slope = across / along;
    if !along.is_positive() || !within(slope, 0.05) {
        return around_zero(integer(4));
    }
    exact(turn) + slope * odd_reciprocal_series(-(slope * slope), 13)
}

/// `atan2(y, x)` up to `0.005`, exactly zero next to the positive axis: `atan t ≈ πt/4 + 0.273 t(1 − |t|)` for `|t| ≤ 1`.
fn rough_angle(x: f64, y: f64) -> f64 {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    let small = |t: f64| t * (FRAC_PI_4 + 0.273 * (1.0 - t.abs()));
    if x > 0.0 && y.abs() <= 0.04 * x {
        0.0
    } else if y.abs() > x.abs() {
        FRAC_PI_2.copysign(y) - small(x / y)
    } else if x > 0.0 {
        small(y / x)
    } else if x < 0.0 {
        small(y / x) + PI.copysign(y)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;

    fn ball(text: &str) -> Ball {
        Ball::from_rational(&Rational::parse(text).unwrap())
    }

    fn overlap(a: Ball, b: Ball) -> bool {
        let gap = a - b;
        !gap.is_positive() && !(-gap).is_positive()
    }

    fn check(computed: Ball, truth: &str) {
        assert!(overlap(computed, ball(truth)), "{truth} is outside {computed:?}");
        assert!(computed.relative_error() < 2f64.powi(-84), "{computed:?}");
    }

    #[test]
    fn thirty_digits() {
        let (sine, cosine) = sin_cos(Ball::ONE);
        check(sine, "0.84147098480789650665250232163029899962256306079837");
        check(cosine, "0.54030230586813971740093660744297660373231042061792");
        let (sine, cosine) = sin_cos(ball("-1000.5"));
        check(sine, "-0.995273957105213542774042442904904326573104067");
        check(cosine, "0.0971069014443852641226388708242569888397362711");
        check(pi(), "3.14159265358979323846264338327950288419716939937510582");
        check(angle(ball("1"), ball("2")), "1.1071487177940905030170654601785370400700476454014");
        check(angle(ball("-3"), ball("0.1")), "3.10827165771154604130649559425810893759804288");
        check(exp_minus_one(ball("1e-20")), "1.000000000000000000005000000000000000000016666666667e-20");
        check(ln_one_plus(ball("1e-20")), "9.99999999999999999995000000000000000000033333333333e-21");
        check(ln_one_plus(ball("-0.2")), "-0.22314355131420975576629509030983450337460108554801");
        check(exp_minus_one(ball("0.3")), "0.34985880757600310398374431332800733037829969735937");
    }

    /// Every angle is at most π in size, and so is one of a point that may be far from the positive axis.
    #[test]
    fn an_angle_that_is_not_known_is_below_four() {
        for across in [1, 10] {
            let found = angle(Ball::ONE, around_zero(integer(across))).to_enclosure();
            assert!(found.lower() <= -0.7 && found.upper() >= 0.7 && found.width() <= 8.000_001, "{found:?}");
        }
    }

    proptest! {
        #[test]
        fn sine_and_cosine_lie_on_the_circle_and_angles_undo_them(x in -3.1..3.1f64, turns in -1000i64..1000) {
            let x = exact(x);
            let (sine, cosine) = sin_cos(x + integer(2 * turns) * pi());
            prop_assert!(overlap(sine * sine + cosine * cosine, Ball::ONE));
            prop_assert!(sine.relative_error() < 1e-22 || !sine.is_positive());
            prop_assert!(overlap(angle(cosine, sine), x));
            prop_assert!(((angle(cosine, sine) - x).to_enclosure().width()) < 1e-24);
        }

        #[test]
        fn small_exponentials_and_logarithms_undo_each_other(x in -0.3..0.3f64, depth in 0i32..300) {
            let x = exact(x * 2f64.powi(-depth));
            prop_assert!(overlap(ln_one_plus(exp_minus_one(x)), x));
            prop_assert!(overlap(exp_minus_one(x) + Ball::ONE, x.exp()));
        }
    }
}
