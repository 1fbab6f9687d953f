//! The count of a property.

use crate::number::unknown;
use crate::{Error, Number, PrivacyCurve, Probability};
use statpriv_core::curve::CountFamily;
use statpriv_core::forms::Direction;

/// The exact number of rows that have a property.
///
/// ```
/// use statpriv::{Count, Probability};
///
/// # fn main() -> Result<(), statpriv::Error> {
/// // Between 20 and 40 % of 5000 people have it; the reader knows a hundred of them.
/// let count = Count::of(5000, Probability::between("0.2", "0.4")?).known(100);
/// assert!(count.curve()?.delta("0.1")?.upper() < 1e-4);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Count {
    pub(crate) rows: u64,
    pub(crate) p: Probability,
    pub(crate) known: u64,
    pub(crate) direction: Option<Direction>,
}

impl Count {
    /// Of so many independent rows, each with the property with probability p.
    ///
    /// # Errors
    /// No number from 0 to 1.
    pub fn new(rows: u64, p: impl Number) -> Result<Self, Error> {
        Ok(Self::of(rows, Probability::known(p)?))
    }

    /// The same with a probability that may lie in a range: δ is the supremum over it.
    #[must_use]
    pub fn of(rows: u64, p: Probability) -> Self {
        Self { rows, p, known: 0, direction: None }
    }

    /// The reader knows so many of the other rows.
    #[must_use]
    pub fn known(self, rows: u64) -> Self {
        Self { known: rows, ..self }
    }

    /// One order of the two values: the row has the property, against: it has not; or the other way round.
    #[must_use]
    pub fn pair(self, has_property_first: bool) -> Self {
        let direction =
            if has_property_first { Direction::OneAgainstZero } else { Direction::ZeroAgainstOne };
        Self { direction: Some(direction), ..self }
    }

    /// The exact curve: `1 + Bin(N, p)` against `Bin(N, p)`, where N others are unknown; of a range, the supremum.
    ///
    /// # Errors
    /// No row, more than 2^53, or no row that is unknown.
    pub fn curve(&self) -> Result<PrivacyCurve, Error> {
        let family = CountFamily::new(&self.p.lower, &self.p.upper, self.direction)?;
        Ok(family.of_size(unknown(self.rows, self.known)?)?.into())
    }
}
