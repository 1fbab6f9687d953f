"""Theorem 5.2 for entries that differ, on a partition that is uniform over all entries, multinomial, or stated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from statpriv import budget
from statpriv._native import Curve
from statpriv.errors import NotAvailableError
from statpriv.lowering.applicability import NotApplicable, require_no_pattern
from statpriv.lowering.background import known_by_group
from statpriv.lowering.contributions import World, contributions
from statpriv.lowering.drawn_groups import at_most, count_of_one_kind, count_of_own
from statpriv.lowering.entry_classes import by_class
from statpriv.model.adversaries import Adversary
from statpriv.model.draws import drawn_once
from statpriv.model.partitions import MultinomialPartition, PartitionLaw, RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.queries.valued import Valued
from statpriv.model.queries.variants import of_groups, unlabelled
from statpriv.model.situation import (
    PartitionedSituation,
    Query,
    Situation,
    asked_of,
    capabilities,
    gate_for_every_p,
    steps_of,
)
from statpriv.rules.assumptions import DRAWN, DRAWN_AS_STATED, INDEPENDENT, PAPER, STATED
from statpriv.rules.one_property import weights_of
from statpriv.rules.own_count import mean_at_a_rate
from statpriv.rules.partition_sum import chances_of_places
from statpriv.rules.registry import lower, rule
from statpriv.rules.whole_population import worst, worst_gaps

Numbers: TypeAlias = "dict[str, int]"
"""A number of entries of each group."""
Others: TypeAlias = "tuple[tuple[str, int], ...]"
"""The same of the others in a part, in order."""


@rule(
    bound="partition-sum",
    kind="bound",
    queries=(PropertyQuery, HistogramQuery, Valued, PostProcessed),
    samplings=(RandomPartition,),
    cost=61,
    theorem=(
        "δ(ε) ≤ Σ_k (n_k/n) · SPC_k(ε) for entries that differ (Theorem 5.2): SPC_k is the mean, over which of the "
        "other entries share part k with the critical one, of the curve of the answer. How many of them are of "
        "each group is multivariate hypergeometric; entries that are known, or whose p is a range of its own, are "
        "revealed. The worst group of the critical entry, and of the known ones."
    ),
    source=f"{PAPER}, Theorem 5.2; docs/explanation/groups-in-a-partition.md",
    assumptions=(INDEPENDENT, STATED, DRAWN),
)
def partition_sum_of_groups(situation: PartitionedSituation) -> Curve:
    """The maximum over pairs is inside the sum, that over the critical entry outside."""
    require_no_pattern(situation)
    if situation.sampling.part_strata is not None:
        raise NotApplicable("the partition is stratified by group")
    differ = any(capabilities(query).laws_differ for query in situation.different_queries)
    if not differ and not situation.adversary.by_group:
        raise NotApplicable("all entries have one law, and are known by number")
    if any(gate_for_every_p(query) is not None for query in situation.different_queries):
        raise NotApplicable("the range of a gated count would be trusted")
    situation, n = by_class(situation), situation.population.size
    parts = Counter(zip(map(unlabelled, situation.queries), situation.sampling.part_sizes or (), strict=True))
    weights = [Fraction(count * size, n) for (_, size), count in parts.items()]
    return _worst_group(
        situation, weights, lambda critical, unknown: [_given(situation, *part, critical, unknown) for part in parts]
    )


def _worst_group(
    situation: PartitionedSituation, weights: list[Fraction], of_parts: Callable[[str, Numbers], list[Curve]]
) -> Curve:
    """The sum over the parts for the worst group of the critical entry, and the worst known entries.

    `of_parts` has the curves of the parts for a critical entry of this group and so many unknown others of each group.
    """
    groups, curves = dict(situation.population.groups or ()), []
    for known in known_by_group(situation.adversary, groups):
        for critical in groups:
            unknown = {name: max(size - (name == critical) - known.get(name, 0), 0) for name, size in groups.items()}
            curves.append(Curve.mean(weights, of_parts(critical, unknown)))
    return worst(curves)


@rule(
    bound="partition-sum",
    kind="bound",
    queries=(PropertyQuery,),
    samplings=(MultinomialPartition,),
    cost=61,
    theorem=(
        "δ(ε) ≤ Σ_k w_k · SPC_k(ε) for entries that differ (Theorem 5.2): given how many of the others share part k "
        "with the critical entry, they are drawn uniformly, and SPC_k is the mean over that binomial number. It falls "
        "with the number, as an entry more can be revealed, so the number is taken to be the least of some intervals. "
        "The worst group of the critical entry, and of the known ones."
    ),
    source=f"{PAPER}, Theorem 5.2, with multinomial assignment; docs/explanation/groups-in-a-partition.md",
    assumptions=(INDEPENDENT, STATED, DRAWN),
)
def multinomial_sum_of_groups(situation: PartitionedSituation) -> Curve:
    """The sum over the parts of their means over the number of entries in them."""
    require_no_pattern(situation)
    if not any(capabilities(query).laws_differ for query in situation.different_queries):
        raise NotApplicable("all entries have one law")
    situation, others = by_class(situation), situation.population.size - 1
    parts = Counter(zip(map(unlabelled, situation.queries), weights_of(situation), strict=True))
    shares = [count * weight for (_, weight), count in parts.items()]

    def of_parts(critical: str, unknown: Numbers) -> list[Curve]:
        return [
            mean_at_a_rate(others, weight, partial(_with_others, situation, query, critical, unknown))
            for query, weight in parts
        ]

    return _worst_group(situation, shares, of_parts)


def _with_others(situation: PartitionedSituation, query: Query, critical: str, unknown: Numbers, others: int) -> Curve:
    """The sampling privacy curve of a part that holds the critical entry and so many others."""
    return _given(situation, query, others + 1, critical, unknown)


@rule(
    bound="partition-sum",
    kind="bound",
    queries=(PropertyQuery, HistogramQuery, Valued, PostProcessed),
    samplings=(PartitionLaw,),
    cost=61,
    theorem=(
        "δ(ε) ≤ Σ_k P[j ∈ τ_k] · E[Δ(ε) of the entries τ_k | j ∈ τ_k] for entries that differ, for any law of disjoint "
        "parts τ_1, …, τ_m (Definition 3.4): which entries are in a part says how many of each group. The worst j."
    ),
    source=f"{PAPER}, Definition 3.4 and Theorem 5.2",
    assumptions=(INDEPENDENT, STATED, DRAWN_AS_STATED),
)
def stated_partitions_sum_of_groups(situation: PartitionedSituation) -> Curve:
    """Entries of one group with equal probabilities of equally composed parts are evaluated once."""
    require_no_pattern(situation)
    law = situation.sampling
    if situation.adversary.total or not isinstance(law, PartitionLaw):
        raise NotApplicable("known entries in stated partitions are not composed in this version")
    if not any(capabilities(query).laws_differ for query in situation.different_queries):
        raise NotApplicable("all entries have one law")
    if any(capabilities(query).stated_entries is not None for query in situation.different_queries):
        raise NotApplicable("laws of single entries are not composed in stated partitions: state them by group")
    group_of = [name for name, size in situation.population.groups or () for _ in range(size)]

    def place(entry: int, k: int, part: tuple[int, ...]) -> tuple[int, Others]:
        others = Counter(group_of[other] for other in part if other != entry)
        return k, tuple(sorted(others.items()))

    chances = chances_of_places(law, place)
    alike = {(group_of[entry], tuple(sorted(of_entry.items()))) for entry, of_entry in chances.items()}
    curves = []
    for critical, places in sorted(alike):
        of_parts = [_with_these(situation, situation.queries[k], critical, dict(others)) for (k, others), _ in places]
        curves.append(Curve.mean([mass for _, mass in places], of_parts))
    return worst(curves)


def _with_these(situation: PartitionedSituation, query: Query, critical: str, others: Numbers) -> Curve:
    """The curve of a part with these other entries; what is done to an answer reveals no more."""
    drawn = {name: others.get(name, 0) for name, _ in situation.population.groups or ()}
    return _total(asked_of(query), drawn, critical, situation)


def _given(situation: PartitionedSituation, query: Query, size: int, critical: str, unknown: Numbers) -> Curve:
    """The sampling privacy curve of a part of this size that holds an entry of the group `critical`."""
    number, asked, pair = situation.population.size - 1, capabilities(query), situation.one_pair
    if asked.is_count:  # What is done to a count reveals no more than the count.
        if (one := asked.probability()) is not None:
            return count_of_one_kind(one, number + 1, number - sum(unknown.values()), size - 1, pair)
        stated = {name: p for name in unknown if (p := asked.probability(name)) is not None}
        return count_of_own(stated, unknown, critical, (number, size - 1), pair)
    irrelevant = number - sum(unknown.values())
    if asked.is_uniform and not irrelevant:
        return _lowered(Situation(query, Population(size), None, Adversary(), pair))
    if steps_of(query) and not irrelevant:
        return _mean(unknown, size, lambda drawn: _processed(query, drawn, critical, situation))
    plain = asked_of(query)
    return _mean(unknown, size, lambda drawn: _total(plain, drawn, critical, situation), irrelevant)


def _mean(unknown: Numbers, size: int, curve: Callable[[Numbers], Curve], irrelevant: int = 0) -> Curve:
    """The mean over the numbers of others by group that are drawn for the part."""
    room = [*unknown.values(), irrelevant]
    if not at_most(budget.MAX_DRAWS, size - 1, room):
        raise NotApplicable(f"a part can be composed in more than {budget.MAX_DRAWS} ways, and its answer is no count")
    weights, curves = [], []
    for draw in drawn_once(room, size - 1, critical=False):
        numbers = [sum(number for _, number in drawn) for drawn in draw.others[:-1]]
        weights.append(draw.weight)
        curves.append(curve(dict(zip(unknown, numbers, strict=True))))
    return Curve.mean(weights, curves)


def _present(drawn: Numbers, critical: str) -> Population:
    numbers = {name: number + (name == critical) for name, number in drawn.items()}
    return Population(groups={name: number for name, number in numbers.items() if number})


def _total(query: Query, drawn: Numbers, critical: str, situation: PartitionedSituation) -> Curve:
    """What these others add, shifted by what the critical entry and the known ones add."""
    population = _present(drawn, critical)
    groups = dict(population.groups or ())
    entries = contributions(Situation(of_groups(query, groups), population, None, Adversary()), labelled=True)
    place = next(k for k, kind in enumerate(entries.classes) if kind.name in (None, critical))
    world = World(entries, place, (0,) * len(entries.classes))
    others = world.others
    return worst([Curve.answers(others.shifted(gap), others) for gap in worst_gaps(world, situation.one_pair)])


def _processed(query: Query, drawn: Numbers, critical: str, situation: PartitionedSituation) -> Curve:
    """The released answer, for the worst entry of the part; at most what the answer reveals before it is processed."""
    population = _present(drawn, critical)
    asked, pair = of_groups(query, dict(population.groups or ())), situation.one_pair
    released = _lowered(Situation(asked, population, None, Adversary(), pair))
    return Curve.minimum([released, _total(asked_of(query), drawn, critical, situation)])


def _lowered(situation: Situation) -> Curve:
    try:
        return lower(situation, "tightest").curve
    except NotAvailableError as error:
        raise NotApplicable(f"a part has no curve: {error}") from None
