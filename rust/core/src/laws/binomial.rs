//! The binomial law.

use crate::ball::Ball;
use crate::error::Error;
use crate::fast;
use crate::interrupt::Interrupt;
use crate::rational::Rational;
use crate::special::stirling_remainder;

/// Below this number of trials a probability is a product of factors, exact where doubles are.
const DIRECT_TRIALS: u64 = 64;
/// Terms between two questions whether to go on.
const TERMS_PER_CHECK: u64 = 1 << 12;
/// More terms than this are refused: they would take a second.
const MOST_TERMS: u64 = 1 << 22;
/// A tail is cut where its geometric bound falls below this: `2^-80`.
const NEGLIGIBLE: f64 = 1.0 / ((1u128 << 80) as f64);

/// A probability strictly between 0 and 1, prepared once: `p`, `q = 1 − p` and the odds `p/q`, each to full
/// relative accuracy however close to 0 or 1 it lies.
#[derive(Clone, Copy, Debug)]
pub struct Probability {
    /// `p`.
    pub p: Ball,
    /// `1 − p`.
    pub q: Ball,
    /// `p/(1 − p)`.
    pub odds: Ball,
    /// `p` and `1 − p` for the fast tier, where it applies.
    pub(crate) doubles: Option<fast::Law>,
}

impl Probability {
    /// From an exact rational.
    ///
    /// # Errors
    /// Anything not strictly between 0 and 1.
    pub fn new(p: &Rational) -> Result<Self, Error> {
        let q = Rational::from(1i64).sub(p);
        match p.div(&q) {
            Some(odds) if !p.is_negative() && !q.is_negative() && !p.is_zero() => {
                Ok(Self::of(Ball::from_rational(p), Ball::from_rational(&q), Ball::from_rational(&odds)))
            }
            _ => Err(Error::argument("a probability strictly between 0 and 1 is needed here")),
        }
    }

    /// From its odds, a positive ball.
    #[must_use]
    pub fn from_odds(odds: Ball) -> Self {
        let q = Ball::ONE / (Ball::ONE + odds);
        Self::of(odds * q, q, odds)
    }

    fn of(p: Ball, q: Ball, odds: Ball) -> Self {
        Self { p, q, odds, doubles: fast::Law::new(p, q) }
    }

    /// The probability of the complement.
    #[must_use]
    pub fn complement(self) -> Self {
        let doubles = self.doubles.map(fast::Law::mirrored);
        Self { p: self.q, q: self.p, odds: Ball::ONE / self.odds, doubles }
    }
}

/// `P[Bin(n, p) = k]`.
#[must_use]
pub fn binomial_probability(k: u64, n: u64, at: &Probability) -> Ball {
    match k {
        _ if k > n => Ball::ZERO,
        _ if n <= DIRECT_TRIALS => direct(k, n, at),
        _ => saddle_point(k, n, at).exp(),
    }
}

/// `ln P[Bin(n, p) = k]`; nothing outside the support, where it is −∞.
#[must_use]
pub fn binomial_log_probability(k: u64, n: u64, at: &Probability) -> Option<Ball> {
    match k {
        _ if k > n => None,
        _ if n <= DIRECT_TRIALS => Some(direct(k, n, at).ln()),
        _ => Some(saddle_point(k, n, at)),
    }
}

/// `P[Bin(n, p) ≥ k]`, from the side on which no more than half of the mass lies.
///
/// # Errors
/// [`Error::Precision`] where the sum would have too many terms, [`Error::Interrupted`].
pub fn binomial_upper_tail(
    k: u64,
    n: u64,
    at: &Probability,
    interrupt: &dyn Interrupt,
) -> Result<Ball, Error> {
    if k == 0 || k > n {
        return Ok(if k == 0 { Ball::ONE } else { Ball::ZERO });
    }
    let mean = Ball::from_u64(n) * at.p;
    if mean.certainly_less(Ball::from_u64(k)) {
        return tail_above_mean(k, n, at, interrupt);
    }
    Ok(Ball::ONE - tail_above_mean(n - k + 1, n, &at.complement(), interrupt)?)
}

/// `P[X ≥ k]` for `k > np − 1`, where the terms fall from the first on.
fn tail_above_mean(k: u64, n: u64, at: &Probability, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
    if let Some(tail) = fast::upper_tail(k, n, at) {
        return Ok(tail);
    }
    let (mut term, mut sum) = (Ball::ONE, Ball::ONE);
    for i in k..n {
        if i.is_multiple_of(TERMS_PER_CHECK) {
            interrupt.check()?;
            if i - k > MOST_TERMS {
                return Err(Error::precision(format!("P[X >= {k}] for n = {n} needs too many terms")));
            }
        }
        let ratio = Ball::from_u64(n - i) * at.odds / Ball::from_u64(i + 1);
        term = term * ratio;
        sum = sum + term;
        // The ratios fall, so what follows is at most term · r/(1 − r).
        let rest = term * ratio / (Ball::ONE - ratio);
        if rest.is_positive() && rest.to_enclosure().upper() < NEGLIGIBLE {
            sum = sum.plus_at_most(rest);
            break;
        }
    }
    Ok(binomial_probability(k, n, at) * sum)
}

/// Loader's saddle-point form: with `s` Stirling's remainder,
/// `ln b(k) = s(n) − s(k) − s(n−k) + ½ ln(n/(2πk(n−k))) − k ln(k/(np)) − (n−k) ln((n−k)/(nq))`, for `k ≤ n`.
fn saddle_point(k: u64, n: u64, at: &Probability) -> Ball {
    let (trials, hits, misses) = (Ball::from_u64(n), Ball::from_u64(k), Ball::from_u64(n - k));
    if k == 0 {
        return trials * at.q.ln();
    }
    if k == n {
        return trials * at.p.ln();
    }
    let remainders = stirling_remainder(n) - stirling_remainder(k) - stirling_remainder(n - k);
    let spread = trials.ln() - Ball::ln_2_pi() - hits.ln() - misses.ln();
    let deviance = hits * (hits / (trials * at.p)).ln() + misses * (misses / (trials * at.q)).ln();
    remainders + spread / Ball::from_u64(2) - deviance
}

/// `C(n, k) p^k q^{n−k}` by its factors.
fn direct(k: u64, n: u64, at: &Probability) -> Ball {
    let short = k.min(n - k);
    let coefficient =
        (1..=short).fold(Ball::ONE, |product, i| product * Ball::from_u64(n - short + i) / Ball::from_u64(i));
    coefficient * at.p.powi(k) * at.q.powi(n - k)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Probability {
        Probability::new(&Rational::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn fair_coins_are_exact() {
        let four = binomial_probability(2, 4, &at("1/2")).to_enclosure();
        assert_eq!((four.lower(), four.upper()), (0.375, 0.375));
    }

    #[test]
    fn factors_and_saddle_point_agree() {
        for n in [65u64, 70, 100] {
            for k in 1..n {
                let gap = direct(k, n, &at("3/7")) - binomial_probability(k, n, &at("3/7"));
                assert!(!gap.is_positive() && !(-gap).is_positive(), "{n} {k}");
            }
        }
    }

    #[test]
    fn the_total_mass_is_one() {
        for (n, p) in [(10u64, "1/3"), (64, "0.9"), (65, "1e-3"), (500, "0.77")] {
            let total = (0..=n).fold(Ball::ZERO, |sum, k| sum + binomial_probability(k, n, &at(p)));
            assert!(total.to_enclosure().contains(&Rational::from(1i64)), "{n} {p}");
            assert!(total.relative_error() < 1e-25);
        }
    }

    #[test]
    fn zero_and_one_are_not_strictly_between() {
        for text in ["0", "1", "-1/2", "3/2"] {
            assert!(Probability::new(&Rational::parse(text).unwrap()).is_err());
        }
    }
}
