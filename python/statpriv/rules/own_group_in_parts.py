"""Partitions of groups, bounded by the critical entry's group alone."""

from __future__ import annotations

from dataclasses import replace

from statpriv._native import Curve
from statpriv.errors import NotAvailableError
from statpriv.lowering.applicability import NotApplicable, require_no_pattern
from statpriv.lowering.entry_classes import by_class
from statpriv.model.partitions import RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.situation import PartitionedSituation, Query, asked_of, capabilities
from statpriv.rules.assumptions import DRAWN, INDEPENDENT, SECRET, STATED
from statpriv.rules.data_processing import require_no_gate
from statpriv.rules.registry import lower, rule
from statpriv.rules.whole_population import worst


@rule(
    bound="own-group",
    kind="bound",
    queries=(PropertyQuery, HistogramQuery, PostProcessed),
    samplings=(RandomPartition,),
    cost=24,
    theorem=(
        "Told all entries of other groups, and which part each of them is in, a reader faces entries with one law of "
        "which all others are known: δ is at most that of the critical entry's group with the entries of other groups "
        "as known ones. The worst group."
    ),
    source="docs/explanation/groups-in-a-partition.md, with the proof",
    assumptions=(INDEPENDENT, STATED, DRAWN, SECRET),
)
def other_groups_known(situation: PartitionedSituation) -> Curve:
    """Each group is a composition with known entries, for which there are bounds at any size."""
    require_no_pattern(situation)
    if situation.sampling.part_strata is not None:
        raise NotApplicable("the partition is stratified by group")
    if not any(capabilities(query).laws_differ for query in situation.different_queries):
        raise NotApplicable("all entries have one law")
    situation = by_class(situation)
    groups, adversary, curves = situation.population.groups or (), situation.adversary, []
    n = situation.population.size
    for name, rows in groups:
        of_group = {id(query): _of_group(query, name) for query in situation.different_queries}
        unknown = max(rows - adversary.known_in(name), 1)
        alone = replace(
            situation,
            queries=tuple(of_group[id(query)] for query in situation.queries),
            population=Population(n),
            adversary=replace(adversary, known=n - unknown),
        )
        try:
            curves.append(lower(alone, "tightest").curve)
        except NotAvailableError as error:
            raise NotApplicable(f"a group by itself has no curve: {error}") from None
    return worst(curves)


@rule(
    bound="own-group",
    kind="bound",
    queries=(PropertyQuery, HistogramQuery, PostProcessed),
    samplings=(RandomPartition,),
    cost=22,
    theorem=(
        "Each group is drawn for the parts by itself. Told the counts of every group in each part, and not their sums "
        "alone, a reader learns nothing from groups without the critical entry: δ is at most that of its own group, on "
        "its own parts, to somebody whose known entries are all in it as far as they fit. The worst group."
    ),
    source="docs/explanation/composition.md, with the proof",
    assumptions=(INDEPENDENT, STATED, DRAWN, SECRET),
)
def own_group_in_parts(situation: PartitionedSituation) -> Curve:
    """Each group is a composition of entries with one law, which more rules cover than several laws."""
    groups = groups_alone(situation)
    try:
        return worst([lower(alone, "tightest").curve for alone in groups.values()])
    except NotAvailableError as error:
        raise NotApplicable(f"a group by itself has no curve: {error}") from None


def groups_alone(situation: PartitionedSituation) -> dict[str, PartitionedSituation]:
    """For each group with entries in a part: its own entries, in the parts that have some of them.

    Raises
    ------
    NotApplicable
        The partition is not stratified; a pair is named for each part; or a query is not a count with a law, or a
        range, by group.
    """
    require_no_pattern(situation)
    strata, adversary = situation.sampling.part_strata, situation.adversary
    if strata is None:
        raise NotApplicable("the partition is not stratified by group")
    groups = {}
    for name, rows in situation.population.groups or ():
        sizes = [dict(stratum).get(name, 0) for stratum in strata]
        of_group = {query: _of_group(query, name) for query in situation.different_queries}
        if any(sizes):
            groups[name] = PartitionedSituation(
                tuple(of_group[query] for query, size in zip(situation.queries, sizes, strict=True) if size),
                Population(rows),
                RandomPartition([size for size in sizes if size]),
                replace(adversary, known=min(adversary.known_in(name), rows - 1)),
                situation.pair,
            )
    return groups


def _of_group(query: Query, group: str) -> Query:
    """The query, before processing, restricted to the entries of one group."""
    require_no_gate(query)
    asked = capabilities(query)
    if not asked.counts_values:
        raise NotApplicable("only counts and histograms are bounded by the critical entry's group alone")
    if asked.is_uniform:
        return asked_of(query)
    p = asked.probability(group)
    if p is not None:
        return PropertyQuery(p, attribute=asked.attribute)
    return HistogramQuery([mass for _, mass in asked.law(group)], attribute=asked.attribute)
