"""The count of the entries that may include the critical one, for one law, a range of one, or a law for each entry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import isqrt
from typing import Protocol

from statpriv._native import Curve
from statpriv.distributions import laws
from statpriv.model.ranges import Stated, ends, is_each
from statpriv.model.situation import Pair

FEW = 24
"""Up to so many others, every number of them is told apart."""
FALLING = (-8, -6, -5, -4, -3, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 2, 3)
"""Beyond that, the numbers in standard deviations from the mean between which they are told apart."""


class OwnCount(Protocol):
    """Curves of the count of entries that are treated alike."""

    def of(self, size: int, pair: Pair) -> Curve:
        """The curve for `size` entries."""

    def at_a_rate(self, size: int, rate: Fraction, pair: Pair) -> Curve:
        """The curve for the critical entry and the sampled others, each sampled at this rate."""

    def drawn(self, population: int, known: int, size: int, pair: Pair) -> Curve:
        """The curve for a sample with the critical entry; `known` of the population's other entries are known."""


def count_of(p: Stated) -> OwnCount:
    """The count of entries with this probability, or with probabilities in this range."""
    return CountOfEach(*ends(p)) if is_each(p) else CountOfOwn(*ends(p))


@dataclass(frozen=True)
class CountOfOwn:
    """The count of entries that share a probability in the range."""

    lower: Fraction
    upper: Fraction

    def of(self, size: int, pair: Pair) -> Curve:
        """The curve for `size` entries."""
        return Curve.count(size=size, lower=self.lower, upper=self.upper, pair=pair)

    def at_a_rate(self, size: int, rate: Fraction, pair: Pair) -> Curve:
        """The curve for the critical entry and the sampled others, each sampled at this rate."""
        return Curve.irrelevant_entries(
            size=size, others=size - 1, irrelevant=1 - rate, lower=self.lower, upper=self.upper, pair=pair
        )

    def drawn(self, population: int, known: int, size: int, pair: Pair) -> Curve:
        """The curve for a sample with the critical entry; `known` of the population's other entries are known."""
        return Curve.known_entries(
            population=population, known=known, size=size, lower=self.lower, upper=self.upper, pair=pair
        )


@dataclass(frozen=True)
class CountOfEach:
    """The count of entries that each have a probability of their own in the range.

    δ does not rise with the number of others, since an entry more can be revealed. So the mean over a random number of
    them is at most that with the least number of each interval, and rises if the law of the number is replaced by a
    stochastically smaller one: its distribution function by upper bounds.
    """

    lower: Fraction
    upper: Fraction

    def of(self, size: int, pair: Pair) -> Curve:
        """The curve for `size` entries."""
        return Curve.each_in_range(others=size - 1, lower=self.lower, upper=self.upper, pair=pair)

    def roughly(self, size: int, pair: Pair) -> Curve:
        """The same for `size` entries, within about two per cent where they are many, or four below a millionth."""
        return Curve.each_in_range(others=size - 1, lower=self.lower, upper=self.upper, pair=pair, rough=True)

    def at_a_rate(self, size: int, rate: Fraction, pair: Pair) -> Curve:
        """A bound for the critical entry and the sampled others, each sampled at this rate."""
        return mean_at_a_rate(size - 1, rate, lambda others: self.of(others + 1, pair))

    def drawn(self, population: int, known: int, size: int, pair: Pair) -> Curve:
        """A bound for a sample with the critical entry; `known` of the population's other entries are known."""
        return mean_of_drawn(population, known, size, lambda unknown: self.of(unknown + 1, pair))


def mean_of_drawn(population: int, known: int, size: int, of: Callable[[int], Curve]) -> Curve:
    """A bound of the mean of `of` over how many unknown others share a sample of this size with the critical entry.

    `known` of the population's other entries are known. `of` must not rise with the number of unknown ones.
    """
    others = population - 1
    if not known:
        return of(size - 1)
    least, most = max(0, size - 1 - known), min(size - 1, others - known)

    def at_most(m: int) -> Fraction:
        tail = laws.hypergeometric_upper_tail(size - 1 - m, population=others, marked=known, draws=size - 1)
        return Fraction(tail.upper)

    mean = Fraction((size - 1) * (others - known), others)
    return _mean(_starts(least, most, (mean, mean * Fraction(known, others))), at_most, of)


def mean_at_a_rate(others: int, rate: Fraction, of: Callable[[int], Curve]) -> Curve:
    """A bound of the mean of `of` over how many of the others are sampled, each at this rate.

    `of` must not rise with that number.
    """

    def at_most(m: int) -> Fraction:
        tail = laws.binomial_upper_tail(others - m, n=others, p=1 - rate)
        return Fraction(tail.upper)

    return _mean(_starts(0, others, (rate * others, rate * (1 - rate) * others)), at_most, of)


def _mean(starts: list[int], at_most: Callable[[int], Fraction], of: Callable[[int], Curve]) -> Curve:
    """The mean over a number of others, by intervals that begin here; `at_most` bounds its distribution."""
    below = [Fraction(0)]
    for after in starts[1:]:
        below.append(min(Fraction(1), max(below[-1], at_most(after - 1))))
    below.append(Fraction(1))
    weights = [to - since for since, to in pairwise(below)]
    kept = [(weight, start) for weight, start in zip(weights, starts, strict=True) if weight]
    return Curve.mean([weight for weight, _ in kept], [of(start) for _, start in kept])


def _starts(least: int, most: int, spread: tuple[Fraction, Fraction]) -> list[int]:
    """The first number of each interval, for a number of about this mean and at most this variance."""
    if most - least < FEW:
        return list(range(least, most + 1))
    mean, deviation = spread[0], isqrt(int(spread[1])) + 1
    wanted = [int(mean + step * deviation) for step in map(Fraction, FALLING)]
    return sorted({least, *(start for start in wanted if least < start <= most)})
