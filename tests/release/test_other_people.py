"""What a report says δ would be if people were not alike, or lived in households."""

from __future__ import annotations

import pytest

import statpriv as sp
from statpriv.files.composition import read_composition
from statpriv.releasing import contents, run
from statpriv.releasing.other_people import other_people
from statpriv.releasing.report import render

from .. import once
from .conftest import query

pytestmark = pytest.mark.usefixtures("all_other_people")

IDS = 'row_id = "id"\n'
EACH = "each = true\n"


@pytest.fixture
def all_other_people(few_points, monkeypatch):
    """Curves are drawn roughly, but nobody is left out."""
    monkeypatch.setattr(run, "prospective_contents", once.compute)
    monkeypatch.setattr(contents, "other_people", other_people)


def people(workshop, n=200):
    rows = [[f"p{i}", f"h{i // 4}", i % 2, i % 3, "fm"[i % 3 == 0]] for i in range(n)]
    workshop.table(["id", "home", "vote", "age", "sex"], rows)


def released(workshop, *queries, data=IDS, **options):
    workshop.plan(*queries, more_data=data, **options)
    return workshop.release(force=True).contents


def upper(contents, *, outside=None, household=None):
    (found,) = [
        other["delta"]["upper"]
        for other in contents["people"]
        if (other["outside_range"], other["household"]) == (outside, household)
    ]
    return found


def own(low, high, attribute="a"):
    return sp.PropertyQuery(sp.EachBetween(low, high), attribute=attribute)


def test_one_count_of_people_who_are_not_alike(workshop):
    people(workshop)
    contents = released(workshop, query("vote = 0", rows=200))
    for outside, low, high in (("0", "0.4", "0.6"), ("0.05", "0.35", "0.65"), ("0.2", "0.2", "0.8")):
        expected = sp.privacy_curve(own(low, high), sp.Population(200)).delta("0.1")
        assert upper(contents, outside=outside) == expected.upper
    for largest, homes in ((2, 100), (3, 67)):
        clustered = sp.Population(200, clusters=homes, largest_cluster=largest)
        expected = sp.privacy_curve(own("0.4", "0.6"), clustered).delta("0.1")
        assert upper(contents, household=largest) == expected.upper


@pytest.mark.campaign  # alone it notices an order among figures that are each right
@pytest.mark.parametrize("parts", [(200,), (80, 90)])
def test_other_people_are_never_safer(workshop, parts):
    people(workshop)
    contents = released(workshop, *(query("vote = 0", rows=rows, probability=("0.5", "0.5")) for rows in parts))
    found = [upper(contents, outside=outside) for outside in ("0", "0.05", "0.2")]
    homes = [upper(contents, household=largest) for largest in (2, 3)]
    stated = contents["guarantee"]["delta"]["lower"]
    assert stated <= found[0] <= found[1] <= found[2]
    assert stated <= homes[0] <= homes[1]


def test_what_the_plan_declares_is_not_supposed_again(workshop):
    people(workshop)
    contents = released(workshop, query("vote = 0", rows=200) + EACH)
    assert {other["outside_range"] for other in contents["people"]} == {None, "0.05", "0.2"}
    workshop.registry.rename(workshop.folder / "elsewhere")
    homes = IDS + 'unit = "home"\nunits = 50\nlargest_unit = 4\nunit_source = "a register"\n'
    contents = released(workshop, query("vote = 0", rows=200) + EACH, data=homes)
    assert {other["household"] for other in contents["people"]} == {None}
    wider = sp.privacy_curve(own("0.35", "0.65"), sp.Population(200, clusters=50, largest_cluster=4))
    assert upper(contents, outside="0.05") == wider.delta("0.1").upper


@pytest.mark.campaign  # alone it notices a figure where there is none
def test_several_properties_in_parts_have_no_bound_for_households(workshop):
    people(workshop)
    contents = released(workshop, query("vote = 0", rows=80), query("age = 0", rows=90, probability=("0.3", "0.6")))
    assert {other["household"] for other in contents["people"]} == {None}


def test_several_properties_of_the_same_rows_have_one(workshop):
    people(workshop)
    asked = [query(where, share="1").replace('share = "1"', "each = true") for where in ("vote = 0", "age = 0")]
    contents = released(workshop, *asked, more='[publication]\nrows = "same"\n', epsilon="1")
    homes = sp.Population(200, clusters=100, largest_cluster=2)
    both = sp.compose([own("0.4", "0.6"), own("0.4", "0.6", "b")], homes, sp.SameRows(protects="row"))
    assert upper(contents, household=2) == both.delta(1).upper


@pytest.mark.campaign  # alone it notices a range of groups
def test_groups_count_by_the_hull_of_their_ranges(workshop):
    people(workshop, 60)
    by_group = query("vote = 0", rows=30).replace('["0.4", "0.6"]', '{f = "0.3", m = ["0.5", "0.6"]}')
    contents = released(workshop, by_group, data=IDS + 'group = "sex"\ngroup_source = "a census"\n')
    expected = sp.compose([own("0.3", "0.6")], sp.Population(60), sp.RandomPartition([30])).delta("0.1")
    assert upper(contents, outside="0") == expected.upper


def test_an_exact_table_holds_for_every_law_and_supposes_nothing(workshop):
    people(workshop)
    table = '[[table]]\nname = "Votes"\nminimum = 5\n[table.dimensions]\nvote = [0, 1]\n'
    assert released(workshop, table)["people"] == []


def test_the_page_shows_it_and_the_report_is_recomputed(workshop):
    people(workshop)
    released(workshop, query("vote = 0", rows=200))
    text = " ".join(render(workshop.report).split())
    assert "each its own probability, up to 0.05 outside it" in text
    assert "households of up to 2" in text
    assert read_composition(workshop.json).disagreements == ()
