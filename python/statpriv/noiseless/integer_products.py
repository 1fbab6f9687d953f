"""Products of matrices of integers of any size, exactly, at the speed of doubles.

Both factors are split into limbs, integers of `b` and `c` bits with a sign, and the limbs are multiplied as doubles.
A sum of K products of such limbs is an integer of size below `K 2^(b+c)`, and so is each of its partial sums, in
whatever order they are added. Integers up to 2^53 are doubles: with `b + c + ⌈log2 K⌉ <= 53` nothing is rounded, on
any machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Integers", "integer_product", "integers_from_doubles"]

Integers = Any
"""A numpy array of Python integers, or of a type of integers."""

_EXACT = 53
_ROWS = 512
"""Rows that are converted to doubles at a time: a table of 2^24 zeros and ones is not copied as a whole."""


def integer_product(left: Integers, right: Integers) -> NDArray[Any]:
    """The product of two matrices of integers, as an array of Python integers.

    >>> import numpy as np
    >>> big = np.array([[2**200], [-1]], dtype=object)
    >>> integer_product(np.array([[1, 3]]), big).tolist() == [[2**200 - 3]]
    True
    """
    import numpy as np

    rows, inner = left.shape
    columns = right.shape[1]
    result = np.zeros((rows, columns), dtype=object)
    room = _EXACT - max(1, inner).bit_length()
    left_bits, right_bits = _widths(_bits(left), _bits(right), room)
    if not left_bits or not right_bits:
        return result
    pieces = _limbs(right, right_bits)
    for start in range(0, rows, _ROWS):
        block = slice(start, min(start + _ROWS, rows))
        totals: dict[int, NDArray[np.int64]] = {}
        for i, limb in enumerate(_limbs(left[block], left_bits)):
            for j, piece in enumerate(pieces):
                # Both factors hold integers below 2^bits: every partial sum is exact, and 2^10 of them fit 64 bits.
                product, place = (limb @ piece).astype(np.int64), i * left_bits + j * right_bits
                totals[place] = totals[place] + product if place in totals else product
        for place, total in totals.items():
            result[block] += total.astype(object) << place
    return result


def _widths(left: int, right: int, room: int) -> tuple[int, int]:
    """How many bits a limb of either factor has: one factor is left whole if it is narrow, else both are halved."""
    if left <= room // 2:
        return left, min(right, room - left)
    if right <= room // 2:
        return min(left, room - right), right
    return room // 2, room - room // 2


def _bits(matrix: Integers) -> int:
    """Bits of the largest entry."""
    if not matrix.size:
        return 0
    return max(int(matrix.max()).bit_length(), int(-int(matrix.min())).bit_length())


def _limbs(matrix: Integers, bits: int) -> list[NDArray[np.float64]]:
    """Doubles L_k that hold integers below 2^bits in size, with `matrix = Σ L_k 2^(k bits)`."""
    import numpy as np

    if matrix.dtype != object:
        if _bits(matrix) <= bits:
            return [matrix.astype(np.float64)]
        matrix = matrix.astype(object)
    sign, rest = np.where(matrix < 0, -1, 1), abs(matrix)
    limbs = []
    while True:
        limbs.append((rest & ((1 << bits) - 1)).astype(np.float64) * sign.astype(np.float64))
        rest = rest >> bits
        if not rest.any():
            return limbs


def integers_from_doubles(values: NDArray[np.float64]) -> tuple[NDArray[Any], int]:
    """Integers and an exponent e with `values = integers · 2^e`, exactly.

    >>> import numpy as np
    >>> integers_from_doubles(np.array([0.75, -2.0]))
    (array([3, -8], dtype=object), -2)
    """
    import numpy as np

    mantissas, exponents = np.frexp(values)
    whole = (mantissas * 2.0**_EXACT).astype(np.int64)
    used = whole != 0
    if not used.any():
        return whole.astype(object), 0
    # Trailing zeros go to the exponent, so that small numbers stay small integers.
    trailing = np.zeros(whole.shape, dtype=np.int64)
    trailing[used] = np.frexp((whole[used] & -whole[used]).astype(np.float64))[1] - 1
    places = exponents.astype(np.int64) - _EXACT + trailing
    least = int(places[used].min())
    shifts = np.where(used, places - least, 0)
    integers = (whole >> trailing).astype(object) << shifts.astype(object)
    return integers, least
