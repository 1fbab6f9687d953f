"""The files of a source: regular files, named exactly or by a declared pattern, unchanged while they are read."""

from __future__ import annotations

import codecs
import csv
import glob
import io
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from statpriv import budget
from statpriv.releasing.plan import DataSource
from statpriv.releasing.sql_text import quoted
from statpriv.releasing.tables.protocol import Refusals

__all__ = ["CSV_SUFFIXES", "PARQUET_SUFFIXES", "Files", "csv_header", "open_files", "source_files"]

CSV_SUFFIXES = (".csv", ".tsv", ".txt")
PARQUET_SUFFIXES = (".parquet", ".pq")

_Schema = TypeVar("_Schema")
_BLOCK = 2**20

_CHANGED = "it changed while it was being read; nothing may write to it during a release"


@dataclass(frozen=True)
class Files:
    """Regular files in the binary order of their paths; the table is the concatenation of their rows."""

    paths: tuple[Path, ...]
    refusal: Refusals
    identities: tuple[tuple[int, ...], ...]

    @property
    def suffix(self) -> str:
        """The file name suffix that all files share, in lower case."""
        return self.paths[0].suffix.lower()

    def check_unchanged(self) -> None:
        """Refuse files that have changed since they were opened, judged by all their file system metadata.

        Raises
        ------
        TableError
            If a file was written to, replaced or removed.
        """
        for path, identity in zip(self.paths, self.identities, strict=True):
            try:
                unchanged = _identity(path.stat()) == identity
            except OSError:
                unchanged = False
            if not unchanged:
                raise self.changed

    def check_quotes(self, delimiter: str, sentence: str) -> None:
        """Refuse CSV files with a quote that engines read in different ways.

        Of the quotes in a file, every second one closes what the one before opens. An opening quote stands at the
        beginning of a cell, and a closing one at its end, or they stand side by side: a doubled quote in a quoted cell.

        Raises
        ------
        TableError
            With the given sentence.
        """
        for path in self.paths:
            try:
                plain = _has_plain_quotes(path, delimiter)
            except OSError:
                raise self.changed from None
            if not plain:
                raise self.refusal(sentence)

    @cached_property
    def plain_rows(self) -> int | None:
        """Number of rows of CSV files, counted once from their lines; None if lines do not determine it.

        Without a quote, a carriage return or an empty line, every line except the header of each file is a row. With
        any of these, the engine decides what a row is, and the result is None.

        Raises
        ------
        TableError
            If a file can no longer be read.
        """
        try:
            lines = [_plain_lines(path) for path in self.paths]
        except OSError:
            lines = None
        if lines is None:
            raise self.changed
        known = [count for count in lines if count is not None]
        return sum(known) - len(known) if len(known) == len(lines) else None

    def common(self, schemas: Sequence[_Schema]) -> _Schema:
        """Return the schema that the files have in common.

        Raises
        ------
        TableError
            If a schema differs from the first: an engine would fill missing columns, or swap columns.
        """
        if any(schema != schemas[0] for schema in schemas):
            raise self.refusal("its files do not all have the columns of the first one, in its order and of its types")
        return schemas[0]

    @property
    def changed(self) -> Exception:
        """The refusal of a source that changed while it was read."""
        return self.refusal(_CHANGED)


def _has_plain_quotes(path: Path, delimiter: str) -> bool:
    beside = np.zeros(256, np.bool_)
    beside[np.frombuffer(f'{delimiter}\n\r"'.encode(), np.uint8)] = True
    opened, last = False, b"\n"
    with path.open("rb") as file:
        if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            file.seek(0)
        for block in iter(lambda: file.read(_BLOCK), b""):
            # The last byte of a block is judged with the next one.
            read = np.frombuffer(last + block, np.uint8)
            quotes = np.flatnonzero(read[1:] == ord('"')) + 1
            opening, closing = quotes[int(opened) :: 2], quotes[1 - int(opened) :: 2]
            closed_before = last == b'"' and not opened and not beside[read[1]]
            inside = closing[closing < len(read) - 1]
            if closed_before or not beside[read[opening - 1]].all() or not beside[read[inside + 1]].all():
                return False
            opened ^= bool(len(quotes) % 2)
            last = block[-1:]
    return not opened


def _plain_lines(path: Path) -> int | None:
    lines, ended = 0, True
    with path.open("rb") as file:
        for block in iter(lambda: file.read(_BLOCK), b""):
            ends = np.frombuffer(block, dtype=np.uint8) == ord("\n")
            if b'"' in block or b"\r" in block or (ended and ends[0]) or bool(np.any(ends[1:] & ends[:-1])):
                return None
            lines += int(np.count_nonzero(ends))
            ended = bool(ends[-1])
    return lines if ended else lines + 1


def open_files(source: DataSource, *, folder_of: Sequence[str] = ()) -> Files:
    """Find the files of a source and verify that they can be read.

    Parameters
    ----------
    folder_of
        Suffixes of file names; if any are given, the source may be a folder of such files.

    Raises
    ------
    TableError
        If there is no file, one is not a regular file, two are the same file, or their suffixes differ.
    """
    refusal = Refusals(source.label)
    named = _named(source, folder_of, refusal)
    files = [_regular_file(path, refusal) for path in named]
    if len({identity[:2] for _, identity in files}) < len(files):
        raise refusal("two of its files are one and the same")
    if len({path.suffix.lower() for path, _ in files}) > 1:
        raise refusal("its files are of more than one format")
    return Files(tuple(path for path, _ in files), refusal, tuple(identity for _, identity in files))


def csv_header(files: Files, delimiter: str, *, debug: bool) -> tuple[str, ...]:
    """Read the column names from the first line of each file; an engine would rename repeated names.

    Raises
    ------
    TableError
        If there are no names, or the files differ.
    """
    return files.common([_first_line(path, delimiter, files, debug=debug) for path in files.paths])


def _first_line(path: Path, delimiter: str, files: Files, *, debug: bool) -> tuple[str, ...]:
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            head = io.StringIO(file.read(budget.MAX_HEADER_CHARACTERS), newline="")
        names = tuple(next(csv.reader(head, delimiter=delimiter, strict=True), ()))
        "".join(names).encode()  # rejects a header that is not UTF-8; the engine checks the other rows
    except (OSError, UnicodeEncodeError, csv.Error) as error:
        original: Exception | None = error
    else:
        original = None
    if original is not None:
        reason = "its first line cannot be read as names of columns in UTF-8"
        raise files.refusal(reason) from (original if debug else None)
    if head.tell() == budget.MAX_HEADER_CHARACTERS:
        raise files.refusal("its first line is longer than a line with names of columns can be")
    if len(names) > budget.MAX_TABLE_COLUMNS:
        raise files.refusal(
            f"its first line names {len(names)} columns, and at most {budget.MAX_TABLE_COLUMNS} are read; release from "
            "a copy of the columns that count"
        )
    if not any(names):
        raise files.refusal("it is empty, or its first line has no names of columns")
    return names


def source_files(source: DataSource) -> list[Path]:
    """List the files that the source names at present: one path, or all that match its pattern, in binary order."""
    if source.path is None:
        return []
    if source.glob:
        found = glob.glob(str(source.path), recursive=True)  # noqa: PTH207  (Path.glob takes no absolute pattern)
        return [Path(name) for name in sorted(found, key=os.fsencode)]
    return [source.path]


def _named(source: DataSource, folder_of: Sequence[str], refusal: Refusals) -> list[Path]:
    named = source_files(source)
    if not named:
        raise refusal("no file has a name that fits this pattern")
    if folder_of and named[0].is_dir() and not source.glob:
        inside = (path for path in named[0].iterdir() if not path.name.startswith((".", "_")))
        named = sorted((path for path in inside if path.suffix.lower() in folder_of), key=os.fsencode)
        if not named:
            raise refusal(f"the folder holds no file that ends in {' or '.join(map(quoted, folder_of))}")
    return named


def _regular_file(named: Path, refusal: Refusals) -> tuple[Path, tuple[int, ...]]:
    try:
        path = named.resolve(strict=True)
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise refusal("it is not a regular file")
        with path.open("rb"):
            return path, _identity(status)
    except FileNotFoundError:
        reason = "there is no such file"
    except (OSError, RuntimeError, ValueError):  # a loop of links raises RuntimeError; a NUL in the name, ValueError
        reason = "the file cannot be opened for reading"
    raise refusal(reason)


def _identity(status: os.stat_result) -> tuple[int, ...]:
    """Identity of a file state: a write changes st_ctime even if the size and the modification time are restored."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
