"""The normal law: tails and quantiles, and the privacy of two normal laws at an enclosed distance.

For x >= 0 let `I_n = ∫_x^∞ (t−x)^n φ(t) dt / n!`, all positive; the tail `P[N > x]` is I_0. Let `I_{−1} = φ(x)`.

*Far out*. Integration by parts gives `I_{n−1} = x I_n + (n+1) I_{n+1}`. So `ρ_n = I_{n−1}/I_n` satisfies
`ρ_n = x + (n+1)/ρ_{n+1}` and lies between x and `x + (n+1)/x`. The recursion from such an interval down to ρ_0 gives
the tail `φ(x)/ρ_0`.

*Near 0*, `Φ(x) − 1/2 = φ(x) Σ x^{2k+1}/(2k+1)!!`, with positive terms whose ratios `x²/(2k+3)` fall. Once a ratio is at
most 1/2, the remainder is at most the last term.
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any

from statpriv._native import gaussian_delta
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number
from statpriv.numeric.intervals import enclosure, exact, interval_context, rational_ends

_BITS = 160
_FAR = 2
"""Least x for which the recursion is used."""
_DEPTH = 400
"""Steps of the recursion: each shrinks the interval by `(n+1)/ρ²`, all together by about `e^{−2x√400}`."""
_MIN_TAIL = 1e-300
"""A smaller tail is too close to the underflow limit of doubles for an initial guess of its quantile."""


def normal_delta(epsilon: Number, mu: Enclosure) -> Enclosure:
    """δ of two normal laws of variance one at distance μ; it grows with μ and is 1 at infinity."""
    return Enclosure(_at(epsilon, mu.lower).lower, _at(epsilon, mu.upper).upper)


def _at(epsilon: Number, mu: float) -> Enclosure:
    if mu == 0:
        return Enclosure(0)
    return Enclosure(1) if math.isinf(mu) else gaussian_delta(epsilon, mu=mu)


def two_sided_tail(x: Fraction) -> Enclosure:
    """`P[|N| > x]` for a standard normal N and x >= 0.

    >>> two_sided_tail(Fraction(2))
    Enclosure(0.0455002638963584..., 0.0455002638963584...)
    """
    return enclosure(2 * _tail(x), least=0, most=1)


def normal_quantile(tail: Fraction) -> Enclosure:
    """The x with `P[N > x] = tail`, for a tail strictly between 0 and 1.

    >>> normal_quantile(Fraction(1, 2))
    Enclosure(0.0, 0.0)
    >>> print(f"{normal_quantile(Fraction(1, 40)).upper:.6f}")
    1.959964
    """
    half = Fraction(1, 2)
    if tail == half:
        return Enclosure(0)
    if tail > half:
        return -normal_quantile(1 - tail)
    guess = Fraction(_guess(tail))
    low, high, step = guess, guess, Fraction(math.ulp(guess))
    while low > 0 and rational_ends(_tail(low))[0] < tail:
        low, step = max(low - step, Fraction(0)), 2 * step
    while rational_ends(_tail(high))[1] > tail:
        high, step = high + step, 2 * step
    return Enclosure(low, high)


def _guess(tail: Fraction) -> float:
    """A number near the quantile, by Newton's method on the log of the tail; it affects only the running time."""
    far = tail < _MIN_TAIL
    x = math.sqrt(2 * _log(1 / tail)) if far else -NormalDist().inv_cdf(float(tail))
    for _ in range(8 if far else 1):
        ratio = rational_ends(_tail(Fraction(max(x, 0.0))))[0] / tail
        slope = x if far else NormalDist().pdf(x) / float(tail)
        x += (_log(ratio) if far else math.log1p(ratio - 1)) / slope
    return max(x, 0.0)


def _log(value: Fraction) -> float:
    """The logarithm of a number that may be outside the range of doubles."""
    return math.log(value.numerator) - math.log(value.denominator)


def _tail(x: Fraction) -> Any:  # noqa: ANN401  (mpmath has no types)
    """`P[N > x]`, x >= 0, as an interval."""
    context = interval_context(_BITS)
    here = exact(context, x)
    density = context.exp(-exact(context, x * x / 2)) / context.sqrt(2 * context.pi)
    if x >= _FAR:
        rho = context.mpf([here.a, (here + _DEPTH / here).b])
        for n in range(_DEPTH, 0, -1):
            rho = here + n / rho
        return density / rho
    square = exact(context, x * x)
    total, term, k, small = here, here, 0, context.mpf(2) ** -_BITS
    while x * x > Fraction(2 * k + 3, 2) or term.b > small:
        k += 1
        term = term * square / (2 * k + 1)
        total += term
    return context.mpf("0.5") - density * (total + context.mpf([0, term.b]))
