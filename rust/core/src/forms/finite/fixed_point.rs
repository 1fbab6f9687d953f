//! The hockey stick of two laws in integers over a power of two, with as many bits as it takes.

use super::{ANSWERS_PER_CHECK, Finite, exponential};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use dashu_int::ops::{BitTest, UnsignedAbs};
use dashu_int::{IBig, UBig};

/// Bits of the first attempt; every further one has twice as many.
const FIRST_BITS: usize = 256;
/// Relative width at which an attempt succeeds: `2^-80`, so that doubles around it are next to each other.
const NARROW: usize = 80;

/// `Δ(ε)` for `ε ≠ 0`.
///
/// `e^ε` is then irrational, so no probability other than zero ties with another: with enough bits every sign is
/// clear, and either some term is positive and known to any relative accuracy, or all are zero.
pub(super) fn hockey_stick(
    pair: &Finite,
    epsilon: &Rational,
    interrupt: &dyn Interrupt,
) -> Result<Ball, Error> {
    // e^|ε| is above all ratios of probabilities from here on. Beyond it Δ is constant for positive ε, and for negative
    // ε it lies between its value there and one, at most e^{-|ε|} further up.
    let farthest = Rational::from(largest_ratio_bits(pair) as u64);
    let beyond = epsilon.abs() > farthest;
    let cut = match (beyond, epsilon.is_negative()) {
        (false, _) => epsilon.clone(),
        (true, false) => farthest.clone(),
        (true, true) => Rational::from(0i64).sub(&farthest),
    };
    let mut bits = FIRST_BITS;
    loop {
        let sum = bounds(pair, &factor(pair, &cut, bits), bits, interrupt)?;
        if sum.1.is_zero() || (&sum.1 - &sum.0) << NARROW <= sum.0 {
            let end = |sum: UBig| Ball::from_rational(&Rational::dyadic(sum, bits));
            let value = end(sum.0).hull(end(sum.1)) / Ball::from_rational(pair.p.total());
            let rest = (-Ball::from_rational(&farthest)).exp();
            return Ok(if beyond && epsilon.is_negative() { value.plus_at_most(rest) } else { value });
        }
        bits *= 2;
    }
}

/// A bound of `|ln(P(a) S_Q/(S_P Q(a)))|` wherever both are positive: all denominators are below `2^bits`, all numerators
/// at most twice their denominators, and so are the sums. It is so large that `e` to its negative does not matter.
pub(super) fn largest_ratio_bits(pair: &Finite) -> usize {
    let masses = pair.p.masses.iter().chain(&pair.q.masses);
    128 + masses.map(|mass| mass.denominator().bit_len()).max().unwrap_or(0)
}

/// Integers below and above `2^bits r`, `r = e^ε S_P/S_Q`.
pub(super) fn factor(pair: &Finite, epsilon: &Rational, bits: usize) -> (UBig, UBig) {
    let (low, high) = exponential(&epsilon.abs(), bits);
    let (low, high) = if epsilon.is_negative() {
        let square = UBig::ONE << (2 * bits);
        (&square / high, square / low + UBig::ONE)
    } else {
        (low, high)
    };
    let totals = pair.ratio(&Rational::from(1i64));
    let (top, bottom) = (totals.numerator().clone().unsigned_abs(), totals.denominator());
    (low * &top / bottom, high * top / bottom + UBig::ONE)
}

/// `x 2^bits` rounded down and up, for a non-negative `x`.
fn scaled(x: &Rational, bits: usize) -> (UBig, UBig) {
    let top = x.numerator().clone().unsigned_abs() << bits;
    let low = &top / x.denominator();
    let high = if &low * x.denominator() == top { low.clone() } else { &low + UBig::ONE };
    (low, high)
}

/// Integers below and above `2^bits Σ max(0, P(a) − r Q(a))`.
pub(super) fn bounds(
    pair: &Finite,
    factor: &(UBig, UBig),
    bits: usize,
    interrupt: &dyn Interrupt,
) -> Result<(UBig, UBig), Error> {
    let positive = |x: IBig| UBig::try_from(x).unwrap_or(UBig::ZERO);
    let mut sum = (UBig::ZERO, UBig::ZERO);
    for (answer, (p, q)) in pair.p.masses.iter().zip(&pair.q.masses).enumerate() {
        if answer.is_multiple_of(ANSWERS_PER_CHECK) {
            interrupt.check()?;
        }
        let (p, q) = (scaled(p, bits), scaled(q, bits));
        let least_cost = (q.0 * &factor.0) >> bits;
        let greatest_cost = if q.1.is_zero() { UBig::ZERO } else { ((q.1 * &factor.1) >> bits) + UBig::ONE };
        sum.0 += positive(IBig::from(p.0) - IBig::from(greatest_cost));
        sum.1 += positive(IBig::from(p.1) - IBig::from(least_cost));
    }
    Ok(sum)
}
