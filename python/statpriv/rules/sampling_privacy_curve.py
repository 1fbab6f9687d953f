"""The sampling privacy curve of a secret sample, and the bounds that come from it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product
from math import prod
from types import NoneType
from typing import Any, TypeVar

from statpriv._native import Curve, Law
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.contributions import Contributions, EntryClass, compositions, contributions, multinomial
from statpriv.lowering.draws import Multiplicities, drawn_again, drawn_once
from statpriv.lowering.sums import MOST_KNOWN, worlds_by_number
from statpriv.model.populations import Population
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.linear import LinearQuery
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.queries.protocol import AnswerLaws
from statpriv.model.queries.sum import Additive
from statpriv.model.samplings import PoissonSampling, Stratified, TemplateLaw, WithoutReplacement, WithReplacement
from statpriv.model.situation import Situation
from statpriv.rules.assumptions import INDEPENDENT, KNOWN_LAW, PAPER, SAMPLED, STATED
from statpriv.rules.hidden_sample import MOST_SIZES
from statpriv.rules.histogram_range import histogram_of_cells
from statpriv.rules.registry import rule
from statpriv.rules.whole_population import of_stated_laws, worst

THRESHOLDS = 32
MOST_TEMPLATES = 3000
"""So many kinds of templates are averaged over one by one."""
MOST_ANSWERS = 2**16
"""So many joint answers may they have together: some seconds."""

Template = TypeVar("Template")

SAMPLINGS = (NoneType, WithoutReplacement, WithReplacement, PoissonSampling, Stratified, TemplateLaw)
QUERIES = (PropertyQuery, HistogramQuery, Additive, LinearQuery)


@rule(
    bound="spc",
    kind="bound",
    queries=QUERIES,
    samplings=SAMPLINGS,
    theorem=(
        "The sampling privacy curve: the mean over the templates that hold the critical entry of the curve of the "
        "answer given the template. What is released leaks less than this, by the chance of being in the sample: see "
        "partition-sum."
    ),
    source=f"{PAPER}, Definition 3.3 and Example 1, corrected",
    assumptions=(INDEPENDENT, STATED, SAMPLED),
    competes=False,
    conditional=True,
)
def sampling_privacy_curve(situation: Situation) -> Curve:
    """Definition 3.3, given that the critical entry is in the sample."""
    return Curve.maximum([curve for _, curve in _given_the_sample(situation)])


@rule(
    bound="partition-sum",
    kind="bound",
    queries=QUERIES,
    samplings=SAMPLINGS,
    theorem=(
        "γ times the sampling privacy curve, γ being the probability that the sample holds the critical entry: "
        "otherwise the answer says nothing about it (Theorem 5.2 for one part)."
    ),
    source=f"{PAPER}, Theorem 5.2; known entries by the corrected Example 1",
    assumptions=(INDEPENDENT, STATED, SAMPLED),
)
def partition_sum(situation: Situation) -> Curve:
    """By joint convexity: the maximum over pairs stands inside."""
    return Curve.maximum([Curve.mean([rate], [curve]) for rate, curve in _given_the_sample(situation)])


@rule(
    bound="threshold",
    kind="bound",
    queries=(PropertyQuery,),
    samplings=(NoneType, WithoutReplacement, PoissonSampling),
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
    theorem=(
        "Amplification by subsampling: δ(ln(1 + γ(e^ε − 1))) ≤ γ δ_s(ε) with δ_s the curve of a sample that certainly "
        "holds the critical entry. It needs no more than the law given the sample, and is a comparison."
    ),
    source=(
        "Balle, Barthe and Gaboardi, Privacy Amplification by Subsampling: advanced joint convexity; "
        "without the critical entry another one is drawn, of any value"
    ),
    assumptions=(INDEPENDENT, STATED, SAMPLED),
)
def amplification(situation: Situation) -> Curve:
    """γ Δ(ln(1 + (e^ε − 1)/γ)), for the worst pair of values."""
    if situation.adversary.total:
        raise NotApplicable("known entries of the sample would not be replaced by unknown ones")
    asked: Any = situation.asked
    if not asked.is_uniform:
        raise NotApplicable("an entry that is drawn instead of the critical one may have another law")
    any_pair = replace(situation, pair=None)
    return Curve.maximum([Curve.amplified(rate, curve) for rate, curve in _given_the_sample(any_pair)])


@rule(
    bound="partition-sum",
    kind="bound",
    queries=(AnswerLaws,),
    samplings=(WithoutReplacement, PoissonSampling),
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
    sampling: Any = situation.sampling
    n = situation.population.size

    def of_size(size: int) -> Curve:
        return worst(of_stated_laws(replace(situation, population=Population(size), sampling=None)))

    if isinstance(sampling, WithoutReplacement):
        return Curve.mean([Fraction(sampling.size, n)], [of_size(sampling.size)])
    if n > MOST_SIZES:
        raise NotApplicable(f"a query of the user's own is not averaged over more than {MOST_SIZES} sizes of samples")
    return Curve.mean([sampling.rate], [_over_sizes(n - 1, sampling.rate, of_size)])


def _given_the_sample(situation: Situation, thresholds: int | None = None) -> list[tuple[Fraction, Curve]]:
    """For each class that may hold the critical entry: its chance of being sampled, and the curve given that it is."""
    sampling: Any = situation.sampling
    n = situation.population.size
    if isinstance(sampling, Stratified):
        return list(_strata(situation, sampling))
    if isinstance(sampling, TemplateLaw):
        return list(_by_template(situation, sampling))
    if sampling is None or isinstance(sampling, WithoutReplacement):
        size = n if sampling is None else sampling.size
        return [(Fraction(size, n), _drawn_once(situation, size, thresholds))]
    if isinstance(sampling, PoissonSampling):
        return [(sampling.rate, _at_a_rate(situation, sampling.rate, thresholds))]
    return [(1 - Fraction(n - 1, n) ** sampling.size, _drawn_again(situation, sampling.size))]


def _is_one_property(situation: Situation) -> bool:
    return isinstance(situation.asked, PropertyQuery) and situation.asked.is_uniform


def _drawn_once(situation: Situation, size: int, thresholds: int | None) -> Curve:
    """The other s − 1 of a sample without replacement: how many of them are known, and of which class, is random."""
    asked: Any = situation.asked
    n, known, pair = situation.population.size, situation.adversary.total, situation.pair
    if _is_one_property(situation) and isinstance(situation.adversary.known, int):
        if not known:
            return Curve.count(size=size, lower=asked.lower, upper=asked.upper, pair=pair)
        return Curve.known_entries(
            population=n,
            known=known,
            size=size,
            lower=asked.lower,
            upper=asked.upper,
            pair=pair,
            thresholds=thresholds,
        )
    if thresholds is not None:
        raise NotApplicable("thresholds are for one property with one probability")
    if isinstance(asked, HistogramQuery) and asked.is_uniform and not known:
        return histogram_of_cells(asked, size, pair)
    return _over_compositions(situation, size)


def _over_compositions(situation: Situation, size: int) -> Curve:
    """Multivariate hypergeometric numbers of the unknown others of each class, and of known ones."""
    entries = contributions(situation, labelled=True)
    worlds = []
    for world in entries.worlds(situation):
        pools = [*world.unknown, sum(world.known)]
        ways = islice(compositions(size - 1, pools), MOST_TEMPLATES + 1)
        if sum(1 for _ in ways) > MOST_TEMPLATES:
            raise NotApplicable(f"a sample can be composed in more than {MOST_TEMPLATES} ways")
        weights, curves = [], []
        for draw in _few(drawn_once(pools, size - 1, critical=False), entries):
            weights.append(draw.weight)
            curves.append(_worst_pair(_with_multiplicities(entries.classes, draw.others), world.pairs(situation.pair)))
        worlds.append(Curve.mean(weights, curves))
    return worst(worlds)


def _few(templates: Iterable[Template], entries: Contributions) -> Iterator[Template]:
    """Kinds of templates, if they are few; of several counts at once, if they have few answers together."""
    most = min(MOST_TEMPLATES, MOST_ANSWERS // (entries.joint_values or 1))
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
    asked: Any = situation.asked
    others = situation.population.size - 1 - situation.adversary.total
    if _is_one_property(situation):
        return Curve.irrelevant_entries(
            size=others + 1,
            others=others,
            irrelevant=1 - rate,
            lower=asked.lower,
            upper=asked.upper,
            pair=situation.pair,
            thresholds=thresholds,
        )
    if isinstance(asked, HistogramQuery) and asked.is_uniform and others <= MOST_SIZES:
        return _over_sizes(others, rate, lambda size: histogram_of_cells(asked, size, situation.pair))
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
    if size >= MOST_TEMPLATES:
        raise NotApplicable(f"so many draws have more than {MOST_TEMPLATES} kinds of multiplicities")
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


def _strata(situation: Situation, sampling: Stratified) -> Iterator[tuple[Fraction, Curve]]:
    """The sample of the critical entry's group holds it and one less of the others; other groups are as stated."""
    asked = situation.asked
    if situation.adversary.total or isinstance(asked, LinearQuery):
        raise NotApplicable("a stratified sample with known entries, or of several counts, is not averaged over")
    entries = contributions(situation, labelled=True)
    if (entries.joint_values or 1) > MOST_ANSWERS:
        raise NotApplicable(f"about {entries.joint_values:.0e} joint answers are too many for this mean")
    sizes = dict(sampling.sizes)
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


def _by_template(situation: Situation, sampling: TemplateLaw) -> Iterator[tuple[Fraction, Curve]]:
    """Given the template the others add m_i X_i: of each class so many entries are drawn so often; known ones shift."""
    entries = contributions(situation, labelled=True)
    laws = {}
    for tried, (kinds, critical, known, world) in enumerate(worlds_by_number(situation, sampling, entries)):
        if tried >= MOST_KNOWN:
            raise NotApplicable(f"the known entries can be chosen in more than {MOST_KNOWN} ways")
        chances: defaultdict[Any, Fraction] = defaultdict(Fraction)
        for template, probability in sampling.probabilities:
            times = Counter(template)
            drawn = times.pop(critical, 0)
            if drawn and probability:
                others = Counter((kinds[entry], factor) for entry, factor in times.items() if entry not in known)
                chances[drawn, tuple(sorted(others.items()))] += probability
        laws[world.critical, frozenset(chances.items())] = world
    for (_, drawings), world in laws.items():
        weights, curves = [], []
        for (drawn, others), weight in _few(sorted(drawings), entries):
            weights.append(weight)
            rest = Law.sum([entries.classes[kind].many(number).scaled(factor) for (kind, factor), number in others])
            curves.append(_worst_pair(rest, world.pairs(situation.pair), drawn))
        if rate := sum(weights, Fraction(0)):
            yield rate, Curve.mean([weight / rate for weight in weights], curves)
