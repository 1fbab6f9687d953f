"""The likelihood ratio of one answer, with an entry against without it: its curves, and where it lies."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from statpriv._native import Curve, Enclosure, Law, gaussian_delta
from statpriv.errors import ArgumentError
from statpriv.model.probabilities import probability_list
from statpriv.numeric.arguments import as_tuple
from statpriv.numeric.exact import Number, as_positive
from statpriv.numeric.intervals import exact, interval_context, rational_ends
from statpriv.numeric.literals import abridged
from statpriv.planning.sampling_error import root

__all__ = ["Answer", "OfSum", "Ratios", "as_distance", "of_noisy_sum", "stated_answer", "with_noise"]

Ratios: TypeAlias = Sequence[tuple[Fraction, Fraction]]
"""Values of a likelihood ratio with their probabilities without the entry."""

OfSum: TypeAlias = Callable[[int, int, Fraction], Enclosure]
"""δ of the sum of so many answers, where an entry is in so many of them, at an ε."""

_DEVIATIONS = 11
"""Reach of the ratio from the mean of its logarithm, in standard deviations; the mass beyond it is 1e-28."""


@dataclass(frozen=True)
class Answer:
    """One answer: its curves with the entry against without it, and in reverse; and where the ratio of both lies."""

    joined: Callable[[Fraction], Enclosure]
    left: Callable[[Fraction], Enclosure]
    curves: tuple[Curve, Curve]
    """The same in the kernel."""
    spread: float
    """About the standard deviation of Y."""
    reach: tuple[float, float]
    """Y is between these, but for a negligible part."""
    described: str
    ratios: tuple[tuple[Fraction, Fraction], ...] = ()
    """The values of Y with their probabilities, where they are few and known."""
    of_sum: OfSum | None = None
    """That of the sum, if it is known."""

    def delta(self, epsilon: Fraction) -> Enclosure:
        """The larger of both directions."""
        return max(self.joined(epsilon), self.left(epsilon), key=lambda delta: delta.upper)

    def put(self, x: Fraction) -> tuple[Fraction, Fraction]:
        """Both ends of `u(x)`: δ does not rise, so it is evaluated at both ends of `|ln x|`."""
        context = interval_context(64)
        low, high = rational_ends(context.log(exact(context, x)))
        if x <= 1:
            ends = self.left(max(Fraction(0), -low)).lower, self.left(max(Fraction(0), -high)).upper
            return x * Fraction(ends[0]), x * Fraction(ends[1])
        ends = self.joined(max(Fraction(0), high)).lower, self.joined(max(Fraction(0), low)).upper
        return x - 1 + Fraction(ends[0]), x - 1 + Fraction(ends[1])


def as_distance(sigma: Number | None, sensitivity: Number) -> Fraction:
    """μ: how far an entry moves an answer with normal noise, in standard deviations."""
    if sigma is None:
        raise ArgumentError("sigma and answer are both left out; the noise of an answer or its laws are required")
    return as_positive(sensitivity, "sensitivity") / as_positive(sigma, "sigma")


def of_noisy_sum(mu: Fraction) -> OfSum:
    """δ of a sum of answers with normal noise, each moved by μ or not at all: two normal laws at distance ``kμ/√m``."""

    def delta(answers: int, taken: int, epsilon: Fraction) -> Enclosure:
        distance = root(mu**2 * Fraction(taken**2, answers))
        low, high = (gaussian_delta(epsilon, mu=Fraction(end)) for end in (distance.lower, distance.upper))
        return Enclosure(low.lower, high.upper)

    return delta


def with_noise(sigma: Number | None, sensitivity: Number) -> Answer:
    """``ln Y ~ N(−μ²/2, μ²)``."""
    mu = as_distance(sigma, sensitivity)
    about = min(float(mu), 3.0)

    def delta(epsilon: Fraction) -> Enclosure:
        return gaussian_delta(epsilon, mu=mu)

    reach = math.exp(-_DEVIATIONS * about), math.exp(_DEVIATIONS * about)
    described = f"sigma is {float(1 / mu):.3g} times the sensitivity"
    still, moved = Law.table(0, [1]), Law.table(1, [1])
    curves = Curve.smoothed(moved, still, gaussian_sigma=1 / mu), Curve.smoothed(still, moved, gaussian_sigma=1 / mu)
    return Answer(delta, delta, curves, math.sqrt(math.expm1(about**2)), reach, described, of_sum=of_noisy_sum(mu))


def stated_answer(answer: Sequence[Sequence[Number]]) -> Answer:
    """The likelihood ratio has as many values as the answer."""
    required = "two sequences of probabilities, with the entry and without it, are required"
    first, second = (
        probability_list(law, f"answer[{index}]") for index, law in enumerate(as_tuple(answer, "answer", required))
    )
    if len(first) != len(second) or sum(first) != 1 or sum(second) != 1:
        raise ArgumentError(f"answer = {abridged(answer)}; {required}, as many in both, and each sums to exactly one")
    if any(p and not q for p, q in zip(first, second, strict=True)):
        raise ArgumentError(
            f"answer = {abridged(answer)}; each value that is possible with the entry must be so without"
        )
    laws = Law.table(0, first), Law.table(0, second)
    joined, left = Curve.answers(*laws), Curve.answers(*laws[::-1])
    masses: dict[Fraction, Fraction] = {}
    for p, q in zip(first, second, strict=True):
        if q:
            masses[p / q] = masses.get(p / q, Fraction(0)) + q
    spread = math.sqrt(sum((y - 1) ** 2 * q for y, q in masses.items()))
    reach = float(min(masses)), float(max(masses))
    return Answer(joined.delta, left.delta, (joined, left), spread, reach, "the answer is told", tuple(masses.items()))
