"""Enclosures in format strings: both ends, rounded outward, so that what is printed contains the truth."""

from __future__ import annotations

from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from math import isinf
from typing import TYPE_CHECKING

from statpriv.errors import ArgumentError

if TYPE_CHECKING:
    from statpriv._native import Enclosure

__all__ = ["formatted"]


def formatted(enclosure: Enclosure, specification: str) -> str:
    """Both ends in the format of a number, the lower one rounded down and the upper one up.

    >>> import statpriv as sp
    >>> one_third = sp.Enclosure("1/3")
    >>> f"{one_third:.3g}", f"{one_third:.1%}", f"{one_third}"
    ('[0.333, 0.334]', '[33.3%, 33.4%]', '[0.3333333333333333, 0.33333333333333337]')
    """
    if not specification:
        return str(enclosure)
    lower = _rounded(enclosure.lower, specification, ROUND_FLOOR)
    return f"[{lower}, {_rounded(enclosure.upper, specification, ROUND_CEILING)}]"


def _rounded(end: float, specification: str, rounding: str) -> str:
    with localcontext(Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX, rounding=rounding)):
        try:
            return format(end if isinf(end) else _decimal(end), specification)
        except ValueError as error:
            raise ArgumentError(
                f"{specification!r} is no format of an enclosure; a format of numbers is required, such as .3g or .1%"
            ) from error


def _decimal(end: float) -> Decimal:
    """An end, a double or one with many digits, exactly."""
    from statpriv.numeric.digits import exact_end

    exact = exact_end(end)
    shift = exact.denominator.bit_length() - 1
    # Half of a decimal ends with a digit more: n / 2^k is n · 5^k / 10^k.
    return Decimal(exact.numerator * 5**shift).scaleb(-shift)
