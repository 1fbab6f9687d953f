"""Extension of a released table: appended rows join its data set and may be used from then on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from statpriv.releasing.ledger import Anchor, Registry, Rows
from statpriv.releasing.plan import Plan
from statpriv.releasing.plan_file import load_plan
from statpriv.releasing.tables import open_table

__all__ = ["Extension", "extend"]


@dataclass(frozen=True)
class Extension:
    """The rows that joined a data set.

    Attributes
    ----------
    data_set
        Number of the data set in the ledger.
    rows_before, rows_joined
        Numbers of rows before the extension and of rows that joined.
    content_edited
        Whether values of the old rows differ from those at the last release.
    """

    data_set: int
    rows_before: int
    rows_joined: int
    content_edited: bool


def extend(
    plan: str | Path,
    *,
    data: str | Path | None = None,
    registry: str | Path | None = None,
    accept_edits: bool = False,
    anchor: str | None = None,
) -> Extension:
    """Let the new rows of a released table join its data set, as a separate cohort.

    Nothing is released and no row is spent. Later guarantees take into account that the new rows were absent from
    earlier releases, and that some of the old rows are spent.

    Parameters
    ----------
    plan : path
        A plan file; only its statements about the data are used.
    data : path, optional
        The table, in place of the plan's `data.source`.
    registry : path, optional
        Folder of the ledger; by default `STATPRIV_REGISTRY`, else the user's data folder.
    accept_edits : bool, default False
        Accept that values of the old rows were edited.
    anchor : str, optional
        A line that `statpriv ledger anchor` printed. A registry that is older, or another copy, is refused.

    Returns
    -------
    Extension

    Raises
    ------
    ArgumentError
        If the anchor is none.
    PlanError, TableError, LedgerError
        If the plan, the data or the ledger refuse: a row is missing, was edited, or belongs to another table. Nothing
        has changed then.
    """
    known = None if anchor is None else Anchor.parse(anchor)
    chosen = Registry.open(None if registry is None else Path(registry))
    return extend_data_set(load_plan(plan, data=data), chosen, accept_edits=accept_edits, anchor=known)


def extend_data_set(
    plan: Plan, registry: Registry, *, accept_edits: bool, anchor: Anchor | None = None, debug: bool = False
) -> Extension:
    """Carry out :func:`extend` on a given plan and registry."""
    with registry.locked(anchor=anchor) as ledger, open_table(plan.data, plan.conditions, debug=debug) as table:
        tokens = table.row_tokens(ledger.row_key, with_rows=True)
        growth = ledger.grown(Rows.of(table.row_count(), tokens, table.columns))
        content = table.load(ledger.content_key, growth.rows.by_row(growth.old))
        old = content.fingerprint_of_selected or content.fingerprint
        edited = ledger.check_growth(growth, old=old, whole=content.fingerprint, accept_edits=accept_edits)
        ledger.extend(growth, content.fingerprint, content_edited=edited)
    return Extension(growth.data_set.number, growth.data_set.rows, growth.new_rows, edited)
