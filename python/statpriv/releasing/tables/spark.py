"""Tables read by Spark: CSV and Parquet files, folders of them, and tables of the session's catalog.

Spark rows have no order; the row order is therefore the binary order of the ids. The content is materialised once and
detached from its source by a local checkpoint, so the counted content is the fingerprinted one. A lost executor causes
a failure and not a second read. The cluster evaluates every question for every row, and the answers are counted on the
driver as they come by, by the part of each row: the partition never reaches Spark, and the driver holds one piece of
the table at a time. A session started here encrypts everything that Spark spills, keeps it in a private folder that is
removed at the end, and writes no event log. It is refused if submitted arguments have set that otherwise. A session
that was already running keeps its own settings for this.

Cells of CSV files are read by the grammar of :mod:`statpriv.releasing.tables.csv_cells`.
"""

# ruff: noqa: S608 - every piece of SQL here is quoted by _text, or was rendered by Predicate.sql
from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from statpriv._native import RowIdsError, RowTokens
from statpriv.errors import MissingExtraError, TableError
from statpriv.releasing.classification import Classification
from statpriv.releasing.plan import DataSource
from statpriv.releasing.predicate import ColumnType, Predicate
from statpriv.releasing.sql_text import quoted
from statpriv.releasing.tables.columns import (
    Column,
    Condition,
    Kind,
    check_columns,
    first_that_holds,
    fits_decimal,
    position_of,
)
from statpriv.releasing.tables.csv_cells import SPARK
from statpriv.releasing.tables.files import CSV_SUFFIXES, PARQUET_SUFFIXES, Files, csv_header, open_files
from statpriv.releasing.tables.identity import check_distinct, check_units, groups_of, tokens_of
from statpriv.releasing.tables.protocol import (
    Groups,
    QueryListener,
    Question,
    Refusals,
    Table,
)
from statpriv.releasing.tables.rows_in_passing import ContentInPassing, fingerprints_of

try:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame, SparkSession
except ImportError as missing:
    raise MissingExtraError("a table of Spark needs pyspark: pip install 'statpriv[spark]'") from missing

__all__ = ["open_table"]

_Result = TypeVar("_Result")

# The meaning of a query must not depend on a user's settings; a separate session leaves the user's settings unchanged.
_SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.runSQLOnFiles": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.variable.substitute": "false",
    # Rows come to the driver one partition at a time, and at its default memory it holds some hundred thousand of them.
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "8m",
    "spark.sql.files.maxPartitionBytes": "8m",
}
_WHERE_KNOWN = {"spark.sql.classic.shuffleDependency.fileCleanup.enabled": "true"}
_OWN_SESSION = {
    "spark.eventLog.enabled": "false",
    "spark.io.encryption.enabled": "true",
    "spark.log.level": "OFF",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_REQUIRED = {name: _OWN_SESSION[name] for name in ("spark.eventLog.enabled", "spark.io.encryption.enabled")}
_PATTERN_CHARACTERS = frozenset("*?[]{}\\")

_NO_SPARK = "Spark cannot be started; it needs Java 17 or later. --debug shows its message"
_NOT_STARTED = (
    "a Spark application without an active session is running in this process, and its settings would be used; stop "
    "it, or activate a session of it"
)
_OTHER_SETTINGS = (
    "Spark started without the settings that a release needs: "
    + ", ".join(f"{name} = {value}" for name, value in _REQUIRED.items())
    + "; remove other values from spark-defaults.conf and from submitted arguments"
)
_UNREADABLE = "Spark cannot read it; --debug shows Spark's message, which may quote data"
_UNREADABLE_CSV = (
    "Spark cannot read it. Every row of a CSV file needs as many cells as the first line, and quotes only around whole "
    "cells, closed, and doubled inside; --debug shows Spark's message, which may quote data"
)
_NO_MEMORY = (
    "Spark ran out of memory, or was ended: give it more with spark.driver.memory and spark.executor.memory, or "
    "release from a Parquet file with DuckDB, which needs less"
)
_SIGNS_OF_NO_MEMORY = (
    "OutOfMemoryError",
    "TaskResultLost",
    "spark.driver.maxResultSize",
    "GC overhead limit",
    "Answer from Java side is empty",
    "Connection refused",
)
_NOT_COUNTED = "Spark failed while it counted; --debug shows its message, which may quote data"
_CHANGED = "it changed while it was being read; nothing may write to it during a release"


@contextmanager
def open_table(
    source: DataSource,
    conditions: Sequence[Condition],
    *,
    debug: bool = False,
    on_query: QueryListener | None = None,
) -> Iterator[Table]:
    """Open files or a catalog table; `statpriv.releasing.tables.open_table` documents the arguments."""
    refusal = Refusals(source.label)
    files = None if source.path is None else open_files(source, folder_of=(*CSV_SUFFIXES, *PARQUET_SUFFIXES))
    with _session(refusal, debug=debug) as spark:
        session = _Session(spark, refusal, debug, on_query)
        relation = _relation(session, source, files)
        check_columns(relation.columns, source, conditions)
        yield _Table(session, relation, source, conditions, files)


class _Table:
    def __init__(
        self,
        session: _Session,
        relation: _Relation,
        source: DataSource,
        conditions: Sequence[Condition],
        files: Files | None,
    ) -> None:
        self._session = session
        self._relation = relation
        self._source = source
        self._conditions = conditions
        self._files = files
        self._recognised: tuple[bytes, RowTokens] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(column.name for column in self._relation.columns)

    def row_count(self) -> int:
        ((n,),) = self._session.rows("SELECT count(*) FROM source", self._relation.unreadable)
        self._check_unchanged()
        if n == 0:
            raise self._session.refusal("it has no rows")
        return int(n)

    def groups(self) -> Groups:
        if self._source.group is None:
            raise self._session.refusal("the plan names no column of groups: [data] group")
        groups = groups_of(list(self._texts(self._source.group)), self._source.group, self._session.refusal)
        self._check_unchanged()
        return groups

    def row_tokens(self, key: bytes, *, with_rows: bool = False) -> RowTokens:
        if self._source.unit is not None:
            check_units(self._texts(self._source.unit), self._source, self._session.refusal)
        texts = self._texts(self._relation.id_name)
        tokens = tokens_of(key, texts, self._relation.id_name, self._session.refusal, with_rows=with_rows)
        self._check_unchanged()
        self._recognised = key, tokens
        return tokens

    def check_unique(self, column: str) -> None:
        check_distinct(self._texts(column), column, self._session.refusal)
        self._check_unchanged()

    def _texts(self, column: str) -> Iterator[str | None]:
        """Read a column in the order of the ids."""
        text = self._relation.known_text(position_of(self._relation.columns, column))
        sql = f"SELECT {text} FROM source ORDER BY {self._relation.id_text} NULLS LAST"
        return (found for (found,) in self._session.rows(sql, self._relation.unreadable))

    def load(self, key: bytes, selected: NDArray[np.bool_] | None = None) -> _Content:
        if self._files is not None and self._files.suffix in CSV_SUFFIXES:
            self._files.check_quotes(self._source.delimiter, self._relation.unreadable)
        cells = ", ".join(map(self._relation.digested, range(len(self.columns))))
        needed = sorted({self.columns.index(name) for each in self._conditions for name in each.columns})
        copied = "".join(f", c{index}" for index in needed)
        self._session.checkpoint(
            f"SELECT {self._relation.id_text} AS id, sha2(concat({cells}), 256) AS digest{copied} FROM source",
            "content",
            self._relation.unreadable,
        )
        self._check_unchanged()
        self._check_ids()
        rows = self._session.rows("SELECT digest FROM content ORDER BY id", self._relation.unreadable)
        whole, some, n = fingerprints_of((digest for (digest,) in rows), key, selected)
        return _Content(whole, some, n, self._session, self._relation)

    def _check_ids(self) -> None:
        """Refuse a content with other ids than those that were recognised."""
        if self._recognised is None:
            return
        key, tokens = self._recognised
        ids = (id_ for (id_,) in self._session.rows("SELECT id FROM content", self._relation.unreadable))
        try:
            again = RowTokens.of(key, ids)
        except RowIdsError:
            raise self._session.refusal(_CHANGED) from None
        if not np.array_equal(again.tokens, tokens.tokens):
            raise self._session.refusal(_CHANGED)

    def _check_unchanged(self) -> None:
        if self._files is not None:
            self._files.check_unchanged()


@dataclass(frozen=True)
class _Content(ContentInPassing):
    """The content as it was materialised, in the binary order of the ids."""

    _session: _Session = field(repr=False)
    _relation: _Relation = field(repr=False)

    @property
    def changed(self) -> TableError:
        return self._session.refusal(_CHANGED)

    def answers(self, questions: Sequence[Question], *, in_order: bool) -> Iterator[tuple[Any, ...]]:
        return self._streamed(f"SELECT id, {', '.join(map(self._cell, questions))} FROM content", in_order=in_order)

    def outcomes(self, classification: Classification, *, in_order: bool) -> Iterator[tuple[Any, ...]]:
        cells = classification.sql("content", self._dimensions(classification), _text, more="id")
        return self._streamed(f"SELECT id, cell FROM ({cells}) AS cells", in_order=in_order)

    def counted_outcomes(self, classification: Classification) -> Iterable[tuple[Any, ...]]:
        cells = classification.sql("content", self._dimensions(classification), _text)
        return self._session.rows(f"SELECT cell, count(*) FROM ({cells}) AS cells GROUP BY cell", _NOT_COUNTED)

    def _streamed(self, sql: str, *, in_order: bool) -> Iterator[tuple[Any, ...]]:
        return self._session.rows(f"{sql} ORDER BY id" if in_order else sql, _NOT_COUNTED)

    def _dimensions(self, classification: Classification) -> list[str]:
        return [
            self._relation.typed(position_of(self._relation.columns, each.column), each.demand)
            for each in classification.dimensions
        ]

    def _cell(self, question: Question) -> str:
        return first_that_holds([self._condition(predicate) for predicate in question])

    def _condition(self, predicate: Predicate) -> str:
        types = predicate.column_types

        def typed(name: str) -> str:
            return self._relation.typed(position_of(self._relation.columns, name), types[name])

        return predicate.sql(typed, _text)


# --- the session ------------------------------------------------------------------------------


@contextmanager
def _session(refusal: Refusals, *, debug: bool) -> Iterator[SparkSession]:
    """Yield a session with its own settings and views, in the running Spark application or in a new one."""
    running = SparkSession.getActiveSession()
    if running is not None:
        yield _set_up(running.newSession())
        return
    folder = tempfile.mkdtemp(prefix="statpriv-spark-")  # created with mode 0700
    try:
        started = _started(folder, refusal, debug=debug)
        if _settings_of(started, ("spark.local.dir",)) != {"spark.local.dir": folder}:
            raise refusal(_NOT_STARTED)  # and it is not stopped: it belongs to somebody else
        try:
            if _settings_of(started, tuple(_REQUIRED)) != _REQUIRED:
                raise refusal(_OTHER_SETTINGS)
            yield _set_up(started.newSession())
        finally:
            with suppress(Py4JError, ConnectionError):  # of a Spark that has ended
                started.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _set_up(session: SparkSession) -> SparkSession:
    for name, value in _SETTINGS.items():
        if session.conf.get(name, None) != value:  # Spark warns about some settings whenever they are set
            session.conf.set(name, value)
    for name, value in _WHERE_KNOWN.items():
        if session.conf.get(name, None) is not None:
            session.conf.set(name, value)
    return session


def _settings_of(session: SparkSession, names: Sequence[str]) -> dict[str, str | None]:
    """Settings of the application as they are in effect, whatever asked for them."""
    settings = session.sparkContext.getConf()
    return {name: settings.get(name, None) for name in names}


def _started(folder: str, refusal: Refusals, *, debug: bool) -> SparkSession:
    builder = SparkSession.builder.appName("statpriv").config("spark.local.dir", folder)
    for name, value in _OWN_SESSION.items():
        builder = builder.config(name, value)
    try:
        with _environment("SPARK_LOCAL_DIRS", folder):  # it would go before the setting
            if debug:
                return builder.getOrCreate()
            with _silent_children():
                return builder.getOrCreate()
    except (PySparkException, Py4JError, OSError, RuntimeError) as error:
        original = error
    raise refusal(_NO_SPARK) from (original if debug else None)


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set an environment variable for processes started meanwhile."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextmanager
def _silent_children() -> Iterator[None]:
    """Send the standard error of processes started meanwhile to the null device, because their errors quote cells."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@dataclass(frozen=True)
class _Session:
    """A Spark session whose errors never leave this class."""

    spark: SparkSession
    refusal: Refusals
    debug: bool
    on_query: QueryListener | None

    def rows(self, sql: str, sentence: str) -> Iterator[tuple[Any, ...]]:
        """Run a query and yield its rows, one partition at a time; the sentence is the message of a failure."""
        self._told(sql)
        rows = self.guarded(lambda: self.spark.sql(sql).toLocalIterator(), sentence)
        while (row := self.guarded(lambda: next(rows, None), sentence)) is not None:
            yield tuple(row)

    def checkpoint(self, sql: str, view: str, sentence: str) -> None:
        """Run a query and keep its result under a name; it is never computed again. The sentence tells a failure."""
        self._told(sql)

        def kept() -> None:
            self.spark.sql(sql).localCheckpoint(eager=True).createOrReplaceTempView(view)

        self.guarded(kept, sentence)

    def guarded(self, act: Callable[[], _Result], sentence: str) -> _Result:
        try:
            return act()
        except (PySparkException, Py4JError, ConnectionError) as error:
            original = error
            if any(sign in str(error) for sign in _SIGNS_OF_NO_MEMORY):
                sentence = _NO_MEMORY
        # Raised outside the except block: inside it, Python would attach the original as the context.
        raise self.refusal(sentence) from (original if self.debug else None)

    def _told(self, sql: str) -> None:
        if self.on_query is not None:
            self.on_query(sql)


def _text(value: str) -> str:
    """Quote a text for Spark, where a backslash is an escape character."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


# --- the formats ------------------------------------------------------------------------------


class _Relation(Protocol):
    """The view ``source`` with the columns c0, c1, …."""

    @property
    def columns(self) -> tuple[Column, ...]: ...
    @property
    def id_name(self) -> str: ...
    @property
    def id_text(self) -> str: ...
    @property
    def unreadable(self) -> str: ...
    def known_text(self, index: int, /) -> str: ...
    def digested(self, index: int, /) -> str: ...
    def typed(self, index: int, demand: ColumnType, /) -> str: ...


def _relation(session: _Session, source: DataSource, files: Files | None) -> _Relation:
    if files is None:
        return _typed(session, source, _catalog_table(session, source.table or ""))
    paths = [_location(path, files) for path in files.paths]
    if files.suffix in CSV_SUFFIXES:
        names = csv_header(files, source.delimiter, debug=session.debug)
        session.guarded(
            lambda: _csv(session.spark, paths, names, source).createOrReplaceTempView("source"), _UNREADABLE_CSV
        )
        columns = tuple(Column(name, "text", "untyped", identifying=True) for name in names)
        return _Csv(columns, source.row_id or "", source.null_values)
    if files.suffix in PARQUET_SUFFIXES:
        files.common([_parquet(session, path).schema for path in paths])
        return _typed(session, source, _parquet(session, *paths))
    raise files.refusal(f"files that end in {quoted(files.suffix)} cannot be read by Spark: export .csv or .parquet")


def _location(path: Path, files: Files) -> str:
    if _PATTERN_CHARACTERS & set(str(path)):
        raise files.refusal("Spark takes names of files and folders with one of * ? [ ] { } \\ for patterns: rename it")
    return f"file://{path}"


def _parquet(session: _Session, *paths: str) -> DataFrame:
    reader = session.spark.read.option("recursiveFileLookup", "true")  # folder names add no partition columns
    return session.guarded(lambda: reader.parquet(*paths), _UNREADABLE)


def _catalog_table(session: _Session, name: str) -> DataFrame:
    kind = session.guarded(lambda: session.spark.catalog.getTable(name).tableType, f"there is no table {quoted(name)}")
    if kind not in {"MANAGED", "EXTERNAL"}:
        raise session.refusal(f"{quoted(name)} is no plain table: release from a copy of its rows")
    return session.guarded(lambda: session.spark.read.table(name), _UNREADABLE)


def _csv(spark: SparkSession, paths: list[str], names: Sequence[str], source: DataSource) -> DataFrame:
    return spark.read.csv(
        paths,
        schema=", ".join(f"c{index} STRING" for index in range(len(names))),
        sep=source.delimiter,
        encoding="UTF-8",
        quote='"',
        escape='"',
        header=True,
        enforceSchema=True,
        multiLine=True,
        mode="FAILFAST",
        unescapedQuoteHandling="RAISE_ERROR",
        recursiveFileLookup=True,
    )


@dataclass(frozen=True)
class _Csv:
    """CSV files: every cell is text; an empty cell is the empty text, which Spark would read as NULL."""

    columns: tuple[Column, ...]
    id_name: str
    null_values: tuple[str, ...]
    unreadable = _UNREADABLE_CSV

    @property
    def id_text(self) -> str:
        return f"COALESCE(c{position_of(self.columns, self.id_name)}, '')"

    def known_text(self, index: int) -> str:
        text = f"COALESCE(c{index}, '')"
        if not self.null_values:
            return text
        return f"CASE WHEN {text} IN ({', '.join(map(_text, self.null_values))}) THEN NULL ELSE {text} END"

    def digested(self, index: int) -> str:
        text = f"COALESCE(c{index}, '')"
        return f"concat('V', octet_length({text}), ':', {text})"

    def typed(self, index: int, demand: ColumnType) -> str:
        return SPARK[demand].format(text=f"({self.known_text(index)})")


_INTEGERS = frozenset({"tinyint", "smallint", "int", "bigint"})
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(_INTEGERS, "number"),
    "float": "float",
    "double": "float",
    "string": "text",
    "date": "date",
    "boolean": "boolean",
}
_PLAIN_TEXT = frozenset({*_KINDS, "timestamp", "timestamp_ntz"})


@dataclass(frozen=True)
class _Typed:
    """A relation whose columns have declared types, which the predicates must match."""

    columns: tuple[Column, ...]
    id_name: str
    unreadable = _UNREADABLE

    @property
    def id_text(self) -> str:
        return self.known_text(position_of(self.columns, self.id_name))

    def known_text(self, index: int) -> str:
        return f"CAST(c{index} AS STRING)"

    def digested(self, index: int) -> str:
        declared = self.columns[index].declared
        plain = declared in _PLAIN_TEXT or declared.startswith(("decimal(", "varchar("))
        text = self.known_text(index) if plain else f"to_json(struct(c{index}), map('ignoreNullFields', 'false'))"
        return f"CASE WHEN c{index} IS NULL THEN 'N' ELSE concat('V', octet_length({text}), ':', {text}) END"

    def typed(self, index: int, demand: ColumnType) -> str:
        if self.columns[index].kind == "float":  # Spark orders NaN above every number
            return f"(CASE WHEN isnan(c{index}) THEN NULL ELSE CAST(c{index} AS DOUBLE) END)"
        if demand == "number":  # DECIMAL(38, 18) holds every constant, so no comparison can overflow
            return f"try_cast(c{index} AS DECIMAL(38, 18))"
        return f"c{index}"


def _typed(session: _Session, source: DataSource, frame: DataFrame) -> _Typed:
    columns = tuple(_typed_column(column) for column in frame.schema.fields)
    names = [f"c{index}" for index in range(len(columns))]
    session.guarded(lambda: frame.toDF(*names).createOrReplaceTempView("source"), _UNREADABLE)
    return _Typed(columns, source.row_id or "")


def _typed_column(column: Any) -> Column:  # noqa: ANN401  (pyspark's StructField, which has no types)
    declared = column.metadata.get("__CHAR_VARCHAR_TYPE_STRING") or column.dataType.simpleString()
    kind: Kind = "text" if declared.startswith("varchar(") else _KINDS.get(declared, "other")
    if fits_decimal(declared):
        kind = "number"
    return Column(column.name, declared, kind, identifying=declared in _INTEGERS or kind == "text")
