"""Counts that are published only within a gate: a bound for every probability."""

from __future__ import annotations

from statpriv._native import Curve
from statpriv.lowering.applicability import NotApplicable
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.situation import Pair, Situation, gate_of
from statpriv.rules.assumptions import ALIKE, INDEPENDENT
from statpriv.rules.registry import rule
from statpriv.rules.whole_population import worst

THEOREM = (
    "A count that is published only within the gate [A1, A2] has δ ≤ max(h_{A1−1}, h_{A2}), h_j the greatest advantage "
    'of the test "answer ≥ j+1" over all p; for the other pair the same of the answers counted from above. This is for '
    "every p, whether or not the declared range holds. Steps after the gate are data processing; known entries shift "
    "the count, with their worst values."
)
SOURCE = "docs/explanation/ranges.md, with the proof"


@rule(
    bound="gate",
    kind="bound",
    queries=(PostProcessed,),
    cost=52,
    theorem=THEOREM,
    source=SOURCE,
    assumptions=(INDEPENDENT, ALIKE),
)
def gated_count(situation: Situation) -> Curve:
    """The maximum of at most four heights."""
    gate = gate_of(situation.query)
    if gate is None:
        raise NotApplicable("the first step is no gate on a count of entries with one law")
    n, known = situation.population.size, situation.adversary.total
    return gated(n, known, n, gate.counts, situation.pair)


def gated(population: int, known: int, size: int, counts: range, pair: Pair) -> Curve:
    """The curve for a sample of `size` with the critical entry; `known` of the population's other entries are known."""
    if not counts or counts[0] > size:
        return worst([])  # nothing is ever published
    return Curve.gated_count(
        population=population, known=known, size=size, least=counts[0], most=min(counts[-1], size), pair=pair
    )
