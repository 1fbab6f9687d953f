"""Situations: everything an analysis needs to know, checked as a whole."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias, cast

from statpriv.errors import ArgumentError
from statpriv.model.adversaries import Adversary
from statpriv.model.features import EACH, NONE
from statpriv.model.groups import same_names
from statpriv.model.partitions import Partition
from statpriv.model.populations import Population
from statpriv.model.queries.processed import Numerical, RangeGate, asked_of, steps_of
from statpriv.model.queries.protocol import AnswerLaws, Capabilities, Pair, capabilities_of, shown
from statpriv.model.samplings import Sampling
from statpriv.model.steps import Step
from statpriv.numeric.arguments import as_instance
from statpriv.numeric.literals import abridged

__all__ = [
    "Pair",
    "PartitionedSituation",
    "Pattern",
    "Query",
    "Questions",
    "Situation",
    "asked_of",
    "attribute_of",
    "capabilities",
    "features_of",
    "gate_for_every_p",
    "gate_of",
    "holds_for_every_probability",
    "steps_of",
]

Query: TypeAlias = Numerical | AnswerLaws
"""What can be asked of a population."""

Questions: TypeAlias = "tuple[tuple[Query, Sampling | None], ...]"
"""What is asked, each with the secret sample that answers it; None for all entries."""

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
    protects_one_attribute: ClassVar[bool] = False
    is_about_every_size: ClassVar[bool] = False
    """Whether the situation stands for populations of every size."""

    def __post_init__(self) -> None:
        self._check_kinds()
        require_data_independent(self.sampling)
        self.asked.check_size(self.population.size)
        self._check_groups()
        self._check_known()
        if self.sampling is not None:
            self.sampling.check(self.population)
        # An order statistic has its rank among those that answer; how many do may be random.
        self.asked.rank_among(
            self.population.size if self.sampling is None else self.sampling.least_ranked(self.population)
        )
        object.__setattr__(self, "pair", self.asked.checked_pair(self.pair))

    def _check_kinds(self) -> None:
        """Users give these, so each is what it is said to be."""
        if isinstance(self.query, type) or not isinstance(self.query, Query):
            raise ArgumentError(f"query = {abridged(self.query)}; a query such as sp.PropertyQuery(0.5) is required")
        as_instance(self.population, "population", Population, "a Population such as sp.Population(1024) is required")
        if self.sampling is not None and not isinstance(self.sampling, Sampling):
            raise ArgumentError(
                f"sampling = {abridged(self.sampling)}; a sampling such as sp.WithoutReplacement(256) is required, or "
                "None for all entries"
            )

    @cached_property
    def asked(self) -> Capabilities:
        """What the query, before its answer is processed, can say about itself."""
        return capabilities(self.query)

    @property
    def given_threshold(self) -> int | None:
        """The number of known entries in a sample up to which its curve is used, if a reader chose one (Example 1)."""
        return None

    @property
    def steps(self) -> tuple[Step, ...]:
        """What is done to the answer."""
        return steps_of(self.query)

    @property
    def questions(self) -> Questions:
        """The query, with the sample that answers it."""
        return ((self.query, self.sampling),)

    @property
    def unprocessed(self) -> Situation:
        """The same before what is done to the answer."""
        return replace(self, query=asked_of(self.query))

    @property
    def number_answering(self) -> int | None:
        """How many entries answer, counted as often as they are drawn, where that is certain."""
        return self.population.size if self.sampling is None else self.sampling.number_answering(self.population)

    @property
    def counts_a_property(self) -> bool:
        """Whether the answer, before it is processed, is the number of entries with a property."""
        return self.asked.is_count

    @property
    def holds_for_every_probability(self) -> bool:
        """Whether what is certified does not rest on a probability."""
        return holds_for_every_probability(self.query)

    @property
    def features(self) -> frozenset[str]:
        """What only rules that name it cover: see :data:`statpriv.model.features.FEATURES`."""
        return self.population.features | features_of(self.query)

    @property
    def turned(self) -> Situation:
        """With the pair in the other order."""
        return self if self.pair is None else replace(self, pair=self.pair[::-1])

    @property
    def different_queries(self) -> tuple[Query]:
        """The query, as one of several."""
        return (self.query,)

    @property
    def queries(self) -> tuple[Query]:
        """The query, as one of several."""
        return (self.query,)

    def _check_groups(self) -> None:
        """Names of groups are those of the population; entries have one law each."""
        groups = dict(self.population.groups or ())
        if (stated := self.asked.stated_groups) is not None:
            same_names("the query", list(stated), groups)
        if self.asked.stated_entries not in (None, self.population.size):
            raise ArgumentError(
                f"p has {self.asked.stated_entries} probabilities, one an entry, and the population "
                f"{self.population.size} entries"
            )
        if self.adversary.by_group:
            same_names("known", [name for name, _ in self.adversary.groups], groups, every=False)

    def _check_known(self) -> None:
        others = self.population.size - 1
        if self.adversary.total > others:
            together = " altogether" if self.adversary.by_group else ""
            raise ArgumentError(
                f"known = {self.adversary.total}{together}; at most {others} of {others + 1} entries can be known, the "
                "critical one is not"
            )
        sizes = dict(self.population.groups or ())
        for name, known in self.adversary.groups:
            if known > sizes[name]:
                raise ArgumentError(f"known[{name!r}] = {known}; the group has {sizes[name]} entries")

    def describe(self) -> list[str]:
        """One line for each part, as `explain()` prints them."""
        return [
            f"query       {shown(self.query)}",
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
        name = self.asked.name or self.asked.kind
        return f"{name}: {self.population.size} entries{sample}"

    @property
    def summary(self) -> str:
        """One line for a repr."""
        sample = "" if self.sampling is None else f", {self.sampling!r}"
        known = f", {self.adversary!r}" if self.adversary != Adversary() else ""
        return f"{shown(self.query)} on {self.population!r}{sample}{known}"


@dataclass(frozen=True)
class PartitionedSituation:
    """Queries, one a part of a secret random partition, and who looks at the answers."""

    queries: tuple[Query, ...]
    population: Population
    sampling: Partition
    adversary: Adversary
    pair: Pair | Pattern = None
    steps: ClassVar[tuple[Step, ...]] = ()
    counts_a_property: ClassVar[bool] = False
    protects_one_attribute: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_data_independent(self.sampling)
        if len(self.queries) != self.parts:
            raise ArgumentError(f"{len(self.queries)} queries and {self.parts} parts; one query a part is required")
        self.sampling.check(self.population)
        require_someone_unknown(self.population, self.adversary)
        self._check_attributes()
        for query in dict.fromkeys(map(asked_of, self.different_queries)):
            self._check_query(query)
        if self.pair is not None:
            object.__setattr__(self, "pair", self._checked_pattern(self.pair))

    @cached_property
    def different_queries(self) -> tuple[Query, ...]:
        """Every query once, where many parts are asked the very same one."""
        return tuple({id(query): query for query in self.queries}.values())

    @property
    def questions(self) -> Questions:
        """What is asked, each with the sample that answers it: all parts that ask one attribute the same."""
        parts: dict[object, list[int]] = {}
        for part, query in enumerate(self.queries):
            attribute = attribute_of(query)
            parts.setdefault(part if attribute is None else (attribute, capabilities(query).kind), []).append(part)
        return tuple((self.queries[own[0]], self.sampling.union(own)) for own in parts.values())

    def _check_attributes(self) -> None:
        first_of: dict[str, Query] = {}
        for query in self.different_queries:
            attribute = attribute_of(query)
            if attribute is None:
                continue
            one = first_of.setdefault(attribute, query)
            first, asked = capabilities(one), capabilities(query)
            if type(asked_of(one)) is not type(asked_of(query)):
                require_one_law(one, query, attribute=attribute)
            elif first.stated_law != asked.stated_law:
                raise ArgumentError(
                    f"attribute = {attribute!r} is asked with two different p, {first.shown_law} and "
                    f"{asked.shown_law}; one property has one probability (give the hull of the ranges to both)"
                )

    def _check_query(self, query: Query) -> None:
        stated = capabilities_of(query)
        if stated.stated_groups is not None:
            same_names("the query", list(stated.stated_groups), dict(self.population.groups or ()))
        if stated.stated_entries is not None:
            self._check_entries(query, stated.stated_entries)
        stated.check_part(shown(query), self.sampling.smallest)

    def _check_entries(self, query: Query, stated: int) -> None:
        """One p an entry is for plain random partitions: of others, parts depend on which entries these are."""
        if stated != self.population.size:
            raise ArgumentError(
                f"p has {stated} probabilities, one an entry, and the population {self.population.size} entries"
            )
        if not self.sampling.is_uniform or self.sampling.part_strata is not None:
            raise ArgumentError(
                f"{shown(query)} states one p an entry, which is composed over a RandomPartition with the sizes of its "
                "parts only. State p by group"
            )

    def _checked_pattern(self, pair: Any) -> Pair | Pattern:  # noqa: ANN401  (a user's)
        """One pair where all parts ask one property, else a pair for each part, the same for those of an attribute."""
        listed = isinstance(pair, tuple | list) and len(pair) == self.parts
        if self.one_property:
            repeated = listed and isinstance(pair[0], tuple) and all(each == pair[0] for each in pair)
            return capabilities(self.queries[0]).checked_pair(pair[0] if repeated else pair)
        if not listed or not all(isinstance(each, tuple) for each in pair):
            raise ArgumentError(
                f"pair = {abridged(pair)} with unrelated properties; a pair for each of the {self.parts} parts, such "
                "as worst_case_pairs() of a curve gives them, is required"
            )
        pattern = tuple(
            cast("tuple[Any, Any]", asked.checked_pair(each))
            for each, asked in zip(pair, map(capabilities, self.queries), strict=True)
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
    def holds_for_every_probability(self) -> bool:
        """Whether what is certified does not rest on a probability."""
        return all(map(holds_for_every_probability, self.queries))

    @cached_property
    def features(self) -> frozenset[str]:
        """What only rules that name it cover: see :data:`statpriv.model.features.FEATURES`."""
        return self.population.features.union(*map(features_of, self.different_queries))

    @property
    def turned(self) -> PartitionedSituation:
        """With every pair in the other order."""
        if self.pair is None:
            return self
        return replace(self, pair=tuple(pair[::-1] for pair in self.pair) if self.pattern else self.pair[::-1])

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
        return self.sampling.number_of_parts

    @property
    def used(self) -> int:
        """Number of entries that answer some query, where it is certain; else the number of all."""
        return self.sampling.used(self.population)

    @cached_property
    def one_property(self) -> bool:
        """Whether all parts are known to ask the same: one part, or one kind of query about one common attribute."""
        asked = {(attribute_of(query), type(asked_of(query))) for query in self.different_queries}
        return len(self.queries) == 1 or (len(asked) == 1 and None not in (attribute for attribute, _ in asked))

    def describe(self) -> list[str]:
        """One line for each part, as `explain()` prints them."""
        counted = dict.fromkeys(map(shown, self.queries))
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
        if all(query.is_count for query in map(capabilities_of, self.queries)):
            what = what.replace("answer", "count")
        return f"{what} of {self.used} among {self.population.size} entries"

    @property
    def summary(self) -> str:
        """One line for a repr."""
        queries = shown(self.queries[0]) if len(self.queries) == 1 else f"{len(self.queries)} queries"
        known = f", {self.adversary.total} known" if self.adversary.total else ""
        return f"{queries} on {self.used} of {self.population.size} entries{known}"


def holds_for_every_probability(query: Query) -> bool:
    """Whether what is certified of a query rests on no probability: a table, or a range behind a gate.

    Of entries with probabilities of their own it rests on the range: all others may be certain of their answers.
    """
    asked = capabilities(query)
    if asked.holds_for_every_law:
        return True
    ranged = asked.has_ranges and not asked.each_own and asked.probability() is not None
    return ranged and any(step.withholds_outside for step in steps_of(query))


def features_of(query: Query) -> frozenset[str]:
    """What only rules that name it cover."""
    return EACH if capabilities(query).each_own else NONE


def attribute_of(query: Query) -> str | None:
    """What says that two queries are about the same values of the entries."""
    return capabilities(query).attribute


def capabilities(query: Query) -> Capabilities:
    """What a query, before its answer is processed, can say about itself."""
    return capabilities_of(asked_of(query))


def gate_of(query: Query) -> RangeGate | None:
    """The gate of a count of entries with one law, where it is what is done to the count first."""
    first, asked = next(iter(steps_of(query)), None), capabilities(query)
    alike = asked.probability() is not None and not asked.each_own
    return first if isinstance(first, RangeGate) and alike else None


def gate_for_every_p(query: Query) -> RangeGate | None:
    """The same where p is a range: then nothing that is said of the answer trusts the range."""
    return gate_of(query) if capabilities(query).has_ranges else None


def require_someone_unknown(population: Population, adversary: Adversary) -> None:
    """Refuse more known entries than there are besides the critical one, and known entries of other groups."""
    n, known = population.size, adversary.total
    if known > n - 1:
        raise ArgumentError(f"known = {known}; at most {n - 1} of {n} entries can be known, the critical one is not")
    if adversary.by_group:
        same_names("known", [name for name, _ in adversary.groups], dict(population.groups or ()), every=False)


def require_one_kind(first: Query, query: Query, *, attribute: str) -> None:
    """Refuse two queries about one attribute that are of different types."""
    if type(asked_of(first)) is not type(asked_of(query)):
        raise ArgumentError(
            f"attribute = {attribute!r} is asked by a {capabilities(first).kind} and a {capabilities(query).kind}; "
            "one attribute has one kind of values"
        )


def require_one_law(first: Query, query: Query, *, attribute: str) -> None:
    """Refuse two kinds of queries about one attribute that do not state the same values with the same probabilities."""
    one, other = capabilities(first), capabilities(query)
    by_entry = one.stated_entries is not None or other.stated_entries is not None
    alike = not by_entry and one.stated_groups == other.stated_groups
    if not alike or any(dict(one.law(name)) != dict(other.law(name)) for name in one.stated_groups or (None,)):
        raise ArgumentError(
            f"attribute = {attribute!r} is asked by a {one.kind} and a {other.kind} that do not state the same law of "
            "the same values: give both each value with its probability (a histogram has the values 0, 1, …)"
        )


def require_data_independent(sampling: Sampling | Partition | None) -> None:
    """Refuse a sampling or partition whose class does not state `data_independent = True`."""
    if sampling is not None and not sampling.data_independent:
        raise ArgumentError(
            f"sampling = {sampling!r} does not state that it is drawn independently of the data; no theorem holds of "
            f"other samples. State data_independent = True in the class {type(sampling).__name__} if it is"
        )
