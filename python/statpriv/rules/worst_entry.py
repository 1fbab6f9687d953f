"""Counts of any properties, bounded entry by entry, for any knowledge of other entries and any placement of them."""

from __future__ import annotations

from fractions import Fraction

from statpriv._native import Curve, Part
from statpriv.lowering.applicability import NotApplicable, require_no_pattern
from statpriv.lowering.entry_classes import by_class
from statpriv.lowering.partition_parts import cells_of
from statpriv.model.partitions import MultinomialPartition, RandomPartition
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import ends
from statpriv.model.situation import PartitionedSituation, Query, capabilities
from statpriv.rules.assumptions import DRAWN, INDEPENDENT, SECRET, STATED
from statpriv.rules.data_processing import require_no_gate
from statpriv.rules.registry import rule

_THEOREM = (
    "Shown one after the other what each unknown entry answers to the query of its part, every entry adds to the "
    "likelihood a number of mean (1 − e^ε)/N, N the number of unknown entries. One law dominates these numbers in "
    "convex order for all queries, both values and all p of a range; so δ is at most the stop-loss of a sum of N "
    "independent numbers of this law, wherever the known entries fell. "
)
_SOURCE = "docs/explanation/composition.md, with the proof"


@rule(
    bound="worst-entry",
    kind="bound",
    queries=(PropertyQuery, PostProcessed),
    samplings=(RandomPartition, MultinomialPartition),
    cost=80,
    theorem=f"{_THEOREM}In a stratified partition N is that of the critical entry's group, the worst one.",
    source=_SOURCE,
    assumptions=(INDEPENDENT, STATED, DRAWN, SECRET),
)
def worst_entry(situation: PartitionedSituation) -> Curve:
    """The bound for the worst entry; in a stratified partition, an entry is in each row of its group equally likely."""
    if situation.sampling.part_strata is None and _differ(situation):
        raise NotApplicable("entries have probabilities by group or by entry: see the other worst-entry")
    return _of_worst_entry(by_class(situation) if _differ(situation) else situation)


@rule(
    bound="worst-entry",
    kind="bound",
    queries=(PropertyQuery, PostProcessed),
    samplings=(RandomPartition,),
    cost=81,
    theorem=(
        f"{_THEOREM}Where entries differ by group N is that of the critical entry's group, the worst one, as told how "
        "many of each group are in each part."
    ),
    source=_SOURCE,
    assumptions=(INDEPENDENT, STATED, DRAWN, SECRET),
)
def worst_entry_of_groups(situation: PartitionedSituation) -> Curve:
    """The same in a plain random partition, for entries that differ."""
    if situation.sampling.part_strata is not None or not _differ(situation):
        raise NotApplicable("all entries have one law, or the partition is stratified: see the other worst-entry")
    return _of_worst_entry(by_class(situation))


def _differ(situation: PartitionedSituation) -> bool:
    return any(capabilities(query).laws_differ for query in situation.different_queries)


def _of_worst_entry(situation: PartitionedSituation) -> Curve:
    require_no_pattern(situation)
    if situation.adversary.values != "worst":
        raise NotApplicable("known entries with expected values are not composed in this version")
    if situation.sampling.part_strata is None and not _differ(situation):
        return _of_entries(situation, situation.population.size - situation.adversary.total, None)
    adversary, curves = situation.adversary, []
    for name, size in situation.population.groups or ():
        curves.append(_of_entries(situation, max(size - adversary.known_in(name), 1), name))
    return curves[0] if len(curves) == 1 else Curve.maximum(curves)


def _of_entries(situation: PartitionedSituation, unknown: int, group: str | None) -> Curve:
    """The bound for one entry: the ends of a range are the worst, since its stop-loss transform is convex in p."""
    probabilities = {p for query in situation.queries for p in _ends(query, group)}
    each = Fraction(1, unknown)
    cells = {
        cells_of({1: p, 0: 1 - p}, first, second, each)
        for p in sorted(probabilities)
        for first, second in (((1, 0), (0, 1)) if situation.pair is None else (situation.pair,))
    }
    choices = [[Part.entries(count=1, cells=law)] for law in sorted(cells)]
    return Curve.composed(unused=0, attributes=[(unknown, choices)], bound=True)


def _ends(query: Query, group: str | None) -> tuple[Fraction, Fraction]:
    """The smallest and the largest p of an entry of this group."""
    require_no_gate(query)
    asked = capabilities(query)
    if not asked.is_count:
        raise NotApplicable(f"an entry adds more than a bit to the answer of a {asked.kind}")
    p = asked.probability(group)
    if p is None:
        raise NotApplicable("probabilities by group are bounded entry by entry in random partitions only")
    lower, upper = ends(p)
    if lower == 0 or upper == 1:
        raise NotApplicable("a property that everyone or nobody may have gives itself away")
    return lower, upper
