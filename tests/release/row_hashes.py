"""The definitions of what is hashed for every row, in plain Python: `rust/release` says why they are these."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from statpriv._native import RowTokens

from .blake3 import derive_key, keyed_hash, keyed_hashes, keyed_stream

HALF = 2**128


def tokens(key: bytes, canonical_ids: Iterable[str]) -> list[bytes]:
    """What a ledger knows rows by."""
    subkey = derive_key("statpriv 2026-11 tokens of row ids", key)
    return [hashed[:16] for hashed in keyed_hashes(subkey, [text.encode() for text in canonical_ids])]


def by_row(found: RowTokens) -> list[bytes]:
    """The tokens in the order of the rows, from the ascending ones."""
    ascending = found.tokens.tobytes()
    one_by_one = [ascending[start : start + 16] for start in range(0, len(ascending), 16)]
    assert one_by_one == sorted(one_by_one)
    return [token for _, token in sorted(zip(found.rows.tolist(), one_by_one, strict=True))]


def digest(row: Iterable[str | None]) -> bytes:
    """What a server tells of a row: SHA-256 of all its cells, each with its length."""
    text = "".join("N" if cell is None else f"V{len(cell.encode())}:{cell}" for cell in row)
    return hashlib.sha256(text.encode()).digest()


def encoded(row: Iterable[str | bytes | None]) -> bytes:
    """The cells, each after its length and one, in groups of seven bits; a missing one is 0."""
    found = b""
    for cell in row:
        content = cell.encode() if isinstance(cell, str) else cell
        number, rest = (0, b"") if content is None else (len(content) + 1, content)
        while number >= 128:
            found += bytes([128 | number % 128])
            number //= 128
        found += bytes([number]) + rest
    return found


def fingerprints(key: bytes, rows: Sequence[Sequence[str | bytes | None]]) -> tuple[int, bytes, bytes]:
    """How many rows there are, and keyed hashes of the sums of their hashes, once times those of their positions."""
    of_rows, positions, for_ordered, for_unordered = (
        derive_key(f"statpriv 2026-11 {purpose}", key)
        for purpose in ("rows of a content", "positions in a content", "ordered fingerprint", "unordered fingerprint")
    )
    stream = keyed_stream(positions, 16 * len(rows))
    factors = [number(stream[start : start + 16]) for start in range(0, len(stream), 16)]
    ordered, unordered = [0, 0], [0, 0]
    for hashed, factor in zip(keyed_hashes(of_rows, list(map(encoded, rows))), factors, strict=True):
        for half, value in enumerate((number(hashed[:16]), number(hashed[16:32]))):
            ordered[half] = (ordered[half] + factor * value) % HALF
            unordered[half] = (unordered[half] + value) % HALF

    def hidden(subkey: bytes, sums: list[int]) -> bytes:
        count = len(rows).to_bytes(8, "little")
        return keyed_hash(subkey, count + b"".join(half.to_bytes(16, "little") for half in sums))[:16]

    return len(rows), hidden(for_ordered, ordered), hidden(for_unordered, unordered)


def number(content: bytes) -> int:
    return int.from_bytes(content, "little")
