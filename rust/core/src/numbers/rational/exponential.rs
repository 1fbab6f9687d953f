//! `e^x` in big integers, to as many bits as a decision takes.

use super::Rational;
use dashu_int::UBig;
use dashu_int::ops::{BitTest, UnsignedAbs};

/// `x` is halved until it is below `2^-SMALL`, and further where there are many bits, lest Taylor's series have many terms.
const SMALL: usize = 8;

/// Integers below and above `2^bits e^x`, for `x ≥ 0`; the work grows with `x` as the answer does.
///
/// `e^x = (e^y)^(2^s)` with `y = x/2^s < 2^-SMALL`. Taylor's terms are truncated, so their sum is below `e^y` by less than
/// two units a term, and the rest of the series is below the last term. Squares are truncated below and raised by
/// one above. Further halvings cost a bit each, which is carried besides.
pub(crate) fn exponential(x: &Rational, bits: usize) -> (UBig, UBig) {
    let further = bits.isqrt() / 2;
    let digits = bits + further;
    let magnitude = x.numerator().clone().unsigned_abs();
    let halvings = (&magnitude / x.denominator()).bit_len() + SMALL + further;
    let one = UBig::ONE << digits;
    let y = ((magnitude << digits) / x.denominator()) >> halvings;
    let (mut term, mut low) = (one.clone(), one);
    let mut count = 0u64;
    while !term.is_zero() {
        count += 1;
        term = ((term * &y) >> digits) / UBig::from(count);
        low += &term;
    }
    // Truncating y costs less than one unit of e^y, times e^y < 2; each term at most two units.
    let mut high = &low + UBig::from(2 * count + 4);
    for _ in 0..halvings {
        low = (&low * &low) >> digits;
        high = ((&high * &high) >> digits) + UBig::ONE;
    }
    (low >> further, (high >> further) + UBig::ONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_int::IBig;

    #[test]
    fn it_encloses_eighty_digits() {
        for (x, digits) in [
            ("0", "1"),
            ("1", "2.7182818284590452353602874713526624977572470936999595749669676277240766303535475946"),
            ("1/3", "1.3956124250860895286281253196025868375979065151994069826175167060317390156459518421"),
        ] {
            for bits in [300, 512] {
                let (low, high) = exponential(&Rational::parse(x).unwrap(), bits);
                assert!(&high - &low < UBig::from(1u64 << 24), "{x}");
                let end = |units: UBig| Rational::new(IBig::from(units), UBig::ONE << bits).unwrap();
                let truth = Rational::parse(digits).unwrap();
                let slack = Rational::parse("1e-80").unwrap();
                assert!(
                    end(low.clone()) <= truth.add(&slack) && truth.sub(&slack) <= end(high.clone()),
                    "{x}"
                );
                assert!(end(high).sub(&end(low)) < Rational::parse("1e-80").unwrap(), "{x}");
            }
        }
    }

    #[test]
    fn more_bits_lie_within_fewer() {
        let x = Rational::parse("1234.5678").unwrap();
        let (low, high) = exponential(&x, 64);
        let (inner_low, inner_high) = exponential(&x, 640);
        assert!(low << 576usize <= inner_low && inner_low <= inner_high && inner_high <= high << 576usize);
    }
}
