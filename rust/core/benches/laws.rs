//! Time of single probabilities, rows and tails.

use criterion::{Criterion, criterion_group, criterion_main};
use statpriv_core::error::Error;
use statpriv_core::laws::{Probability, binomial_log_pmf, binomial_pmf};
use statpriv_core::rational::Rational;
use std::hint::black_box;

fn singles(c: &mut Criterion) -> Result<(), Error> {
    let at = Probability::new(&Rational::parse("0.3")?)?;
    for (name, k, n) in [
        ("near the mean, n = 1000", 310, 1000),
        ("near the mean, n = 1e6", 300_500, 1_000_000),
        ("near the mean, n = 1e15", 300_000_012_345_678, 1_000_000_000_000_000),
        ("far, n = 1e6", 317_000, 1_000_000),
        ("far, n = 1000", 600, 1000),
    ] {
        let (k, n) = black_box((k, n));
        c.bench_function(&format!("binomial log pmf, {name}"), |b| {
            b.iter(|| binomial_log_pmf(black_box(k), n, &at))
        });
        c.bench_function(&format!("binomial pmf, {name}"), |b| b.iter(|| binomial_pmf(black_box(k), n, &at)));
    }
    Ok(())
}

fn all(c: &mut Criterion) {
    if let Err(error) = singles(c) {
        eprintln!("{error}");
    }
}

criterion_group!(benches, all);
criterion_main!(benches);
