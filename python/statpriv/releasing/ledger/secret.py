"""The key of a ledger, and the newest entry of the history that was written under it."""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from statpriv.errors import ArgumentError
from statpriv.releasing.ledger.authentication import Anchor, Authenticator
from statpriv.releasing.ledger.files import DamageError, open_private, overwrite
from statpriv.releasing.publication import replace_file

__all__ = ["Secret", "copies_of"]

_FORMAT = 2
_KEY = 32
_BLOCK = 2**20


@dataclass(frozen=True)
class Secret:
    """The key of a ledger, with what the ledger held when the key was last written.

    Attributes
    ----------
    releases
        Number of releases in the ledger.
    anchor
        The newest entry of its history. The file of the ledger must have this entry. If it has not, it is older than
        the key, or belongs to another copy of the registry.
    """

    key: bytes = field(repr=False)
    releases: int
    anchor: Anchor

    @property
    def ledger_id(self) -> str:
        """The identifier of the ledger."""
        return self.anchor.ledger_id

    @property
    def codes(self) -> Authenticator:
        """The codes under this key."""
        return Authenticator.of(self.ledger_id, self.key)

    def content(self) -> bytes:
        """The one content of its file, which ends with a code of all before."""
        mac = self.codes.rows("secret", [(self.releases, str(self.anchor))])
        document = {
            "format": _FORMAT,
            "ledger_id": self.ledger_id,
            "key": self.key.hex(),
            "releases": self.releases,
            "anchor": str(self.anchor),
            "mac": mac.hex(),
        }
        return json.dumps(document).encode()

    def write(self, path: Path) -> None:
        """Write the key to a file atomically, and overwrite the bytes of the file that was there before."""
        old = None
        with suppress(FileNotFoundError):
            old = os.open(path, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0))
        try:
            replace_file(path, self.content())
            if old is not None:
                overwrite(old)
        finally:
            if old is not None:
                os.close(old)

    @classmethod
    def read(cls, path: Path) -> Secret:
        """Read a key file.

        Raises
        ------
        DamageError
            If the file is not, byte for byte, as this program writes it.
        """
        descriptor = open_private(path)
        with os.fdopen(descriptor, "rb") as file:
            content = file.read(_BLOCK)
        try:
            values = json.loads(content)
            key, anchor = bytes.fromhex(values["key"]), Anchor.parse(values["anchor"])
            secret = cls(key, int(values["releases"]), anchor)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, ArgumentError):
            raise DamageError(f"{path.name}: this is no key of a ledger; restore it") from None
        if len(key) != _KEY or not hmac.compare_digest(secret.content(), content):
            raise DamageError(f"{path.name}: this is no key of a ledger; restore it")
        return secret


def copies_of(key: bytes, folder: Path) -> Iterator[Path]:
    """The regular files below a folder that hold a key, as bytes or in hexadecimal digits."""
    forms = (key, key.hex().encode(), key.hex().upper().encode())
    overlap = 2 * _KEY
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as file:
            before = b""
            while block := file.read(_BLOCK):
                read = before + block
                if any(form in read for form in forms):
                    yield path
                    break
                before = read[-overlap:]
