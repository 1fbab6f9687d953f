"""Templates of Jinja, compiled once for all processes.

Compiling the templates of a report takes ten times as long as rendering it. What Jinja compiles is kept where Python
keeps what it compiles of the modules beside them, under the same rules: below `PYTHONPYCACHEPREFIX` if that is set, not
at all if Python is told to write no bytecode, and silently not where the folder cannot be written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path
from tempfile import NamedTemporaryFile

import jinja2
from jinja2.bccache import Bucket

__all__ = ["environment"]


class _BesideModules(jinja2.BytecodeCache):
    """Jinja itself compares the source and the version of Python; a file belongs to one version of Jinja."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._compiler = "jinja" + "".join(filter(str.isalnum, version("jinja2")))

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError), self._path(bucket).open("rb") as stored:
            bucket.load_bytecode(stored)

    def dump_bytecode(self, bucket: Bucket) -> None:
        if sys.dont_write_bytecode:
            return
        path = self._path(bucket)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=path.parent, delete=False) as written:
                bucket.write_bytecode(written)
            Path(written.name).replace(path)

    def _path(self, bucket: Bucket) -> Path:
        return Path(cache_from_source(str(self._folder / bucket.key), optimization=self._compiler))

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        del filename
        return name


def environment(
    folder: Path, *, finalize: Callable[[object], object] | None = None, keep_trailing_newline: bool = False
) -> jinja2.Environment:
    """The templates of a folder of this package, which escape what they show and refuse unknown names.

    Parameters
    ----------
    folder
        Where the templates are.
    finalize
        What is done to every value before it is escaped.
    keep_trailing_newline
        Whether a page ends as its template does.
    """
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (folder / name).read_text(encoding="utf-8")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=keep_trailing_newline,
        finalize=finalize,
        bytecode_cache=_BesideModules(folder),
    )
