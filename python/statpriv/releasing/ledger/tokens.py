"""What identifies a row: a keyed token of its id. A leak of tokens without their key names nobody."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["TOKEN", "Rows", "keyed_hash", "keyed_tokens", "number_shared", "places_of"]

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


def keyed_tokens(key: bytes, ids: Sequence[str]) -> NDArray[np.bytes_]:
    """Turn ids, in canonical form, into tokens under a key."""
    token = keyed_hash(key)
    return np.frombuffer(b"".join([token(row_id.encode())[: TOKEN.itemsize] for row_id in ids]), dtype=TOKEN)


def number_shared(some: NDArray[np.bytes_], among: NDArray[np.bytes_]) -> int:
    """Count the tokens that two ascending arrays have in common."""
    return len(places_of(some, among))


def places_of(some: NDArray[np.bytes_], among: NDArray[np.bytes_]) -> NDArray[np.intp]:
    """Where those of some tokens that are among others are there; both are in ascending order."""
    places = np.searchsorted(among, some)
    places[places == len(among)] = 0
    found: NDArray[np.intp] = places[among[places] == some]
    return found


def keyed_hash(key: bytes) -> Callable[[bytes], bytes]:
    """HMAC-SHA256 under one key (RFC 2104), its two padded keys hashed once: a table has many rows."""
    block = key.ljust(hashlib.sha256().block_size, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in block))
    outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in block))

    def keyed(message: bytes) -> bytes:
        first, second = inner.copy(), outer.copy()
        first.update(message)
        second.update(first.digest())
        return second.digest()

    return keyed


def _ascending(tokens: NDArray[np.bytes_]) -> NDArray[np.intp]:
    """The order of the tokens; by their first half alone, which is fast, where no two agree in it."""
    halves = tokens.view(">u8").reshape(-1, 2)[:, 0].astype(np.uint64)
    order = np.argsort(halves)
    halves = halves[order]
    return order if np.all(halves[1:] > halves[:-1]) else np.argsort(tokens)
