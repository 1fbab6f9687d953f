"""Known entries at unknown places: the number of them that a part may hold.

The information in an answer never falls with the number of known entries, since revealing one more entry can only raise
δ. So let `D` be a function of the numbers `Z = (Z_1, ..., Z_G)` of known entries by group that is nondecreasing in each
of them. Let `b_1 ≤ b_2 ≤ ... ≤ b_L` be boxes, the last of them as large as Z can be. With `t_i ≥ P[Z is not within
b_i]` and `t_0 = 1 ≥ t_1 ≥ ... ≥ t_L = 0`,

    E[D(Z)] ≤ Σ_i (t_{i−1} − t_i) D(b_i):

Let `I` be the index of the first box that holds Z. Then `D(Z) ≤ D(b_I)`, `P[I > i] ≤ t_i`, and `D(b_i)` does not fall
with i. If Z has several coordinates, `t_i` is the sum of their exceedance probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from statpriv.distributions import laws
from statpriv.model.adversaries import Adversary
from statpriv.model.draws import compositions
from statpriv.numeric.search import least_integer

_TAILS = tuple(Fraction(1, k) for k in (2, 8, 64, 10**4, 10**7, 10**12, 10**20))
_FEW = 12
"""Numbers of known entries, or ways to spread them over groups, that are all gone through."""


@dataclass(frozen=True)
class Drawn:
    """The number of marked entries, such as known ones, among `draws` draws without replacement from `population`."""

    population: int
    marked: int
    draws: int

    @property
    def most(self) -> int:
        """The largest possible number."""
        return min(self.marked, self.draws)

    def chance_of_more(self, number: int) -> Fraction:
        """An upper bound on the probability of more than `number`.

        >>> round(float(Drawn(10, 5, 2).chance_of_more(1)), 12)
        0.222222222222
        """
        if number >= self.most:
            return Fraction(0)
        tail = laws.hypergeometric_upper_tail(
            number + 1, population=self.population, marked=self.marked, draws=self.draws
        )
        return min(Fraction(1), Fraction(tail.upper))

    def rarely_exceeded(self, chance: Fraction) -> int:
        """The least number that is at least the mean and is exceeded with at most this probability."""
        mean = self.marked * self.draws // max(self.population, 1)
        return least_integer(lambda number: self.chance_of_more(number) <= chance, min(mean, self.most), self.most)


def boxes(drawn: Sequence[Drawn]) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
    """Boxes that hold the numbers of known entries by group, and the weight of each.

    >>> [(round(float(weight), 12), box) for weight, box in boxes([Drawn(4, 2, 1)])]
    [(0.5, (0,)), (0.5, (1,))]
    """
    most = tuple(each.most for each in drawn)
    if len(most) == 1 and most[0] <= _FEW:
        nested: list[tuple[int, ...]] = [(number,) for number in range(most[0] + 1)]
    else:
        nested = [tuple(each.rarely_exceeded(tail) for each in drawn) for tail in _TAILS]
        nested = [*dict.fromkeys(nested), most] if nested[-1] != most else list(dict.fromkeys(nested))
    reached = Fraction(1)
    for box in nested:
        more = sum((each.chance_of_more(number) for each, number in zip(drawn, box, strict=True)), Fraction(0))
        outside = min(reached, more)
        if outside < reached:
            yield reached - outside, box
        reached = outside


def allocations(known: int, sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Numbers by group such that every split of `known` entries over the groups is at most one of them in each group.

    In units of `unit` entries, group h has `⌈u_h/unit⌉`, and all groups together at most `⌊(u + G (unit − 1))/unit⌋`.

    >>> allocations(2, [5, 1])
    [(1, 1), (2, 0)]
    >>> allocations(40, [50, 50, 50, 50, 50])
    [(40, 40, 40, 40, 40)]
    """
    groups = len(sizes)
    for unit in sorted({max(1, -(-known // pieces)) for pieces in (*range(1, _FEW), known or 1)}):
        total = (known + groups * (unit - 1)) // unit
        ways = {
            tuple(min(unit * number, known, size) for number, size in zip(numbers, sizes, strict=True))
            for numbers in (compositions(total, [total] * groups) if _are_few(total, groups) else ())
        }
        largest = [way for way in ways if not any(_is_below(way, other) for other in ways)]
        if 1 <= len(largest) <= _FEW:
            return sorted(largest)
    return [tuple(min(known, size) for size in sizes)]


def known_by_group(adversary: Adversary, groups: dict[str, int]) -> list[dict[str, int]]:
    """Maximal numbers of known entries by group: all possible numbers are at most one of these."""
    if adversary.by_group:
        return [dict(adversary.groups)]
    return [dict(zip(groups, numbers, strict=True)) for numbers in allocations(adversary.total, list(groups.values()))]


def _is_below(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def _are_few(total: int, groups: int) -> bool:
    """Whether the ways to write `total` as a sum of this many nonnegative numbers are few enough to enumerate."""
    return math.comb(total + groups - 1, groups - 1) <= _FEW**2
