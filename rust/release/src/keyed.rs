//! Pseudorandom functions: the keyed mode of BLAKE3, under one subkey for each purpose.
//!
//! O'Connor, Aumasson, Neves and Wilcox-O'Hearn ("BLAKE3: one function, fast everywhere", 2020) claim 128 bits
//! of security for this mode, and for the mode that derives the subkeys.

use blake3::{Hasher, OutputReader};
use zeroize::Zeroizing;

/// Bytes of a key.
pub const KEY: usize = 32;

/// Bytes of a token and of a fingerprint.
pub const OUTPUT: usize = 16;

/// A pseudorandom function. Its subkey is wiped on drop; copies that BLAKE3 leaves on the stack are not.
pub struct Keyed(Box<Zeroizing<[u8; KEY]>>);

impl Keyed {
    /// The function for one purpose. Different purposes have independent functions under the same key.
    #[must_use]
    pub fn new(purpose: &'static str, key: &[u8; KEY]) -> Self {
        Self(Box::new(Zeroizing::new(blake3::derive_key(purpose, key))))
    }

    /// The value at a message, as two halves. Each half is a pseudorandom function by itself.
    #[inline]
    #[must_use]
    pub fn halves(&self, message: &[u8]) -> [[u8; OUTPUT]; 2] {
        let mut halves = [[0; OUTPUT]; 2];
        halves.as_flattened_mut().copy_from_slice(blake3::keyed_hash(&self.0, message).as_bytes());
        halves
    }

    /// An endless sequence of pseudorandom bytes, readable from any position.
    #[must_use]
    pub fn stream(&self) -> OutputReader {
        Hasher::new_keyed(&self.0).finalize_xof()
    }
}

#[cfg(test)]
mod tests {
    use super::{KEY, Keyed};
    use blake3::Hasher;

    #[test]
    fn it_is_the_keyed_hash_under_a_derived_key() {
        let key: [u8; KEY] = std::array::from_fn(|i| u8::try_from(7 * i % 251).unwrap_or(0));
        let subkey = *Hasher::new_derive_key("purpose").update(&key).finalize().as_bytes();
        let message: Vec<u8> = (0..3000u16).map(|i| u8::try_from(i % 251).unwrap_or(0)).collect();
        for length in [0, 1, 63, 64, 65, 1023, 1024, 1025, 3000] {
            let mut hasher = Hasher::new_keyed(&subkey);
            for piece in message[..length].chunks(10) {
                hasher.update(piece);
            }
            let halves = Keyed::new("purpose", &key).halves(&message[..length]);
            assert_eq!(halves.as_flattened(), hasher.finalize().as_bytes(), "{length} bytes");
        }
    }

    /// Test vectors of BLAKE3: an empty input in the keyed mode.
    #[test]
    fn the_hash_function_is_that_of_the_standard() {
        let hash = blake3::keyed_hash(b"whats the Elvish word for friend", b"");
        assert_eq!(
            hash.to_hex().as_str(),
            "92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26"
        );
    }
}
