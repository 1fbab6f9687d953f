//! SHA-256 (FIPS 180-4) of short messages, block by block, from a state that was reached before.

pub use sha2::block_api::compress256;

/// Bytes of a block.
pub const BLOCK: usize = 64;

/// Bytes of a digest.
pub const DIGEST: usize = 32;

/// The eight words that it starts with (section 5.3.3).
pub const START: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// The digest of a message.
#[must_use]
pub fn digest(message: &[u8]) -> [u8; DIGEST] {
    continued(START, 0, message)
}

/// The digest of a message whose first bytes, as many as `before`, a multiple of the block, have led to a
/// state.
#[must_use]
pub fn continued(mut state: [u32; 8], before: usize, rest: &[u8]) -> [u8; DIGEST] {
    let bits = 8 * (before + rest.len()) as u64;
    let (blocks, rest) = rest.as_chunks::<BLOCK>();
    compress256(&mut state, blocks);
    let mut last = [[0; BLOCK]; 2];
    let used = if rest.len() < BLOCK - 8 { 1 } else { 2 };
    let padded = last.as_flattened_mut();
    padded[..rest.len()].copy_from_slice(rest);
    padded[rest.len()] = 0x80;
    padded[used * BLOCK - 8..used * BLOCK].copy_from_slice(&bits.to_be_bytes());
    compress256(&mut state, &last[..used]);
    let mut digest = [0; DIGEST];
    for (bytes, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *bytes = word.to_be_bytes();
    }
    digest
}

#[cfg(test)]
mod tests {
    use super::digest;
    use sha2::{Digest, Sha256};

    #[test]
    fn messages_of_any_length_have_their_digest() {
        let message: Vec<u8> = (0..300u16).map(|i| u8::try_from(i % 256).unwrap_or(0)).collect();
        for length in 0..=message.len() {
            assert_eq!(
                digest(&message[..length])[..],
                Sha256::digest(&message[..length])[..],
                "{length} bytes"
            );
        }
    }
}
