//! What every normal form of a privacy curve can say about itself.
//!
//! A new form is one file with an `impl HockeyStick`. Only four methods are required; a form without one of the other
//! abilities keeps the default, which answers "unsupported".

use super::{Answers, Epsilon};
use crate::digits::{self, ends::Limit};
use crate::error::Error;
use crate::exact::{self, cost};
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use std::fmt::Debug;
use std::sync::Arc;

/// Relative widths at which rough values are computed, one after the other.
pub(crate) const COARSE: [f64; 3] = [1e-2, 1e-4, 1e-6];

/// A form, shared by the curves that contain it.
pub type Form = Arc<dyn HockeyStick>;

/// For each kind of attribute the number of attributes with each pair of values.
pub type Pattern = Vec<Vec<u64>>;

/// One end of an enclosure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A value that is attained.
    Lower,
    /// A value that is not exceeded.
    Upper,
    /// A value that one bound of all pairs of values at once, without branches, does not exceed.
    Dominating,
}

/// A form as laws of answers, for the tiers that evaluate only those.
#[derive(Clone, Debug)]
pub enum WrittenOut {
    /// The hockey stick of two laws.
    Laws(Answers),
    /// The maximum over several pairs of laws.
    Worst(Vec<Answers>),
    /// The mean of such maxima, each with its weight.
    Mean(Vec<(Rational, Vec<Answers>)>),
}

/// A count with exact probabilities, read as `Δ_{1,0}`: equal counts have equal curves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The number of entries.
    pub size: u64,
    /// The probability that an entry has the property.
    pub p: Rational,
    /// The probability that the critical entry is counted.
    pub inclusion: Rational,
}

/// A hockey stick that is known to any number of digits.
pub trait Digits {
    /// `δ` to the accuracy of the evaluation, for an ε of at least 0.
    ///
    /// # Errors
    /// [`Error::Precision`], [`Error::Interrupted`].
    fn value(&self, at: &digits::Evaluation<'_>) -> Result<digits::Ball, Error>;

    /// An ε from which on the curve is constant, unless it [falls for ever](Self::falls_for_ever).
    fn last_change(&self) -> u64;

    /// Whether the curve is constant from no ε on: then it falls to a limit that it does not attain.
    fn falls_for_ever(&self) -> bool {
        false
    }

    /// `δ` at one end of the curve, if it is a rational that is short enough to be written out.
    fn limit(&self, limit: Limit) -> Option<Rational> {
        let _ = limit;
        None
    }
}

/// The hockey stick `Δ(ε) = Σ_a max(0, P(a) − e^ε Q(a))` of two laws, or a supremum of such hockey sticks.
///
/// So `δ` falls with ε and is convex in `e^ε`, on which the inverse and the trade-off function rely.
pub trait HockeyStick: Debug + Send + Sync {
    /// `δ(ε)` for `ε ≥ 0`. A form that [uses the floor](Self::uses_floor) may return a coarse value certainly below `floor`.
    ///
    /// # Errors
    /// [`Error::Precision`], [`Error::Interrupted`].
    fn delta(&self, epsilon: &Epsilon, floor: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error>;

    /// The limit of `δ` for `ε → ∞`.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    fn infinity_mass(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error>;

    /// The same laws in the other order.
    fn reversed(&self) -> Form;

    /// The approximate number of terms of one evaluation.
    fn terms(&self) -> f64;

    /// `δ` at each of many ε, where these share work.
    fn deltas(&self, epsilons: &[f64]) -> Vec<Option<Ball>> {
        vec![None; epsilons.len()]
    }

    /// Whether a value below a floor costs less than an accurate one.
    fn uses_floor(&self) -> bool {
        false
    }

    /// The laws of answers that define this form: a maximum drops shifts of one law that are certainly not the greatest.
    fn as_answers(&self) -> Option<&Answers> {
        None
    }

    /// The count whose hockey stick this is: a maximum evaluates equal counts once.
    fn as_count(&self) -> Option<Count> {
        None
    }

    /// The laws of answers that the digits and the exact tier evaluate instead; nothing where they evaluate the form itself.
    ///
    /// # Errors
    /// [`Error::Precision`] for a form that has no digits and no exact values, or too many laws.
    fn written_out(&self) -> Result<Option<WrittenOut>, Error> {
        Ok(None)
    }

    /// The form in the digits tier.
    ///
    /// # Errors
    /// [`Error::Precision`] for a form without digits.
    fn digits(&self) -> Result<&dyn Digits, Error> {
        Err(Error::precision("this form has no digits; delta() without digits= encloses it"))
    }

    /// Rationals `A` and `B` with `δ = A − e^ε B`; `None` for a form that has none, or only those of its laws written out.
    ///
    /// # Errors
    /// [`Error::Argument`], [`Error::Precision`], [`Error::Interrupted`].
    fn exact(&self, at: &exact::Evaluation<'_>) -> Result<Option<exact::Terms>, Error> {
        let _ = at;
        Ok(None)
    }

    /// The cost of an exact value; nothing for a form that estimates it where it is evaluated.
    fn cost(&self, at: &cost::At) -> cost::Cost {
        let _ = at;
        cost::Cost::NOTHING
    }

    /// Whether a value is an enclosure between an attained value and a bound, which need not be close.
    fn is_bracket(&self) -> bool {
        false
    }

    /// One end of a bracket as a curve of its own.
    fn end(&self, end: End) -> Option<Form> {
        let _ = end;
        None
    }

    /// Whether a value is a bound of many laws at once, which no effort makes narrow.
    fn is_loose(&self) -> bool {
        false
    }

    /// For a bracket a form that it is certainly not below, of pairs of values that are worst at ε = 0 as far as known.
    ///
    /// # Errors
    /// [`Error::Precision`], [`Error::Interrupted`].
    fn attained(&self, interrupt: &dyn Interrupt) -> Result<Option<Form>, Error> {
        let _ = interrupt;
        Ok(None)
    }

    /// The worst pairs of values at ε, or the worst that were found; nothing for a form with one pair.
    ///
    /// # Errors
    /// [`Error::Precision`], [`Error::Interrupted`].
    fn worst_pairs(&self, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Option<Pattern>, Error> {
        let _ = (epsilon, interrupt);
        Ok(None)
    }

    /// Whether a few digits of `δ` cost less than `δ`.
    fn has_rough_values(&self) -> bool {
        false
    }

    /// `δ(ε)` for `ε ≥ 0` to about a relative width.
    ///
    /// # Errors
    /// As [`Self::delta`].
    fn within(&self, width: f64, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let _ = width;
        self.delta(epsilon, Ball::ZERO, interrupt)
    }

    /// A number on the same side of a level as `δ(ε)`, for `ε ≥ 0`.
    ///
    /// # Errors
    /// As [`Self::delta`].
    fn told_from(&self, level: Ball, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let _ = level;
        self.delta(epsilon, Ball::ZERO, interrupt)
    }
}
