"""The least ε at which a sum of curves, or a bound, is at most a target."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from statpriv import budget
from statpriv.numeric.enclosure import Enclosure

_HALVINGS = 60
"""Halvings of a bracket. Every comparison is certified: more halvings only narrow the enclosure."""


def least_epsilon(delta: Callable[[float], tuple[Fraction, Fraction]], target: Fraction) -> Enclosure:
    """The point where a nonincreasing function falls to `target`; infinite if no such ε up to 1024 is found.

    Parameters
    ----------
    delta : callable
        A function from ε to two numbers that enclose the value. Only the enclosed function must be nonincreasing.
    target : Fraction
        δ, at least 0.

    Examples
    --------
    >>> least_epsilon(lambda at: (1 - Fraction(at), 1 - Fraction(at)), Fraction(1, 4))
    Enclosure(0.7499999999999999, 0.75)
    """

    def surely_above(at: float) -> bool:
        return delta(at)[0] > target

    def perhaps_above(at: float) -> bool:
        return delta(at)[1] > target

    if not perhaps_above(0.0):
        return Enclosure(0.0, 0.0)
    high = 1.0
    while perhaps_above(high):
        if high == budget.MAX_SOUGHT_EPSILON:
            return Enclosure(_bracket(surely_above, 0.0, high)[0], math.inf)
        high *= 2
    low = _bracket(surely_above, 0.0, high)[0]
    return Enclosure(low, _bracket(perhaps_above, low, high)[1])


def _bracket(above: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """A narrow bracket: `above` fails at its upper end unless that is `high`, and holds at its lower unless `low`."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle) else (low, middle)
    return low, high
