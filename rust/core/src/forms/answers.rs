//! Two laws of answers, given as recipes: any query, sampling, post-processing and noise on the integers.
//!
//! `Δ(ε) = Σ_a max(0, P(a) − e^ε Q(a))`. With the rows of [`crate::answer::pmf`], `P = x + y` and `Q = x' + y'`, `Σy ≤ m`, `Σy' ≤ m'`,
//! the positive part being nondecreasing and of slope at most one,
//!
//! ```text
//! Σ_a max(0, x(a) − r x'(a)) − r m'  ≤  Δ  ≤  Σ_a max(0, x(a) − r x'(a)) + m.
//! ```
//!
//! The missing mass is reduced from level to level until it does not matter beside the value.

mod shifts;

pub(crate) use shifts::contenders;

use super::hockey_stick::{Digits, Form, HockeyStick};
use super::{Direction, Epsilon};
use crate::answer::pmf::{Pmf, power, rows};
use crate::answer::rationals::{self, Masses};
use crate::answer::{Law, Recipe};
use crate::budget::MAX_ANSWERS_TO_THE_LAST;
use crate::digits::{
    self,
    ends::Limit,
    probability::{Ratio, size},
    settle,
};
use crate::error::Error;
use crate::exact::{self, quotient::Quotient};
use crate::interrupt::Interrupt;
use crate::interrupt::Uninterrupted;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use std::cmp::Ordering;
use std::sync::{Arc, Mutex};

/// Negative binary logarithms of the mass that may be missing, tried in this order; at the last level no mass is missing.
const LEVELS: [Option<u32>; 7] =
    [Some(80), Some(120), Some(240), Some(OF_SAMPLES), Some(1130), Some(2100), None];
/// Up to this level the laws of a sample given its population are double-doubles. Beyond it they are balls.
const OF_SAMPLES: u32 = 460;
/// Bits of a Δ below every positive double. The least of these is 2^-1074.
const BELOW_DOUBLES: u32 = 1100;
/// The level of [`LEVELS`], 2^-240, at which an undecided answer counts as impossible.
const WIDE: usize = 2;
/// Maximum relative width of a value that is returned.
pub(super) const ACCURATE: f64 = 1e-14;
/// Answers between two polls of the interrupt.
pub(super) const ANSWERS_PER_CHECK: usize = 4096;

type Rows = [Arc<Pmf>; 2];
/// A value of the masses that are known of both laws, by level.
pub(super) type OfRows<'a> = dyn Fn(usize, [&Pmf; 2]) -> Result<Ball, Error> + 'a;

/// The laws of the released answer under two values of the critical entry.
#[derive(Clone, Debug)]
pub struct Answers {
    shared: Arc<Shared>,
    /// Whether the second law stands first.
    reversed: bool,
}

#[derive(Debug)]
struct Shared {
    laws: [Law; 2],
    rows: Mutex<Vec<Rows>>,
    rationals: Mutex<Option<Arc<[Masses; 2]>>>,
}

impl Answers {
    /// The pair of `P_v` and `P_w` for `Δ_{v,w}`.
    #[must_use]
    pub fn new(first: Law, second: Law) -> Self {
        let (rows, rationals) = (Mutex::new(Vec::new()), Mutex::new(None));
        Self { shared: Arc::new(Shared { laws: [first, second], rows, rationals }), reversed: false }
    }

    /// The pair of a property in one direction, from its laws under 1 and under 0.
    pub(crate) fn in_direction(one: Law, zero: Law, direction: Direction) -> Self {
        Self { reversed: direction == Direction::ZeroAgainstOne, ..Self::new(one, zero) }
    }

    /// The two laws.
    #[must_use]
    pub fn laws(&self) -> [&Law; 2] {
        self.in_order(&self.shared.laws)
    }

    /// The other direction. Both share what was computed for one of them.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { reversed: !self.reversed, ..self.clone() }
    }

    /// Two values in the order of the laws.
    pub(crate) fn in_order<'a, T>(&self, [one, other]: &'a [T; 2]) -> [&'a T; 2] {
        if self.reversed { [other, one] } else { [one, other] }
    }

    /// The approximate number of terms of one evaluation.
    #[must_use]
    pub fn terms(&self) -> f64 {
        self.laws().map(Law::span).into_iter().fold(0.0, f64::max).min(1e6)
    }

    /// `Δ(ε)` for `ε ≥ 0`, to full accuracy unless it is certainly below `floor` or below all doubles.
    ///
    /// # Errors
    /// Laws on too many answers; [`Error::Interrupted`].
    pub fn delta(&self, epsilon: &Epsilon, floor: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let ratio = epsilon.ratio();
        self.by_levels(ratio, floor, interrupt, &|_, [first, second]| {
            positive_part(first, ratio, second, interrupt)
        })
    }

    /// `Δ` from its value for the `x` alone, level after level until the missing mass does not matter.
    ///
    /// The value may be that of the answers after any post-processing, such as added noise: the bounds of the module documentation hold for the
    /// processed laws, whose missing masses are the same.
    pub(super) fn by_levels(
        &self,
        ratio: Ball,
        floor: Ball,
        interrupt: &dyn Interrupt,
        value: &OfRows<'_>,
    ) -> Result<Ball, Error> {
        let mut found = Err(Error::precision("these laws cannot be enclosed"));
        for level in 0..LEVELS.len() {
            let known = self.rows(level, interrupt).and_then(|rows| {
                let [first, second] = self.in_order(&rows);
                Ok((value(level, [first, second])?, [first.missing, second.missing]))
            });
            let (sum, [missing, other]) = match known {
                Ok(known) => known,
                // Wider windows are out of reach. The value found is right and cannot be made narrower.
                Err(Error::Precision(_)) if found.is_ok() => return found,
                Err(error) => return Err(error),
            };
            let delta = sum.plus_at_most(missing + ratio * other);
            let complete = missing.is_exact_zero() && other.is_exact_zero();
            if complete || delta.relative_error() < ACCURATE || delta.certainly_less(floor) {
                return Ok(delta);
            }
            found = Ok(delta);
            if self.terms() > MAX_ANSWERS_TO_THE_LAST && self.is_enough(level, sum, delta) {
                return found;
            }
        }
        found
    }

    /// Whether the next level is too dear for what it would tell: all answers, of a Δ that no double is small enough for; in balls, where a
    /// sample is drawn and nothing positive was found yet.
    fn is_enough(&self, level: usize, sum: Ball, delta: Ball) -> bool {
        match LEVELS.get(level + 1).copied().flatten() {
            None => delta.certainly_less(power(BELOW_DOUBLES)),
            Some(bits) => {
                bits > OF_SAMPLES && sum.is_exact_zero() && self.laws().iter().any(|law| law.is_sampled())
            }
        }
    }

    /// The mass of the first law on answers that the second does not give; noise without bounds leaves none.
    ///
    /// # Errors
    /// As [`Self::delta`].
    pub fn infinity_mass(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        if covers(self.laws()) {
            return Ok(Ball::ZERO);
        }
        let rows = match self.rows(LEVELS.len() - 1, interrupt) {
            Err(Error::Precision(_)) => return self.at_most_lost(interrupt),
            rows => rows?,
        };
        let [first, second] = self.in_order(&rows);
        let lost =
            (first.first..).zip(&first.masses).filter(|(answer, _)| second.at(*answer).is_exact_zero());
        Ok(lost.fold(Ball::ZERO, |sum, (_, &mass)| sum + mass))
    }

    /// The same where the laws have no last answer, as of noise on every other integer: at most what is not in the window of the
    /// first, and what it gives there where the second is not certainly positive.
    fn at_most_lost(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let rows = self.rows(WIDE, interrupt)?;
        let [first, second] = self.in_order(&rows);
        let doubtful =
            (first.first..).zip(&first.masses).filter(|(answer, _)| !second.at(*answer).is_positive());
        Ok(Ball::ZERO.plus_at_most(doubtful.fold(first.missing, |sum, (_, &mass)| sum + mass)))
    }

    /// All probabilities as rationals.
    pub(crate) fn masses(&self, interrupt: &dyn Interrupt) -> Result<Arc<[Masses; 2]>, Error> {
        if let Some(known) = self.shared.rationals.lock().ok().as_deref().and_then(Option::as_ref) {
            return Ok(Arc::clone(known));
        }
        let found = Arc::new(rationals::masses(&self.shared.laws, interrupt)?);
        if let Ok(mut known) = self.shared.rationals.lock() {
            *known = Some(Arc::clone(&found));
        }
        Ok(found)
    }

    fn rows(&self, level: usize, interrupt: &dyn Interrupt) -> Result<Rows, Error> {
        let known =
            |rows: &Vec<Rows>| rows.get(level).map(|[one, other]| [Arc::clone(one), Arc::clone(other)]);
        if let Some(found) = self.shared.rows.lock().ok().as_deref().and_then(known) {
            return Ok(found);
        }
        let Some(&left_out) = LEVELS.get(level) else { return Err(Error::precision("no wider window")) };
        let found = rows(self.shared.laws.each_ref(), left_out, interrupt)?;
        if let Ok(mut rows) = self.shared.rows.lock()
            && rows.len() == level
        {
            rows.push([Arc::clone(&found[0]), Arc::clone(&found[1])]);
        }
        Ok(found)
    }
}

/// Whether every possible answer of the first law certainly is one of the second.
fn covers([first, second]: [&Law; 2]) -> bool {
    // What is done to both keeps it.
    match [first, second].map(Law::recipe) {
        [Recipe::Relabelled(one, labels), Recipe::Relabelled(other, same)] if labels == same => {
            return covers([one, other]);
        }
        [Recipe::Scaled(one, factor), Recipe::Scaled(other, same)] if factor == same => {
            return covers([one, other]);
        }
        _ => {}
    }
    let ends = [first, second].map(Law::support);
    let below = ends[1].0.is_none() || ends[0].0.zip(ends[1].0).is_some_and(|(one, other)| other <= one);
    let above = ends[1].1.is_none() || ends[0].1.zip(ends[1].1).is_some_and(|(one, other)| one <= other);
    below && above && second.is_contiguous()
}

fn positive_part(first: &Pmf, ratio: Ball, second: &Pmf, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
    let mut sum = Ball::ZERO;
    for (index, (answer, &mass)) in (first.first..).zip(&first.masses).enumerate() {
        if index.is_multiple_of(ANSWERS_PER_CHECK) {
            interrupt.check()?;
        }
        if mass.is_exact_zero() {
            continue;
        }
        let other = second.at(answer);
        let gap = if other.is_exact_zero() { mass } else { mass - ratio * other };
        if gap.is_positive() {
            sum = sum + gap;
        } else if !gap.is_not_positive() {
            sum = sum + gap.max(Ball::ZERO);
        }
    }
    Ok(sum)
}

impl HockeyStick for Answers {
    fn delta(&self, epsilon: &Epsilon, floor: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        self.delta(epsilon, floor, interrupt)
    }

    fn infinity_mass(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        self.infinity_mass(interrupt)
    }

    fn reversed(&self) -> Form {
        Arc::new(self.reversed())
    }

    fn terms(&self) -> f64 {
        self.terms()
    }

    fn uses_floor(&self) -> bool {
        true
    }

    fn as_answers(&self) -> Option<&Answers> {
        Some(self)
    }

    fn digits(&self) -> Result<&dyn Digits, Error> {
        Ok(self)
    }

    /// The probabilities of the answers whose likelihood ratio is above `e^ε`.
    fn exact(&self, at: &exact::Evaluation<'_>) -> Result<Option<exact::Terms>, Error> {
        let masses = self.masses(at.interrupt)?;
        let [first, second] = self.in_order(&masses);
        let zero = Rational::from(0i64);
        let mut terms = (zero.clone(), zero.clone());
        for (answer, mass) in first {
            let other = second.get(answer).unwrap_or(&zero);
            let (left, right) = (Quotient::rational(mass), Quotient::rational(other));
            if at.ratio.compare(&left, &right, at.interrupt)? == Ordering::Greater {
                terms = (terms.0.add(mass), terms.1.add(other));
            }
        }
        Ok(Some(exact::Terms { first: Quotient::rational(&terms.0), second: Quotient::rational(&terms.1) }))
    }
}

impl Digits for Answers {
    /// From the probabilities as rationals: where `e^ε` is not 1 it is transcendental, and with enough bits no gap is undecided.
    fn value(&self, at: &digits::Evaluation<'_>) -> Result<digits::Ball, Error> {
        let masses = self.masses(at.interrupt)?;
        let [first, second] = self.in_order(&masses);
        let zero = Rational::from(0i64);
        let ratio = at.whole_ratio();
        if let Ratio::One = ratio {
            let gaps = first.iter().map(|(answer, mass)| mass.sub(second.get(answer).unwrap_or(&zero)));
            let total = gaps.filter(|gap| !gap.is_negative()).fold(zero.clone(), |sum, gap| sum.add(&gap));
            return Ok(digits::Ball::rational(&total, at.accuracy + 64));
        }
        settle(at.accuracy, at.interrupt, |bits| {
            let Some(r) = ratio.at(bits) else { return Ok(None) };
            let mut sum = digits::Ball::zero();
            for (answer, mass) in first {
                let other = second.get(answer).unwrap_or(&zero);
                let gap = digits::Ball::rational(mass, bits)
                    .minus(&r.times(&digits::Ball::rational(other, bits), bits), bits);
                if gap.is_positive() {
                    sum = sum.plus(&gap, bits);
                } else if !gap.is_not_positive() {
                    return Ok(None);
                }
            }
            Ok(Some(sum))
        })
    }

    // A likelihood ratio is at most 1/Q(a) ≤ 2^size(Q(a)).
    fn last_change(&self) -> u64 {
        self.masses(&Uninterrupted).map_or(0, |masses| {
            self.in_order(&masses)[1].values().map(|mass| 1 + size(mass)).max().unwrap_or(0)
        })
    }

    fn limit(&self, limit: Limit) -> Option<Rational> {
        let masses = self.masses(&Uninterrupted).ok()?;
        let [first, second] = self.in_order(&masses);
        let zero = Rational::from(0i64);
        let gap = |(answer, mass): (&i64, &Rational)| match (second.get(answer), limit) {
            (Some(other), Limit::Zero) => mass.sub(other).max(Rational::from(0i64)),
            (Some(other), Limit::Infinity) if !other.is_zero() => Rational::from(0i64),
            _ => mass.clone(),
        };
        Some(first.iter().map(gap).fold(zero, |sum, gap| sum.add(&gap)))
    }
}

#[cfg(test)]
mod tests;
