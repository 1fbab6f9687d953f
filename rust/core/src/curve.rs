//! Privacy curves: expressions of normal forms, evaluated at any ε.

pub mod digits;
pub mod exact;
mod histogram;
mod in_turn;
mod irrelevant;
mod loosened;
mod mean_over_sizes;
mod stages;

pub use histogram::{histogram, sampled_histogram};
pub use in_turn::{InTurn, Kind};
pub use irrelevant::{IndependentlyIrrelevant, Irrelevant};
pub use loosened::Loosened;
pub use mean_over_sizes::{Inclusion, MeanOverSizes, poisson_published};
pub use stages::Stages;

use crate::budget::MAX_TERMS_OF_DIGITS;
use crate::digits::{DigitsEnclosure, Dyadic};
use crate::error::Error;
use crate::forms::{
    self, Answers, BinomialPeaks, BinomialRange, Directed, Direction, End, Epsilon, Form, HockeyStick,
    Pattern, ShiftedBinomial, WrittenOut,
};
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::enclosure::Enclosure;
use crate::numbers::rational::Rational;
use std::sync::Arc;

/// A privacy curve, or a certified bound of one: a normal form, or one of five expressions of curves.
#[derive(Clone, Debug)]
pub enum Curve {
    /// A normal form.
    Form(Form),
    /// `γ Δ(ln(1 + (e^ε − 1)/γ))` for `ε ≥ 0`: an answer about a sample that holds the critical entry with probability γ. See
    /// [`Curve::amplified`].
    Amplified(Weight, Box<Curve>),
    /// The weighted mean of curves, where the adversary knows the template. Weights are positive and add up to at most 1; with the
    /// remaining probability the answers do not depend on the critical entry.
    Mean(Vec<(Weight, Curve)>),
    /// As [`Curve::Mean`], over the number of entries that matter.
    MeanOverSizes(Box<MeanOverSizes>),
    /// The pointwise maximum: the worst of several pairs, groups or probabilities.
    Max(Vec<Curve>),
    /// The pointwise minimum: the best of several certified upper bounds.
    Min(Vec<Curve>),
}

impl<F: HockeyStick + 'static> From<F> for Curve {
    fn from(form: F) -> Self {
        Self::Form(Arc::new(form))
    }
}

impl From<WrittenOut> for Curve {
    fn from(laws: WrittenOut) -> Self {
        match laws {
            WrittenOut::Laws(laws) => laws.into(),
            WrittenOut::Worst(pairs) => Self::Max(pairs.into_iter().map(Self::from).collect()),
            WrittenOut::Mean(parts) => {
                let part = |(weight, pairs): (Rational, _)| (weight.into(), WrittenOut::Worst(pairs).into());
                Self::Mean(parts.into_iter().map(part).collect())
            }
        }
    }
}

/// The probability of a template.
#[derive(Clone, Debug)]
pub struct Weight {
    /// As it was given.
    pub exact: Rational,
    ball: Ball,
}

impl From<Rational> for Weight {
    fn from(exact: Rational) -> Self {
        Self { ball: Ball::from_rational(&exact), exact }
    }
}

/// Counts of a property, one for each size. The probability lies in `[lower, upper]` and is prepared once. A gated family bounds counts
/// that are published within a gate only, for every probability.
#[derive(Clone, Debug)]
pub struct CountFamily {
    entries: Entries,
    direction: Option<Direction>,
}

/// The laws of one entry alone.
#[derive(Clone, Debug)]
enum Entries {
    Known(ShiftedBinomial),
    Range(BinomialRange),
    /// The count of `whole` entries is published from `least` to `most`.
    Gated {
        whole: u64,
        least: u64,
        most: u64,
    },
}

impl CountFamily {
    /// With `direction = None` curves are the maximum over both directions.
    ///
    /// # Errors
    /// Ends outside `[0, 1]` or in the wrong order.
    pub fn new(lower: &Rational, upper: &Rational, direction: Option<Direction>) -> Result<Self, Error> {
        let range = BinomialRange::new(1, lower, upper)?;
        let entries = if lower == upper {
            Entries::Known(ShiftedBinomial::new(1, lower, &Rational::from(1i64))?)
        } else {
            Entries::Range(range)
        };
        Ok(Self { entries, direction })
    }

    /// The bound over all probabilities of a count of `whole` entries that is published only from `least` to `most`. A smaller size means that the
    /// adversary knows all other entries, with their worst values.
    ///
    /// # Errors
    /// `whole` of 0 or above 2^53, ends in the wrong order.
    pub fn gated(whole: u64, least: u64, most: u64, direction: Option<Direction>) -> Result<Self, Error> {
        BinomialRange::new(whole, &Rational::from(0i64), &Rational::from(1i64))?;
        if least > most {
            return Err(Error::argument("a gate needs least ≤ most"));
        }
        Ok(Self { entries: Entries::Gated { whole, least, most }, direction })
    }

    /// The curve of the count of `size` entries, the critical one certainly among them.
    ///
    /// # Errors
    /// `size` of 0 or above 2^53; above the whole of a gated count.
    pub fn of_size(&self, size: u64) -> Result<Curve, Error> {
        match &self.entries {
            Entries::Known(pair) => {
                let pair = pair.with_size(size)?;
                Ok(self.oriented(|direction| Directed(pair.clone(), direction).into()))
            }
            Entries::Range(range) => {
                let range = range.with_size(size)?;
                Ok(self.oriented(|direction| Directed(range.clone(), direction).into()))
            }
            &Entries::Gated { whole, least, most } => {
                let peaks = gate(whole, size, least, most)?;
                Ok(self.oriented(|direction| Directed(peaks.clone(), direction).into()))
            }
        }
    }

    /// `δ(ε)` of the count at many sizes, in any order, for `ε ≥ 0`. Sizes that lie close together share work.
    ///
    /// # Errors
    /// As [`CountFamily::of_size`] and [`Curve::delta`]; an ε below 0.
    pub fn deltas(
        &self,
        sizes: &[u64],
        epsilon: &Rational,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<Enclosure>, Error> {
        if epsilon.is_negative() {
            return Err(Error::argument(format!(
                "epsilon = {}; a number of at least 0 is required",
                epsilon.shown()
            )));
        }
        let epsilon = Epsilon::new(epsilon);
        let each = |(&size, shared): (&u64, Option<Ball>)| {
            if let Some(ball) = shared {
                return Ok(ball.to_enclosure().clamp(0.0, 1.0));
            }
            interrupt.check()?;
            self.of_size(size)?.enclosure(&epsilon, interrupt)
        };
        sizes.iter().zip(self.shared(sizes, &epsilon, interrupt)?).map(each).collect()
    }

    /// The values at the sizes that share work.
    fn shared(
        &self,
        sizes: &[u64],
        epsilon: &Epsilon,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<Option<Ball>>, Error> {
        let Entries::Known(pair) = &self.entries else { return Ok(vec![None; sizes.len()]) };
        let in_direction = |direction| pair.deltas_of_sizes(direction, sizes, epsilon, interrupt);
        if let Some(direction) = self.direction {
            return in_direction(direction);
        }
        let [one, other] = Direction::BOTH.map(in_direction);
        let greater =
            |(one, other): (Option<Ball>, Option<Ball>)| one.zip(other).map(|(one, other)| one.max(other));
        Ok(one?.into_iter().zip(other?).map(greater).collect())
    }

    /// Whether, for ε → ∞, every member is a power of the member of two entries.
    fn has_powers(&self) -> bool {
        !matches!(self.entries, Entries::Gated { .. })
    }

    /// The curve of the count of a hidden sample of `size` entries, the critical one among them with
    /// probability `inclusion`.
    ///
    /// # Errors
    /// As [`ShiftedBinomial::new`]; a range of probabilities, for which no exact form is known here.
    pub fn sampled(&self, size: u64, inclusion: &Rational) -> Result<Curve, Error> {
        let Entries::Known(pair) = &self.entries else {
            return Err(Error::argument(
                "the exact law of a sampled count needs one probability, not a range",
            ));
        };
        let pair = pair.in_sample(size, inclusion)?;
        Ok(self.oriented(|direction| Directed(pair.clone(), direction).into()))
    }

    fn terms(&self) -> f64 {
        match &self.entries {
            Entries::Known(pair) => pair.terms(),
            Entries::Range(range) => range.terms(),
            Entries::Gated { .. } => self.of_size(1).map_or(1.0, |curve| curve.terms()),
        }
    }

    /// The same counts in the other direction. A maximum over both directions stays the same.
    fn reversed(self) -> Self {
        Self { direction: self.direction.map(Direction::reversed), ..self }
    }

    fn oriented(&self, curve: impl Fn(Direction) -> Curve) -> Curve {
        match self.direction {
            Some(direction) => curve(direction),
            None => Curve::Max(Direction::BOTH.map(curve).into()),
        }
    }
}

/// The bound of a count of `whole` entries that is published from `least` to `most`. `size` entries are unknown and the others known.
///
/// `K` known entries that have the property leave the gate `[least − K, most − K]` to the others; heights are largest at the ends of the tests
/// of all these gates together, and rise as fewer entries are unknown.
fn gate(whole: u64, size: u64, least: u64, most: u64) -> Result<BinomialPeaks, Error> {
    let known = whole.checked_sub(size).ok_or_else(|| {
        Error::argument(format!("size = {size}; at most {whole}, the entries that are counted, are required"))
    })?;
    let others = size.saturating_sub(1);
    let tests = vec![least.saturating_sub(known.saturating_add(1)).min(others), most.min(others)];
    BinomialPeaks::new(size, tests, &Rational::from(0i64), &Rational::from(1i64))
}

/// Values with a larger relative error are computed again with digits.
const WIDE: f64 = 5e-13;
/// Smaller values are not computed again: doubles do not hold them to full accuracy.
const MIN_NORMAL: f64 = 1e-300;
/// Number of digits of such a value.
const DIGITS: u32 = 20;

/// Maximum width of an enclosure of δ; a wider one is an error.
const UNINFORMATIVE: f64 = 1e-6;
/// Maximum width of an enclosure of a bound of many laws.
const LOOSE: f64 = 1e-3;

impl Curve {
    /// The curve of an answer about a sample that holds the critical entry with probability `rate`. `curve` is the curve of the answer
    /// given that the sample holds that entry.
    ///
    /// **Theorem** (advanced joint convexity: Balle, Barthe, Gaboardi 2018). Let `P = (1−γ)R + γP'`, `Q = (1−γ)R + γQ'` and
    /// `e^{ε'} = 1 + (e^ε − 1)/γ`. Then `Δ(P, Q; ε) = γ Δ(P', (1−β)R + βQ'; ε')` with `β = e^{ε−ε'}`: pointwise, `P − e^ε Q = γP' − e^ε γQ' −
    /// (e^ε − 1)(1−γ)R = γ(P' − e^{ε'}((1−β)R + βQ'))`, as `e^{ε'}β = e^ε` and `γe^{ε'}(1−β) = (e^ε−1)(1−γ)`. By convexity it is at most `γ` times the larger
    /// of `Δ(P', R; ε')` and `Δ(P', Q'; ε')`. Equality holds for `R = Q'`, for example for `Δ_{1,0}` of a count of a hidden Poisson sample.
    ///
    /// # Errors
    /// A rate outside `(0, 1]`.
    pub fn amplified(rate: Rational, curve: Self) -> Result<Self, Error> {
        if rate.is_negative() || rate.is_zero() || rate > Rational::from(1i64) {
            return Err(Error::argument(format!(
                "rate = {}; a number above 0 and at most 1 is required",
                rate.shown()
            )));
        }
        Ok(Self::Amplified(rate.into(), Box::new(curve)))
    }

    /// δ at ε, as a ball.
    ///
    /// # Errors
    /// [`Error::Precision`], [`Error::Interrupted`].
    pub fn ball(&self, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        if epsilon.is_negative() {
            return epsilon.reflect(|opposite| self.reversed().ball(opposite, interrupt));
        }
        self.at(epsilon, Ball::ZERO, interrupt)
    }

    /// δ(ε), for an ε of either sign.
    ///
    /// # Errors
    /// [`Error::Precision`], [`Error::Interrupted`].
    pub fn delta(&self, epsilon: &Rational, interrupt: &dyn Interrupt) -> Result<Enclosure, Error> {
        self.enclosure(&Epsilon::new(epsilon), interrupt)
    }

    /// δ at the rational that a double stores, of either sign.
    ///
    /// # Errors
    /// As [`Curve::delta`]; an ε that is not finite.
    pub fn delta_at(&self, epsilon: f64, interrupt: &dyn Interrupt) -> Result<Enclosure, Error> {
        let prepared = Epsilon::from_f64(epsilon)
            .ok_or_else(|| Error::argument(format!("epsilon = {epsilon}; a finite number is required")))?;
        self.enclosure(&prepared, interrupt)
    }

    /// A number on the same side of a level as δ at the rational that a double stores. It is δ itself where δ is next to the level or costs
    /// no more.
    ///
    /// # Errors
    /// As [`Curve::delta_at`].
    pub(crate) fn told_from(
        &self,
        level: Ball,
        epsilon: f64,
        interrupt: &dyn Interrupt,
    ) -> Result<Enclosure, Error> {
        match (self, Epsilon::from_f64(epsilon)) {
            (Self::Form(form), Some(prepared)) if form.has_rough_values() && epsilon >= 0.0 => {
                Ok(form.told_from(level, &prepared, interrupt)?.to_enclosure())
            }
            _ => self.delta_at(epsilon, interrupt),
        }
    }

    /// Whether a few digits of δ cost less than δ.
    #[must_use]
    pub fn has_rough_values(&self) -> bool {
        matches!(self, Self::Form(form) if form.has_rough_values())
    }

    /// δ(ε) for an ε of either sign, to about a relative width. The value is narrower if this costs no more.
    ///
    /// # Errors
    /// [`Error::Precision`], [`Error::Interrupted`].
    pub fn within(&self, width: f64, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        match self {
            Self::Form(form) if form.has_rough_values() && !epsilon.is_negative() => {
                form.within(width, epsilon, interrupt)
            }
            _ => self.ball(epsilon, interrupt),
        }
    }

    /// Whether a value is an enclosure between an attained number and a bound of all pairs of values. These need not be close.
    #[must_use]
    pub fn is_bracket(&self) -> bool {
        match self {
            Self::Form(form) => form.is_bracket(),
            Self::Amplified(_, curve) => curve.is_bracket(),
            Self::Mean(parts) => parts.iter().any(|(_, curve)| curve.is_bracket()),
            Self::Max(curves) | Self::Min(curves) => curves.iter().any(Self::is_bracket),
            Self::MeanOverSizes(_) => false,
        }
    }

    /// Whether a value is a bound of many laws at once, which no effort makes narrow.
    fn is_loose(&self) -> bool {
        match self {
            Self::Form(form) => form.is_loose(),
            Self::Amplified(_, curve) => curve.is_loose(),
            Self::Mean(parts) => parts.iter().any(|(_, curve)| curve.is_loose()),
            Self::Max(curves) | Self::Min(curves) => curves.iter().any(Self::is_loose),
            Self::MeanOverSizes(_) => false,
        }
    }

    /// The curve of one end of every [bracket](Self::is_bracket).
    pub(crate) fn end(&self, end: End) -> Self {
        let all = |curves: &[Self]| curves.iter().map(|curve| curve.end(end)).collect();
        match self {
            Self::Form(form) => Self::Form(form.end(end).unwrap_or_else(|| Arc::clone(form))),
            Self::Amplified(rate, curve) => Self::Amplified(rate.clone(), Box::new(curve.end(end))),
            Self::Mean(parts) => {
                Self::Mean(parts.iter().map(|(weight, curve)| (weight.clone(), curve.end(end))).collect())
            }
            Self::Max(curves) => Self::Max(all(curves)),
            Self::Min(curves) => Self::Min(all(curves)),
            Self::MeanOverSizes(_) => self.clone(),
        }
    }

    /// The worst pairs of values of a composition at this ε, or the worst that were found; nothing for other curves.
    ///
    /// # Errors
    /// [`Error::Precision`], [`Error::Interrupted`].
    pub fn worst_pairs(
        &self,
        epsilon: &Rational,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<Pattern>, Error> {
        match self {
            Self::Form(form) => form.worst_pairs(&Epsilon::new(epsilon), interrupt),
            _ => Ok(None),
        }
    }

    /// δ by balls. A wide result, as next to a tie of κ with an integer, is computed again by digits.
    fn enclosure(&self, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Enclosure, Error> {
        let found = self
            .ball(epsilon, interrupt)
            .map(|ball| (ball.relative_error(), ball.to_enclosure().clamp(0.0, 1.0)));
        let bracket = self.is_bracket();
        let narrow = |&(error, enclosure): &(f64, Enclosure)| {
            bracket || error < WIDE || enclosure.upper() < MIN_NORMAL
        };
        if let Ok((_, enclosure)) = found
            && found.as_ref().is_ok_and(narrow)
        {
            return Ok(enclosure);
        }
        if let Err(error @ (Error::Argument(_) | Error::Interrupted)) = found {
            return Err(error);
        }
        if self.terms() <= MAX_TERMS_OF_DIGITS
            && let Some(exact) = epsilon.exact()
        {
            match crate::curve::digits::delta(self, &exact, DIGITS, interrupt) {
                Ok(digits) => return Ok(outward(&digits)),
                // These laws have no digits.
                Err(Error::Precision(_)) => {}
                Err(error) => return Err(error),
            }
        }
        match found?.1 {
            enclosure if enclosure.width() <= UNINFORMATIVE => Ok(enclosure),
            // A loose bound need not be known as well as δ.
            enclosure if self.is_loose() && enclosure.width() <= LOOSE => Ok(enclosure),
            enclosure => Err(Error::precision(format!(
                "delta can only be enclosed between {} and {} here, which says too little",
                enclosure.lower(),
                enclosure.upper()
            ))),
        }
    }

    /// δ at each of many ε.
    ///
    /// # Errors
    /// As [`Curve::delta`]; an ε that is not finite.
    pub fn deltas(&self, epsilons: &[f64], interrupt: &dyn Interrupt) -> Result<Vec<Enclosure>, Error> {
        let each = |(&epsilon, shared): (&f64, Option<Ball>)| {
            interrupt.check()?;
            let value = match shared {
                Some(ball) => Ok(ball.to_enclosure().clamp(0.0, 1.0)),
                None => self.delta_at(epsilon, interrupt),
            };
            value.map_err(|error| match error {
                Error::Precision(why) => Error::precision(format!("epsilon = {epsilon:?}: {why}")),
                other => other,
            })
        };
        epsilons.iter().zip(self.shared(epsilons)).map(each).collect()
    }

    /// δ at the ε that share work.
    fn shared(&self, epsilons: &[f64]) -> Vec<Option<Ball>> {
        match self {
            Self::Form(form) => form.deltas(epsilons),
            Self::Max(curves) => {
                let mut greatest = vec![Some(Ball::ZERO); epsilons.len()];
                for curve in curves {
                    for (greatest, value) in greatest.iter_mut().zip(curve.shared(epsilons)) {
                        *greatest = greatest.zip(value).map(|(one, other)| one.max(other));
                    }
                }
                greatest
            }
            _ => vec![None; epsilons.len()],
        }
    }

    /// `ln δ(ε)`, also for a δ far below the least double; −∞ for δ = 0.
    ///
    /// # Errors
    /// As [`Curve::delta`].
    pub fn log_delta(&self, epsilon: &Rational, interrupt: &dyn Interrupt) -> Result<Enclosure, Error> {
        let delta = self.ball(&Epsilon::new(epsilon).precisely(), interrupt)?;
        if delta.is_exact_zero() {
            return Ok(Enclosure::point(f64::NEG_INFINITY));
        }
        let logarithm = delta.ln().to_enclosure().clamp(f64::NEG_INFINITY, 0.0);
        if logarithm.width() > UNINFORMATIVE * logarithm.upper().abs().max(1.0) {
            return Err(Error::precision(
                "delta cannot be told from zero here, so its logarithm is not known",
            ));
        }
        Ok(logarithm)
    }

    /// The curve of the opposite direction: `Δ_{w,v}` for `Δ_{v,w}`.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let each = |curves: &[Self]| curves.iter().map(Self::reversed).collect();
        match self {
            Self::Form(form) => Self::Form(form.reversed()),
            Self::Amplified(rate, curve) => Self::Amplified(rate.clone(), Box::new(curve.reversed())),
            Self::Mean(parts) => {
                Self::Mean(parts.iter().map(|(weight, curve)| (weight.clone(), curve.reversed())).collect())
            }
            Self::MeanOverSizes(mean) => mean.reversed().into(),
            Self::Max(curves) => Self::Max(each(curves)),
            Self::Min(curves) => Self::Min(each(curves)),
        }
    }

    /// The same expression with laws of answers in place of the forms that only the fast tier evaluates. The laws keep what is computed for
    /// them, so this is called once, before several evaluations.
    pub(crate) fn written_out(&self) -> Result<Self, Error> {
        let all = |curves: &[Self]| curves.iter().map(Self::written_out).collect::<Result<Vec<_>, _>>();
        Ok(match self {
            Self::Form(form) => match form.written_out()? {
                None => self.clone(),
                Some(laws) => laws.into(),
            },
            Self::Amplified(rate, curve) => Self::Amplified(rate.clone(), Box::new(curve.written_out()?)),
            Self::Mean(parts) => {
                let part = |(weight, curve): &(Weight, Self)| Ok((weight.clone(), curve.written_out()?));
                Self::Mean(parts.iter().map(part).collect::<Result<_, Error>>()?)
            }
            Self::Max(curves) => Self::Max(all(curves)?),
            Self::Min(curves) => Self::Min(all(curves)?),
            Self::MeanOverSizes(_) => self.clone(),
        })
    }

    /// The limit of δ for ε → ∞, which a finite ε attains.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn infinity_mass(&self, interrupt: &dyn Interrupt) -> Result<Enclosure, Error> {
        Ok(self.mass_ball(interrupt)?.to_enclosure().clamp(0.0, 1.0))
    }

    /// The limit of δ as a ball, which stays positive where doubles underflow.
    pub(crate) fn mass_ball(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let value = |curve: &Self| curve.mass_ball(interrupt);
        match self {
            Self::Form(form) => form.infinity_mass(interrupt),
            Self::Amplified(rate, curve) => Ok(rate.ball * value(curve)?),
            Self::Mean(parts) => mean(parts, &value, interrupt),
            Self::MeanOverSizes(mean) => mean.infinity_mass(interrupt),
            Self::Max(curves) => {
                curves.iter().try_fold(Ball::ZERO, |greatest, curve| Ok(greatest.max(value(curve)?)))
            }
            Self::Min(curves) => minimum(curves, &value),
        }
    }

    /// The approximate number of terms of one evaluation: an estimate of the work, not a promise.
    #[must_use]
    pub fn terms(&self) -> f64 {
        match self {
            Self::Form(form) => form.terms(),
            Self::Amplified(_, curve) => curve.terms(),
            Self::Mean(parts) => parts.iter().map(|(_, curve)| curve.terms()).sum(),
            Self::MeanOverSizes(mean) => mean.terms(),
            Self::Max(curves) | Self::Min(curves) => curves.iter().map(Self::terms).sum(),
        }
    }

    /// δ at `ε ≥ 0`. A value below `floor` may be coarse.
    fn at(&self, epsilon: &Epsilon, floor: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let value = |curve: &Self| curve.at(epsilon, Ball::ZERO, interrupt);
        match self {
            Self::Form(form) => form.delta(epsilon, floor, interrupt),
            Self::Amplified(rate, curve) => {
                Ok(rate.ball * curve.at(&epsilon.amplified(rate.ball), Ball::ZERO, interrupt)?)
            }
            Self::Mean(parts) => mean(parts, &value, interrupt),
            Self::MeanOverSizes(mean) => mean.delta(epsilon, interrupt),
            Self::Max(curves) => {
                let contenders = contenders(curves, epsilon, interrupt)?;
                maximum(&contenders, &|curve, floor| curve.at(epsilon, floor, interrupt))
            }
            Self::Min(curves) => minimum(curves, &value),
        }
    }
}

type Value<'a> = dyn Fn(&Curve) -> Result<Ball, Error> + 'a;

fn mean(parts: &[(Weight, Curve)], value: &Value<'_>, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
    parts.iter().try_fold(Ball::ZERO, |sum, (weight, curve)| {
        interrupt.check()?;
        Ok(sum + weight.ball * value(curve)?)
    })
}

/// The least of several bounds of one δ. A bound that cannot be computed, far out, is left out.
fn minimum(curves: &[Curve], value: &Value<'_>) -> Result<Ball, Error> {
    let values = curves.iter().map(value).filter(|found| !matches!(found, Err(Error::Precision(_))));
    let known = values.collect::<Result<Vec<Ball>, Error>>()?;
    if known.is_empty() {
        return Err(Error::precision("none of several bounds can be computed here"));
    }
    Ok(known.into_iter().fold(Ball::ONE, Ball::min))
}

/// The curves that may be the greatest. Shifts of one law that are certainly not the greatest are dropped.
fn contenders<'a>(
    curves: &'a [Curve],
    epsilon: &Epsilon,
    interrupt: &dyn Interrupt,
) -> Result<Vec<&'a Curve>, Error> {
    let answers = |curve: &'a Curve| if let Curve::Form(form) = curve { form.as_answers() } else { None };
    let pairs: Vec<&Answers> = curves.iter().filter_map(answers).collect();
    let mut contends = forms::contenders(&pairs, epsilon.ratio(), interrupt)?.into_iter();
    let stays = |curve: &&'a Curve| answers(curve).is_none() || contends.next().unwrap_or(true);
    Ok(curves.iter().filter(stays).collect())
}

/// The greatest value. Forms that use a floor are first evaluated coarsely; only those that may be the greatest are evaluated again.
fn maximum(curves: &[&Curve], value: &dyn Fn(&Curve, Ball) -> Result<Ball, Error>) -> Result<Ball, Error> {
    let anything = Ball::from_u64(2);
    let is_coarse =
        |curve: &Curve| curves.len() > 1 && matches!(curve, Curve::Form(form) if form.uses_floor());
    let look = |curve| value(curve, if is_coarse(curve) { anything } else { Ball::ZERO });
    let values = curves.iter().copied().map(look).collect::<Result<Vec<_>, _>>()?;
    let floor =
        values.iter().fold(Ball::ZERO, |best, &value| if best.certainly_less(value) { value } else { best });
    curves.iter().zip(values).try_fold(Ball::ZERO, |greatest, (curve, coarse)| {
        let settled = !is_coarse(curve) || coarse.certainly_less(floor);
        Ok(greatest.max(if settled { coarse } else { value(curve, floor)? }))
    })
}

/// An enclosure in doubles of a probability that is known to many digits.
fn outward(probability: &DigitsEnclosure) -> Enclosure {
    // An end that cannot be written out is too small for a double.
    let end = |end: &Dyadic| end.to_rational().map(|exact| Enclosure::from(&exact));
    let lower = end(probability.lower()).map_or(0.0, Enclosure::lower);
    let upper = end(probability.upper()).map_or(f64::from_bits(1), Enclosure::upper);
    Enclosure::ordered(lower.clamp(0.0, 1.0), upper.clamp(0.0, 1.0))
}

#[cfg(test)]
mod kinds;
#[cfg(test)]
mod new_form;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Law, Sampling};
    use crate::curve::exact;
    use crate::interrupt::Uninterrupted;
    use proptest::prelude::*;

    /// Next to a tie a ball is wide and the digits tier answers; if digits would take long, the wide enclosure is the answer.
    #[test]
    fn what_balls_leave_wide_is_computed_with_digits() {
        let half = Rational::parse("1/2").unwrap();
        let p = Rational::parse("1e-20").unwrap();
        let family = CountFamily::new(&p, &p, Some(Direction::OneAgainstZero)).unwrap();
        let curve = family.sampled(2, &Rational::parse("2/3").unwrap()).unwrap();
        // κ is 1, up to 1e-30, where e^ε (q + (1−w)/w p) = ….
        let near = Rational::parse("45.3585546793209683709475969722350").unwrap();
        let wide = curve.ball(&Epsilon::new(&near), &Uninterrupted).unwrap();
        let found = curve.delta(&near, &Uninterrupted).unwrap();
        assert!(wide.relative_error() > WIDE || wide.relative_error() < 1e-12);
        assert!(found.width() <= 1e-12 * found.upper(), "{found:?}");
        let plain = CountFamily::new(&half, &half, None).unwrap().of_size(1000).unwrap();
        let ball = plain.ball(&Epsilon::new(&half), &Uninterrupted).unwrap().to_enclosure();
        assert_eq!(plain.delta(&half, &Uninterrupted).unwrap(), ball);
    }

    fn rational(text: &str) -> Rational {
        Rational::parse(text).unwrap()
    }

    /// The laws of the count of a hidden Poisson sample, from their definition.
    fn poisson_sample(others: u64, p: &Rational, rate: &Rational) -> Curve {
        let absent =
            Law::binomial(others, p).unwrap().sampled(Sampling::Poisson { rate: rate.clone() }).unwrap();
        let missed = Rational::from(1i64).sub(rate);
        let present = absent.shifted(1).unwrap();
        let mixed = Law::mixture(vec![(missed, absent.clone()), (rate.clone(), present)]).unwrap();
        Curve::from(Answers::new(mixed, absent))
    }

    /// The same, as the amplified curve of the count of the sample with the critical entry.
    fn amplified_count(others: u64, p: &Rational, rate: &Rational) -> Curve {
        let hit = p.mul(rate);
        let family = CountFamily::new(&hit, &hit, Some(Direction::OneAgainstZero)).unwrap();
        Curve::amplified(rate.clone(), family.of_size(others + 1).unwrap()).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn a_hidden_poisson_sample_is_an_amplified_count(
            others in 0u64..9, p in 1u64..10, rate in 1u64..=7, ratio in 8u64..40, epsilon in 0u64..30,
        ) {
            let over = |x: u64, y: u64| Rational::from(x).div(&Rational::from(y)).unwrap();
            let (p, rate, ratio, epsilon) = (over(p, 10), over(rate, 7), over(ratio, 8), over(epsilon, 10));
            let (truth, found) = (poisson_sample(others, &p, &rate), amplified_count(others, &p, &rate));
            let exactly = |curve: &Curve| exact::exact_delta(curve, &ratio, &Uninterrupted).unwrap();
            prop_assert_eq!(exactly(&truth), exactly(&found));
            let terms = |curve: &Curve| exact::exact_terms(curve, &epsilon, &Uninterrupted).unwrap();
            let value = |(first, second): (Rational, Rational)| {
                Ball::from_rational(&first) - Ball::from_rational(&epsilon).exp() * Ball::from_rational(&second)
            };
            let gap = (value(terms(&truth)) - value(terms(&found))).to_enclosure();
            prop_assert!(gap.lower() <= 0.0 && gap.upper() >= 0.0 && gap.width() < 1e-28);
            let delta = |curve: &Curve| curve.delta(&epsilon, &Uninterrupted).unwrap();
            let (one, other) = (delta(&truth), delta(&found));
            prop_assert!(one.lower() <= other.upper() && other.lower() <= one.upper());
            prop_assert!(other.width() <= 1e-13 * other.upper().max(1e-15));
        }
    }

    #[test]
    fn every_curve_is_amplified_alike_by_balls_and_by_digits() {
        let (p, rate) = (rational("0.3"), rational("0.2"));
        let count = |upper: &Rational| CountFamily::new(&p, upper, None).unwrap();
        let pair = count(&p).of_size(60).unwrap();
        let inner = [
            count(&rational("0.45")).of_size(50).unwrap(),
            MeanOverSizes::known_entries(50, 20, 30, count(&p)).unwrap().into(),
            Curve::Mean(vec![
                (rational("1/3").into(), pair.clone()),
                (rational("1/2").into(), poisson_sample(5, &p, &rate)),
            ]),
            Curve::Max(vec![pair.clone(), count(&p).sampled(40, &rate).unwrap()]),
            Curve::Min(vec![pair.clone(), poisson_sample(9, &p, &rate)]),
            Curve::amplified(rational("1/2"), pair).unwrap(),
        ];
        for curve in inner.map(|inner| Curve::amplified(rate.clone(), inner).unwrap()) {
            for epsilon in ["0", "0.01", "0.3", "1.5", "-0.2"].map(rational) {
                let digits =
                    outward(&crate::curve::digits::delta(&curve, &epsilon, 30, &Uninterrupted).unwrap());
                let ball = curve.ball(&Epsilon::new(&epsilon), &Uninterrupted).unwrap().to_enclosure();
                assert!(
                    ball.lower() <= digits.upper() && digits.lower() <= ball.upper(),
                    "{curve:?} {epsilon:?}"
                );
                assert!(ball.width() <= 1e-12 * ball.upper(), "{curve:?} {epsilon:?}: {ball:?}");
            }
        }
    }

    #[test]
    fn amplification_is_the_identity_at_rate_one_and_multiplies_rates() {
        let p = rational("0.3");
        let count = CountFamily::new(&p, &p, None).unwrap().of_size(12).unwrap();
        let amplified = |rate: &str, curve: &Curve| Curve::amplified(rational(rate), curve.clone()).unwrap();
        let exactly = |curve: &Curve| exact::exact_delta(curve, &rational("11/10"), &Uninterrupted).unwrap();
        assert_eq!(exactly(&amplified("1", &count)), exactly(&count));
        let twice = amplified("1/2", &amplified("1/3", &count));
        assert_eq!(exactly(&twice), exactly(&amplified("1/6", &count)));
        let limit = twice.infinity_mass(&Uninterrupted).unwrap();
        let whole = count.infinity_mass(&Uninterrupted).unwrap();
        assert!((limit.upper() * 6.0 - whole.upper()).abs() <= 1e-15);
        for rate in ["0", "-1/2", "3/2"] {
            let Err(Error::Argument(message)) = Curve::amplified(rational(rate), count.clone()) else {
                panic!("not refused")
            };
            assert!(message.contains("a number above 0 and at most 1 is required"), "{message}");
        }
    }

    #[test]
    fn neighbours_share_their_work_in_a_pair_and_a_maximum_of_pairs() {
        let half = Rational::parse("1/2").unwrap();
        let pair =
            CountFamily::new(&half, &half, Some(Direction::OneAgainstZero)).unwrap().of_size(1000).unwrap();
        let both = CountFamily::new(&half, &half, None).unwrap().of_size(1000).unwrap();
        let all = |curve: &Curve| curve.shared(&[0.01, 0.02]).iter().all(Option::is_some);
        assert!(all(&pair) && all(&both) && all(&Curve::Max(vec![pair.clone(), both])));
        assert!(!all(&Curve::Min(vec![pair])));
    }
}
