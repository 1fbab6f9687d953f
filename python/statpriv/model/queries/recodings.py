"""Coarser groupings of the categories of a dimension, one nested in the other."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, TypeAlias

from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import as_items, is_mapping
from statpriv.numeric.literals import abridged

Grouping: TypeAlias = "tuple[tuple[str, tuple[str, ...]], ...]"
"""Each group: its label and its categories, those of the dimension as it was declared."""
Recodings: TypeAlias = "tuple[tuple[str, tuple[Grouping, ...]], ...]"
"""For each dimension that has some, its groupings, the finest first."""


def read_recodings(stated: object, dimensions: Mapping[str, tuple[str, ...]]) -> Recodings:
    """The groupings, in the order of the dimensions.

    Raises
    ------
    ArgumentError
        A grouping that is none of the categories of its dimension, or not coarser than the one before.
    """
    if stated is None:
        return ()
    if not is_mapping(stated) or not stated or not set(stated) <= set(dimensions):
        allowed = ", ".join(map(repr, dimensions)) or "dimensions, which this table does not state"
        raise ArgumentError(
            f"recode = {abridged(stated)}; a dict from some of {allowed} to a list of coarser groupings, the finest "
            "first, is required"
        )
    found = []
    for name in (name for name in dimensions if name in stated):
        required = f"a list of coarser groupings of {name!r}, the finest first, is required"
        groupings = tuple(
            _grouping(each, name, dimensions[name]) for each in as_items(stated[name], "recode", required)
        )
        if not groupings:
            raise ArgumentError(f"recode[{name!r}] = []; {required}")
        finest: Grouping = tuple((category, (category,)) for category in dimensions[name])
        for finer, coarser in pairwise([finest, *groupings]):
            _require_coarser(finer, coarser, name)
        found.append((name, groupings))
    return tuple(found)


def _grouping(stated: Any, name: str, categories: tuple[str, ...]) -> Grouping:  # noqa: ANN401  (a user's)
    required = (
        f"groups of the categories {abridged([*categories])}, each in exactly one, are required: a dict from label to "
        "list of categories, or a list of such lists"
    )
    if is_mapping(stated):
        groups = [(label, as_items(group, f"recode[{name!r}]", required)) for label, group in stated.items()]
    else:
        lists = [as_items(group, f"recode[{name!r}]", required) for group in as_items(stated, "recode", required)]
        groups = [(", ".join(map(str, group)), group) for group in lists]
    members = [category for _, group in groups for category in group]
    labels = [label for label, _ in groups]
    proper = all(isinstance(label, str) and label for label in labels) and len(set(labels)) == len(labels)
    if not proper or not all(group for _, group in groups) or sorted(map(str, members)) != sorted(categories):
        raise ArgumentError(f"recode[{name!r}] has {abridged(stated)}; {required}")
    return tuple((label, tuple(group)) for label, group in groups)


def _require_coarser(finer: Grouping, coarser: Grouping, name: str) -> None:
    nested = all(any(set(group) <= set(larger) for _, larger in coarser) for _, group in finer)
    if not nested or len(coarser) >= len(finer):
        raise ArgumentError(
            f"recode[{name!r}] has {abridged(dict(coarser))} after {abridged(dict(finer))}; each grouping has to merge "
            "groups of the one before it"
        )


def label_of(category: str, grouping: Grouping) -> str:
    """The label of the group of a category."""
    return next(label for label, group in grouping if category in group)
