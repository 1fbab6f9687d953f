"""The key of a ledger, and the number of releases made under it."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from statpriv.errors import LedgerError
from statpriv.releasing.ledger.files import open_private
from statpriv.releasing.publication import replace_file, sync_folder

__all__ = ["Secret"]


@dataclass(frozen=True)
class Secret:
    """The key of a ledger, and the number of releases made under it."""

    ledger_id: str
    key: bytes = field(repr=False)
    releases: int

    def write(self, path: Path) -> None:
        """Write the key to a file atomically, and overwrite the bytes of the file that was there before."""
        content = {"format": 1, "ledger_id": self.ledger_id, "key": self.key.hex(), "releases": self.releases}
        old = None
        with suppress(FileNotFoundError):
            old = os.open(path, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0))
        try:
            replace_file(path, json.dumps(content).encode())
            if old is not None:
                _overwrite(old)
        finally:
            if old is not None:
                os.close(old)

    @classmethod
    def read(cls, path: Path) -> Secret:
        """Read a key file.

        Raises
        ------
        LedgerError
            If the file is not a key file.
        """
        descriptor = open_private(path)
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

    @staticmethod
    def destroy(path: Path) -> None:
        """Overwrite a key file and remove it."""
        descriptor = open_private(path)
        try:
            _overwrite(descriptor)
        finally:
            os.close(descriptor)
        path.unlink()
        sync_folder(path.parent)


def _overwrite(descriptor: int) -> None:
    size = os.fstat(descriptor).st_size
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, bytes(size))
    os.fsync(descriptor)
