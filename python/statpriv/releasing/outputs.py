"""The files of a report: the page, the tables, the JSON report and its signature, written all or none."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from statpriv.errors import PublicationError
from statpriv.releasing.plan import Plan
from statpriv.releasing.publication import Destination, Place, prepare
from statpriv.releasing.signature import SigningKey, signature_beside
from statpriv.releasing.table_files import TableFiles, TablePlaces, fullest, tables_of

__all__ = ["Outputs", "Places"]


@dataclass(frozen=True)
class Outputs:
    """The destinations of the report, checked before anything is spent."""

    page: Destination | None
    contents: Destination | None
    signature: Destination | None = None
    key: SigningKey | None = None
    tables: TableFiles | None = None

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

    def with_tables(self, folder: Path, plan: Plan, *, dry_run: bool, force: bool, protected: list[Path]) -> Outputs:
        """The same with the files of the plan's exact tables, of which a dry run writes none."""
        if not plan.tables:
            raise PublicationError(f"tables = {folder}: the plan has no [[table]], so there are no files to write")
        if dry_run:
            return self
        report = [each.path for each in (self.page, self.contents, self.signature) if each is not None]
        kept = [*protected, *report, *([] if self.key is None else [self.key.path])]
        files = TableFiles.prepare(folder, [table.name for table in plan.tables], force=force, protected=kept)
        return replace(self, tables=files)

    def leave(self) -> None:
        """Remove the folder of the tables if it was made and is empty."""
        if self.tables is not None:
            self.tables.leave()

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
            tables = None if self.tables is None else held.enter_context(self.tables.reserved())
            yield Places(page, contents, signature, self.key, tables)


@dataclass(frozen=True)
class Places:
    """The places of the files of a report, which no other process can take."""

    page: Place | None
    contents: Place | None
    signature: Place | None
    key: SigningKey | None
    tables: TablePlaces | None

    def hold(self, page: str, contents: str, report: Mapping[str, Any]) -> None:
        """Hold twice the size of this report on disk, because answers will be added.

        The cells of tables are held as the report will hold them, with counts of as many digits as there can be. A disk
        without this room is refused before anything is spent. If the ledger is on the same disk, it uses the remaining
        room; if that is too little, the spend itself fails.

        Parameters
        ----------
        page, contents
            The page and the JSON report without answers.
        report
            The data of both.
        """
        cells = len(json.dumps(fullest(report), indent=1, ensure_ascii=False).encode())
        for place, content in ((self.page, page), (self.contents, contents)):
            if place is not None:
                place.hold(2 * (len(content.encode()) + cells))
        if self.tables is not None:
            self.tables.hold(tables_of(report))

    def write(self, page: str, contents: str, report: Mapping[str, Any]) -> None:
        """Write the page, the tables, and then the JSON with the digest of the page, the signature just before it.

        All or none of them are written. A JSON file to be replaced is removed first. Even if the process is killed, a
        JSON file never lies beside the page of another release.
        """
        content = contents.encode()
        if self.contents is not None:
            self.contents.destination.check()
            if self.contents.destination.force:
                self.contents.destination.withdraw()
        with ExitStack() as written:
            _publish(self.page, page.encode(), written)
            if self.tables is not None:
                self.tables.write(tables_of(report))
                written.callback(self.tables.withdraw)
            if self.key is not None:
                _publish(self.signature, self.key.sign(content), written)
            _publish(self.contents, content, written)
            written.pop_all()


def _publish(place: Place | None, content: bytes, written: ExitStack) -> None:
    """Write a file that is withdrawn when the stack is closed."""
    if place is not None:
        place.publish(content)
        written.callback(place.destination.withdraw)
