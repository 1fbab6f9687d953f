"""A privacy budget over a secret partition: queries are chosen one after the other, and overspending is refused.

docs/explanation/filters-and-odometers.md states, with proofs, which results are guarantees and which are bookkeeping.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from fractions import Fraction
from itertools import islice
from typing import Any

from statpriv import budget
from statpriv.composition.filter import Filter
from statpriv.composition.least_epsilon import least_epsilon
from statpriv.composition.ledger import Ledger, LedgerEntry, at_most
from statpriv.composition.promises import one_a_part, promise_arguments, promise_of
from statpriv.composition.repeated_releases import RepeatedReleases
from statpriv.composition.state import STATE, sealed, state_of, unsealed
from statpriv.composition.statement import statement
from statpriv.curves.build import compose
from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError
from statpriv.model.adversaries import Adversary
from statpriv.model.fields import by_name
from statpriv.model.partitions import RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.situation import Query
from statpriv.numeric.arguments import as_instance
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_nonnegative, as_probability
from statpriv.numeric.literals import abridged, literal


class PartitionAccountant:
    """A budget for queries that are chosen one after the other, each answered on rows of its own.

    The rows are drawn at random and in secret. Each query, the number of its rows and the decision to stop may depend
    on all earlier answers. The accountant sums ``(n_k/n) · Δ̂_{n_k}(ε)`` and refuses any query that would bring this
    sum above δ. All allowed answers together are (ε, δ)-statistically private **at its ε, whatever is asked**.

    Parameters
    ----------
    population : Population
        The entries, the critical one included: identically distributed, unless `only` or `declared` is given.
    epsilon : float, int, Fraction, Decimal or str
        ε in nats, at least 0.
    delta : float, int, Fraction, Decimal or str
        δ, from 0 to 1: the budget.
    adversary : Adversary, optional
        What is known of the other entries; nothing by default. Without a promise, each part is charged as if it held as
        many known entries as possible.
    only : PropertyQuery or HistogramQuery, optional
        A promise: every answer will be computed from this one attribute. All answers together then cost at most as much
        as its total over all entries, whatever the sizes. A PropertyQuery without an attribute stands for all
        properties with a probability in its range: see :mod:`statpriv.composition.any_property`.
    declared : (list of queries, RandomPartition), optional
        A promise: only these queries will be asked, each on a part of the given size. All answers together then cost
        their exact composition, :func:`statpriv.compose`, in whatever order the queries are asked.

    Raises
    ------
    ArgumentError
        A value that is not allowed, or groups without a promise.

    Notes
    -----
    With a promise, the whole cost is spent at once and :meth:`get_delta` is a guarantee at every ε. Without a promise,
    the guarantee is (ε, δ) as given and :meth:`get_delta` reports the sum for the queries actually asked.

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
        as_instance(population, "population", Population, "a Population such as sp.Population(1024) is required")
        population.require_no_clusters("an account of rows")
        known = Adversary() if adversary is None else adversary
        as_instance(known, "adversary", Adversary, "an Adversary such as sp.Adversary(known=10) is required")
        level, target = as_nonnegative(epsilon, "epsilon"), as_probability(delta, "delta")
        self._filter = Filter(population, level, target, known, promise_of(only, declared))
        self._at_first = population, known

    # --- queries -----------------------------------------------------------------------------------

    def compose(self, query: Query, *, size: Number, count: Number = 1) -> PartitionAccountant:
        """Allow `count` answers to a query, each on `size` rows that answered nothing before.

        Parameters
        ----------
        query : a query
            Anything that :func:`statpriv.privacy_curve` takes with ``Population(size)``.
        size : int
            Rows of each part, at least 1.
        count : int, default 1
            Number of parts. The effect equals that of `count` calls; the running time is that of one.

        Returns
        -------
        PartitionAccountant
            This accountant.

        Raises
        ------
        BudgetExceededError
            The budget, the rows or the promise do not allow the query; nothing has changed.
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
        self._filter.allow(self._filter.proposed((query,), (size,), count))
        return self

    def supports(self, query: Query, *, size: Number, count: Number = 1) -> bool:
        """Whether :meth:`compose` would allow the query; the arguments and errors are its own, and nothing changes."""
        return self._filter.refusal(self._filter.proposed((query,), (size,), count)) is None

    def compose_batch(self, queries: Sequence[Query], partition: RandomPartition) -> PartitionAccountant:
        """Allow several answers that are chosen at once, query k on part k of fresh rows.

        The charge is the exact composition of the batch as one query: ``(n_B/n) · Δ̂_B(ε)`` for its n_B rows. It never
        exceeds the sum of the separate charges. The queries may be asked in any order, and not all need be asked. They
        are given as to :func:`statpriv.compose`; result and errors are those of :meth:`compose`.

        Examples
        --------
        >>> import statpriv as sp
        >>> acc = sp.PartitionAccountant(sp.Population(32768), epsilon=".01", delta=".05")
        >>> smokers = sp.PropertyQuery("1/2", attribute="smoker")
        >>> acc.compose_batch([smokers] * 4, sp.RandomPartition([1024] * 4))
        <PartitionAccountant: at most 0.001... of δ = 0.05 spent at ε = 0.01; 28672 of 32768 rows left>
        """
        self._filter.allow(self._batch(queries, partition))
        return self

    def supports_batch(self, queries: Sequence[Query], partition: RandomPartition) -> bool:
        """Whether :meth:`compose_batch` would allow the batch; nothing changes."""
        return self._filter.refusal(self._batch(queries, partition)) is None

    def largest_count(self, query: Query, *, size: Number) -> int:
        """The largest `count` that :meth:`compose` would allow.

        Examples
        --------
        >>> import statpriv as sp
        >>> acc = sp.PartitionAccountant(sp.Population(32768), epsilon=".01", delta=".01")
        >>> acc.largest_count(sp.PropertyQuery("1/2"), size=1024)
        15
        """
        return self._filter.fitting(self._filter.proposed((query,), (size,), 1))

    def extend(self, rows: Number, *, known: Number = 0) -> PartitionAccountant:
        """Append rows to the table; later parts are drawn from these and from all rows that have not answered yet.

        Parameters
        ----------
        rows : int
            Number of appended rows, at least 1. They have the same law as the others, and the time of their arrival
            must not depend on any values.
        known : int, default 0
            How many of them the adversary knows.

        Returns
        -------
        PartitionAccountant
            This accountant.

        Raises
        ------
        ArgumentError
            A value that is not allowed; or a promise was made, which covers only the original entries. Nothing has
            changed.

        Notes
        -----
        A row that joined late took no part in earlier answers, and is more likely to be drawn for later ones. Each
        cohort of rows therefore has its own sum, and the largest sum is kept below the budget;
        docs/explanation/repeated-releases.md has the proof.

        Examples
        --------
        >>> import statpriv as sp
        >>> acc = sp.PartitionAccountant(sp.Population(1000), epsilon="0.1", delta="0.05")
        >>> acc.compose(sp.PropertyQuery("1/2"), size=800).extend(200)
        <PartitionAccountant: at most 0.002... of δ = 0.05 spent at ε = 0.1; 400 of 1200 rows left>
        >>> acc.compose(sp.PropertyQuery("1/2"), size=400).ledger[1].weights
        (Fraction(1, 5), Fraction(1, 1))
        """
        if self._filter.promise is not None:
            raise ArgumentError(
                f"rows = {abridged(rows)}; what was promised is about the {self.population.size} entries that there "
                "were; open another accountant, without a promise, for a table that grows"
            )
        joined, of_these = as_count(rows, "rows", least=1), as_count(known, "known")
        if of_these > joined:
            raise ArgumentError(f"known = {of_these}; of {joined} rows that joined no more can be known")
        self._filter.join(joined, of_these)
        return self

    def _batch(self, queries: Sequence[Query], partition: RandomPartition) -> LedgerEntry:
        required = "a RandomPartition such as sp.RandomPartition([512]) is required"
        as_instance(partition, "partition", RandomPartition, required)
        asked = one_a_part(queries, partition, "queries")
        return self._filter.proposed(asked, partition.sizes, 1)

    # --- spending and guarantees --------------------------------------------------------------------

    @property
    def population(self) -> Population:
        """All entries, including appended ones."""
        return self._filter.population

    @property
    def epsilon(self) -> Fraction:
        """The ε of the guarantee, in nats."""
        return self._filter.epsilon

    @property
    def delta(self) -> Fraction:
        """The δ of the guarantee: the budget."""
        return self._filter.delta

    @property
    def adversary(self) -> Adversary:
        """What is known of the other entries."""
        return self._filter.adversary

    @property
    def ledger(self) -> Ledger:
        """The allowed queries, in order."""
        return Ledger(self._filter.entries)

    @property
    def spent(self) -> Fraction:
        """The exact amount charged to the budget: the sum of the upper ends of all costs, or the cost of the promise.

        If rows were appended, the largest sum over the cohorts.
        """
        return self._filter.spent

    @property
    def remaining_delta(self) -> Fraction:
        """The rest of the budget. It is negative if the promise exceeds the budget, and then every query is refused."""
        return self.delta - self.spent

    @property
    def remaining_rows(self) -> int:
        """How many rows have not answered yet."""
        return self._filter.draws.left

    @property
    def promised_curve(self) -> PrivacyCurve:
        """The privacy curve that bounds everything covered by the promise: a guarantee at every ε.

        Raises
        ------
        ArgumentError
            No promise, or a promised range of p alone: that bound is not a privacy curve, and get_delta gives it.
        """
        if self._filter.promise is None or not isinstance(self._filter.promised, PrivacyCurve):
            raise ArgumentError(
                "no attribute and no list of queries was promised, so no one curve bounds what may be asked; give "
                "only= with an attribute, or declared="
            )
        return self._filter.promised

    @property
    def charged(self) -> RepeatedReleases:
        """The bound that the filter sums for all queries so far, each ledger entry on rows of its own.

        It gives δ at every ε, with digits on request, and a certificate. Like :meth:`get_delta`, it is bookkeeping.

        Raises
        ------
        ArgumentError
            There is a promise, which is charged instead; see :attr:`promised_curve`.
        """
        if self._filter.promise is not None:
            raise ArgumentError("with a promise no sum is charged; promised_curve or get_delta() is what holds")
        return self._filter.charged(self._at_first[0].size)

    def get_delta(self, epsilon: Number) -> Enclosure:
        """δ at ε in nats, at least 0, for the queries asked so far; the upper end is the safe one.

        **Bookkeeping, not a guarantee**, unless there is a promise. Without a promise it is the sum of Theorem 5.1 over
        the parts asked, as if they had been chosen beforehand; the guarantee for adaptively chosen queries is the
        budget itself, at the accountant's own ε. With a promise it is the δ of the promise, which is a guarantee at
        every ε.

        Examples
        --------
        >>> import statpriv as sp
        >>> acc = sp.PartitionAccountant(sp.Population(32768), epsilon=".01", delta=".05")
        >>> acc.compose(sp.PropertyQuery("1/2"), size=1024, count=32).get_delta(".01")
        Enclosure(0.02035999387939..., 0.02035999387940...)
        """
        at = as_nonnegative(epsilon, "epsilon")
        if (promised := self._filter.promised) is not None:
            return self._filter.promised_delta if at == self.epsilon else promised.delta(at)
        return self.charged.delta(at)

    def get_epsilon(self, delta: Number) -> Enclosure:
        """The least ε in nats at which :meth:`get_delta` is at most `delta`, at least 0; infinite if there is none.

        It is bookkeeping, unless there is a promise.

        Examples
        --------
        >>> import statpriv as sp
        >>> acc = sp.PartitionAccountant(sp.Population(32768), epsilon=".01", delta=".05")
        >>> acc.compose(sp.PropertyQuery("1/2"), size=1024, count=32).get_epsilon(".05").upper
        0.0
        >>> acc.get_epsilon(".001").upper
        0.11119...
        """
        target = as_nonnegative(delta, "delta")
        if (promised := self._filter.promised) is not None:
            return promised.epsilon(target)
        charged = self.charged
        if charged.largest(charged.of_each(PrivacyCurve.infinity_mass))[0] > target:
            return Enclosure(math.inf, math.inf)
        return least_epsilon(lambda at: charged.largest(charged.deltas(at)), target)

    def non_adaptive_curve(self, *, bound: str = "tightest") -> PrivacyCurve:
        """The privacy curve of all answers so far **if no choice depended on an answer**: :func:`statpriv.compose`.

        It is a guarantee at every ε, smaller than the sum, if the queries, their sizes and their number were fixed
        before the first answer was seen. The accountant cannot check this condition. `bound` is that of
        :func:`statpriv.compose`.

        Raises
        ------
        ArgumentError
            Nothing was asked yet, more than ten million parts were asked, or rows were appended.

        Examples
        --------
        >>> import statpriv as sp
        >>> acc = sp.PartitionAccountant(sp.Population(32768), epsilon=".01", delta=".05")
        >>> smokers = sp.PropertyQuery("1/2", attribute="smoker")
        >>> acc.compose(smokers, size=1024, count=32).non_adaptive_curve().delta(".01").upper
        0.001104...
        """
        if not self._filter.entries:
            raise ArgumentError("nothing was asked yet, so there is no curve; compose() a query first")
        if self._filter.joined:
            raise ArgumentError(
                "rows were appended in between, so that the parts are no random partition of all rows; get_delta() has "
                "a bound for that"
            )
        if (parts := self._filter.parts) > budget.MAX_COMPOSED_PARTS:
            raise ArgumentError(
                f"{parts} parts were asked; at most {budget.MAX_COMPOSED_PARTS} are composed: get_delta() has no limit"
            )
        queries = [query for entry in self._filter.entries for _ in range(entry.count) for query in entry.queries]
        sizes = [size for entry in self._filter.entries for _ in range(entry.count) for size in entry.sizes]
        return compose(
            queries,
            self.population,
            RandomPartition(sizes),
            adversary=self.adversary,
            bound=bound,
        )

    def explain(self) -> str:
        """A text that states the guarantee, its theorem, and the quantities that are only reported.

        Examples
        --------
        >>> import statpriv as sp
        >>> print(sp.PartitionAccountant(sp.Population(100), epsilon="0.1", delta="0.05").explain())
        Guarantee
          (0.1, 0.05)-statistical privacy of all answers together, whatever is asked.
        ...
        """
        return statement(self._filter)

    # --- saving and restoring -----------------------------------------------------------------------

    def to_json(self) -> str:
        """The whole state as a JSON document, every number exact, with a digest of its content.

        Returns
        -------
        str
            The input of :meth:`from_json`. The digest reveals accidental or manual changes; it is not a signature.

        Raises
        ------
        ArgumentError
            A user-defined query, which has no written form.
        """
        population, adversary = self._at_first
        state = {
            "population": population,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "known": adversary.known,
            "values": adversary.values,
            "promise": None if self._filter.promise is None else self._filter.promise.stated,
            "joined": [joined._asdict() for joined in self._filter.joined],
            "ledger": [entry.document() for entry in self._filter.entries],
        }
        return sealed(STATE.write(state))

    @classmethod
    def from_json(cls, text: str) -> PartitionAccountant:
        """The accountant whose state was written by :meth:`to_json`.

        Raises
        ------
        ArgumentError
            The text is not such a document, has another version, or was edited.

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
            return cls._restored(state_of(content))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise ArgumentError(
                f"text: the state of the accountant is not complete or not consistent ({error})"
            ) from error

    @classmethod
    def _restored(cls, content: dict[str, Any]) -> PartitionAccountant:
        accountant = cls(
            content["population"],
            epsilon=content["epsilon"],
            delta=content["delta"],
            adversary=Adversary(known=by_name(content["known"]), values=content["values"]),
            **promise_arguments(content["promise"]),
        )
        ledger = iter(content["ledger"])
        for joined in content["joined"]:
            accountant._filter.replay(islice(ledger, joined["after"] - len(accountant._filter.entries)))
            if len(accountant._filter.entries) != joined["after"]:
                raise ArgumentError("rows joined after more entries than there are")
            accountant.extend(joined["rows"], known=joined["known"])
        accountant._filter.replay(ledger)
        return accountant

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionAccountant):
            return NotImplemented
        return self._state == other._state

    __hash__ = None  # type: ignore[assignment]  # it changes

    @property
    def _state(self) -> tuple[object, ...]:
        asked = (
            self.population,
            self.epsilon,
            self.delta,
            self.adversary,
            self._filter.promise,
        )
        return *asked, self._filter.joined, self._filter.entries

    def __copy__(self) -> PartitionAccountant:
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        copied._filter = copy(self._filter)
        return copied

    def __repr__(self) -> str:
        spent = f"at most {at_most(self.spent)}" if self.spent else "nothing"
        return (
            f"<PartitionAccountant: {spent} of δ = {literal(self.delta)} spent at ε = {literal(self.epsilon)}; "
            f"{self.remaining_rows} of {self.population.size} rows left>"
        )

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(repr(self))}</p>{self.ledger._repr_html_()}"
