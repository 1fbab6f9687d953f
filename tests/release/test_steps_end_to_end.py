"""Whole releases with gates, suppression, rounding, histograms and groups: reports say what was published, no more."""

from __future__ import annotations

import pytest

from statpriv.errors import GuaranteeNotReachedError, PlanError, TableError
from statpriv.releasing.report import render

from .conftest import labels, labels_in_strata, query

pytestmark = pytest.mark.usefixtures("computed_once")

ROWS = [(f"p{k}", "f" if k % 5 < 3 else "m", k % 4, k % 7) for k in range(120)]
GATED = "[publication]\ngate = true\n"


@pytest.fixture
def people(workshop):
    workshop.table(["id", "sex", "vote", "age"], ROWS)
    return workshop


def answered(workshop, *queries, publication="", **plan):
    """The answers of a release of these queries with seed 7, and the labels that it drew."""
    workshop.plan(*queries, more_data='row_id = "id"', more=publication, **plan)
    workshop.release(seed=7)
    return workshop.report["answers"]


def count_of(part, holds, sizes):
    return sum(
        label == part and holds(row)
        for row, label in zip(ROWS, labels([row[0] for row in ROWS], sizes, 7), strict=True)
    )


def test_a_count_inside_its_gate_is_published_exactly(people):
    (answer,) = answered(people, query("vote = 0", rows=60, probability=("0.2", "0.3")), publication=GATED)
    assert answer["count"] == count_of(1, lambda row: row[2] == 0, [60])
    assert not answer["withheld"]
    assert people.report["queries"][0]["publication"]["gate"] == {"lower": 3, "upper": 28}


def test_a_count_outside_its_gate_is_withheld_and_its_rows_stay_spent(people):
    wrong = query("vote >= 0", rows=60)
    answer, other = answered(people, wrong, query("vote = 0", rows=30, probability=("0.2", "0.3")), publication=GATED)
    assert (answer["withheld"], answer["suppressed"]) == (True, False)
    assert [answer[key] for key in ("count", "proportion", "rmse", "interval")] == [None] * 4
    assert not answer["contradicts_range"]
    assert other["count"] is not None
    assert people.spent() == [90]
    assert people.report["release"]["rows_spent"] == 90
    people.assert_whole_report()


def test_withheld_answers_look_alike_whatever_they_were(people, tmp_path):
    """One plan on two tables: in one everybody has the property that half were said to have, in the other nobody."""
    pages = []
    for value in (0, 9):
        folder = tmp_path / str(value)
        folder.mkdir()
        other = type(people)(folder)
        other.table(["id", "sex", "vote", "age"], [(i, s, value, a) for i, s, _, a in ROWS])
        answered(other, query("vote = 0", rows=60), publication=GATED)
        pages.append((other.json.read_bytes(), other.page.read_bytes()))
    assert pages[0] == pages[1]


def test_small_counts_are_suppressed_and_others_rounded(people):
    preset = '[publication]\npreset = "rounded to 5, suppressed below 10"\n'
    few, many = answered(
        people,
        query("vote = 0 AND age = 0", rows=50, probability=("0.02", "0.08")),
        query("vote <= 1", rows=60),
        publication=preset,
    )
    exact = count_of(2, lambda row: row[2] <= 1, [50, 60])
    assert few == {**few, "count": None, "suppressed": True, "withheld": False, "interval": None}
    assert many["count"] == 5 * ((exact + 2) // 5)
    low, high = many["interval"]
    assert low <= exact / 60 <= high


def test_a_rounded_count_contradicts_its_range_only_if_all_counts_behind_it_do(people):
    (answer,) = answered(people, query("vote >= 0", rows=60), publication="[publication]\nrounded_to = 5\n")
    assert answer["contradicts_range"]
    assert "contradicts its declared probability" in people.report["warnings"][-1]


HISTOGRAM = """
[[query]]
name = "Votes"
source = "a public table"
rows = 60
[[query.cell]]
name = "none"
where = "vote = 0"
probability = "0.25"
[[query.cell]]
name = "few"
where = "vote <= 1"
probability = "0.25"
"""


def test_a_histogram_counts_the_first_cell_that_holds_and_the_rest(people):
    answers = answered(people, HISTOGRAM)
    expected = [count_of(1, lambda row, cell=cell: min(row[2], 2) == cell, [60]) for cell in range(3)]
    assert [answer["count"] for answer in answers] == expected
    assert [answer["cell"] for answer in answers] == ["none", "few", "none of these"]
    assert sum(expected) == 60
    (asked,) = people.report["queries"]
    assert [cell["probability"]["lower"] for cell in asked["cells"]] == ["0.25", "0.25", "0.5"]
    people.assert_whole_report()


@pytest.mark.campaign  # twenty seconds: alone notices a cell that is published beside one outside its gate
def test_one_cell_outside_withholds_all(people):
    wrong = HISTOGRAM.replace("vote <= 1", "vote <= 9")
    answers = answered(people, wrong, publication=GATED)
    assert [(answer["count"], answer["withheld"]) for answer in answers] == [(None, True)] * 3


def stratified(**keys):
    return query("vote = 0", rows=1, **keys).replace("rows = 1", "rows = {f = 36, m = 24}")


def test_a_stratified_part_has_the_stated_rows_of_each_group(people):
    people.plan(
        stratified(probability=("0.2", "0.3")), more_data='row_id = "id"\ngroup = "sex"\ngroup_source = "census"'
    )
    people.release(seed=7)
    report = people.report
    drawn = labels_in_strata([row[0] for row in ROWS], [[36], [24]], [1 + (row[1] == "m") for row in ROWS], 7)
    assert report["answers"][0]["count"] == sum(
        label == 1 and row[2] == 0 for row, label in zip(ROWS, drawn, strict=True)
    )
    assert [(group["group"], group["size"]) for group in report["queries"][0]["groups"]] == [("f", 36), ("m", 24)]
    assert report["data"]["group"] == "sex"
    assert report["composition"]["population"] == {"f": 72, "m": 48}
    low, high = report["answers"][0]["interval"]
    assert low <= 0.25 <= high
    people.assert_whole_report()


def test_groups_are_refused_before_anything_is_spent(people):
    people.plan(
        query("vote = 0", share="1/2").replace('["0.4", "0.6"]', '{f = "0.5", x = "0.5"}'),
        more_data='row_id = "id"\ngroup = "sex"\ngroup_source = "census"',
    )
    with pytest.raises(PlanError, match=r'probability names the groups "f", "x"; the table has "f", "m"'):
        people.release()
    people.assert_untouched()


def test_a_row_without_a_group_is_refused(people):
    people.parquet(
        "SELECT 'p' || k AS id, CASE WHEN k = 3 THEN NULL ELSE 'f' END AS sex, k % 4 AS vote FROM range(120) AS rows(k)"
    )
    people.plan(
        query("vote = 0", share="1/2"),
        data="people.parquet",
        more_data='row_id = "id"\ngroup = "sex"\ngroup_source = "census"',
    )
    with pytest.raises(TableError, match=r'the group column "sex" has no value in some row'):
        people.release()
    people.assert_untouched()


def test_repeated_persons_are_refused(people):
    people.table(["id", "person", "vote"], [(k, "same" if k < 2 else k, k % 4) for k in range(120)])
    people.plan(query("vote = 0", rows=60), more_data='row_id = "id"\nunit = "person"')
    with pytest.raises(TableError, match="unit"):
        people.release()
    people.assert_untouched()


def test_a_gated_plan_that_does_not_reach_its_target_is_refused_before_content_is_read(people):
    people.plan(query("vote = 0", rows=60), more_data='row_id = "id"', more=GATED, delta="0.0001")
    with pytest.raises(GuaranteeNotReachedError):
        people.release()
    assert not any("vote" in sql for _, sql in people.queries)
    people.assert_untouched()


def test_the_page_is_made_again_from_the_report(people):
    answered(people, query("vote >= 0", rows=60), HISTOGRAM.replace("rows = 60", "rows = 50"), publication=GATED)
    contents = {key: value for key, value in people.report.items() if key != "html_sha256"}
    assert render(contents).encode() == people.page.read_bytes()
