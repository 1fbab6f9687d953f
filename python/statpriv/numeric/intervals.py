"""Intervals at the precision a formula needs: from exact rationals, and back to enclosures in doubles."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

from statpriv._native import Enclosure
from statpriv.errors import PrecisionError

_SMALL = Fraction(1, 2**64)
_EXPONENTS_OF_DOUBLES = 1100
"""Bound on the absolute value of the binary exponent of every finite nonzero double."""


@cache
def interval_context(bits: int) -> Any:  # noqa: ANN401  (mpmath has no types)
    """Interval arithmetic at its own precision, independent of mpmath's global precision.

    Creating a context takes a millisecond, so contexts are cached. Threads may share a context: some mpmath functions
    change its precision for a moment, but intervals contain the truth at any precision.
    """
    from mpmath import MPIntervalContext

    context = MPIntervalContext()
    context.prec = bits
    return context


def bits_below_one(value: Fraction) -> int:
    """An upper bound on the number of leading zero binary places of a positive number, which `1 − value` loses."""
    return (value.denominator // value.numerator).bit_length() if value else 0


def exact(context: Any, value: Fraction | int) -> Any:  # noqa: ANN401
    """An interval that holds a rational, as narrow as the precision allows."""
    return context.mpf(value.numerator) / context.mpf(value.denominator)


def one_minus_exp(context: Any, x: Fraction) -> Any:  # noqa: ANN401
    """`1 − e^{−x}` for `x >= 0`, without cancellation: for small x it lies between `x − x²/2` and `x`."""
    if x < _SMALL:
        return context.mpf([exact(context, x - x * x / 2).a, exact(context, x).b])
    return 1 - context.exp(-exact(context, x))


def rational_ends(interval: Any) -> tuple[Fraction, Fraction]:  # noqa: ANN401
    """The exact ends of an interval with moderate exponents."""
    low, high = (_rational(end) for end in interval._mpi_)
    return low, high


def enclosure(interval: Any, *, least: int | None = None, most: int | None = None) -> Enclosure:  # noqa: ANN401
    """The interval with ends rounded outwards to doubles, clipped to the range from `least` to `most`."""
    low, high = _below(interval._mpi_[0]), _above(interval._mpi_[1])
    if least is not None:
        low, high = max(low, least), max(high, least)
    if most is not None:
        low, high = min(low, most), min(high, most)
    return Enclosure(low, high)


def _rational(end: tuple[int, int, int, int]) -> Fraction:
    sign, mantissa, exponent, _ = end
    scaled = Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)
    return -scaled if sign else scaled


def _above(end: tuple[int, int, int, int]) -> Fraction | float:
    return -_below((end[0] ^ 1, *end[1:]) if end[1] else _negated(end))


def _below(end: tuple[int, int, int, int]) -> Fraction | float:
    """A number at most this end: the end itself, unless its exponent is beyond those of doubles."""
    from mpmath.libmp import finf, fnan, fninf

    sign, mantissa, exponent, bits = end
    if end == fnan:
        raise PrecisionError("a formula has no value within the interval arithmetic; please report this")
    if end in (finf, fninf):
        return math.inf if end == finf else -math.inf
    if mantissa and exponent + bits > _EXPONENTS_OF_DOUBLES:
        return -math.inf if sign else math.nextafter(math.inf, 0)
    if mantissa and exponent + bits < -_EXPONENTS_OF_DOUBLES:
        return math.nextafter(0, -1) if sign else 0.0
    return _rational(end)


def _negated(end: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """The negative of zero, an infinity or NaN."""
    from mpmath.libmp import mpf_neg

    negated: tuple[int, int, int, int] = mpf_neg(end)
    return negated
