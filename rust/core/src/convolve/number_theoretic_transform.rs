//! Products of integer polynomials without rounding, modulo three primes.

use crate::error::Error;
use crate::interrupt::Interrupt;

/// `modulus = k 2^32 + 1` is prime, below `2^62`, and `root` generates the `2^32`-th roots of unity: `root^(2^31) = −1`.
///
/// (With `root = g^k` that proves the modulus prime, by Pocklington's theorem: `2^32 > √modulus`.)
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub modulus: u64,
    root: u64,
}

/// A factor `w` and `⌊2^64 w/modulus⌋`, by which products with it need no division (Shoup).
#[derive(Clone, Copy)]
struct Factor {
    value: u64,
    quotient: u64,
}

/// The longest transform.
pub(crate) const LONGEST: usize = 1 << 26;

impl Field {
    /// The three fields; the product of the moduli is above `2^185`.
    pub(crate) const ALL: [Self; 3] = [
        Self { modulus: 4_611_685_941_117_976_577, root: 69_433_692_538_710_738 },
        Self { modulus: 4_611_685_692_009_873_409, root: 3_385_523_647_569_167_919 },
        Self { modulus: 4_611_685_606_110_527_489, root: 3_318_345_213_167_893_729 },
    ];

    pub(crate) fn multiply(self, a: u64, b: u64) -> u64 {
        (u128::from(a) * u128::from(b) % u128::from(self.modulus)) as u64
    }

    /// `a − b` for any two numbers.
    pub(crate) fn subtract(self, a: u64, b: u64) -> u64 {
        self.add(a % self.modulus, self.modulus - b % self.modulus)
    }

    fn power(self, base: u64, mut exponent: u64) -> u64 {
        let (mut result, mut square) = (1, base);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = self.multiply(result, square);
            }
            square = self.multiply(square, square);
            exponent >>= 1;
        }
        result
    }

    /// By Fermat's little theorem.
    pub(crate) fn inverse(self, a: u64) -> u64 {
        self.power(a, self.modulus - 2)
    }

    fn factor(self, value: u64) -> Factor {
        Factor { value, quotient: ((u128::from(value) << 64) / u128::from(self.modulus)) as u64 }
    }

    /// `x w` modulo the prime, for any `x`: the quotient is at most one too small, so the rest is below twice the modulus.
    fn times(self, x: u64, w: Factor) -> u64 {
        let quotient = ((u128::from(x) * u128::from(w.quotient)) >> 64) as u64;
        let rest = x.wrapping_mul(w.value).wrapping_sub(quotient.wrapping_mul(self.modulus));
        if rest >= self.modulus { rest - self.modulus } else { rest }
    }

    fn add(self, a: u64, b: u64) -> u64 {
        let sum = a + b;
        if sum >= self.modulus { sum - self.modulus } else { sum }
    }

    /// `root^(jk)` for `j < length/2`, where `root` has order `length`; of its inverse for the way back.
    fn factors(self, length: usize, back: bool) -> Vec<Factor> {
        let order = (1u64 << 32) / length as u64;
        let generator = if back { self.inverse(self.root) } else { self.root };
        let step = self.power(generator, order);
        let powers = std::iter::successors(Some(1), |&power| Some(self.multiply(power, step)));
        powers.take((length / 2).max(1)).map(|power| self.factor(power)).collect()
    }

    /// Decimation in frequency: the values at the roots of unity, in bit-reversed order.
    fn forward(self, values: &mut [u64], interrupt: &dyn Interrupt) -> Result<(), Error> {
        let factors = self.factors(values.len(), false);
        let mut size = values.len();
        while size > 1 {
            let stride = values.len() / size;
            for block in values.chunks_mut(size) {
                let (low, high) = block.split_at_mut(size / 2);
                for ((a, b), &w) in low.iter_mut().zip(high).zip(factors.iter().step_by(stride)) {
                    (*a, *b) = (self.add(*a, *b), self.times(*a + self.modulus - *b, w));
                }
            }
            interrupt.check()?;
            size /= 2;
        }
        Ok(())
    }

    /// Decimation in time, from bit-reversed order; without the division by the length.
    fn backward(self, values: &mut [u64], interrupt: &dyn Interrupt) -> Result<(), Error> {
        let factors = self.factors(values.len(), true);
        let mut size = 2;
        while size <= values.len() {
            let stride = values.len() / size;
            for block in values.chunks_mut(size) {
                let (low, high) = block.split_at_mut(size / 2);
                for ((a, b), &w) in low.iter_mut().zip(high).zip(factors.iter().step_by(stride)) {
                    let turned = self.times(*b, w);
                    (*a, *b) = (self.add(*a, turned), self.add(*a, self.modulus - turned));
                }
            }
            interrupt.check()?;
            size *= 2;
        }
        Ok(())
    }

    /// The coefficients of the product of two polynomials, modulo the prime. `length`, a power of two of at most
    /// [`LONGEST`], is at least their number.
    pub(crate) fn product(
        self,
        a: &[u128],
        b: &[u128],
        length: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<u64>, Error> {
        let transform = |coefficients: &[u128]| {
            let reduced = coefficients.iter().map(|&x| (x % u128::from(self.modulus)) as u64);
            let mut values: Vec<u64> = reduced.chain(std::iter::repeat(0)).take(length).collect();
            self.forward(&mut values, interrupt).map(|()| values)
        };
        let (mut values, others) = (transform(a)?, transform(b)?);
        let scale = self.factor(self.inverse(length as u64));
        for (value, other) in values.iter_mut().zip(others) {
            *value = self.times(self.multiply(*value, other), scale);
        }
        self.backward(&mut values, interrupt)?;
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Uninterrupted;
    use proptest::prelude::*;

    #[test]
    fn roots_of_unity_have_their_order_and_prove_the_moduli_prime() {
        for field in Field::ALL {
            assert_eq!(field.modulus % (1 << 32), 1);
            assert!(field.modulus < 1 << 62);
            // Pocklington with the factor 2^32 of modulus − 1: the second power minus one is −2, a unit.
            assert_eq!(field.power(field.root, 1 << 31), field.modulus - 1);
            assert_eq!(field.power(field.root, 1 << 32), 1);
        }
    }

    proptest! {
        #[test]
        fn products_are_those_of_the_polynomials(
            a in prop::collection::vec(any::<u128>(), 1..40), b in prop::collection::vec(any::<u128>(), 1..40),
        ) {
            for field in Field::ALL {
                let reduced = |x: u128| (x % u128::from(field.modulus)) as u64;
                let mut expected = vec![0; a.len() + b.len() - 1];
                for (i, &x) in a.iter().enumerate() {
                    for (j, &y) in b.iter().enumerate() {
                        expected[i + j] = field.add(expected[i + j], field.multiply(reduced(x), reduced(y)));
                    }
                }
                let product = field.product(&a, &b, expected.len().next_power_of_two(), &Uninterrupted).unwrap();
                prop_assert_eq!(&product[..expected.len()], &expected);
            }
        }
    }
}
