"""Samplings: which of the entries the query sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from statpriv._native import Law
from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.model.draws import Draw, drawn_again, drawn_once, drawn_several_times
from statpriv.model.groups import ByGroup, by_group, same_names, show_groups
from statpriv.model.populations import Population, require_clusters
from statpriv.model.probabilities import listed_numbers
from statpriv.numeric.arguments import as_mapping, as_truth, is_mapping
from statpriv.numeric.exact import Number, as_count, as_probability
from statpriv.numeric.literals import abridged, show, show_list

Templates: TypeAlias = "tuple[tuple[tuple[int, ...], Fraction], ...]"
"""The numbers of the entries in each possible sample, as often as they are drawn, with its probability."""


class Sampling:
    """How a secret sample is drawn. Each capability is "no" unless a class overrides it.

    A class must state that it is `data_independent`, or it is refused everywhere. The law of the sample is stated by
    `templates`, by `draws`, by `rate` or by `strata`; without any of these no exact law is derived.
    """

    data_independent: ClassVar[bool] = False
    """Whether the sample is drawn independently of the values of the entries."""
    is_one_sample: ClassVar[bool] = False
    """Whether the query is answered once, on one sample."""
    treats_entries_alike: ClassVar[bool] = False
    """Whether entries of one group can change places without changing the law of the sample."""
    repeats_entries: ClassVar[bool] = True
    """Whether an entry may be counted several times."""
    sizes_are_fixed: ClassVar[bool] = False
    """Whether the number of entries of each sample is certain."""
    looks_at_groups: ClassVar[bool] = True
    """Whether entries of different groups may be drawn differently."""
    keeps_counts_monotone: ClassVar[bool] = False
    """Whether the likelihood ratio of a count in the sample is monotone where that of the count of all entries is."""
    draws_counts: ClassVar[bool] = False
    """Whether the law of a count of zeros and ones in the sample is known, by `of_count`."""
    size_published: bool = False
    """Whether the number of entries in the sample is released with the answer."""

    def check(self, population: Population) -> None:
        """Refuse a population that this sample cannot be drawn from."""

    def templates_of(self, population: Population) -> Templates | None:
        """Each possible sample with its probability, if these are stated one by one."""
        del population
        return None

    def sizes_in(self, population: Population) -> Sequence[int]:
        """The sizes that the sample may have, in ascending order; none where these are not told."""
        return tuple(sorted({len(template) for template, _ in self.templates_of(population) or ()}))

    def number_answering(self, population: Population) -> int | None:
        """How many entries answer, counted as often as they are drawn, where that is certain."""
        sizes = self.sizes_in(population)
        return sizes[0] if self.is_one_sample and len(sizes) == 1 else None

    def least_ranked(self, population: Population) -> int:
        """Among how many entries an order statistic has its rank at least."""
        return next(iter(self.sizes_in(population)), 0)

    @property
    def clusters_drawn(self) -> int | None:
        """The number of whole clusters that answer, if these are drawn uniformly; None of any other sample."""
        return None

    @property
    def independent_rate(self) -> Fraction | None:
        """The probability with which each entry is in the sample, independently of the others, if it is drawn so."""
        return None

    @property
    def stratum_sizes(self) -> ByGroup[int] | None:
        """The number of entries drawn without replacement from each group, if it is drawn so."""
        return None

    def simple_draw(self, population: Population, group: str | None) -> tuple[int, int] | None:
        """From how many entries, an entry of this group among them, how many are drawn without replacement."""
        del population, group
        return None

    def draws_again(self) -> int | None:
        """The number of independent uniform draws, if the sample is drawn so."""
        return None

    def of_count(self, ones: Law, number: int) -> Law:
        """The law of the number of ones in the sample, from that of the number of ones among so many entries."""
        raise NotAvailableError(f"{self!r} states no of_count: the law of a count of {number} entries from {ones!r}")

    def draws(self, room: Sequence[int], alike: Sequence[bool], stride: int) -> Iterator[Draw] | None:
        """Every way to draw from so many entries of each kind and the critical one, if entries are treated alike.

        Kinds are `alike` where all entries add the same for certain. Answers of several samples are the digits of a
        number, of base `stride`.
        """
        del room, alike, stride
        return None

    @property
    def most_draws_of_an_entry(self) -> int:
        """The number of draws that may fall on the same entries in many ways; 0 where there is one way."""
        return 0

    @property
    def number_of_answers(self) -> int:
        """How many numbers are released of a query with one answer."""
        return 1


@dataclass(frozen=True, init=False)
class ClusterSample(Sampling):
    """A secret sample of `size` whole clusters, each set of that many clusters equally likely.

    All entries of a drawn cluster answer. How many these are depends on which clusters are drawn, and not on values.

    Parameters
    ----------
    size : int
        Number of clusters drawn, from 1 to that of the population.

    Examples
    --------
    >>> import statpriv as sp
    >>> households = sp.Population(20190, clusters=8000, largest_cluster=5)
    >>> smokers = sp.PropertyQuery(sp.EachBetween("0.1", "0.9"))
    >>> curve = sp.privacy_curve(smokers, households, sampling=sp.ClusterSample(2000))
    >>> round(curve.delta("0.5").upper, 4)
    0.0055
    """

    size: int
    data_independent: ClassVar[bool] = True
    is_one_sample: ClassVar[bool] = True
    repeats_entries: ClassVar[bool] = False

    def __init__(self, size: Number) -> None:
        object.__setattr__(self, "size", as_count(size, "size", least=1))

    @property
    def clusters_drawn(self) -> int:
        """The number of clusters drawn."""
        return self.size

    def check(self, population: Population) -> None:
        """Refuse a population without clusters, or with fewer of them."""
        require_clusters(self, [self.size], population)


@dataclass(frozen=True, init=False)
class WithoutReplacement(Sampling):
    """A secret sample of `size` entries, each set of that size equally likely.

    Parameters
    ----------
    size : int
        Number of entries drawn, from 1 to the size of the population.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.WithoutReplacement(256)
    WithoutReplacement(size=256)
    """

    size: int
    data_independent: ClassVar[bool] = True
    keeps_counts_monotone: ClassVar[bool] = True
    draws_counts: ClassVar[bool] = True
    is_one_sample: ClassVar[bool] = True
    treats_entries_alike: ClassVar[bool] = True
    repeats_entries: ClassVar[bool] = False
    sizes_are_fixed: ClassVar[bool] = True
    looks_at_groups: ClassVar[bool] = False

    def __init__(self, size: Number) -> None:
        object.__setattr__(self, "size", as_count(size, "size", least=1))

    def check(self, population: Population) -> None:
        """Refuse a sample that is larger than the population."""
        if self.size > population.size:
            raise ArgumentError(
                f"size = {self.size}: the sample has {self.size} entries, the population only {population.size}; take "
                "a smaller sample"
            )

    def sizes_in(self, population: Population) -> Sequence[int]:
        """One size."""
        del population
        return (self.size,)

    def simple_draw(self, population: Population, group: str | None) -> tuple[int, int]:
        """From all entries."""
        del group
        return population.size, self.size

    def of_count(self, ones: Law, number: int) -> Law:
        """Hypergeometric, given how many ones there are."""
        return ones.sampled_without_replacement(number, self.size)

    def draws(self, room: Sequence[int], alike: Sequence[bool], stride: int) -> Iterator[Draw]:
        """Multivariate hypergeometric numbers of each kind."""
        del alike, stride
        return drawn_once(room, self.size)

    @classmethod
    def jackknife(cls, population_size: Number) -> WithoutReplacement:
        """All of `population_size` entries, at least 2, but one, which is secret: a leave-one-out sample.

        Examples
        --------
        >>> import statpriv as sp
        >>> sp.WithoutReplacement.jackknife(1024)
        WithoutReplacement(size=1023)
        """
        return cls(as_count(population_size, "population_size", least=2) - 1)


@dataclass(frozen=True, init=False)
class WithReplacement(Sampling):
    """A secret sample of `size` independent uniform draws: an entry may be counted several times.

    Parameters
    ----------
    size : int
        Number of draws, at least 1; it may exceed the population.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.WithReplacement(256)
    WithReplacement(size=256)
    """

    size: int
    data_independent: ClassVar[bool] = True
    keeps_counts_monotone: ClassVar[bool] = True
    draws_counts: ClassVar[bool] = True
    is_one_sample: ClassVar[bool] = True
    treats_entries_alike: ClassVar[bool] = True
    sizes_are_fixed: ClassVar[bool] = True
    looks_at_groups: ClassVar[bool] = False

    def __init__(self, size: Number) -> None:
        object.__setattr__(self, "size", as_count(size, "size", least=1))

    def sizes_in(self, population: Population) -> Sequence[int]:
        """One size."""
        del population
        return (self.size,)

    def draws_again(self) -> int:
        """The number of draws."""
        return self.size

    def of_count(self, ones: Law, number: int) -> Law:
        """Binomial, given how many ones there are."""
        return ones.sampled_with_replacement(number, self.size)

    def draws(self, room: Sequence[int], alike: Sequence[bool], stride: int) -> Iterator[Draw]:
        """Multinomially many draws of each kind."""
        del stride
        return drawn_again(room, alike, self.size)

    @property
    def most_draws_of_an_entry(self) -> int:
        """All of them."""
        return self.size

    @classmethod
    def bootstrap(cls, population_size: Number) -> WithReplacement:
        """As many draws as there are entries, `population_size` with the critical one: a bootstrap sample.

        Examples
        --------
        >>> import statpriv as sp
        >>> sp.WithReplacement.bootstrap(1024)
        WithReplacement(size=1024)
        """
        return cls(as_count(population_size, "population_size", least=1))


@dataclass(frozen=True, init=False, repr=False)
class PoissonSampling(Sampling):
    """A secret sample that holds each entry with probability `rate`, independently of the others.

    Parameters
    ----------
    rate : float, int, Fraction, Decimal or str
        Above 0, at most 1.
    size_published : bool, default False
        Whether the number of entries in the sample is released with the answer.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.PoissonSampling("1/4", size_published=True)
    PoissonSampling(0.25, size_published=True)
    """

    rate: Fraction
    size_published: bool
    data_independent: ClassVar[bool] = True
    keeps_counts_monotone: ClassVar[bool] = True
    is_one_sample: ClassVar[bool] = True
    treats_entries_alike: ClassVar[bool] = True
    repeats_entries: ClassVar[bool] = False
    looks_at_groups: ClassVar[bool] = False

    def __init__(self, rate: Number, *, size_published: bool = False) -> None:
        exact = as_probability(rate, "rate")
        if exact == 0:
            raise ArgumentError(f"rate = {rate}; a rate above 0 is required, an empty sample has no answer")
        object.__setattr__(self, "rate", exact)
        object.__setattr__(self, "size_published", as_truth(size_published, "size_published"))

    def sizes_in(self, population: Population) -> Sequence[int]:
        """Every number up to that of all entries."""
        return range(population.size + 1)

    def least_ranked(self, population: Population) -> int:
        """Among all entries: that a sample is too small for the rank is an answer too."""
        return population.size

    @property
    def independent_rate(self) -> Fraction:
        """The rate."""
        return self.rate

    def __repr__(self) -> str:
        return f"PoissonSampling({show(self.rate)}{', size_published=True' if self.size_published else ''})"


@dataclass(frozen=True, init=False, repr=False)
class Stratified(Sampling):
    """A secret sample without replacement from each group, independently.

    Parameters
    ----------
    sizes : dict of str to int
        Number of entries drawn from each group, at least one of them above 0.

    Attributes
    ----------
    sizes : tuple of (str, int)
        Group and number, in the order given.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.Stratified({"f": 10, "m": 20})
    Stratified({'f': 10, 'm': 20})
    """

    sizes: ByGroup[int]
    data_independent: ClassVar[bool] = True
    keeps_counts_monotone: ClassVar[bool] = True
    is_one_sample: ClassVar[bool] = True
    treats_entries_alike: ClassVar[bool] = True
    repeats_entries: ClassVar[bool] = False
    sizes_are_fixed: ClassVar[bool] = True

    def __init__(self, sizes: Mapping[str, Number]) -> None:
        if not is_mapping(sizes):
            raise ArgumentError(
                f"sizes = {abridged(sizes)}; a dict from group to sample size, such as {{'f': 30}}, is required"
            )
        exact = by_group(sizes, "sizes", as_count)
        if not any(size for _, size in exact):
            raise ArgumentError(f"sizes = {abridged(sizes)}; a sample size above 0 is required in some group")
        object.__setattr__(self, "sizes", exact)

    def check(self, population: Population) -> None:
        """Refuse samples of other groups, or larger ones than the groups."""
        groups = dict(population.groups or ())
        same_names("the sampling", [name for name, _ in self.sizes], groups, hint=" (0 where nobody is drawn)")
        for name, size in self.sizes:
            if size > groups[name]:
                raise ArgumentError(
                    f"sizes[{name!r}] = {size}; at most {groups[name]}, the entries of the group, can be drawn"
                )

    def sizes_in(self, population: Population) -> Sequence[int]:
        """One size, of all groups together."""
        del population
        return (sum(size for _, size in self.sizes),)

    @property
    def stratum_sizes(self) -> ByGroup[int]:
        """The number of entries drawn from each group."""
        return self.sizes

    def simple_draw(self, population: Population, group: str | None) -> tuple[int, int]:
        """From the entries of the group."""
        return dict(population.groups or ())[group or ""], dict(self.sizes)[group or ""]

    def __repr__(self) -> str:
        return f"Stratified({show_groups(self.sizes, str)})"


@dataclass(frozen=True, init=False, repr=False)
class OverlappingSamples(Sampling):
    """Several secret samples without replacement, drawn independently; the query is answered on each.

    Parameters
    ----------
    sizes : iterable of int
        Number of entries of each sample, at least 1. An entry may be in several samples.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.OverlappingSamples([100, 100, 50])
    OverlappingSamples([100] * 2 + [50])
    """

    sizes: tuple[int, ...]
    data_independent: ClassVar[bool] = True
    keeps_counts_monotone: ClassVar[bool] = True
    draws_counts: ClassVar[bool] = True
    treats_entries_alike: ClassVar[bool] = True
    repeats_entries: ClassVar[bool] = False
    sizes_are_fixed: ClassVar[bool] = True

    def __init__(self, sizes: Iterable[Number]) -> None:
        drawn = listed_numbers(sizes, "sizes", "a list of sample sizes, such as [100, 50],")
        exact = tuple(as_count(size, f"sizes[{k}]", least=1) for k, size in enumerate(drawn))
        object.__setattr__(self, "sizes", exact)

    def check(self, population: Population) -> None:
        """Refuse a sample that is larger than the population."""
        if max(self.sizes) > population.size:
            raise ArgumentError(
                f"sizes = {list(self.sizes)}: a sample has {max(self.sizes)} entries, the population only "
                f"{population.size}; take smaller samples"
            )

    def sizes_in(self, population: Population) -> Sequence[int]:
        """The sizes of the samples."""
        del population
        return tuple(sorted(set(self.sizes)))

    def of_count(self, ones: Law, number: int) -> Law:
        """Independent hypergeometric numbers, given how many ones there are, as digits of one number."""
        return ones.sampled_several_times(number, self.sizes)

    def draws(self, room: Sequence[int], alike: Sequence[bool], stride: int) -> Iterator[Draw]:
        """Which samples hold how many entries of each kind."""
        del alike
        return drawn_several_times(room, self.sizes, stride)

    @property
    def most_draws_of_an_entry(self) -> int:
        """The size of the largest sample, since samples may coincide."""
        return max(self.sizes)

    @property
    def number_of_answers(self) -> int:
        """One for each sample."""
        return len(self.sizes)

    def __repr__(self) -> str:
        return f"OverlappingSamples({show_list(self.sizes)})"


@dataclass(frozen=True, init=False, repr=False)
class TemplateLaw(Sampling):
    """Any law of the secret sample, stated template by template.

    Parameters
    ----------
    probabilities : dict of tuple of int to number
        Each template, the numbers of the entries that are in the sample, with its exact probability. Entries are
        numbered from 0; one that is named k times counts k times. The probabilities sum to exactly one.

    Attributes
    ----------
    probabilities : tuple of (tuple of int, Fraction)
        Template and probability, in the order of the templates.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.TemplateLaw({(0, 1): "1/3", (1, 2, 2): "2/3"})
    TemplateLaw({(0, 1): '1/3', (1, 2, 2): '2/3'})
    """

    probabilities: Templates
    data_independent: ClassVar[bool] = True
    is_one_sample: ClassVar[bool] = True
    looks_at_groups: ClassVar[bool] = False

    def __init__(self, probabilities: Mapping[Any, Number]) -> None:
        as_mapping(
            probabilities,
            "probabilities",
            "a dict from template to probability, such as {(0, 1): '1/2', (1, 2): '1/2'}, is required",
        )
        exact: dict[tuple[int, ...], Fraction] = {}
        for template, probability in probabilities.items():
            entries = _template(template)
            if entries in exact:
                raise ArgumentError(f"probabilities name the template {abridged(entries)} twice; name it once")
            exact[entries] = as_probability(probability, f"probabilities[{abridged(template)}]")
        total = sum(exact.values(), Fraction(0))
        if total != 1:
            raise ArgumentError(
                f"probabilities sum to {abridged(total)}; those of templates must sum to exactly one: write fractions "
                "such as '1/3', a float is the rational it stores"
            )
        if not any(template and probability for template, probability in exact.items()):
            raise ArgumentError(
                f"probabilities = {abridged(probabilities)}; a template with an entry and a probability above 0 is "
                "required, an empty sample has no answer"
            )
        object.__setattr__(self, "probabilities", tuple(sorted(exact.items())))

    def check(self, population: Population) -> None:
        """Refuse templates that name entries which the population has not."""
        named = max((entry for template, _ in self.probabilities for entry in template), default=0)
        if named >= population.size:
            raise ArgumentError(
                f"a template names the entry {named}; those of the population are 0 to {population.size - 1}"
            )

    def templates_of(self, population: Population) -> Templates:
        """As stated."""
        del population
        return self.probabilities

    def __repr__(self) -> str:
        return f"TemplateLaw({{{', '.join(f'{template}: {show(p)}' for template, p in self.probabilities)}}})"


def _template(entries: object) -> tuple[int, ...]:
    if not isinstance(entries, tuple):
        raise ArgumentError(f"template {abridged(entries)}; a tuple of entry numbers, such as (0, 2), is required")
    return tuple(as_count(entry, f"template {abridged(entries)}, entry") for entry in entries)


SAMPLINGS: tuple[type[Sampling], ...] = (
    ClusterSample,
    WithoutReplacement,
    WithReplacement,
    PoissonSampling,
    Stratified,
    OverlappingSamples,
    TemplateLaw,
)
"""The samplings that messages name."""
