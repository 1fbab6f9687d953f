"""Several answers about the same rows: no partition, every row may answer every query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

from statpriv.errors import ArgumentError
from statpriv.model.adversaries import Adversary
from statpriv.model.populations import Population
from statpriv.model.queries.protocol import Pair, shown
from statpriv.model.queries.variants import unlabelled
from statpriv.model.samplings import Sampling, WithoutReplacement
from statpriv.model.situation import (
    Query,
    Questions,
    attribute_of,
    capabilities,
    features_of,
    holds_for_every_probability,
    require_one_kind,
    require_someone_unknown,
)
from statpriv.model.steps import Step
from statpriv.numeric.arguments import as_truth, as_word, is_list
from statpriv.numeric.exact import as_count
from statpriv.numeric.literals import abridged


@dataclass(frozen=True, init=False, repr=False)
class SameRows:
    """The same rows answer every query, and each query is about one attribute of the rows.

    Rows are independent records of several attributes. The attributes of one row may depend on each other in any way.
    A query states the range of its attribute *given all other attributes of the row*, by :class:`EachBetween`, and
    names the attribute.

    Where the population has clusters, such as households, a range holds given the whole rows of the other members too.
    Everything of one cluster is then protected together, whatever ``protects`` says.

    Parameters
    ----------
    protects : {"attribute", "row"}
        What two records that are compared differ in: one attribute, where the reader may know all others of the person,
        or everything.
    independent : bool, default False
        Whether the attributes of one row are declared independent of each other. A query may then also state the
        probability of its attribute, or a range of it, and for ``protects="row"`` δ is that of a product of laws.
    samples : list of (int or None), optional
        For each query the size of a secret sample without replacement that answers it, or None for all rows. The
        samples are drawn independently of each other and may overlap. By default all rows answer every query.

    Notes
    -----
    Source: docs/explanation/same-rows.md, with the proofs.

    Examples
    --------
    Three questions about the same thousand people:

    >>> import statpriv as sp
    >>> own = sp.EachBetween("0.1", "0.9")
    >>> asked = [sp.PropertyQuery(own, attribute=name) for name in ("smokes", "votes", "drives")]
    >>> attribute = sp.compose(asked, sp.Population(1000), sp.SameRows(protects="attribute"))
    >>> round(attribute.delta("0.1").upper, 6)
    0.010964
    >>> row = sp.compose(asked, sp.Population(1000), sp.SameRows(protects="row"))
    >>> row.delta("0.1").lower > attribute.delta("0.1").upper
    True

    Each question is asked of a secret sample of its own:

    >>> samples = sp.SameRows(protects="attribute", samples=[300, 300, 500])
    >>> sampled = sp.compose(asked, sp.Population(1000), samples)
    >>> sampled.delta("0.1").upper < attribute.delta("0.1").lower
    True
    """

    protects: Literal["attribute", "row"]
    independent: bool
    samples: tuple[int | None, ...] | None

    def __init__(
        self,
        *,
        protects: Literal["attribute", "row"],
        independent: bool = False,
        samples: Sequence[int | None] | None = None,
    ) -> None:
        object.__setattr__(self, "protects", as_word(protects, "protects", ("attribute", "row")))
        object.__setattr__(self, "independent", as_truth(independent, "independent"))
        object.__setattr__(self, "samples", None if samples is None else _sizes(samples))

    def __repr__(self) -> str:
        independent = ", independent=True" if self.independent else ""
        samples = "" if self.samples is None else f", samples={abridged(list(self.samples))}"
        return f"SameRows(protects={self.protects!r}{independent}{samples})"


def _sizes(samples: object) -> tuple[int | None, ...] | None:
    """The sizes, or None where no query is answered on a sample."""
    if not is_list(samples):
        raise ArgumentError(
            f"samples = {abridged(samples)}; the size of the sample for each query is required, or None for all rows, "
            "such as [300, None]"
        )
    sizes = tuple(
        None if size is None else as_count(size, f"samples[{index}]", least=1) for index, size in enumerate(samples)
    )
    return None if all(size is None for size in sizes) else sizes


@dataclass(frozen=True)
class Answer:
    """A query, and the size of the secret sample that answers it; None for all rows."""

    query: Query
    sample: int | None


def _largest(answers: tuple[Answer, ...]) -> Sampling | None:
    """The largest sample, None for all rows."""
    sizes = [answer.sample for answer in answers]
    return None if None in sizes else WithoutReplacement(max(size for size in sizes if size is not None))


@dataclass(frozen=True)
class SameRowsSituation:
    """Queries about the same rows, and who looks at the answers."""

    queries: tuple[Query, ...]
    population: Population
    sampling: SameRows
    adversary: Adversary
    pair: Pair = None
    steps: ClassVar[tuple[Step, ...]] = ()
    counts_a_property: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.queries:
            raise ArgumentError("queries = []; at least one query is required")
        if self.pair is not None:
            raise ArgumentError(
                f"pair = {abridged(self.pair)}; with sp.SameRows the worst pair of values of every attribute counts: "
                "leave pair out"
            )
        require_someone_unknown(self.population, self.adversary)
        for index, query in enumerate(self.queries):
            self._check_query(index, query)
        self._check_ranges()
        self._check_samples()
        self._check_attributes()

    def _check_query(self, index: int, query: Query) -> None:
        if not capabilities(query).each_own and not self.sampling.independent:
            raise ArgumentError(
                f"queries[{index}] = {shown(query)} states no range that holds given the other attributes of the same "
                "row. A probability p, or sp.Between, is that of the attribute alone: the other answers about the same "
                "rows may tell more. Say how sure anybody may be of a row who knows all its other attributes, such as "
                'sp.EachBetween("0.1", "0.9"), or declare the attributes of a row independent: independent=True'
            )
        if attribute_of(query) is None:
            raise ArgumentError(
                f"queries[{index}] = {shown(query)} has no attribute; sp.SameRows needs to know which answers are "
                'about one attribute: write attribute="smoker", and another name for each other one'
            )

    def _check_ranges(self) -> None:
        """Rows share a probability in some range, or each has its own; what is assumed says one of both."""
        asked = [capabilities(query) for query in self.queries]
        shared = [each for each in asked if each.has_ranges and not each.each_own]
        if shared and len(shared) < sum(each.has_ranges for each in asked):
            raise ArgumentError(
                f"queries: all rows share a probability in {shared[0].shown_law}, and each has its own in the range of "
                "another query; write sp.EachBetween for all ranges"
            )

    def _check_samples(self) -> None:
        samples = self.sampling.samples
        if samples is None:
            return
        if len(samples) != len(self.queries):
            raise ArgumentError(
                f"samples = {abridged(list(samples))}; one size for each of the {len(self.queries)} queries is "
                "required, or None for all rows"
            )
        largest = max(size for size in samples if size is not None)
        if largest > self.population.size:
            raise ArgumentError(
                f"samples = {abridged(list(samples))}: a sample has {largest} entries, the population only "
                f"{self.population.size}; take smaller samples"
            )

    def _check_attributes(self) -> None:
        for attribute, answers in self.attributes.items():
            one = answers[0].query
            first = capabilities(one)
            for answer in answers[1:]:
                asked = capabilities(answer.query)
                require_one_kind(one, answer.query, attribute=attribute)
                if first.stated_law != asked.stated_law:
                    raise ArgumentError(
                        f"attribute = {attribute!r} is asked with two different p, {first.shown_law} and "
                        f"{asked.shown_law}; one attribute has one range (give the hull of the ranges to both)"
                    )

    @cached_property
    def attributes(self) -> dict[str, tuple[Answer, ...]]:
        """The answers about each attribute, without labels; the same answer of all rows counts once."""
        found: dict[str, list[Answer]] = {}
        samples = self.sampling.samples or [None] * len(self.queries)
        for query, sample in zip(self.queries, samples, strict=True):
            answer, answers = Answer(unlabelled(query), sample), found.setdefault(attribute_of(query) or "", [])
            if sample is not None or answer not in answers:
                answers.append(answer)
        return {attribute: tuple(answers) for attribute, answers in found.items()}

    @cached_property
    def features(self) -> frozenset[str]:
        """What only rules that name it cover: see :data:`statpriv.model.features.FEATURES`."""
        return self.population.features.union(*map(features_of, self.queries))

    @property
    def different_queries(self) -> tuple[Query, ...]:
        """Every query once."""
        return tuple({id(query): query for query in self.queries}.values())

    @property
    def turned(self) -> SameRowsSituation:
        """The same: the worst pair of every attribute counts."""
        return self

    @property
    def holds_for_every_probability(self) -> bool:
        """Whether what is certified does not rest on a probability."""
        return all(map(holds_for_every_probability, self.queries))

    @property
    def protects_one_attribute(self) -> bool:
        """Whether two records that are compared differ in one of several attributes."""
        return self.sampling.protects == "attribute" and len(self.attributes) > 1

    @property
    def questions(self) -> Questions:
        """A query about each attribute, with the largest sample that answers about it."""
        return tuple((answers[0].query, _largest(answers)) for answers in self.attributes.values())

    @property
    def used(self) -> int:
        """Number of entries that may answer: all."""
        return self.population.size

    def describe(self) -> list[str]:
        """One line for each part, as `explain()` prints them."""
        asked = dict.fromkeys(map(shown, self.queries))
        what = (
            "one attribute of a person, whose other attributes may be known"
            if self.sampling.protects == "attribute"
            else "all attributes of a person together"
        )
        return [
            f"queries     {', '.join(asked) if len(asked) <= 4 else f'{len(asked)} different queries'}",
            f"population  {self.population!r}",
            f"same rows   {self._who_answers}; protected: {what}",
            f"adversary   {self.adversary!r}",
            "pair        the worst of every attribute",
        ]

    @property
    def _who_answers(self) -> str:
        if self.sampling.samples is None:
            return "every entry answers every query"
        return "each query has a secret sample of its own, or all entries, as stated"

    @property
    def title(self) -> str:
        """What is released, for a plot."""
        return f"{len(self.queries)} answers of {len(self.attributes)} attributes of the same {self.used} entries"

    @property
    def summary(self) -> str:
        """One line for a repr."""
        known = f", {self.adversary.total} known" if self.adversary.total else ""
        return f"{len(self.queries)} queries on the same {self.used} entries, {self.sampling!r}{known}"
