"""A table of a PostgreSQL database, read in one snapshot and one transaction that writes nothing.

Everything is read in one REPEATABLE READ transaction, so n, the ids, the content and the counts belong to the same
moment. PostgreSQL rows have no order; where one is needed, it is the binary order of the ids.

The server evaluates every question for every row, and the answers are counted here as they come by, by the part of
each row. So the server makes no temporary table, and no query text contains an id, a label or a key.
"""

# ruff: noqa: S608 - every piece of SQL here is quoted by text_literal or identifier, or was rendered by Predicate.sql
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from statpriv._native import RowTokens
from statpriv.errors import MissingExtraError, TableError
from statpriv.releasing.classification import Classification
from statpriv.releasing.plan import DataSource
from statpriv.releasing.predicate import ColumnType, Predicate
from statpriv.releasing.sql_text import identifier, quoted, text_literal
from statpriv.releasing.tables.columns import Column, Condition, Kind, check_columns, first_that_holds, position_of
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
    import psycopg
except ImportError as missing:
    raise MissingExtraError("a table of PostgreSQL needs psycopg: pip install 'statpriv[postgres]'") from missing

__all__ = ["open_table"]

_Result = TypeVar("_Result")

# Names resolve to the objects that PostgreSQL ships, texts of values do not depend on anybody's settings, and a policy
# that would hide rows is an error.
_SETTINGS = {
    "search_path": "pg_catalog, pg_temp",
    "row_security": "off",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "datestyle": "'ISO, YMD'",
    "intervalstyle": "iso_8601",
    "timezone": "'UTC'",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "lc_monetary": "'C'",
    "xmlbinary": "base64",
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "work_mem": "'256MB'",
}
_UNREACHABLE = (
    "the database cannot be reached with the address of the plan and PGPASSWORD, PGPASSFILE or the service; "
    "--debug shows its message"
)
_UNREADABLE = "the database failed while the table was read; --debug shows its message, which may quote data"
_NOT_LOCKED = "the table cannot be read: the role needs SELECT on it; --debug shows the database's message"
_NOT_COUNTED = "the database failed while it counted; --debug shows its message, which may quote data"
_CHANGED = "it changed while it was being read"

_OTHER_RELATIONS = {
    "v": "is a view",
    "m": "is a materialised view",
    "f": "is a foreign table",
    "p": "is a partitioned table",
}


@contextmanager
def open_table(
    source: DataSource,
    conditions: Sequence[Condition],
    *,
    debug: bool = False,
    on_query: QueryListener | None = None,
) -> Iterator[Table]:
    """Open a table of a database; `statpriv.releasing.tables.open_table` documents the arguments."""
    refusal = Refusals(source.label)
    session = _connected(source, refusal, debug, on_query)
    try:
        relation = _relation(session, source)
        check_columns(relation.columns, source, conditions)
        yield _Table(session, relation, source)
    finally:
        session.end()


@dataclass(frozen=True)
class _Table:
    _session: _Session
    _relation: _Relation
    _source: DataSource

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(column.name for column in self._relation.columns)

    def row_count(self) -> int:
        n = int(self._session.run(f"SELECT count(*) FROM {self._relation.sql}", _UNREADABLE)[0][0])
        if n == 0:
            raise self._session.refusal("it has no rows")
        return n

    def groups(self) -> Groups:
        if self._source.group is None:
            raise self._session.refusal("the plan names no column of groups: [data] group")
        return groups_of(
            list(self._texts(self._source.group, in_order=True)), self._source.group, self._session.refusal
        )

    def row_tokens(self, key: bytes, *, with_rows: bool = False) -> RowTokens:
        if self._source.unit is not None:
            check_units(self._texts(self._source.unit), self._source, self._session.refusal)
        column = self._relation.id_name
        texts = self._texts(column, in_order=with_rows)
        return tokens_of(key, texts, column, self._session.refusal, with_rows=with_rows)

    def check_unique(self, column: str) -> None:
        check_distinct(self._texts(column), column, self._session.refusal)

    def _texts(self, column: str, *, in_order: bool = False) -> Iterator[str | None]:
        text = self._relation.text(position_of(self._relation.columns, column))
        return (text for (text,) in self._rows(text, in_order=in_order))

    def _rows(self, selected: str, *, in_order: bool) -> Iterator[tuple[Any, ...]]:
        """What is selected of each row; in the order of the ids only if that matters, because sorting takes long."""
        order = f" ORDER BY {self._relation.id_text}" if in_order else ""
        return self._session.stream(f"SELECT {selected} FROM {self._relation.sql}{order}", _UNREADABLE)

    def load(self, key: bytes, selected: NDArray[np.bool_] | None = None) -> _Content:
        cells = ", ".join(map(self._relation.digested, range(len(self.columns))))
        digest = f"encode(sha256(convert_to(array_to_string(ARRAY[{cells}], ''), 'UTF8')), 'hex')"
        rows = self._rows(digest, in_order=selected is not None)
        whole, some, n = fingerprints_of((digest_ for (digest_,) in rows), key, selected)
        return _Content(whole, some, n, self._session, self._relation)


@dataclass(frozen=True)
class _Content(ContentInPassing):
    """The content of the snapshot."""

    _session: _Session = field(repr=False)
    _relation: _Relation = field(repr=False)

    @property
    def changed(self) -> TableError:
        return self._session.refusal(_CHANGED)

    def answers(self, questions: Sequence[Question], *, in_order: bool) -> Iterator[tuple[Any, ...]]:
        answers = ", ".join(map(self._cell, questions))
        sql = f"SELECT {self._relation.id_text} AS id, {answers} FROM {self._relation.sql}"
        return self._streamed(sql, in_order=in_order)

    def outcomes(self, classification: Classification, *, in_order: bool) -> Iterator[tuple[Any, ...]]:
        relation = f"(SELECT *, {self._relation.id_text} AS id FROM {self._relation.sql}) AS own"
        cells = classification.sql(relation, self._dimensions(classification), more="id")
        return self._streamed(f"SELECT id, cell FROM ({cells}) AS cells", in_order=in_order)

    def counted_outcomes(self, classification: Classification) -> Iterable[tuple[Any, ...]]:
        """Too many counts for columns, so that a plan log tells how many cells have any rows."""
        cells = classification.sql(self._relation.sql, self._dimensions(classification))
        return self._session.run(f"SELECT cell, count(*) FROM ({cells}) AS cells GROUP BY cell", _NOT_COUNTED)

    def _streamed(self, sql: str, *, in_order: bool) -> Iterator[tuple[Any, ...]]:
        return self._session.stream(f"{sql} ORDER BY id" if in_order else sql, _NOT_COUNTED)

    def _dimensions(self, classification: Classification) -> list[str]:
        return [self._relation.typed(each.column, each.demand) for each in classification.dimensions]

    def _cell(self, question: Question) -> str:
        return first_that_holds([self._condition(predicate) for predicate in question])

    def _condition(self, predicate: Predicate) -> str:
        types = predicate.column_types
        return predicate.sql(lambda name: self._relation.typed(name, types[name]))


# --- the session ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Session:
    """One connection with one transaction; its errors never leave this class."""

    connection: psycopg.Connection[Any]
    refusal: Refusals
    debug: bool
    on_query: QueryListener | None

    def run(self, sql: str, sentence: str) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows; the sentence is the message of a failure."""

        def fetched() -> list[tuple[Any, ...]]:
            cursor = self.connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []

        self._told(sql)
        return self._guarded(fetched, sentence)

    def stream(self, sql: str, sentence: str) -> Iterator[tuple[Any, ...]]:
        """Run a query and yield its rows as they arrive, so that the driver never holds all of them."""
        self._told(sql)
        with self.connection.cursor(name="statpriv_rows") as cursor:
            self._guarded(lambda: cursor.execute(sql.encode()), sentence)
            while rows := self._guarded(lambda: cursor.fetchmany(20_000), sentence):
                yield from rows

    def end(self) -> None:
        """Roll back and disconnect; the server does the same if the connection is broken."""
        with suppress(psycopg.Error):
            self.connection.execute("ROLLBACK")
        self.connection.close()

    def _told(self, sql: str) -> None:
        if self.on_query is not None:
            self.on_query(sql)

    def _guarded(self, act: Callable[[], _Result], sentence: str) -> _Result:
        try:
            return act()
        except psycopg.Error as error:
            original = error
        # Raised outside the except block: inside it, Python would attach the original as the context.
        raise self.refusal(sentence) from (original if self.debug else None)


def _connected(source: DataSource, refusal: Refusals, debug: bool, on_query: QueryListener | None) -> _Session:  # noqa: FBT001
    try:
        connection: psycopg.Connection[Any] | None = psycopg.connect(
            source.database or "", autocommit=True, client_encoding="UTF8", prepare_threshold=None
        )
        original = None
    except psycopg.Error as error:
        connection, original = None, error
    if connection is None:
        raise refusal(_UNREACHABLE) from (original if debug else None)
    session = _Session(connection, refusal, debug, on_query)
    try:
        for name, value in _SETTINGS.items():
            session.run(f"SET {name} = {value}", _UNREADABLE)
        _check_encoding(session)
    except BaseException:
        session.end()
        raise
    return session


def _check_encoding(session: _Session) -> None:
    if session.run("SHOW server_encoding", _UNREADABLE) != [("UTF8",)]:
        raise session.refusal("the encoding of the database is not UTF8: texts would have other orders and lengths")


# --- the table --------------------------------------------------------------------------------

_KINDS: dict[str, Kind] = {
    "int2": "number",
    "int4": "number",
    "int8": "number",
    "numeric": "number",
    "float4": "float",
    "float8": "float",
    "text": "text",
    "varchar": "text",
    "date": "date",
    "bool": "boolean",
}
_IDENTIFYING = frozenset({"int2", "int4", "int8", "text", "varchar", "uuid"})


@dataclass(frozen=True)
class _Relation:
    """A base table as a relation with the columns c0, c1, …."""

    columns: tuple[Column, ...]
    types: tuple[str, ...]
    schema: str
    name: str
    id_name: str

    @property
    def sql(self) -> str:
        columns = ", ".join(f"c{index}" for index in range(len(self.columns)))
        return f"ONLY {identifier(self.schema)}.{identifier(self.name)} AS source({columns})"

    @property
    def id_text(self) -> str:
        return f'{self.text(position_of(self.columns, self.id_name))} COLLATE "C"'

    def text(self, index: int) -> str:
        """Return the SQL for the text of an id, a unit or a group."""
        return f"CAST(c{index} AS text)"

    def digested(self, index: int) -> str:
        """Return the SQL for the text of any cell with its length; ``concat`` runs no user-defined cast."""
        text = f"concat(c{index})"
        return f"CASE num_nulls(c{index}) WHEN 0 THEN concat('V', octet_length({text}), ':', {text}) ELSE 'N' END"

    def typed(self, name: str, demand: ColumnType) -> str:
        """Return the SQL for the value that a predicate sees, defined on every cell."""
        index = position_of(self.columns, name)
        kind, type_ = self.columns[index].kind, self.types[index]
        if kind == "text":
            return f'(CAST(c{index} AS text) COLLATE "C")'
        if kind == "float":  # PostgreSQL orders NaN above every number
            return f"NULLIF(CAST(c{index} AS float8), 'NaN')"
        if type_ == "numeric":
            return f"NULLIF(c{index}, 'NaN')"
        if demand == "any":  # IS NULL of a composite value tests its fields instead
            return f"NULLIF(num_nulls(c{index}), 1)"
        return f"c{index}"


def _relation(session: _Session, source: DataSource) -> _Relation:
    """Begin the snapshot and lock the table, so that nobody can alter it afterwards."""
    found = _found(session, source.table or "")
    session.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", _UNREADABLE)
    _, schema, name = found
    session.run(f"LOCK TABLE ONLY {identifier(schema)}.{identifier(name)} IN ACCESS SHARE MODE", _NOT_LOCKED)
    if _found(session, source.table or "") != found:
        raise session.refusal(_CHANGED)
    described = session.run(
        "SELECT attname, format_type(atttypid, atttypmod), attgenerated <> '', "
        "CASE typnamespace WHEN 'pg_catalog'::regnamespace THEN typname ELSE '' END "
        "FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid "
        f"WHERE attrelid = {found[0]} AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
        _UNREADABLE,
    )
    if any(generated for _, _, generated, _ in described):
        raise session.refusal("the table has generated columns: release from a copy of its values")
    columns = tuple(
        Column(column, declared, _KINDS.get(type_, "other"), identifying=type_ in _IDENTIFYING)
        for column, declared, _, type_ in described
    )
    return _Relation(columns, tuple(type_ for *_, type_ in described), schema, name, source.row_id or "")


def _found(session: _Session, table: str) -> tuple[int, str, str]:
    found = session.run(
        "SELECT pg_class.oid::int8, nspname, relname, relkind::text, relhassubclass "
        "FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace "
        f"WHERE concat(nspname, '.', relname) = {text_literal(table)} AND relkind IN ('r', 'p', 'v', 'm', 'f')",
        _UNREADABLE,
    )
    if len(found) != 1:
        count = "no table" if not found else "more than one table"
        raise session.refusal(f'the database has {count} {quoted(table)}; write table = "schema.name"')
    ((oid, schema, name, kind, has_children),) = found
    if kind in _OTHER_RELATIONS or has_children:
        what = _OTHER_RELATIONS.get(kind, "has tables that inherit from it")
        raise session.refusal(
            f"{quoted(table)} {what}, and only plain tables are read: release from a copy of its rows"
        )
    return int(oid), schema, name
