//! The distance of two laws.

use crate::{Enclosure, Error, Number};
use statpriv_core::forms::finite::{ExpEpsilon, FiniteInDoubles};
use statpriv_core::interrupt::Uninterrupted;

/// The hockey-stick divergence `Σ_a (P(a) − e^ε Q(a))_+` of two laws on the same answers, for an ε of either sign.
///
/// Probabilities are the doubles as they are. Those of a law are divided by their exact sum, which may differ from one as
/// much as rounding explains.
///
/// ```
/// let delta = statpriv::hockey_stick(&[0.5, 0.5], &[0.25, 0.75], 0.0)?;
/// assert!(delta.lower() <= 0.25 && 0.25 <= delta.upper());
/// # Ok::<(), statpriv::Error>(())
/// ```
///
/// # Errors
/// Laws of different length, negative probabilities, NaN, sums that are far from one.
pub fn hockey_stick(p: &[f64], q: &[f64], epsilon: impl Number) -> Result<Enclosure, Error> {
    let laws = FiniteInDoubles::new(p.to_vec(), q.to_vec())?;
    let at = ExpEpsilon::of(epsilon.exactly("epsilon")?);
    Ok(laws.hockey_stick(&at, &Uninterrupted)?.to_enclosure().clamp(0.0, 1.0))
}
