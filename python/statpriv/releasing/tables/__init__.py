"""One small protocol of tables, and an engine behind it for each kind of source."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from statpriv.releasing.plan import DataSource
from statpriv.releasing.predicate import Predicate
from statpriv.releasing.tables.files import source_files
from statpriv.releasing.tables.protocol import (
    Content,
    ContentFingerprint,
    Groups,
    QueryListener,
    Question,
    RowListener,
    Table,
)

__all__ = [
    "Content",
    "ContentFingerprint",
    "Groups",
    "QueryListener",
    "Question",
    "RowListener",
    "Table",
    "open_table",
    "source_files",
]


def open_table(
    source: DataSource,
    predicates: Sequence[Predicate],
    *,
    debug: bool = False,
    on_query: QueryListener | None = None,
    on_rows: RowListener | None = None,
) -> AbstractContextManager[Table]:
    """Open the data of a plan and check the names and types of its columns; no row is read.

    Parameters
    ----------
    source
        Where the table is, and the columns that name its rows.
    predicates
        Everything that will be asked.
    debug
        Attach the engine's own errors, which may quote cells, as the cause of ours.
    on_query
        Is told every SQL text before the engine runs it.
    on_rows
        Is told now and then how many rows a long step has read, where the engine can tell.

    Raises
    ------
    TableError
        Where the source or its columns are not what the plan says. Never quotes a cell.
    """
    if source.engine == "postgresql":
        from statpriv.releasing.tables import postgresql

        return postgresql.open_table(source, predicates, debug=debug, on_query=on_query)
    if source.engine == "spark":
        from statpriv.releasing.tables import spark

        return spark.open_table(source, predicates, debug=debug, on_query=on_query)
    from statpriv.releasing.tables import duckdb

    return duckdb.open_table(source, predicates, debug=debug, on_query=on_query, on_rows=on_rows)
