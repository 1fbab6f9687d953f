"""Sums of entries with a density on an interval: a certified bound of δ by a directed discretisation.

Cut the interval into m cells of width h, and let `c_k` be a lower bound of the density on cell k. An entry is drawn
from the step function c with probability `ρ = h Σ c_k`, and from the remainder of its density otherwise. Reveal to the
adversary which of the other entries come from the remainder, and their values; this does not decrease δ. The number of
entries from the step function is `B ~ Bin(n−1, ρ)`. Each of them is `h(K + U)` with K of law `c_k/Σc` and U uniform.
Reveal all but one of the U as well. For two values of the critical entry that differ by `h(t + θ)`, with an integer t
and `0 <= θ < 1`, the sums are then `h(S + t + θ + U)` and `h(S + U)`. The fractional parts of `θ + U` and of U are both
uniform, and `θ + U` carries 1 with probability θ. Let Δ_B^t be the curve of the lattice sum S of B entries for the
shift t. Then

    δ(ε) <= E_B[ (1−θ) Δ_B^t(ε) + θ Δ_B^{t+1}(ε) ].

If B = 0, everything is revealed, and Δ = 1. Δ_B decreases in B, so the mean over B is bounded by the mean with B
rounded down to one of a few thresholds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from statpriv import budget
from statpriv.curves.build import privacy_curve
from statpriv.distributions.laws import binomial_upper_tail
from statpriv.errors import ArgumentError
from statpriv.model.populations import Population
from statpriv.model.probabilities import listed_numbers
from statpriv.model.queries.sum import SumQuery
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_fraction, as_positive, is_array
from statpriv.numeric.literals import spelled
from statpriv.theories.noiseless.guarantee import NoiselessGuarantee

_THRESHOLDS = 12


def density_sum_guarantee(
    density: Sequence[Number],
    entries: int,
    epsilon: Number,
    *,
    width: Number,
    difference: Number,
    known: int = 0,
) -> NoiselessGuarantee:
    """(ε, δ)-statistical privacy of the exact sum of independent entries that have a density on an interval.

    Parameters
    ----------
    density : sequence
        A lower bound of the density, at least 0, on each of the equal cells of the interval; for a step function the
        density itself. Entries with different densities may share one such bound.
    entries : int
        Number n of entries, the critical one included.
    epsilon : float, int, Fraction, Decimal or str
        ε in nats, at least 0.
    width : float, int, Fraction, Decimal or str
        The width h of a cell, above 0.
    difference : float, int, Fraction, Decimal or str
        Distance of the two values of the critical entry, from 0 to the length of the interval.
    known : int, default 0
        Number of the other entries that are known.

    Returns
    -------
    NoiselessGuarantee
        An upper bound of δ: the lower end of the enclosure is 0.

    Raises
    ------
    ArgumentError
        A step function with a mass above one, or values out of range.

    Notes
    -----
    Replaces the asymptotic Theorems 7 and 8 of *Noiseless Database Privacy*; the proof is in the module docstring.

    Examples
    --------
    Ages that are uniform between 20 and 70, in cells of a year, and two people 10 years apart:

    >>> import statpriv as sp
    >>> found = sp.noiseless.density_sum_guarantee(["1/50"] * 50, 1000, "0.01", width=1, difference=10)
    >>> round(found.delta.upper, 4)
    0.0047
    """
    h = as_positive(width, "width")
    if not is_array(density):
        raise ArgumentError(f"density = {spelled(density)}; a list of numbers of at least 0, one a cell, is required")
    cells = [
        as_fraction(c, f"density[{k}]") for k, c in enumerate(listed_numbers(density, "density", "a list of numbers"))
    ]
    if negative := [c for c in cells if c < 0]:
        raise ArgumentError(f"density has {spelled(negative[0])}; numbers of at least 0 are required")
    if len(cells) > budget.MAX_DENSITY_CELLS:
        raise ArgumentError(f"density has {len(cells)} cells; at most {budget.MAX_DENSITY_CELLS} are computed with")
    mass = h * sum(cells, Fraction(0))
    if not 0 < mass <= 1:
        raise ArgumentError(f"width · Σ density = {spelled(mass)}; a mass above 0 and at most 1 is required")
    others = as_count(entries, "entries", least=1) - 1 - as_count(known, "known")
    if others < 0:
        raise ArgumentError(f"known = {known}; at most {entries - 1} of {entries} entries can be known")
    shift = as_fraction(difference, "difference") / h
    if not 0 <= shift <= len(cells):
        raise ArgumentError(f"difference = {spelled(difference)}; a number from 0 to the interval's {h * len(cells)}")
    t = math.floor(shift)
    theta = shift - t
    law = [c * h / mass for c in cells]
    bound = _mean_over_sizes(law, t, epsilon, others, mass) * (1 - theta)
    if theta:
        bound += _mean_over_sizes(law, t + 1, epsilon, others, mass) * theta
    theorem = "a directed discretisation of the density, in place of Theorems 7 and 8"
    delta = Enclosure(0, min(1.0, bound.upper))
    return NoiselessGuarantee(Enclosure(as_fraction(epsilon, "epsilon")), delta, "statistical", theorem)


def _mean_over_sizes(law: list[Fraction], shift: int, epsilon: Number, others: int, mass: Fraction) -> Enclosure:
    """An upper bound of `E[Δ_B^shift(ε)]` for `B ~ Bin(others, mass)`: B is rounded down to the next threshold."""
    if shift == 0:
        return Enclosure(0)
    sizes = _thresholds(others, mass)
    total = Enclosure(0)
    above = Enclosure(1)
    for size, following in zip(sizes, [*sizes[1:], None], strict=True):
        beyond = Enclosure(0) if following is None else binomial_upper_tail(following, n=others, p=mass)
        # max(0, ·): the difference of two enclosures may be negative, the probability is not.
        between = above - beyond
        total += Enclosure(max(0.0, between.lower), max(0.0, between.upper)) * _of_lattice(law, shift, epsilon, size)
        above = beyond
    return total


def _thresholds(others: int, mass: Fraction) -> list[int]:
    """Sizes at which the curve is evaluated: 0, and sizes around the mean of B in steps of half its deviation."""
    if mass == 1:
        return [0, others] if others else [0]
    mean, deviation = float(others * mass), math.sqrt(others * mass * (1 - mass))
    wanted = (math.floor(mean - k * deviation / 2) for k in range(_THRESHOLDS, -3, -1))
    far = (math.floor(mean - k * deviation) for k in (16, 12, 9, 7.5))
    return sorted({0, *(size for size in (*far, *wanted) if 0 < size <= others)})


def _of_lattice(law: list[Fraction], shift: int, epsilon: Number, size: int) -> Enclosure:
    """The curve of the sum of `size` lattice entries for a shift, the worse direction; 1 if there are no entries."""
    if size == 0:
        return Enclosure(1)
    masses: dict[int, Number] = {shift: 0, **dict(enumerate(law))}
    query = SumQuery(masses)
    each = [privacy_curve(query, Population(size + 1), pair=pair).delta(epsilon) for pair in ((shift, 0), (0, shift))]
    return Enclosure(max(one.lower for one in each), max(one.upper for one in each))
