"""Exact numbers as people write them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, Inexact
from fractions import Fraction
from itertools import groupby
from typing import TypeVar

Value = TypeVar("Value")


def spelled(value: object) -> str:
    """What the user wrote, for messages; Python refuses to print very long integers."""
    try:
        return str(value)
    except ValueError:
        return "(too long to print)"


def abridged(value: object) -> str:
    """The start of what the user wrote, for messages about values that may be long."""
    try:
        text = str(value) if isinstance(value, Fraction) else repr(value)
    except ValueError:
        return "(too long to print)"
    return text if len(text) <= 80 else f"{text[:77]}..."


def literal(value: Fraction) -> str:
    """The exact value as people write it: a decimal where one of up to 40 digits is exact, else a fraction.

    >>> literal(Fraction(2, 5)), literal(Fraction(1, 3)), literal(Fraction(1, 10**7))
    ('0.4', '1/3', '1e-7')
    """
    try:
        return str(Context(prec=40, traps=[Inexact]).divide(Decimal(value.numerator), value.denominator)).lower()
    except Inexact:
        return str(value)


def at_most(value: float, digits: int = 6) -> str:
    """A number of `digits` digits that is not below `value`.

    >>> at_most(0.1234567), at_most(float("inf"))
    ('0.123457', '∞')
    """
    return _rounded(value, digits, ROUND_CEILING)


def at_least(value: float, digits: int = 6) -> str:
    """A number of `digits` digits that is not above `value`.

    >>> at_least(0.1234567)
    '0.123456'
    """
    return _rounded(value, digits, ROUND_FLOOR)


def _rounded(value: float, digits: int, rounding: str) -> str:
    if math.isinf(value):
        return "∞"
    context = Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return str(context.create_decimal(Decimal(value))).lower()


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


def show_number(value: Fraction) -> str:
    """As :func:`show`, but an integer without a point.

    >>> show_number(Fraction(5)), show_number(Fraction(5, 2)), show_number(Fraction(1, 3))
    ('5', '2.5', "'1/3'")
    """
    try:
        return str(value.numerator) if value.denominator == 1 else show(value)
    except ValueError:
        return show(value)


def show_list(values: Iterable[Value], shown: Callable[[Value], str] = str) -> str:
    """A list that reads back as `values`, with runs of equal ones written as products.

    >>> show_list([3, 3, 4]), show_list([3, 4])
    ('[3] * 2 + [4]', '[3, 4]')
    """
    runs = [(shown(value), sum(1 for _ in run)) for value, run in groupby(values)]
    if all(count == 1 for _, count in runs):
        return f"[{', '.join(text for text, _ in runs)}]"
    return " + ".join(f"[{text}]" if count == 1 else f"[{text}] * {count}" for text, count in runs)
