//! How far an integer lies above κ when the two all but coincide, with big integers.
//!
//! `κ = nρ/(1+ρ)` with `ρ = e^ε p/q`, so `J − κ = (J − (n−J)ρ)/(1+ρ)`, which falls with `ρ`. With a tiny `p` and a large ε the
//! hockey stick may consist of little else than this difference, and 100 bits of `e^ε` are not enough for it.

use crate::ball::Ball;
use crate::rational::Rational;
use dashu_int::ops::{BitTest, UnsignedAbs};
use dashu_int::{IBig, UBig};

/// Fractional bits of `e^ε`.
const BITS: usize = 512;
/// Larger ε are left to the ball: `e^ε` would have more than some thousand bits.
const LARGEST_EPSILON: i64 = 2048;

/// `integer − κ` for the count of `n` entries with probability `p`, `0 < p < 1`; nothing for a very large ε.
pub(super) fn excess(n: u64, integer: u64, p: &Rational, epsilon: &Rational) -> Option<Ball> {
    if *epsilon > Rational::from(LARGEST_EPSILON) {
        return None;
    }
    let (low, high) = exponential(epsilon, BITS);
    let hits = p.numerator().clone();
    let misses = IBig::from(p.denominator().clone()) - &hits;
    let at = |exponential: UBig| {
        let odds = &hits * IBig::from(exponential);
        let scaled = &misses << BITS;
        let top = IBig::from(integer) * &scaled - IBig::from(n - integer) * &odds;
        Rational::new(top, (scaled + odds).unsigned_abs()).ok()
    };
    Some(Ball::from_rational(&at(high)?).hull(Ball::from_rational(&at(low)?)))
}

/// Integers below and above `2^bits e^x`, for `x ≥ 0`.
///
/// `e^x = (e^y)^(2^s)` with `y = x/2^s < 2^-8`. Taylor's terms are truncated, so their sum is below `e^y` by less than
/// one unit a term, and the rest of the series is below the last term. Squares are truncated below and raised by one
/// above.
pub(super) fn exponential(x: &Rational, bits: usize) -> (UBig, UBig) {
    let scaled = (x.numerator().clone().unsigned_abs() << bits) / x.denominator();
    let halvings = 8 + scaled.bit_len().saturating_sub(bits);
    let one = UBig::ONE << bits;
    let y = scaled >> halvings;
    let (mut term, mut low) = (one.clone(), one);
    let mut count = 0u64;
    while !term.is_zero() {
        count += 1;
        term = ((term * &y) >> bits) / UBig::from(count);
        low += &term;
    }
    // Truncating y costs less than one unit of e^y, times e^y < 2; each term at most two units.
    let mut high = &low + UBig::from(2 * count + 4);
    for _ in 0..halvings {
        low = (&low * &low) >> bits;
        high = ((&high * &high) >> bits) + UBig::ONE;
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_encloses_eighty_digits() {
        for (x, digits) in [
            ("1", "2.7182818284590452353602874713526624977572470936999595749669676277240766303535475946"),
            ("1/3", "1.3956124250860895286281253196025868375979065151994069826175167060317390156459518421"),
        ] {
            let (low, high) = exponential(&Rational::parse(x).unwrap(), BITS);
            let scale = UBig::ONE << BITS;
            let end = |bits: UBig| Rational::new(IBig::from(bits), scale.clone()).unwrap();
            let truth = Rational::parse(digits).unwrap();
            let slack = Rational::parse("1e-80").unwrap();
            assert!(end(low.clone()) <= truth.add(&slack) && truth.sub(&slack) <= end(high.clone()), "{x}");
            assert!(end(high).sub(&end(low)) < Rational::parse("1e-140").unwrap(), "{x}");
        }
    }

    #[test]
    fn away_from_a_tie_it_is_the_plain_difference() {
        let (p, epsilon) = (Rational::parse("3/10").unwrap(), Rational::parse("1/2").unwrap());
        let rho = Ball::from_rational(&Rational::parse("3/7").unwrap()) * Ball::from_rational(&epsilon).exp();
        let kappa = Ball::from_u64(20) * rho / (Ball::ONE + rho);
        let gap = excess(20, 9, &p, &epsilon).unwrap() - (Ball::from_u64(9) - kappa);
        assert!(!gap.is_positive() && !(-gap).is_positive());
    }
}
