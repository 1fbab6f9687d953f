"""Exact numbers: what users write, as the rationals they mean."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from statpriv._native import fraction, integer
from statpriv.errors import ArgumentError
from statpriv.literals import spelled

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ArrayLike", "Number", "as_count", "as_fraction", "as_probability", "is_array"]

Number: TypeAlias = "float | int | str | Fraction | Decimal"
"""A float is the rational it stores; a string or Decimal is exactly what it says."""

ArrayLike: TypeAlias = "NDArray[Any] | list[Any] | tuple[Any, ...] | range"
"""Several numbers: an array of any shape, or what numpy reads as one."""


def is_array(value: object) -> bool:
    """Whether `value` stands for several numbers; found out without numpy."""
    return hasattr(value, "__len__") and not isinstance(value, str)


def as_fraction(value: Number, name: str) -> Fraction:
    """The exact value of `value`, which messages call `name`."""
    return fraction(value, name)


def as_probability(value: Number, name: str) -> Fraction:
    """An exact number from 0 to 1."""
    exact = fraction(value, name)
    if not 0 <= exact <= 1:
        raise ArgumentError(f"{name} = {spelled(value)}; a probability from 0 to 1 is required")
    return exact


def as_count(value: Number, name: str, *, least: int = 0) -> int:
    """An integer from `least` to 2^53, whatever its type: 3.0 counts, 1.5 is refused."""
    return integer(value, name, least)
