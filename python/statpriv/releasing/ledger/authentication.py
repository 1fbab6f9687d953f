"""Message authentication codes of a ledger, and the anchors that its owner keeps elsewhere.

All codes are HMAC-SHA256 under one subkey of the ledger's key. Each message begins with its purpose, and each value in
it carries its type and its length, so no two different messages are written alike.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from statpriv.errors import ArgumentError

__all__ = ["LINK", "Anchor", "Authenticator", "Cell"]

Cell: TypeAlias = "int | str | bytes | float | None"
"""A value as SQLite returns it. The ledger stores no float: a float is there only after an edit."""

LINK = 32
"""Bytes of a link of the history."""

_ANCHORED = 16
"""Bytes of a link that an anchor names."""
_WRITTEN_ANCHOR = re.compile(r"(?a:([0-9a-f]{32})-([1-9]\d{0,15})-([0-9a-f]{32}))")


@dataclass(frozen=True)
class Anchor:
    """One entry of the history of one ledger, named shortly enough to be kept on paper.

    A registry whose history lacks the entry is older than the anchor, or a copy with another history. An anchor depends
    on the order and sizes of releases and on random bytes. It does not depend on the content of a table, so it may be
    published.

    Attributes
    ----------
    ledger_id
        Identifier of the ledger.
    entry
        Number of the entry, from 1.
    link
        The first 16 bytes of its link.

    Examples
    --------
    >>> text = "00112233445566778899aabbccddeeff-7-ffeeddccbbaa99887766554433221100"
    >>> Anchor.parse(text).entry
    7
    >>> str(Anchor.parse(text)) == text
    True
    """

    ledger_id: str
    entry: int
    link: bytes

    @classmethod
    def of(cls, ledger_id: str, entry: int, link: bytes) -> Anchor:
        """The anchor of an entry with this link."""
        return cls(ledger_id, entry, link[:_ANCHORED])

    @classmethod
    def parse(cls, text: str) -> Anchor:
        """Read an anchor as `statpriv ledger anchor` prints it.

        Raises
        ------
        ArgumentError
            If the text is no anchor.
        """
        found = _WRITTEN_ANCHOR.fullmatch(text.strip())
        if found is None:
            raise ArgumentError(
                f"anchor = {text[:120]}; the line that `statpriv ledger anchor` printed is required: 32 hexadecimal "
                "digits, the number of an entry and 32 hexadecimal digits, joined by hyphens"
            )
        ledger_id, entry, link = found.groups()
        return cls(ledger_id, int(entry), bytes.fromhex(link))

    def names(self, link: bytes) -> bool:
        """Whether the entry has this link."""
        return hmac.compare_digest(self.link, link[:_ANCHORED])

    def __str__(self) -> str:
        return f"{self.ledger_id}-{self.entry}-{self.link.hex()}"


@dataclass(frozen=True)
class Authenticator:
    """The codes of one ledger.

    Attributes
    ----------
    ledger_id
        Identifier of the ledger; every code depends on it.
    """

    ledger_id: str
    _key: bytes = field(repr=False)

    @classmethod
    def of(cls, ledger_id: str, key: bytes) -> Authenticator:
        """The codes under the subkey of a ledger's key; they do not reveal the key."""
        return cls(ledger_id, hmac.digest(key, b"statpriv ledger mac", "sha256"))

    def link(self, previous: bytes, entry: int, change: str) -> bytes:
        """The code of an entry of the history, which depends on all entries before it."""
        return self.rows("link", [(previous, entry, change)])

    def seal(self, newest: bytes, parts: Mapping[str, bytes]) -> bytes:
        """The code of the whole ledger: of the newest link and of the code of each part."""
        return self.rows("seal", [(newest,), *sorted(parts.items())])

    def rows(self, purpose: str, rows: Iterable[Sequence[Cell]]) -> bytes:
        """The code of rows in their order, computed in the memory of one row."""
        message = hmac.new(self._key, digestmod="sha256")
        message.update(_written((purpose, self.ledger_id)))
        for row in rows:
            message.update(_written(row))
        return message.digest()


def _written(row: Sequence[Cell]) -> bytes:
    """A row as bytes: the number of its cells, then of each cell its type, its length and its value."""
    return b"".join((len(row).to_bytes(8, "big"), *(part for cell in row for part in _cell(cell))))


def _cell(cell: Cell) -> tuple[bytes, bytes, bytes]:
    kind, value = _typed(cell)
    return kind, len(value).to_bytes(8, "big"), value


def _typed(cell: Cell) -> tuple[bytes, bytes]:
    match cell:
        case bytes():
            return b"b", cell
        case str():
            return b"t", cell.encode()
        case int():
            return b"i", b"%d" % cell
        case float():
            return b"f", cell.hex().encode()
        case None:
            return b"n", b""
