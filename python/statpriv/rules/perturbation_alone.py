"""The protection by random perturbation alone, against somebody who knows all other entries.

Such a reader knows every count but for the critical entry: under one value of it a count is c + 1, under the other c.
What is published for it are two laws of the perturbation, and the worst c counts.

**Several counts.** The draws of counts of different rows are independent. So are all that are published, and the two
laws are products. With H the largest hockey stick of c + 1 against c, and H' of c against c + 1, each factor is what a
channel makes of a pair that dominates H in one direction and H' in the other (Blackwell), and so is their product of a
product of such pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

from statpriv import budget
from statpriv._native import Curve, Law
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.dominating_pairs import product_of
from statpriv.lowering.postprocessing import hockey_stick
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.situation import Pair, Situation
from statpriv.model.steps import Lattice, Step
from statpriv.rules.assumptions import KEYS
from statpriv.rules.data_processing import draws_an_entry_once
from statpriv.rules.registry import rule
from statpriv.rules.whole_population import worst


@rule(
    bound="noise",
    kind="bound",
    queries=(PostProcessed,),
    sampling_with=draws_an_entry_once,
    cost=56,
    theorem=(
        "Somebody who knew all other entries would still not know what is drawn for a count: at most the larger of the "
        "hockey sticks between the laws of what is published for two neighbouring counts, over all counts. Several "
        "counts that an entry changes have draws of their own: a product of pairs that dominate all neighbours."
    ),
    source="docs/explanation/perturbed-counts.md, with the proof",
    assumptions=(KEYS,),
    covers=("each",),
)
def perturbation_alone(situation: Situation) -> Curve:
    """The worst neighbouring counts of the perturbation, which must be the first step."""
    different, others = situation.steps[0].different_counts, situation.population.size - 1
    if different is None:
        raise NotApplicable("the first step is no perturbation of counts")
    asked = situation.asked
    changed = asked.changed_counts(situation.pair)
    if changed is None and not asked.is_count:
        raise NotApplicable("what an entry changes is no count")
    counts = range(others + 1) if len(situation.steps) > 1 else range(min(others + 1, different))
    if len(counts) > budget.MAX_COUNTS_OF_A_PERTURBATION:
        raise NotApplicable(f"the {len(counts)} counts that may be told apart are too many to be tried one by one")
    joined, left = (
        worst([_of_neighbours(count, pair, situation.steps) for count in counts]) for pair in ((1, 0), (0, 1))
    )
    if changed is None:
        return worst([joined, left] if situation.pair is None else [joined if situation.pair == (1, 0) else left])
    return worst([_product(joined, left, *numbers) for numbers in changed if any(numbers)])


def _product(joined: Curve, left: Curve, first: int, second: int) -> Curve:
    """So many counts that the entry is in under the first value alone, and under the second alone."""
    if first + second == 1:
        return joined if first else left
    return product_of([(joined, left)] * first + [(left, joined)] * second)


def _of_neighbours(count: int, pair: Pair, steps: Sequence[Step]) -> Curve:
    """The count with the first value of the critical entry against the count with the second."""
    first, second = (Law.table(count + value, [1]) for value in pair or ())
    return hockey_stick(first, second, Lattice(), steps)
