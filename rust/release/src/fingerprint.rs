//! Keyed fingerprints of table content: one of the ordered rows, and one of the rows in any order.
//!
//! Three secret numbers `x, y, z` modulo the prime `p = 2^127 − 1` are derived from the key. A row is
//! represented by the value `r(y)` of the polynomial of its cells ([`crate::text`]). Different rows have
//! different polynomials. A content of n rows has two values.
//!
//! * Unordered: the product of `x − r_i(y)` over the rows. Different multisets of rows have different polynomials
//!   in `x` and `y`: the factors are irreducible, different factors are no multiples of each other, and
//!   factorisation is unique.
//! * Ordered: `z^(n−1) r_1(y) + … + r_n(y)`. For two different sequences of n rows, the difference is a nonzero
//!   polynomial in `y` and `z`.
//!
//! If no value of a coordinate has probability above m, a nonzero polynomial of degree at most d vanishes
//! with probability at most `d m` (Schwartz 1980, Zippel 1979; by induction over the coordinates). Each
//! coordinate is a 128-bit random number modulo p, so `m = 3 / 2^128`. The degree d is at most the number of
//! pieces of all cells. With fewer than 2^39 pieces, about eight terabytes, `d m` is below 2^-87.
//!
//! The fingerprints are keyed hashes of a name, n and the value. Without the key, they reveal whether two
//! contents are equal and nothing else. Except with that probability, tables with equal fingerprints hold the
//! same rows, provided that the points and the 128 bits of a keyed hash are as good as random. The holder of
//! the key can construct different tables with equal fingerprints, but can also rewrite the ledger in which
//! fingerprints are kept.

use crate::field::{difference, power, product, reduced, sum};
use crate::keyed::{KEY, Keyed, OUTPUT};
use crate::text::{self, Cell};
use rayon::prelude::*;
use zeroize::Zeroize;

/// Rows per parallel task: enough to outweigh its overhead.
const TOGETHER: usize = 2048;

/// Accumulates both fingerprints of the rows it is given.
pub struct Fingerprint {
    keyed: Keyed,
    point: Point,
    values: Values,
}

impl Fingerprint {
    /// An accumulator without rows, under a key.
    #[must_use]
    pub fn new(key: &[u8; KEY]) -> Self {
        let keyed = Keyed::new(key);
        let [x, y, z] = [b"x", b"y", b"z"].map(|name| reduced(u128::from_le_bytes(keyed.hash(name))));
        Self { keyed, point: Point { x, y, z }, values: Values::NONE }
    }

    /// Adds the next `rows` rows, in their order, on all threads of the current pool. `cell(row, column)` is
    /// the content of a cell.
    pub fn update<'a>(
        &mut self,
        rows: usize,
        columns: usize,
        cell: impl Fn(usize, usize) -> Cell<'a> + Sync,
    ) {
        let point = &self.point;
        let number =
            |row| (0..columns).fold(0, |value, column| text::followed(value, cell(row, column), point.y));
        let of_runs: Vec<Values> = (0..rows.div_ceil(TOGETHER))
            .into_par_iter()
            .map(|run| point.values((run * TOGETHER..rows.min((run + 1) * TOGETHER)).map(number)))
            .collect();
        self.values = of_runs.into_iter().fold(self.values, |all, further| point.followed(all, further));
    }

    /// The number of rows added.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.values.rows
    }

    /// The ordered and the unordered fingerprint of the rows.
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

/// The number of rows and their two values.
#[derive(Clone, Copy)]
struct Values {
    rows: u64,
    ordered: u128,
    unordered: u128,
}

impl Values {
    const NONE: Self = Self { rows: 0, ordered: 0, unordered: 1 };
}

/// The secret point at which the polynomials are evaluated.
struct Point {
    x: u128,
    y: u128,
    z: u128,
}

impl Point {
    fn values(&self, numbers: impl Iterator<Item = u128>) -> Values {
        numbers.fold(Values::NONE, |values, number| Values {
            rows: values.rows + 1,
            ordered: sum(product(values.ordered, self.z), number),
            unordered: product(values.unordered, difference(self.x, number)),
        })
    }

    /// The values of the concatenation of two sequences of rows, from the values of each.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::PRIME;

    const SECRET: [u8; KEY] = [7; KEY];

    /// The fingerprints of rows of one cell.
    fn of(rows: &[&[u8]]) -> ([u8; OUTPUT], [u8; OUTPUT]) {
        let mut fingerprint = Fingerprint::new(&SECRET);
        fingerprint.update(rows.len(), 1, |row, _| Cell::Text(rows[row]));
        fingerprint.finish()
    }

    #[test]
    fn only_the_ordered_fingerprint_sees_the_order_and_both_see_repeated_rows() {
        assert_eq!(of(&[b"a", b"b", b"b"]).1, of(&[b"b", b"a", b"b"]).1);
        assert_ne!(of(&[b"a", b"b", b"b"]).0, of(&[b"b", b"a", b"b"]).0);
        assert_ne!(of(&[b"a", b"b"]).1, of(&[b"a", b"b", b"b"]).1);
        assert_ne!(of(&[b"a", b"a", b"b"]).1, of(&[b"a", b"b", b"b"]).1);
    }

    #[test]
    fn both_see_every_byte_of_a_cell_and_whether_there_is_one() {
        let some = [0; 40];
        for place in 0..some.len() {
            let mut other = some;
            other[place] = 1;
            assert_ne!(of(&[&some]).0, of(&[&other]).0);
            assert_ne!(of(&[&some]).1, of(&[&other]).1);
        }
        assert_ne!(of(&[]).0, of(&[b""]).0);
        assert_ne!(of(&[b""]).1, of(&[b"", b""]).1);
        let mut gap = Fingerprint::new(&SECRET);
        gap.update(1, 1, |_, _| Cell::Nothing);
        assert!(gap.finish().0 != of(&[b""]).0 && gap.finish().1 != of(&[b""]).1);
    }

    #[test]
    fn the_row_that_is_the_secret_point_makes_the_product_vanish() {
        let point = Fingerprint::new(&SECRET).point;
        assert_eq!(point.values([1, point.x, 2].into_iter()).unordered, 0);
        assert_ne!(point.values([1, 2].into_iter()).unordered, 0);
        assert!([point.x, point.y, point.z].iter().all(|number| *number < PRIME));
    }

    #[test]
    fn it_does_not_matter_in_which_pieces_rows_come() {
        let names: Vec<String> = (0..5000).map(|i| i.to_string()).collect();
        let rows: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
        let mut fingerprint = Fingerprint::new(&SECRET);
        for rows in [&rows[..1], &[], &rows[1..]] {
            fingerprint.update(rows.len(), 1, |row, _| Cell::Text(rows[row]));
        }
        assert_eq!(fingerprint.rows(), 5000);
        assert_eq!(fingerprint.finish(), of(&rows));
    }
}
