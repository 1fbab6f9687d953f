//! A pseudorandom function: SHA-256 of a block with the key followed by the message, truncated to 128 bits.
//!
//! Without the truncation, anyone who sees a hash could extend the message. The construction is AMAC of
//! Bellare, Bernstein and Tessaro ("Hash-function based PRFs: AMAC and its multi-user security", EUROCRYPT
//! 2016). They prove that it is pseudorandom if the compression function is pseudorandom even when half of
//! its chaining value is known.

use sha2::{Digest, Sha256};
use zeroize::Zeroize;

/// Bytes of a key.
pub const KEY: usize = 32;

/// Bytes of a hash.
pub const OUTPUT: usize = 16;

/// Bytes of a SHA-256 block.
const BLOCK: usize = 64;

/// The hash function under one key. The key is wiped on drop.
pub struct Keyed(Box<[u8; KEY]>);

impl Keyed {
    /// The hash function under this key.
    #[must_use]
    pub fn new(key: &[u8; KEY]) -> Self {
        let mut own = Box::new([0; KEY]);
        own.copy_from_slice(key);
        Self(own)
    }

    /// The first half of SHA-256 of the key, as many zero bytes, and the message.
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
