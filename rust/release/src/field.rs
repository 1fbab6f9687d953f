//! Arithmetic modulo the prime 2^127 − 1.

/// The prime 2^127 − 1.
pub const PRIME: u128 = (1 << 127) - 1;

const HALF: u128 = u64::MAX as u128;

/// The number modulo the prime, using 2^127 ≡ 1.
#[inline]
#[must_use]
pub fn reduced(number: u128) -> u128 {
    let folded = once(number);
    if folded >= PRIME { folded - PRIME } else { folded }
}

/// A number of at most 2^127 that is congruent modulo the prime.
#[inline]
fn once(number: u128) -> u128 {
    (number & PRIME) + (number >> 127)
}

/// The sum of two reduced numbers.
#[inline]
#[must_use]
pub fn sum(a: u128, b: u128) -> u128 {
    reduced(a + b)
}

/// The difference of two reduced numbers.
#[inline]
#[must_use]
pub fn difference(a: u128, b: u128) -> u128 {
    reduced(a + (PRIME - b))
}

/// The product of two reduced numbers.
///
/// Let `a = a₁ 2^64 + a₀` with 64-bit halves, and `b` likewise. The middle term is
/// `m = a₁ b₀ + a₀ b₁ < 2^128`, because `a₁, b₁ < 2^63`. The part from 2^128 upwards counts twice, since
/// 2^128 ≡ 2. It is `2 (a₁ b₁ + ⌊m / 2^64⌋) < 2^127 + 2^65`. The rest has two terms: `(m mod 2^64) 2^64`,
/// which folds to at most 2^127 − 2^64 + 1, and `a₀ b₀`, which folds to at most 2^127. So no sum reaches
/// 2^128.
#[inline]
#[must_use]
pub fn product(a: u128, b: u128) -> u128 {
    let ((a1, a0), (b1, b0)) = ((a >> 64, a & HALF), (b >> 64, b & HALF));
    let middle = a1 * b0 + a0 * b1;
    let above = 2 * (a1 * b1 + (middle >> 64));
    let below = once(middle << 64) + once(a0 * b0);
    reduced(once(above) + once(below))
}

/// A power of a reduced number.
#[must_use]
pub fn power(base: u128, exponent: u64) -> u128 {
    let (mut result, mut square, mut left) = (1, base, exponent);
    while left > 0 {
        if left % 2 == 1 {
            result = product(result, square);
        }
        square = product(square, square);
        left /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::{PRIME, difference, power, product, reduced, sum};

    /// The product by doubling and adding, bit by bit.
    fn slowly(a: u128, b: u128) -> u128 {
        (0..127).rev().fold(0, |result, bit| {
            let doubled = sum(result, result);
            if b >> bit & 1 == 1 { sum(doubled, a) } else { doubled }
        })
    }

    fn numbers() -> Vec<u128> {
        let around = |power: u32| [(1u128 << power) - 1, 1 << power, (1 << power) + 1];
        let mut numbers: Vec<u128> = [1, 31, 63, 64, 65, 96, 126].into_iter().flat_map(around).collect();
        numbers.extend([0, 1, PRIME - 1, PRIME - 2, PRIME / 3, 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef]);
        numbers
    }

    #[test]
    fn numbers_are_reduced() {
        assert_eq!([PRIME, PRIME + 1, 2 * PRIME, u128::MAX].map(reduced), [0, 1, 0, 1]);
        assert_eq!([sum(PRIME - 1, 1), difference(0, 1), difference(5, 5)], [0, PRIME - 1, 0]);
    }

    #[test]
    fn products_and_powers_are_those_of_bit_by_bit_addition() {
        for a in numbers() {
            assert_eq!(difference(sum(a, 1), 1), a);
            for b in numbers() {
                assert_eq!(product(a, b), slowly(a, b), "{a} times {b}");
            }
            assert_eq!(power(a, 0), 1);
            assert_eq!(power(a, 13), (0..13).fold(1, |result, _| slowly(result, a)));
        }
        assert_eq!(power(3, u64::MAX), product(power(3, u64::MAX / 2), power(3, u64::MAX / 2 + 1)));
    }
}
