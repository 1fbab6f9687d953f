"""Entries: the critical one, the known ones and the others, and what each adds to the answer.

Properties, sums, means, histograms and linear queries are *additive*: after a change of units, the answer is a sum of
integer contributions of the entries. Several counts at once form one integer too, with each count a digit. Entries with
the same law form one class. A *world* is a choice of the critical entry's class and of the known entries of each class;
the worst world counts.
critical entry may be, are the *worlds* of which the worst counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import accumulate, chain, product
from math import comb, gcd, lcm, prod, sqrt
from typing import Any

from statpriv import budget
from statpriv._native import Law
from statpriv.lowering.applicability import NotApplicable, require_no_range
from statpriv.model.draws import compositions
from statpriv.model.groups import ByGroup
from statpriv.model.noise import DEVIATIONS
from statpriv.model.queries.protocol import EntryLaw, Groups, LawOfValues, Pair
from statpriv.model.ranges import ends
from statpriv.model.situation import Situation
from statpriv.model.steps import Lattice


@dataclass(frozen=True, eq=False)
class EntryClass:
    """Entries whose contributions have the same law.

    `shares` are the probabilities of contributing each of the integers.
    """

    name: str | None
    size: int
    shares: tuple[tuple[int, Fraction], ...]

    @cached_property
    def one(self) -> Law:
        """The law of one entry's contribution."""
        if (p := self.p) is not None:
            return Law.binomial(1, p)
        return _table(dict(self.shares))

    @property
    def p(self) -> Fraction | None:
        """The probability of adding one, if every contribution is zero or one; otherwise None."""
        shares = dict(self.shares)
        return shares.get(1, Fraction(0)) if set(shares) <= {0, 1} else None

    def many(self, count: int) -> Law:
        """The law of the sum of `count` contributions; cached as one object, because it stores its own results."""
        if count not in self._sums:
            self._sums[count] = self._sum(count)
        return self._sums[count]

    @cached_property
    def _sums(self) -> dict[int, Law]:
        return {}

    def _sum(self, count: int) -> Law:
        if (p := self.p) is not None:
            return Law.binomial(count, p)
        added = [amount for amount, _ in self.shares]
        if len(added) == 2 and added[0] == 0:
            # A scaled number of hits has a shorter description than a table with gaps.
            return Law.binomial(count, self.shares[1][1]).scaled(added[1])
        return self.one.repeated(count)

    @property
    def is_log_concave(self) -> bool:
        """Whether the probabilities are log-concave: no gaps, and none below the geometric mean of its neighbours."""
        least, most = self.shares[0][0], self.shares[-1][0]
        shares = dict(self.shares)
        if most - least >= len(shares):
            return False
        masses = [shares[amount] for amount in range(least, most + 1)]
        return all(b * b >= a * c for a, b, c in zip(masses, masses[1:], masses[2:], strict=False))

    @property
    def variance(self) -> Fraction:
        """The variance of one entry's contribution."""
        mean, square = (sum((amount**k * share for amount, share in self.shares), Fraction(0)) for k in (1, 2))
        return square - mean**2

    def thinned(self, rate: Fraction, marker: int = 0) -> EntryClass:
        """The same entries, where each adds its contribution and a marker only with this probability."""
        shares = {amount + marker: share * rate for amount, share in self.shares}
        shares[0] = shares.get(0, Fraction(0)) + 1 - rate
        return EntryClass(self.name, self.size, tuple(sorted(shares.items())))


@dataclass(frozen=True, eq=False)
class Contributions:
    """The classes of entries of an additive query, and the contribution of each value of the critical entry."""

    classes: tuple[EntryClass, ...]
    values: tuple[tuple[tuple[Any, int], ...], ...]
    """For each class: the possible values of its entries, and the contribution of each value."""
    lattice: Lattice
    joint_values: int | None = None
    """For several counts at once: all sums are below this number, and each stands for one joint value."""

    @property
    def counts(self) -> bool:
        """Whether every contribution, including the critical entry's, is zero or one."""
        return all({amount for _, amount in values} <= {0, 1} for values in self.values)

    @property
    def iid(self) -> bool:
        """Whether all entries have the same law."""
        return len(self.classes) == 1

    def answers(self, number: int) -> int:
        """An upper bound on the number of integers from one sum of up to `number` entries to another, ends included."""
        if self.joint_values is not None:
            return self.joint_values
        amounts = [0, *(amount for values in self.values for _, amount in values)]
        return number * (max(amounts) - min(amounts)) + 1

    def worlds(self, situation: Situation) -> Iterator[World]:
        """Every class that may hold the critical entry, with every choice of known entries.

        Raises
        ------
        NotApplicable
            There are too many to enumerate.
        """
        sizes = [entries.size for entries in self.classes]
        for critical in range(len(sizes)):
            room = [size - (index == critical) for index, size in enumerate(sizes)]
            for known in self._choices(situation, room):
                yield World(self, critical, known)

    def _choices(self, situation: Situation, room: list[int]) -> list[tuple[int, ...]]:
        adversary = situation.adversary
        if adversary.total == 0:
            return [(0,) * len(room)]
        if adversary.by_group:
            return self._choices_by_group(adversary.groups, room)
        if self.iid:
            return [(adversary.total,)]
        if comb(adversary.total + len(room) - 1, len(room) - 1) * len(room) > budget.MAX_KNOWN_ENTRY_WORLDS:
            hint = "" if self.classes[0].name is None else " (known= may name the group)"
            raise NotApplicable(
                f"{adversary.total} known entries can be chosen in too many ways from {len(room)} kinds of "
                f"entries{hint}"
            )
        return list(compositions(adversary.total, room))

    def _choices_by_group(self, known: ByGroup[int], room: list[int]) -> list[tuple[int, ...]]:
        if any(entries.name is None for entries in self.classes):
            raise NotApplicable("entries are known by group, and the query states laws of single entries")
        by_name = dict(known)
        members: dict[str | None, list[int]] = {entries.name: [] for entries in self.classes}
        for entries, number in zip(self.classes, room, strict=True):
            members[entries.name].append(number)
        ways = [list(compositions(by_name.get(name or "", 0), rooms)) for name, rooms in members.items()]
        if prod(map(len, ways)) * len(room) > budget.MAX_KNOWN_ENTRY_WORLDS:
            raise NotApplicable("the known entries can be chosen in too many ways from the kinds of entries")
        return [tuple(chain.from_iterable(chosen)) for chosen in product(*ways)]


@dataclass(frozen=True)
class World:
    """One case: the class of the critical entry, and the number of known entries of each class."""

    contributions: Contributions
    critical: int
    known: tuple[int, ...]

    @cached_property
    def unknown(self) -> tuple[int, ...]:
        """The number of unknown other entries of each class."""
        classes = enumerate(zip(self.contributions.classes, self.known, strict=True))
        return tuple(entries.size - known - (index == self.critical) for index, (entries, known) in classes)

    @cached_property
    def others(self) -> Law:
        """The law of the sum of the unknown other entries' contributions."""
        parts = zip(self.contributions.classes, self.unknown, strict=True)
        return Law.sum([entries.many(count) for entries, count in parts if count > 0])

    @property
    def window(self) -> float:
        """Approximate number of integers that hold the unknown others' sum, up to a negligible probability."""
        present = [(kind, count) for kind, count in zip(self.contributions.classes, self.unknown, strict=True) if count]
        span = sum(count * (kind.shares[-1][0] - kind.shares[0][0]) for kind, count in present)
        variance = sum((count * kind.variance for kind, count in present), Fraction(0))
        return min(span + 1, DEVIATIONS * sqrt(variance))

    @property
    def values(self) -> tuple[tuple[Any, int], ...]:
        """The possible values of the critical entry, and the contribution of each."""
        return self.contributions.values[self.critical]

    def pairs(self, pair: Pair) -> list[tuple[int, int]]:
        """The two contributions for each ordered pair of values, without repetitions."""
        if pair is None:
            return [(v, w) for (_, v), (_, w) in product(self.values, repeat=2) if v != w]
        added = dict(self.values)
        return [(added[pair[0]], added[pair[1]])] if pair[0] in added and pair[1] in added else []


def contributions(situation: Situation, *, through_zero: bool = False, labelled: bool = False) -> Contributions:
    """The contributions of the entries of a situation.

    With `through_zero`, contributions are not shifted, so that an absent entry adds zero. With `labelled`, only the
    equality of answers matters, and no number is read off them; values far apart then get labels that are closer
    together.

    Raises
    ------
    NotApplicable
        The query is not additive, or states ranges of probabilities.
    """
    asked = situation.asked
    if asked.is_total:
        return _of_a_total(situation, through_zero=through_zero, labelled=labelled)
    if asked.changed_counts(None) is not None:
        return _of_cells(situation) if asked.counts_values else _of_columns(situation)
    raise NotApplicable(f"{asked.kind} is no sum of what the entries contribute")


def laws_by_class(situation: Situation) -> tuple[EntryLaw, ...]:
    """The classes of entries that have one law and are treated alike."""
    return situation.asked.laws_by_class(_groups(situation))


def class_of_entries(situation: Situation) -> Sequence[int]:
    """The index of the class of each entry of the population."""
    return situation.asked.class_of_entries(_groups(situation))


def known_law(law: LawOfValues) -> list[tuple[Any, Fraction]]:
    """The law of an entry, after `require_no_range`."""
    return [(value, ends(share)[0]) for value, share in law]


def _groups(situation: Situation) -> Groups:
    """The groups and their sizes, or all entries as one unnamed group.

    If all entries have one law, groups matter only for which entries are known or drawn.
    """
    population, sampling = situation.population, situation.sampling
    looked_at = sampling is not None and sampling.looks_at_groups
    matter = not situation.asked.is_uniform or situation.adversary.by_group or looked_at
    return population.groups if population.groups is not None and matter else ((None, population.size),)


def _of_columns(situation: Situation) -> Contributions:
    """The contribution of a one is the entry's column, with its zeros and ones as the digits of a number."""
    asked = situation.asked
    require_no_range(asked)
    kinds = laws_by_class(situation)
    most, repeated = _most_answering(situation), situation.sampling is not None and situation.sampling.repeats_entries
    included = [sum(bits) for bits in zip(*([bit * kind.size for bit in kind.column] for kind in kinds), strict=True)]
    counted = [(most if repeated else min(most, number)) if number else 0 for number in included]
    strides, joint_values = _strides(counted)
    classes, values = [], []
    for kind in kinds:
        label = sum(bit * stride for bit, stride in zip(kind.column, strides, strict=True))
        shares = tuple((value * label, share) for value, share in known_law(kind.law))
        classes.append(EntryClass(kind.group, kind.size, shares if label else ((0, Fraction(1)),)))
        values.append(((0, 0), (1, label)))
    return Contributions(tuple(classes), tuple(values), Lattice(), joint_values)


def _of_cells(situation: Situation) -> Contributions:
    """An entry adds one to the count of its cell. The last cell is omitted if the total is certain."""
    asked, sampling = situation.asked, situation.sampling
    require_no_range(asked, "a histogram")
    cells = len(asked.values_in())
    certain = situation.number_answering is not None or (sampling is not None and sampling.sizes_are_fixed)
    strides, joint_values = _strides([max(1, _most_answering(situation))] * (cells - certain))
    labels = [*strides, *[0] * certain]
    classes = []
    for kind in laws_by_class(situation):
        shares = ((labels[cell], share) for cell, share in known_law(kind.law) if share > 0)
        classes.append(EntryClass(kind.group, kind.size, tuple(sorted(shares))))
    values = tuple(enumerate(labels))
    return Contributions(tuple(classes), (values,) * len(classes), Lattice(), joint_values)


def _strides(most: list[int]) -> tuple[list[int], int]:
    """The increment of the combined number for one more in each count, and how many such numbers there are."""
    strides = [1]
    for number in most:
        strides.append(strides[-1] * (number + 1))
    if strides[-1] > budget.MAX_LABELS:
        raise NotApplicable(f"the {len(most)} counts have about {strides[-1]:.0e} joint values")
    return strides[:-1], strides[-1]


def _most_answering(situation: Situation) -> int:
    """The largest number of answering entries, counted as often as they are drawn."""
    if situation.sampling is None:
        return situation.population.size
    sizes = situation.sampling.sizes_in(situation.population)
    if not sizes:
        raise NotApplicable(f"{situation.sampling!r} does not tell how many entries it may hold")
    return sizes[-1]


def _of_a_total(situation: Situation, *, through_zero: bool, labelled: bool) -> Contributions:
    """The contribution of an entry is its place on the coarsest lattice."""
    asked = situation.asked
    require_no_range(asked)
    amounts = {value: asked.added(value) for value in sorted(asked.values_in())}
    numbers = tuple(sorted(set(amounts.values())))
    through_zero = through_zero or asked.counts_values
    lattice = Lattice(unit=_common_unit(numbers)) if through_zero else lattice_of(numbers)[0]
    answering = situation.number_answering
    if asked.is_mean and answering is None and not _sizes_are_public(situation):
        raise NotApplicable("the mean of a sample of hidden size is no function of its sum")
    place_of = {value: int(lattice.place(amount)) for value, amount in amounts.items()}
    if labelled and not asked.counts_values:
        origins = (0,) if through_zero else tuple(place_of.values())
        place_of = _closest_labels(place_of, origins, _most_answering(situation))
    classes, values = [], []
    for kind in laws_by_class(situation):
        places = sorted((place_of[value], value, share) for value, share in known_law(kind.law))
        classes.append(EntryClass(kind.group, kind.size, _merged((place, share) for place, _, share in places)))
        values.append(tuple((value, place) for place, value, _ in places))
    divisor = (answering or 1) if asked.is_mean else 1
    offset = (answering or 0) * lattice.offset / divisor
    return Contributions(tuple(classes), tuple(values), Lattice(offset, lattice.unit / divisor))


def _merged(shares: Iterable[tuple[int, Fraction]]) -> tuple[tuple[int, Fraction], ...]:
    """The probability of each integer, in order; values with equal contributions are merged."""
    together: dict[int, Fraction] = {}
    for place, share in shares:
        if share > 0:
            together[place] = together.get(place, Fraction(0)) + share
    return tuple(together.items())


def _sizes_are_public(situation: Situation) -> bool:
    """Whether a mean, together with what is published besides, determines the sum."""
    sampling = situation.sampling
    return sampling is not None and (sampling.sizes_are_fixed or sampling.size_published)


def multinomial(numbers: Sequence[int], shares: Sequence[Fraction]) -> Fraction:
    """The multinomial probability of these numbers of entries by value, for identically distributed entries."""
    ways = prod(map(comb, accumulate(numbers), numbers))
    return prod((share**number for number, share in zip(numbers, shares, strict=True)), start=Fraction(ways))


def lattice_of(values: tuple[Fraction, ...]) -> tuple[Lattice, tuple[int, ...]]:
    """The coarsest lattice through these sorted numbers, and the place of each number on it."""
    unit = _common_unit(tuple(value - values[0] for value in values))
    return Lattice(values[0], unit), tuple(int((value - values[0]) / unit) for value in values)


def labels_of_sums(places: Set[int], most: int) -> dict[int, int]:
    """Labels of numbers, zero among them: sums of up to `most` are equal if and only if the sums of their labels are.

    A number x is free of the others, of common divisor g and span D, if two equal sums always have it equally often:
    c times more often means that ``c x`` is a difference of sums of the others. So c is a multiple of ``g/gcd(g, x)``,
    and |c| is at most `most` and ``most D/|x|``. The label of x is then larger than all differences of sums of the
    others' labels. The proof is in docs/explanation/queries.md.
    """
    as_they_are = {place: place for place in places}
    if len(places) > budget.MAX_LABELLED_VALUES:
        return as_they_are
    for x in sorted(places - {0}, key=abs, reverse=True):
        others = places - {x}
        unit, span = gcd(*others) or abs(x), max(others) - min(others)
        if unit // gcd(unit, x) > min(most, most * span // abs(x)):
            labels = labels_of_sums({y // unit for y in others}, most)
            closer = {y: labels[y // unit] for y in others}
            closer[x] = most * _span(closer) + 1
            return min(closer, as_they_are, key=_span)
    return as_they_are


def _closest_labels(place_of: dict[Fraction, int], origins: Iterable[int], most: int) -> dict[Fraction, int]:
    """Labels of values whose places are counted from one of these origins."""

    def counted_from(origin: int) -> dict[Fraction, int]:
        labels = labels_of_sums({0, *(place - origin for place in place_of.values())}, most)
        return {value: labels[place - origin] for value, place in place_of.items()}

    return min(map(counted_from, origins), key=_span)


def _span(labels: Mapping[Any, int]) -> int:
    return max(labels.values()) - min(labels.values())


def _common_unit(values: tuple[Fraction, ...]) -> Fraction:
    scale = reduce(lcm, (value.denominator for value in values))
    return Fraction(reduce(gcd, (int(value * scale) for value in values)) or scale, scale)


def _table(shares: dict[int, Fraction]) -> Law:
    least, most = min(shares), max(shares)
    if most - least >= budget.MAX_LABELS:
        raise NotApplicable(
            f"the values are {most - least:.0e} steps of their common lattice apart, and {budget.MAX_LABELS:.0e} are "
            "written out at most: round them, to whole units say"
        )
    return Law.table(least, [shares.get(amount, Fraction(0)) for amount in range(least, most + 1)])


def require_written_out(answers: float) -> float:
    """The approximate number of answers that matter, if the kernel can list their probabilities.

    Raises
    ------
    NotApplicable
        There are too many answers.
    """
    if answers > budget.MAX_LABELS:
        raise NotApplicable(
            f"about {answers:.0e} answers matter, and the probabilities of {budget.MAX_LABELS:.0e} are written out at "
            "most: round the values, to whole units say"
        )
    return answers
