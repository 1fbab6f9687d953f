"""User-defined granularities: any symmetric relation on finitely many databases."""

from __future__ import annotations

import math
import warnings
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import as_items, is_list, length_of_tuple
from statpriv.numeric.literals import abridged
from statpriv.theories.granularity.inputs import Inputs, sets_of
from statpriv.theories.granularity.protocol import Distance, Granularity, Touched, as_granularity

Neighbours: TypeAlias = Callable[[Any, Any], bool] | Iterable[tuple[Hashable, Hashable]]


class NoPathWarning(UserWarning):
    """Some databases of a class are not linked by neighbouring steps, so no guarantee covers these pairs."""


@dataclass(frozen=True, init=False, repr=False)
class Relation(Granularity):
    """Finitely many databases, and which of them are neighbours.

    Parameters
    ----------
    universe : sequence of hashables
        The databases, each once.
    neighbours : callable or iterable of pairs
        A symmetric function that tells whether two different databases are neighbours; or the pairs of neighbours,
        each in one order or in both.

    Raises
    ------
    ArgumentError
        Databases that occur twice or are not hashable, pairs with databases outside the universe, or a function that is
        not symmetric.

    Notes
    -----
    Definition III.1 and Proposition A.1 of *Composition in Differential Privacy for General Granularity Notions*.
    Its canonical metric depends on the class of databases (Remark A.2): see :func:`restricted`.

    Examples
    --------
    >>> import statpriv as sp
    >>> incomes = sp.granularity.Relation(range(0, 100, 10), lambda x, y: abs(x - y) <= 20)
    >>> incomes.distance(0, 90), incomes.neighbours(0, 30)
    (5, False)
    >>> split = sp.granularity.Relation("abcd", [("a", "b"), ("c", "d")])
    >>> split.distance("a", "d"), split.components
    (inf, (('a', 'b'), ('c', 'd')))
    """

    universe: tuple[Hashable, ...]
    _adjacent: tuple[tuple[int, ...], ...]
    _place: dict[Hashable, int] = field(compare=False)
    _rows: dict[int, list[Distance]] = field(compare=False)

    def __init__(self, universe: Iterable[Hashable], neighbours: Neighbours) -> None:
        databases = all_databases(universe)
        try:
            place = {database: i for i, database in enumerate(databases)}
        except TypeError as unhashable:
            raise ArgumentError(f"universe: {unhashable}; databases have to be hashable: take tuples") from None
        if len(place) < len(databases):
            raise ArgumentError(f"universe has {len(databases)} databases, {len(place)} of them different; each once")
        links = _called(databases, neighbours) if callable(neighbours) else _listed(place, neighbours)
        object.__setattr__(self, "universe", databases)
        object.__setattr__(self, "_adjacent", tuple(tuple(sorted(link)) for link in links))
        object.__setattr__(self, "_place", place)
        object.__setattr__(self, "_rows", {})

    @property
    def name(self) -> str:
        """The name used in messages."""
        return "the given relation"

    def distance(self, first: Hashable, second: Hashable, /) -> Distance:
        """The least number of neighbouring steps from one database to the other; infinite if there is no path."""
        start, end = self._at(first), self._at(second)
        if end in self._rows:
            start, end = end, start
        if start not in self._rows:
            self._rows[start] = self._steps_from(start)
        return self._rows[start][end]

    def neighbours(self, first: Hashable, second: Hashable, /) -> bool:
        """Whether two different databases are neighbours."""
        return self._at(second) in self._adjacent[self._at(first)]

    @property
    def pairs(self) -> tuple[tuple[Hashable, Hashable], ...]:
        """The neighbours, each pair in one order."""
        return tuple(
            (self.universe[i], self.universe[j]) for i, near in enumerate(self._adjacent) for j in near if i < j
        )

    @property
    def components(self) -> tuple[tuple[Hashable, ...], ...]:
        """The connected components of the relation. Databases in different components are not protected."""
        left, found = dict.fromkeys(range(len(self.universe))), []
        while left:
            row = self._steps_from(next(iter(left)))
            reached = [i for i in left if row[i] < math.inf]
            found.append(tuple(self.universe[i] for i in reached))
            for i in reached:
                del left[i]
        return tuple(found)

    def touched(self, inputs: object, /) -> Touched:
        """The queries that one step changes, by trying all neighbours; inputs are functions or Inputs."""
        functions = as_functions(inputs)
        seen = [tuple(function(database) for function in functions) for database in self.universe]
        classes: dict[frozenset[int], Hashable] = {}
        for first, near in enumerate(self._adjacent):
            for second in near:
                if first < second:
                    pairs = zip(seen[first], seen[second], strict=True)
                    changed = frozenset(i for i, (one, other) in enumerate(pairs) if one != other)
                    classes.setdefault(changed, (self.universe[first], self.universe[second]))
        return Touched(classes, together=1, own_domain=False)

    def elements(self, count: int, /) -> Inputs | None:  # noqa: ARG002  (a relation says nothing of them)
        """None: the elements of a user-defined database are not known, so inputs have to be given as functions."""
        return None

    def _at(self, database: Hashable) -> int:
        try:
            return self._place[database]
        except (KeyError, TypeError):
            raise ArgumentError(f"database {abridged(database)} is not in the universe of this relation") from None

    def _steps_from(self, start: int) -> list[Distance]:
        steps: list[Distance] = [math.inf] * len(self.universe)
        steps[start] = 0
        queue = deque([start])
        while queue:
            here = queue.popleft()
            for near in self._adjacent[here]:
                if steps[near] == math.inf:
                    steps[near] = steps[here] + 1
                    queue.append(near)
        return steps

    def __repr__(self) -> str:
        links = sum(map(len, self._adjacent)) // 2
        return f"<Relation of {len(self.universe)} databases, {links} pairs of neighbours>"

    def __reduce__(self) -> tuple[type[Relation], tuple[object, ...]]:
        return Relation, (self.universe, self.pairs)


def restricted(granularity: Granularity, universe: Sequence[Hashable]) -> Relation:
    """The granularity on a class of databases: its neighbours, and only steps within the class (Remark A.2).

    Warns
    -----
    NoPathWarning
        If some databases of the class are not linked by steps, such as tables of one size for the unbounded granularity
        (Example III.4). Then even the identity may be "private".

    Examples
    --------
    >>> import statpriv as sp
    >>> tables = [(), ("a",), ("b",), ("a", "b")]
    >>> unbounded = sp.granularity.Unbounded()
    >>> unbounded.distance(("a",), ("b",)), sp.granularity.restricted(unbounded, tables[1:]).distance(("a",), ("b",))
    (2, 2)
    """
    relation = Relation(universe, as_granularity(granularity).neighbours)
    warn_of_missing_paths(relation.universe, relation)
    return relation


def all_databases(universe: object) -> tuple[Any, ...]:
    """The databases of a finite class, which must not be empty."""
    databases = tuple(as_items(universe, "universe", "all databases of the class are required", text=True))
    if not databases:
        raise ArgumentError("universe is empty; at least one database is required")
    return databases


def warn_of_missing_paths(universe: Sequence[Hashable], granularity: Granularity) -> None:
    """Warn if some databases are infinitely far from the first one."""
    first = universe[0]
    for database in universe:
        if granularity.distance(first, database) == math.inf:
            warnings.warn(
                f"no neighbouring steps lead from {abridged(first)} to {abridged(database)}: a guarantee at this "
                "granularity says nothing about telling them apart, and even publishing the database may be "
                '"private" (Example III.4)',
                NoPathWarning,
                stacklevel=3,
            )
            return


def relation_on(metric: object, universe: Iterable[Hashable] | None = None) -> Relation | None:
    """The metric, if it is a Relation (on exactly these databases, if given); otherwise None."""
    if not isinstance(metric, Relation) or (universe is not None and set(metric.universe) != set(universe)):
        return None
    return metric


def as_functions(inputs: object) -> list[Callable[[Any], Any]]:
    """For each query its input as a function of the database."""
    sets = sets_of(inputs)
    if sets is not None:
        if not sets.is_named:
            raise ArgumentError(
                "the parts are not known; of a finite universe, give the functions or sets that they are"
            )
        return [lambda database, i=i: sets.restricted(i, database) for i in range(len(sets))]  # type: ignore[misc]
    if not is_list(inputs) or not inputs or not all(map(callable, inputs)):
        raise ArgumentError(
            f"partition = {abridged(inputs)}; a sequence of functions of the database, one for each part, is required"
        )
    return list(inputs)


def _called(databases: tuple[Hashable, ...], neighbours: Callable[[Any, Any], bool]) -> list[set[int]]:
    links: list[set[int]] = [set() for _ in databases]
    for i, first in enumerate(databases):
        for j, second in enumerate(databases[:i]):
            near = bool(neighbours(first, second))
            if near != bool(neighbours(second, first)):
                raise ArgumentError(
                    f"neighbours({abridged(first)}, {abridged(second)}) = {near}, and the other way round it is "
                    f"{not near}; a symmetric relation is required"
                )
            if near:
                links[i].add(j)
                links[j].add(i)
    return links


def _listed(place: dict[Hashable, int], pairs: object) -> list[set[int]]:
    links: list[set[int]] = [set() for _ in place]
    for pair in as_items(pairs, "neighbours", "a function of two databases, or pairs, are required"):
        if length_of_tuple(pair) != 2 or any(database not in place for database in pair):
            raise ArgumentError(f"neighbours has {abridged(pair)}; pairs of databases of the universe are required")
        first, second = (place[database] for database in pair)
        if first != second:
            links[first].add(second)
            links[second].add(first)
    return links
