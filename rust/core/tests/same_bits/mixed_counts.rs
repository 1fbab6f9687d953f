//! Curves of counts that are sampled, gated, grouped, known to a range or in part, and means of counts.

use crate::number;
use crate::record::Record;
use statpriv_core::curve::{
    CountFamily, Curve, MeanOverSizes, Weight, histogram, poisson_published, sampled_histogram,
};
use statpriv_core::forms::Directed;
use statpriv_core::forms::{BinomialPeaks, BinomialRange, Direction, Epsilon, GroupedCount, KnownInSample};
use statpriv_core::inverse;
use statpriv_core::numbers::rational::Rational;

const EPSILONS: [&str; 6] = ["0", "1e-5", "0.01", "0.2", "1", "9"];

/// δ as a ball and as an enclosure, at each of some ε, and its limit.
fn note(record: &mut Record, name: &str, curve: &Curve, epsilons: &[&str]) {
    for epsilon in epsilons {
        let at = Epsilon::new(&number(epsilon));
        let ball = curve.ball(&at, &record.questions);
        record.note(format!("{name} e={epsilon}"), (curve.delta(&number(epsilon), &record.questions), ball));
    }
    record.note(format!("{name} limit"), curve.infinity_mass(&record.questions));
    record.note(format!("{name} terms"), curve.terms());
}

fn family(p: &str, direction: Option<Direction>) -> CountFamily {
    CountFamily::new(&number(p), &number(p), direction).unwrap()
}

#[test]
fn counts_of_samples() {
    let mut record = Record::of("counts of samples");
    for (size, p, inclusion) in [
        (1, "1/2", "1/3"),
        (12, "0.3", "0.9"),
        (1000, "0.01", "1/10"),
        (1_000_000, "1/2", "1/2"),
        (1 << 40, "0.2", "1e-6"),
        (500, "1e-200", "1/7"),
    ] {
        for direction in Direction::BOTH {
            let curve = family(p, Some(direction)).sampled(size, &number(inclusion)).unwrap();
            note(&mut record, &format!("s={size} p={p} w={inclusion} {direction:?}"), &curve, &EPSILONS);
        }
    }
    record.compare();
}

#[test]
fn ranges_of_probabilities() {
    let mut record = Record::of("ranges of probabilities");
    for (size, lower, upper) in [
        (2, "0.1", "0.7"),
        (9, "0.2", "0.3"),
        (300, "0.01", "0.99"),
        (1_000_000, "0.4", "1/2"),
        (1 << 50, "1/3", "0.9"),
        (700, "0", "1"),
    ] {
        let range = BinomialRange::new(size, &number(lower), &number(upper)).unwrap();
        for direction in Direction::BOTH {
            let curve = Curve::from(Directed(range.clone(), direction));
            note(&mut record, &format!("n={size} {lower} to {upper} {direction:?}"), &curve, &EPSILONS);
        }
    }
    record.compare();
}

#[test]
fn gates_and_tests() {
    let mut record = Record::of("gates and tests");
    for (size, tests, lower, upper) in
        [(8, vec![1, 6], "0", "1"), (200, vec![10, 150], "0.1", "0.6"), (100_000, vec![20, 99_000], "0", "1")]
    {
        let peaks = BinomialPeaks::new(size, tests.clone(), &number(lower), &number(upper)).unwrap();
        for direction in Direction::BOTH {
            let curve = Curve::from(Directed(peaks.clone(), direction));
            note(&mut record, &format!("n={size} {tests:?} {lower} {direction:?}"), &curve, &EPSILONS);
        }
    }
    for (whole, size, least, most) in [(60, 50, 5, 40), (5000, 5000, 10, 4990), (5000, 3000, 100, 200)] {
        let curve = CountFamily::gated(whole, least, most, None).unwrap().of_size(size).unwrap();
        note(&mut record, &format!("gate {whole} {size} {least} {most}"), &curve, &EPSILONS);
    }
    record.compare();
}

fn groups(which: usize) -> Vec<(u64, Rational)> {
    match which {
        0 => vec![(3, number("0.2")), (4, number("0.7"))],
        1 => vec![(40, number("1/2")), (100, number("0.01")), (7, number("0.99"))],
        2 => (1..40).map(|i| (50 * i, number("1/40").mul(&Rational::from(i)))).collect(),
        _ => vec![(10_000, number("0.3")), (50, number("1e-9")), (1 << 33, number("0.6"))],
    }
}

#[test]
fn groups_of_entries() {
    let mut record = Record::of("groups of entries");
    for which in 0..4 {
        for direction in Direction::BOTH {
            let curve = Curve::from(Directed(GroupedCount::new(groups(which)).unwrap(), direction));
            note(&mut record, &format!("groups {which} {direction:?}"), &curve, &EPSILONS);
        }
    }
    record.compare();
}

#[test]
fn known_entries_in_a_sample() {
    let mut record = Record::of("known entries in a sample");
    for (population, known, size, p) in [
        (9, 3, 4, "0.3"),
        (100, 0, 30, "1/2"),
        (100, 60, 70, "0.1"),
        (900, 200, 150, "0.7"),
        (1000, 999, 10, "1/2"),
        (300, 100, 300, "0.05"),
    ] {
        for direction in Direction::BOTH {
            let count = KnownInSample::new(population, known, size, &number(p)).unwrap();
            let curve = Curve::from(Directed(count, direction));
            note(&mut record, &format!("{population} {known} {size} {p} {direction:?}"), &curve, &EPSILONS);
        }
    }
    record.compare();
}

#[test]
fn means_over_sizes() {
    let mut record = Record::of("means over sizes");
    for (population, known, size) in
        [(12, 4, 5), (1000, 300, 400), (10_000, 9000, 500), (1 << 30, 1000, 1 << 20)]
    {
        for direction in [None, Some(Direction::OneAgainstZero)] {
            let mean =
                MeanOverSizes::known_entries(population, known, size, family("0.4", direction)).unwrap();
            let name = format!("known {population} {known} {size} {}", direction.is_some());
            note(&mut record, &name, &mean.clone().into(), &EPSILONS);
            note(
                &mut record,
                &format!("{name} thresholds"),
                &mean.with_thresholds(5).into(),
                &["0.01", "0.2"],
            );
        }
    }
    for (size, others, share) in [(9, 5, "0.3"), (900, 899, "0.99"), (1 << 14, 1 << 13, "1/2")] {
        let range = CountFamily::new(&number("0.2"), &number("0.6"), None).unwrap();
        for (kind, family) in [("known", family("0.7", None)), ("range", range)] {
            let mean = MeanOverSizes::irrelevant_entries(size, others, &number(share), family).unwrap();
            note(&mut record, &format!("{kind} {size} {others} {share}"), &mean.into(), &EPSILONS);
        }
    }
    for (population, rate, p) in [(7, "1/2", "0.3"), (3000, "0.01", "1/2"), (10_000, "0.9", "0.001")] {
        let curve = poisson_published(population, &number(rate), &number(p), None).unwrap();
        note(&mut record, &format!("poisson {population} {rate} {p}"), &curve, &EPSILONS);
    }
    record.compare();
}

#[test]
fn histograms() {
    let mut record = Record::of("histograms");
    let cells = |text: &[&str]| text.iter().map(|p| number(p)).collect::<Vec<_>>();
    for (population, size, masses, pair) in [
        (8, 8, cells(&["0.2", "0.8"]), None),
        (8, 5, cells(&["0.2", "0.3", "0.5"]), Some((0, 2))),
        (2000, 2000, cells(&["1/4", "1/4", "1/2"]), None),
        (2000, 300, cells(&["0.01", "0.09", "0.9"]), None),
        (1_000_000, 1_000_000, cells(&["0.001", "0.002", "0.997"]), Some((1, 0))),
        (1_000_000, 90_000, cells(&["0.1", "0.2", "0.7"]), None),
    ] {
        let curve = if population == size {
            histogram(size, &masses, pair).unwrap()
        } else {
            sampled_histogram(population, size, &masses, pair).unwrap()
        };
        note(&mut record, &format!("{population} {size} {} cells {pair:?}", masses.len()), &curve, &EPSILONS);
    }
    record.compare();
}

#[test]
fn combined_curves() {
    let mut record = Record::of("combined curves");
    let count = |n, p: &str| family(p, None).of_size(n).unwrap();
    let weight = |text: &str| Weight::from(number(text));
    let curves = [
        ("amplified", Curve::amplified(number("0.1"), count(1000, "1/2")).unwrap()),
        ("slightly amplified", Curve::amplified(number("1e-9"), count(40, "0.2")).unwrap()),
        ("mean", Curve::Mean(vec![(weight("1/3"), count(90, "0.2")), (weight("1/2"), count(4000, "0.7"))])),
        ("least", Curve::Min(vec![count(300, "0.2"), Curve::Max(vec![count(90, "1/2"), count(91, "0.6")])])),
    ];
    for (name, curve) in curves {
        note(&mut record, name, &curve, &EPSILONS);
        for delta in ["1e-12", "0.001", "0.02"] {
            record.note(
                format!("{name} d={delta}"),
                inverse::epsilon(&curve, &number(delta), &record.questions),
            );
        }
    }
    record.compare();
}
