"""The protocol of tables, and one engine behind it for each kind of source."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from statpriv.releasing.plan import DataSource
from statpriv.releasing.tables.columns import Condition
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
    conditions: Sequence[Condition],
    *,
    debug: bool = False,
    on_query: QueryListener | None = None,
    on_rows: RowListener | None = None,
) -> AbstractContextManager[Table]:
    """Open the data of a plan and check the names and types of its columns, without reading any row.

    Parameters
    ----------
    source
        The location of the table, and the columns that identify its rows.
    conditions
        All predicates and dimensions of tables that will be evaluated.
    debug
        Attach the engine's own errors, which may quote cells, as the cause of ours.
    on_query
        Listener called with every SQL text before the engine runs it.
    on_rows
        Listener called occasionally with the number of rows that a long step has read, if the engine reports it.

    Raises
    ------
    TableError
        If the source or its columns do not match the plan. The message never quotes a cell.
    """
    if source.engine == "postgresql":
        from statpriv.releasing.tables import postgresql

        return postgresql.open_table(source, conditions, debug=debug, on_query=on_query)
    if source.engine == "spark":
        from statpriv.releasing.tables import spark

        return spark.open_table(source, conditions, debug=debug, on_query=on_query)
    from statpriv.releasing.tables import duckdb

    return duckdb.open_table(source, conditions, debug=debug, on_query=on_query, on_rows=on_rows)
