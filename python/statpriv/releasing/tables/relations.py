"""What DuckDB reads as a relation with the columns c0, c1, …: one form for each format of a source."""

# ruff: noqa: S608 - every piece of SQL here is quoted by text_literal or identifier
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from statpriv.releasing.plan import DataSource, TableInMemory
from statpriv.releasing.predicate import ColumnType
from statpriv.releasing.sql_text import identifier, quoted, text_literal
from statpriv.releasing.tables.columns import Column, Kind, fits_decimal
from statpriv.releasing.tables.csv_cells import DUCKDB, DUCKDB_MACROS
from statpriv.releasing.tables.engine import Engine
from statpriv.releasing.tables.files import CSV_SUFFIXES, PARQUET_SUFFIXES, Files, csv_header
from statpriv.releasing.tables.labelled import LABELLED_SUFFIXES, labelled_table

__all__ = ["INTEGERS_OF_64_BITS", "Relation", "known_text", "relation_of"]

_DATABASE_SUFFIXES = frozenset({".duckdb", ".db"})
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
_UNREADABLE_TABLE = (
    "its columns cannot be read as Arrow hands them over: each needs one type for all its values, and it must be a "
    "table and no stream that is read once; debug shows the message, which may quote data"
)


class Relation(Protocol):
    """A source as a relation with the columns c0, c1, …."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, as the source declares them."""

    @property
    def null_values(self) -> tuple[str, ...]:
        """Texts that mean "unknown"."""

    @property
    def sql(self) -> str:
        """The relation itself."""

    @property
    def unreadable(self) -> str:
        """The sentence for a failure to read it."""

    @property
    def definitions(self) -> tuple[str, ...]:
        """Statements that predicates need."""

    @property
    def detachment(self) -> tuple[str, ...]:
        """Statements that take the source away from the engine, once its content is copied."""

    def plain_rows(self) -> int | None:
        """The number of rows, if that needs no engine."""

    def check_quotes(self) -> None:
        """Refuse quotes that could be read in several ways."""

    def text(self, index: int, /) -> str:
        """SQL for the text of a cell, which is NULL if the source has no value."""

    def hashed(self, index: int, /) -> str:
        """SQL for the hashed form of a cell: its text, or a number that stands for its digits."""

    def typed(self, index: int, demand: ColumnType, /) -> str:
        """SQL for the value that a predicate sees, defined on every cell."""


def known_text(relation: Relation, index: int) -> str:
    """Return the SQL for the text of a cell, which is NULL if the plan lists the text as "unknown"."""
    text = relation.text(index)
    if not relation.null_values:
        return text
    return f"CASE WHEN {text} IN ({', '.join(map(text_literal, relation.null_values))}) THEN NULL ELSE {text} END"


def relation_of(engine: Engine, source: DataSource) -> Relation:
    """The relation of a source, by the format of its files.

    Raises
    ------
    TableError
        If its files have no format that is read here, or cannot be read.
    """
    if source.in_memory is not None:
        return _table_in_memory(engine, source.in_memory)
    suffix = engine.files.suffix
    if suffix in _DATABASE_SUFFIXES:
        return _attached_table(engine, source)
    if source.table is not None:
        raise engine.files.refusal(f"table = {quoted(source.table)}: a file that ends in {quoted(suffix)} is one table")
    if suffix in CSV_SUFFIXES:
        return _csv(engine, source)
    if suffix in PARQUET_SUFFIXES:
        return _parquet(engine)
    if suffix in LABELLED_SUFFIXES:
        if len(engine.files.paths) > 1:
            raise engine.files.refusal("of files of SPSS, Stata and SAS only one can be read")
        (path,) = engine.files.paths
        return _table_in_memory(engine, labelled_table(path, engine.files.refusal, debug=engine.debug))
    raise engine.files.refusal(
        f"files that end in {quoted(suffix)} cannot be read yet; export the table as .csv or .parquet"
    )


def _file_names(paths: Sequence[Path]) -> str:
    """Quote paths for the engine; glob characters are escaped because it treats every file name as a pattern."""
    return "[" + ", ".join(text_literal(re.sub(r"[*?\[]", r"[\g<0>]", str(path))) for path in paths) + "]"


@dataclass(frozen=True)
class _Csv:
    """CSV files: every cell is text, and no type is inferred from the cells."""

    columns: tuple[Column, ...]
    files: Files
    delimiter: str
    null_values: tuple[str, ...]
    unreadable = _UNREADABLE_CSV
    definitions = DUCKDB_MACROS
    detachment: tuple[str, ...] = ()

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
        return DUCKDB[demand].format(text=f"({known_text(self, index)})")


def _csv(engine: Engine, source: DataSource) -> _Csv:
    names = csv_header(engine.files, source.delimiter, debug=engine.debug)
    columns = tuple(Column(name, "text", "untyped", identifying=True) for name in names)
    return _Csv(columns, engine.files, source.delimiter, source.null_values)


_INTEGERS = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"})
INTEGERS_OF_64_BITS = _INTEGERS - {"UBIGINT"}
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
    detachment: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()
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
        return f"CAST(c{index} AS BIGINT)" if self.columns[index].declared in INTEGERS_OF_64_BITS else self.text(index)

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


def _parquet(engine: Engine) -> _Typed:
    columns = engine.files.common([_parquet_columns(engine, path) for path in engine.files.paths])
    origin = f"read_parquet({_file_names(engine.files.paths)}, hive_partitioning = false)"
    return _Typed(columns, origin, _UNREADABLE_PARQUET)


def _parquet_columns(engine: Engine, path: Path) -> tuple[Column, ...]:
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


@dataclass(frozen=True)
class _AsArrow:
    """A table of which the engine sees the interface of Arrow alone, and no way of its own to read such objects."""

    table: TableInMemory

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def _table_in_memory(engine: Engine, table: TableInMemory) -> _Typed:
    """The engine asks the table for its columns anew for every statement before the content is copied."""
    try:
        table.__arrow_c_stream__()
    except (TypeError, ValueError) as error:
        original: Exception | None = error
    else:
        original = None
    if original is not None:
        raise engine.files.refusal(_UNREADABLE_TABLE) from (original if engine.debug else None)
    engine.connection.register("given", _AsArrow(table))
    described = engine.run("DESCRIBE given", _UNREADABLE_TABLE)
    return _Typed(
        tuple(_typed_column(row[0], row[1]) for row in described), "given", _UNREADABLE_TABLE, ("DROP VIEW given",)
    )


def _attached_table(engine: Engine, source: DataSource) -> _Typed:
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
