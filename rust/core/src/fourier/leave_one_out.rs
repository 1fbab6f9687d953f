//! Sums of independent trials with one of them left out, for all of them together.
//!
//! `T = X − Y` is the sum `X` without one of its trials, `P[Y = 1] = p = 1 − q`. With `t ≥ 0` and `c > 0`, and `K` the cumulant
//! function of `X`, the module [above](super) gives
//!
//! ```text
//! f_a = P[T = a−1] − t P[T ≥ a] = e^{K(c) − ca}/D · (1/M) Σ_j Re h_j/(1 + x(e^{iθ_j} − 1)) − aliases
//! h_j = e^{K(w_j) − K(c) − iaθ_j} g(w_j),    g(w) = e^w − t/(1 − e^{−w}) = ((e^w − 1) − t)/(1 − e^{−w})
//! D = q + pe^c,    x = pe^c/D
//! ```
//!
//! as `T` has the transform `e^{K(w)}/(q + pe^w)` and `(q + pe^{c+iθ})/D = 1 + x(e^{iθ} − 1)`. With `e^{iθ} − 1 = u + iv` the size of that, squared, is
//! `1 + 2ux(1−x)`, because `u² + v² = −2u`: so
//!
//! ```text
//! Re h/(1 + x(e^{iθ} − 1)) = (Re h + x (u Re h + v Im h))/(1 + 2u x(1−x))
//! ```
//!
//! takes a few operations for each trial and point, and the number of points that matter does not hang on that of the trials.
//!
//! *Doubles first.* With `η = 2^-53`, and inputs of errors up to `2η`, a denominator, at least `d = 1 + u/2 = cos²(θ/2)`, errs by less than `16η`, and a
//! numerator by less than `8ηm` besides what its coefficients err by, `m` being the sum of their sizes. So a term errs by less than `64ηm/d²` if `d > 2^-40`,
//! and a sum of `N` of them by another `2Nη Σ m/d`. By twice these errors trials are told that cannot be the one; only the others are evaluated again.
//!
//! *What is left out of the sum.* `|e^{K(w) − K(c)}| ≤ e^{−2Σ C sin²(θ/2)}` is shown trial by trial. `Y` has `C = x(1−x) ≤ 1/4`: without it the bound
//! is larger by at most `e^{1/2} <` [`ONE_LESS`]. And `|g| ≤ e^c + t/(1 − e^{−c})`.
//!
//! *Aliases.* The bounds for `P[X ≥ k]` rest on `e^{K(s) − K(c) − k(s−c)}` for some `s ≥ 0`. The cumulant function of `T` rises by less than `K` from `c` to `s > c`;
//! from `c` down to `s` it falls by less, but by at most `c − s` less, since `(q + pe^c)/(q + pe^s) ≤ e^{c−s}`: what `k + 1` makes up for. Those for `P[T = k]`
//! are below those for `P[T ≥ k]`.

use super::{Contour, DISTANCE, Event, FARTHEST, LatticeSum, rounded};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::laws::Probability;
use crate::numbers::ball::Ball;
use crate::numbers::complex::Complex;
use std::ops::RangeInclusive;

/// Above `e^{1/2}`, as a quotient.
const ONE_LESS: (u64, u64) = (5, 3);
/// Trials between two polls of the interrupt.
const TRIALS_PER_CHECK: usize = 1024;
/// `2^-46`, twice `64η`.
const ROUGH: f64 = 1.0 / ((1u64 << 46) as f64);
/// A relative error that covers what a quotient of doubles and its denominator err by.
const QUOTIENT: f64 = 1.0 / ((1u64 << 49) as f64);
/// What is known where doubles say nothing.
const UNKNOWN: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
/// `2^-40`.
const MIN_DENOMINATOR: f64 = 1.0 / ((1u64 << 40) as f64);

impl LatticeSum<'_> {
    /// `f_a` for some integers `a` above the least value, for a sum of trials and the `t ≥ 0` with `1 + t` about `e^near`.
    ///
    /// # Errors
    /// As [`Self::probability`].
    pub(crate) fn leave_one_out(
        &self,
        thresholds: RangeInclusive<i64>,
        near: f64,
        t: Ball,
        interrupt: &dyn Interrupt,
    ) -> Result<LeaveOneOut, Error> {
        let nearest = DISTANCE / self.moments(0.0).1.sqrt().max(DISTANCE);
        let c = rounded(near.clamp(nearest, FARTHEST));
        let ends = (thresholds.start() - 1, thresholds.end() + 1);
        let (contour, aliases) = self.contour(ends, c, Event::AtLeast)?;
        let (nodes, rest) = contour.relevant(interrupt)?;
        let (count, growth) = (thresholds.clone().count(), contour.tilt.exp());
        let mut sums = Sums { contour: &contour, t, bends: Vec::new(), terms: vec![Vec::new(); count], rest };
        sums.add(0, *thresholds.start());
        for j in nodes {
            interrupt.check()?;
            sums.add(j, *thresholds.start());
        }
        let Sums { bends, terms, rest, .. } = sums;
        let points = Ball::from_u64(contour.points);
        let largest = growth + t / (Ball::ONE - Ball::ONE / growth);
        let less = Ball::from_u64(2 * ONE_LESS.0) / Ball::from_u64(ONE_LESS.1);
        let error = points * (growth + t) * aliases + less * largest * rest;
        // In the unit of the first.
        let fall = Ball::ONE / growth;
        let thresholds = (0..).zip(terms).map(|(steps, terms)| {
            let unit = fall.powi(steps);
            let terms = terms.into_iter().map(|(constant, slope)| (constant * unit, slope * unit));
            Threshold { terms: terms.collect(), error: error * unit }
        });
        let scale = contour.peak(ends.0 + 1) / points / growth;
        Ok(LeaveOneOut { growth, scale, bends, thresholds: thresholds.collect() })
    }
}

/// What the points of a contour contribute to each `f_a`.
struct Sums<'b, 'c, 'a> {
    contour: &'b Contour<'c, 'a>,
    t: Ball,
    bends: Vec<Ball>,
    terms: Vec<Vec<(Ball, Ball)>>,
    /// A bound of the sizes of `e^{K(w) − K(c)}` at all points that are left out on one side.
    rest: Ball,
}

impl Sums<'_, '_, '_> {
    /// The point `w_j`, with its conjugate.
    fn add(&mut self, j: u64, first: i64) {
        let w = self.contour.node(j);
        let transform = if j == 0 { Complex::real(Ball::ONE) } else { self.contour.value(j, first) };
        if !(transform.re + transform.im).to_enclosure().width().is_finite() {
            self.rest = self.rest.plus_at_most(self.contour.most(j, j));
            return;
        }
        let factor = (w.exp_minus_one() - Complex::real(self.t)) * (-(-w).exp_minus_one()).reciprocal();
        let twice = Ball::from_u64(if j == 0 { 1 } else { 2 });
        let angle = Complex { re: Ball::ZERO, im: w.im };
        let (step, back) = (angle.exp_minus_one(), (-angle).exp());
        self.bends.push(Ball::from_u64(2) * step.re);
        let mut h = (transform * factor).scale(twice);
        for terms in &mut self.terms {
            terms.push((h.re, step.re * h.re + step.im * h.im));
            h = h * back;
        }
    }
}

/// The values of `f_a` for any trial: see the module documentation.
#[derive(Clone, Debug)]
pub(crate) struct LeaveOneOut {
    /// `e^c`.
    growth: Ball,
    /// `e^{K(c) − ca}/(M e^c)`, for the first `a`.
    scale: Ball,
    /// `2u` of each point.
    bends: Vec<Ball>,
    thresholds: Vec<Threshold>,
}

/// One `a`.
#[derive(Clone, Debug)]
struct Threshold {
    /// `Re h` and `u Re h + v Im h` of each point.
    terms: Vec<(Ball, Ball)>,
    /// A bound of what the sum lacks.
    error: Ball,
}

/// A trial after tilting.
struct Tilted {
    /// `D/e^c`.
    size: Ball,
    x: Ball,
    /// `x(1−x)`.
    variance: Ball,
}

impl LeaveOneOut {
    /// The largest `f_a` without one of these trials of the sum, whichever that is.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn largest(&self, trials: &[Probability], interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let rough = Rough::new(self);
        let bound = |trial| rough.as_ref().and_then(|rough| rough.bounds(&self.tilted(trial)));
        let mut bounds = Vec::with_capacity(trials.len());
        for trials in trials.chunks(TRIALS_PER_CHECK) {
            interrupt.check()?;
            bounds.extend(trials.iter().map(|trial| bound(trial).unwrap_or(UNKNOWN)));
        }
        let floor = bounds.iter().map(|(lower, _)| *lower).fold(f64::NEG_INFINITY, f64::max);
        let candidates = trials.iter().zip(bounds).filter(|(_, (_, upper))| *upper >= floor);
        let mut largest: Option<Ball> = None;
        for (index, (trial, _)) in candidates.enumerate() {
            if index.is_multiple_of(TRIALS_PER_CHECK) {
                interrupt.check()?;
            }
            let value = self.value(&self.tilted(trial));
            largest = Some(largest.map_or(value, |largest| largest.max(value)));
        }
        Ok(largest.map_or(Ball::ZERO, |value| value * self.scale))
    }

    fn tilted(&self, trial: &Probability) -> Tilted {
        let rest = trial.q / self.growth;
        let size = rest + trial.p;
        let x = trial.p / size;
        Tilted { size, x, variance: x * rest / size }
    }

    /// The largest `f_a` without this trial, in units of `scale`.
    fn value(&self, trial: &Tilted) -> Ball {
        let shares: Vec<Ball> =
            self.bends.iter().map(|&bend| Ball::ONE / (Ball::ONE + bend * trial.variance)).collect();
        let sum = |threshold: &Threshold| {
            let terms = threshold.terms.iter().zip(&shares);
            let sum = terms.fold(Ball::ZERO, |sum, (&(constant, slope), &share)| {
                sum + (constant + slope * trial.x) * share
            });
            sum + Ball::ZERO.plus_at_most(threshold.error)
        };
        self.thresholds.iter().map(sum).reduce(Ball::max).unwrap_or(Ball::ZERO) / trial.size
    }
}

/// The same in doubles.
struct Rough {
    bends: Vec<f64>,
    thresholds: Vec<RoughThreshold>,
}

struct RoughThreshold {
    terms: Vec<(f64, f64)>,
    /// A bound of twice what the sum errs by.
    error: f64,
}

impl Rough {
    /// Nothing where doubles say nothing.
    fn new(exact: &LeaveOneOut) -> Option<Self> {
        let bend = |&bend: &Ball| {
            bend.to_double_with_error().filter(|(value, error)| *error <= -value * f64::EPSILON)
        };
        let bends = exact.bends.iter().map(|ball| Some(bend(ball)?.0)).collect::<Option<Vec<_>>>()?;
        let thresholds = exact.thresholds.iter().map(|threshold| RoughThreshold::new(threshold, &bends));
        Some(Self { thresholds: thresholds.collect::<Option<_>>()?, bends })
    }

    /// Bounds of [`LeaveOneOut::value`].
    fn bounds(&self, trial: &Tilted) -> Option<(f64, f64)> {
        let share = |x: Ball| Some(x.to_double_with_error().filter(|(_, error)| *error <= f64::EPSILON)?.0);
        let size =
            trial.size.to_double_with_error().filter(|(value, error)| *error <= value * f64::EPSILON)?.0;
        let (x, variance) = (share(trial.x)?, share(trial.variance)?);
        let (mut lower, mut upper) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for RoughThreshold { terms, error } in &self.thresholds {
            let terms = terms.iter().zip(&self.bends);
            let term = |(&(constant, slope), &bend): (&(f64, f64), &f64)| {
                (constant + slope * x) / (1.0 + bend * variance)
            };
            let sum: f64 = terms.map(term).sum();
            lower = lower.max(sum - error);
            upper = upper.max(sum + error);
        }
        let ends = (lower / size, upper / size);
        Some((ends.0 - ends.0.abs() * QUOTIENT, ends.1 + ends.1.abs() * QUOTIENT))
    }
}

impl RoughThreshold {
    fn new(exact: &Threshold, bends: &[f64]) -> Option<Self> {
        let mut error = exact.error.to_enclosure().upper() + bends.len() as f64 * f64::MIN_POSITIVE;
        let each = ROUGH * (1.0 + bends.len() as f64 / 32.0);
        let mut terms = Vec::with_capacity(bends.len());
        for (&(constant, slope), bend) in exact.terms.iter().zip(bends) {
            let (constant, slope) = (constant.to_double_with_error()?, slope.to_double_with_error()?);
            let least = Some(1.0 + bend / 4.0).filter(|least| *least > MIN_DENOMINATOR)?;
            error += each * (constant.0.abs() + slope.0.abs()) / (least * least);
            error += 2.0 * (constant.1 + slope.1) / least;
            terms.push((constant.0, slope.0));
        }
        error.is_finite().then_some(Self { terms, error })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Trials;
    use super::*;
    use crate::interrupt::Uninterrupted;
    use crate::numbers::rational::Rational;
    use proptest::prelude::*;

    fn probability(thousandths: u32, depth: i32) -> Probability {
        let p = Rational::from_f64(f64::from(thousandths) / 1000.0 * 2f64.powi(-depth)).unwrap();
        Probability::new(&p).unwrap()
    }

    fn trials<'a>(all: impl Iterator<Item = &'a Probability>) -> Trials {
        Trials::new(&all.map(|trial| (trial.p, trial.q)).collect::<Vec<_>>())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn every_trial_left_out_gives_the_values_of_the_sum_without_it(
            all in prop::collection::vec((1u32..1000, prop_oneof![3 => Just(0), 1 => 0i32..60]), 3..60),
            ratio in prop_oneof![Just(0.0), 0.0..1.0f64, 0.0..20.0f64],
            at in 0.0..1.0f64,
        ) {
            let all: Vec<Probability> = all.into_iter().map(|(p, depth)| probability(p, depth)).collect();
            let near = ratio.min(2.0);
            let t = Ball::from_f64(ratio).unwrap();
            let whole = trials(all.iter());
            let law = LatticeSum::new(vec![&whole]);
            let first = ((law.rough_mean(near) + 4.0 * (at - 0.5)).round() as i64).clamp(1, all.len() as i64 - 2);
            let found = law.leave_one_out(first..=first + 1, near, t, &Uninterrupted).unwrap();
            let rough = Rough::new(&found).unwrap();
            let mut greatest = Ball::ZERO - Ball::from_u64(1 << 40);
            for (index, trial) in all.iter().enumerate() {
                let rest = trials(all.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, trial)| trial));
                let rest = LatticeSum::new(vec![&rest]);
                let value = |a: i64| {
                    let tail = rest.upper_tail(a, &Uninterrupted).unwrap();
                    rest.probability(a - 1, &Uninterrupted).unwrap() - t * tail
                };
                let truth = value(first).max(value(first + 1));
                greatest = greatest.max(truth);
                let tilted = found.tilted(trial);
                let computed = found.value(&tilted);
                let gap = (computed * found.scale - truth).to_enclosure();
                let size = truth.to_enclosure().upper().abs().max(1e-300);
                prop_assert!(gap.lower() <= 0.0 && gap.upper() >= 0.0, "{:?}", gap);
                prop_assert!(gap.width() <= 1e-18 * size.max(1e-6), "{:?} {}", gap, size);
                let (lower, upper) = rough.bounds(&tilted).unwrap();
                let ends = computed.to_enclosure();
                prop_assert!(lower <= ends.lower() && ends.upper() <= upper);
                prop_assert!(upper - lower <= 1e-4 * (upper.abs() + 1.0));
            }
            let gap = (found.largest(&all, &Uninterrupted).unwrap() - greatest).to_enclosure();
            prop_assert!(gap.lower() <= 0.0 && gap.upper() >= 0.0, "{:?}", gap);
        }
    }

    /// Most trials are told apart by doubles, or the exact values would be evaluated for all.
    #[test]
    fn doubles_leave_few_trials_to_be_evaluated_again() {
        let all: Vec<Probability> = (1..=500).map(|i| probability(i, 0)).collect();
        let whole = trials(all.iter());
        let law = LatticeSum::new(vec![&whole]);
        let first = law.rough_mean(0.0).round() as i64;
        let found = law.leave_one_out(first..=first, 0.0, Ball::ZERO, &Uninterrupted).unwrap();
        let rough = Rough::new(&found).unwrap();
        let bounds: Vec<_> = all.iter().map(|trial| rough.bounds(&found.tilted(trial)).unwrap()).collect();
        let floor = bounds.iter().map(|bounds| bounds.0).fold(f64::NEG_INFINITY, f64::max);
        let left = bounds.iter().filter(|bounds| bounds.1 >= floor).count();
        assert!((1..=3).contains(&left), "{left}");
    }
}
