//! Fuzz targets: properties of the public functions of `statpriv-core` that must hold for every input.
//!
//! The bodies of the targets are in this crate. `fuzz_targets/` runs them on bytes from libFuzzer, `main.rs`
//! on random bytes.

pub mod source;
pub mod targets;
