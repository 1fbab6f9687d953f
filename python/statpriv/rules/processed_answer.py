"""Exact laws of answers that are processed before they are released."""

from __future__ import annotations

from types import NoneType
from typing import Any

from statpriv._native import Curve
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.contributions import contributions
from statpriv.model import noise
from statpriv.model.queries.order_statistic import OrderStatisticQuery
from statpriv.model.queries.processed import Processed
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.queries.protocol import AnswerLaws
from statpriv.model.queries.sum import Additive
from statpriv.model.samplings import OverlappingSamples, TemplateLaw, samplings_but
from statpriv.model.situation import Situation
from statpriv.rules.assumptions import INDEPENDENT, NOISE, PAPER, SAMPLED, STATED
from statpriv.rules.hidden_sample import keeps_ratios_monotone, released_totals
from statpriv.rules.order_statistic import released_order_statistics
from statpriv.rules.registry import rule
from statpriv.rules.whole_population import is_log_concave, of_stated_laws, worst


@rule(
    bound="exact",
    kind="exact",
    queries=(Processed,),
    samplings=(NoneType, *samplings_but(OverlappingSamples)),
    theorem=(
        "The two laws of the answer, with what every step does to them: answers that are published alike are one "
        "answer, and noise is convolved. Where a step does not move with the answer, known entries do more than shift "
        "it, and their worst values count."
    ),
    source=f"{PAPER}, Definition 2.3; docs/explanation/queries.md for the steps and for continuous noise",
    assumptions=(INDEPENDENT, STATED, SAMPLED, NOISE),
)
def processed(situation: Situation) -> Curve:
    """The steps act on the laws."""
    query: Any = situation.query
    asked = situation.asked
    if isinstance(asked, PropertyQuery | Additive):
        if any(isinstance(step, noise.Gaussian) for step in query.steps) and not _is_monotone(situation):
            raise NotApplicable(
                "Gaussian noise on answers whose likelihood ratio need not be monotone has no closed curve"
            )
        return released_totals(situation, query.steps)
    if isinstance(asked, OrderStatisticQuery):
        if any(isinstance(step, noise.Gaussian) for step in query.steps):
            raise NotApplicable(
                "Gaussian noise on answers whose likelihood ratio need not be monotone has no closed curve"
            )
        return released_order_statistics(situation, query.steps)
    if situation.sampling is not None:
        raise NotApplicable(f"a sample of {type(asked).__name__} has no closed law here")
    if isinstance(asked, AnswerLaws):
        return worst(of_stated_laws(situation, query.steps))
    raise NotApplicable(f"what is done to each count of a {type(asked).__name__} has no closed law here")


def _is_monotone(situation: Situation) -> bool:
    """Counts of independent entries have log-concave laws, which a sample of them keeps in ratio; so have some sums."""
    query: Any = situation.query
    if isinstance(situation.asked, PropertyQuery):
        return not isinstance(situation.sampling, TemplateLaw)
    if situation.sampling is not None:
        return False
    entries = contributions(situation)
    return keeps_ratios_monotone(query.steps, entries.lattice) and all(map(is_log_concave, entries.worlds(situation)))
