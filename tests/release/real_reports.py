"""Reports of every kind as releases wrote them, of small tables and with few points, for tests that change them."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from statpriv.releasing.extension import extend
from statpriv.releasing.recomputation import ReleaseReport, read_report

from .conftest import Workshop, query

HISTOGRAM = """
[[query]]
name = "Age"
source = "a public table"
rows = 12
cell = [
  {name = "no", where = "age = 0", probability = ["0.3", "0.4"]},
  {name = "one", where = "age = 1", probability = "1/3"},
]
"""
GATED = "gate = true\n"
COARSE = "suppressed_below = 3\nrounded_to = 5\n"
COARSER = "suppressed_below = 10\nrounded_to = 5\n"
KINDS = ("counts", "gates and cells", "groups", "later", "dry run", "suppressed", "same rows", "tables", "a tree")


def people(workshop: Workshop, n: int) -> None:
    workshop.table(["id", "vote", "age", "sex"], [[f"p{i}", i % 2, i % 3, "mf"[i % 4 == 0]] for i in range(n)])


def _release(workshop: Workshop, *queries: str, data: str = 'row_id = "id"', dry: bool = False, **options: Any) -> None:
    workshop.plan(*queries, more_data=data, **options)
    plan = workshop.folder / "plan.toml"
    if "[[prior]]" in options.get("more", ""):
        plan.write_text(plan.read_text(encoding="utf-8").removeprefix('prior = "none"'), encoding="utf-8")
    workshop.release(force=True, seed=len(workshop.spent()), dry_run=dry)


def _counts(workshop: Workshop) -> None:
    people(workshop, 24)
    coarse = query("age = 0", rows=24, probability=("0.3", "0.4"), name="children") + COARSE
    _release(workshop, coarse, more='[[prior]]\ndescription = "a yearbook"\nepsilon = 1', epsilon='"1/3"')


def _gates(workshop: Workshop) -> None:
    people(workshop, 40)
    odd = query("vote = 0", rows=24, probability=("0.45", "0.55")) + GATED + "rounded_to = 3\n"
    _release(workshop, odd, HISTOGRAM + GATED, delta="0.9", epsilon="0.5")


def _groups(workshop: Workshop) -> None:
    people(workshop, 24)
    rows = query("vote = 0", rows=10).replace("rows = 10", "rows = {f = 3, m = 8}")
    ranged = rows.replace('["0.4", "0.6"]', '{f = ["0.4", "0.6"], m = ["0.3", "0.7"]}')
    _release(workshop, ranged, data='row_id = "id"\ngroup = "sex"\ngroup_source = "a census"', epsilon="0.5")


def _later(workshop: Workshop) -> None:
    """The fourth release of a table that grew, after gates, steps and a histogram."""
    people(workshop, 60)
    _release(workshop, query("vote = 0", rows=24) + GATED, epsilon="0.5")
    _release(workshop, query("age = 0", rows=12, probability=("0.3", "0.4")) + COARSER, epsilon="0.5")
    people(workshop, 90)
    extend(workshop.folder / "plan.toml", registry=workshop.registry)
    _release(workshop, HISTOGRAM, epsilon="0.5")
    _release(workshop, query("vote = 0", rows=20, probability=("0.45", "0.65")), epsilon="0.5")


def _dry_run(workshop: Workshop) -> None:
    people(workshop, 24)
    _release(workshop, query("vote = 0", rows=12), epsilon="0.5", dry=True)


def _suppressed(workshop: Workshop) -> None:
    """One count is suppressed, one withheld."""
    people(workshop, 24)
    few = query("age = 0", rows=4, probability=("0.1", "0.4"), name="few") + "suppressed_below = 5\n"
    gated = query("age < 9", rows=8, probability=("0.2", "0.3")) + GATED
    _release(workshop, gated, few, more="known_rows = 1", epsilon="0.5")


def _same_rows(workshop: Workshop) -> None:
    """Two counts of all rows, which are in units."""
    people(workshop, 24)
    asked = [query(where, rows=24, name=where).replace("rows = 24", "each = true") for where in ("vote = 0", "age = 0")]
    units = 'row_id = "id"\nunit = "sex"\nunits = 2\nlargest_unit = 18\nunit_source = "a register"'
    _release(workshop, *asked, data=units, more='[publication]\nrows = "same"\nprotects = "attribute"\n')


def _tables(workshop: Workshop) -> None:
    """Two tables of all rows whose cells have ranges, of one the finest of two groupings."""
    people(workshop, 24)
    stated = 'probability = ["0.1", "0.6"]\neach = true\nsource = "a census"\n'
    own = 'probabilities = [{ cell = [1], probability = ["0.2", "0.5"] }]\n'
    asked = (
        f'[[table]]\nname = "votes"\nminimum = 2\n{stated}[table.dimensions]\nvote = [0, 1]\n',
        f'[[table]]\nname = "ages"\nminimum = 3\n{stated}{own}minima = [{{ cell = [0], minimum = 4 }}]\n'
        "[table.dimensions]\nage = { values = [0, 1, 2], recode = [[[0, 1], [2]]] }\n",
    )
    _release(workshop, *asked, more='[publication]\nrows = "same"\nprotects = "row"\n', epsilon="0.5", delta="0.9")


def _tree(workshop: Workshop) -> None:
    """A tree of all rows: everybody's sex, and the votes of those whose cells are large enough."""
    people(workshop, 24)
    asked = (
        '[[table]]\nname = "votes"\nminimum = 3\nnested = true\n[table.dimensions]\nsex = ["f", "m"]\nvote = [0, 1]\n'
    )
    _release(workshop, asked, epsilon="1", delta="0.9")


_MAKERS = (_counts, _gates, _groups, _later, _dry_run, _suppressed, _same_rows, _tables, _tree)
_MADE = dict(zip(KINDS, _MAKERS, strict=True))


@cache
def _report(kind: str) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        workshop = Workshop(Path(folder))
        _MADE[kind](workshop)
        return workshop.report


def report(kind: str) -> dict[str, Any]:
    """A copy of the report of this kind; `few_points` has to be in use wherever it is computed again."""
    return copy.deepcopy(_report(kind))


def again(document: dict[str, Any]) -> ReleaseReport:
    """The document as `statpriv compose` reads it."""
    import json

    return read_report(json.dumps(document).encode(), Path("report.json"))
