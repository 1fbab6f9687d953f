"""The oracle: privacy curves computed as directly as possible from their definitions. The code is written to be read.

It shares nothing with the library. It imports only the standard library, python-flint's ball arithmetic and
``tails.py``, which obeys the same rule; ``test_oracle_itself.py`` asserts that. There are two kinds of results:

* exact rationals, for rational ``x = e^epsilon``: laws are lists of integer weights over one denominator, and
  a hockey stick is the sum of ``max(0, P(a) - x Q(a))`` over all answers. There is no threshold to get wrong;
* balls, for rational epsilon and up to 2^53 entries: the tail form, with its two probabilities from ``tails.py``. The
  precision is doubled until 40 digits are right. Probabilities of the laws are computed in the same way.

Results of the second kind are :class:`Bounds`, two rationals, so that doubles are judged without rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, product, repeat
from math import ceil, comb, inf, lcm, prod
from operator import mul
from typing import Protocol, TypeVar

from flint import arb, ctx

from . import tails
from .tails import ball

T = TypeVar("T")

Pair = tuple[int, int] | None
"""``(v, w)`` for the direction Δ_{v,w}; ``None`` for the larger of the two."""

DIRECTIONS = ((1, 0), (0, 1))
RELATIVE_BITS = 134  # 2^-134 < 1e-40
RELATIVE_WIDTH = Fraction(1, 10**12)  # what the library promises …
SMALLEST = Fraction(1, 10**300)  # … for every δ from here up
FIRST_PRECISION = 224
LAST_PRECISION = 1 << 15
NEGLIGIBLE = Fraction(1, 2**1200)  # far below the least double, so "less than this" is precise enough


@dataclass(frozen=True)
class Bounds:
    """Two rationals with the true value between them."""

    lower: Fraction
    upper: Fraction

    def refutes(self, lower: float, upper: float) -> bool:
        """Whether the true value certainly lies outside ``[lower, upper]``. ``upper`` may be infinite."""
        return self.upper < Fraction(lower) or (upper != inf and Fraction(upper) < self.lower)

    def relative_width(self, lower: float, upper: float) -> float:
        """``upper − lower`` relative to the true value, or to 1e-300 if that is larger."""
        size = max(abs(self.lower), abs(self.upper), SMALLEST)
        return float((Fraction(upper) - Fraction(lower)) / size)

    def fault(self, lower: float, upper: float, least: float = 0, most: float = 1) -> str:
        """What is wrong with ``[lower, upper]`` as an enclosure of this number, or an empty text if nothing is.

        Only the library's two ends are rounded; nothing here is. Below 1e-300, an enclosure may be as wide as one at
        1e-300. A δ of exactly zero, where e^ε equals a likelihood ratio, may be as wide as ninety bits of e^ε allow.
        """
        if not least <= lower <= upper <= most or abs(lower) == inf:
            return f"not an interval within [{least}, {most}]"
        if self.refutes(lower, upper):
            return "misses the truth"
        if self.lower == self.upper == lower == 0:
            return "" if upper <= 2**-90 else "too wide"
        return "too wide" if self.relative_width(lower, upper) > RELATIVE_WIDTH else ""


def largest(bounds: Iterable[Bounds]) -> Bounds:
    """Bounds of the maximum."""
    candidates = list(bounds)
    return Bounds(max(b.lower for b in candidates), max(b.upper for b in candidates))


# --- exact laws on 0, 1, 2, …


@dataclass(frozen=True)
class Law:
    """``P[a] = weights[a] / denominator``. All weights share the denominator, so that sums are sums of integers."""

    weights: tuple[int, ...]
    denominator: int


def powers(base: int, highest: int) -> list[int]:
    """The powers ``base**0``, …, ``base**highest``."""
    return list(accumulate(repeat(base, highest), mul, initial=1))


def binomial(n: int, p: Fraction) -> Law:
    """The number of successes in n trials."""
    success, total = p.numerator, p.denominator
    successes, failures = powers(success, n), powers(total - success, n)
    return Law(tuple(comb(n, a) * successes[a] * failures[n - a] for a in range(n + 1)), total**n)


def shifted(law: Law, by: int) -> Law:
    """The law of the answer plus a constant."""
    return Law((0,) * by + law.weights, law.denominator)


def mixture(first_weight: Fraction, first: Law, second: Law) -> Law:
    """``first`` with probability ``first_weight``, else ``second``."""
    second_weight = 1 - first_weight
    scale = lcm(first_weight.denominator * first.denominator, second_weight.denominator * second.denominator)
    weights = [0] * max(len(first.weights), len(second.weights))
    for share, law in ((first_weight, first), (second_weight, second)):
        factor = share.numerator * (scale // (share.denominator * law.denominator))
        for a, weight in enumerate(law.weights):
            weights[a] += factor * weight
    return Law(tuple(weights), scale)


def hockey_stick(p: Law, q: Law, x: Fraction) -> Fraction:
    """``Σ_a max(0, P(a) − x Q(a))``, from the definition."""
    scale = lcm(p.denominator, q.denominator * x.denominator)
    p_factor, q_factor = scale // p.denominator, x.numerator * (scale // (q.denominator * x.denominator))
    answers = max(len(p.weights), len(q.weights))
    p_weights = p.weights + (0,) * (answers - len(p.weights))
    q_weights = q.weights + (0,) * (answers - len(q.weights))
    excess = sum(max(0, p_factor * a - q_factor * b) for a, b in zip(p_weights, q_weights, strict=True))
    return Fraction(excess, scale)


def directed(law_given: Callable[[int], Law], x: Fraction, pair: Pair) -> Fraction:
    """``law_given(v)`` against ``law_given(w)``; the larger direction if pair is None."""
    laws = law_given(0), law_given(1)
    return max(hockey_stick(laws[v], laws[w], x) for v, w in (DIRECTIONS if pair is None else (pair,)))


# --- one property query, exactly


def delta(n: int, p: Fraction, x: Fraction, pair: Pair = None) -> Fraction:
    """The count of n entries, one of them critical: ``v + Bin(n−1, p)`` against ``w + Bin(n−1, p)``."""
    others = binomial(n - 1, p)
    return directed(lambda value: shifted(others, value), x, pair)


def delta_1_0(n: int, p: Fraction, x: Fraction) -> Fraction:
    """Δ_{1,0} of the count at e^epsilon = x."""
    return delta(n, p, x, (1, 0))


def delta_0_1(n: int, p: Fraction, x: Fraction) -> Fraction:
    """Δ_{0,1} of the count at e^epsilon = x."""
    return delta(n, p, x, (0, 1))


def delta_max(n: int, p: Fraction, x: Fraction) -> Fraction:
    """The larger direction."""
    return delta(n, p, x)


def sampled_delta(n: int, size: int, p: Fraction, x: Fraction, pair: Pair = None) -> Fraction:
    """The count in a secret sample of ``size`` of the n entries, drawn without replacement.

    The critical entry is in the sample with probability size/n. If it is not, its value does not matter.
    """
    absent, others = binomial(size, p), binomial(size - 1, p)
    return directed(lambda value: mixture(1 - Fraction(size, n), absent, shifted(others, value)), x, pair)


def spc(n: int, known: int, size: int, p: Fraction, x: Fraction, *, pair: Pair = None) -> Fraction:
    """Definition 3.3 for Example 1: a sample that holds the critical entry, with ``known`` other entries known.

    Among the size−1 other entries of the sample, z are known. z is hypergeometric among the n−1 other entries. (The
    printed example has n there, which understates δ.) Known entries only shift the count.
    """
    ways = {z: comb(known, z) * comb(n - 1 - known, size - 1 - z) for z in range(min(known, size - 1) + 1)}
    total = sum(count * delta(size - z, p, x, pair) for z, count in ways.items() if count)
    return Fraction(total) / comb(n - 1, size - 1)


def hypergeometric_upper_tail(k: int, population: int, marked: int, draws: int) -> Fraction:
    """``P[X ≥ k]`` for the number of marked items among the draws."""
    ways = sum(comb(marked, i) * comb(population - marked, draws - i) for i in range(max(k, 0), draws + 1))
    return Fraction(ways, comb(population, draws))


def binomial_upper_tail(k: int, n: int, p: Fraction) -> Fraction:
    """``P[X ≥ k]``."""
    law = binomial(n, p)
    return Fraction(sum(law.weights[max(k, 0) :]), law.denominator)


# --- a range of p, exactly


def range_supremum(n: int, low: Fraction, high: Fraction, x: Fraction, pair: Pair = None) -> Fraction:
    """The supremum of the curve over p in [low, high], found from all thresholds.

    Let ``f_a(p) = P[B ≥ a−1] − x P[B ≥ a]`` with ``B ~ Bin(n−1, p)``. Its derivative has the sign of
    ``b(a−2; n−2) − x b(a−1; n−2)``. So f_a rises up to ``(a−1)/((a−1) + (n−a)x)`` and falls after it, and on an
    interval it is largest at the point nearest to that peak. Δ_{1,0} is the maximum of f_a over all a.
    """

    def one_zero(first: Fraction, last: Fraction) -> Fraction:
        best = Fraction(0)
        for a in range(1, n + 1):
            peak = Fraction(a - 1) / (a - 1 + (n - a) * x) if n > 1 else first
            p = min(max(peak, first), last)
            best = max(best, binomial_upper_tail(a - 1, n - 1, p) - x * binomial_upper_tail(a, n - 1, p))
        return best

    suprema = {(1, 0): lambda: one_zero(low, high), (0, 1): lambda: one_zero(1 - high, 1 - low)}
    return max(suprema[direction]() for direction in (DIRECTIONS if pair is None else (pair,)))


# --- compositions over a secret random partition, exactly


def partition_sum(
    n: int, parts: Sequence[tuple[int, Fraction]], x: Fraction, known: int = 0, *, pair: Pair = None
) -> Fraction:
    """Theorem 5.1, or Theorem 5.2 with known entries: ``Σ_k (n_k/n) SPC_k``. Parts are (size, p)."""
    return sum((Fraction(size, n) * spc(n, known, size, p, x, pair=pair) for size, p in parts), Fraction(0))


def partition_delta(
    n: int, parts: Sequence[tuple[int, Fraction]], x: Fraction, v: Sequence[int], w: Sequence[int]
) -> Fraction:
    """The exact curve of all answers together. v[k] and w[k] are the critical entry's values of property k.

    The critical entry is in part k with probability n_k/n. The sum runs over every vector of answers.
    """
    counts = [_probabilities(binomial(size, p)) for size, p in parts]
    given = [[_probabilities(shifted(binomial(size - 1, p), value)) for value in (0, 1)] for size, p in parts]
    shares = [Fraction(size, n) for size, _ in parts]
    unused = 1 - sum(shares, Fraction(0))

    def probability(answers: Sequence[int], values: Sequence[int]) -> Fraction:
        blank = [law[a] for law, a in zip(counts, answers, strict=True)]
        total = unused * prod(blank, start=Fraction(1))
        for k, share in enumerate(shares):
            others = prod(blank[:k], start=Fraction(1)) * prod(blank[k + 1 :], start=Fraction(1))
            total += share * given[k][values[k]].get(answers[k], Fraction(0)) * others
        return total

    return sum(
        (
            max(Fraction(0), probability(answers, v) - x * probability(answers, w))
            for answers in product(*(range(size + 1) for size, _ in parts))
        ),
        Fraction(0),
    )


def partition_exact(n: int, parts: Sequence[tuple[int, Fraction]], x: Fraction) -> Fraction:
    """The curve for unrelated properties: the largest value over all sign patterns."""
    patterns = product((0, 1), repeat=len(parts))
    return max(partition_delta(n, parts, x, v, [1 - value for value in v]) for v in patterns)


def _probabilities(law: Law) -> dict[int, Fraction]:
    return {a: Fraction(weight, law.denominator) for a, weight in enumerate(law.weights)}


# --- rational epsilon


def exp_bounds(epsilon: Fraction, bits: int = 512) -> Bounds:
    """Two rationals around e^epsilon, equal for epsilon = 0."""
    with ctx.workprec(bits):
        return _bounds(ball(epsilon).exp())


def log_bounds(x: Fraction, bits: int = 256) -> Bounds:
    """Two rationals around ln x."""
    with ctx.workprec(bits):
        return _bounds(ball(x).log())


class Interval(Protocol):
    """The type of the library's results."""

    @property
    def lower(self) -> float: ...

    @property
    def upper(self) -> float: ...


def at_exp_epsilon(delta: Callable[[Fraction], Interval], x: Fraction) -> tuple[float, float]:
    """Both ends of δ at ``e^epsilon = x`` from a curve that takes rational epsilon. The curve falls with epsilon."""
    epsilon = log_bounds(x)
    return delta(max(epsilon.upper, Fraction(0))).lower, delta(max(epsilon.lower, Fraction(0))).upper


def at_epsilon(curve: Callable[[Fraction], Fraction], epsilon: Fraction) -> Bounds:
    """Bounds of an exact curve in x at ``x = e^epsilon``. Curves fall with x, so rationals around x bound the value."""
    x = exp_bounds(epsilon)
    return Bounds(curve(x.upper), curve(x.lower))


def delta_1_0_ball(n: int, p: Fraction, epsilon: Fraction) -> Bounds:
    """Δ_{1,0} of the count of n entries at a rational epsilon ≥ 0: forty digits, or "negligible"."""
    if p in (0, 1):
        return Bounds(Fraction(1), Fraction(1))  # the count of the others is certain, so the answer reveals the value
    threshold = _decided(lambda: _threshold(n, p, epsilon))
    return _probability(lambda: _tail_form(n, p, epsilon, threshold))


def delta_0_1_ball(n: int, p: Fraction, epsilon: Fraction) -> Bounds:
    """Δ_{0,1}: counting the entries without the property exchanges 0 and 1."""
    return delta_1_0_ball(n, 1 - p, epsilon)


def delta_ball(n: int, p: Fraction, epsilon: Fraction, pair: Pair = None) -> Bounds:
    """Either direction, or the larger one."""
    if pair is None:
        return largest((delta_1_0_ball(n, p, epsilon), delta_0_1_ball(n, p, epsilon)))
    return delta_1_0_ball(n, p, epsilon) if pair == (1, 0) else delta_0_1_ball(n, p, epsilon)


def _threshold(n: int, p: Fraction, epsilon: Fraction) -> int | None:
    """The least answer a with ``P_1(a) ≥ e^ε P_0(a)``, which is ``⌈n p e^ε/(q + p e^ε)⌉``. None if it is undecided.

    e^epsilon is irrational for every rational epsilon except 0, so more bits always decide.
    """
    if epsilon == 0:
        return ceil(n * p)
    odds = ball(p) * ball(epsilon).exp()
    candidate = (n * odds / (ball(1 - p) + odds)).ceil().unique_fmpz()
    return None if candidate is None else int(candidate)


def _tail_form(n: int, p: Fraction, epsilon: Fraction, threshold: int) -> arb:
    """``P[B ≥ a−1] − e^ε P[B ≥ a]`` at the threshold a, as ``P[B = a−1] − (e^ε − 1) P[B ≥ a]``."""
    mass = tails.binomial_log_pmf(threshold - 1, n - 1, p).exp()
    if epsilon == 0:
        return mass
    return mass - ball(epsilon).expm1() * tails.binomial_upper_tail(threshold, n - 1, p)


# --- laws, up to 2^53


def binomial_log_pmf_ball(k: int, n: int, p: Fraction) -> Bounds:
    """``ln P[X = k]`` for 0 ≤ k ≤ n and 0 < p < 1."""
    return _decided(lambda: _narrow(tails.binomial_log_pmf(k, n, p)))


def binomial_pmf_ball(k: int, n: int, p: Fraction) -> Bounds:
    """``P[X = k]`` for 0 ≤ k ≤ n and 0 < p < 1."""
    return _probability(lambda: tails.binomial_log_pmf(k, n, p).exp())


def binomial_upper_tail_ball(k: int, n: int, p: Fraction) -> Bounds:
    """``P[X ≥ k]`` for 0 < p < 1."""
    return _probability(lambda: tails.binomial_upper_tail(k, n, p))


def hypergeometric_log_pmf_ball(k: int, population: int, marked: int, draws: int) -> Bounds:
    """``ln P[X = k]`` for k in the support."""
    return _decided(lambda: _narrow(tails.hypergeometric_log_pmf(k, population, marked, draws)))


def hypergeometric_pmf_ball(k: int, population: int, marked: int, draws: int) -> Bounds:
    """``P[X = k]`` for k in the support."""
    return _probability(lambda: tails.hypergeometric_log_pmf(k, population, marked, draws).exp())


def hypergeometric_upper_tail_ball(k: int, population: int, marked: int, draws: int) -> Bounds:
    """``P[X ≥ k]``."""
    return _probability(lambda: tails.hypergeometric_upper_tail(k, population, marked, draws))


# --- from balls to bounds


def _decided(evaluate: Callable[[], T | None]) -> T:
    """The first result that is not None. The precision is doubled before each further attempt."""
    precision = FIRST_PRECISION
    while precision <= LAST_PRECISION:
        with ctx.workprec(precision):
            result = evaluate()
        if result is not None:
            return result
        precision *= 2
    raise ArithmeticError(f"not decided at {LAST_PRECISION} bits")


def _probability(evaluate: Callable[[], arb]) -> Bounds:
    """The ends of a ball for a number from 0 to 1, once it is narrow or the number is negligible."""

    def narrow_or_negligible() -> Bounds | None:
        value = evaluate()
        return Bounds(Fraction(0), NEGLIGIBLE) if value < ball(NEGLIGIBLE) else _narrow(value)

    return _decided(narrow_or_negligible)


def _narrow(value: arb) -> Bounds | None:
    """The ends of a ball if it is narrow enough, otherwise None."""
    return _bounds(value) if value.rel_accuracy_bits() > RELATIVE_BITS else None


def _bounds(value: arb) -> Bounds:
    return Bounds(_fraction(value.lower()), _fraction(value.upper()))


def _fraction(point: arb) -> Fraction:
    mantissa, exponent = point.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
