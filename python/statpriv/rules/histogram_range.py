"""Histograms whose cell probabilities are known only up to ranges."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, permutations

from statpriv._native import Curve
from statpriv.distributions import laws
from statpriv.lowering.applicability import NotApplicable
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.ranges import Stated, ends, is_each, is_range
from statpriv.model.situation import Pair, Situation
from statpriv.rules.assumptions import INDEPENDENT, STATED
from statpriv.rules.own_count import CountOfEach, CountOfOwn
from statpriv.rules.registry import rule

THRESHOLDS = 32
"""So many numbers of known entries of a part are told apart."""

Cells = tuple[Stated, ...]
Ends = tuple[Fraction, Fraction]
Least = tuple[Fraction, Fraction, Fraction]
"""For two cells: the least probability of each, given the least sum of both, and that sum last."""


@rule(
    bound="ranges",
    kind="bound",
    queries=(HistogramQuery,),
    cost=10,
    theorem=(
        "Of the cells v and w only their own counts tell the values apart: given that m other entries are in either, a "
        "count of 1 + m entries with the probability p_v/(p_v + p_w). It does not rise with p_v nor with p_w, since "
        "merging cells is post-processing: so only laws with the least sum of the two matter, and δ is at most the "
        "mean over m of the supremum over their shares, equal where that is one share. Where each row has a law of its "
        "own, revealing who is in other cells leaves rows with a share each. The worst pair of cells; known entries "
        "shift the counts."
    ),
    source="docs/explanation/ranges.md, with the proof",
    assumptions=(INDEPENDENT, STATED),
    covers=("each",),
)
def histogram_range(situation: Situation) -> Curve:
    """The mean over the number of entries in the two cells."""
    cells = situation.asked.one_histogram
    if cells is None or not situation.asked.has_ranges:
        raise NotApplicable("the probabilities of the cells are known, or stated by group")
    return histogram_of_ranges(cells, situation.population.size - situation.adversary.total, situation.pair)


def histogram_of_cells(cells: Cells, size: int, pair: Pair) -> Curve:
    """The curve of the histogram of `size` entries, including the critical one; a bound if cells are ranges."""
    if any(map(is_range, cells)):
        return histogram_of_ranges(cells, size, pair)
    return Curve.histogram(size=size, cells=[ends(cell)[0] for cell in cells], pair=pair)


def histogram_of_ranges(cells: Cells, size: int, pair: Pair, *, rate: Fraction = Fraction(1)) -> Curve:
    """A bound on the histogram of the critical entry and `size − 1` others, each sampled at this rate."""
    of = CountOfEach if any(map(is_each, cells)) else CountOfOwn
    curves = []
    for first, second, together in _worst_pairs([ends(cell) for cell in cells], pair):
        share = (first / together, 1 - second / together) if together else (Fraction(0), Fraction(1))
        curves.append((CountOfOwn if share[0] == share[1] else of)(*share).at_a_rate(size, rate * together, (1, 0)))
    return curves[0] if len(curves) == 1 else Curve.maximum(curves)


def histogram_with_known(cells: Cells, population: int, known: int, size: int, pair: Pair = None) -> Curve:
    """The same for a part of `size` with the critical entry; `known` of the population's other entries are known.

    The bound does not fall with the number of known entries in the part. Within each range of numbers, the bound at the
    largest number is used. The law of the number is replaced by a stochastically larger one, by upper bounds of its
    tails.
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
    """The parameters of each ordered pair, without pairs that another pair dominates in all parameters."""
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
