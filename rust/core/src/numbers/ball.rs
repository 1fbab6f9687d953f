//! Certified real numbers: a double-double midpoint with its own exponent, and a radius.
//!
//! A [`Ball`] *contains* the number it stands for: `|x − mid·2^exponent| ≤ radius·2^exponent`. Every operation
//! keeps that promise for any numbers in its arguments, so whatever is composed of them keeps it too. There is
//! no constructor from a computed double that does not state a radius.
//!
//! The larger of midpoint and radius is normalised to `[½, 1)`. So as long as a ball says anything about its
//! number, nothing in its midpoint under- or overflows and [`UNIT`] bounds the relative error of every
//! double-double operation; where the radius is the larger, what a midpoint loses to underflow, below `2^-900`,
//! is covered by the `2^-48` by which radii are enlarged. Radii are computed in plain doubles from non-negative
//! terms; an expression of fewer than 16 operations errs by less than `2^-48` relatively, and [`enlarge`] pays
//! for that and for underflow.

use crate::numbers::double_double::{ADDITION, DoubleDouble, MULTIPLICATION, UNIT, two_product, two_sum};
use crate::numbers::enclosure::Enclosure;
use crate::numbers::rational::{Rational, leading_bits};
use crate::numbers::scaled::Scaled;
use crate::numbers::special;
use dashu_int::UBig;
use dashu_int::ops::UnsignedAbs;
use statpriv_simd::Portable;
use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Exponent gap beyond which the smaller summand goes into the radius.
const NEGLIGIBLE: i64 = 250;
/// No positive radius is below this, so products of radii cannot underflow.
const SMALLEST_RADIUS: f64 = 1.0 / ((1u128 << 100) as f64) / ((1u128 << 100) as f64);

/// A real number, certified: see the module documentation.
#[derive(Clone, Copy, Debug)]
pub struct Ball {
    mid: DoubleDouble,
    exponent: i64,
    radius: f64,
}

/// Magnitudes beyond `2^±(2^60)` are not told apart from infinity and zero.
const LARGEST_EXPONENT: i64 = 1 << 60;
/// Arguments of `exp` beyond `±2^50` are not told apart from infinity.
const LARGEST_EXPONENTIAL: i64 = 50;

/// `2^k` for `-1022 ≤ k ≤ 1023`; zero below.
fn power_of_two(k: i64) -> f64 {
    if k < -1022 { 0.0 } else { f64::from_bits(((k.min(1023) + 1023) as u64) << 52) }
}

/// An upper bound of a radius that was computed by fewer than 16 rounded operations; `0 · ∞` bounds nothing.
fn enlarge(radius: f64) -> f64 {
    if radius.is_nan() {
        return f64::INFINITY;
    }
    if radius == 0.0 { 0.0 } else { (radius * (1.0 + 1.0 / ((1u64 << 48) as f64))).max(SMALLEST_RADIUS) }
}

impl Ball {
    /// Zero.
    pub const ZERO: Self = Self { mid: DoubleDouble::ZERO, exponent: 0, radius: 0.0 };
    /// One.
    pub const ONE: Self = Self { mid: DoubleDouble::from_f64(0.5), exponent: 1, radius: 0.0 };
    /// No information: the whole line.
    pub const WHOLE: Self = Self { mid: DoubleDouble::ZERO, exponent: 0, radius: f64::INFINITY };

    /// Brings the larger of midpoint and radius to `[½, 1)`, which is exact.
    fn normalised(mid: DoubleDouble, exponent: i64, radius: f64) -> Self {
        let size = mid.hi.abs().max(radius);
        if !(size.is_finite() && mid.lo.is_finite()) || exponent > LARGEST_EXPONENT {
            return Self::WHOLE;
        }
        if size == 0.0 {
            return Self::ZERO;
        }
        if exponent < -LARGEST_EXPONENT {
            let radius = (mid.hi.abs() + radius).max(1.0) * 2.0;
            return Self { mid: DoubleDouble::ZERO, exponent: -LARGEST_EXPONENT, radius };
        }
        if size < f64::MIN_POSITIVE {
            let scale = power_of_two(200);
            return Self::normalised(mid.scale(scale), exponent - 200, radius * scale);
        }
        let shift = 1022 - ((size.to_bits() >> 52) & 0x7ff) as i64;
        let scale = power_of_two(shift);
        Self { mid: mid.scale(scale), exponent: exponent - shift, radius: radius * scale }
    }

    /// A double-double that errs by at most `relative_error` times its own size; below `2^-49` it does not matter,
    /// within what [`enlarge`] adds, whether the error is measured by the midpoint or by the truth.
    pub(crate) fn from_double_double(mid: DoubleDouble, relative_error: f64) -> Self {
        let exact = Self::normalised(mid, 0, 0.0);
        Self::normalised(exact.mid, exact.exponent, enlarge(exact.mid.hi.abs() * relative_error))
    }

    /// A double, exactly; nothing for NaN and infinities.
    #[must_use]
    pub fn from_f64(x: f64) -> Option<Self> {
        let (scaled, exponent) = if x.abs() > 1.0 { (x * power_of_two(-200), 200) } else { (x, 0) };
        // A factor of 2^-200 is exact from 2^-822 on.
        x.is_finite().then(|| Self::normalised(DoubleDouble::from_f64(scaled), exponent, 0.0))
    }

    /// An integer, exactly.
    #[must_use]
    pub fn from_u64(n: u64) -> Self {
        let high = n & !0xffff_ffff;
        let (hi, lo) = two_sum(high as f64, (n - high) as f64);
        Self::normalised(DoubleDouble { hi, lo }, 0, 0.0)
    }

    /// A rational: exactly where a double-double holds it, to `2^-104` relatively otherwise.
    ///
    /// The quotient is truncated at 112 bits (relative error `2^-111`) and rounded to a double-double: `hi` is
    /// the nearest double, the rest is below `2^60` and rounds with a relative error of `2^-53`, `2^-105` of
    /// the quotient.
    #[must_use]
    pub fn from_rational(x: &Rational) -> Self {
        if x.is_zero() {
            return Self::ZERO;
        }
        let magnitude: UBig = x.numerator().clone().unsigned_abs();
        let (bits, shift, division_exact) = leading_bits(&magnitude, x.denominator());
        let hi = bits as f64;
        let rest = bits as i128 - hi as i128;
        let lo = rest as f64;
        let exact = division_exact && lo as i128 == rest;
        let relative = if exact { 0.0 } else { UNIT / 4.0 };
        let mid = DoubleDouble { hi, lo };
        let mid = if x.is_negative() { mid.neg() } else { mid };
        let ball = Self::from_double_double(mid, relative);
        Self { exponent: ball.exponent - shift, ..ball }
    }

    /// A ball that also contains every `x + t`, `0 ≤ t ≤ t'`, for `x` here and `t'` in `most`.
    #[must_use]
    pub fn plus_at_most(self, most: Self) -> Self {
        let bound = Self { mid: DoubleDouble::ZERO, exponent: most.exponent, radius: most.magnitude() };
        self + bound
    }

    /// An upper bound of `|mid| + radius`, in units of `2^exponent`.
    fn magnitude(self) -> f64 {
        enlarge(self.mid.hi.abs() * (1.0 + UNIT.sqrt()) + self.radius)
    }

    /// A lower bound of the magnitude of every number inside; nothing when the radius is more than half the
    /// midpoint. (So the subtraction loses at most one bit, and [`enlarge`] pays for it in a quotient.)
    fn least_magnitude(self) -> Option<f64> {
        let mid = self.mid.hi.abs() * (1.0 - UNIT.sqrt());
        (self.radius <= 0.5 * mid && mid > 0.0).then_some(mid - self.radius)
    }

    /// A bound of the relative error, `radius / (|mid| − radius)`; infinite if the radius is more than half the
    /// midpoint.
    #[must_use]
    pub fn relative_error(self) -> f64 {
        match self.least_magnitude() {
            Some(least) => enlarge(self.radius / least),
            None => f64::INFINITY,
        }
    }

    /// Certainly above zero.
    #[must_use]
    pub fn is_positive(self) -> bool {
        self.mid.hi > 0.0 && self.relative_error().is_finite()
    }

    /// Certainly at most zero.
    #[must_use]
    pub fn is_not_positive(self) -> bool {
        (self.mid.hi < 0.0 && self.relative_error().is_finite()) || self.is_exact_zero()
    }

    /// Whether both are the same enclosure, bit by bit; of the numbers inside that says nothing.
    pub(crate) fn is_same_as(self, other: Self) -> bool {
        let bits = |ball: Self| ([ball.mid.hi, ball.mid.lo, ball.radius].map(f64::to_bits), ball.exponent);
        bits(self) == bits(other)
    }

    /// `self < other` for all numbers inside.
    #[must_use]
    pub fn certainly_less(self, other: Self) -> bool {
        (other - self).is_positive()
    }

    /// The certain integer part, or the larger of the two possible ones.
    ///
    /// Nothing when the ball is negative, wider than one or beyond `2^53`.
    #[must_use]
    pub fn floor_or_above(self) -> Option<u64> {
        let ends = self.to_enclosure();
        let (low, high) = (ends.lower().max(0.0).floor(), ends.upper().floor());
        let fits = ends.upper() >= 0.0 && high <= 9_007_199_254_740_992.0 && high - low <= 1.0;
        if !fits {
            return None;
        }
        // The ends were rounded outwards, by up to an ulp: decide between the two integers on the ball itself.
        if high > low && (self - Self::from_u64(high as u64)).is_certainly_negative() {
            return Some(low as u64);
        }
        Some(high as u64)
    }

    /// Zero and nothing else.
    pub(crate) fn is_exact_zero(self) -> bool {
        self.mid.hi == 0.0 && self.radius == 0.0
    }

    fn is_certainly_negative(self) -> bool {
        (-self).is_positive()
    }

    /// The least `e` with `|mid|, radius < 2^e`.
    pub(crate) fn exponent(self) -> i64 {
        self.exponent
    }

    /// Times `2^k`, exactly.
    pub(crate) fn times_power_of_two(self, k: i64) -> Self {
        Self::normalised(self.mid, self.exponent.saturating_add(k), self.radius)
    }

    /// The midpoint as a double-double, if its exponent lies within `±900`.
    pub(crate) fn to_double_double(self) -> Option<DoubleDouble> {
        (self.exponent.abs() <= 900).then(|| self.mid.scale(power_of_two(self.exponent)))
    }

    /// A double and a bound of what it may be wrong by, unless it overflows.
    pub(crate) fn to_double_with_error(self) -> Option<(f64, f64)> {
        if self.exponent.abs() > 900 {
            return (self.exponent < 0).then_some((0.0, power_of_two(-899)));
        }
        let scale = power_of_two(self.exponent);
        let radius = enlarge(self.radius + self.mid.lo.abs());
        radius.is_finite().then_some((self.mid.hi * scale, radius * scale))
    }

    /// The narrowest enclosure in doubles.
    #[must_use]
    pub fn to_enclosure(self) -> Enclosure {
        Enclosure::ordered(-(-self).upper(), self.upper())
    }

    /// The least double that is certainly not below any number inside, up to one ulp.
    fn upper(self) -> f64 {
        if self.radius.is_infinite() {
            return f64::INFINITY;
        }
        // hi + (lo + radius): round the inner sum up, then the outer one by the sign of its exact error.
        let (inner, inner_error) = two_sum(self.mid.lo, self.radius);
        let inner = if inner_error > 0.0 { inner.next_up() } else { inner };
        let (sum, error) = two_sum(self.mid.hi, inner);
        scale_up(if error > 0.0 { sum.next_up() } else { sum }, self.exponent)
    }

    /// `x^n`, by squaring; exact where every intermediate product is.
    #[must_use]
    pub fn powi(self, mut n: u64) -> Self {
        let (mut result, mut square) = (Self::ONE, self);
        while n > 0 {
            if n & 1 == 1 {
                result = result * square;
            }
            n >>= 1;
            if n > 0 {
                square = square * square;
            }
        }
        result
    }

    /// `e^x`.
    ///
    /// Midpoint: [`special::exp`]. Radius: `|e^{x+t} − e^x| ≤ e^x (R + R²)` for `|t| ≤ R ≤ 1`, because
    /// `e^R − 1 ≤ R + R²` there.
    #[must_use]
    pub fn exp(self) -> Self {
        if self.is_exact_zero() {
            return Self::ONE;
        }
        if self.exponent > LARGEST_EXPONENTIAL {
            // 0 < e^x ≤ e^(−2^49) < 2^(−2^49) for the certainly negative ones.
            let tiny = Self { mid: DoubleDouble::ZERO, exponent: -(1 << 49), radius: 1.0 };
            return if self.is_certainly_negative() { tiny } else { Self::WHOLE };
        }
        let input_radius = self.radius * power_of_two(self.exponent);
        if input_radius > 1.0 {
            return Self::WHOLE;
        }
        let x = self.mid.scale(power_of_two(self.exponent.max(-400)));
        let (mantissa, exponent, error) = special::exp(x);
        let propagated = enlarge(input_radius * (1.0 + input_radius));
        let ball = Self::from_double_double(mantissa, enlarge((error + propagated) * (1.0 + UNIT.sqrt())));
        let tiny = if self.exponent < -400 { SMALLEST_RADIUS } else { 0.0 };
        Self { exponent: ball.exponent + exponent, radius: ball.radius + tiny, ..ball }
    }

    /// `ln x`, for a ball that is certainly positive; otherwise the whole line.
    ///
    /// Radius: `|ln(x(1+t)) − ln x| ≤ R/(1−R)` for `|t| ≤ R < 1`, which [`Self::relative_error`] bounds.
    #[must_use]
    pub fn ln(self) -> Self {
        if !self.is_positive() {
            return Self::WHOLE;
        }
        let near_one = self.mid.hi < std::f64::consts::FRAC_1_SQRT_2;
        let (mantissa, exponent) =
            if near_one { (self.mid.scale(2.0), self.exponent - 1) } else { (self.mid, self.exponent) };
        let fraction =
            Self::from_double_double(special::ln_near_one::<Portable>(mantissa), special::LN_ERROR);
        let whole = Self::ln_2() * Self::from_i64(exponent);
        let sum = fraction + whole;
        let absolute = Self { mid: DoubleDouble::ZERO, exponent: 0, radius: self.relative_error() };
        if self.radius == 0.0 { sum } else { sum + absolute }
    }

    /// A signed integer, exactly.
    #[must_use]
    pub fn from_i64(n: i64) -> Self {
        let magnitude = Self::from_u64(n.unsigned_abs());
        if n < 0 { -magnitude } else { magnitude }
    }

    /// `ln 2`.
    #[must_use]
    pub fn ln_2() -> Self {
        Self::from_double_double(special::LN_2, UNIT)
    }

    /// `ln 2π`.
    #[must_use]
    pub fn ln_2_pi() -> Self {
        Self::from_double_double(special::LN_2_PI, UNIT)
    }

    /// The greater of two numbers.
    ///
    /// Of overlapping balls with midpoints `a ≥ b` it lies between `a` minus its radius and `a` plus the larger radius. So the maximum of
    /// many is no wider than the widest of them.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        let difference = self - other;
        if difference.is_positive() {
            return self;
        }
        if (-difference).is_positive() {
            return other;
        }
        let (larger, smaller) = if difference.mid.hi >= 0.0 { (self, other) } else { (other, self) };
        let gap = smaller.exponent - larger.exponent;
        if gap.abs() > NEGLIGIBLE {
            return self.plus_at_most(difference);
        }
        // No positive radius is below 2^-200, so this scaling is exact.
        let radius = larger.radius.max(smaller.radius * power_of_two(gap));
        Self::normalised(larger.mid, larger.exponent, radius)
    }

    /// Everything between two numbers: `|x − (a+b)/2| ≤ |x−a| + |a−b|/2` for the nearer midpoint, and `|x−a|` is at most a radius.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        let half = Self { mid: DoubleDouble::from_f64(0.5), exponent: 0, radius: 0.0 };
        let [one, next] = [self, other].map(|ball| Self { radius: 0.0, ..ball });
        let [spread, other_spread] = [self, other]
            .map(|ball| Self::normalised(DoubleDouble::from_f64(ball.radius), ball.exponent, 0.0));
        ((one + next) * half).plus_at_most((one - next) * half).plus_at_most(spread.max(other_spread))
    }

    /// The smaller of two numbers.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        -(-self).max(-other)
    }
}

impl From<Scaled> for Ball {
    fn from(x: Scaled) -> Self {
        let ball = Self::from_double_double(DoubleDouble::from_f64(x.mantissa), x.error);
        Self { exponent: ball.exponent + x.exponent, ..ball }
    }
}

impl From<&Rational> for Enclosure {
    /// The narrowest enclosure of a rational.
    fn from(x: &Rational) -> Self {
        let wide = Ball::from_rational(x).to_enclosure();
        // The ball may straddle the rational although it is a double, or lie next to one: decide exactly.
        let tight = |end: f64, keep: fn(Ordering) -> bool, fallback: f64| match Rational::from_f64(end) {
            Ok(candidate) if keep(candidate.cmp(x)) => end,
            _ => fallback,
        };
        let lower = tight(wide.lower().next_up(), Ordering::is_le, wide.lower());
        let upper = tight(wide.upper().next_down(), Ordering::is_ge, wide.upper());
        Self::ordered(lower, upper)
    }
}

/// `x · 2^exponent`, rounded up.
fn scale_up(x: f64, exponent: i64) -> f64 {
    if x == 0.0 {
        return 0.0;
    }
    if exponent > 1100 {
        return if x > 0.0 { f64::INFINITY } else { -f64::MAX };
    }
    if exponent < -1200 {
        return if x > 0.0 { f64::from_bits(1) } else { -0.0 };
    }
    // In steps that are exact until the last one, which may round into the subnormal range.
    let (first, second) = (exponent / 2, exponent - exponent / 2);
    let half_way = x * power_of_two(first);
    let result = half_way * power_of_two(second);
    let exact = result.is_infinite() || result / power_of_two(second) == half_way;
    match result {
        f64::NEG_INFINITY => -f64::MAX,
        _ if exact => result,
        _ if result == 0.0 && x < 0.0 => 0.0,
        _ => result.next_up(),
    }
}

impl Neg for Ball {
    type Output = Self;

    fn neg(self) -> Self {
        Self { mid: self.mid.neg(), ..self }
    }
}

impl Add for Ball {
    type Output = Self;

    /// `|a + b − (mid a + mid b)| ≤ radius a + radius b`, plus the rounding of the midpoint.
    fn add(self, other: Self) -> Self {
        let (large, small) = if self.is_exact_zero() {
            return other;
        } else if other.is_exact_zero() {
            return self;
        } else if self.exponent >= other.exponent {
            (self, other)
        } else {
            (other, self)
        };
        let gap = large.exponent - small.exponent;
        if gap > NEGLIGIBLE {
            let bound = enlarge(small.magnitude() * power_of_two(-NEGLIGIBLE));
            return Self { radius: enlarge(large.radius + bound.max(SMALLEST_RADIUS)), ..large };
        }
        let scale = power_of_two(-gap);
        let radii = large.radius + small.radius * scale;
        if radii == 0.0 && large.mid.lo == 0.0 && small.mid.lo == 0.0 {
            let (hi, lo) = two_sum(large.mid.hi, small.mid.hi * scale);
            return Self::normalised(DoubleDouble { hi, lo }, large.exponent, 0.0);
        }
        let mid = large.mid.add(small.mid.scale(scale));
        let radius = enlarge(radii + mid.hi.abs() * ADDITION).max(SMALLEST_RADIUS);
        Self::normalised(mid, large.exponent, radius)
    }
}

impl Sub for Ball {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Ball {
    type Output = Self;

    /// `|ab − mid a · mid b| ≤ |mid a| rb + |mid b| ra + ra rb`, plus the rounding of the midpoint.
    fn mul(self, other: Self) -> Self {
        let exponent = self.exponent.saturating_add(other.exponent);
        if self.is_exact_zero() || other.is_exact_zero() {
            return Self::ZERO;
        }
        if self.radius == 0.0 && other.radius == 0.0 && self.mid.lo == 0.0 && other.mid.lo == 0.0 {
            let (hi, lo) = two_product(self.mid.hi, other.mid.hi);
            return Self::normalised(DoubleDouble { hi, lo }, exponent, 0.0);
        }
        let mid = self.mid.mul(other.mid);
        // |mid| ≤ |hi| (1 + u), which `enlarge` covers.
        let (a, b) = (self.mid.hi.abs(), other.mid.hi.abs());
        let radius =
            a * other.radius + b * self.radius + self.radius * other.radius + mid.hi.abs() * MULTIPLICATION;
        Self::normalised(mid, exponent, enlarge(radius))
    }
}

impl Div for Ball {
    type Output = Self;

    /// `|a/b − m| ≤ (ra + |m| rb)/(|mid b| − rb)` for `m = mid a / mid b`, plus the rounding of the midpoint.
    fn div(self, other: Self) -> Self {
        let Some(least) = other.least_magnitude() else { return Self::WHOLE };
        if self.is_exact_zero() {
            return Self::ZERO;
        }
        let exponent = self.exponent.saturating_sub(other.exponent);
        if self.radius == 0.0 && other.radius == 0.0 && self.mid.lo == 0.0 && other.mid.lo == 0.0 {
            let quotient = self.mid.hi / other.mid.hi;
            if two_product(quotient, other.mid.hi) == (self.mid.hi, 0.0) {
                return Self::normalised(DoubleDouble::from_f64(quotient), exponent, 0.0);
            }
        }
        let mid = self.mid.div(other.mid);
        let radius = (self.radius + mid.hi.abs() * other.radius) / least + mid.hi.abs() * UNIT;
        Self::normalised(mid, exponent, enlarge(radius))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::numbers::rational::exponential;
    use proptest::prelude::*;

    fn double(x: f64) -> Rational {
        Rational::from_f64(x).unwrap()
    }

    fn number(text: &str) -> Rational {
        Rational::parse(text).unwrap()
    }

    fn two_to_the(k: i64) -> Rational {
        let power = Rational::dyadic(UBig::ONE, k.unsigned_abs() as usize);
        if k < 0 { power } else { Rational::from(1i64).div(&power).unwrap() }
    }

    /// Midpoint and radius, exactly.
    fn parts(x: Ball) -> (Rational, Rational) {
        let unit = two_to_the(x.exponent);
        (double(x.mid.hi).add(&double(x.mid.lo)).mul(&unit), double(x.radius).mul(&unit))
    }

    /// The least, the middle and the greatest member.
    pub(crate) fn members(x: Ball) -> [Rational; 3] {
        let (mid, radius) = parts(x);
        [mid.sub(&radius), mid.clone(), mid.add(&radius)]
    }

    fn holds(x: Ball, member: &Rational) -> bool {
        let (mid, radius) = parts(x);
        member.sub(&mid).abs() <= radius
    }

    /// Up to what [`enlarge`] adds, several times.
    fn at_most(x: &Rational, y: &Rational) -> bool {
        *x <= y.mul(&number("1.00000000000004"))
    }

    /// Balls of any sign and size, exact ones and those whose radius is not far below the midpoint.
    fn ball() -> impl Strategy<Value = Ball> {
        let mid =
            (0.5..1.0f64, -1.0..1.0f64, any::<bool>(), any::<bool>()).prop_map(|(hi, lo, long, negative)| {
                let (hi, lo) = two_sum(hi, if long { lo * 2f64.powi(-53) } else { 0.0 });
                DoubleDouble { hi, lo }.scale(if negative { -1.0 } else { 1.0 })
            });
        let radius = prop_oneof![Just(0.0), (1i32..120).prop_map(|bits| 0.9 * 2f64.powi(-bits))];
        (mid, -60i64..60, radius).prop_map(|(mid, exponent, radius)| Ball::normalised(mid, exponent, radius))
    }

    /// The image of all corners, and no more than the farthest of them and the rounding of the midpoint.
    fn check(
        computed: Ball,
        (a, b): (Ball, Ball),
        rounding: f64,
        exact: impl Fn(&Rational, &Rational) -> Rational,
    ) -> Result<(), TestCaseError> {
        let centre = exact(&parts(a).0, &parts(b).0);
        let mut reach = Rational::from(0i64);
        for (x, y) in members(a).iter().flat_map(|x| members(b).map(|y| (x.clone(), y))) {
            let image = exact(&x, &y);
            prop_assert!(holds(computed, &image), "{:?} of {:?} and {:?}", computed, a, b);
            reach = reach.max(image.sub(&centre).abs());
        }
        let most = reach.add(&centre.abs().mul(&double(rounding))).add(&two_to_the(computed.exponent - 199));
        prop_assert!(at_most(&parts(computed).1, &most), "{:?} of {:?} and {:?} is wide", computed, a, b);
        Ok(())
    }

    #[test]
    fn the_maximum_of_many_equal_balls_is_as_narrow_as_one() {
        let third = Ball::ONE / Ball::from_u64(3);
        let greatest = (0..1000).fold(third, |greatest, _| greatest.max(third));
        assert!(greatest.relative_error() <= 1.001 * third.relative_error() + 1e-31);
        let least = (0..1000).fold(third, |least, _| least.min(third));
        assert!(least.relative_error() <= 1.001 * third.relative_error() + 1e-31);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn arithmetic_contains_every_result_and_little_else(a in ball(), b in ball()) {
            check(a + b, (a, b), ADDITION, Rational::add)?;
            check(a - b, (a, b), ADDITION, Rational::sub)?;
            check(a * b, (a, b), MULTIPLICATION, Rational::mul)?;
            if b.relative_error() < 0.9 {
                check(a / b, (a, b), UNIT, |x, y| x.div(y).unwrap())?;
            }
            check(-a, (a, b), 0.0, |x, _| x.neg())?;
        }

        #[test]
        fn signs_and_orders_are_certain(a in ball(), b in ball()) {
            let ([least, mid, most], zero) = (members(a), Rational::from(0i64));
            let half = mid.mul(&number("0.499999999"));
            prop_assert!(!a.is_positive() || least > zero);
            prop_assert!(a.is_positive() || least <= half);
            prop_assert!(!a.is_not_positive() || most <= zero);
            prop_assert!(a.is_not_positive() || most >= half);
            prop_assert!(!a.certainly_less(b) || most < members(b)[0]);
            if a.relative_error().is_finite() {
                let exact = parts(a).1.div(&mid.abs().sub(&parts(a).1)).unwrap();
                let stated = double(a.relative_error());
                prop_assert!(exact <= stated && at_most(&stated, &exact.add(&two_to_the(-199))));
            }
        }

        #[test]
        fn extremes_of_two_numbers(a in ball(), b in ball()) {
            for (x, y) in members(a).iter().flat_map(|x| members(b).map(|y| (x.clone(), y))) {
                prop_assert!(holds(a.max(b), &x.clone().max(y.clone())));
                prop_assert!(holds(a.min(b), &x.clone().min(y.clone())));
                prop_assert!(holds(a.hull(b), &x) && holds(a.hull(b), &y));
                if y >= Rational::from(0i64) {
                    prop_assert!(holds(a.plus_at_most(b), &x) && holds(a.plus_at_most(b), &x.add(&y)));
                }
            }
            let spread = members(b)[2].clone().max(members(a)[2].clone()).sub(&members(b)[0].clone().min(members(a)[0].clone()));
            let size = parts(a).0.abs().add(&parts(b).0.abs());
            let most = spread.add(&parts(a).1).add(&parts(b).1).add(&size.mul(&two_to_the(-100)));
            let hull = parts(a.hull(b)).1;
            let widest = parts(a).1.max(parts(b).1);
            let apart = parts(a).0.sub(&parts(b).0).abs().mul(&two_to_the(-1));
            prop_assert!(at_most(&hull, &widest.add(&apart).add(&size.mul(&two_to_the(-100))).mul(&Rational::from(1i64).add(&two_to_the(-40)))));
            for x in [a.max(b), a.min(b), a.hull(b)] {
                prop_assert!(at_most(&parts(x).1, &most), "{:?} from {:?} and {:?}", x, a, b);
            }
            if members(a)[0] > members(b)[2].add(&size.mul(&two_to_the(-100))) && a.certainly_less(b) {
                prop_assert_eq!(parts(a.max(b)), parts(b));
            }
        }

        #[test]
        fn the_maximum_of_many_is_no_wider_than_the_widest(a in ball(), shifts in prop::collection::vec(-1.0..1.0f64, 1..200)) {
            let unit = Ball::normalised(DoubleDouble::from_f64(a.radius), a.exponent, 0.0);
            let near = |shift: f64| a + unit * Ball::from_f64(shift).unwrap();
            let widest = shifts.iter().map(|&shift| parts(near(shift)).1).max().unwrap();
            let all = shifts.iter().fold(near(0.0), |most, &shift| most.max(near(shift)));
            prop_assert!(at_most(&parts(all).1, &widest.max(parts(near(0.0)).1)), "{:?} from {:?}", all, a);
        }

        #[test]
        fn ends_are_rounded_outwards_by_an_ulp(a in ball(), exponent in -1300i64..1300) {
            let a = Ball { exponent, ..a };
            let (ends, [least, _, most]) = (a.to_enclosure(), members(a));
            let below = |x: f64, bound: &Rational| x == f64::NEG_INFINITY || x.is_finite() && double(x) <= *bound;
            let above = |x: f64, bound: &Rational| x == f64::INFINITY || x.is_finite() && double(x) >= *bound;
            prop_assert!(below(ends.lower(), &least) && above(ends.upper(), &most), "{:?} of {:?}", ends, a);
            if a.relative_error() < 0.1 {
                let (inner, outer) = (ends.lower().next_up().next_up(), ends.upper().next_down().next_down());
                prop_assert!(!below(inner, &least) && !above(outer, &most), "{:?} of {:?} is wide", ends, a);
            }
        }

        #[test]
        fn the_integer_part_is_certain_or_the_larger_of_two(n in 0u64..2_000_000, a in ball(), bits in 1i64..110) {
            let x = Ball::from_u64(n) + a * Ball { exponent: -bits, ..Ball::ONE };
            let [least, _, most] = members(x);
            match x.floor_or_above() {
                None => prop_assert!(least.is_negative() || most.sub(&least) >= Rational::from(0i64)),
                Some(floor) => {
                    let floor = Rational::from(floor);
                    // `floor − 1 ≤ least` and `most < floor + 1`; below the floor by no more than what rounding leaves open.
                    prop_assert!(floor.sub(&Rational::from(1i64)) <= least && most < floor.add(&Rational::from(1i64)));
                    prop_assert!(floor <= most.add(&parts(x).1.mul(&Rational::from(2i64))));
                }
            }
        }

        #[test]
        fn a_rational_is_known_to_thirty_digits(top in any::<i64>(), bottom in 1u64.., power in -400i64..400) {
            let x = Rational::from(top).div(&Rational::from(bottom)).unwrap().mul(&two_to_the(power));
            let computed = Ball::from_rational(&x);
            prop_assert!(holds(computed, &x));
            prop_assert!(at_most(&parts(computed).1, &x.abs().mul(&double(UNIT / 4.0))));
            prop_assert_eq!(parts(Ball::from_i64(top)), (Rational::from(top), Rational::from(0i64)));
            prop_assert_eq!(parts(Ball::from_u64(bottom)), (Rational::from(bottom), Rational::from(0i64)));
            let given = parts(Ball::from_rational(&Rational::from(top).mul(&two_to_the(power))));
            prop_assert_eq!(given, (Rational::from(top).mul(&two_to_the(power)), Rational::from(0i64)));
        }

        #[test]
        fn a_double_is_taken_exactly(x in any::<f64>()) {
            let given = Ball::from_f64(x);
            prop_assert_eq!(given.is_some(), x.is_finite());
            if let Some(ball) = given {
                prop_assert_eq!(parts(ball), (double(x), Rational::from(0i64)));
                let ends = ball.to_enclosure();
                prop_assert!(ends.lower() == x && ends.upper() == x);
            }
        }

        #[test]
        fn a_double_and_its_error(a in ball()) {
            let (x, error) = a.to_double_with_error().unwrap();
            for member in members(a) {
                prop_assert!(member.sub(&double(x)).abs() <= double(error));
            }
            let (mid, radius) = parts(a);
            let most = radius.add(&double(x).sub(&mid).abs()).add(&two_to_the(a.exponent - 199));
            prop_assert!(at_most(&double(error), &most));
            let kept = a.to_double_double().unwrap();
            prop_assert_eq!(double(kept.hi).add(&double(kept.lo)), mid);
        }

        #[test]
        fn powers(a in ball(), n in 0u64..12) {
            let power = |x: &Rational| (0..n).fold(Rational::from(1i64), |product, _| product.mul(x));
            let computed = a.powi(n);
            for member in members(a) {
                prop_assert!(holds(computed, &power(&member)));
            }
            let relative = computed.relative_error();
            prop_assert!(a.relative_error() > 1e-3 || relative <= 1.02 * n as f64 * (a.relative_error() + UNIT));
        }

        #[test]
        fn exponentials(mid in -745.0..745.0f64, small in any::<bool>(), bits in 2i32..130) {
            let mid = if small { mid * 1e-4 } else { mid };
            let x = Ball::from_f64(mid).unwrap() + Ball::normalised(DoubleDouble::ZERO, 0, 2f64.powi(-bits));
            let computed = x.exp();
            for member in members(x) {
                let (low, high) = around_exponential(&member);
                prop_assert!(holds(computed, &low) && holds(computed, &high), "e^{:?} = {:?}", x, computed);
            }
            let radius = crate::numbers::enclosure::Enclosure::from(&parts(x).1).upper();
            let most = 1.0001 * (radius * (1.0 + radius) + 2.0 * UNIT);
            prop_assert!(computed.radius / computed.mid.hi <= most, "e^{:?} = {:?}", x, computed);
        }

        #[test]
        fn logarithms(mid in 0.5..1.0f64, exponent in -40i64..40, bits in 3i32..130) {
            let x = Ball::normalised(DoubleDouble::from_f64(mid), exponent, mid * 2f64.powi(-bits));
            let computed = x.ln();
            let [least, _, most] = members(computed);
            let [low, _, high] = members(x);
            prop_assert!(around_exponential(&least).1 <= low && high <= around_exponential(&most).0, "ln {:?} = {:?}", x, computed);
            let size = parts(computed).0.abs().max(number("1"));
            let bound = double(x.relative_error()).add(&size.mul(&double(special::LN_ERROR + 3.0 * UNIT)));
            prop_assert!(at_most(&parts(computed).1, &bound), "ln {:?} = {:?}", x, computed);
        }
    }

    /// `e^x` to more than a hundred bits of relative accuracy, in big integers.
    fn around_exponential(x: &Rational) -> (Rational, Rational) {
        let bits = 260;
        let (low, high) = exponential(&x.abs(), bits);
        let (low, high) = (Rational::dyadic(low, bits), Rational::dyadic(high, bits));
        if x.is_negative() {
            let one = Rational::from(1i64);
            (one.div(&high).unwrap(), one.div(&low).unwrap())
        } else {
            (low, high)
        }
    }

    #[test]
    fn what_is_exact_stays_exact() {
        let exact = |x: Ball, y: &str| assert_eq!(parts(x), (number(y), Rational::from(0i64)), "{x:?}");
        let (three, seven) = (Ball::from_u64(3), Ball::from_u64(7));
        exact(three + seven, "10");
        exact(three - seven, "-4");
        exact(three * seven, "21");
        exact(Ball::from_u64(21) / seven, "3");
        exact(three.powi(30), "205891132094649");
        exact(Ball::from_u64(u64::MAX), "18446744073709551615");
        exact(
            Ball::from_u64((1 << 53) - 1) * Ball::from_u64((1 << 53) - 1),
            "81129638414606663681390495662081",
        );
        exact(Ball::ZERO + three, "3");
        exact(three + Ball::ZERO, "3");
        exact(Ball::ZERO * three, "0");
        exact(Ball::ZERO / three, "0");
        exact(Ball::ZERO.exp(), "1");
        exact(Ball::ONE.ln(), "0");
        exact(three.max(seven), "7");
        exact(three.min(seven), "3");
        exact(Ball::from_i64(i64::MIN), "-9223372036854775808");
        assert!((Ball::ONE / three).radius > 0.0);
    }

    #[test]
    fn a_summand_that_is_far_below_widens_the_other_by_as_much() {
        let third = Ball::from_rational(&number("1/3"));
        for gap in [200, 249, 250, 251, 252, 300, 5000] {
            let small = Ball { exponent: third.exponent - gap, ..third };
            for sum in [third + small, small + third] {
                assert!(holds(sum, &parts(third).0.add(&parts(small).0)));
                assert!(sum.relative_error() < 1.01 * (ADDITION + third.relative_error()), "{gap}");
            }
            let exact = Ball::ONE + Ball { exponent: -gap, ..Ball::ONE };
            assert!(
                holds(exact, &Rational::from(1i64).add(&two_to_the(-gap - 1))) && exact.radius < 1e-58,
                "{gap}"
            );
        }
    }

    #[test]
    fn what_is_too_large_or_too_small_is_still_enclosed() {
        let at = |exponent| Ball { exponent, ..Ball::ONE };
        let ends = |x: Ball| (x.to_enclosure().lower(), x.to_enclosure().upper());
        let everything = (f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!(ends(at(LARGEST_EXPONENT) * at(LARGEST_EXPONENT)), everything);
        assert_eq!(ends(at(LARGEST_EXPONENT - 5)), (f64::MAX, f64::INFINITY));
        let tiny = at(-LARGEST_EXPONENT) * at(-LARGEST_EXPONENT);
        assert_eq!(ends(tiny), (-f64::from_bits(1), f64::from_bits(1)));
        assert!(tiny.exponent == -LARGEST_EXPONENT && tiny.radius >= 1.0 && tiny.radius <= 2.0);
        assert_eq!(ends(at(51).exp()), everything);
        assert_eq!(ends((-at(51)).exp()), (-f64::from_bits(1), f64::from_bits(1)));
        assert_eq!((-at(51)).exp().exponent, -(1 << 49));
        let vague = Ball { radius: 0.6, ..Ball::from_u64(4) };
        assert_eq!(ends(vague.exp()), everything);
        assert_eq!(ends((-Ball::ONE).ln()), everything);
        assert_eq!(ends(Ball::ZERO.ln()), everything);
        assert_eq!(ends(Ball::ONE / Ball::ZERO), everything);
        assert!(ends(at(41).exp()).1.is_infinite() && at(41).exp().relative_error() < 1e-15);
        let small = at(-500).exp();
        assert!(holds(small, &Rational::from(1i64).add(&two_to_the(-501))) && small.radius < 1e-29);
        assert_eq!(at(2000).to_double_with_error().map(|x| x.0), None);
        assert_eq!(at(-2000).to_double_with_error(), Some((0.0, 2f64.powi(-899))));
        assert!(at(901).to_double_double().is_none() && at(-901).to_double_double().is_none());
        assert!(at(900).to_double_double().is_some() && at(-900).to_double_double().is_some());
    }

    #[test]
    fn an_integer_part_that_makes_no_sense_is_refused() {
        let floor = |text: &str| Ball::from_rational(&number(text)).floor_or_above();
        assert_eq!(floor("7/3"), Some(2));
        assert_eq!(floor("3"), Some(3));
        assert_eq!(floor("0"), Some(0));
        assert_eq!(floor("-1/3"), None);
        assert_eq!(floor("9007199254740992"), Some(1 << 53));
        assert_eq!(floor("9007199254740994"), None);
        // Thirty digits tell it from 3, an enclosure in doubles does not.
        assert_eq!(floor("2.9999999999999999999999999"), Some(2));
        assert_eq!(floor("3.0000000000000000000000001"), Some(3));
        let wide = |radius| Ball::normalised(DoubleDouble::from_f64(5.5), 0, radius).floor_or_above();
        assert_eq!((wide(0.4), wide(0.6), wide(2.0)), (Some(5), None, None));
        let across = Ball::normalised(DoubleDouble::from_f64(5.9), 0, 0.2).floor_or_above();
        assert_eq!(across, Some(6));
    }

    #[test]
    fn nothing_that_is_known_of_one_factor_bounds_an_unknown_other() {
        let third = Ball::from_rational(&Rational::parse("1/3").unwrap());
        for factor in [Ball::ONE, Ball::from_u64(3), third] {
            for product in
                [Ball::WHOLE * factor, factor * Ball::WHOLE, Ball::WHOLE / factor, Ball::WHOLE + factor]
            {
                let ends = product.to_enclosure();
                assert!(ends.lower() == f64::NEG_INFINITY && ends.upper() == f64::INFINITY, "{product:?}");
            }
        }
    }
}
