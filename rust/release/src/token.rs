//! Keyed tokens of ids. Without the key, a token identifies nobody.
//!
//! The token of an id is a pseudorandom function of its canonical form, cut to 128 bits. So tokens reveal
//! whether two ids are equal and nothing else. The probability that any two of n different ids share a token
//! is below `n^2 / 2^129`. In that case the ids are refused.
//!
//! Ids are hashed as they arrive and are not kept. Nor are their plain forms, whose tokens tell how many ids differ
//! from another one only in what readers do not see.

use crate::canonical::canonical;
use crate::cell::Cell;
use crate::keyed::{KEY, Keyed, OUTPUT};
use crate::plain::plain;
use rayon::prelude::*;
use std::borrow::Cow;

/// A token, which stands for the id of a row.
pub type Token = [u8; OUTPUT];

/// Minimum number of ids per parallel task, to outweigh its overhead.
const TOGETHER: usize = 4096;

/// The reason why ids do not identify rows. It quotes no id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// A row has no id.
    Missing,
    /// An id is empty or all white space.
    Empty,
    /// An id is not valid UTF-8.
    NoText,
    /// Two ids are equal, or differ only in surrounding white space or in their Unicode form.
    Repeated,
    /// There are 2^32 rows or more.
    TooMany,
}

/// The function from ids to tokens under one key.
pub struct TokenFunction(Keyed);

/// The tokens of rows under one key, in the order of the rows.
pub struct Tokens {
    function: TokenFunction,
    of_ids: Vec<Token>,
    /// The tokens of the plain forms of those ids that are not their own plain forms.
    of_plain_forms: Vec<Token>,
}

/// The tokens of rows in ascending order.
#[derive(Debug, PartialEq, Eq)]
pub struct Ascending {
    /// The tokens.
    pub tokens: Vec<Token>,
    /// The row of each token, if it was asked for.
    pub rows: Option<Vec<u32>>,
    /// The number of ids less the number of their plain forms: 0 if no two ids look alike.
    pub look_alikes: usize,
}

impl Tokens {
    /// No rows yet, under this key.
    #[must_use]
    pub fn new(key: &[u8; KEY]) -> Self {
        Self { function: TokenFunction::new(key), of_ids: Vec::new(), of_plain_forms: Vec::new() }
    }

    /// Adds the ids of the next `count` rows, on all threads of the current pool.
    ///
    /// # Errors
    ///
    /// The [`Misfit`] of the first row without a valid id, or [`Misfit::TooMany`].
    pub fn extend<'a>(&mut self, count: usize, id: impl Fn(usize) -> Cell<'a> + Sync) -> Result<(), Misfit> {
        let known = self.of_ids.len();
        u32::try_from(known + count).map_err(|_| Misfit::TooMany)?;
        self.of_ids.resize(known + count, Token::default());
        let hashed = |(task, tokens): (usize, &mut [Token])| {
            let mut of_plain_forms = Vec::new();
            for (row, token) in (task * TOGETHER..).zip(tokens) {
                let of_plain_form;
                (*token, of_plain_form) = self.function.with_plain_form(id(row))?;
                of_plain_forms.extend(of_plain_form);
            }
            Ok(of_plain_forms)
        };
        let found: Vec<_> = self.of_ids[known..].par_chunks_mut(TOGETHER).enumerate().map(hashed).collect();
        for of_plain_forms in found {
            self.of_plain_forms.extend(of_plain_forms?);
        }
        Ok(())
    }

    /// The tokens in ascending order, and the row of each, which takes memory, if `with_rows` is true.
    ///
    /// # Errors
    ///
    /// [`Misfit::Repeated`] if two tokens are equal.
    pub fn ascending(mut self, with_rows: bool) -> Result<Ascending, Misfit> {
        let mut tokens = std::mem::take(&mut self.of_ids);
        let rows = if with_rows {
            let mut with_rows: Vec<(Token, u32)> = tokens.into_iter().zip(0..).collect();
            with_rows.par_sort_unstable_by_key(|(token, _)| number(token));
            let rows;
            (tokens, rows) = with_rows.into_par_iter().unzip();
            Some(rows)
        } else {
            tokens.par_sort_unstable_by_key(number);
            None
        };
        if tokens.par_windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Misfit::Repeated);
        }
        let differing = self.of_plain_forms.len();
        self.of_plain_forms.par_sort_unstable_by_key(number);
        self.of_plain_forms.dedup();
        let mut ids = tokens.iter().peekable();
        self.of_plain_forms.retain(|plain| {
            while ids.next_if(|id| *id < plain).is_some() {}
            ids.peek() != Some(&plain)
        });
        Ok(Ascending { tokens, rows, look_alikes: differing - self.of_plain_forms.len() })
    }
}

fn number(token: &Token) -> u128 {
    u128::from_be_bytes(*token)
}

impl TokenFunction {
    /// The function under a key.
    #[must_use]
    pub fn new(key: &[u8; KEY]) -> Self {
        Self(Keyed::new("statpriv 2026-11 tokens of row ids", key))
    }

    /// The token of an id.
    ///
    /// # Errors
    ///
    /// The [`Misfit`] of an id that is none.
    pub fn of(&self, id: Cell<'_>) -> Result<Token, Misfit> {
        match id {
            Cell::Nothing => Err(Misfit::Missing),
            Cell::Whole(number) => Ok(self.hashed(itoa::Buffer::new().format(number).as_bytes())),
            Cell::Text(id) => Ok(self.hashed(&non_empty(id)?)),
        }
    }

    /// The token of an id, and that of its plain form if it has another one.
    fn with_plain_form(&self, id: Cell<'_>) -> Result<(Token, Option<Token>), Misfit> {
        let Cell::Text(id) = id else { return Ok((self.of(id)?, None)) };
        let id = non_empty(id)?;
        let plain = plain(&id);
        Ok((self.hashed(&id), (plain != id).then(|| self.hashed(&plain))))
    }

    fn hashed(&self, id: &[u8]) -> Token {
        self.0.halves(id)[0]
    }
}

/// The canonical form of an id, which is not empty.
fn non_empty(id: &[u8]) -> Result<Cow<'_, [u8]>, Misfit> {
    let id = canonical(id).ok_or(Misfit::NoText)?;
    if id.is_empty() { Err(Misfit::Empty) } else { Ok(id) }
}

#[cfg(test)]
mod tests {
    use super::{Ascending, Misfit, Token, Tokens};
    use crate::cell::Cell;
    use crate::keyed::KEY;
    use blake3::Hasher;

    const SECRET: [u8; KEY] = [7; KEY];

    fn of(ids: &[Option<&[u8]>]) -> Result<Ascending, Misfit> {
        let mut tokens = Tokens::new(&SECRET);
        let (some, others) = ids.split_at(ids.len() / 3);
        tokens.extend(some.len(), |row| some[row].into())?;
        tokens.extend(others.len(), |row| others[row].into())?;
        tokens.ascending(true)
    }

    fn of_texts(ids: &[&str]) -> Result<Ascending, Misfit> {
        of(&ids.iter().map(|id| Some(id.as_bytes())).collect::<Vec<_>>())
    }

    /// The token of an id in canonical form, by definition.
    fn token(id: &str) -> Token {
        let subkey = Hasher::new_derive_key("statpriv 2026-11 tokens of row ids").update(&SECRET).finalize();
        let hash = Hasher::new_keyed(subkey.as_bytes()).update(id.as_bytes()).finalize();
        std::array::from_fn(|i| hash.as_bytes()[i])
    }

    #[test]
    fn every_token_comes_with_its_row_and_after_the_smaller_ones() {
        let names: Vec<String> = (0..20_000).map(|i| format!("p{i}")).collect();
        let mut expected: Vec<_> = names.iter().map(|id| token(id)).zip(0..).collect();
        expected.sort_unstable();
        let found = of_texts(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let (tokens, rows) = expected.into_iter().unzip();
        assert_eq!(found, Ok(Ascending { tokens, rows: Some(rows), look_alikes: 0 }));
    }

    #[test]
    fn tokens_are_those_of_canonical_ids() {
        let expected = ["7", "007", "é"].map(token);
        let found = of_texts(&[" 7", "007", "e\u{301}"]);
        let in_order = found.map(|found| {
            (found.rows.iter().flatten().map(|row| expected[*row as usize]).collect(), found.tokens)
        });
        assert!(in_order.is_ok_and(|(expected, tokens): (Vec<_>, _)| expected == tokens));
    }

    #[test]
    fn whole_numbers_are_ids_like_their_texts() {
        let mut tokens = Tokens::new(&SECRET);
        let ids = |row| Cell::Whole(-12_345_678_901_234_567 * i64::try_from(row).unwrap_or(0));
        assert_eq!(tokens.extend(2, ids), Ok(()));
        assert_eq!(tokens.ascending(true), of_texts(&["0", "-12345678901234567"]));
    }

    #[test]
    fn tokens_depend_on_the_key() {
        let mut tokens = Tokens::new(&[8; KEY]);
        assert_eq!(tokens.extend(1, |_| Cell::Text(b"a")), Ok(()));
        assert_ne!(tokens.ascending(false).map(|found| found.tokens), Ok(vec![token("a")]));
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

    #[test]
    fn ids_that_look_alike_are_counted() {
        let count = |ids: &[&str]| of_texts(ids).map(|found| found.look_alikes);
        assert_eq!(count(&["A", "B", "ab", "Ba"]), Ok(0));
        assert_eq!(count(&["A", "a"]), Ok(1));
        assert_eq!(count(&["AB", "aB", "Ab", "ba"]), Ok(2));
        assert_eq!(count(&["AB", "aB", "Ab", "ab", "x", "\u{ff58}", "\u{200b}x"]), Ok(5));
        let mut many: Vec<String> = (0..20_000).map(|i| format!("p{i}")).collect();
        many.extend((5_000..15_000).map(|i| format!("P{i}")));
        assert_eq!(count(&many.iter().map(String::as_str).collect::<Vec<_>>()), Ok(10_000));
    }
}
