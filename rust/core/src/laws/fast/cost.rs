//! What an evaluation costs, counted: nothing grows with the number of trials.
//!
//! Every computation of this tier can be run with an arithmetic that counts multiplications with an addition. A term of the sum takes two of
//! them, every evaluation of the contour the same number.

use super::contour::EVALUATIONS;
use super::count::{AtOne, Count, Value};
use super::hypergeometric::Tail;
use super::positive_sum::{Binomial, Ratios};
use super::{Law, Sum, Weight};
use crate::numbers::ball::Ball;
use crate::numbers::double_double::DoubleDouble;
use crate::numbers::special;
use proptest::prelude::*;
use statpriv_simd::{Arithmetic, Kernel, Portable};
use std::cell::Cell;

const TRIALS: [u64; 8] =
    [1000, 1 << 15, 1_000_000, 1_000_000_000, 1_000_000_000_000, 1_000_000_000_000_000, 1 << 50, 1 << 53];
/// What the contour takes with all that comes before: some sixty an evaluation.
const MULTIPLICATIONS_OF_A_CONTOUR: u64 = 1070;
/// From here on δ, below `e^-10^6`, is left to other tiers where `n` times a logarithm is no longer known to 1e-13.
const FAR: f64 = 1e6;

thread_local! {
    static MULTIPLICATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The portable arithmetic, which counts.
#[derive(Clone, Copy)]
struct Counted;

impl Arithmetic for Counted {
    fn two_product(a: f64, b: f64) -> (f64, f64) {
        Portable::two_product(a, b)
    }

    fn multiply_add(a: f64, b: f64, c: f64) -> f64 {
        MULTIPLICATIONS.set(MULTIPLICATIONS.get() + 1);
        Portable::multiply_add(a, b, c)
    }
}

/// What the computation gives, and how many multiplications it takes.
fn counted<T>(computation: impl FnOnce() -> T) -> (T, u64) {
    let before = MULTIPLICATIONS.get();
    let result = computation();
    (result, MULTIPLICATIONS.get() - before)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cost {
    Terms(u64),
    /// Of a contour.
    Multiplications(u64),
}

impl Cost {
    /// `preparation` of the multiplications are not for terms.
    fn new(value: &Value, multiplications: u64, preparation: u64) -> Self {
        match value.in_units_of {
            Some(_) => Self::Terms((multiplications - preparation) / 2),
            None => Self::Multiplications(multiplications),
        }
    }

    fn is_bounded(self) -> bool {
        match self {
            Self::Terms(terms) => terms <= Binomial::MAX_TERMS as u64,
            Self::Multiplications(multiplications) => multiplications <= MULTIPLICATIONS_OF_A_CONTOUR,
        }
    }
}

/// Of one δ; nothing where this tier gives none.
fn of_delta(n: u64, law: Law, epsilon: f64) -> Option<Cost> {
    let epsilon = DoubleDouble::from_f64(epsilon);
    let (_, preparation) = counted(|| special::exp_and_expm1::<Counted>(epsilon));
    let (value, multiplications) =
        counted(|| AtOne(Count { trials: n as f64, law }, epsilon).run::<Counted>());
    Some(Cost::new(&value?, multiplications, preparation))
}

/// Of one tail; nothing where this tier gives none.
fn of_tail(n: u64, law: Law, first: f64) -> Option<Cost> {
    let sum = Sum { trials: n as f64, law, first, weight: Weight::One };
    let (value, multiplications) = counted(|| sum.run::<Counted>());
    Some(Cost::new(&value?, multiplications, 0))
}

/// For `p`, or for `1 − p`.
fn law(p: f64, mirrored: bool) -> Law {
    let p = Ball::from_f64(p).unwrap();
    let law = Law::new(p, Ball::ONE - p).unwrap();
    if mirrored { law.mirrored() } else { law }
}

fn deviation(n: u64, law: Law) -> f64 {
    (n as f64 * law.p.hi * law.q.hi).sqrt()
}

/// Numbers of trials, and laws of all variances: among them those where sum and contour meet.
fn trials_and_law() -> impl Strategy<Value = (u64, Law)> {
    let n = prop::sample::select(TRIALS.to_vec());
    let mean = prop_oneof![(200.0..900.0f64), (-20.0..53.0f64).prop_map(f64::exp2)];
    (n, mean, 0.0..1.0f64, any::<bool>(), any::<bool>()).prop_map(|(n, mean, share, small, mirrored)| {
        let p = if small { (mean / n as f64).min(0.5) } else { share.max(1e-16) };
        (n, law(p, mirrored))
    })
}

/// Of any size, in units of `1/σ` and beyond.
fn epsilon(n: u64, law: Law) -> impl Strategy<Value = f64> {
    let deviation = deviation(n, law);
    let in_units = (-12.0..6.0f64).prop_map(move |log| (log.exp2() / deviation).min(700.0));
    prop_oneof![3 => in_units, 1 => (-100.0..9.4f64).prop_map(f64::exp2)]
}

/// Whether the mean at the tilt ε, below `n − 1`, is so far from `np` that `δ ≤ e^{−2n(p'−p)²}` (Hoeffding) is below `e^-FAR`.
fn is_far_or_last(n: u64, law: Law, epsilon: f64) -> bool {
    let (n, p, q) = (n as f64, law.p.hi, law.q.hi);
    let total = q + p * epsilon.exp();
    n * q / total <= 1.0 || 2.0 * n * (p * q * epsilon.exp_m1() / total).powi(2) > FAR
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(2000, 20_000)))]

    #[test]
    fn a_delta_costs_at_most_a_short_sum_or_one_contour(
        (n, law, epsilon) in trials_and_law().prop_flat_map(|(n, law)| (Just(n), Just(law), epsilon(n, law)))
    ) {
        match of_delta(n, law, epsilon) {
            Some(cost) => prop_assert!(cost.is_bounded(), "{cost:?}"),
            None => prop_assert!(is_far_or_last(n, law, epsilon)),
        }
    }

    #[test]
    fn a_tail_costs_at_most_a_short_sum_or_one_contour((n, law) in trials_and_law(), distance in 0.0..38.0f64) {
        let mean = n as f64 * law.p.hi;
        let first = (mean + distance * deviation(n, law)).ceil().min(n as f64);
        let cost = of_tail(n, law, first);
        prop_assert!(cost.is_some_and(Cost::is_bounded), "{cost:?}");
    }
}

#[test]
fn the_longest_sum_is_met_next_to_the_mean_where_the_contour_begins() {
    for n in TRIALS.into_iter().skip(2) {
        let longest = of_delta(n, law(439.99 / n as f64, false), 1e-6);
        assert_eq!(longest, Some(Cost::Terms(Binomial::MAX_TERMS as u64)), "n = {n}");
    }
}

#[test]
fn a_contour_costs_the_same_at_every_number_of_trials() {
    for deviations in [0.1, 1.0, 10.0] {
        let cost = |n| of_delta(n, law(0.5, false), deviations / deviation(n, law(0.5, false)));
        for n in TRIALS.into_iter().skip(2) {
            assert!(matches!(cost(n), Some(Cost::Multiplications(_))));
            assert_eq!(cost(n), cost(1 << 15), "n = {n}");
        }
    }
    const { assert!(EVALUATIONS <= 21) };
}

/// Of the hypergeometric tail from `deviations` above the mean on, where half of a population of `4 · quarter` is marked and half is drawn.
fn of_hypergeometric_tail(quarter: u64, deviations: f64) -> u64 {
    let away = (deviations * (quarter as f64 / 4.0).sqrt()) as u64;
    let (more, fewer) = (quarter + away, quarter - away);
    let (value, multiplications) = counted(|| Tail([more, fewer, fewer, more]).run::<Counted>());
    assert!(value.is_some(), "{quarter} {deviations}");
    multiplications
}

/// The sum of 512 terms takes two of them a term, the integral as many at every size.
#[test]
fn a_hypergeometric_tail_costs_the_same_at_every_population() {
    for deviations in [0.1, 1.0, 10.0] {
        for quarter in TRIALS.map(|population| population / 4) {
            assert!(of_hypergeometric_tail(quarter, deviations) <= 2 * 512);
        }
        for quarter in [1_000_000, 1 << 30, 1 << 40, 1 << 51] {
            assert_eq!(of_hypergeometric_tail(quarter, deviations), 804, "{quarter} {deviations}");
        }
    }
}
