//! By what patterns are compared roughly, which ones are looked at, and how often, to the last bit.

use super::super::Attributes;
use super::super::tests::{borrowed, evenly, partition, rational};
use super::*;
use crate::forms::Epsilon;
use crate::forms::{COARSE, End};
use crate::numbers::rational::Rational;
use crate::record::{Inner, Plain, Record};

/// Parts with two pairs of values each, alike and different.
fn compositions() -> Vec<(&'static str, Composition)> {
    let alike = |count: u64, size: u64, n: u64, p: &str| {
        let choices = super::super::tests::property(n, size, &rational(p));
        let unused = Rational::from(n - count * size).div(&Rational::from(n)).unwrap();
        Composition::new(unused, vec![Attributes { count, choices }]).unwrap()
    };
    vec![
        ("small", partition(9, &[(2, "1/10"), (3, "1/2"), (4, "4/5")], None)),
        ("even", partition(400, &borrowed(&evenly(8, 50, [1, 7], 10)), None)),
        ("spread", partition(120, &borrowed(&evenly(12, 9, [2, 8], 10)), None)),
        ("alike", alike(9, 10, 100, "2/5")),
        ("one pattern", partition(60, &[(20, "1/3"), (30, "4/5")], Some(&[0, 1]))),
    ]
}

#[test]
fn rough_values_of_patterns() {
    let mut record = Record::of("rough values of patterns");
    for ((name, composition), epsilon) in
        compositions().into_iter().flat_map(|one| ["0.02", "0.3"].map(|e| (one.clone(), e)))
    {
        let epsilon_given = Epsilon::new(&rational(epsilon));
        let prepared = Prepared::new(&composition, &epsilon_given, End::Upper, &record.questions).unwrap();
        let start = prepared.first_pattern();
        let rough = Rough::new(&prepared, &start).unwrap();
        record.note(
            format!("{name} e={epsilon} nodes"),
            Inner((&rough.nodes, &rough.constant, &rough.exponents)),
        );
        let total = rough.total(&start);
        let values: Vec<f64> = (0..start.len())
            .filter(|&attribute| start[attribute].len() > 1)
            .map(|attribute| rough.value(&rough.changed(&total, attribute, 0, 1, 1)))
            .collect();
        record.note(format!("{name} e={epsilon} values"), Inner((rough.value(&total), values)));
        record.note(format!("{name} e={epsilon} found"), Plain(prepared.search()));
    }
    record.compare();
}

#[test]
fn ends_over_all_patterns() {
    let mut record = Record::of("ends over all patterns");
    for ((name, composition), epsilon) in
        compositions().into_iter().flat_map(|one| ["0.05", "0.3"].map(|e| (one.clone(), e)))
    {
        // With hundreds of patterns and more.
        if ["even", "spread"].contains(&name) && epsilon == "0.05" || name == "even" {
            continue;
        }
        let epsilon_given = Epsilon::new(&rational(epsilon));
        let prepared = Prepared::new(&composition, &epsilon_given, End::Upper, &record.questions).unwrap();
        record.note(format!("{name} e={epsilon} ends"), Inner(prepared.ends(&record.questions)));
        record.note(format!("{name} e={epsilon} attained"), prepared.attained(&record.questions));
        let found = prepared.search();
        for goal in [Goal::Bound].into_iter().chain(COARSE.map(Goal::About)) {
            let value = prepared.value(&found, goal, &record.questions);
            record.note(format!("{name} e={epsilon} {goal:?}"), value);
        }
        let dominating = prepared.dominating(&record.questions).unwrap();
        record.note(format!("{name} e={epsilon} dominating"), Inner(&dominating));
        let value = prepared.value(&found, Goal::About(1e-6), &record.questions).unwrap();
        for share in [0.9, 0.99, 1.0, 1.02] {
            let threshold = value * Ball::from_f64(share).unwrap();
            let left = prepared.above(threshold, &dominating, &found, &record.questions);
            record.note(format!("{name} e={epsilon} above {share}"), Inner(left));
        }
    }
    record.compare();
}

#[test]
fn ways_to_share() {
    let mut record = Record::of("ways to share");
    for (count, parts) in [(0, 1), (5, 1), (4, 2), (3, 3), (2, 4)] {
        record.note(format!("{count} {parts}"), Plain(shares(count, parts)));
    }
    for (name, composition) in compositions() {
        record.note(format!("{name} patterns"), Inner(composition.all_patterns()));
    }
    record.compare();
}
