"""The composition theorems over a secret partition, Theorems 5.1 and 5.2."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

from statpriv._native import Curve, Law
from statpriv.adversaries import Adversary
from statpriv.assumptions import DRAWN, INDEPENDENT, PAPER, STATED
from statpriv.errors import NotAvailableError
from statpriv.partitions import MultinomialPartition, RandomPartition
from statpriv.parts import values_of
from statpriv.populations import Population
from statpriv.queries.histogram import HistogramQuery
from statpriv.queries.processed import Processed
from statpriv.queries.property import PropertyQuery
from statpriv.queries.protocol import AnswerLaws
from statpriv.queries.valued import Valued
from statpriv.queries.variants import of_groups, unlabelled
from statpriv.rules.gated_count import gated
from statpriv.rules.histogram_range import histogram_with_known
from statpriv.rules.one_property import require_alike
from statpriv.rules.registry import NotApplicable, lower, rule
from statpriv.situation import PartitionedSituation, Query, Situation, asked_of, gate_for_every_p

THRESHOLDS = 32
QUERIES = (PropertyQuery, HistogramQuery, Valued, Processed, AnswerLaws)
ASSUMPTIONS = (INDEPENDENT, STATED, DRAWN)


@rule(
    bound="partition-sum",
    kind="bound",
    queries=QUERIES,
    samplings=(RandomPartition,),
    theorem=(
        "δ(ε) ≤ Σ_k (n_k/n) · SPC_k(ε), the sampling privacy curve of part k given that it holds the critical entry "
        "(Theorem 5.2). Without known entries that is the privacy curve of n_k entries (Theorem 5.1)."
    ),
    source=f"{PAPER}, Theorems 5.1 and 5.2; known entries by the corrected Example 1",
    assumptions=ASSUMPTIONS,
)
def partition_sum(situation: PartitionedSituation) -> Curve:
    """The maximum over pairs stands inside the sum."""
    partition: Any = situation.sampling
    if partition.strata is not None:
        return _stratified_sum(situation)
    if situation.adversary.total:
        return _sum_with_known(situation)
    n, parts = situation.population.size, Counter(zip(situation.queries, partition.sizes, strict=True))
    if any(not _is_uniform(query) for query, _ in parts):
        raise NotApplicable(
            "entries with different laws are composed in this version only where the partition is stratified by group"
        )
    curves = [_of_part(query, Population(size), situation) for query, size in parts]
    return Curve.mean([Fraction(count * size, n) for (_, size), count in parts.items()], curves)


@rule(
    bound="partition-sum",
    kind="bound",
    queries=(PropertyQuery,),
    samplings=(MultinomialPartition,),
    theorem=(
        "δ(ε) ≤ Σ_k w_k · E[Δ_{1+Bin(n−1, w_k)}(ε)]: given that part k holds the critical entry, its size is one more "
        "than the number of the others that it holds (Theorem 5.2)."
    ),
    source=f"{PAPER}, Theorem 5.2, with multinomial assignment",
    assumptions=ASSUMPTIONS,
)
def multinomial_sum(situation: PartitionedSituation) -> Curve:
    """The mean over the sizes of the parts, also where they are not published: that is post-processing."""
    require_alike(situation)
    if situation.adversary.total:
        raise NotApplicable("known entries in parts of random sizes are not composed in this version")
    n, partition = situation.population.size, situation.sampling
    weights: Any = partition.weights if isinstance(partition, MultinomialPartition) else ()
    parts = Counter(zip(situation.queries, weights, strict=True))
    curves = []
    for query, weight in parts:
        asked: Any = query
        curves.append(
            Curve.irrelevant_entries(
                size=n, others=n - 1, irrelevant=1 - weight, lower=asked.lower, upper=asked.upper, pair=situation.pair
            )
        )
    return Curve.mean([count * weight for (_, weight), count in parts.items()], curves)


@rule(
    bound="threshold",
    kind="bound",
    queries=(PropertyQuery,),
    samplings=(RandomPartition,),
    theorem=(
        "The sum of Theorem 5.2 with each sampling privacy curve replaced by its threshold bound: the curve does not "
        "fall with the number of known entries in the part, so its value at the next larger of "
        f"{THRESHOLDS} thresholds bounds it."
    ),
    source=f"{PAPER}, Example 1, with several thresholds",
    assumptions=ASSUMPTIONS,
    competes=False,
)
def threshold(situation: PartitionedSituation) -> Curve:
    """Cheap where many entries are known, and a little larger than the partition sum."""
    partition: Any = situation.sampling
    if partition.strata is not None:
        raise NotApplicable("a stratified partition has no threshold bound in this version")
    return _sum_with_known(situation, thresholds=THRESHOLDS)


def _sum_with_known(situation: PartitionedSituation, thresholds: int | None = None) -> Curve:
    """Δ̂ of a part that holds the critical entry, averaged over how many known entries it holds besides."""
    partition: Any = situation.sampling
    asked = tuple(_counted(query) for query in situation.queries)
    require_alike(replace(situation, queries=asked))
    sizes = partition.sizes if isinstance(partition, RandomPartition) else ()
    published = [gate.counts if (gate := gate_for_every_p(query)) else None for query in situation.queries]
    parts = Counter(zip(map(unlabelled, asked), published, sizes, strict=True))
    curves = [_with_known(situation, *part, thresholds) for part in parts]
    n = situation.population.size
    return Curve.mean([Fraction(count * size, n) for (_, _, size), count in parts.items()], curves)


def _counted(query: Query) -> PropertyQuery | HistogramQuery:
    """The count before it is processed, which reveals no more."""
    asked: object = asked_of(query)
    if isinstance(asked, PropertyQuery) or (isinstance(asked, HistogramQuery) and asked.has_ranges):
        return asked
    raise NotApplicable("known entries are composed here for counts of properties, and histograms with ranges, only")


def _with_known(
    situation: PartitionedSituation,
    query: PropertyQuery | HistogramQuery,
    published: range | None,
    size: int,
    thresholds: int | None,
) -> Curve:
    n, known, pair = situation.population.size, situation.adversary.total, situation.pair
    if isinstance(query, HistogramQuery):
        if pair is not None:
            raise NotApplicable("a histogram with ranges and known entries is composed for the worst pair only")
        return histogram_with_known(query, n, known, size)
    if published is not None:
        return gated(n, known, size, published, pair)
    if not known:
        return Curve.count(size=size, lower=query.lower, upper=query.upper, pair=pair)
    return Curve.known_entries(
        population=n, known=known, size=size, lower=query.lower, upper=query.upper, pair=pair, thresholds=thresholds
    )


def _stratified_sum(situation: PartitionedSituation) -> Curve:
    """The critical entry in the worst group; of each part the worst entry."""
    if situation.adversary.total:
        raise NotApplicable("known entries in a stratified partition are not composed in this version")
    partition: Any = situation.sampling
    parts = Counter(zip(situation.queries, partition.strata, strict=True))
    curves = [_of_stratum(query, {name: size for name, size in part if size}, situation) for query, part in parts]
    of_groups = []
    for name, size in situation.population.groups or ():
        weights = [Fraction(count * dict(part).get(name, 0), size) for (_, part), count in parts.items()]
        present = [(weight, curve) for weight, curve in zip(weights, curves, strict=True) if weight]
        of_groups.append(Curve.mean([weight for weight, _ in present], [curve for _, curve in present]))
    return of_groups[0] if len(of_groups) == 1 else Curve.maximum(of_groups)


def _of_stratum(query: Query, present: dict[str, int], situation: PartitionedSituation) -> Curve:
    pair = situation.pair
    if pair is not None and not any(set(pair) <= set(values_of(query, name)) for name in present):
        certain = Law.table(0, [1])
        return Curve.answers(certain, certain)  # no entry of the part has both values
    return _of_part(query, Population(groups=present), situation)


def _of_part(query: Query, population: Population, situation: PartitionedSituation) -> Curve:
    """The curve of the part given that it holds the critical entry."""
    if population.groups is not None:
        query = of_groups(query, [name for name, _ in population.groups])
    try:
        return lower(Situation(query, population, None, Adversary(), situation.pair), "tightest").curve
    except NotAvailableError as error:
        raise NotApplicable(f"a part has no curve: {error}") from None


def _is_uniform(query: Query) -> bool:
    asked = asked_of(query)
    return bool(getattr(asked, "is_uniform", True))
