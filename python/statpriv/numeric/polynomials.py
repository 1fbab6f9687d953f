"""Products of polynomials with masses as coefficients: some digits of one large number for each coefficient.

The numbers are decimal, because the standard library multiplies long decimal numbers by a number-theoretic transform
(libmpdec), and long integers by Karatsuba's method, which takes nine times as long for 32,000 coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal

__all__ = ["product"]

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


def product(one: Sequence[int], other: Sequence[int], *, bits: int, kept: int | None = None) -> list[int]:
    """The product of two polynomials in units of 2^-bits, each coefficient rounded down to that unit.

    Masses sum to at most one, that is 2^bits, so no coefficient of the exact product exceeds 2^(2 bits), which fits in
    the digits of one coefficient. Only the first `kept` coefficients are given back, if that is stated.

    >>> product([2, 2], [1, 3], bits=2)
    [0, 2, 1]
    """
    width, terms = len(str(1 << 2 * bits)), len(one) + len(other) - 1
    digits = str(_EXACT.multiply(_packed(one, width), _packed(other, width))).zfill(width * terms)
    ends = range(len(digits), 0, -width)
    wanted = terms if kept is None else min(terms, kept)
    return [int(digits[end - width : end]) >> bits for end in ends[:wanted]]


def _packed(coefficients: Sequence[int], width: int) -> Decimal:
    return Decimal("".join(f"{coefficient:0{width}d}" for coefficient in reversed(coefficients)))
