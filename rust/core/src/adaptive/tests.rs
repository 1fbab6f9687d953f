use super::*;
use crate::curve::exact;
use crate::curve::{CountFamily, Curve};
use crate::interrupt::Uninterrupted;
use crate::numbers::enclosure::Enclosure;
use proptest::prelude::*;

pub(super) fn rational(text: &str) -> Rational {
    Rational::parse(text).unwrap()
}

fn over(x: u64, y: u64) -> Rational {
    Rational::from(x).div(&Rational::from(y)).unwrap()
}

/// A count of `size` of `n` entries, before the given nodes.
pub(super) fn count(size: u64, n: u64, p: &Rational, next: Vec<Next>) -> Asked {
    let others = Law::binomial(size - 1, p).unwrap();
    Asked {
        weight: over(size, n),
        laws: [others.shifted(1).unwrap(), others],
        reference: Law::binomial(size, p).unwrap(),
        next,
    }
}

fn always(node: usize, size: u64) -> Vec<Next> {
    vec![Next { first: 0, last: size as i64, node }]
}

/// At each of several parts of these sizes, any of the properties.
pub(super) fn any_of(n: u64, sizes: &[u64], p: &[Rational]) -> Adaptive {
    let node = |(index, &size): (usize, &u64)| {
        let next = if index + 1 < sizes.len() { always(index + 1, size) } else { Vec::new() };
        p.iter().map(|p| count(size, n, p, next.clone())).collect()
    };
    Adaptive::new(sizes.iter().enumerate().map(node).collect()).unwrap()
}

fn delta(strategy: &Adaptive, epsilon: &str) -> (f64, f64) {
    let found =
        strategy.delta(&Epsilon::new(&rational(epsilon)), Ball::ZERO, &Uninterrupted).unwrap().to_enclosure();
    (found.lower(), found.upper())
}

/// The counts of a property on all parts are post-processing of the total, whatever the sizes.
#[test]
fn one_property_on_all_entries_is_one_count() {
    let p = rational("0.3");
    let whole = CountFamily::new(&p, &p, Some(crate::forms::Direction::OneAgainstZero)).unwrap();
    let situations = [
        (60u64, vec![30u64, 20, 10], "0.1"),
        (400, vec![100; 4], "0.05"),
        (20_000, vec![10_000; 2], "0.01"),
        (400, vec![100; 4], "0.6"),
        (800, vec![100; 8], "1"),
        (800, vec![100; 8], "0"),
    ];
    for (n, sizes, epsilon) in situations.into_iter().take(crate::cases::cases(4, 6) as usize) {
        let truth = whole.of_size(n).unwrap().delta(&rational(epsilon), &Uninterrupted).unwrap();
        let (lower, upper) = delta(&any_of(n, &sizes, std::slice::from_ref(&p)), epsilon);
        assert!(lower <= truth.upper() && truth.lower() <= upper);
        assert!(upper - lower <= 2e-6 * upper, "{lower} {upper}");
    }
}

fn exactly(strategy: &Adaptive, ratio: &Rational) -> Rational {
    exact::exact_delta(&Curve::from(strategy.clone()), ratio, &Uninterrupted).unwrap()
}

/// Whether the enclosure at `ln ratio` contains the exact value; its relative width.
fn width_around(strategy: &Adaptive, truth: &Rational, ratio: &Rational) -> f64 {
    // ε is not rational: the curve falls, so its values at two doubles next to it enclose the one at it.
    let logarithm = Ball::from_rational(ratio).ln().to_enclosure();
    let at = |epsilon: f64| {
        strategy
            .delta(&Epsilon::from_f64(epsilon.max(0.0)).unwrap(), Ball::ZERO, &Uninterrupted)
            .unwrap()
            .to_enclosure()
    };
    let (left, right) = (at(logarithm.lower()), at(logarithm.upper()));
    let truth = Enclosure::from(truth);
    assert!(right.lower() <= truth.upper(), "{right:?} {truth:?}");
    assert!(truth.lower() <= left.upper(), "{left:?} {truth:?}");
    left.width().max(right.width()) / left.upper().max(1e-12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// The worst strategy of two properties over two or three small parts.
    ///
    /// A kink between two nodes of the grid costs up to a step in each part; a step of a million is some 2e-6 of δ here.
    #[test]
    fn the_enclosure_contains_the_value_of_the_worst_strategy(
        sizes in prop::collection::vec(1u64..5, 1..4), unused in 0u64..4,
        p in prop::collection::vec(1u64..10, 1..3), ratio in 8u64..20, mirrored in any::<bool>(),
    ) {
        let p: Vec<_> = p.into_iter().map(|p| over(p, 10)).collect();
        let forwards = any_of(sizes.iter().sum::<u64>() + unused, &sizes, &p);
        let strategy = if mirrored { forwards.reversed() } else { forwards };
        let ratio = over(ratio, 8);
        let truth = exactly(&strategy, &ratio);
        prop_assert!(width_around(&strategy, &truth, &ratio) <= 1e-5);
    }

    /// A given strategy: one of two queries, or none, by the first answer.
    #[test]
    fn the_enclosure_contains_the_value_of_a_given_strategy(
        sizes in prop::collection::vec(2u64..6, 3), cut in 0i64..3, ratio in 8u64..20, weight in 0u64..3,
    ) {
        let n = sizes.iter().sum::<u64>() + weight;
        let (one, other) = (rational("0.3"), rational("0.6"));
        let next = vec![Next { first: 0, last: cut, node: 1 }, Next { first: cut + 1, last: cut + 1, node: 2 }];
        let strategy = Adaptive::new(vec![
            vec![count(sizes[0], n, &one, next)],
            vec![count(sizes[1], n, &other, Vec::new())],
            vec![count(sizes[2], n, &one, Vec::new())],
        ]).unwrap();
        let ratio = over(ratio, 8);
        let truth = exactly(&strategy, &ratio);
        prop_assert!(width_around(&strategy, &truth, &ratio) <= 1e-5);
    }

    /// `Δ_{v,w}(ε) = 1 − e^ε + e^ε Δ_{w,v}(−ε)`: the exact tier below ε = 0 is that of the other direction.
    #[test]
    fn the_opposite_direction_reflects(sizes in prop::collection::vec(1u64..4, 2), ratio in 8u64..20) {
        let strategy = any_of(8, &sizes, &[rational("0.3"), rational("0.5")]);
        let (ratio, one) = (over(ratio, 8), Rational::from(1i64));
        let inverse = one.div(&ratio).unwrap();
        let reflected = one.sub(&ratio).add(&ratio.mul(&exactly(&strategy.reversed(), &inverse)));
        prop_assert_eq!(exactly(&strategy, &ratio), reflected);
    }
}

/// Far out only the paths on which every answer gives the value away are left, and they need every entry.
#[test]
fn the_mass_at_infinity_is_that_of_revealing_paths() {
    let (one, other) = (rational("0.3"), rational("0.6"));
    let strategy = any_of(5, &[2, 3], &[one.clone(), other.clone()]);
    let limit = strategy.infinity_mass(&Uninterrupted).unwrap().to_enclosure();
    // Nobody but the critical entry has the property: P_1 = Σ_k w_k P_{k,1}(n_k) Π_{l≠k} R_l(n_l), greatest for p = 0.6.
    assert!(limit.contains(&exactly(&strategy, &rational("1e40"))), "{limit:?}");
    assert!(limit.contains(&rational("0.1296")) && limit.width() < 1e-15, "{limit:?}");
    let some = any_of(6, &[2, 3], &[one, other]);
    assert!(some.infinity_mass(&Uninterrupted).unwrap().is_exact_zero());
    assert!(exactly(&some, &rational("1e40")).is_zero());
}

/// Far out the value is between that at a smaller ε and the limit.
#[test]
fn a_large_epsilon_leaves_the_paths_that_reveal() {
    let p = rational("0.01");
    let strategy = any_of(400, &[100; 4], std::slice::from_ref(&p));
    let whole = CountFamily::new(&p, &p, Some(crate::forms::Direction::ZeroAgainstOne)).unwrap();
    let whole = whole.of_size(400).unwrap();
    for epsilon in ["3", "15", "800"] {
        let truth = whole.delta(&rational(epsilon), &Uninterrupted).unwrap();
        let (lower, upper) = delta(&strategy.reversed(), epsilon);
        assert!(lower <= truth.upper() && truth.lower() <= upper, "{epsilon}: {lower} {upper} {truth:?}");
        assert!(upper - lower <= 2e-5 * upper, "{epsilon}: {lower} {upper}");
    }
}

#[test]
fn laws_that_leave_something_out_are_paid_for() {
    let half = rational("0.5");
    let strategy = any_of(2000, &[1000, 1000], std::slice::from_ref(&half));
    let whole = CountFamily::new(&half, &half, Some(crate::forms::Direction::OneAgainstZero)).unwrap();
    let whole = whole.of_size(2000).unwrap();
    // Far below 2^-120, what is left out of the laws at first.
    let truth = whole.delta(&rational("0.9"), &Uninterrupted).unwrap();
    assert!(truth.upper() < 1e-80, "{truth:?}");
    let (lower, upper) = delta(&strategy, "0.9");
    assert!(lower <= truth.upper() && truth.lower() <= upper && upper - lower <= 2e-6 * upper);
}

#[test]
fn malformed_strategies_are_refused() {
    let half = rational("1/2");
    let message = |nodes: Vec<Vec<Asked>>| match Adaptive::new(nodes) {
        Err(Error::Argument(message)) => message,
        other => panic!("{other:?}"),
    };
    assert!(message(Vec::new()).contains("0 nodes"));
    assert!(message(vec![Vec::new()]).contains("node 0 has no query"));
    assert!(message(vec![vec![count(3, 2, &half, Vec::new())]]).contains("more entries than the population"));
    assert!(
        message(vec![vec![count(1, 2, &half, always(0, 1))]]).contains("node 0 cannot follow node 0 of 1")
    );
    let crossed = vec![Next { first: 1, last: 0, node: 1 }];
    let nodes = vec![vec![count(1, 2, &half, crossed)], vec![count(1, 2, &half, Vec::new())]];
    assert!(message(nodes).contains("no ascending ranges"));
    let nothing = Asked { weight: rational("-1/2"), ..count(1, 2, &half, Vec::new()) };
    assert!(message(vec![vec![nothing]]).contains("a number of at least 0 is required"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Likelihood ratios of few entries are below 10^30, but where they are infinite.
    #[test]
    fn the_mass_at_infinity_is_what_is_left_of_the_exact_value(
        sizes in prop::collection::vec(1u64..4, 1..4), unused in 0u64..2, p in prop::collection::vec(1u64..10, 1..3),
        mirrored in any::<bool>(), stops in any::<bool>(),
    ) {
        let p: Vec<_> = p.into_iter().map(|p| over(p, 10)).collect();
        let n = sizes.iter().sum::<u64>() + unused;
        let node = |(index, &size): (usize, &u64)| {
            let last = size as i64 - i64::from(stops && index == 0);
            let next = if index + 1 < sizes.len() { vec![Next { first: 0, last, node: index + 1 }] } else { Vec::new() };
            p.iter().map(|p| count(size, n, p, next.clone())).collect()
        };
        let forwards = Adaptive::new(sizes.iter().enumerate().map(node).collect()).unwrap();
        let strategy = if mirrored { forwards.reversed() } else { forwards };
        let limit = strategy.infinity_mass(&Uninterrupted).unwrap().to_enclosure();
        let truth = exactly(&strategy, &rational("1e30"));
        prop_assert!(limit.contains(&truth), "{limit:?} {}", truth.shown());
        // Where a path may stop before all entries are asked, nothing is said below.
        prop_assert!(limit.width() <= 1e-15 || (stops && limit.lower().abs() <= 1e-14), "{limit:?}");
    }
}

/// A part without entries of the group answers as it does: what follows is a mean over its answers, and at most the greatest.
#[test]
fn a_query_without_weight_leaves_the_limit_between_nothing_and_the_greatest() {
    let half = rational("1/2");
    let next = |first: i64, last: i64, node: usize| Next { first, last, node };
    let nothing = |follows: Vec<Next>| Asked { weight: rational("0"), ..count(2, 3, &half, follows) };
    let nodes = vec![
        vec![nothing(vec![next(0, 0, 1), next(1, 2, 2)])],
        vec![count(3, 3, &half, Vec::new())],
        vec![count(3, 3, &rational("1/3"), Vec::new())],
    ];
    let strategy = Adaptive::new(nodes).unwrap();
    let limit = strategy.infinity_mass(&Uninterrupted).unwrap().to_enclosure();
    // All three have the property: 1/4 or 1/9 of those that hold the critical entry.
    assert!(limit.lower().abs() < 1e-14 && (limit.upper() - 0.25).abs() < 1e-14, "{limit:?}");
    assert!(limit.contains(&exactly(&strategy, &rational("1e30"))));
}

#[test]
fn several_answers_that_reveal_the_value_are_not_followed() {
    let quarter = rational("1/4");
    let law =
        |masses: &[&Rational]| Law::table(0, masses.iter().map(|&mass| mass.clone()).collect()).unwrap();
    let zero = rational("0");
    let half = rational("1/2");
    let asked = Asked {
        weight: rational("1"),
        laws: [law(&[&quarter, &quarter, &half]), law(&[&zero, &zero, &rational("1")])],
        reference: law(&[&quarter, &quarter, &half]),
        next: Vec::new(),
    };
    let strategy = Adaptive::new(vec![vec![asked]]).unwrap();
    let found = strategy.infinity_mass(&Uninterrupted);
    assert_eq!(
        found.unwrap_err(),
        Error::precision("several answers reveal the value, and their mass is not followed")
    );
    assert!(strategy.reversed().infinity_mass(&Uninterrupted).unwrap().is_exact_zero());
}

/// Ranges of answers may touch, and follow one another upwards only; nodes come after those that lead to them.
#[test]
fn ranges_of_answers_and_nodes_are_in_order() {
    let half = rational("1/2");
    let of = |next: Vec<Next>, others: usize| {
        let mut nodes = vec![vec![count(4, 12, &half, next)]];
        nodes.extend((0..others).map(|_| vec![count(4, 12, &half, Vec::new())]));
        Adaptive::new(nodes)
    };
    let next = |first: i64, last: i64, node: usize| Next { first, last, node };
    assert!(of(vec![next(0, 1, 1), next(2, 2, 2)], 2).is_ok());
    let message = |found: Result<Adaptive, Error>| found.unwrap_err().to_string();
    for ranges in
        [vec![next(0, 2, 1), next(2, 4, 2)], vec![next(3, 4, 1), next(0, 2, 2)], vec![next(2, 1, 1)]]
    {
        assert_eq!(message(of(ranges, 2)), "the answers at node 0 are no ascending ranges");
    }
    for node in [0, 3] {
        let expected = format!("node {node} cannot follow node 0 of 3");
        assert_eq!(message(of(vec![next(0, 1, node)], 2)), expected);
    }
    let weighing = |weight: &str| {
        Adaptive::new(vec![vec![Asked { weight: rational(weight), ..count(4, 12, &half, Vec::new()) }]])
    };
    assert!(weighing("0").is_ok() && weighing("1").is_ok());
    assert_eq!(message(weighing("-1/9")), "weight = -1/9 at node 0; a number of at least 0 is required");
    assert_eq!(message(weighing("10/9")), "the parts along a path have more entries than the population");
}

/// The node after an answer; the analyst stops between and beyond the ranges, and a query follows after every answer only where there are none.
#[test]
fn what_follows_is_that_of_the_range_an_answer_lies_in() {
    let next = |first: i64, last: i64, node: usize| Next { first, last, node };
    let asked = |next: Vec<Next>| count(6, 12, &rational("1/2"), next);
    let some = asked(vec![next(0, 1, 1), next(3, 4, 2)]);
    let after: Vec<_> = (-1..=5).map(|answer| some.after(answer)).collect();
    assert_eq!(after, [None, Some(1), Some(1), None, Some(2), Some(2), None]);
    assert!(asked(vec![next(0, 2, 1), next(3, 6, 2)]).covers() && asked(vec![next(-1, 9, 1)]).covers());
    for ranges in [vec![], vec![next(0, 5, 1)], vec![next(1, 6, 1)], vec![next(0, 2, 1), next(4, 6, 2)]] {
        assert!(!asked(ranges.clone()).covers(), "{ranges:?}");
    }
}
