"""A published table of counts: its dimensions, its cells and totals, and what follows from them by addition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from typing import TypeAlias

from statpriv import budget
from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import is_list

Key: TypeAlias = "tuple[str | None, ...]"
"""One category for each dimension; None stands for the total over all its categories."""

OTHER_NAMES_OF_A_TOTAL = frozenset(
    {"total", "totals", "grand total", "all", "sum", "overall", "_t", "insgesamt", "gesamt", "ensemble", "totaal"}
)
"""Labels that are hardly ever categories, in small letters."""


@dataclass(frozen=True)
class PublishedCell:
    """A cell or a total as it was published.

    Attributes
    ----------
    key : tuple of str or None
        The category of each dimension; None for a total.
    count : int, or None
        How many people; None where the count is suppressed.
    most : int, or None
        The largest count that a suppressed cell may have by its mark, as "<10" says; None where the mark says nothing.
    place : str
        Where it stands in the file, for messages.
    """

    key: Key
    count: int | None
    most: int | None = None
    place: str = field(default="", compare=False)


@dataclass(frozen=True)
class Contradiction:
    """A published total that is not the sum of its cells.

    Attributes
    ----------
    key : tuple of str or None
        The total.
    total, cells : int
        What is published, and what its cells sum to; where some of these are suppressed, the sum of the others.
    """

    key: Key
    total: int
    cells: int


@dataclass(frozen=True)
class PublishedTable:
    """A table of counts of people, each in one cell, as it was published.

    Attributes
    ----------
    name : str
        What the table is called, the name of its file for instance.
    dimensions : tuple of (str, tuple of str)
        The name of each dimension and its categories, without totals.
    cells : tuple of PublishedCell
        Every combination of categories that can occur, and the published totals.
    impossible : frozenset of keys
        Combinations that cannot occur. They have no cell.

    Raises
    ------
    ArgumentError
        Cells are missing, stand there twice, or are not of these dimensions.

    Examples
    --------
    >>> table = PublishedTable.from_counts({"region": ["n", "s"], "smokes": ["yes", "no"]}, [[12, 40], [9, 31]])
    >>> table.count(("n", None)), table.count((None, None)), [cell.key for cell in table.below(10)]
    (52, 92, [('s', 'yes')])
    """

    name: str
    dimensions: tuple[tuple[str, tuple[str, ...]], ...]
    cells: tuple[PublishedCell, ...]
    impossible: frozenset[Key] = frozenset()

    def __post_init__(self) -> None:
        if not self.dimensions or not all(categories for _, categories in self.dimensions):
            raise ArgumentError(f"{self.name}: a table needs at least one dimension, and each at least one category")
        if self.size > budget.MAX_PUBLISHED_CELLS:
            raise ArgumentError(
                f"{self.name}: {self.size} combinations of categories; at most {budget.MAX_PUBLISHED_CELLS} are "
                "reviewed. Give the table in parts"
            )
        seen: set[Key] = set()
        for cell in self.cells:
            if len(cell.key) != len(self.dimensions) or any(
                label is not None and label not in categories
                for label, (_, categories) in zip(cell.key, self.dimensions, strict=False)
            ):
                raise ArgumentError(f"{self.name}: {cell.key} is not a cell of the dimensions {self.dimension_names}")
            if cell.key in seen:
                raise ArgumentError(f"{self.name}: {self.described(cell.key)} stands there twice")
            seen.add(cell.key)
        missing = [key for key in self.combinations() if key not in seen and key not in self.impossible]
        if missing:
            raise ArgumentError(
                f"{self.name}: {len(missing)} of {self.size} combinations have no cell, {self.described(missing[0])} "
                "for one; give each a count, or say that it is suppressed or impossible"
            )

    @classmethod
    def from_counts(
        cls, dimensions: Mapping[str, Iterable[str]], counts: Iterable[object], *, name: str = "table"
    ) -> PublishedTable:
        """A table from nested lists of counts, the last dimension innermost; None is a suppressed cell.

        Raises
        ------
        ArgumentError
            The lists do not have one count for each combination of categories.
        """
        shape = tuple((name, tuple(categories)) for name, categories in dimensions.items())
        keys = list(product(*(categories for _, categories in shape)))
        flat = list(_flattened(counts))
        if len(flat) != len(keys):
            raise ArgumentError(f"{name}: {len(flat)} counts; one for each of {len(keys)} combinations is required")
        cells = tuple(PublishedCell(key, _count(value, name)) for key, value in zip(keys, flat, strict=True))
        return cls(name, shape, cells)

    # --- what is there ---------------------------------------------------------------------------

    @property
    def dimension_names(self) -> tuple[str, ...]:
        """The names of the dimensions."""
        return tuple(name for name, _ in self.dimensions)

    @property
    def size(self) -> int:
        """How many combinations of categories there are."""
        return prod(len(categories) for _, categories in self.dimensions)

    def combinations(self) -> Iterator[Key]:
        """Every combination of categories, impossible ones included."""
        return product(*(categories for _, categories in self.dimensions))

    @cached_property
    def by_key(self) -> dict[Key, PublishedCell]:
        """The published cells and totals."""
        return {cell.key: cell for cell in self.cells}

    @cached_property
    def inner(self) -> tuple[PublishedCell, ...]:
        """The cells of the table itself, without totals."""
        return tuple(cell for cell in self.cells if None not in cell.key)

    @cached_property
    def totals(self) -> tuple[PublishedCell, ...]:
        """The published totals."""
        return tuple(cell for cell in self.cells if None in cell.key)

    def suppressed(self) -> tuple[PublishedCell, ...]:
        """The cells and totals whose count is suppressed."""
        return tuple(cell for cell in self.cells if cell.count is None)

    def below(self, minimum: int) -> tuple[PublishedCell, ...]:
        """The cells that are published with fewer than `minimum` people."""
        return tuple(cell for cell in self.inner if cell.count is not None and cell.count < minimum)

    def zeros(self) -> tuple[PublishedCell, ...]:
        """The cells that are published with nobody in them."""
        return self.below(1)

    @property
    def smallest(self) -> PublishedCell | None:
        """A published cell with the fewest people; None where all are suppressed."""
        published = [cell for cell in self.inner if cell.count is not None]
        return min(published, key=lambda cell: cell.count or 0, default=None)

    # --- what follows by addition ----------------------------------------------------------------

    @cached_property
    def parts(self) -> dict[Key, tuple[int, tuple[Key, ...]]]:
        """For each published total, what its published cells sum to, and its suppressed cells."""
        sums = {cell.key: 0 for cell in self.totals}
        hidden: dict[Key, list[Key]] = {cell.key: [] for cell in self.totals}
        for cell in self.inner:
            for key in _totals_over(cell.key):
                if key in sums and cell.count is None:
                    hidden[key].append(cell.key)
                elif key in sums:
                    sums[key] += cell.count or 0
        return {key: (known, tuple(hidden[key])) for key, known in sums.items()}

    def count(self, key: Key) -> int | None:
        """The count of a cell or total, as published or as a sum of published ones; None where that does not say it.

        Examples
        --------
        >>> table = PublishedTable.from_counts({"a": ["x", "y"]}, [3, None])
        >>> table.count(("x",)), table.count((None,))
        (3, None)
        """
        return self._determined(key)

    def _determined(self, key: Key) -> int | None:
        if key in self.memory:
            return self.memory[key]
        cell = self.by_key.get(key)
        found = cell.count if cell is not None else None
        if cell is None and key in self.impossible:
            found = 0
        for place, label in enumerate(key):
            if found is not None:
                break
            if label is None:
                finer = [self._determined((*key[:place], each, *key[place + 1 :])) for each in self._labels(place)]
                found = None if None in finer else sum(each or 0 for each in finer)
        self.memory[key] = found
        return found

    @cached_property
    def memory(self) -> dict[Key, int | None]:
        """Counts of totals that were asked for."""
        return {}

    def _labels(self, place: int) -> tuple[str, ...]:
        return self.dimensions[place][1]

    def contradictions(self) -> tuple[Contradiction, ...]:
        """Totals that are not the sum of their cells: the table was rounded or changed, or is misread."""
        return tuple(
            Contradiction(total.key, total.count, known)
            for total in self.totals
            for known, hidden in [self.parts[total.key]]
            if total.count is not None and (total.count < known or (total.count > known and not hidden))
        )

    def described(self, key: Key) -> str:
        """A cell or total for reading: `region = n, age = all`."""
        parts = zip(self.dimension_names, key, strict=False)
        return ", ".join(f"{name} = {'(all)' if label is None else label}" for name, label in parts)

    def labels(self, key: Key) -> dict[str, str | None]:
        """A cell or total for JSON; None is a total."""
        return dict(zip(self.dimension_names, key, strict=True))


def _totals_over(key: Key) -> Iterator[Key]:
    """Every total that a cell is part of."""
    return product(*((label, None) for label in key))


def _flattened(counts: Iterable[object]) -> Iterator[object]:
    for each in counts:
        if is_list(each):
            yield from _flattened(each)
        else:
            yield each


def _count(value: object, name: str) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= budget.MAX_INTEGER:
        raise ArgumentError(f"{name}: {value!r} is not a count; a whole number from 0 to 2^53 or None is required")
    return value
