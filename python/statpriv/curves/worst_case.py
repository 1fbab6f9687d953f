"""The worst values of the critical entry: one pair for each attribute of a composition."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any

from statpriv._native import Curve
from statpriv.errors import NotAvailableError
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.partition_parts import composed, kinds_of, values_of
from statpriv.model.situation import PartitionedSituation, Query
from statpriv.rules.registry import lower

Pair = tuple[Any, Any]


def worst_case_pairs(situation: object, curve: Curve, epsilon: Fraction) -> tuple[Pair, ...]:
    """The pair of values of each part with the largest δ, or with the largest δ found.

    Raises
    ------
    NotAvailableError
        The situation is not a composition of parts whose values can be identified.
    """
    if not isinstance(situation, PartitionedSituation):
        raise NotAvailableError("a pattern is the pair of values of each part of a composition: see sp.compose")
    if situation.pair is not None:
        return tuple(pair for part in range(situation.parts) if (pair := situation.pair_of(part)))
    try:
        if situation.one_property:
            return (_worst_pair(situation, epsilon),) * situation.parts
        if situation.adversary.total or not situation.sampling.is_uniform:
            raise NotAvailableError("the bound of this composition is no curve of one pattern; bound = 'exact' is")
        if situation.sampling.part_strata is None:
            return _of_composition(situation, curve, epsilon, None)
        groups = [name for name, _ in situation.population.groups or ()]
        _, group = max(
            ((composed(situation, name).delta(epsilon).upper, name) for name in groups), key=lambda found: found[0]
        )
        return _of_composition(situation, composed(situation, group), epsilon, group)
    except NotApplicable as reason:
        raise NotAvailableError(f"this composition has no exact form, and so no worst pattern: {reason}") from None


def _worst_pair(situation: PartitionedSituation, epsilon: Fraction) -> Pair:
    def height(pair: Pair) -> float:
        upper: float = lower(replace(situation, pair=pair), "tightest").curve.delta(epsilon).upper
        return upper

    return max(_pairs_of(situation.queries[0]), key=height)


def _pairs_of(query: Query) -> list[Pair]:
    pairs: list[Pair] = list(permutations(values_of(query), 2))
    if not pairs:
        raise NotAvailableError("the query does not state which values an entry may have, so that no pair is the worst")
    return pairs


def _of_composition(
    situation: PartitionedSituation, curve: Curve, epsilon: Fraction, group: str | None
) -> tuple[Pair, ...]:
    """The pairs, from the kernel's numbers of attributes of each kind with each pair."""
    counted = curve.pattern(epsilon)
    if counted is None:
        raise NotAvailableError("the bound of this composition is no curve of one pattern; bound = 'exact' is")
    found: dict[int, Pair] = {}
    for counts, (attributes, pairs) in zip(counted, kinds_of(situation, group), strict=True):
        chosen = [pair for pair, count in zip(pairs, counts, strict=True) for _ in range(count)]
        found |= {part: pair for places, pair in zip(attributes, chosen, strict=True) for part in places}
    # A part without entries of the critical entry's group says nothing about it.
    first = {part: _pairs_of(query)[0] for part, query in enumerate(situation.queries)}
    return tuple((first | found)[part] for part in range(situation.parts))
