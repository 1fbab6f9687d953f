"""Linear queries on normal data: `Y = A t` with independent entries `t_j ~ N(m_j, σ_j²)`.

Given `t_ℓ = α` the answers are normal with mean `α A_ℓ` plus a constant, and covariance `Σ = Σ_{j≠ℓ} σ_j² A_j A_j^T`.
Two normal laws with the same covariance are as distinguishable as N(0,1) and N(μ,1). So the privacy curve of entry ℓ
for the values α and β is

    δ(ε) = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2),      μ = |α−β| √(A_ℓ^T Σ^{-1} A_ℓ).

The means do not matter (Claim 1). Known entries are left out of Σ. If A_ℓ lies outside the range of Σ, some combination
of the answers reveals t_ℓ, and μ is infinite. Otherwise the pseudo-inverse replaces Σ^{-1}.

*Noiseless privacy of entry ℓ.* Let `q = A_ℓ^T Σ^{-1} A_ℓ` and `z = A_ℓ^T Σ^{-1} y` for centred answers y. The
logarithm of the ratio of densities for α and β is `h(α) − h(β)` with `h(t) = z t − q t²/2`. Outside of `S_2 = {|t_ℓ|
> B}` its maximum is `max h − min h` on [−B, B]: `(|z| + qB)²/(2q)` if `|z| <= qB`, and `2B|z|` otherwise. So
`S_1 = {|z| > z*}` with `z* = √(2qε) − qB` if `ε <= 2qB²`, and `ε/(2B)` otherwise. z is normal with variance
`q + q² σ_ℓ²`. No smaller S_1 suffices for this `S_2`, so δ is exactly `P[|z| > z*] + P[|t_ℓ| > B]`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING, Any

from statpriv import budget
from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import as_items, is_list
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_fraction, as_positive, is_array, is_finite
from statpriv.numeric.intervals import exact, interval_context, rational_ends
from statpriv.numeric.literals import abridged, spelled
from statpriv.numeric.normal import normal_delta, two_sided_tail
from statpriv.theories.noiseless.diagonal_dominance import DominanceTest, gershgorin_test, leakage_test
from statpriv.theories.noiseless.guarantee import NoiselessGuarantee
from statpriv.theories.noiseless.integer_products import as_integers, integer_gram, integer_product, whole_doubles
from statpriv.theories.noiseless.quadratic_form import Bounds, quadratic_forms, root_bounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BITS = 160
_EXACT = 1 << 53
"""All integers up to this size are doubles."""
_CANDIDATES = 200
"""Bounds B that are tried in doubles before one is certified."""


class LinearQueries:
    """Linear queries on independent normal entries, exactly.

    Parameters
    ----------
    matrix : numpy array of two dimensions, or a list of rows
        One row for each query, one column for each entry. Coefficients are exact: a float is the rational it stores.
    variances : sequence, optional
        The variance of each entry, above 0; 1 by default. The means do not matter.
    known : iterable of int, optional
        Entries whose values are known, counted from 0.

    Raises
    ------
    ArgumentError
        Not a matrix, coefficients that are not numbers, or variances that are not above 0.

    Examples
    --------
    Two salaries in three sums; from the first and the second the third entry follows:

    >>> import statpriv as sp
    >>> sums = sp.noiseless.LinearQueries([[1, 1, 1, 1], [1, 1, 1, 0]])
    >>> sums.mu(entry=0, difference=1), sums.mu(entry=3, difference=1)
    (Enclosure(0.7071067811865475, 0.7071067811865476), Enclosure(float('inf'), float('inf')))
    """

    def __init__(
        self,
        matrix: Sequence[Sequence[Number]] | NDArray[Any],
        *,
        variances: Sequence[Number] | NDArray[Any] | None = None,
        known: Iterable[int] = (),
    ) -> None:
        self._coefficients, self._unit = _integer_matrix(matrix)
        self._variances = _variances(variances, self.entries)
        listed = as_items(known, "known", "a list of entries counted from 0, such as [0, 2], is required")
        self._known = frozenset(_entry(entry, self.entries, "known") for entry in listed)

    @property
    def queries(self) -> int:
        """The number m of queries."""
        return int(self._coefficients.shape[0])

    @property
    def entries(self) -> int:
        """The number n of entries, known ones included."""
        return int(self._coefficients.shape[1])

    def mu(self, *, entry: int, difference: Number) -> Enclosure:
        """The distance μ of the two normal laws of the answers.

        Parameters
        ----------
        entry : int
            The critical entry ℓ, counted from 0; not a known one.
        difference : float, int, Fraction, Decimal or str
            The difference `α − β` of its two values, of either sign.

        Returns
        -------
        Enclosure
            μ, a few ulps wide; infinite if the answers reveal the entry.
        """
        low, high = root_bounds(self._form(entry), abs(as_fraction(difference, "difference")))
        return Enclosure(low, high)

    def delta(self, epsilon: Number, *, entry: int, difference: Number) -> Enclosure:
        """δ of (ε, δ)-statistical privacy for two values of the entry with this difference; ε in nats, at least 0."""
        return normal_delta(epsilon, self.mu(entry=entry, difference=difference))

    def worst(self, *, difference: Number) -> tuple[int, Enclosure]:
        """The entry whose μ has the largest upper end, and an enclosure of the largest μ of all unknown entries.

        `difference` is that of the two values of the entry.

        Examples
        --------
        >>> import statpriv as sp
        >>> sp.noiseless.LinearQueries([[1, 2, 1, 1]]).worst(difference=1)
        (1, Enclosure(1.1547005383792515, 1.1547005383792517))
        """
        factor = abs(as_fraction(difference, "difference"))
        unknown = [entry for entry in range(self.entries) if entry not in self._known]
        if not unknown:
            raise ArgumentError(f"known has all {self.entries} entries; none is left to protect")
        forms = self._rough_forms(unknown)
        surely = max(low for low, _ in forms)
        candidates = [entry for entry, (_, high) in zip(unknown, forms, strict=True) if high >= surely]
        bounds = {entry: root_bounds(self._form(entry), factor) for entry in candidates[: budget.MAX_REFINED_ENTRIES]}
        worst = max(bounds, key=lambda entry: bounds[entry][1])
        if len(candidates) > budget.MAX_REFINED_ENTRIES:  # many entries with equal or nearly equal μ
            low, high = root_bounds((surely, max(high for _, high in forms)), factor)
            return worst, Enclosure(low, high)
        return worst, Enclosure(max(low for low, _ in bounds.values()), bounds[worst][1])

    def guarantee(self, epsilon: Number, *, entry: int, bound: Number | None = None) -> NoiselessGuarantee:
        """(ε, δ)-noiseless privacy of one entry, the explicit form of Theorems 10 and 11.

        Parameters
        ----------
        epsilon : float, int, Fraction, Decimal or str
            ε in nats, above 0.
        entry : int
            The critical entry, counted from 0.
        bound : float, int, Fraction, Decimal or str, optional
            B above 0: values further than B from the mean are excepted, `S_2 = {|t| > B}`. By default a B is chosen
            that makes δ small.

        Returns
        -------
        NoiselessGuarantee
            ε and δ, exact for the B that its `theorem` names.

        Examples
        --------
        >>> import numpy as np
        >>> import statpriv as sp
        >>> total = sp.noiseless.LinearQueries(np.ones((1, 10_000)))
        >>> found = total.guarantee(1, entry=0)
        >>> found.delta.upper < 1e-8
        True
        """
        level = as_positive(epsilon, "epsilon")
        form = self._form(entry)
        variance = self._variances[as_count(entry, "entry")]
        chosen = _best_bound(form, level, variance) if bound is None else as_positive(bound, "bound")
        theorem = f"Theorem 10 in explicit form, values further than {_short(chosen)} from the mean excepted"
        if not (is_finite(form[0]) and is_finite(form[1])):
            return NoiselessGuarantee(Enclosure(level), Enclosure(1), "noiseless", theorem)
        outside = _tail_beyond(chosen, variance)
        # z*/√(q + q²σ²) decreases in q, so the ends of q give the ends of the tail.
        least, most = (_tail_of_answers(Fraction(q), level, chosen, variance) for q in form)
        delta = outside + Enclosure(least.lower, most.upper)
        return NoiselessGuarantee(
            Enclosure(level), Enclosure(min(1.0, delta.lower), min(1.0, delta.upper)), "noiseless", theorem
        )

    def gershgorin(self) -> DominanceTest:
        """The hypotheses of Theorem 10 as printed, and the one that is missing in print, tested exactly.

        Returns
        -------
        DominanceTest
            Whether the printed test holds, and where it fails first. As printed, it is neither necessary nor sufficient
            for privacy; compare with :meth:`worst`.

        Examples
        --------
        >>> import statpriv as sp
        >>> queries = sp.noiseless.LinearQueries([[1, 1, 0, 0, 0, 0]])
        >>> queries.gershgorin().holds, queries.mu(entry=0, difference=1)
        (True, Enclosure(1.0, 1.0))
        """
        return gershgorin_test(as_integers(self._coefficients), self._unit)

    def leakage(self, known_fraction: Number) -> DominanceTest:
        """Test (14) of Theorem 11, its index corrected: dominance whichever ρn entries are known.

        `known_fraction` is ρ, from 0 to below 1.
        """
        share = as_fraction(known_fraction, "known_fraction")
        if not 0 <= share < 1:
            raise ArgumentError(f"known_fraction = {spelled(known_fraction)}; a number from 0 to below 1 is required")
        return leakage_test(as_integers(self._coefficients), self._unit, share)

    def __repr__(self) -> str:
        known = f", {len(self._known)} known" if self._known else ""
        return f"<LinearQueries: {self.queries} queries, {self.entries} normal entries{known}>"

    @cached_property
    def _gram(self) -> tuple[Any, int]:
        """`Σ_j σ_j² A_j A_j^T` of the unknown entries in integers, and the unit of the variances."""
        import numpy as np

        unknown = [j for j in range(self.entries) if j not in self._known]
        unit = lcm(*(value.denominator for value in set(self._variances)))
        counted = [int(self._variances[j] * unit) for j in unknown]
        columns = self._coefficients[:, unknown]
        if len(set(counted)) <= 1:
            return integer_gram(columns) * (counted[0] if counted else 1), unit
        return integer_product(as_integers(columns) * np.array(counted, dtype=object)[None, :], columns.T), unit

    def _form(self, entry: int) -> Bounds:
        """`A_ℓ^T Σ^{-1} A_ℓ`. The unit of the coefficients cancels; the unit of the variances does not."""
        import numpy as np

        index = _entry(entry, self.entries, "entry")
        if index in self._known:
            raise ArgumentError(f"entry = {index} is known, so there is nothing to protect; an unknown one is required")
        gram, unit = self._gram
        column = as_integers(self._coefficients[:, [index]])
        own = int(self._variances[index] * unit)
        (low, high), *_ = quadratic_forms(gram - own * np.outer(column, column), column)
        return low * unit, high * unit

    def _rough_forms(self, entries: list[int]) -> list[Bounds]:
        """The forms q of all entries at once: `σ² q = h/(1−h)` with the leverage `h = σ² A_ℓ^T Γ^{-1} A_ℓ`.

        Γ is the covariance matrix of all unknown entries.
        """
        gram, unit = self._gram
        found: list[Bounds] = []
        forms = quadratic_forms(gram, self._coefficients[:, entries], refined=False)
        for entry, (low, high) in zip(entries, forms, strict=True):
            own = self._variances[entry] * unit
            if not (is_finite(low) and is_finite(high)) or own * high >= 1:
                found.append(self._form(entry))
            else:
                found.append((low * unit / (1 - own * low), high * unit / (1 - own * high)))
        return found


def linear_mu(
    matrix: Sequence[Sequence[Number]] | NDArray[Any],
    *,
    entry: int,
    difference: Number,
    variances: Sequence[Number] | NDArray[Any] | None = None,
    known: Iterable[int] = (),
) -> Enclosure:
    """The distance μ of the answers to linear queries on normal data, for two values of one entry: `LinearQueries.mu`.

    The laws of the answers are as distinguishable as N(0,1) and N(μ,1), so their δ is
    `sp.differential.gaussian_delta(epsilon, mu=…)`.

    Parameters
    ----------
    matrix, variances, known
        As for :class:`LinearQueries`.
    entry, difference
        As for :meth:`LinearQueries.mu`.

    Returns
    -------
    Enclosure
        `μ = |α−β| √(A_ℓ^T Σ^{-1} A_ℓ)`; infinite if the answers reveal the entry.

    Raises
    ------
    ArgumentError
        Not a matrix, or an entry that does not exist or is known.

    Notes
    -----
    Source: *Noiseless Database Privacy*, Theorems 10 and 11 and Claim 1; the exact form is in the module docstring.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.noiseless.linear_mu([[1, 1, 1, 1, 1]], entry=0, difference=1)
    Enclosure(0.5, 0.5)
    >>> sp.noiseless.linear_mu([[1, 1, 0], [0, 1, 1], [1, 0, 1]], entry=0, difference=1)
    Enclosure(float('inf'), float('inf'))
    """
    return LinearQueries(matrix, variances=variances, known=known).mu(entry=entry, difference=difference)


def _integer_matrix(matrix: object) -> tuple[Any, Fraction]:
    """The coefficients as integers times one unit."""
    import numpy as np

    if not is_array(matrix):
        raise ArgumentError(f"matrix = {abridged(matrix)}; a list of rows, or an array of two dimensions, is required")
    array: Any = matrix if hasattr(matrix, "dtype") else np.array(_rows(matrix), dtype=object)
    if array.ndim != 2 or 0 in array.shape:
        raise ArgumentError(f"matrix has the shape {array.shape}; rows of coefficients, one an entry, are required")
    if array.dtype.kind in "iub":
        largest = max(abs(int(array.max())), abs(int(array.min())))
        return array.astype(np.float64 if largest <= _EXACT else object), Fraction(1)
    kinds = {float} if array.dtype.kind == "f" else set(map(type, array.flat))
    if kinds <= {int, float} and (kinds == {float} or _are_doubles(array)):
        doubles = array.astype(np.float64)
        for row, column in np.argwhere(~np.isfinite(doubles)):  # as_fraction raises for these
            as_fraction(float(doubles[row, column]), f"matrix[{row}][{column}]")
        integers, exponent = whole_doubles(doubles)
        return integers, Fraction(2) ** exponent
    read: dict[tuple[type, Any], Fraction] = {}  # typically there are few different coefficients
    for (row, column), value in np.ndenumerate(array):
        if not isinstance(value, Hashable) or (type(value), value) not in read:
            read[type(value), value] = as_fraction(value, f"matrix[{row}][{column}]")
    unit = lcm(*{exact.denominator for exact in read.values()})
    multiples = {key: exact.numerator * (unit // exact.denominator) for key, exact in read.items()}
    integers = np.array([multiples[type(value), value] for value in array.flat], dtype=object)
    return integers.reshape(array.shape), Fraction(1, unit)


def _are_doubles(array: NDArray[Any]) -> bool:
    """Whether all integers in the array are doubles."""
    return all(-_EXACT <= value <= _EXACT for value in array.flat if type(value) is int)


def _rows(matrix: Any) -> list[list[Any]]:  # noqa: ANN401  (what the user gave)
    rows = [list(row) if is_array(row) else row for row in matrix]
    for index, row in enumerate(rows):
        if not is_list(row) or not row:
            raise ArgumentError(f"matrix[{index}] = {abridged(row)}; a row of coefficients, one an entry, is required")
        if len(row) != len(rows[0]):
            raise ArgumentError(
                f"matrix has rows of {len(rows[0])} and of {len(row)} coefficients; one an entry is required"
            )
    return rows


def _variances(variances: object, entries: int) -> tuple[Fraction, ...]:
    if variances is None:
        return (Fraction(1),) * entries
    listed = as_items(variances, "variances", "a list of numbers above 0, one an entry, is required")
    if len(listed) != entries:
        raise ArgumentError(f"variances has {len(listed)} numbers for {entries} entries; one for each is required")
    return tuple(as_positive(value, f"variances[{index}]") for index, value in enumerate(listed))


def _entry(entry: object, entries: int, name: str) -> int:
    index = as_count(entry, name)  # type: ignore[arg-type]
    if index >= entries:
        raise ArgumentError(f"{name} = {index}; the entries are numbered 0 to {entries - 1}")
    return index


def _short(value: Fraction) -> str:
    """Four digits, also for numbers outside the range of doubles."""
    return f"{Decimal(value.numerator) / value.denominator:.4g}"


def _tail_beyond(bound: Fraction, variance: Fraction) -> Enclosure:
    """`P[|t| > B]` of an entry."""
    low, high = root_bounds((1 / variance, 1 / variance), bound)
    return Enclosure(two_sided_tail(Fraction(high)).lower, two_sided_tail(Fraction(low)).upper)


def _tail_of_answers(q: Fraction, epsilon: Fraction, bound: Fraction, variance: Fraction) -> Enclosure:
    """`P[|z| > z*]`: the probability of answers whose ratio exceeds e^ε for two values within the bound."""
    if q == 0:
        return Enclosure(0)
    context = interval_context(_BITS)
    if epsilon <= 2 * q * bound**2:
        threshold = context.sqrt(exact(context, 2 * q * epsilon)) - exact(context, q * bound)
    else:
        threshold = exact(context, epsilon / (2 * bound))
    low, high = rational_ends(threshold / context.sqrt(exact(context, q + q * q * variance)))
    if high <= 0:
        return Enclosure(1)
    return Enclosure(two_sided_tail(high).lower, two_sided_tail(max(Fraction(0), low)).upper)


def _best_bound(form: Bounds, epsilon: Fraction, variance: Fraction) -> Fraction:
    """A B that makes δ small, by a search in doubles. Any B is valid, so the search need not be certified."""
    q, sigma, target = float(form[1]), math.sqrt(variance), float(epsilon)

    def estimate(bound: float) -> float:
        if q == 0:
            return math.erfc(bound / sigma / math.sqrt(2))
        inside = math.sqrt(2 * q * target) - q * bound if target <= 2 * q * bound**2 else target / (2 * bound)
        spread = math.sqrt(q + q * q * sigma**2)
        return math.erfc(bound / sigma / math.sqrt(2)) + math.erfc(max(0.0, inside) / spread / math.sqrt(2))

    candidates = [sigma * 40 ** (i / _CANDIDATES) / 2 for i in range(_CANDIDATES + 1)]
    if math.isinf(q):
        return Fraction(candidates[0])
    return Fraction(min(candidates, key=estimate))
