//! The count of a property among `size` independent entries, one of which is, with probability `inclusion`,
//! the critical one.
//!
//! With `X ~ Bin(n, p)`, `q = 1 − p`, `r = e^ε` and inclusion probability `w`, the two laws have the densities
//! `ℓ_1 = (1−w) + w X/(np)` and `ℓ_0 = (1−w) + w (n−X)/(nq)` with respect to the law of `X`. So `ℓ_1 − r ℓ_0` is affine
//! in `X`, and the hockey stick is a stop-loss:
//!
//! ```text
//! Δ_{1,0}(ε) = w (1+ρ)/(np) · E[(X − κ)_+],     ρ = r p/q,   t = (r−1)(1−w)/w,
//! κ = n (ρ + p t)/(1+ρ),   n − κ = n (1 − p t)/(1+ρ)      (Δ = 0 if p t ≥ 1),
//! ```
//!
//! and `Δ_{0,1}` is the same with `p` and `q` exchanged. As `κ ≥ np`, the terms of
//! `E[(X−κ)_+] = Σ_{k≥κ} (k−κ) b(k)` fall from the first on, and all are positive: nothing cancels. The first
//! probability comes from the saddle-point formula, the others from `b(k+1)/b(k) = (n−k)p/((k+1)q)`.

use super::stop_loss::{self, stop_loss};
use super::threshold::{Position, Threshold};
use super::{Direction, Epsilon, check_size, tie};
use crate::ball::Ball;
use crate::error::Error;
use crate::fast;
use crate::interrupt::Interrupt;
use crate::laws::{Probability, binomial_probability};
use crate::rational::Rational;
use std::sync::Arc;

/// A relative error beyond this means that κ all but coincides with an integer, and Δ is mostly the gap.
const TIE: f64 = 1e-12;
/// What an evaluation is worth in terms of a sum, more or less.
pub(super) const TERMS: f64 = 256.0;

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct ShiftedBinomial {
    size: u64,
    at: Entry,
    /// Nothing for an entry that is only known as a ball: the peaks of a range.
    given: Option<Arc<Given>>,
    inclusion: Ball,
    certain: bool,
}

/// The probabilities as they were given: what the digits and the exact tier start from.
#[derive(Debug, PartialEq, Eq)]
pub struct Given {
    /// The probability that an entry has the property.
    pub p: Rational,
    /// The probability that the critical entry is counted.
    pub inclusion: Rational,
}

/// What an entry other than the critical one looks like.
#[derive(Clone, Copy, Debug)]
enum Entry {
    Never,
    Always,
    Random(Probability),
}

impl ShiftedBinomial {
    /// `size ≥ 1` entries with probability `p`, the critical one among them with probability `inclusion`.
    ///
    /// # Errors
    /// `size` of 0 or above 2^53, `p` outside `[0, 1]`, `inclusion` outside `(0, 1]`.
    pub fn new(size: u64, p: &Rational, inclusion: &Rational) -> Result<Self, Error> {
        let one = Rational::from(1i64);
        check_size(size)?;
        if inclusion.is_negative() || inclusion.is_zero() || *inclusion > one {
            return Err(Error::argument("the inclusion probability must be above 0 and at most 1"));
        }
        let at = if p.is_zero() {
            Entry::Never
        } else if *p == one {
            Entry::Always
        } else {
            Entry::Random(Probability::new(p)?)
        };
        let certain = *inclusion == one;
        let given = Some(Arc::new(Given { p: p.clone(), inclusion: inclusion.clone() }));
        Ok(Self { size, at, given, inclusion: Ball::from_rational(inclusion), certain })
    }

    /// The number of entries that are counted.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The probabilities as they were given, where they were given as rationals.
    #[must_use]
    pub fn given(&self) -> Option<&Given> {
        self.given.as_deref()
    }

    /// The same entries in another number.
    ///
    /// # Errors
    /// `size` of 0 or above 2^53.
    pub fn with_size(&self, size: u64) -> Result<Self, Error> {
        check_size(size)?;
        Ok(Self { size, ..self.clone() })
    }

    /// The critical entry is counted for sure, and the others have the given probability.
    pub(crate) fn certain(size: u64, at: Probability) -> Self {
        Self { size, at: Entry::Random(at), given: None, inclusion: Ball::ONE, certain: true }
    }

    /// `Δ_{v,w}(ε)`, for an ε of either sign.
    ///
    /// # Errors
    /// [`Error::Precision`] where the sum would have too many terms, [`Error::Interrupted`].
    pub fn delta(
        &self,
        direction: Direction,
        epsilon: &Epsilon,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        if epsilon.is_negative() {
            return epsilon.reflect(|opposite| self.delta(direction.reversed(), opposite, interrupt));
        }
        if !epsilon.is_precise_for(self.size)
            && let Some(value) = self.in_doubles(direction, epsilon)
        {
            return Ok(value);
        }
        let at = match (self.at, direction) {
            (Entry::Never, Direction::OneAgainstZero) | (Entry::Always, Direction::ZeroAgainstOne) => {
                return Ok(self.inclusion);
            }
            (Entry::Never | Entry::Always, _) => return Ok(self.degenerate(epsilon)),
            (Entry::Random(at), Direction::OneAgainstZero) => at,
            (Entry::Random(at), Direction::ZeroAgainstOne) => at.complement(),
        };
        let Some(threshold) = self.threshold(&at, epsilon)? else { return Ok(Ball::ZERO) };
        let value = self.one_against_zero(&at, epsilon, &threshold, interrupt)?;
        if value.relative_error() <= TIE {
            return Ok(value);
        }
        match self.threshold_across_tie(&threshold, direction, epsilon) {
            Some(threshold) => self.one_against_zero(&at, epsilon, &threshold, interrupt),
            None => Ok(value),
        }
    }

    /// `Δ_{v,w}` at many doubles ε ≥ 0 that share what they can; nothing at those that the fast tier does not serve.
    pub(crate) fn deltas(&self, direction: Direction, epsilons: &[f64]) -> Vec<Option<Ball>> {
        let laws = match &self.at {
            Entry::Random(at) if self.certain && self.size > stop_loss::SMALL => {
                at.doubles.map(|law| match direction {
                    Direction::OneAgainstZero => (*at, law),
                    Direction::ZeroAgainstOne => (at.complement(), law.mirrored()),
                })
            }
            _ => None,
        };
        let Some((at, law)) = laws else { return vec![None; epsilons.len()] };
        let mut values = fast::deltas(self.size, &at, law, epsilons);
        for (value, &epsilon) in values.iter_mut().zip(epsilons) {
            // At zero Δ is a single probability.
            *value = value.filter(|_| epsilon > 0.0);
        }
        values
    }

    /// By the fast tier, where it applies.
    fn in_doubles(&self, direction: Direction, epsilon: &Epsilon) -> Option<Ball> {
        let Entry::Random(at) = &self.at else { return None };
        if !self.certain || self.size <= stop_loss::SMALL || epsilon.is_zero() {
            return None;
        }
        let (law, value) = (at.doubles?, epsilon.value.to_double_double()?);
        match direction {
            Direction::OneAgainstZero => fast::delta(self.size, at, law, value),
            Direction::ZeroAgainstOne => fast::delta(self.size, &at.complement(), law.mirrored(), value),
        }
    }

    /// About how many terms one evaluation takes, other work counted as so many terms.
    #[must_use]
    pub fn terms(&self) -> f64 {
        TERMS
    }

    /// The limit of Δ for ε → ∞: the mass of the first law where the second has none.
    #[must_use]
    pub fn mass_at_infinity(&self, direction: Direction) -> Ball {
        match (self.at, direction) {
            (Entry::Never, Direction::OneAgainstZero) | (Entry::Always, Direction::ZeroAgainstOne) => {
                self.inclusion
            }
            (Entry::Never | Entry::Always, _) => {
                if self.certain {
                    Ball::ONE
                } else {
                    Ball::ZERO
                }
            }
            (Entry::Random(_), _) if !self.certain => Ball::ZERO,
            (Entry::Random(at), Direction::OneAgainstZero) => at.p.powi(self.size - 1),
            (Entry::Random(at), Direction::ZeroAgainstOne) => at.q.powi(self.size - 1),
        }
    }

    /// All others are alike: the first law puts everything on an answer to which the second gives `1 − w`.
    fn degenerate(&self, epsilon: &Epsilon) -> Ball {
        let value = Ball::ONE - epsilon.ratio() * (Ball::ONE - self.inclusion);
        if value.is_not_positive() { Ball::ZERO } else { value.max(Ball::ZERO) }
    }

    /// `p t`, the part of κ that comes from the chance of not being counted.
    fn slack(&self, at: &Probability, epsilon: &Epsilon) -> Ball {
        if self.certain {
            return Ball::ZERO;
        }
        at.p * (epsilon.ratio() - Ball::ONE) * (Ball::ONE - self.inclusion) / self.inclusion
    }

    /// Where the sum starts; nothing where Δ is zero.
    fn threshold(&self, at: &Probability, epsilon: &Epsilon) -> Result<Option<Threshold>, Error> {
        let slack = self.slack(at, epsilon);
        let (x, y) = (at.odds * epsilon.ratio() + slack, Ball::ONE - slack);
        if y.is_not_positive() {
            return Ok(None);
        }
        match Threshold::locate(self.size, x, y) {
            Some(threshold) => Ok(Some(threshold)),
            None => Err(Error::precision("the threshold of the hockey stick cannot be located")),
        }
    }

    /// The same threshold from exact inputs, for a value that hangs on how little κ differs from an integer.
    fn threshold_across_tie(
        &self,
        threshold: &Threshold,
        direction: Direction,
        epsilon: &Epsilon,
    ) -> Option<Threshold> {
        let given = self.given().filter(|_| self.certain)?;
        let p = match direction {
            Direction::OneAgainstZero => given.p.clone(),
            Direction::ZeroAgainstOne => Rational::from(1i64).sub(&given.p),
        };
        let excess = tie::excess(self.size, threshold.first, &p, &epsilon.exact())?;
        Some(Threshold::above_or_below(threshold.first, excess))
    }

    fn one_against_zero(
        &self,
        at: &Probability,
        epsilon: &Epsilon,
        threshold: &Threshold,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        let &Threshold { first, position, .. } = threshold;
        let rho = at.odds * epsilon.ratio();
        if self.certain && first == self.size && position == Position::Between {
            // κ > n − 1: only the answer n counts, and Δ = P_1(n) = p^{n−1}, exact where doubles are.
            return Ok(at.p.powi(self.size - 1));
        }
        if self.certain && epsilon.is_zero() && position != Position::Undecided {
            // Total variation: P[B ≥ a−1] − P[B ≥ a] for B ~ Bin(n−1, p) and a = ⌈np⌉.
            return Ok(binomial_probability(first - 1, self.size - 1, at));
        }
        let scale = self.inclusion * (Ball::ONE + rho) / (Ball::from_u64(self.size) * at.p);
        let precise = epsilon.is_precise_for(self.size);
        let sum = stop_loss(self.size, at, threshold, precise, interrupt)?;
        Ok(scale * sum)
    }
}
