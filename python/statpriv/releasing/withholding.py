"""How probable it is that an answer will be withheld: bounds from the plan and the numbers of rows, before any count.

A count of s rows is withheld outside its gate [a, b]. Its rows are independent, each with a probability in [lo, hi],
shared or its own. P[X < a] falls and P[X > b] rises with each of these probabilities, so

    P[withheld] ≤ P[Bin(s, lo) < a] + P[Bin(s, hi) > b].

A histogram is withheld if some cell is, and a table with declared ranges if some cell has fewer rows than its minimum:
at most the sum over the cells. All of this supposes that the declared ranges are right, and that every row is in a
declared cell. Nothing is said of tables without ranges, of groups, or of rows that hang together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

from statpriv.distributions.laws import binomial_lower_tail, binomial_upper_tail
from statpriv.numeric.enclosure import Enclosure
from statpriv.releasing.part import Part
from statpriv.releasing.stated_ranges import ranges_of

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
    if part.groups is not None or part.clustered is not None:
        return None
    if part.table is not None:
        return None if part.table.ranges is None else _at_most(_small_cells(part))
    return _at_most(_outside_gates(part)) if part.steps.publication.gate else None


def withheld_at_most(part: Part) -> dict[str, float]:
    """The same as a leaf of a report; nothing where it is not known."""
    chance = chance_of_withholding(part)
    return {} if chance is None else {"withheld_at_most": chance}


def _outside_gates(part: Part) -> Iterable[Fraction]:
    for (low, high), (least, most) in zip(ranges_of(part.asked), part.steps.expected, strict=True):
        if least > 0:
            yield Fraction(binomial_lower_tail(least - 1, n=part.size, p=low).upper)
        if most < part.size:
            yield Fraction(binomial_upper_tail(most + 1, n=part.size, p=high).upper)


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
