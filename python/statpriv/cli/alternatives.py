"""`statpriv reproduce alternatives`: what else is done with tables of counts, on two real ones."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import rich_click as click
from rich.table import Table
from rich.text import Text

from statpriv.cli.output import at_most, ends, fact_grid, print_json, screen
from statpriv.cli.plain_text import printable
from statpriv.cli.plot import Files

if TYPE_CHECKING:
    from statpriv.assurance.alternatives import Alternative, RealTable

_LEGEND = (
    ("error", "root mean squared error of a cell, over all cells of the table"),
    ("others known", "delta at epsilon = 1 for a reader who knows every other row; a row moves from cell to cell"),
    (
        "law known",
        "the same for a reader who knows the law, whichever it is, and no row, if the table is withheld unless every "
        "cell holds the minimum; -: no theorem",
    ),
    ("attack gained", "what the best simulated attack of the first reader gained, with 99.9 % confidence"),
)


def print_alternatives(context: click.Context, file: Files, *, as_json: bool) -> None:
    """Every method on every table, and the picture where a file is named; exit 1 if an attack refutes a certificate."""
    from statpriv.assurance.alternatives import TABLES, alternatives, picture_of_alternatives

    start = perf_counter()
    found = [(table, alternatives(table)) for table in TABLES]
    seconds = perf_counter() - start
    written = list(file.draw(picture_of_alternatives())) if file.out is not None else []
    agrees = all(method.agrees for _, methods in found for method in methods)
    if as_json:
        tables = [_document(table, methods) for table, methods in found]
        print_json({"reproduced": agrees, "epsilon": "1", "tables": tables}, schema="reproduce.alternatives")
    else:
        for table, methods in found:
            _print(table, methods)
        screen().print(fact_grid([*_LEGEND, ("time", f"{seconds:.1f} seconds for all of this, attacks included")]))
        for line in written:
            screen().print(printable(line), soft_wrap=True)
    if not agrees:
        context.exit(1)


def _print(table: RealTable, methods: tuple[Alternative, ...]) -> None:
    console = screen()
    console.print(Text(printable(table.name), style="bold"), soft_wrap=True)
    console.print(
        printable(f"{table.source}; {len(table.counts)} cells from {min(table.counts)} to {max(table.counts)}"),
        style="dim",
        soft_wrap=True,
    )
    grid = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    grid.add_column("method")
    for header in ("error", "others known", "law known", "attack gained"):
        grid.add_column(header, justify="right")
    for method in methods:
        grid.add_row(
            printable(method.method),
            f"{method.error.upper:.3g}",
            at_most(method.if_others_known.upper, 3),
            "-" if method.if_law_known is None else at_most(method.if_law_known.upper, 3),
            _gained(method),
        )
    console.print(grid)
    console.print()


def _gained(method: Alternative) -> str:
    if method.found is None:
        return "everything"
    advantage = method.found.advantage
    return f"{advantage.lower:.3f}..{advantage.upper:.3f}" if advantage.lower > 0 else "nothing seen"


def _document(table: RealTable, methods: tuple[Alternative, ...]) -> dict[str, object]:
    return {
        "name": table.name,
        "source": table.source,
        "minimum": table.minimum,
        "counts": list(table.counts),
        "methods": [
            {
                "method": method.method,
                "error": ends(method.error),
                "error_of_each_count": [ends(error) for error in method.errors],
                "delta_if_others_known": ends(method.if_others_known),
                "delta_if_law_known": None if method.if_law_known is None else ends(method.if_law_known),
                "attack": None if method.found is None else ends(method.found.advantage),
                "verdict": None if method.found is None else method.found.verdict,
                "remark": method.remark,
            }
            for method in methods
        ],
    }
