"""Counts of entries that differ, in parts, bounded by the range that holds the probabilities of all of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from statpriv._native import Curve
from statpriv.errors import NotAvailableError
from statpriv.lowering.applicability import NotApplicable, require_no_pattern
from statpriv.model.adversaries import Adversary
from statpriv.model.partitions import RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import EachBetween, ends
from statpriv.model.situation import PartitionedSituation, Query, asked_of, capabilities
from statpriv.rules.assumptions import DRAWN, INDEPENDENT, SECRET, STATED
from statpriv.rules.data_processing import require_no_gate
from statpriv.rules.registry import lower, rule


@rule(
    bound="hull",
    kind="bound",
    queries=(PropertyQuery, PostProcessed),
    samplings=(RandomPartition,),
    cost=78,
    theorem=(
        "The probabilities of all entries are in one range. δ is at most the supremum over all choices of a "
        "probability for each entry in it: of that every bound for entries with a probability of their own holds."
    ),
    source="docs/explanation/groups-in-a-partition.md",
    assumptions=(INDEPENDENT, STATED, DRAWN, SECRET),
    covers=("each",),
)
def hull_in_parts(situation: PartitionedSituation) -> Curve:
    """Any number of different probabilities, of groups or of single entries."""
    require_no_pattern(situation)
    if situation.sampling.part_strata is not None:
        raise NotApplicable("the partition is stratified by group")
    if not any(capabilities(query).laws_differ for query in situation.different_queries):
        raise NotApplicable("all entries have one law, or one range")
    if situation.adversary.values != "worst":
        raise NotApplicable("known entries with expected values are not composed in this version")
    hulls = {id(query): _hull(query) for query in situation.different_queries}
    alike = replace(
        situation,
        queries=tuple(hulls[id(query)] for query in situation.queries),
        population=Population(situation.population.size),
        adversary=Adversary(known=situation.adversary.total),
    )
    try:
        return lower(alike, "tightest").curve
    except NotAvailableError as error:
        raise NotApplicable(f"the range of all entries has no bound: {error}") from None


def _hull(query: Query) -> Query:
    """The count before processing, with one range for all entries."""
    require_no_gate(query)
    asked = capabilities(query)
    if not asked.is_count:
        raise NotApplicable("only counts have a range that holds the probabilities of all entries")
    if asked.is_uniform:
        return asked_of(query)
    return PropertyQuery(EachBetween(*range_of_all(query)), attribute=asked.attribute)


def range_of_all(query: Query) -> tuple[Fraction, Fraction]:
    """The least and the largest probability of an entry, of any group, in a count."""
    asked = capabilities(query)
    if asked.stated_entries is not None:
        stated = [dict(kind.law)[1] for kind in asked.laws_by_class(((None, asked.stated_entries),))]
    else:
        stated = [p for name in asked.stated_groups or (None,) if (p := asked.probability(name)) is not None]
    return min(ends(p)[0] for p in stated), max(ends(p)[1] for p in stated)
