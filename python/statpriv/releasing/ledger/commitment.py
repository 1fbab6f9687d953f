"""The commit of a change, and what is known if it fails."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from statpriv.errors import LedgerError
from statpriv.releasing.ledger.authentication import Anchor

__all__ = ["DurabilityUnknownError", "commit"]


class DurabilityUnknownError(Exception):
    """A change was committed, or may have been, and may not survive a loss of power."""


def commit(connection: sqlite3.Connection, folder: Path, anchor: Anchor, otherwise: str) -> None:
    """Commit a transaction. The caller syncs the folder.

    Parameters
    ----------
    anchor
        The entry of the history that the transaction adds.
    otherwise
        The truth if nothing was committed, as the end of a sentence.

    Raises
    ------
    LedgerError
        If nothing was committed.
    DurabilityUnknownError
        If the change was committed, or if nobody can tell. SQLite commits by removing its journal and syncs the folder
        after that, so a failed commit may have happened.
    """
    (_, _, path) = connection.execute("PRAGMA database_list").fetchone()
    try:
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        connection.close()  # it rolls back what it can; a new connection rolls back the rest, or finds the entry
        if _may_hold(Path(path), anchor):
            raise DurabilityUnknownError(str(error)) from error
        raise LedgerError(f"registry {folder}: the ledger cannot be read and written ({error}); {otherwise}") from error


def _may_hold(path: Path, anchor: Anchor) -> bool:
    """Whether the file has the entry now, or will have it; true if nobody can tell."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            found = connection.execute("SELECT link FROM history WHERE number = ?", [anchor.entry]).fetchone()
    except (sqlite3.Error, OSError):
        return not _will_be_undone(path)
    return found is not None and anchor.names(found[0])


def _will_be_undone(path: Path) -> bool:
    """Whether a journal lies there that the next connection plays back, as soon as the disk has room for that."""
    try:
        with path.with_name(f"{path.name}-journal").open("rb") as journal:
            return journal.read(len(_JOURNAL)) == _JOURNAL
    except OSError:
        return False


_JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""The first bytes of a journal that is not yet done (https://sqlite.org/fileformat.html)."""
