"""`statpriv assess`: how private published counts are, from a file that describes them or from the table itself."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from statpriv.cli.assess_table import assess_files, is_table, refuse_options, table_options
from statpriv.cli.options import debug_option, examples, json_option
from statpriv.cli.output import WHAT_IS_ENCLOSED, at_most, grounds, print_facts, print_json, provenance
from statpriv.cli.progress import progress_on_terminal
from statpriv.numeric.literals import literal

if TYPE_CHECKING:
    from statpriv.files.assessment import Assessment

_MAX_LINES = 12
_EXIT_CODES = {None: 0, "proved": 0, "refuted": 1, "undecided": 4}
_VERDICTS = {
    "proved": "proved",
    "refuted": "refuted: the least δ is larger",
    "undecided": "undecided: what is certified is larger, and the least δ may be smaller",
}


@click.command()
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True)
@table_options
@json_option
@debug_option
@click.pass_context
@examples(
    "statpriv assess counts.toml",
    "statpriv assess counts.toml --json",
    "statpriv assess crosstab.csv --minimum 10 --epsilon 1",
    "statpriv assess all.csv adults.csv --minimum 10 --epsilon 1",
    "",
    "where counts.toml holds",
    "epsilon = 0.1          # or several: [0.05, 0.1]",
    "population = 944",
    "delta = 0.02           # optional: whether this is reached",
    "[[count]]",
    'probability = ["0.4", "0.6"]',
    "count = 441            # optional: compared with the range",
)
def assess(
    context: click.RichContext,
    /,
    files: tuple[Path, ...],
    as_json: bool,  # noqa: FBT001  (a flag, passed by name)
    **options: Any,  # noqa: ANN401  (those of tables)
) -> None:
    """How private a table is that is already published. No data are needed.

    FILES is one TOML file or published tables. A TOML file states the number of entries and what the public knew about
    each count before: one count, several on disjoint secret random parts, or one contingency table. Where it states a
    target δ the exit code is 0 if that is proved, 1 if it is refuted and 4 if it is undecided.

    A published table (CSV: wide, tidy or SDMX-CSV) is compared with a minimum cell count. The δ is that of a rule with
    that minimum, not inferred from the table. The exit code is 1 if a cell is below the minimum or suppressed, or if
    two tables isolate fewer people, and 4 where a target is not decided, or several tables are not bounded together.
    """
    if is_table(files, options):
        assess_files(context, files, options, as_json=as_json)
        return
    (file,) = files
    refuse_options(options, file)
    from statpriv.files.assessment import assess as assessed

    with progress_on_terminal("δ of what is published") as waiting:
        found = assessed(file)
        waiting.begin("what if other assumptions hold")
        document = found.document() if as_json else {}
        headline, facts = ("", []) if as_json else _described(found)
    if as_json:
        print_json({**document, **provenance(found.curve)}, schema="assess.counts")
    else:
        print_facts(headline, facts)
    context.exit(_EXIT_CODES[found.verdict])


def _described(found: Assessment) -> tuple[str, list[tuple[str, str | Iterable[str]]]]:
    headline, *more = (
        f"δ is at most {at_most(delta.upper)} at ε = {literal(epsilon)}"
        for epsilon, delta in zip(found.epsilons, found.deltas, strict=True)
    )
    target = "" if found.target is None else f"δ ≤ {literal(found.target)} at ε = {literal(found.epsilons[0])}: "
    verdict = [] if found.verdict is None else [("target", f"{target}{_VERDICTS[found.verdict]}")]
    return headline, [
        *([("further ε", more)] if more else []),
        *verdict,
        *([("warning", found.warnings)] if found.warnings else []),
        ("kind", WHAT_IS_ENCLOSED[found.curve.kind]),
        ("published", _published(found)),
        ("adversary", f"knows {found.known_rows or 'no'} entries"),
        ("curve", str(found.curve.table()).splitlines()),
        ("what if", str(found.sensitivity).splitlines()),
        *grounds(found.curve),
    ]


def _published(found: Assessment) -> list[str]:
    lines = []
    for each in found.published[:_MAX_LINES]:
        low, high = each.probability
        p = f"p = {literal(low)}" if low == high else f"any p from {literal(low)} to {literal(high)}"
        count = "a count" if each.count is None else str(each.count)
        lines.append(f"{each.name}: {count} of {each.size} entries, {p}")
    if len(found.published) > _MAX_LINES:
        lines.append(f"… and {len(found.published) - _MAX_LINES} more")
    return lines
