//! The hockey stick of one count, in integers.
//!
//! With `N = n−1`, `B ~ Bin(N, p)` and inclusion probability `w` the densities of `forms/shifted_binomial.rs` give, for the answers
//! from `k` up,
//!
//! ```text
//! A = (1−w) P[X ≥ k] + w P[B ≥ k−1] = T + b (w + (1−w) p),   T = P[B ≥ k],
//! B = (1−w) P[X ≥ k] + w P[B ≥ k]   = T + b (1−w) p,         b = P[B = k−1],
//! ```
//!
//! and the best `k` is `⌈κ⌉` for the κ given there, which rises with `e^ε`.

use super::Terms;
use super::binomial_tail::{Binomial, Tail};
use super::quotient::Quotient;
use super::ratio::Ratio;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::rational::Rational;
use dashu_int::ops::{BitTest, DivEuclid, UnsignedAbs};
use dashu_int::{IBig, UBig};
use std::cmp::Ordering;

/// `Δ_{1,0}` for `size` entries with probability `p`, the critical one counted with probability `inclusion`.
pub(crate) fn one_against_zero(
    size: u64,
    p: &Rational,
    inclusion: &Rational,
    ratio: &Ratio,
    interrupt: &dyn Interrupt,
) -> Result<Terms, Error> {
    let one = Rational::from(1i64);
    if p.is_zero() || *p == one {
        return degenerate(p.is_zero(), inclusion, ratio, interrupt);
    }
    let count = Count::new(size, p, inclusion);
    let first =
        ratio.decide(count.range_of_likelihood_ratios(), interrupt, |ratio| Ok(count.first_answer(ratio)))?;
    let law = Binomial { trials: size - 1, hits: &count.hits, misses: &count.misses };
    let tail = law.tail(first, interrupt)?;
    count.terms(tail)
}

/// All others are alike. If they never count, the answer 1 has the probabilities `w` and 0, and the answer 0 the
/// probabilities `1−w` and 1; if they always do, the full count has 1 and `1−w`, and one less has 0 and `w`. Everything at `e^ε ≥ 1`.
fn degenerate(
    never: bool,
    inclusion: &Rational,
    ratio: &Ratio,
    interrupt: &dyn Interrupt,
) -> Result<Terms, Error> {
    if never {
        return Ok(Terms { first: Quotient::rational(inclusion), second: Quotient::integer(0) });
    }
    let (one, missed) = (Quotient::integer(1), Quotient::rational(&Rational::from(1i64).sub(inclusion)));
    let full_count = ratio.compare(&one, &missed, interrupt)? == Ordering::Greater;
    Ok(if full_count { Terms { first: one, second: missed } } else { Terms::integers(0, 0) })
}

/// `p = hits/(hits+misses)` and `w = included/(included+missed)`, in lowest terms.
struct Count {
    size: u64,
    hits: UBig,
    misses: UBig,
    entries: UBig,
    included: UBig,
    missed: UBig,
}

impl Count {
    fn new(size: u64, p: &Rational, inclusion: &Rational) -> Self {
        let (hits, entries) = (p.numerator().clone().unsigned_abs(), p.denominator().clone());
        let included = inclusion.numerator().clone().unsigned_abs();
        let missed = inclusion.denominator() - &included;
        Self { size, misses: &entries - &hits, hits, entries, included, missed }
    }

    /// Every likelihood ratio that is neither 0 nor infinite lies within `2^±` this: it is
    /// `[(1−w)npq + waq]/[(1−w)npq + w(n−a)p]`, and over the common denominator both are integers up to `n · entries² · 2^bits(w)`.
    fn range_of_likelihood_ratios(&self) -> usize {
        let weights = (&self.included + &self.missed).bit_len();
        64 + 2 * self.entries.bit_len() + weights
    }

    /// `⌈κ⌉`, from 0 to `n+1`, for `κ = n p [(r−1)(1−w) q + r w]/(w (q + r p))`.
    fn first_answer(&self, ratio: &Rational) -> u64 {
        let (x, y) = (ratio.numerator(), IBig::from(ratio.denominator().clone()));
        let signed = |natural: &UBig| IBig::from(natural.clone());
        let missed = (x - &y) * signed(&self.missed) * signed(&self.misses);
        let top =
            signed(&self.hits) * self.size * (missed + x * signed(&self.included) * signed(&self.entries));
        let bottom = signed(&self.entries)
            * signed(&self.included)
            * (signed(&self.misses) * &y + x * signed(&self.hits));
        let kappa = -(-top).div_euclid(bottom);
        u64::try_from(kappa.clone().max(IBig::ZERO)).map_or(self.size + 1, |first| first.min(self.size + 1))
    }

    /// The formulas of the module documentation, over `entries^N · (entries · weights)`.
    fn terms(&self, tail: Tail) -> Result<Terms, Error> {
        let trials = usize::try_from(self.size - 1)
            .map_err(|_| Error::precision("an exponent that does not fit this machine"))?;
        let Tail { atom_below, mass } = tail;
        let over = |numerator: UBig| Quotient::integer(numerator).over(&self.entries, trials);
        if self.missed.is_zero() {
            return Ok(Terms { first: over(&mass + atom_below), second: over(mass) });
        }
        let weights = &self.included + &self.missed;
        let mass = mass * &weights * &self.entries;
        let second = &mass + &atom_below * &self.missed * &self.hits;
        let first = &second + atom_below * &self.included * &self.entries;
        Ok(Terms { first: over(first), second: over(second) }
            .map(|x| x.over(&self.entries, 1).over(&weights, 1)))
    }
}

/// The first and the last `j` with `p_j = j/(j + (N−j) r)` inside `[lower, upper]`: `⌈N r lo/(1 − lo + r lo)⌉` and `⌊N r hi/(1 − hi + r hi)⌋`.
pub(crate) fn peaks_within(
    others: u64,
    lower: &Rational,
    upper: &Rational,
    ratio: &Rational,
) -> Result<(u64, u64), Error> {
    let one = Rational::from(1i64);
    let position = |p: &Rational| {
        let odds = ratio.mul(p);
        Rational::from(others).mul(&odds).div(&one.sub(p).add(&odds))
    };
    let floor = |x: &Rational| x.numerator().div_euclid(IBig::from(x.denominator().clone()));
    let (left, right) = (position(lower), position(upper));
    let first = left.and_then(|left| u64::try_from(-floor(&left.neg())).ok());
    let last = right.and_then(|right| u64::try_from(floor(&right)).ok());
    first.zip(last).ok_or_else(|| Error::argument("a range of probabilities within [0, 1] is required"))
}

/// The probabilities `p_j` of those of these tests that are no test of `p = 0` or `p = 1`.
pub(crate) fn inner_peaks(others: u64, tests: &[u64], ratio: &Rational) -> Vec<Rational> {
    let peak =
        |&j: &u64| Rational::from(j).div(&Rational::from(j).add(&Rational::from(others - j).mul(ratio)));
    tests.iter().filter(|j| (1..others).contains(j)).filter_map(peak).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Questions;

    /// Of thirds and halves likelihood ratios lie within `2^±(64 + 2 · 2 + 2)`: beyond that no bits of `e^ε` are asked for.
    #[test]
    fn what_is_beyond_all_likelihood_ratios_is_not_written_out() {
        let [third, half] = ["1/3", "1/2"].map(|text| Rational::parse(text).unwrap());
        let count = Count::new(9, &third, &half);
        let asked = |epsilon: u64| {
            let (ratio, questions) = (Ratio::from_epsilon(&Rational::from(epsilon)), Questions::default());
            let range = count.range_of_likelihood_ratios();
            let first = ratio.decide(range, &questions, |ratio| Ok(count.first_answer(ratio))).unwrap();
            (first, questions.number())
        };
        assert_eq!([70, 71].map(asked), [(10, 1), (10, 0)]);
    }
}
