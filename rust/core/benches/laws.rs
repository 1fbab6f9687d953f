//! Time of single probabilities, rows and tails.

use criterion::{Criterion, criterion_group, criterion_main};
use statpriv_core::error::Error;
use statpriv_core::interrupt::Uninterrupted;
use statpriv_core::laws::{
    Hypergeometric, Probability, binomial_log_pmf, binomial_pmf, binomial_pmf_row, binomial_upper_tail,
    hypergeometric_upper_tail,
};
use statpriv_core::rational::Rational;
use std::hint::black_box;

fn singles(c: &mut Criterion) -> Result<(), Error> {
    let at = Probability::new(&Rational::parse("0.3")?)?;
    for (name, k, n) in [
        ("near the mean, n = 1000", 310, 1000),
        ("near the mean, n = 1e6", 300_500, 1_000_000),
        ("near the mean, n = 1e15", 300_000_012_345_678, 1_000_000_000_000_000),
        ("far, n = 1e6", 317_000, 1_000_000),
    ] {
        c.bench_function(&format!("binomial log pmf, {name}"), |b| {
            b.iter(|| binomial_log_pmf(black_box(k), n, &at));
        });
        c.bench_function(&format!("binomial pmf, {name}"), |b| b.iter(|| binomial_pmf(black_box(k), n, &at)));
        let law = Hypergeometric::new(2 * n, n, n - n / 5)?;
        let k = law.mode() + 1;
        c.bench_function(&format!("hypergeometric log pmf, {name}"), |b| {
            b.iter(|| law.log_pmf(black_box(k)));
        });
    }
    Ok(())
}

fn rows_and_tails(c: &mut Criterion) -> Result<(), Error> {
    let at = Probability::new(&Rational::parse("0.3")?)?;
    c.bench_function("binomial row, n = 10000", |b| b.iter(|| binomial_pmf_row(10_000, &at, &Uninterrupted)));
    for (name, k, n) in
        [("one sigma, n = 1e6", 300_460, 1_000_000), ("at the mean, n = 1e6", 300_000, 1_000_000)]
    {
        c.bench_function(&format!("binomial tail, {name}"), |b| {
            b.iter(|| binomial_upper_tail(black_box(k), n, &at, &Uninterrupted));
        });
    }
    let law = Hypergeometric::new(2_000_000, 1_000_000, 800_000)?;
    c.bench_function("hypergeometric tail, population = 2e6", |b| {
        b.iter(|| hypergeometric_upper_tail(black_box(400_100), &law, &Uninterrupted));
    });
    Ok(())
}

fn all(c: &mut Criterion) {
    if let Err(error) = singles(c).and_then(|()| rows_and_tails(c)) {
        eprintln!("{error}");
    }
}

criterion_group!(benches, all);
criterion_main!(benches);
