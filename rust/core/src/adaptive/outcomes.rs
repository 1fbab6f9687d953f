//! What an answer does to the sum: with which probability it moves it by how much.
//!
//! With `P = x + y` as in [`crate::answer::pmf`], of all three laws, `R(a) U(y + D(a)/R(a))` for `D = w (P_v − e^ε P_w + (e^ε − 1) R)` is a convex
//! function `φ(R, D)` of degree one, hence subadditive; `∂φ/∂D = U'` is in `[0, 1]`, and `∂φ/∂R`, the value at `y` of a tangent of `U`, is at least
//! `min(y, 0)`, because `U(z) ≥ z_+`. So what is missing of the laws changes `Σ_a φ` by at most
//!
//! ```text
//! upwards    m_R U(y) + w (m_v + (e^ε − 1) m_R),        downwards    w e^ε m_w + m_R (−y)_+.
//! ```

use super::{Adaptive, Asked};
use crate::answer::pmf::row;
use crate::error::Error;
use crate::forms::Epsilon;
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;

/// What one answer does.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The probability of the answer by the reference law, positive.
    pub mass: Ball,
    /// What is added to the sum.
    pub shift: Ball,
    /// The node that follows; none where the analyst stops.
    pub node: Option<usize>,
}

/// What a query does.
#[derive(Debug)]
pub(super) struct Outcomes {
    pub known: Vec<Outcome>,
    /// Probability of further answers, and the most that they add in the mean.
    pub missing: (Ball, Ball),
    /// How much less than the value of the known answers the truth may be, apart from `missing.0 · (−y)_+`.
    pub excess: Ball,
    /// The variance of what is added, roughly, and its ends.
    pub spread: Spread,
}

/// For the choice of a grid alone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spread {
    pub variance: f64,
    pub least: f64,
    pub greatest: f64,
}

/// The outcomes of every query at every node. About `2^-left_out` of each law may be missing.
///
/// # Errors
/// Laws on too many answers; interruption.
pub(super) fn outcomes(
    strategy: &Adaptive,
    epsilon: &Epsilon,
    left_out: Option<u32>,
    interrupt: &dyn Interrupt,
) -> Result<Vec<Vec<Outcomes>>, Error> {
    let of_query = |asked: &Asked| of_query(strategy, asked, epsilon, left_out, interrupt);
    strategy.nodes.iter().map(|node| node.iter().map(of_query).collect()).collect()
}

fn of_query(
    strategy: &Adaptive,
    asked: &Asked,
    epsilon: &Epsilon,
    left_out: Option<u32>,
    interrupt: &dyn Interrupt,
) -> Result<Outcomes, Error> {
    interrupt.check()?;
    let [first, second] = strategy.in_order(asked);
    let [first, second, reference] = [
        row(first, left_out, interrupt)?,
        row(second, left_out, interrupt)?,
        row(&asked.reference, left_out, interrupt)?,
    ];
    let (ratio, more) = (epsilon.ratio(), epsilon.ratio_minus_one());
    let weight = Ball::from_rational(&asked.weight);
    let mut missing = (reference.missing, weight * (first.missing + more * reference.missing));
    let mut known = Vec::with_capacity(reference.masses.len());
    let least = reference.first.min(first.first).min(second.first);
    let greatest = reference.last().max(first.last()).max(second.last());
    for answer in least..=greatest {
        let mass = reference.at(answer);
        let gap = first.at(answer) - ratio * second.at(answer);
        if mass.is_positive() {
            let shift = weight * (gap / mass + more);
            known.push(Outcome { mass, shift, node: asked.after(answer) });
        } else {
            missing.0 = missing.0 + mass.max(Ball::ZERO);
            missing.1 = missing.1 + weight * (gap + more * mass).max(Ball::ZERO);
        }
    }
    let spread = spread(&known);
    Ok(Outcomes { known, missing, excess: weight * ratio * second.missing, spread })
}

fn spread(known: &[Outcome]) -> Spread {
    known.iter().fold(Spread::default(), |spread, outcome| {
        let (mass, shift) = (outcome.mass.to_enclosure().upper(), outcome.shift.to_enclosure());
        Spread {
            variance: spread.variance + mass * shift.upper() * shift.upper(),
            least: spread.least.min(shift.lower()),
            greatest: spread.greatest.max(shift.upper()),
        }
    })
}
