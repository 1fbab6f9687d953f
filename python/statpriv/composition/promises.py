"""What an analyst can be held to beforehand, so that adaptivity costs nothing.

The proofs are in docs/explanation/filters-and-odometers.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from statpriv.adversaries import Adversary
from statpriv.analysis import compose, privacy_curve
from statpriv.composition.ledger import LedgerEntry
from statpriv.composition.written_queries import query_from, written_query
from statpriv.curve import PrivacyCurve
from statpriv.errors import ArgumentError
from statpriv.literals import abridged
from statpriv.partitions import RandomPartition
from statpriv.populations import Population
from statpriv.queries.histogram import HistogramQuery
from statpriv.queries.processed import Processed
from statpriv.queries.property import PropertyQuery
from statpriv.situation import Query

__all__ = ["Declared", "OneAttribute", "Promise", "one_a_part", "promise_arguments"]

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class OneAttribute:
    """Every answer is made from one property, or the cells of one histogram, whatever the sizes and the order.

    Given the total of all entries, their bits in the secret order are one of all arrangements, equally likely, whatever
    the critical entry is. All answers are made from these bits, so they are post-processing of the total.

    A property of probability exactly one half without an attribute stands for all such properties: each bit that is
    read moves the likelihood ratios by the same law, whichever property it is of.
    """

    query: PropertyQuery | HistogramQuery

    def __post_init__(self) -> None:
        if not isinstance(self.query, PropertyQuery | HistogramQuery):
            raise ArgumentError(
                f"only = {abridged(self.query)}; the PropertyQuery or HistogramQuery from which all answers are made "
                "is required"
            )
        if self.query.attribute is None and not self.any_attribute:
            raise ArgumentError(
                f"only = {self.query!r}; an attribute= is required, which says that all queries ask the same (without "
                "it only a property of probability exactly 1/2 is allowed)"
            )

    @property
    def queries(self) -> tuple[PropertyQuery | HistogramQuery]:
        """The query, as one of several."""
        return (self.query,)

    @property
    def any_attribute(self) -> bool:
        """Whether it is about all properties of probability one half."""
        return (
            isinstance(self.query, PropertyQuery) and self.query.attribute is None and self.query.probabilities == HALF
        )

    @property
    def theorem(self) -> str:
        """Why it bounds everything."""
        if self.any_attribute:
            return (
                "All queries count properties of probability 1/2. Whatever is asked of which rows, δ is at most that "
                "of one count of all entries."
            )
        return (
            "All queries ask the same attribute, so all answers are post-processing of its total over all entries, "
            "whatever their number, sizes and order: δ is at most that of the total."
        )

    def curve(self, population: Population, adversary: Adversary) -> PrivacyCurve:
        """The privacy curve that nothing the analyst does can exceed."""
        if self.any_attribute and population.groups is not None:
            raise ArgumentError(
                f"only = {self.query!r} with {population!r}; an attribute= is required where there are groups"
            )
        return privacy_curve(self.query, population, adversary=adversary)

    def refusal(self, entry: LedgerEntry, earlier: Iterable[LedgerEntry]) -> str | None:  # noqa: ARG002  (see Declared)
        """Why the promise does not cover some query, or None."""
        for query in entry.queries:
            if not self._covers(query):
                return f"query = {abridged(query)} does not ask what was promised, only = {self.query!r}"
        return None

    def largest_count(self, query: Query, size: int, earlier: Iterable[LedgerEntry]) -> int | None:  # noqa: ARG002
        """How many more such queries are covered; None stands for any number."""
        return None if self._covers(query) else 0

    def _covers(self, query: object) -> bool:
        asked: Any = query.query if isinstance(query, Processed) else query
        if isinstance(asked, PropertyQuery) and self.any_attribute:
            return asked.probabilities == HALF
        if type(asked) is not type(self.query) or asked.attribute != self.query.attribute:
            return False
        return bool(_law(asked) == _law(self.query))

    def document(self) -> dict[str, Any]:
        """The promise as JSON."""
        return {"only": written_query(self.query)}


@dataclass(frozen=True)
class Declared:
    """The queries are declared, one for each part: any of them may be asked, once each, in any order.

    What is asked, and in which order, is chosen from the answers to all of them: post-processing.
    """

    queries: tuple[Query, ...]
    partition: RandomPartition

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

    @property
    def theorem(self) -> str:
        """Why it bounds everything."""
        return (
            "All queries were declared. Which of them are asked, and in which order, is chosen from their answers, so "
            "that whatever is released is post-processing of answering all: δ is at most that of their composition."
        )

    def curve(self, population: Population, adversary: Adversary) -> PrivacyCurve:
        """The privacy curve of answering all."""
        return compose(self.queries, population, self.partition, adversary=adversary)  # type: ignore[arg-type]

    def refusal(self, entry: LedgerEntry, earlier: Iterable[LedgerEntry]) -> str | None:
        """Why the promise does not cover some query, or None."""
        left = self._left(earlier)
        asked = _asked([entry])
        for (query, size), times in asked.items():
            if times > left[query, size]:
                return (
                    f"query = {abridged(query)} on {size} rows was declared for {left[query, size]} more parts, "
                    f"and {times} are asked for"
                )
        return None

    def largest_count(self, query: Query, size: int, earlier: Iterable[LedgerEntry]) -> int | None:
        """How many more such queries are covered."""
        return self._left(earlier)[query, size]

    def _left(self, earlier: Iterable[LedgerEntry]) -> Counter[tuple[Query, int]]:
        declared = Counter(zip(self.queries, self.partition.sizes, strict=True))
        declared.subtract(_asked(earlier))
        return declared

    def document(self) -> dict[str, Any]:
        """The promise as JSON."""
        return {
            "declared": {"queries": [*map(written_query, self.queries)], "sizes": list(self.partition.sizes)},
        }


Promise: TypeAlias = OneAttribute | Declared


def one_a_part(queries: object, partition: RandomPartition, name: str) -> tuple[Query, ...]:
    """Queries, which messages call `name`, as many as there are parts."""
    if isinstance(queries, str | Query) or not isinstance(queries, Sequence) or len(queries) != len(partition.sizes):
        raise ArgumentError(f"{name} = {abridged(queries)}; {len(partition.sizes)} queries, one a part, are required")
    return tuple(queries)


def promise_arguments(document: dict[str, Any] | None) -> dict[str, Any]:
    """The arguments of an accountant that make the promise of a JSON document again."""
    if document is None:
        return {}
    if "only" in document:
        return {"only": query_from(document["only"])}
    declared = document["declared"]
    return {"declared": ([*map(query_from, declared["queries"])], RandomPartition(declared["sizes"]))}


def _asked(entries: Iterable[LedgerEntry]) -> Counter[tuple[Query, int]]:
    counted: Counter[tuple[Query, int]] = Counter()
    for entry in entries:
        for query, size in zip(entry.queries, entry.sizes, strict=True):
            counted[query, size] += entry.count
    return counted


def _law(query: PropertyQuery | HistogramQuery) -> object:
    return query.probabilities if isinstance(query, PropertyQuery) else query.cells
