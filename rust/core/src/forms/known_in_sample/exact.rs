//! The supremum as a rational number, by its definition: every number of known ones, every answer.

use super::{Direction, Hidden, KnownInSample};
use crate::budget::MAX_SECONDS;
use crate::error::Error;
use crate::exact::quotient::Quotient;
use crate::exact::{Evaluation, Terms};
use crate::interrupt::Interrupt;
use dashu_int::ops::{BitTest, UnsignedAbs};
use dashu_int::{IBig, UBig};
use std::cmp::Ordering;

/// Seconds for one product of large integers, and for each product of a word of one with a word of the other, measured
/// and rounded up.
const SECONDS_PER_PRODUCT: f64 = 1e-7;
const SECONDS_PER_WORDS: f64 = 1e-9;

impl KnownInSample {
    /// `A` and `B` of `sup_K Δ_{v,w} = A − e^ε B`.
    ///
    /// # Errors
    /// Numbers of entries for which it would take too long; [`Error::Interrupted`].
    pub(crate) fn exact(&self, direction: Direction, at: &Evaluation<'_>) -> Result<Terms, Error> {
        self.check_cost()?;
        let laws = Laws::new(self, direction, at.interrupt)?;
        let (mut before, mut supremum) = (laws.answers(0), Terms::integers(0, 0));
        for known in 0..=self.known {
            at.interrupt.check()?;
            let after = laws.answers(known + 1);
            let mut sums = (IBig::ZERO, IBig::ZERO);
            for (one, zero) in after.iter().zip(&before) {
                let (left, right) = (Quotient::integer(one.clone()), Quotient::integer(zero.clone()));
                if at.ratio.compare(&left, &right, at.interrupt)? == Ordering::Greater {
                    sums = (sums.0 + one, sums.1 + zero);
                }
            }
            let terms = Terms { first: Quotient::integer(sums.0), second: Quotient::integer(sums.1) };
            if at.compare(&terms, &supremum)? == Ordering::Greater {
                supremum = terms;
            }
            before = after;
        }
        Ok(supremum.map(|x| x.over(&laws.denominator, 1)))
    }

    fn check_cost(&self) -> Result<(), Error> {
        let (n, bits) = (self.population as f64, self.p.denominator().bit_len() as f64);
        let (known, size, random) = (self.known as f64, self.size as f64, n - self.known as f64);
        // A weight of an answer has at most 2n bits, the probability of a total n times the bits of p and n more.
        let words = (2.0 * n / 64.0 + 1.0) * (n * (bits + 1.0) / 64.0 + 1.0);
        let products = (known + 2.0) * (size + 1.0) * random + n * (n + size);
        let seconds = products * (SECONDS_PER_PRODUCT + SECONDS_PER_WORDS * words);
        if seconds <= MAX_SECONDS {
            return Ok(());
        }
        Err(Error::precision(format!(
            "an exact value for {} known entries in a sample of {} of {} would take about {seconds:.0e} s, above the limit \
             of {MAX_SECONDS} s; delta() encloses it at any size",
            self.known, self.size, self.population
        )))
    }
}

/// All laws of the answer, over one denominator.
struct Laws {
    /// `ones`, `P[B = b]` for `b = 0, 1, …`, and the weights of the answers for each total.
    ones: usize,
    random: Vec<IBig>,
    draws: Vec<Vec<IBig>>,
    denominator: UBig,
}

impl Laws {
    fn new(given: &KnownInSample, direction: Direction, interrupt: &dyn Interrupt) -> Result<Self, Error> {
        let Hidden { random, ones, .. } = given.hidden(direction);
        let misses = given.p.denominator().clone() - given.p.numerator().clone().unsigned_abs();
        let (hit, miss) = match direction {
            Direction::OneAgainstZero => (given.p.numerator().clone().unsigned_abs(), misses),
            Direction::ZeroAgainstOne => (misses, given.p.numerator().clone().unsigned_abs()),
        };
        let (n, s, m) = (given.population as usize, given.size as usize, random as usize);
        let rows = pascal(n, interrupt)?;
        let choose =
            |n: usize, k: usize| rows.get(n).and_then(|row| row.get(k)).cloned().unwrap_or(UBig::ZERO);
        let random = (0..=m).map(|b| IBig::from(choose(m, b) * hit.pow(b) * miss.pow(m - b))).collect();
        let draws = (0..=n).map(|marked| {
            (0..=s)
                .map(|answer| IBig::from(choose(marked, answer) * choose(n - marked, s - answer)))
                .collect()
        });
        let denominator = given.p.denominator().pow(m) * choose(n, s);
        Ok(Self { ones: ones as usize, random, draws: draws.collect(), denominator })
    }

    /// The law of the answer if `known` are ones besides the hidden ones.
    fn answers(&self, known: u64) -> Vec<IBig> {
        let totals = self.draws.iter().skip(known as usize + self.ones);
        let length = self.draws.first().map_or(0, Vec::len);
        totals.zip(&self.random).fold(vec![IBig::ZERO; length], |mut law, (draws, weight)| {
            for (mass, draw) in law.iter_mut().zip(draws) {
                *mass += draw * weight;
            }
            law
        })
    }
}

/// The binomial coefficients of up to `n`.
fn pascal(n: usize, interrupt: &dyn Interrupt) -> Result<Vec<Vec<UBig>>, Error> {
    let mut rows = vec![vec![UBig::ONE]];
    for _ in 0..n {
        interrupt.check()?;
        let row = rows.last().map_or(&[] as &[UBig], Vec::as_slice);
        let inner = row.windows(2).map(|pair| pair.iter().sum());
        let next = std::iter::once(UBig::ONE).chain(inner).chain([UBig::ONE]).collect();
        rows.push(next);
    }
    Ok(rows)
}
