"""`statpriv report`: pages of reports, made again from their JSON."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import rich_click as click

from statpriv.cli.options import debug_option, examples
from statpriv.cli.plain_text import one_line
from statpriv.errors import ArgumentError, PublicationError
from statpriv.numeric.arguments import is_mapping


@click.group()
def report() -> None:
    """Reports of releases: their pages and their schema."""


@report.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="The page; standard output by default.")
@click.option(
    "--tables", type=click.Path(path_type=Path), metavar="FOLDER", help="Its exact tables as CSV and SDMX-CSV files."
)
@click.option("--force", is_flag=True, help="Replace files that exist.")
@debug_option
@examples(
    "statpriv report render report.json --out report.html",
    "statpriv report render report.json | sha256sum",
    "statpriv report render report.json --out report.html --tables tables",
)
def render(*, file: Path, out: Path | None, tables: Path | None, force: bool) -> None:
    """Make the page of a report again.

    FILE is the JSON report of a release. The page depends on it alone: it has the bytes that the release
    wrote, if this version of statpriv made it. Its digest stands in the report; if the two differ, the page
    is made and a warning says so.
    """
    from statpriv.releasing.publication import prepare
    from statpriv.releasing.report import render as rendered

    contents = _contents(file)
    if out is not None and out.exists() and out.samefile(file):
        raise PublicationError(f"--out = {out}: it is the report itself, which is never overwritten")
    destination = None if out is None else prepare([out], force=force, protected=[file])[0]
    try:
        page = rendered(contents).encode()
    except ArgumentError as fault:
        raise ArgumentError(f"{file} is no valid {fault}") from fault
    if tables is not None:
        _write_tables(contents, tables, force=force, protected=[file, *([] if out is None else [out])])
    if destination is None:
        sys.stdout.buffer.write(page)
    else:
        destination.publish(page)
    _compare(page, contents)


@report.command()
@click.option("--outputs", is_flag=True, help="Of what commands print with --json instead.")
@debug_option
@examples("statpriv report schema > report.schema.json", "statpriv report schema --outputs > output.schema.json")
def schema(*, outputs: bool) -> None:
    """Print the JSON Schema of a report."""
    from importlib.resources import files

    package, name = ("statpriv.cli", "output") if outputs else ("statpriv.releasing", "report")
    sys.stdout.buffer.write(files(package).joinpath(f"{name}.schema.json").read_bytes())


def _write_tables(contents: Mapping[str, Any], folder: Path, *, force: bool, protected: list[Path]) -> None:
    from statpriv.releasing.table_files import TableFiles, tables_of

    stated = tables_of(contents)
    if not any(table.published is not None for table in stated):
        raise PublicationError(f"--tables = {folder}: the report holds no table that was counted")
    TableFiles.prepare(folder, [table.name for table in stated], force=force, protected=protected).write(stated)


def _contents(file: Path) -> Mapping[str, Any]:
    from statpriv.files.documents import read_text

    try:
        found = json.loads(read_text(file, "report"), object_pairs_hook=_without_repetition)
    except (ValueError, RecursionError) as fault:
        if isinstance(fault, ArgumentError):
            raise
        raise ArgumentError(f"{file} is no JSON file; the JSON report of a release is required") from None
    if not is_mapping(found):
        raise ArgumentError(f"{file} holds no JSON object; the JSON report of a release is required")
    return found


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; one with a key twice would mean one thing here and another elsewhere."""
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a key stands there twice")
    return table


def _compare(page: bytes, contents: Mapping[str, Any]) -> None:
    """Warn if the report was published with another page."""
    stated = contents.get("html_sha256")
    if stated is None:
        click.echo("Warning: the report states no digest of its page.", err=True)
    elif stated != hashlib.sha256(page).hexdigest():
        version = one_line(contents["statpriv"])
        click.echo(
            "Warning: this is not the page that was published with the report: its SHA-256 is not html_sha256. "
            f"The report says that statpriv {version} made it; another version may draw it differently. "
            "With the same version, one of the two files has been changed.",
            err=True,
        )
