//! Privacy curves: expressions of pairs, evaluated at any ε.

mod histogram;
mod irrelevant;
mod mean_over_sizes;

pub use histogram::{histogram, sampled_histogram};
pub use irrelevant::{IndependentlyIrrelevant, Irrelevant};
pub use mean_over_sizes::{Inclusion, MeanOverSizes, poisson_published};

use crate::adaptive::Adaptive;
use crate::composition::{Composition, End, Pattern};
use crate::digits::{self, DigitsEnclosure, Dyadic};
use crate::error::Error;
use crate::forms::{
    self, Answers, BinomialPeaks, BinomialRange, Direction, Epsilon, GroupedCount, KnownInSample,
    ShiftedBinomial, Smoothed, VariedCount,
};
use crate::interrupt::Interrupt;
use crate::numbers::ball::Ball;
use crate::numbers::enclosure::Enclosure;
use crate::numbers::rational::Rational;
use std::sync::Arc;

/// A privacy curve, or a certified bound of one.
#[derive(Clone, Debug)]
pub enum Curve {
    /// One pair of laws with a known probability, in one direction.
    Pair(ShiftedBinomial, Direction),
    /// The supremum over a range of probabilities, in one direction.
    Range(BinomialRange, Direction),
    /// Some tests of a count at their peaks, in one direction: of a coarsened count beside the curves at the ends of its range, of a gated one alone.
    Peaks(BinomialPeaks, Direction),
    /// A count among groups of entries with different probabilities, in one direction.
    Grouped(GroupedCount, Direction),
    /// The same with any of the entries the critical one, the worst of them, in one direction.
    Varied(VariedCount, Direction),
    /// The count of a hidden sample of which some entries are known, with the worst values, in one direction.
    KnownInSample(KnownInSample, Direction),
    /// Two laws of answers, given as recipes.
    Answers(Answers),
    /// The same with continuous noise.
    Smoothed(Smoothed),
    /// An adaptive composition over a secret partition.
    Adaptive(Adaptive),
    /// `γ Δ(ln(1 + (e^ε − 1)/γ))` for `ε ≥ 0`, where only a sample that holds the critical entry with probability γ is looked at: see
    /// [`Curve::amplified`].
    Amplified(Weight, Box<Curve>),
    /// The template is known to the adversary: curves average. Weights are positive and add up to at most 1; with the rest
    /// of the probability the answers do not depend on the critical entry.
    Mean(Vec<(Weight, Curve)>),
    /// As [`Curve::Mean`], over the number of entries that matter.
    MeanOverSizes(Box<MeanOverSizes>),
    /// Answers on the parts of a secret partition; of δ itself, or of one end of its enclosure where not all patterns are tried.
    Composed(Arc<Composition>, Option<End>),
    /// The worst of several: pairs, groups, probabilities.
    Max(Vec<Curve>),
    /// The best of several certified upper bounds.
    Min(Vec<Curve>),
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

/// A count of a property with probability in `[lower, upper]`, of whatever size; the probabilities are prepared once. Or a bound of a count that is
/// published within a gate only, whatever the probability.
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
    /// `direction = None` stands for the maximum over both.
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

    /// The count of `whole` entries is published only where it is from `least` to `most`: the bound over all probabilities. Of a smaller number of
    /// entries all others are known, with the worst values.
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
                Ok(self.oriented(|direction| Curve::Pair(pair.clone(), direction)))
            }
            Entries::Range(range) => {
                let range = range.with_size(size)?;
                Ok(self.oriented(|direction| Curve::Range(range.clone(), direction)))
            }
            &Entries::Gated { whole, least, most } => {
                let peaks = gate(whole, size, least, most)?;
                Ok(self.oriented(|direction| Curve::Peaks(peaks.clone(), direction)))
            }
        }
    }

    /// `δ(ε)` of the count at each of many sizes, in any order, for an ε of at least 0. Sizes that lie close together share work.
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

    /// The values at those of many sizes that can share work.
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

    /// Whether members of it are powers of that of two entries, for ε → ∞.
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
        Ok(self.oriented(|direction| Curve::Pair(pair.clone(), direction)))
    }

    fn terms(&self) -> f64 {
        match &self.entries {
            Entries::Known(pair) => pair.terms(),
            Entries::Range(range) => range.terms(),
            Entries::Gated { .. } => self.of_size(1).map_or(1.0, |curve| curve.terms()),
        }
    }

    /// The same counts in the other direction; both stay both.
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

/// The bound of a count of `whole` entries, published from `least` to `most`, of which all but `size` are known.
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

/// Relatively wider values are computed again, with digits, unless they are below what doubles hold to full accuracy …
const WIDE: f64 = 5e-13;
const LEAST_NORMAL: f64 = 1e-300;
/// … or take more than so many terms; and so many digits are computed.
const WORTH_DIGITS: f64 = 1e5;
const DIGITS: u32 = 20;

/// A δ that is not known to a millionth is an error, not an answer.
const UNINFORMATIVE: f64 = 1e-6;
/// Nor is the bound of many laws that is not known to a thousandth.
const LOOSE: f64 = 1e-3;

impl Curve {
    /// What a sample gives away that holds the critical entry with probability `rate`, from `curve`, that of the answer given that it
    /// holds it.
    ///
    /// **Theorem** (advanced joint convexity: Balle, Barthe, Gaboardi 2018). Let `P = (1−γ)R + γP'`, `Q = (1−γ)R + γQ'` and
    /// `e^{ε'} = 1 + (e^ε − 1)/γ`. Then `Δ(P, Q; ε) = γ Δ(P', (1−β)R + βQ'; ε')` with `β = e^{ε−ε'}`: pointwise, `P − e^ε Q = γP' − e^ε γQ' −
    /// (e^ε − 1)(1−γ)R = γ(P' − e^{ε'}((1−β)R + βQ'))`, as `e^{ε'}β = e^ε` and `γe^{ε'}(1−β) = (e^ε−1)(1−γ)`. By convexity it is at most `γ` times the larger
    /// of `Δ(P', R; ε')` and `Δ(P', Q'; ε')`. Where `R = Q'`, as for a count of which a Poisson sample is hidden and `Δ_{1,0}`, there is equality.
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

    /// A number on the same side of a level as δ at the rational that a double stores; δ itself where it is next to the level, or costs no more.
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
            (Self::Composed(parts, None), Some(prepared)) if self.has_rough_values() && epsilon >= 0.0 => {
                Ok(parts.told_from(level, &prepared, interrupt)?.to_enclosure())
            }
            _ => self.delta_at(epsilon, interrupt),
        }
    }

    /// Whether δ to a few digits is less work than δ.
    #[must_use]
    pub fn has_rough_values(&self) -> bool {
        matches!(self, Self::Composed(parts, None) if parts.is_exact())
    }

    /// δ(ε), for an ε of either sign, to about a relative width, or better where that is no more work.
    ///
    /// # Errors
    /// [`Error::Precision`], [`Error::Interrupted`].
    pub fn within(&self, width: f64, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        match self {
            Self::Composed(parts, None) if self.has_rough_values() && !epsilon.is_negative() => {
                parts.within(width, epsilon, interrupt)
            }
            _ => self.ball(epsilon, interrupt),
        }
    }

    /// Whether a value is an enclosure between two numbers that need not be close: an attained one, and a bound of all patterns.
    #[must_use]
    pub fn is_bracket(&self) -> bool {
        match self {
            Self::Composed(parts, None) => !parts.is_exact(),
            Self::Amplified(_, curve) => curve.is_bracket(),
            Self::Mean(parts) => parts.iter().any(|(_, curve)| curve.is_bracket()),
            Self::Max(curves) | Self::Min(curves) => curves.iter().any(Self::is_bracket),
            _ => false,
        }
    }

    /// Whether a value is a bound of many laws at once, which no effort makes narrow.
    fn is_loose(&self) -> bool {
        match self {
            Self::Composed(_, end) => end.is_some(),
            Self::Amplified(_, curve) => curve.is_loose(),
            Self::Mean(parts) => parts.iter().any(|(_, curve)| curve.is_loose()),
            Self::Max(curves) | Self::Min(curves) => curves.iter().any(Self::is_loose),
            _ => false,
        }
    }

    /// The curve of one end of every such enclosure.
    pub(crate) fn end(&self, end: End) -> Self {
        let all = |curves: &[Self]| curves.iter().map(|curve| curve.end(end)).collect();
        match self {
            Self::Composed(parts, None) => Self::Composed(Arc::clone(parts), Some(end)),
            Self::Amplified(rate, curve) => Self::Amplified(rate.clone(), Box::new(curve.end(end))),
            Self::Mean(parts) => {
                Self::Mean(parts.iter().map(|(weight, curve)| (weight.clone(), curve.end(end))).collect())
            }
            Self::Max(curves) => Self::Max(all(curves)),
            Self::Min(curves) => Self::Min(all(curves)),
            _ => self.clone(),
        }
    }

    /// The worst pattern of a composition at this ε, or the worst that was found; nothing for other curves.
    ///
    /// # Errors
    /// [`Error::Precision`], [`Error::Interrupted`].
    pub fn pattern(&self, epsilon: &Rational, interrupt: &dyn Interrupt) -> Result<Option<Pattern>, Error> {
        match self {
            Self::Composed(parts, _) => parts.pattern(&Epsilon::new(epsilon), interrupt).map(Some),
            _ => Ok(None),
        }
    }

    /// By balls; by digits where balls leave it wide, as they do next to a tie of κ with an integer.
    fn enclosure(&self, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Enclosure, Error> {
        let found = self
            .ball(epsilon, interrupt)
            .map(|ball| (ball.relative_error(), ball.to_enclosure().clamp(0.0, 1.0)));
        let bracket = self.is_bracket();
        let narrow = |&(error, enclosure): &(f64, Enclosure)| {
            bracket || error < WIDE || enclosure.upper() < LEAST_NORMAL
        };
        if let Ok((_, enclosure)) = found
            && found.as_ref().is_ok_and(narrow)
        {
            return Ok(enclosure);
        }
        if let Err(error @ (Error::Argument(_) | Error::Interrupted)) = found {
            return Err(error);
        }
        if self.terms() <= WORTH_DIGITS
            && let Some(exact) = epsilon.exact()
        {
            match digits::delta(self, &exact, DIGITS, interrupt) {
                Ok(digits) => return Ok(outward(&digits)),
                // Laws of which there are no digits.
                Err(Error::Precision(_)) => {}
                Err(error) => return Err(error),
            }
        }
        match found?.1 {
            enclosure if enclosure.width() <= UNINFORMATIVE => Ok(enclosure),
            // A bound that is loose itself need not be known that well.
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

    /// δ at those of many ε that can share work.
    fn shared(&self, epsilons: &[f64]) -> Vec<Option<Ball>> {
        match self {
            Self::Pair(laws, direction) => laws.deltas(*direction, epsilons),
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

    /// `ln δ(ε)`, where δ itself may be far below the least double; −∞ where δ is zero.
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

    /// The curve of the opposite direction: of `Δ_{w,v}` where this is that of `Δ_{v,w}`.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let each = |curves: &[Self]| curves.iter().map(Self::reversed).collect();
        match self {
            Self::Pair(laws, direction) => Self::Pair(laws.clone(), direction.reversed()),
            Self::Range(laws, direction) => Self::Range(laws.clone(), direction.reversed()),
            Self::Peaks(tests, direction) => Self::Peaks(tests.clone(), direction.reversed()),
            Self::Answers(laws) => Self::Answers(laws.reversed()),
            Self::Smoothed(laws) => Self::Smoothed(laws.reversed()),
            Self::Adaptive(strategy) => Self::Adaptive(strategy.reversed()),
            Self::Grouped(laws, direction) => Self::Grouped(laws.clone(), direction.reversed()),
            Self::Varied(laws, direction) => Self::Varied(laws.clone(), direction.reversed()),
            Self::KnownInSample(laws, direction) => Self::KnownInSample(laws.clone(), direction.reversed()),
            Self::Amplified(rate, curve) => Self::Amplified(rate.clone(), Box::new(curve.reversed())),
            Self::Mean(parts) => {
                Self::Mean(parts.iter().map(|(weight, curve)| (weight.clone(), curve.reversed())).collect())
            }
            Self::MeanOverSizes(mean) => mean.reversed().into(),
            Self::Composed(parts, end) => Self::Composed(Arc::new(parts.reversed()), *end),
            Self::Max(curves) => Self::Max(each(curves)),
            Self::Min(curves) => Self::Min(each(curves)),
        }
    }

    /// The same expression with the recipes of the laws instead of the forms that only the fast tier evaluates. What is computed for
    /// these laws is kept with them: so this is called once, before a curve is evaluated several times.
    pub(crate) fn written_out(&self) -> Result<Self, Error> {
        let all = |curves: &[Self]| curves.iter().map(Self::written_out).collect::<Result<Vec<_>, _>>();
        Ok(match self {
            Self::Grouped(laws, direction) => laws.written_out(*direction)?,
            Self::Varied(laws, direction) => laws.written_out(*direction)?,
            Self::KnownInSample(laws, direction) => laws.written_out(*direction)?,
            Self::Composed(parts, None) => parts.written_out()?,
            Self::Composed(..) => {
                return Err(Error::precision(
                    "a bound in convex order has no exact value and no digits; delta() encloses it",
                ));
            }
            Self::Amplified(rate, curve) => Self::Amplified(rate.clone(), Box::new(curve.written_out()?)),
            Self::Mean(parts) => {
                let part = |(weight, curve): &(Weight, Self)| Ok((weight.clone(), curve.written_out()?));
                Self::Mean(parts.iter().map(part).collect::<Result<_, Error>>()?)
            }
            Self::Max(curves) => Self::Max(all(curves)?),
            Self::Min(curves) => Self::Min(all(curves)?),
            _ => self.clone(),
        })
    }

    /// The limit of δ for ε → ∞; it is attained at a finite ε.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn mass_at_infinity(&self, interrupt: &dyn Interrupt) -> Result<Enclosure, Error> {
        Ok(self.mass_ball(interrupt)?.to_enclosure().clamp(0.0, 1.0))
    }

    /// The same as a ball, which is certainly positive where doubles underflow.
    pub(crate) fn mass_ball(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let value = |curve: &Self| curve.mass_ball(interrupt);
        match self {
            Self::Pair(laws, direction) => Ok(laws.mass_at_infinity(*direction)),
            Self::Range(laws, direction) => Ok(laws.mass_at_infinity(*direction)),
            // The heights between the first and the last test fall to zero.
            Self::Peaks(tests, _) => Ok(if tests.gives_away() { Ball::ONE } else { Ball::ZERO }),
            Self::Answers(laws) => laws.mass_at_infinity(interrupt),
            Self::Smoothed(laws) => Ok(laws.mass_at_infinity()),
            Self::Adaptive(strategy) => strategy.mass_at_infinity(interrupt),
            Self::Grouped(laws, direction) => Ok(laws.mass_at_infinity(*direction)),
            Self::Varied(laws, direction) => Ok(laws.mass_at_infinity(*direction)),
            Self::KnownInSample(laws, direction) => Ok(laws.mass_at_infinity(*direction)),
            Self::Amplified(rate, curve) => Ok(rate.ball * value(curve)?),
            Self::Mean(parts) => mean(parts, &value, interrupt),
            Self::MeanOverSizes(mean) => mean.mass_at_infinity(interrupt),
            Self::Composed(parts, _) => parts.mass_at_infinity(interrupt),
            Self::Max(curves) => {
                curves.iter().try_fold(Ball::ZERO, |greatest, curve| Ok(greatest.max(value(curve)?)))
            }
            Self::Min(curves) => minimum(curves, &value),
        }
    }

    /// About how many terms of sums one evaluation takes: whether work is long, not a promise.
    #[must_use]
    pub fn terms(&self) -> f64 {
        match self {
            Self::Pair(pair, _) => pair.terms(),
            Self::Range(range, _) => range.terms(),
            Self::Peaks(tests, _) => tests.terms(),
            Self::Answers(laws) => laws.terms(),
            Self::Smoothed(laws) => laws.terms(),
            Self::Adaptive(strategy) => strategy.terms(),
            Self::Grouped(laws, _) => laws.terms(),
            Self::Varied(laws, _) => laws.terms(),
            Self::KnownInSample(laws, _) => laws.terms(),
            Self::Amplified(_, curve) => curve.terms(),
            Self::Mean(parts) => parts.iter().map(|(_, curve)| curve.terms()).sum(),
            Self::MeanOverSizes(mean) => mean.terms(),
            Self::Composed(parts, _) => parts.terms(),
            Self::Max(curves) | Self::Min(curves) => curves.iter().map(Self::terms).sum(),
        }
    }

    /// δ at an ε of at least zero; only a value that reaches `floor` matters.
    fn at(&self, epsilon: &Epsilon, floor: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let value = |curve: &Self| curve.at(epsilon, Ball::ZERO, interrupt);
        match self {
            Self::Pair(laws, direction) => laws.delta(*direction, epsilon, interrupt),
            Self::Range(laws, direction) => laws.delta(*direction, epsilon, interrupt),
            Self::Peaks(tests, direction) => tests.delta(*direction, epsilon, interrupt),
            Self::Answers(laws) => laws.delta(epsilon, floor, interrupt),
            Self::Smoothed(laws) => laws.delta(epsilon, floor, interrupt),
            Self::Adaptive(strategy) => strategy.delta(epsilon, floor, interrupt),
            Self::Grouped(laws, direction) => laws.delta(*direction, epsilon, interrupt),
            Self::Varied(laws, direction) => laws.delta(*direction, epsilon, interrupt),
            Self::KnownInSample(laws, direction) => laws.delta(*direction, epsilon, interrupt),
            Self::Amplified(rate, curve) => {
                Ok(rate.ball * curve.at(&epsilon.amplified(rate.ball), Ball::ZERO, interrupt)?)
            }
            Self::Mean(parts) => mean(parts, &value, interrupt),
            Self::MeanOverSizes(mean) => mean.delta(epsilon, interrupt),
            Self::Composed(parts, Some(end)) => parts.delta(epsilon, *end, interrupt),
            Self::Composed(parts, None) if parts.is_exact() => parts.exactly(epsilon, interrupt),
            Self::Composed(parts, None) => {
                let [lower, upper] = parts.ends(epsilon, interrupt)?;
                Ok(lower.hull(upper))
            }
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

/// The least of several bounds of one δ. One of which nothing is known, far out, leaves it to the others.
fn minimum(curves: &[Curve], value: &Value<'_>) -> Result<Ball, Error> {
    let values = curves.iter().map(value).filter(|found| !matches!(found, Err(Error::Precision(_))));
    let known = values.collect::<Result<Vec<Ball>, Error>>()?;
    if known.is_empty() {
        return Err(Error::precision("none of several bounds can be computed here"));
    }
    Ok(known.into_iter().fold(Ball::ONE, Ball::min))
}

/// All curves but those of shifts of one law that are certainly not the greatest.
fn contenders<'a>(
    curves: &'a [Curve],
    epsilon: &Epsilon,
    interrupt: &dyn Interrupt,
) -> Result<Vec<&'a Curve>, Error> {
    let answers = |curve: &'a Curve| if let Curve::Answers(laws) = curve { Some(laws) } else { None };
    let pairs: Vec<&Answers> = curves.iter().filter_map(answers).collect();
    let mut contends = forms::contenders(&pairs, epsilon.ratio(), interrupt)?.into_iter();
    let stays = |curve: &&'a Curve| answers(curve).is_none() || contends.next().unwrap_or(true);
    Ok(curves.iter().filter(stays).collect())
}

/// The greatest. Laws of answers are looked at coarsely first: which of them are certainly not the greatest need not be known
/// any better.
fn maximum(curves: &[&Curve], value: &dyn Fn(&Curve, Ball) -> Result<Ball, Error>) -> Result<Ball, Error> {
    let anything = Ball::from_u64(2);
    let is_coarse = |curve: &Curve| {
        curves.len() > 1 && matches!(curve, Curve::Answers(_) | Curve::Smoothed(_) | Curve::Adaptive(_))
    };
    let look = |curve| value(curve, if is_coarse(curve) { anything } else { Ball::ZERO });
    let values = curves.iter().copied().map(look).collect::<Result<Vec<_>, _>>()?;
    let floor =
        values.iter().fold(Ball::ZERO, |best, &value| if best.certainly_less(value) { value } else { best });
    curves.iter().zip(values).try_fold(Ball::ZERO, |greatest, (curve, coarse)| {
        let settled = !is_coarse(curve) || coarse.certainly_less(floor);
        Ok(greatest.max(if settled { coarse } else { value(curve, floor)? }))
    })
}

/// Doubles around a probability that is known to many digits.
fn outward(probability: &DigitsEnclosure) -> Enclosure {
    // What cannot be written out is too small to be a double.
    let end = |end: &Dyadic| end.to_rational().map(|exact| Enclosure::from(&exact));
    let lower = end(probability.lower()).map_or(0.0, Enclosure::lower);
    let upper = end(probability.upper()).map_or(f64::from_bits(1), Enclosure::upper);
    Enclosure::ordered(lower.clamp(0.0, 1.0), upper.clamp(0.0, 1.0))
}

#[cfg(test)]
mod kinds;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Law, Sampling};
    use crate::exact;
    use crate::interrupt::Uninterrupted;
    use proptest::prelude::*;

    /// Next to a tie a ball is wide and the digits tier answers; where that would take long, a wide answer is one.
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
        Curve::Answers(Answers::new(mixed, absent))
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
                let digits = outward(&digits::delta(&curve, &epsilon, 30, &Uninterrupted).unwrap());
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
        let limit = twice.mass_at_infinity(&Uninterrupted).unwrap();
        let whole = count.mass_at_infinity(&Uninterrupted).unwrap();
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
