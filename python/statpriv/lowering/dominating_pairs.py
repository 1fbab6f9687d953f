"""A pair of finite laws that is worse than a curve at every ε, so that independent answers compose.

**Connecting the dots.** Let H(r), r ≥ 0, be the hockey stick of a pair, or a supremum of such: convex, not rising, 1 at
r = 0. Let h_i ≥ H(r_i) at points r_i, h = 1 at r = 0, and h beyond the last point its last value. The greatest convex
function below these points is at least H between any two of its vertices, because a chord of H is at least H. It is
piecewise linear, and so the hockey stick of a finite pair: with slopes s before and s' after the vertex r, the second
law has the mass q = s' − s at an outcome of likelihood ratio r, and the first the mass rq. What is left of the first is
an outcome that only it has, and what is left of the second one that only it has (Doroshenko, Ghazi, Kamath, Kumar and
Manurangsi, *Connect the Dots: Tighter Discrete Approximations of Privacy Loss Distributions*).

**Products.** A pair whose hockey stick is at least that of another at every r ≥ 0 can be turned into the other by a
channel (Blackwell). So a product of dominating pairs dominates the product of the pairs. With r_i = ρ^i for one ρ the
likelihood ratio of a product is ρ to the sum of the indices, on which alone its hockey stick depends.

The points are h_i = δ(i·x) for i ≥ 0, with ρ ≥ e^x, so that h_i ≥ H(ρ^i). For i < 0, where δ is the larger of both
directions, ``H(1/r) = 1 − 1/r + H(r)/r``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil

from statpriv._native import Curve, Law

_POINTS = 256
"""Points on either side of r = 1."""
_NEGLIGIBLE = 1e-14
"""Where δ has fallen by this part above its limit, or to this, the points end."""
_BITS = 30
"""Binary places of ρ."""


def product_of(curves: Sequence[Curve]) -> Curve:
    """The hockey stick of a product of dominating pairs, one for each curve of the larger of both directions."""
    spacing = max(map(_reach, dict.fromkeys(curves))) / _POINTS
    ratio = _above_exponential(spacing)
    pairs = {curve: _pair(curve, spacing, ratio, len(curves)) for curve in dict.fromkeys(curves)}
    first, second = (Law.sum([pairs[curve][which] for curve in curves]) for which in (0, 1))
    return Curve.answers(first, second)


def _reach(curve: Curve) -> Fraction:
    """An ε beyond which the curve hardly falls."""
    limit, reach = curve.mass_at_infinity().upper, Fraction(1, 1024)
    while curve.delta(reach).upper > limit + _NEGLIGIBLE and reach < 512:
        reach *= 2
    return reach


def _above_exponential(x: Fraction) -> Fraction:
    """A number above e^x, for 0 < x ≤ 2: ``Σ_{k≥3} x^k/k! ≤ x³/6 · 1/(1 − x/4) ≤ x³/3``."""
    return Fraction(ceil((1 + x + x**2 / 2 + x**3 / 3) * 2**_BITS), 2**_BITS)


def _pair(curve: Curve, spacing: Fraction, ratio: Fraction, factors: int) -> tuple[Law, Law]:
    """The two laws of the index of the likelihood ratio; outcomes of one law alone lie beyond all sums of others."""
    heights = [min(Fraction(curve.delta(i * spacing).upper), Fraction(1)) for i in range(_POINTS + 1)]
    powers = [Fraction(1)]
    for _ in range(_POINTS):
        powers.append(powers[-1] * ratio)
    below = [(-i, 1 / powers[i], 1 - 1 / powers[i] + heights[i] / powers[i]) for i in range(_POINTS, 0, -1)]
    above = [(i, powers[i], heights[i]) for i in range(_POINTS + 1)]
    vertices = _convex_minorant([(None, Fraction(0), Fraction(1)), *below, *above])
    slopes = [(right[2] - left[2]) / (right[1] - left[1]) for left, right in pairwise(vertices)]
    far = 2 * factors * _POINTS + 1
    first = [Fraction(0)] * (2 * far + 1)
    second = [Fraction(0)] * (2 * far + 1)
    for (index, power, _), before, after in zip(vertices[1:], slopes, [*slopes[1:], Fraction(0)], strict=True):
        second[far + (index or 0)] = after - before
        first[far + (index or 0)] = power * (after - before)
    first[2 * far] = 1 - sum(first, Fraction(0))
    second[0] = 1 - sum(second, Fraction(0))
    return Law.table(-far, first), Law.table(-far, second)


_Point = tuple[int | None, Fraction, Fraction]


def _convex_minorant(points: list[_Point]) -> list[_Point]:
    """The vertices of the greatest convex function below the points."""
    hull: list[_Point] = []
    for point in points:
        while len(hull) > 1 and _is_above(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def _is_above(left: _Point, middle: _Point, right: _Point) -> bool:
    """Whether the middle point is on or above the chord of the others."""
    rise = (right[2] - left[2]) * (middle[1] - left[1])
    return (middle[2] - left[2]) * (right[1] - left[1]) >= rise
