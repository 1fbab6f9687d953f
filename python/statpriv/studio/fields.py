"""What fields of forms hold."""

from __future__ import annotations

from statpriv.errors import ArgumentError

__all__ = ["whole"]


def whole(name: str, text: str) -> int:
    """The whole number in a field.

    Raises
    ------
    ArgumentError
        If there is none.
    """
    if not text.isdecimal():
        raise ArgumentError(f"{name} = {text!r}; a whole number is required")
    return int(text)
