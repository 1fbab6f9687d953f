//! The number of entries that do not matter: its probabilities as integers over one denominator.

use crate::curve::Irrelevant;
use crate::error::Error;
use crate::exact::binomial_tail::choose;
use crate::interrupt::Interrupt;
use dashu_int::UBig;
use dashu_int::ops::UnsignedAbs;

/// `P[Z = z]`, times the denominator of all of them.
pub(super) struct Ways<'a> {
    law: &'a Irrelevant,
    pub number: UBig,
}

impl<'a> Ways<'a> {
    /// At the greatest `z`: `C(v,z) C(m−v,d−z)` for `v` marked ones among `m` entries and `d` draws; `α^m` where each of `m` does not
    /// matter with probability `α/(α+γ)`.
    pub fn of_greatest(law: &'a Irrelevant, interrupt: &dyn Interrupt) -> Result<Self, Error> {
        let number = match law {
            Irrelevant::Hypergeometric(law) => {
                let (unmarked, z) = (law.population() - law.marked(), law.greatest());
                choose(law.marked(), z, interrupt)? * choose(unmarked, law.draws() - z, interrupt)?
            }
            Irrelevant::Binomial(law) => {
                law.share().numerator().clone().unsigned_abs().pow(exponent(law.others())?)
            }
        };
        Ok(Self { law, number })
    }

    /// From `z` to `z − 1`: `C(v,z−1) C(m−v,d−z+1)` from `C(v,z) C(m−v,d−z)`, or `C(m,z−1) α^{z−1} γ^{m−z+1}` from `C(m,z) α^z γ^{m−z}`; every
    /// division is exact.
    pub fn step_down(&mut self, z: u64) {
        let number = std::mem::take(&mut self.number);
        self.number = match self.law {
            Irrelevant::Hypergeometric(law) => {
                let (marked, draws) = (law.marked(), law.draws());
                let unmarked = law.population() - marked;
                number * z * (unmarked - (draws - z)) / (marked - z + 1) / (draws - z + 1)
            }
            Irrelevant::Binomial(law) => {
                let hits = law.share().numerator().clone().unsigned_abs();
                let misses = law.share().denominator() - &hits;
                number * z / (law.others() - z + 1) / hits * misses
            }
        };
    }

    /// The denominator, as a power.
    pub fn all(&self, interrupt: &dyn Interrupt) -> Result<(UBig, usize), Error> {
        Ok(match self.law {
            Irrelevant::Hypergeometric(law) => (choose(law.population(), law.draws(), interrupt)?, 1),
            Irrelevant::Binomial(law) => (law.share().denominator().clone(), exponent(law.others())?),
        })
    }
}

fn exponent(n: u64) -> Result<usize, Error> {
    usize::try_from(n).map_err(|_| Error::precision("an exponent that does not fit this machine"))
}
