//! Complex numbers in fixed point: both parts are integers in units of `2^-places`.
//!
//! A product is rounded down in both parts, so it errs by less than `√2` units beyond what its factors bring.

use dashu_int::IBig;

/// `re + i·im`.
#[derive(Clone, Debug)]
pub(super) struct Complex {
    pub(super) re: IBig,
    pub(super) im: IBig,
}

impl Complex {
    /// The square.
    pub(super) fn square(&self, places: usize) -> Self {
        let re = (&self.re + &self.im) * (&self.re - &self.im);
        let im = &self.re * &self.im;
        Self { re: re >> places, im: im >> (places - 1) }
    }

    /// The product.
    pub(super) fn times(&self, other: &Self, places: usize) -> Self {
        let re = &self.re * &other.re - &self.im * &other.im;
        let im = &self.re * &other.im + &self.im * &other.re;
        Self { re: re >> places, im: im >> places }
    }

    /// `x^n` for `n ≥ 1`
    pub(super) fn power(&self, n: u64, places: usize) -> Self {
        let mut result = self.clone();
        for place in (0..n.ilog2()).rev() {
            result = result.square(places);
            if n >> place & 1 == 1 {
                result = result.times(self, places);
            }
        }
        result
    }
}
