"""Known entries among the parts of a secret partition, bounded by revealing the parts they are in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb

from statpriv import budget
from statpriv._native import Curve
from statpriv.errors import NotAvailableError
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.background import Drawn
from statpriv.lowering.partition_parts import bounded
from statpriv.model.adversaries import Adversary
from statpriv.model.partitions import RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.situation import Pair, PartitionedSituation, Pattern, Query, asked_of, capabilities
from statpriv.rules.assumptions import DRAWN, IDENTICAL, INDEPENDENT, SECRET
from statpriv.rules.data_processing import require_no_gate
from statpriv.rules.registry import lower, rule

CHANCES = (Fraction(1, 10**6), Fraction(1, 10**11), Fraction(0))
"""Chances that some part has more unknown entries than it is taken to have; each gives a bound."""


@rule(
    bound="revealed",
    kind="bound",
    queries=(PropertyQuery, HistogramQuery, PostProcessed),
    samplings=(RandomPartition,),
    cost=10,
    theorem=(
        "Revealed where the known entries fell, part k has u_k unknown ones, and δ is at most the mean of the "
        "composition of the unknown entries alone. Less its mean, what a part adds to the likelihood grows in convex "
        "order with u_k; the means add up to 1 − e^ε whatever the u_k. So where there are many, δ is at most the "
        "stop-loss for the largest u_k, and the chance that some u_k is larger."
    ),
    source="docs/explanation/composition.md, with the proof",
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN, SECRET),
)
def revealed(situation: PartitionedSituation) -> Curve:
    """The mean over all u_k if they are few; else the smallest of several bounds, one per exceedance probability."""
    partition, known = situation.sampling, situation.adversary.total
    if not known:
        raise NotApplicable("no entries are known")
    if situation.adversary.values != "worst" or partition.part_strata is not None:
        raise NotApplicable("known entries with expected values, or in a stratified partition, are not composed here")
    queries = tuple(_counted(query) for query in situation.queries)
    unknown = situation.population.size - known
    alone, part_sizes = replace(situation, queries=queries, adversary=Adversary()), partition.part_sizes or ()
    ranges = any(capabilities(query).has_ranges for query in queries)
    if not ranges and (ways := _ways(alone, part_sizes, unknown)):
        return Curve.mean(list(ways.values()), [_of_unknown(alone, unknown, held) for held in ways])
    found = {}
    for chance in CHANCES:
        sizes, exceeded = _largest(part_sizes, situation.population.size, unknown, chance)
        found[sizes] = exceeded
    curves = [bounded(alone, unknown=unknown, sizes=sizes, exceeded=chance) for sizes, chance in found.items()]
    return curves[0] if len(curves) == 1 else Curve.minimum(curves)


@dataclass(frozen=True)
class _Held:
    """Unknown entries of a part."""

    query: Query
    pair: Pair
    size: int


def _ways(situation: PartitionedSituation, sizes: Sequence[int], unknown: int) -> dict[tuple[_Held, ...], Fraction]:
    """The possible distributions of unknown entries over the parts, with probabilities; empty if there are too many."""
    entries, ways = situation.population.size, dict[tuple[_Held, ...], Fraction]()
    if max(len(sizes) ** 2, sum(sizes)) > budget.MAX_KNOWN_PART_ENTRIES:  # about as many ways as parts, or more
        return {}
    for number, (fallen, chosen) in enumerate(_falls(tuple(sizes), entries - sum(sizes), unknown), start=1):
        if number * sum(sizes) > budget.MAX_KNOWN_PART_ENTRIES:
            return {}
        parts = zip(situation.queries, map(situation.pair_of, range(situation.parts)), fallen, strict=True)
        if held := tuple(_Held(*part) for part in parts if part[-1]):
            ways[held] = ways.get(held, Fraction(0)) + Fraction(chosen, comb(entries, unknown))
    return ways


def _falls(sizes: tuple[int, ...], unused: int, unknown: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """The number of unknown entries in each part, and the number of ways to choose them."""
    if not sizes:
        if unknown <= unused:
            yield (), comb(unused, unknown)
        return
    room = sum(sizes[1:]) + unused
    for first in range(max(0, unknown - room), min(sizes[0], unknown) + 1):
        for others, chosen in _falls(sizes[1:], unused, unknown - first):
            yield (first, *others), comb(sizes[0], first) * chosen


def _of_unknown(situation: PartitionedSituation, unknown: int, held: tuple[_Held, ...]) -> Curve:
    """The composition of the unknown entries alone."""
    queries, parts = tuple(part.query for part in held), RandomPartition([part.size for part in held])
    pairs = tuple(part.pair for part in held if part.pair is not None)
    pair: Pair | Pattern = pairs if situation.pattern else situation.pair
    alone = PartitionedSituation(queries, Population(unknown), parts, Adversary(), pair)
    try:
        return lower(alone, "tightest").curve
    except NotAvailableError as error:
        raise NotApplicable(f"the unknown entries have no composition: {error}") from None


def _counted(query: Query) -> Query:
    """The count before processing; processing reveals no more."""
    require_no_gate(query)
    asked = capabilities(query)
    if not asked.counts_values or not asked.is_uniform:
        raise NotApplicable("known entries in parts are composed for counts of entries with one law only")
    return asked_of(query)


def _largest(sizes: tuple[int, ...], entries: int, unknown: int, chance: Fraction) -> tuple[tuple[int, ...], Fraction]:
    """Numbers of unknown entries by part, exceeded somewhere with at most this probability, and a bound on it.

    The unknown entries of a part are distributed as in a sample without replacement.
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
