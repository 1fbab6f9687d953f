"""Counts that are rounded, top-coded or suppressed, over a range of p."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from statpriv._native import Curve
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.postprocessing import MOST_TABULATED
from statpriv.model import noise
from statpriv.model.queries.processed import Processed
from statpriv.model.queries.property import Between, PropertyQuery
from statpriv.model.situation import Situation
from statpriv.rules.assumptions import IDENTICAL, INDEPENDENT, PAPER
from statpriv.rules.data_processing import require_no_gate
from statpriv.rules.hidden_sample import released_totals
from statpriv.rules.registry import rule


@rule(
    bound="exact",
    kind="exact",
    queries=(Processed,),
    theorem=(
        "Where answers are published alike in intervals, the likelihood ratio stays monotone, and the supremum over a "
        "range of p is attained at one of its ends, or at the peak of the first or the last of the tests between "
        "intervals whose peak lies in the range. Known entries shift the intervals; the worst of their values."
    ),
    source=f"{PAPER}, Definition 2.3; the theorem on coarsened counts in docs/explanation/ranges.md",
    assumptions=(INDEPENDENT, IDENTICAL),
)
def coarsened_count(situation: Situation) -> Curve:
    """At the ends the exact law of what is published; between them peaks."""
    query: Any = situation.query
    asked: Any = situation.asked
    if not isinstance(asked, PropertyQuery) or not asked.is_uniform or not isinstance(asked.p, Between):
        raise NotApplicable("p is no range, or a range by group")
    require_no_gate(query)
    known = situation.adversary.total
    if known and situation.adversary.values != "worst":
        raise NotApplicable("known entries with expected values have no closed supremum over a range of p here")
    unknown = situation.population.size - known
    tests = _tests(query, situation.population.size)
    at_the_ends = [_at(situation, query, p) for p in (asked.lower, asked.upper)]
    between = {tuple(j - ones for j in tests if 0 <= j - ones < unknown) for ones in range(known + 1)}
    peaks = [
        Curve.peaks(size=unknown, tests=those, lower=asked.lower, upper=asked.upper, pair=situation.pair)
        for those in sorted(between)
    ]
    return Curve.maximum([*at_the_ends, *peaks])


def _at(situation: Situation, query: Processed, p: Fraction) -> Curve:
    """The curve of one probability."""
    one = replace(situation, query=Processed(PropertyQuery(p), *query.steps))
    return released_totals(one, query.steps)


def _tests(query: Processed, size: int) -> list[int]:
    """The last answers of all intervals that are published alike, but the last one."""
    if size >= MOST_TABULATED:
        raise NotApplicable(f"the {size + 1} possible answers are too many to be published one by one")
    published: list[object] = []
    for count in range(size + 1):
        answer: Any = count
        for step in query.steps:
            if isinstance(step, noise.Noise):
                raise NotApplicable("noise over a range of p has no closed supremum here")
            answer = step.apply(answer)
        published.append(answer)
    tests = [j for j in range(size) if published[j] != published[j + 1]]
    if len(set(published)) <= len(tests):
        raise NotApplicable("answers that are published alike do not follow each other")
    return tests
