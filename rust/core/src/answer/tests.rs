//! Rows against rationals, which share the description of a law and no computation, on random laws.

use super::few_values::FewValues;
use super::pmf::{Pmf, has_gaps, row};
use super::rationals::{self, Masses};
use super::*;
use crate::fourier::{LatticeSum, Repeated};
use crate::interrupt::Uninterrupted;
use crate::numbers::ball::Ball;
use crate::numbers::ball::tests::members;
use proptest::prelude::*;
use proptest::strategy::Union;

/// Laws with more answers than this take rationals too long.
const MAX_ANSWERS: u64 = 40;
const LEVELS: [Option<u32>; 5] = [None, Some(3), Some(20), Some(60), Some(120)];

fn number(text: &str) -> Rational {
    Rational::parse(text).unwrap()
}

pub(crate) fn fraction(a: i64, b: u64) -> Rational {
    Rational::from(a).div(&Rational::from(b)).unwrap()
}

pub(crate) fn zero() -> Rational {
    Rational::from(0i64)
}

fn two_to_the_minus(bits: u32) -> Rational {
    (0..bits).fold(Rational::from(1i64), |power, _| power.mul(&fraction(1, 2)))
}

fn total<'a>(numbers: impl IntoIterator<Item = &'a Rational>) -> Rational {
    numbers.into_iter().fold(zero(), |sum, x| sum.add(x))
}

pub(crate) fn exact(law: &Law) -> Masses {
    let [masses, _] = rationals::masses(&[law.clone(), Law::point(0)], &Uninterrupted).unwrap();
    masses
}

/// `a/(a + b)`, every third time 0 or 1.
fn probability() -> impl Strategy<Value = Rational> {
    prop_oneof![
        1 => prop_oneof![Just(fraction(0, 1)), Just(fraction(1, 1))],
        4 => (1i64..8, 1u64..8).prop_map(|(a, b)| fraction(a, a as u64 + b)),
    ]
}

/// Numbers that sum to one, some of them zero.
fn shares(most: usize) -> impl Strategy<Value = Vec<Rational>> {
    (prop::collection::vec(0i64..5, 0..most), 1i64..5, prop::collection::vec(0i64..5, 0..most)).prop_map(
        |(before, some, after)| {
            let parts: Vec<i64> = before.into_iter().chain([some]).chain(after).collect();
            let all = parts.iter().sum::<i64>() as u64;
            parts.into_iter().map(|part| fraction(part, all)).collect()
        },
    )
}

/// How many of `entries` independent numbers and of `critical` are at most 0, 1, …; the same object where nothing changes.
fn counts(entries: u64, distribution: &[Rational], critical: usize) -> Vec<Law> {
    let mut laws: Vec<Law> = Vec::new();
    for (x, share) in distribution.iter().enumerate() {
        let same = x > 0 && x != critical && distribution[x - 1] == *share;
        let law = match laws.last() {
            Some(law) if same => law.clone(),
            _ => Law::binomial(entries, share).unwrap().shifted(i64::from(critical <= x)).unwrap(),
        };
        laws.push(law);
    }
    laws
}

fn order_statistic() -> impl Strategy<Value = Law> {
    (0u64..6, shares(3), any::<u64>(), any::<usize>()).prop_map(|(entries, steps, rank, critical)| {
        let distribution: Vec<Rational> = steps
            .iter()
            .scan(zero(), |reached, step| {
                *reached = reached.add(step);
                Some(reached.clone())
            })
            .collect();
        let critical = critical % distribution.len();
        Law::order_statistic(counts(entries, &distribution, critical), rank % (entries + 1) + 1).unwrap()
    })
}

fn leaf() -> Union<BoxedStrategy<Law>> {
    Union::new([
        (-3i64..4, shares(3)).prop_map(|(first, masses)| Law::table(first, masses).unwrap()).boxed(),
        (0u64..7, probability()).prop_map(|(trials, p)| Law::binomial(trials, &p).unwrap()).boxed(),
        (1i64..6, 1u64..6, -4i64..4, 0i64..6)
            .prop_map(|(a, b, least, width)| {
                let noise = Law::noise(Noise::Geometric { alpha: fraction(a, a as u64 + b) }).unwrap();
                noise.truncated(least, least + width).unwrap()
            })
            .boxed(),
        order_statistic().boxed(),
    ])
}

/// The law moved to start at `from`, and the least number of entries of which it may be the number of marked ones.
fn as_count(law: &Law, from: u64) -> (Law, u64) {
    let (Some(least), Some(most)) = law.support() else { panic!("a law without ends") };
    (law.shifted(from as i64 - least).unwrap(), most.abs_diff(least) + from)
}

fn sampled(law: &Law, kind: u8, [more, size, other]: [u64; 3], rate: Rational) -> Law {
    let (count, marked) = as_count(law, more / 3 % 2);
    let population = (marked + more).max(1);
    let size = size % (population + 1);
    let sampling = match kind {
        0 => Sampling::WithoutReplacement { population, size },
        1 => Sampling::WithReplacement { population, size: other },
        2 => Sampling::Poisson { rate },
        _ => Sampling::Overlapping { population, sizes: vec![size.min(4), other.min(population).min(3)] },
    };
    count.sampled(sampling).unwrap()
}

fn relabelling() -> impl Strategy<Value = Relabelling> {
    prop_oneof![
        (-3i64..6).prop_map(Relabelling::AtMost),
        (-3i64..4, -4i64..5, 1i64..4)
            .prop_map(|(factor, offset, divisor)| { Relabelling::Quotient { factor, offset, divisor } }),
        (-3i64..4, 0i64..5, any::<[bool; 2]>()).prop_map(|(least, width, [low, high])| {
            Relabelling::Clamped(low.then_some(least), high.then_some(least + width))
        }),
        prop::collection::btree_map(-3i64..6, -3i64..6, 0..4).prop_map(Relabelling::Table),
    ]
}

/// Everything that is made of laws.
fn made_of(inner: BoxedStrategy<Law>) -> Union<BoxedStrategy<Law>> {
    let several = prop::collection::vec(inner.clone(), 1..4);
    Union::new([
        (inner.clone(), 0u64..5).prop_map(|(law, count)| law.repeated(count).unwrap()).boxed(),
        several.clone().prop_map(|parts| Law::sum(parts).unwrap()).boxed(),
        (several, shares(2))
            .prop_map(|(laws, weights)| {
                let mut parts: Vec<_> = weights.into_iter().zip(laws.iter().cycle().cloned()).collect();
                parts.rotate_left(1);
                Law::mixture(parts).unwrap()
            })
            .boxed(),
        (inner.clone(), -5i64..6).prop_map(|(law, by)| law.shifted(by).unwrap()).boxed(),
        (inner.clone(), prop_oneof![-3i64..0, 1i64..4]).prop_map(|(law, by)| law.scaled(by).unwrap()).boxed(),
        (inner.clone(), 0u8..4, any::<[u8; 3]>(), probability())
            .prop_map(|(law, kind, [more, size, other], rate)| {
                sampled(&law, kind, [u64::from(more) % 8, u64::from(size), u64::from(other) % 7], rate)
            })
            .boxed(),
        (inner, relabelling()).prop_map(|(law, labels)| law.relabelled(labels).unwrap()).boxed(),
    ])
}

fn is_small(law: &Law) -> bool {
    matches!(law.support(), (Some(least), Some(most)) if most.abs_diff(least) < MAX_ANSWERS)
}

/// Laws of every kind, made of others up to three times.
pub(crate) fn law() -> impl Strategy<Value = Law> {
    let once = made_of(leaf().boxed()).prop_filter("small", is_small).boxed();
    let twice = made_of(once.clone()).prop_filter("small", is_small).boxed();
    let thrice = made_of(twice.clone()).prop_filter("small", is_small).boxed();
    prop_oneof![leaf(), once, twice, thrice]
}

/// What is published and what it takes: `x_k ≤ P[k]` for some `x_k` in the ball, and `Σ (P − x)` is at most what is missing.
fn check(row: &Pmf, masses: &Masses) -> Result<(), TestCaseError> {
    let window = row.first..=row.last();
    let possible = masses.iter().filter(|(_, mass)| !mass.is_zero());
    let mut left = total(possible.filter(|(answer, _)| !window.contains(answer)).map(|(_, mass)| mass));
    for (answer, &ball) in window.zip(&row.masses) {
        let mass = masses.get(&answer).cloned().unwrap_or_else(zero);
        let [least, _, most] = members(ball);
        prop_assert!(least <= mass, "P[{}] = {} lies below {:?}", answer, mass.shown(), ball);
        left = left.add(&mass.sub(&most).max(zero()));
    }
    let [_, _, most] = members(row.missing);
    prop_assert!(left <= most, "{} is left out, {:?} said to be", left.shown(), row.missing);
    Ok(())
}

/// Whether the ends of the support are said to be exact.
fn has_exact_ends(law: &Law) -> bool {
    match law.recipe() {
        Recipe::OrderStatistic { .. }
        | Recipe::Sampled(_, Sampling::Overlapping { .. })
        | Recipe::Relabelled(_, Relabelling::Table(_)) => false,
        Recipe::Sampled(law, _)
        | Recipe::Repeated { law, .. }
        | Recipe::Shifted(law, _)
        | Recipe::Scaled(law, _)
        | Recipe::Relabelled(law, _) => has_exact_ends(law),
        Recipe::Sum(laws) => laws.iter().all(has_exact_ends),
        Recipe::Mixture(parts) => parts.iter().all(|(_, law)| has_exact_ends(law)),
        Recipe::Table { .. } | Recipe::Binomial { .. } | Recipe::Noise(_) => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(150, 600)))]

    #[test]
    fn rows_hold_the_law_and_say_how_much_is_missing(law in law()) {
        let masses = exact(&law);
        prop_assert_eq!(total(masses.values()), Rational::from(1i64));
        for level in LEVELS {
            let row = row(&law, level, &Uninterrupted).unwrap();
            check(&row, &masses)?;
            let missing = members(row.missing)[2].clone();
            match level {
                None => prop_assert!(row.missing.is_exact_zero(), "{:?}", row.missing),
                // Every part may leave out this much, and there are fewer than 2^10 parts.
                Some(bits) => prop_assert!(missing <= two_to_the_minus(bits).mul(&number("1024")), "{:?}", row.missing),
            }
            // A sum or a product of balls of at most 1 adds at most 2^-103, and laws of so few answers, nested or not, take
            // fewer than 2^23 of them for a probability.
            for &ball in &row.masses {
                let [least, _, most] = members(ball);
                prop_assert!(most.sub(&least) <= two_to_the_minus(80), "{:?}", ball);
            }
        }
    }

    #[test]
    fn complete_rows_are_relatively_narrow_and_zero_only_where_the_law_is(law in law()) {
        let masses = exact(&law);
        let row = row(&law, None, &Uninterrupted).unwrap();
        for (answer, mass) in &masses {
            let ball = row.at(*answer);
            prop_assert_eq!(ball.is_exact_zero(), mass.is_zero(), "P[{}] = {}", answer, mass.shown());
            prop_assert!(mass.is_zero() || ball.relative_error() < 1e-20, "{:?}", ball);
        }
        let outside = (row.first..).zip(&row.masses).filter(|(answer, _)| !masses.contains_key(answer));
        for (answer, ball) in outside {
            prop_assert!(ball.is_exact_zero(), "P[{}] = 0 is {:?}", answer, ball);
        }
    }

    #[test]
    fn supports_are_the_hulls_of_what_is_possible(law in law()) {
        let masses = exact(&law);
        let possible: Vec<i64> = masses.iter().filter(|(_, mass)| !mass.is_zero()).map(|(&answer, _)| answer).collect();
        let (first, last) = (*possible.first().unwrap(), *possible.last().unwrap());
        let (least, most) = law.support();
        prop_assert!(least.is_some_and(|least| least <= first) && most.is_some_and(|most| last <= most));
        if has_exact_ends(&law) {
            prop_assert_eq!((least, most), (Some(first), Some(last)));
        }
        if law.is_contiguous() {
            prop_assert_eq!(Some(possible), least.zip(most).map(|(least, most)| (least..=most).collect()));
        }
    }
}

/// `P[X = k]` for `X` the `rank`-th smallest of `entries` independent numbers and `critical`, one outcome after the other.
fn enumerated_order_statistic(
    entries: u32,
    rank: usize,
    masses: &[Rational],
    critical: usize,
) -> Vec<Rational> {
    let values = masses.len();
    let mut law = vec![zero(); values];
    for outcome in 0..values.pow(entries) {
        let drawn: Vec<usize> = (0..entries).map(|entry| outcome / values.pow(entry) % values).collect();
        let weight = drawn.iter().fold(Rational::from(1i64), |product, &value| product.mul(&masses[value]));
        let mut all: Vec<usize> = drawn.into_iter().chain([critical]).collect();
        all.sort_unstable();
        law[all[rank - 1]] = law[all[rank - 1]].add(&weight);
    }
    law
}

#[test]
fn an_order_statistic_is_that_of_all_outcomes() {
    let masses = [fraction(1, 6), zero(), fraction(1, 2), fraction(1, 3)];
    let distribution = [fraction(1, 6), fraction(1, 6), fraction(2, 3), fraction(1, 1)];
    for (entries, critical) in (0..5).flat_map(|entries| (0..4).map(move |critical| (entries, critical))) {
        for rank in 1..=entries as usize + 1 {
            let counts = counts(u64::from(entries), &distribution, critical);
            let law = Law::order_statistic(counts, rank as u64).unwrap();
            let outcomes = enumerated_order_statistic(entries, rank, &masses, critical);
            let expected: Masses = (0..).zip(outcomes).filter(|(_, mass)| !mass.is_zero()).collect();
            assert_eq!(exact(&law), expected, "{entries} {rank} {critical}");
            check(&row(&law, Some(60), &Uninterrupted).unwrap(), &expected).unwrap();
        }
    }
}

proptest! {
    /// Values with gaps, of both signs; zeros among the probabilities are no values.
    #[test]
    fn few_values_are_counted_out(first in -9i64..9, gaps in prop::collection::vec(1usize..9, 2..4), weights in prop::collection::vec(0i64..4, 3..5), count in 0u64..6) {
        let mut masses = vec![zero(); 1 + gaps.iter().sum::<usize>()];
        let places = std::iter::once(0).chain(gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) }));
        let total = weights.iter().sum::<i64>().max(1) as u64;
        for (place, weight) in places.zip(&weights) {
            masses[place] = fraction(*weight, total);
        }
        let Ok(law) = Law::table(first, masses) else { return Ok(()) };
        let Some(values) = FewValues::read(&law, count) else { return Ok(()) };
        let expected = exact(&law.repeated(count).unwrap());
        for left_out in [None, Some(3), Some(60)] {
            check(&values.sum(left_out, &Uninterrupted).unwrap(), &expected)?;
        }
    }
}

/// Kinds of numbers with the same few values, others with two or one: every combination is added up.
#[test]
fn several_kinds_of_few_values_are_counted_out() {
    let far = |weights: [i64; 3]| {
        let mut masses = vec![zero(); 1000];
        for (place, weight) in [0, 1, 999].into_iter().zip(weights) {
            masses[place] = fraction(weight, weights.iter().sum::<i64>() as u64);
        }
        Law::table(-1, masses).unwrap()
    };
    let (one, other, certain) =
        (far([1, 2, 3]), far([5, 1, 1]), Law::table(7, vec![fraction(1, 1)]).unwrap());
    let hits = Law::binomial(3, &fraction(1, 3)).unwrap().scaled(-40).unwrap();
    let parts = [(&one, 3), (&other, 2), (&hits, 2), (&certain, 2)];
    let sum = Law::sum(parts.iter().map(|(law, count)| law.repeated(*count).unwrap()).collect()).unwrap();
    let expected = exact(&sum);
    for left_out in [None, Some(3), Some(60)] {
        assert!(FewValues::of(&parts, left_out).is_some());
        check(&row(&sum, left_out, &Uninterrupted).unwrap(), &expected).unwrap();
    }
    assert!(FewValues::of(&parts[2..], None).is_none());
}

/// Values far apart are counted out, values side by side are not; both ways give one law.
#[test]
fn counting_out_and_inversion_give_one_law() {
    let [p, q, r] = [fraction(1, 2), fraction(1, 3), fraction(1, 6)];
    let far = |gap: usize| {
        let mut masses = vec![p.clone(), q.clone()];
        masses.resize(gap, zero());
        masses.push(r.clone());
        Law::table(0, masses).unwrap()
    };
    assert!(FewValues::of(&[(&far(1000), 1000)], Some(60)).is_some());
    assert!(FewValues::of(&[(&far(2), 1000)], Some(60)).is_none());
    let law = far(50);
    let counted = FewValues::read(&law, 300).unwrap().sum(None, &Uninterrupted).unwrap();
    let Recipe::Table { first, masses } = law.recipe() else { panic!("a table") };
    let one =
        Repeated { first: *first, masses: masses.iter().map(Ball::from_rational).collect(), count: 300 };
    let inverted = LatticeSum::new(vec![&one]).probabilities(0, 15_000, &Uninterrupted).unwrap();
    for answer in (0..15_000).step_by(7) {
        let (one, other) = (counted.at(answer), inverted[answer as usize]);
        assert!(!one.certainly_less(other) && !other.certainly_less(one), "{answer}: {one:?} {other:?}");
        assert!(one.is_exact_zero() || one.relative_error() < 1e-20, "{answer}: {one:?}");
    }
}

/// `(v − 1) 2^-each ≤ 2^-30` for `v` values, and four times as much is more.
#[test]
fn of_all_numbers_together_no_more_is_left_out_than_may_be() {
    for values in 3u64..40 {
        let law = Law::table(0, vec![fraction(1, values); values as usize]).unwrap();
        let each = FewValues::read(&law, 300).unwrap().bits_of_each(30);
        let all = two_to_the_minus(each).mul(&Rational::from(values - 1));
        assert!(
            all <= two_to_the_minus(30) && all.mul(&Rational::from(4i64)) > two_to_the_minus(30),
            "{values}"
        );
    }
}

/// Cut binomial tails are paid for in each mass: none of them is missing.
#[test]
fn order_statistics_of_many_entries_hold_those_that_are_complete() {
    let distribution: Vec<Rational> = (1..=20).map(|x| fraction(x, 20)).collect();
    let law = Law::order_statistic(counts(2000, &distribution, 3), 800).unwrap();
    let complete = row(&law, None, &Uninterrupted).unwrap();
    let cut = row(&law, Some(2), &Uninterrupted).unwrap();
    assert!(cut.missing.is_exact_zero() && complete.masses.len() == 20 && cut.masses.len() == 20);
    for (&one, &other) in cut.masses.iter().zip(&complete.masses) {
        assert!(!one.certainly_less(other) && !other.certainly_less(one), "{one:?} {other:?}");
    }
    assert!(complete.at(7).relative_error() < 1e-20 && cut.at(7).relative_error() < 1e-15);
}

/// Binomial numbers of marked ones, sampled without replacement or by a rate, are binomial again: `Bin(s, p)`, `Bin(n, pr)`.
#[test]
fn samples_of_binomial_populations_are_binomial() {
    let (n, s, p, rate) = (3000, 1100, fraction(2, 7), fraction(3, 11));
    let population = Law::binomial(n, &p).unwrap();
    let samplings = [
        (Sampling::WithoutReplacement { population: n, size: s }, Law::binomial(s, &p).unwrap()),
        (Sampling::Poisson { rate: rate.clone() }, Law::binomial(n, &p.mul(&rate)).unwrap()),
    ];
    for (sampling, expected) in samplings {
        let sample = population.sampled(sampling).unwrap();
        let expected = row(&expected, Some(700), &Uninterrupted).unwrap();
        for bits in [20, 80, 120, 480, 600] {
            let found = row(&sample, Some(bits), &Uninterrupted).unwrap();
            let mut left = Ball::ZERO;
            for (answer, &ball) in (found.first..).zip(&found.masses) {
                let truth = expected.at(answer);
                assert!(!truth.certainly_less(ball), "{bits} {answer}: {ball:?} is above {truth:?}");
                assert!(ball.relative_error() < 1e-20, "{bits} {answer}: {ball:?}");
                left = left + (truth - ball);
            }
            let outside = (expected.first..).zip(&expected.masses);
            let outside = outside.filter(|(answer, _)| !(found.first..=found.last()).contains(answer));
            left = outside.fold(left, |sum, (_, &mass)| sum + mass);
            assert!(
                !found.missing.certainly_less(left),
                "{bits}: {left:?} is left out, not {:?}",
                found.missing
            );
            assert!(members(found.missing)[2] <= two_to_the_minus(bits - 1), "{bits}: {:?}", found.missing);
            if bits <= 120 {
                let tight = Ball::from_u64(12) * left;
                assert!(!tight.certainly_less(found.missing), "{bits}: {left:?}, not {:?}", found.missing);
            }
            // The variances are below 225: e^(−x²/2v) = 2^-bits at x = √(2 ln 2 · bits · v).
            let width = 2.0 * (1.39 * 225.0 * f64::from(bits + 16)).sqrt();
            assert!((found.masses.len() as f64) < 1.5 * width, "{bits}: {}", found.masses.len());
        }
    }
}

/// Of a single conditional law a quarter of that on either side at most, and, in double-doubles, not much less.
#[test]
fn what_may_be_left_out_is_made_use_of() {
    let population = Law::point(1000);
    for sampling in [
        Sampling::WithoutReplacement { population: 2600, size: 900 },
        Sampling::WithReplacement { population: 2600, size: 900 },
        Sampling::Poisson { rate: fraction(3, 7) },
    ] {
        for bits in [20, 61, 120, 400, 600] {
            let sample = population.sampled(sampling.clone()).unwrap();
            let [_, missing, _] = members(row(&sample, Some(bits), &Uninterrupted).unwrap().missing);
            assert!(missing <= two_to_the_minus(bits + 1), "{sampling:?} {bits}: {}", missing.shown());
            let least = if bits > 500 { zero() } else { two_to_the_minus(bits + 12) };
            assert!(missing >= least, "{sampling:?} {bits}: {}", missing.shown());
        }
    }
}

/// `Σ_A w(A) Bin(s, A/n)` in a population large enough for its tails to be cut.
#[test]
fn samples_with_replacement_are_mixtures_of_binomial_laws() {
    let (n, s) = (24, 90);
    let sampling = Sampling::WithReplacement { population: n, size: s };
    let laws = [(3, fraction(1, 3)), (24, fraction(1, 5)), (17, fraction(9, 10))];
    for (marked, p) in laws {
        let sample = Law::binomial(marked, &p).unwrap().sampled(sampling.clone()).unwrap();
        let masses = exact(&sample);
        for bits in [5, 20, 60, 120, 300] {
            let row = row(&sample, Some(bits), &Uninterrupted).unwrap();
            check(&row, &masses).unwrap();
            assert!(members(row.missing)[2] <= two_to_the_minus(bits - 1), "{bits}: {:?}", row.missing);
            assert!(row.masses.iter().all(|mass| mass.is_exact_zero() || mass.relative_error() < 1e-24));
        }
    }
}

/// Tables with some masses far below what may be left out, or with all masses of one of two laws below it.
#[test]
fn what_weighs_next_to_nothing_is_left_out_and_counted() {
    let tiny = two_to_the_minus(4000);
    let most = Rational::from(1i64).sub(&tiny).sub(&fraction(1, 3));
    let law = Law::table(0, vec![fraction(1, 3), tiny.clone(), zero(), most]).unwrap();
    for sampling in [
        Sampling::WithReplacement { population: 5, size: 7 },
        Sampling::WithoutReplacement { population: 5, size: 3 },
        Sampling::Poisson { rate: fraction(1, 4) },
        Sampling::Poisson { rate: tiny.clone() },
        Sampling::Overlapping { population: 5, sizes: vec![2, 3] },
    ] {
        let sample = law.sampled(sampling).unwrap();
        for bits in [20, 120, 480, 2100] {
            check(&row(&sample, Some(bits), &Uninterrupted).unwrap(), &exact(&sample)).unwrap();
        }
    }
}

/// `P[a] = (1−α)/(1+α) Σ_j d_j α^{|a−j|}`.
#[test]
fn geometric_noise_spreads_every_mass_to_both_sides() {
    let one = Rational::from(1i64);
    let gaps = Law::table(-2, vec![fraction(1, 5), zero(), fraction(3, 5), fraction(1, 5)]).unwrap();
    // Its tails are cut before noise is added.
    let count = Law::binomial(24, &fraction(1, 2)).unwrap();
    let datas = [Law::point(0), gaps, count];
    for (alpha, data) in
        [fraction(1, 10), fraction(3, 4)].iter().flat_map(|alpha| datas.iter().map(move |data| (alpha, data)))
    {
        let noise = Law::noise(Noise::Geometric { alpha: alpha.clone() }).unwrap();
        let law = Law::sum(vec![data.clone(), noise]).unwrap();
        let centre = one.sub(alpha).div(&one.add(alpha)).unwrap();
        let powers: Vec<Rational> =
            std::iter::successors(Some(centre), |power| Some(power.mul(alpha))).take(400).collect();
        let spread = exact(data);
        let mass = |answer: i64| {
            let parts = spread.iter().map(|(&at, mass)| mass.mul(&powers[at.abs_diff(answer) as usize]));
            total(&parts.collect::<Vec<_>>())
        };
        for bits in [10, 60] {
            let row = row(&law, Some(bits), &Uninterrupted).unwrap();
            let published: Masses = (row.first..=row.last()).map(|answer| (answer, mass(answer))).collect();
            check(&row, &published).unwrap();
            let (outside, [_, _, missing]) = (one.sub(&total(published.values())), members(row.missing));
            assert!(outside <= missing && missing <= two_to_the_minus(bits - 1), "{bits}: {:?}", row.missing);
        }
    }
}

/// Shares of `w(k)`. Their tails beyond `±40` are below `2^-60`.
fn shares_of(weight: impl Fn(i64) -> f64) -> Vec<(i64, f64)> {
    let all: f64 = (-40..=40).map(&weight).sum();
    (-40..=40).map(|k| (k, weight(k) / all)).collect()
}

#[test]
fn noises_are_proportional_to_their_weights() {
    let scale = fraction(3, 4);
    let noises = [
        (Noise::Laplace { scale: scale.clone() }, shares_of(|k| (-(k.abs() as f64) / 0.75).exp())),
        (Noise::Gaussian { variance: fraction(5, 2) }, shares_of(|k| (-((k * k) as f64) / 5.0).exp())),
    ];
    for (noise, expected) in noises {
        let whole = row(&Law::noise(noise.clone()).unwrap(), Some(80), &Uninterrupted).unwrap();
        let part = Law::noise(noise).unwrap().truncated(-1, 3).unwrap();
        let part = row(&part, Some(80), &Uninterrupted).unwrap();
        let inside: f64 = expected.iter().filter(|(k, _)| (-1..=3).contains(k)).map(|(_, share)| share).sum();
        for (k, share) in expected {
            assert!((whole.at(k).to_enclosure().upper() - share).abs() < 1e-14, "{k}");
            let share = if (-1..=3).contains(&k) { share / inside } else { 0.0 };
            assert!((part.at(k).to_enclosure().upper() - share).abs() < 1e-14, "{k}");
        }
        let sum = whole.masses.iter().fold(Ball::ZERO, |sum, &mass| sum + mass);
        assert!(!sum.plus_at_most(whole.missing).certainly_less(Ball::ONE) && !Ball::ONE.certainly_less(sum));
        assert!(part.missing.is_exact_zero() && (part.first, part.last()) == (-1, 3));
    }
}

#[test]
fn noise_without_bounds_makes_every_answer_possible() {
    let noise = Law::noise(Noise::Laplace { scale: fraction(1, 1) }).unwrap();
    let gaps = Law::table(0, vec![fraction(1, 2), zero(), fraction(1, 2)]).unwrap();
    let released = Law::sum(vec![gaps.clone(), noise.clone()]).unwrap();
    assert!(noise.is_contiguous() && released.is_contiguous() && !gaps.is_contiguous());
    assert!(
        Law::mixture(vec![(fraction(1, 2), gaps.clone()), (fraction(1, 2), released.clone())])
            .unwrap()
            .is_contiguous()
    );
    assert!(released.relabelled(Relabelling::AtMost(3)).unwrap().is_contiguous());
    assert_eq!(released.relabelled(Relabelling::AtMost(3)).unwrap().support(), (Some(3), None));
    assert_eq!(released.relabelled(Relabelling::Clamped(None, Some(3))).unwrap().support(), (None, Some(3)));
    assert_eq!(
        released.relabelled(Relabelling::Clamped(Some(-1), Some(3))).unwrap().support(),
        (Some(-1), Some(3))
    );
    let doubled = noise.scaled(2).unwrap();
    assert!(!doubled.is_contiguous() && doubled.support() == (None, None));
    assert!(!released.relabelled(Relabelling::Table(BTreeMap::from([(0, 1)]))).unwrap().is_contiguous());
}

#[test]
fn samples_of_many_marked_entries_hold_some_for_certain() {
    let population = Law::table(3, vec![fraction(1, 2), fraction(1, 2)]).unwrap();
    let ends = |law: &Law, sampling| law.sampled(sampling).unwrap().support();
    let replaced = |population| Sampling::WithReplacement { population, size: 7 };
    let poisson = |rate| Sampling::Poisson { rate };
    let drawn = |population, size| Sampling::WithoutReplacement { population, size };
    assert_eq!(ends(&population, drawn(5, 4)), (Some(2), Some(4)));
    assert_eq!(ends(&population, drawn(9, 4)), (Some(0), Some(4)));
    assert_eq!(ends(&population, replaced(4)), (Some(0), Some(7)));
    assert_eq!(ends(&Law::point(4), replaced(4)), (Some(7), Some(7)));
    assert_eq!(ends(&Law::point(0), replaced(4)), (Some(0), Some(0)));
    assert_eq!(ends(&population, poisson(fraction(1, 1))), (Some(3), Some(4)));
    assert_eq!(ends(&population, poisson(fraction(1, 2))), (Some(0), Some(4)));
    assert_eq!(ends(&population, poisson(zero())), (Some(0), Some(0)));
}

#[test]
fn of_a_single_entry_either_all_draws_are_marked_or_none() {
    let entry = Law::binomial(1, &fraction(1, 2)).unwrap();
    let drawn = |population, size| entry.sampled(Sampling::WithReplacement { population, size }).unwrap();
    assert!(!drawn(1, 2).is_contiguous() && drawn(1, 1).is_contiguous() && drawn(2, 2).is_contiguous());
    assert_eq!(exact(&drawn(1, 3)).values().filter(|mass| !mass.is_zero()).count(), 2);
}

/// Two counts of eighty entries each, with forty entries in both, as one number: the first count, 81 times the second.
#[test]
fn a_sum_with_gaps_is_added_up_answer_by_answer() {
    let third = fraction(1, 3);
    let forty = Law::binomial(40, &third).unwrap();
    let parts = [1, 81, 82].map(|label| forty.scaled(label).unwrap());
    let found = row(&Law::sum(parts.to_vec()).unwrap(), None, &Uninterrupted).unwrap();
    let hits = exact(&forty);
    for (first, second) in [(0i64, 0i64), (1, 0), (2, 1), (40, 40), (27, 26), (80, 79), (80, 80)] {
        let both =
            (0..=40).filter(|both| hits.contains_key(&(first - both)) && hits.contains_key(&(second - both)));
        let truth = total(
            &both.map(|k| hits[&k].mul(&hits[&(first - k)]).mul(&hits[&(second - k)])).collect::<Vec<_>>(),
        );
        let mass = found.at(first + 81 * second);
        assert!(mass.relative_error() < 1e-25, "{first} {second}: {mass:?}");
        let [least, _, most] = members(mass);
        assert!(least <= truth && truth <= most, "{first} {second}: {mass:?}");
    }
}

/// Steps of ten on a deviation of fifty are no gap, steps of a thousand are one; steps that are alike are none.
#[test]
fn a_gap_is_wider_than_half_the_deviation_of_what_is_finer() {
    let half = fraction(1, 2);
    let many = Law::binomial(10_000, &half).unwrap();
    let [ten, thousand] = [10, 1000].map(|step| many.scaled(step).unwrap());
    assert!(!has_gaps(&[(&many, 1), (&ten, 1)]));
    assert!(has_gaps(&[(&many, 1), (&thousand, 1)]));
    assert!(has_gaps(&[(&ten, 1), (&many, 1), (&thousand, 1)]));
    assert!(!has_gaps(&[(&many, 1), (&many, 3)]));
    let just = |step| has_gaps(&[(&many, 1), (&many.scaled(step).unwrap(), 1)]);
    assert!(!just(24) && just(26));
    // What never changes is no part, and what has two values is as good as a multiple of a bit.
    let [never, rarely] = [[1, 0], [1, 1]].map(|[zero, one]| {
        let masses = (0..=1000).map(|k| match k {
            0 => fraction(zero, (zero + one) as u64),
            1000 => fraction(one, (zero + one) as u64),
            _ => fraction(0, 1),
        });
        Law::table(0, masses.collect()).unwrap()
    });
    assert!(!has_gaps(&[(&many, 1), (&never, 1)]));
    assert!(has_gaps(&[(&many, 1), (&never, 1), (&rarely, 2)]));
}

fn refusal<T: std::fmt::Debug>(found: Result<T, Error>) -> String {
    found.unwrap_err().to_string()
}

const EDGE: i64 = 1 << 60;

#[test]
fn tables_that_are_no_laws_or_far_away_are_refused() {
    let certain = |first: i64| Law::table(first, vec![Rational::from(1i64)]);
    let sums = |masses: &[&str]| refusal(Law::table(0, masses.iter().map(|mass| number(mass)).collect()));
    let needed = "the probabilities of a table must not be negative and must sum to one; they sum to ";
    assert_eq!(sums(&["1/2", "1/3"]), format!("{needed}5/6"));
    assert_eq!(sums(&["3/2", "-1/2"]), format!("{needed}1"));
    assert!(certain(EDGE - 1).is_ok() && certain(-EDGE).is_ok());
    for first in [EDGE, EDGE + 1, -EDGE - 1, i64::MAX] {
        assert_eq!(refusal(certain(first)), "the values of a table must lie within ±2^60");
    }
}

#[test]
fn parameters_of_binomial_laws_are_checked() {
    for p in ["-1/2", "3/2"] {
        let found = refusal(Law::binomial(3, &number(p)));
        assert_eq!(found, format!("p = {p}; a probability from 0 to 1 is required"));
    }
    assert!(Law::binomial(1 << 53, &number("1/2")).is_ok());
    let found = refusal(Law::binomial((1 << 53) + 1, &number("1/2")));
    assert_eq!(found, "trials = 9007199254740993; at most 2^53 are allowed");
    let certain = |trials, p| Law::binomial(trials, &number(p)).unwrap().support();
    assert_eq!([certain(7, "0"), certain(0, "1/2"), certain(7, "1")], [0, 0, 7].map(|k| (Some(k), Some(k))));
}

#[test]
fn answers_that_sums_might_carry_too_far_are_refused() {
    let needed = "answers beyond ±2^60 are too large for a law of integers";
    let quarter = Law::point(EDGE / 4);
    assert!(
        quarter.repeated(4).is_ok() && quarter.scaled(-4).is_ok() && quarter.shifted(EDGE / 4 * 3).is_ok()
    );
    assert!(Law::sum(vec![quarter.clone(); 4]).is_ok());
    assert_eq!(refusal(quarter.repeated(5)), needed);
    assert_eq!(refusal(quarter.scaled(-5)), needed);
    assert_eq!(refusal(quarter.shifted(EDGE / 4 * 3 + 1)), needed);
    assert_eq!(refusal(quarter.scaled(-1).unwrap().shifted(-EDGE / 4 * 3 - 1)), needed);
    assert_eq!(refusal(Law::sum(vec![quarter.clone(); 5])), needed);
    assert_eq!(refusal(quarter.scaled(0)), "an answer is not multiplied by zero");
    // One end alone.
    let coin = Law::binomial(1, &number("1/2")).unwrap();
    let mirrored = coin.scaled(-1).unwrap();
    assert!(coin.shifted(EDGE - 1).is_ok() && mirrored.shifted(1 - EDGE).is_ok());
    assert_eq!(refusal(coin.shifted(EDGE)), needed);
    assert_eq!(refusal(mirrored.shifted(-EDGE)), needed);
}

#[test]
fn weights_of_mixtures_are_a_law() {
    let of = |weights: [&str; 2]| {
        Law::mixture(weights.into_iter().map(|weight| (number(weight), Law::point(1))).collect())
    };
    let needed = "the weights of a mixture must not be negative and must sum to one; they sum to ";
    assert!(of(["1/3", "2/3"]).is_ok());
    assert_eq!(refusal(of(["1/3", "1/3"])), format!("{needed}2/3"));
    assert_eq!(refusal(of(["-1/3", "4/3"])), format!("{needed}1"));
}

#[test]
fn samples_that_a_population_does_not_allow_are_refused() {
    let marked = Law::binomial(6, &number("1/2")).unwrap();
    let drawn = |population, size| Sampling::WithoutReplacement { population, size };
    let replaced = |population, size| Sampling::WithReplacement { population, size };
    let poisson = |rate: &str| Sampling::Poisson { rate: number(rate) };
    let overlapping = |population, sizes: &[u64]| Sampling::Overlapping { population, sizes: sizes.to_vec() };
    let found = |sampling| refusal(marked.sampled(sampling));
    for possible in [drawn(6, 6), replaced(6, 9), overlapping(6, &[6, 2]), poisson("0"), poisson("1")] {
        assert!(marked.sampled(possible).is_ok());
    }
    let drawn_at_most = "size = 8; at most the population of 7 can be drawn";
    assert_eq!([found(drawn(7, 8)), found(overlapping(7, &[7, 8]))], [drawn_at_most; 2]);
    let more = "more marked entries, or fewer, than the population has";
    assert_eq!([found(drawn(5, 2)), found(replaced(5, 2)), found(overlapping(5, &[2]))], [more; 3]);
    assert_eq!(refusal(marked.shifted(-1).unwrap().sampled(poisson("1/2"))), more);
    let endless = Law::noise(Noise::Laplace { scale: number("1") }).unwrap();
    assert_eq!(refusal(endless.sampled(poisson("1/2"))), more);
    assert_eq!(found(replaced(0, 2)), "population = 0; at least one entry is required");
    assert!(marked.sampled(replaced(9, 1 << 53)).is_ok());
    let too_many = found(replaced(9, (1 << 53) + 1));
    assert_eq!(too_many, "size = 9007199254740993; at most 2^53 draws are allowed");
    for rate in ["-1/2", "3/2"] {
        assert_eq!(found(poisson(rate)), format!("rate = {rate}; a probability from 0 to 1 is required"));
    }
    let wide = |sizes: &[u64]| marked.sampled(overlapping(u64::MAX, sizes));
    assert!(wide(&[(1 << 31) - 1, (1 << 31) - 1]).is_ok());
    let joint = "so many counts of overlapping samples have too many joint values";
    assert_eq!(refusal(wide(&[(1 << 31) - 1, (1 << 32) - 1])), joint);
    assert_eq!(refusal(wide(&[u64::MAX - 1])), joint);
}

#[test]
fn labels_and_ranks_without_a_meaning_are_refused() {
    let law = Law::binomial(6, &number("1/2")).unwrap();
    let quotient = |divisor| Relabelling::Quotient { factor: 1, offset: 0, divisor };
    let clamped = |least, most| Relabelling::Clamped(Some(least), Some(most));
    assert!(law.relabelled(quotient(1)).is_ok() && law.relabelled(clamped(2, 2)).is_ok());
    let needed = "a divisor above 0, and a lower end not above the upper one, are required";
    for labels in [quotient(0), quotient(-1), clamped(3, 2)] {
        assert_eq!(refusal(law.relabelled(labels)), needed);
    }
    let ranked = |rank| Law::order_statistic(vec![law.clone(), Law::point(6)], rank);
    assert!(ranked(1).is_ok() && ranked(6).is_ok());
    for rank in [0, 7] {
        assert_eq!(refusal(ranked(rank)), "an order statistic needs a rank from 1 to 6");
    }
    assert_eq!(refusal(Law::order_statistic(Vec::new(), 1)), "an order statistic needs a rank from 1 to 0");
}

#[test]
fn noise_out_of_range_is_refused() {
    let positive = |name: &str, x: &str| format!("{name} = {x}; a number above 0 is required");
    for x in ["0", "-1/2"] {
        let found = |noise| refusal(Law::noise(noise));
        assert_eq!(found(Noise::Geometric { alpha: number(x) }), positive("alpha", x));
        assert_eq!(found(Noise::Laplace { scale: number(x) }), positive("scale", x));
        assert_eq!(found(Noise::RoundedLaplace { scale: number(x) }), positive("scale", x));
        assert_eq!(found(Noise::Gaussian { variance: number(x) }), positive("sigma", x));
        assert_eq!(found(Noise::RoundedGaussian { sigma: number(x) }), positive("sigma", x));
    }
    let one = refusal(Law::noise(Noise::Geometric { alpha: number("1") }));
    assert_eq!(one, "alpha = 1; a number below 1 is required");
    let noise = Law::noise(Noise::Geometric { alpha: number("1/2") }).unwrap();
    let far = 1i64 << 24;
    assert!(noise.truncated(-far, far).is_ok() && noise.truncated(3, 3).is_ok());
    for (least, most) in [(-far - 1, 0), (0, far + 1), (1, 0)] {
        let needed = format!(
            "noise truncated to [{least}, {most}]; two numbers within ±2^24 in this order are required"
        );
        assert_eq!(refusal(noise.truncated(least, most)), needed);
    }
    let truncated = noise.truncated(-3, 3).unwrap();
    assert_eq!(refusal(truncated.truncated(-2, 2)), "noise is truncated once");
    assert_eq!(refusal(Law::point(3).truncated(-2, 2)), "only noise by itself is truncated");
}

/// `2^24` answers are written out, one more is not; nor are all of noise without bounds.
#[test]
fn laws_on_too_many_answers_are_refused() {
    let far = 1i64 << 24;
    assert!(super::pmf::check_length(5, far + 4).is_ok());
    let needed = format!(
        "the answers from 5 to {} are too many for their probabilities to be written out; 2^24 are allowed",
        far + 5
    );
    assert_eq!(refusal(super::pmf::check_length(5, far + 5)), needed);
    let endless = Law::noise(Noise::Laplace { scale: number("1") }).unwrap();
    let released = Law::sum(vec![Law::point(1), endless.clone()]).unwrap();
    for law in [endless, released] {
        assert_eq!(refusal(row(&law, None, &Uninterrupted)), "noise without bounds has no last value");
    }
}

/// Beyond `2^63` nobody can ask for a label: it ends there.
#[test]
fn labels_are_integers_that_can_be_asked_for() {
    let quotient = |factor, offset, divisor| Relabelling::Quotient { factor, offset, divisor };
    assert_eq!(quotient(3, 1, 2).apply(-3), -4);
    assert_eq!([i64::MAX, -i64::MAX].map(|factor| quotient(factor, 0, 1).apply(5)), [i64::MAX, i64::MIN]);
    assert_eq!([2, 3, 4].map(|a| Relabelling::AtMost(3).apply(a)), [3, 3, 4]);
    let labels = Relabelling::Table([(1, 7)].into());
    assert_eq!([1, 2].map(|a| labels.apply(a)), [7, 2]);
    let clamped = |least, most| [-9, 2, 9].map(|a| Relabelling::Clamped(least, most).apply(a));
    assert_eq!(clamped(Some(-1), None), [-1, 2, 9]);
    assert_eq!(clamped(None, Some(3)), [-9, 2, 3]);
}

/// Answers beyond the ends have one label, or labels that no answer between them has.
#[test]
fn beyond_the_ends_around_a_window_labels_are_their_own() {
    let quotient = |factor, offset, divisor| Relabelling::Quotient { factor, offset, divisor };
    let of_few = Relabelling::Table([(-3, 5), (4, -9)].into());
    let chains: [&[Relabelling]; 9] = [
        &[quotient(1, 2, 5)],
        &[quotient(-2, 3, 7)],
        &[quotient(0, 3, 7)],
        &[Relabelling::AtMost(6), quotient(1, 0, 4)],
        &[quotient(1, 1, 3), Relabelling::AtMost(-2)],
        &[Relabelling::Clamped(Some(-7), Some(9)), of_few.clone()],
        &[of_few.clone(), quotient(1, 0, 4)],
        &[quotient(1, 0, 4), of_few],
        &[Relabelling::Clamped(None, Some(3)), quotient(-3, 1, 10), Relabelling::Clamped(Some(-1), None)],
    ];
    for chain in chains {
        let label = |answer: i64| chain.iter().fold(answer, |answer, next| next.apply(answer));
        for window in [[-2, 2], [0, 0], [20, 23], [-40, -31]] {
            let [first, last] = Relabelling::ends_around(&chain.iter().collect::<Vec<_>>(), window);
            assert!(first <= window[0] && window[1] <= last);
            let (all, inside) = (-200..=200, (first + 1)..last);
            let beyond: [Vec<i64>; 2] =
                [all.clone().filter(|&a| a <= first).collect(), all.filter(|&a| a >= last).collect()];
            for side in beyond {
                let is_one = side.iter().all(|&a| label(a) == label(side[0]));
                let apart = side.iter().all(|&a| inside.clone().all(|b| label(a) != label(b)));
                assert!(is_one || apart, "{chain:?} {window:?} {first} {last}");
            }
        }
    }
}
