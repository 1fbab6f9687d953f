"""All answers at once, for entries that differ on a partition that is uniform over all entries: exact where small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations, product
from math import comb, prod
from typing import Any, TypeAlias

from statpriv import budget
from statpriv._native import Curve, Law
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.contributions import Contributions, contributions
from statpriv.lowering.entry_classes import by_class
from statpriv.lowering.partition_parts import attributes
from statpriv.model.adversaries import Adversary
from statpriv.model.draws import compositions
from statpriv.model.partitions import RandomPartition
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.queries.valued import Valued
from statpriv.model.situation import PartitionedSituation, Situation, capabilities
from statpriv.rules.assumptions import DRAWN, INDEPENDENT, SECRET, STATED
from statpriv.rules.registry import rule
from statpriv.rules.whole_population import worst

Vector: TypeAlias = "tuple[Any, ...]"
"""A value for each part."""
Fallen: TypeAlias = "tuple[tuple[int, ...], ...]"
"""How many entries of each group are in each part."""


@rule(
    bound="exact",
    kind="exact",
    queries=(PropertyQuery, HistogramQuery, Valued),
    samplings=(RandomPartition,),
    cost=50,
    theorem=(
        "Given how many entries of each group are in each part the answers are independent, and the critical entry is "
        "in a part with the share of its group that is there. The law of all answers is the mixture over these "
        "numbers, which are multivariate hypergeometric. The worst group, and the worst of all combinations of values."
    ),
    source="docs/explanation/groups-in-a-partition.md, with the proof",
    assumptions=(INDEPENDENT, STATED, DRAWN, SECRET),
)
def joint_answers_of_groups(situation: PartitionedSituation) -> Curve:
    """Each joint answer is one integer, the answers of the parts being its digits."""
    sizes = situation.sampling.part_sizes or ()
    if situation.sampling.part_strata is not None:
        raise NotApplicable("the partition is stratified by group")
    if not any(capabilities(query).laws_differ for query in situation.different_queries):
        raise NotApplicable("all entries have one law")
    if situation.adversary.total:
        raise NotApplicable("known entries fall into parts that are not known, which has no exact form here")
    situation = by_class(situation)
    groups = dict(situation.population.groups or ())
    parts = [Situation(query, situation.population, None, Adversary()) for query in situation.different_queries]
    entries = {id(part.query): contributions(part) for part in parts}
    answers = _Answers(tuple(entries[id(query)] for query in situation.queries), tuple(sizes), tuple(groups.values()))
    answers.require_short(prod(len(of.asked.values_in()) for of, _ in attributes(situation)))
    curves = []
    for group, name in enumerate(groups):
        laws: dict[Vector, Law] = {}
        for pair in _pairs(situation, name):
            for values in pair:
                if values not in laws:
                    laws[values] = answers.given(group, values)
            curves.append(Curve.answers(laws[pair[0]], laws[pair[1]]))
    return worst(curves)


def _pairs(situation: PartitionedSituation, group: str) -> Iterator[tuple[Vector, Vector]]:
    """The value of the critical entry in every part, twice: those that differ in some attribute, or the named ones."""
    if situation.pair is not None:
        named = [situation.pair_of(part) or (None, None) for part in range(situation.parts)]
        allowed = [capabilities(query).values_in(group) for query in situation.queries]
        if all(set(pair) <= set(values) for pair, values in zip(named, allowed, strict=True)):
            yield tuple(first for first, _ in named), tuple(second for _, second in named)
        return
    places = [(of.asked.values_in(group), numbers) for of, numbers in attributes(situation)]
    vectors = []
    for chosen in product(*(values for values, _ in places)):
        of_part = {k: value for value, (_, numbers) in zip(chosen, places, strict=True) for k in numbers}
        vectors.append(tuple(of_part[k] for k in range(situation.parts)))
    yield from permutations(vectors, 2)


@dataclass(frozen=True, eq=False)
class _Answers:
    """The joint law of all answers, for each group and value of the critical entry."""

    entries: tuple[Contributions, ...]
    """What entries of each group add to the answer of each part."""
    sizes: tuple[int, ...]
    groups: tuple[int, ...]

    def require_short(self, vectors: int) -> None:
        """Refuse too many joint answers of too many laws, for so many combinations of values that are compared."""
        (_, stride), size, entries = self._digits[-1], self.sizes[-1], self.entries[-1]
        answers = stride * (size * _span(entries) + 1)
        laws = vectors * max(len(self._ways) * len(self.sizes), vectors)
        if answers * laws > budget.MAX_JOINT_ANSWERS_OF_GROUPS:
            raise NotApplicable(
                f"{answers} joint answers of the parts, for {vectors} combinations of values of the critical entry and "
                f"{len(self._ways)} ways in which groups fall into the parts, are too many together"
            )

    def given(self, group: int, values: Vector) -> Law:
        """The critical entry is of this group, and has this value of the query of each part."""
        weights, laws = [], []
        for fallen, chance in self._ways:
            held = Fraction(0)
            for k, numbers in enumerate(fallen):
                if share := Fraction(numbers[group], self.groups[group]):
                    weights.append(chance * share)
                    laws.append(self._joint(fallen, k, group, values[k]))
                    held += share
            if held < 1:
                weights.append(chance * (1 - held))
                laws.append(self._joint(fallen))
        return Law.mixture(weights, laws)

    def _joint(self, fallen: Fallen, holding: int | None = None, group: int = 0, value: Any = None) -> Law:  # noqa: ANN401
        """The answers of all parts, of which one may hold the critical entry."""
        digits = []
        for k, (numbers, (least, stride)) in enumerate(zip(fallen, self._digits, strict=True)):
            own = int(k == holding)
            others = tuple(number - own * (at == group) for at, number in enumerate(numbers))
            added = dict(self.entries[k].values[self._kind(k, group)])[value] if own else 0
            digits.append(self._sum(k, others).shifted(added - least).scaled(stride))
        return Law.sum(digits)

    def _kind(self, part: int, group: int) -> int:
        """The index of the kind of entries of a group: all have one law, or each group has one of its own."""
        return 0 if self.entries[part].iid else group

    def _sum(self, part: int, numbers: tuple[int, ...]) -> Law:
        key = part, numbers
        if key not in self._sums:
            counts = (sum(numbers),) if self.entries[part].iid else numbers
            kinds = zip(self.entries[part].classes, counts, strict=True)
            self._sums[key] = Law.sum([kind.many(count) for kind, count in kinds if count])
        return self._sums[key]

    @cached_property
    def _sums(self) -> dict[tuple[int, tuple[int, ...]], Law]:
        return {}

    @cached_property
    def _digits(self) -> list[tuple[int, int]]:
        """Of each part the least answer, and what one more in its answer adds to the number of all answers."""
        found, stride = [], 1
        for entries, size in zip(self.entries, self.sizes, strict=True):
            found.append((size * min(_amounts(entries)), stride))
            stride *= size * _span(entries) + 1
        return found

    @cached_property
    def _ways(self) -> list[tuple[Fallen, Fraction]]:
        """How the groups may fall into the parts, with probabilities."""
        found = []
        for fallen, ways in _fallen(self.sizes, self.groups):
            found.append((fallen, ways))
            if len(found) * len(self.sizes) > budget.MAX_DRAWS:
                raise NotApplicable(
                    f"the groups fall into the parts in more than {budget.MAX_DRAWS // len(self.sizes)} ways"
                )
        total = prod(comb(sum(self.groups) - sum(self.sizes[:k]), size) for k, size in enumerate(self.sizes))
        return [(fallen, Fraction(ways, total)) for fallen, ways in found]


def _amounts(entries: Contributions) -> list[int]:
    return [amount for values in entries.values for _, amount in values]


def _span(entries: Contributions) -> int:
    return max(_amounts(entries)) - min(_amounts(entries))


def _fallen(sizes: Sequence[int], groups: tuple[int, ...]) -> Iterator[tuple[Fallen, int]]:
    """Numbers of entries of each group in each part, and in how many ways the parts can be drawn so."""
    if not sizes:
        yield (), 1
        return
    for numbers in compositions(sizes[0], groups):
        chosen = prod(map(comb, groups, numbers))
        left = tuple(size - number for size, number in zip(groups, numbers, strict=True))
        for others, ways in _fallen(sizes[1:], left):
            yield (numbers, *others), chosen * ways
