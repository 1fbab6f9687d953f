//! The law of the number of entries that do not matter to an answer.

use crate::ball::Ball;
use crate::error::Error;
use crate::laws::{Hypergeometric, Probability, binomial_probability};
use crate::rational::Rational;
use dashu_int::IBig;

/// How many of the entries besides the critical one do not matter: known ones, ones outside the sample or outside two cells.
#[derive(Clone, Debug)]
pub enum Irrelevant {
    /// The known ones in a sample without replacement.
    Hypergeometric(Hypergeometric),
    /// Each by itself.
    Binomial(Box<IndependentlyIrrelevant>),
}

/// Each of `others` entries does not matter with the probability `share`, strictly between 0 and 1.
#[derive(Clone, Debug)]
pub struct IndependentlyIrrelevant {
    others: u64,
    share: Rational,
    at: Probability,
    mode: u64,
}

impl IndependentlyIrrelevant {
    /// The number of entries that may or may not matter.
    #[must_use]
    pub fn others(&self) -> u64 {
        self.others
    }

    /// The probability with which each does not.
    #[must_use]
    pub fn share(&self) -> &Rational {
        &self.share
    }

    /// `E[a^Y] = (x + (1−x) a)^m` for the number `Y` of those that do matter.
    pub(super) fn generating_function(&self, a: Ball) -> Ball {
        (self.at.p + self.at.q * a).powi(self.others)
    }
}

impl Irrelevant {
    /// Each of `others` entries with probability `share`.
    ///
    /// # Errors
    /// `share` outside `[0, 1]`, `others` above 2^53.
    pub fn independent(others: u64, share: &Rational) -> Result<Self, Error> {
        let one = Rational::from(1i64);
        if share.is_negative() || *share > one {
            return Err(Error::argument(format!(
                "irrelevant = {}; a probability from 0 to 1 is required",
                share.shown()
            )));
        }
        if share.is_zero() || *share == one {
            // None or all of them for sure: as many are marked, and all are drawn.
            let marked = if share.is_zero() { 0 } else { others };
            return Ok(Self::Hypergeometric(Hypergeometric::new(others, marked, others)?));
        }
        if others > 1 << 53 {
            return Err(Error::argument(format!("others = {others}; an integer from 0 to 2^53 is required")));
        }
        // ⌊(m+1)x⌋ is a mode.
        let mode = share.numerator() * IBig::from(others + 1) / IBig::from(share.denominator().clone());
        let mode = u64::try_from(&mode).unwrap_or(others).min(others);
        let at = Probability::new(share)?;
        Ok(Self::Binomial(Box::new(IndependentlyIrrelevant { others, share: share.clone(), at, mode })))
    }

    /// Least possible value.
    #[must_use]
    pub fn least(&self) -> u64 {
        match self {
            Self::Hypergeometric(law) => law.least(),
            Self::Binomial(_) => 0,
        }
    }

    /// Greatest possible value.
    #[must_use]
    pub fn greatest(&self) -> u64 {
        match self {
            Self::Hypergeometric(law) => law.greatest(),
            Self::Binomial(law) => law.others,
        }
    }

    /// A most probable value.
    #[must_use]
    pub fn mode(&self) -> u64 {
        match self {
            Self::Hypergeometric(law) => law.mode(),
            Self::Binomial(law) => law.mode,
        }
    }

    /// Standard deviation, rounded: for deciding how much work to do, not for bounds.
    #[must_use]
    pub fn standard_deviation(&self) -> f64 {
        match self {
            Self::Hypergeometric(law) => law.standard_deviation(),
            Self::Binomial(law) => {
                let variance = Ball::from_u64(law.others) * law.at.p * law.at.q;
                variance.to_enclosure().upper().sqrt()
            }
        }
    }

    /// `P[Z = z]`; zero outside the support.
    #[must_use]
    pub fn probability(&self, z: u64) -> Ball {
        match self {
            Self::Hypergeometric(law) => law.probability(z),
            Self::Binomial(law) => binomial_probability(z, law.others, &law.at),
        }
    }

    /// `P[Z = z+1] / P[Z = z]`, for `z` in the support: it falls with `z`.
    #[must_use]
    pub fn ratio_up(&self, z: u64) -> Ball {
        match self {
            Self::Hypergeometric(law) => law.ratio_up(z),
            Self::Binomial(law) => Ball::from_u64(law.others - z) * law.at.odds / Ball::from_u64(z + 1),
        }
    }
}
