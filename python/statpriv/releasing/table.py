"""The table of a release, read by DuckDB inside this process, in the order that the guarantee allows.

What can be asked comes in three steps, and each step has only what it may use:

1. ``open_table`` reads the names of the columns (of a Parquet file also their declared types) and no row;
2. ``Table.row_count`` and ``Table.row_ids`` read the number of rows, and the one column that identifies them;
3. ``Table.load`` reads the content, once: it takes the keyed fingerprints, copies the columns that the
   predicates need, and locks the engine. Only then is there a ``Content``, which counts. What is counted is
   therefore exactly what was fingerprinted, whatever happens to the file meanwhile.

Inside the engine the columns of the source are called c0, c1, …: the engine folds the case of names and
renames repeated ones silently. The labels of the rows never enter the engine: it gives one truth value per
row, and the counting is done here.

The engine's messages quote cells. They are never forwarded; ``debug`` attaches them as the cause.

How the cells of a CSV file are read depends on the constants of the predicates, never on the cells:

=========  ===========================================================================================
text       every cell as it is; an empty cell is the empty text
number     decimal digits with an optional sign, point and exponent, blanks around them ignored, below
           10^20 in size, rounded to 18 decimal places
date       ``YYYY-MM-DD``, blanks around it ignored
boolean    ``true``, ``t`` or ``1``, ``false``, ``f`` or ``0``, in any case, blanks around it ignored
=========  ===========================================================================================

A cell that is none of these is unknown (NULL), and so is one that the plan lists in ``null_values``.
"""

# ruff: noqa: S608 - every piece of SQL here is quoted by _text or _identifier, or was rendered by Predicate.sql
from __future__ import annotations

import csv
import hashlib
import hmac
import io
import os
import re
import stat
import unicodedata
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from statpriv.errors import MissingExtraError, TableError
from statpriv.releasing.predicate import ColumnType, Predicate, quoted

try:
    import duckdb
except ImportError as missing:
    raise MissingExtraError("reading a table needs DuckDB: pip install 'statpriv[release]'") from missing

if TYPE_CHECKING:
    from statpriv.releasing.plan import DataSource

__all__ = ["Content", "ContentFingerprint", "QueryListener", "Table", "open_table"]

_Fetched = TypeVar("_Fetched")

QueryListener = Callable[[str], None]
"""Is told every SQL text before the engine runs it."""

_LONGEST_HEADER = 2**20
_CSV_SUFFIXES = frozenset({".csv", ".tsv", ".txt"})
_PARQUET_SUFFIXES = frozenset({".parquet", ".pq"})

# Nothing is loaded, installed, remembered, looked up in Python or spilled to disk.
_LOCKED_FROM_THE_START: dict[str, str | bool | int | float | list[str]] = {
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "preserve_insertion_order": "true",
    "python_enable_replacements": "false",
    "temp_directory": "",
}
_LOCKED_BEFORE_PREDICATES = ("SET enable_external_access = false", "SET lock_configuration = true")

_CHANGED = "it changed while it was being read; nothing may write to it during a release"
_UNREADABLE_CSV = (
    "it is not a CSV file that can be read without doubt. Every row needs as many cells as the first line, "
    "text in UTF-8, one kind of line break, and quotes that are closed and doubled inside quotes; "
    "--debug shows the engine's message, which may quote data"
)
_UNREADABLE_PARQUET = "it cannot be read as a Parquet file; --debug shows the engine's message, which may quote data"
_NO_MEMORY = "it does not fit into the memory of this machine, and nothing may be written to a disk meanwhile"
_NOT_COUNTED = "the engine failed while it evaluated a predicate; --debug shows its message, which may quote data"


@contextmanager
def open_table(
    source: DataSource,
    predicates: Sequence[Predicate],
    *,
    debug: bool = False,
    on_query: QueryListener | None = None,
) -> Iterator[Table]:
    """Open the data of a plan and check the names of its columns; no row is read.

    Parameters
    ----------
    source
        The file, and the column that identifies its rows.
    predicates
        What will be counted: predicate number k in part number k.
    debug
        Attach the engine's own errors, which may quote cells, as the cause of ours.
    on_query
        Is told every SQL text before the engine runs it.

    Raises
    ------
    TableError
        Where the file or its columns are not what the plan says. Never quotes a cell.
    """
    with _open_regular_file(source) as file:
        connection = duckdb.connect(":memory:", config=_LOCKED_FROM_THE_START)
        try:
            engine = _Engine(connection, file, debug, on_query)
            relation = _relation(engine, source)
            _check_columns(relation, source, predicates)
            yield Table(relation.names, engine, relation, source, tuple(predicates))
        finally:
            connection.close()


@dataclass(frozen=True)
class ContentFingerprint:
    """Keyed digests of all cells: of the rows in their order, and of the rows in any order."""

    ordered: bytes
    unordered: bytes


@dataclass(frozen=True)
class Table:
    """A table whose columns fit the plan.

    Attributes
    ----------
    columns
        The names of the columns, as the file gives them.
    """

    columns: tuple[str, ...]
    _engine: _Engine = field(repr=False)
    _relation: _Relation = field(repr=False)
    _source: DataSource = field(repr=False)
    _predicates: tuple[Predicate, ...] = field(repr=False)

    def row_count(self) -> int:
        """Count the rows, reading no cell for its value; at least 1."""
        rows = self._engine.run(f"SELECT count(*) FROM {self._relation.sql}", self._relation.unreadable)
        self._engine.file.check_unchanged()
        n = int(rows[0][0])
        if n == 0:
            raise self._engine.file.refusal("it has no rows")
        return n

    def row_ids(self) -> list[str] | None:
        """Read the ids in the order of the rows, trimmed and in Unicode form NFC; None without ``row_id``.

        Raises
        ------
        TableError
            Where an id is missing, or two rows have the same one. The message names no value.
        """
        if self._source.row_id is None:
            return None
        column = quoted(self._source.row_id)
        known = _known_text(self._relation, self.columns.index(self._source.row_id))
        ids = self._engine.column(f"SELECT {known} FROM {self._relation.sql}", self._relation.unreadable)
        self._engine.file.check_unchanged()
        if np.any(getattr(ids, "mask", False)):  # DuckDB masks what is NULL
            raise self._engine.file.refusal(f"the row_id column {column} has no value in some row")
        canonical = [_canonical_id(text) for text in ids.tolist()]
        if "" in canonical:
            raise self._engine.file.refusal(f"the row_id column {column} is empty in some row")
        if len(set(canonical)) < len(canonical):
            raise self._engine.file.refusal(
                f"the row_id column {column} does not identify rows: two of its values are equal, or differ "
                "only in blanks around them or in the Unicode form of their letters"
            )
        return canonical

    def load(self, key: bytes) -> Content:
        """Read the content: fingerprint it, copy the columns that predicates need, and lock the engine.

        A row's digest is that of all its cells, each with its length, so no two different rows have the same
        text. Ordered, the digests are hashed under the key as they come; unordered, after sorting: two
        tables with equal fingerprints hold the same rows, or a collision of SHA-256 was found.
        """
        self._copy()
        digests = _digests(self._engine, self._relation)
        for statement in _LOCKED_BEFORE_PREDICATES:
            self._engine.run(statement, self._relation.unreadable)
        fingerprint = _fingerprint(key, digests)
        return Content(fingerprint, len(digests), self._engine, self._relation, self._predicates, key)

    def _copy(self) -> None:
        row = ", ".join(
            f"CASE WHEN {cell} IS NULL THEN 'N' ELSE concat('V', strlen({cell}), ':', {cell}) END"
            for cell in map(self._relation.text, range(len(self.columns)))
        )
        needed = sorted({self.columns.index(name) for p in self._predicates for name in p.columns})
        copied = "".join(f", c{index}" for index in needed)
        columns = f"sha256(concat({row})) AS digest{copied}"
        self._engine.run(
            f"CREATE TABLE content AS SELECT {columns} FROM {self._relation.sql}", self._relation.unreadable
        )
        self._engine.file.check_unchanged()


@dataclass(frozen=True)
class Content:
    """The content of a table inside a locked engine: it can be counted, and nothing else can be reached."""

    fingerprint: ContentFingerprint
    rows: int
    _engine: _Engine = field(repr=False)
    _relation: _Relation = field(repr=False)
    _predicates: tuple[Predicate, ...] = field(repr=False)
    _key: bytes = field(repr=False)

    def fingerprint_of(self, selected: NDArray[np.bool_]) -> ContentFingerprint:
        """Fingerprint some of the rows, under the key of the whole."""
        return _fingerprint(self._key, _digests(self._engine, self._relation)[selected])

    def count(self, labels: array[int]) -> list[int]:
        """Count, for each part k, its rows on which predicate k holds.

        Parameters
        ----------
        labels
            The part of each row, from 1; 0 for a row that no part uses.
        """
        parts = np.frombuffer(labels, dtype=labels.typecode)
        if len(parts) != self.rows:
            raise self._engine.file.refusal(_CHANGED)
        return [
            int(np.count_nonzero(self._holds(predicate) & (parts == part)))
            for part, predicate in enumerate(self._predicates, start=1)
        ]

    def _holds(self, predicate: Predicate) -> NDArray[np.bool_]:
        typed = ", ".join(
            f"{self._relation.typed(self._relation.names.index(name), demand)} AS {_identifier(name)}"
            for name, demand in predicate.column_types.items()
        )
        # The position has a name that no column of the predicate has, so that it cannot be shadowed.
        position = _identifier("position" + "_" * max(map(len, predicate.columns)))
        rows = f"SELECT {typed}, rowid AS {position} FROM content"
        return self._engine.column(f"SELECT {predicate.sql()} FROM ({rows}) ORDER BY {position}", _NOT_COUNTED)


# --- the file ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _File:
    """A regular file that stays open, so that its name can be checked to mean the same file still."""

    path: Path
    label: str
    identity: tuple[int, ...]

    def refusal(self, reason: str) -> TableError:
        return TableError(f"data {quoted(self.label)}: {reason}")

    def check_unchanged(self) -> None:
        try:
            unchanged = _identity(self.path.stat()) == self.identity
        except OSError:
            unchanged = False
        if not unchanged:
            raise self.refusal(_CHANGED)

    def sql(self) -> str:
        """Quote the path for the engine, which takes every file name for a pattern."""
        return _text(re.sub(r"[*?\[]", r"[\g<0>]", str(self.path)))


@contextmanager
def _open_regular_file(source: DataSource) -> Iterator[_File]:
    label = quoted(source.label)
    try:
        path = source.path.resolve(strict=True)
        if not stat.S_ISREG(path.stat().st_mode):
            raise TableError(f"data {label}: it is not a regular file")
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise TableError(f"data {label}: there is no such file") from None
    except (OSError, RuntimeError, ValueError):  # a loop of links; a NUL in the name
        raise TableError(f"data {label}: the file cannot be opened for reading") from None
    try:
        file = _File(path, source.label, _identity(os.fstat(descriptor)))
        file.check_unchanged()
        yield file
    finally:
        os.close(descriptor)


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


# --- the engine -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Engine:
    """A private in-memory connection whose errors never leave it."""

    connection: duckdb.DuckDBPyConnection
    file: _File
    debug: bool
    on_query: QueryListener | None

    def run(self, sql: str, sentence: str) -> list[tuple[Any, ...]]:
        """Run a statement and give its rows; the sentence is what a failure says."""
        return self._fetched(sql, sentence, lambda result: result.fetchall())

    def column(self, sql: str, sentence: str) -> NDArray[Any]:
        """Run a query of one column and give its values in order; masked where some are NULL."""
        (values,) = self._fetched(sql, sentence, lambda result: result.fetchnumpy()).values()
        return values

    def _fetched(self, sql: str, sentence: str, fetch: Callable[[duckdb.DuckDBPyConnection], _Fetched]) -> _Fetched:
        if self.on_query is not None:
            self.on_query(sql)
        try:
            return fetch(self.connection.execute(sql))
        except duckdb.OutOfMemoryException as error:
            original: duckdb.Error = error
            sentence = _NO_MEMORY
        except duckdb.Error as error:
            original = error
        # Raised out here, because inside the block Python would attach the original whatever we say.
        raise self.file.refusal(sentence) from (original if self.debug else None)


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# --- the two formats --------------------------------------------------------------------------


class _Relation(Protocol):
    """A file as a relation with the columns c0, c1 and so on.

    ``text`` gives the SQL for the text of a cell, NULL where the file has no value; ``typed`` that for the
    value which a predicate sees, total on every cell. ``misfit`` and ``id_misfit`` say why the declared type
    of a column does not fit a predicate, or an identifier of rows; None where it does.
    """

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def null_values(self) -> tuple[str, ...]: ...
    @property
    def sql(self) -> str: ...
    @property
    def unreadable(self) -> str: ...
    def text(self, index: int, /) -> str: ...
    def typed(self, index: int, demand: ColumnType, /) -> str: ...
    def misfit(self, index: int, predicate: Predicate, /) -> str | None: ...
    def id_misfit(self, index: int, /) -> str | None: ...


def _known_text(relation: _Relation, index: int) -> str:
    """Give the SQL for the text of a cell, NULL where the plan says that the text stands for "unknown"."""
    text = relation.text(index)
    if not relation.null_values:
        return text
    return f"CASE WHEN {text} IN ({', '.join(map(_text, relation.null_values))}) THEN NULL ELSE {text} END"


def _relation(engine: _Engine, source: DataSource) -> _Relation:
    suffix = source.path.suffix.lower()
    if suffix in _CSV_SUFFIXES:
        names = _csv_header(engine, source.delimiter)
        return _Csv(names, engine.file.sql(), source.delimiter, source.null_values)
    if suffix in _PARQUET_SUFFIXES:
        names, types = _parquet_columns(engine)
        return _Parquet(names, types, engine.file.sql(), source.null_values)
    raise engine.file.refusal(
        f"files that end in {quoted(suffix)} cannot be read yet; export the table as .csv or .parquet"
    )


@dataclass(frozen=True)
class _Csv:
    """A CSV file: every cell is text, and nothing about it is guessed from what the cells look like."""

    names: tuple[str, ...]
    path: str
    delimiter: str
    null_values: tuple[str, ...]
    unreadable = _UNREADABLE_CSV

    @property
    def sql(self) -> str:
        columns = ", ".join(f"'c{index}': 'VARCHAR'" for index in range(len(self.names)))
        return (
            f"read_csv({self.path}, columns = {{{columns}}}, auto_detect = false, header = true, "
            f"delim = {_text(self.delimiter)}, quote = '\"', escape = '\"', strict_mode = true, "
            "compression = 'none', hive_partitioning = false)"
        )

    def text(self, index: int) -> str:
        return f"COALESCE(c{index}, '')"

    def typed(self, index: int, demand: ColumnType) -> str:
        return _CSV_READINGS[demand].format(text=f"({_known_text(self, index)})")

    def misfit(self, _index: int, _predicate: Predicate) -> None:
        return None

    def id_misfit(self, _index: int) -> None:
        return None


_NUMBER = r" *[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)? *"
_DATE = " *[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}} *"
_CSV_READINGS: dict[ColumnType, str] = {
    "any": "{text}",
    "text": "{text}",
    "number": (f"CASE WHEN regexp_full_match({{text}}, '{_NUMBER}') THEN TRY_CAST({{text}} AS DECIMAL(38, 18)) END"),
    "date": f"CASE WHEN regexp_full_match({{text}}, '{_DATE}') THEN TRY_CAST({{text}} AS DATE) END",
    "boolean": (
        "CASE WHEN lower(trim({text})) IN ('true', 't', '1') THEN TRUE "
        "WHEN lower(trim({text})) IN ('false', 'f', '0') THEN FALSE END"
    ),
}


def _csv_header(engine: _Engine, delimiter: str) -> tuple[str, ...]:
    """Read the names in the first line, which the engine would rename where they repeat."""
    try:
        with engine.file.path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            head = io.StringIO(file.read(_LONGEST_HEADER), newline="")
        names = tuple(next(csv.reader(head, delimiter=delimiter, strict=True), ()))
        "".join(names).encode()  # the rows below are the engine's matter
    except (OSError, UnicodeEncodeError, csv.Error) as error:
        original: Exception | None = error
    else:
        original = None
    if original is not None:
        reason = "its first line cannot be read as names of columns in UTF-8"
        raise engine.file.refusal(reason) from (original if engine.debug else None)
    if head.tell() == _LONGEST_HEADER:
        raise engine.file.refusal("its first line is longer than a line with names of columns can be")
    if not any(names):
        raise engine.file.refusal("it is empty, or its first line has no names of columns")
    return names


_INTEGERS = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"})
_FLOATS = frozenset({"FLOAT", "DOUBLE"})
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")


@dataclass(frozen=True)
class _Parquet:
    """A Parquet file: the declared types count, and a predicate has to fit them."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    path: str
    null_values: tuple[str, ...]
    unreadable = _UNREADABLE_PARQUET

    @property
    def sql(self) -> str:
        columns = ", ".join(f"c{index}" for index in range(len(self.names)))
        return f"read_parquet({self.path}, hive_partitioning = false) AS source({columns})"

    def text(self, index: int) -> str:
        return f"CAST(c{index} AS VARCHAR)"

    def typed(self, index: int, demand: ColumnType) -> str:
        if self.types[index] in _FLOATS:  # the engine holds that NaN is above every number
            return f"CASE WHEN isnan(c{index}) THEN NULL ELSE CAST(c{index} AS DOUBLE) END"
        if demand == "number":  # wide enough for every constant, so that no comparison can overflow
            return f"TRY_CAST(c{index} AS DECIMAL(38, 18))"
        if self._kind(index) == "text":
            return _known_text(self, index)
        return f"c{index}"

    def misfit(self, index: int, predicate: Predicate) -> str | None:
        name, declared = self.names[index], self.types[index]
        demand, kind = predicate.column_types[name], self._kind(index)
        if demand not in {"any", kind}:
            remedy = _REMEDIES.get(kind, "only numbers, text, dates and booleans can be compared")
            return f"is declared {declared}, and the predicate compares it as a {demand}; {remedy}"
        if declared in _FLOATS and demand == "number" and name in predicate.equated:
            return (
                f"is declared {declared}, where equality is a matter of rounding; store whole numbers as "
                "integers, or compare with a range"
            )
        return None

    def id_misfit(self, index: int) -> str | None:
        declared = self.types[index]
        if declared in _INTEGERS | {"VARCHAR", "UUID"}:
            return None
        return f"the column is declared {declared}, and ids are text or whole numbers"

    def _kind(self, index: int) -> str:
        declared = self.types[index]
        if (decimal := _DECIMAL.fullmatch(declared)) is not None:
            width, scale = int(decimal[1]), int(decimal[2])
            return "number" if scale <= 18 and width - scale <= 20 else declared
        if declared in _INTEGERS | _FLOATS:
            return "number"
        if declared.startswith("ENUM("):
            return "text"
        return {"VARCHAR": "text", "DATE": "date", "BOOLEAN": "boolean"}.get(declared, declared)


_REMEDIES = {
    "number": "write the constant without quotes",
    "text": "write the constant as text, in single quotes",
    "date": "write the constant as DATE '2020-12-31'",
    "boolean": "write TRUE or FALSE",
}


def _parquet_columns(engine: _Engine) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read the names as the file has them, and the types in the engine's words."""
    path = engine.file.sql()
    schema = engine.run(f"SELECT name, COALESCE(num_children, 0) FROM parquet_schema({path})", _UNREADABLE_PARQUET)
    names: list[str] = []
    inside = 0  # how many columns of the current top-level column are still to come
    for name, children in schema[1:]:
        if inside == 0:
            names.append(name)
            inside = 1
        inside += children - 1
    described = engine.run(
        f"DESCRIBE SELECT * FROM read_parquet({path}, hive_partitioning = false)", _UNREADABLE_PARQUET
    )
    types = tuple(row[1] for row in described)
    if len(types) != len(names):
        raise engine.file.refusal(_UNREADABLE_PARQUET)
    return tuple(names), types


# --- checks on names and ids ------------------------------------------------------------------


def _check_columns(relation: _Relation, source: DataSource, predicates: Sequence[Predicate]) -> None:
    def refusal(reason: str) -> TableError:
        return TableError(f"data {quoted(source.label)}: {reason}")

    repeated = next((name for name in relation.names if relation.names.count(name) > 1), None)
    if repeated is not None:
        raise refusal(f"two columns are called {quoted(repeated)}; give each its own name")
    if source.row_id is not None:
        why = _absence(source.row_id, relation.names)
        why = why or relation.id_misfit(relation.names.index(source.row_id))
        if why:
            raise refusal(f"row_id = {quoted(source.row_id)}: {why}")
    for predicate in predicates:
        where = f"where = {quoted(predicate.text)}"
        if len({name.lower() for name in predicate.columns}) < len(predicate.columns):
            raise refusal(f"{where}: the engine cannot tell columns apart that differ only in case")
        for name in predicate.columns:
            if why := _absence(name, relation.names):
                raise refusal(f"{where}: {why}")
            if why := relation.misfit(relation.names.index(name), predicate):
                raise refusal(f"{where}: the column {quoted(name)} {why}")


def _absence(name: str, names: Sequence[str]) -> str | None:
    """Say that a column is absent and what it may have been meant to be, or give None."""
    if name in names:
        return None
    folded = {candidate.lower(): candidate for candidate in names}
    close = [folded[match] for match in get_close_matches(name.lower(), folded, n=3)]
    meant = f"; did you mean {' or '.join(map(quoted, close))}?" if close else ""
    return f"there is no column {quoted(name)}{meant}"


def _canonical_id(text: str) -> str:
    """Write equal ids equally: no blanks around them, one Unicode form; "007" stays apart from "7"."""
    trimmed = text.strip()
    return trimmed if trimmed.isascii() else unicodedata.normalize("NFC", trimmed)


def _digests(engine: _Engine, relation: _Relation) -> NDArray[np.bytes_]:
    """The digest of each row, in hexadecimal."""
    digests: NDArray[Any] = engine.column("SELECT digest FROM content ORDER BY rowid", relation.unreadable)
    return digests.astype("S64")


def _fingerprint(key: bytes, digests: NDArray[np.bytes_]) -> ContentFingerprint:
    ordered = _keyed(key, b"ordered", digests)
    return ContentFingerprint(ordered, _keyed(key, b"unordered", np.sort(digests)))


def _keyed(key: bytes, purpose: bytes, digests: NDArray[np.bytes_]) -> bytes:
    return hmac.digest(key, purpose + hashlib.sha256(digests.tobytes()).digest(), "sha256")
