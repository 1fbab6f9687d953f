"""An exact table of a plan: its declared cells, and the query that they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

from statpriv.model.queries.contingency import DEFAULT, ContingencyTable
from statpriv.model.queries.variants import with_attribute
from statpriv.releasing.cell_ranges import CellRanges
from statpriv.releasing.classification import Classification, Dimension
from statpriv.releasing.part_size import size_of
from statpriv.releasing.sql_text import identifier, names_of, quoted

__all__ = ["PlannedTable"]


@dataclass(frozen=True)
class PlannedTable:
    """An exact table: its declared cells, the minimum of each, and the rows it may use.

    Attributes
    ----------
    name
        A label.
    dimensions
        The columns with their declared categories.
    minimum
        The least number of rows of every possible cell that has none of its own.
    impossible
        Combinations of categories that cannot occur.
    minima
        Cells with a least number of rows of their own.
    by, by_source
        The dimension that is a public classification, and where it is public; None without one.
    rows, share
        The number of rows of its part, or a fraction of all rows; all rows answer if both are None.
    ranges
        What the public knows of the cells; None if nothing is declared, and δ is for every law.
    nested
        Whether the table is a tree: each published cell of the first dimensions is split by the next one if all that
        this gives hold the minimum.
    """

    name: str
    dimensions: tuple[Dimension, ...]
    minimum: int
    impossible: tuple[tuple[str, ...], ...] = ()
    minima: tuple[tuple[tuple[str, ...], int], ...] = ()
    by: str | None = None
    by_source: str | None = None
    rows: int | None = None
    share: Fraction | None = None
    ranges: CellRanges | None = None
    nested: bool = False

    def __post_init__(self) -> None:
        """Check what the parts of the statement say together.

        Raises
        ------
        ValueError
            With a sentence in the words of a plan.
        """
        names = [dimension.column for dimension in self.dimensions]
        if self.by is not None and self.by not in names:
            raise ValueError(f"has by = {quoted(self.by)}, which is none of its dimensions: {names_of(names)}")
        self._check_combinations("impossible", self.impossible)
        self._check_combinations("minima", [cell for cell, _ in self.minima])
        if self.ranges is not None:
            self._check_combinations("probabilities", [cell for cell, _ in self.ranges.own])
        both = set(self.impossible) & {cell for cell, _ in self.minima}
        if both:
            raise ValueError(f"has {names_of(min(both))} in impossible and in minima; leave it out of one of them")
        self._check_possible_cells()
        if self.nested and (self.is_ladder or len(names) < 2):
            raise ValueError(
                "has nested = true, which splits cells of the first dimension by the second, and so on: it needs at "
                "least two dimensions, the coarsest first, and no recode"
            )
        if self.is_refined:
            if self.by is not None:
                how = "nested" if self.nested else "a recode"
                raise ValueError(f"has by and {how}: classes that choose their own cells are not in this version")
            _ = self.query  # its own rules name a grouping that is none
        if self.ranges is not None:
            if self.by is not None:
                raise ValueError(
                    "has by and a probability: with ranges the sizes of the classes would protect, which are not known "
                    "before the rows are counted"
                )
            self.ranges.check(self.cells)

    def _check_combinations(self, key: str, stated: Sequence[tuple[str, ...]]) -> None:
        names = [dimension.column for dimension in self.dimensions]
        for combination in stated:
            fits = len(combination) == len(names) and all(
                label in dimension.labels for label, dimension in zip(combination, self.dimensions, strict=True)
            )
            if not fits:
                raise ValueError(
                    f"has {key} = {names_of(combination)}, which is no combination of its categories: one category "
                    f"of each of {names_of(names)} is required, in this order"
                )
        if len(set(stated)) < len(stated):
            raise ValueError(f"has the same combination twice in {key}")

    def _check_possible_cells(self) -> None:
        possible = Counter(self.class_of(cell) for cell in self.cells)
        if sum(possible.values()) < 2:
            raise ValueError("has fewer than two possible cells: one alone says nothing about anybody")
        if self.by is None:
            return
        by = self.dimensions[self.classification.by or 0]
        missing = [label for label in by.labels if label not in possible]
        if missing:
            raise ValueError(f"has no possible cell in the class {quoted(missing[0])} of by; leave the class out")
        if max(possible.values()) < 2:
            raise ValueError("has one possible cell in each class of by: it says only what everybody knows")

    @property
    def classification(self) -> Classification:
        """The cells, as rows are counted in them."""
        names = [dimension.column for dimension in self.dimensions]
        return Classification(self.dimensions, None if self.by is None else names.index(self.by))

    @cached_property
    def all_cells(self) -> tuple[tuple[str, ...], ...]:
        """All combinations of categories in row-major order, impossible ones included."""
        return tuple(product(*(dimension.labels for dimension in self.dimensions)))

    @cached_property
    def cells(self) -> tuple[tuple[str, ...], ...]:
        """The possible cells in row-major order."""
        excluded = frozenset(self.impossible)
        return tuple(cell for cell in self.all_cells if cell not in excluded)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of the public classification; none without one."""
        return () if self.by is None else self.dimensions[self.classification.by or 0].labels

    def class_of(self, cell: tuple[str, ...]) -> str | None:
        """The class of a cell; None without a public classification."""
        place = self.classification.by
        return None if place is None else cell[place]

    @property
    def is_ladder(self) -> bool:
        """Whether the data choose among coarser groupings."""
        return any(dimension.recode for dimension in self.dimensions)

    @property
    def is_refined(self) -> bool:
        """Whether the data choose the cells: a ladder or a tree."""
        return self.nested or self.is_ladder

    @cached_property
    def query(self) -> ContingencyTable:
        """The table as the theory sees it."""
        recode = {
            dimension.column: [{label: list(own) for label, own in grouping} for grouping in dimension.recode]
            for dimension in self.dimensions
            if dimension.recode
        }
        return ContingencyTable(
            {dimension.column: dimension.labels for dimension in self.dimensions},
            minimum={DEFAULT: self.minimum, **dict(self.minima)},
            impossible=self.impossible,
            by=self.by,
            recode=recode or None,
            nested=self.nested,
            p=None if self.ranges is None else self.ranges.stated(self.cells),
            name=self.name,
        )

    @property
    def of_the_same_rows(self) -> ContingencyTable:
        """The table as one of several answers about the same rows: what it asks is an attribute of them."""
        columns = " | ".join(identifier(dimension.column) for dimension in self.dimensions)
        return with_attribute(self.query, attribute=columns)

    @property
    def is_each(self) -> bool:
        """Whether each row has probabilities of its own, within declared ranges."""
        return self.ranges is not None and self.ranges.each

    @property
    def canonical(self) -> str:
        """The cells and their conditions, whatever the plan calls the table."""
        return " | ".join(dimension.canonical for dimension in self.dimensions)

    def size(self, n: int) -> int:
        """Number of rows of this table's part, of ``n`` rows: all of them, ``rows``, or ``share * n`` rounded down.

        Raises
        ------
        PlanError
            If the number is 0, or larger than the number of rows.
        """
        return size_of(f"table {quoted(self.name)}", self, n)
