"""Tables read by DuckDB inside this process: files of CSV, Parquet and DuckDB itself, and tables in memory.

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

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from statpriv._native import RowTokens, stream_fingerprints, stream_tally
from statpriv.errors import MissingExtraError
from statpriv.releasing.classification import Classification, Dimension
from statpriv.releasing.plan import DataSource
from statpriv.releasing.predicate import ColumnType, Predicate
from statpriv.releasing.tables.columns import Condition, check_columns, first_that_holds, position_of
from statpriv.releasing.tables.engine import Engine
from statpriv.releasing.tables.files import Files, open_files
from statpriv.releasing.tables.identity import check_units, groups_of, identifying
from statpriv.releasing.tables.protocol import (
    AskedParts,
    ContentFingerprint,
    Groups,
    Labels,
    QueryListener,
    Question,
    Refusals,
    RowListener,
    Table,
    counts_in_passes,
    counts_of_outcomes,
)
from statpriv.releasing.tables.relations import INTEGERS_OF_64_BITS, Relation, known_text, relation_of

try:
    import duckdb
except ImportError as missing:
    raise MissingExtraError("reading a table needs DuckDB: pip install 'statpriv[release]'") from missing

__all__ = ["open_table"]

_Fingerprints: TypeAlias = tuple[int, bytes, bytes]

_QUESTIONS_AT_ONCE = 16

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
    files = open_files(source) if source.in_memory is None else Files((), Refusals(source.label), ())
    connection = duckdb.connect(":memory:", config=_LOCKED_FROM_THE_START)
    try:
        engine = Engine(connection, files, debug, on_query, on_rows)
        relation = relation_of(engine, source)
        check_columns(relation.columns, source, conditions)
        yield _Table(engine, relation, source)
    finally:
        connection.close()


@dataclass(frozen=True)
class _Table:
    _engine: Engine
    _relation: Relation
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
        known = known_text(self._relation, position_of(self._relation.columns, column))
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
    engine: Engine, relation: Relation, key: bytes, selected: NDArray[np.bool_] | None
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
    _engine: Engine = field(repr=False)
    _relation: Relation = field(repr=False)

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
        whole = dimension.is_whole and self._relation.columns[index].declared in INTEGERS_OF_64_BITS
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
