"""Populations: how many entries there are, the critical one included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from statpriv import budget
from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.model.features import CLUSTERS, NONE
from statpriv.model.groups import ByGroup, by_group, show_groups
from statpriv.numeric.arguments import is_mapping
from statpriv.numeric.calls import answered_class
from statpriv.numeric.exact import Number, as_count
from statpriv.numeric.literals import abridged


@answered_class
@dataclass(frozen=True, init=False, repr=False)
class Population:
    """Independent entries: identically distributed, groups of such, or clusters of entries that hang together.

    Parameters
    ----------
    size : int, optional
        Number of entries from 1 to 2^53, the critical one included.
    groups : dict of str to int, optional
        Number of entries of each group instead, at least 1. The groups are public; queries then may have one law a
        group.
    clusters : int, optional
        The `size` entries are in this many clusters, such as households. Entries of different clusters are independent;
        those of one may depend on each other in any way. A range of probabilities is then that of an entry *given the
        other members of its cluster*.
    largest_cluster : int, optional
        No cluster has more entries. It is stated with `clusters`, and not with `groups`.

    Attributes
    ----------
    size : int
        Number of all entries.
    groups : tuple of (str, int), or None
        Name and size of each group, in the order given.
    clusters, largest_cluster : int, or None
        As stated.

    Raises
    ------
    ArgumentError
        Numbers that do not fit together: more clusters than entries, a cluster larger than the population, or clusters
        that cannot hold all entries.

    Notes
    -----
    Source: docs/explanation/households.md for what clusters cost, with the proof.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.Population(1024)
    Population(size=1024)
    >>> sp.Population(groups={"f": 30, "m": 20}).size
    50
    >>> sp.Population(20190, clusters=8000, largest_cluster=5)
    Population(size=20190, clusters=8000, largest_cluster=5)
    """

    size: int
    groups: ByGroup[int] | None
    clusters: int | None
    largest_cluster: int | None

    def __init__(
        self,
        size: Number | None = None,
        *,
        groups: Mapping[str, Number] | None = None,
        clusters: Number | None = None,
        largest_cluster: Number | None = None,
    ) -> None:
        sizes = None if groups is None else _group_sizes(groups)
        if size is not None and sizes is not None:
            raise ArgumentError(f"size = {abridged(size)} and groups = {abridged(groups)}; give only one of them")
        if is_mapping(size):
            raise ArgumentError(f"size = {abridged(size)} is not a number; write Population(groups=...) for groups")
        if size is None and sizes is None:
            raise ArgumentError("size = None is not a number, and groups = None; give one of them")
        total = as_count(size, "size", least=1) if size is not None else sum(count for _, count in sizes or ())
        object.__setattr__(self, "size", total)
        object.__setattr__(self, "groups", sizes)
        stated = clusters is not None or largest_cluster is not None
        number, largest = _clusters(total, clusters, largest_cluster) if stated else (None, None)
        if stated and sizes is not None:
            raise ArgumentError(
                f"clusters = {number} and groups = {abridged(groups)}; clusters are stated for a population without "
                "groups: give the size instead"
            )
        object.__setattr__(self, "clusters", number)
        object.__setattr__(self, "largest_cluster", largest)

    @property
    def features(self) -> frozenset[str]:
        """What only rules that name it cover: see :data:`statpriv.model.features.FEATURES`."""
        return NONE if self.clusters is None else CLUSTERS

    def require_no_clusters(self, what: str) -> None:
        """Refuse clusters where nothing asks the rules whether they cover them."""
        if self.clusters is not None:
            raise NotAvailableError(
                f"population = {self!r}: {what} in clusters is not available; sp.privacy_curve gives δ of a count"
            )

    def __repr__(self) -> str:
        if self.groups is not None:
            return f"Population(groups={show_groups(self.groups, str)})"
        if self.clusters is None:
            return f"Population(size={self.size})"
        return f"Population(size={self.size}, clusters={self.clusters}, largest_cluster={self.largest_cluster})"


def require_clusters(drawn: object, sizes: Sequence[int], population: Population) -> None:
    """Refuse to draw so many whole clusters from a population without clusters, or with fewer of them."""
    if population.clusters is None:
        raise ArgumentError(
            f"{abridged(drawn)} draws whole clusters, and the population states none: "
            "Population(1000, clusters=400, largest_cluster=5)"
        )
    if sum(sizes) > population.clusters:
        raise ArgumentError(
            f"{abridged(drawn)} draws {sum(sizes)} clusters together, the population has only {population.clusters}; "
            "take fewer"
        )


def _clusters(size: int, clusters: Number | None, largest: Number | None) -> tuple[int, int]:
    """The number of clusters and the largest number of entries in one, where these fit the population."""
    if clusters is None or largest is None:
        missing, stated = ("largest_cluster", "clusters") if largest is None else ("clusters", "largest_cluster")
        raise ArgumentError(
            f"{missing} = None; it is required with {stated}: Population(1000, clusters=400, largest_cluster=5)"
        )
    number, most = as_count(clusters, "clusters", least=1), as_count(largest, "largest_cluster", least=1)
    if number > size:
        raise ArgumentError(f"clusters = {number}; at most {size}, the number of entries, are possible: each has one")
    if most > size:
        raise ArgumentError(f"largest_cluster = {most}; at most {size}, the number of entries, is possible")
    if number * most < size:
        raise ArgumentError(
            f"clusters = {number} of at most largest_cluster = {most} entries hold {number * most} of {size}; more "
            "clusters or larger ones are required"
        )
    return number, most


def _group_sizes(groups: Mapping[str, Number]) -> ByGroup[int]:
    if not is_mapping(groups):
        raise ArgumentError(f"groups = {abridged(groups)}; a dict from group to size, such as {{'f': 30}}, is required")
    sizes = by_group(groups, "groups", lambda size, name: as_count(size, name, least=1))
    total = sum(count for _, count in sizes)
    if total > budget.MAX_INTEGER:
        raise ArgumentError(f"groups have {total} entries together; at most 2^53 are allowed")
    return sizes
