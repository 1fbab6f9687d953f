"""Partitions: which entries answer which query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from statpriv.errors import ArgumentError, NotAvailableError
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
        runs = [(size, len(list(run))) for size, run in groupby(self.sizes)]
        pieces = [f"[{size}]" if count == 1 else f"[{size}] * {count}" for size, count in runs]
        if len(pieces) > 1 and all(count == 1 for _, count in runs):
            return f"RandomPartition({list(self.sizes)})"
        return f"RandomPartition({' + '.join(pieces)})"
