//! The same bits on every machine and in every run: a report that is computed again elsewhere comes out the same to the last digit.
//!
//! The kernel consists of operations that IEEE 754 rounds correctly, and of integers. So the ends of every enclosure are the same wherever it
//! is computed, but for one choice: processors with a fused multiply-add (x86-64 with AVX2 and FMA, aarch64) share one set of bits, all others have
//! another. Both are stored here, input by input.
//!
//! A change of the kernel that changes bits on purpose is judged by the tests of containment and width. `make bits` then stores the new ones.

#![allow(clippy::unwrap_used, clippy::panic, clippy::many_single_char_names)]
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap
)]

mod answers;
mod compositions;
mod counts;
mod digits;
mod laws;
mod mixed_counts;
mod record;

use statpriv_core::numbers::rational::Rational;

/// An exact number.
fn number(text: &str) -> Rational {
    Rational::parse(text).unwrap()
}

/// The rational that a double stores.
fn exactly(x: f64) -> Rational {
    Rational::from_f64(x).unwrap()
}

/// An integer some standard deviations from the mean of a count, inside of it.
fn around(n: u64, p: f64, deviations: f64) -> u64 {
    let mean = n as f64 * p;
    (mean + deviations * (mean * (1.0 - p)).sqrt()).clamp(0.0, n as f64) as u64
}
