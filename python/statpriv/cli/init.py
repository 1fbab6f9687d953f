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
@click.argument("source")
@click.option("--table", help="The table of a DuckDB file or of a database.")
@click.option("--row-id", help="The column that identifies rows; required of a database, whose rows have no order.")
@click.option("--out", type=click.Path(path_type=Path), help="The plan to write; without it, it is printed.")
@click.option("--force", is_flag=True, help="Replace a plan that exists.")
@debug_option
@click.pass_context
@examples(
    "statpriv init people.csv --out release.toml",
    "statpriv init people.parquet",
    "statpriv init survey.duckdb --table people --out release.toml",
    "statpriv init postgresql://curator@db.example.org/health --table survey.persons --row-id person",
)
def init(
    context: click.Context, *, source: str, table: str | None, row_id: str | None, out: Path | None, force: bool
) -> None:
    """Write a first plan for a table, with a comment wherever something is to be stated.

    SOURCE is a CSV, Parquet or DuckDB file, or the address of a PostgreSQL database, without a password. The names of
    its columns are read, and no value: the codes of columns and what the public knows of them must come from elsewhere.
    """
    from statpriv.releasing.first_plan import first_plan
    from statpriv.releasing.plan_file import described_source
    from statpriv.releasing.tables import open_table

    stated = {"source": source, "table": table, "row_id": row_id}
    data = {key: value for key, value in stated.items() if value is not None}
    where = described_source(data, Path())
    if out is not None:
        writable(out, "--out", force=force)
        if where.path is not None and out.exists() and where.path.exists() and out.samefile(where.path):
            raise click.UsageError("--out is the table itself")
    with open_table(where, [], debug=bool(context.ensure_object(dict).get("debug"))) as opened:
        columns = opened.columns
    if where.path is not None:
        data["source"] = Path(os.path.relpath(where.path, Path() if out is None else out.parent)).as_posix()
    plan = first_plan(data, columns)
    if out is None:
        sys.stdout.write(plan)
        return
    write_whole(out, plan.encode(), "--out")
    screen().print(
        printable(f"Plan: {out}. State what it asks for, then: statpriv release {out} --dry-run"), soft_wrap=True
    )
