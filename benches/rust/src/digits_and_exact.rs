//! Values to many digits, and exact values.

use crate::{SIZES, VALUE, count, number};
use criterion::Criterion;
use statpriv_core::curve::exact;
use statpriv_core::interrupt::Uninterrupted;
use statpriv_core::numbers::rational::Rational;
use std::hint::black_box;

/// All benchmarks of this file.
pub fn all(c: &mut Criterion) {
    fifty_digits(c);
    exact_values(c);
}

fn fifty_digits(c: &mut Criterion) {
    let mut group = c.benchmark_group("50 digits of delta");
    for (name, n) in SIZES {
        let curve = count(n, "0.3");
        let epsilon = Rational::from_f64(1.0 / (n as f64).sqrt()).expect("a number");
        group.bench_function(format!("n = {name}"), |b| {
            b.iter(|| {
                statpriv_core::curve::digits::delta(&curve, black_box(&epsilon), 50, &Uninterrupted)
                    .expect(VALUE)
            });
        });
    }
}

fn exact_values(c: &mut Criterion) {
    let mut group = c.benchmark_group("exact delta");
    group.sample_size(10);
    for (n, p, ratio) in [(4096, "1/100", "11/10"), (32_768, "1/2", "201/200")] {
        let (curve, ratio) = (count(n, p), number(ratio));
        group.bench_function(format!("n = {n}, p = {p}"), |b| {
            b.iter(|| exact::exact_delta(&curve, black_box(&ratio), &Uninterrupted).expect(VALUE));
        });
    }
}
