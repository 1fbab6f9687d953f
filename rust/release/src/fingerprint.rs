//! Keyed fingerprints of table content: one of the ordered rows, and one of the rows in any order.
//!
//! Let `h` be a pseudorandom function from rows to pairs of numbers modulo `m = 2^128`, and let `f` be one from
//! positions to numbers modulo m. Rows are hashed in the encoding of [`crate::cell`], in which different rows
//! differ. A content of n rows `r_i` at positions i has two sums:
//!
//! * unordered: `Σ h(r_i)`,
//! * ordered: `Σ f(i) h(r_i)`.
//!
//! Each fingerprint is a pseudorandom function of n and its sum, cut to 128 bits. Sums of disjoint positions
//! add up to the sums of their union, so batches, threads and machines can hash apart.
//!
//! The unordered one is the multiset hash MSet-Add-Hash of Clarke, Devadas, van Dijk, Gassend and Suh
//! ("Incremental multiset hash functions and their application to memory integrity checking", ASIACRYPT 2003).
//! There, a random summand hides the sum; here, the function of the sum hides it, so that equal contents have
//! equal fingerprints.
//!
//! **Collisions.** Two different contents have equal fingerprints with probability below `2^-126`, if the
//! functions are random and the contents do not depend on the key. Proof:
//!
//! * The functions of two different pairs of n and sum agree with probability `2^-128`. It remains that n is
//!   equal and the difference D of the sums vanishes.
//! * Unordered: let row r have the multiplicities a and b ≠ a in the two contents. Given the values at the other
//!   rows, `D = (a − b) h(r) + const`. Since `0 < |a − b| < 2^64`, at most `2^63` values of each half of `h(r)`
//!   give the same multiple. So D vanishes with probability at most `(2^63 / 2^128)^2 = 2^-130`.
//! * Ordered: let row r have different sets of positions S and T in the two sequences. Then
//!   `D = c h(r) + const`, where `c = Σ_{S∖T} f(i) − Σ_{T∖S} f(i)` is uniform modulo m. It is 0 with probability
//!   `2^-128`, and exactly `2^v` divides it with probability `2^-(v+1)` for v < 128. In that case D vanishes with
//!   probability at most `(2^v / 2^128)^2`. In total, this is at most `2^-128 + Σ_v 2^(v-257) < 2^-127`.
//!
//! **Secrecy.** Without the key, the fingerprints of contents reveal which of them are equal and nothing else,
//! because they are values of a pseudorandom function. The holder of the key can construct different tables with
//! equal fingerprints, but can also rewrite the ledger in which fingerprints are kept.

use crate::cell::Cell;
use crate::keyed::{KEY, Keyed, OUTPUT};
use rayon::prelude::*;

/// Rows per parallel task: enough to outweigh its overhead.
const TOGETHER: usize = 2048;

/// The secret functions of the fingerprints under one key.
pub struct Fingerprint {
    rows: Keyed,
    positions: Keyed,
    ordered: Keyed,
    unordered: Keyed,
}

/// The sums over some rows. They hold no key, but differences of sums show which rows are equal. So sums stay in
/// memory, and only fingerprints are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    rows: u64,
    ordered: [u128; 2],
    unordered: [u128; 2],
}

impl Sums {
    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds the sums over rows at other positions, under the same key.
    pub fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        for half in 0..2 {
            self.ordered[half] = self.ordered[half].wrapping_add(other.ordered[half]);
            self.unordered[half] = self.unordered[half].wrapping_add(other.unordered[half]);
        }
    }
}

impl Fingerprint {
    /// The functions under a key.
    #[must_use]
    pub fn new(key: &[u8; KEY]) -> Self {
        Self {
            rows: Keyed::new("statpriv 2026-11 rows of a content", key),
            positions: Keyed::new("statpriv 2026-11 positions in a content", key),
            ordered: Keyed::new("statpriv 2026-11 ordered fingerprint", key),
            unordered: Keyed::new("statpriv 2026-11 unordered fingerprint", key),
        }
    }

    /// The sums over `rows` rows from the position `first` on, computed on all threads of the current pool.
    /// `cell(row, column)` is the content of a cell, with rows counted from 0. Positions lie below 2^60.
    pub fn sums<'a>(
        &self,
        first: u64,
        rows: usize,
        columns: usize,
        cell: impl Fn(usize, usize) -> Cell<'a> + Sync,
    ) -> Sums {
        let of_run = |(encoded, factors): &mut (Vec<u8>, Vec<u8>), run: usize| {
            let run = run * TOGETHER..rows.min((run + 1) * TOGETHER);
            self.write_factors(first + run.start as u64, run.len(), factors);
            let mut sums = Sums::default();
            for (row, factor) in run.zip(factors.as_chunks().0) {
                encoded.clear();
                (0..columns).for_each(|column| cell(row, column).append_to(encoded));
                let unordered = self.rows.halves(encoded).map(u128::from_le_bytes);
                let factor = u128::from_le_bytes(*factor);
                let ordered = unordered.map(|half| half.wrapping_mul(factor));
                sums.merge(&Sums { rows: 1, ordered, unordered });
            }
            sums
        };
        (0..rows.div_ceil(TOGETHER)).into_par_iter().map_init(Default::default, of_run).reduce(
            Sums::default,
            |mut sums, others| {
                sums.merge(&others);
                sums
            },
        )
    }

    /// Writes `f(first), …, f(first + count − 1)`.
    fn write_factors(&self, first: u64, count: usize, factors: &mut Vec<u8>) {
        factors.resize(count * OUTPUT, 0);
        let mut stream = self.positions.stream();
        stream.set_position(first * OUTPUT as u64);
        stream.fill(factors);
    }

    /// The ordered and the unordered fingerprint of the rows behind the sums.
    #[must_use]
    pub fn of(&self, sums: &Sums) -> ([u8; OUTPUT], [u8; OUTPUT]) {
        let cut = |function: &Keyed, [first, second]: [u128; 2]| {
            let of_rows = sums.rows.to_le_bytes();
            function.halves(&[&of_rows[..], &first.to_le_bytes(), &second.to_le_bytes()].concat())[0]
        };
        (cut(&self.ordered, sums.ordered), cut(&self.unordered, sums.unordered))
    }
}

#[cfg(test)]
mod tests {
    use super::{Fingerprint, Sums};
    use crate::cell::Cell;
    use crate::keyed::{KEY, OUTPUT};
    use blake3::Hasher;
    use proptest::prelude::*;

    const SECRET: [u8; KEY] = [7; KEY];

    type Row = Vec<Option<Vec<u8>>>;

    /// The sums over rows of equal numbers of cells, from a position on.
    fn sums(first: usize, rows: &[Row]) -> Sums {
        let columns = rows.first().map_or(0, Vec::len);
        let cell = |row: usize, column: usize| rows[row][column].as_deref().into();
        Fingerprint::new(&SECRET).sums(first as u64, rows.len(), columns, cell)
    }

    /// The ordered and the unordered fingerprint.
    fn of(rows: &[Row]) -> ([u8; OUTPUT], [u8; OUTPUT]) {
        Fingerprint::new(&SECRET).of(&sums(0, rows))
    }

    /// Rows of a single text.
    fn texts(rows: &[&str]) -> Vec<Row> {
        rows.iter().map(|text| vec![Some(text.as_bytes().to_vec())]).collect()
    }

    /// The definition, one row after the other.
    fn by_definition(rows: &[Row]) -> ([u8; OUTPUT], [u8; OUTPUT]) {
        let function = |purpose| {
            let subkey = Hasher::new_derive_key(purpose).update(&SECRET).finalize();
            Hasher::new_keyed(subkey.as_bytes())
        };
        let number =
            |bytes: &[u8]| bytes.iter().rev().fold(0, |number: u128, byte| number << 8 | u128::from(*byte));
        let mut factors = vec![0; rows.len() * OUTPUT];
        function("statpriv 2026-11 positions in a content").finalize_xof().fill(&mut factors);
        let (mut ordered, mut unordered) = ([0u128; 2], [0u128; 2]);
        for (row, factor) in rows.iter().zip(factors.chunks(OUTPUT)) {
            let mut hasher = function("statpriv 2026-11 rows of a content");
            for cell in row {
                let mut encoded = Vec::new();
                Cell::from(cell.as_deref()).append_to(&mut encoded);
                hasher.update(&encoded);
            }
            for (half, bytes) in hasher.finalize().as_bytes().chunks(OUTPUT).enumerate() {
                unordered[half] = unordered[half].wrapping_add(number(bytes));
                ordered[half] = ordered[half].wrapping_add(number(factor).wrapping_mul(number(bytes)));
            }
        }
        let hidden = |purpose, sums: [u128; 2]| {
            let mut hasher = function(purpose);
            hasher.update(&(rows.len() as u64).to_le_bytes());
            for sum in sums {
                hasher.update(&sum.to_le_bytes());
            }
            std::array::from_fn(|i| hasher.finalize().as_bytes()[i])
        };
        (
            hidden("statpriv 2026-11 ordered fingerprint", ordered),
            hidden("statpriv 2026-11 unordered fingerprint", unordered),
        )
    }

    /// Tables of up to three columns of short cells, so that equal rows and shifted boundaries are frequent.
    fn tables() -> impl Strategy<Value = Vec<Row>> {
        let cell = || prop::option::of(prop::collection::vec(0u8..3, 0..3));
        (0usize..4)
            .prop_flat_map(move |columns| prop::collection::vec(prop::collection::vec(cell(), columns), 0..8))
    }

    fn ascending(rows: &[Row]) -> Vec<Row> {
        let mut rows = rows.to_vec();
        rows.sort();
        rows
    }

    proptest! {
        #[test]
        fn fingerprints_are_those_of_their_definition(rows in tables()) {
            prop_assert_eq!(of(&rows), by_definition(&rows));
        }

        #[test]
        fn the_unordered_one_is_of_the_multiset_and_the_ordered_one_of_the_sequence(
            one in tables(), other in tables(), places in any::<[prop::sample::Index; 8]>()
        ) {
            let mut shuffled = one.clone();
            for (at, place) in places.iter().enumerate().take(one.len()) {
                shuffled.swap(at, place.index(one.len()));
            }
            for other in [other, shuffled] {
                prop_assert_eq!(of(&one).0 == of(&other).0, one == other);
                prop_assert_eq!(of(&one).1 == of(&other).1, ascending(&one) == ascending(&other));
            }
        }

        #[test]
        fn sums_add_up_in_whatever_pieces_and_order_rows_come(
            rows in tables(), cuts in any::<[prop::sample::Index; 2]>()
        ) {
            let mut cuts = cuts.map(|cut| cut.index(rows.len() + 1));
            cuts.sort_unstable();
            let [a, b, c] = [(0, &rows[..cuts[0]]), (cuts[0], &rows[cuts[0]..cuts[1]]), (cuts[1], &rows[cuts[1]..])]
                .map(|(first, rows)| sums(first, rows));
            let added = |one: &Sums, other: &Sums| {
                let mut both = one.clone();
                both.merge(other);
                both
            };
            prop_assert_eq!(added(&added(&a, &b), &c), sums(0, &rows));
            prop_assert_eq!(added(&a, &added(&b, &c)), sums(0, &rows));
            prop_assert_eq!(added(&c, &added(&b, &a)), sums(0, &rows));
            prop_assert_eq!(added(&a, &Sums::default()), a);
        }
    }

    #[test]
    fn equal_rows_do_not_cancel() {
        let rows = texts(&["a", "a", "a", "a", "b"]);
        for (few, many) in [(0, 1), (0, 2), (1, 2), (2, 4)] {
            assert_ne!(of(&rows[..few]).1, of(&rows[..many]).1);
        }
        assert_ne!(of(&texts(&["a", "a", "b"])).1, of(&texts(&["a", "b", "b"])).1);
        // Positions with equal sums: 0 + 3 = 1 + 2.
        assert_ne!(of(&texts(&["a", "b", "b", "a"])).0, of(&texts(&["b", "a", "a", "b"])).0);
    }

    #[test]
    fn every_kind_of_cell_and_every_boundary_counts() {
        let text = |text: &str| Some(text.as_bytes().to_vec());
        let rows: [Row; 10] = [
            vec![],
            vec![None],
            vec![None, None],
            vec![text("")],
            vec![text(""), text("")],
            vec![text("\0")],
            vec![text("ab")],
            vec![text("a"), text("b")],
            vec![text("ab"), text("")],
            vec![text("ab"), None],
        ];
        for (i, one) in rows.iter().enumerate() {
            for other in &rows[..i] {
                let (one, other) = (of(std::slice::from_ref(one)), of(std::slice::from_ref(other)));
                assert!(one.0 != other.0 && one.1 != other.1);
            }
        }
    }

    #[test]
    fn many_rows_have_the_sums_of_their_batches() {
        let rows = texts(
            &(0..10_000)
                .map(|i| i.to_string())
                .collect::<Vec<_>>()
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
        );
        let mut batches = Sums::default();
        for (first, end) in [(7000, 10_000), (1, 7000), (1, 1), (0, 1)] {
            batches.merge(&sums(first, &rows[first..end]));
        }
        assert_eq!((batches.rows(), &batches), (10_000, &sums(0, &rows)));
        assert_eq!(Fingerprint::new(&SECRET).of(&batches), by_definition(&rows));
    }

    #[test]
    fn another_key_gives_other_fingerprints() {
        let other = Fingerprint::new(&[8; KEY]);
        let (one, other) = (of(&texts(&["a"])), other.of(&other.sums(0, 1, 1, |_, _| Cell::Text(b"a"))));
        assert!(one.0 != other.0 && one.1 != other.1 && one.0 != one.1);
    }
}
