"""Finite mechanisms: their laws on finitely many databases, and their exact guarantees.

`P(a) ≤ e^{εd} Q(a)` is decided exactly. For rational `εd ≠ 0` the number `e^{εd}` is irrational (Lindemann), so a
sufficient precision always distinguishes it from the ratio; for `εd = 0` the ratio is compared with 1. Single answers
suffice for pure privacy, because both sides of the inequality are additive over answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

from statpriv import budget
from statpriv.distributions.hockey_stick import hockey_stick
from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import as_function, as_items, as_mapping, is_mapping, length_of_tuple
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_nonnegative, as_probability, is_finite
from statpriv.numeric.intervals import enclosure, exact, interval_context, rational_ends
from statpriv.numeric.literals import abridged, at_most, spelled
from statpriv.theories.granularity.divergences import Law, least_mu, least_rho
from statpriv.theories.granularity.pairs import Metric, distance_of
from statpriv.theories.granularity.protocol import Granularity, as_granularity
from statpriv.theories.granularity.relation import all_databases, relation_on, warn_of_missing_paths

_BITS = 192


@dataclass(frozen=True)
class Loss:
    """The largest loss of a mechanism, and the databases and the answer that attain it.

    Attributes
    ----------
    ratio : Fraction or float
        `P[M(D) = a]/P[M(D') = a]`; infinite if the second probability is 0.
    distance : Fraction
        `d(D, D')`.
    pair : tuple
        D and D'.
    answer : hashable
        a.
    """

    ratio: Fraction | float
    distance: Fraction
    pair: tuple[Hashable, Hashable]
    answer: Hashable

    @property
    def epsilon(self) -> Enclosure:
        """`ln(ratio)/d` in nats: the least ε for which the mechanism is ε·d-private."""
        if not is_finite(self.ratio):
            return Enclosure(math.inf)
        if self.ratio <= 1:
            return Enclosure(0)
        if self.distance == 0:
            return Enclosure(math.inf)
        context = interval_context(_BITS)
        return enclosure(context.log(exact(context, self.ratio)) / exact(context, self.distance), least=0)

    def __repr__(self) -> str:
        between = " and ".join(map(abridged, self.pair))
        return f"<Loss: ε = {at_most(self.epsilon.upper)} for answer {abridged(self.answer)} between {between}>"


@dataclass(frozen=True, init=False, repr=False)
class FiniteMechanism:
    """The law of the answer on each of finitely many databases.

    Parameters
    ----------
    laws : dict of dict
        For each database the exact probability of each answer; the probabilities sum to one.

    Examples
    --------
    >>> import statpriv as sp
    >>> spinner = sp.granularity.FiniteMechanism({0: {"y": "1/4", "n": "3/4"}, 1: {"y": "3/4", "n": "1/4"}})
    >>> spinner.least_epsilon(sp.granularity.FreeLunch())
    <Loss: ε = 1.09862 for answer 'n' between 0 and 1>
    >>> both = sp.granularity.FiniteMechanism.independent([spinner, spinner])
    >>> both.least_epsilon(sp.granularity.FreeLunch()).ratio
    Fraction(9, 1)
    >>> [spinner.is_private(sp.granularity.FreeLunch(), epsilon) for epsilon in ("1.0986", "1.0987")]
    [False, True]
    """

    laws: Mapping[Hashable, Law]

    def __init__(self, laws: Mapping[Any, Mapping[Any, Number]]) -> None:
        as_mapping(laws, "laws", "a dict with the law of each database is required")
        read: dict[Hashable, dict[Hashable, Fraction]] = {}
        for database, law in laws.items():
            name = f"the law of {abridged(database)}"
            if not is_mapping(law):
                raise ArgumentError(f"{name} is {abridged(law)}; a dict of probabilities is required")
            masses = {answer: as_probability(mass, f"{name} at {abridged(answer)}") for answer, mass in law.items()}
            if (total := sum(masses.values())) != 1:
                raise ArgumentError(f"{name} sums to {total}; exactly 1 is required: write fractions as '1/3'")
            read[database] = {answer: mass for answer, mass in masses.items() if mass}
        object.__setattr__(self, "laws", read)

    # --- constructions from other mechanisms

    @classmethod
    def independent(cls, mechanisms: Sequence[FiniteMechanism]) -> FiniteMechanism:
        """The tuple of the answers of independent mechanisms."""
        listed = as_items(mechanisms, "mechanisms", "a list of finite mechanisms is required")
        return cls.adaptive([lambda _, mechanism=mechanism: mechanism for mechanism in listed])  # type: ignore[misc]

    @classmethod
    def adaptive(cls, choose: Sequence[Callable[[tuple[Any, ...]], FiniteMechanism]]) -> FiniteMechanism:
        """The tuple of answers of mechanisms that are each chosen by the earlier answers (Definition V.1)."""
        required = "a list of functions from the earlier answers to a finite mechanism is required"
        steps = [
            as_function(step, f"choose[{i}]", required) for i, step in enumerate(as_items(choose, "choose", required))
        ]
        if not steps:
            raise ArgumentError("at least one mechanism is required")
        laws: dict[Hashable, dict[Hashable, Fraction]] = {}
        for database in _expected(steps[0](())).laws:
            whole: dict[tuple[Hashable, ...], Fraction] = {(): Fraction(1)}
            for step in steps:
                whole = {
                    (*earlier, answer): share * mass
                    for earlier, share in whole.items()
                    for answer, mass in _expected(step(earlier)).law(database).items()
                }
            laws[database] = {answers: mass for answers, mass in whole.items()}  # noqa: C416  (other types)
        return cls(laws)

    def preprocessed(self, databases: Sequence[Hashable], function: Callable[[Any], Hashable]) -> FiniteMechanism:
        """`M ∘ f`. It is `Δf·d`-private if M is d-private (Proposition III.6); the converse is false."""
        as_function(function, "function", "a function of the database is required")
        return FiniteMechanism({database: self.law(function(database)) for database in all_databases(databases)})

    def processed(self, function: Callable[[Any], Hashable]) -> FiniteMechanism:
        """`g(M)`; at least as private as M in every notion (Theorem VII.1)."""
        as_function(function, "function", "a function of the answer is required")
        laws: dict[Hashable, dict[Hashable, Fraction]] = {}
        for database, law in self.laws.items():
            answers: dict[Hashable, Fraction] = {}
            for answer, mass in law.items():
                shown = function(answer)
                answers[shown] = answers.get(shown, Fraction(0)) + mass
            laws[database] = answers
        return FiniteMechanism(laws)

    def component(self, index: int) -> FiniteMechanism:
        """One component of a tuple of answers; at least as private as the whole (Theorem VII.2)."""
        place = as_count(index, "index")
        lengths = [max(length_of_tuple(a), 0) for law in self.laws.values() for a in law]
        if place >= min(lengths):
            raise ArgumentError(f"index = {spelled(index)}; answers are no tuples with so many components")
        return self.processed(lambda answers: answers[place])

    def law(self, database: Hashable) -> Law:
        """The probability of each answer on one database."""
        try:
            return self.laws[database]
        except (KeyError, TypeError):
            raise ArgumentError(f"database {abridged(database)} has no law in this mechanism") from None

    # --- guarantees

    def least_epsilon(self, metric: Metric) -> Loss:
        """The largest loss per unit of distance. The mechanism is ε·d-private exactly if ε is at least its `epsilon`.

        Parameters
        ----------
        metric : granularity or callable
            For a granularity this is the least ε of ε-differential privacy on these databases (Theorem III.3).

        Warns
        -----
        NoPathWarning
            If some databases are infinitely far apart.
        """
        best: Loss | None = None
        for loss in self._losses(metric):
            if best is None or _exceeds(loss, best):
                best = loss
        if best is None:
            database = next(iter(self.laws))
            return Loss(Fraction(1), Fraction(1), (database, database), next(iter(self.laws[database])))
        return best

    def violation(self, metric: Metric, epsilon: Number) -> Loss | None:
        """A case in which `P[M(D) = a] ≤ e^{ε d(D, D')} P[M(D') = a]` fails, decided exactly; None if there is none."""
        cost = as_nonnegative(epsilon, "epsilon")
        return next((loss for loss in self._losses(metric) if not _at_most_exp(loss.ratio, cost * loss.distance)), None)

    def is_private(self, metric: Metric, epsilon: Number = 1) -> bool:
        """Whether the mechanism is ε·d-private (Definition III.2), decided exactly; ε in nats."""
        return self.violation(metric, epsilon) is None

    def least_delta(
        self, granularity: Granularity, epsilon: Number | None = None, *, exp_epsilon: Number | None = None
    ) -> Enclosure | Fraction:
        """The least δ of (ε, δ)-privacy at a granularity (Definition VI.1): the worst hockey stick of neighbours.

        As :func:`statpriv.hockey_stick`: an enclosure at ε, the exact value at e^ε.
        """
        found: list[Any] = [
            hockey_stick(law, other, epsilon, exp_epsilon=exp_epsilon)  # type: ignore[call-overload]
            for law, other in self._neighbouring(granularity)
        ]
        if not found:
            return Fraction(0)
        return max(found) if is_finite(found[0]) else _largest(found)

    def least_rho(self, granularity: Granularity) -> Enclosure:
        """The least ρ of zero-concentrated privacy at a granularity (Definition VI.10), to six digits.

        It satisfies `D_α(M(D)‖M(D')) <= ρα` for all α > 1 and all neighbours. For databases that are d steps apart the
        bound is `d²ρα` (Theorem VI.12). ρ is infinite if an answer is possible for only one of two neighbours.

        Examples
        --------
        >>> import statpriv as sp
        >>> spinner = sp.granularity.FiniteMechanism({0: {"y": "1/4", "n": "3/4"}, 1: {"y": "3/4", "n": "1/4"}})
        >>> print(f"{spinner.least_rho(sp.granularity.FreeLunch()).upper:.4f}")
        0.5493
        """
        return _largest(least_rho(law, other) for law, other in self._neighbouring(granularity))

    def least_mu(self, granularity: Granularity) -> Enclosure:
        """The least μ of Gaussian privacy at a granularity (Definition VI.18).

        The trade-off function of neighbours is at least that of N(0,1) and N(μ,1). For databases that are d steps apart
        it is at least that of N(0,1) and N(dμ,1) (Theorem VI.20).

        Examples
        --------
        >>> import statpriv as sp
        >>> spinner = sp.granularity.FiniteMechanism({0: {"y": "1/4", "n": "3/4"}, 1: {"y": "3/4", "n": "1/4"}})
        >>> print(f"{spinner.least_mu(sp.granularity.FreeLunch()).upper:.4f}")
        1.3490
        """
        return _largest(least_mu(law, other) for law, other in self._neighbouring(granularity, ordered=False))

    def _neighbouring(self, granularity: Granularity, *, ordered: bool = True) -> Iterator[tuple[Law, Law]]:
        """The laws of all pairs of neighbours, in both orders or in one."""
        chosen = as_granularity(granularity)
        _warn(self, chosen)
        for first, second in (permutations if ordered else combinations)(self.laws, 2):
            if chosen.neighbours(first, second):
                yield self.laws[first], self.laws[second]

    def _losses(self, metric: Metric) -> Iterator[Loss]:
        """The largest ratio of each ordered pair of databases at finite distance."""
        _warn(self, metric)
        for first, second in self._pairs(metric):
            distance = distance_of(metric, first, second)
            if is_finite(distance):
                law, other = self.laws[first], self.laws[second]
                ratios = {a: mass / other[a] if a in other else math.inf for a, mass in law.items()}
                answer = max(ratios, key=lambda a: ratios[a])
                yield Loss(ratios[answer], distance, (first, second), answer)

    def _pairs(self, metric: Metric) -> Iterator[tuple[Hashable, Hashable]]:
        """Ordered pairs that suffice for the maximum: for a Relation on exactly these databases, the neighbours."""
        relation = relation_on(metric, self.laws)
        if relation is not None:
            for first, second in relation.pairs:
                yield first, second
                yield second, first
        else:
            yield from permutations(self.laws, 2)

    def __repr__(self) -> str:
        answers = {answer for law in self.laws.values() for answer in law}
        return f"<FiniteMechanism on {len(self.laws)} databases, with {len(answers)} answers>"


def _warn(mechanism: FiniteMechanism, metric: Metric) -> None:
    if isinstance(metric, Granularity):
        warn_of_missing_paths(tuple(mechanism.laws), as_granularity(metric))


def _expected(mechanism: object) -> FiniteMechanism:
    if not isinstance(mechanism, FiniteMechanism):
        raise ArgumentError(f"mechanism {abridged(mechanism)}; a FiniteMechanism is required")
    return mechanism


def _largest(found: Iterable[Enclosure]) -> Enclosure:
    """The largest of certified numbers; 0 if there is none."""
    values = list(found)
    return Enclosure(max((v.lower for v in values), default=0.0), max((v.upper for v in values), default=0.0))


def _exceeds(loss: Loss, other: Loss) -> bool:
    """Whether `ln(r)/d > ln(r')/d'`, exactly: `r^{d' n} > r'^{d n}` with n so that both exponents are integers."""
    if not is_finite(other.ratio) or (other.distance == 0 and other.ratio > 1):
        return False
    if not is_finite(loss.ratio) or (loss.distance == 0 and loss.ratio > 1):
        return True
    common = math.lcm(loss.distance.denominator, other.distance.denominator)
    left, right = other.distance * common, loss.distance * common
    if left == 0 or right == 0:  # one distance is 0, so the powers do not decide
        return loss.ratio > other.ratio if left == right else right > 0 and loss.ratio > 1
    return loss.ratio**left.numerator > other.ratio**right.numerator


def _at_most_exp(ratio: Fraction | float, exponent: Fraction) -> bool:
    """Whether `ratio ≤ e^exponent`, exactly; the exponent is at least 0."""
    if not is_finite(ratio):
        return False
    if ratio <= 1 or exponent >= ratio.numerator.bit_length():  # the ratio is below 2^bit_length <= e^exponent
        return True
    if exponent == 0:
        return False
    bits = _BITS
    while bits <= budget.MAX_COMPARED_BITS:
        low, high = rational_ends(interval_context(bits).exp(exact(interval_context(bits), exponent)))
        if ratio <= low:
            return True
        if ratio > high:
            return False
        bits *= 2
    raise ArgumentError(
        f"epsilon: e^{float(exponent)} and the ratio {float(ratio)} agree in {budget.MAX_COMPARED_BITS} bits"
    )
