"""Estimates for the whole table from the count of a random part: errors and intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from statpriv.distributions.laws import hypergeometric_upper_tail
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.search import least_integer
from statpriv.planning.sampling_error import root, worst_variance

__all__ = [
    "CONFIDENCE",
    "Stratum",
    "confidence_interval",
    "imbalance",
    "root_mean_squared_error",
    "stratified_interval",
]

CONFIDENCE = Fraction(95, 100)
_LOGARITHM_OF_40 = Fraction(36889, 10_000)
"""At least ln(2 / (1 − 95 %)) = 3.68887…"""


@dataclass(frozen=True)
class Stratum:
    """A group: its rows in the table, its rows in the part, and the range of its probability."""

    rows: int
    size: int
    lower: Fraction
    upper: Fraction
    each: bool = False
    """Whether each row has a probability of its own in the range."""


def imbalance(strata: Sequence[Stratum]) -> Fraction:
    """Upper bound on the difference between the expected proportion in the part and the proportion in the table.

    Both are weighted means of the groups' proportions, with weights `s_g/s` and `n_g/n`. Their difference is at most
    the total variation distance of the weights. It is 0 if the part has the same share of each group.

    >>> imbalance([Stratum(50, 25, Fraction(0), Fraction(1)), Stratum(51, 25, Fraction(0), Fraction(1))])
    Fraction(1, 202)
    """
    rows, size = sum(stratum.rows for stratum in strata), sum(stratum.size for stratum in strata)
    return sum((abs(Fraction(group.size, size) - Fraction(group.rows, rows)) for group in strata), Fraction(0)) / 2


def root_mean_squared_error(strata: Sequence[Stratum], *, rounded_to: int | None = None) -> Enclosure:
    """Error of the proportion in the part as an estimate of that in the table, at the worst p of each range.

    Without groups the mean squared error is `p(1−p)(1/s − 1/n)` (*Parallel Composition for Statistical Privacy*,
    Example 2), and at most n/(n−1) times that where each row has a p of its own. The errors of groups are independent
    and have the weights `s_g/s`; the square of :func:`imbalance` is added. Rounding to base b changes each proportion
    by at most `⌊b/2⌋/s`. By Minkowski's inequality the root mean square increases by at most the same amount.

    >>> root_mean_squared_error([Stratum(16, 8, Fraction(1, 5), Fraction(4, 5))])
    Enclosure(0.125, 0.125)
    """
    size = sum(stratum.size for stratum in strata)
    square = imbalance(strata) ** 2
    for stratum in strata:
        finite = stratum.size - Fraction(stratum.size**2, stratum.rows)
        square += worst_variance(stratum.lower, stratum.upper, stratum.rows, each=stratum.each) * finite / size**2
    return root(square) + Fraction((rounded_to or 1) // 2, size)


def stratified_interval(*, least: int, most: int, strata: Sequence[Stratum]) -> tuple[Fraction, Fraction]:
    """A 95 % confidence interval for the proportion in the table, from a part with rows of each group.

    The moment generating function of a count without replacement is at most that of one with replacement (Hoeffding
    1963, Theorem 4). This holds in each group, and the groups are independent. Hence Hoeffding's inequality holds for
    the sum, `P[|X/s − E X/s| >= t] <= 2 exp(−2st²)`, for every table. The interval is widened by :func:`imbalance`.

    Parameters
    ----------
    least, most : int
        Bounds on the exact count; equal if the exact count was published.
    strata : sequence of Stratum
        The groups.

    >>> group = Stratum(100, 50, Fraction(0), Fraction(1))
    >>> [float(end) for end in stratified_interval(least=50, most=50, strata=[group, group])]
    [0.3641, 0.6359]
    """
    size = sum(stratum.size for stratum in strata)
    # t is the least number of ten-thousandths with t² >= ln(40) / 2s.
    square = math.ceil(_LOGARITHM_OF_40 * 10**8 / (2 * size))
    reach = Fraction(math.isqrt(square - 1) + 1, 10_000) + imbalance(strata)
    return max(Fraction(least, size) - reach, Fraction(0)), min(Fraction(most, size) + reach, Fraction(1))


def confidence_interval(*, least: int, most: int, size: int, rows: int) -> tuple[Fraction, Fraction]:
    """A 95 % confidence interval for the proportion in the table, by inversion of the hypergeometric law.

    The interval contains all totals `K` under which neither `P[X ≥ count]` nor `P[X ≤ count]` is below 2.5 %. Its
    coverage is at least 95 % for every table (Clopper and Pearson's construction for a finite population). A rounded
    count lies between `least` and `most`. The interval then covers the intervals of all counts in between, because
    both ends increase with the count.

    >>> confidence_interval(least=10, most=10, size=10, rows=10)
    (Fraction(1, 1), Fraction(1, 1))
    """
    tail = (1 - CONFIDENCE) / 2

    def plausible_from_below(total: int) -> bool:
        reached = hypergeometric_upper_tail(least, population=rows, marked=total, draws=size)
        return Fraction(reached.upper) >= tail

    def plausible_from_above(total: int) -> bool:
        exceeded = hypergeometric_upper_tail(most + 1, population=rows, marked=total, draws=size)
        return 1 - Fraction(exceeded.lower) >= tail

    # The total is at least the counted rows, and at most all rows except the misses in the part.
    fewest, greatest = least, rows - (size - most)
    low = least_integer(plausible_from_below, fewest, rows)
    high = greatest - least_integer(lambda gap: plausible_from_above(greatest - gap), 0, greatest)
    return Fraction(low, rows), Fraction(high, rows)
