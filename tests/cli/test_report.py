"""`statpriv report`: the page of a report, made again from its JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import statpriv as sp
from statpriv.cli import command_line

from .. import once

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "tests" / "release" / "sample_report.json"


PROCESSED = f"""
[data]
source = "{ROOT / "examples/data/election_1996.csv"}"
row_id = "respondent"

[guarantee]
epsilon = 0.1
delta = 0.5

[publication]
gate = true
preset = "rounded to 5, suppressed below 10"

[[query]]
name = "Rounded"
where = "vote = 0"
probability = ["0.48", "0.64"]
source = "made up"
rows = 316

[[query]]
name = "Withheld"
where = "pid <= 2"
probability = ["0.01", "0.02"]
source = "made up, and wrong"
rows = 314

[[query]]
name = "Suppressed"
where = "pid = 99"
probability = ["0.01", "0.02"]
source = "made up"
rows = 314
"""


@pytest.fixture(scope="module", params=["exact", "processed"])
def published(request, tmp_path_factory) -> Path:
    """A folder with the page and the JSON report of a real release, as the command writes them."""
    folder = tmp_path_factory.mktemp("published")
    plan = ROOT / "examples" / "election.toml"
    if request.param == "processed":
        plan = folder / "plan.toml"
        plan.write_text(PROCESSED, "utf-8")
    files = ["--out", folder / "report.html", "--json", folder / "report.json", "--registry", folder / "registry"]
    with pytest.MonkeyPatch.context() as patch:
        once.draw_roughly(patch)
        released = CliRunner().invoke(command_line, [str(part) for part in ("release", plan, *files)])
    assert (released.exit_code, released.stderr) == (0, "")
    if request.param == "processed":
        assert "  withheld  Withheld\n  suppressed  Suppressed\n" in released.stdout
    return folder


def test_the_page_has_the_bytes_that_the_release_wrote(published, run, tmp_path):
    page = (published / "report.html").read_bytes()
    shown = run("report", "render", published / "report.json")
    assert shown.exit_code == 0
    assert (shown.stdout_bytes, shown.stderr) == (page, "")
    written = run("report", "render", published / "report.json", "--out", tmp_path / "again.html")
    assert (written.exit_code, written.output) == (0, "")
    assert (tmp_path / "again.html").read_bytes() == page
    assert (tmp_path / "again.html").stat().st_mode & 0o777 == 0o600


def test_a_page_other_than_the_published_one_is_made_with_a_warning(published, run, tmp_path):
    report = json.loads((published / "report.json").read_text("utf-8"))
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(report | {"warnings": ["added later"]}), "utf-8")
    result = run("report", "render", changed)
    assert result.exit_code == 0
    assert "added later" in result.stdout
    assert result.stderr.startswith("Warning: this is not the page that was published with the report")
    del report["html_sha256"]
    changed.write_text(json.dumps(report), "utf-8")
    assert run("report", "render", changed).stderr == "Warning: the report states no digest of its page.\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no JSON file; the JSON report of a release is required"),
        ('{"a": 1, "a": 2}', "is no JSON file; the JSON report of a release is required"),
        ("[" * 100_000, "is no JSON file; the JSON report of a release is required"),
        ("[]", "holds no JSON object; the JSON report of a release is required"),
        ('{"release": NaN}', "is no valid report: holds something that JSON cannot"),
        ("{}", "is no valid report: $ breaks the rule required"),
    ],
)
def test_what_is_no_report_is_refused_in_a_sentence(run, tmp_path, text, message):
    file = tmp_path / "report.json"
    file.write_text(text, "utf-8")
    result = run("report", "render", file, "--out", tmp_path / "page.html")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {file} {message}")
    assert result.stdout == ""
    assert sorted(tmp_path.iterdir()) == [file]


def test_a_report_that_leaks_is_refused_without_quoting_it(run, tmp_path):
    file = tmp_path / "report.json"
    file.write_text(json.dumps({**json.loads(SAMPLE.read_text("utf-8")), "cells": "canary-cell"}), "utf-8")
    result = run("report", "render", file)
    assert result.exit_code == 2
    assert "no key may be there which the schema does not name" in result.stderr
    assert "canary" not in result.output


def test_a_missing_file_is_refused(run, tmp_path):
    result = run("report", "render", tmp_path / "none.json")
    assert result.exit_code == 2
    assert "the path of a report file is required" in result.stderr


def test_a_page_replaces_no_file_unless_told_to_and_never_the_report(run, tmp_path):
    report, page = tmp_path / "report.json", tmp_path / "page.html"
    report.write_bytes(SAMPLE.read_bytes())
    page.write_text("kept")
    refused = run("report", "render", report, "--out", page)
    assert refused.exit_code == 2
    assert "it exists; choose another name or say --force" in refused.stderr
    assert page.read_text() == "kept"
    assert run("report", "render", report, "--out", page, "--force").exit_code == 0
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    (tmp_path / "hard.json").hardlink_to(report)
    for name in ("report.json", "hard.json"):
        over_itself = run("report", "render", report, "--out", tmp_path / name, "--force")
        assert over_itself.exit_code == 2
        assert "it is the report itself, which is never overwritten" in over_itself.stderr
    assert report.read_bytes() == SAMPLE.read_bytes()


def test_the_schema_that_is_printed_is_the_one_that_reports_are_held_to(run):
    printed = run("report", "schema")
    assert printed.exit_code == 0
    assert json.loads(printed.stdout)["$id"] == "urn:statpriv:report:1"
    schema = Path(sp.__file__).with_name("releasing") / "report.schema.json"
    assert printed.stdout_bytes == schema.read_bytes()
