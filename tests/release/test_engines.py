"""Does one plan mean the same on every engine?"""

from __future__ import annotations

import random
import shutil
import traceback
from array import array
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from math import inf, nan
from pathlib import Path

import duckdb
import numpy as np
import pytest

from statpriv.errors import LedgerError, TableError
from statpriv.files.composition import read_composition
from statpriv.releasing.classification import Classification, dimension_from
from statpriv.releasing.extension import extend
from statpriv.releasing.plan import DataSource
from statpriv.releasing.predicate import Predicate, identifier
from statpriv.releasing.tables import open_table
from statpriv.releasing.tables.identity import LookAlikeIdsWarning

from .conftest import labels, parts, query
from .row_hashes import by_row, tokens

pytestmark = pytest.mark.usefixtures("computed_once")

KEY = b"k" * 32
CANARY = "canary7391"
ENGINES = ["duckdb", "postgresql", "spark"]


@pytest.fixture(
    params=[
        "duckdb",
        pytest.param("postgresql", marks=pytest.mark.xdist_group("postgresql")),
        pytest.param("spark", marks=[pytest.mark.campaign, pytest.mark.xdist_group("spark")]),
    ]
)
def engine(request, tmp_path):
    """An engine that can be given a table: the same columns and values on each."""
    if request.param != "duckdb":
        server = request.getfixturevalue(request.param)
    return Engine(request.param, tmp_path, server if request.param == "postgresql" else None)


@dataclass
class Engine:
    name: str
    folder: Path
    server: object

    def table(self, columns, rows):
        """Make the table `people`; the first column names the rows."""
        define = ", ".join(f"{identifier(name)} {type_}" for name, type_ in columns.items())
        if self.server is not None:
            import psycopg

            with psycopg.connect(self.server.url, autocommit=True) as connection:
                connection.execute("DROP TABLE IF EXISTS people")
                connection.execute(f"CREATE TABLE people ({define})")
                with connection.cursor() as cursor:
                    places = ", ".join(["%s"] * len(columns))
                    cursor.executemany(f"INSERT INTO people VALUES ({places})", rows)  # noqa: S608
            return DataSource(
                None, "public.people", "id", engine="postgresql", database=self.server.url, table="public.people"
            )
        path = self.folder / "people.parquet"
        with closing(duckdb.connect(":memory:")) as connection:
            connection.execute(f"CREATE TABLE people ({define})")
            place = f"({', '.join(['?'] * len(columns))})"
            for start in range(0, len(rows), 100):  # one statement a row takes the engine a minute
                some = rows[start : start + 100]
                values = [value for row in some for value in row]
                connection.execute(f"INSERT INTO people VALUES {', '.join([place] * len(some))}", values)  # noqa: S608
            connection.execute(f"COPY people TO '{path}' (FORMAT parquet)")
        return DataSource(path, path.name, "id", engine=self.name)

    def data(self, source):
        """What a plan says of this source."""
        if self.name == "postgresql":
            return source.database, f'table = "{source.table}"\nrow_id = "id"'
        return source.path.name, f'engine = "{self.name}"\nrow_id = "id"'


# --- parity, against what Python says

ODD = 'we"ird; col'
FOREIGN = "grüße ‰ 列"
COLUMNS = {
    "id": "VARCHAR",
    "name": "VARCHAR",
    "m": "DECIMAL(36, 18)",
    "i": "BIGINT",
    "f": "DOUBLE PRECISION",
    "d": "DATE",
    "b": "BOOLEAN",
    ODD: "VARCHAR",
    FOREIGN: "INTEGER",
    "select": "INTEGER",
    "two words": "VARCHAR",
    "back`tick": "INTEGER",
    "it's": "BOOLEAN",
    "dotted.name": "INTEGER",
}
LARGE, SMALL = Decimal("999999999999999999.999999999999999999"), Decimal("0.000000000000000001")
# name, m, i, f, d, b; the other columns are made of them
VALUES = [
    (None, None, None, None, None, None),
    ("", Decimal(0), 0, 0.0, date(1, 1, 1), True),
    ("it's", SMALL, 1, -0.0, date(9999, 12, 31), False),
    ("; DROP TABLE t", -SMALL, -1, nan, date(2020, 2, 29), None),
    ("a_b", LARGE, 2**63 - 1, inf, date(1969, 12, 31), True),
    ("aXb", LARGE.copy_negate(), -(2**63), -inf, date(1970, 1, 1), False),
    ("a%b", Decimal("2.5"), 18, 0.1, date(2000, 1, 1), None),
    ("ab", Decimal("2.50"), 18, 2.5, None, True),
    ("Zoë", Decimal("-2.5"), 19, 1e300, date(2020, 2, 28), False),
    ("zoë", Decimal(18), None, 1e-300, date(2020, 3, 1), True),
    ("é", Decimal("18.000000000000000001"), 7, 18.0, date(2020, 12, 31), True),
    ("e\u0301", None, 8, -2.5, date(2021, 1, 1), None),
    ("Ä", Decimal(7), 9, None, date(1900, 1, 1), False),
    ("列", Decimal(8), 10, 3.0, date(1582, 10, 15), False),
    ("𝄞", Decimal(9), 11, 4.0, date(1582, 10, 4), True),
    ("\uffee", Decimal(10), 12, 5.0, date(1600, 2, 29), True),
    (" a b ", Decimal(11), 13, 6.0, date(2020, 1, 1), True),
    ("line\nbreak", Decimal(12), 14, 7.0, date(2020, 1, 2), False),
    ("back\\slash", Decimal(13), 15, 8.0, date(2020, 1, 3), False),
    ("${spark.app.name}", Decimal(14), 16, 9.0, date(2020, 1, 4), True),
    ("NULL", Decimal(15), 17, 10.0, date(2020, 1, 5), True),
    ("%s", Decimal(16), 20, 11.0, date(2020, 1, 6), None),
]


def row(values):
    name, m, i, f, d, b = values
    whole = None if i is None else i % 1000
    return (name, m, i, f, d, b, name, whole, whole, name, whole, b, whole)


ROWS = [dict(zip(list(COLUMNS)[1:], row(values), strict=True)) for values in VALUES]


def known(*columns):
    """Whether all of these have a value; the engines take NaN for none."""
    return lambda r: all(r[c] is not None and r[c] == r[c] for c in columns)


def on(column, holds):
    return lambda r: known(column)(r) and holds(r[column])


def binary(text):
    return text.encode()


CASES = {
    # unknown and empty
    "name IS NULL": lambda r: r["name"] is None,
    "name IS NOT NULL": lambda r: r["name"] is not None,
    "name = ''": on("name", lambda v: v == ""),
    "name <> ''": on("name", lambda v: v != ""),
    "NOT (name = '')": on("name", lambda v: v != ""),
    "name IS DISTINCT FROM ''": lambda r: r["name"] != "",
    "m IS NULL OR i IS NULL": lambda r: r["m"] is None or r["i"] is None,
    "f IS NULL": lambda r: not known("f")(r),
    "(b = TRUE) IS NULL": lambda r: r["b"] is None,
    "name NOT IN ('', 'ab')": on("name", lambda v: v not in {"", "ab"}),
    # text: binary order, exact equality, patterns of characters
    "name = 'it''s'": on("name", lambda v: v == "it's"),
    "name = '; DROP TABLE t'": on("name", lambda v: v == "; DROP TABLE t"),
    "name = 'é'": on("name", lambda v: v == "é"),
    "name < 'a'": on("name", lambda v: v < "a"),
    "name >= 'Z' AND name < 'zoë'": on("name", lambda v: binary("Z") <= binary(v) < binary("zoë")),
    "name > '\uffee'": on("name", lambda v: binary(v) > binary("\uffee")),
    "name BETWEEN 'é' AND '列'": on("name", lambda v: binary("é") <= binary(v) <= binary("列")),
    "name = ' a b '": on("name", lambda v: v == " a b "),
    "name = 'back\\slash'": on("name", lambda v: v == "back\\slash"),
    "name = '${spark.app.name}'": on("name", lambda v: v == "${spark.app.name}"),
    "name = 'NULL'": on("name", lambda v: v == "NULL"),
    "name IN ('%s', '%')": on("name", lambda v: v == "%s"),
    "name LIKE 'a_b'": on("name", lambda v: v in {"a_b", "aXb", "a%b"}),
    "name LIKE 'a%b'": on("name", lambda v: v[:1] == "a" and v[-1:] == "b"),
    "name LIKE '_'": on("name", lambda v: len(v) == 1),
    "name LIKE '%k'": on("name", lambda v: v.endswith("k")),
    "name LIKE 'line_break'": on("name", lambda v: v == "line\nbreak"),
    "name NOT LIKE '%%'": lambda r: False,
    "name LIKE '$%'": on("name", lambda v: v.startswith("$")),
    # numbers: every digit counts
    "m = 0": on("m", lambda v: v == 0),
    "m = 0.000000000000000001": on("m", lambda v: v == SMALL),
    "m > -0.000000000000000001 AND m < 1": on("m", lambda v: -SMALL < v < 1),
    "m = 999999999999999999.999999999999999999": on("m", lambda v: v == LARGE),
    "m < -999999999999999999": on("m", lambda v: v < Decimal("-999999999999999999")),
    "m IN (2.5, -2.50, 18)": on("m", lambda v: v in {Decimal("2.5"), Decimal("-2.5"), 18}),
    "m <> 2.5": on("m", lambda v: v != Decimal("2.5")),
    "i > 999999999999999999": on("i", lambda v: v > 999999999999999999),
    "i < 0.5": on("i", lambda v: v < 0.5),
    "i = 18.0": on("i", lambda v: v == 18),
    "i NOT BETWEEN 8 AND 999999999999999999.5": on("i", lambda v: not 8 <= v <= 10**18 - 0.5),
    "f > 0.1": on("f", lambda v: v > 0.1),
    "f >= 0.1": on("f", lambda v: v >= 0.1),
    "f < 0": on("f", lambda v: v < 0),
    "f <= 0": on("f", lambda v: v <= 0),
    "f > 999999999999999999": on("f", lambda v: v > 1e18),
    # dates and truth values
    "d = DATE '2020-02-29'": on("d", lambda v: v == date(2020, 2, 29)),
    "d < DATE '1582-10-15'": on("d", lambda v: v < date(1582, 10, 15)),
    "d >= DATE '0001-01-01'": known("d"),
    "d BETWEEN DATE '1969-12-31' AND DATE '2020-01-01'": on("d", lambda v: date(1969, 12, 31) <= v <= date(2020, 1, 1)),
    "b = TRUE": lambda r: r["b"] is True,
    "b IS NOT FALSE": lambda r: r["b"] is not False,
    "b <> TRUE": lambda r: r["b"] is False,
    "(i > 5) IS NOT TRUE": lambda r: not (r["i"] is not None and r["i"] > 5),
    "NOT (i > 5 OR b = TRUE)": lambda r: known("i")(r) and r["i"] <= 5 and r["b"] is False,
    # odd names
    f"{identifier(ODD)} = 'it''s'": on("name", lambda v: v == "it's"),
    f"{identifier(FOREIGN)} = 7": on(FOREIGN, lambda v: v == 7),
    '"select" = 1': on("select", lambda v: v == 1),
    "\"two words\" = 'ab'": on("two words", lambda v: v == "ab"),
    '"back`tick" >= 20': on("back`tick", lambda v: v >= 20),
    '"it\'s" = FALSE': lambda r: r["it's"] is False,
    '"dotted.name" < 3': on("dotted.name", lambda v: v < 3),
    "i = 0 -- c": on("i", lambda v: v == 0),
}


def test_every_engine_counts_what_python_counts(engine):
    """Copy number k of the rows is part k, which is asked case number k: all of them in one count."""
    rows = [(f"{copy:03d}-{n:02d}", *r.values()) for copy in range(len(CASES)) for n, r in enumerate(ROWS)]
    source = engine.table(COLUMNS, rows)
    predicates = [Predicate.parse(where, row_id="id") for where in CASES]
    with open_table(source, predicates) as table:
        assert table.columns == tuple(COLUMNS)
        assert table.row_count() == len(rows)
        assert by_row(table.row_tokens(KEY, with_rows=True)) == tokens(KEY, [id_ for id_, *_ in rows])
        labels = array("I", [1 + n // len(ROWS) for n in range(len(rows))])
        counted = table.load(KEY).count(parts(labels), [(predicate,) for predicate in predicates])
    expected = [sum(map(holds, ROWS)) for holds in CASES.values()]
    assert dict(zip(CASES, counted, strict=True)) == {
        where: (count,) for where, count in zip(CASES, expected, strict=True)
    }


def test_of_several_predicates_the_first_that_holds_counts(engine):
    source = engine.table({"id": "VARCHAR", "age": "INTEGER"}, [(f"p{n:02d}", n) for n in range(20)])
    young, even, old = (Predicate.parse(where) for where in ("age < 5", "age IN (2, 4, 6, 8)", "age >= 15"))
    with open_table(source, [young, even, old]) as table:
        labels = array("I", [1] * 10 + [0] * 2 + [2] * 8)
        questions = [(young, even), (old,)]
        assert table.load(KEY).count(parts(labels), questions) == [(5, 2, 3), (5,)]


def test_groups_are_those_of_the_rows(engine):
    columns = {"id": "VARCHAR", "sex": "VARCHAR", "person": "BIGINT"}
    source = engine.table(columns, [("a", "m", 1), ("b", "f", 2), ("c", "m", 1)])
    with open_table(replace(source, group="sex", unit="person"), []) as table:
        groups = table.groups()
        assert (groups.names, groups.of_rows.tolist()) == (("f", "m"), [1, 0, 1])
        with pytest.raises(TableError, match='the unit column "person" does not identify persons'):
            table.row_tokens(KEY)


# --- refusals, before any row is read

REFUSED = {
    "nosuch = 1": 'there is no column "nosuch"',
    "i = '18'": "and the predicate compares it as a text; write the constant without quotes",
    "name = 18": "and the predicate compares it as a number; write the constant as text, in single quotes",
    "b = 1": "and the predicate compares it as a number; write TRUE or FALSE",
    "d = '2020-02-29'": "write the constant as DATE '2020-12-31'",
    "f = 0.5": "where equality is a matter of rounding",
    "f NOT IN (1, 2)": "where equality is a matter of rounding",
    "t > DATE '2020-02-29'": "only numbers, text, dates and booleans can be compared",
}


def test_what_does_not_fit_is_refused_with_no_row_read(engine):
    columns = {**COLUMNS, "t": "TIMESTAMP"}
    source = engine.table(columns, [(f"{CANARY}-{n}", *r.values(), None) for n, r in enumerate(ROWS)])
    for where, reason in REFUSED.items():
        asked = []
        with pytest.raises(TableError) as refused, open_table(source, [Predicate.parse(where)], on_query=asked.append):
            pass
        assert reason in str(refused.value)
        assert not any("count(" in sql or "FROM ONLY" in sql or "FROM source" in sql for sql in asked)


@pytest.mark.parametrize(
    ("ids", "reason"),
    [
        ([f"{CANARY}é", f"{CANARY}e\u0301"], "does not identify rows"),
        ([CANARY, f" {CANARY}"], "does not identify rows"),
        ([CANARY, None], "has no value in some row"),
        ([CANARY, ""], "is empty in some row"),
    ],
)
def test_ids_that_identify_nobody_are_refused_without_a_value(engine, ids, reason):
    source = engine.table({"id": "VARCHAR", "a": "INTEGER"}, [(id_, 1) for id_ in ids])
    with open_table(source, []) as table, pytest.raises(TableError) as refused:
        table.row_tokens(KEY)
    assert reason in str(refused.value)
    assert CANARY not in "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize("named", ["row_id", "unit"])
def test_ids_that_look_alike_are_warned_of_without_a_value(engine, named):
    ids = [f"{CANARY}b", f"{CANARY}B", f"{CANARY}\u200bb", f"{CANARY}\uff42", f"{CANARY}c"]
    source = engine.table({"id": "VARCHAR", "a": "INTEGER"}, [(id_, 1) for id_ in ids])
    source = replace(source, row_id="id", unit="id" if named == "unit" else None)
    with open_table(source, []) as table, pytest.warns(LookAlikeIdsWarning) as warned:
        table.row_tokens(KEY)
    messages = [str(warning.message) for warning in warned]
    assert messages[0].startswith(
        f'the {named} column "id" has values that differ only by case, by the width of letters'
    )
    assert "there would be 3 fewer" in messages[0]
    assert CANARY not in "".join(messages)


def test_fingerprints_see_every_cell_and_no_order(engine):
    rows = [(f"{n:02d}", *r.values()) for n, r in enumerate(ROWS)]

    def fingerprint(rows):
        with open_table(engine.table(COLUMNS, rows), []) as table:
            return table.load(KEY).fingerprint

    one = fingerprint(rows)
    assert fingerprint(rows[::-1]).unordered == one.unordered
    edited = [rows[0], (rows[1][0], None, *rows[1][2:]), *rows[2:]]
    assert fingerprint(edited).unordered != one.unordered


# --- whole releases


def released(engine, workshop):
    rows = [(f"{CANARY}-{n:03d}", n % 3, f"{CANARY} {n % 5}", n % 2 == 0) for n in range(120)]
    source = engine.table({"id": "VARCHAR", "vote": "INTEGER", "name": "VARCHAR", "b": "BOOLEAN"}, rows)
    data, more_data = engine.data(source)
    workshop.plan(
        query("vote = 0", rows=40, probability=("0.2", "0.5")),
        query(f"name LIKE '%{3}'", rows=30, probability=("0.1", "0.4")),
        query("b = TRUE", rows=20),
        data=data,
        more_data=more_data,
    )
    workshop.release(seed=7)
    return rows


def test_a_release_is_the_same_on_every_engine(engine, workshop, tmp_path):
    """The same words draw the same parts of the same ids, so the counts are the same."""
    rows = released(engine, workshop)
    report = workshop.report
    assert report["data"]["source"] == ("public.people" if engine.name == "postgresql" else "people.parquet")
    drawn = labels([row[0] for row in rows], [40, 30, 20], 7)
    holds = [lambda r: r[1] == 0, lambda r: r[2].endswith("3"), lambda r: r[3]]
    counted = [
        sum(label == part and holds[part - 1](r) for r, label in zip(rows, drawn, strict=True)) for part in (1, 2, 3)
    ]
    assert [answer["count"] for answer in report["answers"]] == counted
    workshop.assert_whole_report()
    assert workshop.spent() == [90]


def test_nothing_that_a_release_leaves_holds_a_cell(engine, workshop, capfd):
    logged = len(engine.server.log) if engine.server else 0
    released(engine, workshop)
    kept = {"people.parquet", "plan.toml"}
    left = [path for path in workshop.folder.rglob("*") if path.is_file() and path.name not in kept]
    assert {path.name for path in left} >= {"report.html", "report.json", "ledger.sqlite3"}
    assert not [path for path in left if CANARY.encode() in path.read_bytes()]
    assert not any(CANARY in sql for _, sql in workshop.queries)
    captured = capfd.readouterr()
    assert CANARY not in captured.out + captured.err
    if engine.server:
        ours = [line for line in engine.server.log[logged:].splitlines() if "INSERT INTO people" not in line]
        asked = [line for line in ours if "parameters:" not in line]
        assert any("CASE WHEN" in line for line in asked)
        assert not any(CANARY in line for line in asked)


EXACT_TABLE = """
[[table]]
name = "a table"
minimum = {minimum}
{more}
[table.dimensions]
region = ["n", "s", "*"]
age = {{ breaks = [30], labels = ["young", "old"], null = "unknown" }}
"""


@pytest.mark.parametrize(("more", "rows"), [("", 90), ("rows = 70", 70)])
def test_an_exact_table_is_published_or_withheld_alike_on_every_engine(engine, workshop, capfd, more, rows):
    """Nothing that a release leaves, published or withheld, holds a value that is in no declared category."""
    people = [(f"{CANARY}-{k:03d}", ["n", "s", CANARY, None][k % 4], [None, 29, 30][k % 3], CANARY) for k in range(90)]
    columns = {"id": "VARCHAR", "region": "VARCHAR", "age": "INTEGER", "spare": "VARCHAR"}
    data, more_data = engine.data(engine.table(columns, people))
    labelled = labels([row[0] for row in people], [rows], 7)
    own = [
        (region if region in ("n", "s") else "*", "unknown" if age is None else "young" if age < 30 else "old")
        for (_, region, age, _), label in zip(people, labelled, strict=True)
        if label
    ]
    smallest = min(own.count(cell) for cell in own)
    logged = len(engine.server.log) if engine.server else 0
    for minimum in (smallest, smallest + 1):
        shutil.rmtree(workshop.registry, ignore_errors=True)
        workshop.plan(EXACT_TABLE.format(minimum=minimum, more=more), data=data, more_data=more_data)
        workshop.release(seed=7, force=True)
        (table,) = workshop.report["tables"]
        assert table["published"] == (minimum == smallest)
        published = {(cell["region"], cell["age"]): cell["count"] for cell in table["cells"]}
        assert published == ({cell: own.count(cell) for cell in own} if minimum == smallest else {})
        workshop.assert_whole_report()
        assert CANARY not in workshop.page.read_text() + workshop.json.read_text()
        assert not any(CANARY in sql for _, sql in workshop.queries)
    if engine.server:
        ours = [line for line in engine.server.log[logged:].splitlines() if "INSERT INTO people" not in line]
        assert not any(CANARY in line for line in ours if "parameters:" not in line)
    captured = capfd.readouterr()
    assert CANARY not in captured.out + captured.err


def test_a_table_that_grows_is_released_until_every_row_has_answered_once(engine, workshop):
    """The counts of one property on all rows, in three releases, add up to its total."""
    columns = {"id": "VARCHAR", "vote": "INTEGER"}
    rows = [(f"{n:03d}", n * n % 3) for n in range(60)]
    edited = [(rows[0][0], 2), *rows[1:]]

    def has(some):
        data, more_data = engine.data(engine.table(columns, some))
        return {"data": data, "more_data": more_data}

    def refused(some, reason):
        has(some)
        with pytest.raises(LedgerError, match=reason):
            workshop.release(force=True)

    def released(some, size):
        workshop.plan(query("vote = 0", rows=size, probability=("0.2", "0.6")), **has(some))
        workshop.release(force=True)
        return workshop.report["answers"][0]["count"]

    counts = [released(rows[:40], 15)]
    refused(rows, "this table adds rows to one that was released")
    refused(rows[:39], "this table is a part of one that was released")
    refused(rows[1:41], "some rows of this table belong to one that was released")
    refused([edited[0], *rows[1:40]], "the content of this table was edited")
    has(edited)
    with pytest.raises(LedgerError, match="rows of this table were edited"):
        extend(workshop.folder / "plan.toml", registry=workshop.registry)
    has(rows)
    grown = extend(workshop.folder / "plan.toml", registry=workshop.registry)
    assert (grown.rows_before, grown.rows_joined, grown.content_edited) == (40, 20, False)
    counts += [released(rows, 20), released(rows[::-1], 25)]
    assert sum(counts) == sum(vote == 0 for _, vote in rows)
    assert workshop.spent() == [15, 20, 25]
    assert workshop.report["ledger"]["rows_left"] == 0
    assert read_composition(workshop.json).disagreements == ()
    refused(rows, "earlier releases have left 0 of 60")


# --- exact tables: the cell of each row, against what Python says

TOWNS = ["it's", 'a "b"', "<i>x</i>", "a, b", "back\\slash", "grüße ‰ 列", "; DROP TABLE t", "%", "_"]
MANY = [*TOWNS, *(f"town {k}" for k in range(30))]  # so many that engines look them up
TABULATED = {
    "name": [TOWNS[0], TOWNS[1], {"values": ["", *TOWNS[2:]], "label": "others"}, {"null": True}],
    "two words": [*MANY, "*"],
    "i": {"breaks": [-1, Decimal("2.5"), 18], "labels": ["low", "middle", "high", "top"], "null": "unknown"},
    "f": {"breaks": [0, 1], "labels": ["-", "0", "+"]},
    "select": [1, 2, {"values": list(range(3, 40)), "label": "many"}],
    "b": [True, False],
}


def category_of(dimension, value):
    """The index of the category, and one more than there are if the row is in none."""
    stated = TABULATED[dimension]
    if isinstance(stated, dict):
        if value is None or value != value:  # noqa: PLR0124 - nan
            return len(stated["breaks"]) + 1
        return sum(value >= end for end in stated["breaks"])
    for k, entry in enumerate(stated):
        values = [entry] if not isinstance(entry, dict) else [None] if "null" in entry else entry["values"]
        if entry == "*" or any(value == own and type(value) is type(own) for own in values):
            return k
    return len(stated)


CHOICES = {
    "name": [None, "", "undeclared", *TOWNS],
    "two words": [None, "nowhere", *MANY],
    "i": [None, -2, -1, 0, 2, 3, 17, 18, 2**62],
    "f": [None, nan, -inf, -0.5, 0.0, 0.5, 1.0, inf],
    "select": [None, 0, 1, 2, 3, 39, 40],
    "b": [None, True, False],
}


def expected_outcomes(classification, rows):
    """The number of rows in each cell, then in no cell of each class, then in no class."""
    sizes = [len(dimension.categories) for dimension in classification.dimensions]
    counts, by = [0] * classification.number_of_outcomes, classification.by
    for row in rows:
        places = [category_of(dimension.column, row[dimension.column]) for dimension in classification.dimensions]
        if all(place < size for place, size in zip(places, sizes, strict=True)):
            counts[np.ravel_multi_index(places, sizes)] += 1
        elif by is not None and places[by] < sizes[by]:
            counts[classification.number_of_cells + places[by]] += 1
        else:
            counts[-1] += 1
    return counts


def test_every_row_is_counted_in_its_cell(engine):
    choose = random.Random(3).choice  # noqa: S311 - a test repeats them
    rows = [{column: choose(values) for column, values in CHOICES.items()} for _ in range(500)]
    source = engine.table(
        {"id": "VARCHAR", **{column: COLUMNS[column] for column in CHOICES}},
        [(f"r{k:04}", *row.values()) for k, row in enumerate(rows)],
    )
    read = {column: dimension_from(column, stated) for column, stated in TABULATED.items()}
    of_part = array("I", [choose([0, 1, 2]) for _ in rows])
    with open_table(source, list(read.values())) as table:
        content = table.load(KEY)
        for columns in (["name", "two words"], ["i", "select", "b"], ["f", "b"]):
            for by in (None, 1):
                classification = Classification(tuple(read[column] for column in columns), by)
                for labels in (array("I", [1] * len(rows)), of_part):
                    own = [row for row, label in zip(rows, labels, strict=True) if label == 1]
                    expected = expected_outcomes(classification, own)
                    assert sum(count > 0 for count in expected) > 5
                    assert content.tabulate(parts(labels), 1, classification) == expected


def test_a_dimension_that_a_column_does_not_fit_is_refused_before_any_row_is_read(engine):
    source = engine.table({"id": "VARCHAR", "name": "VARCHAR", "f": "DOUBLE PRECISION"}, [("a", CANARY, 1.0)])
    for column, stated, message in [
        ("nmae", ["a", "b"], 'there is no column "nmae"; did you mean "name"?'),
        ("name", [1, 2], "and the dimension compares it as a number; write the constant as text, in single quotes"),
        ("f", [1, 2], "where equality is a matter of rounding"),
    ]:
        with pytest.raises(TableError) as refused, open_table(source, [dimension_from(column, stated)]):
            pass
        assert message in str(refused.value)
        assert f'table.dimensions, "{column}": ' in str(refused.value)
        assert CANARY not in str(refused.value)
