//! Parts of a partition, and what they add to the sum at one ε.

use super::sum::{Atom, Summand, about};
use super::{gate, range, rounded};
use crate::answer::Law;
use crate::answer::pmf::{Pmf, row};
use crate::budget::{
    MAX_ANSWERS_OF_A_WHOLE_LAW, MAX_COMBINATIONS, MAX_ENTRIES_OF_THREE_CELLS, MAX_PAIRS_OF_COUNTS_ALONE,
};
use crate::error::Error;
use crate::forms::End;
use crate::interrupt::{Interrupt, Uninterrupted};
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use std::sync::Arc;

/// Negative binary logarithm of the mass of a law that may be left out.
const LEFT_OUT: u32 = 480;
/// The same for rounded real answers, which are many.
const LEFT_OUT_ROUNDED: u32 = 240;

/// A cell that an entry of a part can be in: its probability, and how much of `P_v` and of `P_w` it carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The probability that an entry is in the cell.
    pub mass: Rational,
    /// `mass` times what such an entry adds to `w_k P_{k,v}/R_k`.
    pub first: Rational,
    /// The same for `w`.
    pub second: Rational,
}

/// A part and the pair of values that is asked for.
#[derive(Clone, Debug)]
pub enum Part {
    /// Counts of cells of `count` independent entries with one law: `w_k P_{k,v}/R_k` is a sum over the entries.
    ///
    /// Of a property `P_{k,1}(a)/R_k(a) = a/(n_k p)` and `P_{k,0}(a)/R_k(a) = (n_k − a)/(n_k q)`, of a histogram likewise; with `w_k = n_k/n` an
    /// entry with the property adds `1/(np)`. So parts of one property are one part of all their entries. With multinomial assignment all parts together
    /// are of this kind.
    Entries {
        /// Number of entries.
        count: u64,
        /// All cells, including cells in which an entry adds nothing.
        cells: Vec<Cell>,
    },
    /// The count of a property among `count` independent entries. Only a range of its probability is known: no law, but a
    /// [bound of all](super::range). Both pairs of values are in it.
    Range {
        /// Number of entries.
        count: u64,
        /// `w_k/count`, one over the size of the population.
        share: Rational,
        /// The least probability, above 0.
        lower: Rational,
        /// The largest one, below 1.
        upper: Rational,
    },
    /// The count of a property among `count` independent entries, published from `least` to `most` only: a [bound](super::gate) for every probability and both
    /// pairs of values.
    Gated {
        /// Number of entries.
        count: u64,
        /// `w_k/count`, one over the size of the population.
        share: Rational,
        /// The least count that is published, at least 2.
        least: u64,
        /// The largest one, at most `count − 2`.
        most: u64,
    },
    /// Any answer.
    Answer {
        /// `w_k`.
        weight: Rational,
        /// `P_{k,v}`.
        first: Law,
        /// `P_{k,w}`.
        second: Law,
        /// `R_k`.
        reference: Law,
    },
    /// A real answer `y` for which `(P_{k,v} − rP_{k,w})/R_k` is monotone for every r, known by its [rounded](super::rounded) laws.
    Rounded {
        /// `w_k`.
        weight: Rational,
        /// `P_{k,v}`, rounded to integers.
        first: Law,
        /// `P_{k,w}`, likewise.
        second: Law,
        /// `R_k`, likewise.
        reference: Law,
    },
}

fn sum(rationals: impl Iterator<Item = Rational>) -> Rational {
    rationals.fold(Rational::from(0i64), |sum, x| sum.add(&x))
}

impl Part {
    /// `w_k`.
    pub(super) fn weight(&self) -> Rational {
        match self {
            Self::Entries { count, cells } => {
                sum(cells.iter().map(|cell| cell.first.clone())).mul(&Rational::from(*count))
            }
            Self::Range { count, share, .. } | Self::Gated { count, share, .. } => {
                share.mul(&Rational::from(*count))
            }
            Self::Answer { weight, .. } | Self::Rounded { weight, .. } => weight.clone(),
        }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        match self {
            Self::Entries { cells, .. } => {
                let negative =
                    |cell: &Cell| [&cell.mass, &cell.first, &cell.second].iter().any(|x| x.is_negative());
                let total = |of: fn(&Cell) -> &Rational| sum(cells.iter().map(|cell| of(cell).clone()));
                if cells.iter().any(negative)
                    || total(|cell| &cell.mass) != Rational::from(1i64)
                    || total(|cell| &cell.first) != total(|cell| &cell.second)
                {
                    return Err(Error::argument(
                        "cells need probabilities of sum one, and one weight for both values",
                    ));
                }
                Ok(())
            }
            Self::Range { lower, upper, .. } => {
                let one = Rational::from(1i64);
                if lower.is_negative() || lower.is_zero() || upper < lower || *upper >= one {
                    return Err(Error::argument(
                        "a range of probabilities strictly between 0 and 1 is required",
                    ));
                }
                Ok(())
            }
            Self::Gated { count, least, most, .. } => {
                if *least < 2 || least > most || most.checked_add(2).is_none_or(|above| above > *count) {
                    return Err(Error::argument("a gate from 2 or more to count − 2 or less is required"));
                }
                Ok(())
            }
            Self::Answer { weight, .. } | Self::Rounded { weight, .. } if weight.is_negative() => {
                Err(Error::argument("a weight is at least 0"))
            }
            Self::Answer { .. } | Self::Rounded { .. } => Ok(()),
        }
    }

    pub(super) fn reversed(&self) -> Self {
        match self {
            Self::Entries { count, cells } => {
                let swap = |cell: &Cell| Cell {
                    mass: cell.mass.clone(),
                    first: cell.second.clone(),
                    second: cell.first.clone(),
                };
                Self::Entries { count: *count, cells: cells.iter().map(swap).collect() }
            }
            Self::Range { .. } | Self::Gated { .. } => self.clone(),
            Self::Answer { weight, first, second, reference } => Self::Answer {
                weight: weight.clone(),
                first: second.clone(),
                second: first.clone(),
                reference: reference.clone(),
            },
            Self::Rounded { weight, first, second, reference } => Self::Rounded {
                weight: weight.clone(),
                first: second.clone(),
                second: first.clone(),
                reference: reference.clone(),
            },
        }
    }

    /// What the part adds at `r = e^ε`. For real answers it gives one end of an enclosure.
    pub(super) fn at(&self, ratio: Ball, end: End, interrupt: &dyn Interrupt) -> Result<Evaluated, Error> {
        match self {
            Self::Entries { count, cells } => Ok(entries(*count, cells, ratio)),
            Self::Range { count, share, lower, upper } => {
                let laws = range::alternatives(*count, share, lower, upper, ratio)?;
                Ok(Evaluated { shape: Shape::Alternatives(laws), ..Evaluated::NOTHING })
            }
            Self::Gated { count, share, least, most } => {
                let (atoms, missing) = gate::dominating(*count, share, [*least, *most], ratio, interrupt)?;
                let laws = vec![Alternative { atoms, missing, entries: None }];
                Ok(Evaluated { shape: Shape::Alternatives(laws), ..Evaluated::NOTHING })
            }
            Self::Answer { weight, first, second, reference } => {
                let (rows, _) = rows_of([first, second, reference], interrupt)?;
                Ok(answer(Ball::from_rational(weight), rows.each_ref().map(|row| -> &Pmf { row }), ratio))
            }
            Self::Rounded { weight, first, second, reference } => {
                let [first, second, reference] =
                    [first, second, reference].map(|law| row(law, Some(LEFT_OUT_ROUNDED), interrupt));
                let rows = [&*first?, &*second?, &*reference?];
                let (atoms, lost) = rounded::atoms(Ball::from_rational(weight), rows, ratio, end)?;
                Ok(Evaluated { atoms, lost, ..Evaluated::NOTHING })
            }
        }
    }
}

/// Values and masses, and what is missing for δ.
pub(super) type Incomplete = (Vec<Atom>, Ball);

/// One of several laws; which one is unknown.
#[derive(Clone, Debug)]
pub(super) struct Alternative {
    pub atoms: Vec<Atom>,
    pub missing: Ball,
    /// Independent summands with this law, which is complete.
    pub entries: Option<Summand>,
}

/// The form in which the law of a summand is known.
#[derive(Clone, Debug)]
enum Shape {
    /// The sum of independent entries in these cells.
    Entries { count: u64, cells: Vec<Cell> },
    /// Only by its values.
    Answer,
    /// One of several: laws of what the whole part adds.
    Alternatives(Vec<Alternative>),
}

/// A part at one ε.
#[derive(Clone, Debug)]
pub(super) struct Evaluated {
    shape: Shape,
    /// Values and masses of one entry, or of the answer.
    atoms: Vec<Atom>,
    /// `w_k Σ (P_{k,v} − rP_{k,w})_+` over answers that `R_k` does not give.
    pub(super) certain: Ball,
    /// `m_R`, `w_k m_v`, `w_k m_w`: what is missing of the answer's laws.
    lost: [Ball; 3],
    /// The most that an entry adds to `w_k P_{k,v}/R_k`, and to `w_k P_{k,w}/R_k`.
    densities: [Ball; 2],
}

impl Evaluated {
    const NOTHING: Self = Self {
        shape: Shape::Answer,
        atoms: Vec::new(),
        certain: Ball::ZERO,
        lost: [Ball::ZERO; 3],
        densities: [Ball::ZERO; 2],
    };
}

fn entries(count: u64, cells: &[Cell], ratio: Ball) -> Evaluated {
    let entries = Ball::from_u64(count);
    let cells = sorted(cells);
    let mut found = Evaluated { shape: Shape::Entries { count, cells: cells.clone() }, ..Evaluated::NOTHING };
    for cell in &cells {
        let [first, second] = [&cell.first, &cell.second].map(Ball::from_rational);
        let gap = if cell.second.is_zero() { first } else { first - ratio * second };
        if cell.mass.is_zero() {
            found.certain = found.certain + gap.max(Ball::ZERO) * entries;
            continue;
        }
        let mass = Ball::from_rational(&cell.mass);
        found.atoms.push(Atom { value: gap / mass, mass });
        let [one, other] = found.densities;
        found.densities = [one.max(first / mass), other.max(second / mass)];
    }
    found
}

/// Cells in an order of their own, so that the same law looks the same.
fn sorted(cells: &[Cell]) -> Vec<Cell> {
    let mut cells = cells.to_vec();
    let compare = |a: &Rational, b: &Rational| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal);
    cells.sort_by(|a, b| {
        compare(&a.first, &b.first)
            .then_with(|| compare(&a.second, &b.second))
            .then_with(|| compare(&a.mass, &b.mass))
    });
    cells
}

/// From the rows of `P_{k,v}`, `P_{k,w}` and `R_k`.
fn answer(weight: Ball, [first, second, reference]: [&Pmf; 3], ratio: Ball) -> Evaluated {
    let lost = [reference.missing, weight * first.missing, weight * second.missing];
    let mut found = Evaluated { lost, ..Evaluated::NOTHING };
    let least = first.first.min(second.first).min(reference.first);
    let most = first.last().max(second.last()).max(reference.last());
    for answer in least..=most {
        let [one, other] = [first, second].map(|row| weight * row.at(answer));
        let gap = if other.is_exact_zero() { one } else { one - ratio * other };
        let mass = reference.at(answer);
        if mass.is_positive() {
            found.atoms.push(Atom { value: gap / mass, mass });
        } else if mass.is_exact_zero() {
            found.certain = found.certain + gap.max(Ball::ZERO);
        } else {
            // A mass that cannot be told from zero is left out, with what the others carry there.
            let [all, of_first, of_second] = found.lost;
            found.lost = [all + mass.max(Ball::ZERO), of_first + one, of_second + other];
        }
    }
    found
}

impl Evaluated {
    /// As one summand.
    pub(super) fn summand(&self, copies: u64) -> Result<Summand, Error> {
        let count = match self.shape {
            Shape::Entries { count, .. } => count.checked_mul(copies),
            Shape::Answer => Some(copies),
            Shape::Alternatives(_) => return Err(no_law()),
        };
        let count = count.ok_or_else(|| Error::argument("more than 2^64 entries"))?;
        Ok(Summand { count, atoms: self.atoms.clone() })
    }

    /// For each law that it may have summands with that law, and what is missing of them for δ.
    pub(super) fn each_law(&self, ratio: Ball) -> Result<Vec<(Summand, Ball)>, Error> {
        let Shape::Alternatives(laws) = &self.shape else {
            return Ok(vec![(self.summand(1)?, self.missing(1, ratio))]);
        };
        let of_law = |law: &Alternative| match &law.entries {
            Some(entries) => (entries.clone(), Ball::ZERO),
            None => (Summand { count: 1, atoms: law.atoms.clone() }, law.missing),
        };
        Ok(laws.iter().map(of_law).collect())
    }

    /// How many values [`Self::laws`] has, of each law.
    pub(super) fn lengths(&self, copies: u64) -> Vec<usize> {
        let repeated = |length: usize, copies: u64| {
            if copies > 64 { vec![usize::MAX] } else { vec![length; copies as usize] }
        };
        match &self.shape {
            Shape::Answer => repeated(self.atoms.len(), copies),
            Shape::Alternatives(_) => vec![usize::MAX],
            Shape::Entries { count, .. } => match (self.atoms.as_slice(), count.checked_mul(copies)) {
                ([_], _) => vec![1],
                ([one, other], Some(entries)) => {
                    // The mass outside a window of a hundred standard deviations is below 2^-480.
                    let deviation = (entries as f64 * about(one.mass) * about(other.mass)).sqrt();
                    vec![(entries as f64).min(60.0 * deviation + 1000.0) as usize + 1]
                }
                ([_, _, _], Some(entries)) if entries <= MAX_ENTRIES_OF_THREE_CELLS => {
                    vec![((entries + 1) * (entries + 2) / 2) as usize]
                }
                (atoms, Some(entries)) if entries <= 64 => repeated(atoms.len(), entries),
                _ => vec![usize::MAX],
            },
        }
    }

    /// The laws of the sum of all copies: values, masses, and what is missing for δ.
    pub(super) fn laws(&self, copies: u64, ratio: Ball) -> Result<(Vec<Vec<Atom>>, Ball), Error> {
        match &self.shape {
            Shape::Answer => Ok((vec![self.atoms.clone(); copies as usize], self.missing(copies, ratio))),
            Shape::Alternatives(_) => Err(no_law()),
            Shape::Entries { count, cells } => {
                let entries = count.saturating_mul(copies);
                match self.atoms.as_slice() {
                    [only] => {
                        let value = only.value * Ball::from_u64(entries);
                        Ok((vec![vec![Atom { value, ..*only }]], Ball::ZERO))
                    }
                    [one, other] => self.binomial(entries, cells, [one, other], ratio),
                    [one, other, third] if entries <= MAX_ENTRIES_OF_THREE_CELLS => {
                        self.trinomial(entries, cells, [one, other, third], ratio)
                    }
                    atoms => Ok((vec![atoms.to_vec(); entries as usize], Ball::ZERO)),
                }
            }
        }
    }

    /// `a` entries in the second cell with an atom, the others in the first.
    fn binomial(
        &self,
        entries: u64,
        cells: &[Cell],
        [one, other]: [&Atom; 2],
        ratio: Ball,
    ) -> Result<(Vec<Vec<Atom>>, Ball), Error> {
        let mut masses = cells.iter().map(|cell| &cell.mass).filter(|mass| !mass.is_zero());
        let Some(p) = masses.nth(1) else { return Err(Error::precision("a part without a second cell")) };
        let left_out = (entries as f64 > MAX_ANSWERS_OF_A_WHOLE_LAW).then_some(LEFT_OUT);
        let row = binomial_row(entries, p, left_out)?;
        let values =
            (row.first..).zip(&row.masses).filter(|(_, mass)| mass.is_positive()).map(|(a, &mass)| {
                let a = a.unsigned_abs();
                Atom {
                    value: other.value * Ball::from_u64(a)
                        + one.value * Ball::from_u64(entries.saturating_sub(a)),
                    mass,
                }
            });
        Ok((vec![values.collect()], self.lost_with(row.missing, entries, ratio)))
    }

    /// `a` entries in the third cell with an atom, `b` of the others in the second, and the rest in the first: `a` is binomial, and
    /// so is `b` given `a`.
    fn trinomial(
        &self,
        entries: u64,
        cells: &[Cell],
        [one, other, third]: [&Atom; 3],
        ratio: Ball,
    ) -> Result<(Vec<Vec<Atom>>, Ball), Error> {
        let masses: Vec<&Rational> =
            cells.iter().map(|cell| &cell.mass).filter(|mass| !mass.is_zero()).collect();
        let [p, q, s] = masses[..] else { return Err(Error::precision("a part without a third cell")) };
        let Some(share) = q.div(&p.add(q)) else { return Err(Error::precision("a cell without mass")) };
        let thirds = binomial_row(entries, s, None)?;
        let (mut atoms, mut missing) = (Vec::new(), thirds.missing);
        for (a, &in_third) in (thirds.first..).zip(&thirds.masses) {
            let rest = entries.saturating_sub(a.unsigned_abs());
            let seconds = binomial_row(rest, &share, None)?;
            let above = third.value * Ball::from_u64(a.unsigned_abs());
            missing = missing + in_third * seconds.missing;
            for (b, &in_second) in (seconds.first..).zip(&seconds.masses) {
                let b = b.unsigned_abs();
                let below =
                    other.value * Ball::from_u64(b) + one.value * Ball::from_u64(rest.saturating_sub(b));
                atoms.push(Atom { value: above + below, mass: in_third * in_second });
            }
        }
        atoms.retain(|atom| atom.mass.is_positive());
        Ok((vec![atoms], self.lost_with(missing, entries, ratio)))
    }

    /// What is missing for δ where this mass of the law of so many entries is left out: `w_k P_{k,v}` is at most this multiple of
    /// `R_k` at each answer, and so are the missing masses.
    fn lost_with(&self, missing: Ball, entries: u64, ratio: Ball) -> Ball {
        let [first, second] = self.densities.map(|density| density * Ball::from_u64(entries));
        missing * (Ball::ONE + first + ratio * (Ball::ONE + second))
    }

    /// What is missing for δ: `m_R + w_k m_v` above and `r (m_R + w_k m_w)` below, of each copy.
    pub(super) fn missing(&self, copies: u64, ratio: Ball) -> Ball {
        let [all, first, second] = self.lost;
        ((Ball::ONE + ratio) * all + first + ratio * second) * Ball::from_u64(copies)
    }

    /// The greatest value that it adds with a positive probability, if that is known.
    pub(super) fn greatest(&self, ratio: Ball) -> Option<Ball> {
        let known = self.missing(1, ratio).is_exact_zero();
        let summand = known.then(|| self.summand(1).ok()).flatten()?;
        Some(summand.highest()? * Ball::from_u64(summand.count))
    }

    /// Both together where they are entries with one law.
    pub(super) fn together(&self, copies: u64, other: &Self, others: u64) -> Option<Self> {
        match (&self.shape, &other.shape) {
            (Shape::Entries { count, cells }, Shape::Entries { count: more, cells: same })
                if cells == same =>
            {
                let entries = count.checked_mul(copies)?.checked_add(more.checked_mul(others)?)?;
                let certain = self.certain * Ball::from_u64(copies) + other.certain * Ball::from_u64(others);
                Some(Self {
                    shape: Shape::Entries { count: entries, cells: cells.clone() },
                    certain,
                    ..self.clone()
                })
            }
            _ => None,
        }
    }

    /// Whether it is not known which of several laws it has.
    pub(super) fn is_any_of_several(&self) -> bool {
        matches!(self.shape, Shape::Alternatives(_))
    }

    /// Whether its values belong to the pairs of counts of two cells, the third one being the rest.
    fn counts_three_cells(&self) -> bool {
        matches!(self.shape, Shape::Entries { .. }) && self.atoms.len() == 3
    }

    /// Whether they are entries with one law, of one number.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (&self.shape, &other.shape) {
            (Shape::Entries { count, cells }, Shape::Entries { count: same, cells: others }) => {
                count == same && cells == others
            }
            _ => false,
        }
    }

    /// The laws of what this part may add, and what is missing, where its values are few enough to be listed.
    pub(super) fn alone(&self, ratio: Ball) -> Result<Option<Vec<Incomplete>>, Error> {
        if let Shape::Alternatives(laws) = &self.shape {
            return Ok(Some(laws.iter().map(|law| (law.atoms.clone(), law.missing)).collect()));
        }
        let most = if self.counts_three_cells() { MAX_PAIRS_OF_COUNTS_ALONE } else { MAX_COMBINATIONS };
        let lengths = self.lengths(1);
        if lengths.len() != 1 || lengths.iter().any(|&length| length > most) {
            return Ok(None);
        }
        let (mut laws, missing) = self.laws(1, ratio)?;
        Ok(laws.pop().map(|law| vec![(law, missing)]))
    }

    /// The law of what one entry adds, and the number of entries.
    pub(super) fn one_entry(&self) -> (&[Atom], u64) {
        match self.shape {
            Shape::Entries { count, .. } => (&self.atoms, count),
            Shape::Answer | Shape::Alternatives(_) => (&self.atoms, 1),
        }
    }
}

/// Parts that are entries with one law, as one part.
pub(super) fn merged(parts: Vec<(u64, &Evaluated)>) -> Vec<(u64, Evaluated)> {
    let mut merged: Vec<(u64, Evaluated)> = Vec::new();
    'parts: for (copies, part) in parts {
        for (others, known) in &mut merged {
            if let Some(together) = known.together(*others, part, copies) {
                (*others, *known) = (1, together);
                continue 'parts;
            }
        }
        merged.push((copies, part.clone()));
    }
    merged
}

/// The laws of an answer in windows, and whether these hold all of them.
pub(super) fn rows_of(laws: [&Law; 3], interrupt: &dyn Interrupt) -> Result<([Arc<Pmf>; 3], bool), Error> {
    let is_short =
        |law: &&Law| law.span() <= MAX_ANSWERS_OF_A_WHOLE_LAW && matches!(law.support(), (Some(_), Some(_)));
    let whole = laws.iter().all(is_short);
    let left_out = (!whole).then_some(LEFT_OUT);
    let [first, second, reference] = laws.map(|law| row(law, left_out, interrupt));
    Ok(([first?, second?, reference?], whole))
}

/// A binomial law without a mass of about `2^-left_out`, if this is given.
pub(super) fn binomial_row(entries: u64, p: &Rational, left_out: Option<u32>) -> Result<Arc<Pmf>, Error> {
    row(&Law::binomial(entries, p)?, left_out, &Uninterrupted)
}

fn no_law() -> Error {
    Error::precision("a range of probabilities has a bound of all its laws, and no law of its own")
}

#[cfg(test)]
mod tests {
    use super::super::enumeration;
    use super::*;

    fn is_exactly(x: Ball, truth: &str) -> bool {
        let enclosure = x.to_enclosure();
        enclosure.contains(&Rational::parse(truth).unwrap()) && enclosure.width() < 1e-15
    }

    /// Of seven entries in three cells: `C(9, 2)` pairs of counts, with the law of a sum of seven entries.
    #[test]
    fn counts_of_three_cells_have_the_law_of_the_sum_of_their_entries() {
        let cells = [["1/2", "1/7", "0"], ["1/3", "0", "1/7"], ["1/6", "0", "0"]].map(|cell| {
            let [mass, first, second] = cell.map(|text| Rational::parse(text).unwrap());
            Cell { mass, first, second }
        });
        let ratio = Ball::from_u64(11) / Ball::from_u64(10);
        let found = entries(7, &cells, ratio);
        let (laws, missing) = found.laws(1, ratio).unwrap();
        assert_eq!((found.lengths(1), laws.len(), laws[0].len()), (vec![36], 1, 36));
        assert!(missing.is_exact_zero());
        let one_by_one = vec![found.atoms.clone(); 7];
        for hundredths in [-50, 0, 3, 40] {
            let constant = Ball::from_i64(hundredths) / Ball::from_u64(100);
            let [listed, expected] = [&laws, &one_by_one]
                .map(|laws| enumeration::positive_part(constant, laws, &Uninterrupted).unwrap());
            assert!(!listed.certainly_less(expected) && !expected.certainly_less(listed));
            assert!(listed.to_enclosure().width() <= 1e-15);
        }
    }

    /// What is missing of a law is multiplied by the most that an entry adds: of masses ½, ¼, ¼ these are 2 = ½/¼ and 3 = ¾/¼.
    #[test]
    fn the_most_that_an_entry_adds_is_the_largest_quotient_of_a_cell() {
        let cells = [["1/2", "1/4", "1/8"], ["1/4", "1/2", "1/8"], ["1/4", "1/4", "3/4"]].map(|cell| {
            let [mass, first, second] = cell.map(|text| Rational::parse(text).unwrap());
            Cell { mass, first, second }
        });
        let found = entries(7, &cells, Ball::ONE);
        assert!(is_exactly(found.densities[0], "2") && is_exactly(found.densities[1], "3"), "{found:?}");
        assert!(is_exactly(found.certain, "0"));
    }

    /// An entry that only the first value can have shows it: seven entries, each with ¼.
    #[test]
    fn answers_that_the_reference_does_not_give_count_for_each_entry() {
        let cells = [["1", "3/4", "1"], ["0", "1/4", "0"]].map(|cell| {
            let [mass, first, second] = cell.map(|text| Rational::parse(text).unwrap());
            Cell { mass, first, second }
        });
        assert!(is_exactly(entries(7, &cells, Ball::ONE).certain, "7/4"));
    }

    /// `((1 + r) m_R + w m_v + r w m_w)` of each copy, here with `r = 2`, three copies and masses in units of `2^-10`: `3 (3 · 1 + 2 + 2 · 4)`.
    #[test]
    fn what_is_missing_counts_the_second_law_as_often_as_the_ratio_says() {
        let lost =
            ["1/1024", "1/512", "1/256"].map(|text| Ball::from_rational(&Rational::parse(text).unwrap()));
        let found = Evaluated { lost, ..Evaluated::NOTHING };
        assert!(is_exactly(found.missing(3, Ball::from_u64(2)), "39/1024"));
    }

    /// Of three answers the reference law gives the second with a mass between −1/1024 and 1/1024. Missing are that mass, and half of what the
    /// others give to it, next to what their rows say: 1/512 + 1/1024, 1/16 + ½ · ¼ and 1/32 + ½ · ½.
    #[test]
    fn an_answer_whose_mass_cannot_be_told_from_zero_is_missing_of_all_three_laws() {
        let ball = |text: &str| Ball::from_rational(&Rational::parse(text).unwrap());
        let row =
            |masses: [Ball; 3], missing| Pmf { first: 4, masses: masses.to_vec(), missing: ball(missing) };
        let unknown = ball("-1/1024").hull(ball("1/1024"));
        let reference = row([ball("1/2"), unknown, ball("1/2")], "1/512");
        let first = row([ball("1/2"), ball("1/4"), ball("1/4")], "1/8");
        let second = row([ball("1/4"), ball("1/2"), ball("1/4")], "1/16");
        let found = answer(ball("1/2"), [&first, &second, &reference], Ball::ONE);
        let [all, of_first, of_second] = found.lost;
        assert_eq!(found.atoms.len(), 2);
        assert!(
            all.to_enclosure().upper() - 3.0 / 1024.0 < 1e-15 && !all.certainly_less(ball("3/1024")),
            "{all:?}"
        );
        assert!(is_exactly(of_first, "3/16") && is_exactly(of_second, "9/32"), "{found:?}");
    }
}
