"""Geometry of the exact tables on the page: rows and columns, totals, shades, and how much of a large table is shown.

A table of two dimensions is one grid. The dimension with more categories gives the rows. Of more dimensions there is
one grid for each combination of the others; a public classification comes first among these. Totals are those of
:meth:`ReleasedTable.margin`, so that none is over a public classification. What is not split in a tree has its total
alone, in a row or a column, or in a line that stands for all its grids.

Shades make a heat map of the grid. A shade stands for a fifth of the range up to the largest count. It repeats what the
numbers say and carries nothing else, so that a print in black and white loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from statpriv.releasing.released_table import Cell, ReleasedTable, Status
from statpriv.releasing.table_files import file_names, tables_of

__all__ = ["Grid", "GridCell", "GridRow", "Shade", "TablePage", "table_pages"]

_SHADES = 5
_MOST_CELLS, _MOST_COLUMNS = 480, 12
"""Cells of a table that are shown, and columns of a grid: no more fit on paper, or are read on a telephone."""
_MOST_CONDITIONS = 40
"""Categories of a dimension whose conditions are shown."""
_OPEN_GRIDS = 6
"""Grids of a table that are open; further ones are folded."""


@dataclass(frozen=True)
class GridCell:
    """One cell: its count, if it has one, and its shade from 1 to 5."""

    status: Status
    count: int | None
    shade: int


@dataclass(frozen=True)
class GridRow:
    """The cells of one category of the row dimension, with their total where one may be formed."""

    label: str
    cells: tuple[GridCell, ...]
    total: int | None


@dataclass(frozen=True)
class Grid:
    """Two dimensions of a table, for one category of each other dimension.

    Attributes
    ----------
    heading
        The other dimensions with their categories; nothing where there are none.
    row_dimension, column_dimension
        Names; the second is None of a table with one dimension.
    columns
        The categories of the columns that are shown.
    rows
        The rows that are shown.
    column_totals, total
        Totals of the whole grid, whatever part of it is shown; None where none may be formed, or of a tree where some
        row is not split.
    row_totals
        Whether totals of rows may be formed.
    withheld
        The class that is withheld, if this is a grid of one.
    not_split
        The number of rows of the whole grid, if it is a cell of a tree that is not split; None otherwise.
    folded
        Whether the page shows it when asked only.
    """

    heading: tuple[tuple[str, str], ...]
    row_dimension: str
    column_dimension: str | None
    columns: tuple[str, ...]
    rows: tuple[GridRow, ...]
    column_totals: tuple[int | None, ...] | None
    total: int | None
    row_totals: bool
    withheld: str | None
    not_split: int | None
    folded: bool


@dataclass(frozen=True)
class Shade:
    """A shade of the heat map and the counts that it stands for."""

    shade: int
    least: int
    most: int


@dataclass(frozen=True)
class TablePage:
    """What the page says of one table."""

    table: ReleasedTable
    delta: Mapping[str, float] | None
    ranges: Mapping[str, Any] | None
    """What is declared of the probabilities of the cells; None where δ is for every distribution."""
    withheld_at_most: float | None
    number_of_cells: int
    published_cells: int
    grids: tuple[Grid, ...]
    left_out: int
    shades: tuple[Shade, ...]
    margins: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    conditions: tuple[tuple[str, tuple[tuple[str, str], ...], int], ...]
    """By dimension: the first categories, each with what holds on its rows, and how many further ones there are."""
    files: tuple[str, str]


def table_pages(report: Mapping[str, Any]) -> list[TablePage]:
    """What the page says of each table of a report."""
    tables = tables_of(report)
    files = file_names([table.name for table in tables])
    return [
        _page(table, document, names)
        for table, document, names in zip(tables, report.get("tables", ()), files, strict=True)
    ]


def _page(table: ReleasedTable, document: Mapping[str, Any], files: tuple[str, str]) -> TablePage:
    largest = max((count for cell, count in table.counts if len(cell) == len(table.names)), default=0)
    grids: list[Grid] = []
    shown = told = 0
    for grid, declared in _grids(table, largest):
        takes = 1 if grid.not_split is not None else declared
        if grids and shown + takes > _MOST_CELLS:
            break
        grids.append(grid)
        own = sum(len(row.cells) for row in grid.rows)
        shown += own or takes
        told += own or declared
    return TablePage(
        table=table,
        delta=document.get("delta"),
        ranges=_ranges(document),
        withheld_at_most=document.get("withheld_at_most"),
        number_of_cells=table.number_of_cells - len(table.impossible),
        published_cells=len(table.counts),
        grids=tuple(grids) if table.published else (),
        left_out=table.number_of_cells - told if table.published else 0,
        shades=tuple(_shades(largest)) if table.published and largest else (),
        margins=tuple(_margins(table)),
        conditions=tuple(
            (name, tuple(zip(table.categories(name), held, strict=False))[:_MOST_CONDITIONS], _beyond(held))
            for name, held in document.get("conditions", {}).items()
        ),
        files=files,
    )


def _ranges(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The declared ranges, of as many cells as a page shows."""
    if "probability" not in document:
        return None
    shown, others = document["probabilities"][:_MOST_CONDITIONS], _beyond(document["probabilities"])
    return {key: document[key] for key in ("probability", "each", "source")} | {"own": shown, "further": others}


def _grids(table: ReleasedTable, largest: int) -> Iterator[tuple[Grid, int]]:
    """The grids of a table, each with the number of its declared cells."""
    outer, rows, columns = _arranged(table)
    not_split, seen = frozenset(table.not_split), set[Cell]()
    for number, categories in enumerate(product(*(table.categories(name) for name in outer))):
        # Of a tree, several combinations may lie in one cell that is not split.
        within = (categories[:length] for length in range(1, len(categories)))
        whole = next((cell for cell in within if cell in not_split), categories)
        if whole in seen:
            continue
        seen.add(whole)
        heading = tuple(zip(outer, whole, strict=False))
        in_class = dict(heading).get(table.by or "")
        grid = _grid(
            table,
            heading,
            (rows, columns),
            largest=largest,
            withheld=in_class if in_class in table.withheld else None,
            folded=number >= _OPEN_GRIDS,
        )
        inside = [*outer[len(whole) :], rows, *([] if columns is None else [columns])]
        yield grid, prod(len(table.categories(name)) for name in inside)


def _arranged(table: ReleasedTable) -> tuple[list[str], str, str | None]:
    """The dimensions that have a grid for each category, the one of the rows, and the one of the columns."""
    names = list(table.names)
    if len(names) == 1:
        return [], names[0], None
    if len(names) > 2 and table.by is not None:
        names = [table.by, *(name for name in names if name != table.by)]
    first, second = names[-2:]
    longer = len(table.categories(second)) > len(table.categories(first))
    return names[:-2], *((second, first) if longer else (first, second))


def _grid(
    table: ReleasedTable,
    heading: tuple[tuple[str, str], ...],
    inner: tuple[str, str | None],
    *,
    largest: int,
    withheld: str | None,
    folded: bool,
) -> Grid:
    row_name, column_name = inner
    row_labels = table.categories(row_name)
    column_labels = ("",) if column_name is None else table.categories(column_name)
    fixed, outer = dict(heading), tuple(category for _, category in heading)
    not_split = table.rows_in(outer) if outer in table.not_split else None
    counts: dict[tuple[str, str], int | None] = {}
    statuses: dict[tuple[str, str], Status] = {}
    if not_split is None:
        for row, column in product(row_labels, column_labels):
            place = {**fixed, row_name: row, **({} if column_name is None else {column_name: column})}
            cell = tuple(place[name] for name in table.names)
            counts[row, column], statuses[row, column] = table.by_cell.get(cell), table.status(cell)
    shown_columns = column_labels[:_MOST_COLUMNS]
    shown_rows = row_labels[: max(1, _MOST_CELLS // len(shown_columns))] if not_split is None else ()
    row_totals = column_name is not None and table.by != column_name
    column_totals = table.by != row_name
    unsplit = any(cell[: len(outer)] == outer for cell in table.not_split)

    def total_of(dimension: str, category: str, cells: Iterable[int | None]) -> int | None:
        if unsplit:  # the rows of a cell of a tree are known, split or not, and no other totals
            return table.rows_in((*outer, category)) if dimension == table.names[len(outer)] else None
        return _total(cells)

    return Grid(
        heading=heading,
        row_dimension=row_name,
        column_dimension=column_name,
        columns=shown_columns,
        rows=tuple(
            GridRow(
                row,
                tuple(
                    GridCell(statuses[row, column], count, _shade(count, largest))
                    for column in shown_columns
                    for count in [counts[row, column]]
                ),
                total_of(row_name, row, (counts[row, column] for column in column_labels)) if row_totals else None,
            )
            for row in shown_rows
        ),
        column_totals=(
            tuple(
                total_of(column_name or "", column, (counts[row, column] for row in row_labels))
                for column in shown_columns
            )
            if column_totals and not_split is None
            else None
        ),
        total=(
            (table.rows_in(outer) if table.nested else _total(counts.values()))
            if column_totals and (row_totals or column_name is None)
            else None
        ),
        row_totals=row_totals,
        withheld=withheld,
        not_split=not_split,
        folded=folded,
    )


def _total(counts: Iterable[int | None]) -> int | None:
    """The sum of the published ones of some cells; None if none is published."""
    published = [count for count in counts if count is not None]
    return sum(published) if published else None


def _shade(count: int | None, largest: int) -> int:
    """The fifth of the range from 0 to the largest count in which a count lies; 0 without a count."""
    return 0 if count is None else -(-_SHADES * count // largest)


def _shades(largest: int) -> Iterator[Shade]:
    """The shades, with the counts that each stands for."""
    ends = [largest * shade // _SHADES for shade in range(_SHADES + 1)]
    for shade in range(1, _SHADES + 1):
        if ends[shade - 1] < ends[shade]:
            yield Shade(shade, ends[shade - 1] + 1, ends[shade])


def _beyond(held: Sequence[str]) -> int:
    return max(0, len(held) - _MOST_CONDITIONS)


def _margins(table: ReleasedTable) -> Iterator[tuple[str, tuple[tuple[str, int], ...]]]:
    """Of a table with three dimensions or more the totals by each dimension, which its grids do not show."""
    if len(table.names) < 3 or not table.published:
        return
    names = table.names if table.by is None else (table.by,)
    for name in names[:1] if table.nested else names:
        yield name, tuple((category, total) for (category,), total in table.margin(name).items())
