//! Digits on demand: numbers and laws of any relative width, by integer arithmetic of any length.
//!
//! This tier shares the descriptions of laws with the rest of the crate, and no computation: it checks the
//! other tiers, and they check it. Every number is computed as a ball with some guard bits; if the ball is wider than was
//! asked for, again with more bits. So the accuracy is that of the result, not that of the working precision.
//! [`crate::curve::digits`] evaluates privacy curves with it.

pub(crate) mod ball;
pub(crate) mod binomial;
pub(crate) mod complex;
pub(crate) mod elementary;
pub(crate) mod enclosure;
pub(crate) mod ends;
pub(crate) mod evaluation;
#[cfg(test)]
pub(crate) mod examples;
pub(crate) mod hockey_stick;
pub(crate) mod hypergeometric;
pub(crate) mod lattice;
pub(crate) mod laws;
pub(crate) mod probability;

pub use ball::Ball;
pub use enclosure::{DigitsEnclosure, Dyadic};
pub use evaluation::Evaluation;
pub use laws::{
    binomial_log_pmf, binomial_lower_tail, binomial_pmf, binomial_upper_tail, hypergeometric_log_pmf,
    hypergeometric_lower_tail, hypergeometric_pmf, hypergeometric_upper_tail, poisson_binomial_pmf,
};

pub use crate::budget::MAX_DIGITS;
use crate::budget::MAX_WORKING_BITS;
use crate::error::Error;
use crate::interrupt::Interrupt;

/// With more bits, a logarithm that is below `2^-NEXT_TO_ONE/2`, and perhaps zero, is not asked for more.
pub(crate) const NEXT_TO_ONE: usize = 1 << 16;

/// Bits of relative accuracy that make a width of at most `10^-digits`: `log2 10 < 3.322`.
pub(crate) fn bits_for(digits: u32) -> Result<usize, Error> {
    if digits == 0 || digits > MAX_DIGITS {
        return Err(Error::argument(format!(
            "digits = {digits}; an integer from 1 to {MAX_DIGITS} is required"
        )));
    }
    Ok((digits as usize * 3322).div_ceil(1000) + 2)
}

/// Tries with more and more bits until the relative accuracy is reached.
pub(crate) fn settle(
    accuracy: usize,
    interrupt: &dyn Interrupt,
    mut attempt: impl FnMut(usize) -> Result<Option<Ball>, Error>,
) -> Result<Ball, Error> {
    let mut bits = accuracy + 12;
    while bits <= MAX_WORKING_BITS {
        interrupt.check()?;
        let found = attempt(bits)?;
        let missing = match &found {
            Some(ball) if ball.is_zero() => return Ok(ball.clone()),
            Some(ball) => usize::try_from(accuracy as i128 - ball.accuracy()).unwrap_or(0),
            None => bits / 2,
        };
        match found {
            Some(ball) if missing == 0 => return Ok(ball),
            // A ball that says nothing does not say either how much is missing.
            Some(ball) if ball.accuracy() <= 0 => bits += missing.clamp(bits / 2, 2 * bits) + 16,
            _ => bits += missing.min(2 * bits) + 16,
        }
    }
    Err(Error::precision(format!(
        "{MAX_WORKING_BITS} bits do not suffice here: the inputs are within 10^-1000000 of a point where the answer jumps"
    )))
}

/// The logarithm of a probability that can be had to any accuracy. No accuracy tells a sum that is one from one: there the
/// logarithm is known next to zero.
pub(crate) fn logarithm(
    accuracy: usize,
    interrupt: &dyn Interrupt,
    probability: impl Fn(usize) -> Result<Ball, Error>,
) -> Result<DigitsEnclosure, Error> {
    let (mut vanishes, mut about_zero) = (false, None);
    let one = Ball::one();
    let value = settle(accuracy, interrupt, |bits| {
        let ball = probability(bits)?;
        vanishes = ball.is_zero();
        if vanishes || ball.is_exact() && !ball.exceeds(&one) && !one.exceeds(&ball) {
            return Ok(Some(Ball::zero()));
        }
        let logarithm = elementary::ln(&ball, bits + 16);
        let is_about_zero = |ball: &Ball| ball.accuracy() <= 0 && ball.log2() < -(NEXT_TO_ONE as i128 / 2);
        about_zero = logarithm.clone().filter(|ball| bits > NEXT_TO_ONE && is_about_zero(ball));
        Ok(if about_zero.is_some() { Some(Ball::zero()) } else { logarithm })
    })?;
    let known = about_zero.unwrap_or(value);
    Ok(if vanishes { DigitsEnclosure::point(Dyadic::MinusInfinity) } else { DigitsEnclosure::from(&known) })
}
