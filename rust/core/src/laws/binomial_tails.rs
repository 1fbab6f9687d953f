//! Tails of the binomial law: at a cost that does not grow with the number of trials, or as sums.

use super::binomial::{Binomial, LARGEST_COUNT, Probability};
use super::{fast, recurrence};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::enclosure::Enclosure;

/// `P[Bin(n, p) ≥ k]`, with a relative width below `10^-12` while it is a normal double.
///
/// # Errors
/// More than 2^53 trials, and [`Error::Interrupted`].
pub fn binomial_upper_tail(
    k: u64,
    n: u64,
    at: &Probability,
    interrupt: &dyn Interrupt,
) -> Result<Enclosure, Error> {
    if n > LARGEST_COUNT {
        return Err(Error::argument(format!("n = {n} is above 2^53, the largest number of trials")));
    }
    if k == 0 || k > n {
        return Ok(Enclosure::point(if k == 0 { 1.0 } else { 0.0 }));
    }
    if at.is_below(k, n) {
        return tail_above_mean(k, n, at, interrupt);
    }
    let complement = tail_above_mean(n - k + 1, n, &at.complement(), interrupt)?;
    Ok((Enclosure::point(1.0) - complement).clamp(0.0, 1.0))
}

/// The same with an exponent of its own, so that a small tail keeps its relative accuracy.
///
/// # Errors
/// [`Error::Interrupted`].
pub(crate) fn binomial_upper_tail_ball(
    k: u64,
    n: u64,
    at: &Probability,
    interrupt: &dyn Interrupt,
) -> Result<Ball, Error> {
    if k == 0 || k > n {
        return Ok(if k == 0 { Ball::ONE } else { Ball::ZERO });
    }
    let above_mean = |k: u64, at: &Probability| {
        if let Some(tail) = fast::upper_tail(k, n, at) {
            return Ok(tail);
        }
        let tail = recurrence::upper_tail(&Binomial::new(n, at), k, interrupt)?;
        let [lower, upper] =
            [tail.lower(), tail.upper()].map(|end| Ball::from_f64(end).unwrap_or(Ball::WHOLE));
        Ok(lower.hull(upper))
    };
    if at.is_below(k, n) {
        return above_mean(k, at);
    }
    Ok(Ball::ONE - above_mean(n - k + 1, &at.complement())?)
}

/// `P[Bin(n, p) ≤ k]`, likewise.
///
/// # Errors
/// More than 2^53 trials, and [`Error::Interrupted`].
pub fn binomial_lower_tail(
    k: u64,
    n: u64,
    at: &Probability,
    interrupt: &dyn Interrupt,
) -> Result<Enclosure, Error> {
    if k > n {
        return Ok(Enclosure::point(1.0));
    }
    binomial_upper_tail(n - k, n, &at.complement(), interrupt)
}

/// `P[X ≥ k]`, the smaller side: at a cost that does not grow with `n`, or, for the most extreme `p`, as a sum.
fn tail_above_mean(k: u64, n: u64, at: &Probability, interrupt: &dyn Interrupt) -> Result<Enclosure, Error> {
    match fast::upper_tail(k, n, at) {
        Some(tail) => Ok(tail.to_enclosure().clamp(0.0, 1.0)),
        None => recurrence::upper_tail(&Binomial::new(n, at), k, interrupt),
    }
}
