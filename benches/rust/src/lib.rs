//! Time of every tier of statpriv-core, with the inputs of `docs/performance.md`.

pub mod curves;
pub mod digits_and_exact;
pub mod finite;
pub mod laws;

use statpriv_core::curve::{CountFamily, Curve};
use statpriv_core::forms::Direction;
use statpriv_core::numbers::rational::Rational;

/// Numbers of entries, from a thousand to 10^15.
pub const SIZES: [(&str, u64); 6] = [
    ("10^3", 1000),
    ("32768", 1 << 15),
    ("10^6", 1_000_000),
    ("10^9", 1_000_000_000),
    ("10^12", 1_000_000_000_000),
    ("10^15", 1_000_000_000_000_000),
];

/// What a benchmark must have; an error would be measured otherwise.
pub const VALUE: &str = "a value";

/// The number that a text stands for.
///
/// # Panics
/// The text is part of a benchmark and stands for a number.
#[must_use]
pub fn number(text: &str) -> Rational {
    Rational::parse(text).expect(text)
}

/// The curve of a count of `size` entries with probability `p`, in one direction.
///
/// # Panics
/// Sizes and probabilities are part of a benchmark and allowed.
#[must_use]
pub fn count(size: u64, p: &str) -> Curve {
    let (p, direction) = (number(p), Some(Direction::OneAgainstZero));
    CountFamily::new(&p, &p, direction).and_then(|family| family.of_size(size)).expect("an allowed count")
}
