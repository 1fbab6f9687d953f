"""Two sources of randomness one after the other: the data and noise, or two private mechanisms in a chain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from statpriv.enclosure import Enclosure
from statpriv.errors import ArgumentError
from statpriv.literals import at_most, spelled
from statpriv.numbers import Number, as_fraction, as_probability

if TYPE_CHECKING:
    from statpriv.curve import PrivacyCurve
    from statpriv.noise import Noise

__all__ = ["NestedGuarantee", "chained_epsilon", "nested_guarantee"]

_BITS = 200
_LARGEST = 10_000


@dataclass(frozen=True)
class NestedGuarantee:
    """ε of a noisy count by each of its two protections, and by both together.

    Attributes
    ----------
    data : Enclosure
        ε of the exact count: the randomness of the unknown records alone. In nats, as all of them.
    noise : Enclosure
        ε by the noise alone, whatever the attacker knows.
    together : Enclosure
        ε of the noisy count, exactly: both at once. At most the smaller of the two.
    curve : PrivacyCurve
        The last one at every ε.
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


def nested_guarantee(*, n: Number, p: Any, noise: Noise, known: Number, delta: Number) -> NestedGuarantee:  # noqa: ANN401
    """Data randomness and noise, against the number of records that the attacker knows.

    Parameters
    ----------
    n : int
        Records, the critical one included.
    p : number, or list of numbers
        The probability of each, as for `sp.PropertyQuery`.
    noise : a noise
        Of `sp.noise`: `DiscreteLaplace(alpha=)` is the two-sided geometric one, `Laplace(scale=)` has ε = 1/scale.
    known : int
        How many of the others the attacker has chosen to know (APKDP).
    delta : float, int, Fraction, Decimal or str
        δ at which ε is asked for.

    Returns
    -------
    NestedGuarantee

    Notes
    -----
    Source: Desfontaines, section 3.2.4, nested composition. There the two together are estimated; here the law of
    their sum is convolved exactly.

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

    target = as_probability(delta, "delta")
    count, population, adversary = sp.PropertyQuery(p), sp.Population(n), sp.Adversary(known=known)
    alone = sp.privacy_curve(count, population, adversary=adversary)
    noisy = sp.privacy_curve(count.noisy(noise), population, adversary=adversary)
    by_noise = sp.privacy_curve(count.noisy(noise), population, adversary=adversary, bound="noise")
    return NestedGuarantee(alone.epsilon(target), by_noise.epsilon(target), noisy.epsilon(target), noisy)


def chained_epsilon(*epsilons: Number) -> Enclosure:
    """ε of pure mechanisms in a chain, each applied to the output of the one before: the best that holds for all.

    Parameters
    ----------
    *epsilons : float, int, Fraction, Decimal or str
        ε of each in nats, at least 0; at least one.

    Returns
    -------
    Enclosure
        For two `ln((e^{ε1+ε2} + 1)/(e^{ε1} + e^{ε2}))`; attained by randomised responses.

    Raises
    ------
    ArgumentError
        No ε, or a negative one.

    Notes
    -----
    Source: Desfontaines, section 3.2.4, who cites it. In other words `tanh(ε/2)` is the product of the `tanh(ε_i/2)`: a
    randomised response tells the truth with a bias of `tanh(ε/2)`, and biases multiply. It is computed as
    `ln((1 + t)/(1 − t))` of that product t.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.partial_knowledge.chained_epsilon(1, 1).upper < 0.434
    True
    """
    from statpriv.differential.intervals import enclosure, interval_context, one_minus_exp

    values = [as_fraction(epsilon, f"epsilons[{k}]") for k, epsilon in enumerate(epsilons)]
    if not values or min(values) < 0:
        given = "none is given" if not values else f"{spelled(min(values))} is among them"
        raise ArgumentError(f"epsilons: numbers of at least 0 are required; {given}")
    if not all(values):
        return Enclosure(0)
    if min(values) > _LARGEST:
        raise ArgumentError(f"epsilons: the least is {spelled(min(values))}; at most {_LARGEST} is required")
    # t is at least the product of the ε_i/4 where these are small, and 1 − t at least e^{−min ε}: so many bits go.
    small = sum((4 * v.denominator // v.numerator).bit_length() + 2 for v in values)
    bits = _BITS + small + 2 * math.ceil(min(values)) + 2
    context = interval_context(bits)
    bias = context.mpf(1)
    for value in values:
        lost = one_minus_exp(context, value)
        bias *= lost / (2 - lost)
    found = enclosure(context.log((1 + bias) / (1 - bias)), least=0)
    return Enclosure(found.lower, min(found.upper, Enclosure(min(values)).upper))  # never above the least of them
