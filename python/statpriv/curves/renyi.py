"""Rényi divergences of a privacy curve, and its zero-concentrated privacy.

With ``H(x) = Δ_{v,w}(ln x)`` and ``H'(x) = Δ_{w,v}(ln x)`` for x ≥ 1,

    E_{P_w}[(P_v/P_w)^α] = 1 + α(α−1) ∫_1^∞ (x^{α−2} H(x) + x^{−α−1} H'(x)) dx,

which is Taylor's formula for ``t^α`` around 1 with the hockey sticks as remainders (Sason and Verdú, *f-Divergence
Inequalities*, on the integral representation of f-divergences). H is convex and decreasing: between two points it lies
below their chord, and above the extension of the next two points' chord. If H vanishes from a finite ε on, the points
cover it completely. Otherwise, finitely many values of H do not show that the divergence is finite.

The points are ``x_k = e^{kh}``. For a function that is affine between them, with the values f_k and g_k at the ends of
the k-th cell, and ``x = x_k e^u``,

    Σ_k ∫_{x_k}^{x_{k+1}} x^{c−1} f(x) dx = L(c) Σ_k e^{chk} f_k + R(c) Σ_k e^{chk} g_k,

where ``R(c) = ∫_0^h e^{cu} (e^u − 1)/(e^h − 1) du`` and ``L(c) = ∫_0^h e^{cu} (e^h − e^u)/(e^h − 1) du``.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from statpriv import budget
from statpriv._native import Enclosure
from statpriv.numeric.exact import Number
from statpriv.numeric.intervals import enclosure, exact, interval_context

if TYPE_CHECKING:
    from statpriv.curves.concentration import Concentration
    from statpriv.numeric.enclosure_array import EnclosureArray

_BITS = 160
_STEP_BITS = 32
"""Bits of a grid step, such that its multiples are doubles."""
_REST = Fraction(1, 2**40)
"""If H never vanishes, it is evaluated until it is about this small, …"""
_FAR = 100.0
"""… and at most up to this ε."""
_GREATEST_EXPONENT = 60


def _grid_step(last: float, cells: int) -> float:
    """A step such that `cells` steps are at least `last`, and whose multiples up to there are doubles."""
    mantissa, exponent = math.frexp(last / cells)
    return math.ldexp(math.ceil(math.ldexp(mantissa, _STEP_BITS)) + 1, exponent - _STEP_BITS)


class _Curve(Protocol):
    """The part of a privacy curve's interface that is used here."""

    def _roughly(self, epsilons: Sequence[float], width: float) -> EnclosureArray: ...
    def epsilon(self, delta: Number) -> Enclosure: ...
    def infinity_mass(self) -> Enclosure: ...


@dataclass(frozen=True, eq=False)
class HockeySticks:
    """H and H' of two laws at ε = 0, h, 2h, …; answers possible under the first law are possible under the second."""

    step: float
    forward: Sequence[Enclosure]
    backward: Sequence[Enclosure]
    greatest_loss: float
    """H vanishes from here on; infinite if it may never vanish."""
    noise: Fraction | None
    """A ρ with D_α ≤ ρα for noise of which the answers are a function, or None."""

    @classmethod
    def of(cls, forward: _Curve, backward: _Curve, points: int, noise: Fraction | None) -> HockeySticks | None:
        """The sticks from the curves of a pair in both orders; None if an answer can reveal the first value."""
        if forward.infinity_mass().lower > 0:
            return None
        curves = list(dict.fromkeys((forward, backward)))  # one curve, if both are equal
        losses = [curve.epsilon(0).upper for curve in curves]
        last = max((loss for loss in losses if math.isfinite(loss)), default=0.0)
        if math.isinf(losses[0]):
            last = min(forward.epsilon(_REST).upper, _FAR)
            if noise is not None:
                distance = math.sqrt(2 * noise)
                last = max(last, 10 * distance + 4 * distance**2)
        step = _grid_step(last or 1.0, points - 1)
        epsilons = [k * step for k in range(points)]
        # The chords between this many points have at least this error.
        sides = [list(curve._roughly(epsilons, points**-2)) for curve in curves]  # noqa: SLF001
        return cls(step, sides[0], sides[-1], losses[0], noise)

    @cached_property
    def _context(self) -> Any:  # noqa: ANN401  (mpmath's interval contexts have no type)
        # L and R are differences of numbers that agree to about 2 log2(1/h) bits.
        return interval_context(_BITS + 3 * max(0, -math.frexp(self.step)[1]))

    @cached_property
    def _sides(self) -> tuple[_Nodes, _Nodes]:
        vanishing = math.isfinite(self.greatest_loss)
        return (
            _Nodes.of(self._context, self.step, self.forward, vanishing=vanishing),
            _Nodes.of(self._context, self.step, self.backward, vanishing=False),
        )

    def divergence(self, order: Fraction) -> Enclosure:
        """``ln(E[...])/(α−1)``; unbounded above if H does not vanish."""
        context = self._context
        alpha = exact(context, order)
        forward, backward = self._sides
        sides = forward.integral(alpha - 1), backward.integral(-alpha)
        factor = alpha * (alpha - 1)
        rest = factor * self._rest_of_backward(alpha) + self._rest_of_forward(order)
        lower, upper = (
            enclosure(context.log(1 + factor * (sides[0][end] + sides[1][end]) + rest) / (alpha - 1), least=0)
            for end in (0, 1)
        )
        return Enclosure(lower.lower, min(upper.upper, self.greatest_loss))

    def _rest_of_backward(self, alpha: Any) -> Any:  # noqa: ANN401
        """``∫_X^∞ x^{−α−1} H'(x) dx`` from the last point X on, where H' still decreases."""
        width = self._context.mpf(self.step) * (len(self.backward) - 1)
        return self._context.exp(-alpha * width) / alpha * self._context.mpf([0, self.backward[-1].upper])

    def _rest_of_forward(self, order: Fraction) -> Any:  # noqa: ANN401
        """``α(α−1) ∫_X^∞ x^{α−2} H(x) dx`` from the last point X on.

        Let t be the ratio of the noise's laws, of which the answers are a function. The integral is at most Taylor's
        remainder of ``E[t^α; t > X] ≤ X^{α−β} E[t^β] ≤ X^{α−β} e^{β(β−1)ρ}``, for every β ≥ α.
        """
        context = self._context
        if math.isfinite(self.greatest_loss):
            return context.mpf(0)
        if self.noise is None:
            return context.mpf([0, math.inf])
        last = Fraction(self.step) * (len(self.forward) - 1)
        beta = max(order, last / (2 * self.noise) + Fraction(1, 2))
        exponent = beta * (beta - 1) * self.noise - (beta - order) * last
        return context.mpf([0, context.exp(exact(context, exponent)).b])


@dataclass(frozen=True, eq=False)
class _Nodes:
    """One side: in every cell, an affine function above it and one below it."""

    context: Any
    width: Any
    """h, as an interval."""
    upper: list[Any]
    """Values at the points."""
    lower: tuple[list[Any], list[Any]]
    """Values at the left and at the right end of every cell."""

    @classmethod
    def of(cls, context: Any, step: float, side: Sequence[Enclosure], *, vanishing: bool) -> _Nodes:  # noqa: ANN401
        width = context.mpf(step)
        shrink = context.exp(-width)
        ups = [context.mpf(value.upper) for value in side]
        if vanishing:
            ups[-1] = context.mpf(0)
        left, right = [], []
        for k in range(len(side) - 1):
            least = context.mpf(side[k + 1].lower)
            right.append(least)
            # The next cell is e^h times as long.
            falls = k + 2 < len(side) and side[k + 2].upper <= side[k + 1].lower
            left.append(context.mpf((least + (least - ups[k + 2]) * shrink).a) if falls else least)
        return cls(context, width, ups, (left, right))

    def integral(self, power: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Bounds of ``∫ x^{c−1} H(x) dx`` over all cells, for the power c."""
        context, h = self.context, self.width
        growth = context.exp(h)

        def over_a_cell(rate: Any) -> Any:  # noqa: ANN401
            return (context.exp(rate * h) - 1) / rate

        plain, tilted = over_a_cell(power), over_a_cell(power + 1)
        at_right, at_left = (tilted - plain) / (growth - 1), (growth * plain - tilted) / (growth - 1)
        ratio = context.exp(power * h)
        above = at_left * _polynomial(ratio, self.upper[:-1]) + at_right * _polynomial(ratio, self.upper[1:])
        left, right = self.lower
        below = at_left * _polynomial(ratio, left) + at_right * _polynomial(ratio, right)
        return below.a, above.b


def _polynomial(ratio: Any, coefficients: list[Any]) -> Any:  # noqa: ANN401
    """``Σ_k c_k ratio^k`` by Horner's rule."""
    total = ratio * 0
    for coefficient in reversed(coefficients):
        total = total * ratio + coefficient
    return total


@dataclass(frozen=True, eq=False)
class Divergences:
    """The Rényi divergences of an answer's laws, from one or several bounds of δ."""

    bounds: Sequence[Sequence[HockeySticks | None]]
    """For each bound the ordered pairs of values; None where an answer gives the value away."""
    noise: Concentration | None

    @cached_property
    def greatest_loss(self) -> float:
        """An upper bound on every divergence."""
        return min(max(math.inf if pair is None else pair.greatest_loss for pair in pairs) for pairs in self.bounds)

    def renyi(self, order: Fraction) -> Enclosure:
        """D_α of the worst pair, by the best bound; with several bounds, their distance from D_α is unknown."""
        each = [
            [Enclosure(math.inf) if pair is None else pair.divergence(order) for pair in pairs] for pairs in self.bounds
        ]
        upper = min(max(pair.upper for pair in pairs) for pairs in each)
        if self.noise is not None:
            upper = min(upper, Enclosure(self.noise.rho * order).upper)
        lower = max(pair.lower for pair in each[0]) if len(each) == 1 else 0.0
        return Enclosure(min(lower, upper), upper)

    def zero_concentrated(self, tolerance: Fraction) -> Enclosure:
        """The supremum of D_α/α over α > 1, to this relative width if the D_α are narrow and losses are bounded.

        ψ(α) = (α−1) D_α is the logarithm of a moment, and so convex in α; ψ(1) = 0, and D_α does not fall. So ψ lies
        between two orders a < b below the line L through its values there, or through numbers above these. With
        A = −L(0) and B = −L(1), where neither is negative,

            D_α/α ≤ L(α)/(α(α−1)) = A/α − B/(α−1) ≤ (√A − √B)²   for a ≤ α ≤ b.

        The last step is Cauchy's: ``A = ((√A−√B) + √B)² ≤ α (√A−√B)² + α/(α−1) B``. Besides, D_α/α ≤ D_b/a. Tangents
        to ψ make it an equality at the supremum, so narrower cells come arbitrarily close to it.
        """
        if self.noise is not None and self.noise.is_attained:
            return Enclosure(self.noise.rho)
        if self.greatest_loss == 0:
            return Enclosure(0)
        if math.isinf(self.greatest_loss):
            found = [self.renyi(order) / order for order in map(_order, range(-8, 9))]
            upper = math.inf if self.noise is None else self.noise.rho
            return Enclosure(max(divergence.lower for divergence in found), upper)
        return _Search(self.renyi, Fraction(self.greatest_loss)).run(tolerance)


class _Search:
    """Branch and bound over the orders, which are 1 + 2^e."""

    def __init__(self, divergence: Callable[[Fraction], Enclosure], greatest_loss: Fraction) -> None:
        self._divergence = divergence
        self._most = greatest_loss
        self._known: dict[float, Fraction] = {}
        """For each exponent, an upper bound on D_α."""
        self._attained = Enclosure(0)
        """The greatest D_α/α found so far."""

    def run(self, tolerance: Fraction) -> Enclosure:
        """Halve the cells with the greatest bounds, in the logarithm of α − 1."""
        exponents = [-math.inf, 0.0]
        self._look(0.0)
        while self._most / _order(exponents[-1]) > self._attained.upper and exponents[-1] < _GREATEST_EXPONENT:
            exponents.append(exponents[-1] + 1)
            self._look(exponents[-1])
        cells = [self._cell(a, b) for a, b in itertools.pairwise(exponents)]
        heapq.heapify(cells)
        most = budget.MAX_RENYI_ORDERS
        while -cells[0][0] > Fraction(self._attained.upper) * (1 + tolerance) and len(self._known) < most:
            _, a, b = heapq.heappop(cells)
            middle = b - 1 if math.isinf(a) else (a + b) / 2
            self._look(middle)
            for cell in (self._cell(a, middle), self._cell(middle, b)):
                heapq.heappush(cells, cell)
        # No D_α exceeds the greatest loss, even beyond the last order evaluated.
        beyond = self._most / _order(exponents[-1])
        return Enclosure(self._attained.lower, max(Fraction(self._attained.upper), -cells[0][0], beyond))

    def _look(self, exponent: float) -> None:
        order = _order(exponent)
        found = self._divergence(order)
        ratio = found / order
        self._known[exponent] = min(Fraction(found.upper), self._most)
        self._attained = Enclosure(max(self._attained.lower, ratio.lower), max(self._attained.upper, ratio.upper))

    def _cell(self, a: float, b: float) -> tuple[Fraction, float, float]:
        """The bound between two orders, negated for a heap."""
        left, right = _order(a), _order(b)
        ends = (left - 1) * self._known[a] if left > 1 else Fraction(0), (right - 1) * self._known[b]
        slope = (ends[1] - ends[0]) / (right - left)
        at_zero, at_one = ends[0] - left * slope, ends[0] - (left - 1) * slope
        bound = self._known[b] / left
        if at_zero <= 0 and at_one <= 0:
            bound = min(bound, _squared_difference_of_roots(-at_zero, -at_one))
        return -bound, a, b


def _order(exponent: float) -> Fraction:
    """An exact order, a deterministic function of the exponent."""
    return 1 + Fraction(2.0**exponent)


def _squared_difference_of_roots(a: Fraction, b: Fraction) -> Fraction:
    """A close upper bound on (√a − √b)²: ``a + b − 2√(ab)``, with the root rounded down."""
    product = a * b
    bits = max(0, _BITS - product.numerator.bit_length() + product.denominator.bit_length())
    root = math.isqrt((product.numerator << 2 * bits) // product.denominator)
    return max(Fraction(0), a + b - 2 * Fraction(root, 1 << bits))
