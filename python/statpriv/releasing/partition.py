"""The secret random partition: the part of each row, uniform over all labelled partitions.

This module sees only which rows may be drawn, the sizes of the parts, and random words. A partition that depended on
the data would violate the theorem behind the guarantee. Given uniform words, the partition is exactly uniform. Bounded
integers are drawn by rejection, never by a remainder alone. Fisher-Yates exchanges then map the index sequences onto
the arrangements, with equally many sequences for each arrangement. The number of exchanges is the number of rows whose
label is not the most frequent one.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import secrets
import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from statpriv import budget
from statpriv._native import exchange
from statpriv.errors import ArgumentError

try:
    import resource
except ImportError:  # Windows writes no core files
    resource = None  # type: ignore[assignment]

__all__ = [
    "UNUSED",
    "Stratum",
    "WordSource",
    "bounded_integers",
    "locked_memory",
    "secret_partition",
    "shuffled_parts",
]

UNUSED = 0
"""The label of a row that no part uses; part number k (from 1) has the label k."""

WordSource = Callable[[int], bytes]
"""Returns the requested number of uniform random bytes; in production from the operating system."""

_TOGETHER = 2**16
"""Number of words requested at a time, which bounds the number held in memory."""


@dataclass(frozen=True)
class Stratum:
    """Rows from which parts are drawn independently of other strata.

    Attributes
    ----------
    rows
        The positions of the rows that may be drawn, ascending.
    sizes
        Number of rows used by parts 1, 2, …; their sum is at most the number of rows.

    Examples
    --------
    >>> Stratum.of_all(5, [2, 1])
    Stratum(sizes=(2, 1))
    """

    rows: NDArray[np.integer] = field(repr=False)
    sizes: tuple[int, ...]

    @classmethod
    def of_all(cls, n: int, sizes: Sequence[int]) -> Stratum:
        """The stratum of all n rows."""
        return cls(np.arange(n, dtype=np.uint32), tuple(sizes))


@contextmanager
def secret_partition(
    strata: Sequence[Stratum], n: int, words: WordSource = secrets.token_bytes
) -> Iterator[NDArray[np.uint32]]:
    """Draw the labels of n rows, and overwrite them at the end of the block, however it ends.

    During the block the process writes no core file, and the labels are locked in memory where the system allows it.
    """
    _check(strata, n)
    with _no_core_files(), locked_memory(n) as labels, locked_memory(_scratch(strata, n)) as scratch:
        _draw(labels, strata, words, scratch)
        yield labels


def shuffled_parts(strata: Sequence[Stratum], n: int, words: WordSource) -> array[int]:
    """Draw a label for each of n rows, uniformly over all arrangements of the labels within each stratum.

    Parameters
    ----------
    strata
        The rows that may be drawn, and the number of rows of each part. The strata are disjoint.
    n
        The number of rows, at least 1 and below 2^32.
    words
        The source of random bytes.

    Returns
    -------
    array of n labels
        In each stratum exactly ``sizes[k - 1]`` rows have the label k; all other rows are ``UNUSED``.
    """
    _check(strata, n)
    labels = array("I", bytes(4 * n))
    _draw(np.frombuffer(labels, dtype=np.uint32), strata, words, np.zeros(_scratch(strata, n), np.uint32))
    return labels


def _scratch(strata: Sequence[Stratum], n: int) -> int:
    """Number of labels that are arranged elsewhere: none, if the rows of the one stratum are all n rows in order."""
    largest = max((len(stratum.rows) for stratum in strata), default=0)
    return 0 if largest == n else largest


def _draw(
    labels: NDArray[np.uint32], strata: Sequence[Stratum], words: WordSource, scratch: NDArray[np.uint32]
) -> None:
    for stratum in strata:
        arrangement = scratch[: len(stratum.rows)] if scratch.size else labels
        _arrange(arrangement, stratum.sizes, words)
        if scratch.size:
            labels[stratum.rows] = arrangement
    scratch[:] = UNUSED


def _arrange(labels: NDArray[np.uint32], sizes: Sequence[int], words: WordSource) -> None:
    """Arrange the labels over the given places: label i, from the last to the first, goes to a place ≥ i.

    The most frequent label comes last, so it needs no draws of its own: it fills the places that the others leave.
    """
    places = len(labels)
    rows_of = sorted([(places - sum(sizes), UNUSED), *((size, part) for part, size in enumerate(sizes, start=1))])
    counts, names = (np.array(column) for column in zip(*rows_of, strict=True))
    labels[:] = np.repeat(names.astype(np.uint32), counts)  # not yet secret: the sizes are published
    for end in range(places - int(counts[-1]), 0, -_TOGETHER):
        movers = np.arange(end - 1, max(end - _TOGETHER, 0) - 1, -1, dtype=np.int64).astype(np.uint64)
        chosen = bounded_integers(np.uint64(places) - movers, words)
        chosen += movers
        exchange(labels, end - 1, chosen)
        chosen[:] = 0


def bounded_integers(bounds: NDArray[np.uint64], words: WordSource, *, word_bits: int = 64) -> NDArray[np.uint64]:
    """Draw one uniform integer in [0, b) for each bound b, by rejection.

    With W = 2^word_bits equally likely words, the W mod b smallest words are rejected and redrawn. The number of
    accepted words is a multiple of b, so the remainder of an accepted word is exactly uniform. Every rejected word is
    below b, so W mod b is computed only for words below b.

    Parameters
    ----------
    bounds
        Each at least 1 and at most 2^word_bits - 1; for word_bits below 64, 2^word_bits is also allowed.
    words
        The source of random bytes.
    word_bits
        Number of random bits of one attempt: 8, 16, 32 or 64.
    """
    word = np.dtype(f"<u{word_bits // 8}")
    if bounds.size and (int(bounds.min()) < 1 or int(bounds.max()) > 2**word_bits):
        raise ArgumentError(f"bounds must lie between 1 and 2^{word_bits}, the number of words")
    largest_word = np.uint64(2**word_bits - 1)

    def rejected_among(places: NDArray[np.intp]) -> NDArray[np.intp]:
        small = places[drawn[places] < bounds[places]]
        left_over = (largest_word % bounds[small] + np.uint64(1)) % bounds[small]
        return small[drawn[small] < left_over]

    def attempts(count: int) -> NDArray[np.uint64]:
        return np.frombuffer(words(count * word.itemsize), dtype=word, count=count).astype(np.uint64)

    drawn = attempts(bounds.size) if bounds.size else np.zeros(0, dtype=np.uint64)
    rejected = rejected_among(np.flatnonzero(drawn < bounds))
    while rejected.size:
        drawn[rejected] = attempts(rejected.size)
        rejected = rejected_among(rejected)
    drawn %= bounds
    return drawn


def _check(strata: Sequence[Stratum], n: int) -> None:
    if not 1 <= n <= budget.MAX_TABLE_ROWS:
        raise ArgumentError(f"n = {n}: a partition needs between 1 and 2^32 - 1 rows")
    for stratum in strata:
        _check_stratum(stratum, n)
    if len(strata) > 1 and np.bincount(np.concatenate([stratum.rows for stratum in strata])).max(initial=0) > 1:
        raise ArgumentError("strata: a row lies in two of them; each may be drawn once")
    for part, size in enumerate(map(sum, zip(*(stratum.sizes for stratum in strata), strict=True)), start=1):
        if size < 1:
            raise ArgumentError(f"sizes: part {part} has {size} rows, each part needs at least 1")


def _check_stratum(stratum: Stratum, n: int) -> None:
    rows = stratum.rows
    if rows.size and not (int(rows[0]) >= 0 and int(rows[-1]) < n and bool(np.all(rows[1:] > rows[:-1]))):
        raise ArgumentError(f"strata: rows must be positions from 0 to {n - 1} in ascending order, each once")
    if min(stratum.sizes, default=0) < 0:
        raise ArgumentError(f"sizes: a part of {min(stratum.sizes)} rows is not possible")
    if sum(stratum.sizes) > rows.size:
        raise ArgumentError(f"sizes: the parts need {sum(stratum.sizes)} rows together, and there are only {rows.size}")


@contextmanager
def _no_core_files() -> Iterator[None]:
    """Prevent core files, and pipes to a crash collector, which the limit on core size does not stop."""
    if resource is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    dumpable = _process_control(_GET_DUMPABLE)
    _process_control(_SET_DUMPABLE, 0)
    try:
        yield
    finally:
        _process_control(_SET_DUMPABLE, dumpable)
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


@contextmanager
def locked_memory(count: int) -> Iterator[NDArray[np.uint32]]:
    """Yield that many zeros, and overwrite what became of them at the end of the block, however it ends.

    They have pages of memory of their own. Where the system has mlock(2) and allows so much of it, these are locked, so
    that they are never written to swap space.
    """
    if count == 0:
        yield np.zeros(0, np.uint32)
        return
    pages = mmap.mmap(-1, 4 * count, **_PRIVATE)
    numbers = np.frombuffer(pages, np.uint32, count)
    locked = _lock(numbers)
    try:
        yield numbers
    finally:
        numbers[:] = UNUSED
        if locked:
            _memory_call("munlock", numbers)


def _lock(numbers: NDArray[np.uint32]) -> bool:
    if resource is None:
        return False
    if _memory_call("mlock", numbers):
        return True
    soft, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)  # a process may raise its own limit up to the system's
    if soft == hard:
        return False
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (hard, hard))
    return _memory_call("mlock", numbers)


def _memory_call(name: str, numbers: NDArray[np.uint32]) -> bool:
    """Call mlock(2) or munlock(2) for all pages of an array; whether that succeeded."""
    function = getattr(_system(), name, None)
    if function is None:
        return False
    return bool(function(ctypes.c_void_p(numbers.ctypes.data), ctypes.c_size_t(numbers.nbytes)) == 0)


@cache
def _system() -> ctypes.CDLL:
    return ctypes.CDLL(None)


_PRIVATE: dict[str, int] = {} if os.name == "nt" else {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS}
"""Windows has no flags, and its memory without a file is private."""

_GET_DUMPABLE, _SET_DUMPABLE = 3, 4


def _process_control(option: int, value: int = 0) -> int:
    """Call Linux's prctl(2); on other systems do nothing and return 0."""
    if sys.platform != "linux":
        return 0
    return int(_system().prctl(option, value, 0, 0, 0))
