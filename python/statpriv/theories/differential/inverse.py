"""The least ε of a curve that is only evaluated pointwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from statpriv._native import Enclosure


def least_epsilon(delta: Callable[[float], Enclosure], target: Fraction, *, most: Fraction | None = None) -> Enclosure:
    """The least ε >= 0 with `δ(ε) <= target`, for decreasing δ; `most` is an ε that is known to suffice.

    A comparison that rounding leaves undecided widens the enclosure at both ends.
    """
    if delta(0.0).upper <= target:
        return Enclosure(0)
    enough = math.inf if most is None else Enclosure(most).upper
    below, above = 0.0, min(1.0, enough)
    while above < enough and delta(above).upper > target:
        below, above = (above if delta(above).lower > target else below), min(2 * above, enough)
    while True:
        middle = below + (above - below) / 2
        if not below < middle < above:
            return Enclosure(below, above)
        found = delta(middle)
        if found.upper <= target:
            above = middle
        elif found.lower > target:
            below = middle
        else:
            return _both_ends(delta, target, below, middle, above)


def _both_ends(
    delta: Callable[[float], Enclosure], target: Fraction, below: float, between: float, above: float
) -> Enclosure:
    """The enclosure if one point in between is undecided: each end is then bisected separately."""
    low, high = between, between
    while below < (middle := below + (low - below) / 2) < low:
        below, low = (middle, low) if delta(middle).lower > target else (below, middle)
    while high < (middle := high + (above - high) / 2) < above:
        high, above = (high, middle) if delta(middle).upper <= target else (middle, above)
    return Enclosure(below, above)
