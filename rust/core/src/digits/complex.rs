//! Complex numbers in fixed point: both parts are integers in units of `2^-places`.
//!
//! A product is rounded down in both parts, so it errs by less than `√2` units beyond what its factors bring.

use dashu_int::IBig;

/// `re + i·im`.
#[derive(Clone, Debug)]
pub(crate) struct Complex {
    pub(crate) re: IBig,
    pub(crate) im: IBig,
}

impl Complex {
    /// The square.
    pub(crate) fn square(&self, places: usize) -> Self {
        let re = (&self.re + &self.im) * (&self.re - &self.im);
        let im = &self.re * &self.im;
        Self { re: re >> places, im: im >> (places - 1) }
    }

    /// The product.
    pub(crate) fn times(&self, other: &Self, places: usize) -> Self {
        let re = &self.re * &other.re - &self.im * &other.im;
        let im = &self.re * &other.im + &self.im * &other.re;
        Self { re: re >> places, im: im >> places }
    }

    /// `x^n` for `n ≥ 1`, three binary digits at a time.
    pub(crate) fn power(&self, n: u64, places: usize) -> Self {
        let square = self.square(places);
        let third = self.times(&square, places);
        let fifth = third.times(&square, places);
        let odd = [self, &third, &fifth, &fifth.times(&square, places)];
        let mut result: Option<Self> = None;
        let mut left = n.ilog2() + 1;
        while left > 0 {
            // A zero on its own, or the longest block of up to three digits from a one to a one.
            let ends_in_one = |width: &u32| n >> (left - width) & 1 == 1;
            let width =
                if ends_in_one(&1) { (1..=left.min(3)).rev().find(ends_in_one).unwrap_or(1) } else { 1 };
            let block = n >> (left - width) & ((1 << width) - 1);
            let factor = (block > 0).then(|| odd[block as usize / 2]);
            left -= width;
            result = match (result, factor) {
                (None, factor) => factor.cloned(),
                (Some(power), factor) => {
                    let power = (0..width).fold(power, |power, _| power.square(places));
                    Some(match factor {
                        Some(factor) => power.times(factor, places),
                        None => power,
                    })
                }
            };
        }
        result.unwrap_or_else(|| self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `(3/5 + 4/5 i)^n` has rational parts; three units for each factor are more than its rounding costs.
    #[test]
    fn powers_of_a_rational_point_err_by_three_units_a_factor() {
        let places = 300;
        let point = Complex { re: (IBig::from(3) << places) / 5, im: (IBig::from(4) << places) / 5 };
        let (mut re, mut im, mut size) = (IBig::ONE, IBig::ZERO, IBig::ONE);
        for n in 1..200u64 {
            (re, im) = (&re * 3 - &im * 4, &re * 4 + &im * 3);
            size *= 5;
            let power = point.power(n, places);
            for (found, exact) in [(power.re, &re), (power.im, &im)] {
                let gap = (found * &size - (exact << places)) / &size;
                assert!(gap < IBig::from(3 * n) && -gap < IBig::from(3 * n), "{n}");
            }
        }
    }

    proptest! {
        #[test]
        fn powers_are_repeated_products(n in 1u64..400, angle in -64i64..64) {
            // (63/65, 16/65) lies on the unit circle; these points do, or inside.
            let unit = |k: i64| (IBig::from(k) << 200) / IBig::from(65 * 65);
            let point = Complex { re: unit(65 * 63 - angle.abs()), im: unit(65 * 16 - angle.abs()) };
            let direct = (1..n).fold(point.clone(), |power, _| power.times(&point, 200));
            let power = point.power(n, 200);
            let bound = IBig::from(6 * n);
            for gap in [power.re - direct.re, power.im - direct.im] {
                prop_assert!(gap < bound && -gap < bound);
            }
        }
    }
}
