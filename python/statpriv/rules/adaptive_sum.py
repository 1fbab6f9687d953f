"""Theorems 5.3 and 5.4: adaptive composition as a sum over the parts.

The critical entry is in part k with probability n_k/n, and then only the answer of part k depends on it. Which query is
asked there depends on the earlier answers, whose laws do not. So for a partition that is drawn first,

    δ(ε) ≤ Σ_k (n_k/n) E[Δ(ε) of the query chosen for part k, given the kinds of the other entries of the part],

the mean over the earlier answers and over how many entries of each kind (each group, and the known ones) share the
part.

*Of any analyst* the query is at most the worst of those that may be asked on the part, given its composition. The mean
over the compositions of all parts then separates: in each part the others are drawn without replacement from all other
entries, whatever the other parts hold.

*Of a given analyst* the probability to reach a query depends on the composition of the earlier parts, so all parts are
composed together, which small tables allow. Beyond that the analyst counts as any who asks one of the same queries at
the same depth.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import comb

from statpriv import budget
from statpriv._native import Curve, Law
from statpriv.lowering.analysts import (
    Pattern,
    Sign,
    World,
    groups_of,
    law_of_count,
    patterns_of,
    probability_in,
    require_one_probability,
    worlds_of,
)
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.drawn_groups import at_most, count_of_drawn, count_of_one_kind, pooled
from statpriv.model.draws import compositions, drawn_once
from statpriv.model.partitions import RandomPartition
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import is_each
from statpriv.model.strategies import AdaptiveSituation, AnyOf, Ask
from statpriv.rules.adaptive import CHOSEN
from statpriv.rules.assumptions import DRAWN, INDEPENDENT, PAPER, STATED
from statpriv.rules.own_count import count_of, mean_of_drawn
from statpriv.rules.registry import rule

_SOURCE = f"{PAPER}, Theorems 5.3 and 5.4"
_ASSUMPTIONS = (INDEPENDENT, STATED, DRAWN, CHOSEN)


@rule(
    bound="partition-sum",
    kind="bound",
    queries=(Ask,),
    samplings=(RandomPartition,),
    cost=60,
    theorem=(
        "δ(ε) ≤ Σ_k (n_k/n) E[Δ(ε) of the query chosen for part k], over the earlier answers (Theorem 5.3). Of entries "
        "in groups the composition of the parts stands outside (Theorem 5.4)."
    ),
    source=_SOURCE,
    assumptions=_ASSUMPTIONS,
    covers=("each",),
)
def given_analyst(situation: AdaptiveSituation) -> Curve:
    """The maximum over pairs (v, w) is outside the sum as long as there are few pairs."""
    if situation.adversary.total:
        raise NotApplicable("known entries shift the answers that a given strategy goes by")
    require_one_probability(situation)
    patterns = _few_patterns(situation)
    return Curve.maximum(
        [_followed(situation, worlds, pattern) for worlds in worlds_of(situation) for pattern in patterns]
    )


@rule(
    bound="partition-sum",
    kind="bound",
    queries=(AnyOf, Ask),
    samplings=(RandomPartition,),
    cost=61,
    theorem=(
        "δ(ε) ≤ Σ_k (n_k/n) E[max_F Δ^F(ε)], the maximum over the queries that may be asked on part k, the mean over "
        "how many entries of each group, and known ones, share the part with the critical entry (Theorem 5.4)."
    ),
    source=_SOURCE,
    assumptions=_ASSUMPTIONS,
    covers=("each",),
)
def any_analyst(situation: AdaptiveSituation) -> Curve:
    """Each part by itself, so that the size of the table hardly matters."""
    asked: defaultdict[int, dict[PropertyQuery, None]] = defaultdict(dict)
    for part, queries, _ in situation.strategy.points(situation.sampling.sizes):
        asked[part] |= dict.fromkeys(queries)
    shares: defaultdict[tuple[int, tuple[PropertyQuery, ...]], Fraction] = defaultdict(Fraction)
    for part, choice in asked.items():
        size = situation.sampling.sizes[part]
        shares[size, tuple(choice)] += Fraction(size, situation.population.size)
    others = [_others(situation, critical) for critical in range(len(groups_of(situation)))]
    return Curve.maximum(
        [
            Curve.mean(list(shares.values()), [_worst_choice(of, *part, pattern) for part in shares])
            for of in others
            if of is not None
            for pattern in _few_patterns(situation)
        ]
    )


def _few_patterns(situation: AdaptiveSituation) -> Sequence[Pattern | None]:
    """The pairs of values of the critical entry, or None where each answer is given its own worst pair."""
    few = 2 ** len(situation.properties) <= budget.MAX_ADAPTIVE_PATTERNS
    return patterns_of(situation) if few else [None]


def _sign(pattern: Pattern | None, query: PropertyQuery) -> Sign | None:
    return None if pattern is None else pattern[query.attribute or ""]


@dataclass(frozen=True)
class _Others:
    """The entries besides the critical one: the unknown ones of each group, and how many are known."""

    groups: tuple[tuple[str | None, int], ...]
    known: int
    own: int
    """The critical entry's group."""


def _others(situation: AdaptiveSituation, own: int) -> _Others | None:
    """Those besides a critical entry of this group, if it has an unknown one."""
    groups, adversary = groups_of(situation), situation.adversary
    if adversary.values != "worst":
        raise NotApplicable("known entries with expected values are not composed adaptively")
    if len(groups) > 1 and adversary.total and not adversary.by_group:
        raise NotApplicable("of several groups, known entries are composed adaptively if they are stated by group")
    unknown = [size - adversary.known_in(name) for name, size in groups]
    if not unknown[own]:
        return None
    unknown[own] -= 1
    names = [name for name, _ in groups]
    return _Others(tuple(zip(names, unknown, strict=True)), adversary.total, own)


def _worst_choice(others: _Others, size: int, choice: tuple[PropertyQuery, ...], pattern: Pattern | None) -> Curve:
    """E[max_F Δ^F] over what shares a part of this size with the critical entry.

    Where that can be composed in too many ways, two bounds take its place. With the values of all other groups
    revealed, which lowers no δ, it matters only how many entries of the own group there are. And a maximum is at most
    the sum.
    """
    if len(choice) == 1:
        return _only_choice(others, size, choice[0], _sign(pattern, choice[0]))

    def worst(numbers: Iterable[tuple[str | None, int]]) -> Curve:
        drawn = tuple(numbers)
        return Curve.maximum([_count(drawn, query, _sign(pattern, query)) for query in choice])

    names = [name for name, _ in others.groups]
    room = [*(number for _, number in others.groups), others.known]
    if at_most(budget.MAX_TEMPLATE_KINDS // len(choice), size - 1, room):
        weights = [draw.weight for draw in drawn_once(room, size - 1, critical=False)]
        curves = [worst(zip(names, numbers, strict=False)) for numbers in compositions(size - 1, room)]
        return Curve.mean(weights, curves)
    own, number = others.groups[others.own]
    bounds = [mean_of_drawn(sum(room) + 1, sum(room) - number, size, lambda drawn: worst([(own, drawn)]))]
    with suppress(NotApplicable):
        each = [_only_choice(others, size, query, _sign(pattern, query)) for query in choice]
        bounds.append(Curve.mean([Fraction(1)] * len(each), each))
    return Curve.minimum(bounds)


def _only_choice(others: _Others, size: int, query: PropertyQuery, sign: Sign | None) -> Curve:
    """E[Δ] of one query, at any size."""
    if query.is_uniform:
        unknown = sum(number for _, number in others.groups)
        if is_each(query.p):
            return count_of(query.p).drawn(unknown + others.known + 1, others.known, size, sign)
        return count_of_one_kind(query.p, unknown + others.known + 1, others.known, size - 1, sign)
    pools = pooled((probability_in(query, name), number) for name, number in others.groups)
    return count_of_drawn(pools, others.known, size - 1, sign)


def _count(drawn: Sequence[tuple[str | None, int]], query: PropertyQuery, sign: Sign | None) -> Curve:
    """Δ of the count of the critical entry and so many of each group; known ones only shift it."""
    if query.is_uniform:
        return count_of(query.p).of(sum(number for _, number in drawn) + 1, sign)
    others = law_of_count((number, probability_in(query, name)) for name, number in drawn)
    return _against(others.shifted(1), others, sign)


def _followed(situation: AdaptiveSituation, worlds: Sequence[World], pattern: Pattern | None) -> Curve:
    """The sum over all points of a given strategy, weighted by the probabilities of reaching them."""
    weights, curves = [], []
    for world in worlds:
        points = situation.strategy.points(world.sizes)
        reached = [Fraction(int(number == 0)) for number in range(len(points))]
        for number, (part, (query,), then) in enumerate(points):
            share = world.share(part)
            if share and reached[number]:
                weights.append(world.probability * reached[number] * share)
                curves.append(_given_composition(world, query, part, _sign(pattern, query)))
            for first, last, follower in then:
                whole = first == 0 and last == world.sizes[part]
                chance = Fraction(1) if whole else _chance(world, query, part, first, last)
                reached[follower] += reached[number] * chance
    return Curve.mean(weights, curves)


def _given_composition(world: World, query: PropertyQuery, part: int, sign: Sign | None) -> Curve:
    """Δ of the answer given that the critical entry is in the part."""
    if len(world.groups) == 1:
        return count_of(query.p).of(world.sizes[part], sign)
    one, zero, _ = world.laws(query, part)
    return _against(one, zero, sign)


def _against(one: Law, zero: Law, sign: Sign | None) -> Curve:
    """The curve of the answer for the sign of the critical entry, or for the worst."""
    directions = {(1, 0): [(one, zero)], (0, 1): [(zero, one)], None: [(one, zero), (zero, one)]}
    return Curve.maximum([Curve.answers(*laws) for laws in directions[sign]])


def _chance(world: World, query: PropertyQuery, part: int, first: int, last: int) -> Fraction:
    """The probability of an answer from `first` to `last` if the critical entry is not in the part."""
    masses = [Fraction(1)]
    for size, (name, _) in zip(world.parts[part], world.groups, strict=True):
        own = _binomial(size, probability_in(query, name))
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
