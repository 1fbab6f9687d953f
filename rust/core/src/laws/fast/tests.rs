//! The fast tier on every backend against the digits tier, with which it shares no computation.

use super::*;
use crate::curve::CountFamily;
use crate::digits::{self, DigitsEnclosure, Dyadic};
use crate::forms::Direction;
use crate::interrupt::Uninterrupted;
use crate::numbers::rational::Rational;

/// The width that is promised.
const PROMISED: f64 = 1e-12;

/// A sequence that looks random, the same everywhere (splitmix64).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * ((self.bits() >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// Between two positive numbers, every order of magnitude alike.
    fn of_any_size(&mut self, least: f64, most: f64) -> f64 {
        self.between(least.ln(), most.ln()).exp()
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.bits() as usize % choices.len()]
    }

    fn size(&mut self) -> u64 {
        match self.bits() % 4 {
            0 => self.pick(&[65, 66, 1599, 1600, 1601, 1760, (1 << 53) - 1, 1 << 53]),
            1 => self.of_any_size(65.0, 8000.0) as u64,
            _ => self.of_any_size(65.0, 9e15) as u64,
        }
    }

    /// Next to where the contour takes over, at the end of what the tier takes, next to one half, anywhere; and their complements.
    fn probability(&mut self, n: u64) -> Rational {
        let p = match self.bits() % 6 {
            0 => Rational::parse("1/2").unwrap(),
            1 => exact((self.between(380.0, 900.0) / n as f64).min(0.5)),
            2 => exact((self.of_any_size(0.1, 1e4) / n as f64).min(0.7)),
            3 => exact(self.pick(&[4.909_093_465_297_727e-91, 5e-91, 1e-80])),
            4 => exact(self.of_any_size(1e-90, 1.0)),
            _ => Rational::parse("0.50000000000000000000001").unwrap(),
        };
        if self.bits() & 1 == 0 { p } else { Rational::from(1i64).sub(&p) }
    }

    /// In units of `1/σ`, around the conditions of the contour, next to what makes κ an integer, at both ends.
    fn epsilon(&mut self, n: u64, law: Law) -> DoubleDouble {
        let (n, p, q) = (n as f64, law.p.hi, law.q.hi);
        let deviation = (n * p * q).sqrt();
        let hi = match self.bits() % 8 {
            0 => self.between(0.45, 0.65) / deviation,
            1 => self.between(7.5, 8.5) / deviation,
            2 | 3 => self.of_any_size(1e-3, 40.0) / deviation,
            4 => self.between(0.4999, 0.5001),
            5 => self.pick(&[1e-300, 1e-250, 1e-12, 0.001, 0.5, 699.999, 700.0]),
            6 => {
                let hits = (n * p + self.between(0.0, 20.0) * deviation).round().clamp(1.0, n - 1.0);
                (hits * q / ((n - hits) * p)).ln()
            }
            _ => self.of_any_size(1e-4, 700.0),
        };
        let hi = if hi > 0.0 { hi.min(700.0) } else { 0.1 };
        let lo = if self.bits() & 1 == 0 { 0.0 } else { hi * f64::EPSILON * self.between(-0.2, 0.2) };
        DoubleDouble { hi, lo: if hi < 1e-200 { 0.0 } else { lo } }
    }
}

fn exact(x: f64) -> Rational {
    Rational::from_f64(x).unwrap()
}

fn ball(truth: &DigitsEnclosure) -> Ball {
    let end = |end: &Dyadic| Ball::from_rational(&end.to_rational().unwrap());
    end(truth.lower()).hull(end(truth.upper()))
}

/// They have a number in common, and `found` is as narrow as is promised.
fn check(found: Ball, truth: Ball, what: &dyn Fn() -> String) {
    let gap = found - truth;
    assert!(!gap.is_positive() && !(-gap).is_positive(), "{truth:?} is outside {found:?}: {}", what());
    assert!(found.relative_error() < PROMISED, "{found:?}: {}", what());
}

#[test]
fn hockey_sticks_of_counts_contain_the_truth_on_every_backend() {
    let mut random = Random(1);
    let mut answered = 0;
    while answered < 4000 {
        let n = random.size();
        let p = random.probability(n);
        let at = Probability::new(&p).unwrap();
        let Some(law) = at.doubles else { continue };
        let epsilon = random.epsilon(n, law);
        let on = |backend| delta_on(backend, n, &at, law, epsilon).map(|value| (backend, value));
        let found: Vec<_> = Backend::available().into_iter().filter_map(on).collect();
        let vanishes = |value: &Ball| value.ln().to_enclosure().lower() < -5000.0;
        if found.is_empty() || found.iter().any(|(_, value)| vanishes(value)) {
            continue;
        }
        let curve = CountFamily::new(&p, &p, Some(Direction::OneAgainstZero)).unwrap().of_size(n).unwrap();
        let given = exact(epsilon.hi).add(&exact(epsilon.lo));
        let truth = ball(&crate::curve::digits::delta(&curve, &given, 24, &Uninterrupted).unwrap());
        for (backend, value) in found {
            check(value, truth, &|| format!("{backend:?}, n = {n}, p = {p:?}, ε = {epsilon:?}"));
            answered += 1;
        }
    }
}

#[test]
fn tails_contain_the_truth_on_every_backend() {
    let mut random = Random(2);
    let mut answered = 0;
    while answered < 4000 {
        let n = random.size();
        let p = random.probability(n);
        let at = Probability::new(&p).unwrap();
        let Some(law) = at.doubles else { continue };
        let (mean, deviation) = (n as f64 * law.p.hi, (n as f64 * law.p.hi * law.q.hi).sqrt());
        let first = (mean + random.of_any_size(1e-3, 40.0) * deviation.max(0.1)).ceil().min(n as f64) as u64;
        let truth = digits::binomial_upper_tail(first, n, &p, 24, &Uninterrupted).unwrap();
        for backend in Backend::available() {
            let Some(found) = sum_on(backend, n, &at, first, Weight::One) else { continue };
            check(found, ball(&truth), &|| format!("{backend:?}, n = {n}, p = {p:?}, k = {first}"));
            answered += 1;
        }
    }
}

#[test]
fn the_peaks_of_a_range_of_probabilities_are_taken_at_any_size() {
    let range = ["0.01", "0.99"].map(|end| Rational::parse(end).unwrap());
    let family = CountFamily::new(&range[0], &range[1], None).unwrap();
    for n in [1_000_000, 1_000_000_000_000_000, 1 << 53] {
        let curve = family.of_size(n).unwrap();
        for x in ["1/1000", "1", "7", "30"] {
            let deviations = Rational::parse(x).unwrap();
            let epsilon = deviations.mul(&exact((n as f64).sqrt().recip()));
            let found = curve.ball(&crate::forms::Epsilon::new(&epsilon), &Uninterrupted).unwrap();
            let truth = crate::curve::digits::delta(&curve, &epsilon, 24, &Uninterrupted).unwrap();
            check(found, ball(&truth), &|| format!("n = {n}, x = {x}"));
        }
    }
}
