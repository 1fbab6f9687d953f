"""Arguments that are no numbers: words out of a few, collections and functions, or an error that says what is required.

`required` is the end of the message, such as "a list of sets of entries is required".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from statpriv.errors import ArgumentError
from statpriv.numeric.literals import abridged

__all__ = ["as_function", "as_items", "as_key", "as_word"]

Word = TypeVar("Word", bound=str)


def as_word(value: object, name: str, words: Sequence[Word]) -> Word:
    """One of these words.

    >>> as_word("sharp", "method", ("sharp", "printed"))
    'sharp'
    """
    if isinstance(value, str):
        for word in words:
            if value == word:
                return word
    listed = map(repr, words)
    required = " or ".join(listed) if len(words) == 2 else f"one of {', '.join(listed)}"
    raise ArgumentError(f"{name} = {abridged(value)}; {required} is required")


def as_items(value: object, name: str, required: str, *, text: bool = False) -> list[Any]:
    """What a collection or an iterator holds, in its order; text counts as one value, unless its letters are meant."""
    flat = isinstance(value, bytes) or (isinstance(value, str) and not text)
    if flat or not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
        raise ArgumentError(f"{name} = {abridged(value)}; {required}")
    return list(value)


def as_function(value: object, name: str, required: str) -> Callable[..., Any]:
    """Anything that can be called."""
    if not callable(value):
        raise ArgumentError(f"{name} = {abridged(value)}; {required}")
    return value


def as_key(value: object, name: str) -> Hashable:
    """Something that can be looked up.

    >>> as_key((0, "a"), "entry")
    (0, 'a')
    """
    try:
        hash(value)
    except TypeError:
        raise ArgumentError(f"{name} = {abridged(value)}; something hashable is required, such as a tuple") from None
    return value
