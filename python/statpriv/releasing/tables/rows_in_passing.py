"""Rows that an engine hands out as tuples, fingerprinted and counted as they come by: nothing is kept for a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from statpriv._native import Partition, digest_fingerprints
from statpriv.releasing.tables.protocol import AskedParts, ContentFingerprint

__all__ = ["answers_of_parts", "answers_of_rows", "fingerprints_of"]

_Row = TypeVar("_Row")

_TOGETHER = 20_000
"""Rows that are looked at together."""


def fingerprints_of(
    digests: Iterable[str], key: bytes, selected: NDArray[np.bool_] | None
) -> tuple[ContentFingerprint, ContentFingerprint | None, int]:
    """The fingerprint of all rows, that of the selected ones, and the number of rows.

    Parameters
    ----------
    digests
        The hexadecimal SHA-256 digests of the rows, in row order.
    selected
        A mark for each row; None if no rows are selected.
    """
    pieces = (bytes.fromhex("".join(piece)) for piece in _pieces(digests))
    (rows, *whole), some = digest_fingerprints(key, pieces, selected)
    return ContentFingerprint(*whole), None if some is None else ContentFingerprint(*some[1:]), rows


def answers_of_parts(
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
    counts = answers_of_rows(rows, partition, asked_of, 1 + max(len(question) for question, _ in asked))
    return ((part, *counts[part].tolist()) for part in asked_of)


def answers_of_rows(
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
