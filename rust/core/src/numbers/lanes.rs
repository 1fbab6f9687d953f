//! Four doubles at a time, and four double-doubles.
//!
//! Written so that a compiler that may use vector instructions does: what is done to one is done to all.

use crate::numbers::double_double::DoubleDouble;
use statpriv_simd::Arithmetic;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// How many.
pub(crate) const WIDTH: usize = 4;

/// Written out, because only what is inlined uses the backend's instructions.
#[inline(always)]
fn from_fn(f: impl Fn(usize) -> f64) -> [f64; WIDTH] {
    [f(0), f(1), f(2), f(3)]
}

/// Four doubles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes(pub [f64; WIDTH]);

impl Lanes {
    /// `first, first + step, …`
    #[inline(always)]
    pub fn from(first: f64, step: f64) -> Self {
        Self([first, first + step, first + 2.0 * step, first + 3.0 * step])
    }

    #[inline(always)]
    pub fn all(x: f64) -> Self {
        Self([x; WIDTH])
    }

    #[inline(always)]
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self(from_fn(|i| f(self.0[i])))
    }

    /// What holds of each and of its partner.
    #[inline(always)]
    pub fn each(self, other: Self, holds: impl Fn(f64, f64) -> bool) -> [bool; WIDTH] {
        let of = |i: usize| holds(self.0[i], other.0[i]);
        [of(0), of(1), of(2), of(3)]
    }

    #[inline(always)]
    pub fn abs(self) -> Self {
        Self(from_fn(|i| self.0[i].abs()))
    }

    /// The same by way of memory: four stores side by side are where a compiler begins to look for vector instructions.
    #[inline(always)]
    pub fn stored(self) -> Self {
        Self(std::hint::black_box(self.0))
    }

    /// Itself where it is above 0, else 0. One instruction, which `f64::max` is not.
    #[inline(always)]
    pub fn at_least_zero(self) -> Self {
        self.map(|x| if x > 0.0 { x } else { 0.0 })
    }

    /// `self · b + c`.
    #[inline(always)]
    pub fn multiply_add<A: Arithmetic>(self, b: Self, c: Self) -> Self {
        Self(from_fn(|i| A::multiply_add(self.0[i], b.0[i], c.0[i])))
    }

    /// `c_0 + x (c_1 + x (c_2 + …))`.
    #[inline(always)]
    pub fn polynomial<A: Arithmetic, const N: usize>(self, coefficients: &[f64; N]) -> Self {
        let mut sum = Self::all(coefficients[N - 1]);
        for k in (0..N - 1).rev() {
            sum = sum.multiply_add::<A>(self, Self::all(coefficients[k]));
        }
        sum
    }

    /// Knuth: the rounded sums and their exact errors.
    #[inline(always)]
    pub fn two_sum(self, other: Self) -> (Self, Self) {
        let sum = self + other;
        let part = sum - self;
        (sum, (self - (sum - part)) + (other - part))
    }

    /// The rounded products and their exact errors, as [`Arithmetic::two_product`] gives them.
    #[inline(always)]
    pub fn two_product<A: Arithmetic>(self, other: Self) -> (Self, Self) {
        let each = |i: usize| A::two_product(self.0[i], other.0[i]);
        let (a, b, c, d) = (each(0), each(1), each(2), each(3));
        (Self([a.0, b.0, c.0, d.0]), Self([a.1, b.1, c.1, d.1]))
    }

    /// Veltkamp: sums of two numbers of at most 26 bits, for sizes below `2^996`.
    #[inline(always)]
    pub fn split(self) -> (Self, Self) {
        let scaled = Self::all(134_217_729.0) * self;
        let hi = scaled - (scaled - self);
        (hi, self - hi)
    }

    /// Its own entries where `this`, those of `other` elsewhere.
    #[inline(always)]
    pub fn or(self, this: [bool; WIDTH], other: Self) -> Self {
        Self(from_fn(|i| if this[i] { self.0[i] } else { other.0[i] }))
    }

    /// The sum of all four.
    #[inline(always)]
    pub fn sum(self) -> f64 {
        (self.0[0] + self.0[2]) + (self.0[1] + self.0[3])
    }
}

impl Add for Lanes {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i] + other.0[i]))
    }
}

impl Sub for Lanes {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i] - other.0[i]))
    }
}

impl Mul for Lanes {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i] * other.0[i]))
    }
}

impl Div for Lanes {
    type Output = Self;

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i] / other.0[i]))
    }
}

impl Neg for Lanes {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self(from_fn(|i| -self.0[i]))
    }
}

/// Four unevaluated sums of two doubles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DoubleDoubles {
    pub hi: Lanes,
    pub lo: Lanes,
}

impl DoubleDoubles {
    /// All the same.
    #[inline(always)]
    pub fn all(x: DoubleDouble) -> Self {
        Self { hi: Lanes::all(x.hi), lo: Lanes::all(x.lo) }
    }

    #[inline(always)]
    pub fn from(each: [DoubleDouble; WIDTH]) -> Self {
        Self { hi: Lanes(from_fn(|i| each[i].hi)), lo: Lanes(from_fn(|i| each[i].lo)) }
    }

    #[inline(always)]
    pub fn lane(self, i: usize) -> DoubleDouble {
        DoubleDouble { hi: self.hi.0[i], lo: self.lo.0[i] }
    }

    /// The rounded sums and what they lose.
    #[inline(always)]
    pub fn from_sum(hi: Lanes, lo: Lanes) -> Self {
        let (hi, lo) = hi.two_sum(lo);
        Self { hi, lo }
    }

    /// As [`DoubleDouble::mul_f64_with`], with the same bound.
    #[inline(always)]
    pub fn mul_f64_with<A: Arithmetic>(self, y: Lanes) -> Self {
        let (product, rest) = self.hi.two_product::<A>(y);
        let sum = Self::from_sum(product, self.lo * y);
        Self::from_sum(sum.hi, sum.lo + rest)
    }

    /// As [`DoubleDouble::div_f64`], with the same bound.
    #[inline(always)]
    pub fn div_f64_with<A: Arithmetic>(self, y: Lanes) -> Self {
        let quotient = self.hi / y;
        let (back, rest) = quotient.two_product::<A>(y);
        let remainder = ((self.hi - back) - rest) + self.lo;
        Self::from_sum(quotient, remainder / y)
    }

    /// See [`Lanes::stored`].
    #[inline(always)]
    pub fn stored(self) -> Self {
        Self { hi: self.hi.stored(), lo: self.lo.stored() }
    }

    /// Its own entries where `this`, those of `other` elsewhere.
    #[inline(always)]
    pub fn or(self, this: [bool; WIDTH], other: Self) -> Self {
        Self { hi: self.hi.or(this, other.hi), lo: self.lo.or(this, other.lo) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statpriv_simd::Portable;

    #[test]
    fn lanes_do_not_mix() {
        let (x, y) = (Lanes::from(3.0, 2.0), Lanes([-1.0, 4.0, 0.5, -8.0]));
        assert_eq!(x.0, [3.0, 5.0, 7.0, 9.0]);
        assert_eq!((x + y).0, [2.0, 9.0, 7.5, 1.0]);
        assert_eq!((x - y).0, [4.0, 1.0, 6.5, 17.0]);
        assert_eq!((x * y).0, [-3.0, 20.0, 3.5, -72.0]);
        assert_eq!((x / y).0, [-3.0, 1.25, 14.0, -1.125]);
        assert_eq!(y.abs().0, [1.0, 4.0, 0.5, 8.0]);
        assert_eq!(y.at_least_zero().0, [0.0, 4.0, 0.5, 0.0]);
        assert_eq!(y.sum(), -4.5);
    }

    /// Lane by lane, what single double-doubles give.
    #[test]
    fn four_double_doubles_are_four_of_them() {
        let each = [(1.0f64, 3.0f64), (-7e30, 0.1), (2.5e-20, 1e200), (1.0 / 3.0, -9e15)];
        let x = each.map(|(hi, lo)| DoubleDouble { hi, lo: hi * lo.signum() * 1e-17 });
        let y = each.map(|(_, y)| y);
        let (product, quotient) = (
            DoubleDoubles::from(x).mul_f64_with::<Portable>(Lanes(y)),
            DoubleDoubles::from(x).div_f64_with::<Portable>(Lanes(y)),
        );
        for i in 0..WIDTH {
            assert_eq!(product.lane(i), x[i].mul_f64(y[i]));
            assert_eq!(quotient.lane(i), x[i].div_f64(y[i]));
        }
        let chosen = product.or([true, false, true, false], DoubleDoubles::all(DoubleDouble::ONE));
        assert_eq!([0, 1, 2, 3].map(|i| chosen.lane(i) == product.lane(i)), [true, false, true, false]);
    }
}
