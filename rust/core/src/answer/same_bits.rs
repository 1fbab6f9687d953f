//! Shapes, rows and pairs of rows of laws, to the last bit.

use super::pmf::{row, rows};
use super::*;
use crate::interrupt::Uninterrupted;
use crate::record::{Inner, Plain, Record};

fn number(text: &str) -> Rational {
    Rational::parse(text).unwrap()
}

fn binomial(trials: u64, p: &str) -> Law {
    Law::binomial(trials, &number(p)).unwrap()
}

fn table(first: i64, masses: &[&str]) -> Law {
    Law::table(first, masses.iter().map(|mass| number(mass)).collect()).unwrap()
}

fn noise(noise: Noise) -> Law {
    Law::noise(noise).unwrap()
}

fn sum(parts: &[&Law]) -> Law {
    Law::sum(parts.iter().map(|&law| law.clone()).collect()).unwrap()
}

/// Laws that a window, or all of it, can be written out of.
fn of_the_data() -> Vec<(&'static str, Law)> {
    let count = binomial(60, "0.3");
    let few = table(-1, &["1/4", "0", "1/2", "1/4"]);
    let far = table(0, &["1/2", "1/4", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "1/4"]);
    let sampled = |law: &Law, sampling| law.sampled(sampling).unwrap();
    let published = |law: &Law, labels| law.relabelled(labels).unwrap();
    let mixture = |parts: &[(&str, &Law)]| {
        Law::mixture(parts.iter().map(|&(weight, law)| (number(weight), law.clone())).collect()).unwrap()
    };
    let at_most = |k: u64| Law::binomial(9, &number(&format!("{k}/5"))).unwrap();
    let counts: Vec<Law> = [0, 1, 1, 3, 5].map(at_most).into();
    let sparse = vec![counts[1].clone(), counts[1].clone(), counts[3].clone(), counts[4].clone()];
    vec![
        ("count", count.clone()),
        ("long count", binomial(100_000, "0.001")),
        ("table", few.clone()),
        ("zeros outside", table(3, &["0", "0", "1/3", "2/3", "0"])),
        ("repeated", few.repeated(30).unwrap()),
        ("far apart", far.repeated(3000).unwrap()),
        ("two values", table(0, &["1/3", "0", "0", "0", "2/3"]).repeated(2000).unwrap()),
        ("long repeated", few.repeated(5000).unwrap()),
        ("sum", sum(&[&count, &few.repeated(4).unwrap().shifted(7).unwrap(), &few.scaled(-3).unwrap()])),
        (
            "long sum",
            sum(&[
                &binomial(3000, "0.4"),
                &few.repeated(900).unwrap(),
                &binomial(2000, "0.1").scaled(2).unwrap(),
            ]),
        ),
        ("mixture", mixture(&[("1/9", &count), ("3/9", &count.shifted(70).unwrap()), ("5/9", &few)])),
        (
            "touching",
            mixture(&[("1/3", &binomial(5, "1/2")), ("2/3", &binomial(5, "1/2").shifted(6).unwrap())]),
        ),
        ("gap", mixture(&[("1/3", &binomial(5, "1/2")), ("2/3", &binomial(5, "1/2").shifted(7).unwrap())])),
        ("scaled", count.scaled(-7).unwrap()),
        ("without replacement", sampled(&count, Sampling::WithoutReplacement { population: 60, size: 25 })),
        (
            "nearly all",
            sampled(&count.shifted(40).unwrap(), Sampling::WithoutReplacement { population: 100, size: 90 }),
        ),
        ("with replacement", sampled(&count, Sampling::WithReplacement { population: 60, size: 40 })),
        ("poisson", sampled(&count, Sampling::Poisson { rate: number("0.3") })),
        (
            "overlapping",
            sampled(&binomial(8, "0.3"), Sampling::Overlapping { population: 8, sizes: vec![3, 4] }),
        ),
        ("at most", published(&count, Relabelling::AtMost(9))),
        ("rounded", published(&count, Relabelling::Quotient { factor: 2, offset: 5, divisor: 10 })),
        ("mirrored", published(&count, Relabelling::Quotient { factor: -3, offset: 1, divisor: 2 })),
        ("clamped", published(&few.repeated(30).unwrap(), Relabelling::Clamped(Some(5), Some(40)))),
        ("clamped below", published(&count, Relabelling::Clamped(Some(15), None))),
        ("labels", published(&count, Relabelling::Table([(3, 4), (18, 90), (20, -16)].into()))),
        ("order statistic", Law::order_statistic(counts, 4).unwrap()),
        ("sparse order statistic", Law::order_statistic(sparse, 9).unwrap()),
        ("truncated", noise(Noise::Gaussian { variance: number("5.5") }).truncated(-9, 12).unwrap()),
        ("truncated geometric", noise(Noise::Geometric { alpha: number("0.8") }).truncated(-30, 20).unwrap()),
    ]
}

/// Their sums with noise that has no bounds, and it alone.
fn noisy() -> Vec<(&'static str, Law)> {
    let geometric = || noise(Noise::Geometric { alpha: number("0.8") });
    let laplace = || noise(Noise::Laplace { scale: number("2.5") });
    let count = binomial(20, "0.3");
    vec![
        ("geometric", geometric()),
        ("laplace", laplace()),
        ("gaussian", noise(Noise::Gaussian { variance: number("5.5") })),
        ("rounded laplace", noise(Noise::RoundedLaplace { scale: number("1.5") })),
        ("rounded gaussian", noise(Noise::RoundedGaussian { sigma: number("1.5") })),
        ("count and geometric", sum(&[&count, &geometric()])),
        ("count and two noises", sum(&[&geometric(), &count, &laplace()])),
        ("shifted noise", sum(&[&geometric().shifted(3).unwrap(), &count])),
        ("sums of noise", laplace().repeated(2).unwrap()),
        (
            "clamped noise",
            sum(&[&count, &laplace()]).relabelled(Relabelling::Clamped(Some(0), Some(20))).unwrap(),
        ),
        (
            "clamped from above",
            sum(&[&count, &laplace()]).relabelled(Relabelling::Clamped(None, Some(20))).unwrap(),
        ),
        ("suppressed noise", sum(&[&count, &laplace()]).relabelled(Relabelling::AtMost(3)).unwrap()),
        ("scaled noise", laplace().scaled(-2).unwrap()),
        (
            "mixed noise",
            Law::mixture(vec![(number("1/3"), laplace()), (number("2/3"), count.clone())]).unwrap(),
        ),
    ]
}

pub(super) fn laws() -> Vec<(&'static str, Law)> {
    of_the_data().into_iter().chain(noisy()).collect()
}

#[test]
fn shapes_of_laws() {
    let mut record = Record::of("shapes of laws");
    for (name, law) in laws() {
        let shape = (law.support(), law.span(), law.is_contiguous(), law.is_everywhere());
        record.note(name, Plain(shape));
        let noise = law.without_noise().map(|(data, noise)| (data.support(), noise.clone()));
        record.note(format!("{name} without noise"), Inner(noise));
    }
    record.compare();
}

#[test]
fn rows_of_laws() {
    let mut record = Record::of("rows of laws");
    for (name, law) in laws() {
        for left_out in [None, Some(10), Some(80), Some(300)] {
            record.note(format!("{name} {left_out:?}"), Inner(row(&law, left_out, &record.questions)));
        }
    }
    record.compare();
}

/// Rows of which the window is the whole of a long law are long themselves.
#[test]
fn pairs_of_rows() {
    let mut record = Record::of("pairs of rows");
    let pairs = laws().into_iter().filter(|(name, _)| !name.starts_with("far") && !name.starts_with("long"));
    for (name, law) in pairs {
        let moved = match law.recipe() {
            Recipe::Sampled(inner, sampling) if inner.support().0 == Some(0) => {
                let more = binomial(inner.support().1.unwrap().unsigned_abs(), "0.35");
                more.sampled(sampling.clone()).unwrap()
            }
            Recipe::Relabelled(inner, labels) => {
                inner.shifted(1).unwrap().relabelled(labels.clone()).unwrap()
            }
            Recipe::Sum(parts) => {
                let moved: Vec<Law> = parts
                    .iter()
                    .enumerate()
                    .map(|(place, part)| {
                        let is_data = !matches!(part.recipe(), Recipe::Noise(_));
                        if is_data && place < 2 { part.shifted(1).unwrap() } else { part.clone() }
                    })
                    .collect();
                Law::sum(moved).unwrap()
            }
            _ => law.shifted(1).unwrap(),
        };
        for left_out in [None, Some(60)] {
            record.note(
                format!("{name} {left_out:?}"),
                Inner(rows([&law, &moved], left_out, &record.questions)),
            );
        }
        let masses = rationals::masses(&[law, moved], &Uninterrupted);
        record.note(format!("{name} exactly"), Inner(masses));
    }
    record.compare();
}
