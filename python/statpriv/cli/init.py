"""`statpriv init`: a first plan for a table."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import rich_click as click

from statpriv.cli.options import debug_option, examples
from statpriv.cli.output import screen, writable, write_whole
from statpriv.cli.plain_text import printable


@click.command()
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--table", help="The table of a DuckDB file.")
@click.option("--out", type=click.Path(path_type=Path), help="The plan to write; without it, it is printed.")
@click.option("--force", is_flag=True, help="Replace a plan that exists.")
@debug_option
@click.pass_context
@examples(
    "statpriv init people.csv --out release.toml",
    "statpriv init people.parquet",
    "statpriv init survey.duckdb --table people --out release.toml",
)
def init(context: click.Context, *, source: Path, table: str | None, out: Path | None, force: bool) -> None:
    """Write a first plan for a table, with a comment wherever something is to be stated.

    SOURCE is a CSV, Parquet or DuckDB file. The names of its columns are read, and no value: the codes of columns and
    what the public knows of them must come from elsewhere.
    """
    from statpriv.releasing.first_plan import first_plan
    from statpriv.releasing.plan import DataSource
    from statpriv.releasing.tables import open_table

    if out is not None:
        writable(out, "--out", force=force)
        if out.exists() and source.exists() and out.samefile(source):
            raise click.UsageError("--out is the table itself")
    where = DataSource(source.absolute(), source.name, table=table)
    with open_table(where, [], debug=bool(context.ensure_object(dict).get("debug"))) as opened:
        columns = opened.columns
    relative = os.path.relpath(source, Path() if out is None else out.parent)
    plan = first_plan(Path(relative).as_posix(), columns, table=table)
    if out is None:
        sys.stdout.write(plan)
        return
    write_whole(out, plan.encode(), "--out")
    screen().print(
        printable(f"Plan: {out}. State what it asks for, then: statpriv release {out} --dry-run"), soft_wrap=True
    )
