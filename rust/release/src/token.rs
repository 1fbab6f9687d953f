//! Keyed tokens of ids, which name nobody without the key.
//!
//! Ids are hashed as they come and not kept. Rows with one token are taken to have one id: of n different ids
//! two share a token of 128 bits with a probability below `n^2 / 2^129`, and are refused then.

use crate::canonical::canonical;
use crate::keyed::{KEY, Keyed, OUTPUT};
use crate::spread;
use rayon::prelude::*;

/// A keyed hash of an id in canonical form.
pub type Token = [u8; OUTPUT];

/// Ids that are worth a thread's while.
const TOGETHER: usize = 4096;

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
    /// There are 2^32 rows or more.
    TooMany,
}

/// The tokens of rows under one key, in the order of the rows.
pub struct Tokens {
    keyed: Keyed,
    numbered: Vec<(Token, u32)>,
}

impl Tokens {
    /// Of no rows yet.
    #[must_use]
    pub fn new(key: &[u8; KEY]) -> Self {
        Self { keyed: Keyed::new(key), numbered: Vec::new() }
    }

    /// Takes in the ids of the next rows, as many as `count`; on all threads of the pool this runs in.
    ///
    /// # Errors
    ///
    /// What the first of them that is none is instead; or [`Misfit::TooMany`].
    pub fn extend<'a>(
        &mut self,
        count: usize,
        id: impl Fn(usize) -> Option<&'a [u8]> + Sync,
    ) -> Result<(), Misfit> {
        let known = self.numbered.len();
        let rows = u32::try_from(known + count).map_err(|_| Misfit::TooMany)?;
        self.numbered.extend((0..rows).skip(known).map(|row| ([0; OUTPUT], row)));
        let keyed = &self.keyed;
        let found: Vec<Result<(), Misfit>> = self.numbered[known..]
            .par_chunks_mut(TOGETHER)
            .map(|tokens| {
                tokens.iter_mut().try_for_each(|(token, row)| {
                    *token = hashed(keyed, id(*row as usize - known))?;
                    Ok(())
                })
            })
            .collect();
        found.into_iter().collect()
    }

    /// The tokens in ascending order, and the row of each.
    ///
    /// # Errors
    ///
    /// [`Misfit::Repeated`].
    pub fn ascending(self) -> Result<(Vec<Token>, Vec<u32>), Misfit> {
        let number = |(token, _): &(Token, u32)| u128::from_be_bytes(*token);
        let sorted = spread::ascending(self.numbered, |token| (number(token) >> 96) as u32, number);
        if sorted.par_windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(Misfit::Repeated);
        }
        Ok(sorted.into_iter().unzip())
    }
}

fn hashed(keyed: &Keyed, id: Option<&[u8]>) -> Result<Token, Misfit> {
    let id = canonical(std::str::from_utf8(id.ok_or(Misfit::Missing)?).map_err(|_| Misfit::NoText)?);
    if id.is_empty() { Err(Misfit::Empty) } else { Ok(keyed.hash(id.as_bytes())) }
}

#[cfg(test)]
mod tests {
    use super::{Misfit, Token, Tokens};
    use crate::keyed::{KEY, Keyed};

    const SECRET: [u8; KEY] = [7; KEY];

    fn of(ids: &[Option<&[u8]>]) -> Result<(Vec<Token>, Vec<u32>), Misfit> {
        let mut tokens = Tokens::new(&SECRET);
        let (some, others) = ids.split_at(ids.len() / 3);
        tokens.extend(some.len(), |row| some[row])?;
        tokens.extend(others.len(), |row| others[row])?;
        tokens.ascending()
    }

    fn of_texts(ids: &[&str]) -> Result<(Vec<Token>, Vec<u32>), Misfit> {
        of(&ids.iter().map(|id| Some(id.as_bytes())).collect::<Vec<_>>())
    }

    #[test]
    fn every_token_comes_with_its_row_and_after_the_smaller_ones() {
        let names: Vec<String> = (0..20_000).map(|i| format!("p{i}")).collect();
        let keyed = Keyed::new(&SECRET);
        let mut expected: Vec<_> =
            (0..).zip(&names).map(|(row, id)| (keyed.hash(id.as_bytes()), row)).collect();
        expected.sort_unstable();
        let found = of_texts(&names.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(found, Ok(expected.into_iter().unzip()));
    }

    #[test]
    fn tokens_are_those_of_canonical_ids() {
        let keyed = Keyed::new(&SECRET);
        let hashes = [&b"7"[..], b"007", "é".as_bytes()].map(|id| keyed.hash(id));
        let (tokens, rows) = of_texts(&[" 7", "007", "e\u{301}"]).unwrap_or_default();
        assert_eq!(rows.iter().map(|row| hashes[*row as usize]).collect::<Vec<_>>(), tokens);
    }

    #[test]
    fn ids_of_nobody_are_refused() {
        for (ids, misfit) in [
            ([Some(&b"a"[..]), None, Some(b"")], Misfit::Missing),
            ([Some(b"a"), Some(b""), None], Misfit::Empty),
            ([Some(b"a"), Some(" \u{3000}".as_bytes()), Some(b"b")], Misfit::Empty),
            ([Some(b"a"), Some(b"b"), Some(b"\xff")], Misfit::NoText),
        ] {
            assert_eq!(of(&ids), Err(misfit));
        }
    }

    #[test]
    fn equal_ids_are_found_wherever_they_stand() {
        assert!(of_texts(&["b", "a", "ab"]).is_ok());
        assert_eq!(of_texts(&["b", "a", " b"]), Err(Misfit::Repeated));
        assert_eq!(of_texts(&["\u{e9}", "a", "e\u{301}"]), Err(Misfit::Repeated));
        let mut many: Vec<String> = (0..20_000).map(|i| i.to_string()).collect();
        let all = |ids: &[String]| of_texts(&ids.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(all(&many).is_ok());
        many[19_999] = "17".to_string();
        assert_eq!(all(&many), Err(Misfit::Repeated));
    }
}
