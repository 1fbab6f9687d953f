//! Adaptive composition over a secret partition: after each answer the analyst chooses the next query, or stops.
//!
//! The entries are independent and alike, query `k` of a path is answered on a part that holds the critical entry with probability
//! `w_k`, and `R` is the law of its answer on entries without the critical one, so that `R(a) > 0` wherever `P_v(a)` or `P_w(a)` is. Given
//! the part of the critical entry the other answers have the laws `R`, so a complete path `a` has, with `w_0` for all parts that are not asked,
//! `P_v(a) = Π_k R_k(a_k) · (w_0 + Σ_k w_k ℓ_{k,v}(a_k))`, `ℓ = P/R`. Hence with `g = ℓ_v − e^ε ℓ_w`, of mean `1 − e^ε` under `R`,
//!
//! ```text
//! δ(ε) = E_R[(w_0 (1 − e^ε) + Σ_k w_k g_k(a_k))_+] = U_root(1 − e^ε),
//! U_stop(y) = y_+,     U_node(y) = max_F Σ_a R_F(a) U_{next(a)}(y + w_F (g_F(a) − (1 − e^ε))).
//! ```
//!
//! A given strategy has one query a node; an analyst who is free to choose the worst has several. In `y`, the mean of the sum given the
//! answers so far, parts that are not asked add nothing, so that stopping needs no term of its own.
//!
//! Every `U` is convex and nondecreasing with a slope of at most one, `U(y) ≥ y_+`: so is `y_+`, and sums with nonnegative weights of
//! mass one and maxima keep it. The bounds of [`grid`] rest on nothing else.

mod exact;
mod grid;
mod outcomes;

use crate::answer::Law;
use crate::answer::pmf::row;
use crate::budget::{MAX_CHOICES, MAX_LINES};
use crate::error::Error;
use crate::exact::{self as exact_tier, quotient::Quotient};
use crate::forms::{Digits, Epsilon, Form, HockeyStick};
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use std::sync::Arc;

/// From here on δ is compared with its limit.
const FAR: u64 = 8;
/// Relatively, what is near it.
const NEAR: f64 = 1e-6;

/// An analyst who chooses queries by the answers to earlier ones.
#[derive(Clone, Debug)]
pub struct Adaptive {
    /// The first one is where the analyst begins; none leads back.
    nodes: Arc<[Vec<Asked>]>,
    /// Whether the laws of each query stand in the other order.
    reversed: bool,
    /// Least and greatest share of the entries that is asked on a path.
    shares: [Rational; 2],
}

/// A query that may be asked, and what follows.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The probability that the critical entry is in the part that answers; 0 for a part without entries of its group.
    pub weight: Rational,
    /// The laws of the answer if it is and has the one or the other value.
    pub laws: [Law; 2],
    /// The law of the answer if it is not: a mixture, with a positive weight each, of the laws under all values it may have.
    pub reference: Law,
    /// What follows, by answer; upwards. The analyst stops after any other answer.
    pub next: Vec<Next>,
}

/// The node after the answers from `first` to `last`.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    /// The least of the answers.
    pub first: i64,
    /// The greatest of them.
    pub last: i64,
    /// Its index, larger than that of the node before it.
    pub node: usize,
}

impl Asked {
    /// The node after an answer.
    fn after(&self, answer: i64) -> Option<usize> {
        let index = self.next.partition_point(|next| next.last < answer);
        self.next.get(index).filter(|next| next.first <= answer).map(|next| next.node)
    }
}

impl Adaptive {
    /// `Δ_{v,w}` of all answers together; of each query the laws under `v` come first. Several queries at a node: the worst strategy.
    ///
    /// # Errors
    /// Nodes that are missing, out of order or too many, a node without a query, overlapping ranges of answers, weights
    /// that are negative or exceed one along a path.
    pub fn new(nodes: Vec<Vec<Asked>>) -> Result<Self, Error> {
        if nodes.is_empty() || nodes.len() > MAX_CHOICES {
            return Err(Error::argument(format!(
                "{} nodes; an adaptive composition of 1 to {MAX_CHOICES} nodes is required",
                nodes.len()
            )));
        }
        nodes.iter().enumerate().try_for_each(|(index, node)| check(index, node, nodes.len()))?;
        let shares = shares(&nodes);
        if Rational::from(1i64) < shares[1] {
            return Err(Error::argument("the parts along a path have more entries than the population"));
        }
        Ok(Self { nodes: nodes.into(), reversed: false, shares })
    }

    /// `Δ_{w,v}`; the laws that were computed are shared.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { reversed: !self.reversed, ..self.clone() }
    }

    /// The laws of a query in the order of this curve.
    fn in_order<'a>(&self, asked: &'a Asked) -> [&'a Law; 2] {
        let [first, second] = &asked.laws;
        if self.reversed { [second, first] } else { [first, second] }
    }

    /// About how many terms one evaluation takes.
    #[must_use]
    pub fn terms(&self) -> f64 {
        let answers = |asked: &Asked| 1e3 * asked.reference.span().min(1e4);
        self.nodes.iter().flatten().map(answers).sum::<f64>().max(1e6)
    }

    /// `Δ(ε)` for `ε ≥ 0`; narrowly unless it is certainly less than `floor`, below which it does not matter.
    ///
    /// # Errors
    /// Laws on too many answers; [`Error::Interrupted`].
    pub fn delta(&self, epsilon: &Epsilon, floor: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let far = Ball::from_u64(FAR);
        if !far.certainly_less(epsilon.value) {
            return grid::delta(self, epsilon, floor, interrupt);
        }
        // Where e^ε is large no grid resolves both the start of the sum and what is left, and Δ is all but constant: it falls, from its
        // value at a smaller ε to its limit. (A limit that is not known bounds nothing.)
        let before = grid::delta(self, &Epsilon::new(&Rational::from(FAR)), floor, interrupt)?;
        let limit = match self.infinity_mass(interrupt) {
            Err(Error::Precision(_)) => Ball::ZERO,
            limit => limit?,
        };
        let (lower, upper) = (limit.to_enclosure().lower(), before.to_enclosure().upper());
        if upper - lower <= NEAR * upper || before.certainly_less(floor) {
            return between(lower, upper);
        }
        let found = grid::delta(self, epsilon, floor, interrupt)?.to_enclosure();
        between(lower.max(found.lower()), upper.min(found.upper()))
    }

    /// The limit of `Δ`: the mass under `v` of the paths on which every answer is impossible under `w`.
    ///
    /// A part that is not asked leaves none. Else it is the recursion `M_stop(x) = x`, `M_node(x) = max_F Σ_{a: P_w(a) = 0} R(a)
    /// M_{next(a)}(x + w_F ℓ_v(a))` at zero; where a query has one such answer, `M` is a maximum of increasing affine functions.
    ///
    /// # Errors
    /// A query with several such answers; [`Error::Interrupted`].
    pub fn infinity_mass(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let one = Rational::from(1i64);
        if self.shares[1] < one {
            return Ok(Ball::ZERO);
        }
        let mut values: Vec<Vec<Line>> = vec![Vec::new(); self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate().rev() {
            let mut lines = Vec::new();
            for asked in node {
                interrupt.check()?;
                if asked.weight.is_zero() {
                    // Any answer may be given: a mean of what follows, between nothing and the greatest.
                    let follow = asked.next.iter().filter_map(|next| values.get(next.node)).flatten();
                    let end = (!asked.covers()).then_some(Line { slope: Ball::ONE, value: Ball::ZERO });
                    lines.extend(greatest(follow.copied().chain(end)).map(Line::or_less));
                    continue;
                }
                let Some((answer, mass, first)) = self.revealing(asked, interrupt)? else { continue };
                let added = Ball::from_rational(&asked.weight) * first;
                let line = |then: &Line| Line {
                    slope: mass * then.slope,
                    value: mass * then.value + added * then.slope,
                };
                match asked.after(answer) {
                    Some(node) => lines.extend(values.get(node).into_iter().flatten().map(line)),
                    None => lines.push(line(&Line { slope: Ball::ONE, value: Ball::ZERO })),
                }
            }
            values[index] = undominated(lines);
        }
        let greatest = values[0].iter().fold(Ball::ZERO, |most, line| most.max(line.value));
        // A path that leaves a part unasked reveals nothing for certain.
        Ok(if self.shares[0] < one { greatest.hull(Ball::ZERO) } else { greatest })
    }

    /// The answer that is impossible under the second value, with its probabilities by the reference law and under the first value.
    fn revealing(
        &self,
        asked: &Asked,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<(i64, Ball, Ball)>, Error> {
        let [first, second] = self.in_order(asked);
        if asked.reference.support() == (None, None) {
            return Ok(None);
        }
        let [reference, first, second] = [
            row(&asked.reference, None, interrupt)?,
            row(first, None, interrupt)?,
            row(second, None, interrupt)?,
        ];
        let mut found = (reference.first..)
            .zip(&reference.masses)
            .filter(|(answer, mass)| !mass.is_exact_zero() && second.at(*answer).is_exact_zero());
        let one = found.next().map(|(answer, &mass)| (answer, mass, first.at(answer)));
        if found.next().is_some() {
            return Err(Error::precision("several answers reveal the value, and their mass is not followed"));
        }
        Ok(one)
    }
}

fn between(lower: f64, upper: f64) -> Result<Ball, Error> {
    match [lower, upper].map(Ball::from_f64) {
        [Some(lower), Some(upper)] => Ok(lower.hull(upper)),
        _ => Err(Error::precision("delta is not enclosed by numbers that doubles can hold")),
    }
}

/// `slope · x + value` with nonnegative numbers.
#[derive(Clone, Copy, Debug)]
struct Line {
    slope: Ball,
    value: Ball,
}

impl Line {
    /// Anything from zero to this.
    fn or_less(self) -> Self {
        Self { slope: self.slope.hull(Ball::ZERO), value: self.value.hull(Ball::ZERO) }
    }
}

/// Without the lines that another one is certainly above.
fn undominated(lines: Vec<Line>) -> Vec<Line> {
    let above = |one: &Line, other: &Line| {
        other.slope.certainly_less(one.slope) && other.value.certainly_less(one.value)
    };
    let mut kept: Vec<Line> = Vec::new();
    for line in lines {
        if !kept.iter().any(|other| above(other, &line)) {
            kept.retain(|other| !above(&line, other));
            kept.push(line);
        }
    }
    if kept.len() <= MAX_LINES {
        return kept;
    }
    // For x ≥ 0 the maximum is at least any line, and at most the line of the greatest slope and the greatest value.
    let most = greatest(kept.iter().copied()).unwrap_or(kept[0]);
    vec![Line { slope: most.slope.hull(kept[0].slope), value: most.value.hull(kept[0].value) }]
}

/// The greatest slope and the greatest value; nothing of nothing.
fn greatest(lines: impl Iterator<Item = Line>) -> Option<Line> {
    lines.reduce(|one, other| Line { slope: one.slope.max(other.slope), value: one.value.max(other.value) })
}

fn check(index: usize, node: &[Asked], nodes: usize) -> Result<(), Error> {
    if node.is_empty() {
        return Err(Error::argument(format!("node {index} has no query")));
    }
    for asked in node {
        if asked.weight.is_negative() {
            return Err(Error::argument(format!(
                "weight = {} at node {index}; a number of at least 0 is required",
                asked.weight.shown()
            )));
        }
        let ordered = asked.next.iter().all(|next| next.first <= next.last)
            && asked.next.windows(2).all(|pair| pair[0].last < pair[1].first);
        if !ordered {
            return Err(Error::argument(format!("the answers at node {index} are no ascending ranges")));
        }
        if let Some(next) = asked.next.iter().find(|next| next.node <= index || next.node >= nodes) {
            return Err(Error::argument(format!("node {} cannot follow node {index} of {nodes}", next.node)));
        }
    }
    Ok(())
}

/// The least and the greatest sum of weights along a path from the first node.
fn shares(nodes: &[Vec<Asked>]) -> [Rational; 2] {
    let zero = || [Rational::from(0i64), Rational::from(0i64)];
    let mut found: Vec<[Rational; 2]> = vec![zero(); nodes.len()];
    for (index, node) in nodes.iter().enumerate().rev() {
        let mut ends: Option<[Rational; 2]> = None;
        for asked in node {
            let follows = asked.next.iter().filter_map(|next| found.get(next.node).cloned());
            // After some answer the analyst may stop.
            let covers = asked.covers();
            let stop = (!covers).then(zero);
            for [least, greatest] in follows.chain(stop) {
                let (least, greatest) = (least.add(&asked.weight), greatest.add(&asked.weight));
                ends = Some(match ends {
                    None => [least, greatest],
                    Some([low, high]) => [low.min(least), high.max(greatest)],
                });
            }
        }
        found[index] = ends.unwrap_or_else(zero);
    }
    found.swap_remove(0)
}

impl Asked {
    /// Whether a query follows after every possible answer.
    fn covers(&self) -> bool {
        let (Some(least), Some(greatest)) = self.reference.support() else { return false };
        let together = self.next.windows(2).all(|pair| pair[0].last.checked_add(1) == Some(pair[1].first));
        let ends = self.next.first().zip(self.next.last());
        together && ends.is_some_and(|(first, last)| first.first <= least && greatest <= last.last)
    }
}

impl HockeyStick for Adaptive {
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

    fn digits(&self) -> Result<&dyn Digits, Error> {
        Err(Error::precision(
            "an adaptive composition has no closed digits; delta() without digits= encloses it, and exact_delta() \
             is exact where few answers are possible",
        ))
    }

    fn exact(&self, at: &exact_tier::Evaluation<'_>) -> Result<Option<exact_tier::Terms>, Error> {
        let quotients = |(first, second): &(Rational, Rational)| exact_tier::Terms {
            first: Quotient::rational(first),
            second: Quotient::rational(second),
        };
        let compare = |left: &_, right: &_| at.compare(&quotients(left), &quotients(right));
        Ok(Some(quotients(&exact::terms(self, &compare, at.interrupt)?)))
    }
}

#[cfg(test)]
mod tests;
