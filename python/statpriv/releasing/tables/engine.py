"""DuckDB as an engine inside this process, whose errors never leave it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from numpy.typing import NDArray

from statpriv._native import StreamError
from statpriv.errors import MissingExtraError
from statpriv.releasing.tables.files import Files
from statpriv.releasing.tables.protocol import QueryListener, RowListener

try:
    import duckdb
except ImportError as missing:
    raise MissingExtraError("reading a table needs DuckDB: pip install 'statpriv[release]'") from missing

__all__ = ["Engine"]

_Fetched = TypeVar("_Fetched")

_NO_MEMORY = "it does not fit into the memory of this machine, and nothing may be written to a disk meanwhile"
_INTERRUPTED = "Query interrupted"
"""All that the engine leaves of a Ctrl-C that comes while it works, in a RuntimeError."""


@dataclass(frozen=True)
class Engine:
    """A private in-memory connection whose errors never leave it."""

    connection: duckdb.DuckDBPyConnection
    files: Files
    debug: bool
    on_query: QueryListener | None
    on_rows: RowListener | None

    def run(self, sql: str, sentence: str) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows; the sentence is the message of a failure."""
        return self._fetched(sql, sentence, lambda result: result.fetchall())

    def column(self, sql: str, sentence: str) -> NDArray[Any]:
        """Run a query with one column and return its values in order; masked if some are NULL."""
        (values,) = self.columns(sql, sentence)
        return values

    def columns(self, sql: str, sentence: str) -> list[NDArray[Any]]:
        """Run a query and return the values of each of its columns."""
        return list(self._fetched(sql, sentence, lambda result: result.fetchnumpy()).values())

    def streamed(
        self,
        sql: str,
        sentence: str,
        take: Callable[[duckdb.DuckDBPyRelation, RowListener | None], _Fetched],
    ) -> _Fetched:
        """Run a query and pass on its batches as they arrive, in row order."""
        return self._guarded(sql, sentence, lambda: take(self.connection.sql(sql), self.on_rows))

    def _fetched(self, sql: str, sentence: str, fetch: Callable[[duckdb.DuckDBPyConnection], _Fetched]) -> _Fetched:
        return self._guarded(sql, sentence, lambda: fetch(self.connection.execute(sql)))

    def _guarded(self, sql: str, sentence: str, work: Callable[[], _Fetched]) -> _Fetched:
        if self.on_query is not None:
            self.on_query(sql)
        try:
            return work()
        except duckdb.OutOfMemoryException as error:
            original: Exception = error
            sentence = _NO_MEMORY
        except (duckdb.Error, StreamError) as error:
            original = error
            # A failure in mid-stream loses the class of the error; only the start of its message tells it.
            sentence = _NO_MEMORY if "Out of Memory" in str(error)[:60] else sentence
        except RuntimeError as error:
            if str(error) == _INTERRUPTED:
                raise KeyboardInterrupt from None
            raise
        # Raised outside the except block: inside it, Python would attach the original as the context.
        raise self.files.refusal(sentence) from (original if self.debug else None)
