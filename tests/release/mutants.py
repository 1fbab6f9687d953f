"""Broken mechanisms, each a replacement of one function of the real code: every one is caught by a named test.

``docs/explanation/attack-simulation.md`` says which test catches which.
"""

from __future__ import annotations

import random

import numpy as np

from statpriv.releasing.partition import bounded_integers

# --- in place of `partition.bounded_integers`: the sampler


def remainder_only(bounds, words, *, word_bits=64):
    """Modulo bias: the broken mechanism of every tutorial."""
    word = np.dtype(f"<u{word_bits // 8}")
    return np.frombuffer(words(bounds.size * word.itemsize), dtype=word).astype(np.uint64) % bounds


def rejects_one_word_too_few(bounds, words, *, word_bits=64):
    """Modulo bias, of one word: what a wrong comparison leaves."""
    kept = np.maximum((np.uint64(2**word_bits - 1) % bounds + np.uint64(1)) % bounds, 1) - np.uint64(1)
    word = np.dtype(f"<u{word_bits // 8}")
    attempt = np.frombuffer(words(bounds.size * word.itemsize), dtype=word).astype(np.uint64)
    while (attempt < kept).any():
        attempt = np.frombuffer(words(bounds.size * word.itemsize), dtype=word).astype(np.uint64)
    return attempt % bounds


# --- in place of `partition.bounded_integers`: the shuffle


def in_whole_range(bounds, words, *, word_bits=64):
    """Biased shuffle: every row that is drawn is exchanged with any row (indices wrap around)."""
    n = int(bounds.max(initial=1))
    movers = np.uint64(n) - bounds
    anywhere = bounded_integers(np.full(bounds.size, n, dtype=np.uint64), words, word_bits=word_bits)
    return anywhere - movers  # wraps, and comes back when the mover is added


def one_too_small(bounds, words, *, word_bits=64):
    """Off by one (Sattolo): a label never stays where it is."""
    least = np.uint64(1)
    drawn = bounded_integers(np.maximum(bounds - least, least), words, word_bits=word_bits)
    return np.where(bounds > least, drawn + least, np.uint64(0))


def no_shuffle(bounds, words, *, word_bits=64):
    """Every label stays where it is."""
    return bounds - bounds


# --- in place of a source of random words


def repeated(count):
    """The same words for every release: the partition is reused."""
    return bytes(range(256))[1:] * (count // 255 + 1)


def of_the_data(content):
    """Words that are a function of the data."""
    return random.Random(content).randbytes  # noqa: S311 - broken on purpose


# --- in place of the rows as they are numbered: which cell counts for which label


def sorted_by_value(cells):
    """Rows that have the property come first."""
    return np.sort(cells)


def one_row_late(cells):
    """Off by one: each label counts the row before its own."""
    return np.roll(cells, 1)
