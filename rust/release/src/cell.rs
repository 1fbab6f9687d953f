//! The content of a cell, and its unambiguous encoding as bytes.
//!
//! A missing text is the byte 0. A text of `l` bytes is the number `l + 1` in LEB128 (seven bits a byte, the
//! lowest first, the top bit set in all bytes but the last), followed by the text. No code of a number is the
//! start of another one's. So the cells can be read off the encoding of a row one after the other, and
//! different rows, of any numbers of cells, have different encodings.

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

impl Cell<'_> {
    /// Appends the encoding of this cell to that of the cells before it.
    #[inline]
    pub fn append_to(self, row: &mut Vec<u8>) {
        match self {
            Self::Nothing => row.push(0),
            Self::Text(text) => append(row, text),
            Self::Whole(number) => append(row, itoa::Buffer::new().format(number).as_bytes()),
        }
    }
}

#[inline]
fn append(row: &mut Vec<u8>, text: &[u8]) {
    let mut number = text.len() + 1;
    while number >= 0x80 {
        row.push(0x80 | number.to_le_bytes()[0]);
        number >>= 7;
    }
    row.push(number.to_le_bytes()[0]);
    row.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::Cell;
    use proptest::prelude::*;

    fn encoded(row: &[Option<Vec<u8>>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for cell in row {
            Cell::from(cell.as_deref()).append_to(&mut bytes);
        }
        bytes
    }

    /// The cells, read off their encoding.
    fn decoded(mut bytes: &[u8]) -> Vec<Option<Vec<u8>>> {
        let mut row = Vec::new();
        while !bytes.is_empty() {
            let code = bytes.iter().take_while(|byte| **byte >= 0x80).count() + 1;
            let number =
                bytes[..code].iter().rev().fold(0, |number, byte| number << 7 | usize::from(byte & 0x7f));
            bytes = &bytes[code..];
            row.push(number.checked_sub(1).map(|length| {
                let (text, rest) = bytes.split_at(length);
                bytes = rest;
                text.to_vec()
            }));
        }
        row
    }

    proptest! {
        #[test]
        fn cells_can_be_read_off_their_encoding(
            row in prop::collection::vec(prop::option::of(prop::collection::vec(any::<u8>(), 0..300)), 0..6)
        ) {
            prop_assert_eq!(decoded(&encoded(&row)), row);
        }

        #[test]
        fn a_whole_number_is_its_text(number in any::<i64>()) {
            let mut bytes = Vec::new();
            Cell::Whole(number).append_to(&mut bytes);
            prop_assert_eq!(bytes, encoded(&[Some(number.to_string().into_bytes())]));
        }
    }

    #[test]
    fn lengths_around_a_further_byte_can_be_read_off() {
        for length in [0, 126, 127, 128, 16_382, 16_383, 16_384, 70_000] {
            let row = [Some(vec![0x80; length]), None, Some(vec![])];
            assert_eq!(decoded(&encoded(&row)), row);
        }
    }
}
