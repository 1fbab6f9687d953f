//! Where searches look, one place after the other, to the last bit.

use super::*;
use crate::numbers::approximate;
use crate::record::{Inner, Record};
use std::cell::RefCell;

/// `ln δ` as a function of ε, and how much is not known of δ, relatively.
struct Shape {
    name: &'static str,
    logarithm: fn(f64) -> f64,
    unknown: f64,
}

const SHAPES: [Shape; 7] = [
    Shape { name: "normal", logarithm: |x| -2.0 * x * x, unknown: 1e-15 },
    Shape { name: "narrow", logarithm: |x| -5e5 * x * x, unknown: 1e-15 },
    Shape { name: "wide", logarithm: |x| -1e-4 * x * x, unknown: 1e-15 },
    Shape { name: "straight", logarithm: |x| -3.0 * x, unknown: 1e-13 },
    Shape {
        name: "steep at the end",
        logarithm: |x| if x < 1.5 { -0.1 * x } else { -60.0 * x },
        unknown: 1e-15,
    },
    Shape { name: "hardly known", logarithm: |x| -0.5 * x * x, unknown: 1e-7 },
    Shape { name: "nowhere small", logarithm: |x| -1.0 / (1.0 + 1.0 / (x + 1e-3)), unknown: 1e-15 },
];

/// The answer, and every ε that was looked at.
fn looked_at(shape: &Shape, target: &str, narrow: f64, start: f64) -> (Result<Enclosure, Error>, Vec<f64>) {
    let seen = RefCell::new(Vec::new());
    let delta = |epsilon: f64| {
        seen.borrow_mut().push(epsilon);
        let middle = approximate::exp((shape.logarithm)(epsilon));
        Ok(Enclosure::ordered(middle * (1.0 - shape.unknown), middle * (1.0 + shape.unknown)))
    };
    let search = Search { delta: &delta, narrow, target: Enclosure::from(&Rational::parse(target).unwrap()) };
    let (top, logarithm) = (search.compare(0.0).unwrap().1, search.compare(start).unwrap().1);
    let found = search.run(start, logarithm, top);
    (found, seen.into_inner())
}

#[test]
fn places_of_searches() {
    let mut record = Record::of("places of searches");
    for shape in &SHAPES {
        for target in ["0.3", "1e-3", "1e-40", "0"] {
            for (narrow, start) in [(0.0, 0.0), (1e-6, 0.0), (1e-6, 1e-3)] {
                let found = looked_at(shape, target, narrow, start);
                record.note(format!("{} d={target} {narrow:e} from {start:e}", shape.name), Inner(found));
            }
        }
        let found = looked_at(shape, "0.9", 0.0, 1e-4);
        record.note(format!("{} next to the start", shape.name), Inner(found));
    }
    record.compare();
}
