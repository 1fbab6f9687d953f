"""Powers of e on a grid of privacy losses, enclosed by integers over one power of two.

Fixed point is all that is needed here, and integers round only where it is written.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Grid", "bits_for", "ceiling", "double_above", "double_below", "grid"]

_SPARE_BITS = 128
"""Beyond what the smallest number needs: for 2^20 roundings, and for the 53 bits of a double."""


def ceiling(numerator: int, denominator: int) -> int:
    """The least integer that is not below the quotient."""
    return -(-numerator // denominator)


def double_below(value: Fraction) -> float:
    """The largest double that is not above a value of at least 0."""
    nearest = value.numerator / value.denominator
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, 0.0)


def double_above(value: Fraction) -> float:
    """The least double that is not below a value of at least 0."""
    nearest = value.numerator / value.denominator
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


@dataclass(frozen=True)
class Grid:
    """For each index i from `first` on, integers with ``low[i] ≤ 2^bits · e^(i·step) ≤ high[i]``.

    The lists begin with the index `first`, which is at most 0, and contain index 0.
    """

    step: Fraction
    bits: int
    first: int
    low: list[int]
    high: list[int]

    @property
    def one(self) -> int:
        """The number 1 of the fixed point."""
        return 1 << self.bits

    def down(self, value: Fraction | float) -> int:
        """The value in fixed point, not rounded upwards."""
        numerator, denominator = value.as_integer_ratio()
        return (numerator << self.bits) // denominator

    def up(self, value: Fraction | float) -> int:
        """The value in fixed point, not rounded downwards."""
        numerator, denominator = value.as_integer_ratio()
        return ceiling(numerator << self.bits, denominator)

    def over_exponential(self, mass: Fraction | float, index: int) -> Fraction:
        """A rational just below ``mass · e^(−index·step)``."""
        return Fraction(mass) * self.one / self.high[index - self.first]


def bits_for(longest: Fraction) -> int:
    """Bits with which e^loss and e^−loss are held to 128 bits, up to a loss; log₂ e is less than 3/2."""
    return _SPARE_BITS + 3 * int(longest + 1)


def grid(step: Fraction, first: int, last: int, bits: int) -> Grid:
    """The grid of the indices from `first` ≤ 0 to `last` ≥ 0; `step` is above 0 and at most 1."""
    up_low, up_high = _exponential(step, bits)
    square = 1 << 2 * bits
    rising = _powers(up_low, up_high, last, bits)
    falling = _powers(square // up_high, ceiling(square, up_low), -first, bits)
    points = [*reversed(falling[1:]), *rising]
    return Grid(step, bits, first, [low for low, _ in points], [high for _, high in points])


def _exponential(step: Fraction, bits: int) -> tuple[int, int]:
    """e^step by its series: every term is less than half of the one before, from the second on.

    So what follows a term of index 1 or more is at most that term.
    """
    low = high = term_low = term_high = 1 << bits
    index = 0
    while term_high > 1 or index < 2:
        index += 1
        term_low = term_low * step.numerator // (step.denominator * index)
        term_high = ceiling(term_high * step.numerator, step.denominator * index)
        low += term_low
        high += term_high
    return low, high + term_high


def _powers(low: int, high: int, count: int, bits: int) -> list[tuple[int, int]]:
    """The enclosures of the powers from 0 to `count` of a number of which one is given."""
    power = (1 << bits, 1 << bits)
    powers = [power]
    for _ in range(count):
        power = (power[0] * low >> bits, -(-power[1] * high >> bits))
        powers.append(power)
    return powers
