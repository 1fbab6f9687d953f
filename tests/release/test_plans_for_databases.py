"""A plan is begun for a table of a database, by the command and by the studio, and released."""

import time

import pytest

from statpriv.errors import ArgumentError, PlanError
from statpriv.releasing.plan_file import load_plan
from statpriv.studio.folder import Folder
from statpriv.studio.releases import Releases

from ..command_line import in_this_process as run

pytest.importorskip("statpriv.releasing.tables.postgresql", exc_type=ImportError)
pytestmark = pytest.mark.xdist_group("postgresql")

COUNT = """
[[query]]
name = "Smokers"
where = "smoker = 'yes'"
probability = ["0.2", "0.6"]
source = "a survey"
share = "1/2"
"""
TABLE = "public.visitors"


@pytest.fixture
def visitors(postgresql):
    rows = ", ".join(f"('p{i}', '{'yes' if i % 3 else 'no'}')" for i in range(100))
    postgresql.execute(
        "DROP TABLE IF EXISTS visitors",
        "CREATE TABLE visitors (person text, smoker text)",
        f"INSERT INTO visitors VALUES {rows}",  # noqa: S608 - of the tests
    )
    yield postgresql.url
    postgresql.execute("DROP TABLE visitors")


def test_the_command_writes_a_plan_that_names_the_table_and_its_ids(visitors, tmp_path):
    plan = tmp_path / "plan.toml"
    done = run("init", visitors, "--table", TABLE, "--row-id", "person", "--out", str(plan))
    assert (done.exit_code, done.stderr) == (0, "")
    text = plan.read_text("utf-8")
    assert f'source = "{visitors}"\ntable = "{TABLE}"\nrow_id = "person"\n' in text
    assert '# "smoker" = ["…", "…"]' in text
    assert "yes" not in text
    plan.write_text(text + COUNT, "utf-8")
    assert load_plan(plan).data.database == visitors


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--table", TABLE], "data: needs row_id: in PostgreSQL rows have no order that could identify them"),
        (["--row-id", "person"], 'data: with engine = "postgresql" needs source'),
        (["--table", "public.nobody", "--row-id", "person"], "public.nobody"),
    ],
)
def test_what_is_missing_is_said_in_the_words_of_a_plan(visitors, arguments, sentence):
    refused = run("init", visitors, *arguments)
    assert refused.exit_code == 2
    assert sentence in " ".join(refused.stderr.split())


def test_an_address_with_a_password_is_refused_and_not_quoted():
    refused = run("init", "postgresql://me:secret123@host/data", "--table", "t", "--row-id", "id")
    assert refused.exit_code == 2
    assert "the URL holds a password" in refused.stderr
    assert "secret123" not in refused.stderr


def test_the_studio_releases_tables_of_the_database_that_it_was_started_with(visitors, tmp_path):
    folder = Folder(tmp_path, visitors)
    source = folder.described({"source": visitors, "table": TABLE, "row_id": "person"})
    assert (source.database, source.label) == (visitors, TABLE)
    head = f'prior = "none"\n[data]\nsource = "{visitors}"\ntable = "{TABLE}"\nrow_id = "person"\n'
    plan = folder.write("plan.toml", head + "[guarantee]\nepsilon = 0.5\ndelta = 0.9\n" + COUNT, replace=False)
    releases = Releases(folder, tmp_path / "registry")
    assert releases.guarantee(plan).rows == 100
    job = releases.confirmed(releases.offered(plan))
    while not job.is_over:
        time.sleep(0.05)
    assert job.failure is None
    assert job.report is not None
    assert job.report.contents["data"]["rows"] == 100
    with pytest.raises(ArgumentError, match="is not in this folder"):
        Releases(Folder(tmp_path), tmp_path / "registry").guarantee(plan)


@pytest.mark.parametrize("address", ["people.csv", "postgresql://me:secret123@host/data", "mysql://host/data"])
def test_the_studio_is_given_an_address_without_a_password(tmp_path, address):
    with pytest.raises((ArgumentError, PlanError)) as refused:
        Folder(tmp_path, address)
    assert "secret123" not in str(refused.value)
