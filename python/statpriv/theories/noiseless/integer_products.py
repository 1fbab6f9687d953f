"""Exact products of matrices of integers of any size, computed with floating-point matrix products.

Both factors are split into limbs, signed integers of `b` and `c` bits, and the limbs are multiplied as doubles. A sum
of K products of limbs is an integer below `K 2^(b+c)` in absolute value. The same holds for its partial sums, in any
order of summation. All integers up to 2^53 are doubles, so with `b + c + ⌈log2 K⌉ <= 53` nothing is rounded, on any
machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from statpriv import budget

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Integers = Any
"""A numpy array of Python integers, of a type of integers, or of doubles whose values are integers."""

_EXACT = 53
_FIT = 512
"""Number of integers below 2^53 whose sum surely fits in 64 bits."""
_ROWS = 512
"""Rows that are converted to doubles at a time, so that a table of 2^24 zeros and ones is not copied as a whole."""


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
    beside = np.concatenate(pieces, axis=1)  # one product for all pairs of limbs
    for start in range(0, rows, _ROWS):
        block = slice(start, min(start + _ROWS, rows))
        limbs = _limbs(left[block], left_bits)
        # Both factors hold integers below 2^bits: every partial sum is exact.
        products = (np.concatenate(limbs) @ beside).reshape(len(limbs), -1, len(pieces), columns)
        totals: dict[int, NDArray[Any]] = {}
        for i, j in np.ndindex(len(limbs), len(pieces)):
            product, place = products[i, :, j].astype(np.int64), i * left_bits + j * right_bits
            product = product if len(pieces) <= _FIT else product.astype(object)
            totals[place] = totals[place] + product if place in totals else product
        for place, total in totals.items():
            result[block] += total.astype(object) << place
    return result


def integer_gram(matrix: Integers) -> NDArray[Any]:
    """The product of a matrix of integers with its transpose: :func:`integer_product` at half the cost.

    >>> import numpy as np
    >>> integer_gram(np.array([[3.0, 4.0]])).tolist()
    [[25]]
    """
    import numpy as np

    bits = (_EXACT - max(1, matrix.shape[1]).bit_length()) // 2
    limbs = _limbs(matrix, bits)
    rows, stacked = len(matrix), np.concatenate(limbs)
    products = (stacked @ stacked.T).reshape(len(limbs), rows, len(limbs), rows)
    result = np.zeros((rows, rows), dtype=object)
    for place in range(2 * len(limbs) - 1):
        total = np.zeros(result.shape, dtype=np.int64 if len(limbs) <= _FIT else object)
        for i in range(max(0, place - len(limbs) + 1), min(place, len(limbs) - 1) + 1):
            total += products[i, :, place - i].astype(np.int64)
        result += total.astype(object) << (place * bits)
    return result


def _widths(left: int, right: int, room: int) -> tuple[int, int]:
    """Bits of a limb of each factor. A factor of few bits is not split; otherwise both get half of the room."""
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

    if matrix.dtype.kind == "f":
        return _limbs_of_doubles(matrix, bits)
    if matrix.dtype != object:
        if _bits(matrix) <= bits:
            return [matrix.astype(np.float64)]
        matrix = matrix.astype(object)
    sign, rest = np.where(matrix < 0, -1.0, 1.0), abs(matrix)
    limbs = []
    while True:
        limbs.append((rest & ((1 << bits) - 1)).astype(np.float64) * sign)
        rest = rest >> bits
        if not rest.any():
            return limbs


def _limbs_of_doubles(matrix: NDArray[np.float64], bits: int) -> list[NDArray[np.float64]]:
    """The limbs of doubles that are integers. `rest mod 2^bits` is a double, so the subtraction is exact."""
    import numpy as np

    sign, rest = np.where(matrix < 0, -1.0, 1.0), abs(matrix)
    limbs = []
    while True:
        above = np.floor(rest * 2.0**-bits)  # powers of two do not round
        limbs.append((rest - above * 2.0**bits) * sign)
        rest = above
        if not rest.any():
            return limbs


def as_integers(matrix: Integers) -> NDArray[Any]:
    """The same matrix with Python integers."""
    import numpy as np

    if matrix.dtype.kind == "f":
        return np.array([int(value) for value in matrix.flat], dtype=object).reshape(matrix.shape)
    integers: NDArray[Any] = matrix.astype(object) + 0
    return integers


def whole_doubles(values: NDArray[np.float64]) -> tuple[Integers, int]:
    """Integers and an exponent e with `values = integers · 2^e`, exactly; the integers are doubles if their range fits.

    >>> import numpy as np
    >>> whole_doubles(np.array([0.75, -2.0]))
    (array([ 3., -8.]), -2)
    """
    import numpy as np

    trailing, exponents = _last_places(values)
    used = values != 0
    if not used.any():
        return values, 0
    least, most = int((trailing + exponents)[used].min()), int(exponents[used].max()) + _EXACT
    if most - least <= budget.MAX_DOUBLE_BITS and abs(least) <= budget.MAX_DOUBLE_BITS:
        return np.ldexp(values, -least), least
    return integers_from_doubles(values)


def integers_from_doubles(values: NDArray[np.float64]) -> tuple[NDArray[Any], int]:
    """Python integers and an exponent e with `values = integers · 2^e`, exactly.

    >>> import numpy as np
    >>> integers_from_doubles(np.array([0.75, -2.0]))
    (array([3, -8], dtype=object), -2)
    """
    import numpy as np

    trailing, exponents = _last_places(values)
    used = values != 0
    if not used.any():
        return np.zeros(values.shape, dtype=object), 0
    places = trailing + exponents
    least = int(places[used].min())
    whole = (np.frexp(values)[0] * 2.0**_EXACT).astype(np.int64) >> trailing
    return whole.astype(object) << np.where(used, places - least, 0).astype(object), least


def _last_places(values: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each double `M · 2^e` with an integer M of 53 bits: the number of trailing zero bits of M, and e."""
    import numpy as np

    mantissas, exponents = np.frexp(values)
    whole = (mantissas * 2.0**_EXACT).astype(np.int64)
    trailing = np.frexp((whole & -whole).astype(np.float64))[1].astype(np.int64) - 1
    return np.where(whole == 0, 0, trailing), exponents.astype(np.int64) - _EXACT
