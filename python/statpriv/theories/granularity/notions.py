"""Four notions of privacy with respect to a metric, and the composition of their budgets.

Each notion has coordinates that add up under composition: ε for pure privacy, ε and δ for approximate privacy, ρ for
zero-concentrated and μ² for Gaussian privacy. Over d steps a budget grows to

    dε;   (dε, δ (e^{dε} − 1)/(e^ε − 1)), that is δ·d for ε = 0;   d²ρ;   dμ

(Theorems III.3, VI.3, VI.12 and VI.20).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

from statpriv import budget
from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import as_items, as_tuple, as_word
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_nonnegative, as_probability, is_finite
from statpriv.numeric.intervals import bits_below_one, enclosure, exact, interval_context
from statpriv.numeric.literals import at_most, literal
from statpriv.theories.differential.gaussian import GaussianMechanism
from statpriv.theories.differential.laplace import LaplaceMechanism

Notion: TypeAlias = Literal["pure", "approximate", "zcdp", "gaussian"]
Value: TypeAlias = Fraction | Enclosure
"""An exact number, or an enclosure of an irrational one."""

Budget: TypeAlias = tuple[Fraction, ...]
"""A budget in additive coordinates: (ε,), (ε, δ), (ρ,) or (μ²,)."""

_ROOT_BITS = 160
_BITS = 256
_SHORT = 16
"""Exact numbers of at most this many characters are displayed in full."""


def as_notion(value: object) -> Notion:
    """The notion, or an error that lists the four."""
    return as_word(value, "notion", get_args(Notion))


def read_budgets(budgets: Iterable[Any], notion: Notion) -> list[Budget]:
    """The budget of each query, exactly."""
    listed = as_items(budgets, "budgets", "a sequence with the budget of each query is required")
    read = [_read(budget, notion, f"budgets[{i}]") for i, budget in enumerate(listed)]
    if not read:
        raise ArgumentError("budgets is empty; the budget of at least one query is required")
    return read


def _read(budget: Any, notion: Notion, name: str) -> Budget:  # noqa: ANN401
    if isinstance(budget, (GaussianMechanism, LaplaceMechanism)):
        return _of_mechanism(budget, notion, name)
    return _READERS[notion](budget, name)


def _of_mechanism(mechanism: GaussianMechanism | LaplaceMechanism, notion: Notion, name: str) -> Budget:
    """The budget of a noise mechanism: Gaussian noise has `μ² = 2ρ = (S/σ)²`, Laplace noise `ε = S/b` and `ρ = ε²/2`.

    Bun and Steinke, *Concentrated Differential Privacy*, Propositions 1.4 and 1.6.
    """
    if isinstance(mechanism, GaussianMechanism):
        square = mechanism.k * (mechanism.sensitivity / mechanism.sigma) ** 2
        found: dict[str, Budget] = {"gaussian": (square,), "zcdp": (square / 2,)}
    else:
        epsilon = mechanism.sensitivity / mechanism.scale
        found = {
            "pure": (mechanism.k * epsilon,),
            "approximate": (mechanism.k * epsilon, Fraction(0)),
            "zcdp": (mechanism.k * epsilon**2 / 2,),
        }
    if notion not in found:
        raise ArgumentError(f"{name} = {mechanism}; its noise has a budget as {' or '.join(map(repr, found))} only")
    return found[notion]


def _single(value: Number, name: str) -> Budget:
    return (as_nonnegative(value, name),)


def _pair(value: Any, name: str) -> Budget:  # noqa: ANN401
    epsilon, delta = as_tuple(value, name, "a pair (ε, δ) is required by the approximate notion")
    return as_nonnegative(epsilon, f"{name}[0]"), as_probability(delta, f"{name}[1]")


def _squared(value: Number, name: str) -> Budget:
    return (as_nonnegative(value, name) ** 2,)


_READERS: dict[Notion, Callable[[Any, str], Budget]] = {
    "pure": _single,
    "approximate": _pair,
    "zcdp": _single,
    "gaussian": _squared,
}


@dataclass(frozen=True)
class Figures:
    """A guarantee in the parameters of its notion; the other parameters are None."""

    epsilon: Value | float | None = None
    delta: Value | float | None = None
    rho: Value | float | None = None
    mu: Value | float | None = None

    @classmethod
    def of(cls, notion: Notion, coordinates: Sequence[Any]) -> Figures:
        """From coordinates: exact numbers, enclosures or infinity."""
        if notion == "pure":
            return cls(epsilon=coordinates[0], delta=Fraction(0))
        if notion == "approximate":
            return cls(epsilon=coordinates[0], delta=coordinates[1])
        if notion == "zcdp":
            return cls(rho=coordinates[0])
        return cls(mu=root(coordinates[0]))

    def __str__(self) -> str:
        if self.rho is not None:
            return f"ρ = {shown(self.rho)}"
        if self.mu is not None:
            return f"μ = {shown(self.mu)}"
        return f"ε = {shown(self.epsilon)}" + ("" if self.delta == 0 else f", δ = {shown(self.delta)}")


def shown(value: Value | float | None) -> str:
    """The exact value if it is short; otherwise six digits, rounded to the safe side."""
    if isinstance(value, Fraction):
        text = literal(value)
        return text if len(text) <= _SHORT else at_most(Enclosure(value).upper)
    return at_most(value.upper if isinstance(value, Enclosure) else float(value or 0))


def root(square: Fraction | float) -> Value | float:
    """The square root: exact if it is rational, else an enclosure.

    >>> root(Fraction(25, 4)), root(Fraction(2)).width < 1e-15
    (Fraction(5, 2), True)
    """
    if not is_finite(square):
        return math.sqrt(square)  # infinity
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if Fraction(top, bottom) ** 2 == square:
        return Fraction(top, bottom)
    # floor(√(x 4^k)) ≤ 2^k √x < floor(√(x 4^k)) + 1, with k large enough for a floor of _ROOT_BITS bits.
    places = _ROOT_BITS + max(0, square.denominator.bit_length() - square.numerator.bit_length())
    below = math.isqrt((square.numerator << (2 * places)) // square.denominator)
    return Enclosure(Fraction(below, 1 << places), Fraction(below + 1, 1 << places))


def grown(budget: Budget, notion: Notion, distance: Fraction) -> tuple[Value, ...]:
    """The coordinates of a budget over a distance; zero over distance 0."""
    if notion == "pure":
        return (distance * budget[0],)
    if notion == "approximate":
        return distance * budget[0], _grown_delta(budget[0], budget[1], distance)
    return (distance**2 * budget[0],)


def _grown_delta(epsilon: Fraction, delta: Fraction, distance: Fraction) -> Value:
    """`δ (e^{dε} − 1)/(e^ε − 1)`, which is δ for one step and δ·d for ε = 0."""
    if epsilon == 0 or distance in (0, 1) or delta == 0:
        return delta * distance
    if epsilon * max(distance, Fraction(1)) > budget.MAX_GROUP_EXPONENT:
        raise ArgumentError(f"epsilon = {literal(epsilon)} over {literal(distance)} steps; too large to be computed")
    # e^x − 1 loses about log2(1/x) bits for small x.
    lost = bits_below_one(epsilon) + bits_below_one(epsilon * distance)
    context = interval_context(_BITS + lost)
    numerator, denominator = (context.exp(exact(context, x)) - 1 for x in (epsilon * distance, epsilon))
    return enclosure(exact(context, delta) * numerator / denominator, least=0)
