//! How far an integer lies above κ when the two almost coincide, with big integers.
//!
//! `κ = nρ/(1+ρ)` with `ρ = e^ε p/q`, so `J − κ = (J − (n−J)ρ)/(1+ρ)`, which falls with `ρ`. With a tiny `p` and a large ε the
//! hockey stick may consist of little else than this difference, and 100 bits of `e^ε` are not enough for it.

use crate::budget::MAX_EPSILON_OF_A_TIE;
use crate::numbers::ball::Ball;
use crate::numbers::rational::{Rational, exponential};
use dashu_int::ops::UnsignedAbs;
use dashu_int::{IBig, UBig};

/// Fractional bits of `e^ε`.
const BITS: usize = 512;

/// `integer − κ` for the count of `n` entries with probability `p`, `0 < p < 1`; nothing for a very large ε.
pub(super) fn excess(n: u64, integer: u64, p: &Rational, epsilon: &Rational) -> Option<Ball> {
    if *epsilon > Rational::from(MAX_EPSILON_OF_A_TIE) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn away_from_a_tie_it_is_the_plain_difference() {
        let (p, epsilon) = (Rational::parse("3/10").unwrap(), Rational::parse("1/2").unwrap());
        let rho = Ball::from_rational(&Rational::parse("3/7").unwrap()) * Ball::from_rational(&epsilon).exp();
        let kappa = Ball::from_u64(20) * rho / (Ball::ONE + rho);
        let gap = excess(20, 9, &p, &epsilon).unwrap() - (Ball::from_u64(9) - kappa);
        assert!(!gap.is_positive() && !(-gap).is_positive());
    }

    #[test]
    fn a_very_large_epsilon_is_left_to_the_ball() {
        let half = Rational::parse("1/2").unwrap();
        let at = |epsilon: i64| excess(5, 5, &half, &Rational::from(epsilon));
        assert!(at(MAX_EPSILON_OF_A_TIE).is_some() && at(MAX_EPSILON_OF_A_TIE + 1).is_none());
    }
}
