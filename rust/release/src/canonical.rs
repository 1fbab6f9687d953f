//! One writing of every id: no blanks around it, one Unicode form; "007" stays apart from "7".

use std::borrow::Cow;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// The id without white space around it (`White_Space` of Unicode, and the four separators U+001C to U+001F), in
/// normalisation form C.
#[must_use]
pub fn canonical(id: &str) -> Cow<'_, str> {
    let trimmed = id.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c));
    if trimmed.is_ascii() || is_nfc(trimmed) {
        Cow::Borrowed(trimmed)
    } else {
        Cow::Owned(trimmed.nfc().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn blanks_and_unicode_forms_do_not_tell_ids_apart() {
        for id in ["é", " e\u{301}", "é\u{3000}\n", "\u{1f}\u{85}é"] {
            assert_eq!(canonical(id), "é");
        }
        assert_eq!(canonical(" \t "), "");
    }

    #[test]
    fn everything_else_does() {
        for id in ["007", "7", "a b", "A", "a", "ﬁ", "fi", "\u{200b}"] {
            assert_eq!(canonical(id), id);
        }
    }
}
