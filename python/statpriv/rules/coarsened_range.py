"""Counts that are rounded, top-coded or suppressed, over a range of p."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from statpriv import budget
from statpriv._native import Curve
from statpriv.lowering.applicability import NotApplicable
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import ends
from statpriv.model.situation import Situation
from statpriv.model.steps import Answer, Step
from statpriv.rules.assumptions import IDENTICAL, INDEPENDENT, PAPER
from statpriv.rules.data_processing import require_no_gate
from statpriv.rules.hidden_sample import released_totals
from statpriv.rules.registry import rule


@rule(
    bound="exact",
    kind="exact",
    queries=(PostProcessed,),
    cost=15,
    theorem=(
        "Where answers are published alike in intervals, the likelihood ratio stays monotone, and the supremum over a "
        "range of p is attained at one of its ends, or at the peak of the first or the last of the tests between "
        "intervals whose peak lies in the range. Known entries shift the intervals; the worst of their values."
    ),
    source=f"{PAPER}, Definition 2.3; the theorem on coarsened counts in docs/explanation/ranges.md",
    assumptions=(INDEPENDENT, IDENTICAL),
)
def coarsened_count(situation: Situation) -> Curve:
    """The exact law of the published answer at the ends of the range; peaks between them."""
    p = situation.asked.probability()
    if p is None or not situation.asked.has_ranges:
        raise NotApplicable("p is no range, or a range by group")
    require_no_gate(situation.query)
    known = situation.adversary.total
    if known and situation.adversary.values != "worst":
        raise NotApplicable("known entries with expected values have no closed supremum over a range of p here")
    unknown = situation.population.size - known
    tests = _tests(situation.steps, situation.population.size)
    lower, upper = ends(p)
    at_the_ends = [_at(situation, end) for end in (lower, upper)]
    between = {tuple(j - ones for j in tests if 0 <= j - ones < unknown) for ones in range(known + 1)}
    peaks = [
        Curve.peaks(size=unknown, tests=those, lower=lower, upper=upper, pair=situation.pair)
        for those in sorted(between)
    ]
    return Curve.maximum([*at_the_ends, *peaks])


def _at(situation: Situation, p: Fraction) -> Curve:
    """The curve of one probability."""
    one = replace(situation, query=PostProcessed(PropertyQuery(p), *situation.steps))
    return released_totals(one, situation.steps)


def _tests(steps: Sequence[Step], size: int) -> list[int]:
    """The last answers of all intervals that are published alike, but the last one."""
    if size >= budget.MAX_PROCESSED_ANSWERS:
        raise NotApplicable(f"the {size + 1} possible answers are too many to be published one by one")
    published: list[object] = []
    for count in range(size + 1):
        answer: Answer = count
        for step in steps:
            if not step.is_function:
                raise NotApplicable("noise over a range of p has no closed supremum here")
            answer = step.published_for(answer)
        published.append(answer)
    tests = [j for j in range(size) if published[j] != published[j + 1]]
    if len(set(published)) <= len(tests):
        raise NotApplicable("answers that are published alike do not follow each other")
    return tests
