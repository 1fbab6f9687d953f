"""Every page of the studio: what it computes, what it refuses, and that a release happens once."""

from __future__ import annotations

import html
import json
import re
import time
from fractions import Fraction

import duckdb
import pytest

import statpriv as sp
from statpriv.numeric.literals import at_most
from statpriv.releasing.plan_file import load_plan
from statpriv.studio.drafts import count_block, table_block
from statpriv.studio.explore import Explored


def text_of(page):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def test_a_count_is_explored_with_the_certified_number(studio):
    shown = text_of(studio.ask("/explore?what=count&n=500&low=0.3&high=0.6&known=20&epsilon=0.2")[2])
    query = sp.PropertyQuery(sp.Between("0.3", "0.6"))
    curve = sp.privacy_curve(query, sp.Population(500), adversary=sp.Adversary(known=20))
    assert f"δ ≤ {at_most(curve.delta('0.2').upper)}" in shown
    assert curve.theorem in shown


def test_each_row_may_have_its_own_probability_and_a_sample_may_answer(studio):
    shown = text_of(studio.ask("/explore/result?what=count&n=60&low=0.3&high=0.6&each=on&size=30&epsilon=0.2")[2])
    own = sp.PropertyQuery(sp.EachBetween("0.3", "0.6"))
    curve = sp.privacy_curve(own, sp.Population(60), sampling=sp.WithoutReplacement(30))
    assert f"δ ≤ {at_most(curve.delta('0.2').upper)}" in shown


def test_an_exact_table_is_explored(studio):
    shown = text_of(studio.ask("/explore?what=table&minimum=10&known=2&epsilon=1")[2])
    assert f"δ ≤ {at_most(sp.minimum_count_curve(10, known=2).delta(1).upper)}" in shown


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ("n=abc", "n = 'abc'; a whole number is required"),
        ("low=0.9&high=0.1", "0.9"),
        ("low=1.5&high=1.6", "1.5"),
        ("known=1000", "known = 1000"),
        ("epsilon=-1", "epsilon = '-1'; a number of at least 0 is required"),
        ("size=5000", "5000"),
        ("low=<script>", "<script>"),
    ],
)
def test_a_value_that_is_not_allowed_is_a_sentence(studio, stated, said):
    status, _, page = studio.ask(f"/explore?what=count&{stated}")
    assert status == 200
    assert said in text_of(page)
    assert "<script>" not in page.partition("<body>")[2]


@pytest.mark.parametrize(
    "fields", [{}, {"what": "count", "each": "on", "size": "30"}, {"what": "count", "high": "0.4"}]
)
def test_what_is_copied_as_python_has_the_same_number(fields):
    state = Explored.of(fields)
    *lines, last = state.python.splitlines()
    names: dict[str, object] = {}
    exec("\n".join(lines), names)  # noqa: S102
    assert eval(last, names) == state.curve.delta(state.epsilon)  # noqa: S307


def test_a_plan_is_written_by_forms_and_its_guarantee_shown(studio):
    page = text_of(studio.post("/plan/new", {"source": "people.csv"})[2])
    assert "Columns: id , smoker , region" in page
    text = '[data]\nsource = "people.csv"\nrow_id = "id"\n[guarantee]\nepsilon = 1\ndelta = 0.5\n'
    form = {"file": "drawn.toml", "text": text, "act": "count", "count-name": "Smokers", "count-low": "0.2"}
    form |= {"count-where": "smoker = 'yes'", "count-high": "0.7", "count-source": "a survey", "count-share": "1/2"}
    page = studio.post("/plan/edit", form)[2]
    drawn = html.unescape(re.search(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)[1])
    assert drawn.startswith(text)
    assert "where = \"smoker = 'yes'\"" in drawn
    status, headers, _ = studio.post("/plan/edit", {"file": "drawn.toml", "text": drawn, "act": "save"})
    assert (status, headers["Location"]) == (303, "/plan?file=drawn.toml")
    shown = text_of(studio.ask("/plan?file=drawn.toml")[2])
    guarantee = sp.release(studio.folder / "drawn.toml", dry_run=True, registry=studio.folder / "r").contents[
        "guarantee"
    ]
    assert f"δ ≤ {at_most(guarantee['delta']['upper'])} at ε = 1, for 200 rows." in shown
    again = studio.post("/plan/edit", {"file": "drawn.toml", "text": drawn, "act": "save"})[2]
    assert "exists; choose another name" in text_of(again)


def test_a_plan_is_begun_for_a_table_of_a_duckdb_file(studio):
    with duckdb.connect(studio.folder / "survey.duckdb") as connection:
        connection.execute("CREATE TABLE persons (person INTEGER, vote INTEGER)")
    page = studio.post("/plan/new", {"source": "survey.duckdb", "table": "persons", "row_id": "person"})[2]
    assert (
        plan_on(page)
        .partition("[data]\n")[2]
        .startswith('source = "survey.duckdb"\ntable = "persons"\nrow_id = "person"\n')
    )
    assert 'value="persons.toml"' in page
    assert "Columns: person , vote" in text_of(page)
    for stated, sentence in [
        ({"source": "survey.duckdb", "table": "nobody"}, "nobody"),
        ({"source": "../people.csv"}, "is not in this folder"),
        ({"source": "postgresql://host/data", "table": "t", "row_id": "id"}, "is not in this folder"),
        ({"table": "persons"}, "needs source"),
    ]:
        assert sentence in text_of(studio.post("/plan/new", stated)[2])


def plan_on(page):
    """The text of the plan that a page shows."""
    return html.unescape(re.search(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)[1])


def test_histograms_and_codes_of_columns_are_stated_by_forms(studio):
    text = '[data]\nsource = "people.csv"\nrow_id = "id"\n[guarantee]\nepsilon = 1\ndelta = 0.5\n'
    form = {"file": "regions.toml", "text": text, "act": "column", "column-name": "region", "column-source": "codebook"}
    for values, said in (
        ("0..many", "values: 'many' is no number; a range is written as 0..120"),
        ("", "values is empty"),
    ):
        assert said in text_of(studio.post("/plan/edit", {**form, "column-values": values})[2])
    form["text"] = plan_on(studio.post("/plan/edit", {**form, "column-values": "north, south"})[2])
    form |= {"act": "histogram", "histogram-name": "Region", "histogram-source": "census", "histogram-share": "1/2"}
    refused = studio.post("/plan/edit", {**form, "histogram-cells": "region = 'north'"})[2]
    assert "is no label, condition and probability, such as under 30 | age < 30 | 0.2..0.3" in text_of(refused)
    form["histogram-cells"] = "North | region = 'north' | 0.3..0.7\n\nSouth | region = 'south' | 0.2"
    form["text"] = plan_on(studio.post("/plan/edit", form)[2])
    assert form["text"].startswith(text)
    assert studio.post("/plan/edit", {**form, "act": "save"})[0] == 303
    plan = load_plan(studio.folder / "regions.toml")
    assert [(cell.name, cell.probability) for cell in plan.queries[0].cells][:2] == [
        ("North", (Fraction(3, 10), Fraction(7, 10))),
        ("South", Fraction(1, 5)),
    ]
    [stated] = plan.data.columns
    assert "codebook" in repr(stated)
    assert "The guarantee of the saved plan" in text_of(studio.ask("/plan?file=regions.toml")[2])


def test_mistakes_in_a_plan_are_the_sentences_of_plans(studio):
    (studio.folder / "wrong.toml").write_text('[data]\nsource = "people.csv"\n[guarantee]\nepsilon = 1\n', "utf-8")
    assert "guarantee.delta is missing" in text_of(studio.ask("/plan?file=wrong.toml")[2])
    missing = studio.post("/plan/edit", {"file": "x.toml", "text": "", "act": "count", "count-name": "x"})[2]
    assert "low is empty; a probability" in text_of(missing)


def test_blocks_of_plans_hold_any_text_as_text():
    hostile = 'a"\n[[query]]\nname = "b'
    count = count_block({"name": hostile, "where": "x = 1", "low": "0.5", "source": "s", "share": "1/2"})
    assert count.count("\n[[query]]") == 1
    assert table_block({"name": "t", "minimum": "5", "dimensions": "region: a, b\n\nage: x, *"}).count(" = [") == 2


def test_a_release_is_confirmed_once_whatever_tabs_are_open(studio):
    page = studio.ask("/release?file=plan.toml")[2]
    assert "No answer was read" in text_of(page)
    number = re.search(r'name="number" value="([^"]*)"', page)[1]
    second = re.search(r'name="number" value="([^"]*)"', studio.ask("/release?file=plan.toml")[2])[1]
    assert "Tick the box" in text_of(studio.post("/release/confirm", {"number": number})[2])
    for _ in range(2):  # the button is pressed twice
        status, headers, _ = studio.post("/release/confirm", {"number": number, "understood": "on"})
        assert (status, headers["Location"]) == (303, f"/release/{number}")
    for _ in range(200):
        if "At work" not in (shown := text_of(studio.ask(f"/release/{number}")[2])):
            break
        time.sleep(0.2)
    assert "Released. The report is beside the plan" in shown
    document = json.loads((studio.folder / "plan-report.json").read_text("utf-8"))
    assert document["release"]["rows_spent"] == 100
    status, headers, report = studio.ask(f"/release/{number}/report")
    assert "sandbox" in headers["Content-Security-Policy"]
    assert report.encode() == (studio.folder / "plan-report.html").read_bytes()
    studio.post("/release/confirm", {"number": second, "understood": "on"})
    for _ in range(200):
        if "At work" not in (shown := text_of(studio.ask(f"/release/{second}")[2])):
            break
        time.sleep(0.2)
    assert "plan-report" in shown  # it would replace the report of the first, and is refused
    assert "200 rows, 100 left" in text_of(studio.ask("/ledger")[2])


def test_an_unknown_confirmation_releases_nothing(studio):
    shown = text_of(studio.post("/release/confirm", {"number": "x", "understood": "on"})[2])
    assert "this confirmation is not known" in shown
    assert studio.ask("/release/x")[0] == 403
    assert studio.ask("/release/x/report")[0] == 403


def test_a_published_table_is_assessed(studio):
    table = "region,age,count\nn,young,12\nn,old,40\ns,young,9\ns,old,31\n"
    shown = text_of(studio.post("/assess", {"text": table, "minimum": "10", "epsilon": "1", "known": "0"})[2])
    assert f"δ ≤ {at_most(sp.minimum_count_curve(10).delta(1).upper)}" in shown
    assert "1 cells are below 10" in shown
    assert "the table is empty" in text_of(studio.post("/assess", {"text": " "})[2])
    assert "minimum = 'x'" in text_of(studio.post("/assess", {"text": table, "minimum": "x"})[2])


def test_what_is_no_longer_there_is_said(studio):
    assert studio.ask("/nowhere")[0] == 404
    assert studio.ask("/static/other.js")[0] == 404
