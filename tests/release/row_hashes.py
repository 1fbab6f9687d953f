"""The definitions of what is hashed for every row, in plain Python: `rust/release` says why they are these."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import reduce

from statpriv._native import RowTokens

PRIME = 2**127 - 1


def keyed(key: bytes, message: bytes) -> bytes:
    """The first half of SHA-256 of a block with the key and the message."""
    return hashlib.sha256(key.ljust(64, b"\0") + message).digest()[:16]


def tokens(key: bytes, canonical_ids: Iterable[str]) -> list[bytes]:
    """What a ledger knows rows by."""
    return [keyed(key, text.encode()) for text in canonical_ids]


def by_row(found: RowTokens) -> list[bytes]:
    """The tokens in the order of the rows, from the ascending ones."""
    ascending = found.tokens.tobytes()
    one_by_one = [ascending[start : start + 16] for start in range(0, len(ascending), 16)]
    assert one_by_one == sorted(one_by_one)
    return [token for _, token in sorted(zip(found.rows.tolist(), one_by_one, strict=True))]


def digest(row: Iterable[str | None]) -> bytes:
    """SHA-256 of all cells of a row, each with its length."""
    text = "".join("N" if cell is None else f"V{len(cell.encode())}:{cell}" for cell in row)
    return hashlib.sha256(text.encode()).digest()


def fingerprints(key: bytes, digests: Sequence[bytes]) -> tuple[int, bytes, bytes]:
    """How many rows there are, and keyed hashes of polynomials of their digests at secret points."""
    x, y, z = (int.from_bytes(keyed(key, name), "little") % PRIME for name in (b"x", b"y", b"z"))
    rows = [
        (int.from_bytes(digest[:16], "little") + y * int.from_bytes(digest[16:], "little")) % PRIME
        for digest in digests
    ]
    ordered = sum(row * pow(z, power, PRIME) for power, row in enumerate(reversed(rows))) % PRIME
    unordered = reduce(lambda product, row: product * (x - row) % PRIME, rows, 1)
    count = len(rows).to_bytes(8, "little")
    return (
        len(rows),
        keyed(key, b"ordered" + count + ordered.to_bytes(16, "little")),
        keyed(key, b"unordered" + count + unordered.to_bytes(16, "little")),
    )
