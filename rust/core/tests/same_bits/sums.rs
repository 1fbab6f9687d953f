//! Sums of independent variables: by inversion and by convolution.

use crate::number;
use crate::record::Record;
use statpriv_core::fourier::{BinomialGroup, Lattice, LatticeSum, Repeated, Trials, TwoSidedGeometric};
use statpriv_core::interrupt::Uninterrupted;
use statpriv_core::laws::Probability;
use statpriv_core::numbers::ball::Ball;

fn ball(text: &str) -> Ball {
    Ball::from_rational(&number(text))
}

fn group(count: u64, p: &str, weight: u32) -> BinomialGroup {
    BinomialGroup { count, at: Probability::new(&number(p)).unwrap(), weight }
}

fn repeated(first: i64, masses: &[&str], count: u64) -> Repeated {
    Repeated { first, masses: masses.iter().map(|mass| ball(mass)).collect(), count }
}

fn trials(count: u64) -> Trials {
    let p = |i: u64| ball(&format!("{}/{}", i % 97 + 1, 100 * (1 + i % 3)));
    Trials::new(&(0..count).map(|i| (p(i), Ball::ONE - p(i))).collect::<Vec<_>>())
}

fn sums() -> Vec<(&'static str, Vec<Box<dyn Lattice>>)> {
    let tiny =
        |i: i64| if i < 3 { (ball("1e-60"), Ball::ONE - ball("1e-60")) } else { (ball("1/3"), ball("2/3")) };
    vec![
        ("one group", vec![Box::new(group(500, "0.3", 1))]),
        ("two groups", vec![Box::new(group(90, "0.2", 1)), Box::new(group(1 << 40, "0.6", 1))]),
        ("weighted", vec![Box::new(group(300, "1/2", 3)), Box::new(group(70, "0.01", 5))]),
        ("rare", vec![Box::new(group(1 << 30, "1e-9", 1)), Box::new(group(4, "0.999", 2))]),
        ("few values", vec![Box::new(repeated(-2, &["0.1", "0", "0.6", "0.3"], 400))]),
        ("rare value", vec![Box::new(repeated(0, &["0.999999", "0", "0", "1e-6"], 100_000))]),
        ("noise", vec![Box::new(TwoSidedGeometric { alpha: ball("0.9") })]),
        (
            "noisy group",
            vec![Box::new(group(2000, "0.4", 1)), Box::new(TwoSidedGeometric { alpha: ball("0.5") })],
        ),
        ("trials", vec![Box::new(trials(700))]),
        (
            "extreme trials",
            vec![
                Box::new(Trials::new(&(0..40).map(tiny).collect::<Vec<_>>())),
                Box::new(group(50, "0.9", 1)),
            ],
        ),
    ]
}

/// About the middle of a law, and how far it spreads.
fn middle(sum: &LatticeSum<'_>) -> (i64, i64) {
    let (first, last, _) = sum.window(ball("0.1"), &Uninterrupted).unwrap();
    (i64::midpoint(first, last), (last - first) / 16 + 1)
}

#[test]
fn sums_by_inversion() {
    let mut record = Record::of("sums by inversion");
    for (name, parts) in sums().into_iter().filter(|(name, _)| *name != "noise") {
        let sum = LatticeSum::new(parts.iter().map(AsRef::as_ref).collect());
        let (middle, deviation) = middle(&sum);
        for x in [-12, -3, 0, 1, 5, 30] {
            let k = middle + x * deviation;
            record.note(format!("{name} at {x}"), sum.probability(k, &record.questions));
            record.note(format!("{name} from {x}"), sum.upper_tail(k, &record.questions));
        }
        for most in ["0.01", "1e-20", "1e-200"] {
            let window = sum.window(ball(most), &record.questions).unwrap();
            record.note(format!("{name} window {most} {} {}", window.0, window.1), window.2);
        }
    }
    record.compare();
}

#[test]
fn rows_by_inversion() {
    let mut record = Record::of("rows by inversion");
    for (name, parts) in sums()
        .into_iter()
        .filter(|(name, _)| ["one group", "weighted", "few values", "trials"].contains(name))
    {
        let sum = LatticeSum::new(parts.iter().map(AsRef::as_ref).collect());
        let (middle, deviation) = middle(&sum);
        let reach = (7 * deviation).min(300);
        let row = sum.probabilities(middle - reach, middle + reach, &record.questions).unwrap();
        for (i, run) in row.chunks(128).enumerate() {
            record.note(format!("{name} run {i}"), run.to_vec());
        }
    }
    record.compare();
}

/// Cumulants and bounds of single variables.
#[test]
fn lattice_variables() {
    let mut record = Record::of("lattice variables");
    for (name, parts) in sums() {
        for (i, part) in parts.iter().enumerate() {
            for (c, angle) in [("0", "0"), ("0.05", "0.3"), ("-0.1", "2"), ("0.4", "-1")] {
                let s = statpriv_core::numbers::complex::Complex { re: ball(c), im: ball(angle) };
                let (cumulant, (exponent, factor)) = (part.cumulant(s), part.transform(s));
                let balls = vec![cumulant.re, cumulant.im, exponent.re, exponent.im, factor.re, factor.im];
                let (mean, variance) = part.moments(ball(c));
                let spread =
                    part.spread(ball(c)).into_iter().map(|(_, strength)| strength).collect::<Vec<_>>();
                record.note(format!("{name} {i} at {c} {angle}"), (balls, (spread, (mean, variance))));
            }
        }
    }
    record.compare();
}
