//! Balls of big integers: `(mantissa ± radius) · 2^exponent`.
//!
//! The radius counts units in the last place of the mantissa and stays below `2^34`: digits that are no longer known are
//! dropped, and what is exact stays exact while it fits. Each operation takes the number of bits that are worth
//! keeping. Exponents are 128 bits wide: a power of up to `2^53` of a number whose own exponent fits 64 bits
//! cannot overflow them.
//!
//! An operation whose result cannot be enclosed at this precision (a quotient by a ball around zero) returns nothing; the
//! caller comes back with more bits.

use crate::numbers::rational::Rational;
use dashu_int::ops::{BitTest, UnsignedAbs};
use dashu_int::{IBig, Sign, UBig};

/// Bits of a radius after an operation; two units of rounding may be added to that.
const RADIUS_BITS: usize = 32;

/// A number known to lie within `radius` units of `mantissa`, the unit being `2^exponent`.
#[derive(Clone, Debug)]
pub struct Ball {
    mantissa: IBig,
    radius: u64,
    exponent: i128,
}

/// The bits of `x` as a shift.
pub(crate) fn length(x: &IBig) -> usize {
    x.bit_len()
}

/// `x · 2^shift`, rounded down.
pub(crate) fn shifted(x: &IBig, shift: i128) -> IBig {
    let by = usize::try_from(shift.unsigned_abs()).unwrap_or(usize::MAX);
    match shift {
        0 => x.clone(),
        1.. => x << by,
        _ => x >> by,
    }
}

/// At least `x · 2^shift`, and less than one above. Every caller keeps the result below `2^126`.
fn scaled_up(x: u128, shift: i128) -> u128 {
    match shift {
        0.. if shift >= i128::from(x.leading_zeros()) => u128::MAX >> 2,
        0.. => x << shift,
        -127..0 => (x >> -shift) + 1,
        _ => u128::from(x != 0),
    }
}

fn bits_of(x: u128) -> usize {
    128 - x.leading_zeros() as usize
}

impl Ball {
    /// Zero, exactly.
    pub(crate) fn zero() -> Self {
        Self { mantissa: IBig::ZERO, radius: 0, exponent: 0 }
    }

    /// One, exactly.
    pub(crate) fn one() -> Self {
        Self::from(1u64)
    }

    /// `mantissa · 2^exponent`, exactly.
    pub(crate) fn dyadic(mantissa: IBig, exponent: i128) -> Self {
        Self { mantissa, radius: 0, exponent }
    }

    /// `(mantissa ± radius) · 2^exponent`, without digits that are not known.
    pub(crate) fn new(mantissa: IBig, radius: u128, exponent: i128, bits: usize) -> Self {
        let drop = length(&mantissa).saturating_sub(bits).max(bits_of(radius).saturating_sub(RADIUS_BITS));
        if drop == 0 {
            return Self { mantissa, radius: radius as u64, exponent };
        }
        // Rounding the mantissa down moves it by less than a unit; rounding the radius down by less than another.
        let lost = u64::from(mantissa.trailing_zeros().is_some_and(|zeros| zeros < drop));
        let left = if drop < 128 { radius >> drop } else { 0 };
        let radius = left as u64 + lost + u64::from(radius != 0);
        let mantissa =
            if drop > length(&mantissa) { shifted(&mantissa, -(drop as i128)) } else { mantissa >> drop };
        Self { mantissa, radius, exponent: exponent + drop as i128 }
    }

    /// The rational, to `bits` bits.
    pub(crate) fn rational(x: &Rational, bits: usize) -> Self {
        let bottom = Self::dyadic(IBig::from(x.denominator().clone()), 0);
        let top = Self::dyadic(x.numerator().clone(), 0);
        if *x.denominator() == UBig::ONE {
            return top.rounded(bits);
        }
        top.over(&bottom, bits).unwrap_or_else(Self::zero)
    }

    /// The same to at most `bits` bits.
    pub(crate) fn rounded(&self, bits: usize) -> Self {
        Self::new(self.mantissa.clone(), u128::from(self.radius), self.exponent, bits)
    }

    /// The midpoint, exactly.
    pub(crate) fn midpoint(&self) -> Self {
        Self { radius: 0, ..self.clone() }
    }

    /// Lower end, as `mantissa · 2^exponent`.
    pub(crate) fn lower(&self) -> (IBig, i128) {
        (&self.mantissa - IBig::from(self.radius), self.exponent)
    }

    /// Upper end, as `mantissa · 2^exponent`.
    pub(crate) fn upper(&self) -> (IBig, i128) {
        (&self.mantissa + IBig::from(self.radius), self.exponent)
    }

    /// The smallest ball with the two ends.
    pub(crate) fn between(lower: &Self, upper: &Self, bits: usize) -> Self {
        let centre = lower.plus(upper, bits).half();
        let spread = upper.minus(lower, bits + 64).half();
        centre.widened(&spread, bits)
    }

    /// Whether it is a single number.
    pub(crate) fn is_exact(&self) -> bool {
        self.radius == 0
    }

    /// Whether every number in the ball is above zero.
    pub(crate) fn is_positive(&self) -> bool {
        self.mantissa > IBig::from(self.radius)
    }

    /// Whether no number in the ball is above zero.
    pub(crate) fn is_not_positive(&self) -> bool {
        self.mantissa <= -IBig::from(self.radius)
    }

    /// Zero and nothing else.
    pub(crate) fn is_zero(&self) -> bool {
        self.radius == 0 && self.mantissa.is_zero()
    }

    /// `self − other` is certainly positive.
    pub(crate) fn exceeds(&self, other: &Self) -> bool {
        // Exact alignment decides what rounding could not; it is cheap unless the exponents are far apart.
        let (low, high) = (self.lower(), other.upper());
        compare(&low, &high).is_gt()
    }

    /// Bits of relative accuracy: `width ≤ 2^-accuracy · |x|` for every member; `i128::MAX` for an exact number.
    pub(crate) fn accuracy(&self) -> i128 {
        if self.radius == 0 {
            return i128::MAX;
        }
        // |x| ≥ 2^(length−1) − radius ≥ 2^(length−2) where the radius has two bits less than the mantissa.
        let (size, spread) = (length(&self.mantissa) as i128, bits_of(u128::from(self.radius)) as i128);
        size - 3 - spread
    }

    /// An upper bound of `log2 |x|`; for zero far below any number.
    pub(crate) fn log2(&self) -> i128 {
        if self.is_zero() {
            return -(1 << 100);
        }
        self.exponent + length(&self.mantissa).max(bits_of(u128::from(self.radius))) as i128 + 1
    }

    /// A double next to the midpoint: for deciding how to work, never for a bound.
    pub(crate) fn to_f64(&self) -> f64 {
        let size = length(&self.mantissa) as i128;
        let top = shifted(&self.mantissa, 62 - size);
        let top = i64::try_from(top).unwrap_or(i64::MAX) as f64;
        top * power_of_two(self.exponent + size - 62)
    }

    /// `[lower, upper]` around the ball in doubles, for numbers between `2^-900` and `2^900` in size, or zero.
    pub(crate) fn to_doubles(&self) -> (f64, f64) {
        // to_f64 errs by at most three roundings and a floor in 62 bits, the radius by two.
        let (middle, spread) = (self.to_f64(), self.radius as f64 * power_of_two(self.exponent));
        let slack = spread * (1.0 + 1e-12) + middle.abs() * 1e-15;
        (middle - slack * (1.0 + 1e-12), middle + slack * (1.0 + 1e-12))
    }

    /// `2^k x`, exactly.
    pub(crate) fn scaled(&self, k: i128) -> Self {
        Self { exponent: self.exponent + k, ..self.clone() }
    }

    pub(crate) fn half(&self) -> Self {
        self.scaled(-1)
    }

    /// `x` with `|spread|` added to its radius.
    pub(crate) fn widened(&self, spread: &Self, bits: usize) -> Self {
        let (top, exponent) = spread.magnitude();
        let error = Self { mantissa: IBig::ZERO, radius: top, exponent };
        self.plus(&error, bits)
    }

    /// `(t, e)` with `|x| ≤ t · 2^e` and `t < 2^34`.
    fn magnitude(&self) -> (u64, i128) {
        let (top, shift) = leading(&self.mantissa);
        let radius = scaled_up(u128::from(self.radius), -(shift as i128)) as u64;
        (top + radius, self.exponent + shift as i128)
    }

    /// The sum.
    ///
    /// Aligned to a unit that keeps `bits` bits of the larger summand and that no radius outgrows.
    pub(crate) fn plus(&self, other: &Self, bits: usize) -> Self {
        if self.is_zero() {
            return other.rounded(bits);
        }
        if other.is_zero() {
            return self.rounded(bits);
        }
        let top = self.log2().max(other.log2());
        let finest = |x: &Self| if x.radius == 0 { i128::MIN } else { x.exponent - 16 };
        let unit = self.exponent.min(other.exponent).max(top - bits as i128 - 4);
        let unit = unit.max(finest(self)).max(finest(other));
        let ((a, r), (b, s)) = (self.aligned(unit), other.aligned(unit));
        Self::new(a + b, r + s, unit, bits)
    }

    /// Mantissa and radius in units of `2^unit`; the floor moves the mantissa by less than one unit.
    fn aligned(&self, unit: i128) -> (IBig, u128) {
        let shift = self.exponent - unit;
        let radius = if self.radius == 0 { 0 } else { scaled_up(u128::from(self.radius), shift) };
        (shifted(&self.mantissa, shift), radius + u128::from(shift < 0))
    }

    /// The difference.
    pub(crate) fn minus(&self, other: &Self, bits: usize) -> Self {
        self.plus(&other.negative(), bits)
    }

    pub(crate) fn negative(&self) -> Self {
        Self { mantissa: -&self.mantissa, ..self.clone() }
    }

    /// The product: `|(a+α)(b+β) − ab| ≤ |a||β| + |b||α| + |α||β|`, with `|a|`, `|b|` rounded up to 33 bits.
    pub(crate) fn times(&self, other: &Self, bits: usize) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::zero();
        }
        let product = &self.mantissa * &other.mantissa;
        let exponent = self.exponent + other.exponent;
        if self.radius == 0 && other.radius == 0 {
            return Self::new(product, 0, exponent, bits);
        }
        let ((a, left), (b, right)) = (leading(&self.mantissa), leading(&other.mantissa));
        // Bits of the product that lie below the error or exceed the wanted precision.
        let known = |radius: u64, shift: usize| if radius == 0 { 0 } else { shift };
        let drop = known(other.radius, left)
            .max(known(self.radius, right))
            .max(length(&product).saturating_sub(bits + 8))
            .saturating_sub(4);
        let part = |size: u64, shift: usize, radius: u64| {
            if radius == 0 {
                0
            } else {
                scaled_up(u128::from(size) * u128::from(radius), shift as i128 - drop as i128)
            }
        };
        let both = scaled_up(u128::from(self.radius) * u128::from(other.radius), -(drop as i128));
        let radius = part(a, left, other.radius) + part(b, right, self.radius) + both + 1;
        Self::new(product >> drop, radius, exponent + drop as i128, bits)
    }

    /// `n x`.
    pub(crate) fn times_integer(&self, n: u64, bits: usize) -> Self {
        self.times(&Self::from(n), bits)
    }

    /// The quotient; nothing if the divisor may be zero.
    ///
    /// `|(a+α)/(b+β) − a/b| = |αb − βa| / |b(b+β)| ≤ (|α| + |β||a/b|)/(|b| − |β|)`, and the integer quotient errs by one.
    pub(crate) fn over(&self, other: &Self, bits: usize) -> Option<Self> {
        let (divisor, down) = other.least_magnitude()?;
        let (size, other_size) = (length(&self.mantissa), length(&other.mantissa));
        let known = |x: &Self, size: usize| if x.radius == 0 { bits } else { size.min(bits) };
        let wanted = known(self, size).min(known(other, other_size)) + other_size + 3;
        if size > wanted && (self.radius > 0 || other.radius > 0) {
            // Bits far beyond what is known of the divisor would only make the radius too large to be counted: now the
            // quotient has at most known + 4 bits, and the shifts below are at most 52 where the divisor is short.
            return self.rounded(wanted).over(other, bits);
        }
        let up = wanted.saturating_sub(size);
        let top = &self.mantissa << up;
        let quotient = &top / &other.mantissa;
        let exponent = self.exponent - other.exponent - up as i128;
        if self.radius == 0 && other.radius == 0 {
            let inexact = u128::from(&quotient * &other.mantissa != top);
            return Some(Self::new(quotient, inexact, exponent, bits));
        }
        let per_divisor = |x: u128, shift: i128| if x == 0 { 0 } else { scaled_up(x, shift) / divisor + 1 };
        let (ratio, shift) = leading(&quotient);
        let radius = per_divisor(u128::from(self.radius), up as i128 - down as i128)
            + per_divisor(u128::from(other.radius) * u128::from(ratio + 1), shift as i128 - down as i128)
            + 1;
        Some(Self::new(quotient, radius, exponent, bits))
    }

    /// `(t, k)` with `|mantissa| − radius ≥ t · 2^k > 0`; nothing if zero is a member.
    fn least_magnitude(&self) -> Option<(u128, usize)> {
        let size = length(&self.mantissa);
        // A radius has at most 34 bits, so beyond 80 it is far below the 32nd leading bit.
        let shift = if size > 80 { size - 32 } else { 0 };
        let top = u128::try_from((&self.mantissa).unsigned_abs() >> shift).ok()?;
        let radius = if shift == 0 { u128::from(self.radius) } else { 1 };
        top.checked_sub(radius).filter(|&least| least > 0).map(|least| (least, shift))
    }

    /// `x^n`, by squaring.
    pub(crate) fn power(&self, n: u64, bits: usize) -> Self {
        let mut result = Self::one();
        for place in (0..64 - n.leading_zeros()).rev() {
            result = result.times(&result, bits);
            if n >> place & 1 == 1 {
                result = result.times(self, bits);
            }
        }
        result
    }

    /// The larger of two unknown numbers.
    pub(crate) fn largest(self, other: Self, bits: usize) -> Self {
        self.extreme(other, bits, false)
    }

    /// The smaller of two unknown numbers.
    pub(crate) fn least(self, other: Self, bits: usize) -> Self {
        self.extreme(other, bits, true)
    }

    fn extreme(self, other: Self, bits: usize, least: bool) -> Self {
        let pick = |a: (IBig, i128), b: (IBig, i128)| if compare(&a, &b).is_lt() == least { a } else { b };
        let lower = pick(self.lower(), other.lower());
        let upper = pick(self.upper(), other.upper());
        for ball in [self, other] {
            if compare(&ball.lower(), &lower).is_eq() && compare(&ball.upper(), &upper).is_eq() {
                return ball;
            }
        }
        Self::between(&Self::dyadic(lower.0, lower.1), &Self::dyadic(upper.0, upper.1), bits)
    }

    /// The integer part of every member, if it is the same.
    pub(crate) fn floor(&self) -> Option<IBig> {
        let (low, high) = (self.lower(), self.upper());
        let low = shifted(&low.0, low.1);
        (low == shifted(&high.0, high.1)).then_some(low)
    }

    /// The midpoint in units of `2^-places`, rounded down.
    pub(crate) fn to_fixed(&self, places: usize) -> IBig {
        shifted(&self.mantissa, self.exponent + places as i128)
    }

    /// The radius, as a number.
    pub(crate) fn spread(&self) -> Self {
        Self::dyadic(IBig::from(self.radius), self.exponent)
    }
}

impl From<u64> for Ball {
    fn from(n: u64) -> Self {
        Self::dyadic(IBig::from(n), 0)
    }
}

/// `(t, k)` with `|x| ≤ t · 2^k`, `t ≤ 2^32`.
fn leading(x: &IBig) -> (u64, usize) {
    let shift = length(x).saturating_sub(32);
    let top = i64::try_from(x >> shift).map_or(1 << 32, i64::unsigned_abs);
    (top + u64::from(shift > 0), shift)
}

/// The order of two dyadic numbers.
pub(crate) fn compare(a: &(IBig, i128), b: &(IBig, i128)) -> std::cmp::Ordering {
    let sign = |x: &IBig| i8::from(!x.is_zero()) * if x.sign() == Sign::Negative { -1 } else { 1 };
    let (s, t) = (sign(&a.0), sign(&b.0));
    if s != t || s == 0 {
        return s.cmp(&t);
    }
    let place = |x: &(IBig, i128)| x.1 + length(&x.0) as i128;
    if place(a) != place(b) {
        let larger = place(a).cmp(&place(b));
        return if s > 0 { larger } else { larger.reverse() };
    }
    let unit = a.1.min(b.1);
    shifted(&a.0, a.1 - unit).cmp(&shifted(&b.0, b.1 - unit))
}

/// `2^k`; zero and infinity beyond the doubles.
fn power_of_two(k: i128) -> f64 {
    match k {
        1024.. => f64::INFINITY,
        -1022..1024 => f64::from_bits(((k + 1023) as u64) << 52),
        -1074..-1022 => f64::from_bits(1 << (k + 1074)),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exact(x: &(IBig, i128)) -> Rational {
        let by = usize::try_from(x.1.unsigned_abs()).unwrap();
        if x.1 >= 0 {
            Rational::from(&x.0 << by)
        } else {
            Rational::new(x.0.clone(), UBig::ONE << by).unwrap()
        }
    }

    fn contains(ball: &Ball, x: &Rational) -> bool {
        exact(&ball.lower()) <= *x && *x <= exact(&ball.upper())
    }

    /// Many balls are exact.
    fn radius() -> impl Strategy<Value = u64> {
        prop_oneof![Just(0), 0u64..8, 0u64..1 << 33]
    }

    prop_compose! {
        /// A ball, and a member of it.
        fn member()(m in any::<i128>(), less in 0usize..127, more in 0usize..1000, r in radius(), e in -300i128..300, share in -8i64..=8)
            -> (Ball, Rational)
        {
            let mantissa = (IBig::from(m >> less) << more) + IBig::from(m >> less >> 3);
            let ball = Ball { mantissa: mantissa.clone(), radius: r, exponent: e };
            let inside = (mantissa * IBig::from(8)) + IBig::from(r) * IBig::from(share);
            (ball, exact(&(inside, e - 3)))
        }
    }

    proptest! {
        #[test]
        fn results_contain_the_results_of_members((a, x) in member(), (b, y) in member(), bits in 20usize..400) {
            prop_assert!(contains(&a.plus(&b, bits), &x.add(&y)));
            prop_assert!(contains(&a.minus(&b, bits), &x.sub(&y)));
            prop_assert!(contains(&a.times(&b, bits), &x.mul(&y)));
            prop_assert!(contains(&a.rounded(bits), &x));
            if let Some(quotient) = a.over(&b, bits) {
                prop_assert!(contains(&quotient, &x.div(&y).unwrap()));
            }
            let larger = a.clone().largest(b.clone(), bits);
            prop_assert!(contains(&larger, (&x).max(&y)));
            let smaller = a.clone().least(b.clone(), bits);
            prop_assert!(contains(&smaller, (&x).min(&y)));
            prop_assert!(contains(&a.widened(&b, bits), &x.add(&y)) && contains(&a.widened(&b, bits), &x.sub(&y)));
            if a.exceeds(&b) {
                prop_assert!(x > y);
            }
            let (low, high) = a.to_doubles();
            if a.log2() < 900 && a.exponent > -900 {
                prop_assert!(Rational::from_f64(low).unwrap() <= x && x <= Rational::from_f64(high).unwrap());
            }
        }

        #[test]
        fn rounding_costs_a_few_units(a in any::<i64>(), b in 1i64..i64::MAX, n in 1u64..1 << 53, bits in 80usize..400) {
            prop_assume!(a != 0);
            let (x, y) = (Ball::dyadic(IBig::from(a), 0), Ball::dyadic(IBig::from(b), -70));
            let wanted = bits as i128 - 8;
            let quotient = x.over(&y, bits).unwrap();
            prop_assert!(quotient.accuracy() >= wanted);
            for value in [quotient.times(&quotient, bits), quotient.plus(&Ball::one(), bits)] {
                prop_assert!(value.accuracy() >= wanted - 3 || value.log2() < 1);
            }
            let power = Ball::rational(&Rational::parse("2/3").unwrap(), bits).power(n, bits);
            prop_assert!(power.accuracy() >= wanted - 64);
        }
    }

    #[test]
    fn numbers_are_scaled_at_the_edges_of_what_is_kept() {
        for (k, power) in
            [(1024, f64::INFINITY), (-1022, f64::MIN_POSITIVE), (-1074, 5e-324), (-1075, 0.0), (0, 1.0)]
        {
            assert_eq!(power_of_two(k).to_bits(), power.to_bits(), "{k}");
        }
        assert_eq!(
            (power_of_two(1023) / 2.0, power_of_two(-1023)),
            (power_of_two(1022), f64::MIN_POSITIVE / 2.0)
        );
        for (x, shift, above) in [
            (3, 0, 3),
            (3, 5, 96),
            (3, 125, 3 << 125),
            (3, 126, u128::MAX >> 2),
            (9, -1, 5),
            (1 << 127, -127, 2),
            (u128::MAX, -128, 1),
            (0, -128, 0),
            (0, 3, 0),
        ] {
            assert_eq!(scaled_up(x, shift), above, "{x} · 2^{shift}");
        }
        for (x, shift, below) in
            [(5, -1, 2), (-5, -1, -3), (5, -3, 0), (-5, -3, -1), (5, -99, 0), (-5, -99, -1), (5, 2, 20)]
        {
            assert_eq!(shifted(&IBig::from(x), shift), IBig::from(below), "{x} · 2^{shift}");
        }
    }

    /// Ends of the same size are compared bit by bit, others by where they begin.
    #[test]
    fn dyadic_numbers_are_ordered_as_rationals_are() {
        let numbers: Vec<_> = [
            (0, 3),
            (1, 0),
            (2, -1),
            (1, 1),
            (3, 0),
            (3, -1),
            (-1, 0),
            (-2, -1),
            (-1, 1),
            (-3, 0),
            (7, -90),
            (-7, -90),
        ]
        .map(|(m, e)| (IBig::from(m), e))
        .to_vec();
        for a in &numbers {
            for b in &numbers {
                assert_eq!(compare(a, b), exact(a).cmp(&exact(b)), "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn what_is_exact_stays_exact() {
        let half = Ball::rational(&Rational::parse("1/2").unwrap(), 100);
        assert!(half.power(1000, 100).is_exact());
        let six = Ball::from(6).over(&Ball::from(3), 50).unwrap();
        assert!(six.is_exact() && six.floor() == Some(IBig::from(2)));
        assert!(Ball::one().over(&Ball::zero(), 50).is_none());
    }
}
