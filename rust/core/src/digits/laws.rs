//! Single probabilities to any number of digits.

use super::ball::Ball;
use super::enclosure::DigitsEnclosure;
use super::probability::Probability;
use super::{binomial, bits_for, hypergeometric, logarithm, settle};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::laws::Hypergeometric;
use crate::rational::Rational;

/// `P[Bin(n, p) = k]` to the accuracy wanted.
fn binomial_point(
    k: u64,
    n: u64,
    p: &Rational,
    accuracy: usize,
    interrupt: &dyn Interrupt,
) -> Result<Ball, Error> {
    let one = Rational::from(1i64);
    if p.is_negative() || *p > one {
        return Err(Error::argument("p is outside [0, 1]; a probability from 0 to 1 is required"));
    }
    if k > n {
        return Ok(Ball::zero());
    }
    if p.is_zero() || *p == one {
        let sure = if p.is_zero() { 0 } else { n };
        return Ok(if k == sure { Ball::one() } else { Ball::zero() });
    }
    if n == 0 {
        return Ok(Ball::one());
    }
    let probability = Probability::Exact(p.clone());
    settle(accuracy, interrupt, |bits| binomial::point(n, &probability, k, bits, interrupt))
}

/// `P[Bin(n, p) = k]`.
///
/// # Errors
/// `p` outside `[0, 1]`, `digits` outside `1..=10000`, [`Error::Interrupted`].
pub fn binomial_pmf(
    k: u64,
    n: u64,
    p: &Rational,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    let value = binomial_point(k, n, p, bits_for(digits)?, interrupt)?;
    Ok(DigitsEnclosure::probability(&value))
}

/// `ln P[Bin(n, p) = k]`; −∞ outside the support.
///
/// # Errors
/// As [`binomial_pmf`].
pub fn binomial_log_pmf(
    k: u64,
    n: u64,
    p: &Rational,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    logarithm(bits_for(digits)?, interrupt, |accuracy| binomial_point(k, n, p, accuracy, interrupt))
}

/// `P[Bin(n, p) ≥ k]`.
///
/// # Errors
/// As [`binomial_pmf`].
pub fn binomial_upper_tail(
    k: u64,
    n: u64,
    p: &Rational,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    if p.is_negative() || *p > Rational::from(1i64) {
        return Err(Error::argument("p is outside [0, 1]; a probability from 0 to 1 is required"));
    }
    let value = settle(bits_for(digits)?, interrupt, |bits| binomial::upper_tail(n, p, k, bits, interrupt))?;
    Ok(DigitsEnclosure::probability(&value))
}

/// `P[Bin(n, p) ≤ k]`: at least `n − k` misses.
///
/// # Errors
/// As [`binomial_pmf`].
pub fn binomial_lower_tail(
    k: u64,
    n: u64,
    p: &Rational,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    binomial_upper_tail(n.saturating_sub(k), n, &Rational::from(1i64).sub(p), digits, interrupt)
}

/// `P[X = k]`.
///
/// # Errors
/// `digits` outside `1..=10000`, [`Error::Interrupted`].
pub fn hypergeometric_pmf(
    k: u64,
    law: &Hypergeometric,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    let law = hypergeometric::Law::from(law);
    let value = settle(bits_for(digits)?, interrupt, |bits| law.point(k, bits, interrupt))?;
    Ok(DigitsEnclosure::probability(&value))
}

/// `ln P[X = k]`; −∞ outside the support.
///
/// # Errors
/// As [`hypergeometric_pmf`].
pub fn hypergeometric_log_pmf(
    k: u64,
    law: &Hypergeometric,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    let law = hypergeometric::Law::from(law);
    logarithm(bits_for(digits)?, interrupt, |accuracy| {
        settle(accuracy, interrupt, |bits| law.point(k, bits, interrupt))
    })
}

/// `P[X ≥ k]`.
///
/// # Errors
/// As [`hypergeometric_pmf`].
pub fn hypergeometric_upper_tail(
    k: u64,
    law: &Hypergeometric,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    let law = hypergeometric::Law::from(law);
    let value = settle(bits_for(digits)?, interrupt, |bits| law.upper_tail(k, bits, interrupt))?;
    Ok(DigitsEnclosure::probability(&value))
}

/// `P[X ≤ k]`: at least `draws − k` unmarked ones.
///
/// # Errors
/// As [`hypergeometric_pmf`].
pub fn hypergeometric_lower_tail(
    k: u64,
    law: &Hypergeometric,
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<DigitsEnclosure, Error> {
    hypergeometric_upper_tail(law.draws().saturating_sub(k), &law.mirrored(), digits, interrupt)
}

/// The law of the number of successes in independent trials with these probabilities: `p.len() + 1` numbers.
///
/// Trial by trial, `b(k) ← q b(k) + p b(k−1)`: all terms are positive, so each entry keeps its relative accuracy.
///
/// # Errors
/// As [`binomial_pmf`].
pub fn poisson_binomial_pmf(
    p: &[Rational],
    digits: u32,
    interrupt: &dyn Interrupt,
) -> Result<Vec<DigitsEnclosure>, Error> {
    let one = Rational::from(1i64);
    let accuracy = bits_for(digits)?;
    if let Some((i, _)) = p.iter().enumerate().find(|(_, p)| p.is_negative() || **p > one) {
        return Err(Error::argument(format!(
            "p[{i}] is outside [0, 1]; a probability from 0 to 1 is required"
        )));
    }
    // A trial adds at most 6 units to the relative error of an entry.
    let bits = accuracy + 16 + 3 + (usize::BITS - p.len().leading_zeros()) as usize;
    let mut law = vec![Ball::one()];
    for p in p {
        interrupt.check()?;
        let (hit, miss) = (Ball::rational(p, bits), Ball::rational(&one.sub(p), bits));
        let mut next = Vec::with_capacity(law.len() + 1);
        next.push(law[0].times(&miss, bits));
        for pair in law.windows(2) {
            next.push(pair[1].times(&miss, bits).plus(&pair[0].times(&hit, bits), bits));
        }
        next.extend(law.last().map(|last| last.times(&hit, bits)));
        law = next;
    }
    Ok(law.iter().map(DigitsEnclosure::probability).collect())
}
