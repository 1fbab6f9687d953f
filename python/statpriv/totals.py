"""Laws of what is released of an additive query: of all entries or of a sample, for every world.

A sample of entries that are zeros and ones is post-processing of their total count, whatever their laws. Of
entries that add other numbers, a sample without replacement of identically distributed ones is again a number of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb, prod

from statpriv._native import Law
from statpriv.entries import Contributions, EntryClass, World, contributions
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

__all__ = ["Alternative", "alternatives"]

MOST_KNOWN = 1000
"""So many values of the known entries are tried one by one."""
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
    if sampling is not None and situation.adversary.total and not entries.counts:
        raise NotApplicable("known entries of a hidden sample change more than a sum, unless it is a count")
    found = []
    for world in entries.worlds(situation):
        totals = [(Fraction(1), 0)]
        if situation.adversary.total and (sampling is not None or shift_matters):
            totals = list(_known_totals(situation, world))
        found.append(Alternative(world, tuple((weight, _released(sampling, world, total)) for weight, total in totals)))
    return entries, found


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


def _released(sampling: Sampling | None, world: World, known: int) -> Released:
    """The law of the answer when the known entries add so much."""
    n = sum(world.unknown) + sum(world.known) + 1
    others = world.others
    if sampling is None:
        return lambda added: others.shifted(known + added)
    if isinstance(sampling, PoissonSampling):
        return _poisson(sampling, world, known)
    if world.contributions.counts:
        if isinstance(sampling, WithoutReplacement):
            return lambda added: others.shifted(known + added).sampled_without_replacement(n, sampling.size)
        if isinstance(sampling, WithReplacement):
            return lambda added: others.shifted(known + added).sampled_with_replacement(n, sampling.size)
        if isinstance(sampling, OverlappingSamples):
            return lambda added: others.shifted(known + added).sampled_several_times(n, sampling.sizes)
    if isinstance(sampling, WithoutReplacement) and world.contributions.iid:
        return _drawn(world.contributions.classes[0], sampling.size, n)
    raise NotApplicable(f"a sum over {sampling!r} has no closed law here, unless it is a count")


def _drawn(entries: EntryClass, size: int, population: int, rest: Law | None = None) -> Released:
    """``(1 − s/n) S_s + (s/n)(v + S_{s−1})`` for the sum S of the sample, and what others add."""
    share = Fraction(size, population)
    without = entries.many(size) if size < population else None
    holding = entries.many(size - 1) if size > 0 else None

    def law(added: int) -> Law:
        parts = [(1 - share, without), (share, None if holding is None else holding.shifted(added))]
        present = [(weight, part) for weight, part in parts if part is not None and weight > 0]
        mixed = Law.mixture([weight for weight, _ in present], [part for _, part in present])
        return mixed if rest is None else Law.sum([mixed, rest])

    return law


def _poisson(sampling: PoissonSampling, world: World, known: int) -> Released:
    """Entries that are not in the sample add zero: each adds what it adds with probability γ."""
    if sampling.size_published:
        raise NotApplicable("the law of the answer with its published size is not one number")
    rate = sampling.rate
    classes = zip(world.contributions.classes, world.unknown, strict=True)
    parts = [kind.thinned(rate).many(count) for kind, count in classes if count]
    if known:
        parts.append(Law.binomial(known, rate))
    others = Law.sum(parts)
    return lambda added: Law.mixture([1 - rate, rate], [others, others.shifted(added)])


def _stratified(situation: Situation, sampling: Stratified, entries: Contributions) -> Iterator[Alternative]:
    """Every group is sampled by itself: its answers add up."""
    sizes = dict(sampling.sizes)
    if any(kind.name is None for kind in entries.classes):
        raise NotApplicable("a stratified sample of entries that have a law each has no closed law here")
    tried = 0
    for world in entries.worlds(situation):
        if situation.adversary.total and not entries.counts:
            raise NotApplicable("known entries of a hidden sample change more than a sum, unless it is a count")
        ranges = [range(known + 1) for known in world.known]
        tried += prod(map(len, ranges))
        if tried > MOST_KNOWN:
            raise NotApplicable(f"the known entries can have more than {MOST_KNOWN} different values")
        drawn = [sizes[kind.name or ""] for kind in entries.classes]
        cases = []
        for ones in product(*ranges):
            weight = _chance(situation, world, ones)
            if weight > 0:
                cases.append((weight, _strata(world, drawn, ones)))
        yield Alternative(world, tuple(cases))


def _chance(situation: Situation, world: World, ones: tuple[int, ...]) -> Fraction:
    if situation.adversary.values == "worst":
        return Fraction(1)
    weight = Fraction(1)
    for kind, known, hits in zip(world.contributions.classes, world.known, ones, strict=True):
        p = kind.p or Fraction(0)
        weight *= comb(known, hits) * p**hits * (1 - p) ** (known - hits)
    return weight


def _strata(world: World, drawn: list[int], ones: tuple[int, ...]) -> Released:
    classes = world.contributions.classes
    rest = []
    for index, kind in enumerate(classes):
        if index != world.critical:
            rest.append(_stratum(kind, kind.size - world.known[index], ones[index], world.known[index], drawn[index]))
    others = Law.sum(rest) if rest else None
    own, known = classes[world.critical], world.known[world.critical]
    size, hits = drawn[world.critical], ones[world.critical]
    if not known:
        return _drawn(own, size, own.size, others)

    def law(added: int) -> Law:
        total = own.many(own.size - known - 1).shifted(hits + added)
        mine = total.sampled_without_replacement(own.size, size)
        return mine if others is None else Law.sum([mine, others])

    return law


def _stratum(kind: EntryClass, unknown: int, ones: int, known: int, size: int) -> Law:
    if not known:
        return kind.many(size)
    return kind.many(unknown).shifted(ones).sampled_without_replacement(kind.size, size)


def _of_templates(situation: Situation, sampling: TemplateLaw, entries: Contributions) -> Iterator[Alternative]:
    """A mixture over the templates; entries are numbered in the order of the groups, or of the probabilities."""
    if situation.adversary.total:
        raise NotApplicable("known entries with a template law are not available in this version")
    if len(sampling.probabilities) > MOST_TEMPLATES or situation.population.size > MOST_CRITICAL:
        raise NotApplicable(f"more than {MOST_TEMPLATES} templates or {MOST_CRITICAL} entries are not tried one by one")
    kinds = _numbered(situation, entries)
    for critical in range(situation.population.size):
        world = World(entries, kinds[critical], (0,) * len(entries.classes))

        def law(added: int, critical: int = critical) -> Law:
            weights, laws = [], []
            for template, weight in sampling.probabilities:
                others = sorted(set(template) - {critical})
                parts = [entries.classes[kinds[entry]].one.scaled(template.count(entry)) for entry in others]
                weights.append(weight)
                laws.append(Law.sum(parts).shifted(template.count(critical) * added))
            return Law.mixture(weights, laws)

        yield Alternative(world, ((Fraction(1), law),))


def _numbered(situation: Situation, entries: Contributions) -> list[int]:
    """The class of each entry."""
    stated = getattr(situation.asked, "probabilities", None)
    if isinstance(stated, tuple) and not isinstance(stated[0], tuple):
        place = {kind.p: index for index, kind in enumerate(entries.classes)}
        return [place[p] for p in stated]
    return [index for index, kind in enumerate(entries.classes) for _ in range(kind.size)]
