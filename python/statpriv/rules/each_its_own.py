"""Counts of entries that each have a probability of their own."""

from __future__ import annotations

from statpriv._native import Curve
from statpriv.lowering.applicability import NotApplicable
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import ends
from statpriv.model.situation import Situation
from statpriv.rules.assumptions import EACH, INDEPENDENT
from statpriv.rules.registry import rule

SOURCE = "docs/explanation/people-who-are-not-alike.md, with the proof"


@rule(
    bound="exact",
    kind="exact",
    queries=(PropertyQuery,),
    cost=9,
    theorem=(
        "Each row has its own probability, anywhere in the range. δ is convex in the law of each other entry, so the "
        "worst have the lower end or the upper one: the maximum over k of 1 + S against S, S = Bin(k, upper) + "
        "Bin(N − k, lower), for the N others that the adversary does not know. Known entries shift both by a constant. "
        "The enclosure reaches from a value that is attained to one that no k exceeds."
    ),
    source=SOURCE,
    assumptions=(INDEPENDENT, EACH),
    needs=("each",),
)
def count_of_each(situation: Situation) -> Curve:
    """The supremum over all probabilities of the other entries."""
    p = situation.asked.probability()
    if p is None:
        raise NotApplicable("the entries have probabilities by group, some of them a range of each entry's own")
    lower, upper = ends(p)
    others = situation.population.size - 1 - situation.adversary.total
    return Curve.each_in_range(others=others, lower=lower, upper=upper, pair=situation.pair)
