"""`--tables` writes the files of exact tables with the report or not at all, and refuses before anything is spent."""

from __future__ import annotations

import json

import pytest

import statpriv as sp
from statpriv.errors import GuaranteeNotReachedError, PublicationError, RowsSpentError
from statpriv.releasing import run
from statpriv.releasing.plan_file import load_plan
from statpriv.releasing.publication import Place
from statpriv.releasing.run import Surroundings, carry_out
from statpriv.releasing.table_files import as_csv, as_sdmx_csv, fullest, tables_of

from .conftest import query, registry
from .test_exact_tables import COLUMNS, people, table

pytestmark = pytest.mark.usefixtures("computed_once")

FILES = ["1-a-table.csv", "1-a-table.sdmx.csv"]
DIMENSIONS = 'kind = ["a", "b"]\nage = { breaks = [30, 60], labels = ["<30", "30-59", "60+"] }'


def planned(workshop, *, each=6, **keys):
    workshop.table(COLUMNS, people(each=each))
    workshop.plan(table(DIMENSIONS), more_data='row_id = "id"', **keys)


def release(workshop, folder, *, force=False, dry_run=False):
    return carry_out(
        load_plan(workshop.folder / "plan.toml"),
        out=workshop.page,
        json=workshop.json,
        registry=registry(workshop.registry, None),
        dry_run=dry_run,
        force=force,
        tables=folder,
        surroundings=Surroundings(),
    )


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_files_are_those_of_the_report(workshop):
    planned(workshop)
    folder = workshop.folder / "tables"
    release(workshop, folder)
    (stated,) = tables_of(workshop.report)
    assert names(folder) == FILES
    assert (folder / FILES[0]).read_bytes() == as_csv(stated)
    assert (folder / FILES[1]).read_bytes() == as_sdmx_csv(stated)
    assert stated.published


@pytest.mark.parametrize("each", [6, 1])
def test_the_files_of_a_report_are_made_again_from_its_json_byte_for_byte(workshop, in_process, each):
    planned(workshop, each=each)
    first, second = workshop.folder / "tables", workshop.folder / "again"
    release(workshop, first)
    page = workshop.folder / "again.html"
    code, out, err = in_process("report", "render", workshop.json, "--out", page, "--tables", second)
    assert (code, out, err) == (0, "", "")
    assert page.read_bytes() == workshop.page.read_bytes()
    assert [(first / name).read_bytes() for name in FILES] == [(second / name).read_bytes() for name in FILES]
    stated = workshop.report["tables"][0]["cells"]
    for name in FILES:
        read = sp.read_table(first / name)
        assert len(read.cells) == 6
        assert [cell.count for cell in read.cells if cell.count is not None] == [cell["count"] for cell in stated]
        assert (len(stated) == 6) == (each == 6)


def test_withheld_tables_have_the_same_files_whatever_is_in_them(workshop, tmp_path):
    found = []
    for number, kind in enumerate("ab"):
        rows = [(key, region, age, kind) for key, region, age, _ in people(each=6)]
        workshop.table(COLUMNS, rows)
        workshop.plan(table(DIMENSIONS), more_data='row_id = "id"')
        folder = tmp_path / f"tables {number}"
        carry_out(
            load_plan(workshop.folder / "plan.toml"),
            out=None,
            json=None,
            registry=registry(tmp_path / f"registry {number}", None),
            dry_run=False,
            force=False,
            tables=folder,
            surroundings=Surroundings(),
        )
        found.append([(folder / name).read_bytes() for name in FILES])
    assert found[0] == found[1]
    assert b"withheld" in found[0][0]


def test_an_existing_file_is_refused_before_anything_is_spent(workshop):
    planned(workshop)
    folder = workshop.folder / "tables"
    folder.mkdir()
    (folder / FILES[1]).write_text("kept", encoding="utf-8")
    with pytest.raises(PublicationError, match="it exists; choose another name or say --force"):
        release(workshop, folder)
    assert workshop.spent() == []
    assert names(folder) == [FILES[1]]
    assert (folder / FILES[1]).read_text(encoding="utf-8") == "kept"
    release(workshop, folder, force=True)
    assert names(folder) == FILES


@pytest.mark.parametrize("reason", ["a file", "the data", "the ledger"])
def test_a_folder_in_which_nothing_may_be_written_is_refused_before_anything_is_spent(workshop, reason):
    planned(workshop)
    folder = workshop.folder / "tables"
    if reason == "a file":
        folder.write_text("", encoding="utf-8")
    elif reason == "the data":
        folder.mkdir()
        (folder / FILES[0]).hardlink_to(workshop.folder / "people.csv")
    else:
        folder = workshop.registry
        folder.mkdir(mode=0o700)
    with pytest.raises(PublicationError):
        release(workshop, folder, force=True)
    assert workshop.spent() == []
    assert not workshop.json.exists()


def test_a_refusal_leaves_no_folder(workshop):
    planned(workshop, delta="1e-9")
    folder = workshop.folder / "tables"
    with pytest.raises(GuaranteeNotReachedError):
        release(workshop, folder)
    assert not folder.exists()


def test_a_failure_after_the_spend_leaves_no_file(workshop, monkeypatch):
    planned(workshop)
    folder, publish = workshop.folder / "tables", Place.publish

    def failing(place, content):
        if place.destination.path == workshop.json:
            raise PublicationError("no room")
        publish(place, content)

    monkeypatch.setattr(Place, "publish", failing)
    with pytest.raises(RowsSpentError):
        release(workshop, folder)
    assert len(workshop.spent()) == 1
    assert not folder.exists()
    assert not workshop.page.exists()
    assert not workshop.json.exists()


def test_a_dry_run_writes_no_tables(workshop):
    planned(workshop)
    folder = workshop.folder / "tables"
    release(workshop, folder, dry_run=True)
    assert not folder.exists()


def test_a_plan_without_tables_has_no_such_files(workshop):
    workshop.table(COLUMNS, people())
    workshop.plan(query("kind = 'a'", rows=10), more_data='row_id = "id"')
    with pytest.raises(PublicationError, match=r"the plan has no \[\[table\]\], so there are no files to write"):
        release(workshop, workshop.folder / "tables")
    assert not (workshop.folder / "tables").exists()


def test_more_room_is_reserved_than_the_report_takes(workshop, monkeypatch):
    planned(workshop)
    held, written = {}, {}
    hold, publish = Place.hold, Place.publish

    def holding(place, size):
        held[place.destination.path] = size
        hold(place, size)

    def publishing(place, content):
        written[place.destination.path] = len(content)
        publish(place, content)

    monkeypatch.setattr(Place, "hold", holding)
    monkeypatch.setattr(Place, "publish", publishing)
    release(workshop, workshop.folder / "tables")
    assert held.keys() == written.keys()
    assert len(written) == 4
    assert all(written[path] <= held[path] for path in written)


def test_the_fullest_table_is_at_least_as_long_as_any_that_may_be_published(workshop):
    planned(workshop)
    contents = release(workshop, workshop.folder / "tables").contents
    published = contents["tables"]
    nothing = {"published": None, "withheld": [], "cells": []}
    before = {"tables": [{**entry, **nothing} for entry in published]}
    assert len(json.dumps(fullest(before))) >= len(json.dumps(published)) - len("true")


def test_the_command_writes_the_tables_and_says_where(workshop, in_process, tmp_path):
    planned(workshop)
    folder = workshop.folder / "tables"
    arguments = [
        "release",
        workshop.folder / "plan.toml",
        "--out",
        workshop.page,
        "--tables",
        folder,
        "--registry",
        workshop.registry,
    ]
    code, out, err = in_process(*arguments)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == f"Tables: {folder}"
    assert names(folder) == FILES
    code, _, err = in_process("report", "render", tmp_path / "none.json", "--tables", tmp_path / "x")
    assert code == 2
    assert "the path of a report file is required" in err


def test_a_report_without_counted_tables_has_no_files(workshop, in_process):
    planned(workshop)
    release(workshop, None, dry_run=True)
    code, out, err = in_process("report", "render", workshop.json, "--tables", workshop.folder / "tables")
    assert (code, out) == (2, "")
    assert "the report holds no table that was counted" in err
    assert not (workshop.folder / "tables").exists()


def test_the_function_writes_them_too(workshop):
    planned(workshop)
    folder = workshop.folder / "tables"
    report = sp.release(workshop.folder / "plan.toml", registry=workshop.registry, tables=folder)
    assert names(folder) == FILES
    assert report.contents["tables"][0]["published"]
    assert run.Report is type(report)
