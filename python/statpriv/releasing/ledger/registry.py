"""The folder of a ledger, which one process at a time opens, checks and holds."""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from statpriv.errors import LedgerError
from statpriv.releasing.ledger.books import FORMAT, SCHEMA, Books, DataSet, today
from statpriv.releasing.ledger.files import acquire, open_private, user_data_folder, writing
from statpriv.releasing.ledger.secret import Secret
from statpriv.releasing.ledger.session import Ledger
from statpriv.releasing.publication import sync_folder

__all__ = ["Registry", "Summary"]

_LEDGER, _SECRET, _LOCK = "ledger.sqlite3", "secret.json", "lock"
_REGISTRY_FILES = frozenset({_LEDGER, f"{_LEDGER}-journal", _SECRET, _LOCK})


@dataclass(frozen=True)
class Summary:
    """The part of a ledger that may be shown: no token, no fingerprint, no key.

    Attributes
    ----------
    ledger_id
        The identifier of the ledger, as printed in reports.
    destroyed
        The day on which the secret was destroyed; None if it still exists.
    data_sets
        All data sets of the ledger.
    """

    ledger_id: str
    destroyed: str | None
    data_sets: tuple[DataSet, ...]


@dataclass(frozen=True)
class Registry:
    """A folder that holds a ledger, its key and its lock.

    Attributes
    ----------
    folder
        The path of the registry. The folder is created at the first lock, accessible only to its owner.
    words
        The source of random bytes for keys and identifiers.
    """

    folder: Path
    words: Callable[[int], bytes] = field(default=secrets.token_bytes, repr=False)

    @classmethod
    def open(cls, folder: Path | None = None, *, words: Callable[[int], bytes] = secrets.token_bytes) -> Registry:
        """Choose the registry: the given folder, else ``STATPRIV_REGISTRY``, else a folder in the user's data folder.

        Raises
        ------
        LedgerError
            If the variable is not an absolute path: each working folder would then have its own ledger.
        """
        if folder is None:
            named = os.environ.get("STATPRIV_REGISTRY")
            folder = Path(named) if named else user_data_folder() / "statpriv"
            if not folder.is_absolute():
                raise LedgerError(
                    f"STATPRIV_REGISTRY = {named}: this is no absolute path, so each working folder would "
                    "have a ledger of its own; write the whole path (~ is not replaced)"
                )
        return cls(folder.absolute(), words)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that must never be overwritten, under any name or hard link."""
        return tuple(self.folder / name for name in sorted(_REGISTRY_FILES))

    @contextmanager
    def locked(self, *, patience: float = 60.0) -> Iterator[Ledger]:
        """Hold the ledger exclusively; other processes wait for at most ``patience`` seconds.

        Raises
        ------
        LedgerError
            If the registry cannot be written, is damaged, or stays locked.
        """
        with self._held(patience) as connection:
            with writing(self.folder):
                ledger = self._ledger(connection)
                connection.execute("BEGIN IMMEDIATE")
            yield ledger

    def summary(self, *, patience: float = 60.0) -> Summary:
        """Summarise the ledger for its owner, without creating anything.

        Raises
        ------
        LedgerError
            If there is no ledger, or the ledger cannot be read.
        """
        self._check_existence()
        with self._held(patience) as connection, writing(self.folder):
            self._check_format(connection)
            ledger_id, destroyed = _identity(connection)
            if destroyed is None:
                self._ledger(connection)
            return Summary(ledger_id, destroyed, tuple(Books(connection).data_sets()))

    def destroy_secret(self, *, patience: float = 60.0) -> None:
        """Overwrite and remove the key: afterwards no row can be recognised, and nothing more can be released.

        The destruction is recorded before the key is removed, so a crash in between leaves a ledger that refuses.

        Raises
        ------
        LedgerError
            If there is no ledger, or the ledger cannot be written.
        """
        self._check_existence()
        with self._held(patience) as connection, writing(self.folder):
            self._check_format(connection)
            connection.execute("UPDATE ledger SET destroyed = COALESCE(destroyed, ?)", [today()])
            sync_folder(self.folder)
            secret = self.folder / _SECRET
            if secret.is_symlink() or secret.exists():
                Secret.destroy(secret)

    @contextmanager
    def _held(self, patience: float) -> Iterator[sqlite3.Connection]:
        with writing(self.folder):
            self._prepare_folder()
            lock = open_private(self.folder / _LOCK)
        try:
            acquire(lock, time.monotonic() + patience, self.folder)
            with writing(self.folder):
                connection = self._connect()
            with closing(connection):
                yield connection
        finally:
            os.close(lock)  # closing also releases the lock

    def _check_existence(self) -> None:
        if not (self.folder / _LEDGER).is_file():
            raise LedgerError(f"registry {self.folder}: there is no ledger; name another folder with --registry")

    def _prepare_folder(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.name != "posix" or stat.S_IMODE(self.folder.stat().st_mode) == 0o700:
            return
        strangers = {entry.name for entry in self.folder.iterdir()} - _REGISTRY_FILES
        if strangers:
            raise LedgerError(
                f"registry {self.folder}: others may enter this folder, and it holds other files; choose an "
                "empty folder, or make it private (chmod 700)"
            )
        self.folder.chmod(0o700)

    def _connect(self) -> sqlite3.Connection:
        path = self.folder / _LEDGER
        os.close(open_private(path))
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            for setting in ("journal_mode = DELETE", "synchronous = FULL", "secure_delete = ON", "foreign_keys = ON"):
                connection.execute(f"PRAGMA {setting}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _check_format(self, connection: sqlite3.Connection) -> int:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version > FORMAT:
            raise LedgerError(f"registry {self.folder}: a newer statpriv wrote this ledger; use that one")
        if 0 < version < FORMAT:
            raise LedgerError(
                f"registry {self.folder}: an earlier statpriv wrote this ledger, in a form to which this one can add "
                "nothing; use another registry for other tables"
            )
        return version

    def _ledger(self, connection: sqlite3.Connection) -> Ledger:
        """Read the identity and the key, create whatever the first use lacks, and refuse a mismatch."""
        version = self._check_format(connection)
        secret_path = self.folder / _SECRET
        has_secret = secret_path.is_symlink() or secret_path.exists()
        if version == 0:
            if has_secret:
                raise LedgerError(
                    f"registry {self.folder}: there is a key and no ledger, so what was released is unknown; "
                    "restore ledger.sqlite3"
                )
            self._create(connection)
        ledger_id, destroyed = _identity(connection)
        if destroyed is not None:
            raise LedgerError(
                f"registry {self.folder}: its secret was destroyed on {destroyed}, which ended all releases from "
                "this ledger; tables it never saw can be released with another registry"
            )
        releases = Books(connection).number_of_releases()
        if not has_secret:
            if releases:
                raise LedgerError(
                    f"registry {self.folder}: the ledger has lost its key, so no row can be recognised; "
                    "restore secret.json"
                )
            secret = Secret(ledger_id, self.words(32), 0)
            secret.write(secret_path)
        else:
            secret = Secret.read(secret_path)
        self._check_secret(secret, ledger_id, releases)
        return Ledger(ledger_id, self.folder, secret_path, self.words, connection, secret)

    def _create(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        for statement in SCHEMA:
            connection.execute(statement)
        connection.execute("INSERT INTO ledger VALUES (?, NULL)", [self.words(16).hex()])
        connection.execute("COMMIT")
        sync_folder(self.folder)

    def _check_secret(self, secret: Secret, ledger_id: str, releases: int) -> None:
        if secret.ledger_id != ledger_id:
            raise LedgerError(f"registry {self.folder}: the key belongs to another ledger; restore secret.json")
        if secret.releases > releases:
            raise LedgerError(
                f"registry {self.folder}: the key has seen {secret.releases} releases and the ledger has "
                f"{releases}, so it was rolled back; restore the latest ledger.sqlite3"
            )


def _identity(connection: sqlite3.Connection) -> tuple[str, str | None]:
    ledger_id, destroyed = connection.execute("SELECT ledger_id, destroyed FROM ledger").fetchone()
    return ledger_id, destroyed
