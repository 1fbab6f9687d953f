//! Run times of every tier of statpriv-core, for the inputs of `docs/performance.md`.

pub mod curves;
pub mod digits_and_exact;
pub mod finite;
pub mod laws;

use statpriv_core::curve::{CountFamily, Curve};
use statpriv_core::forms::Direction;
use statpriv_core::numbers::rational::Rational;

/// Names and values of the numbers of entries, from a thousand to 10^15.
pub const SIZES: [(&str, u64); 6] = [
    ("10^3", 1000),
    ("32768", 1 << 15),
    ("10^6", 1_000_000),
    ("10^9", 1_000_000_000),
    ("10^12", 1_000_000_000_000),
    ("10^15", 1_000_000_000_000_000),
];

/// The `expect` message of benchmarks. A panic prevents the run time of an error from being measured.
pub const VALUE: &str = "a value";

/// The number written in a text.
///
/// # Panics
/// If the text is not a number. Texts are part of the benchmarks, so all are valid.
#[must_use]
pub fn number(text: &str) -> Rational {
    Rational::parse(text).expect(text)
}

/// The curve of a count of `size` entries with probability `p`, for the pair `(1, 0)`.
///
/// # Panics
/// If the size or the probability is not allowed. Both are part of the benchmarks, so all are valid.
#[must_use]
pub fn count(size: u64, p: &str) -> Curve {
    let (p, direction) = (number(p), Some(Direction::OneAgainstZero));
    CountFamily::new(&p, &p, direction).and_then(|family| family.of_size(size)).expect("an allowed count")
}
