"""The formatting of numbers and texts on the page: bounds rounded conservatively, no active content."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

__all__ = ["FILTERS", "visible"]

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

# Control characters and characters that change the text direction: they are displayed as text and have no effect.
_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def visible(value: object) -> object:
    """Spell out the characters of a text that would otherwise affect its display; existing markup is unchanged."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return _INVISIBLE.sub(lambda found: f"[U+{ord(found.group()):04X}]", value)


def _rounded(value: float | Decimal | str, digits: int, rounding: str) -> str:
    number = Decimal(value)
    if not number.is_finite():
        return "∞"
    if number == 0:
        return "0"
    short = Context(prec=digits, rounding=rounding).plus(number)
    if number == number.to_integral_value() or short.adjusted() >= digits:
        return f"{short:,.0f}"
    if short.adjusted() >= -4:
        return f"{short:f}"
    power = str(short.adjusted()).translate(_SUPERSCRIPTS)
    return f"{short.scaleb(-short.adjusted()):f} × 10{power}"


def _up(value: float | Decimal | str, digits: int = 3) -> str:
    """Round a bound upwards, from its exact value."""
    return _rounded(value, digits, ROUND_CEILING)


def _near(value: float | str, digits: int = 3) -> str:
    return _rounded(Decimal(str(value)), digits, ROUND_HALF_EVEN)


def _percent(value: float | Decimal, rounding: str = "near", places: int = 1) -> str:
    modes = {"up": ROUND_CEILING, "down": ROUND_FLOOR, "near": ROUND_HALF_EVEN}
    hundredfold = Decimal(str(value)) * 100
    return f"{hundredfold.quantize(Decimal(1).scaleb(-places), rounding=modes[rounding]):f}%"


def _small_percent(value: float | Decimal) -> str:
    """Round a probability upwards to two significant digits, however small it is."""
    return _up(Decimal(value) * 100, 2) + "%"


def _exact(text: str) -> str:
    """Return an exact number as a decimal if 12 places suffice, else as a fraction."""
    number = Fraction(text)
    scaled = number * 10**12
    if scaled.denominator != 1:
        return f"{number.numerator}/{number.denominator}"
    places = Decimal(scaled.numerator).scaleb(-12).normalize()
    return f"{places:f}"


def _whole(value: float) -> str:
    return f"{int(value):,}"


def _full(value: float | str) -> str:
    """Return the shortest decimal that reads back as the same double."""
    return value if isinstance(value, str) else repr(float(value))


FILTERS: Mapping[str, Callable[..., str]] = {
    "exact": _exact,
    "full": _full,
    "near": _near,
    "percent": _percent,
    "small_percent": _small_percent,
    "up": _up,
    "whole": _whole,
}
