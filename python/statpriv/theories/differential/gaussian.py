"""The Gaussian mechanism: its exact composition, and the calibration found in the literature.

`k` answers of sensitivity `S`, each with normal noise of standard deviation `σ`, have exactly the privacy curve of two
normal laws of variance one at distance `μ = √k S/σ`. The calibration of Kairouz, Oh and Viswanath (*The Composition
Theorem for Differential Privacy*, Theorem 15), `σ² = 8 k S² ln(e + ε/δ)/ε²`, is sufficient but loose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from statpriv import _native, budget
from statpriv._native import Enclosure
from statpriv.errors import ArgumentError, UndecidedError
from statpriv.numeric.exact import Number, as_count, as_fraction, as_positive, as_probability
from statpriv.numeric.literals import show
from statpriv.numeric.transcendental import exponential_ends, logarithm_ends
from statpriv.planning.sampling_error import root
from statpriv.theories.differential.inverse import least_epsilon
from statpriv.theories.differential.renyi import as_order

_ROOT_BITS = 200


@dataclass(frozen=True, init=False)
class GaussianMechanism:
    """k answers with normal noise, exactly.

    Parameters
    ----------
    sigma : float, int, Fraction, Decimal or str
        Standard deviation of the noise of each answer, above 0.
    sensitivity, k
        As for :class:`LaplaceMechanism`.

    Examples
    --------
    >>> import statpriv as sp
    >>> twenty = sp.differential.GaussianMechanism(sigma=10, k=20)
    >>> print(f"{twenty.delta(1).upper:.4e}, {twenty.epsilon('1e-5').upper:.4f}")
    3.1851e-03, 1.7601
    """

    sigma: Fraction
    sensitivity: Fraction
    k: int

    def __init__(self, *, sigma: Number, sensitivity: Number = 1, k: int = 1) -> None:
        object.__setattr__(self, "sigma", as_positive(sigma, "sigma"))
        object.__setattr__(self, "sensitivity", as_positive(sensitivity, "sensitivity"))
        object.__setattr__(self, "k", as_count(k, "k", least=1))

    @property
    def zcdp(self) -> Enclosure:
        """The least ρ of zero-concentrated differential privacy, `μ²/2` (Bun and Steinke, Proposition 1.6)."""
        return Enclosure(self._squared_distance / 2)

    def renyi(self, order: Number) -> Enclosure:
        """The Rényi divergence of order α > 1, `αμ²/2` in nats."""
        return Enclosure(as_order(order) * self._squared_distance / 2)

    def delta(self, epsilon: Number) -> Enclosure:
        """The least δ at which the k answers are (ε, δ)-differentially private; ε in nats, at least 0."""
        low, high = self._distance
        at_low = gaussian_delta(epsilon, mu=low)
        return at_low if low == high else Enclosure(at_low.lower, gaussian_delta(epsilon, mu=high).upper)

    def epsilon(self, delta: Number) -> Enclosure:
        """The least ε at which the k answers are (ε, δ)-differentially private; infinite at δ = 0."""
        target = as_probability(delta, "delta")
        return least_epsilon(self.delta, target) if target > 0 else Enclosure(math.inf)

    @property
    def _squared_distance(self) -> Fraction:
        return self.k * (self.sensitivity / self.sigma) ** 2

    @property
    def _distance(self) -> tuple[Fraction, Fraction]:
        """Bounds of `μ = √k S/σ`, from the integer square root; δ grows with μ."""
        ratio, scale = self.sensitivity / self.sigma, 1 << _ROOT_BITS
        root = math.isqrt(self.k * scale**2)
        is_square = root**2 == self.k * scale**2
        return ratio * Fraction(root, scale), ratio * Fraction(root if is_square else root + 1, scale)


def gaussian_delta(epsilon: Number, *, mu: Number) -> Enclosure:
    """The least δ at which two normal laws of variance one, `mu` apart, are (ε, δ)-indistinguishable.

    `Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)` (Balle and Wang, *Improving the Gaussian Mechanism for Differential Privacy*,
    Theorem 5).

    Parameters
    ----------
    epsilon : float, int, Fraction, Decimal or str
        ε in nats, at least 0.
    mu : float, int, Fraction, Decimal or str
        The distance in standard deviations, above 0.

    Returns
    -------
    Enclosure
        δ, a probability.

    Raises
    ------
    ArgumentError
        A value out of range.
    PrecisionError
        The normal tails at this ε and μ are beyond the kernel's range.

    Examples
    --------
    >>> import statpriv as sp
    >>> print(f"{sp.differential.gaussian_delta(1, mu=1).upper:.6f}")
    0.126937
    """
    return _native.gaussian_delta(epsilon, mu=mu)


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
    # δ increases in μ. A comparison that rounding leaves undecided lowers the lower end and raises the upper one.
    safe, open_from = 0.0, 1.0
    while gaussian_delta(epsilon, mu=open_from).upper <= target:
        safe, open_from = open_from, 2 * open_from
    open_to, unsafe = safe, open_from
    while gaussian_delta(epsilon, mu=unsafe).lower <= target:
        if unsafe > budget.MAX_GAUSSIAN_DISTANCE:  # the target is so close to 1 that doubles do not separate it from 1
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


def gaussian_deviation(epsilon: Number, delta: Number, *, answers: int) -> Enclosure:
    """The least standard deviation of normal noise with which so many answers of sensitivity 1 are (ε, δ)-private.

    It is `√k/μ` for k answers, μ being :func:`gaussian_distance`; δ is strictly between 0 and 1.
    """
    mu = gaussian_distance(epsilon, delta)
    least = root(answers / Fraction(mu.upper) ** 2).lower if math.isfinite(mu.upper) else 0.0
    return Enclosure(least, root(answers / Fraction(mu.lower) ** 2).upper if mu.lower else math.inf)


def gaussian_queries(epsilon: Number, delta: Number, *, variance: Number, sensitivity: Number) -> int:
    """The exact number of answers with normal noise of this variance that are together (ε, δ)-differentially private.

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
    ratio = as_positive(variance, "variance") / as_positive(sensitivity, "sensitivity") ** 2
    mu = gaussian_distance(epsilon, delta)
    return _certain_floor(Fraction(mu.lower) ** 2 * ratio, Fraction(mu.upper) ** 2 * ratio)


def kairouz_variance(epsilon: Number, delta: Number, *, queries: int, sensitivity: Number) -> Enclosure:
    """The noise variance of the literature's calibration, `8 k S² ln(e + ε/δ)/ε²`.

    It is valid for `ε <= 8 ln(e + ε/δ)`, which is checked; the printed "any ε > 0" fails for very large ε.
    """
    target = as_positive(epsilon, "epsilon")
    low, high = _kairouz_logarithm(target, as_positive(delta, "delta"))
    scale = 8 * as_count(queries, "queries", least=1) * as_positive(sensitivity, "sensitivity") ** 2 / target**2
    return Enclosure(scale * low, scale * high)


def kairouz_queries(epsilon: Number, delta: Number, *, variance: Number, sensitivity: Number) -> Enclosure:
    """`σ² ε²/(8 S² ln(e + ε/δ))`: the number of answers that the literature's calibration allows, not rounded."""
    target = as_positive(epsilon, "epsilon")
    low, high = _kairouz_logarithm(target, as_positive(delta, "delta"))
    scale = as_positive(variance, "variance") * target**2 / (8 * as_positive(sensitivity, "sensitivity") ** 2)
    return Enclosure(scale / high, scale / low)


def _kairouz_logarithm(epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of `ln(e + ε/δ)`; raises if the calibration is not proved at this ε."""
    (low, _), (_, high) = (logarithm_ends(e + epsilon / delta) for e in exponential_ends(Fraction(1)))
    if epsilon > 8 * low:
        raise ArgumentError(f"epsilon = {show(epsilon)}; the calibration is proved for ε <= 8 ln(e + ε/δ) only")
    return low, high


def _certain_floor(low: Fraction, high: Fraction) -> int:
    if math.floor(low) != math.floor(high):
        raise UndecidedError(f"the number lies between {float(low)} and {float(high)}: more digits are needed")
    return math.floor(low)
