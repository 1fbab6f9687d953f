"""Noiseless privacy of any query on any finite law of databases, from the definitions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import prod
from typing import Any, Literal, TypeAlias, get_args

from statpriv import budget
from statpriv.curves.build import privacy_curve
from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError
from statpriv.model.populations import Population
from statpriv.model.probabilities import as_law
from statpriv.numeric.arguments import as_items, as_key, as_mapping, as_word, is_mapping, length_of_tuple
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count
from statpriv.numeric.literals import abridged
from statpriv.theories.noiseless.levels import Level, Ratio, larger_of, level_of, log_ratio, quotient
from statpriv.theories.noiseless.posterior import Posterior, posterior

Database: TypeAlias = "tuple[Hashable, ...]"
Notion = Literal["noiseless", "a posteriori"]


@dataclass(frozen=True)
class Exceptions:
    """The sets of answers and values that Definition 4 excepts, at the least cost.

    Attributes
    ----------
    delta
        `P[answer ∈ S_1] + max_j P[t_j ∈ S_2]`, the exact minimum.
    answers
        S_1. With leaked entries each element is a pair: the leaked values, and the answer.
    values
        S_2.
    """

    delta: Fraction
    answers: frozenset[Any]
    values: frozenset[Hashable]


@dataclass(frozen=True)
class _Seen:
    """Given the leaked values: the joint mass of each answer and each value of an entry."""

    entries: dict[int, dict[Hashable, dict[Hashable, Fraction]]]
    answers: dict[Hashable, Fraction]

    def ratios(self, entry: int, answer: Hashable, excepted: frozenset[Hashable], notion: Notion) -> Iterator[Ratio]:
        """The ratios that the notion bounds: of likelihoods of two values, or of posterior and prior of one value."""
        laws = self.entries[entry]
        masses = {value: sum(law.values(), Fraction(0)) for value, law in laws.items()}
        given = {v: law.get(answer, Fraction(0)) / masses[v] for v, law in laws.items() if v not in excepted}
        if notion == "noiseless":
            likely, unlikely = max(given.values(), default=Fraction(0)), min(given.values(), default=Fraction(0))
            if likely:
                yield quotient(likely, unlikely)
        else:
            overall = self.answers[answer] / sum(masses.values(), Fraction(0))
            for likelihood in given.values():
                yield quotient(likelihood, overall)
                yield quotient(overall, likelihood)


class FiniteModel:
    """A deterministic query on databases with finitely many values: exact (ε, δ)-NP and ANP.

    Parameters
    ----------
    law : sequence of mappings, or mapping
        For independent entries the law of each, `{value: probability}`; or the joint law, from tuples of values to
        probabilities.
    query : callable
        From a tuple of values to a hashable answer.
    leaked : iterable of int, optional
        Entries whose values are known, counted from 0. The other entries are protected, for all values of these.

    Raises
    ------
    ArgumentError
        A law that is not a probability law, or more than 2^20 databases.

    Examples
    --------
    >>> import statpriv as sp
    >>> fair = {0: "1/2", 1: "1/2"}
    >>> count = sp.noiseless.FiniteModel([fair] * 4, sum)
    >>> count.ratio()
    inf
    >>> found = count.exceptions(exp_epsilon=3)
    >>> found.delta, sorted(found.answers)
    (Fraction(1, 8), [0, 4])
    """

    def __init__(
        self,
        law: Sequence[Mapping[Hashable, Number]] | Mapping[tuple[Hashable, ...], Number],
        query: Callable[[tuple[Any, ...]], Hashable],
        *,
        leaked: Iterable[int] = (),
    ) -> None:
        if not callable(query):
            raise ArgumentError(f"query = {abridged(query)}; a function of a tuple of values, such as sum, is required")
        databases = _joint(law) if is_mapping(law) else _independent(law)
        self._size = len(next(iter(databases)))
        known = sorted(
            {as_count(entry, "leaked") for entry in as_items(leaked, "leaked", "a list of entries is required")}
        )
        if known and known[-1] >= self._size:
            raise ArgumentError(f"leaked has the entry {known[-1]}; the entries are numbered 0 to {self._size - 1}")
        self._known = tuple(known)
        self._protected = tuple(j for j in range(self._size) if j not in known)
        if not self._protected:
            raise ArgumentError(f"leaked has all {self._size} entries; none is left to protect")
        self._seen = self._views(databases, query)

    def ratio(self) -> Ratio:
        """e^ε of noiseless privacy (Definition 2), exactly: a Fraction, or infinity."""
        return larger_of(ratio for _, _, ratio in self._all_ratios(frozenset(), "noiseless"))

    def epsilon(self) -> Enclosure:
        """ε of noiseless privacy in nats: the logarithm of :meth:`ratio`."""
        return log_ratio(self.ratio())

    def posterior_ratio(self) -> Ratio:
        """e^ε of a-posteriori noiseless privacy (Definition 3), exactly: a Fraction, or infinity."""
        return larger_of(ratio for _, _, ratio in self._all_ratios(frozenset(), "a posteriori"))

    def posterior_epsilon(self) -> Enclosure:
        """ε of a-posteriori noiseless privacy in nats: the logarithm of :meth:`posterior_ratio`."""
        return log_ratio(self.posterior_ratio())

    def delta(
        self, epsilon: Number | None = None, *, exp_epsilon: Number | None = None, notion: Notion = "noiseless"
    ) -> Fraction:
        """The least δ at which the query is (ε, δ)-noiseless private (Definition 4), exactly.

        Parameters
        ----------
        epsilon : float, int, Fraction, Decimal or str
            ε in nats, at least 0; or `exp_epsilon`, e^ε, at least 1.
        notion : {"noiseless", "a posteriori"}
            The condition on the remaining answers and values: Definition 2 or Definition 3.
        """
        return self.exceptions(epsilon, exp_epsilon=exp_epsilon, notion=notion).delta

    def exceptions(
        self, epsilon: Number | None = None, *, exp_epsilon: Number | None = None, notion: Notion = "noiseless"
    ) -> Exceptions:
        """The cheapest sets S_1 of answers and S_2 of values whose exception makes the query ε-private.

        Parameters
        ----------
        epsilon, exp_epsilon, notion
            As for :meth:`delta`.

        Raises
        ------
        ArgumentError
            The entries have more than 12 values; every subset of the values is tried.
        """
        level = level_of(epsilon, exp_epsilon)
        as_word(notion, "notion", get_args(Notion))
        values = self._values()
        if len(values) > budget.MAX_EXCEPTED_VALUES:
            raise ArgumentError(
                f"the entries have {len(values)} values; every subset of at most {budget.MAX_EXCEPTED_VALUES} is "
                "tried as the excepted set: ask curve(entry) for statistical privacy instead"
            )
        subsets = (frozenset(chosen) for k in range(len(values) + 1) for chosen in combinations(values, k))
        return min((self._excepting(chosen, level, notion) for chosen in subsets), key=lambda found: found.delta)

    def posterior(self, answer: Hashable, *, entry: int, leaked: Mapping[int, Hashable] | None = None) -> Posterior:
        """The law of one entry, counted from 0 and not leaked, before and after an answer.

        `leaked` gives the value of each leaked entry.
        """
        values = dict(leaked or {})
        if set(values) != set(self._known):
            raise ArgumentError(
                f"leaked = {abridged(leaked)}; the values of the entries {list(self._known)} are required"
            )
        if as_key(entry, "entry") not in self._protected:
            raise ArgumentError(f"entry = {abridged(entry)}; one of {list(self._protected)} is required")
        seen = self._seen.get(tuple(values[j] for j in self._known))
        if seen is None:
            raise ArgumentError(f"leaked = {abridged(leaked)} has probability 0")
        laws = {value: sum(law.values(), Fraction(0)) for value, law in seen.entries[entry].items()}
        total = sum(laws.values(), Fraction(0))
        as_key(answer, "answer")
        likelihoods = {value: law.get(answer, Fraction(0)) / laws[value] for value, law in seen.entries[entry].items()}
        return posterior({value: mass / total for value, mass in laws.items()}, likelihoods)

    def curve(self, entry: int) -> PrivacyCurve:
        """The privacy curve of one entry, counted from 0: statistical privacy, δ against ε. No entry may have leaked.

        Examples
        --------
        >>> import statpriv as sp
        >>> fair = {0: "1/2", 1: "1/2"}
        >>> sp.noiseless.FiniteModel([fair] * 4, sum).curve(0).exact_delta(exp_epsilon="11/10")
        Fraction(29, 80)
        """
        if self._known:
            raise ArgumentError(f"the entries {list(self._known)} have leaked; curve() is about models without leaks")
        if as_key(entry, "entry") not in self._protected:
            raise ArgumentError(f"entry = {abridged(entry)}; one of {list(self._protected)} is required")
        laws = self._seen[()].entries[entry]
        masses = {value: sum(law.values(), Fraction(0)) for value, law in laws.items()}
        stated = {value: {a: mass / masses[value] for a, mass in law.items()} for value, law in laws.items()}
        return privacy_curve(_Stated(stated), Population(self._size))

    def __repr__(self) -> str:
        known = f", {len(self._known)} leaked" if self._known else ""
        return f"<FiniteModel of {self._size} entries{known}>"

    def _views(
        self, databases: Mapping[Database, Fraction], query: Callable[[Database], Hashable]
    ) -> dict[Database, _Seen]:
        seen: dict[Database, _Seen] = {}
        for database, mass in databases.items():
            answer = query(database)
            part = seen.setdefault(tuple(database[j] for j in self._known), _Seen({j: {} for j in self._protected}, {}))
            part.answers[answer] = part.answers.get(answer, Fraction(0)) + mass
            for j in self._protected:
                law = part.entries[j].setdefault(database[j], {})
                law[answer] = law.get(answer, Fraction(0)) + mass
        return seen

    def _values(self) -> list[Hashable]:
        return list(dict.fromkeys(v for part in self._seen.values() for laws in part.entries.values() for v in laws))

    def _all_ratios(self, excepted: frozenset[Hashable], notion: Notion) -> Iterator[tuple[Database, Hashable, Ratio]]:
        for known, part in self._seen.items():
            for entry, answer in product(self._protected, part.answers):
                for ratio in part.ratios(entry, answer, excepted, notion):
                    yield known, answer, ratio

    def _excepting(self, values: frozenset[Hashable], level: Level, notion: Notion) -> Exceptions:
        bad = {(known, a) for known, a, ratio in self._all_ratios(values, notion) if not level.holds(ratio)}
        answers = sum((self._seen[known].answers[answer] for known, answer in bad), Fraction(0))
        excepted = max(self._mass_of(entry, values) for entry in self._protected)
        shown = frozenset(bad) if self._known else frozenset(answer for _, answer in bad)
        return Exceptions(answers + excepted, shown, values)

    def _mass_of(self, entry: int, values: frozenset[Hashable]) -> Fraction:
        masses = (law.values() for part in self._seen.values() for v, law in part.entries[entry].items() if v in values)
        return sum((mass for law in masses for mass in law), Fraction(0))


@dataclass(frozen=True)
class _Stated:
    """The laws of the answer for each value of an entry, as a query."""

    laws: Mapping[Hashable, Mapping[Hashable, Fraction]]

    def answer_laws(self, entries: int) -> Mapping[Hashable, Mapping[Hashable, Fraction]]:  # noqa: ARG002
        """The stated laws, for any number of entries."""
        return self.laws


def _independent(law: object) -> dict[Database, Fraction]:
    required = (
        "a list with the law of each entry, such as [{0: '1/2', 1: '1/2'}] * 4, or a dict from databases to "
        "probabilities is required"
    )
    entries = []
    for index, masses in enumerate(as_items(law, "law", required)):
        stated = as_mapping(masses, f"law[{index}]", "a dict from values to probabilities is required")
        found, _ = as_law([(f"law[{index}][{value!r}]", mass) for value, mass in stated.items()], f"law[{index}]")
        entries.append([(value, mass) for value, mass in zip(stated, found, strict=True) if mass])
    if not entries:
        raise ArgumentError("law = []; the law of at least one entry is required")
    if (count := prod(map(len, entries))) > budget.MAX_LISTED_DATABASES:
        raise ArgumentError(f"law has {count} databases; at most {budget.MAX_LISTED_DATABASES} are tried")
    return {
        tuple(value for value, _ in chosen): prod((mass for _, mass in chosen), start=Fraction(1))
        for chosen in product(*entries)
    }


def _joint(law: Mapping[Any, Number]) -> dict[Database, Fraction]:
    sizes = {length_of_tuple(database) for database in law}
    if len(sizes) != 1 or not sizes.isdisjoint({-1, 0}):
        raise ArgumentError(f"law = {abridged(law)}; tuples of one length, a value an entry, are required as keys")
    if len(law) > budget.MAX_LISTED_DATABASES:
        raise ArgumentError(f"law has {len(law)} databases; at most {budget.MAX_LISTED_DATABASES} are tried")
    found, _ = as_law([(f"law[{database!r}]", mass) for database, mass in law.items()], "law")
    joint: defaultdict[Database, Fraction] = defaultdict(Fraction)
    for database, mass in zip(law, found, strict=True):
        if mass:
            joint[database] += mass
    return dict(joint)
