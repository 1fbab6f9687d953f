"""Partitions: which entries answer which query."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.model.groups import ByGroup, by_group, same_names, show_groups
from statpriv.model.populations import Population, require_clusters
from statpriv.model.samplings import Sampling, Stratified, WithoutReplacement
from statpriv.numeric.arguments import as_mapping, as_truth, is_mapping
from statpriv.numeric.calls import answered_class
from statpriv.numeric.exact import Number, as_count, as_fraction, as_probability
from statpriv.numeric.literals import abridged, show, show_list

Parts: TypeAlias = "tuple[tuple[int, ...], ...]"
"""The numbers of the entries of each part."""


class Partition:
    """A secret partition of entries into disjoint parts. Each capability is "no" unless a class overrides it.

    A class must state that it is `data_independent`, or it is refused everywhere.
    """

    data_independent: ClassVar[bool] = False
    """Whether the partition is drawn independently of the values of the entries."""
    is_uniform: ClassVar[bool] = False
    """Whether all partitions with the same numbers of entries, or of entries of each group, are equally likely."""
    sizes_published: bool = False
    """Whether the size of each part is published with its answer, where it is random."""

    @property
    def number_of_parts(self) -> int:
        """How many parts there are."""
        raise NotAvailableError(f"{self!r} states no number_of_parts; define it in the class {type(self).__name__}")

    @property
    def part_sizes(self) -> tuple[int, ...] | None:
        """The number of entries of each part, where that is certain."""
        return None

    @property
    def part_strata(self) -> tuple[ByGroup[int], ...] | None:
        """Of a stratified partition the numbers by group of each part."""
        return None

    @property
    def part_clusters(self) -> tuple[int, ...] | None:
        """The number of whole clusters of each part, if these are drawn uniformly; None of any other partition."""
        return None

    def union(self, parts: Sequence[int]) -> Sampling:
        """These parts together, as one secret sample."""
        del parts
        raise NotAvailableError(f"{self!r}: parts of random sizes are no sample of a certain size")

    @property
    def smallest(self) -> int | None:
        """The number of entries of the smallest part that is possible; None where that is not told."""
        return None

    def used(self, population: Population) -> int:
        """How many entries answer some query, where that is certain; else the number of all."""
        return population.size

    def check(self, population: Population) -> None:
        """Refuse a population that this partition cannot be drawn from."""


@answered_class
@dataclass(frozen=True, init=False, repr=False)
class RandomPartition(Partition):
    """A secret partition, uniform among those with these part sizes.

    Parameters
    ----------
    sizes : iterable of int, or of dict of str to int
        Size of each part, at least 1. They may add up to less than the population: the other entries are
        not used. A stratified partition states for each part how many entries of each group it has, and is uniform
        among those with these numbers.

    Attributes
    ----------
    sizes : tuple of int
        Number of entries of each part.
    strata : tuple of tuple of (str, int), or None
        Of a stratified partition the numbers by group of each part.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.RandomPartition([1024] * 32)
    RandomPartition([1024] * 32)
    >>> sp.RandomPartition([{"f": 30, "m": 20}] * 8).sizes[:2]
    (50, 50)
    """

    sizes: tuple[int, ...]
    strata: tuple[ByGroup[int], ...] | None
    data_independent: ClassVar[bool] = True
    is_uniform: ClassVar[bool] = True

    def __init__(self, sizes: Iterable[Number | Mapping[str, Number]]) -> None:
        parts = _listed(sizes, "sizes", "a list of part sizes is required, such as [472, 472]")
        if not parts:
            raise ArgumentError("sizes = []; at least one part is required")
        by_strata = [is_mapping(size) for size in parts]
        if any(by_strata) and not all(by_strata):
            raise ArgumentError("sizes mixes numbers and dicts; either all parts state their groups, or none does")
        mappings = [size for size in parts if is_mapping(size)]
        strata = tuple(_stratum(size, k) for k, size in enumerate(mappings)) or None
        if strata is None:
            numbers: list[Any] = parts
            exact = tuple(as_count(size, f"sizes[{k}]", least=1) for k, size in enumerate(numbers))
        else:
            exact = tuple(sum(count for _, count in part) for part in strata)
        object.__setattr__(self, "sizes", exact)
        object.__setattr__(self, "strata", strata)

    @property
    def number_of_parts(self) -> int:
        """How many parts there are."""
        return len(self.sizes)

    @property
    def part_sizes(self) -> tuple[int, ...]:
        """The number of entries of each part."""
        return self.sizes

    @property
    def part_strata(self) -> tuple[ByGroup[int], ...] | None:
        """The numbers by group of each part, if the partition is stratified."""
        return self.strata

    def union(self, parts: Sequence[int]) -> Sampling:
        """Without replacement; of a stratified partition in each group by itself."""
        if self.strata is None:
            return WithoutReplacement(sum(self.sizes[part] for part in parts))
        together = Counter[str]()
        for part in parts:
            together.update(dict(self.strata[part]))
        return Stratified(together)

    @property
    def smallest(self) -> int:
        """Number of entries of the smallest part."""
        return min(self.sizes)

    def used(self, population: Population) -> int:
        """All entries of the parts."""
        del population
        return sum(self.sizes)

    def check(self, population: Population) -> None:
        """Refuse parts that are larger together than the population, or than one of its groups."""
        if sum(self.sizes) > population.size:
            raise ArgumentError(
                f"sizes = {abridged(list(self.sizes))}: the sample or parts have {sum(self.sizes)} entries "
                f"together, the population only {population.size}; take smaller parts, or fewer"
            )
        if self.strata is None:
            return
        groups = dict(population.groups or ())
        for k, part in enumerate(self.strata):
            same_names(f"sizes[{k}]", [name for name, _ in part], groups, every=False)
        for name, size in groups.items():
            together = sum(dict(part).get(name, 0) for part in self.strata)
            if together > size:
                raise ArgumentError(
                    f"sizes: the parts have {together} entries of group {name!r} together, the population only {size}; "
                    "take fewer of this group"
                )

    def __repr__(self) -> str:
        if self.strata is None:
            return f"RandomPartition({show_list(self.sizes)})"
        return f"RandomPartition({show_list(self.strata, lambda part: show_groups(part, str))})"

    @classmethod
    def folds(cls, population_size: Number, folds: Number) -> RandomPartition:
        """All entries in `folds` parts whose sizes differ by at most one, as cross-validation draws them.

        Parameters
        ----------
        population_size : int
            Number of entries, the critical one included.
        folds : int
            Number of parts, from 1 to `population_size`; the larger parts come first.

        Examples
        --------
        >>> import statpriv as sp
        >>> sp.RandomPartition.folds(1000, 3)
        RandomPartition([334] + [333] * 2)
        """
        entries, parts = as_count(population_size, "population_size", least=1), as_count(folds, "folds", least=1)
        if parts > entries:
            raise ArgumentError(f"folds = {parts}; at most one fold an entry, here {entries}, is possible")
        size, larger = divmod(entries, parts)
        return cls([size + 1] * larger + [size] * (parts - larger))


def _stratum(stated: Mapping[str, Number], index: int) -> ByGroup[int]:
    name = f"sizes[{index}]"
    counts = by_group(stated, name, lambda size, of: as_count(size, of, least=0))
    if sum(count for _, count in counts) < 1:
        raise ArgumentError(f"{name} = {abridged(stated)}; a part has at least one entry")
    return counts


@dataclass(frozen=True, init=False, repr=False)
class ClusterPartition(Partition):
    """A secret partition of whole clusters, uniform among those with these numbers of clusters in the parts.

    Parameters
    ----------
    sizes : iterable of int
        Number of clusters of each part, at least 1; together at most those of the population.

    Examples
    --------
    Two questions, each asked of whole households of its own:

    >>> import statpriv as sp
    >>> households = sp.Population(20190, clusters=8000, largest_cluster=5)
    >>> own = sp.EachBetween("0.1", "0.9")
    >>> asked = [sp.PropertyQuery(own, attribute=name) for name in ("smokes", "votes")]
    >>> curve = sp.compose(asked, households, sp.ClusterPartition([4000, 4000]))
    >>> round(curve.delta("0.5").upper, 4)
    0.0044
    """

    sizes: tuple[int, ...]
    data_independent: ClassVar[bool] = True

    def __init__(self, sizes: Iterable[Number]) -> None:
        listed = _listed(sizes, "sizes", "a list of numbers of clusters, such as [200, 200], is required")
        if not listed:
            raise ArgumentError("sizes = []; at least one part is required")
        object.__setattr__(
            self, "sizes", tuple(as_count(size, f"sizes[{k}]", least=1) for k, size in enumerate(listed))
        )

    @property
    def number_of_parts(self) -> int:
        """How many parts there are."""
        return len(self.sizes)

    @property
    def part_clusters(self) -> tuple[int, ...]:
        """The number of clusters of each part."""
        return self.sizes

    def check(self, population: Population) -> None:
        """Refuse a population without clusters, or with fewer than the parts have together."""
        require_clusters(self, self.sizes, population)

    def __repr__(self) -> str:
        return f"ClusterPartition({show_list(self.sizes)})"


@dataclass(frozen=True, init=False, repr=False)
class MultinomialPartition(Partition):
    """A secret partition that puts each entry into part k with probability `weights[k]`, independently of the others.

    Parameters
    ----------
    weights : iterable of numbers
        A number above 0 for each part; together at most 1. With the rest of the probability an entry is not used.
    sizes_published : bool, default False
        Whether the size of each part is published with its answer.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.MultinomialPartition(["1/4", "1/4"])
    MultinomialPartition([0.25] * 2)
    """

    weights: tuple[Fraction, ...]
    sizes_published: bool
    data_independent: ClassVar[bool] = True

    def __init__(self, weights: Iterable[Number], *, sizes_published: bool = False) -> None:
        listed = _listed(weights, "weights", "a list of probabilities such as ['1/2', '1/4'] is required")
        exact = tuple(as_fraction(weight, f"weights[{k}]") for k, weight in enumerate(listed))
        if not exact:
            raise ArgumentError("weights = []; at least one part is required")
        for k, weight in enumerate(exact):
            if not 0 < weight <= 1:
                raise ArgumentError(f"weights[{k}] = {show(weight)}; a number above 0 and at most 1 is required")
        if (together := sum(exact, Fraction(0))) > 1:
            raise ArgumentError(
                f"weights sum to {show(together)}; they are probabilities of one entry, at most 1 together"
            )
        object.__setattr__(self, "weights", exact)
        object.__setattr__(self, "sizes_published", as_truth(sizes_published, "sizes_published"))

    @property
    def number_of_parts(self) -> int:
        """How many parts there are."""
        return len(self.weights)

    def __repr__(self) -> str:
        published = ", sizes_published=True" if self.sizes_published else ""
        return f"MultinomialPartition({show_list(self.weights, show)}{published})"


@dataclass(frozen=True, init=False, repr=False)
class PartitionLaw(Partition):
    """Any law of the secret partition, stated partition by partition.

    Parameters
    ----------
    probabilities : dict of tuple of tuple of int to number
        Each partition, the numbers of the entries of its parts, with its exact probability. Entries are numbered from
        0, and are in one part at most; parts may be empty. The probabilities sum to exactly one.

    Attributes
    ----------
    probabilities : tuple of (tuple of tuple of int, Fraction)
        Partition and probability, in the order of the partitions; entries of a part in ascending order.

    Examples
    --------
    Two teams of neighbours, of which only one is asked the second question:

    >>> import statpriv as sp
    >>> law = sp.PartitionLaw({((0, 1), (2, 3)): "1/3", ((2, 3), (0, 1)): "2/3"})
    >>> law.shares(0)
    (Fraction(1, 3), Fraction(2, 3))
    """

    probabilities: tuple[tuple[Parts, Fraction], ...]
    data_independent: ClassVar[bool] = True

    def __init__(self, probabilities: Mapping[Any, Number]) -> None:
        as_mapping(
            probabilities,
            "probabilities",
            "a dict from partition to probability, such as {((0, 1), (2,)): '1/2', ((1, 2), (0,)): '1/2'}, is required",
        )
        exact: defaultdict[Parts, Fraction] = defaultdict(Fraction)
        for parts, probability in probabilities.items():
            exact[_parts(parts)] += as_probability(probability, f"probabilities[{abridged(parts)}]")
        if len(numbers := sorted({len(parts) for parts in exact})) > 1:
            raise ArgumentError(f"probabilities name partitions into {numbers} parts; one number of parts is required")
        if (total := sum(exact.values(), Fraction(0))) != 1:
            raise ArgumentError(
                f"probabilities sum to {abridged(total)}; those of partitions must sum to exactly one: write fractions "
                "such as '1/3', a float is the rational it stores"
            )
        possible = sorted((parts, mass) for parts, mass in exact.items() if mass)
        object.__setattr__(self, "probabilities", tuple(possible))

    @property
    def parts(self) -> int:
        """Number of parts."""
        return len(self.probabilities[0][0])

    @property
    def number_of_parts(self) -> int:
        """How many parts there are."""
        return self.parts

    @property
    def part_sizes(self) -> tuple[int, ...] | None:
        """The number of entries of each part, if all partitions agree on it."""
        return self.sizes

    def check(self, population: Population) -> None:
        """Refuse partitions of entries which the population has not."""
        if (last := max(self.entries, default=0)) >= population.size:
            raise ArgumentError(
                f"the partition names entry {last}; the population has those from 0 to {population.size - 1}"
            )

    @property
    def entries(self) -> tuple[int, ...]:
        """The numbers of the entries that may be in a part."""
        return tuple(sorted({entry for parts, _ in self.probabilities for part in parts for entry in part}))

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """Number of entries of each part, if all partitions agree on it."""
        found = {tuple(map(len, parts)) for parts, _ in self.probabilities}
        return found.pop() if len(found) == 1 else None

    @property
    def smallest(self) -> int:
        """Number of entries of the smallest part that is possible."""
        return min(len(part) for parts, _ in self.probabilities for part in parts)

    def shares(self, entry: int) -> tuple[Fraction, ...]:
        """The probability that the entry is in each part."""
        return tuple(
            sum((mass for parts, mass in self.probabilities if entry in parts[k]), Fraction(0))
            for k in range(self.parts)
        )

    def __repr__(self) -> str:
        return f"PartitionLaw({{{', '.join(f'{parts}: {show(mass)}' for parts, mass in self.probabilities)}}})"


def _listed(values: object, name: str, required: str) -> list[Any]:
    """What states something of each part: text and a dict do not."""
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise ArgumentError(f"{name} = {abridged(values)}; {required}")
    return list(values)


def _parts(stated: object) -> Parts:
    name = f"partition {abridged(stated)}"
    if not isinstance(stated, tuple) or not stated or not all(isinstance(part, tuple) for part in stated):
        raise ArgumentError(
            f"{name}; a tuple of parts, each a tuple of entry numbers, such as ((0, 1), (2,)), is required"
        )
    parts = tuple(tuple(sorted(as_count(entry, f"{name}, entry") for entry in part)) for part in stated)
    entries = [entry for part in parts for entry in part]
    if len(set(entries)) < len(entries):
        raise ArgumentError(f"{name} names an entry twice; an entry is in one part at most, and once")
    return parts
