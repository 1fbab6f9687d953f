//! Samples of entries that are marked or not: the number of marked ones in a sample, given that in the population.

use super::row::{Row, log_concave};
use crate::ball::Ball;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::laws::{Hypergeometric, Probability, binomial_probability};
use crate::rational::Rational;
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

    /// The law of the sample when `marked` of the entries are marked.
    pub(super) fn given(
        &self,
        marked: u64,
        left_out: Option<u32>,
        interrupt: &dyn Interrupt,
    ) -> Result<Row, Error> {
        match self {
            Self::WithoutReplacement { population, size } => {
                without_replacement(*population, marked, *size, left_out)
            }
            Self::WithReplacement { population, size } => {
                binomial(*size, &ratio(marked, *population), left_out)
            }
            Self::Poisson { rate } => binomial(marked, rate, left_out),
            Self::Overlapping { population, sizes } => {
                let mut joint = Row::point(0);
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

    /// The law of the sample from that of the population: of several populations at once, which share the work.
    pub(super) fn push(
        &self,
        populations: &[Arc<Row>],
        left_out: Option<u32>,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<Row>, Error> {
        let first = populations.iter().map(|row| row.first).min().unwrap_or(0);
        let last = populations.iter().map(|row| row.last()).max().unwrap_or(-1);
        let mut samples = vec![Row::empty(); populations.len()];
        for marked in first..=last {
            let weights: Vec<Ball> = populations.iter().map(|row| row.at(marked)).collect();
            if weights.iter().all(|weight| weight.is_exact_zero()) {
                continue;
            }
            interrupt.check()?;
            let given = self.given(marked.unsigned_abs(), left_out, interrupt)?;
            for (sample, &weight) in samples.iter_mut().zip(&weights) {
                sample.add(&given, weight)?;
            }
        }
        for (sample, population) in samples.iter_mut().zip(populations) {
            sample.missing = sample.missing + population.missing;
        }
        Ok(samples)
    }
}

/// `a/b`, for a `b` other than zero.
pub(super) fn ratio(a: u64, b: u64) -> Rational {
    Rational::from(a).div(&Rational::from(b)).unwrap_or_else(|| Rational::from(0i64))
}

pub(super) fn binomial(trials: u64, p: &Rational, left_out: Option<u32>) -> Result<Row, Error> {
    if p.is_zero() || trials == 0 {
        return Ok(Row::point(0));
    }
    if *p == Rational::from(1i64) {
        return Ok(Row::point(trials as i64));
    }
    let at = Probability::new(p)?;
    let mode = (Ball::from_u64(trials + 1) * at.p).floor_or_above().unwrap_or(0).min(trials);
    let up = |k: u64| Ball::from_u64(trials - k) * at.odds / Ball::from_u64(k + 1);
    log_concave((0, mode, trials), binomial_probability(mode, trials, &at), up, left_out)
}

fn without_replacement(population: u64, marked: u64, size: u64, left_out: Option<u32>) -> Result<Row, Error> {
    let law = Hypergeometric::new(population, marked, size)?;
    let mode = law.mode();
    log_concave((law.least(), mode, law.greatest()), law.probability(mode), |k| law.ratio_up(k), left_out)
}
