"""What an adaptive analyst's parts may hold, and which values of the critical entry are compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, prod
from typing import TypeAlias

from statpriv import budget
from statpriv._native import Law
from statpriv.lowering.applicability import NotApplicable
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import Stated, ends, is_range
from statpriv.model.strategies import AdaptiveSituation

Sign: TypeAlias = "tuple[int, int]"
"""The critical entry's contribution to a count under v and under w."""
SIGNS: tuple[Sign, Sign] = ((1, 0), (0, 1))
Pattern: TypeAlias = Mapping[str, Sign]


@dataclass(frozen=True)
class World:
    """The number of entries of each group in each part, and the critical entry's group."""

    probability: Fraction
    parts: tuple[tuple[int, ...], ...]
    critical: int
    groups: tuple[tuple[str | None, int], ...]

    @property
    def sizes(self) -> list[int]:
        """The number of unknown entries of each part."""
        return list(map(sum, self.parts))

    def share(self, part: int) -> Fraction:
        """The probability that the critical entry is in the part."""
        return Fraction(self.parts[part][self.critical], self.groups[self.critical][1])

    def laws(self, query: PropertyQuery, part: int) -> tuple[Law, Law, Law]:
        """The laws of the answer if the critical entry is in the part and adds 1, adds 0, or is not in it."""
        counts = [
            (size, probability_in(query, name)) for size, (name, _) in zip(self.parts[part], self.groups, strict=True)
        ]
        reference = law_of_count(counts)
        if not counts[self.critical][0]:
            return reference, reference, reference
        size, p = counts[self.critical]
        counts[self.critical] = (size - 1, p)
        others = law_of_count(counts)
        return others.shifted(1), others, reference


def law_of_count(counts: Iterable[tuple[int, Fraction]]) -> Law:
    """The law of a count over entries with these numbers and probabilities."""
    return _law_of_count(tuple(counts))


@cache
def _law_of_count(counts: tuple[tuple[int, Fraction], ...]) -> Law:
    laws = [Law.binomial(size, p) for size, p in counts if size]
    return laws[0] if len(laws) == 1 else Law.sum(laws) if laws else Law.table(0, [1])


def probability_in(query: PropertyQuery, group: str | None) -> Fraction:
    """The one probability that the query states for a group."""
    p = query.probability(group)
    if p is None or is_range(p):
        raise NotApplicable("p is a range in a population of groups")
    return ends(p)[0]


def worlds_of(situation: AdaptiveSituation) -> list[list[World]]:
    """For each group that may hold the critical entry, every composition of the parts."""
    if situation.adversary.by_group or situation.adversary.values != "worst":
        raise NotApplicable("known entries by group, or with expected values, are not composed adaptively")
    known = situation.adversary.total
    groups = groups_of(situation)
    if known and len(groups) > 1:
        raise NotApplicable("entries of several groups of which some are known are not composed adaptively")
    classes = [size for _, size in groups] if not known else [situation.population.size - known, known]
    parts = situation.sampling.sizes
    unknown = tuple(groups) if not known else ((groups[0][0], classes[0]),)
    compositions: list[tuple[Fraction, tuple[tuple[int, ...], ...]]] = []
    for composition in _compositions(tuple(classes), parts):
        compositions.append(composition)
        if len(compositions) > budget.MAX_ADAPTIVE_COMPOSITIONS:
            raise NotApplicable(
                f"there are more than {budget.MAX_ADAPTIVE_COMPOSITIONS} ways in which the entries that differ may "
                "fall into the parts"
            )
    return [
        [
            World(probability, tuple(part[: len(unknown)] for part in composition), critical, unknown)
            for probability, composition in compositions
        ]
        for critical in range(len(unknown))
    ]


def groups_of(situation: AdaptiveSituation) -> list[tuple[str | None, int]]:
    """The groups of entries with equal laws."""
    queries = list(situation.properties.values())
    if all(query.is_uniform for query in queries):
        return [(None, situation.population.size)]
    groups = situation.population.groups
    if groups is None or any(
        not query.is_uniform and set(query.stated_groups or ()) != {name for name, _ in groups} for query in queries
    ):
        raise NotApplicable("the queries do not state one probability, or one for each group of the population")
    return list(groups)


def _compositions(
    left: tuple[int, ...], parts: Sequence[int]
) -> Iterator[tuple[Fraction, tuple[tuple[int, ...], ...]]]:
    """Multivariate hypergeometric compositions, part by part; entries that are all alike have only one."""
    if len(left) == 1:
        yield Fraction(1), tuple((size,) for size in parts)
        return
    if not parts:
        yield Fraction(1), ()
        return
    ways = comb(sum(left), parts[0])
    for first in product(*(range(min(size, parts[0]) + 1) for size in left[:-1])):
        rest = parts[0] - sum(first)
        if not 0 <= rest <= left[-1]:
            continue
        part = (*first, rest)
        chosen = prod(comb(size, drawn) for size, drawn in zip(left, part, strict=True))
        remaining = tuple(size - drawn for size, drawn in zip(left, part, strict=True))
        for probability, others in _compositions(remaining, parts[1:]):
            yield Fraction(chosen, ways) * probability, (part, *others)


def require_one_probability(situation: AdaptiveSituation) -> None:
    """Refuse laws of entries, ranges, and certain values: the recursion needs a density of each answer."""
    for query in situation.properties.values():
        if query.stated_entries is not None:
            raise NotApplicable("one probability an entry is not composed adaptively")
        if query.has_ranges:
            raise NotApplicable("p is a range, over which the worst of the choices has no closed supremum")
        if any(p in (0, 1) for p in _stated(query)):
            raise NotApplicable("p is 0 or 1, where an answer may be impossible unless the critical entry gives it")


def _stated(query: PropertyQuery) -> list[Stated | None]:
    return [query.probability(name) for name in query.stated_groups or (None,)]


def patterns_of(situation: AdaptiveSituation) -> list[Pattern]:
    """Every pair of values in the properties asked about.

    Equal values in a property are never worse (docs/explanation/adaptive-composition.md). For p = 1/2, a count and its
    complement in the part are equally informative to the worst analyst, so the sign does not matter.
    """
    if situation.pair is not None:
        return [dict.fromkeys(situation.properties, situation.pair)]
    mirrored = not situation.strategy.is_given
    choices = [
        SIGNS[:1] if mirrored and query.probabilities == Fraction(1, 2) else SIGNS
        for query in situation.properties.values()
    ]
    if prod(map(len, choices)) > budget.MAX_ADAPTIVE_PATTERNS:
        raise NotApplicable(
            f"there are more than {budget.MAX_ADAPTIVE_PATTERNS} pairs of values of the critical entry in "
            f"{len(choices)} unrelated properties"
        )
    return [dict(zip(situation.properties, signs, strict=True)) for signs in product(*choices)]
