//! The privacy curve of an answer.

use crate::number::nonnegative;
use crate::{Enclosure, Error, Number, Rational};
use statpriv_core::curve::{Curve, digits};
use statpriv_core::interrupt::Interrupt;
use statpriv_core::{inverse, trade_off};
use std::fmt;
use std::sync::Arc;

/// δ as a function of ε: `Δ(ε) = max Σ_a (P_v(a) − e^ε P_w(a))_+` over the values v, w of the row in question.
///
/// The answer is (ε, δ)-statistically private if `Δ(ε) ≤ δ`.
#[derive(Clone)]
pub struct PrivacyCurve {
    curve: Curve,
    ended: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl fmt::Debug for PrivacyCurve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivacyCurve").field("curve", &self.curve).finish_non_exhaustive()
    }
}

impl From<Curve> for PrivacyCurve {
    fn from(curve: Curve) -> Self {
        Self { curve, ended: None }
    }
}

impl Interrupt for PrivacyCurve {
    fn check(&self) -> Result<(), Error> {
        if self.ended.as_ref().is_some_and(|ended| ended()) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Two ends in decimal, rounded outwards, with the truth between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digits {
    /// At most the truth.
    pub lower: String,
    /// At least the truth.
    pub upper: String,
}

impl PrivacyCurve {
    /// The same curve, whose computations end with [`Error::Interrupted`] soon after `ended` answers true. It is asked
    /// every few thousand terms, on the thread that asks.
    ///
    /// ```
    /// use statpriv::{Count, Error};
    /// use std::sync::atomic::{AtomicBool, Ordering};
    /// use std::sync::Arc;
    ///
    /// # fn main() -> Result<(), Error> {
    /// let cancelled = Arc::new(AtomicBool::new(false));
    /// let asked = Arc::clone(&cancelled);
    /// let curve = Count::new(1_000_000, "0.3")?.curve()?.ended_by(move || asked.load(Ordering::Relaxed));
    /// cancelled.store(true, Ordering::Relaxed); // by another thread
    /// assert_eq!(curve.delta_to_digits("0.001", 50), Err(Error::Interrupted));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn ended_by(self, ended: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { ended: Some(Arc::new(ended)), ..self }
    }

    /// δ at an ε of either sign, in nats.
    ///
    /// # Errors
    /// No number; [`Error::Precision`] if δ cannot be enclosed usefully.
    pub fn delta(&self, epsilon: impl Number) -> Result<Enclosure, Error> {
        self.curve.delta(&epsilon.exactly("epsilon")?, self)
    }

    /// δ at many ε, which share work.
    ///
    /// # Errors
    /// As [`PrivacyCurve::delta`].
    pub fn deltas(&self, epsilons: &[f64]) -> Result<Vec<Enclosure>, Error> {
        self.curve.deltas(epsilons, self)
    }

    /// The least ε ≥ 0 with `Δ(ε) ≤ δ`, in nats; infinite where there is none.
    ///
    /// # Errors
    /// A δ below 0; as [`PrivacyCurve::delta`].
    pub fn epsilon(&self, delta: impl Number) -> Result<Enclosure, Error> {
        let delta = nonnegative(delta, "delta")?;
        inverse::epsilon(&self.curve, &delta, self)
    }

    /// The least type II error of all tests between two values whose type I error is at most α, from 0 to 1.
    ///
    /// # Errors
    /// An α outside `[0, 1]`; as [`PrivacyCurve::delta`].
    pub fn beta(&self, alpha: impl Number) -> Result<Enclosure, Error> {
        let alpha = alpha.exactly("alpha")?;
        if alpha.is_negative() || alpha > Rational::from(1i64) {
            return Err(Error::argument(format!(
                "alpha = {}; a number from 0 to 1 is required",
                alpha.shown()
            )));
        }
        trade_off::beta(&self.curve, &alpha, self)
    }

    /// The limit of δ for ε → ∞: the probability of an answer that is impossible under the other value.
    ///
    /// # Errors
    /// As [`PrivacyCurve::delta`].
    pub fn mass_at_infinity(&self) -> Result<Enclosure, Error> {
        self.curve.infinity_mass(self)
    }

    /// δ to so many significant digits, by big integers that share no computation with [`PrivacyCurve::delta`].
    ///
    /// # Errors
    /// As [`PrivacyCurve::delta`], and where a curve is only a bound by doubles.
    pub fn delta_to_digits(&self, epsilon: impl Number, digits: u32) -> Result<Digits, Error> {
        let epsilon: Rational = epsilon.exactly("epsilon")?;
        let found = digits::delta(&self.curve, &epsilon, digits, self)?;
        // Two more than asked for: they round no digit that is known.
        let shown = digits as usize + 2;
        Ok(Digits { lower: found.lower().decimal(shown, false), upper: found.upper().decimal(shown, true) })
    }

    /// Whether δ is known only to lie between an attained value and a bound, which need not be close.
    #[must_use]
    pub fn is_bracket(&self) -> bool {
        self.curve.is_bracket()
    }
}
