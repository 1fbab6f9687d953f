//! What a release of counts does once for every row, without an object a row: the keyed tokens by which a ledger knows
//! rows again ([`ids`], [`canonical`], [`token`]), the keyed fingerprints by which it knows content again ([`fingerprint`]), and
//! the exchanges of a shuffle ([`shuffle`]).
//!
//! Nothing here draws a random number or reads a table: random words, keys and cells are given.

pub mod canonical;
pub mod fingerprint;
pub mod ids;
pub mod shuffle;
pub mod token;

use hmac::{Hmac, KeyInit};
use sha2::Sha256;

/// HMAC-SHA-256 under one key: a copy of it starts where the key has been taken in, and is wiped when it is dropped.
type KeyedHash = Hmac<Sha256>;

/// The key in use. Keys of HMAC may have any length.
fn keyed(key: &[u8]) -> KeyedHash {
    #[expect(clippy::expect_used, reason = "RFC 2104 defines HMAC for keys of every length")]
    KeyedHash::new_from_slice(key).expect("a key of any length")
}
