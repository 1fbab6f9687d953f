"""Bounds by data processing: what is released is a function of something whose curve is known."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from types import NoneType
from typing import Any

from statpriv._native import Curve
from statpriv.errors import NotAvailableError
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.contributions import columns_of_entries
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.linear import LinearQuery
from statpriv.model.queries.order_statistic import OrderStatisticQuery
from statpriv.model.queries.processed import Processed
from statpriv.model.queries.property import Between, PropertyQuery, Stated
from statpriv.model.queries.sum import Additive
from statpriv.model.samplings import PoissonSampling, Stratified, TemplateLaw, WithoutReplacement, samplings_but
from statpriv.model.situation import Pair, Query, Situation, gate_for_every_p
from statpriv.rules.assumptions import INDEPENDENT, PAPER, SAMPLED, STATED
from statpriv.rules.histogram_range import histogram_of_cells, histogram_of_ranges, histogram_with_known
from statpriv.rules.registry import lower, rule
from statpriv.rules.whole_population import worst


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
    queries=(PropertyQuery,),
    theorem=(
        "The answer is a function of the counts of the single groups, and those of groups without the critical entry "
        "do not depend on it: at most the curve of the count of its own group."
    ),
    source="data processing; for a range, the theorem on peak heights in docs/explanation/ranges.md",
    assumptions=(INDEPENDENT, STATED),
)
def own_group(situation: Situation) -> Curve:
    """The worst group, of which all known entries are."""
    return _own_count(situation)


@rule(
    bound="own-group",
    kind="bound",
    queries=(LinearQuery,),
    samplings=(NoneType, *samplings_but(TemplateLaw)),
    theorem=(
        "The answers are a function of the counts of the entries that are in the same counts, or are those of a sample "
        "that treats these alike: at most the curve of the count of the entries that are in the critical one's counts."
    ),
    source="data processing; for a range, the theorem on peak heights in docs/explanation/ranges.md",
    assumptions=(INDEPENDENT, STATED, SAMPLED),
)
def own_columns(situation: Situation) -> Curve:
    """The worst column, which all known entries have."""
    return _own_count(situation)


@rule(
    bound="own-group-sum",
    kind="bound",
    queries=(PropertyQuery, LinearQuery, HistogramQuery, Additive, OrderStatisticQuery),
    samplings=(WithoutReplacement, PoissonSampling, Stratified, TemplateLaw),
    theorem=(
        "Shown which entries are in the sample, and all of it but the unknown entries of the critical one's own group "
        "(or those in the same counts) that are drawn as often as it, what is left is a function of their count or of "
        "the histogram of their values: δ is at most γ times the mean of its curve over how many of them are drawn "
        "with the critical entry, γ being the probability that it is drawn."
    ),
    source=f"data processing, and {PAPER}, Theorem 5.2, with the entries of other groups known",
    assumptions=(INDEPENDENT, STATED, SAMPLED),
)
def own_group_sum(situation: Situation) -> Curve:
    """The worst group; the other entries of the sample are as good as known."""
    asked, by_template = situation.asked, isinstance(situation.sampling, TemplateLaw)
    if isinstance(asked, PropertyQuery) and asked.is_uniform and not by_template:
        raise NotApplicable("all entries have one law: see partition-sum")
    counted = isinstance(asked, PropertyQuery | LinearQuery)
    groups = [(own, situation.pair) for own in _own_groups(situation)] if counted else _own_histograms(situation)
    if by_template:
        return worst([curve for own, pair in groups for curve in _own_in_templates(situation, own, pair)])
    curves = []
    for own, pair in groups:
        rate, curve = _own_in_the_sample(situation, own, pair)
        if rate:
            curves.append(Curve.mean([rate], [curve]))
    return worst(curves)


def _own_in_the_sample(situation: Situation, own: OwnGroup, pair: Pair) -> tuple[Fraction, Curve]:
    """The probability that the critical entry is drawn, and the curve of its group's entries that are drawn with it."""
    sampling = situation.sampling
    counted = not isinstance(own.law, HistogramQuery)
    if isinstance(sampling, PoissonSampling):
        if not counted:
            return sampling.rate, histogram_of_ranges(own.law, own.unknown, pair, rate=sampling.rate)
        lower, upper = _ends(own.law)
        others = own.unknown - 1
        irrelevant = 1 - sampling.rate
        return sampling.rate, Curve.irrelevant_entries(
            size=own.unknown, others=others, irrelevant=irrelevant, lower=lower, upper=upper, pair=pair
        )
    population, size = situation.population.size, getattr(sampling, "size", 0)
    if isinstance(sampling, Stratified):
        population = dict(situation.population.groups or ())[own.name or ""]
        size = dict(sampling.sizes)[own.name or ""]
    if not size:
        return Fraction(0), worst([])
    known = population - own.unknown
    if not counted:
        return Fraction(size, population), histogram_with_known(own.law, population, known, size, pair)
    lower, upper = _ends(own.law)
    return Fraction(size, population), Curve.known_entries(
        population=population, known=known, size=size, lower=lower, upper=upper, pair=pair
    )


def _own_in_templates(situation: Situation, own: OwnGroup, pair: Pair) -> Iterator[Curve]:
    """For each entry of the group: the mean over how many of it are drawn as often, all but those that may be known."""
    sampling: Any = situation.sampling
    members = _members(situation, own)
    known = len(members) - own.unknown
    chances: defaultdict[int, defaultdict[int, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for template, probability in sampling.probabilities:
        times = Counter(entry for entry in template if entry in members)
        alike = Counter(times.values())
        for entry, drawn in times.items():
            chances[entry][max(1, alike[drawn] - known)] += probability
    for sizes, weights in dict.fromkeys((tuple(law), tuple(law.values())) for law in chances.values()):
        yield Curve.mean(weights, [_of_own(own.law, size, pair) for size in sizes])


def _of_own(law: Any, size: int, pair: Pair) -> Curve:  # noqa: ANN401  (a histogram, or what is stated of a count)
    """The curve of the count, or of the histogram, of so many entries of a group."""
    if isinstance(law, HistogramQuery):
        return histogram_of_cells(law, size, pair)
    lower, upper = _ends(law)
    return Curve.count(size=size, lower=lower, upper=upper, pair=pair)


def _members(situation: Situation, own: OwnGroup) -> Collection[int]:
    """The numbers of the entries of the group, which are in the order of the groups."""
    asked = situation.asked
    if isinstance(asked, LinearQuery):
        kinds = columns_of_entries(asked, situation)
        return {entry for entry, kind in enumerate(kinds) if kind == (own.name, own.column)}
    if own.name is None:
        return range(situation.population.size)
    names = chain.from_iterable([name] * size for name, size in situation.population.groups or ())
    return {entry for entry, name in enumerate(names) if name == own.name}


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
    return worst([_of_own(own.law, own.unknown, pair) for own, pair in _own_histograms(situation)])


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


def require_no_gate(query: Query) -> None:
    """What trusts a range says nothing of a count that is gated because the range may not hold."""
    if gate_for_every_p(query) is not None:
        raise NotApplicable(
            "a gated count with a range of p is certified for every p; leave the gate out for what trusts the range"
        )


@dataclass(frozen=True)
class OwnGroup:
    """Entries that the answer treats alike, of which the critical one may be."""

    name: str | None
    law: Any
    """Of a count p or its range, of a histogram that histogram; else as the query states it."""
    unknown: int
    """How many of them are certainly not known, the critical one included."""
    column: tuple[int, ...] | None = None
    """Of several counts: in which of them these entries are."""


def _own_count(situation: Situation) -> Curve:
    return worst([_of_own(own.law, own.unknown, situation.pair) for own in _own_groups(situation)])


def _ends(p: Stated) -> tuple[Fraction, Fraction]:
    return (p.lower, p.upper) if isinstance(p, Between) else (p, p)


def _own_groups(situation: Situation) -> list[OwnGroup]:
    """The groups of a count, or the columns of several counts."""
    asked: Any = situation.asked
    if isinstance(asked, LinearQuery):
        columns = Counter(columns_of_entries(asked, situation)).items()
        return [
            OwnGroup(name, asked.p, max(1, size - _most_known(situation, name)), column)
            for (name, column), size in columns
            if any(column)
        ]
    probabilities = asked.probabilities
    if isinstance(probabilities, tuple) and not isinstance(probabilities[0], tuple):
        raise NotApplicable("every entry has a law of its own")
    return _by_group(situation, dict(probabilities) if isinstance(probabilities, tuple) else None, probabilities)


def _own_histograms(situation: Situation) -> Iterator[tuple[OwnGroup, Pair]]:
    """The histogram of the values of each group, and the pair as two of its cells."""
    asked: Any = situation.asked
    stated: Any = asked.cells if isinstance(asked, HistogramQuery) else asked.pmf
    for own in _by_group(situation, None if asked.is_uniform else dict(stated), stated):
        cells, pair = own.law, situation.pair
        if not isinstance(asked, HistogramQuery):
            values = [value for value, _ in own.law]
            cells = [mass for _, mass in own.law]
            if pair is not None and not set(pair) <= set(values):
                continue
            pair = None if pair is None else (values.index(pair[0]), values.index(pair[1]))
        if len(cells) > 1:
            yield replace(own, law=HistogramQuery(list(cells))), pair


def _by_group(situation: Situation, laws: dict[str, Any] | None, law: Any) -> list[OwnGroup]:  # noqa: ANN401
    """Each group that may hold the critical entry.

    Groups with one law are one group, unless they are sampled by themselves: then the group of an entry says how likely
    it is to be drawn, and the total of all groups does not tell what the sample shows of each.
    """
    known = situation.adversary.known
    if laws is None and isinstance(situation.sampling, Stratified):
        laws = dict.fromkeys((name for name, _ in situation.population.groups or ()), law)
    if laws is None:
        return [OwnGroup(None, law, situation.population.size - situation.adversary.total)]
    found = []
    for name, size in situation.population.groups or ():
        most = _most_known(situation, name)
        if isinstance(known, int) or most < size:
            found.append(OwnGroup(name, laws[name], max(1, size - most)))
    return found


def _most_known(situation: Situation, group: str | None) -> int:
    """So many entries of a group may be known."""
    known = situation.adversary.known
    if isinstance(known, int) or group is None:
        return situation.adversary.total
    return dict(known).get(group, 0)
