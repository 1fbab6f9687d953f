//! Continuous noise, added to answers on a lattice.
//!
//! With the density `f` of the noise and `r = e^ε`, `g_k = P(k) − r Q(k)`,
//!
//! ```text
//! Δ(ε) = ∫ D(x)_+ dx,      D(x) = Σ_k g_k f(x − k).
//! ```
//!
//! Adding noise is post-processing, and a curve changes by at most `Σ|g_k − g'_k|` if the `g` are changed to `g'`: `D_+` is 1-Lipschitz
//! in `D`, and `f` integrates to one. So what the rows of the laws leave out costs what it costs without noise (`answers.rs`), and
//! where the sign of `g_k` cannot be told, `g_k` may be taken as zero for the price of its size.

mod gaussian;
mod laplace;

use super::answers::Answers;
use super::{Epsilon, LARGEST};
use crate::answer::row::Row;
use crate::ball::Ball;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::rational::Rational;
use std::sync::{Arc, Mutex};

/// A law of noise with a density, in units of the lattice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContinuousNoise {
    /// `e^{−|x|/scale}/(2 scale)`.
    Laplace {
        /// Above 0.
        scale: Rational,
    },
    /// `e^{−x²/(2σ²)}/(σ√(2π))`.
    Gaussian {
        /// Above 0.
        sigma: Rational,
    },
}

/// Two laws of answers on the integers with continuous noise.
#[derive(Clone, Debug)]
pub struct Smoothed {
    answers: Answers,
    noise: ContinuousNoise,
    /// What does not depend on ε of Laplace noise, by the level of what may be missing; see [`laplace::densities`].
    densities: Arc<Mutex<Vec<Arc<[Row; 2]>>>>,
}

impl Smoothed {
    /// The answers plus independent noise.
    ///
    /// # Errors
    /// A scale or sigma that is not above 0.
    pub fn new(answers: Answers, noise: ContinuousNoise) -> Result<Self, Error> {
        let (name, size) = match &noise {
            ContinuousNoise::Laplace { scale } => ("laplace_scale", scale),
            ContinuousNoise::Gaussian { sigma } => ("gaussian_sigma", sigma),
        };
        if size.is_negative() || size.is_zero() {
            return Err(Error::argument(format!("{name} = {}; a number above 0 is required", size.shown())));
        }
        Ok(Self { answers, noise, densities: Arc::default() })
    }

    /// The answers without noise.
    #[must_use]
    pub fn answers(&self) -> &Answers {
        &self.answers
    }

    /// The noise.
    #[must_use]
    pub fn noise(&self) -> &ContinuousNoise {
        &self.noise
    }

    /// The other direction; both share what was computed for one of them.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { answers: self.answers.reversed(), ..self.clone() }
    }

    /// About how many terms one evaluation takes, other work counted as so many terms.
    #[must_use]
    pub fn terms(&self) -> f64 {
        match self.noise {
            ContinuousNoise::Laplace { .. } => self.answers.terms(),
            ContinuousNoise::Gaussian { .. } => gaussian::TERMS * self.answers.terms(),
        }
    }

    /// Zero: both noises have a positive density everywhere.
    #[must_use]
    pub fn mass_at_infinity(&self) -> Ball {
        Ball::ZERO
    }

    /// `Δ(ε)` for `ε ≥ 0`.
    ///
    /// # Errors
    /// Laws on too many answers; with Gaussian noise, laws whose likelihood ratio crosses `e^ε` more than once; [`Error::Interrupted`].
    pub fn delta(&self, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let ratio = epsilon.ratio();
        let delta = match &self.noise {
            ContinuousNoise::Laplace { scale } => {
                if laplace::vanishes(self.answers.laws(), scale, epsilon) {
                    return Ok(Ball::ZERO);
                }
                let decay = laplace::decay(scale);
                self.answers.by_levels(ratio, interrupt, &|level, rows| {
                    let densities = self.densities(level, rows, decay, interrupt)?;
                    laplace::delta(self.answers.in_order(&densities), decay, ratio, interrupt)
                })
            }
            ContinuousNoise::Gaussian { sigma } => {
                let sigma = Ball::from_rational(sigma);
                self.answers.by_levels(ratio, interrupt, &|_, rows| {
                    gaussian::delta(rows, sigma, ratio, interrupt)
                })
            }
        }?;
        // Beyond, the ratio is that of a smaller ε, whose Δ is not less.
        let beyond = Ball::from_u64(LARGEST).certainly_less(epsilon.value);
        Ok(if beyond { Ball::ZERO.plus_at_most(delta) } else { delta })
    }

    /// The densities at the points of the lattice: those of the law that was given first are the first ones.
    fn densities(
        &self,
        level: usize,
        rows: [&Row; 2],
        decay: Ball,
        interrupt: &dyn Interrupt,
    ) -> Result<Arc<[Row; 2]>, Error> {
        let known = self.densities.lock().ok().and_then(|known| known.get(level).map(Arc::clone));
        if let Some(known) = known {
            return Ok(known);
        }
        let [first, second] = laplace::densities(rows, decay, interrupt)?;
        let in_order = self.answers.in_order(&[0, 1]) == [&0, &1];
        let found = Arc::new(if in_order { [first, second] } else { [second, first] });
        if let Ok(mut known) = self.densities.lock()
            && known.len() == level
        {
            known.push(Arc::clone(&found));
        }
        Ok(found)
    }
}
