"""The protocol of a granularity: neighbouring databases, their distance, and the queries that one step can change.

A granularity is a symmetric relation between databases. Its *canonical metric* is the least number of neighbouring
steps from one database to the other; it is infinite if there is no path. A mechanism is ε-private at a granularity
exactly if `P[M(D) ∈ S] ≤ e^{ε d(D, D')} P[M(D') ∈ S]` for all databases and all S (Theorem III.3).

Composition depends on one question: **which queries can a single step change?** Every statement about disjoint,
overlapping and common inputs follows from its answer (Theorem IV.11 in its form for granularities): the loss of the
whole is the largest sum of budgets over a set of queries that one step changes together.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, Protocol, TypeAlias, runtime_checkable

from statpriv.errors import ArgumentError
from statpriv.numeric.literals import abridged
from statpriv.theories.granularity.inputs import Inputs, Kind, as_inputs

Distance: TypeAlias = int | float
"""A whole number of steps, or `math.inf`."""


@dataclass(frozen=True)
class Touched:
    """The queries that one neighbouring step can change.

    Attributes
    ----------
    classes : dict of frozenset of int to object
        The sets of queries that see the same elementary change, each with an example of such a change.
    together : {1, 2}
        Number of these sets that one step can change at once: two if a step replaces a record by another.
    own_domain : bool
        Whether one step changes each input by at most one step, so that budgets may be stated for the inputs alone.
    """

    classes: Mapping[frozenset[int], Hashable]
    together: int
    own_domain: bool

    @property
    def conflict(self) -> tuple[Hashable, ...] | None:
        """Changes of a single step that reach two queries or more; None if the inputs are compatible."""
        for queries, change in self.classes.items():
            if len(queries) > 1:
                return (change,)
        alone = [change for queries, change in self.classes.items() if queries]
        return tuple(alone[:2]) if self.together == 2 and len(alone) > 1 else None

    def worst(self, weights: list[Fraction]) -> tuple[Fraction, frozenset[int], tuple[Hashable, ...]]:
        """The largest sum of weights of queries that one step changes, these queries, and the change."""
        ranked = sorted(((_total(queries, weights), queries) for queries in self.classes), key=lambda pair: -pair[0])
        if not ranked:
            return Fraction(0), frozenset(), ()
        best = ranked[0][0]
        chosen: tuple[frozenset[int], ...] = (ranked[0][1],)
        if self.together == 2:
            for i, (first, queries) in enumerate(ranked):
                if 2 * first <= best and i:
                    break
                for second, others in ranked[i + 1 :]:
                    if first + second <= best:
                        break
                    total = _total(queries | others, weights)
                    if total > best:
                        best, chosen = total, (queries, others)
        reached = reduce(frozenset.union, chosen, frozenset[int]())
        return best, reached, tuple(self.classes[queries] for queries in chosen)


def _total(queries: Iterable[int], weights: list[Fraction]) -> Fraction:
    return sum((weights[i] for i in queries), Fraction(0))


@runtime_checkable
class Granularity(Protocol):
    """A neighbouring relation with its canonical metric."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name in the literature."""

    @abstractmethod
    def distance(self, first: Any, second: Any, /) -> Distance:  # noqa: ANN401  (a database is anything)
        """The least number of neighbouring steps from one database to the other; infinite if there is no path."""

    @abstractmethod
    def touched(self, inputs: Any, /) -> Touched:  # noqa: ANN401
        """The queries that one step can change."""

    @abstractmethod
    def elements(self, count: int, /) -> Inputs | None:
        """Disjoint inputs, one for each query, that partition the database; None if they have to be declared."""

    def disjoint(self, count: int, /) -> Inputs | None:
        """Disjoint inputs of the setting "disjoint"; None if they have to be declared."""
        return self.elements(count)

    def neighbours(self, first: Any, second: Any, /) -> bool:  # noqa: ANN401
        """Whether two databases are one step apart."""
        return self.distance(first, second) == 1

    def compatible(self, partition: Any, /) -> bool:  # noqa: ANN401
        """Whether neighbouring databases differ in at most one part."""
        return self.touched(partition).conflict is None


def alike(first: object, second: object) -> bool:
    """Whether two databases, or two inputs, are equal."""
    try:
        return bool(first == second)
    except ValueError:  # == of arrays is elementwise, and has no single truth value
        raise ArgumentError(
            f"{abridged(first)} and {abridged(second)} are not compared as a whole by ==; tuples are required"
        ) from None


def as_granularity(value: object) -> Granularity:
    """The granularity, or an error that lists the available ones."""
    if isinstance(value, type) or not isinstance(value, Granularity):
        raise ArgumentError(
            f"granularity = {abridged(value)}; one of Unbounded(), Bounded(), FreeLunch(), Ordered(), Edge(), Node() "
            "and Relation(universe, neighbours) of sp.granularity is required"
        )
    return value


def read_inputs(partition: object, granularity: str, allowed: tuple[Kind, ...]) -> Inputs:
    """The inputs, of a kind allowed for databases of this granularity; plain sets are read as the first kind."""
    inputs = as_inputs(partition, by=allowed[0])
    if inputs.by not in allowed:
        kinds = " or ".join(f'by="{kind}"' for kind in allowed)
        raise ArgumentError(
            f'inputs by="{inputs.by}" do not fit {granularity} databases; Inputs([...], {kinds}) is required'
        )
    return inputs
