"""Does the engine read what the plan says, in the order that is allowed, and never quote a cell?"""

from __future__ import annotations

import os
import traceback
from array import array
from contextlib import closing
from dataclasses import replace

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statpriv.errors import TableError
from statpriv.releasing.plan import DataSource
from statpriv.releasing.predicate import Predicate
from statpriv.releasing.tables import duckdb as on_duckdb
from statpriv.releasing.tables import open_table
from statpriv.releasing.tables.files import Files

from ..cases import cases
from .conftest import parts
from .row_hashes import by_row, fingerprints, tokens

KEY = b"k" * 32
CANARY = "canary7391"


def source_of(path, **options):
    return DataSource(path=path, label=path.name, **options)


def write(folder, content, name="people.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def parquet(folder, select, name="people.parquet"):
    path = folder / name
    duckdb.connect(":memory:").execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    return path


def counts(path, *wheres, labels=None, **options):
    """Count every ``where`` on the whole table (or on the parts of the given labels)."""
    results = []
    for where in wheres:
        asked = (Predicate.parse(where),)
        with open_table(source_of(path, **options), asked) as table:
            content = table.load(KEY)
            ((count,),) = content.count(parts(labels or [1] * content.rows), [asked])
            results.append(count)
    return results


def refusal(path, where="a = 1", stage="open", **options):
    source = source_of(path, **options)
    with pytest.raises(TableError) as refused:
        run_to(stage, source, [Predicate.parse(where)])
    return str(refused.value)


def run_to(stage, source, predicates, **options):
    with open_table(source, predicates, **options) as table:
        if stage == "open":
            return
        n = table.row_count()
        if stage == "rows":
            return
        table.row_tokens(KEY)
        if stage == "ids":
            return
        table.load(KEY).count(parts([1] * n), [tuple(predicates)])


# --- what is counted


def test_counts_are_of_the_rows_of_each_part(tmp_path):
    path = write(tmp_path, "vote,age\n0,20\n1,30\n0,40\n1,50\n0,60\n")
    predicates = [Predicate.parse("vote = 0"), Predicate.parse("age >= 40"), Predicate.parse("vote = 1")]
    with open_table(source_of(path), predicates) as table:
        assert table.columns == ("vote", "age")
        assert table.row_count() == 5
        assert table.row_tokens(KEY) is None
        questions = [(predicate,) for predicate in predicates]
        assert table.load(KEY).count(parts([1, 1, 2, 2, 0]), questions) == [(1,), (2,), (0,)]


def test_of_several_predicates_the_first_that_holds_counts(tmp_path):
    path = write(tmp_path, "vote,age\n0,20\n1,30\n0,40\n1,50\n0,60\n")
    young, voters, all_of = Predicate.parse("age < 35"), Predicate.parse("vote = 0"), Predicate.parse("age = '20'")
    with open_table(source_of(path), [young, voters, all_of]) as table:
        content = table.load(KEY)
        assert content.count(parts([1] * 5), [(young, voters)]) == [(2, 2, 1)]
        assert content.count(parts([1] * 5), [(voters, young)]) == [(3, 1, 1)]
        # one column, read in two ways
        assert content.count(parts([1, 2, 1, 2, 1]), [(all_of, young), (voters,)]) == [(1, 0, 2), (0,)]
        assert content.count(parts([0, 0, 1, 0, 0]), [(young, voters)]) == [(0, 1, 0)]


@pytest.mark.parametrize(
    ("header", "where"),
    [
        ('"we""ird; col"', "\"we\"\"ird; col\" = 'it''s'"),
        ("it's", "\"it's\" = 'it''s'"),
        ("two words", "\"two words\" = 'it''s'"),
        ("grüße ‰ 列", "\"grüße ‰ 列\" = 'it''s'"),
        ("select", "\"select\" = 'it''s'"),
        ("rowid_", "rowid_ = 'it''s'"),
        ("c0", "c0 = 'it''s'"),
        ("c1", "c1 = 'it''s'"),
        ("digest", "digest = 'it''s'"),
        ("position", "position = 'it''s'"),
        ('"a,b"', "\"a,b\" = 'it''s'"),
        ('"line\nbreak"', None),
    ],
)
def test_odd_names_of_columns(tmp_path, header, where):
    path = write(tmp_path, f"x,{header},y\n1,it's,2\n3,its,4\n")
    if where is None:  # a name that no predicate can spell harms nobody
        assert counts(path, "y = 4") == [1]
    else:
        assert counts(path, where) == [1]


def test_cells_with_quotes_breaks_and_unicode_are_one_cell(tmp_path):
    path = write(tmp_path, 'a,b\n"1, ""x""",é\n"line\nbreak",ﬁ\n,\'; DROP TABLE t\n')
    assert counts(path, "a = '1, \"x\"'", "b = 'é'", "b = '''; DROP TABLE t'", "a = ''") == [1, 1, 1, 1]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("byte_order_mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_marks(tmp_path, line_end, byte_order_mark):
    path = write(tmp_path, byte_order_mark + line_end.join(["vote,x", "0,a", "1,b", "0,c", ""]).encode())
    assert counts(path, "vote = 0", "x = 'c'") == [2, 1]


def test_an_empty_cell_is_text_and_null_values_are_unknown(tmp_path):
    path = write(tmp_path, 'a,b\n,1\n"",1\nNA,1\nNULL,1\n1,1\n')
    assert counts(path, "a IS NULL", "a = ''", "a = 'NA'", "a <> 'x'") == [0, 2, 1, 5]
    nulls = {"null_values": ("NA", "")}
    assert counts(path, "a IS NULL", "a = ''", "a = 'NA'", "a <> 'x'", "a = 1", **nulls) == [3, 0, 0, 2, 1]


@pytest.mark.parametrize(
    ("where", "holding"),
    [
        ("a = 18", ["18", " 18 ", "18.0", "+18", "1.8e1", "1.8E+01", "018"]),
        ("a > 0.5", ["0.500000000000000001", ".6", "1e5", "99999999999999999999"]),
        ("a <= 1", ["1.", "-3", "1e-5", "-1e5", "0"]),
        ("d = DATE '2020-02-29'", ["2020-02-29", " 2020-02-29"]),
        ("b IS TRUE", ["true", "T", "1", "True "]),
        ("b = FALSE", ["false", "f", "0", "FALSE"]),
        ("a = '18'", ["18"]),
        ("a LIKE '1%'", ["18", "1x", "1"]),
    ],
)
def test_types_of_a_csv_come_from_the_constants(tmp_path, where, holding):
    name = where.split()[0]
    path = write(tmp_path, "\n".join([name, *(f'"{cell}"' for cell in holding)]))
    assert counts(path, where) == [len(holding)]


@pytest.mark.parametrize("where", ["a = 18", "a <> 18", "a < 5", "a >= 5", "a > -1"])
def test_what_is_no_number_has_no_numeric_property(tmp_path, where):
    cells = ["", "x", "0x12", "1_8", "inf", "nan", "1e400", "18 19", "1,8", "--18", "100000000000000000000"]
    assert counts(write(tmp_path, "\n".join(["a", *(f'"{cell}"' for cell in cells)])), where) == [0]


def test_what_is_no_date_has_no_date_property(tmp_path):
    cells = ["2020-13-01", "2021-02-29", "1.2.2020", "2020-1-1", "infinity", "20200101", "2020-01-01 10:00"]
    path = write(tmp_path, "\n".join(["d", *cells]))
    assert counts(path, "d > DATE '0001-01-01'", "d <= DATE '9999-12-31'") == [0, 0]


def test_two_predicates_may_read_one_column_in_two_ways(tmp_path):
    path = write(tmp_path, "a\n1\n1.0\n01\n")
    assert counts(path, "a = 1", "a = '1'") == [3, 1]


def test_columns_that_differ_in_case_stay_apart(tmp_path):
    path = write(tmp_path, "vote,Vote\n0,1\n0,0\n1,1\n")
    assert counts(path, "vote = 0", '"Vote" = 0') == [2, 1]
    message = refusal(path, 'vote = 0 AND "Vote" = 1')
    assert "the engine cannot tell columns apart that differ only in case" in message


def test_a_delimiter_is_declared_and_never_guessed(tmp_path):
    path = write(tmp_path, "vote;b\n1;2,5\n")
    assert counts(path, "vote = 1", delimiter=";") == [1]
    assert 'the only one is "vote;b"; state delimiter = ";" in [data]' in refusal(path, "vote = 1")


def test_the_count_depends_on_nothing_but_the_property(tmp_path):
    plain = write(tmp_path, "vote,x\n0,1\n1,2\n0,3\n", "plain.csv")
    other = write(tmp_path, "vote,x\n00,2020-01-01\n7e0,NULL\n-0,\n", "other.csv")
    assert counts(plain, "vote = 0") == counts(other, "vote = 0") == [2]


# --- Parquet


def test_parquet_is_counted_by_its_declared_types(tmp_path):
    path = parquet(
        tmp_path,
        "SELECT * FROM (VALUES (18, 'x', DATE '2020-01-01', TRUE, 1.5::DOUBLE, 2.50::DECIMAL(9,2)), "
        "(NULL, '', NULL, FALSE, 'nan'::DOUBLE, 3)) AS t(age, \"na me\", d, b, f, m)",
    )
    assert counts(path, "age = 18", "age IS NULL", "\"na me\" = ''", "d > DATE '2019-01-01'") == [1, 1, 1, 1]
    assert counts(path, "b = FALSE", "f > 1", "f < 1", "f IS NULL", "m = 2.5", "m > 2.5") == [
        1,
        1,
        0,
        1,
        1,
        1,
    ]


def test_no_comparison_overflows(tmp_path):
    path = parquet(tmp_path, "SELECT 9223372036854775807::BIGINT AS a UNION ALL SELECT -9223372036854775808")
    assert counts(path, "a > 0.000000000000000001", "a < -999999999999999999.5") == [1, 1]


@pytest.mark.parametrize(
    ("value", "where", "reason"),
    [
        (
            "18",
            "a = '18'",
            "is declared INTEGER, and the predicate compares it as a text; write the constant ",
        ),
        ("'18'", "a = 18", "as a number; write the constant as text, in single quotes"),
        ("TRUE", "a = 1", "as a number; write TRUE or FALSE"),
        ("DATE '2020-01-01'", "a = 'x'", "as a text; write the constant as DATE '2020-12-31'"),
        ("TIMESTAMP '2020-01-01'", "a > DATE '2019-01-01'", "is declared TIMESTAMP, and"),
        ("1::HUGEINT", "a = 1", "declared DOUBLE"),  # Parquet itself has no wider integers
        ("1.5::DOUBLE", "a = 1.5", "equality is a matter of rounding"),
        ("1.5::DOUBLE", "a IN (1, 2)", "equality is a matter of rounding"),
        ("1.5::DOUBLE", "a IS DISTINCT FROM 2", "equality is a matter of rounding"),
        ("1::DECIMAL(38, 1)", "a = 1", "a number; decimals have at most 20 digits before the point and 18 after it"),
        ("[1]", "a = 1", "only numbers, text, dates and booleans can be compared"),
    ],
)
def test_a_predicate_must_fit_the_declared_type(tmp_path, value, where, reason):
    asked = []
    path = parquet(tmp_path, f"SELECT {value} AS a")
    with pytest.raises(TableError) as refused:
        run_to("open", source_of(path), [Predicate.parse(where)], on_query=asked.append)
    assert reason in str(refused.value)
    assert not any(query.startswith("SELECT c0") for query in asked)


def test_equality_inside_a_text_is_no_equality(tmp_path):
    path = parquet(tmp_path, "SELECT 1.5::DOUBLE AS a, '\"a\" = 1' AS b")
    assert counts(path, "a > 1 AND b = '\"a\" = 1'") == [1]


def test_columns_behind_nested_ones(tmp_path):
    path = parquet(tmp_path, "SELECT {'x': 1, 'y': [2]} AS s, 5 AS a, MAP {'k': 1} AS m, 'z' AS b")
    assert counts(path, "a = 5", "b = 'z'", "s IS NULL") == [1, 1, 0]


@pytest.mark.parametrize("value", ["1.5::DOUBLE", "DATE '2020-01-01'", "TRUE"])
def test_ids_are_text_or_whole_numbers(tmp_path, value):
    message = refusal(parquet(tmp_path, f"SELECT 1 AS a, {value} AS id"), row_id="id")
    assert "ids are text or whole numbers" in message


# --- ids


def read_ids(path, **options):
    with open_table(source_of(path, row_id="id", **options), []) as table:
        return by_row(table.row_tokens(KEY, with_rows=True))


def test_ids_are_exact_text_in_one_canonical_form(tmp_path):
    path = write(tmp_path, "x,id\n1,007\n2,7\n3, e\u0301 \n4,A\n5,b\n")
    assert read_ids(path) == tokens(KEY, ["007", "7", "é", "A", "b"])
    assert read_ids(parquet(tmp_path, "SELECT 7 AS id UNION ALL SELECT 8")) == tokens(KEY, ["7", "8"])


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ([CANARY, "b", CANARY], "does not identify rows"),
        ([CANARY, f" {CANARY}"], "does not identify rows"),
        ([CANARY + "é", CANARY + "e\u0301"], "does not identify rows"),
        ([CANARY, "  "], "is empty in some row"),
        ([CANARY, "NA"], "has no value in some row"),
    ],
)
def test_ids_that_identify_nobody_are_refused_without_a_value(tmp_path, cells, reason):
    path = write(tmp_path, "\n".join(["id,x", *(f"{cell},1" for cell in cells)]))
    with pytest.raises(TableError) as refused:
        read_ids(path, null_values=("NA",))
    assert reason in str(refused.value)
    assert CANARY not in str(refused.value)


def test_null_ids_of_parquet_are_refused(tmp_path):
    with pytest.raises(TableError, match="has no value in some row"):
        read_ids(parquet(tmp_path, "SELECT 7 AS id UNION ALL SELECT NULL"))


# --- order of reads


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_no_predicate_column_is_read_before_the_content(tmp_path, kind):
    if kind == "csv":
        path = write(tmp_path, "id,vote,age\n1,0,20\n2,1,30\n")
    else:
        path = parquet(tmp_path, "SELECT 1 AS id, 0 AS vote, 20 AS age UNION ALL SELECT 2, 1, 30")
    asked = []
    predicates = [Predicate.parse("vote = 0"), Predicate.parse("age > 25")]
    with open_table(source_of(path, row_id="id"), predicates, on_query=asked.append) as table:
        table.row_count()
        table.row_tokens(KEY)
        before, read_before = len(asked), [select_list(query) for query in asked]
        assert table.load(KEY).count(parts([1, 2]), [(p,) for p in predicates]) == [(1,), (1,)]
    reads = [columns for columns in read_before if "schema" not in columns and "children" not in columns]
    *counting, ids = reads
    assert counting == ([] if kind == "csv" else ["count(*)"])  # of CSV, lines are counted
    assert "c0" in ids
    assert not any(name in columns for columns in reads for name in ("c1", "c2", "vote", "age", "* FROM"))
    assert any("c1" in select_list(query) for query in asked[before:])
    assert any("c1_number = 0" in query for query in asked[before:])


def select_list(query):
    return "schema only" if query.startswith("DESCRIBE") else query.split(" FROM ")[0].removeprefix("SELECT ")


def test_predicates_run_in_a_locked_engine_without_files(tmp_path, monkeypatch):
    path = write(tmp_path, "a\n1\n")
    monkeypatch.chdir(tmp_path)
    asked = (Predicate.parse("a = 1"),)
    with open_table(source_of(path), asked) as table:
        content = table.load(KEY)
        engine = content._engine.connection
        for statement in (
            "SELECT * FROM read_text('people.csv')",
            "SELECT * FROM 'people.csv'",
            "COPY content TO 'stolen.csv'",
            "ATTACH 'stolen.db'",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET enable_external_access = true",
            "SET temp_directory = '.'",
            "RESET lock_configuration",
        ):
            with pytest.raises(duckdb.Error):
                engine.execute(statement)
        setting = "SELECT current_setting('temp_directory'), current_setting('python_enable_replacements')"
        assert engine.execute(setting).fetchone() == ("", False)
        local_variable = [1]  # noqa: F841 - the engine must not find it
        with pytest.raises(duckdb.Error):
            engine.execute("SELECT * FROM local_variable")
        assert content.count(parts([1]), [asked]) == [(1,)]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["people.csv"]


def test_the_content_that_is_counted_is_the_content_that_was_fingerprinted(tmp_path):
    path = write(tmp_path, "a\n1\n1\n")
    asked = (Predicate.parse("a = 1"),)
    with open_table(source_of(path), asked) as table:
        content = table.load(KEY)
        path.write_text("a\n2\n2\n")
        assert content.count(parts([1, 1]), [asked]) == [(2,)]


def test_more_questions_than_one_pass_asks(tmp_path):
    rows = [(i % 50, i % 3) for i in range(400)]
    path = write(tmp_path, "a,b\n" + "".join(f"{a},{b}\n" for a, b in rows))
    questions = [tuple(Predicate.parse(f"a = {k} AND b = {b}") for b in range(k % 3 + 1)) for k in range(40)]
    labels = array("I", [7 * i % 41 for i in range(400)])
    with open_table(source_of(path), [predicate for question in questions for predicate in question]) as table:
        counts = table.load(KEY).count(parts(labels), questions)
    for part, (question, found) in enumerate(zip(questions, counts, strict=True), start=1):
        own = [row for row, label in zip(rows, labels, strict=True) if label == part]
        expected = [own.count((part - 1, b)) for b in range(len(question))]
        rest = len(own) - sum(expected)
        assert found == (tuple(expected) if len(question) == 1 else (*expected, rest))


# --- how many rows there are


@settings(max_examples=cases(20, campaign=600), deadline=None)
@given(
    st.lists(st.text("a,; \t\0\x0b\x1c\u0085\u2028\ufeffé#'\\", min_size=1, max_size=4), min_size=1, max_size=6),
    st.sampled_from(["a", "a,b", "a\tb"]),
    st.booleans(),
)
def test_lines_are_rows_wherever_the_engine_reads_them_at_all(tmp_path_factory, lines, header, ended):
    """Without a quote, a carriage return or an empty line the engine is not asked."""
    content = "\n".join([header, *lines]) + "\n" * ended
    asked = []
    with open_table(source_of(write(tmp_path_factory.mktemp("lines"), content)), [], on_query=asked.append) as table:
        rows = table.row_count()
        assert (rows, asked) == (len(lines), [])
        refused = None
        try:
            assert len(table.load(KEY).fingerprint.ordered) == 16
        except TableError as error:  # a row with too few cells, or too many
            refused = str(error)
        assert "than it has lines" not in (refused or "")


def test_a_table_is_refused_if_the_engine_sees_other_rows_than_lines(tmp_path, monkeypatch):
    """No such file is known; if there is one, its rows are not spent for it."""
    monkeypatch.setattr(Files, "plain_rows", 3)
    with open_table(source_of(write(tmp_path, "a\n1\n2\n")), []) as table:
        assert table.row_count() == 3
        with pytest.raises(TableError, match="reads more rows from it, or fewer, than it has lines"):
            table.load(KEY)


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ('a,b\n"1\n2",3\n', 1),
        ("a,b\r\n1,2\r\n3,4\r\n", 2),
        ("a,b\n1,2\n\n3,4\n", 2),
        ("a\n1\n\n3\n", 3),
        ("a,b\n1,2\n3,4", 2),
        ('"a"\n1\n', 1),
    ],
)
def test_rows_that_lines_do_not_tell_are_counted_by_the_engine(tmp_path, content, rows):
    with open_table(source_of(write(tmp_path, content)), []) as table:
        assert table.row_count() == rows


@pytest.mark.parametrize("at", [2**20 - 1, 2**20, 2**20 + 1])
def test_an_empty_line_between_blocks_is_seen(tmp_path, at):
    """A file is read by blocks of 2^20 bytes."""
    asked = []
    for gap in ("", "\n"):
        content = "a\n" + "x" * (at - 3) + "\n" + gap + "y\n"
        with open_table(source_of(write(tmp_path, content, f"{gap!r}.csv")), [], on_query=asked.append) as table:
            assert table.row_count() == (2 if gap == "" else 3)
    assert len(asked) == 1


@pytest.mark.parametrize("stage", ["row_count", "row_tokens", "load"])
def test_a_file_that_changes_meanwhile_is_refused(tmp_path, stage):
    path = write(tmp_path, "id,a\n1,1\n")
    with open_table(source_of(path, row_id="id"), []) as table:
        replacement = write(tmp_path, "id,a\n1,2\n", "other.csv")
        replacement.replace(path)
        with pytest.raises(TableError, match="it changed while it was being read"):
            getattr(table, stage)(*([] if stage == "row_count" else [KEY]))


# --- fingerprints


def fingerprint(path, key=KEY, **options):
    with open_table(source_of(path, **options), []) as table:
        return table.load(key).fingerprint


def test_the_ordered_fingerprint_sees_order_and_the_unordered_one_does_not(tmp_path):
    one = fingerprint(write(tmp_path, "a,b\n1,2\n3,4\n3,4\n", "one.csv"))
    copy = fingerprint(write(tmp_path, "x,y\r\n1,2\r\n3,4\r\n3,4\r\n", "copy.csv"))
    shuffled = fingerprint(write(tmp_path, "a,b\n3,4\n1,2\n3,4\n", "shuffled.csv"))
    edited = fingerprint(write(tmp_path, "a,b\n1,2\n3,4\n1,2\n", "edited.csv"))
    assert one == copy
    assert one.unordered == shuffled.unordered
    assert one.ordered != shuffled.ordered
    assert len({one.unordered, edited.unordered}) == len({one.ordered, edited.ordered}) == 2


def test_fingerprints_are_the_documented_hashes(tmp_path):
    """They are kept in ledgers for years, so they may not change from version to version."""
    found = fingerprint(write(tmp_path, "a,b\n10, é\n9,\n"))
    assert (2, found.ordered, found.unordered) == fingerprints(KEY, [("10", " é"), ("9", "")])


def test_fingerprints_are_keyed_and_do_not_depend_on_the_plan(tmp_path):
    path = write(tmp_path, "a,b\n1,NA\n")
    assert fingerprint(path) == fingerprint(path, null_values=("NA",), row_id="a")
    assert fingerprint(path).ordered != fingerprint(path, key=b"o" * 32).ordered
    assert fingerprint(path).ordered != fingerprint(path).unordered


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.text("aN:V,1\"'\n", max_size=4), st.text("aN:V,1", max_size=4)), min_size=1, max_size=3))
def test_rows_with_other_cells_have_other_fingerprints(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("rows")
    shifted = [(first + second[:1], second[1:]) for first, second in rows]

    def as_csv(cells):
        quoted = (",".join('"' + c.replace('"', '""') + '"' for c in row) for row in cells)
        return "a,b\n" + "\n".join(quoted) + "\n"

    same = fingerprint(write(folder, as_csv(rows), "one.csv")) == fingerprint(write(folder, as_csv(shifted), "two.csv"))
    assert same == (rows == shifted)


# --- files


def test_a_name_with_pattern_characters_is_that_very_file(tmp_path):
    for name in ("g[1].csv", "s*t?.csv", "it's.csv", "back\\slash.csv"):
        write(tmp_path, "a\n1\n1\n", name)
    write(tmp_path, "a\n1\n", "g1.csv")
    write(tmp_path, "a\n1\n", "sxty.csv")
    for name in ("g[1].csv", "s*t?.csv", "it's.csv", "back\\slash.csv"):
        assert counts(tmp_path / name, "a = 1") == [2]


def test_folders_named_like_partitions_add_no_columns(tmp_path):
    folder = tmp_path / "year=2020"
    folder.mkdir()
    assert counts(write(folder, "a\n1\n"), "a = 1") == [1]
    assert 'there is no column "year"' in refusal(folder / "people.csv", "year = 2020")


def test_only_regular_files_are_read(tmp_path):
    assert refusal(tmp_path / "no.csv") == 'data "no.csv": there is no such file'
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    assert refusal(folder) == 'data "folder.csv": it is not a regular file'
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    assert refusal(pipe) == 'data "pipe.csv": it is not a regular file'
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    assert refusal(loop) == 'data "loop.csv": the file cannot be opened for reading'
    link = tmp_path / "link.csv"
    link.symlink_to(write(tmp_path, "a\n1\n"))
    assert counts(link, "a = 1") == [1]


@pytest.mark.parametrize("name", ["data.csv.gz", "data.xlsx", "data"])
def test_other_formats_are_refused(tmp_path, name):
    assert "cannot be read yet; export the table as .csv or .parquet" in refusal(write(tmp_path, "a\n1\n", name))


# --- many files


def years(folder, *contents, suffix=".csv"):
    for year, content in enumerate(contents, start=2019):
        write(folder, content, f"visits-{year}{suffix}")
    return DataSource(path=folder / f"visits-*{suffix}", label=f"visits-*{suffix}", glob=True)


def test_many_files_are_one_table_in_the_order_of_their_names(tmp_path):
    source = years(tmp_path, "id,a\n1,5\n2,6\n", "id,a\n3,5\n", "id,a\n4,5\n5,7\n")
    asked = (Predicate.parse("a = 5"),)
    with open_table(replace(source, row_id="id"), asked) as table:
        assert table.row_count() == 5
        assert by_row(table.row_tokens(KEY, with_rows=True)) == tokens(KEY, ["1", "2", "3", "4", "5"])
        assert table.load(KEY).count(parts([1, 1, 2, 2, 2]), [asked, asked]) == [(1,), (2,)]
    one = write(tmp_path, "id,a\n1,5\n2,6\n3,5\n4,5\n5,7\n", "all.csv")
    with open_table(source, []) as table:
        assert table.load(KEY).fingerprint == fingerprint(one)


def test_many_parquet_files(tmp_path):
    for name, value in (("b", 2), ("a", 1), ("c", 3)):
        parquet(tmp_path, f"SELECT {value} AS id, 'x' AS v", f"{name}.parquet")
    with open_table(DataSource(tmp_path / "?.parquet", "?.parquet", "id", glob=True), []) as table:
        assert by_row(table.row_tokens(KEY, with_rows=True)) == tokens(KEY, ["1", "2", "3"])
    parquet(tmp_path, "SELECT 4.5 AS id, 'x' AS v", "d.parquet")
    message = refusal(tmp_path / "?.parquet", glob=True)
    assert message == (
        'data "?.parquet": its files do not all have the columns of the first one, in its order and of its types'
    )


def test_files_that_do_not_belong_together_are_refused(tmp_path):
    source = years(tmp_path, "id,a\n1,5\n", "a,id\n5,1\n")
    assert "its files do not all have the columns" in refusal(source.path, glob=True)
    write(tmp_path, "id,a\n1,5\n2,5\n", "visits-2020.csv")
    with open_table(replace(source, row_id="id"), []) as table, pytest.raises(TableError, match="identify rows"):
        table.row_tokens(KEY)
    (tmp_path / "visits-2021.csv").symlink_to(tmp_path / "visits-2020.csv")
    assert "two of its files are one and the same" in refusal(source.path, glob=True)
    assert "no file has a name that fits this pattern" in refusal(tmp_path / "no-*.csv", glob=True)
    (tmp_path / "visits-2021.csv").unlink()
    (tmp_path / "visits-2021.csv").mkdir()
    assert "it is not a regular file" in refusal(source.path, glob=True)
    write(tmp_path, "", "visits-2022.parquet")
    (tmp_path / "visits-2021.csv").rmdir()
    assert "its files are of more than one format" in refusal(tmp_path / "visits-*", glob=True)


def test_every_one_of_many_files_has_to_stay_as_it_was(tmp_path):
    source = years(tmp_path, "a\n1\n", "a\n2\n")
    with open_table(source, []) as table:
        write(tmp_path, "a\n3\n", "visits-2020.csv")
        with pytest.raises(TableError, match="it changed while it was being read"):
            table.load(KEY)
    with open_table(source, []) as table:
        write(tmp_path, "a\n3\n", "visits-2030.csv")
        assert table.row_count() == 2  # the files are those of the moment of opening


# --- files of DuckDB


def database(folder, *statements, name="data.duckdb"):
    path = folder / name
    with closing(duckdb.connect(str(path))) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.execute("CHECKPOINT")
    return path


def test_a_table_of_a_duckdb_file(tmp_path):
    path = database(
        tmp_path,
        "CREATE SCHEMA survey",
        "CREATE TYPE mood AS ENUM ('sad', 'happy')",
        'CREATE TABLE survey.persons (id BIGINT, "se""lect" VARCHAR, m mood, d DECIMAL(9, 2))',
        "INSERT INTO survey.persons VALUES (7, 'it''s', 'sad', 2.5), (8, NULL, 'happy', 3)",
    )
    options = {"table": "survey.persons", "row_id": "id"}
    wheres = ["\"se\"\"lect\" = 'it''s'", "m = 'happy'", "d > 2.5", '"se""lect" IS NULL']
    assert counts(path, *wheres, **options) == [1, 1, 1, 1]
    with open_table(source_of(path, **options), []) as table:
        assert by_row(table.row_tokens(KEY, with_rows=True)) == tokens(KEY, ["7", "8"])
        engine = table.load(KEY)._engine.connection
        with pytest.raises(duckdb.Error):
            engine.execute("SELECT * FROM source.survey.persons")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["data.duckdb"]


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NOCASE.NOACCENT"])
@pytest.mark.parametrize(
    ("where", "holding"),
    [
        ("name = 'e'", 1),
        ("name <> 'e'", 3),
        ("name IN ('e', 'f')", 1),
        ("name < 'a'", 1),
        ("name LIKE 'e%'", 1),
        ("name IS NULL", 1),
    ],
)
def test_texts_are_compared_as_they_are_written_whatever_a_column_says(tmp_path, collation, where, holding):
    """A column may declare that case or accents do not count; the property that is counted is that of the plan."""
    path = database(
        tmp_path,
        f"CREATE TABLE t (name VARCHAR COLLATE {collation})",
        "INSERT INTO t VALUES ('e'), ('E'), ('é'), ('É'), (NULL)",
    )
    assert counts(path, where, table="t") == [holding]


def test_macros_of_an_attached_file_never_stand_in_for_operators(tmp_path):
    path = database(
        tmp_path,
        "CREATE TABLE t AS SELECT 1 AS a UNION ALL SELECT 2",
        "CREATE MACRO isnan(x) AS TRUE",
        "CREATE MACRO sha256(x) AS 'same'",
        "CREATE MACRO concat(x, y, z) AS 'same'",
    )
    assert counts(path, "a = 1", table="t") == [1]
    copy = database(tmp_path, "CREATE TABLE t AS SELECT 1 AS a UNION ALL SELECT 2", name="copy.db")
    assert fingerprint(path, table="t") == fingerprint(copy, table="main.t")


@pytest.mark.parametrize(
    ("statement", "table", "reason"),
    [
        ("CREATE VIEW t AS SELECT 1 AS a", "t", 'it has no table "t"; a view is no table'),
        ("CREATE TABLE u (a INTEGER)", "t", 'it has no table "t"'),
        ("CREATE TABLE t (b INTEGER, a INTEGER GENERATED ALWAYS AS (b + 1))", "t", "has generated columns"),
        ("CREATE TABLE t (a INTEGER)", None, "holds many tables: name one"),
        ("CREATE TABLE t (a VARCHAR)", "t", "is declared VARCHAR, and the predicate compares it as a number"),
    ],
)
def test_only_plain_tables_of_a_duckdb_file_are_read(tmp_path, statement, table, reason):
    assert reason in refusal(database(tmp_path, statement), table=table)


def test_what_is_no_duckdb_file_is_refused_without_its_bytes(tmp_path):
    message = refusal(write(tmp_path, CANARY * 1000, "data.duckdb"), table="t")
    assert "it cannot be read as a DuckDB file" in message
    assert CANARY not in message
    path = database(tmp_path, "CREATE TABLE t AS SELECT 1 AS a", name="open.duckdb")
    write(tmp_path, "", "open.duckdb.wal")
    assert "it has changes that are not yet written into it" in refusal(path, table="t")
    assert 'table = "t": a file that ends in ".csv" is one table' in refusal(write(tmp_path, "a\n1\n"), table="t")


# --- groups and units


def test_groups_are_numbered_in_binary_order(tmp_path):
    path = write(tmp_path, "sex,v\nm,1\nf,2\nÄ,3\nm,4\n")
    with open_table(source_of(path, group="sex"), []) as table:
        groups = table.groups()
    assert groups.names == ("f", "m", "Ä")
    assert groups.of_rows.tolist() == [1, 0, 2, 1]
    assert groups.sizes == {"f": 1, "m": 2, "Ä": 1}


@pytest.mark.parametrize("name", ["", "  ", "a\x1b[31m", "\u202eevil", "x" * 201])
def test_what_no_plan_could_name_is_no_group_and_is_not_quoted(tmp_path, name):
    path = write(tmp_path, f"id,sex\n1,f\n2,{name}\n")
    rule = 'the group column "sex" holds a value that cannot be the name of a group'
    with open_table(source_of(path, group="sex"), []) as table, pytest.raises(TableError, match=rule) as refused:
        table.groups()
    assert name.strip() == "" or name not in str(refused.value)


def test_every_row_needs_a_group(tmp_path):
    path = write(tmp_path, f"sex,v\nNA,1\n{CANARY},2\n")
    with open_table(source_of(path, group="sex", null_values=("NA",)), []) as table:
        with pytest.raises(TableError, match='the group column "sex" has no value in some row') as refused:
            table.groups()
        assert CANARY not in str(refused.value)
    with open_table(source_of(path), []) as table, pytest.raises(TableError, match="names no column of groups"):
        table.groups()
    assert 'group = "gender": there is no column "gender"' in refusal(path, "v = 1", group="gender")


def test_units_must_not_repeat(tmp_path):
    path = write(tmp_path, f"visit,person\n1,{CANARY}\n2, {CANARY}\n")
    with open_table(source_of(path, row_id="visit", unit="person"), []) as table:
        with pytest.raises(TableError, match='the unit column "person" does not identify persons') as refused:
            table.row_tokens(KEY)
        assert CANARY not in str(refused.value)
        table.check_unique("visit")


# --- what cannot be read, and the canary

UNREADABLE = {
    "too few cells": f"a,{'b'}\n{CANARY},1\n{CANARY}\n",
    "too many cells": f"a,b\n{CANARY},1\n{CANARY},1,{CANARY}\n",
    "open quote": f'a,b\n"{CANARY},1\n',
    "text after quote": f'a,b\n"{CANARY}"{CANARY},1\n',
    "mixed line ends": f"a,b\r\n{CANARY},1\n{CANARY},2\r\n",
    "not UTF-8": f"a,b\n{CANARY},".encode() + b"\xff\n",
    "UTF-16": f"a,b\n{CANARY},1\n".encode("utf-16"),
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_a_csv_with_doubts_is_refused(tmp_path, what, capfd):
    path = write(tmp_path, UNREADABLE[what])
    with pytest.raises(TableError) as refused:
        run_to("end", source_of(path), [Predicate.parse("b = 1")])
    assert "--debug shows" in str(refused.value) or "first line cannot be read" in str(refused.value)
    shown = "".join(traceback.format_exception(refused.value)) + "".join(capfd.readouterr())
    assert CANARY not in shown
    assert refused.value.__cause__ is refused.value.__context__ is None


def test_debug_attaches_the_engine_s_own_words(tmp_path):
    path = write(tmp_path, UNREADABLE["too few cells"])
    with pytest.raises(TableError) as refused:
        run_to("end", source_of(path), [Predicate.parse("b = 1")], debug=True)
    assert CANARY not in str(refused.value)
    assert CANARY in str(refused.value.__cause__)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "it is empty, or its first line has no names of columns"),
        ("\n1\n", "it is empty, or its first line has no names of columns"),
        ("a,b\n", "it has no rows"),
        ("a,b", "it has no rows"),
        ("a,b,a\n1,2,3\n", 'two columns are called "a"; give each its own name'),
        ("a,x,x\n1,2,3\n", 'two columns are called "x"; give each its own name'),
        ("a" * 2**20 + "\n1\n", "its first line cannot be read as names of columns in UTF-8"),
        ("age\x1b,b\n1,2\n", 'there is no column "age"; did you mean "age\\x1b"?'),
        (("x" * 99 + ",") * 11000 + "x\n1\n", "its first line is longer than a line with names of columns"),
    ],
)
def test_files_without_a_table(tmp_path, content, reason):
    assert reason in refusal(write(tmp_path, content), "age = 1" if "age" in reason else "a = 1", stage="rows")


def test_damaged_parquet_is_refused(tmp_path):
    assert "it cannot be read as a Parquet file" in refusal(write(tmp_path, CANARY, "x.parquet"))
    path = parquet(tmp_path, "SELECT range AS a, 'text ' || range AS b FROM range(1000)")
    content = bytearray(path.read_bytes())
    content[20:2000] = b"\xff" * 1980
    path.write_bytes(content)
    assert "it cannot be read as a Parquet file" in refusal(path, stage="end")


def test_a_table_that_does_not_fit_into_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(on_duckdb._LOCKED_FROM_THE_START, "memory_limit", "40MB")
    path = write(tmp_path, "\n".join(["a", *(f"{CANARY}{i:0200d}" for i in range(200_000))]))
    monkeypatch.chdir(tmp_path)
    assert "it does not fit into the memory of this machine" in refusal(path, stage="end")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["people.csv"]


def test_a_missing_column_is_named_with_its_neighbours(tmp_path):
    path = write(tmp_path, "Vote,age\n0,1\n")
    assert refusal(path, "vote = 0") == (
        'data "people.csv": where = "vote = 0": there is no column "vote"; did you mean "Vote"?'
    )
    assert 'there is no column "nosuch"' in refusal(path, "nosuch = 1")
    assert 'row_id = "idd": there is no column "idd"' in refusal(path, "age = 1", row_id="idd")


def test_labels_of_another_table_are_refused(tmp_path):
    path = write(tmp_path, "a\n1\n")
    with open_table(source_of(path), [Predicate.parse("a = 1")]) as table:
        content = table.load(KEY)
        with pytest.raises(TableError, match="it changed while it was being read"):
            content.count(parts([1, 1]), [(Predicate.parse("a = 1"),)])


# --- sizes


def test_ten_rows_and_many_columns(tmp_path):
    names = [f"column {i}" for i in range(300)]
    rows = [",".join(str(i * j) for j in range(300)) for i in range(10)]
    path = write(tmp_path, "\n".join([",".join(names), *rows]))
    assert counts(path, '"column 299" = 598') == [1]


def test_many_rows_keep_their_order(tmp_path):
    """Positions matter across all reads: part k is rows whose position says so."""
    n = 70_000
    path = write(tmp_path, "\n".join(["id,position,text", *(f"p{i},{i},some text {i % 7}" for i in range(n))]))
    labels = array("I", [0]) * n
    labels[n // 3 : n // 2] = array("I", [1]) * (n // 2 - n // 3)
    where = f"position >= {n // 3} AND position < {n // 2}"
    asked = (Predicate.parse(where),)
    with open_table(source_of(path, row_id="id"), asked) as table:
        assert table.row_count() == n
        assert by_row(table.row_tokens(KEY, with_rows=True)) == tokens(KEY, [f"p{i}" for i in range(n)])
        assert table.load(KEY).count(parts(labels), [asked]) == [(n // 2 - n // 3,)]
