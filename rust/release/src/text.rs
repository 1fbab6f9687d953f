//! Polynomials modulo the prime `p = 2^127 − 1` for sequences of cell texts. Different sequences have
//! different polynomials.
//!
//! A text is cut into pieces of 15 bytes. The last piece may be shorter; an empty text has one empty piece.
//! The number of a piece of `l` bytes is the little-endian value of its bytes, plus `2^(8 l)` to mark their
//! end, plus `2^124` if the text ends there. A missing text has the number `2^125`. So a sequence of texts
//! and gaps can be recovered from the sequence of its numbers `c_1, …, c_k`.
//!
//! None of the numbers is 0 modulo `p`. Therefore different sequences of any length have different
//! polynomials `c_1 y^(k−1) + … + c_k`. At a uniform point `y`, two polynomials of degree below `k` agree
//! with a probability below `k / p`.

use crate::field::{product, sum};

/// Bytes of a piece.
const PIECE: usize = 15;

/// Added to the last piece of a text.
const LAST: u128 = 1 << 124;

/// The number of a missing text.
const NOTHING: u128 = 1 << 125;

/// The content of a cell.
#[derive(Clone, Copy)]
pub enum Cell<'a> {
    /// No text.
    Nothing,
    /// A text.
    Text(&'a [u8]),
    /// The text of a whole number: its decimal digits, after a minus sign if it is negative.
    Whole(i64),
}

impl<'a> From<Option<&'a [u8]>> for Cell<'a> {
    fn from(text: Option<&'a [u8]>) -> Self {
        text.map_or(Self::Nothing, Self::Text)
    }
}

/// Appends a cell: the value, at a point, of the polynomial of a sequence of cells followed by this one.
/// `value` is that of the sequence without it, or 0 if the sequence is empty.
#[inline]
#[must_use]
pub fn followed(value: u128, cell: Cell<'_>, point: u128) -> u128 {
    match cell {
        Cell::Nothing => next(value, NOTHING, point),
        Cell::Text(text) => followed_by_text(value, text, point),
        Cell::Whole(number) => followed_by_text(value, itoa::Buffer::new().format(number).as_bytes(), point),
    }
}

#[inline]
fn followed_by_text(value: u128, text: &[u8], point: u128) -> u128 {
    if text.len() <= PIECE {
        return next(value, number(text) + LAST, point);
    }
    let (before, last) = text.split_at(text.len().saturating_sub(1) / PIECE * PIECE);
    let value = before.chunks(PIECE).fold(value, |value, piece| next(value, number(piece), point));
    next(value, number(last) + LAST, point)
}

#[inline]
fn next(value: u128, number: u128, point: u128) -> u128 {
    if value == 0 { number } else { sum(product(value, point), number) }
}

/// The number of a piece of at most 15 bytes, without the mark of a text's end. The bytes are read as two
/// words, which may overlap: overlapping bits agree.
#[inline]
fn number(piece: &[u8]) -> u128 {
    let bits = 8 * piece.len();
    let bytes = if let (Some(first), Some(last)) = (piece.first_chunk::<8>(), piece.last_chunk::<8>()) {
        u128::from(u64::from_le_bytes(*first)) | u128::from(u64::from_le_bytes(*last)) << (bits - 64)
    } else if let (Some(first), Some(last)) = (piece.first_chunk::<4>(), piece.last_chunk::<4>()) {
        u128::from(u32::from_le_bytes(*first)) | u128::from(u32::from_le_bytes(*last)) << (bits - 32)
    } else {
        piece.iter().rev().fold(0, |bytes, byte| bytes << 8 | u128::from(*byte))
    };
    bytes | 1 << bits
}

#[cfg(test)]
mod tests {
    use super::{Cell, LAST, NOTHING, PIECE, followed};
    use crate::field::{PRIME, product, sum};

    /// The coefficients, computed one by one and byte by byte.
    fn coefficients(texts: &[Option<&[u8]>]) -> Vec<u128> {
        let mut found = Vec::new();
        for text in texts {
            let Some(text) = text else {
                found.push(NOTHING);
                continue;
            };
            let pieces = text.len().div_ceil(PIECE).max(1);
            for piece in 0..pieces {
                let bytes = &text[piece * PIECE..text.len().min((piece + 1) * PIECE)];
                let places = (0..).map(|place| 1u128 << (8 * place));
                let of_bytes: u128 =
                    bytes.iter().zip(places).map(|(byte, place)| u128::from(*byte) * place).sum();
                let marks = (1 << (8 * bytes.len())) + if piece + 1 == pieces { LAST } else { 0 };
                found.push(of_bytes + marks);
            }
        }
        found
    }

    fn value(texts: &[Option<&[u8]>], point: u128) -> u128 {
        texts.iter().fold(0, |value, text| followed(value, (*text).into(), point))
    }

    #[test]
    fn texts_of_every_length_have_the_value_of_their_polynomial() {
        let bytes: Vec<u8> = (0..=255).collect();
        let point = PRIME - 12345;
        for length in 0..=bytes.len() {
            let texts = [Some(&bytes[256 - length..]), None, Some(&bytes[..length / 2])];
            let expected = coefficients(&texts).into_iter().fold(0, |sum_, c| sum(product(sum_, point), c));
            assert_eq!(value(&texts, point), expected, "{length} bytes");
        }
    }

    #[test]
    fn whole_numbers_are_their_texts() {
        for number in [0, 7, -7, 123_456_789_012_345, -123_456_789_012_345, i64::MAX, i64::MIN] {
            let text = number.to_string();
            assert_eq!(
                followed(5, Cell::Whole(number), PRIME - 9),
                followed(5, Cell::Text(text.as_bytes()), PRIME - 9)
            );
        }
    }

    #[test]
    fn other_sequences_have_other_coefficients() {
        let long = [b'a'; 16];
        let some: [&[Option<&[u8]>]; 12] = [
            &[],
            &[None],
            &[None, None],
            &[Some(b"")],
            &[Some(b""), Some(b"")],
            &[Some(b"\0")],
            &[Some(b"ab")],
            &[Some(b"a"), Some(b"b")],
            &[Some(&long[..15])],
            &[Some(&long)],
            &[Some(&long[..15]), Some(b"a")],
            &[Some(&long[..15]), None],
        ];
        for (i, one) in some.iter().enumerate() {
            assert!(coefficients(one).iter().all(|c| (1..1 << 126).contains(c)));
            for other in &some[..i] {
                assert_ne!(coefficients(one), coefficients(other));
            }
        }
    }
}
