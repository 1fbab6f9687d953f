//! Several answers, each on its part of a secret partition.

use crate::number::LARGEST_COUNT;
use crate::sum::Values;
use crate::{Count, Error, Histogram, PrivacyCurve, Probability, Rational, Sum};
use statpriv_core::answer::Law;
use statpriv_core::composition::{self as kernel, Attributes, Cell, Composed};
use statpriv_core::curve::{self, CountFamily, Curve};
use statpriv_core::forms::End;
use std::collections::{HashMap, HashSet};
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

/// What one part answers: a [`Count`], whose probability may lie in a range, a [`Histogram`] or a [`Sum`]. Its number of rows
/// is that of the query.
#[derive(Clone, Debug)]
pub struct Part {
    rows: u64,
    known: u64,
    has_pair: bool,
    asked: Asked,
}

/// What is asked of a part, without the number of its rows: parts of one attribute ask the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Asked {
    Count(Probability),
    Histogram(Arc<[Rational]>),
    Sum(Values),
}

impl From<Count> for Part {
    fn from(Count { rows, p, known, direction }: Count) -> Self {
        Self { rows, known, has_pair: direction.is_some(), asked: Asked::Count(p) }
    }
}

impl From<Histogram> for Part {
    fn from(Histogram { rows, cells, known, pair }: Histogram) -> Self {
        Self { rows, known, has_pair: pair.is_some(), asked: Asked::Histogram(cells) }
    }
}

impl From<Sum> for Part {
    fn from(Sum { rows, known, pair, values }: Sum) -> Self {
        Self { rows, known, has_pair: pair.is_some(), asked: Asked::Sum(values) }
    }
}

impl Part {
    /// Why a part cannot be asked as it is stated.
    fn fault(&self) -> Option<&'static str> {
        if self.known > 0 {
            return Some(
                "a part has known rows, of which nobody can say in which part they are; leave them out",
            );
        }
        if self.has_pair {
            return Some("a part has a pair of values; all pairs are tried, and the worst counts");
        }
        (self.rows == 0).then_some("a part of no rows")
    }
}

/// The parts of one attribute: the row in question has one value of it, whatever part it is in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
    /// combination of their values; with a range, an upper bound over it (convex order), but for one attribute of all rows.
    ///
    /// # Errors
    /// No part, more rows in parts than there are, or above 2^53; parts of one attribute that ask different things, known
    /// rows, a pair, a range that holds 0 or 1.
    pub fn curve(&self) -> Result<PrivacyCurve, Error> {
        let attributes = self.attributes()?;
        if let [only] = attributes.as_slice()
            && let Some(curve) = only.alone(self.rows)?
        {
            return Ok(curve.into());
        }
        let mut kinds: Vec<(u64, Attribute)> = Vec::new();
        let mut places: HashMap<Attribute, usize> = HashMap::new();
        for attribute in attributes {
            let place = *places.entry(attribute.clone()).or_insert(kinds.len());
            match kinds.get_mut(place) {
                Some((count, _)) => *count += 1,
                None => kinds.push((1, attribute)),
            }
        }
        let mut unused = Rational::from(1i64);
        let mut composed = Vec::new();
        for (count, attribute) in &kinds {
            unused = unused.sub(&share(attribute.used(), self.rows)?.mul(&Rational::from(*count)));
            composed.push(Attributes { count: *count, choices: attribute.choices(self.rows)? });
        }
        let parts = kernel::Composition::new(unused, composed)?;
        let end = parts.has_ranges().then_some(End::Dominating);
        Ok(Curve::from(Composed::new(Arc::new(parts), end)).into())
    }

    /// The attributes, whose parts have no more rows than there are.
    fn attributes(&self) -> Result<Vec<Attribute>, Error> {
        if self.parts.is_empty() {
            return Err(Error::argument("a composition needs a part"));
        }
        if self.rows > LARGEST_COUNT {
            return Err(Error::argument(format!(
                "population = {}; at most 2^53 rows are allowed",
                self.rows
            )));
        }
        let mut found: Vec<Attribute> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut used = 0u64;
        for (name, part) in &self.parts {
            if let Some(fault) = part.fault() {
                return Err(Error::argument(fault));
            }
            used = used.saturating_add(part.rows);
            let known = places.get(name.as_str()).and_then(|&place| found.get_mut(place));
            match known {
                Some(attribute) if attribute.asked == part.asked => attribute.rows.push(part.rows),
                Some(_) => {
                    return Err(Error::argument(format!(
                        "parts of the attribute {name:?} ask different things"
                    )));
                }
                None => {
                    if !name.is_empty() {
                        places.insert(name, found.len());
                    }
                    found.push(Attribute { asked: part.asked.clone(), rows: vec![part.rows] });
                }
            }
        }
        if used > self.rows {
            return Err(Error::argument(format!("the parts have {used} rows, and there are {}", self.rows)));
        }
        Ok(found)
    }
}

impl Attribute {
    /// The rows of all its parts; [`Composition::attributes`] has bounded them.
    fn used(&self) -> u64 {
        self.rows.iter().sum()
    }

    /// The curve where no other attribute is asked. Given the histogram of the union of all parts, those of the parts are
    /// a random split of it that does not depend on the rows: what is told is one sample without replacement.
    fn alone(&self, all: u64) -> Result<Option<Curve>, Error> {
        let used = self.used();
        Ok(match &self.asked {
            Asked::Count(p) => {
                let family = CountFamily::new(&p.lower, &p.upper, None)?;
                match p.single() {
                    _ if used == all => Some(family.of_size(all)?),
                    Some(_) => Some(family.sampled(used, &share(used, all)?)?),
                    None => None,
                }
            }
            Asked::Histogram(cells) if used == all => Some(curve::histogram(all, cells, None)?),
            Asked::Histogram(cells) => Some(curve::sampled_histogram(all, used, cells, None)?),
            Asked::Sum(_) => None,
        })
    }

    /// The parts for each ordered pair of values; pairs with equal laws are there once.
    fn choices(&self, all: u64) -> Result<Vec<Vec<kernel::Part>>, Error> {
        match &self.asked {
            Asked::Count(p) => match p.single() {
                Some(p) => self.counted(&[p.clone(), Rational::from(1i64).sub(p)], all),
                None => self.in_range(p, all),
            },
            Asked::Histogram(cells) => self.counted(cells, all),
            Asked::Sum(values) => self.summed(values, all),
        }
    }

    fn in_range(&self, p: &Probability, all: u64) -> Result<Vec<Vec<kernel::Part>>, Error> {
        if p.lower.is_zero() || p.upper == Rational::from(1i64) {
            return Err(Error::argument("a property that everybody or nobody may have gives itself away"));
        }
        let [share, lower, upper] = [share(1, all)?, p.lower.clone(), p.upper.clone()];
        Ok(vec![vec![kernel::Part::Range { count: self.used(), share, lower, upper }]])
    }

    fn counted(&self, cells: &[Rational], all: u64) -> Result<Vec<Vec<kernel::Part>>, Error> {
        let (count, weight) = (self.used(), share(1, all)?);
        // The masses of the two cells tell the laws of a pair.
        let mut seen = HashSet::new();
        let unlike = pairs(cells.len()).filter(|&(v, w)| seen.insert((cells[v].clone(), cells[w].clone())));
        let part = |(v, w)| vec![kernel::Part::Entries { count, cells: cells_of(cells, v, w, &weight) }];
        Ok(unlike.map(part).collect())
    }

    fn summed(&self, values: &Values, all: u64) -> Result<Vec<Vec<kernel::Part>>, Error> {
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
        pairs(places.len()).map(|(v, w)| part(places[v], places[w])).collect()
    }
}

/// All ordered pairs of different places.
fn pairs(number: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..number).flat_map(move |v| (0..number).filter_map(move |w| (v != w).then_some((v, w))))
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
