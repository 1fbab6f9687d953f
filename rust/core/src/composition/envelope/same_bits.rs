//! Points, chords and caps of the laws that dominate others, to the last bit.

use super::super::sum::Atom;
use super::*;
use crate::record::{Inner, Record};

fn law(atoms: &[(f64, f64)]) -> Vec<Atom> {
    atoms.iter().map(|&(value, mass)| Atom { value: exact(value), mass: exact(mass) }).collect()
}

/// Of so many values, on both sides of zero.
fn long(count: u32, wide: f64, skew: f64) -> Vec<Atom> {
    let value = |k: u32| {
        let x = 2.0 * f64::from(k) / f64::from(count) - 1.0;
        wide * (x + skew * x * x)
    };
    law(&(0..count).map(|k| (value(k), 1.0 / f64::from(count))).collect::<Vec<_>>())
}

fn cases() -> Vec<(&'static str, Vec<Vec<Atom>>)> {
    vec![
        ("two", vec![law(&[(1.0, 0.25), (-0.5, 0.75)]), law(&[(0.75, 0.5), (-0.625, 0.5)])]),
        (
            "three",
            vec![
                law(&[(1.0, 0.25), (-0.5, 0.75)]),
                law(&[(0.0, 0.5), (-0.25, 0.5)]),
                law(&[(2.0, 0.0625), (-0.125, 0.9375)]),
            ],
        ),
        ("alike", vec![law(&[(0.5, 0.5), (-0.5, 0.5)]); 2]),
        ("one", vec![law(&[(0.5, 0.5), (-0.5, 0.5)])]),
        ("near", vec![law(&[(0.5, 0.5), (0.5 + 1e-13, 0.25), (-0.5, 0.25)]), law(&[(0.25, 1.0)])]),
        ("long", vec![long(300, 1.0, 0.1), long(280, 0.9, -0.4)]),
        ("few", vec![long(200, 1.0, 0.1), long(290, 0.9, -0.4)]),
        ("many", (1..=9).map(|k| long(60, 0.5 + 0.1 * f64::from(k), 0.07 * f64::from(k))).collect()),
        ("rare", vec![law(&[(1e6, 1e-130), (0.5, 0.25), (-0.25, 0.75)]), law(&[(0.375, 0.5), (-0.25, 0.5)])]),
        ("zero", vec![law(&[(0.0, 1.0)]); 2]),
    ]
}

#[test]
fn laws_that_dominate() {
    let mut record = Record::of("laws that dominate");
    for (name, laws) in cases() {
        let transforms: Vec<Tail> = laws.iter().map(|law| Tail::new(law)).collect();
        record.note(format!("{name} transforms"), Inner(&transforms));
        let heights = transforms
            .iter()
            .flat_map(|tail| [-0.6, -0.125, 0.0, 0.3, 0.5].map(|at| tail.stop_loss(exact(at))));
        record.note(format!("{name} heights"), Inner(heights.collect::<Vec<_>>()));
        let (mean, deviation) = widest(&laws);
        record.note(format!("{name} widest"), Inner((mean, deviation)));
        record.note(format!("{name} spread points"), Inner(spread_points(mean, deviation, [-0.9, 0.8])));
        record.note(format!("{name} points"), Inner(points(&laws, &transforms)));
        record.note(
            format!("{name} crossings"),
            Inner(
                [(-0.4, 0.45), (0.0, 0.7), (-1.0, 1.5)].map(|(one, next)| crossing(&transforms, one, next)),
            ),
        );
        record.note(format!("{name} chords"), Inner(chords(&laws)));
        for count in [1, 7] {
            let mut found = Candidates { count, laws: laws.clone(), missing: exact(1e-20) };
            found.cap();
            record.note(format!("{name} capped {count}"), Inner((found.highest(), &found.missing)));
            record.note(format!("{name} dominating {count}"), Inner(found.dominating(exact(0.3))));
        }
    }
    record.compare();
}

/// Values that are known to `2^-20` only, on both sides of the thresholds and at them.
#[test]
fn transforms_at_values_that_are_not_known_well() {
    let mut record = Record::of("transforms at values that are not known well");
    let unit = exact(1.0 / f64::from(1u32 << 20));
    let known = |(place, &(middle, mass)): (usize, &(f64, f64))| {
        let radius = unit * Ball::from_u64(place as u64);
        Atom { value: (unit * exact(middle)).plus_at_most(radius), mass: exact(mass) }
    };
    let masses = [(-6.0, 0.125), (-1.5, 0.25), (0.0, 0.125), (0.25, 0.125), (2.0, 0.25), (7.0, 0.125)];
    let tail = Tail::new(&masses.iter().enumerate().map(known).collect::<Vec<_>>());
    record.note("tail", Inner(&tail));
    for quarter in -40..=60 {
        let at = f64::from(quarter) / 4.0;
        record.note(at, tail.stop_loss(unit * exact(at)));
        record.note(format!("about {at}"), tail.stop_loss((unit * exact(at)).plus_at_most(unit)));
    }
    record.compare();
}
