//! The plain form of an id: what is left of it for a reader who sees neither case, nor the width of letters, nor
//! invisible characters. Ids with the same plain form are different rows, and probably a mistake.

use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;

/// Unicode's `Default_Ignorable_Code_Point` (`DerivedCoreProperties.txt`): invisible unless a program shows them.
const INVISIBLE: [(char, char); 17] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fff8}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// The plain form of an id in canonical form, which is valid UTF-8. A plain form is its own.
///
/// Letters are made small by way of their capitals: "ẞ", "ß" and "ss" become "ss", and both small sigmas one.
#[must_use]
pub fn plain(id: &[u8]) -> Cow<'_, [u8]> {
    if id.is_ascii() {
        return if id.iter().any(u8::is_ascii_uppercase) {
            Cow::Owned(id.to_ascii_lowercase())
        } else {
            Cow::Borrowed(id)
        };
    }
    let text = String::from_utf8_lossy(id);
    let visible = text.nfkc().filter(|c| !invisible(*c));
    let small =
        visible.flat_map(char::to_lowercase).flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    Cow::Owned(small.nfkc().collect::<String>().into_bytes())
}

fn invisible(c: char) -> bool {
    INVISIBLE.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

#[cfg(test)]
mod tests {
    use super::plain;
    use proptest::prelude::*;

    fn of(id: &str) -> String {
        String::from_utf8_lossy(&plain(id.as_bytes())).into_owned()
    }

    #[test]
    fn case_width_and_invisible_characters_do_not_tell_plain_forms_apart() {
        for id in [
            "ab1",
            "AB1",
            "aB1",
            "\u{ff41}b\u{ff11}",
            "a\u{200b}b1",
            "\u{feff}ab1",
            "a\u{ad}b1",
            "ab\u{fe0f}1",
        ] {
            assert_eq!(of(id), "ab1");
        }
        for (one, other) in
            [("ß", "SS"), ("ẞ", "ss"), ("ς", "Σ"), ("É", "e\u{301}"), ("ﬁ", "FI"), ("Ａ", "a")]
        {
            assert_eq!(of(one), of(other));
        }
    }

    #[test]
    fn everything_else_does() {
        let ids = ["007", "7", "a b", "a  b", "a", "à", "o", "0", "l", "1", "а", "-", "_"];
        for (i, one) in ids.iter().enumerate() {
            assert!(ids[..i].iter().all(|other| of(one) != of(other)));
        }
    }

    proptest! {
        #[test]
        fn a_plain_form_is_its_own(id in "\\PC{0,12}") {
            prop_assert_eq!(of(&of(&id)), of(&id));
        }
    }
}
