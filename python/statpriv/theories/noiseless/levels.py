"""Ratios of probabilities and their ε: `ratio <= e^ε` is decided exactly, without rounding."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from statpriv.errors import ArgumentError
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_fraction, as_nonnegative, is_finite
from statpriv.numeric.intervals import enclosure, exact, interval_context, rational_ends
from statpriv.numeric.literals import spelled

Ratio: TypeAlias = "Fraction | float"
"""An exact ratio of two probabilities: a Fraction, or the float infinity."""

_BITS = 96


def quotient(numerator: Fraction | int, denominator: Fraction | int) -> Ratio:
    """`numerator / denominator` of two numbers of at least 0, not both 0."""
    return math.inf if denominator == 0 else Fraction(numerator) / denominator


def larger_of(ratios: Iterable[Ratio]) -> Ratio:
    """The largest ratio, at least one."""
    return max(ratios, default=Fraction(1))


def log_ratio(ratio: Ratio) -> Enclosure:
    """`ln(ratio)` in nats of a ratio above 0.

    The logarithm of `1 + x` has about `log2(1/|x|)` leading zero bits, so the precision is raised by that many bits.

    >>> log_ratio(Fraction(1)), log_ratio(math.inf)
    (Enclosure(0.0, 0.0), Enclosure(float('inf'), float('inf')))
    """
    if not is_finite(ratio):
        return Enclosure(math.inf)
    if ratio == 1:
        return Enclosure(0)
    away = abs(ratio - 1)
    context = interval_context(_BITS + 64 * (max(0, away.denominator.bit_length() - away.numerator.bit_length()) // 64))
    return enclosure(context.log(exact(context, ratio)))


@dataclass(frozen=True)
class Level:
    """A bound `e^ε` for ratios, where ε or e^ε is rational."""

    epsilon: Fraction | None
    factor: Fraction | None

    def holds(self, ratio: Ratio) -> bool:
        """Whether `ratio <= e^ε`.

        e^ε is irrational for a rational ε other than 0 (Lindemann), so a sufficient precision always decides.
        """
        if not is_finite(ratio):
            return False
        if self.factor is not None:
            return ratio <= self.factor
        if self.epsilon is not None and self.epsilon >= ratio.numerator.bit_length():
            return True  # the ratio is at most its numerator, which is below 2^bit_length <= e^ε
        bits = _BITS
        while True:
            low, high = self.ends(bits)
            if ratio <= low:
                return True
            if ratio > high:
                return False
            bits *= 2

    @property
    def shown(self) -> Enclosure:
        """ε itself, in nats."""
        return Enclosure(self.epsilon) if self.epsilon is not None else log_ratio(self.ends()[0])

    def ends(self, bits: int = _BITS) -> tuple[Fraction, Fraction]:
        """Bounds of e^ε."""
        if self.factor is not None:
            return self.factor, self.factor
        context = interval_context(bits)
        return rational_ends(context.exp(exact(context, self.epsilon or Fraction(0))))


def level_of(epsilon: Number | None, exp_epsilon: Number | None) -> Level:
    """The level given by the caller: either ε of at least 0, or e^ε of at least 1."""
    if (epsilon is None) == (exp_epsilon is None):
        given = "neither is given" if epsilon is None else f"epsilon = {epsilon} and exp_epsilon = {exp_epsilon}"
        raise ArgumentError(f"either epsilon or exp_epsilon is required; {given}")
    if exp_epsilon is not None:
        factor = as_fraction(exp_epsilon, "exp_epsilon")
        if factor < 1:
            raise ArgumentError(f"exp_epsilon = {spelled(exp_epsilon)}; a number of at least 1 is required")
        return Level(None, factor)
    assert epsilon is not None  # noqa: S101  (for the type checker)
    exact_epsilon = as_nonnegative(epsilon, "epsilon")
    return Level(exact_epsilon, Fraction(1) if exact_epsilon == 0 else None)
