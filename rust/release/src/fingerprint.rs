//! Keyed fingerprints of content: of the rows in their order, and of the rows in any order.
//!
//! A row's digest is SHA-256 of all its cells, each with its length, so that no two different rows have the same text.
//! Ordered, the digests are hashed under the key as they come. Unordered, each is hashed under the key and the numbers
//! that come out are added modulo 2^256 (`MSet-Add-Hash` of Clarke, Devadas, van Dijk, Gassend and Suh, ASIACRYPT 2003):
//! of two different multisets of fewer than 2^32 rows the sums differ by `Σ m_i H(d_i)` with some `0 < |m_i| < 2^32`, which
//! for a random function H is any given number with a probability of at most 2^-(256 − 32). So tables with equal
//! fingerprints hold the same rows, unless a collision of SHA-256 was found or HMAC told from a random function.

use crate::{KeyedHash, keyed};
use hmac::Mac;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

/// Bytes of a row's digest.
pub const DIGEST: usize = 32;

/// Rows that are worth a thread's while.
const TOGETHER: usize = 2048;

/// An unsigned number modulo 2^256: four words, the least first.
type Sum = [u64; 4];

/// Both fingerprints of the rows that it was given.
#[derive(Clone)]
pub struct Fingerprint {
    ordered: KeyedHash,
    each: KeyedHash,
    sum: Sum,
    rows: u64,
}

impl Fingerprint {
    /// Fingerprints of no rows yet, under a key of any length.
    #[must_use]
    pub fn new(key: &[u8]) -> Self {
        let mut ordered = keyed(key);
        ordered.update(b"ordered");
        let mut each = keyed(key);
        each.update(b"unordered");
        Self { ordered, each, sum: [0; 4], rows: 0 }
    }

    /// Takes in the digests of further rows, in their order; on all threads of the pool this runs in.
    pub fn update(&mut self, digests: &[[u8; DIGEST]]) {
        let sum_of = |digests: &[[u8; DIGEST]]| digests.iter().fold([0; 4], |sum, d| add(sum, self.keyed(d)));
        let sum = digests.par_chunks(TOGETHER).map(sum_of).reduce(|| [0; 4], add);
        self.sum = add(self.sum, sum);
        self.ordered.update(digests.as_flattened());
        self.rows += digests.len() as u64;
    }

    /// How many rows were taken in.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The fingerprints of the rows in their order, and in any order.
    #[must_use]
    pub fn finish(self) -> ([u8; DIGEST], [u8; DIGEST]) {
        let mut unordered = [0; DIGEST];
        for (bytes, word) in unordered.chunks_exact_mut(8).zip(self.sum) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        (self.ordered.finalize().into_bytes().into(), unordered)
    }

    fn keyed(&self, digest: &[u8; DIGEST]) -> Sum {
        let mut hash = self.each.clone();
        hash.update(digest);
        let bytes: [u8; DIGEST] = hash.finalize().into_bytes().into();
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        words
    }
}

fn add(a: Sum, b: Sum) -> Sum {
    let mut sum = [0; 4];
    let mut carry = false;
    for ((sum, a), b) in sum.iter_mut().zip(a).zip(b) {
        let (partial, first) = a.overflowing_add(b);
        let (whole, second) = partial.overflowing_add(u64::from(carry));
        (*sum, carry) = (whole, first || second);
    }
    sum
}

/// The digests of `count` rows; `cell` gives the text in a row and a column, nothing where there is none.
pub fn digests<'a>(
    count: usize,
    columns: usize,
    cell: impl Fn(usize, usize) -> Option<&'a [u8]> + Sync,
) -> Vec<[u8; DIGEST]> {
    let mut digests = vec![[0; DIGEST]; count];
    digests.par_chunks_mut(TOGETHER).enumerate().for_each(|(run, digests)| {
        let mut text = Vec::new();
        for (place, digest) in digests.iter_mut().enumerate() {
            text.clear();
            for column in 0..columns {
                write_cell(&mut text, cell(run * TOGETHER + place, column));
            }
            *digest = Sha256::digest(&text).into();
        }
    });
    digests
}

/// `N`, or `V`, the number of bytes, a colon and the bytes.
fn write_cell(text: &mut Vec<u8>, cell: Option<&[u8]>) {
    let Some(cell) = cell else {
        text.push(b'N');
        return;
    };
    text.push(b'V');
    let mut digits = [0; 20];
    let mut first = digits.len();
    let mut rest = cell.len();
    loop {
        first -= 1;
        digits[first] = b"0123456789"[rest % 10];
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[first..]);
    text.push(b':');
    text.extend_from_slice(cell);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[[u8; DIGEST]]) -> ([u8; DIGEST], [u8; DIGEST]) {
        let mut fingerprint = Fingerprint::new(b"key");
        fingerprint.update(rows);
        fingerprint.finish()
    }

    #[test]
    fn numbers_are_added_modulo_2_to_the_256() {
        assert_eq!(add([u64::MAX; 4], [1, 0, 0, 0]), [0; 4]);
        assert_eq!(add([u64::MAX, 0, 0, 5], [2, 0, u64::MAX, 7]), [1, 1, u64::MAX, 12]);
        assert_eq!(
            add([u64::MAX, u64::MAX, 0, 0], [u64::MAX, u64::MAX, 0, 0]),
            [u64::MAX - 1, u64::MAX, 1, 0]
        );
    }

    #[test]
    fn only_the_ordered_fingerprint_sees_the_order_and_both_see_repeated_rows() {
        let (a, b) = ([1; DIGEST], [2; DIGEST]);
        assert_eq!(of(&[a, b, b]).1, of(&[b, a, b]).1);
        assert_ne!(of(&[a, b, b]).0, of(&[b, a, b]).0);
        assert_ne!(of(&[a, b]).1, of(&[a, b, b]).1);
        assert_ne!(of(&[a, a, b]).1, of(&[a, b, b]).1);
    }

    #[test]
    fn it_does_not_matter_in_which_pieces_rows_come() {
        let rows: Vec<_> = (0..5000u32)
            .map(|i| {
                let mut d = [0; DIGEST];
                d[..4].copy_from_slice(&i.to_le_bytes());
                d
            })
            .collect();
        let mut fingerprint = Fingerprint::new(b"key");
        fingerprint.update(&rows[..1]);
        fingerprint.update(&[]);
        fingerprint.update(&rows[1..]);
        assert_eq!(fingerprint.rows(), 5000);
        assert_eq!(fingerprint.finish(), of(&rows));
    }

    #[test]
    fn cells_come_with_their_lengths() {
        let mut text = Vec::new();
        for cell in [None, Some(""), Some("é"), Some("0123456789")] {
            write_cell(&mut text, cell.map(str::as_bytes));
        }
        assert_eq!(text, "NV0:V2:éV10:0123456789".as_bytes());
    }
}
