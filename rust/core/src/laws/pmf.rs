//! The probability mass function of a law on integers, on a window of answers.

use crate::budget::MAX_ANSWERS;
use crate::error::Error;
use crate::numbers::ball::Ball;

/// Masses of `first`, `first + 1`, ….
#[derive(Clone, Debug)]
pub(crate) struct Pmf {
    pub first: i64,
    pub masses: Vec<Ball>,
    /// An upper bound of the missing mass.
    pub missing: Ball,
}

impl Pmf {
    pub fn empty() -> Self {
        Self { first: 0, masses: Vec::new(), missing: Ball::ZERO }
    }

    pub fn point(value: i64) -> Self {
        Self { first: value, masses: vec![Ball::ONE], missing: Ball::ZERO }
    }

    /// The last answer of the window, or one before the first if the window is empty.
    pub fn last(&self) -> i64 {
        self.first + self.masses.len() as i64 - 1
    }

    /// The mass in the window.
    pub fn at(&self, answer: i64) -> Ball {
        let index = answer.checked_sub(self.first).and_then(|index| usize::try_from(index).ok());
        index.and_then(|index| self.masses.get(index)).copied().unwrap_or(Ball::ZERO)
    }
}

/// Refuses a window of more than [`MAX_ANSWERS`] answers.
pub(crate) fn check_length(first: i64, last: i64) -> Result<(), Error> {
    if last.saturating_sub(first) >= MAX_ANSWERS as i64 {
        return Err(Error::precision(format!(
            "the answers from {first} to {last} are too many for their probabilities to be written out; 2^24 are allowed"
        )));
    }
    Ok(())
}
