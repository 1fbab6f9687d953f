"""Functions of exact numbers, applied to arrays of them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from statpriv import budget
from statpriv._native import Enclosure, fraction
from statpriv.errors import ArgumentError
from statpriv.numeric.digits_array import DigitsEnclosureArray
from statpriv.numeric.enclosure_array import (
    EnclosureArray,
    broadcast_shape,
    elementwise,
    exact_entries,
    from_ends,
    located,
)
from statpriv.numeric.literals import spelled

Doubles: TypeAlias = NDArray[np.float64]


def evaluate_each(
    one: Callable[[Any], Enclosure], value: object, name: str, many: Callable[[Doubles], Doubles] | None = None
) -> EnclosureArray | Enclosure:
    """A function of one number, applied to every entry of `value`; `many`, if given, takes an array of doubles."""
    entries = exact_entries(value, name)
    if many is None or entries.dtype == object:
        enclosures = np.array(elementwise(one, entries), dtype=object)
        return _unwrapped(EnclosureArray(enclosures.reshape(entries.shape)))
    return _unwrapped(from_ends(many(entries)))


def evaluate_at_sizes(
    one: Callable[[Any], Enclosure], value: object, name: str, many: Callable[[Doubles], Doubles | None]
) -> EnclosureArray | Enclosure:
    """A function of one size, applied to every entry of `value`; `many` takes all at once, unless it returns None."""
    sizes = _integers(value, name)
    if sizes.size == 0:
        raise ArgumentError(f"{name} = []; at least one size is required")
    allowed = (sizes >= 1) & (sizes <= budget.MAX_INTEGER) & (np.floor(sizes) == sizes)
    if not allowed.all():
        place = tuple(np.argwhere(~allowed)[0].tolist())
        raise ArgumentError(f"{name}{located(place)} = {sizes[place]:.16g}; an integer from 1 to 2^53 is required")
    ends = many(sizes)
    if ends is not None:
        return _unwrapped(from_ends(ends))
    enclosures = np.array(elementwise(one, sizes), dtype=object)
    return _unwrapped(EnclosureArray(enclosures.reshape(sizes.shape)))


def evaluate_digits(one: Callable[..., Enclosure], **arguments: object) -> EnclosureArray | Enclosure:
    """A function that returns enclosures with digits, applied to arguments that are broadcast together."""
    entries = {name: exact_entries(value, name) for name, value in arguments.items()}
    shape = broadcast_shape(entries)
    names = tuple(entries)
    found = elementwise(
        lambda *values: one(**dict(zip(names, values, strict=True))),
        *(np.broadcast_to(array, shape) for array in entries.values()),
    )
    return _unwrapped(DigitsEnclosureArray(np.array(found, dtype=object).reshape(shape)))


def exact_each(one: Callable[[Any], Fraction], value: object, name: str) -> NDArray[Any]:
    """A function from a number to a fraction, applied to every entry of `value`; the result is an array of objects."""
    entries = exact_entries(value, name)
    return np.array(elementwise(one, entries), dtype=object).reshape(entries.shape)[()]


def exact_pairs(
    one: Callable[[Any], tuple[Fraction, Fraction]], value: object, name: str
) -> tuple[NDArray[Any], NDArray[Any]]:
    """A function from a number to two fractions, applied to every entry: an array of each of the two."""
    entries = exact_entries(value, name)
    found = np.empty((2, entries.size), dtype=object)
    for place, pair in enumerate(elementwise(one, entries)):
        found[:, place] = pair
    pairs = found.reshape(2, *entries.shape)
    return pairs[0], pairs[1]


def evaluate_law(many: Callable[..., Doubles], quantity: str, **arguments: object) -> EnclosureArray | Enclosure:
    """A quantity of a law at arguments that are broadcast together; all arguments but p are integers."""
    arrays = {
        name: exact_entries(value, name) if name == "p" else _integers(value, name) for name, value in arguments.items()
    }
    return _unwrapped(from_ends(many(quantity, **arrays, shape=broadcast_shape(arrays))))


def _integers(value: object, name: str) -> Doubles:
    """The entries of `value` as doubles; the kernel refuses entries that are not integers."""
    entries = exact_entries(value, name)
    if entries.dtype != object:
        return entries
    doubles = np.empty(entries.shape)
    for place, entry in np.ndenumerate(entries):
        at = f"{name}{located(place)}"
        exact = fraction(entry, at)
        if exact.denominator != 1 or abs(exact) > budget.MAX_INTEGER:
            raise ArgumentError(f"{at} = {spelled(entry)}; an integer of size up to 2^53 is required")
        doubles[place] = exact.numerator
    return doubles


def _unwrapped(result: EnclosureArray) -> EnclosureArray | Enclosure:
    """The result as it is, or as a single value if it has no axes, as in numpy's functions."""
    return result if result.ndim else result[()]
