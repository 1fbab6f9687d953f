"""Values by group: a mapping from the names of groups, read once and frozen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

from statpriv.errors import ArgumentError
from statpriv.numeric.literals import abridged

Value = TypeVar("Value")
ByGroup: TypeAlias = "tuple[tuple[str, Value], ...]"
"""The value of each group, in the order in which the groups were given."""


def by_group(values: Mapping[Any, Any], name: str, read: Callable[[Any, str], Value]) -> ByGroup[Value]:
    """Every group with its value as `read` takes it; messages call the mapping `name`, a value ``name['group']``."""
    if not values:
        raise ArgumentError(f"{name} = {{}}; at least one group is required")
    for group in values:
        if not isinstance(group, str) or not group:
            raise ArgumentError(f"{name} has a group {abridged(group)}; the name of a group is a string, not empty")
    return tuple((str(group), read(value, f"{name}[{str(group)!r}]")) for group, value in values.items())


def show_groups(values: ByGroup[Value], shown: Callable[[Value], str]) -> str:
    """The mapping that reads back as `values`."""
    return f"{{{', '.join(f'{group!r}: {shown(value)}' for group, value in values)}}}"


def same_names(what: str, stated: list[str], groups: dict[str, int], *, every: bool = True, hint: str = "") -> None:
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
