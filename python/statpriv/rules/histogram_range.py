"""Histograms of which only ranges of the probabilities of their cells are known."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

from statpriv import laws
from statpriv._native import Curve
from statpriv.assumptions import INDEPENDENT, STATED
from statpriv.queries.histogram import HistogramQuery
from statpriv.queries.property import Between
from statpriv.rules.registry import NotApplicable, rule
from statpriv.situation import Pair, Situation

THRESHOLDS = 32
"""So many numbers of known entries of a part are told apart."""

Ends = tuple[Fraction, Fraction]


@rule(
    bound="ranges",
    kind="bound",
    queries=(HistogramQuery,),
    theorem=(
        "Of the cells v and w only their own counts tell the values apart: given that m other entries are in either, a "
        "count of 1 + m entries, of the share p_v/(p_v + p_w) of which only a range is known. It does not rise with "
        "p_v + p_w, since adding an entry is post-processing: so δ is at most the mean over m at the least sum of the "
        "supremum over that range. The worst pair of cells; known entries shift the counts."
    ),
    source="docs/explanation/ranges.md, with the proof",
    assumptions=(INDEPENDENT, STATED),
)
def histogram_range(situation: Situation) -> Curve:
    """A mean over the number of entries in the two cells."""
    asked: Any = situation.asked
    if not (asked.is_uniform and asked.has_ranges):
        raise NotApplicable("the probabilities of the cells are known, or stated by group")
    return histogram_of_ranges(asked, situation.population.size - situation.adversary.total, situation.pair)


def histogram_of_cells(asked: HistogramQuery, size: int, pair: Pair) -> Curve:
    """The curve of the histogram of `size` entries, the critical one among them; where cells are ranges a bound."""
    cells: Any = asked.cells
    return (
        histogram_of_ranges(asked, size, pair)
        if asked.has_ranges
        else Curve.histogram(size=size, cells=cells, pair=pair)
    )


def histogram_of_ranges(asked: HistogramQuery, size: int, pair: Pair, *, rate: Fraction = Fraction(1)) -> Curve:
    """A bound of the histogram of the critical entry and of `size − 1` others, each drawn at this rate."""
    cells = _tightened([(c.lower, c.upper) if isinstance(c, Between) else (c, c) for c in asked.cells])  # type: ignore[misc]
    curves = [
        Curve.irrelevant_entries(
            size=size,
            others=size - 1,
            irrelevant=1 - rate * least,
            lower=lower,
            upper=upper,
            pair=None if pair is None else (1, 0),
        )
        for least, lower, upper in _worst_pairs(cells, pair)
    ]
    return curves[0] if len(curves) == 1 else Curve.maximum(curves)


def histogram_with_known(asked: HistogramQuery, population: int, known: int, size: int, pair: Pair = None) -> Curve:
    """The same of a part of `size` that holds the critical entry: of the others of the population `known` are known.

    The bound does not fall with the number of known ones in the part. So where it is among some numbers, that of the
    largest is taken; and in place of the law of the number one that is not smaller, by upper bounds of its tails.
    """
    least, most = max(0, known - (population - size)), min(known, size - 1)
    step = -(-(most - least + 1) // THRESHOLDS)
    starts = [*range(least, most + 1, step), most + 1]
    tails = [Fraction(1)]
    for start in starts[1:-1]:
        tail = laws.hypergeometric_upper_tail(start, population=population - 1, marked=known, draws=size - 1).upper
        tails.append(min(tails[-1], Fraction(tail)))
    tails.append(Fraction(0))
    weights = [tail - after for tail, after in pairwise(tails)]
    curves = [histogram_of_ranges(asked, size - (after - 1), pair) for after in starts[1:]]
    return Curve.mean(weights, curves)


def _tightened(cells: list[Ends]) -> list[Ends]:
    """What is left of each range by those of all other cells, as all probabilities sum to one."""
    lowers, uppers = (sum(ends, Fraction(0)) for ends in zip(*cells, strict=True))
    return [(max(low, 1 - (uppers - high)), min(high, 1 - (lowers - low))) for low, high in cells]


def _worst_pairs(cells: list[Ends], pair: Pair) -> list[tuple[Fraction, Fraction, Fraction]]:
    """For each pair the least sum of its probabilities and the range of the first one's share; the worst of them."""
    found: list[tuple[Fraction, Fraction, Fraction]] = []
    for least, lower, upper in sorted(_pairs(cells, pair)):
        if not any(low <= lower and upper <= high for _, low, high in found):
            found.append((least, lower, upper))
    return found


def _pairs(cells: list[Ends], pair: Pair) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
    uppers = sum((high for _, high in cells), Fraction(0))
    for v, w in combinations(range(len(cells)), 2) if pair is None else [pair]:
        (low, high), (other_low, other_high) = cells[v], cells[w]
        least = max(low + other_low, 1 - (uppers - high - other_high))
        lower = low / (low + other_high) if low + other_high else Fraction(0)
        upper = high / (high + other_low) if high + other_low else Fraction(1)
        yield least, lower, upper
