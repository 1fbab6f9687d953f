//! The sum of whole numbers, one a row.

use crate::number::{LARGEST_COUNT, law, unknown};
use crate::{Error, Number, PrivacyCurve, Rational};
use statpriv_core::answer::Law;
use statpriv_core::curve::Curve;
use statpriv_core::forms::Answers;
use std::collections::HashSet;
use std::sync::Arc;

/// The exact sum of a whole number of every row.
///
/// ```
/// use statpriv::Sum;
///
/// # fn main() -> Result<(), statpriv::Error> {
/// let children = Sum::new(400, [(0, "0.4"), (1, "0.3"), (2, "0.2"), (3, "0.1")])?;
/// let curve = children.curve()?;
/// assert!(children.pair(0, 1).curve()?.delta("0.5")?.upper() < curve.delta("0.5")?.upper());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Sum {
    pub(crate) rows: u64,
    pub(crate) known: u64,
    pub(crate) pair: Option<(i64, i64)>,
    pub(crate) values: Values,
}

/// What a row may add, in order, each with its probability. A value of probability 0 is one that the row in question may
/// have all the same: it is compared with the others, and nobody else adds it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Values(Arc<[(i64, Rational)]>);

impl Sum {
    /// Of so many independent rows, each with one of these values; their probabilities sum to one.
    ///
    /// # Errors
    /// Fewer than two values, a value twice, or beyond 2^53 of either sign; probabilities that do not sum to one exactly.
    pub fn new<P: Number>(rows: u64, values: impl IntoIterator<Item = (i64, P)>) -> Result<Self, Error> {
        Ok(Self { rows, known: 0, pair: None, values: Values::new(law("probabilities", values)?)? })
    }

    /// The reader knows so many of the other rows.
    #[must_use]
    pub fn known(self, rows: u64) -> Self {
        Self { known: rows, ..self }
    }

    /// Two values: the row has the first, against: it has the second.
    #[must_use]
    pub fn pair(self, first: i64, second: i64) -> Self {
        Self { pair: Some((first, second)), ..self }
    }

    /// The exact curve: `v + S` against `w + S`, where S is the sum of the rows that the reader does not know.
    ///
    /// # Errors
    /// A pair that is none of the values, no row that is unknown, more answers than the kernel writes out.
    pub fn curve(&self) -> Result<PrivacyCurve, Error> {
        let others = self.values.sum_of(unknown(self.rows, self.known)? - 1)?;
        let mut curves = Vec::new();
        for gap in self.gaps()? {
            curves.push(Curve::from(Answers::new(others.shifted(gap)?, others.clone())));
        }
        Ok(if let [only] = curves.as_slice() { only.clone() } else { Curve::Max(curves) }.into())
    }

    /// The differences of two values that matter.
    ///
    /// Sums of independent log-concave numbers are log-concave. So the likelihood ratio of `d + S` against S is monotone
    /// for every d, and the best test for d > 0 is "at least t". For a larger d its power is larger and its level the
    /// same: of log-concave values only the extreme differences matter.
    fn gaps(&self) -> Result<Vec<i64>, Error> {
        let places = self.values.places();
        if let Some((first, second)) = self.pair {
            let place = |value| {
                let found = self.values.0.iter().position(|(stated, _)| *stated == value);
                let missing = || Error::argument(format!("pair has {value}; two of the values are required"));
                found.map(|k| places[k]).ok_or_else(missing)
            };
            if first == second {
                return Err(Error::argument(format!(
                    "pair has {first} twice; two of the values are required"
                )));
            }
            return Ok(vec![place(first)? - place(second)?]);
        }
        let mut seen = HashSet::new();
        let differences = places.iter().flat_map(|v| places.iter().map(move |w| v - w));
        let gaps: Vec<i64> = differences.filter(|gap| *gap != 0 && seen.insert(*gap)).collect();
        if gaps.len() > 2 && self.values.are_log_concave() {
            let widest = places[places.len() - 1];
            return Ok(vec![widest, -widest]);
        }
        Ok(gaps)
    }
}

impl Values {
    pub fn new(mut values: Vec<(i64, Rational)>) -> Result<Self, Error> {
        values.sort_by_key(|(value, _)| *value);
        if let Some(pair) = values.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::argument(format!("the value {} is there twice", pair[0].0)));
        }
        if let Some((value, _)) = values.iter().find(|(value, _)| value.unsigned_abs() > LARGEST_COUNT) {
            return Err(Error::argument(format!("the value {value} is beyond 2^53")));
        }
        Ok(Self(values.into()))
    }

    /// The places of the values on the coarsest lattice through them: the first one is 0. A sum of values is told by the
    /// sum of their places.
    pub fn places(&self) -> Vec<i64> {
        let first = self.0.first().map_or(0, |(value, _)| *value);
        let unit =
            self.0.iter().fold(0, |unit, (value, _)| greatest_common_divisor(unit, value - first)).max(1);
        self.0.iter().map(|(value, _)| (value - first) / unit).collect()
    }

    /// The places that a row may have with a positive probability.
    fn likely(&self) -> Vec<(i64, &Rational)> {
        let with = self.places().into_iter().zip(self.0.iter().map(|(_, p)| p));
        with.filter(|(_, p)| !p.is_zero()).collect()
    }

    /// The law of the sum of the places of so many rows.
    pub fn sum_of(&self, rows: u64) -> Result<Law, Error> {
        if rows == 0 {
            return Law::sum(Vec::new());
        }
        let each = match self.likely().as_slice() {
            [(0, _)] => Law::binomial(rows, &Rational::from(0i64))?,
            [(1, p)] | [(0, _), (1, p)] => Law::binomial(rows, p)?,
            // A scaled number of hits has a shorter description than a table with gaps.
            [(0, _), (place, p)] => Law::binomial(rows, p)?.scaled(*place)?,
            likely => of_one(likely)?.repeated(rows)?,
        };
        Law::sum(vec![each])
    }

    fn are_log_concave(&self) -> bool {
        let likely = self.likely();
        likely.windows(2).all(|pair| pair[1].0 == pair[0].0 + 1)
            && likely.windows(3).all(|w| w[1].1.mul(w[1].1) >= w[0].1.mul(w[2].1))
    }
}

/// The law of what one row adds.
fn of_one(likely: &[(i64, &Rational)]) -> Result<Law, Error> {
    const MOST_PLACES: usize = 1 << 22;
    let (Some((least, _)), Some((most, _))) = (likely.first(), likely.last()) else {
        return Err(Error::argument("a sum of no values"));
    };
    let place_of = |place: i64| usize::try_from(place - least).unwrap_or(usize::MAX);
    let length = place_of(*most);
    if length >= MOST_PLACES {
        return Err(Error::precision(format!(
            "the values are {length} steps of their lattice apart, and 2^22 are written out at most: round them"
        )));
    }
    let mut masses = vec![Rational::from(0i64); length + 1];
    for (place, p) in likely {
        masses[place_of(*place)] = (*p).clone();
    }
    Law::table(*least, masses)
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
