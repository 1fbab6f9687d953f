//! Numbers to many digits, and exact ones.

use crate::record::{Plain, Record};
use crate::{around, number};
use statpriv_core::answer::{Law, Noise, Sampling};
use statpriv_core::curve::exact::{exact_delta, exact_terms};
use statpriv_core::curve::{CountFamily, Curve, MeanOverSizes, Weight, poisson_published, sampled_histogram};
use statpriv_core::digits;
use statpriv_core::forms::Directed;
use statpriv_core::forms::{Answers, BinomialPeaks, BinomialRange, Direction, GroupedCount, KnownInSample};
use statpriv_core::laws::Hypergeometric;
use statpriv_core::numbers::rational::Rational;

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

#[test]
fn digits_of_hypergeometric_laws() {
    let mut record = Record::of("digits of hypergeometric laws");
    for (population, marked, draws) in
        [(9, 4, 5), (1000, 10, 500), (1_000_000, 500_000, 2000), (1_000_000_000, 300_000_000, 600_000)]
    {
        let law = Hypergeometric::new(population, marked, draws).unwrap();
        let deviation = law.standard_deviation() as u64;
        for k in [law.least(), law.mode(), (law.mode() + 5 * deviation).min(law.greatest())] {
            for digits in DIGITS {
                let pmf = digits::hypergeometric_pmf(k, &law, digits, &record.questions);
                let log_pmf = digits::hypergeometric_log_pmf(k, &law, digits, &record.questions);
                let tail = digits::hypergeometric_upper_tail(k, &law, digits.min(60), &record.questions);
                record.note(
                    format!("{population} {marked} {draws} k={k} {digits} digits"),
                    (pmf, (log_pmf, tail)),
                );
            }
        }
    }
    let p: Vec<_> = (0..30).map(|i| number(&format!("{i}/37"))).collect();
    record.note("poisson-binomial", digits::poisson_binomial_pmf(&p, 40, &record.questions));
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
fn digits_of_epsilon() {
    let mut record = Record::of("digits of epsilon");
    for (name, curve) in curves().into_iter().filter(|(name, _)| *name != "answers") {
        for delta in ["0.01", "1e-7"] {
            let epsilon =
                statpriv_core::curve::digits::epsilon(&curve, &number(delta), 25, &record.questions);
            record.note(format!("{name} d={delta}"), epsilon);
        }
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

/// Curves whose exact values are too large to be written out.
fn large_curves() -> Vec<(&'static str, Curve)> {
    let p = crate::exactly(0.3);
    let family = || CountFamily::new(&p, &p, None).unwrap();
    let one_direction = || CountFamily::new(&p, &p, Some(Direction::OneAgainstZero)).unwrap();
    let third = number("1/3");
    let rest = number("1").sub(&p);
    let groups = GroupedCount::new(vec![(2_000_000, p.clone()), (3_000_000, third.clone())]).unwrap();
    let known = KnownInSample::new(6_000_000, 2_000_000, 2_500_000, &p).unwrap();
    let mean = MeanOverSizes::known_entries(9_000_000, 3_000_000, 4_000_000, family()).unwrap();
    vec![
        ("count", family().of_size(10_000_000).unwrap()),
        ("one direction", one_direction().of_size(20_000_000).unwrap()),
        ("sampled count", family().sampled(9_000_000, &third).unwrap()),
        ("range", {
            let range = BinomialRange::new(3_000_000, &p, &number("0.7")).unwrap();
            Curve::from(Directed(range, Direction::OneAgainstZero))
        }),
        ("peaks", {
            let peaks =
                BinomialPeaks::new(90_000_000, vec![300, 40_000_000], &number("0"), &number("1")).unwrap();
            Curve::from(Directed(peaks, Direction::OneAgainstZero))
        }),
        ("groups", Curve::from(Directed(groups, Direction::OneAgainstZero))),
        ("known", Curve::from(Directed(known, Direction::ZeroAgainstOne))),
        ("mean over sizes", mean.into()),
        ("poisson", poisson_published(5_000_000, &third, &p, None).unwrap()),
        ("histogram", sampled_histogram(5_000_000, 2_000_000, &[p.clone(), rest], None).unwrap()),
        ("amplified", Curve::amplified(third, family().of_size(30_000_000).unwrap()).unwrap()),
    ]
    .into_iter()
    .chain(large_laws(&p).map(|(name, law)| {
        let shifted = law.shifted(1).unwrap();
        (name, Curve::from(Answers::new(shifted, law)))
    }))
    .collect()
}

/// Laws of which not all probabilities can be written out as rationals.
fn large_laws(p: &Rational) -> [(&'static str, Law); 9] {
    let n = 10_000_000;
    let (count, third) = (Law::binomial(n, p).unwrap(), number("1/3"));
    let sampled = |sampling| count.sampled(sampling).unwrap();
    let entry = Law::table(0, vec![p.clone(), number("1").sub(p)]).unwrap();
    let long = entry.repeated(3_000_000).unwrap();
    let weights = [third.clone(), number("2/3")];
    let noise =
        Law::noise(Noise::Geometric { alpha: p.clone() }).unwrap().truncated(-4_000_000, 4_000_000).unwrap();
    [
        ("binomial", count.clone()),
        ("repeated", long.clone()),
        ("without replacement", sampled(Sampling::WithoutReplacement { population: n, size: n / 2 })),
        ("with replacement", sampled(Sampling::WithReplacement { population: n, size: n / 3 })),
        ("sampled alone", sampled(Sampling::Poisson { rate: third })),
        ("sum", Law::sum(vec![count.clone(), long.clone()]).unwrap()),
        ("mixture", Law::mixture(weights.into_iter().zip([count.clone(), long]).collect()).unwrap()),
        ("order statistic", Law::order_statistic(vec![count.clone(), Law::point(n as i64)], n / 2).unwrap()),
        ("with noise", Law::sum(vec![noise, count]).unwrap()),
    ]
}

/// What it would take is part of the message.
#[test]
fn estimates_of_what_is_refused() {
    let mut record = Record::of("estimates of what is refused");
    for (name, curve) in large_curves() {
        for ratio in ["11/10", "1000/7"] {
            let refused = exact_delta(&curve, &number(ratio), &record.questions).unwrap_err();
            record.note(format!("{name} at {ratio}"), Plain(refused.to_string()));
        }
        let refused = exact_terms(&curve, &number("0.01"), &record.questions).unwrap_err();
        record.note(format!("{name} terms"), Plain(refused.to_string()));
    }
    record.compare();
}
