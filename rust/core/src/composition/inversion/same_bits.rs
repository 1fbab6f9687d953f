//! Where transforms are evaluated, what is left out there, and the discs that are added up, to the last bit.

use super::super::sum::Atom;
use super::*;
use crate::record::{Inner, Record};

type Masses = [(f64, f64)];

fn sum(constant: f64, summands: &[(u64, &Masses)]) -> Sum {
    let atom = |&(value, mass): &(f64, f64)| Atom { value: exact(value), mass: exact(mass) };
    let summand =
        |&(count, masses): &(u64, &Masses)| Summand { count, atoms: masses.iter().map(atom).collect() };
    Sum { constant: exact(constant), summands: summands.iter().map(summand).collect() }
}

fn sums() -> Vec<(&'static str, Sum)> {
    let sign: &Masses = &[(1.0 / 1024.0, 0.5), (-1.0 / 1024.0, 0.5)];
    let uneven: &Masses = &[(0.875, 0.25), (-0.375, 0.625), (0.125, 0.125)];
    let rare: &Masses = &[(1.5, 1e-9), (-0.25, 1.0 - 1e-9)];
    let spread: Vec<(f64, f64)> = (0..40).map(|k| (f64::from(k * k) / 700.0 - 0.9, 0.025)).collect();
    vec![
        ("two laws", sum(-0.3, &[(3, uneven), (2, &[(0.3, 0.5), (0.1, 0.25), (-0.6, 0.25)])])),
        ("missing mass", sum(-0.1, &[(5, &[(0.5, 0.375), (-0.25, 0.5)]), (1, uneven)])),
        ("far out", sum(-4.0, &[(6, uneven)])),
        ("at once", sum(-1.0, &[(4096, sign), (3, uneven)])),
        ("many copies", sum(-0.25, &[(4097, sign), (100_000, sign)])),
        ("rare", sum(-0.0, &[(50, rare), (2, uneven)])),
        ("spread", sum(-0.7, &[(4, &spread), (2, uneven)])),
        ("certain", sum(-2.0, &[(4, &[(0.5, 1.0)]), (7, uneven)])),
        ("hopeless", sum(-0.5, &[(2, &[(0.5, 0.5), (-1e9, 0.25), (-0.25, 0.25)]), (9, uneven)])),
        ("never negative", sum(4.0, &[(6, uneven)])),
        ("never positive", sum(-6.0, &[(6, uneven)])),
    ]
}

/// Those that are inverted.
fn uncertain() -> impl Iterator<Item = (&'static str, Sum)> {
    sums().into_iter().take(7)
}

#[test]
fn contours_and_what_they_leave_out() {
    let mut record = Record::of("contours and what they leave out");
    for (name, sum) in uncertain() {
        let saddle = Saddle::of(&sum);
        for width in [1e-3, 1e-6, 1e-9] {
            let contour = Contour::new(&sum, saddle, width);
            let last = contour.last_node();
            record.note(
                format!("{name} {width:e}"),
                Inner((saddle, contour.half_width, contour.period, last, contour.terms())),
            );
            let rests = [contour.half_width, 2.0 * contour.half_width]
                .map(|half_width| contour.rest(last as usize, half_width));
            record.note(
                format!("{name} {width:e} rest"),
                Inner((rests, contour.rest_of_narrower(last as usize + 1))),
            );
            for shorter in [1.0, 0.6, 0.3] {
                let contour =
                    Contour { period: contour.period * shorter, ..Contour::new(&sum, saddle, width) };
                record.note(format!("{name} {width:e} aliases {shorter}"), Inner(contour.aliases()));
                let scale = sum.log_moment(contour.tilt()).exp();
                let settled = contour.settled(scale).map(|(contour, aliases)| (contour.period, aliases));
                record.note(format!("{name} {width:e} settled {shorter}"), Inner(settled));
            }
            let shared = Contour::shared(&sum, width);
            record.note(format!("{name} {width:e} shared"), Inner(shared.map(|shared| shared.period())));
        }
        let moments = [0.3, 2.0, 40.0].map(|t| sum.bound_by_moment(exact(t)));
        record.note(format!("{name} moments"), Inner(moments));
    }
    record.compare();
}

#[test]
fn transforms_at_nodes() {
    let mut record = Record::of("transforms at nodes");
    for (name, sum) in uncertain() {
        let contour = Contour::new(&sum, Saddle::of(&sum), 1e-5);
        let tilted = Tilted::new(&sum, contour.tilt());
        record.note(format!("{name} tilted"), Inner(&tilted));
        let steps = Steps::new(&tilted, &contour);
        for (first, nodes) in [(0, BLOCK), (BLOCK, 70), (3, 1)] {
            record.note(format!("{name} products from {first}"), Inner(steps.products(first, nodes)));
            record.note(format!("{name} weights from {first}"), Inner(contour.weights(first, nodes)));
        }
        let last = contour.last_node() as usize;
        let blocks = [steps.block(0, last), steps.block(last / BLOCK, last), steps.block(0, 0)];
        record.note(format!("{name} blocks"), Inner(blocks));
        let sums = contour.node_sums(&tilted, last, &record.questions).unwrap();
        record.note(format!("{name} sums"), Inner(sums));
    }
    record.compare();
}

/// Of the last one with blocks for several processors.
#[test]
fn positive_parts() {
    let mut record = Record::of("positive parts");
    let goals = [
        Goal::Bound,
        Goal::About(1e-3),
        Goal::About(1e-6),
        Goal::Within { usually: 1e-4, at_most: 1e-3 },
        Goal::Within { usually: 1e-5, at_most: 1e-3 },
    ];
    for (name, sum) in sums() {
        // Many nodes, and at each of them a power that is taken in balls.
        let few = if ["many copies", "at once"].contains(&name) { 1 } else { goals.len() };
        for goal in goals.into_iter().take(few) {
            let found = positive_part(&sum, goal, &record.questions);
            record.note(format!("{name} {goal:?}"), found);
        }
    }
    let sign: &Masses = &[(1.0, 0.5), (-1.0, 0.5)];
    let lattice = sum(-0.25, &[(12, sign)]);
    let found = positive_part(&lattice, Goal::About(1e-7), &record.questions);
    record.note("lattice", found);
    record.compare();
}
