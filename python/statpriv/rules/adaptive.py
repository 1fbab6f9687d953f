"""Adaptive composition: each query is chosen after the answers to the earlier ones."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from statpriv._native import Curve, Law
from statpriv.lowering.analysts import (
    SIGNS,
    Pattern,
    World,
    groups_of,
    patterns_of,
    require_one_probability,
    worlds_of,
)
from statpriv.lowering.applicability import NotApplicable
from statpriv.model.partitions import RandomPartition
from statpriv.model.strategies import AdaptiveSituation, AnyOf, Ask
from statpriv.rules.assumptions import DRAWN, IDENTICAL, INDEPENDENT, PAPER, SECRET, STATED
from statpriv.rules.registry import rule

Asked: TypeAlias = "tuple[Fraction, Law, Law, Law, list[tuple[int, int, int]]]"
"""The critical entry's share of the part, the laws of the answer under v, under w and without it, and what follows."""

PAGE = "docs/explanation/adaptive-composition.md"
CHOSEN = "each query depends on the data through the earlier answers alone"


@rule(
    bound="exact",
    kind="exact",
    queries=(AnyOf, Ask),
    samplings=(RandomPartition,),
    cost=20,
    theorem=(
        "δ = U_0(1 − e^ε) by the recursion U_stop(y) = y_+, U(y) = max_F E[U'(y + (n_k/n) (g_F − (1 − e^ε)))] from the "
        "last part to the first, g_F the privacy loss ℓ_v − e^ε ℓ_w of an answer, for the worst of the values that an "
        "entry may have in the properties asked for. A given strategy has one query F at each point."
    ),
    source=f"the recursion of {PAGE}",
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN, SECRET, CHOSEN),
)
def recursion(situation: AdaptiveSituation) -> Curve:
    """The pair of values is fixed before the first answer, so the maximum over pairs is outside the recursion."""
    world = _one_world(situation)
    require_one_probability(situation)
    return Curve.maximum([_followed(situation, world, pattern) for pattern in patterns_of(situation)])


@rule(
    bound="free-signs",
    kind="bound",
    queries=(AnyOf, Ask),
    samplings=(RandomPartition,),
    cost=20,
    theorem=(
        "The exact recursion, in which the two values of the critical entry may be chosen anew with every query: at "
        "least as much as with values that are fixed."
    ),
    source=PAGE,
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN, SECRET, CHOSEN),
)
def free_signs(situation: AdaptiveSituation) -> Curve:
    """The maximum over signs is inside that over queries: one recursion for any number of properties."""
    world = _one_world(situation)
    require_one_probability(situation)
    return _followed(situation, world, None)


@rule(
    bound="revealed-composition",
    kind="bound",
    queries=(AnyOf, Ask),
    samplings=(RandomPartition,),
    cost=30,
    theorem=(
        "How many entries of each group, and how many known ones, are in each part does not depend on the data. Given "
        "these numbers the exact recursion holds, with the share of its own group for the critical entry; the mean "
        "over them bounds δ, and is at most the sum of Theorem 5.4."
    ),
    source=f"{PAGE}; {PAPER}, Theorem 5.4",
    assumptions=(INDEPENDENT, STATED, DRAWN, SECRET, CHOSEN),
)
def revealed_composition(situation: AdaptiveSituation) -> Curve:
    """The mean over the compositions of the parts, for the worst group and pair."""
    require_one_probability(situation)
    if situation.adversary.total and situation.strategy.is_given:
        raise NotApplicable("known entries shift the answers that a given strategy goes by")
    if not situation.adversary.total and len(groups_of(situation)) == 1:
        raise NotApplicable("the entries are alike and none is known: there is nothing to reveal")
    curves = [
        Curve.mean([world.probability for world in worlds], [_followed(situation, world, pattern) for world in worlds])
        for worlds in worlds_of(situation)
        for pattern in patterns_of(situation)
    ]
    return Curve.maximum(curves)


def _one_world(situation: AdaptiveSituation) -> World:
    """All entries are alike and unknown, so the sizes of the parts determine the world."""
    if situation.adversary.total:
        raise NotApplicable("some entries are known, and earlier answers tell how many of them the later parts hold")
    if len(groups_of(situation)) > 1:
        raise NotApplicable("the entries differ by group, and earlier answers tell which of them the later parts hold")
    [[world]] = worlds_of(situation)
    return world


def _followed(situation: AdaptiveSituation, world: World, pattern: Pattern | None) -> Curve:
    """The recursion, for one pair of values or for arbitrary signs."""
    nodes: list[list[Asked]] = []
    for part, queries, then in situation.strategy.points(world.sizes):
        asked = []
        for query in queries:
            one, zero, reference = world.laws(query, part)
            for sign in SIGNS if pattern is None else [pattern[query.attribute or ""]]:
                first, second = (one, zero) if sign == SIGNS[0] else (zero, one)
                asked.append((world.share(part), first, second, reference, then))
        nodes.append(asked)
    return Curve.adaptive(nodes)
