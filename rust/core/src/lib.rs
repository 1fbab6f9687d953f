//! Certified enclosures of binomial laws and of the privacy curves of exact counts.
//!
//! Every number that leaves this crate is an [`Enclosure`](numbers::enclosure::Enclosure): an interval of doubles that
//! contains the truth for the inputs taken exactly as given. The layers, each built on those to its left:
//!
//! ```text
//! numbers → laws → fourier, convolve, digits, exact → answer → forms → curve, composition, adaptive → inverse, trade_off
//! ```
//!
//! ```
//! use statpriv_core::curve::CountFamily;
//! use statpriv_core::interrupt::Uninterrupted;
//! use statpriv_core::numbers::rational::Rational;
//!
//! # fn main() -> Result<(), statpriv_core::error::Error> {
//! let half = Rational::parse("1/2")?;
//! let curve = CountFamily::new(&half, &half, None)?.of_size(1024)?;
//! let delta = curve.delta(&Rational::parse("0.005")?, &Uninterrupted)?;
//! assert!(delta.contains(&Rational::parse("0.02257377618990693694135285815974")?));
//! assert!(delta.width() < 1e-14);
//! # Ok(())
//! # }
//! ```

// Radii and bounds are computed in doubles from integers on purpose. Each place states why it is safe.
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap
)]
// What a module says of its proofs names functions that only it has.
#![allow(rustdoc::private_intra_doc_links)]
// A function must be inlined into a backend to use its instructions (see statpriv-simd).
#![allow(clippy::inline_always)]
// Error-free transformations compare doubles exactly.
#![allow(clippy::float_cmp)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, clippy::disallowed_methods))]

pub mod adaptive;
pub mod answer;
mod budget;
#[cfg(test)]
mod cases;
pub mod composition;
pub mod convolve;
pub mod curve;
pub mod digits;
pub mod error;
pub mod exact;
pub mod forms;
pub mod fourier;
pub mod interrupt;
pub mod inverse;
pub mod laws;
pub mod numbers;
pub mod trade_off;
