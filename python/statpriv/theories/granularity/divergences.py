"""Distances of two finite laws in zero-concentrated and in Gaussian differential privacy.

Let P and Q be laws of rational probabilities.

**The least ρ with `D_α(P‖Q) <= ρα` for all α > 1.** With `s = α − 1` and `K(s) = ln Σ P (P/Q)^s` it is the supremum of
`f(s) = K(s)/(s(s+1))` over s > 0. K is convex and K(0) = 0. So on [a, b] it lies below its chord `u + vs`, where
`u <= 0 <= v`, and

    f(s) <= g(s) = u/s + (v−u)/(s+1),

g increases up to the point where `(s+1)/s = √((v−u)/|u|)`, takes its maximum `(√(v−u) − √|u|)²` there, and decreases
beyond it. For a = 0 the bound is `v = K(b)/b`, the Rényi divergence of order 1 + b. The limit of f at 0 is the
Kullback–Leibler divergence, and `f(s) <= D_∞/(s+1)`. The interval with the largest bound is bisected until this bound
is close to the largest value of f found.

**The least μ with `T(P, Q) >= G_μ`.** The trade-off function T(P, Q) is piecewise linear. Its knots are the errors
(α, β) of the deterministic likelihood ratio tests (Neyman and Pearson). G_μ is convex, so it lies below T everywhere if
it does at the knots, and

    μ = max Φ^{-1}(1−α) − Φ^{-1}(β)

over the knots. μ is the same for (P, Q) and (Q, P). It is infinite if one law has an answer that the other excludes.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from fractions import Fraction
from heapq import heappop, heappush
from itertools import accumulate
from typing import Any, TypeAlias

from statpriv import budget
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.intervals import enclosure, exact, interval_context
from statpriv.numeric.normal import normal_quantile

Law: TypeAlias = "Mapping[Hashable, Fraction]"
"""The positive probabilities of answers."""

_BITS = 256
_WIDTH = 1 + 2.0**-20
"""Target ratio of the upper and the lower end of ρ."""


def least_rho(law: Law, other: Law) -> Enclosure:
    """The least ρ with `D_α(P‖Q) <= ρα` for all α > 1; infinite if Q excludes an answer of P.

    >>> from fractions import Fraction
    >>> spinner, other = {0: Fraction(1, 4), 1: Fraction(3, 4)}, {0: Fraction(3, 4), 1: Fraction(1, 4)}
    >>> print(f"{least_rho(spinner, other).lower:.6f}")  # ln(3)/2, as α tends to 1
    0.549306
    """
    if not law.keys() <= other.keys():
        return Enclosure(math.inf)
    if law == other:
        return Enclosure(0)
    growth = _Growth(law, other)
    at_zero = growth.derivative_at_zero()
    if at_zero.lower <= 0:  # the loss is too small for the precision; f is at most D_∞
        return Enclosure(0, growth.largest.upper)
    # For s beyond `last`, f(s) <= D_∞/(s+1) is below the value at zero.
    last = Fraction(growth.largest.upper / at_zero.lower + 1)
    value = growth.at(last)
    best = max(at_zero.lower, _ratio(last, value).lower)
    open_intervals = [_piece(Fraction(0), None, last, value)]
    for _ in range(budget.MAX_RHO_INTERVALS):
        bound, a, at_a, b, at_b = open_intervals[0]
        if -bound <= best * _WIDTH:
            break
        heappop(open_intervals)
        middle = 2 * a if a and b > 4 * a else (a + b) / 2
        value = growth.at(middle)
        best = max(best, _ratio(middle, value).lower)
        heappush(open_intervals, _piece(a, at_a, middle, value))
        heappush(open_intervals, _piece(middle, value, b, at_b))
    return Enclosure(best, max(best, -open_intervals[0][0]))


class _Growth:
    """`K(s) = ln Σ P (P/Q)^s`, enclosed."""

    def __init__(self, law: Law, other: Law) -> None:
        self._context = interval_context(_BITS)
        self._terms = [
            (exact(self._context, mass), self._context.log(exact(self._context, mass / other[answer])))
            for answer, mass in law.items()
        ]
        self.largest = enclosure(
            self._context.log(exact(self._context, max(mass / other[answer] for answer, mass in law.items())))
        )

    def derivative_at_zero(self) -> Enclosure:
        """The Kullback–Leibler divergence."""
        return enclosure(sum((mass * loss for mass, loss in self._terms), self._context.mpf(0)))

    def at(self, s: Fraction) -> Any:  # noqa: ANN401  (mpmath has no types)
        """K(s) as an interval."""
        power = exact(self._context, s)
        return self._context.log(
            sum((mass * self._context.exp(power * loss) for mass, loss in self._terms), self._context.mpf(0))
        )


_Piece: TypeAlias = tuple[float, Fraction, Any, Fraction, Any]


def _piece(a: Fraction, at_a: Any, b: Fraction, at_b: Any) -> _Piece:  # noqa: ANN401
    """An interval of s with K at its ends, preceded by the negative of a bound of f on it (the key of the heap)."""
    context = interval_context(_BITS)
    if not a:
        return -enclosure(at_b / exact(context, b)).upper, a, at_a, b, at_b
    v = (at_b - at_a) / exact(context, b - a)
    below = exact(context, a) * v - at_a  # −u
    above = v + below
    ends = max(_ratio(a, at_a).upper, _ratio(b, at_b).upper)
    root, other = (context.sqrt(context.mpf([max(x.a, 0), max(x.b, 0)])) for x in (below, above))
    # The peak is at s = √|u| / (√(v−u) − √|u|). It is below a if `√|u| < a (√(v−u) − √|u|)`.
    gap = other - root
    if (root < exact(context, a) * gap) is True or (root > exact(context, b) * gap) is True:
        return -ends, a, at_a, b, at_b
    return -max(ends, enclosure(gap * gap, least=0).upper), a, at_a, b, at_b


def _ratio(s: Fraction, value: Any) -> Enclosure:  # noqa: ANN401
    """f(s) from K(s)."""
    return enclosure(value / exact(interval_context(_BITS), s * (s + 1)), least=0)


def least_mu(law: Law, other: Law) -> Enclosure:
    """The least μ with `T(P, Q) >= G_μ`; infinite if one law has an answer that the other excludes.

    >>> from fractions import Fraction
    >>> spinner, other = {0: Fraction(1, 4), 1: Fraction(3, 4)}, {0: Fraction(3, 4), 1: Fraction(1, 4)}
    >>> print(f"{least_mu(spinner, other).upper:.6f}")
    1.348980
    """
    if law.keys() != other.keys():
        return Enclosure(math.inf)
    likeliest = sorted(law, key=lambda answer: other[answer] / law[answer], reverse=True)
    rejected = list(accumulate(law[answer] for answer in likeliest))[:-1]
    accepted = [1 - mass for mass in accumulate(other[answer] for answer in likeliest)][:-1]
    # Φ^{-1}(1−α) is the quantile of the upper tail α, and −Φ^{-1}(β) that of the upper tail β.
    found = [normal_quantile(alpha) + normal_quantile(beta) for alpha, beta in zip(rejected, accepted, strict=True)]
    return Enclosure(max([0.0, *(mu.lower for mu in found)]), max([0.0, *(mu.upper for mu in found)]))
