"""The composition theorems over a random partition, Theorems 5.1 and 5.2."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from statpriv._native import Curve
from statpriv.queries.property import PropertyQuery
from statpriv.rules.one_property import DRAWN, IDENTICAL, INDEPENDENT
from statpriv.rules.registry import NotApplicable, rule
from statpriv.situation import Situation

THRESHOLDS = 32
PAPER = "Breutigam and Reischuk, Parallel Composition for Statistical Privacy"


@rule(
    bound="partition-sum",
    kind="bound",
    theorem=(
        "δ(ε) ≤ Σ_k (n_k/n) · SPC_k(ε), the sampling privacy curve of part k given that it holds the critical entry "
        "(Theorem 5.2). Without known entries that is the privacy curve of n_k entries (Theorem 5.1)."
    ),
    source=f"{PAPER}, Theorems 5.1 and 5.2; known entries by the corrected Example 1",
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN),
)
def partition_sum(situation: Situation) -> Curve:
    """The maximum over pairs stands inside the sum."""
    return _weighted_sum(situation)


@rule(
    bound="threshold",
    kind="bound",
    theorem=(
        "The sum of Theorem 5.2 with each sampling privacy curve replaced by its threshold bound: the curve does not "
        "fall with the number of known entries in the part, so its value at the next larger of "
        f"{THRESHOLDS} thresholds bounds it."
    ),
    source=f"{PAPER}, Example 1, with several thresholds",
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN),
    competes=False,
)
def threshold(situation: Situation) -> Curve:
    """Cheap where many entries are known, and a little larger than the partition sum."""
    return _weighted_sum(situation, thresholds=THRESHOLDS)


@rule(
    bound="spc",
    kind="bound",
    theorem=(
        "The sampling privacy curve: the mean over the templates that hold the critical entry of the curve of the "
        "answer given the template. What is released leaks less than this, by the chance of being in the sample: see "
        "partition-sum."
    ),
    source=f"{PAPER}, Definition 3.3 and Example 1, corrected",
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN),
    competes=False,
)
def sampling_privacy_curve(situation: Situation) -> Curve:
    """Definition 3.3, given that the critical entry is in the sample."""
    if len(situation.queries) > 1:
        raise NotApplicable("the sampling privacy curve is defined for one sample")
    query: PropertyQuery = situation.queries[0]
    return _given_the_part(situation, query.lower, query.upper, situation.sampling.sizes[0])


def _weighted_sum(situation: Situation, thresholds: int | None = None) -> Curve:
    parts = Counter(
        (query.lower, query.upper, size)
        for query, size in zip(situation.queries, situation.sampling.sizes, strict=True)
    )
    weights = [Fraction(count * size, situation.population.size) for (_, _, size), count in parts.items()]
    curves = [_given_the_part(situation, *part, thresholds) for part in parts]
    return Curve.mean(weights, curves)


def _given_the_part(
    situation: Situation, lower: Fraction, upper: Fraction, size: int, thresholds: int | None = None
) -> Curve:
    """Δ̂ of a part that holds the critical entry, averaged over how many known entries it holds besides."""
    if situation.adversary.known == 0:
        return Curve.count(size=size, lower=lower, upper=upper, pair=situation.pair)
    return Curve.known_entries(
        population=situation.population.size,
        known=situation.adversary.known,
        size=size,
        lower=lower,
        upper=upper,
        pair=situation.pair,
        thresholds=thresholds,
    )
