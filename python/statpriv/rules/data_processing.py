"""Bounds by data processing: the released answer is a function of something with a known curve."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from statpriv._native import Curve
from statpriv.errors import NotAvailableError
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.contributions import class_of_entries, laws_by_class
from statpriv.lowering.sums import templates_of
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.linear import LinearQuery
from statpriv.model.queries.order_statistic import OrderStatisticQuery
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.queries.sum import Additive
from statpriv.model.samplings import Sampling, TemplateLaw, Templates
from statpriv.model.situation import Pair, Query, Situation, gate_for_every_p
from statpriv.rules.assumptions import INDEPENDENT, PAPER, SAMPLED, STATED
from statpriv.rules.hidden_sample import is_data_independent, is_one_sample, simple_draw
from statpriv.rules.histogram_range import Cells, histogram_of_cells, histogram_of_ranges, histogram_with_known
from statpriv.rules.own_count import OwnCount, count_of
from statpriv.rules.registry import lower, rule
from statpriv.rules.whole_population import worst


def treats_entries_alike(sampling: type[Sampling]) -> bool:
    """Whether the sample is post-processing of the number of entries of each group with each value."""
    return sampling.data_independent and sampling.treats_entries_alike


def draws_an_entry_once(sampling: type[Sampling]) -> bool:
    """Whether the query is answered on one sample that contains each entry at most once."""
    return is_one_sample(sampling) and not sampling.repeats_entries


@rule(
    bound="total-count",
    kind="bound",
    queries=(PropertyQuery,),
    sampling_with=treats_entries_alike,
    cost=20,
    theorem=(
        "Counts of a sample are post-processing of the counts of all entries, group by group, so their privacy curve "
        "is at most that of the critical entry's group over the entries the adversary does not know."
    ),
    source="data processing",
    assumptions=(INDEPENDENT, STATED, SAMPLED),
    covers=("each",),
)
def total_count(situation: Situation) -> Curve:
    """Δ of the group's own total, or of the total over all entries if they have one law."""
    return _own_count(situation)


@rule(
    bound="own-group",
    kind="bound",
    queries=(PropertyQuery,),
    cost=21,
    theorem=(
        "The answer is a function of the counts of the single groups, and those of groups without the critical entry "
        "do not depend on it: at most the curve of the count of its own group."
    ),
    source="data processing; for a range, the theorem on peak heights in docs/explanation/ranges.md",
    assumptions=(INDEPENDENT, STATED),
    covers=("each",),
)
def own_group(situation: Situation) -> Curve:
    """The worst group, with all known entries in it."""
    return _own_count(situation)


@rule(
    bound="own-group",
    kind="bound",
    queries=(LinearQuery,),
    sampling_with=treats_entries_alike,
    cost=21,
    theorem=(
        "The answers are a function of the counts of the entries that are in the same counts, or are those of a sample "
        "that treats these alike: at most the curve of the count of the entries that are in the critical one's counts."
    ),
    source="data processing; for a range, the theorem on peak heights in docs/explanation/ranges.md",
    assumptions=(INDEPENDENT, STATED, SAMPLED),
    covers=("each",),
)
def own_columns(situation: Situation) -> Curve:
    """The worst column, with all known entries in it."""
    return _own_count(situation)


@rule(
    bound="own-group-sum",
    kind="bound",
    queries=(PropertyQuery, LinearQuery, HistogramQuery, Additive, OrderStatisticQuery),
    samplings=(TemplateLaw,),
    sampling_with=draws_an_entry_once,
    cost=30,
    theorem=(
        "Shown which entries are in the sample, and all of it but the unknown entries of the critical one's own group "
        "(or those in the same counts) that are drawn as often as it, what is left is a function of their count or of "
        "the histogram of their values: δ is at most γ times the mean of its curve over how many of them are drawn "
        "with the critical entry, γ being the probability that it is drawn."
    ),
    source=f"data processing, and {PAPER}, Theorem 5.2, with the entries of other groups known",
    assumptions=(INDEPENDENT, STATED, SAMPLED),
    covers=("each",),
)
def own_group_sum(situation: Situation) -> Curve:
    """The worst group; the sampled entries of other groups are treated as known."""
    asked, templates = situation.asked, templates_of(situation)
    if asked.probability() is not None and templates is None:
        raise NotApplicable("all entries have one law: see partition-sum")
    groups = _own_histograms(situation)
    if not asked.is_symmetric:
        groups = ((own, situation.pair) for own in _own_groups(situation))
    if templates is not None:
        return worst([curve for own, pair in groups for curve in _own_in_templates(situation, templates, own, pair)])
    curves = []
    for own, pair in groups:
        rate, curve = _own_in_the_sample(situation, own, pair)
        if rate:
            curves.append(Curve.mean([rate], [curve]))
    return worst(curves)


def _own_in_the_sample(situation: Situation, own: OwnGroup, pair: Pair) -> tuple[Fraction, Curve]:
    """The probability that the critical entry is drawn, and the curve of its group's entries drawn with it."""
    rate = None if situation.sampling is None else situation.sampling.independent_rate
    if rate is not None:
        return rate, own.law.at_a_rate(own.unknown, rate, pair)
    population, size = simple_draw(situation, own.name)
    if not size:
        return Fraction(0), worst([])
    return Fraction(size, population), own.law.drawn(population, population - own.unknown, size, pair)


def _own_in_templates(situation: Situation, templates: Templates, own: OwnGroup, pair: Pair) -> Iterator[Curve]:
    """For each entry of the group: the mean over how many of it are drawn as often, all but those that may be known."""
    members = _members(situation, own)
    known = len(members) - own.unknown
    chances: defaultdict[int, defaultdict[int, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for template, probability in templates:
        times = Counter(entry for entry in template if entry in members)
        alike = Counter(times.values())
        for entry, drawn in times.items():
            chances[entry][max(1, alike[drawn] - known)] += probability
    for sizes, weights in dict.fromkeys((tuple(law), tuple(law.values())) for law in chances.values()):
        yield Curve.mean(weights, [own.law.of(size, pair) for size in sizes])


def _members(situation: Situation, own: OwnGroup) -> Collection[int]:
    """The indices of the group's entries; entries are numbered in the order of the groups."""
    if own.column is not None:
        kinds = laws_by_class(situation)
        place = next(k for k, kind in enumerate(kinds) if (kind.group, kind.column) == (own.name, own.column))
        return {entry for entry, kind in enumerate(class_of_entries(situation)) if kind == place}
    if own.name is None:
        return range(situation.population.size)
    names = chain.from_iterable([name] * size for name, size in situation.population.groups or ())
    return {entry for entry, name in enumerate(names) if name == own.name}


@rule(
    bound="total-histogram",
    kind="bound",
    queries=(Additive, OrderStatisticQuery, HistogramQuery),
    sampling_with=treats_entries_alike,
    cost=40,
    theorem=(
        "A symmetric query, and its answer on a sample that does not look at the data, is post-processing of how many "
        "entries have each value: at most the curve of that histogram over the entries the adversary does not know, in "
        "the critical entry's own group where laws differ."
    ),
    source=f"{PAPER}, the family F_s of symmetric queries; data processing",
    assumptions=(INDEPENDENT, STATED, SAMPLED),
    covers=("each",),
)
def total_histogram(situation: Situation) -> Curve:
    """Δ of the histogram of the values; every symmetric query is a function of it."""
    if situation.asked.one_histogram is not None and situation.sampling is None:
        raise NotApplicable("the histogram itself has an exact curve")
    return worst([own.law.of(own.unknown, pair) for own, pair in _own_histograms(situation)])


@rule(
    bound="unprocessed",
    kind="bound",
    queries=(PostProcessed,),
    sampling_with=is_data_independent,
    cost=50,
    theorem="What is done to an answer never makes it less private: at most the curve of the answer before all steps.",
    source="data processing",
    assumptions=(INDEPENDENT, STATED, SAMPLED),
    covers=("each",),
)
def unprocessed(situation: Situation) -> Curve:
    """The curve of the unprocessed answer."""
    require_no_gate(situation.query)
    try:
        return lower(situation.unprocessed, "tightest").curve
    except NotAvailableError:
        raise NotApplicable("the answer has no curve before its steps either") from None


def require_no_gate(query: Query) -> None:
    """Refuse gated counts: the gate is for ranges that may fail, and these bounds rely on the range."""
    if gate_for_every_p(query) is not None:
        raise NotApplicable(
            "a gated count with a range of p is certified for every p; leave the gate out for what trusts the range"
        )


@dataclass(frozen=True)
class HistogramOfOwn:
    """The histogram of the values of entries of one group."""

    cells: Cells

    def of(self, size: int, pair: Pair) -> Curve:
        """The curve for `size` entries."""
        return histogram_of_cells(self.cells, size, pair)

    def at_a_rate(self, size: int, rate: Fraction, pair: Pair) -> Curve:
        """The curve for the critical entry and the sampled others, each sampled at this rate."""
        return histogram_of_ranges(self.cells, size, pair, rate=rate)

    def drawn(self, population: int, known: int, size: int, pair: Pair) -> Curve:
        """The curve for a sample with the critical entry; `known` of the population's other entries are known."""
        return histogram_with_known(self.cells, population, known, size, pair)


@dataclass(frozen=True)
class OwnGroup:
    """Entries that the answer treats alike and that may include the critical one."""

    name: str | None
    law: OwnCount
    unknown: int
    """Number of these entries that are certainly unknown, including the critical one."""
    column: tuple[int, ...] | None = None
    """For several counts: the counts that include these entries."""


def _own_count(situation: Situation) -> Curve:
    return worst([own.law.of(own.unknown, situation.pair) for own in _own_groups(situation)])


def _own_groups(situation: Situation) -> Iterator[OwnGroup]:
    """The groups of a count, or the columns of several counts."""
    asked, adversary = situation.asked, situation.adversary
    if asked.stated_entries is not None:
        raise NotApplicable("every entry has a law of its own")
    if asked.is_count:
        for name, unknown in _by_group(situation):
            if (p := asked.probability(name)) is not None:
                yield OwnGroup(name, count_of(p), unknown)
        return
    for kind in laws_by_class(situation):
        if any(kind.column):
            law = count_of(dict(kind.law)[1])
            yield OwnGroup(kind.group, law, max(1, kind.size - adversary.known_in(kind.group)), kind.column)


def _own_histograms(situation: Situation) -> Iterator[tuple[OwnGroup, Pair]]:
    """The histogram of the values of each group, and the pair as two of its cells."""
    for name, unknown in _by_group(situation):
        law, pair = situation.asked.law(name), situation.pair
        values = [value for value, _ in law]
        if pair is not None:
            if not set(pair) <= set(values):
                continue
            pair = (values.index(pair[0]), values.index(pair[1]))
        if len(law) > 1:
            yield OwnGroup(name, HistogramOfOwn(tuple(mass for _, mass in law)), unknown), pair


def _by_group(situation: Situation) -> Iterator[tuple[str | None, int]]:
    """Each group that may hold the critical entry, with the number of its certainly unknown entries.

    Groups with one law are merged, unless they are sampled separately. In that case the group of an entry affects its
    probability of being drawn, and the total over all groups does not determine the sample of each group.
    """
    adversary, sampling = situation.adversary, situation.sampling
    if situation.asked.is_uniform and not (sampling is not None and sampling.stratum_sizes is not None):
        yield None, situation.population.size - adversary.total
        return
    for name, size in situation.population.groups or ():
        most = adversary.known_in(name)
        if not adversary.by_group or most < size:
            yield name, max(1, size - most)
