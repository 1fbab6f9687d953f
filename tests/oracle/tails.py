"""Binomial and hypergeometric probabilities and tails as python-flint balls, for sizes up to 2^53.

This is the second half of the oracle and obeys its rules: it imports only the standard library and python-flint. Every
ball contains the true value, whatever the guesses. Guesses are computed in doubles (tilts, numbers of points). They
affect how narrow a ball is, but never whether it is right.

Tails of few terms are summed term by term, and the rest is bounded by a geometric series. Tails of many terms come from
the generating function, summed over equidistant points of a circle. Let c > 0, ``w_j = c + 2πij/M``,
``K(w) = ln E e^{wX}`` and ``|j| ≤ M/2``. Then

    (1/M) Σ_j e^{K(w_j) − k w_j}/(1 − e^{−w_j}) = Σ_{m ∈ Z} P[X ≥ k + mM] e^{cmM}.

The term m = 0 is the tail. The other terms (aliases) are positive. They are bounded at real points, by
``P[X ≥ y] ≤ e^{K(d) − dy}`` for any d ≥ 0. Let ``p'`` be the probability tilted to c. Then
``|q + p e^{c+iθ}|² = (q + p e^c)² (1 − 4p'q' sin²(θ/2))``, and therefore

    |e^{K(w_j)}| ≤ e^{K(c)} e^{−2np'q' sin²(πj/M)}.

Since sin² rises up to j = M/2, this bounds the points that are left out.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log, pi, sqrt

from flint import acb, arb, ctx, fmpq

SPARE_BITS = 88
"""Bits of the working precision beyond the accurate ones. Numbers near 2^53 and their logarithms cost 60 bits."""

MOST_TERMS = {"binomial": 600, "hypergeometric": 6000}
"""The largest number of terms of a direct sum. Longer sums use the circle."""


def ball(number: Fraction | int) -> arb:
    """A ball that contains the number."""
    return arb(fmpq(number.numerator, number.denominator))


def at_most(bound: arb) -> arb:
    """The ball of all numbers from 0 to the bound."""
    half = bound.upper() / 2
    return arb(half, half)


def ln_choose(n: int, k: int) -> arb:
    """``ln C(n, k)`` for 0 ≤ k ≤ n."""
    if k in (0, n):
        return arb(0)
    return arb(n + 1).lgamma() - arb(k + 1).lgamma() - arb(n - k + 1).lgamma()


def ln(p: Fraction) -> arb:
    """``ln p`` for 0 < p ≤ 1, with small relative error also near 1."""
    return (-ball(1 - p)).log1p() if 2 * p > 1 else ball(p).log()


# --- the binomial law


def binomial_log_pmf(k: int, n: int, p: Fraction) -> arb:
    """``ln P[X = k]`` for 0 ≤ k ≤ n and 0 < p < 1."""
    return ln_choose(n, k) + k * ln(p) + (n - k) * ln(1 - p)


def binomial_upper_tail(k: int, n: int, p: Fraction) -> arb:
    """``P[X ≥ k]`` for 0 < p < 1, with small relative error on both sides of the mean."""
    if k <= 0:
        return arb(1)
    if k > n:
        return arb(0)
    if k <= n * p:
        return 1 - _binomial_far_tail(n - k + 1, n, 1 - p)
    return _binomial_far_tail(k, n, p)


def _binomial_far_tail(k: int, n: int, p: Fraction) -> arb:
    """``P[X ≥ k]`` for k above the mean."""
    deviation = sqrt(k * (n - k) / n)
    # The circle is meant for laws near normal. Its length in deviations grows with the precision, and a law
    # with few deviations is far from normal on that scale.
    few = _terms(_log_ratio(k, n, p), deviation) <= MOST_TERMS["binomial"] or Shape().spread > deviation / 2
    if few:
        return binomial_log_pmf(k, n, p).exp() * binomial_tail_ratio(k, n, p)
    return binomial_circle_tail(k, n, p)


def _log_ratio(k: int, n: int, p: Fraction) -> float:
    """``ln(k q/((n−k) p))``, the tilt that makes k the mean. It is infinite at k = n."""
    if k == n:
        return float("inf")
    return float((ball(Fraction(k, n - k)) * ball(1 - p) / ball(p)).log())


def _terms(log_ratio: float, deviation: float) -> float:
    """Approximate number t of terms of a tail: ``t·log_ratio + t²/(2·deviation²)`` must reach the working precision."""
    wanted, slope = ctx.prec * log(2), max(log_ratio, 0.0)
    if slope == float("inf") or not deviation:
        return 1
    return 2 * wanted / (slope + sqrt(slope * slope + 2 * wanted / deviation**2))


def binomial_tail_ratio(k: int, n: int, p: Fraction) -> arb:
    """``P[X ≥ k]/P[X = k]``, summed term by term.

    ``b(i+1)/b(i) = (n−i)p/((i+1)q)`` falls with i. So once it has a value r < 1, all later terms together are at most
    the last term times r/(1−r).
    """
    odds = ball(p) / ball(1 - p)
    total, term, tolerance = arb(1), arb(1), arb(2) ** -ctx.prec
    for i in range(k, n):
        ratio = odds * (n - i) / (i + 1)
        if i % 16 == 0 and ratio < 1:
            rest = term * ratio / (1 - ratio)
            if rest < total * tolerance:
                return total + at_most(rest)
        term *= ratio
        total += term
    return total


def binomial_circle_tail(k: int, n: int, p: Fraction) -> arb:
    """``P[X ≥ k]`` by the circle, for k above the mean and below n; see the module docstring."""
    hit, miss = ball(p), ball(1 - p)
    shape = Shape()
    deviation = sqrt(k * (n - k) / n)
    saddle = _log_ratio(k, n, p)
    c = max(saddle, shape.gap / deviation)
    points = ceil(shape.spread * deviation)

    def chernoff(d: arb) -> arb:
        return (n * (miss + hit * d.exp()).log() - k * d).exp()

    def summand(w: acb) -> acb:
        return (n * (miss + hit * w.exp()).log() - k * w).exp() / (1 - (-w).exp())

    total = _half_circle(summand, c, points, shape.kept)
    tilted = hit * arb(c).exp() / (miss + hit * arb(c).exp())
    left_out = _decay(n * tilted * (1 - tilted), shape.kept, points) / (1 - (-arb(c)).exp())
    excess = (c - saddle) * deviation**2  # approximate distance of the tilted mean above k
    higher = arb(c + max(points - excess, 0.1 * points) / deviation**2)
    lower = arb(max(c - (points + excess) / deviation**2, 0.0))
    aliases = chernoff(higher) * _geometric((higher - c) * points) + chernoff(lower) * _geometric((c - lower) * points)
    return total + chernoff(arb(c)) * left_out * arb(0, 1) - at_most(aliases)


class Shape:
    """Radius and points of a circle for the current precision, for laws near normal. Wrong guesses cost only width.

    Let σ be the deviation, γ = gap and μ = spread. With ``c ≥ γ/σ`` and ``M = μσ``, the aliases are about
    ``e^{−μ²/2 + μγ}`` and ``e^{−γμ + γ²/2}``, and the point j contributes about ``e^{−2(πj/μ)²}``.
    """

    def __init__(self) -> None:
        wanted = (ctx.prec - SPARE_BITS) * log(2) + 25
        self.spread = 2.2 * sqrt(wanted)
        self.gap = self.spread / 4
        self.kept = ceil(self.spread / pi * sqrt((wanted + self.gap**2 / 2) / 2)) + 2


def _angles(points: int, kept: int) -> list[acb]:
    """``2πij/M`` for j = 0, …, kept."""
    step = 2 * arb.pi() / points
    return [acb(0, j * step) for j in range(kept + 1)]


def _half_circle(summand, c: float, points: int, kept: int) -> arb:
    """``(1/M) Σ_{|j| ≤ kept} summand(w_j)`` for a summand that is real on the real axis."""
    first, *others = _angles(points, kept)
    total = summand(first + c).real
    for angle in others:
        total += 2 * summand(angle + c).real
    return total / points


def _decay(variance: arb, kept: int, points: int) -> arb:
    """``e^{−2·variance·sin²(πj/M)}`` at the first point left out, or 0 if there is none."""
    if 2 * (kept + 1) > points:
        return arb(0)
    return (-2 * variance * (arb.pi() * (kept + 1) / points).sin() ** 2).exp()


def _geometric(exponent: arb) -> arb:
    """``Σ_{m ≥ 1} e^{−m·exponent}`` for a positive exponent."""
    return (-exponent).exp() / (1 - (-exponent).exp())


# --- the hypergeometric law


def hypergeometric_log_pmf(k: int, population: int, marked: int, draws: int) -> arb:
    """``ln P[X = k]`` for k in the support."""
    return ln_choose(marked, k) + ln_choose(population - marked, draws - k) - ln_choose(population, draws)


def hypergeometric_upper_tail(k: int, population: int, marked: int, draws: int) -> arb:
    """``P[X ≥ k]``, with small relative error on both sides of the mean."""
    if k <= max(0, marked + draws - population):
        return arb(1)
    if k > min(marked, draws):
        return arb(0)
    if k * population <= marked * draws:  # count the unmarked items instead
        return 1 - _hypergeometric_far_tail(draws - k + 1, population, population - marked, draws)
    return _hypergeometric_far_tail(k, population, marked, draws)


def _hypergeometric_far_tail(k: int, population: int, marked: int, draws: int) -> arb:
    """``P[X ≥ k]`` for k above the mean."""
    others = population - marked
    ratio = Fraction(k * (others - draws + k), max((marked - k) * (draws - k), 1))
    first, second = k * (marked - k) / marked, (draws - k) * (others - draws + k) / others if others else 0.0
    joint = sqrt(first * second / (first + second)) if first and second else 0.0
    if _terms(log(ratio), joint) <= MOST_TERMS["hypergeometric"]:
        return hypergeometric_log_pmf(k, population, marked, draws).exp() * hypergeometric_tail_ratio(
            k, population, marked, draws
        )
    return hypergeometric_circle_tail(k, population, marked, draws)


def hypergeometric_tail_ratio(k: int, population: int, marked: int, draws: int) -> arb:
    """``P[X ≥ k]/P[X = k]``, summed term by term as for the binomial law. These ratios fall as well."""
    total, term, tolerance = arb(1), arb(1), arb(2) ** -ctx.prec
    for i in range(k, min(marked, draws)):
        top, bottom = (marked - i) * (draws - i), (i + 1) * (population - marked - draws + i + 1)
        if i % 16 == 0 and top < bottom:
            rest = term * top / (bottom - top)
            if rest < total * tolerance:
                return total + at_most(rest)
        term = term * top / bottom
        total += term
    return total


def hypergeometric_circle_tail(k: int, population: int, marked: int, draws: int) -> arb:
    """``P[X ≥ k]`` by two circles, for k above the mean.

    ``C(N,s) P[X ≥ k] = Σ_{t ≥ 0} C(K, k+t) C(N−K, s−k−t)``. With ``F(v) = (1+e^v)^K e^{−kv}``, ``H(u) =
    (1+e^u)^{N−K} e^{−(s−k)u}``, points ``v_i = c + 2πi·i/M`` and ``u_j = d + 2πi·j/L``, and c > d:

        1/(ML) Σ_{i,j} F(v_i) H(u_j)/(1 − e^{−(v_i − u_j)})
            = Σ_{t ≥ 0} Σ_{m,l ∈ Z} C(K, k+t+mM) e^{cmM} C(N−K, s−k−t+lL) e^{dlL},

    The terms with m = l = 0 are the wanted sum. By ``C(K, x) ≤ (1+e^{c'})^K e^{−c'x}`` for any c', and likewise for the
    other factor with d', the terms of one (m, l) sum to at most
    ``F(c') H(d') e^{(c−c')mM} e^{(d−d')lL}/(1 − e^{−(c'−d')})`` if c' > d'.
    """
    others, rest = population - marked, draws - k
    shape = Shape()
    variances = k * (marked - k) / marked, rest * (others - rest) / others
    joint = sqrt(variances[0] * variances[1] / sum(variances))
    saddles = log(Fraction(k, marked - k)), log(Fraction(rest, others - rest))
    distance = log(Fraction(k * (others - rest), (marked - k) * rest))  # between the saddles, without cancellation
    widening = max(shape.gap / joint - distance, 0.0)
    c = saddles[0] + widening * variances[1] / sum(variances)
    d = saddles[1] - widening * variances[0] / sum(variances)
    first, second = Tilted(marked, k, variances[0], c, shape), Tilted(others, rest, variances[1], d, shape)
    gap = c - d
    total = _double_sum(first, second)
    kernel = 1 / (1 - (arb(d) - c).exp())
    scale = first.at(0.0) * second.at(0.0) * kernel
    left_out = scale * (first.left_out + second.left_out + first.left_out * second.left_out)
    # A single point may move towards the other by less than the gap. If both move, they share the gap.
    shares = variances[1] / sum(variances), variances[0] / sum(variances)
    aliases = arb(0)
    for m in (-1, 0, 1):
        for other in (-1, 0, 1):
            if (m, other) != (0, 0):
                facing = m < 0 < other
                down = min(first.best_move(-1), 0.95 * gap * (shares[0] if facing else 1))
                up = min(second.best_move(1), 0.95 * gap * (shares[1] if facing else 1))
                move_first = {-1: -down, 0: 0.0, 1: first.best_move(1)}[m]
                move_second = {-1: -second.best_move(-1), 0: 0.0, 1: up}[other]
                apart = (arb(c) + move_first) - (arb(d) + move_second)
                aliases += first.alias(move_first) * second.alias(move_second) / (1 - (-apart).exp())
    total = total + left_out * arb(0, 1) - at_most(aliases)
    return total / ln_choose(population, draws).exp()


class Tilted:
    """One factor of the double sum: ``(1+e^v)^size · e^{−target·v}`` on the circle through c, not normalised."""

    def __init__(self, size: int, target: int, variance: float, c: float, shape: Shape) -> None:
        self.size, self.target, self.c, self.variance = size, target, c, variance
        self.points = ceil(shape.spread * sqrt(variance))
        self.kept = shape.kept
        tilted = 1 / (1 + (-arb(c)).exp())
        self.left_out = _decay(size * tilted * (1 - tilted), self.kept, self.points)
        self.excess = float(size * tilted) - target

    def value(self, v: arb | acb) -> arb | acb:
        return (self.size * (1 + v.exp()).log() - self.target * v).exp()

    def at(self, move: float) -> arb:
        return self.value(arb(self.c) + move)

    def best_move(self, side: int) -> float:
        """The approximate move for which the bound of the aliases on that side is least."""
        return max(self.points - side * self.excess, 0.1 * self.points) / self.variance

    def alias(self, move: float) -> arb:
        """The bound of all aliases of one sign. For a move of zero, the factor without aliases."""
        return self.at(move) * (_geometric(abs(arb(move)) * self.points) if move else 1)

    def circle(self) -> list[tuple[acb, acb]]:
        """``(e^{−v_i}, value(v_i)/points)`` for i = 0, …, kept."""
        return [
            ((-angle - self.c).exp(), self.value(angle + self.c) / self.points)
            for angle in _angles(self.points, self.kept)
        ]


def _double_sum(first: Tilted, second: Tilted) -> arb:
    """``Σ_{i,j} F(v_i) H(u_j)/(1 − e^{−(v_i−u_j)})/(ML)``. The terms (i, j) and (−i, −j) are conjugate."""
    upper = [(1 / z, value) for z, value in second.circle()]
    both = upper + [(z.conjugate(), value.conjugate()) for z, value in upper[1:]]
    total = arb(0)
    for i, (z, value) in enumerate(first.circle()):
        inner = acb(0)
        for inverse, other in both:
            inner += other / (1 - z * inverse)
        total += (1 if i == 0 else 2) * (value * inner).real
    return total
