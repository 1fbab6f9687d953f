//! Canonical form of ids: no surrounding white space, one Unicode normal form. "007" and "7" stay different.

use std::borrow::Cow;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// The id without surrounding white space, in Unicode normalisation form C. None if it is not valid UTF-8.
/// White space is Unicode's `White_Space` and the four separators U+001C to U+001F.
#[must_use]
pub fn canonical(id: &[u8]) -> Option<Cow<'_, [u8]>> {
    let visible = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    if visible(id.first()) && visible(id.last()) && id.is_ascii() {
        return Some(Cow::Borrowed(id)); // the case of nearly all ids
    }
    let id = std::str::from_utf8(id).ok()?;
    let trimmed = id.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c));
    Some(if trimmed.is_ascii() || is_nfc(trimmed) {
        Cow::Borrowed(trimmed.as_bytes())
    } else {
        Cow::Owned(trimmed.nfc().collect::<String>().into_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::canonical;

    fn of(id: &str) -> Option<String> {
        canonical(id.as_bytes()).and_then(|bytes| String::from_utf8(bytes.into_owned()).ok())
    }

    #[test]
    fn blanks_and_unicode_forms_do_not_tell_ids_apart() {
        for id in ["é", " e\u{301}", "é\u{3000}\n", "\u{1f}\u{85}é"] {
            assert_eq!(of(id).as_deref(), Some("é"));
        }
        assert_eq!(of(" \t ").as_deref(), Some(""));
        assert_eq!(of("").as_deref(), Some(""));
        assert_eq!(of("\u{1f}a b ").as_deref(), Some("a b"));
    }

    #[test]
    fn everything_else_does() {
        for id in ["007", "7", "a b", "A", "a", "ﬁ", "fi", "\u{200b}", "\u{7f}", "a\u{1}"] {
            assert_eq!(of(id).as_deref(), Some(id));
        }
    }

    #[test]
    fn bytes_that_are_no_text_have_no_form() {
        assert_eq!(canonical(b"a\xffb"), None);
        assert_eq!(canonical(b"\xff"), None);
    }
}
