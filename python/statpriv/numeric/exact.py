"""Exact numbers: user input as the rationals it denotes."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from statpriv import budget
from statpriv._native import fraction, integer
from statpriv.errors import ArgumentError
from statpriv.numeric.literals import spelled

if TYPE_CHECKING:
    from numpy.typing import NDArray

Number: TypeAlias = "float | int | str | Fraction | Decimal"
"""A float is the rational it stores; a string or Decimal is exactly what it says."""

ArrayLike: TypeAlias = "NDArray[Any] | list[Any] | tuple[Any, ...] | range"
"""Several numbers: an array of any shape, or anything numpy reads as one."""


def is_array(value: object) -> bool:
    """Whether `value` stands for several numbers; decided without importing numpy."""
    return hasattr(value, "__len__") and not isinstance(value, str)


def is_finite(value: Fraction | float) -> TypeGuard[Fraction]:
    """Whether a distance or a ratio, either exact or `math.inf`, is finite.

    >>> is_finite(Fraction(3)), is_finite(float("inf"))
    (True, False)
    """
    return not isinstance(value, float)


def is_rounded(value: object) -> bool:
    """Whether `value` is a binary floating-point number, including those of numpy and mpmath."""
    return hasattr(value, "_mpf_") or (isinstance(value, Real) and not isinstance(value, Rational))


def as_fraction(value: Number, name: str) -> Fraction:
    """The exact value of `value`; error messages refer to it as `name`."""
    return fraction(value, name)


def as_probability(value: Number, name: str) -> Fraction:
    """An exact number from 0 to 1."""
    exact = fraction(value, name)
    if not 0 <= exact <= 1:
        raise ArgumentError(f"{name} = {spelled(value)}; a probability from 0 to 1 is required")
    return exact


def as_nonnegative(value: Number, name: str) -> Fraction:
    """An exact number of at least 0."""
    exact = fraction(value, name)
    if exact < 0:
        raise ArgumentError(f"{name} = {spelled(value)}; a number of at least 0 is required")
    return exact


def as_positive(value: Number, name: str) -> Fraction:
    """An exact number above 0."""
    exact = fraction(value, name)
    if exact <= 0:
        raise ArgumentError(f"{name} = {spelled(value)}; a number above 0 is required")
    return exact


def as_integer(value: Number, name: str) -> int:
    """An integer of either sign with absolute value at most 2^53."""
    exact = fraction(value, name)
    if exact.denominator != 1 or abs(exact) > budget.MAX_INTEGER:
        raise ArgumentError(f"{name} = {spelled(value)}; an integer of size up to 2^53 is required")
    return exact.numerator


def as_count(value: Number, name: str, *, least: int = 0) -> int:
    """An integer from `least` to 2^53, of any numeric type: 3.0 is accepted, 1.5 is refused."""
    return integer(value, name, least)
