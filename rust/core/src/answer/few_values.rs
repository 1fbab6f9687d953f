//! Sums of many numbers that have few values, far apart: how many have each value is counted out.
//!
//! Of `n` independent numbers the number `K` of those with one of the values is binomial, and given `K` the others are `n − K`
//! independent numbers with the values that are left. Counting out all values but two, and these as a binomial law, writes
//! `P[S = a]` as a sum of positive products. The work is the number of combinations that matter, however far the values are
//! apart; a convolution works along the whole lattice.

use super::row::{self, Row};
use super::{LONGEST, Law, Recipe, sampling};
use crate::approximate;
use crate::ball::Ball;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::rational::Rational;

/// More combinations are not counted out: some seconds of work.
const MOST_COMBINATIONS: f64 = (1u64 << 28) as f64;
/// A combination costs about as much as one place of a lattice at this many points of its contour.
const COMBINATIONS_PER_PLACE: f64 = 32.0;
/// Combinations between two questions whether to go on.
const COMBINATIONS_PER_CHECK: usize = 1 << 16;

/// The law of one number.
#[derive(Debug)]
pub(super) struct FewValues {
    /// The first two are counted out last, as one binomial law.
    values: Vec<i64>,
    /// The probability of each value, given that it is this one or one before it.
    shares: Vec<Rational>,
}

impl FewValues {
    /// The values of a table, if it is worth while to count out a sum of so many numbers.
    pub fn of(law: &Law, count: u64, left_out: Option<u32>) -> Option<Self> {
        let found = Self::read(law)?;
        let places = places(law, count, left_out);
        let worth = MOST_COMBINATIONS.min(COMBINATIONS_PER_PLACE * places);
        (found.combinations(count, left_out) <= worth).then_some(found)
    }

    /// The values of a table of more than two.
    pub fn read(law: &Law) -> Option<Self> {
        let Recipe::Table { first, masses } = law.recipe() else { return None };
        let mut reached = Rational::from(0i64);
        let (mut values, mut shares) = (Vec::new(), Vec::new());
        for (value, mass) in (*first..).zip(masses).filter(|(_, mass)| !mass.is_zero()) {
            reached = reached.add(mass);
            values.push(value);
            shares.push(mass.div(&reached)?);
        }
        (values.len() > 2).then_some(Self { values, shares })
    }

    /// About how many combinations matter.
    fn combinations(&self, count: u64, left_out: Option<u32>) -> f64 {
        let mut left = count as f64;
        let mut combinations = 1.0;
        for share in self.shares.iter().skip(1).rev() {
            let p = about(share);
            combinations *= reach(left * p * (1.0 - p), left_out).min(left) + 1.0;
            left *= 1.0 - p;
        }
        combinations
    }

    /// Bits of what may be left out of each binomial law. Of `v` values `v − 1` are counted out, one after the other, and `v < 2 · 2^⌊log₂ v⌋`:
    /// so less than `2^-left_out` is missing of the sum.
    pub fn bits_of_each(&self, left_out: u32) -> u32 {
        left_out + 1 + self.values.len().ilog2()
    }

    /// The law of the sum of so many of them.
    ///
    /// # Errors
    /// Too many answers; interruption.
    pub fn sum(&self, count: u64, left_out: Option<u32>, interrupt: &dyn Interrupt) -> Result<Row, Error> {
        let bits = left_out.map(|bits| self.bits_of_each(bits));
        let mut counting = Counting { sum: Row::empty(), bits, since: 0, interrupt };
        counting.count_out(&self.values, &self.shares, count, (Ball::ONE, 0))?;
        Ok(counting.sum)
    }
}

struct Counting<'a> {
    sum: Row,
    bits: Option<u32>,
    since: usize,
    interrupt: &'a dyn Interrupt,
}

impl Counting<'_> {
    /// Adds the law of `at` and `count` numbers with these values, times a weight.
    fn count_out(
        &mut self,
        values: &[i64],
        shares: &[Rational],
        count: u64,
        (weight, at): (Ball, i64),
    ) -> Result<(), Error> {
        let ([others @ .., value], [rest @ .., share]) = (values, shares) else { return Ok(()) };
        let number = sampling::binomial(count, share, self.bits)?;
        self.sum.missing = self.sum.missing + number.missing * weight;
        if let [other] = others {
            return self.place(&number, (*other, *value), count, (weight, at));
        }
        for (hits, &mass) in (number.first..).zip(&number.masses) {
            let left = count - hits.unsigned_abs();
            self.count_out(others, rest, left, (weight * mass, at + hits * value))?;
        }
        Ok(())
    }

    /// Of the last two values one has a binomial number of hits.
    fn place(
        &mut self,
        number: &Row,
        (other, value): (i64, i64),
        count: u64,
        (weight, at): (Ball, i64),
    ) -> Result<(), Error> {
        let answer = |hits: i64| at + hits * value + (count as i64 - hits) * other;
        let ends = (answer(number.first), answer(number.last()));
        row::cover(&mut self.sum.first, &mut self.sum.masses, Ball::ZERO, ends)?;
        let start = ends.0.abs_diff(self.sum.first) as usize;
        let step = value.abs_diff(other) as usize;
        let places = self.sum.masses.iter_mut().skip(start).step_by(step);
        for (sum, &mass) in places.zip(&number.masses) {
            *sum = *sum + mass * weight;
        }
        self.since += number.masses.len();
        if self.since > COMBINATIONS_PER_CHECK {
            self.interrupt.check()?;
            self.since = 0;
        }
        Ok(())
    }
}

/// About how many places of the lattice matter.
fn places(law: &Law, count: u64, left_out: Option<u32>) -> f64 {
    let Recipe::Table { first, masses } = law.recipe() else { return 0.0 };
    let weighed = || (*first..).zip(masses).map(|(value, mass)| (value as f64, about(mass)));
    let mean: f64 = weighed().map(|(value, mass)| value * mass).sum();
    let variance: f64 = weighed().map(|(value, mass)| (value - mean) * (value - mean) * mass).sum();
    let span = masses.len() as f64;
    (reach(count as f64 * variance, left_out) + span).min(span * count as f64)
}

/// About how many integers lie within the reach of a nearly normal law, outside which `2^-bits` is left.
fn reach(variance: f64, left_out: Option<u32>) -> f64 {
    left_out.map_or(LONGEST as f64, |bits| {
        2.0 * approximate::power(2.0 * 0.7 * (f64::from(bits) + 10.0) * variance, 0.5) + 20.0
    })
}

/// For estimates of work alone.
pub(super) fn about(x: &Rational) -> f64 {
    Ball::from_rational(x).to_enclosure().upper()
}
