"""Random allocation of an entry that is replaced: two values of it, in one of m answers that is drawn in secret.

Let one answer have the law P₁ with the first value, P₁' with the second, and Q₁ without the entry. With the first value
all answers have the mean P of the m laws that have P₁ in one place and Q₁ elsewhere, with the second P' likewise. With
``Y = P₁/Q₁``, ``Y' = P₁'/Q₁``, K = e^ε and independent copies of ``X = Y − K Y'``

    δ(ε) = E_Q (P/Q − K P'/Q)_+ = 1/m · E (X_1 + … + X_m)_+ .

**The worst values.** Given the sum of the others, (·)_+ is convex in X_i. So δ rises with X in the convex order. Of all
pairs with given laws of Y and of −KY' the sum is largest in this order if both increase together. With normal noise,
and contributions of length at most s in any number of dimensions, Y is lognormal with a parameter of at most μ = s/σ,
and rises with the parameter in the convex order. Contributions of +s and −s have the largest laws of both, and
``Y = e^{μt − μ²/2}`` and ``−KY' = −K e^{−μt − μ²/2}`` increase together in t. So no two values are worse.

**The sum.** Let c > 0 and ``V = (c − X)_+``, so that ``min(X, c) = c − V``. Then

    Σ min(X_i, c)  ≤  Σ X_i  ≤  Σ min(X_i, c) + Σ (X_i − c)_+ ,       E (Σ min(X_i, c))_+ = E (mc − Σ V_i)_+ ,

a put on a sum of variables that are at least 0: V is replaced by the laws of `ratio_grid.py`. Both ends differ by
``E (X − c)_+`` for each i. It belongs to the lower one too, in part: where ``Σ_{j≠i} min(X_j, c) ≥ −c``, the sum is not
negative for ``X_i > c``. The mean of that sum is at least ``−(m − 1)(K − 1 + E(X − c)_+)`` and its variance at most
(m − 1) Var X, so by Cantelli's inequality this has at least the chance ``r²/((m − 1) Var X + r²)``, with r the distance
of −c from this mean.
δ falls with K at a rate of at most 1.

**In k of m answers**, with normal noise, of independent copies of the answers the entry takes part in one of each of k
blocks, if their random division is told (`random_allocation.py`). Each block is replaced by a finite pair above it, by
δ at equally spaced ε. From below it is the sum of all answers, whose two laws are normal at the distance 2kμ/√m. If it
were known which answers they are, the distance would be 2μ√k.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TypeAlias

from statpriv import budget
from statpriv._native import Curve, Enclosure, Law, gaussian_delta
from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.lowering.dominating_pairs import laws_of_heights
from statpriv.model.probabilities import probability_list
from statpriv.numeric.arguments import as_tuple
from statpriv.numeric.exact import Number
from statpriv.numeric.literals import abridged
from statpriv.numeric.transcendental import exponential_ends, logarithm_ends
from statpriv.theories.differential.answer_ratio import OfSum, of_noisy_sum
from statpriv.theories.differential.few_ratios import of_all_pairs, ways
from statpriv.theories.differential.ratio_grid import BITS, dominated, dominating, grid_of, step_of

__all__ = ["ReplacedEntry", "replaced_with_noise", "stated_values"]

Ends: TypeAlias = tuple[Fraction, Fraction]

_LOWEST, _LARGEST = 5, 9
"""At so many standard deviations of the noise X is about at its ends: what is beyond them is enclosed too."""
_POINTS = 2**11
"""Points of the grid up to c."""
_PLACES, _SPACED, _NEGLIGIBLE = 24, 2**10, 1e-9
"""Points of the curve of one allocation of several, parts of their distance, and from where on it is left out."""
_COARSE = 16
"""Steps of the grid in a standard deviation for these."""
_FINE = 2**80
"""K is rounded down to a multiple of one part in so many."""


@dataclass(frozen=True)
class ReplacedEntry:
    """One answer with either value of an entry, in units of the answer without it.

    `call(K, S)` encloses ``E(X + S)_+``, `variance(K)` is at least that of X, and `ends(K)` are about its least and
    largest values.
    """

    known: Callable[[Fraction], Enclosure]
    """δ if it is known in which answer the entry takes part."""
    call: Callable[[Fraction, Fraction], Ends]
    variance: Callable[[Fraction], Fraction]
    ends: Callable[[Fraction], tuple[float, float]]
    described: str
    of_sum: OfSum | None = None
    """That of the sum, if it is known."""
    ratios: tuple[tuple[Fraction, Fraction, Fraction], ...] = ()
    """Values of Y and of Y' with their probability, where they are few and known."""

    def delta(self, epsilon: Fraction, answers: int, taken: int, steps: int) -> Enclosure:
        """δ of the first value against the second."""
        if answers == 1:
            return self.known(epsilon)
        ends = exponential_ends(epsilon)
        if self.ratios and ways(len(self.ratios), answers) <= budget.MAX_ALLOCATION_TERMS:
            low, high = (of_all_pairs(self.ratios, answers, taken, factor) for factor in reversed(ends))
            return Enclosure(max(Fraction(0), low), min(Fraction(1), high))
        if taken == 1:
            return self._on_a_grid(epsilon, answers, steps)
        if self.of_sum is None:
            raise NotAvailableError(
                f"k = {taken}: an entry that is replaced in several answers is accounted for where they have normal "
                f"noise, or few values, so that {answers} of them have their ratios in at most "
                f"{budget.MAX_ALLOCATION_TERMS} ways"
            )
        upper = min(self._of_blocks(epsilon, answers, taken), self.of_sum(taken, taken, epsilon).upper)
        return Enclosure(min(self.of_sum(answers, taken, epsilon).lower, upper), upper)

    def _of_blocks(self, epsilon: Fraction, answers: int, taken: int) -> float:
        """An upper bound: k allocations of one each, among answers that are divided evenly."""
        size, larger = divmod(answers, taken)
        spacing = Fraction(math.ceil(self._reach(answers // taken) * _SPACED), _SPACED * _PLACES)
        factors = []
        for block, count in ((size + 1, larger), (size, taken - larger)):
            if count:
                each = [self.delta(place * spacing, block, 1, _COARSE).upper for place in range(_PLACES + 1)]
                heights = [Fraction(height) for height in accumulate(each, min)]
                factors.append((heights, heights, count))
        return Curve.answers(*laws_of_heights(spacing, factors)).delta(epsilon).upper

    def _reach(self, answers: int) -> float:
        """An ε from which δ of one in so many answers is negligible, or is that of one answer."""
        reach = 1 / 16
        while self.known(Fraction(reach)).upper > _NEGLIGIBLE and reach < 64:
            if self.delta(Fraction(reach), answers, 1, _COARSE).upper <= _NEGLIGIBLE:
                break
            reach *= 1.5
        return reach

    def _on_a_grid(self, epsilon: Fraction, answers: int, steps: int) -> Enclosure:
        least, most = exponential_ends(epsilon)
        factor = Fraction(math.floor(least * _FINE), _FINE)
        variance, (lowest, largest) = self.variance(factor), self.ends(factor)
        step = step_of(math.sqrt(variance), steps)
        cap = step * max(1, min(math.ceil(Fraction(largest) / step), _POINTS))
        tail = self.call(factor, -cap)

        def put(x: Fraction) -> Ends:
            """``E(x − V)_+ = E(X − c + x)_+ − E(X − c)_+`` at x ≥ 0."""
            low, high = self.call(factor, x - cap)
            return low - tail[1], high - tail[0]

        grid = grid_of(put, step, (float(cap) - largest, float(cap) - lowest), answers * cap, self.described)
        above, below = (law.power(answers, answers * cap) for law in (dominating(grid), dominated(put, grid)))
        distance = cap - (answers - 1) * (factor - 1 + tail[1])
        chance = distance**2 / ((answers - 1) * variance + distance**2) if distance > 0 else Fraction(0)
        upper = above.put(answers * cap) / answers + cap * Fraction(above.lost, 1 << BITS) + tail[1]
        upper = min(upper, Fraction(self.known(epsilon).upper))
        lower = below.put(answers * cap) / answers + chance * max(Fraction(0), tail[0]) - (most - factor)
        return Enclosure(max(Fraction(0), min(lower, upper)), upper)


def replaced_with_noise(mu: Fraction) -> ReplacedEntry:
    """Normal noise, and two values that move the answer by μ standard deviations of it, one up and one down."""

    def call(factor: Fraction, plus: Fraction) -> Ends:
        """The largest of P₁(A) + S Q₁(A) − K P₁'(A) over events A."""
        up, still, down = 1, 0, -1
        if plus >= 0:
            first, second = {up: 1 / (1 + plus), still: plus / (1 + plus)}, {down: Fraction(1)}
            return _scaled(1 + plus, _hockey_stick(first, second, factor / (1 + plus), mu))
        weight = factor - plus
        first, second = {up: Fraction(1)}, {down: factor / weight, still: -plus / weight}
        return _hockey_stick(first, second, weight, mu)

    def variance(factor: Fraction) -> Fraction:
        """``(e^{μ²} − 1)(1 + K²) + 2K(1 − e^{−μ²})``, rounded up."""
        low, high = exponential_ends(mu**2)
        return (high - 1) * (1 + factor**2) + 2 * factor * (1 - 1 / high) + (high - low)

    about = min(float(mu), 3.0)

    def value(factor: Fraction, deviations: int) -> float:
        """X where the noise is so many standard deviations from 0."""
        return math.exp(about * deviations - about**2 / 2) - float(factor) * math.exp(
            -about * deviations - about**2 / 2
        )

    def ends(factor: Fraction) -> tuple[float, float]:
        return value(factor, -_LOWEST), value(factor, _LARGEST)

    def known(epsilon: Fraction) -> Enclosure:
        return gaussian_delta(epsilon, mu=2 * mu)

    described = f"sigma is {float(1 / mu):.3g} times the sensitivity"
    return ReplacedEntry(known, call, variance, ends, described, of_noisy_sum(2 * mu))


def _hockey_stick(first: dict[int, Fraction], second: dict[int, Fraction], ratio: Fraction, mu: Fraction) -> Ends:
    """Of two laws on the integers with normal noise; below 1 by ``H_r(P, Q) = 1 − r + r H_{1/r}(Q, P)``."""
    if ratio < 1:
        low, high = _hockey_stick(second, first, 1 / ratio, mu)
        return 1 - ratio + ratio * low, 1 - ratio + ratio * high
    laws = (Law.table(-1, [law.get(place, Fraction(0)) for place in (-1, 0, 1)]) for law in (first, second))
    curve, (least, most) = Curve.smoothed(*laws, gaussian_sigma=1 / mu), logarithm_ends(ratio)
    return Fraction(curve.delta(most).lower), Fraction(curve.delta(max(least, Fraction(0))).upper)


def _scaled(factor: Fraction, ends: Ends) -> Ends:
    return factor * ends[0], factor * ends[1]


def stated_values(answer: Sequence[Sequence[Number]]) -> tuple[ReplacedEntry, ReplacedEntry]:
    """The laws of one answer with the first value, with the second and without the entry; and the values exchanged."""
    required = (
        "three sequences of probabilities, with the first value, with the second and without the entry, are required"
    )
    first, second, without = (
        probability_list(law, f"answer[{index}]")
        for index, law in enumerate(as_tuple(answer, "answer", required, length=3))
    )
    if len({len(first), len(second), len(without)}) > 1 or {sum(first), sum(second), sum(without)} != {1}:
        raise ArgumentError(f"answer = {abridged(answer)}; {required}, as many in each, and each sums to exactly one")
    masses: dict[tuple[Fraction, Fraction], Fraction] = {}
    for p, other, q in zip(first, second, without, strict=True):
        if not q and (p or other):
            raise ArgumentError(
                f"answer = {abridged(answer)}; each value that is possible with the entry must be so without"
            )
        if q:
            masses[p / q, other / q] = masses.get((p / q, other / q), Fraction(0)) + q
    return tuple(
        _of_values(tuple((y[turn], y[1 - turn], mass) for y, mass in masses.items()))  # type: ignore[return-value]
        for turn in (0, 1)
    )


def _of_values(ratios: tuple[tuple[Fraction, Fraction, Fraction], ...]) -> ReplacedEntry:
    laws = [Law.table(0, [ratio[which] * ratio[2] for ratio in ratios]) for which in (0, 1)]

    def values(factor: Fraction) -> list[tuple[Fraction, Fraction]]:
        return [(y - factor * other, mass) for y, other, mass in ratios]

    def call(factor: Fraction, plus: Fraction) -> Ends:
        found = sum((max(Fraction(0), x + plus) * mass for x, mass in values(factor)), Fraction(0))
        return found, found

    def variance(factor: Fraction) -> Fraction:
        return sum(((x - 1 + factor) ** 2 * mass for x, mass in values(factor)), Fraction(0))

    def ends(factor: Fraction) -> tuple[float, float]:
        places = [float(x) for x, _ in values(factor)]
        return min(places), max(places)

    return ReplacedEntry(Curve.answers(*laws).delta, call, variance, ends, "the answer is told", ratios=ratios)
