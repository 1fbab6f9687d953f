"""Counts on parts to which entries are assigned independently of each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod

from statpriv import budget
from statpriv._native import Curve, Part
from statpriv.lowering.applicability import NotApplicable, require_no_pattern
from statpriv.model.partitions import MultinomialPartition
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import ends, is_range
from statpriv.model.situation import PartitionedSituation, attribute_of
from statpriv.rules.assumptions import DRAWN, IDENTICAL, INDEPENDENT, SECRET
from statpriv.rules.one_property import require_alike, require_count, weights_of
from statpriv.rules.registry import rule

ZERO = Fraction(0)
Cell = tuple[Fraction, Fraction, Fraction]
"""The probability of a cell, and its contributions to the laws under the two values."""
Kind = tuple[Fraction, tuple[Fraction, ...]]
"""The probability of an attribute, and the weights of the parts that ask about it."""


@rule(
    bound="exact",
    kind="exact",
    queries=(PropertyQuery,),
    samplings=(MultinomialPartition,),
    cost=20,
    theorem=(
        "Every entry falls into a cell, the part and whether it is counted there, independently of the others. The "
        "likelihood of all counts is a sum over the entries, so δ is the stop-loss of a sum of independent "
        "numbers with one law. The worst of all combinations of values of the attributes."
    ),
    source="docs/explanation/composition.md, with the proof",
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN, SECRET),
)
def multinomial(situation: PartitionedSituation) -> Curve:
    """One part of all entries, with the cells of all parts."""
    require_alike(situation)
    require_no_pattern(situation)
    if situation.adversary.total:
        raise NotApplicable("known entries in parts of random sizes have no exact form here")
    kinds = _kinds(situation)
    tried = prod(count + 1 for count in kinds.values())
    if tried > budget.MAX_VALUE_PATTERNS:
        raise NotApplicable(f"the {tried} combinations of values of these attributes are too many to try them all")
    curves = [_composed(situation, pattern) for pattern in _patterns(situation, kinds)]
    return curves[0] if len(curves) == 1 else Curve.maximum(curves)


def _kinds(situation: PartitionedSituation) -> Counter[Kind]:
    """The number of attributes of each kind."""
    weights: dict[object, list[Fraction]] = {}
    asked: dict[object, Fraction] = {}
    for k, (query, weight) in enumerate(zip(situation.queries, weights_of(situation), strict=True)):
        p = require_count(query)
        if is_range(p):
            raise NotApplicable("p is a range, over which parts of random sizes have no exact form here")
        key = attribute_of(query) or (k,)
        weights.setdefault(key, []).append(weight)
        asked[key] = ends(p)[0]
    return Counter((asked[key], tuple(sorted(parts))) for key, parts in weights.items())


def _patterns(situation: PartitionedSituation, kinds: Counter[Kind]) -> Iterator[list[tuple[Kind, int, int]]]:
    """For each kind, the numbers of attributes with value 1 against 0 and with 0 against 1."""
    if situation.pair is not None:
        yield [(kind, count, 0) if situation.pair == (1, 0) else (kind, 0, count) for kind, count in kinds.items()]
        return
    for ones in product(*(range(count + 1) for count in kinds.values())):
        yield [(kind, one, count - one) for (kind, count), one in zip(kinds.items(), ones, strict=True)]


def _composed(situation: PartitionedSituation, pattern: list[tuple[Kind, int, int]]) -> Curve:
    """An entry in a part's cell adds 1/(n P[cell]) to the likelihood under the value that belongs to the cell.

    If sizes are not published, all uncounted entries are in one cell.
    """
    n = situation.population.size
    unused = 1 - sum(weights_of(situation), ZERO)
    counted, not_counted = [], [(unused, unused / n, unused / n)]
    for (p, weights), ones, zeros in pattern:
        for share, value in ((ones * sum(weights, ZERO), 1), (zeros * sum(weights, ZERO), 0)):
            first, second = (share / n, ZERO) if value == 1 else (ZERO, share / n)
            counted.append((share * p, first, second))
            not_counted.append((share * (1 - p), second, first))
    if not situation.sampling.sizes_published:
        masses, firsts, seconds = zip(*not_counted, strict=True)
        not_counted = [(sum(masses, ZERO), sum(firsts, ZERO), sum(seconds, ZERO))]
    cells = [cell for cell in counted + not_counted if any(cell)]
    return Curve.composed(unused=0, attributes=[(1, [[Part.entries(count=n, cells=_merged(cells))]])])


def _merged(cells: list[Cell]) -> list[Cell]:
    """The cells, with those of equal likelihood merged."""
    merged: dict[tuple[Fraction, Fraction] | None, Cell] = {}
    for mass, first, second in cells:
        likelihood = (first / mass, second / mass) if mass else None
        others = merged.get(likelihood, (ZERO, ZERO, ZERO))
        merged[likelihood] = (others[0] + mass, others[1] + first, others[2] + second)
    return list(merged.values())
