"""Situations: everything an analysis needs to know, checked as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from statpriv.adversaries import Adversary
from statpriv.errors import ArgumentError
from statpriv.literals import show
from statpriv.partitions import RandomPartition
from statpriv.populations import Population
from statpriv.queries.property import Between, PropertyQuery

__all__ = ["Pair", "Situation"]

Pair: TypeAlias = "tuple[int, int] | None"
"""Which values of the critical entry are compared; None is the worst pair."""


@dataclass(frozen=True)
class Situation:
    """Queries, one a part of a secret random partition, and who looks at the answers.

    A count of all entries is the partition into one part; a sample without replacement is a partition into
    one part and a rest that is not used.
    """

    queries: tuple[PropertyQuery, ...]
    population: Population
    sampling: RandomPartition
    adversary: Adversary
    pair: Pair = None

    def __post_init__(self) -> None:
        n, sizes, known = self.population.size, self.sampling.sizes, self.adversary.known
        if len(self.queries) != len(sizes):
            raise ArgumentError(f"{len(self.queries)} queries and {len(sizes)} parts; one query a part is required")
        if self.used > n:
            raise ArgumentError(f"the sample or parts have {self.used} entries together, the population only {n}")
        if known > n - 1:
            raise ArgumentError(
                f"known = {known}; at most {n - 1} of {n} entries can be known, the critical one is not"
            )
        if self.pair is not None and not (isinstance(self.pair, tuple) and self.pair in ((1, 0), (0, 1))):
            raise ArgumentError(f"pair = {self.pair!r}; (1, 0), (0, 1) or None is required for a property")
        if self.pair is not None:
            object.__setattr__(self, "pair", (int(self.pair[0]), int(self.pair[1])))  # (1.0, 0.0) equals (1, 0)
        if self.pair is not None and not self.one_property:
            raise ArgumentError(
                f"pair = {self.pair!r} with unrelated properties; a pair is defined for one property only"
            )
        self._check_attributes()

    def _check_attributes(self) -> None:
        ranges: dict[str, PropertyQuery] = {}
        for query in self.queries:
            if query.attribute is None:
                continue
            first = ranges.setdefault(query.attribute, query)
            if (first.lower, first.upper) != (query.lower, query.upper):
                raise ArgumentError(
                    f"attribute = {query.attribute!r} is asked with two different p, {_spelled(first)} and "
                    f"{_spelled(query)}; one property has one probability (give the hull of the ranges to both)"
                )

    @property
    def used(self) -> int:
        """Number of entries that answer some query."""
        return sum(self.sampling.sizes)

    @property
    def one_property(self) -> bool:
        """Whether all parts are known to ask the same property: one part, or one common attribute."""
        attributes = {query.attribute for query in self.queries}
        return len(self.queries) == 1 or (len(attributes) == 1 and None not in attributes)


def _spelled(query: PropertyQuery) -> str:
    return repr(query.p) if isinstance(query.p, Between) else show(query.p)
