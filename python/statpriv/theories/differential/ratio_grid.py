"""Laws on a grid, above and below that of a likelihood ratio Y in the order of decreasing convex functions.

Y is at least 0. With ``u(x) = E(x − Y)_+``, a law is above if its puts are at least u everywhere, and below if they are
at most u.

**Above.** Take upper bounds of u on a grid. The greatest convex function below them is at least u. Beyond the end of
the grid it is continued by a ray of slope one, the largest slope of u. The kinks of this function are the atoms of Y'.

**Below.** Let a < b be neighbours on the grid and c their middle. A line that supports u at c has a slope between
``(u(c) − u(a))/(c − a)`` and ``(u(b) − u(c))/(b − c)``. So it is at least ``2u(c) − u(b)`` at a, and at least
``2u(c) − u(a)`` at b, and the line through these two points is at most u on [a, b]. So is the line through 0 and 0. At
every point of the grid take the smaller of the values of the lines on its two sides: what joins these is at most u, and
so is the greatest convex function below it. Beyond the grid its slope must not exceed the last slope of a chord of u.

The law of the sum is a power of an integer polynomial, with each coefficient rounded down. Mass lost by rounding is
counted as if y were zero above, and not at all below. Sums beyond `m K` do not contribute and are cut off. The relative
error of the grid is of the order of the squared ratio of its step to the standard deviation of Y.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from statpriv import budget
from statpriv.errors import ArgumentError
from statpriv.numeric.polynomials import product
from statpriv.theories.differential.answer_ratio import Ratios

__all__ = ["BITS", "Put", "RatioGrid", "RatioLaw", "dominated", "dominating", "grid_of", "step_of"]

Put: TypeAlias = Callable[[Fraction], tuple[Fraction, Fraction]]
"""Both ends of u(x)."""

BITS = 128
"""Masses are multiples of 2^-128, so the mass lost by rounding is below 1e-30."""


@dataclass(frozen=True)
class RatioLaw:
    """Masses at `step·first, step·(first+1), …`, in units of 2^-128 and rounded down; `lost` is at least the rest."""

    step: Fraction
    first: int
    masses: list[int]
    lost: int

    @property
    def ratios(self) -> Ratios:
        """The places that have a mass, with their probabilities."""
        places = enumerate(self.masses, self.first)
        return [(place * self.step, Fraction(mass, 1 << BITS)) for place, mass in places if mass]

    def power(self, exponent: int, most: Fraction) -> RatioLaw:
        """The law of a sum of independent copies, restricted to values below `most`."""
        result, square = None, self
        while True:
            if exponent % 2:
                result = square if result is None else result.plus(square, most)
            exponent //= 2
            if not exponent:
                return result or square
            square = square.plus(square, most)

    def plus(self, other: RatioLaw, most: Fraction) -> RatioLaw:
        """The law of the sum of two independent variables; what lies above `most` is left out."""
        first = self.first + other.first
        masses = product(self.masses, other.masses, bits=BITS, kept=max(0, math.floor(most / self.step) + 1 - first))
        kept = len(masses)
        while masses and not masses[-1]:
            masses.pop()
        leading = next((i for i, mass in enumerate(masses) if mass), 0)
        return RatioLaw(self.step, first + leading, masses[leading:] or [0], self.lost + other.lost + kept)

    def put(self, strike: Fraction) -> Fraction:
        """`E(x − Y)_+` of the masses that are kept."""
        below = self.masses[: max(0, math.ceil(strike / self.step) - self.first)]
        mass, moment = sum(below), sum(i * x for i, x in enumerate(below, self.first))
        return (strike * mass - self.step * moment) / (1 << BITS)


@dataclass(frozen=True)
class RatioGrid:
    """Multiples of a step around whatever Y may be and the sum can use, with both ends of u at each."""

    step: Fraction
    places: range
    puts: list[tuple[Fraction, Fraction]]


def step_of(spread: float, steps: int) -> Fraction:
    """A power of two, of which so many or more are in this standard deviation of Y."""
    return Fraction(1, 2 ** max(0, math.ceil(math.log2(steps / spread)))) if spread else Fraction(1)


def grid_of(put: Put, step: Fraction, reach: tuple[float, float], most: Fraction, described: str) -> RatioGrid:
    """Where Y lies, up to a most that matters.

    Raises
    ------
    ArgumentError
        There would be too many points.
    """
    low, high = reach[0], min(reach[1], float(most) + 1)
    first, last = max(1, math.floor(low / step)), math.ceil(high / step) + 1
    if last - first > budget.MAX_ALLOCATION_GRID:
        raise ArgumentError(
            f"{described}; at most {budget.MAX_ALLOCATION_GRID} grid points are used, here {last - first}: more "
            "noise is required (gaussian_delta bounds δ without the secret)"
        )
    places = range(first, last + 1)
    return RatioGrid(step, places, [put(place * step) for place in places])


def dominating(grid: RatioGrid) -> RatioLaw:
    """A law on the grid whose puts are at least those of Y, up to its end."""
    step = grid.step
    hull = [(0, Fraction(0))]  # the slope of the chord from here to the first point is mass at zero
    for place, (_, top) in zip(grid.places, grid.puts, strict=True):
        _add_convexly(hull, (place, top))
    while len(hull) > 1 and _slope(hull[-2], hull[-1]) > step:
        hull.pop()
    if hull[1][0] > len(grid.places):  # a grid from zero on would be mostly empty, and next to no mass is there
        return _of_slopes(hull[1:], before=_slope(hull[0], hull[1]) / step, last=Fraction(1), step=step)
    return _of_slopes(hull, before=Fraction(0), last=Fraction(1), step=step)


def dominated(put: Put, grid: RatioGrid) -> RatioLaw:
    """A law on the grid whose puts are at most those of Y."""
    step, places = grid.step, grid.places
    tops = [top for _, top in grid.puts]
    lines = []  # on every interval the values at its ends
    for place, (left, right) in zip(places, pairwise(tops), strict=False):
        middle = put((place + Fraction(1, 2)) * step)[0]
        line = 2 * middle - right, 2 * middle - left
        lines.append(line if line[0] >= 0 else (Fraction(0), Fraction(0)))
    lines[0] = Fraction(0), Fraction(0)  # from the first point on, where Y' begins
    heights = [lines[0][0], *(min(before[1], after[0]) for before, after in pairwise(lines)), lines[-1][1]]
    hull: list[tuple[int, Fraction]] = []
    for place, height in zip(places, heights, strict=True):
        _add_convexly(hull, (place, height))
    return _of_slopes(hull, before=Fraction(0), last=(grid.puts[-1][0] - tops[-2]) / step, step=step)


def _add_convexly(hull: list[tuple[int, Fraction]], point: tuple[int, Fraction]) -> None:
    """The greatest convex function below the points so far."""
    while len(hull) > 1 and _slope(hull[-2], hull[-1]) >= _slope(hull[-1], point):
        hull.pop()
    hull.append(point)


def _of_slopes(hull: list[tuple[int, Fraction]], *, before: Fraction, last: Fraction, step: Fraction) -> RatioLaw:
    """The law whose puts have these vertices: an atom is the rise of the slope, from `before` to `last`."""
    start = hull[0][0]
    masses = [0] * (hull[-1][0] - start + 1)
    slopes = [*(min(last, _slope(left, right) / step) for left, right in pairwise(hull)), last]
    for (place, _), slope in zip(hull, slopes, strict=True):
        masses[place - start] = math.floor((slope - before) * 2**BITS)
        before = slope
    return RatioLaw(step, start, masses, 2**BITS - sum(masses))


def _slope(left: tuple[int, Fraction], right: tuple[int, Fraction]) -> Fraction:
    return (right[1] - left[1]) / (right[0] - left[0])
