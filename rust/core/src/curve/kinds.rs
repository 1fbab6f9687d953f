//! What every kind of curve has, kind by kind; and what no curve is made of.

use super::*;
use crate::adaptive::Adaptive;
use crate::adaptive::{Asked, Next};
use crate::answer::Law;
use crate::composition::Composed;
use crate::composition::Composition;
use crate::composition::{Attributes, Cell, Part};
use crate::curve::exact::{exact_delta, exact_terms};
use crate::forms::ContinuousNoise;
use crate::forms::Directed;
use crate::forms::GroupedCount;
use crate::forms::KnownInSample;
use crate::forms::Smoothed;
use crate::forms::VariedCount;
use crate::interrupt::Uninterrupted;

fn number(text: &str) -> Rational {
    Rational::parse(text).unwrap()
}

fn ball(text: &str) -> Ball {
    Ball::from_rational(&number(text))
}

fn family(p: &str) -> CountFamily {
    CountFamily::new(&number(p), &number(p), Some(Direction::OneAgainstZero)).unwrap()
}

fn count(size: u64, p: &str) -> Curve {
    family(p).of_size(size).unwrap()
}

/// The two laws of a count, the one with the critical entry first.
fn laws(size: u64, p: &str) -> [Law; 2] {
    let others = Law::binomial(size - 1, &number(p)).unwrap();
    [others.shifted(1).unwrap(), others]
}

fn answers(size: u64, p: &str) -> Answers {
    let [one, zero] = laws(size, p);
    Answers::new(one, zero)
}

/// Equal attributes, each with this number of entries.
fn composition(attributes: u64, size: u64, population: u64) -> Composition {
    let zero = number("0");
    let share = number("1").div(&Rational::from(population)).unwrap();
    let cell = |mass: &str, first: &Rational, second: &Rational| Cell {
        mass: number(mass),
        first: first.clone(),
        second: second.clone(),
    };
    let part = |one: &Rational, zero: &Rational| {
        vec![Part::Entries { count: size, cells: vec![cell("1/3", one, zero), cell("2/3", zero, one)] }]
    };
    let unused = number("1").sub(&Rational::from(attributes * size).mul(&share));
    let choices = vec![part(&share, &zero), part(&zero, &share)];
    Composition::new(unused, vec![Attributes { count: attributes, choices }]).unwrap()
}

/// One property whose probability is known up to a range.
fn bounded() -> Composition {
    let (lower, upper) = (number("1/3"), number("1/2"));
    let range = Part::Range { count: 6, share: number("1/12"), lower, upper };
    Composition::new(number("1/2"), vec![Attributes { count: 1, choices: vec![vec![range]] }]).unwrap()
}

fn composed(composition: Composition, end: Option<End>) -> Curve {
    Curve::from(Composed::new(Arc::new(composition), end))
}

fn adaptive() -> Adaptive {
    let asked = |next: Vec<Next>| Asked {
        weight: number("1/2"),
        laws: laws(3, "1/3"),
        reference: Law::binomial(3, &number("1/3")).unwrap(),
        next,
    };
    let next = vec![Next { first: 0, last: 3, node: 1 }];
    Adaptive::new(vec![vec![asked(next)], vec![asked(Vec::new())]]).unwrap()
}

fn kinds() -> Vec<(&'static str, Curve)> {
    let one = Direction::OneAgainstZero;
    let groups = vec![(4, number("1/3")), (3, number("3/4"))];
    let noise = ContinuousNoise::Laplace { scale: number("2") };
    vec![
        ("pair", count(6, "1/3")),
        ("sampled pair", family("1/3").sampled(6, &number("1/2")).unwrap()),
        ("range", Curve::from(Directed(BinomialRange::new(6, &number("1/3"), &number("1/2")).unwrap(), one))),
        (
            "peaks",
            Curve::from(Directed(
                BinomialPeaks::new(9, vec![3, 6], &number("0"), &number("1")).unwrap(),
                one,
            )),
        ),
        ("grouped", Curve::from(Directed(GroupedCount::new(groups.clone()).unwrap(), one))),
        ("varied", Curve::from(Directed(VariedCount::new(groups).unwrap(), one))),
        ("known", Curve::from(Directed(KnownInSample::new(9, 3, 6, &number("1/3")).unwrap(), one))),
        ("answers", Curve::from(answers(6, "1/3"))),
        ("smoothed", Curve::from(Smoothed::new(answers(6, "1/3"), noise).unwrap())),
        ("adaptive", Curve::from(adaptive())),
        ("amplified", Curve::amplified(number("1/4"), count(6, "1/3")).unwrap()),
        ("mean", {
            let weights = ["1/4", "1/2"].map(|weight| Weight::from(number(weight)));
            Curve::Mean(weights.into_iter().zip([count(6, "1/3"), count(4, "3/4")]).collect())
        }),
        ("mean over sizes", MeanOverSizes::known_entries(9, 3, 6, family("1/3")).unwrap().into()),
        ("composed", composed(composition(2, 3, 12), None)),
        ("bound", composed(bounded(), Some(End::Dominating))),
        ("maximum", Curve::Max(vec![count(6, "1/3"), count(4, "3/4")])),
        ("minimum", Curve::Min(vec![count(6, "1/3"), count(4, "3/4")])),
    ]
}

fn at(curve: &Curve, epsilon: &str) -> Ball {
    curve.ball(&Epsilon::new(&number(epsilon)), &Uninterrupted).unwrap()
}

fn agree(one: Ball, other: Ball) -> bool {
    !one.certainly_less(other) && !other.certainly_less(one)
}

/// At ε = 300 nothing is left of a δ of few entries but what the pair gives away.
#[test]
fn a_limit_is_what_is_left_far_out() {
    for (name, curve) in kinds() {
        for curve in [curve.reversed(), curve] {
            let (limit, far) = (curve.mass_ball(&Uninterrupted).unwrap(), at(&curve, "300"));
            assert!(!far.certainly_less(limit), "{name}: {far:?} is below {limit:?}");
            let ends = far.to_enclosure();
            // A range has nothing but a bound, and its limit lies between zero and one.
            let most = limit.to_enclosure().upper() * (1.0 + 1e-12) + 1e-100;
            assert!(ends.upper() <= most, "{name}: {far:?} is above {limit:?}");
            let enclosed = curve.infinity_mass(&Uninterrupted).unwrap();
            assert!(enclosed.upper() <= 1.0 && enclosed.lower() >= 0.0);
        }
    }
}

/// `Δ_{w,v}` of a pair of laws is that of the laws in the other order.
#[test]
fn the_opposite_direction_is_another_curve_and_its_opposite_the_same_again() {
    let opposite = |curve: &Curve| exact_delta(&curve.reversed(), &number("5/4"), &Uninterrupted).unwrap();
    let [one, zero] = laws(6, "1/3");
    let expected =
        exact_delta(&Curve::from(Answers::new(zero, one)), &number("5/4"), &Uninterrupted).unwrap();
    assert_eq!(opposite(&count(6, "1/3")), expected);
    assert_eq!(opposite(&Curve::from(answers(6, "1/3"))), expected);
    for (name, curve) in kinds() {
        let (there, back) = (at(&curve.reversed(), "0.2"), at(&curve.reversed().reversed(), "0.2"));
        assert!(agree(back, at(&curve, "0.2")), "{name}");
        // The worst of both pairs of values, whichever comes first.
        let is_both = ["composed", "bound"].contains(&name);
        assert_eq!(agree(there, back), is_both, "{name}: {there:?} {back:?}");
    }
}

/// `Δ(−ε) = 1 − e^{−ε} + e^{−ε} Δ_{w,v}(ε)`.
#[test]
fn below_zero_a_curve_is_its_reflected_opposite() {
    for (name, curve) in kinds() {
        let shrink = (-Ball::from_rational(&number("0.2"))).exp();
        let expected = Ball::ONE - shrink + shrink * at(&curve.reversed(), "0.2");
        let found = at(&curve, "-0.2");
        assert!(agree(found, expected) && !agree(found, at(&curve, "0.2")), "{name}: {found:?} {expected:?}");
    }
}

/// Expressions of curves against the values of their parts, as rationals and as enclosures.
#[test]
fn expressions_are_made_of_the_values_of_their_parts() {
    let parts = [count(6, "1/3"), count(4, "3/4"), count(9, "1/2")];
    let weights = ["1/4", "1/2", "1/8"].map(number);
    let ratio = number("6/5");
    let values = parts.each_ref().map(|part| exact_delta(part, &ratio, &Uninterrupted).unwrap());
    let mean =
        weights.iter().zip(&values).fold(number("0"), |sum, (weight, value)| sum.add(&weight.mul(value)));
    let weighted = weights.into_iter().map(Weight::from).zip(parts.clone()).collect();
    let most = values.iter().max().unwrap().clone();
    let least = values.iter().min().unwrap().clone();
    let epsilon = Ball::from_rational(&ratio).ln().to_enclosure();
    for (curve, expected) in [
        (Curve::Mean(weighted), mean),
        (Curve::Max(parts.to_vec()), most),
        (Curve::Min(parts.to_vec()), least),
    ] {
        assert_eq!(exact_delta(&curve, &ratio, &Uninterrupted).unwrap(), expected);
        let [before, after] =
            [epsilon.lower(), epsilon.upper()].map(|at| curve.delta_at(at, &Uninterrupted).unwrap());
        let expected = Enclosure::from(&expected);
        assert!(after.lower() <= expected.upper() && expected.lower() <= before.upper(), "{curve:?}");
        assert!(before.width() <= 1e-14 && before.upper() - after.lower() <= 1e-14, "{curve:?}");
    }
    for empty in [Curve::Mean(Vec::new()), Curve::Max(Vec::new())] {
        assert!(at(&empty, "0.2").is_exact_zero());
        assert!(exact_delta(&empty, &ratio, &Uninterrupted).unwrap().is_zero());
    }
}

/// Laws of answers that are certainly not the greatest of several are looked at coarsely: the maximum is no wider for that.
#[test]
fn the_greatest_of_laws_of_answers_is_known_as_well_as_alone() {
    let several = [answers(6, "1/3"), answers(400, "1/2"), answers(60, "1/5")].map(Curve::from);
    let maximum = Curve::Max(several.to_vec());
    for epsilon in ["0", "0.2", "2"] {
        let values = several.each_ref().map(|curve| at(curve, epsilon));
        let most = values.iter().copied().fold(Ball::ZERO, Ball::max);
        let found = at(&maximum, epsilon);
        assert!(
            agree(found, most) && found.relative_error() <= 2.0 * most.relative_error() + 1e-25,
            "{found:?}"
        );
    }
}

#[test]
fn what_is_between_two_numbers_and_what_is_a_bound() {
    let many = composed(composition(12, 1, 12), None);
    // 1025 patterns.
    let brackets = composed(composition(1024, 1, 2048), None);
    let loose = composed(bounded(), Some(End::Upper));
    let wrapped = |curve: &Curve| {
        vec![
            Curve::amplified(number("1/4"), curve.clone()).unwrap(),
            Curve::Mean(vec![(number("1/2").into(), count(6, "1/3")), (number("1/2").into(), curve.clone())]),
            Curve::Max(vec![count(6, "1/3"), curve.clone()]),
            Curve::Min(vec![count(6, "1/3"), curve.clone()]),
        ]
    };
    let about = |curve: &Curve| (curve.is_bracket(), curve.is_loose());
    for curve in wrapped(&many).iter().chain([&many]) {
        assert_eq!(about(curve), (false, false));
    }
    for curve in wrapped(&brackets).iter().chain([&brackets]) {
        assert_eq!(about(curve), (true, false));
        for end in [End::Lower, End::Upper, End::Dominating] {
            assert_eq!(about(&curve.end(end)), (false, true), "{end:?}");
        }
    }
    for curve in wrapped(&loose).iter().chain([&loose]) {
        assert_eq!(about(curve), (false, true));
    }
    for (name, curve) in kinds() {
        assert_eq!(about(&curve), (false, name == "bound"), "{name}");
    }
}

/// Both ways to a rational are the same where there are both; where there is none, the message says so, inside of others too.
#[test]
fn what_has_exact_values_and_what_has_none() {
    let without = [
        ("smoothed", "a curve with continuous noise has no rational terms; delta() encloses it"),
        ("bound", "a bound in convex order has no exact value and no digits; delta() encloses it"),
    ];
    let only_at_ratios = "the worst p of a range depends on e^epsilon, so delta is not A − e^epsilon·B with rational A and B; \
                          exact_delta(exp_epsilon=) gives it for a rational e^epsilon";
    for (name, curve) in kinds() {
        let found = exact_delta(&curve, &number("5/4"), &Uninterrupted);
        if let Some((_, message)) = without.iter().find(|(kind, _)| *kind == name) {
            assert_eq!(found, Err(Error::precision(*message)), "{name}");
            let inside = Curve::amplified(number("1/2"), Curve::Max(vec![curve])).unwrap();
            assert_eq!(exact_delta(&inside, &number("5/4"), &Uninterrupted), Err(Error::precision(*message)));
            continue;
        }
        let value = found.unwrap();
        let logarithm = Ball::from_rational(&number("5/4")).ln().to_enclosure();
        let [before, after] =
            [logarithm.lower(), logarithm.upper()].map(|at| curve.delta_at(at, &Uninterrupted).unwrap());
        let expected = Enclosure::from(&value);
        assert!(after.lower() <= expected.upper() && expected.lower() <= before.upper(), "{name}");
        let terms = exact_terms(&curve, &number("0"), &Uninterrupted);
        if name == "range" || name == "peaks" {
            // At ε = 0 the ratio is rational.
            assert!(terms.is_ok());
            let found = exact_terms(&curve, &number("0.1"), &Uninterrupted);
            assert_eq!(found, Err(Error::argument(only_at_ratios)), "{name}");
            continue;
        }
        let (first, second) = terms.unwrap();
        assert_eq!(first.sub(&second), exact_delta(&curve, &number("1"), &Uninterrupted).unwrap(), "{name}");
    }
    assert_eq!(
        exact_delta(&count(6, "1/3"), &number("0"), &Uninterrupted),
        Err(Error::argument("exp_epsilon must be above 0"))
    );
}

/// Of the answers ½ and ¼ nothing but `1/2 − e^ε/4` is left, which next to `ε = ln 2` is below what balls tell from zero.
#[test]
fn a_logarithm_of_what_may_be_zero_is_refused() {
    let [one, zero] = ["1/2", "1/4"].map(|p| Law::binomial(1, &number(p)).unwrap());
    let curve = Curve::from(Answers::new(one, zero));
    let below = number("0.693147180559945309417232121458176568075500134360255254");
    let refused = curve.log_delta(&below, &Uninterrupted);
    let message = "delta cannot be told from zero here, so its logarithm is not known";
    assert_eq!(refused, Err(Error::precision(message)));
    let above = curve.log_delta(&number("0.7"), &Uninterrupted).unwrap();
    assert_eq!(above, Enclosure::point(f64::NEG_INFINITY));
    let logarithm = curve.log_delta(&number("0.6"), &Uninterrupted).unwrap();
    let truth = (ball("1/2") - ball("0.6").exp() * ball("1/4")).ln().to_enclosure();
    assert!(logarithm.lower() <= truth.upper() && truth.lower() <= logarithm.upper());
}

#[test]
fn only_compositions_have_patterns() {
    for (name, curve) in kinds() {
        let pattern = curve.worst_pairs(&number("0.2"), &Uninterrupted).unwrap();
        assert_eq!(pattern.is_some(), ["composed", "bound"].contains(&name), "{name}");
    }
}

fn refusal<T: std::fmt::Debug>(found: Result<T, Error>) -> String {
    match found.unwrap_err() {
        Error::Argument(message) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn sizes_and_epsilons_out_of_range_are_refused() {
    let gated = |whole, least, most| CountFamily::gated(whole, least, most, None);
    assert!(gated(9, 4, 4).is_ok() && gated(1 << 53, 1, 2).is_ok());
    assert_eq!(refusal(gated(9, 5, 4)), "a gate needs least ≤ most");
    assert!(gated(0, 1, 2).is_err() && gated((1 << 53) + 1, 1, 2).is_err());
    let family_of_gates = gated(9, 3, 5).unwrap();
    assert!(family_of_gates.of_size(9).is_ok());
    let found = refusal(family_of_gates.of_size(10));
    assert_eq!(found, "size = 10; at most 9, the entries that are counted, are required");
    let found = refusal(family_of_gates.sampled(4, &number("1/2")));
    assert_eq!(found, "the exact law of a sampled count needs one probability, not a range");
    let below = refusal(family("1/3").deltas(&[4], &number("-1/9"), &Uninterrupted));
    assert_eq!(below, "epsilon = -1/9; a number of at least 0 is required");
    assert!(family("1/3").deltas(&[4], &number("0"), &Uninterrupted).is_ok());
    let found = refusal(count(6, "1/3").delta_at(f64::INFINITY, &Uninterrupted));
    assert_eq!(found, "epsilon = inf; a finite number is required");
}

#[test]
fn means_over_impossible_sizes_are_refused() {
    let known =
        |population, known, size| MeanOverSizes::known_entries(population, known, size, family("1/3"));
    assert!(known(9, 8, 1).is_ok() && known(9, 0, 9).is_ok());
    for size in [0, 10] {
        let needed = format!("size = {size}; an integer from 1 to the population of 9 is required");
        assert_eq!(refusal(known(9, 3, size)), needed);
    }
    let found = refusal(known(9, 9, 4));
    assert_eq!(found, "known = 9; an integer from 0 to 8 is required: the critical entry is not known");
    let irrelevant = |size, others, share: &str| {
        MeanOverSizes::irrelevant_entries(size, others, &number(share), family("1/3"))
    };
    assert!(irrelevant(9, 8, "1").is_ok() && irrelevant(9, 0, "0").is_ok());
    let found = refusal(irrelevant(9, 9, "1/2"));
    assert_eq!(found, "others = 9; an integer from 0 to 8 is required: the critical entry matters");
    for share in ["-1/2", "3/2"] {
        let needed = format!("irrelevant = {share}; a probability from 0 to 1 is required");
        assert_eq!(refusal(irrelevant(9, 8, share)), needed);
        let needed = format!("rate = {share}; a number above 0 and at most 1 is required");
        assert_eq!(refusal(MeanOverSizes::published_sample(9, &number(share), family("1/3"))), needed);
    }
    assert!(MeanOverSizes::published_sample(9, &number("1"), family("1/3")).is_ok());
    let found = refusal(MeanOverSizes::published_sample(9, &number("0"), family("1/3")));
    assert_eq!(found, "rate = 0; a number above 0 and at most 1 is required");
}

#[test]
fn cells_that_are_no_histogram_are_refused() {
    let of = |cells: &[&str], pair| {
        let cells: Vec<Rational> = cells.iter().map(|cell| number(cell)).collect();
        histogram(5, &cells, pair)
    };
    assert!(of(&["1/2", "1/2"], None).is_ok() && of(&["1/2", "1/2"], Some((1, 0))).is_ok());
    let negative = refusal(of(&["1/2", "-1/2", "1"], None));
    assert_eq!(negative, "cells[1] = -1/2; a probability from 0 to 1 is required");
    let sum = refusal(of(&["1/2", "1/3"], None));
    assert_eq!(
        sum,
        "cells add up to 5/6; exactly 1 is required: give exact numbers, such as '0.1' or Fraction(1, 3)"
    );
    let found = refusal(of(&["1"], None));
    assert_eq!(
        found,
        "cells has 1 probabilities; at least 2 are required: the critical entry may be in either"
    );
    for (v, w) in [(1, 1), (2, 0), (0, 2)] {
        let found = refusal(of(&["1/2", "1/2"], Some((v, w))));
        let first = if v == 0 { (2, 0) } else { (v, w) };
        let needed = format!(
            "pair has the cells {} and {}; two different integers from 0 to 1 are required",
            first.0, first.1
        );
        assert_eq!(found, needed);
    }
    let cells = ["1/2", "1/2"].map(number);
    assert!(sampled_histogram(5, 5, &cells, None).is_ok());
    let found = refusal(sampled_histogram(5, 6, &cells, None));
    assert_eq!(found, "size = 6; an integer from 1 to the population of 5 is required");
}
