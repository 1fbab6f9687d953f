//! The hypergeometric law: `draws` entries from `population` entries, `marked` of them marked.

use super::fast;
use super::log_pmf;
use super::recurrence::{self, LogConcave};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::enclosure::Enclosure;
use crate::numbers::scaled::Scaled;
use crate::numbers::special::stirling_remainder;

/// A hypergeometric law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hypergeometric {
    population: u64,
    marked: u64,
    draws: u64,
}

impl Hypergeometric {
    /// The law of the number of marked ones among `draws` from `population`, `marked` of them marked.
    ///
    /// # Errors
    /// `marked` or `draws` above `population`, or a population above 2^53.
    pub fn new(population: u64, marked: u64, draws: u64) -> Result<Self, Error> {
        if population > 1 << 53 {
            return Err(Error::argument(format!("population = {population} is above 2^53")));
        }
        for (name, value) in [("marked", marked), ("draws", draws)] {
            if value > population {
                return Err(Error::argument(format!(
                    "{name} = {value} is above population = {population}; 0 ≤ {name} ≤ population is required"
                )));
            }
        }
        Ok(Self { population, marked, draws })
    }

    /// Least possible value.
    #[must_use]
    pub fn least(&self) -> u64 {
        (self.marked + self.draws).saturating_sub(self.population)
    }

    /// Greatest possible value.
    #[must_use]
    pub fn greatest(&self) -> u64 {
        self.marked.min(self.draws)
    }

    /// A most probable value.
    #[must_use]
    pub fn mode(&self) -> u64 {
        let top = u128::from(self.draws + 1) * u128::from(self.marked + 1);
        let mode = u64::try_from(top / u128::from(self.population + 2)).unwrap_or(u64::MAX);
        mode.clamp(self.least(), self.greatest())
    }

    /// Standard deviation, rounded: for deciding how much work to do, not for bounds.
    #[must_use]
    pub fn standard_deviation(&self) -> f64 {
        let (n, k, s) = (self.population as f64, self.marked as f64, self.draws as f64);
        (s * (k / n) * (1.0 - k / n) * (n - s) / (n - 1.0).max(1.0)).max(0.0).sqrt()
    }

    /// `ln P[X = k]`, within a few ulp; `[−∞, −∞]` outside the support.
    #[must_use]
    pub fn log_pmf(&self, k: u64) -> Enclosure {
        match self.table(k) {
            None => Enclosure::point(f64::NEG_INFINITY),
            Some(_) if self.least() == self.greatest() => Enclosure::point(0.0),
            Some(table) => log_pmf::hypergeometric(table).to_enclosure(),
        }
    }

    /// `P[X = k]`, within a few ulp down to the subnormal numbers.
    #[must_use]
    pub fn pmf(&self, k: u64) -> Enclosure {
        match self.table(k) {
            None => Enclosure::point(0.0),
            Some(_) if self.least() == self.greatest() => Enclosure::point(1.0),
            Some(table) => {
                let fast = log_pmf::hypergeometric(table).exp();
                fast.unwrap_or_else(|| self.probability(k).to_enclosure().clamp(0.0, 1.0))
            }
        }
    }

    /// Marked and unmarked ones among the drawn, `a` and `c`, and among the others, `b` and `d`; nothing outside the support.
    fn table(&self, k: u64) -> Option<[u64; 4]> {
        let (marked_left, unmarked) = (self.marked.checked_sub(k)?, self.draws.checked_sub(k)?);
        let unmarked_left = (self.population - self.marked).checked_sub(unmarked)?;
        Some([k, marked_left, unmarked, unmarked_left])
    }

    /// `P[X = k]` as a ball; zero outside the support.
    #[must_use]
    pub fn probability(&self, k: u64) -> Ball {
        self.log_probability(k).map_or(Ball::ZERO, Ball::exp)
    }

    /// `ln P[X = k]`, from factorials by Stirling's formula; nothing outside the support, where it is −∞.
    #[must_use]
    pub fn log_probability(&self, k: u64) -> Option<Ball> {
        if k < self.least() || k > self.greatest() {
            return None;
        }
        let chosen = ln_choose(self.marked, k) + ln_choose(self.population - self.marked, self.draws - k);
        Some(chosen - ln_choose(self.population, self.draws))
    }

    /// Number of items drawn from.
    #[must_use]
    pub fn population(&self) -> u64 {
        self.population
    }

    /// Number of marked items.
    #[must_use]
    pub fn marked(&self) -> u64 {
        self.marked
    }

    /// Number of items drawn.
    #[must_use]
    pub fn draws(&self) -> u64 {
        self.draws
    }

    /// `P[X = k+1] / P[X = k]`, exactly rational, for `k` in the support.
    #[must_use]
    pub fn ratio_up(&self, k: u64) -> Ball {
        let top = Ball::from_u64(self.marked - k) * Ball::from_u64(self.draws - k);
        let unmarked_left = self.population - self.marked + k + 1 - self.draws;
        top / (Ball::from_u64(k + 1) * Ball::from_u64(unmarked_left))
    }

    /// The same law counted from the other side: unmarked ones drawn.
    pub(crate) fn mirrored(&self) -> Self {
        Self { marked: self.population - self.marked, ..*self }
    }
}

/// `P[X ≥ k]`, with a relative width below `10^-12` while it is a normal double.
///
/// # Errors
/// [`Error::Interrupted`].
pub fn hypergeometric_upper_tail(
    k: u64,
    law: &Hypergeometric,
    interrupt: &dyn Interrupt,
) -> Result<Enclosure, Error> {
    if k <= law.least() {
        return Ok(Enclosure::point(1.0));
    }
    if k > law.greatest() {
        return Ok(Enclosure::point(0.0));
    }
    if k == law.greatest() {
        return Ok(law.pmf(k));
    }
    if k > law.mode() {
        return tail_above_mode(k, law, interrupt);
    }
    // P[X ≥ k] = 1 − P[X ≤ k−1], and X ≤ k−1 means at least draws−k+1 unmarked ones.
    let complement = tail_above_mode(law.draws - k + 1, &law.mirrored(), interrupt)?;
    Ok((Enclosure::point(1.0) - complement).clamp(0.0, 1.0))
}

/// `P[X ≥ k]` for `k` in the support, above the mode: at a cost that does not grow with the population, or as a sum where doubles do not reach.
fn tail_above_mode(k: u64, law: &Hypergeometric, interrupt: &dyn Interrupt) -> Result<Enclosure, Error> {
    let fast = law
        .table(k)
        .and_then(|table| fast::hypergeometric_tail(table).zip(log_pmf::hypergeometric(table).scaled()));
    match fast {
        Some((tail, first)) => Ok((Ball::from(tail) * Ball::from(first)).to_enclosure().clamp(0.0, 1.0)),
        None => recurrence::upper_tail(law, k, interrupt),
    }
}

/// `P[X ≤ k]`, likewise: at least `draws − k` unmarked ones.
///
/// # Errors
/// [`Error::Interrupted`].
pub fn hypergeometric_lower_tail(
    k: u64,
    law: &Hypergeometric,
    interrupt: &dyn Interrupt,
) -> Result<Enclosure, Error> {
    hypergeometric_upper_tail(law.draws.saturating_sub(k), &law.mirrored(), interrupt)
}

/// Lower and upper bounds of `P[X = k]` for `k = least..=greatest`, with a relative width below `10^-13` while normal.
///
/// # Errors
/// More than 2^26 values, and [`Error::Interrupted`].
pub fn hypergeometric_pmf_row(
    law: &Hypergeometric,
    interrupt: &dyn Interrupt,
) -> Result<(Vec<f64>, Vec<f64>), Error> {
    recurrence::row(law, interrupt)
}

impl LogConcave for Hypergeometric {
    fn least(&self) -> u64 {
        self.least()
    }

    fn greatest(&self) -> u64 {
        self.greatest()
    }

    fn mode(&self) -> u64 {
        self.mode()
    }

    fn probability(&self, k: u64) -> Enclosure {
        self.pmf(k)
    }

    fn anchor(&self, k: u64) -> Option<Scaled> {
        if self.least() == self.greatest() {
            return None;
        }
        log_pmf::hypergeometric(self.table(k)?).scaled()
    }

    fn ratio(&self, k: f64) -> (f64, f64) {
        let [population, marked, draws] = [self.population, self.marked, self.draws].map(|x| x as f64);
        ((marked - k) * (draws - k), (k + 1.0) * ((population - marked - draws) + (k + 1.0)))
    }
}

/// `ln C(n, k)` by Stirling's formula.
fn ln_choose(n: u64, k: u64) -> Ball {
    if k == 0 || k == n {
        return Ball::ZERO;
    }
    let (all, some, others) = (Ball::from_u64(n), Ball::from_u64(k), Ball::from_u64(n - k));
    let remainders = stirling_remainder(n) - stirling_remainder(k) - stirling_remainder(n - k);
    let spread = all.ln() - Ball::ln_2_pi() - some.ln() - others.ln();
    remainders + spread / Ball::from_u64(2) - some * (some / all).ln() - others * (others / all).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Uninterrupted;
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;

    /// Laws of every size, and a value: anywhere, next to an end, next to the mean.
    fn law() -> impl Strategy<Value = (Hypergeometric, u64)> {
        let size = (2u64..=1 << 53, 0u32..52).prop_map(|(n, shift)| (n >> shift).max(2));
        (size, any::<u64>(), 0u32..53, any::<u64>(), 0u32..53, any::<u64>(), -40.0..40.0f64, 0u32..5)
            .prop_map(|(population, marked, few, draws, fewer, any, z, kind)| {
                let law = Hypergeometric::new(
                    population,
                    (marked >> few) % (population + 1),
                    (draws >> fewer) % (population + 1),
                );
                let law = law.unwrap();
                let span = law.greatest() - law.least();
                let near = law.mode() as f64 + z * law.standard_deviation();
                let k = match kind {
                    0 => law.least() + any % (span + 1),
                    1 => law.least() + any % 2,
                    2 => law.greatest().saturating_sub(any % 2),
                    _ => near.max(0.0) as u64,
                };
                (law, k.clamp(law.least(), law.greatest()))
            })
    }

    /// In units of the last place of the larger end.
    fn ulps(enclosure: Enclosure) -> f64 {
        let end = enclosure.upper().abs().max(enclosure.lower().abs());
        enclosure.width() / (end.next_up() - end)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(10_000, 100_000)))]

        #[test]
        fn logarithms_and_probabilities_are_enclosed_within_a_few_ulp((law, k) in law()) {
            let overlap = |enclosure: Enclosure, ball: Ball| {
                let truth = ball.to_enclosure();
                enclosure.lower() <= truth.upper() && truth.lower() <= enclosure.upper()
            };
            let (log, probability) = (law.log_pmf(k), law.pmf(k));
            prop_assert!(overlap(log, law.log_probability(k).unwrap()), "{log:?}");
            prop_assert!(ulps(log) <= 8.0, "{log:?} {}", ulps(log));
            prop_assert!(overlap(probability, law.probability(k)), "{probability:?}");
            prop_assert!(ulps(probability) <= 6.0, "{probability:?} {}", ulps(probability));
        }
    }

    #[test]
    fn probabilities_of_a_small_population_are_the_counted_fractions() {
        let choose = |n: u64, k: u64| {
            let product =
                |from: u64, to: u64| (from..=to).fold(Rational::from(1i64), |x, i| x.mul(&Rational::from(i)));
            product(n - k + 1, n).div(&product(1, k)).unwrap()
        };
        for (population, marked, draws) in
            (2..14).flat_map(|n| (0..=n).flat_map(move |k| (0..=n).map(move |s| (n, k, s))))
        {
            let law = Hypergeometric::new(population, marked, draws).unwrap();
            for k in law.least()..=law.greatest() {
                let top = choose(marked, k).mul(&choose(population - marked, draws - k));
                let truth = top.div(&choose(population, draws)).unwrap();
                assert!(law.pmf(k).contains(&truth), "{law:?} {k}");
            }
        }
    }

    /// One marked in the population, one drawn: `ln(1 − 1/N) = −1/N − 1/2N² − …`.
    #[test]
    fn probabilities_next_to_one_keep_relative_accuracy() {
        for population in [1u64 << 53, (1 << 53) - 1, 1 << 40, 1_000_003, 12_345] {
            let log = Hypergeometric::new(population, 1, 1).unwrap().log_pmf(0);
            let truth = -(Ball::ONE / (Ball::from_u64(population) - Ball::ONE));
            // −1/(N−1) < ln(1 − 1/N) < −1/(N − ½).
            let gap = truth.to_enclosure();
            assert!(log.upper() >= gap.lower() && ulps(log) <= 8.0, "{population}: {log:?}");
            let above = -(Ball::ONE / (Ball::from_u64(population) - Ball::ONE / Ball::from_u64(2)));
            assert!(log.lower() <= above.to_enclosure().upper());
        }
    }

    #[test]
    fn small_laws_are_the_counted_fractions() {
        let law = Hypergeometric::new(10, 4, 3).unwrap();
        for (k, fraction) in [(0, "20/120"), (1, "60/120"), (2, "36/120"), (3, "4/120")] {
            let value = law.probability(k).to_enclosure();
            assert!(value.contains(&Rational::parse(fraction).unwrap()), "{k}: {value:?}");
        }
        for (k, fraction) in [(0, "1"), (1, "100/120"), (2, "40/120"), (3, "4/120"), (4, "0")] {
            let tail = hypergeometric_upper_tail(k, &law, &Uninterrupted).unwrap();
            assert!(tail.contains(&Rational::parse(fraction).unwrap()), "{k}: {tail:?}");
            assert!(tail.width() < 1e-14);
        }
    }

    #[test]
    fn the_support_ends_where_it_must() {
        let law = Hypergeometric::new(10, 8, 7).unwrap();
        assert_eq!((law.least(), law.greatest()), (5, 7));
        assert!(Hypergeometric::new(10, 11, 2).is_err() && Hypergeometric::new(10, 2, 11).is_err());
    }

    #[test]
    fn tails_and_probabilities_agree() {
        let law = Hypergeometric::new(1000, 300, 120).unwrap();
        for k in law.least()..=law.greatest() {
            let direct = (k..=law.greatest()).fold(Ball::ZERO, |sum, i| sum + law.probability(i));
            let (truth, tail) =
                (direct.to_enclosure(), hypergeometric_upper_tail(k, &law, &Uninterrupted).unwrap());
            assert!(tail.lower() <= truth.upper() && truth.lower() <= tail.upper(), "{k}");
            assert!(tail.width() <= 1e-12 * tail.lower(), "{k} {tail:?}");
        }
    }

    /// `C(15, k) C(25, 12 − k) / C(40, 12)`, one value after the other.
    #[test]
    fn a_row_holds_the_probability_of_each_value() {
        let choose = |n: u64, k: u64| (1..=k).fold(1, |ways, i| ways * (n + 1 - i) / i);
        let law = Hypergeometric::new(40, 15, 12).unwrap();
        let (lower, upper) = hypergeometric_pmf_row(&law, &Uninterrupted).unwrap();
        assert_eq!((lower.len(), upper.len()), (13, 13));
        for (k, (lower, upper)) in (0..).zip(lower.into_iter().zip(upper)) {
            let ways = choose(15, k) * choose(25, 12 - k);
            let truth = Rational::parse(&format!("{ways}/{}", choose(40, 12))).unwrap();
            assert!(
                Enclosure::ordered(lower, upper).contains(&truth) && upper - lower < 1e-13 * upper,
                "{k}"
            );
        }
    }

    #[test]
    fn the_two_ways_to_a_tail_agree() {
        let populations = [10_000u64, 1_000_000, 100_000_000, 1 << 40, 1 << 50];
        for population in populations.into_iter().take(crate::cases::cases(4, 5) as usize) {
            for (marked, draws) in [(population / 2, population / 2), (population / 100, population / 3)] {
                let law = Hypergeometric::new(population, marked, draws).unwrap();
                for z in [0.0, 0.5, 1.0, 3.0, 10.0] {
                    let k = law.mode() + 1 + (z * law.standard_deviation()) as u64;
                    let tail = hypergeometric_upper_tail(k, &law, &Uninterrupted).unwrap();
                    let sum = recurrence::upper_tail(&law, k, &Uninterrupted).unwrap();
                    assert!(tail.lower() <= sum.upper() && sum.lower() <= tail.upper(), "{law:?} {k}");
                    assert!(tail.width() <= 1.1e-13 * tail.lower(), "{law:?} {k} {tail:?}");
                    assert!(sum.width() <= 3e-13 * sum.lower(), "{law:?} {k} {sum:?}");
                }
            }
        }
    }
}
