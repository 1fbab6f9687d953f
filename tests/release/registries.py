"""Registries as releases leave them, for tests that damage, edit and roll them back."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np

import statpriv as sp
from statpriv._native import RowTokens
from statpriv.releasing.ledger import Registry, Rows
from statpriv.releasing.steps import StatedQuery
from statpriv.releasing.tables import ContentFingerprint

SMOKERS = sp.PropertyQuery(sp.Between("0.4", "0.6"), attribute="smoker = TRUE")
STATED = StatedQuery("smoker = TRUE", gates=((20, 80),), rounded_to=5)


def content(name: str) -> ContentFingerprint:
    return ContentFingerprint(name.encode() * 32, name.upper().encode() * 32)


def rows_of(ledger, ids) -> Rows:
    if isinstance(ids, int):
        return Rows.of(ids, None, ("smoker",))
    return Rows.of(len(ids), RowTokens.of(ledger.row_key, ids, with_rows=True), ("id", "smoker"))


def release(registry: Registry, ids, name, labels, *, accept_edits=False):
    """Spend the rows with a label above 0, of a list of ids or of a number of rows without ids."""
    with registry.locked() as ledger:
        position = ledger.identify(ledger.recognise(rows_of(ledger, ids)), content(name), accept_edits=accept_edits)
        sizes = [labels.count(part) for part in sorted(set(labels) - {0})]
        drawn = position.rows.by_token(np.array(labels) > 0)
        return ledger.spend(
            position, content(name), drawn, queries=[SMOKERS] * len(sizes), sizes=sizes,
            stated=[STATED] * len(sizes), plan_sha256="5" * 64,
        )  # fmt: skip


def grow(registry: Registry, ids, old, whole, *, accept_edits=False):
    with registry.locked() as ledger:
        growth = ledger.grown(rows_of(ledger, ids))
        edited = ledger.check_growth(growth, old=content(old), whole=content(whole), accept_edits=accept_edits)
        ledger.extend(growth, content(whole), content_edited=edited)


def written_registry(folder: Path, seed: int = 1) -> Registry:
    """Two data sets, one of which grew, four releases, and edits that were accepted."""
    registry = Registry(folder, random.Random(seed).randbytes)  # noqa: S311 - a test repeats them
    release(registry, list("abcdef"), "o", [1, 0, 2, 0, 0, 1])
    release(registry, 5, "p", [1, 1, 0, 0, 0])
    grow(registry, list("abcdefgh"), "o", "q")
    release(registry, list("abcdefgh"), "q", [0, 1, 0, 0, 0, 0, 1, 0])
    release(registry, list("abcdefgh"), "r", [0, 0, 0, 1, 0, 0, 0, 0], accept_edits=True)
    return registry


def state(folder: Path) -> dict[str, list[tuple]]:
    """Everything in the ledger's tables."""
    with closing(sqlite3.connect(folder / "ledger.sqlite3")) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: connection.execute(f"SELECT rowid, * FROM {name}").fetchall() for name in tables}  # noqa: S608 - names of our own tables
