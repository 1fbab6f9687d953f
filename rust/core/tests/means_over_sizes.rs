//! Histograms, Poisson samples and means over the number of entries that matter, against their definitions in exact rationals.
//!
//! The definitions know databases, tables and samples, and none of the laws that the kernel sums over.

#![allow(clippy::unwrap_used, clippy::panic, clippy::many_single_char_names)]
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::float_cmp)]

use proptest::prelude::*;
use statpriv_core::curve::exact::{exact_delta, exact_terms};
use statpriv_core::curve::{
    CountFamily, Curve, MeanOverSizes, Weight, histogram, poisson_published, sampled_histogram,
};
use statpriv_core::error::Error;
use statpriv_core::forms::{Direction, Epsilon};
use statpriv_core::interrupt::{Interrupt, Uninterrupted};
use statpriv_core::inverse;
use statpriv_core::numbers::ball::Ball;
use statpriv_core::numbers::rational::Rational;
use std::cell::Cell;
use std::collections::BTreeMap;

fn number(text: &str) -> Rational {
    Rational::parse(text).unwrap()
}

fn over(top: u64, bottom: u64) -> Rational {
    Rational::from(top).div(&Rational::from(bottom)).unwrap()
}

fn zero() -> Rational {
    Rational::from(0i64)
}

fn one() -> Rational {
    Rational::from(1i64)
}

fn power(x: &Rational, n: usize) -> Rational {
    (0..n).fold(one(), |product, _| product.mul(x))
}

fn choose(n: usize, k: usize) -> Rational {
    if k > n {
        return zero();
    }
    (0..k).fold(one(), |product, i| product.mul(&over((n - i) as u64, (i + 1) as u64)))
}

type Law = BTreeMap<Vec<usize>, Rational>;

fn hockey_stick(first: &Law, second: &Law, x: &Rational) -> Rational {
    let answers: std::collections::BTreeSet<_> = first.keys().chain(second.keys()).collect();
    let mass = |law: &Law, answer| law.get(answer).cloned().unwrap_or_else(zero);
    answers.into_iter().fold(zero(), |sum, answer| {
        sum.add(&mass(first, answer).sub(&x.mul(&mass(second, answer))).max(zero()))
    })
}

/// The table of `size` entries, the critical one in the given cell: one entry after the other.
fn table(size: usize, cells: &[Rational], critical: usize) -> Law {
    let mut start = vec![0; cells.len()];
    start[critical] = 1;
    (1..size).fold(Law::from([(start, one())]), |law, _| {
        let mut next = Law::new();
        for (counts, mass) in law {
            for (cell, p) in cells.iter().enumerate() {
                let mut counts = counts.clone();
                counts[cell] += 1;
                let sum = next.entry(counts).or_insert_with(zero);
                *sum = sum.add(&mass.mul(p));
            }
        }
        next
    })
}

/// What a release of the table of a sample tells: `probability(table, sample)` over all samples of each table.
fn sampled(law: &Law, probability: impl Fn(&[usize], &[usize]) -> Rational) -> Law {
    let mut released = Law::new();
    for (counts, mass) in law {
        let mut samples = vec![Vec::new()];
        for &count in counts {
            samples = samples
                .into_iter()
                .flat_map(|s| (0..=count).map(move |a| [s.clone(), vec![a]].concat()))
                .collect();
        }
        for sample in samples {
            let share = mass.mul(&probability(counts, &sample));
            let sum = released.entry(sample).or_insert_with(zero);
            *sum = sum.add(&share);
        }
    }
    released
}

fn ways(counts: &[usize], sample: &[usize]) -> Rational {
    counts.iter().zip(sample).fold(one(), |product, (&n, &k)| product.mul(&choose(n, k)))
}

/// The table of `size` of the entries, each choice as likely as the others.
fn without_replacement(law: &Law, size: usize) -> Law {
    sampled(law, |counts, sample| {
        if sample.iter().sum::<usize>() != size {
            return zero();
        }
        ways(counts, sample).div(&choose(counts.iter().sum(), size)).unwrap()
    })
}

/// The table of a sample that takes each entry with probability `rate`: its sum, the size, is published.
fn poisson(law: &Law, rate: &Rational) -> Law {
    sampled(law, |counts, sample| {
        let (all, taken): (usize, usize) = (counts.iter().sum(), sample.iter().sum());
        let misses = power(&one().sub(rate), all - taken);
        ways(counts, sample).mul(&power(rate, taken)).mul(&misses)
    })
}

/// `Δ_{1,0}` or `Δ_{0,1}` of a plain count, or the larger.
fn count(size: usize, p: &Rational, x: &Rational, direction: Option<Direction>) -> Rational {
    let cells = [one().sub(p), p.clone()];
    let (zero, one) = (table(size, &cells, 0), table(size, &cells, 1));
    match direction {
        Some(Direction::OneAgainstZero) => hockey_stick(&one, &zero, x),
        Some(Direction::ZeroAgainstOne) => hockey_stick(&zero, &one, x),
        None => hockey_stick(&one, &zero, x).max(hockey_stick(&zero, &one, x)),
    }
}

const DIRECTIONS: [Option<Direction>; 3] =
    [Some(Direction::OneAgainstZero), Some(Direction::ZeroAgainstOne), None];

fn exactly(curve: &Curve, x: &Rational) -> Rational {
    exact_delta(curve, x, &Uninterrupted).unwrap()
}

/// Cells with probabilities, some of them perhaps zero.
fn cells() -> impl Strategy<Value = Vec<Rational>> {
    prop::collection::vec(0u64..5, 2..5).prop_filter_map("some cell must be possible", |weights| {
        let sum = weights.iter().sum();
        (sum > 0).then(|| weights.iter().map(|&weight| over(weight, sum)).collect())
    })
}

/// `e^ε` on both sides of 1, and 1.
fn ratio() -> impl Strategy<Value = Rational> {
    prop_oneof![Just(one()), (1u64..40, 1u64..20).prop_map(|(top, bottom)| over(top, bottom))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// And `None` is the maximum over all ordered pairs, though two of them are looked at.
    #[test]
    fn the_histogram_of_a_sample_is_its_hockey_stick(
        cells in cells(), population in 1usize..6, kept in 0usize..5, x in ratio()
    ) {
        let size = 1 + kept % population;
        let laws: Vec<Law> =
            (0..cells.len()).map(|v| without_replacement(&table(population, &cells, v), size)).collect();
        let mut worst = zero();
        for v in 0..cells.len() {
            for w in (0..cells.len()).filter(|&w| w != v) {
                let curve = sampled_histogram(population as u64, size as u64, &cells, Some((v, w))).unwrap();
                let truth = hockey_stick(&laws[v], &laws[w], &x);
                prop_assert_eq!(exactly(&curve, &x), truth.clone());
                prop_assert_eq!(exactly(&curve.reversed(), &x), hockey_stick(&laws[w], &laws[v], &x));
                worst = worst.max(truth);
            }
        }
        let curve = sampled_histogram(population as u64, size as u64, &cells, None).unwrap();
        prop_assert_eq!(exactly(&curve, &x), worst.clone());
        assert_encloses(&curve, &x, &worst);
        if size == population {
            prop_assert_eq!(exactly(&histogram(size as u64, &cells, None).unwrap(), &x), worst);
        }
    }

    #[test]
    fn a_poisson_sample_whose_size_is_published_is_its_hockey_stick(
        population in 1usize..7, tenths in 1u64..=10, sixths in 0u64..=6, x in ratio()
    ) {
        let (rate, p) = (over(tenths, 10), over(sixths, 6));
        let cells = [one().sub(&p), p.clone()];
        let laws = [0, 1].map(|value| poisson(&table(population, &cells, value), &rate));
        let truth = [hockey_stick(&laws[1], &laws[0], &x), hockey_stick(&laws[0], &laws[1], &x)];
        for (direction, truth) in [
            (Some(Direction::OneAgainstZero), truth[0].clone()),
            (Some(Direction::ZeroAgainstOne), truth[1].clone()),
            (None, truth[0].clone().max(truth[1].clone())),
        ] {
            let curve = poisson_published(population as u64, &rate, &p, direction).unwrap();
            prop_assert_eq!(exactly(&curve, &x), truth.clone());
            assert_encloses(&curve, &x, &truth);
        }
    }

    /// With thresholds, the mean of what is not less.
    #[test]
    fn entries_that_do_not_matter_are_averaged_over(
        size in 1usize..8, others in 0usize..7, fifths in 0u64..=5, sixths in 0u64..=6, x in ratio(), thresholds in 1u64..4
    ) {
        let others = others % size;
        let (irrelevant, p) = (over(fifths, 5), over(sixths, 6));
        for direction in DIRECTIONS {
            let truth = (0..=others).fold(zero(), |sum, z| {
                let misses = power(&one().sub(&irrelevant), others - z);
                let weight = choose(others, z).mul(&power(&irrelevant, z)).mul(&misses);
                sum.add(&weight.mul(&count(size - z, &p, &x, direction)))
            });
            let family = CountFamily::new(&p, &p, direction).unwrap();
            let mean = MeanOverSizes::irrelevant_entries(size as u64, others as u64, &irrelevant, family).unwrap();
            let curve = Curve::from(mean.clone());
            prop_assert_eq!(exactly(&curve, &x), truth.clone());
            assert_encloses(&curve, &x, &truth);
            let bound = Curve::from(mean.with_thresholds(thresholds));
            prop_assert!(exactly(&bound, &x) >= truth);
        }
    }

    /// Three tiers that share no sum: balls and digits around `A − e^ε B`.
    #[test]
    fn the_tiers_agree(curve in any_mean(60), epsilon in prop_oneof![Just(0.0), 1e-3..0.5f64, 0.5..6.0f64, -2.0..0.0f64]) {
        let epsilon = Rational::from_f64(epsilon).unwrap();
        let (first, second) = exact_terms(&curve, &epsilon, &Uninterrupted).unwrap();
        let ratio = Ball::from_rational(&epsilon).exp();
        let truth = Ball::from_rational(&first) - ratio * Ball::from_rational(&second);
        let ball = curve.ball(&Epsilon::new(&epsilon), &Uninterrupted).unwrap();
        assert_overlap(ball, truth);
        let digits = statpriv_core::curve::digits::delta(&curve, &epsilon, 30, &Uninterrupted).unwrap();
        let [lower, upper] = [digits.lower(), digits.upper()].map(|end| end.to_rational().unwrap());
        prop_assert!(upper.sub(&lower) <= upper.mul(&number("1e-30")));
        assert_overlap(Ball::from_rational(&lower).hull(Ball::from_rational(&upper)), truth);
    }

    #[test]
    fn balls_of_many_sizes_contain_their_digits(curve in any_mean(3000), epsilon in prop_oneof![Just(0.0), 1e-3..0.3f64]) {
        let epsilon = Rational::from_f64(epsilon).unwrap();
        let found = curve.delta(&epsilon, &Uninterrupted).unwrap();
        let digits = statpriv_core::curve::digits::delta(&curve, &epsilon, 20, &Uninterrupted).unwrap();
        let [lower, upper] = [digits.lower(), digits.upper()].map(|end| end.to_rational().unwrap());
        prop_assert!(Rational::from_f64(found.lower()).unwrap() <= lower.clone().max(upper.clone()), "{found:?}");
        prop_assert!(Rational::from_f64(found.upper()).unwrap() >= lower, "{found:?}");
        prop_assert!(found.width() <= 1e-12 * found.upper() || found.upper() < 1e-300, "{found:?}");
    }
}

/// Of up to about `most` entries.
fn any_mean(most: u64) -> impl Strategy<Value = Curve> {
    let direction = prop::sample::select(DIRECTIONS.to_vec());
    (2..most, 1u64..1000, 1u64..20, 1u64..20, 0u32..4, direction).prop_map(
        |(size, part, p, rate, kind, direction)| {
            let (p, rate) = (over(p, 20), over(rate, 20));
            let family = CountFamily::new(&p, &p, direction).unwrap();
            let fewer = size * part / 1000;
            match kind {
                0 => MeanOverSizes::known_entries(size, fewer, 1 + size / 2, family).unwrap().into(),
                1 => MeanOverSizes::irrelevant_entries(size, fewer, &rate, family).unwrap().into(),
                2 => poisson_published(size, &rate, &p, direction).unwrap(),
                _ => {
                    let cells = [p.mul(&over(1, 2)), p.mul(&over(1, 3)), p.mul(&over(1, 6)), one().sub(&p)];
                    let pair = direction.map(|_| (2, 0));
                    sampled_histogram(size, 1 + fewer, &cells, pair).unwrap()
                }
            }
        },
    )
}

fn assert_overlap(one: Ball, other: Ball) {
    let gap = one - other;
    assert!(!gap.is_positive() && !(-gap).is_positive(), "{one:?} is not {other:?}");
}

/// δ at doubles on both sides of `ln x`: it does not rise with ε, so the answers must have the truth between them, narrowly.
fn assert_encloses(curve: &Curve, x: &Rational, truth: &Rational) {
    let ends = Ball::from_rational(x).ln().to_enclosure();
    let at = |end: f64| curve.delta(&Rational::from_f64(end).unwrap(), &Uninterrupted).unwrap();
    let (above, below) = (at(ends.lower()), at(ends.upper()));
    assert!(Rational::from_f64(above.upper()).unwrap() >= *truth, "{above:?} is below {truth:?}");
    assert!(Rational::from_f64(below.lower()).unwrap() <= *truth, "{below:?} is above {truth:?}");
    // A curve may fall to zero within the doubles around ln x, with a slope of at most x.
    let slope = Ball::from_rational(x).to_enclosure().upper() * 1e-15;
    assert!(above.upper() - below.lower() <= 1e-13 * above.upper() + slope, "{below:?} to {above:?} is wide");
}

/// Over a range of probabilities, and with thresholds too: the same mean, written out member by member.
#[test]
fn a_mean_over_a_range_is_that_of_its_members() {
    let (size, others, irrelevant) = (40u64, 30u64, number("2/3"));
    let family = CountFamily::new(&number("3/10"), &number("9/20"), None).unwrap();
    let mean = MeanOverSizes::irrelevant_entries(size, others, &irrelevant, family.clone()).unwrap();
    for mean in [mean.clone(), mean.clone().with_thresholds(7), mean.with_thresholds(1)] {
        let parts = (0..=others).map(|z| {
            let misses = power(&number("1/3"), (others - z) as usize);
            let weight =
                choose(others as usize, z as usize).mul(&power(&irrelevant, z as usize)).mul(&misses);
            (Weight::from(weight), family.of_size(size - mean.threshold(z)).unwrap())
        });
        let written_out = Curve::Mean(parts.collect());
        let mean = Curve::from(mean);
        for epsilon in ["-1", "0", "0.05", "0.7"].map(|text| Epsilon::new(&number(text))) {
            let (one, other) = (
                mean.ball(&epsilon, &Uninterrupted).unwrap(),
                written_out.ball(&epsilon, &Uninterrupted).unwrap(),
            );
            assert_overlap(one, other);
            assert!(one.relative_error() < 1e-12 && other.relative_error() < 1e-12);
        }
        let limits = [&mean, &written_out].map(|curve| curve.infinity_mass(&Uninterrupted).unwrap());
        assert!(limits[0].lower() <= limits[1].upper() && limits[1].lower() <= limits[0].upper());
        assert!(limits[0].width() <= 1e-14 * limits[0].upper());
    }
}

/// The cells of least probability are the worst, in one order or the other, at any ε; here the first and the last.
#[test]
fn the_two_least_probable_cells_are_the_worst_pair() {
    let cells = ["0.09", "0.2", "0.31", "0.29", "0.11"].map(number);
    for epsilon in ["0", "0.05", "1"].map(number) {
        let delta = |pair| histogram(300, &cells, pair).unwrap().delta(&epsilon, &Uninterrupted).unwrap();
        let pairs = (0..5).flat_map(|v| (0..5).filter(move |&w| w != v).map(move |w| (v, w)));
        let worst = pairs.map(|pair| delta(Some(pair)).upper()).fold(0.0, f64::max);
        assert_eq!(delta(None).upper(), worst);
        assert_eq!(worst, delta(Some((0, 4))).upper().max(delta(Some((4, 0))).upper()));
    }
}

/// The answer that only the critical entry's own cell can give: `(1−p_w)^(n−1)`.
#[test]
fn the_limit_of_a_histogram_is_the_chance_that_the_other_cell_is_empty() {
    let cells = ["1/5", "3/10", "1/2"].map(number);
    for size in [1u64, 2, 30] {
        let curve = histogram(size, &cells, Some((0, 1))).unwrap();
        let truth = power(&number("7/10"), size as usize - 1);
        let mass = curve.infinity_mass(&Uninterrupted).unwrap();
        assert!(mass.contains(&truth) && mass.width() <= 1e-15 * mass.upper(), "{mass:?}");
        let digits = statpriv_core::curve::digits::infinity_mass(&curve, 20, &Uninterrupted).unwrap();
        assert!(digits.lower().order(&truth).is_le() && digits.upper().order(&truth).is_ge());
        let worst = histogram(size, &cells, None).unwrap().infinity_mass(&Uninterrupted).unwrap();
        assert!(worst.contains(&power(&number("8/10"), size as usize - 1)));
    }
    let million = histogram(1_000_000, &cells, None).unwrap();
    let epsilon = inverse::epsilon(&million, &number("1e-6"), &Uninterrupted).unwrap();
    assert!(epsilon.upper() < 0.1 && epsilon.width() <= 1e-9 * epsilon.upper(), "{epsilon:?}");
}

/// Only a sample of all entries gives anything away for sure: `γ^n p^(n−1)`; without other ones, γ.
#[test]
fn the_limit_of_a_published_sample_needs_all_entries() {
    let rate = number("9/10");
    for size in [1u64, 5, 1 << 40] {
        let curve = poisson_published(size, &rate, &number("1/2"), None).unwrap();
        let mass = curve.infinity_mass(&Uninterrupted).unwrap();
        if size < 10 {
            let truth = power(&rate, size as usize).mul(&power(&number("1/2"), size as usize - 1));
            assert!(mass.contains(&truth) && mass.width() <= 1e-14 * mass.upper(), "{size}: {mass:?}");
        }
        assert!(mass.upper() < 1e-100 || size < 10);
        let alone = poisson_published(size.min(1 << 20), &rate, &zero(), None).unwrap();
        let delta = alone.delta(&number("0.5"), &Uninterrupted).unwrap();
        assert!(delta.contains(&rate) && delta.width() <= 1e-15, "{size}: {delta:?}");
    }
}

/// Counts how often it is asked: a mean asks once for every curve it evaluates.
#[derive(Default)]
struct Counter(Cell<u32>);

impl Interrupt for Counter {
    fn check(&self) -> Result<(), Error> {
        self.0.set(self.0.get() + 1);
        Ok(())
    }
}

/// Two of the 90 ordered pairs, and some 18 standard deviations of each.
#[test]
fn a_histogram_of_many_cells_evaluates_what_matters_only() {
    let cells: Vec<Rational> = (0..10).map(|i| over(91 + 2 * i, 1000)).collect();
    for (size, pair, most) in
        [(1_000_000, None, 16_000), (1_000_000, Some((3, 7)), 8000), (10_000, None, 1700)]
    {
        let counter = Counter::default();
        let curve = histogram(size, &cells, pair).unwrap();
        let delta = curve.delta(&number("0.001"), &counter).unwrap();
        assert!(delta.width() <= 1e-13 * delta.upper(), "{delta:?}");
        assert!(counter.0.get() <= most, "{size} {pair:?}: {} evaluations", counter.0.get());
    }
    let equal: Vec<Rational> = (0..10).map(|_| over(1, 10)).collect();
    let counter = Counter::default();
    histogram(1_000_000, &equal, None).unwrap().delta(&number("0.001"), &counter).unwrap();
    assert!(counter.0.get() <= 8000, "cells that are alike: {} evaluations", counter.0.get());
}

/// A sample that may leave the critical entry out tells nothing for sure, but where its cell has no other entry; and the curve of cells as rare
/// as these falls to that limit at an ε near 150 only.
#[test]
fn the_limit_of_the_histogram_of_a_sample_is_found_beyond_its_last_change() {
    let rare = ["1e-60", "3e-60"].map(number);
    let cells = [rare[0].clone(), rare[1].clone(), one().sub(&rare[0]).sub(&rare[1])];
    let curve = sampled_histogram(7, 3, &cells, None).unwrap();
    let before = curve.delta(&number("130"), &Uninterrupted).unwrap();
    assert!(before.lower() > 0.4 && before.upper() <= 3.0 / 7.0, "{before:?}");
    let nothing = statpriv_core::curve::digits::infinity_mass(&curve, 20, &Uninterrupted).unwrap();
    assert!(nothing.lower().order(&zero()).is_eq() && nothing.upper().order(&zero()).is_eq());
    assert_eq!(curve.infinity_mass(&Uninterrupted).unwrap().upper(), 0.0);
    let empty = sampled_histogram(7, 3, &[zero(), number("2/5"), number("3/5")], None).unwrap();
    let mass = statpriv_core::curve::digits::infinity_mass(&empty, 20, &Uninterrupted).unwrap();
    assert!(mass.lower().order(&over(3, 7)).is_le() && mass.upper().order(&over(3, 7)).is_ge());
    let published = poisson_published(4, &over(1, 3), &over(1, 5), Some(Direction::OneAgainstZero)).unwrap();
    let mass = statpriv_core::curve::digits::infinity_mass(&published, 20, &Uninterrupted).unwrap();
    let truth = power(&over(1, 3), 4).mul(&power(&over(1, 5), 3));
    assert!(mass.lower().order(&truth).is_le() && mass.upper().order(&truth).is_ge());
}

fn refusal<T>(result: Result<T, Error>) -> String {
    match result {
        Err(Error::Argument(message)) => message,
        _ => panic!("not refused as an argument"),
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let half = || number("1/2");
    let family = || CountFamily::new(&half(), &half(), None).unwrap();
    let irrelevant = |size, others, share: &str| {
        refusal(MeanOverSizes::irrelevant_entries(size, others, &number(share), family()))
    };
    assert_eq!(
        irrelevant(5, 5, "1/2"),
        "others = 5; an integer from 0 to 4 is required: the critical entry matters"
    );
    assert_eq!(irrelevant(5, 4, "3/2"), "irrelevant = 3/2; a probability from 0 to 1 is required");
    assert_eq!(irrelevant(5, 4, "-1/2"), "irrelevant = -1/2; a probability from 0 to 1 is required");
    assert_eq!(irrelevant(0, 0, "1/2"), "size = 0; an integer from 1 to 2^53 is required");
    for rate in ["0", "-1/5", "6/5"] {
        let message = refusal(poisson_published(5, &number(rate), &half(), None));
        assert_eq!(message, format!("rate = {rate}; a number above 0 and at most 1 is required"));
    }
    let of_range = CountFamily::new(&number("0.4"), &half(), None).unwrap();
    assert!(refusal(MeanOverSizes::published_sample(5, &half(), of_range)).contains("not a range"));
    let table = |cells: &[&str], pair| {
        let cells: Vec<Rational> = cells.iter().map(|p| number(p)).collect();
        refusal(histogram(5, &cells, pair))
    };
    assert_eq!(
        table(&["1/2", "1/3"], None),
        "cells add up to 5/6; exactly 1 is required: give exact numbers, such as '0.1' or Fraction(1, 3)"
    );
    assert_eq!(table(&["3/2", "-1/2"], None), "cells[1] = -1/2; a probability from 0 to 1 is required");
    assert_eq!(
        table(&["1"], None),
        "cells has 1 probabilities; at least 2 are required: the critical entry may be in either"
    );
    let pair = "pair has the cells 2 and 0; two different integers from 0 to 1 are required";
    assert_eq!(table(&["1/2", "1/2"], Some((2, 0))), pair);
    assert!(table(&["1/2", "1/2"], Some((1, 1))).starts_with("pair has the cells 1 and 1;"));
    let cells = [half(), half()];
    assert_eq!(
        refusal(sampled_histogram(5, 6, &cells, None)),
        "size = 6; an integer from 1 to the population of 5 is required"
    );
    assert!(refusal(histogram(0, &cells, None)).starts_with("size = 0;"));
}
