"""Masses on a grid of privacy losses that certifiably dominate a privacy curve, or are dominated by it.

Masses m_i at the losses ``i·h`` and m_∞ at infinity have the hockey stick ``F(x) = m_∞ + Σ m_i (1 − x e^{−ih})_+`` of
``x = e^ε``. It is convex, constant from the last ``x_i = e^{ih}`` on, linear between two neighbouring x_i, and
``F(0) = m_∞ + Σ m_i``. Write δ(x) for the hockey stick of two laws, or a supremum of such: it is convex, nonincreasing,
at least ``1 − x``, and ``δ(0) = 1``.

**Composition.** If ``F_1 ≥ δ_1`` and ``F_2 ≥ δ_2`` at *every* x ≥ 0, the convolution of the masses has a hockey stick
that is at least that of the product of the laws: for laws ``A_i, B_i`` and the measures ``P_i, Q_i`` of the masses

    ∫∫ (A_1 A_2 − x B_1 B_2)_+ = ∫ A_1 δ_2(x B_1/A_1) ≤ ∫ A_1 F_2(x B_1/A_1) = ∫ P_2 δ_1(x Q_2/P_2)
                               ≤ ∫ P_2 F_1(x Q_2/P_2) = ∫∫ (P_1 P_2 − x Q_1 Q_2)_+

(Zhu, Dong and Wang, *Optimal Accounting of Differential Privacy via Characteristic Function*, Theorem 10). The argument
does not require the masses to sum to one, so rounding them is harmless. With ≤ for ≥ it holds for masses below. A curve
states δ(x) for x ≥ 1; for x < 1 ``δ(x) = 1 − x + x δ'(1/x)``, where δ' is the curve of the two laws exchanged.

**Above** (*connect the dots*: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, 2022). δ is below the chords of any of
its upper bounds at points of the grid, hence below their lower convex hull. The masses are found from the largest loss
down: each is the least double with which F reaches the next corner of the hull. Then F ≥ δ at the corners; between
corners because F is linear there; above the last corner because δ falls; and below the first because ``F(0) ≥ 1``.

**Below.** In a cell ``[x_i, x_{i+1}]`` convexity puts δ above the chords of the cell to the left and of the cell to the
right, both extended into this cell. Take a point in each cell that is below both. The polygon through these points is
below δ. At x_i, the two chords extended from either side meet, and the chord to the right of x_i is the steeper one.
The path along them therefore bends downwards at x_i and lies above the side of the polygon that passes x_i. The lower
convex hull of the polygon is below δ too. F is found from the largest loss down. From each ``(x_i, F(x_i))`` the line
may be as steep as the least steep line to a corner of the hull further left, and each mass is the largest double that
respects this limit. If no mass is added, the line continues, and it was already below all corners.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TypeAlias

from statpriv.interop.grid import Grid, ceiling, double_above, double_below

Point: TypeAlias = "tuple[int, int]"
"""x and a function value, both in fixed point."""


@dataclass(frozen=True)
class LossMasses:
    """A measure on privacy losses: its masses at the multiples of an interval, and at infinity."""

    finite: dict[int, float]
    infinity: float


def masses_above(grid: Grid, upper: Sequence[int]) -> LossMasses:
    """Masses whose F is at least δ at every x ≥ 0, given upper bounds of δ at the points of the grid."""
    corners = _hull([(0, grid.one), *zip(grid.low, upper, strict=True)])
    index_of = {low: index for index, low in enumerate(grid.low)}
    infinity = double_above(Fraction(upper[-1], grid.one))
    # Lower bounds: of F at the corner reached, and of the steepness of F to the left of it.
    reached, steepness = grid.down(infinity), 0
    masses: dict[int, float] = {}
    for (here, _), (there, wanted) in zip(reversed(corners[1:]), reversed(corners[:-1]), strict=True):
        index = index_of[here]
        gap = here - (grid.high[index_of[there]] if there else 0)
        missing = ceiling((wanted - reached) << grid.bits, gap) - steepness
        if missing > 0:
            mass = double_above(Fraction(missing * grid.high[index], grid.one**2))
            masses[grid.first + index] = mass
            numerator, denominator = mass.as_integer_ratio()
            steepness += (numerator << 2 * grid.bits) // (denominator * grid.high[index])
        reached += steepness * gap >> grid.bits
    return LossMasses(masses, infinity)


def masses_below(grid: Grid, lower: Sequence[int], upper: Sequence[int], limits: tuple[float, float]) -> LossMasses:
    """Masses whose F is at most δ at every x ≥ 0, given bounds of δ at the points of the grid.

    `limits` are lower bounds of the limits, for ε → ∞, of δ and of δ' (the laws exchanged).
    """
    limit, other_limit = map(grid.down, limits)
    sharper = [*accumulate(reversed(lower), max, initial=limit)][:0:-1]  # δ is nonincreasing
    corners = _hull([*_polygon_below(grid, sharper, upper, grid.one - other_limit), (grid.high[-1], limit)])
    infinity = double_below(Fraction(limit, grid.one))  # below all corners, as the following line must be
    nearest = len(corners) - 1
    # Upper bounds: of F at the point reached, and of the steepness of F to the left of it.
    reached, steepness = grid.up(infinity), 0
    masses: dict[int, float] = {}
    for index in range(len(grid.low) - 1, -1, -1):
        low, high = grid.low[index], grid.high[index]
        while corners[nearest][0] >= low:
            nearest -= 1
        spare = _least_steepness(grid, corners, nearest, (high, reached)) - steepness
        if spare > 0 and (mass := double_below(Fraction(spare * low, grid.one**2))) > 0:
            masses[grid.first + index] = mass
            numerator, denominator = mass.as_integer_ratio()
            steepness += ceiling(numerator << 2 * grid.bits, denominator * low)
        if index:
            reached += ceiling(steepness * (high - grid.low[index - 1]), grid.one)
    return LossMasses(masses, infinity)


def _least_steepness(grid: Grid, corners: Sequence[Point], nearest: int, start: Point) -> int:
    """A lower bound on the least steepness of the lines from `start` to the corners up to `nearest`, all to its left.

    Seen from a point, the steepness to the corners of a convex polygon first falls and then rises.
    """
    found, index = _steepness(grid, start, corners[nearest]), nearest
    while index and (further := _steepness(grid, start, corners[index - 1])) <= found:
        found, index = further, index - 1
    return found


def _steepness(grid: Grid, start: Point, corner: Point) -> int:
    return ((corner[1] - start[1]) << grid.bits) // (start[0] - corner[0])


def _polygon_below(grid: Grid, lower: Sequence[int], upper: Sequence[int], steepest: int) -> Iterator[Point]:
    """The vertices of a polygon below δ: one in each cell, and δ(0) = 1. The first cell begins at x = 0.

    `lower` must not rise. Then no point is below the limit. Rounding may put a point before the left end of its cell,
    by less than a unit. Such a point is not above the bound at that end, and neither is the side to the next point,
    which does not rise.
    """
    yield 0, grid.one
    last = len(lower) - 1
    falling = steepest  # δ(x) = 1 − x (1 − δ'(1/x)), and δ' is at least its limit
    for cell in range(last + 1):
        left = (grid.low[cell - 1], lower[cell - 1]) if cell else (0, grid.one)
        rising = 0  # δ is nonincreasing
        if cell < last:
            drop = lower[cell] - upper[cell + 1]
            rising = max(0, (drop << grid.bits) // (grid.high[cell + 1] - grid.low[cell]))
        right = (grid.low[cell], lower[cell])
        yield _point_below(grid, left, falling, right, rising)
        before = upper[cell - 1] if cell else grid.one
        start = grid.high[cell - 1] if cell else 0
        falling = ceiling((before - lower[cell]) << grid.bits, grid.low[cell] - start)


def _point_below(grid: Grid, left: Point, falling: int, right: Point, rising: int) -> Point:
    """The intersection of the line falling from the left end of a cell and the line rising from its right end.

    The value is rounded down. It is not below the value at the right end, which is at most the value at the left end.
    """
    low, value = left
    x = low
    if falling > rising:
        meeting = (((value - right[1]) << grid.bits) + falling * low - rising * right[0]) // (falling - rising)
        x = min(max(meeting, low), right[0])
    from_left = value - ceiling(falling * (x - low), grid.one)
    from_right = right[1] + (rising * (right[0] - x) >> grid.bits)
    return x, min(from_left, from_right)


def _hull(points: Iterable[Point]) -> list[Point]:
    """The corners of the lower convex hull of points given from left to right."""
    corners: list[Point] = []
    for x, value in points:
        while len(corners) > 1:
            (first_x, first), (middle_x, middle) = corners[-2:]
            if (middle - first) * (x - first_x) < (value - first) * (middle_x - first_x):
                break
            corners.pop()
        corners.append((x, value))
    return corners
