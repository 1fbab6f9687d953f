"""The secret random partition of a release: the part of each row, as a function of the row under a fresh key.

This module sees only the names of the rows, which of them may be drawn, the sizes of the parts, and random words. A
partition that depended on the data would violate the theorem behind the guarantee. Rows are named by the tokens of
their ids, or by their positions. AES under a fresh key puts the names into a secret random order, from which the parts
are cut; ``rust/release/src/partition.rs`` proves that every partition of these sizes is equally likely. No label of a
row is kept, so the memory does not grow with the table, and whoever counts rows finds the part of each from the key.
"""

from __future__ import annotations

import ctypes
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from statpriv import budget
from statpriv._native import Partition
from statpriv.errors import ArgumentError
from statpriv.releasing.ledger.tokens import Rows

try:
    import resource
except ImportError:  # Windows writes no core files
    resource = None  # type: ignore[assignment]

__all__ = ["KEY", "Strata", "WordSource", "cut", "secret_partition"]

WordSource = Callable[[int], bytes]
"""Returns the requested number of uniform random bytes; in production from the operating system."""

KEY = 32
"""Number of random bytes that a partition is drawn with."""


@dataclass(frozen=True)
class Strata:
    """Rows from which parts are drawn independently of other strata.

    Attributes
    ----------
    sizes
        For each stratum, the number of its rows in parts 1, 2, ….
    of_rows
        The stratum of each row, counted from 1, and 0 for a row that may not be drawn: in the order of the tokens if
        the rows have ids, else of the rows. By default all rows are in stratum 1.

    Examples
    --------
    >>> Strata([(2, 1)]).sizes_of_parts
    [2, 1]
    """

    sizes: list[tuple[int, ...]]
    of_rows: NDArray[np.uint16] | None = field(default=None, repr=False)

    @property
    def sizes_of_parts(self) -> list[int]:
        """The number of rows of each part."""
        return [sum(sizes) for sizes in zip(*self.sizes, strict=True)]


@contextmanager
def secret_partition(
    rows: Rows, row_key: bytes, strata: Strata, words: WordSource = secrets.token_bytes
) -> Iterator[Partition]:
    """Draw a partition, and forget its key at the end of the block, however it ends.

    During the block the process writes no core file.

    Parameters
    ----------
    rows
        The rows of the table.
    row_key
        The key of their tokens.
    strata
        The rows that may be drawn, and the number of rows of each part.
    words
        The source of random bytes.
    """
    with _no_core_files():
        partition = cut(rows, row_key, strata, words(KEY))
        try:
            yield partition
        finally:
            partition.forget()


def cut(rows: Rows, row_key: bytes, strata: Strata, key: bytes) -> Partition:
    """The partition under a key of 32 bytes."""
    if not 1 <= rows.n <= budget.MAX_TABLE_ROWS:
        raise ArgumentError(f"n = {rows.n}: a partition needs between 1 and 2^32 - 1 rows")
    for part, size in enumerate(strata.sizes_of_parts, start=1):
        if size < 1 or min(sizes[part - 1] for sizes in strata.sizes) < 0:
            raise ArgumentError(f"sizes: part {part} has {size} rows, each part needs at least 1")
    if rows.tokens is None:
        return Partition.of_positions(key, rows.n, strata.sizes, strata.of_rows)
    return Partition.of_tokens(key, row_key, rows.tokens.view(np.uint8), strata.sizes, strata.of_rows)


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


@cache
def _system() -> ctypes.CDLL:
    return ctypes.CDLL(None)


_GET_DUMPABLE, _SET_DUMPABLE = 3, 4


def _process_control(option: int, value: int = 0) -> int:
    """Call Linux's prctl(2); on other systems do nothing and return 0."""
    if sys.platform != "linux":
        return 0
    return int(_system().prctl(option, value, 0, 0, 0))
