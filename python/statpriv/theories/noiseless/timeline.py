"""A changing database: entries join and leave, and queries are asked in between."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.numeric.arguments import as_items
from statpriv.numeric.exact import Number, as_count, as_nonnegative, as_probability
from statpriv.numeric.literals import abridged, spelled
from statpriv.theories.noiseless.composition import OverlappingQueries, compose_overlapping
from statpriv.theories.noiseless.counts import SubsetCounts


@dataclass(frozen=True)
class _Asked:
    """A query with a guarantee of its own."""

    entries: frozenset[int]
    epsilon: Fraction
    delta: Fraction
    leaked: int


class Timeline:
    """An accountant for a changing database of independent entries: it records changes and queries.

    Entries are numbered in the order in which they join, from 0. A replacement is a new entry with a new number.
    :meth:`counts` accounts exactly for running counts of bits. :meth:`composition` adds up queries with a stated
    noiseless privacy by Theorem 1. The growing and the streaming model, random replacement and d-adversarial
    refreshment are special cases.

    Parameters
    ----------
    size : int, default 0
        Number of entries at the start.
    p : float, int, Fraction, Decimal or str, optional
        Probability that an entry is one, for counts of bits.

    Examples
    --------
    A register of bits that grows from 100 to 250 entries, then replaces its oldest 50; each time its count is
    published:

    >>> import statpriv as sp
    >>> register = sp.noiseless.Timeline(100, p="1/2").count().add(150).count().replace_oldest(50).count()
    >>> register
    <Timeline: 250 entries of 300 so far, 3 counts and 0 other queries>
    >>> found = register.counts()
    >>> found.kind, found.hidden_among, found.delta("0.5").upper < 0.01
    ('exact', 50, True)
    """

    def __init__(self, size: int = 0, *, p: Number | None = None) -> None:
        self._p = None if p is None else as_probability(p, "p")
        self._present: list[int] = []
        self._issued = 0
        self._new_since_query: set[int] = set()
        self._counted: list[frozenset[int]] = []
        self._asked: list[_Asked] = []
        self._new_before: list[int] = []
        self.add(size)

    # --- the database changes ---------------------------------------------------------------------

    def add(self, count: int) -> Timeline:
        """New entries join, `count` of them, at least 0, independent of all others."""
        added = range(self._issued, self._issued + as_count(count, "count"))
        self._issued += len(added)
        self._present.extend(added)
        self._new_since_query.update(added)
        return self

    def remove(self, entries: Iterable[int]) -> Timeline:
        """These entries, which are present, leave."""
        leaving = self._expect_present(entries)
        self._present = [entry for entry in self._present if entry not in leaving]
        self._new_since_query -= leaving
        return self

    def replace(self, entries: Iterable[int]) -> Timeline:
        """These entries leave, and as many new ones join: random replacement, once the replaced entries are drawn."""
        leaving = self._expect_present(entries)
        return self.remove(leaving).add(len(leaving))

    def replace_oldest(self, count: int) -> Timeline:
        """The oldest entries leave, at most as many as are present, and as many new ones join: the streaming model."""
        leaving = as_count(count, "count")
        if leaving > len(self._present):
            raise ArgumentError(f"count = {spelled(count)}; only {len(self._present)} entries are present")
        return self.replace(self._present[:leaving])

    def refresh(self, *, keep: Iterable[int]) -> Timeline:
        """All entries but the d to `keep` are replaced: d-adversarial refreshment (Definition 7)."""
        kept = self._expect_present(keep)
        return self.replace([entry for entry in self._present if entry not in kept])

    # --- queries ----------------------------------------------------------------------------------

    def count(self) -> Timeline:
        """The exact number of ones among the present entries is published; it covers every symmetric function of them.

        It needs the probability p and at least one entry.
        """
        if self._p is None:
            raise ArgumentError("p = None; counts of bits need Timeline(size, p=...)")
        self._expect_entries()
        self._counted.append(frozenset(self._present))
        self._query_asked()
        return self

    def ask(
        self,
        epsilon: Number,
        delta: Number = 0,
        *,
        leaked: int = 0,
        reads: str | Iterable[int] = "all",
    ) -> Timeline:
        """A query with a guarantee of its own is answered.

        Parameters
        ----------
        epsilon, delta : float, int, Fraction, Decimal or str
            The query is (ε, δ)-noiseless private, ε in nats, when any `leaked` of the entries it reads are known.
        leaked : int, default 0
            Number of known entries under which the guarantee holds.
        reads : "all", "new" or iterable of int
            The entries that the query reads: all present entries, the new entries since the last query, or the given
            entries. "new" models an extendible sequence (Definition 10) or a disjoint one (Theorem 13).
        """
        if isinstance(reads, str) and reads not in ("all", "new"):
            raise ArgumentError(f"reads = {abridged(reads)}; 'all', 'new' or numbers of entries are required")
        self._expect_entries()
        read = (
            {"all": set(self._present), "new": set(self._new_since_query)}.get(reads)
            if isinstance(reads, str)
            else None
        )
        entries = frozenset(self._expect_present(reads) if read is None else read)  # type: ignore[arg-type]
        if not entries:
            raise ArgumentError(f"reads = {abridged(reads)}: no entry is new since the last query; add() some before")
        bound = as_nonnegative(epsilon, "epsilon")
        self._asked.append(_Asked(entries, bound, as_probability(delta, "delta"), as_count(leaked, "leaked")))
        self._query_asked()
        return self

    # --- what follows -----------------------------------------------------------------------------

    @property
    def present(self) -> tuple[int, ...]:
        """The entries that are present, the oldest first."""
        return tuple(self._present)

    @property
    def new_before_each_query(self) -> tuple[int, ...]:
        """Number of new entries at each query; with k the least of them, the database is k-growing (Definition 9)."""
        return tuple(self._new_before)

    def counts(self) -> SubsetCounts:
        """The privacy of all counts together, exactly or enclosed: statistical privacy of every entry.

        Raises
        ------
        NotAvailableError
            No count was asked, or other queries were asked too.
        """
        if not self._counted:
            raise NotAvailableError("no count was asked; count() asks one, and composition() is about other queries")
        if self._asked:
            raise NotAvailableError(
                f"{len(self._asked)} other queries were asked besides the counts; ask the counts as queries with the ε "
                "and δ of sp.noiseless.symmetric_guarantee(entries, epsilon, p=..., known=...), and take composition()"
            )
        assert self._p is not None  # noqa: S101  (count() requires p)
        return SubsetCounts(self._counted, p=self._p)

    def composition(self) -> OverlappingQueries:
        """The noiseless privacy of all other queries together, by Theorem 1 in its sharper form.

        Raises
        ------
        NotAvailableError
            No such query was asked, or counts were asked too.
        ArgumentError
            A query shares more entries with others than its own guarantee allows for.
        """
        if not self._asked:
            raise NotAvailableError("no query with a guarantee was asked; ask() asks one, and counts() is about counts")
        if self._counted:
            raise NotAvailableError(
                f"{len(self._counted)} counts were asked besides; ask them as queries with the ε and δ of "
                "sp.noiseless.symmetric_guarantee(entries, epsilon, p=..., known=...) instead"
            )
        return compose_overlapping(
            [asked.entries for asked in self._asked],
            [asked.epsilon for asked in self._asked],
            [asked.delta for asked in self._asked],
            leaked=[asked.leaked for asked in self._asked],
        )

    def __repr__(self) -> str:
        return (
            f"<Timeline: {len(self._present)} entries of {self._issued} so far, {len(self._counted)} counts and "
            f"{len(self._asked)} other queries>"
        )

    def _query_asked(self) -> None:
        self._new_before.append(len(self._new_since_query))
        self._new_since_query = set()

    def _expect_entries(self) -> None:
        if not self._present:
            raise ArgumentError("the database has no entries; add() some before a query")

    def _expect_present(self, entries: Iterable[int]) -> set[int]:
        numbers = as_items(entries, "entries", "numbers of entries that are present are required")
        chosen, present = {as_count(entry, "entries") for entry in numbers}, set(self._present)
        if missing := sorted(chosen - present):
            raise ArgumentError(
                f"entries has {missing[0]}, which is not present; present are {abridged(self._present)}"
            )
        return chosen
