//! Keyed fingerprints of content: of the rows in their order, and of the rows in any order.
//!
//! Three secret numbers `x, y, z` modulo the prime `p = 2^127 − 1` come from the key. The number of a row is the
//! value at `y` of the polynomial of its cells ([`crate::text`]), which are different for different rows. The
//! values of a content are
//!
//! * in any order, the product of `x − r_i(y)` over its n rows: two different multisets of rows belong to
//!   different polynomials in `x` and `y`, since these factors are irreducible, none is a multiple of another,
//!   and factors are unique;
//! * in their order, `z^(n−1) r_1(y) + … + r_n(y)`: of two different sequences of n rows the difference is a
//!   polynomial in `y` and `z` that is not zero.
//!
//! Where no value of a coordinate has a probability above m, a polynomial of degree at most d that is not zero
//! vanishes with a probability of at most `d m` (Schwartz 1980, Zippel 1979; by induction over the coordinates).
//! A coordinate is a number of 128 random bits modulo p, so that `m = 3 / 2^128`, and d is at most the number of
//! pieces of all cells together: below 2^39 of them, some eight terabytes, `d m` is below 2^-87. The fingerprints
//! are keyed hashes of a name, n and the value, so without the key they tell whether two are equal and nothing
//! else. Tables with equal fingerprints hold the same rows, but for that chance, as long as the points and 128
//! bits of a keyed hash are as good as random. Whoever holds the key can make two that do not, as he can rewrite
//! the ledger in which fingerprints are kept.

use crate::field::{difference, power, product, reduced, sum};
use crate::keyed::{KEY, Keyed, OUTPUT};
use crate::text::{self, Cell};
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

    /// Takes in so many further rows, in their order, on all threads of the pool this runs in; `cell` gives
    /// what stands in a row and a column.
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
    fn values(&self, numbers: impl Iterator<Item = u128>) -> Values {
        numbers.fold(Values::NONE, |values, number| Values {
            rows: values.rows + 1,
            ordered: sum(product(values.ordered, self.z), number),
            unordered: product(values.unordered, difference(self.x, number)),
        })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::PRIME;

    const SECRET: [u8; KEY] = [7; KEY];

    /// Of rows of one cell.
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
