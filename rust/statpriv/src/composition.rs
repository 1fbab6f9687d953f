//! Several answers, each on its part of a secret partition.

use crate::sum::Values;
use crate::{Count, Error, Histogram, PrivacyCurve, Probability, Rational, Sum};
use statpriv_core::answer::Law;
use statpriv_core::composition::{self as kernel, Attributes, Cell, Composed};
use statpriv_core::curve::Curve;
use statpriv_core::forms::{Answers, End};
use std::sync::Arc;

/// Exact answers on disjoint parts of the rows. The partition is drawn uniformly, and stays secret.
///
/// ```
/// use statpriv::{Composition, Count, Histogram};
///
/// # fn main() -> Result<(), statpriv::Error> {
/// let curve = Composition::new(3000)
///     .part("smokes", Count::new(1000, "0.3")?)
///     .part("smokes", Count::new(400, "0.3")?)
///     .part("region", Histogram::new(1500, ["0.5", "0.3", "0.2"])?)
///     .curve()?;
/// assert!(curve.delta("0.1")?.upper() < 0.01);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Composition {
    rows: u64,
    parts: Vec<(String, Part)>,
}

/// What one part answers. Its number of rows is that of the query.
#[derive(Clone, Debug)]
pub enum Part {
    /// A count; its probability may lie in a range.
    Count(Count),
    /// A histogram.
    Histogram(Histogram),
    /// A sum.
    Sum(Sum),
}

impl From<Count> for Part {
    fn from(count: Count) -> Self {
        Self::Count(count)
    }
}

impl From<Histogram> for Part {
    fn from(histogram: Histogram) -> Self {
        Self::Histogram(histogram)
    }
}

impl From<Sum> for Part {
    fn from(sum: Sum) -> Self {
        Self::Sum(sum)
    }
}

/// What is asked of a part, without the number of its rows: parts of one attribute ask the same.
#[derive(Clone, Debug, PartialEq)]
enum Asked {
    Range(Probability),
    /// The probabilities of the values that are counted: of a property, has it and has it not.
    Cells(Vec<Rational>),
    Sum(Values),
}

impl Part {
    fn rows(&self) -> u64 {
        match self {
            Self::Count(count) => count.rows,
            Self::Histogram(histogram) => histogram.rows,
            Self::Sum(sum) => sum.rows,
        }
    }

    fn known(&self) -> u64 {
        match self {
            Self::Count(count) => count.known,
            Self::Histogram(histogram) => histogram.known,
            Self::Sum(sum) => sum.known,
        }
    }

    fn asked(&self) -> Asked {
        match self {
            Self::Count(count) => count.p.single().map_or_else(
                || Asked::Range(count.p.clone()),
                |p| Asked::Cells(vec![Rational::from(1i64).sub(p), p.clone()]),
            ),
            Self::Histogram(histogram) => Asked::Cells(histogram.cells.clone()),
            Self::Sum(sum) => Asked::Sum(sum.values.clone()),
        }
    }
}

/// The parts of one attribute: the row in question has one value of it, whatever part it is in.
#[derive(Clone, Debug, PartialEq)]
struct Attribute {
    asked: Asked,
    rows: Vec<u64>,
}

impl Composition {
    /// Of so many rows, the one in question among them. Rows in no part are allowed.
    #[must_use]
    pub fn new(rows: u64) -> Self {
        Self { rows, parts: Vec::new() }
    }

    /// One more part. Parts that name the same attribute ask the same of their rows; with an empty name, a part has
    /// an attribute of its own. Nothing is assumed about how attributes of a row depend on each other.
    #[must_use]
    pub fn part(mut self, attribute: &str, part: impl Into<Part>) -> Self {
        self.parts.push((attribute.to_owned(), part.into()));
        self
    }

    /// The exact curve for known probabilities, or a bracket of it where there are too many attributes to try every
    /// combination of their values; with a range, an upper bound over it (convex order).
    ///
    /// # Errors
    /// No part, more rows in parts than there are, parts of one attribute that ask different things, known rows, a range
    /// that holds 0 or 1.
    pub fn curve(&self) -> Result<PrivacyCurve, Error> {
        let attributes = self.attributes()?;
        let weight = |rows: u64| share(rows, self.rows);
        let used =
            attributes.iter().flat_map(|each| &each.rows).fold(0u64, |sum, &rows| sum.saturating_add(rows));
        if used > self.rows {
            return Err(Error::argument(format!("the parts have {used} rows, and there are {}", self.rows)));
        }
        let mut kinds: Vec<(u64, Attribute)> = Vec::new();
        for attribute in attributes {
            match kinds.iter_mut().find(|(_, same)| *same == attribute) {
                Some((count, _)) => *count += 1,
                None => kinds.push((1, attribute)),
            }
        }
        let mut unused = Rational::from(1i64);
        let mut composed = Vec::new();
        for (count, attribute) in &kinds {
            let choices = attribute.choices(self.rows)?;
            if choices.is_empty() {
                continue; // everybody has one value
            }
            let rows = attribute.rows.iter().sum::<u64>();
            unused = unused.sub(&weight(rows)?.mul(&Rational::from(*count)));
            composed.push(Attributes { count: *count, choices });
        }
        if composed.is_empty() {
            return Ok(Curve::from(Answers::new(Law::point(0), Law::point(0))).into());
        }
        let parts = kernel::Composition::new(unused, composed)?;
        let end = parts.has_ranges().then_some(End::Dominating);
        Ok(Curve::from(Composed::new(Arc::new(parts), end)).into())
    }

    fn attributes(&self) -> Result<Vec<Attribute>, Error> {
        if self.parts.is_empty() {
            return Err(Error::argument("a composition needs a part"));
        }
        let mut found: Vec<(&str, Attribute)> = Vec::new();
        for (name, part) in &self.parts {
            let (asked, rows) = (part.asked(), part.rows());
            if rows == 0 {
                return Err(Error::argument("a part of no rows"));
            }
            if part.known() > 0 {
                return Err(Error::argument(
                    "a part has known rows, of which nobody can say in which part they are; leave them out",
                ));
            }
            match found.iter_mut().find(|(other, _)| !name.is_empty() && other == name) {
                Some((_, attribute)) if attribute.asked == asked => attribute.rows.push(rows),
                Some(_) => {
                    return Err(Error::argument(format!(
                        "parts of the attribute {name:?} ask different things"
                    )));
                }
                None => found.push((name, Attribute { asked, rows: vec![rows] })),
            }
        }
        Ok(found.into_iter().map(|(_, attribute)| attribute).collect())
    }
}

impl Attribute {
    /// The parts for each ordered pair of values; pairs with equal laws are there once.
    fn choices(&self, all: u64) -> Result<Vec<Vec<kernel::Part>>, Error> {
        match &self.asked {
            Asked::Range(p) => {
                let zero = Rational::from(0i64);
                if p.lower == zero || p.upper == Rational::from(1i64) {
                    return Err(Error::argument(
                        "a property that everybody or nobody may have gives itself away",
                    ));
                }
                let count = self.rows.iter().sum();
                let [share, lower, upper] = [share(1, all)?, p.lower.clone(), p.upper.clone()];
                Ok(vec![vec![kernel::Part::Range { count, share, lower, upper }]])
            }
            Asked::Cells(cells) => {
                let (count, weight) = (self.rows.iter().sum(), share(1, all)?);
                let mut chosen: Vec<Vec<Cell>> = Vec::new();
                for (first, second) in
                    pairs(cells.iter().enumerate().filter(|(_, p)| !p.is_zero()).map(|(k, _)| k))
                {
                    let cells = cells_of(cells, first, second, &weight);
                    if !chosen.contains(&cells) {
                        chosen.push(cells);
                    }
                }
                Ok(chosen.into_iter().map(|cells| vec![kernel::Part::Entries { count, cells }]).collect())
            }
            Asked::Sum(values) => {
                let places = values.places();
                let mut laws = Vec::new();
                for &rows in &self.rows {
                    laws.push((share(rows, all)?, values.sum_of(rows - 1)?, values.sum_of(rows)?));
                }
                let part = |first: i64, second: i64| {
                    let of = |(weight, others, reference): &(Rational, Law, Law)| {
                        Ok(kernel::Part::Answer {
                            weight: weight.clone(),
                            first: others.shifted(first)?,
                            second: others.shifted(second)?,
                            reference: reference.clone(),
                        })
                    };
                    laws.iter().map(of).collect()
                };
                pairs(0..values.iter().count()).map(|(v, w)| part(places[v], places[w])).collect()
            }
        }
    }
}

fn pairs(places: impl Iterator<Item = usize>) -> impl Iterator<Item = (usize, usize)> {
    let places: Vec<usize> = places.collect();
    let all = places.clone();
    places
        .into_iter()
        .flat_map(move |v| all.clone().into_iter().filter_map(move |w| (v != w).then_some((v, w))))
}

/// The cells of two values, and all others together: a row adds to the density of its own value alone.
fn cells_of(cells: &[Rational], first: usize, second: usize, weight: &Rational) -> Vec<Cell> {
    let nothing = Rational::from(0i64);
    let rest = Rational::from(1i64).sub(&cells[first]).sub(&cells[second]);
    let mut found = vec![
        Cell { mass: cells[first].clone(), first: weight.clone(), second: nothing.clone() },
        Cell { mass: cells[second].clone(), first: nothing.clone(), second: weight.clone() },
    ];
    if !rest.is_zero() {
        found.push(Cell { mass: rest, first: nothing.clone(), second: nothing });
    }
    found.sort_by(|a, b| (&a.mass, &a.first, &a.second).cmp(&(&b.mass, &b.first, &b.second)));
    found
}

fn share(rows: u64, all: u64) -> Result<Rational, Error> {
    let none = || Error::argument("a population of no rows");
    Rational::from(rows).div(&Rational::from(all)).ok_or_else(none)
}
