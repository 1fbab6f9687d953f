"""The composition theorems over a random partition, Theorems 5.1 and 5.2."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from statpriv._native import Curve
from statpriv.assumptions import DRAWN, IDENTICAL, INDEPENDENT, PAPER
from statpriv.partitions import RandomPartition
from statpriv.queries.property import PropertyQuery
from statpriv.rules.one_property import require_alike
from statpriv.rules.registry import rule
from statpriv.situation import PartitionedSituation

THRESHOLDS = 32


@rule(
    bound="partition-sum",
    kind="bound",
    queries=(PropertyQuery,),
    samplings=(RandomPartition,),
    theorem=(
        "δ(ε) ≤ Σ_k (n_k/n) · SPC_k(ε), the sampling privacy curve of part k given that it holds the critical entry "
        "(Theorem 5.2). Without known entries that is the privacy curve of n_k entries (Theorem 5.1)."
    ),
    source=f"{PAPER}, Theorems 5.1 and 5.2; known entries by the corrected Example 1",
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN),
)
def partition_sum(situation: PartitionedSituation) -> Curve:
    """The maximum over pairs stands inside the sum."""
    return _weighted_sum(situation)


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
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN),
    competes=False,
)
def threshold(situation: PartitionedSituation) -> Curve:
    """Cheap where many entries are known, and a little larger than the partition sum."""
    return _weighted_sum(situation, thresholds=THRESHOLDS)


def _weighted_sum(situation: PartitionedSituation, thresholds: int | None = None) -> Curve:
    require_alike(situation)
    parts = Counter(
        (query.lower, query.upper, size)
        for query, size in zip(situation.queries, situation.sampling.sizes, strict=True)
    )
    weights = [Fraction(count * size, situation.population.size) for (_, _, size), count in parts.items()]
    curves = [_given_the_part(situation, *part, thresholds) for part in parts]
    return Curve.mean(weights, curves)


def _given_the_part(
    situation: PartitionedSituation, lower: Fraction, upper: Fraction, size: int, thresholds: int | None = None
) -> Curve:
    """Δ̂ of a part that holds the critical entry, averaged over how many known entries it holds besides."""
    if situation.adversary.total == 0:
        return Curve.count(size=size, lower=lower, upper=upper, pair=situation.pair)
    return Curve.known_entries(
        population=situation.population.size,
        known=situation.adversary.total,
        size=size,
        lower=lower,
        upper=upper,
        pair=situation.pair,
        thresholds=thresholds,
    )
