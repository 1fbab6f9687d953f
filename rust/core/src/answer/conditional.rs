//! Log-concave laws of a sample given its population, weighted and summed in double-doubles.
//!
//! `Σ_A w(A) P[a | A]` has millions of terms, all of them positive, so their relative errors are not amplified but counted, once for
//! all of them. Each law starts at its mode, from a ball, and goes on by ratios `P[k+1]/P[k]` of integers.
//!
//! **Error.** With `u = 2^-53`, [`UNIT`] `= 16u²`: a ratio errs by at most `25u²` (below), its product with a term by `7u²`, so the
//! term `k` steps away from the mode by `3k` [`UNIT`], higher orders included; its product with the factor `w(A)P[mode | A]` by `7u²`
//! and what the factor errs by; and each of the additions by `4u²` of a sum that only grows.
//!
//! **Range.** Factors are above `2^-562` and enter `2^500`-fold; terms are above `2^-560`, see [`Chain`]. So all products lie
//! between `2^-622` and `2^554`: those of high parts are exact, and what the products of low parts lose to underflow, `2^-1074`,
//! is below `2^-450` relatively.

use super::pmf::{Pmf, check_length, cover};
use super::sampling::binomial_mode;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::laws::{Hypergeometric, Probability, binomial_probability};
use crate::numbers::ball::Ball;
use crate::numbers::double_double::{ADDITION, DoubleDouble, MULTIPLICATION, UNIT};
use crate::numbers::rational::Rational;
use statpriv_simd::{Arithmetic, Backend, Kernel};

/// What a term may err by more than the one before it.
const STEP: f64 = 3.0 * UNIT;
/// Logarithm of what factors are multiplied by.
const SCALE: u64 = 500;
/// Less than `2^-506` is not left out.
pub(super) const MAX_BITS: u32 = 506;
/// Less certain factors are left to balls: to these, errors are relative to the computed value as well as to the truth.
const MAX_UNCERTAIN: f64 = 1.0 / ((1u64 << 60) as f64);
/// Terms between two polls of the interrupt.
const TERMS_PER_CHECK: u64 = 1 << 14;

/// `P[k+1]/P[k]`, which falls.
#[derive(Clone, Copy, Debug)]
enum Ratios {
    /// `(trials − k)/(k + 1) · odds`, the odds with an error of at most `20u²`.
    Binomial { trials: f64, odds: DoubleDouble },
    /// `(marked − k)(draws − k)/((k + 1)(others + k + 1))`, where `others = population − marked − draws`.
    Hypergeometric { marked: f64, draws: f64, others: f64 },
}

impl Ratios {
    /// Integers are below `2^53`, so that products of two of them are exact. Errors: `(20 + 2 + 3)u²` or `15u²`, and higher orders.
    #[inline(always)]
    fn at<A: Arithmetic>(self, k: f64) -> DoubleDouble {
        match self {
            Self::Binomial { trials, odds } => odds.mul_f64_with::<A>(trials - k).div_f64(k + 1.0),
            Self::Hypergeometric { marked, draws, others } => {
                let product = |a: f64, b: f64| {
                    let (hi, lo) = A::two_product(a, b);
                    DoubleDouble { hi, lo }
                };
                product(marked - k, draws - k).div_with::<A>(product(k + 1.0, others + (k + 1.0)))
            }
        }
    }
}

/// A law on `least..=greatest`, from its mode on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conditional {
    least: u64,
    mode: u64,
    greatest: u64,
    at_mode: Ball,
    /// Of the law, and of `total` minus it.
    ratios: [Ratios; 2],
    total: u64,
}

impl Conditional {
    /// `Bin(trials, p)`, unless odds are beyond what doubles hold.
    pub fn binomial(trials: u64, p: &Rational) -> Result<Option<Self>, Error> {
        let certain = if trials == 0 || p.is_zero() { Some(0) } else { None };
        if let Some(value) = certain.or_else(|| (*p == Rational::from(1i64)).then_some(trials)) {
            return Ok(Some(Self::point(value)));
        }
        let at = Probability::new(p)?;
        let ratios = |odds: Ball| {
            let odds = odds.to_double_double().filter(|odds| odds.hi > f64::EPSILON * f64::EPSILON)?;
            (odds.hi < 1e30).then_some(Ratios::Binomial { trials: trials as f64, odds })
        };
        let (Some(up), Some(down)) = (ratios(at.odds), ratios(at.complement().odds)) else {
            return Ok(None);
        };
        let mode = binomial_mode(trials, &at);
        let at_mode = binomial_probability(mode, trials, &at);
        Ok(Some(Self { least: 0, mode, greatest: trials, at_mode, ratios: [up, down], total: trials }))
    }

    /// The number of marked ones among `draws` from `population`.
    pub fn hypergeometric(population: u64, marked: u64, draws: u64) -> Result<Self, Error> {
        let law = Hypergeometric::new(population, marked, draws)?;
        let ratios = |marked: u64| {
            let (all, marked, draws) = (population as f64, marked as f64, draws as f64);
            Ratios::Hypergeometric { marked, draws, others: all - marked - draws }
        };
        let mode = law.mode();
        Ok(Self {
            least: law.least(),
            mode,
            greatest: law.greatest(),
            at_mode: law.probability(mode),
            ratios: [ratios(marked), ratios(population - marked)],
            total: draws,
        })
    }

    fn point(value: u64) -> Self {
        let none = Ratios::Binomial { trials: 0.0, odds: DoubleDouble::ONE };
        let (least, mode, greatest) = (value, value, value);
        Self { least, mode, greatest, at_mode: Ball::ONE, ratios: [none, none], total: value }
    }
}

/// Terms outwards from the mode, in units of that there, until what follows the last of them is about `cut`.
///
/// With `t` the last term and `r` the next ratio, what follows is at most `t r/(1 − r)`. As long as that is more than `cut ≥ 2^-506`, the
/// next term `t r` is above `cut (1 − r)`, and `1 − r`, if it is positive, is at least `2^-53` in doubles.
struct Chain<'a> {
    ratios: Ratios,
    k: f64,
    last: DoubleDouble,
    cut: f64,
    terms: &'a mut Vec<DoubleDouble>,
}

/// The next terms of a chain, and whether it was cut.
struct Links<'a, 'b>(&'a mut Chain<'b>, u64);

impl Kernel for Links<'_, '_> {
    type Output = bool;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> bool {
        let Self(chain, count) = self;
        for _ in 0..count {
            let ratio = chain.ratios.at::<A>(chain.k);
            if chain.last.hi * ratio.hi <= chain.cut * (1.0 - ratio.hi) {
                return true;
            }
            chain.last = chain.last.mul_with::<A>(ratio);
            chain.terms.push(chain.last);
            chain.k += 1.0;
        }
        false
    }
}

impl Chain<'_> {
    /// Computes the terms. Returns a bound of the mass that is left out, in units of the mode.
    fn run(mut self, steps: u64, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let (mut left, backend) = (steps, Backend::best());
        while left > 0 {
            interrupt.check()?;
            let count = left.min(TERMS_PER_CHECK);
            if backend.run(Links(&mut self, count)) {
                let error = STEP * (self.terms.len() + 1) as f64;
                let ratio = Ball::from_double_double(backend.run(At(self.ratios, self.k)), STEP);
                let last = Ball::from_double_double(self.last, error);
                return Ok(last * ratio / (Ball::ONE - ratio));
            }
            check_length(0, self.terms.len() as i64)?;
            left -= count;
        }
        Ok(Ball::ZERO)
    }
}

/// A single ratio.
struct At(Ratios, f64);

impl Kernel for At {
    type Output = DoubleDouble;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> DoubleDouble {
        self.0.at::<A>(self.1)
    }
}

/// `s_i + factor · t_i`.
struct Added<'a, I> {
    sums: I,
    terms: &'a [DoubleDouble],
    factor: DoubleDouble,
}

impl<'a, I: Iterator<Item = &'a mut DoubleDouble>> Kernel for Added<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for (sum, term) in self.sums.zip(self.terms) {
            *sum = sum.add_positive(term.mul_with::<A>(self.factor));
        }
    }
}

/// `Σ_A w(A) P[a | A]` for `N` families of weights.
pub(super) struct WeightedSums<const N: usize> {
    scale: Ball,
    first: i64,
    sums: [Vec<DoubleDouble>; N],
    missing: [Ball; N],
    /// Laws that were added, and the most that a factor and a chain erred by.
    additions: u64,
    factor_error: f64,
    longest_chain: usize,
    /// Terms above and below the mode, from there on.
    sides: [Vec<DoubleDouble>; 2],
}

impl<const N: usize> WeightedSums<N> {
    pub fn new() -> Self {
        Self {
            scale: Ball::from_u64(2).powi(SCALE),
            first: 0,
            sums: std::array::from_fn(|_| Vec::new()),
            missing: [Ball::ZERO; N],
            additions: 0,
            factor_error: 0.0,
            longest_chain: 0,
            sides: [Vec::new(), Vec::new()],
        }
    }

    /// Adds the law with these weights, about `2^-bits` of it left out on either side; nothing, if its factors are too uncertain.
    pub fn add(
        &mut self,
        law: &Conditional,
        weights: &[Ball; N],
        bits: u32,
        interrupt: &dyn Interrupt,
    ) -> Result<bool, Error> {
        let Some(factors) = self.factors(law, weights) else { return Ok(false) };
        let left = self.chains(law, bits, interrupt)?;
        let [above, below] = &self.sides;
        let (first, last) = (law.mode - below.len() as u64, law.mode + above.len() as u64);
        let start = self.first;
        for ((sums, missing), (factor, &weight)) in
            self.sums.iter_mut().zip(&mut self.missing).zip(factors.iter().zip(weights))
        {
            self.first = start;
            cover(&mut self.first, sums, DoubleDouble::ZERO, (first as i64, last as i64))?;
            if weight.is_exact_zero() {
                continue;
            }
            *missing = *missing + weight * left;
            let (under, over) = sums.split_at_mut(law.mode.abs_diff(self.first.unsigned_abs()) as usize);
            let (mode, over) = over.split_at_mut(1);
            let backend = Backend::best();
            let factor = *factor;
            backend.run(Added { sums: mode.iter_mut(), terms: &[DoubleDouble::ONE], factor });
            backend.run(Added { sums: over.iter_mut(), terms: above, factor });
            backend.run(Added { sums: under.iter_mut().rev(), terms: below, factor });
        }
        self.additions += 1;
        self.longest_chain = self.longest_chain.max(above.len()).max(below.len());
        Ok(true)
    }

    /// `w(A) P[mode | A]`, many-fold.
    fn factors(&mut self, law: &Conditional, weights: &[Ball; N]) -> Option<[DoubleDouble; N]> {
        let mut factors = [DoubleDouble::ZERO; N];
        let mut most = self.factor_error;
        for (factor, &weight) in factors.iter_mut().zip(weights).filter(|(_, weight)| !weight.is_exact_zero())
        {
            let product = weight * law.at_mode * self.scale;
            most = most.max(product.relative_error());
            *factor = product.to_double_double().filter(|factor| factor.hi > 0.0)?;
        }
        if most > MAX_UNCERTAIN {
            return None;
        }
        self.factor_error = most;
        Some(factors)
    }

    /// The terms of the law, and what is left out of it.
    fn chains(&mut self, law: &Conditional, bits: u32, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let unit = law.at_mode.to_enclosure().upper().min(1.0);
        let cut = (0..bits.min(MAX_BITS)).fold(1.0, |cut: f64, _| cut / 2.0) / unit;
        let mut left = Ball::ZERO;
        let starts = [(law.mode, law.greatest - law.mode), (law.total - law.mode, law.mode - law.least)];
        for ((terms, ratios), (start, steps)) in self.sides.iter_mut().zip(law.ratios).zip(starts) {
            terms.clear();
            let chain = Chain { ratios, k: start as f64, last: DoubleDouble::ONE, cut, terms };
            left = left + chain.run(steps, interrupt)?;
        }
        Ok(left * law.at_mode)
    }

    /// The sums, as rows.
    pub fn rows(self) -> [Pmf; N] {
        let error = self.factor_error
            + MULTIPLICATION
            + STEP * self.longest_chain as f64
            + ADDITION * self.additions as f64;
        let unit = Ball::ONE / self.scale;
        let mut missing = self.missing.into_iter();
        self.sums.map(|sums| {
            // The errors are relative to the terms: at most e^error − 1 ≤ error + error² of the sum together.
            let mass = |sum: DoubleDouble| Ball::from_double_double(sum, error + error * error) * unit;
            let masses = sums.into_iter().map(mass).collect();
            Pmf { first: self.first, masses, missing: missing.next().unwrap_or(Ball::WHOLE) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::tests::fraction;
    use crate::interrupt::Uninterrupted;
    use crate::numbers::ball::tests::members;
    use dashu_int::{IBig, UBig};
    use proptest::prelude::*;

    /// A law that starts exactly, so that all errors are those of its chains and of sums.
    fn started_at_one(law: Conditional) -> Conditional {
        Conditional { at_mode: Ball::ONE, ..law }
    }

    /// `P[k]/P[mode]` as fractions that are not reduced, `k` going from the mode to one end, from `P[k±1]/P[k]`.
    fn side(steps: u64, ratio: impl Fn(u64) -> [u64; 4]) -> Vec<(UBig, UBig)> {
        let mut terms = vec![(UBig::ONE, UBig::ONE)];
        for step in 0..steps {
            let [a, b, c, d] = ratio(step);
            let (top, bottom) = &terms[step as usize];
            terms.push((top * a * b, bottom * c * d));
        }
        terms
    }

    fn summed(law: &Conditional, copies: u64) -> Pmf {
        let mut sums = WeightedSums::new();
        for _ in 0..copies {
            assert!(sums.add(law, &[Ball::ONE], MAX_BITS, &Uninterrupted).unwrap());
        }
        let [row] = sums.rows();
        row
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn errors_of_long_chains_and_of_many_additions_are_counted(
            population in 4000u64..8000, marked in 1000u64..3000, draws in 1000u64..3000, copies in 1u64..5,
        ) {
            let law = started_at_one(Conditional::hypergeometric(population, marked, draws).unwrap());
            let row = summed(&law, copies);
            let up = |k: u64| [marked - k, draws - k, k + 1, population + k + 1 - marked - draws];
            let above = side(row.last() as u64 - law.mode, |step| up(law.mode + step));
            let under = side(law.mode - row.first as u64, |step| {
                let [a, b, c, d] = up(law.mode - step - 1);
                [c, d, a, b]
            });
            let terms: Vec<_> = under.into_iter().skip(1).rev().chain(above).collect();
            prop_assert_eq!(terms.len(), row.masses.len());
            for (&ball, (top, bottom)) in row.masses.iter().zip(&terms).step_by(29) {
                let truth = Rational::new(IBig::from(top * copies), bottom.clone()).unwrap();
                let [least, _, most] = members(ball);
                prop_assert!(least <= truth && truth <= most, "{:?}", ball);
                prop_assert!(ball.relative_error() < 1e-26, "{:?}", ball);
            }
        }
    }

    #[test]
    fn more_terms_than_can_be_written_out_are_not_tried() {
        let law = Conditional::binomial(1 << 53, &fraction(1, 2)).unwrap().unwrap();
        let refused = WeightedSums::new().add(&law, &[Ball::ONE], 400, &Uninterrupted).unwrap_err();
        assert!(refused.to_string().contains("are too many for their probabilities"), "{refused}");
    }

    #[test]
    fn odds_beyond_doubles_are_left_to_balls() {
        let tiny = Rational::parse("1e-40").unwrap();
        assert!(Conditional::binomial(5, &tiny).unwrap().is_none());
        assert!(Conditional::binomial(5, &Rational::from(1i64).sub(&tiny)).unwrap().is_none());
        assert!(Conditional::binomial(5, &Rational::parse("1e-20").unwrap()).unwrap().is_some());
        for (trials, p, value) in [(0, fraction(1, 2), 0), (5, fraction(0, 1), 0), (5, fraction(1, 1), 5)] {
            let law = Conditional::binomial(trials, &p).unwrap().unwrap();
            assert_eq!((law.least, law.mode, law.greatest), (value, value, value));
        }
    }

    #[test]
    fn an_uncertain_weight_is_refused_and_changes_nothing() {
        let law = Conditional::binomial(9, &fraction(1, 3)).unwrap().unwrap();
        let uncertain = Ball::ONE.plus_at_most(Ball::ONE / Ball::from_u64(1 << 40));
        let mut sums = WeightedSums::new();
        assert!(sums.add(&law, &[Ball::ONE, Ball::ZERO], 80, &Uninterrupted).unwrap());
        assert!(!sums.add(&law, &[Ball::ONE, uncertain], 80, &Uninterrupted).unwrap());
        let [row, none] = sums.rows();
        assert!(none.masses.iter().all(|mass| mass.is_exact_zero()) && none.missing.is_exact_zero());
        let total = row.masses.iter().fold(row.missing, |sum, &mass| sum + mass);
        assert!(total.relative_error() < 1e-20 && (total - Ball::ONE).to_enclosure().upper() < 1e-20);
    }
}
