//! What a release of counts does once for every row, without an object a row: the keyed tokens by which a
//! ledger knows rows again ([`canonical`], [`token`]), the keyed fingerprints by which it knows content again
//! ([`fingerprint`]), the exchanges of a shuffle ([`shuffle`]) and the counts of its parts ([`tally`]).
//!
//! Nothing here draws a secret or reads a table: random words, keys and cells are given.

pub mod canonical;
pub mod field;
pub mod fingerprint;
pub mod keyed;
pub mod shuffle;
pub mod spread;
pub mod tally;
pub mod text;
pub mod token;
