"""Plans that say that each row has a probability of its own."""

from __future__ import annotations

import json

import pytest

import statpriv as sp
from statpriv.files.composition import read_composition
from statpriv.releasing.report import render
from statpriv.rules.assumptions import EACH

from .conftest import query

pytestmark = pytest.mark.usefixtures("computed_once")


def people(workshop, n):
    workshop.table(["id", "vote", "age"], [[f"p{i}", i % 2, i % 3] for i in range(n)])


def votes(rows, *, each, probability=("0.3", "0.6"), more=""):
    return query("vote = 0", rows=rows, probability=probability) + ("each = true\n" if each else "") + more


def plan(workshop, *queries, **options):
    workshop.plan(*queries, more_data='row_id = "id"', **options)


def guaranteed(contents):
    return contents["guarantee"]["delta"]["upper"]


def test_the_guarantee_is_that_of_rows_with_probabilities_of_their_own(workshop):
    people(workshop, 60)
    plan(workshop, votes(60, each=True))
    contents = workshop.release().contents
    own = sp.privacy_curve(sp.PropertyQuery(sp.EachBetween("0.3", "0.6")), sp.Population(60))
    assert guaranteed(contents) == own.delta("0.1").upper
    assert contents["queries"][0]["each"] is True
    assert contents["composition"]["part"][0]["each"] is True
    assert "the declared probabilities hold" in " ".join(contents["guarantee"]["assumptions"])
    assert EACH in contents["guarantee"]["assumptions"]


def test_the_page_says_so_and_the_report_verifies_without_data(workshop):
    people(workshop, 60)
    plan(workshop, votes(30, each=True), query("age = 0", rows=30, probability=("0.2", "0.5")))
    workshop.release()
    report = read_composition(workshop.json)
    assert report.disagreements == ()
    assert "0.3 to 0.6, each row its own" in " ".join(render(report.document).split())
    changed = json.loads(workshop.json.read_text("utf-8"))
    del changed["queries"][0]["each"]
    workshop.json.write_text(json.dumps(changed), "utf-8")
    assert any("each" in found for found in read_composition(workshop.json).disagreements)


def test_a_gate_gives_no_bound_for_every_p_and_the_report_says_so(workshop):
    people(workshop, 60)
    plan(workshop, votes(60, each=True, more="gate = true\n"))
    contents = workshop.release().contents
    own = sp.privacy_curve(sp.PropertyQuery(sp.EachBetween("0.3", "0.6")), sp.Population(60))
    assert guaranteed(contents) == own.delta("0.1").upper
    assert any("gives no bound for every p" in warning for warning in contents["warnings"])


def test_a_later_release_that_declares_it_makes_earlier_ones_count_so(workshop):
    people(workshop, 80)
    plan(workshop, votes(40, each=False))
    workshop.release(force=True)
    plan(workshop, votes(20, each=True))
    second = workshop.release(force=True).contents
    assert [part["each"] for part in second["history"][0]["part"]] == [True]
    assert read_composition(workshop.json).disagreements == ()


@pytest.mark.campaign  # alone it notices a second declaration
def test_of_two_queries_about_one_property_one_declaration_is_enough(workshop):
    people(workshop, 80)
    plan(workshop, votes(30, each=False), votes(30, each=True))
    contents = workshop.release().contents
    assert [asked["each"] for asked in contents["queries"]] == [True, True]
