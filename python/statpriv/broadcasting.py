"""Functions of exact numbers, applied to arrays of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from statpriv._native import Enclosure, fraction
from statpriv.enclosure_array import EnclosureArray, broadcast_shape, elementwise, exact_entries, from_ends, located
from statpriv.errors import ArgumentError
from statpriv.literals import spelled

__all__ = ["evaluate_each", "evaluate_law"]

Doubles: TypeAlias = NDArray[np.float64]


def evaluate_each(
    one: Callable[[Any], Enclosure], many: Callable[[Doubles], Doubles], value: object, name: str
) -> EnclosureArray | Enclosure:
    """A function of one number at every entry of `value`: `many` takes doubles at once, `one` what is none."""
    entries = exact_entries(value, name)
    if entries.dtype == object:
        enclosures = np.array(elementwise(one, entries), dtype=object)
        return _unwrapped(EnclosureArray(enclosures.reshape(entries.shape)))
    return _unwrapped(from_ends(many(entries)))


def evaluate_law(many: Callable[..., Doubles], quantity: str, **arguments: object) -> EnclosureArray | Enclosure:
    """A quantity of a law at arguments that are broadcast together; all but p are integers."""
    arrays = {
        name: exact_entries(value, name) if name == "p" else _integers(value, name) for name, value in arguments.items()
    }
    return _unwrapped(from_ends(many(quantity, **arrays, shape=broadcast_shape(arrays))))


def _integers(value: object, name: str) -> Doubles:
    """The entries of `value` as doubles; the kernel refuses those that are no integers."""
    entries = exact_entries(value, name)
    if entries.dtype != object:
        return entries
    doubles = np.empty(entries.shape)
    for place, entry in np.ndenumerate(entries):
        at = f"{name}{located(place)}"
        exact = fraction(entry, at)
        if exact.denominator != 1 or abs(exact) > 2**53:
            raise ArgumentError(f"{at} = {spelled(entry)}; an integer of size up to 2^53 is required")
        doubles[place] = exact.numerator
    return doubles


def _unwrapped(result: EnclosureArray) -> EnclosureArray | Enclosure:
    """As numpy's functions do, an array without axes is a single value."""
    return result if result.ndim else result[()]
