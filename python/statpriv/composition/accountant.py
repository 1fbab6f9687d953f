"""A privacy budget over a secret partition: queries are chosen one after the other, and what would break it is refused.

Which statement is a guarantee and which is bookkeeping, with the proofs: docs/explanation/filters-and-odometers.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias, cast

from statpriv.adversaries import Adversary
from statpriv.analysis import compose, privacy_curve
from statpriv.assumptions import INDEPENDENT, PAPER
from statpriv.composition.least_epsilon import least_epsilon
from statpriv.composition.ledger import Ledger, LedgerEntry, at_most
from statpriv.composition.promises import Declared, Guaranteed, Promise, one_a_part, only_promise, promise_arguments
from statpriv.composition.state import sealed, unsealed
from statpriv.composition.written_queries import number_from, written_number
from statpriv.curve import NOT_PROTECTED, PrivacyCurve
from statpriv.enclosure import Enclosure
from statpriv.errors import ArgumentError, BudgetExceededError
from statpriv.groups import ByGroup
from statpriv.literals import abridged, literal, spelled
from statpriv.numbers import Number, as_count, as_fraction, as_probability
from statpriv.partitions import RandomPartition
from statpriv.populations import Population
from statpriv.queries.histogram import HistogramQuery
from statpriv.queries.linear import LinearQuery
from statpriv.queries.property import PropertyQuery
from statpriv.queries.valued import Valued
from statpriv.situation import Query, asked_of

__all__ = ["PartitionAccountant"]

_MOST_PARTS = 10_000_000
"""Parts that are written out for a composition: some hundred megabytes."""

_Asked: TypeAlias = "tuple[tuple[Query, ...], tuple[int, ...]]"
"""Queries that are answered together, and the rows of each."""
_Attribute: TypeAlias = "tuple[str, str]"
"""An attribute, and in which form its law is stated."""

_FILTER = (
    "δ(ε) ≤ E[Σ_k (n_k/n) · Δ̂_k(ε)], the mean over the answers by which queries and sizes are chosen (Theorem 5.3). "
    "What would bring the sum above the budget is refused, so that it is at most the budget whatever the answers are, "
    "and so is its mean."
)
_WORST_SHARE = (
    "Earlier answers may tell where the known entries are not: each part is charged as if it held as many as it can."
)
_ASSUMPTIONS = (
    INDEPENDENT,
    "every entry has the law that the queries state (or any in the stated range)",
    "rows are taken in an order that is drawn once, uniformly and independently of the data, and kept secret",
    "no row answers twice",
    "the analyst sees nothing of the data but the answers",
)


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
        self._rows_used = 0
        self._spent = Fraction(0)
        self._laws: dict[_Attribute, object] = {}
        self._curves: dict[_Asked, PrivacyCurve] = {}
        if self._promise is None:
            self._check_model()
        else:
            self._promised: Guaranteed = self._promise.curve(population, self._adversary)
            self._promised_delta = self._promised.delta(self._epsilon)
            self._spent = Fraction(self._promised_delta.upper)
            self._laws = _new_laws({}, self._promise.queries)

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
            _check_query(query)
        _new_laws(self._laws, queries)
        if self._promise is not None:
            return LedgerEntry(queries, rows, times, Fraction(0))
        for query in queries:
            _check_identical(query)
        delta = self._curve(queries, rows).delta(self._epsilon)
        return LedgerEntry(queries, rows, times, times * self._weight(rows) * Fraction(delta.upper))

    def _allow(self, entry: LedgerEntry) -> PartitionAccountant:
        refusal = self._refusal(entry)
        if refusal is not None:
            raise BudgetExceededError(refusal)
        self._record(entry)
        return self

    def _record(self, entry: LedgerEntry) -> None:
        self._laws.update(_new_laws(self._laws, entry.queries))
        self._asked.update(_parts(entry))
        self._entries.append(entry)
        self._rows_used += entry.rows
        self._spent += entry.cost

    def _refusal(self, entry: LedgerEntry) -> str | None:
        """Why an entry is not allowed, or None."""
        epsilon = literal(self._epsilon)
        if self._promise is not None:
            if self._spent > self._delta:
                return (
                    f"what was promised costs up to {at_most(self._spent)} at epsilon = {epsilon}, above "
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
        if self._spent + entry.cost > self._delta:
            return (
                f"{entry.shown} costs up to {at_most(entry.cost)}; {at_most(self._spent)} of "
                f"delta = {literal(self._delta)} is spent at epsilon = {epsilon}{self._instead(entry)}"
            )
        return None

    def _instead(self, entry: LedgerEntry) -> str:
        """What would be allowed."""
        if len(entry.sizes) > 1 or entry.count == 1:
            return "; fewer rows, a part that costs less or a larger budget may fit"
        fitting = self._fitting(LedgerEntry(entry.queries, entry.sizes, 1, entry.cost / entry.count))
        return f"; at most {fitting} such parts fit"

    def _fitting(self, entry: LedgerEntry) -> int:
        """How many of an entry are allowed."""
        if self._promise is not None and self._spent > self._delta:
            return 0
        bounds = [self.remaining_rows // entry.rows]
        if self._promise is not None:
            covered = self._promise.left(entry.queries[0], entry.sizes[0], self._asked)
            bounds += [] if covered is None else [covered]
        if entry.cost > 0:
            bounds.append((self._delta - self._spent) // entry.cost)
        return min(bounds)

    # --- what was spent, and what is guaranteed ----------------------------------------------------

    @property
    def population(self) -> Population:
        """The entries."""
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
        """What counts against the budget, exactly: the sum of the upper ends of all costs, or that of the promise."""
        return self._spent

    @property
    def remaining_delta(self) -> Fraction:
        """What is left of the budget; below 0 where a promise costs more than it: then nothing can be asked."""
        return self._delta - self._spent

    @property
    def remaining_rows(self) -> int:
        """How many rows have not answered yet."""
        return self._population.size - self._rows_used

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
        return Enclosure(*(min(end, Fraction(1)) for end in self._sum(lambda curve: curve.delta(at))))

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
        if self._sum(PrivacyCurve.mass_at_infinity)[0] > target:
            return Enclosure(math.inf, math.inf)
        return least_epsilon(lambda at: self._sum(lambda curve: curve.delta(at)), target)

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
            Nothing was asked yet, or more than ten million parts.

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
            report = ["get_delta, get_epsilon: the sum on the path that happened. No guarantee by itself."]
            report += ["non_adaptive_curve: a guarantee only if everything was settled before the first answer."]
            assumptions: tuple[str, ...] = _ASSUMPTIONS
        else:
            holds = (
                f"{budget} of all answers together, as promised."
                if self.remaining_delta >= 0
                else f"None: the promise costs up to {at_most(self._spent)}, above the budget; everything is refused."
            )
            guarantee = [holds, "get_delta and get_epsilon are guarantees at every ε."]
            theorem = [self._promise.theorem, self._promised.theorem, f"({self._promised.source})"]
            report = [f"rows: {self._rows_used} of {self._population.size} have answered."]
            assumptions = (*self._promised.assumptions, *_ASSUMPTIONS[2:])
        sections = {
            "Guarantee": guarantee,
            "Theorem": theorem,
            "Bookkeeping": report,
            "Assumptions": [f"- {text}" for text in dict.fromkeys(assumptions)],
            "Not covered": [f"- {text}" for text in NOT_PROTECTED],
        }
        return "\n\n".join("\n".join([title, *(f"  {line}" for line in lines)]) for title, lines in sections.items())

    def _weight(self, sizes: tuple[int, ...]) -> Fraction:
        """The chance that the critical entry is among these rows."""
        return Fraction(sum(sizes), self._population.size)

    def _curve(self, queries: tuple[Query, ...], sizes: tuple[int, ...]) -> PrivacyCurve:
        """The curve of answers on rows that hold the critical entry, and as many known ones as they can."""
        asked = (queries, sizes)
        if asked not in self._curves:
            rows = sum(sizes)
            population, adversary = Population(rows), Adversary(known=min(self._adversary.total, rows - 1))
            self._curves[asked] = (
                privacy_curve(queries[0], population, adversary=adversary)
                if len(queries) == 1
                else compose(cast("Any", queries), population, RandomPartition(sizes), adversary=adversary)
            )
        return self._curves[asked]

    def _sum(self, value: Callable[[PrivacyCurve], Enclosure]) -> tuple[Fraction, Fraction]:
        """Both ends of `Σ_k (n_k/n) · value(curve k)`, exactly; equal parts are evaluated once."""
        weights: dict[_Asked, Fraction] = {}
        for entry in self._entries:
            asked = (entry.queries, entry.sizes)
            weights[asked] = weights.get(asked, Fraction(0)) + entry.count * self._weight(entry.sizes)
        values = [(weight, value(self._curve(*asked))) for asked, weight in weights.items()]
        return (
            sum((weight * Fraction(ends.lower) for weight, ends in values), Fraction(0)),
            sum((weight * Fraction(ends.upper) for weight, ends in values), Fraction(0)),
        )

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
        content = {
            "population": _written_counts(self._population.groups or self._population.size),
            "epsilon": written_number(self._epsilon),
            "delta": written_number(self._delta),
            "known": _written_counts(self._adversary.known),
            "values": self._adversary.values,
            "promise": None if self._promise is None else self._promise.document(),
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
        for document in content["ledger"]:
            accountant._record(LedgerEntry.from_document(document))
        if accountant.remaining_rows < 0 or (accountant._entries and accountant.remaining_delta < 0):
            raise ArgumentError("more is spent than there is")
        return accountant

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionAccountant):
            return NotImplemented
        return self._state == other._state

    __hash__ = None  # type: ignore[assignment]  # it changes

    @property
    def _state(self) -> tuple[object, ...]:
        return self._population, self._epsilon, self._delta, self._adversary, self._promise, self._spent, self._entries

    def __copy__(self) -> PartitionAccountant:
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        copied._entries, copied._asked, copied._laws = list(self._entries), Counter(self._asked), dict(self._laws)
        return copied

    def __repr__(self) -> str:
        spent = f"at most {at_most(self._spent)}" if self._spent else "nothing"
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


def _check_query(query: object) -> None:
    if isinstance(query, type) or not isinstance(query, Query):
        raise ArgumentError(f"query = {abridged(query)}; a query such as sp.PropertyQuery(0.5) is required")
    try:
        hash(query)
    except TypeError:
        raise ArgumentError(f"query = {abridged(query)} is not hashable; give its class a __hash__") from None


def _check_identical(query: Query) -> None:
    """All entries have the law that the query states, whichever rows it is answered on."""
    asked = asked_of(query)
    if isinstance(asked, PropertyQuery | HistogramQuery | Valued) and not asked.is_uniform:
        raise ArgumentError(
            f"query = {abridged(query)}; one law for all entries is required: with laws by group or by entry, earlier "
            "answers tell which entries are left for later parts (promise what is asked with only= or declared=)"
        )


def _parts(entry: LedgerEntry) -> Counter[tuple[Query, int]]:
    """How often each query is asked on each number of rows."""
    counted: Counter[tuple[Query, int]] = Counter()
    for part in zip(entry.queries, entry.sizes, strict=True):
        counted[part] += entry.count
    return counted


def _new_laws(known: Mapping[_Attribute, object], queries: Iterable[Query]) -> dict[_Attribute, object]:
    """The laws of the attributes that are new among these queries: one attribute has one law."""
    new: dict[_Attribute, object] = {}
    for query in queries:
        asked: Any = asked_of(query)
        field = next((field for kind, field in _LAWS if isinstance(asked, kind)), None)
        if field is None or asked.attribute is None:
            continue
        law = getattr(asked, field)
        attribute = (asked.attribute, "p" if field == "probabilities" else field)
        if known.get(attribute, new.setdefault(attribute, law)) != law or new[attribute] != law:
            raise ArgumentError(
                f"attribute = {asked.attribute!r} is asked with two different laws, now by {abridged(asked)}; one "
                "attribute has one law (give the hull of the ranges to all its queries)"
            )
    return new


_LAWS = ((PropertyQuery, "probabilities"), (LinearQuery, "p"), (HistogramQuery, "cells"), (Valued, "pmf"))
"""Where queries state the law of an entry."""


def _written_counts(counts: int | ByGroup[int]) -> object:
    return counts if isinstance(counts, int) else [list(pair) for pair in counts]
