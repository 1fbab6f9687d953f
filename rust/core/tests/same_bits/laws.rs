//! Probabilities, tails and rows of laws.

use crate::record::Record;
use crate::{around, exactly, number};
use statpriv_core::answer::PoissonBinomial;
use statpriv_core::laws::{
    Hypergeometric, Probability, binomial_log_pmf, binomial_lower_tail, binomial_pmf, binomial_upper_tail,
    hypergeometric_lower_tail, hypergeometric_upper_tail,
};

const SIZES: [u64; 10] =
    [1, 2, 33, 65, 1000, 32_768, 1_000_000, 1_000_000_007, 1_000_000_000_000_000, 1 << 53];
const PROBABILITIES: [(&str, f64); 7] = [
    ("1/2", 0.5),
    ("0.3", 0.3),
    ("1/3000", 1.0 / 3000.0),
    ("1e-9", 1e-9),
    ("0.999", 0.999),
    ("1e-300", 1e-300),
    ("0.5000000000000000000001", 0.5),
];

/// Counts at the ends and some deviations from the mean.
fn counts(n: u64, p: f64, deviations: &[f64]) -> Vec<u64> {
    let mut counts: Vec<u64> = deviations.iter().map(|&x| around(n, p, x)).chain([0, n]).collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

#[test]
fn binomial_probabilities() {
    let mut record = Record::of("binomial probabilities");
    for (n, (text, p)) in SIZES.into_iter().flat_map(|n| PROBABILITIES.map(|p| (n, p))) {
        let at = Probability::new(&number(text)).unwrap();
        for k in counts(n, p, &[-5.0, 0.3, 30.0]) {
            let input = format!("n={n} p={text} k={k}");
            record.note(&input, (binomial_pmf(k, n, &at), binomial_log_pmf(k, n, &at)));
        }
    }
    record.compare();
}

#[test]
fn binomial_tails() {
    let mut record = Record::of("binomial tails");
    for (n, (text, p)) in SIZES.into_iter().flat_map(|n| PROBABILITIES.map(|p| (n, p))) {
        let at = Probability::new(&number(text)).unwrap();
        for k in counts(n, p, &[-3.0, 0.4, 8.0]) {
            let upper = binomial_upper_tail(k, n, &at, &record.questions);
            let lower = binomial_lower_tail(k, n, &at, &record.questions);
            record.note(format!("n={n} p={text} k={k}"), (upper, lower));
        }
    }
    record.compare();
}

const TABLES: [(u64, u64, u64); 13] = [
    (1, 0, 1),
    (9, 4, 5),
    (100, 50, 50),
    (100, 3, 97),
    (1000, 10, 500),
    (50_000, 20_000, 300),
    (1_000_000, 500_000, 500_000),
    (1_000_000, 999_000, 1000),
    (1_000_000_000, 3, 500_000_000),
    (1_000_000_000, 300_000_000, 600_000_000),
    (1 << 50, 1 << 49, 1 << 40),
    (1 << 53, 1 << 52, 1 << 52),
    (1 << 53, 1 << 27, 1 << 27),
];

fn marked_ones(law: &Hypergeometric) -> Vec<u64> {
    let deviation = law.standard_deviation();
    let near = |x: f64| {
        let k = law.mode() as f64 + x * deviation;
        (k.max(0.0) as u64).clamp(law.least(), law.greatest())
    };
    let mut counts: Vec<u64> = [-9.0, -1.0, 0.0, 0.5, 4.0, 25.0].map(near).into();
    counts.extend([law.least(), law.greatest()]);
    counts.sort_unstable();
    counts.dedup();
    counts
}

#[test]
fn hypergeometric_tails() {
    let mut record = Record::of("hypergeometric tails");
    for (population, marked, draws) in TABLES {
        let law = Hypergeometric::new(population, marked, draws).unwrap();
        for k in marked_ones(&law) {
            let upper = hypergeometric_upper_tail(k, &law, &record.questions);
            let lower = hypergeometric_lower_tail(k, &law, &record.questions);
            record.note(format!("{population} {marked} {draws} k={k}"), (upper, lower));
        }
    }
    record.compare();
}

/// Probabilities of every size, without a pattern.
fn trials(count: usize) -> Vec<f64> {
    (0..count).map(|i| (i as f64 * 0.618_033_988_75).fract() * [1.0, 0.01, 1e-5][i % 3]).collect()
}

#[test]
fn poisson_binomial_laws() {
    let mut record = Record::of("poisson-binomial laws");
    for count in [0, 1, 6, 40, 300, 1100] {
        let p = trials(count);
        let rationals: Vec<_> = p.iter().map(|&p| exactly(p)).collect();
        let law = PoissonBinomial::from_doubles(&p).unwrap();
        record.note(format!("{count} row"), law.probabilities(&record.questions));
        let exact = PoissonBinomial::new(&rationals).unwrap();
        for k in [0, 1, count / 9, count / 6, count / 4, count / 2, count].map(|k| k as u64) {
            record.note(format!("{count} k={k}"), law.probability(k, &record.questions));
            record.note(format!("{count} k>={k}"), law.upper_tail(k, &record.questions));
            record.note(format!("{count} rationals k={k}"), exact.probability(k, &record.questions));
        }
    }
    for extreme in [vec![0.0, 1.0, 0.5], vec![1e-300; 20], vec![1.0 - f64::EPSILON / 2.0; 30]] {
        let law = PoissonBinomial::from_doubles(&extreme).unwrap();
        record.note(format!("{} extreme", extreme.len()), law.probabilities(&record.questions));
        record.note(format!("{} extreme k>=2", extreme.len()), law.upper_tail(2, &record.questions));
    }
    record.compare();
}
