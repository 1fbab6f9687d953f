//! The Poisson-binomial law: how many of `N` independent entries have a property, the i-th with probability `p_i`.
//!
//! All probabilities at once come from multiplying the polynomials `q_i + p_i z`: every term is positive, so each
//! coefficient keeps its relative accuracy, however small it is. Blocks of entries are multiplied in double-double
//! arithmetic, the blocks in doubles, pair by pair.
//!
//! Coefficients are stored times `2^500`. What falls below `2^-1200` is dropped, so a block reaches only as far as the
//! doubles do, some 40 standard deviations. Per entry this, and whatever underflows, shifts no probability by more
//! than `2^-1195`: with weights `Σ_k a_k ≤ 1` an error in one factor is no larger in the product.

use crate::convolve::sums_of_products;
use crate::error::Error;
use crate::fourier::{LatticeSum, Trials};
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::double_double::{DoubleDouble, UNIT, two_sum};
use crate::numbers::enclosure::Enclosure;
use crate::numbers::rational::Rational;

/// Entries that are multiplied in double-double arithmetic.
const BLOCK: usize = 2048;
/// `2^500`, the unit of all coefficients.
const SCALE: f64 = f64::from_bits((1023 + 500) << 52);
/// `2^-1200`, in that unit.
const NEGLIGIBLE: f64 = f64::from_bits((1023 - 700) << 52);

/// A Poisson-binomial law.
#[derive(Clone, Debug)]
pub struct PoissonBinomial {
    /// `(p, q)` of the entries that are not certain, to `2^-104` relatively.
    entries: Vec<(Ball, Ball)>,
    trials: usize,
    certain: usize,
}

impl PoissonBinomial {
    /// From exact probabilities.
    ///
    /// # Errors
    /// Anything outside `[0, 1]`.
    pub fn new(probabilities: &[Rational]) -> Result<Self, Error> {
        let one = Rational::from(1i64);
        let both = probabilities.iter().enumerate().map(|(i, p)| {
            if p.is_negative() || *p > one {
                return Err(not_a_probability(i, &p.shown()));
            }
            Ok((Ball::from_rational(p), Ball::from_rational(&one.sub(p))))
        });
        Ok(Self::of(both.collect::<Result<_, _>>()?))
    }

    /// From the rationals that doubles store.
    ///
    /// # Errors
    /// Anything outside `[0, 1]`, NaN among it.
    pub fn from_doubles(probabilities: &[f64]) -> Result<Self, Error> {
        let both = probabilities.iter().enumerate().map(|(i, &p)| {
            if !(0.0..=1.0).contains(&p) {
                return Err(not_a_probability(i, &p.to_string()));
            }
            let (hi, lo) = two_sum(1.0, -p);
            // The difference is exact, but half of a subnormal `lo` may not be.
            let error = if p == 0.0 || p > 1.0 / SCALE { 0.0 } else { UNIT / 4.0 };
            let q = Ball::from_double_double(DoubleDouble { hi, lo }, error);
            Ok((Ball::from_double_double(DoubleDouble::from_f64(p), 0.0), q))
        });
        Ok(Self::of(both.collect::<Result<_, _>>()?))
    }

    fn of(all: Vec<(Ball, Ball)>) -> Self {
        let trials = all.len();
        let certain = all.iter().filter(|(_, q)| q.is_exact_zero()).count();
        let open = |(p, q): &(Ball, Ball)| !p.is_exact_zero() && !q.is_exact_zero();
        Self { entries: all.into_iter().filter(open).collect(), trials, certain }
    }

    /// The largest value, `N`.
    #[must_use]
    pub fn trials(&self) -> usize {
        self.trials
    }

    /// `P[X = k]` for `k = 0, …, N`.
    ///
    /// # Errors
    /// Interruption.
    pub fn probabilities(&self, interrupt: &dyn Interrupt) -> Result<Vec<Enclosure>, Error> {
        let mut enclosures = vec![Enclosure::point(0.0); self.trials + 1];
        let (lost, product) = (self.lost(), self.product(interrupt)?);
        for (offset, enclosure) in
            enclosures.iter_mut().skip(self.certain).take(self.entries.len() + 1).enumerate()
        {
            let inside = offset.checked_sub(product.first).and_then(|at| product.coefficient(at));
            *enclosure = (inside.unwrap_or(Ball::ZERO) + lost).to_enclosure().clamp(0.0, 1.0);
        }
        Ok(enclosures)
    }

    /// `P[X = k]`: for one block from the product, beyond it by inversion, in time proportional to `N`.
    ///
    /// # Errors
    /// Interruption.
    pub fn probability(&self, k: u64, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let Some(k) = k.checked_sub(self.certain as u64).filter(|&k| k <= self.entries.len() as u64) else {
            return Ok(Ball::ZERO);
        };
        if self.entries.len() <= BLOCK {
            let product = self.product(interrupt)?;
            let inside = (k as usize).checked_sub(product.first).and_then(|at| product.coefficient(at));
            return Ok(inside.unwrap_or(Ball::ZERO) + self.lost());
        }
        LatticeSum::new(vec![&Trials::new(&self.entries)]).probability(k as i64, interrupt)
    }

    /// `P[X ≥ k]`, likewise.
    ///
    /// # Errors
    /// Interruption.
    pub fn upper_tail(&self, k: u64, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let Some(k) = k.checked_sub(self.certain as u64).filter(|&k| k > 0) else { return Ok(Ball::ONE) };
        if k > self.entries.len() as u64 {
            return Ok(Ball::ZERO);
        }
        if self.entries.len() <= BLOCK {
            let product = self.product(interrupt)?;
            let first = (k as usize).saturating_sub(product.first);
            let terms = (first..product.hi.len()).filter_map(|at| product.coefficient(at));
            let lost = self.lost() * Ball::from_u64(self.entries.len() as u64 + 1);
            return Ok(terms.fold(lost, |sum, term| sum + term));
        }
        LatticeSum::new(vec![&Trials::new(&self.entries)]).upper_tail(k as i64, interrupt)
    }

    /// Around zero, what a probability may have lost by dropping and underflow.
    fn lost(&self) -> Ball {
        let each = Ball::from_rational(&Rational::dyadic(1u8.into(), 1195));
        Ball::ZERO.plus_at_most(each * Ball::from_u64(self.entries.len() as u64))
    }

    /// All blocks, multiplied pair by pair; of no entries, one.
    fn product(&self, interrupt: &dyn Interrupt) -> Result<Polynomial, Error> {
        if self.entries.len() <= BLOCK {
            return Polynomial::of_block(&self.entries, interrupt);
        }
        let mut factors = Vec::new();
        for block in self.entries.chunks(BLOCK) {
            factors.push(Polynomial::of_block(block, interrupt)?);
        }
        while factors.len() > 1 {
            let mut products = Vec::new();
            for pair in factors.chunks(2) {
                products.push(match pair {
                    [a, b] => a.times(b, interrupt)?,
                    rest => rest.first().cloned().unwrap_or_default(),
                });
            }
            factors = products;
        }
        Ok(factors.pop().unwrap_or_default())
    }
}

fn not_a_probability(index: usize, value: &str) -> Error {
    Error::argument(format!("p[{index}] = {value}; a probability from 0 to 1 is required"))
}

/// Coefficients from `z^first` on, times [`SCALE`], each within `relative` of the truth.
#[derive(Clone, Debug, Default)]
struct Polynomial {
    first: usize,
    hi: Vec<f64>,
    /// What the doubles leave over, for a single block.
    lo: Vec<f64>,
    relative: f64,
}

impl Polynomial {
    /// `Π (q_i + p_i z)`, one factor at a time: `c_k q + c_{k−1} p`.
    ///
    /// Each factor adds the errors of `p` or `q` (`UNIT/4`), of a product (`UNIT/2`) and of a sum (`UNIT/4`): `UNIT`. With at
    /// most `2^11` of them, `2 · UNIT` each pays for the terms of higher order.
    fn of_block(block: &[(Ball, Ball)], interrupt: &dyn Interrupt) -> Result<Self, Error> {
        let (mut first, mut coefficients) = (0, vec![DoubleDouble::from_f64(SCALE)]);
        for (p, q) in block {
            interrupt.check()?;
            let (p, q) = (lifted(*p), lifted(*q));
            let mut below = DoubleDouble::ZERO;
            for coefficient in coefficients.iter_mut().skip(first) {
                let product = coefficient.mul(q).add(below.mul(p)).scale(1.0 / SCALE);
                below = std::mem::replace(coefficient, product);
            }
            coefficients.push(below.mul(p).scale(1.0 / SCALE));
            first += coefficients.iter().skip(first).take_while(|c| c.hi < NEGLIGIBLE).count();
            while coefficients.pop_if(|c| c.hi < NEGLIGIBLE).is_some() {}
        }
        let (hi, lo) = coefficients.into_iter().skip(first).map(|c| (c.hi, c.lo)).unzip();
        Ok(Self { first, hi, lo, relative: 2.0 * UNIT * block.len() as f64 })
    }

    /// The product, in doubles.
    ///
    /// Rounding both factors to doubles costs `2u`, and [`sums_of_products`] says what it adds. Terms of higher order are paid
    /// for by one more part in 64, as long as the bound is below `2^-7`.
    fn times(&self, other: &Self, interrupt: &dyn Interrupt) -> Result<Self, Error> {
        let (product, roundings) = sums_of_products(&self.hi, &other.hi, interrupt)?;
        let relative = (self.relative + other.relative + f64::EPSILON + roundings) * (1.0 + 1.0 / 64.0);
        let mut hi: Vec<f64> = product.into_iter().map(|coefficient| coefficient / SCALE).collect();
        let dropped = hi.iter().take_while(|&&c| c < NEGLIGIBLE).count();
        hi.drain(..dropped);
        while hi.pop_if(|c| *c < NEGLIGIBLE).is_some() {}
        Ok(Self { first: self.first + other.first + dropped, hi, lo: Vec::new(), relative })
    }

    fn coefficient(&self, at: usize) -> Option<Ball> {
        let lo = self.lo.get(at).copied().unwrap_or(0.0);
        let lifted = DoubleDouble { hi: *self.hi.get(at)?, lo };
        let unit = Ball::from_double_double(DoubleDouble::from_f64(1.0 / SCALE), 0.0);
        Some(Ball::from_double_double(lifted, self.relative) * unit)
    }
}

/// A probability times [`SCALE`]; zero below `2^-1400`, which is negligible.
fn lifted(x: Ball) -> DoubleDouble {
    let scale = Ball::from_double_double(DoubleDouble::from_f64(SCALE), 0.0);
    (x * scale).to_double_double().unwrap_or(DoubleDouble::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Uninterrupted;
    use crate::laws::{Probability, binomial_probability};
    use proptest::prelude::*;

    fn rationals(probabilities: &[f64]) -> Vec<Rational> {
        probabilities.iter().map(|&p| Rational::from_f64(p).unwrap()).collect()
    }

    fn enclosures(probabilities: &[f64]) -> Vec<Enclosure> {
        PoissonBinomial::from_doubles(probabilities).unwrap().probabilities(&Uninterrupted).unwrap()
    }

    /// The polynomial, multiplied out in rationals.
    fn exactly(probabilities: &[f64]) -> Vec<Rational> {
        let one = Rational::from(1i64);
        let mut product = vec![one.clone()];
        for p in rationals(probabilities) {
            let (q, zero) = (one.sub(&p), Rational::from(0i64));
            let shifted = std::iter::once(zero.clone()).chain(product.clone());
            let padded = product.into_iter().chain([zero]);
            product = padded.zip(shifted).map(|(stays, moves)| stays.mul(&q).add(&moves.mul(&p))).collect();
        }
        product
    }

    fn check(probabilities: &[f64]) {
        let law = PoissonBinomial::from_doubles(probabilities).unwrap();
        for (k, (enclosure, truth)) in
            enclosures(probabilities).iter().zip(exactly(probabilities)).enumerate()
        {
            assert!(enclosure.contains(&truth), "{enclosure:?}");
            let single = law.probability(k as u64, &Uninterrupted).unwrap().to_enclosure();
            assert!(single.contains(&truth), "{single:?}");
            let two_ulps = enclosure.lower().next_up().next_up().max(enclosure.lower() + f64::from_bits(4));
            assert!(enclosure.upper() <= two_ulps, "{enclosure:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(60, 200)))]

        #[test]
        fn it_is_the_product_of_its_polynomials(
            probabilities in prop::collection::vec(
                prop_oneof![
                    4 => 0.0..=1.0f64,
                    1 => Just(0.0), 1 => Just(1.0), 1 => Just(0.5), 1 => Just(f64::from_bits(3)), 1 => Just(1.0 - f64::EPSILON),
                    1 => (1u32..1000).prop_map(|e| 0.7 * 2f64.powi(-(e as i32))),
                ],
                0..12,
            ),
        ) {
            check(&probabilities);
        }
    }

    #[test]
    fn rationals_and_doubles_give_the_same() {
        let p = [0.25, 0.1, 0.7, 1e-9];
        let exact = PoissonBinomial::new(&rationals(&p)).unwrap().probabilities(&Uninterrupted).unwrap();
        assert_eq!(exact, enclosures(&p));
    }

    #[test]
    fn equal_probabilities_are_the_binomial_law_also_across_blocks() {
        for (n, p) in [(1000usize, 0.3), (5000, 0.3), (5000, 1e-3), (3000, 0.999)] {
            let at = Probability::new(&Rational::from_f64(p).unwrap()).unwrap();
            for (k, &enclosure) in enclosures(&vec![p; n]).iter().enumerate() {
                let expected = binomial_probability(k as u64, n as u64, &at).to_enclosure();
                assert!(
                    enclosure.lower() <= expected.upper() && expected.lower() <= enclosure.upper(),
                    "{n} {p} {k}"
                );
                let wide =
                    enclosure.width() > 3e-14 * n as f64 / 1000.0 * enclosure.upper() + f64::from_bits(2);
                assert!(!wide, "{n} {p} {k} {enclosure:?}");
            }
        }
    }

    #[test]
    fn single_probabilities_and_tails_agree_with_the_whole_law() {
        for n in [7usize, 500, 3000, 6000] {
            let p: Vec<f64> =
                (0..n).map(|i| (i as f64 * 0.618_033_988_75).fract().powi(1 + i as i32 % 3)).collect();
            let law = PoissonBinomial::from_doubles(&p).unwrap();
            let all = law.probabilities(&Uninterrupted).unwrap();
            let mean: f64 = p.iter().sum();
            for deviations in [-20.0, -6.0, -1.0, 0.0, 0.1, 3.0, 12.0] {
                let k = (mean + deviations * (n as f64).sqrt() / 3.0).max(0.0) as usize;
                let (Some(&mass), Some(tail)) = (all.get(k), all.get(k..)) else { continue };
                let sum = tail.iter().rev().fold(Enclosure::point(0.0), |sum, &term| sum + term);
                let single = law.probability(k as u64, &Uninterrupted).unwrap();
                let upper = law.upper_tail(k as u64, &Uninterrupted).unwrap();
                for (ball, wide) in [(single, mass), (upper, sum)] {
                    let narrow = ball.to_enclosure();
                    assert!(narrow.lower() <= wide.upper() && wide.lower() <= narrow.upper(), "{n} {k}");
                    assert!(ball.relative_error() < 1e-18, "{n} {k} {ball:?}");
                }
            }
        }
    }

    #[test]
    fn certain_entries_only_shift() {
        let law = PoissonBinomial::from_doubles(&[1.0, 0.5, 0.0, 1.0]).unwrap();
        let at = |k| law.probability(k, &Uninterrupted).unwrap().to_enclosure().midpoint().unwrap();
        assert_eq!([0, 1, 2, 3, 4].map(at), [0.0, 0.0, 0.5, 0.5, 0.0]);
        assert!((law.upper_tail(2, &Uninterrupted).unwrap() - Ball::ONE).is_exact_zero());
        assert!(law.upper_tail(4, &Uninterrupted).unwrap().is_exact_zero());
        let sure = PoissonBinomial::from_doubles(&[1.0, 0.0]).unwrap();
        let at = |k| sure.probability(k, &Uninterrupted).unwrap().to_enclosure();
        assert_eq!([0, 1, 2].map(at), [0.0, 1.0, 0.0].map(Enclosure::point));
        assert_eq!(enclosures(&[1.0, 0.0]), [0.0, 1.0, 0.0].map(Enclosure::point));
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        for p in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(PoissonBinomial::from_doubles(&[0.5, p]).is_err());
        }
        assert!(PoissonBinomial::new(&[Rational::parse("-1e-400").unwrap()]).is_err());
    }

    #[test]
    #[ignore = "prints times"]
    fn times() {
        for n in [100usize, 1000, 10_000, 100_000] {
            let p: Vec<f64> = (0..n).map(|i| (i as f64 * 0.618_033_988_75).fract()).collect();
            let start = std::time::Instant::now();
            let law = PoissonBinomial::from_doubles(&p).unwrap();
            let all = law.product(&Uninterrupted).unwrap();
            let product = start.elapsed();
            let all = (law.probabilities(&Uninterrupted).unwrap(), all.relative);
            let whole = start.elapsed();
            let start = std::time::Instant::now();
            let tail = law.upper_tail(n as u64 * 51 / 100, &Uninterrupted).unwrap();
            println!("tail {:?} {:e}", start.elapsed(), tail.relative_error());
            println!("{n}: {product:?} {:?} relative {:e} {}", whole, all.1, all.0.len());
        }
    }

    /// `1 − p` is a sum of two doubles; half of the lower one is none where `p` is a subnormal, and then the ball may not be a point.
    #[test]
    fn complements_are_exact_but_for_subnormal_probabilities() {
        let complement = |p: f64| PoissonBinomial::from_doubles(&[p]).unwrap().entries[0].1;
        for p in [1e-100, 1e-20, 0.3, 0.999] {
            assert!(complement(p).relative_error() == 0.0, "{p}");
        }
        for units in [1, 3, 5] {
            let p = f64::from_bits(units);
            assert!(complement(p).relative_error() > 0.0, "{p}");
            assert!(!(Ball::ONE - complement(p)).is_exact_zero(), "{p}");
        }
    }
}
