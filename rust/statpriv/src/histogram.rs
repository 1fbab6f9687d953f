//! The numbers of rows with each value.

use crate::number::{law, unknown};
use crate::{Error, Number, PrivacyCurve, Rational};
use statpriv_core::curve;
use std::sync::Arc;

/// The exact numbers of rows in each of several cells.
///
/// ```
/// use statpriv::Histogram;
///
/// # fn main() -> Result<(), statpriv::Error> {
/// let curve = Histogram::new(2000, ["0.5", "0.3", "0.2"])?.curve()?;
/// let between_the_rarest = Histogram::new(2000, ["0.5", "0.3", "0.2"])?.pair(1, 2).curve()?;
/// assert!(between_the_rarest.delta("0.2")?.upper() <= curve.delta("0.2")?.upper());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Histogram {
    pub(crate) rows: u64,
    pub(crate) cells: Arc<[Rational]>,
    pub(crate) known: u64,
    pub(crate) pair: Option<(usize, usize)>,
}

impl Histogram {
    /// Of so many independent rows; the probabilities of the cells sum to one.
    ///
    /// # Errors
    /// Fewer than two cells; probabilities that do not sum to one exactly.
    pub fn new<P: Number>(rows: u64, cells: impl IntoIterator<Item = P>) -> Result<Self, Error> {
        let cells = law("cells", cells.into_iter().map(|p| ((), p)))?.into_iter().map(|((), p)| p).collect();
        Ok(Self { rows, cells, known: 0, pair: None })
    }

    /// The reader knows so many of the other rows.
    #[must_use]
    pub fn known(self, rows: u64) -> Self {
        Self { known: rows, ..self }
    }

    /// Two cells, counted from 0: the row is in the first, against: it is in the second.
    #[must_use]
    pub fn pair(self, first: usize, second: usize) -> Self {
        Self { pair: Some((first, second)), ..self }
    }

    /// The exact curve. Given how many rows are in either cell, one of them is the count of a property.
    ///
    /// # Errors
    /// A pair that is none, no row that is unknown.
    pub fn curve(&self) -> Result<PrivacyCurve, Error> {
        Ok(curve::histogram(unknown(self.rows, self.known)?, &self.cells, self.pair)?.into())
    }
}
