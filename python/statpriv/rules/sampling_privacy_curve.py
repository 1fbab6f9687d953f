"""The sampling privacy curve of a secret sample, and the bounds that come from it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product
from math import prod
from types import NoneType
from typing import TypeAlias, TypeVar

from statpriv import budget
from statpriv._native import Curve, Law
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.contributions import Contributions, EntryClass, contributions, multinomial
from statpriv.lowering.drawn_groups import count_of_drawn, pooled
from statpriv.lowering.sums import templates_of, worlds_by_number
from statpriv.model.draws import Multiplicities, compositions, drawn_again, drawn_once
from statpriv.model.groups import ByGroup
from statpriv.model.populations import Population
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.linear import LinearQuery
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.queries.protocol import AnswerLaws
from statpriv.model.queries.sum import Additive
from statpriv.model.ranges import ends, is_each
from statpriv.model.samplings import PoissonSampling, Templates, WithoutReplacement
from statpriv.model.situation import Situation
from statpriv.rules.assumptions import INDEPENDENT, KNOWN_LAW, PAPER, SAMPLED, STATED
from statpriv.rules.hidden_sample import is_one_sample, simple_draw
from statpriv.rules.histogram_range import histogram_of_cells
from statpriv.rules.own_count import count_of
from statpriv.rules.registry import rule
from statpriv.rules.whole_population import of_stated_laws, worst

THRESHOLDS = 32

Template = TypeVar("Template")
Drawing: TypeAlias = "tuple[int, tuple[tuple[tuple[int, int], int], ...]]"
"""How often the critical entry is drawn, and how many others of each class are drawn how often."""

QUERIES = (PropertyQuery, HistogramQuery, Additive, LinearQuery)


@rule(
    bound="spc",
    kind="bound",
    queries=QUERIES,
    sampling_with=is_one_sample,
    cost=58,
    theorem=(
        "The sampling privacy curve: the mean over the templates that hold the critical entry of the curve of the "
        "answer given the template. What is released leaks less than this, by the chance of being in the sample: see "
        "partition-sum."
    ),
    source=f"{PAPER}, Definition 3.3 and Example 1, corrected",
    assumptions=(INDEPENDENT, STATED, SAMPLED),
    competes=False,
    conditional=True,
    covers=("each",),
)
def sampling_privacy_curve(situation: Situation) -> Curve:
    """Definition 3.3, given that the critical entry is in the sample."""
    return Curve.maximum([curve for _, curve in _given_the_sample(situation)])


@rule(
    bound="partition-sum",
    kind="bound",
    queries=QUERIES,
    sampling_with=is_one_sample,
    cost=60,
    theorem=(
        "γ times the sampling privacy curve, γ being the probability that the sample holds the critical entry: "
        "otherwise the answer says nothing about it (Theorem 5.2 for one part)."
    ),
    source=f"{PAPER}, Theorem 5.2; known entries by the corrected Example 1",
    assumptions=(INDEPENDENT, STATED, SAMPLED),
    covers=("each",),
)
def partition_sum(situation: Situation) -> Curve:
    """By joint convexity: the maximum over pairs stands inside."""
    return Curve.maximum([Curve.mean([rate], [curve]) for rate, curve in _given_the_sample(situation)])


@rule(
    bound="threshold",
    kind="bound",
    queries=(PropertyQuery,),
    samplings=(NoneType, WithoutReplacement, PoissonSampling),
    cost=62,
    theorem=(
        "The same with the sampling privacy curve replaced by its threshold bound: the curve does not fall with the "
        "number of known entries in the sample, so its value at the next larger of "
        f"{THRESHOLDS} thresholds bounds it."
    ),
    source=f"{PAPER}, Example 1, with several thresholds",
    assumptions=(INDEPENDENT, STATED, SAMPLED),
    competes=False,
)
def threshold(situation: Situation) -> Curve:
    """Cheap where many entries are known, and a little larger than the partition sum."""
    return Curve.maximum(
        [Curve.mean([rate], [curve]) for rate, curve in _given_the_sample(situation, thresholds=THRESHOLDS)]
    )


@rule(
    bound="amplification",
    kind="bound",
    queries=(PropertyQuery, HistogramQuery, Additive),
    samplings=(WithoutReplacement,),
    cost=64,
    theorem=(
        "Amplification by subsampling: δ(ln(1 + γ(e^ε − 1))) ≤ γ δ_s(ε) with δ_s the curve of a sample that certainly "
        "holds the critical entry. It needs no more than the law given the sample, and is a comparison."
    ),
    source=(
        "Balle, Barthe and Gaboardi, Privacy Amplification by Subsampling: advanced joint convexity; "
        "without the critical entry another one is drawn, of any value"
    ),
    assumptions=(INDEPENDENT, STATED, SAMPLED),
    covers=("each",),
)
def amplification(situation: Situation) -> Curve:
    """γ Δ(ln(1 + (e^ε − 1)/γ)), for the worst pair of values."""
    if situation.adversary.total:
        raise NotApplicable("known entries of the sample would not be replaced by unknown ones")
    # Entries with a law each in one box: whoever is drawn instead has some value. By convexity in its law δ is at most
    # that of the worst pair of values, with the same other entries.
    if not situation.asked.is_uniform:
        raise NotApplicable("an entry that is drawn instead of the critical one may have another law")
    any_pair = replace(situation, pair=None)
    return Curve.maximum([Curve.amplified(rate, curve) for rate, curve in _given_the_sample(any_pair)])


@rule(
    bound="partition-sum",
    kind="bound",
    queries=(AnswerLaws,),
    samplings=(WithoutReplacement, PoissonSampling),
    cost=60,
    theorem=(
        "γ times the mean, over how many entries the sample has that holds the critical one, of the hockey stick of "
        "the laws that the query states for so many entries: without the critical entry the answer says nothing about "
        "it (Theorem 5.1 for one part)."
    ),
    source=f"{PAPER}, Theorem 5.1",
    assumptions=(INDEPENDENT, KNOWN_LAW, SAMPLED),
)
def stated_laws_of_a_sample(situation: Situation) -> Curve:
    """What the query states of the entries that answer."""
    n, sampling = situation.population.size, situation.sampling

    def of_size(size: int) -> Curve:
        return worst(of_stated_laws(replace(situation, population=Population(size), sampling=None)))

    rate = None if sampling is None else sampling.independent_rate
    if rate is None:
        _, size = simple_draw(situation)
        return Curve.mean([Fraction(size, n)], [of_size(size)])
    if n > budget.MAX_SAMPLE_SIZES:
        raise NotApplicable(
            f"a query of the user's own is not averaged over more than {budget.MAX_SAMPLE_SIZES} sizes of samples"
        )
    return Curve.mean([rate], [_over_sizes(n - 1, rate, of_size)])


def _given_the_sample(situation: Situation, thresholds: int | None = None) -> list[tuple[Fraction, Curve]]:
    """For each class that may hold the critical entry: its chance of being sampled, and the curve given that it is."""
    sampling, n = situation.sampling, situation.population.size
    if sampling is None:
        return [(Fraction(1), _drawn_once(situation, n, thresholds))]
    if sampling.stratum_sizes is not None:
        return list(_strata(situation, sampling.stratum_sizes))
    if (templates := templates_of(situation)) is not None:
        return list(_by_template(situation, templates))
    if (rate := sampling.independent_rate) is not None:
        return [(rate, _at_a_rate(situation, rate, thresholds))]
    if (draws := sampling.draws_again()) is not None:
        return [(1 - Fraction(n - 1, n) ** draws, _drawn_again(situation, draws))]
    _, size = simple_draw(situation)
    return [(Fraction(size, n), _drawn_once(situation, size, thresholds))]


def _drawn_once(situation: Situation, size: int, thresholds: int | None) -> Curve:
    """The other s − 1 of a sample without replacement: how many of them are known, and of which class, is random."""
    n, known, pair = situation.population.size, situation.adversary.total, situation.pair
    p, cells = situation.asked.probability(), situation.asked.one_histogram
    if p is not None and not situation.adversary.by_group:
        if not known:
            return count_of(p).of(size, pair)
        if is_each(p):
            return count_of(p).drawn(n, known, size, pair)
        lower, upper = ends(p)
        return Curve.known_entries(
            population=n, known=known, size=size, lower=lower, upper=upper, pair=pair, thresholds=thresholds
        )
    if thresholds is not None:
        raise NotApplicable("thresholds are for one property with one probability")
    if cells is not None and not known:
        return histogram_of_cells(cells, size, pair)
    return _over_compositions(situation, size)


def _over_compositions(situation: Situation, size: int) -> Curve:
    """Multivariate hypergeometric numbers of the unknown others of each class, and of known ones."""
    if situation.asked.is_count:
        return _count_over_compositions(situation, size)
    entries = contributions(situation, labelled=True)
    worlds = []
    for world in entries.worlds(situation):
        pools = [*world.unknown, sum(world.known)]
        ways = islice(compositions(size - 1, pools), budget.MAX_TEMPLATE_KINDS + 1)
        if sum(1 for _ in ways) > budget.MAX_TEMPLATE_KINDS:
            raise NotApplicable(f"a sample can be composed in more than {budget.MAX_TEMPLATE_KINDS} ways")
        weights, curves = [], []
        for draw in _few(drawn_once(pools, size - 1, critical=False), entries):
            weights.append(draw.weight)
            curves.append(_worst_pair(_with_multiplicities(entries.classes, draw.others), world.pairs(situation.pair)))
        worlds.append(Curve.mean(weights, curves))
    return worst(worlds)


def _count_over_compositions(situation: Situation, size: int) -> Curve:
    """Of a count, kinds of entries with one probability are the same."""
    entries = contributions(situation)
    curves = []
    for world in entries.worlds(situation):
        pools = pooled(
            (kind.p or Fraction(0), count) for kind, count in zip(entries.classes, world.unknown, strict=True)
        )
        curves.append(count_of_drawn(pools, sum(world.known), size - 1, situation.pair))
    return worst(curves)


def _few(templates: Iterable[Template], entries: Contributions) -> Iterator[Template]:
    """Kinds of templates, if they are few; of several counts at once, if they have few answers together."""
    most = min(budget.MAX_TEMPLATE_KINDS, budget.MAX_TEMPLATE_ANSWERS // (entries.joint_values or 1))
    for tried, template in enumerate(templates):
        if tried >= most:
            raise NotApplicable(f"more than {most} kinds of templates are not averaged over")
        yield template


def _worst_pair(others: Law, pairs: list[tuple[int, int]], times: int = 1) -> Curve:
    """V + S against w + S, for the worst of the pairs; the critical entry counts `times` times."""
    gaps = dict.fromkeys(v - w for v, w in pairs if v != w)
    return worst([Curve.answers(others.shifted(times * gap), others) for gap in gaps])


def _at_a_rate(situation: Situation, rate: Fraction, thresholds: int | None) -> Curve:
    """The unknown others of the sample are binomially many."""
    others = situation.population.size - 1 - situation.adversary.total
    p, cells = situation.asked.probability(), situation.asked.one_histogram
    if is_each(p):
        return count_of(p).at_a_rate(others + 1, rate, situation.pair)
    if p is not None:
        lower, upper = ends(p)
        return Curve.irrelevant_entries(
            size=others + 1,
            others=others,
            irrelevant=1 - rate,
            lower=lower,
            upper=upper,
            pair=situation.pair,
            thresholds=thresholds,
        )
    if cells is not None and others <= budget.MAX_SAMPLE_SIZES:
        return _over_sizes(others, rate, lambda size: histogram_of_cells(cells, size, situation.pair))
    entries = contributions(situation, labelled=True)
    worlds = []
    for world in entries.worlds(situation):
        weights, curves = [], []
        for numbers in _few(product(*(range(unknown + 1) for unknown in world.unknown)), entries):
            drawn = zip(world.unknown, numbers, strict=True)
            chances = (multinomial((k, unknown - k), (rate, 1 - rate)) for unknown, k in drawn)
            weights.append(prod(chances, start=Fraction(1)))
            shapes: list[Multiplicities] = [((1, number),) if number else () for number in numbers]
            curves.append(_worst_pair(_with_multiplicities(entries.classes, shapes), world.pairs(situation.pair)))
        worlds.append(Curve.mean(weights, curves))
    return worst(worlds)


def _over_sizes(others: int, rate: Fraction, of_size: Callable[[int], Curve]) -> Curve:
    """The curve of one more entry than are drawn of the others."""
    weights = [multinomial((drawn, others - drawn), (rate, 1 - rate)) for drawn in range(others + 1)]
    return Curve.mean(weights, [of_size(drawn + 1) for drawn in range(others + 1)])


def _drawn_again(situation: Situation, size: int) -> Curve:
    """Templates with multiplicities: m_j of the critical entry, and a partition of the other draws among others."""
    n = situation.population.size
    entries = contributions(situation, labelled=True)
    if size >= budget.MAX_TEMPLATE_KINDS:
        raise NotApplicable(f"so many draws have more than {budget.MAX_TEMPLATE_KINDS} kinds of multiplicities")
    worlds = []
    for world in entries.worlds(situation):
        room = [*world.unknown, sum(world.known)]
        alike = [False] * len(world.unknown) + [True]
        holding = 1 - Fraction(n - 1, n) ** size
        weights, curves = [], []
        for draw in _few(drawn_again(room, alike, size, least=1), entries):
            others = _with_multiplicities(entries.classes, draw.others)
            weights.append(draw.weight / holding)
            curves.append(_worst_pair(others, world.pairs(situation.pair), draw.critical))
        worlds.append(Curve.mean(weights, curves))
    return worst(worlds)


def _with_multiplicities(classes: Sequence[EntryClass], drawn: Sequence[Multiplicities]) -> Law:
    """What these entries add; the known ones, at the end, only shift it."""
    kinds = zip(classes, drawn, strict=False)
    return Law.sum([kind.many(number).scaled(factor) for kind, of in kinds for factor, number in of])


def _strata(situation: Situation, stratum_sizes: ByGroup[int]) -> Iterator[tuple[Fraction, Curve]]:
    """The sample of the critical entry's group holds it and one less of the others; other groups are as stated."""
    of_several_counts = situation.asked.changed_counts(None) is not None and not situation.asked.counts_values
    if situation.adversary.total or of_several_counts:
        raise NotApplicable("a stratified sample with known entries, or of several counts, is not averaged over")
    entries = contributions(situation, labelled=True)
    if (entries.joint_values or 1) > budget.MAX_TEMPLATE_ANSWERS:
        raise NotApplicable(f"about {entries.joint_values:.0e} joint answers are too many for this mean")
    sizes = dict(stratum_sizes)
    if any(kind.name is None for kind in entries.classes):
        raise NotApplicable("a stratified sample of entries that have a law each is not averaged over")
    for world in entries.worlds(situation):
        drawn = [sizes[kind.name or ""] for kind in entries.classes]
        if not drawn[world.critical]:
            continue
        numbers = [number - (index == world.critical) for index, number in enumerate(drawn)]
        others = Law.sum([kind.many(number) for kind, number in zip(entries.classes, numbers, strict=True) if number])
        rate = Fraction(drawn[world.critical], entries.classes[world.critical].size)
        yield rate, _worst_pair(others, world.pairs(situation.pair))


def _by_template(situation: Situation, templates: Templates) -> Iterator[tuple[Fraction, Curve]]:
    """Given the template the others add m_i X_i: of each class so many entries are drawn so often; known ones shift."""
    entries = contributions(situation, labelled=True)
    laws = {}
    for tried, (kinds, critical, known, world) in enumerate(worlds_by_number(situation, templates, entries)):
        if tried >= budget.MAX_KNOWN_ENTRY_VALUES:
            raise NotApplicable(f"the known entries can be chosen in more than {budget.MAX_KNOWN_ENTRY_VALUES} ways")
        chances: defaultdict[Drawing, Fraction] = defaultdict(Fraction)
        for template, probability in templates:
            times = Counter(template)
            drawn = times.pop(critical, 0)
            if drawn and probability:
                others = Counter((kinds[entry], factor) for entry, factor in times.items() if entry not in known)
                chances[drawn, tuple(sorted(others.items()))] += probability
        laws[world.critical, frozenset(chances.items())] = world
    for (_, drawings), world in laws.items():
        weights, curves = [], []
        for (drawn, rest), weight in _few(sorted(drawings), entries):
            weights.append(weight)
            added = Law.sum([entries.classes[kind].many(number).scaled(factor) for (kind, factor), number in rest])
            curves.append(_worst_pair(added, world.pairs(situation.pair), drawn))
        if rate := sum(weights, Fraction(0)):
            yield rate, Curve.mean([weight / rate for weight in weights], curves)
