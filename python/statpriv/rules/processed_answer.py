"""Exact laws of answers that are processed before they are released."""

from __future__ import annotations

from statpriv._native import Curve
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.contributions import contributions
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.situation import Situation
from statpriv.model.steps import Lattice
from statpriv.rules.assumptions import INDEPENDENT, NOISE, PAPER, SAMPLED, STATED
from statpriv.rules.hidden_sample import is_one_sample, keeps_ratios_monotone, released_totals
from statpriv.rules.order_statistic import released_order_statistics
from statpriv.rules.registry import rule
from statpriv.rules.whole_population import is_log_concave, of_stated_laws, worst


@rule(
    bound="exact",
    kind="exact",
    queries=(PostProcessed,),
    sampling_with=is_one_sample,
    cost=30,
    theorem=(
        "The two laws of the answer, with what every step does to them: answers that are published alike are one "
        "answer, and noise is convolved. Where a step does not move with the answer, known entries do more than shift "
        "it, and their worst values count."
    ),
    source=f"{PAPER}, Definition 2.3; docs/explanation/queries.md for the steps and for continuous noise",
    assumptions=(INDEPENDENT, STATED, SAMPLED, NOISE),
)
def processed(situation: Situation) -> Curve:
    """The curve of the laws after all steps."""
    asked, steps = situation.asked, situation.steps
    if (asked.is_total or asked.has_rank) and any(step.is_gaussian for step in steps) and not _is_monotone(situation):
        raise NotApplicable("Gaussian noise on answers whose likelihood ratio need not be monotone has no closed curve")
    if asked.is_total:
        return released_totals(situation, steps)
    if asked.has_rank:
        return released_order_statistics(situation, steps)
    if situation.sampling is not None:
        raise NotApplicable(f"a sample of {asked.kind} has no closed law here")
    if asked.states_answers:
        return worst(of_stated_laws(situation, steps))
    raise NotApplicable(f"what is done to each count of a {asked.kind} has no closed law here")


def _is_monotone(situation: Situation) -> bool:
    """Whether likelihood ratios are monotone: for counts and their samples, by log-concavity, and for some sums."""
    asked, sampling = situation.asked, situation.sampling
    if asked.is_count:
        kept = sampling is None or sampling.keeps_counts_monotone
        return kept and keeps_ratios_monotone(situation.steps, Lattice())
    if sampling is not None or asked.has_rank:
        return False
    entries = contributions(situation)
    kept = keeps_ratios_monotone(situation.steps, entries.lattice)
    return kept and all(map(is_log_concave, entries.worlds(situation)))
