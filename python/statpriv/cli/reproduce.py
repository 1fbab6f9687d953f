"""`statpriv reproduce`: the printed tables and figures of the literature, beside what statpriv computes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click
from rich.table import Table
from rich.text import Text

from statpriv.cli.alternatives import print_alternatives
from statpriv.cli.options import debug_option, examples, json_option
from statpriv.cli.output import at_most, ends, fact_grid, print_json, screen
from statpriv.cli.plain_text import printable
from statpriv.cli.plot import Files, as_document
from statpriv.errors import ArgumentError

if TYPE_CHECKING:
    from rich.console import Console

    from statpriv.assurance.reproduction import Cell, DeltaAgainstSize, Figure, PrintedTable
    from statpriv.theories.partial_knowledge.figures import PublishedFigure

_SOURCE = "Breutigam and Reischuk, Parallel Composition for Statistical Privacy"
_THESIS = "Desfontaines, Lowering the cost of anonymization, section 3.2.4"
_RULES = "docs/explanation/minimum-counts.md"
_LEGEND_OF_RULES = (
    ("bound", "for every number of rows, every number of cells and every law that the rows share"),
    ("supremum", "the least delta that holds for all of them, certified: a table of two cells attains it"),
)
_LEGEND = (
    ("sigma", "error of an answer by sampling; the paper truncates it and delta to four decimals"),
    ("delta", "of #SP answers by Theorem 5.1"),
    (
        "#DP",
        "answers with Gaussian noise sigma that the calibration of Kairouz, Oh and Viswanath allows at that delta; "
        "the paper rounds down, in Table 1 at epsilon 0.01 to the nearest",
    ),
    ("#DP tight", "answers with that noise that are exactly as private at that delta: the calibration is loose"),
    ("delta secret", "the exact delta of all #SP answers, the partition secret: so is Theorem 5.1"),
    (
        "#DP both",
        "exact on both sides: a secret partition and tight Gaussian noise are worth the same, and the partition adds "
        "no noise",
    ),
)


@click.command()
@click.argument("what", metavar="TABLE|FIGURE|all")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Draw the figure, or all side by side: .svg, .png or .pdf."
)
@click.option("--force", is_flag=True, help="Replace a file that exists.")
@json_option
@debug_option
@click.pass_context
@examples(
    "statpriv reproduce table1",
    "statpriv reproduce figure-delta-n --out delta-n.svg",
    "statpriv reproduce figure-3.5 --out figure.png --json",
    "statpriv reproduce minimum-counts",
    "statpriv reproduce alternatives --out alternatives.svg",
    "statpriv reproduce all --json",
)
def reproduce(
    context: click.Context,
    *,
    what: str,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """The tables and figures of the literature: every printed number and line beside the computed one.

    Tables are table1 and table2, figures figure-delta-n, figure-3.5 and figure-3.6. No literature has minimum-counts:
    what the rule "every cell of an exact table has at least T rows" protects. Nor alternatives: what else is done with
    tables of counts, on two real ones, with errors, certified deltas and simulated attacks.

    The exit code is 0 if every printed number comes out, and 1 if one does not.
    """
    from statpriv.assurance.alternatives import NAME as ALTERNATIVES
    from statpriv.assurance.reproduction import FIGURE, PUBLISHED, TABLES, cells, delta_against_size, published_figure
    from statpriv.assurance.table_of_rules import NAME

    drawn = (FIGURE, *PUBLISHED, NAME, ALTERNATIVES)
    if what not in (*TABLES, *drawn, "all"):
        raise ArgumentError(f"{what}: this version reproduces {', '.join((*TABLES, *drawn))} and all of the literature")
    if out is not None and what in TABLES:
        raise ArgumentError(f"--out = {out}: {what} is a table; {', '.join(drawn)} and all have a figure to draw")
    file = Files(out, force=force)
    file.check()
    own = {NAME: _print_rules, ALTERNATIVES: print_alternatives}
    if what in own:
        own[what](context, file, as_json=as_json)
        return
    tables = [(table, list(cells(table))) for name, table in TABLES.items() if what in (name, "all")]
    figures = [delta_against_size()] if what in (FIGURE, "all") else []
    published = [published_figure(name) for name in PUBLISHED if what in (name, "all")]
    drawings: list[DeltaAgainstSize | PublishedFigure] = [*figures, *published]
    written = list(file.draw(*(drawing.picture for drawing in drawings)))
    reproduced = all(cell.agrees for _, found in tables for cell in found)
    reproduced = reproduced and all(drawing.agrees for drawing in drawings)
    if as_json:
        document = {"reproduced": reproduced, "tables": [_document(table, found) for table, found in tables]}
        documents = [_document_of_figure(figure) for figure in figures]
        print_json({**document, "figures": [*documents, *map(_document_of_published, published)]}, schema="reproduce")
    else:
        _print(screen(), tables, figures)
        for drawing in published:
            _print_published(screen(), drawing)
        for line in written:
            screen().print(printable(line), soft_wrap=True)
    if not reproduced:
        context.exit(1)


def _print_rules(context: click.Context, file: Files, *, as_json: bool) -> None:
    """The table of rules, both bounds of each, and its picture where a file is named."""
    from statpriv.assurance.table_of_rules import EPSILONS, picture_of_rules, table_of_rules

    values = table_of_rules()
    written = list(file.draw(picture_of_rules())) if file.out is not None else []
    agrees = all(value.agrees for value in values)
    if as_json:
        rules = [
            {
                "minimum": value.minimum,
                "epsilon": value.epsilon,
                "delta": ends(value.bound),
                "supremum": ends(value.supremum),
            }
            for value in values
        ]
        print_json({"reproduced": agrees, "rules": rules}, schema="reproduce.minimum-counts")
    else:
        console = screen()
        _headline(console, 'delta of "every cell has at least T rows", for every law', _RULES)
        for title, of in (("bound", "bound"), ("supremum", "supremum")):
            grid = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
            for header in (f"T ({title})", *(f"eps {epsilon}" for epsilon in EPSILONS)):
                grid.add_column(header, justify="right", no_wrap=True)
            for start in range(0, len(values), len(EPSILONS)):
                row = values[start : start + len(EPSILONS)]
                grid.add_row(str(row[0].minimum), *(at_most(getattr(value, of).upper, 3) for value in row))
            console.print(grid)
            console.print()
        console.print(fact_grid(_LEGEND_OF_RULES))
        for line in written:
            console.print(printable(line), soft_wrap=True)
    if not agrees:
        context.exit(1)


def _document(table: PrintedTable, found: list[Cell]) -> dict[str, object]:
    return {
        "table": table.title,
        "source": _SOURCE,
        "n": table.n,
        "p": "1/2",
        "cells": [
            {
                "epsilon": cell.epsilon,
                "queries": cell.queries,
                "agrees": cell.agrees,
                "sigma": _figure_document(cell.sigma),
                "delta": _figure_document(cell.delta),
                "dp_queries": _figure_document(cell.dp_queries),
                "comparison": {
                    "delta_secret_partition": ends(cell.comparison.delta),
                    "gaussian_queries": cell.comparison.gaussian_queries,
                    "gaussian_queries_at_secret_partition": cell.comparison.gaussian_queries_at_exact_delta,
                },
            }
            for cell in found
        ],
    }


def _document_of_figure(figure: DeltaAgainstSize) -> dict[str, object]:
    return {
        "figure": "delta against n",
        "source": _SOURCE,
        "p": "1/2",
        "printed": [
            {"table": point.table, "epsilon": point.epsilon, "n": point.size, **_figure_document(point.delta)}
            for point in figure.points
        ],
        "flattens": figure.flattens,
        **as_document(figure.picture),
    }


def _document_of_published(figure: PublishedFigure) -> dict[str, object]:
    return {
        "figure": figure.name,
        "source": _THESIS,
        "remarks": list(figure.remarks),
        "proved": dict(figure.proved),
        **as_document(figure.picture),
    }


def _figure_document(figure: Figure) -> dict[str, object]:
    return {
        "printed": figure.printed,
        "computed": figure.computed,
        "agrees": figure.agrees,
        "value": ends(figure.value),
    }


def _print(console: Console, tables: list[tuple[PrintedTable, list[Cell]]], figures: list[DeltaAgainstSize]) -> None:
    for table, found in tables:
        _headline(console, f"{table.title}: n = {table.n}, p = 1/2")
        console.print(_grid(found))
        console.print()
    for figure in figures:
        _print_figure(console, figure)
    wrong = [(table, cell) for table, found in tables for cell in found if not cell.agrees]
    total = sum(len(found) for _, found in tables)
    for table, cell in wrong:
        console.print(f"{table.title}, ε = {cell.epsilon}, #SP = {cell.queries}: does not come out", style="bold red")
    if tables:
        console.print(Text(f"{total - len(wrong)} of {total} cells come out (✓).", style="bold"))
        console.print(fact_grid(_LEGEND))


def _headline(console: Console, text: str, source: str = _SOURCE) -> None:
    console.print(Text(text, style="bold"))
    console.print(source, style="dim")
    console.print()


def _print_figure(console: Console, figure: DeltaAgainstSize) -> None:
    """δ at every doubling, and what is printed of the figure."""
    _headline(console, "Figure: delta against the size n of the database, p = 1/2")
    console.print(_grid_of_figure(figure))
    console.print()
    wrong = [point for point in figure.points if not point.delta.agrees]
    for point in wrong:
        told = f"{point.table}, ε = {point.epsilon}, n = {point.size}: {point.delta.printed} does not come out"
        console.print(told, style="bold red")
    for epsilon, flattens in figure.flattens.items():
        if not flattens:
            console.print(f"ε = {epsilon}: not proved to drop and to flatten", style="bold red")
    total, flat = len(figure.points), sum(figure.flattens.values())
    console.print(Text(f"{total - len(wrong)} of {total} printed δ lie on the lines (✓).", style="bold"))
    shape = "each doubling of n takes some of δ away, and less than the one before"
    console.print(f"{flat} of {len(figure.flattens)} lines drop rapidly and then flatten out: {shape}.", style="bold")
    console.print()


def _print_published(console: Console, figure: PublishedFigure) -> None:
    """Some places of every line, what is wrong in the caption, and what was proved."""
    _headline(console, figure.picture.title, _THESIS)
    grid = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for header in ("known" if figure.picture.across == "known" else "eps", *_labels(figure)):
        grid.add_column(header, justify="right", no_wrap=True, vertical="bottom")
    lines = [figure.values(line.label) for line in figure.picture.lines]
    places = sorted({place for line in lines for place in line})
    step = max(1, len(places) // 10)
    for place in places[::step]:
        values = (at_most(line[place].upper, 3) if place in line else "" for line in lines)
        grid.add_row(f"{place:g}", *values)
    console.print(grid)
    console.print()
    for remark in figure.remarks:
        console.print(f"Caption: {remark}")
    for claim, holds in figure.proved.items():
        console.print(f"{'✓' if holds else '✗'} {claim}", style="bold" if holds else "bold red")
    console.print()


def _labels(figure: PublishedFigure) -> list[str]:
    return [line.label.replace(", ", "\n").replace("noise ", "") for line in figure.picture.lines]


def _grid_of_figure(figure: DeltaAgainstSize) -> Table:
    """A row for each power of two; a δ that a table prints is marked."""
    grid = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for header in ("n", *(f"eps {epsilon}" for epsilon in figure.flattens)):
        grid.add_column(header, justify="right", no_wrap=True)
    marks = {(point.epsilon, point.size): "✓" if point.delta.agrees else "✗" for point in figure.points}
    columns = [dict(zip(line.places, line.values, strict=True)) for line in figure.picture.lines]
    for size in sorted(n for n in columns[0] if int(n).bit_count() == 1):
        deltas = (
            f"{at_most(column[size].upper, 3)} {marks.get((epsilon, int(size)), ' ')}"
            for epsilon, column in zip(figure.flattens, columns, strict=True)
        )
        grid.add_row(str(size), *deltas)
    return grid


def _grid(found: list[Cell]) -> Table:
    grid = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    headers = (
        *("eps", "#SP"),
        *(f"{name}\n{whose}" for name in ("sigma", "delta", "#DP") for whose in ("paper", "ours")),
        *("#DP\ntight", "delta\nsecret", "#DP\nboth"),
    )
    for header in headers:
        grid.add_column(header, justify="right", no_wrap=True, vertical="bottom")
    previous = ""
    for cell in found:
        if previous not in ("", cell.epsilon):
            grid.add_row()
        previous = cell.epsilon
        grid.add_row(
            cell.epsilon,
            str(cell.queries),
            cell.sigma.printed,
            _ours(cell.sigma, 6),
            cell.delta.printed,
            _ours(cell.delta, 6),
            cell.dp_queries.printed,
            _ours(cell.dp_queries, 2),
            str(cell.comparison.gaussian_queries),
            at_most(cell.comparison.delta.upper, 3),
            str(cell.comparison.gaussian_queries_at_exact_delta),
        )
    return grid


def _ours(figure: Figure, decimals: int) -> str:
    return f"{figure.value.midpoint:.{decimals}f} {'✓' if figure.agrees else '✗'}"
