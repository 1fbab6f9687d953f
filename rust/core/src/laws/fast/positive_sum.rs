//! Tail and stop-loss as the sum of their terms, where these are few.
//!
//! In units of the first one the terms are products of ratios. Eight blocks of consecutive terms are summed side by side, each in units of
//! its own first term, and joined afterwards: so no division waits for another.

use super::lanes::{Lanes, WIDTH};
use super::{Law, Scaled, Weight};
use statpriv_simd::{Arithmetic, Kernel};

/// Blocks that are summed side by side, in groups of [`WIDTH`].
const GROUPS: usize = 2;
const BLOCKS: usize = GROUPS * WIDTH;
/// Terms of each block that are held at a time.
const ROWS: usize = 16;
/// The sum is cut where terms are about `e^-40` of the first, `2^-57`.
const NEGLIGIBLE: f64 = 40.0;
/// `2^-53`.
const U: f64 = f64::EPSILON / 2.0;

/// The ratios `t_{i+1}/t_i` of positive terms: they fall.
pub(super) trait Ratios: Copy {
    /// How many `u` a product of the term before with the ratio errs by, relatively, beside what is common to all.
    const ERROR: f64;
    /// Longer sums are left to others.
    const MAX_TERMS: f64;

    /// At four indices; zero from the last term on.
    fn at(&self, index: Lanes) -> Lanes;

    /// What all ratios are too small by, relatively: a few `u`.
    #[inline(always)]
    fn shortfall(&self) -> f64 {
        0.0
    }

    /// How many terms there are.
    fn all(&self) -> f64;

    /// A proposed number of terms. The bound of the rest checks it in the end.
    fn needed(&self) -> f64;
}

/// `b(first + i + 1)/b(first + i) = (n − first − i)/(first + 1 + i) · p/q` for `Bin(n, p)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binomial {
    /// `n`, an integer up to `2^53`.
    pub trials: f64,
    /// `p/q`, rounded, and what that is too small by, relatively: at most `3.1u`, known to `30u²`.
    pub odds: f64,
    pub shortfall: f64,
    /// An integer, from which on the terms fall.
    pub first: f64,
}

impl Binomial {
    /// The product of the rounded odds with the upper part of `q` is exact in two parts. The first part is within `2u` of `p`, so its difference
    /// from the upper part of `p` is exact too; what is left, below `5up`, rounds by less than `20u²p`.
    #[inline(always)]
    pub fn new<A: Arithmetic>(trials: f64, law: Law, first: f64) -> Self {
        let Law { p, q } = law;
        let odds = p.hi / q.hi;
        let (product, rest) = A::two_product(odds, q.hi);
        let left = ((p.hi - product) - rest) + (p.lo - odds * q.lo);
        Self { trials, odds, shortfall: left / p.hi, first }
    }
}

impl Ratios for Binomial {
    /// `u` for the division, and for each of two products.
    const ERROR: f64 = 3.0;
    /// Where the contour does not apply there are no more, see [`Self::needed`].
    const MAX_TERMS: f64 = 208.0;

    #[inline(always)]
    fn at(&self, index: Lanes) -> Lanes {
        let (above, below) = (Lanes::all(self.trials - self.first), Lanes::all(self.first + 1.0));
        (above - index).at_least_zero() / (below + index) * Lanes::all(self.odds)
    }

    #[inline(always)]
    fn shortfall(&self) -> f64 {
        self.shortfall
    }

    #[inline(always)]
    fn all(&self) -> f64 {
        self.trials - self.first + 1.0
    }

    /// From `ln(b(a+i)/b(a)) ≈ −ci − i²/(2σ²) + (1 − 2a/n) i³/(6σ⁴)`.
    ///
    /// `1/curvature = (a+1)(n−a)/n ≤ v + 1` with `v = a(n−a)/n`, so `v ≤ 440`, where the contour does not apply, leaves at most
    /// `√(80·441) + 40/3 + 1 < 203`: 208 in whole blocks.
    #[inline(always)]
    fn needed(&self) -> f64 {
        let above = (self.trials - self.first).max(1.0);
        let curvature = self.trials / ((self.first + 1.0) * above);
        let slope = (1.0 - self.at(Lanes::all(0.0)).0[0]).max(0.0);
        let symmetric = 2.0 * NEGLIGIBLE / (slope + (slope * slope + 2.0 * NEGLIGIBLE * curvature).sqrt());
        let skewness = (1.0 - 2.0 * self.first / self.trials).max(0.0);
        let room = (1.0 - slope * symmetric / NEGLIGIBLE).max(0.0);
        symmetric + NEGLIGIBLE / 3.0 * skewness * room + 1.0
    }
}

/// `Σ_{i≥0} weight · t_i` in units of `t_0`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PositiveSum<R> {
    pub ratios: R,
    pub weight: Weight,
}

/// The sums over one block, or over several, in units of the first term.
#[derive(Clone, Copy)]
struct Block {
    /// The term after the last.
    next: f64,
    /// `Σ t_i`, `Σ i t_i`, `Σ i² t_i`.
    mass: f64,
    moment: f64,
    second: f64,
}

impl Block {
    /// Of `length` terms, and another one after it: its indices count from `length` on, in units of the term after this block.
    #[inline(always)]
    fn followed_by(self, other: Self, length: f64) -> Self {
        let moment = other.moment + length * other.mass;
        let second = other.second + length * (other.moment + moment);
        Self {
            next: self.next * other.next,
            mass: self.mass + self.next * other.mass,
            moment: self.moment + self.next * moment,
            second: self.second + self.next * second,
        }
    }
}

impl<R: Ratios> Kernel for PositiveSum<R> {
    type Output = Option<Scaled>;

    /// Nothing where there are too many terms, or where they do not fall.
    ///
    /// The term with index `i` errs by `i` times [`Ratios::ERROR`], and by `i` times [`Ratios::shortfall`], which is made up for. A sum of positive numbers,
    /// over a block and then over the blocks, errs by `u` for each of its additions and products: the mass for `length` and `2·3`, the others
    /// for `length + 1` and `7·3`; two more where the weight is put together, and one where the shortfall is made up for.
    ///
    /// What is left after `m` terms, as the ratios fall: with `r < 1` the next ratio and `t` the next term, `Σ t_i ≤ t/(1−r)` and
    /// `Σ (i+φ) t_i ≤ t/(1−r) · (m + φ + r/(1−r))`.
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> Option<Scaled> {
        let terms = self.ratios.needed().min(self.ratios.all());
        if terms.is_nan() || terms > R::MAX_TERMS {
            return None;
        }
        let length = (terms / BLOCKS as f64).ceil().max(1.0);
        let sums = self.sums::<A>(length);
        let count = length * BLOCKS as f64;
        let ratio = self.ratios.at(Lanes::all(count)).0[0];
        if ratio >= 1.0 {
            return None;
        }
        let left = sums.next / (1.0 - ratio);
        let (value, additions, weighted_index, rest, weight_error) = match self.weight {
            Weight::One => (sums.mass, length + 8.0, sums.moment, left, 0.0),
            Weight::Excess { phi, error } => (
                sums.moment + phi * sums.mass,
                length + 26.0,
                sums.second + phi * sums.moment,
                left * (count + 1.0 + ratio / (1.0 - ratio)),
                error * sums.mass,
            ),
        };
        let value = value + self.ratios.shortfall() * weighted_index;
        let error = (R::ERROR * weighted_index.abs() + additions * value.abs()) * U + rest + weight_error;
        // A factor pays for the rounding of the bound, and for an error that is relative to the computed value.
        (value > 1e-250 && error < 1e-3 * value).then(|| Scaled {
            mantissa: value,
            exponent: 0,
            error: error / value * (1.0 + 2e-3),
        })
    }
}

impl<R: Ratios> PositiveSum<R> {
    /// The sum over blocks of this length. Neighbours stand in different groups, so they are joined first.
    #[inline(always)]
    fn sums<A: Arithmetic>(&self, length: f64) -> Block {
        let blocks = self.blocks::<A>(length);
        let [even, odd] = blocks;
        let mut pairs = even;
        for lane in 0..WIDTH {
            pairs[lane] = even[lane].followed_by(odd[lane], length);
        }
        let halves = [0, 2].map(|lane| pairs[lane].followed_by(pairs[lane + 1], 2.0 * length));
        halves[0].followed_by(halves[1], 4.0 * length)
    }

    /// Step by step for [`ROWS`] terms of all blocks: a compiler turns a loop that does one thing into vector instructions.
    #[inline(always)]
    fn blocks<A: Arithmetic>(&self, length: f64) -> [[Block; WIDTH]; GROUPS] {
        let all = |x: f64| [Lanes::all(x); GROUPS];
        let starts = [Lanes::from(0.0, 2.0 * length), Lanes::from(length, 2.0 * length)];
        let (mut next, mut mass, mut moment, mut second) = (all(1.0), all(0.0), all(0.0), all(0.0));
        let mut index = 0.0;
        while index < length {
            let mut terms = [all(0.0); ROWS];
            let terms = &mut terms[..(length - index).min(ROWS as f64) as usize];
            let mut i = index;
            for row in &mut *terms {
                for group in 0..GROUPS {
                    row[group] = self.ratios.at(starts[group] + Lanes::all(i));
                }
                i += 1.0;
            }
            for row in &mut *terms {
                for group in 0..GROUPS {
                    let ratio = row[group];
                    row[group] = next[group];
                    next[group] = next[group] * ratio;
                }
            }
            for row in &*terms {
                for group in 0..GROUPS {
                    mass[group] = mass[group] + row[group];
                }
            }
            let mut i = index;
            for row in &*terms {
                for group in 0..GROUPS {
                    moment[group] = row[group].multiply_add::<A>(Lanes::all(i), moment[group]);
                }
                i += 1.0;
            }
            let mut i = index;
            for row in &*terms {
                for group in 0..GROUPS {
                    second[group] = row[group].multiply_add::<A>(Lanes::all(i * i), second[group]);
                }
                i += 1.0;
            }
            index = i;
        }
        let block = |group: usize, lane: usize| Block {
            next: next[group].0[lane],
            mass: mass[group].0[lane],
            moment: moment[group].0[lane],
            second: second[group].0[lane],
        };
        [0, 1].map(|group| [0, 1, 2, 3].map(|lane| block(group, lane)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::peer::{double, law, number, on_every_backend, point, relative_distance, truth};
    use super::*;
    use crate::numbers::ball::Ball;
    use crate::numbers::rational::Rational;
    use statpriv_simd::Portable;

    const CASES: [(u64, &str, &[u64]); 8] = [
        (1, "1/2", &[1]),
        (5, "1/2", &[3, 4, 5]),
        (40, "1/3", &[14, 20, 39, 40]),
        (300, "99/100", &[297, 298, 299, 300]),
        (1000, "1/1000", &[1, 2, 5, 40]),
        (1000, "1/2", &[500, 510, 600, 990]),
        (1_000_000, "1/10000", &[100, 110, 200]),
        (1 << 53, "1e-15", &[10, 11, 30]),
    ];

    /// The sum, the backend's answer and the truth, in units of the first term.
    fn each(check: impl Fn(PositiveSum<Binomial>, Scaled, f64)) {
        for (n, p, starts) in CASES {
            let law = law(&number(p));
            for &first in starts {
                for weight in [
                    Weight::One,
                    Weight::Excess { phi: 0.0, error: 0.0 },
                    Weight::Excess { phi: 0.4, error: 0.0 },
                    Weight::Excess { phi: 1.0, error: 0.0 },
                ] {
                    if first == n && matches!(weight, Weight::Excess { phi: 0.0, .. }) {
                        continue;
                    }
                    let ratios = Binomial::new::<Portable>(n as f64, law, first as f64);
                    let sum = PositiveSum { ratios, weight };
                    let exact =
                        truth(n, &number(p), first, weight).div(&point(n, &number(p), first)).unwrap();
                    for value in on_every_backend(|| sum) {
                        let value = value.unwrap();
                        check(sum, value, relative_distance(value, &exact));
                    }
                }
            }
        }
    }

    #[test]
    fn sums_are_within_the_error_they_state() {
        each(|sum, value, distance| {
            assert!(distance <= value.error, "{sum:?}: off by {distance:e}, stated {:e}", value.error);
            assert!(distance <= 1e-15, "{sum:?}: off by {distance:e}");
        });
    }

    /// What is cut off, `e^-40` of the sum at most, and the rounding that the documentation counts, term by term.
    #[test]
    fn the_error_that_is_stated_is_the_one_that_is_counted() {
        each(|sum, value, _| {
            let (mut term, mut i) = (1.0, 0.0);
            let (mut mass, mut total, mut weighted) = (0.0, 0.0, 0.0);
            while term > 1e-30 * mass {
                let weight = if let Weight::Excess { phi, .. } = sum.weight { i + phi } else { 1.0 };
                mass += term;
                total += weight * term;
                weighted += i * weight * term;
                term *= sum.ratios.at(Lanes::all(i)).0[0];
                i += 1.0;
            }
            let length = (sum.ratios.needed().min(sum.ratios.all()) / 8.0).ceil();
            let additions = if let Weight::One = sum.weight { length + 8.0 } else { length + 26.0 };
            let counted = (3.0 * weighted / total + additions) * U;
            let what = format!("{sum:?}: {:e} is not {counted:e}", value.error);
            assert!(counted <= value.error && value.error <= 1.003 * counted + 1e-17, "{what}");
        });
    }

    /// `p/q` is `odds (1 + shortfall)`, to `2^-100`.
    #[test]
    fn what_rounding_the_odds_leaves_is_known() {
        for p in ["1/3", "1/1000", "0.999999", "1e-80", "1/7"] {
            let p = number(p);
            let odds = p.div(&Rational::from(1i64).sub(&p)).unwrap();
            let ratios = Binomial::new::<Portable>(1.0, law(&p), 1.0);
            let stated = double(ratios.odds).mul(&Rational::from(1i64).add(&double(ratios.shortfall)));
            let off = Ball::from_rational(&stated.div(&odds).unwrap().sub(&Rational::from(1i64)).abs());
            assert!(off.to_enclosure().upper() < 30.0 * U * U, "{p:?}: {off:?}");
            assert!(ratios.shortfall.abs() <= 3.1 * U, "{p:?}");
        }
    }

    #[test]
    fn the_number_of_terms_is_about_what_is_needed() {
        for (n, p) in
            [(1e3, 0.5), (1e4, 0.5), (1e4, 0.01), (1e4, 0.99), (1e15, 1e-14), (1e15, 1e-12), (300.0, 0.2)]
        {
            for x in [0.0, 0.5, 2.0, 8.0, 30.0] {
                let first = (n * p + x * f64::sqrt(n * p * (1.0 - p))).ceil();
                if first >= n {
                    continue;
                }
                let ratios = Binomial { trials: n, odds: p / (1.0 - p), shortfall: 0.0, first };
                let (mut logarithm, mut needed) = (0.0, 0.0);
                while logarithm > -NEGLIGIBLE {
                    logarithm += ratios.at(Lanes::all(needed)).0[0].ln();
                    needed += 1.0;
                }
                let terms = ratios.needed();
                let enough = needed <= terms && terms <= 1.05 * needed + 25.0;
                assert!(enough, "n={n} p={p} {x}σ: {terms} for {needed}");
            }
        }
    }

    #[test]
    fn what_has_too_many_terms_or_does_not_fall_is_refused() {
        let ratios = |trials: f64, first: f64| Binomial { trials, odds: 1.0, shortfall: 0.0, first };
        let sum = |trials, first| PositiveSum { ratios: ratios(trials, first), weight: Weight::One };
        let needed = |trials: f64| ratios(trials, trials / 2.0).needed();
        assert!(needed(1700.0) < Binomial::MAX_TERMS && sum(1700.0, 850.0).run::<Portable>().is_some());
        assert!(needed(3000.0) > Binomial::MAX_TERMS && sum(3000.0, 1500.0).run::<Portable>().is_none());
        assert!(sum(1e6, 1000.0).run::<Portable>().is_none());
        let unknown = Binomial { odds: f64::NAN, ..ratios(100.0, 60.0) };
        let unknown = PositiveSum { ratios: unknown, weight: Weight::One };
        assert!(unknown.run::<Portable>().is_none());
        let vague = PositiveSum { weight: Weight::Excess { phi: 0.5, error: 0.1 }, ..sum(100.0, 60.0) };
        assert!(vague.run::<Portable>().is_none());
    }

    #[test]
    fn an_error_of_the_threshold_counts_for_the_mass() {
        let sum = |error| PositiveSum {
            ratios: Binomial { trials: 100.0, odds: 1.0, shortfall: 0.0, first: 60.0 },
            weight: Weight::Excess { phi: 0.5, error },
        };
        let stated = |error| sum(error).run::<Portable>().unwrap();
        let mass = PositiveSum { weight: Weight::One, ..sum(0.0) }.run::<Portable>().unwrap().mantissa;
        let more = (stated(1e-9).error - stated(0.0).error) * stated(0.0).mantissa;
        assert!((more / (1e-9 * mass) - 1.0).abs() < 0.01, "{more:e}");
    }
}
