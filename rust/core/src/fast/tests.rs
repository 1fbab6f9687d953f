//! The fast tier against the digits tier, which shares no computation with it.

use super::count::Count;
use super::{Law, Scaled, Weight};
use crate::curve::CountFamily;
use crate::digits::{self, Dyadic};
use crate::double_double::DoubleDouble;
use crate::interrupt::Uninterrupted;
use crate::laws::Probability;
use crate::pair::Direction;
use crate::rational::Rational;
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
    let power = Rational::new(1.into(), dashu_int::UBig::ONE << value.exponent.unsigned_abs() as usize).unwrap();
    let power = if value.exponent < 0 { power } else { Rational::from(1i64).div(&power).unwrap() };
    let gap = double(value.mantissa).mul(&power).div(truth).unwrap().sub(&Rational::from(1i64)).abs();
    crate::ball::Ball::from_rational(&gap).to_enclosure().upper()
}

/// What every backend gives, one by one.
pub(super) fn on_every_backend<K: Kernel + Copy>(kernel: K) -> impl Iterator<Item = K::Output> {
    Backend::available().into_iter().map(move |backend| backend.run(kernel))
}

/// `Δ_{1,0}` from the fast tier, in units of the truth: how far away, and the error it states.
fn delta_error(n: u64, p: &Rational, epsilon: DoubleDouble) -> Vec<(f64, f64)> {
    let exact = double(epsilon.hi).add(&double(epsilon.lo));
    let curve = CountFamily::new(p, p, Some(Direction::OneAgainstZero)).unwrap().of_size(n).unwrap();
    let truth = middle(&digits::delta(&curve, &exact, 40, &Uninterrupted).unwrap());
    on_every_backend(Count { trials: n as f64, law: law(p), epsilon })
        .map(|value| {
            let value = value.unwrap();
            let unit = value.in_units_of.map_or(Rational::from(1i64), |first| point(n, p, first as u64));
            (relative_distance(value.scaled, &truth.div(&unit).unwrap()), value.scaled.error)
        })
        .collect()
}

#[test]
fn a_privacy_curve_is_within_the_error_it_states() {
    for (n, p, least) in [
        (65, "1/2", 0.0),
        (1000, "1/3", 0.0),
        (3000, "99/100", 0.0),
        (100_000, "1/1000", 0.0),
        (100_000, "0.7", 0.0),
        (10_000_000, "1/2", 0.0),
        (1 << 53, "2/7", 0.0),
        (1 << 53, "1e-13", 0.0),
        (1 << 40, "0.999999999", 0.0),
    ] {
        let p_exact = number(p);
        let q = Rational::from(1i64).sub(&p_exact);
        let (p_double, q_double) = (law(&p_exact).p.hi, crate::ball::Ball::from_rational(&q).to_enclosure().upper());
        let unit = 1.0 / (n as f64 * p_double * q_double).sqrt();
        for step in [1e-6, 0.01, 0.49, 0.51, 1.7, 6.0, 7.99, 8.01, 11.0, 20.0, 33.0] {
            let epsilon = DoubleDouble::from_f64((step * unit).max(least));
            if epsilon.hi > 3.0 {
                continue;
            }
            for (distance, error) in delta_error(n, &p_exact, epsilon) {
                assert!(distance <= error, "n={n} p={p} {step}/σ: off by {distance:e}, stated {error:e}");
                eprintln!("n={n} p={p} {step}/σ: off by {distance:e}, stated {error:e}");
            }
        }
    }
}

/// `ln x` to twice the precision of a double: at `n = m (q + px)` the threshold κ is all but the integer `mpx`.
fn logarithm(x: i64) -> DoubleDouble {
    crate::ball::Ball::from_rational(&Rational::from(x)).ln().to_double_double().unwrap()
}

#[test]
fn a_threshold_next_to_an_integer_is_within_the_error_it_states() {
    // κ = mpx is below n/2 in the first three cases and above it in the others.
    for (n, p, x) in [
        (700, "1/6", 2),
        (2400, "1/10", 3),
        (44_000_000, "1/10", 2),
        (400, "1/2", 3),
        (40_000, "2/3", 2),
        (5 << 40, "3/4", 5),
    ] {
        for (nudge_hi, nudge_lo) in [(0.0, 0.0), (0.0, 1e-31), (0.0, -1e-31), (0.0, 1e-22), (0.0, -1e-22)] {
            let at = logarithm(x);
            let epsilon = at.add(DoubleDouble { hi: nudge_hi + nudge_lo, lo: 0.0 });
            for (distance, error) in delta_error(n, &number(p), epsilon) {
                assert!(distance <= error && error < 1e-13, "n={n} p={p} ln {x} + {nudge_lo:e}: off by {distance:e}, stated {error:e}");
            }
        }
    }
}
