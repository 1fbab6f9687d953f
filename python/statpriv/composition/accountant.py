"""A privacy budget over a secret partition: queries are chosen one after the other, and what would break it is refused.

Which statement is a guarantee and which is bookkeeping, with the proofs: docs/explanation/filters-and-odometers.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, cast

from statpriv.composition.cohorts import Cohort, Draws
from statpriv.composition.least_epsilon import least_epsilon
from statpriv.composition.ledger import Ledger, LedgerEntry, at_most
from statpriv.composition.promises import Declared, Guaranteed, Promise, one_a_part, only_promise, promise_arguments
from statpriv.composition.repeated_releases import RepeatedReleases
from statpriv.composition.state import sealed, unsealed
from statpriv.composition.stated_laws import Attribute, check_identical, check_query, new_laws
from statpriv.composition.written_queries import number_from, written_number
from statpriv.curves.build import compose, privacy_curve
from statpriv.curves.curve import NOT_PROTECTED, PrivacyCurve
from statpriv.errors import ArgumentError, BudgetExceededError
from statpriv.model.adversaries import Adversary
from statpriv.model.groups import ByGroup
from statpriv.model.partitions import RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.situation import Query
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_fraction, as_probability
from statpriv.numeric.literals import abridged, literal, spelled
from statpriv.rules.assumptions import INDEPENDENT, PAPER

__all__ = ["PartitionAccountant"]

_MOST_PARTS = 10_000_000
"""Parts that are written out for a composition: some hundred megabytes."""

_Asked: TypeAlias = "tuple[tuple[Query, ...], tuple[int, ...], int]"
"""Queries that are answered together, the rows of each, and how many of these may be known."""

_FILTER = (
    "δ(ε) ≤ E[Σ_k (n_k/n) · Δ̂_k(ε)], the mean over the answers by which queries and sizes are chosen (Theorem 5.3). "
    "What would bring the sum above the budget is refused, so that it is at most the budget whatever the answers are, "
    "and so is its mean."
)
_WORST_SHARE = (
    "Earlier answers may tell where the known entries are not: each part is charged as if it held as many as it can."
)
_GROWTH = (
    "Rows that were appended are a cohort of their own: each cohort has its own sum, with the probability that a row "
    "of it is in part k for n_k/n, and the largest sum counts (docs/explanation/repeated-releases.md)."
)
_ASSUMPTIONS = (
    INDEPENDENT,
    "every entry has the law that the queries state (or any in the stated range)",
    "rows are taken in an order that is drawn once, uniformly and independently of the data, and kept secret",
    "no row answers twice",
    "the analyst sees nothing of the data but the answers",
)
_GROWN = (
    "rows that were appended were shuffled, in secret, into those that had not answered",
    *RepeatedReleases.own_assumptions,
)


class _Joined(NamedTuple):
    """Rows that were appended, known ones among them, and the entries of the ledger before that."""

    rows: int
    known: int
    after: int


class PartitionAccountant:
    """A budget for queries that are chosen one after the other, each answered on rows of its own.

    The rows are drawn at random and in secret; a query may depend on all earlier answers, and so may the number of its
    rows and when to stop. What the accountant allows is (ε, δ)-statistically private **at its ε, whatever is asked**:
    it adds up ``(n_k/n) · Δ̂_{n_k}(ε)`` and refuses what would bring this sum above δ.

    Parameters
    ----------
    population : Population
        The entries, the critical one included: identically distributed, unless `only` or `declared` is given.
    epsilon : float, int, Fraction, Decimal or str
        ε in nats, at least 0.
    delta : float, int, Fraction, Decimal or str
        δ, from 0 to 1: the budget.
    adversary : Adversary, optional
        What is known of the other entries; nothing by default. Without a promise each part is charged as if it held as
        many of the known entries as it can.
    only : PropertyQuery or HistogramQuery, optional
        A promise: every answer will be made from this one attribute. All of them together then cost no more than its
        total over all entries, whatever the sizes. A PropertyQuery without an attribute stands for all properties with
        a probability in its range: see :mod:`statpriv.composition.any_property`.
    declared : (list of queries, RandomPartition), optional
        A promise: only these queries will be asked, each on a part of its size. All of them together then cost their
        exact composition, :func:`statpriv.compose`, in whatever order they are asked.

    Raises
    ------
    ArgumentError
        A value that is not allowed; groups without a promise.

    Notes
    -----
    With a promise the whole cost is spent at once, and :meth:`get_delta` is a guarantee at every ε. Without one the
    guarantee is (ε, δ) as given, and :meth:`get_delta` reports the sum on the path that happened.

    Sources: *Parallel Composition for Statistical Privacy*, Theorem 5.3; the proofs are in
    docs/explanation/filters-and-odometers.md.

    Examples
    --------
    >>> import statpriv as sp
    >>> acc = sp.PartitionAccountant(sp.Population(32768), epsilon=".01", delta=".05")
    >>> smokers = sp.PropertyQuery("1/2", attribute="smoker")
    >>> acc.compose(smokers, size=1024, count=4).compose(sp.PropertyQuery("0.1"), size=2048)
    <PartitionAccountant: at most 0.004098 of δ = 0.05 spent at ε = 0.01; 26624 of 32768 rows left>
    >>> acc.supports(smokers, size=26624), acc.supports(smokers, size=1, count=26624)
    (True, False)
    """

    def __init__(
        self,
        population: Population,
        *,
        epsilon: Number,
        delta: Number,
        adversary: Adversary | None = None,
        only: PropertyQuery | HistogramQuery | None = None,
        declared: tuple[Sequence[Query], RandomPartition] | None = None,
    ) -> None:
        if not isinstance(population, Population):
            raise ArgumentError(
                f"population = {abridged(population)}; a Population such as sp.Population(1024) is required"
            )
        if adversary is not None and not isinstance(adversary, Adversary):
            raise ArgumentError(
                f"adversary = {abridged(adversary)}; an Adversary such as sp.Adversary(known=10) is required"
            )
        self._population = population
        self._epsilon, self._delta = _at_least_zero(epsilon, "epsilon"), as_probability(delta, "delta")
        self._adversary = Adversary() if adversary is None else adversary
        self._promise = _promise(only, declared)
        self._entries: list[LedgerEntry] = []
        self._asked: Counter[tuple[Query, int]] = Counter()
        self._at_first = self._population, self._adversary
        self._joined: list[_Joined] = []
        self._draws = Draws(population.size)
        self._sums: tuple[Fraction, ...] = (Fraction(0),)
        self._laws: dict[Attribute, object] = {}
        self._curves: dict[_Asked, PrivacyCurve] = {}
        self._deltas: dict[_Asked, Enclosure] = {}
        if self._promise is None:
            self._check_model()
        else:
            self._promised: Guaranteed = self._promise.curve(population, self._adversary)
            self._promised_delta = self._promised.delta(self._epsilon)
            self._sums = (Fraction(self._promised_delta.upper),)
            self._laws = new_laws({}, self._promise.queries)

    def _check_model(self) -> None:
        """Without a promise the entries have one law, and known ones are only a number."""
        n, adversary = self._population.size, self._adversary
        if self._population.groups is not None:
            raise ArgumentError(
                f"population = {self._population!r}; entries of one law are required, because earlier answers tell "
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

    # --- what may be asked ------------------------------------------------------------------------

    def compose(self, query: Query, *, size: Number, count: Number = 1) -> PartitionAccountant:
        """Allow `count` answers to a query, each on `size` rows that answered nothing before.

        Parameters
        ----------
        query : a query
            Anything that :func:`statpriv.privacy_curve` takes with ``Population(size)``.
        size : int
            Rows of each part, at least 1.
        count : int, default 1
            How many parts: the same as that many calls, at the cost of one.

        Returns
        -------
        PartitionAccountant
            This accountant.

        Raises
        ------
        BudgetExceededError
            The budget, the rows or the promise do not allow it; nothing has changed.
        ArgumentError
            A value that is not allowed, or an attribute that was asked with another law; nothing has changed.

        Examples
        --------
        >>> import statpriv as sp
        >>> acc = sp.PartitionAccountant(sp.Population(1000), epsilon="0.1", delta="0.003")
        >>> acc.compose(sp.PropertyQuery("1/2"), size=400)
        Traceback (most recent call last):
        ...
        statpriv.errors.BudgetExceededError: PropertyQuery(0.5) on 400 rows costs up to 0.003506; 0 of ...
        """
        return self._allow(self._proposed((query,), (size,), count))

    def supports(self, query: Query, *, size: Number, count: Number = 1) -> bool:
        """Whether :meth:`compose` would allow it; nothing changes.

        Parameters
        ----------
        query, size, count
            As for :meth:`compose`.

        Raises
        ------
        ArgumentError
            As :meth:`compose`.
        """
        return self._refusal(self._proposed((query,), (size,), count)) is None

    def compose_batch(self, queries: Sequence[Query], partition: RandomPartition) -> PartitionAccountant:
        """Allow several answers that are chosen at once, query k on part k of fresh rows.

        Charged is the exact composition of the batch as one query: ``(n_B/n) · Δ̂_B(ε)`` for its n_B rows, never more
        than its queries one by one. They may be asked in any order, and need not all be asked.

        Parameters
        ----------
        queries : list of queries
            One a part, as :func:`statpriv.compose` takes them.
        partition : RandomPartition
            Rows of each part.

        Returns
        -------
        PartitionAccountant
            This accountant.

        Raises
        ------
        BudgetExceededError, ArgumentError
            As :meth:`compose`.

        Examples
        --------
        >>> import statpriv as sp
        >>> acc = sp.PartitionAccountant(sp.Population(32768), epsilon=".01", delta=".05")
        >>> smokers = sp.PropertyQuery("1/2", attribute="smoker")
        >>> acc.compose_batch([smokers] * 4, sp.RandomPartition([1024] * 4))
        <PartitionAccountant: at most 0.001... of δ = 0.05 spent at ε = 0.01; 28672 of 32768 rows left>
        """
        return self._allow(self._batch(queries, partition))

    def supports_batch(self, queries: Sequence[Query], partition: RandomPartition) -> bool:
        """Whether :meth:`compose_batch` would allow it; nothing changes."""
        return self._refusal(self._batch(queries, partition)) is None

    def largest_count(self, query: Query, *, size: Number) -> int:
        """The largest `count` that :meth:`compose` would allow.

        Examples
        --------
        >>> import statpriv as sp
        >>> acc = sp.PartitionAccountant(sp.Population(32768), epsilon=".01", delta=".01")
        >>> acc.largest_count(sp.PropertyQuery("1/2"), size=1024)
        15
        """
        return self._fitting(self._proposed((query,), (size,), 1))

    def extend(self, rows: Number, *, known: Number = 0) -> PartitionAccountant:
        """Rows were appended to the table; from now on they are drawn with those that have not answered yet.

        Parameters
        ----------
        rows : int
            How many, at least 1: entries of the same law. When they came must not depend on the values of any.
        known : int, default 0
            How many of them the adversary knows.

        Returns
        -------
        PartitionAccountant
            This accountant.

        Raises
        ------
        ArgumentError
            A value that is not allowed; a promise, which is about the entries that there were; nothing has changed.

        Notes
        -----
        A row that joined late was not there at earlier answers, and is more likely to be drawn at later ones. So each
        cohort of rows has a sum of its own, and the largest is kept below the budget; the proof is in
        docs/explanation/repeated-releases.md.

        Examples
        --------
        >>> import statpriv as sp
        >>> acc = sp.PartitionAccountant(sp.Population(1000), epsilon="0.1", delta="0.05")
        >>> acc.compose(sp.PropertyQuery("1/2"), size=800).extend(200)
        <PartitionAccountant: at most 0.002... of δ = 0.05 spent at ε = 0.1; 400 of 1200 rows left>
        >>> acc.compose(sp.PropertyQuery("1/2"), size=400).ledger[1].weights
        (Fraction(1, 5), Fraction(1, 1))
        """
        if self._promise is not None:
            raise ArgumentError(
                f"rows = {abridged(rows)}; what was promised is about the {self._population.size} entries that there "
                "were; open another accountant, without a promise, for a table that grows"
            )
        joined = _Joined(as_count(rows, "rows", least=1), as_count(known, "known"), len(self._entries))
        if joined.known > joined.rows:
            raise ArgumentError(f"known = {joined.known}; of {joined.rows} rows that joined no more can be known")
        self._join(joined)
        return self

    def _join(self, joined: _Joined) -> None:
        self._population = Population(self._population.size + joined.rows)
        self._joined.append(joined)
        self._adversary = Adversary(known=self._adversary.total + joined.known)
        self._draws.join(joined.rows)
        self._sums += (Fraction(0),)

    def _batch(self, queries: Sequence[Query], partition: RandomPartition) -> LedgerEntry:
        if not isinstance(partition, RandomPartition):
            raise ArgumentError(
                f"partition = {abridged(partition)}; a RandomPartition such as sp.RandomPartition([512]) is required"
            )
        asked = one_a_part(queries, partition, "queries")
        return self._proposed(asked, partition.sizes, 1)

    def _proposed(self, queries: tuple[Query, ...], sizes: tuple[Number, ...], count: Number) -> LedgerEntry:
        """What is asked for, checked and with its price."""
        rows = tuple(as_count(size, "size", least=1) for size in sizes)
        if sum(rows) > self._population.size:
            raise ArgumentError(f"size = {sum(rows)}; the population has only {self._population.size} entries")
        times = as_count(count, "count", least=1)
        for query in queries:
            check_query(query)
        new_laws(self._laws, queries)
        weights = self._draws.weights(times * sum(rows))
        if self._promise is not None:
            return LedgerEntry(queries, rows, times, 0, Fraction(0), weights)
        for query in queries:
            check_identical(query)
        known = min(self._adversary.total, sum(rows) - 1)
        asked = (queries, rows, known)
        if asked not in self._deltas:
            self._deltas[asked] = self._curve(asked).delta(self._epsilon)
        return LedgerEntry(queries, rows, times, known, Fraction(self._deltas[asked].upper), weights)

    def _allow(self, entry: LedgerEntry) -> PartitionAccountant:
        refusal = self._refusal(entry)
        if refusal is not None:
            raise BudgetExceededError(refusal)
        self._record(entry)
        return self

    def _record(self, entry: LedgerEntry) -> None:
        self._laws.update(new_laws(self._laws, entry.queries))
        self._asked.update(_parts(entry))
        self._entries.append(entry)
        self._draws.draw(entry.rows)
        self._sums = self._sums_with(entry)

    def _sums_with(self, entry: LedgerEntry) -> tuple[Fraction, ...]:
        """What would be spent of each cohort."""
        return tuple(spent + cost for spent, cost in zip(self._sums, entry.costs, strict=True))

    def _refusal(self, entry: LedgerEntry) -> str | None:
        """Why an entry is not allowed, or None."""
        epsilon = literal(self._epsilon)
        if self._promise is not None:
            if self.spent > self._delta:
                return (
                    f"what was promised costs up to {at_most(self.spent)} at epsilon = {epsilon}, above "
                    f"delta = {literal(self._delta)}: nothing of it can be asked"
                )
            for (query, size), times in _parts(entry).items():
                covered = self._promise.left(query, size, self._asked)
                if covered is not None and times > covered:
                    return (
                        f"query = {abridged(query)} on {size} rows, {times} times: the promise, "
                        f"{abridged(self._promise)}, covers {covered} more of these"
                    )
        if entry.rows > self.remaining_rows:
            return (
                f"{entry.shown} takes {entry.rows} rows; {self.remaining_rows} of {self._population.size} "
                f"have not answered yet{self._instead(entry)}"
            )
        worst, cost = max(zip(self._sums_with(entry), entry.costs, strict=True))
        if worst > self._delta:
            return (
                f"{entry.shown} costs up to {at_most(cost)}; {at_most(worst - cost)} of "
                f"delta = {literal(self._delta)} is spent at epsilon = {epsilon}{self._instead(entry)}"
            )
        return None

    def _instead(self, entry: LedgerEntry) -> str:
        """What would be allowed."""
        if len(entry.sizes) > 1 or entry.count == 1:
            return "; fewer rows, a part that costs less or a larger budget may fit"
        one = replace(entry, count=1, weights=self._draws.weights(sum(entry.sizes)))
        return f"; at most {self._fitting(one)} such parts fit"

    def _fitting(self, entry: LedgerEntry) -> int:
        """How many of an entry are allowed."""
        if self._promise is not None and self.spent > self._delta:
            return 0
        bounds = [self.remaining_rows // entry.rows]
        if self._promise is not None:
            covered = self._promise.left(entry.queries[0], entry.sizes[0], self._asked)
            bounds += [] if covered is None else [covered]
        costs = zip(self._sums, entry.costs, strict=True)
        return min([*bounds, *((self._delta - spent) // cost for spent, cost in costs if cost > 0)])

    # --- what was spent, and what is guaranteed ----------------------------------------------------

    @property
    def population(self) -> Population:
        """The entries, those that were appended too."""
        return self._population

    @property
    def epsilon(self) -> Fraction:
        """The ε of the guarantee, in nats."""
        return self._epsilon

    @property
    def delta(self) -> Fraction:
        """The δ of the guarantee: the budget."""
        return self._delta

    @property
    def adversary(self) -> Adversary:
        """What is known of the other entries."""
        return self._adversary

    @property
    def ledger(self) -> Ledger:
        """What was allowed, in order."""
        return Ledger(self._entries)

    @property
    def spent(self) -> Fraction:
        """What counts against the budget, exactly: the sum of the upper ends of all costs, or that of the promise.

        Where rows were appended, the sum of the cohort for which it is largest.
        """
        return max(self._sums)

    @property
    def remaining_delta(self) -> Fraction:
        """What is left of the budget; below 0 where a promise costs more than it: then nothing can be asked."""
        return self._delta - self.spent

    @property
    def remaining_rows(self) -> int:
        """How many rows have not answered yet."""
        return self._draws.left

    @property
    def promised_curve(self) -> PrivacyCurve:
        """The privacy curve that what was promised cannot exceed: a guarantee at every ε.

        Raises
        ------
        ArgumentError
            Nothing was promised, or a range of p alone: its bound is no privacy curve; get_delta gives it.
        """
        if self._promise is None or not isinstance(self._promised, PrivacyCurve):
            raise ArgumentError(
                "no attribute and no list of queries was promised, so no one curve bounds what may be asked; give "
                "only= with an attribute, or declared="
            )
        return self._promised

    @property
    def charged(self) -> RepeatedReleases:
        """What was asked so far, as the bound that the filter adds up: every entry on rows of its own.

        It has δ at every ε, with digits too, and a certificate; what it says is bookkeeping as :meth:`get_delta` is.

        Raises
        ------
        ArgumentError
            There is a promise, which is charged instead: :attr:`promised_curve`.
        """
        if self._promise is not None:
            raise ArgumentError("with a promise no sum is charged; promised_curve or get_delta() is what holds")
        later = (Cohort(joined.rows, joined.after) for joined in self._joined)
        cohorts = (Cohort(self._at_first[0].size), *later)
        asked = [(entry.queries, entry.sizes, entry.known) for entry in self._entries]
        whole = RepeatedReleases(cohorts, tuple(map(self._curve, asked)), tuple(entry.rows for entry in self._entries))
        if any(each not in self._deltas for each in asked):  # of a state that was restored
            return whole
        return whole.remembering(self._epsilon, tuple(self._deltas[each] for each in asked))

    def get_delta(self, epsilon: Number) -> Enclosure:
        """δ at any ε, of what was asked so far.

        **Bookkeeping, not a guarantee**, unless there is a promise: the sum of Theorem 5.1 over the parts that were
        asked, as if they had been chosen beforehand. What holds for queries that were chosen by answers is the budget
        itself, at the accountant's own ε. With a promise it is the δ of the promise, which is a guarantee at every ε.

        Parameters
        ----------
        epsilon : float, int, Fraction, Decimal or str
            ε in nats, at least 0.

        Returns
        -------
        Enclosure
            Its upper end is the safe one.

        Examples
        --------
        >>> import statpriv as sp
        >>> acc = sp.PartitionAccountant(sp.Population(32768), epsilon=".01", delta=".05")
        >>> acc.compose(sp.PropertyQuery("1/2"), size=1024, count=32).get_delta(".01")
        Enclosure(0.02035999387939..., 0.02035999387940...)
        """
        at = _at_least_zero(epsilon, "epsilon")
        if self._promise is not None:
            return self._promised_delta if at == self._epsilon else self._promised.delta(at)
        return self.charged.delta(at)

    def get_epsilon(self, delta: Number) -> Enclosure:
        """The least ε at which :meth:`get_delta` is at most `delta`; like it a report unless there is a promise.

        Parameters
        ----------
        delta : float, int, Fraction, Decimal or str
            δ, at least 0.

        Returns
        -------
        Enclosure
            ε in nats, at least 0; infinite where no ε is enough.

        Examples
        --------
        >>> import statpriv as sp
        >>> acc = sp.PartitionAccountant(sp.Population(32768), epsilon=".01", delta=".05")
        >>> acc.compose(sp.PropertyQuery("1/2"), size=1024, count=32).get_epsilon(".05").upper
        0.0
        >>> acc.get_epsilon(".001").upper
        0.11119...
        """
        target = _at_least_zero(delta, "delta")
        if self._promise is not None:
            return self._promised.epsilon(target)
        charged = self.charged
        if charged.largest(charged.of_each(PrivacyCurve.infinity_mass))[0] > target:
            return Enclosure(math.inf, math.inf)
        return least_epsilon(lambda at: charged.largest(charged.deltas(at)), target)

    def non_adaptive_curve(self, *, bound: str = "tightest") -> PrivacyCurve:
        """The privacy curve of all answers so far **if nothing was chosen by an answer**: :func:`statpriv.compose`.

        A guarantee at every ε, smaller than the sum, for someone who had settled all queries, sizes and their number
        before seeing any answer. Whether that was so the accountant cannot know.

        Parameters
        ----------
        bound : str, default "tightest"
            As for :func:`statpriv.compose`.

        Raises
        ------
        ArgumentError
            Nothing was asked yet, or more than ten million parts; rows were appended.

        Examples
        --------
        >>> import statpriv as sp
        >>> acc = sp.PartitionAccountant(sp.Population(32768), epsilon=".01", delta=".05")
        >>> smokers = sp.PropertyQuery("1/2", attribute="smoker")
        >>> acc.compose(smokers, size=1024, count=32).non_adaptive_curve().delta(".01").upper
        0.001104...
        """
        if not self._entries:
            raise ArgumentError("nothing was asked yet, so there is no curve; compose() a query first")
        if self._joined:
            raise ArgumentError(
                "rows were appended in between, so that the parts are no random partition of all rows; get_delta() has "
                "a bound for that"
            )
        if (parts := sum(self._asked.values())) > _MOST_PARTS:
            raise ArgumentError(
                f"{parts} parts were asked; at most {_MOST_PARTS} are composed: get_delta() has no limit"
            )
        queries: Any = [query for entry in self._entries for _ in range(entry.count) for query in entry.queries]
        sizes = [size for entry in self._entries for _ in range(entry.count) for size in entry.sizes]
        return compose(
            queries,
            self._population,
            RandomPartition(sizes),
            adversary=self._adversary,
            bound=bound,
        )

    def explain(self) -> str:
        """What is guaranteed, by which theorem, and what is only reported, as text.

        Examples
        --------
        >>> import statpriv as sp
        >>> print(sp.PartitionAccountant(sp.Population(100), epsilon="0.1", delta="0.05").explain())
        Guarantee
          (0.1, 0.05)-statistical privacy of all answers together, whatever is asked.
        ...
        """
        budget = f"({literal(self._epsilon)}, {literal(self._delta)})-statistical privacy"
        if self._promise is None:
            guarantee = [f"{budget} of all answers together, whatever is asked."]
            theorem = [_FILTER, f"({PAPER}, Theorem 5.3; docs/explanation/filters-and-odometers.md)"]
            theorem += [_WORST_SHARE] if self._adversary.known else []
            theorem += [_GROWTH] if self._joined else []
            report = ["get_delta, get_epsilon: the sum on the path that happened. No guarantee by itself."]
            report += ["non_adaptive_curve: a guarantee only if everything was settled before the first answer."]
            assumptions = (*_ASSUMPTIONS, *(_GROWN if self._joined else ()))
        else:
            holds = (
                f"{budget} of all answers together, as promised."
                if self.remaining_delta >= 0
                else f"None: the promise costs up to {at_most(self.spent)}, above the budget; everything is refused."
            )
            guarantee = [holds, "get_delta and get_epsilon are guarantees at every ε."]
            theorem = [self._promise.theorem, self._promised.theorem, f"({self._promised.source})"]
            n = self._population.size
            report = [f"rows: {n - self.remaining_rows} of {n} have answered."]
            assumptions = (*self._promised.assumptions, *_ASSUMPTIONS[2:])
        sections = {
            "Guarantee": guarantee,
            "Theorem": theorem,
            "Bookkeeping": report,
            "Assumptions": [f"- {text}" for text in dict.fromkeys(assumptions)],
            "Not covered": [f"- {text}" for text in NOT_PROTECTED],
        }
        return "\n\n".join("\n".join([title, *(f"  {line}" for line in lines)]) for title, lines in sections.items())

    def _curve(self, asked: _Asked) -> PrivacyCurve:
        """The curve of answers on rows that hold the critical entry, and as many known ones as they can."""
        if asked not in self._curves:
            queries, sizes, known = asked
            population, adversary = Population(sum(sizes)), Adversary(known=known)
            self._curves[asked] = (
                privacy_curve(queries[0], population, adversary=adversary)
                if len(queries) == 1
                else compose(cast("Any", queries), population, RandomPartition(sizes), adversary=adversary)
            )
        return self._curves[asked]

    # --- keeping it ---------------------------------------------------------------------------------

    def to_json(self) -> str:
        """The whole state as a JSON document, every number exact, with a digest of its content.

        Returns
        -------
        str
            What :meth:`from_json` reads. The digest shows an accident or an edit by hand; it is no signature.

        Raises
        ------
        ArgumentError
            A query of your own, which has no written form.
        """
        population, adversary = self._at_first
        content = {
            "population": _written_counts(population.groups or population.size),
            "epsilon": written_number(self._epsilon),
            "delta": written_number(self._delta),
            "known": _written_counts(adversary.known),
            "values": adversary.values,
            "promise": None if self._promise is None else self._promise.document(),
            "joined": [joined._asdict() for joined in self._joined],
            "ledger": [entry.document() for entry in self._entries],
        }
        return sealed(content)

    @classmethod
    def from_json(cls, text: str) -> PartitionAccountant:
        """The accountant whose state was written by :meth:`to_json`.

        Parameters
        ----------
        text : str
            The document.

        Raises
        ------
        ArgumentError
            Not such a document, one of another version, or one that was edited.

        Examples
        --------
        >>> import statpriv as sp
        >>> acc = sp.PartitionAccountant(sp.Population(1000), epsilon="0.1", delta="0.05")
        >>> state = acc.compose(sp.PropertyQuery("0.3", attribute="smoker"), size=100).to_json()
        >>> sp.PartitionAccountant.from_json(state) == acc
        True
        """
        content = unsealed(text)
        try:
            return cls._restored(content)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise ArgumentError(
                f"text: the state of the accountant is not complete or not consistent ({error})"
            ) from error

    @classmethod
    def _restored(cls, content: dict[str, Any]) -> PartitionAccountant:
        size, known = content["population"], content["known"]
        accountant = cls(
            Population(size) if isinstance(size, int) else Population(groups=dict(size)),
            epsilon=number_from(content["epsilon"]),
            delta=number_from(content["delta"]),
            adversary=Adversary(known=known if isinstance(known, int) else dict(known), values=content["values"]),
            **promise_arguments(content["promise"]),
        )
        ledger = iter(content["ledger"])
        for joined in content["joined"]:
            accountant._replay(islice(ledger, joined["after"] - len(accountant._entries)))
            if len(accountant._entries) != joined["after"]:
                raise ArgumentError("rows joined after more entries than there are")
            accountant.extend(joined["rows"], known=joined["known"])
        accountant._replay(ledger)
        return accountant

    def _replay(self, documents: Iterable[dict[str, Any]]) -> None:
        """Record what was allowed before."""
        for document in documents:
            self._record(LedgerEntry.from_document(document, self._draws))
            if self.remaining_rows < 0 or self.remaining_delta < 0:
                raise ArgumentError("more is spent than there is")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionAccountant):
            return NotImplemented
        return self._state == other._state

    __hash__ = None  # type: ignore[assignment]  # it changes

    @property
    def _state(self) -> tuple[object, ...]:
        asked = self._population, self._epsilon, self._delta, self._adversary, self._promise
        return *asked, self._joined, self._entries

    def __copy__(self) -> PartitionAccountant:
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        for mutable in ("_entries", "_asked", "_joined", "_draws", "_laws"):
            setattr(copied, mutable, copy(getattr(self, mutable)))
        return copied

    def __repr__(self) -> str:
        spent = f"at most {at_most(self.spent)}" if self.spent else "nothing"
        return (
            f"<PartitionAccountant: {spent} of δ = {literal(self._delta)} spent at ε = {literal(self._epsilon)}; "
            f"{self.remaining_rows} of {self._population.size} rows left>"
        )

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(repr(self))}</p>{self.ledger._repr_html_()}"


def _promise(
    only: PropertyQuery | HistogramQuery | None, declared: tuple[Sequence[Query], RandomPartition] | None
) -> Promise | None:
    if only is not None and declared is not None:
        raise ArgumentError("only and declared are both given; at most one promise is possible")
    if only is not None:
        return only_promise(only)
    return None if declared is None else Declared.of(declared)


def _at_least_zero(value: Number, name: str) -> Fraction:
    exact = as_fraction(value, name)
    if exact < 0:
        raise ArgumentError(f"{name} = {spelled(value)}; a number of at least 0 is required")
    return exact


def _parts(entry: LedgerEntry) -> Counter[tuple[Query, int]]:
    """How often each query is asked on each number of rows."""
    counted: Counter[tuple[Query, int]] = Counter()
    for part in zip(entry.queries, entry.sizes, strict=True):
        counted[part] += entry.count
    return counted


def _written_counts(counts: int | ByGroup[int]) -> object:
    return counts if isinstance(counts, int) else [list(pair) for pair in counts]
