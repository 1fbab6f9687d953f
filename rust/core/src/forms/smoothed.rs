//! Continuous noise, added to answers on a lattice.
//!
//! With the density `f` of the noise and `r = e^ε`, `g_k = P(k) − r Q(k)`,
//!
//! ```text
//! Δ(ε) = ∫ D(x)_+ dx,      D(x) = Σ_k g_k f(x − k).
//! ```
//!
//! Adding noise is post-processing, and a curve changes by at most `Σ|g_k − g'_k|` if the `g` are changed to `g'`: `D_+` is 1-Lipschitz
//! in `D`, and `f` integrates to one. So missing masses cost as much as without noise (`answers.rs`). A `g_k` with an
//! undecided sign may be taken as zero at the cost of its size.

mod gaussian;
mod laplace;

use super::answers::{ACCURATE, Answers};
use super::hockey_stick::{Digits, Form, HockeyStick};
use super::{Epsilon, LARGEST};
use crate::answer::pmf::Pmf;
use crate::answer::{Law, Recipe};
use crate::error::Error;
use crate::exact;
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
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

/// Noise below this part of the lattice step is small.
const LITTLE: u64 = 1000;

/// Two laws of answers on the integers with continuous noise.
#[derive(Clone, Debug)]
pub struct Smoothed {
    answers: Answers,
    noise: ContinuousNoise,
    /// What does not depend on ε of Laplace noise, by the level of what may be missing; see [`laplace::densities`].
    densities: Arc<Mutex<Vec<Arc<[Pmf; 2]>>>>,
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

    /// The other direction. Both share what was computed for one of them.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { answers: self.answers.reversed(), ..self.clone() }
    }

    /// The approximate number of terms of one evaluation, with other work counted in terms.
    #[must_use]
    pub fn terms(&self) -> f64 {
        match self.noise {
            ContinuousNoise::Laplace { .. } => self.answers.terms(),
            ContinuousNoise::Gaussian { .. } => gaussian::TERMS * self.answers.terms(),
        }
    }

    /// Zero: both noises have a positive density everywhere.
    #[must_use]
    pub fn infinity_mass(&self) -> Ball {
        Ball::ZERO
    }

    /// `Δ(ε)` for `ε ≥ 0`. A value certainly below `floor` may be coarse.
    ///
    /// # Errors
    /// Laws on too many answers; with Gaussian noise, laws whose likelihood ratio crosses `e^ε` more than once; [`Error::Interrupted`].
    pub fn delta(&self, epsilon: &Epsilon, floor: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let ratio = epsilon.ratio();
        let distance = distance(self.answers.laws());
        let settled = match (&self.noise, distance) {
            (_, Some(0)) => Some(Ball::ZERO),
            (ContinuousNoise::Laplace { scale }, Some(distance)) => {
                laplace::vanishes(distance, scale, epsilon).then_some(Ball::ZERO)
            }
            (ContinuousNoise::Gaussian { sigma }, Some(distance)) => {
                gaussian::minute(distance, Ball::from_rational(sigma), epsilon.value)
            }
            (_, None) => None,
        };
        if let Some(settled) = settled {
            return Ok(settled);
        }
        if let Some(data) = self.all_but_data(epsilon, floor, interrupt)? {
            return Ok(data);
        }
        let delta = match &self.noise {
            ContinuousNoise::Laplace { scale } => {
                let decay = laplace::decay(scale);
                self.answers.by_levels(ratio, floor, interrupt, &|level, rows| {
                    let densities = self.densities(level, rows, decay, interrupt)?;
                    laplace::delta(self.answers.in_order(&densities), decay, ratio, interrupt)
                })
            }
            ContinuousNoise::Gaussian { sigma } => {
                let sigma = Ball::from_rational(sigma);
                self.answers.by_levels(ratio, floor, interrupt, &|_, rows| {
                    gaussian::delta(rows, sigma, ratio, interrupt)
                })
            }
        }?;
        // Beyond, the ratio is that of a smaller ε, whose Δ is not less.
        let beyond = Ball::from_u64(LARGEST).certainly_less(epsilon.value);
        Ok(if beyond { Ball::ZERO.plus_at_most(delta) } else { delta })
    }

    /// Δ without noise, for noise that hardly ever moves an answer half way to the next one.
    ///
    /// Noise lowers Δ, and rounding to integers once more. That gives the answer itself but with probability `η = P[|noise| > ½]`, which changes `P[S] −
    /// r Q[S]` by at most `η(1 + r)`. `η = e^{−1/(2b)}` for Laplace noise and at most `e^{−1/(8σ²)}` for Gaussian noise.
    fn all_but_data(
        &self,
        epsilon: &Epsilon,
        floor: Ball,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<Ball>, Error> {
        let (exponent, size) = match &self.noise {
            ContinuousNoise::Laplace { scale } => (Ball::from_u64(2) * Ball::from_rational(scale), scale),
            ContinuousNoise::Gaussian { sigma } => {
                let size = Ball::from_rational(sigma);
                (Ball::from_u64(8) * size * size, sigma)
            }
        };
        if !Rational::from(LITTLE).mul(size).lt(&Rational::from(1i64)) {
            return Ok(None);
        }
        let moved = (-(Ball::ONE / exponent)).exp() * (Ball::ONE + epsilon.ratio());
        let data = self.answers.delta(epsilon, floor, interrupt)?;
        let widened = data.plus_at_most(moved);
        let is_data = widened.relative_error() < ACCURATE || data.is_exact_zero();
        Ok(is_data.then_some(if data.is_exact_zero() { data } else { widened }))
    }

    /// The densities at the points of the lattice: those of the law that was given first are the first ones.
    fn densities(
        &self,
        level: usize,
        rows: [&Pmf; 2],
        decay: Ball,
        interrupt: &dyn Interrupt,
    ) -> Result<Arc<[Pmf; 2]>, Error> {
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

/// A distance within which numbers with these laws can be coupled.
fn distance(laws: [&Law; 2]) -> Option<u64> {
    let unshifted = |law: &Law| match law.recipe() {
        Recipe::Shifted(inner, by) => (inner.clone(), *by),
        _ => (law.clone(), 0),
    };
    let [(one, by), (other, too)] = laws.map(unshifted);
    if one.is(&other) {
        return Some(by.abs_diff(too));
    }
    let [(least, most), (below, above)] = laws.map(Law::support);
    Some(most?.abs_diff(below?).max(above?.abs_diff(least?)))
}

impl HockeyStick for Smoothed {
    fn delta(&self, epsilon: &Epsilon, floor: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        self.delta(epsilon, floor, interrupt)
    }

    fn infinity_mass(&self, _: &dyn Interrupt) -> Result<Ball, Error> {
        Ok(self.infinity_mass())
    }

    fn reversed(&self) -> Form {
        Arc::new(self.reversed())
    }

    fn terms(&self) -> f64 {
        self.terms()
    }

    fn uses_floor(&self) -> bool {
        true
    }

    fn digits(&self) -> Result<&dyn Digits, Error> {
        Err(Error::precision(
            "a curve with continuous noise has no closed digits; delta() without digits= encloses it",
        ))
    }

    fn exact(&self, _: &exact::Evaluation<'_>) -> Result<Option<exact::Terms>, Error> {
        Err(Error::precision("a curve with continuous noise has no rational terms; delta() encloses it"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Curve;
    use crate::curve::exact::exact_terms;
    use crate::forms::gaussian_delta;
    use crate::interrupt::Uninterrupted;
    use crate::trade_off;
    use proptest::prelude::*;

    fn rational(text: &str) -> Rational {
        Rational::parse(text).unwrap()
    }

    fn laplace(scale: &str) -> ContinuousNoise {
        ContinuousNoise::Laplace { scale: rational(scale) }
    }

    fn gaussian(sigma: &str) -> ContinuousNoise {
        ContinuousNoise::Gaussian { sigma: rational(sigma) }
    }

    /// The noise of an answer whose value is known apart from the noise.
    fn alone(noise: ContinuousNoise) -> Smoothed {
        Smoothed::new(Answers::new(Law::point(1), Law::point(0)), noise).unwrap()
    }

    fn count(others: u64, noise: ContinuousNoise) -> Smoothed {
        let others = Law::binomial(others, &rational("0.3")).unwrap();
        Smoothed::new(Answers::new(others.shifted(1).unwrap(), others), noise).unwrap()
    }

    fn delta(laws: &Smoothed, epsilon: &str) -> Ball {
        laws.delta(&Epsilon::new(&rational(epsilon)), Ball::ZERO, &Uninterrupted).unwrap()
    }

    fn agree(one: Ball, other: Ball) -> bool {
        let gap = one - other;
        !gap.is_positive() && !(-gap).is_positive()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn noise_alone_has_its_closed_form(tenths in 1u64..200, epsilon in 0.0..4.0f64) {
            let size = Rational::from(tenths).div(&Rational::from(10u64)).unwrap();
            let given = Epsilon::from_f64(epsilon).unwrap();
            let at = |noise| alone(noise).delta(&given, Ball::ZERO, &Uninterrupted).unwrap();
            let found = at(ContinuousNoise::Gaussian { sigma: size.clone() });
            let truth = gaussian_delta(Ball::ONE / Ball::from_rational(&size), &given);
            prop_assert!(agree(found, truth) && found.relative_error() < 1e-14, "{:?} {:?}", found, truth);
            let found = at(ContinuousNoise::Laplace { scale: size.clone() });
            let half = Ball::ONE / Ball::from_u64(2);
            let exponent = (given.value - Ball::ONE / Ball::from_rational(&size)) * half;
            if exponent.is_positive() {
                prop_assert!(found.is_exact_zero());
            } else {
                prop_assert!(agree(found, Ball::ONE - exponent.exp()) && found.relative_error() < 1e-14);
            }
        }

        /// The lemma of Gaussian noise from above: no threshold does better, and Laplace noise on any laws lies below what it is without noise.
        #[test]
        fn noise_lies_below_the_data_and_falls_with_epsilon(
            weights in prop::collection::vec(0u64..9, 1..7), others in prop::collection::vec(1u64..9, 1..7), scale in 1u64..30,
        ) {
            let total: u64 = weights.iter().sum();
            prop_assume!(total > 0);
            let law = |weights: &[u64]| {
                let total = Rational::from(weights.iter().sum::<u64>());
                Law::table(0, weights.iter().map(|&x| Rational::from(x).div(&total).unwrap()).collect()).unwrap()
            };
            let answers = Answers::new(law(&weights), law(&others));
            let size = Rational::from(scale).div(&Rational::from(8u64)).unwrap();
            let laws = Smoothed::new(answers.clone(), ContinuousNoise::Laplace { scale: size }).unwrap();
            let mut before = Ball::ONE;
            for epsilon in ["0", "0.1", "0.5", "2"].map(rational) {
                let epsilon = Epsilon::new(&epsilon);
                let found = laws.delta(&epsilon, Ball::ZERO, &Uninterrupted).unwrap();
                let data = answers.delta(&epsilon, Ball::ZERO, &Uninterrupted).unwrap();
                prop_assert!(!data.certainly_less(found) && !before.certainly_less(found));
                // P − e^ε Q of the reversed pair at −ε.
                let mirrored = laws.reversed().reversed().delta(&epsilon, Ball::ZERO, &Uninterrupted).unwrap();
                prop_assert!(agree(found, mirrored));
                before = found;
            }
        }
    }

    /// Both directions of a symmetric situation are the same curve, and total variation has no direction.
    #[test]
    fn directions_share_densities_and_keep_their_order() {
        let half = Law::binomial(9, &rational("1/2")).unwrap();
        for noise in [laplace("3/2"), gaussian("3/2")] {
            let symmetric =
                Smoothed::new(Answers::new(half.shifted(1).unwrap(), half.clone()), noise.clone()).unwrap();
            let skewed = count(9, noise);
            for epsilon in ["0", "0.2", "0.6"] {
                assert!(agree(delta(&symmetric, epsilon), delta(&symmetric.reversed(), epsilon)));
            }
            assert!(agree(delta(&skewed, "0"), delta(&skewed.reversed(), "0")));
            assert!(!agree(delta(&skewed, "0.2"), delta(&skewed.reversed(), "0.2")));
        }
    }

    #[test]
    fn large_counts_and_small_deltas_keep_their_accuracy() {
        for noise in [laplace("2"), gaussian("2"), gaussian("1e-3"), laplace("1e-2"), gaussian("300")] {
            for (others, epsilon) in [(1_000_000, "0.001"), (1_000_000, "0.03"), (10_000, "0.2"), (40, "0.3")]
            {
                let laws = count(others, noise.clone());
                let found = delta(&laws, epsilon);
                // Of few answers even that is told, which no double is small enough for.
                let minute = others > 40 && found.certainly_less(Ball::ONE.times_power_of_two(-1100));
                assert!(found.relative_error() < 1e-13 || minute, "{noise:?} {others} {epsilon}: {found:?}");
                let data = laws
                    .answers()
                    .delta(&Epsilon::new(&rational(epsilon)), Ball::ZERO, &Uninterrupted)
                    .unwrap();
                assert!(!data.certainly_less(found));
            }
        }
    }

    /// From `1/b` on for the count, whose two laws are one apart, and from the distance of the outermost answers on for others.
    #[test]
    fn laplace_noise_has_a_pure_guarantee() {
        assert!(delta(&count(1000, laplace("10")), "0.1").is_exact_zero());
        assert!(delta(&count(1000, laplace("10")), "0.099").is_positive());
        let at = |second: Law, epsilon: &str| {
            let answers = Answers::new(Law::point(3), second);
            delta(&Smoothed::new(answers, laplace("10")).unwrap(), epsilon)
        };
        assert!(at(Law::point(0), "0.3").is_exact_zero() && at(Law::point(0), "0.2999").is_positive());
        let binomial = || Law::binomial(5, &rational("1/2")).unwrap();
        assert!(at(binomial(), "0.3").is_exact_zero() && at(binomial(), "0.05").is_positive());
        assert!(count(3, laplace("10")).infinity_mass().is_exact_zero());
    }

    /// Of the Gaussian mechanism it is `Φ(Φ^{-1}(1 − α) − μ)`: with `α = ½` that is `Φ(−μ)`.
    #[test]
    fn the_trade_off_of_gaussian_noise_is_that_of_the_mechanism() {
        let beta =
            trade_off::beta(&Curve::from(alone(gaussian("1"))), &rational("1/2"), &Uninterrupted).unwrap();
        assert!(
            beta.contains(&rational("0.15865525393145705141476745436796")) && beta.width() < 1e-9,
            "{beta:?}"
        );
    }

    #[test]
    fn a_ratio_that_crosses_twice_is_refused_with_gaussian_noise_alone() {
        let table = |weights: [i64; 3]| {
            let tenth = rational("1/10");
            Law::table(0, weights.map(|x| Rational::from(x).mul(&tenth)).to_vec()).unwrap()
        };
        let answers = Answers::new(table([4, 2, 4]), table([2, 6, 2]));
        let at = |noise| {
            let laws = Smoothed::new(answers.clone(), noise).unwrap();
            laws.delta(&Epsilon::new(&rational("0.1")), Ball::ZERO, &Uninterrupted)
        };
        let Err(Error::Precision(message)) = at(gaussian("1")) else { panic!("not refused") };
        assert!(message.contains("crosses e^epsilon more than once"), "{message}");
        assert!(at(laplace("1")).unwrap().relative_error() < 1e-14);
    }

    /// Noise that moves nothing, noise that drowns everything, and laws that are the same object.
    #[test]
    fn noise_of_any_size_is_enclosed() {
        for noise in [laplace("1e-20"), gaussian("1e-20"), laplace("1e-5"), gaussian("1e-5")] {
            let laws = count(50, noise);
            for epsilon in ["0", "0.1", "2"] {
                let given = Epsilon::new(&rational(epsilon));
                let data = laws.answers().delta(&given, Ball::ZERO, &Uninterrupted).unwrap();
                let found = delta(&laws, epsilon);
                assert!(agree(found, data) && found.relative_error() < 1e-14, "{epsilon} {found:?}");
            }
        }
        for (sigma, epsilon) in [("1e9", "0.05"), ("2", "1e15"), ("2", "1e300")] {
            assert!(delta(&count(50, gaussian(sigma)), epsilon).to_enclosure().upper() < 1e-300);
        }
        let law = Law::binomial(7, &rational("0.3")).unwrap();
        let same = Smoothed::new(Answers::new(law.clone(), law), gaussian("1")).unwrap();
        assert!(delta(&same, "0").is_exact_zero() && delta(&same, "1").is_exact_zero());
    }

    #[test]
    fn answers_too_far_apart_are_refused() {
        for noise in [laplace("1"), gaussian("1")] {
            let laws = Smoothed::new(Answers::new(Law::point(1 << 50), Law::point(0)), noise).unwrap();
            let found = laws.delta(&Epsilon::new(&rational("0.1")), Ball::ZERO, &Uninterrupted);
            let Err(Error::Precision(message)) = found else { panic!("not refused") };
            assert!(message.contains("too many for their probabilities to be written out"), "{message}");
        }
    }

    #[test]
    fn digits_and_rationals_are_refused() {
        let curve = Curve::from(alone(laplace("1")));
        let half = rational("1/2");
        let Err(Error::Precision(message)) = crate::curve::digits::delta(&curve, &half, 20, &Uninterrupted)
        else {
            panic!("not refused")
        };
        assert!(message.contains("no closed digits; delta() without digits= encloses it"), "{message}");
        let Err(Error::Precision(message)) = exact_terms(&curve, &half, &Uninterrupted) else {
            panic!("not refused")
        };
        assert!(message.contains("no rational terms; delta() encloses it"), "{message}");
    }
}
