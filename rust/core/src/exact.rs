//! The exact tier: hockey sticks as rational numbers.
//!
//! A hockey stick is `A − e^ε B` with the probabilities `A = P_v[S]` and `B = P_w[S]` of the set `S` on which the likelihood
//! ratio is at least `e^ε`. Where `p` and the weights are rational, so are `A` and `B`; only where `S` begins, and which of several
//! curves is the largest, depends on `e^ε`, and that is decided with as many of its bits as it takes.
//! [`crate::curve::exact`] evaluates curves with it.

pub(crate) mod binomial_tail;
pub(crate) mod cost;
pub(crate) mod count;
pub(crate) mod quotient;
pub(crate) mod ratio;

use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::rational::Rational;
use quotient::Quotient;
use ratio::Ratio;
use std::cmp::Ordering;

/// `A` and `B` of `A − e^ε B`.
#[derive(Clone, Debug)]
pub struct Terms {
    pub(crate) first: Quotient,
    pub(crate) second: Quotient,
}

impl Terms {
    pub(crate) fn integers(first: i64, second: i64) -> Self {
        Self { first: Quotient::integer(first), second: Quotient::integer(second) }
    }

    pub(crate) fn map(self, change: impl Fn(Quotient) -> Quotient) -> Self {
        Self { first: change(self.first), second: change(self.second) }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self { first: self.first.plus(other.first), second: self.second.plus(other.second) }
    }

    /// `1 − e^ε + e^ε δ'` where these are the terms of `δ'` at `−ε`: the curve of the opposite direction.
    pub(crate) fn reflected(self) -> Self {
        let complement = |x: Quotient| Quotient::integer(1).minus(x);
        Self { first: complement(self.second), second: complement(self.first) }
    }
}

/// What the evaluation at one `e^ε ≥ 1` needs.
pub struct Evaluation<'a> {
    pub(crate) ratio: Ratio,
    pub(crate) interrupt: &'a dyn Interrupt,
}

impl Evaluation<'_> {
    pub(crate) fn compare(&self, left: &Terms, right: &Terms) -> Result<Ordering, Error> {
        let first = left.first.clone().minus(right.first.clone());
        let second = left.second.clone().minus(right.second.clone());
        self.ratio.compare(&first, &second, self.interrupt)
    }

    pub(crate) fn rational_ratio(&self) -> Result<&Rational, Error> {
        match &self.ratio {
            Ratio::Rational(ratio) => Ok(ratio),
            Ratio::Exponential { .. } => Err(Error::argument(
                "the worst p of a range depends on e^epsilon, so delta is not A − e^epsilon·B with rational A and B; \
                 exact_delta(exp_epsilon=) gives it for a rational e^epsilon",
            )),
        }
    }

    /// The greatest `Δ_{1,0}` of a count at these probabilities.
    pub(crate) fn greatest(&self, size: u64, candidates: Vec<Rational>) -> Result<Terms, Error> {
        let one = Rational::from(1i64);
        let mut best = Terms::integers(0, 0);
        for p in candidates {
            let terms = count::one_against_zero(size, &p, &one, &self.ratio, self.interrupt)?;
            if self.compare(&terms, &best)? == Ordering::Greater {
                best = terms;
            }
        }
        Ok(best)
    }
}
