"""Laws of what is released of an additive query: of all entries or of a sample, for every world.

A sample of entries that are zeros and ones is post-processing of their total count, whatever their laws. Of
entries that add other numbers, it is a mixture over how often entries of each kind are drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, product
from math import comb, prod
from typing import TypeAlias

from statpriv._native import Law
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.contributions import (
    Contributions,
    World,
    compositions,
    contributions,
    multinomial,
    require_written_out,
)
from statpriv.lowering.draws import Draw, Multiplicities, drawn_again, drawn_once, drawn_several_times
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.samplings import (
    OverlappingSamples,
    PoissonSampling,
    Sampling,
    Stratified,
    TemplateLaw,
    WithoutReplacement,
    WithReplacement,
)
from statpriv.model.situation import Situation

__all__ = ["MOST_KNOWN", "Alternative", "CountedWorld", "alternatives", "counted_worlds", "worlds_by_number"]

MOST_KNOWN = 1000
"""So many values of the known entries are tried one by one."""
MOST_COMPOSITIONS = 100
"""The same, where their law in a sample is a mixture each time."""
MOST_DRAWS = 1000
"""So many ways to draw from kinds of entries are averaged over one by one."""
MOST_ANSWERS = 2**22
"""So many joint answers may all these laws have together, for all that the known entries may be: some seconds."""
MOST_SUMMED = 2**16
"""So many may each of these laws have where the numbers of several kinds of entries are added up."""
SUMMING = 16
"""An answer of such a law takes about so many times as long."""
MOST_TEMPLATES = 2000
MOST_CRITICAL = 200

Released = Callable[[int], Law]
"""From what the critical entry adds to the law of what is released."""


@dataclass(frozen=True)
class Alternative:
    """One world, with the law of what is released for each of the values that the known entries may have."""

    world: World
    known: tuple[tuple[Fraction, Released], ...]
    """Probability, where the values are expected ones, and law."""


def alternatives(
    situation: Situation, *, shift_matters: bool, labelled: bool
) -> tuple[Contributions, list[Alternative]]:
    """All worlds. What the known entries add is left out where it only shifts the answer and that does not matter.

    Answers may be `labelled` where nothing is done to them.

    Raises
    ------
    NotApplicable
        There is no closed law for this sampling of this query, or there are too many cases.
    """
    sampling = situation.sampling
    hidden_number = isinstance(sampling, PoissonSampling | TemplateLaw | WithReplacement)
    entries = contributions(situation, through_zero=hidden_number, labelled=labelled)
    if isinstance(sampling, TemplateLaw):
        return entries, list(_of_templates(situation, sampling, entries))
    if isinstance(sampling, Stratified):
        return entries, list(_stratified(situation, sampling, entries))
    known = bool(situation.adversary.total)
    worlds = list(entries.worlds(situation))
    if isinstance(situation.asked, HistogramQuery) and sampling is None:
        _require_short_sums(entries)
    found = []
    for world in worlds:
        if sampling is None:
            require_written_out(world.window)
        cases: list[tuple[Fraction, Released]]
        if known and not (sampling is None or entries.counts):
            amounts = list(_known_amounts(situation, world))
            most = MOST_ANSWERS // (len(amounts) * len(worlds))
            cases = [(weight, _drawn(sampling, world, of, most)) for weight, of in amounts]
        else:
            totals = [(Fraction(1), 0)]
            if known and (sampling is not None or shift_matters):
                totals = list(_known_totals(situation, world))
            most = MOST_ANSWERS // (len(totals) * len(worlds))
            cases = [(weight, _released(sampling, world, total, most)) for weight, total in totals]
        found.append(Alternative(world, tuple(cases)))
    return entries, found


def _require_short_sums(entries: Contributions) -> None:
    """Histograms of several groups; those of one are counted out."""
    if (entries.joint_values or 1) * (len(entries.classes) - 1) > MOST_SUMMED:
        raise NotApplicable(
            f"histograms of {len(entries.classes)} groups with about {entries.joint_values:.0e} joint values take too "
            "long to be added up"
        )


@dataclass(frozen=True)
class CountedWorld:
    """One world of a count, with the law of what is released by how many known entries of each class are counted."""

    world: World
    released: Callable[[tuple[int, ...]], Released]


def counted_worlds(situation: Situation) -> list[CountedWorld]:
    """All worlds of a count of which one number is released.

    Raises
    ------
    NotApplicable
        There is no closed law for this sampling, or there are too many cases.
    """
    sampling = situation.sampling
    entries = contributions(situation)
    if isinstance(sampling, TemplateLaw):
        if situation.adversary.total:
            raise NotApplicable("known entries of a template law are not available for order statistics")
        return [_without_known(alternative) for alternative in _of_templates(situation, sampling, entries)]
    return [_counted_world(situation, world) for world in entries.worlds(situation)]


def _without_known(alternative: Alternative) -> CountedWorld:
    [(_, released)] = alternative.known
    return CountedWorld(alternative.world, lambda _: released)


def _counted_world(situation: Situation, world: World) -> CountedWorld:
    sampling = situation.sampling
    if isinstance(sampling, Stratified):
        return CountedWorld(world, lambda ones: _strata(world, sampling, tuple(map(_as_amounts, ones, world.known))))
    return CountedWorld(world, lambda ones: _released(sampling, world, sum(ones)))


def _as_amounts(ones: int, known: int) -> tuple[tuple[int, int], ...]:
    return tuple((amount, number) for amount, number in ((1, ones), (0, known - ones)) if number)


def _known_totals(situation: Situation, world: World) -> Iterator[tuple[Fraction, int]]:
    """What the known entries may add, with its probability; where the worst counts, each total by itself."""
    kinds = list(zip(world.contributions.classes, world.contributions.values, world.known, strict=True))
    reached = {0}
    for _, values, known in kinds:
        amounts = {amount for _, amount in values}
        for _ in range(known):
            reached = {total + amount for total in reached for amount in amounts}
            if len(reached) > MOST_KNOWN:
                raise NotApplicable(f"the known entries can add more than {MOST_KNOWN} different numbers")
    if situation.adversary.values != "expected":
        yield from ((Fraction(1), total) for total in sorted(reached))
        return
    totals: dict[int, Fraction] = {0: Fraction(1)}
    for kind, values, known in kinds:
        shares = dict(kind.shares)
        added = {amount: shares.get(amount, Fraction(0)) for _, amount in values}
        for _ in range(known):
            step: dict[int, Fraction] = {}
            for total, weight in totals.items():
                for amount, share in added.items():
                    step[total + amount] = step.get(total + amount, Fraction(0)) + weight * share
            totals = step
    yield from ((weight, total) for total, weight in sorted(totals.items()) if weight > 0)


Amounts = tuple[tuple[tuple[int, int], ...], ...]
"""By class: what the known entries add, and how many of them add that."""


def _known_amounts(situation: Situation, world: World) -> Iterator[tuple[Fraction, Amounts]]:
    """What the known entries are, with its probability."""
    classes = world.contributions.classes
    possible = [tuple(dict.fromkeys(amount for _, amount in values)) for values in world.contributions.values]
    most = MOST_KNOWN if world.contributions.counts else MOST_COMPOSITIONS
    if prod(comb(u + len(of) - 1, u) for u, of in zip(world.known, possible, strict=True)) > most:
        raise NotApplicable(f"the known entries can have more than {most} different values")
    ways = [list(compositions(u, [u] * len(of))) for u, of in zip(world.known, possible, strict=True)]
    for numbers in product(*ways):
        amounts = tuple(
            tuple((amount, number) for amount, number in zip(of, chosen, strict=True) if number)
            for of, chosen in zip(possible, numbers, strict=True)
        )
        weight = Fraction(1)
        if situation.adversary.values == "expected":
            for kind, of in zip(classes, amounts, strict=True):
                shares = dict(kind.shares)
                weight *= multinomial(
                    [number for _, number in of], [shares.get(amount, Fraction(0)) for amount, _ in of]
                )
        if weight > 0:
            yield weight, amounts


def _released(sampling: Sampling | None, world: World, known: int, most: int = MOST_ANSWERS) -> Released:
    """The law of the answer when the known entries add so much."""
    n = sum(world.unknown) + sum(world.known) + 1
    others = world.others
    if sampling is None:
        return lambda added: others.shifted(known + added)
    if world.contributions.counts:
        if isinstance(sampling, WithoutReplacement):
            return lambda added: others.shifted(known + added).sampled_without_replacement(n, sampling.size)
        if isinstance(sampling, WithReplacement):
            return lambda added: others.shifted(known + added).sampled_with_replacement(n, sampling.size)
        if isinstance(sampling, OverlappingSamples):
            return lambda added: others.shifted(known + added).sampled_several_times(n, sampling.sizes)
    return _drawn(sampling, world, (_as_amounts(known, sum(world.known)),), most)


def _drawn(sampling: Sampling | None, world: World, known: Amounts, most: int) -> Released:
    """The law of what the sampled entries add, given what the known ones are."""
    if isinstance(sampling, PoissonSampling):
        return _poisson(sampling, world, known, most)
    sources = _sources(world, known)
    room = [number for number, _ in sources]
    answers = world.contributions.joint_values or 1
    if isinstance(sampling, WithoutReplacement):
        return _mixture(sources, drawn_once(room, sampling.size), most // answers)
    if isinstance(sampling, WithReplacement):
        _require_small(sampling.size)
        alike = [isinstance(of, int) for _, of in sources]
        return _mixture(sources, drawn_again(room, alike, sampling.size), most // answers)
    if isinstance(sampling, OverlappingSamples):
        _require_small(max(sampling.sizes))
        answers = world.contributions.answers(max(sampling.sizes))
        together = answers ** len(sampling.sizes)
        if together > most:
            raise NotApplicable(f"{len(sampling.sizes)} samples have too many joint answers to be added up")
        return _mixture(sources, drawn_several_times(room, sampling.sizes, answers), most // together)
    raise NotApplicable(f"a sum over {sampling!r} has no closed law here, unless it is a count")


def _require_small(size: int) -> None:
    """There are more ways to draw than entries: large samples are refused before numbers become long."""
    if size >= MOST_DRAWS:
        raise NotApplicable(f"samples of {MOST_DRAWS} or more, of which some coincide, are not averaged over")


Source: TypeAlias = tuple[int, Callable[[int], Law] | int]
"""So many entries, and the law of what a number of them adds; of known ones what each adds."""


def _sources(world: World, known: Amounts) -> list[Source]:
    """All entries but the critical one, those that add alike together."""
    found: list[Source] = [(number, amount) for of in known for amount, number in of]
    classes = zip(world.contributions.classes, world.unknown, strict=True)
    return found + [(count, kind.many) for kind, count in classes if count]


def _mixture(sources: list[Source], draws: Iterator[Draw], most: int) -> Released:
    """A mixture over the draws, of at most so many laws; given a draw the sum is one of independent numbers.

    Of identically distributed entries, each drawn at most once, it is ``(1 − s/n) S_s + (s/n)(v + S_{s−1})``.
    """
    cases: dict[tuple[int, tuple[Multiplicities, ...], int], Fraction] = {}
    for tried, draw in enumerate(draws, 1):
        if tried > MOST_DRAWS:
            raise NotApplicable(f"the sample can be drawn from the kinds of entries in more than {MOST_DRAWS} ways")
        kinds = list(zip(sources, draw.others, strict=True))
        fixed = sum(of * factor * k for (_, of), drawn in kinds if isinstance(of, int) for factor, k in drawn)
        random = tuple(drawn for (_, of), drawn in kinds if not isinstance(of, int))
        case = draw.critical, random, fixed
        cases[case] = cases.get(case, Fraction(0)) + draw.weight
    if len(cases) > most:
        raise NotApplicable(f"all joint answers of {len(cases)} laws are too many to be added up")
    several = [of for _, of in sources if not isinstance(of, int)]
    sums = {
        random: Law.sum(
            [of(k).scaled(factor) for of, drawn in zip(several, random, strict=True) for factor, k in drawn]
        )
        for random in dict.fromkeys(random for _, random, _ in cases)
    }
    weights = list(cases.values())
    return lambda added: Law.mixture(
        weights, [sums[random].shifted(fixed + factor * added) for factor, random, fixed in cases]
    )


def _poisson(sampling: PoissonSampling, world: World, known: Amounts, most: int) -> Released:
    """Entries that are not in the sample add zero: each adds what it adds with probability γ.

    Where the size is published, each entry of the sample adds one to it too: to a digit above those of the answer.
    """
    rate, entries = sampling.rate, world.contributions
    n = sum(world.unknown) + sum(world.known) + 1
    marker = entries.answers(n) if sampling.size_published else 0
    answers = max(entries.joint_values or 1, marker * (n + 1))
    kinds = sum(map(bool, world.unknown)) + sum(map(len, known))
    if answers > most or (kinds > 1 and answers > min(MOST_SUMMED, most // (SUMMING * kinds))):
        raise NotApplicable(
            f"a sum over {kinds} kinds of entries with about {answers:.0e} joint answers takes too long"
        )
    classes = zip(entries.classes, world.unknown, strict=True)
    parts = [kind.thinned(rate, marker).many(count) for kind, count in classes if count]
    amounts = ((amount + marker, number) for of in known for amount, number in of)
    parts += [Law.binomial(number, rate).scaled(amount) for amount, number in amounts if amount]
    others = Law.sum(parts)
    return lambda added: Law.mixture([1 - rate, rate], [others, others.shifted(added + marker)])


def _stratified(situation: Situation, sampling: Stratified, entries: Contributions) -> Iterator[Alternative]:
    """Every group is sampled by itself: its answers add up."""
    if any(kind.name is None for kind in entries.classes):
        raise NotApplicable("a stratified sample of entries that have a law each has no closed law here")
    worlds = [(world, list(_known_amounts(situation, world))) for world in entries.worlds(situation)]
    tried = sum(len(amounts) for _, amounts in worlds)
    if tried > MOST_KNOWN:
        raise NotApplicable(f"the known entries can have more than {MOST_KNOWN} different values")
    most = MOST_ANSWERS // tried
    for world, amounts in worlds:
        yield Alternative(world, tuple((weight, _strata(world, sampling, known, most)) for weight, known in amounts))


def _strata(world: World, sampling: Stratified, known: Amounts, most: int = MOST_ANSWERS) -> Released:
    classes = world.contributions.classes
    parts = {
        name: _stratum(world, [index for index, kind in enumerate(classes) if kind.name == name], size, known, most)
        for name, size in sampling.sizes
    }
    own = parts.pop(classes[world.critical].name or "")
    others = [law(0) for law in parts.values()]
    return lambda added: Law.sum([own(added), *others])


def _stratum(world: World, members: list[int], size: int, known: Amounts, most: int) -> Released:
    """The sample of one group, which the critical entry may belong to, from its classes."""
    classes = [world.contributions.classes[index] for index in members]
    unknown = [world.unknown[index] for index in members]
    amounts = [pair for index in members for pair in known[index]]
    own = world.critical in members
    if world.contributions.counts and (amounts or len(members) > 1):
        ones = Law.sum([kind.many(number) for kind, number in zip(classes, unknown, strict=True)])
        total = ones.shifted(sum(amount * number for amount, number in amounts))
        population = sum(kind.size for kind in classes)
        return lambda added: total.shifted(added if own else 0).sampled_without_replacement(population, size)
    sources: list[Source] = [(number, amount) for amount, number in amounts]
    sources += [(number, kind.many) for kind, number in zip(classes, unknown, strict=True) if number]
    room = [number for number, _ in sources]
    answers = world.contributions.joint_values or 1
    return _mixture(sources, drawn_once(room, size, critical=own), most // answers)


def _of_templates(situation: Situation, sampling: TemplateLaw, entries: Contributions) -> Iterator[Alternative]:
    """A mixture over the templates; entries are numbered in the order of the groups, or of the probabilities."""
    tried = 0
    for kinds, critical, known, world in worlds_by_number(situation, sampling, entries):
        cases = []
        for weight, amounts in _values_of_known(situation, entries, kinds, known):
            tried += 1
            if tried > MOST_KNOWN:
                raise NotApplicable(f"the known entries can be chosen, and have values, in more than {MOST_KNOWN} ways")
            cases.append((weight, _from_templates(sampling, entries, kinds, critical, amounts)))
        yield Alternative(world, tuple(cases))


def worlds_by_number(
    situation: Situation, sampling: TemplateLaw, entries: Contributions
) -> Iterator[tuple[Sequence[int], int, tuple[int, ...], World]]:
    """The class of each entry, which is the critical one, and which are known."""
    n = situation.population.size
    if len(sampling.probabilities) > MOST_TEMPLATES or n > MOST_CRITICAL:
        raise NotApplicable(f"more than {MOST_TEMPLATES} templates or {MOST_CRITICAL} entries are not tried one by one")
    kinds = _numbered(situation, entries)
    for critical in range(n):
        for known in _choices_of_known(situation, entries, kinds, critical):
            counts = Counter(kinds[entry] for entry in known)
            world = World(entries, kinds[critical], tuple(counts[index] for index in range(len(entries.classes))))
            yield kinds, critical, known, world


def _choices_of_known(
    situation: Situation, entries: Contributions, kinds: Sequence[int], critical: int
) -> Iterator[tuple[int, ...]]:
    """Which entries may be known."""
    others = [entry for entry in range(len(kinds)) if entry != critical]
    stated = situation.adversary.known
    if isinstance(stated, int):
        yield from combinations(others, stated)
        return
    if any(kind.name is None for kind in entries.classes):
        raise NotApplicable("entries are known by group, and the query states laws of single entries")
    members = [
        [entry for entry in others if entries.classes[kinds[entry]].name == name] for name, number in stated if number
    ]
    for chosen in product(*(combinations(of, u) for of, u in zip(members, (u for _, u in stated if u), strict=True))):
        yield tuple(chain.from_iterable(chosen))


def _values_of_known(
    situation: Situation, entries: Contributions, kinds: Sequence[int], known: tuple[int, ...]
) -> Iterator[tuple[Fraction, dict[int, int]]]:
    """What each known entry adds, with its probability."""
    possible = [dict.fromkeys(amount for _, amount in entries.values[kinds[entry]]) for entry in known]
    for amounts in product(*possible):
        weight = Fraction(1)
        if situation.adversary.values == "expected":
            for entry, amount in zip(known, amounts, strict=True):
                weight *= dict(entries.classes[kinds[entry]].shares).get(amount, Fraction(0))
        if weight > 0:
            yield weight, dict(zip(known, amounts, strict=True))


def _from_templates(
    sampling: TemplateLaw, entries: Contributions, kinds: Sequence[int], critical: int, known: dict[int, int]
) -> Released:
    certain = {*known, critical}

    def law(added: int) -> Law:
        weights, laws = [], []
        for template, weight in sampling.probabilities:
            others = sorted(set(template) - certain)
            parts = [entries.classes[kinds[entry]].one.scaled(template.count(entry)) for entry in others]
            weights.append(weight)
            fixed = {**known, critical: added}
            laws.append(Law.sum(parts).shifted(sum(template.count(entry) * fixed[entry] for entry in fixed)))
        return Law.mixture(weights, laws)

    return law


def _numbered(situation: Situation, entries: Contributions) -> Sequence[int]:
    """The class of each entry."""
    if entries.numbering is not None:
        return entries.numbering
    stated = getattr(situation.asked, "probabilities", None)
    if isinstance(stated, tuple) and not isinstance(stated[0], tuple):
        place = {kind.p: index for index, kind in enumerate(entries.classes)}
        return [place[p] for p in stated]
    return [index for index, kind in enumerate(entries.classes) for _ in range(kind.size)]
