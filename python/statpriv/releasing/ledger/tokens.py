"""What identifies a row: a keyed token of its id. A leak of tokens without their key names nobody."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from statpriv._native import RowIds

__all__ = ["TOKEN", "Rows", "keyed_tokens", "number_shared"]

TOKEN = np.dtype("S16")
"""The first 128 bits of an HMAC-SHA-256."""


@dataclass(frozen=True)
class Rows:
    """The rows of a table as the ledger knows them.

    Attributes
    ----------
    n
        How many there are.
    tokens
        The keyed tokens of their ids in ascending order; None where the plan names no ids.
    order
        The row that each token belongs to.
    """

    n: int
    tokens: NDArray[np.bytes_] | None = field(default=None, repr=False)
    order: NDArray[np.intp] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, tokens: NDArray[np.bytes_]) -> Rows:
        """The rows with these tokens, row by row."""
        order = _ascending(tokens)
        return cls(len(tokens), tokens[order], order)

    def by_row(self, marks: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Put marks of tokens into the order of the table."""
        if self.order is None:
            return marks
        placed = np.empty_like(marks)
        placed[self.order] = marks
        return placed

    def by_token(self, marks: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Put marks of rows into the order of the tokens."""
        return marks if self.order is None else marks[self.order]


def keyed_tokens(key: bytes, ids: RowIds) -> NDArray[np.bytes_]:
    """Turn ids into tokens under a key."""
    return ids.tokens(key).view(TOKEN)


def number_shared(own: NDArray[np.bytes_], registered: NDArray[np.bytes_]) -> int:
    """Count the tokens that two ascending arrays have in common."""
    return int(np.count_nonzero(is_among(own, registered)))


def is_among(own: NDArray[np.bytes_], registered: NDArray[np.bytes_]) -> NDArray[np.bool_]:
    """Which of some tokens are among others; both are in ascending order."""
    places = np.searchsorted(registered, own)
    places[places == len(registered)] = 0
    among: NDArray[np.bool_] = registered[places] == own
    return among


def _ascending(tokens: NDArray[np.bytes_]) -> NDArray[np.intp]:
    """The order of the tokens; by their first half alone, which is fast, where no two agree in it."""
    halves = tokens.view(">u8").reshape(-1, 2)[:, 0].astype(np.uint64)
    order = np.argsort(halves)
    halves = halves[order]
    return order if np.all(halves[1:] > halves[:-1]) else np.argsort(tokens)
