//! Bounds between points of the dual, and where it is evaluated next, to the last bit.

use super::*;
use crate::curve::CountFamily;
use crate::forms::Direction;
use crate::record::{Inner, Questions, Record};

fn curves() -> Vec<(&'static str, Curve)> {
    let number = |text: &str| Rational::parse(text).unwrap();
    let count = |p: &str, size, direction| {
        CountFamily::new(&number(p), &number(p), direction).unwrap().of_size(size).unwrap()
    };
    vec![
        ("small", count("4/5", 4, Some(Direction::OneAgainstZero))),
        ("both", count("0.3", 40, None)),
        ("large", count("1/2", 1_000_000, None)),
        ("rare", count("1e-4", 1000, Some(Direction::ZeroAgainstOne))),
        ("certain", count("0", 5, Some(Direction::OneAgainstZero))),
        ("sampled", Curve::amplified(number("0.1"), count("0.3", 30, None)).unwrap()),
    ]
}

#[test]
fn gaps_of_duals() {
    let mut record = Record::of("gaps of duals");
    let questions = Questions::default();
    for ((name, curve), level) in
        curves().into_iter().flat_map(|one| ["1e-9", "0.05", "0.49", "0.9"].map(|level| (one.clone(), level)))
    {
        let name = format!("{name} at {level}");
        let dual = Dual::new(&curve, &Rational::parse(level).unwrap(), NARROW, &questions).unwrap();
        record.note(format!("{name} ends"), Inner((dual.at_zero, dual.at_infinity)));
        let mut points = Vec::new();
        for epsilon in [0.0, 1.0, -1.0, 0.25, 0.3, -0.125, 4.0, 0.26] {
            let place = points.partition_point(|other: &Point| other.epsilon < epsilon);
            points.insert(place, dual.at(epsilon, None).unwrap());
            let (lower, gaps) = dual.gaps(&points);
            let next: Vec<Option<f64>> = gaps.iter().map(Gap::next).collect();
            record.note(format!("{name} after {epsilon}"), Inner((lower, &gaps, next)));
        }
        for narrow in [NARROW, 1e-6] {
            let dual = Dual {
                narrow,
                ..Dual::new(&curve, &Rational::parse(level).unwrap(), 0.0, &questions).unwrap()
            };
            record.note(format!("{name} {narrow:e} supremum"), dual.supremum());
        }
    }
    record.questions = questions;
    record.compare();
}

#[test]
fn next_places() {
    let mut record = Record::of("next places");
    let ends = [f64::NEG_INFINITY, -3.0, -0.25, 0.0, 0.2, 0.75, 6.0, f64::INFINITY];
    for (i, &left) in ends.iter().enumerate() {
        for &right in &ends[i + 1..] {
            let next = [None, Some(-2.0), Some(0.1), Some(right), Some(5.0), Some(left + 1e-16), Some(40.0)]
                .map(|peak| Gap { bound: 1.0, peak, left, right }.next());
            record.note(format!("{left} {right}"), Inner(next));
        }
        let close = Gap { bound: 1.0, peak: Some(left), left, right: left + 8.0 * CLOSE };
        record.note(format!("{left} close"), Inner(close.next()));
    }
    record.compare();
}
