"""Certified values of `v^T G^{-1} v` for an integer matrix G that is positive semidefinite.

*Small matrices*: exact, by fraction-free symmetric elimination. The Schur complements of G are positive semidefinite,
so a zero on the diagonal of one implies a row of zeros. If the reduced v is not zero in that row, v lies outside the
range of G and the value is infinite. Otherwise the row is skipped, which gives the value of the pseudo-inverse.

*Large matrices*: a floating-point approximation, certified in integers. For any y, with `r = v − G y`,

    v^T G^{-1} v  =  v^T y + r^T y + r^T G^{-1} r,

and for any X with `‖I − X G X^T‖_∞ <= α < 1` the eigenvalues of `X G X^T` are at least `1−α`. So G and X are
invertible, `G^{-1} <= X^T X/(1−α)`, and `0 <= r^T G^{-1} r <= |X r|²/(1−α)`. Here X is an approximate inverse of a
Cholesky factor, rounded to integers over a power of two, and y is refined until the last term is negligible. α, r and
the sums are computed in integers, without rounding. If doubles do not find such an X, elimination is used. A coarser
form serves many v at once: the eigenvalues of `X G X^T` are at most `1+α`, so
`|X v|²/(1+α) <= v^T G^{-1} v <= |X v|²/(1−α)`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from statpriv import budget
from statpriv.numeric.exact import is_finite
from statpriv.theories.noiseless.integer_products import Integers, as_integers, integer_product, integers_from_doubles

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Bounds: TypeAlias = "tuple[Fraction | float, Fraction | float]"
"""A lower and an upper bound: equal if the value is exact, both infinite if v lies outside the range of G."""

_SMALL = 16
"""Matrices of at most this many rows are eliminated directly."""
_ROUNDS = 12
_PRECISION = 72
_PLACES = 170
_LEADING = 64
"""Leading bits of G that are used for the distance of `X G X^T` from the identity; the other bits are bounded."""
_DIGITS = 43
"""Bits of X. Few suffice: any X with `‖I − X G X^T‖_∞ < 1` is valid."""


def quadratic_forms(gram: Integers, vectors: Integers, *, refined: bool = True) -> list[Bounds]:
    """Bounds of `v^T G^{-1} v` for each column v; with `refined=False` to about 40 bits only.

    >>> import numpy as np
    >>> gram, vectors = np.array([[2, 0], [0, 0]], dtype=object), np.array([[1, 0], [0, 1]], dtype=object)
    >>> quadratic_forms(gram, vectors)
    [(Fraction(1, 2), Fraction(1, 2)), (inf, inf)]
    """
    found = None if len(gram) <= _SMALL else _certified(gram, vectors, refined=refined)
    return _eliminated(gram, as_integers(vectors)) if found is None else found


def root_bounds(bounds: Bounds, factor: Fraction) -> Bounds:
    """Bounds of `factor · √value`, with 80 bits or more."""
    if not (is_finite(bounds[0]) and is_finite(bounds[1])):
        return (math.inf, math.inf) if factor else (Fraction(0), Fraction(0))
    return _root(bounds[0] * factor**2)[0], _root(bounds[1] * factor**2)[1]


def _root(value: Fraction) -> tuple[Fraction, Fraction]:
    places = max(0, 80 + (value.denominator.bit_length() - value.numerator.bit_length()) // 2)
    scaled = value.numerator << (2 * places)
    root = math.isqrt(scaled // value.denominator)
    exact = root * root * value.denominator == scaled
    return Fraction(root, 1 << places), Fraction(root if exact else root + 1, 1 << places)


def _eliminated(gram: Integers, vectors: Integers) -> list[Bounds]:
    """`v^T G^{-1} v` exactly, by Bareiss' fraction-free elimination of G bordered by v and 0, for all v at once."""
    import numpy as np

    matrix, borders = as_integers(gram), vectors
    corners = np.zeros(vectors.shape[1], dtype=object)
    left, previous = list(range(len(gram))), 1
    while pivots := [index for index in left if matrix[index, index]]:
        pivot = min(pivots, key=lambda index: matrix[index, index])
        left.remove(pivot)
        value, column, border = matrix[pivot, pivot], matrix[:, pivot].copy(), borders[pivot].copy()
        rest = np.ix_(left, left)
        matrix[rest] = (matrix[rest] * value - np.outer(column[left], column[left])) // previous
        borders[left] = (borders[left] * value - np.outer(column[left], border)) // previous
        corners = (corners * value - border * border) // previous
        previous = value
    outside = (borders[left] != 0).any(axis=0)
    values = [math.inf if out else Fraction(-int(c), int(previous)) for out, c in zip(outside, corners, strict=True)]
    return [(value, value) for value in values]


def _certified(gram: Integers, vectors: Integers, *, refined: bool) -> list[Bounds] | None:
    """Bounds approximated in doubles and certified in integers; None if there is no certificate, or it is too wide."""
    import numpy as np

    factor = _approximate_factor(gram)
    if factor is None:
        return None
    digits, scales, doubles = factor
    plain, most = np.rint(np.ldexp(doubles, digits)).astype(np.int64), int(scales.max())
    whole, unit = plain.astype(object) << (most - scales)[None, :], 1 << (2 * (digits + most))
    away = _distance_from_one(plain, gram << (2 * most - scales[:, None] - scales[None, :]), unit)
    if away >= unit:
        return None
    if not refined:
        squares = (integer_product(whole, vectors) ** 2).sum(axis=0)
        return [(Fraction(int(square), unit + away), Fraction(int(square), unit - away)) for square in squares]
    shift = int(abs(gram).max()).bit_length() + _PLACES
    target = as_integers(vectors) << shift
    y, residual = np.zeros(vectors.shape, dtype=object), target
    for _ in range(_ROUNDS):
        y = y + _correction(residual, scales, doubles)
        residual = target - integer_product(gram, y)
        low = (y * (target + residual)).sum(axis=0)
        slack = (integer_product(whole, residual) ** 2).sum(axis=0)
        bounds = [
            (Fraction(int(a), 1 << (2 * shift)), (int(a) + Fraction(int(b), unit - away)) / (1 << (2 * shift)))
            for a, b in zip(low, slack, strict=True)
        ]
        if all((high - value) * (1 << _PRECISION) <= value for value, high in bounds):
            return list(bounds)
    return None


def _distance_from_one(whole: Integers, gram: Integers, unit: int) -> int:
    """A bound of `‖unit I − X G X^T‖_∞`, for G whose diagonal entries are all of about the same size.

    Only the leading bits of G are multiplied: with `G = 2^k G' + E` and `0 <= E_ij < 2^k`, the absolute values in row i
    of `X E X^T` sum to at most `2^k |X_i|_1 Σ_lj |X_lj|`.
    """
    import numpy as np

    dropped = max(0, int(abs(gram).max()).bit_length() - _LEADING)
    product = integer_product(integer_product(whole, gram >> dropped), whole.T)
    sizes = abs(whole).sum(axis=1)
    missing = (int(sizes.max()) * int(sizes.sum()) << dropped) if dropped else 0
    identity = np.eye(len(gram), dtype=np.int64).astype(object) * unit
    return int(abs((product << dropped) - identity).sum(axis=1).max()) + missing


def _approximate_factor(gram: Integers) -> tuple[int, NDArray[Any], NDArray[np.float64]] | None:
    """X with `X S^{-1} G S^{-1} X^T ≈ I`: the binary places of X to keep, the exponents of S, and X in doubles."""
    import numpy as np

    diagonal = [int(value) for value in np.diag(gram)]
    if not all(diagonal):
        return None
    scales = np.array([value.bit_length() // 2 for value in diagonal], dtype=object)
    try:
        x = np.linalg.inv(np.linalg.cholesky(_as_doubles(gram, scales)))
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(x).all():
        return None
    return _DIGITS - int(np.frexp(abs(x).max())[1]), scales, x


def _as_doubles(gram: Integers, scales: NDArray[Any]) -> NDArray[np.float64]:
    """`G_ij / 2^(s_i + s_j)`, approximately: it is used only for the uncertified approximation."""
    import numpy as np

    excess = max(0, int(abs(gram).max()).bit_length() - budget.MAX_DOUBLE_BITS)
    exponents = (excess - scales[:, None] - scales[None, :]).astype(np.int64)
    scaled: NDArray[np.float64] = np.ldexp((gram >> excess).astype(np.float64), exponents)
    return scaled


def _correction(residual: Integers, scales: NDArray[Any], x: NDArray[np.float64]) -> Integers:
    """`G^{-1} r`, approximately, as integers: `S^{-1} X^T X S^{-1} r` with the scales S of the columns."""
    import numpy as np

    excess = int(abs(residual).max()).bit_length() - 60
    small = (residual >> excess if excess > 0 else residual).astype(np.float64)
    least = int(scales.min())
    solved = x.T @ (x @ np.ldexp(small, (least - scales).astype(np.int64)[:, None]))
    integers, exponent = integers_from_doubles(solved)
    moves = exponent + max(0, excess) - least - scales
    return np.stack([row << move if move >= 0 else row >> -move for row, move in zip(integers, moves, strict=True)])
