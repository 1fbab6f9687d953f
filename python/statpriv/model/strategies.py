"""Adaptive analysts: what is asked next depends on the answers so far.

A strategy is a tree of :class:`Ask`, or :class:`AnyOf` for an analyst of whom only the possible queries are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import ClassVar, NoReturn, TypeAlias

from statpriv import budget
from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.model.adversaries import Adversary
from statpriv.model.partitions import RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.situation import Pair, features_of, require_data_independent
from statpriv.model.steps import Step
from statpriv.numeric.arguments import as_instance, is_mapping
from statpriv.numeric.exact import as_count
from statpriv.numeric.literals import abridged

Branch: TypeAlias = "tuple[int, int | None, Ask]"
"""The least and the greatest answer (None: no end) after which something is asked, and that."""
Point: TypeAlias = "tuple[int, Sequence[PropertyQuery], list[tuple[int, int, int]]]"
"""Where an analyst chooses: the part, the queries, and by first and last answer the index of what follows."""
Choice: TypeAlias = Callable[[tuple[int, ...]], "PropertyQuery | None"]
"""From the answers so far to the next query, or None to stop."""


@dataclass(frozen=True, init=False, repr=False)
class Ask:
    """Ask a query on the next part, then go on according to its answer.

    Parameters
    ----------
    query : PropertyQuery
        A count of one property, which `attribute` names.
    then : Ask, or dict of int or range to Ask, optional
        What follows: the same after every answer, or by answer. The analyst stops after an answer that is not listed.

    Attributes
    ----------
    then : tuple of (int, int or None, Ask)
        First and last answer of each range, upwards, and what follows. None as the last has no end.

    Examples
    --------
    >>> import statpriv as sp
    >>> smokes = sp.PropertyQuery("0.3", attribute="smoker")
    >>> drinks = sp.PropertyQuery("0.6", attribute="drinker")
    >>> sp.Ask(smokes, then={range(0, 31): sp.Ask(drinks), range(31, 101): sp.Ask(smokes)}).steps
    2
    """

    query: PropertyQuery
    then: tuple[Branch, ...]
    is_given: ClassVar[bool] = True

    def __init__(self, query: PropertyQuery, then: Ask | Mapping[int | range, Ask] | None = None) -> None:
        object.__setattr__(self, "query", _property(query, "query"))
        object.__setattr__(self, "then", _branches(then))

    @property
    def steps(self) -> int:
        """The greatest number of queries that are asked."""
        depth, level = 0, [self]
        while level:
            depth += 1
            level = list({id(then): then for node in level for _, _, then in node.then}.values())
        return depth

    def queries(self) -> Iterator[PropertyQuery]:
        """Every query that may be asked."""
        seen: dict[int, Ask] = {}
        waiting = [self]
        while waiting:
            node = waiting.pop()
            if id(node) not in seen:
                seen[id(node)] = node
                yield node.query
                waiting += [then for _, _, then in node.then]

    def points(self, sizes: Sequence[int]) -> list[Point]:
        """Where the analyst chooses, in an order in which what follows comes later; parts have these sizes."""
        levels = [[self]]
        while following := {id(then): then for node in levels[-1] for _, _, then in node.then}:
            levels.append(list(following.values()))
        index: dict[tuple[int, int], int] = {}
        for part, level in enumerate(levels):
            for node in level:
                index[part, id(node)] = len(index)
        points: list[Point] = []
        for part, level in enumerate(levels):
            for node in level:
                ranges = [
                    (first, sizes[part] if last is None else min(last, sizes[part]), then)
                    for first, last, then in node.then
                ]
                follows = [(first, last, index[part + 1, id(then)]) for first, last, then in ranges if first <= last]
                points.append((part, [node.query], follows))
        return points

    def __repr__(self) -> str:
        if not self.then:
            return f"Ask({self.query!r})"
        if len(self.then) == 1 and self.then[0][:2] == (0, None):
            return f"Ask({self.query!r}, then={self.then[0][2]!r})"
        listed = ", ".join(f"range({first}, {(last or first) + 1}): {then!r}" for first, last, then in self.then)
        return f"Ask({self.query!r}, then={{{listed}}})"


@dataclass(frozen=True, init=False, repr=False)
class AnyOf:
    """Whatever analyst asks, on each part in turn, one of these queries, or stops: the worst one counts.

    Parameters
    ----------
    queries : iterable of PropertyQuery
        Counts of properties, each with its `attribute`.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.AnyOf([sp.PropertyQuery("0.3", attribute="smoker"), sp.PropertyQuery("0.6", attribute="drinker")])
    AnyOf([PropertyQuery('3/10', attribute='smoker'), PropertyQuery('3/5', attribute='drinker')])
    """

    allowed: tuple[PropertyQuery, ...]
    is_given: ClassVar[bool] = False

    def __init__(self, queries: Iterable[PropertyQuery]) -> None:
        if isinstance(queries, PropertyQuery) or not isinstance(queries, Iterable):
            raise ArgumentError(f"queries = {abridged(queries)}; a list of the queries that may be asked is required")
        allowed = tuple(dict.fromkeys(_property(query, f"queries[{k}]") for k, query in enumerate(queries)))
        if not allowed:
            raise ArgumentError("queries = []; at least one query that may be asked is required")
        object.__setattr__(self, "allowed", allowed)

    def queries(self) -> Iterator[PropertyQuery]:
        """Every query that may be asked."""
        yield from self.allowed

    def points(self, sizes: Sequence[int]) -> list[Point]:
        """One point a part, where any query may be chosen."""
        last = len(sizes) - 1
        return [(part, self.allowed, [(0, size, part + 1)] if part < last else []) for part, size in enumerate(sizes)]

    def __repr__(self) -> str:
        return f"AnyOf({list(self.allowed)!r})"


Strategy: TypeAlias = Ask | AnyOf
"""A given analyst, or the worst of many."""


@dataclass(frozen=True)
class AdaptiveSituation:
    """An analyst, the parts that answer, and who looks at the answers."""

    strategy: Strategy
    population: Population
    sampling: RandomPartition
    adversary: Adversary
    pair: Pair = None
    steps: ClassVar[tuple[Step, ...]] = ()
    counts_a_property: ClassVar[bool] = False
    protects_one_attribute: ClassVar[bool] = False
    holds_for_every_probability: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_data_independent(self.sampling)
        n, known = self.population.size, self.adversary.total
        if self.used > n:
            raise ArgumentError(
                f"sizes = {abridged(list(self.sampling.sizes))}: the parts have {self.used} entries together, the "
                f"population only {n}; take smaller parts, or fewer"
            )
        if known > n - 1:
            raise ArgumentError(
                f"known = {known}; at most {n - 1} of {n} entries can be known, the critical one is not"
            )
        if isinstance(self.strategy, Ask) and self.strategy.steps > len(self.sampling.sizes):
            raise ArgumentError(
                f"the strategy asks up to {self.strategy.steps} queries, one a part, and there are "
                f"{len(self.sampling.sizes)} parts"
            )
        probabilities = self.properties
        if self.pair is not None and self.pair not in ((1, 0), (0, 1)):
            raise ArgumentError(f"pair = {abridged(self.pair)}; (1, 0), (0, 1) or None is required for a property")
        if self.pair is not None and len(probabilities) > 1:
            raise ArgumentError(
                f"pair = {self.pair!r} with unrelated properties; a pair is defined for one property only"
            )

    @property
    def features(self) -> frozenset[str]:
        """What only rules that name it cover: see :data:`statpriv.model.features.FEATURES`."""
        return self.population.features.union(*map(features_of, self.strategy.queries()))

    @property
    def turned(self) -> AdaptiveSituation:
        """With the pair in the other order."""
        return self if self.pair is None else replace(self, pair=self.pair[::-1])

    @property
    def different_queries(self) -> tuple[Strategy]:
        """What is asked, as one thing."""
        return self.queries

    @property
    def queries(self) -> tuple[Strategy]:
        """What is asked, as one thing: by it a rule is chosen."""
        return (self.strategy,)

    @property
    def properties(self) -> dict[str, PropertyQuery]:
        """Each property that may be asked for, with a query for it."""
        found: dict[str, PropertyQuery] = {}
        for query in self.strategy.queries():
            first = found.setdefault(query.attribute or "", query)
            if first.probabilities != query.probabilities:
                raise ArgumentError(
                    f"attribute = {query.attribute!r} is asked with two different p, {first!r} and {query!r}; one "
                    "property has one probability"
                )
        return found

    @property
    def questions(self) -> NoReturn:
        """Not known before the answers."""
        raise NotAvailableError(
            "which questions are asked depends on the answers: compare a composition of all of them"
        )

    @property
    def used(self) -> int:
        """Number of entries that may answer some query."""
        return sum(self.sampling.sizes)

    def describe(self) -> list[str]:
        """One line for each part, as `explain()` prints them."""
        who = "a given strategy" if self.strategy.is_given else "the worst analyst"
        asked = ", ".join(map(repr, self.properties.values()))
        return [
            f"analyst     {who}, who chooses each query after the answers before it",
            f"queries     {asked if len(self.properties) <= 4 else f'{len(self.properties)} different properties'}",
            f"population  {self.population!r}",
            f"partition   {self.sampling!r}",
            f"adversary   knows {self.adversary.total} entries",
            f"pair        {self.pair or 'the worst'}",
        ]

    @property
    def title(self) -> str:
        """What is released, for a plot."""
        return f"Up to {len(self.sampling.sizes)} counts, chosen adaptively, of {self.population.size} entries"

    @property
    def summary(self) -> str:
        """One line for a repr."""
        return f"{type(self.strategy).__name__} on {self.used} of {self.population.size} entries"


def unrolled(choose: Choice, sizes: tuple[int, ...]) -> Ask:
    """The tree of a function from the answers so far to the next query, on parts of these sizes.

    Raises
    ------
    ArgumentError
        There are more than 100 000 sequences of answers to ask it about, or it asks nothing.
    """
    histories = prod(size + 1 for size in sizes[:-1])
    if histories > budget.MAX_HISTORIES or len(sizes) > budget.MAX_STRATEGY_STEPS:
        raise ArgumentError(
            f"strategy is a function, and parts of {list(sizes)[:8]} entries have about {histories:.2g} sequences of "
            f"answers, more than {budget.MAX_HISTORIES}: write it as a tree of sp.Ask with ranges of answers, or allow "
            "whatever is asked with sp.AnyOf"
        )
    tree = _Unrolling(choose, sizes).after(())
    if tree is None:
        raise ArgumentError("strategy asks nothing: strategy(()) is None; a first query is required")
    return tree


class _Unrolling:
    """Trees that are equal become one object, so that equal neighbours are recognised."""

    def __init__(self, choose: Choice, sizes: tuple[int, ...]) -> None:
        self.choose, self.sizes = choose, sizes
        self.known: dict[tuple[object, ...], Ask] = {}

    def after(self, earlier: tuple[int, ...]) -> Ask | None:
        if len(earlier) == len(self.sizes):
            return None
        query = self.choose(earlier)
        if query is None:
            return None
        _property(query, f"strategy({earlier!r})")
        branches: list[Branch] = []
        if len(earlier) + 1 < len(self.sizes):
            for answer in range(self.sizes[len(earlier)] + 1):
                then = self.after((*earlier, answer))
                if then is None:
                    continue
                if branches and branches[-1][1] == answer - 1 and branches[-1][2] is then:
                    branches[-1] = (branches[-1][0], answer, then)
                else:
                    branches.append((answer, answer, then))
        key = (query, *((first, last, id(then)) for first, last, then in branches))
        if key not in self.known:
            self.known[key] = _asking(query, tuple(branches))
        return self.known[key]


def _asking(query: PropertyQuery, branches: tuple[Branch, ...]) -> Ask:
    ask = Ask(query)
    object.__setattr__(ask, "then", branches)
    return ask


def _property(query: object, name: str) -> PropertyQuery:
    required = 'a count such as sp.PropertyQuery("0.3", attribute="smoker") is required'
    asked = as_instance(query, name, PropertyQuery, required)
    if asked.attribute is None:
        raise ArgumentError(
            f"{name} = {asked!r} has no attribute; where queries are chosen adaptively it must say which property is "
            'asked for, such as attribute="smoker": the same one after other answers, or another'
        )
    return asked


def _branches(then: object) -> tuple[Branch, ...]:
    if then is None:
        return ()
    if isinstance(then, Ask):
        return ((0, None, then),)
    if not is_mapping(then):
        raise ArgumentError(f"then = {abridged(then)}; None, an Ask, or a dict from answers to Asks is required")
    branches: list[tuple[int, int, Ask]] = []
    for answers, ask in then.items():
        as_instance(ask, f"then[{answers!r}]", Ask, "an Ask is required (leave answers out to stop)")
        if isinstance(answers, range):
            if answers.step != 1 or not answers or answers.start < 0:
                raise ArgumentError(f"then[{answers!r}]; a range of counts such as range(0, 31) is required")
            branches.append((answers.start, answers.stop - 1, ask))
        else:
            count = as_count(answers, "an answer in then")
            branches.append((count, count, ask))
    branches.sort(key=lambda branch: branch[0])
    for (_, last, _), (first, _, _) in pairwise(branches):
        if first <= last:
            raise ArgumentError(f"then lists the answer {first} twice; each answer has one continuation")
    return tuple(branches)
