//! Two laws whose probabilities are only enclosed: given by functions, or computed by somebody else.
//!
//! `Δ(ε) = Σ_a max(0, P(a) − e^ε Q(a))` rises with every `P(a)` and falls with every `Q(a)`. So with `P⁻ ≤ P ≤ P⁺` and `Q⁻ ≤ Q ≤ Q⁺`
//! on the answers that are listed, and at most `m` of `P` on all others,
//!
//! ```text
//! Σ_a max(0, P⁻(a) − e^ε Q⁺(a))  ≤  Δ  ≤  Σ_a max(0, P⁺(a) − e^ε Q⁻(a)) + m,        m = 1 − Σ_a P⁻(a) if nothing is said of it.
//! ```

use super::finite::{ExpEpsilon, unequal_lengths};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::enclosure::Enclosure;

/// Answers between two polls of the interrupt.
const ANSWERS_PER_CHECK: usize = 4096;

/// Two laws on the same answers, by enclosures of their probabilities.
#[derive(Clone, Debug)]
pub struct Enclosed {
    p: Vec<Enclosure>,
    q: Vec<Enclosure>,
    /// At least what `P` gives to answers that are not listed.
    elsewhere: f64,
}

impl Enclosed {
    /// `P` and `Q`, answer by answer. `elsewhere` is at least what `P` gives to all other answers; nothing stands for
    /// whatever is missing to one.
    ///
    /// # Errors
    /// No answers, different numbers of them; what cannot be a probability; sums that cannot be those of laws.
    pub fn new(p: Vec<Enclosure>, q: Vec<Enclosure>, elsewhere: Option<f64>) -> Result<Self, Error> {
        if p.len() != q.len() {
            return Err(unequal_lengths(p.len(), q.len()));
        }
        let (p, q) = (probabilities("P", p)?, probabilities("Q", q)?);
        let (least, most) = total("P", &p)?;
        total("Q", &q)?;
        let missing = (Ball::ONE - least).to_enclosure().clamp(0.0, 1.0).upper();
        let elsewhere = elsewhere.unwrap_or(missing);
        let Some(said) = Ball::from_f64(elsewhere).filter(|_| (0.0..=1.0).contains(&elsewhere)) else {
            return Err(Error::argument(format!(
                "missing = {elsewhere:?}; a probability from 0 to 1 is required"
            )));
        };
        if (most + said).certainly_less(Ball::ONE) {
            let sum = most.to_enclosure().upper();
            return Err(Error::argument(format!(
                "P sums to at most {sum:?} and missing = {elsewhere:?}; list the answers that P gives, or say what is missing"
            )));
        }
        Ok(Self { p, q, elsewhere: elsewhere.min(missing) })
    }

    /// The hockey stick at `e^ε`.
    ///
    /// # Errors
    /// Interruption.
    pub fn hockey_stick(&self, at: &ExpEpsilon, interrupt: &dyn Interrupt) -> Result<Enclosure, Error> {
        let ratio = at.to_ball();
        let (mut least, mut most) = (Ball::ZERO, end(self.elsewhere));
        for (answer, (p, q)) in self.p.iter().zip(&self.q).enumerate() {
            if answer % ANSWERS_PER_CHECK == 0 {
                interrupt.check()?;
            }
            least = least + (end(p.lower()) - ratio * end(q.upper())).max(Ball::ZERO);
            most = most + (end(p.upper()) - ratio * end(q.lower())).max(Ball::ZERO);
        }
        Ok(Enclosure::ordered(least.to_enclosure().lower(), most.to_enclosure().upper()).clamp(0.0, 1.0))
    }
}

/// Each between zero and one.
fn probabilities(name: &str, masses: Vec<Enclosure>) -> Result<Vec<Enclosure>, Error> {
    if let Some((answer, mass)) =
        masses.iter().enumerate().find(|(_, mass)| mass.upper() < 0.0 || mass.lower() > 1.0)
    {
        return Err(Error::argument(format!(
            "{name}[{answer}] is in [{:?}, {:?}]; a probability from 0 to 1 is required",
            mass.lower(),
            mass.upper()
        )));
    }
    Ok(masses.into_iter().map(|mass| mass.clamp(0.0, 1.0)).collect())
}

/// The sums of the lower and of the upper ends. The first sum is not certainly above one.
fn total(name: &str, masses: &[Enclosure]) -> Result<(Ball, Ball), Error> {
    let sum = |of: fn(Enclosure) -> f64| masses.iter().fold(Ball::ZERO, |sum, &mass| sum + end(of(mass)));
    let (least, most) = (sum(Enclosure::lower), sum(Enclosure::upper));
    if Ball::ONE.certainly_less(least) {
        let sum = least.to_enclosure().lower();
        return Err(Error::argument(format!(
            "{name} sums to at least {sum:?}; probabilities sum to at most one"
        )));
    }
    Ok((least, most))
}

/// An end of a probability, which is finite.
fn end(x: f64) -> Ball {
    Ball::from_f64(x).unwrap_or(Ball::WHOLE)
}

#[cfg(test)]
mod tests;
