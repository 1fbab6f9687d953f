"""Several answers about the same rows whose attributes are declared independent of each other.

The counts of different attributes are then independent of each other, for each record that is compared. So the pair of
laws of all answers is the product of the pairs of the attributes, in every combination of directions. By convexity in
the law of each other row, the worst rows are at the ends of their ranges; of each attribute only the number of rows at
the upper end matters, and these numbers are independent choices.

*Small cases* try all of them: that is the exact supremum. *Large ones* replace the pair of each attribute by one that
dominates it whatever that number is, in both directions (`lowering/dominating_pairs.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod

from statpriv import budget
from statpriv._native import Curve, Law
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.dominating_pairs import product_of
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.queries.valued import Valued
from statpriv.model.ranges import ends
from statpriv.model.same_rows import Answer, SameRows, SameRowsSituation
from statpriv.model.situation import asked_of, capabilities
from statpriv.rules.assumptions import ATTRIBUTES, INDEPENDENT_ATTRIBUTES, RECORDS
from statpriv.rules.registry import rule
from statpriv.rules.same_rows import of_attribute
from statpriv.rules.whole_population import worst

_SOURCE = "docs/explanation/same-rows.md, with the proof"
_ASSUMPTIONS = (RECORDS, ATTRIBUTES, INDEPENDENT_ATTRIBUTES)
_PRODUCT = (
    "The attributes of a row are declared independent, so the laws of all answers are products of those of the "
    "attributes, in every combination of directions. "
)


@rule(
    bound="exact",
    kind="exact",
    queries=(PropertyQuery,),
    samplings=(SameRows,),
    cost=45,
    theorem=_PRODUCT + "The worst of all numbers of rows at the upper ends of the ranges, attribute by attribute.",
    source=_SOURCE,
    assumptions=_ASSUMPTIONS,
    covers=("each",),
)
def every_number_at_the_ends(situation: SameRowsSituation) -> Curve:
    """The maximum over all numbers of rows at the upper ends, and over all directions."""
    _require_independent(situation)
    others = situation.population.size - 1 - situation.adversary.total
    ranges = []
    for asked in situation.attributes.values():
        query = asked_of(asked[0].query)
        p = capabilities(query).probability()
        if p is None or Answer(query, None) not in asked:
            raise NotApplicable("an attribute has laws by group, or no unprocessed count of all rows")
        low, high = ends(p)
        if low < high and not capabilities(query).each_own:
            raise NotApplicable("all entries have the same probability, somewhere in a range")
        ranges.append((low, high))
    work = prod((2 * (others + 1) if low < high else 2) * (others + 2) for low, high in ranges)
    if work > budget.MAX_PRODUCT_ANSWERS:
        raise NotApplicable(f"about {work} answers of all laws of independent attributes are too many to try them all")
    laws = [list(_pairs(others, low, high, (others + 2) ** place)) for place, (low, high) in enumerate(ranges)]
    curves = []
    for chosen in product(*laws):
        firsts, seconds = zip(*chosen, strict=True)
        curves.append(Curve.answers(Law.sum(list(firsts)), Law.sum(list(seconds))))
    return worst(curves)


@rule(
    bound="product",
    kind="bound",
    queries=(PropertyQuery, HistogramQuery, Valued, PostProcessed),
    samplings=(SameRows,),
    cost=55,
    theorem=_PRODUCT
    + "Each pair is replaced by a finite one whose hockey stick is at least its curve everywhere, and the "
    "product of these is composed exactly.",
    source=_SOURCE,
    assumptions=_ASSUMPTIONS,
    covers=("each",),
)
def dominating_product(situation: SameRowsSituation) -> Curve:
    """The product of one dominating pair for each attribute."""
    _require_independent(situation)
    attributes = list(situation.attributes.values())
    if len(attributes) > budget.MAX_PRODUCT_FACTORS:
        raise NotApplicable(
            f"{len(attributes)} attributes are more than the {budget.MAX_PRODUCT_FACTORS} whose product is composed"
        )
    curves = {asked: of_attribute(situation, asked)[0].curve for asked in dict.fromkeys(attributes)}
    return product_of([(curves[asked], curves[asked]) for asked in attributes])  # each the larger of both directions


def _require_independent(situation: SameRowsSituation) -> None:
    if situation.sampling.protects != "row" or not situation.sampling.independent:
        raise NotApplicable("the attributes of one row are not declared independent, with the whole row protected")


def _pairs(others: int, low: Fraction, high: Fraction, place: int) -> Iterator[tuple[Law, Law]]:
    """The pairs of laws of a count in both directions, as digits of a number at this place."""
    for k in range(others + 1) if low < high else [0]:
        zero = Law.sum([Law.binomial(k, high), Law.binomial(others - k, low)])
        one, other = zero.shifted(1).scaled(place), zero.scaled(place)
        yield one, other
        yield other, one
