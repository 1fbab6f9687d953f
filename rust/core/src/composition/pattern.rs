//! Which pair of values each attribute has: the worst pattern.

use super::inversion::Goal;
use super::part::Evaluated;
use super::sum::{Sum, about};
use super::{COARSE, Composition, Pattern, Prepared};
use crate::approximate;
use crate::ball::Ball;
use crate::error::Error;
use crate::interrupt::Interrupt;

/// Nodes of the rough inversion that patterns are compared by.
const NODES: usize = 40;
/// Times that all attributes are gone through in search of a better pattern.
const MOST_ROUNDS: usize = 20;

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
    pub(super) fn worst_of_all(&self, interrupt: &dyn Interrupt) -> Result<(Ball, Pattern), Error> {
        let mut worst = self.search();
        let mut value = self.value(&worst, Goal::Narrow, interrupt)?;
        let found = worst.clone();
        'patterns: for pattern in self.composition.all_patterns() {
            interrupt.check()?;
            if pattern == found {
                continue;
            }
            for goal in [Goal::Bound].into_iter().chain(COARSE.map(Goal::About)) {
                if self.value(&pattern, goal, interrupt)?.certainly_less(value) {
                    continue 'patterns;
                }
            }
            let other = self.value(&pattern, Goal::Narrow, interrupt)?;
            if value.certainly_less(other) {
                worst = pattern;
            }
            value = value.max(other);
        }
        Ok((value, worst))
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
        for _ in 0..MOST_ROUNDS {
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
fn shares(count: u64, parts: usize) -> Vec<Vec<u64>> {
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
        let sum = Sum { constant: prepared.constant, summands };
        let c = sum.saddle();
        let deviation = sum.rough_cumulants(c)[2].sqrt();
        let unit = std::f64::consts::TAU / (6.0 / c + 11.0 * deviation);
        let nodes: Vec<(f64, f64)> = (0..NODES).map(|node| (c, unit * node as f64)).collect();
        let of_choice = |choice: &Vec<Evaluated>| {
            nodes
                .iter()
                .map(|&w| choice.iter().fold((0.0, 0.0), |sum, part| plus(sum, part.rough_exponent(w), 1.0)))
                .collect()
        };
        let exponents: Vec<Vec<Exponents>> =
            prepared.parts.iter().map(|choices| choices.iter().map(of_choice).collect()).collect();
        let shift = about(prepared.constant);
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

impl Evaluated {
    /// About `ln E e^{wX}`, up to a multiple of `2πi`.
    fn rough_exponent(&self, (c, angle): (f64, f64)) -> (f64, f64) {
        let (atoms, count) = self.one_entry();
        let highest = atoms.iter().map(|atom| c * about(atom.value)).fold(f64::NEG_INFINITY, f64::max);
        let (mut re, mut im) = (0.0, 0.0);
        for atom in atoms {
            let value = about(atom.value);
            let weight = about(atom.mass) * approximate::exp(c * value - highest);
            let (sine, cosine) = approximate::sin_cos(angle * value);
            re += weight * cosine;
            im += weight * sine;
        }
        let modulus = (re * re + im * im).sqrt().max(1e-300);
        let count = count as f64;
        (count * (highest + approximate::ln(modulus)), count * approximate::angle(im, re))
    }
}
