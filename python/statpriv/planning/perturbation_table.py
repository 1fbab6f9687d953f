"""Perturbation tables of greatest entropy, as statistics offices draw them up for the cell-key method.

Of all laws of what is added to a count c that have mean 0, a stated variance and a largest size, and that make no
published count negative or forbidden, the one of greatest entropy has probabilities ``∝ e^(aν + bν²)`` (Marley and
Leaver, *A Method for Confidentialising User-Defined Tables*; Giessing, *Computational Issues in the Design of
Transition Probabilities and Disclosure Risk Estimation for Additive Noise*). a and b are the minimum of the convex
function ``ln Σ e^(aν + bν²) − bV``, found by Newton's method. The table that results is exact: what
is computed in doubles is how near its mean is to 0 and its variance to V.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from statpriv.errors import ArgumentError
from statpriv.model.perturbations import CellKey
from statpriv.numeric.calls import answered
from statpriv.numeric.exact import Number, as_count, as_positive

__all__ = ["perturbation_table"]

_MOST = 100
_STEPS = 200
_CLOSE = 1e-12
_PLACES = 2**40
"""Probabilities are multiples of one part in so many: what rounding leaves goes to the likeliest."""


@answered
def perturbation_table(*, largest: Number, variance: Number, smallest: Number = 1) -> CellKey:
    """The perturbation table of greatest entropy with this largest change and variance.

    Parameters
    ----------
    largest : int
        The largest size of what is added, from 1 to 100.
    variance : float, int, Fraction, Decimal or str
        The variance of what is added to each count but 0, above 0. The mean is 0.
    smallest : int, default 1
        The smallest count, other than 0, that is published. With 3, no 1 and no 2 is ever published.

    Returns
    -------
    noise.CellKey
        A count of 0 stays 0; counts from `largest` + `smallest` on are all treated alike.

    Raises
    ------
    ArgumentError
        A value that is not allowed, or a variance that some count cannot have; the message names both.

    Examples
    --------
    >>> import statpriv as sp
    >>> key = sp.design.perturbation_table(largest=5, variance=3, smallest=3)
    >>> key
    noise.CellKey(<counts 0 to 8, then as 8; from -5 to +5>)
    >>> sorted(key.law_for(1))
    [0, 3, 4, 5, 6]
    >>> round(sp.perturbation_curve(key).delta(1).upper, 3)
    0.266
    """
    most, least = as_count(largest, "largest", least=1), as_count(smallest, "smallest", least=1)
    spread = float(as_positive(variance, "variance"))
    if most > _MOST:
        raise ArgumentError(f"largest = {most}; a number from 1 to {_MOST} is required")
    if least > most:
        raise ArgumentError(f"smallest = {least}, largest = {most}; a count of 1 could only be published as 0")
    rows: list[dict[int, Number]] = [{0: 1}]
    alike = most if least == 1 else most + least  # from here on nothing that is added is forbidden
    for count in range(1, alike + 1):
        allowed = [v for v in range(-most, most + 1) if count + v == 0 or count + v >= least]
        rows.append(_rounded(allowed, _of_greatest_entropy(allowed, spread, count)))
    return CellKey(rows)


def _of_greatest_entropy(allowed: Sequence[int], variance: float, count: int) -> list[float]:
    largest = (
        -allowed[0] * allowed[-1]
    )  # of all laws of mean 0 on these values: the two ends, one below 0 and one above
    nearest = [max((v for v in allowed if v <= 0), default=-1), min(v for v in allowed if v >= 0)]
    if not -nearest[0] * nearest[1] < variance < largest:
        raise ArgumentError(
            f"variance = {variance:g}; what is added to a count of {count} can have variances between "
            f"{-nearest[0] * nearest[1]} and {largest} only: choose one, another `largest` or another `smallest`"
        )
    a = b = 0.0
    for _ in range(_STEPS):
        masses = _masses(allowed, a, b)
        moments = [sum(mass * v**power for mass, v in zip(masses, allowed, strict=True)) for power in range(5)]
        first, second = moments[1], moments[2] - variance
        if abs(first) + abs(second) < _CLOSE * variance:
            break
        aa, ab, bb = moments[2] - moments[1] ** 2, moments[3] - moments[1] * moments[2], moments[4] - moments[2] ** 2
        determinant = aa * bb - ab * ab
        step_a, step_b = (bb * first - ab * second) / determinant, (aa * second - ab * first) / determinant
        here, length = _potential(allowed, a, b, variance), 1.0
        while length > _CLOSE and _potential(allowed, a - length * step_a, b - length * step_b, variance) > here:
            length /= 2
        a, b = a - length * step_a, b - length * step_b
    return _masses(allowed, a, b)


def _masses(allowed: Sequence[int], a: float, b: float) -> list[float]:
    exponents = [a * v + b * v * v for v in allowed]
    highest = max(exponents)
    weights = [math.exp(exponent - highest) for exponent in exponents]
    return [weight / sum(weights) for weight in weights]


def _potential(allowed: Sequence[int], a: float, b: float, variance: float) -> float:
    exponents = [a * v + b * v * v for v in allowed]
    highest = max(exponents)
    return highest + math.log(sum(math.exp(exponent - highest) for exponent in exponents)) - b * variance


def _rounded(allowed: Sequence[int], masses: Sequence[float]) -> dict[int, Number]:
    """Multiples of one part in 2^40 that sum to one."""
    exact = {v: Fraction(round(mass * _PLACES), _PLACES) for v, mass in zip(allowed, masses, strict=True)}
    likeliest = max(exact, key=lambda v: exact[v])
    exact[likeliest] += 1 - sum(exact.values())
    return dict(exact)
