"""The hockey stick of the masses in a `PrivacyLossDistribution`, in balls: every mass is taken as an exact rational.

This module shares no code with the export. The hockey stick at ε is ``m_∞ + Σ_{ih > ε} m_i (1 − e^{ε − ih})``.
"""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction

import flint

BITS = 600


def ball(value: Fraction | float) -> flint.arb:
    exact = Fraction(value)
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


def mpf_ball(value) -> flint.arb:
    """An mpmath number exactly."""
    sign, mantissa, exponent, _ = value._mpf_
    return ball(Fraction((-1) ** sign * int(mantissa)) * Fraction(2) ** exponent)


class ExactMasses:
    """One direction of a distribution; the sums of the masses beyond each index are computed once."""

    def __init__(self, pmf) -> None:
        dense = pmf.to_dense_pmf()
        self.interval = Fraction(dense._discretization)
        self.masses = {dense._lower_loss + k: Fraction(float(m)) for k, m in enumerate(dense._probs) if m != 0}
        self.infinity = Fraction(float(dense._infinity_mass))
        self._sum()

    def _sum(self) -> None:
        with flint.ctx.workprec(BITS):
            self.indices = sorted(self.masses)
            sums = [(ball(self.infinity), flint.arb(0))]
            for index in reversed(self.indices):
                mass, (first, second) = ball(self.masses[index]), sums[-1]
                sums.append((first + mass, second + mass * (-ball(index * self.interval)).exp()))
            self.beyond = sums[::-1]

    def scaled(self, factor: Fraction) -> ExactMasses:
        """All masses multiplied by a factor."""
        changed = object.__new__(ExactMasses)
        changed.interval, changed.infinity = self.interval, self.infinity * factor
        changed.masses = {index: mass * factor for index, mass in self.masses.items()}
        changed._sum()
        return changed

    def composed(self, other: ExactMasses) -> ExactMasses:
        """The exact convolution."""
        result = object.__new__(ExactMasses)
        result.interval = self.interval
        result.infinity = 1 - (1 - self.infinity) * (1 - other.infinity)
        result.masses = {}
        for i, first in self.masses.items():
            for j, second in other.masses.items():
                result.masses[i + j] = result.masses.get(i + j, Fraction(0)) + first * second
        result._sum()
        return result

    def total(self) -> Fraction:
        return sum(self.masses.values(), self.infinity)

    def hockey_stick(self, epsilon: Fraction | float) -> flint.arb:
        with flint.ctx.workprec(BITS):
            first, second = self.beyond[bisect_right(self.indices, Fraction(epsilon) / self.interval)]
            return first - ball(epsilon).exp() * second
