"""Partitions: which entries answer which query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.literals import show_list
from statpriv.numbers import Number, as_count

__all__ = ["RandomPartition"]


@dataclass(frozen=True, init=False, repr=False)
class RandomPartition:
    """A secret partition, uniform among those with these part sizes.

    Parameters
    ----------
    sizes : iterable of int
        Size of each part, at least 1. They may add up to less than the population: the other entries are
        not used.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.RandomPartition([1024] * 32)
    RandomPartition([1024] * 32)
    """

    sizes: tuple[int, ...]

    def __init__(self, sizes: Iterable[Number]) -> None:
        if isinstance(sizes, str | Mapping) or not isinstance(sizes, Iterable):
            raise ArgumentError(f"sizes = {sizes!r}; a list of part sizes is required, such as [472, 472]")
        parts = list(sizes)
        if any(isinstance(size, Mapping) for size in parts):
            raise NotAvailableError("sizes by group (a stratified partition) are not available yet; one size a part is")
        if not parts:
            raise ArgumentError("sizes = []; at least one part is required")
        exact = tuple(as_count(size, f"sizes[{k}]", least=1) for k, size in enumerate(parts))
        object.__setattr__(self, "sizes", exact)

    def __repr__(self) -> str:
        return f"RandomPartition({show_list(self.sizes)})"

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
