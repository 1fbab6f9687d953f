"""Plans whose groups have probabilities of their own, and whose parts are drawn from all rows alike."""

from __future__ import annotations

import json

import pytest

import statpriv as sp
from statpriv.errors import LedgerError, PlanError
from statpriv.files.composition import read_composition
from statpriv.releasing.report import render

from .conftest import query

pytestmark = pytest.mark.usefixtures("computed_once")

GROUPED = 'row_id = "id"\ngroup = "sex"\ngroup_source = "a census"\n'
PLAIN = GROUPED + "stratified = false\n"


def people(workshop, n=60):
    rows = [[f"p{i}", i % 2, i % 3, "fm"[i % 3 == 0]] for i in range(n)]
    workshop.table(["id", "vote", "age", "sex"], rows)


def votes(*, f='["0.3", "0.6"]', m='"1/2"', rows="rows = 30", where="vote = 0"):
    text = query(where, share="1").replace('share = "1"', rows)
    return text.replace('["0.4", "0.6"]', f"{{f = {f}, m = {m}}}")


def composed(*sizes, same=True):
    first = sp.PropertyQuery({"f": sp.Between("0.3", "0.6"), "m": "1/2"}, attribute="a")
    other = sp.PropertyQuery({"f": "0.2", "m": "0.7"}, attribute="b")
    asked = [first] if len(sizes) == 1 else [first, first if same else other]
    return sp.compose(asked, sp.Population(groups={"f": 40, "m": 20}), sp.RandomPartition(list(sizes)))


@pytest.mark.campaign  # alone it notices a form of the plan that says the same otherwise
@pytest.mark.parametrize(
    ("data", "rows"),
    [(GROUPED, "rows = 30"), (PLAIN, "rows = 30"), (PLAIN, 'share = "1/2"')],
    ids=["one number", "said", "share"],
)
def test_the_guarantee_is_that_of_parts_of_all_rows(workshop, data, rows):
    people(workshop)
    workshop.plan(votes(rows=rows), more_data=data)
    contents = workshop.release().contents
    assert contents["guarantee"]["delta"]["upper"] == composed(30).delta("0.1").upper
    assert contents["composition"]["population"] == {"f": 40, "m": 20}
    assert contents["composition"]["part"][0]["size"] == 30
    assert [(group["group"], group["size"]) for group in contents["queries"][0]["groups"]] == [("f", None), ("m", None)]


@pytest.mark.campaign  # alone it notices a plan whose composition is not that of its parts
@pytest.mark.parametrize("same", [True, False])
def test_several_queries_are_composed_by_group(workshop, same):
    people(workshop)
    other = votes(rows="rows = 20") if same else votes(f='"0.2"', m='"0.7"', rows="rows = 20", where="age = 0")
    workshop.plan(votes(), other, more_data=GROUPED)
    contents = workshop.release().contents
    assert contents["guarantee"]["delta"]["upper"] == composed(30, 20, same=same).delta("0.1").upper
    assert [answer["size"] for answer in contents["answers"]] == [30, 20]
    assert contents["release"]["rows_spent"] == 50


def test_whoever_knows_the_parts_is_faced_with_rows_that_each_have_their_own_probability(workshop):
    people(workshop)
    workshop.plan(votes(), more_data=GROUPED)
    contents = workshop.release().contents
    known = sp.privacy_curve(sp.PropertyQuery(sp.EachBetween("0.3", "0.6")), sp.Population(30))
    assert contents["guarantee"]["partition_known"]["upper"] == known.delta("0.1").upper
    assert all(point["delta"]["upper"] >= contents["guarantee"]["delta"]["lower"] for point in contents["leaks"])
    upper = [point["delta"]["upper"] for point in contents["degradation"]]
    assert upper == sorted(upper)
    falling = [point["partition_secret"]["upper"] for point in contents["curves"]["epsilon"]]
    assert falling == sorted(falling, reverse=True)


@pytest.mark.campaign  # alone it notices a page of groups that says something else
def test_the_report_is_recomputed_without_data_and_the_page_says_how_rows_were_drawn(workshop):
    people(workshop)
    workshop.plan(votes(), more_data=GROUPED)
    workshop.release()
    assert read_composition(workshop.json).disagreements == ()
    assert "with the group of every row by" in " ".join(render(workshop.report).split())
    changed = json.loads(workshop.json.read_text("utf-8"))
    changed["queries"][0]["groups"][0]["probability"]["upper"] = "0.5"
    workshop.json.write_text(json.dumps(changed), "utf-8")
    assert any("composition.part[1].probability" in found for found in read_composition(workshop.json).disagreements)


def test_the_composition_of_the_report_has_the_same_delta_as_a_file(workshop, tmp_path):
    people(workshop)
    workshop.plan(votes(), more_data=GROUPED)
    contents = workshop.release().contents
    path = tmp_path / "composition.json"
    path.write_text(json.dumps(contents["composition"]), "utf-8")
    assert read_composition(path).curve().delta("0.1").upper == contents["guarantee"]["delta"]["upper"]


def test_such_a_table_is_released_once(workshop):
    people(workshop)
    workshop.plan(votes(), more_data=GROUPED)
    workshop.release(force=True)
    with pytest.raises(LedgerError, match="a table by group, in units"):
        workshop.release(force=True)


@pytest.mark.parametrize(
    ("queries", "data", "said"),
    [
        ([votes(), votes(rows="rows = {f = 9, m = 3}")], GROUPED, "query[1].rows = 30: must be stated for each group"),
        ([votes(), votes(rows='share = "1/5"')], GROUPED, "query[1].rows = 30: must be stated for each group"),
        ([votes(rows="rows = {f = 9, m = 3}")], PLAIN, "query[1].rows is stated by group, but data.stratified = false"),
        ([votes()], GROUPED + "stratified = true\n", "must be stated for each group"),
        ([votes(rows="rows = 61")], GROUPED, "rows = 61 of a table of 60"),
        ([votes().replace("m = ", "x = ")], GROUPED, 'the table has "f", "m"'),
        ([query("vote = 0", rows=9)], 'row_id = "id"\nstratified = false\n', "has stratified and no group"),
    ],
)
def test_plans_that_say_two_things_are_refused(workshop, queries, data, said):
    people(workshop)
    workshop.plan(*queries, more_data=data)
    with pytest.raises(PlanError) as refused:
        workshop.release()
    assert said in str(refused.value)
    workshop.assert_untouched()
