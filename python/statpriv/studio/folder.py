"""What the studio was started with: one folder, whose files alone it reads or writes, and perhaps one database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from statpriv.errors import ArgumentError
from statpriv.releasing.plan import DataSource
from statpriv.releasing.plan_file import described_source
from statpriv.releasing.publication import replace_file
from statpriv.releasing.tables import source_files

__all__ = ["Folder"]

_TABLES = (".csv", ".parquet", ".duckdb")
_MAX_FILES = 500


@dataclass(frozen=True)
class Folder:
    """Files directly inside one folder, by their names.

    Attributes
    ----------
    path
        The folder.
    database
        The address of a PostgreSQL database whose tables may be released too; None without one.
    """

    path: Path
    database: str | None = None

    def __post_init__(self) -> None:
        """Refuse what is no address of a database, or holds a password: pages show it, and plans name it."""
        if self.database is None:
            return
        if described_source({"source": self.database, "table": "any", "row_id": "any"}, self.path).database is None:
            raise ArgumentError("--database: an address such as postgresql://host/database is required")

    def tables(self) -> list[str]:
        """The names of the tables in it."""
        return self._named(*_TABLES)

    def described(self, data: Mapping[str, str]) -> DataSource:
        """The table that keys of `[data]` describe.

        Raises
        ------
        ArgumentError
            If they describe none, or one that is elsewhere.
        """
        source = described_source(data, self.path)
        self.check_sources(source)
        return source

    def plans(self) -> list[str]:
        """The names of the TOML files in it."""
        return self._named(".toml")

    def _named(self, *suffixes: str) -> list[str]:
        found = sorted(entry.name for entry in self.path.iterdir() if entry.is_file() and entry.suffix in suffixes)
        return [name for name in found if not name.startswith(".")][:_MAX_FILES]

    def file(self, name: str, *suffixes: str) -> Path:
        """The path of a file in the folder.

        Raises
        ------
        ArgumentError
            If the name has other parts, leads out of the folder, or has another suffix.
        """
        path = self.path / name
        if not name or Path(name).name != name or name.startswith(".") or path.suffix not in suffixes:
            raise ArgumentError(
                f"file = {name!r}; the name of a {' or '.join(suffixes)} file in this folder is required"
            )
        if path.is_symlink() or path.resolve().parent != self.path.resolve():
            raise ArgumentError(f"file = {name!r} leads out of this folder")
        return path

    def check_sources(self, source: DataSource) -> None:
        """Refuse a table that is elsewhere: in another folder, in another database or in a catalog.

        Raises
        ------
        ArgumentError
            With what a plan for the studio may name.
        """
        if source.database is not None and source.database == self.database:
            return
        own = self.path.resolve()
        places = [path.resolve() for path in source_files(source)]
        if not places or any(place.parent != own for place in places):
            raise ArgumentError(
                f"data.source = {source.label!r} is not in this folder; the studio reads tables of its folder, and of "
                "the database that it was started with: start it there, or use statpriv release"
            )

    def write(self, name: str, text: str, *, replace: bool) -> Path:
        """Write a plan, atomically.

        Raises
        ------
        ArgumentError
            If there is one of this name and it is not to be replaced, or it cannot be written.
        """
        path = self.file(name, ".toml")
        if path.exists() and not replace:
            raise ArgumentError(f"file = {name!r} exists; choose another name, or say that it is to be replaced")
        try:
            replace_file(path, text.encode())
        except OSError as error:
            raise ArgumentError(f"file = {name!r} cannot be written: {error.strerror}") from None
        return path
