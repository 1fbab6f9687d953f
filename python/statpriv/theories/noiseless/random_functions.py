"""Random Boolean functions are private: Theorem 14 with explicit numbers.

Let f be uniform among the functions of n fair bits with values ±1, and `N = 2^n`. Each Fourier coefficient
`f^(S) = (1/N) Σ_x f(x) χ_S(x)` is a mean of N independent signs, so that `P[|f^(S)| > t] <= 2e^{−t²N/2}` (Hoeffding);
by the union bound all n+1 coefficients of sets of at most one entry are at most t in absolute value, except with
probability `2(n+1) e^{−t²N/2}`. Then `P[f = y | t_i = v] = (1 ± f^(∅) ± f^({i}))/2`. The ratio for the two values
decreases in the common part `1 ± f^(∅) >= 1 − t`, so it is at most `(1 − t + t)/(1 − t − t) = 1/(1−2t)`. So
`ε = −ln(1−2t)`, which is at most 4t only for t <= 0.398.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from statpriv import budget
from statpriv.errors import ArgumentError
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_fraction
from statpriv.numeric.intervals import enclosure, exact, interval_context, rational_ends
from statpriv.numeric.literals import spelled
from statpriv.theories.noiseless.levels import log_ratio

_BITS = 128


@dataclass(frozen=True)
class RandomFunction:
    """The guarantee of a random Boolean function of n fair bits.

    Attributes
    ----------
    entries
        n.
    advantage
        t: no constant and no single entry predicts the function with more advantage.
    epsilon
        ε of noiseless privacy in nats, `−ln(1−2t)`.
    failure
        An upper bound of the probability, over the choice of the function, that it is not ε-noiseless private.
    """

    entries: int
    advantage: Fraction
    epsilon: Enclosure
    failure: Enclosure


def random_function(entries: int, *, advantage: Number | None = None, failure: Number | None = None) -> RandomFunction:
    """The ε of a random Boolean function of n fair bits, and the probability that the function violates it.

    Parameters
    ----------
    entries : int
        n, from 1 to 10 000.
    advantage : float, int, Fraction, Decimal or str, optional
        t above 0 and below 1/2. The theorem writes ε for t, and 4ε for the guarantee, which is `−ln(1−2t)` here.
    failure : float, int, Fraction, Decimal or str, optional
        The allowed probability of failure, strictly between 0 and 1, instead of `advantage`. The least t that keeps
        it is taken, up to rounding.

    Returns
    -------
    RandomFunction
        `epsilon`, and `failure = 2(n+1)e^{−t² 2^n/2}`, at most 1.

    Raises
    ------
    ArgumentError
        Both or neither of `advantage` and `failure` are given; a value is out of range; or n is too small for any t
        below 1/2 to suffice.

    Notes
    -----
    Source: *Noiseless Database Privacy*, Theorem 14; the proof is in the module docstring.

    Examples
    --------
    >>> import statpriv as sp
    >>> found = sp.noiseless.random_function(20, failure="1e-9")
    >>> round(found.epsilon.upper, 4), found.failure.upper <= 1e-9
    (0.0138, True)
    """
    n = as_count(entries, "entries", least=1)
    if n > budget.MAX_RANDOM_FUNCTION_ENTRIES:
        raise ArgumentError(f"entries = {n}; at most {budget.MAX_RANDOM_FUNCTION_ENTRIES} are computed with")
    if (advantage is None) == (failure is None):
        raise ArgumentError("either advantage or failure is required: the t of the theorem, or how often it may fail")
    t = _least_advantage(n, as_fraction(failure, "failure")) if failure is not None else _exact(advantage)
    if not 0 < t < Fraction(1, 2):
        given = (
            f"advantage = {spelled(advantage)}" if failure is None else f"failure = {spelled(failure)} of {n} entries"
        )
        raise ArgumentError(f"{given}; an advantage t above 0 and below 1/2 is required")
    context = interval_context(_BITS + n)
    bound = 2 * (n + 1) * context.exp(-exact(context, t * t * 2 ** (n - 1)))
    return RandomFunction(n, t, log_ratio(1 / (1 - 2 * t)), enclosure(bound, least=0, most=1))


def _exact(advantage: Number | None) -> Fraction:
    return as_fraction(advantage, "advantage") if advantage is not None else Fraction(0)


def _least_advantage(n: int, failure: Fraction) -> Fraction:
    """A t a little above `√(2 ln(2(n+1)/failure)/2^n)`."""
    if not 0 < failure < 1:
        raise ArgumentError(f"failure = {spelled(failure)}; a probability strictly between 0 and 1 is required")
    context = interval_context(_BITS)
    _, square = rational_ends(2 * context.log(exact(context, 2 * (n + 1) / failure)))
    scaled = square / 2**n
    places = 64 + n
    return Fraction(math.isqrt((scaled.numerator << (2 * places)) // scaled.denominator) + 1, 1 << places)
