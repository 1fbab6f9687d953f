"""Text that any terminal can show: no control characters, and something readable for what it cannot encode."""

from __future__ import annotations

import codecs
import io
from typing import TextIO

_READABLE = {
    "ε": "epsilon",
    "δ": "delta",
    "σ": "sigma",
    "Δ": "Delta",
    "Σ": "Sum",
    "∞": "inf",
    "…": "...",
    "≤": "<=",
    "≥": ">=",
    "→": "->",
    **dict(zip("√−–·×’“”•✓✗̂", 'v--*x\'""*=!^', strict=True)),
    **dict(zip("─│╭╮╯╰", "-|++++", strict=True)),
}


def printable(text: str) -> str:
    """`text` with control and bidirectional characters shown as escapes, line ends aside."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def one_line(text: str) -> str:
    """The same with line ends shown too, for what others wrote: it could add lines of its own to ours."""
    return printable(text).replace("\n", "\\n")


def never_fail(stream: TextIO) -> None:
    """Let `stream` write what its encoding lacks in other words, instead of raising."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="statpriv.readable")


def _readable(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(_READABLE.get(c) or ascii(c)[1:-1] for c in lost), error.end


codecs.register_error("statpriv.readable", _readable)
