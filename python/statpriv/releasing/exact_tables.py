"""The gate of an exact table: what is published of the numbers of rows with each outcome.

The theorem of :mod:`statpriv.rules.minimum_count` is about exactly this gate. A table is published whole if every
possible cell holds at least its minimum, no impossible cell holds a row, and every row is in a declared cell. With a
public classification each class is such a table by itself; a row in no declared class withholds all of them.

Of a ladder, the finest of the declared groupings whose cells all hold the minimum is published
(:mod:`statpriv.rules.refined_table`), and nothing if a row is in no cell or in an impossible one. Of a tree, a
published cell of the first dimensions is split by the next one if all possible cells that this gives hold the minimum.

What is withheld leaves no trace: the answer of a withheld table, or class, is the same whatever was counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from statpriv.releasing.classification import Dimension
from statpriv.releasing.planned_table import PlannedTable
from statpriv.releasing.released_table import Cell, published_cells

__all__ = ["TableAnswer", "declared", "too_few_rows"]


@dataclass(frozen=True)
class TableAnswer:
    """What is published of one exact table.

    Attributes
    ----------
    published
        Whether any cell is published.
    withheld
        The classes that are withheld, in their order; empty without a public classification.
    cells
        The published cells with their counts, in row-major order. Of a tree, a cell that is not split has the
        categories of the first dimensions alone.
    level
        Of a ladder, the index of the published grouping; 0 is the finest table, also where nothing is published.
    """

    published: bool
    withheld: tuple[str, ...]
    cells: tuple[tuple[Cell, int], ...]
    level: int = 0

    @classmethod
    def of_outcomes(cls, table: PlannedTable, outcomes: Sequence[int]) -> TableAnswer:
        """Pass the numbers of rows with each outcome through the gate.

        Parameters
        ----------
        table
            The declared cells.
        outcomes
            For each outcome of the classification, the number of rows.

        Examples
        --------
        >>> from statpriv.releasing.classification import dimension_from
        >>> table = PlannedTable("a table", (dimension_from("sex", ["f", "m"]),), minimum=5)
        >>> TableAnswer.of_outcomes(table, [7, 5, 0])
        TableAnswer(published=True, withheld=(), cells=((('f',), 7), (('m',), 5)), level=0)
        >>> TableAnswer.of_outcomes(table, [7, 4, 0]) == TableAnswer.of_outcomes(table, [7, 5, 1])
        True
        """
        counts = dict(zip(table.all_cells, outcomes, strict=False))
        if table.is_refined:
            if any(outcomes[len(counts) :]) or any(counts[cell] for cell in table.impossible):
                return cls(published=False, withheld=(), cells=())
            return cls._split(table, counts) if table.nested else cls._finest(table, counts)
        failed = set(_classes_that_fail(table, counts, outcomes))
        passed = () if table.by is None and failed else table.cells
        cells = tuple((cell, counts[cell]) for cell in passed if table.class_of(cell) not in failed)
        return cls(bool(cells), tuple(name for name in table.classes if name in failed), cells)

    @classmethod
    def _finest(cls, table: PlannedTable, counts: Mapping[Cell, int]) -> TableAnswer:
        """The finest table of a ladder whose cells all hold the minimum; the law is on the possible cells alone."""
        for level, coarse in enumerate(table.query.levels):
            found = _counted(table, counts, level)
            if all(count >= coarse.minimum_of(cell) for cell, count in found.items()):
                return cls(published=True, withheld=(), cells=tuple(found.items()), level=level)
        return cls(published=False, withheld=(), cells=())

    @classmethod
    def _split(cls, table: PlannedTable, counts: Mapping[Cell, int]) -> TableAnswer:
        """The cells of a tree that are published and not split; the empty cell stands for the whole table."""
        shown: dict[Cell, int] = {(): sum(counts.values())}
        for level in reversed(range(table.query.depth)):
            minimum_of = table.query.levels[level].minimum_of
            parts: dict[Cell, dict[Cell, int]] = {}
            for cell, count in _counted(table, counts, level).items():
                parts.setdefault(cell[:-1], {})[cell] = count
            split = {whole: own for whole, own in parts.items() if all(own[cell] >= minimum_of(cell) for cell in own)}
            shown = {
                cell: count for whole, own in shown.items() for cell, count in split.get(whole, {whole: own}).items()
            }
        return cls(() not in shown, (), tuple((cell, count) for cell, count in shown.items() if cell))

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> TableAnswer:
        """Read what an entry of the key `tables` of a report says of a table that was counted."""
        level = document["ladder"]["level"] if "ladder" in document else None
        return cls(document["published"], tuple(document["withheld"]), published_cells(document), level or 0)

    def document(self, table: PlannedTable) -> dict[str, Any]:
        """The leaves of the report that depend on what was counted."""
        names = [dimension.column for dimension in table.dimensions]
        return {
            **declared(table, self.level if self.published else None),
            "published": self.published,
            "withheld": list(self.withheld),
            "cells": [
                {**dict(zip(names, cell, strict=not table.nested)), "count": count} for cell, count in self.cells
            ],
        }


def declared(table: PlannedTable, level: int | None = None) -> dict[str, Any]:
    """The declared cells of a table, and of a ladder those of the published level.

    Parameters
    ----------
    table
        The table of the plan.
    level
        The published level of a ladder; None if nothing of it is published.
    """
    shown = table.query.levels[level or 0]
    labels = {name: list(categories) for name, categories in shown.dimensions or ()}
    return {
        "dimensions": labels,
        "conditions": {dimension.column: _conditions(dimension, level or 0) for dimension in table.dimensions},
        "impossible": [list(cell) for cell in shown.impossible],
        **_minima(table, level or 0),
        **({"ladder": _ladder(table, level)} if table.is_ladder else {}),
        **({"nested": True} if table.nested else {}),
    }


def _ladder(table: PlannedTable, level: int | None) -> dict[str, Any]:
    return {
        "dimensions": {dimension.column: list(dimension.labels) for dimension in table.dimensions},
        "impossible": [list(cell) for cell in table.query.impossible],
        **_minima(table, 0),
        "recode": {
            dimension.column: [
                [{"label": label, "categories": list(own)} for label, own in grouping] for grouping in dimension.recode
            ]
            for dimension in table.dimensions
            if dimension.recode
        },
        "level": level,
    }


def _minima(table: PlannedTable, level: int) -> dict[str, Any]:
    """The cells of a level whose minimum is another than the plan's: no key where the plan names none."""
    if not table.minima:
        return {}
    shown = table.query.levels[level]
    own = ((cell, shown.minimum_of(cell)) for cell in shown.cells)
    return {"minima": [{"cell": list(cell), "minimum": least} for cell, least in own if least != table.minimum]}


def _conditions(dimension: Dimension, level: int) -> list[str]:
    """What holds on the rows of each category of a level."""
    finest = {category.label: category.canonical for category in dimension.categories}
    if level == 0 or not dimension.recode:
        return list(finest.values())
    grouping = dimension.recode[min(level, len(dimension.recode)) - 1]
    return [" OR ".join(finest[label] for label in own) for _, own in grouping]


def _counted(table: PlannedTable, counts: Mapping[Cell, int], level: int) -> dict[Cell, int]:
    """The numbers of rows in the possible cells of a level."""
    found = dict.fromkeys(table.query.levels[level].cells, 0)
    for cell in table.cells:
        found[table.query.coarsened(cell, level)] += counts[cell]
    return found


def _classes_that_fail(
    table: PlannedTable, counts: Mapping[Cell, int], outcomes: Sequence[int]
) -> Iterator[str | None]:
    """The classes whose table may not be published; None stands for the table without a classification."""
    impossible, own = frozenset(table.impossible), dict(table.minima)
    outside = outcomes[len(counts) :]
    classes: tuple[str | None, ...] = table.classes or (None,)
    if outside[-1]:
        yield from classes
    yield from (name for name, rows in zip(table.classes, outside, strict=False) if rows)
    for cell, count in counts.items():
        if count if cell in impossible else count < own.get(cell, table.minimum):
            yield table.class_of(cell)


def too_few_rows(table: PlannedTable, rows: int) -> str | None:
    """A warning that so many rows cannot fill the table, whatever their values; None if they can.

    >>> from statpriv.releasing.classification import dimension_from
    >>> too_few_rows(PlannedTable("By sex", (dimension_from("sex", ["f", "m"]),), minimum=5), 9)
    'The table “By sex” will be withheld: 2 possible cells of at least 5 rows need 10 rows, and it has 9.'
    """
    coarsest = table.query.levels[-1]
    least = sum(map(coarsest.minimum_of, coarsest.cells))
    if rows >= least:
        return None
    each = "with minima of their own" if table.minima else f"of at least {table.minimum} rows"
    cells = f"{len(coarsest.cells)} possible cells {each} need {least} rows, and it has {rows}"
    if table.by is None:
        return f"The table “{table.name}” will be withheld: {cells}."
    return f"The table “{table.name}” will be withheld in part at least: {cells}."
