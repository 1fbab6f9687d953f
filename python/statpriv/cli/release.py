"""`statpriv release`: the main job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from statpriv.cli.options import debug_option, examples
from statpriv.cli.output import at_most, screen
from statpriv.cli.plain_text import printable
from statpriv.cli.progress import progress_on_terminal
from statpriv.errors import GuaranteeNotReachedError

if TYPE_CHECKING:
    from statpriv.releasing.run import Report

_CONTRADICTED = 6


@click.command()
@click.argument("plan", type=click.Path(path_type=Path))
@click.option("--data", type=click.Path(), help="The table, in place of the plan's source.")
@click.option("--out", type=click.Path(path_type=Path), help="The page; required unless this is a dry run.")
@click.option("--json", "json_out", type=click.Path(path_type=Path), help="The same report as JSON.")
@click.option(
    "--tables", type=click.Path(path_type=Path), metavar="FOLDER", help="Exact tables as CSV and SDMX-CSV files."
)
@click.option("--registry", type=click.Path(), help="Folder of the ledger.")
@click.option("--dry-run", is_flag=True, help="The whole guarantee, from the plan and the number of rows alone.")
@click.option("--accept-edits", is_flag=True, help="Release again although values were edited since the last release.")
@click.option("--anchor", help="A line of `statpriv ledger anchor`: refuse a registry that is older than it.")
@click.option("--force", is_flag=True, help="Replace output files that exist.")
@click.option(
    "--sign",
    "key",
    type=click.Path(path_type=Path),
    metavar="KEY",
    help="Sign the JSON report with this private key (ed25519, PEM): report.json.sig beside report.json.",
)
@debug_option
@click.pass_context
@examples(
    "statpriv release release.toml --dry-run --out guarantee.html",
    "statpriv release release.toml --out report.html --json report.json",
    "statpriv release tables.toml --out report.html --json report.json --tables tables",
    'statpriv release release.toml --out report.html --anchor "$(cat anchor.txt)"',
)
def release(
    context: click.Context,
    *,
    plan: Path,
    data: str | None,  # text, because a path would turn "https://" into "https:/"
    out: Path | None,
    json_out: Path | None,
    tables: Path | None,
    registry: str | None,
    dry_run: bool,
    force: bool,
    key: Path | None,
    accept_edits: bool,
    anchor: str | None,
) -> None:
    """Release exact counts of a table under a certified statistical-privacy guarantee.

    PLAN is a TOML file: the data, the target (epsilon, delta), and the counts with what the public knows of
    their probabilities. The guarantee is certified before any answer is read. Each row answers one count, in a
    secret random part; the ledger sees to it that the same rows never answer again.

    A table may be released again, from rows that no release has used: the target is then about everything released
    from it so far. A dry run looks into no ledger, and shows the guarantee of a first release.

    Exit code 6: everything was released and written, but a published count lies outside its declared range by more than
    three standard deviations. The guarantee was certified for that range, so it does not apply.
    """
    from statpriv.releasing.ledger import Anchor, Registry
    from statpriv.releasing.plan_file import load_plan
    from statpriv.releasing.run import Surroundings, carry_out
    from statpriv.releasing.signature import SigningKey

    if out is None and not dry_run:
        raise click.UsageError("--out is missing: name the page to write, such as report.html, or say --dry-run")
    known = None if anchor is None else Anchor.parse(anchor)
    if key is not None and json_out is None:
        raise click.UsageError("--json is missing: the JSON report is what --sign signs")
    with progress_on_terminal("plan") as waiting:
        report = carry_out(
            load_plan(plan, data=data),
            out=out,
            json=json_out,
            registry=Registry.open(registry),
            dry_run=dry_run,
            force=force,
            accept_edits=accept_edits,
            anchor=known,
            key=None if key is None else SigningKey.load(key),
            tables=tables,
            surroundings=Surroundings(
                progress=waiting.begin,
                on_rows=waiting.read,
                debug=bool(context.ensure_object(dict).get("debug")),
            ),
        )
    _show(report, out, None if dry_run else tables)
    if not report.contents["guarantee"]["holds"]:
        raise GuaranteeNotReachedError("a release of this plan would be refused: its target is not reached")
    if _contradictions(report):
        context.exit(_CONTRADICTED)


def _contradictions(report: Report) -> list[Mapping[str, Any]]:
    """The answers whose published count contradicts the declared range, which says no more than the counts do."""
    return [answer for answer in report.contents["answers"] if answer["contradicts_range"]]


def _show(report: Report, out: Path | None, written: Path | None) -> None:
    guarantee = report.contents["guarantee"]
    verdict = "reached" if guarantee["holds"] else "NOT reached"
    releases = guarantee["releases"]
    together = f" for all {releases} releases of this table together" if releases > 1 else ""
    lines = [
        f"δ is at most {at_most(guarantee['delta']['upper'])} at ε = {guarantee['epsilon_exact']}{together}, "
        f"certified; the target of {guarantee['target_delta_exact']} is {verdict}."
    ]
    lines += [f"  {_answer(answer)}" for answer in report.contents["answers"]]
    lines += [f"  {_table(table)}" for table in report.contents.get("tables", ()) if table["published"] is not None]
    if report.contents["dry_run"]:
        asked = [*report.contents["queries"], *report.contents.get("tables", ())]
        lines += [_chance(one) for one in asked if "withheld_at_most" in one]
    lines += [f"Warning: {warning}" for warning in report.contents["warnings"]]
    if out is not None:
        lines.append(f"Report: {out}")
    if written is not None:
        lines.append(f"Tables: {written}")
    terminal = screen()
    if contradicted := _contradictions(report):
        counts = ", ".join(f"“{_asked(answer)}”" for answer in contradicted)
        headline = f"THE CERTIFIED δ DOES NOT APPLY: the count of {counts} contradicts the declared range."
        terminal.print(printable(headline), style="bold red", soft_wrap=True)
    for line in lines:
        terminal.print(printable(line), soft_wrap=True)


def _chance(asked: Mapping[str, Any]) -> str:
    chance = 100 * asked["withheld_at_most"]
    shown = "below 0.01" if chance < 0.01 else f"of at most {at_most(chance, 2)}"
    return f"  “{asked['name']}” is withheld with a chance {shown} %, if what the plan declares is right."


def _table(table: Mapping[str, Any]) -> str:
    if not table["published"]:
        least = "its minimum of rows" if "minima" in table else f"{table['minimum']} rows"
        why = f"a cell has fewer than {least}, or a row is in no declared cell"
        return f"withheld  {table['name']}  ({why})"
    classes = f", {len(table['withheld'])} classes withheld" if table["withheld"] else ""
    coarser = table["ladder"]["level"] if "ladder" in table else 0
    recoded = f", grouping {coarser} of its recode" if coarser else ""
    return f"{len(table['cells'])} cells published{classes}{recoded}  {table['name']}"


def _answer(answer: Mapping[str, Any]) -> str:
    if answer["count"] is None:
        return f"{'withheld' if answer['withheld'] else 'suppressed'}  {_asked(answer)}"
    low, high = answer["interval"]
    return f"{answer['count']} of {answer['size']}  {_asked(answer)}  (95 %: {low:.1%} to {high:.1%})"


def _asked(answer: Mapping[str, Any]) -> str:
    return answer["query"] if answer["cell"] is None else f"{answer['query']}: {answer['cell']}"
