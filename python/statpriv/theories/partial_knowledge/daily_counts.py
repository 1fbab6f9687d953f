"""Counts of the same users on several days, whose habits are correlated (Example 9).

Let x_j = 1 if a user uses a feature on day j, and 0 otherwise. Each user has a joint law of all days, and users are
independent. The count of each day is released. The paper assumes `P(x2|x1)/P(x2)` within `e^{±μ}` and claims that the
counts are then (μ, 0)-bounded dependent. They are not: see `tests/theorems/test_partial_knowledge_dependency.py`. The
valid bound is

    Dep = L − Σ_j L_j <= Σ_j c_j,    c_j = max |logit P(x_j | all other days) − logit P(x_j)|,

wherever Dep is finite. Proof: let S be the counts of the others, so that `L = ln P(S = o−t)/P(S = o−t')`. Move from one
of these points to the other along one axis after the other. A step from `a − 1` to a along axis j, with the other
counts fixed at s, has the ratio

    P(S_j = a, S_{−j} = s)/P(S_j = a−1, S_{−j} = s) = Σ w P(S_j = a | x_{−j}) / Σ w P(S_j = a−1 | x_{−j})

with one weight for each assignment of the other days to all users. Given an assignment, S_j is a sum of independent
bits with odds w_i, and the ratio is `e_a(w)/e_{a−1}(w)`, a ratio of elementary symmetric polynomials. By Newton's
inequality it increases in each w_i, and it is homogeneous of degree one. So odds within `e^{±c_j}` of the odds of
P(x_j) change it by a factor within `e^{±c_j}`. A quotient of sums lies between the quotients of the terms. So each step
is within `e^{±c_j}` of the step for the law of S_j alone, which gives L_j.

Dep is infinite exactly if t' excludes a count: `ν = P[some S_j is at its end]`, for the worst ends.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any, NamedTuple

from statpriv import budget
from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import as_tuple, is_list, is_mapping, length_of_tuple
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_fraction, is_finite
from statpriv.numeric.literals import abridged, spelled
from statpriv.theories.partial_knowledge.dependency import dependency_curve
from statpriv.theories.partial_knowledge.loss import LossCurve, read_law

_BITS = 160
_Habit = tuple[Fraction, ...]
"""The probability of each tuple of days, in the order of `itertools.product((0, 1), repeat=days)`."""


class BoundedDependency(NamedTuple):
    """(μ, ν): μ in nats."""

    mu: Enclosure
    nu: Fraction


class DailyCounts:
    """Counts of users on two days or more, all exact (Example 9).

    Parameters
    ----------
    others : sequence of (P(x1 = 1), P(x2 = 1 | x1 = 1), P(x2 = 1 | x1 = 0)), or of dict
        The habits of the users other than the critical one, at least one user, all numbers above 0 and below 1. For
        more than two days a habit is the joint law of the days: a dict from each tuple of zeros and ones to its
        probability. Nothing is assumed about the critical user.

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

    def __init__(self, others: Sequence[tuple[Number, Number, Number] | Mapping[tuple[int, ...], Number]]) -> None:
        if not is_list(others) or not others:
            raise ArgumentError(f"others = {abridged(others)}; a list of triples such as (0.3, 0.45, 0.4) is required")
        self.others = tuple(_read(habit, f"others[{index}]") for index, habit in enumerate(others))
        if len(set(map(len, self.others))) > 1:
            raise ArgumentError("others have habits of different numbers of days; the same for all is required")

    @property
    def days(self) -> int:
        """The number of days."""
        return len(self.others[0]).bit_length() - 1

    def printed_mu(self) -> Enclosure:
        """The paper's μ, `max |ln P(x_j | days before)/P(x_j)|`: with it the counts are *not* (μ, 0)-dependent."""
        return _largest_log(
            _chance(habit, range(day + 1), x) / (_chance(habit, range(day), x) * _chance(habit, [day], x))
            for habit in set(self.others)
            for day in range(1, self.days)
            for x in _ways(self.days)
        )

    def certified(self) -> BoundedDependency:
        """A certified (μ, ν) at which the counts are bounded dependent, for any number of users."""
        mu = Enclosure(0)
        for day in range(self.days):
            mu = mu + _largest_log(ratio for habit in set(self.others) for ratio in _odds_ratios(habit, day))
        return BoundedDependency(mu, self._at_an_end())

    def largest_dependency(self) -> Enclosure:
        """The largest finite Dep over all records and counts, by enumeration."""
        losses = self.dependency_curve().losses.values()
        return _largest_log([max(ratio for loss in losses for ratio in loss.law if is_finite(ratio))])

    def dependency_curve(self) -> LossCurve:
        """The exact (μ, ν) curve, by enumeration."""
        return dependency_curve(self.joint())

    def joint(self) -> dict[tuple[int, ...], dict[tuple[int, ...], Fraction]]:
        """The joint law of all counts given each record of the critical user, as :func:`dependency` takes it."""
        if (len(self.others) + 1) ** self.days > budget.MAX_DAILY_STATES:
            most = math.floor(budget.MAX_DAILY_STATES ** (1 / self.days) + 1e-9) - 1
            raise ArgumentError(
                f"others are {len(self.others)} users; at most {most} are enumerated over {self.days} days, and "
                "certified() takes any number"
            )
        ways = _ways(self.days)
        whole, law = 1, {(0,) * self.days: 1}  # integers, over one denominator
        for habit in self.others:
            scale = math.lcm(*(mass.denominator for mass in habit))
            further: defaultdict[tuple[int, ...], int] = defaultdict(int)
            for (counts, mass), (x, share) in product(law.items(), zip(ways, habit, strict=True)):
                further[_added(counts, x)] += mass * int(scale * share)
            whole, law = whole * scale, further
        exact = {counts: Fraction(mass, whole) for counts, mass in law.items()}
        return {t: {_added(t, counts): mass for counts, mass in exact.items()} for t in ways}

    def _at_an_end(self) -> Fraction:
        """The largest probability that on some day all or none of the users count, by inclusion and exclusion."""
        users = Counter(self.others)

        def on(days: tuple[int, ...], ends: tuple[int, ...]) -> Fraction:
            return math.prod((_chance(habit, days, ends) ** n for habit, n in users.items()), start=Fraction(1))

        subsets = [days for size in range(1, self.days + 1) for days in combinations(range(self.days), size)]
        return max(
            sum(((-1) ** (len(days) + 1) * on(days, ends) for days in subsets), Fraction(0))
            for ends in _ways(self.days)
        )

    def __repr__(self) -> str:
        return f"<DailyCounts: {len(self.others)} users besides the critical one>"


def _read(habit: Any, name: str) -> _Habit:  # noqa: ANN401
    if is_mapping(habit):
        return _read_joint(habit, name)
    as_tuple(habit, name, "a triple such as (0.3, 0.45, 0.4) is required", length=3)
    first, after_one, after_zero = (as_fraction(p, f"{name}[{k}]") for k, p in enumerate(habit))
    for k, p in enumerate((first, after_one, after_zero)):
        if not 0 < p < 1:
            raise ArgumentError(
                f"{name}[{k}] = {spelled(habit[k])}; a probability above 0 and below 1 is required: certain habits "
                "make counts depend without bound"
            )
    zero = 1 - first
    return zero * (1 - after_zero), zero * after_zero, first * (1 - after_one), first * after_one


def _read_joint(habit: Mapping[Any, Any], name: str) -> _Habit:
    law = read_law(habit, name)
    days = max(map(length_of_tuple, law))
    if not 2 <= days <= budget.MAX_DAYS or set(law) != set(_ways(days)):
        raise ArgumentError(
            f"{name} = {abridged(habit)}; the probability of every tuple of zeros and ones is required, one for each "
            f"of 2 to {budget.MAX_DAYS} days"
        )
    if not all(law.values()):
        raise ArgumentError(
            f"{name} = {abridged(habit)}; probabilities above 0 are required: certain habits make counts depend "
            "without bound"
        )
    return tuple(law[way] for way in _ways(days))


def _ways(days: int) -> list[tuple[int, ...]]:
    """All tuples of days."""
    return list(product((0, 1), repeat=days))


def _chance(habit: _Habit, days: Collection[int], x: tuple[int, ...]) -> Fraction:
    """The probability of the values x_j on the given days j."""
    ways = zip(_ways(len(habit).bit_length() - 1), habit, strict=True)
    return sum((mass for way, mass in ways if all(way[j] == x[j] for j in days)), Fraction(0))


def _odds_ratios(habit: _Habit, day: int) -> Iterator[Fraction]:
    """The conditional odds of one day given all other days, over the marginal odds."""
    law = dict(zip(_ways(len(habit).bit_length() - 1), habit, strict=True))
    used = sum((mass for way, mass in law.items() if way[day]), Fraction(0))
    for way, mass in law.items():
        if way[day]:
            yield mass / law[(*way[:day], 0, *way[day + 1 :])] * (1 - used) / used


def _added(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(first, second, strict=True))


def _largest_log(ratios: Any) -> Enclosure:  # noqa: ANN401  (an iterable of Fraction)
    """`max |ln r|`."""
    from statpriv.numeric.intervals import enclosure, exact, interval_context

    largest = max(max(ratio, 1 / ratio) for ratio in ratios)
    if largest == 1:
        return Enclosure(0)
    context = interval_context(_BITS + ((largest - 1).denominator // (largest - 1).numerator).bit_length())
    return enclosure(context.log(exact(context, largest)), least=0)
