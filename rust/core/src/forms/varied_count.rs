//! The count of a property among independent entries with probabilities of their own. Any entry may be the critical one.
//!
//! `S` is the number of ones among all entries, `T = S − X_j` that among the others of entry j, and the answer is `1 + T` or `T`. With `r = e^ε ≥ 1`,
//! `ρ_T(k) = P[T = k−1]/P[T = k]` and
//!
//! ```text
//! f_a = Σ_{k≥a} (P[T = k−1] − r P[T = k]) = P[T = a−1] − (r−1) P[T ≥ a]
//! ```
//!
//! `Δ_{1,0} = Σ_k (P[T = k−1] − r P[T = k])_+ = max_a f_a`, attained at the first `a` for which `ρ_T(a) ≥ r`, as the law of `T` is log-concave: see
//! [`GroupedCount`].
//!
//! **All entries have the same threshold, up to one.** `P[S = k] = q P[T = k] + p P[T = k−1]`, so that
//! `ρ_S(k) = (q P[T = k−1] + p P[T = k−2])/(q P[T = k] + p P[T = k−1])` lies between `ρ_T(k−1)` and `ρ_T(k)`. Where `ρ_S(l) < r ≤ ρ_S(h)`, therefore
//! `ρ_T(l−1) < r ≤ ρ_T(h)`, and the maximum is attained at some `a` from `l` to `h`: mostly one of two integers, the same two for every entry.
//!
//! So the worst entry is found from the values `f_a` at a few `a`, which [`LatticeSum::leave_one_out`] gives for all entries from one transform of `S`.
//! `f_a ≤ 0` for `a ≤ 0`; with `n` entries `f_n = P[T = n−1]` is the limit of Δ for ε → ∞, and `f_a = 0` beyond.
//!
//! Entries that are certain, `p` of 0 or 1, shift all answers. For one of these as the critical one `T` counts one entry more than for any other, which makes
//! Δ no larger: a sum is post-processing of its terms.

use super::Answers;
use super::direction::Directed;
use super::grouped_count::{Count, Crossing, GroupedCount, oriented};
use super::hockey_stick::{Form, HockeyStick, WrittenOut};
use super::{Direction, Epsilon};
use crate::budget::MAX_GROUPS;
use crate::error::Error;
use crate::fourier::{Lattice, LatticeSum};
use crate::interrupt::Interrupt;
use crate::laws::Probability;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use std::sync::Arc;

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct VariedCount {
    /// All entries, as the other entries of one more.
    all: GroupedCount,
}

impl VariedCount {
    /// Each group has a number of entries and their probability. Any entry may be the critical one; the worst counts.
    ///
    /// # Errors
    /// A probability outside `[0, 1]`, no entry, 2^53 entries or more.
    pub fn new(groups: Vec<(u64, Rational)>) -> Result<Self, Error> {
        if groups.iter().all(|(count, _)| *count == 0) {
            return Err(Error::argument(
                "a count of no entries; at least one, the critical one, is required",
            ));
        }
        Ok(Self { all: GroupedCount::new(groups)? })
    }

    /// Entries and their probability, group by group, as they were given.
    #[must_use]
    pub fn groups(&self) -> &[(u64, Rational)] {
        self.all.groups()
    }

    /// The laws of the answer for a critical entry in each group.
    ///
    /// # Errors
    /// More than a few hundred groups.
    pub(crate) fn written_out(&self, direction: Direction) -> Result<Vec<Answers>, Error> {
        let groups = self.groups();
        if groups.len() > MAX_GROUPS {
            return Err(Error::precision(format!(
                "digits and exact values of a count among {} groups of entries with different probabilities take too long; up to \
                 {MAX_GROUPS} groups are tried, and delta() without digits= encloses it for any number",
                groups.len()
            )));
        }
        let critical =
            (0..groups.len()).filter(|&index| groups.get(index).is_some_and(|(count, _)| *count > 0));
        let laws = |index: usize| {
            let less = |(other, (count, p)): (usize, &(u64, Rational))| {
                (count - u64::from(other == index), p.clone())
            };
            GroupedCount::new(groups.iter().enumerate().map(less).collect())?.written_out(direction)
        };
        critical.map(laws).collect()
    }

    /// The approximate number of terms of one evaluation.
    #[must_use]
    pub fn terms(&self) -> f64 {
        self.all.terms()
    }

    /// The limit of Δ for ε → ∞: the largest probability, over the critical entry, that all other entries are alike.
    #[must_use]
    pub fn infinity_mass(&self, direction: Direction) -> Ball {
        let shares = self.all.random.iter().map(|&(_, at)| oriented(at, direction).p);
        match shares.reduce(Ball::min) {
            Some(least) => self.all.infinity_mass(direction) / least,
            None => Ball::ONE,
        }
    }

    /// `max_j Δ_{v,w}(ε)`, for an ε of either sign; the time depends on the number of groups, not on their sizes.
    ///
    /// # Errors
    /// As [`GroupedCount::delta`].
    pub fn delta(
        &self,
        direction: Direction,
        epsilon: &Epsilon,
        interrupt: &dyn Interrupt,
    ) -> Result<Ball, Error> {
        if epsilon.is_negative() {
            return epsilon.reflect(|opposite| self.delta(direction.reversed(), opposite, interrupt));
        }
        let limit = self.infinity_mass(direction);
        if self.all.size <= 1 {
            return Ok(limit);
        }
        let (small, large) = self.all.parts(direction);
        let mut parts: Vec<&dyn Lattice> = vec![&small];
        parts.extend(large.iter().map(|group| group as &dyn Lattice));
        let size = self.all.size as i64;
        let count = Count { others: LatticeSum::new(parts), size, gap: 1, epsilon, interrupt };
        let Crossing { first, undecided } = count.crossing()?;
        let last = first + undecided.len() as i64;
        let thresholds = (first - 1).max(1)..=last.min(size - 1);
        if thresholds.is_empty() {
            return Ok(limit);
        }
        let (near, t) = (epsilon.value.to_enclosure().lower(), epsilon.ratio_minus_one());
        let without = count.others.leave_one_out(thresholds, near, t, interrupt)?;
        let critical: Vec<Probability> =
            self.all.random.iter().map(|&(_, at)| oriented(at, direction)).collect();
        Ok(limit.max(without.largest(&critical, interrupt)?))
    }
}

impl HockeyStick for Directed<VariedCount> {
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
        self.0.written_out(self.1).map(|pairs| Some(WrittenOut::Worst(pairs)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::ShiftedBinomial;
    use super::super::grouped_count::tests::{by_definition, contains, rational};
    use super::*;
    use crate::interrupt::Uninterrupted;
    use proptest::prelude::*;

    fn over(a: u64, b: u64) -> Rational {
        Rational::from(a).div(&Rational::from(b)).unwrap()
    }

    fn delta(count: &VariedCount, direction: Direction, epsilon: f64) -> Ball {
        count.delta(direction, &Epsilon::from_f64(epsilon).unwrap(), &Uninterrupted).unwrap()
    }

    /// All entries but one of the group.
    fn without(groups: &[(u64, Rational)], critical: usize) -> Vec<(u64, Rational)> {
        let less = |(index, (count, p)): (usize, &(u64, Rational))| {
            (count - u64::from(index == critical), p.clone())
        };
        groups.iter().enumerate().map(less).collect()
    }

    /// The largest, entry by entry, each by itself.
    fn one_by_one(groups: &[(u64, Rational)], value: impl Fn(Vec<(u64, Rational)>) -> Ball) -> Ball {
        let present = groups.iter().enumerate().filter(|(_, (count, _))| *count > 0);
        present.fold(Ball::ZERO, |best, (critical, _)| best.max(value(without(groups, critical))))
    }

    fn by_groups(groups: &[(u64, Rational)], direction: Direction, epsilon: f64) -> Ball {
        let epsilon = Epsilon::from_f64(epsilon).unwrap();
        one_by_one(groups, |others| {
            GroupedCount::new(others).unwrap().delta(direction, &epsilon, &Uninterrupted).unwrap()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(30, 100)))]

        #[test]
        fn it_is_the_largest_hockey_stick_of_the_definition(
            groups in prop::collection::vec((1u64..3, prop_oneof![8 => 1u64..1000, 1 => Just(0), 1 => Just(1000), 1 => Just(500)]), 1..5),
            epsilon in prop_oneof![Just(0.0), 0.0..0.5f64, 0.0..5.0f64, 0.0..12.0f64, -2.0..0.0f64],
        ) {
            let groups: Vec<(u64, Rational)> = groups.into_iter().map(|(count, p)| (count, over(p, 1000))).collect();
            let count = VariedCount::new(groups.clone()).unwrap();
            for direction in Direction::BOTH {
                let truth = one_by_one(&groups, |others| by_definition(&others, direction, epsilon));
                let found = delta(&count, direction, epsilon);
                prop_assert!(contains(found, truth), "{:?} {:?}", found, truth);
                prop_assert!(found.relative_error() < 1e-16, "{:?} {:?}", found, truth);
            }
        }

        #[test]
        fn rare_and_common_properties_are_the_largest_of_the_groups(
            groups in prop::collection::vec(
                (1u64..400, prop_oneof![4 => 1u64..1000, 1 => Just(0)], prop_oneof![2 => Just(0u32), 1 => 0u32..12], any::<bool>()), 1..7,
            ),
            epsilon in prop_oneof![Just(0.0), 0.0..0.5f64, 0.0..5.0f64, 0.0..30.0f64],
        ) {
            let groups: Vec<(u64, Rational)> = groups.into_iter().map(|(count, p, depth, common)| {
                let rare = over(p, 1000 * 10u64.pow(depth));
                (count, if common { Rational::from(1i64).sub(&rare) } else { rare })
            }).collect();
            let count = VariedCount::new(groups.clone()).unwrap();
            for direction in Direction::BOTH {
                let truth = by_groups(&groups, direction, epsilon);
                let found = delta(&count, direction, epsilon);
                prop_assert!(contains(found, truth), "{:?} {:?}", found, truth);
                prop_assert!(found.relative_error() < 1e-15, "{:?} {:?}", found, truth);
            }
        }
    }

    /// Of four fair-looking entries the others of a fair one are the more likely to be apart: which is worst is no matter of size alone.
    #[test]
    fn the_worst_entry_need_not_be_the_one_nearest_to_a_fair_coin() {
        let groups = ["2/5", "1/2", "1/2", "3/5"].map(|p| (1, rational(p))).to_vec();
        let found = delta(&VariedCount::new(groups.clone()).unwrap(), Direction::OneAgainstZero, 0.0);
        assert!(contains(found, Ball::from_rational(&rational("2/5"))) && found.relative_error() < 1e-20);
        let fair = GroupedCount::new(without(&groups, 1)).unwrap();
        let fair =
            fair.delta(Direction::OneAgainstZero, &Epsilon::from_f64(0.0).unwrap(), &Uninterrupted).unwrap();
        assert!(fair.certainly_less(found));
    }

    /// Down to values of 1e-177: every entry is at most as bad as the worst, and one of some hundred equal ones is.
    #[test]
    fn thousands_of_entries_keep_their_accuracy() {
        let spread = |n: u64, classes: u64| -> Vec<(u64, Rational)> {
            (1..=classes).map(|i| (n / classes, over(i, classes + 1))).collect()
        };
        let (different, alike) = (spread(5000, 5000), spread(5000, 40));
        for epsilon in [1.0, 0.02, 0.0, 1e-9, 0.1].into_iter().take(crate::cases::cases(2, 5) as usize) {
            for direction in Direction::BOTH {
                let found = delta(&VariedCount::new(different.clone()).unwrap(), direction, epsilon);
                assert!(found.relative_error() < 1e-18, "{epsilon} {found:?}");
                for critical in
                    [0, 2499, 4999, 1000, 2500].into_iter().take(crate::cases::cases(3, 5) as usize)
                {
                    let others = GroupedCount::new(without(&different, critical)).unwrap();
                    let given = Epsilon::from_f64(epsilon).unwrap();
                    let one = others.delta(direction, &given, &Uninterrupted).unwrap();
                    assert!(!found.certainly_less(one));
                }
                let (found, truth) = (
                    delta(&VariedCount::new(alike.clone()).unwrap(), direction, epsilon),
                    by_groups(&alike, direction, epsilon),
                );
                assert!(
                    contains(found, truth) && found.relative_error() < 1e-18,
                    "{epsilon} {found:?} {truth:?}"
                );
            }
        }
    }

    #[test]
    fn groups_may_have_any_size_and_equal_ones_are_one_count() {
        let p = rational("3/10");
        for (size, epsilon, width) in
            [(5000, 0.1, 1e-17), (1_000_000, 0.005, 1e-16), (1_000_000_000_000, 5e-6, 1e-14)]
        {
            let one = ShiftedBinomial::new(size, &p, &Rational::from(1i64)).unwrap();
            let equal = VariedCount::new(vec![(size / 3, p.clone()), (size - size / 3, p.clone())]).unwrap();
            let different =
                vec![(size / 3, p.clone()), (size / 2, rational("0.45")), (size / 9, rational("1e-6"))];
            for direction in Direction::BOTH {
                let truth =
                    one.delta(direction, &Epsilon::from_f64(epsilon).unwrap(), &Uninterrupted).unwrap();
                let found = delta(&equal, direction, epsilon);
                assert!(
                    contains(found, truth) && found.relative_error() < width,
                    "{size} {found:?} {truth:?}"
                );
                let found = delta(&VariedCount::new(different.clone()).unwrap(), direction, epsilon);
                let truth = by_groups(&different, direction, epsilon);
                assert!(
                    contains(found, truth) && found.relative_error() < width,
                    "{size} {found:?} {truth:?}"
                );
            }
        }
    }

    #[test]
    fn the_limit_is_that_of_the_worst_entry() {
        let groups = vec![
            (2, rational("1/3")),
            (0, rational("1/9")),
            (1, rational("1/2")),
            (3, rational("1")),
            (1, rational("0")),
        ];
        let count = VariedCount::new(groups).unwrap();
        for (direction, truth) in Direction::BOTH.into_iter().zip(["1/6", "4/9"]) {
            let limit = count.infinity_mass(direction);
            assert!(contains(limit, Ball::from_rational(&rational(truth))) && limit.relative_error() < 1e-25);
            for epsilon in [40.0, 1e6] {
                assert!(contains(delta(&count, direction, epsilon), limit));
            }
        }
        for certain in [vec![(4, rational("1"))], vec![(1, rational("1/7")), (2, rational("0"))]] {
            let alone = VariedCount::new(certain).unwrap();
            assert!(contains(delta(&alone, Direction::ZeroAgainstOne, 3.0), Ball::ONE));
        }
    }

    #[test]
    fn what_is_no_count_or_too_long_is_refused() {
        let none = VariedCount::new(vec![(0, rational("1/2"))]).unwrap_err().to_string();
        assert_eq!(none, "a count of no entries; at least one, the critical one, is required");
        let wrong = VariedCount::new(vec![(1, rational("3/2"))]).unwrap_err().to_string();
        assert_eq!(wrong, "p = 3/2 of group 0 is not a probability; a number from 0 to 1 is required");
        let many = VariedCount::new((1..=301).map(|i| (1, over(i, 302))).collect()).unwrap();
        let refused = many.written_out(Direction::OneAgainstZero).unwrap_err().to_string();
        assert!(
            refused.contains("a count among 301 groups of entries") && refused.contains("up to 300 groups"),
            "{refused}"
        );
    }
}
