//! Tail and stop-loss as the sum of their terms, where these are few.
//!
//! In units of the first one the terms are products of ratios. Eight blocks of consecutive terms are summed side by side, each in units of
//! its own first term, and joined afterwards: so no division waits for another.

use super::lanes::{Lanes, WIDTH};
use super::{Scaled, Weight};
use statpriv_simd::{Arithmetic, Kernel};

/// Blocks that are summed side by side, as so many groups of [`WIDTH`].
const GROUPS: usize = 2;
const BLOCKS: usize = GROUPS * WIDTH;
/// The sum is cut where terms are about `e^-40` of the first, `2^-57`.
const NEGLIGIBLE: f64 = 40.0;
/// `2^-53`.
const U: f64 = f64::EPSILON / 2.0;

/// The ratios `t_{i+1}/t_i` of positive terms: they fall.
pub(super) trait Ratios: Copy {
    /// How many `u` a product of the term before with the ratio errs by, relatively.
    const ERROR: f64;
    /// Longer sums are left to others.
    const MOST_TERMS: f64;

    /// At four indices; zero from the last term on.
    fn at(&self, index: Lanes) -> Lanes;

    /// How many terms there are.
    fn all(&self) -> f64;

    /// About how many terms matter: a proposal, checked in the end by what is left.
    fn needed(&self) -> f64;
}

/// `b(first + i + 1)/b(first + i) = (n − first − i)/(first + 1 + i) · p/q` for `Bin(n, p)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binomial {
    /// `n`, an integer up to `2^53`.
    pub trials: f64,
    /// `p/q`, with a relative error of at most `3u`: two rounded numbers, divided.
    pub odds: f64,
    /// An integer, from which on the terms fall.
    pub first: f64,
}

impl Ratios for Binomial {
    /// `u` for the division, `u` for each of two products, and `3u` for the odds.
    const ERROR: f64 = 6.0;
    /// Where the contour does not apply there are no more, see [`Self::needed`].
    const MOST_TERMS: f64 = 208.0;

    #[inline(always)]
    fn at(&self, index: Lanes) -> Lanes {
        let (above, below) = (Lanes::all(self.trials - self.first), Lanes::all(self.first + 1.0));
        (above - index).at_least_zero() / (below + index) * Lanes::all(self.odds)
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
struct Block<T> {
    /// The term after the last.
    next: T,
    /// `Σ t_i`, `Σ i t_i`, `Σ i² t_i`.
    mass: T,
    moment: T,
    second: T,
}

impl<R: Ratios> Kernel for PositiveSum<R> {
    type Output = Option<Scaled>;

    /// Nothing where there are too many terms, or where they do not fall.
    ///
    /// The term with index `i` errs by `i` times [`Ratios::ERROR`]. A sum of positive numbers, over a block and then over the blocks, errs by `u`
    /// for each of its additions and products: the mass for fewer than `length + 2·8`, the others for fewer than `length + 4·8`.
    ///
    /// What is left after `m` terms, as the ratios fall: with `r < 1` the next ratio and `t` the next term, `Σ t_i ≤ t/(1−r)` and
    /// `Σ (i+φ) t_i ≤ t/(1−r) · (m + φ + r/(1−r))`.
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> Option<Scaled> {
        let terms = self.ratios.needed().min(self.ratios.all());
        if terms.is_nan() || terms > R::MOST_TERMS {
            return None;
        }
        let length = (terms / BLOCKS as f64).ceil().max(1.0);
        let sums = Self::join(self.blocks::<A>(length), length);
        let count = length * BLOCKS as f64;
        let ratio = self.ratios.at(Lanes::all(count)).0[0];
        if ratio >= 1.0 {
            return None;
        }
        let left = sums.next / (1.0 - ratio);
        let (value, additions, weighted_index, rest, weight_error) = match self.weight {
            Weight::One => (sums.mass, length + 16.0, sums.moment, left, 0.0),
            Weight::Excess { phi, error } => (
                sums.moment + phi * sums.mass,
                length + 40.0,
                sums.second + phi * sums.moment,
                left * (count + 1.0 + ratio / (1.0 - ratio)),
                error * sums.mass,
            ),
        };
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
    #[inline(always)]
    fn blocks<A: Arithmetic>(&self, length: f64) -> [Block<Lanes>; GROUPS] {
        let zero = Lanes::all(0.0);
        let mut indices: [Lanes; GROUPS] =
            std::array::from_fn(|group| Lanes::from((group * WIDTH) as f64 * length, length));
        let mut blocks = [Block { next: Lanes::all(1.0), mass: zero, moment: zero, second: zero }; GROUPS];
        let mut index = 0.0;
        while index < length {
            let (i, i_squared) = (Lanes::all(index), Lanes::all(index * index));
            for group in 0..GROUPS {
                let block = &mut blocks[group];
                let term = block.next;
                block.mass = block.mass + term;
                block.moment = term.multiply_add::<A>(i, block.moment);
                block.second = term.multiply_add::<A>(i_squared, block.second);
                block.next = term * self.ratios.at(indices[group]);
                indices[group] = indices[group] + Lanes::all(1.0);
            }
            index += 1.0;
        }
        blocks
    }

    /// From the last block to the first: what follows is in units of the term after this block.
    #[inline(always)]
    fn join(blocks: [Block<Lanes>; GROUPS], length: f64) -> Block<f64> {
        let mut joined = Block { next: 1.0, mass: 0.0, moment: 0.0, second: 0.0 };
        for number in (0..BLOCKS).rev() {
            let (block, lane) = (&blocks[number / WIDTH], number % WIDTH);
            let step = block.next.0[lane];
            // Indices in what follows count from the start of this block: i + length.
            let second = joined.second + length * (2.0 * joined.moment + length * joined.mass);
            let moment = joined.moment + length * joined.mass;
            joined = Block {
                next: step * joined.next,
                mass: block.mass.0[lane] + step * joined.mass,
                moment: block.moment.0[lane] + step * moment,
                second: block.second.0[lane] + step * second,
            };
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::super::peer::{law, number, on_every_backend, point, relative_distance, truth};
    use super::*;
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
                    let (trials, odds, first_term) = (n as f64, law.p.hi / law.q.hi, first as f64);
                    let ratios = Binomial { trials, odds, first: first_term };
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
            let additions = if let Weight::One = sum.weight { length + 16.0 } else { length + 40.0 };
            let counted = (6.0 * weighted / total + additions) * U;
            let what = format!("{sum:?}: {:e} is not {counted:e}", value.error);
            assert!(counted <= value.error && value.error <= 1.003 * counted + 1e-17, "{what}");
        });
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
                let ratios = Binomial { trials: n, odds: p / (1.0 - p), first };
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
        let ratios = |trials: f64, first: f64| Binomial { trials, odds: 1.0, first };
        let sum = |trials, first| PositiveSum { ratios: ratios(trials, first), weight: Weight::One };
        let needed = |trials: f64| ratios(trials, trials / 2.0).needed();
        assert!(needed(1700.0) < Binomial::MOST_TERMS && sum(1700.0, 850.0).run::<Portable>().is_some());
        assert!(needed(3000.0) > Binomial::MOST_TERMS && sum(3000.0, 1500.0).run::<Portable>().is_none());
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
            ratios: Binomial { trials: 100.0, odds: 1.0, first: 60.0 },
            weight: Weight::Excess { phi: 0.5, error },
        };
        let stated = |error| sum(error).run::<Portable>().unwrap();
        let mass = PositiveSum { weight: Weight::One, ..sum(0.0) }.run::<Portable>().unwrap().mantissa;
        let more = (stated(1e-9).error - stated(0.0).error) * stated(0.0).mantissa;
        assert!((more / (1e-9 * mass) - 1.0).abs() < 0.01, "{more:e}");
    }
}
