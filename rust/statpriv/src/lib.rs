//! How private are exact answers, against a reader who knows the distribution of the data but not the rows?
//!
//! A query says what is asked of how many rows; its [`PrivacyCurve`] says how private the exact answer is. Every number is
//! an [`Enclosure`]: two doubles with the truth between them, for the inputs exactly as given.
//!
//! ```
//! use statpriv::Count;
//!
//! # fn main() -> Result<(), statpriv::Error> {
//! // 1024 people, each with the property with probability one half, and their exact count.
//! let curve = Count::new(1024, "1/2")?.curve()?;
//! let delta = curve.delta("0.005")?;
//! assert!(delta.upper() < 0.0225738);
//! let epsilon = curve.epsilon("1e-6")?;
//! println!("(ε, δ) = ({:.4}, 1e-6)", epsilon.upper());
//! # Ok(())
//! # }
//! ```
//!
//! | what is published | type |
//! |---|---|
//! | how many rows have a property, its probability known or in a range | [`Count`] |
//! | the sum of whole numbers, one a row | [`Sum`] |
//! | how many rows have each value | [`Histogram`] |
//! | an exact table, if every cell holds a minimum number of rows | [`ExactTable`] |
//! | several of the first three, each on its part of a secret partition | [`Composition`] |
//! | an answer with any two laws | [`hockey_stick`] |
//!
//! **Numbers** are rationals: `"0.1"` and `"1/3"` are exactly what they say, and a double such as `0.1` is the number that it
//! stores. **Values of δ** hold for both values of the row in question, in either order, whichever is worse; `pair` names
//! one order. **Long work** can be ended: see [`PrivacyCurve::ended_by`]. Nothing panics.
//!
//! The Python package of the same name computes these numbers with the same code, and knows many more queries, samplings and
//! theorems.

mod composition;
mod count;
mod curve;
mod distance;
mod histogram;
pub mod laws;
mod number;
mod sum;
mod table;

pub use composition::{Composition, Part};
pub use count::Count;
pub use curve::{Digits, PrivacyCurve};
pub use distance::hockey_stick;
pub use histogram::Histogram;
pub use number::{Number, Probability};
pub use statpriv_core::error::Error;
pub use statpriv_core::numbers::enclosure::Enclosure;
pub use statpriv_core::numbers::rational::Rational;
pub use sum::Sum;
pub use table::ExactTable;

/// What the pages on this crate show runs.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/how-to/use-from-rust.md")]
    struct HowTo;
}

/// What the types above are made of: the kernel, whose interface may change with any version.
pub use statpriv_core as internals;
