"""A table that is not copied is read again by every pass that counts: the same counts, or a refusal."""

from __future__ import annotations

from contextlib import closing

import duckdb
import numpy as np
import pytest

from statpriv import budget
from statpriv.errors import RowsSpentError, TableError
from statpriv.releasing.classification import Classification, dimension_from
from statpriv.releasing.ledger import Rows
from statpriv.releasing.partition import Strata, cut
from statpriv.releasing.plan import DataSource
from statpriv.releasing.predicate import Predicate
from statpriv.releasing.tables import open_table

from .conftest import Frame, parts, query

KEY, ROW_KEY, DRAW = b"c" * 32, b"r" * 32, b"d" * 32
N = 400
ROWS = (
    "SELECT concat('p', range) AS id, range * 7919 % 97 AS age, concat('r', range % 11) AS region, "  # noqa: S608 - our own
    f"CASE range % 5 WHEN 0 THEN NULL ELSE range % 3 = 0 END AS yes FROM range({N})"
)
ASKED = tuple(map(Predicate.parse, ("age < 40", "yes IS TRUE", "region = 'r3' OR age > 90")))
FEW = Classification((dimension_from("region", ["r1", "r2", "*"]),))
MANY = Classification((dimension_from("age", [*range(90), "*"]),))
"""So many values that the engine looks them up, which need not keep the order of the rows."""
FORMATS = ("csv", "quoted csv", "parquet", "duckdb", "memory")


@pytest.fixture
def never_copied(monkeypatch):
    monkeypatch.setattr(budget, "MAX_COPIED_CELLS", 0)


def source_of(kind, folder, *, by_id=True, select=ROWS):
    row_id = "id" if by_id else None
    with closing(duckdb.connect(":memory:")) as connection:
        if kind == "memory":
            return DataSource(None, "rows", row_id=row_id, in_memory=Frame(select))
        if kind == "duckdb":
            path = folder / "people.duckdb"
            path.unlink(missing_ok=True)
            connection.execute(f"ATTACH '{path}' AS file")
            connection.execute(f"CREATE TABLE file.people AS {select}")
            return DataSource(path, path.name, row_id=row_id, table="people")
        path = folder / ("people.parquet" if kind == "parquet" else "people.csv")
        options = {"parquet": "FORMAT parquet", "csv": "FORMAT csv", "quoted csv": "FORMAT csv, FORCE_QUOTE *"}[kind]
        connection.execute(f"COPY ({select}) TO '{path}' ({options})")
        return DataSource(path, path.name, row_id=row_id)


def partition_of(table, *, strata=None):
    tokens = table.row_tokens(ROW_KEY, with_rows=True)
    rows = Rows.of(N, tokens)
    of_rows = None if strata is None else rows.by_token(strata)
    sizes = [(100, 50, 30)] if strata is None else [(80, 50, 30), (7, 0, 20)]
    return cut(rows, ROW_KEY, Strata(sizes, of_rows), DRAW)


def counted(source, *, strata=None):
    """Everything that a release takes from a content."""
    with open_table(source, [*ASKED, *FEW.dimensions, *MANY.dimensions]) as table:
        partition = partition_of(table, strata=strata)
        content = table.load(KEY, np.arange(N) % 4 == 0)
        return (
            content.fingerprint, content.fingerprint_of_selected,
            content.count(partition, [(ASKED[0],), (ASKED[1],), ASKED]),
            content.count(partition, [(ASKED[1],)]),
            content.tabulate(partition, 2, FEW), content.tabulate(partition, 3, MANY),
            content.tabulate(parts([1] * N), 1, FEW),
        )  # fmt: skip


@pytest.mark.parametrize("by_id", [True, False], ids=["ids", "positions"])
@pytest.mark.parametrize("kind", FORMATS)
def test_what_is_read_again_is_counted_like_a_copy(tmp_path, monkeypatch, kind, by_id):
    source = source_of(kind, tmp_path, by_id=by_id)
    strata = np.where(np.arange(N) % 10 == 0, 0, 1 + (np.arange(N) % 2)).astype(np.uint16)
    copied = [counted(source), counted(source, strata=strata)]
    monkeypatch.setattr(budget, "MAX_COPIED_CELLS", 0)
    assert [counted(source), counted(source, strata=strata)] == copied


OTHERS = {
    "a cell": ROWS.replace("range * 7919 % 97", "CASE range WHEN 17 THEN 3 ELSE range * 7919 % 97 END"),
    "an id": ROWS.replace("concat('p', range)", "concat('p', CASE range WHEN 17 THEN 1000 ELSE range END)"),
    "no id": ROWS.replace("concat('p', range)", "CASE range WHEN 17 THEN NULL ELSE concat('p', range) END"),
    "a row less": ROWS.replace(f"range({N})", f"range({N - 1})"),
    "a row more": ROWS.replace(f"range({N})", f"range({N + 1})"),
}


@pytest.mark.parametrize("by_id", [True, False], ids=["ids", "positions"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("other", OTHERS)
def test_a_source_that_changes_before_it_is_counted_is_refused(tmp_path, never_copied, kind, by_id, other):
    source = source_of(kind, tmp_path, by_id=by_id)
    with open_table(source, [*ASKED, *FEW.dimensions]) as table:
        partition = partition_of(table)
        content = table.load(KEY)
        content.count(partition, [(ASKED[0],)])
        source_of(kind, tmp_path, select=OTHERS[other])
        for count in (lambda: content.count(partition, [(ASKED[0],)]), lambda: content.tabulate(partition, 1, FEW)):
            with pytest.raises(TableError, match=r"it changed while it was being read|failed while it evaluated"):
                count()


def test_rows_without_ids_that_change_places_are_another_content(tmp_path, never_copied):
    source = source_of("parquet", tmp_path, by_id=False)
    with open_table(source, ASKED) as table:
        content = table.load(KEY)
        source_of("parquet", tmp_path, select=f"{ROWS} ORDER BY range DESC")
        with pytest.raises(TableError, match="it changed while it was being read"):
            content.count(parts([1] * N), [(ASKED[0],)])


@pytest.mark.parametrize("kind", FORMATS)
def test_nothing_but_the_table_can_be_reached_while_predicates_are_evaluated(tmp_path, never_copied, kind):
    other = tmp_path / "other.csv"
    other.write_text("a\n1\n", encoding="utf-8")
    source = source_of(kind, tmp_path)
    with open_table(source, ASKED) as table:
        content = table.load(KEY)
        for sql in (
            f"SELECT * FROM read_csv('{other}')",  # noqa: S608 - our own
            f"ATTACH '{tmp_path / 'new.duckdb'}' AS new",
            f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
            "SET enable_external_access = true",
            "SET allowed_paths = []",
        ):
            with pytest.raises(TableError, match="cannot be reached"):
                content._engine.run(sql, "cannot be reached")
        assert content.count(parts([1] * N), [(ASKED[1],)])[0][0] > 0
    assert not (tmp_path / "out.csv").exists()


def test_a_release_of_a_table_that_changes_ends_with_its_rows_spent(workshop, never_copied):
    workshop.table(["id", "v"], [[i, i % 2] for i in range(20)])
    workshop.plan(query("v = 0", rows=10), more_data='row_id = "id"')

    def change(step):
        if step == "predicates":
            workshop.table(["id", "v"], [[i, 0] for i in range(20)])

    with pytest.raises(RowsSpentError, match="it changed while it was being read"):
        workshop.release(on_step=change)
    assert workshop.spent() == [10]
    assert not workshop.page.exists()
