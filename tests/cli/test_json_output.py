"""Does all JSON that a command prints name a schema that is published, and keep to it?"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads(files("statpriv.cli").joinpath("output.schema.json").read_text(encoding="utf-8"))
NAMES = [reference["$ref"].removeprefix("#/$defs/") for reference in SCHEMA["oneOf"]]
PAGE = (ROOT / "docs/reference/json-output.md").read_text(encoding="utf-8")
COUNT = ("--n", 100, "--p", "1/2")
TARGET = ("--epsilon", "0.1", "--delta", "0.3")

COMMANDS = [
    ("delta", ["delta", *COUNT, "--epsilon", "0.1"]),
    ("delta", ["delta", *COUNT, "--epsilon", "0.1", "--digits", 30]),
    ("epsilon", ["epsilon", *COUNT, "--delta", "1e-3"]),
    ("epsilon", ["epsilon", *COUNT, "--delta", 0]),
    ("compose", ["compose", "composition.toml"]),
    ("compose", ["compose", ROOT / "tests/vectors/formats/report/1/first.json"]),
    ("compose", ["compose", ROOT / "tests/vectors/formats/report/1/later.json"]),
    ("assess.counts", ["assess", "counts.toml"]),
    ("assess.tables", ["assess", ROOT / "examples/crosstab.csv", "--minimum", 10, "--epsilon", 1]),
    ("design", ["design", "least-delta", *COUNT, "--epsilon", "0.1"]),
    ("design", ["design", "most-known", *COUNT, *TARGET]),
    ("design.trade-off", ["design", "trade-off", *COUNT, "--epsilon", "0.1"]),
    ("design.table", ["design", "table", ROOT / "examples/table-plan.toml"]),
    ("reproduce", ["reproduce", "table1"]),
    ("reproduce.minimum-counts", ["reproduce", "minimum-counts"]),
    ("reproduce.alternatives", ["reproduce", "alternatives"]),
    ("attack", ["attack", "--pair", "1", "0", "--law", "0=1", "--others", "0", "--trials", "100", "cat"]),
    ("verify", ["verify", "claims.toml", "--certificates", "more-proofs"]),
    ("verify.certificate", ["verify", "proofs/claim-1.json"]),
    ("ledger", ["ledger", "show", "--registry", "registry"]),
    ("error", ["delta", "--n", 0, "--p", "1/2", "--epsilon", 1]),
]

PLAN = """
prior = "none"
[data]
source = "people.csv"
[guarantee]
epsilon = 1
delta = 1
[[query]]
name = "a"
where = "a = 1"
probability = 0.5
source = "a coin"
rows = 3
"""


@pytest.fixture
def workplace(tmp_path, monkeypatch, run):
    """A folder with the files that the commands read."""
    monkeypatch.chdir(tmp_path)
    part = '[[part]]\nprobability = "1/2"\nsize = 50\n'
    Path("composition.toml").write_text(f"epsilon = 0.1\npopulation = 100\n{part}", "utf-8")
    Path("counts.toml").write_text(
        'epsilon = 0.1\npopulation = 30\n[[count]]\nprobability = "1/2"\ncount = 14\n', "utf-8"
    )
    claim = '[[claim]]\nepsilon = 0.1\ndelta = 0.3\npopulation = 100\nprobability = "1/2"\n'
    Path("claims.toml").write_text(claim, "utf-8")
    Path("people.csv").write_text("a\n1\n0\n1\n1\n", "utf-8")
    Path("plan.toml").write_text(PLAN, "utf-8")
    assert run("verify", "claims.toml", "--certificates", "proofs").exit_code == 0
    assert run("release", "plan.toml", "--out", "report.html", "--registry", "registry").exit_code == 0


@pytest.mark.usefixtures("workplace")
def test_every_document_keeps_to_the_schema_that_it_names(run):
    for name, command in COMMANDS:
        printed = json.loads(run(*command, "--json").stdout)
        assert (printed["schema"], printed["version"]) == (f"statpriv.{name}", 1), command
        of_the_name = jsonschema.Draft202012Validator({**SCHEMA["$defs"][name], "$defs": SCHEMA["$defs"]})
        fault = jsonschema.exceptions.best_match(of_the_name.iter_errors(printed))
        assert fault is None, (command, fault and fault.json_path, fault and fault.message)


def test_a_key_that_the_schema_does_not_name_is_a_fault():
    strict = jsonschema.Draft202012Validator(SCHEMA)
    error = {"schema": "statpriv.error", "version": 1, "error": {"kind": "a", "message": "b", "exit_code": 2}}
    assert strict.is_valid(error)
    assert not strict.is_valid({**error, "more": 1})
    assert not strict.is_valid({**error, "version": 2})


def test_every_schema_is_seen_printed_and_described(run):
    assert json.loads(run("report", "schema", "--outputs").stdout) == SCHEMA
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert {name for name, _ in COMMANDS} == set(NAMES)
    rows = dict(re.findall(r"^\| `statpriv\.([a-z.-]+)` \|.*\| (`.*`) \|$", PAGE, re.MULTILINE))
    assert {name: re.findall(r"`([a-z_]+)`", keys) for name, keys in rows.items()} == {
        name: list(SCHEMA["$defs"][name]["properties"])[2:] for name in NAMES
    }
