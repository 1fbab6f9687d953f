"""Counts of any properties, bounded entry by entry: whatever is known of others, and wherever the known ones fell."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from statpriv._native import Curve, Part
from statpriv.assumptions import DRAWN, IDENTICAL, INDEPENDENT, SECRET
from statpriv.partitions import MultinomialPartition, RandomPartition
from statpriv.parts import cells_of
from statpriv.queries.processed import Processed
from statpriv.queries.property import PropertyQuery
from statpriv.rules.data_processing import require_no_gate
from statpriv.rules.registry import NotApplicable, rule
from statpriv.situation import PartitionedSituation, Query, asked_of


@rule(
    bound="worst-entry",
    kind="bound",
    queries=(PropertyQuery, Processed),
    samplings=(RandomPartition, MultinomialPartition),
    theorem=(
        "Shown one after the other what each unknown entry answers to the query of its part, every entry adds to the "
        "likelihood a number of mean (1 − e^ε)/N, N the number of unknown entries. One law dominates these numbers in "
        "convex order for all queries, both values and all p of a range; so δ is at most the stop-loss of a sum of N "
        "independent numbers of this law, wherever the known entries fell."
    ),
    source="docs/explanation/composition.md, with the proof",
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN, SECRET),
)
def worst_entry(situation: PartitionedSituation) -> Curve:
    """For one entry the ends of a range are the worst: its stop-loss transform is convex in p."""
    partition: Any = situation.sampling
    if isinstance(partition, RandomPartition) and partition.strata is not None:
        # There the critical entry is unlike other unknown ones: alone of its group, it is in a part for certain.
        raise NotApplicable("in a stratified partition the critical entry is not in any row with the same chance")
    if situation.adversary.values != "worst":
        raise NotApplicable("known entries with expected values are not composed in this version")
    if getattr(situation.sampling, "strata", None) is not None:
        raise NotApplicable("a stratified partition tells of which group the entries of a part are")
    probabilities = {p for query in situation.queries for p in _ends(query)}
    unknown = situation.population.size - situation.adversary.total
    each = Fraction(1, unknown)
    cells = {
        cells_of({1: p, 0: 1 - p}, first, second, each)
        for p in sorted(probabilities)
        for first, second in (((1, 0), (0, 1)) if situation.pair is None else (situation.pair,))
    }
    choices = [[Part.entries(count=1, cells=law)] for law in sorted(cells)]
    return Curve.composed(unused=0, attributes=[(unknown, choices)], bound=True)


def _ends(query: Query) -> tuple[Fraction, Fraction]:
    require_no_gate(query)
    asked: Any = asked_of(query)
    if not isinstance(asked, PropertyQuery):
        raise NotApplicable(f"an entry adds more than a bit to the answer of a {type(asked).__name__}")
    if not asked.is_uniform:
        raise NotApplicable("probabilities by group are not bounded entry by entry in this version")
    if asked.lower == 0 or asked.upper == 1:
        raise NotApplicable("a property that everyone or nobody may have gives itself away")
    return asked.lower, asked.upper
