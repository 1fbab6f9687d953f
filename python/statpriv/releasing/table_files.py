"""Published tables as files: tidy CSV, and SDMX-CSV 2.0.

Both files of a table are functions of its entry in the report, byte for byte. They hold the cells and no totals, which
anybody can form from the cells, and which a reader of the file would count twice.

**CSV** (RFC 4180): UTF-8, commas, lines that end with CR LF, quotes where a field needs them. There is one line for
each declared cell in row-major order, with a column for each dimension, `count` (empty where there is none) and
`count_status` (`published`, `withheld`, `impossible`). Of a tree, a published cell that is not split has a line before
those of its cells, which are withheld; the dimensions that it has no category of are empty, and `_T` (total) in SDMX.

**SDMX-CSV 2.0** (https://github.com/sdmx-twg/sdmx-csv, tag v2.0.0): `STRUCTURE`, `STRUCTURE_ID`, `ACTION`, a column for
each dimension, `OBS_VALUE`, `OBS_STATUS`, `CONF_STATUS`. The action is "I", information. Dimensions are uncoded text
and hold the labels as they are; a name that is no SDMX identifier is made one. The statuses are codes of the
cross-domain code lists CL_OBS_STATUS and CL_CONF_STATUS of SDMX:

* a published cell is A (normal value) and F (free for publication);
* a withheld cell is Q (missing value; suppressed) and C (confidential statistical information), without a value. It is
  not A (primary confidentiality due to small counts): of a withheld table nobody is told which cell was too small, or
  whether a row was in no declared cell;
* an impossible cell is M (missing value; data cannot exist) and F, without a value.

**Formulas.** Spreadsheets take a field that begins with `=`, `+`, `-`, `@`, a tab or a line break as a formula, quoted
or not. Categories are declared in the plan and never read from the data. A plan may still be written by somebody else
than who opens the file. Such a field gets an apostrophe in front, unless it is a plain number. The labels without it
stand in the JSON report.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from statpriv.errors import PublicationError
from statpriv.releasing.publication import Destination, Place, prepare
from statpriv.releasing.released_table import Cell, ReleasedTable, Status

__all__ = ["TableFiles", "TablePlaces", "as_csv", "as_sdmx_csv", "file_names", "fullest", "tables_of"]

_MAX_SLUG = 60
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""How a formula begins; the last four are full-width forms that some spreadsheets take as the first four."""
_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?%?")
_SDMX_NAME = re.compile("[A-Za-z][A-Za-z0-9_-]*")
_SDMX_OWN = ("STRUCTURE", "STRUCTURE_ID", "STRUCTURE_NAME", "ACTION", "SERIES_KEY", "OBS_KEY")
_SDMX_STATED = ("OBS_VALUE", "OBS_STATUS", "CONF_STATUS")
_SDMX_STATUS: Mapping[Status, tuple[str, str]] = {
    "published": ("A", "F"),
    "withheld": ("Q", "C"),
    "impossible": ("M", "F"),
}


def tables_of(report: Mapping[str, Any]) -> tuple[ReleasedTable, ...]:
    """The tables of a report; none if it has no such key.

    Raises
    ------
    ArgumentError
        If a table contradicts its own rule.
    """
    return tuple(map(ReleasedTable.from_document, report.get("tables", ())))


def fullest(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The key `tables` of a report as long as it can be: with every possible cell, and all rows in each of them."""
    return [
        {
            **document,
            "cells": [
                {**dict(zip(table.names, cell, strict=True)), "count": table.rows}
                for cell in table.cells()
                if table.status(cell) != "impossible"
            ],
        }
        for document, table in zip(report.get("tables", ()), tables_of(report), strict=True)
    ]


def as_csv(table: ReleasedTable) -> bytes:
    """The tidy CSV file of a table.

    Parameters
    ----------
    table
        A table that was counted.

    Returns
    -------
    bytes
        One line for each declared cell.

    Raises
    ------
    PublicationError
        If nothing was counted.
    """
    _require_counted(table)
    missing = dict.fromkeys(table.names, "")
    lines = [(*cell, _text(count), status) for cell, count, status in _lines(table, missing)]
    return _written([(*table.names, "count", "count_status"), *lines])


def as_sdmx_csv(table: ReleasedTable) -> bytes:
    """The SDMX-CSV 2.0 file of a table.

    The structure is named after the table, with the agency STATPRIV. Who loads the file into a registry replaces it by
    the identifier of their own dataflow.

    Parameters
    ----------
    table
        A table that was counted.

    Returns
    -------
    bytes
        One line for each declared cell.

    Raises
    ------
    PublicationError
        If nothing was counted.
    """
    _require_counted(table)
    structure = ("dataflow", f"STATPRIV:{_plain(table.name, '_').upper() or 'TABLE'}(1.0.0)", "I")
    lines = [
        (*structure, *cell, _text(count), *_SDMX_STATUS[status])
        for cell, count, status in _lines(table, {name: _total_code(own) for name, own in table.dimensions})
    ]
    return _written([(*_SDMX_OWN[:2], "ACTION", *_sdmx_names(table.names), *_SDMX_STATED), *lines])


def _lines(table: ReleasedTable, missing: Mapping[str, str]) -> Iterator[tuple[Cell, int | None, Status]]:
    """The cells of a file, with what stands in place of the categories that a cell of a tree does not have."""
    to_come = list(reversed(table.not_split))
    for cell in table.cells():
        if to_come and cell[: len(to_come[-1])] == to_come[-1]:
            whole = to_come.pop()
            filled = [missing[name] for name in table.names[len(whole) :]]
            yield (*whole, *filled), table.by_cell[whole], "published"
        yield cell, table.by_cell.get(cell), table.status(cell)


def _total_code(categories: Sequence[str]) -> str:
    """The code `_T` of SDMX for a total, or one like it that is no category."""
    code = "_T"
    while code in categories:
        code += "_"
    return code


def file_names(names: Sequence[str]) -> list[tuple[str, str]]:
    """Names of the CSV and the SDMX-CSV file of each table, in the order of the plan.

    A file name is the number of the table and up to 60 of the letters a to z, digits and hyphens of its name. So it is
    allowed on every system, leads into no other folder, and differs between any two tables.

    >>> file_names(["Region by age", "../../etc/passwd", "地域"])[1:]
    [('2-etc-passwd.csv', '2-etc-passwd.sdmx.csv'), ('3.csv', '3.sdmx.csv')]
    """
    stems = [f"{k}-{_plain(name, '-').lower()[:_MAX_SLUG]}".strip("-") for k, name in enumerate(names, start=1)]
    return [(f"{stem}.csv", f"{stem}.sdmx.csv") for stem in stems]


# --- writing fields ------------------------------------------------------------------------------


def _require_counted(table: ReleasedTable) -> None:
    if table.published is None:
        raise PublicationError("tables: nothing was counted, and there is nothing to write")


def _text(count: int | None) -> str:
    return "" if count is None else str(count)


def _written(lines: Iterable[Sequence[str]]) -> bytes:
    return "".join(",".join(map(_field, line)) + "\r\n" for line in lines).encode()


def _field(text: str) -> str:
    """A field that no spreadsheet takes as a formula, in quotes where RFC 4180 or a reader that trims needs them."""
    if text.lstrip(" \u00a0").startswith(_FORMULA) and not _NUMBER.fullmatch(text):
        text = f"'{text}"
    quoted = any(character in text for character in ',"\r\n') or text != text.strip()
    return '"' + text.replace('"', '""') + '"' if quoted else text


def _plain(text: str, between: str) -> str:
    """The letters and digits of ASCII in a text, accents removed, with one character in place of all others."""
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub("[^A-Za-z0-9]+", between, ascii_only).strip(between)


def _sdmx_names(names: Sequence[str]) -> list[str]:
    """An SDMX identifier for each dimension: its name if that is one, otherwise what can be kept of it."""
    taken = {name.upper() for name in (*_SDMX_OWN, *_SDMX_STATED)}
    found: list[str] = []
    for name in names:
        base = name if _SDMX_NAME.fullmatch(name) else _plain(name, "_")
        base = base if _SDMX_NAME.fullmatch(base) else f"D_{base}".rstrip("_")
        chosen, k = base, 2
        while chosen.upper() in taken:
            chosen, k = f"{base}_{k}", k + 1
        taken.add(chosen.upper())
        found.append(chosen)
    return found


# --- a folder of files ---------------------------------------------------------------------------


@dataclass(frozen=True)
class TableFiles:
    """The files of the tables of one report in one folder, checked before anything is spent.

    Attributes
    ----------
    folder
        The folder.
    destinations
        The CSV and the SDMX-CSV file of each table.
    made
        Whether the folder was made for them.
    """

    folder: Path
    destinations: tuple[tuple[Destination, Destination], ...]
    made: bool

    @classmethod
    def prepare(
        cls, folder: Path, names: Sequence[str], *, force: bool = False, protected: Sequence[Path] = ()
    ) -> TableFiles:
        """Check that the files can be written; make the folder if only the folder itself is missing.

        Parameters
        ----------
        folder
            The folder for the files.
        names
            The names of the tables, in the order of the plan.
        force
            Whether existing regular files may be replaced.
        protected
            Paths that are never replaced; see :func:`statpriv.releasing.publication.prepare`.

        Raises
        ------
        PublicationError
            If a file exists and may not be replaced, or cannot be written. Nothing has changed then.
        """
        made = _make(folder)
        try:
            paths = [folder / name for pair in file_names(names) for name in pair]
            ready = iter(prepare(paths, force=force, protected=protected))
            return cls(folder, tuple(zip(ready, ready, strict=True)), made)
        except BaseException:
            if made:
                with suppress(OSError):
                    folder.rmdir()
            raise

    @contextmanager
    def reserved(self) -> Iterator[TablePlaces]:
        """Check the files again, and keep other processes from them until the end of the block.

        Raises
        ------
        PublicationError
            If one of them exists by now, or another process is writing it.
        """
        with ExitStack() as held:
            taken = tuple(
                (held.enter_context(tidy.reserved()), held.enter_context(sdmx.reserved()))
                for tidy, sdmx in self.destinations
            )
            yield TablePlaces(taken)

    def write(self, tables: Sequence[ReleasedTable]) -> None:
        """Write all files, or none.

        Raises
        ------
        PublicationError
            If a file cannot be written; those written before it are removed.
        """
        try:
            with self.reserved() as places:
                places.write(tables)
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        """Remove the folder if it was made for files that were never written."""
        if self.made:
            with suppress(OSError):  # not empty: somebody else's files
                self.folder.rmdir()


@dataclass(frozen=True)
class TablePlaces:
    """The places of the CSV and the SDMX-CSV file of each table, which no other process can take."""

    places: tuple[tuple[Place, Place], ...]

    def hold(self, tables: Iterable[ReleasedTable]) -> None:
        """Hold room on the disk for the files of these tables, whose counts have at most as many digits as rows."""
        for table, places in zip(tables, self.places, strict=True):
            line = sum(max(map(_longest, categories)) for _, categories in table.dimensions)
            header = sum(map(_longest, table.names))
            lines = 1 + table.number_of_cells * (2 if table.nested else 1)
            size = lines * (line + header + len(str(table.rows)) + len(table.name) + 100)
            for place in places:
                place.hold(size)

    def write(self, tables: Sequence[ReleasedTable]) -> None:
        """Write all files, or none.

        Raises
        ------
        PublicationError
            If a file cannot be written; those written before it are removed.
        """
        with ExitStack() as written:
            for table, (tidy, sdmx) in zip(tables, self.places, strict=True):
                for place, content in ((tidy, as_csv(table)), (sdmx, as_sdmx_csv(table))):
                    place.publish(content)
                    written.callback(place.destination.withdraw)
            written.pop_all()

    def withdraw(self) -> None:
        """Remove the files, because their report is missing or will be."""
        for pair in self.places:
            for place in pair:
                place.destination.withdraw()


def _longest(text: str) -> int:
    return 2 * len(text.encode()) + 3


def _make(folder: Path) -> bool:
    """Make a folder if it is missing; whether it was."""
    try:
        folder.mkdir()
    except FileExistsError:
        if not folder.is_dir():
            raise PublicationError(f"tables = {folder}: it exists and is no folder; choose another name") from None
        return False
    except (OSError, ValueError):
        raise PublicationError(f"tables = {folder}: the folder cannot be made; make it first") from None
    return True
