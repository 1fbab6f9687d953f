//! Every curve of the kernel against its definition in exact rationals, for all small counts.
//!
//! The definition needs a rational `e^ε`. The kernel needs a rational ε, so it is asked on both sides of `ln x`: δ
//! does not rise with ε, and the two answers must enclose the exact value between them, narrowly.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, clippy::many_single_char_names)]
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use statpriv_core::curve::{CountFamily, Curve, MeanOverSizes, Weight};
use statpriv_core::error::Error;
use statpriv_core::forms::Directed;
use statpriv_core::forms::{BinomialPeaks, Direction, Epsilon};
use statpriv_core::interrupt::{Interrupt, Uninterrupted};
use statpriv_core::inverse;
use statpriv_core::laws::Hypergeometric;
use statpriv_core::numbers::ball::Ball;
use statpriv_core::numbers::rational::Rational;
use std::cell::Cell;

fn number(text: &str) -> Rational {
    Rational::parse(text).unwrap()
}

fn one() -> Rational {
    Rational::from(1i64)
}

/// Pascal's triangle: the law of a sum of independent entries, one entry at a time.
fn count_law(entries: u64, p: &Rational) -> Vec<Rational> {
    let q = one().sub(p);
    (0..entries).fold(vec![one()], |law, _| {
        let zero = Rational::from(0i64);
        (0..=law.len())
            .map(|a| {
                let stay = law.get(a).unwrap_or(&zero).mul(&q);
                let rise = if a > 0 { law[a - 1].mul(p) } else { Rational::from(0i64) };
                stay.add(&rise)
            })
            .collect()
    })
}

/// The law of the count of `size` entries if the critical one, counted with probability `w`, has value `v`.
fn answer_law(size: u64, p: &Rational, w: &Rational, v: usize) -> Vec<Rational> {
    let mut without = count_law(size, p);
    let with = count_law(size - 1, p);
    for (a, mass) in without.iter_mut().enumerate() {
        let zero = Rational::from(0i64);
        let shifted = a.checked_sub(v).and_then(|a| with.get(a)).unwrap_or(&zero);
        *mass = mass.mul(&one().sub(w)).add(&shifted.mul(w));
    }
    without
}

fn hockey_stick(first: &[Rational], second: &[Rational], x: &Rational) -> Rational {
    first.iter().zip(second).fold(Rational::from(0i64), |sum, (p, q)| {
        let gap = p.sub(&x.mul(q));
        if gap.is_negative() { sum } else { sum.add(&gap) }
    })
}

fn exact(size: u64, p: &Rational, w: &Rational, x: &Rational, direction: Option<Direction>) -> Rational {
    let laws = (answer_law(size, p, w, 1), answer_law(size, p, w, 0));
    let up = hockey_stick(&laws.0, &laws.1, x);
    let down = hockey_stick(&laws.1, &laws.0, x);
    match direction {
        Some(Direction::OneAgainstZero) => up,
        Some(Direction::ZeroAgainstOne) => down,
        None => up.max(down),
    }
}

/// Doubles on both sides of `ln x`, for `x ≥ 1`.
fn around_logarithm(x: &Rational) -> (Rational, Rational) {
    let ends = Ball::from_rational(x).ln().to_enclosure();
    (Rational::from_f64(ends.lower().max(0.0)).unwrap(), Rational::from_f64(ends.upper()).unwrap())
}

fn assert_encloses(curve: &Curve, x: &Rational, truth: &Rational, what: &str) {
    let (low, high) = around_logarithm(x);
    let (above, below) =
        (curve.delta(&low, &Uninterrupted).unwrap(), curve.delta(&high, &Uninterrupted).unwrap());
    assert!(Rational::from_f64(above.upper()).unwrap() >= *truth, "{what}: {above:?} is below {truth:?}");
    assert!(Rational::from_f64(below.lower()).unwrap() <= *truth, "{what}: {below:?} is above {truth:?}");
    assert!(above.upper() - below.lower() <= 1e-13 * above.upper(), "{what}: {below:?} to {above:?} is wide");
}

const DIRECTIONS: [Option<Direction>; 3] =
    [Some(Direction::OneAgainstZero), Some(Direction::ZeroAgainstOne), None];

#[test]
fn a_count_of_all_entries() {
    for p in ["1/2", "3/10", "9/10", "1/1000", "0", "1"].map(number) {
        let x_values = ["1", "11/10", "3/2", "5", "1000", "100000000"].map(number);
        for size in 1..9 {
            for (x, direction) in x_values.iter().flat_map(|x| DIRECTIONS.map(|d| (x, d))) {
                let curve = CountFamily::new(&p, &p, direction).unwrap().of_size(size).unwrap();
                let truth = exact(size, &p, &one(), x, direction);
                assert_encloses(&curve, x, &truth, &format!("n={size} p={p:?} x={x:?} {direction:?}"));
            }
        }
    }
}

#[test]
fn a_count_of_a_hidden_sample() {
    for p in ["1/2", "3/10", "49/50", "0", "1"].map(number) {
        for (size, w) in [(1, "1/2"), (2, "1/3"), (5, "5/7"), (8, "1/100"), (6, "99/100")] {
            for (x, direction) in
                ["1", "21/20", "7/5", "4"].map(number).iter().flat_map(|x| DIRECTIONS.map(|d| (x, d)))
            {
                let family = CountFamily::new(&p, &p, direction).unwrap();
                let curve = family.sampled(size, &number(w)).unwrap();
                let truth = exact(size, &p, &number(w), x, direction);
                assert_encloses(&curve, x, &truth, &format!("s={size} w={w} p={p:?} x={x:?} {direction:?}"));
            }
        }
    }
}

#[test]
fn a_range_of_probabilities_has_its_supremum_at_an_end_or_an_outermost_peak() {
    for (low, high) in [
        ("1/5", "4/5"),
        ("2/5", "3/5"),
        ("1/20", "1/2"),
        ("1/2", "1/2"),
        ("7/10", "19/20"),
        ("1/2", "81/100"),
        ("19/100", "1/2"),
    ] {
        let (low, high) = (number(low), number(high));
        for (size, x) in
            [1u64, 2, 3, 4, 7, 10].iter().flat_map(|n| ["1", "6/5", "2", "9"].map(|x| (*n, number(x))))
        {
            // Every peak j/(j + (N−j)x) inside, and both ends: the definition of the supremum of a maximum of
            // unimodal functions, with none left out.
            let others = Rational::from(size - 1);
            let peaks = (1..size.max(2) - 1).map(|j| {
                let j = Rational::from(j);
                j.div(&j.add(&others.sub(&j).mul(&x))).unwrap()
            });
            let mirrored = |p: &Rational| one().sub(p);
            let all: Vec<Rational> = peaks
                .flat_map(|p| [mirrored(&p), p])
                .filter(|p| low <= *p && *p <= high)
                .chain([low.clone(), high.clone()])
                .collect();
            for direction in DIRECTIONS {
                let truth = all.iter().map(|p| exact(size, p, &one(), &x, direction)).max().unwrap();
                let family = CountFamily::new(&low, &high, direction).unwrap();
                let what = format!("n={size} [{low:?}, {high:?}] x={x:?} {direction:?}");
                assert_encloses(&family.of_size(size).unwrap(), &x, &truth, &what);
            }
        }
    }
}

fn choose(n: u64, k: u64) -> Rational {
    if k > n {
        return Rational::from(0i64);
    }
    (0..k).fold(one(), |product, i| product.mul(&Rational::from(n - i)).div(&Rational::from(i + 1)).unwrap())
}

#[test]
fn known_entries_in_a_sample_average_over_how_many_it_holds() {
    let p = number("2/5");
    for (n, known, size) in [(6, 2, 3), (9, 4, 9), (9, 8, 4), (12, 0, 5), (10, 3, 1), (14, 7, 8)] {
        for x in ["1", "6/5", "5/2"].map(number) {
            let truth = (0..size.min(known + 1)).fold(Rational::from(0i64), |sum, z| {
                let ways = choose(known, z).mul(&choose(n - 1 - known, size - 1 - z));
                let weight = ways.div(&choose(n - 1, size - 1)).unwrap();
                sum.add(&weight.mul(&exact(size - z, &p, &one(), &x, None)))
            });
            let family = || CountFamily::new(&p, &p, None).unwrap();
            let mean = MeanOverSizes::known_entries(n, known, size, family()).unwrap();
            let what = format!("n={n} known={known} s={size} x={x:?}");
            assert_encloses(&Curve::from(mean.clone()), &x, &truth, &what);
            let coarse = Curve::from(mean.with_thresholds(1));
            let bound = coarse.delta(&around_logarithm(&x).0, &Uninterrupted).unwrap();
            assert!(
                Rational::from_f64(bound.upper()).unwrap() >= truth,
                "{what}: the threshold bound is below"
            );
        }
    }
}

/// The mean and its threshold bound term by term, no term left out and no recurrence.
fn every_term(n: u64, known: u64, size: u64, step: u64, epsilon: &Epsilon) -> Ball {
    let law = Hypergeometric::new(n - 1, known, size - 1).unwrap();
    let p = number("2/5");
    let (mode, least, greatest) = (law.mode(), law.least(), law.greatest());
    (least..=greatest).fold(Ball::ZERO, |sum, z| {
        // Blocks of `step` numbers start at the mode and just below it; each is worth its largest number.
        let top = if z >= mode {
            (z + (step - 1) - (z - mode) % step).min(greatest)
        } else {
            mode - 1 - (mode - 1 - z) / step * step
        };
        let curve = CountFamily::new(&p, &p, None).unwrap().of_size(size - top).unwrap();
        sum + law.probability(z) * curve.ball(epsilon, &Uninterrupted).unwrap()
    })
}

#[test]
fn a_mean_over_many_numbers_of_known_entries_is_cut_where_nothing_is_lost() {
    let p = number("2/5");
    for (n, known, size) in
        [(3000, 900, 700), (3000, 2900, 700), (2000, 1000, 1990), (5000, 40, 2500), (900, 450, 600)]
    {
        for text in ["0", "0.05", "0.4", "2"] {
            let epsilon = Epsilon::new(&number(text));
            let family = CountFamily::new(&p, &p, None).unwrap();
            let mean = MeanOverSizes::known_entries(n, known, size, family).unwrap();
            let computed = Curve::from(mean.clone()).ball(&epsilon, &Uninterrupted).unwrap();
            assert_equal(
                computed,
                every_term(n, known, size, 1, &epsilon),
                &format!("{n} {known} {size} {text}"),
            );
            let deviation = Hypergeometric::new(n - 1, known, size - 1).unwrap().standard_deviation();
            let step = (18.0 * deviation / 5.0).ceil() as u64;
            let bound = Curve::from(mean.with_thresholds(5)).ball(&epsilon, &Uninterrupted).unwrap();
            assert_equal(
                bound,
                every_term(n, known, size, step, &epsilon),
                &format!("{n} {known} {size} {text} by {step}"),
            );
        }
    }
}

/// Two balls around one number: they overlap, and both are narrow.
fn assert_equal(one: Ball, other: Ball, what: &str) {
    let gap = one - other;
    assert!(!gap.is_positive() && !(-gap).is_positive(), "{what}: {one:?} is not {other:?}");
    assert!(one.relative_error() < 1e-13 && other.relative_error() < 1e-13, "{what}: {one:?}, {other:?}");
}

#[test]
fn maxima_minima_and_means_are_what_they_say() {
    let curve =
        |p: &str, size| CountFamily::new(&number(p), &number(p), None).unwrap().of_size(size).unwrap();
    let (small, large) = (curve("1/2", 4), curve("1/2", 100));
    let at = number("0.1");
    let delta = |curve: &Curve| curve.delta(&at, &Uninterrupted).unwrap();
    assert_eq!(delta(&Curve::Max(vec![small.clone(), large.clone()])), delta(&small));
    assert_eq!(delta(&Curve::Min(vec![small.clone(), large.clone()])), delta(&large));
    let quarter = Weight::from(number("1/4"));
    let mean = delta(&Curve::Mean(vec![(quarter.clone(), small.clone()), (quarter, small.clone())]));
    assert!((2.0 * mean.midpoint().unwrap() - delta(&small).midpoint().unwrap()).abs() < 1e-15);
}

#[test]
fn epsilon_is_the_least_that_reaches_delta() {
    for (p, size) in [("1/2", 10), ("3/10", 100), ("1/7", 3000), ("0.999", 50)] {
        let curve = CountFamily::new(&number(p), &number(p), None).unwrap().of_size(size).unwrap();
        for delta in ["0.3", "0.01", "1e-5", "1e-9"].map(number) {
            let epsilon = inverse::epsilon(&curve, &delta, &Uninterrupted).unwrap();
            let mass = curve.infinity_mass(&Uninterrupted).unwrap();
            if epsilon.upper().is_infinite() {
                assert!(delta < Rational::from_f64(mass.lower()).unwrap(), "p={p} n={size} {delta:?}");
                continue;
            }
            let reached = curve.delta(&Rational::from_f64(epsilon.upper()).unwrap(), &Uninterrupted).unwrap();
            assert!(
                Rational::from_f64(reached.upper()).unwrap() <= delta,
                "p={p} n={size} {delta:?}: {epsilon:?}"
            );
            assert!(
                epsilon.width() <= 1e-9 * epsilon.upper().max(1e-3),
                "p={p} n={size} {delta:?}: {epsilon:?}"
            );
            if epsilon.lower() > 0.0 {
                let before = Rational::from_f64(epsilon.lower()).unwrap();
                let missed = curve.delta(&before, &Uninterrupted).unwrap();
                assert!(Rational::from_f64(missed.upper()).unwrap() >= delta, "p={p} n={size} {delta:?}");
            }
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let half = || number("1/2");
    assert!(CountFamily::new(&number("3/5"), &number("2/5"), None).is_err());
    assert!(CountFamily::new(&number("-1/5"), &half(), None).is_err());
    assert!(CountFamily::new(&half(), &number("6/5"), None).is_err());
    let family = CountFamily::new(&half(), &half(), None).unwrap();
    assert!(family.of_size(0).is_err() && family.of_size((1 << 53) + 1).is_err());
    assert!(family.sampled(3, &number("0")).is_err() && family.sampled(3, &number("5/4")).is_err());
    assert!(MeanOverSizes::known_entries(5, 5, 3, family.clone()).is_err());
    assert!(MeanOverSizes::known_entries(5, 1, 6, family.clone()).is_err());
    assert!(MeanOverSizes::known_entries(5, 1, 0, family.clone()).is_err());
    let curve = family.of_size(5).unwrap();
    assert!(inverse::epsilon(&curve, &number("-1"), &Uninterrupted).is_err());
}

/// Next to a tie the curve is all but its limit; a κ that rounding puts on the wrong side must not lower it.
#[test]
fn no_enclosure_misses_the_truth_across_a_tie() {
    let tie = "35.647439019432296062848665914752";
    for (digits, step) in (0..400).map(|k| (k, format!("{k}e-33"))) {
        let epsilon = number(tie).add(&number(&step)).sub(&number("2e-31"));
        let p = number("33e-17");
        let family = CountFamily::new(&p, &p, Some(Direction::OneAgainstZero)).unwrap();
        let curve = family.of_size(2).unwrap();
        let delta = curve.delta(&epsilon, &Uninterrupted).unwrap();
        // Δ is never below its limit p, and at most one part in 10^12 above it this close to the tie.
        assert!(Rational::from_f64(delta.upper()).unwrap() >= p, "{digits}: {delta:?}");
        assert!(delta.lower() <= 3.300_000_000_01e-16, "{digits}: {delta:?}");
        let sampled = CountFamily::new(&number("1e-20"), &number("1e-20"), None).unwrap();
        let sampled = sampled.sampled(2, &number("2/3")).unwrap();
        let near =
            number("45.358554679320968370947596972235007584").add(&number(&step)).sub(&number("2e-31"));
        let (below, above) = (near.sub(&number("1e-13")), near.add(&number("1e-13")));
        let at = |epsilon: &Rational| sampled.delta(epsilon, &Uninterrupted).unwrap();
        assert!(
            at(&near).upper() >= at(&above).lower() && at(&near).lower() <= at(&below).upper(),
            "{digits}"
        );
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

#[test]
fn the_least_epsilon_takes_few_evaluations() {
    for (p, size) in [("1/2", 10), ("3/10", 1000), ("1/7", 100_000), ("0.999", 50), ("1e-6", 3000)] {
        let curve = CountFamily::new(&number(p), &number(p), None).unwrap().of_size(size).unwrap();
        let counted = Curve::Mean(vec![(Weight::from(Rational::from(1i64)), curve.clone())]);
        for delta in ["0.2", "0.01", "1e-5", "1e-9", "1e-40"].map(number) {
            let asked = Counter::default();
            let epsilon = inverse::epsilon(&counted, &delta, &asked).unwrap();
            assert_eq!(epsilon, inverse::epsilon(&curve, &delta, &Uninterrupted).unwrap());
            assert!(asked.0.get() <= 40, "p={p} n={size} {delta:?}: {} evaluations", asked.0.get());
        }
    }
}

#[test]
fn a_mean_over_known_entries_evaluates_what_matters_only() {
    let p = number("2/5");
    for (n, known, size, most) in
        [(100_000, 30_000, 20_000, 1200), (100_000, 30_000, 100_000, 1), (1000, 20, 500, 21)]
    {
        let family = CountFamily::new(&p, &p, Some(Direction::OneAgainstZero)).unwrap();
        let mean = MeanOverSizes::known_entries(n, known, size, family).unwrap();
        let counter = Counter::default();
        Curve::from(mean.clone()).delta(&number("0.001"), &counter).unwrap();
        assert!(counter.0.get() <= most, "n={n} known={known} s={size}: {} evaluations", counter.0.get());
        let counter = Counter::default();
        Curve::from(mean.with_thresholds(10)).delta(&number("0.001"), &counter).unwrap();
        assert!(counter.0.get() <= 14, "n={n} known={known} s={size}: {} thresholds", counter.0.get());
    }
}

#[test]
fn the_limit_of_a_range_is_that_of_its_most_extreme_end() {
    let family = |direction| CountFamily::new(&number("1/5"), &number("3/4"), direction).unwrap();
    for (direction, limit) in [
        (Some(Direction::OneAgainstZero), "243/1024"),
        (Some(Direction::ZeroAgainstOne), "1024/3125"),
        (None, "1024/3125"),
    ] {
        let curve = family(direction).of_size(6).unwrap();
        for enclosure in [
            curve.infinity_mass(&Uninterrupted).unwrap(),
            curve.delta(&number("600"), &Uninterrupted).unwrap(),
        ] {
            assert!(
                enclosure.contains(&number(limit)) && enclosure.width() < 1e-15,
                "{direction:?}: {enclosure:?}"
            );
        }
    }
}

/// `Δ_{v,w}(−ε) = 1 − e^−ε + e^−ε Δ_{w,v}(ε)`, and a curve at a very negative ε is all but `1`.
#[test]
fn a_negative_epsilon_reflects_the_opposite_direction() {
    let one_half = Ball::ONE / Ball::from_u64(2);
    let count = |direction| CountFamily::new(&number("1/3"), &number("1/3"), Some(direction)).unwrap();
    for size in [1, 2, 7, 1000] {
        let forward = count(Direction::OneAgainstZero).of_size(size).unwrap();
        let backward = count(Direction::ZeroAgainstOne).of_size(size).unwrap();
        let reflected = forward.delta(&number("-1/2"), &Uninterrupted).unwrap();
        let opposite = backward.ball(&Epsilon::new(&number("1/2")), &Uninterrupted).unwrap();
        let expected = Ball::ONE - (-one_half).exp() * (Ball::ONE - opposite);
        let gap = expected.to_enclosure() - reflected;
        assert!(gap.contains(&number("0")) && gap.width() < 1e-15, "{size}: {gap:?}");
        assert!(forward.delta(&number("-800"), &Uninterrupted).unwrap().lower() > 0.999);
    }
}

#[test]
fn many_epsilons_give_what_each_of_them_gives() {
    let family = CountFamily::new(&number("1/3"), &number("1/3"), None).unwrap();
    let epsilons = [0.0, 1e-300, 1e-9, 2e-5, 0.01, 0.011, 0.25, 3.0, 1e9, -0.5, -1e300];
    for size in [1, 64, 100, 4096, 1 << 20, 1 << 53] {
        let curve = family.of_size(size).unwrap();
        let deltas = curve.deltas(&epsilons, &Uninterrupted).unwrap();
        assert_eq!(deltas.len(), epsilons.len());
        for (epsilon, delta) in epsilons.into_iter().zip(deltas) {
            let alone = curve.delta_at(epsilon, &Uninterrupted).unwrap();
            let overlap = delta.lower() <= alone.upper() && alone.lower() <= delta.upper();
            assert!(
                overlap && delta.width() <= 2e-13 * delta.upper() + 1e-300,
                "{size} {epsilon}: {delta:?} {alone:?}"
            );
        }
    }
    let curve = family.of_size(100).unwrap();
    for undefined in [f64::NAN, f64::INFINITY] {
        assert!(matches!(curve.deltas(&[0.1, undefined], &Uninterrupted), Err(Error::Argument(_))));
    }
    assert!(curve.deltas(&[], &Uninterrupted).unwrap().is_empty());
}

/// Tests have digits; far enough out nothing is left of those over a closed range, and those over a range down to 0 fall for ever.
#[test]
fn tests_over_a_range_have_digits_and_those_over_a_closed_one_a_limit() {
    for (lower, is_closed) in [("1/20", true), ("0", false)] {
        let tests = BinomialPeaks::new(40, vec![3, 30], &number(lower), &number("9/10")).unwrap();
        for direction in Direction::BOTH {
            let curve = Curve::from(Directed(tests.clone(), direction));
            for epsilon in ["0", "1/10", "1", "2"].map(number) {
                let found = curve.delta(&epsilon, &Uninterrupted).unwrap();
                let digits =
                    statpriv_core::curve::digits::delta(&curve, &epsilon, 30, &Uninterrupted).unwrap();
                for end in [digits.lower(), digits.upper()] {
                    assert!(
                        found.contains(&end.to_rational().unwrap()),
                        "{direction:?} {epsilon:?} {found:?}"
                    );
                }
            }
            let limit = statpriv_core::curve::digits::infinity_mass(&curve, 10, &Uninterrupted);
            if is_closed {
                assert_eq!(limit.unwrap().upper().to_rational(), Some(number("0")));
            } else {
                assert!(matches!(limit, Err(Error::Precision(_))), "{direction:?}");
            }
        }
    }
}
