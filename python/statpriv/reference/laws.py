"""Laws in exact rationals, and the hockey-stick divergence of two laws (Definition 2.3)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Generic, TypeAlias, TypeVar

from statpriv.errors import ArgumentError

Number: TypeAlias = int | float | str | Fraction | Decimal
"""An exact number: a float is the rational it stores; strings such as `"1/3"` and `"0.1"` are read exactly."""

Law: TypeAlias = Mapping[Hashable, Fraction]
"""Probabilities that sum to one; values that are left out have probability zero."""


Outcome = TypeVar("Outcome", bound=Hashable)


@dataclass(frozen=True)
class Weights(Generic[Outcome]):
    """A law over one denominator: an outcome has the probability `of[outcome] / total`.

    Enumerations add and multiply millions of probabilities. Of integers that takes a fraction of the time that it takes
    of Fractions, which are reduced after every step.
    """

    of: Mapping[Outcome, int]
    total: int

    @classmethod
    def from_law(cls, law: Mapping[Outcome, Fraction]) -> Weights[Outcome]:
        """The law over the least common denominator."""
        total = 1
        for mass in law.values():
            total *= Fraction(total, mass.denominator).denominator
        return cls({key: mass.numerator * (total // mass.denominator) for key, mass in law.items()}, total)

    def probabilities(self) -> dict[Outcome, Fraction]:
        """The law in Fractions."""
        return {key: Fraction(weight, self.total) for key, weight in self.of.items()}


def as_rational(number: Number, name: str) -> Fraction:
    """The number, exactly."""
    if isinstance(number, int | float | str | Fraction | Decimal):
        try:
            return Fraction(number)
        except (ValueError, OverflowError, ZeroDivisionError):
            pass
    raise ArgumentError(f'{name} = {number!r}; a finite number is required: a Fraction, int, float, Decimal or "1/3"')


def as_probability(number: Number, name: str) -> Fraction:
    """The number, if it lies between zero and one."""
    probability = as_rational(number, name)
    if not 0 <= probability <= 1:
        raise ArgumentError(f"{name} = {number!r}; a probability from 0 to 1 is required")
    return probability


def as_law(probabilities: Mapping[Any, Number], name: str) -> dict[Any, Fraction]:
    """The law, if it is one; probabilities are not normalised."""
    if not isinstance(probabilities, Mapping):
        raise ArgumentError(f'{name} = {probabilities!r}; a law is required, such as {{0: "2/3", 1: "1/3"}}')
    law = {key: as_probability(number, f"{name}[{key!r}]") for key, number in probabilities.items()}
    total = sum(law.values())
    if total != 1:
        raise ArgumentError(
            f"{name} sums to {total} (about {float(total):.17g}); a law sums to one exactly. "
            'A float is the rational it stores: write "0.3" or Fraction(3, 10) for three tenths'
        )
    return law


def coin(p: Number) -> dict[Hashable, Fraction]:
    """The law of an entry that has a property, value 1, with a probability p from 0 to 1, and value 0 otherwise.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.reference.coin("1/3")
    {0: Fraction(2, 3), 1: Fraction(1, 3)}
    """
    probability = as_probability(p, "p")
    return {0: 1 - probability, 1: probability}


def excess(p: Weights[Outcome], q: Weights[Outcome], x: Fraction) -> Fraction:
    """`Σ_a max(0, P(a) − x Q(a))`, the maximum of `P(S) − x Q(S)` over sets S of answers."""
    of_p, of_q = x.denominator * q.total, x.numerator * p.total
    found = sum(max(0, of_p * weight - of_q * q.of.get(answer, 0)) for answer, weight in p.of.items())
    return Fraction(found, x.denominator * p.total * q.total)


def hockey_stick(p: Mapping[Hashable, Number], q: Mapping[Hashable, Number], exp_epsilon: Number) -> Fraction:
    """The hockey-stick divergence `Σ_a max(0, P(a) − e^ε Q(a))` of two laws, exactly (Definition 2.3).

    Parameters
    ----------
    p, q : mapping from answers to probabilities
        The laws P and Q; each sums to one exactly.
    exp_epsilon : Fraction, int, float, Decimal or str
        `e^ε`, above 0 (ε may be negative here).

    Returns
    -------
    Fraction
        Between 0 and 1.

    Raises
    ------
    ArgumentError
        A law that does not sum to one, or `exp_epsilon <= 0`.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.reference.hockey_stick({"a": "3/4", "b": "1/4"}, {"a": "1/2", "c": "1/2"}, "3/2")
    Fraction(1, 4)
    """
    x = as_rational(exp_epsilon, "exp_epsilon")
    if x <= 0:
        raise ArgumentError(f"exp_epsilon = {exp_epsilon!r}; e^epsilon is above 0")
    return excess(Weights.from_law(as_law(p, "p")), Weights.from_law(as_law(q, "q")), x)
