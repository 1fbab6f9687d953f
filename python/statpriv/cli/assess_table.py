"""`statpriv assess crosstab.csv`: what published tables show beside a rule, for reading and as JSON."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import rich_click as click

from statpriv.cli.options import count_from, exact, exact_range
from statpriv.cli.output import at_most, grounds, print_facts, print_json, provenance
from statpriv.cli.progress import progress_on_terminal
from statpriv.errors import ArgumentError
from statpriv.numeric.literals import literal

if TYPE_CHECKING:
    from statpriv.audit.table import PublishedTable
    from statpriv.files.table_assessment import AssessedTable, TableAssessment

_EXIT_CODES = {"yes": 0, "no": 1, "undecided": 4}
_MAX_LINES = 12
_SUFFIXES = (".csv", ".tsv")
"""Files that are tables. Everything else describes counts, unless a minimum is stated."""
_Command = TypeVar("_Command", bound=Callable[..., Any])


def _fraction(context: click.Context, option: click.Parameter, text: str | None) -> Fraction | None:
    return None if text is None else exact(context, option, text)


_OPTIONS = (
    click.option("--minimum", callback=count_from(2), metavar="COUNT", help="Of a table: the rule's least cell."),
    click.option(
        "--epsilon",
        callback=lambda context, option, texts: [exact(context, option, text) for text in texts],
        metavar="NUMBER",
        multiple=True,
        help="Of a table: ε in nats; several times for several.",
    ),
    click.option("--known", callback=count_from(0), metavar="COUNT", help="Of a table: rows a reader knows."),
    click.option("--delta", callback=_fraction, metavar="NUMBER", help="Of a table: a target at the first ε."),
    click.option("--layout", type=click.Choice(["wide", "tidy", "sdmx"]), help="How the cells stand in the file."),
    click.option("--count", metavar="COLUMN", help="The column of counts, of a tidy file."),
    click.option("--dimension", metavar="COLUMN", multiple=True, help="A column that is a dimension; several times."),
    click.option("--columns", metavar="NAME", help="The dimension in the header, of a wide file."),
    click.option("--total", metavar="LABEL", multiple=True, help="A label that is a total; several times."),
    click.option("--category", metavar="LABEL", multiple=True, help="One that looks like a total, and is a category."),
    click.option(
        "--suppressed", metavar="MARK", multiple=True, help='Marks of suppressed counts; "<10" always is one.'
    ),
    click.option(
        "--absent", type=click.Choice(["zero", "suppressed", "impossible"]), help="Cells that are not listed."
    ),
    click.option("--impossible", metavar="LABEL,LABEL,…", multiple=True, help="Categories that cannot occur together."),
    click.option(
        "--each",
        callback=lambda context, option, text: None if text is None else exact_range(context, option, text),
        metavar="LOW..HIGH",
        help="Of several tables: how sure anybody may be of a cell.",
    ),
    click.option("--skip", callback=count_from(0), metavar="LINES", help="Lines of titles above the header."),
    click.option("--by", metavar="DIMENSION", help="A public classification: each class is published by itself."),
    click.option("--no-bounds", is_flag=True, help="No bounds of suppressed cells; scipy is then not needed."),
)


def table_options(command: _Command) -> _Command:
    """Give a command the options about published tables."""
    return reduce(lambda so_far, option: option(so_far), reversed(_OPTIONS), command)


def is_table(files: Sequence[Path], options: dict[str, Any]) -> bool:
    """Whether these are published tables, not one file that describes counts."""
    return len(files) > 1 or files[0].suffix.lower() in _SUFFIXES or options["minimum"] is not None


def refuse_options(options: dict[str, Any], file: Path) -> None:
    """Refuse options about tables beside a file that is none."""
    given = sorted(name for name, value in options.items() if value)
    if given:
        raise ArgumentError(
            f"--{given[0].replace('_', '-')} is about published tables; {file} is read as one only with "
            "--minimum, or with a name that ends in .csv or .tsv"
        )


def assess_files(context: click.RichContext, files: Sequence[Path], options: dict[str, Any], *, as_json: bool) -> None:
    """Assess published tables, print what was found, and leave with its exit code."""
    for name in ("minimum", "epsilon"):
        if not options[name]:
            raise ArgumentError(
                f"--{name} is required for a published table: δ is that of a rule, which the table does not tell"
            )
    from statpriv.files.table_assessment import assess_tables

    with progress_on_terminal("what is published"):
        found = assess_tables(
            list(files),
            minimum=options["minimum"],
            epsilon=options["epsilon"],
            known=options["known"] or 0,
            delta=options["delta"],
            layout=_layout(options),
            by=options["by"],
            each=options["each"],
            bounds=not options["no_bounds"],
        )
        document = {**found.document(), **provenance(found.curve)} if as_json else {}
    if as_json:
        print_json(document, schema="assess.tables")
    else:
        print_facts(*_described(found))
    context.exit(_EXIT_CODES[found.verdict])


def _layout(options: dict[str, Any]) -> Any:  # noqa: ANN401  (a TableLayout; loaded when it is used)
    from statpriv.files.published_table import SUPPRESSED, TableLayout

    return TableLayout(
        layout=options["layout"],
        count=options["count"],
        dimensions=tuple(options["dimension"]),
        columns=options["columns"],
        totals=tuple(options["total"]),
        categories=tuple(options["category"]),
        suppressed=tuple(options["suppressed"]) or SUPPRESSED,
        absent=options["absent"],
        skip=options["skip"] or 0,
        impossible=tuple(tuple(next(csv.reader([each]), [])) for each in options["impossible"]),
    )


# --- for reading ---------------------------------------------------------------------------------


def _described(found: TableAssessment) -> tuple[str, list[tuple[str, str | Iterable[str]]]]:
    rule = f"A rule with minimum {found.minimum}"
    headline, *more = (
        f"{rule} has δ at most {at_most(delta.upper)} at ε = {literal(epsilon)}"
        for epsilon, delta in zip(found.epsilons, found.deltas, strict=True)
    )
    facts: list[tuple[str, str | Iterable[str]]] = [("further ε", more)] if more else []
    if found.target is not None:
        reached = {True: "proved", None: "undecided: the bound is larger, which refutes nothing"}.get(found.reached, "")
        facts.append(("target", f"δ ≤ {literal(found.target)} at ε = {literal(found.epsilons[0])}: {reached}"))
    facts.append(("adversary", f"knows {found.known_rows or 'no'} rows"))
    facts += [(each.table.name, _of_table(each, found.minimum)) for each in found.tables]
    if found.comparison is not None:
        facts.append(("together", _of_several(found)))
    from statpriv.files.table_assessment import ABOUT_THE_RULE

    return headline, [*facts, ("about", [ABOUT_THE_RULE, *found.warnings]), *grounds(found.curve)]


def _of_table(each: AssessedTable, minimum: int) -> list[str]:
    table, smallest = each.table, each.table.smallest
    rows = table.count((None,) * len(table.dimensions))
    shape = " × ".join(f"{name} ({len(categories)})" for name, categories in table.dimensions)
    lines = [f"{len(table.inner)} cells, {shape}; {'an unknown number of' if rows is None else rows} people"]
    if smallest is not None:
        lines.append(f"smallest cell: {smallest.count}, {table.described(smallest.key)}")
    verdict = "is what such a rule publishes" if each.holds else "is not what such a rule publishes"
    lines.append(f"{len(each.below)} cells below {minimum}, {len(table.suppressed())} suppressed: {verdict}")
    zeros = [f"nobody: {table.described(cell.key)}" for cell in table.zeros()]
    small = [f"{cell.count}: {table.described(cell.key)}" for cell in each.below if cell.count]
    lines += [f"withheld as a class: {each.by} = {label}" for label in each.withheld]
    return [*lines, *_cut(zeros), *_cut(small), *_cut(_hidden(each, table))]


def _hidden(each: AssessedTable, table: PublishedTable) -> list[str]:
    if each.bounds is None:
        return [f"suppressed: {table.described(cell.key)}" for cell in table.suppressed()]
    return [
        f"{'given away' if bounded.bounds.known else 'suppressed, between'}: {bounded.bounds}, "
        f"{table.described(bounded.key)}"
        for bounded in sorted(each.bounds, key=lambda bounded: not bounded.bounds.known)
    ]


def _of_several(found: TableAssessment) -> list[str]:
    comparison = found.comparison
    if comparison is None:
        return []
    if found.together is None:
        lines = ["no δ of all tables together is stated"]
    else:
        lines = [
            f"δ of all tables together at most {at_most(found.together.delta(epsilon).upper)} at ε = {literal(epsilon)}"
            for epsilon in found.epsilons
        ]
        lines.append(f"if {found.together.assumption}")
    lines += _cut([str(each) for each in comparison.differences])
    lines += _cut(
        [
            f"together they isolate {each.bounds} people where "
            + ", ".join(f"{name} = {label}" for name, label in each.where)
            for each in comparison.isolated
        ]
    )
    if not comparison.differences and not comparison.isolated:
        caveat = ", but a dimension without a name was not compared" if found.leaves_a_dimension_out else ""
        lines.append(f"no difference of fewer than {found.minimum} people was found{caveat}")
    return [*lines, f"{comparison.compared} counts compared two by two; all at once: {comparison.joint}"]


def _cut(lines: list[str]) -> list[str]:
    left = len(lines) - _MAX_LINES
    return lines if left <= 0 else [*lines[:_MAX_LINES], f"… and {left} more (--json has all)"]
