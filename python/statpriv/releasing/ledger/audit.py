"""What a ledger's file must be before its tables are read, and the facts in them that must agree.

The header and the schema are compared with what this program writes, so SQLite never runs a view, a trigger or an
expression of somebody else. Then SQLite checks its own pages, because a search in a damaged tree may miss a row that a
scan finds. The codes of `chain.py` authenticate every value. The facts are checked besides them: they need no key, and
they hold before each commit, so that no defect of this program is sealed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from statpriv.errors import LedgerError, StatprivError
from statpriv.releasing.ledger.books import FORMAT, SCHEMA, Books, DataSet
from statpriv.releasing.ledger.chain import CREATED, DESTROYED, PUBLISHED, RELEASED, changes
from statpriv.releasing.ledger.files import DamageError

__all__ = ["check_facts", "check_file", "is_empty"]

_HEADER = (
    (slice(16), b"SQLite format 3\0"),
    (slice(16, 20), bytes.fromhex("1000 01 01")),  # pages of 4096 bytes, and a rollback journal
    (slice(21, 24), bytes.fromhex("40 20 20")),  # constants; the byte before them depends on the system's SQLite
    (slice(44, 60), bytes.fromhex("00000004 00000000 00000000 00000001")),  # schema, cache, no vacuum, UTF-8
    (slice(64, 92), bytes(28)),  # no incremental vacuum, no application, nothing reserved
)
"""The bytes of a database file's header that no transaction changes (https://sqlite.org/fileformat.html)."""

_CREATE = "CREATE TABLE "
_EXPECTED = frozenset(
    ("table", sql.removeprefix(_CREATE).split()[0], sql.removeprefix(_CREATE).split()[0], sql)
    for sql in SCHEMA
    if sql.startswith(_CREATE)
)
_TYPES: dict[str, tuple[type, ...]] = {
    "data_set": (int, int, int, bytes),
    "cohort": (int, int, int),
    "content": (int, int, bytes, bytes, bytes),
    "release": (int, str, int, int, str, str, str, str, str),
    "history": (int, str, bytes),
    "seal": (str, bytes),
}


def is_empty(connection: sqlite3.Connection) -> bool:
    """Whether a database holds nothing yet."""
    return not _schema(connection) and connection.execute("PRAGMA user_version").fetchone() == (0,)


def check_file(connection: sqlite3.Connection, path: Path) -> None:
    """Check the header, the format, the schema and the pages of a ledger's file, in this order.

    Raises
    ------
    DamageError
        If one of them is not as this program writes it.
    LedgerError
        If another version wrote the file.
    """
    with path.open("rb") as file:
        header = file.read(100)
    if any(header[place] != expected for place, expected in _HEADER):
        raise DamageError("the header of ledger.sqlite3 is not as it was written")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != FORMAT:
        raise LedgerError(f"registry {path.parent}: {_other_version(version)}")
    if _schema(connection) != _EXPECTED:
        raise DamageError("ledger.sqlite3 has other tables, views, triggers or indices than it was given")
    for (found,) in connection.execute("PRAGMA integrity_check(1)"):
        if found != "ok":
            raise DamageError("the pages of ledger.sqlite3 contradict each other")


def _schema(connection: sqlite3.Connection) -> frozenset[tuple[object, ...]]:
    return frozenset(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall())


def _other_version(version: int) -> str:
    edited = "if none did, the ledger is damaged or was edited: restore the whole registry from its latest backup"
    if version > FORMAT:
        return (
            f"a newer statpriv wrote this ledger (format {version}, and this one writes {FORMAT}): use that; {edited}"
        )
    return (
        f"an earlier statpriv wrote this ledger (format {version}, and this one writes {FORMAT}), in a form to which "
        "this one can add nothing, because rows have other tokens now. Release the rest of its tables with the "
        "version that wrote it; keep the whole registry as the record of what was released; and use another registry "
        f"(--registry) for tables that it never saw. Nothing was changed; {edited}"
    )


# --- facts


def check_facts(books: Books) -> tuple[DataSet, ...]:
    """Check that everything which the ledger says twice is said alike; all data sets.

    Raises
    ------
    DamageError
        If two facts contradict each other, or a value is not of its kind.
    """
    for table, types in _TYPES.items():
        for row in books.connection.execute(f"SELECT * FROM {table}"):  # noqa: S608  (a key of _TYPES)
            _require(tuple(map(type, row)) == types, f"a value of table {table} has another type")
    try:
        data_sets = tuple(books.data_sets())
        contradiction = next(_contradictions(books, data_sets), None)
    except (StatprivError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        raise DamageError("a release or an entry of the history cannot be read") from None
    _require(contradiction is None, contradiction or "")
    return data_sets


def _contradictions(books: Books, data_sets: tuple[DataSet, ...]) -> Iterator[str]:
    if [data_set.number for data_set in data_sets] != list(range(1, len(data_sets) + 1)):
        yield "data sets are not numbered one after the other"
    for data_set in data_sets:
        yield from _of_data_set(books, data_set)
    every = {str(data_set.number) for data_set in data_sets}
    for table in ("token", "cohort", "content", "release"):
        found = books.connection.execute(f"SELECT DISTINCT data_set FROM {table}")  # noqa: S608  (one of four)
        if not {str(number) for (number,) in found} <= every:
            yield f"table {table} names a data set that is not there"
    yield from _of_releases(books, data_sets)


def _of_data_set(books: Books, data_set: DataSet) -> Iterator[str]:
    which = f"data set {data_set.number}"
    joined = [cohort.joined_after for cohort in data_set.cohorts]
    if joined[:1] != [0] or sorted(set(joined)) != joined or joined[-1] > len(data_set.releases):
        yield f"cohorts of {which} did not join one after the other"
    if any(cohort.rows < 1 for cohort in data_set.cohorts):
        yield f"a cohort of {which} has no rows"
    if books.bits_spent(data_set) != data_set.rows_spent:
        yield f"the rows that are marked as used in {which} are not as many as its releases used"
    if books.number_of_tokens(data_set.number) != (data_set.rows if data_set.has_ids else 0):
        yield f"{which} has not one token a row"
    if not books.has_content(data_set.number):
        yield f"{which} has no content"


def _of_releases(books: Books, data_sets: tuple[DataSet, ...]) -> Iterator[str]:
    written = changes(books.connection)
    if [change["kind"] for change in written].index(CREATED) != 0:
        yield "the history does not begin with the creation"
    if (written[-1]["kind"] == DESTROYED) != (books.identity()[1] is not None):
        yield "the history does not say whether the secret was destroyed"
    releases = sorted((r.number, d.number, r.release_id, r.rows) for d in data_sets for r in d.releases)
    said = [
        (change["release"], change["data_set"], change["release_id"], change["rows_spent"])
        for change in written
        if change["kind"] == RELEASED
    ]
    if releases != said or [number for number, *_ in said] != list(range(1, len(said) + 1)):
        yield "the history and the releases contradict each other"
    said_of = [(change["release"], change["kind"]) for change in written if change["kind"] in {RELEASED, PUBLISHED}]
    places = {said: place for place, said in enumerate(said_of)}
    if len(places) < len(said_of) or any(
        kind == PUBLISHED and places.get((release, RELEASED), place) >= place
        for (release, kind), place in places.items()
    ):
        yield "the history says of a report twice that it was written, or before its release"
    rows = books.connection.execute("SELECT number, rows_spent FROM release ORDER BY number").fetchall()
    if rows != [(number, spent) for number, _, _, spent in releases]:
        yield "a release did not use the rows of its parts"
    for data_set in data_sets:
        for release in data_set.releases:
            date.fromisoformat(release.day)  # a ValueError says that it is none


def _require(holds: bool, otherwise: str) -> None:  # noqa: FBT001  (an assertion)
    if not holds:
        raise DamageError(otherwise)
