"""δ of histograms: the exact number of entries in each cell of a table.

Each of n independent entries is in cell v with probability p_v, which may be known only up to a range. Let r = e^ε.

1.  *Two cells.* Let s = p_v + p_w. The number of entries in v or w has the same law whether the critical entry is in v
    or in w. Given that number, only the count of v tells the two apart: a count of that many entries, each in v with
    probability p_v/s. With z the number of entries in neither cell,

        Δ_{v,w} = Σ_z P[Bin(n−1, 1−s) = z] · Δ_{1,0} of a count of n−z entries with p = p_v/s.

2.  *Ranges.* By (1) Δ_{v,w} depends on p_v and p_w alone. Splitting v into two cells, with the critical entry possibly
    in the first, reveals more: the original histogram is their sum. So Δ_{v,w} does not fall as p_v or p_w falls,
    and of all laws in the ranges only those with the least sum s matter: s = lo_v + lo_w, or what the upper ends of
    the other cells leave if that is more. There p_v ≥ a = max(lo_v, s − hi_w), p_w ≥ b = max(lo_w, s − hi_v), and
    Δ_{v,w} is at most the mean (1) of the largest Δ_{1,0} for p_v/s from a/s to 1 − b/s, with equality if this is one
    point. By the same argument, a pair of cells with larger a, b and s adds nothing.
3.  *The mean* is bounded in pieces. A count of more entries reveals no more: it is a count of fewer entries plus an
    independent summand. So Δ_{1,0} rises with z, and on a piece it lies between its values at the ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import permutations
from math import isqrt
from typing import ClassVar, TypeAlias

from .certificate import interval, listed, sizes, table
from .counts import (
    MOST_COSTS,
    MOST_TERMS,
    ONE,
    ZERO,
    CertificateError,
    Interval,
    Law,
    Part,
    TooLargeError,
    binomial,
    largest,
)

_MOST_CELLS, _MOST_PAIRS = 2**8, 2**7
_TOO_MANY = "too many pairs of cells of a large histogram matter"

Least: TypeAlias = "tuple[Fraction, Fraction, Fraction]"
"""a, b and s of (2)."""


@dataclass(frozen=True)
class Histogram:
    """`count` parts of `size` entries, each with a histogram of all cells, and the ranges of the cell probabilities."""

    cells: tuple[Interval, ...]
    size: int
    count: int
    attribute: str | None
    gate: None = None
    depth: ClassVar[int] = 1
    knows_shares: ClassVar[bool] = False

    @property
    def law(self) -> tuple[Interval, ...]:
        """The stated ranges."""
        return self.cells

    @property
    def is_point(self) -> bool:
        """Whether the ranges are a single law."""
        return all(low == high for low, high in self.cells)

    def cost(self, known: int) -> int:
        """Approximate number of terms computed, in units of about sixteen."""
        return 2**8 * len(self.pairs) * (64 + isqrt(self.size - known))

    @cached_property
    def pairs(self) -> list[Least]:
        """The least a, b and s for each pair of cells that matters (2)."""
        if len(self.cells) > _MOST_CELLS:
            raise TooLargeError(f"a histogram has more than {_MOST_CELLS} cells")
        found, highs = set(), sum(high for _, high in self.cells)
        for (low, high), (other_low, other_high) in permutations(self.cells, 2):
            together = max(low + other_low, 1 - (highs - high - other_high))
            found.add((max(low, together - other_high), max(other_low, together - high), together))
        kept: list[Least] = []
        for pair in sorted(found):
            if not any(all(least <= own for least, own in zip(other, pair, strict=True)) for other in kept):
                kept.append(pair)
            if len(kept) > _MOST_PAIRS:
                raise TooLargeError(_TOO_MANY)
        return kept

    def worst(self, _pair: object, known: int, r: Fraction, bits: int | None) -> Interval:
        """Bounds of Δ, or of a bound on it (2); known entries only shift the counts."""
        if self.cost(known) > MOST_COSTS:
            raise TooLargeError(_TOO_MANY)
        entries = self.size - known
        return largest([_of_two_cells(pair, entries, r, bits) for pair in self.pairs])


def _of_two_cells(pair: Least, entries: int, r: Fraction, bits: int | None) -> Interval:
    """Bounds of the mean (1) of the largest Δ_{1,0}."""
    first, second, together = pair

    @cache
    def value(elsewhere: int) -> Interval:
        counted = Part(first / together, 1 - second / together, entries - elsewhere, 1, None, None)
        return counted.published(0, r, bits)

    law = binomial(entries - 1, 1 - together, bits)
    if bits is None and len(law.terms) * entries > MOST_TERMS:
        raise TooLargeError("the exact fractions would be too many")
    return _mean(law, value, entries - 1, len(law.terms) if bits is None else bits // 4)


def _mean(law: Law, value: Callable[[int], Interval], most: int, splits: int) -> Interval:
    """Bounds of the mean of a nondecreasing function on 0 to `most` (3); the least precise pieces are split further."""

    def piece(first: int, last: int) -> Interval:
        low, high = law.mass(first, last)
        return low * value(first)[0], high * value(last)[1]

    ends = min(law.terms), max(law.terms)
    pieces = {ends: piece(*ends)}
    for _ in range(splits):
        long = [(high - low, ends) for ends, (low, high) in pieces.items() if ends[0] < ends[1]]
        if not long:
            break
        first, last = max(long)[1]
        del pieces[first, last]
        middle = (first + last) // 2
        pieces.update({ends: piece(*ends) for ends in ((first, middle), (middle + 1, last))})
    total = law.mass(0, most)
    low, high = (sum((bounds[end] for bounds in pieces.values()), ZERO) for end in (0, 1))
    return low / total[1], min(ONE, (high + law.below + law.above) / total[0])


def read_histogram(value: object, place: str, most: int) -> Histogram:
    """A part in which a histogram of at most `most` entries is asked."""
    part = table(value, place, {"cells", "size", "count", "attribute"})
    cells = tuple(interval(cell, f"{place}.cells[{k}]") for k, cell in enumerate(listed(part["cells"])))
    if len(cells) < 2 or not all(0 < low <= high < 1 for low, high in cells):
        raise CertificateError(f"{place}.cells: two or more ranges strictly between 0 and 1 are required")
    if not sum(low for low, _ in cells) <= 1 <= sum(high for _, high in cells):
        raise CertificateError(f"{place}.cells: ranges of probabilities that can sum to one are required")
    return Histogram(cells, *sizes(part, place, most))
