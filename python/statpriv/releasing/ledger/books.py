"""The database of the ledger: data sets, cohorts of their rows, digests of their contents, and past queries.

Each data set has one bitmap of spent rows, the union over all its releases. Of a plan, the ledger keeps only the
queries, both as the theory sees them and as the plan states them, and the digest of the plan file. These suffice to
compute δ again at any ε.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import numpy as np
from numpy.typing import NDArray

from statpriv.composition.cohorts import Cohort
from statpriv.model.codec import query_from, without_name
from statpriv.model.situation import Query
from statpriv.releasing.ledger.tokens import TOKEN
from statpriv.releasing.steps import StatedQuery

__all__ = ["FORMAT", "SCHEMA", "Books", "DataSet", "PastRelease", "today"]

FORMAT = 6

_PIECE = 2**16
"""Tokens that are stored together: a megabyte."""

# No table has an index: SQLite finds a row in the table itself, so that nothing but the tables is to be authenticated.
SCHEMA = (
    "CREATE TABLE ledger (ledger_id TEXT NOT NULL, destroyed TEXT)",
    # Bit i of spent belongs to token i, or to row i if the rows have no ids.
    "CREATE TABLE data_set (number INTEGER PRIMARY KEY, has_ids INTEGER NOT NULL, stratified INTEGER NOT NULL,"
    " spent BLOB NOT NULL)",
    # The tokens of a data set, in ascending order, concatenated into pieces: a single value would be copied too often.
    "CREATE TABLE token (data_set INTEGER NOT NULL REFERENCES data_set (number), first INTEGER NOT NULL,"
    " tokens BLOB NOT NULL)",
    # Rows that joined after `joined_after` releases of their data set.
    "CREATE TABLE cohort (data_set INTEGER NOT NULL REFERENCES data_set (number), joined_after INTEGER NOT NULL,"
    " rows INTEGER NOT NULL)",
    # Every content a data set has had, and a keyed digest of its column names; the latest content is the current one.
    "CREATE TABLE content (number INTEGER PRIMARY KEY, data_set INTEGER NOT NULL REFERENCES data_set (number),"
    " ordered BLOB NOT NULL, unordered BLOB NOT NULL, columns BLOB NOT NULL)",
    "CREATE TABLE release (number INTEGER PRIMARY KEY, release_id TEXT NOT NULL,"
    " data_set INTEGER NOT NULL REFERENCES data_set (number), rows_spent INTEGER NOT NULL, queries TEXT NOT NULL,"
    " sizes TEXT NOT NULL, stated TEXT NOT NULL, plan_sha256 TEXT NOT NULL, day TEXT NOT NULL)",
    # Every change of the ledger, in order, with a code of it and of all changes before it (`chain.py`).
    "CREATE TABLE history (number INTEGER PRIMARY KEY, change TEXT NOT NULL, link BLOB NOT NULL)",
    # The codes of the present state: of each table, of the tokens of each data set, and of the whole.
    "CREATE TABLE seal (part TEXT NOT NULL, mac BLOB NOT NULL)",
    f"PRAGMA user_version = {FORMAT}",
)


@dataclass(frozen=True)
class PastRelease:
    """The queries of a past release.

    Attributes
    ----------
    number, release_id
        The number and the identifier of the release in the ledger.
    queries
        The queries as the theory sees them, each with the range that was declared at the time.
    sizes
        Number of rows in the part of each query.
    stated
        What the plan stated about each query, including the steps that no certificate used.
    plan_sha256
        Digest of the plan file.
    day
        Date of the release in UTC, as ISO 8601.
    """

    number: int
    release_id: str
    queries: tuple[Query, ...]
    sizes: tuple[int, ...]
    stated: tuple[StatedQuery, ...]
    plan_sha256: str
    day: str

    @property
    def rows(self) -> int:
        """Number of rows used by this release."""
        return sum(self.sizes)


@dataclass(frozen=True)
class DataSet:
    """A table that was released, including all rows that have joined it since.

    Attributes
    ----------
    number
        Number of the data set in the ledger, from 1.
    has_ids
        Whether its rows have ids. Rows without ids are known only by their position.
    once
        Whether it was released in a way to which no theorem adds another release.
    """

    number: int
    has_ids: bool
    once: bool
    cohorts: tuple[Cohort, ...]
    releases: tuple[PastRelease, ...]

    @property
    def rows(self) -> int:
        """Number of rows of the table."""
        return sum(cohort.rows for cohort in self.cohorts)

    @property
    def rows_spent(self) -> int:
        """Number of rows used by releases."""
        return sum(release.rows for release in self.releases)

    @property
    def rows_left(self) -> int:
        """Number of rows that no release has used."""
        return self.rows - self.rows_spent


@dataclass(frozen=True)
class Books:
    """The tables of the database; every caller must be inside a transaction."""

    connection: sqlite3.Connection

    # --- reading ---

    def number_of_releases(self) -> int:
        """Number of releases of all data sets together."""
        return int(self._one("SELECT count(*) FROM release")[0])

    def data_sets(self) -> list[DataSet]:
        """All data sets, without the tokens that identify their rows."""
        found = self._all("SELECT number, has_ids, stratified FROM data_set ORDER BY number")
        return [
            DataSet(number, bool(ids), bool(once), self._cohorts(number), self._releases(number))
            for number, ids, once in found
        ]

    def tokens(self, data_set: int) -> Iterator[tuple[int, NDArray[np.bytes_]]]:
        """Yield the ascending tokens of a data set with ids in pieces, each with the number of tokens before it."""
        for first, joined in self.connection.execute(
            "SELECT first, tokens FROM token WHERE data_set = ? ORDER BY rowid", [data_set]
        ):
            yield first, np.frombuffer(joined, dtype=TOKEN)

    def spent(self, data_set: DataSet) -> NDArray[np.bool_]:
        """Which rows are spent, in the order of the tokens."""
        bits = np.frombuffer(self._one("SELECT spent FROM data_set WHERE number = ?", data_set.number)[0], np.uint8)
        return np.unpackbits(bits, count=data_set.rows).view(np.bool_)

    def bits_spent(self, data_set: DataSet) -> int | None:
        """Number of marked rows, counted in the bitmap; None if it is not as long as the data set."""
        (bits,) = self._one("SELECT spent FROM data_set WHERE number = ?", data_set.number)
        return int.from_bytes(bits, "big").bit_count() if len(bits) == -(-data_set.rows // 8) else None

    def number_of_tokens(self, data_set: int) -> int | None:
        """Number of stored tokens of a data set; None if a piece of them is out of place."""
        count = 0
        for first, size in self._all(
            "SELECT first, length(tokens) FROM token WHERE data_set = ? ORDER BY rowid", data_set
        ):
            if first != count or size % TOKEN.itemsize:
                return None
            count += size // TOKEN.itemsize
        return count

    def has_content(self, data_set: int) -> bool:
        """Whether a content of a data set was recorded."""
        return bool(self._all("SELECT 1 FROM content WHERE data_set = ? LIMIT 1", data_set))

    def identity(self) -> tuple[str, str | None]:
        """The identifier of the ledger, and the day on which its secret was destroyed."""
        ledger_id, destroyed = self._one("SELECT ledger_id, destroyed FROM ledger")
        return ledger_id, destroyed

    def latest_content(self, data_set: int) -> tuple[bytes, bytes]:
        """The keyed digests of a data set's rows, first in their order and then independent of order."""
        found = self._one(
            "SELECT ordered, unordered FROM content WHERE data_set = ? ORDER BY number DESC LIMIT 1", data_set
        )
        return found[0], found[1]

    def data_sets_with_content(self, ordered: bytes, unordered: bytes) -> dict[int, bool]:
        """The data sets that ever had these rows, each with whether it had them in this order."""
        found: dict[int, bool] = {}
        for number, same in self._all(
            "SELECT data_set, ordered = ? FROM content WHERE ordered = ? OR unordered = ?", ordered, ordered, unordered
        ):
            found[number] = found.get(number, False) or bool(same)
        return found

    def last_release_with(self, columns: bytes) -> int | None:
        """Number of the last release of any data set that ever had columns with these names."""
        number: int | None
        (number,) = self._one(
            "SELECT max(number) FROM release WHERE data_set IN (SELECT data_set FROM content WHERE columns = ?)",
            columns,
        )
        return number

    def last_release(self, data_set: int) -> tuple[int, str]:
        """Number and day of the last release of a data set."""
        found = self._one("SELECT number, day FROM release WHERE data_set = ? ORDER BY number DESC LIMIT 1", data_set)
        return found[0], found[1]

    def _cohorts(self, data_set: int) -> tuple[Cohort, ...]:
        found = self._all("SELECT rows, joined_after FROM cohort WHERE data_set = ? ORDER BY joined_after", data_set)
        return tuple(Cohort(*row) for row in found)

    def _releases(self, data_set: int) -> tuple[PastRelease, ...]:
        found = self._all(
            "SELECT number, release_id, queries, sizes, stated, plan_sha256, day FROM release WHERE data_set = ?"
            " ORDER BY number",
            data_set,
        )
        return tuple(
            PastRelease(
                number,
                name,
                tuple(map(query_from, json.loads(queries))),
                tuple(json.loads(sizes)),
                tuple(map(StatedQuery.from_document, json.loads(stated))),
                plan,
                day,
            )
            for number, name, queries, sizes, stated, plan, day in found
        )

    # --- writing ---

    def add_data_set(self, tokens: NDArray[np.bytes_] | None, rows: int, *, once: bool) -> int:
        """Register a table with no spent rows."""
        number = self.connection.execute(
            "INSERT INTO data_set (has_ids, stratified, spent) VALUES (?, ?, ?)",
            [tokens is not None, once, _bitmap(np.zeros(rows, np.bool_))],
        ).lastrowid
        if number is None:  # an INSERT always sets lastrowid
            raise sqlite3.DatabaseError("no number was given to a new row")
        self.connection.execute("INSERT INTO cohort VALUES (?, 0, ?)", [number, rows])
        if tokens is not None:
            self._add_tokens(number, tokens)
        return number

    def set_rows(self, data_set: int, tokens: NDArray[np.bytes_], spent: NDArray[np.bool_]) -> None:
        """Replace the rows of a data set; tokens and marks are in ascending order of the tokens."""
        self.connection.execute("DELETE FROM token WHERE data_set = ?", [data_set])
        self._add_tokens(data_set, tokens)
        self.set_spent(data_set, spent)

    def _add_tokens(self, data_set: int, tokens: NDArray[np.bytes_]) -> None:
        self.connection.executemany(
            "INSERT INTO token VALUES (?, ?, ?)",
            ((data_set, first, tokens[first : first + _PIECE].data) for first in range(0, len(tokens), _PIECE)),
        )

    def add_cohort(self, data_set: int, rows: int) -> None:
        """Record that rows join the data set after its current number of releases."""
        (after,) = self._one("SELECT count(*) FROM release WHERE data_set = ?", data_set)
        same = "WHERE data_set = ? AND joined_after = ?"
        if not self.connection.execute(f"UPDATE cohort SET rows = rows + ? {same}", [rows, data_set, after]).rowcount:  # noqa: S608  (no value)
            self.connection.execute("INSERT INTO cohort VALUES (?, ?, ?)", [data_set, after, rows])

    def set_spent(self, data_set: int, spent: NDArray[np.bool_]) -> None:
        """Replace the bitmap of a data set."""
        self.connection.execute("UPDATE data_set SET spent = ? WHERE number = ?", [_bitmap(spent), data_set])

    def add_content(self, data_set: int, ordered: bytes, unordered: bytes, columns: bytes) -> None:
        """Record this content as the current content of a data set."""
        self.connection.execute(
            "INSERT INTO content (data_set, ordered, unordered, columns) VALUES (?, ?, ?, ?)",
            [data_set, ordered, unordered, columns],
        )

    def add_release(self, data_set: int, release: PastRelease) -> None:
        """Record a release."""
        written = json.dumps([without_name(query) for query in release.queries], ensure_ascii=False)
        sizes = json.dumps(list(release.sizes))
        stated = json.dumps([query.document() for query in release.stated], ensure_ascii=False)
        self.connection.execute(
            "INSERT INTO release VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                *(release.number, release.release_id, data_set, release.rows),
                *(written, sizes, stated, release.plan_sha256, release.day),
            ],
        )

    def _one(self, sql: str, *values: object) -> tuple[Any, ...]:
        return self._all(sql, *values)[0]

    def _all(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql, values).fetchall()


def today() -> str:
    """The day in UTC."""
    return datetime.now(timezone.utc).date().isoformat()


def _bitmap(marks: NDArray[np.bool_]) -> bytes:
    return np.packbits(marks).tobytes()
