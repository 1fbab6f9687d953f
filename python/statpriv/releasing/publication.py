"""Atomic writing of files, without replacing anything that must be kept.

``prepare`` makes all possible checks before rows are spent, including the creation and removal of a file in each
folder. ``Destination.reserved`` then takes the place of a file: a temporary file beside it, whose name follows from the
name of the target. It is locked, so that no other process writes the same target, and readable only by its owner. The
whole file is written there and synced. Only then does it get its final name, and the folder is synced. A temporary file
whose process was killed is no longer locked. The next process that takes a place in the folder removes it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from statpriv.errors import PublicationError
from statpriv.releasing.file_lock import try_lock

__all__ = ["TEMPORARY_NAME", "Destination", "Place", "prepare", "replace_file", "sync_folder"]

TEMPORARY_NAME = re.compile(r"\.statpriv-[0-9a-f]{16}\.tmp")

_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_ATTEMPTS = 5
"""A process that removes an abandoned file holds its lock for a moment; one that writes holds it longer."""
_NO_HARD_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
_EXISTS = "it exists; choose another name or say --force"


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
        with self.reserved() as place:
            place.publish(content)

    def withdraw(self) -> None:
        """Remove the file, because its counterpart is missing or will be."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
            sync_folder(self.path.parent)

    @contextmanager
    def reserved(self) -> Iterator[Place]:
        """Take the place of the file, so that no other process writes it; at the end of the block give it back.

        Raises
        ------
        PublicationError
            If another process has the place, or something exists there that must not be replaced.
        """
        self.check()
        temporary = _reservation_of(self.path)
        try:
            _sweep(self.path.parent)
            descriptor = _taken(temporary)
        except OSError as error:
            raise self.refusal(f"no file can be created in its folder ({error.strerror})") from error
        if descriptor is None:
            raise self.refusal(
                f"another release is writing it; choose another name, or wait (if none is, remove {temporary.name} "
                "beside it)"
            )
        place = Place(self, temporary, descriptor)
        try:
            self.check()  # the last holder of the place may have written the file
            place.hold(0)  # a folder that keeps nothing durably is refused before anything depends on it
            yield place
        finally:
            place.give_back()

    def check(self) -> None:
        """Refuse to replace what must be kept."""
        try:
            status = _status(self.path)
            kept = any(_is_or_holds(protected, self.path, status) for protected in self.protected)
        except OSError as error:
            raise self.refusal(f"it cannot be written ({error.strerror})") from error
        if kept:
            raise self.refusal("the data, the plan and the ledger are never overwritten; choose another name")
        if status is None:
            return
        if stat.S_ISLNK(status.st_mode):
            raise self.refusal("it is a symbolic link; write to the file itself")
        if not stat.S_ISREG(status.st_mode):
            raise self.refusal("it exists and is not a regular file")
        if not self.force:
            raise self.refusal(_EXISTS)

    def refusal(self, reason: str) -> PublicationError:
        """Build the error that refuses this path."""
        return PublicationError(f"out = {self.path}: {reason}")


@dataclass
class Place:
    """The place of a file that this process will write: a locked temporary file beside it.

    Attributes
    ----------
    destination
        The file.
    """

    destination: Destination
    _temporary: Path = field(repr=False)
    _descriptor: int | None = field(repr=False)
    _published: bool = field(default=False, repr=False)

    def hold(self, size: int) -> None:
        """Hold this many bytes on the disk of the file, so that no other file, including the ledger, takes them.

        The bytes are random, so that no file system can compress them. They are synced, and so is the folder.

        Raises
        ------
        PublicationError
            If the disk does not have that much room, or keeps nothing durably.
        """
        with self._or_refused(f"its folder has no room for a report of {size} bytes, or keeps no file durably"):
            self._write(secrets.token_bytes(size))
            sync_folder(self._temporary.parent)

    def publish(self, content: bytes) -> None:
        """Write the whole content durably and give it its name, or nothing.

        Raises
        ------
        PublicationError
            If the file cannot be written, or something now exists there that must not be replaced.
        """
        self.destination.check()
        try:
            with self._or_refused("it cannot be written"):
                self._write(content)
                self._name()
                sync_folder(self._temporary.parent)
        except BaseException:
            if self._published:
                self.destination.withdraw()
            raise

    def give_back(self) -> None:
        """Remove the temporary file, if it has not become the file."""
        if self._published:
            self._close()
            return
        if os.name == "nt":  # no file loses its name there while it is open
            self._close()
        with suppress(OSError):
            self._temporary.unlink(missing_ok=True)
        self._close()

    def _write(self, content: bytes) -> None:
        """Write over what is held: the surplus is given back first, for file systems that write elsewhere."""
        os.ftruncate(self._open, min(os.fstat(self._open).st_size, len(content)))
        os.lseek(self._open, 0, os.SEEK_SET)
        unwritten = memoryview(content)
        while unwritten:
            unwritten = unwritten[os.write(self._open, unwritten) :]
        os.fsync(self._open)

    def _name(self) -> None:
        """Give the file its final name, which without ``force`` nothing may have."""
        path = self.destination.path
        if os.name == "nt":
            self._close()
        if self.destination.force:
            self._temporary.replace(path)
        else:
            _rename_exclusively(self._temporary, path)
        self._published = True

    @contextmanager
    def _or_refused(self, reason: str) -> Iterator[None]:
        try:
            yield
        except FileExistsError:
            raise self.destination.refusal(_EXISTS) from None
        except OSError as error:
            raise self.destination.refusal(f"{reason} ({error.strerror})") from error

    @property
    def _open(self) -> int:
        if self._descriptor is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._descriptor

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with suppress(OSError):
                os.close(descriptor)


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
            with suppress(OSError):  # the lock keeps others from sweeping the file; not every file system has locks
                try_lock(file.fileno())
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


# --- names


def _located(path: Path) -> Path:
    """Resolve the folder but keep the last component, so that a symbolic link there is recognised as one."""
    if path.name in {"", ".."}:
        raise PublicationError(f"out = {path}: it has no file name")
    if str(path) == "-":
        raise PublicationError("out = -: a report is a file; name it, or write ./- for a file of this name")
    try:
        folder = path.parent.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise PublicationError(f"out = {path}: its folder does not exist; create it first") from None
    return folder / path.name


def _rename_exclusively(temporary: Path, path: Path) -> None:
    """Rename a file if nothing has the new name.

    Raises
    ------
    FileExistsError
        If something has it.
    """
    if os.name == "nt":
        temporary.rename(path)
        return
    try:
        os.link(temporary, path, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        temporary.rename(path)
    else:
        temporary.unlink()


def _try_folder(path: Path) -> None:
    temporary = _temporary_beside(path)
    try:
        os.close(os.open(temporary, _CREATE, 0o600))
        temporary.unlink(missing_ok=True)  # another process may have swept it
    except OSError as error:
        raise PublicationError(f"out = {path}: no file can be created in its folder ({error.strerror})") from error


def _temporary_beside(path: Path) -> Path:
    return path.with_name(f".statpriv-{secrets.token_hex(8)}.tmp")


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


def _is_or_holds(protected: Path, path: Path, status: os.stat_result | None) -> bool:
    try:
        kept = protected.stat()
    except OSError:
        return protected.parent.resolve() / protected.name == path
    if stat.S_ISDIR(kept.st_mode):
        return any(os.path.samestat(kept, folder.stat()) for folder in path.parents)
    return status is not None and os.path.samestat(kept, status)


# --- temporary files of reserved places


def _reservation_of(path: Path) -> Path:
    """The temporary file beside a path, the same for every process."""
    return path.with_name(f".statpriv-{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}.tmp")


def _taken(temporary: Path) -> int | None:
    """Create and lock a temporary file that all processes would call so; None if another process has it."""
    for _ in range(_ATTEMPTS):
        try:
            descriptor = os.open(temporary, _CREATE, 0o600)
        except FileExistsError:
            if not _is_removed(temporary):
                time.sleep(0.02)
            continue
        try:
            locked = try_lock(descriptor)
        except OSError:  # no locks: the creation alone has to be exclusive
            locked = True
        if locked and _is_called(temporary, descriptor):
            return descriptor
        os.close(descriptor)
    return None


def _sweep(folder: Path) -> None:
    """Remove the temporary files of processes of this user that were killed."""
    with os.scandir(folder) as entries:
        found = [entry for entry in entries if TEMPORARY_NAME.fullmatch(entry.name)]
    for entry in found:
        with suppress(OSError):
            if not hasattr(os, "geteuid") or entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                _is_removed(Path(entry.path))


def _is_removed(temporary: Path) -> bool:
    """Remove a temporary file, unless a process holds it or nobody can tell.

    It may be a second name of a report that has its final name already, and is therefore not overwritten.
    """
    try:
        descriptor = os.open(temporary, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return True
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode) or not try_lock(descriptor):
            return False
        if _is_called(temporary, descriptor):
            temporary.unlink()
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(descriptor)


def _is_called(temporary: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(temporary.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
