"""What a release may ask of a table, whichever engine holds it, and in which order.

What can be asked comes in three steps, and each step has only what it may use:

1. opening reads the names and the declared types of the columns, and no row;
2. ``Table.row_count``, ``groups``, ``row_tokens`` and ``check_unique`` read the number of rows and the columns
   that everybody is taken to know or that identify rows;
3. ``Table.load`` reads the content, once, and takes its keyed fingerprints. Only then is there a
   ``Content``, which counts. What is counted is exactly what was fingerprinted, whatever happens to the
   source meanwhile.

An engine knows neither the ledger nor the plan beyond this. Engines' messages quote cells: they are never
forwarded; ``debug`` attaches them as the cause.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from statpriv._native import RowTokens
from statpriv.errors import TableError
from statpriv.releasing.predicate import Predicate
from statpriv.releasing.sql_text import quoted

__all__ = [
    "AskedParts",
    "Content",
    "ContentFingerprint",
    "Groups",
    "Labels",
    "QueryListener",
    "Question",
    "Refusals",
    "RowListener",
    "Table",
    "counts_in_passes",
    "distinct_questions",
    "reported_counts",
]

QueryListener: TypeAlias = Callable[[str], None]
"""Is told every SQL text before the engine runs it."""

RowListener: TypeAlias = Callable[[int], None]
"""Is told now and then how many rows a long step has read."""

Question: TypeAlias = tuple[Predicate, ...]
"""What a part is asked: each row counts for the first predicate that holds on it."""

Labels: TypeAlias = "array[int] | NDArray[np.uint32]"
"""The part of each row as unsigned 32-bit numbers, from 1; 0 for a row that no part uses."""


AskedParts: TypeAlias = "tuple[Question, list[int]]"
"""A question, and the parts that are asked it."""


@dataclass(frozen=True)
class ContentFingerprint:
    """Keyed digests of all cells: of the rows in their order, and of the rows in any order."""

    ordered: bytes
    unordered: bytes


@dataclass(frozen=True)
class Groups:
    """The group of each row, by a column that everybody is taken to know.

    Attributes
    ----------
    names
        The distinct values, in binary order of their text.
    of_rows
        For each row, in the order of the rows, the position of its group in ``names``.

    Examples
    --------
    >>> Groups(("f", "m"), np.array([0, 1, 0])).sizes
    {'f': 2, 'm': 1}
    """

    names: tuple[str, ...]
    of_rows: NDArray[np.int64] = field(repr=False)

    @property
    def sizes(self) -> dict[str, int]:
        """The number of rows of each group."""
        found = np.bincount(self.of_rows, minlength=len(self.names))
        return dict(zip(self.names, found.tolist(), strict=True))


class Content(Protocol):
    """The content of a table, which can be counted."""

    @property
    def fingerprint(self) -> ContentFingerprint:
        """Of all cells of the rows that are counted."""

    @property
    def fingerprint_of_selected(self) -> ContentFingerprint | None:
        """The same of the rows that were selected when the content was read; None where none were."""

    def count(self, labels: Labels, questions: Sequence[Question]) -> list[tuple[int, ...]]:
        """Count the rows of each part by what they are asked, and let go of the labels.

        Parameters
        ----------
        labels
            The part of each row, in the order of the rows.
        questions
            What the rows of part 1, 2, … are asked; the predicates are among those the table was opened for.

        Returns
        -------
        list
            For each part ``(count,)`` if it was asked one predicate; else the rows on which each of them is
            the first that holds, and last the rows on which none does.
        """


class Table(Protocol):
    """A table whose columns fit the plan."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, as the source gives them."""

    def row_count(self) -> int:
        """Count the rows, reading no cell for its value; at least 1."""

    def groups(self) -> Groups:
        """Read the group of each row.

        Raises
        ------
        TableError
            Where the source names no group, or a row has none.
        """

    def row_tokens(self, key: bytes) -> RowTokens | None:
        """Read the ids, trimmed and in Unicode form NFC, and hash each under a secret key; None without ``row_id``.

        Raises
        ------
        TableError
            Where an id is missing, or two rows have the same one, or the same unit. The message names no value.
        """

    def check_unique(self, column: str) -> None:
        """Refuse a column that does not tell the rows apart; the message names no value.

        Raises
        ------
        TableError
            Where a row has no value, or two rows have the same one after trimming and normalising.
        """

    def load(self, key: bytes, selected: NDArray[np.bool_] | None = None) -> Content:
        """Read the content and fingerprint it under a secret key; some of its rows for themselves, if any are selected.

        The cells of a row are a polynomial, and the rows, in their order and in any, polynomials of these. They are
        evaluated at secret points, and the values are hashed under the key. Two tables with equal fingerprints hold
        the same rows, but for a chance below 2^-87; ``rust/release`` has the proof. A server gives SHA-256 of all
        cells of a row, each with its length, in their place: there a collision of SHA-256 would do too.
        """


@dataclass(frozen=True)
class Refusals:
    """Our own sentences about one source of data."""

    label: str

    def __call__(self, reason: str) -> TableError:
        """Say why the data are refused; the reason quotes no cell."""
        return TableError(f"data {quoted(self.label)}: {reason}")


def distinct_questions(questions: Sequence[Question]) -> dict[Question, list[int]]:
    """Give each question with the numbers of the parts that are asked it, so that each is evaluated once."""
    parts: dict[Question, list[int]] = {}
    for part, question in enumerate(questions, start=1):
        parts.setdefault(question, []).append(part)
    return parts


def counts_in_passes(
    of_rows: NDArray[np.uint32],
    questions: Sequence[Question],
    ask: Callable[[Sequence[AskedParts]], Iterable[tuple[Any, ...]]],
    changed: Exception,
    *,
    at_once: int = 100,
) -> list[tuple[int, ...]]:
    """Count the rows of each part by a database, many questions in one pass over its table.

    Parameters
    ----------
    of_rows
        The part of each row.
    ask
        Gives, for different questions with the parts that are asked them, the number of each part that has rows with
        the counts of its cells.
    changed
        Raised where a part does not have as many rows as it was given.
    at_once
        How many questions one pass may ask.
    """
    sizes = np.bincount(of_rows, minlength=len(questions) + 1)
    counts: dict[int, tuple[int, ...]] = {}
    remaining = iter(distinct_questions(questions).items())
    while asked := list(islice(remaining, at_once)):
        found = {part: cells for part, *cells in ask(asked)}
        for question, parts in asked:
            for part in parts:
                cells = found.get(part, [0] * (len(question) + 1))[: len(question) + 1]
                if sum(cells) != sizes[part]:
                    raise changed
                counts[part] = reported_counts(question, cells)
    return [counts[part] for part in sorted(counts)]


def reported_counts(question: Question, counts: Sequence[int]) -> tuple[int, ...]:
    """Drop the count of "none of these" where only one predicate was asked.

    Parameters
    ----------
    counts
        Of each predicate as the first that holds, and last of none.
    """
    found = tuple(int(count) for count in counts)
    return found[:1] if len(question) == 1 else found
