"""Exact numbers as people write them."""

from __future__ import annotations

import math
from decimal import Context, Decimal, Inexact
from fractions import Fraction

__all__ = ["literal", "show", "spelled"]


def spelled(value: object) -> str:
    """What the user wrote, for messages; Python refuses to print very long integers."""
    try:
        return str(value)
    except ValueError:
        return "(too long to print)"


def literal(value: Fraction) -> str:
    """The exact value as people write it: a decimal where one of up to 40 digits is exact, else a fraction.

    >>> literal(Fraction(2, 5)), literal(Fraction(1, 3)), literal(Fraction(1, 10**7))
    ('0.4', '1/3', '1e-7')
    """
    try:
        return str(Context(prec=40, traps=[Inexact]).divide(Decimal(value.numerator), value.denominator)).lower()
    except Inexact:
        return str(value)


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
