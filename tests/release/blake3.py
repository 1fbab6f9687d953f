"""BLAKE3 in NumPy, for inputs of at most 1024 bytes: many inputs at once, from the specification alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]
Quarters = tuple[Words, Words, Words, Words]

_IV = np.array(
    [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19], dtype=np.uint32
)
_PERMUTATION = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8]
_CHUNK_START, _CHUNK_END, _ROOT, _KEYED, _CONTEXT, _MATERIAL = 1, 2, 8, 16, 32, 64


def keyed_hash(key: bytes, message: bytes) -> bytes:
    """64 bytes of output, of which the first 32 are the hash."""
    return keyed_hashes(key, [message])[0]


def keyed_hashes(key: bytes, messages: Sequence[bytes]) -> list[bytes]:
    """The keyed hash of each message, with its extension."""
    return _chunks(np.frombuffer(key, dtype="<u4").astype(np.uint32), messages, _KEYED)


def keyed_stream(key: bytes, length: int) -> bytes:
    """The extension of the hash of an empty message."""
    blocks = [b""] * -(-length // 64)
    words = np.frombuffer(key, dtype="<u4").astype(np.uint32)
    return b"".join(_chunks(words, blocks, _KEYED, extended=True))[:length]


def derive_key(context: str, material: bytes) -> bytes:
    """A subkey of 32 bytes for one purpose."""
    [context_key] = _chunks(_IV, [context.encode()], _CONTEXT)
    of_context = np.frombuffer(context_key[:32], dtype="<u4").astype(np.uint32)
    return _chunks(of_context, [material], _MATERIAL)[0][:32]


def _chunks(key: Words, messages: Sequence[bytes], flags: int, *, extended: bool = False) -> list[bytes]:
    """The first block of output for each message, or one after the other for equal messages."""
    hashes = [b""] * len(messages)
    lengths = [max(1, -(-len(message) // 64)) for message in messages]
    for blocks in set(lengths):
        assert blocks <= 16, "a chunk has at most 1024 bytes"
        alike = [i for i, length in enumerate(lengths) if length == blocks]
        padded = b"".join(messages[i].ljust(64 * blocks, b"\0") for i in alike)
        words = np.frombuffer(padded, dtype="<u4").astype(np.uint32).reshape(len(alike), blocks, 16)
        in_last = np.array([len(messages[i]) - 64 * (blocks - 1) for i in alike], dtype=np.uint32)
        counters = np.arange(len(alike), dtype=np.uint32) * extended
        value = np.tile(key, (len(alike), 1))
        for at in range(blocks):
            last = at == blocks - 1
            own = flags | _CHUNK_START * (at == 0) | (_CHUNK_END | _ROOT) * last
            length = in_last if last else np.full_like(in_last, 64)
            output = _compress(value, words[:, at], counters, length, own)
            value = output[:, :8]
        for i, hashed in zip(alike, output.astype("<u4"), strict=True):
            hashes[i] = hashed.tobytes()
    return hashes


def _compress(value: Words, message: Words, counter: Words, length: Words, flags: int) -> Words:
    state = np.empty((len(value), 16), dtype=np.uint32)
    state[:, :8], state[:, 8:12] = value, _IV[:4]
    state[:, 12], state[:, 13], state[:, 14], state[:, 15] = counter, 0, length, flags
    quarters: Quarters = (state[:, 0:4], state[:, 4:8], state[:, 8:12], state[:, 12:16])
    order = np.arange(16)
    for _ in range(7):
        turned = message[:, order]
        a, b, c, d = _mixed(quarters, turned[:, 0:8:2], turned[:, 1:8:2])
        b, c, d = (np.roll(row, -turn, axis=1) for row, turn in ((b, 1), (c, 2), (d, 3)))
        a, b, c, d = _mixed((a, b, c, d), turned[:, 8::2], turned[:, 9::2])
        quarters = (a, np.roll(b, 1, axis=1), np.roll(c, 2, axis=1), np.roll(d, 3, axis=1))
        order = order[_PERMUTATION]
    above = np.hstack(quarters[2:])
    return np.hstack([np.hstack(quarters[:2]) ^ above, above ^ value])


def _mixed(quarters: Quarters, x: Words, y: Words) -> Quarters:
    a, b, c, d = quarters
    for word, turns in ((x, (16, 12)), (y, (8, 7))):
        a = a + b + word
        d = _turned(d ^ a, turns[0])
        c = c + d
        b = _turned(b ^ c, turns[1])
    return a, b, c, d


def _turned(words: Words, bits: int) -> Words:
    return words >> np.uint32(bits) | words << np.uint32(32 - bits)
