//! Curves of one count: δ in both directions, at many ε and sizes, ln δ, ε(δ), β(α).

use crate::record::Record;
use crate::{exactly, number};
use statpriv_core::curve::{CountFamily, Curve};
use statpriv_core::forms::Direction;
use statpriv_core::interrupt::Uninterrupted;
use statpriv_core::inverse;
use statpriv_core::numbers::rational::Rational;
use statpriv_core::trade_off;

const SIZES: [u64; 9] = [1, 2, 5, 65, 1000, 32_768, 1_000_000, 1_000_000_000_000, 1 << 53];
const PROBABILITIES: [(&str, f64); 6] =
    [("1/2", 0.5), ("0.3", 0.3), ("1e-3", 1e-3), ("1e-9", 1e-9), ("0.999", 0.999), ("1e-300", 1e-300)];

fn count(n: u64, p: &str, direction: Option<Direction>) -> Curve {
    CountFamily::new(&number(p), &number(p), direction).unwrap().of_size(n).unwrap()
}

/// Zero, near one deviation and far from it, as they are and large.
fn epsilons(n: u64, p: f64) -> Vec<Rational> {
    let deviation = (n as f64 * p * (1.0 - p)).sqrt().max(1e-3);
    let near = [0.02, 1.3, 7.0].map(|x| exactly((x / deviation).min(600.0)));
    ["0", "1e-12", "1/2", "30"].map(number).into_iter().chain(near).collect()
}

#[test]
fn delta_of_counts() {
    let mut record = Record::of("delta of counts");
    for (n, (text, p)) in SIZES.into_iter().flat_map(|n| PROBABILITIES.map(|p| (n, p))) {
        for direction in Direction::BOTH {
            let curve = count(n, text, Some(direction));
            for (i, epsilon) in epsilons(n, p).into_iter().enumerate() {
                let name = if direction == Direction::OneAgainstZero { "10" } else { "01" };
                record.note(format!("n={n} p={text} {name} e{i}"), curve.delta(&epsilon, &record.questions));
            }
        }
    }
    record.compare();
}

#[test]
fn delta_of_many_sizes() {
    let mut record = Record::of("delta of many sizes");
    let runs: [Vec<u64>; 4] = [
        (900..1000).collect(),
        (1_000_000..1_000_100).rev().step_by(3).collect(),
        vec![5, 1 << 40, (1 << 40) + 20, 70, 71, 100_000],
        ((1 << 53) - 60..=1 << 53).collect(),
    ];
    for (i, sizes) in runs.iter().enumerate() {
        for (p, epsilon) in [("1/2", "0.001"), ("0.02", "0.05"), ("0.9", "1"), ("1/2", "0")] {
            for direction in [None, Some(Direction::ZeroAgainstOne)] {
                let family = CountFamily::new(&number(p), &number(p), direction).unwrap();
                let deltas = family.deltas(sizes, &number(epsilon), &record.questions).unwrap();
                record.note(format!("{i} p={p} e={epsilon} {direction:?}"), deltas);
            }
        }
    }
    record.compare();
}

#[test]
fn logarithm_of_delta() {
    let mut record = Record::of("logarithm of delta");
    for (n, p) in [(4, "1/2"), (1000, "0.3"), (1 << 30, "1/2"), (1 << 30, "1e-6"), (1 << 53, "0.999")] {
        let curve = count(n, p, None);
        for epsilon in ["0", "1e-4", "0.03", "0.3", "2", "11"] {
            record.note(
                format!("n={n} p={p} e={epsilon}"),
                curve.log_delta(&number(epsilon), &record.questions),
            );
        }
        record.note(format!("n={n} p={p} limit"), curve.infinity_mass(&record.questions));
    }
    record.compare();
}

#[test]
fn epsilon_of_delta() {
    let mut record = Record::of("epsilon of delta");
    for (n, (text, _)) in SIZES.into_iter().flat_map(|n| PROBABILITIES.map(|p| (n, p))) {
        let curve = count(n, text, None);
        for delta in ["0", "1e-300", "1e-9", "0.02", "0.9"] {
            record.note(
                format!("n={n} p={text} d={delta}"),
                inverse::epsilon(&curve, &number(delta), &record.questions),
            );
        }
    }
    record.compare();
}

#[test]
fn type_two_errors() {
    let mut record = Record::of("type two errors");
    for (n, p) in [(1, "0.3"), (4, "1/2"), (100, "0.3"), (1000, "1e-3"), (1 << 40, "1/2")] {
        for direction in [None, Some(Direction::OneAgainstZero)] {
            let curve = count(n, p, direction);
            for level in ["0", "1e-6", "0.05", "0.49", "0.97", "1"] {
                let beta = trade_off::beta(&curve, &number(level), &record.questions);
                let alpha = trade_off::alpha(&curve, &number(level), &record.questions);
                record.note(format!("n={n} p={p} {} at {level}", direction.is_some()), (beta, alpha));
            }
        }
    }
    record.compare();
}

/// A curve keeps what it computed once; what it is asked for first changes nothing.
#[test]
fn the_order_of_questions_changes_no_bit() {
    let epsilons: Vec<Rational> = (0..30).map(|i| exactly(f64::from(i) * 0.003)).collect();
    let ask = |curve: &Curve, epsilon: &Rational| curve.delta(epsilon, &Uninterrupted).unwrap();
    for curve in crate::answers::curves().into_iter().map(|(_, curve)| curve).chain([count(900, "0.3", None)])
    {
        let forwards: Vec<_> = epsilons.iter().map(|epsilon| ask(&curve, epsilon)).collect();
        let again: Vec<_> = epsilons.iter().map(|epsilon| ask(&curve.clone(), epsilon)).collect();
        assert_eq!(forwards, again);
    }
    for ((name, curve), (_, same)) in crate::answers::curves().into_iter().zip(crate::answers::curves()) {
        let forwards: Vec<_> = epsilons.iter().map(|epsilon| ask(&curve, epsilon)).collect();
        let mut backwards: Vec<_> = epsilons.iter().rev().map(|epsilon| ask(&same, epsilon)).collect();
        backwards.reverse();
        assert_eq!(forwards, backwards, "{name}");
    }
}
