"""Releases and their laws: queries answered on the entries that a template picks (Lemma 3.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from statpriv.errors import ArgumentError
from statpriv.reference.cases import LIMIT, product, refuse_above
from statpriv.reference.databases import Database
from statpriv.reference.laws import Number, Weights
from statpriv.reference.templates import Family, as_families

Query: TypeAlias = Callable[[tuple[Hashable, ...]], Hashable]
"""A function from the rows that a template picks, in the order of the template, to an answer."""


@dataclass(frozen=True)
class Strategy:
    """An adaptive analyst: each query may depend on the answers before it (Theorems 5.3 and 5.4).

    Parameters
    ----------
    choose : callable
        From the tuple of earlier answers to the query for the next part.

    Examples
    --------
    >>> import statpriv as sp
    >>> ask = sp.reference.Strategy(lambda earlier: max if earlier == (1,) else sum)
    >>> parts = sp.reference.partitions(3, [1, 2], ordered=False)
    >>> coins = sp.reference.iid(sp.reference.coin("1/2"), 3)
    >>> sp.reference.answer_law(coins, 0, 1, ask, parts)[1, 0]
    Fraction(1, 12)
    """

    choose: Callable[[tuple[Hashable, ...]], Query]


Asked: TypeAlias = Query | Sequence[Query] | Strategy
Templates: TypeAlias = Mapping[Any, Number]
Answers: TypeAlias = tuple[Hashable, ...]
Released: TypeAlias = tuple[Answers, tuple[Hashable, ...]]
"""The answers, and the values of the entries that are revealed with them."""

_REMEMBERED = 2**16
"""Answers to some rows that are kept."""


@dataclass(frozen=True)
class Release:
    """Queries, and the law of the families of templates on which they are answered.

    `choose` gives the next query from the earlier answers. A fixed list of queries ignores the answers. A single query
    has families of one template.
    """

    choose: Callable[[Answers], Query]
    families: Mapping[Family, Fraction]

    @cached_property
    def _answer(self) -> Callable[[Answers, tuple[Hashable, ...]], Hashable]:
        """From earlier answers and the rows of a part to the answer; the same rows come up again and again."""

        @lru_cache(maxsize=_REMEMBERED)
        def answer_of(given: Answers, rows: tuple[Hashable, ...]) -> Hashable:
            answer = self.choose(given)(rows)
            try:
                hash(answer)
            except TypeError:
                message = f"a query answers {answer!r}; an answer is hashable: a number, a string or a tuple"
                raise ArgumentError(message) from None
            return answer

        return answer_of

    def answers(self, family: Family, row: Mapping[int, Hashable]) -> Answers:
        """The answers on the parts of one family, in order, for entries with the values of `row`."""
        given: Answers = ()
        for template in family:
            given = (*given, self._answer(given, tuple([row[i] for i in template])))
        return given

    def law(self, database: Database, revealed: Sequence[int] = ()) -> Weights[Released]:
        """The joint law of the answers and of the values of the `revealed` entries.

        It is `Σ_τ T(τ) · Σ_D P(D) · [answers on D∘τ]` (Lemma 3.1). Entries outside the template and `revealed` are
        summed out, with total probability one.
        """
        law: defaultdict[Released, int] = defaultdict(int)
        templates = Weights.from_law(self.families)
        for touched, families in self.by_entries.items():
            for row, weight in database.realisations(touched.union(revealed)):
                known = tuple(row[i] for i in revealed)
                for family in families:
                    law[self.answers(family, row), known] += weight * templates.of[family]
        return Weights(law, database.total * templates.total)

    @cached_property
    def by_entries(self) -> dict[frozenset[int], list[Family]]:
        """The families of templates, grouped by the entries they contain."""
        grouped: defaultdict[frozenset[int], list[Family]] = defaultdict(list)
        for family in self.families:
            grouped[frozenset(i for template in family for i in template)].append(family)
        return dict(grouped)

    def cases(self, database: Database, critical: int, known: Collection[int] = ()) -> int:
        """The number of databases times templates, for one value of the critical entry and all values of known ones."""
        return sum(
            len(families) * product(len(database.entries[i]) for i in touched.union(known) if i != critical)
            for touched, families in self.by_entries.items()
        )


def asking(query: Query, families: Mapping[Family, Fraction]) -> Release:
    """The release of one query on families of one template."""
    return Release(lambda _: query, families)


def part_count(templates: Templates | None) -> int:
    """The number of templates of a family; equality for all families is checked later, together with their entries."""
    if not isinstance(templates, Mapping) or not templates:
        raise ArgumentError(f"templates = {templates!r}; a law on families is required, such as partitions(6, [3, 3])")
    return max((len(family) for family in templates if isinstance(family, tuple)), default=0)


def release_of(query: Asked, templates: Templates | None, database: Database) -> Release:
    """The release described by the arguments; without templates every query is answered on all entries."""
    if not isinstance(database, Database):
        raise ArgumentError(f"database = {database!r}; a Database is required, such as iid(coin('1/2'), 4)")
    n = len(database)
    everyone = tuple(range(n))
    if isinstance(query, Strategy):
        parts = part_count(templates)
        return Release(query.choose, as_families(templates or {}, parts, n, single=False))
    if callable(query):
        return asking(query, as_families({everyone: 1} if templates is None else templates, 1, n, single=True))
    if not isinstance(query, Sequence) or not query or not all(map(callable, query)):
        raise ArgumentError(
            f"query = {query!r}; a function of the tuple of rows is required, a list of them, or Strategy"
        )
    law = {(everyone,) * len(query): 1} if templates is None else templates
    return Release(lambda earlier: query[len(earlier)], as_families(law, len(query), n, single=False))


def answer_law(
    database: Database,
    critical: int,
    value: Hashable,
    query: Asked,
    templates: Templates | None = None,
    *,
    known: Mapping[int, Hashable] | None = None,
    limit: int = LIMIT,
) -> dict[Hashable, Fraction]:
    """The law of the release given a value of the critical entry: `{answer: probability}`, without probability zero.

    Parameters
    ----------
    database, query, templates, limit
        As for :func:`privacy_curve`.
    critical : int
        Index of the critical entry.
    value : hashable
        The value of the critical entry.
    known : mapping from indices to values, optional
        Other entries that are certain.

    Raises
    ------
    ArgumentError
        Laws that do not sum to one, values or indices that do not exist, more cases than `limit`.

    Notes
    -----
    Source: *Parallel Composition for Statistical Privacy*, Definitions 2.2, 3.1 and 3.2, Lemma 3.1.

    Examples
    --------
    >>> import statpriv as sp
    >>> coins = sp.reference.iid(sp.reference.coin("1/2"), 3)
    >>> sp.reference.answer_law(coins, 0, 1, sum)
    {1: Fraction(1, 4), 2: Fraction(1, 2), 3: Fraction(1, 4)}
    >>> sp.reference.answer_law(coins, 0, 1, sum, sp.reference.without_replacement(3, 1))
    {1: Fraction(2, 3), 0: Fraction(1, 3)}
    """
    if known and critical in known:
        raise ArgumentError(f"known = {known!r} holds the critical entry {critical}; leave it out")
    release = release_of(query, templates, database)
    certain = database.fixed({**(known or {}), critical: value})
    refuse_above(limit, release.cases(certain, critical), "answer_law")
    law = release.law(certain).probabilities()
    return {(answers[0] if callable(query) else answers): mass for (answers, _), mass in law.items()}
