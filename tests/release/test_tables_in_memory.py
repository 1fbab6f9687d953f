"""Tables in the memory of this process, and plans that are dicts: as files, without the files."""

# ruff: noqa: S608 - the tables of these tests
from __future__ import annotations

import json
import sys
from contextlib import closing
from decimal import Decimal
from fractions import Fraction

import pytest

import statpriv as sp
from statpriv.errors import GuaranteeNotReachedError, LedgerError, MissingExtraError, PlanError, TableError
from statpriv.releasing.plan_file import load_plan

from .conftest import Frame, query

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CANARY = "cell7391"
ROWS = [(i, f"n{i % 7}", i % 2 == 0, i % 3) for i in range(60)]
COLUMNS = ["id", "name", "smokes", "visits"]


def people(rows=ROWS):
    """The table with these rows; nothing is unknown."""
    values = ", ".join(f"({i}, '{name}', {smokes}, {visits})" for i, name, smokes, visits in rows)
    return Frame(f"SELECT * FROM (VALUES {values}) AS t({', '.join(COLUMNS)})")


@pytest.fixture
def planned(workshop):
    """A plan of a file that is not there."""
    workshop.plan(
        query("smokes = TRUE", rows=20), query("visits >= 1", rows=30, probability=("0.6", "0.7")),
        more_data='row_id = "id"',
    )  # fmt: skip
    return workshop


def as_dict(workshop):
    return tomllib.loads((workshop.folder / "plan.toml").read_text(encoding="utf-8"))


def test_a_data_frame_is_counted_as_the_same_table_in_a_file(planned):
    frame = people()
    of_frame = planned.release(seed=5, data=frame).contents
    path = planned.folder / "same.parquet"
    with closing(frame.engine.cursor()) as connection:
        connection.execute(f"COPY ({frame.select}) TO '{path}' (FORMAT parquet)")
    (planned.folder / "registry").rename(planned.folder / "other registry")
    of_file = planned.release(seed=5, data=path, force=True).contents
    assert of_frame["data"].pop("source") == "data frame"
    of_file["data"].pop("source")
    unlike = {key for key in of_frame if of_frame[key] != of_file[key]}
    assert unlike <= {"release"}
    assert of_frame["release"].keys() == of_file["release"].keys()


@pytest.mark.campaign  # alone it notices an id with another form
def test_the_rows_are_recognised_in_another_form(planned):
    planned.release(data=people())
    planned.table(COLUMNS, [(i, name, str(smokes).lower(), visits) for i, name, smokes, visits in ROWS])
    with pytest.raises(LedgerError, match="earlier releases have left 10 of 60"):
        planned.release(force=True)


def test_a_plan_may_be_a_dict(planned, tmp_path):
    of_file = planned.release(seed=3, data=people()).contents
    plan = as_dict(planned)
    loaded, other = load_plan(plan, data=people()), load_plan(planned.folder / "plan.toml", data=people())
    assert loaded.sha256 != other.sha256
    assert (loaded.queries, loaded.guarantee, loaded.data) == (other.queries, other.guarantee, other.data)
    del plan["data"]["source"]
    report = sp.release(plan, data=people(), registry=tmp_path / "another registry")
    assert report.contents["guarantee"] == of_file["guarantee"]


def test_numbers_of_a_dict_are_those_that_print():
    plan = {
        "prior": "none",
        "data": {},
        "guarantee": {"epsilon": 0.1, "delta": Decimal("0.5")},
        "query": [{"name": "a", "where": "x = 1", "probability": [0.3, Fraction(1, 2)], "source": "polls", "rows": 5}],
    }
    loaded = load_plan(plan, data=people())
    assert (loaded.guarantee.epsilon, loaded.guarantee.delta) == (Fraction(1, 10), Fraction(1, 2))
    assert loaded.queries[0].probability == (Fraction(3, 10), Fraction(1, 2))
    assert load_plan(dict(reversed(plan.items())), data=people()).sha256 == loaded.sha256


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"query": None}, "plan.query is of the type NoneType; a plan holds dicts, lists, texts, numbers"),
        ({"query": [{"name": {1}}]}, r"plan.query\[1\].name is of the type set"),
        ({3: 4}, "plan has the key 3; keys of a plan are texts"),
        ({"guarantee": {"epsilon": float("nan"), "delta": 0.5}}, "guarantee.epsilon"),
        ({"relase": {}}, "plan: 1 mistake"),
        ({"data": "people.csv"}, "plan: 1 mistake"),
    ],
)
def test_a_mistake_of_a_dict_is_told_by_its_place(planned, change, sentence):
    with pytest.raises(PlanError, match=sentence):
        load_plan({**as_dict(planned), **change}, data=people())


def test_what_is_no_plan_is_refused():
    for plan in (3, None, ["a"]):
        with pytest.raises(PlanError, match=f"plan is of the type {type(plan).__name__}; the path of a plan file"):
            load_plan(plan, data=people())
    endless = {"data": {}}
    endless["query"] = [endless]
    with pytest.raises(PlanError, match="nested too deeply for a plan"):
        load_plan(endless, data=people())


@pytest.mark.parametrize("data", [3, {"id": [1]}, [1, 2], object()])
def test_what_is_neither_a_path_nor_a_table_is_refused(planned, data):
    with pytest.raises(PlanError, match=f"data is of the type {type(data).__name__}; a path is required, or a table"):
        load_plan(planned.folder / "plan.toml", data=data)


def test_nothing_is_read_before_the_guarantee_and_nothing_after_the_copy(planned):
    planned.release(data=people(), dry_run=True)
    assert not any("given" in sql and "count(*)" not in sql and "DESCRIBE" not in sql for _, sql in planned.queries)
    planned.release(data=people(), force=True)
    assert [sql for step, sql in planned.queries if "given" in sql and step in ("predicates", "report")] == []


@pytest.mark.campaign  # alone it notices the order of steps for tables in memory
def test_a_target_that_is_missed_is_refused_before_content_is_read(workshop):
    workshop.plan(query("smokes = TRUE", rows=20), delta="0.0001", more_data='row_id = "id"')
    with pytest.raises(GuaranteeNotReachedError):
        workshop.release(data=people())
    workshop.assert_untouched()


class Broken(Frame):
    """Columns that cannot be handed over; the message of who tried quotes a cell."""

    def __init__(self, error):
        super().__init__("SELECT 1 AS id")
        self.error = error

    def __arrow_c_stream__(self, requested_schema=None):
        raise self.error(f"could not convert {CANARY}")


class Once(Frame):
    """A stream that is read but once."""

    def __arrow_c_stream__(self, requested_schema=None):
        stream = super().__arrow_c_stream__(requested_schema)
        if self.asked > 2:
            raise ValueError(CANARY)
        return stream


@pytest.mark.parametrize("frame", [Broken(TypeError), Broken(ValueError), Once(people().select)])
def test_what_cannot_be_read_is_refused_without_quoting_it(planned, frame):
    with pytest.raises(TableError, match='data "data frame": its columns cannot be read as Arrow') as refused:
        planned.release(data=frame)
    assert CANARY not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None
    planned.assert_untouched()


def test_a_table_without_rows_and_a_missing_column(planned):
    with pytest.raises(TableError, match='data "data frame": it has no rows'):
        planned.release(data=Frame(f"SELECT * FROM ({people().select}) WHERE id < 0"))
    with pytest.raises(TableError, match="visits"):
        planned.release(data=Frame("SELECT 1 AS id, true AS smokes"))


@pytest.mark.campaign  # The libraries themselves, whose types are theirs.
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_real_libraries(planned, library):
    columns = {name: list(values) for name, values in zip(COLUMNS, zip(*ROWS, strict=True), strict=True)}
    module = pytest.importorskip(library)
    pytest.importorskip("pyarrow")
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    expected = planned.release(seed=5, data=people()).contents
    (planned.folder / "registry").rename(planned.folder / "other registry")
    found = planned.release(seed=5, data=frame, force=True).contents
    assert json.dumps(found["answers"]) == json.dumps(expected["answers"])
    assert found["data"] == expected["data"]


@pytest.mark.campaign  # A column of pandas whose cells are of several types.
def test_a_mixed_column_of_pandas_is_refused(planned):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    mixed = pandas.DataFrame({"id": [1, 2], "smokes": [True, CANARY], "visits": [1, 2]})
    with pytest.raises(TableError, match="each needs one type for all its values") as refused:
        planned.release(data=mixed)
    assert CANARY not in str(refused.value)


# --- files of SPSS, Stata and SAS


@pytest.fixture
def survey(planned):
    """A file of SPSS with the people; its columns are doubles, by their formats whole."""
    polars, pyreadstat = pytest.importorskip("polars"), pytest.importorskip("pyreadstat")

    def written(name="survey.sav", **changed):
        columns = {column: [row[k] for row in ROWS] for k, column in enumerate(COLUMNS)}
        columns["smokes"] = [float(smokes) for smokes in columns["smokes"]]
        frame = polars.DataFrame({**columns, **changed}, strict=False)
        labels = {"smokes": {1: "yes", 0: "no"}}
        if name.endswith(".dta"):
            whole = frame.with_columns(polars.col("id", "visits").cast(polars.Int32))
            pyreadstat.write_dta(whole, planned.folder / name, variable_value_labels=labels)
        else:
            formats = {"id": "F8.0", "visits": "F2.0"}
            pyreadstat.write_sav(frame, planned.folder / name, variable_value_labels=labels, variable_format=formats)
        return planned.folder / name

    planned.plan(query("smokes = 1", rows=20), query("visits >= 1", rows=30), more_data='row_id = "id"')
    return written


@pytest.mark.campaign  # pyreadstat and polars, which tests of every change do without.
@pytest.mark.parametrize("name", ["survey.sav", "survey.dta"])
def test_a_labelled_file_is_counted_by_its_codes(planned, survey, name):
    codes = [(i, person, int(smokes), visits) for i, person, smokes, visits in ROWS]
    expected = planned.release(seed=5, data=people(codes)).contents
    (planned.folder / "registry").rename(planned.folder / "other registry")
    found = planned.release(seed=5, data=survey(name), force=True).contents
    assert found["answers"] == expected["answers"]


@pytest.mark.campaign  # As above.
def test_a_labelled_file_that_contradicts_its_formats_is_refused(planned, survey):
    path = survey(visits=[0.5, *(row[3] for row in ROWS[1:])])
    with pytest.raises(TableError, match='the column "visits" has no decimals by its format or its labels'):
        planned.release(data=path)
    path.write_bytes(b"$FL2 no file of SPSS")
    with pytest.raises(TableError, match="it cannot be read as a file of SPSS, Stata or SAS"):
        planned.release(data=path)


def test_a_labelled_file_needs_its_extra(planned, monkeypatch):
    for module in ("pyreadstat", "polars"):
        monkeypatch.setitem(sys.modules, module, None)
    path = planned.folder / "survey.sav"
    path.write_bytes(b"$FL2")
    with pytest.raises(MissingExtraError, match=r"pip install 'statpriv\[labelled\]'"):
        planned.release(data=path)
