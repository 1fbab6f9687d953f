//! Mixtures of hypergeometric probabilities over a binomial number of marked ones.
//!
//! `F = Σ_b β(b) H(K+b)` with `β` the law of `Bin(m, p)` and `H(A) = P[Hyp(N, A, s) = a]` is summed relative to a term in the middle, outwards
//! by exact ratios, in double-doubles; so are
//!
//! ```text
//! Σ_b β(b) H(K+b+1)                           the same mixture with one more
//! Σ_b β(b) G(K+b),  G(A) = Σ_{A'<A} H(A')     up to a factor the probability that more than a of s+1 draws are ones
//! ```
//!
//! All terms are positive. `H` is log-concave in `A`, so from its middle on each of the three sequences falls faster than a geometric one, which
//! bounds what is cut off.

use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::double_double::{DoubleDouble, UNIT};
use statpriv_simd::{Arithmetic, Backend, Kernel};

/// Terms are cut where the rest is below this part of their sum: `2^-90`.
const NEGLIGIBLE: f64 = f64::from_bits((1023 - 90) << 52);
/// Ratios beyond `1 − 2^-30` give no bound of the rest.
const LARGEST_RATIO: f64 = 1.0 - 1.0 / (1u64 << 30) as f64;
/// The rest is computed in doubles, from a ratio that errs by `2^-50`. Enlarged by this factor it is a bound.
const SLACK: f64 = 1.0 + 1.0 / (1u64 << 19) as f64;
/// Sums are not followed beyond `2^900`.
const LARGEST: f64 = f64::from_bits((1023 + 900) << 52);
/// Steps between two polls of the interrupt, less than a millisecond.
const STEPS_PER_CHECK: u64 = 1 << 15;

/// `draws` from a population, `hits` of them marked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Urn {
    pub population: u64,
    pub draws: u64,
    pub hits: u64,
}

impl Urn {
    /// The largest number of marked ones that is possible.
    fn greatest(&self) -> u64 {
        self.population - (self.draws - self.hits)
    }

    /// Numerator and denominator of `H(A+1)/H(A)`, exactly; zero from the largest number on.
    #[inline(always)]
    fn rise<A: Arithmetic>(&self, marked: u64) -> (DoubleDouble, DoubleDouble) {
        let product = |x: u64, y: u64| {
            let (hi, lo) = A::two_product(x as f64, y as f64);
            DoubleDouble { hi, lo }
        };
        let unmarked = self.population - marked;
        let top = product(marked + 1, unmarked.saturating_sub(self.draws - self.hits));
        (top, product(marked + 1 - self.hits, unmarked))
    }
}

/// See the module documentation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mixture {
    trials: u64,
    odds: DoubleDouble,
    /// A bound of the relative error of the odds.
    inexact: f64,
    urn: Urn,
    /// `K`.
    pub base: u64,
}

/// The sums of a mixture, relative to its term at `centre`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sums {
    pub centre: u64,
    /// `Σ β(b) H(K+b)`.
    pub weight: Ball,
    /// `Σ β(b) H(K+b+1)`.
    pub grown: Ball,
    /// `Σ β(b) G(K+b)`; anything where `G` is some `2^900` times `H`.
    pub beyond: Ball,
}

impl Sums {
    /// What one more marked one multiplies the mixture by.
    pub fn growth(&self) -> Ball {
        self.grown / self.weight
    }
}

impl Mixture {
    /// `trials` with these odds, besides `base` that are marked for sure.
    pub fn new(trials: u64, odds: Ball, urn: Urn, base: u64) -> Self {
        let inexact = odds.relative_error();
        Self { trials, odds: odds.to_double_double().unwrap_or(DoubleDouble::ONE), inexact, urn, base }
    }

    /// Fewer are marked than are to be drawn, for sure.
    pub fn is_too_low(&self) -> bool {
        self.base + self.trials < self.urn.hits
    }

    /// Nothing if the mixture is zero.
    pub fn sums(&self, interrupt: &dyn Interrupt) -> Result<Option<Sums>, Error> {
        let first = self.urn.hits.saturating_sub(self.base);
        let Some(last) = self.urn.greatest().checked_sub(self.base).map(|last| last.min(self.trials)) else {
            return Ok(None);
        };
        if first > last {
            return Ok(None);
        }
        let centre = self.centre(first, last);
        let swept = Backend::best().run(Sweep { mixture: self, first, centre, interrupt })?;
        Ok(Some(swept.sums(centre)))
    }

    /// Next to the largest term, by bisection on ratios in doubles.
    fn centre(&self, first: u64, last: u64) -> u64 {
        let (mut low, mut high) = (first, last);
        while low < high {
            let middle = low.midpoint(high);
            let (top, bottom) = self.rise::<statpriv_simd::Portable>(middle);
            if top.hi > bottom.hi {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Numerator and denominator of `β(b+1)/β(b)`: the first errs by `1.6u²`, the second not at all.
    #[inline(always)]
    fn rise_of_trials<A: Arithmetic>(&self, b: u64) -> (DoubleDouble, f64) {
        (self.odds.mul_f64_with::<A>((self.trials - b) as f64), (b + 1) as f64)
    }

    /// Of `β(b) H(K+b)`: they err by `9u²` and `1.6u²`.
    #[inline(always)]
    fn rise<A: Arithmetic>(&self, b: u64) -> (DoubleDouble, DoubleDouble) {
        let (trials, (top, bottom)) = (self.rise_of_trials::<A>(b), self.urn.rise::<A>(self.base + b));
        (trials.0.mul_with::<A>(top), bottom.mul_f64_with::<A>(trials.1))
    }
}

/// A sum of positive terms, and a bound of what was cut off.
#[derive(Clone, Copy)]
struct Sum {
    value: DoubleDouble,
    rest: f64,
}

impl Sum {
    const NOTHING: Self = Self { value: DoubleDouble::ZERO, rest: 0.0 };

    #[inline(always)]
    fn add(&mut self, term: DoubleDouble) {
        self.value = self.value.add(term);
    }

    #[inline(always)]
    fn dwarfs(&self, term: f64) -> bool {
        term <= NEGLIGIBLE * self.value.hi
    }

    /// A bound of what follows `term`, if each is at most `ratio` times the one before and that is negligible.
    #[inline(always)]
    fn after(&self, term: f64, ratio: f64) -> Option<f64> {
        let rest = term * ratio / (1.0 - ratio) * SLACK;
        (ratio <= LARGEST_RATIO && self.dwarfs(rest)).then_some(rest)
    }
}

/// What a sweep found.
struct Swept {
    weight: Sum,
    grown: Sum,
    beyond: Sum,
    /// A bound of the relative error of every sum.
    relative: f64,
}

impl Swept {
    fn sums(self, centre: u64) -> Sums {
        let ball = |sum: Sum| {
            let rest = Ball::from_f64(sum.rest).unwrap_or(Ball::WHOLE);
            Ball::from_double_double(sum.value, self.relative).plus_at_most(rest)
        };
        Sums { centre, weight: ball(self.weight), grown: ball(self.grown), beyond: ball(self.beyond) }
    }
}

/// From the centre down to where terms do not matter, then all the way up.
struct Sweep<'a> {
    mixture: &'a Mixture,
    first: u64,
    centre: u64,
    interrupt: &'a dyn Interrupt,
}

impl Kernel for Sweep<'_> {
    type Output = Result<Swept, Error>;

    /// One step down multiplies by a quotient, which errs by `9 + 1.6 + 15u²`, and by `7u²` for the product; one step up by two quotients,
    /// `1.6 + 3u²` and `15u²`, and two products; in the third sum there is one more addition, `3u²`. So each step errs by less than
    /// `3 · 16u²` and by the error of the odds, and each addition to a sum by `3u²`: `4 · 16u²` a step cover both and terms of higher order.
    /// (What underflows is far below what is negligible.)
    #[inline(always)]
    fn run<A: Arithmetic>(self) -> Result<Swept, Error> {
        let start = self.down::<A>()?;
        let (below, below_steps) = self.below::<A>(start.at)?;
        let (swept, up_steps) = self.up::<A>(&start, below)?;
        let steps = (self.centre - start.at + below_steps + up_steps + 2) as f64;
        Ok(Swept { relative: steps * (4.0 * UNIT + self.mixture.inexact) * SLACK, ..swept })
    }
}

/// The first term that matters, relative to the one at the centre.
struct Start {
    at: u64,
    term: DoubleDouble,
    /// What is cut off below it, of the mixture and of the one with one more.
    rest: f64,
    grown_rest: f64,
}

impl Sweep<'_> {
    /// From the centre down.
    ///
    /// With `v(b) = β(b) H(K+b+1)`, `v(b−1)/v(b) = 1/(ρ_β(b−1) ρ_H(K+b))` falls with `b`, and is at least the ratio of the mixture itself,
    /// as `ρ_H` falls: it bounds both.
    #[inline(always)]
    fn down<A: Arithmetic>(&self) -> Result<Start, Error> {
        let (mut b, mut term) = (self.centre, DoubleDouble::ONE);
        let (mut sum, mut grown_sum) = (Sum::NOTHING, Sum::NOTHING);
        while b > self.first {
            self.check(b)?;
            let (top, bottom) = self.mixture.urn.rise::<A>(self.mixture.base + b);
            let rise = top.hi / bottom.hi;
            let grown = term.hi * rise;
            sum.add(term);
            grown_sum.add(DoubleDouble::from_f64(grown));
            if sum.dwarfs(term.hi) {
                let (trials, steps) = self.mixture.rise_of_trials::<A>(b - 1);
                let fall = steps / (trials.hi * rise);
                if let (Some(rest), Some(grown_rest)) =
                    (sum.after(term.hi, fall), grown_sum.after(grown, fall))
                {
                    return Ok(Start { at: b, term, rest, grown_rest });
                }
            }
            let (top, bottom) = self.mixture.rise::<A>(b - 1);
            term = term.mul_with::<A>(bottom.div_with::<A>(top));
            b -= 1;
        }
        Ok(Start { at: b, term, rest: 0.0, grown_rest: 0.0 })
    }

    /// `G(A)/H(A)` for `A = K + b`, and the number of its terms.
    #[inline(always)]
    fn below<A: Arithmetic>(&self, b: u64) -> Result<(Sum, u64), Error> {
        let (mut marked, mut term, mut sum) = (self.mixture.base + b, DoubleDouble::ONE, Sum::NOTHING);
        let from = marked;
        while marked > self.mixture.urn.hits {
            self.check(marked)?;
            marked -= 1;
            let (top, bottom) = self.mixture.urn.rise::<A>(marked);
            let fall = bottom.div_with::<A>(top);
            term = term.mul_with::<A>(fall);
            sum.add(term);
            let rest = if sum.value.hi > LARGEST { Some(f64::INFINITY) } else { sum.after(term.hi, fall.hi) };
            if let Some(rest) = rest {
                sum.rest = rest;
                break;
            }
        }
        Ok((sum, from - marked))
    }

    /// From the first term that matters up, with `y(b) = β(b) G(K+b)` besides: `y(b+1) = (y(b) + w(b)) ρ_β(b)`.
    ///
    /// `G/H` does not fall with `A`, as `H` is log-concave. So of `Σ y` no larger part lies below the start than of `Σ w`, and an
    /// error of `G` there is relatively no larger later.
    #[inline(always)]
    fn up<A: Arithmetic>(&self, start: &Start, below: Sum) -> Result<(Swept, u64), Error> {
        let mixture = self.mixture;
        let (mut b, mut w) = (start.at, start.term);
        let mut y = w.mul_with::<A>(below.value);
        let mut weight = Sum { rest: start.rest, ..Sum::NOTHING };
        let mut grown = Sum { rest: start.grown_rest, ..Sum::NOTHING };
        let mut beyond = Sum::NOTHING;
        if b == self.first && b > 0 {
            // H(K+b−1) = 0, but not H(K+b).
            let (top, bottom) = mixture.rise_of_trials::<A>(b - 1);
            grown.add(w.mul_with::<A>(DoubleDouble::from_f64(bottom).div_with::<A>(top)));
        }
        loop {
            self.check(b)?;
            let (top, bottom) = mixture.urn.rise::<A>(mixture.base + b);
            let v =
                if top.hi > 0.0 { w.mul_with::<A>(top.div_with::<A>(bottom)) } else { DoubleDouble::ZERO };
            weight.add(w);
            grown.add(v);
            beyond.add(y);
            if b == mixture.trials {
                break;
            }
            let (top, bottom) = mixture.rise_of_trials::<A>(b);
            let rise = top.div_f64(bottom);
            let next = (v.mul_with::<A>(rise), y.add(w).mul_with::<A>(rise));
            if weight.dwarfs(w.hi) && beyond.dwarfs(y.hi) {
                let ratio = if w.hi > 0.0 { next.0.hi / w.hi } else { 0.0 };
                let rests = (
                    weight.after(w.hi, ratio),
                    grown.after(v.hi, ratio),
                    beyond.after(y.hi, next.1.hi / y.hi),
                );
                if let (Some(rest), Some(grown_rest), Some(beyond_rest)) = rests {
                    weight.rest += rest;
                    grown.rest += grown_rest;
                    beyond.rest += beyond_rest;
                    break;
                }
            }
            (w, y) = next;
            b += 1;
        }
        let of_below = if below.rest > 0.0 { below.rest / below.value.hi } else { 0.0 };
        beyond.rest += SLACK * beyond.value.hi * (start.rest / weight.value.hi + of_below);
        Ok((Swept { weight, grown, beyond, relative: 0.0 }, b - start.at))
    }

    #[inline(always)]
    fn check(&self, step: u64) -> Result<(), Error> {
        if step.is_multiple_of(STEPS_PER_CHECK) { self.interrupt.check() } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Uninterrupted;
    use crate::laws::{Hypergeometric, Probability, binomial_probability};
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;

    fn check(found: Ball, truth: Ball) -> Result<(), TestCaseError> {
        let gap = found - truth;
        prop_assert!(!gap.is_positive() && !(-gap).is_positive(), "{:?} instead of {:?}", found, truth);
        prop_assert!(found.is_exact_zero() || found.relative_error() < 1e-22, "{:?}", found);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(30, 100)))]

        #[test]
        fn sums_are_those_of_their_terms(
            population in 1u64..160, draws in 0.0..=1.0f64, hits in 0.0..=1.0f64, base in 0.0..=1.0f64, trials in 0.0..=1.0f64,
            p in prop_oneof![1u64..1000, Just(1), Just(999)],
        ) {
            let part = |x: u64, share: f64| ((x as f64 + 0.99) * share) as u64;
            let draws = part(population, draws);
            let urn = Urn { population, draws, hits: part(draws, hits) };
            let base = part(population, base);
            let trials = part(population - base, trials);
            let at = Probability::new(&Rational::parse(&format!("{p}/1000")).unwrap()).unwrap();
            let chance = |marked: u64| {
                if marked > population { return Ball::ZERO; }
                Hypergeometric::new(population, marked, draws).unwrap().probability(urn.hits)
            };
            let mixed = |value: &dyn Fn(u64) -> Ball| {
                (0..=trials).fold(Ball::ZERO, |sum, b| sum + binomial_probability(b, trials, &at) * value(base + b))
            };
            let found = Mixture::new(trials, at.odds, urn, base).sums(&Uninterrupted).unwrap();
            let weight = mixed(&chance);
            prop_assert_eq!(found.is_none(), weight.is_exact_zero());
            if let Some(sums) = found {
                let unit = binomial_probability(sums.centre, trials, &at) * chance(base + sums.centre);
                check(sums.weight * unit, weight)?;
                check(sums.grown * unit, mixed(&|marked| chance(marked + 1)))?;
                let beyond = mixed(&|marked| (0..marked).fold(Ball::ZERO, |sum, below| sum + chance(below)));
                if (beyond / weight).to_enclosure().upper() < 1e250 {
                    check(sums.beyond * unit, beyond)?;
                }
            }
        }
    }

    /// `H(A+1)/H(A)` as integers.
    #[test]
    fn ratios_of_draws_are_exact() {
        for (population, draws, hits) in [(9u64, 4u64, 2u64), (9, 9, 3), (9, 1, 0), (30, 12, 12)] {
            let urn = Urn { population, draws, hits };
            let choose = |n: u64, k: u64| (0..k).fold(1u64, |ways, i| ways * n.saturating_sub(i) / (i + 1));
            let ways = |marked: u64| choose(marked, hits) * choose(population - marked, draws - hits);
            assert_eq!(urn.greatest(), (0..=population).rev().find(|&marked| ways(marked) > 0).unwrap());
            for marked in hits..population {
                let (top, bottom) = urn.rise::<statpriv_simd::Portable>(marked);
                let [top, bottom] = [top, bottom].map(|x| x.hi as u64);
                assert_eq!(ways(marked + 1) * bottom, ways(marked) * top, "{urn:?} {marked}");
            }
        }
    }
}
