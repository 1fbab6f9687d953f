"""The paper's tests for linear queries, as printed and corrected, for comparison with the exact μ.

Theorem 10 requires that, for every ℓ, the covariance `Σ` of the answers without entry ℓ is diagonally dominant. Then no
eigenvalue is small (Gershgorin, Theorem 9). Theorem 11 requires the same for positive coefficients whichever entries
are known. Its condition is on a sum over a set of columns, which is least for the columns with the smallest summands.
Its test (14) is printed with `k ≠ ℓ`; the proof needs `k ≠ i`, which is used here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import ceil
from typing import TYPE_CHECKING, Any

from statpriv import budget
from statpriv.theories.noiseless.integer_products import Integers, integer_gram

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FITS = 1 << 52
"""Sums of absolute values below this bound are computed in 64-bit integers."""


@dataclass(frozen=True)
class DominanceTest:
    """The outcome of a printed test.

    Attributes
    ----------
    holds
        Whether every printed hypothesis holds.
    failures
        The hypotheses that fail, in words.
    where
        The query i and the entry ℓ at which dominance fails first, both counted from 0; or None.
    """

    holds: bool
    failures: tuple[str, ...]
    where: tuple[int, int] | None

    def explain(self) -> str:
        """Whether the test holds, and the hypotheses that fail.

        Examples
        --------
        >>> import statpriv as sp
        >>> print(sp.noiseless.LinearQueries([[1, 1, 1], [1, 1, 0]]).gershgorin().explain())
        The printed test fails: 2 queries are more than the fifth root of 3 entries; query 1 is not dominant without
        entry 0.
        """
        return f"The printed test {'holds' if self.holds else 'fails: ' + '; '.join(self.failures)}."


def gershgorin_test(coefficients: Integers, unit: Fraction) -> DominanceTest:
    """Theorem 10: `Σ_{k≠i} |Σ_{j≠ℓ} a_ij a_kj| <= 0.99 Σ_{j≠ℓ} a_ij²` for all i and ℓ, and its other hypotheses."""
    failures = _common_failures(coefficients)
    if abs(coefficients).max() * unit > 1:
        failures.append("a coefficient is above 1 in size")
    gram = integer_gram(coefficients)
    where = _first_not_dominant(gram, coefficients)
    if where is not None:
        failures.append(f"query {where[0]} is not dominant without entry {where[1]}")
    return DominanceTest(not failures, tuple(failures), where)


def leakage_test(coefficients: Integers, unit: Fraction, known_fraction: Fraction) -> DominanceTest:
    """Theorem 11: the least `Σ_{j∈S} (0.99 a_ij² − Σ_{k≠i} a_ij a_kj)` over sets S of `r−1` entries is not negative.

    The test is for all i, ℓ and `n − ρn <= r <= n`, and all S that do not contain ℓ. For a fixed size of S the least
    sum is that of the smallest summands. Over the sizes the least sum takes all negative summands, or is at the nearest
    allowed size.
    """
    failures = _common_failures(coefficients)
    if coefficients.min() <= 0 or coefficients.max() * unit > 1:
        failures.append("a coefficient is not above 0 and at most 1")
    entries = coefficients.shape[1]
    least = max(0, ceil(entries * (1 - known_fraction)) - 1)
    where = next(
        (
            (i, entry)
            for i, row in enumerate(coefficients)
            if (entry := _leaking_entry(100 * row * (row - coefficients.sum(axis=0)) + 99 * row * row, least))
            is not None
        ),
        None,
    )
    if where is not None:
        failures.append(f"query {where[0]} is not dominant for entry {where[1]} once others are known")
    return DominanceTest(not failures, tuple(failures), where)


def _leaking_entry(summands: Any, least: int) -> int | None:  # noqa: ANN401  (a numpy array of integers)
    """An entry without which some sum of at least this many of the other summands is negative."""
    order = sorted(range(len(summands)), key=lambda j: summands[j])
    sums = [0, *accumulate(int(summands[j]) for j in order)]
    negative = sum(1 for value in summands if value < 0)
    for place, entry in enumerate(order):
        others_negative = negative - (place < negative)
        size = min(max(least, others_negative), len(order) - 1)
        total = sums[size] if place >= size else sums[size + 1] - int(summands[entry])
        if total < 0:
            return entry
    return None


def _common_failures(coefficients: Integers) -> list[str]:
    queries, entries = coefficients.shape
    failures = []
    if queries**5 > entries:
        failures.append(f"{queries} queries are more than the fifth root of {entries} entries")
    if ((coefficients != 0).sum(axis=1) < 2).any():
        failures.append("a query has fewer than two coefficients other than 0")
    return failures


def _first_not_dominant(gram: Integers, coefficients: Integers) -> tuple[int, int] | None:
    """The first entry, and a query for it, at which dominance fails."""
    import numpy as np

    small = abs(gram).max() * len(gram) * 200 < _FITS
    matrix = gram.astype(np.int64) if small else gram
    columns = coefficients.astype(np.int64) if small else coefficients
    screen = None if small else _Screen.of(gram, coefficients)
    for entry in range(columns.shape[1]):
        suspects = np.arange(len(gram)) if screen is None else screen.suspects(entry)
        if not len(suspects):
            continue
        column = columns[:, entry]
        without = matrix[suspects] - np.outer(column[suspects], column)
        diagonal = without[np.arange(len(suspects)), suspects]
        failing = np.flatnonzero(100 * (abs(without).sum(axis=1) - diagonal) > 99 * diagonal)
        if failing.size:
            return int(suspects[failing[0]]), entry
    return None


@dataclass(frozen=True)
class _Screen:
    """The test in doubles with an error bound, so that only close cases need integers.

    Let u be the unit roundoff and m the number of queries. Entries of the Gram matrix and coefficients are rounded
    once, so `G_ik − a_i a_k` has an error of at most `5u(|G_ik| + |a_i a_k|)`. Summation adds an error of `(m+2)u`
    times the sum of the absolute values; the factor 0.99 and the last difference add 4u times that sum. The bound
    `8(m+8)u Σ_k (|G_ik| + |a_i a_k|)` exceeds the total of these errors and its own rounding error.
    """

    gram: NDArray[np.float64]
    coefficients: NDArray[np.float64]

    @staticmethod
    def of(gram: Integers, coefficients: Integers) -> _Screen | None:
        """None where the integers are too large or too small for doubles."""
        import numpy as np

        if int(abs(gram).max()).bit_length() > budget.MAX_DOUBLE_BITS:
            return None
        return _Screen(gram.astype(np.float64), coefficients.astype(np.float64))

    def suspects(self, entry: int) -> NDArray[np.int64]:
        """Queries for which doubles do not prove dominance without this entry."""
        import numpy as np

        column = self.coefficients[:, entry]
        size = abs(column)
        sizes = abs(self.gram).sum(axis=1) + size * size.sum()
        without = self.gram - np.outer(column, column)
        diagonal = np.diag(without)
        margin = 0.99 * diagonal - (abs(without).sum(axis=1) - diagonal)
        return np.flatnonzero(margin <= 8 * (len(column) + 8) * 2.0**-53 * sizes)
