//! Numbers to many digits, and exact ones.

use crate::record::Record;
use crate::{around, number};
use statpriv_core::curve::exact::{exact_delta, exact_terms};
use statpriv_core::curve::{CountFamily, Curve, MeanOverSizes, Weight, poisson_published, sampled_histogram};
use statpriv_core::digits;
use statpriv_core::forms::Directed;
use statpriv_core::forms::{BinomialPeaks, BinomialRange, Direction, GroupedCount, KnownInSample};

const DIGITS: [u32; 3] = [3, 25, 200];

#[test]
fn digits_of_binomial_laws() {
    let mut record = Record::of("digits of binomial laws");
    for (n, text, p) in [
        (1, "1/2", 0.5),
        (40, "0.3", 0.3),
        (1000, "1/3000", 1.0 / 3000.0),
        (1_000_000, "0.999", 0.999),
        (1_000_000_000_000, "1/2", 0.5),
        (1 << 53, "1e-9", 1e-9),
    ] {
        let p_given = number(text);
        for (k, digits) in [-4.0, 0.5, 12.0].into_iter().flat_map(|x| DIGITS.map(|d| (around(n, p, x), d))) {
            let pmf = digits::binomial_pmf(k, n, &p_given, digits, &record.questions);
            let log_pmf = digits::binomial_log_pmf(k, n, &p_given, digits, &record.questions);
            let tail = digits::binomial_upper_tail(k, n, &p_given, digits.min(60), &record.questions);
            record.note(format!("n={n} p={text} k={k} {digits} digits"), (pmf, (log_pmf, tail)));
        }
    }
    record.compare();
}

fn family(p: &str, direction: Option<Direction>) -> CountFamily {
    CountFamily::new(&number(p), &number(p), direction).unwrap()
}

fn curves() -> Vec<(&'static str, Curve)> {
    let range = BinomialRange::new(50, &number("0.2"), &number("0.7")).unwrap();
    let peaks = BinomialPeaks::new(40, vec![3, 30], &number("0"), &number("1")).unwrap();
    let groups = GroupedCount::new(vec![(20, number("0.2")), (30, number("0.6"))]).unwrap();
    let known = KnownInSample::new(60, 20, 25, &number("0.3")).unwrap();
    let mean = |size| MeanOverSizes::known_entries(size, size / 3, size / 2, family("0.4", None)).unwrap();
    let cells = ["0.2", "0.3", "0.5"].map(number);
    let count = |n, p: &str| family(p, None).of_size(n).unwrap();
    vec![
        ("small count", count(7, "1/3")),
        ("count", count(1024, "1/2")),
        ("large count", count(1 << 50, "0.3")),
        ("one direction", family("0.01", Some(Direction::ZeroAgainstOne)).of_size(5000).unwrap()),
        ("sampled count", family("0.3", None).sampled(200, &number("1/4")).unwrap()),
        ("range", Curve::from(Directed(range, Direction::OneAgainstZero))),
        ("peaks", Curve::from(Directed(peaks, Direction::OneAgainstZero))),
        ("closed peaks", {
            let peaks = BinomialPeaks::new(40, vec![3, 30], &number("1/20"), &number("9/10")).unwrap();
            Curve::from(Directed(peaks, Direction::ZeroAgainstOne))
        }),
        ("groups", Curve::from(Directed(groups, Direction::OneAgainstZero))),
        ("known", Curve::from(Directed(known, Direction::ZeroAgainstOne))),
        ("mean over sizes", mean(90).into()),
        ("poisson", poisson_published(60, &number("0.2"), &number("1/2"), None).unwrap()),
        ("histogram", sampled_histogram(50, 20, &cells, None).unwrap()),
        ("amplified", Curve::amplified(number("0.1"), count(300, "1/2")).unwrap()),
        (
            "mean",
            Curve::Mean(vec![
                (Weight::from(number("1/3")), count(90, "0.2")),
                (Weight::from(number("2/3")), count(40, "0.7")),
            ]),
        ),
        ("answers", crate::answers::curves().into_iter().find(|(name, _)| *name == "sum").unwrap().1),
    ]
}

#[test]
fn digits_of_curves() {
    let mut record = Record::of("digits of curves");
    for (name, curve) in curves() {
        for (epsilon, digits) in
            ["0", "0.001", "0.3", "4", "-0.2"].into_iter().flat_map(|e| [10, 40].map(|d| (e, d)))
        {
            let delta =
                statpriv_core::curve::digits::delta(&curve, &number(epsilon), digits, &record.questions);
            record.note(format!("{name} e={epsilon} {digits} digits"), delta);
        }
        record.note(
            format!("{name} logarithm"),
            statpriv_core::curve::digits::log_delta(&curve, &number("0.2"), 30, &record.questions),
        );
        record.note(
            format!("{name} limit"),
            statpriv_core::curve::digits::infinity_mass(&curve, 30, &record.questions),
        );
    }
    record.compare();
}

#[test]
fn exact_values() {
    let mut record = Record::of("exact values");
    for (name, curve) in curves() {
        for ratio in ["1", "11/10", "5/2", "1/2", "1e6"] {
            record.note(format!("{name} at {ratio}"), exact_delta(&curve, &number(ratio), &record.questions));
        }
        for epsilon in ["0", "0.1", "2", "-0.1"] {
            record.note(
                format!("{name} terms e={epsilon}"),
                exact_terms(&curve, &number(epsilon), &record.questions),
            );
        }
    }
    record.compare();
}
