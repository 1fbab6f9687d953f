//! Tails and stop-losses of the binomial law, and tails of the hypergeometric one, in doubles: at a cost that does not grow with
//! the number of trials or the population.
//!
//! ```text
//! P[X ≥ a] = Σ_{i≥0} b(a+i),      E[(X−κ)_+] = Σ_{i≥0} (i+φ) b(a+i)   with a = ⌈κ⌉, φ = a − κ
//! ```
//!
//! are the same thing with two weights, and there are two ways to them: [`contour`] inverts the characteristic function
//! of a tilted law with sixteen evaluations, [`positive_sum`] adds up the terms where these are few. The hypergeometric law has no characteristic
//! function in closed form; where its terms are many, [`euler_maclaurin`] takes their sum for an integral. All state what
//! they may be wrong by; callers add it to a ball. The backend (see [`statpriv_simd`]) changes the last bits of a midpoint, not
//! whether the truth lies inside.

mod contour;
#[cfg(test)]
mod cost;
mod count;
mod descent;
mod euler_maclaurin;
mod hypergeometric;
mod lanes;
#[cfg(test)]
mod peer;
mod positive_sum;
#[cfg(test)]
mod tests;

use crate::laws::{Probability, first_term};
use crate::numbers::ball::Ball;
use crate::numbers::double_double::DoubleDouble;
use contour::{Contour, MIN_VARIANCE};
use count::{AtMany, AtOne, Count, Value};
use positive_sum::{Binomial, PositiveSum, Ratios};
use statpriv_simd::{Arithmetic, Backend, Kernel};

pub(crate) use super::binomial::Law;
use crate::numbers::scaled::Scaled;
pub(crate) use descent::deltas_of_sizes;
pub(crate) use hypergeometric::tail_in_units_of_first as hypergeometric_tail;

/// What the terms of a sum over `X ≥ first` are weighted with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Weight {
    /// 1: an upper tail.
    One,
    /// `X − κ = i + φ`: a stop-loss. `phi` lies in `[0, 1]` up to the `error` that it may have.
    Excess { phi: f64, error: f64 },
}

impl Weight {
    /// `a − κ`.
    fn phi(self) -> f64 {
        match self {
            Self::One => 0.0,
            Self::Excess { phi, .. } => phi,
        }
    }
}

/// Maximum number of terms for which the sum costs no more than the contour.
const FEW_TERMS: f64 = 128.0;

/// Wider results are left to other tiers: `2^-40`.
const WIDEST: f64 = 1.0 / ((1u64 << 40) as f64);

/// `Σ_{i≥0} weight · b(first + i)` for `Bin(n, p)` with `np ≤ first` up to rounding; nothing where neither way applies, or where
/// what it gives is too wide.
pub(crate) fn sum(n: u64, at: &Probability, first: u64, weight: Weight) -> Option<Ball> {
    sum_on(Backend::best(), n, at, first, weight)
}

fn sum_on(backend: Backend, n: u64, at: &Probability, first: u64, weight: Weight) -> Option<Ball> {
    let sum = Sum { trials: n as f64, law: at.doubles?, first: first as f64, weight };
    backend.run(sum)?.ball(n, at)
}

/// `Σ_{i≥0} weight · b(first + i)` for `Bin(trials, p)`.
#[derive(Clone, Copy, Debug)]
struct Sum {
    trials: f64,
    law: Law,
    first: f64,
    weight: Weight,
}

impl Kernel for Sum {
    type Output = Option<Value>;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> Option<Value> {
        let Self { trials, law, first, weight } = self;
        let ratios = Binomial::new::<A>(trials, law, first);
        let variance = first * (trials - first) / trials;
        if variance > 1.1 * MIN_VARIANCE && ratios.needed() > FEW_TERMS {
            let contour = Contour::at_saddle_point(trials, law, first, weight, variance);
            return contour.run::<A>().map(|scaled| Value { scaled, in_units_of: None });
        }
        PositiveSum { ratios, weight }.run::<A>().map(|scaled| Value { scaled, in_units_of: Some(first) })
    }
}

/// `Δ_{1,0}(ε)` of the count of `n` entries, the critical one among them, for ε > 0; nothing where the fast tier does not apply.
pub(crate) fn delta(n: u64, at: &Probability, law: Law, epsilon: DoubleDouble) -> Option<Ball> {
    delta_on(Backend::best(), n, at, law, epsilon)
}

fn delta_on(backend: Backend, n: u64, at: &Probability, law: Law, epsilon: DoubleDouble) -> Option<Ball> {
    let count = Count { trials: n as f64, law };
    backend.run(AtOne(count, epsilon)).and_then(|value| value.ball(n, at))
}

/// The same at many ε.
pub(crate) fn deltas(n: u64, at: &Probability, law: Law, epsilons: &[f64]) -> Vec<Option<Ball>> {
    let count = Count { trials: n as f64, law };
    let values = Backend::best().run(AtMany(count, epsilons));
    values.into_iter().map(|value| value.and_then(|value| value.ball(n, at))).collect()
}

impl Value {
    /// Nothing where it is too wide.
    fn ball(self, n: u64, at: &Probability) -> Option<Ball> {
        let ball = (self.scaled.error <= WIDEST).then(|| Ball::from(self.scaled))?;
        Some(match self.in_units_of {
            Some(first) => ball * first_term(first as u64, n, at),
            None => ball,
        })
    }
}

/// `P[X ≥ k]` for `X ~ Bin(n, p)` and `np ≤ k ≤ n`; nothing where the fast tier does not apply.
pub(crate) fn upper_tail(k: u64, n: u64, at: &Probability) -> Option<Ball> {
    sum(n, at, k, Weight::One)
}
