//! `[lower, upper]` in doubles: the only kind of number that leaves the kernel.

use crate::error::Error;
use crate::numbers::double_double::{two_product, two_sum};
use crate::numbers::rational::Rational;
use std::ops::{Add, Mul, Neg, Sub};

/// A closed interval that contains the truth.
///
/// `lower ≤ upper`, neither is NaN; infinity may be a member. Arithmetic is rounded outwards, so the result
/// contains the result for any numbers in the operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Enclosure {
    lower: f64,
    upper: f64,
}

impl Enclosure {
    /// `[lower, upper]`.
    ///
    /// # Errors
    /// NaN, or `lower > upper`.
    pub fn new(lower: f64, upper: f64) -> Result<Self, Error> {
        if lower.is_nan() || upper.is_nan() || lower > upper {
            return Err(Error::argument(format!(
                "lower = {lower} and upper = {upper} do not bound an enclosure; lower ≤ upper is required"
            )));
        }
        Ok(Self::ordered(lower, upper))
    }

    /// For ends known to be in order; negative zero becomes zero.
    pub(crate) fn ordered(lower: f64, upper: f64) -> Self {
        Self { lower: lower + 0.0, upper: upper + 0.0 }
    }

    /// The point `[x, x]`; NaN becomes the whole line.
    #[must_use]
    pub fn point(x: f64) -> Self {
        if x.is_nan() { Self::ordered(f64::NEG_INFINITY, f64::INFINITY) } else { Self::ordered(x, x) }
    }

    /// Lower end.
    #[must_use]
    pub fn lower(self) -> f64 {
        self.lower
    }

    /// Upper end.
    #[must_use]
    pub fn upper(self) -> f64 {
        self.upper
    }

    /// `upper − lower`, rounded up; zero for `[∞, ∞]`.
    #[must_use]
    pub fn width(self) -> f64 {
        if self.lower.to_bits() == self.upper.to_bits() { 0.0 } else { add_up(self.upper, -self.lower) }
    }

    /// A double inside, next to the centre; nothing when an end is infinite.
    #[must_use]
    pub fn midpoint(self) -> Option<f64> {
        (self.lower.is_finite() && self.upper.is_finite())
            .then(|| (self.lower / 2.0 + self.upper / 2.0).clamp(self.lower, self.upper))
    }

    /// Whether the rational is a member, decided exactly.
    #[must_use]
    pub fn contains(self, x: &Rational) -> bool {
        let above_lower = Rational::from_f64(self.lower).map_or(self.lower < 0.0, |end| end <= *x);
        let below_upper = Rational::from_f64(self.upper).map_or(self.upper > 0.0, |end| *x <= end);
        above_lower && below_upper
    }

    /// The part between `least` and `most`, for a truth that is known to lie there.
    #[must_use]
    pub fn clamp(self, least: f64, most: f64) -> Self {
        Self::ordered(self.lower.clamp(least, most), self.upper.clamp(least, most))
    }

    /// `1/x`; the whole line if zero is a member.
    #[must_use]
    pub fn reciprocal(self) -> Self {
        if self.lower <= 0.0 && self.upper >= 0.0 {
            return Self::ordered(f64::NEG_INFINITY, f64::INFINITY);
        }
        Self::ordered(reciprocal_down(self.upper), -reciprocal_down(-self.lower))
    }
}

/// `a + b` rounded up, by the sign of the exact error.
fn add_up(a: f64, b: f64) -> f64 {
    let (sum, error) = two_sum(a, b);
    if sum.is_infinite() && a.is_finite() && b.is_finite() {
        return if sum > 0.0 { sum } else { -f64::MAX };
    }
    if sum.is_nan() {
        return f64::INFINITY;
    }
    // Next to the largest double the error itself may overflow on the way, and is not known.
    if error > 0.0 || (error.is_nan() && sum.is_finite()) { sum.next_up() } else { sum }
}

/// `a · b` rounded up; `0 · ∞ = 0`, the convention for ends of intervals.
fn mul_up(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 {
        return 0.0;
    }
    let product = a * b;
    if product.is_infinite() {
        let overflow = a.is_finite() && b.is_finite();
        return if product < 0.0 && overflow { -f64::MAX } else { product };
    }
    let splittable = |x: f64| x.abs() < 2f64.powi(990);
    if product.abs() > 2f64.powi(-960) && splittable(a) && splittable(b) && splittable(product) {
        let (product, error) = two_product(a, b);
        return if error > 0.0 { product.next_up() } else { product };
    }
    product.next_up()
}

/// `1/x` rounded down.
fn reciprocal_down(x: f64) -> f64 {
    if x.is_infinite() {
        return if x > 0.0 { 0.0 } else { -f64::from_bits(1) };
    }
    let quotient = 1.0 / x;
    if quotient.is_infinite() {
        return if x > 0.0 { f64::MAX } else { quotient };
    }
    if quotient.abs() < 2f64.powi(-900) || quotient.abs() > 2f64.powi(900) {
        return quotient.next_down();
    }
    // q ≤ 1/x is qx ≤ 1 for positive x and qx ≥ 1 for negative x; qx − 1 has the sign of its rounded sum.
    let (product, error) = two_product(quotient, x);
    let residual = (product - 1.0) + error;
    if residual * x.signum() <= 0.0 { quotient } else { quotient.next_down() }
}

impl Neg for Enclosure {
    type Output = Self;

    fn neg(self) -> Self {
        Self::ordered(-self.upper, -self.lower)
    }
}

impl Add for Enclosure {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::ordered(-add_up(-self.lower, -other.lower), add_up(self.upper, other.upper))
    }
}

impl Sub for Enclosure {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Enclosure {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let ends = [
            (self.lower, other.lower),
            (self.lower, other.upper),
            (self.upper, other.lower),
            (self.upper, other.upper),
        ];
        let upper = ends.iter().map(|&(a, b)| mul_up(a, b)).fold(f64::NEG_INFINITY, f64::max);
        let lower = ends.iter().map(|&(a, b)| -mul_up(-a, b)).fold(f64::INFINITY, f64::min);
        Self::ordered(lower, upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exact(x: f64) -> Rational {
        Rational::from_f64(x).unwrap()
    }

    #[test]
    fn sums_next_to_the_largest_double_are_rounded_outwards() {
        for x in [
            -8.009_864_281_493_292e306,
            4.488_189_232_838_178_6e307,
            -3.369_224_963_999_715_4e305,
            1e300,
            -1e-300,
        ] {
            for y in [f64::MAX, -f64::MAX, f64::MAX / 2.0] {
                let (one, other) = (Enclosure::point(x), Enclosure::point(y));
                assert!((one + other).contains(&exact(x).add(&exact(y))), "{x} + {y}");
                assert!((one - other).contains(&exact(x).sub(&exact(y))), "{x} - {y}");
            }
        }
    }

    proptest! {
        // Products lie between 2^-960 and 2^990: there errors are known, and ends are next to each other.
        #[test]
        fn arithmetic_contains_the_exact_result(
            a in any::<f64>().prop_filter("finite", |x| x.abs() < 1e149 && x.abs() > 1e-140),
            b in any::<f64>().prop_filter("finite", |x| x.abs() < 1e149 && x.abs() > 1e-140),
        ) {
            let (x, y) = (Enclosure::point(a), Enclosure::point(b));
            prop_assert!((x + y).contains(&exact(a).add(&exact(b))));
            prop_assert!((x - y).contains(&exact(a).sub(&exact(b))));
            prop_assert!((x * y).contains(&exact(a).mul(&exact(b))));
            let inverse = y.reciprocal();
            prop_assert!(inverse.contains(&Rational::from(1i64).div(&exact(b)).unwrap()));
            for result in [x + y, x - y, x * y, inverse] {
                prop_assert!(result.upper() <= result.lower().next_up());
            }
        }

        #[test]
        fn arithmetic_contains_the_exact_result_of_any_doubles(
            a in any::<f64>().prop_filter("finite", |x| x.is_finite()),
            b in any::<f64>().prop_filter("finite", |x| x.is_finite()),
        ) {
            let (x, y) = (Enclosure::point(a), Enclosure::point(b));
            let (sum, difference, product) = (exact(a).add(&exact(b)), exact(a).sub(&exact(b)), exact(a).mul(&exact(b)));
            for (result, truth) in [(x + y, sum), (x - y, difference), (x * y, product)] {
                prop_assert!(result.contains(&truth));
                prop_assert!(result.upper() <= result.lower().next_up().next_up());
                prop_assert!(result.lower() < f64::INFINITY && result.upper() > f64::NEG_INFINITY);
            }
            if let Some(truth) = Rational::from(1i64).div(&exact(a)) {
                let inverse = x.reciprocal();
                prop_assert!(inverse.contains(&truth));
                prop_assert!(inverse.upper() <= inverse.lower().next_up().next_up());
            }
        }

        #[test]
        fn arithmetic_of_intervals_is_that_of_their_ends(a in -9i32..9, b in 0i32..9, c in -9i32..9, d in 0i32..9) {
            let interval = |a: i32, b: i32| Enclosure::new(f64::from(a), f64::from(a + b)).unwrap();
            let (x, y) = (interval(a, b), interval(c, d));
            let every = |op: fn(i32, i32) -> i32| {
                let all: Vec<i32> = (a..=a + b).flat_map(|x| (c..=c + d).map(move |y| op(x, y))).collect();
                let (least, most) = (*all.iter().min().unwrap(), *all.iter().max().unwrap());
                Enclosure::new(f64::from(least), f64::from(most)).unwrap()
            };
            prop_assert_eq!(x + y, every(|x, y| x + y));
            prop_assert_eq!(x - y, every(|x, y| x - y));
            prop_assert_eq!(x * y, every(|x, y| x * y));
            prop_assert_eq!(-x, interval(-a - b, b));
            prop_assert_eq!(x.width(), f64::from(b));
            prop_assert_eq!(x.midpoint(), Some(f64::from(a) + f64::from(b) / 2.0));
            let inverse = x.reciprocal();
            if a <= 0 && a + b >= 0 {
                prop_assert!(inverse.lower() == f64::NEG_INFINITY && inverse.upper() == f64::INFINITY);
            } else {
                prop_assert!((inverse.lower() * f64::from(a + b) - 1.0).abs() < 1e-15 && (inverse.upper() * f64::from(a) - 1.0).abs() < 1e-15);
            }
        }

        #[test]
        fn a_rational_lies_in_its_narrowest_enclosure(top in -1_000_000_000i64..1_000_000_000, bottom in 1u64..1_000_000_000) {
            let x = Rational::from(top).div(&Rational::from(bottom)).unwrap();
            let enclosure = Enclosure::from(&x);
            prop_assert!(enclosure.contains(&x));
            prop_assert!(enclosure.upper() <= enclosure.lower().next_up());
            prop_assert_eq!(enclosure.width() == 0.0, exact(enclosure.lower()) == x);
        }
    }

    #[test]
    fn what_does_not_bound_an_enclosure_is_refused() {
        assert!(Enclosure::new(1.0, 0.0).is_err() && Enclosure::new(f64::NAN, 1.0).is_err());
    }

    #[test]
    fn ends_that_overflow_or_are_infinite_still_bound() {
        let (most, infinity, least) = (f64::MAX, f64::INFINITY, f64::from_bits(1));
        let interval = |a, b| Enclosure::new(a, b).unwrap();
        let point = Enclosure::point;
        assert_eq!(point(most) + point(most), interval(most, infinity));
        assert_eq!(point(-most) + point(-most), interval(-infinity, -most));
        assert_eq!(point(most) * point(2.0), interval(most, infinity));
        assert_eq!(point(most) * point(-2.0), interval(-infinity, -most));
        assert_eq!(point(infinity) * point(-2.0), point(-infinity));
        assert_eq!(interval(1.0, infinity) + interval(-infinity, 1.0), interval(-infinity, infinity));
        assert_eq!(point(0.0) * interval(-infinity, infinity), point(0.0));
        assert_eq!(point(least).reciprocal(), interval(most, infinity));
        assert_eq!(point(-least).reciprocal(), interval(-infinity, -most));
        assert_eq!(interval(4.0, infinity).reciprocal(), interval(0.0, 0.25));
        assert_eq!(interval(-infinity, -4.0).reciprocal(), interval(-0.25, 0.0));
        assert_eq!(interval(-infinity, -4.0).width(), infinity);
        assert_eq!(point(f64::NAN), interval(-infinity, infinity));
        assert_eq!(interval(-1.0, 3.0).clamp(0.0, 1.0), interval(0.0, 1.0));
        assert!(
            interval(0.0, 1.0).contains(&Rational::from(0i64))
                && !point(infinity).contains(&Rational::from(0i64))
        );
        assert!(!point(-infinity).contains(&Rational::from(0i64)));
    }

    #[test]
    fn infinity_may_be_a_member() {
        let infinite = Enclosure::new(f64::INFINITY, f64::INFINITY).unwrap();
        assert!(infinite.width() == 0.0 && infinite.midpoint().is_none());
        let half = Enclosure::new(3.0, f64::INFINITY).unwrap();
        assert!(half.width().is_infinite() && half.contains(&Rational::from(1_000_000i64)));
        assert!(!half.contains(&Rational::from(2i64)));
    }
}
