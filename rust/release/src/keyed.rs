//! A pseudorandom function for one short message a row: SHA-256 behind a block that holds the key, cut to 128
//! bits.
//!
//! The key with as many zeros is the first block of the hash. Its compression is done once, so a message of
//! up to 55 bytes costs one more; HMAC takes two. The prefix alone would let whoever sees a hash continue it,
//! which the cut forbids: this is AMAC of Bellare, Bernstein and Tessaro ("Hash-function based PRFs: AMAC and
//! its multi-user security", EUROCRYPT 2016), proved there to be pseudorandom as long as the compression
//! function is, with half of its chaining value known.

use crate::sha256::{self, BLOCK, START, compress256};
use zeroize::Zeroize;

/// Bytes of a key.
pub const KEY: usize = 32;

/// Bytes of what comes out.
pub const OUTPUT: usize = 16;

/// The hash under one key, where the key has been taken in; wiped when it is dropped.
pub struct Keyed([u32; 8]);

impl Keyed {
    /// Under a key.
    #[must_use]
    pub fn new(key: &[u8; KEY]) -> Self {
        let mut block = [0; BLOCK];
        block[..KEY].copy_from_slice(key);
        let mut state = START;
        compress256(&mut state, &[block]);
        block.zeroize();
        Self(state)
    }

    /// The first half of SHA-256 of the key, as many zeros and the message.
    #[must_use]
    pub fn hash(&self, message: &[u8]) -> [u8; OUTPUT] {
        let digest = sha256::continued(self.0, BLOCK, message);
        let mut output = [0; OUTPUT];
        output.copy_from_slice(&digest[..OUTPUT]);
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
    use super::{KEY, Keyed, OUTPUT};
    use crate::sha256::BLOCK;
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
