"""The secret random partition: which part each row falls into, uniform over all labelled partitions.

This module sees the number of rows, the sizes of the parts and random words, nothing else: a partition that
depended on the data would break the theorem behind the guarantee. Uniformity is exact given uniform words:
bounded integers come from rejection and never from a remainder alone, and Fisher-Yates maps the n! index
sequences one to one onto the n! orders.
"""

from __future__ import annotations

import secrets
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from statpriv.errors import ArgumentError

try:
    import resource
except ImportError:  # Windows writes no core files
    resource = None  # type: ignore[assignment]

__all__ = ["UNUSED", "WordSource", "bounded_integers", "secret_partition", "shuffled_parts"]

UNUSED = 0
"""The label of a row that no part uses; part number k (from 1) has the label k."""

WordSource = Callable[[int], bytes]
"""Gives as many uniform random bytes as it is asked for: in production that of the operating system."""


@contextmanager
def secret_partition(n: int, sizes: Sequence[int], words: WordSource = secrets.token_bytes) -> Iterator[array[int]]:
    """Draw the labels of n rows, and overwrite them when the block ends, however it ends.

    While the block runs the process writes no core file, so the labels exist in memory only.
    """
    with _no_core_files():
        labels = shuffled_parts(n, sizes, words)
        try:
            yield labels
        finally:
            np.frombuffer(labels, dtype=labels.typecode)[:] = UNUSED


def shuffled_parts(n: int, sizes: Sequence[int], words: WordSource) -> array[int]:
    """Draw a label for each of n rows, every arrangement of the labels being equally likely.

    Parameters
    ----------
    n
        The number of rows, at least 1 and below 2^32.
    sizes
        The size of part 1, 2, …; each at least 1, together at most n.
    words
        The source of random bytes.

    Returns
    -------
    array of n labels
        Exactly ``sizes[k - 1]`` of them are k, the others are ``UNUSED``.
    """
    _check_sizes(n, sizes)
    labels = array("I", [UNUSED]) * (n - sum(sizes))
    for label, size in enumerate(sizes, start=1):
        labels.extend(array("I", [label]) * size)
    last = range(n - 1, 0, -1)
    chosen = bounded_integers(np.arange(n, 1, -1, dtype=np.uint64), words)
    for i, j in zip(last, chosen.tolist(), strict=True):
        labels[i], labels[j] = labels[j], labels[i]
    chosen[:] = 0
    return labels


def bounded_integers(bounds: NDArray[np.uint64], words: WordSource, *, word_bits: int = 64) -> NDArray[np.uint64]:
    """Draw one uniform integer in [0, b) for each bound b, by rejection.

    With W = 2^word_bits equally likely words, the W mod b smallest words are rejected and drawn again. A
    multiple of b remains, so the remainder of the accepted word is exactly uniform.

    Parameters
    ----------
    bounds
        Each at least 1 and at most 2^word_bits - 1 (2^word_bits too, where word_bits is below 64).
    words
        The source of random bytes.
    word_bits
        8, 16, 32 or 64: how many random bits one attempt takes.
    """
    word = np.dtype(f"<u{word_bits // 8}")
    if bounds.size and (int(bounds.min()) < 1 or int(bounds.max()) > 2**word_bits):
        raise ArgumentError(f"bounds must lie between 1 and 2^{word_bits}, the number of words")
    largest_word = np.uint64(2**word_bits - 1)
    rejected_below = (largest_word % bounds + np.uint64(1)) % bounds
    drawn = np.zeros(bounds.size, dtype=np.uint64)
    pending = np.arange(bounds.size)
    while pending.size:
        block = words(pending.size * word.itemsize)
        attempt = np.frombuffer(block, dtype=word, count=pending.size).astype(np.uint64)
        accepted = attempt >= rejected_below[pending]
        drawn[pending[accepted]] = attempt[accepted] % bounds[pending[accepted]]
        pending = pending[~accepted]
    return drawn


def _check_sizes(n: int, sizes: Sequence[int]) -> None:
    if not 1 <= n < 2**32:
        raise ArgumentError(f"n = {n}: a partition needs between 1 and 2^32 - 1 rows")
    for size in sizes:
        if size < 1:
            raise ArgumentError(f"sizes: a part of {size} rows is not possible, each needs at least 1")
    if sum(sizes) > n:
        raise ArgumentError(f"sizes: the parts need {sum(sizes)} rows together, and there are only {n}")


@contextmanager
def _no_core_files() -> Iterator[None]:
    if resource is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))
