"""δ of exact tables that are published only if every possible cell holds a minimum number of entries.

n independent entries share one law over the cells, whatever it is. The exact table is published if every possible cell
v has at least T_v ≥ 2 entries; otherwise that fact is. Let r = e^ε, and h(k, l) = P[B ≥ k] − r P[B ≥ k+1] for
B ~ Bin(k+l, p) with p = k/(k + l r), and 1 if k or l is 0. In (3) of counts.py this is h_k for N = k + l.

1.  *Two cells.* Let the critical entry be in v or w, and k_v, k_w the known entries there, k_v + k_w ≤ u. Suppose the
    reader is told the number of the other unknown entries in each other cell. This number has one law under both
    values. If the table can still be published, c_v is a count of N₁ unknown entries for some p, published only within
    [a, N₁ − b], where a = T_v − k_v, b = T_w − k_w and N₁ ≥ a + b. By (3) of counts.py, Δ_{v,w} is at most
    max(h(a−1, N₁−a), h(N₁−b, b−1)).
2.  *Every n.* h(k, l) is the mean of (L − r K)_+, where K and L are independent means of k and of l standard
    exponential variables. The mean of m of them is, given that of m + 1, equal to it on average. By Jensen's inequality
    h falls as k or l rises. So N₁ = a + b is the worst, Δ_{v,w} ≤ max(h(a−1, b), h(a, b−1)), and the worst k_v + k_w
    is u.
3.  *Every split of the known entries.* In both directions these are h(k, N−k) with N = T_v + T_w − 1 − u, and k from
    T_v − u − 1 to T_v, or from T_w − u − 1 to T_w. For one N, h strictly falls and then strictly rises in k
    (docs/explanation/ranges.md), so that only the ends of k count. If u ≥ T_v − 1, all other entries of v may be known
    ones, and the critical entry is missing: Δ ≤ 1.
4.  *Every pair of cells.* By (2) the two cells with the least minima are the worst. Of a public classification each
    class is published by itself, if its own cells hold their minima. Laws may differ between the classes. The class of
    the critical entry is public, and the other tables do not depend on it: the worst class counts.
5.  *On a part* of a secret random partition, z of the known entries are in the part, and u = z.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any, ClassVar

from .certificate import listed, sizes, table, whole
from .counts import MOST_COSTS, ONE, CertificateError, Interval, TooLargeError, largest, one_direction

_MOST_CLASSES, _DEEPEST = 2**10, 50


@dataclass(frozen=True)
class Table:
    """`count` parts of `size` entries, each with a table; `minima` are the two least ones of each class.

    `depth` is the number of tables of a ladder, or of dimensions of a tree; 1 for a table that is all or nothing.
    """

    minima: tuple[tuple[int, int], ...]
    size: int
    count: int
    attribute: str | None
    depth: int = 1
    is_point: ClassVar[bool] = False
    knows_shares: ClassVar[bool] = True

    @property
    def gate(self) -> tuple[tuple[int, int], ...]:
        """What withholds a table."""
        return self.minima

    @property
    def law(self) -> tuple[tuple[int, int], ...]:
        """What tells tables of one attribute apart: there is no law."""
        return self.minima

    def cost(self, known: int) -> int:
        """Approximate number of terms computed, in units of about sixteen, plus a constant for each class."""
        return self._cost if self.depth == 1 else self._cost * (1 + 4 * isqrt(min(known, self.size)))

    @property
    def _cost(self) -> int:
        """The same for one number of known entries in the part."""
        points = 1 if self.depth == 1 else 2**11 * self.depth
        return points * sum(64 + 4 * isqrt(first + second) for first, second in self.minima)

    def worst(self, _pair: object, known: int, r: Fraction, bits: int | None) -> Interval:
        """Bounds of the bound on Δ (3, 4)."""
        if self._cost > MOST_COSTS:
            raise TooLargeError("too many large classes differ")
        if self.depth == 1:
            return largest([of_two_cells(*least, known, r, bits) for least in self.minima])
        from .stages import refined

        return largest([refined(least, self.depth, known, r, bits) for least in self.minima])


@dataclass(frozen=True)
class Rule:
    """A rule of publication, for every number of entries and of cells, to someone who knows `known` other entries."""

    table: Table
    known: int

    @property
    def is_refined(self) -> bool:
        """Whether the data choose the cells."""
        return self.table.depth > 1

    def bound(self, r: Fraction, bits: int | None) -> Interval:
        """Bounds of the bound on Δ."""
        return self.table.worst(None, self.known, r, bits)


def height(k: int, l: int, r: Fraction, bits: int | None) -> Interval:  # noqa: E741  (its name in every statement)
    """Bounds of h(k, l)."""
    if k < 1 or l < 1:
        return ONE, ONE
    return one_direction(k + l + 1, k / (k + l * r), ONE, r, bits)


def of_two_cells(first: int, second: int, known: int, r: Fraction, bits: int | None) -> Interval:
    """Bounds of the largest height of any split of the known entries over two cells, in both directions (3)."""
    if known >= min(first, second) - 1:
        return ONE, ONE
    others = first + second - 1 - known
    ends = {end for minimum in (first, second) for end in (minimum - known - 1, minimum)}
    return largest([height(k, others - k, r, bits) for k in ends])


def _minima(value: object, place: str) -> tuple[tuple[int, int], ...]:
    if not listed(value) or len(listed(value)) > _MOST_CLASSES:
        raise CertificateError(f"{place}: a list of 1 to {_MOST_CLASSES} pairs of minima is required")
    pairs = []
    for k, pair in enumerate(listed(value)):
        if len(listed(pair)) != 2:
            raise CertificateError(f"{place}[{k}]: the two least minima of the cells of a class are required")
        least = whole(pair[0], f"{place}[{k}]", 2, 2**53)
        pairs.append((least, whole(pair[1], f"{place}[{k}]", least, 2**53)))
    return tuple(pairs)


def _depth(stated: dict[str, Any], place: str) -> int:
    """The levels of a table that the data refine (stages.py), where they are stated."""
    return whole(stated["depth"], f"{place}.depth", 2, _DEEPEST) if "depth" in stated else 1


def read_table(value: dict[str, Any], place: str, most: int) -> Table:
    """A part in which a table of at most `most` entries is asked."""
    part = table(value, place, {"minima", "size", "count", "attribute", *{"depth"} & {*value}})
    return Table(_minima(part["minima"], f"{place}.minima"), *sizes(part, place, most), _depth(part, place))


def read_rule(value: dict[str, Any]) -> Rule:
    """A rule of publication."""
    stated = table(value, "situation", {"minima", "known_rows", *{"depth"} & {*value}})
    known = whole(stated["known_rows"], "situation.known_rows", 0, 2**53)
    minima, depth = _minima(stated["minima"], "situation.minima"), _depth(stated, "situation")
    return Rule(Table(minima, 1, 1, None, depth), known)
