//! Keyed fingerprints of content: of the rows in their order, and of the rows in any order.
//!
//! A row's digest is SHA-256 of all its cells, each with its length, so that no two different rows have the
//! same text. Its halves `a` and `b` are taken modulo the prime `p = 2^127 − 1`, and three secret numbers `x,
//! y, z` modulo `p` come from the key. The values of a content are
//!
//! * in any order, the product of `x − (a_i + y b_i)` over its n rows: two different multisets of pairs belong
//!   to different polynomials in `x` and `y`, since these factors are irreducible, none is a multiple of
//!   another, and factors are unique;
//! * in their order, `z^(n−1) (a_1 + y b_1) + … + (a_n + y b_n)`: of two different sequences of n pairs the
//!   difference is a polynomial in `y` and `z` that is not zero.
//!
//! A polynomial of degree at most n that is not zero vanishes at a uniform point with a probability of at
//! most `n / p` (Schwartz 1980, Zippel 1979), below 2^-95 for fewer than 2^32 rows. The fingerprints are
//! keyed hashes of a name, n and the value, so without the key they tell whether two are equal and nothing
//! else. Tables with equal fingerprints hold the same rows, unless a collision was found of SHA-256 with its
//! halves modulo `p`, or of 128 bits of a keyed hash that is as good as random. Whoever holds the key can
//! make one, as he can rewrite the ledger in which fingerprints are kept.

use crate::field::{difference, power, product, reduced, sum};
use crate::keyed::{KEY, Keyed, OUTPUT};
use crate::sha256::{self, DIGEST};
use rayon::prelude::*;
use zeroize::Zeroize;

/// Rows that are worth a thread's while.
const TOGETHER: usize = 2048;

/// Both fingerprints of the rows that it was given.
pub struct Fingerprint {
    keyed: Keyed,
    point: Point,
    values: Values,
}

impl Fingerprint {
    /// Fingerprints of no rows yet, under a key.
    #[must_use]
    pub fn new(key: &[u8; KEY]) -> Self {
        let keyed = Keyed::new(key);
        let [x, y, z] = [b"x", b"y", b"z"].map(|name| reduced(u128::from_le_bytes(keyed.hash(name))));
        Self { keyed, point: Point { x, y, z }, values: Values::NONE }
    }

    /// Takes in the digests of further rows, in their order; on all threads of the pool this runs in.
    pub fn update(&mut self, digests: &[[u8; DIGEST]]) {
        let point = &self.point;
        let of_chunks: Vec<Values> =
            digests.par_chunks(TOGETHER).map(|digests| point.values(digests)).collect();
        self.values = of_chunks.into_iter().fold(self.values, |all, further| point.followed(all, further));
    }

    /// How many rows were taken in.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.values.rows
    }

    /// The fingerprints of the rows in their order, and in any order.
    #[must_use]
    pub fn finish(&self) -> ([u8; OUTPUT], [u8; OUTPUT]) {
        (
            self.keyed_value(b"ordered", self.values.ordered),
            self.keyed_value(b"unordered", self.values.unordered),
        )
    }

    fn keyed_value(&self, name: &[u8], value: u128) -> [u8; OUTPUT] {
        self.keyed.hash(&[name, &self.values.rows.to_le_bytes(), &value.to_le_bytes()].concat())
    }
}

/// The values of so many rows.
#[derive(Clone, Copy)]
struct Values {
    rows: u64,
    ordered: u128,
    unordered: u128,
}

impl Values {
    const NONE: Self = Self { rows: 0, ordered: 0, unordered: 1 };
}

/// Where the polynomials are evaluated.
struct Point {
    x: u128,
    y: u128,
    z: u128,
}

impl Point {
    fn values(&self, digests: &[[u8; DIGEST]]) -> Values {
        digests.iter().fold(Values::NONE, |values, digest| {
            let row = self.row(digest);
            Values {
                rows: values.rows + 1,
                ordered: sum(product(values.ordered, self.z), row),
                unordered: product(values.unordered, difference(self.x, row)),
            }
        })
    }

    /// `a + y b`.
    fn row(&self, digest: &[u8; DIGEST]) -> u128 {
        let (halves, _) = digest.as_chunks::<16>();
        let [a, b] =
            [0, 1].map(|half| halves.get(half).map_or(0, |bytes| reduced(u128::from_le_bytes(*bytes))));
        sum(a, product(self.y, b))
    }

    /// The values of some rows and those that follow them.
    fn followed(&self, all: Values, further: Values) -> Values {
        Values {
            rows: all.rows + further.rows,
            ordered: sum(product(all.ordered, power(self.z, further.rows)), further.ordered),
            unordered: product(all.unordered, further.unordered),
        }
    }
}

impl Drop for Point {
    fn drop(&mut self) {
        [&mut self.x, &mut self.y, &mut self.z].into_iter().for_each(Zeroize::zeroize);
    }
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
            *digest = sha256::digest(&text);
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
    use crate::field::PRIME;

    const SECRET: [u8; KEY] = [7; KEY];

    fn of(rows: &[[u8; DIGEST]]) -> ([u8; OUTPUT], [u8; OUTPUT]) {
        let mut fingerprint = Fingerprint::new(&SECRET);
        fingerprint.update(rows);
        fingerprint.finish()
    }

    fn numbered(i: u32) -> [u8; DIGEST] {
        sha256::digest(&i.to_le_bytes())
    }

    #[test]
    fn only_the_ordered_fingerprint_sees_the_order_and_both_see_repeated_rows() {
        let (a, b) = (numbered(1), numbered(2));
        assert_eq!(of(&[a, b, b]).1, of(&[b, a, b]).1);
        assert_ne!(of(&[a, b, b]).0, of(&[b, a, b]).0);
        assert_ne!(of(&[a, b]).1, of(&[a, b, b]).1);
        assert_ne!(of(&[a, a, b]).1, of(&[a, b, b]).1);
    }

    #[test]
    fn both_see_either_half_of_a_digest_and_rows_that_are_zero() {
        let zero = [0; DIGEST];
        for place in [0, 15, 16, 31] {
            let mut other = zero;
            other[place] = 1;
            assert_ne!(of(&[zero]).0, of(&[other]).0);
            assert_ne!(of(&[zero]).1, of(&[other]).1);
        }
        assert_ne!(of(&[]).0, of(&[zero]).0);
        assert_ne!(of(&[zero]).1, of(&[zero, zero]).1);
    }

    #[test]
    fn the_row_that_is_the_secret_point_makes_the_product_vanish() {
        let point = Fingerprint::new(&SECRET).point;
        let mut digest = [0; DIGEST];
        digest[..16].copy_from_slice(&point.x.to_le_bytes());
        assert_eq!(point.values(&[numbered(1), digest, numbered(2)]).unordered, 0);
        assert!([point.x, point.y, point.z].iter().all(|number| *number < PRIME));
    }

    #[test]
    fn it_does_not_matter_in_which_pieces_rows_come() {
        let rows: Vec<_> = (0..5000).map(numbered).collect();
        let mut fingerprint = Fingerprint::new(&SECRET);
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
