"""Random allocation: the counterpart of a secret partition in differential privacy.

Every entry takes part in one of m noisy answers, which is drawn at random and kept secret. Feldman and Shenfeld,
*Efficient Privacy Loss Accounting for Subsampling and Random Allocation*, account for it on a grid in floating point.
This module gives a certified upper bound, by the same idea as for exact composition over a secret partition.

With normal noise, one entry present or absent is `P = (1/m) Σ_i N(S e_i, σ²)` against `Q = N(0, σ²)` in m dimensions.
Under Q the ratio `P/Q = (Y_1 + … + Y_m)/m =: y` is a mean of independent lognormal variables, `ln Y ~ N(−μ²/2, μ²)`,
`μ = S/σ`, of mean one. With `K = e^ε` both directions are puts on y,

    E_Q[(P/Q − K)_+] = 1 − K + E(K − y)_+,        E_Q[(1 − K P/Q)_+] = K E(1/K − y)_+.

So both increase if Y is replaced by Y' with `u'(x) = E(x − Y')_+ >= u(x) = E(x − Y)_+` for all x. This is the order of
decreasing convex functions. Sums of independent variables preserve it: given the other terms, the payoff is a put on
one of them. u is convex, with the closed form `u(x) = x δ_μ(−ln x)` for `x <= 1` and `x − 1 + δ_μ(ln x)` for `x > 1`,
where `δ_μ` is the curve of one Gaussian answer. Take upper bounds of u on a grid. The greatest convex function below
them is at least u. Beyond the end of the grid it is continued by a ray of slope one, the largest slope of u. The kinks
of this function are the atoms of Y'.

The law of the sum is a power of an integer polynomial, with each coefficient rounded down. Mass lost by rounding is
counted as if y were zero. Sums beyond `m K` do not contribute and are cut off. The relative error of the grid is of the
order of the squared ratio of its step to the standard deviation of Y.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from statpriv import budget
from statpriv._native import Enclosure, gaussian_delta
from statpriv.errors import ArgumentError
from statpriv.numeric.exact import Number, as_count, as_fraction, as_positive
from statpriv.numeric.intervals import exact, interval_context, rational_ends
from statpriv.numeric.literals import spelled

_BITS = 128
"""Masses are multiples of 2^-128, so the mass lost by rounding is below 1e-30."""
_STEPS = ((64, 64), (1024, 32), (2**14, 16))
"""Pairs of a largest number of answers and the grid steps per standard deviation of Y."""
_DEVIATIONS = 11
"""Reach of the grid from the mean of `ln Y`, in standard deviations; the mass beyond it is 1e-28."""


def random_allocation_delta(epsilon: Number, *, sigma: Number, m: int, sensitivity: Number = 1) -> Enclosure:
    """An upper bound of δ(ε) where every entry takes part in one of m Gaussian answers, drawn in secret.

    Parameters
    ----------
    epsilon : float, int, Fraction, Decimal or str
        ε in nats, at least 0.
    sigma : float, int, Fraction, Decimal or str
        Standard deviation of the noise of each answer, above 0.
    m : int
        Number of answers, from 1 to 2^14. A hundred take a second, a thousand half a minute.
    sensitivity : float, int, Fraction, Decimal or str
        How far one entry, present or absent, moves the answer it takes part in; above 0.

    Returns
    -------
    Enclosure
        The value of the bound; its upper end is safe. The true δ may be below the lower end: for two answers by up to
        0.2 %, and by more for smaller δ. On the coarser grids beyond 64 and 1024 answers the gap is four and sixteen
        times as large.

    Raises
    ------
    ArgumentError
        The noise is too small for a grid, for instance as small as the sensitivity with 10^4 answers.

    Examples
    --------
    Twenty answers; each entry takes part in one of them, which is either secret or known:

    >>> import statpriv as sp
    >>> bound = sp.differential.random_allocation_delta("0.2", sigma=4, m=20)
    >>> print(f"{bound.upper:.2e}, known {sp.differential.gaussian_delta('0.2', mu='1/4').upper:.2e}")
    3.44e-06, known 3.31e-02
    """
    answers, mu = as_count(m, "m", least=1), as_positive(sensitivity, "sensitivity") / as_positive(sigma, "sigma")
    target = as_fraction(epsilon, "epsilon")
    known = gaussian_delta(target, mu=mu)  # an upper bound also with the secret, by joint convexity
    if answers == 1:
        return known
    if answers > budget.MAX_ALLOCATED_ANSWERS:
        raise ArgumentError(f"m = {spelled(m)}; at most {budget.MAX_ALLOCATED_ANSWERS} answers are summed up")
    context = interval_context(_BITS)
    least, most = rational_ends(context.exp(exact(context, target)))
    steps = next(steps for limit, steps in _STEPS if answers <= limit)
    total = _dominating(mu, answers * most, steps).power(answers, answers * most)

    def bound(factor: Fraction) -> Fraction:
        """The larger of both directions; it decreases in K. `total` is the law of the sum, m times the mean y."""
        present = 1 - factor + total.put(answers * factor) / answers
        return max(present, factor * total.put(answers / factor) / answers)

    upper = bound(least) + most * Fraction(total.lost, 1 << _BITS)
    return Enclosure(max(Fraction(0), min(bound(most), Fraction(known.lower))), min(upper, Fraction(known.upper)))


@dataclass(frozen=True)
class _Law:
    """Masses at `step·first, step·(first+1), …`, in units of 2^-128 and rounded down; `lost` is at least the rest."""

    step: Fraction
    first: int
    masses: list[int]
    lost: int

    def power(self, exponent: int, most: Fraction) -> _Law:
        """The law of a sum of independent copies, restricted to values below `most`."""
        result, square = None, self
        while True:
            if exponent % 2:
                result = square if result is None else result.plus(square, most)
            exponent //= 2
            if not exponent:
                return result or square
            square = square.plus(square, most)

    def plus(self, other: _Law, most: Fraction) -> _Law:
        """The law of the sum of two independent variables, by one product of the integers that pack the masses."""
        width = (2 * _BITS + 64) // 8
        packed = (
            int.from_bytes(b"".join(x.to_bytes(width, "little") for x in law.masses), "little") for law in (self, other)
        )
        first, terms = self.first + other.first, len(self.masses) + len(other.masses) - 1
        digits = math.prod(packed).to_bytes(terms * width, "little")
        kept = max(0, min(terms, math.floor(most / self.step) + 1 - first))
        masses = [int.from_bytes(digits[i * width : (i + 1) * width], "little") >> _BITS for i in range(kept)]
        while masses and not masses[-1]:
            masses.pop()
        leading = next((i for i, mass in enumerate(masses) if mass), 0)
        return _Law(self.step, first + leading, masses[leading:] or [0], self.lost + other.lost + kept)

    def put(self, strike: Fraction) -> Fraction:
        """`E(x − Y)_+` of the masses that are kept."""
        below = self.masses[: max(0, math.ceil(strike / self.step) - self.first)]
        mass, moment = sum(below), sum(i * x for i, x in enumerate(below, self.first))
        return (strike * mass - self.step * moment) / (1 << _BITS)


def _dominating(mu: Fraction, most: Fraction, steps: int) -> _Law:
    """A law on a grid whose puts are at least those of Y, up to `most`."""
    about = min(float(mu), 3.0)
    step = Fraction(1, 2 ** max(0, math.ceil(math.log2(steps / math.sqrt(math.expm1(about**2))))))
    low, high = math.exp(-_DEVIATIONS * about), min(math.exp(_DEVIATIONS * about), float(most) + 1)
    first, last = max(1, math.ceil(low / step)), math.ceil(high / step)
    if last - first > budget.MAX_ALLOCATION_GRID:
        raise ArgumentError(
            f"sigma is {float(1 / mu):.3g} times the sensitivity; at most {budget.MAX_ALLOCATION_GRID} grid points are "
            f"used, here {last - first}: more noise is required (gaussian_delta bounds δ without the secret)"
        )
    hull = [(0, Fraction(0))]
    for place in range(first, last + 1):
        point = (place, _put(mu, place * step))
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) >= _slope(hull[-1], point):
            hull.pop()
        hull.append(point)
    while len(hull) > 1 and _slope(hull[-2], hull[-1]) > step:
        hull.pop()
    # The slope of the chord from zero to the first grid point is mass at zero; it is counted as lost mass.
    start, before = hull[1][0], _slope(hull[0], hull[1]) / step
    masses = [0] * (hull[-1][0] - start + 1)
    for left, right in pairwise(hull[1:]):
        slope = _slope(left, right) / step
        masses[left[0] - start] = math.floor((slope - before) * 2**_BITS)
        before = slope
    masses[-1] = math.floor((1 - before) * 2**_BITS)
    return _Law(step, start, masses, 2**_BITS - sum(masses))


def _slope(left: tuple[int, Fraction], right: tuple[int, Fraction]) -> Fraction:
    return (right[1] - left[1]) / (right[0] - left[0])


def _put(mu: Fraction, x: Fraction) -> Fraction:
    """An upper bound of `u(x)`: δ_μ is decreasing, so it is evaluated at a lower bound of `|ln x|`."""
    context = interval_context(64)
    low, high = rational_ends(context.log(exact(context, x)))
    if x <= 1:
        return x * Fraction(gaussian_delta(max(Fraction(0), -high), mu=mu).upper)
    return x - 1 + Fraction(gaussian_delta(max(Fraction(0), low), mu=mu).upper)
