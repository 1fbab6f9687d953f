//! Keyed tokens of ids. Without the key, a token identifies nobody.
//!
//! The polynomial of an id in canonical form is evaluated at a secret point ([`crate::text`]). The token is
//! this value, as a block, encrypted with AES-256. The point is a 128-bit random number modulo 2^127 − 1, so
//! no point has probability above `3 / 2^128`. Two different ids of at most k pieces have the same value with
//! probability below `k / 2^126`, and never if both are shorter than 16 bytes. Different values have
//! different tokens. So the probability that any two of n such ids share a token is below `n^2 k / 2^127`. In
//! that case the ids are refused.
//!
//! A universal hash followed by a pseudorandom function is a pseudorandom function (Boneh and Shoup, "A
//! graduate course in applied cryptography", theorem 7.7). So tokens reveal whether two ids are equal and
//! nothing else, provided that AES-256 is indistinguishable from a random permutation.
//!
//! Ids are hashed as they arrive and are not kept.

use crate::canonical::canonical;
use crate::field::reduced;
use crate::keyed::{KEY, Keyed, OUTPUT};
use crate::spread;
use crate::text::{self, Cell};
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes256, Block};
use rayon::prelude::*;
use zeroize::{Zeroize, Zeroizing};

/// A token, which stands for the id of a row.
pub type Token = [u8; OUTPUT];

/// Minimum number of ids per parallel task, to outweigh its overhead.
const TOGETHER: usize = 4096;

/// Number of ids whose blocks are encrypted in one call.
const SIDE_BY_SIDE: usize = 64;

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

/// The tokens of rows under one key, in the order of the rows.
pub struct Tokens {
    hash: Hash,
    tokens: Vec<Token>,
}

impl Tokens {
    /// No rows yet, under this key.
    #[must_use]
    pub fn new(key: &[u8; KEY]) -> Self {
        Self { hash: Hash::new(key), tokens: Vec::new() }
    }

    /// Adds the ids of the next `count` rows, on all threads of the current pool.
    ///
    /// # Errors
    ///
    /// The [`Misfit`] of the first row without a valid id, or [`Misfit::TooMany`].
    pub fn extend<'a>(&mut self, count: usize, id: impl Fn(usize) -> Cell<'a> + Sync) -> Result<(), Misfit> {
        let known = self.tokens.len();
        u32::try_from(known + count).map_err(|_| Misfit::TooMany)?;
        self.tokens.resize(known + count, Token::default());
        let hash = &self.hash;
        let found: Vec<Result<(), Misfit>> = self.tokens[known..]
            .par_chunks_mut(SIDE_BY_SIDE)
            .with_min_len(TOGETHER / SIDE_BY_SIDE)
            .enumerate()
            .map(|(k, tokens)| hash.write(tokens, |row| id(k * SIDE_BY_SIDE + row)))
            .filter(Result::is_err)
            .collect();
        found.into_iter().collect()
    }

    /// The tokens in ascending order, each with its row.
    ///
    /// # Errors
    ///
    /// [`Misfit::Repeated`] if two tokens are equal.
    pub fn ascending(self) -> Result<(Vec<Token>, Vec<u32>), Misfit> {
        let (tokens, rows) = spread::ascending(self.tokens);
        let repeated = tokens.par_windows(2).any(|pair| pair[0] == pair[1]);
        if repeated { Err(Misfit::Repeated) } else { Ok((tokens, rows)) }
    }
}

/// The secret function from ids to tokens. It is wiped on drop.
struct Hash {
    point: Box<u128>,
    cipher: Box<Aes256>,
}

impl Hash {
    fn new(key: &[u8; KEY]) -> Self {
        let keyed = Keyed::new(key);
        let mut halves = Zeroizing::new([0; KEY]);
        for (half, name) in halves.chunks_mut(OUTPUT).zip([b"cipher 1", b"cipher 2"]) {
            half.copy_from_slice(&keyed.hash(name));
        }
        let point = Box::new(reduced(u128::from_le_bytes(keyed.hash(b"point"))));
        Self { point, cipher: Box::new(Aes256::new((&*halves).into())) }
    }

    /// Writes the tokens of at most [`SIDE_BY_SIDE`] rows.
    fn write<'a>(&self, tokens: &mut [Token], id: impl Fn(usize) -> Cell<'a>) -> Result<(), Misfit> {
        let mut blocks = [Block::default(); SIDE_BY_SIDE];
        let blocks = &mut blocks[..tokens.len()];
        for (row, block) in blocks.iter_mut().enumerate() {
            *block = self.number(id(row))?.to_le_bytes().into();
        }
        self.cipher.encrypt_blocks(blocks);
        for (token, block) in tokens.iter_mut().zip(blocks) {
            *token = (*block).into();
        }
        Ok(())
    }

    fn number(&self, id: Cell<'_>) -> Result<u128, Misfit> {
        let canonical = match id {
            Cell::Nothing => return Err(Misfit::Missing),
            Cell::Text(id) => canonical(id).ok_or(Misfit::NoText)?,
            Cell::Whole(_) => return Ok(text::followed(0, id, *self.point)),
        };
        if canonical.is_empty() {
            return Err(Misfit::Empty);
        }
        Ok(text::followed(0, Cell::Text(&canonical), *self.point))
    }
}

impl Drop for Hash {
    fn drop(&mut self) {
        self.point.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::{Hash, Misfit, Token, Tokens};
    use crate::keyed::KEY;
    use crate::text::Cell;

    const SECRET: [u8; KEY] = [7; KEY];

    fn of(ids: &[Option<&[u8]>]) -> Result<(Vec<Token>, Vec<u32>), Misfit> {
        let mut tokens = Tokens::new(&SECRET);
        let (some, others) = ids.split_at(ids.len() / 3);
        tokens.extend(some.len(), |row| some[row].into())?;
        tokens.extend(others.len(), |row| others[row].into())?;
        tokens.ascending()
    }

    fn of_texts(ids: &[&str]) -> Result<(Vec<Token>, Vec<u32>), Misfit> {
        of(&ids.iter().map(|id| Some(id.as_bytes())).collect::<Vec<_>>())
    }

    /// The token of a single id.
    fn token(id: &str) -> Token {
        let mut tokens = [Token::default()];
        assert_eq!(Hash::new(&SECRET).write(&mut tokens, |_| Cell::Text(id.as_bytes())), Ok(()));
        tokens[0]
    }

    #[test]
    fn every_token_comes_with_its_row_and_after_the_smaller_ones() {
        let names: Vec<String> = (0..20_000).map(|i| format!("p{i}")).collect();
        let mut expected: Vec<_> = names.iter().map(|id| token(id)).zip(0..).collect();
        expected.sort_unstable();
        let found = of_texts(&names.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(found, Ok(expected.into_iter().unzip()));
    }

    #[test]
    fn tokens_are_those_of_canonical_ids() {
        let expected = ["7", "007", "é"].map(token);
        let (tokens, rows) = of_texts(&[" 7", "007", "e\u{301}"]).unwrap_or_default();
        assert_eq!(rows.iter().map(|row| expected[*row as usize]).collect::<Vec<_>>(), tokens);
    }

    #[test]
    fn whole_numbers_are_ids_like_their_texts() {
        let mut tokens = Tokens::new(&SECRET);
        let ids = |row| Cell::Whole(12_345_678_901_234_567 * i64::try_from(row).unwrap_or(0));
        assert_eq!(tokens.extend(2, ids), Ok(()));
        assert_eq!(tokens.ascending(), of_texts(&["0", "12345678901234567"]));
    }

    #[test]
    fn tokens_depend_on_every_byte_and_on_the_key() {
        let long = "a".repeat(40);
        for place in 0..40 {
            let mut other = long.clone().into_bytes();
            other[place] = b'b';
            assert_ne!(token(&long), token(std::str::from_utf8(&other).unwrap_or_default()));
        }
        let mut tokens = Tokens::new(&[8; KEY]);
        assert_eq!(tokens.extend(1, |_| Cell::Text(b"a")), Ok(()));
        assert_ne!(tokens.ascending().map(|(tokens, _)| tokens), Ok(vec![token("a")]));
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
