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
    low, high = (Enclosure(1) if math.isinf(end) else gaussian_delta(epsilon, mu=end) for end in (mu.lower, mu.upper))
    return Enclosure(low.lower, high.upper)


def two_sided_tail(x: Fraction) -> Enclosure:
    """`P[|N| > x]` for a standard normal N and x >= 0.

    `P[|N| <= x] = 2Φ(x) − 1` is the total variation distance of two normal laws at distance 2x. Far out that
    cancels, and Mills' inequality is used: `2φ(x) x/(1+x²) <= P[|N| > x] <= 2φ(x)/x`.
    """
    tail = 1 - gaussian_delta(0, mu=2 * x)
    low, high = max(0.0, tail.lower), min(1.0, tail.upper)
    if x >= 1:
        context = interval_context(_BITS)
        density = context.sqrt(2 / context.pi) * context.exp(-exact(context, x * x / 2))
        low = max(low, enclosure(density * exact(context, x / (1 + x * x))).lower)
        high = min(high, enclosure(density / exact(context, x)).upper)
    return Enclosure(low, high)
