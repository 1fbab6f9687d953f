"""The protection by random perturbation alone, against somebody who knows all other entries.

Such a reader knows every count but for the critical entry: under one value of it a count is c + 1, under the other c.
What is published for it are two laws of the perturbation, and the worst c counts.

**Several counts.** The draws of counts of different rows are independent. So are all that are published, and the two
laws are products. With H the larger of the hockey sticks over all c, in both directions, each factor is what a channel
makes of a pair that dominates H (Blackwell), and so is their product of a product of such pairs.
"""

from __future__ import annotations

from statpriv import budget
from statpriv._native import Curve, Law
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.dominating_pairs import product_of
from statpriv.lowering.postprocessing import hockey_stick
from statpriv.model.perturbations import Perturbation
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.situation import Situation
from statpriv.model.steps import Lattice
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
        "counts that an entry changes have draws of their own: a product of pairs that dominate that maximum."
    ),
    source="docs/explanation/perturbed-counts.md, with the proof",
    assumptions=(KEYS,),
    covers=("each",),
)
def perturbation_alone(situation: Situation) -> Curve:
    """The worst neighbouring counts of the perturbation, which must be the first step."""
    first, others = situation.steps[0], situation.population.size - 1
    if not isinstance(first, Perturbation):
        raise NotApplicable("the first step is no perturbation of counts")
    asked = situation.asked
    changed = asked.changed_counts(situation.pair)
    if changed is None and not asked.is_count:
        raise NotApplicable("what an entry changes is no count")
    if changed is None and situation.pair is not None:
        return worst([_of_neighbours(situation, least, situation.pair) for least in _counts(first, others, situation)])
    both = [_of_neighbours(situation, c, pair) for c in _counts(first, others, situation) for pair in ((1, 0), (0, 1))]
    one, counts = worst(both), max(map(sum, changed or [(1, 0)]), default=0)
    return worst([]) if not counts else one if counts == 1 else product_of([one] * counts)


def _counts(first: Perturbation, others: int, situation: Situation) -> range:
    """The counts of other entries that may differ; later steps may tell any two apart."""
    if len(situation.steps) > 1 and others >= budget.MAX_COUNTS_OF_A_PERTURBATION:
        raise NotApplicable(f"the {others + 1} counts before later steps are too many to be tried")
    return range(min(others + 1, first.different) if len(situation.steps) == 1 else others + 1)


def _of_neighbours(situation: Situation, least: int, pair: tuple[int, int]) -> Curve:
    laws = (Law.table(least + value, [1]) for value in pair)
    return hockey_stick(*laws, Lattice(), situation.steps)
