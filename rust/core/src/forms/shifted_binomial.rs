//! The count of a property among `size` independent entries. With probability `inclusion` the critical entry is one of them.
//!
//! With `X ~ Bin(n, p)`, `q = 1 − p`, `r = e^ε` and inclusion probability `w`, the two laws have the densities
//! `ℓ_1 = (1−w) + w X/(np)` and `ℓ_0 = (1−w) + w (n−X)/(nq)` with respect to the law of `X`. So `ℓ_1 − r ℓ_0` is affine
//! in `X`, and the hockey stick is a stop-loss:
//!
//! ```text
//! Δ_{1,0}(ε) = w (1+ρ)/(np) · E[(X − κ)_+],     ρ = r p/q,   t = (r−1)(1−w)/w,
//! κ = n (ρ + p t)/(1+ρ),   n − κ = n (1 − p t)/(1+ρ)      (Δ = 0 if p t ≥ 1),
//! ```
//!
//! and `Δ_{0,1}` is the same with `p` and `q` exchanged. As `κ ≥ np`, the terms of
//! `E[(X−κ)_+] = Σ_{k≥κ} (k−κ) b(k)` fall from the first on, and all are positive: nothing cancels. The first
//! probability comes from the saddle-point formula, the others from `b(k+1)/b(k) = (n−k)p/((k+1)q)`.

use super::direction::Directed;
use super::hockey_stick::{Count, Digits, Form, HockeyStick};
use super::stop_loss::{self, stop_loss};
use super::threshold::{Position, Threshold};
use super::{Direction, Epsilon, check_size, tie};
use crate::digits::{
    self,
    ends::{self, Limit},
    evaluation::last_change,
    hockey_stick::one_against_zero,
    probability, settle,
};
use crate::error::Error;
use crate::exact::{self, cost, count};
use crate::interrupt::Interrupt;
use crate::laws::fast;
use crate::laws::{Probability, binomial_probability};
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use std::sync::Arc;

/// A larger relative error means that κ lies next to an integer and Δ is mostly the gap between them.
const TIE: f64 = 1e-12;
/// The approximate cost of an evaluation, in terms of a sum.
pub(super) const TERMS: f64 = 256.0;

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct ShiftedBinomial {
    size: u64,
    at: Entry,
    /// Nothing for a probability that is known as a ball only, as at the peaks of a range.
    given: Option<Arc<Given>>,
    inclusion: Ball,
    certain: bool,
}

/// The probabilities as they were given, from which the digits and the exact tier start.
#[derive(Debug, PartialEq, Eq)]
pub struct Given {
    /// The probability that an entry has the property.
    pub p: Rational,
    /// The probability that the critical entry is counted.
    pub inclusion: Rational,
}

/// The value of an entry other than the critical one.
#[derive(Clone, Copy, Debug)]
enum Entry {
    Never,
    Always,
    Random(Probability),
}

impl ShiftedBinomial {
    /// `size ≥ 1` entries with probability `p`, the critical one among them with probability `inclusion`.
    ///
    /// # Errors
    /// `size` of 0 or above 2^53, `p` outside `[0, 1]`, `inclusion` outside `(0, 1]`.
    pub fn new(size: u64, p: &Rational, inclusion: &Rational) -> Result<Self, Error> {
        let one = Rational::from(1i64);
        let at = if p.is_zero() {
            Entry::Never
        } else if *p == one {
            Entry::Always
        } else {
            Entry::Random(Probability::new(p)?)
        };
        let given = Some(Arc::new(Given { p: p.clone(), inclusion: one }));
        Self { size, at, given, inclusion: Ball::ONE, certain: true }.in_sample(size, inclusion)
    }

    /// The number of entries that are counted.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The probabilities as they were given, if these were rationals.
    #[must_use]
    pub fn given(&self) -> Option<&Given> {
        self.given.as_deref()
    }

    /// The same entries in another number.
    ///
    /// # Errors
    /// `size` of 0 or above 2^53.
    pub fn with_size(&self, size: u64) -> Result<Self, Error> {
        check_size(size)?;
        Ok(Self { size, ..self.clone() })
    }

    /// The same entries in another number, the critical one among them with probability `inclusion`.
    ///
    /// # Errors
    /// `size` of 0 or above 2^53, `inclusion` outside `(0, 1]`.
    pub fn in_sample(&self, size: u64, inclusion: &Rational) -> Result<Self, Error> {
        let one = Rational::from(1i64);
        check_size(size)?;
        if inclusion.is_negative() || inclusion.is_zero() || *inclusion > one {
            return Err(Error::argument("the inclusion probability must be above 0 and at most 1"));
        }
        let given = self.given().map(|given| Given { p: given.p.clone(), inclusion: inclusion.clone() });
        let certain = *inclusion == one;
        Ok(Self {
            size,
            given: given.map(Arc::new),
            inclusion: Ball::from_rational(inclusion),
            certain,
            at: self.at,
        })
    }

    /// The critical entry is counted for sure, and the others have the given probability.
    pub(crate) fn certain(size: u64, at: Probability) -> Self {
        Self { size, at: Entry::Random(at), given: None, inclusion: Ball::ONE, certain: true }
    }

    /// `Δ_{v,w}(ε)`, for an ε of either sign.
    ///
    /// # Errors
    /// [`Error::Precision`] where the sum would have too many terms, [`Error::Interrupted`].
    pub fn delta(
        &self,
        direction: Direction,
        epsilon: &Epsilon,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        if epsilon.is_negative() {
            return epsilon.reflect(|opposite| self.delta(direction.reversed(), opposite, interrupt));
        }
        if epsilon.is_given()
            && !epsilon.is_precise_for(self.size)
            && let Some(value) = self.in_doubles(direction, epsilon)
        {
            return Ok(value);
        }
        let at = match (self.at, direction) {
            (Entry::Never, Direction::OneAgainstZero) | (Entry::Always, Direction::ZeroAgainstOne) => {
                return Ok(self.inclusion);
            }
            (Entry::Never | Entry::Always, _) => return Ok(self.degenerate(epsilon)),
            (Entry::Random(at), Direction::OneAgainstZero) => at,
            (Entry::Random(at), Direction::ZeroAgainstOne) => at.complement(),
        };
        let Some(threshold) = self.threshold(&at, epsilon)? else { return Ok(Ball::ZERO) };
        let value = self.one_against_zero(&at, epsilon, &threshold, interrupt)?;
        if value.relative_error() <= TIE {
            return Ok(value);
        }
        match self.threshold_across_tie(&threshold, direction, epsilon) {
            Some(threshold) => self.one_against_zero(&at, epsilon, &threshold, interrupt),
            None => Ok(value),
        }
    }

    /// `Δ_{v,w}` at many doubles ε ≥ 0 that share work; nothing at an ε that the fast tier does not serve.
    pub(crate) fn deltas(&self, direction: Direction, epsilons: &[f64]) -> Vec<Option<Ball>> {
        let laws = match &self.at {
            Entry::Random(at) if self.certain && self.size > stop_loss::SMALL => {
                at.doubles.map(|law| match direction {
                    Direction::OneAgainstZero => (*at, law),
                    Direction::ZeroAgainstOne => (at.complement(), law.mirrored()),
                })
            }
            _ => None,
        };
        let Some((at, law)) = laws else { return vec![None; epsilons.len()] };
        let mut values = fast::deltas(self.size, &at, law, epsilons);
        for (value, &epsilon) in values.iter_mut().zip(epsilons) {
            // At zero Δ is a single probability.
            *value = value.filter(|_| epsilon > 0.0);
        }
        values
    }

    /// `Δ_{v,w}` at one ε for many sizes that share work; nothing at a size that shares none.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub(crate) fn deltas_of_sizes(
        &self,
        direction: Direction,
        sizes: &[u64],
        epsilon: &Epsilon,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<Option<Ball>>, Error> {
        let served = self.certain && epsilon.is_given() && !epsilon.precise && !epsilon.is_zero();
        let (Entry::Random(at), true, Some(value)) = (&self.at, served, epsilon.value.to_double_double())
        else {
            return Ok(vec![None; sizes.len()]);
        };
        let at = match direction {
            Direction::OneAgainstZero => *at,
            Direction::ZeroAgainstOne => at.complement(),
        };
        let mut values = fast::deltas_of_sizes(sizes, &at, value, interrupt)?;
        for (value, &size) in values.iter_mut().zip(sizes) {
            *value = value.filter(|_| size > stop_loss::SMALL);
        }
        Ok(values)
    }

    /// The value of the fast tier, where it applies.
    fn in_doubles(&self, direction: Direction, epsilon: &Epsilon) -> Option<Ball> {
        let Entry::Random(at) = &self.at else { return None };
        if !self.certain || self.size <= stop_loss::SMALL || epsilon.is_zero() {
            return None;
        }
        let (law, value) = (at.doubles?, epsilon.value.to_double_double()?);
        match direction {
            Direction::OneAgainstZero => fast::delta(self.size, at, law, value),
            Direction::ZeroAgainstOne => fast::delta(self.size, &at.complement(), law.mirrored(), value),
        }
    }

    /// The approximate number of terms of one evaluation, with other work counted in terms.
    #[must_use]
    pub fn terms(&self) -> f64 {
        TERMS
    }

    /// The limit of Δ for ε → ∞: the mass of the first law where the second has none.
    #[must_use]
    pub fn infinity_mass(&self, direction: Direction) -> Ball {
        match (self.at, direction) {
            (Entry::Never, Direction::OneAgainstZero) | (Entry::Always, Direction::ZeroAgainstOne) => {
                self.inclusion
            }
            (Entry::Never | Entry::Always, _) => {
                if self.certain {
                    Ball::ONE
                } else {
                    Ball::ZERO
                }
            }
            (Entry::Random(_), _) if !self.certain => Ball::ZERO,
            (Entry::Random(at), Direction::OneAgainstZero) => at.p.powi(self.size - 1),
            (Entry::Random(at), Direction::ZeroAgainstOne) => at.q.powi(self.size - 1),
        }
    }

    /// All others are alike: the first law puts everything on an answer to which the second gives `1 − w`.
    fn degenerate(&self, epsilon: &Epsilon) -> Ball {
        let value = Ball::ONE - epsilon.ratio() * (Ball::ONE - self.inclusion);
        if value.is_not_positive() { Ball::ZERO } else { value.max(Ball::ZERO) }
    }

    /// `p t`, the part of κ that comes from the chance of not being counted.
    fn slack(&self, at: &Probability, epsilon: &Epsilon) -> Ball {
        if self.certain {
            return Ball::ZERO;
        }
        at.p * (epsilon.ratio() - Ball::ONE) * (Ball::ONE - self.inclusion) / self.inclusion
    }

    /// Where the sum starts; nothing where Δ is zero.
    fn threshold(&self, at: &Probability, epsilon: &Epsilon) -> Result<Option<Threshold>, Error> {
        let slack = self.slack(at, epsilon);
        let (x, y) = (at.odds * epsilon.ratio() + slack, Ball::ONE - slack);
        if y.is_not_positive() {
            return Ok(None);
        }
        match Threshold::locate(self.size, x, y) {
            Some(threshold) => Ok(Some(threshold)),
            None => Err(Error::precision("the threshold of the hockey stick cannot be located")),
        }
    }

    /// The same threshold from exact inputs, for a value that depends on the small gap between κ and an integer.
    fn threshold_across_tie(
        &self,
        threshold: &Threshold,
        direction: Direction,
        epsilon: &Epsilon,
    ) -> Option<Threshold> {
        let given = self.given().filter(|_| self.certain)?;
        let p = match direction {
            Direction::OneAgainstZero => given.p.clone(),
            Direction::ZeroAgainstOne => Rational::from(1i64).sub(&given.p),
        };
        let excess = tie::excess(self.size, threshold.first, &p, &epsilon.exact()?)?;
        Some(Threshold::above_or_below(threshold.first, excess))
    }

    fn one_against_zero(
        &self,
        at: &Probability,
        epsilon: &Epsilon,
        threshold: &Threshold,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        let &Threshold { first, position, .. } = threshold;
        let rho = at.odds * epsilon.ratio();
        if self.certain && first == self.size && position == Position::Between {
            // κ > n − 1: only the answer n counts, and Δ = P_1(n) = p^{n−1}, exact where doubles are.
            return Ok(at.p.powi(self.size - 1));
        }
        if self.certain && epsilon.is_zero() && position != Position::Undecided {
            // Total variation: P[B ≥ a−1] − P[B ≥ a] for B ~ Bin(n−1, p) and a = ⌈np⌉.
            return Ok(binomial_probability(first - 1, self.size - 1, at));
        }
        let scale = self.inclusion * (Ball::ONE + rho) / (Ball::from_u64(self.size) * at.p);
        let precise = epsilon.is_precise_for(self.size);
        let sum = stop_loss(self.size, at, threshold, precise, interrupt)?;
        Ok(scale * sum)
    }
}

impl HockeyStick for Directed<ShiftedBinomial> {
    fn delta(&self, epsilon: &Epsilon, _: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        self.0.delta(self.1, epsilon, interrupt)
    }

    fn infinity_mass(&self, _: &dyn Interrupt) -> Result<Ball, Error> {
        Ok(self.0.infinity_mass(self.1))
    }

    fn reversed(&self) -> Form {
        Arc::new(self.opposite())
    }

    fn terms(&self) -> f64 {
        self.0.terms()
    }

    fn deltas(&self, epsilons: &[f64]) -> Vec<Option<Ball>> {
        self.0.deltas(self.1, epsilons)
    }

    fn as_count(&self) -> Option<Count> {
        let given = self.0.given()?;
        let p = match self.1 {
            Direction::OneAgainstZero => given.p.clone(),
            Direction::ZeroAgainstOne => Rational::from(1i64).sub(&given.p),
        };
        Some(Count { size: self.0.size(), p, inclusion: given.inclusion.clone() })
    }

    fn digits(&self) -> Result<&dyn Digits, Error> {
        Ok(self)
    }

    fn exact(&self, at: &exact::Evaluation<'_>) -> Result<Option<exact::Terms>, Error> {
        let Self(laws, direction) = self;
        let Some(given) = laws.given() else {
            return Err(Error::argument("a probability that is not known exactly has no exact curve"));
        };
        let p = match direction {
            Direction::OneAgainstZero => given.p.clone(),
            Direction::ZeroAgainstOne => Rational::from(1i64).sub(&given.p),
        };
        count::one_against_zero(laws.size(), &p, &given.inclusion, &at.ratio, at.interrupt).map(Some)
    }

    fn cost(&self, at: &cost::At) -> cost::Cost {
        let Self(laws, direction) = self;
        laws.given().map_or(cost::Cost::NOTHING, |given| {
            let hit = cost::share(&given.p);
            let hit = if *direction == Direction::OneAgainstZero { hit } else { 1.0 - hit };
            let count = at.count(laws.size(), hit, cost::bits(&given.p));
            cost::Cost { denominator: count.denominator + cost::bits(&given.inclusion), ..count }
        })
    }
}

impl Digits for Directed<ShiftedBinomial> {
    fn value(&self, at: &digits::Evaluation<'_>) -> Result<digits::Ball, Error> {
        let Self(laws, direction) = self;
        let one = Rational::from(1i64);
        let Some(given) = laws.given() else {
            return Err(Error::precision("this count has no exact probability to compute digits from"));
        };
        let p = match direction {
            Direction::OneAgainstZero => given.p.clone(),
            Direction::ZeroAgainstOne => one.sub(&given.p),
        };
        let w = &given.inclusion;
        if p.is_zero() {
            // No other entry counts, and only `P_1` puts mass, w, on the answer 1.
            return Ok(digits::Ball::rational(w, at.accuracy + 64));
        }
        if p == one {
            return all_alike(w, at);
        }
        let ratio = at.ratio(last_change(&[&p, w]));
        let probability = probability::Probability::Exact(p);
        settle(at.accuracy, at.interrupt, |bits| {
            one_against_zero(laws.size(), &probability, w, &ratio, bits, at.interrupt)
        })
    }

    fn last_change(&self) -> u64 {
        self.0.given().map_or(0, |given| last_change(&[&given.p, &given.inclusion]))
    }

    fn limit(&self, limit: Limit) -> Option<Rational> {
        let (given, n, one) = (self.0.given()?, self.0.size(), Rational::from(1i64));
        let p = match self.1 {
            Direction::OneAgainstZero => given.p.clone(),
            Direction::ZeroAgainstOne => one.sub(&given.p),
        };
        let w = given.inclusion.clone();
        match limit {
            _ if p.is_zero() => Some(w),
            Limit::Zero if p == one => Some(w),
            Limit::Zero => ends::total_variation(n, &p).map(|distance| distance.mul(&w)),
            Limit::Infinity if w != one => Some(Rational::from(0i64)),
            Limit::Infinity => ends::binomial(n - 1, n - 1, &p),
        }
    }
}

/// All others count: `P_1` puts everything on an answer to which `P_0` gives `1 − w`, so `Δ = (1 − r(1−w))_+`.
///
/// For `w < 1` and `r ≠ 1` that is transcendental.
fn all_alike(w: &Rational, at: &digits::Evaluation<'_>) -> Result<digits::Ball, Error> {
    let absent = Rational::from(1i64).sub(w);
    if absent.is_zero() || at.epsilon.is_zero() {
        return Ok(digits::Ball::rational(w, at.accuracy + 64));
    }
    let ratio = at.ratio(last_change(&[w]));
    settle(at.accuracy, at.interrupt, |bits| {
        let Some(r) = ratio.at(bits) else { return Ok(None) };
        let value = digits::Ball::one().minus(&r.times(&digits::Ball::rational(&absent, bits), bits), bits);
        Ok(if value.is_not_positive() { Some(digits::Ball::zero()) } else { Some(value) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Curve;
    use crate::digits;
    use crate::interrupt::Uninterrupted;
    use proptest::prelude::*;

    fn over(top: u64, bottom: u64) -> Rational {
        Rational::from(top).div(&Rational::from(bottom)).unwrap()
    }

    /// The distance from forty digits that the digits tier, which shares no computation, finds; and the value they start with.
    fn gap(pair: &ShiftedBinomial, direction: Direction, epsilon: &Epsilon) -> (Ball, Ball) {
        let value = pair.delta(direction, epsilon, &Uninterrupted).unwrap();
        let curve = Curve::from(Directed(pair.clone(), direction));
        let truth =
            crate::curve::digits::delta(&curve, &epsilon.exact().unwrap(), 40, &Uninterrupted).unwrap();
        let end = |end: &digits::Dyadic| Ball::from_rational(&end.to_rational().unwrap());
        let truth = end(truth.lower()).hull(end(truth.upper()));
        (value - truth, value)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn balls_contain_the_truth_and_are_narrow(
            size in prop_oneof![1u64..80, 80u64..4000],
            thousandths in 1u64..1000,
            inclusion in prop_oneof![Just(7u64), 1u64..7],
            epsilon in prop_oneof![Just(0.0), 1e-4..0.2f64, 0.0..4.0f64, -2.0..0.0f64],
        ) {
            let pair = ShiftedBinomial::new(size, &over(thousandths, 1000), &over(inclusion, 7)).unwrap();
            for direction in Direction::BOTH {
                let given = Epsilon::from_f64(epsilon).unwrap();
                for (epsilon, width) in [(given.clone(), 1e-12), (given.precisely(), 1e-23)] {
                    let (gap, value) = gap(&pair, direction, &epsilon);
                    prop_assert!(!gap.is_positive() && !(-gap).is_positive(), "{:?} is off by {:?}", value, gap);
                    prop_assert!(value.is_exact_zero() || value.relative_error() < width, "{:?}", value);
                }
            }
        }
    }

    #[test]
    fn odds_of_any_size_are_summed_or_refused() {
        let one = Rational::from(1i64);
        let tiny = Rational::parse("1e-300").unwrap();
        for (size, p, epsilon) in [
            (100, tiny.clone(), 0.5),
            (100, tiny.clone(), 691.0),
            (100_000, Rational::parse("1e-100").unwrap(), 240.0),
            (100, one.sub(&tiny), 0.5),
            (3_000_000, Rational::parse("1e-6").unwrap(), 0.1),
        ] {
            let pair = ShiftedBinomial::new(size, &p, &one).unwrap();
            let given = Epsilon::from_f64(epsilon).unwrap();
            for epsilon in [given.clone(), given.precisely()] {
                let (gap, value) = gap(&pair, Direction::OneAgainstZero, &epsilon);
                assert!(!gap.is_positive() && !(-gap).is_positive(), "{value:?} is off by {gap:?}");
                assert!(value.relative_error() < 1e-13, "{size} {p:?}: {value:?}");
            }
        }
    }

    #[test]
    fn inclusion_probabilities_and_sizes_are_checked() {
        let (half, one) = (over(1, 2), Rational::from(1i64));
        assert!(
            ShiftedBinomial::new(0, &half, &one).is_err() && ShiftedBinomial::new(1, &half, &one).is_ok()
        );
        assert!(ShiftedBinomial::new(1 << 53, &half, &one).is_ok());
        assert!(ShiftedBinomial::new((1 << 53) + 1, &half, &one).is_err());
        assert!(ShiftedBinomial::new(5, &half, &over(0, 1)).is_err());
        assert!(ShiftedBinomial::new(5, &half, &over(8, 7)).is_err());
        let pair = ShiftedBinomial::new(5, &half, &one).unwrap();
        assert_eq!((pair.size(), pair.with_size(9).unwrap().size()), (5, 9));
        assert!(pair.with_size(0).is_err());
    }

    /// `P_1` where `P_0` has nothing: the answer `n` with `p^(n−1)`, the answer 0 with `q^(n−1)`; nothing where the critical entry may be left out.
    #[test]
    fn the_limit_is_the_mass_that_the_other_law_lacks() {
        let limit = |p: &Rational, inclusion: &Rational, direction| {
            ShiftedBinomial::new(3, p, inclusion).unwrap().infinity_mass(direction).to_enclosure()
        };
        let (zero, third, one) = (over(0, 1), over(1, 3), over(1, 1));
        for (p, inclusion, up, down) in [
            (&third, &one, "1/9", "4/9"),
            (&third, &third, "0", "0"),
            (&zero, &one, "1", "1"),
            (&zero, &third, "1/3", "0"),
            (&one, &third, "0", "1/3"),
        ] {
            for (direction, truth) in Direction::BOTH.into_iter().zip([up, down]) {
                let found = limit(p, inclusion, direction);
                assert!(
                    found.contains(&Rational::parse(truth).unwrap()) && found.width() < 1e-15,
                    "{p:?} {inclusion:?}: {found:?}"
                );
            }
        }
    }

    /// All others are alike: `(1 − e^ε (1 − w))_+`, or `w` where no other entry counts.
    #[test]
    fn an_entry_beside_others_that_are_all_alike_has_the_digits_of_its_curve() {
        for p in ["0", "1"] {
            for inclusion in [over(1, 4), over(2, 5), over(1, 1)] {
                let pair = ShiftedBinomial::new(6, &Rational::parse(p).unwrap(), &inclusion).unwrap();
                for (direction, epsilon) in
                    Direction::BOTH.into_iter().flat_map(|d| [0.0, 0.1, 0.3, 2.0].map(|e| (d, e)))
                {
                    let (gap, value) = gap(&pair, direction, &Epsilon::from_f64(epsilon).unwrap());
                    assert!(
                        !gap.is_positive() && !(-gap).is_positive(),
                        "{p} {inclusion:?} {epsilon}: {value:?}"
                    );
                    assert!(
                        value.is_exact_zero() || value.relative_error() < 1e-25,
                        "{p} {epsilon}: {value:?}"
                    );
                }
            }
        }
    }
}
