"""A secret partition compared with Gaussian noise: the published comparison, and the exact one.

n entries are split at random into m parts of `s = n/m`, and one property of probability p is counted on each part. As
an estimate of the proportion among all entries, a count has the sampling error `σ = √(p q (1/s − 1/n))`. The question
is how many answers with *Gaussian noise* of the same error, each about all n entries (sensitivity 1/n), are as private.
The result depends on the accounting on both sides:

==========================  ===================================  ==============================================
privacy of the partition    privacy of the noise                 number of noisy answers
==========================  ===================================  ==============================================
Theorem 5.1, `Δ_s(ε)`       calibration of Kairouz et al.        as printed in the literature
Theorem 5.1, `Δ_s(ε)`       exact, `μ = √k/(n σ)`                many more: that calibration is loose
exact, `Δ_n(ε)`             exact                                m − 1 at p = 1/2: they are worth the same
==========================  ===================================  ==============================================

(The exact δ of all answers together is that of the total count, `Δ_n(ε)`, whatever m. And `k = m−1` answers have
`μ² = (m−1)/(n² p q (m−1)/n) = 1/(n p q)`, the distance of the normal law that the count of n entries is close to.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from statpriv._native import Enclosure
from statpriv.curves.comparison import Tabulated, data_frame
from statpriv.errors import ArgumentError, PrecisionError, UndecidedError
from statpriv.numeric.exact import Number, as_count, as_fraction, as_probability, is_array
from statpriv.numeric.intervals import enclosure, exact, interval_context
from statpriv.numeric.literals import show_number, spelled
from statpriv.theories.differential.gaussian import gaussian_distance, kairouz_queries

if TYPE_CHECKING:
    from pandas import DataFrame

_BITS = 120
_HEADING = ("ε", "parts", "σ", "δ by Theorem 5.1", "δ exactly", "#DP loose", "#DP exact", "#DP exact on both sides")


@dataclass(frozen=True)
class ComparedPartition:
    """One number of parts at one ε.

    Attributes
    ----------
    epsilon
        ε in nats, as it was given.
    parts
        How many parts the n entries are split into, and so how many counts are answered.
    sigma
        Root mean squared error of an answer by sampling, as a proportion.
    delta_by_theorem
        δ of all answers by Theorem 5.1.
    delta
        δ of all answers exactly: the partition is secret, every entry is used, the property is one.
    kairouz_queries
        Number of answers with Gaussian noise of error σ that the calibration of Kairouz, Oh and Viswanath allows at
        (ε, `delta_by_theorem`), not rounded.
    gaussian_queries
        Largest number of such answers that are (ε, `delta_by_theorem`)-differentially private, by exact accounting.
    gaussian_queries_at_exact_delta
        Largest number of such answers that are (ε, `delta`)-differentially private, by exact accounting.
    """

    epsilon: Number
    parts: int
    sigma: Enclosure
    delta_by_theorem: Enclosure
    delta: Enclosure
    kairouz_queries: Enclosure
    gaussian_queries: int
    gaussian_queries_at_exact_delta: int

    def _cells(self) -> list[str]:
        return [
            *(spelled(self.epsilon), str(self.parts), f"{self.sigma.upper:.4g}"),
            *(f"{self.delta_by_theorem.upper:.4e}", f"{self.delta.upper:.4e}", f"{self.kairouz_queries.lower:.2f}"),
            *(str(self.gaussian_queries), str(self.gaussian_queries_at_exact_delta)),
        ]


@dataclass(frozen=True)
class PartitionComparison(Tabulated):
    """A secret partition of n entries compared with Gaussian noise; rows by ε, then by the number of parts."""

    n: int
    p: Fraction
    rows: tuple[ComparedPartition, ...]

    def __iter__(self) -> Iterator[ComparedPartition]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> ComparedPartition:
        return self.rows[index]

    @property
    def _heading(self) -> tuple[str, ...]:
        return _HEADING

    def _cells(self) -> list[list[str]]:
        return [row._cells() for row in self.rows]  # noqa: SLF001  (its own rows)

    def __repr__(self) -> str:
        return f"<PartitionComparison of {len(self)} rows: n = {self.n}, p = {show_number(self.p)}>"

    def to_pandas(self) -> DataFrame:
        """The table as a pandas DataFrame, with columns `_lower` and `_upper` for the ends of each enclosure.

        Raises
        ------
        MissingExtraError
            pandas is not installed.
        """
        return data_frame(map(_flat, self.rows))


def compare(
    n: int, *, parts: int | Iterable[int], epsilon: Number | Iterable[Number], p: Number = Fraction(1, 2)
) -> PartitionComparison:
    """Counts on a secret partition compared with counts with Gaussian noise of the same error.

    Parameters
    ----------
    n : int
        Number of entries.
    parts : int or iterable of int
        Numbers of parts, from 2 to n/2, divisors of n.
    epsilon : float, int, Fraction, Decimal or str, or iterable of these
        ε in nats, above 0.
    p : float, int, Fraction, Decimal or str
        Probability of the property, above 0 and below 1.

    Returns
    -------
    PartitionComparison
        A table: it prints, and has `to_pandas()`; its rows are :class:`ComparedPartition`.

    Raises
    ------
    UndecidedError
        A number of answers is so close to an integer that δ in double precision does not decide the integer.

    Notes
    -----
    Tables 1 and 2 of Breutigam and Reischuk, *Parallel Composition for Statistical Privacy*, print σ, δ by Theorem 5.1
    and the loose #DP; the other columns are the exact accounting on one side and on both.

    Examples
    --------
    >>> import statpriv as sp
    >>> print(sp.differential.compare(32768, parts=[32, 512], epsilon="0.005"))
    ε      parts  σ        δ by Theorem 5.1  δ exactly   #DP loose  #DP exact  #DP exact on both sides
    0.005  32     0.01538  2.2574e-02        2.3574e-03  0.74       992        31
    0.005  512    0.06244  9.7338e-02        2.3574e-03  12.84      262155     511
    """
    size, probability = as_count(n, "n", least=4), as_probability(p, "p")
    if not 0 < probability < 1:
        raise ArgumentError(f"p = {spelled(p)}; a probability above 0 and below 1 is required")
    counts = [_divisor(m, size) for m in _several(parts)]
    rows = (_row(size, probability, count, each) for each in _several(epsilon) for count in counts)
    return PartitionComparison(size, probability, tuple(rows))


def _several(value: Any) -> list[Any]:  # noqa: ANN401  (one number or any iterable of numbers)
    return list(value) if is_array(value) or isinstance(value, Iterator) else [value]


def _divisor(parts: Number, n: int) -> int:
    count = as_count(parts, "parts", least=2)
    if n % count or n == count:
        raise ArgumentError(
            f"parts = {count}; a divisor of n = {n} is required that leaves parts of two or more entries"
        )
    return count


def _row(n: int, p: Fraction, parts: int, epsilon: Number) -> ComparedPartition:
    from statpriv.curves.build import compose, privacy_curve
    from statpriv.model.partitions import RandomPartition
    from statpriv.model.populations import Population
    from statpriv.model.queries.property import PropertyQuery

    size, question = n // parts, PropertyQuery(p, attribute="the property")
    variance = p * (1 - p) * (Fraction(1, size) - Fraction(1, n))
    by_theorem = privacy_curve(question, Population(size)).delta(epsilon)
    secret = RandomPartition([size] * parts)
    together = compose([question] * parts, Population(n), secret, bound="exact").delta(epsilon)
    for delta in (by_theorem, together):
        if delta.lower == 0:
            raise PrecisionError(f"epsilon = {spelled(epsilon)}; δ is below the doubles, there is nothing to compare")
    context = interval_context(_BITS)
    return ComparedPartition(
        epsilon=epsilon,
        parts=parts,
        sigma=enclosure(context.sqrt(exact(context, variance))),
        delta_by_theorem=by_theorem,
        delta=together,
        kairouz_queries=_loose(epsilon, by_theorem, variance, n),
        gaussian_queries=_as_private(epsilon, by_theorem, variance, n),
        gaussian_queries_at_exact_delta=_as_private(epsilon, together, variance, n),
    )


def _loose(epsilon: Number, delta: Enclosure, variance: Fraction, n: int) -> Enclosure:
    """The number of answers by the loose calibration. It increases in δ, so the ends of δ give its ends."""
    low, high = (
        kairouz_queries(epsilon, end, variance=variance, sensitivity=Fraction(1, n))
        for end in (delta.lower, delta.upper)
    )
    return Enclosure(low.lower, high.upper)


def _as_private(epsilon: Number, delta: Enclosure, variance: Fraction, n: int) -> int:
    """The largest number k of Gaussian answers of this variance that are (ε, δ)-private: `k/(n² σ²) <= μ²`."""
    target, scale = as_fraction(epsilon, "epsilon"), variance * n**2
    low, high = _distance(target, delta.lower).lower, _distance(target, delta.upper).upper
    least, most = (math.floor(Fraction(end) ** 2 * scale) for end in (low, high))
    if least != most:
        raise UndecidedError(
            f"epsilon = {spelled(epsilon)}: δ in doubles does not tell whether {least} or {most} answers with Gaussian "
            "noise are as private"
        )
    return least


@cache
def _distance(epsilon: Fraction, delta: float) -> Enclosure:
    return gaussian_distance(epsilon, delta)


def _flat(row: ComparedPartition) -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in vars(row).items():
        if isinstance(value, Enclosure):
            flat |= {f"{name}_lower": value.lower, f"{name}_upper": value.upper}
        else:
            flat[name] = value
    return flat
