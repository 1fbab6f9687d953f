"""Exact numbers: what users write, as the rationals they mean."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from statpriv._native import fraction, integer
from statpriv.errors import ArgumentError

__all__ = ["Number", "as_count", "as_fraction", "as_probability", "show"]

Number: TypeAlias = "float | int | str | Fraction | Decimal"
"""A float is the rational it stores; a string or Decimal is exactly what it says."""


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


def spelled(value: object) -> str:
    """What the user wrote, for messages; Python refuses to print very long integers."""
    try:
        return str(value)
    except ValueError:
        return "(too long to print)"


def show(value: Fraction) -> str:
    """The shortest literal that reads back as exactly `value`: a float's own digits, or a fraction in quotes."""
    try:
        nearest = float(value)
    except OverflowError:
        nearest = math.inf
    if math.isfinite(nearest) and Fraction(nearest) == value:
        return repr(nearest)
    try:
        return repr(str(value))
    except ValueError:
        return f"Fraction({value.numerator:#x}, {value.denominator:#x})"  # too long for Python to print in decimal
