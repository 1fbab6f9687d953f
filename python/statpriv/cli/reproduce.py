"""`statpriv reproduce`: the printed tables of the literature, beside what statpriv computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click
from rich.table import Table
from rich.text import Text

from statpriv.cli.options import debug_option, examples, json_option
from statpriv.cli.output import at_most, ends, fact_grid, print_json, screen
from statpriv.errors import ArgumentError

if TYPE_CHECKING:
    from rich.console import Console

    from statpriv.reproduction import Cell, Figure, PrintedTable

__all__ = ["reproduce"]

_SOURCE = "Breutigam and Reischuk, Parallel Composition for Statistical Privacy"
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
@click.argument("what", metavar="table1|table2|all")
@json_option
@debug_option
@click.pass_context
@examples("statpriv reproduce table1", "statpriv reproduce all --json")
def reproduce(context: click.Context, what: str, as_json: bool) -> None:  # noqa: FBT001  (a flag, passed by name)
    """The tables of the literature: every printed number beside the computed one.

    The exit code is 0 if every printed number comes out, and 1 if one does not.
    """
    from statpriv.reproduction import TABLES, cells

    if what not in (*TABLES, "all"):
        raise ArgumentError(
            f"{what}: this version reproduces {', '.join(TABLES)} and all of these; it has no figures yet"
        )
    computed = [(table, list(cells(table))) for name, table in TABLES.items() if what in (name, "all")]
    reproduced = all(cell.agrees for _, found in computed for cell in found)
    if as_json:
        print_json({"reproduced": reproduced, "tables": [_document(table, found) for table, found in computed]})
    else:
        _print(screen(), computed)
    if not reproduced:
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


def _figure_document(figure: Figure) -> dict[str, object]:
    return {
        "printed": figure.printed,
        "computed": figure.computed,
        "agrees": figure.agrees,
        "value": ends(figure.value),
    }


def _print(console: Console, computed: list[tuple[PrintedTable, list[Cell]]]) -> None:
    for table, found in computed:
        console.print(Text(f"{table.title}: n = {table.n}, p = 1/2", style="bold"))
        console.print(_SOURCE, style="dim")
        console.print()
        console.print(_grid(found))
        console.print()
    wrong = [(table, cell) for table, found in computed for cell in found if not cell.agrees]
    total = sum(len(found) for _, found in computed)
    for table, cell in wrong:
        console.print(f"{table.title}, ε = {cell.epsilon}, #SP = {cell.queries}: does not come out", style="bold red")
    console.print(Text(f"{total - len(wrong)} of {total} cells come out (✓).", style="bold"))
    console.print(fact_grid(_LEGEND))


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
