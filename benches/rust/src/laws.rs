//! Single probabilities, tails, and the probabilities of all values.

use crate::{VALUE, number};
use criterion::{Criterion, Throughput};
use statpriv_core::answer::PoissonBinomial;
use statpriv_core::interrupt::Uninterrupted;
use statpriv_core::laws::{
    Hypergeometric, Probability, binomial_log_pmf, binomial_pmf_row, binomial_upper_tail,
    hypergeometric_pmf_row, hypergeometric_upper_tail,
};
use std::hint::black_box;

/// Values `(name, k, n)` with k near or far from the mean of `Bin(n, 0.3)`. The hypergeometric law of `2n`
/// items has the same mean.
const PLACES: [(&str, u64, u64); 4] = [
    ("n = 10^6, near the mean", 300_500, 1_000_000),
    ("n = 10^12, near the mean", 300_000_500_000, 1_000_000_000_000),
    ("n = 10^15, near the mean", 300_000_012_345_678, 1_000_000_000_000_000),
    ("n = 10^6, far from the mean", 317_000, 1_000_000),
];

/// All benchmarks of this file.
pub fn all(c: &mut Criterion) {
    let at = Probability::new(&number("0.3")).expect("a probability");
    singles(c, &at);
    tails(c, &at);
    rows(c, &at);
}

/// `n` draws from a population of `2n` items, three tenths of them marked.
fn hypergeometric(n: u64) -> Hypergeometric {
    Hypergeometric::new(2 * n, 2 * n / 10 * 3, n).expect("an allowed law")
}

fn singles(c: &mut Criterion, at: &Probability) {
    let mut group = c.benchmark_group("log pmf");
    for (name, k, n) in PLACES {
        group.bench_function(format!("binomial, {name}"), |b| {
            b.iter(|| binomial_log_pmf(black_box(k), n, at));
        });
        let law = hypergeometric(n);
        group.bench_function(format!("hypergeometric, {name}"), |b| b.iter(|| law.log_pmf(black_box(k))));
    }
}

fn tails(c: &mut Criterion, at: &Probability) {
    let mut group = c.benchmark_group("upper tail");
    for (name, k, n) in PLACES {
        group.bench_function(format!("binomial, {name}"), |b| {
            b.iter(|| binomial_upper_tail(black_box(k), n, at, &Uninterrupted).expect(VALUE));
        });
        let law = hypergeometric(n);
        group.bench_function(format!("hypergeometric, {name}"), |b| {
            b.iter(|| hypergeometric_upper_tail(black_box(k), &law, &Uninterrupted).expect(VALUE));
        });
    }
}

fn rows(c: &mut Criterion, at: &Probability) {
    let mut group = c.benchmark_group("full pmf");
    for n in [1000u64, 10_000, 100_000] {
        group.throughput(Throughput::Elements(n + 1));
        group.bench_function(format!("binomial, n = {n}"), |b| {
            b.iter(|| binomial_pmf_row(black_box(n), at, &Uninterrupted).expect(VALUE));
        });
    }
    let law = hypergeometric(100_000);
    group.throughput(Throughput::Elements(100_001));
    group.bench_function("hypergeometric, n = 100000", |b| {
        b.iter(|| hypergeometric_pmf_row(black_box(&law), &Uninterrupted).expect(VALUE));
    });
    for n in [100u32, 1000] {
        let p: Vec<f64> = (1..=n).map(|i| f64::from(i) / f64::from(n + 1)).collect();
        let law = PoissonBinomial::from_doubles(&p).expect("probabilities");
        group.throughput(Throughput::Elements(u64::from(n) + 1));
        group.bench_function(format!("poisson-binomial, n = {n}"), |b| {
            b.iter(|| black_box(&law).probabilities(&Uninterrupted).expect(VALUE));
        });
    }
}
