//! Noise on the integers.

use super::pmf::{Pmf, tail_bound};
use crate::budget::MAX_ANSWERS;
use crate::error::Error;
use crate::laws::normal::upper_tail;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;

/// A law of noise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Discrete Laplace, also called two-sided geometric: `P[k] = (1−α)/(1+α) α^{|k|}`.
    Geometric {
        /// Between 0 and 1.
        alpha: Rational,
    },
    /// The same with `α = e^{−1/scale}`.
    Laplace {
        /// Above 0.
        scale: Rational,
    },
    /// Discrete Gaussian: `P[k] ∝ e^{−k²/(2σ²)}`.
    Gaussian {
        /// `σ²`, above 0.
        variance: Rational,
    },
    /// Laplace noise, density `e^{−|x|/scale}/(2 scale)`, rounded to the nearest integer.
    RoundedLaplace {
        /// Above 0.
        scale: Rational,
    },
    /// Gaussian noise, rounded to the nearest integer.
    RoundedGaussian {
        /// The standard deviation, above 0.
        sigma: Rational,
    },
    /// One of these, given that it lies between two numbers.
    Truncated {
        /// Before it was truncated.
        noise: Box<Noise>,
        /// The least value.
        least: i64,
        /// The greatest value.
        most: i64,
    },
}

impl Noise {
    pub(super) fn check(&self) -> Result<(), Error> {
        let positive = |name: &str, x: &Rational| {
            if x.is_negative() || x.is_zero() {
                return Err(Error::argument(format!("{name} = {}; a number above 0 is required", x.shown())));
            }
            Ok(())
        };
        match self {
            Self::Geometric { alpha } => {
                positive("alpha", alpha)?;
                if *alpha >= Rational::from(1i64) {
                    return Err(Error::argument(format!(
                        "alpha = {}; a number below 1 is required",
                        alpha.shown()
                    )));
                }
                Ok(())
            }
            Self::Laplace { scale } | Self::RoundedLaplace { scale } => positive("scale", scale),
            Self::Gaussian { variance: size } | Self::RoundedGaussian { sigma: size } => {
                positive("sigma", size)
            }
            Self::Truncated { noise, least, most } => {
                if least > most || least.unsigned_abs() > MAX_ANSWERS || most.unsigned_abs() > MAX_ANSWERS {
                    return Err(Error::argument(format!(
                        "noise truncated to [{least}, {most}]; two numbers within ±2^24 in this order are required"
                    )));
                }
                if matches!(**noise, Self::Truncated { .. }) {
                    return Err(Error::argument("noise is truncated once"));
                }
                noise.check()
            }
        }
    }

    pub(super) fn support(&self) -> (Option<i64>, Option<i64>) {
        match self {
            Self::Truncated { least, most, .. } => (Some(*least), Some(*most)),
            _ => (None, None),
        }
    }

    /// Masses relative to that of zero: `w(k)`, and `w(k+1)/w(k)`, which falls, or what bounds it and falls, both for `k ≥ 0`.
    fn relative(&self) -> Box<dyn Fn(u64) -> (Ball, Ball) + '_> {
        match self {
            Self::Geometric { alpha } => geometric(Ball::from_rational(alpha)),
            Self::Laplace { scale } => geometric((-(Ball::ONE / Ball::from_rational(scale))).exp()),
            Self::Gaussian { variance } => {
                let rate = Ball::ONE / (Ball::from_u64(2) * Ball::from_rational(variance));
                Box::new(move |k| {
                    let k = Ball::from_u64(k);
                    let next = (k + k + Ball::ONE) * rate;
                    ((-(k * k * rate)).exp(), (-next).exp())
                })
            }
            Self::RoundedLaplace { scale } => rounded_laplace(Ball::ONE / Ball::from_rational(scale)),
            Self::RoundedGaussian { sigma } => rounded_gaussian(Ball::ONE / Ball::from_rational(sigma)),
            Self::Truncated { noise, .. } => noise.relative(),
        }
    }

    /// `α`, of two-sided geometric noise without bounds.
    pub(super) fn alpha(&self) -> Option<Ball> {
        match self {
            Self::Geometric { alpha } => Some(Ball::from_rational(alpha)),
            Self::Laplace { scale } => Some((-(Ball::ONE / Ball::from_rational(scale))).exp()),
            _ => None,
        }
    }

    /// Divided by their sum, which is that of the window and at most what the tails add to it.
    pub(super) fn row(&self, left_out: Option<u32>) -> Result<Pmf, Error> {
        let relative = self.relative();
        if let Self::Truncated { least, most, .. } = self {
            let masses: Vec<Ball> = (*least..=*most).map(|k| relative(k.unsigned_abs()).0).collect();
            let total = masses.iter().fold(Ball::ZERO, |sum, &mass| sum + mass);
            let masses = masses.into_iter().map(|mass| mass / total).collect();
            return Ok(Pmf { first: *least, masses, missing: Ball::ZERO });
        }
        let Some(bits) = left_out else {
            return Err(Error::precision("noise without bounds has no last value"));
        };
        let (mut side, mut k) = (Vec::new(), 0);
        let rest = loop {
            let (mass, ratio) = relative(k);
            side.push(mass);
            // The sum is at least the mass of zero, 1. So the rest is as small relative to the sum.
            if let Some(rest) = tail_bound(mass, ratio, bits + 2) {
                break rest;
            }
            k += 1;
            if k > MAX_ANSWERS / 4 {
                return Err(Error::precision(
                    "this noise is too wide for its probabilities to be written out",
                ));
            }
        };
        let inside = side.iter().skip(1).fold(Ball::ZERO, |sum, &mass| sum + mass);
        let both = inside + inside + Ball::ONE;
        let total = both.plus_at_most(rest + rest);
        let mirrored = side.iter().skip(1).rev().chain(&side).map(|&mass| mass / total).collect();
        Ok(Pmf { first: -(k as i64), masses: mirrored, missing: (rest + rest) / both })
    }
}

fn geometric(alpha: Ball) -> Box<dyn Fn(u64) -> (Ball, Ball)> {
    Box::new(move |k| (alpha.powi(k), alpha))
}

/// `P[k] = e^{−(k−½)/b} (1 − e^{−1/b})/2` for `k > 0`, and `P[0] = 1 − e^{−1/(2b)}`.
fn rounded_laplace(rate: Ball) -> Box<dyn Fn(u64) -> (Ball, Ball)> {
    let half = (-(rate / Ball::from_u64(2))).exp();
    let alpha = half * half;
    // P[1]/P[0] = √α (1 − α)/(2(1 − √α)) = √α (1 + √α)/2.
    let first = half * (Ball::ONE + half) / Ball::from_u64(2);
    Box::new(move |k| match k.checked_sub(1) {
        None => (Ball::ONE, first),
        Some(more) => (first * alpha.powi(more), alpha),
    })
}

/// The mass between `k − ½` and `k + ½`; for `x ≥ k − ½` the density falls from `x` to `x + 1` by `e^{−(2x+1)/(2σ²)} ≤ e^{−k/σ²}`.
fn rounded_gaussian(rate: Ball) -> Box<dyn Fn(u64) -> (Ball, Ball)> {
    let half = Ball::ONE / Ball::from_u64(2);
    let beyond = move |k: Ball| upper_tail((k - half) * rate);
    let middle = Ball::ONE - Ball::from_u64(2) * upper_tail(half * rate);
    Box::new(move |k| {
        let at = Ball::from_u64(k);
        let mass = if k == 0 { Ball::ONE } else { (beyond(at) - beyond(at + Ball::ONE)) / middle };
        (mass, (-(at * rate * rate)).exp())
    })
}
