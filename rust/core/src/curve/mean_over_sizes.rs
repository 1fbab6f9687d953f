//! Means of the curves of counts over the number of entries that matter.
//!
//! ```text
//! δ(ε) = g · Σ_z P[Z = z] · Δ(k, w_k; ε)/w_k,      k = size − z,
//! ```
//!
//! where `Δ(k, w; ε)` is the curve of the count of a hidden sample of `k` entries that holds the critical one with probability `w`,
//! `Z` is the number of the other `size − 1` entries that do not matter, and `g` is the chance that the critical entry is counted at
//! all. Four situations are of this form.
//!
//! **Known entries** (Definition 3.3 for Example 1): the sample of `size` is drawn without replacement and holds the critical
//! entry; known entries only shift a count, so `w = 1`, `g = 1` and `Z` is hypergeometric.
//!
//! **Irrelevant entries**: each of some of the others does not matter with probability `x`, by itself; `w = 1`, `g = 1` and `Z` is
//! binomial. So it is in the sampling curve of Poisson sampling, and so it is in a histogram (`histogram.rs`).
//!
//! **Poisson sampling with published size** from `n` entries at rate `γ`: given the size `k` the sample is one without
//! replacement, which holds the critical entry with probability `w_k = k/n`. As the size has the same law whatever the critical entry,
//! `δ = Σ_k P[Bin(n,γ) = k] Δ(k, k/n)`; `k = 0` adds `(1 − e^ε)_+ = 0` for ε ≥ 0. With `P[Bin(n,γ) = k] = γ/w_k · P[Bin(n−1,γ) = k−1]`
//! that is the form above: `g = γ`, `size = n`, and `Z = n − k ~ Bin(n−1, 1−γ)`, the others that are not sampled.
//!
//! **Two cells of a sample's histogram** (`histogram.rs`): `w_k = k/(k + c)`.
//!
//! Every member lies in `[0, 1]`: `Δ(k, w) ≤ w`, because the hockey stick is jointly convex and both laws are mixtures with weights `1−w`
//! and `w` of the same law and of another one each. With `w = 1` members do not fall with `z`: adding an independent entry to a sum
//! is post-processing, and the heights `E(L − rK)_+` of a gated count fall in convex order with either number of entries. With `w_k < 1` they need not be monotone, but they vanish together: `κ` of `forms/shifted_binomial.rs` lies beyond
//! the last answer where `(e^ε−1)(1−w_k)/w_k` is large enough, and that falls with `k`.

use super::{CountFamily, Curve, Irrelevant, Weight};
use crate::budget::MAX_TERMS_OF_A_MEAN;
use crate::error::Error;
use crate::forms::{Direction, Epsilon};
use crate::interrupt::Interrupt;
use crate::laws::Hypergeometric;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use std::cell::RefCell;

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct MeanOverSizes {
    irrelevant: Irrelevant,
    size: u64,
    family: CountFamily,
    inclusion: Inclusion,
    counted: Weight,
    /// Values of `z` that share one threshold; 1 is the mean itself.
    step: u64,
}

/// The probability `w_k` that the critical entry is one of the `k` that matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inclusion {
    /// 1.
    Certain,
    /// `k/n`: any of `n` entries is as likely to be one of them.
    Among(u64),
    /// `k/(k + c)`: on average `c` entries that would matter are outside of the sample.
    Beside(Rational),
}

impl Inclusion {
    /// `k/w_k`; nothing where `w_k = 1` for all `k`.
    #[must_use]
    pub fn total(&self, k: u64) -> Option<Rational> {
        match self {
            Self::Certain => None,
            Self::Among(population) => Some(Rational::from(*population)),
            Self::Beside(outside) => Some(outside.add(&Rational::from(k))),
        }
    }
}

impl From<MeanOverSizes> for Curve {
    fn from(mean: MeanOverSizes) -> Self {
        Self::MeanOverSizes(Box::new(mean))
    }
}

/// The law of `Z` has a negligible mass beyond this number of standard deviations.
const SPREAD: f64 = 18.0;
/// The rest of the mean is cut where its bound falls below this part of the sum: `2^-60`.
const NEGLIGIBLE: f64 = 1.0 / ((1u64 << 60) as f64);
/// Terms between two polls of the interrupt.
const TERMS_PER_CHECK: u64 = 1 << 12;

/// Values of `z` whose members are evaluated together, where neighbouring sizes share work.
const RUN: u64 = 64;

impl MeanOverSizes {
    /// `known` of the other `population − 1` entries are known; the sample of `size` holds the critical one.
    ///
    /// # Errors
    /// `size` outside `1..=population`, `known` outside `0..population`.
    pub fn known_entries(population: u64, known: u64, size: u64, family: CountFamily) -> Result<Self, Error> {
        if size == 0 || size > population {
            return Err(Error::argument(format!(
                "size = {size}; an integer from 1 to the population of {population} is required"
            )));
        }
        if known >= population {
            return Err(Error::argument(format!(
                "known = {known}; an integer from 0 to {} is required: the critical entry is not known",
                population - 1
            )));
        }
        let law = Hypergeometric::new(population - 1, known, size - 1)?;
        Ok(Self::certain(Irrelevant::Hypergeometric(law), size, family))
    }

    /// Each of `others` of the other `size − 1` entries does not matter with probability `irrelevant`.
    ///
    /// # Errors
    /// `size` of 0 or above 2^53, `others` of `size` or more, `irrelevant` outside `[0, 1]`.
    pub fn irrelevant_entries(
        size: u64,
        others: u64,
        irrelevant: &Rational,
        family: CountFamily,
    ) -> Result<Self, Error> {
        family.of_size(size)?;
        if others >= size {
            return Err(Error::argument(format!(
                "others = {others}; an integer from 0 to {} is required: the critical entry matters",
                size - 1
            )));
        }
        Ok(Self::certain(Irrelevant::independent(others, irrelevant)?, size, family))
    }

    fn certain(irrelevant: Irrelevant, size: u64, family: CountFamily) -> Self {
        let counted = Weight::from(Rational::from(1i64));
        Self { irrelevant, size, family, inclusion: Inclusion::Certain, counted, step: 1 }
    }

    /// A sample that takes each of `population` entries with probability `rate`, its size published with the count.
    ///
    /// # Errors
    /// `population` of 0 or above 2^53, `rate` outside `(0, 1]`, a family over a range of probabilities.
    pub fn published_sample(population: u64, rate: &Rational, family: CountFamily) -> Result<Self, Error> {
        let one = Rational::from(1i64);
        if rate.is_negative() || rate.is_zero() || *rate > one {
            return Err(Error::argument(format!(
                "rate = {}; a number above 0 and at most 1 is required",
                rate.shown()
            )));
        }
        family.sampled(population, &one)?;
        let irrelevant = Irrelevant::independent(population - 1, &one.sub(rate))?;
        let (inclusion, counted) = (Inclusion::Among(population), Weight::from(rate.clone()));
        Ok(Self { irrelevant, size: population, family, inclusion, counted, step: 1 })
    }

    /// Two cells with the joint probability `share` in the histogram of a sample of `size` of `population` entries.
    pub(super) fn sampled_cells(
        population: u64,
        size: u64,
        share: &Rational,
        family: CountFamily,
    ) -> Result<Self, Error> {
        let elsewhere = Rational::from(1i64).sub(share);
        let certain = Self::irrelevant_entries(size, size.saturating_sub(1), &elsewhere, family)?;
        let left_out = population.checked_sub(size).ok_or_else(|| {
            Error::argument(format!(
                "size = {size}; an integer from 1 to the population of {population} is required"
            ))
        })?;
        let (Some(counted), 1..) = (Rational::from(size).div(&Rational::from(population)), left_out) else {
            return Ok(certain);
        };
        let inclusion = Inclusion::Beside(Rational::from(left_out).mul(share));
        Ok(Self { inclusion, counted: Weight::from(counted), ..certain })
    }

    /// The upper bound that replaces the members by those at the next of about `thresholds` thresholds, where they do not fall with
    /// `z`: where the critical entry is counted for sure. (The threshold bound of the paper has one threshold.)
    #[must_use]
    pub fn with_thresholds(self, thresholds: u64) -> Self {
        if self.inclusion != Inclusion::Certain {
            return self;
        }
        let step = (SPREAD * self.irrelevant.standard_deviation() / thresholds.max(1) as f64).ceil();
        Self { step: (step as u64).max(1), ..self }
    }

    /// The number of entries, with those that do not matter.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The law of the number of those that do not.
    #[must_use]
    pub fn irrelevant(&self) -> &Irrelevant {
        &self.irrelevant
    }

    /// The counts of those that do.
    #[must_use]
    pub fn family(&self) -> &CountFamily {
        &self.family
    }

    /// The probability that the critical entry is one of them.
    #[must_use]
    pub fn inclusion(&self) -> &Inclusion {
        &self.inclusion
    }

    /// The probability `g` that it is counted at all.
    #[must_use]
    pub fn counted(&self) -> &Rational {
        &self.counted.exact
    }

    /// Values of `z` that share one threshold; 1 is the mean itself.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The value that stands for `z` in the mean: `z` itself, or the largest that shares its threshold. Thresholds lie `step` apart,
    /// outwards from the mode.
    #[must_use]
    pub fn threshold(&self, z: u64) -> u64 {
        let mode = self.irrelevant.mode();
        if z < mode {
            return z + (mode - 1 - z) % self.step;
        }
        let above = (z - mode) / self.step * self.step;
        (mode + above).saturating_add(self.step - 1).min(self.irrelevant.greatest())
    }

    /// The curve of `k` entries that matter, and `w_k` if that is not 1 for all `k`.
    ///
    /// # Errors
    /// `k` of 0 or above 2^53.
    pub fn member(&self, k: u64) -> Result<(Curve, Option<Rational>), Error> {
        let inclusion = self.inclusion.total(k).and_then(|total| Rational::from(k).div(&total));
        let curve = match &inclusion {
            None => self.family.of_size(k)?,
            Some(inclusion) => self.family.sampled(k, inclusion)?,
        };
        Ok((curve, inclusion))
    }

    pub(super) fn reversed(&self) -> Self {
        Self { family: self.family.clone().reversed(), ..self.clone() }
    }

    pub(super) fn terms(&self) -> f64 {
        let spread = self.spread();
        2.0 * (spread / self.step as f64 + 1.0) * self.family.terms() + spread
    }

    /// About how many values of `z` matter.
    fn spread(&self) -> f64 {
        (SPREAD * self.irrelevant.standard_deviation()).min(self.size as f64)
    }

    /// The mean at an ε of at least 0.
    pub(super) fn delta(&self, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let run = RefCell::new(Run::default());
        let alone = |curve: &Curve| curve.at(epsilon, Ball::ZERO, interrupt);
        let certain = |z: u64| {
            if !run.borrow().holds(z) {
                *run.borrow_mut() = self.run(z, epsilon, interrupt)?;
            }
            let shared = run.borrow().value(z);
            shared.map_or_else(|| alone(&self.family.of_size(self.size - z)?), Ok)
        };
        if self.inclusion == Inclusion::Certain && self.step == 1 && self.spread() > RUN as f64 {
            return self.ball(&certain, interrupt);
        }
        self.mean(&alone, interrupt)
    }

    /// The members around `z`, as far as they share work.
    fn run(&self, z: u64, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Run, Error> {
        let first = (z - z % RUN).max(self.irrelevant.least());
        let last = (z - z % RUN + RUN - 1).min(self.irrelevant.greatest());
        let sizes: Vec<u64> = (first..=last).map(|z| self.size - z).collect();
        Ok(Run { first, values: self.family.shared(&sizes, epsilon, interrupt)? })
    }

    /// The mean of the values of the members.
    fn mean(
        &self,
        value: &dyn Fn(&Curve) -> Result<Ball, Error>,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        let member = |z: u64| {
            let (curve, inclusion) = self.member(self.size - z)?;
            let value = value(&curve)?;
            Ok(match inclusion {
                Some(inclusion) => value / Ball::from_rational(&inclusion),
                None => value,
            })
        };
        self.ball(&member, interrupt)
    }

    /// The mean of `Δ(k, w_k)/w_k`, `k = size − z`, as a function of `z`.
    fn ball(
        &self,
        member: &dyn Fn(u64) -> Result<Ball, Error>,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        if self.spread() > 2.0 * MAX_TERMS_OF_A_MEAN as f64 {
            return Err(Error::precision(format!(
                "a mean over about {:.0e} numbers of entries takes too long; fewer than {:.0e} are taken on",
                self.spread(),
                2.0 * MAX_TERMS_OF_A_MEAN as f64
            )));
        }
        let at = |z: u64| {
            interrupt.check()?;
            member(z)
        };
        let Some(start) = self.start(&at)? else { return Ok(Ball::ZERO) };
        let first = self.irrelevant.probability(start);
        let sum = self.sum_up(start, first, &at, interrupt)?;
        Ok(self.counted.ball * self.sum_down(start, first, sum, &at, interrupt)?)
    }

    /// The limit for ε → ∞.
    ///
    /// The member of `k` certain entries has `a^(k−1)`, with `a` that of two: the largest probability with which another entry is
    /// counted, or is not, unless counts are gated. So `Z ~ Bin(m, x)` gives `E[a^(size−1−Z)] = a^(size−1−m) (x + (1−x) a)^m`, which is no sum.
    pub(super) fn infinity_mass(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        if let (Irrelevant::Binomial(law), Inclusion::Certain, 1) =
            (&self.irrelevant, &self.inclusion, self.step)
            && self.family.has_powers()
        {
            let one_more = self.family.of_size(2)?.mass_ball(interrupt)?;
            return Ok(law.generating_function(one_more) * one_more.powi(self.size - 1 - law.others()));
        }
        self.mean(&|curve| curve.mass_ball(interrupt), interrupt)
    }

    /// The first `z` of the sum: the mode, or the greatest `z` with a member above zero if that is below the mode. `None` if all members
    /// are zero. Beyond a member that is zero all are zero, so bisection finds the border.
    fn start(&self, at: &dyn Fn(u64) -> Result<Ball, Error>) -> Result<Option<u64>, Error> {
        let (mut least, mut zero) = (self.irrelevant.least(), self.irrelevant.mode());
        if self.inclusion == Inclusion::Certain || !at(zero)?.is_exact_zero() {
            return Ok(Some(zero));
        }
        if at(least)?.is_exact_zero() {
            return Ok(None);
        }
        while zero - least > 1 {
            let middle = least + (zero - least) / 2;
            if at(middle)?.is_exact_zero() { zero = middle } else { least = middle }
        }
        Ok(Some(least))
    }

    /// The terms from `start` on, a whole block of `step` at once.
    ///
    /// Members are at most 1, so what is left is at most the tail of the law; beyond the mode its ratios `r` are below 1 and fall, so after
    /// the term `t` the tail is at most `t r/(1−r)`.
    fn sum_up(
        &self,
        start: u64,
        first: Ball,
        at: &dyn Fn(u64) -> Result<Ball, Error>,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        let greatest = self.irrelevant.greatest();
        let (mut sum, mut weight, mut block) = (Ball::ZERO, first, Ball::ZERO);
        for z in start..=greatest {
            block = block + weight;
            let count = z - start + 1;
            let ratio = if z < greatest { self.irrelevant.ratio_up(z) } else { Ball::ZERO };
            if z == greatest || count.is_multiple_of(self.step) {
                let value = at(z)?;
                if value.is_exact_zero() {
                    break;
                }
                sum = sum + block * value;
                block = Ball::ZERO;
                let rest = weight * ratio / (Ball::ONE - ratio);
                if z < greatest && is_left_out(rest, sum, count) {
                    return Ok(sum.plus_at_most(rest));
                }
            }
            weight = weight * ratio;
            if count.is_multiple_of(TERMS_PER_CHECK) {
                interrupt.check()?;
            }
        }
        Ok(sum)
    }

    /// `sum` and the terms below `start`, which is at most the mode: so downwards the ratios are below 1 and fall as well. Where members do
    /// not fall with `z`, what is left is at most the tail times the value reached.
    fn sum_down(
        &self,
        start: u64,
        first: Ball,
        mut sum: Ball,
        at: &dyn Fn(u64) -> Result<Ball, Error>,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        let (mut weight, mut reached) = (first, Ball::ZERO);
        for z in (self.irrelevant.least()..start).rev() {
            let ratio = Ball::ONE / self.irrelevant.ratio_up(z);
            weight = weight * ratio;
            let count = start - z;
            if (count - 1).is_multiple_of(self.step) {
                reached = at(z)?;
            }
            sum = sum + weight * reached;
            let most = if self.inclusion == Inclusion::Certain { reached } else { Ball::ONE };
            let rest = weight * ratio / (Ball::ONE - ratio) * most;
            if is_left_out(rest, sum, count) {
                return Ok(sum.plus_at_most(rest));
            }
            if count.is_multiple_of(TERMS_PER_CHECK) {
                interrupt.check()?;
            }
        }
        Ok(sum)
    }
}

/// The values of neighbouring members, nothing where one shares no work with the others.
#[derive(Default)]
struct Run {
    /// The least `z`.
    first: u64,
    values: Vec<Option<Ball>>,
}

impl Run {
    fn holds(&self, z: u64) -> bool {
        z.checked_sub(self.first).is_some_and(|place| place < self.values.len() as u64)
    }

    fn value(&self, z: u64) -> Option<Ball> {
        self.values.get((z - self.first) as usize).copied().flatten()
    }
}

/// Whether `rest` is certainly positive, and below a `2^-60`th of `sum` or more work than it is worth.
fn is_left_out(rest: Ball, sum: Ball, terms: u64) -> bool {
    rest.is_positive() && (terms > MAX_TERMS_OF_A_MEAN || (rest / sum).to_enclosure().upper() < NEGLIGIBLE)
}

/// Poisson sampling with published size of entries that have a property with probability `p`: see the module documentation.
///
/// The size has the same law in both directions, so the worst direction is that of the whole mean.
///
/// # Errors
/// As [`MeanOverSizes::published_sample`]; `p` outside `[0, 1]`.
pub fn poisson_published(
    population: u64,
    rate: &Rational,
    p: &Rational,
    direction: Option<Direction>,
) -> Result<Curve, Error> {
    let directed = |direction| {
        let family = CountFamily::new(p, p, Some(direction))?;
        MeanOverSizes::published_sample(population, rate, family).map(Curve::from)
    };
    match direction {
        Some(direction) => directed(direction),
        None => Ok(Curve::Max(Direction::BOTH.into_iter().map(directed).collect::<Result<_, _>>()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digits;
    use crate::interrupt::Uninterrupted;

    fn known_entries(population: u64, known: u64, size: u64) -> MeanOverSizes {
        let half = Rational::parse("1/2").unwrap();
        MeanOverSizes::known_entries(population, known, size, CountFamily::new(&half, &half, None).unwrap())
            .unwrap()
    }

    #[test]
    fn thresholds_lie_a_step_apart_outwards_from_the_mode() {
        let mean = known_entries(1000, 400, 300);
        assert_eq!((mean.step(), mean.size(), mean.threshold(17), mean.threshold(250)), (1, 300, 17, 250));
        for thresholds in [1, 3, 10] {
            let coarse = known_entries(1000, 400, 300).with_thresholds(thresholds);
            let step = (SPREAD * mean.irrelevant().standard_deviation() / thresholds as f64).ceil() as u64;
            assert_eq!(coarse.step(), step);
            let (mode, greatest) = (coarse.irrelevant().mode(), coarse.irrelevant().greatest());
            for z in 0..=greatest {
                let threshold = coarse.threshold(z);
                // The largest number of the block of z: blocks end at the mode − 1 and a multiple of the step below it, or start at the mode.
                assert!((z..z + step).contains(&threshold) && threshold <= greatest);
                let ends = if z < mode {
                    (mode - 1 - threshold).is_multiple_of(step)
                } else {
                    threshold == greatest || (threshold + 1 - mode).is_multiple_of(step)
                };
                assert!(ends, "{z} is worth {threshold}");
            }
        }
        assert_eq!(
            known_entries(1000, 400, 300).with_thresholds(0).step(),
            known_entries(1000, 400, 300).with_thresholds(1).step()
        );
        assert_eq!(known_entries(10, 0, 3).with_thresholds(5).step(), 1);
    }

    #[test]
    fn the_opposite_direction_is_that_of_every_member() {
        let [p, epsilon] = ["1/5", "1/3"].map(|text| Rational::parse(text).unwrap());
        let mean = |direction| {
            let family = CountFamily::new(&p, &p, Some(direction)).unwrap();
            MeanOverSizes::known_entries(40, 10, 8, family).unwrap()
        };
        let value = |mean: MeanOverSizes| Curve::from(mean).delta(&epsilon, &Uninterrupted).unwrap();
        let [one, zero] = [Direction::OneAgainstZero, Direction::OneAgainstZero.reversed()].map(mean);
        assert_eq!(value(one.reversed()), value(zero.clone()));
        assert_ne!(value(one), value(zero));
    }

    #[test]
    fn only_certain_members_have_thresholds() {
        let rational = |text: &str| Rational::parse(text).unwrap();
        let family = || CountFamily::new(&rational("1/2"), &rational("1/2"), None).unwrap();
        let irrelevant = MeanOverSizes::irrelevant_entries(4001, 4000, &rational("1/2"), family()).unwrap();
        // 18 · √1000 / 10, rounded up.
        assert_eq!(irrelevant.with_thresholds(10).step(), 57);
        let published = MeanOverSizes::published_sample(4001, &rational("1/2"), family()).unwrap();
        assert_eq!(published.with_thresholds(10).step(), 1);
    }

    /// What the mean, and its bound, would take minutes for; the digits tier is not asked either.
    #[test]
    fn a_law_that_is_too_wide_is_refused_at_once() {
        let rational = |text: &str| Rational::parse(text).unwrap();
        let family = || CountFamily::new(&rational("1/2"), &rational("1/2"), None).unwrap();
        let size = 1 << 50;
        let mean = MeanOverSizes::irrelevant_entries(size, size - 1, &rational("1/2"), family()).unwrap();
        for mean in [mean.clone(), mean.with_thresholds(1)] {
            let refused = Curve::from(mean).delta(&rational("1e-8"), &Uninterrupted);
            let Err(Error::Precision(message)) = refused else { panic!("not refused") };
            assert_eq!(
                message,
                "a mean over about 3e8 numbers of entries takes too long; fewer than 8e6 are taken on"
            );
        }
    }

    /// With members to 25 digits the radius is little else than what is left out, and has to cover it: above where members are about 1 and
    /// nothing is left out below, below where they are small, and on both sides.
    #[test]
    fn what_is_left_out_is_within_the_radius() {
        let rational = |text: &str| Rational::parse(text).unwrap();
        let family =
            |p: &str| CountFamily::new(&rational(p), &rational(p), Some(Direction::OneAgainstZero)).unwrap();
        let size = crate::cases::cases(10_000, 40_000).into();
        let irrelevant = |p: &str, share: &str| {
            MeanOverSizes::irrelevant_entries(size, size - 1, &rational(share), family(p)).unwrap()
        };
        let published = MeanOverSizes::published_sample(size, &rational("1/2"), family("1/3")).unwrap();
        let epsilon = rational("0.003");
        for mean in [irrelevant("1e-9", "1/2000"), irrelevant("1/3", "1/2"), published] {
            let curve = Curve::from(mean);
            let ball = curve.ball(&Epsilon::new(&epsilon).precisely(), &Uninterrupted).unwrap();
            let digits = crate::curve::digits::delta(&curve, &epsilon, 30, &Uninterrupted).unwrap();
            let end = |end: &digits::Dyadic| Ball::from_rational(&end.to_rational().unwrap());
            let gap = ball - end(digits.lower()).hull(end(digits.upper()));
            assert!(gap.to_enclosure().contains(&rational("0")), "{ball:?} is off by {gap:?}");
            assert!(ball.relative_error() < 2e-18, "{ball:?}");
        }
    }

    #[test]
    fn an_interruption_ends_a_mean() {
        struct Never;
        impl Interrupt for Never {
            fn check(&self) -> Result<(), Error> {
                Err(Error::Interrupted)
            }
        }
        let mean = Curve::from(known_entries(1000, 400, 300));
        let epsilon = Rational::parse("0.1").unwrap();
        assert_eq!(mean.delta(&epsilon, &Never), Err(Error::Interrupted));
    }

    #[test]
    fn a_rest_is_left_out_below_a_part_of_the_sum_or_after_many_terms() {
        let power = |k: u64| Ball::ONE / Ball::from_u64(2).powi(k);
        let is_left_out = |rest, terms| is_left_out(rest, Ball::ONE, terms);
        assert!(!is_left_out(power(60), 1) && is_left_out(power(61), 1));
        assert!(
            !is_left_out(power(3), MAX_TERMS_OF_A_MEAN) && is_left_out(power(3), MAX_TERMS_OF_A_MEAN + 1)
        );
        assert!(!is_left_out(Ball::ZERO, MAX_TERMS_OF_A_MEAN + 1));
    }

    #[test]
    fn a_run_holds_as_many_neighbours_as_it_has_values() {
        let run = Run { first: 5, values: vec![Some(Ball::ONE), None] };
        assert_eq!([4, 5, 6, 7].map(|z| run.holds(z)), [false, true, true, false]);
    }
}
