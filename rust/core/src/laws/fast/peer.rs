//! The errors that the fast tier states, against the digits tier; and what it refuses.

use super::count::{AtOne, Count};
use super::{Law, Scaled, Weight};
use crate::curve::CountFamily;
use crate::digits::{self, Dyadic};
use crate::forms::Direction;
use crate::interrupt::Uninterrupted;
use crate::laws::Probability;
use crate::numbers::ball::Ball;
use crate::numbers::double_double::DoubleDouble;
use crate::numbers::rational::Rational;
use statpriv_simd::{Backend, Kernel};

pub(super) fn number(text: &str) -> Rational {
    Rational::parse(text).unwrap()
}

pub(super) fn double(x: f64) -> Rational {
    Rational::from_f64(x).unwrap()
}

pub(super) fn law(p: &Rational) -> Law {
    Probability::new(p).unwrap().doubles.unwrap()
}

fn middle(enclosure: &digits::DigitsEnclosure) -> Rational {
    enclosure.midpoint().as_ref().and_then(Dyadic::to_rational).unwrap()
}

/// `P[Bin(n, p) ≥ k]` to fifty digits.
fn tail(n: u64, p: &Rational, k: u64) -> Rational {
    middle(&digits::binomial_upper_tail(k, n, p, 50, &Uninterrupted).unwrap())
}

/// `P[Bin(n, p) = k]` to fifty digits.
pub(super) fn point(n: u64, p: &Rational, k: u64) -> Rational {
    middle(&digits::binomial_pmf(k, n, p, 50, &Uninterrupted).unwrap())
}

/// `Σ_{i≥0} weight · b(first + i)` to thirty digits: a stop-loss is `np P[Bin(n−1, p) ≥ a−1] − κ P[Bin(n, p) ≥ a]`.
pub(super) fn truth(n: u64, p: &Rational, first: u64, weight: Weight) -> Rational {
    let upper = tail(n, p, first);
    match weight {
        Weight::One => upper,
        Weight::Excess { phi, .. } => {
            let kappa = Rational::from(first).sub(&double(phi));
            let mean = Rational::from(n).mul(p);
            mean.mul(&tail(n - 1, p, first - 1)).sub(&kappa.mul(&upper))
        }
    }
}

/// The relative distance of a value from the truth, which its error must bound.
pub(super) fn relative_distance(value: Scaled, truth: &Rational) -> f64 {
    let power =
        Rational::new(1.into(), dashu_int::UBig::ONE << value.exponent.unsigned_abs() as usize).unwrap();
    let power = if value.exponent < 0 { power } else { Rational::from(1i64).div(&power).unwrap() };
    let gap = double(value.mantissa).mul(&power).div(truth).unwrap().sub(&Rational::from(1i64)).abs();
    Ball::from_rational(&gap).to_enclosure().upper()
}

/// What every backend gives, one by one.
pub(super) fn on_every_backend<K: Kernel>(kernel: impl Fn() -> K) -> impl Iterator<Item = K::Output> {
    Backend::available().into_iter().map(move |backend| backend.run(kernel()))
}

/// `Δ_{1,0}` from the fast tier, in units of the truth: how far away, and the error it states.
fn delta_error(n: u64, p: &Rational, epsilon: DoubleDouble) -> Vec<(f64, f64)> {
    let exact = double(epsilon.hi).add(&double(epsilon.lo));
    let curve = CountFamily::new(p, p, Some(Direction::OneAgainstZero)).unwrap().of_size(n).unwrap();
    let truth = middle(&crate::curve::digits::delta(&curve, &exact, 40, &Uninterrupted).unwrap());
    let count = Count { trials: n as f64, law: law(p) };
    on_every_backend(|| AtOne(count, epsilon))
        .map(|value| {
            let value = value.unwrap();
            let unit = value.in_units_of.map_or(Rational::from(1i64), |first| point(n, p, first as u64));
            (relative_distance(value.scaled, &truth.div(&unit).unwrap()), value.scaled.error)
        })
        .collect()
}

#[test]
fn a_privacy_curve_is_within_the_error_it_states() {
    for (n, p) in [
        (65, "1/2"),
        (1000, "1/3"),
        (3000, "99/100"),
        (100_000, "1/1000"),
        (100_000, "0.7"),
        (10_000_000, "1/2"),
        (1 << 53, "2/7"),
        (1 << 53, "1e-13"),
        (1 << 40, "0.999999999"),
    ] {
        let p = number(p);
        let Law { p: hit, q: miss } = law(&p);
        let unit = 1.0 / (n as f64 * hit.hi * miss.hi).sqrt();
        for step in [1e-6, 0.01, 0.24, 0.49, 0.51, 1.3, 1.7, 6.0, 7.99, 8.01, 11.0, 20.4, 33.0] {
            let epsilon = step * unit;
            if epsilon > 3.0 {
                continue;
            }
            let worst = if step < 1.0 { 4.5e-14 } else { 3e-14 };
            for (distance, error) in delta_error(n, &p, DoubleDouble::from_f64(epsilon)) {
                let what = format!("n={n} p={p:?} {step}/σ: off by {distance:e}, stated {error:e}");
                assert!(distance <= error, "{what}");
                assert!(error <= worst, "{what}");
                // The bound counts every rounding at its worst; what they add up to is far less.
                assert!(distance <= 2e-15, "{what}");
            }
        }
    }
}

/// `ln(1 + 1/m)` to twice the precision of a double.
fn logarithm(m: u64) -> DoubleDouble {
    let x = Rational::from(m + 1).div(&Rational::from(m)).unwrap();
    Ball::from_rational(&x).ln().to_double_double().unwrap()
}

/// With `p = 1/2` and `e^ε = 1 + 1/m` the threshold of `N (2m+1)` entries is the integer `N (m+1)`; with `p = 1/3` that of `N (3m+1)` is `N (m+1)`.
#[test]
fn a_threshold_next_to_an_integer_is_within_the_error_it_states() {
    for (p, parts, m, copies) in [
        ("1/2", 2, 1, 200),
        ("1/2", 2, 3, 1000),
        ("1/2", 2, 100, 400),
        ("1/3", 3, 1, 200),
        ("1/3", 3, 100, 400),
        ("1/2", 2, 1_000_000, 1000),
        ("1/3", 3, 1_000_000, 1_000_000_000),
    ] {
        let n = copies * (parts * m + 1);
        for nudge in [0.0, 1e-31, -1e-31, 1e-24, -1e-24, 1e-20, -1e-20] {
            let epsilon = logarithm(m).add(DoubleDouble::from_f64(nudge));
            for (distance, error) in delta_error(n, &number(p), epsilon) {
                let what = format!("n={n} p={p} m={m} {nudge:e}: off by {distance:e}, stated {error:e}");
                assert!(distance <= error && error < 5e-14 && distance < 2e-15, "{what}");
            }
        }
    }
}

#[test]
fn many_epsilons_are_worth_what_each_is_alone() {
    for (n, p) in [(50, "1/2"), (2000, "1/3"), (100_000, "0.9"), (1 << 50, "1/2")] {
        let at = Probability::new(&number(p)).unwrap();
        let unit = 1.0 / (n as f64).sqrt();
        let epsilons: Vec<f64> =
            (0..40).map(|k| f64::from(k * k) * unit / 30.0).chain([800.0, 0.2 * unit]).collect();
        let together = super::deltas(n, &at, law(&number(p)), &epsilons);
        assert_eq!(together.len(), epsilons.len());
        for (&epsilon, many) in epsilons.iter().zip(together) {
            let alone = super::delta(n, &at, law(&number(p)), DoubleDouble::from_f64(epsilon));
            let shown = |x: Option<Ball>| x.map(Ball::to_enclosure);
            assert_eq!(shown(many), shown(alone), "n={n} p={p} ε={epsilon}");
        }
    }
}

#[test]
fn tails_and_stop_losses_contain_the_truth_narrowly() {
    for (n, p) in
        [(80, "1/2"), (1000, "1/3"), (1700, "1/2"), (20_000, "1/10"), (20_000, "0.9"), (1 << 45, "1/7")]
    {
        let (p, at) = (number(p), Probability::new(&number(p)).unwrap());
        let Law { p: hit, q: miss } = law(&p);
        let (mean, deviation) = (n as f64 * hit.hi, (n as f64 * hit.hi * miss.hi).sqrt());
        for x in [0.0, 0.3, 1.0, 3.0, 8.0, 20.0] {
            let first = (mean + x * deviation).ceil() as u64;
            for weight in [
                Weight::One,
                Weight::Excess { phi: 0.0, error: 0.0 },
                Weight::Excess { phi: 0.6, error: 0.0 },
            ] {
                if first >= n {
                    continue;
                }
                let ball = super::sum(n, &at, first, weight).unwrap();
                let gap = ball - Ball::from_rational(&truth(n, &p, first, weight));
                let what = format!("n={n} p={p:?} {x}σ {weight:?}: {ball:?}");
                assert!(
                    !gap.is_positive() && !(-gap).is_positive() && ball.relative_error() < 6e-14,
                    "{what}"
                );
                let vague = |error| super::sum(n, &at, first, Weight::Excess { phi: 0.6, error });
                assert!(vague(1e-13).is_some() && vague(1e-2).is_none(), "{what}");
            }
        }
    }
}

/// Where the sum is left for the contour, the contour applies: its variance is that at the threshold, tilt included.
#[test]
fn no_threshold_falls_between_the_two_ways() {
    for p in ["1/2", "0.1", "0.9"] {
        let at = Probability::new(&number(p)).unwrap();
        let Law { p: hit, q: miss } = law(&number(p));
        for variance in 380..460 {
            let n = (f64::from(variance) / (hit.hi * miss.hi)).round();
            let mean = (n * hit.hi).ceil();
            for first in [mean, mean + 7.0, mean + 30.0, (mean + 100.0).min(n)] {
                let found = super::sum(n as u64, &at, first as u64, Weight::Excess { phi: 0.5, error: 0.0 });
                assert!(found.is_some(), "n={n} p={p} from {first}");
            }
        }
    }
}

#[test]
fn a_law_is_taken_if_it_is_known_well_enough() {
    let power = |exponent: i32| Ball::from_f64(2f64.powi(exponent)).unwrap();
    assert!(Law::new(power(-299), Ball::ONE).is_some() && Law::new(Ball::ONE, power(-299)).is_some());
    assert!(Law::new(power(-301), Ball::ONE).is_none() && Law::new(Ball::ONE, power(-301)).is_none());
    let uncertain = |exponent| power(-1).plus_at_most(power(exponent));
    assert!(Law::new(uncertain(-100), power(-1)).is_some() && Law::new(power(-1), uncertain(-100)).is_some());
    assert!(Law::new(uncertain(-98), power(-1)).is_none() && Law::new(power(-1), uncertain(-98)).is_none());
    let given = law(&number("1/5"));
    assert_eq!((given.mirrored().p, given.mirrored().q), (given.q, given.p));
}

#[test]
fn what_is_not_for_this_tier_is_refused() {
    let delta = |n, p: &str, epsilon| {
        let at = Probability::new(&number(p)).unwrap();
        super::delta(n, &at, at.doubles.unwrap(), DoubleDouble::from_f64(epsilon))
    };
    assert!(delta(100, "1/2", 700.5).is_none() && delta(100, "1/2", -0.5).is_none());
    // Only the answer n counts from e^ε = (n−1) q/p on.
    assert!(delta(100, "1/2", 99f64.ln() + 0.01).is_none() && delta(100, "1/2", 99f64.ln() - 0.01).is_some());
    assert!(delta(1000, "1e-80", 180.0).is_some());
}
