"""Broken mechanisms, each a replacement of one step of the real code: every one is caught by a named test.

``docs/explanation/attack-simulation.md`` says which test catches which.
"""

from __future__ import annotations

import random

import numpy as np

# --- in place of a partition that is drawn: the parts of the rows, in the order of the table


def as_they_lie(n, sizes, _words=None):
    """Parts that are cut from the table as it lies, the smallest first."""
    rows_of = sorted([(n - sum(sizes), 0), *((size, part) for part, size in enumerate(sizes, start=1))])
    return np.repeat([part for _, part in rows_of], [size for size, _ in rows_of])


def exchanged_with_any(n, sizes, words):
    """Biased shuffle: all rows but those of the last part exchanged with any row, also with one exchanged before."""
    parts = as_they_lie(n, sizes)
    anywhere = np.frombuffer(words(8 * n), dtype=np.uint64) % np.uint64(n)
    for row in reversed(range(n - max(n - sum(sizes), *sizes))):
        other = int(anywhere[row])
        parts[[row, other]] = parts[[other, row]]
    return parts


def never_in_place(n, sizes, words):
    """Shuffle off by one (Sattolo): no row stays where it is."""
    parts = as_they_lie(n, sizes)
    drawn = np.frombuffer(words(8 * n), dtype=np.uint64).tolist()
    for row in range(n - 1):
        other = row + 1 + drawn[row] % (n - row - 1)
        parts[[row, other]] = parts[[other, row]]
    return parts


# --- in place of a source of random words


def repeated(count):
    """The same words for every release: the partition is used again."""
    return (bytes(range(256))[1:] * (count // 255 + 1))[:count]


def of_the_data(content):
    """Words that are a function of the data."""
    return random.Random(content).randbytes  # noqa: S311 - broken on purpose


# --- in place of the rows as they are numbered: which cell counts for which part


def sorted_by_value(cells):
    """Rows that have the property come first."""
    return np.sort(cells)


def one_row_late(cells):
    """Off by one: each part counts the row before its own."""
    return np.roll(cells, 1)
