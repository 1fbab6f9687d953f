r"""The probability that every cell of a table of n rows holds its minimum, before the table is counted.

The counts are multinomial with cell probabilities p_1 … p_k, exact rationals. Two enclosures are intersected.

**From single cells.** Let q_i = P[N_i < T_i], a binomial tail that the kernel certifies. Then

    1 − Σ q_i  ≤  P[every N_i ≥ T_i]  ≤  Π (1 − q_i).

The left side is Bonferroni's. The right side holds because multinomial counts are negatively associated (K. Joag-Dev,
F. Proschan, Negative association of random variables, Ann. Statist. 11, 1983, 3.1 and P_2). They are at most
(Σ q_i)²/2 apart: close where the gate is likely to pass, which is what one plans for.

**By convolution**, where it is not too much work. Choose reference counts m_1 + … + m_k = n near n p_i, and let
w_i(c) = (n p_i)^{c−m_i} m_i!/c!. Then P[N = c] = P[N = m] Π_i w_i(c_i) whenever Σ c_i = n, so that

    P[every N_i ≥ T_i] = P[N = m] · Σ { Π_i w_i(c_i) : c_i ≥ T_i, Σ c_i = n },
    P[N = m] = Π_i Bin(m_i; m_1+…+m_i, p_i/(p_1+…+p_i)).

The sum is a convolution of positive numbers in doubles. Every term is a product of rounded factors, and sums of
positive numbers have at most the largest relative error of their terms, so that the result has a relative error of at
most E u/(1 − E u), where u = 2⁻⁵³ and E counts the roundings on a way: 4 for each step of a recurrence for w_i (n p_i
is rounded, which counts twice in a denominator, divided, and multiplied), and for each convolution the number of terms
of a sum, its product and the factor of the cell, in whatever order the terms are added (N. Higham, Accuracy and
Stability of Numerical Algorithms, 2002, ch. 3). Counts and partial sums outside windows of some nine standard
deviations are left out. That lowers the sum, by at most the binomial tails outside, which are certified and added to
the upper end. No number in the sum is small enough to underflow: where a factor is below 10⁻¹⁴⁰, the first enclosure is
given alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from statpriv import budget
from statpriv.distributions.laws import binomial_lower_tail, binomial_pmf, binomial_upper_tail
from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import is_list
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_nonnegative, is_array

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_UNIT = Fraction(1, 2**53)
_SMALLEST = 1e-140
"""Products of two numbers above it are far above the smallest normal double."""


def gate_probability(shares: Sequence[Number], n: Number, *, minimum: Number | Sequence[Number]) -> Enclosure:
    """The probability that each cell of a table of n rows has at least so many.

    Parameters
    ----------
    shares : sequence of number
        The expected shares of the cells, or the counts of an earlier table: only their ratios matter. They must not be
        taken from the table that is being planned.
    n : int
        Rows of the table, each in one cell, independently of the others.
    minimum : int, or one for each cell
        The least number of rows of every cell.

    Returns
    -------
    Enclosure
        Of the probability that the table is published.

    Raises
    ------
    ArgumentError
        A value that is not allowed; the message names it.

    Notes
    -----
    The probability is about shares that are exactly as stated; those of another year are not exactly those of this one.

    Examples
    --------
    >>> import statpriv as sp
    >>> passes = sp.design.gate_probability(["0.5", "0.3", "0.2"], 100, minimum=10)
    >>> passes.lower > 0.9967, passes.upper < 0.9978
    (True, True)
    >>> sp.design.gate_probability([1, 1], 3, minimum=2)
    Enclosure(0.0, 0.0)
    """
    probabilities, rows = cell_probabilities(shares), as_count(n, "n", least=1)
    least = _minimums(minimum, len(probabilities))
    if sum(least) > rows:
        return Enclosure(0.0, 0.0)
    cells = [(p, T) for p, T in zip(probabilities, least, strict=True) if p > 0 or T > 0]
    if any(p == 0 for p, _ in cells):
        return Enclosure(0.0, 0.0)
    cells.sort()  # small ones first: partial sums stay small
    lower, upper = _from_single_cells(cells, rows)
    summed = _by_convolution(cells, rows)
    if summed is not None:
        lower, upper = max(lower, summed[0]), min(upper, summed[1])
    return Enclosure(_down(max(lower, Fraction(0))), _up(min(upper, Fraction(1))))


def cell_probabilities(shares: Sequence[Number]) -> list[Fraction]:
    """Shares or counts, divided by their sum."""
    if not is_array(shares) or not len(shares):
        raise ArgumentError(f"shares = {shares!r}; a list with a share for each cell is required")
    if len(shares) > budget.MAX_PLANNED_CELLS:
        raise ArgumentError(f"shares: {len(shares)} cells; at most {budget.MAX_PLANNED_CELLS} are planned")
    weights = [as_nonnegative(share, f"shares[{k}]") for k, share in enumerate(shares)]
    total = sum(weights)
    if not total:
        raise ArgumentError("shares: all are zero; at least one cell needs rows")
    return [weight / total for weight in weights]


def _minimums(minimum: Number | Sequence[Number], cells: int) -> list[int]:
    if is_list(minimum):
        if len(minimum) != cells:
            raise ArgumentError(f"minimum: {len(minimum)} numbers for {cells} cells; one, or one for each, is required")
        return [as_count(each, f"minimum[{k}]") for k, each in enumerate(minimum)]
    return [as_count(minimum, "minimum")] * cells  # type: ignore[arg-type]  # a list is handled above


def _from_single_cells(cells: Sequence[tuple[Fraction, int]], n: int) -> tuple[Fraction, Fraction]:
    @cache
    def below(p: Fraction, least: int) -> tuple[Fraction, Fraction]:
        if least == 0:
            return Fraction(0), Fraction(0)
        tail = binomial_lower_tail(least - 1, n=n, p=p)
        return Fraction(tail.lower), Fraction(tail.upper)

    tails = [below(p, least) for p, least in cells]
    product = Fraction(1)
    for low, _ in tails:
        product = _above(product * (1 - low))
    return 1 - sum((high for _, high in tails), Fraction(0)), product


def _above(value: Fraction) -> Fraction:
    """A double from `value` on, so that products do not grow."""
    return Fraction(_up(value))


def _by_convolution(cells: Sequence[tuple[Fraction, int]], n: int) -> tuple[Fraction, Fraction] | None:
    """Both ends by the convolution; None where it is too much work, or next to underflow."""
    import numpy as np

    sums = list(accumulate(p for p, _ in cells))
    windows = [_window(n, p) for p, _ in cells]
    partial = [_window(n, each) for each in sums]
    work = sum((b - a + 1) * (d - c + 1) for (a, b), (c, d) in zip(windows[1:], partial[:-1], strict=True))
    if work > budget.MAX_GATE_PRODUCTS:
        return None
    reference = _reference(cells, n)
    roundings, left_out, ratio = 0, Fraction(0), Fraction(0)
    value: NDArray[np.float64] = np.ones(1)
    start = so_far = 0
    for (p, least), s, m, (low, high), (first, last) in zip(cells, sums, reference, windows, partial, strict=True):
        so_far += m
        weight = binomial_pmf(m, n=so_far, p=p / s)
        ratio += (Fraction(weight.upper) - Fraction(weight.lower)) / Fraction(weight.upper or 1)
        kept = max(low, least)
        if kept > high or weight.lower <= 0:
            return None
        terms = _weights(n, p, m, kept, high) * weight.upper
        left_out += _outside(n, p, low if kept == low else 0, high) + _outside(n, s, first, last)
        roundings += 4 * max(abs(kept - m), abs(high - m)) + min(len(terms), len(value)) + 3
        value, start = np.convolve(value, terms), start + kept
        begin, end = max(first, start), min(last, start + len(value) - 1)
        if begin > end:
            return None
        value, start = value[begin - start : end + 1 - start], begin
        if min(terms.min(), value.min()) < _SMALLEST:
            return None
    error = roundings * _UNIT / (1 - roundings * _UNIT)
    found = Fraction(float(value[n - start])) if 0 <= n - start < len(value) else Fraction(0)
    return found * (1 - error) * (1 - ratio), found * (1 + error) + left_out


def _reference(cells: Sequence[tuple[Fraction, int]], n: int) -> list[int]:
    """Counts next to the expected ones that sum to n."""
    ends = [round(n * each) for each in accumulate(p for p, _ in cells)]
    return [end - begin for begin, end in zip([0, *ends[:-1]], ends, strict=True)]


def _window(n: int, p: Fraction) -> tuple[int, int]:
    """Where the count of a cell almost surely lies; how surely is certified afterwards."""
    mean = n * float(p)
    wide = 9 * math.sqrt(mean * (1 - float(p)))
    return max(0, math.floor(mean - wide - 12)), min(n, math.ceil(mean + wide + 40))


def _outside(n: int, p: Fraction, low: int, high: int) -> Fraction:
    """At least the probability that a binomial count is below `low` or above `high`."""
    below = binomial_lower_tail(low - 1, n=n, p=p).upper if low > 0 else 0.0
    above = binomial_upper_tail(high + 1, n=n, p=p).upper if high < n else 0.0
    return Fraction(below) + Fraction(above)


def _weights(n: int, p: Fraction, m: int, low: int, high: int) -> NDArray[np.float64]:
    """w(low) … w(high), from w(m) = 1 by w(c) = w(c−1) n p/c upwards and by w(c) = w(c+1) (c+1)/(n p) downwards."""
    import numpy as np

    mean = float(n * p)
    begin, end = min(low, m), max(high, m)
    up = np.cumprod(mean / np.arange(m + 1, end + 1, dtype=float))
    down = np.cumprod(np.arange(m, begin, -1, dtype=float) / mean)[::-1]
    whole = np.concatenate([down, np.ones(1), up])
    return whole[low - begin : high + 1 - begin]


def _down(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)


def _up(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
