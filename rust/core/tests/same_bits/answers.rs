//! Laws of answers as recipes, without noise and with it, and laws on finitely many answers.

use crate::number;
use crate::record::{Plain, Record};
use statpriv_core::answer::{Law, Noise, Relabelling, Sampling};
use statpriv_core::curve::Curve;
use statpriv_core::forms::finite::{ExpEpsilon, Finite, FiniteInDoubles, Probabilities};
use statpriv_core::forms::{Answers, ContinuousNoise, Epsilon, Smoothed};
use statpriv_core::numbers::ball::Ball;
use statpriv_core::numbers::rational::Rational;

fn over(top: u64, bottom: u64) -> Rational {
    Rational::from(top).div(&Rational::from(bottom)).unwrap()
}

/// `Bin(n−1, p)` and the critical entry.
fn shifted(n: u64, p: &str) -> [Law; 2] {
    let others = Law::binomial(n - 1, &number(p)).unwrap();
    [others.shifted(1).unwrap(), others]
}

/// A sum of entries of few values, the critical one 3 or 0.
fn sums(n: u64) -> [Law; 2] {
    let entry = Law::table(0, ["0.2", "0.5", "0", "0.3"].map(number).into()).unwrap();
    let others = entry.repeated(n - 1).unwrap();
    [others.shifted(3).unwrap(), others]
}

fn sampled(n: u64, sampling: &Sampling) -> [Law; 2] {
    shifted(n, "0.4").map(|law| law.sampled(sampling.clone()).unwrap())
}

fn with_noise(laws: [Law; 2], noise: Noise) -> [Law; 2] {
    let noise = Law::noise(noise).unwrap();
    laws.map(|law| Law::sum(vec![law, noise.clone()]).unwrap())
}

fn published(laws: [Law; 2], relabelling: &Relabelling) -> [Law; 2] {
    laws.map(|law| law.relabelled(relabelling.clone()).unwrap())
}

/// The median of ratings of 1 to 5, the critical one the best or the worst.
fn median(n: u64) -> [Law; 2] {
    [false, true].map(|is_low| {
        let count = |x: u64| {
            let others = Law::binomial(n - 1, &over(x + 1, 5)).unwrap();
            if is_low || x == 4 { others.shifted(1).unwrap() } else { others }
        };
        Law::order_statistic((0..5).map(count).collect(), n / 2).unwrap()
    })
}

/// One pair of laws for each kind of recipe.
fn pairs() -> Vec<(&'static str, [Law; 2])> {
    let mixed = |laws: [Law; 2]| {
        let [one, other] = laws;
        let mix =
            |w: u64| Law::mixture(vec![(over(w, 9), one.clone()), (over(9 - w, 9), other.clone())]).unwrap();
        [mix(2), mix(7)]
    };
    let gaussian = || Noise::Gaussian { variance: number("5.5") };
    let rate = number("0.3");
    vec![
        ("count", shifted(400, "0.3")),
        ("long count", shifted(100_000, "0.01")),
        ("sum", sums(60)),
        ("long sum", sums(5000)),
        ("mixture", mixed(shifted(80, "0.6"))),
        ("scaled", shifted(50, "1/2").map(|law| law.scaled(-7).unwrap())),
        ("without replacement", sampled(300, &Sampling::WithoutReplacement { population: 300, size: 100 })),
        ("with replacement", sampled(120, &Sampling::WithReplacement { population: 120, size: 90 })),
        ("poisson", sampled(300, &Sampling::Poisson { rate })),
        ("overlapping", sampled(12, &Sampling::Overlapping { population: 12, sizes: vec![5, 4] })),
        ("suppressed", published(shifted(300, "0.02"), &Relabelling::AtMost(5))),
        (
            "rounded",
            published(shifted(3000, "0.2"), &Relabelling::Quotient { factor: 2, offset: 5, divisor: 10 }),
        ),
        ("clamped", published(sums(40), &Relabelling::Clamped(Some(20), Some(70)))),
        ("table", published(shifted(30, "1/2"), &Relabelling::Table([(3, 4), (15, 16), (20, 16)].into()))),
        ("median", median(31)),
        ("geometric", with_noise(shifted(200, "0.3"), Noise::Geometric { alpha: number("0.8") })),
        ("laplace", with_noise(sums(30), Noise::Laplace { scale: number("2.5") })),
        ("gaussian", with_noise(shifted(100, "0.7"), gaussian())),
        ("truncated", {
            let noise = Law::noise(gaussian()).unwrap().truncated(-9, 9).unwrap();
            shifted(100, "0.7").map(|law| Law::sum(vec![law, noise.clone()]).unwrap())
        }),
        ("alike", {
            let [one, _] = shifted(20, "0.4");
            [one.clone(), one]
        }),
    ]
}

/// Their curves, which keep what they computed.
pub fn curves() -> Vec<(&'static str, Curve)> {
    let curve = |[one, other]: [Law; 2]| Curve::from(Answers::new(one, other));
    pairs().into_iter().map(|(name, laws)| (name, curve(laws))).collect()
}

const EPSILONS: [&str; 7] = ["0", "1e-6", "0.01", "0.07", "0.4", "2", "12"];

#[test]
fn laws_of_answers() {
    let mut record = Record::of("laws of answers");
    for (name, [one, other]) in pairs() {
        let shapes = [&one, &other].map(|law| (law.support(), law.span(), law.is_contiguous()));
        record.note(format!("{name} shapes"), Plain(shapes));
        let pair = Answers::new(one, other);
        for epsilon in EPSILONS {
            let at = Epsilon::new(&number(epsilon));
            record.note(format!("{name} e={epsilon}"), pair.delta(&at, Ball::ZERO, &record.questions));
            record.note(
                format!("{name} reversed e={epsilon}"),
                pair.reversed().delta(&at, Ball::ZERO, &record.questions),
            );
        }
        record.note(format!("{name} limit"), pair.infinity_mass(&record.questions));
        record.note(format!("{name} terms"), pair.terms());
    }
    record.compare();
}

#[test]
fn continuous_noise() {
    let mut record = Record::of("continuous noise");
    let laplace = |scale: &str| ContinuousNoise::Laplace { scale: number(scale) };
    let gaussian = |sigma: &str| ContinuousNoise::Gaussian { sigma: number(sigma) };
    for (name, laws) in [
        ("count", shifted(60, "0.3")),
        ("long", shifted(3000, "1/2")),
        ("one", shifted(1, "1/2")),
        ("rare", shifted(500, "0.002")),
        ("scaled", shifted(30, "0.8").map(|law| law.scaled(4).unwrap())),
    ] {
        for (kind, noise) in [
            ("laplace 3", laplace("3")),
            ("laplace 1/9", laplace("1/9")),
            ("laplace 40", laplace("40")),
            ("laplace 1e-4", laplace("1e-4")),
            ("gaussian 1/2", gaussian("1/2")),
            ("gaussian 2", gaussian("2")),
            ("gaussian 141", gaussian("141")),
            ("gaussian 1e-4", gaussian("1e-4")),
        ] {
            let [one, other] = laws.clone();
            let pair = Smoothed::new(Answers::new(one, other), noise).unwrap();
            for epsilon in ["0", "0.001", "0.05", "0.3", "2", "30"] {
                let at = Epsilon::new(&number(epsilon));
                record.note(
                    format!("{name} {kind} e={epsilon}"),
                    pair.delta(&at, Ball::ZERO, &record.questions),
                );
            }
            let at = Epsilon::new(&number("0.02"));
            record.note(
                format!("{name} {kind} reversed"),
                pair.reversed().delta(&at, Ball::ZERO, &record.questions),
            );
        }
    }
    record.compare();
}

#[test]
fn finite_laws() {
    let mut record = Record::of("finite laws");
    let rational = |weights: &[u64]| {
        let total = weights.iter().sum();
        weights.iter().map(|&weight| over(weight, total)).collect::<Vec<_>>()
    };
    let doubles = |weights: &[u64]| {
        let total: u64 = weights.iter().sum();
        weights.iter().map(|&weight| weight as f64 / total as f64).collect::<Vec<_>>()
    };
    let long: [Vec<u64>; 2] = [7, 11].map(|step| (1..500).map(|i| i * i * step % 1009 + 1).collect());
    let cases = [
        ("coin", [vec![1, 2], vec![2, 1]]),
        ("apart", [vec![1, 0, 3], vec![0, 2, 5]]),
        ("alike", [vec![1, 1, 1], vec![2, 2, 2]]),
        ("nearly", [vec![1_000_000_007, 1_000_000_009], vec![1_000_000_009, 1_000_000_007]]),
        ("long", long),
    ];
    for (name, [p, q]) in &cases {
        let exact = Finite::new(
            Probabilities::exact("P", rational(p)).unwrap(),
            Probabilities::exact("Q", rational(q)).unwrap(),
        )
        .unwrap();
        let (in_p, in_q) = (doubles(p), doubles(q));
        let rough = FiniteInDoubles::new(in_p.clone(), in_q.clone()).unwrap();
        let ratios =
            ["0", "1e-9", "0.2", "0.69", "-0.3", "5", "300"].map(|text| ExpEpsilon::of(number(text)));
        let exactly = ["2", "1/3", "1"].map(|text| ExpEpsilon::exactly(number(text)).unwrap());
        for (i, at) in ratios.iter().chain(&exactly).enumerate() {
            let found =
                (exact.hockey_stick(at, &record.questions), rough.hockey_stick(at, &record.questions));
            record.note(format!("{name} e{i}"), found);
        }
        record.note(format!("{name} at 3/2"), exact.exact(&number("3/2"), &record.questions));
    }
    record.compare();
}
