//! Keyed tokens of ids: the first 16 bytes of HMAC-SHA-256. Without the key they name nobody.

use crate::ids::Ids;
use crate::{KeyedHash, keyed};
use hmac::Mac;
use rayon::prelude::*;

/// Bytes of a token.
pub const TOKEN: usize = 16;

/// Ids that are worth a thread's while.
const TOGETHER: usize = 4096;

/// The token of each id under a key of any length, in the order of the rows; on all threads of the pool this runs in.
#[must_use]
pub fn tokens(key: &[u8], ids: &Ids) -> Vec<[u8; TOKEN]> {
    let keyed = keyed(key);
    let mut tokens = vec![[0; TOKEN]; ids.len()];
    tokens.par_chunks_mut(TOGETHER).enumerate().for_each(|(run, tokens)| {
        for (place, token) in tokens.iter_mut().enumerate() {
            *token = one(&keyed, ids.get(run * TOGETHER + place));
        }
    });
    tokens
}

fn one(keyed: &KeyedHash, id: &[u8]) -> [u8; TOKEN] {
    let mut hash = keyed.clone();
    hash.update(id);
    let digest: [u8; 32] = hash.finalize().into_bytes().into();
    let mut token = [0; TOKEN];
    token.copy_from_slice(&digest[..TOKEN]);
    token
}

#[cfg(test)]
mod tests {
    use super::{TOKEN, tokens};
    use crate::ids::Ids;

    fn of(id: &[u8], key: &[u8]) -> Vec<[u8; TOKEN]> {
        let mut ids = Ids::default();
        assert_eq!(ids.push(Some(id)), Ok(()));
        tokens(key, &ids)
    }

    /// RFC 4231, section 4.3 and 4.7: a short key and one longer than a block.
    #[test]
    fn tokens_are_hmac_sha_256_cut_short() {
        let expected = 0x5bdc_c146_bf60_754e_6a04_2426_0895_75c7_u128;
        assert_eq!(of(b"what do ya want for nothing?", b"Jefe"), [expected.to_be_bytes()]);
        let expected = 0x60e4_3159_1ee0_b67f_0d8a_26aa_cbf5_b77f_u128;
        assert_eq!(
            of(b"Test Using Larger Than Block-Size Key - Hash Key First", &[0xaa; 131]),
            [expected.to_be_bytes()]
        );
    }
}
