//! Bounds of terms, and of all patterns by them, to the last bit.

use super::super::tests::{borrowed, evenly, partition, rational};
use super::super::{Attributes, Composition, End, Part};
use super::*;
use crate::forms::Epsilon;
use crate::record::{Inner, Record};

#[test]
fn bounds_by_moduli() {
    let mut record = Record::of("bounds by moduli");
    for (re, im) in [(1.0, 0.0), (0.8, 0.6), (0.6, -0.8), (-0.28, 0.96)] {
        let law = |modulus: f64, turn: f64| (double(modulus), double(turn));
        let one = vec![law(1.0, 0.0), law(0.875, -0.25), law(0.75, 0.5)];
        let found = bound_of_term(ComplexBall { re, im, radius: 1e-15 }, &[(2, one.clone()), (1, one)]);
        record.note(format!("a term to {re} {im}"), Inner(found));
    }
    let range =
        Part::Range { count: 40, share: rational("1/90"), lower: rational("1/5"), upper: rational("1/3") };
    let of_range =
        Composition::new(rational("1/9"), vec![Attributes { count: 2, choices: vec![vec![range.clone()]] }]);
    let parts = evenly(12, 8, [1, 9], 10);
    let compositions = [
        ("few", partition(30, &[(9, "3/10"), (12, "1/2"), (7, "4/5")], None)),
        ("many", partition(100, &borrowed(&parts), None)),
        ("range", of_range.unwrap()),
    ];
    for (name, composition) in compositions {
        for text in ["0", "0.1", "1"] {
            let epsilon = Epsilon::new(&rational(text));
            let prepared = Prepared::new(&composition, &epsilon, End::Upper, &record.questions).unwrap();
            let found = prepared.bound_by_moduli(&record.questions);
            record.note(format!("{name} e={text}"), Inner(found));
        }
    }
    record.compare();
}
