"""The Gaussian mechanism: its exact composition, and the calibration found in the literature.

`k` answers of sensitivity `S`, each with normal noise of standard deviation `σ`, are together as private as one
normal law against another at distance `μ = √k S/σ`. That is exact. The calibration of Kairouz, Oh and
Viswanath (*The Composition Theorem for Differential Privacy*, Theorem 15), `σ² = 8 k S² ln(e + ε/δ)/ε²`, is
sufficient, and loose.
"""

from __future__ import annotations

import math
from fractions import Fraction

from statpriv._native import Enclosure, gaussian_delta
from statpriv.errors import ArgumentError, UndecidedError
from statpriv.literals import show
from statpriv.numbers import Number, as_count, as_fraction

__all__ = ["gaussian_delta", "gaussian_distance", "gaussian_queries", "kairouz_queries", "kairouz_variance"]

_LOGARITHM_BITS = 200
_LARGEST_DISTANCE = 1024.0


def gaussian_distance(epsilon: Number, delta: Number) -> Enclosure:
    """The largest distance `μ` of two normal laws of variance one that is still (ε, δ)-private.

    Parameters
    ----------
    epsilon : float, int, Fraction, Decimal or str
        ε in nats, at least 0.
    delta : float, int, Fraction, Decimal or str
        δ strictly between 0 and 1.

    Returns
    -------
    Enclosure
        μ; its lower end is safe.

    Examples
    --------
    >>> import statpriv as sp
    >>> mu = sp.differential.gaussian_distance("0.1", "0.01")
    >>> sp.differential.gaussian_delta("0.1", mu=mu.lower).upper <= 0.01
    True
    """
    target = as_fraction(delta, "delta")
    if not 0 < target < 1:
        raise ArgumentError(f"delta = {delta}; a number strictly between 0 and 1 is required")
    # δ grows with μ. A comparison that rounding leaves open counts against the lower end and for the upper one.
    safe, open_from = 0.0, 1.0
    while gaussian_delta(epsilon, mu=open_from).upper <= target:
        safe, open_from = open_from, 2 * open_from
    open_to, unsafe = safe, open_from
    while gaussian_delta(epsilon, mu=unsafe).lower <= target:
        if unsafe > _LARGEST_DISTANCE:  # δ is next to 1, and no double lies between
            open_to = unsafe = math.inf
            break
        open_to, unsafe = unsafe, 2 * unsafe
    while math.nextafter(safe, math.inf) < open_from:
        middle = safe + (open_from - safe) / 2
        if gaussian_delta(epsilon, mu=middle).upper <= target:
            safe = middle
        else:
            open_from = middle
    open_to = max(open_to, safe)
    while math.nextafter(open_to, math.inf) < unsafe:
        middle = open_to + (unsafe - open_to) / 2
        if gaussian_delta(epsilon, mu=middle).lower > target:
            unsafe = middle
        else:
            open_to = middle
    return Enclosure(safe, unsafe)


def gaussian_queries(epsilon: Number, delta: Number, *, variance: Number, sensitivity: Number) -> int:
    """How many answers with normal noise of this variance are together (ε, δ)-differentially private, exactly.

    Parameters
    ----------
    epsilon, delta : float, int, Fraction, Decimal or str
        The target; ε in nats.
    variance : float, int, Fraction, Decimal or str
        Variance of the noise of each answer, above 0.
    sensitivity : float, int, Fraction, Decimal or str
        How far one entry moves an answer, above 0.

    Returns
    -------
    int
        The largest `k` with `√k · sensitivity/σ` at most the distance that (ε, δ) allows.
    """
    ratio = _positive(variance, "variance") / _positive(sensitivity, "sensitivity") ** 2
    mu = gaussian_distance(epsilon, delta)
    return _certain_floor(Fraction(mu.lower) ** 2 * ratio, Fraction(mu.upper) ** 2 * ratio)


def kairouz_variance(epsilon: Number, delta: Number, *, queries: int, sensitivity: Number) -> Enclosure:
    """The noise variance that the literature's calibration asks for, `8 k S² ln(e + ε/δ)/ε²`.

    Valid for `ε <= 8 ln(e + ε/δ)`, which is checked (the printed "any ε > 0" fails for very large ε).
    """
    target = _positive(epsilon, "epsilon")
    low, high = _kairouz_logarithm(target, _positive(delta, "delta"))
    scale = 8 * as_count(queries, "queries", least=1) * _positive(sensitivity, "sensitivity") ** 2 / target**2
    return Enclosure(scale * low, scale * high)


def kairouz_queries(epsilon: Number, delta: Number, *, variance: Number, sensitivity: Number) -> Enclosure:
    """`σ² ε²/(8 S² ln(e + ε/δ))`: the number of answers that the literature's calibration allows, not rounded."""
    target = _positive(epsilon, "epsilon")
    low, high = _kairouz_logarithm(target, _positive(delta, "delta"))
    scale = _positive(variance, "variance") * target**2 / (8 * _positive(sensitivity, "sensitivity") ** 2)
    return Enclosure(scale / high, scale / low)


def _kairouz_logarithm(epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of `ln(e + ε/δ)`, by interval arithmetic of its own precision."""
    from mpmath import MPIntervalContext, mp

    intervals = MPIntervalContext()
    intervals.prec = _LOGARITHM_BITS
    ratio = epsilon / delta
    value = intervals.log(intervals.e + intervals.mpf(ratio.numerator) / intervals.mpf(ratio.denominator))
    low, high = (as_fraction(mp.make_mpf(end), "end") for end in value._mpi_)
    if epsilon > 8 * low:
        raise ArgumentError(f"epsilon = {show(epsilon)}; the calibration is proved for ε <= 8 ln(e + ε/δ) only")
    return low, high


def _positive(value: Number, name: str) -> Fraction:
    exact = as_fraction(value, name)
    if exact <= 0:
        raise ArgumentError(f"{name} = {value}; a number above 0 is required")
    return exact


def _certain_floor(low: Fraction, high: Fraction) -> int:
    if math.floor(low) != math.floor(high):
        raise UndecidedError(f"the number lies between {float(low)} and {float(high)}: more digits are needed")
    return math.floor(low)
