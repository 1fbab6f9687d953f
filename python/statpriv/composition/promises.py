"""Promises: restrictions the analyst accepts beforehand, under which adaptivity costs nothing.

The proofs are in docs/explanation/filters-and-odometers.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol, TypeAlias

from statpriv.composition.any_property import AnyPropertyCurve
from statpriv.composition.ledger import QUERIES
from statpriv.composition.stated_laws import stated_law
from statpriv.curves.build import compose, privacy_curve
from statpriv.errors import ArgumentError
from statpriv.model.adversaries import Adversary
from statpriv.model.codec import KEPT_QUERY
from statpriv.model.fields import COUNT, SIZE, Record, by_group, by_name, list_of
from statpriv.model.partitions import RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.situation import Query, asked_of
from statpriv.numeric.arguments import as_instance, is_list
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.literals import abridged

Part: TypeAlias = "tuple[Query, int]"
"""A query and the number of rows it is answered on."""


class Guaranteed(Protocol):
    """A curve that no strategy of the analyst can exceed: a :class:`statpriv.PrivacyCurve`, or a bound."""

    @property
    def theorem(self) -> str: ...  # noqa: D102
    @property
    def source(self) -> str: ...  # noqa: D102
    @property
    def assumptions(self) -> tuple[str, ...]: ...  # noqa: D102
    def delta(self, epsilon: Fraction) -> Enclosure: ...  # noqa: D102
    def epsilon(self, delta: Fraction) -> Enclosure: ...  # noqa: D102


@dataclass(frozen=True)
class OneAttribute:
    """Every answer is computed from one property, or from the cells of one histogram, in whatever sizes and order.

    Given the total of all entries, every arrangement of their bits in the secret order is equally likely, whatever the
    value of the critical entry. All answers are computed from these bits, hence are post-processing of the total.
    """

    query: PropertyQuery | HistogramQuery

    theorem = (
        "All queries ask the same attribute, so all answers are post-processing of its total over all entries, "
        "whatever their number, sizes and order: δ is at most that of the total."
    )

    @property
    def queries(self) -> tuple[Query, ...]:
        """The promised query, as a tuple."""
        return (self.query,)

    def curve(self, population: Population, adversary: Adversary) -> Guaranteed:
        """The privacy curve of the total over all entries."""
        return privacy_curve(self.query, population, adversary=adversary)

    def left(self, query: Query, size: int, asked: Counter[Part]) -> int | None:  # noqa: ARG002  (see Declared)
        """How many more such queries are covered; None means any number."""
        part = asked_of(query)
        same = isinstance(part, type(self.query)) and part.attribute == self.query.attribute
        return None if same and stated_law(part) == stated_law(self.query) else 0

    @property
    def stated(self) -> dict[str, Any]:
        """The promise as it stands in a document."""
        return {"only": self.query}


@dataclass(frozen=True)
class AnyProperty:
    """Every answer is computed from a count of some property with probability in a range; each row is counted once.

    See :class:`statpriv.composition.any_property.AnyPropertyCurve`.
    """

    query: PropertyQuery

    theorem = "Whatever properties are counted, their probabilities are in the promised range."

    @property
    def queries(self) -> tuple[Query, ...]:
        """The promised query, as a tuple."""
        return (self.query,)

    def curve(self, population: Population, adversary: Adversary) -> Guaranteed:
        """The bound over all ways to count."""
        return AnyPropertyCurve(self.query, population, adversary)

    def left(self, query: Query, size: int, asked: Counter[Part]) -> int | None:  # noqa: ARG002  (see Declared)
        """How many more such queries are covered; None means any number."""
        part = asked_of(query)
        if not isinstance(part, PropertyQuery) or not part.is_uniform or part.each_own:
            return 0
        return None if self.query.lower <= part.lower and part.upper <= self.query.upper else 0

    @property
    def stated(self) -> dict[str, Any]:
        """The promise as it stands in a document."""
        return {"only": self.query}


@dataclass(frozen=True)
class Declared:
    """The queries are declared, one for each part; each may be asked at most once, in any order.

    The choice of queries and their order is computed from the answers to all of them, hence is post-processing.
    """

    queries: tuple[Query, ...]
    partition: RandomPartition

    theorem = (
        "All queries were declared. Which of them are asked, and in which order, is chosen from their answers, so that "
        "whatever is released is post-processing of answering all: δ is at most that of their composition."
    )

    @classmethod
    def of(cls, declared: object) -> Declared:
        """The queries and the partition, as :func:`statpriv.compose` takes them."""
        if not isinstance(declared, tuple) or len(declared) != 2 or not isinstance(declared[1], RandomPartition):
            raise ArgumentError(
                f"declared = {abridged(declared)}; a list of queries and a partition are required, such as "
                "([query] * 2, sp.RandomPartition([512, 512]))"
            )
        queries, partition = declared
        return cls(one_a_part(queries, partition, "declared"), partition)

    def curve(self, population: Population, adversary: Adversary) -> Guaranteed:
        """The privacy curve of answering all declared queries."""
        return compose(self.queries, population, self.partition, adversary=adversary)

    def left(self, query: Query, size: int, asked: Counter[Part]) -> int | None:
        """How many more such queries are covered."""
        return max(0, self._declared[query, size] - asked[query, size])

    @cached_property
    def _declared(self) -> Counter[Part]:
        return Counter(zip(self.queries, self.partition.sizes, strict=True))

    @property
    def stated(self) -> dict[str, Any]:
        """The promise as it stands in a document."""
        return {"declared": {"queries": self.queries, "sizes": self.partition.strata or self.partition.sizes}}


Promise: TypeAlias = OneAttribute | AnyProperty | Declared


def only_promise(query: object) -> OneAttribute | AnyProperty:
    """The promise that `only=` states."""
    if not isinstance(query, PropertyQuery | HistogramQuery):
        raise ArgumentError(
            f"only = {abridged(query)}; the PropertyQuery or HistogramQuery from which all answers are made is required"
        )
    if query.attribute is not None:
        return OneAttribute(query)
    required = "an attribute= is required, which says that all queries ask the same histogram"
    return AnyProperty(as_instance(query, "only", PropertyQuery, required))


def promise_of(
    only: PropertyQuery | HistogramQuery | None, declared: tuple[Sequence[Query], RandomPartition] | None
) -> Promise | None:
    """The promise stated by an accountant's arguments, at most one of which is given."""
    if only is not None and declared is not None:
        raise ArgumentError("only and declared are both given; at most one promise is possible")
    if only is not None:
        return only_promise(only)
    return None if declared is None else Declared.of(declared)


def one_a_part(queries: object, partition: RandomPartition, name: str) -> tuple[Query, ...]:
    """The queries as a tuple, exactly one for each part; error messages refer to them as `name`."""
    if not all(isinstance(size, int) for size in partition.sizes):
        raise ArgumentError(f"{name} with {partition!r}; parts that have one size, not one a group, are required")
    if isinstance(queries, Query) or not is_list(queries) or len(queries) != len(partition.sizes):
        raise ArgumentError(f"{name} = {abridged(queries)}; {len(partition.sizes)} queries, one a part, are required")
    return tuple(queries)


_DECLARED = Record({"queries": QUERIES, "sizes": list_of(by_group(SIZE, COUNT), "a list of sizes", least=1)})
PROMISE = Record(
    {"only": KEPT_QUERY.optional(), "declared": _DECLARED.field("a table with queries and sizes").optional()},
    one_of=("only", "declared"),
)
"""A promise as it stands in a document."""


def promise_arguments(stated: dict[str, Any] | None) -> dict[str, Any]:
    """The arguments of an accountant that restore the promise of a document."""
    if stated is None or stated["declared"] is None:
        return {} if stated is None else {"only": stated["only"]}
    declared = stated["declared"]
    return {"declared": ([*declared["queries"]], RandomPartition([*map(by_name, declared["sizes"])]))}
