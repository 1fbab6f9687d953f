"""Laws of what is released of an additive query: of all entries or of a sample, for every world.

A sample of entries that are zeros and ones is post-processing of their total count, whatever their laws. Of
entries that add other numbers, a sample without replacement of identically distributed ones is again a number of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, product
from math import comb, perm, prod

from statpriv._native import Law
from statpriv.entries import Contributions, World, compositions, contributions, multinomial
from statpriv.rules.registry import NotApplicable
from statpriv.samplings import (
    OverlappingSamples,
    PoissonSampling,
    Sampling,
    Stratified,
    TemplateLaw,
    WithoutReplacement,
    WithReplacement,
)
from statpriv.situation import Situation

__all__ = ["MOST_KNOWN", "Alternative", "CountedWorld", "alternatives", "counted_worlds"]

MOST_KNOWN = 1000
"""So many values of the known entries are tried one by one."""
MOST_COMPOSITIONS = 100
"""The same, where their law in a sample is a mixture each time."""
MOST_DRAWS = 500
"""So many ways to draw from kinds of entries are averaged over one by one."""
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


def alternatives(situation: Situation, *, shift_matters: bool) -> tuple[Contributions, list[Alternative]]:
    """All worlds. What the known entries add is left out where it only shifts the answer and that does not matter.

    Raises
    ------
    NotApplicable
        There is no closed law for this sampling of this query, or there are too many cases.
    """
    sampling = situation.sampling
    hidden_number = isinstance(sampling, PoissonSampling | TemplateLaw | WithReplacement)
    entries = contributions(situation, through_zero=hidden_number)
    if isinstance(sampling, TemplateLaw):
        return entries, list(_of_templates(situation, sampling, entries))
    if isinstance(sampling, Stratified):
        return entries, list(_stratified(situation, sampling, entries))
    known = bool(situation.adversary.total)
    by_total = sampling is None or entries.counts
    found = []
    for world in entries.worlds(situation):
        cases: list[tuple[Fraction, Released]]
        if known and not by_total:
            cases = [(weight, _drawn(sampling, world, of)) for weight, of in _known_amounts(situation, world)]
        else:
            totals = [(Fraction(1), 0)]
            if known and (sampling is not None or shift_matters):
                totals = list(_known_totals(situation, world))
            cases = [(weight, _released(sampling, world, total)) for weight, total in totals]
        found.append(Alternative(world, tuple(cases)))
    return entries, found


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
            raise NotApplicable("known entries of a template law are available for counts, sums and means only")
        return [_without_known(alternative) for alternative in _of_templates(situation, sampling, entries)]
    return [_counted_world(situation, world) for world in entries.worlds(situation)]


def _without_known(alternative: Alternative) -> CountedWorld:
    [(_, released)] = alternative.known
    return CountedWorld(alternative.world, lambda _: released)


def _counted_world(situation: Situation, world: World) -> CountedWorld:
    sampling = situation.sampling
    if isinstance(sampling, Stratified):
        sizes = dict(sampling.sizes)
        drawn = [sizes[kind.name or ""] for kind in world.contributions.classes]
        return CountedWorld(world, lambda ones: _strata(world, drawn, tuple(map(_as_amounts, ones, world.known))))
    return CountedWorld(world, lambda ones: _released(sampling, world, sum(ones)))


def _as_amounts(ones: int, known: int) -> tuple[tuple[int, int], ...]:
    return tuple((amount, number) for amount, number in ((1, ones), (0, known - ones)) if number)


def _known_totals(situation: Situation, world: World) -> Iterator[tuple[Fraction, int]]:
    """What the known entries may add, with its probability."""
    totals: dict[int, Fraction] = {0: Fraction(1)}
    for index, known in enumerate(world.known):
        shares = dict(world.contributions.classes[index].shares)
        added = {amount: shares.get(amount, Fraction(0)) for _, amount in world.contributions.values[index]}
        for _ in range(known):
            step: dict[int, Fraction] = {}
            for total, weight in totals.items():
                for amount, share in added.items():
                    step[total + amount] = step.get(total + amount, Fraction(0)) + weight * share
            totals = step
            if len(totals) > MOST_KNOWN:
                raise NotApplicable(f"the known entries can add more than {MOST_KNOWN} different numbers")
    if situation.adversary.values == "expected":
        yield from ((weight, total) for total, weight in sorted(totals.items()) if weight > 0)
    else:
        yield from ((Fraction(1), total) for total in sorted(totals))


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


def _released(sampling: Sampling | None, world: World, known: int) -> Released:
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
    return _drawn(sampling, world, (((1, known),),) if known else ())


def _drawn(sampling: Sampling | None, world: World, known: Amounts) -> Released:
    """The law of what the sampled entries add, each of which is drawn at most once."""
    if isinstance(sampling, PoissonSampling):
        return _poisson(sampling, world, known)
    if isinstance(sampling, WithoutReplacement):
        return _without_replacement(_sources(world, known), sampling.size)
    raise NotApplicable(f"a sum over {sampling!r} has no closed law here, unless it is a count")


Source = tuple[int, Callable[[int], Law] | int]
"""So many entries, and the law of what a number of them adds; of known ones what each adds."""


def _sources(world: World, known: Amounts) -> list[Source]:
    """All entries but the critical one, those that add alike together."""
    found: list[Source] = [(number, amount) for of in known for amount, number in of]
    classes = zip(world.contributions.classes, world.unknown, strict=True)
    return found + [(count, kind.many) for kind, count in classes if count]


def _without_replacement(sources: list[Source], size: int, *, critical: bool = True) -> Released:
    """A mixture over how many of each kind are drawn, the critical entry being a kind of its own.

    Given that, the sum is one of independent numbers. Of identically distributed entries it is
    ``(1 − s/n) S_s + (s/n)(v + S_{s−1})``.
    """
    ordered = sorted(sources, key=lambda source: source[0])
    room = [number for number, _ in ordered]
    if prod(min(number, size) + 1 for number in room[:-1]) > MOST_DRAWS:
        raise NotApplicable(f"the sample can hold more than {MOST_DRAWS} different numbers of each kind of entries")
    cases: dict[tuple[int, tuple[int, ...], int], Fraction] = {}
    for holds in range(min(size, 1) + 1) if critical else [0]:
        for drawn in compositions(size - holds, room):
            fixed = sum(k * of for (_, of), k in zip(ordered, drawn, strict=True) if isinstance(of, int))
            random = tuple(k for (_, of), k in zip(ordered, drawn, strict=True) if not isinstance(of, int))
            weight = _chance_of_draws(drawn, room, size, critical=critical)
            cases[holds, random, fixed] = cases.get((holds, random, fixed), Fraction(0)) + weight
    several = [of for _, of in ordered if not isinstance(of, int)]
    sums = {
        random: Law.sum([of(k) for of, k in zip(several, random, strict=True) if k])
        for random in dict.fromkeys(random for _, random, _ in cases)
    }
    weights = list(cases.values())
    return lambda added: Law.mixture(
        weights, [sums[random].shifted(fixed + holds * added) for holds, random, fixed in cases]
    )


def _chance_of_draws(drawn: tuple[int, ...], room: list[int], size: int, *, critical: bool) -> Fraction:
    """Multivariate hypergeometric: ``Π C(N_i, k_i)/C(n, s)``, with short numbers however large the last kind is.

    With d entries of the other kinds, e of them drawn, ``C(n−d, s−e)/C(n, s)`` is a quotient of falling factorials:
    ``(s)_e (n−s)_{d−e}/(n)_d``.
    """
    n = sum(room) + critical
    others = n - (room[-1] if room else 0)
    chosen = size - (drawn[-1] if drawn else 0)
    ways = prod(comb(number, k) for number, k in zip(room[:-1], drawn[:-1], strict=True))
    return Fraction(ways * perm(size, chosen) * perm(n - size, others - chosen), perm(n, others))


def _poisson(sampling: PoissonSampling, world: World, known: Amounts) -> Released:
    """Entries that are not in the sample add zero: each adds what it adds with probability γ."""
    if sampling.size_published:
        raise NotApplicable("the law of the answer with its published size is not one number")
    rate = sampling.rate
    classes = zip(world.contributions.classes, world.unknown, strict=True)
    parts = [kind.thinned(rate).many(count) for kind, count in classes if count]
    parts += [Law.binomial(number, rate).scaled(amount) for of in known for amount, number in of if amount]
    others = Law.sum(parts)
    return lambda added: Law.mixture([1 - rate, rate], [others, others.shifted(added)])


def _stratified(situation: Situation, sampling: Stratified, entries: Contributions) -> Iterator[Alternative]:
    """Every group is sampled by itself: its answers add up."""
    sizes = dict(sampling.sizes)
    if any(kind.name is None for kind in entries.classes):
        raise NotApplicable("a stratified sample of entries that have a law each has no closed law here")
    drawn = [sizes[kind.name or ""] for kind in entries.classes]
    tried = 0
    for world in entries.worlds(situation):
        cases = []
        for weight, known in _known_amounts(situation, world):
            tried += 1
            if tried > MOST_KNOWN:
                raise NotApplicable(f"the known entries can have more than {MOST_KNOWN} different values")
            cases.append((weight, _strata(world, drawn, known)))
        yield Alternative(world, tuple(cases))


def _strata(world: World, drawn: list[int], known: Amounts) -> Released:
    parts = [_stratum(world, index, size, known[index]) for index, size in enumerate(drawn)]
    own = parts.pop(world.critical)
    others = [law(0) for law in parts]
    return lambda added: Law.sum([own(added), *others])


def _stratum(world: World, index: int, size: int, known: tuple[tuple[int, int], ...]) -> Released:
    """The sample of one group, which the critical entry may belong to."""
    kind, unknown = world.contributions.classes[index], world.unknown[index]
    own = index == world.critical
    if known and world.contributions.counts:
        total = kind.many(unknown).shifted(sum(amount * number for amount, number in known))
        return lambda added: total.shifted(added if own else 0).sampled_without_replacement(kind.size, size)
    sources: list[Source] = [(number, amount) for amount, number in known]
    sources += [(unknown, kind.many)] if unknown else []
    return _without_replacement(sources, size, critical=own)


def _of_templates(situation: Situation, sampling: TemplateLaw, entries: Contributions) -> Iterator[Alternative]:
    """A mixture over the templates; entries are numbered in the order of the groups, or of the probabilities."""
    n = situation.population.size
    if len(sampling.probabilities) > MOST_TEMPLATES or n > MOST_CRITICAL:
        raise NotApplicable(f"more than {MOST_TEMPLATES} templates or {MOST_CRITICAL} entries are not tried one by one")
    kinds = _numbered(situation, entries)
    tried = 0
    for critical in range(n):
        for known in _choices_of_known(situation, entries, kinds, critical):
            cases = []
            for weight, amounts in _values_of_known(situation, entries, kinds, known):
                tried += 1
                if tried > MOST_KNOWN:
                    raise NotApplicable(
                        f"the known entries can be chosen, and have values, in more than {MOST_KNOWN} ways"
                    )
                cases.append((weight, _from_templates(sampling, entries, kinds, critical, amounts)))
            counts = Counter(kinds[entry] for entry in known)
            world = World(entries, kinds[critical], tuple(counts[index] for index in range(len(entries.classes))))
            yield Alternative(world, tuple(cases))


def _choices_of_known(
    situation: Situation, entries: Contributions, kinds: list[int], critical: int
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
    situation: Situation, entries: Contributions, kinds: list[int], known: tuple[int, ...]
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
    sampling: TemplateLaw, entries: Contributions, kinds: list[int], critical: int, known: dict[int, int]
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


def _numbered(situation: Situation, entries: Contributions) -> list[int]:
    """The class of each entry."""
    stated = getattr(situation.asked, "probabilities", None)
    if isinstance(stated, tuple) and not isinstance(stated[0], tuple):
        place = {kind.p: index for index, kind in enumerate(entries.classes)}
        return [place[p] for p in stated]
    return [index for index, kind in enumerate(entries.classes) for _ in range(kind.size)]
