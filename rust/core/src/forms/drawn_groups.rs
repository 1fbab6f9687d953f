//! The count of a property among entries that are drawn without replacement from groups, averaged over how many of each are drawn.
//!
//! The critical entry is in the sample. Its `s` others are drawn from groups of `n_i` entries that have the property with probability `p_i`, and from
//! entries that do not matter, because their values are known. With `M = (m_1, …, m_g)` the numbers that are drawn, which are multivariate
//! hypergeometric, `S_M` a sum of independent `Bin(m_i, p_i)`, and `r = e^ε`,
//!
//! ```text
//! δ = E_M[ max_a f_a(M) ],      f_a(M) = P[S_M = a−1] − (r−1) P[S_M ≥ a],
//! ```
//!
//! or the larger of that and of the same for the zeros, in each summand: the sampling privacy curve of Definition 3.3.
//!
//! **Work is shared.** The groups are gone through one inside the other. Within a group the law of the ones among the entries drawn so far is
//! brought from `m` to `m+1` entries by `P'(k) = q P(k) + p P(k−1)`. The laws of the last group, and their tails, are in tables. So each composition costs
//! some products of two short vectors. The best `a` of a composition is next to that of the one before.
//!
//! **Errors.** All these terms are positive, so that rounding errors are relative: at most `3u` for each entry that is added, `u = 2^-53`, and `u` for each
//! term of a sum. What a law has in its far ends is left out and added up in `lost`: computed probabilities then fall short of the truth by at most
//! `lost`. The law of `S_M` is log-concave, so that `d_k = P[S_M = k−1] − r P[S_M = k]` changes its sign once, `f_a = Σ_{k≥a} d_k`, and
//!
//! ```text
//! max_a f_a − f_t = Σ_{k≥t} (−d_k)_+ + Σ_{k<t} (d_k)_+ .
//! ```
//!
//! From `t` the sums are taken up to where the sign of `d_k` is certain; each term is at most what the error of `d_k` allows.
//!
//! **Cut-off.** Given the numbers of the groups before, that of a group is hypergeometric, and only a range of it is gone through. Outside the ratios of
//! neighbouring probabilities are below 1 and fall, so a geometric series bounds what is left out. The probability of leaving the ranges is at most the sum
//! over the groups of the largest of these bounds. Numbers of the first groups that are very improbable together are skipped as well. Every summand is at most 1,
//! so these probabilities are added to the upper end.

mod plan;
mod run;

use super::grouped_count::GroupedCount;
use super::hockey_stick::{Form, HockeyStick, WrittenOut};
use super::{Answers, Direction, Epsilon};
use crate::budget::{MAX_WAYS_OF_DRAWN_GROUPS, MAX_WAYS_WRITTEN_OUT, MAX_WORK_OF_DRAWN_GROUPS};
use crate::error::Error;
use crate::exact::binomial_tail::choose;
use crate::interrupt::{Interrupt, Uninterrupted};
use crate::laws::Hypergeometric;
use crate::numbers::ball::Ball;
use crate::numbers::rational::Rational;
use dashu_int::{IBig, UBig};
use plan::Plan;
use run::{Law, Run};
use std::sync::Arc;

/// `u`: half the distance from 1 to the next double.
const UNIT: f64 = f64::EPSILON / 2.0;
/// What may be left out, as parts of δ: the first that leaves no more work than is taken on.
const LEFT_OUT: [f64; 4] = [1e-12, 1e-9, 1e-7, 1e-6];
/// What the ends of laws may lose, as a part of what may be left out.
const LOST: f64 = 1e-3;
/// Below this δ is not resolved: doubles end at `10^-308`.
const LEAST: f64 = 1e-270;
/// From this ε on, the value is enclosed by the limit and the value here, so that `e^ε` is a double.
const LARGEST: f64 = 600.0;
/// A bound of what numbers below the normal doubles lose in all products of one composition.
const UNDERFLOW: f64 = 1e-300;

/// Entries of one probability, rounded to doubles.
#[derive(Clone, Copy, Debug)]
struct Group {
    size: u64,
    p: f64,
    q: f64,
}

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct DrawnGroups {
    drawn: Arc<Drawn>,
    /// The larger of both in every summand, if none is given.
    direction: Option<Direction>,
}

#[derive(Debug)]
struct Drawn {
    /// In the order in which they are gone through.
    groups: Vec<Group>,
    irrelevant: u64,
    draws: u64,
    /// As the groups were given.
    given: Vec<(u64, Rational)>,
    /// About the mean numbers of each group.
    centre: GroupedCount,
    ways: f64,
}

impl DrawnGroups {
    /// Each group has a number of other entries and their probability; `draws` of all others are in the sample.
    ///
    /// # Errors
    /// A probability outside `[0, 1]`, more draws than entries, or too many ways to draw.
    pub fn new(
        groups: &[(u64, Rational)],
        irrelevant: u64,
        draws: u64,
        direction: Option<Direction>,
    ) -> Result<Self, Error> {
        let one = Rational::from(1i64);
        // Entries that certainly have the property, or have not, only shift the count.
        let certain = |p: &Rational| p.is_zero() || *p == one;
        let shifting: u64 = groups.iter().filter(|(_, p)| certain(p)).map(|(size, _)| size).sum();
        let irrelevant = irrelevant.saturating_add(shifting);
        let groups: Vec<_> = groups.iter().filter(|(_, p)| !certain(p)).cloned().collect();
        let all = groups.iter().fold(irrelevant, |sum, (size, _)| sum.saturating_add(*size));
        if draws > all {
            return Err(Error::argument(format!(
                "{draws} draws from {all} other entries; at most all are drawn"
            )));
        }
        let share = |size: u64| (u128::from(size) * u128::from(draws) / u128::from(all.max(1))) as u64;
        let centre =
            GroupedCount::new(groups.iter().map(|(size, p)| (share(*size), p.clone())).collect::<Vec<_>>())?;
        let mut pools = Vec::new();
        for (size, p) in groups.iter().filter(|(size, _)| *size > 0) {
            let q = one.sub(p);
            pools.push(Group { size: *size, p: nearest(p), q: nearest(&q) });
        }
        pools.sort_by_key(|group| group.size);
        let mut sample = Drawn { groups: pools, irrelevant, draws, given: groups, centre, ways: 0.0 };
        let free = sample.sizes().len().saturating_sub(1);
        let ranges: f64 =
            sample.sizes()[..free].iter().map(|&size| 1.0 + 12.0 * sample.deviation(size)).product();
        if ranges > 100.0 * MAX_WAYS_OF_DRAWN_GROUPS {
            return Err(too_many(ranges));
        }
        sample.ways = Plan::new(&sample, 1e-6)?.ways;
        if sample.ways > MAX_WAYS_OF_DRAWN_GROUPS || sample.work(sample.ways) > MAX_WORK_OF_DRAWN_GROUPS {
            return Err(too_many(sample.ways));
        }
        Ok(Self { drawn: Arc::new(sample), direction })
    }

    fn directions(&self) -> Vec<Direction> {
        self.direction.map_or_else(|| Direction::BOTH.to_vec(), |only| vec![only])
    }

    /// δ for an ε from 0 to [`LARGEST`].
    fn mean(&self, epsilon: &Epsilon, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let drawn = &*self.drawn;
        let (ratio, above) = (epsilon.ratio().to_enclosure(), epsilon.ratio_minus_one().to_enclosure());
        let mut scale = LEAST;
        for direction in self.directions() {
            scale = scale.max(drawn.centre.delta(direction, epsilon, interrupt)?.to_enclosure().upper());
        }
        for part in LEFT_OUT {
            let plan = Plan::new(drawn, part * scale)?;
            if drawn.work(plan.ways) > MAX_WORK_OF_DRAWN_GROUPS && part > 1e-6 {
                continue;
            }
            let ends = LOST * part * scale / (ratio.upper() * (4 * drawn.draws + 4) as f64);
            let rare = 0.5 * part * scale / plan.ways;
            let mut run = Run::new(drawn, &plan, [ends, rare], [ratio.upper(), above.upper()], interrupt);
            for direction in self.directions() {
                run.wanted[usize::from(direction == Direction::ZeroAgainstOne)] = true;
            }
            let found = run.descend(0, drawn.draws, &Law::nobody(), 1.0)?;
            return Ok(enclosed(found, plan.relative_error(), plan.outside + run.skipped.get()));
        }
        Err(too_many(drawn.ways))
    }

    /// Every composition with its exact weight and its pairs of laws.
    fn compositions(&self) -> Result<Vec<(Rational, Vec<Answers>)>, Error> {
        let drawn = &*self.drawn;
        let mut found = Vec::new();
        for numbers in drawn.compositions()? {
            let mut ways = UBig::ONE;
            for (&number, size) in numbers.iter().zip(drawn.room()) {
                ways *= choose(size, number, &Uninterrupted)?;
            }
            let all = choose(drawn.room().sum(), drawn.draws, &Uninterrupted)?;
            let others = drawn.given.iter().zip(&numbers).map(|((_, p), &number)| (number, p.clone()));
            let count = GroupedCount::new(others.collect())?;
            let pairs = self
                .directions()
                .into_iter()
                .map(|direction| count.written_out(direction))
                .collect::<Result<_, _>>()?;
            found.push((Rational::new(IBig::from(ways), all)?, pairs));
        }
        Ok(found)
    }

    /// `E_M[ max(Π p_i^{m_i}, Π q_i^{m_i}) ]`, or the mean of one of them.
    fn limit(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let drawn = &*self.drawn;
        let plan = Plan::new(drawn, 1e-30)?;
        let powers = |base: fn(&Group) -> f64| -> Vec<Vec<f64>> {
            drawn.groups.iter().map(|group| powers(base(group), group.size.min(drawn.draws))).collect()
        };
        let of_values = [powers(|group| group.p), powers(|group| group.q)];
        let wanted: Vec<usize> =
            self.directions().iter().map(|&each| usize::from(each == Direction::ZeroAgainstOne)).collect();
        let limits = Limits { drawn, plan: &plan, of_values: &of_values, wanted: &wanted, interrupt };
        let sum = limits.descend(0, drawn.draws, [1.0, 1.0])?;
        let relative = (3 * drawn.draws + 16) as f64 * UNIT;
        Ok(enclosed(
            Sum { value: sum, error: sum * relative + UNDERFLOW },
            plan.relative_error(),
            plan.outside,
        ))
    }
}

/// The nearest double, by less than `2u` of itself.
fn nearest(x: &Rational) -> f64 {
    Ball::from_rational(x).to_enclosure().upper()
}

/// `1, base, base², …`
fn powers(base: f64, most: u64) -> Vec<f64> {
    let mut power = 1.0;
    let mut found = vec![1.0];
    for _ in 0..most {
        power *= base;
        found.push(power);
    }
    found
}

fn too_many(ways: f64) -> Error {
    Error::precision(format!(
        "a sample can be drawn from these groups in about {ways:.0e} ways that matter, which take too long"
    ))
}

/// A number and a bound of its error.
#[derive(Clone, Copy)]
struct Sum {
    value: f64,
    error: f64,
}

/// What the truth is between, if the weights of the sum have this relative error and a summand of at most 1 of so much weight is left out.
fn enclosed(sum: Sum, relative: f64, outside: f64) -> Ball {
    let error = 1.001 * (sum.error + sum.value * relative) + UNDERFLOW;
    let end = |x: f64| Ball::from_f64(x).unwrap_or(Ball::WHOLE);
    let (lower, upper) = ((sum.value - error).max(0.0), (sum.value + error + outside).min(1.0));
    end(lower).hull(end(upper.max(lower)))
}

impl Drawn {
    /// The sizes of all pools in the order in which they are gone through; the last is what is left.
    fn sizes(&self) -> Vec<u64> {
        let mut sizes: Vec<u64> = self.groups.iter().map(|group| group.size).collect();
        if self.irrelevant > 0 {
            sizes.push(self.irrelevant);
        }
        sizes
    }

    /// The sizes of the groups as they were given, and of the irrelevant entries.
    fn room(&self) -> impl Iterator<Item = u64> {
        self.given.iter().map(|(size, _)| *size).chain([self.irrelevant])
    }

    /// All numbers of entries of each pool that may be drawn.
    fn compositions(&self) -> Result<Vec<Vec<u64>>, Error> {
        let mut left = self.room().sum::<u64>();
        let mut found = vec![(self.draws, Vec::new())];
        for size in self.room() {
            left -= size;
            let mut longer = Vec::new();
            for (draws, numbers) in found {
                for number in draws.saturating_sub(left)..=size.min(draws) {
                    longer.push((draws - number, [numbers.as_slice(), &[number]].concat()));
                }
                if longer.len() > MAX_WAYS_WRITTEN_OUT {
                    return Err(Error::precision(format!(
                        "digits and exact values of a sample that can be drawn from these groups in more than \
                         {MAX_WAYS_WRITTEN_OUT} ways take too long; delta() without digits= encloses it"
                    )));
                }
            }
            found = longer;
        }
        Ok(found.into_iter().map(|(_, numbers)| numbers).collect())
    }

    fn deviation(&self, size: u64) -> f64 {
        let all: u64 = self.sizes().iter().sum();
        Hypergeometric::new(all, size, self.draws).map_or(0.0, |law| law.standard_deviation())
    }

    /// Products of numbers, for so many ways to draw.
    fn work(&self, ways: f64) -> f64 {
        let draws = self.draws as f64;
        8.0 * ways * draws.min(20.0 + 10.0 * draws.sqrt())
    }
}

/// The limit, over all compositions.
struct Limits<'a> {
    drawn: &'a Drawn,
    plan: &'a Plan,
    /// Powers of `p` and of `q` of each group.
    of_values: &'a [Vec<Vec<f64>>; 2],
    wanted: &'a [usize],
    interrupt: &'a dyn Interrupt,
}

impl Limits<'_> {
    fn descend(&self, level: usize, left: u64, before: [f64; 2]) -> Result<f64, Error> {
        let Some(row) = self.plan.rows.get(level).and_then(|rows| rows.get(&left)) else {
            let alike = if self.drawn.irrelevant > 0 { before } else { self.alike(level, left, before) };
            return Ok(self.wanted.iter().map(|&value| alike[value]).fold(0.0, f64::max));
        };
        self.interrupt.check()?;
        let mut sum = 0.0;
        for (number, weight) in (row.least..).zip(&row.values) {
            sum += weight * self.descend(level + 1, left - number, self.alike(level, number, before))?;
        }
        Ok(sum)
    }

    fn alike(&self, level: usize, number: u64, before: [f64; 2]) -> [f64; 2] {
        let power = |value: usize| {
            self.of_values[value]
                .get(level)
                .and_then(|powers| powers.get(number as usize))
                .copied()
                .unwrap_or(1.0)
        };
        [before[0] * power(0), before[1] * power(1)]
    }
}

impl HockeyStick for DrawnGroups {
    fn delta(&self, epsilon: &Epsilon, _: Ball, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        let largest = Ball::from_f64(LARGEST).unwrap_or(Ball::WHOLE);
        if largest.certainly_less(epsilon.value) {
            let Some(end) = Epsilon::from_f64(LARGEST) else { return self.limit(interrupt) };
            return Ok(self.limit(interrupt)?.hull(self.mean(&end, interrupt)?));
        }
        self.mean(epsilon, interrupt)
    }

    fn infinity_mass(&self, interrupt: &dyn Interrupt) -> Result<Ball, Error> {
        self.limit(interrupt)
    }

    fn reversed(&self) -> Form {
        Arc::new(Self { drawn: self.drawn.clone(), direction: self.direction.map(Direction::reversed) })
    }

    fn written_out(&self) -> Result<Option<WrittenOut>, Error> {
        self.compositions().map(|parts| Some(WrittenOut::Mean(parts)))
    }

    /// Digits of laws that are written out cost some hundred times as much as their products in doubles.
    fn terms(&self) -> f64 {
        100.0 * self.drawn.work(self.drawn.ways)
    }
}

#[cfg(test)]
mod tests {
    use super::plan::row;
    use super::*;
    use proptest::prelude::*;

    fn over(a: u64, b: u64) -> Rational {
        Rational::from(a).div(&Rational::from(b)).unwrap()
    }

    fn ends(ball: Ball) -> (f64, f64) {
        (ball.to_enclosure().lower(), ball.to_enclosure().upper())
    }

    /// The mean over all compositions, one by one.
    fn by_definition(mean: &DrawnGroups, value: impl Fn(&GroupedCount, Direction) -> Ball) -> Ball {
        let drawn = &mean.drawn;
        let all = choose(drawn.room().sum(), drawn.draws, &Uninterrupted).unwrap();
        drawn.compositions().unwrap().iter().fold(Ball::ZERO, |sum, numbers| {
            let ways = numbers.iter().zip(drawn.room()).fold(UBig::ONE, |ways, (&number, size)| {
                ways * choose(size, number, &Uninterrupted).unwrap()
            });
            let weight = Ball::from_rational(&Rational::new(IBig::from(ways), all.clone()).unwrap());
            let others =
                drawn.given.iter().zip(numbers).map(|((_, p), &number)| (number, p.clone())).collect();
            let count = GroupedCount::new(others).unwrap();
            let largest =
                mean.directions().into_iter().map(|direction| value(&count, direction)).reduce(Ball::max);
            sum + weight * largest.unwrap()
        })
    }

    fn one_by_one(mean: &DrawnGroups, epsilon: &Epsilon) -> Ball {
        by_definition(mean, |count, direction| count.delta(direction, epsilon, &Uninterrupted).unwrap())
    }

    fn directions() -> impl Strategy<Value = Option<Direction>> {
        prop_oneof![Just(None), Just(Some(Direction::OneAgainstZero)), Just(Some(Direction::ZeroAgainstOne))]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(60, 400)))]

        #[test]
        fn it_is_the_mean_over_all_compositions(
            groups in prop::collection::vec((1u64..9, prop_oneof![8 => 1u64..100, 1 => Just(0), 1 => Just(100)]), 1..4),
            irrelevant in prop_oneof![2 => Just(0u64), 1 => 1u64..6], share in 0.0..1.0f64, direction in directions(),
            epsilon in prop_oneof![Just(0.0), 0.0..0.5f64, 0.0..5.0f64, 0.0..40.0f64],
        ) {
            let groups: Vec<_> = groups.into_iter().map(|(size, p)| (size, over(p, 100))).collect();
            let all: u64 = irrelevant + groups.iter().map(|(size, _)| size).sum::<u64>();
            let mean = DrawnGroups::new(&groups, irrelevant, (share * all as f64).round() as u64, direction).unwrap();
            let epsilon = Epsilon::from_f64(epsilon).unwrap();
            let (truth, found) = (ends(one_by_one(&mean, &epsilon)), ends(mean.delta(&epsilon, Ball::ZERO, &Uninterrupted).unwrap()));
            prop_assert!(found.0 <= truth.1 && truth.0 <= found.1, "{found:?} {truth:?}");
            prop_assert!(found.1 - found.0 <= 1e-10 * truth.1 + 1e-250, "{found:?} {truth:?}");
            let limit = by_definition(&mean, GroupedCount::infinity_mass);
            let (truth, found) = (ends(limit), ends(mean.infinity_mass(&Uninterrupted).unwrap()));
            prop_assert!(found.0 <= truth.1 && truth.0 <= found.1, "{found:?} {truth:?}");
            prop_assert!(found.1 - found.0 <= 1e-11 * truth.1 + 1e-29, "{found:?} {truth:?}");
        }
    }

    /// Down to values of 1e-60, where the best test lies far from the mean.
    #[test]
    fn small_values_keep_their_accuracy() {
        let groups = vec![(60, over(1, 5)), (90, over(3, 5))];
        for direction in [None, Some(Direction::OneAgainstZero), Some(Direction::ZeroAgainstOne)] {
            let mean = DrawnGroups::new(&groups, 0, 70, direction).unwrap();
            for epsilon in [0.01, 0.3, 1.0, 3.0, 20.0, 700.0] {
                let epsilon = Epsilon::from_f64(epsilon).unwrap();
                let (truth, found) = (
                    ends(one_by_one(&mean, &epsilon)),
                    ends(mean.delta(&epsilon, Ball::ZERO, &Uninterrupted).unwrap()),
                );
                assert!(found.0 <= truth.1 && truth.0 <= found.1, "{epsilon:?} {found:?} {truth:?}");
                assert!(found.1 - found.0 <= 1e-10 * truth.1 + 1e-29, "{epsilon:?} {found:?} {truth:?}");
            }
        }
    }

    /// Nothing is left out where the bound is zero; what is left out of a row is at most its bound.
    #[test]
    fn the_ranges_hold_what_is_not_left_out() {
        let groups = vec![(300, over(1, 5)), (200, over(1, 2)), (100, over(3, 5))];
        let mean = DrawnGroups::new(&groups, 0, 150, None).unwrap();
        let everything = Plan::new(&mean.drawn, 0.0).unwrap();
        // All (m_1, m_2, m_3) with m_3 ≤ 100: 151·152/2 less those of m_3 > 100, 50·51/2.
        assert!(
            (everything.ways - (151.0 * 152.0 - 50.0 * 51.0) / 2.0).abs() < 0.5 && everything.outside == 0.0
        );
        for outside in [1e-12, 1e-6, 1e-2] {
            let plan = Plan::new(&mean.drawn, outside).unwrap();
            assert!(plan.ways < everything.ways && plan.outside <= outside);
            let law = Hypergeometric::new(600, 100, 150).unwrap();
            let (row, beyond) = row(&law, outside / 4.0);
            let held =
                (row.least..).take(row.values.len()).fold(Ball::ZERO, |sum, k| sum + law.probability(k));
            let missing = ends(Ball::ONE - held);
            assert!(missing.1 <= beyond && beyond <= 40.0 * missing.1.max(1e-18), "{missing:?} {beyond}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let groups = vec![(3, over(1, 5)), (2, over(1, 2))];
        let refused = DrawnGroups::new(&groups, 1, 7, None).unwrap_err().to_string();
        assert_eq!(refused, "7 draws from 6 other entries; at most all are drawn");
        let many: Vec<_> = (1..=12).map(|k| (1000, over(k, 13))).collect();
        let refused = DrawnGroups::new(&many, 0, 6000, None).unwrap_err().to_string();
        assert!(refused.contains("ways that matter, which take too long"), "{refused}");
        let large = DrawnGroups::new(&[(5000, over(1, 5)), (5000, over(1, 2))], 0, 4000, None).unwrap();
        let refused = large.written_out().unwrap_err().to_string();
        assert!(refused.contains("in more than 3000 ways"), "{refused}");
    }

    #[test]
    fn an_interruption_ends_a_mean() {
        struct Never;
        impl Interrupt for Never {
            fn check(&self) -> Result<(), Error> {
                Err(Error::Interrupted)
            }
        }
        let mean = DrawnGroups::new(&[(30, over(1, 5)), (20, over(1, 2))], 0, 20, None).unwrap();
        assert_eq!(mean.infinity_mass(&Never).unwrap_err(), Error::Interrupted);
    }
}
