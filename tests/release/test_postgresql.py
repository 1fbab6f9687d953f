"""Is a table of PostgreSQL read in one snapshot, and does nothing secret reach its server?"""

from __future__ import annotations

import signal
import threading
import traceback
from array import array
from contextlib import suppress
from dataclasses import replace

import pytest

from statpriv.errors import TableError
from statpriv.releasing.ledger import Rows
from statpriv.releasing.partition import Strata, cut
from statpriv.releasing.plan import DataSource
from statpriv.releasing.predicate import Predicate
from statpriv.releasing.tables import open_table

from .conftest import parts
from .row_hashes import by_row, tokens

on_postgresql = pytest.importorskip("statpriv.releasing.tables.postgresql", exc_type=ImportError)

pytestmark = pytest.mark.xdist_group("postgresql")

KEY = b"a key that no server may see :-)"
CANARY = "canary7391"


@pytest.fixture
def people(postgresql):
    """Make a table `public.people`, and say where it is."""

    def make(columns, *rows, row_id="id", more=()):
        values = [f"INSERT INTO people VALUES {', '.join(rows)}"] if rows else []  # noqa: S608 - of the tests
        postgresql.execute("DROP TABLE IF EXISTS people CASCADE", f"CREATE TABLE people ({columns})", *values, *more)
        return DataSource(
            None, "public.people", row_id, engine="postgresql", database=postgresql.url, table="public.people"
        )

    yield make
    postgresql.execute("DROP TABLE IF EXISTS people CASCADE")


def counts(source, *wheres):
    asked = [Predicate.parse(where) for where in wheres]
    results = []
    for predicate in asked:
        with open_table(source, asked) as table:
            n = table.row_count()
            ((count,),) = table.load(KEY).count(parts([1] * n), [(predicate,)])
            results.append(count)
    return results


def refusal(source, where="a = 1", **options):
    asked = []
    with pytest.raises(TableError) as refused, open_table(source, [Predicate.parse(where)], on_query=asked.append):
        pass
    assert not any("FROM ONLY" in sql for sql in asked)
    assert refused.value.__cause__ is refused.value.__context__ is None
    return str(refused.value)


# --- what is read


def test_rows_come_in_the_binary_order_of_their_ids(people):
    source = people("id text, a int", "('b', 1)", "('C', 2)", "('a', 3)", "('ä', 4)", "('10', 5)", "('9', 6)")
    asked = [(Predicate.parse("a > 4"),), (Predicate.parse("a = 2"), Predicate.parse("a < 4"))]
    with open_table(source, [predicate for question in asked for predicate in question]) as table:
        assert table.columns == ("id", "a")
        assert table.row_count() == 6
        assert by_row(table.row_tokens(KEY, with_rows=True)) == tokens(KEY, ["10", "9", "C", "a", "b", "ä"])
        assert table.load(KEY).count(parts([1, 0, 2, 2, 2, 1]), asked) == [(1,), (1, 2, 0)]


@pytest.mark.parametrize("type_", ["smallint", "integer", "bigint", "varchar(5)", "text"])
def test_ids_are_text_or_whole_numbers(people, type_):
    source = people(f"id {type_}, a int", "('7', 1)", "('08', 2)")
    with open_table(source, []) as table:
        assert by_row(table.row_tokens(KEY, with_rows=True)) == tokens(
            KEY, (["08", "7"] if type_.startswith(("v", "t")) else ["7", "8"])
        )
        assert len(table.load(KEY).count(parts([1, 1]), [(Predicate.parse("a = 1"),)])) == 1


@pytest.mark.parametrize("type_", ["char(3)", "double precision", "date", "numeric", "jsonb"])
def test_other_ids_are_refused(people, type_):
    assert "ids are text or whole numbers" in refusal(people(f"id {type_}, a int"))


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ([f"'{CANARY}'", f"'{CANARY}'"], "does not identify rows"),
        ([f"'{CANARY}'", f"' {CANARY} '"], "does not identify rows"),
        ([f"'{CANARY}é'", f"'{CANARY}e\u0301'"], "does not identify rows"),
        ([f"'{CANARY}'", "' '"], "is empty in some row"),
        ([f"'{CANARY}'", "NULL"], "has no value in some row"),
    ],
)
def test_ids_that_identify_nobody_are_refused_without_a_value(people, cells, reason):
    source = people("id text, a int", *(f"({cell}, 1)" for cell in cells))
    with open_table(source, []) as table, pytest.raises(TableError) as refused:
        table.row_tokens(KEY)
    assert reason in str(refused.value)
    assert CANARY not in str(refused.value)


def test_an_empty_table_is_refused(people):
    with open_table(people("id int, a int"), []) as table, pytest.raises(TableError, match="it has no rows"):
        table.row_count()


def test_groups_and_units(people):
    source = people("id int, sex text, person text", "(2, 'm', 'x')", "(1, 'f', ' x')", "(10, 'm', 'y')")
    with open_table(replace(source, group="sex", unit="person"), []) as table:
        groups = table.groups()
        assert (groups.names, groups.of_rows.tolist()) == (("f", "m"), [0, 1, 1])
        with pytest.raises(TableError, match='the unit column "person" does not identify persons'):
            table.row_tokens(KEY)
    source = people("id int, sex text", "(2, 'm')", "(1, NULL)")
    with open_table(replace(source, group="sex"), []) as table, pytest.raises(TableError, match="has no value"):
        table.groups()


# --- one moment


def test_everything_is_of_one_snapshot(people, postgresql):
    source = people("id int, a int", "(1, 1)", "(2, 1)")
    asked = [(Predicate.parse("a = 1"),)]
    with open_table(source, asked[0]) as table:
        assert table.row_count() == 2
        postgresql.execute("UPDATE people SET a = 2", "INSERT INTO people VALUES (3, 1)")
        assert by_row(table.row_tokens(KEY, with_rows=True)) == tokens(KEY, ["1", "2"])
        content = table.load(KEY)
        postgresql.execute("DELETE FROM people")
        assert content.count(parts([1, 1]), asked) == [(2,)]


def test_nobody_can_alter_the_table_meanwhile(people, postgresql):
    import psycopg

    source = people("id int, a int", "(1, 1)")
    with open_table(source, []), pytest.raises(psycopg.errors.LockNotAvailable):
        postgresql.execute("SET lock_timeout = '100ms'", "ALTER TABLE people ADD COLUMN b int")


def test_nothing_is_ever_committed(people, postgresql):
    source = people("id int, a int", "(1, 1)", "(2, 1)")
    before = postgresql.rows("SELECT relname FROM pg_class ORDER BY oid")
    assert counts(source, "a = 1") == [2]
    assert postgresql.rows("SELECT relname FROM pg_class ORDER BY oid") == before


def test_an_interrupt_cancels_the_query_on_the_server(people, postgresql, monkeypatch):
    source = people("id int, a int", "(1, 1)")
    monkeypatch.setattr(on_postgresql._Relation, "sql", property(lambda self: "pg_sleep(60) AS source(c0)"))
    interrupt = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    with open_table(source, []) as table:
        interrupt.start()
        with pytest.raises(KeyboardInterrupt):
            table.row_count()
    running = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()"
    assert postgresql.rows(running) == [(0,)]


# --- which tables


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("CREATE VIEW people AS SELECT 1 AS id, 1 AS a", "is a view, and only plain tables are read"),
        ("CREATE MATERIALIZED VIEW people AS SELECT 1 AS id, 1 AS a", "is a materialised view"),
        ("CREATE TABLE people (id int, a int) PARTITION BY LIST (a)", "is a partitioned table"),
        ("CREATE TABLE people (id int, a int GENERATED ALWAYS AS (id + 1) STORED)", "has generated columns"),
        ("CREATE TABLE people (id int, a char(3))", 'the column "a" is declared character(3), and'),
        ('CREATE TABLE people (id int, "A" int)', 'there is no column "a"; did you mean "A"?'),
        ("CREATE TABLE people (id int, a text)", "is declared text, and the predicate compares it as a number"),
        ("CREATE TABLE people (id int, a float)", "where equality is a matter of rounding"),
        ("CREATE TABLE people (id int, a timestamptz)", "only numbers, text, dates and booleans can be compared"),
        ("SELECT 1", 'the database has no table "public.people"; write table = "schema.name"'),
    ],
)
def test_only_plain_tables_with_fitting_columns_are_read(people, postgresql, statement, reason):
    source = people("id int")
    postgresql.execute("DROP TABLE people", statement)
    try:
        assert reason in refusal(source)
    finally:
        with suppress(Exception):
            postgresql.execute("DROP VIEW people")
        with suppress(Exception):
            postgresql.execute("DROP MATERIALIZED VIEW people")


def test_tables_with_heirs_are_refused(people):
    source = people("id int, a int", more=["CREATE TABLE heirs () INHERITS (people)"])
    assert "has tables that inherit from it" in refusal(source)


def test_what_others_define_does_not_stand_in_for_operators(people):
    """A schema of the same names, operators and functions, first in everybody's search path."""
    source = people(
        "id int, a int, t text",
        "(1, 1, 'x')",
        more=[
            "CREATE SCHEMA IF NOT EXISTS evil",
            "CREATE OR REPLACE FUNCTION evil.no(int, int) RETURNS boolean LANGUAGE sql AS 'SELECT false'",
            "DROP OPERATOR IF EXISTS evil.= (int, int)",
            "CREATE OPERATOR evil.= (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.no)",
            "CREATE OR REPLACE FUNCTION evil.sha256(bytea) RETURNS bytea LANGUAGE sql AS 'SELECT NULL::bytea'",
            "ALTER DATABASE postgres SET search_path = evil, pg_catalog, public",
        ],
    )
    try:
        assert counts(source, "a = 1") == [1]
    finally:
        people("id int", more=["ALTER DATABASE postgres RESET search_path", "DROP SCHEMA evil CASCADE"])


def test_rows_that_a_policy_hides_are_an_error_and_not_missing(people, postgresql):
    source = people(
        "id int, a int",
        "(1, 1)",
        "(2, 1)",
        more=[
            "ALTER TABLE people ENABLE ROW LEVEL SECURITY",
            "CREATE POLICY few ON people USING (id = 1)",
            "DROP ROLE IF EXISTS curator",
            "CREATE ROLE curator LOGIN",
            "GRANT SELECT ON people TO curator",
        ],
    )
    source = replace(source, database=postgresql.url.replace("postgres@", "curator@"))
    try:
        with open_table(source, []) as table, pytest.raises(TableError, match="the database failed while"):
            table.row_count()
    finally:
        postgresql.execute("DROP OWNED BY curator", "DROP ROLE curator")


@pytest.fixture
def of_a_curator(people, postgresql):
    """A table of two rows, as a role sees it that may do nothing in the database but what is granted to it."""

    def source(*rights):
        known = people(
            "id int, a int",
            "(1, 1)",
            "(2, 0)",
            more=[
                "DROP ROLE IF EXISTS curator",
                "CREATE ROLE curator LOGIN",
                "REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC",
                *rights,
            ],
        )
        return replace(known, database=postgresql.url.replace("postgres@", "curator@"))

    yield source
    postgresql.execute("DROP OWNED BY curator", "DROP ROLE curator", "GRANT TEMPORARY ON DATABASE postgres TO PUBLIC")


def test_a_missing_right_is_refused_before_anything_is_spent(of_a_curator):
    assert "the table cannot be read: the role needs SELECT on it" in refusal(of_a_curator())


def test_nothing_but_the_right_to_read_the_table_is_needed(of_a_curator):
    asked = [(Predicate.parse("a = 1"),)]
    with open_table(of_a_curator("GRANT SELECT ON people TO curator"), asked[0]) as table:
        assert table.load(KEY).count(parts([1, 1]), asked) == [(1,)]
        with pytest.raises(TableError, match="cannot write"):
            table._session.run("INSERT INTO people VALUES (3, 1)", "cannot write")


def test_an_address_that_leads_nowhere(people):
    source = replace(people("id int, a int"), database="postgresql:///nowhere?host=/nowhere")
    message = refusal(source)
    assert "the database cannot be reached" in message
    assert "/nowhere" not in message


# --- values


def test_content_of_any_type_is_fingerprinted(people):
    columns = "id int, a int, j jsonb, l int[], c char(3), n numeric, f float8, t timestamptz, x bytea, p point"
    row = "(1, NULL, '{\"k\": 1}', '{1,2}', 'ab', 'NaN', 'Infinity', '2020-01-01', '\\x00', '(1,2)')"

    def fingerprint():
        with open_table(source, []) as table:
            return table.load(KEY).fingerprint

    source = people(columns, row)
    one = fingerprint()
    source = people(columns, row, more=["ALTER DATABASE postgres SET datestyle = 'German'"])
    assert fingerprint() == one
    source = people(columns, row.replace("NULL", "0"), more=["ALTER DATABASE postgres RESET datestyle"])
    assert fingerprint() != one
    assert counts(source, "j IS NULL", "n IS NULL", "f > 5") == [0, 1, 1]


def test_the_fields_of_a_composite_value_do_not_make_it_null(people):
    people("id int", more=["DROP TYPE IF EXISTS pair", "CREATE TYPE pair AS (x int, y int)"])
    source = people("id int, a pair", "(1, ROW(NULL, NULL))", "(2, NULL)", "(3, ROW(1, NULL))")
    assert counts(source, "a IS NULL") == [1]
    people("id int", more=["DROP TYPE pair"])


def test_more_columns_than_a_function_takes(people):
    names = ", ".join(f"c{i} int" for i in range(300))
    source = people(f"id int, {names}", f"(1, {', '.join(map(str, range(300)))})")
    assert counts(source, "c299 = 299") == [1]


# --- the canary


def test_no_failure_quotes_a_cell(people, monkeypatch):
    """A type whose output fails with the value in the message."""
    source = people(
        "id int, a text",
        f"(1, '{CANARY}')",
    )
    monkeypatch.setattr(
        on_postgresql._Relation, "digested", lambda self, index: f"CAST(CAST(CAST(c{index} AS text) AS int) AS text)"
    )
    for debug in (False, True):
        with open_table(source, [], debug=debug) as table, pytest.raises(TableError) as refused:
            table.load(KEY)
        shown = "".join(traceback.format_exception(refused.value))
        assert "the database failed while the table was read" in str(refused.value)
        assert (CANARY in shown) == debug


def test_the_server_s_log_and_files_hold_no_label_id_or_key(people, postgresql):
    """With every statement and duration logged: the ids are in the table's own file, and nowhere else."""
    ids = [f"{CANARY}-{i:03d}" for i in range(200)]
    source = people("id text, a int", *(f"('{id_}', {i % 2})" for i, id_ in enumerate(ids)))
    postgresql.execute("CHECKPOINT")
    logged, files = len(postgresql.log), set(postgresql.files_with(CANARY))
    asked = [(Predicate.parse("a = 1"),), (Predicate.parse("a = 0"),)]
    with open_table(source, [predicate for question in asked for predicate in question]) as table:
        table.row_tokens(KEY)
        content = table.load(KEY)
        labels = array("I", [1 + (i % 3 == 0) for i in range(200)])
        ((first,), (second,)) = content.count(parts(labels), asked)
        assert (first, second) == (67, 34)
        log = postgresql.log[logged:]
        assert set(postgresql.files_with(CANARY)) <= files
    assert "CASE WHEN" in log
    for secret in (CANARY, KEY.decode(), KEY.hex(), content.fingerprint.ordered.hex()):
        assert secret not in log


def test_what_is_sent_to_the_server_does_not_depend_on_the_partition(people):
    """Neither on its key nor on the order in which the questions of its parts are asked by rows."""
    source = people("id text, a int", *(f"('p{i}', {i % 2})" for i in range(40)))
    asked = [(Predicate.parse("a = 1"),), (Predicate.parse("a = 0"),)]
    sent = []
    for key in (b"1" * 32, b"2" * 32):
        queries = []
        with open_table(source, [one for (one,) in asked], on_query=queries.append) as table:
            rows = Rows.of(40, table.row_tokens(KEY))
            content = table.load(KEY)
            queries.clear()
            counts = content.count(cut(rows, KEY, Strata([(20, 10)]), key), asked)
            assert len(counts) == 2
        sent.append(queries)
    assert sent[0] == sent[1]
    assert len(sent[0]) == 1


def test_labels_of_another_table_are_refused(people):
    source = people("id int, a int", "(1, 1)")
    asked = [(Predicate.parse("a = 1"),)]
    with open_table(source, asked[0]) as table, pytest.raises(TableError, match="it changed while it was being read"):
        table.load(KEY).count(parts([1, 1]), asked)
