"""The history of a ledger, one authenticated entry a change, and the seal on its present state.

Each entry states a change in numbers and identifiers, and has a link: a code of the entry and of the link before it.
The seal is a code of the newest link and of every table. It is written anew with every entry, and only the newest one
is kept. An old seal, or a digest of an old state in the history, would tell somebody who has the key which rows an
earlier release used: the candidates could be tried one after the other. The links do not depend on the content of a
table either, so an anchor may be published.
"""

from __future__ import annotations

import hmac
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from statpriv.releasing.ledger.authentication import LINK, Anchor, Authenticator, Cell
from statpriv.releasing.ledger.files import DamageError

__all__ = [
    "CREATED",
    "DESTROYED",
    "EDITS_ACCEPTED",
    "EXTENDED",
    "PUBLISHED",
    "RELEASED",
    "Chain",
    "changes",
    "entries",
    "published",
]

CREATED, RELEASED, PUBLISHED, EXTENDED = "created", "released", "published", "extended"
EDITS_ACCEPTED, DESTROYED = "edits accepted", "destroyed"

_TABLES = ("ledger", "data_set", "cohort", "content", "release")
"""The tables that are small enough to be read whole; the tokens of each data set are a part of their own."""
_WHOLE = "whole"
_NONCE = 16


def entries(connection: sqlite3.Connection) -> list[tuple[int, str, bytes]]:
    """The history: number, change and link of each entry, in order."""
    return connection.execute("SELECT number, change, link FROM history ORDER BY number").fetchall()


def changes(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    """The changes of the history, in order."""
    return [json.loads(change) for _, change, _ in entries(connection)]


def published(connection: sqlite3.Connection) -> frozenset[int]:
    """The numbers of the releases whose reports are known to be written; the others may have been killed."""
    return frozenset(change["release"] for change in changes(connection) if change["kind"] == PUBLISHED)


@dataclass(frozen=True)
class Chain:
    """The history and the seal of an open ledger; every caller must be inside a transaction."""

    connection: sqlite3.Connection
    codes: Authenticator
    words: Callable[[int], bytes] = field(repr=False)

    def newest(self) -> Anchor:
        """The anchor of the newest entry."""
        number, link = self.connection.execute("SELECT number, link FROM history ORDER BY number DESC").fetchone()
        return Anchor.of(self.codes.ledger_id, number, link)

    def holds(self, anchor: Anchor) -> bool:
        """Whether the history has the entry that an anchor names."""
        found = self.connection.execute("SELECT link FROM history WHERE number = ?", [anchor.entry]).fetchone()
        return anchor.ledger_id == self.codes.ledger_id and found is not None and anchor.names(found[0])

    # --- checking ---

    def check(self) -> None:
        """Compute every link, every part and the seal again.

        Raises
        ------
        DamageError
            If one of them is not as it was written.
        """
        previous = bytes(LINK)
        for expected, (number, change, link) in enumerate(entries(self.connection), start=1):
            if number != expected or not _equal(link, self.codes.link(previous, number, change)):
                raise DamageError(f"entry {expected} of the history is not as it was written")
            previous = link
        if previous == bytes(LINK):
            raise DamageError("the history is empty")
        written = self._written()
        parts = {name: self.codes.rows(name, rows) for name, rows in self._parts()}
        for name, code in parts.items():
            if not _equal(written.get(name), code):
                raise DamageError(f"{name}: not as it was written")
        if not _equal(written.get(_WHOLE), self.codes.seal(previous, parts)):
            raise DamageError("the seal is not the one of this state")
        rows = self.connection.execute("SELECT rowid, part FROM seal ORDER BY rowid").fetchall()
        if rows != list(enumerate([*parts, _WHOLE], start=1)):
            raise DamageError("the seal has other parts than the ledger")

    # --- writing ---

    def append(self, kind: str, **change: Any) -> int:  # noqa: ANN401  (a change is written as JSON)
        """Add an entry, without a new seal; number of the entry."""
        before = entries(self.connection)
        previous, number = (before[-1][2] if before else bytes(LINK)), len(before) + 1
        # The nonce gives two copies of a registry different histories, even if the same change is made to both.
        text = json.dumps({"kind": kind, **change, "nonce": self.words(_NONCE).hex()}, sort_keys=True)
        link = self.codes.link(previous, number, text)
        self.connection.execute("INSERT INTO history VALUES (?, ?, ?)", [number, text, link])
        return number

    def seal(self, *, new_tokens_of: int | None = None) -> None:
        """Seal the present state.

        Parameters
        ----------
        new_tokens_of
            The data set whose tokens were written. The codes of all other tokens are taken from the seal before, which
            was checked in this transaction.
        """
        kept, written = self._written(), {}
        for name, rows in self._parts():
            unchanged = name not in _TABLES and name != _tokens_of(new_tokens_of)
            written[name] = kept[name] if unchanged else self.codes.rows(name, rows)
        (newest,) = self.connection.execute("SELECT link FROM history ORDER BY number DESC").fetchone()
        written[_WHOLE] = self.codes.seal(newest, written)
        self.connection.execute("DELETE FROM seal")
        self.connection.executemany("INSERT INTO seal VALUES (?, ?)", written.items())

    # --- parts ---

    def _parts(self) -> Iterator[tuple[str, Iterable[Sequence[Cell]]]]:
        """The rows of each part, with their place in the table, to be read before the next part is asked for."""
        for table in _TABLES:
            yield table, self.connection.execute(f"SELECT rowid, * FROM {table} ORDER BY rowid")  # noqa: S608  (one of _TABLES)
        for (number,) in self.connection.execute("SELECT DISTINCT data_set FROM token ORDER BY data_set").fetchall():
            yield (
                _tokens_of(number),
                self.connection.execute("SELECT rowid, * FROM token WHERE data_set IS ? ORDER BY rowid", [number]),
            )

    def _written(self) -> dict[str, bytes]:
        return dict(self.connection.execute("SELECT part, mac FROM seal ORDER BY rowid").fetchall())


def _equal(written: object, computed: bytes) -> bool:
    return type(written) is bytes and hmac.compare_digest(written, computed)


def _tokens_of(data_set: object) -> str:
    return f"tokens of data set {data_set}"
