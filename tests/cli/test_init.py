"""`statpriv init` writes a plan from the names of columns, and from nothing else of a table."""

from __future__ import annotations

import duckdb
import pytest

from statpriv.errors import PlanError
from statpriv.releasing.plan_file import load_plan

NAMES = ["id", "smoker", 'a "b", c', "é\\d", "#x"]


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    header = ",".join('"' + name.replace('"', '""') + '"' for name in NAMES)
    (tmp_path / "people.csv").write_text(f"{header}\n1,confidential,2,3,4\n", encoding="utf-8")
    return tmp_path


def stated(plan):
    """The plan with every commented key stated, as somebody would who fills it in."""
    text = plan.read_text(encoding="utf-8")
    for key in ('row_id = "', "[[query]]", "name = ", "where = ", "probability = ", "source = ", "share = "):
        text = text.replace(f"# {key}", key, 1)
    return text.replace('\nsource = "…" ', '\nsource = "a book" ')


def test_the_plan_is_complete_but_for_what_only_its_author_knows(run, people):
    done = run("init", "people.csv", "--out", "release.toml")
    assert (done.exit_code, done.stderr) == (0, "")
    with pytest.raises(PlanError, match="query is missing"):
        load_plan("release.toml")
    (people / "release.toml").write_text(stated(people / "release.toml"), encoding="utf-8")
    plan = load_plan("release.toml")
    assert plan.data.path == people / "people.csv"
    assert plan.data.row_id == "id"
    assert plan.queries[0].predicate.canonical == "\"#x\" = '…'"


def test_every_column_has_a_place_for_its_codes(run, people):
    text = run("init", "people.csv").stdout
    columns, _, _ = text.partition("[data.columns]\n")[2].partition("# or, for numbers")
    (people / "release.toml").write_text(
        text.replace(columns, columns.replace("# ", "").replace('["…", "…"]', '["yes", "no"]')).replace("'…'", "'no'"),
        encoding="utf-8",
    )
    (people / "release.toml").write_text(stated(people / "release.toml"), encoding="utf-8")
    assert load_plan("release.toml").queries


def test_the_column_that_identifies_rows_is_no_dimension(run, people):
    for arguments, named in ((["--row-id", "smoker"], '# "id" = ["…", "*"]'), ([], '# "smoker" = ["…", "*"]')):
        assert f"# [table.dimensions]\n{named}" in run("init", "people.csv", *arguments).stdout


def test_no_value_is_read(run, people):
    printed = run("init", "people.csv").stdout
    assert "confidential" not in printed
    (people / "people.csv").write_text((people / "people.csv").read_text().replace("confidential", "other"))
    assert run("init", "people.csv").stdout == printed


def test_the_source_is_named_from_the_folder_of_the_plan(run, people):
    (people / "plans").mkdir()
    assert run("init", "people.csv", "--out", "plans/release.toml").exit_code == 0
    assert 'source = "../people.csv"' in (people / "plans" / "release.toml").read_text(encoding="utf-8")


def test_a_table_of_a_duckdb_file_is_named(run, people):
    with duckdb.connect("survey.duckdb") as connection:
        connection.execute("CREATE TABLE people (person INTEGER, vote INTEGER)")
    text = run("init", "survey.duckdb", "--table", "people").stdout
    assert 'source = "survey.duckdb"\ntable = "people"\n# row_id = "person"' in text


def test_a_plan_that_exists_is_replaced_only_by_force(run, people):
    (people / "release.toml").write_text("mine")
    refused = run("init", "people.csv", "--out", "release.toml")
    assert refused.exit_code == 2
    assert "it exists; choose another name or say --force" in refused.stderr
    assert (people / "release.toml").read_text() == "mine"
    assert run("init", "people.csv", "--out", "release.toml", "--force").exit_code == 0
    forced = run("init", "people.csv", "--out", "people.csv", "--force")
    assert forced.exit_code == 2
    assert (people / "people.csv").read_text(encoding="utf-8").endswith("1,confidential,2,3,4\n")


def test_a_missing_table_is_refused(run, people):
    refused = run("init", "nobody.csv")
    assert refused.exit_code == 2
    assert 'data "nobody.csv": there is no such file' in refused.stderr
