//! Per-row work of a release of counts, without an object per row:
//!
//! * keyed tokens by which a ledger recognises rows ([`canonical`], [`token`]), and ids that look alike ([`plain`]),
//! * keyed fingerprints by which it recognises content ([`fingerprint`]),
//! * the secret random partition ([`partition`]),
//! * the counts of its parts ([`tally`]).
//!
//! Nothing here draws a secret or reads a table. Random words, keys and cells are arguments.

pub mod canonical;
pub mod cell;
pub mod fingerprint;
pub mod keyed;
pub mod partition;
pub mod plain;
pub mod tally;
pub mod token;
