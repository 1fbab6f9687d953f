"""Situations: everything an analysis needs to know, checked as a whole."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, cast

from statpriv.errors import ArgumentError
from statpriv.model.adversaries import Adversary
from statpriv.model.partitions import MultinomialPartition, Partition, PartitionLaw, RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.linear import LinearQuery
from statpriv.model.queries.order_statistic import OrderStatisticQuery
from statpriv.model.queries.processed import Gate, Processed
from statpriv.model.queries.property import Between, PropertyQuery
from statpriv.model.queries.protocol import AnswerLaws
from statpriv.model.queries.valued import Valued
from statpriv.model.samplings import (
    OverlappingSamples,
    Sampling,
    Stratified,
    TemplateLaw,
    WithoutReplacement,
    WithReplacement,
)
from statpriv.numeric.exact import as_fraction
from statpriv.numeric.literals import abridged, show, show_number

__all__ = [
    "Pair",
    "PartitionedSituation",
    "Pattern",
    "Query",
    "Situation",
    "asked_of",
    "attribute_of",
    "gate_for_every_p",
    "gate_of",
]

Query: TypeAlias = PropertyQuery | HistogramQuery | LinearQuery | Valued | Processed | AnswerLaws
"""What can be asked of a population."""

_LONGEST = 300
"""Characters of a query that are shown."""

Pair: TypeAlias = "tuple[Any, Any] | None"
"""Which values of the critical entry are compared; None is the worst pair."""
Pattern: TypeAlias = "tuple[tuple[Any, Any], ...]"
"""The pair of values of each part."""


@dataclass(frozen=True)
class Situation:
    """One query on a population or a secret sample of it, and who looks at the answer."""

    query: Query
    population: Population
    sampling: Sampling | None
    adversary: Adversary
    pair: Pair = None

    def __post_init__(self) -> None:
        if isinstance(self.asked, LinearQuery) and self.asked.entries != self.population.size:
            raise ArgumentError(
                f"matrix has {self.asked.entries} columns, one an entry, and the population "
                f"{self.population.size} entries"
            )
        self._check_groups()
        self._check_known()
        self._check_sampling()
        self._check_rank()
        object.__setattr__(self, "pair", _checked_pair(self.pair, self.asked))

    @property
    def asked(self) -> Query:
        """The query before its answer is processed."""
        return asked_of(self.query)

    def _check_groups(self) -> None:
        """Names of groups are those of the population; entries have one law each."""
        groups = dict(self.population.groups or ())
        stated = _stated_by_group(self.asked)
        if stated is not None:
            _same_names("the query", stated, groups)
        per_entry = _stated_by_entry(self.asked)
        if per_entry is not None and per_entry != self.population.size:
            raise ArgumentError(
                f"p has {per_entry} probabilities, one an entry, and the population {self.population.size} entries"
            )
        if not isinstance(self.adversary.known, int):
            _same_names("known", [name for name, _ in self.adversary.known], groups, every=False)
        if isinstance(self.sampling, Stratified):
            drawn = [name for name, _ in self.sampling.sizes]
            _same_names("the sampling", drawn, groups, hint=" (0 where nobody is drawn)")

    def _check_known(self) -> None:
        others = self.population.size - 1
        if self.adversary.total > others:
            together = "" if isinstance(self.adversary.known, int) else " altogether"
            raise ArgumentError(
                f"known = {self.adversary.total}{together}; at most {others} of {others + 1} entries can be known, the "
                "critical one is not"
            )
        if isinstance(self.adversary.known, int):
            return
        sizes = dict(self.population.groups or ())
        for name, known in self.adversary.known:
            if known > sizes[name]:
                raise ArgumentError(f"known[{name!r}] = {known}; the group has {sizes[name]} entries")

    def _check_sampling(self) -> None:
        n, sampling = self.population.size, self.sampling
        if isinstance(sampling, WithoutReplacement) and sampling.size > n:
            raise ArgumentError(
                f"size = {sampling.size}: the sample has {sampling.size} entries, the population only {n}; take a "
                "smaller sample"
            )
        if isinstance(sampling, OverlappingSamples) and max(sampling.sizes) > n:
            raise ArgumentError(
                f"sizes = {list(sampling.sizes)}: a sample has {max(sampling.sizes)} entries, the population only {n}; "
                "take smaller samples"
            )
        if isinstance(sampling, Stratified):
            groups = dict(self.population.groups or ())
            for name, size in sampling.sizes:
                if size > groups[name]:
                    raise ArgumentError(
                        f"sizes[{name!r}] = {size}; at most {groups[name]}, the entries of the group, can be drawn"
                    )
        if isinstance(sampling, TemplateLaw):
            named = max((entry for template, _ in sampling.probabilities for entry in template), default=0)
            if named >= n:
                raise ArgumentError(f"a template names the entry {named}; those of the population are 0 to {n - 1}")

    def _check_rank(self) -> None:
        """An order statistic has its rank among those that answer; how many do may be random."""
        if not isinstance(self.asked, OrderStatisticQuery):
            return
        sampling = self.sampling
        if isinstance(sampling, WithoutReplacement | WithReplacement):
            least = sampling.size
        elif isinstance(sampling, Stratified):
            least = sum(size for _, size in sampling.sizes)
        elif isinstance(sampling, OverlappingSamples):
            least = min(sampling.sizes)
        elif isinstance(sampling, TemplateLaw):
            least = min(len(template) for template, _ in sampling.probabilities)
        else:
            least = self.population.size
        self.asked.rank_among(least)

    def describe(self) -> list[str]:
        """One line for each part, as `explain()` prints them."""
        return [
            f"query       {_shown(self.query)}",
            f"population  {self.population!r}",
            f"sampling    {self.sampling!r}"
            if self.sampling is not None
            else "sampling    none: every entry is counted",
            f"adversary   {self.adversary!r}",
            f"pair        {'the worst' if self.pair is None else self.pair}",
        ]

    @property
    def title(self) -> str:
        """What is released, for a plot."""
        sample = "" if self.sampling is None else f", {type(self.sampling).__name__}"
        name = getattr(self.asked, "name", None) or type(self.asked).__name__
        return f"{name}: {self.population.size} entries{sample}"

    @property
    def summary(self) -> str:
        """One line for a repr."""
        sample = "" if self.sampling is None else f", {self.sampling!r}"
        known = f", {self.adversary!r}" if self.adversary != Adversary() else ""
        return f"{_shown(self.query)} on {self.population!r}{sample}{known}"


@dataclass(frozen=True)
class PartitionedSituation:
    """Queries, one a part of a secret random partition, and who looks at the answers."""

    queries: tuple[Query, ...]
    population: Population
    sampling: Partition
    adversary: Adversary
    pair: Pair | Pattern = None

    def __post_init__(self) -> None:
        if len(self.queries) != self.parts:
            raise ArgumentError(f"{len(self.queries)} queries and {self.parts} parts; one query a part is required")
        self._check_sizes()
        self._check_known()
        self._check_attributes()
        for query in dict.fromkeys(map(asked_of, self.different_queries)):
            self._check_query(query)
        if self.pair is not None:
            object.__setattr__(self, "pair", self._checked_pattern(self.pair))

    @cached_property
    def different_queries(self) -> tuple[Query, ...]:
        """Every query once, where many parts are asked the very same one."""
        return tuple({id(query): query for query in self.queries}.values())

    def _check_sizes(self) -> None:
        if isinstance(self.sampling, MultinomialPartition):
            return
        n = self.population.size
        if isinstance(self.sampling, PartitionLaw):
            if (last := max(self.sampling.entries, default=0)) >= n:
                raise ArgumentError(f"the partition names entry {last}; the population has those from 0 to {n - 1}")
            return
        strata = self.sampling.strata
        if self.used > n:
            raise ArgumentError(
                f"sizes = {abridged(list(self.sampling.sizes))}: the sample or parts have {self.used} entries "
                f"together, the population only {n}; take smaller parts, or fewer"
            )
        if strata is None:
            return
        groups = dict(self.population.groups or ())
        for k, part in enumerate(strata):
            _same_names(f"sizes[{k}]", [name for name, _ in part], groups, every=False)
        for name, size in groups.items():
            together = sum(dict(part).get(name, 0) for part in strata)
            if together > size:
                raise ArgumentError(
                    f"sizes: the parts have {together} entries of group {name!r} together, the population only {size}; "
                    "take fewer of this group"
                )

    def _check_known(self) -> None:
        n, known = self.population.size, self.adversary.total
        if known > n - 1:
            raise ArgumentError(
                f"known = {known}; at most {n - 1} of {n} entries can be known, the critical one is not"
            )
        if not isinstance(self.adversary.known, int):
            groups = dict(self.population.groups or ())
            _same_names("known", [name for name, _ in self.adversary.known], groups, every=False)

    def _check_attributes(self) -> None:
        first_of: dict[str, Query] = {}
        for query in self.different_queries:
            attribute = attribute_of(query)
            if attribute is None:
                continue
            first, asked = asked_of(first_of.setdefault(attribute, query)), asked_of(query)
            if type(first) is not type(asked):
                raise ArgumentError(
                    f"attribute = {attribute!r} is asked by a {type(first).__name__} and a {type(asked).__name__}; "
                    "one attribute has one kind of values"
                )
            if _stated_law(first) != _stated_law(asked):
                raise ArgumentError(
                    f"attribute = {attribute!r} is asked with two different p, {_spelled(first)} and "
                    f"{_spelled(asked)}; one property has one probability (give the hull of the ranges to both)"
                )

    def _check_query(self, query: Query) -> None:
        stated = _stated_by_group(query)
        if stated is not None:
            _same_names("the query", stated, dict(self.population.groups or ()))
        if _stated_by_entry(query) is not None:
            raise ArgumentError(
                f"{_shown(query)} states one p an entry; of a part it is not known which entries it has. State p by "
                "group, and a stratified partition"
            )
        if isinstance(query, LinearQuery):
            raise ArgumentError(f"{_shown(query)} names single entries; a part of a random partition has no fixed ones")
        if isinstance(query, OrderStatisticQuery) and not isinstance(self.sampling, MultinomialPartition):
            if not self.sampling.smallest:
                raise ArgumentError(f"{_shown(query)} of a part that may be empty; one entry at least is required")
            query.rank_among(self.sampling.smallest)

    def _checked_pattern(self, pair: Any) -> Pair | Pattern:  # noqa: ANN401  (a user's)
        """One pair where all parts ask one property, else a pair for each part, the same for those of an attribute."""
        listed = isinstance(pair, tuple | list) and len(pair) == self.parts
        if self.one_property:
            repeated = listed and isinstance(pair[0], tuple) and all(each == pair[0] for each in pair)
            return _checked_pair(pair[0] if repeated else pair, asked_of(self.queries[0]))
        if not listed or not all(isinstance(each, tuple) for each in pair):
            raise ArgumentError(
                f"pair = {abridged(pair)} with unrelated properties; a pair for each of the {self.parts} parts, such "
                "as pattern() of a curve gives them, is required"
            )
        pattern = tuple(
            cast("tuple[Any, Any]", _checked_pair(*each))
            for each in zip(pair, map(asked_of, self.queries), strict=True)
        )
        of_attribute: dict[str | None, tuple[Any, Any]] = {}
        for query, each in zip(self.queries, pattern, strict=True):
            attribute = attribute_of(query)
            if attribute is not None and of_attribute.setdefault(attribute, each) != each:
                raise ArgumentError(
                    f"pair names {of_attribute[attribute]} and {each} for attribute = {attribute!r}; the critical "
                    "entry has one pair of values of an attribute"
                )
        return pattern

    @property
    def pattern(self) -> Pattern | None:
        """The pair of each part, where unrelated properties have pairs of their own."""
        return None if self.pair is None or self.one_property else cast("Pattern", self.pair)

    @property
    def one_pair(self) -> Pair:
        """The pair of the one property that all parts ask, where no part has a pair of its own."""
        return None if self.pattern else cast("Pair", self.pair)

    def pair_of(self, part: int) -> Pair:
        """Which values are compared in this part."""
        return self.pattern[part] if self.pattern else self.one_pair

    @property
    def parts(self) -> int:
        """Number of parts."""
        if isinstance(self.sampling, PartitionLaw):
            return self.sampling.parts
        return len(self.sampling.weights if isinstance(self.sampling, MultinomialPartition) else self.sampling.sizes)

    @property
    def used(self) -> int:
        """Number of entries that answer some query, where it is certain; else the number of all."""
        return sum(self.sampling.sizes) if isinstance(self.sampling, RandomPartition) else self.population.size

    @cached_property
    def one_property(self) -> bool:
        """Whether all parts are known to ask the same property: one part, or one common attribute."""
        attributes = {attribute_of(query) for query in self.different_queries}
        return len(self.queries) == 1 or (len(attributes) == 1 and None not in attributes)

    def describe(self) -> list[str]:
        """One line for each part, as `explain()` prints them."""
        counted = dict.fromkeys(map(_shown, self.queries))
        return [
            f"queries     {', '.join(counted) if len(counted) <= 4 else f'{len(counted)} different queries'}",
            f"population  {self.population.size} entries",
            f"partition   {self.sampling!r}",
            f"adversary   knows {self.adversary.total} entries",
            f"pair        {abridged(self.pair) if self.pair else 'the worst'}",
        ]

    @property
    def title(self) -> str:
        """What is released, for a plot."""
        counts = len(self.queries)
        what = "One exact answer" if counts == 1 else f"{counts} exact answers"
        if all(isinstance(query, PropertyQuery) for query in self.queries):
            what = what.replace("answer", "count")
        return f"{what} of {self.used} among {self.population.size} entries"

    @property
    def summary(self) -> str:
        """One line for a repr."""
        queries = _shown(self.queries[0]) if len(self.queries) == 1 else f"{len(self.queries)} queries"
        known = f", {self.adversary.total} known" if self.adversary.total else ""
        return f"{queries} on {self.used} of {self.population.size} entries{known}"


def holds_for_every_probability(query: Query) -> bool:
    """Whether what is certified of a query does not rest on its probability: a count with a range, behind a gate."""
    asked = asked_of(query)
    ranged = isinstance(asked, PropertyQuery) and asked.is_uniform and asked.lower < asked.upper
    return ranged and isinstance(query, Processed) and any(isinstance(step, Gate) for step in query.steps)


def attribute_of(query: Query) -> str | None:
    """What says that two queries are about the same values of the entries."""
    attribute: str | None = getattr(asked_of(query), "attribute", None)
    return attribute


def asked_of(query: Query) -> Query:
    """The query before its answer is processed."""
    # Every numerical query is a query.
    return cast("Query", query.query) if isinstance(query, Processed) else query


def gate_of(query: Query) -> Gate | None:
    """The gate of a count of entries with one law, where it is what is done to the count first."""
    if not isinstance(query, Processed) or not isinstance(query.query, PropertyQuery) or not query.query.is_uniform:
        return None
    first = query.steps[0]
    return first if isinstance(first, Gate) else None


def gate_for_every_p(query: Query) -> Gate | None:
    """The same where p is a range: then nothing that is said of the answer trusts the range."""
    asked = asked_of(query)
    return gate_of(query) if isinstance(asked, PropertyQuery) and isinstance(asked.p, Between) else None


def _stated_law(query: Query) -> object:
    """The law of an entry, as the query states it."""
    for name in ("probabilities", "cells", "pmf"):
        if hasattr(query, name):
            return getattr(query, name)
    return query


def _shown(query: object) -> str:
    """The query, of which a long list is cut."""
    text = repr(query)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _spelled(query: Query) -> str:
    if not isinstance(query, PropertyQuery):
        return _shown(query)
    return repr(query.p) if isinstance(query.p, Between) else show(query.p)


def _same_names(what: str, stated: list[str], groups: dict[str, int], *, every: bool = True, hint: str = "") -> None:
    """Names are those of groups; of all of them where `every` group needs a statement."""
    if not groups:
        raise ArgumentError(f"{what} names groups, {stated}, and the population has none; write Population(groups=...)")
    if not set(stated) <= set(groups) or (every and len(stated) < len(groups)):
        required = (
            f"each of {list(groups)}, those of the population, is required"
            if every
            else (f"some of {list(groups)}, those of the population, are required")
        )
        raise ArgumentError(f"{what} names the groups {stated}; {required}{hint}")


def _stated_by_group(query: object) -> list[str] | None:
    """The groups for which a query states laws of their own."""
    stated: Any = None
    if isinstance(query, PropertyQuery) and isinstance(query.probabilities, tuple):
        stated = query.probabilities
    if isinstance(query, HistogramQuery) and not query.is_uniform:
        stated = query.cells
    if isinstance(query, Valued) and not query.is_uniform:
        stated = query.pmf
    if stated is None or not isinstance(stated[0], tuple):
        return None
    return [name for name, _ in stated]


def _stated_by_entry(query: object) -> int | None:
    if isinstance(query, PropertyQuery) and isinstance(query.probabilities, tuple):
        first = query.probabilities[0]
        return None if isinstance(first, tuple) else len(query.probabilities)
    return None


def _checked_pair(pair: Pair, query: object) -> Pair:
    """Two different values that the critical entry may have, as the query writes them."""
    if pair is None:
        return None
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise ArgumentError(f"pair = {abridged(pair)}; {_pairs_of(query)}")
    if isinstance(query, PropertyQuery | LinearQuery):
        if pair not in ((1, 0), (0, 1)):
            raise ArgumentError(f"pair = {abridged(pair)}; {_pairs_of(query)}")
        return (int(pair[0]), int(pair[1]))  # (1.0, 0.0) equals (1, 0)
    if isinstance(query, AnswerLaws):
        if not all(isinstance(value, Hashable) for value in pair) or pair[0] == pair[1]:
            raise ArgumentError(f"pair = {abridged(pair)}; {_pairs_of(query)}")
        return pair
    together: list[tuple[Any, ...]] = []
    if isinstance(query, HistogramQuery):
        stated: Any = query.cells
        together = [tuple(range(len(stated if query.is_uniform else stated[0][1])))]
    elif isinstance(query, Valued):
        laws: Any = [query.pmf] if query.is_uniform else [law for _, law in query.pmf]
        together = [tuple(value for value, _ in law) for law in laws]
    try:
        chosen = tuple(as_fraction(value, "pair") for value in pair)
    except ArgumentError:
        raise ArgumentError(f"pair = {abridged(pair)}; {_pairs_of(query)}") from None
    if chosen[0] == chosen[1] or not any(set(chosen) <= set(values) for values in together):
        raise ArgumentError(f"pair = {abridged(pair)}; {_pairs_of(query)}")
    if isinstance(query, HistogramQuery):
        return (int(chosen[0]), int(chosen[1]))
    return (chosen[0], chosen[1])


def _pairs_of(query: object) -> str:
    if isinstance(query, PropertyQuery | LinearQuery):
        return "(1, 0), (0, 1) or None is required for a property"
    if isinstance(query, HistogramQuery):
        return "a pair of different cells, counted from 0, or None is required"
    if isinstance(query, Valued):
        shown = ", ".join(show_number(value) for value in query.values[:6])
        of_group = "" if query.is_uniform else ", both of one group"
        more = ", ..." if len(query.values) > 6 else ""
        return f"a pair of different values among {shown}{more}{of_group}, or None is required"
    return "a pair of different values of the critical entry, or None is required"
