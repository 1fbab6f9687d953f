"""The privacy loss random variable (PLRV), represented by its law.

For answers of law P, compared with Q, the loss of an answer a is `L = ln(P(a)/Q(a))`; it is infinite if Q excludes a.
For finite laws with rational probabilities `e^L` is rational, so the law of `e^L` is stored. It determines the privacy
curve: with `x = e^ε`,

    δ(ε) = E max(0, 1 − e^{ε−L}) = Σ_{r > x} p(r) (1 − x/r),

which is the hockey-stick divergence of P and Q. The tail `P[L > ε] >= δ(ε)` is often plotted in its place.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, product
from typing import Any

from statpriv.errors import ArgumentError
from statpriv.model.probabilities import as_law
from statpriv.numeric.arguments import as_mapping, is_mapping
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_fraction, as_nonnegative, as_positive, as_probability, is_finite
from statpriv.numeric.literals import abridged, spelled
from statpriv.theories.differential.inverse import least_epsilon

_BITS = 200
_INFINITE = math.inf


class PrivacyLoss:
    """A privacy loss random variable of finitely many values, exactly.

    Parameters
    ----------
    law : dict
        The probability of each value of `e^L`: a number from 0, or ``math.inf``.

    Attributes
    ----------
    law : dict
        The exact law in increasing order of `e^L`, without values of probability 0.

    Notes
    -----
    Source: the privacy loss random variable of partial knowledge, Desfontaines, section 3.2.1. The probabilities may
    sum to less than one. The missing mass has no loss; it is the mass of background knowledge that excludes one of the
    two records by itself.

    Examples
    --------
    >>> import statpriv as sp
    >>> loss = sp.partial_knowledge.PrivacyLoss.between({0: "1/4", 1: "3/4"}, {0: "3/4", 1: "1/4"})
    >>> loss.law
    {Fraction(1, 3): Fraction(1, 4), Fraction(3, 1): Fraction(3, 4)}
    >>> loss.exact_delta(exp_epsilon=2)
    Fraction(1, 4)
    """

    def __init__(self, law: Mapping[Any, Number]) -> None:
        masses: defaultdict[Fraction | float, Fraction] = defaultdict(Fraction)
        if not is_mapping(law):
            raise ArgumentError(f"law = {abridged(law)}; a dict from values of e^L to probabilities is required")
        for ratio, mass in law.items():
            value = _INFINITE if ratio == _INFINITE else as_fraction(ratio, "a value of e^L")
            if value < 0:
                raise ArgumentError(
                    f"e^L = {abridged(ratio)}; a ratio of probabilities, from 0 to math.inf, is required"
                )
            masses[value] += as_probability(mass, f"the probability of e^L = {spelled(ratio)}")
        if sum(masses.values()) > 1:
            raise ArgumentError(f"law sums to {abridged(sum(masses.values()))}; at most 1 is required")
        self.law = {ratio: masses[ratio] for ratio in sorted(masses) if masses[ratio]}

    @classmethod
    def between(cls, P: Mapping[Any, Number], Q: Mapping[Any, Number]) -> PrivacyLoss:  # noqa: N803  (the field's names)
        """The loss of an answer of law `P`, compared with `Q`: dicts from answers to probabilities that sum to one."""
        return cls.mixture([(Fraction(1), read_law(P, "P"), read_law(Q, "Q"))])

    @classmethod
    def mixture(cls, cases: Iterable[tuple[Fraction, Mapping[Any, Fraction], Mapping[Any, Fraction]]]) -> PrivacyLoss:
        """The loss of a mixture of pairs of laws, given with their weights; the attacker knows which pair occurs."""
        law: defaultdict[Fraction | float, Fraction] = defaultdict(Fraction)
        for weight, first, second in cases:
            for answer, mass in first.items():
                if mass:
                    other = second.get(answer, 0)
                    law[mass / other if other else _INFINITE] += weight * mass
        return cls(law)

    @property
    def mass_at_infinity(self) -> Fraction:
        """The probability of answers that exclude the other record; δ(ε) is at least this for every ε."""
        return self.law.get(_INFINITE, Fraction(0))

    def exact_delta(self, exp_epsilon: Number) -> Fraction:
        """`E max(0, 1 − e^ε/e^L)`, exactly, at `e^ε = exp_epsilon`, above 0."""
        return self._delta(as_positive(exp_epsilon, "exp_epsilon"))

    def delta(self, epsilon: Number) -> Enclosure:
        """`E max(0, 1 − e^{ε−L})`, the least δ; ε in nats, at least 0."""
        low, high = exponential(epsilon, self._beyond)
        return Enclosure(self._delta(high), self._delta(low))  # δ falls with e^ε

    def exceeds(self, epsilon: Number) -> Enclosure:
        """`P[L > ε]`, an upper bound of δ(ε); ε in nats, at least 0."""
        low, high = exponential(epsilon, self._beyond)
        return Enclosure(
            self._sums[bisect_right(self._ratios, high)][0], self._sums[bisect_right(self._ratios, low)][0]
        )

    def epsilon(self, delta: Number) -> Enclosure:
        """The least ε >= 0 in nats with `δ(ε) <= delta`; infinite if `delta` is below the mass at infinity."""
        target = as_probability(delta, "delta")
        if target < self.mass_at_infinity:
            return Enclosure(math.inf)
        if target == self.mass_at_infinity:
            return self._largest()
        return least_epsilon(self.delta, target)

    def renyi(self, order: Number) -> Enclosure:
        """The Rényi divergence of order α > 1, `ln E e^{(α−1)L} / (α−1)` in nats; infinite if L can be infinite.

        If the probabilities sum to less than one, the missing mass has loss 0.

        Examples
        --------
        >>> import statpriv as sp
        >>> loss = sp.partial_knowledge.PrivacyLoss.between({0: "1/4", 1: "3/4"}, {0: "3/4", 1: "1/4"})
        >>> print(f"{loss.renyi(2).upper:.4f}")  # ln(1/4 · 1/3 + 3/4 · 3)
        0.8473
        """
        from statpriv.numeric.intervals import enclosure, exact, interval_context
        from statpriv.theories.differential.renyi import as_order

        power = as_order(order) - 1
        if self.mass_at_infinity:
            return Enclosure(math.inf)
        context = interval_context(_BITS)
        moment = exact(context, 1 - sum(self.law.values()))
        for ratio, mass in self.law.items():
            if ratio:
                log = context.log(exact(context, Fraction(ratio)))
                moment += exact(context, mass) * context.exp(exact(context, power) * log)
        return enclosure(context.log(moment) / exact(context, power))

    def independent_sum(self, other: PrivacyLoss) -> PrivacyLoss:
        """The loss of two releases that are independent given the record (Proposition 29): L1 + L2.

        Examples
        --------
        >>> import statpriv as sp
        >>> loss = sp.partial_knowledge.PrivacyLoss.between({0: "1/4", 1: "3/4"}, {0: "3/4", 1: "1/4"})
        >>> loss.independent_sum(loss).law
        {Fraction(1, 9): Fraction(1, 16), Fraction(1, 1): Fraction(3, 8), Fraction(9, 1): Fraction(9, 16)}
        """
        if not isinstance(other, PrivacyLoss):
            raise ArgumentError(f"other = {abridged(other)}; another PrivacyLoss is required")
        law: defaultdict[Fraction | float, Fraction] = defaultdict(Fraction)
        for (first, p), (second, q) in product(self.law.items(), other.law.items()):
            infinite = _INFINITE in (first, second)  # ∞ − x = ∞
            law[_INFINITE if infinite else first * second] += p * q
        return PrivacyLoss(law)

    @cached_property
    def _ratios(self) -> list[Fraction]:
        return [ratio for ratio in self.law if is_finite(ratio)]

    @cached_property
    def _sums(self) -> list[tuple[Fraction, Fraction]]:
        """For each position `Σ p` and `Σ p/r` from there on, infinity included."""
        steps = [(self.law[ratio], self.law[ratio] / ratio if ratio else Fraction(0)) for ratio in self._ratios]
        start = (self.mass_at_infinity, Fraction(0))
        return list(accumulate(reversed(steps), lambda a, b: (a[0] + b[0], a[1] + b[1]), initial=start))[::-1]

    @property
    def _beyond(self) -> int:
        """An integer k such that e^k exceeds all finite ratios: `r < 2^k <= e^k`."""
        largest = self._ratios[-1] if self._ratios else Fraction(1)
        return max(largest.numerator.bit_length() - largest.denominator.bit_length() + 1, 1)

    def _delta(self, x: Fraction) -> Fraction:
        mass, over_ratio = self._sums[bisect_right(self._ratios, x)]
        return mass - x * over_ratio

    def _largest(self) -> Enclosure:
        """The largest finite loss, or 0 if it is negative."""
        from statpriv.numeric.intervals import enclosure, exact, interval_context

        largest = self._ratios[-1] if self._ratios else Fraction(1)
        if largest <= 1:
            return Enclosure(0)
        bits = _BITS + ((largest - 1).denominator // (largest - 1).numerator).bit_length()
        context = interval_context(bits)
        return enclosure(context.log(exact(context, largest)), least=0)

    def __eq__(self, other: object) -> bool:
        return self.law == other.law if isinstance(other, PrivacyLoss) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self.law.items()))

    def __repr__(self) -> str:
        infinite = float(self.mass_at_infinity)
        return f"<PrivacyLoss: {len(self.law)} values of e^L, infinite with probability {infinite:.3g}>"


class LossCurve:
    """The largest δ of several privacy losses: one for each pair of values and, if it is chosen, each background.

    Attributes
    ----------
    losses : dict of tuple to PrivacyLoss
        The losses, by pair of values and possibly background.
    """

    def __init__(self, losses: Mapping[tuple[Any, ...], PrivacyLoss]) -> None:
        self.losses = dict(losses)

    def delta(self, epsilon: Number) -> Enclosure:
        """The least δ at ε in nats, at least 0."""
        found = [loss.delta(epsilon) for loss in self.losses.values()]
        return Enclosure(max(d.lower for d in found), max(d.upper for d in found)) if found else Enclosure(0)

    def exact_delta(self, exp_epsilon: Number) -> Fraction:
        """The same at `e^ε = exp_epsilon`, exactly."""
        return max((loss.exact_delta(exp_epsilon) for loss in self.losses.values()), default=Fraction(0))

    def epsilon(self, delta: Number) -> Enclosure:
        """The least ε >= 0 in nats with `δ(ε) <= delta`; infinite where there is none."""
        found = [loss.epsilon(delta) for loss in self.losses.values()]
        return Enclosure(max(e.lower for e in found), max(e.upper for e in found)) if found else Enclosure(0)

    @property
    def mass_at_infinity(self) -> Fraction:
        """The largest probability of an answer that excludes a record; 1 means not private at any (ε, δ < 1)."""
        return max((loss.mass_at_infinity for loss in self.losses.values()), default=Fraction(0))

    def worst(self, epsilon: Number) -> tuple[Any, ...] | None:
        """What the loss with the largest δ at this ε is about; None if there is no pair to tell apart."""
        return max(self.losses, key=lambda about: self.losses[about].delta(epsilon).upper, default=None)

    def __repr__(self) -> str:
        return f"<LossCurve: the largest of {len(self.losses)} privacy losses>"


def read_law(law: object, name: str) -> dict[Any, Fraction]:
    """A law as a user writes it, exactly."""
    stated = as_mapping(law, name, "a dict from outcomes to probabilities is required")
    masses, _ = as_law([(f"{name}[{outcome!r}]", mass) for outcome, mass in stated.items()], name)
    return dict(zip(stated, masses, strict=True))


def exponential(epsilon: Number, most: int) -> tuple[Fraction, Fraction]:
    """Rationals around `e^ε`; from ε = `most` on, those of `most`, where nothing changes any more."""
    from statpriv.numeric.intervals import exact, interval_context, rational_ends

    value = as_nonnegative(epsilon, "epsilon")
    context = interval_context(_BITS)
    return rational_ends(context.exp(exact(context, min(value, Fraction(most)))))
