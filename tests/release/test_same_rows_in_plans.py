"""Plans whose queries are all about the same rows, and plans whose rows hang together in units."""

from __future__ import annotations

import json
from math import nextafter

import pytest

import statpriv as sp
from statpriv.errors import GuaranteeNotReachedError, LedgerError, PlanError, TableError
from statpriv.files.composition import read_composition
from statpriv.releasing.report import render
from statpriv.rules.assumptions import EACH_GIVEN_THE_REST, EACH_GIVEN_THE_REST_OF_CLUSTER

from .conftest import toml

pytestmark = pytest.mark.usefixtures("computed_once")

COLUMNS = ["id", "home", "vote", "smoker", "age"]
IDS = 'row_id = "id"\n'
UNITS = IDS + 'unit = "home"\nunits = {}\nlargest_unit = {}\nunit_source = "register of homes"\n'


def people(workshop, n=60, *, in_homes_of=3):
    rows = [[f"p{i}", f"h{i // in_homes_of}", i % 2, "yn"[i % 3 == 0], 20 + i] for i in range(n)]
    workshop.table(COLUMNS, rows)
    return rows


def count(where, *, name="a count", probability=("0.2", "0.8"), each=True, more=""):
    """A query about all rows."""
    stated = f"name = {toml(name)}\nwhere = {toml(where)}\nprobability = {toml(list(probability))}\n"
    return f'[[query]]\n{stated}source = "a survey"\n' + ("each = true\n" if each else "") + more


VOTES, SMOKERS = count("vote = 0", name="votes"), count("smoker = 'y'", name="smokers", probability=("0.3", "0.9"))
GROWN = count("age < 30", name="grown")


def same(protects=None, *, more=""):
    said = "" if protects is None else f'protects = "{protects}"\n'
    return f'[publication]\nrows = "same"\n{said}{more}'


def plan(workshop, *queries, protects=None, data=IDS, steps="", **options):
    workshop.plan(*queries, more_data=data, more=same(protects, more=steps), **options)


def asked():
    return [
        sp.PropertyQuery(sp.EachBetween("0.2", "0.8"), attribute="a"),
        sp.PropertyQuery(sp.EachBetween("0.3", "0.9"), attribute="b"),
    ]


def refused(workshop, *queries, data=IDS, publication='rows = "same"'):
    people(workshop)
    workshop.plan(*queries, more_data=data, more=f"[publication]\n{publication}\n")
    with pytest.raises(PlanError) as refusal:
        workshop.release()
    workshop.assert_untouched()
    return str(refusal.value)


# --- the guarantee ---


@pytest.mark.parametrize("protects", ["attribute", "row"])
def test_the_guarantee_is_that_of_several_answers_about_the_same_rows(workshop, protects):
    people(workshop)
    plan(workshop, VOTES, SMOKERS, protects=protects, epsilon="1")
    contents = workshop.release().contents
    curve = sp.compose(asked(), sp.Population(60), sp.SameRows(protects=protects))
    assert contents["guarantee"]["delta"]["upper"] == curve.delta(1).upper
    assert contents["guarantee"]["protects"] == protects
    assert EACH_GIVEN_THE_REST in contents["guarantee"]["assumptions"]
    assert contents["guarantee"]["partition_known"] == contents["guarantee"]["delta"]


def test_without_a_word_the_whole_row_is_protected(workshop):
    people(workshop)
    plan(workshop, VOTES, SMOKERS)
    assert workshop.release().contents["guarantee"]["protects"] == "row"


def test_all_rows_answer_every_query_exactly_and_are_spent_once(workshop):
    rows = people(workshop)
    plan(workshop, VOTES, SMOKERS, count("vote = 0", name="votes again"))
    contents = workshop.release().contents
    truth = [sum(row[2] == 0 for row in rows), sum(row[3] == "y" for row in rows), sum(row[2] == 0 for row in rows)]
    assert [answer["count"] for answer in contents["answers"]] == truth
    assert {(answer["size"], answer["rmse"]) for answer in contents["answers"]} == {(60, 0)}
    for k, answer in zip(truth, contents["answers"], strict=True):
        low, high = answer["interval"]
        assert low <= k / 60 <= high <= nextafter(k / 60, 1)
    assert contents["release"]["rows_spent"] == 60
    assert contents["ledger"]["rows_left"] == 0
    assert workshop.spent() == [60]


def test_a_histogram_counts_as_one_attribute(workshop):
    people(workshop)
    cells = (
        '[[query]]\nname = "age"\nsource = "a survey"\neach = true\n'
        'cell = [{name = "young", where = "age < 30", probability = ["0.1", "0.4"]},'
        ' {name = "middle", where = "age < 60", probability = ["0.1", "0.4"]}]\n'
    )
    plan(workshop, VOTES, cells, protects="attribute", epsilon="2")
    contents = workshop.release().contents
    own = [sp.EachBetween("0.1", "0.4"), sp.EachBetween("0.1", "0.4"), sp.EachBetween("0.2", "0.8")]
    both = [asked()[0], sp.HistogramQuery(own, attribute="age")]
    curve = sp.compose(both, sp.Population(60), sp.SameRows(protects="attribute"))
    assert contents["guarantee"]["delta"]["upper"] == curve.delta(2).upper
    assert [answer["count"] for answer in contents["answers"]][1:] == [10, 30, 20]
    assert read_composition(workshop.json).disagreements == ()


def test_an_unreached_target_reads_no_answer_and_spends_nothing(workshop):
    people(workshop)
    plan(workshop, VOTES, SMOKERS, delta="0.0001")
    with pytest.raises(GuaranteeNotReachedError):
        workshop.release()
    workshop.assert_untouched()


def test_the_same_rows_answer_no_later_release_and_follow_none(workshop):
    people(workshop)
    parts = '[[query]]\nname = "v"\nwhere = "vote = 0"\nprobability = "1/2"\nsource = "s"\nrows = 9\n'
    plan(workshop, VOTES, SMOKERS)
    workshop.release(force=True)
    for again in (lambda: plan(workshop, VOTES), lambda: workshop.plan(parts, more_data=IDS)):
        again()
        with pytest.raises(LedgerError, match="several answers about the same rows is released once"):
            workshop.release(force=True)
    assert workshop.spent() == [60]


@pytest.mark.parametrize("data", [IDS, ""], ids=["ids", "positions"])
def test_a_table_that_was_released_in_parts_is_not_asked_as_a_whole(workshop, data):
    people(workshop)
    parts = '[[query]]\nname = "v"\nwhere = "vote = 0"\nprobability = "1/2"\nsource = "s"\nrows = 9\n'
    workshop.plan(parts, more_data=data)
    workshop.release(force=True)
    plan(workshop, VOTES, SMOKERS, data=data)
    with pytest.raises(LedgerError, match="is released once"):
        workshop.release(force=True)
    assert workshop.spent() == [9]


def test_two_tables_with_equal_counts_look_the_same(workshop):
    """Non-interference: other rows with the same counts give the same bytes."""
    outputs = []
    for step in (1, -1):
        rows = [[f"p{i}", "h", (i * step) % 2, "yn"[(i * step) % 3 == 0], 20] for i in range(60)]
        workshop.table(COLUMNS, rows)
        plan(workshop, VOTES, SMOKERS, steps="gate = true\nrounded_to = 5\n")
        workshop.release(seed=7, force=True)
        outputs.append((workshop.json.read_bytes(), workshop.page.read_bytes()))
        for path in workshop.registry.iterdir():
            path.unlink()
    assert outputs[0] == outputs[1]


# --- units ---


@pytest.mark.parametrize("protects", ["attribute", "row"])
def test_rows_that_hang_together_in_units_have_their_own_guarantee(workshop, protects):
    people(workshop, 300)
    plan(workshop, VOTES, SMOKERS, protects=protects, data=UNITS.format(100, 3), epsilon="1")
    contents = workshop.release().contents
    homes = sp.Population(300, clusters=100, largest_cluster=3)
    curve = sp.compose(asked(), homes, sp.SameRows(protects=protects))
    assert contents["guarantee"]["delta"]["upper"] == curve.delta(1).upper
    assert EACH_GIVEN_THE_REST_OF_CLUSTER in contents["guarantee"]["assumptions"]
    stated = {key: contents["data"][key] for key in ("units", "largest_unit", "unit_source")}
    assert stated == {"units": 100, "largest_unit": 3, "unit_source": "register of homes"}
    assert contents["composition"]["population"] == {"size": 300, "clusters": 100, "largest_cluster": 3}
    of_rows = [point["delta"] for point in contents["block"]]
    assert of_rows == [contents["guarantee"]["delta"]] * 2


def test_one_query_of_units_may_be_asked_of_a_secret_part(workshop):
    people(workshop, 300)
    workshop.plan(count("vote = 0", more='share = "1/2"\n'), more_data=UNITS.format(100, 3), epsilon="1")
    contents = workshop.release().contents
    homes = sp.Population(300, clusters=100, largest_cluster=3)
    assert contents["guarantee"]["delta"]["upper"] == sp.privacy_curve(asked()[0], homes).delta(1).upper
    # 150 rows are at least 50 homes, and whoever knows them has that many to hide a member.
    part = sp.privacy_curve(asked()[0], sp.Population(150, clusters=50, largest_cluster=3))
    assert contents["guarantee"]["partition_known"]["upper"] == part.delta(1).upper
    assert read_composition(workshop.json).disagreements == ()


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ((21, 3), "has 20 different values; the plan says units = 21"),
        ((19, 4), "has 20 different values; the plan says units = 19"),
        ((30, 2), "has 20 different values; the plan says units = 30"),
    ],
)
def test_units_that_are_not_those_of_the_plan_are_refused_before_content_is_read(workshop, stated, said):
    people(workshop)
    plan(workshop, VOTES, data=UNITS.format(*stated))
    with pytest.raises(TableError, match=said):
        workshop.release()
    assert "content" not in workshop.steps
    workshop.assert_untouched()


def test_a_larger_unit_than_the_plan_says_is_refused(workshop):
    rows = [[f"p{i}", f"h{max(i - 40, 0) // 2}", i % 2, "y", 20] for i in range(60)]
    workshop.table(COLUMNS, rows)
    plan(workshop, VOTES, data=UNITS.format(10, 40))
    with pytest.raises(TableError, match="has a value in 42 rows; the plan says largest_unit = 40"):
        workshop.release()
    workshop.assert_untouched()


def test_every_row_needs_a_unit(workshop):
    workshop.table(COLUMNS, [[f"p{i}", "" if i == 7 else f"h{i // 3}", i % 2, "y", 20] for i in range(60)])
    plan(workshop, VOTES, data=UNITS.format(20, 3))
    with pytest.raises(TableError, match='unit column "home" has no value in some row'):
        workshop.release()


def test_units_are_never_safer_than_rows_alone(workshop):
    people(workshop, 300)
    deltas = []
    for data in (IDS, UNITS.format(100, 3)):
        plan(workshop, VOTES, SMOKERS, data=data, epsilon="1")
        deltas.append(workshop.release(dry_run=True, force=True).contents["guarantee"]["delta"]["upper"])
    assert deltas[0] < deltas[1]


# --- refusals of plans ---


@pytest.mark.parametrize(
    ("queries", "data", "publication", "said"),
    [
        ([VOTES, count("smoker = 'y'", each=False)], IDS, 'rows = "same"', r"query[2] needs each = true"),
        ([count("vote = 0", more="rows = 9\n")], IDS, 'rows = "same"', "query[1] has rows, but [publication] rows"),
        ([count("vote = 0", more='share = "1/2"\n')], IDS, 'rows = "same"', "has share, but [publication] rows"),
        ([GROWN, count("age >= 60")], IDS, 'rows = "same"', 'both ask about the column "age"'),
        ([GROWN, count("AGE >= 60 OR vote = 0"), VOTES], IDS, 'rows = "same"', 'both ask about the column "age"'),
        ([VOTES], IDS, 'protects = "row"', 'has protects = "row", which is for several answers about the same rows'),
        ([VOTES], IDS, 'rows = "all"', "publication.rows"),
        ([VOTES], IDS, 'rows = "same"\nprotects = "person"', "publication.protects"),
        ([VOTES], IDS + 'group = "smoker"\ngroup_source = "x"', 'rows = "same"', "no rows are drawn within groups"),
        ([VOTES], IDS + "units = 20", 'rows = "same"', "not unit and largest_unit and unit_source"),
        ([VOTES], UNITS.format(70, 3), 'rows = "same"', "units = 70 units of 1 to 3 rows"),
        ([VOTES], UNITS.format(19, 3), 'rows = "same"', "19 units have 19 to 57 rows"),
        (
            [count("vote = 0", more="rows = 9\n"), count("smoker = 'y'", more="rows = 9\n")],
            UNITS.format(20, 3),
            "gate = true",
            'State [publication] rows = "same"',
        ),
        ([count("vote = 0", each=False, more="rows = 9\n")], UNITS.format(20, 3), "gate = true", "each = true"),
    ],
)
def test_what_no_theorem_is_about_is_refused_with_the_remedy(workshop, queries, data, publication, said):
    assert said in refused(workshop, *queries, data=data, publication=publication)


def test_an_exact_table_is_not_asked_beside_the_same_rows_or_of_units(workshop):
    table = '[[table]]\nname = "Votes"\nminimum = 5\n[table.dimensions]\nvote = [0, 1]\n'
    assert "table[1] needs probability, each = true and source" in refused(workshop, table)
    assert "rows hang together" in refused(workshop, table, data=UNITS.format(20, 3), publication="gate = true")


# --- the report ---


def test_the_page_says_who_answered_and_what_is_protected(workshop):
    people(workshop, 300)
    plan(workshop, VOTES, SMOKERS, protects="attribute")
    workshop.release()
    text = " ".join(render(workshop.report).split())
    assert "one attribute of one person’s row had another value" in text
    assert "Every row answered every query" in text
    assert "random part" not in text
    assert "partition secret" not in text.casefold()


def test_the_page_says_what_a_unit_is(workshop):
    people(workshop, 300)
    plan(workshop, VOTES, SMOKERS, data=UNITS.format(100, 3))
    workshop.release()
    text = " ".join(render(workshop.report).split())
    assert "the rows of one unit held other values" in text
    assert "in 100 units of at most 3 rows" in text
    assert "register of homes" in text


@pytest.mark.parametrize("data", [IDS, UNITS.format(20, 3)], ids=["rows", "units"])
def test_the_report_is_recomputed_without_data_and_a_changed_fact_is_named(workshop, data):
    people(workshop)
    plan(workshop, VOTES, SMOKERS, protects="row", data=data, steps="gate = true\nrounded_to = 5\n")
    workshop.release()
    assert read_composition(workshop.json).disagreements == ()
    changed = json.loads(workshop.json.read_text("utf-8"))
    changed["guarantee"]["protects"] = "attribute"
    workshop.json.write_text(json.dumps(changed), "utf-8")
    assert any("composition.same_rows" in found for found in read_composition(workshop.json).disagreements)
