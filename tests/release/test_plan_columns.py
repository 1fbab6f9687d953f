"""Constants of a plan that no row can have are refused before any data are opened."""

from __future__ import annotations

import pytest

from statpriv.errors import PlanError
from statpriv.releasing.plan_file import load_plan

HEAD = """
prior = "none"
[data]
source = "missing.csv"
[data.columns]
smoker = ["yes", "no", "unknown"]
Age = {{ range = [0, 120], codes = [999], source = "codebook of 2021" }}
sex = [1, 2]
score = [0.5, 10, -3]
retired = [true, false]
{columns}
[guarantee]
epsilon = 0.1
delta = 0.5
"""
QUERY = """
[[query]]
name = "a count"
where = "{where}"
probability = ["0.4", "0.6"]
source = "made up"
share = "1/2"
"""
TABLE = """
[[table]]
name = "a table"
minimum = 5
share = "1/2"
[table.dimensions]
sex = [1, 2]
{dimension}
"""


@pytest.fixture
def plan(tmp_path):
    def loaded(*tables, columns=""):
        path = tmp_path / "plan.toml"
        path.write_text(HEAD.format(columns=columns) + "".join(tables), encoding="utf-8")
        return load_plan(path)

    return loaded


def where(condition):
    return QUERY.format(where=condition)


@pytest.mark.parametrize(
    "condition",
    [
        "smoker = 'yes' OR smoker IN ('no', 'unknown')",
        "SMOKER <> 'no'",
        "smoker LIKE 'y%' OR smoker NOT LIKE '_o'",
        "age >= 18 AND age < 120 OR age = 999 OR age = 0.0",
        "NOT age BETWEEN 0 AND 64.5",
        "sex = 1.0 OR sex < 2",
        "score = 0.50 OR score >= -3",
        "retired IS TRUE OR retired = FALSE",
        "smoker IS NULL AND age IS NOT NULL",
        "undeclared = 'anything'",
        "smoker > 'm'",
    ],
)
def test_constants_that_a_row_may_have_are_accepted(plan, condition):
    assert plan(where(condition)).queries[0].predicate.text == condition


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        (
            "smoker = 'Yes'",
            "query[1].where: smoker is never 'Yes': data.columns lists 'yes', 'no', 'unknown'; did you mean 'yes'?",
        ),
        ("Smoker NOT IN ('no', 'yess')", "Smoker is never 'yess' … ; did you mean 'yes'"),
        ("smoker LIKE 'Y%'", "no code of smoker is like 'Y%'"),
        ("smoker = 1", "smoker is compared with the number 1, and data.columns lists 'yes', 'no', 'unknown'"),
        ("age = 130", "age is never 130: data.columns lists 999 and states 0 to 120"),
        ("NOT age < 650", "age never reaches 650"),
        ("age BETWEEN -1 AND 20", "age never reaches -1"),
        ("sex = 3", "sex is never 3: data.columns lists 1, 2"),
        ("sex >= 3", "sex never reaches 3"),
        (
            "sex = '1'",
            "sex is compared with the text '1', and data.columns lists 1, 2; did you mean 1, without quotes?",
        ),
        ("retired = 1", "retired is compared with the number 1, and data.columns lists TRUE, FALSE"),
        (
            "age = '30'",
            "age is compared with the text '30', and data.columns lists 999 and states 0 to 120; did you mean 30, "
            "without quotes?",
        ),
        ("sex = 1 OR (smoker = 'yes' AND NOT sex = 4)", "sex is never 4"),
    ],
)
def test_a_constant_that_no_row_has_is_refused_with_the_codes(plan, condition, told):
    with pytest.raises(PlanError) as refused:
        plan(where(condition))
    first, line = str(refused.value).splitlines()
    assert first == "plan.toml: 1 mistake"
    assert all(part in line for part in told.split(" … "))


def test_a_code_that_is_nothing_like_it_is_not_suggested(plan):
    with pytest.raises(PlanError, match=r"smoker is never 'never': data\.columns lists 'yes', 'no', 'unknown'$"):
        plan(where("smoker = 'never'"))


def test_all_mistakes_are_told_at_once_and_each_once(plan):
    cells = """
[[query]]
name = "Votes"
source = "a table"
share = "1/4"
[[query.cell]]
name = "one"
where = "sex = 7"
probability = "0.25"
[[query.cell]]
name = "two"
where = "sex = 1 OR sex = 8 AND sex = 8"
probability = "0.25"
"""
    with pytest.raises(PlanError) as refused:
        plan(where("smoker = 'Yes'"), cells)
    assert [line.split(":")[0].strip() for line in str(refused.value).splitlines()] == [
        "plan.toml",
        "query[1].where",
        "query[2].cell[1].where",
        "query[2].cell[2].where",
    ]


def test_categories_of_a_table_are_codes_and_all_codes_have_one(plan):
    assert plan(TABLE.format(dimension='smoker = ["yes", "*"]'))
    assert plan(TABLE.format(dimension='age = { breaks = [30, 60], labels = ["a", "b", "c"] }'))
    with pytest.raises(PlanError, match=r"table\[1\]\.dimensions\.smoker: smoker is never 'Yes'.*did you mean 'yes'"):
        plan(TABLE.format(dimension='smoker = ["Yes", "*"]'))
    with pytest.raises(PlanError, match=r"dimensions\.smoker: no category holds 'unknown', which data\.columns lists"):
        plan(TABLE.format(dimension='smoker = ["yes", "no"]'))
    with pytest.raises(PlanError, match=r"dimensions\.age: age never reaches 600"):
        plan(TABLE.format(dimension='age = { breaks = [30, 600], labels = ["a", "b", "c"] }'))


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ("a = []", "codes must be a list of 1 to 10000"),
        ("a = [1, 1.0]", "lists the code 1 twice"),
        ('a = ["…", "…"]', "holds the placeholder …: state the codes"),
        ("a = [[1]]", "each code must be a text in quotes"),
        ("a = [1e-30]", "each number may have at most 18 digits"),
        ("a = [inf]", "must be a number"),
        ("a = 3", "must be a list of codes"),
        ("a = {}", "must be a list of codes"),
        ('a = { source = "a book" }', "must be a list of codes"),
        ("a = { codes = [1], values = [2] }", "must be a list of codes"),
        ("a = { range = [2, 1] }", "range must be two numbers in order"),
        ("a = { range = [1] }", "range must be two numbers in order"),
        ('a = { range = ["x", "y"] }', "range must be two numbers in order"),
        ('a = { codes = [1], source = "" }', "source must be a text of 1 to 1000 characters"),
    ],
)
def test_codes_that_are_none_are_refused(plan, columns, told):
    with pytest.raises(PlanError, match=rf"data\.columns\.a .*{told}"):
        plan(where("sex = 1"), columns=columns)


def test_two_declarations_of_a_column_are_refused(plan):
    with pytest.raises(PlanError, match=r"data\.columns.*\"smoker\" and \"SMOKER\" differ only in case"):
        plan(where("sex = 1"), columns='SMOKER = ["a"]')


def test_nothing_is_read_for_the_comparison(plan):
    """The source of these plans does not exist."""
    assert not plan(where("sex = 1")).data.path.exists()
