//! Answers on the parts of a secret partition, chosen beforehand or by the answers.

use crate::number;
use crate::record::Record;
use statpriv_core::adaptive::{Adaptive, Asked, Next};
use statpriv_core::answer::Law;
use statpriv_core::composition::{Attributes, Cell, Composition, Part};
use statpriv_core::curve::Curve;
use statpriv_core::curve::exact::exact_delta;
use statpriv_core::forms::End;
use statpriv_core::forms::Epsilon;
use statpriv_core::numbers::ball::Ball;
use statpriv_core::numbers::rational::Rational;

fn over(top: u64, bottom: u64) -> Rational {
    Rational::from(top).div(&Rational::from(bottom)).unwrap()
}

/// The two directions of a property on `size` of `n` entries.
fn property(n: u64, size: u64, p: &Rational) -> Vec<Vec<Part>> {
    let (zero, share) = (Rational::from(0i64), over(1, n));
    let cell = |mass: &Rational, first: &Rational, second: &Rational| Cell {
        mass: mass.clone(),
        first: first.clone(),
        second: second.clone(),
    };
    let q = Rational::from(1i64).sub(p);
    let part = |one: &Rational, other: &Rational| {
        vec![Part::Entries { count: size, cells: vec![cell(p, one, other), cell(&q, other, one)] }]
    };
    vec![part(&share, &zero), part(&zero, &share)]
}

fn of_parts(n: u64, parts: Vec<(u64, u64, Vec<Vec<Part>>)>) -> Composition {
    let used: u64 = parts.iter().map(|(count, size, _)| count * size).sum();
    let attributes = parts.into_iter().map(|(count, _, choices)| Attributes { count, choices });
    Composition::new(over(n - used, n), attributes.collect()).unwrap()
}

fn partition(n: u64, parts: &[(u64, &str)]) -> Composition {
    of_parts(n, parts.iter().map(|(size, p)| (1, *size, property(n, *size, &number(p)))).collect())
}

/// Answers by their three laws in place of cells.
fn as_answers(n: u64, parts: &[(u64, &str)]) -> Composition {
    let part = |(size, p): &(u64, &str)| {
        let others = Law::binomial(size - 1, &number(p)).unwrap();
        let reference = Law::binomial(*size, &number(p)).unwrap();
        let (first, second) = (others.shifted(1).unwrap(), others);
        (1, *size, vec![vec![Part::Answer { weight: over(*size, n), first, second, reference }]])
    };
    of_parts(n, parts.iter().map(part).collect())
}

fn alone(n: u64, size: u64, part: Part) -> (u64, u64, Vec<Vec<Part>>) {
    let _ = n;
    (1, size, vec![vec![part]])
}

fn compositions() -> Vec<(&'static str, Composition)> {
    let range = |n: u64, count: u64, lower: &str, upper: &str| {
        let (share, lower, upper) = (over(1, n), number(lower), number(upper));
        alone(n, count, Part::Range { count, share, lower, upper })
    };
    let gated = |n: u64, count: u64, least: u64, most: u64| {
        alone(n, count, Part::Gated { count, share: over(1, n), least, most })
    };
    let third = number("1/3");
    let three = {
        let (share, zero) = (number("1/30"), number("0"));
        let cell = |first: &Rational, second: &Rational| Cell {
            mass: third.clone(),
            first: first.clone(),
            second: second.clone(),
        };
        let cells = vec![cell(&share, &zero), cell(&zero, &share), cell(&zero, &zero)];
        vec![vec![Part::Entries { count: 30, cells }]]
    };
    let spread: Vec<(u64, String)> = (1..12).map(|k| (5, format!("{k}/13"))).collect();
    let spread: Vec<(u64, &str)> = spread.iter().map(|(size, p)| (*size, p.as_str())).collect();
    vec![
        ("two small parts", partition(15, &[(4, "3/10"), (1, "3/10")])),
        ("three small parts", partition(9, &[(2, "1/10"), (3, "1/2"), (4, "4/5")])),
        ("certain ones", partition(12, &[(4, "0"), (3, "1"), (5, "1/2")])),
        ("four parts", partition(80, &[(20, "1/10"), (20, "1/3"), (10, "3/5"), (20, "4/5")])),
        ("rare", partition(400, &[(200, "1/100"), (200, "1/2")])),
        ("alike", of_parts(70, vec![(5, 12, property(70, 12, &number("3/10")))])),
        ("many patterns", partition(70, &spread)),
        ("many alike", of_parts(130, vec![(12, 10, property(130, 10, &number("2/5")))])),
        ("three cells", of_parts(30, vec![(1, 30, three)])),
        ("answers", as_answers(12, &[(4, "0"), (3, "1"), (5, "1/2")])),
        ("long answers", as_answers(100, &[(40, "1/3"), (30, "1/10"), (10, "3/4")])),
        ("range", of_parts(300, vec![range(300, 100, "1/10", "9/10"), range(300, 150, "1/4", "1/2")])),
        ("range and known", {
            let known = (1, 80, property(300, 80, &number("1/3")));
            of_parts(300, vec![range(300, 100, "1/10", "9/10"), known])
        }),
        ("gated", of_parts(500, vec![gated(500, 200, 5, 190), gated(500, 100, 10, 60)])),
    ]
}

const EPSILONS: [&str; 5] = ["0", "0.002", "0.05", "0.4", "20"];

#[test]
fn compositions_of_parts() {
    let mut record = Record::of("compositions of parts");
    for (name, composition) in compositions() {
        let is_long = ["many patterns", "three cells", "four parts"].contains(&name);
        for epsilon in EPSILONS.into_iter().filter(|epsilon| !is_long || *epsilon == "0.05") {
            let at = Epsilon::new(&number(epsilon));
            let value = match (composition.is_exact(), composition.has_ranges()) {
                (true, _) => composition.exactly(&at, &record.questions),
                (false, false) => composition.delta(&at, End::Lower, &record.questions),
                _ => continue,
            };
            record.note(format!("{name} e={epsilon}"), value);
        }
        record.note(format!("{name} limit"), composition.infinity_mass(&record.questions));
        record.note(format!("{name} back limit"), composition.reversed().infinity_mass(&record.questions));
    }
    record.compare();
}

#[test]
fn bounds_of_all_patterns() {
    let mut record = Record::of("bounds of all patterns");
    for (name, composition) in compositions() {
        for epsilon in EPSILONS {
            let at = Epsilon::new(&number(epsilon));
            record.note(
                format!("{name} upper e={epsilon}"),
                composition.delta(&at, End::Upper, &record.questions),
            );
        }
    }
    record.compare();
}

/// A count of `size` of `n` entries, before the given nodes.
fn asked(size: u64, n: u64, p: &str, next: Vec<Next>) -> Asked {
    let others = Law::binomial(size - 1, &number(p)).unwrap();
    Asked {
        weight: over(size, n),
        laws: [others.shifted(1).unwrap(), others],
        reference: Law::binomial(size, &number(p)).unwrap(),
        next,
    }
}

/// At each of several parts any of the properties.
fn any_of(n: u64, sizes: &[u64], p: &[&str]) -> Adaptive {
    let node = |(index, &size): (usize, &u64)| {
        let always = Next { first: 0, last: size as i64, node: index + 1 };
        let next = if index + 1 < sizes.len() { vec![always] } else { Vec::new() };
        p.iter().map(|p| asked(size, n, p, next.clone())).collect()
    };
    Adaptive::new(sizes.iter().enumerate().map(node).collect()).unwrap()
}

#[test]
fn adaptive_strategies() {
    let mut record = Record::of("adaptive strategies");
    let chosen = {
        let next = vec![Next { first: 0, last: 8, node: 1 }, Next { first: 9, last: 14, node: 2 }];
        let nodes = vec![
            vec![asked(30, 100, "0.3", next)],
            vec![asked(40, 100, "0.6", Vec::new())],
            vec![asked(20, 100, "0.1", Vec::new())],
        ];
        Adaptive::new(nodes).unwrap()
    };
    for (name, strategy) in [
        ("small", any_of(9, &[2, 3, 4], &["0.3", "0.6"])),
        ("unused", any_of(12, &[2, 3], &["0.3", "1/2"])),
        ("alike", any_of(120, &[40; 3], &["0.3"])),
        ("rare", any_of(200, &[50; 2], &["0.01", "0.02"])),
        ("chosen", chosen),
    ] {
        for epsilon in ["0", "0.05", "1", "15"] {
            if epsilon == "0" && !["small", "unused"].contains(&name) {
                continue;
            }
            let at = Epsilon::new(&number(epsilon));
            record.note(format!("{name} e={epsilon}"), strategy.delta(&at, Ball::ZERO, &record.questions));
            record.note(
                format!("{name} back e={epsilon}"),
                strategy.reversed().delta(&at, Ball::ZERO, &record.questions),
            );
        }
        record.note(format!("{name} limit"), strategy.infinity_mass(&record.questions));
        if ["small", "unused"].contains(&name) {
            let curve = Curve::from(strategy);
            record.note(format!("{name} exact"), exact_delta(&curve, &number("9/8"), &record.questions));
        }
    }
    record.compare();
}
