"""Several answers about the same rows, each about one attribute.

Rows are independent records of attributes 1 to m, with any joint law inside a row. Given all other attributes of its
row, attribute k of a row has a law of its own in the stated ranges.

**One attribute.** Compare two records that differ in attribute k alone. Reveal all other attributes of all rows: that
lowers no δ (data processing). Given these, the values of attribute k of the other rows are independent, each with a law
in its range, and every answer about another attribute is a constant. What is left are the answers about attribute k,
functions of the values of attribute k alone: δ is at most the curve of rows that each have a law of their own, for the
n − 1 − u unknown others, whatever the number of other answers. It is attained where the attributes are independent of
each other, so the maximum over k of exact curves is exact.

The same holds where an analyst chooses each query by the answers before it: given the other attributes and the
analyst's own coins, all that is published is a function of the histogram of attribute k.

**Rows.** Records x and y that differ in everything are joined by m steps that change one attribute each, for every
order of them. Each step is the case before, in one of the two directions, so that for all ε_k ≥ 0

    Δ(ε_1 + … + ε_m) ≤ Σ_k e^{ε_1 + … + ε_{k−1}} δ_k(ε_k),

δ_k the maximum over both directions and all pairs of values. The kernel searches a split and an order
(`curve/in_turn.rs`); every one is a bound.

**Samples.** A query may be answered on a secret sample of its own, drawn without replacement. Who is in a sample
depends neither on the data nor on the other samples. So with the other attributes revealed, all that was said holds
with the curve of the hidden sample in place of that of all rows; several samples that answer about one attribute are
the overlapping samples of `lowering/sums.py`. Given the count of all rows a sample's count is hypergeometric, whatever
the laws of the rows. So where all rows answer too, samples about the same attribute add nothing.

**Households.** Rows may also be in clusters that are independent of each other, with any dependence inside; the ranges
then hold given all other attributes of the row and the whole records of the other members. Of each other cluster with
an unknown member reveal all but one such member. N independent records are left, as above. The other members of the
critical cluster may move with the critical record in all their attributes, whichever of its attributes was changed.
Both laws are mixtures over what the cluster holds, so by joint convexity δ is at most the worst pair of two clusters,
whose totals differ by at most c in every attribute. They are joined by m steps that change the total of one attribute
each. In step k the other attributes of the N records are revealed, and what is left is `rules/clusters.py`: the
inequality above holds with δ_k the bound of clusters for attribute k. It is the same bound for one attribute as for the
whole row, and for all records of a household together.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import sqrt
from typing import TypeAlias

from statpriv._native import Curve, Law
from statpriv.errors import NotAvailableError
from statpriv.lowering.applicability import NotApplicable
from statpriv.model.queries.contingency import ContingencyTable
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.queries.valued import Valued
from statpriv.model.ranges import ends
from statpriv.model.same_rows import Answer, SameRows, SameRowsSituation
from statpriv.model.samplings import OverlappingSamples, Sampling, WithoutReplacement
from statpriv.model.situation import Situation, asked_of, capabilities
from statpriv.rules.assumptions import ATTRIBUTES, BY_CLUSTER, EACH_GIVEN_THE_REST_OF_CLUSTER, RECORDS
from statpriv.rules.clusters import most_moved, unknown_clusters
from statpriv.rules.registry import Lowered, lower, rule
from statpriv.rules.whole_population import worst

Asked: TypeAlias = "tuple[Answer, ...]"
"""The answers about one attribute."""

_QUERIES = (PropertyQuery, HistogramQuery, ContingencyTable, Valued, PostProcessed)
_SOURCE = "docs/explanation/same-rows.md, with the proof"
_ATTRIBUTE = (
    "Two records that differ in one attribute, whose others may be known: with the other attributes of all rows "
    "revealed, all answers about others are constants. The maximum over the attributes of the curve of rows "
    "that each have a law of their own in the range, whatever the number of answers, also where each query is chosen "
    "by the answers before it."
)


@rule(
    bound="exact",
    kind="exact",
    queries=_QUERIES,
    samplings=(SameRows,),
    cost=10,
    theorem=_ATTRIBUTE + " Attributes that are independent of each other attain it.",
    source=_SOURCE,
    assumptions=(RECORDS, ATTRIBUTES),
    covers=("each",),
)
def worst_attribute(situation: SameRowsSituation) -> Curve:
    """The largest curve of an attribute, if all are exact."""
    found = _by_attribute(situation)
    if not all(is_exact for _, is_exact in found.values()):
        raise NotApplicable("several processed answers about one attribute, or one of them, have no exact curve here")
    return worst([lowered.curve for lowered, _ in found.values()])


@rule(
    bound="one-attribute",
    kind="bound",
    queries=_QUERIES,
    samplings=(SameRows,),
    cost=50,
    theorem=_ATTRIBUTE + " Several answers about one attribute are functions of its count, or of its histogram.",
    source=_SOURCE,
    assumptions=(RECORDS, ATTRIBUTES),
    covers=("each",),
)
def bounded_attribute(situation: SameRowsSituation) -> Curve:
    """The largest bound of an attribute."""
    return worst([lowered.curve for lowered, _ in _by_attribute(situation).values()])


@rule(
    bound="in-turn",
    kind="bound",
    queries=_QUERIES,
    samplings=(SameRows,),
    cost=52,
    theorem=(
        "Two records that differ in everything are joined by steps that change one attribute each: "
        "Δ(ε_1 + … + ε_m) ≤ Σ_k e^{ε_1 + … + ε_{k−1}} δ_k(ε_k), δ_k the curve of one attribute with the others "
        "revealed, the larger of both directions. The split of ε and the order are the best that a "
        "search finds; any is a bound."
    ),
    source=_SOURCE,
    assumptions=(RECORDS, ATTRIBUTES),
    covers=("each",),
)
def attributes_in_turn(situation: SameRowsSituation) -> Curve:
    """One attribute after the other."""
    if situation.sampling.protects != "row":
        raise NotApplicable("one attribute is protected, not the whole row")
    return _in_turn(situation)


@rule(
    bound="in-turn",
    kind="bound",
    queries=(PropertyQuery, Valued, PostProcessed),
    samplings=(SameRows,),
    cost=53,
    theorem=(
        "Two households differ by at most the size of the largest one in the total of every attribute, whatever of the "
        "critical row was changed. They are joined by steps that change one total each: "
        "Δ(ε_1 + … + ε_m) ≤ Σ_k e^{ε_1 + … + ε_{k−1}} δ_k(ε_k), δ_k the bound of clusters for one attribute with the "
        "others revealed, the larger of both directions. The split of ε and the order are the best that a search finds."
    ),
    source=_SOURCE,
    assumptions=(BY_CLUSTER, EACH_GIVEN_THE_REST_OF_CLUSTER),
    needs=("each", "clusters"),
)
def totals_of_households_in_turn(situation: SameRowsSituation) -> Curve:
    """One total after the other, whether a row is protected or an attribute of it."""
    return _in_turn(situation)


def _in_turn(situation: SameRowsSituation) -> Curve:
    """The chain of one step for each attribute, those with equal laws as one kind."""
    kinds = Counter(situation.attributes.values())
    curves = [of_attribute(situation, asked)[0].curve for asked in kinds]
    guides = [guide(situation, asked, curve) for asked, curve in zip(kinds, curves, strict=True)]
    return Curve.in_turn(curves=curves, guides=guides, counts=list(kinds.values()))


def _by_attribute(situation: SameRowsSituation) -> dict[Asked, tuple[Lowered, bool]]:
    """The curve of each different attribute, and whether it is exact."""
    if situation.sampling.protects == "row" and len(situation.attributes) > 1:
        raise NotApplicable("a row of several attributes is protected, not one of them")
    return {asked: of_attribute(situation, asked) for asked in dict.fromkeys(situation.attributes.values())}


def of_attribute(situation: SameRowsSituation, asked: Asked) -> tuple[Lowered, bool]:
    """The curve of all answers about one attribute, and whether it is exact.

    One answer has the curve of its own. Several of all rows are functions of the unprocessed one, which they determine
    if it is one of them; several of samples are functions of the unprocessed answers of these samples.
    """
    of_all_rows = [answer.query for answer in asked if answer.sample is None]
    answers = of_all_rows or [answer.query for answer in asked]
    query = answers[0] if len(asked) == 1 else asked_of(answers[0])
    sampling = None if of_all_rows else _samples([answer.sample for answer in asked if answer.sample is not None])
    try:
        lowered = lower(Situation(query, situation.population, sampling, situation.adversary), "tightest")
    except NotAvailableError as reason:
        raise NotApplicable(f"one attribute has no curve: {reason}") from None
    determined = query in answers if of_all_rows else all(answer == query for answer in answers)
    return lowered, lowered.kind == "exact" and determined


def _samples(sizes: list[int]) -> Sampling:
    return WithoutReplacement(sizes[0]) if len(sizes) == 1 else OverlappingSamples(sizes)


def guide(situation: SameRowsSituation, asked: Asked, curve: Curve) -> Curve:
    """A curve of about the same size that costs little: of a count that of one probability for all.

    A total that moves by c, of many clusters, is about as private as with normal noise of the same variance.
    """
    p = capabilities(asked[0].query).probability()
    if p is None:
        return curve
    low, high = ends(p)
    population, known = situation.population, situation.adversary.total
    unknown, moved = unknown_clusters(population, known), most_moved(population)
    variance = unknown * min(low * (1 - low), high * (1 - high))
    if moved == 1 or variance == 0:
        return Curve.count(size=unknown, lower=low, upper=high, pair=None)
    nobody = Law.binomial(0, Fraction(0))
    return Curve.smoothed(nobody.shifted(moved), nobody, gaussian_sigma=Fraction(sqrt(variance)))
