"""Names and texts: as SQL quotes them, and as a message shows them."""

from __future__ import annotations

import unicodedata

__all__ = ["identifier", "quoted", "text_literal", "unprintable"]


def identifier(name: str) -> str:
    """Quote a name in standard SQL."""
    return '"' + name.replace('"', '""') + '"'


def text_literal(value: str) -> str:
    """Quote a text in standard SQL, where a backslash is a character like any other."""
    return "'" + value.replace("'", "''") + "'"


def unprintable(text: str) -> str | None:
    """Name the first character that a reader could not see or that reorders its neighbours.

    Control, separator, surrogate and format characters (the bidirectional ones among them); the two
    joiners that Persian and Indic words are spelled with are allowed.
    """
    for character in text:
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and character not in "\u200c\u200d":
            return f"U+{ord(character):04X}"
    return None


def quoted(text: str, *, longest: int = 80) -> str:
    """Quote for a message: one line, escapes for what cannot be seen, and not too long."""
    shown = text if len(text) <= longest else text[: longest - 1] + "…"
    escaped = (c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in shown)
    return '"' + "".join(escaped) + '"'
