"""The accuracy of an answer as an estimate of the proportion in the population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from statpriv.errors import ArgumentError
from statpriv.model.queries.property import PropertyQuery
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_fraction, as_positive
from statpriv.numeric.literals import literal, spelled
from statpriv.numeric.transcendental import logarithm_ends
from statpriv.planning.sampling_error import root, worst_variance


@dataclass(frozen=True)
class Accuracy:
    """The largest allowed distance between the proportion in a part and that in the population."""

    target: Fraction
    confidence: Fraction | None
    """None for a root mean squared error as the target; otherwise the confidence of an interval of given half width."""

    def __str__(self) -> str:
        if self.confidence is None:
            return f"a root mean squared error of {literal(self.target)}"
        return f"a half width of {literal(self.target)} at confidence {literal(self.confidence)}"

    def squared_error(self, variance: Fraction, size: int, rows: int) -> Fraction:
        """The squared error, or an upper bound on it; it must be at most the square of the target.

        The mean squared error is p(1−p)(1/s − 1/n) (Example 2). The half width t of an interval with confidence 1−α is
        that of Serfling's inequality, P[|mean − truth| ≥ t] ≤ 2 exp(−2 s t²/(1 − (s−1)/n)), valid for any table of
        zeros and ones. If all entries answer, the proportion is exact.
        """
        if size == rows:
            return Fraction(0)
        if self.confidence is None:
            return variance * (Fraction(1, size) - Fraction(1, rows))
        logarithm = logarithm_ends(2 / (1 - self.confidence))[1]
        return logarithm * (1 - Fraction(size - 1, rows)) / (2 * size)


def accuracy_of(rmse: Number | None, half_width: Number | None, confidence: Number) -> Accuracy | None:
    """The accuracy requested by at most one of the two arguments, or None."""
    exact = as_fraction(confidence, "confidence")
    if not 0 < exact < 1:
        raise ArgumentError(f"confidence = {spelled(confidence)}; a number above 0 and below 1 is required")
    if rmse is not None and half_width is not None:
        raise ArgumentError(f"rmse = {spelled(rmse)} and half_width = {spelled(half_width)}; give only one of them")
    if rmse is not None:
        return Accuracy(as_positive(rmse, "rmse"), None)
    return None if half_width is None else Accuracy(as_positive(half_width, "half_width"), exact)


def variance_of(query: PropertyQuery, n: int) -> Fraction:
    """p(1−p) at the worst p of the range; where each of the n entries has its own, n/(n−1) times that."""
    return worst_variance(query.lower, query.upper, n, each=query.each_own)


def root_mean_squared_error(queries: Sequence[PropertyQuery], sizes: Sequence[int], n: int) -> Enclosure:
    """The largest error of a proportion in a part, with each query at its worst p (Example 2)."""
    asked = set(zip(queries, sizes, strict=True))
    return root(max(variance_of(query, n) * (Fraction(1, size) - Fraction(1, n)) for query, size in asked))
