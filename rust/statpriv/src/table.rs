//! Exact tables with a minimum count.

use crate::number::nonnegative;
use crate::{Error, Number, PrivacyCurve, Rational};
use statpriv_core::answer::Law;
use statpriv_core::curve::Curve;
use statpriv_core::forms::{Answers, BinomialPeaks, Directed, Direction, GatedSupremum};

/// An exact table of counts that is published only if every cell holds at least a minimum number of rows.
///
/// What it protects depends neither on the law of the rows nor on their number nor on the number of cells.
///
/// ```
/// use statpriv::ExactTable;
///
/// # fn main() -> Result<(), statpriv::Error> {
/// assert!(ExactTable::new(10).curve()?.delta(2)?.upper() < 8.5e-6);
/// assert_eq!(ExactTable::least_minimum(1, "1e-5", 0)?, Some(30));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ExactTable {
    minimum: u64,
    known: u64,
}

/// The largest minimum count.
const MOST: u64 = 1 << 52;

impl ExactTable {
    /// With at least so many rows in every cell.
    #[must_use]
    pub fn new(minimum: u64) -> Self {
        Self { minimum, known: 0 }
    }

    /// The reader knows so many of the rows.
    #[must_use]
    pub fn known(self, rows: u64) -> Self {
        Self { known: rows, ..self }
    }

    /// The bound `δ ≤ max{h(T−1, T), h(T, T−1)}` with `h(k, l) = E(Γ_l/l − e^ε Γ_k/k)_+`; the worst split of the known
    /// rows over two cells. The proof is in `docs/explanation/minimum-counts.md`.
    ///
    /// # Errors
    /// A minimum below 2, or above 2^52.
    pub fn curve(&self) -> Result<PrivacyCurve, Error> {
        let (least, known) = (self.required()?, self.known);
        if known > least - 2 {
            return Ok(shown());
        }
        let tests = vec![least - known - 1, least];
        let peaks =
            BinomialPeaks::new(2 * least - known, tests, &Rational::from(0i64), &Rational::from(1i64))?;
        Ok(either(|direction| Directed(peaks.clone(), direction).into()))
    }

    /// The supremum of δ over all laws, all numbers of rows and all numbers of cells, for a minimum up to 1000.
    ///
    /// # Errors
    /// A minimum below 2, or above 1000.
    pub fn supremum(&self) -> Result<PrivacyCurve, Error> {
        let (least, known) = (self.required()?, self.known);
        if known > least - 2 {
            return Ok(shown());
        }
        // Of equal minima both orders are one curve.
        let supremum = GatedSupremum::new(least, least, known)?;
        Ok(Curve::from(Directed(supremum, Direction::OneAgainstZero)).into())
    }

    /// The least minimum count with `Δ(ε) ≤ δ` by the bound; nothing if none up to 2^52 is enough.
    ///
    /// The bound falls with the minimum, so that the search may halve.
    ///
    /// # Errors
    /// An ε below 0, a δ that is not above 0 and at most 1; as [`PrivacyCurve::delta`].
    pub fn least_minimum(epsilon: impl Number, delta: impl Number, known: u64) -> Result<Option<u64>, Error> {
        let (epsilon, delta) = (nonnegative(epsilon, "epsilon")?, delta.exactly("delta")?);
        if delta.is_negative() || delta.is_zero() || delta > Rational::from(1i64) {
            return Err(Error::argument(format!(
                "delta = {}; a number above 0 and at most 1 is required",
                delta.shown()
            )));
        }
        let reached = |minimum: u64| -> Result<bool, Error> {
            let upper = Self::new(minimum).known(known).curve()?.delta(&epsilon)?.upper();
            Ok(Rational::from_f64(upper)? <= delta)
        };
        let (mut missed, mut enough) = (1, 2);
        while !reached(enough)? {
            if enough >= MOST {
                return Ok(None);
            }
            (missed, enough) = (enough, enough * 2);
        }
        while enough - missed > 1 {
            let middle = missed + (enough - missed) / 2;
            if reached(middle)? { enough = middle } else { missed = middle }
        }
        Ok(Some(enough))
    }

    fn required(&self) -> Result<u64, Error> {
        if (2..=MOST).contains(&self.minimum) {
            return Ok(self.minimum);
        }
        Err(Error::argument(format!(
            "minimum = {}; a whole number from 2 to 2^52 is required: a cell of one row shows where that row is",
            self.minimum
        )))
    }
}

/// The worse of both orders of two cells.
fn either(in_direction: impl Fn(Direction) -> Curve) -> PrivacyCurve {
    Curve::Max(Direction::BOTH.map(in_direction).into()).into()
}

/// δ = 1: with so many known rows, the row in question may be the only one in its cell that is not known.
fn shown() -> PrivacyCurve {
    Curve::from(Answers::new(Law::point(0), Law::point(1))).into()
}
