"""Counts of the same users on two days, whose habits are correlated (Example 9).

User j uses a feature on the first day with probability P(x1), and on the second with P(x2 | x1), independently of the
other users; both counts are released. The paper assumes `P(x2|x1)/P(x2)` within `e^{±μ}` and says that the counts are
then (μ, 0)-bounded dependent. They are not: see `tests/theorems/test_partial_knowledge_dependency.py`. What holds is

    Dep <= c + d,    c = max |logit P(x2|x1) − logit P(x2)|,    d = max |ln P(x2|x1)/P(x2|x1')|,

wherever Dep is finite. With S1, S2 the counts of the others, k = o2 − x2, a = o1 − x1 and k', a' those of t',

    Dep = ln P(S2=k|S1=a)/P(S2=k'|S1=a) − ln P(S2=k)/P(S2=k') + ln P(S2=k'|S1=a)/P(S2=k'|S1=a').

First two terms, at most c: given all first days S2 is a sum of independent bits of odds w_j, and `P(S2=k)/P(S2=k−1)`
is the ratio of elementary symmetric polynomials `e_k(w)/e_{k−1}(w)`. By Newton's inequality it grows with each w_j, and
it is homogeneous of degree one, so that odds within `e^{±c}` of those of P(x2) move it by that much at most; a mixture
over first days is a mediant. Last term, at most d: independent bits of given sum a and of given sum a + 1 can be
coupled so that one bit is added (stochastic covering: Pemantle and Peres, *Concentration of Lipschitz functionals of
determinantal and other strong Rayleigh measures*, 2014), and one user's changed first day changes the law of S2 by a
factor within `e^{±d}`. It is not there where x1 = x1', nor are the first two where x2 = x2'.

Dep is infinite just where t' excludes a count: `ν = P[S1 is at its end or S2 is at its end]`, for the worst ends.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

from statpriv.enclosure import Enclosure
from statpriv.errors import ArgumentError
from statpriv.literals import abridged, spelled
from statpriv.numbers import Number, as_fraction
from statpriv.partial_knowledge.dependency import dependency_curve
from statpriv.partial_knowledge.loss import LossCurve

__all__ = ["BoundedDependency", "DailyCounts"]

_BITS = 160
_DAYS: tuple[tuple[int, int], ...] = ((0, 0), (0, 1), (1, 0), (1, 1))
_MOST_ENUMERATED = 100
_Habit = tuple[Fraction, Fraction, Fraction]


class BoundedDependency(NamedTuple):
    """(μ, ν): μ in nats."""

    mu: Enclosure
    nu: Fraction


class DailyCounts:
    """Counts of users on two days, all exact (Example 9).

    Parameters
    ----------
    others : sequence of (P(x1 = 1), P(x2 = 1 | x1 = 1), P(x2 = 1 | x1 = 0))
        The habits of each user but the critical one, at least one, all numbers above 0 and below 1. Of the critical
        one nothing is assumed.

    Examples
    --------
    >>> import statpriv as sp
    >>> days = sp.partial_knowledge.DailyCounts([("0.3", "0.45", "0.4")] * 10)
    >>> for mu in (days.printed_mu(), days.largest_dependency(), days.certified().mu):
    ...     print(f"{mu.upper:.3f}")
    0.081
    0.238
    0.260
    """

    def __init__(self, others: Sequence[tuple[Number, Number, Number]]) -> None:
        if not isinstance(others, Sequence) or not others:
            raise ArgumentError(f"others = {abridged(others)}; a list of triples such as (0.3, 0.45, 0.4) is required")
        self.others = tuple(_read(habit, f"others[{index}]") for index, habit in enumerate(others))

    def printed_mu(self) -> Enclosure:
        """The paper's μ, `max |ln P(x2|x1)/P(x2)|`; with it the counts are *not* (μ, 0)-bounded dependent."""
        return _largest_log(
            ratio
            for habit in set(self.others)
            for x1, x2 in _DAYS
            for ratio in [_second(habit, x1, x2) / _marginal(habit, x2)]
        )

    def certified(self) -> BoundedDependency:
        """(μ, ν) with which the counts are bounded dependent, certified for any number of users."""
        habits = set(self.others)
        odds = _largest_log(
            (_second(h, x1, 1) / _second(h, x1, 0)) / (_marginal(h, 1) / _marginal(h, 0))
            for h in habits
            for x1 in (0, 1)
        )
        change = _largest_log(_second(h, 1, x2) / _second(h, 0, x2) for h in habits for x2 in (0, 1))
        return BoundedDependency(odds + change, self._at_an_end())

    def largest_dependency(self) -> Enclosure:
        """The largest finite Dep over all records and counts, by enumeration."""
        losses = self.dependency_curve().losses.values()
        return _largest_log([max(ratio for loss in losses for ratio in loss.law if isinstance(ratio, Fraction))])

    def dependency_curve(self) -> LossCurve:
        """The exact (μ, ν) curve, by enumeration."""
        return dependency_curve(self.joint())

    def joint(self) -> dict[tuple[int, int], dict[tuple[int, int], Fraction]]:
        """The joint law of both counts given each (x1, x2) of the critical user, as :func:`dependency` takes it."""
        if len(self.others) > _MOST_ENUMERATED:
            raise ArgumentError(
                f"others are {len(self.others)} users; at most {_MOST_ENUMERATED} are enumerated, and certified() "
                "takes any number"
            )
        whole, law = 1, {(0, 0): 1}  # integers, over one denominator
        for habit in self.others:
            scale = math.lcm(*(_both(habit, *days).denominator for days in _DAYS))
            shares = [(x1, x2, int(scale * _both(habit, x1, x2))) for x1, x2 in _DAYS]
            further: defaultdict[tuple[int, int], int] = defaultdict(int)
            for ((s1, s2), mass), (x1, x2, share) in product(law.items(), shares):
                further[s1 + x1, s2 + x2] += mass * share
            whole, law = whole * scale, further
        exact = {counts: Fraction(mass, whole) for counts, mass in law.items()}
        return {t: {(t[0] + s1, t[1] + s2): mass for (s1, s2), mass in exact.items()} for t in _DAYS}

    def _at_an_end(self) -> Fraction:
        """The largest P[S1 = e1 or S2 = e2]: all or none of the users on a day."""

        def everyone(probabilities: list[Fraction]) -> Fraction:
            found = Fraction(1)
            for probability in probabilities:
                found *= probability
            return found

        return max(
            everyone([_both(h, e1, 0) + _both(h, e1, 1) for h in self.others])
            + everyone([_marginal(h, e2) for h in self.others])
            - everyone([_both(h, e1, e2) for h in self.others])
            for e1, e2 in _DAYS
        )

    def __repr__(self) -> str:
        return f"<DailyCounts: {len(self.others)} users besides the critical one>"


def _read(habit: Any, name: str) -> _Habit:  # noqa: ANN401
    if not isinstance(habit, Sequence) or isinstance(habit, str) or len(habit) != 3:
        raise ArgumentError(f"{name} = {abridged(habit)}; a triple such as (0.3, 0.45, 0.4) is required")
    first, after_one, after_zero = (as_fraction(p, f"{name}[{k}]") for k, p in enumerate(habit))
    for k, p in enumerate((first, after_one, after_zero)):
        if not 0 < p < 1:
            raise ArgumentError(
                f"{name}[{k}] = {spelled(habit[k])}; a probability above 0 and below 1 is required: certain habits "
                "make counts depend without bound"
            )
    return first, after_one, after_zero


def _second(habit: _Habit, x1: int, x2: int) -> Fraction:
    """P(x2 | x1)."""
    one = habit[1] if x1 else habit[2]
    return one if x2 else 1 - one


def _both(habit: _Habit, x1: int, x2: int) -> Fraction:
    """P(x1, x2)."""
    return (habit[0] if x1 else 1 - habit[0]) * _second(habit, x1, x2)


def _marginal(habit: _Habit, x2: int) -> Fraction:
    """P(x2)."""
    return _both(habit, 0, x2) + _both(habit, 1, x2)


def _largest_log(ratios: Any) -> Enclosure:  # noqa: ANN401  (an iterable of Fraction)
    """`max |ln r|`."""
    from statpriv.differential.intervals import enclosure, exact, interval_context

    largest = max(max(ratio, 1 / ratio) for ratio in ratios)
    if largest == 1:
        return Enclosure(0)
    context = interval_context(_BITS + ((largest - 1).denominator // (largest - 1).numerator).bit_length())
    return enclosure(context.log(exact(context, largest)), least=0)
