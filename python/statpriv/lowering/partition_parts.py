"""Parts of a secret partition, as the kernel composes them.

A part answers by the law R_k of its entries without the critical entry, and by P_{k,v} with it. A composition needs
these laws for each ordered pair of possible values of the critical entry. It also needs to know which parts share their
pair: those of one attribute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from math import sqrt
from typing import Any, TypeAlias

from statpriv._native import Curve, Law, Part
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.contributions import World, contributions, known_law
from statpriv.lowering.order_statistics import order_statistic_of_identical
from statpriv.lowering.postprocessing import Released
from statpriv.model.adversaries import Adversary
from statpriv.model.groups import ByGroup
from statpriv.model.populations import Population
from statpriv.model.queries.protocol import Capabilities, capabilities_of
from statpriv.model.queries.variants import of_groups, unlabelled
from statpriv.model.ranges import ends
from statpriv.model.situation import (
    Pair,
    PartitionedSituation,
    Query,
    Situation,
    asked_of,
    attribute_of,
    capabilities,
    gate_for_every_p,
    steps_of,
)
from statpriv.model.steps import Lattice

Value: TypeAlias = Any
"""A value of an entry: anything hashable."""
Values = tuple[Value, Value]
Size: TypeAlias = "int | ByGroup[int]"
"""Number of entries of a part: in total if all are alike, or by group."""
Cell = tuple[Fraction, Fraction, Fraction]
"""The probability of a cell, and its share of the laws under the first and the second value."""
ZERO = Fraction(0)


@dataclass(frozen=True)
class Attribute:
    """Parts that share the pair of values of the critical entry: those of one attribute, or a single part.

    `parts` holds the number of entries of each query, by group if the partition is stratified.
    """

    parts: tuple[tuple[Query, Size], ...]

    @property
    def asked(self) -> Capabilities:
        """The query of the first part, before its answer is processed."""
        return capabilities(self.parts[0][0])


def attributes(situation: PartitionedSituation) -> list[tuple[Attribute, tuple[int, ...]]]:
    """Every attribute, with the indices of its parts."""
    partition = situation.sampling
    return _attributes(situation, partition.part_strata or partition.part_sizes or ())


def _attributes(situation: PartitionedSituation, sizes: Sequence[Size]) -> list[tuple[Attribute, tuple[int, ...]]]:
    together: dict[object, list[int]] = {}
    for k, query in enumerate(situation.queries):
        # The statement about a gated count for every p does not use statements about other counts.
        shared = attribute_of(query) if gate_for_every_p(query) is None else None
        together.setdefault(shared or (k,), []).append(k)
    return [
        (Attribute(tuple((unlabelled(situation.queries[k]), sizes[k]) for k in places)), tuple(places))
        for places in together.values()
    ]


def composed(situation: PartitionedSituation, critical: str | None = None, *, ranges: bool = False) -> Curve:
    """The composition of all parts, with the critical entry in the group `critical` of a stratified population.

    With `ranges`, a bound over all probabilities in the stated ranges.

    Raises
    ------
    NotApplicable
        A part has no closed laws.
    """
    size = _entries_like_the_critical(situation, critical)
    kinds = Counter(
        (attribute, pair)
        for attribute, places in attributes(situation)
        if _tells(attribute, critical, pair := situation.pair_of(places[0]))
    )
    unused = 1 - sum((count * _weight(attribute, size, critical) for (attribute, _), count in kinds.items()), ZERO)
    present = [
        (
            count,
            _bounded_choices(attribute, size, pair) if ranges else _choices(attribute, size, critical, pair),
        )
        for (attribute, pair), count in kinds.items()
    ]
    return _all_attributes(unused, [(count, [parts for _, parts in each]) for count, each in present])


def composed_by_shares(situation: PartitionedSituation, sizes: Sequence[int], shares: Sequence[Fraction]) -> Curve:
    """The composition of disjoint parts of entries with one law; part k has the critical one with chance `shares[k]`.

    Raises
    ------
    NotApplicable
        A part has no closed laws.
    """
    together: dict[object, list[tuple[Query, int, Fraction]]] = {}
    pairs: dict[object, Pair] = {}
    for k, (query, size, share) in enumerate(zip(situation.queries, sizes, shares, strict=True)):
        if share:
            attribute = attribute_of(query) or (k,)
            together.setdefault(attribute, []).append((unlabelled(query), size, share))
            pairs[attribute] = situation.pair_of(k)
    choices = [
        [
            [_part_of_share(*part, first, second) for part in parts]
            for first, second in _pairs(capabilities(parts[0][0]), None, pairs[attribute])
        ]
        for attribute, parts in together.items()
    ]
    return _all_attributes(1 - sum(shares, ZERO), [(1, each) for each in choices if each])


def _all_attributes(unused: Fraction, present: list[tuple[int, list[list[Part]]]]) -> Curve:
    """The composition; δ is zero if no part distinguishes two values of the critical entry."""
    if not present:
        certain = Law.table(0, [1])
        return Curve.answers(certain, certain)
    return Curve.composed(unused=unused, attributes=present)


def _part_of_share(query: Query, size: int, share: Fraction, first: Value, second: Value) -> Part:
    if _counts_cells(query):
        return Part.entries(count=size, cells=cells_of(_cells(capabilities_of(query)), first, second, share / size))
    return _laws(query, size, None).part(first, second, share)


def bounded(situation: PartitionedSituation, *, unknown: int, sizes: tuple[int, ...], exceeded: Fraction) -> Curve:
    """A bound for `unknown` unknown entries, with more than `sizes[k]` of them in part k only with small probability.

    The sizes may sum to more than the number of entries, so that the unused share is negative. `exceeded` is the
    probability that some part has more; in that event everything is revealed, modelled as an answer that reveals the
    value.
    """
    kinds = Counter((attribute, situation.pair_of(places[0])) for attribute, places in _attributes(situation, sizes))
    present = [
        (count, [parts for _, parts in _bounded_choices(attribute, unknown, pair)])
        for (attribute, pair), count in kinds.items()
        if _weight(attribute, unknown, None)
    ]
    used = sum((count * _weight(attribute, unknown, None) for (attribute, _), count in kinds.items()), ZERO)
    if exceeded:
        first, second, reference = (Law.table(answer, [1]) for answer in range(3))
        present.append((1, [[Part.answer(weight=exceeded, first=first, second=second, reference=reference)]]))
    return Curve.composed(unused=1 - used - exceeded, attributes=present, bound=True)


def _bounded_choices(attribute: Attribute, size: int, pair: Pair) -> list[tuple[Values, list[Part]]]:
    if gate_for_every_p(attribute.parts[0][0]) is not None:
        return _of_gate(attribute, size)
    return _of_range(attribute, size) if _has_range(attribute) else _choices(attribute, size, None, pair)


def kinds_of(
    situation: PartitionedSituation, critical: str | None = None
) -> list[tuple[list[tuple[int, ...]], list[Values]]]:
    """For each kind of attribute, in the order of :func:`composed`, the parts of each, and the pairs that are tried."""
    size = _entries_like_the_critical(situation, critical)
    places: dict[Attribute, list[tuple[int, ...]]] = {}
    for attribute, numbers in attributes(situation):
        if _tells(attribute, critical, None):
            places.setdefault(attribute, []).append(numbers)
    return [
        (numbers, [values for values, _ in _choices(attribute, size, critical, None)])
        for attribute, numbers in places.items()
    ]


def _entries_like_the_critical(situation: PartitionedSituation, critical: str | None) -> int:
    return situation.population.size if critical is None else dict(situation.population.groups or ())[critical]


def _used(part: Size, critical: str | None) -> int:
    return part if isinstance(part, int) else dict(part).get(critical or "", 0)


def _tells(attribute: Attribute, critical: str | None, pair: Pair) -> bool:
    """Whether its parts can distinguish two values of the critical entry: they hold it, and it has two values.

    With a single value, the parts answer alike with and without the critical entry, as do parts that never hold it.
    """
    held = any(_used(part, critical) for _, part in attribute.parts)
    return held and any(True for _ in _pairs(attribute.asked, critical, pair))


def _weight(attribute: Attribute, size: int, critical: str | None) -> Fraction:
    return Fraction(sum(_used(part, critical) for _, part in attribute.parts), size)


def _choices(attribute: Attribute, size: int, critical: str | None, pair: Pair) -> list[tuple[Values, list[Part]]]:
    """The parts for each pair of values; pairs with equal laws are listed once."""
    chosen: dict[object, tuple[Values, list[Part]]] = {}
    for values, parts in _by_pair(attribute, size, critical, pair):
        chosen.setdefault(
            _key(parts), (values, [part if isinstance(part, Part) else _entries(*part) for part in parts])
        )
    return list(chosen.values())


def _entries(count: int, cells: tuple[Cell, ...]) -> Part:
    return Part.entries(count=count, cells=cells)


def _key(parts: list[Any]) -> object:
    return tuple(id(part) if isinstance(part, Part) else part for part in parts)


def _of_range(attribute: Attribute, size: int) -> list[tuple[Values, list[Part]]]:
    """One part of all entries, for both pairs of values."""
    lower, upper = _range_of(attribute.asked)
    if not lower > 0 or not upper < 1:
        raise NotApplicable("a property that everyone or nobody may have gives itself away")
    entries = sum(_used(part, None) for _, part in attribute.parts)
    part = Part.range(count=entries, share=Fraction(1, size), lower=lower, upper=upper)
    return [((1, 0), [part])]


def _of_gate(attribute: Attribute, size: int) -> list[tuple[Values, list[Part]]]:
    """One law for every p and both pairs of values. If the gate holds all or no entries, the part reveals the value."""
    [(query, part)] = attribute.parts
    gate = gate_for_every_p(query)
    entries, counts = _used(part, None), range(0) if gate is None else gate.counts
    nothing = not counts or counts[0] > entries
    if nothing or counts[0] < 2 or counts[-1] > entries - 2:
        first, second, reference = (Law.table(0 if nothing else answer, [1]) for answer in range(3))
        weight = Fraction(entries, size)
        told = Part.answer(weight=weight, first=first, second=second, reference=reference)
        return [((1, 0), [told])]
    gated = Part.gated(count=entries, share=Fraction(1, size), least=counts[0], most=counts[-1])
    return [((1, 0), [gated])]


def _range_of(asked: Capabilities) -> tuple[Fraction, Fraction]:
    p = asked.probability()
    return (Fraction(0), Fraction(1)) if p is None else ends(p)


def _has_range(attribute: Attribute) -> bool:
    counts = all(_counts_cells(query) for query, _ in attribute.parts)
    return counts and attribute.asked.has_ranges and attribute.asked.probability() is not None


def _by_pair(attribute: Attribute, size: int, critical: str | None, pair: Pair) -> Iterator[tuple[Values, list[Any]]]:
    # A part without entries of the critical entry's group says nothing about it.
    holding = [(query, part) for query, part in attribute.parts if _used(part, critical)]
    counted = [(query, part) for query, part in holding if critical is None and _counts_cells(query)]
    laws = [
        (_laws(query, part, critical), Fraction(_used(part, critical), size))
        for query, part in holding
        if (query, part) not in counted
    ]
    shares = _cells(capabilities(counted[0][0])) if counted else {}
    entries = sum(_used(part, None) for _, part in counted)
    for values in _pairs(attribute.asked, critical, pair):
        # Parts that count cells are merged into one part of all their entries.
        merged = [(entries, cells_of(shares, *values, Fraction(1, size)))] if counted else []
        yield values, [*merged, *(law.part(*values, weight) for law, weight in laws)]


def _counts_cells(query: Query) -> bool:
    """Whether the unprocessed answer is the number of entries with each value, for entries of one law."""
    stated = capabilities_of(query)
    return stated.counts_values and stated.is_uniform


def _pairs(asked: Capabilities, critical: str | None, pair: Pair) -> Iterable[Values]:
    values = asked.values_in(critical)
    if pair is not None:
        return [pair] if set(pair) <= set(values) else []
    return permutations(values, 2)


def values_of(query: Query, group: str | None = None) -> tuple[Value, ...]:
    """The possible values of an entry, of this group if one is given."""
    return capabilities(query).values_in(group)


def _cells(asked: Capabilities) -> dict[Value, Fraction]:
    """The probability of each value."""
    _require_no_range(asked)
    return dict(known_law(asked.law()))


def _require_no_range(asked: Capabilities) -> None:
    if asked.has_ranges:
        raise NotApplicable(f"{asked.range_noun}, over which this composition has no exact curve")


def cells_of(shares: dict[Value, Fraction], first: Value, second: Value, weight: Fraction) -> tuple[Cell, ...]:
    """The cells of the two values, and all others merged: an entry contributes only to the density of its own value."""
    rest = 1 - shares[first] - shares[second]
    cells = [(shares[first], weight, ZERO), (shares[second], ZERO, weight)]
    return tuple(sorted(cells + ([(rest, ZERO, ZERO)] if rest else [])))


@dataclass(frozen=True)
class _Laws:
    """The laws of a part's answer with the critical entry, by its value, and without it."""

    by_value: dict[Value, Law]
    reference: Law
    lattice: Lattice
    query: Query

    @property
    def _deviation(self) -> float:
        """An approximate standard deviation: that of a count of p = 1/2 with this support."""
        least, most = self.reference.support
        return sqrt((most or 0) - (least or 0)) / 2

    def part(self, first: Value, second: Value, weight: Fraction) -> Part:
        steps = steps_of(self.query)
        released = Released(self.by_value[first], self.by_value[second], self.lattice, reference=self.reference)
        published = released.processed(steps)
        made = Part.answer
        if published.smoothing is not None:
            asked = capabilities(self.query)
            if not asked.is_count or len(steps) > 1:
                raise NotApplicable(
                    "continuous noise in a part is composed where it is added to a count of a property and nothing "
                    "else is done: there the likelihood ratio is monotone"
                )
            published, made = published.rounded(self._deviation), Part.rounded
        if published.reference is None:
            raise NotApplicable("this answer has no law without the critical entry")
        return made(weight=weight, first=published.first, second=published.second, reference=published.reference)


def _laws(query: Query, part: Size, critical: str | None) -> _Laws:
    asked = capabilities(query)
    if asked.is_uniform or not asked.is_count:
        _require_no_range(asked)
    if asked.has_rank:
        if critical is not None or not asked.is_uniform:
            raise NotApplicable("an order statistic of groups has no closed law here")
        return _ordered(query, asked, _used(part, None))
    if not asked.is_total:
        raise NotApplicable(f"{asked.kind} in a part has no exact composition here")
    if isinstance(part, int):
        situation = Situation(asked_of(query), Population(part), None, Adversary())
    else:
        present = {name: size for name, size in part if size}
        situation = Situation(of_groups(asked_of(query), present), Population(groups=present), None, Adversary())
    entries = contributions(situation)
    place = next((k for k, kind in enumerate(entries.classes) if kind.name in (None, critical)), None)
    if place is None:
        raise NotApplicable("the part has no entry of this group")
    world = World(entries, place, (0,) * len(entries.classes))
    others = world.others
    everyone = Law.sum([kind.many(kind.size) for kind in entries.classes])
    by_value = {value: others.shifted(added) for value, added in world.values}
    return _Laws(by_value, everyone, entries.lattice, query)


def _ordered(query: Query, asked: Capabilities, size: int) -> _Laws:
    """From the law of the others' order statistic, for each value of the critical entry."""
    laws, lattice = order_statistic_of_identical(asked, size)
    reference = Law.mixture([share for _, share in known_law(asked.law())], laws)
    return _Laws(dict(zip(asked.values_in(), laws, strict=True)), reference, lattice, query)
