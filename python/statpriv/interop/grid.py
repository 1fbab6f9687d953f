"""Powers of e on a grid of privacy losses, enclosed by integers over one power of two.

Fixed-point arithmetic suffices here, and integers make every rounding explicit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

_SPARE_BITS = 128
"""Bits beyond those of the smallest number, for 2^20 roundings and the 53 bits of a double."""


def ceiling(numerator: int, denominator: int) -> int:
    """The least integer not below the quotient."""
    return -(-numerator // denominator)


def double_below(value: Fraction) -> float:
    """The largest double not above a value of at least 0."""
    nearest = value.numerator / value.denominator
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, 0.0)


def double_above(value: Fraction) -> float:
    """The least double not below a value of at least 0."""
    nearest = value.numerator / value.denominator
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


@dataclass(frozen=True)
class Grid:
    """For each index i from `first` on, integers with ``low[i] ≤ 2^bits · e^(i·step) ≤ high[i]``.

    Both lists begin with the index `first`, which is at most 0, and contain index 0.
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
        """A fixed-point number at most the value."""
        numerator, denominator = value.as_integer_ratio()
        return (numerator << self.bits) // denominator

    def up(self, value: Fraction | float) -> int:
        """A fixed-point number at least the value."""
        numerator, denominator = value.as_integer_ratio()
        return ceiling(numerator << self.bits, denominator)

    def over_exponential(self, mass: Fraction | float, index: int) -> Fraction:
        """A rational just below ``mass · e^(−index·step)``."""
        return Fraction(mass) * self.one / self.high[index - self.first]


def bits_for(longest: Fraction) -> int:
    """Bits that hold e^loss and e^−loss to 128 bits, up to the longest loss; log₂ e is less than 3/2."""
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
    """e^step by its series: from the second term on, every term is less than half of its predecessor.

    The remainder after a term of index 1 or more is therefore at most that term.
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
    """Enclosures of the powers 0 to `count` of a number enclosed by `low` and `high`."""
    power = (1 << bits, 1 << bits)
    powers = [power]
    for _ in range(count):
        power = (power[0] * low >> bits, -(-power[1] * high >> bits))
        powers.append(power)
    return powers
