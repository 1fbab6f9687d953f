//! The ids of all rows, in canonical form, one behind the other.

use crate::canonical::canonical;
use rayon::prelude::*;
use std::hash::{BuildHasher, RandomState};

/// Why ids do not identify rows. No value is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// A row has no id.
    Missing,
    /// An id has nothing but blanks.
    Empty,
    /// An id is not text in UTF-8.
    NoText,
    /// Two ids are equal, or differ only in blanks around them or in their Unicode form.
    Repeated,
}

/// Ids in canonical form, in the order of the rows.
#[derive(Default)]
pub struct Ids {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Ids {
    /// Adds the id of the next row.
    ///
    /// # Errors
    ///
    /// Where the id is missing, empty or no text; it is not added then.
    pub fn push(&mut self, id: Option<&[u8]>) -> Result<(), Misfit> {
        let id = std::str::from_utf8(id.ok_or(Misfit::Missing)?).map_err(|_| Misfit::NoText)?;
        let id = canonical(id);
        if id.is_empty() {
            return Err(Misfit::Empty);
        }
        self.text.extend_from_slice(id.as_bytes());
        self.ends.push(self.text.len());
        Ok(())
    }

    /// How many rows have their id.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether no row has an id yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The id of a row.
    ///
    /// # Panics
    ///
    /// Where there is no such row.
    #[must_use]
    pub fn get(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.text[start..self.ends[row]]
    }

    /// Refuses ids of which two are equal.
    ///
    /// Equal ids have equal hashes; where two hashes are equal, the ids themselves are compared.
    ///
    /// # Errors
    ///
    /// [`Misfit::Repeated`].
    pub fn check_distinct(&self) -> Result<(), Misfit> {
        let state = RandomState::new();
        let hash = |row: usize| state.hash_one(self.get(row));
        let mut hashes: Vec<u64> = (0..self.len()).into_par_iter().map(hash).collect();
        hashes.par_sort_unstable();
        let mut shared: Vec<u64> =
            hashes.par_windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        if shared.is_empty() {
            return Ok(());
        }
        shared.dedup();
        let suspects =
            (0..self.len()).into_par_iter().filter(|&row| shared.binary_search(&hash(row)).is_ok());
        let mut suspects: Vec<&[u8]> = suspects.map(|row| self.get(row)).collect();
        suspects.par_sort_unstable();
        if suspects.par_windows(2).any(|pair| pair[0] == pair[1]) { Err(Misfit::Repeated) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ids, Misfit};

    fn of(ids: &[&str]) -> Ids {
        let mut all = Ids::default();
        assert!(ids.iter().all(|id| all.push(Some(id.as_bytes())).is_ok()));
        all
    }

    #[test]
    fn ids_are_kept_in_canonical_form() {
        let ids = of(&[" 7", "007", "e\u{301}"]);
        assert_eq!((0..3).map(|row| ids.get(row)).collect::<Vec<_>>(), [&b"7"[..], b"007", "é".as_bytes()]);
    }

    #[test]
    fn ids_of_nobody_are_refused() {
        let mut ids = Ids::default();
        assert_eq!(ids.push(None), Err(Misfit::Missing));
        assert_eq!(ids.push(Some(b"")), Err(Misfit::Empty));
        assert_eq!(ids.push(Some(" \u{3000}".as_bytes())), Err(Misfit::Empty));
        assert_eq!(ids.push(Some(b"\xff")), Err(Misfit::NoText));
        assert!(ids.is_empty());
    }

    #[test]
    fn equal_ids_are_found_wherever_they_stand() {
        assert_eq!(of(&["b", "a", "ab"]).check_distinct(), Ok(()));
        assert_eq!(of(&["b", "a", " b"]).check_distinct(), Err(Misfit::Repeated));
        assert_eq!(of(&["\u{e9}", "a", "e\u{301}"]).check_distinct(), Err(Misfit::Repeated));
        let mut many: Vec<String> = (0..20_000).map(|i| i.to_string()).collect();
        let all = |ids: &[String]| of(&ids.iter().map(String::as_str).collect::<Vec<_>>()).check_distinct();
        assert_eq!(all(&many), Ok(()));
        many[19_999] = "17".to_string();
        assert_eq!(all(&many), Err(Misfit::Repeated));
    }
}
