"""The operations that a release may perform on a table, in their order, independently of the engine.

There are three steps. Each step has access only to what it may use:

1. Opening reads the names and the declared types of the columns, and no row.
2. ``Table.row_count``, ``groups``, ``row_tokens`` and ``check_unique`` read the number of rows, the column that is
   assumed to be public, and the columns that identify rows.
3. ``Table.load`` reads the content once and computes its keyed fingerprints. It returns the ``Content``, which
   counts. The counts refer to exactly the fingerprinted content: it was copied, or it is fingerprinted again while it
   is counted, and a difference ends the release.

An engine knows nothing about the ledger, and of the plan only what these calls pass to it. Error messages of engines
quote cells, so they are never forwarded; ``debug`` attaches them as the cause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from statpriv._native import Partition, RowTokens
from statpriv.errors import TableError
from statpriv.releasing.classification import Classification
from statpriv.releasing.predicate import Predicate
from statpriv.releasing.sql_text import quoted

__all__ = [
    "AskedParts",
    "Content",
    "ContentFingerprint",
    "Groups",
    "QueryListener",
    "Question",
    "Refusals",
    "RowListener",
    "Table",
    "counts_in_passes",
    "counts_of_outcomes",
    "distinct_questions",
    "reported_counts",
    "size_of",
]

_QUESTIONS_AT_ONCE = 100

QueryListener: TypeAlias = Callable[[str], None]
"""Listener called with every SQL text before the engine runs it."""

RowListener: TypeAlias = Callable[[int], None]
"""Listener called occasionally with the number of rows that a long step has read."""

Question: TypeAlias = tuple[Predicate, ...]
"""The question of a part: each row counts for the first predicate that holds on it."""

AskedParts: TypeAlias = "tuple[Question, list[int]]"
"""A question, with the numbers of the parts that are asked it."""


@dataclass(frozen=True)
class ContentFingerprint:
    """Keyed digests of all cells: one of the rows in their order, and one that does not depend on the order."""

    ordered: bytes
    unordered: bytes

    @classmethod
    def without_order(cls, fingerprint: bytes) -> ContentFingerprint:
        """The fingerprint of rows that are known by their ids and have no order."""
        return cls(fingerprint, fingerprint)


@dataclass(frozen=True)
class Groups:
    """The group of each row, from a column that is assumed to be public.

    Attributes
    ----------
    names
        The distinct values, in the binary order of their text.
    of_rows
        For each row, in row order, the index of its group in ``names``.

    Examples
    --------
    >>> Groups(("f", "m"), np.array([0, 1, 0])).sizes
    {'f': 2, 'm': 1}
    """

    names: tuple[str, ...]
    of_rows: NDArray[np.int64] = field(repr=False)

    @property
    def sizes(self) -> dict[str, int]:
        """Number of rows of each group."""
        found = np.bincount(self.of_rows, minlength=len(self.names))
        return dict(zip(self.names, found.tolist(), strict=True))


class Content(Protocol):
    """The loaded content of a table, on which queries are counted."""

    @property
    def fingerprint(self) -> ContentFingerprint:
        """The fingerprint of all rows of the content."""

    @property
    def fingerprint_of_selected(self) -> ContentFingerprint | None:
        """The fingerprint of the rows that were selected in ``Table.load``; None if no rows were selected."""

    def count(self, partition: Partition, questions: Sequence[Question]) -> list[tuple[int, ...]]:
        """Count the rows of each part by the part's question, and keep no reference to the partition.

        Parameters
        ----------
        partition
            The parts of the rows. Parts above the number of questions are not counted.
        questions
            The questions of parts 1, 2, …; their predicates are among those the table was opened for.

        Returns
        -------
        list
            For each part, ``(count,)`` if its question is a single predicate. Otherwise, for each predicate, the
            number of rows on which it is the first to hold, followed by the number of rows on which none holds.
        """

    def tabulate(self, partition: Partition, part: int, classification: Classification) -> list[int]:
        """Count the rows of one part by cell, and keep no reference to the partition.

        Parameters
        ----------
        partition
            The parts of the rows.
        part
            The number of the part.
        classification
            The declared cells; its dimensions are among those the table was opened for.

        Returns
        -------
        list
            The number of rows with each outcome of the classification.
        """


class Table(Protocol):
    """A table whose columns match the plan."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, as the source spells them."""

    def row_count(self) -> int:
        """Count the rows without reading the value of any cell; at least 1."""

    def groups(self) -> Groups:
        """Read the group of each row.

        Raises
        ------
        TableError
            If the source names no group column, or a row has no group.
        """

    def row_tokens(self, key: bytes, *, with_rows: bool = False) -> RowTokens | None:
        """Read the ids, trimmed and in Unicode form NFC, and hash each under a key; None if there is no ``row_id``.

        Parameters
        ----------
        with_rows
            Whether the tokens come with the row of each, which takes memory.

        Raises
        ------
        TableError
            If an id is missing, or two rows share an id or a unit. The message quotes no value.
        """

    def check_unique(self, column: str) -> None:
        """Refuse a column whose values do not distinguish the rows; the message quotes no value.

        Raises
        ------
        TableError
            If a row has no value, or two rows have equal values after trimming and normalising.
        """

    def load(self, key: bytes, selected: NDArray[np.bool_] | None = None) -> Content:
        """Read the content and fingerprint it under a secret key; fingerprint selected rows separately, if given.

        The fingerprints are keyed hashes of sums of keyed hashes of the rows; in the ordered one, each row counts with
        a secret factor of its position. Two tables with equal fingerprints hold the same rows, except with probability
        below 2^-126; ``rust/release`` has the proof. A database server supplies, instead of the cells of a row, the
        SHA-256 digest of these cells with their lengths. In that case a collision of SHA-256 also gives equal
        fingerprints.
        """


@dataclass(frozen=True)
class Refusals:
    """Builds the refusals of one data source, in this package's own words."""

    label: str

    def __call__(self, reason: str) -> TableError:
        """Build the error that refuses the data; the reason must quote no cell."""
        return TableError(f"data {quoted(self.label)}: {reason}")


def distinct_questions(questions: Sequence[Question]) -> dict[Question, list[int]]:
    """Map each distinct question to the numbers of its parts, so that each question is evaluated once."""
    parts: dict[Question, list[int]] = {}
    for part, question in enumerate(questions, start=1):
        parts.setdefault(question, []).append(part)
    return parts


def counts_in_passes(
    partition: Partition,
    questions: Sequence[Question],
    ask: Callable[[Sequence[AskedParts]], Iterable[tuple[Any, ...]]],
    changed: Exception,
) -> list[tuple[int, ...]]:
    """Count the rows of each part with a database, evaluating many questions in one pass over its table.

    Parameters
    ----------
    partition
        The parts of the rows.
    ask
        Evaluates distinct questions, each given with its parts. Yields, for each part that has rows, the number of
        the part followed by the counts of its cells.
    changed
        Raised if the number of rows counted in a part differs from the size of the part.
    """
    counts: dict[int, tuple[int, ...]] = {}
    remaining = iter(distinct_questions(questions).items())
    while asked := list(islice(remaining, _QUESTIONS_AT_ONCE)):
        found = {part: cells for part, *cells in ask(asked)}
        for question, parts in asked:
            for part in parts:
                cells = found.get(part, [0] * (len(question) + 1))[: len(question) + 1]
                if sum(cells) != size_of(partition, part):
                    raise changed
                counts[part] = reported_counts(question, cells)
    return [counts[part] for part in sorted(counts)]


def size_of(partition: Partition, part: int) -> int:
    """The number of rows of a part, counted from 1; 0 beyond the last one."""
    return partition.sizes[part - 1] if part <= len(partition.sizes) else 0


def counts_of_outcomes(
    found: Iterable[tuple[Any, ...]], classification: Classification, size: int, changed: Exception
) -> list[int]:
    """The number of rows with each outcome, from pairs of an outcome and its number of rows.

    Parameters
    ----------
    size
        Number of rows of the part.
    changed
        Raised if another number of rows was counted.
    """
    counts = [0] * classification.number_of_outcomes
    for outcome, rows in found:
        counts[outcome] = int(rows)
    if sum(counts) != size:
        raise changed
    return counts


def reported_counts(question: Question, counts: Sequence[int]) -> tuple[int, ...]:
    """Drop the count of "none of these" if the question is a single predicate.

    Parameters
    ----------
    counts
        The number of rows for each predicate as the first that holds, then the number of rows on which none holds.
    """
    found = tuple(int(count) for count in counts)
    return found[:1] if len(question) == 1 else found
