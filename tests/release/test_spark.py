"""Is a table read by Spark what its files and its catalog say, and does a release leave nothing behind?"""

from __future__ import annotations

import tempfile
import warnings
from array import array
from pathlib import Path

import pytest

from statpriv.errors import TableError
from statpriv.releasing.plan import DataSource
from statpriv.releasing.predicate import Predicate
from statpriv.releasing.tables import ContentFingerprint, open_table
from statpriv.releasing.tables.identity import LookAlikeIdsWarning

from .conftest import csv_bytes, parts, query
from .row_hashes import by_row, digest, fingerprints, tokens

# Spark needs Java, and `make test` does without: these alone notice that Spark reads a cell otherwise than DuckDB.
pytestmark = [pytest.mark.campaign, pytest.mark.xdist_group("spark")]

KEY = b"k" * 32
CANARY = "canary7391"


def refusal(source, where="a = 1"):
    with pytest.raises(TableError) as refused, open_table(source, [Predicate.parse(where)]):
        pass
    return str(refused.value)


# --- CSV files, read as DuckDB reads them

CELLS = [
    "", "NA", "18", " 18 ", "18.0", "+18", "1.8e1", "018", "0.500000000000000001", ".6", "1e5", "1.", "-3", "x", "0x12",
    "1_8", "inf", "nan", "1e400", "18 19", "1,8", "--18", "99999999999999999999", "100000000000000000000",
    "0.0000000000000000005", "1e-400", "1e-999999999", "2020-02-29", " 2020-02-29", "2021-02-29", "2020-1-1",
    "20200101", "infinity", "0001-01-01", "9999-12-31", "true", "T", "1", "True ", "f", "0", "FALSE", "yes",
    'a "q" b', "line\nbreak", "18\n", "é", "back\\slash", "it's", "${x}", "a\tb",
]  # fmt: skip
CONDITIONS = [
    "a IS NULL", "a = ''", "a = 'NA'", "a <> 'x'", "a LIKE '1%'", "a = 'line\\nbreak'".replace("\\n", " "), "a >= 'é'",
    "a = 18", "a <> 18", "a > 0.5", "a <= 1", "a = 0.000000000000000001", "a = 0", "a > 999999999999999999",
    "a = DATE '2020-02-29'", "a > DATE '0001-01-01'", "a IS TRUE", "a = FALSE", "a IS NOT FALSE",
]  # fmt: skip


@pytest.mark.parametrize("null_values", [(), ("NA", "")])
def test_a_csv_file_means_on_spark_what_it_means_on_duckdb(spark, tmp_path, null_values):
    """Copy number k of the cells is part k, which is asked condition number k."""
    rows = [(f"{k:02d}-{n:02d}", cell) for k in range(len(CONDITIONS)) for n, cell in enumerate(CELLS)]
    path = tmp_path / "cells.csv"
    path.write_bytes(csv_bytes(["id", "a"], rows, mark=b"\xef\xbb\xbf"))
    predicates = [Predicate.parse(where) for where in CONDITIONS]
    labels = array("I", [1 + n // len(CELLS) for n in range(len(rows))])
    found = {}
    for engine in ("duckdb", "spark"):
        source = DataSource(path, path.name, "id", null_values, engine=engine)
        with open_table(source, predicates) as table:
            content = table.load(KEY)
            found[engine] = content.count(parts(labels), [(predicate,) for predicate in predicates])
            cells = rows if engine == "duckdb" else [[digest(row)] for row in rows]
            _, ordered, unordered = fingerprints(KEY, cells)
            expected = ContentFingerprint(ordered if engine == "duckdb" else unordered, unordered)
            assert (content.rows, content.fingerprint) == (len(rows), expected)
    assert dict(zip(CONDITIONS, found["spark"], strict=True)) == dict(zip(CONDITIONS, found["duckdb"], strict=True))


@pytest.mark.parametrize(
    "content",
    [f"id,a\n1,{CANARY}\n2\n", f"id,a\n1,{CANARY},3\n", f'id,a\n1,"{CANARY}"{CANARY}\n', f'id,a\n1,"{CANARY}\n'],
)
def test_a_csv_with_doubts_is_refused(spark, tmp_path, content):
    path = tmp_path / "people.csv"
    path.write_text(content, encoding="utf-8")
    source = DataSource(path, path.name, "id", engine="spark")
    with open_table(source, [Predicate.parse("a = 'x'")]) as table, pytest.raises(TableError) as refused:
        table.load(KEY)
    assert str(refused.value).startswith('data "people.csv": Spark cannot read it.')
    assert CANARY not in str(refused.value)


@pytest.mark.parametrize(
    "error",
    [
        "java.lang.OutOfMemoryError: Java heap space",
        "TaskResultLost (result lost from block manager)",
        "Connection refused",
    ],
)
def test_a_lack_of_memory_is_told_as_that(spark, tmp_path, monkeypatch, error):
    path = tmp_path / "people.csv"
    path.write_text("id,a\n1,2\n", encoding="utf-8")

    def fail(*_):
        raise ConnectionRefusedError(error)

    with open_table(DataSource(path, path.name, "id", engine="spark"), []) as table:
        monkeypatch.setattr(type(table._session.spark), "sql", fail)
        with pytest.raises(TableError, match=r"Spark ran out of memory, or was ended: give it more"):
            table.row_count()


def test_ids_that_look_alike_are_told_once(spark, tmp_path):
    """Although tokens are made again, to notice ids that changed."""
    path = tmp_path / "people.csv"
    path.write_text("id,a\np1,2\nP1,3\n", encoding="utf-8")
    with open_table(DataSource(path, path.name, "id", engine="spark"), []) as table:
        with pytest.warns(LookAlikeIdsWarning):
            table.row_tokens(KEY)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            table.load(KEY)


def test_files_that_are_no_csv_are_not_blamed_for_their_quotes(spark, tmp_path):
    path = tmp_path / "people.parquet"
    spark.sql("SELECT 'p1' AS id, 5 AS a").write.parquet(str(path))
    with open_table(DataSource(path, path.name, "id", engine="spark"), []) as table:
        for file in path.glob("*.parquet"):
            file.write_bytes(b"PAR1")
        with pytest.raises(TableError) as refused:
            table.load(KEY)
    assert "CSV" not in str(refused.value)


def test_a_folder_of_files_and_a_pattern_are_one_table(spark, tmp_path):
    folder = tmp_path / "year=2020"
    folder.mkdir()
    (folder / "b.csv").write_text("id,a\n2,5\n")
    (folder / "a.csv").write_text("id,a\n3,6\n1,5\n")
    (folder / "_SUCCESS").write_text("")
    asked = [(Predicate.parse("a = 5"),)]
    for source in (
        DataSource(folder, "year=2020", "id", engine="spark"),
        DataSource(folder / "?.csv", "?.csv", "id", engine="spark", glob=True),
    ):
        with open_table(source, asked[0]) as table:
            assert table.columns == ("id", "a")
            assert by_row(table.row_tokens(KEY, with_rows=True)) == tokens(KEY, ["1", "2", "3"])
            content = table.load(KEY)
            (folder / "a.csv").write_text("id,a\n3,5\n1,5\n")
            assert content.count(parts([1, 1, 1]), asked) == [(2,)]
        (folder / "a.csv").write_text("id,a\n3,6\n1,5\n")
    (folder / "b.csv").write_text("a,id\n5,2\n")
    assert "its files do not all have the columns" in refusal(DataSource(folder, "year=2020", "id", engine="spark"))
    (folder / "b.csv").rename(folder / "b[1].csv")
    (folder / "a.csv").unlink()
    assert "Spark takes names of files" in refusal(DataSource(folder, "year=2020", "id", engine="spark"))


def test_a_table_of_the_catalog(spark):
    spark.sql("CREATE TABLE people USING parquet AS SELECT 'p1' AS id, 5 AS a UNION ALL SELECT 'p2', 6")
    spark.sql("CREATE VIEW seen AS SELECT * FROM people")
    try:
        source = DataSource(None, "default.people", "id", engine="spark", table="default.people")
        asked = [(Predicate.parse("a = 5"),)]
        with open_table(source, asked[0]) as table:
            assert by_row(table.row_tokens(KEY, with_rows=True)) == tokens(KEY, ["p1", "p2"])
            assert table.load(KEY).count(parts([1, 1]), asked) == [(1,)]
        view = DataSource(None, "default.seen", "id", engine="spark", table="default.seen")
        assert '"default.seen" is no plain table: release from a copy of its rows' in refusal(view)
        absent = DataSource(None, "default.no", "id", engine="spark", table="default.no")
        assert 'there is no table "default.no"' in refusal(absent)
    finally:
        spark.sql("DROP VIEW seen")
        spark.sql("DROP TABLE people")


def test_the_session_of_the_user_stays_as_it_is(spark, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("id,a\n1,5\n")
    before = spark.conf.get("spark.sql.session.timeZone")
    with open_table(DataSource(path, path.name, "id", engine="spark"), []) as table:
        assert table.row_count() == 1
    assert [view.name for view in spark.catalog.listTables() if view.isTemporary] == []
    assert spark.conf.get("spark.sql.session.timeZone") == before
    assert spark.sql("SELECT 1").collect() == [(1,)]


def test_a_session_that_we_start_is_silent_and_leaves_nothing(spark, workshop, monkeypatch):
    """As a user runs it: in a process of its own, which starts and stops Spark."""
    workshop.table(["id", "vote"], [(f"{CANARY}-{n}", n % 2) for n in range(40)])
    workshop.plan(query("vote = 0", rows=20), more_data='engine = "spark"\nrow_id = "id"')
    temporary = workshop.folder / "temporary"
    temporary.mkdir()
    done = workshop.command(env={"TMPDIR": str(temporary), "PYSPARK_SUBMIT_ARGS": "--master local[1] pyspark-shell"})
    assert (done.returncode, CANARY in done.stdout + done.stderr) == (0, False), done.stderr
    assert "WARN" not in done.stderr
    assert not [path for path in temporary.rglob("*") if path.name.startswith("statpriv-spark-")]
    for place in (temporary, workshop.registry):
        assert not [p for p in place.rglob("*") if p.is_file() and CANARY.encode() in p.read_bytes()]
    assert not list(Path(tempfile.gettempdir()).glob("statpriv-spark-*/statpriv_parts"))
    assert workshop.report["answers"][0]["size"] == 20
