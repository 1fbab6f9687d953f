"""Granularities of tables: unbounded, bounded, free-lunch and ordered."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import as_items, is_mapping
from statpriv.numeric.literals import abridged
from statpriv.theories.granularity.inputs import Inputs, sets_of
from statpriv.theories.granularity.protocol import Distance, Granularity, Touched, alike, read_inputs

Record = TypeVar("Record", bound=Hashable)
Multiset: TypeAlias = Iterable[Record] | Mapping[Record, int]
"""Records in any order, or a dict with the multiplicity of each record."""


@dataclass(frozen=True)
class Unbounded(Granularity):
    """A step adds or removes one record, so the number of records is protected too.

    The distance is the number of records in the symmetric difference of two multisets (Definition II.3). Disjoint sets
    of records are compatible (Proposition A.4).

    Examples
    --------
    >>> import statpriv as sp
    >>> unbounded = sp.granularity.Unbounded()
    >>> unbounded.distance(["a", "a", "b"], ["a", "c"])
    3
    >>> unbounded.compatible([{"a"}, {"b", "c"}])
    True
    """

    @property
    def name(self) -> str:
        """The name in the literature."""
        return "unbounded"

    def distance(self, first: Multiset[Hashable], second: Multiset[Hashable], /) -> Distance:
        """The size of the symmetric difference of two multisets: iterables, or dicts of multiplicities."""
        only_first, only_second = _differences(first, second)
        return only_first + only_second

    def touched(self, inputs: object, /) -> Touched:
        """The queries that one step can change: those that read the record."""
        read = read_inputs(inputs, self.name, ("record",))
        return Touched(read.classes(), together=1, own_domain=True)

    def elements(self, count: int, /) -> Inputs:
        """Disjoint sets of records."""
        return Inputs.disjoint(count, "record")


@dataclass(frozen=True)
class Bounded(Granularity):
    """A step replaces one record by another, so the number of records is public.

    The distance is half of the symmetric difference of two multisets of equal size; for different sizes it is infinite
    (Definition II.4). Sets of records are not compatible if a record can move from one to another (Proposition A.5).

    Examples
    --------
    >>> import statpriv as sp
    >>> bounded = sp.granularity.Bounded()
    >>> bounded.distance(["a", "a", "b"], ["a", "b", "c"]), bounded.distance(["a"], [])
    (1, inf)
    >>> bounded.compatible([{"a"}, {"b", "c"}])
    False
    """

    @property
    def name(self) -> str:
        """The name in the literature."""
        return "bounded"

    def distance(self, first: Multiset[Hashable], second: Multiset[Hashable], /) -> Distance:
        """The number of records that have to be replaced; infinite for different sizes."""
        only_first, only_second = _differences(first, second)
        return only_first if only_first == only_second else math.inf

    def touched(self, inputs: object, /) -> Touched:
        """The queries that one step can change: those that read the old record or the new one."""
        read = read_inputs(inputs, self.name, ("record",))
        return Touched(read.classes(), together=2, own_domain=read.whole)

    def elements(self, count: int, /) -> Inputs:
        """Disjoint sets of records."""
        return Inputs.disjoint(count, "record")


@dataclass(frozen=True)
class FreeLunch(Granularity):
    """Every two databases are neighbours, so every property of the database is protected.

    Databases may be anything; they are compared by `==`. No two parts are compatible.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.granularity.FreeLunch().distance([1, 2, 3], [])
    1
    """

    @property
    def name(self) -> str:
        """The name in the literature."""
        return "free-lunch"

    def distance(self, first: object, second: object, /) -> Distance:
        """0 for equal databases, 1 otherwise."""
        return 0 if alike(first, second) else 1

    def touched(self, inputs: object, /) -> Touched:
        """The queries that one step can change: all with a nonempty part."""
        read = read_inputs(inputs, self.name, ("record", "index", "node", "edge"))
        everybody = frozenset(i for i, part in enumerate(read.parts) if part)
        return Touched({everybody: "all of the database"}, together=1, own_domain=True)

    def elements(self, count: int, /) -> Inputs:
        """Disjoint sets of records."""
        return Inputs.disjoint(count, "record")


@dataclass(frozen=True)
class Ordered(Granularity):
    """A step changes the record at one place; databases are sequences of public length (Example IV.7).

    The distance is the Hamming distance; it is infinite for sequences of different lengths. Parts are given *by index*
    (compatible, Proposition A.6) or *by record*, that is by value (not compatible), so `compatible` requires the kind.

    Examples
    --------
    >>> import statpriv as sp
    >>> ordered = sp.granularity.Ordered()
    >>> ordered.distance("abc", "acb"), ordered.distance([1, 2], [1])
    (2, inf)
    >>> halves = sp.granularity.Inputs([{0, 1}, {2, 3}], by="index")
    >>> values = sp.granularity.Inputs([{"yes"}, {"no"}], by="record")
    >>> ordered.compatible(halves), ordered.compatible(values)
    (True, False)
    """

    @property
    def name(self) -> str:
        """The name in the literature."""
        return "ordered"

    def distance(self, first: Sequence[object], second: Sequence[object], /) -> Distance:
        """The number of places at which two sequences differ; infinite for different lengths."""
        for database in (first, second):
            if not isinstance(database, Sequence):
                raise ArgumentError(f"database {abridged(database)}; a list, tuple or string of records is required")
        if len(first) != len(second):
            return math.inf
        return sum(1 for one, other in zip(first, second, strict=True) if one != other)

    def touched(self, inputs: object, /) -> Touched:
        """The queries that one step can change: those that read the place, or the old value or the new one."""
        if sets_of(inputs) is None:
            raise ArgumentError(
                f'partition = {abridged(inputs)}; of ordered databases say Inputs([...], by="index") or by="record"'
            )
        read = read_inputs(inputs, self.name, ("index", "record"))
        by_index = read.by == "index"
        return Touched(read.classes(), together=1 if by_index else 2, own_domain=by_index or read.whole)

    def elements(self, count: int, /) -> Inputs:
        """Disjoint sets of values."""
        return Inputs.disjoint(count, "record")

    def disjoint(self, count: int, /) -> Inputs:
        """Disjoint sets of places."""
        return Inputs.disjoint(count, "index")


def _differences(first: Multiset[Hashable], second: Multiset[Hashable]) -> tuple[int, int]:
    """The numbers of records that only the first table has, and only the second."""
    one, other = multiset(first), multiset(second)
    return (one - other).total(), (other - one).total()


def multiset(database: Multiset[Record]) -> Counter[Record]:
    """The records with their multiplicities.

    >>> sorted(multiset(["a", "b", "a"]).items())
    [('a', 2), ('b', 1)]
    """
    if not is_mapping(database):
        database = as_items(database, "database", "a list of records, or a dict of how many, is required")
    elif not all(isinstance(n, int) and n >= 0 for n in database.values()):
        raise ArgumentError(f"database {abridged(database)}; how often a record occurs is an integer of at least 0")
    try:
        return Counter(database)
    except TypeError as unhashable:
        raise ArgumentError(f"database {abridged(database)}: {unhashable}; records have to be hashable") from None
