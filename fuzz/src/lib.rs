//! What must hold of the public functions of `statpriv-core`, whatever they are given.
//!
//! The bodies are here, once. `fuzz_targets/` hands them bytes from libFuzzer, `main.rs` random ones.

pub mod source;
pub mod targets;
