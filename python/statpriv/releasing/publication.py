"""Atomic writing of files, without replacing anything that must be kept.

``prepare`` makes all possible checks before rows are spent, including the creation and removal of a file in each
folder. ``Destination.publish`` writes. A file is created under a temporary name in the folder of its target, readable
only by its owner. It is synced and renamed, and the folder is synced.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from statpriv.errors import PublicationError

__all__ = ["Destination", "prepare", "replace_file", "sync_folder"]

_GONE_WHEN_CLOSED = getattr(os, "O_TEMPORARY", 0)
"""Of Windows, where no file loses its name while it is open."""
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True)
class Destination:
    """A path that has been checked to be writable.

    Attributes
    ----------
    path
        The absolute path, with its folder resolved.
    force
        Whether an existing file may be replaced.
    protected
        Files that are never replaced, and folders in which no file is replaced.
    """

    path: Path
    force: bool
    protected: tuple[Path, ...]

    def publish(self, content: bytes) -> None:
        """Write the whole content durably, or nothing.

        Raises
        ------
        PublicationError
            If the file cannot be written, or something now exists there that must not be replaced.
        """
        self.check()
        try:
            replace_file(self.path, content)
        except OSError as error:
            raise PublicationError(f"out = {self.path}: it cannot be written ({error.strerror})") from error

    def withdraw(self) -> None:
        """Remove the file, because its counterpart is missing or will be."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
            sync_folder(self.path.parent)

    @contextmanager
    def reserved(self, size: int) -> Iterator[None]:
        """Reserve this many bytes on the disk of the path, so that no other file, including the ledger, takes them.

        The bytes are random, so that no file system can compress them. They belong to an unnamed file, which disappears
        with the process.

        Raises
        ------
        PublicationError
            If the disk does not have that much room.
        """
        temporary = _temporary_beside(self.path)
        flags = _CREATE | _GONE_WHEN_CLOSED
        with ExitStack() as held:
            try:
                # Unbuffered: a buffer with unwritten data would fail again when the file is closed.
                file = held.enter_context(os.fdopen(os.open(temporary, flags, 0o600), "wb", buffering=0))
                if not _GONE_WHEN_CLOSED:
                    temporary.unlink()
                unwritten = memoryview(secrets.token_bytes(size))
                while unwritten:
                    unwritten = unwritten[file.write(unwritten) :]
                os.fsync(file.fileno())
            except OSError as error:
                raise PublicationError(
                    f"out = {self.path}: its folder has no room for a report of {size} bytes ({error.strerror})"
                ) from error
            yield

    def check(self) -> None:
        """Refuse to replace what must be kept."""
        try:
            status = self.path.lstat()
        except FileNotFoundError:
            status = None
        except OSError as error:
            raise PublicationError(f"out = {self.path}: it cannot be written ({error.strerror})") from error
        if any(_is_or_holds(protected, self.path, status) for protected in self.protected):
            raise PublicationError(
                f"out = {self.path}: the data, the plan and the ledger are never overwritten; choose another name"
            )
        if status is None:
            return
        if stat.S_ISLNK(status.st_mode):
            raise PublicationError(f"out = {self.path}: it is a symbolic link; write to the file itself")
        if not stat.S_ISREG(status.st_mode):
            raise PublicationError(f"out = {self.path}: it exists and is not a regular file")
        if not self.force:
            raise PublicationError(f"out = {self.path}: it exists; choose another name or say --force")


def prepare(paths: Sequence[Path], *, force: bool = False, protected: Sequence[Path] = ()) -> tuple[Destination, ...]:
    """Check, before anything is spent, that each path can be written.

    Parameters
    ----------
    paths
        The paths of the files, all distinct.
    force
        Whether existing regular files may be replaced.
    protected
        Paths that are never replaced, under any name or hard link: the data, the plan, the ledger and
        its key. A folder protects everything in it.
    """
    destinations: list[Destination] = []
    for path in paths:
        destination = Destination(_located(path), force, tuple(protected))
        if destination.path in {earlier.path for earlier in destinations}:
            raise PublicationError(f"out = {path}: two files of the report would have this name")
        destination.check()
        _try_folder(destination.path)
        destinations.append(destination)
    return tuple(destinations)


def replace_file(path: Path, content: bytes) -> None:
    """Atomically put a file with this content at the path, so that it survives a crash.

    Raises
    ------
    OSError
        If the system refuses; the path is then unchanged.
    """
    temporary = _temporary_beside(path)
    try:
        with os.fdopen(os.open(temporary, _CREATE, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames and removals in a folder durable, if the system supports this."""
    if not hasattr(os, "O_DIRECTORY"):  # Windows cannot open a folder to sync it
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _located(path: Path) -> Path:
    """Resolve the folder but keep the last component, so that a symbolic link there is recognised as one."""
    if path.name in {"", ".."}:
        raise PublicationError(f"out = {path}: it has no file name")
    try:
        folder = path.parent.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise PublicationError(f"out = {path}: its folder does not exist; create it first") from None
    return folder / path.name


def _try_folder(path: Path) -> None:
    temporary = _temporary_beside(path)
    try:
        os.close(os.open(temporary, _CREATE, 0o600))
        temporary.unlink()
    except OSError as error:
        raise PublicationError(f"out = {path}: no file can be created in its folder ({error.strerror})") from error


def _temporary_beside(path: Path) -> Path:
    return path.with_name(f".statpriv-{secrets.token_hex(8)}.tmp")


def _is_or_holds(protected: Path, path: Path, status: os.stat_result | None) -> bool:
    try:
        kept = protected.stat()
    except OSError:
        return protected.parent.resolve() / protected.name == path
    if stat.S_ISDIR(kept.st_mode):
        return any(os.path.samestat(kept, folder.stat()) for folder in path.parents)
    return status is not None and os.path.samestat(kept, status)
