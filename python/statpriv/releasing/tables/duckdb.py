"""Tables read by DuckDB inside this process: CSV and Parquet files, and tables of DuckDB's own files.

Inside the engine the columns of the source are called c0, c1, …, because the engine folds the case of names and
silently renames repeated ones. ``Table.load`` copies all columns into memory, fingerprints the copy and then locks the
engine, so that no predicate can reach anything else. The labels of the rows never enter the engine. It returns one
number for each row and question, and the counting happens outside. Ids, cells and these numbers leave the engine as
Arrow batches and are hashed and counted natively, without a Python object for each row.

Nothing is written to disk. The copy may use 70 % of the machine's memory. A table that needs more is refused before any
row is spent. Counting may use another 10 % for its batches of numbers.

Cells of CSV files are read by the grammar of :mod:`statpriv.releasing.tables.csv_cells`, and a cell that the plan lists
in ``null_values`` is unknown (NULL). A quote stands only around a whole cell, or doubled inside such a cell: a file
with a quote elsewhere is refused, because engines read it in different ways.
"""

# ruff: noqa: S608 - every piece of SQL here is quoted by text_literal or identifier, or was rendered by Predicate.sql
from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from statpriv._native import RowTokens, StreamError, stream_fingerprints, stream_tally
from statpriv.errors import MissingExtraError
from statpriv.releasing.classification import Classification, Dimension
from statpriv.releasing.plan import DataSource
from statpriv.releasing.predicate import ColumnType, Predicate
from statpriv.releasing.sql_text import identifier, quoted, text_literal
from statpriv.releasing.tables.columns import (
    Column,
    Condition,
    Kind,
    check_columns,
    first_that_holds,
    fits_decimal,
    position_of,
)
from statpriv.releasing.tables.csv_cells import DUCKDB, DUCKDB_MACROS
from statpriv.releasing.tables.files import CSV_SUFFIXES, PARQUET_SUFFIXES, Files, csv_header, open_files
from statpriv.releasing.tables.identity import check_units, groups_of, identifying
from statpriv.releasing.tables.protocol import (
    AskedParts,
    ContentFingerprint,
    Groups,
    Labels,
    QueryListener,
    Question,
    RowListener,
    Table,
    counts_in_passes,
    counts_of_outcomes,
)

try:
    import duckdb
except ImportError as missing:
    raise MissingExtraError("reading a table needs DuckDB: pip install 'statpriv[release]'") from missing

__all__ = ["open_table"]

_Fetched = TypeVar("_Fetched")

_Fingerprints: TypeAlias = tuple[int, bytes, bytes]

_QUESTIONS_AT_ONCE = 16
_DATABASE_SUFFIXES = frozenset({".duckdb", ".db"})

# The engine loads and installs no extension, stores no secret, looks up no Python variable and spills nothing to disk.
_LOCKED_FROM_THE_START: dict[str, str | bool | int | float | list[str]] = {
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "memory_limit": "70%",
    "preserve_insertion_order": "true",
    "python_enable_replacements": "false",
    "temp_directory": "",
}
_LOCKED_BEFORE_PREDICATES = (
    "SET enable_external_access = false",
    "SET memory_limit = '80%'",
    "SET lock_configuration = true",
)

_UNREADABLE_CSV = (
    "it is not a CSV file that can be read without doubt. Every row needs as many cells as the first line, "
    "text in UTF-8, one kind of line break, and quotes only around whole cells, closed, and doubled inside; "
    "--debug shows the engine's message, which may quote data"
)
_UNREADABLE_PARQUET = "it cannot be read as a Parquet file; --debug shows the engine's message, which may quote data"
_UNREADABLE_DATABASE = (
    "it cannot be read as a DuckDB file that no other program has open; --debug shows the engine's message, "
    "which may quote data"
)
_NO_MEMORY = "it does not fit into the memory of this machine, and nothing may be written to a disk meanwhile"
_INTERRUPTED = "Query interrupted"
"""All that the engine leaves of a Ctrl-C that comes while it works, in a RuntimeError."""
_NOT_COUNTED = "the engine failed while it evaluated a predicate; --debug shows its message, which may quote data"


@contextmanager
def open_table(
    source: DataSource,
    conditions: Sequence[Condition],
    *,
    debug: bool = False,
    on_query: QueryListener | None = None,
    on_rows: RowListener | None = None,
) -> Iterator[Table]:
    """Open files; `statpriv.releasing.tables.open_table` documents the arguments."""
    files = open_files(source)
    connection = duckdb.connect(":memory:", config=_LOCKED_FROM_THE_START)
    try:
        engine = _Engine(connection, files, debug, on_query, on_rows)
        relation = _relation(engine, source)
        check_columns(relation.columns, source, conditions)
        yield _Table(engine, relation, source)
    finally:
        connection.close()


@dataclass(frozen=True)
class _Table:
    _engine: _Engine
    _relation: _Relation
    _source: DataSource

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(column.name for column in self._relation.columns)

    def row_count(self) -> int:
        n = self._relation.plain_rows()
        if n is None:
            ((n,),) = self._engine.run(f"SELECT count(*) FROM {self._relation.sql}", self._relation.unreadable)
        self._engine.files.check_unchanged()
        if n == 0:
            raise self._engine.files.refusal("it has no rows")
        return int(n)

    def groups(self) -> Groups:
        if self._source.group is None:
            raise self._engine.files.refusal("the plan names no column of groups: [data] group")
        return groups_of(self._texts(self._source.group), self._source.group, self._engine.files.refusal)

    def row_tokens(self, key: bytes) -> RowTokens | None:
        if self._source.units is not None:
            check_units(self._texts(self._source.unit or ""), self._source, self._engine.files.refusal)
        elif self._source.unit is not None:
            self.check_unique(self._source.unit)
        return None if self._source.row_id is None else self._tokens(key, self._source.row_id, "row_id", "rows")

    def check_unique(self, column: str) -> None:
        self._tokens(secrets.token_bytes(32), column, "unit", "persons")

    def _tokens(self, key: bytes, column: str, named: str, rows: str) -> RowTokens:
        def read() -> RowTokens:
            return self._engine.streamed(
                self._ids(column),
                self._relation.unreadable,
                lambda stream, on_rows: RowTokens.of_stream(key, stream, on_rows),
            )

        tokens = identifying(read, column, self._engine.files.refusal, named=named, rows=rows)
        self._engine.files.check_unchanged()
        return tokens

    def _texts(self, column: str) -> list[str | None]:
        texts = self._engine.column(self._column(column), self._relation.unreadable)
        self._engine.files.check_unchanged()
        listed: list[str | None] = texts.tolist()  # DuckDB masks NULL, and tolist() turns a masked value into None
        return listed

    def _column(self, column: str) -> str:
        known = _known_text(self._relation, position_of(self._relation.columns, column))
        return f"SELECT {known} AS text FROM {self._relation.sql}"

    def _ids(self, column: str) -> str:
        index = position_of(self._relation.columns, column)
        if self._relation.null_values:
            return self._column(column)
        return f"SELECT {self._relation.hashed(index)} AS text FROM {self._relation.sql}"

    def load(self, key: bytes, selected: NDArray[np.bool_] | None = None) -> _Content:
        columns = range(len(self.columns))
        copied = ", ".join(f"c{index}" for index in columns)
        unreadable = self._relation.unreadable
        self._engine.run(f"CREATE TABLE content AS SELECT {copied} FROM {self._relation.sql}", unreadable)
        self._relation.check_quotes()
        self._engine.files.check_unchanged()
        of_all, of_selected = _fingerprinted(self._engine, self._relation, key, selected)
        for statement in (*self._relation.last_statements, *_LOCKED_BEFORE_PREDICATES):
            self._engine.run(statement, unreadable)
        rows, *fingerprint = of_all
        if self._relation.plain_rows() not in (None, rows):  # the guarantee was computed from plain_rows()
            raise self._engine.files.refusal("the engine reads more rows from it, or fewer, than it has lines")
        selection = None if of_selected is None else ContentFingerprint(*of_selected[1:])
        return _Content(ContentFingerprint(*fingerprint), selection, rows, self._engine, self._relation)


def _fingerprinted(
    engine: _Engine, relation: _Relation, key: bytes, selected: NDArray[np.bool_] | None
) -> tuple[_Fingerprints, _Fingerprints | None]:
    """Fingerprint the rows of the copied content, and separately the selected ones."""
    texts = ", ".join(f"{relation.hashed(index)} AS t{index}" for index in range(len(relation.columns)))
    return engine.streamed(
        f"SELECT rowid, {texts} FROM content",
        relation.unreadable,
        lambda stream, on_rows: stream_fingerprints(key, stream, on_rows, selected),
    )


@dataclass(frozen=True)
class _Content:
    """The content of a table inside a locked engine, from which nothing else can be reached."""

    fingerprint: ContentFingerprint
    fingerprint_of_selected: ContentFingerprint | None
    rows: int
    _engine: _Engine = field(repr=False)
    _relation: _Relation = field(repr=False)

    def count(self, labels: Labels, questions: Sequence[Question]) -> list[tuple[int, ...]]:
        of_rows = np.frombuffer(labels, dtype=np.uint32)
        if len(of_rows) != self.rows:
            raise self._engine.files.changed
        parts = max(len(questions), int(of_rows.max(initial=0)))
        return counts_in_passes(
            of_rows,
            questions,
            lambda asked: self._tallied(of_rows, asked, parts),
            self._engine.files.changed,
            at_once=_QUESTIONS_AT_ONCE,
        )

    def _tallied(
        self, of_rows: NDArray[np.uint32], asked: Sequence[AskedParts], parts: int
    ) -> Iterator[tuple[int, ...]]:
        """Evaluate questions on every row in the engine, and count the results by the labels outside it."""
        asked_of: list[int | None] = [None] * parts
        for number, (_, numbers) in enumerate(asked):
            for part in numbers:
                asked_of[part - 1] = number
        width = 1 + max(len(question) for question, _ in asked)
        counts = self._engine.streamed(
            self._cells([question for question, _ in asked]),
            _NOT_COUNTED,
            lambda stream, on_rows: stream_tally(stream, of_rows, asked_of, width, on_rows),
        )
        return ((part, *cells) for part, cells in enumerate(counts.reshape(parts, width).tolist(), start=1))

    def tabulate(self, labels: Labels, part: int, classification: Classification) -> list[int]:
        of_rows, changed = np.frombuffer(labels, dtype=np.uint32), self._engine.files.changed
        if len(of_rows) != self.rows:
            raise changed
        own = (of_rows == part).astype(np.uint32)
        size, typed = int(own.sum()), [self._value(dimension) for dimension in classification.dimensions]
        if size == self.rows:
            cells = classification.sql("content", typed)
            found = self._engine.run(f"SELECT cell, count(*) FROM ({cells}) GROUP BY cell", _NOT_COUNTED)
            return counts_of_outcomes(found, classification, size, changed)
        cells = classification.sql("(SELECT *, rowid AS position FROM content)", typed, more="position")
        counts = self._engine.streamed(
            f"SELECT position, CAST(cell AS USMALLINT) FROM ({cells}) ORDER BY position",
            _NOT_COUNTED,
            lambda stream, on_rows: stream_tally(stream, own, [0], classification.number_of_outcomes, on_rows),
        )
        own[:] = 0
        return counts_of_outcomes(enumerate(counts.tolist()), classification, size, changed)

    def _value(self, dimension: Dimension) -> str:
        """SQL for the value of a column: integers are compared with integers as they are, which is fastest."""
        index = position_of(self._relation.columns, dimension.column)
        whole = dimension.is_whole and self._relation.columns[index].declared in _INTEGERS_OF_64_BITS
        return f"c{index}" if whole else self._typed(dimension.column, dimension.demand)

    def _cells(self, questions: Sequence[Question]) -> str:
        """SQL for each row and question: the index of the first predicate that holds, or their number if none does."""
        predicates = [predicate for question in questions for predicate in question]
        demands = {(name, demand) for predicate in predicates for name, demand in predicate.demands}
        typed = ", ".join(f"{self._typed(*demanded)} AS {self._name(*demanded)}" for demanded in sorted(demands))
        cells = ", ".join(
            f"CAST({first_that_holds([self._condition(predicate) for predicate in question])} AS USMALLINT)"
            for question in questions
        )
        return f"SELECT position, {cells} FROM (SELECT {typed}, rowid AS position FROM content)"

    def _condition(self, predicate: Predicate) -> str:
        types = predicate.column_types
        return predicate.sql(lambda name: self._name(name, types[name]))

    def _typed(self, name: str, demand: ColumnType) -> str:
        return self._relation.typed(position_of(self._relation.columns, name), demand)

    def _name(self, name: str, demand: ColumnType) -> str:
        return f"c{position_of(self._relation.columns, name)}_{demand}"


# --- the engine -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Engine:
    """A private in-memory connection whose errors never leave it."""

    connection: duckdb.DuckDBPyConnection
    files: Files
    debug: bool
    on_query: QueryListener | None
    on_rows: RowListener | None

    def run(self, sql: str, sentence: str) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows; the sentence is the message of a failure."""
        return self._fetched(sql, sentence, lambda result: result.fetchall())

    def column(self, sql: str, sentence: str) -> NDArray[Any]:
        """Run a query with one column and return its values in order; masked if some are NULL."""
        (values,) = self.columns(sql, sentence)
        return values

    def columns(self, sql: str, sentence: str) -> list[NDArray[Any]]:
        """Run a query and return the values of each of its columns."""
        return list(self._fetched(sql, sentence, lambda result: result.fetchnumpy()).values())

    def streamed(
        self,
        sql: str,
        sentence: str,
        take: Callable[[duckdb.DuckDBPyRelation, RowListener | None], _Fetched],
    ) -> _Fetched:
        """Run a query and pass on its batches as they arrive, in row order."""
        return self._guarded(sql, sentence, lambda: take(self.connection.sql(sql), self.on_rows))

    def _fetched(self, sql: str, sentence: str, fetch: Callable[[duckdb.DuckDBPyConnection], _Fetched]) -> _Fetched:
        return self._guarded(sql, sentence, lambda: fetch(self.connection.execute(sql)))

    def _guarded(self, sql: str, sentence: str, work: Callable[[], _Fetched]) -> _Fetched:
        if self.on_query is not None:
            self.on_query(sql)
        try:
            return work()
        except duckdb.OutOfMemoryException as error:
            original: Exception = error
            sentence = _NO_MEMORY
        except (duckdb.Error, StreamError) as error:
            original = error
            # A failure in mid-stream loses the class of the error; only the start of its message tells it.
            sentence = _NO_MEMORY if "Out of Memory" in str(error)[:60] else sentence
        except RuntimeError as error:
            if str(error) == _INTERRUPTED:
                raise KeyboardInterrupt from None
            raise
        # Raised outside the except block: inside it, Python would attach the original as the context.
        raise self.files.refusal(sentence) from (original if self.debug else None)


def _file_names(paths: Sequence[Path]) -> str:
    """Quote paths for the engine; glob characters are escaped because it treats every file name as a pattern."""
    return "[" + ", ".join(text_literal(re.sub(r"[*?\[]", r"[\g<0>]", str(path))) for path in paths) + "]"


# --- the formats ------------------------------------------------------------------------------


class _Relation(Protocol):
    """A source as a relation with the columns c0, c1, ….

    ``text`` returns the SQL for the text of a cell, which is NULL if the source has no value. ``hashed`` returns the
    SQL for the hashed form of a cell: its text, or a number that stands for its digits. ``typed`` returns the SQL for
    the value that a predicate sees, defined on every cell. ``plain_rows`` counts the rows if that needs no engine.
    ``check_quotes`` refuses quotes that could be read in several ways.
    ``last_statements`` lists what runs before the engine is locked, such as the detachment of the source.
    """

    @property
    def columns(self) -> tuple[Column, ...]: ...
    @property
    def null_values(self) -> tuple[str, ...]: ...
    @property
    def sql(self) -> str: ...
    @property
    def unreadable(self) -> str: ...
    @property
    def last_statements(self) -> tuple[str, ...]: ...
    def plain_rows(self) -> int | None: ...
    def check_quotes(self) -> None: ...
    def text(self, index: int, /) -> str: ...
    def hashed(self, index: int, /) -> str: ...
    def typed(self, index: int, demand: ColumnType, /) -> str: ...


def _known_text(relation: _Relation, index: int) -> str:
    """Return the SQL for the text of a cell, which is NULL if the plan lists the text as "unknown"."""
    text = relation.text(index)
    if not relation.null_values:
        return text
    return f"CASE WHEN {text} IN ({', '.join(map(text_literal, relation.null_values))}) THEN NULL ELSE {text} END"


def _relation(engine: _Engine, source: DataSource) -> _Relation:
    suffix = engine.files.suffix
    if suffix in _DATABASE_SUFFIXES:
        return _attached_table(engine, source)
    if source.table is not None:
        raise engine.files.refusal(f"table = {quoted(source.table)}: a file that ends in {quoted(suffix)} is one table")
    if suffix in CSV_SUFFIXES:
        return _csv(engine, source)
    if suffix in PARQUET_SUFFIXES:
        return _parquet(engine)
    raise engine.files.refusal(
        f"files that end in {quoted(suffix)} cannot be read yet; export the table as .csv or .parquet"
    )


@dataclass(frozen=True)
class _Csv:
    """CSV files: every cell is text, and no type is inferred from the cells."""

    columns: tuple[Column, ...]
    files: Files
    delimiter: str
    null_values: tuple[str, ...]
    unreadable = _UNREADABLE_CSV
    last_statements = DUCKDB_MACROS

    @property
    def sql(self) -> str:
        columns = ", ".join(f"'c{index}': 'VARCHAR'" for index in range(len(self.columns)))
        return (
            f"read_csv({_file_names(self.files.paths)}, columns = {{{columns}}}, auto_detect = false, header = true, "
            f"delim = {text_literal(self.delimiter)}, quote = '\"', escape = '\"', strict_mode = true, "
            "compression = 'none', hive_partitioning = false)"
        )

    def plain_rows(self) -> int | None:
        return self.files.plain_rows

    def check_quotes(self) -> None:
        if self.files.plain_rows is None:
            self.files.check_quotes(self.delimiter, self.unreadable)

    def text(self, index: int) -> str:
        return f"COALESCE(c{index}, '')"

    def hashed(self, index: int) -> str:
        return self.text(index)

    def typed(self, index: int, demand: ColumnType) -> str:
        return DUCKDB[demand].format(text=f"({_known_text(self, index)})")


def _csv(engine: _Engine, source: DataSource) -> _Csv:
    names = csv_header(engine.files, source.delimiter, debug=engine.debug)
    columns = tuple(Column(name, "text", "untyped", identifying=True) for name in names)
    return _Csv(columns, engine.files, source.delimiter, source.null_values)


_INTEGERS = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"})
_INTEGERS_OF_64_BITS = _INTEGERS - {"UBIGINT"}
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(_INTEGERS, "number"),
    "FLOAT": "float",
    "DOUBLE": "float",
    "VARCHAR": "text",
    "DATE": "date",
    "BOOLEAN": "boolean",
}


@dataclass(frozen=True)
class _Typed:
    """A relation whose columns have declared types, which the predicates must match."""

    columns: tuple[Column, ...]
    origin: str
    unreadable: str
    last_statements: tuple[str, ...] = ()
    null_values: tuple[str, ...] = ()  # its own NULLs say what is unknown

    @property
    def sql(self) -> str:
        columns = ", ".join(f"c{index}" for index in range(len(self.columns)))
        return f"{self.origin} AS source({columns})"

    def plain_rows(self) -> int | None:
        return None

    def check_quotes(self) -> None:
        """Typed values have no quotes."""

    def text(self, index: int) -> str:
        # A column may declare a collation that ignores case or accents; a predicate compares texts exactly.
        return f'(CAST(c{index} AS VARCHAR) COLLATE "C")'

    def hashed(self, index: int) -> str:
        return f"CAST(c{index} AS BIGINT)" if self.columns[index].declared in _INTEGERS_OF_64_BITS else self.text(index)

    def typed(self, index: int, demand: ColumnType) -> str:
        kind = self.columns[index].kind
        if kind == "float":  # DuckDB orders NaN above every number
            return f"CASE WHEN isnan(c{index}) THEN NULL ELSE CAST(c{index} AS DOUBLE) END"
        if demand == "number":  # DECIMAL(38, 18) holds every constant, so no comparison can overflow
            return f"TRY_CAST(c{index} AS DECIMAL(38, 18))"
        return self.text(index) if kind == "text" else f"c{index}"


def _typed_column(name: str, declared: str) -> Column:
    if fits_decimal(declared):
        kind: Kind = "number"
    elif declared.startswith("ENUM("):
        kind = "text"
    else:
        kind = _KINDS.get(declared, "other")
    return Column(name, declared, kind, identifying=declared in _INTEGERS | {"VARCHAR", "UUID"})


def _parquet(engine: _Engine) -> _Typed:
    columns = engine.files.common([_parquet_columns(engine, path) for path in engine.files.paths])
    origin = f"read_parquet({_file_names(engine.files.paths)}, hive_partitioning = false)"
    return _Typed(columns, origin, _UNREADABLE_PARQUET)


def _parquet_columns(engine: _Engine, path: Path) -> tuple[Column, ...]:
    """Read the names as the file spells them, and the types as the engine spells them."""
    file = _file_names([path])
    schema = engine.run(f"SELECT name, COALESCE(num_children, 0) FROM parquet_schema({file})", _UNREADABLE_PARQUET)
    names: list[str] = []
    inside = 0  # number of schema entries still to come in the current top-level column
    for name, children in schema[1:]:
        if inside == 0:
            names.append(name)
            inside = 1
        inside += children - 1
    described = engine.run(
        f"DESCRIBE SELECT * FROM read_parquet({file}, hive_partitioning = false)", _UNREADABLE_PARQUET
    )
    if len(described) != len(names):
        raise engine.files.refusal(_UNREADABLE_PARQUET)
    return tuple(_typed_column(name, row[1]) for name, row in zip(names, described, strict=True))


def _attached_table(engine: _Engine, source: DataSource) -> _Typed:
    """Attach a DuckDB file read-only and find its table.

    The file is never the current database. Otherwise its definitions, especially macros, would replace the engine's
    own operators.
    """
    files = engine.files
    if source.table is None:
        raise files.refusal('a DuckDB file holds many tables: name one, as in table = "survey.persons"')
    if len(files.paths) > 1:
        raise files.refusal("of a DuckDB file only one can be read")
    (path,) = files.paths
    if path.with_name(path.name + ".wal").exists():
        raise files.refusal("it has changes that are not yet written into it: close the program that made them")
    engine.run(f"ATTACH {text_literal(str(path))} AS source (TYPE duckdb, READ_ONLY)", _UNREADABLE_DATABASE)
    found = engine.run(
        "SELECT schema_name, table_name, sql FROM duckdb_tables() WHERE database_name = 'source' AND NOT internal "
        f"AND {text_literal(source.table)} IN (concat(schema_name, '.', table_name), "
        "CASE schema_name WHEN 'main' THEN table_name END)",
        _UNREADABLE_DATABASE,
    )
    if len(found) != 1:
        count = "no table" if not found else "more than one table"
        raise files.refusal(
            f"it has {count} {quoted(source.table)}; a view is no table, and a name may need its schema"
        )
    ((schema, table, definition),) = found
    if "GENERATED ALWAYS AS" in definition.upper():
        raise files.refusal(
            f"the table {quoted(source.table)} has generated columns: release from a copy of its values"
        )
    origin = f"source.{identifier(schema)}.{identifier(table)}"
    described = engine.run(f"DESCRIBE {origin}", _UNREADABLE_DATABASE)
    columns = tuple(_typed_column(row[0], row[1]) for row in described)
    return _Typed(columns, origin, _UNREADABLE_DATABASE, ("DETACH source",))
