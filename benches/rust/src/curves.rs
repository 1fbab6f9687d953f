//! δ and ε of one count, in doubles.

use crate::{SIZES, VALUE, count, number};
use criterion::{Criterion, Throughput};
use statpriv_core::curve::CountFamily;
use statpriv_core::forms::Direction;
use statpriv_core::interrupt::Uninterrupted;
use statpriv_core::inverse;
use statpriv_simd::Backend;
use std::hint::black_box;

/// The probability `p` of an entry. `DEVIATION` is `√(p(1−p))`.
const P: &str = "0.3";
const DEVIATION: f64 = 0.458_257_569_495_584;

/// All benchmarks of this file.
pub fn all(c: &mut Criterion) {
    one_delta(c);
    many_deltas(c);
    many_sizes(c);
    epsilons(c);
}

fn one_delta(c: &mut Criterion) {
    let mut group = c.benchmark_group(format!("delta ({})", Backend::best().name()));
    for (name, n) in SIZES {
        let curve = count(n, P);
        for (distance, deviations) in [("0.1", 0.1), ("1", 1.0), ("10", 10.0)] {
            let epsilon = deviations / (DEVIATION * (n as f64).sqrt());
            group.bench_function(format!("n = {name}, epsilon = {distance}/sigma"), |b| {
                b.iter(|| curve.delta_at(black_box(epsilon), &Uninterrupted).expect(VALUE));
            });
        }
    }
}

fn many_deltas(c: &mut Criterion) {
    let curve = count(1 << 20, P);
    let epsilons: Vec<f64> = (1..=1000).map(|i| f64::from(i) * 1e-5).collect();
    let mut group = c.benchmark_group("deltas");
    group.throughput(Throughput::Elements(1000));
    group.bench_function("1000 epsilon at n = 2^20", |b| {
        b.iter(|| curve.deltas(black_box(&epsilons), &Uninterrupted).expect(VALUE));
    });
}

/// Neighbouring sizes, and sizes too far apart to share work.
fn many_sizes(c: &mut Criterion) {
    let p = number(P);
    let family = CountFamily::new(&p, &p, Some(Direction::OneAgainstZero)).expect("an allowed probability");
    let epsilon = number("0.001");
    let mut group = c.benchmark_group("sizes");
    group.throughput(Throughput::Elements(1000));
    for (name, step) in [("1000 neighbours", 1), ("1000 apart", 100)] {
        let sizes: Vec<u64> = (0..1000).map(|i| 1_000_000 + i * step).collect();
        group.bench_function(format!("{name}, n = 10^6"), |b| {
            b.iter(|| family.deltas(black_box(&sizes), &epsilon, &Uninterrupted).expect(VALUE));
        });
    }
}

/// The δ asked for is below δ(0) at every size, so that ε is above 0.
fn epsilons(c: &mut Criterion) {
    let mut group = c.benchmark_group("epsilon");
    let delta = number("1e-9");
    for (name, n) in SIZES {
        let curve = count(n, P);
        group.bench_function(format!("n = {name}, delta = 1e-9"), |b| {
            b.iter(|| inverse::epsilon(&curve, black_box(&delta), &Uninterrupted).expect(VALUE));
        });
    }
}
