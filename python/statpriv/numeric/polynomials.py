"""Products of polynomials with masses as coefficients: a slot of one large integer for each coefficient."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["product"]


def product(one: Sequence[int], other: Sequence[int], *, bits: int, kept: int | None = None) -> list[int]:
    """The product of two polynomials in units of 2^-bits, each coefficient rounded down to that unit.

    Masses sum to at most one, that is 2^bits, so no coefficient of the exact product exceeds 2^(2 bits), which fits in
    a slot. Only the first `kept` coefficients are given back, if that is stated.

    >>> product([2, 2], [1, 3], bits=2)
    [0, 2, 1]
    """
    slot, terms = (2 * bits + 8) // 8, len(one) + len(other) - 1
    digits = (_packed(one, slot) * _packed(other, slot)).to_bytes(terms * slot, "little")
    wanted = range(terms if kept is None else min(terms, kept))
    return [int.from_bytes(digits[place * slot : (place + 1) * slot], "little") >> bits for place in wanted]


def _packed(coefficients: Sequence[int], slot: int) -> int:
    return int.from_bytes(b"".join(coefficient.to_bytes(slot, "little") for coefficient in coefficients), "little")
