//! Certified complex numbers: a ball for each of the two parts.

use crate::numbers::ball::Ball;
use crate::numbers::special::trigonometric::{angle, exp_minus_one, ln_one_plus, sin_cos};
use std::ops::{Add, Mul, Neg, Sub};

/// A complex number whose parts lie in two balls.
#[derive(Clone, Copy, Debug)]
pub struct Complex {
    /// Real part.
    pub re: Ball,
    /// Imaginary part.
    pub im: Ball,
}

impl Complex {
    /// A real number.
    #[must_use]
    pub fn real(re: Ball) -> Self {
        Self { re, im: Ball::ZERO }
    }

    /// The product with a real number.
    #[must_use]
    pub fn scale(self, by: Ball) -> Self {
        Self { re: self.re * by, im: self.im * by }
    }

    /// `1/z`; anything where zero may be the number.
    #[must_use]
    pub fn reciprocal(self) -> Self {
        let size = self.re * self.re + self.im * self.im;
        Self { re: self.re / size, im: -self.im / size }
    }

    /// `e^z`.
    #[must_use]
    pub fn exp(self) -> Self {
        let (sine, cosine) = sin_cos(self.im);
        let modulus = self.re.exp();
        Self { re: modulus * cosine, im: modulus * sine }
    }

    /// `e^z − 1`, with the accuracy of `|z|` next to zero: `e^x cos y − 1 = (e^x − 1) − 2 e^x sin²(y/2)`.
    #[must_use]
    pub fn exp_minus_one(self) -> Self {
        let (sine, cosine) = sin_cos(self.im / Ball::from_u64(2));
        let twice = Ball::from_u64(2) * self.re.exp() * sine;
        Self { re: exp_minus_one(self.re) - twice * sine, im: twice * cosine }
    }

    /// `ln(1 + z)` up to a multiple of `2πi`, with the accuracy of `|z|` next to zero: `|1 + z|² = 1 + 2x + x² + y²`.
    #[must_use]
    pub fn ln_one_plus(self) -> Self {
        let Self { re: x, im: y } = self;
        let two = Ball::from_u64(2);
        Self { re: ln_one_plus(x * (two + x) + y * y) / two, im: angle(Ball::ONE + x, y) }
    }
}

impl Add for Complex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Sub for Complex {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Neg for Complex {
    type Output = Self;

    fn neg(self) -> Self {
        Self { re: -self.re, im: -self.im }
    }
}

impl Mul for Complex {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::double_double::DoubleDouble;
    use proptest::prelude::*;

    fn complex(x: f64, y: f64) -> Complex {
        let exact = |x: f64| Ball::from_double_double(DoubleDouble::from_f64(x), 0.0);
        Complex { re: exact(x), im: exact(y) }
    }

    fn near(a: Complex, b: Complex, width: f64) -> bool {
        [a.re - b.re, a.im - b.im].into_iter().all(|gap| {
            let ends = gap.to_enclosure();
            ends.lower() <= 0.0 && 0.0 <= ends.upper() && ends.width() <= width
        })
    }

    proptest! {
        #[test]
        fn the_functions_undo_and_agree_with_each_other(x in -2.0..2.0f64, y in -3.0..3.0f64, depth in 0i32..60) {
            let z = complex(x, y).scale(complex(2f64.powi(-depth), 0.0).re);
            let size = 2f64.powi(-depth);
            prop_assert!(near(z.exp_minus_one(), z.exp() - Complex::real(Ball::ONE), 1e-27));
            prop_assert!(near(z.exp_minus_one().ln_one_plus(), z, 1e-26 * size));
            prop_assert!(near(z * z.reciprocal(), Complex::real(Ball::ONE), 1e-26));
        }
    }
}
