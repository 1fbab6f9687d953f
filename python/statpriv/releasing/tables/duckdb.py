"""Tables read by DuckDB inside this process: files of CSV, Parquet and DuckDB itself, and tables in memory.

Inside the engine the columns of the source are called c0, c1, …, because the engine folds the case of names and
silently renames repeated ones. Ids, cells and answers leave the engine as Arrow batches and are hashed and counted
natively, without a Python object for each row. The partition never enters the engine, which answers every question for
every row.

``Table.load`` copies a table of few cells into memory, fingerprints the copy and then takes the source away. A larger
table is not copied: it is fingerprinted as it streams by, and again in each pass that counts, so the memory does not
grow with the content. If the fingerprints differ, the release ends, and its rows stay spent. In both cases the engine
is locked before a predicate is evaluated, so that none can reach anything but the table.

Nothing is written to disk. The copy may use 70 % of the machine's memory. A table that needs more is refused before any
row is spent. Counting may use another 10 % for its batches of numbers.

Cells of CSV files are read by the grammar of :mod:`statpriv.releasing.tables.csv_cells`, and a cell that the plan lists
in ``null_values`` is unknown (NULL). A quote stands only around a whole cell, or doubled inside such a cell: a file
with a quote elsewhere is refused, because engines read it in different ways.
"""

# ruff: noqa: S608 - every piece of SQL here is quoted by text_literal or identifier, or was rendered by Predicate.sql
from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from statpriv import budget
from statpriv._native import Partition, RowIdsError, RowTokens, stream_fingerprints, stream_tally
from statpriv.errors import MissingExtraError
from statpriv.releasing.classification import Classification, Dimension
from statpriv.releasing.plan import DataSource
from statpriv.releasing.predicate import ColumnType, Predicate
from statpriv.releasing.sql_text import text_literal
from statpriv.releasing.tables.columns import Condition, check_columns, first_that_holds, position_of
from statpriv.releasing.tables.engine import Engine
from statpriv.releasing.tables.files import Files, open_files
from statpriv.releasing.tables.identity import check_units, groups_of, identifying
from statpriv.releasing.tables.protocol import (
    AskedParts,
    ContentFingerprint,
    Groups,
    QueryListener,
    Question,
    Refusals,
    RowListener,
    Table,
    counts_in_passes,
    counts_of_outcomes,
    size_of,
)
from statpriv.releasing.tables.relations import INTEGERS_OF_64_BITS, Relation, known_text, relation_of

try:
    import duckdb
except ImportError as missing:
    raise MissingExtraError("reading a table needs DuckDB: pip install 'statpriv[release]'") from missing

__all__ = ["open_table"]

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
    "SET enable_external_access = false",  # what `allowed_paths` lists stays in reach
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
        return self._rows

    @cached_property
    def _rows(self) -> int:
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

    def row_tokens(self, key: bytes, *, with_rows: bool = False) -> RowTokens | None:
        if self._source.units is not None:
            check_units(self._texts(self._source.unit or ""), self._source, self._engine.files.refusal)
        elif self._source.unit is not None:
            self.check_unique(self._source.unit)
        if self._source.row_id is None:
            return None
        return self._tokens(key, self._source.row_id, "row_id", "rows", with_rows=with_rows)

    def check_unique(self, column: str) -> None:
        self._tokens(secrets.token_bytes(32), column, "unit", "persons")

    def _tokens(self, key: bytes, column: str, named: str, rows: str, *, with_rows: bool = False) -> RowTokens:
        def read() -> RowTokens:
            return self._engine.streamed(
                f"SELECT {_id(self._relation, column)} AS text FROM {self._relation.sql}",
                self._relation.unreadable,
                lambda stream, on_rows: RowTokens.of_stream(key, stream, on_rows, with_rows=with_rows),
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

    def load(self, key: bytes, selected: NDArray[np.bool_] | None = None) -> _Content:
        unreadable = self._relation.unreadable
        is_copied = self._rows * len(self.columns) <= budget.MAX_COPIED_CELLS
        if is_copied:
            copied = ", ".join(f"c{index}" for index in range(len(self.columns)))
            self._engine.run(f"CREATE TABLE content AS SELECT {copied} FROM {self._relation.sql}", unreadable)
            self._engine.files.check_unchanged()
        self._relation.check_quotes()
        read = "content" if is_copied else self._relation.sql
        of_all, of_selected = self._engine.streamed(
            f"SELECT {', '.join(_texts(self._relation))} FROM {read}",
            unreadable,
            lambda stream, on_rows: stream_fingerprints(key, stream, on_rows, selected),
        )
        self._engine.files.check_unchanged()
        for statement in (*self._relation.definitions, *self._separation(is_copied=is_copied)):
            self._engine.run(statement, unreadable)
        rows, *fingerprint = of_all
        if self._relation.plain_rows() not in (None, rows):  # the guarantee was computed from plain_rows()
            raise self._engine.files.refusal("the engine reads more rows from it, or fewer, than it has lines")
        selection = None if of_selected is None else ContentFingerprint(*of_selected[1:])
        id_ = None if self._source.row_id is None else _id(self._relation, self._source.row_id)
        whole = ContentFingerprint(*fingerprint)
        return _Content(whole, selection, rows, self._engine, self._relation, read, id_, None if is_copied else key)

    def _separation(self, *, is_copied: bool) -> tuple[str, ...]:
        """Statements after which nothing can be reached but the table."""
        if is_copied:
            return (*self._relation.detachment, *_LOCKED_BEFORE_PREDICATES)
        paths = ", ".join(text_literal(str(path)) for path in self._engine.files.paths)
        return (f"SET allowed_paths = [{paths}]", *_LOCKED_BEFORE_PREDICATES)


def _id(relation: Relation, column: str) -> str:
    """SQL for what identifies a row."""
    index = position_of(relation.columns, column)
    return known_text(relation, index) if relation.null_values else relation.hashed(index)


def _texts(relation: Relation) -> list[str]:
    """SQL for the cells of a row, as they are fingerprinted."""
    return [relation.hashed(index) for index in range(len(relation.columns))]


@dataclass(frozen=True)
class _Content:
    """The content of a table inside a locked engine, from which nothing else can be reached."""

    fingerprint: ContentFingerprint
    fingerprint_of_selected: ContentFingerprint | None
    rows: int
    _engine: Engine = field(repr=False)
    _relation: Relation = field(repr=False)
    _read: str = field(repr=False)
    """The relation that is counted: the copy, or the source."""
    _id: str | None = field(repr=False)
    _key: bytes | None = field(repr=False)
    """The key under which every pass is fingerprinted again, unless the content was copied."""

    def count(self, partition: Partition, questions: Sequence[Question]) -> list[tuple[int, ...]]:
        if len(partition) != self.rows:
            raise self._engine.files.changed
        return counts_in_passes(
            partition, questions, lambda asked: self._tallied(partition, asked), self._engine.files.changed
        )

    def _tallied(self, partition: Partition, asked: Sequence[AskedParts]) -> Iterator[tuple[int, ...]]:
        """Evaluate questions on every row in the engine, and count the results by the parts outside it."""
        asked_of = {part: number for number, (_, numbers) in enumerate(asked) for part in numbers}
        width = 1 + max(len(question) for question, _ in asked)
        counts = self._streamed(
            partition, self._answers([question for question, _ in asked], partition), asked_of, width
        )
        return ((part, *cells) for part, cells in enumerate(counts.tolist(), start=1))

    def tabulate(self, partition: Partition, part: int, classification: Classification) -> list[int]:
        changed = self._engine.files.changed
        if len(partition) != self.rows:
            raise changed
        size = size_of(partition, part)
        if size == self.rows and self._key is None:
            cells = classification.sql(self._read, self._dimensions(classification))
            found = self._engine.run(f"SELECT cell, count(*) FROM ({cells}) GROUP BY cell", _NOT_COUNTED)
            return counts_of_outcomes(found, classification, size, changed)
        outcomes = self._outcomes(classification, partition)
        counts = self._streamed(partition, outcomes, {part: 0}, classification.number_of_outcomes)
        return counts_of_outcomes(enumerate(counts[part - 1].tolist()), classification, size, changed)

    def _streamed(self, partition: Partition, sql: str, asked_of: Mapping[int, int], width: int) -> NDArray[np.uint64]:
        """The counts of a pass by part, after it was checked that what was counted has the content's fingerprint."""
        parts = max(len(partition.sizes), *asked_of)
        questions = [asked_of.get(part) for part in range(1, parts + 1)]
        try:
            counts, found = self._engine.streamed(
                sql,
                _NOT_COUNTED,
                lambda stream, on_rows: stream_tally(stream, partition, questions, width, on_rows, self._key),
            )
        except RowIdsError:  # a row has no id now
            raise self._engine.files.changed from None
        if found is not None:
            _, ordered, unordered = found
            if unordered != self.fingerprint.unordered or not (partition.by_id or ordered == self.fingerprint.ordered):
                raise self._engine.files.changed
        return counts.reshape(parts, width)

    def _beside(self, partition: Partition) -> tuple[dict[str, str], dict[str, str]]:
        """Name and SQL of what a pass needs beside its answers: before them the id, after them the hashed cells."""
        ids = {"id": self._id} if partition.by_id and self._id is not None else {}
        texts = () if self._key is None else _texts(self._relation)
        return ids, {f"t{index}": text for index, text in enumerate(texts)}

    def _outcomes(self, classification: Classification, partition: Partition) -> str:
        """SQL for the outcome of each row."""
        ids, texts = self._beside(partition)
        is_joined = any(dimension.lookup is not None for dimension in classification.dimensions)
        # A join need not keep the order of the rows.
        order = {"position": "row_number() OVER ()"} if is_joined and not partition.by_id else {}
        beside = {**ids, **texts, **order}
        further = "".join(f", {sql} AS {name}" for name, sql in beside.items())
        relation = f"(SELECT *{further} FROM {self._read})"
        cells = classification.sql(relation, self._dimensions(classification), more=", ".join(beside))
        selected = ", ".join([*ids, "CAST(cell AS USMALLINT)", *texts])
        return f"SELECT {selected} FROM ({cells})" + "".join(f" ORDER BY {name}" for name in order)

    def _dimensions(self, classification: Classification) -> list[str]:
        return [self._value(dimension) for dimension in classification.dimensions]

    def _value(self, dimension: Dimension) -> str:
        """SQL for the value of a column: integers are compared with integers as they are, which is fastest."""
        index = position_of(self._relation.columns, dimension.column)
        whole = dimension.is_whole and self._relation.columns[index].declared in INTEGERS_OF_64_BITS
        return f"c{index}" if whole else self._typed(dimension.column, dimension.demand)

    def _answers(self, questions: Sequence[Question], partition: Partition) -> str:
        """SQL for each row and question: the index of the first predicate that holds, or their number if none does."""
        predicates = [predicate for question in questions for predicate in question]
        demands = {(name, demand) for predicate in predicates for name, demand in predicate.demands}
        typed = {self._name(*demanded): self._typed(*demanded) for demanded in sorted(demands)}
        answers = [
            f"CAST({first_that_holds([self._condition(predicate) for predicate in question])} AS USMALLINT)"
            for question in questions
        ]
        ids, texts = self._beside(partition)
        read = ", ".join(f"{sql} AS {name}" for name, sql in {**typed, **ids, **texts}.items())
        return f"SELECT {', '.join([*ids, *answers, *texts])} FROM (SELECT {read} FROM {self._read})"

    def _condition(self, predicate: Predicate) -> str:
        types = predicate.column_types
        return predicate.sql(lambda name: self._name(name, types[name]))

    def _typed(self, name: str, demand: ColumnType) -> str:
        return self._relation.typed(position_of(self._relation.columns, name), demand)

    def _name(self, name: str, demand: ColumnType) -> str:
        return f"c{position_of(self._relation.columns, name)}_{demand}"
