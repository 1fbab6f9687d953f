//! The law of the number of entries that do not matter to an answer.

use crate::error::Error;
use crate::laws::{Hypergeometric, Probability, binomial_probability};
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exactly(x: Ball, truth: &Rational) -> bool {
        let gap = x - Ball::from_rational(truth);
        !gap.is_positive() && !(-gap).is_positive() && x.relative_error() < 1e-25
    }

    proptest! {
        /// `P[Z = z]` from the recursion in the number of entries, one after the other.
        #[test]
        fn entries_that_are_irrelevant_by_themselves_add_up(others in 0u64..12, twelfths in 0u64..=12) {
            let share = Rational::from(twelfths).div(&Rational::from(12u64)).unwrap();
            let (zero, rest) = (Rational::from(0i64), Rational::from(1i64).sub(&share));
            let truth = (0..others).fold(vec![Rational::from(1i64)], |law, _| {
                let kept = law.iter().map(|x| x.mul(&rest)).chain([zero.clone()]);
                let lost = [zero.clone()].into_iter().chain(law.iter().map(|x| x.mul(&share)));
                kept.zip(lost).map(|(a, b)| a.add(&b)).collect()
            });
            let law = Irrelevant::independent(others, &share).unwrap();
            let most = truth.iter().max().unwrap();
            prop_assert_eq!(&truth[law.mode() as usize], most);
            for (z, truth) in (0..).zip(&truth) {
                let possible = law.least() <= z && z <= law.greatest();
                prop_assert_eq!(possible, !truth.is_zero());
                prop_assert!(truth.is_zero() || exactly(law.probability(z), truth));
            }
            for z in law.least()..law.greatest() {
                let (here, next) = (&truth[z as usize], &truth[z as usize + 1]);
                prop_assert!(exactly(law.ratio_up(z), &next.div(here).unwrap()));
            }
            let variance = Rational::from(others).mul(&share).mul(&rest);
            let deviation = law.standard_deviation();
            let close = Ball::from_rational(&variance).to_enclosure().upper();
            prop_assert!((deviation * deviation - close).abs() <= 1e-14 * close);
        }
    }

    #[test]
    fn shares_are_probabilities_and_numbers_are_doubles() {
        let half = Rational::parse("1/2").unwrap();
        assert!(Irrelevant::independent(1 << 53, &half).is_ok());
        let Err(Error::Argument(message)) = Irrelevant::independent((1 << 53) + 1, &half) else {
            panic!("not refused")
        };
        assert_eq!(message, "others = 9007199254740993; an integer from 0 to 2^53 is required");
        let law = Irrelevant::independent(1 << 53, &Rational::parse("1e-300").unwrap()).unwrap();
        assert_eq!((law.least(), law.mode(), law.greatest()), (0, 0, 1 << 53));
    }
}
