"""A privacy filter: how much of a budget is spent, what further answers cost, and why answers are refused.

The proofs are in docs/explanation/filters-and-odometers.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from statpriv.composition.cohorts import Cohort, Draws
from statpriv.composition.ledger import LedgerEntry, at_most
from statpriv.composition.promises import Guaranteed, Promise
from statpriv.composition.repeated_releases import RepeatedReleases
from statpriv.composition.stated_laws import Attribute, check_identical, check_query, new_laws
from statpriv.curves.build import compose, privacy_curve
from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError, BudgetExceededError
from statpriv.model.adversaries import Adversary
from statpriv.model.partitions import RandomPartition
from statpriv.model.populations import Population
from statpriv.model.situation import Query
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count
from statpriv.numeric.literals import abridged, literal

_Asked: TypeAlias = "tuple[tuple[Query, ...], tuple[int, ...], int]"
"""Queries that are answered together, the rows of each, and the number of these rows that may be known."""


class Joined(NamedTuple):
    """Appended rows, the number of known ones among them, and the number of earlier ledger entries."""

    rows: int
    known: int
    after: int


class Filter:
    """The answers allowed under a budget δ at one ε, and their cost.

    Attributes
    ----------
    population, adversary
        All entries and what is known of them, including appended ones.
    epsilon, delta : Fraction
        The budget.
    promise : a promise, or None
        The restriction the analyst has accepted.
    promised : a curve, or None
        The curve of everything the promise covers.
    entries : list of LedgerEntry
        Allowed answers, in order.
    joined : list of Joined
        When rows were appended.
    draws : Draws
        The rows that have not answered yet.
    sums : tuple of Fraction
        The amount spent of each cohort of rows.
    """

    def __init__(
        self, population: Population, epsilon: Fraction, delta: Fraction, adversary: Adversary, promise: Promise | None
    ) -> None:
        self.population, self.adversary = population, adversary
        self.epsilon, self.delta = epsilon, delta
        self.promise = promise
        self.entries: list[LedgerEntry] = []
        self.joined: list[Joined] = []
        self.draws = Draws(population.size)
        self.sums: tuple[Fraction, ...] = (Fraction(0),)
        self._asked: Counter[tuple[Query, int]] = Counter()
        self._laws: dict[Attribute, object] = {}
        self._curves: dict[_Asked, PrivacyCurve] = {}
        self._deltas: dict[_Asked, Enclosure] = {}
        self.promised: Guaranteed | None = None
        if promise is None:
            self._check_model()
        else:
            self.promised = promise.curve(population, adversary)
            self.promised_delta = self.promised.delta(epsilon)
            self.sums = (Fraction(self.promised_delta.upper),)
            self._laws = new_laws({}, promise.queries)

    def _check_model(self) -> None:
        """Without a promise, require entries of one law and a plain number of known entries."""
        n, adversary = self.population.size, self.adversary
        if self.population.groups is not None:
            raise ArgumentError(
                f"population = {self.population!r}; entries of one law are required, because earlier answers tell "
                "which groups are left for later parts; give Population(size), or promise what is asked with only= or "
                "declared="
            )
        if not isinstance(adversary.known, int) or adversary.values != "worst":
            raise ArgumentError(
                f"adversary = {adversary!r}; a number of known entries at their worst values, such as "
                "Adversary(known=10), is required"
            )
        if adversary.known > n - 1:
            raise ArgumentError(
                f"known = {adversary.known}; at most {n - 1} of {n} entries can be known, the critical one is not"
            )

    @property
    def spent(self) -> Fraction:
        """The largest sum over the cohorts."""
        return max(self.sums)

    @property
    def parts(self) -> int:
        """The number of parts asked so far."""
        return sum(self._asked.values())

    def join(self, rows: int, known: int) -> None:
        """Append rows, some of them known to the adversary."""
        joined = Joined(rows, known, len(self.entries))
        self.population = Population(self.population.size + joined.rows)
        self.joined.append(joined)
        self.adversary = Adversary(known=self.adversary.total + joined.known)
        self.draws.join(joined.rows)
        self.sums += (Fraction(0),)

    def proposed(self, queries: tuple[Query, ...], sizes: tuple[Number, ...], count: Number) -> LedgerEntry:
        """The proposed queries as a checked ledger entry with its cost."""
        rows = tuple(as_count(size, "size", least=1) for size in sizes)
        if sum(rows) > self.population.size:
            raise ArgumentError(f"size = {sum(rows)}; the population has only {self.population.size} entries")
        times = as_count(count, "count", least=1)
        for query in queries:
            check_query(query)
        new_laws(self._laws, queries)
        weights = self.draws.weights(times * sum(rows))
        if self.promise is not None:
            return LedgerEntry(queries, rows, times, 0, Fraction(0), weights)
        for query in queries:
            check_identical(query)
        known = min(self.adversary.total, sum(rows) - 1)
        asked = (queries, rows, known)
        if asked not in self._deltas:
            self._deltas[asked] = self._curve(asked).delta(self.epsilon)
        return LedgerEntry(queries, rows, times, known, Fraction(self._deltas[asked].upper), weights)

    def allow(self, entry: LedgerEntry) -> None:
        """Record an entry, unless it is refused."""
        refusal = self.refusal(entry)
        if refusal is not None:
            raise BudgetExceededError(refusal)
        self.record(entry)

    def record(self, entry: LedgerEntry) -> None:
        """Charge an entry without checking that it is allowed."""
        self._laws.update(new_laws(self._laws, entry.queries))
        self._asked.update(_parts(entry))
        self.entries.append(entry)
        self.draws.draw(entry.rows)
        self.sums = self._sums_with(entry)

    def _sums_with(self, entry: LedgerEntry) -> tuple[Fraction, ...]:
        """The sum of each cohort if the entry were charged."""
        return tuple(spent + cost for spent, cost in zip(self.sums, entry.costs, strict=True))

    def refusal(self, entry: LedgerEntry) -> str | None:
        """The reason why an entry is refused, or None."""
        epsilon = literal(self.epsilon)
        if self.promise is not None:
            if self.spent > self.delta:
                return (
                    f"what was promised costs up to {at_most(self.spent)} at epsilon = {epsilon}, above "
                    f"delta = {literal(self.delta)}: nothing of it can be asked"
                )
            for (query, size), times in _parts(entry).items():
                covered = self.promise.left(query, size, self._asked)
                if covered is not None and times > covered:
                    return (
                        f"query = {abridged(query)} on {size} rows, {times} times: the promise, "
                        f"{abridged(self.promise)}, covers {covered} more of these"
                    )
        if entry.rows > self.draws.left:
            return (
                f"{entry.shown} takes {entry.rows} rows; {self.draws.left} of {self.population.size} "
                f"have not answered yet{self._instead(entry)}"
            )
        worst, cost = max(zip(self._sums_with(entry), entry.costs, strict=True))
        if worst > self.delta:
            return (
                f"{entry.shown} costs up to {at_most(cost)}; {at_most(worst - cost)} of "
                f"delta = {literal(self.delta)} is spent at epsilon = {epsilon}{self._instead(entry)}"
            )
        return None

    def _instead(self, entry: LedgerEntry) -> str:
        """The end of a refusal message: what would be allowed instead."""
        if len(entry.sizes) > 1 or entry.count == 1:
            return "; fewer rows, a part that costs less or a larger budget may fit"
        one = replace(entry, count=1, weights=self.draws.weights(sum(entry.sizes)))
        return f"; at most {self.fitting(one)} such parts fit"

    def fitting(self, entry: LedgerEntry) -> int:
        """The number of copies of an entry that are allowed."""
        if self.promise is not None and self.spent > self.delta:
            return 0
        bounds = [self.draws.left // entry.rows]
        if self.promise is not None:
            covered = self.promise.left(entry.queries[0], entry.sizes[0], self._asked)
            bounds += [] if covered is None else [covered]
        costs = zip(self.sums, entry.costs, strict=True)
        return min([*bounds, *((self.delta - spent) // cost for spent, cost in costs if cost > 0)])

    def charged(self, cohort: int) -> RepeatedReleases:
        """The bound summed over all allowed entries; `cohort` is the number of rows of the first cohort."""
        cohorts = (Cohort(cohort), *(Cohort(joined.rows, joined.after) for joined in self.joined))
        asked = [(entry.queries, entry.sizes, entry.known) for entry in self.entries]
        whole = RepeatedReleases(cohorts, tuple(map(self._curve, asked)), tuple(entry.rows for entry in self.entries))
        if any(each not in self._deltas for each in asked):  # of a state that was restored
            return whole
        return whole.remembering(self.epsilon, tuple(self._deltas[each] for each in asked))

    def replay(self, documents: Iterable[dict[str, Any]]) -> None:
        """Record the entries of a stored ledger."""
        for document in documents:
            self.record(LedgerEntry.from_document(document, self.draws))
            if self.draws.left < 0 or self.spent > self.delta:
                raise ArgumentError("more is spent than there is")

    def _curve(self, asked: _Asked) -> PrivacyCurve:
        """The curve of answers on rows that hold the critical entry and as many known entries as possible."""
        if asked not in self._curves:
            queries, sizes, known = asked
            population, adversary = Population(sum(sizes)), Adversary(known=known)
            self._curves[asked] = (
                privacy_curve(queries[0], population, adversary=adversary)
                if len(queries) == 1
                else compose(queries, population, RandomPartition(sizes), adversary=adversary)
            )
        return self._curves[asked]

    def __copy__(self) -> Filter:
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        for mutable in ("entries", "joined", "draws", "_asked", "_laws"):
            setattr(copied, mutable, copy(getattr(self, mutable)))
        return copied


def _parts(entry: LedgerEntry) -> Counter[tuple[Query, int]]:
    """The number of times each query is asked on each number of rows."""
    counted: Counter[tuple[Query, int]] = Counter()
    for part in zip(entry.queries, entry.sizes, strict=True):
        counted[part] += entry.count
    return counted
