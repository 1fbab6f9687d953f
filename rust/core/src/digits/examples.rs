//! Curves of every kind, small enough for every tier.

use crate::answer::Law;
use crate::curve::{CountFamily, Curve, MeanOverSizes, Weight, poisson_published, sampled_histogram};
use crate::forms::Directed;
use crate::forms::{
    Answers, BinomialPeaks, BinomialRange, Direction, GroupedCount, KnownInSample, VariedCount,
};
use crate::numbers::rational::Rational;
use Direction::{OneAgainstZero, ZeroAgainstOne};

pub(crate) fn number(text: &str) -> Rational {
    Rational::parse(text).unwrap()
}

fn family(p: &str, direction: Option<Direction>) -> CountFamily {
    CountFamily::new(&number(p), &number(p), direction).unwrap()
}

fn count(n: u64, p: &str, direction: Option<Direction>) -> Curve {
    family(p, direction).of_size(n).unwrap()
}

fn sampled(n: u64, p: &str, inclusion: &str, direction: Direction) -> Curve {
    family(p, Some(direction)).sampled(n, &number(inclusion)).unwrap()
}

fn answers(first: &[&str], second: &[&str]) -> Curve {
    let law = |masses: &[&str]| Law::table(-1, masses.iter().map(|mass| number(mass)).collect()).unwrap();
    Curve::from(Answers::new(law(first), law(second)))
}

fn known_entries(p: &str) -> MeanOverSizes {
    MeanOverSizes::known_entries(40, 12, 20, family(p, None)).unwrap()
}

/// Every curve except those over a range of probabilities has terms `A − e^ε B`.
pub(crate) fn curves() -> Vec<(&'static str, Curve)> {
    let range = |lower, upper| BinomialRange::new(9, &number(lower), &number(upper)).unwrap();
    let peaks = |tests| BinomialPeaks::new(25, tests, &number("1/20"), &number("9/10")).unwrap();
    let groups = || vec![(5, number("0.2")), (0, number("1/2")), (7, number("0.6"))];
    let part = |weight, curve| (Weight::from(number(weight)), curve);
    let known = KnownInSample::new(30, 4, 11, &number("0.3")).unwrap();
    let histogram = [number("0.2"), number("0.3"), number("0.5")];
    vec![
        ("one entry", count(1, "1/3", None)),
        ("two entries", count(2, "1/3", Some(ZeroAgainstOne))),
        ("count", count(7, "1/3", None)),
        ("symmetric count", count(64, "1/2", None)),
        ("large count", count(1 << 40, "2/7", Some(OneAgainstZero))),
        ("no other entry counts", sampled(6, "0", "1/4", OneAgainstZero)),
        ("no other entry counts, reversed", sampled(6, "0", "1/4", ZeroAgainstOne)),
        ("all others count", sampled(6, "1", "2/5", OneAgainstZero)),
        ("all others count, certainly with it", count(6, "1", Some(OneAgainstZero))),
        ("sampled count", sampled(20, "0.3", "1/4", OneAgainstZero)),
        ("sampled count, reversed", sampled(20, "0.3", "1/4", ZeroAgainstOne)),
        ("range", Curve::from(Directed(range("0.2", "0.7"), OneAgainstZero))),
        ("range, reversed", Curve::from(Directed(range("0.2", "0.6"), ZeroAgainstOne))),
        ("open range", Curve::from(Directed(range("0", "0.7"), OneAgainstZero))),
        ("peaks", Curve::from(Directed(peaks(vec![3, 11, 18]), OneAgainstZero))),
        ("peaks, reversed", Curve::from(Directed(peaks(vec![3, 20]), ZeroAgainstOne))),
        ("answers", answers(&["0.1", "0.2", "0.7"], &["0.3", "0.6", "0.1"])),
        ("answers that give away", answers(&["0.1", "0", "0.9"], &["0.5", "0.3", "0.2"])),
        ("groups", Curve::from(Directed(GroupedCount::new(groups()).unwrap(), OneAgainstZero))),
        ("varied", Curve::from(Directed(VariedCount::new(groups()).unwrap(), ZeroAgainstOne))),
        ("known in a sample", Curve::from(Directed(known, ZeroAgainstOne))),
        ("known entries", known_entries("0.4").into()),
        ("known entries at thresholds", known_entries("0.4").with_thresholds(6).into()),
        ("published size", poisson_published(30, &number("0.2"), &number("1/2"), None).unwrap()),
        ("histogram", sampled_histogram(30, 12, &histogram, None).unwrap()),
        ("amplified", Curve::amplified(number("0.1"), count(30, "1/2", None)).unwrap()),
        ("mean", Curve::Mean(vec![part("1/3", count(9, "0.2", None)), part("1/2", count(4, "0.7", None))])),
        ("maximum", Curve::Max(vec![count(9, "0.2", None), count(9, "4/5", None), count(30, "1/2", None)])),
        ("minimum", Curve::Min(vec![count(9, "0.2", None), count(5, "1/2", None)])),
    ]
}
