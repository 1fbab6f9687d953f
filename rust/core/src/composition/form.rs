//! The curve of a composition, or of one end of its enclosure.

use super::Composition;
use crate::error::Error;
use crate::forms::{End, Epsilon, Form, HockeyStick, Pattern, WrittenOut};
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use std::sync::Arc;

/// Answers on the parts of a secret partition: `δ` itself, or one end of its enclosure.
#[derive(Clone, Debug)]
pub struct Composed {
    parts: Arc<Composition>,
    end: Option<End>,
}

impl Composed {
    /// The curve of `δ` for `end = None`, of one end of its enclosure otherwise.
    #[must_use]
    pub fn new(parts: Arc<Composition>, end: Option<End>) -> Self {
        Self { parts, end }
    }
}

impl HockeyStick for Composed {
    fn delta(&self, epsilon: &Epsilon, _: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        match self.end {
            Some(end) => self.parts.delta(epsilon, end, interrupt),
            None if self.parts.is_exact() => self.parts.exactly(epsilon, interrupt),
            None => {
                let [lower, upper] = self.parts.ends(epsilon, interrupt)?;
                Ok(lower.hull(upper))
            }
        }
    }

    fn infinity_mass(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        self.parts.infinity_mass(interrupt)
    }

    fn reversed(&self) -> Form {
        Arc::new(Self::new(Arc::new(self.parts.reversed()), self.end))
    }

    fn terms(&self) -> f64 {
        self.parts.terms()
    }

    fn written_out(&self) -> Result<Option<WrittenOut>, Error> {
        if self.end.is_some() {
            return Err(Error::precision(
                "a bound in convex order has no exact value and no digits; delta() encloses it",
            ));
        }
        self.parts.written_out().map(|pairs| Some(WrittenOut::Worst(pairs)))
    }

    fn is_bracket(&self) -> bool {
        self.end.is_none() && !self.parts.is_exact()
    }

    fn end(&self, end: End) -> Option<Form> {
        self.end.is_none().then(|| Arc::new(Self::new(Arc::clone(&self.parts), Some(end))) as Form)
    }

    fn is_loose(&self) -> bool {
        self.end.is_some()
    }

    fn attained(&self, interrupt: &dyn Interrupt) -> Result<Option<Form>, Error> {
        if self.end.is_some() {
            return Ok(None);
        }
        let worst = self.parts.worst_pairs(&Epsilon::new(&Rational::from(0i64)), interrupt)?;
        Ok(Some(Arc::new(Self::new(Arc::new(self.parts.only(&worst)), None))))
    }

    fn worst_pairs(&self, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Option<Pattern>, Error> {
        self.parts.worst_pairs(epsilon, interrupt).map(Some)
    }

    fn has_rough_values(&self) -> bool {
        self.end.is_none() && self.parts.is_exact()
    }

    fn within(&self, width: f64, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        if self.has_rough_values() {
            return self.parts.within(width, epsilon, interrupt);
        }
        self.delta(epsilon, Ball::ZERO, interrupt)
    }

    fn told_from(&self, level: Ball, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        if self.has_rough_values() {
            return self.parts.told_from(level, epsilon, interrupt);
        }
        self.delta(epsilon, Ball::ZERO, interrupt)
    }
}
