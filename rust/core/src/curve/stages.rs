//! Several mechanisms one after the other, each known by a bound of its curve: a bound of what they show together.
//!
//! Stage `k` shows an outcome whose laws, given everything that was shown before, have a curve of at most `f_k(r)` for all `r = e^ε > 0`. Which
//! mechanism a stage is may depend on what was shown before.
//!
//! **Composition.** Let `f_k(r) ≤ Σ_i P_i (1 − r/r_i)_+ + P_∞` for all `r ≥ 0`, with masses `P_i ≥ 0` at the likelihood ratios `r_i`, for each stage
//! its own; they need not add up to one. Then the stages together have at most the same expression of the product: masses multiply, likelihood ratios
//! multiply, and what is infinite in one stage is infinite. *Proof* for two, the second with the densities `p₂`, `q₂` given the first outcome, by
//! `f_k` and exchange of the sums:
//!
//! ```text
//! Σ_x Σ_y (p₁p₂ − r q₁q₂)_+ ≤ Σ_x p₁ f₂(r q₁/p₁) ≤ Σ_j Σ_x P_j (p₁ − (r/r_j) q₁)_+ + P_∞ Σ_x p₁ ≤ Σ_j P_j f₁(r/r_j) + P_∞ f₁(0).
//! ```
//!
//! **A stage on a lattice** `r_i = e^{ih}`, `i` from `b` to `t`. Curves are convex in `r`, 1 at `r = 0`, and fall. So it is enough that the
//! expression, which is linear between the `r_i`, is at least `f(r_i)` at each of them, at least 1 at 0, and at least `f(r_t)` beyond. The masses are
//! chosen from above: `P_∞ ≥ f(r_t)`, then each `P_{i+1}` the least that brings the value at `r_i` up to an upper bound of `f(r_i)`, rounded up, or
//! 0; at last `P_b`, for the value 1 at 0. The value at `r_i` is `F_i = F_{i+1} + S_i (r_{i+1} − r_i)`, `S_i = Σ_{j>i} P_j/r_j`, in balls.
//!
//! **Products** are convolutions of positive doubles. A sum of `l` products errs by less than `(l + 1) u` relatively, so a factor `1 + 4 (l + 8) u`
//! makes it an upper bound. Masses below [`LEAST`] are raised to it, which is an upper bound too, so that no product underflows.

use super::Curve;
use crate::error::Error;
use crate::forms::{Epsilon, Form, HockeyStick};
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use std::sync::{Arc, Mutex, PoisonError};

/// Masses are at least this: the products of two are normal doubles.
const LEAST: f64 = 1e-100;
/// What lies beyond the lattice of a stage is at most this part of the largest curve: `2^-26`.
const BEYOND: f64 = 1.0 / ((1u64 << 26) as f64);
/// Points of the lattice of one stage, up to twice as many.
const POINTS: f64 = 2048.0;
/// No lattice reaches further.
const FURTHEST: f64 = 1024.0;
/// Beyond this ε the value here is taken, which is not less: masses of [`LEAST`] are all that is left.
const LARGEST: f64 = 256.0;
/// `2^-53`.
const UNIT: f64 = f64::EPSILON / 2.0;

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct Stages {
    /// Each curve bounds so many stages.
    stages: Arc<[(Curve, u32)]>,
    /// The products that were computed, by what they are accurate for.
    products: Arc<Mutex<Products>>,
}

type Products = Vec<(i32, Arc<Losses>)>;

/// Masses at the likelihood ratios `e^{ih}`, `i` from `first` on, and at infinity.
#[derive(Debug)]
struct Losses {
    step: f64,
    first: i64,
    masses: Vec<f64>,
    infinite: f64,
}

impl Stages {
    /// The stages that these curves bound, each so many times.
    ///
    /// # Errors
    /// No stage, or more than a hundred.
    pub fn new(stages: Vec<(Curve, u32)>) -> Result<Self, Error> {
        let number: u64 = stages.iter().map(|&(_, copies)| u64::from(copies)).sum();
        if number == 0 || number > 100 {
            return Err(Error::argument(format!("{number} stages; from 1 to 100 are required")));
        }
        let stages: Vec<_> = stages.into_iter().filter(|&(_, copies)| copies > 0).collect();
        Ok(Self { stages: stages.into(), products: Arc::default() })
    }

    /// The product that serves this ε: computed for the next of the ε 1/4, 1/2, 1, 2, …
    fn product(&self, epsilon: f64, interrupt: &dyn Interrupt) -> Result<Arc<Losses>, Error> {
        let mut level = -2;
        let mut served = 0.25;
        while served < epsilon {
            level += 1;
            served *= 2.0;
        }
        let known = |products: &[(i32, Arc<Losses>)]| {
            products.iter().find(|(own, _)| *own == level).map(|(_, product)| product.clone())
        };
        if let Some(found) = known(&self.products.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(found);
        }
        let product = Arc::new(self.composed(served, interrupt)?);
        let mut products = self.products.lock().unwrap_or_else(PoisonError::into_inner);
        products.push((level, product.clone()));
        Ok(product)
    }

    fn composed(&self, epsilon: f64, interrupt: &dyn Interrupt) -> Result<Losses, Error> {
        let values = |at: f64| self.stages.iter().map(move |(curve, _)| upper(curve, at, interrupt));
        let largest = values(epsilon).try_fold(0.0_f64, |most, value| value.map(|value| most.max(value)))?;
        let enough = (largest * BEYOND).max(LEAST);
        let mut reaches = Vec::with_capacity(self.stages.len());
        for (curve, _) in self.stages.iter() {
            let above = reach(curve, epsilon, enough, interrupt)?;
            let below = reach(&curve.reversed(), 0.25, enough, interrupt)?;
            reaches.push((above, below));
        }
        let widest = reaches.iter().map(|(above, below)| above + below).fold(0.0, f64::max);
        let mut step = 1.0;
        while widest / step < POINTS {
            step /= 2.0;
        }
        let mut product: Option<Losses> = None;
        for ((curve, copies), (above, below)) in self.stages.iter().zip(reaches) {
            let stage = Losses::of(curve, step, -(below / step) as i64, (above / step) as i64, interrupt)?;
            for _ in 0..*copies {
                product = Some(match product {
                    None => stage.copied(),
                    Some(before) => before.then(&stage, interrupt)?,
                });
            }
        }
        product.ok_or_else(|| Error::argument("no stage"))
    }

    /// The expression of the product, an upper bound of itself by rounding.
    fn value(&self, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let largest =
            Epsilon::from_f64(LARGEST).filter(|largest| largest.value.certainly_less(epsilon.value));
        let epsilon = largest.as_ref().unwrap_or(epsilon);
        let at = epsilon.value.to_enclosure();
        let product = self.product(at.upper(), interrupt)?;
        let ratio = epsilon.ratio();
        // Beyond the lattice nothing but the infinite mass counts; below it every mass does.
        let start = ((at.lower() / product.step).floor() - 1.0).max(product.first as f64) as i64;
        let skipped = usize::try_from(start - product.first).unwrap_or(0).min(product.masses.len());
        let mut sum = 0.0;
        for (place, &mass) in product.masses.iter().enumerate().skip(skipped) {
            let loss = Ball::from_f64((product.first + place as i64) as f64 * product.step);
            let share = Ball::ONE - ratio / loss.unwrap_or(Ball::WHOLE).exp();
            sum += mass * share.to_enclosure().upper().clamp(0.0, 1.0);
        }
        let total = (sum + product.infinite) * slack(product.masses.len());
        Ok(Ball::from_f64(total.min(1.0)).unwrap_or(Ball::ONE))
    }
}

/// An upper bound of a curve.
fn upper(curve: &Curve, epsilon: f64, interrupt: &dyn Interrupt) -> Result<f64, Error> {
    let at = Epsilon::from_f64(epsilon).ok_or_else(|| Error::argument("an infinite epsilon"))?;
    Ok(curve.ball(&at, interrupt)?.to_enclosure().upper().clamp(0.0, 1.0))
}

/// Quarters of an ε up to where a curve has fallen to `enough`.
fn reach(curve: &Curve, from: f64, enough: f64, interrupt: &dyn Interrupt) -> Result<f64, Error> {
    let mut last = from.max(0.25);
    while last < FURTHEST && upper(curve, last, interrupt)? > enough {
        last = (4.0 * last * 1.2).ceil() / 4.0;
    }
    Ok(last)
}

/// What makes a sum of so many positive products an upper bound.
fn slack(terms: usize) -> f64 {
    1.0 + 4.0 * (terms as f64 + 8.0) * UNIT
}

impl Losses {
    fn of(curve: &Curve, step: f64, bottom: i64, top: i64, interrupt: &dyn Interrupt) -> Result<Self, Error> {
        let ratio = |i: i64| Ball::from_f64(i as f64 * step).unwrap_or(Ball::WHOLE).exp();
        let infinite = upper(curve, top as f64 * step, interrupt)?;
        let mut masses = vec![LEAST; usize::try_from(top - bottom + 1).unwrap_or(0)];
        let (mut value, mut slope) = (exactly(infinite), Ball::ZERO);
        let mut above = ratio(top);
        for i in (bottom..top).rev() {
            interrupt.check()?;
            let here = ratio(i);
            let gap = above - here;
            let wanted = exactly(upper(curve, i as f64 * step, interrupt)?);
            let mass = ((wanted - value) / gap - slope) * above;
            let mass = mass.to_enclosure().upper().max(LEAST);
            masses[(i + 1 - bottom) as usize] = mass;
            slope = slope + exactly(mass) / above;
            value = value + slope * gap;
            above = here;
        }
        let last = (Ball::ONE - value) - slope * above;
        masses[0] = last.to_enclosure().upper().max(LEAST);
        Ok(Self { step, first: bottom, masses, infinite })
    }

    fn copied(&self) -> Self {
        Self { masses: self.masses.clone(), ..*self }
    }

    fn total(&self) -> f64 {
        self.masses.iter().sum::<f64>() * slack(self.masses.len())
    }

    /// This and another stage.
    fn then(&self, next: &Self, interrupt: &dyn Interrupt) -> Result<Self, Error> {
        let mut masses = vec![0.0; self.masses.len() + next.masses.len() - 1];
        for (place, &mass) in next.masses.iter().enumerate() {
            interrupt.check()?;
            for (sum, own) in masses[place..].iter_mut().zip(&self.masses) {
                *sum += own * mass;
            }
        }
        let factor = slack(self.masses.len().min(next.masses.len()));
        for mass in &mut masses {
            *mass = (*mass * factor).max(LEAST);
        }
        let either = self.infinite * (next.total() + next.infinite) + next.infinite * self.total();
        Ok(Self { step: self.step, first: self.first + next.first, masses, infinite: either * slack(8) })
    }
}

fn exactly(x: f64) -> Ball {
    Ball::from_f64(x).unwrap_or(Ball::WHOLE)
}

impl HockeyStick for Stages {
    fn delta(&self, epsilon: &Epsilon, _: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        self.value(epsilon, interrupt)
    }

    fn infinity_mass(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        // What no stage gives away for certain, all together do not.
        let mut shown = Ball::ONE;
        for (curve, copies) in self.stages.iter() {
            let hidden = Ball::ONE - curve.mass_ball(interrupt)?;
            shown = shown * hidden.powi(u64::from(*copies));
        }
        Ok(Ball::ONE - shown)
    }

    fn reversed(&self) -> Form {
        let stages =
            self.stages.iter().map(|(curve, copies)| (curve.reversed(), *copies)).collect::<Vec<_>>();
        Arc::new(Self { stages: stages.into(), products: Arc::default() })
    }

    fn terms(&self) -> f64 {
        1e6 * self.stages.iter().map(|(_, copies)| f64::from(*copies)).sum::<f64>()
    }

    fn is_loose(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Law;
    use crate::forms::Answers;
    use crate::interrupt::Uninterrupted;
    use crate::numbers::rational::Rational;

    fn number(text: &str) -> Rational {
        Rational::parse(text).unwrap()
    }

    fn response() -> Curve {
        let law = |one: &str, zero: &str| Law::table(0, vec![number(zero), number(one)]).unwrap();
        Answers::new(law("3/4", "1/4"), law("1/4", "3/4")).into()
    }

    /// Three true answers with probability 3/4 each: `P[k right]` against `P[3 − k right]`, at 3^(2k−3).
    #[test]
    fn three_randomised_responses_have_the_curve_of_their_sum() {
        let copies = Stages::new(vec![(response(), 3)]).unwrap();
        for (epsilon, ratio) in [("0", 1.0), ("1/2", 0.5_f64.exp()), ("2", 2.0_f64.exp())] {
            let found = Curve::from(copies.clone()).delta(&number(epsilon), &Uninterrupted).unwrap();
            let masses = [1.0, 9.0, 27.0, 27.0].map(|ways: f64| ways / 64.0);
            let exact: f64 = (0..4).map(|k| (masses[k] - ratio * masses[3 - k]).max(0.0)).sum();
            // The ratios 3^(2k−3) lie between points of the lattice: what is rounded up is small.
            assert!(found.lower() >= exact * (1.0 - 1e-14), "{epsilon}: {found:?} {exact}");
            assert!(found.upper() <= exact + 1e-3, "{epsilon}: {found:?} {exact}");
        }
    }

    #[test]
    fn one_stage_alone_is_its_curve_and_the_other_order_is_that_of_every_stage() {
        let law = |p| Law::binomial(5, &number(p)).unwrap();
        let curve = Curve::from(Answers::new(law("1/3"), law("1/2")));
        let one = Curve::from(Stages::new(vec![(curve.clone(), 1)]).unwrap());
        for (stage, own) in [(one.clone(), curve.clone()), (one.reversed(), curve.reversed())] {
            for epsilon in ["0", "1/10", "1", "-1/3"] {
                let found = stage.delta(&number(epsilon), &Uninterrupted).unwrap();
                let truth = own.delta(&number(epsilon), &Uninterrupted).unwrap();
                assert!(found.upper() >= truth.lower() && found.upper() <= truth.upper() + 1e-4, "{epsilon}");
            }
        }
        assert_eq!(one.infinity_mass(&Uninterrupted).unwrap(), curve.infinity_mass(&Uninterrupted).unwrap());
    }

    #[test]
    fn what_is_given_away_by_one_stage_is_given_away_by_all() {
        let law =
            |first: i64, one: &str, zero: &str| Law::table(first, vec![number(zero), number(one)]).unwrap();
        let shown = Curve::from(Answers::new(law(0, "3/4", "1/4"), law(1, "1/2", "1/2")));
        let three = Curve::from(Stages::new(vec![(shown, 3)]).unwrap());
        // 1 − (3/4)³.
        let mass = three.infinity_mass(&Uninterrupted).unwrap();
        assert!(mass.contains(&number("37/64")) && mass.width() < 1e-12);
        assert!(three.delta(&number("30"), &Uninterrupted).unwrap().upper() < 37.0 / 64.0 + 1e-6);
        assert!(Stages::new(Vec::new()).is_err() && Stages::new(vec![(response(), 101)]).is_err());
        assert!(Stages::new(vec![(response(), 0)]).is_err());
    }
}
