//! Complex numbers in doubles, with a bound of their errors.
//!
//! A [`ComplexBall`] contains the number it stands for: `|z − (re + i im)| ≤ radius`. A product of complex doubles errs by at most `√5 u |a||b|`
//! (Brent, Percival and Zimmermann, *Error bounds on complex floating-point multiplication*), a sum by `√2 u |a + b|`. Radii are computed in
//! doubles from non-negative terms by fewer than 16 operations, and enlarged by `2^-48` for that and by [`LEAST`] for underflow.

use crate::numbers::ball::Ball;
use crate::numbers::complex::Complex;

/// Half an ulp of one.
pub(crate) const ROUNDING: f64 = f64::EPSILON / 2.0;
/// More than anything that is lost to underflow in one operation.
const LEAST: f64 = 1e-290;
/// More than `√5`.
const PRODUCT: f64 = 2.24;

/// A complex number, certified: see the module documentation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComplexBall {
    pub re: f64,
    pub im: f64,
    pub radius: f64,
}

fn enlarged(radius: f64) -> f64 {
    radius * (1.0 + 1.0 / ((1u64 << 48) as f64)) + LEAST
}

impl ComplexBall {
    pub const ZERO: Self = Self { re: 0.0, im: 0.0, radius: 0.0 };
    pub const ONE: Self = Self { re: 1.0, im: 0.0, radius: 0.0 };

    /// The unit disc.
    pub const UNKNOWN: Self = Self { radius: 1.0, ..Self::ZERO };

    /// Both parts of a ball to doubles; anything where they say nothing.
    pub fn from_complex(z: Complex) -> Self {
        let part = |x: Ball| x.to_double_with_error().unwrap_or((0.0, f64::INFINITY));
        let ((re, one), (im, other)) = (part(z.re), part(z.im));
        Self { re, im, radius: enlarged(one + other) }
    }

    pub fn to_complex(self) -> Complex {
        let exact = |x: f64| Ball::from_f64(x).unwrap_or(Ball::WHOLE);
        let spread = Ball::ZERO.plus_at_most(exact(self.radius));
        Complex { re: exact(self.re) + spread, im: exact(self.im) + spread }
    }

    /// An upper bound of `|re + i im|`.
    pub fn modulus(self) -> f64 {
        let square = self.re * self.re + self.im * self.im;
        // A square that underflows has a root far above LEAST.
        enlarged(if square < LEAST { self.re.abs() + self.im.abs() } else { square.sqrt() })
    }

    /// An upper bound of the modulus of every number in it.
    pub fn largest(self) -> f64 {
        enlarged(self.modulus() + self.radius)
    }

    pub fn times(self, other: Self) -> Self {
        let (size, with) = (self.modulus(), other.modulus());
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
            radius: enlarged(
                size * other.radius
                    + with * self.radius
                    + self.radius * other.radius
                    + PRODUCT * ROUNDING * size * with,
            ),
        }
    }

    pub fn plus(self, other: Self) -> Self {
        let (re, im) = (self.re + other.re, self.im + other.im);
        let rounding = 1.5 * ROUNDING * (re.abs() + im.abs());
        Self { re, im, radius: enlarged(self.radius + other.radius + rounding) }
    }

    pub fn conjugate(self) -> Self {
        Self { im: -self.im, ..self }
    }

    /// By a double, exactly given.
    pub fn scaled(self, by: f64) -> Self {
        let (re, im) = (self.re * by, self.im * by);
        let rounding = ROUNDING * (re.abs() + im.abs());
        Self { re, im, radius: enlarged(self.radius * by.abs() + rounding) }
    }

    /// `z^n` by repeated squaring.
    pub fn power(self, mut n: u64) -> Self {
        let (mut result, mut square) = (Self::ONE, self);
        loop {
            if n & 1 == 1 {
                result = result.times(square);
            }
            n >>= 1;
            if n == 0 {
                return result;
            }
            square = square.times(square);
        }
    }

    /// `1/z`; anything where zero may be the number.
    pub fn reciprocal(self) -> Self {
        // |1/z − 1/m| ≤ radius/(|m|(|m| − radius)); conj(m)/|m|² errs by less than 8u/|m|.
        let square = self.re * self.re + self.im * self.im;
        let size = square.sqrt() * (1.0 - 8.0 * ROUNDING);
        let rest = size - self.radius;
        if !(rest > 0.0 && square > LEAST && square < 1.0 / LEAST) {
            return Self { radius: f64::INFINITY, ..Self::ZERO };
        }
        let radius = enlarged(self.radius / (size * rest) + 8.0 * ROUNDING / size);
        Self { re: self.re / square, im: -self.im / square, radius }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn contains(disc: ComplexBall, z: Complex) -> bool {
        let far = |x: Ball, at: f64| {
            (x - Ball::from_f64(at).unwrap())
                .to_enclosure()
                .lower()
                .abs()
                .max((x - Ball::from_f64(at).unwrap()).to_enclosure().upper().abs())
        };
        far(z.re, disc.re).hypot(far(z.im, disc.im)) <= disc.radius * (1.0 + 1e-9)
    }

    fn exact(re: f64, im: f64) -> (ComplexBall, Complex) {
        let ball = |x: f64| Ball::from_f64(x).unwrap();
        (ComplexBall { re, im, radius: 0.0 }, Complex { re: ball(re), im: ball(im) })
    }

    proptest! {
        #[test]
        fn every_operation_contains_what_balls_find(a in -2.0..2.0f64, b in -2.0..2.0f64, c in -2.0..2.0f64, d in 0.1..2.0f64, n in 0u64..40) {
            let ((x, p), (y, q)) = (exact(a, b), exact(c, d));
            prop_assert!(contains(x.times(y), p * q));
            prop_assert!(contains(x.plus(y), p + q));
            prop_assert!(contains(x.scaled(c), p.scale(Ball::from_f64(c).unwrap())));
            prop_assert!(contains(y.reciprocal(), q.reciprocal()));
            let power = (0..n).fold(Complex::real(Ball::ONE), |product, _| product * p);
            prop_assert!(contains(x.power(n), power));
            prop_assert!(x.power(n).radius <= 1e-13 * x.modulus().powi(n as i32) + 1e-280);
            // Of numbers that are not exact, every member.
            let wide = ComplexBall { radius: 1e-3, ..y };
            let member = Complex { re: q.re + Ball::from_f64(0.6e-3).unwrap(), im: q.im - Ball::from_f64(0.8e-3).unwrap() };
            prop_assert!(contains(wide.times(x), member * p));
            prop_assert!(contains(wide.reciprocal(), member.reciprocal()));
            prop_assert!(contains(wide.power(3), member * member * member));
        }
    }

    #[test]
    fn what_underflows_and_what_is_not_known_stays_inside() {
        for size in [1e-150, 1e-170, 1e-300] {
            let small = ComplexBall { re: size, im: -size, radius: 0.0 };
            assert!(small.modulus() >= 1.41 * size && small.largest() >= small.modulus());
        }
        let unknown = ComplexBall { radius: f64::INFINITY, ..ComplexBall::ONE };
        for disc in [
            unknown,
            unknown.times(ComplexBall::ZERO),
            unknown.plus(ComplexBall::ONE),
            ComplexBall::ZERO.reciprocal(),
        ] {
            assert!(disc.to_complex().re.to_enclosure().upper() == f64::INFINITY);
        }
        let near_zero = ComplexBall { re: 1.0, im: 0.0, radius: 1.0 };
        assert!(near_zero.reciprocal().radius.is_infinite());
    }
}
