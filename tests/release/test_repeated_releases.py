"""Can a table be released again and grow, with a target that is about everything released from it?"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from fractions import Fraction

import numpy as np
import pytest

import statpriv as sp
from statpriv.errors import GuaranteeNotReachedError, LedgerError
from statpriv.releasing.extension import extend
from statpriv.releasing.report import render

from .conftest import query, statpriv

pytestmark = pytest.mark.usefixtures("computed_once")


def people(workshop, n, *, ids=True, edited=(), first=0, name="people.csv", order=None):
    rows = [[*([f"p{i}"] if ids else []), (i + (i in edited)) % 2, i % 3] for i in range(first, first + n)]
    return workshop.table([*(["id"] if ids else []), "vote", "age"], order(rows) if order else rows, name=name)


def plan(workshop, *queries, ids=True, **options):
    workshop.plan(*queries, more_data='row_id = "id"' if ids else "", **options)


def votes(rows, probability=("1/2", "1/2")):
    return query("vote = 0", rows=rows, probability=probability)


def release(workshop, **options):
    return workshop.release(force=True, **options).contents


def refused(workshop, error=LedgerError, **options):
    before = workshop.spent()
    with pytest.raises(error) as refusal:
        workshop.release(force=True, **options)
    assert workshop.spent() == before
    return str(refusal.value)


def spent_rows(workshop):
    with closing(sqlite3.connect(workshop.registry / "ledger.sqlite3")) as connection:
        return {
            number: np.unpackbits(np.frombuffer(spent, np.uint8)).nonzero()[0].tolist()
            for number, spent in connection.execute("SELECT number, spent FROM data_set")
        }


# --- a year of a table


def test_three_releases_of_a_table_that_grows(workshop):
    people(workshop, 200)
    plan(workshop, votes(60), delta="0.2")
    first = release(workshop)
    people(workshop, 300)
    assert "adds rows to one that was" in refused(workshop)
    grown = extend(workshop.folder / "plan.toml", registry=workshop.registry)
    assert (grown.rows_before, grown.rows_joined, grown.content_edited) == (200, 100, False)
    plan(workshop, votes(50), query("age = 0", rows=30, probability=["0.3", "0.4"]), delta="0.2")
    second = release(workshop)
    people(workshop, 300, order=lambda rows: rows[::-1])
    plan(workshop, votes(40, probability=["0.3", "0.6"]), delta="0.2")
    third = release(workshop)
    assert [r["release"]["number"] for r in (first, second, third)] == [1, 2, 3]
    assert [r["guarantee"]["releases"] for r in (first, second, third)] == [1, 2, 3]
    assert (first["history"], first["guarantee"]["this_release"]) == ([], first["guarantee"]["delta"])
    assert third["ledger"] == {
        "rows_left": 120, "rows_spent_before": 140,
        "cohorts": [{"rows": 200, "since_release": 1}, {"rows": 100, "since_release": 2}],
    }  # fmt: skip
    assert [(h["number"], h["release_id"], h["rows_spent"], h["rows_then"]) for h in third["history"]] == [
        (1, first["release"]["id"], 60, 200), (2, second["release"]["id"], 80, 300),
    ]  # fmt: skip
    assert [q["where"] for q in third["history"][1]["queries"]] == [q["where"] for q in second["queries"]]
    assert sum(map(len, spent_rows(workshop).values())) == 60 + 80 + 40
    workshop.assert_whole_report()


def test_the_guarantee_is_the_worst_cohort_s_sum(workshop):
    """By hand: 60 of 100, then 20 of the 40 left and 60 new ones; the second range of the property is the wider."""
    people(workshop, 100)
    plan(workshop, votes(60, probability=["0.4", "0.6"]))
    release(workshop)
    people(workshop, 160)
    extend(workshop.folder / "plan.toml", registry=workshop.registry)
    plan(workshop, votes(20, probability=["0.3", "0.5"]))
    guarantee = release(workshop)["guarantee"]
    hull = sp.PropertyQuery(sp.Between("0.3", "0.6"))
    one, two = (Fraction(sp.privacy_curve(hull, sp.Population(rows)).delta("0.1").upper) for rows in (60, 20))
    old = Fraction(60, 100) * one + Fraction(40, 100) * Fraction(20, 100) * two
    new = Fraction(20, 100) * two
    assert guarantee["delta"]["upper"] == sp.Enclosure(max(old, new)).upper
    alone = sp.compose([hull], sp.Population(100), sp.RandomPartition([20])).delta("0.1")
    assert guarantee["this_release"]["upper"] == alone.upper


def test_a_range_that_held_0_once_reaches_no_target_any_more(workshop):
    """For one property the hull of all ranges counts: also of one that a release without a target declared."""
    people(workshop, 100)
    plan(workshop, votes(2, probability=["0", "0.6"]), delta="1")
    release(workshop)
    plan(workshop, votes(2, probability=["0.4", "0.6"]), delta="0.9")
    assert "may be 0 or 1" in refused(workshop, GuaranteeNotReachedError)
    plan(workshop, votes(2, probability=["0.4", "0.6"]), delta="1")
    assert release(workshop)["guarantee"]["delta"]["upper"] < 0.9


@pytest.mark.campaign  # alone it notices figures of later releases
def test_curves_and_tables_of_a_later_release_hold_for_rows_that_joined_too(workshop):
    """Half of the old rows are used, so a new one is drawn more often than a row of the table is on average."""
    people(workshop, 100)
    plan(workshop, votes(50, probability=["0.4", "0.5"]), delta="1")
    release(workshop)
    people(workshop, 200)
    extend(workshop.folder / "plan.toml", registry=workshop.registry)
    plan(workshop, votes(100, probability=["0.5", "0.6"]), delta="1")
    report = release(workshop)
    alone = report["guarantee"]["this_release"]
    drawn = {point["epsilon"]: point["partition_secret"] for point in report["curves"]["epsilon"]}
    assert drawn[0.1] == report["degradation"][0]["delta"] == report["block"][0]["delta"] == alone
    assert any("on the 150 rows that were left" in text for text in report["warnings"])
    assert report["comparison"]["delta"] == alone["upper"]
    assert "Rows that joined the table later were drawn more often" in render(report)


@pytest.mark.campaign  # alone it notices histograms before counts
def test_a_table_is_released_again_after_a_histogram(workshop):
    people(workshop, 100)
    cells = "".join(f'[[query.cell]]\nname = "{age}"\nwhere = "age = {age}"\nprobability = "0.3"\n' for age in (0, 1))
    plan(workshop, f'[[query]]\nname = "Age"\nsource = "census"\nrows = 40\n{cells}', delta="1")
    release(workshop)
    plan(workshop, votes(20), delta="1")
    report = release(workshop)
    (asked,) = report["history"][0]["queries"]
    assert (asked["cells"], asked["size"], asked["gates"]) == ('first of: "age" = 0; "age" = 1', 40, None)
    workshop.assert_whole_report()


def test_a_later_report_is_verified_without_data_or_ledger(workshop, in_process):
    people(workshop, 100)
    plan(workshop, votes(30))
    release(workshop)
    plan(workshop, votes(20, probability=["0.3", "0.5"]), more="known_rows = 5")
    release(workshop)
    code, _, err = in_process("compose", workshop.json)
    assert (code, err) == (0, "")
    report = workshop.report
    report["guarantee"]["this_release"] = {"lower": 0.01, "upper": 0.01}
    workshop.json.write_text(json.dumps(report), encoding="utf-8")
    code, out, _ = in_process("compose", workshop.json)
    assert code == 1
    assert "guarantee.this_release is [0.01, 0.01], computed again" in " ".join(out.split())


# --- the target is about everything


def test_a_release_that_would_break_the_target_is_refused_before_content_is_read(workshop):
    people(workshop, 100)
    plan(workshop, votes(30), delta="0.04")
    release(workshop)
    message = refused(workshop, GuaranteeNotReachedError)
    assert "of everything released from this table, this release included, is 0.064" in message
    assert workshop.steps == ["ledger", "rows", "guarantee", "ids", "earlier releases"]
    assert not any("sha256" in sql for _, sql in workshop.queries)
    plan(workshop, votes(30), delta="0.3")
    assert release(workshop)["guarantee"]["holds"]


@pytest.mark.campaign  # alone it notices what a killed release costs
def test_a_refused_or_killed_release_costs_no_budget(workshop):
    people(workshop, 100)
    plan(workshop, votes(30))
    release(workshop)

    def fail(step):
        if step == "partition":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        workshop.release(force=True, on_step=fail)
    assert release(workshop)["guarantee"]["releases"] == 2


@pytest.mark.campaign  # alone it notices a refusal of later releases
def test_too_few_rows_are_left(workshop):
    people(workshop, 100)
    plan(workshop, votes(80))
    release(workshop)
    message = refused(workshop)
    assert message == (
        "the queries use 80 rows together, and earlier releases have left 20 of 100; "
        "give them fewer rows (no row answers twice)"
    )
    plan(workshop, votes(20))
    assert release(workshop)["ledger"]["rows_left"] == 0


@pytest.mark.campaign  # alone it notices known rows of earlier releases that are forgotten
def test_known_rows_count_in_every_release(workshop):
    people(workshop, 100)
    plan(workshop, votes(40))
    release(workshop)
    plan(workshop, votes(40), more="known_rows = 10")
    report = release(workshop)
    known = sp.Adversary(known=10)
    own = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(40), adversary=known).delta("0.1")
    assert report["history"][0]["delta"] == {"lower": own.lower, "upper": own.upper}


# --- edits


def test_edited_content_is_released_only_if_that_is_accepted(workshop, in_process):
    people(workshop, 60)
    plan(workshop, votes(20))
    assert release(workshop)["data"]["content_edited"] is False
    people(workshop, 60, edited={7})
    assert "--accept-edits" in refused(workshop)
    code, out, err = in_process(*workshop.arguments, "--accept-edits", "--force")
    assert (code, err) == (0, "")
    assert workshop.report["data"]["content_edited"] is True
    assert "for all 2 releases of this table together" in " ".join(out.split())
    assert release(workshop)["data"]["content_edited"] is False
    assert workshop.spent() == [20, 20, 20]
    assert [len(rows) for rows in spent_rows(workshop).values()] == [60]


def test_rows_join_only_a_table_whose_rows_are_as_they_were(workshop):
    people(workshop, 60)
    plan(workshop, votes(20))
    release(workshop)
    people(workshop, 80, edited={7})
    with pytest.raises(LedgerError, match="rows of this table were edited since it was released"):
        extend(workshop.folder / "plan.toml", registry=workshop.registry)
    assert extend(workshop.folder / "plan.toml", registry=workshop.registry, accept_edits=True).content_edited
    assert release(workshop)["data"]["content_edited"] is False
    people(workshop, 80, first=1)
    with pytest.raises(LedgerError, match="some rows of this table belong to one that was"):
        extend(workshop.folder / "plan.toml", registry=workshop.registry)


# --- rows that are known by their position


def test_a_table_without_ids_is_released_again_in_the_same_order(workshop):
    people(workshop, 60, ids=False)
    plan(workshop, votes(20), ids=False)
    release(workshop)
    assert release(workshop)["guarantee"]["releases"] == 2
    people(workshop, 60, ids=False, order=lambda rows: rows[::-1])
    assert "the same rows in another order" in refused(workshop)
    assert [len(rows) for rows in spent_rows(workshop).values()] == [40]


def test_without_ids_the_target_is_checked_for_every_table_that_it_may_be(workshop):
    """Only the content tells two tables of one length apart, and no refusal for the target comes after it was read."""
    people(workshop, 60, ids=False)
    plan(workshop, votes(20), ids=False, delta="0.05")
    release(workshop)
    people(workshop, 60, ids=False, edited={3})
    message = refused(workshop, GuaranteeNotReachedError)
    assert "the table names no row_id, so before its content is read it may be any with as many rows" in message
    assert not any("sha256" in sql for _, sql in workshop.queries)
    people(workshop, 61, ids=False)
    assert release(workshop)["guarantee"]["releases"] == 1
    plan(workshop, votes(20), ids=False)
    people(workshop, 60, ids=False, edited={3})
    assert release(workshop)["guarantee"]["releases"] == 1


def test_with_and_without_ids_is_one_table(workshop):
    people(workshop, 60)
    plan(workshop, votes(20))
    release(workshop)
    plan(workshop, votes(20), ids=False)
    assert "has the content of one that was" in refused(workshop)


def test_a_table_with_groups_is_released_once(workshop):
    workshop.table(["id", "sex", "vote"], [[f"p{i}", "fm"[i % 2], i % 3] for i in range(40)])
    stratified = (
        '[[query]]\nname = "votes"\nwhere = "vote = 0"\nprobability = {f = "1/3", m = "1/3"}\n'
        'source = "a public table"\nrows = {f = 5, m = 5}\n'
    )
    workshop.plan(stratified, more_data='row_id = "id"\ngroup = "sex"\ngroup_source = "census"')
    assert release(workshop)["guarantee"]["releases"] == 1
    assert "a table by group, in units or with several answers about the same rows is released once" in refused(
        workshop
    )
    workshop.plan(votes(10), more_data='row_id = "id"')
    assert "a table by group, in units or with several answers about the same rows is released once" in refused(
        workshop
    )


# --- publications outside


def test_publications_outside_are_not_added_up(workshop):
    people(workshop, 60)
    plan(workshop, votes(20))
    text = (workshop.folder / "plan.toml").read_text().replace('prior = "none"\n', "")
    (workshop.folder / "plan.toml").write_text(text + '[[prior]]\ndescription = "a table of 2020"\n')
    warnings = release(workshop)["warnings"]
    assert any("this ledger only" in text and "cannot be added up" in text for text in warnings)


# --- the commands


@pytest.fixture
def released(workshop):
    people(workshop, 60)
    plan(workshop, votes(20))
    workshop.release()
    return workshop


def test_the_ledger_is_shown_without_tokens_or_keys(released, in_process):
    people(released, 70)
    code, out, err = in_process("ledger", "extend", released.folder / "plan.toml", "--registry", released.registry)
    assert (code, out, err) == (0, "10 rows joined the 60 of data set 1.\n", "")
    code, out, err = in_process("ledger", "show", "--registry", released.registry)
    assert (code, err) == (0, "")
    assert "Data set 1: 70 rows, known by their ids; 20 used, 50 left" in out
    assert "10 rows joined after release 1 of it" in out
    assert "release 1  1 queries on 20 rows  plan " in out
    code, text, err = in_process("ledger", "show", "--json", "--registry", released.registry)
    (data_set,) = json.loads(text)["data_sets"]
    assert (data_set["rows"], data_set["rows_spent"], data_set["rows_left"]) == (70, 20, 50)
    assert data_set["cohorts"] == [{"rows": 60, "since_release": 1}, {"rows": 10, "since_release": 2}]
    assert data_set["releases"][0]["plan_sha256"] == released.report["plan"]["sha256"]
    key = json.loads((released.registry / "secret.json").read_text())["key"]
    with closing(sqlite3.connect(released.registry / "ledger.sqlite3")) as connection:
        blobs = [*connection.execute("SELECT tokens FROM token"), *connection.execute("SELECT spent FROM data_set")]
    secrets = [key, *(blob.hex() for (blob,) in blobs)]
    assert not any(secret in shown for secret in secrets for shown in (out, text))


def test_a_ledger_that_is_not_there_is_said_so(workshop, in_process):
    code, out, err = in_process("ledger", "show", "--registry", workshop.registry)
    assert (code, out) == (2, "")
    assert "there is no ledger; name another folder with --registry" in err


def test_the_secret_is_destroyed_only_when_that_is_confirmed(released, in_process):
    done = statpriv("ledger", "destroy-secret", "--registry", str(released.registry), stdin="n\n")
    assert done.returncode == 130
    assert "Destroy its secret? [y/N]" in done.stdout
    assert (released.registry / "secret.json").exists()
    code, out, _ = in_process("ledger", "destroy-secret", "--yes", "--registry", released.registry)
    assert (code, out.endswith("is destroyed.\n")) == (0, True)
    assert "its secret was destroyed on 20" in refused(released)
    code, out, _ = in_process("ledger", "show", "--registry", released.registry)
    assert code == 0
    assert "Its secret was destroyed on 20" in out


# --- the same people under other ids


def test_a_table_with_the_columns_of_a_released_one_and_other_rows_is_released_with_a_warning(workshop):
    """New ids and edited content make a new table, because no refusal may depend on how much content is alike."""
    people(workshop, 100)
    plan(workshop, votes(30))
    assert not named_alike(release(workshop))
    assert not named_alike(release(workshop))  # it continues the table: its history says so
    workshop.table(["age", "id", "vote"], [[i % 4, f"q{i}", i % 2] for i in range(100)])
    report = release(workshop)
    assert report["history"] == []
    assert named_alike(report) == [
        "A table with columns of the same names was released before (release 2 of this ledger), and by its rows this "
        "is another one. If it is about the same people under other ids, or in another order, they answer twice, and "
        "the guarantee does not cover that."
    ]
    assert "under other ids, or in another order" in workshop.page.read_text(encoding="utf-8")
    workshop.table(["id", "vote", "year"], [[f"r{i}", i % 2, i % 4] for i in range(100)])
    assert not named_alike(release(workshop))


def named_alike(report):
    return [warning for warning in report["warnings"] if "columns of the same names" in warning]
