"""Populations: how many entries there are, the critical one included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from statpriv import budget
from statpriv.errors import ArgumentError
from statpriv.model.groups import ByGroup, by_group, show_groups
from statpriv.numeric.arguments import is_mapping
from statpriv.numeric.exact import Number, as_count
from statpriv.numeric.literals import abridged


@dataclass(frozen=True, init=False, repr=False)
class Population:
    """Independent entries: identically distributed, or groups of such.

    Parameters
    ----------
    size : int, optional
        Number of entries from 1 to 2^53, the critical one included.
    groups : dict of str to int, optional
        Number of entries of each group instead, at least 1. The groups are public; queries then may have one law a
        group.

    Attributes
    ----------
    size : int
        Number of all entries.
    groups : tuple of (str, int), or None
        Name and size of each group, in the order given.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.Population(1024)
    Population(size=1024)
    >>> sp.Population(groups={"f": 30, "m": 20}).size
    50
    """

    size: int
    groups: ByGroup[int] | None

    def __init__(self, size: Number | None = None, *, groups: Mapping[str, Number] | None = None) -> None:
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

    def __repr__(self) -> str:
        if self.groups is None:
            return f"Population(size={self.size})"
        return f"Population(groups={show_groups(self.groups, str)})"


def _group_sizes(groups: Mapping[str, Number]) -> ByGroup[int]:
    if not is_mapping(groups):
        raise ArgumentError(f"groups = {abridged(groups)}; a dict from group to size, such as {{'f': 30}}, is required")
    sizes = by_group(groups, "groups", lambda size, name: as_count(size, name, least=1))
    total = sum(count for _, count in sizes)
    if total > budget.MAX_INTEGER:
        raise ArgumentError(f"groups have {total} entries together; at most 2^53 are allowed")
    return sizes
