"""How probable it is that an answer will be withheld: bounds from the plan and the numbers of rows, before any count.

A count of s rows is withheld outside its gate [a, b]. Its rows are independent, each with a probability in [lo, hi],
shared or its own. P[X < a] falls and P[X > b] rises with each of these probabilities, so

    P[withheld] ≤ P[Bin(s, lo) < a] + P[Bin(s, hi) > b].

A histogram is withheld if some cell is, and a table with declared ranges if some cell has fewer rows than its minimum:
at most the sum over the cells. All of this supposes that the declared ranges are right, and that every row is in a
declared cell. Nothing is said of tables without ranges.

**Groups**, so many rows of each in the part. X is a sum of independent bits, of mean m if every bit has the least
probability of its group. For a ≤ m, P[X < a] ≤ P[Bin(s, m/s) < a] (Hoeffding, *On the distribution of the number of
successes in independent trials*, 1956, Theorem 4).

**Units** of at most c rows, which may depend on each other. Lower each row's probability to lo, by independent coins:
this lowers X. Given which rows are in the part, X is then a sum of independent numbers, one a unit, with mean m = s lo
and a variance of at most v = c m (1 − lo) (Cauchy and Schwarz). So with t = m − a + 1 > 0

    P[X < a] ≤ v/(v + t²)  (Cantelli),    P[X < a] ≤ exp(−2t²/(c s))  (Hoeffding, as Σ c_u² ≤ c Σ c_u = c s).

The upper end is the lower end for the rows that do not have the property.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from math import factorial
from typing import Any

from statpriv.distributions.laws import binomial_lower_tail
from statpriv.model.ranges import ends
from statpriv.numeric.enclosure import Enclosure
from statpriv.releasing.part import Part
from statpriv.releasing.stated_ranges import Range, ranges_of

_TERMS = 24
"""Of the series of the exponential function: those of an exponent up to 9/2, which three deviations have, and more."""

__all__ = ["chance_of_withholding", "withheld_at_most"]


def chance_of_withholding(part: Part) -> float | None:
    """An upper bound of the probability that the answer of a part is withheld; None where none is known.

    >>> from statpriv.model.queries.property import PropertyQuery
    >>> from statpriv.model.ranges import Between
    >>> from statpriv.releasing.plan import Publication
    >>> from statpriv.releasing.steps import Steps, expected_counts
    >>> asked, size = PropertyQuery(Between("0.4", "0.6")), 472
    >>> gate = expected_counts([(size, (Fraction(2, 5), Fraction(3, 5)))])
    >>> round(chance_of_withholding(Part(size, None, asked, Steps(size, (gate,), Publication(gate=True)))), 5)
    0.00217
    """
    if part.table is not None:
        return None if part.table.ranges is None else _at_most(_small_cells(part))
    return _at_most(_outside_gates(part)) if part.steps.publication.gate else None


def withheld_at_most(part: Part) -> dict[str, float]:
    """The same as a leaf of a report; nothing where it is not known."""
    chance = chance_of_withholding(part)
    return {} if chance is None else {"withheld_at_most": chance}


def _outside_gates(part: Part) -> Iterable[Fraction]:
    for (low, high), (least, most) in zip(_ranges(part), part.steps.expected, strict=True):
        yield _fewer(part, least, low)
        yield _fewer(part, part.size - most, 1 - high)


def _ranges(part: Part) -> Iterable[Range]:
    """The range of each probability; of groups that of the mean over the rows."""
    if part.groups is None:
        return ranges_of(part.asked)
    asked: Any = part.asked  # a property, with a probability for each group
    means = [(Fraction(rows, part.size), ends(asked.probability(group))) for group, rows in part.groups.items()]
    low, high = (sum((share * declared[end] for share, declared in means), Fraction(0)) for end in (0, 1))
    return [(low, high)]


def _fewer(part: Part, count: int, p: Fraction) -> Fraction:
    """A bound of the probability that fewer than `count` rows have a property of probability p."""
    if count <= 0:
        return Fraction(0)
    mean = part.size * p
    if part.clustered is not None:
        return _fewer_in_units(part.size, part.clustered.largest_cluster or 1, mean, mean - count + 1)
    if part.groups is not None and count > mean:
        return Fraction(1)
    return Fraction(binomial_lower_tail(count - 1, n=part.size, p=p).upper)


def _fewer_in_units(size: int, largest: int, mean: Fraction, distance: Fraction) -> Fraction:
    """A bound of the probability of `distance` below the mean."""
    if distance <= 0:
        return Fraction(1)
    variance = largest * mean * (1 - mean / size)
    exponent = 2 * distance**2 / (largest * size)
    series = sum((exponent**k / factorial(k) for k in range(_TERMS)), Fraction(0))  # at most e^exponent
    return min(variance / (variance + distance**2), 1 / series)


def _small_cells(part: Part) -> Iterable[Fraction]:
    """Of the coarsest grouping, which is published if no finer one is; a coarse cell has the sum of the least ends."""
    if part.table is None:
        return
    query = part.table.query
    coarsest = query.levels[-1]
    least: dict[object, Fraction] = {}
    for cell, (low, _) in zip(query.cells, ranges_of(query), strict=True):
        group = query.coarsened(cell, query.depth - 1)
        least[group] = least.get(group, Fraction(0)) + low
    alike = Counter((coarsest.minimum_of(cell), low) for cell, low in least.items())
    for (minimum, low), cells in alike.items():
        yield cells * Fraction(binomial_lower_tail(minimum - 1, n=part.size, p=low).upper)


def _at_most(chances: Iterable[Fraction]) -> float:
    """The sum, at most one, rounded up."""
    return Enclosure(min(sum(chances, Fraction(0)), Fraction(1))).upper
