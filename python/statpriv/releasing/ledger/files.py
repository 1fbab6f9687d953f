"""The files of a registry: their location, their permissions, and the lock that admits one process at a time."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from statpriv.errors import LedgerError
from statpriv.releasing.file_lock import try_lock
from statpriv.releasing.publication import TEMPORARY_NAME, sync_folder

__all__ = [
    "DamageError",
    "acquire",
    "checked",
    "is_temporary",
    "open_private",
    "overwrite",
    "remove",
    "sweep",
    "user_data_folder",
    "writing",
]

_RESTORE = "restore the whole registry from its latest backup"
_OF_THE_SYSTEM = re.compile(
    "unable to open|locked|disk I/O error|disk is full|readonly|locking protocol|interrupted|out of memory"
)
"""Messages of SQLite about the system. All others are about the file."""


class DamageError(Exception):
    """A file of the registry is not as this program wrote it; the message says where."""


@contextmanager
def writing(folder: Path, otherwise: str = "nothing was spent") -> Iterator[None]:
    """Turn errors of the system and of SQLite into a refusal; their messages contain no data except tokens."""
    try:
        yield
    except (OSError, sqlite3.Error, MemoryError) as error:
        raise LedgerError(
            f"registry {folder}: the ledger cannot be read and written ({error or 'out of memory'}); {otherwise}"
        ) from error


@contextmanager
def checked(folder: Path) -> Iterator[None]:
    """Turn everything that a damaged file of the registry may cause into one refusal."""
    try:
        yield
    except DamageError as error:
        raise LedgerError(
            f"registry {folder}: the ledger is damaged or was edited ({error}); nothing was spent; {_RESTORE}"
        ) from error
    except UnicodeDecodeError as error:  # a message of SQLite that quotes the file
        raise LedgerError(
            f"registry {folder}: the ledger is damaged or was edited: its text cannot be read; nothing was spent; "
            f"{_RESTORE}"
        ) from error
    except sqlite3.Error as error:
        if isinstance(error, sqlite3.OperationalError) and _OF_THE_SYSTEM.search(str(error)):
            raise
        raise LedgerError(
            f"registry {folder}: the ledger is damaged or was edited: it cannot be read and written ({error}); "
            f"nothing was spent; {_RESTORE}"
        ) from error


def user_data_folder() -> Path:
    """The folder in which this platform keeps a user's application data."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    named = Path(os.environ.get("XDG_DATA_HOME", ""))  # the XDG specification ignores a relative path
    return named if named.is_absolute() else Path.home() / ".local" / "share"


def open_private(path: Path) -> int:
    """Open a regular file of the registry, create it if necessary, and make it accessible only to its owner."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    if path.is_symlink():
        raise OSError(f"{path.name} is a symbolic link; put the file itself there")
    descriptor = os.open(path, flags, 0o600)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        if os.name == "posix":
            os.fchmod(descriptor, 0o600)
        return descriptor
    os.close(descriptor)
    raise OSError(f"{path.name} is not a regular file")


# --- copies of the key


def overwrite(descriptor: int) -> None:
    """Overwrite an open file with zeros, durably."""
    left = os.fstat(descriptor).st_size
    os.lseek(descriptor, 0, os.SEEK_SET)
    while left:
        left -= os.write(descriptor, bytes(min(left, 2**20)))
    os.fsync(descriptor)


def remove(path: Path) -> None:
    """Overwrite a file and remove it. A symbolic link is removed, and its target is left alone."""
    if not path.is_symlink():
        descriptor = open_private(path)
        try:
            overwrite(descriptor)
        finally:
            os.close(descriptor)
    path.unlink()


def is_temporary(path: Path) -> bool:
    """Whether this may be an unfinished file of a process that was killed."""
    return TEMPORARY_NAME.fullmatch(path.name) is not None and (path.is_symlink() or path.is_file())


def sweep(folder: Path) -> None:
    """Overwrite and remove the unfinished files of processes that were killed; they may hold the key.

    The caller holds the lock, so no other process is writing one.
    """
    left = [path for path in folder.iterdir() if is_temporary(path)]
    for path in left:
        remove(path)
    if left:
        sync_folder(folder)


# --- the lock


def acquire(descriptor: int, deadline: float, folder: Path) -> None:
    """Lock an open file, waiting until the deadline on the monotonic clock.

    Raises
    ------
    LedgerError
        If another process keeps the lock, or the file system has no locks.
    """
    try:
        while not try_lock(descriptor):
            if time.monotonic() > deadline:
                raise LedgerError(f"registry {folder}: another release holds the ledger; try again when it is done")
            time.sleep(0.02)
    except OSError as error:
        raise LedgerError(
            f"registry {folder}: its file system gives no locks ({error}), so two releases could use the same rows; "
            "nothing was spent; keep the registry on a local disk"
        ) from error
