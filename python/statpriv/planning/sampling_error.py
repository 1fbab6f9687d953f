"""The mean squared error of a proportion in a random part, as an estimate of that in the table.

It is `p(1−p)(1/s − 1/n)` for `s` of `n` rows that share one p (*Parallel Composition for Statistical Privacy*,
Example 2). Given the table, whose proportion is a, the variance over the part is `a(1−a)/(n−1) · n (1/s − 1/n)`. Rows
with probabilities of their own have `E a(1−a) = q(1−q) − Var(a) ≤ q(1−q)` for their mean q, so the error is at most
`n/(n−1)` times that of one shared q. Equal probabilities have `Var(a) = q(1−q)/n`, which gives the formula.
"""

from __future__ import annotations

import math
from fractions import Fraction

from statpriv.numeric.enclosure import Enclosure


def worst_variance(lower: Fraction, upper: Fraction, rows: int, *, each: bool = False) -> Fraction:
    """The largest p(1−p) with p from `lower` to `upper`; with `each`, of rows with probabilities of their own."""
    worst = min(max(Fraction(1, 2), lower), upper)
    own = Fraction(rows, rows - 1) if each and rows > 1 else 1
    return worst * (1 - worst) * own


def root(square: Fraction) -> Enclosure:
    """The square root, enclosed between neighbouring doubles; each end is compared exactly.

    >>> root(Fraction(1, 4)), root(Fraction(2))
    (Enclosure(0.5, 0.5), Enclosure(1.414213562373095, 1.4142135623730951))
    """
    if not square:
        return Enclosure(0.0, 0.0)
    # Scaled by a power of 4 to about 1: a square near 0 would lose most of its digits as a double.
    shift = (square.denominator.bit_length() - square.numerator.bit_length()) // 2
    above = below = math.ldexp(math.sqrt(square * Fraction(4) ** shift), -shift)
    while Fraction(above) ** 2 < square:
        above = math.nextafter(above, math.inf)
    while Fraction(below) ** 2 > square:
        below = math.nextafter(below, 0.0)
    return Enclosure(below, above)
