"""Exact tables whose cells have declared probabilities, or ranges of them: the number of entries protects.

What is published is a function of the counts of all possible cells, whatever the gate, the ladder or the tree: data
processing. So δ is at most the curve of that histogram. With a public classification everybody knows the class of each
entry, the counts of other classes do not depend on the critical one, and the histogram of its own class is what
matters: that of n_b entries, of which u are known. Laws may differ between classes, and, where ranges are each entry's
own (:class:`statpriv.EachBetween`), between entries.
"""

from __future__ import annotations

from typing import Any, cast

from statpriv._native import Curve
from statpriv.errors import NotAvailableError
from statpriv.lowering.applicability import NotApplicable
from statpriv.model.adversaries import Adversary
from statpriv.model.populations import Population
from statpriv.model.queries.contingency import ContingencyTable
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.ranges import Stated
from statpriv.model.situation import Situation
from statpriv.rules.assumptions import INDEPENDENT, STATED
from statpriv.rules.registry import lower, rule
from statpriv.rules.whole_population import worst


@rule(
    bound="ranges",
    kind="bound",
    queries=(ContingencyTable,),
    cost=13,
    theorem=(
        "What is published is a function of the counts of all cells, whether or not it is withheld or refined: at most "
        "the curve of their histogram, for the declared probabilities of the cells or all in their ranges. With a "
        "public classification that of the critical entry's own class, the worst of all."
    ),
    source="docs/explanation/minimum-counts.md; docs/explanation/ranges.md, with the proof",
    assumptions=(INDEPENDENT, STATED),
    covers=("each",),
)
def table_of_ranges(situation: Situation) -> Curve:
    """The histogram of the smallest class, or of the one with the widest ranges."""
    query = cast("ContingencyTable", situation.query)
    if query.p is None:
        raise NotApplicable("no probabilities are declared for the cells")
    sizes = dict(situation.population.groups or ())
    if sizes and set(sizes) != set(query.classes):
        raise NotApplicable("the population has groups that are no classes of a public classification (by=)")
    if query.classes and not sizes:
        raise NotApplicable(
            f"the number of entries of each class of {query.by!r} protects; state them as the groups of the population"
        )
    of_class: dict[str | None, dict[Any, Stated]] = {}
    for cell, share in zip(query.cells, query.p, strict=True):
        of_class.setdefault(query.class_of(cell), {})[cell] = share
    curves = [
        _histogram(situation, own, situation.population.size if own is None else sizes[own], shares)
        for own, shares in of_class.items()
        if len(shares) > 1 and (situation.pair is None or set(situation.pair) <= set(shares))
    ]
    return worst(curves)


def _histogram(situation: Situation, own: str | None, size: int, shares: dict[Any, Stated]) -> Curve:
    adversary = situation.adversary
    known = adversary.known_in(own) if adversary.by_group else adversary.total
    pair = situation.pair
    if pair is not None:
        first, second = map(list(shares).index, pair)
        pair = first, second
    inner = Situation(
        HistogramQuery([*shares.values()]),
        Population(size),
        None,
        Adversary(known=min(known, size - 1), values=adversary.values),
        pair,
    )
    try:
        return lower(inner, "tightest").curve
    except NotAvailableError as reason:
        raise NotApplicable(f"the histogram of the cells: {reason}") from None
