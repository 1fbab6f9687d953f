"""Known entries among the parts of a secret partition: bounded by revealing where they fell."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

from statpriv._native import Curve
from statpriv.adversaries import Adversary
from statpriv.assumptions import DRAWN, IDENTICAL, INDEPENDENT, SECRET
from statpriv.known_entries import Drawn
from statpriv.partitions import RandomPartition
from statpriv.parts import bounded
from statpriv.queries.histogram import HistogramQuery
from statpriv.queries.processed import Processed
from statpriv.queries.property import PropertyQuery
from statpriv.rules.data_processing import require_no_gate
from statpriv.rules.registry import NotApplicable, rule
from statpriv.situation import PartitionedSituation, Query, asked_of

CHANCES = (Fraction(1, 10**6), Fraction(1, 10**11), Fraction(0))
"""Chances that some part has more unknown entries than it is taken to have; each gives a bound."""


@rule(
    bound="revealed",
    kind="bound",
    queries=(PropertyQuery, HistogramQuery, Processed),
    samplings=(RandomPartition,),
    theorem=(
        "Revealed where the known entries fell, part k has u_k unknown ones. Less its mean, what it adds to the "
        "likelihood grows in convex order with u_k; the means add up to 1 − e^ε whatever the u_k. So δ is at most the "
        "stop-loss for the largest u_k, and the chance that some u_k is larger."
    ),
    source="docs/explanation/composition.md, with the proof",
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN, SECRET),
)
def revealed(situation: PartitionedSituation) -> Curve:
    """The smallest of several bounds, by how unlikely larger u_k are."""
    partition: Any = situation.sampling
    known = situation.adversary.total
    if not known:
        raise NotApplicable("no entries are known")
    if situation.adversary.values != "worst" or partition.strata is not None:
        raise NotApplicable("known entries with expected values, or in a stratified partition, are not composed here")
    queries = tuple(_counted(query) for query in situation.queries)
    unknown = situation.population.size - known
    found = {}
    for chance in CHANCES:
        sizes, exceeded = _largest(partition.sizes, situation.population.size, unknown, chance)
        found[sizes] = exceeded
    alone = replace(situation, queries=queries, adversary=Adversary())
    curves = [bounded(alone, unknown=unknown, sizes=sizes, exceeded=chance) for sizes, chance in found.items()]
    return curves[0] if len(curves) == 1 else Curve.minimum(curves)


def _counted(query: Query) -> Query:
    """The count before it is processed: what is done to it reveals no more."""
    require_no_gate(query)
    asked: Any = asked_of(query)
    if not isinstance(asked, PropertyQuery | HistogramQuery) or not asked.is_uniform:
        raise NotApplicable("known entries in parts are composed for counts of entries with one law only")
    counted: Query = asked
    return counted


def _largest(sizes: tuple[int, ...], entries: int, unknown: int, chance: Fraction) -> tuple[tuple[int, ...], Fraction]:
    """Numbers of unknown entries that all parts together exceed with at most this chance, and a bound of it.

    The unknown entries of a part are as a sample without replacement would draw them.
    """
    kinds = Counter(sizes)
    largest: dict[int, tuple[int, Fraction]] = {}
    for size in kinds:
        drawn = Drawn(entries, unknown, size)
        most = drawn.most
        if chance:
            most = drawn.rarely_exceeded(chance / len(sizes))
        largest[size] = most, drawn.chance_of_more(most)
    exceeded = sum((count * largest[size][1] for size, count in kinds.items()), Fraction(0))
    return tuple(largest[size][0] for size in sizes), exceeded
