//! The hypergeometric law: `draws` entries from `population` entries, `marked` of them marked.

use super::ball::Ball;
use super::binomial;
use super::probability::Probability;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::laws::Hypergeometric;
use crate::numbers::rational::Rational;
use dashu_int::IBig;

/// Its three numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    population: u64,
    marked: u64,
    draws: u64,
}

impl From<&Hypergeometric> for Law {
    fn from(law: &Hypergeometric) -> Self {
        Self { population: law.population(), marked: law.marked(), draws: law.draws() }
    }
}

impl Law {
    /// Least possible value.
    pub(crate) fn least(&self) -> u64 {
        (self.marked + self.draws).saturating_sub(self.population)
    }

    /// Greatest possible value.
    pub(crate) fn greatest(&self) -> u64 {
        self.marked.min(self.draws)
    }

    /// `⌊(draws+1)(marked+1)/(population+2)⌋`, a most probable value.
    pub(crate) fn mode(&self) -> u64 {
        let top = u128::from(self.draws + 1) * u128::from(self.marked + 1);
        let mode = (top / u128::from(self.population + 2)) as u64;
        mode.clamp(self.least(), self.greatest())
    }

    /// The same law counted from the other side: unmarked ones drawn.
    fn mirrored(&self) -> Self {
        Self { marked: self.population - self.marked, ..*self }
    }

    /// `P[X = k+1]/P[X = k]` as numerator and denominator.
    fn ratio(&self, k: u64) -> (u128, u128) {
        let top = u128::from(self.marked - k) * u128::from(self.draws - k);
        let unmarked_left = self.population - self.marked + k + 1 - self.draws;
        (top, u128::from(k + 1) * u128::from(unmarked_left))
    }

    /// `P[X = k+1]/P[X = k]`, zero at the end of the support.
    pub(crate) fn ratio_up(&self, k: u64, bits: usize) -> Ball {
        let (top, bottom) = self.ratio(k);
        let (top, bottom) = (Ball::dyadic(IBig::from(top), 0), Ball::dyadic(IBig::from(bottom), 0));
        top.over(&bottom, bits).unwrap_or_else(Ball::zero)
    }

    /// `P[X = k]`; nothing if more bits are needed.
    ///
    /// With `p = draws/population`, `C(m,k) C(N−m,s−k)/C(N,s)` is `b(k; m, p) b(s−k; N−m, p)/b(s; N, p)`.
    pub(crate) fn point(
        &self,
        k: u64,
        bits: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<Ball>, Error> {
        if k < self.least() || k > self.greatest() {
            return Ok(Some(Ball::zero()));
        }
        if self.least() == self.greatest() {
            return Ok(Some(Ball::one()));
        }
        // The support has two values, so neither all nor none are drawn, and p is neither 0 nor 1.
        let Some(p) = Rational::from(self.draws).div(&Rational::from(self.population)) else {
            return Ok(None);
        };
        let p = Probability::Exact(p);
        let bits = bits + 8;
        let part = |n: u64, k: u64| binomial::point(n, &p, k, bits, interrupt);
        let (Some(chosen), Some(others), Some(all)) = (
            part(self.marked, k)?,
            part(self.population - self.marked, self.draws - k)?,
            part(self.population, self.draws)?,
        ) else {
            return Ok(None);
        };
        Ok(chosen.times(&others, bits).over(&all, bits))
    }

    /// `P[X ≥ k]`; nothing if more bits are needed.
    pub(crate) fn upper_tail(
        &self,
        k: u64,
        bits: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<Ball>, Error> {
        if k <= self.least() {
            return Ok(Some(Ball::one()));
        }
        if k > self.greatest() {
            return Ok(Some(Ball::zero()));
        }
        if k > self.mode() {
            return self.beyond_mode(k, bits, interrupt);
        }
        // P[X ≥ k] = 1 − P[X ≤ k−1], and X ≤ k−1 means at least draws−k+1 unmarked ones.
        let others = self.mirrored().beyond_mode(self.draws - k + 1, bits, interrupt)?;
        Ok(others.map(|others| Ball::one().minus(&others, bits)))
    }

    /// `Σ_{i≥k} P[X = i]` for `k` above the mode.
    fn beyond_mode(&self, k: u64, bits: usize, interrupt: &dyn Interrupt) -> Result<Option<Ball>, Error> {
        let Some(first) = self.point(k, bits + 8, interrupt)? else { return Ok(None) };
        let sum = self.sum_by_first(k, bits, interrupt)?;
        Ok(sum.map(|sum| first.times(&sum, bits)))
    }

    /// The same over its first term; the ratios `r` of the terms are below 1 and fall.
    ///
    /// In units of `2^-places`, two floors a term err by less than 2, so `T` terms and their sum err by at most `T²`·2; the rest
    /// after the term `t` is at most `t r/(1−r)`.
    fn sum_by_first(&self, k: u64, bits: usize, interrupt: &dyn Interrupt) -> Result<Option<Ball>, Error> {
        let places = bits + 2 * (64 - (self.greatest() - k).leading_zeros()) as usize + 8;
        let mut term = IBig::ONE << places;
        let (mut sum, mut i) = (term.clone(), k);
        while i < self.greatest() && !term.is_zero() {
            let (top, bottom) = self.ratio(i);
            term = term * IBig::from(top) / IBig::from(bottom);
            sum += &term;
            i += 1;
            if i.is_multiple_of(1 << 10) {
                interrupt.check()?;
            }
        }
        let terms = (i - k) as f64;
        // Zero after the last term of all.
        let (top, bottom) = self.ratio(i);
        let ratio = top as f64 / bottom as f64 * (1.0 + 1e-12);
        if ratio >= 1.0 {
            return Ok(None);
        }
        let error = 2.0 * terms * terms + (2.0 * terms + 1.0) * ratio / (1.0 - ratio);
        Ok(Some(Ball::new(sum, (error * (1.0 + 1e-9)).ceil() as u128, -(places as i128), places)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Uninterrupted;
    use dashu_int::UBig;

    fn ways(n: u64, k: u64) -> UBig {
        if k > n { UBig::ZERO } else { (0..k).fold(UBig::ONE, |ways, i| ways * (n - i) / (i + 1)) }
    }

    /// Every law of a small population, its ends and its mode, each probability and each tail.
    #[test]
    fn laws_of_small_populations_are_those_of_rationals() {
        let agrees = |found: &Ball, exact: &Rational| {
            let exact = Ball::rational(exact, 300);
            !found.exceeds(&exact) && !exact.exceeds(found) && found.accuracy() >= 60
        };
        for (population, marked, draws) in (1..8u64)
            .flat_map(|n| (0..=n).flat_map(move |m| (0..=n).map(move |s| (n, m, s))))
            .chain([(40, 11, 17), (40, 33, 20)])
        {
            let law = Law { population, marked, draws };
            let all = ways(population, draws);
            let mass = |k: u64| {
                let hits = if k > draws {
                    UBig::ZERO
                } else {
                    ways(marked, k) * ways(population - marked, draws - k)
                };
                Rational::new(IBig::from(hits), all.clone()).unwrap()
            };
            let masses: Vec<_> = (0..=draws).map(mass).collect();
            let support: Vec<_> = (0..=draws).filter(|&k| !masses[k as usize].is_zero()).collect();
            assert_eq!((law.least(), law.greatest()), (support[0], support[support.len() - 1]));
            assert_eq!(&masses[law.mode() as usize], masses.iter().max().unwrap());
            for k in 0..=draws + 1 {
                let point = law.point(k, 70, &Uninterrupted).unwrap().unwrap();
                assert!(
                    agrees(&point, masses.get(k as usize).unwrap_or(&Rational::from(0i64))),
                    "{law:?} at {k}"
                );
                let tail =
                    masses.iter().skip(k as usize).fold(Rational::from(0i64), |sum, mass| sum.add(mass));
                let found = law.upper_tail(k, 70, &Uninterrupted).unwrap().unwrap();
                assert!(agrees(&found, &tail), "{law:?} from {k}");
                if support.contains(&k) {
                    let next = masses.get(k as usize + 1).map_or(Rational::from(0i64), Clone::clone);
                    assert!(
                        agrees(&law.ratio_up(k, 70), &next.div(&masses[k as usize]).unwrap()),
                        "{law:?} at {k}"
                    );
                }
            }
        }
    }
}
