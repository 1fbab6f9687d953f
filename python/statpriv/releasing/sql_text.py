"""Names and texts as quoted in SQL, and as displayed in messages."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

__all__ = ["identifier", "names_of", "quoted", "text_literal", "unprintable"]


def identifier(name: str) -> str:
    """Quote a name in standard SQL."""
    return '"' + name.replace('"', '""') + '"'


def text_literal(value: str) -> str:
    """Quote a text in standard SQL, where a backslash is an ordinary character."""
    return "'" + value.replace("'", "''") + "'"


def unprintable(text: str) -> str | None:
    """Name the first character that is invisible or reorders its neighbours.

    These are control, separator, surrogate and format characters, including the bidirectional ones. The two joiners
    used in the spelling of Persian and Indic words are allowed.
    """
    for character in text:
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and character not in "\u200c\u200d":
            return f"U+{ord(character):04X}"
    return None


def quoted(text: str, *, longest: int = 80) -> str:
    """Quote for a message: on one line, with escapes for unprintable characters, and truncated if too long."""
    shown = text if len(text) <= longest else text[: longest - 1] + "…"
    escaped = (c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in shown)
    return '"' + "".join(escaped) + '"'


def names_of(texts: Iterable[str]) -> str:
    """Quote the first texts of a list for a message."""
    shown = [quoted(text) for text in texts]
    return ", ".join(shown[:10] + ["…"] * (len(shown) > 10))
