"""Two successive sources of randomness: the data and noise, or two private mechanisms in a chain.

If only a margin λ of the probabilities is known, B ~ Bin(n−1, 2λ) of the unknown others are fair coins (Theorem 3, see
`counting.py`), and an additional coin does not increase δ. So for any b, with Δ of the *noisy* count,

    δ(ε) <= P[B < b] + Δ_{b+1}(ε; 1/2).

The largest b is used for which the first term is at most δ/64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from statpriv import budget
from statpriv._native import binomial_upper_tail
from statpriv.errors import ArgumentError
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_fraction, as_probability
from statpriv.numeric.literals import abridged, at_most, spelled
from statpriv.theories.partial_knowledge.counting import bernoulli_curve

if TYPE_CHECKING:
    from statpriv.curves.curve import PrivacyCurve
    from statpriv.model.noise import Noise

_BITS = 200
_SPENT = 64


@dataclass(frozen=True)
class NestedGuarantee:
    """ε of a noisy count by each of its two protections, and by both together.

    Attributes
    ----------
    data : Enclosure
        ε of the exact count in nats, from the randomness of the unknown records alone.
    noise : Enclosure
        ε in nats from the noise alone, for any knowledge of the attacker.
    together : Enclosure
        ε of the noisy count in nats, from both. It is exact for a given p. For a margin it is a bound, at most the
        smaller of the other two.
    curve : PrivacyCurve
        The curve of the noisy count. For a margin it is the curve of b + 1 fair coins (see the module docstring).
    """

    data: Enclosure
    noise: Enclosure
    together: Enclosure
    curve: PrivacyCurve

    def explain(self) -> str:
        """The three numbers, as text."""
        return (
            f"By the data alone ε ≤ {at_most(self.data.upper)}, by the noise alone ε ≤ {at_most(self.noise.upper)}; "
            f"by both together ε ≤ {at_most(self.together.upper)}."
        )


def nested_guarantee(
    *,
    n: Number,
    p: Any = None,  # noqa: ANN401  (whatever PropertyQuery takes)
    margin: Number | None = None,
    noise: Noise,
    known: Number,
    delta: Number,
) -> NestedGuarantee:
    """ε from the randomness of the data, from noise, and from both, for a number of known records.

    Parameters
    ----------
    n : int
        Number of records, including the critical one.
    p : number, or list of numbers
        The probability of each, as for `sp.PropertyQuery`; or give `margin`.
    margin : number
        λ, above 0, at most 1/2: only bounds λ and 1 − λ of the probabilities are known (Theorem 3).
    noise : a noise
        From `sp.noise`: `DiscreteLaplace(alpha=)` is two-sided geometric noise, `Laplace(scale=)` has ε = 1/scale.
    known : int
        Number of the other records that the attacker chose to know (APKDP).
    delta : float, int, Fraction, Decimal or str
        δ at which ε is computed.

    Returns
    -------
    NestedGuarantee

    Raises
    ------
    ArgumentError
        Both or neither of `p` and `margin`, or a value outside its range.

    Notes
    -----
    Source: Desfontaines, section 3.2.4, nested composition. The source estimates the combined guarantee; here the law
    of the count plus noise is convolved exactly.

    Examples
    --------
    >>> import statpriv as sp
    >>> for known in (0, 900, 999):
    ...     found = sp.partial_knowledge.nested_guarantee(
    ...         n=1000, p="0.1", noise=sp.noise.DiscreteLaplace(alpha="0.6"), known=known, delta="1e-4"
    ...     )
    ...     print(f"{found.data.upper:.3f} {found.noise.upper:.3f} {found.together.upper:.3f}")
    0.323 0.511 0.297
    2.153 0.511 0.505
    inf 0.511 0.511
    """
    import statpriv as sp

    if (p is None) == (margin is None):
        given = "neither is given" if p is None else f"p = {abridged(p)} and margin = {spelled(margin)}"
        raise ArgumentError(f"either p or margin is required; {given}")
    target = as_probability(delta, "delta")
    if margin is not None:
        return _with_margin(n, margin, noise, known, target)
    count, population, adversary = sp.PropertyQuery(p), sp.Population(n), sp.Adversary(known=known)
    alone = sp.privacy_curve(count, population, adversary=adversary)
    noisy = sp.privacy_curve(count.noisy(noise), population, adversary=adversary)
    by_noise = sp.privacy_curve(count.noisy(noise), population, adversary=adversary, bound="noise")
    return NestedGuarantee(alone.epsilon(target), by_noise.epsilon(target), noisy.epsilon(target), noisy)


def _with_margin(n: Number, margin: Number, noise: Noise, known: Number, delta: Fraction) -> NestedGuarantee:
    import statpriv as sp

    coin = sp.PropertyQuery(Fraction(1, 2)).noisy(noise)
    by_noise = sp.privacy_curve(coin, sp.Population(1), bound="noise").epsilon(delta)
    by_data = bernoulli_curve(n=n, margin=margin, known=known).epsilon(delta)
    others = as_count(n, "n") - 1 - as_count(known, "known")
    coins, fewer = _almost_certain(others, 2 * as_fraction(margin, "margin"), delta / _SPENT)
    curve = sp.privacy_curve(coin, sp.Population(coins + 1))
    both = curve.epsilon(delta - fewer)
    ends = [(e.lower, e.upper) for e in (by_data, by_noise, both)]
    together = Enclosure(min(low for low, _ in ends), min(high for _, high in ends))
    return NestedGuarantee(by_data, by_noise, together, curve)


def _almost_certain(others: int, share: Fraction, most: Fraction) -> tuple[int, Fraction]:
    """The largest b for which `P[Bin(others, share) < b] <= most` is certain, and a bound of this probability."""

    def fewer(b: int) -> Fraction:
        """`P[B < b]` as an upper tail of the number of records that are not coins; 0 for b = 0."""
        return Fraction(binomial_upper_tail(others - b + 1, n=others, p=1 - share).upper) if b else Fraction(0)

    low, high = 0, others
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fewer(middle) <= most else (low, middle - 1)
    return low, fewer(low)


def chained_epsilon(*epsilons: Number) -> Enclosure:
    """The optimal ε of pure mechanisms in a chain, each applied to the output of the previous one.

    Parameters
    ----------
    *epsilons : float, int, Fraction, Decimal or str
        ε of each mechanism in nats, at least 0; at least one mechanism.

    Returns
    -------
    Enclosure
        ε in nats; for two mechanisms `ln((e^{ε1+ε2} + 1)/(e^{ε1} + e^{ε2}))`. It is attained by randomised responses.

    Raises
    ------
    ArgumentError
        No ε, or a negative one.

    Notes
    -----
    Source: Desfontaines, section 3.2.4, where the formula is cited. Equivalently, `tanh(ε/2)` is the product of the
    `tanh(ε_i/2)`: a randomised response tells the truth with a bias of `tanh(ε/2)`, and biases multiply. ε is computed
    as `ln((1 + t)/(1 − t))` from this product t.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.partial_knowledge.chained_epsilon(1, 1).upper < 0.434
    True
    """
    from statpriv.numeric.intervals import enclosure, interval_context, one_minus_exp

    values = [as_fraction(epsilon, f"epsilons[{k}]") for k, epsilon in enumerate(epsilons)]
    if not values or min(values) < 0:
        given = "none is given" if not values else f"{spelled(min(values))} is among them"
        raise ArgumentError(f"epsilons: numbers of at least 0 are required; {given}")
    if not all(values):
        return Enclosure(0)
    if min(values) > budget.MAX_NESTED_EPSILON:
        raise ArgumentError(
            f"epsilons: the least is {spelled(min(values))}; at most {budget.MAX_NESTED_EPSILON} is required"
        )
    # t is at least the product of the ε_i/4 (for small ε_i), and 1 − t at least e^{−min ε}: these bits are lost.
    small = sum((4 * v.denominator // v.numerator).bit_length() + 2 for v in values)
    bits = _BITS + small + 2 * math.ceil(min(values)) + 2
    context = interval_context(bits)
    bias = context.mpf(1)
    for value in values:
        lost = one_minus_exp(context, value)
        bias *= lost / (2 - lost)
    found = enclosure(context.log((1 + bias) / (1 - bias)), least=0)
    return Enclosure(found.lower, min(found.upper, Enclosure(min(values)).upper))  # never above the least of them
