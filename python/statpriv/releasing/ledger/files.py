"""The files of a registry: their location, their permissions, and the lock that admits one process at a time."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from statpriv.errors import LedgerError

__all__ = ["acquire", "open_private", "user_data_folder", "writing"]


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn errors of the system and of SQLite into a refusal; their messages contain no data except tokens."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise LedgerError(
            f"registry {folder}: the ledger cannot be read and written ({error}); nothing was spent"
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
    descriptor = os.open(path, flags, 0o600)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        if os.name == "posix":
            os.fchmod(descriptor, 0o600)
        return descriptor
    os.close(descriptor)
    raise OSError(f"{path.name} is not a regular file")


def acquire(descriptor: int, deadline: float, folder: Path) -> None:
    """Lock an open file, waiting until the deadline on the monotonic clock."""
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
