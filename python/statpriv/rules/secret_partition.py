"""Answers of different kinds on the parts of a secret partition, composed exactly."""

from __future__ import annotations

from dataclasses import replace

from statpriv._native import Curve
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.partition_parts import composed, composed_by_shares
from statpriv.model.partitions import PartitionLaw, RandomPartition
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.queries.valued import Valued
from statpriv.model.situation import PartitionedSituation, Query, asked_of, capabilities, gate_for_every_p
from statpriv.rules.assumptions import ALIKE, DRAWN, DRAWN_AS_STATED, IDENTICAL, INDEPENDENT, SECRET, STATED
from statpriv.rules.registry import rule
from statpriv.rules.whole_population import worst

QUERIES = (PropertyQuery, HistogramQuery, Valued, PostProcessed)
SOURCE = "docs/explanation/composition.md, with the proof"
ASSUMPTIONS = (INDEPENDENT, STATED, DRAWN, SECRET)
ENCLOSED = (
    "delta is only enclosed: the combinations of values of these attributes are too many to try them all, or an answer "
    "has continuous noise"
)


@rule(
    bound="exact",
    kind="exact",
    queries=QUERIES,
    samplings=(RandomPartition,),
    cost=40,
    theorem=(
        "Given that no part holds the critical entry the answers are independent, and the likelihood of all of them is "
        "the mean of the likelihoods of the parts, weighted by the chances that the critical entry is there. So δ is "
        "the stop-loss of a sum of independent numbers. The worst of all combinations of values of the attributes."
    ),
    source=SOURCE,
    assumptions=ASSUMPTIONS,
    refusal=lambda curve: ENCLOSED if curve.is_bracket else None,
)
@rule(
    bound="convex-order",
    kind="enclosed",
    queries=QUERIES,
    samplings=(RandomPartition,),
    cost=40,
    theorem=(
        "As for few attributes, δ is the stop-loss of a sum of independent numbers, one a part. The maximum of the "
        "stop-loss transforms of a part over all pairs of values is that of a law that dominates them in convex order; "
        "the sum of these laws bounds every combination of values at once, and those that are left open by branch and "
        "bound. So do the largest moduli of the transforms of each part; the smaller bound counts. The lower end is "
        "attained by a combination. A count with continuous noise is between its rounded laws and laws that dominate "
        "it."
    ),
    source=SOURCE,
    assumptions=ASSUMPTIONS,
    refusal=lambda curve: None if curve.is_bracket else "all combinations of values are tried",
)
def all_patterns(situation: PartitionedSituation) -> Curve:
    """Few enough combinations are tried one by one; of more, and of continuous noise, δ is enclosed."""
    return whole_composition(situation)


@rule(
    bound="exact",
    kind="exact",
    queries=QUERIES,
    samplings=(PartitionLaw,),
    cost=40,
    theorem=(
        "Of a partition only matters that its parts are disjoint, that their sizes are certain, and how likely the "
        "critical entry is in each of them: δ is the stop-loss of a sum of independent numbers, weighted by these "
        "chances. The worst entry, and the worst of all combinations of values of the attributes."
    ),
    source=SOURCE,
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN_AS_STATED, SECRET),
)
def stated_partitions(situation: PartitionedSituation) -> Curve:
    """The composition in which entries with equal probabilities of being in each part are treated as alike."""
    law = situation.sampling
    if situation.adversary.total or not isinstance(law, PartitionLaw):
        raise NotApplicable("known entries fall into parts that are not known, which has no exact form here")
    if law.sizes is None:
        raise NotApplicable("the sizes of the parts depend on the partition that is drawn")
    if not all(capabilities(query).is_uniform for query in situation.queries):
        raise NotApplicable("entries with different laws, in stated partitions, have no exact form here")
    alike = dict.fromkeys(map(law.shares, law.entries))
    curve = worst([composed_by_shares(situation, law.sizes, shares) for shares in alike])
    if curve.is_bracket:
        raise NotApplicable("the combinations of values of these attributes are too many, or noise is continuous")
    return curve


@rule(
    bound="convex-order",
    kind="bound",
    queries=QUERIES,
    samplings=(RandomPartition,),
    cost=70,
    theorem=(
        "As for known probabilities, δ is at most the stop-loss of a sum of independent numbers, one a part, where the "
        "law of a part dominates in convex order those of all probabilities in its range, for both values; or at most "
        "what the largest moduli of their transforms allow, whichever is less. What is done to a count reveals no more "
        "than the count."
    ),
    source="docs/explanation/ranges.md, with the proof",
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN, SECRET),
)
def bounded_ranges(situation: PartitionedSituation) -> Curve:
    """A bound over ranges. Their ends need not be the worst, so each cell of a range is bounded by its own law."""
    if not any(_is_count_of_range(query) and gate_for_every_p(query) is None for query in situation.queries):
        raise NotApplicable("no probability is a range, or only those of gated counts are")
    return _bounded(situation)


@rule(
    bound="convex-order",
    kind="bound",
    queries=QUERIES,
    samplings=(RandomPartition,),
    cost=71,
    theorem=(
        "As for known probabilities, δ is at most the stop-loss of a sum of independent numbers, one a part, where the "
        "law of a part that is published only within a gate dominates in convex order those of all probabilities, "
        "for both values, whether or not a declared range holds. What is done to a gated count reveals no more."
    ),
    source="docs/explanation/ranges.md, with the proof",
    assumptions=(INDEPENDENT, ALIKE, DRAWN, SECRET),
)
def gated_parts(situation: PartitionedSituation) -> Curve:
    """At every stop-loss level, the probabilities that matter to a gated count lie between two peaks."""
    gated = [gate_for_every_p(query) is not None for query in situation.queries]
    if not any(gated) or any(
        _is_count_of_range(query) and not held for query, held in zip(situation.queries, gated, strict=True)
    ):
        raise NotApplicable("no count is gated, or the range of another one is trusted")
    return _bounded(situation)


def _bounded(situation: PartitionedSituation) -> Curve:
    if situation.sampling.part_strata is not None:
        raise NotApplicable("ranges of probabilities in a stratified partition have no bound of this kind here")
    queries = tuple(
        asked_of(query) if _is_count_of_range(query) and gate_for_every_p(query) is None else query
        for query in situation.queries
    )
    return whole_composition(replace(situation, queries=queries), ranges=True)


def _is_count_of_range(query: Query) -> bool:
    """Whether the query, before processing, is a count with a range of probabilities."""
    asked = capabilities(query)
    return asked.is_count and asked.has_ranges


def whole_composition(situation: PartitionedSituation, *, ranges: bool = False) -> Curve:
    """The composition for one law, or for a stratified partition with the critical entry in the worst group."""
    if situation.adversary.total:
        raise NotApplicable("known entries fall into parts that are not known, which has no exact form here")
    if situation.sampling.part_strata is None:
        if not all(capabilities(query).is_uniform for query in situation.queries):
            raise NotApplicable(
                "entries with different laws, in a partition that is not stratified by group, have no exact form here"
            )
        return composed(situation, ranges=ranges)
    curves = [composed(situation, name) for name, _ in situation.population.groups or ()]
    return curves[0] if len(curves) == 1 else Curve.maximum(curves)
