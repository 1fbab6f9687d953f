//! A tail of a binomial law and the atom below it, as integers over one denominator.
//!
//! `P[B = k] = C(N,k) α^k γ^{N−k} / (α+γ)^N` for `p = α/(α+γ)`, and `P[B = k+1]/P[B = k] = (N−k)α / ((k+1)γ)`. So a tail is an
//! atom times `Σ_j Π_{i≤j} x_i/y_i` with small integers `x_i`, `y_i`: a hypergeometric series, summed by binary splitting in
//! a number of operations that is almost linear in the size of its integers.

use crate::error::Error;
use crate::interrupt::Interrupt;
use dashu_int::UBig;

/// Terms that are added one by one: below this, halves cost more than they save.
const FEW: u64 = 16;

/// `P[B = first−1]` and `P[B ≥ first]`, both times `(α+γ)^N`.
pub(crate) struct Tail {
    pub atom_below: UBig,
    pub mass: UBig,
}

/// The number of hits among `trials`, a hit as probable as `hits` to `misses`, both positive.
pub(crate) struct Binomial<'a> {
    pub trials: u64,
    pub hits: &'a UBig,
    pub misses: &'a UBig,
}

impl Binomial<'_> {
    /// The denominator of every probability.
    fn total(&self) -> Result<UBig, Error> {
        Ok((self.hits + self.misses).pow(exponent(self.trials)?))
    }

    /// See [`Tail`]; summed on the side of `first` that has fewer terms.
    pub fn tail(&self, first: u64, interrupt: &dyn Interrupt) -> Result<Tail, Error> {
        let Some(below) = first.checked_sub(1) else {
            return Ok(Tail { atom_below: UBig::ZERO, mass: self.total()? });
        };
        let Some(above) = self.trials.checked_sub(below) else {
            return Ok(Tail { atom_below: UBig::ZERO, mass: UBig::ZERO });
        };
        let factorial = product(0, above.min(below), interrupt)?;
        let ways = product(above.max(below), self.trials, interrupt)? / &factorial;
        interrupt.check()?;
        let atom = ways * self.hits.pow(exponent(below)?) * self.misses.pow(exponent(above)?);
        interrupt.check()?;
        let mass = if above <= below {
            self.beyond(below, &factorial, interrupt)?
        } else {
            let mirrored = Binomial { trials: self.trials, hits: self.misses, misses: self.hits };
            self.total()? - &atom - mirrored.beyond(above, &factorial, interrupt)?
        };
        Ok(Tail { atom_below: atom, mass })
    }

    /// `Σ_{k > from}` of the terms, given `(N−from)!`.
    ///
    /// With `l = N − from` the series is `Σ_k Π_{from ≤ i < k} (N−i)α · Π_{k ≤ i < N} (i+1)γ = l! Σ_k C(N,k) α^{k−from} γ^{N−k}`.
    fn beyond(&self, from: u64, factorial: &UBig, interrupt: &dyn Interrupt) -> Result<UBig, Error> {
        let sum = if self.trials - from <= FEW {
            self.series(from, self.trials, interrupt)?.sum
        } else {
            let middle = from + (self.trials - from) / 2;
            let (left, right) = self.halves(from, middle, self.trials, interrupt)?;
            left.sum * right.below + left.above * right.sum
        };
        interrupt.check()?;
        let sum = sum / factorial;
        interrupt.check()?;
        Ok(sum * self.hits.pow(exponent(from)?))
    }

    /// The terms after `start` up to `end`, as multiples of the one at `start`.
    fn series(&self, start: u64, end: u64, interrupt: &dyn Interrupt) -> Result<Series, Error> {
        if end - start <= FEW {
            let one = Series { above: UBig::ONE, below: UBig::ONE, sum: UBig::ZERO };
            return Ok((start..end).fold(one, |series, k| {
                let (x, y) = (self.hits * (self.trials - k), self.misses * (k + 1));
                let above = series.above * x;
                Series { sum: series.sum * &y + &above, below: series.below * y, above }
            }));
        }
        let (left, right) = self.halves(start, start + (end - start) / 2, end, interrupt)?;
        Ok(Series {
            sum: left.sum * &right.below + &left.above * right.sum,
            below: left.below * right.below,
            above: left.above * right.above,
        })
    }

    fn halves(
        &self,
        start: u64,
        middle: u64,
        end: u64,
        interrupt: &dyn Interrupt,
    ) -> Result<(Series, Series), Error> {
        interrupt.check()?;
        Ok((self.series(start, middle, interrupt)?, self.series(middle, end, interrupt)?))
    }
}

/// `Π x_i`, `Π y_i` and `Π y_i · Σ_j Π_{i≤j} x_i/y_i`.
struct Series {
    above: UBig,
    below: UBig,
    sum: UBig,
}

/// `C(n, k)` for `k ≤ n`.
pub(crate) fn choose(n: u64, k: u64, interrupt: &dyn Interrupt) -> Result<UBig, Error> {
    let short = k.min(n - k);
    Ok(product(n - short, n, interrupt)? / product(0, short, interrupt)?)
}

/// `(low+1)(low+2)…high`, by halves of equal size.
fn product(low: u64, high: u64, interrupt: &dyn Interrupt) -> Result<UBig, Error> {
    if high - low <= FEW {
        return Ok((low + 1..=high).fold(UBig::ONE, |product, factor| product * factor));
    }
    interrupt.check()?;
    let middle = low + (high - low) / 2;
    Ok(product(low, middle, interrupt)? * product(middle, high, interrupt)?)
}

fn exponent(n: u64) -> Result<usize, Error> {
    usize::try_from(n).map_err(|_| Error::precision("an exponent that does not fit this machine"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Uninterrupted;
    use proptest::prelude::*;

    fn pascal(n: usize) -> Vec<UBig> {
        let mut row = vec![UBig::ONE];
        for _ in 0..n {
            let inner = row.windows(2).map(|pair| &pair[0] + &pair[1]).collect::<Vec<_>>();
            row = [vec![UBig::ONE], inner, vec![UBig::ONE]].concat();
        }
        row
    }

    proptest! {
        #[test]
        fn a_tail_is_the_sum_of_its_terms(trials in 0u64..150, first in 0u64..153, hits in 1u64..1000, misses in 1u64..1000) {
            let (hits, misses) = (UBig::from(hits), UBig::from(misses));
            let row = pascal(trials as usize);
            let term = |k: u64| {
                let powers = hits.pow(k as usize) * misses.pow((trials - k) as usize);
                powers * &row[k as usize]
            };
            let tail = Binomial { trials, hits: &hits, misses: &misses }.tail(first, &Uninterrupted).unwrap();
            let mass = (first..=trials).fold(UBig::ZERO, |sum, k| sum + term(k));
            prop_assert_eq!(tail.mass, mass);
            let below = first.checked_sub(1).filter(|&k| k <= trials).map_or(UBig::ZERO, term);
            prop_assert_eq!(tail.atom_below, below);
        }
    }
}
