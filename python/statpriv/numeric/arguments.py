"""Validation of non-numeric arguments: words from a fixed list, collections and functions.

Each error message ends with `required`, such as "a list of sets of entries is required".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from typing import Any, TypeGuard, TypeVar

from statpriv.errors import ArgumentError
from statpriv.numeric.literals import abridged

Word = TypeVar("Word", bound=str)
Value = TypeVar("Value")


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
    """The items of a collection or an iterator, in order; a string is refused unless `text` is set."""
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
    """A hashable value, usable as a key.

    >>> as_key((0, "a"), "entry")
    (0, 'a')
    """
    try:
        hash(value)
    except TypeError:
        raise ArgumentError(f"{name} = {abridged(value)}; something hashable is required, such as a tuple") from None
    return value


def as_instance(value: object, name: str, kind: type[Value] | tuple[type[Value], ...], required: str) -> Value:
    """A value of this class, or of one of these.

    >>> as_instance(2, "rows", int, "an integer is required")
    2
    """
    if not isinstance(value, kind):
        raise ArgumentError(f"{name} = {abridged(value)}; {required}")
    return value


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Whether `value` is a dict or a mapping like one."""
    return isinstance(value, Mapping)


def as_mapping(value: object, name: str, required: str) -> Mapping[Any, Any]:
    """A dict, or a mapping like one, that is not empty."""
    if not is_mapping(value) or not value:
        raise ArgumentError(f"{name} = {abridged(value)}; {required}")
    return value


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether `value` is a list, a tuple or a sequence like these: text is not.

    >>> is_list((1, 2)), is_list("12"), is_list({1, 2})
    (True, False, False)
    """
    return isinstance(value, Sequence) and not isinstance(value, str)


def has_order(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether `value` holds values one after another, each in its place: text, dicts and sets do not.

    >>> has_order([1, 2]), has_order("12"), has_order({1, 2})
    (True, False, False)
    """
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping, Set))


def as_truth(value: object, name: str) -> bool:
    """True or False, not what is taken for it."""
    return as_instance(value, name, bool, "True or False is required")


def as_tuple(value: object, name: str, required: str, *, length: int = 2) -> Sequence[Any]:
    """A sequence of this many values."""
    if not is_list(value) or len(value) != length:
        raise ArgumentError(f"{name} = {abridged(value)}; {required}")
    return value


def length_of_tuple(value: object) -> int:
    """The number of entries of a tuple; -1 for anything else.

    >>> length_of_tuple(("a", "b")), length_of_tuple("ab")
    (2, -1)
    """
    return len(value) if isinstance(value, tuple) else -1
