"""Rational bounds of e^x and ln x at rational x.

The standard library's decimal arithmetic rounds both functions correctly (Python's documentation of `Decimal.exp` and
`Decimal.ln`). So the neighbours of what it returns enclose the truth. Both functions increase, and the argument is
rounded outwards before.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

__all__ = ["exponential_ends", "logarithm_ends"]

_DIGITS = 40
_BELOW, _ABOVE = (
    Context(prec=_DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX, rounding=rounding) for rounding in (ROUND_FLOOR, ROUND_CEILING)
)


def exponential_ends(x: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals below and above e^x, 10^-38 of it apart at moderate x; of e^0 the exact value.

    >>> low, high = exponential_ends(Fraction(1))
    >>> float(low), (high - low) / low < Fraction(1, 10**38)
    (2.718281828459045, True)
    """
    if x == 0:
        return Fraction(1), Fraction(1)
    low, high = _BELOW.exp(_rounded(x, _BELOW)), _ABOVE.exp(_rounded(x, _ABOVE))
    return Fraction(_BELOW.next_minus(low)), Fraction(_ABOVE.next_plus(high))


def logarithm_ends(x: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals below and above ln(x), for x above 0; of ln(1) the exact value.

    >>> low, high = logarithm_ends(Fraction(2))
    >>> float(low), high - low < Fraction(1, 10**38)
    (0.6931471805599453, True)
    """
    if x == 1:
        return Fraction(0), Fraction(0)
    low, high = _BELOW.ln(_rounded(x, _BELOW)), _ABOVE.ln(_rounded(x, _ABOVE))
    return Fraction(_BELOW.next_minus(low)), Fraction(_ABOVE.next_plus(high))


def _rounded(x: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(x.numerator), Decimal(x.denominator))
