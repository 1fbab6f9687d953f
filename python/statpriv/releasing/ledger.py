"""The ledger: which tables were released, and which of their rows are spent.

A ledger lives in a registry, a folder of one user or one organisation, and not beside the data: a renamed
or copied table meets the same ledger. What identifies a row is a keyed token of its id, so a leak of the
ledger without its key names nobody; a table without ids is identified by the keyed fingerprint of its
content. The rows that a release spent are one bitmap over the sorted tokens, which tells who was used but
never in which part.

This version refuses every second release of a table, and every table that shares rows with a registered
one. The file holds what continuing a table will need.

The registry holds three files, all readable by their owner alone:

``ledger.sqlite3``
    The registered tables and the releases.
``secret.json``
    The key, and the number of releases that were made under it. A ledger with fewer releases was rolled
    back; a ledger without its key, or a key without its ledger, was damaged. All three are refused.
``lock``
    Held from the first look at the ledger to the end of a release.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import sqlite3
import stat
import sys
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from statpriv.errors import LedgerError, RowsSpentError
from statpriv.releasing.publication import replace_file, sync_folder

if TYPE_CHECKING:
    from statpriv.releasing.tables import ContentFingerprint

__all__ = ["Ledger", "Registry", "ReleaseRecord", "Rows"]

_LEDGER, _SECRET, _LOCK = "ledger.sqlite3", "secret.json", "lock"
_FORMAT = 1
_TOKEN = np.dtype("S16")

_SCHEMA = (
    # The tokens are sorted and joined; bit i of spent belongs to token i, or to row i where there are none.
    "CREATE TABLE ledger (ledger_id TEXT NOT NULL)",
    "CREATE TABLE registered (number INTEGER PRIMARY KEY, n INTEGER NOT NULL, tokens BLOB,"
    " ordered BLOB NOT NULL, unordered BLOB NOT NULL, spent BLOB NOT NULL)",
    "CREATE TABLE release (number INTEGER PRIMARY KEY, release_id TEXT NOT NULL UNIQUE,"
    " registered INTEGER NOT NULL REFERENCES registered (number),"
    " rows_spent INTEGER NOT NULL, day TEXT NOT NULL)",
    f"PRAGMA user_version = {_FORMAT}",
)


@dataclass(frozen=True)
class ReleaseRecord:
    """What a report prints of the ledger.

    Attributes
    ----------
    release_id
        128 random bits, hexadecimal.
    ledger_id
        Of the ledger, equal on all its reports: two reports with one ledger and one number prove a fork.
    number
        Of the release in the ledger, from 1.
    rows_spent
        By this release.
    rows_left
        Rows of the table that no release has spent.
    """

    release_id: str
    ledger_id: str
    number: int
    rows_spent: int
    rows_left: int


@dataclass(frozen=True)
class Rows:
    """The rows of a table as the ledger knows them: keyed tokens in their order, or only their number."""

    n: int
    tokens: NDArray[np.bytes_] | None = field(repr=False)


@dataclass(frozen=True)
class Registry:
    """A folder that holds a ledger, its key and its lock.

    Attributes
    ----------
    folder
        Where it is; created, for its owner alone, when it is first locked.
    words
        The source of the random bytes of keys and identifiers.
    """

    folder: Path
    words: Callable[[int], bytes] = field(default=secrets.token_bytes, repr=False)

    @classmethod
    def open(cls, folder: Path | None = None, *, words: Callable[[int], bytes] = secrets.token_bytes) -> Registry:
        """Choose the registry: the folder given, else ``STATPRIV_REGISTRY``, else the user's data folder."""
        if folder is None:
            named = os.environ.get("STATPRIV_REGISTRY")
            folder = Path(named) if named else _user_data_folder() / "statpriv"
        return cls(folder.absolute(), words)

    @property
    def files(self) -> tuple[Path, ...]:
        """What must never be overwritten, whatever name or hard link leads to it."""
        return tuple(self.folder / name for name in sorted(_REGISTRY_FILES))

    @contextmanager
    def locked(self, *, patience: float = 60.0) -> Iterator[Ledger]:
        """Hold the ledger alone; other processes wait, for at most ``patience`` seconds.

        Raises
        ------
        LedgerError
            Where the registry cannot be written, is damaged, or stays locked.
        """
        with _writing(self.folder):
            self._prepare_folder()
            lock = _open_private(self.folder / _LOCK)
        try:
            _acquire(lock, time.monotonic() + patience, self.folder)
            with _writing(self.folder):
                connection = self._connect()
            with closing(connection):
                with _writing(self.folder):
                    ledger = self._ledger(connection)
                    connection.execute("BEGIN IMMEDIATE")
                yield ledger
        finally:
            os.close(lock)  # which also releases it

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
        os.close(_open_private(path))
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            for setting in ("journal_mode = DELETE", "synchronous = FULL", "secure_delete = ON", "foreign_keys = ON"):
                connection.execute(f"PRAGMA {setting}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _ledger(self, connection: sqlite3.Connection) -> Ledger:
        """Read the identity and the key, create what a first use lacks, and refuse what does not match."""
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > _FORMAT:
            raise LedgerError(f"registry {self.folder}: a newer statpriv wrote this ledger; use that one")
        secret_path = self.folder / _SECRET
        has_secret = secret_path.is_symlink() or secret_path.exists()
        if version == 0:
            if has_secret:
                raise LedgerError(
                    f"registry {self.folder}: there is a key and no ledger, so what was released is unknown; "
                    "restore ledger.sqlite3"
                )
            self._create(connection)
        ledger_id = connection.execute("SELECT ledger_id FROM ledger").fetchone()[0]
        releases = connection.execute("SELECT count(*) FROM release").fetchone()[0]
        if not has_secret:
            if releases:
                raise LedgerError(
                    f"registry {self.folder}: the ledger has lost its key, so no row can be recognised; "
                    "restore secret.json"
                )
            secret = _Secret(ledger_id, self.words(32), 0)
            secret.write(secret_path)
        else:
            secret = _Secret.read(secret_path)
        self._check_secret(secret, ledger_id, releases)
        return Ledger(ledger_id, self, connection, secret)

    def _create(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute("INSERT INTO ledger VALUES (?)", [self.words(16).hex()])
        connection.execute("COMMIT")
        sync_folder(self.folder)

    def _check_secret(self, secret: _Secret, ledger_id: str, releases: int) -> None:
        if secret.ledger_id != ledger_id:
            raise LedgerError(f"registry {self.folder}: the key belongs to another ledger; restore secret.json")
        if secret.releases > releases:
            raise LedgerError(
                f"registry {self.folder}: the key has seen {secret.releases} releases and the ledger has "
                f"{releases}, so it was rolled back; restore the latest ledger.sqlite3"
            )


@dataclass(frozen=True)
class Ledger:
    """A ledger that this process holds alone.

    Attributes
    ----------
    ledger_id
        128 random bits, hexadecimal.
    """

    ledger_id: str
    _registry: Registry = field(repr=False)
    _connection: sqlite3.Connection = field(repr=False)
    _secret: _Secret = field(repr=False)

    @property
    def content_key(self) -> bytes:
        """The key for fingerprints of content, from which the key of the tokens cannot be found."""
        return hmac.digest(self._secret.key, b"content", "sha256")

    def rows(self, n: int, ids: Sequence[str] | None) -> Rows:
        """Turn the ids of all n rows, in canonical form, into keyed tokens; None where the plan names none."""
        if ids is None:
            return Rows(n, None)
        token = _keyed_hash(hmac.digest(self._secret.key, b"row", "sha256"))
        joined = b"".join([token(row_id.encode())[: _TOKEN.itemsize] for row_id in ids])
        return Rows(n, np.frombuffer(joined, dtype=_TOKEN))

    def refuse_known_rows(self, rows: Rows) -> None:
        """Refuse rows of which any belongs to a registered table; the content plays no part.

        Raises
        ------
        LedgerError
            Naming the earlier release, and no row.
        """
        if rows.tokens is None:
            return
        own = np.sort(rows.tokens)
        for number, joined in self._query("SELECT number, tokens FROM registered WHERE tokens IS NOT NULL"):
            shared = _shared(own, np.frombuffer(joined, dtype=_TOKEN))
            if shared:
                registered = len(joined) // _TOKEN.itemsize
                raise self._refusal(_relation(shared, len(own), registered), number)

    def refuse_known_content(self, fingerprint: ContentFingerprint) -> None:
        """Refuse content that belongs to a registered table, with ids or without.

        Raises
        ------
        LedgerError
            Naming the earlier release.
        """
        for number, ordered in self._query(
            "SELECT number, ordered FROM registered WHERE ordered = ? OR unordered = ?",
            fingerprint.ordered,
            fingerprint.unordered,
        ):
            same = "has the same content" if ordered == fingerprint.ordered else "has the same rows in another order"
            raise self._refusal(f"this table {same} as one that was", number)

    def spend(self, rows: Rows, fingerprint: ContentFingerprint, labels: array[int]) -> ReleaseRecord:
        """Spend every row with a label above 0, durably.

        Call it after the last check and before the first predicate is evaluated. Both refusals are
        repeated inside.

        Raises
        ------
        LedgerError
            Where the table is known, or the ledger cannot be written; nothing was spent then.
        """
        self.refuse_known_rows(rows)
        self.refuse_known_content(fingerprint)
        spent = np.frombuffer(labels, dtype=labels.typecode) != 0
        if len(spent) != rows.n:
            raise LedgerError(f"{len(spent)} labels for {rows.n} rows; nothing was spent")
        number = self._query("SELECT count(*) + 1 FROM release")[0][0]
        rows_spent = int(np.count_nonzero(spent))
        record = ReleaseRecord(self._registry.words(16).hex(), self.ledger_id, number, rows_spent, rows.n - rows_spent)
        with _writing(self._registry.folder):
            if not self._connection.in_transaction:
                self._connection.execute("BEGIN IMMEDIATE")
            self._write(record, rows, fingerprint, spent)
            self._connection.execute("COMMIT")
        # From here on the rows are spent, but not yet durably: nothing may be answered if that fails.
        try:
            sync_folder(self._registry.folder)
        except OSError as error:
            raise RowsSpentError(
                f"registry {self._registry.folder}: rows were spent, and whether that lasts is unknown ({error}): "
                "take them as spent; nothing was answered"
            ) from error
        # A counter that stays behind is only a weaker guard, and is
        # raised by the next release; a failure here must not look as if nothing was spent.
        with suppress(OSError):
            _Secret(self.ledger_id, self._secret.key, number).write(self._registry.folder / _SECRET)
        return record

    def _write(
        self, record: ReleaseRecord, rows: Rows, fingerprint: ContentFingerprint, spent: NDArray[np.bool_]
    ) -> None:
        tokens = None
        if rows.tokens is not None:
            order = np.argsort(rows.tokens)
            tokens, spent = rows.tokens[order].tobytes(), spent[order]
        table = self._connection.execute(
            "INSERT INTO registered (n, tokens, ordered, unordered, spent) VALUES (?, ?, ?, ?, ?)",
            [rows.n, tokens, fingerprint.ordered, fingerprint.unordered, np.packbits(spent).tobytes()],
        ).lastrowid
        day = datetime.now(timezone.utc).date().isoformat()
        self._connection.execute(
            "INSERT INTO release VALUES (?, ?, ?, ?, ?)",
            [record.number, record.release_id, table, record.rows_spent, day],
        )

    def _query(self, sql: str, *values: bytes) -> list[tuple[int, bytes]]:
        with _writing(self._registry.folder):
            return self._connection.execute(sql, values).fetchall()

    def _refusal(self, relation: str, registered: int) -> LedgerError:
        with _writing(self._registry.folder):
            number, day = self._connection.execute(
                "SELECT number, day FROM release WHERE registered = ? ORDER BY number", [registered]
            ).fetchone()
        return LedgerError(
            f"{relation} released on {day} (release {number} of ledger {self.ledger_id}); this version "
            "releases a table once, because every further answer about the same people adds to what is known (if "
            "these are other people with equal ids, keep them in a registry of their own: --registry)"
        )


def _keyed_hash(key: bytes) -> Callable[[bytes], bytes]:
    """HMAC-SHA256 under one key (RFC 2104), its two padded keys hashed once: a table has many rows."""
    block = key.ljust(hashlib.sha256().block_size, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in block))
    outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in block))

    def keyed_hash(message: bytes) -> bytes:
        first, second = inner.copy(), outer.copy()
        first.update(message)
        second.update(first.digest())
        return second.digest()

    return keyed_hash


@dataclass(frozen=True)
class _Secret:
    """The key of a ledger, and how many releases were made under it."""

    ledger_id: str
    key: bytes = field(repr=False)
    releases: int

    def write(self, path: Path) -> None:
        content = {"format": _FORMAT, "ledger_id": self.ledger_id, "key": self.key.hex(), "releases": self.releases}
        replace_file(path, json.dumps(content).encode())

    @classmethod
    def read(cls, path: Path) -> _Secret:
        descriptor = _open_private(path)
        with os.fdopen(descriptor, "rb") as file:
            content = file.read()
        try:
            values = json.loads(content)
            secret = cls(values["ledger_id"], bytes.fromhex(values["key"]), int(values["releases"]))
        except (ValueError, KeyError, TypeError):
            raise LedgerError(f"{path}: this is no key of a ledger; restore it") from None
        if len(secret.key) != 32:
            raise LedgerError(f"{path}: this is no key of a ledger; restore it")
        return secret


_REGISTRY_FILES = frozenset({_LEDGER, f"{_LEDGER}-journal", _SECRET, _LOCK})


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn what the system and SQLite say into a refusal; neither knows anything of the data but tokens."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise LedgerError(
            f"registry {folder}: the ledger cannot be read and written ({error}); nothing was spent"
        ) from error


def _shared(own: NDArray[np.bytes_], registered: NDArray[np.bytes_]) -> int:
    """Count the tokens that two sorted arrays have in common."""
    places = np.searchsorted(registered, own)
    places[places == len(registered)] = 0
    return int(np.count_nonzero(registered[places] == own))


def _relation(shared: int, own: int, registered: int) -> str:
    """Say how two sets of rows that share some lie to each other, without a number."""
    if shared == own == registered:
        return "the rows of this table (edited or not) were"
    if shared == registered:
        return "this table adds rows to one that was"
    if shared == own:
        return "this table is a part of one that was"
    return "some rows of this table belong to one that was"


def _user_data_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def _open_private(path: Path) -> int:
    """Open a regular file of the registry, creating it if need be, and make it its owner's alone."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o600)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        if os.name == "posix":
            os.fchmod(descriptor, 0o600)
        return descriptor
    os.close(descriptor)
    raise OSError(f"{path.name} is not a regular file")


def _acquire(descriptor: int, deadline: float, folder: Path) -> None:
    while not _try_lock(descriptor):
        if time.monotonic() > deadline:
            raise LedgerError(f"registry {folder}: another release holds the ledger; try again when it is done")
        time.sleep(0.02)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
