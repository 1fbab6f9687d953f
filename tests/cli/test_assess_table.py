"""`statpriv assess crosstab.csv`: what a published table shows beside a rule."""

import json
import sys

import pytest

import statpriv as sp

GOOD = "region \\ age,<30,30-59,60+,Total\nnorth,12,30,44,86\nsouth,19,41,50,110\nTotal,31,71,94,196\n"
RULE = ("--minimum", "10", "--epsilon", "1")


@pytest.fixture
def written(tmp_path):
    def write(text, name="crosstab.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def delta_of(minimum, epsilon, known=0):
    found = sp.minimum_count_curve(minimum, known=known).delta(epsilon)
    return {"lower": found.lower, "upper": found.upper}


def test_a_table_at_its_minimum_is_what_the_rule_publishes(run_json, written):
    document = run_json("assess", written(GOOD), *RULE, "--epsilon", "2")
    assert (document["schema"], document["version"]) == ("statpriv.assess.tables", 1)
    assert document["delta"] == delta_of(10, 1)
    assert document["deltas"][1] == {"epsilon": "2", "delta": delta_of(10, 2)}
    assert (document["verdict"], document["holds"], document["warnings"]) == ("yes", True, [])
    (table,) = document["tables"]
    assert table["smallest"] == {"cell": {"region": "north", "age": "<30"}, "count": 12}
    assert (table["cells"], table["rows"]) == (6, 196)


def test_delta_is_about_the_rule_and_not_about_the_table(run_json, written):
    """Two tables with other counts have one δ, and one table has two under two rules."""
    other = GOOD.replace("12,30,44,86", "90,30,44,164").replace("31,71,94,196", "109,71,94,274")
    same = [run_json("assess", written(text), *RULE)["delta"] for text in (GOOD, other)]
    assert same[0] == same[1]
    looser = run_json("assess", written(GOOD), "--minimum", "3", "--epsilon", "1")
    assert looser["delta"] == delta_of(3, 1)
    assert "not inferred from this table" in looser["about"]


def test_a_cell_below_the_minimum_is_named_and_ends_with_one(run, run_json, written):
    path = written(GOOD.replace("12,30,44,86", "9,30,44,83").replace("31,71,94,196", "28,71,94,193"))
    document = run_json("assess", path, *RULE, code=1)
    assert document["tables"][0]["below_minimum"] == [{"cell": {"region": "north", "age": "<30"}, "count": 9}]
    assert document["delta"] == delta_of(10, 1)
    result = run("assess", path, *RULE)
    assert result.exit_code == 1
    assert "9: region = north, age = <30" in result.stdout


def test_a_cell_with_nobody_is_named_unless_it_is_impossible(run, run_json, written):
    path = written(GOOD.replace("12,30,44,86", "0,30,44,74").replace("31,71,94,196", "19,71,94,184"))
    document = run_json("assess", path, *RULE, code=1)
    assert document["tables"][0]["zero"] == [{"cell": {"region": "north", "age": "<30"}, "count": 0}]
    assert "tells everybody that they are not in it" in document["warnings"][0]
    assert "nobody: region = north, age = <30" in run("assess", path, *RULE).stdout
    assert run_json("assess", path, *RULE, "--impossible", "north,<30")["tables"][0]["zero"] == []


def test_known_rows_raise_delta(run_json, written):
    document = run_json("assess", written(GOOD), *RULE, "--known", "3")
    assert document["delta"] == delta_of(10, 1, known=3)
    assert document["delta"]["upper"] > delta_of(10, 1)["upper"]


@pytest.mark.parametrize(("delta", "code", "reached"), [("0.005", 0, True), ("0.004", 4, None), ("0", 4, None)])
def test_a_target_is_proved_or_left_open(run_json, written, delta, code, reached):
    document = run_json("assess", written(GOOD), *RULE, "--delta", delta, code=code)
    assert document["reached"] is reached


def test_suppressed_cells_are_bounded_and_end_with_one(run, run_json, written):
    path = written(GOOD.replace("12,30", "..,..").replace("19,41", "c,<50"))
    document = run_json("assess", path, *RULE, code=1)
    hidden = document["tables"][0]["suppressed"]
    assert {tuple(each["cell"].values()): (each["lower"], each["upper"]) for each in hidden} == {
        ("north", "<30"): (0, 20),
        ("north", "30-59"): (22, 42),
        ("south", "<30"): (11, 31),
        ("south", "30-59"): (29, 49),
    }
    assert all(each["lower_attained"] and each["upper_attained"] for each in hidden)
    assert "suppressed one by one" in " ".join(document["warnings"])
    shown = run("assess", path, *RULE).stdout
    assert "4 suppressed" in shown


def test_one_suppressed_cell_in_a_row_is_given_away(run, written):
    shown = run("assess", written(GOOD.replace("north,12,", "north,..,")), *RULE).stdout
    assert "given away: 12, region = north, age = <30" in shown


def test_without_bounds_no_scipy_is_needed(run_json, run, written, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    path = written(GOOD.replace("north,12,", "north,..,"))
    result = run("assess", path, *RULE)
    assert result.exit_code == 2
    assert "statpriv[audit]" in result.stderr
    document = run_json("assess", path, *RULE, "--no-bounds", code=1)
    assert document["tables"][0]["suppressed"] == [{"cell": {"region": "north", "age": "<30"}}]


def test_several_tables_of_the_same_people_are_not_bounded_together(run_json, written):
    path = written(GOOD)
    other = written("region,yes,no\nnorth,40,46\nsouth,50,60\n", "other.csv")
    document = run_json("assess", path, other, *RULE, "--columns", "smokes", code=4)
    assert document["comparison"]["together"] is None
    assert "Nothing bounds together" in document["comparison"]["why"]
    assert document["comparison"]["differences"] == []


def test_a_declared_range_bounds_tables_about_different_dimensions(run, run_json, written):
    one = written("vote,count\na,400\nb,600\n", "one.csv")
    other = written("smokes,count\nyes,300\nno,400\nnever,300\n", "other.csv")
    document = run_json("assess", one, other, *RULE, "--each", "0.1..0.8", "--known", "5")
    curves = [
        sp.privacy_curve(
            sp.HistogramQuery([sp.EachBetween("0.1", "0.8")] * cells),
            sp.Population(1000),
            adversary=sp.Adversary(known=5),
        )
        for cells in (2, 3)
    ]
    (delta,) = document["comparison"]["together"]["deltas"]
    assert delta["delta"]["upper"] == max(curve.delta(1).upper for curve in curves)
    assert document["verdict"] == "yes"
    run_json("assess", one, other, *RULE, "--each", "0.1..0.8", "--delta", "0.005")
    run_json("assess", one, other, *RULE, "--each", "0.001..0.998", "--delta", "0.005", code=4)
    assert "δ of all tables together at most" in run("assess", one, other, *RULE, "--each", "0.1..0.8").stdout


@pytest.mark.parametrize(
    ("second", "each", "message"),
    [
        ("vote,age,count\na,x,400\nb,x,600\n", "0.1..0.8", "share the dimension vote"),
        ("age,count\nx,400\ny,601\n", "0.1..0.8", "no common total"),
        ("age,count\nx,400\ny,..\n", "0.1..0.8", "no common total"),
        ("age,count\nx,400\ny,600\n", "0.6..0.8", "for a table of 2 cells"),
        ("age,count\nx,1000\n", "0.1..0.8", "a single cell"),
        (None, "0.1..0.8", "one is given"),
    ],
)
def test_what_a_range_does_not_bound_is_refused_with_the_reason(run, written, second, each, message):
    files = [written("vote,count\na,400\nb,600\n", "one.csv")]
    files += [] if second is None else [written(second, "other.csv")]
    result = run("assess", *files, *RULE, "--each", each)
    assert result.exit_code == 2
    assert message in result.stderr


def test_the_people_whom_two_tables_isolate_are_named(run, run_json, written):
    one = written("region,age,count\nn,0-15,20\nn,16-29,30\ns,0-15,21\ns,16-29,30\n", "one.csv")
    other = written("region,age,count\nn,0-17,24\nn,18-29,26\ns,0-17,41\ns,18-29,10\n", "other.csv")
    document = run_json("assess", one, other, *RULE, code=1)
    (found,) = document["comparison"]["differences"]
    assert found == {
        "kind": "breaks",
        "tables": ["one.csv", "other.csv"],
        "where": {"age": "16-17", "region": "n"},
        "people": 4,
    }
    assert "4 people with age = 16-17, region = n" in " ".join(run("assess", one, other, *RULE).stdout.split())


def test_totals_that_do_not_fit_leave_it_undecided(run_json, written):
    document = run_json("assess", written(GOOD.replace("196", "197")), *RULE, "--total", "Total", code=4)
    assert document["tables"][0]["contradictions"] == [
        {"total": {"region": None, "age": None}, "published": 197, "sum_of_cells": 196}
    ]
    assert "197 instead of 196" in document["warnings"][0]


def test_rounded_counts_are_warned_of(run_json, written):
    text = "region,a,b,c\nnorth,15,20,25\nsouth,30,35,40\n"
    assert "multiple of 5" in run_json("assess", written(text), *RULE)["warnings"][0]


def test_names_in_a_table_cannot_add_lines_or_colours(run, written):
    result = run("assess", written('region,"a\n\x1b[31mb",c\nnorth,1,12\nsouth,12,12\n'), *RULE)
    assert result.exit_code == 1
    assert "\x1b" not in result.stdout
    assert "column = a\\n\\x1b[31mb" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--minimum is required"),
        (("--minimum", "10"), "--epsilon is required"),
        (("--minimum", "1", "--epsilon", "1"), "--minimum = 1"),
        ((*RULE, "--epsilon", "-1"), "epsilon = -1"),
        ((*RULE, "--known", "x"), "--known = x"),
        ((*RULE, "--impossible", "north"), "impossible = north"),
        ((*RULE, "--dimension", "sex"), "no column 'sex'"),
    ],
)
def test_bad_options_are_refused_in_a_sentence(run, written, arguments, message):
    result = run("assess", written(GOOD), *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_options_of_tables_are_refused_beside_counts(run, tmp_path):
    path = tmp_path / "counts.toml"
    path.write_text('epsilon = 1\npopulation = 9\n[[count]]\nprobability = "1/2"\n', encoding="utf-8")
    result = run("assess", path, "--total", "Total")
    assert result.exit_code == 2
    assert "--total is about published tables" in result.stderr


def test_an_error_is_an_object_where_json_was_asked_for(run, tmp_path):
    result = run("assess", tmp_path / "missing.csv", *RULE, "--json")
    assert result.exit_code == 2
    document = json.loads(result.stdout)
    assert (document["schema"], document["version"]) == ("statpriv.error", 1)
    assert document["error"]["kind"] == "ArgumentError"
    assert document["error"]["exit_code"] == 2
    assert "missing.csv" in document["error"]["message"]
    assert result.stderr.startswith("Error: ")


def test_python_takes_tables_and_paths(written):
    path = written(GOOD)
    found = sp.assess_tables([path, sp.read_table(path)], minimum=10, epsilon=["1", 2])
    assert [each.table.name for each in found.tables] == ["crosstab.csv (1)", "crosstab.csv (2)"]
    assert found.verdict == "undecided"
    assert "a rule with minimum 10 has δ at most 0.00454924 at ε = 1" in str(found)
    with pytest.raises(sp.ArgumentError, match="at least one table"):
        sp.assess_tables([], minimum=10, epsilon=1)
    with pytest.raises(sp.ArgumentError, match="at least one ε"):
        sp.assess_tables(path, minimum=10, epsilon=[])


CLASSES = "region,smokes,count\nnorth,yes,12\nnorth,no,40\nsouth,yes,\nsouth,no,\n"


def test_a_class_of_a_public_classification_is_withheld_by_itself(run, run_json, written):
    document = run_json("assess", written(CLASSES), *RULE, "--by", "region")
    assert document["tables"][0]["withheld_classes"] == ["south"]
    assert document["warnings"] == []
    assert run_json("assess", written(CLASSES), *RULE, code=1)["tables"][0]["withheld_classes"] == []
    partly = run_json("assess", written(CLASSES.replace("south,yes,", "south,yes,20")), *RULE, "--by", "region", code=1)
    assert "suppressed one by one" in partly["warnings"][0]
    assert "by = sex: no dimension" in run("assess", written(CLASSES), *RULE, "--by", "sex").stderr


def test_a_total_over_classes_gives_the_withheld_one_away(run_json, written):
    path = written(CLASSES + "Total,yes,15\n")
    document = run_json("assess", path, *RULE, "--by", "region", code=1)
    assert "the total less the other classes" in document["warnings"][0]
    (hidden, *_) = document["tables"][0]["suppressed"]
    assert (hidden["lower"], hidden["upper"]) == (3, 3)
    within = run_json("assess", written(CLASSES + "north,Total,52\n"), *RULE, "--by", "region")
    assert within["holds"] is True


def test_dimensions_without_a_name_are_not_taken_for_the_same(run, run_json, written):
    """Smoking in one table and driving in the other, both with yes and no in the header."""
    one = written("region,yes,no\nnorth,40,46\nsouth,50,60\n", "one.csv")
    other = written("region,yes,no\nnorth,43,43\nsouth,57,53\n", "other.csv")
    document = run_json("assess", one, other, *RULE, code=4)
    assert document["comparison"]["differences"] == []
    assert "A dimension has no name" in document["warnings"][1]
    told = " ".join(run("assess", one, other, *RULE).stdout.split())
    assert "no difference of fewer than 10 people was found, but a dimension without a name was not compared" in told
    named = run_json("assess", one, other, *RULE, "--columns", "smokes", code=1)
    assert sorted(each["people"] for each in named["comparison"]["differences"]) == [-7, -3, 3, 7]
