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

**Points.** h_i = δ(ε_i) for ε_i ≥ 0 and r_i ≥ e^{ε_i}, so that h_i ≥ H(r_i). Below r = 1 it is the curve δ' of the
other direction that counts, by ``H(1/r) = 1 − 1/r + δ'(ln r)/r``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, pairwise
from math import ceil, inf

from statpriv._native import Curve, Law, delta_array
from statpriv.numeric.polynomials import product

_POINTS = 256
"""Points on either side of r = 1, of a product."""
_FEW_POINTS = 36
"""The same of a pair alone, whose points need not be equally spaced."""
_NEGLIGIBLE = 1e-14
"""Where δ has fallen by this part above its limit, or to this, the points end."""
_RARE = 1e-11
"""The same of a pair alone: what is beyond counts as revealed."""
_BITS = 30
"""Binary places of ρ."""
_MASS_BITS = 120
_WHOLE = 2**_MASS_BITS
"""Masses of a product are multiples of one part in so many, rounded down: what that leaves of either law counts as an
outcome that only this law has, which never lowers the hockey stick."""

Masses = list[Fraction]
"""Of one law, by outcome."""
Heights = Sequence[Fraction]
"""Upper bounds of δ at equally spaced ε from 0 on."""


def product_of(pairs: Sequence[tuple[Curve, Curve]]) -> Curve:
    """The hockey stick of a product of dominating pairs, one for each two curves: of its two laws, and in reverse."""
    return Curve.answers(*laws_of_product(pairs))


def laws_of_product(pairs: Sequence[tuple[Curve, Curve]]) -> tuple[Law, Law]:
    """The two laws of that product."""
    curves = dict.fromkeys(chain.from_iterable(pairs))
    spacing = max(map(_reach, curves)) / _POINTS
    epsilons = [i * spacing for i in range(_POINTS + 1)]  # doubles, since `_reach` is a power of two
    heights = {curve: _heights(curve, epsilons) for curve in curves}
    counted = Counter(pairs).items()
    return laws_of_heights(spacing, [(heights[one], heights[other], count) for (one, other), count in counted])


def laws_of_heights(spacing: Fraction, factors: Sequence[tuple[Heights, Heights, int]]) -> tuple[Law, Law]:
    """The two laws of a product of pairs, of each so many.

    Parameters
    ----------
    spacing
        The step of ε, above 0.
    factors
        Upper bounds of δ at 0, the step, twice the step and so on, up to 1, as many for all pairs, in both directions;
        and how many such pairs there are.
    """
    points = len(factors[0][0]) - 1
    ratio = _above_exponential(spacing)
    powers = [Fraction(1)]
    for _ in range(points):
        powers.append(powers[-1] * ratio)
    total = [[_WHOLE], [_WHOLE]]
    for upwards, downwards, count in factors:
        for which, masses in enumerate(_finite_pair(powers, upwards, downwards)):
            finite = [int(masses.get(index, Fraction(0)) * _WHOLE) for index in range(-points, points + 1)]
            total[which] = product(total[which], _power(finite, count), bits=_MASS_BITS)
    first, second = ([Fraction(mass, _WHOLE) for mass in masses] for masses in total)
    only_first, only_second = 1 - sum(first, Fraction(0)), 1 - sum(second, Fraction(0))
    return Law.table(0, [Fraction(0), *first, only_first]), Law.table(0, [only_second, *second, Fraction(0)])


def dominating_pairs(upwards: Curve, downwards: Curve) -> Iterator[tuple[Masses, Masses]]:
    """The masses of finite pairs that dominate all pairs with these curves in the two directions, and their reverses.

    Half of the points are within the first sixth or so, where the curves bend most.
    """
    reach = _closer_reach(upwards, _reach(upwards, _RARE))
    steps = [Fraction(i, _FEW_POINTS) for i in range(_FEW_POINTS + 1)]
    epsilons = [Fraction(float(reach * step * (1 + 3 * step**2) / 4)) for step in steps]
    ratios = [_above_exponential(epsilon) for epsilon in epsilons]
    heights = [_heights(curve, epsilons) for curve in dict.fromkeys((upwards, downwards))]
    for one, other in ((heights[0], heights[-1]), (heights[-1], heights[0])):
        first, second = _finite_pair(ratios, one, other)
        outcomes = sorted(first.keys() | second.keys())
        yield (
            [first.get(place, Fraction(0)) for place in outcomes],
            [second.get(place, Fraction(0)) for place in outcomes],
        )


def _reach(curve: Curve, negligible: float = _NEGLIGIBLE) -> Fraction:
    """An ε beyond which the curve hardly falls."""
    limit, reach = curve.mass_at_infinity().upper, Fraction(1, 1024)
    while curve.delta(reach).upper > limit + negligible and reach < 512:
        reach *= 2
    return reach


def _closer_reach(curve: Curve, reach: Fraction) -> Fraction:
    """The first of half of `reach` to the whole, in eighths, of which that is so."""
    limit, eighth = curve.mass_at_infinity().upper + _RARE, reach / 8
    return next((k * eighth for k in range(4, 8) if curve.delta(k * eighth).upper <= limit), reach)


def _above_exponential(x: Fraction) -> Fraction:
    """A number above e^x: for x ≤ 1 ``Σ_{k≥3} x^k/k! ≤ x³/6 · 1/(1 − x/4) ≤ x³/3``, else the square of that of x/2."""
    if not x:
        return Fraction(1)
    above = 1 + x + x**2 / 2 + x**3 / 3 if x <= 1 else _above_exponential(x / 2) ** 2
    return Fraction(ceil(above * 2**_BITS), 2**_BITS)


def _heights(curve: Curve, epsilons: Sequence[Fraction]) -> list[Fraction]:
    """Upper bounds of δ at doubles, on all processors."""
    import numpy as np

    return [min(Fraction(upper), Fraction(1)) for _, upper in delta_array(curve, np.array(epsilons, float)).tolist()]


_Point = tuple[int | None, Fraction, Fraction]
_ByIndex = dict[float, Fraction]
"""By the index of the likelihood ratio; infinite where only one of the laws has the outcome."""


def _finite_pair(
    ratios: Sequence[Fraction], upwards: Sequence[Fraction], downwards: Sequence[Fraction]
) -> tuple[_ByIndex, _ByIndex]:
    """The two laws by index of the likelihood ratio, which is `ratios[i]`, or its inverse for −i."""
    last = len(ratios) - 1
    below = [(-i, 1 / ratios[i], 1 - (1 - downwards[i]) / ratios[i]) for i in range(last, 0, -1)]
    above = [(i, ratios[i], upwards[i]) for i in range(last + 1)]
    vertices = _convex_minorant([(None, Fraction(0), Fraction(1)), *below, *above])
    slopes = [(right[2] - left[2]) / (right[1] - left[1]) for left, right in pairwise(vertices)]
    first: _ByIndex = {}
    second: _ByIndex = {}
    for (index, ratio, _), before, after in zip(vertices[1:], slopes, [*slopes[1:], Fraction(0)], strict=True):
        second[index or 0] = after - before
        first[index or 0] = ratio * (after - before)
    first[inf] = 1 - sum(first.values(), Fraction(0))
    second[-inf] = 1 - sum(second.values(), Fraction(0))
    return first, second


def _power(polynomial: list[int], count: int) -> list[int]:
    """The law of the sum of so many indices, by squaring."""
    if count == 1:
        return polynomial
    half = _power(polynomial, count // 2)
    square = product(half, half, bits=_MASS_BITS)
    return product(square, polynomial, bits=_MASS_BITS) if count % 2 else square


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
