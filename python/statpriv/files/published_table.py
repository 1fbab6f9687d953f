r"""Published tables of counts, read from CSV: wide, tidy, or SDMX-CSV 2.0.

* **Wide**: labels of rows on the left, categories of the last dimension in the header, counts between them. The cell in
  the corner may name both dimensions, as `region \ age` does.
* **Tidy**: one line a cell: a column for each dimension, and one of counts. All other columns are dimensions, unless
  `dimensions` names them; only `count_status`, as this package writes it, is none.
* **SDMX-CSV**, 2.0 or 1.0: the columns before `OBS_VALUE` are dimensions, those after it attributes. An empty value
  is suppressed, unless `OBS_STATUS` is M, "data cannot exist" (code list CL_OBS_STATUS 2.0 of SDMX): the cell is then
  impossible. `_T` is a total.

Nothing is guessed that would change what is said about the table. A label that looks like a total is taken as one only
if all counts fit that, and can be declared as a total or as a category; combinations that a tidy file does not list
have to be explained. Counts are whole numbers;
thousands may be parted by commas or spaces. The file, its lines and its cells are bounded (`budget.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Literal, TypeAlias

from statpriv import budget
from statpriv.audit.table import OTHER_NAMES_OF_A_TOTAL, Key, PublishedCell, PublishedTable
from statpriv.errors import ArgumentError
from statpriv.files.csv_rows import csv_rows
from statpriv.files.documents import refused
from statpriv.numeric.exact import as_count
from statpriv.numeric.literals import abridged

LayoutName: TypeAlias = Literal["wide", "tidy", "sdmx"]
Absent: TypeAlias = Literal["zero", "suppressed", "impossible"]
_LAYOUTS: tuple[LayoutName, ...] = ("wide", "tidy", "sdmx")
_ABSENT: tuple[Absent, ...] = ("zero", "suppressed", "impossible")

SUPPRESSED = ("", "..", "...", "x", "X", "c", "C", "*", ":", ":c", "(c)", "[c]", "suppressed", "Suppressed")
"""Marks that stand for a suppressed count unless others are declared; "<10" and its like always do."""
_COUNT = re.compile(r"(?:\d+|\d{1,3}(?:[,\u0020\u00a0\u202f]\d{3})+)(?:\.0+)?", re.ASCII)
_LESS_THAN = re.compile(r"<\s*(\d{1,9})", re.ASCII)
_SDMX_TECHNICAL = frozenset(
    {"DATAFLOW", "STRUCTURE", "STRUCTURE_ID", "STRUCTURE_NAME", "ACTION", "SERIES_KEY", "OBS_KEY", "LAST UPDATE"}
)
_VALUE, _STATUS, _CONFIDENTIAL = "OBS_VALUE", "OBS_STATUS", "CONF_STATUS"
_COUNT_COLUMNS = frozenset({"count", "counts", "n", "freq", "frequency"})
_COUNT_STATUS = "count_status"
"""A column of the tidy files of this package: published, withheld or impossible."""
_MAX_FAULTS = 12
UNNAMED = ("row", "column")
"""What the dimensions of a wide file are called that names none."""


@dataclass(frozen=True)
class TableLayout:
    """How a file is to be read. Everything has a default, except what would change the meaning of the table.

    Attributes
    ----------
    layout : "wide", "tidy" or "sdmx", optional
        By default "sdmx" with a column `OBS_VALUE`, "tidy" with a column of counts, "wide" otherwise.
    count : str, optional
        The column of counts of a tidy file; by default the only one called count, n or frequency.
    dimensions : tuple of str
        The columns that are dimensions. By default the first column of a wide file, all but the counts of a tidy one,
        and those before `OBS_VALUE` in SDMX-CSV.
    columns : str, optional
        The name of the dimension whose categories are the header of a wide file.
    totals : tuple of str
        Labels of totals. "Total" and its like are totals anyway, if every count fits that.
    categories : tuple of str
        Labels that look like totals, and are categories.
    suppressed : tuple of str
        Marks of suppressed counts.
    absent : "zero", "suppressed" or "impossible", optional
        What it means that a combination of categories is not listed. Required where that happens.
    impossible : tuple of tuple of str
        Combinations of categories that cannot occur.
    skip : int
        Lines above the header, titles for instance.
    """

    layout: LayoutName | None = None
    count: str | None = None
    dimensions: tuple[str, ...] = ()
    columns: str | None = None
    totals: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    suppressed: tuple[str, ...] = SUPPRESSED
    absent: Absent | None = None
    impossible: tuple[tuple[str, ...], ...] = ()
    skip: int = 0

    def __post_init__(self) -> None:
        for name, value, allowed in (("layout", self.layout, _LAYOUTS), ("absent", self.absent, _ABSENT)):
            if value is not None and value not in allowed:
                raise ArgumentError(f"{name} = {abridged(value)}; one of {', '.join(allowed)} is required")
        as_count(self.skip, "skip")


@dataclass(frozen=True)
class _Entry:
    """One cell as it stands in the file."""

    labels: tuple[str, ...]
    text: str
    place: str
    impossible: bool = False


@dataclass(frozen=True)
class _Contents:
    """The dimensions, the cells of a file, and the marks of totals in it."""

    names: tuple[str, ...]
    entries: tuple[_Entry, ...]
    totals: tuple[str, ...]


def read_table(path: str | Path, layout: TableLayout | None = None) -> PublishedTable:
    r"""A published table from a CSV file.

    Parameters
    ----------
    path : str or Path
        A file in UTF-8, parted by commas, semicolons, tabs or bars.
    layout : TableLayout, optional
        How it is to be read.

    Returns
    -------
    PublishedTable

    Raises
    ------
    ArgumentError
        The file cannot be read, or not without a guess; the message names lines, columns and the remedy.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "crosstab.csv")
    ...     _ = path.write_text("region \\ age,young,old,Total\nnorth,12,30,42\nsouth,..,31,40\n")
    ...     table = read_table(path, TableLayout(totals=("Total",)))
    >>> table.dimension_names, table.size, [cell.key for cell in table.suppressed()]
    (('region', 'age'), 4, [('south', 'young')])
    """
    place, layout = Path(path), layout or TableLayout()
    rows = csv_rows(place, "table", skip=layout.skip)
    number, header = next(rows, (0, []))
    if len(header) < 2:
        raise ArgumentError(
            f"{place}: a header of at least two columns is required in its first line; say how many lines of "
            "titles are above it (`skip`, --skip)"
        )
    _check_header(header, place, number)
    reader = {"wide": _wide, "tidy": _tidy, "sdmx": _sdmx}[layout.layout or _layout_of(header, layout)]
    return _table(place, reader(place, header, rows, layout), layout)


# --- lines and columns ---------------------------------------------------------------------------


def _check_header(header: list[str], place: Path, number: int) -> None:
    repeated = sorted({name for name in header[1:] if header.count(name) > 1})
    if repeated:
        raise ArgumentError(f"{place}: line {number}: the header has {abridged(repeated[0])} more than once")
    empty = [column for column, name in enumerate(header, start=1) if not name and column > 1]
    if empty:
        raise ArgumentError(f"{place}: line {number}: column {empty[0]} has no name in the header")


def _layout_of(header: list[str], layout: TableLayout) -> LayoutName:
    if _VALUE in _identifiers(header):
        return "sdmx"
    return "tidy" if layout.count is not None or len(_count_columns(header)) == 1 else "wide"


def _identifiers(header: list[str]) -> list[str]:
    """Names of SDMX: `GEO: Geopolitical entity` is GEO, and `STRUCTURE[;]` is STRUCTURE."""
    return [name.upper().partition("[")[0].partition(":")[0].strip() for name in header]


def _count_columns(header: list[str]) -> list[str]:
    return [name for name in header if name.casefold() in _COUNT_COLUMNS]


def _columns(names: Sequence[str], header: list[str], place: Path) -> list[int]:
    """Where the named columns stand."""
    unknown = [name for name in names if name not in header]
    if unknown:
        raise ArgumentError(f"{place}: no column {abridged(unknown[0])}; the header has {_listed(header)}")
    return [header.index(name) for name in names]


def _checked(place: Path, header: list[str], rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    for number, row in rows:
        if len(row) != len(header):
            raise ArgumentError(
                f"{place}: line {number} has {len(row)} cells, and the header {len(header)}; quote cells that hold "
                "the delimiter"
            )
        yield number, row


# --- the three layouts ---------------------------------------------------------------------------


def _wide(place: Path, header: list[str], rows: Iterator[tuple[int, list[str]]], layout: TableLayout) -> _Contents:
    corner, across = _corner(header[0])
    if layout.dimensions:
        labels = _columns(layout.dimensions, header, place)
        names = layout.dimensions
    else:
        labels, names = [0], (corner,)
    across = layout.columns or across
    values = [column for column in range(len(header)) if column not in labels]
    if not values:
        raise ArgumentError(f"{place}: no column is left for counts; `dimensions` are the columns of labels only")
    entries, last = [], [""] * len(labels)
    for number, row in _checked(place, header, rows):
        # An empty label before a stated one repeats the one above, as in tables with nested rows. One after the last
        # stated label does not: that row may be a total.
        own = [row[column] for column in labels]
        stated = max((k for k, label in enumerate(own) if label), default=-1)
        last = [label or (above if k < stated else "") for k, (label, above) in enumerate(zip(own, last, strict=True))]
        entries += [
            _Entry((*last, header[column]), row[column], f"line {number}, column {header[column]}") for column in values
        ]
    return _Contents((*names, across), tuple(entries), layout.totals)


def _corner(text: str) -> tuple[str, str]:
    """The names of both dimensions, where the cell in the corner gives them."""
    down, parted, across = (part.strip() for part in text.partition("\\"))
    rows, columns = UNNAMED
    return (down or rows, across or columns) if parted else (text or rows, columns)


def _tidy(place: Path, header: list[str], rows: Iterator[tuple[int, list[str]]], layout: TableLayout) -> _Contents:
    found = [layout.count] if layout.count is not None else _count_columns(header)
    if len(found) != 1:
        raise ArgumentError(
            f"{place}: which column has the counts? Say it (`count`, --count); the header has {_listed(header)}"
        )
    (value,) = _columns(found, header, place)
    names = layout.dimensions or tuple(name for name in header if name not in (found[0], _COUNT_STATUS))
    columns = _columns(names, header, place)
    status = header.index(_COUNT_STATUS) if _COUNT_STATUS in header and _COUNT_STATUS not in names else None
    entries = [
        _Entry(
            tuple(row[column] for column in columns),
            row[value],
            f"line {number}",
            impossible=status is not None and row[status] == "impossible" and not row[value],
        )
        for number, row in _checked(place, header, rows)
    ]
    return _Contents(tuple(names), tuple(entries), layout.totals)


def _sdmx(place: Path, header: list[str], rows: Iterator[tuple[int, list[str]]], layout: TableLayout) -> _Contents:
    plain = _identifiers(header)
    if _VALUE not in plain:
        raise ArgumentError(f"{place}: SDMX-CSV has a column {_VALUE}; the header has {_listed(header)}")
    value = plain.index(_VALUE)
    names = layout.dimensions or tuple(
        name for name, known in zip(header[:value], plain[:value], strict=True) if known not in _SDMX_TECHNICAL
    )
    columns = _columns(names, header, place)
    status = plain.index(_STATUS) if _STATUS in plain else None
    entries = []
    for number, row in _checked(place, header, rows):
        impossible = status is not None and row[status].partition(":")[0] == "M" and not row[value]
        text = "" if row[value].casefold() == "nan" else row[value]
        entries.append(_Entry(tuple(row[column] for column in columns), text, f"line {number}", impossible))
    return _Contents(tuple(names), tuple(entries), layout.totals or ("_T",))


# --- from entries to a table ---------------------------------------------------------------------


def _table(place: Path, contents: _Contents, layout: TableLayout) -> PublishedTable:
    faults: list[str] = []
    if not contents.entries:
        raise ArgumentError(f"{place}: there are no cells below the header")
    _check_labels(contents, faults)
    taken = _looks_like_totals(contents, layout)
    totals = {*contents.totals, *taken}
    cells: dict[Key, PublishedCell] = {}
    impossible: set[Key] = set()
    for entry in contents.entries:
        key = tuple(None if label in totals else label for label in entry.labels)
        if key in cells or key in impossible:
            faults.append(f"{entry.place}: {' × '.join(entry.labels)} stands there twice")
        elif entry.impossible:
            impossible.add(key)
        else:
            cells[key] = _cell(key, entry, layout, faults)
        if len(faults) > _MAX_FAULTS:
            break
    if faults:
        more = [*faults[:_MAX_FAULTS], *(["…"] if len(faults) > _MAX_FAULTS else [])]
        raise refused(place, more)
    dimensions = tuple(
        (name, tuple(dict.fromkeys(entry.labels[k] for entry in contents.entries if entry.labels[k] not in totals)))
        for k, name in enumerate(contents.names)
    )
    empty = [name for name, categories in dimensions if not categories]
    if empty:
        raise ArgumentError(
            f"{place}: {empty[0]} has totals only, and no category; say which labels are categories (--category)"
        )
    for key in _declared_impossible(place, dimensions, layout):
        if key in cells and cells[key].count:
            raise ArgumentError(
                f"{place}: {cells[key].place}: {' × '.join(map(str, key))} is declared impossible, and has people"
            )
        impossible.add(key)
    listed = tuple(cell for key, cell in cells.items() if key not in impossible)
    table = _completed(place, dimensions, listed, impossible, layout)
    if taken and (wrong := table.contradictions()):
        raise ArgumentError(
            f"{place}: {abridged(taken[0])} looks like a total, and its counts are not the sums: {wrong[0].total} "
            f"instead of {wrong[0].cells} where {table.described(wrong[0].key)}. Say whether it is one (`totals`, "
            "--total) or a category (`categories`, --category)"
        )
    return table


def _looks_like_totals(contents: _Contents, layout: TableLayout) -> list[str]:
    """Labels that are hardly ever categories, and of which nothing is declared."""
    labels = dict.fromkeys(label for entry in contents.entries for label in entry.labels)
    declared = (*contents.totals, *layout.categories)
    return [
        label
        for label in labels
        if not {label.casefold(), label.partition(":")[0].casefold()}.isdisjoint(OTHER_NAMES_OF_A_TOTAL)
        and label not in declared
    ]


def _check_labels(contents: _Contents, faults: list[str]) -> None:
    for k, name in enumerate(contents.names):
        labels = dict.fromkeys(entry.labels[k] for entry in contents.entries)
        if "" in labels:
            place = next(entry.place for entry in contents.entries if not entry.labels[k])
            faults.append(f"{place}: {name} is empty; a category that has no name needs one, and a total is left out")


def _cell(key: Key, entry: _Entry, layout: TableLayout, faults: list[str]) -> PublishedCell:
    text = entry.text
    if (less := _LESS_THAN.fullmatch(text)) and int(less[1]) > 0:
        return PublishedCell(key, None, int(less[1]) - 1, entry.place)
    if text in layout.suppressed:
        return PublishedCell(key, None, None, entry.place)
    if _COUNT.fullmatch(text):
        count = int(re.sub(r"[^\d.]", "", text).partition(".")[0])
        if count <= budget.MAX_INTEGER:
            return PublishedCell(key, count, None, entry.place)
    faults.append(
        f"{entry.place}: {abridged(text)} is neither a count (a whole number up to 2^53) nor a mark of a suppressed "
        f"one ({', '.join(mark or 'empty' for mark in layout.suppressed)}, or <10); declare marks "
        "(`suppressed`, --suppressed)"
    )
    return PublishedCell(key, None, None, entry.place)


def _declared_impossible(
    place: Path, dimensions: tuple[tuple[str, tuple[str, ...]], ...], layout: TableLayout
) -> Iterator[Key]:
    for combination in layout.impossible:
        if len(combination) != len(dimensions) or any(
            label not in categories for label, (_, categories) in zip(combination, dimensions, strict=False)
        ):
            raise ArgumentError(
                f"{place}: impossible = {' × '.join(combination)}; one category for each of "
                f"{_listed([name for name, _ in dimensions])} is required"
            )
        yield combination


def _completed(
    place: Path,
    dimensions: tuple[tuple[str, tuple[str, ...]], ...],
    cells: tuple[PublishedCell, ...],
    impossible: set[Key],
    layout: TableLayout,
) -> PublishedTable:
    """The table, with the combinations that are not listed as they were declared."""
    known = {cell.key for cell in cells} | impossible
    size = prod(len(categories) for _, categories in dimensions)
    if size > budget.MAX_PUBLISHED_CELLS:
        raise ArgumentError(
            f"{place}: {size} combinations of categories; at most {budget.MAX_PUBLISHED_CELLS} are reviewed. Give the "
            "table in parts"
        )
    absent = [key for key in product(*(categories for _, categories in dimensions)) if key not in known]
    if absent and layout.absent is None:
        raise ArgumentError(
            f"{place}: {len(absent)} of {size} combinations of categories are not listed, {' × '.join(absent[0])} for "
            "one; say whether they are zero, suppressed or impossible (`absent`, --absent)"
        )
    if layout.absent == "impossible":
        impossible |= set(absent)
    else:
        count = 0 if layout.absent == "zero" else None
        cells = (*cells, *(PublishedCell(key, count, None, "not listed") for key in absent))
    return PublishedTable(place.name, dimensions, cells, frozenset(impossible))


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MAX_FAULTS])
    return shown if len(names) <= _MAX_FAULTS else f"{shown}, …"
