"""The definitions of what is hashed for every row, in plain Python: `rust/release` says why they are these."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from statpriv._native import RowTokens

PRIME = 2**127 - 1


def keyed(key: bytes, message: bytes) -> bytes:
    """The first half of SHA-256 of a block with the key and the message."""
    return hashlib.sha256(key.ljust(64, b"\0") + message).digest()[:16]


def point(key: bytes, name: bytes) -> int:
    """A secret number modulo the prime."""
    return int.from_bytes(keyed(key, name), "little") % PRIME


def numbers(texts: Iterable[str | bytes | None]) -> list[int]:
    """The numbers of the pieces of 15 bytes of some texts: where they end is told by the bits above the bytes."""
    found: list[int] = []
    for text in texts:
        if text is None:
            found.append(2**125)
            continue
        content = text if isinstance(text, bytes) else text.encode()
        pieces = [content[start : start + 15] for start in range(0, max(len(content), 1), 15)]
        found += [int.from_bytes(piece + b"\1", "little") for piece in pieces]
        found[-1] += 2**124
    return found


def value(coefficients: Iterable[int], at: int) -> int:
    """Of a polynomial, the coefficient of its highest power first."""
    return reduce(lambda sum_, coefficient: (sum_ * at + coefficient) % PRIME, coefficients, 0)


def tokens(key: bytes, canonical_ids: Iterable[str]) -> list[bytes]:
    """What a ledger knows rows by."""
    at = point(key, b"point")
    blocks = [value(numbers([text]), at).to_bytes(16, "little") for text in canonical_ids]
    enciphered = aes_256(keyed(key, b"cipher 1") + keyed(key, b"cipher 2"), b"".join(blocks))
    return [enciphered[start : start + 16] for start in range(0, len(enciphered), 16)]


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


def fingerprints(key: bytes, rows: Sequence[Sequence[str | bytes | None]]) -> tuple[int, bytes, bytes]:
    """How many rows there are, and keyed hashes of polynomials of their cells at secret points."""
    x, y, z = (point(key, name) for name in (b"x", b"y", b"z"))
    of_rows = [value(numbers(row), y) for row in rows]
    unordered = reduce(lambda product, row: product * (x - row) % PRIME, of_rows, 1)
    count = len(rows).to_bytes(8, "little")
    return (
        len(rows),
        keyed(key, b"ordered" + count + value(of_rows, z).to_bytes(16, "little")),
        keyed(key, b"unordered" + count + unordered.to_bytes(16, "little")),
    )


# --- AES-256 (FIPS 197), all blocks at once


def _times_two(byte: int) -> int:
    return (byte << 1 ^ 0x11B if byte & 0x80 else byte << 1) & 0xFF


def _substitutions() -> list[int]:
    """The S-box: the inverse in the field of 256 elements, and an affine map of its bits."""
    powers = [1]
    while len(powers) < 255:
        powers.append(_times_two(powers[-1]) ^ powers[-1])  # 3 generates the field
    box = [0x63] * 256
    for exponent, number in enumerate(powers):
        inverse = powers[-exponent % 255]
        turned = [(inverse << turn | inverse >> (8 - turn)) & 0xFF for turn in range(5)]
        box[number] = reduce(int.__xor__, turned, 0x63)
    return box


_BOX = np.array(_substitutions(), dtype=np.uint8)
_DOUBLED = np.array([_times_two(byte) for byte in range(256)], dtype=np.uint8)
_SHIFTED = np.array([(place + 4 * (place % 4)) % 16 for place in range(16)])


def _round_keys(key: bytes) -> list[NDArray[np.uint8]]:
    words = [np.frombuffer(key[start : start + 4], dtype=np.uint8) for start in range(0, 32, 4)]
    constant = 1
    for i in range(8, 60):
        word = words[-1]
        if i % 8 == 0:
            word = _BOX[np.roll(word, -1)]
            word[0] ^= constant
            constant = _times_two(constant)
        elif i % 8 == 4:
            word = _BOX[word]
        words.append(words[-8] ^ word)
    return [np.concatenate(words[start : start + 4]) for start in range(0, 60, 4)]


def aes_256(key: bytes, blocks: bytes) -> bytes:
    """Encipher every block of 16 bytes for itself."""
    first, *middle, last = _round_keys(key)
    state = np.frombuffer(blocks, dtype=np.uint8).reshape(-1, 16) ^ first
    for round_key in middle:
        columns = _BOX[state][:, _SHIFTED].reshape(-1, 4, 4)
        following = np.roll(columns, -1, axis=2)
        all_of_column = np.bitwise_xor.reduce(columns, axis=2, keepdims=True)
        mixed = columns ^ all_of_column ^ _DOUBLED[columns ^ following]
        state = mixed.reshape(-1, 16) ^ round_key
    return (_BOX[state][:, _SHIFTED] ^ last).tobytes()
