"""Does a release of a table nobody prepared give the right counts, in the order that the guarantee needs?"""

from __future__ import annotations

import csv
import json
import random
import re
from fractions import Fraction

import duckdb
import numpy as np
import pytest

import statpriv as sp
from statpriv.errors import ArgumentError, GuaranteeNotReachedError
from statpriv.releasing.partition import secret_partition

from .conftest import labels, own_count, query, statpriv

pytestmark = pytest.mark.usefixtures("computed_once")

READS_SCHEMA = re.compile(r"parquet_schema\(|^DESCRIBE ")

COLUMNS = ["id", 'we"ird; col', "two words", "grüße ‰ 列", "select", "c1", "digest", "it's", "COUNT(*)"]
CELLS = ["0", "", "NA", "it's", 'say "yes"', "line\nbreak", "a,b;c", "  padded ", "żółć", "'; DROP TABLE t", "\\", "%_"]


def odd_rows(n, seed=1):
    choose = random.Random(seed)  # noqa: S311 - cells of a test
    return [[f"p{i}", *(choose.choice(CELLS) for _ in COLUMNS[1:])] for i in range(n)]


def equal(column, cell):
    quoted_column, quoted_cell = column.replace('"', '""'), cell.replace("'", "''")
    return f"\"{quoted_column}\" = '{quoted_cell}'"


# --- counts


@pytest.mark.parametrize(
    "style",
    [
        {},
        {"mark": b"\xef\xbb\xbf"},
        {"line_end": "\r\n"},
        {"line_end": "\r\n", "mark": b"\xef\xbb\xbf", "quoting": csv.QUOTE_ALL},
        {"delimiter": ";"},
    ],
    ids=["plain", "mark", "crlf", "all quoted", "semicolon"],
)
def test_odd_tables_are_counted_as_python_counts_them(workshop, style):
    rows = odd_rows(90)
    workshop.table(COLUMNS, rows, **style)
    asked = [
        (column, cell)
        for column, cell in zip(
            COLUMNS[1:], ["0", "", "NA", "it's", 'say "yes"', "  padded ", "żółć", "\\"], strict=True
        )
    ]
    delimiter = f"delimiter = {json.dumps(style['delimiter'])}" if "delimiter" in style else ""
    workshop.plan(
        *(query(equal(column, cell), rows=11, probability=("0.01", "0.3")) for column, cell in asked),
        more_data=f'row_id = "id"\n{delimiter}',
    )
    report = workshop.release(seed=7)
    drawn = labels([row[0] for row in rows], [11] * 8, 7)
    expected = [
        own_count(rows, drawn, part, lambda row, c=column, v=cell: row[COLUMNS.index(c)] == v)
        for part, (column, cell) in enumerate(asked, start=1)
    ]
    assert [answer["count"] for answer in report.contents["answers"]] == expected
    assert sum(expected) > 0
    workshop.assert_whole_report()
    assert workshop.spent() == [88]


@pytest.mark.campaign  # alone it notices an engine that counts a row twice
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_parts_of_one_property_add_up_to_the_table(workshop, kind):
    """A row that answers twice, or not at all, changes the total."""
    choose = random.Random(5)  # noqa: S311 - cells of a test
    rows = [[i, choose.randrange(4), choose.choice(["x", "", None])] for i in range(500)]
    if kind == "csv":
        workshop.table(["id", "vote", "text"], rows)
        data = "people.csv"
    else:
        data = "people.parquet"
        table = duckdb.connect(":memory:")
        table.execute("CREATE TABLE t (id INTEGER, vote INTEGER, text VARCHAR)")
        table.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        table.execute(f"COPY t TO '{workshop.folder / data}' (FORMAT parquet)")
        table.close()
    sizes = [1, 2, 47, 200, 250]
    spellings = ["vote = 0", "vote IN (0)", "NOT (vote <> 0 OR vote IS NULL)", "0 = vote", "(vote = 0) IS TRUE"]
    workshop.plan(
        *(query(w, rows=s) for w, s in zip(spellings, sizes, strict=True)), data=data, more_data='row_id = "id"'
    )
    report = workshop.release()
    answers = report.contents["answers"]
    assert [answer["size"] for answer in answers] == sizes
    assert sum(answer["count"] for answer in answers) == sum(row[1] == 0 for row in rows)
    assert all(0 <= answer["count"] <= answer["size"] for answer in answers)


def test_unknown_cells_are_neither_the_property_nor_its_opposite(workshop):
    rows = [[cell] for cell in ["1", "NA", "", "0", "x", "1.0", "NA", " 1 ", "2"]]
    workshop.table(["vote"], rows)
    wheres = ["vote = 1", "vote <> 1", "vote IS NULL", "vote IS DISTINCT FROM 1"]
    for where, expected in zip(wheres, [3, 2, 2, 6], strict=True):
        workshop.plan(query(where, rows=9), more_data='null_values = ["NA"]')
        workshop.registry.mkdir(exist_ok=True)
        for path in workshop.registry.iterdir():
            path.unlink()
        assert workshop.release(force=True).contents["answers"][0]["count"] == expected


def test_shares_and_rows_mix(workshop):
    workshop.table(["v"], [[i % 2] for i in range(10)])
    workshop.plan(query("v = 0", share="1/3"), query("v = 0", rows=2), query("v = 0", share="0.5"))
    report = workshop.release()
    assert [answer["size"] for answer in report.contents["answers"]] == [3, 2, 5]
    assert sum(answer["count"] for answer in report.contents["answers"]) == 5
    assert report.contents["ledger"]["rows_left"] == 0


def test_ten_rows_through_the_command_line(workshop):
    rows = [[cell] for cell in ["it's", "", "it's", 'a "b"', "x", "it's", "é", "y\nz", "it's", "0"]]
    workshop.table(['we"ird; col'], rows, line_end="\r\n", mark=b"\xef\xbb\xbf")
    workshop.plan(query("\"we\"\"ird; col\"='it''s'", rows=10))
    done = workshop.command()
    assert (done.returncode, done.stderr) == (0, "")
    assert "4 of 10" in done.stdout
    assert "Report: " in done.stdout
    workshop.assert_whole_report()
    assert workshop.report["answers"][0]["count"] == 4


@pytest.mark.campaign  # alone it notices a sentence about ids that is missing
def test_ids_that_look_alike_are_counted_on_the_terminal_and_nowhere_else(workshop):
    rows = [[f"{case(name)}{n}", "yes"] for name in "ab" for case in (str.lower, str.upper) for n in range(5)]
    workshop.table(["id", "smokes"], rows)
    workshop.plan(query("smokes = 'yes'", rows=20), more_data='row_id = "id"')
    done = workshop.command()
    assert done.returncode == 6  # everybody smokes
    assert done.stderr.startswith('Warning: the row_id column "id" has values that differ only by case')
    assert "there would be 10 fewer" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "by case" not in done.stdout + workshop.json.read_text() + workshop.page.read_text()


@pytest.mark.campaign  # alone it notices what large tables alone show
def test_many_rows(workshop):
    """Seconds are measured where the machine is known; here it is that every row is in its part."""
    n = 20_000
    votes = np.random.default_rng(3).integers(0, 3, n)
    workshop.write("people.csv", "id,vote\n" + "".join(f"{i},{v}\n" for i, v in enumerate(votes.tolist())))
    sizes = [n // 2, n // 4, n // 5]
    workshop.plan(
        query("vote = 0", rows=sizes[0]), query("vote = 1", rows=sizes[1]), query("vote = 0", rows=sizes[2]),
        more_data='row_id = "id"',
    )  # fmt: skip
    report = workshop.release(seed=11)
    drawn = np.frombuffer(labels(range(n), sizes, 11), dtype=np.uint32)
    expected = [int(np.count_nonzero((drawn == k) & (votes == v))) for k, v in ((1, 0), (2, 1), (3, 0))]
    assert [answer["count"] for answer in report.contents["answers"]] == expected


@pytest.mark.campaign  # alone it notices work that is done more often than needed
def test_the_engine_is_asked_as_often_whatever_the_number_of_rows(workshop):
    asked = []
    for n in (10, 10_000):
        workshop.table(["id", "vote"], [[f"{n} {i}", i % 2] for i in range(n)])
        workshop.plan(query("vote = 0", share="1/2"), query("vote = 1", share="1/2"), more_data='row_id = "id"')
        workshop.release(force=True)
        asked.append(list(workshop.queries))
    assert asked[0] == asked[1]


def test_tables_that_share_nothing_are_released_side_by_side(workshop):
    for name in ("a", "b"):
        workshop.table(["id", "v"], [[f"{name}{i}", i % 2] for i in range(6)], name=f"{name}.csv")
        workshop.plan(query("v = 1", rows=6), data=f"{name}.csv", more_data='row_id = "id"')
        assert workshop.release(force=True).contents["answers"][0]["count"] == 3
    assert workshop.spent() == [6, 6]
    assert workshop.report["release"]["number"] == 2


# --- the order


def test_an_unmet_target_ends_before_anything_is_read(workshop, connections):
    workshop.table(["id", "vote"], [[i, i % 2] for i in range(50)])
    workshop.plan(query("vote = 0", rows=50), delta="0.001", more_data='row_id = "id"')
    with pytest.raises(GuaranteeNotReachedError) as refused:
        workshop.release()
    certified = sp.privacy_curve(sp.PropertyQuery(sp.Between("0.4", "0.6")), sp.Population(50)).delta("0.1").upper
    assert f"{certified:.6g}" in str(refused.value)
    assert "0.001" in str(refused.value)
    assert workshop.queries == connections == []  # lines were counted
    workshop.assert_untouched()


def test_an_unmet_target_of_parquet_reads_the_schema_and_the_number_of_rows(workshop, connections):
    path = workshop.parquet("SELECT i AS id, i % 2 AS vote FROM range(50) t(i)")
    connections.clear()
    workshop.plan(query("vote = 0", rows=50), delta="0.001", data=path.name, more_data='row_id = "id"')
    with pytest.raises(GuaranteeNotReachedError):
        workshop.release()
    assert len(connections) == 3
    assert all(READS_SCHEMA.search(sql) for sql in connections[:2])
    assert connections[2].startswith("SELECT count(*) FROM read_parquet(")
    workshop.assert_untouched()


def test_an_unmet_target_exits_3_with_both_numbers(workshop, in_process):
    workshop.table(["id", "vote"], [[i, i % 2] for i in range(50)])
    workshop.plan(query("vote = 0", rows=50), delta="0.001")
    code, out, err = in_process(*workshop.arguments)
    certified = sp.privacy_curve(sp.PropertyQuery(sp.Between("0.4", "0.6")), sp.Population(50)).delta("0.1").upper
    assert (code, out) == (3, "")
    assert f"{certified:.6g}" in err
    assert "0.001" in err
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    workshop.assert_untouched()


def test_an_unmet_target_names_the_query_that_costs_most_and_what_would_reach_it(workshop):
    workshop.table(["id", "vote"], [[i, i % 2] for i in range(300)])
    rare = query("vote = 1", rows=150, name="Rare", probability=("0.01", "0.02"))
    workshop.plan(query("vote = 0", rows=150, name="Common"), rare, delta="0.001")
    with pytest.raises(GuaranteeNotReachedError) as refused:
        workshop.release()
    told = re.search(r'"Rare" costs most: 150 rows with δ = .* The target holds at ε = ([0-9.]+)\.', str(refused.value))
    parts = [sp.PropertyQuery("0.4..0.6", attribute="a"), sp.PropertyQuery("0.01..0.02", attribute="b")]
    curve = sp.compose(parts, sp.Population(300), sp.RandomPartition([150, 150]))
    assert curve.delta(told[1]).upper <= 0.001 < curve.delta(0.98 * float(told[1])).lower
    workshop.assert_untouched()


def test_a_count_that_contradicts_its_range_exits_6_although_all_is_written(workshop, in_process):
    workshop.table(["id", "vote"], [[i, 0] for i in range(2000)])
    workshop.plan(query("vote = 0", name="Voters", rows=2000), delta="0.5")
    code, out, err = in_process(*workshop.arguments)
    assert (code, err) == (6, "")
    assert out.startswith("THE CERTIFIED δ DOES NOT APPLY: the count of “Voters” contradicts the declared range.\n")
    workshop.assert_whole_report()
    assert workshop.spent() == [2000]


def test_whoever_checks_a_report_whose_range_is_contradicted_is_told(workshop):
    workshop.table(["id", "vote"], [[i, 0] for i in range(2000)])
    workshop.plan(query("vote = 0", name="Voters", rows=2000), delta="0.5")
    assert workshop.command().returncode == 6
    for command in ("compose", "verify"):
        done = statpriv(command, str(workshop.json))
        assert done.returncode == 0
        assert 'Warning: the certified δ does not apply: by the report itself, the count of "Voters"' in done.stderr


def test_a_plan_that_is_taken_for_claims_is_named_with_the_command_that_reads_it(workshop, in_process):
    plan = workshop.plan(query("vote = 0", rows=20))
    for command in ("compose", "verify"):
        code, _, err = in_process(command, str(plan))
        assert code == 2
        assert "is the plan of a release; statpriv release" in err


def test_cells_with_another_separator_are_told_from_a_missing_column(workshop, in_process):
    workshop.table(["id", "vote"], [[1, 0]], delimiter=";")
    workshop.plan(query("vote = 0", rows=1), more_data='row_id = "id"')
    code, _, err = in_process(*workshop.arguments)
    assert code == 2
    assert 'the only one is "id;vote"; state delimiter = ";" in [data]' in " ".join(err.split())


@pytest.mark.parametrize("votes", [0, 1])
def test_a_withheld_count_tells_nothing_by_the_exit_code(workshop, in_process, votes):
    workshop.table(["id", "vote"], [[i, votes] for i in range(2000)])
    workshop.plan(query("vote = 0", rows=2000), delta="0.5", more="[publication]\ngate = true\n")
    assert in_process(*workshop.arguments)[0] == 0


@pytest.mark.parametrize("probability", [("0", "0.5"), ("0.5", "1"), ("0", "0"), ("1", "1")])
@pytest.mark.parametrize("rows", [20, 1])
def test_a_probability_that_may_be_0_or_1_reaches_no_target(workshop, probability, rows):
    """Also of a secret part so small that δ of everything, its share of the rows, is below the target."""
    workshop.table(["vote"], [[i % 2] for i in range(20)])
    workshop.plan(query("vote = 0", rows=rows, probability=probability), delta="0.999999")
    for dry_run in (False, True):
        with pytest.raises(GuaranteeNotReachedError, match=r"δ at ε = 0\.1 is 1, above the target of 0\.999999"):
            workshop.release(dry_run=dry_run)
    workshop.assert_untouched()


def test_a_count_whose_suppression_hides_what_is_certain_reaches_its_target(workshop):
    """If nobody has the property, one who has it makes a count of one, which is published like 0."""
    workshop.table(["vote"], [[i % 2] for i in range(20)])
    rare = query("vote = 3", rows=10, probability=("0", "0.05")) + "suppressed_below = 10\n"
    workshop.plan(rare, delta="0.001")
    workshop.release()
    assert workshop.report["answers"][0]["suppressed"]


def test_the_guarantee_comes_before_the_content_and_the_spend_before_the_predicates(workshop, connections):
    workshop.table(["id", "vote", "secret"], [[i, i % 2, "x"] for i in range(30)])
    workshop.plan(query("vote = 0", rows=10), query("secret = 'x'", rows=10), more_data='row_id = "id"')
    spent_at = {}
    workshop.release(on_step=lambda step: spent_at.setdefault(step, workshop.spent()))
    assert [sql for _, sql in workshop.queries] == connections
    at = {step: [sql for told, sql in workshop.queries if told == step] for step in workshop.steps}
    assert workshop.steps == [
        "ledger", "rows", "guarantee", "ids", "earlier releases", "curves of the guarantee", "dependence on known rows",
        "content", "partition", "spend", "predicates", "report",
    ]  # fmt: skip
    assert [step for step in workshop.steps if at[step]] == ["ids", "content", "predicates"]
    (ids,) = at["ids"]
    assert ids.startswith("SELECT COALESCE(c0, '') AS text FROM read_csv(")
    assert not any("vote" in sql or "= 'x'" in sql for step in workshop.steps[:-2] for sql in at[step])
    (asking,) = at["predicates"]
    assert "c1_number = 0" in asking
    assert "= 'x'" in asking
    assert {step: rows for step, rows in spent_at.items() if rows} == {"predicates": [20], "report": [20]}
    assert not any("read_csv" in sql for sql in at["predicates"])


@pytest.mark.campaign  # alone it notices work that is done more often than needed
def test_the_order_of_a_release_asks_the_engine_for_twice_what_a_grouped_count_reads(workshop):
    """Ids by themselves, then all cells, then answers: 1.5 times a GROUP BY of the same cells is below what is asked.

    A GROUP BY that counts two predicates on two of three columns by a third one reads three cells a row and hands out
    none. A release that may not read content before the guarantee of everything released, for which it needs the ids,
    and counts what it fingerprinted, reads four, and evaluates two answers a row on its copy.
    """
    workshop.parquet("SELECT range AS id, range % 2 AS a, range % 100 AS b FROM range(30)")
    asked = (query("a < 1", rows=10), query("b < 50", rows=10))
    workshop.plan(*asked, data="people.parquet", more_data='row_id = "id"')
    workshop.release()
    read = {
        step: re.findall(r"\bc\d\b", sql.split(" FROM ")[0]) for step, sql in workshop.queries if "read_parquet" in sql
    }
    assert {step: columns for step, columns in read.items() if columns} == {
        "ids": ["c0"],
        "content": ["c0", "c1", "c2"],
    }
    (answers,) = (sql for step, sql in workshop.queries if step == "predicates")
    assert answers.count("COALESCE") == len(asked)
    cells = sum(map(len, read.values())) + len(asked)
    assert cells == 6 > 1.5 * 3


def test_the_partition_is_forgotten_before_the_report_is_made(workshop, monkeypatch):
    """As soon as the counts exist, curves and pages need no parts."""
    drawn, seen = [], {}

    def remembered(*arguments):
        context = secret_partition(*arguments)

        class Remembering:
            def __enter__(self):
                drawn.append(context.__enter__())
                return drawn[0]

            def __exit__(self, *failure):
                return context.__exit__(*failure)

        return Remembering()

    monkeypatch.setattr("statpriv.releasing.run.secret_partition", remembered)
    workshop.table(["v"], [[i % 2] for i in range(9)])
    workshop.plan(query("v = 0", rows=5))

    def parts():
        try:
            return sorted(drawn[0].labels().tolist())
        except ArgumentError as error:
            return str(error)

    workshop.release(on_step=lambda step: seen.update({step: parts() if drawn else None}))
    assert seen["spend"] == seen["predicates"] == [0] * 4 + [1] * 5
    assert seen["report"] == parts() == "the partition is forgotten"


# --- dry runs


def test_a_dry_run_needs_nothing_but_the_number_of_rows(workshop, connections):
    workshop.table(["id", "vote"], [[i, i % 2] for i in range(50)])
    workshop.plan(query("vote = 0", rows=50), delta="0.001", more_data='row_id = "id"')
    report = workshop.release(dry_run=True)
    assert report.contents["guarantee"]["holds"] is False
    assert (report.contents["release"], report.contents["answers"]) == (None, [])
    assert connections == []
    workshop.assert_whole_report()
    assert not workshop.registry.exists()


def test_a_dry_run_promises_what_the_release_gives(workshop):
    workshop.table(["id", "vote"], [[i, i % 2] for i in range(50)])
    workshop.plan(query("vote = 0", rows=25), query("vote = 1", rows=20))
    promised = workshop.release(dry_run=True).contents
    given = workshop.release(force=True).contents
    assert given["guarantee"] == promised["guarantee"]
    assert given["composition"] == promised["composition"]


# --- verification


@pytest.mark.campaign  # alone it notices a printed command that does not run
@pytest.mark.parametrize("known", [0, 3])
def test_the_number_of_a_report_is_verified_by_one_command(workshop, known, in_process):
    workshop.table(["v", "w"], [[i % 2, i % 3] for i in range(60)])
    workshop.plan(
        query("v = 0", rows=20), query("w = 0", rows=21, probability=("1/3", "1/3")), query("v = 0", rows=10),
        more=f"known_rows = {known}",
    )  # fmt: skip
    workshop.release()
    code, out, err = in_process("compose", workshop.json, "--json")
    assert (code, err) == (0, "")
    guarantee = workshop.report["guarantee"]
    assert json.loads(out)["delta"] == guarantee["delta"]
    own = sp.compose(
        [
            sp.PropertyQuery(sp.Between(*map(Fraction, part["probability"])), attribute=part["attribute"])
            for part in workshop.report["composition"]["part"]
        ],
        sp.Population(60),
        sp.RandomPartition([20, 21, 10]),
        adversary=sp.Adversary(known=known),
    ).delta("0.1")
    assert {"lower": own.lower, "upper": own.upper} == guarantee["delta"]


def test_a_report_with_a_smaller_delta_is_found_out(workshop):
    workshop.table(["v"], [[i % 2] for i in range(60)])
    workshop.plan(query("v = 0", rows=20))
    workshop.release()
    report = workshop.report
    for ends in (report["guarantee"]["delta"], report["guarantee"]["partition_secret"]):
        ends.update(lower=ends["lower"] / 2, upper=ends["upper"] / 2)
    workshop.json.write_text(json.dumps(report), encoding="utf-8")
    done = statpriv("compose", str(workshop.json))
    assert done.returncode == 1, done.stdout + done.stderr
