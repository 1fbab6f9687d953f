"""The files of a report: the page, the JSON report and its signature, written all or none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from statpriv.errors import PublicationError
from statpriv.releasing.publication import Destination, Place, prepare
from statpriv.releasing.signature import SigningKey, signature_beside

__all__ = ["Outputs", "Places"]


@dataclass(frozen=True)
class Outputs:
    """The destinations of the report, checked before anything is spent."""

    page: Destination | None
    contents: Destination | None
    signature: Destination | None = None
    key: SigningKey | None = None

    @classmethod
    def prepare(
        cls, page: Path | None, contents: Path | None, key: SigningKey | None, *, force: bool, protected: list[Path]
    ) -> Outputs:
        """Check the paths of the page and of the JSON report, which is signed if there is a key."""
        if key is not None and contents is None:
            raise PublicationError("sign: the JSON report is what is signed; name its file with json, too")
        signature = None if key is None or contents is None else signature_beside(contents)
        kept = [*protected, *([] if key is None else [key.path])]
        paths = (page, contents, signature)
        ready = iter(prepare([path for path in paths if path is not None], force=force, protected=kept))
        written, made, signed = (None if path is None else next(ready) for path in paths)
        return cls(written, made, signed, key)

    @property
    def signer(self) -> dict[str, Any]:
        """What a signed report says of its key."""
        return {} if self.key is None else {"signer": self.key.public}

    @contextmanager
    def reserved(self) -> Iterator[Places]:
        """Check the destinations again, and keep other processes from them until the end of the block.

        Raises
        ------
        PublicationError
            If one of them exists by now, or another process is writing it.
        """
        with ExitStack() as held:
            page, contents, signature = (
                None if destination is None else held.enter_context(destination.reserved())
                for destination in (self.page, self.contents, self.signature)
            )
            yield Places(page, contents, signature, self.key)


@dataclass(frozen=True)
class Places:
    """The places of the files of a report, which no other process can take."""

    page: Place | None
    contents: Place | None
    signature: Place | None
    key: SigningKey | None

    def hold(self, page: str, contents: str) -> None:
        """Hold twice the size of this report on disk, because answers will be added.

        A disk without this room is refused before anything is spent. If the ledger is on the same disk, it uses the
        remaining room; if that is too little, the spend itself fails.
        """
        for place, content in ((self.page, page), (self.contents, contents)):
            if place is not None:
                place.hold(2 * len(content.encode()))

    def write(self, page: str, contents: str) -> None:
        """Write the page, then the JSON with the digest of the page, the signature just before it; write all or none.

        A JSON file to be replaced is removed first. Even if the process is killed, a JSON file never lies beside the
        page of another release.
        """
        files = [(self.page, page.encode())]
        if self.contents is not None:
            content = contents.encode()
            self.contents.destination.check()
            if self.contents.destination.force:
                self.contents.destination.withdraw()
            files += [(self.signature, b"" if self.key is None else self.key.sign(content)), (self.contents, content)]
        with ExitStack() as written:
            for place, content in files:
                if place is not None:
                    place.publish(content)
                    written.callback(place.destination.withdraw)
            written.pop_all()
