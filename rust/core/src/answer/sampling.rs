//! Samples of entries that are marked or not: the number of marked ones in a sample, given that in the population.

use super::conditional::{Conditional, MAX_BITS, WeightedSums};
use super::pmf::{Pmf, log_concave, power};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::laws::{Hypergeometric, Probability, binomial_probability};
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use std::sync::Arc;

/// How entries come into a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// `a | A ~ Hyp(population, A, size)`.
    WithoutReplacement {
        /// Number of entries.
        population: u64,
        /// Number of entries drawn.
        size: u64,
    },
    /// `a | A ~ Bin(size, A/population)`.
    WithReplacement {
        /// Number of entries.
        population: u64,
        /// Number of draws.
        size: u64,
    },
    /// `a | A ~ Bin(A, rate)`.
    Poisson {
        /// Probability with which each entry comes into the sample.
        rate: Rational,
    },
    /// Several samples without replacement, each drawn by itself: counts `a_1, …, a_m` are labelled by
    /// `a_1 + (s_1+1)(a_2 + (s_2+1)(a_3 + …))`.
    Overlapping {
        /// Number of entries.
        population: u64,
        /// Sizes of the samples.
        sizes: Vec<u64>,
    },
}

impl Sampling {
    /// The number of entries, where the law of a sample depends on it.
    #[must_use]
    pub fn population(&self) -> Option<u64> {
        match self {
            Self::WithoutReplacement { population, .. }
            | Self::WithReplacement { population, .. }
            | Self::Overlapping { population, .. } => Some(*population),
            Self::Poisson { .. } => None,
        }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let too_large = |size: u64, population: u64| {
            Err(Error::argument(format!(
                "size = {size}; at most the population of {population} can be drawn"
            )))
        };
        match self {
            Self::WithoutReplacement { population, size } if size > population => {
                too_large(*size, *population)
            }
            Self::Overlapping { population, sizes } => match sizes.iter().find(|size| *size > population) {
                Some(size) => too_large(*size, *population),
                None if self.labels().is_none() => {
                    Err(Error::argument("so many counts of overlapping samples have too many joint values"))
                }
                None => Ok(()),
            },
            Self::WithReplacement { population: 0, .. } => {
                Err(Error::argument("population = 0; at least one entry is required"))
            }
            Self::WithReplacement { size, .. } if *size > 1 << 53 => {
                Err(Error::argument(format!("size = {size}; at most 2^53 draws are allowed")))
            }
            Self::Poisson { rate } if rate.is_negative() || *rate > Rational::from(1i64) => Err(
                Error::argument(format!("rate = {}; a probability from 0 to 1 is required", rate.shown())),
            ),
            _ => Ok(()),
        }
    }

    /// Number of joint values.
    fn labels(&self) -> Option<i64> {
        let Self::Overlapping { sizes, .. } = self else { return None };
        sizes
            .iter()
            .try_fold(1i64, |labels, &size| labels.checked_mul(i64::try_from(size).ok()?.checked_add(1)?))
    }

    /// The ends of the possible labels, when from `least` to `most` of the entries are marked.
    pub(super) fn support(&self, least: i64, most: i64) -> (i64, i64) {
        let drawn = |size: u64| size as i64;
        match self {
            Self::WithoutReplacement { population, size } => {
                let unmarked = drawn(*population).saturating_sub(least);
                (drawn(*size).saturating_sub(unmarked).max(0), most.min(drawn(*size)))
            }
            Self::WithReplacement { population, size } => {
                let all = if least >= drawn(*population) { drawn(*size) } else { 0 };
                (all, if most > 0 { drawn(*size) } else { 0 })
            }
            Self::Poisson { rate } => {
                let certain = *rate == Rational::from(1i64);
                (if certain { least } else { 0 }, if rate.is_zero() { 0 } else { most })
            }
            Self::Overlapping { .. } => (0, self.labels().map_or(i64::MAX, |labels| labels - 1)),
        }
    }

    /// Whether consecutive numbers of marked ones make consecutive labels possible.
    pub(super) fn is_contiguous(&self) -> bool {
        match self {
            Self::WithoutReplacement { .. } | Self::Poisson { .. } => true,
            // Of a single entry either all draws are marked or none.
            Self::WithReplacement { population, size } => *population > 1 || *size <= 1,
            Self::Overlapping { .. } => false,
        }
    }

    /// The law of the sample when `marked` of the entries are marked.
    pub(super) fn given(
        &self,
        marked: u64,
        left_out: Option<u32>,
        interrupt: &dyn Interrupt,
    ) -> Result<Pmf, Error> {
        match self {
            Self::WithoutReplacement { population, size } => {
                without_replacement(*population, marked, *size, left_out)
            }
            Self::WithReplacement { population, size } => {
                binomial(*size, &ratio(marked, *population), left_out)
            }
            Self::Poisson { rate } => binomial(marked, rate, left_out),
            Self::Overlapping { population, sizes } => {
                let mut joint = Pmf::point(0);
                let mut stride = 1i64;
                for &size in sizes {
                    let one = without_replacement(*population, marked, size, left_out)?.scaled(stride)?;
                    joint = joint.convolved(&one, interrupt)?;
                    stride = stride.saturating_mul(size as i64 + 1);
                }
                Ok(joint)
            }
        }
    }

    /// The same law, started from its mode: of single counts, unless parameters are beyond doubles.
    fn conditional(&self, marked: u64) -> Result<Option<Conditional>, Error> {
        match self {
            Self::WithoutReplacement { population, size } => {
                Conditional::hypergeometric(*population, marked, *size).map(Some)
            }
            Self::WithReplacement { population, size } => {
                Conditional::binomial(*size, &ratio(marked, *population))
            }
            Self::Poisson { rate } => Conditional::binomial(marked, rate),
            Self::Overlapping { .. } => Ok(None),
        }
    }

    /// The laws of the sample from those of the population, which share the work: `Σ_A w(A) P[a | A]`.
    ///
    /// With `R` numbers of marked ones, weights up to `2^-bits/4R` are left out. Of other conditional laws terms are left out so that their total is
    /// about `2^-bits/4R` on either side: less than `2^-bits` in all.
    pub(super) fn push<const N: usize>(
        &self,
        populations: &[Arc<Pmf>; N],
        left_out: Option<u32>,
        interrupt: &dyn Interrupt,
    ) -> Result<[Pmf; N], Error> {
        let first = populations.iter().map(|row| row.first).min().unwrap_or(0);
        let last = populations.iter().map(|row| row.last()).max().unwrap_or(-1);
        let share = left_out.map(|bits| bits + 2 + (last - first).max(1).ilog2() + 1);
        let negligible = share.map_or(Ball::ZERO, power);
        let mut samples = populations.each_ref().map(|row| Pmf { missing: row.missing, ..Pmf::empty() });
        let mut sums = WeightedSums::new();
        for marked in first..=last {
            let mut weights = populations.each_ref().map(|row| row.at(marked));
            for (weight, sample) in weights.iter_mut().zip(&mut samples) {
                if share.is_some() && !negligible.certainly_less(*weight) {
                    sample.missing = sample.missing + *weight;
                    *weight = Ball::ZERO;
                }
            }
            if weights.iter().all(|weight| weight.is_exact_zero()) {
                continue;
            }
            interrupt.check()?;
            let bits = share.map(|share| share.saturating_sub(bits_below_one(&weights)));
            if let Some(bits) = bits.filter(|_| share.is_some_and(|share| share <= MAX_BITS))
                && let Some(law) = self.conditional(marked.unsigned_abs())?
                && sums.add(&law, &weights, bits, interrupt)?
            {
                continue;
            }
            let given = self.given(marked.unsigned_abs(), bits, interrupt)?;
            for (sample, &weight) in samples.iter_mut().zip(&weights) {
                sample.add(&given, weight)?;
            }
        }
        for (sample, sum) in samples.iter_mut().zip(sums.rows()) {
            sample.add(&sum, Ball::ONE)?;
        }
        Ok(samples)
    }
}

/// The greatest `b` for which all of these are certainly at most `2^-b`, as far as doubles tell.
fn bits_below_one(weights: &[Ball]) -> u32 {
    let greatest = weights.iter().map(|weight| weight.to_enclosure().upper()).fold(0.0, f64::max);
    // 2^(e − 1023) ≤ x < 2^(e − 1022) for the biased exponent e.
    1022u32.saturating_sub((greatest.to_bits() >> 52) as u32)
}

/// `a/b`, for a `b` other than zero.
pub(super) fn ratio(a: u64, b: u64) -> Rational {
    Rational::from(a).div(&Rational::from(b)).unwrap_or_else(|| Rational::from(0i64))
}

pub(crate) fn binomial(trials: u64, p: &Rational, left_out: Option<u32>) -> Result<Pmf, Error> {
    if p.is_zero() || trials == 0 {
        return Ok(Pmf::point(0));
    }
    if *p == Rational::from(1i64) {
        return Ok(Pmf::point(trials as i64));
    }
    let at = Probability::new(p)?;
    let mode = binomial_mode(trials, &at);
    let up = |k: u64| Ball::from_u64(trials - k) * at.odds / Ball::from_u64(k + 1);
    log_concave((0, mode, trials), binomial_probability(mode, trials, &at), up, left_out)
}

/// A most probable value, or one next to it.
pub(super) fn binomial_mode(trials: u64, at: &Probability) -> u64 {
    (Ball::from_u64(trials + 1) * at.p).floor_or_above().unwrap_or(0).min(trials)
}

fn without_replacement(population: u64, marked: u64, size: u64, left_out: Option<u32>) -> Result<Pmf, Error> {
    let law = Hypergeometric::new(population, marked, size)?;
    let mode = law.mode();
    log_concave((law.least(), mode, law.greatest()), law.probability(mode), |k| law.ratio_up(k), left_out)
}
