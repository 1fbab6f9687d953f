"""The exact law of an order statistic: of all entries or of a sample, with groups and known entries."""

from __future__ import annotations

from statpriv._native import Curve
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.order_statistics import ordered_alternatives
from statpriv.lowering.postprocessing import hockey_stick
from statpriv.model.queries.order_statistic import OrderStatisticQuery
from statpriv.model.situation import Situation
from statpriv.model.steps import Step
from statpriv.rules.assumptions import INDEPENDENT, PAPER, SAMPLED, STATED
from statpriv.rules.hidden_sample import is_one_sample, over_known_values
from statpriv.rules.registry import rule
from statpriv.rules.whole_population import worst


@rule(
    bound="exact",
    kind="exact",
    queries=(OrderStatisticQuery,),
    sampling_with=is_one_sample,
    cost=30,
    theorem=(
        "The r-th smallest of the entries that answer is at most x if and only if at least r of them are: the law of a "
        "count for each x, and a mixture over the size of a sample that is random. The worst group, the worst (or the "
        "mean over all) values of the known entries, and the worst pair of values."
    ),
    source=f"{PAPER}, Definition 2.3, for a monotone query; docs/explanation/samples.md for the counts of a sample",
    assumptions=(INDEPENDENT, STATED, SAMPLED),
)
def order_statistic(situation: Situation) -> Curve:
    """From the laws of counts."""
    return released_order_statistics(situation)


def released_order_statistics(situation: Situation, steps: tuple[Step, ...] = ()) -> Curve:
    """The worst pair of values in the worst world, for an order statistic after all steps."""
    if steps and situation.sampling is not None and situation.sampling.independent_rate is not None:
        raise NotApplicable("an order statistic that a sample may be too small for is not always a number")
    lattice, worlds = ordered_alternatives(situation, labelled=not steps)
    curves = []
    for world in worlds:
        for v, w in world.pairs:
            cases = [(weight, hockey_stick(laws[v], laws[w], lattice, steps)) for weight, laws in world.known]
            curves.append(over_known_values(cases, situation))
    return worst(curves)
