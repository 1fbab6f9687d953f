"""What the count of a random part says about the whole table: errors and intervals."""

from __future__ import annotations

import math
from fractions import Fraction

from statpriv.bisection import least_integer
from statpriv.laws import hypergeometric_upper_tail

__all__ = ["CONFIDENCE", "confidence_interval", "root_mean_squared_error"]

CONFIDENCE = Fraction(95, 100)


def root_mean_squared_error(*, size: int, rows: int, lower: Fraction, upper: Fraction) -> float:
    """Error of the proportion in the part as an estimate of that in the table, at the worst p of the range.

    The mean squared error is `p(1−p)(1/s − 1/n)` (*Parallel Composition for Statistical Privacy*, Example 2).

    >>> root_mean_squared_error(size=50, rows=100, lower=Fraction(1, 5), upper=Fraction(4, 5))
    0.05
    """
    worst = min(max(Fraction(1, 2), lower), upper)
    return math.sqrt(worst * (1 - worst) * (Fraction(1, size) - Fraction(1, rows)))


def confidence_interval(*, count: int, size: int, rows: int) -> tuple[Fraction, Fraction]:
    """A 95 % confidence interval for the proportion in the table, by inversion of the hypergeometric law.

    All totals `K` under which neither `P[X ≥ count]` nor `P[X ≤ count]` is below 2.5 %: coverage is at
    least 95 % whatever the table (Clopper and Pearson's construction for a finite population).

    >>> confidence_interval(count=10, size=10, rows=10)
    (Fraction(1, 1), Fraction(1, 1))
    """
    tail = (1 - CONFIDENCE) / 2

    def plausible_from_below(total: int) -> bool:
        reached = hypergeometric_upper_tail(count, population=rows, marked=total, draws=size)
        return Fraction(reached.upper) >= tail

    def plausible_from_above(total: int) -> bool:
        exceeded = hypergeometric_upper_tail(count + 1, population=rows, marked=total, draws=size)
        return 1 - Fraction(exceeded.lower) >= tail

    # The table holds at least the counted ones, and at least the misses of the part are none.
    least, most = count, rows - (size - count)
    low = least_integer(plausible_from_below, least, most)
    high = most - least_integer(lambda gap: plausible_from_above(most - gap), 0, most - least)
    return Fraction(low, rows), Fraction(high, rows)
