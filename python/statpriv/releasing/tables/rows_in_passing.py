"""Rows that an engine hands out as tuples, fingerprinted and counted as they come by: nothing is kept for a row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from statpriv._native import Partition, digest_fingerprints
from statpriv.errors import TableError
from statpriv.releasing.classification import Classification
from statpriv.releasing.tables.protocol import (
    AskedParts,
    ContentFingerprint,
    Question,
    counts_in_passes,
    counts_of_outcomes,
    size_of,
)

__all__ = ["ContentInPassing", "fingerprints_of"]

_Row = TypeVar("_Row")

_TOGETHER = 20_000
"""Rows that are looked at together."""


@dataclass(frozen=True)
class ContentInPassing(ABC):
    """A content of which an engine answers questions row by row; the answers are counted here."""

    fingerprint: ContentFingerprint
    fingerprint_of_selected: ContentFingerprint | None
    rows: int

    @property
    @abstractmethod
    def changed(self) -> TableError:
        """The refusal of a content that has other rows than it had."""

    @abstractmethod
    def answers(self, questions: Sequence[Question], *, in_order: bool) -> Iterator[tuple[Any, ...]]:
        """The id of each row, and its answer to each question; in the order of the ids if it matters."""

    @abstractmethod
    def outcomes(self, classification: Classification, *, in_order: bool) -> Iterator[tuple[Any, ...]]:
        """The id of each row, and its outcome; in the order of the ids if it matters."""

    @abstractmethod
    def counted_outcomes(self, classification: Classification) -> Iterable[tuple[Any, ...]]:
        """Each outcome of all rows, with its number of rows."""

    def count(self, partition: Partition, questions: Sequence[Question]) -> list[tuple[int, ...]]:
        """Count the rows of each part by the part's question."""
        if len(partition) != self.rows:
            raise self.changed

        def ask(asked: Sequence[AskedParts]) -> Iterator[tuple[int, ...]]:
            answers = self.answers([question for question, _ in asked], in_order=not partition.by_id)
            return _answers_of_parts(answers, partition, asked)

        return counts_in_passes(partition, questions, ask, self.changed)

    def tabulate(self, partition: Partition, part: int, classification: Classification) -> list[int]:
        """Count the rows of one part by cell."""
        if len(partition) != self.rows:
            raise self.changed
        size = size_of(partition, part)
        if size == self.rows:
            return counts_of_outcomes(self.counted_outcomes(classification), classification, size, self.changed)
        outcomes = self.outcomes(classification, in_order=not partition.by_id)
        counts = _answers_of_rows(outcomes, partition, {part: 0}, classification.number_of_outcomes)[part]
        return counts_of_outcomes(enumerate(counts.tolist()), classification, size, self.changed)


def fingerprints_of(
    digests: Iterable[str], key: bytes, selected: NDArray[np.bool_] | None
) -> tuple[ContentFingerprint, ContentFingerprint | None, int]:
    """The fingerprint of all rows, that of the selected ones, and the number of rows.

    Parameters
    ----------
    digests
        The hexadecimal SHA-256 digests of the rows.
    selected
        A mark for each row, in their order; None if no rows are selected.
    """
    pieces = (bytes.fromhex("".join(piece)) for piece in _pieces(digests))
    (rows, _, of_all), of_selected = digest_fingerprints(key, pieces, selected)
    selection = None if of_selected is None else ContentFingerprint.without_order(of_selected[2])
    return ContentFingerprint.without_order(of_all), selection, rows


def _answers_of_parts(
    rows: Iterable[tuple[Any, ...]], partition: Partition, asked: Sequence[AskedParts]
) -> Iterator[tuple[int, ...]]:
    """For each part, its number and the number of rows with each answer to its question.

    Parameters
    ----------
    rows
        The id of each row, and its answer to each question.
    asked
        The questions, each with its parts.
    """
    asked_of: dict[int, int] = {part: number for number, (_, parts) in enumerate(asked) for part in parts}
    counts = _answers_of_rows(rows, partition, asked_of, 1 + max(len(question) for question, _ in asked))
    return ((part, *counts[part].tolist()) for part in asked_of)


def _answers_of_rows(
    rows: Iterable[tuple[Any, ...]], partition: Partition, asked_of: dict[int, int], width: int
) -> NDArray[np.int64]:
    """The number of rows of each part with each answer to the question that the part is asked.

    Parameters
    ----------
    rows
        The id of each row, and its answer to each question, from 0 to `width` - 1.
    asked_of
        The number of the question of each part that is asked one.
    """
    parts = max([len(partition.sizes), *asked_of])
    question_of = np.array([asked_of.get(part, -1) for part in range(parts + 1)])
    counts = np.zeros((parts + 1) * width, np.int64)
    first = 0
    for piece in _pieces(rows):
        labels = partition.labels([id_ for id_, *_ in piece], first)
        first += len(piece)
        own = question_of[labels]
        used = np.flatnonzero(own >= 0)
        answers = np.array([answers for _, *answers in piece], np.int64)[used, own[used]]
        counts += np.bincount(labels[used] * np.int64(width) + answers, minlength=len(counts))
    return counts.reshape(parts + 1, width)


def _pieces(rows: Iterable[_Row]) -> Iterator[list[_Row]]:
    remaining = iter(rows)
    while piece := list(islice(remaining, _TOGETHER)):
        yield piece
