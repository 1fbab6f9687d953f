//! One law for several patterns: the least upper bound in (increasing) convex order.
//!
//! If `E(X − t)_+ ≤ E(Y − t)_+` for all `t`, then `E(X + Z)_+ ≤ E(Y + Z)_+` for every independent Z, and so one summand after the other may be
//! replaced. The pointwise maximum of the stop-loss transforms of all alternatives of a summand is convex. So is the function that agrees with it
//! at chosen points and is linear between them; it is nowhere smaller, and it is the stop-loss transform of the measure whose masses are the
//! changes of its slope. These are rounded up: a larger mass makes a larger transform.
//!
//! Before that, values may be raised: that makes no transform smaller. With `x⁺` the greatest value of a summand and `s⁺ > 0` that of the sum, values
//! below `x⁺ − 2s⁺` are raised to it. A sum with one of them is at most `x⁺ − 2s⁺ + (s⁺ − x⁺) < 0` before and after, so that nothing is lost, and
//! the values of a large `e^ε` are no farther apart than those that count. And values may be lowered to some `v`: `(x + z)_+ ≤ (min(x, v) + z)_+ + (x − v)_+`, so that `E(X − v)_+` is
//! added. Of a rare property the greatest values are far away and next to impossible, where chords would make too much of them.

use super::Prepared;
use super::enumeration::{self, Tail};
use super::inversion::{self, Goal};
use super::part::Evaluated;
use super::sum::{Atom, Sum, Summand, about};
use crate::budget::{MAX_LAWS_CROSSED, MAX_VALUES_OF_ALTERNATIVES};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::approximate;
use crate::numbers::ball::Ball;
use crate::numbers::double_double::DoubleDouble;

/// Number of points of the maximum otherwise.
const SPREAD_POINTS: i32 = 256;
/// Points are at least this part of the whole apart: `2⁻³⁸`.
const NEAREST: f64 = 1.0 / (1u64 << 38) as f64;
/// Standard deviations below the mean beyond which a law has almost no mass.
const FARTHEST_BELOW: f64 = 12.0;
/// Negative binary logarithm of what lowering the values of a summand may add: `2^-400`.
const CAPPED: u64 = 400;
/// The width to which the bound is computed; the bound itself is looser.
const WIDTH: Goal = Goal::Within { usually: 1e-6, at_most: 1e-4 };

/// Independent summands, each with any of several laws.
#[derive(Debug)]
struct Candidates {
    /// The number of summands.
    count: u64,
    laws: Vec<Vec<Atom>>,
    /// The missing mass of all of them, for δ.
    missing: Ball,
}

/// For each kind of attributes summands that dominate whatever their values are, and what is added to the stop-loss of all.
#[derive(Debug)]
pub(super) struct Dominating {
    /// By kind; none where no sum is positive.
    pub summands: Vec<Vec<Summand>>,
    /// At most `w_k Σ (P_{k,v} − rP_{k,w})_+` over answers that `R_k` does not give, by kind.
    pub certain: Vec<Ball>,
    /// A bound of what the missing masses add.
    pub missing: Ball,
    /// The greatest value of the sum.
    pub most: Ball,
}

impl Prepared<'_> {
    /// Summands that dominate those of every pattern.
    pub(super) fn dominating(&self, interrupt: &dyn Interrupt) -> Result<Dominating, Error> {
        let (mut kinds, mut certain) = (Vec::new(), Vec::new());
        for (attribute, choices) in self.composition.attributes.iter().zip(&self.parts) {
            interrupt.check()?;
            let (mut laws, mut worst) = (Vec::new(), Ball::ZERO);
            for place in 0..choices.first().map_or(0, Vec::len) {
                let alternatives: Vec<&Evaluated> =
                    choices.iter().filter_map(|choice| choice.get(place)).collect();
                laws.push(Candidates::of(&alternatives, attribute.count, self.ratio)?);
                worst = worst + alternatives.iter().fold(Ball::ZERO, |worst, part| worst.max(part.certain));
            }
            kinds.push(laws);
            certain.push(worst * Ball::from_u64(attribute.count));
        }
        for found in kinds.iter_mut().flatten() {
            found.cap();
        }
        let all = || kinds.iter().flatten();
        let missing = all().fold(Ball::ZERO, |sum, found| sum + found.missing);
        let highest = |found: &Candidates| found.highest() * Ball::from_u64(found.count);
        let most = all().map(highest).fold(self.constant, |sum, highest| sum + highest);
        let mut summands: Vec<Vec<Summand>> = Vec::new();
        for laws in kinds.into_iter().filter(|_| !most.is_not_positive()) {
            interrupt.check()?;
            summands.push(laws.into_iter().map(|law| law.dominating(most)).collect::<Result<_, Error>>()?);
        }
        // Beside a value that is missing all other summands together have at most this expectation.
        let others = summands.iter().flatten().fold(self.constant.max(Ball::ZERO), |total, summand| {
            let gains = summand.atoms.iter().map(|atom| atom.mass * atom.value.max(Ball::ZERO));
            total + gains.fold(Ball::ZERO, |sum, gain| sum + gain) * Ball::from_u64(summand.count)
        });
        let worst = certain.iter().fold(Ball::ONE + others, |sum, &worst| sum + worst);
        Ok(Dominating { summands, certain, missing: missing * worst, most })
    }

    /// A bound of every pattern.
    pub(super) fn envelope(&self, dominating: &Dominating, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let added = dominating.certain.iter().fold(dominating.missing, |sum, &certain| sum + certain);
        if dominating.most.is_not_positive() {
            return Ok(added);
        }
        let sum = Sum {
            constant: self.constant,
            summands: dominating.summands.iter().flatten().cloned().collect(),
        };
        let positive = if sum.is_short() {
            enumeration::positive_part(self.constant, &sum.laws(), interrupt)?
        } else {
            inversion::positive_part(&sum, WIDTH, interrupt)?
        };
        Ok(positive + added)
    }
}

impl Candidates {
    /// The laws of a part, or those of one of its entries where these are too many to list what their sums are: sums of independent dominating
    /// variables dominate.
    fn of(alternatives: &[&Evaluated], copies: u64, ratio: Ball) -> Result<Self, Error> {
        let Some((first, others)) = alternatives.split_first() else {
            return Err(Error::argument("an attribute without values"));
        };
        if !first.is_any_of_several() && others.iter().all(|other| other.is_like(first)) {
            let Summand { count, atoms } = first.summand(copies)?;
            return Ok(Self { count, laws: vec![atoms], missing: first.missing(copies, ratio) });
        }
        let alone =
            alternatives.iter().map(|part| part.alone(ratio)).collect::<Result<Option<Vec<_>>, Error>>()?;
        if let Some(laws) = alone {
            let (laws, missing): (Vec<Vec<Atom>>, Vec<Ball>) = laws.into_iter().flatten().unzip();
            let most = missing.into_iter().fold(Ball::ZERO, Ball::max);
            return Ok(Self { count: copies, laws, missing: most * Ball::from_u64(copies) });
        }
        let entries: Vec<(&[Atom], u64)> = alternatives.iter().map(|part| part.one_entry()).collect();
        let count = entries.first().map_or(1, |(_, count)| *count);
        if entries.iter().any(|(_, other)| *other != count) {
            return Err(Error::precision(
                "parts of one attribute with different numbers of entries have no common bound",
            ));
        }
        let count = count.checked_mul(copies).ok_or_else(|| Error::argument("more than 2^64 entries"))?;
        let laws = entries.into_iter().map(|(law, _)| law.to_vec()).collect();
        Ok(Self { count, laws, missing: Ball::ZERO })
    }

    /// Lowers values with almost no mass above them.
    fn cap(&mut self) {
        if self.laws.len() < 2 {
            return;
        }
        let negligible = (Ball::ONE / Ball::from_u64(2)).powi(CAPPED);
        let mut values: Vec<f64> = self.laws.iter().flatten().map(|atom| about(atom.value)).collect();
        values.sort_by(f64::total_cmp);
        let [.., second, most] = values[..] else { return };
        // Above the second highest value there is at least what the highest one alone adds. Mostly that is not negligible,
        // and then the few values above it are all that is asked of each law.
        let mut highest = self.laws.iter().flatten().filter(|atom| about(atom.value) >= most);
        let few = highest.any(|atom| !((atom.value - exact(second)) * atom.mass).certainly_less(negligible));
        let asked = |law: &Vec<Atom>| {
            let is_asked = |atom: &&Atom| !few || about(atom.value) >= second;
            Tail::new(&law.iter().filter(is_asked).copied().collect::<Vec<_>>())
        };
        let transforms: Vec<Tail> = self.laws.iter().map(asked).collect();
        let beyond = |at: f64| {
            transforms.iter().fold(Ball::ZERO, |most, transform| most.max(transform.stop_loss(exact(at))))
        };
        let from = if few { values.partition_point(|&value| value < most) } else { 0 };
        let above = values.get(from..).unwrap_or_default();
        let first = above.partition_point(|&value| !beyond(value).certainly_less(negligible));
        let Some(&cap) = above.get(first) else { return };
        for atom in self.laws.iter_mut().flatten() {
            atom.value = atom.value.min(exact(cap));
        }
        self.missing = self.missing + beyond(cap) * Ball::from_u64(self.count);
    }

    /// The greatest value of one summand.
    fn highest(&self) -> Ball {
        self.laws.iter().flatten().map(|atom| atom.value).reduce(Ball::max).unwrap_or(Ball::ZERO)
    }

    /// Summands that dominate, where the sum of all is at most `most`, a positive number.
    fn dominating(self, most: Ball) -> Result<Summand, Error> {
        let highest = self.highest();
        let Self { count, mut laws, .. } = self;
        for law in &mut laws {
            raise(law, highest, most);
        }
        let atoms = if let [only] = laws.as_slice() { only.clone() } else { chords(&laws)? };
        Ok(Summand { count, atoms })
    }
}

/// Values more than twice the greatest value of the sum below the greatest of a summand are raised to that.
pub(super) fn raise(law: &mut [Atom], highest: Ball, most: Ball) {
    for atom in law {
        atom.value = atom.value.max(highest - most - most);
    }
}

fn exact(x: f64) -> Ball {
    Ball::from_double_double(DoubleDouble::from_f64(x), 0.0)
}

/// The measure whose stop-loss transform is linear between chosen points, and there the maximum of those of the laws.
fn chords(laws: &[Vec<Atom>]) -> Result<Vec<Atom>, Error> {
    let transforms: Vec<Tail> = laws.iter().map(|law| Tail::new(law)).collect();
    let height = |at: f64| {
        transforms.iter().fold(Ball::ZERO, |most, transform| most.max(transform.stop_loss(exact(at))))
    };
    let points = points(laws, &transforms);
    let heights: Vec<Ball> = points.iter().map(|&point| height(point)).collect();
    // The last point lies above all values, where the transform is zero.
    if !heights.last().is_none_or(|height| height.is_exact_zero()) {
        return Err(Error::precision("the values of these parts cannot be told apart"));
    }
    let whole = transforms.iter().fold(Ball::ZERO, |most, transform| most.max(transform.mass()));
    let gaps = points.iter().zip(points.iter().skip(1)).map(|(&one, &next)| exact(next) - exact(one));
    let rises = heights.iter().zip(heights.iter().skip(1)).map(|(&one, &next)| next - one);
    let slopes = rises.zip(gaps).map(|(rise, gap)| rise / gap).chain([Ball::ZERO]);
    let mut before = -whole;
    let mut atoms = Vec::new();
    for (&point, slope) in points.iter().zip(slopes) {
        let mass = (slope - before).to_enclosure().upper();
        before = slope;
        if mass > 0.0 {
            atoms.push(Atom { value: exact(point), mass: exact(mass) });
        }
    }
    Ok(atoms)
}

/// Values of the laws where these are few, else points that are close to each other near the middle; with one above all of them, and about where one
/// law takes over from another. Far below the means no point is needed: there the function goes on with its steepest slope, that of the whole mass.
fn points(laws: &[Vec<Atom>], transforms: &[Tail]) -> Vec<f64> {
    let mut points: Vec<f64> = laws.iter().flatten().map(|atom| about(atom.value)).collect();
    points.sort_by(f64::total_cmp);
    let (Some(&least), Some(&most)) = (points.first(), points.last()) else { return points };
    let nearest = (most - least) * NEAREST;
    apart(&mut points, nearest);
    let (mean, deviation) = widest(laws);
    if points.len() > MAX_VALUES_OF_ALTERNATIVES {
        points = spread_points(mean, deviation, [least, most]);
    }
    points.retain(|point| *point >= mean - FARTHEST_BELOW * deviation);
    let reach = (most - least).max(most.abs());
    // Where every law is a constant zero any point above it will do.
    points.push(if reach > 0.0 { most + reach * f64::EPSILON.sqrt() } else { 1.0 });
    apart(&mut points, nearest);
    // Of two laws one takes over from the other once between two points; of several a few more times.
    let rounds = if laws.len() <= MAX_LAWS_CROSSED { laws.len() - 1 } else { 0 };
    for _ in 0..rounds {
        let neighbours = points.iter().zip(points.iter().skip(1));
        let crossings: Vec<f64> =
            neighbours.filter_map(|(&one, &next)| crossing(transforms, one, next)).collect();
        points.extend(crossings);
        apart(&mut points, nearest);
    }
    points
}

/// In order, and of points that are next to each other the first: between them a slope would be all rounding.
fn apart(points: &mut Vec<f64>, nearest: f64) {
    points.sort_by(f64::total_cmp);
    points.dedup_by(|point, before| *point - *before <= nearest);
}

/// About the mean and the deviation of the law with the largest deviation.
fn widest(laws: &[Vec<Atom>]) -> (f64, f64) {
    let moments = |law: &Vec<Atom>| {
        let sum = |of: &dyn Fn(f64) -> f64| {
            law.iter().map(|atom| about(atom.mass) * of(about(atom.value))).sum::<f64>()
        };
        let mean = sum(&|value| value);
        (mean, sum(&|value| (value - mean) * (value - mean)).sqrt())
    };
    laws.iter().map(moments).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0.0, 0.0))
}

/// `mean + σ sinh u` for equally spaced `u`.
fn spread_points(mean: f64, deviation: f64, [least, most]: [f64; 2]) -> Vec<f64> {
    let half = SPREAD_POINTS / 2;
    let points = (-half..=half).map(|step| {
        let u = 5.0 * f64::from(step) / f64::from(half);
        mean + deviation * (approximate::exp(u) - approximate::exp(-u)) / 2.0
    });
    points.filter(|point| *point > least && *point < most).chain([least, most]).collect()
}

/// About where between two points the maximum goes over from the transform that is highest at the one to that at the other.
fn crossing(transforms: &[Tail], one: f64, next: f64) -> Option<f64> {
    let heights = |at: f64| {
        transforms.iter().map(|transform| about(transform.stop_loss(exact(at)))).collect::<Vec<_>>()
    };
    let (at_one, at_next) = (heights(one), heights(next));
    let highest = |heights: &[f64]| {
        heights.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(place, _)| place)
    };
    let (first, second) = (highest(&at_one)?, highest(&at_next)?);
    let lead = at_one.get(first)? - at_one.get(second)?;
    let loss = at_next.get(second)? - at_next.get(first)?;
    let place = one + (next - one) * lead / (lead + loss);
    (first != second && place > one && place < next).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, End, Part};
    use super::*;
    use crate::interrupt::Uninterrupted;
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;

    fn laws() -> impl Strategy<Value = Vec<Vec<Atom>>> {
        let law = prop::collection::vec((-3.0..3.0f64, 0.01..1.0f64), 1..8).prop_map(|atoms| {
            let total: f64 = atoms.iter().map(|(_, mass)| mass).sum();
            atoms
                .iter()
                .map(|(value, mass)| Atom { value: exact(*value), mass: exact(mass / total) })
                .collect()
        });
        prop::collection::vec(law, 1..4)
    }

    #[test]
    fn laws_that_are_all_a_constant_zero_are_bounded_by_one() {
        let zero = vec![Atom { value: exact(0.0), mass: exact(1.0) }];
        let bound = chords(&[zero.clone(), zero]).unwrap();
        assert!(Tail::new(&bound).stop_loss(exact(0.0)).is_exact_zero());
    }

    /// Values that are next to impossible are lowered to zero, below which the rest lies: what that takes away, of each of three variables, is missing.
    #[test]
    fn what_is_taken_away_by_lowering_values_is_missing() {
        let impossible = (Ball::ONE / Ball::from_u64(2)).powi(500);
        let law = |far: f64| {
            let likely = [(-1.0, 0.25), (0.0, 0.75)]
                .map(|(value, mass)| Atom { value: exact(value), mass: exact(mass) });
            likely.into_iter().chain([Atom { value: exact(far), mass: impossible }]).collect()
        };
        let mut candidates =
            Candidates { count: 3, laws: vec![law(1000.0), law(2000.0)], missing: Ball::ZERO };
        candidates.cap();
        assert!(candidates.highest().is_exact_zero());
        assert!(!candidates.missing.certainly_less(Ball::from_u64(6000) * impossible));
        assert!(candidates.missing.certainly_less(Ball::from_u64(6001) * impossible));
    }

    proptest! {
        /// Of laws with values as rare as 2^-900: no stop-loss falls by more than what is said to be missing.
        #[test]
        fn no_stop_loss_falls_by_more_than_is_missing(
            laws in laws(),
            rare in prop::collection::vec(0u64..900, 1..9),
            at in -4.0..4.0f64,
        ) {
            let scaled = |(atom, &bits): (&Atom, &u64)| Atom {
                mass: atom.mass * (Ball::ONE / Ball::from_u64(2)).powi(bits),
                ..*atom
            };
            let before: Vec<Vec<Atom>> =
                laws.iter().map(|law| law.iter().zip(rare.iter().cycle()).map(scaled).collect()).collect();
            let mut candidates = Candidates { count: 1, laws: before.clone(), missing: Ball::ZERO };
            candidates.cap();
            for (law, lowered) in before.iter().zip(&candidates.laws) {
                let left = Tail::new(lowered).stop_loss(exact(at)) + candidates.missing;
                prop_assert!(!left.certainly_less(Tail::new(law).stop_loss(exact(at))));
            }
        }
    }

    /// Of a hundred entries in three cells, copied three times, no values are listed: one entry stands for each of three hundred.
    #[test]
    fn parts_of_many_entries_are_dominated_entry_by_entry() {
        let ratio = exact(1.5);
        let part = |count: u64, first: [&str; 3], second: [&str; 3]| {
            let cell = |(mass, (first, second)): (&str, (&str, &str))| {
                let [mass, first, second] = [mass, first, second].map(|text| Rational::parse(text).unwrap());
                Cell { mass, first, second }
            };
            let cells =
                ["1/2", "1/4", "1/4"].into_iter().zip(first.into_iter().zip(second)).map(cell).collect();
            Part::Entries { count, cells }.at(ratio, End::Upper, &Uninterrupted).unwrap()
        };
        let [one, other] = [["1/500", "0", "0"], ["0", "1/500", "0"]];
        let (there, back) = (part(100, one, other), part(100, other, one));
        let found = Candidates::of(&[&there, &back], 3, ratio).unwrap();
        assert_eq!((found.count, found.laws.len()), (300, 2));
        assert!(found.laws.iter().all(|law| law.len() == 3) && found.missing.is_exact_zero());
        let refused = Candidates::of(&[&there, &part(99, other, one)], 3, ratio).unwrap_err();
        let message = "parts of one attribute with different numbers of entries have no common bound";
        assert_eq!(refused, Error::precision(message));
    }

    proptest! {
        /// Above every transform everywhere, and on no chord above what the chosen points and convexity allow.
        #[test]
        fn chords_dominate_and_touch(laws in laws(), at in -4.0..4.0f64) {
            let transforms: Vec<Tail> = laws.iter().map(|law| Tail::new(law)).collect();
            let bound = Tail::new(&chords(&laws).unwrap());
            let most = |at: f64| transforms.iter().fold(Ball::ZERO, |most, tail| most.max(tail.stop_loss(exact(at))));
            let slack = exact(1e-12);
            prop_assert!(!(bound.stop_loss(exact(at)) + slack * slack).certainly_less(most(at)));
            for point in points(&laws, &transforms) {
                let (above, touched) = (bound.stop_loss(exact(point)), most(point));
                prop_assert!(!above.certainly_less(touched));
                prop_assert!(!(touched + slack).certainly_less(above));
            }
        }
    }
}
