"""δ of exact tables that the data refine: the finest of a ladder that holds its minima, or a tree, split cell by cell.

A ladder publishes the finest of D tables whose cells all hold the minima. A tree publishes the first of its D levels
if that one does, and splits each published cell by the next level where all cells that this gives do. With the notation
of tables.py, and E(K) for the mean of K:

1.  *A ladder is a function of a tree*, in which each level splits the cells of the coarser one. So Δ is at most the
    tree's.
2.  *The tree is an adaptive composition.* Reveal the tree from the root to the cell where the two values of the
    critical entry part: it has one law under both. There the table of the parts is published or not, with a curve of at
    most f(r) = max h(k, N−k) of (3) in tables.py. Below, the two sides are independent given the published counts. On
    the side of one value at most D − 1 further splits follow, which compare "the critical entry is in this cell, the
    others are drawn" with "all are drawn", and at most D − 1 on the other side, which compare them in the other order.
3.  *A split below* has a curve of at most e(r) = E(1 − r K)_+, where K is the mean of k = T − 1 − u standard
    exponential variables; in the other order E(K − r)_+. (docs/explanation/minimum-counts.md has the proof.) With a
    Poisson variable Y of mean k/r, e(r) = P[Y ≥ k] − r P[Y ≥ k+1], as the sum of k such variables is at most x exactly
    if at least k events happen until x. With Y of mean k r, E(K − r)_+ = P[Y ≤ k] − r P[Y ≤ k−1].
4.  *Composition.* Let the curve of stage i be at most Σ_j P_j (1 − r/r_j)_+ + P_∞ for all r ≥ 0, with P ≥ 0. Then the
    curve of all stages is at most the same expression of the product, in which masses and ratios multiply. Proof for
    two, the second given the outcome x of the first: Σ_xy (p₁p₂ − r q₁q₂)_+ ≤ Σ_x p₁ f₂(r q₁/p₁) ≤ Σ_j Σ_x P_j
    (p₁ − (r/r_j) q₁)_+ + P_∞ ≤ Σ_j P_j f₁(r/r_j) + P_∞ Σ P¹, P¹ being the masses of the first, P¹_∞ included.
5.  *On a lattice* r_j = e^{jh}: a curve is convex, 1 at r = 0, and falls. The expression in (4) is linear between the
    r_j. It is enough that it is at least the curve at each r_j, at least 1 at 0, and at least the curve at the last r_j
    beyond it. Masses are chosen from the top, each the least that does, and rounded up. Below 1 a curve follows from
    that of the other order: 1 − r + r times its value at 1/r, from (p − rq)_+ = p − rq + r (q − p/r)_+.
6.  The bound by (2) to (4) is at least that of the first stage alone: f(e^ε) is the lower end of what is returned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, isqrt

from .counts import MOST_TERMS, ONE, ZERO, Interval, TooLargeError, exponential, poisson
from .tables import of_two_cells

_FURTHEST = 2**9
"""No lattice reaches further than e to this power."""
_FINEST = 2**11
"""No lattice has more than twice as many ratios between 1 and its end."""
_LEFT_OUT = Fraction(1, 2**30)
"""Beyond the lattice, curves are at most this part of the first stage's δ."""
_NOTHING = 2**12
"""The mean of k variables is above 1 + t with a probability of at most e^(−k min(t, t²)/4): hardly for t = 2^12/k."""
_DIGITS = 80
"""Bits of a ratio at which a curve is evaluated."""


@dataclass(frozen=True)
class Lattice:
    """Bounds of the ratios e^{jh} in units of 2^-bits, for j from 0 to `reach`; for negative j these are inverted."""

    ratios: list[tuple[int, int]]
    bits: int

    @classmethod
    def until(cls, last: int, points: int) -> Lattice:
        """`points` ratios between 1 and e^last."""
        bits = 192 + 6 * last  # e^last has less than 3/2 · last bits: ratios, their inverses, and masses of that order
        step = exponential(Fraction(last, points), 2 * bits)
        ratios = [(1 << bits, 1 << bits)]
        for _ in range(points):
            low, high = ratios[-1]
            ratios.append((floor(low * step[0]), ceil(high * step[1])))
        return cls(ratios, bits)

    @property
    def reach(self) -> int:
        """The last j."""
        return len(self.ratios) - 1

    def at(self, j: int) -> tuple[int, int]:
        """Bounds of e^{jh}."""
        low, high = self.ratios[abs(j)]
        return (low, high) if j >= 0 else ((1 << 2 * self.bits) // high, -(-(1 << 2 * self.bits) // low))

    def values(self, curve: Callable[[Fraction], Fraction]) -> list[int]:
        """Upper bounds of a curve, which falls, at the ratios from 1 on."""
        found = []
        for low, _ in self.ratios:
            spare = max(0, low.bit_length() - _DIGITS)
            found.append(ceil(curve(Fraction(low >> spare << spare, 1 << self.bits)) * (1 << self.bits)))
        return found

    def masses(self, values: list[int], other_order: list[int]) -> Losses:
        """Masses whose expression is at least the curve with these bounds from 1 on, and in the other order (5)."""
        one, bits = 1 << self.bits, self.bits
        below = [one - (one - value) * one // high for value, (_, high) in zip(other_order, self.ratios, strict=True)]
        curve = [*below[:0:-1], *values]
        infinite = value = values[-1]
        slope, found, above = 0, [], self.at(self.reach)
        for j in range(self.reach - 1, -self.reach - 1, -1):
            here = self.at(j)
            gap = above[0] - here[1]
            wanted = curve[j + self.reach] - value
            mass = max(0, -(-((-(-(wanted << bits) // gap) - slope) * above[1]) >> bits))
            found.append(mass)
            slope += (mass << bits) // above[1]
            value += slope * gap >> bits
            above = here
        found.append(max(0, one - infinite - sum(found)))
        return Losses(-self.reach, found[::-1], infinite)

    def stop_loss(self, losses: Losses, r: Fraction) -> Fraction:
        """An upper bound of the expression at r ≥ 1, where ratios up to 1 have no share."""
        bits, scaled = self.bits, floor(r * (1 << self.bits))
        total = losses.infinite
        for j, mass in enumerate(losses.masses[-losses.first :]):
            ratio = 1 << bits
            for part in [self.reach] * (j // self.reach) + [j % self.reach]:
                ratio = -(-ratio * self.ratios[part][1] >> bits)
            total += max(0, mass - mass * scaled // ratio)
        return Fraction(total, 1 << bits)


@dataclass(frozen=True)
class Losses:
    """Masses in units of 2^-bits at the ratios e^{jh}, j from `first` on, and at infinity (4)."""

    first: int
    masses: list[int]
    infinite: int

    def then(self, other: Losses, bits: int) -> Losses:
        """The product, rounded up: the masses are digits of two integers, which are multiplied."""
        width = (sum(self.masses) * max(other.masses)).bit_length() // 8 + 1
        one, two = (
            int.from_bytes(b"".join(mass.to_bytes(width, "little") for mass in law.masses), "little")
            for law in (self, other)
        )
        length = (len(self.masses) + len(other.masses) - 1) * width
        digits = (one * two).to_bytes(length, "little")
        masses = [-(-int.from_bytes(digits[k : k + width], "little") >> bits) for k in range(0, length, width)]
        infinite = self.infinite * (sum(other.masses) + other.infinite) + other.infinite * sum(self.masses)
        return Losses(self.first + other.first, masses, -(-infinite >> bits))


def further_split(k: int, r: Fraction, bits: int, *, exchanged: bool) -> Fraction:
    """An upper bound of E(1 − r K)_+, or exchanged of E(K − r)_+, for r ≥ 1 (3)."""
    if exchanged:  # it falls with r: where nothing is left, the value for a smaller r will do
        r = min(r, 1 + max(Fraction(_NOTHING, k), Fraction(isqrt(_NOTHING * k) + 1, k)))
    law = poisson(k * r if exchanged else k / r, bits)
    total, at = law.mass(0, MOST_TERMS * k), law.mass(k, k)
    tail = law.mass(0, k - 1) if exchanged else law.mass(k + 1, MOST_TERMS * k)
    return min(ONE, max(ZERO, Fraction(at[1], total[0]) - (r - 1) * Fraction(tail[0], total[1])))


def refined(minima: tuple[int, int], depth: int, known: int, r: Fraction, bits: int | None) -> Interval:
    """Bounds of the bound by (2) to (4) with so many levels; `minima` are the two least ones of all cells."""
    if bits is None:
        raise TooLargeError("a table that the data refine is not computed exactly")
    alone = of_two_cells(*minima, known, r, bits)
    k = min(minima) - 1 - known
    if k < 1:
        return ONE, ONE

    def one_table(at: Fraction) -> Fraction:
        return of_two_cells(*minima, known, at, bits)[1]

    def rare(at: Fraction) -> Fraction:
        return further_split(k, at, bits, exchanged=False)

    def frequent(at: Fraction) -> Fraction:
        return further_split(k, at, bits, exchanged=True)

    last, enough = 1, _LEFT_OUT * alone[0]
    while max(curve(exponential(Fraction(last), bits)[0]) for curve in (one_table, rare, frequent)) > enough:
        last += 1
        if last > _FURTHEST:
            raise TooLargeError("what a split of a cell tells reaches too far")
    points = last
    while points < min(8 * (bits // 24) ** 2, _FINEST):
        points *= 2
    lattice = Lattice.until(last, points)
    flat, below, exchanged = (lattice.values(curve) for curve in (one_table, rare, frequent))
    product = lattice.masses(flat, flat)
    for values, other_order in ((below, exchanged), (exchanged, below)):
        stage = lattice.masses(values, other_order)
        for _ in range(depth - 1):
            product = product.then(stage, lattice.bits)
    return alone[0], min(ONE, lattice.stop_loss(product, r))
