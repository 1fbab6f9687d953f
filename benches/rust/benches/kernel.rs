//! All benchmarks of the kernel. `cargo bench -- delta` runs those with `delta` in their names.

use criterion::{criterion_group, criterion_main};
use statpriv_benches::{curves, digits_and_exact, finite, laws};

criterion_group!(kernel, curves::all, laws::all, finite::all, digits_and_exact::all);
criterion_main!(kernel);
