//! Answers on the parts of a secret random partition, all together.
//!
//! Query `k` is answered on part `k`, which holds the critical entry with probability `w_k`; with probability `w_0` no part does. Let `R_k` be the
//! law of answer `k` where the part does not hold it, and `P_{k,v}` where it does, with value `v`. The parts are independent, so that
//!
//! ```text
//! Δ_{v,w}(ε) = Σ_a ( w_0 (1−r) Π_l R_l(a_l) + Σ_k w_k (P_{k,v} − r P_{k,w})(a_k) Π_{l≠k} R_l(a_l) )_+ ,       r = e^ε,
//! ```
//!
//! which is `E[(w_0(1−r) + Σ_k X_k)_+]` under `⊗R_k`, with `X_k = w_k (P_{k,v} − rP_{k,w})/R_k` at the answer, and `w_k Σ (P_{k,v} − rP_{k,w})_+` over answers that
//! `R_k` does not give. So a composition is the stop-loss of a sum of independent variables, whatever the queries are.
//!
//! The critical entry's value is a vector: each attribute has its own pair `(v, w)`. A *pattern* chooses one for each, and the worst counts.
//! Pairs `v = w` need not be tried: `(1−r) P_v = (P_v − r P_u)/(1+r) + (P_u − r P_v) r/(1+r)`, and δ is convex in what stands there for one attribute;
//! so `(v, u)` or `(u, v)` is at least as bad, whatever `u` is. That is so for any law of the parts.

mod branches;
mod enumeration;
mod envelope;
mod exact_laws;
mod form;
mod gate;
mod inversion;
mod limit;
mod moduli;
mod part;
mod pattern;
mod range;
mod rounded;
mod sum;

pub use form::Composed;
pub use part::{Cell, Part};

use crate::budget::MAX_PATTERNS;
use crate::error::Error;
use crate::forms::{End, Epsilon, Pattern};
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use inversion::Goal;
use part::Evaluated;
use pattern::chosen;
use sum::Sum;

/// Attributes without known relations, each with the same parts.
#[derive(Clone, Debug)]
pub struct Attributes {
    /// The number of such attributes.
    pub count: u64,
    /// The parts for each ordered pair of values.
    pub choices: Vec<Vec<Part>>,
}

impl Attributes {
    /// The number of ways to give these attributes their pairs of values: `C(count + choices − 1, choices − 1)`.
    fn ways(&self) -> f64 {
        let more = self.choices.len() as u64 - 1;
        (1..=more).fold(1.0, |product, i| product * (self.count + i) as f64 / i as f64)
    }
}

/// Answers on the parts of a secret random partition.
#[derive(Clone, Debug)]
pub struct Composition {
    unused: Rational,
    attributes: Vec<Attributes>,
}

impl Composition {
    /// With probability `unused` no part holds the critical entry.
    ///
    /// # Errors
    /// No attribute, one without a choice, or choices with different numbers of parts; weights that do not add up to one.
    pub fn new(unused: Rational, attributes: Vec<Attributes>) -> Result<Self, Error> {
        let alike = |one: &Attributes| {
            let lengths: Vec<usize> = one.choices.iter().map(Vec::len).collect();
            one.count > 0
                && lengths.first().is_some_and(|first| *first > 0 && lengths.iter().all(|n| n == first))
        };
        if attributes.is_empty() || !attributes.iter().all(alike) {
            return Err(Error::argument("every attribute needs parts, as many for each pair of values"));
        }
        let composition = Self { unused, attributes };
        for attribute in &composition.attributes {
            for part in attribute.choices.iter().flatten() {
                part.check()?;
            }
        }
        let one = Rational::from(1i64);
        let weight = |choice: &Vec<Part>| {
            choice.iter().fold(Rational::from(0i64), |sum, part| sum.add(&part.weight()))
        };
        let mut total = composition.unused.clone();
        for attribute in &composition.attributes {
            let Some(first) = attribute.choices.first() else { continue };
            total = total.add(&weight(first).mul(&Rational::from(attribute.count)));
            if attribute.choices.iter().any(|choice| weight(choice) != weight(first)) {
                return Err(Error::argument(
                    "the parts of an attribute have one weight, whatever its values",
                ));
            }
        }
        if total != one {
            return Err(Error::argument(format!(
                "the weights of the parts sum to {}, not to one",
                total.shown()
            )));
        }
        Ok(composition)
    }

    /// Whether every pattern is tried, so that δ itself is enclosed.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.patterns() <= MAX_PATTERNS && !self.has_ranges() && !self.has_rounded()
    }

    /// Whether some answer has rounded laws only, so that δ of a pattern lies between two numbers.
    fn has_rounded(&self) -> bool {
        self.parts().any(|part| matches!(part, Part::Rounded { .. }))
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.attributes.iter().flat_map(|attribute| attribute.choices.iter().flatten())
    }

    /// Whether some probability is known to a range only, or not at all. Then there is only an upper bound.
    #[must_use]
    pub fn has_ranges(&self) -> bool {
        self.parts().any(|part| matches!(part, Part::Range { .. } | Part::Gated { .. }))
    }

    /// The number of patterns.
    fn patterns(&self) -> f64 {
        self.attributes.iter().map(Attributes::ways).product()
    }

    /// The approximate number of terms of one evaluation.
    #[must_use]
    pub fn terms(&self) -> f64 {
        1e7
    }

    /// The same parts with the two values exchanged.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let attributes = self.attributes.iter().map(|attribute| Attributes {
            count: attribute.count,
            choices: attribute
                .choices
                .iter()
                .map(|choice| choice.iter().map(Part::reversed).collect())
                .collect(),
        });
        Self { unused: self.unused.clone(), attributes: attributes.collect() }
    }

    /// One end of an enclosure of `δ(ε)` for `ε ≥ 0`: the lower one is attained by a pattern, no pattern exceeds the upper one.
    ///
    /// # Errors
    /// Answers with too many values; interruption.
    pub fn delta(&self, epsilon: &Epsilon, end: End, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let prepared = Prepared::new(self, epsilon, end, interrupt)?;
        match end {
            End::Lower => prepared.attained(interrupt),
            End::Upper => Ok(prepared.ends(interrupt)?[1]),
            End::Dominating => prepared.bounded(interrupt),
        }
    }

    /// Both ends of an enclosure of `δ(ε)` for `ε ≥ 0`.
    ///
    /// # Errors
    /// As [`Self::delta`].
    pub fn ends(&self, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<[Ball; 2], Error> {
        let [lower, upper] = Prepared::new(self, epsilon, End::Upper, interrupt)?.ends(interrupt)?;
        Ok([if self.has_rounded() { self.delta(epsilon, End::Lower, interrupt)? } else { lower }, upper])
    }

    /// `δ(ε)` for `ε ≥ 0`, where all patterns are tried.
    ///
    /// # Errors
    /// As [`Self::delta`].
    pub fn exactly(&self, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        Ok(Prepared::new(self, epsilon, End::Upper, interrupt)?.worst_of_all(interrupt)?.0)
    }

    /// A number on the same side of a level as `δ(ε)`; `δ(ε)` itself next to the level. All patterns are tried.
    ///
    /// # Errors
    /// As [`Self::delta`].
    pub fn told_from(
        &self,
        level: Ball,
        epsilon: &Epsilon,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        Prepared::new(self, epsilon, End::Upper, interrupt)?.told_from(level, interrupt)
    }

    /// `δ(ε)` for `ε ≥ 0` to about a relative width, or narrower if this costs no more. All patterns are tried.
    ///
    /// # Errors
    /// As [`Self::delta`].
    pub fn within(&self, width: f64, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        Prepared::new(self, epsilon, End::Upper, interrupt)?.within(width, interrupt)
    }

    /// The same parts with one pattern.
    #[must_use]
    pub fn only(&self, pattern: &Pattern) -> Self {
        let kinds = self.attributes.iter().zip(pattern).flat_map(|(attribute, counts)| {
            let chosen = attribute.choices.iter().zip(counts).filter(|(_, count)| **count > 0);
            chosen.map(|(choice, &count)| Attributes { count, choices: vec![choice.clone()] })
        });
        Self { unused: self.unused.clone(), attributes: kinds.collect() }
    }

    /// The worst pairs of values at this ε, or the worst that were found.
    ///
    /// # Errors
    /// As [`Self::delta`].
    pub fn worst_pairs(&self, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Pattern, Error> {
        let prepared = Prepared::new(self, epsilon, End::Lower, interrupt)?;
        if self.is_exact() { Ok(prepared.worst_of_all(interrupt)?.1) } else { Ok(prepared.search()) }
    }

    /// The limit of δ for ε → ∞: the mass of the answers that give the pair away, for the worst pattern.
    ///
    /// An answer gives nothing away if it is possible under `w` too. Without the critical entry all parts answer as under `w`. So with `w_0 > 0` or
    /// several parts only answers that no `R_k` gives count. With one part that is always used, the answers count that `P_w` does not give.
    ///
    /// # Errors
    /// As [`Self::delta`].
    pub fn infinity_mass(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        limit::infinity_mass(self, interrupt)
    }
}

/// A composition at one ε. Real answers are replaced by what gives one end of the enclosure.
struct Prepared<'a> {
    composition: &'a Composition,
    ratio: Ball,
    /// `w_0 (1 − r)`.
    constant: Ball,
    /// By attribute, choice and part.
    parts: Vec<Vec<Vec<Evaluated>>>,
}

impl<'a> Prepared<'a> {
    fn new(
        composition: &'a Composition,
        epsilon: &Epsilon,
        end: End,
        interrupt: &dyn Interrupt,
    ) -> Result<Self, Error> {
        let ratio = epsilon.ratio();
        let of_choice = |choice: &Vec<Part>| {
            choice.iter().map(|part| part.at(ratio, end, interrupt)).collect::<Result<Vec<_>, Error>>()
        };
        let of_attribute =
            |one: &Attributes| one.choices.iter().map(of_choice).collect::<Result<Vec<_>, Error>>();
        let parts = composition.attributes.iter().map(of_attribute).collect::<Result<_, Error>>()?;
        let constant = -(Ball::from_rational(&composition.unused) * epsilon.ratio_minus_one());
        Ok(Self { composition, ratio, constant, parts })
    }

    /// `Δ` of one pattern.
    fn value(&self, pattern: &Pattern, goal: Goal, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        self.value_of(&part::merged(chosen(&self.parts, pattern)), goal, interrupt)
    }

    /// Whether the values of a pattern's parts can be listed.
    fn is_listed(&self, pattern: &Pattern) -> bool {
        can_be_listed(&part::merged(chosen(&self.parts, pattern)))
    }

    fn value_of(
        &self,
        parts: &[(u64, Evaluated)],
        goal: Goal,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        let (positive, missing) = if matches!(goal, Goal::Narrow) && can_be_listed(parts) {
            let mut laws = Vec::new();
            let mut missing = Ball::ZERO;
            for (copies, part) in parts {
                let (values, lost) = part.laws(*copies, self.ratio)?;
                laws.extend(values);
                missing = missing + lost;
            }
            (enumeration::positive_part(self.constant, &laws, interrupt)?, missing)
        } else {
            let summands =
                parts.iter().map(|(copies, part)| part.summand(*copies)).collect::<Result<_, Error>>()?;
            let sum = Sum { constant: self.constant, summands };
            let missing =
                parts.iter().fold(Ball::ZERO, |sum, (copies, part)| sum + part.missing(*copies, self.ratio));
            (inversion::positive_part(&sum, goal, interrupt)?, missing)
        };
        let certain =
            parts.iter().fold(Ball::ZERO, |sum, (copies, part)| sum + part.certain * Ball::from_u64(*copies));
        // A part with missing mass has a total mass slightly below one.
        Ok((positive + certain).plus_at_most(missing + certain * missing))
    }
}

/// Whether all values of these copies of parts can be listed.
fn can_be_listed(parts: &[(u64, Evaluated)]) -> bool {
    let lengths: Vec<usize> = parts.iter().flat_map(|(copies, part)| part.lengths(*copies)).collect();
    enumeration::is_short(&lengths)
}

#[cfg(test)]
mod interruptions;
#[cfg(test)]
pub(crate) mod tests;
