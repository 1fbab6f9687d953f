"""Bounds by data processing: what is released is a function of something whose curve is known."""

from __future__ import annotations

from dataclasses import replace
from types import NoneType
from typing import Any

from statpriv import noise
from statpriv._native import Curve, Law
from statpriv.answers import hockey_stick
from statpriv.assumptions import INDEPENDENT, NOISE, PAPER, SAMPLED, STATED
from statpriv.entries import Lattice, contributions
from statpriv.errors import NotAvailableError
from statpriv.queries.histogram import HistogramQuery
from statpriv.queries.linear import LinearQuery
from statpriv.queries.order_statistic import OrderStatisticQuery
from statpriv.queries.processed import Processed
from statpriv.queries.property import Between, PropertyQuery
from statpriv.queries.sum import Additive
from statpriv.rules.histogram_range import histogram_of_ranges
from statpriv.rules.registry import NotApplicable, lower, rule
from statpriv.rules.whole_population import worst
from statpriv.samplings import Stratified, TemplateLaw, samplings_but
from statpriv.situation import Query, Situation, gate_for_every_p


@rule(
    bound="total-count",
    kind="bound",
    queries=(PropertyQuery,),
    samplings=(NoneType, *samplings_but(TemplateLaw)),
    theorem=(
        "Counts of a sample are post-processing of the counts of all entries, group by group, so their privacy curve "
        "is at most that of the critical entry's group over the entries the adversary does not know."
    ),
    source="data processing",
    assumptions=(INDEPENDENT, STATED, SAMPLED),
)
def total_count(situation: Situation) -> Curve:
    """Δ of the group's own total; of all entries where they have one law."""
    return _own_count(situation)


@rule(
    bound="own-group",
    kind="bound",
    queries=(PropertyQuery, LinearQuery),
    theorem=(
        "The answer is a function of the counts of the single groups (or of entries in the same counts), and those of "
        "groups without the critical entry do not depend on it: at most the curve of the count of its own group."
    ),
    source="data processing; for a range, the theorem on peak heights in docs/explanation/ranges.md",
    assumptions=(INDEPENDENT, STATED),
)
def own_group(situation: Situation) -> Curve:
    """The worst group, of which all known entries are."""
    return _own_count(situation)


@rule(
    bound="total-histogram",
    kind="bound",
    queries=(Additive, OrderStatisticQuery, HistogramQuery),
    samplings=(NoneType, *samplings_but(TemplateLaw)),
    theorem=(
        "A symmetric query, and its answer on a sample that does not look at the data, is post-processing of how many "
        "entries have each value: at most the curve of that histogram over the entries the adversary does not know, in "
        "the critical entry's own group where laws differ."
    ),
    source=f"{PAPER}, the family F_s of symmetric queries; data processing",
    assumptions=(INDEPENDENT, STATED, SAMPLED),
)
def total_histogram(situation: Situation) -> Curve:
    """Δ of the histogram of the values, which every symmetric query is a function of."""
    asked: Any = situation.asked
    if isinstance(asked, HistogramQuery) and situation.sampling is None and asked.is_uniform:
        raise NotApplicable("the histogram itself has an exact curve")
    if isinstance(asked, HistogramQuery) and asked.has_ranges:
        return histogram_of_ranges(asked, situation.population.size - situation.adversary.total, situation.pair)
    stated: Any = asked.cells if isinstance(asked, HistogramQuery) else asked.pmf
    uniform = asked.is_uniform
    curves = []
    for law, unknown in _by_group(situation, None if uniform else dict(stated), stated):
        cells = law if isinstance(asked, HistogramQuery) else tuple(share for _, share in law)
        pair = situation.pair
        if pair is not None and not isinstance(asked, HistogramQuery):
            values = [value for value, _ in law]
            if not (pair[0] in values and pair[1] in values):
                continue
            pair = (values.index(pair[0]), values.index(pair[1]))
        if len(cells) > 1:
            curves.append(Curve.histogram(size=unknown, cells=cells, pair=pair))
    return worst(curves)


@rule(
    bound="unprocessed",
    kind="bound",
    queries=(Processed,),
    samplings=(NoneType, *samplings_but()),
    theorem="What is done to an answer never makes it less private: at most the curve of the answer before all steps.",
    source="data processing",
    assumptions=(INDEPENDENT, STATED, SAMPLED),
)
def unprocessed(situation: Situation) -> Curve:
    """The data alone."""
    require_no_gate(situation.query)
    asked: Any = situation.asked
    try:
        return lower(replace(situation, query=asked), "tightest").curve
    except NotAvailableError:
        raise NotApplicable("the answer has no curve before its steps either") from None


@rule(
    bound="noise",
    kind="bound",
    queries=(Processed,),
    theorem=(
        "Somebody who knew all other entries would still see the noise: at most the curve of the noise against the "
        "noise moved by what the critical entry changes."
    ),
    source="known entries never make an answer more private",
    assumptions=(NOISE,),
)
def noise_alone(situation: Situation) -> Curve:
    """The first step must be the noise; what follows is post-processing."""
    first, gaps, lattice = added_noise(situation)
    point = Law.table(0, [1])
    return worst([hockey_stick(point.shifted(gap), point, lattice, (first,)) for gap in gaps if gap])


def added_noise(situation: Situation) -> tuple[noise.Noise, list[int], Lattice]:
    """The noise that is the first step, and how far the values of the critical entry move the answer before it."""
    query: Any = situation.query
    first = query.steps[0]
    if not isinstance(first, noise.Noise):
        raise NotApplicable("the first step is no noise")
    asked = situation.asked
    if isinstance(asked, PropertyQuery):
        gaps = [1, -1] if situation.pair is None else [situation.pair[0] - situation.pair[1]]
        return first, gaps, Lattice()
    if isinstance(asked, Additive):
        entries = contributions(situation)
        pairs = (pair for world in entries.worlds(situation) for pair in world.pairs(situation.pair))
        return first, list(dict.fromkeys(v - w for v, w in pairs)), entries.lattice
    raise NotApplicable("what an entry changes of this answer is not one of a few numbers")


def require_no_gate(query: Query) -> None:
    """What trusts a range says nothing of a count that is gated because the range may not hold."""
    if gate_for_every_p(query) is not None:
        raise NotApplicable(
            "a gated count with a range of p is certified for every p; leave the gate out for what trusts the range"
        )


def _own_count(situation: Situation) -> Curve:
    asked: Any = situation.asked
    if isinstance(asked, LinearQuery):
        groups = [(asked.p, max(1, size - situation.adversary.total)) for _, size in asked.columns]
        pair = situation.pair
        return Curve.maximum([Curve.count(size=size, lower=p, upper=p, pair=pair) for p, size in groups])
    stated = asked.probabilities
    if isinstance(stated, tuple) and not isinstance(stated[0], tuple):
        raise NotApplicable("every entry has a law of its own")
    by_group = dict(stated) if isinstance(stated, tuple) else None
    curves = []
    for p, unknown in _by_group(situation, by_group, stated):
        ends = (p.lower, p.upper) if isinstance(p, Between) else (p, p)
        curves.append(Curve.count(size=unknown, lower=ends[0], upper=ends[1], pair=situation.pair))
    return Curve.maximum(curves)


def _by_group(situation: Situation, laws: dict[str, Any] | None, law: Any) -> list[tuple[Any, int]]:  # noqa: ANN401
    """The law and the number of unknown entries of each group that may hold the critical entry.

    Groups with one law are one group, unless they are sampled by themselves: then the group of an entry says how likely
    it is to be drawn, and the total of all groups does not tell what the sample shows of each.
    """
    known = situation.adversary.known
    if laws is None and isinstance(situation.sampling, Stratified):
        laws = dict.fromkeys((name for name, _ in situation.population.groups or ()), law)
    if laws is None:
        return [(law, situation.population.size - situation.adversary.total)]
    by_group = {} if isinstance(known, int) else dict(known)
    found = []
    for name, size in situation.population.groups or ():
        least = known if isinstance(known, int) else by_group.get(name, 0)
        if isinstance(known, int) or least < size:
            found.append((laws[name], max(1, size - least)))
    return found
