"""Histograms of which only ranges of the probabilities of their cells are known."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, permutations

from statpriv._native import Curve
from statpriv.distributions import laws
from statpriv.lowering.applicability import NotApplicable
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.property import Stated, ends, is_range
from statpriv.model.situation import Pair, Situation
from statpriv.rules.assumptions import INDEPENDENT, STATED
from statpriv.rules.registry import rule

THRESHOLDS = 32
"""So many numbers of known entries of a part are told apart."""

Cells = tuple[Stated, ...]
Ends = tuple[Fraction, Fraction]
Least = tuple[Fraction, Fraction, Fraction]
"""Of two cells the least sum of their probabilities, last, and with that sum the least of each."""


@rule(
    bound="ranges",
    kind="bound",
    queries=(HistogramQuery,),
    cost=10,
    theorem=(
        "Of the cells v and w only their own counts tell the values apart: given that m other entries are in either, a "
        "count of 1 + m entries with the probability p_v/(p_v + p_w). It does not rise with p_v nor with p_w, since "
        "merging cells is post-processing: so only laws with the least sum of the two matter, and δ is at most the "
        "mean over m of the supremum over their shares, equal where that is one share. The worst pair of cells; known "
        "entries shift the counts."
    ),
    source="docs/explanation/ranges.md, with the proof",
    assumptions=(INDEPENDENT, STATED),
)
def histogram_range(situation: Situation) -> Curve:
    """A mean over the number of entries in the two cells."""
    cells = situation.asked.one_histogram
    if cells is None or not situation.asked.has_ranges:
        raise NotApplicable("the probabilities of the cells are known, or stated by group")
    return histogram_of_ranges(cells, situation.population.size - situation.adversary.total, situation.pair)


def histogram_of_cells(cells: Cells, size: int, pair: Pair) -> Curve:
    """The curve of the histogram of `size` entries, the critical one among them; where cells are ranges a bound."""
    if any(map(is_range, cells)):
        return histogram_of_ranges(cells, size, pair)
    return Curve.histogram(size=size, cells=[ends(cell)[0] for cell in cells], pair=pair)


def histogram_of_ranges(cells: Cells, size: int, pair: Pair, *, rate: Fraction = Fraction(1)) -> Curve:
    """A bound of the histogram of the critical entry and of `size − 1` others, each drawn at this rate."""
    curves = [
        Curve.irrelevant_entries(
            size=size,
            others=size - 1,
            irrelevant=1 - rate * together,
            lower=first / together if together else Fraction(0),
            upper=1 - second / together if together else Fraction(1),
            pair=(1, 0),
        )
        for first, second, together in _worst_pairs([ends(cell) for cell in cells], pair)
    ]
    return curves[0] if len(curves) == 1 else Curve.maximum(curves)


def histogram_with_known(cells: Cells, population: int, known: int, size: int, pair: Pair = None) -> Curve:
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
    curves = [histogram_of_ranges(cells, size - (after - 1), pair) for after in starts[1:]]
    return Curve.mean(weights, curves)


def _worst_pairs(cells: list[Ends], pair: Pair) -> list[Least]:
    """Of each ordered pair the laws that matter; without those pairs where all of this is more than of another."""
    found: list[Least] = []
    for own in sorted(_pairs(cells, pair)):
        if not any(all(less <= more for less, more in zip(other, own, strict=True)) for other in found):
            found.append(own)
    return found


def _pairs(cells: list[Ends], pair: Pair) -> Iterator[Least]:
    uppers = sum((high for _, high in cells), Fraction(0))
    for v, w in permutations(range(len(cells)), 2) if pair is None else [pair]:
        (low, high), (other_low, other_high) = cells[v], cells[w]
        together = max(low + other_low, 1 - (uppers - high - other_high))
        yield max(low, together - other_high), max(other_low, together - high), together
