"""Does anything that leaves a release depend on the data beyond the number of rows, the ids and the counts?"""

from __future__ import annotations

import csv
import functools
import itertools
import json
import os
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from statpriv.releasing import run
from statpriv.releasing.tables import duckdb as embedded

from ..cases import cases
from . import mutants
from .conftest import Workshop, csv_bytes, labels, labels_in_strata, query

CANARY = "canary7391"

# One row of a CSV file answers one query; these are the cells that have its property, and some that have not.
CSV_PLAN = [
    ("vote = 0", 5, ["0", "0.0", " -0 ", "00", "0e9", "+.0"]),
    ("age >= 40", 4, ["40", "1e9", " 40.000000000000000001 ", "99999999999999999999"]),
    ("name = 'it''s'", 3, ["it's"]),
    ("born < DATE '2000-01-01'", 3, ["1999-12-31", " 0001-01-01 "]),
]
CSV_COLUMNS = ["vote", "age", "name", "born", "spare"]
CSV_OTHERWISE = [
    "",
    "NA",
    "x",
    "1",
    "-1",
    "2020-13-01",
    "2020-01-01",
    "1e400",
    "nan",
    "inf",
    "true",
    "'; DROP TABLE t",
    '"',
]
N = 20
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ANY_CELL = st.one_of(st.sampled_from([*CSV_OTHERWISE, *(cell for _, _, own in CSV_PLAN for cell in own)]), TEXT)

SETTINGS = settings(
    max_examples=cases(6, campaign=100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


pytestmark = pytest.mark.usefixtures("computed_once")


def ids(n):
    return [f"p{i}" for i in range(n)]


def seen_from_outside(workshop, in_process, *arguments, **surroundings):
    """Exit code, stdout, stderr and every byte in the folder: all that a release tells the world."""
    for path in (workshop.page, workshop.json):
        path.unlink(missing_ok=True)
    shutil.rmtree(workshop.registry, ignore_errors=True)
    ended = in_process(
        "release", workshop.folder / "plan.toml", "--out", workshop.page, "--json", workshop.json,
        "--registry", workshop.registry, *arguments, seed=1, **surroundings,
    )  # fmt: skip
    files = {name: (workshop.folder / name).read_bytes() for name in workshop.outputs()}
    return (*ended, files)


def ledger(workshop):
    """What the ledger holds besides the keyed fingerprints of the content, and its other files."""
    with closing(sqlite3.connect(workshop.registry / "ledger.sqlite3")) as connection:
        return (
            connection.execute("SELECT * FROM ledger").fetchall(),
            connection.execute("SELECT * FROM data_set").fetchall(),
            connection.execute("SELECT * FROM token").fetchall(),
            connection.execute("SELECT * FROM cohort").fetchall(),
            connection.execute("SELECT number, data_set FROM content").fetchall(),
            connection.execute("SELECT * FROM release").fetchall(),
            (workshop.registry / "secret.json").read_bytes(),
        )


# --- tables with equal counts


def plan_of(workshop, plan, **more):
    workshop.plan(
        *(query(where, rows=rows, name=f"count {k}") for k, (where, rows, _) in enumerate(plan)),
        more_data='row_id = "id"' + ("" if "data" in more else '\nnull_values = ["NA"]'), **more,
    )  # fmt: skip


def fixed_where_counted(draw, rows, plan, counts, otherwise):
    """Make part k have its property counts[k] times; everything else stays arbitrary."""
    for k, part in enumerate(parts_of(plan)):
        having = set(draw(st.permutations(part))[: counts[k]])
        for i in part:
            rows[i][k] = draw(st.sampled_from(plan[k][2]) if i in having else otherwise[k])
    return rows


def plainest_rows(plan, counts, rows):
    for k, part in enumerate(parts_of(plan)):
        for i in part[: counts[k]]:
            rows[i][k] = plan[k][2][0]
    return rows


def parts_of(plan):
    """The rows of each part in every release of this file."""
    drawn = labels(ids(N), [rows for _, rows, _ in plan], 1)
    return [[i for i, label in enumerate(drawn) if label == k + 1] for k in range(len(plan))]


CSV_COUNTS = (2, 0, 3, 1)


def without(where, own):
    """Cells of a CSV file that surely do not have the property."""
    cells = [cell for cell in CSV_OTHERWISE if cell not in own]
    if where.startswith("age"):
        cells = [*cells, "39", "-40", "4 0"]
    if where.startswith("born"):
        cells = [*cells, "2000-01-01", "1999-1-1", "31.12.1999"]
    if where.startswith("name"):
        return st.one_of(st.sampled_from([*cells, "its", " it's", "IT'S"]), TEXT.filter(lambda cell: cell != "it's"))
    return st.sampled_from(cells)


@st.composite
def csv_tables(draw):
    otherwise = [without(where, own) for where, _, own in CSV_PLAN]
    rows = [[draw(ANY_CELL) for _ in CSV_COLUMNS] for _ in range(N)]
    fixed_where_counted(draw, rows, CSV_PLAN, CSV_COUNTS, otherwise)
    return [[f"p{i}", *row] for i, row in enumerate(rows)]


@pytest.fixture
def csv_reference(workshop, in_process):
    plan_of(workshop, CSV_PLAN)
    plainest = plainest_rows(CSV_PLAN, CSV_COUNTS, [[""] * len(CSV_COLUMNS) for _ in range(N)])
    rows = [[f"p{i}", *row] for i, row in enumerate(plainest)]
    workshop.write("people.csv", csv_bytes(["id", *CSV_COLUMNS], rows, quoting=csv.QUOTE_ALL))
    seen = seen_from_outside(workshop, in_process)
    assert seen[0] == 0, seen
    assert set(seen[3]) == {"report.html", "report.json"}
    assert [answer["count"] for answer in workshop.report["answers"]] == list(CSV_COUNTS)
    return seen, ledger(workshop)


@SETTINGS
@given(rows=csv_tables())
def test_csv_tables_with_equal_counts_look_the_same(workshop, in_process, csv_reference, rows):
    workshop.write("people.csv", csv_bytes(["id", *CSV_COLUMNS], rows, quoting=csv.QUOTE_ALL))
    seen = seen_from_outside(workshop, in_process)
    assert (seen, ledger(workshop)) == csv_reference


PARQUET_PLAN = [("vote = 0", 6, [0]), ("name LIKE 'a%'", 6, ["a", "abc", "a" * 100]), ("yes IS TRUE", 6, [True])]
PARQUET_COUNTS = (3, 1, 0)


@st.composite
def parquet_tables(draw):
    numbers = st.one_of(st.none(), st.integers(-(2**31), 2**31 - 1))
    texts = st.one_of(st.none(), TEXT)
    truths = st.sampled_from([None, True, False])
    rows = [[draw(numbers), draw(texts), draw(truths), draw(st.floats())] for _ in range(N)]
    otherwise = [
        numbers.filter(lambda v: v != 0),
        texts.filter(lambda v: v is None or not v.startswith("a")),
        st.sampled_from([None, False]),
    ]
    return fixed_where_counted(draw, rows, PARQUET_PLAN, PARQUET_COUNTS, otherwise)


def write_parquet(workshop, rows, name="p{}"):
    with duckdb.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (id VARCHAR, vote INTEGER, name VARCHAR, yes BOOLEAN, spare DOUBLE)")
        cells = [cell for i, row in enumerate(rows) for cell in (name.format(i), *row)]
        places = ", ".join(["(?, ?, ?, ?, ?)"] * len(rows))
        connection.execute(f"INSERT INTO t VALUES {places}", cells)  # noqa: S608 - question marks alone
        connection.execute(f"COPY t TO '{workshop.folder / 'people.parquet'}' (FORMAT parquet)")


@pytest.fixture
def parquet_reference(workshop, in_process):
    plan_of(workshop, PARQUET_PLAN, data="people.parquet")
    write_parquet(workshop, plainest_rows(PARQUET_PLAN, PARQUET_COUNTS, [[None] * 4 for _ in range(N)]))
    seen = seen_from_outside(workshop, in_process)
    assert seen[0] == 0, seen
    assert [answer["count"] for answer in workshop.report["answers"]] == list(PARQUET_COUNTS)
    return seen, ledger(workshop)


@pytest.mark.campaign  # alone it notices what a reader of Parquet alone would tell
@SETTINGS
@given(rows=parquet_tables())
def test_parquet_tables_with_equal_counts_look_the_same(workshop, in_process, parquet_reference, rows):
    write_parquet(workshop, rows)
    seen = seen_from_outside(workshop, in_process)
    assert (seen, ledger(workshop)) == parquet_reference


# --- gates, rounding, suppression, histograms: what is published is equal, whatever counts are behind it


def with_keys(text, **keys):
    """A [[query]] with more keys."""
    return text + "".join(f"{key} = {value}\n" for key, value in keys.items())


STEPS_N = 40
STEPS_SIZES = [12, 12, 8, 8]
STEPS_QUERIES = [
    with_keys(query("vote = 0", rows=12, probability=("0.05", "0.1"), name="gated"), gate="true"),
    with_keys(query("age >= 40", rows=12, name="rounded"), rounded_to=5),
    with_keys(query("name = 'it''s'", rows=8, name="suppressed"), suppressed_below=5),
    """
[[query]]
name = "kinds"
source = "a public table"
rows = 8
cell = [
  { name = "first", where = "kind = 'a'", probability = "0.3" },
  { name = "second", where = "kind < 'c'", probability = "0.3" },
]
""",
]
ALIKE = [range(5, 13), range(3, 8), range(5)]
"""Counts of the first three parts that are published alike: withheld, as 5, and as below 5."""
KINDS = [(2, ["a"]), (5, ["", " a", "A", "aa", "b"]), (1, ["c", "ä", "cc", "NA"])]
"""How often each cell of the histogram counts, and what it counts."""


def write_csv(workshop, columns, rows):
    named = [[f"p{i}", *row] for i, row in enumerate(rows)]
    workshop.write("people.csv", csv_bytes(["id", *columns], named, quoting=csv.QUOTE_ALL))


@st.composite
def tables_of_steps(draw, which):
    """The chosen ones of the counts that are published alike; where there is a choice the largest come first."""
    rows = [[draw(ANY_CELL) for _ in range(5)] for _ in range(STEPS_N)]
    drawn = labels(ids(STEPS_N), STEPS_SIZES, 1)
    parts = [draw(st.permutations([i for i, label in enumerate(drawn) if label == k])) for k in range(1, 5)]
    for k, alike in enumerate(ALIKE):
        where, _, own = CSV_PLAN[k]
        having = draw(st.sampled_from(alike[which]))
        for place, i in enumerate(parts[k]):
            rows[i][k] = draw(st.sampled_from(own) if place < having else without(where, own))
    kinds = [cells for often, cells in KINDS for _ in range(often)]
    for i, cells in zip(parts[3], kinds, strict=True):
        rows[i][3] = draw(st.sampled_from(cells))
    return rows


@settings(SETTINGS, max_examples=cases(4, campaign=50))
@given(first=tables_of_steps(slice(1)), second=tables_of_steps(slice(None, 0, -1)))
def test_tables_with_equal_published_answers_look_the_same(workshop, in_process, first, second):
    """Not even the counts are equal here: what is withheld, suppressed or rounded away does not show either."""
    workshop.plan(*STEPS_QUERIES, more_data='row_id = "id"\nnull_values = ["NA"]')
    seen = []
    for rows in (first, second):
        write_csv(workshop, ["vote", "age", "name", "kind", "spare"], rows)
        seen.append((seen_from_outside(workshop, in_process), ledger(workshop)))
    assert seen[0] == seen[1]
    assert seen[0][0][0] == 0, seen
    answers = workshop.report["answers"]
    assert [answer["count"] for answer in answers] == [None, 5, None, 2, 5, 1]
    assert [answer["withheld"] for answer in answers] == [True] + [False] * 5
    assert [answer["suppressed"] for answer in answers] == [False, False, True] + [False] * 3


# --- groups: the column that everybody knows stays, all else is free


SEXES = ["f" if i % 5 < 3 else "m" for i in range(N)]
GROUPED_ROWS = [{"f": 5, "m": 3}, {"f": 3, "m": 4}]
GROUPED_COUNTS = (3, 1)


def stratified(where, rows):
    probability = '{ f = ["0.3", "0.5"], m = "0.4" }'
    sizes = ", ".join(f"{group} = {number}" for group, number in rows.items())
    return (
        f'[[query]]\nname = {json.dumps(where)}\nwhere = {json.dumps(where)}\nsource = "a public table"\n'
        f"probability = {probability}\nrows = {{ {sizes} }}\n"
    )


@st.composite
def stratified_tables(draw):
    sizes = [[rows[group] for rows in GROUPED_ROWS] for group in "fm"]
    drawn = labels_in_strata(ids(N), sizes, ["fm".index(sex) + 1 for sex in SEXES], 1)
    rows = [[SEXES[i], *(draw(ANY_CELL) for _ in range(3))] for i in range(N)]
    for k, count in enumerate(GROUPED_COUNTS):
        where, _, own = CSV_PLAN[k]
        part = draw(st.permutations([i for i, label in enumerate(drawn) if label == k + 1]))
        for place, i in enumerate(part):
            rows[i][k + 1] = draw(st.sampled_from(own) if place < count else without(where, own))
    return rows


@pytest.mark.campaign  # alone it notices what strata alone would tell
@settings(SETTINGS, max_examples=cases(4, campaign=50))
@given(first=stratified_tables(), second=stratified_tables())
def test_stratified_tables_with_equal_counts_look_the_same(workshop, in_process, first, second):
    workshop.plan(
        *(stratified(CSV_PLAN[k][0], rows) for k, rows in enumerate(GROUPED_ROWS)),
        more_data='row_id = "id"\ngroup = "sex"\ngroup_source = "census"\nnull_values = ["NA"]',
    )
    seen = []
    for rows in (first, second):
        write_csv(workshop, ["sex", "vote", "age", "spare"], rows)
        seen.append((seen_from_outside(workshop, in_process), ledger(workshop)))
    assert seen[0] == seen[1]
    assert seen[0][0][0] == 0, seen
    assert [answer["count"] for answer in workshop.report["answers"]] == list(GROUPED_COUNTS)


# --- a database


def write_postgresql(server, rows):
    import psycopg

    with psycopg.connect(server.url, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS d1")
        cursor.execute("CREATE TABLE d1 (id text, vote int, name text, yes boolean, spare double precision)")
        named = [(f"p{i}", *row) for i, row in enumerate(rows)]
        cursor.executemany("INSERT INTO d1 VALUES (%s, %s, %s, %s, %s)", named)


def without_nul(table):
    """A database has no such text."""
    return [[cell.replace("\0", "") if isinstance(cell, str) else cell for cell in row] for row in table]


@pytest.mark.xdist_group("postgresql")
@settings(SETTINGS, max_examples=cases(4, campaign=50))
@given(first=parquet_tables().map(without_nul), second=parquet_tables().map(without_nul))
def test_databases_with_equal_counts_look_the_same(workshop, in_process, postgresql, first, second):
    workshop.plan(
        *(query(where, rows=rows, name=f"count {k}") for k, (where, rows, _) in enumerate(PARQUET_PLAN)),
        data=postgresql.url, more_data='engine = "postgresql"\ntable = "public.d1"\nrow_id = "id"',
    )  # fmt: skip
    seen = []
    for rows in (first, second):
        write_postgresql(postgresql, rows)
        seen.append((seen_from_outside(workshop, in_process), ledger(workshop)))
    postgresql.execute("DROP TABLE d1")
    assert seen[0] == seen[1]
    assert seen[0][0][0] == 0, seen
    assert [answer["count"] for answer in workshop.report["answers"]] == list(PARQUET_COUNTS)


# --- Spark: few tables, because each release takes seconds


def assert_spark_tells_nothing(workshop, in_process, tables, counts):
    """`tables` write one table after the other; their rows come in the binary order of their ids."""
    seen = []
    for write in tables:
        write()
        seen.append((seen_from_outside(workshop, in_process), ledger(workshop)))
    assert seen[0] == seen[1]
    assert seen[0][0][0] == 0, seen
    assert [answer["count"] for answer in workshop.report["answers"]] == list(counts)


def spark_plan_of(workshop, plan, **more):
    workshop.plan(
        *(query(where, rows=rows, name=f"count {k}") for k, (where, rows, _) in enumerate(plan)),
        more_data='engine = "spark"\nrow_id = "id"' + more.pop("more_data", ""), **more,
    )  # fmt: skip


def named(rows):
    return [[f"p{i}", *row[-len(CSV_COLUMNS) :]] for i, row in enumerate(rows)]


@pytest.mark.campaign
@pytest.mark.xdist_group("spark")
@settings(SETTINGS, max_examples=3)
@given(first=csv_tables(), second=csv_tables())
def test_csv_tables_on_spark_with_equal_counts_look_the_same(workshop, in_process, spark, first, second):
    spark_plan_of(workshop, CSV_PLAN, more_data='\nnull_values = ["NA"]')
    contents = [csv_bytes(["id", *CSV_COLUMNS], named(rows), quoting=csv.QUOTE_ALL) for rows in (first, second)]
    tables = [functools.partial(workshop.write, "people.csv", content) for content in contents]
    assert_spark_tells_nothing(workshop, in_process, tables, CSV_COUNTS)


@pytest.mark.campaign
@pytest.mark.xdist_group("spark")
@settings(SETTINGS, max_examples=3)
@given(first=parquet_tables(), second=parquet_tables())
def test_parquet_tables_on_spark_with_equal_counts_look_the_same(workshop, in_process, spark, first, second):
    spark_plan_of(workshop, PARQUET_PLAN, data="people.parquet")
    tables = [functools.partial(write_parquet, workshop, rows, name="p{}") for rows in (first, second)]
    assert_spark_tells_nothing(workshop, in_process, tables, PARQUET_COUNTS)


# --- partitions that depend on the data: their law may be the right one, and yet they show here


def fullest_rows():
    """Rows with the same counts as the plainest ones that otherwise have every property."""
    rows = [[*(own[0] for _, _, own in CSV_PLAN), "spare"] for _ in range(N)]
    for k, part in enumerate(parts_of(CSV_PLAN)):
        for i in part[CSV_COUNTS[k] :]:
            rows[i][k] = ""
    return rows


def cells_through(mutant):
    """Labels meet the cells of other rows."""

    def apply(monkeypatch):
        tally = embedded.stream_tally

        def of_other_rows(stream, *arguments):
            positions, *cells = stream.fetchnumpy().values()
            moved = {"position": positions, **{f"cell{k}": mutant(of_one) for k, of_one in enumerate(cells)}}
            connection = duckdb.connect(":memory:")
            connection.register("moved", moved)
            return tally(connection.sql("SELECT * FROM moved"), *arguments)

        monkeypatch.setattr(embedded, "stream_tally", of_other_rows)

    return apply


def words_of_the_data(monkeypatch):
    """Words that are a function of the content."""
    load, draw = embedded._Table.load, run.secret_partition
    loaded = []

    def remember(self, *arguments):
        loaded.append(load(self, *arguments))
        return loaded[-1]

    def from_the_data(rows, row_key, strata, _words):
        return draw(rows, row_key, strata, mutants.of_the_data(loaded[-1].fingerprint.ordered))

    monkeypatch.setattr(embedded._Table, "load", remember)
    monkeypatch.setattr(run, "secret_partition", from_the_data)


@pytest.mark.campaign  # it shows that the tests above would notice a leak of the partition
@pytest.mark.parametrize(
    ("mutant", "alike"),
    [
        (lambda _monkeypatch: None, True),
        (cells_through(mutants.sorted_by_value), False),
        (cells_through(mutants.one_row_late), False),
        (words_of_the_data, False),
    ],
    ids=["none", "sorted by value", "one row late", "words of the data"],
)
def test_a_partition_that_depends_on_the_data_shows(workshop, in_process, monkeypatch, mutant, alike):
    plan_of(workshop, CSV_PLAN)
    mutant(monkeypatch)
    seen = []
    for rows in (plainest_rows(CSV_PLAN, CSV_COUNTS, [[""] * len(CSV_COLUMNS) for _ in range(N)]), fullest_rows()):
        write_csv(workshop, CSV_COLUMNS, rows)
        seen.append((seen_from_outside(workshop, in_process), ledger(workshop)))
        assert seen[-1][0][0] == 0
    assert (seen[0] == seen[1]) is alike


# --- a second release of tables with equal counts


SECOND_PLAN = [("vote = 0", 3, ["0", "0.0"]), ("age >= 40", 2, ["40", "1e9"])]
SECOND_COUNTS = (1, None)
"""What is published of the second part: it is always suppressed, so its count is free."""


def second_parts():
    """The rows of each part in the second release, which are drawn from the unspent ones."""
    first = labels(ids(N), [rows for _, rows, _ in CSV_PLAN], 1)
    unspent = [int(label == 0) for label in first]
    drawn = labels_in_strata(ids(N), [[rows for _, rows, _ in SECOND_PLAN]], unspent, 1)
    return [[i for i, label in enumerate(drawn) if label == k + 1] for k in range(len(SECOND_PLAN))]


@st.composite
def two_contents(draw):
    """A table at its first release, whether it is edited before the second, and how it is then."""
    table = draw(csv_tables())
    edited = draw(st.booleans())
    later = [[*row] for row in table]
    if edited:  # every cell may change, those of the first release's rows too
        later = [[row[0], *(draw(ANY_CELL) for _ in CSV_COLUMNS)] for row in table]
    (where, _, own), (part, _) = SECOND_PLAN[0], second_parts()
    for place, i in enumerate(part):
        cell = draw(st.sampled_from(own)) if place < SECOND_COUNTS[0] else draw(without(where, own))
        later[i][1] = cell
        if not edited:
            table[i][1] = cell
    return table, later, later != table


def two_releases(workshop, in_process, first, second):
    def write(rows):
        workshop.write("people.csv", csv_bytes(["id", *CSV_COLUMNS], rows, quoting=csv.QUOTE_ALL))

    write(first)
    plan_of(workshop, CSV_PLAN)
    assert seen_from_outside(workshop, in_process)[0] == 0
    write(second)
    (vote, rows, _), (age, others, _) = SECOND_PLAN
    workshop.plan(
        query(vote, rows=rows, name="count 0"),
        with_keys(query(age, rows=others, name="count 1"), suppressed_below=others + 1),
        more_data='row_id = "id"\nnull_values = ["NA"]',
    )
    refused = in_process(
        "release", workshop.folder / "plan.toml", "--out", workshop.page, "--registry", workshop.registry,
        "--force", seed=1,
    )[0] if first != second else None  # fmt: skip
    ended = in_process(
        "release", workshop.folder / "plan.toml", "--out", workshop.page, "--json", workshop.json,
        "--registry", workshop.registry, "--force", "--accept-edits", seed=1,
    )  # fmt: skip
    files = {name: (workshop.folder / name).read_bytes() for name in workshop.outputs()}
    return refused, ended, files, ledger(workshop)


@pytest.fixture
def second_reference(workshop, in_process):
    """The plainest two tables, edited in between and not."""
    first = plainest_rows(CSV_PLAN, CSV_COUNTS, [[""] * len(CSV_COLUMNS) for _ in range(N)])
    for i in second_parts()[0][: SECOND_COUNTS[0]]:
        first[i][0] = SECOND_PLAN[0][2][0]
    first = [[f"p{i}", *row] for i, row in enumerate(first)]
    edited = [[*row[:-1], "edited"] for row in first]
    return {later != first: two_releases(workshop, in_process, first, later) for later in (first, edited)}


def test_the_reference_of_second_releases(second_reference):
    for edited, (refused, ended, files, _) in second_reference.items():
        assert refused == (2 if edited else None)
        assert ended[0] == 0, ended
        report = json.loads(files["report.json"])
        assert [answer["count"] for answer in report["answers"]] == list(SECOND_COUNTS)
        assert report["data"]["content_edited"] is edited
        assert report["guarantee"]["releases"] == 2


@settings(SETTINGS, max_examples=cases(4, campaign=50))
@given(tables=two_contents())
def test_second_releases_of_tables_with_equal_counts_look_the_same(workshop, in_process, second_reference, tables):
    """Only whether the content was edited shows: not what, nor how much."""
    first, second, edited = tables
    assert two_releases(workshop, in_process, first, second) == second_reference[edited]


# --- refusals and failures


@pytest.mark.parametrize(
    ("plan", "arguments", "expected"),
    [
        ({"delta": "0.0001"}, (), 3),
        ({"delta": "0.0001"}, ("--dry-run",), 3),
        ({}, ("--dry-run",), 0),
        ({"more": "known_rows = 20"}, (), 2),
        ({}, ("--out", "people.csv", "--force"), 2),
    ],
    ids=["target", "dry run that fails", "dry run", "known rows", "output"],
)
@settings(SETTINGS, max_examples=cases(2, campaign=20), phases=[Phase.generate])
@given(first=csv_tables(), second=st.lists(st.tuples(*[ANY_CELL] * 5), min_size=N, max_size=N))
def test_what_a_release_refuses_or_promises_does_not_depend_on_the_values(
    workshop, in_process, *, plan, arguments, expected, first, second
):
    """Here not even the counts are equal."""
    plan_of(workshop, CSV_PLAN, **plan)
    arguments = [str(workshop.folder / "people.csv") if a == "people.csv" else a for a in arguments]
    seen = []
    for rows in (first, [[f"p{i}", *row] for i, row in enumerate(second)]):
        workshop.write("people.csv", csv_bytes(["id", *CSV_COLUMNS], rows, quoting=csv.QUOTE_ALL))
        seen.append(seen_from_outside(workshop, in_process, *arguments))
    assert seen[0][0] == expected
    assert seen[0] == seen[1]


@settings(SETTINGS, max_examples=4, phases=[Phase.generate])
@given(first=csv_tables(), second=st.lists(st.tuples(*[ANY_CELL] * 5), min_size=N, max_size=N))
def test_a_failure_behind_the_spend_does_not_depend_on_the_values(workshop, in_process, first, second):
    plan_of(workshop, CSV_PLAN)

    def fail(step):
        if step == "report":
            workshop.page.mkdir()

    seen = []
    for rows in (first, [[f"p{i}", *row] for i, row in enumerate(second)]):
        if workshop.page.is_dir():
            workshop.page.rmdir()
        workshop.write("people.csv", csv_bytes(["id", *CSV_COLUMNS], rows, quoting=csv.QUOTE_ALL))
        shutil.rmtree(workshop.registry, ignore_errors=True)
        ended = in_process(
            "release", workshop.folder / "plan.toml", "--out", workshop.page, "--registry", workshop.registry,
            seed=1, on_step=fail,
        )  # fmt: skip
        seen.append((ended, workshop.outputs(), ledger(workshop)))
    assert seen[0][0][0] == 5
    assert seen[0] == seen[1]


# --- the canary


def canary_table(workshop, *, name="people.csv", head="id,vote,age,name", broken=None):
    cells = itertools.count()
    lines = [head, *(",".join(f"{CANARY}x{next(cells)}" for _ in range(4)) for _ in range(12))]
    return workshop.write(name, broken("\n".join(lines) + "\n") if broken else "\n".join(lines) + "\n")


def assert_no_canary(workshop, *texts):
    """Nowhere in what was printed, and in no file but the table: not in upper case, not in hexadecimal."""
    forms = [CANARY.encode(), CANARY.upper().encode(), CANARY.encode().hex().encode(), CANARY.encode("utf-16-le")]
    kept = [path for path in workshop.folder.rglob("*") if path.is_file() and path.suffix not in {".csv", ".parquet"}]
    for content in [*(text.encode() for text in texts), *(path.read_bytes() for path in kept)]:
        assert not any(form in content for form in forms)
    assert not any(CANARY in str(path) for path in workshop.folder.rglob("*"))


def unclosed(text):
    return text + f'{CANARY},"{CANARY},1,1\n'


def ragged(text):
    return text + f"{CANARY}\n"


def wider(text):
    return text + ",".join([CANARY] * 9) + "\n"


def not_utf8(text):
    return text.encode() + f"{CANARY}".encode() + b"\xff,1,1,1\n"


def mixed_breaks(text):
    return text + f"{CANARY},1,1,1\r\n{CANARY},1,1,1\n"


def stray_quote(text):
    return text + f'{CANARY},"{CANARY}"{CANARY},1,1\n'


def endless(text):
    return text + f"{CANARY * 300_000},1,1,1\n"


def twice(text):
    return text + text.splitlines()[-1] + "\n"


@pytest.mark.parametrize(
    ("broken", "where", "more_data", "expected"),
    [
        (None, "vote = 0", 'row_id = "id"', 0),
        (None, "vote = 0 AND age < 5.5 AND name > 'a'", "", 0),
        (None, "vote > DATE '2020-01-01' OR age IS TRUE", "", 0),
        (None, "nosuch = 1", "", 2),
        (None, "vote = NULL", "", 2),
        (unclosed, "vote = 0", "", 2),
        (ragged, "vote = 0", "", 2),
        (wider, "vote = 0", 'row_id = "id"', 2),
        (not_utf8, "vote = 0", "", 2),
        (mixed_breaks, "vote = 0", "", None),
        (stray_quote, "vote = 0", "", 2),
        (endless, "vote = 0", "", 2),
        (twice, "vote = 0", 'row_id = "id"', 2),
    ],
)
def test_no_failure_quotes_a_cell(workshop, in_process, *, broken, where, more_data, expected):
    canary_table(workshop, broken=broken)
    workshop.plan(query(where, rows=12), more_data=more_data)
    arguments = ["release", workshop.folder / "plan.toml", "--registry", workshop.registry]
    code, out, err = in_process(*arguments, "--out", workshop.page, "--json", workshop.json)
    assert expected is None or code == expected
    assert "Traceback" not in err
    assert_no_canary(workshop, out, err)
    if code == 0:
        again = in_process(*arguments, "--out", workshop.folder / "again.html")  # no row is left
        assert again[0] == 2
        assert_no_canary(workshop, *again[1:])


@pytest.mark.parametrize(
    ("where", "expected"), [("vote = 1", 2), ("name = 1", 2), ("name = 'x'", 0), ("list = 'x'", 2)]
)
def test_no_failure_of_parquet_quotes_a_cell(workshop, in_process, where, expected):
    path = workshop.parquet(
        "SELECT '$' || i AS id, '$'::BLOB AS vote, '$' AS name, ['$'] AS list FROM range(12) t(i)".replace("$", CANARY)
    )
    workshop.plan(query(where, rows=6), data=path.name, more_data='row_id = "id"')
    arguments = ["release", workshop.folder / "plan.toml", "--registry", workshop.registry, "--out", workshop.page]
    code, out, err = in_process(*arguments)
    assert code == expected
    assert_no_canary(workshop, out, err)
    whole = path.read_bytes()
    for cut in range(8, len(whole), len(whole) // 12):
        path.write_bytes(whole[:cut] + b"\xff" * 8 + whole[cut + 8 :])
        code, out, err = in_process(*arguments, "--force")
        assert code in {0, 2}
        assert_no_canary(workshop, out, err)


def test_what_is_withheld_suppressed_or_in_no_cell_is_quoted_nowhere(workshop, in_process):
    write_csv(workshop, ["vote", "age", "name", "kind"], [[f"{CANARY}x{i}"] * 4 for i in range(STEPS_N)])
    workshop.plan(*STEPS_QUERIES, more_data='row_id = "id"')
    code, out, err = in_process(
        "release", workshop.folder / "plan.toml", "--registry", workshop.registry,
        "--out", workshop.page, "--json", workshop.json,
    )  # fmt: skip
    assert code == 6  # no cell is any of the codes
    assert [answer["count"] for answer in workshop.report["answers"]] == [0, 0, None, 0, 0, 8]
    assert_no_canary(workshop, out, err)


@pytest.mark.xdist_group("postgresql")
@pytest.mark.parametrize(
    ("where", "sql", "expected"),
    [
        ("name = 'x'", "", 0),
        ("vote = 1", "", 2),
        ("nosuch = 1", "", 2),
        ("name = 'x'", "INSERT INTO d1 SELECT * FROM d1", 2),
        ("name = 'x'", "UPDATE d1 SET id = NULL WHERE vote LIKE '%7'", 2),
        ("name = 'x'", "ALTER TABLE d1 ADD more text GENERATED ALWAYS AS (vote || name) STORED", 2),
    ],
    ids=["none", "type", "column", "repeated ids", "missing id", "generated column"],
)
def test_no_failure_of_a_database_quotes_a_cell(workshop, in_process, postgresql, *, where, sql, expected):
    cells = ", ".join(f"'{CANARY}' || i" for _ in range(3))
    postgresql.execute(
        "DROP TABLE IF EXISTS d1",
        "CREATE TABLE d1 (id text, vote text, name text)",
        f"INSERT INTO d1 SELECT {cells} FROM generate_series(1, 12) AS rows(i)",  # noqa: S608 - of the test
        *([sql] if sql else []),
    )
    workshop.plan(
        query(where, rows=6),
        data=postgresql.url,
        more_data='engine = "postgresql"\ntable = "public.d1"\nrow_id = "id"',
    )
    code, out, err = in_process(
        "release", workshop.folder / "plan.toml", "--registry", workshop.registry,
        "--out", workshop.page, "--json", workshop.json,
    )  # fmt: skip
    postgresql.execute("DROP TABLE d1")
    assert code == expected, err
    assert "Traceback" not in err
    assert_no_canary(workshop, out, err)


@pytest.mark.parametrize("failing", ["count(*)", "c0", "CREATE TABLE content", "FROM content", "SET ", "COALESCE(("])
def test_no_message_of_the_engine_is_forwarded(workshop, in_process, before_each_statement, failing):
    """Whatever statement fails, and however the engine's message quotes cells."""
    canary_table(workshop)
    path = workshop.folder / "people.csv"
    path.write_text(
        '"id"' + path.read_text(encoding="utf-8").removeprefix("id"), encoding="utf-8"
    )  # not counted by lines
    workshop.plan(query("vote = 0", rows=6), more_data='row_id = "id"')

    def fail(sql):
        if failing in sql:
            raise duckdb.ConversionException(f"Could not convert string '{CANARY}' to INT32")

    before_each_statement(fail)
    code, out, err = in_process(
        "release", workshop.folder / "plan.toml", "--registry", workshop.registry, "--out", workshop.page
    )
    assert (code, out) == (5 if failing == "COALESCE((" else 2, "")
    assert_no_canary(workshop, out, err)


def test_nothing_is_left_behind_anywhere(workshop):
    """A process of its own, with temporary, home and working folders that can be searched afterwards."""
    canary_table(workshop)
    workshop.plan(query("vote IS NOT NULL", rows=6), query("name = 'x'", rows=6), more_data='row_id = "id"')
    private = {name: workshop.folder / name for name in ("TMPDIR", "HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
    for folder in private.values():
        folder.mkdir()
    done = workshop.command(
        env={**{name: str(folder) for name, folder in private.items()}, "PYTHONDONTWRITEBYTECODE": "1"}
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert_no_canary(workshop, done.stdout, done.stderr)
    assert [path for folder in private.values() for path in folder.rglob("*") if path.is_file()] == []
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in workshop.registry.iterdir()}
    assert set(modes.values()) == {"0o600"}
    assert workshop.page.stat().st_mode & 0o777 == workshop.json.stat().st_mode & 0o777 == 0o600


def test_the_report_names_no_path_no_user_and_no_time(workshop):
    workshop.table(["id", "vote"], [[f"p{i}", i % 2] for i in range(12)])
    workshop.plan(query("vote = 0", rows=6), more_data='row_id = "id"')
    workshop.release()
    texts = workshop.page.read_text(encoding="utf-8"), workshop.json.read_text(encoding="utf-8")
    user = os.environ.get("USER") or Path.home().name
    for text in texts:
        assert str(workshop.folder) not in text
        assert not re.search(rf"\b{re.escape(str(Path.home()))}\b/", text)
        assert user == "root" or user not in text
        assert not re.search(r"\b20\d\d-\d\d-\d\d\b|\d\d:\d\d:\d\d", text)
    assert "people.csv" in texts[1]


def test_the_fingerprint_in_the_ledger_is_keyed(tmp_path):
    """The same table under two keys leaves two registries without a byte string in common."""
    kept = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        workshop = Workshop(tmp_path / name)
        workshop.table(["id", "vote"], [[f"p{i}", i % 2] for i in range(12)])
        workshop.plan(query("vote = 0", rows=12), more_data='row_id = "id"')
        workshop.release()
        with closing(sqlite3.connect(workshop.registry / "ledger.sqlite3")) as connection:
            ((tokens,),) = connection.execute("SELECT tokens FROM token")
            ((ordered, unordered),) = connection.execute("SELECT ordered, unordered FROM content")
        kept.append({*(tokens[i : i + 16] for i in range(0, len(tokens), 16)), ordered, unordered})
    assert len(kept[0]) == len(kept[1]) == 14
    assert not kept[0] & kept[1]


def test_a_registry_is_not_needed_to_verify(workshop, in_process):
    workshop.table(["vote"], [[i % 2] for i in range(12)])
    workshop.plan(query("vote = 0", rows=6))
    workshop.release()
    shutil.rmtree(workshop.registry)
    code, _, err = in_process("compose", workshop.json)
    assert (code, err) == (0, "")


# --- exact tables: withheld ones look the same whatever withholds them, and published ones are their counts


TABLE_N = 40
EXACT_TABLE = """
[[table]]
name = "kinds by age"
minimum = 4
{more}
[table.dimensions]
kind = ["a", "b", {{ values = ["c", "C"], label = "c" }}]
age = {{ breaks = [40], labels = ["young", "old"] }}
"""
BY_KIND = 'by = "kind"\nby_source = "a register"'
KIND_CELLS = {"a": ["a"], "b": ["b"], "c": ["c", "C"]}
AGE_CELLS = {"young": ["39", " -1e3 ", "0.5"], "old": ["40", "4e1", "99999999999999999999"]}
DECLARED_CELLS = [(kind, age) for kind in KIND_CELLS for age in AGE_CELLS]
IN_NO_CELL = [("A", "39"), ("", "40"), ("a", ""), ("b", "x"), ("c", "NA"), ("it's", "1e400")]


@st.composite
def table_rows(draw, counts, stray=0):
    """Rows with these counts in the declared cells, and some in none, in any order, spelt in any way."""
    cells = [cell for cell, count in zip(DECLARED_CELLS, counts, strict=True) for _ in range(count)]
    rows = [[draw(st.sampled_from(KIND_CELLS[k])), draw(st.sampled_from(AGE_CELLS[age]))] for k, age in cells]
    rows += [[*draw(st.sampled_from(IN_NO_CELL))] for _ in range(stray)]
    return [[*row, draw(ANY_CELL)] for row in draw(st.permutations(rows))]


WITHHELD = [
    ([7, 7, 7, 7, 9, 3], 0),
    ([7, 7, 7, 7, 12, 0], 0),
    ([7, 7, 7, 7, 5, 6], 1),
    ([0, 0, 0, 0, 0, 0], 40),
    ([40, 0, 0, 0, 0, 0], 0),
    ([3, 3, 3, 3, 3, 25], 0),
]
"""Counts of the cells and rows in none, of tables that are withheld whole."""


assert {sum(counts) + stray for counts, stray in WITHHELD} == {TABLE_N}


@settings(SETTINGS, max_examples=cases(6, campaign=60), phases=[Phase.explicit, Phase.generate])
@given(data=st.data())
def test_withheld_tables_look_the_same_whatever_withholds_them(workshop, in_process, data):
    workshop.plan(EXACT_TABLE.format(more=""), more_data='row_id = "id"\nnull_values = ["NA"]')
    seen = []
    for counts, stray in data.draw(st.permutations(WITHHELD))[:2]:
        write_csv(workshop, ["kind", "age", "spare"], data.draw(table_rows(counts, stray)))
        seen.append((seen_from_outside(workshop, in_process), ledger(workshop)))
    assert seen[0] == seen[1]
    assert seen[0][0][0] == 0, seen
    (table,) = workshop.report["tables"]
    assert (table["published"], table["withheld"], table["cells"]) == (False, [], [])


@pytest.mark.parametrize(
    ("more", "alike", "withheld"),
    [
        ("", [([7, 7, 7, 7, 7, 5], 0)] * 2, []),
        (BY_KIND, [([7, 7, 7, 7, 9, 3], 0), ([7, 7, 7, 7, 0, 12], 0)], ["c"]),
    ],
)
def test_released_table_with_equal_cells_look_the_same(workshop, in_process, more, alike, withheld):
    """Of a withheld class nothing shows but its size, which is public."""
    workshop.plan(EXACT_TABLE.format(more=more), more_data='row_id = "id"\nnull_values = ["NA"]')

    @settings(SETTINGS, max_examples=cases(2, campaign=30))
    @given(data=st.data())
    def look_the_same(data):
        seen = []
        for counts, stray in alike:
            write_csv(workshop, ["kind", "age", "spare"], data.draw(table_rows(counts, stray)))
            seen.append((seen_from_outside(workshop, in_process), ledger(workshop)))
        assert seen[0] == seen[1]
        assert seen[0][0][0] == 0, seen
        (table,) = workshop.report["tables"]
        assert (table["published"], table["withheld"]) == (True, withheld)

    look_the_same()
