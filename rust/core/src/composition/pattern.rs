//! Which pair of values each attribute has: the worst pattern.

use super::branches::Branches;
use super::envelope::Dominating;
use super::inversion::Goal;
use super::part::Evaluated;
use super::sum::{RoughSummand, Sum, about};
use super::{Composition, Pattern, Prepared};
use crate::budget::{MAX_PATTERNS_ONE_BY_ONE, MAX_ROUNDS};
use crate::error::Error;
use crate::forms::COARSE;
use crate::interrupt::Interrupt;
use crate::numbers::approximate;
use crate::numbers::ball::Ball;

/// How narrow bounds of branches are: most branches are left by rough ones.
const WIDTHS: [f64; 2] = [1e-4, 1e-7];
/// How narrowly a pattern is evaluated where there are many.
const OF_MANY: Goal = Goal::Within { usually: 1e-7, at_most: 1e-6 };
/// Patterns whose values are this near to each other, relatively, need not be told apart where they are many: `2^-22`.
const NEXT_TO_EACH_OTHER: f64 = 1.0 / ((1u64 << 22) as f64);
/// How near to the worst pattern that was found a bound of all is brought, as parts of what lies between: each time as long as it is little work.
const NEARER: [f64; 3] = [0.5, 0.5, 0.25];
/// A bound this near to the worst pattern that was found, relatively, is left as it is: `2^-8`.
const NEAR: f64 = 1.0 / ((1u64 << 8) as f64);
/// Where δ is wanted to a few digits only, what is certainly below this is not told from zero: `2^-64`.
const FAR_OUT: f64 = 1.0 / ((1u128 << 64) as f64);
/// Nodes of the rough inversion that patterns are compared by.
const NODES: usize = 40;

/// Exponents of a rough transform at the nodes, real and imaginary parts.
type Exponents = Vec<(f64, f64)>;

impl Prepared<'_> {
    /// All attributes with their first pair of values.
    fn first_pattern(&self) -> Pattern {
        let counts = |(attribute, choices): (&super::Attributes, &Vec<Vec<Evaluated>>)| {
            (0..choices.len()).map(|choice| if choice == 0 { attribute.count } else { 0 }).collect()
        };
        self.composition.attributes.iter().zip(&self.parts).map(counts).collect()
    }

    /// The largest value over all patterns, and a pattern that has it: most need not be known any better than that another is worse.
    ///
    /// Where too many are next to each other they are bounded together, by a little more than what one of them attains.
    pub(super) fn worst_of_all(&self, interrupt: &dyn Interrupt) -> Result<(Ball, Pattern), Error> {
        let found = self.search();
        let value = self.value(&found, Goal::Narrow, interrupt)?;
        let worst_of = |patterns| self.worst_of(patterns, &found, value, Goal::Narrow, interrupt);
        let patterns = self.not_below(value, interrupt)?;
        if patterns.len() <= MAX_PATTERNS_ONE_BY_ONE {
            return worst_of(patterns);
        }
        let Some(dominating) = self.dominating_if_any(interrupt)? else { return worst_of(patterns) };
        let above = |threshold| self.above(threshold, &dominating, &found, interrupt);
        if let Some(left) = above(value)? {
            return worst_of(left);
        }
        // Few answers need no larger threshold: equal patterns are known as narrowly as one.
        if self.is_listed(&found) {
            return worst_of(patterns);
        }
        let threshold = value + value * Ball::from_f64(NEXT_TO_EACH_OTHER).unwrap_or(Ball::WHOLE);
        if let Some(left) = above(threshold)? {
            let (worst, pattern) = worst_of(left)?;
            return Ok((worst.hull(worst.max(threshold)), pattern));
        }
        worst_of(patterns)
    }

    /// A number on the same side of a level as δ, that of a pattern if one is above it or all are below it by rough values; else δ.
    pub(super) fn told_from(&self, level: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        if level.is_exact_zero()
            && let Some(value) = self.sign()
        {
            return Ok(value);
        }
        let found = self.search();
        let widths = if self.is_listed(&found) { &[][..] } else { &COARSE };
        for &width in widths {
            let value = self.value(&found, Goal::About(width), interrupt)?;
            if level.certainly_less(value) {
                return Ok(value);
            }
            if value.certainly_less(level) {
                if self.all_are_below(level, &found, interrupt)? {
                    return Ok(value);
                }
                break;
            }
        }
        Ok(self.worst_of_all(interrupt)?.0)
    }

    /// A number of the sign of δ: the greatest value of the sum for any pattern, or what answers show for certain. Nothing where a law is not known to its ends.
    fn sign(&self) -> Option<Ball> {
        let (mut most, mut certain) = (self.constant, Ball::ZERO);
        for (attribute, choices) in self.composition.attributes.iter().zip(&self.parts) {
            let count = Ball::from_u64(attribute.count);
            let of_choice = |choice: &Vec<Evaluated>| {
                choice.iter().try_fold(Ball::ZERO, |sum, part| Some(sum + part.greatest(self.ratio)?))
            };
            let greatest = choices.iter().map(of_choice).collect::<Option<Vec<_>>>()?;
            most = most + greatest.into_iter().reduce(Ball::max)? * count;
            let shown = choices.iter().flatten().map(|part| part.certain);
            certain = shown.fold(certain, Ball::max);
        }
        Some(most.max(certain))
    }

    /// δ to about a relative width, between what the worst pattern that was found attains and what none exceeds; far out no more than a bound.
    pub(super) fn within(&self, width: f64, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let found = self.search();
        if !self.is_listed(&found) {
            let roughest = self.roughest(interrupt)?;
            if roughest.certainly_less(Ball::from_f64(FAR_OUT).unwrap_or(Ball::ZERO)) {
                return Ok(roughest);
            }
            let value = self.value(&found, Goal::About(width), interrupt)?;
            let most = Ball::from_f64(value.to_enclosure().upper() * (1.0 + width)).unwrap_or(Ball::WHOLE);
            if self.all_are_below(most, &found, interrupt)? {
                return Ok(value.hull(most));
            }
        }
        Ok(self.worst_of_all(interrupt)?.0)
    }

    /// Between zero and the roughest bound of all patterns.
    fn roughest(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let patterns = self.composition.all_patterns();
        patterns.iter().try_fold(Ball::ZERO, |most, pattern| {
            Ok(most.max(self.value(pattern, Goal::Bound, interrupt)?))
        })
    }

    /// The patterns that the roughest bound does not show to be below a level.
    fn not_below(&self, level: Ball, interrupt: &dyn Interrupt) -> Result<Vec<Pattern>, Error> {
        let mut left = Vec::new();
        for pattern in self.composition.all_patterns() {
            if !self.value(&pattern, Goal::Bound, interrupt)?.certainly_less(level) {
                left.push(pattern);
            }
        }
        Ok(left)
    }

    /// Whether rough values show that no pattern is above a level.
    fn all_are_below(&self, level: Ball, found: &Pattern, interrupt: &dyn Interrupt) -> Result<bool, Error> {
        let mut left = self.not_below(level, interrupt)?;
        if left.len() > MAX_PATTERNS_ONE_BY_ONE {
            let Some(dominating) = self.dominating_if_any(interrupt)? else { return Ok(false) };
            let Some(above) = self.above(level, &dominating, found, interrupt)? else { return Ok(false) };
            left = above;
        }
        for pattern in left {
            if !self.is_roughly_below(level, &pattern, interrupt)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether rough values, one narrower than the other, show that a pattern is below a level.
    fn is_roughly_below(
        &self,
        level: Ball,
        pattern: &Pattern,
        interrupt: &dyn Interrupt,
    ) -> Result<bool, Error> {
        for width in COARSE {
            if self.value(pattern, Goal::About(width), interrupt)?.certainly_less(level) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What dominates the parts; nothing where no one law does.
    fn dominating_if_any(&self, interrupt: &dyn Interrupt) -> Result<Option<Dominating>, Error> {
        match self.dominating(interrupt) {
            Err(Error::Precision(_)) => Ok(None),
            other => other.map(Some),
        }
    }

    /// The patterns that may be above a threshold: first by bounds that are rough, then by narrower ones.
    fn above(
        &self,
        threshold: Ball,
        dominating: &Dominating,
        bad: &Pattern,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<Vec<Pattern>>, Error> {
        for width in WIDTHS {
            let branches = Branches::new(self, dominating, bad, width, interrupt)?;
            if let Some(branches) = branches
                && let Some(left) = branches.above(threshold, interrupt)?
            {
                return Ok(Some(left));
            }
        }
        Ok(None)
    }

    /// The worst of some patterns and one that was found, with its value.
    fn worst_of(
        &self,
        patterns: Vec<Pattern>,
        found: &Pattern,
        mut value: Ball,
        goal: Goal,
        interrupt: &dyn Interrupt,
    ) -> Result<(Ball, Pattern), Error> {
        let mut worst = found.clone();
        for pattern in patterns {
            interrupt.check()?;
            if pattern == *found {
                continue;
            }
            if self.value(&pattern, Goal::Bound, interrupt)?.certainly_less(value)
                || self.is_roughly_below(value, &pattern, interrupt)?
            {
                continue;
            }
            let other = self.value(&pattern, goal, interrupt)?;
            if value.certainly_less(other) {
                worst = pattern;
            }
            value = value.max(other);
        }
        Ok((value, worst))
    }

    /// What the worst pattern that was found attains.
    pub(super) fn attained(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        self.value(&self.search(), OF_MANY, interrupt)
    }

    /// What some pattern attains and what none exceeds: the same where branch and bound is little work, else a bound of all, brought nearer by it as far as it
    /// is.
    pub(super) fn ends(&self, interrupt: &dyn Interrupt) -> Result<[Ball; 2], Error> {
        let found = self.search();
        let value = self.value(&found, OF_MANY, interrupt)?;
        if !Branches::can_be_followed(self.composition) {
            let near = value * Ball::from_f64(1.0 + NEAR).unwrap_or(Ball::WHOLE);
            let by_moduli = self.bound_by_moduli(interrupt)?;
            let bound = match by_moduli {
                Some(bound) if bound.certainly_less(near) => bound,
                _ => smaller(self.envelope(&self.dominating(interrupt)?, interrupt)?, by_moduli),
            };
            return Ok([value, bound]);
        }
        let dominating = self.dominating(interrupt)?;
        let above = |threshold| self.above(threshold, &dominating, &found, interrupt);
        let worst_of = |left| self.worst_of(left, &found, value, OF_MANY, interrupt);
        if let Some(left) = above(value)? {
            let worst = worst_of(left)?.0;
            return Ok([worst, worst]);
        }
        let mut bound = smaller(self.envelope(&dominating, interrupt)?, self.bound_by_moduli(interrupt)?);
        for nearness in NEARER {
            let threshold = value + (bound - value) * Ball::from_f64(nearness).unwrap_or(Ball::WHOLE);
            let Some(left) = above(threshold)? else { break };
            bound = threshold.max(worst_of(left)?.0);
        }
        Ok([value, bound])
    }

    /// A bound of every pattern, without branches.
    pub(super) fn bounded(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let by_moduli = self.bound_by_moduli(interrupt)?;
        Ok(smaller(self.envelope(&self.dominating(interrupt)?, interrupt)?, by_moduli))
    }

    /// A bad pattern, found by changing one attribute after the other while that makes it worse. It proves nothing: what is certified is the
    /// value of the pattern that was found.
    pub(super) fn search(&self) -> Pattern {
        let mut pattern = self.first_pattern();
        if pattern.iter().all(|counts| counts.len() == 1) {
            return pattern;
        }
        let Some(rough) = Rough::new(self, &pattern) else { return pattern };
        let mut exponents = rough.total(&pattern);
        let mut best = rough.value(&exponents);
        for _ in 0..MAX_ROUNDS {
            let before = best;
            for (attribute, counts) in pattern.iter_mut().enumerate() {
                let choices = counts.len();
                for (from, to) in (0..choices * choices).map(|pair| (pair / choices, pair % choices)) {
                    let mut moved = counts.get(from).copied().unwrap_or(0);
                    while from != to && moved > 0 {
                        let changed = rough.changed(&exponents, attribute, from, to, moved);
                        let value = rough.value(&changed);
                        let left = counts.get(from).copied().unwrap_or(0);
                        if value > best && left >= moved {
                            (best, exponents) = (value, changed);
                            if let Some(count) = counts.get_mut(from) {
                                *count -= moved;
                            }
                            if let Some(count) = counts.get_mut(to) {
                                *count += moved;
                            }
                        } else {
                            moved /= 2;
                        }
                    }
                }
            }
            if best <= before * (1.0 + 1e-12) {
                break;
            }
        }
        pattern
    }
}

impl Composition {
    /// Every way to give the attributes their pairs of values.
    pub(super) fn all_patterns(&self) -> Vec<Pattern> {
        self.attributes.iter().fold(vec![Vec::new()], |patterns, attribute| {
            let shares = shares(attribute.count, attribute.choices.len());
            let with = |pattern: &Pattern, share: &Vec<u64>| {
                let mut longer = pattern.clone();
                longer.push(share.clone());
                longer
            };
            patterns.iter().flat_map(|pattern| shares.iter().map(move |share| with(pattern, share))).collect()
        })
    }
}

/// Of two bounds the one with the smaller upper end.
fn smaller(one: Ball, other: Option<Ball>) -> Ball {
    let upper = |bound: Ball| bound.to_enclosure().upper();
    other.filter(|other| upper(*other) < upper(one)).unwrap_or(one)
}

/// What belongs to a pattern of what is there by attribute, choice and part, with how often each occurs.
pub(super) fn chosen<'a, T>(parts: &'a [Vec<Vec<T>>], pattern: &Pattern) -> Vec<(u64, &'a T)> {
    let mut chosen = Vec::new();
    for (choices, counts) in parts.iter().zip(pattern) {
        for (choice, &count) in choices.iter().zip(counts).filter(|(_, count)| **count > 0) {
            chosen.extend(choice.iter().map(|part| (count, part)));
        }
    }
    chosen
}

/// The ways to write `count` as an ordered sum of `parts` numbers.
pub(super) fn shares(count: u64, parts: usize) -> Vec<Vec<u64>> {
    if parts <= 1 {
        return vec![vec![count]];
    }
    let with = |first: u64| {
        shares(count - first, parts - 1).into_iter().map(move |mut rest| {
            rest.insert(0, first);
            rest
        })
    };
    (0..=count).rev().flat_map(with).collect()
}

/// The stop-loss by a few nodes, in plain doubles.
#[derive(Debug)]
struct Rough {
    nodes: Vec<(f64, f64)>,
    /// `w_0 (1 − r) w`, at the nodes, less what makes the first exponent zero.
    constant: Exponents,
    /// By attribute and choice.
    exponents: Vec<Vec<Exponents>>,
}

impl Rough {
    fn new(prepared: &Prepared<'_>, start: &Pattern) -> Option<Self> {
        let chosen = chosen(&prepared.parts, start);
        let summands =
            chosen.iter().map(|(copies, part)| part.summand(*copies)).collect::<Result<_, _>>().ok()?;
        let sum = Sum { constant: prepared.constant, summands }.roughly();
        let c = sum.saddle();
        let deviation = sum.cumulants(c)[2].sqrt();
        let unit = std::f64::consts::TAU / (6.0 / c + 11.0 * deviation);
        let angles: Vec<f64> = (0..NODES).map(|node| unit * node as f64).collect();
        let of_choice = |choice: &Vec<Evaluated>| {
            choice.iter().fold(vec![(0.0, 0.0); NODES], |sums, part| {
                let (atoms, count) = part.one_entry();
                let more = RoughSummand::new(count, atoms).exponents(c, &angles);
                sums.into_iter().zip(more).map(|(sum, more)| plus(sum, more, 1.0)).collect()
            })
        };
        let exponents: Vec<Vec<Exponents>> =
            prepared.parts.iter().map(|choices| choices.iter().map(of_choice).collect()).collect();
        let shift = about(prepared.constant);
        let nodes: Vec<(f64, f64)> = angles.into_iter().map(|angle| (c, angle)).collect();
        let constant = nodes.iter().map(|&(re, im)| (shift * re, shift * im)).collect();
        let mut rough = Self { nodes, constant, exponents };
        let height = rough.total(start).first().map_or(0.0, |first| first.0);
        for exponent in &mut rough.constant {
            exponent.0 -= height;
        }
        height.is_finite().then_some(rough)
    }

    fn of(&self, attribute: usize, choice: usize) -> Option<&Exponents> {
        self.exponents.get(attribute).and_then(|choices| choices.get(choice))
    }

    fn total(&self, pattern: &Pattern) -> Exponents {
        let mut total = self.constant.clone();
        for (attribute, counts) in pattern.iter().enumerate() {
            for (choice, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                if let Some(exponents) = self.of(attribute, choice) {
                    total = total.iter().zip(exponents).map(|(&a, &b)| plus(a, b, count as f64)).collect();
                }
            }
        }
        total
    }

    fn changed(&self, total: &Exponents, attribute: usize, from: usize, to: usize, moved: u64) -> Exponents {
        let (Some(old), Some(new)) = (self.of(attribute, from), self.of(attribute, to)) else {
            return total.clone();
        };
        let each = total.iter().zip(old).zip(new);
        each.map(|((&sum, &old), &new)| plus(plus(sum, old, -(moved as f64)), new, moved as f64)).collect()
    }

    /// `Re Σ e^{K(w)}/w²`, nodes and their conjugates.
    fn value(&self, exponents: &Exponents) -> f64 {
        let mut sum = 0.0;
        for (index, (exponent, &(re, im))) in exponents.iter().zip(&self.nodes).enumerate() {
            let (square, cross) = (re * re - im * im, 2.0 * re * im);
            let (sin, cos) = approximate::sin_cos(exponent.1);
            let weight = if index == 0 { 1.0 } else { 2.0 } / (square * square + cross * cross);
            sum += weight * approximate::exp(exponent.0) * (cos * square + sin * cross);
        }
        sum
    }
}

fn plus(a: (f64, f64), b: (f64, f64), times: f64) -> (f64, f64) {
    (a.0 + times * b.0, a.1 + times * b.1)
}
