"""Adaptive composition: each query is chosen after the answers to the earlier ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, prod
from typing import TypeAlias

from statpriv import budget
from statpriv._native import Curve, Law
from statpriv.lowering.applicability import NotApplicable
from statpriv.model.partitions import RandomPartition
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import Stated, ends, is_range
from statpriv.model.strategies import AdaptiveSituation, AnyOf, Ask
from statpriv.rules.assumptions import DRAWN, IDENTICAL, INDEPENDENT, PAPER, SECRET, STATED
from statpriv.rules.own_count import count_of
from statpriv.rules.registry import rule

Sign: TypeAlias = "tuple[int, int]"
"""The critical entry's contribution to a count under v and under w."""
SIGNS: tuple[Sign, Sign] = ((1, 0), (0, 1))
Pattern: TypeAlias = Mapping[str, Sign]
Asked: TypeAlias = "tuple[Fraction, Law, Law, Law, list[tuple[int, int, int]]]"

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
    _require_one_probability(situation)
    return Curve.maximum([_followed(situation, world, pattern) for pattern in _patterns(situation)])


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
    _require_one_probability(situation)
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
    _require_one_probability(situation)
    if situation.adversary.total and situation.strategy.is_given:
        raise NotApplicable("known entries shift the answers that a given strategy goes by")
    if not situation.adversary.total and len(_groups(situation)) == 1:
        raise NotApplicable("the entries are alike and none is known: there is nothing to reveal")
    curves = [
        Curve.mean([world.probability for world in worlds], [_followed(situation, world, pattern) for world in worlds])
        for worlds in _worlds(situation)
        for pattern in _patterns(situation)
    ]
    return Curve.maximum(curves)


@rule(
    bound="partition-sum",
    kind="bound",
    queries=(AnyOf, Ask),
    samplings=(RandomPartition,),
    cost=60,
    theorem=(
        "δ(ε) ≤ Σ_k (n_k/n) E[Δ(ε) of the query chosen for part k], over the earlier answers (Theorem 5.3), of any "
        "analyst at most Σ_k (n_k/n) max_F Δ^F(ε). Of entries in groups the composition of the parts stands outside "
        "(Theorem 5.4)."
    ),
    source=f"{PAPER}, Theorems 5.3 and 5.4",
    assumptions=(INDEPENDENT, STATED, DRAWN, CHOSEN),
    covers=("each",),
)
def partition_sum(situation: AdaptiveSituation) -> Curve:
    """The maximum over pairs (v, w) is outside the sum as long as there are few pairs."""
    if situation.adversary.total and situation.strategy.is_given:
        raise NotApplicable("known entries shift the answers that a given strategy goes by")
    if situation.strategy.is_given:
        _require_one_probability(situation)
    few = 2 ** len(situation.properties) <= budget.MAX_ADAPTIVE_PATTERNS
    patterns = _patterns(situation) if few else [None]
    return Curve.maximum([_summed(situation, worlds, pattern) for worlds in _worlds(situation) for pattern in patterns])


@dataclass(frozen=True)
class World:
    """The number of entries of each group in each part, and the critical entry's group."""

    probability: Fraction
    parts: tuple[tuple[int, ...], ...]
    critical: int
    groups: tuple[tuple[str | None, int], ...]

    @property
    def sizes(self) -> list[int]:
        """The number of unknown entries of each part."""
        return list(map(sum, self.parts))

    def share(self, part: int) -> Fraction:
        """The probability that the critical entry is in the part."""
        return Fraction(self.parts[part][self.critical], self.groups[self.critical][1])

    def laws(self, query: PropertyQuery, part: int) -> tuple[Law, Law, Law]:
        """The laws of the answer if the critical entry is in the part and adds 1, adds 0, or is not in it."""
        counts = [
            (size, _probability(query, name)) for size, (name, _) in zip(self.parts[part], self.groups, strict=True)
        ]
        reference = _count(tuple(counts))
        if not counts[self.critical][0]:
            return reference, reference, reference
        size, p = counts[self.critical]
        counts[self.critical] = (size - 1, p)
        others = _count(tuple(counts))
        return others.shifted(1), others, reference

    def curve(self, query: PropertyQuery, part: int, sign: Sign | None) -> Curve:
        """Δ of the answer given that the critical entry is in the part, over the range of p."""
        if len(self.groups) == 1 and query.is_uniform:
            return count_of(query.p).of(self.parts[part][0], sign)
        one, zero, _ = self.laws(query, part)
        directions = {(1, 0): [(one, zero)], (0, 1): [(zero, one)], None: [(one, zero), (zero, one)]}
        return Curve.maximum([Curve.answers(*laws) for laws in directions[sign]])


@cache
def _count(counts: tuple[tuple[int, Fraction], ...]) -> Law:
    """The law of a count over entries with these numbers and probabilities."""
    laws = [Law.binomial(size, p) for size, p in counts if size]
    return laws[0] if len(laws) == 1 else Law.sum(laws) if laws else Law.table(0, [1])


def _probability(query: PropertyQuery, group: str | None) -> Fraction:
    p = query.probability(group)
    if p is None or is_range(p):
        raise NotApplicable("p is a range in a population of groups")
    return ends(p)[0]


def _one_world(situation: AdaptiveSituation) -> World:
    """All entries are alike and unknown, so the sizes of the parts determine the world."""
    if situation.adversary.total:
        raise NotApplicable("some entries are known, and earlier answers tell how many of them the later parts hold")
    if len(_groups(situation)) > 1:
        raise NotApplicable("the entries differ by group, and earlier answers tell which of them the later parts hold")
    [[world]] = _worlds(situation)
    return world


def _worlds(situation: AdaptiveSituation) -> list[list[World]]:
    """For each group that may hold the critical entry, every composition of the parts."""
    if situation.adversary.by_group or situation.adversary.values != "worst":
        raise NotApplicable("known entries by group, or with expected values, are not composed adaptively")
    known = situation.adversary.total
    groups = _groups(situation)
    if known and len(groups) > 1:
        raise NotApplicable("entries of several groups of which some are known are not composed adaptively")
    classes = [size for _, size in groups] if not known else [situation.population.size - known, known]
    parts = situation.sampling.sizes
    unknown = tuple(groups) if not known else ((groups[0][0], classes[0]),)
    compositions: list[tuple[Fraction, tuple[tuple[int, ...], ...]]] = []
    for composition in _compositions(tuple(classes), parts):
        compositions.append(composition)
        if len(compositions) > budget.MAX_ADAPTIVE_COMPOSITIONS:
            raise NotApplicable(
                f"there are more than {budget.MAX_ADAPTIVE_COMPOSITIONS} ways in which the entries that differ may "
                "fall into the parts"
            )
    return [
        [
            World(probability, tuple(part[: len(unknown)] for part in composition), critical, unknown)
            for probability, composition in compositions
        ]
        for critical in range(len(unknown))
    ]


def _groups(situation: AdaptiveSituation) -> list[tuple[str | None, int]]:
    """The groups of entries with equal laws."""
    queries = list(situation.properties.values())
    if all(query.is_uniform for query in queries):
        return [(None, situation.population.size)]
    groups = situation.population.groups
    if groups is None or any(
        not query.is_uniform and set(query.stated_groups or ()) != {name for name, _ in groups} for query in queries
    ):
        raise NotApplicable("the queries do not state one probability, or one for each group of the population")
    return list(groups)


def _compositions(
    left: tuple[int, ...], parts: Sequence[int]
) -> Iterator[tuple[Fraction, tuple[tuple[int, ...], ...]]]:
    """Multivariate hypergeometric compositions, part by part; entries that are all alike have only one."""
    if len(left) == 1:
        yield Fraction(1), tuple((size,) for size in parts)
        return
    if not parts:
        yield Fraction(1), ()
        return
    ways = comb(sum(left), parts[0])
    for first in product(*(range(min(size, parts[0]) + 1) for size in left[:-1])):
        rest = parts[0] - sum(first)
        if not 0 <= rest <= left[-1]:
            continue
        part = (*first, rest)
        chosen = prod(comb(size, drawn) for size, drawn in zip(left, part, strict=True))
        remaining = tuple(size - drawn for size, drawn in zip(left, part, strict=True))
        for probability, others in _compositions(remaining, parts[1:]):
            yield Fraction(chosen, ways) * probability, (part, *others)


def _require_one_probability(situation: AdaptiveSituation) -> None:
    for query in situation.properties.values():
        if query.stated_entries is not None:
            raise NotApplicable("one probability an entry is not composed adaptively")
        if query.has_ranges:
            raise NotApplicable("p is a range, over which the worst of the choices has no closed supremum")
        if any(p in (0, 1) for p in _stated(query)):
            raise NotApplicable("p is 0 or 1, where an answer may be impossible unless the critical entry gives it")


def _stated(query: PropertyQuery) -> list[Stated | None]:
    return [query.probability(name) for name in query.stated_groups or (None,)]


def _patterns(situation: AdaptiveSituation) -> list[Pattern]:
    """Every pair of values in the properties asked about.

    Equal values in a property are never worse (docs/explanation/adaptive-composition.md). For p = 1/2, a count and its
    complement in the part are equally informative to the worst analyst, so the sign does not matter.
    """
    if situation.pair is not None:
        return [dict.fromkeys(situation.properties, situation.pair)]
    mirrored = not situation.strategy.is_given
    choices = [
        SIGNS[:1] if mirrored and query.probabilities == Fraction(1, 2) else SIGNS
        for query in situation.properties.values()
    ]
    if prod(map(len, choices)) > budget.MAX_ADAPTIVE_PATTERNS:
        raise NotApplicable(
            f"there are more than {budget.MAX_ADAPTIVE_PATTERNS} pairs of values of the critical entry in "
            f"{len(choices)} unrelated properties"
        )
    return [dict(zip(situation.properties, signs, strict=True)) for signs in product(*choices)]


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


def _summed(situation: AdaptiveSituation, worlds: Sequence[World], pattern: Pattern | None) -> Curve:
    """Theorems 5.3 and 5.4: the sum over all points, weighted by the probabilities of reaching them."""
    weights, curves = [], []
    for world in worlds:
        points = situation.strategy.points(world.sizes)
        reached = [Fraction(int(number == 0)) for number in range(len(points))]
        for number, (part, queries, then) in enumerate(points):
            share = world.share(part)
            if share and reached[number]:
                signs = [None if pattern is None else pattern[query.attribute or ""] for query in queries]
                each = [world.curve(query, part, sign) for query, sign in zip(queries, signs, strict=True)]
                weights.append(world.probability * reached[number] * share)
                curves.append(each[0] if len(each) == 1 else Curve.maximum(each))
            for first, last, follower in then:
                whole = not situation.strategy.is_given or (first == 0 and last == world.sizes[part])
                chance = Fraction(1) if whole else _chance(world, queries[0], part, first, last)
                reached[follower] += reached[number] * chance
    return Curve.mean(weights, curves)


def _chance(world: World, query: PropertyQuery, part: int, first: int, last: int) -> Fraction:
    """The probability of an answer from `first` to `last` if the critical entry is not in the part."""
    masses = [Fraction(1)]
    for size, (name, _) in zip(world.parts[part], world.groups, strict=True):
        own = _binomial(size, _probability(query, name))
        masses = (
            [
                sum((masses[k - j] * own[j] for j in range(max(0, k - len(masses) + 1), min(k, size) + 1)), Fraction(0))
                for k in range(len(masses) + size)
            ]
            if len(masses) > 1
            else own
        )
    return sum(masses[first : last + 1], Fraction(0))


def _binomial(size: int, p: Fraction) -> list[Fraction]:
    hit, miss, whole = p.numerator, p.denominator - p.numerator, p.denominator**size
    return [Fraction(comb(size, k) * hit**k * miss ** (size - k), whole) for k in range(size + 1)]
