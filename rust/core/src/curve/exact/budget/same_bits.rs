//! Estimates of what exact numbers cost, to the last bit: messages show one digit of them.

use super::*;
use crate::curve::{CountFamily, poisson_published, sampled_histogram};
use crate::forms::Directed;
use crate::forms::Direction;
use crate::forms::{BinomialPeaks, BinomialRange};
use crate::numbers::rational::Rational;
use crate::record::{Inner, Plain, Record};

fn number(text: &str) -> Rational {
    Rational::parse(text).unwrap()
}

fn curves() -> Vec<(&'static str, Curve)> {
    let family = |p: &str, direction| CountFamily::new(&number(p), &number(p), direction).unwrap();
    let count = |p: &str, size| family(p, None).of_size(size).unwrap();
    let forwards = || family("3/7", Some(Direction::OneAgainstZero));
    let range = |lower: &str, upper: &str| BinomialRange::new(700, &number(lower), &number(upper)).unwrap();
    let cells = ["1/3", "1/6", "1/2"].map(number);
    vec![
        ("count", count("1/3", 5000)),
        ("dyadic", count("3/1024", 5000)),
        ("one", count("2/7", 1)),
        ("forwards", forwards().of_size(900).unwrap()),
        ("backwards", forwards().of_size(900).unwrap().reversed()),
        ("sampled", forwards().sampled(900, &number("5/11")).unwrap()),
        ("range", Curve::from(Directed(range("1/100", "0.7777"), Direction::OneAgainstZero))),
        ("long range", Curve::from(Directed(range("1/1000000007", "1/2"), Direction::ZeroAgainstOne))),
        ("peaks", {
            let peaks = BinomialPeaks::new(4000, vec![300, 2000], &number("0"), &number("1")).unwrap();
            Curve::from(Directed(peaks, Direction::OneAgainstZero))
        }),
        ("amplified", Curve::amplified(number("3/10"), count("1/3", 800)).unwrap()),
        ("mean", {
            let weights = ["1/7", "6/7"].map(|weight| number(weight).into());
            Curve::Mean(weights.into_iter().zip([count("1/3", 800), count("1/5", 90)]).collect())
        }),
        ("maximum", Curve::Max(vec![count("1/3", 60), count("1/5", 90)])),
        ("known", MeanOverSizes::known_entries(900, 300, 400, family("1/9", None)).unwrap().into()),
        ("many drawn", MeanOverSizes::known_entries(900, 300, 800, family("1/9", None)).unwrap().into()),
        ("poisson", poisson_published(700, &number("2/9"), &number("1/3"), None).unwrap()),
        ("histogram", sampled_histogram(900, 300, &cells, None).unwrap()),
        ("composition", Curve::Max(Vec::new())),
    ]
}

#[test]
fn costs_of_exact_numbers() {
    let mut record = Record::of("costs of exact numbers");
    for (name, curve) in curves() {
        for (logarithm, ratio_bits) in [(0.0, 0.0), (0.2, 3.0), (3.0, 60.0)] {
            let cost = At { logarithm, ratio_bits }.cost(&curve);
            record.note(format!("{name} {logarithm} {ratio_bits}"), Inner(cost));
        }
    }
    for text in ["1", "1/2", "3/8", "5/7", "255/256", "257/256", "1000/3", "0"] {
        record.note(text, Plain(bits(&number(text))));
    }
    record.compare();
}
