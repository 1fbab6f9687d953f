//! The binomial law.

use super::log_pmf::{self, Doubles};
use super::recurrence::{self, LogConcave};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::double_double::{DoubleDouble, UNIT, two_sum};
use crate::numbers::enclosure::Enclosure;
use crate::numbers::rational::Rational;
use crate::numbers::scaled::Scaled;
use crate::numbers::special::stirling_remainder;

/// Up to this number of trials a ball is a product of factors, exact where double-doubles are.
const DIRECT_TRIALS: u64 = 64;
/// Up to this number of trials an enclosure is one too: it has no width where doubles hold the result.
const EXACT_TRIALS: u64 = 16;
/// Smaller doubles are taken as rationals: `2^-900`.
const MIN_DOUBLE: f64 = f64::from_bits((1023 - 900) << 52);
/// Smaller probabilities could underflow: `2^-300`.
const MIN_PROBABILITY: f64 =
    1.0 / ((1u128 << 100) as f64) / ((1u128 << 100) as f64) / ((1u128 << 100) as f64);
/// Relative errors of `p` and `q` that the bounds of [`super::fast`] allow: `2^-98`. A rational has `2^-104`; the peaks of a range, which
/// come from `e^ε` by seven operations, have up to `2^-98.8`.
const INPUT_ERROR: f64 = 16.0 * UNIT;
/// Integers up to here are doubles.
pub(super) const LARGEST_COUNT: u64 = 1 << 53;

/// `p` and `q = 1 − p` of a binomial law, between `2^-300` and 1, each with a relative error of at most `2^-98`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    pub p: DoubleDouble,
    pub q: DoubleDouble,
}

impl Law {
    /// Nothing where `p` or `q` is too small, or not known well enough.
    pub fn new(p: Ball, q: Ball) -> Option<Self> {
        let usable = |x: Ball| x.to_double_double().filter(|x| x.hi > MIN_PROBABILITY);
        let law = Self { p: usable(p)?, q: usable(q)? };
        (p.relative_error().max(q.relative_error()) <= INPUT_ERROR).then_some(law)
    }

    /// The law of the complement.
    pub fn mirrored(self) -> Self {
        Self { p: self.q, q: self.p }
    }
}

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
    pub(crate) doubles: Option<Law>,
    /// `p` and `1 − p` for single probabilities, unless one is below about `2^-901`.
    point: Option<Doubles>,
}

impl Probability {
    /// From an exact rational.
    ///
    /// # Errors
    /// Anything not strictly between 0 and 1.
    pub fn new(p: &Rational) -> Result<Self, Error> {
        let q = Rational::from(1i64).sub(p);
        match p.div(&q) {
            Some(odds) if !p.is_negative() && !q.is_negative() && !p.is_zero() => Ok(Self::prepared(
                Ball::from_rational(p),
                Ball::from_rational(&q),
                Ball::from_rational(&odds),
            )),
            _ => Err(Error::argument("a probability strictly between 0 and 1 is needed here")),
        }
    }

    /// From the rational that a double stores, without integers of many digits.
    ///
    /// `1 − p` is a sum of two doubles, since what the rounding of a difference loses is a double. Below `2^-900` such a sum could lose bits where
    /// balls scale it.
    ///
    /// # Errors
    /// As [`Probability::new`].
    pub fn from_f64(p: f64) -> Result<Self, Error> {
        let (hi, lo) = two_sum(1.0, -p);
        match Ball::from_f64(p) {
            Some(hit) if (MIN_DOUBLE..1.0).contains(&p) => {
                let miss = Ball::from_double_double(DoubleDouble { hi, lo }, 0.0);
                Ok(Self::prepared(hit, miss, hit / miss))
            }
            _ => Self::new(&Rational::from_f64(p)?),
        }
    }

    /// From its odds, a positive ball.
    #[must_use]
    pub fn from_odds(odds: Ball) -> Self {
        let q = Ball::ONE / (Ball::ONE + odds);
        Self::prepared(odds * q, q, odds)
    }

    /// Whether the mean of `n` trials is certainly below `k`.
    pub(super) fn is_below(&self, k: u64, n: u64) -> bool {
        match self.point {
            Some(doubles) => log_pmf::deviation(k, n, &doubles) < 0.0,
            None => (Ball::from_u64(n) * self.p).certainly_less(Ball::from_u64(k)),
        }
    }

    fn prepared(p: Ball, q: Ball, odds: Ball) -> Self {
        Self { p, q, odds, doubles: Law::new(p, q), point: Doubles::new(p, q) }
    }

    /// The probability of the complement.
    #[must_use]
    pub fn complement(self) -> Self {
        Self {
            p: self.q,
            q: self.p,
            odds: Ball::ONE / self.odds,
            doubles: self.doubles.map(Law::mirrored),
            point: self.point.map(Doubles::complement),
        }
    }
}

/// `ln P[Bin(n, p) = k]`, within a few ulp; `[−∞, −∞]` outside the support.
#[must_use]
pub fn binomial_log_pmf(k: u64, n: u64, at: &Probability) -> Enclosure {
    match at.point {
        _ if k > n => Enclosure::point(f64::NEG_INFINITY),
        Some(doubles) if n <= LARGEST_COUNT => log_pmf::binomial(k, n, &doubles).to_enclosure(),
        _ => log_probability(k, n, at).to_enclosure().clamp(f64::NEG_INFINITY, 0.0),
    }
}

/// `P[Bin(n, p) = k]`, within a few ulp down to the subnormal numbers.
#[must_use]
pub fn binomial_pmf(k: u64, n: u64, at: &Probability) -> Enclosure {
    let fast = match at.point {
        Some(doubles) if k <= n && n > EXACT_TRIALS && n <= LARGEST_COUNT => {
            log_pmf::binomial(k, n, &doubles).exp()
        }
        _ => None,
    };
    fast.unwrap_or_else(|| binomial_probability(k, n, at).to_enclosure().clamp(0.0, 1.0))
}

/// `P[Bin(n, p) = k]` with an exponent of its own, for `k ≤ n`: in doubles where they reach, else by balls.
pub(crate) fn first_term(k: u64, n: u64, at: &Probability) -> Ball {
    let scaled = at.point.and_then(|doubles| log_pmf::binomial(k, n, &doubles).scaled());
    scaled.map_or_else(|| binomial_probability(k, n, at), Ball::from)
}

/// Lower and upper bounds of `P[Bin(n, p) = k]` for `k = 0..=n`, with a relative width below `10^-13` while normal.
///
/// # Errors
/// More than 2^26 values, and [`Error::Interrupted`].
pub fn binomial_pmf_row(
    n: u64,
    at: &Probability,
    interrupt: &dyn Interrupt,
) -> Result<(Vec<f64>, Vec<f64>), Error> {
    recurrence::row(&Binomial::new(n, at), interrupt)
}

/// The law of `n` trials, with its odds as a double.
pub(super) struct Binomial<'a> {
    n: u64,
    at: &'a Probability,
    odds: f64,
}

impl<'a> Binomial<'a> {
    pub(super) fn new(n: u64, at: &'a Probability) -> Self {
        Self { n, at, odds: at.odds.to_enclosure().upper() }
    }
}

impl LogConcave for Binomial<'_> {
    fn least(&self) -> u64 {
        0
    }

    fn greatest(&self) -> u64 {
        self.n
    }

    fn mode(&self) -> u64 {
        ((self.n as f64 * self.at.p.to_enclosure().upper()) as u64).min(self.n)
    }

    fn probability(&self, k: u64) -> Enclosure {
        binomial_pmf(k, self.n, self.at)
    }

    fn anchor(&self, k: u64) -> Option<Scaled> {
        scaled_probability(k, self.n, self.at)
    }

    fn ratio(&self, k: f64) -> (f64, f64) {
        ((self.n as f64 - k) * self.odds, k + 1.0)
    }
}

/// `P[Bin(n, p) = k]` within a few ulp, with an exponent of its own; nothing outside the support, or where doubles do not reach.
fn scaled_probability(k: u64, n: u64, at: &Probability) -> Option<Scaled> {
    let point = at.point.filter(|_| k <= n && n <= LARGEST_COUNT)?;
    log_pmf::binomial(k, n, &point).scaled()
}

/// `P[Bin(n, p) = k]`, as a ball.
#[must_use]
pub fn binomial_probability(k: u64, n: u64, at: &Probability) -> Ball {
    match k {
        _ if k > n => Ball::ZERO,
        _ if n <= DIRECT_TRIALS => direct(k, n, at),
        _ => log_probability(k, n, at).exp(),
    }
}

/// `ln P[Bin(n, p) = k]`, as a ball; nothing outside the support, where it is −∞.
#[must_use]
pub fn binomial_log_probability(k: u64, n: u64, at: &Probability) -> Option<Ball> {
    (k <= n).then(|| log_probability(k, n, at))
}

/// `ln P[Bin(n, p) = k]` for `k ≤ n`.
fn log_probability(k: u64, n: u64, at: &Probability) -> Ball {
    match k {
        0 => Ball::from_u64(n) * ln_of_complement(at.q, at.p),
        _ if k == n => Ball::from_u64(n) * ln_of_complement(at.p, at.q),
        _ if n <= DIRECT_TRIALS => direct(k, n, at).ln(),
        1 => log_probability_of_one(n, at),
        _ if k == n - 1 => log_probability_of_one(n, &at.complement()),
        _ => saddle_point(k, n, at),
    }
}

/// `ln(n p q^{n−1})`, where nothing cancels: below the reach of doubles this is all of a tiny `p` that is not 0.
fn log_probability_of_one(n: u64, at: &Probability) -> Ball {
    (Ball::from_u64(n) * at.p).ln() + Ball::from_u64(n - 1) * ln_of_complement(at.q, at.p)
}

/// `ln y` for `y = 1 − c`: where `c ≤ 2^-100`, from `c ≤ −ln(1 − c) ≤ c + c²`.
fn ln_of_complement(y: Ball, c: Ball) -> Ball {
    let small = Ball::ONE / Ball::from_u64(1 << 50);
    if c.certainly_less(small * small) { -c.plus_at_most(c * c) } else { y.ln() }
}

/// Loader's saddle-point form: with `s` Stirling's remainder,
/// `ln b(k) = s(n) − s(k) − s(n−k) + ½ ln(n/(2πk(n−k))) − k ln(k/(np)) − (n−k) ln((n−k)/(nq))`, for `0 < k < n`.
fn saddle_point(k: u64, n: u64, at: &Probability) -> Ball {
    let (trials, hits, misses) = (Ball::from_u64(n), Ball::from_u64(k), Ball::from_u64(n - k));
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
    use super::super::{binomial_lower_tail, binomial_upper_tail};
    use super::*;
    use crate::interrupt::Uninterrupted;
    use proptest::prelude::*;

    fn at(text: &str) -> Probability {
        Probability::new(&Rational::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn fair_coins_are_exact() {
        let four = binomial_probability(2, 4, &at("1/2")).to_enclosure();
        assert_eq!((four.lower(), four.upper()), (0.375, 0.375));
    }

    #[test]
    fn a_double_is_prepared_as_the_rational_it_stores() {
        for p in [0.3, 0.5, 1.0 - f64::EPSILON / 2.0, 1e-200, 1e-270, 1e-272, 1e-310, 5e-324] {
            let prepared = Probability::from_f64(p).unwrap();
            let exact = Probability::new(&Rational::from_f64(p).unwrap()).unwrap();
            for (one, other) in [(prepared.p, exact.p), (prepared.q, exact.q), (prepared.odds, exact.odds)] {
                let gap = one - other;
                assert!(!gap.is_positive() && !(-gap).is_positive(), "{p:e}: {one:?} {other:?}");
                assert!(one.relative_error() < 2f64.powi(-100), "{p:e}: {one:?}");
            }
        }
        for p in [0.0, 1.0, -0.1, 1.5, f64::NAN, f64::INFINITY] {
            assert!(Probability::from_f64(p).is_err(), "{p}");
        }
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

    /// Counts, sizes and probabilities of every kind: tiny, near one, dyadic; next to the mean and anywhere.
    fn law() -> impl Strategy<Value = (u64, u64, Rational)> {
        let size = (1u64..=LARGEST_COUNT, 0u32..53).prop_map(|(n, shift)| (n >> shift).max(1));
        let p = (1e-16..1.0f64, 0u32..7, 0i32..300).prop_map(|(x, kind, exponent)| match kind {
            0 => Rational::from_f64(x * 10f64.powi(-exponent)).unwrap(),
            1 => Rational::from(1i64).sub(&Rational::from_f64(x * 10f64.powi(-exponent)).unwrap()),
            2 => Rational::parse("1/2").unwrap(),
            3 => Rational::from_f64(x * x * x * x).unwrap(),
            4 => Rational::parse("1/3").unwrap(),
            _ => Rational::from_f64(x).unwrap(),
        });
        (size, p, -40.0..40.0f64, 0u64..=LARGEST_COUNT, 0u32..6).prop_map(|(n, p, z, any, kind)| {
            let share = Ball::from_rational(&p).to_enclosure().upper();
            let mean = n as f64 * share;
            let near = mean + z * (mean * (1.0 - share)).max(0.0).sqrt();
            let k = match kind {
                0 => any % (n + 1),
                1 => any % (n + 1).min(3),
                2 => n - any % (n + 1).min(3),
                _ => (near.max(0.0) as u64).min(n),
            };
            (k, n, p)
        })
    }

    /// In units of the last place of the larger end.
    fn ulps(enclosure: Enclosure) -> f64 {
        let end = enclosure.upper().abs().max(enclosure.lower().abs());
        enclosure.width() / (end.next_up() - end)
    }

    fn overlap(enclosure: Enclosure, ball: Ball) -> bool {
        let truth = ball.to_enclosure();
        enclosure.lower() <= truth.upper() && truth.lower() <= enclosure.upper()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(10_000, 100_000)))]

        #[test]
        fn log_probabilities_are_enclosed_within_a_few_ulp((k, n, p) in law()) {
            let at = Probability::new(&p).unwrap();
            let log = binomial_log_pmf(k, n, &at);
            prop_assert!(overlap(log, binomial_log_probability(k, n, &at).unwrap()), "{log:?}");
            prop_assert!(ulps(log) <= 8.0, "{log:?} {}", ulps(log));
        }

        #[test]
        fn probabilities_are_enclosed_within_a_few_ulp((k, n, p) in law()) {
            let at = Probability::new(&p).unwrap();
            let probability = binomial_pmf(k, n, &at);
            prop_assert!(overlap(probability, binomial_probability(k, n, &at)), "{probability:?}");
            prop_assert!(ulps(probability) <= 6.0, "{probability:?} {}", ulps(probability));
        }
    }

    /// Sums of balls, from the end of the support: `P[X ≥ k]` for all `k`.
    fn tails(n: u64, at: &Probability) -> Vec<Ball> {
        let mut sums = vec![Ball::ZERO; n as usize + 1];
        let mut sum = Ball::ZERO;
        for k in (0..=n).rev() {
            sum = sum + binomial_probability(k, n, at);
            sums[k as usize] = sum;
        }
        sums
    }

    #[test]
    fn rows_and_tails_are_the_sums_of_balls() {
        for (n, p) in [
            (1, "1/2"),
            (2, "1e-300"),
            (5, "0.2"),
            (40, "1/2"),
            (64, "0.999"),
            (130, "1e-5"),
            (400, "0.37"),
            (1000, "0.999999"),
            (3000, "1/2"),
            (5000, "0.01"),
            (300, "1e-290"),
            (100, "1e-320"),
        ] {
            let at = at(p);
            let (lower, upper) = binomial_pmf_row(n, &at, &Uninterrupted).unwrap();
            let sums = tails(n, &at);
            assert_eq!((lower.len(), upper.len()), (n as usize + 1, n as usize + 1));
            for (k, sum) in (0..=n).zip(&sums) {
                let entry = Enclosure::new(lower[k as usize], upper[k as usize]).unwrap();
                assert!(overlap(entry, binomial_probability(k, n, &at)), "{n} {p} {k} {entry:?}");
                assert!(
                    entry.width() <= 1e-13 * entry.upper() || entry.upper() < 1e-300,
                    "{n} {p} {k} {entry:?}"
                );
                let tail = binomial_upper_tail(k, n, &at, &Uninterrupted).unwrap();
                assert!(overlap(tail, *sum), "{n} {p} {k} {tail:?} {sum:?}");
                assert!(
                    tail.width() <= 1e-12 * tail.upper() || tail.upper() < 1e-300,
                    "{n} {p} {k} {tail:?}"
                );
                let rest = Enclosure::point(1.0) - binomial_lower_tail(k, n, &at, &Uninterrupted).unwrap();
                let above = sums.get(k as usize + 1).copied().unwrap_or(Ball::ZERO);
                assert!(
                    rest.lower() <= above.to_enclosure().upper()
                        && above.to_enclosure().lower() <= rest.upper()
                );
            }
        }
    }

    #[test]
    fn the_two_ways_to_a_tail_agree() {
        for n in [10_000u64, 1_000_000, 100_000_000] {
            for p in ["1/2", "0.01", "0.9"] {
                let at = at(p);
                let law = Binomial::new(n, &at);
                let p = at.p.to_enclosure().upper();
                let sigma = (n as f64 * p * (1.0 - p)).sqrt();
                for z in [0.0, 0.5, 1.0, 3.0, 10.0] {
                    let k = law.mode() + (z * sigma) as u64 + 2;
                    let tail = binomial_upper_tail(k, n, &at, &Uninterrupted).unwrap();
                    let sum = recurrence::upper_tail(&law, k, &Uninterrupted).unwrap();
                    assert!(tail.lower() <= sum.upper() && sum.lower() <= tail.upper(), "{n} {p} {z}");
                    assert!(tail.width() <= 1e-12 * tail.lower(), "{n} {p} {z} {tail:?}");
                    assert!(sum.width() <= 3e-13 * sum.lower(), "{n} {p} {z} {sum:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_too_large_is_refused() {
        assert!(binomial_pmf_row(u64::MAX, &at("1/2"), &Uninterrupted).is_err());
        assert!(binomial_pmf_row(1 << 27, &at("1/2"), &Uninterrupted).is_err());
        assert!(binomial_upper_tail(1, (1 << 53) + 1, &at("1/2"), &Uninterrupted).is_err());
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
