"""The Rényi divergence of a privacy curve.

With ``H(x) = Δ_{v,w}(ln x)`` and ``H'(x) = Δ_{w,v}(ln x)`` for x ≥ 1,

    E_{P_w}[(P_v/P_w)^α] = 1 + α(α−1) ∫_1^∞ (x^{α−2} H(x) + x^{−α−1} H'(x)) dx,

which is Taylor's formula for ``t^α`` around 1 with the hockey sticks as remainders (Sason and Verdú, *f-Divergence
Inequalities*, on the integral representation of f-divergences). H is convex and falls, so that between two points it
lies below their chord and above the chord of the next two, extended. Where H vanishes from a finite ε on, nothing is
left out; where it does not, finitely many values of H do not show that the divergence is finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from statpriv._native import Enclosure
from statpriv.numbers import as_fraction

__all__ = ["renyi_divergence"]

_PRECISION = 120


def renyi_divergence(
    order: Fraction, epsilons: Sequence[float], forward: Sequence[Enclosure], backward: Sequence[Enclosure]
) -> Enclosure:
    """``ln(E[...])/(α−1)`` from H and H' at these ε, the first 0, the last one where both are zero."""
    from mpmath import MPIntervalContext

    context = MPIntervalContext()
    context.prec = _PRECISION
    low, high = _moment_bounds(context, order, epsilons, forward, backward)
    bounds = [context.log(context.mpf([max(1, end), end])) / _interval(context, order - 1) for end in (low, high)]
    ends = [_fractions(bound) for bound in bounds]
    return Enclosure(max(Fraction(0), ends[0][0]), ends[1][1])


def _moment_bounds(
    context: Any,  # noqa: ANN401  (mpmath's interval contexts have no type)
    order: Fraction,
    epsilons: Sequence[float],
    forward: Sequence[Enclosure],
    backward: Sequence[Enclosure],
) -> tuple[Any, Any]:
    """Lower and upper bound of the expectation, as ends of intervals."""
    points = [context.exp(context.mpf(epsilon)) for epsilon in epsilons]
    factor = _interval(context, order * (order - 1))
    low = high = context.mpf(0)
    for values, exponent in ((forward, order - 2), (backward, -order - 1)):
        for index in range(len(points) - 1):
            lower, upper = _cell(context, points, values, index, exponent)
            low, high = low + lower, high + upper
    return (1 + factor * low).a, (1 + factor * high).b


def _cell(
    context: Any,  # noqa: ANN401
    points: Sequence[Any],
    values: Sequence[Enclosure],
    index: int,
    exponent: Fraction,
) -> tuple[Any, Any]:
    """Bounds of ``∫ x^exponent H(x) dx`` between two neighbouring points."""
    left, right = points[index], points[index + 1]
    mass, moment = _integrals(context, left, right, exponent)
    start, end = context.mpf(values[index].upper), context.mpf(values[index + 1].upper)
    slope = (end - start) / (right - left)
    upper = (start - slope * left) * mass + slope * moment
    least = context.mpf(values[index + 1].lower)
    lower = least * mass
    if index + 2 < len(points):
        # The next chord, extended to the left: steeper ends of what is known of it would only lower it.
        rise = context.mpf(values[index + 2].upper) - least
        slope = rise / (points[index + 2] - right)
        extended = (least - slope * right) * mass + slope * moment
        lower = extended if extended.a > lower.a else lower
    return lower, upper


def _integrals(context: Any, left: Any, right: Any, exponent: Fraction) -> tuple[Any, Any]:  # noqa: ANN401
    """``∫ x^e dx`` and ``∫ x^{e+1} dx``."""

    def between(power: Fraction) -> Any:  # noqa: ANN401
        if power == 0:
            return context.log(right) - context.log(left)
        exact = _interval(context, power)
        return (context.exp(exact * context.log(right)) - context.exp(exact * context.log(left))) / exact

    return between(exponent + 1), between(exponent + 2)


def _interval(context: Any, value: Fraction) -> Any:  # noqa: ANN401
    return context.mpf(value.numerator) / context.mpf(value.denominator)


def _fractions(interval: Any) -> tuple[Fraction, Fraction]:  # noqa: ANN401
    from mpmath import mp

    low, high = (as_fraction(mp.make_mpf(end), "end") for end in interval._mpi_)
    return low, high
