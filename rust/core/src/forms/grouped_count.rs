//! The count of a property among independent entries whose probabilities differ from group to group.
//!
//! `S` is the number of ones among the other entries, a sum of independent binomial numbers; the answer is `1 + S` or `S`. With
//! `r = e^ε` and `d_k = P[S = k−1] − r P[S = k]`
//!
//! ```text
//! Δ_{1,0} = Σ_k (d_k)_+,     f_a = Σ_{k≥a} d_k = P[S = a−1] − (r−1) P[S ≥ a]
//! ```
//!
//! and `Δ_{1,0} − f_a = Σ_{k≥a} (−d_k)_+ + Σ_{k<a} (d_k)_+`. The law of `S` is log-concave, so `P[S = k−1]/P[S = k]` increases in `k`: there is a
//! threshold below which all `d_k` are negative and from which on none is, and with it for `a` the value is `f_a`. Where the sign of some `d_k`
//! cannot be told, `a` is the first integer for which it is not certainly negative; then `d_k < 0` for all `k < a`, and `Δ` exceeds `f_a` by at most
//! the sum of what the undecided `d_k`, from `a` on, may lie below zero.
//!
//! With the zeros counted instead of the ones, `Δ_{0,1}` is `Δ_{1,0}` for `1 − p`.

use super::direction::Directed;
use super::hockey_stick::{Form, HockeyStick, WrittenOut};
use super::shifted_binomial::{ShiftedBinomial, TERMS};
use super::{Answers, Direction, Epsilon};
use crate::answer::Law;
use crate::budget::{MAX_GAP_SUMMED, MAX_PRECISE_ENTRIES, MAX_UNDECIDED};
use crate::error::Error;
use crate::fourier::{BinomialGroup, Lattice, LatticeSum, Trials};
use crate::interrupt::Interrupt;
use crate::laws::Probability;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum size of a group that is multiplied out entry by entry, in less time than a logarithm takes.
const SMALL: u64 = 256;

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct GroupedCount {
    given: Arc<Vec<(u64, Rational)>>,
    /// Entries that may have either value.
    pub(super) random: Vec<(u64, Probability)>,
    pub(super) size: u64,
}

impl GroupedCount {
    /// Each group has a number of other entries and their probability. The critical entry is counted in addition.
    ///
    /// # Errors
    /// A probability outside `[0, 1]`, more than 2^53 entries with the critical one.
    pub fn new(groups: Vec<(u64, Rational)>) -> Result<Self, Error> {
        let one = Rational::from(1i64);
        let (mut random, mut size, mut all) = (Vec::new(), 0, 1u64);
        for (index, (others, p)) in groups.iter().enumerate() {
            if p.is_negative() || *p > one {
                return Err(Error::argument(format!(
                    "p = {} of group {index} is not a probability; a number from 0 to 1 is required",
                    p.shown()
                )));
            }
            all = all.saturating_add(*others);
            if *others > 0 && !p.is_zero() && *p != one {
                random.push((*others, Probability::new(p)?));
                size += others;
            }
            if all > 1 << 53 {
                return Err(Error::argument(format!(
                    "the first {} groups have {all} entries or more; at most 2^53 = {} are allowed, the critical one included",
                    index + 1,
                    1u64 << 53
                )));
            }
        }
        Ok(Self { given: Arc::new(groups), random, size })
    }

    /// Other entries and their probability, group by group, as they were given.
    #[must_use]
    pub fn groups(&self) -> &[(u64, Rational)] {
        &self.given
    }

    /// The two laws of the answer.
    pub(crate) fn written_out(&self, direction: Direction) -> Result<Answers, Error> {
        let parts =
            self.given.iter().map(|(others, p)| Law::binomial(*others, p)).collect::<Result<_, _>>()?;
        let others = Law::sum(parts)?;
        Ok(Answers::in_direction(others.shifted(1)?, others, direction))
    }

    /// The approximate number of terms of one evaluation: some 200 values of each group's transform, counted in terms.
    #[must_use]
    pub fn terms(&self) -> f64 {
        let work = |&(others, _): &(u64, Probability)| {
            if others <= SMALL { 4.0 * others as f64 } else { 4.0 * TERMS }
        };
        200.0 * (TERMS + self.random.iter().map(work).sum::<f64>())
    }

    /// The limit of Δ for ε → ∞: the probability that all other entries are alike.
    #[must_use]
    pub fn infinity_mass(&self, direction: Direction) -> Ball {
        let power = |&(others, at): &(u64, Probability)| oriented(at, direction).p.powi(others);
        self.random.iter().map(power).fold(Ball::ONE, |product, power| product * power)
    }

    /// `Δ_{v,w}(ε)`, for an ε of either sign; the time depends on the number of groups, not on their sizes.
    ///
    /// # Errors
    /// [`Error::Precision`] where too many signs are undecided, [`Error::Interrupted`].
    pub fn delta(
        &self,
        direction: Direction,
        epsilon: &Epsilon,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        if epsilon.is_negative() {
            return epsilon.reflect(|opposite| self.delta(direction.reversed(), opposite, interrupt));
        }
        self.delta_of_gap(1, direction, epsilon, interrupt)
    }

    /// `H_r(d + S ‖ S)` in this direction, at one ε ≥ 0; `d` is `gap`, at least 1.
    pub(super) fn delta_of_gap(
        &self,
        gap: u64,
        direction: Direction,
        epsilon: &Epsilon,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        if self.size < gap {
            return Ok(Ball::ONE);
        }
        if gap == 1
            && let Some(binomial) = self.binomial()?
        {
            return binomial.delta(direction, &epsilon.clone().precisely(), interrupt);
        }
        let (small, large) = self.parts(direction);
        let mut parts: Vec<&dyn Lattice> = vec![&small];
        parts.extend(large.iter().map(|group| group as &dyn Lattice));
        let others = LatticeSum::new(parts);
        Count { others, size: self.size as i64, gap: gap as i64, epsilon, interrupt }.delta()
    }

    /// The count where all entries that may have either value are one group, of a size that is summed in double-doubles: no transform is inverted.
    fn binomial(&self) -> Result<Option<ShiftedBinomial>, Error> {
        if self.size >= MAX_PRECISE_ENTRIES {
            return Ok(None);
        }
        let one = Rational::from(1i64);
        let mut random = self.given.iter().filter(|(others, p)| *others > 0 && !p.is_zero() && *p != one);
        match (random.next(), random.next()) {
            (Some((others, p)), None) => ShiftedBinomial::new(others + 1, p, &one).map(Some),
            _ => Ok(None),
        }
    }

    /// The laws of the numbers of ones, or of zeros: small groups as single Bernoulli trials, large ones as one binomial law each.
    pub(super) fn parts(&self, direction: Direction) -> (Trials, Vec<BinomialGroup>) {
        let (mut small, mut large) = (Vec::new(), Vec::new());
        for &(count, at) in &self.random {
            let at = oriented(at, direction);
            if count <= SMALL {
                small.extend(std::iter::repeat_n((at.p, at.q), count as usize));
            } else {
                large.push(BinomialGroup { count, at, weight: 1 });
            }
        }
        (Trials::new(&small), large)
    }
}

pub(super) fn oriented(at: Probability, direction: Direction) -> Probability {
    match direction {
        Direction::OneAgainstZero => at,
        Direction::ZeroAgainstOne => at.complement(),
    }
}

/// `d + S` against `S` at one ε ≥ 0: as above, with `d_k = P[S = k−d] − r P[S = k]` and `f_a = P[a−d ≤ S < a] − (r−1) P[S ≥ a]`. A ratio over `d` steps
/// is the product of those over one, so it increases too.
pub(super) struct Count<'a> {
    pub others: LatticeSum<'a>,
    /// The greatest value of `S`.
    pub size: i64,
    /// `d`, at least 1 and at most `size`.
    pub gap: i64,
    pub epsilon: &'a Epsilon,
    pub interrupt: &'a dyn Interrupt,
}

impl Count<'_> {
    /// `f_a` and a bound of `Δ − f_a`; see the module documentation.
    pub fn delta(&self) -> Result<Ball, Error> {
        let Crossing { first, undecided } = self.crossing()?;
        let mass = self.passed(first)?;
        let tail = self.others.upper_tail(first, self.interrupt)?;
        let value = mass - self.epsilon.ratio_minus_one() * tail;
        Ok(undecided.into_iter().fold(value, Ball::plus_at_most))
    }

    /// `P[a−d ≤ S < a]`.
    fn passed(&self, first: i64) -> Result<Ball, Error> {
        if self.gap == 1 {
            return self.others.probability(first - 1, self.interrupt);
        }
        if self.gap <= MAX_GAP_SUMMED {
            let masses = self.others.probabilities(first - self.gap, first - 1, self.interrupt)?;
            return Ok(masses.into_iter().fold(Ball::ZERO, |sum, mass| sum + mass));
        }
        let from = self.others.upper_tail(first - self.gap, self.interrupt)?;
        Ok(from - self.others.upper_tail(first, self.interrupt)?)
    }

    /// Where the `d_k` change their sign.
    pub fn crossing(&self) -> Result<Crossing, Error> {
        let (first, known) = self.search()?;
        Ok(Crossing { first, undecided: self.undecided(first, known)? })
    }

    /// The first integer for which `d_k` is not certainly negative, and all `d_k` that were computed. The search starts next to the mean of `S` tilted by
    /// ε, where the ratio is about `e^ε`, takes doubling steps and then bisects. Three neighbours cost one contour, as one does.
    ///
    /// `d_k < 0` for `k < d`, and `d_k > 0` beyond the greatest value of `S`.
    fn search(&self) -> Result<(i64, BTreeMap<i64, Ball>), Error> {
        let (mut low, mut high, mut step) = (self.gap - 1, self.size + 1, 1);
        let mut known = BTreeMap::new();
        let epsilon = self.epsilon.value.to_enclosure().lower();
        let gap = self.gap as f64;
        let mut at = (self.others.rough_mean(epsilon / gap) + 0.5 * gap).round() as i64;
        while high - low > 1 {
            at = at.clamp(low + 1, high - 1);
            let ends = ((at - 1).max(low + 1), (at + 1).min(high - 1));
            for (k, difference) in (ends.0..).zip(self.differences(ends)?) {
                known.insert(k, difference);
                if (-difference).is_positive() {
                    low = k;
                }
            }
            if low < ends.1 {
                high = ends.0.max(low + 1);
            }
            at = match (low, high) {
                (low, _) if low < self.gap => high.saturating_sub(step),
                (_, high) if high > self.size => low.saturating_add(step),
                _ => low.midpoint(high),
            };
            step = step.saturating_mul(2);
        }
        Ok((high, known))
    }

    /// The `d_k` from the first on that are not certainly at least zero.
    fn undecided(&self, first: i64, mut known: BTreeMap<i64, Ball>) -> Result<Vec<Ball>, Error> {
        let mut all = Vec::new();
        for k in first..=self.size {
            if !known.contains_key(&k) {
                known.extend((k..).zip(self.differences((k, (k + 2).min(self.size)))?));
            }
            let difference = known.get(&k).copied().unwrap_or(Ball::WHOLE);
            if difference.is_positive() {
                break;
            }
            if all.len() == MAX_UNDECIDED {
                return Err(Error::precision(format!(
                    "for the answers from {first} to {k} the likelihood ratio cannot be told from e^epsilon"
                )));
            }
            all.push(difference);
        }
        Ok(all)
    }

    /// `d_k` from one integer to another.
    fn differences(&self, (first, last): (i64, i64)) -> Result<Vec<Ball>, Error> {
        let masses = self.others.probabilities(first - 1, last, self.interrupt)?;
        let below = if self.gap == 1 {
            masses.clone()
        } else {
            self.others.probabilities(first - self.gap, last - self.gap, self.interrupt)?
        };
        let pairs = below.iter().zip(masses.iter().skip(1));
        Ok(pairs.map(|(&below, &mass)| below - self.epsilon.ratio() * mass).collect())
    }
}

/// Where the `d_k` change their sign.
pub(super) struct Crossing {
    /// The first integer for which `d_k` is not certainly negative.
    pub first: i64,
    /// The `d_k` from there on that are not certainly at least zero.
    pub undecided: Vec<Ball>,
}

impl HockeyStick for Directed<GroupedCount> {
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

    fn written_out(&self) -> Result<Option<WrittenOut>, Error> {
        self.0.written_out(self.1).map(|laws| Some(WrittenOut::Laws(laws)))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::interrupt::Uninterrupted;
    use proptest::prelude::*;

    pub(in crate::forms) fn rational(text: &str) -> Rational {
        Rational::parse(text).unwrap()
    }

    pub(in crate::forms) fn contains(computed: Ball, truth: Ball) -> bool {
        let gap = computed - truth;
        !gap.is_positive() && !(-gap).is_positive()
    }

    fn delta(count: &GroupedCount, direction: Direction, epsilon: f64) -> Ball {
        count.delta(direction, &Epsilon::from_f64(epsilon).unwrap(), &Uninterrupted).unwrap()
    }

    /// The law of `S`, multiplied out in rationals.
    fn law(groups: &[(u64, Rational)]) -> Vec<Rational> {
        let (zero, one) = (Rational::from(0i64), Rational::from(1i64));
        let entries = groups.iter().flat_map(|(others, p)| (0..*others).map(move |_| p));
        entries.fold(vec![one.clone()], |law, p| {
            let shifted = std::iter::once(zero.clone()).chain(law.clone());
            let padded = law.iter().cloned().chain([zero.clone()]);
            padded.zip(shifted).map(|(stays, moves)| stays.mul(&one.sub(p)).add(&moves.mul(p))).collect()
        })
    }

    /// `Σ_a (P_v(a) − e^ε P_w(a))_+`, term by term.
    pub(in crate::forms) fn by_definition(
        groups: &[(u64, Rational)],
        direction: Direction,
        epsilon: f64,
    ) -> Ball {
        let zero: Vec<Ball> = law(groups).iter().map(Ball::from_rational).chain([Ball::ZERO]).collect();
        let one: Vec<Ball> = std::iter::once(Ball::ZERO).chain(zero.iter().copied()).collect();
        let ratio = Ball::from_f64(epsilon).unwrap().exp();
        let pairs: Vec<(Ball, Ball)> = match direction {
            Direction::OneAgainstZero => one.into_iter().zip(zero).collect(),
            Direction::ZeroAgainstOne => zero.into_iter().zip(one).collect(),
        };
        pairs.into_iter().fold(Ball::ZERO, |sum, (v, w)| sum + (v - ratio * w).max(Ball::ZERO))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn it_is_the_hockey_stick_of_the_definition(
            groups in prop::collection::vec((0u64..12, prop_oneof![8 => 1u64..1000, 1 => Just(0), 1 => Just(1000)]), 1..5),
            epsilon in prop_oneof![Just(0.0), 0.0..0.5f64, 0.0..5.0f64, -2.0..0.0f64],
        ) {
            let over = |p: u64| Rational::from(p).div(&Rational::from(1000u64)).unwrap();
            let groups: Vec<(u64, Rational)> = groups.into_iter().map(|(others, p)| (others, over(p))).collect();
            let count = GroupedCount::new(groups.clone()).unwrap();
            for direction in Direction::BOTH {
                let (found, truth) = (delta(&count, direction, epsilon), by_definition(&groups, direction, epsilon));
                prop_assert!(contains(found, truth), "{:?} {:?}", found, truth);
                prop_assert!(found.relative_error() < 1e-16, "{:?} {:?}", found, truth);
            }
        }
    }

    #[test]
    fn groups_of_one_probability_are_one_count_of_any_size() {
        for (others, epsilon, width) in [
            (300, 0.1, 1e-18),
            (4_000, 0.2, 1e-18),
            (1_000_000, 0.005, 1e-17),
            (1_000_000_000, 2e-4, 1e-16),
            (1_000_000_000_000, 5e-6, 1e-15),
            (1_000_000_000_000, 0.0, 1e-15),
        ] {
            let p = rational("3/10");
            let groups = vec![(others / 3, p.clone()), (others - others / 3, p.clone())];
            let count = GroupedCount::new(groups).unwrap();
            let one = ShiftedBinomial::new(others + 1, &p, &Rational::from(1i64)).unwrap();
            for direction in Direction::BOTH {
                let given = Epsilon::from_f64(epsilon).unwrap();
                let truth = one.delta(direction, &given, &Uninterrupted).unwrap();
                let found = delta(&count, direction, epsilon);
                assert!(contains(found, truth), "{others} {epsilon} {found:?} {truth:?}");
                assert!(found.relative_error() < width, "{others} {epsilon} {:e}", found.relative_error());
            }
        }
    }

    /// For an odd number of fair entries `P[S = k−1] = P[S = k]` in the middle, so a sign is undecided at ε = 0.
    #[test]
    fn where_the_ratio_is_exactly_the_threshold_the_value_is_enclosed_all_the_same() {
        let groups = vec![(3, rational("1/2")), (2, rational("1/4")), (2, rational("3/4"))];
        let count = GroupedCount::new(groups.clone()).unwrap();
        let found = delta(&count, Direction::OneAgainstZero, 0.0);
        let largest = law(&groups).into_iter().max().unwrap();
        assert!(
            contains(found, Ball::from_rational(&largest)) && found.relative_error() < 1e-20,
            "{found:?}"
        );
        let ((small, _), epsilon) = (count.parts(Direction::OneAgainstZero), Epsilon::from_f64(0.0).unwrap());
        let others = LatticeSum::new(vec![&small]);
        let Crossing { first, undecided } =
            Count { others, size: 7, gap: 1, epsilon: &epsilon, interrupt: &Uninterrupted }
                .crossing()
                .unwrap();
        assert_eq!((first, undecided.len()), (4, 1), "what is undecided is not left out");
    }

    #[test]
    fn the_limit_is_the_mass_of_the_extreme_answer() {
        let groups = vec![(2, rational("1/3")), (5, rational("0")), (1, rational("1/2")), (3, rational("1"))];
        let count = GroupedCount::new(groups.clone()).unwrap();
        assert_eq!(count.groups(), groups);
        for (direction, truth) in Direction::BOTH.into_iter().zip(["1/18", "2/9"]) {
            let limit = count.infinity_mass(direction);
            assert!(contains(limit, Ball::from_rational(&rational(truth))) && limit.relative_error() < 1e-25);
            assert!(
                contains(delta(&count, direction, 1e6), limit)
                    && contains(delta(&count, direction, 40.0), limit)
            );
        }
        let certain = GroupedCount::new(vec![(4, rational("1"))]).unwrap();
        assert!(delta(&certain, Direction::OneAgainstZero, 3.0).relative_error() == 0.0);
    }

    #[test]
    fn what_is_no_group_is_refused() {
        let refused = |groups| GroupedCount::new(groups).unwrap_err().to_string();
        let wrong = refused(vec![(1, rational("1/2")), (1, rational("3/2"))]);
        assert_eq!(wrong, "p = 3/2 of group 1 is not a probability; a number from 0 to 1 is required");
        let many = refused(vec![(1 << 52, rational("1/2")), (1 << 52, rational("1/3"))]);
        assert!(
            many.starts_with("the first 2 groups have 9007199254740993 entries or more; at most 2^53"),
            "{many}"
        );
    }
}
