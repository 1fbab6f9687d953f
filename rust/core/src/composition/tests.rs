use super::*;
use crate::composition::Composed;
use crate::interrupt::Uninterrupted;
use proptest::prelude::*;

pub(super) fn rational(text: &str) -> Rational {
    Rational::parse(text).unwrap()
}

/// The two directions of a property on `size` of `n` entries.
pub(super) fn property(n: u64, size: u64, p: &Rational) -> Vec<Vec<Part>> {
    let zero = Rational::from(0i64);
    let q = Rational::from(1i64).sub(p);
    let share = Rational::from(1i64).div(&Rational::from(n)).unwrap();
    let part = |one: (&Rational, &Rational), other: (&Rational, &Rational)| {
        let cell = |mass: &Rational, (first, second): (&Rational, &Rational)| Cell {
            mass: mass.clone(),
            first: first.clone(),
            second: second.clone(),
        };
        vec![Part::Entries { count: size, cells: vec![cell(p, one), cell(&q, other)] }]
    };
    vec![part((&share, &zero), (&zero, &share)), part((&zero, &share), (&share, &zero))]
}

/// This number of attributes, each of one entry and with the same probability.
pub(crate) fn alike(count: u64, n: u64, p: &str) -> Composition {
    let unused = Rational::from(n - count).div(&Rational::from(n)).unwrap();
    Composition::new(unused, vec![Attributes { count, choices: property(n, 1, &rational(p)) }]).unwrap()
}

pub(crate) fn partition(n: u64, parts: &[(u64, &str)], pattern: Option<&[usize]>) -> Composition {
    let used: u64 = parts.iter().map(|(size, _)| size).sum();
    let attributes = parts.iter().enumerate().map(|(k, (size, p))| {
        let choices = property(n, *size, &rational(p));
        let choices = match pattern {
            Some(chosen) => vec![choices[chosen[k]].clone()],
            None => choices,
        };
        Attributes { count: 1, choices }
    });
    let unused = Rational::from(n - used).div(&Rational::from(n)).unwrap();
    Composition::new(unused, attributes.collect()).unwrap()
}

fn delta(composition: &Composition, epsilon: &str) -> (Ball, Ball) {
    let at = Epsilon::new(&rational(epsilon));
    if composition.is_exact() {
        let value = composition.exactly(&at, &Uninterrupted).unwrap();
        return (value, value);
    }
    let end = |end| composition.delta(&at, end, &Uninterrupted).unwrap();
    (end(End::Lower), end(End::Upper))
}

/// Sizes and probabilities of parts, the probabilities evenly between two ends.
pub(crate) fn evenly(count: u64, size: u64, [from, to]: [u64; 2], scale: u64) -> Vec<(u64, String)> {
    let steps = count - 1;
    (0..count).map(|k| (size, format!("{}/{}", from * steps + (to - from) * k, scale * steps))).collect()
}

pub(crate) fn borrowed(parts: &[(u64, String)]) -> Vec<(u64, &str)> {
    parts.iter().map(|(size, p)| (*size, p.as_str())).collect()
}

/// A number printed to some digits. The last digit may have been rounded or cut.
fn is_printed_as(ball: Ball, printed: f64, last: f64, width: f64) -> bool {
    let ends = ball.to_enclosure();
    ends.lower() <= printed + last && printed - last <= ends.upper() && ends.width() <= width * ends.upper()
}

/// The worst pattern, and the choice of each part in it.
fn worst(composition: &Composition, epsilon: &str) -> Vec<usize> {
    let pattern = composition.worst_pairs(&Epsilon::new(&rational(epsilon)), &Uninterrupted).unwrap();
    pattern.iter().map(|counts| counts.iter().position(|count| *count == 1).unwrap()).collect()
}

fn envelope(composition: &Composition, epsilon: &str) -> Ball {
    let epsilon = Epsilon::new(&rational(epsilon));
    let prepared = Prepared::new(composition, &epsilon, End::Upper, &Uninterrupted).unwrap();
    prepared.envelope(&prepared.dominating(&Uninterrupted).unwrap(), &Uninterrupted).unwrap()
}

#[test]
fn mixed_patterns_can_be_the_worst() {
    let cases = [
        (7, [6, 1], "0.1", 0.297_243_8, 0.310_571_3),
        (15, [4, 1], "0.1", 0.091_911_3, 0.096_685_3),
        (15, [14, 1], "1", 0.031_783_7, 0.034_743_2),
    ];
    for (n, sizes, epsilon, plain, mixed) in cases {
        let parts = sizes.map(|size| (size, "3/10"));
        let of = |pattern: &[usize]| delta(&partition(n, &parts, Some(pattern)), epsilon).0;
        assert!(is_printed_as(of(&[0, 0]).max(of(&[1, 1])), plain, 6e-8, 1e-15));
        assert!(is_printed_as(of(&[0, 1]).max(of(&[1, 0])), mixed, 6e-8, 1e-15));
        let all = partition(n, &parts, None);
        assert!(is_printed_as(delta(&all, epsilon).1, mixed, 6e-8, 1e-15));
        assert_ne!(worst(&all, epsilon)[0], worst(&all, epsilon)[1]);
    }
}

#[test]
fn eight_parts_by_pattern_all_patterns_and_their_bound() {
    let even = evenly(8, 50, [1, 7], 10);
    let uneven: Vec<(u64, String)> =
        [1, 2, 3, 4, 5, 6, 7, 5].iter().map(|tenths| (50, format!("{tenths}/10"))).collect();
    let cases = [
        (even, [0.026_573_249_199_0, 0.026_872_568_1, 0.026_988_869_136_3]),
        (uneven, [0.026_112_788_8, 0.026_367_075_913_1, 0.026_469_484_435_2]),
    ];
    for (parts, [ones, zeros, all]) in cases {
        let parts = borrowed(&parts);
        for (pattern, printed) in [([0; 8], ones), ([1; 8], zeros)] {
            let value = delta(&partition(400, &parts, Some(&pattern)), "0.05").0;
            assert!(is_printed_as(value, printed, 1e-10, 1e-8), "{:?} {printed}", value.to_enclosure());
        }
        let composition = partition(400, &parts, None);
        assert!(composition.is_exact());
        let (lower, upper) = delta(&composition, "0.05");
        assert!(is_printed_as(lower, all, 5e-11, 1e-8), "{:?}", lower.to_enclosure());
        assert_eq!(lower.to_enclosure().upper(), upper.to_enclosure().upper());
    }
    let parts = evenly(8, 50, [1, 7], 10);
    let composition = partition(400, &borrowed(&parts), None);
    assert_eq!(worst(&composition, "0.05"), [1, 1, 1, 1, 1, 0, 0, 0]);
    assert!(is_printed_as(envelope(&composition, "0.05"), 0.027_69, 6e-6, 2e-6));
}

#[test]
fn many_parts_are_enclosed_between_a_pattern_and_a_bound() {
    let parts = evenly(512, 64, [1, 9], 10);
    let all = partition(32768, &borrowed(&parts), None);
    assert!(!all.is_exact());
    let (lower, upper) = delta(&all, "0.02");
    assert!(is_printed_as(lower, 0.000_351_758_90, 3e-10, 1e-6), "{:?}", lower.to_enclosure());
    assert!(is_printed_as(envelope(&all, "0.02"), 0.000_380_60, 6e-9, 2e-6));
    assert!((upper / lower).to_enclosure().upper() <= 1.0001, "{:?}", upper.to_enclosure());
    let ones = parts.iter().position(|(_, p)| rational(p) > rational("1/2")).unwrap();
    let expected: Vec<usize> = (0..512).map(|k| usize::from(k < ones)).collect();
    assert_eq!(worst(&all, "0.02"), expected, "all parts with p > 1/2 at 1, the rest at 0");
    // The one pattern by itself.
    let alone = delta(&partition(32768, &borrowed(&parts), Some(&expected)), "0.02").0;
    assert!(!alone.certainly_less(lower) && !lower.certainly_less(alone));
}

#[test]
fn a_bound_of_all_patterns_is_above_each_and_below_the_sum_of_theorem_5_1() {
    let cases: [&[(u64, &str)]; 3] = [
        &[(3, "1/10"), (4, "3/10"), (2, "1/2"), (5, "4/5")],
        &[(1, "1/3"), (1, "2/5"), (1, "3/7")],
        &[(20, "1/20"), (30, "9/10")],
    ];
    for parts in cases {
        let used: u64 = parts.iter().map(|(size, _)| size).sum();
        for n in [used, 2 * used] {
            for epsilon in ["0", "1/20", "1/2", "3"] {
                let composition = partition(n, parts, None);
                let bound = envelope(&composition, epsilon);
                for pattern in composition.all_patterns() {
                    let value = delta(&composition.only(&pattern), epsilon).0;
                    assert!(!bound.certainly_less(value), "{parts:?} {n} {epsilon} {pattern:?}");
                }
                let sum = parts.iter().fold(Ball::ZERO, |sum, (size, p)| {
                    let share = Ball::from_u64(*size) / Ball::from_u64(n);
                    sum + share * delta(&partition(*size, &[(*size, *p)], None), epsilon).1
                });
                assert!(
                    !(sum * Ball::from_f64(1.0 + 1e-5).unwrap()).certainly_less(bound),
                    "{parts:?} {n} {epsilon} {:?} {:?}",
                    sum.to_enclosure(),
                    bound.to_enclosure()
                );
            }
        }
    }
}

#[test]
fn one_property_in_many_parts_is_one_count() {
    // Attributes with one law are classes of their own, but with one sign they merge to one binomial.
    for epsilon in ["0", "1/5", "2"] {
        let one = delta(&partition(60, &[(60, "3/10")], Some(&[0])), epsilon).0;
        let many = delta(&partition(60, &[(10, "3/10"); 6], Some(&[0; 6])), epsilon).0;
        assert!(!one.certainly_less(many) && !many.certainly_less(one));
        assert!(many.to_enclosure().width() <= 1e-14 * many.to_enclosure().upper());
    }
}

/// The counts of a property as answers: three laws instead of cells.
pub(super) fn as_answer(n: u64, size: u64, p: &str, ones_first: bool) -> Part {
    let others = crate::answer::Law::binomial(size - 1, &rational(p)).unwrap();
    let (one, zero) = (others.shifted(1).unwrap(), others);
    let (first, second) = if ones_first { (one, zero) } else { (zero, one) };
    let weight = Rational::from(size).div(&Rational::from(n)).unwrap();
    let reference = crate::answer::Law::binomial(size, &rational(p)).unwrap();
    Part::Answer { weight, first, second, reference }
}

#[test]
fn cells_and_answers_say_the_same() {
    let cases: [(u64, &[(u64, &str)]); 5] = [
        (9, &[(4, "1/3"), (3, "4/5")]),
        (12, &[(4, "0"), (3, "1"), (5, "1/2")]),
        (1000, &[(400, "1/3"), (300, "1/10")]),
        (300, &[(60, "1/3"), (60, "1/10"), (60, "2/3"), (60, "7/9"), (60, "1/100")]),
        // Windows of laws with more than 4096 answers.
        (20_000, &[(9000, "1/3"), (9000, "2/7")]),
    ];
    for (n, parts) in cases {
        for epsilon in ["0", "1/30", "1"] {
            for first in [0, 1] {
                let pattern: Vec<usize> = (0..parts.len()).map(|k| (k + first) % 2).collect();
                let cells = delta(&partition(n, parts, Some(&pattern)), epsilon).0;
                let unused = n - parts.iter().map(|(size, _)| size).sum::<u64>();
                let attributes = parts.iter().zip(&pattern).map(|((size, p), choice)| Attributes {
                    count: 1,
                    choices: vec![vec![as_answer(n, *size, p, *choice == 0)]],
                });
                let unused = Rational::from(unused).div(&Rational::from(n)).unwrap();
                let answers = Composition::new(unused, attributes.collect()).unwrap();
                let found = delta(&answers, epsilon).0;
                let note =
                    format!("{n} {parts:?} {epsilon} {:?} {:?}", cells.to_enclosure(), found.to_enclosure());
                assert!(!cells.certainly_less(found) && !found.certainly_less(cells), "{note}");
                let upper = found.to_enclosure().upper();
                assert!(found.to_enclosure().width() <= 1e-6 * upper.max(1e-100), "{note}");
                let limit = answers.infinity_mass(&Uninterrupted).unwrap();
                let same = partition(n, parts, Some(&pattern)).infinity_mass(&Uninterrupted).unwrap();
                assert!(!limit.certainly_less(same) && !same.certainly_less(limit), "{note}");
            }
        }
    }
}

#[test]
fn far_out_only_what_gives_the_pair_away_is_left() {
    let cases: [(u64, &[(u64, &str)]); 6] = [
        (6, &[(3, "1/3"), (3, "1/2")]),
        (7, &[(3, "1/3"), (3, "1/2")]),
        (6, &[(3, "0"), (3, "1/2")]),
        (6, &[(2, "1"), (2, "0"), (2, "1/2")]),
        (5, &[(2, "1"), (2, "0")]),
        (4, &[(4, "2/3")]),
    ];
    for (n, parts) in cases {
        let composition = partition(n, parts, None);
        let limit = composition.infinity_mass(&Uninterrupted).unwrap();
        let far = delta(&composition, "300").1;
        assert!(!far.certainly_less(limit));
        assert!(
            far.to_enclosure().upper() <= limit.to_enclosure().upper() * (1.0 + 1e-14) + 1e-100,
            "{n} {parts:?}"
        );
    }
}

#[test]
fn rare_properties_large_parts_and_large_epsilons_are_enclosed() {
    let spread: Vec<(u64, String)> = (1..8).map(|k| (1000, format!("{k}/20"))).collect();
    for rare in ["1/1000", "1/10000"] {
        let parts: Vec<(u64, &str)> = [(1000, rare)].into_iter().chain(borrowed(&spread)).collect();
        for sign in [0, 1] {
            let ends = delta(&partition(8000, &parts, Some(&[sign; 8])), "0.1").0.to_enclosure();
            assert!(ends.lower() > 0.01 && ends.width() <= 1e-6 * ends.upper(), "{rare} {sign} {ends:?}");
        }
    }
    for epsilon in ["300", "700", "1000"] {
        let ends = delta(&partition(8000, &borrowed(&spread), Some(&[0; 7])), epsilon).1.to_enclosure();
        assert!(ends.upper() <= 1e-300, "{epsilon} {ends:?}");
    }
    // A part of 10⁶ entries is nearly Gaussian: Δ(0) = max b(k) ≈ 1/√(2πnpq).
    let large = delta(&partition(3_000_000, &[(1_000_000, "1/2"); 3], Some(&[0; 3])), "0").0.to_enclosure();
    let gaussian = 1.0 / (std::f64::consts::TAU * 3e6 * 0.25).sqrt();
    assert!((large.upper() / gaussian - 1.0).abs() < 1e-6 && large.width() <= 1e-12 * large.upper());
}

/// Nineteen entries that may have either law of one: all of them alike, with 3/5, and any one of them the critical one, with `1/19/(3/5)` each, is
/// what tells. So the bound has the limit (3/5)^18, and reaches it before ε = 5.
#[test]
fn a_bound_of_all_patterns_is_narrow_at_large_epsilons() {
    let composition = Composition::new(
        rational("0"),
        vec![Attributes { count: 19, choices: property(19, 1, &rational("2/5")) }],
    )
    .unwrap();
    for epsilon in ["5", "14", "20", "32", "64", "500", "1000"] {
        let found = envelope(&composition, epsilon);
        assert!(is_printed_as(found, 0.000_101_559_956_668_416, 1e-18, 1e-14), "{epsilon} {found:?}");
    }
}

/// Sixteen attributes have 2^16 patterns. Branch and bound leaves the worst.
#[test]
fn what_branch_and_bound_finishes_is_enclosed_narrowly() {
    let parts = evenly(16, 64, [1, 9], 10);
    let all = partition(1024, &borrowed(&parts), None);
    let [lower, upper] = all.ends(&Epsilon::new(&rational("1/20")), &Uninterrupted).unwrap();
    assert!(is_printed_as(lower.hull(upper), 0.012_093_21, 1e-8, 1e-6), "{:?}", lower.to_enclosure());
    assert!((envelope(&all, "1/20") - upper).is_positive());
    let chosen = worst(&all, "1/20");
    let attained = delta(&partition(1024, &borrowed(&parts), Some(&chosen)), "1/20").0;
    assert!(!attained.certainly_less(lower));
}

/// With a property that one of 10⁴ has, it is nearly all of δ that the part has one: patterns of the others hardly differ.
#[test]
fn patterns_that_hardly_differ_are_bounded_together() {
    let rest = (1..6).map(|k| (1000, format!("{k}/20")));
    let parts: Vec<(u64, String)> = [(1000, "1/10000".to_owned())].into_iter().chain(rest).collect();
    let found = delta(&partition(8000, &borrowed(&parts), None), "1/10").0;
    let one = delta(&partition(8000, &borrowed(&parts), Some(&[0; 6])), "1/10").0;
    assert!(
        !found.certainly_less(one) && found.to_enclosure().width() <= 1e-6 * found.to_enclosure().upper()
    );
}

/// Forty attributes whose patterns are too many to try: what tells is that all ten entries of each part are alike.
#[test]
fn many_parts_have_a_narrow_bound_at_large_epsilons() {
    let parts = evenly(40, 10, [20, 59], 100);
    let composition = partition(400, &borrowed(&parts), None);
    let [early, late] = ["10", "64"].map(|epsilon| envelope(&composition, epsilon).to_enclosure());
    assert!(early.width() <= 1e-11 * early.upper() && late.width() <= 1e-11 * late.upper());
    assert!((early.upper() / late.upper() - 1.0).abs() <= 1e-11, "{early:?} {late:?}");
}

/// Cells of one part, more entries than are gone through one by one.
#[test]
fn one_part_of_many_entries_in_three_cells() {
    let third = rational("1/3");
    let (share, zero) = (rational("1/200"), rational("0"));
    let cell = |first: &Rational, second: &Rational| Cell {
        mass: third.clone(),
        first: first.clone(),
        second: second.clone(),
    };
    let cells = vec![cell(&share, &zero), cell(&zero, &share), cell(&zero, &zero)];
    let parts = vec![Part::Entries { count: 200, cells }];
    let histogram =
        Composition::new(zero.clone(), vec![Attributes { count: 1, choices: vec![parts] }]).unwrap();
    let (value, _) = delta(&histogram, "0.1");
    let ends = value.to_enclosure();
    assert!(ends.width() <= 1e-8 * ends.upper());
    // The mean of Δ_{t+1}(0.1; 1/2) over t with the law Bin(199, 2/3).
    assert!(value.to_enclosure().contains(&rational("0.0319384688653670534")));
}

/// Of one part with these numbers, the rest of the entries in none.
fn of_one(part: Part) -> Result<Composition, Error> {
    let unused = Rational::from(1i64).sub(&part.weight());
    Composition::new(unused, vec![Attributes { count: 1, choices: vec![vec![part]] }])
}

fn message(found: Result<Composition, Error>) -> String {
    match found {
        Err(Error::Argument(message)) => message,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn attributes_without_parts_or_with_different_ones_are_refused() {
    let half = property(2, 1, &rational("1/2"));
    let [one, other] = [half[0].clone(), half[1].clone()];
    let of = |count: u64, choices: Vec<Vec<Part>>| {
        message(Composition::new(rational("1/2"), vec![Attributes { count, choices }]))
    };
    let needed = "every attribute needs parts, as many for each pair of values";
    assert_eq!(message(Composition::new(rational("1"), Vec::new())), needed);
    assert_eq!(of(0, vec![one.clone()]), needed);
    assert_eq!(of(1, Vec::new()), needed);
    assert_eq!(of(1, vec![Vec::new(), Vec::new()]), needed);
    assert_eq!(of(1, vec![one.clone(), [one.clone(), other.clone()].concat()]), needed);
    let light = property(4, 1, &rational("1/2")).swap_remove(0);
    assert_eq!(
        of(1, vec![one.clone(), light]),
        "the parts of an attribute have one weight, whatever its values"
    );
    assert_eq!(of(2, vec![one.clone()]), "the weights of the parts sum to 3/2, not to one");
    assert!(
        Composition::new(rational("1/2"), vec![Attributes { count: 1, choices: vec![one, other] }]).is_ok()
    );
}

#[test]
fn cells_that_are_no_law_are_refused() {
    let of = |cells: &[[&str; 3]]| {
        let cell = |[mass, first, second]: [&str; 3]| Cell {
            mass: rational(mass),
            first: rational(first),
            second: rational(second),
        };
        of_one(Part::Entries { count: 2, cells: cells.iter().copied().map(cell).collect() })
    };
    assert!(of(&[["1/3", "1/4", "0"], ["2/3", "0", "1/4"]]).is_ok());
    for cells in [
        [["1/3", "1/4", "0"], ["1/3", "0", "1/4"]],
        [["1/3", "1/4", "0"], ["2/3", "0", "1/8"]],
        [["-1/3", "1/4", "0"], ["4/3", "0", "1/4"]],
        [["1/3", "-1/4", "0"], ["2/3", "1/2", "1/4"]],
        [["1/3", "1/4", "-1/4"], ["2/3", "0", "1/2"]],
    ] {
        assert_eq!(
            message(of(&cells)),
            "cells need probabilities of sum one, and one weight for both values"
        );
    }
}

#[test]
fn ranges_and_gates_that_say_nothing_are_refused() {
    let range = |lower: &str, upper: &str| {
        of_one(Part::Range {
            count: 3,
            share: rational("1/9"),
            lower: rational(lower),
            upper: rational(upper),
        })
    };
    assert!(range("1e-9", "0.999999999").is_ok() && range("1/2", "1/2").is_ok());
    for (lower, upper) in [("0", "1/2"), ("-1/9", "1/2"), ("2/3", "1/2"), ("1/2", "1"), ("1/2", "9/8")] {
        assert_eq!(
            message(range(lower, upper)),
            "a range of probabilities strictly between 0 and 1 is required"
        );
    }
    let gate = |count, least, most| of_one(Part::Gated { count, share: rational("1/9"), least, most });
    assert!(gate(9, 2, 7).is_ok() && gate(9, 4, 4).is_ok());
    for (count, least, most) in [(9, 1, 7), (9, 2, 8), (9, 5, 4), (9, 2, u64::MAX), (3, 2, 2)] {
        assert_eq!(
            message(gate(count, least, most)),
            "a gate from 2 or more to count − 2 or less is required"
        );
    }
}

#[test]
fn weights_below_zero_are_refused() {
    let Part::Answer { first, second, reference, .. } = as_answer(9, 3, "1/2", true) else { panic!() };
    let answer = |weight: &str| {
        let (first, second, reference) = (first.clone(), second.clone(), reference.clone());
        of_one(Part::Answer { weight: rational(weight), first, second, reference })
    };
    let rounded = |weight: &str| {
        let (first, second, reference) = (first.clone(), second.clone(), reference.clone());
        of_one(Part::Rounded { weight: rational(weight), first, second, reference })
    };
    assert!(answer("0").is_ok() && rounded("0").is_ok());
    assert_eq!(message(answer("-1/9")), "a weight is at least 0");
    assert_eq!(message(rounded("-1/9")), "a weight is at least 0");
}

/// Even of one value each: their number may be anything.
#[test]
fn more_than_64_equal_summands_are_not_gone_through_one_by_one() {
    let is_short = |count| {
        let atoms = vec![sum::Atom { value: Ball::ONE, mass: Ball::ONE }];
        sum::Sum { constant: Ball::ZERO, summands: vec![sum::Summand { count, atoms }] }.is_short()
    };
    assert_eq!([64, 65, 1 << 60].map(is_short), [true, false, false]);
}

/// It counts once itself, and again as much as all other summands can add beside it.
#[test]
fn what_is_missing_of_a_part_is_missing_of_the_sum() {
    let part = Part::Gated { count: 40, share: rational("1/80"), least: 10, most: 30 };
    let epsilon = Epsilon::new(&rational("1/2"));
    let composition = of_one(part).unwrap();
    let prepared = Prepared::new(&composition, &epsilon, End::Upper, &Uninterrupted).unwrap();
    let (_, alone) =
        gate::dominating(40, &rational("1/80"), [10, 30], prepared.ratio, &Uninterrupted).unwrap();
    let missing = prepared.dominating(&Uninterrupted).unwrap().missing;
    assert!(alone.is_positive() && !missing.certainly_less(alone));
    assert!(missing.certainly_less(alone + alone), "{missing:?} {alone:?}");
}

/// What has a law for each pattern, and few of these, is evaluated pattern by pattern: 1024 are, 1025 are not.
#[test]
fn what_is_enclosed_itself_and_what_by_a_bound() {
    let alike = |count: u64| alike(count, 2000, "1/2");
    assert_eq!([1023, 1024].map(|count| alike(count).patterns()), [1024.0, 1025.0]);
    assert!(alike(1023).is_exact() && !alike(1024).is_exact());
    let Part::Answer { weight, first, second, reference } = as_answer(9, 3, "1/2", true) else { panic!() };
    let answer = of_one(Part::Answer {
        weight: weight.clone(),
        first: first.clone(),
        second: second.clone(),
        reference: reference.clone(),
    })
    .unwrap();
    let rounded = of_one(Part::Rounded { weight, first, second, reference }).unwrap();
    let range = of_one(Part::Range {
        count: 3,
        share: rational("1/9"),
        lower: rational("1/3"),
        upper: rational("1/2"),
    })
    .unwrap();
    let gate = of_one(Part::Gated { count: 9, share: rational("1/9"), least: 2, most: 7 }).unwrap();
    let about = |one: &Composition| (one.is_exact(), one.has_ranges(), one.has_rounded());
    assert_eq!(about(&answer), (true, false, false));
    assert_eq!(about(&rounded), (false, false, true));
    assert_eq!(about(&range), (false, true, false));
    assert_eq!(about(&gate), (false, true, false));
}

/// A histogram of three cells has `C(4, 2) = 6` ways to give two attributes their pairs, four attributes `C(5, 1)` with two.
#[test]
fn patterns_are_counted_as_they_are_listed() {
    for (count, choices, ways) in [(1, 1, 1), (4, 2, 5), (2, 3, 6), (3, 4, 20)] {
        let choice = property(40, 1, &rational("1/2")).swap_remove(0);
        let unused = rational("1").sub(&Rational::from(count).div(&rational("40")).unwrap());
        let attributes = vec![Attributes { count, choices: vec![choice; choices] }];
        let composition = Composition::new(unused, attributes).unwrap();
        assert_eq!(composition.all_patterns().len(), ways);
        assert_eq!(composition.patterns(), ways as f64);
    }
}

/// A property or a histogram of three cells for each part, in small numbers; entries that no part holds.
fn small() -> impl Strategy<Value = Composition> {
    let part = (1u64..4, 0u64..=6, any::<bool>());
    (prop::collection::vec(part, 1..4), 0u64..3).prop_map(|(parts, unused)| {
        let n = unused + parts.iter().map(|(size, ..)| size).sum::<u64>();
        let attributes = parts.into_iter().map(|(size, sixths, is_answer)| {
            let p = Rational::from(sixths).div(&rational("6")).unwrap();
            let choices = if is_answer {
                [true, false].map(|ones_first| vec![as_answer(n, size, &p.shown(), ones_first)]).into()
            } else {
                property(n, size, &p)
            };
            Attributes { count: 1, choices }
        });
        let unused = Rational::from(unused).div(&Rational::from(n)).unwrap();
        Composition::new(unused, attributes.collect()).unwrap()
    })
}

/// `Δ` of the worst pattern by rationals, which go through all answers together.
fn exactly(composition: &Composition, ratio: &Rational) -> Rational {
    let curve = crate::curve::Curve::from(Composed::new(std::sync::Arc::new(composition.clone()), None));
    crate::curve::exact::exact_delta(&curve, ratio, &Uninterrupted).unwrap()
}

/// ε next to `ln ratio`, below and above.
fn around(ratio: &Rational) -> [Epsilon; 2] {
    let logarithm = Ball::from_rational(ratio).ln().to_enclosure();
    [logarithm.lower(), logarithm.upper()].map(|at| Epsilon::from_f64(at.max(0.0)).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(30, 100)))]

    /// δ falls, so that its values at two doubles next to ε enclose the one at it.
    #[test]
    fn small_compositions_have_the_value_of_all_answers_together(composition in small(), eighths in 8u64..30) {
        let ratio = Rational::from(eighths).div(&rational("8")).unwrap();
        let truth = crate::numbers::enclosure::Enclosure::from(&exactly(&composition, &ratio));
        let [before, after] = around(&ratio).map(|at| composition.exactly(&at, &Uninterrupted).unwrap().to_enclosure());
        prop_assert!(after.lower() <= truth.upper() && truth.lower() <= before.upper(), "{after:?} {truth:?} {before:?}");
        prop_assert!(before.upper() - after.lower() <= 1e-14, "{after:?} {before:?}");
        let [lower, upper] = composition.ends(&around(&ratio)[0], &Uninterrupted).unwrap().map(Ball::to_enclosure);
        prop_assert!(upper.upper() >= truth.lower() && lower.lower() <= before.upper());
        let found = composition.worst_pairs(&around(&ratio)[0], &Uninterrupted).unwrap();
        let attained = crate::numbers::enclosure::Enclosure::from(&exactly(&composition.only(&found), &ratio));
        prop_assert!(truth.upper() - attained.lower() <= 1e-14, "{found:?}");
    }

    /// The likelihood ratios of few entries are below 10^30, but where they are infinite.
    #[test]
    fn the_limit_of_small_compositions_is_that_of_all_answers_together(composition in small()) {
        let truth = exactly(&composition, &rational("1e30"));
        let limit = composition.infinity_mass(&Uninterrupted).unwrap().to_enclosure();
        prop_assert!(limit.contains(&truth) && limit.width() <= 1e-15, "{limit:?} {}", truth.shown());
    }

    /// By inversion, as narrowly as was asked for where the law is not far from a density.
    #[test]
    fn an_inversion_of_small_compositions_contains_the_value(composition in small(), eighths in 8u64..14) {
        let ratio = Rational::from(eighths).div(&rational("8")).unwrap();
        let [before, after] = around(&ratio);
        for pattern in composition.all_patterns() {
            let truth = crate::numbers::enclosure::Enclosure::from(&exactly(&composition.only(&pattern), &ratio));
            let value = |at: &Epsilon| {
                let prepared = Prepared::new(&composition, at, End::Upper, &Uninterrupted).unwrap();
                prepared.value(&pattern, Goal::About(1e-3), &Uninterrupted).unwrap().to_enclosure()
            };
            prop_assert!(value(&after).lower() <= truth.upper() && truth.lower() <= value(&before).upper(), "{pattern:?}");
        }
    }
}

/// A range is cut into 32 cells, with a law for either pair of values each; into 16 where laws are long; a point is one.
#[test]
fn ranges_are_cut_into_cells() {
    let laws = |count: u64, lower: &str, upper: &str| {
        let share = rational("1/100000");
        range::alternatives(count, &share, &rational(lower), &rational(upper), Ball::ONE).unwrap().len()
    };
    assert_eq!([laws(4095, "1/3", "2/3"), laws(4096, "1/3", "2/3"), laws(9, "1/3", "1/3")], [64, 32, 2]);
}

/// Of values that are never taken every pair says the same: of twelve equal patterns δ is known as narrowly as of one.
#[test]
fn many_equal_patterns_of_few_answers_are_as_narrow_as_one() {
    let of = |copies: usize| {
        let pairs = property(3, 2, &rational("1/2"));
        let same = vec![pairs[0].clone(); copies];
        let attributes = vec![
            Attributes { count: 1, choices: same },
            Attributes { count: 1, choices: property(3, 1, &rational("1/3")) },
        ];
        Composition::new(Rational::from(0i64), attributes).unwrap()
    };
    let (once, again) = (delta(&of(1), "1/7").0.to_enclosure(), delta(&of(6), "1/7").0.to_enclosure());
    assert!(again.width() <= 1e-15 * again.upper());
    assert!(once.lower() <= again.upper() && again.lower() <= once.upper());
}

/// Eight different parts of fifty entries, with forty entries that are not used.
fn eight_of_fifty() -> Composition {
    partition(440, &borrowed(&evenly(8, 50, [1, 7], 10)), None)
}

#[test]
fn a_few_digits_of_delta_are_as_wide_as_asked_for_and_contain_it() {
    let composition = eight_of_fifty();
    for (epsilon, width) in [("0.05", 1e-2), ("0.05", 1e-4), ("0.3", 1e-2)] {
        let epsilon = Epsilon::new(&rational(epsilon));
        let truth = composition.exactly(&epsilon, &Uninterrupted).unwrap().to_enclosure();
        let found = composition.within(width, &epsilon, &Uninterrupted).unwrap().to_enclosure();
        assert!(found.lower() <= truth.upper() && truth.lower() <= found.upper(), "{found:?} {truth:?}");
        assert!(found.width() <= 4.0 * width * found.upper(), "{width} {found:?}");
    }
    let far_out =
        composition.within(1e-2, &Epsilon::new(&rational("2.8")), &Uninterrupted).unwrap().to_enclosure();
    assert!(0.0 < far_out.upper() && far_out.upper() < 1e-64, "{far_out:?}");
}

/// Of a part with `p` the sum is at most `50/(440 min(p, q))`, and `w_0 (1 − r)` with `w_0 = 1/11` is added: it may be positive up to `r = 1 + (5/4) Σ 1/min(p, q)`.
#[test]
fn delta_is_positive_as_long_as_some_answers_speak_for_the_first_values() {
    let composition = eight_of_fifty();
    let least = |k: u64| {
        let p = Rational::from(7 + 6 * k).div(&Rational::from(70u64)).unwrap();
        let q = Rational::from(1i64).sub(&p);
        Rational::from(1i64).div(&p.min(q)).unwrap()
    };
    let sum = (0..8).fold(Rational::from(0i64), |sum, k| sum.add(&least(k)));
    let ratio = Rational::from(1i64).add(&sum.mul(&rational("5/4")));
    let end = Ball::from_rational(&ratio).ln().to_enclosure();
    let told = |at: f64| {
        let epsilon = Epsilon::from_f64(at).unwrap();
        composition.told_from(Ball::ZERO, &epsilon, &Uninterrupted).unwrap()
    };
    assert!(told(end.lower() * (1.0 - 1e-14)).is_positive());
    assert!(told(end.upper() * (1.0 + 1e-14)).is_not_positive());
}
