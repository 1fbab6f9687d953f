"""`statpriv ledger`: look at the ledger, check it, let rows join a table that was released, end all releases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from statpriv.cli.options import debug_option, examples, json_option
from statpriv.cli.output import print_json, screen
from statpriv.cli.plain_text import printable

if TYPE_CHECKING:
    from statpriv.releasing.ledger import Registry
    from statpriv.releasing.ledger.books import DataSet
    from statpriv.releasing.ledger.registry import Summary

__all__ = ["ledger"]

_registry_option = click.option("--registry", type=click.Path(), help="Folder of the ledger.")
_anchor_option = click.option(
    "--anchor", help="A line of `statpriv ledger anchor`: refuse a registry that is older than it."
)


@click.group()
@examples(
    "statpriv ledger show",
    "statpriv ledger verify",
    "statpriv ledger anchor > anchor.txt",
    "statpriv ledger extend release.toml --data people-2027.csv",
    "statpriv ledger destroy-secret",
)
def ledger() -> None:
    """What was released from which table: look, check, let rows join, or end it.

    The ledger knows rows by keyed tokens. It lives in the folder that --registry names, else the variable
    STATPRIV_REGISTRY, else the user's data folder.
    """


@ledger.command()
@_registry_option
@json_option
@debug_option
@examples("statpriv ledger show", "statpriv ledger show --registry /srv/registry --json")
def show(*, registry: str | None, as_json: bool) -> None:
    """Data sets by number: their rows, used and left, and their releases.

    Nothing that identifies a row is shown, and no key. The digest of a plan is that of its file (sha256sum). A release
    of which no report is known was killed after its rows were used, or its report could not be written.
    """
    from statpriv.releasing.ledger import Registry

    chosen = Registry.open(registry)
    summary = chosen.summary()
    if as_json:
        print_json(_document(summary), schema="ledger")
        return
    for line in _lines(chosen, summary):
        screen().print(printable(line), soft_wrap=True)


@ledger.command()
@_registry_option
@_anchor_option
@debug_option
@examples("statpriv ledger verify", 'statpriv ledger verify --anchor "$(cat anchor.txt)"')
def verify(*, registry: str | None, anchor: str | None) -> None:
    """Check that the ledger is as this program wrote it: every row, every token, every entry of its history.

    Exit code 0 if it is, and 2 with what is wrong if it is not. Whoever has the key can write another ledger, and
    whoever has an old copy of the whole registry can put it back; --anchor notices the copy.
    """
    from statpriv.releasing.ledger import Anchor, Registry

    known = None if anchor is None else Anchor.parse(anchor)
    newest = Registry.open(registry).verify(anchor=known)
    click.echo(f"Ledger {newest.ledger_id} is as it was written, with {newest.entry} entries in its history.")


@ledger.command()
@_registry_option
@debug_option
@examples("statpriv ledger anchor", "statpriv ledger anchor --registry /srv/registry > anchor.txt")
def anchor(*, registry: str | None) -> None:
    """Print one line that names the newest entry of the ledger's history. Keep it elsewhere.

    `statpriv release --anchor LINE` refuses a registry without this entry, such as an old copy that was put back. The
    line tells nothing about the content of a table.
    """
    from statpriv.releasing.ledger import Registry

    click.echo(str(Registry.open(registry).verify()))


@ledger.command()
@click.argument("plan", type=click.Path(path_type=Path))
@click.option("--data", type=click.Path(), help="The table with the new rows, in place of the plan's source.")
@_registry_option
@click.option("--accept-edits", is_flag=True, help="Accept that values of the old rows were edited.")
@_anchor_option
@debug_option
@click.pass_context
@examples("statpriv ledger extend release.toml", "statpriv ledger extend release.toml --data people-2027.csv")
def extend(
    context: click.Context,
    *,
    plan: Path,
    data: str | None,
    registry: str | None,
    accept_edits: bool,
    anchor: str | None,
) -> None:
    """Let the rows that were appended to a released table join it.

    PLAN is a plan file, of which only [data] counts. Every row of the table as it was must still be there, unedited.
    Nothing is released, and no row is used; the next release draws from old and new rows.
    """
    from statpriv.releasing.extension import extend_data_set
    from statpriv.releasing.ledger import Anchor, Registry
    from statpriv.releasing.plan_file import load_plan

    known = None if anchor is None else Anchor.parse(anchor)
    done = extend_data_set(
        load_plan(plan, data=data),
        Registry.open(registry),
        accept_edits=accept_edits,
        anchor=known,
        debug=bool(context.ensure_object(dict).get("debug")),
    )
    edited = " Values of the old rows were edited." if done.content_edited else ""
    click.echo(f"{done.rows_joined} rows joined the {done.rows_before} of data set {done.data_set}.{edited}")


@ledger.command("destroy-secret")
@_registry_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@debug_option
@examples("statpriv ledger destroy-secret", "statpriv ledger destroy-secret --registry /srv/registry --yes")
def destroy_secret(*, registry: str | None, yes: bool) -> None:
    """Destroy the key by which the ledger recognises rows. This ends all releases from it, for ever.

    Every file in the registry that holds the key is overwritten and removed, unfinished files of killed processes
    included; then the registry is searched once more, and the command fails if the key is still there. What is left of
    the ledger names nobody. Not reached are backups, snapshots, and old blocks that a journaling or copying file
    system or a solid-state disk has set aside: encrypt the disk, or destroy it, if those matter.
    """
    from statpriv.releasing.ledger import Registry

    chosen = Registry.open(registry)
    summary = chosen.summary()
    releases = sum(len(data_set.releases) for data_set in summary.data_sets)
    if not yes:
        click.confirm(
            f"Ledger {summary.ledger_id} knows {len(summary.data_sets)} data sets and {releases} releases. No table "
            "can be released from it again, and none that it knows should be released elsewhere. Destroy its secret?",
            abort=True,
        )
    chosen.destroy_secret()
    click.echo(f"The secret of ledger {summary.ledger_id} is destroyed.")


def _document(summary: Summary) -> dict[str, Any]:
    return {
        "ledger": summary.ledger_id,
        "secret_destroyed": summary.destroyed,
        "data_sets": [
            {
                "number": data_set.number,
                "rows": data_set.rows,
                "rows_spent": data_set.rows_spent,
                "rows_left": data_set.rows_left,
                "known_by": "ids" if data_set.has_ids else "position",
                "cohorts": [{"rows": c.rows, "since_release": c.joined_after + 1} for c in data_set.cohorts],
                "releases": [
                    {
                        "number": release.number,
                        "id": release.release_id,
                        "day": release.day,
                        "queries": len(release.queries),
                        "rows_spent": release.rows,
                        "published": release.number in summary.published,
                        "plan_sha256": release.plan_sha256,
                    }
                    for release in data_set.releases
                ],
            }
            for data_set in summary.data_sets
        ],
    }


def _lines(registry: Registry, summary: Summary) -> list[str]:
    lines = [f"Ledger {summary.ledger_id} in {registry.folder}"]
    if summary.destroyed is not None:
        lines.append(f"Its secret was destroyed on {summary.destroyed}: nothing more can be released from it.")
        lines.append(
            "Whether it was edited since then cannot be told, because its values were authenticated by the secret."
        )
    if not summary.data_sets:
        lines.append("Nothing was released.")
    return [*lines, *(line for data_set in summary.data_sets for line in _lines_of(data_set, summary.published))]


def _lines_of(data_set: DataSet, published: frozenset[int]) -> list[str]:
    known = "by their ids" if data_set.has_ids else "by their position only"
    lines = [
        "",
        f"Data set {data_set.number}: {data_set.rows} rows, known {known}; "
        f"{data_set.rows_spent} used, {data_set.rows_left} left",
    ]
    lines += [
        f"  {c.rows} rows joined after release {c.joined_after} of it" for c in data_set.cohorts if c.joined_after
    ]
    lines += [
        f"  {release.day}  release {release.number}  {len(release.queries)} queries on {release.rows} rows  "
        f"plan {release.plan_sha256[:16]}…" + ("" if release.number in published else "  (no report is known)")
        for release in data_set.releases
    ]
    return lines
