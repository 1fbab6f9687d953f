//! Hockey sticks of two laws with listed probabilities.

use crate::{VALUE, number};
use criterion::{BatchSize, Criterion, Throughput};
use statpriv_core::forms::finite::{ExpEpsilon, FiniteInDoubles};
use statpriv_core::interrupt::Uninterrupted;
use std::hint::black_box;

/// All benchmarks of this file.
pub fn all(c: &mut Criterion) {
    let mut group = c.benchmark_group("hockey stick of two pmfs");
    let epsilon = ExpEpsilon::of(number("0.1"));
    for answers in [100u32, 100_000] {
        let (p, q) = (triangle(answers), triangle(answers).into_iter().rev().collect::<Vec<_>>());
        group.throughput(Throughput::Elements(u64::from(answers)));
        group.bench_function(format!("{answers} answers"), |b| {
            let laws = || (p.clone(), q.clone());
            let hockey_stick = |(p, q)| {
                let pair = FiniteInDoubles::new(black_box(p), black_box(q)).expect(VALUE);
                pair.hockey_stick(&epsilon, &Uninterrupted).expect(VALUE)
            };
            b.iter_batched(laws, hockey_stick, BatchSize::LargeInput);
        });
    }
}

/// Probabilities that increase linearly with the answer.
fn triangle(answers: u32) -> Vec<f64> {
    let m = f64::from(answers);
    (1..=answers).map(|a| 2.0 * f64::from(a) / (m * (m + 1.0))).collect()
}
