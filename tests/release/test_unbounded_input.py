"""Is input without bounds refused in seconds, and does a message name what is wrong?"""

from __future__ import annotations

import time

import pytest

from statpriv import budget
from statpriv.errors import LedgerError, PlanError, TableError
from statpriv.releasing.ledger import Registry
from statpriv.releasing.plan_file import load_plan

from .conftest import Workshop, query, statpriv
from .registries import release, written_registry
from .test_table import refusal, run_to, source_of, write

SECONDS = 5
"""Processor time; the work that is refused would take minutes."""


@pytest.fixture
def quickly():
    start = time.process_time()
    yield
    assert time.process_time() - start < SECONDS


def plan_refusal(folder, content):
    with pytest.raises(PlanError) as error:
        load_plan(write(folder, content, "plan.toml"))
    return str(error.value)


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize(
    "key",
    [
        ".".join(["a"] * 50_000) + " = 1",
        "[" + " . ".join(["a"] * 50_000) + "]",
        "[[" + ".".join(["'a'"] * 50_000) + "]]",
        "x = {" + ".".join(['"a b"'] * 50_000) + " = 1}",
        "\n".join(".".join([f"k{i}"] * 40) + " = 1" for i in range(1000)),
    ],
    ids=["key", "table", "array of tables", "inline table", "many keys"],
)
def test_dotted_keys_are_short(tmp_path, key):
    assert "plan.toml: a dotted key has more than 32 parts" in plan_refusal(tmp_path, key)


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("content", ["a" * 2_000_000, "a." * 30, "'" * 2_000_000, '"a" ' * 500_000, "a b." * 500_000])
def test_text_that_is_nearly_a_long_key_takes_no_longer(tmp_path, content):
    assert "not valid TOML" in plan_refusal(tmp_path, content)


def test_texts_with_many_points_are_no_keys(tmp_path):
    workshop = Workshop(tmp_path)
    numbers = ", ".join(f"{i}.5" for i in range(300))
    workshop.plan(query(f"a IN ({numbers})", rows=5), more="# 1.2.3.4. A sentence. Another one.\n")
    assert len(load_plan(tmp_path / "plan.toml").queries) == 1


@pytest.mark.usefixtures("quickly")
def test_a_plan_of_thirty_megabytes_is_not_read(tmp_path):
    message = plan_refusal(tmp_path, b"# filling\n" * 3_000_000)
    assert message == f"plan.toml: a plan has at most {budget.MAX_PLAN_BYTES} bytes; this file is no plan"


@pytest.mark.usefixtures("quickly")
def test_a_hundred_thousand_columns_are_refused(tmp_path):
    header = ",".join(f"c{i}" for i in range(100_000))
    assert "names 100000 columns, and at most 10000 are read" in refusal(write(tmp_path, f"{header}\n"), "c1 = 1")


@pytest.mark.usefixtures("quickly")
def test_columns_of_typed_sources_are_bounded_and_checked_in_linear_time(tmp_path, monkeypatch):
    names = ", ".join(f"{i} AS c{i}" for i in range(300))
    monkeypatch.setattr(budget, "MAX_TABLE_COLUMNS", budget.Limit(299, "", refusal="", reason=""))
    import duckdb

    duckdb.execute(f"COPY (SELECT {names}) TO '{tmp_path / 'x.parquet'}' (FORMAT parquet)")
    assert "it has 300 columns, and at most 299 are read" in refusal(tmp_path / "x.parquet", "c1 = 1")


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("line", ["a" * 2**21, "a," * 2**20, '"' + "a" * 2**21, '"a",' * 2**19])
def test_a_first_line_of_a_megabyte_is_refused(tmp_path, line):
    assert "its first line" in refusal(write(tmp_path, line + "\n1\n"))


@pytest.mark.usefixtures("quickly")
def test_one_long_cell_is_read(tmp_path):
    with pytest.raises(TableError, match="--debug shows"):
        run_to("end", source_of(write(tmp_path, "a,b\n" + "x" * 2**24 + ",1\n")), [])


# --- what is named


@pytest.mark.parametrize("name", ["ledger.sqlite3", "secret.json", "lock"])
def test_a_symbolic_link_in_a_registry_is_called_one(tmp_path, name):
    written_registry(tmp_path / "registry")
    (tmp_path / "registry" / name).rename(tmp_path / name)
    (tmp_path / "registry" / name).symlink_to(tmp_path / name)
    with pytest.raises(LedgerError, match=f"{name} is a symbolic link; put the file itself there"):
        release(Registry(tmp_path / "registry"), ["x"], "n", [1])


def test_a_registry_needs_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LedgerError, match="registry = '': no folder is named"):
        Registry.open("")
    for arguments in (["release", "plan.toml", "--out", "x.html"], ["ledger", "show"], ["ledger", "verify"]):
        ended = statpriv(*arguments, "--registry", "", env={"COLUMNS": "200"})
        assert ended.returncode == 2
        assert ended.stderr.startswith("Error: ")
        assert "Traceback" not in ended.stderr
    assert list(tmp_path.iterdir()) == []
