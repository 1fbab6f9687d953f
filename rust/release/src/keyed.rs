//! A pseudorandom function: SHA-256 of a block that holds the key and of the message, cut to 128 bits.
//!
//! The prefix alone would let whoever sees a hash continue it, which the cut forbids: this is AMAC of Bellare,
//! Bernstein and Tessaro ("Hash-function based PRFs: AMAC and its multi-user security", EUROCRYPT 2016), proved
//! there to be pseudorandom as long as the compression function is, with half of its chaining value known.

use sha2::{Digest, Sha256};
use zeroize::Zeroize;

/// Bytes of a key.
pub const KEY: usize = 32;

/// Bytes of what comes out.
pub const OUTPUT: usize = 16;

/// Bytes of a block of SHA-256.
const BLOCK: usize = 64;

/// The hash under one key, which is wiped when this is dropped.
pub struct Keyed(Box<[u8; KEY]>);

impl Keyed {
    /// Under a key.
    #[must_use]
    pub fn new(key: &[u8; KEY]) -> Self {
        let mut own = Box::new([0; KEY]);
        own.copy_from_slice(key);
        Self(own)
    }

    /// The first half of SHA-256 of the key, as many zeros and the message.
    #[must_use]
    pub fn hash(&self, message: &[u8]) -> [u8; OUTPUT] {
        let hash = Sha256::new().chain_update(self.0.as_slice()).chain_update([0; BLOCK - KEY]);
        let mut output = [0; OUTPUT];
        output.copy_from_slice(&hash.chain_update(message).finalize()[..OUTPUT]);
        output
    }
}

impl Drop for Keyed {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, KEY, Keyed, OUTPUT};
    use sha2::{Digest, Sha256};

    #[test]
    fn it_is_sha_256_of_a_block_with_the_key_and_the_message_cut_to_a_half() {
        let key: [u8; KEY] = std::array::from_fn(|i| u8::try_from(7 * i % 251).unwrap_or(0));
        let keyed = Keyed::new(&key);
        let message: Vec<u8> = (0..300u16).map(|i| u8::try_from(i % 256).unwrap_or(0)).collect();
        for length in 0..=message.len() {
            let mut whole = Sha256::new();
            whole.update(key);
            whole.update([0; BLOCK - KEY]);
            whole.update(&message[..length]);
            assert_eq!(keyed.hash(&message[..length]), whole.finalize()[..OUTPUT], "{length} bytes");
        }
    }
}
