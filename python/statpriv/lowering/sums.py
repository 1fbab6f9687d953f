"""Laws of the released answer of an additive query, over all entries or a sample, for every world.

A sample of entries that are zeros and ones is post-processing of their total count, whatever their laws. For entries
with other contributions, the answer is a mixture over the number of draws from each kind of entry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, product
from math import comb, prod

from statpriv import budget
from statpriv._native import Law
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.contributions import (
    Contributions,
    World,
    class_of_entries,
    contributions,
    multinomial,
    require_written_out,
)
from statpriv.model.draws import Draw, Multiplicities, compositions, drawn_once
from statpriv.model.groups import ByGroup
from statpriv.model.samplings import Sampling, Templates
from statpriv.model.situation import Situation

SUMMING = 16
"""An answer of such a law takes about so many times as long."""

Released = Callable[[int], Law]
"""A function from the critical entry's contribution to the law of the released answer."""


@dataclass(frozen=True)
class Alternative:
    """One world, with the law of the released answer for each choice of the known entries' values."""

    world: World
    known: tuple[tuple[Fraction, Released], ...]
    """For each choice of known values: its probability, if these values are averaged over, and the law."""


def alternatives(
    situation: Situation, *, shift_matters: bool, labelled: bool
) -> tuple[Contributions, list[Alternative]]:
    """All worlds. The contribution of known entries is omitted if it only shifts the answer and shifts do not matter.

    Answers may be `labelled` if they are not processed further.

    Raises
    ------
    NotApplicable
        There is no closed law for this sampling of this query, or there are too many cases.
    """
    sampling = situation.sampling
    hidden_number = sampling is not None and (sampling.repeats_entries or not sampling.sizes_are_fixed)
    entries = contributions(situation, through_zero=hidden_number, labelled=labelled)
    if (templates := templates_of(situation)) is not None:
        return entries, list(_of_templates(situation, templates, entries))
    if sampling is not None and sampling.stratum_sizes is not None:
        return entries, list(_stratified(situation, sampling.stratum_sizes, entries))
    known = bool(situation.adversary.total)
    worlds = list(entries.worlds(situation))
    if sampling is None and situation.asked.counts_values and entries.joint_values is not None:
        _require_short_sums(entries)
    found = []
    for world in worlds:
        if sampling is None:
            require_written_out(world.window)
        cases: list[tuple[Fraction, Released]]
        if known and not (sampling is None or entries.counts):
            amounts = list(_known_amounts(situation, world))
            most = budget.MAX_JOINT_ANSWERS // (len(amounts) * len(worlds))
            cases = [(weight, _drawn(sampling, world, of, most)) for weight, of in amounts]
        else:
            totals = [(Fraction(1), 0)]
            if known and (sampling is not None or shift_matters):
                totals = list(_known_totals(situation, world))
            most = budget.MAX_JOINT_ANSWERS // (len(totals) * len(worlds))
            cases = [(weight, _released(sampling, world, total, most)) for weight, total in totals]
        found.append(Alternative(world, tuple(cases)))
    return entries, found


def _require_short_sums(entries: Contributions) -> None:
    """Histograms of several groups; those of one are counted out."""
    if (entries.joint_values or 1) * (len(entries.classes) - 1) > budget.MAX_SUMMED_ANSWERS:
        raise NotApplicable(
            f"histograms of {len(entries.classes)} groups with about {entries.joint_values:.0e} joint values take too "
            "long to be added up"
        )


@dataclass(frozen=True)
class CountedWorld:
    """One world of a count, with the law of the released answer by the number of counted known entries per class."""

    world: World
    released: Callable[[tuple[int, ...]], Released]


def counted_worlds(situation: Situation) -> list[CountedWorld]:
    """All worlds of a count that releases one number.

    Raises
    ------
    NotApplicable
        There is no closed law for this sampling, or there are too many cases.
    """
    entries = contributions(situation)
    if (templates := templates_of(situation)) is not None:
        if situation.adversary.total:
            raise NotApplicable("known entries of a template law are not available for order statistics")
        return [_without_known(alternative) for alternative in _of_templates(situation, templates, entries)]
    return [_counted_world(situation, world) for world in entries.worlds(situation)]


def _without_known(alternative: Alternative) -> CountedWorld:
    [(_, released)] = alternative.known
    return CountedWorld(alternative.world, lambda _: released)


def _counted_world(situation: Situation, world: World) -> CountedWorld:
    sampling = situation.sampling
    strata = None if sampling is None else sampling.stratum_sizes
    if strata is not None:
        return CountedWorld(
            world,
            lambda ones: _strata(world, strata, tuple(map(_as_amounts, ones, world.known)), budget.MAX_JOINT_ANSWERS),
        )
    return CountedWorld(world, lambda ones: _released(sampling, world, sum(ones), budget.MAX_JOINT_ANSWERS))


def _as_amounts(ones: int, known: int) -> tuple[tuple[int, int], ...]:
    return tuple((amount, number) for amount, number in ((1, ones), (0, known - ones)) if number)


def _known_totals(situation: Situation, world: World) -> Iterator[tuple[Fraction, int]]:
    """The possible totals of the known entries, with probabilities; with worst-case values, each total separately."""
    kinds = list(zip(world.contributions.classes, world.contributions.values, world.known, strict=True))
    reached = {0}
    for _, values, known in kinds:
        amounts = {amount for _, amount in values}
        for _ in range(known):
            reached = {total + amount for total in reached for amount in amounts}
            if len(reached) > budget.MAX_KNOWN_ENTRY_VALUES:
                raise NotApplicable(
                    f"the known entries can add more than {budget.MAX_KNOWN_ENTRY_VALUES} different numbers"
                )
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
"""By class: the contributions of the known entries, and the number of entries with each contribution."""


def _known_amounts(situation: Situation, world: World) -> Iterator[tuple[Fraction, Amounts]]:
    """The possible contributions of the known entries, with probabilities."""
    classes = world.contributions.classes
    possible = [tuple(dict.fromkeys(amount for _, amount in values)) for values in world.contributions.values]
    most = budget.MAX_KNOWN_ENTRY_VALUES if world.contributions.counts else budget.MAX_KNOWN_ENTRY_COMPOSITIONS
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


def _released(sampling: Sampling | None, world: World, known: int, most: int) -> Released:
    """The law of the answer when the known entries add so much."""
    n = sum(world.unknown) + sum(world.known) + 1
    others = world.others
    if sampling is None:
        return lambda added: others.shifted(known + added)
    if world.contributions.counts and sampling.draws_counts:
        return lambda added: sampling.of_count(others.shifted(known + added), n)
    return _drawn(sampling, world, (_as_amounts(known, sum(world.known)),), most)


def _drawn(sampling: Sampling, world: World, known: Amounts, most: int) -> Released:
    """The law of the sampled entries' sum, given the known entries' contributions."""
    if sampling.independent_rate is not None:
        return _at_a_rate(sampling, sampling.independent_rate, world, known, most)
    if sampling.most_draws_of_an_entry >= budget.MAX_DRAWS:
        # There are more ways to draw than entries: large samples are refused before numbers become long.
        raise NotApplicable(f"samples of {budget.MAX_DRAWS} or more, of which some coincide, are not averaged over")
    answers = world.contributions.joint_values or 1
    stride, samples = 1, sampling.number_of_answers
    if samples > 1 or not sampling.is_one_sample:
        stride = world.contributions.answers(sampling.most_draws_of_an_entry)
        answers = stride**samples
        if answers > most:
            raise NotApplicable(f"{samples} samples have too many joint answers to be added up")
    sources = _sources(world, known)
    draws = sampling.draws([of.size for of in sources], [of.law is None for of in sources], stride)
    if draws is None:
        raise NotApplicable(f"a sum over {sampling!r} has no closed law here, unless it is a count")
    return _mixture(sources, draws, most // answers)


@dataclass(frozen=True)
class Source:
    """Entries with the same kind of contribution: a fixed amount each, or numbers whose sum has a known law."""

    size: int
    amount: int = 0
    law: Callable[[int], Law] | None = None


def _sources(world: World, known: Amounts) -> list[Source]:
    """All entries but the critical one, merged by kind of contribution."""
    found = [Source(number, amount) for of in known for amount, number in of]
    classes = zip(world.contributions.classes, world.unknown, strict=True)
    return found + [Source(count, law=kind.many) for kind, count in classes if count]


def _mixture(sources: list[Source], draws: Iterator[Draw], most: int) -> Released:
    """A mixture over the draws, of at most `most` laws; given a draw, the sum has independent summands.

    For identically distributed entries, each drawn at most once, it is ``(1 − s/n) S_s + (s/n)(v + S_{s−1})``.
    """
    cases: dict[tuple[int, tuple[Multiplicities, ...], int], Fraction] = {}
    for tried, draw in enumerate(draws, 1):
        if tried > budget.MAX_DRAWS:
            raise NotApplicable(
                f"the sample can be drawn from the kinds of entries in more than {budget.MAX_DRAWS} ways"
            )
        kinds = list(zip(sources, draw.others, strict=True))
        fixed = sum(of.amount * factor * k for of, drawn in kinds if of.law is None for factor, k in drawn)
        random = tuple(drawn for of, drawn in kinds if of.law is not None)
        case = draw.critical, random, fixed
        cases[case] = cases.get(case, Fraction(0)) + draw.weight
    if len(cases) > most:
        raise NotApplicable(f"all joint answers of {len(cases)} laws are too many to be added up")
    several = [of.law for of in sources if of.law is not None]
    sums = {
        random: Law.sum(
            [law(k).scaled(factor) for law, drawn in zip(several, random, strict=True) for factor, k in drawn]
        )
        for random in dict.fromkeys(random for _, random, _ in cases)
    }
    weights = list(cases.values())
    return lambda added: Law.mixture(
        weights, [sums[random].shifted(fixed + factor * added) for factor, random, fixed in cases]
    )


def _at_a_rate(sampling: Sampling, rate: Fraction, world: World, known: Amounts, most: int) -> Released:
    """Entries outside the sample add zero; each entry adds its contribution with probability γ.

    If the sample size is published, each sampled entry also adds one to a digit above those of the answer.
    """
    entries = world.contributions
    n = sum(world.unknown) + sum(world.known) + 1
    marker = entries.answers(n) if sampling.size_published else 0
    answers = max(entries.joint_values or 1, marker * (n + 1))
    kinds = sum(map(bool, world.unknown)) + sum(map(len, known))
    if answers > most or (kinds > 1 and answers > min(budget.MAX_SUMMED_ANSWERS, most // (SUMMING * kinds))):
        raise NotApplicable(
            f"a sum over {kinds} kinds of entries with about {answers:.0e} joint answers takes too long"
        )
    classes = zip(entries.classes, world.unknown, strict=True)
    parts = [kind.thinned(rate, marker).many(count) for kind, count in classes if count]
    amounts = ((amount + marker, number) for of in known for amount, number in of)
    parts += [Law.binomial(number, rate).scaled(amount) for amount, number in amounts if amount]
    others = Law.sum(parts)
    return lambda added: Law.mixture([1 - rate, rate], [others, others.shifted(added + marker)])


def _stratified(situation: Situation, sizes: ByGroup[int], entries: Contributions) -> Iterator[Alternative]:
    """Every group is sampled separately, and the answers are summed."""
    if any(kind.name is None for kind in entries.classes):
        raise NotApplicable("a stratified sample of entries that have a law each has no closed law here")
    worlds = [(world, list(_known_amounts(situation, world))) for world in entries.worlds(situation)]
    tried = sum(len(amounts) for _, amounts in worlds)
    if tried > budget.MAX_KNOWN_ENTRY_VALUES:
        raise NotApplicable(f"the known entries can have more than {budget.MAX_KNOWN_ENTRY_VALUES} different values")
    most = budget.MAX_JOINT_ANSWERS // tried
    for world, amounts in worlds:
        yield Alternative(world, tuple((weight, _strata(world, sizes, known, most)) for weight, known in amounts))


def _strata(world: World, sizes: ByGroup[int], known: Amounts, most: int) -> Released:
    classes = world.contributions.classes
    parts = {
        name: _stratum(world, [index for index, kind in enumerate(classes) if kind.name == name], size, known, most)
        for name, size in sizes
    }
    own = parts.pop(classes[world.critical].name or "")
    others = [law(0) for law in parts.values()]
    return lambda added: Law.sum([own(added), *others])


def _stratum(world: World, members: list[int], size: int, known: Amounts, most: int) -> Released:
    """The sample, by class, of one group that may hold the critical entry."""
    classes = [world.contributions.classes[index] for index in members]
    unknown = [world.unknown[index] for index in members]
    amounts = [pair for index in members for pair in known[index]]
    own = world.critical in members
    if world.contributions.counts and (amounts or len(members) > 1):
        ones = Law.sum([kind.many(number) for kind, number in zip(classes, unknown, strict=True)])
        total = ones.shifted(sum(amount * number for amount, number in amounts))
        population = sum(kind.size for kind in classes)
        return lambda added: total.shifted(added if own else 0).sampled_without_replacement(population, size)
    sources = [Source(number, amount) for amount, number in amounts]
    sources += [Source(number, law=kind.many) for kind, number in zip(classes, unknown, strict=True) if number]
    answers = world.contributions.joint_values or 1
    return _mixture(sources, drawn_once([of.size for of in sources], size, critical=own), most // answers)


def templates_of(situation: Situation) -> Templates | None:
    """Each possible sample with its probability, if the sampling states samples one by one."""
    return None if situation.sampling is None else situation.sampling.templates_of(situation.population)


def _of_templates(situation: Situation, templates: Templates, entries: Contributions) -> Iterator[Alternative]:
    """A mixture over the templates; entries are numbered in the order of the groups, or of the probabilities."""
    tried = 0
    for kinds, critical, known, world in worlds_by_number(situation, templates, entries):
        cases = []
        for weight, amounts in _values_of_known(situation, entries, kinds, known):
            tried += 1
            if tried > budget.MAX_KNOWN_ENTRY_VALUES:
                raise NotApplicable(
                    "the known entries can be chosen, and have values, in more than "
                    f"{budget.MAX_KNOWN_ENTRY_VALUES} ways"
                )
            cases.append((weight, _from_templates(templates, entries, kinds, critical, amounts)))
        yield Alternative(world, tuple(cases))


def worlds_by_number(
    situation: Situation, templates: Templates, entries: Contributions
) -> Iterator[tuple[Sequence[int], int, tuple[int, ...], World]]:
    """The class of each entry, the index of the critical entry, and the indices of the known ones."""
    n = situation.population.size
    if len(templates) > budget.MAX_TEMPLATES or n > budget.MAX_TEMPLATE_ENTRIES:
        raise NotApplicable(
            f"more than {budget.MAX_TEMPLATES} templates or {budget.MAX_TEMPLATE_ENTRIES} entries are not tried one by "
            "one"
        )
    kinds = class_of_entries(situation)
    for critical in range(n):
        for known in _choices_of_known(situation, entries, kinds, critical):
            counts = Counter(kinds[entry] for entry in known)
            world = World(entries, kinds[critical], tuple(counts[index] for index in range(len(entries.classes))))
            yield kinds, critical, known, world


def _choices_of_known(
    situation: Situation, entries: Contributions, kinds: Sequence[int], critical: int
) -> Iterator[tuple[int, ...]]:
    """The possible sets of known entries."""
    others = [entry for entry in range(len(kinds)) if entry != critical]
    stated = situation.adversary.groups
    if not situation.adversary.by_group:
        yield from combinations(others, situation.adversary.total)
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
    """The contribution of each known entry, with its probability."""
    possible = [dict.fromkeys(amount for _, amount in entries.values[kinds[entry]]) for entry in known]
    for amounts in product(*possible):
        weight = Fraction(1)
        if situation.adversary.values == "expected":
            for entry, amount in zip(known, amounts, strict=True):
                weight *= dict(entries.classes[kinds[entry]].shares).get(amount, Fraction(0))
        if weight > 0:
            yield weight, dict(zip(known, amounts, strict=True))


def _from_templates(
    templates: Templates, entries: Contributions, kinds: Sequence[int], critical: int, known: dict[int, int]
) -> Released:
    certain = {*known, critical}

    def law(added: int) -> Law:
        weights, laws = [], []
        for template, weight in templates:
            others = sorted(set(template) - certain)
            parts = [entries.classes[kinds[entry]].one.scaled(template.count(entry)) for entry in others]
            weights.append(weight)
            fixed = {**known, critical: added}
            laws.append(Law.sum(parts).shifted(sum(template.count(entry) * fixed[entry] for entry in fixed)))
        return Law.mixture(weights, laws)

    return law
