"""The folder of a ledger, which one process at a time opens, checks and holds."""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from statpriv.errors import LedgerError
from statpriv.releasing.ledger.audit import check_facts, check_file, is_empty
from statpriv.releasing.ledger.authentication import Anchor, Authenticator
from statpriv.releasing.ledger.books import SCHEMA, Books, DataSet, today
from statpriv.releasing.ledger.chain import CREATED, DESTROYED, Chain, published
from statpriv.releasing.ledger.commitment import DurabilityUnknownError, commit
from statpriv.releasing.ledger.files import (
    DamageError,
    acquire,
    checked,
    is_temporary,
    open_private,
    remove,
    sweep,
    user_data_folder,
    writing,
)
from statpriv.releasing.ledger.secret import Secret, copies_of
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
    published
        The numbers of the releases whose reports are known to be written. Of any other the process was killed, or its
        report could not be written, or it is older than this note.
    """

    ledger_id: str
    destroyed: str | None
    data_sets: tuple[DataSet, ...]
    published: frozenset[int]


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
    def open(cls, folder: str | Path | None = None, *, words: Callable[[int], bytes] = secrets.token_bytes) -> Registry:
        """Choose the registry: the given folder, else ``STATPRIV_REGISTRY``, else a folder in the user's data folder.

        Raises
        ------
        LedgerError
            If the folder is the empty text, or the variable is not an absolute path: each working folder would then
            have its own ledger.
        """
        if folder == "":
            raise LedgerError("registry = '': no folder is named; leave the option out for the user's data folder")
        if folder is None:
            named = os.environ.get("STATPRIV_REGISTRY")
            folder = Path(named) if named else user_data_folder() / "statpriv"
            if not folder.is_absolute():
                raise LedgerError(
                    f"STATPRIV_REGISTRY = {named}: this is no absolute path, so each working folder would "
                    "have a ledger of its own; write the whole path (~ is not replaced)"
                )
        return cls(Path(folder).absolute(), words)

    @property
    def _path(self) -> Path:
        return self.folder / _LEDGER

    @property
    def _secret_path(self) -> Path:
        return self.folder / _SECRET

    def _has_secret(self) -> bool:
        return self._secret_path.is_symlink() or self._secret_path.exists()

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that must never be overwritten, under any name or hard link."""
        return tuple(self.folder / name for name in sorted(_REGISTRY_FILES))

    @contextmanager
    def locked(self, *, anchor: Anchor | None = None, patience: float = 60.0) -> Iterator[Ledger]:
        """Hold the ledger exclusively; other processes wait for at most ``patience`` seconds.

        Parameters
        ----------
        anchor
            An entry that the history must have. No ledger is created then.

        Raises
        ------
        LedgerError
            If the registry cannot be written, is damaged or was edited, lacks the anchor, or stays locked.
        """
        if anchor is not None:
            self._check_existence()
        with self._held(patience) as connection:
            with writing(self.folder), checked(self.folder):
                secret = self._opened(connection)
                self._check_anchor(anchor, Chain(connection, secret.codes, self.words))
            yield Ledger(secret.ledger_id, self.folder, self._secret_path, self.words, connection, secret)

    def summary(self, *, patience: float = 60.0) -> Summary:
        """Summarise the ledger for its owner, without creating anything.

        Everything is checked as before a release, except that a ledger without its secret cannot be authenticated.

        Raises
        ------
        LedgerError
            If there is no ledger, or the ledger is damaged, was edited, or cannot be read.
        """
        self._check_existence()
        with self._held(patience) as connection, writing(self.folder), checked(self.folder):
            destroyed = self._destroyed(connection)
            if destroyed is not None:
                ledger_id, data_sets = Books(connection).identity()[0], check_facts(Books(connection))
            else:
                ledger_id, data_sets = self._opened(connection).ledger_id, tuple(Books(connection).data_sets())
            return Summary(ledger_id, destroyed, data_sets, published(connection))

    def verify(self, *, anchor: Anchor | None = None, patience: float = 60.0) -> Anchor:
        """Check that every byte of the ledger that means something was written under its key.

        Parameters
        ----------
        anchor
            An entry that the history must have.

        Returns
        -------
        Anchor
            The newest entry of the history.

        Raises
        ------
        LedgerError
            If there is no ledger; the ledger is damaged, was edited or lacks the anchor; or its secret was destroyed,
            so that nobody can tell.
        """
        self._check_existence()
        with self._held(patience) as connection, writing(self.folder), checked(self.folder):
            destroyed = self._destroyed(connection)
            if destroyed is not None:
                check_facts(Books(connection))
                raise LedgerError(
                    f"registry {self.folder}: its secret was destroyed on {destroyed}, so whether the ledger was "
                    "edited since then cannot be told; no two of its facts contradict each other"
                )
            chain = Chain(connection, self._opened(connection).codes, self.words)
            self._check_anchor(anchor, chain)
            return chain.newest()

    def destroy_secret(self, *, patience: float = 60.0) -> None:
        """Overwrite and remove the key: afterwards no row can be recognised, and nothing more can be released.

        The destruction is recorded before the key is removed, so a crash in between leaves a ledger that refuses. Every
        file below the registry's folder that holds the key is overwritten and removed, and then none is left.

        Raises
        ------
        LedgerError
            If there is no ledger, the ledger is damaged or cannot be written, or a copy of the key is left.
        """
        self._check_existence()
        with self._held(patience) as connection:
            with writing(self.folder, "nothing was destroyed"), checked(self.folder):
                key = self._record_destruction(connection)
            with writing(self.folder, "the ledger is ended, and a copy of its key may be left: repeat the command"):
                connection.close()
                self._remove_key(key)

    def _record_destruction(self, connection: sqlite3.Connection) -> bytes | None:
        """Record that the secret is destroyed; the key, if it can still be read."""
        if self._destroyed(connection) is not None:
            try:
                return Secret.read(self._secret_path).key if self._has_secret() else None
            except DamageError:
                return None
        secret = self._opened(connection)
        chain = Chain(connection, secret.codes, self.words)
        connection.execute("UPDATE ledger SET destroyed = ?", [today()])
        chain.append(DESTROYED)
        chain.seal()
        with suppress(DurabilityUnknownError):  # the key goes in any case
            commit(connection, self.folder, chain.newest(), "nothing was destroyed")
        with suppress(OSError):
            sync_folder(self.folder)
        return secret.key

    def _remove_key(self, key: bytes | None) -> None:
        copies = set() if key is None else set(copies_of(key, self.folder)) - {self._path, self.folder / _LOCK}
        for path in copies | ({self._secret_path} if self._has_secret() else set()):
            remove(path)
            sync_folder(path.parent)
        left = [] if key is None else [str(path.relative_to(self.folder)) for path in copies_of(key, self.folder)]
        if left:
            raise LedgerError(
                f"registry {self.folder}: the ledger is ended, and its key is still in {', '.join(left)}: remove that"
            )

    @contextmanager
    def _held(self, patience: float) -> Iterator[sqlite3.Connection]:
        with writing(self.folder):
            self._prepare_folder()
            lock = open_private(self.folder / _LOCK)
        try:
            acquire(lock, time.monotonic() + patience, self.folder)
            with writing(self.folder), checked(self.folder):
                sweep(self.folder)
                connection = self._connect()
            with closing(connection):
                yield connection
        finally:
            os.close(lock)  # closing also releases the lock

    def _check_existence(self) -> None:
        if not self._path.is_file():
            raise LedgerError(f"registry {self.folder}: there is no ledger; name another folder with --registry")

    def _prepare_folder(self) -> None:
        new = list(takewhile(lambda folder: not folder.exists(), (self.folder, *self.folder.parents)))
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in reversed(new):
            sync_folder(folder.parent)
        if os.name != "posix" or stat.S_IMODE(self.folder.stat().st_mode) == 0o700:
            return
        found = {entry.name for entry in self.folder.iterdir() if not is_temporary(entry)}
        strangers = found - _REGISTRY_FILES
        if strangers:
            raise LedgerError(
                f"registry {self.folder}: others may enter this folder, and it holds other files; choose an "
                "empty folder, or make it private (chmod 700)"
            )
        self.folder.chmod(0o700)

    def _connect(self) -> sqlite3.Connection:
        for beside in ("-journal", "-wal", "-shm"):
            if self._path.with_name(_LEDGER + beside).is_symlink():  # SQLite would write to the target
                raise DamageError(f"{_LEDGER}{beside} is a symbolic link")
        os.close(open_private(self._path))
        connection = sqlite3.connect(self._path, isolation_level=None)
        try:
            for setting in _SETTINGS:
                connection.execute(f"PRAGMA {setting}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _destroyed(self, connection: sqlite3.Connection) -> str | None:
        """The day on which the secret was destroyed, as an existing file says after it was checked."""
        check_file(connection, self._path)
        return _identity(connection)[1]

    def _opened(self, connection: sqlite3.Connection) -> Secret:
        """Begin a transaction, create what the first use lacks, and check everything; the key."""
        connection.execute("BEGIN IMMEDIATE")
        if is_empty(connection):
            if self._has_secret():
                raise LedgerError(
                    f"registry {self.folder}: there is a key and no ledger, so what was released is unknown; "
                    "restore ledger.sqlite3"
                )
            return self._create(connection)
        destroyed = self._destroyed(connection)
        if destroyed is not None:
            raise LedgerError(
                f"registry {self.folder}: its secret was destroyed on {destroyed}, which ended all releases from "
                "this ledger; tables it never saw can be released with another registry"
            )
        if not self._has_secret():
            if _counts(connection) == (0, 0):  # the process that created the ledger was killed before it kept the key
                return self._create(connection)
            raise LedgerError(
                f"registry {self.folder}: the ledger has lost its key, so no row can be recognised; restore secret.json"
            )
        secret = Secret.read(self._secret_path)
        self._check_secret(secret, connection)
        return secret

    def _create(self, connection: sqlite3.Connection) -> Secret:
        """Write a ledger without releases, and its key after it, into the transaction that was begun."""
        if is_empty(connection):
            for statement in SCHEMA:
                connection.execute(statement)
        ledger_id, key = self.words(16).hex(), self.words(32)
        for (table,) in connection.execute("SELECT name FROM sqlite_master").fetchall():
            connection.execute(f"DELETE FROM {table}")  # noqa: S608  (a table of SCHEMA)
        connection.execute("INSERT INTO ledger VALUES (?, NULL)", [ledger_id])
        chain = Chain(connection, Authenticator.of(ledger_id, key), self.words)
        chain.append(CREATED)
        chain.seal()
        secret = Secret(key, 0, chain.newest())
        connection.execute("COMMIT")
        sync_folder(self.folder)
        secret.write(self._secret_path)
        connection.execute("BEGIN IMMEDIATE")
        return secret

    def _check_secret(self, secret: Secret, connection: sqlite3.Connection) -> None:
        """Authenticate the whole ledger with its key."""
        if secret.ledger_id != _identity(connection)[0]:
            raise LedgerError(
                f"registry {self.folder}: the key belongs to another ledger, or the ledger is damaged or was edited; "
                "restore the whole registry from its latest backup"
            )
        chain = Chain(connection, secret.codes, self.words)
        chain.check()
        check_facts(Books(connection))
        newest, releases = chain.newest(), Books(connection).number_of_releases()
        if secret.anchor.entry > newest.entry:
            raise LedgerError(
                f"registry {self.folder}: the key has seen {secret.releases} releases and the ledger has "
                f"{releases}, so it was rolled back (its history ends with entry {newest.entry}, and the key has seen "
                f"{secret.anchor.entry}); restore the latest ledger.sqlite3"
            )
        if not chain.holds(secret.anchor):
            raise LedgerError(
                f"registry {self.folder}: the key belongs to another copy of this ledger, from which other releases "
                "were made; restore the latest registry, both ledger.sqlite3 and secret.json"
            )

    def _check_anchor(self, anchor: Anchor | None, chain: Chain) -> None:
        if anchor is None or chain.holds(anchor):
            return
        newest = chain.newest()
        if anchor.ledger_id != newest.ledger_id:
            raise LedgerError(
                f"registry {self.folder}: the anchor belongs to ledger {anchor.ledger_id}, and this is ledger "
                f"{newest.ledger_id}; nothing was spent; name its folder with --registry"
            )
        how = (
            f"it was rolled back (the anchor names entry {anchor.entry} of the history, which ends with {newest.entry})"
            if anchor.entry > newest.entry
            else f"it is another copy (entry {anchor.entry} of the history is not the one of the anchor)"
        )
        raise LedgerError(f"registry {self.folder}: {how}; nothing was spent; restore the latest registry")


_SETTINGS = (
    "page_size = 4096",  # of a new file
    "auto_vacuum = NONE",
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "journal_mode = DELETE",
    "synchronous = FULL",
    "secure_delete = ON",
)


def _identity(connection: sqlite3.Connection) -> tuple[str, str | None]:
    """Identifier of the ledger and day of destruction, before either is authenticated."""
    found = connection.execute("SELECT ledger_id, destroyed FROM ledger").fetchall()
    if len(found) != 1 or [type(found[0][0]), type(found[0][1]) in (str, type(None))] != [str, True]:
        raise DamageError("table ledger has not one row of text")
    return Books(connection).identity()


def _counts(connection: sqlite3.Connection) -> tuple[int, int]:
    ((data_sets,),) = connection.execute("SELECT count(*) FROM data_set").fetchall()
    return data_sets, Books(connection).number_of_releases()
