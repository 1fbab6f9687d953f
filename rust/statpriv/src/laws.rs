//! Certified binomial and hypergeometric probabilities.
//!
//! ```
//! use statpriv::laws::{Binomial, Hypergeometric};
//!
//! # fn main() -> Result<(), statpriv::Error> {
//! let heads = Binomial::new(1_000_000, "1/2")?;
//! assert!(heads.pmf(500_000).width() < 1e-16);
//! assert!(heads.upper_tail(501_000)?.upper() < 0.0229);
//! assert_eq!(Hypergeometric::new(10, 4, 10)?.pmf(4).lower(), 1.0);
//! # Ok(())
//! # }
//! ```

use crate::number::LARGEST_COUNT;
use crate::{Enclosure, Error, Number, Rational};
use statpriv_core::interrupt::Uninterrupted;
use statpriv_core::laws;

/// The number of hits in n independent trials.
#[derive(Clone, Copy, Debug)]
pub struct Binomial {
    n: u64,
    chance: Chance,
}

#[derive(Clone, Copy, Debug)]
enum Chance {
    /// For p = 0 and p = 1 the number of hits is known.
    Certain(u64),
    Between(laws::Probability),
}

/// What a law concentrated at one number gives at k.
fn certain(k: u64, value: u64) -> Enclosure {
    Enclosure::point(f64::from(u8::from(k == value)))
}

fn logarithm_of_certain(k: u64, value: u64) -> Enclosure {
    Enclosure::point(if k == value { 0.0 } else { f64::NEG_INFINITY })
}

impl Binomial {
    /// Of n trials, up to 2^53, each with the probability p.
    ///
    /// # Errors
    /// No number from 0 to 1, more trials.
    pub fn new(n: u64, p: impl Number) -> Result<Self, Error> {
        let p = p.exactly("p")?;
        if n > LARGEST_COUNT {
            return Err(Error::argument(format!("n = {n}; at most 2^53 trials are allowed")));
        }
        let chance = if p.is_zero() {
            Chance::Certain(0)
        } else if p == Rational::from(1i64) {
            Chance::Certain(n)
        } else {
            Chance::Between(laws::Probability::new(&p)?)
        };
        Ok(Self { n, chance })
    }

    /// `P[X = k]`.
    #[must_use]
    pub fn pmf(&self, k: u64) -> Enclosure {
        match &self.chance {
            Chance::Certain(value) => certain(k, *value),
            Chance::Between(_) if k > self.n => Enclosure::point(0.0),
            Chance::Between(at) => laws::binomial_pmf(k, self.n, at),
        }
    }

    /// `ln P[X = k]`, −∞ outside the support.
    #[must_use]
    pub fn log_pmf(&self, k: u64) -> Enclosure {
        match &self.chance {
            Chance::Certain(value) => logarithm_of_certain(k, *value),
            Chance::Between(_) if k > self.n => Enclosure::point(f64::NEG_INFINITY),
            Chance::Between(at) => laws::binomial_log_pmf(k, self.n, at),
        }
    }

    /// `P[X ≥ k]`.
    ///
    /// # Errors
    /// [`Error::Precision`].
    pub fn upper_tail(&self, k: u64) -> Result<Enclosure, Error> {
        match &self.chance {
            Chance::Certain(value) => Ok(Enclosure::point(f64::from(u8::from(*value >= k)))),
            Chance::Between(_) if k > self.n => Ok(Enclosure::point(0.0)),
            Chance::Between(at) => laws::binomial_upper_tail(k, self.n, at, &Uninterrupted),
        }
    }

    /// `P[X ≤ k]`.
    ///
    /// # Errors
    /// [`Error::Precision`].
    pub fn lower_tail(&self, k: u64) -> Result<Enclosure, Error> {
        match &self.chance {
            Chance::Certain(value) => Ok(Enclosure::point(f64::from(u8::from(*value <= k)))),
            Chance::Between(_) if k >= self.n => Ok(Enclosure::point(1.0)),
            Chance::Between(at) => laws::binomial_lower_tail(k, self.n, at, &Uninterrupted),
        }
    }
}

/// The number of marked ones among those drawn without replacement.
#[derive(Clone, Debug)]
pub struct Hypergeometric(laws::Hypergeometric);

impl Hypergeometric {
    /// `draws` of a population with so many marked ones.
    ///
    /// # Errors
    /// More marked ones or more draws than the population has; a population above 2^53.
    pub fn new(population: u64, marked: u64, draws: u64) -> Result<Self, Error> {
        Ok(Self(laws::Hypergeometric::new(population, marked, draws)?))
    }

    /// `P[X = k]`.
    #[must_use]
    pub fn pmf(&self, k: u64) -> Enclosure {
        self.0.pmf(k)
    }

    /// `ln P[X = k]`, −∞ outside the support.
    #[must_use]
    pub fn log_pmf(&self, k: u64) -> Enclosure {
        self.0.log_pmf(k)
    }

    /// `P[X ≥ k]`.
    ///
    /// # Errors
    /// [`Error::Precision`].
    pub fn upper_tail(&self, k: u64) -> Result<Enclosure, Error> {
        laws::hypergeometric_upper_tail(k, &self.0, &Uninterrupted)
    }

    /// `P[X ≤ k]`.
    ///
    /// # Errors
    /// [`Error::Precision`].
    pub fn lower_tail(&self, k: u64) -> Result<Enclosure, Error> {
        laws::hypergeometric_lower_tail(k, &self.0, &Uninterrupted)
    }
}
