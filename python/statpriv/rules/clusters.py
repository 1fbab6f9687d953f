"""Counts of entries that hang together in clusters, such as households.

**Theorem.** The n entries are in at least m clusters of at most c entries each. Clusters are independent of each other,
and inside one any dependence is allowed; given the other members of its cluster each entry has the property with a
probability of its own in [a, b]. Of u known entries and N others as below,

    Δ ≤ max over 1 ≤ d ≤ c of H_r of  d + S  against  S,  both ways,    S = Bin(k, b) + Bin(N − k, a),  worst k.

*Proof.* The clusters of others do not depend on the critical one. Of each that has an unknown member, reveal all but
one such member: the last one is one with a probability in [a, b], independent of all else. Revealed entries shift the
count. Inside the critical cluster the law of the others may move with the value of the critical entry. Both laws are
mixtures over what the others are, so by joint convexity δ is at most the worst pair of two totals of the cluster, each
from 0 to c. And S is worst at the ends of the range, by convexity in each probability (`rules/each_its_own.py`). ∎

**The largest gap is the worst.** S is a sum of independent zeros and ones, so its law is log-concave, the ratio of
``d + S`` to S is monotone, and the best test is "at least t". For a larger d its power is larger and its level the
same. So d = c for a pair and its opposite. Entries with the values 1 and 0 have cluster totals that differ by 2 − c at
least and by c at most: the opposite direction counts with c − 2.

**How many clusters are left.** The n − u unknown entries are in at least ⌈(n − u)/c⌉ clusters, and u entries can fill
at most u clusters. So ``N + 1 ≥ max(⌈(n − u)/c⌉, m − u, 1)`` clusters have an unknown member, the critical one among
them. More of them never raise the bound: one may be revealed.

**How far it moves.** The other m − 1 clusters have an entry each, so the critical cluster has at most n − m + 1, and a
total from 0 to ``min(c, n − m + 1)``. For m = n entries are independent, and this is the curve of independent entries.

A count of a sample that is drawn without looking at the data, and the counts of parts that are drawn so, are random
functions of the count of all entries. What is done to a count reveals no more.

**Whole clusters.** Let whole clusters be drawn for disjoint parts, s_k of the m or more to part k. Which cluster is in
which part only helps a reader who is told it, and the critical one is in part k with probability at most s_k/m. There
the count is that of s_k clusters; every other answer has one law whatever the critical entry is. So δ is at most
Σ_k (s_k/m) of the bound for s_k clusters, whatever the parts ask (Theorem 5.2 for clusters in place of entries).
"""

from __future__ import annotations

from fractions import Fraction
from types import NoneType

from statpriv._native import Curve
from statpriv.errors import NotAvailableError
from statpriv.lowering.applicability import NotApplicable, require_no_pattern
from statpriv.model.partitions import ClusterPartition, RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.queries.protocol import Capabilities
from statpriv.model.queries.sum import Additive
from statpriv.model.ranges import ends, is_each
from statpriv.model.samplings import ClusterSample
from statpriv.model.situation import Pair, PartitionedSituation, Situation, capabilities
from statpriv.rules.assumptions import BY_CLUSTER, DRAWN, EACH_IN_CLUSTER, SAMPLED, SECRET
from statpriv.rules.data_processing import treats_entries_alike
from statpriv.rules.registry import lower, rule

_THEOREM = (
    "Of every other cluster with an unknown member all but one such member are revealed, and the critical cluster's "
    "total moves by at most the size of the largest one: δ is at most the maximum over k of c + S against S, both "
    "ways, S = Bin(k, upper) + Bin(N − k, lower), for the N other clusters that are not wholly known. "
)
_WHOLE = (
    "Of parts of whole clusters a reader may be told which clusters they are: δ is at most the sum over the parts of "
    "the chance that the critical cluster is there, times the bound for as many clusters as the part has (Theorem 5.2 "
    "for clusters): the maximum over k of c + S against S, both ways, S = Bin(k, upper) + Bin(N − k, lower)."
)
_SOURCE = "docs/explanation/households.md, with the proof"


@rule(
    bound="clusters",
    kind="bound",
    queries=(PropertyQuery,),
    sampling_with=treats_entries_alike,
    cost=25,
    theorem=_THEOREM + "The count of a sample is post-processing of the count of all entries.",
    source=_SOURCE,
    assumptions=(BY_CLUSTER, EACH_IN_CLUSTER, SAMPLED),
    covers=("each",),
    needs=("clusters",),
)
def clustered_count(situation: Situation) -> Curve:
    """The bound of the count of all entries."""
    return _count(situation.population, situation.asked, situation.adversary.total, situation.pair)


@rule(
    bound="clusters",
    kind="bound",
    queries=(Additive,),
    sampling_with=treats_entries_alike,
    cost=26,
    theorem=_THEOREM + "A sum or mean of entries with two values is a function of how many have the larger one.",
    source=_SOURCE,
    assumptions=(BY_CLUSTER, EACH_IN_CLUSTER, SAMPLED),
    covers=("each",),
    needs=("clusters",),
)
def clustered_sum(situation: Situation) -> Curve:
    """The bound of the number of entries with the larger value."""
    values = sorted(situation.asked.values_in())
    if len(values) != 2:
        raise NotApplicable("a sum of more than two values has no bound by clusters here; state a count of each value")
    pair = None if situation.pair is None else (values.index(situation.pair[0]), values.index(situation.pair[1]))
    return _count(situation.population, situation.asked, situation.adversary.total, pair)


@rule(
    bound="clusters",
    kind="bound",
    queries=(PropertyQuery,),
    samplings=(RandomPartition,),
    cost=25,
    theorem=_THEOREM + "The counts of parts of one attribute are post-processing of the count of all entries.",
    source=_SOURCE,
    assumptions=(BY_CLUSTER, EACH_IN_CLUSTER, DRAWN, SECRET),
    covers=("each",),
    needs=("clusters",),
)
def clustered_parts(situation: PartitionedSituation) -> Curve:
    """The bound of the count of all entries; a cluster may fall into several parts."""
    if not situation.one_property:
        raise NotApplicable(
            "rows of a cluster depend on each other, and parts that ask unrelated properties may each have some of them"
        )
    return _count(
        situation.population, capabilities(situation.queries[0]), situation.adversary.total, situation.one_pair
    )


@rule(
    bound="unprocessed",
    kind="bound",
    queries=(PostProcessed,),
    samplings=(NoneType, ClusterSample),
    sampling_with=treats_entries_alike,
    cost=49,
    theorem="What is done to an answer never makes it less private: at most the curve of the answer before all steps.",
    source="data processing",
    assumptions=(BY_CLUSTER, EACH_IN_CLUSTER, SAMPLED),
    covers=("each",),
    needs=("clusters",),
)
def clustered_and_processed(situation: Situation) -> Curve:
    """The bound of the unprocessed answer."""
    try:
        return lower(situation.unprocessed, "tightest").curve
    except NotAvailableError as reason:
        raise NotApplicable(f"the answer has no curve before its steps either: {reason}") from None


@rule(
    bound="clusters",
    kind="bound",
    queries=(PropertyQuery,),
    samplings=(ClusterSample,),
    cost=25,
    theorem=_WHOLE,
    source=_SOURCE,
    assumptions=(BY_CLUSTER, EACH_IN_CLUSTER, SAMPLED),
    covers=("each",),
    needs=("clusters",),
)
def sample_of_clusters(situation: Situation) -> Curve:
    """The bound of as many clusters as are drawn, times the chance that the critical one is among them."""
    drawn = None if situation.sampling is None else situation.sampling.clusters_drawn
    if drawn is None:
        raise NotApplicable("the sample is not one of whole clusters")
    return _in_parts(situation.population, [(situation.asked, drawn)], situation.adversary.total, situation.pair)


@rule(
    bound="clusters",
    kind="bound",
    queries=(PropertyQuery, PostProcessed),
    samplings=(ClusterPartition,),
    cost=25,
    theorem=_WHOLE,
    source=_SOURCE,
    assumptions=(BY_CLUSTER, EACH_IN_CLUSTER, DRAWN, SECRET),
    covers=("each",),
    needs=("clusters",),
)
def parts_of_clusters(situation: PartitionedSituation) -> Curve:
    """The sum over the parts; what is done to a count reveals no more."""
    require_no_pattern(situation)
    drawn = situation.sampling.part_clusters
    if drawn is None:
        raise NotApplicable("the parts are not those of whole clusters")
    parts = list(zip(map(capabilities, situation.queries), drawn, strict=True))
    return _in_parts(situation.population, parts, situation.adversary.total, situation.one_pair)


def _in_parts(population: Population, parts: list[tuple[Capabilities, int]], known: int, pair: Pair) -> Curve:
    """The sum over parts of so many whole clusters each."""
    clusters = population.clusters or population.size
    weights = [Fraction(size, clusters) for _, size in parts]
    curves = [_count_among(population, asked, max(size - known, 1) - 1, pair) for asked, size in parts]
    return Curve.mean(weights, curves)


def _count(population: Population, asked: Capabilities, known: int, pair: Pair) -> Curve:
    """The bound of the theorem for the number of all entries with the larger of two values."""
    return _count_among(population, asked, unknown_clusters(population, known) - 1, pair)


def _count_among(population: Population, asked: Capabilities, others: int, pair: Pair) -> Curve:
    """The same among so many other clusters that have an unknown member."""
    if population.clusters is None or population.largest_cluster is None:
        raise NotApplicable("the population has no clusters")
    law = dict(asked.law())
    if asked.each_own and not law:
        raise NotApplicable("entries have laws of their own, which clusters do not name")
    if not all(map(is_each, law.values())):
        raise NotApplicable(
            "p, or a range that all entries share, is that of an entry alone: the other members of its cluster may "
            "tell more. State the range given them, such as sp.EachBetween('0.1', '0.9')"
        )
    (of_others, at_most), (least, most) = (ends(law[value]) for value in sorted(law))
    least, most = max(least, 1 - at_most), min(most, 1 - of_others)
    moved = most_moved(population)

    def gap(size: int, direction: Pair) -> Curve:
        return Curve.each_in_range(others=others, lower=least, upper=most, gap=size, pair=direction)

    if pair is None or moved <= 2:
        return gap(moved, pair)
    return Curve.maximum([gap(moved, pair), gap(moved - 2, (pair[1], pair[0]))])


def unknown_clusters(population: Population, known: int) -> int:
    """The least number of clusters that have an unknown member, where `known` entries are known."""
    clusters, largest = population.clusters or population.size, population.largest_cluster or 1
    return max(-((known - population.size) // largest), clusters - known, 1)


def most_moved(population: Population) -> int:
    """The most entries that the critical cluster may have."""
    clusters, largest = population.clusters or population.size, population.largest_cluster or 1
    return min(largest, population.size - clusters + 1)
