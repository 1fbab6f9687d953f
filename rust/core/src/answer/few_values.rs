//! Sums of many numbers that have few values, far apart: how many have each value is counted out.
//!
//! Of `n` independent numbers the number `K` of those with one of the values is binomial, and given `K` the others are `n − K`
//! independent numbers with the values that are left. Counting out all values but two, and these as a binomial law, writes
//! `P[S = a]` as a sum of positive products. The work is the number of combinations that matter, however far the values are
//! apart; a convolution works along the whole lattice.

use super::pmf::{self, Pmf};
use super::{Law, Recipe, sampling};
use crate::budget::{MAX_ANSWERS, MAX_COMBINATIONS_COUNTED};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::approximate;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;

/// A combination costs about as much as this many waves at one place of a lattice.
const WAVES_PER_COMBINATION: f64 = 2.0;
/// Waves that a place costs at least, with all that comes besides.
const MIN_WAVES: f64 = 64.0;
/// Points of a contour that are tried for how many matter.
const TRIED: u32 = 512;
/// A transform below `e^{-73}`, about `2^{-106}`, is no wave.
const NEGLIGIBLE: f64 = 73.0;
/// Combinations between two polls of the interrupt.
const COMBINATIONS_PER_CHECK: usize = 1 << 16;

/// The law of one number, and how many of them are added up.
#[derive(Debug)]
pub(super) struct FewValues {
    /// In order; the first two are counted out last, as one binomial law.
    values: Vec<i64>,
    /// The probability of each value, given that it is this one or one before it.
    shares: Vec<Rational>,
    count: u64,
}

impl FewValues {
    /// The numbers of a sum, kind by kind, if it is worth while to count each kind out and to add up all combinations.
    ///
    /// Where none has more than two values, other ways are as good.
    pub fn of(parts: &[(&Law, u64)], left_out: Option<u32>) -> Option<Vec<Self>> {
        let kinds = parts.iter().map(|(law, count)| Self::read(law, *count)).collect::<Option<Vec<_>>>()?;
        let places = places(&kinds, left_out);
        let worth =
            MAX_COMBINATIONS_COUNTED.min(places * waves(&kinds).max(MIN_WAVES) / WAVES_PER_COMBINATION);
        let (mut together, mut products) = (1.0, 0.0);
        for kind in &kinds {
            together *= kind.combinations(left_out);
            products += together;
            together = together.min(places);
        }
        (products <= worth && kinds.iter().any(|kind| kind.values.len() > 2)).then_some(kinds)
    }

    /// The values of this number of equal variables: each has a table, or is a multiple of a number of hits.
    pub fn read(law: &Law, count: u64) -> Option<Self> {
        match law.recipe() {
            Recipe::Table { first, masses } => Self::of_table(*first, masses, count),
            Recipe::Binomial { trials, p } => Self::of_hits(1, p, trials.checked_mul(count)?),
            Recipe::Scaled(law, by) => match law.recipe() {
                Recipe::Binomial { trials, p } => Self::of_hits(*by, p, trials.checked_mul(count)?),
                _ => None,
            },
            _ => None,
        }
    }

    fn of_table(first: i64, masses: &[Rational], count: u64) -> Option<Self> {
        let mut reached = Rational::from(0i64);
        let (mut values, mut shares) = (Vec::new(), Vec::new());
        for (value, mass) in (first..).zip(masses).filter(|(_, mass)| !mass.is_zero()) {
            reached = reached.add(mass);
            values.push(value);
            shares.push(mass.div(&reached)?);
        }
        Some(Self { values, shares, count })
    }

    /// Numbers that are `value` with probability `p`, and else zero; the lesser value first.
    fn of_hits(value: i64, p: &Rational, trials: u64) -> Option<Self> {
        let one = Rational::from(1i64);
        let (values, share) =
            if value > 0 { (vec![0, value], p.clone()) } else { (vec![value, 0], one.sub(p)) };
        (trials <= 1 << 53).then(|| Self { values, shares: vec![one, share], count: trials })
    }

    /// About how many combinations matter: at most all ways to share them out, `C(n + m, m)` with `m` values but one.
    fn combinations(&self, left_out: Option<u32>) -> f64 {
        let mut left = self.count as f64;
        let mut combinations = 1.0;
        let all = (1..self.values.len()).map(|k| (left + k as f64) / k as f64).product();
        for share in self.shares.iter().skip(1).rev() {
            let p = about(share);
            combinations *= reach(left * p * (1.0 - p), left_out).min(left) + 1.0;
            left *= 1.0 - p;
        }
        combinations.min(all)
    }

    /// Bits of what may be left out of each binomial law. Of `v` values `v − 1` are counted out, one after the other, and `v < 2 · 2^⌊log₂ v⌋`:
    /// so less than `2^-left_out` is missing of the sum.
    pub fn bits_of_each(&self, left_out: u32) -> u32 {
        left_out + 1 + self.values.len().ilog2()
    }

    /// The law of their sum.
    ///
    /// # Errors
    /// Too many answers; interruption.
    pub fn sum(&self, left_out: Option<u32>, interrupt: &dyn Interrupt) -> Result<Pmf, Error> {
        if let [certain] = self.values.as_slice() {
            return Ok(Pmf::point(certain * self.count as i64));
        }
        let bits = left_out.map(|bits| self.bits_of_each(bits));
        let mut counting = Counting { sum: Pmf::empty(), bits, since: 0, interrupt };
        counting.count_out(&self.values, &self.shares, self.count, (Ball::ONE, 0))?;
        Ok(counting.sum)
    }

    /// The values with their probabilities, for estimates of work.
    fn masses(&self) -> Vec<(f64, f64)> {
        let mut left = 1.0;
        let last_first = self.values.iter().zip(&self.shares).rev();
        let mass = |(&value, share): (&i64, &Rational)| {
            let mass = left * about(share);
            left -= mass;
            (value as f64, mass)
        };
        last_first.map(mass).collect()
    }
}

struct Counting<'a> {
    sum: Pmf,
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
        number: &Pmf,
        (other, value): (i64, i64),
        count: u64,
        (weight, at): (Ball, i64),
    ) -> Result<(), Error> {
        let answer = |hits: i64| at + hits * value + (count as i64 - hits) * other;
        let ends = (answer(number.first), answer(number.last()));
        pmf::cover(&mut self.sum.first, &mut self.sum.masses, Ball::ZERO, ends)?;
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

/// The variance of a sum, about.
fn variance(kinds: &[FewValues]) -> f64 {
    let of_one = |kind: &FewValues| {
        let masses = kind.masses();
        let mean: f64 = masses.iter().map(|(value, mass)| value * mass).sum();
        masses.iter().map(|(value, mass)| (value - mean) * (value - mean) * mass).sum::<f64>()
    };
    kinds.iter().map(|kind| kind.count as f64 * of_one(kind)).sum()
}

/// About how many places of the lattice matter to a sum.
fn places(kinds: &[FewValues], left_out: Option<u32>) -> f64 {
    let span = |kind: &FewValues| {
        let ends = kind.values.iter().fold((i64::MAX, i64::MIN), |ends, &v| (ends.0.min(v), ends.1.max(v)));
        ends.1.abs_diff(ends.0) as f64 + 1.0
    };
    let widest = kinds.iter().map(span).fold(0.0, f64::max);
    let whole = kinds.iter().map(|kind| span(kind) * kind.count as f64).sum();
    (reach(variance(kinds), left_out) + widest).min(whole)
}

/// About how many waves an inversion would add up: points of a contour of the whole sum at which its transform matters, the share
/// of them taken from angles that are spread by the golden ratio.
fn waves(kinds: &[FewValues]) -> f64 {
    let masses: Vec<_> = kinds.iter().map(|kind| (kind.count as f64, kind.masses())).collect();
    let decay = |angle: f64| -> f64 {
        let of_kind = |(count, masses): &(f64, Vec<(f64, f64)>)| {
            let add = |sum: (f64, f64), &(value, mass): &(f64, f64)| {
                let (sine, cosine) = approximate::sin_cos(value * angle);
                (sum.0 + mass * cosine, sum.1 + mass * sine)
            };
            let (re, im) = masses.iter().fold((0.0, 0.0), add);
            -0.5 * std::f64::consts::LN_2 * count * approximate::log2(re * re + im * im)
        };
        masses.iter().map(of_kind).sum()
    };
    let angle = |k: u32| std::f64::consts::PI * (f64::from(k) * 0.618_033_988_749_894_9).fract();
    let relevant = (0..TRIED).filter(|&k| decay(angle(k)) < NEGLIGIBLE).count() as f64;
    relevant / f64::from(TRIED) * 8.5 * approximate::power(variance(kinds), 0.5)
}

/// About how many integers lie within the reach of a nearly normal law, outside which `2^-bits` is left.
fn reach(variance: f64, left_out: Option<u32>) -> f64 {
    left_out.map_or(MAX_ANSWERS as f64, |bits| {
        2.0 * approximate::power(2.0 * 0.7 * (f64::from(bits) + 10.0) * variance, 0.5) + 20.0
    })
}

/// For estimates of work alone.
pub(super) fn about(x: &Rational) -> f64 {
    Ball::from_rational(x).to_enclosure().upper()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Questions;

    /// Of 600 numbers with three values there are 180,901 combinations.
    #[test]
    fn counting_asks_whether_to_go_on_as_often_as_it_is_long() {
        let third = Rational::parse("1/3").unwrap();
        let kind = FewValues::of_table(0, &[third.clone(), third.clone(), third], 600).unwrap();
        let questions = Questions::default();
        kind.sum(None, &questions).unwrap();
        assert_eq!(questions.number(), 2);
    }

    /// The transform of a fair coin is `e^{iθ/2} cos(θ/2)`: of more coins fewer angles matter, of few all.
    #[test]
    fn waves_of_coins_are_those_of_powers_of_a_cosine() {
        for (coins, least, most) in [(4u64, 1.0, 1.0), (200, 0.3, 0.7), (100_000, 0.01, 0.05)] {
            let kinds = [FewValues::of_hits(1, &Rational::parse("1/2").unwrap(), coins).unwrap()];
            let sigma = (coins as f64 / 4.0).sqrt();
            let angles =
                (0..TRIED).map(|k| std::f64::consts::PI * (f64::from(k) * 0.618_033_988_749_894_9).fract());
            let matter = angles.filter(|angle| -(coins as f64) * (angle / 2.0).cos().ln() < NEGLIGIBLE);
            let share = matter.count() as f64 / f64::from(TRIED);
            assert!((least..=most).contains(&share), "{coins}: {share}");
            assert!((waves(&kinds) / (8.5 * sigma * share) - 1.0).abs() < 1e-9, "{coins}");
        }
    }
}
