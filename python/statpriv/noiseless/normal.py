"""Tails of the normal law, and privacy of two normal laws at an enclosed distance."""

from __future__ import annotations

import math
from fractions import Fraction

from statpriv._native import gaussian_delta
from statpriv.differential.intervals import enclosure, exact, interval_context
from statpriv.enclosure import Enclosure
from statpriv.numbers import Number

__all__ = ["normal_delta", "two_sided_tail"]

_BITS = 120


def normal_delta(epsilon: Number, mu: Enclosure) -> Enclosure:
    """δ of two normal laws of variance one at distance μ; it grows with μ, and is 1 at infinity."""
    return Enclosure(_at(epsilon, mu.lower).lower, _at(epsilon, mu.upper).upper)


def _at(epsilon: Number, mu: float) -> Enclosure:
    if mu == 0:
        return Enclosure(0)
    return Enclosure(1) if math.isinf(mu) else gaussian_delta(epsilon, mu=mu)


def two_sided_tail(x: Fraction) -> Enclosure:
    """`P[|N| > x]` for a standard normal N and x >= 0.

    `P[|N| <= x] = 2Φ(x) − 1` is the total variation distance of two normal laws at distance 2x. Far out that
    cancels, and Mills' inequality is used: `2φ(x) x/(1+x²) <= P[|N| > x] <= 2φ(x)/x`.
    """
    if x == 0:
        return Enclosure(1)
    tail = 1 - gaussian_delta(0, mu=2 * x)
    low, high = max(0.0, tail.lower), min(1.0, tail.upper)
    if x >= 1:
        context = interval_context(_BITS)
        density = context.sqrt(2 / context.pi) * context.exp(-exact(context, x * x / 2))
        low = max(low, enclosure(density * exact(context, x / (1 + x * x))).lower)
        high = min(high, enclosure(density / exact(context, x)).upper)
    return Enclosure(low, high)
