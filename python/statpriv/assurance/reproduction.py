"""The tables and figures of the literature, recomputed.

This module covers Tables 1 and 2 and the figure of *Parallel Composition for Statistical Privacy*. Figures 3.5 and 3.6
of Desfontaines, *Lowering the cost of anonymization*, are in `partial_knowledge/figures.py`.

A database of `n` entries is split at random into `m` parts of `s = n/m`. Each part answers a property query of
probability 1/2. The tables print

* `σ = √(p q (1/s − 1/n))`, the sampling error of an answer, truncated to four decimals;
* `δ = Δ_s(ε)`, the guarantee of Theorem 5.1, truncated to four decimals;
* `#DP = σ² ε² n²/(8 ln(e + ε/δ))`, the number of answers with Gaussian noise of that error that the calibration of
  Kairouz, Oh and Viswanath allows at the same (ε, δ), rounded down; in the column ε = 0.01 of Table 1, to the nearest.

That comparison is loose on both sides, so three further numbers are computed: the exact δ of all answers together, for
a secret partition and one property; the number of answers with that noise that are exactly (ε, δ)-differentially
private at the δ of the table; and that number at the exact δ, which is `m − 1`.

The figure (labelled "PQ_Delta_Parameter_DB_Size", at Example 1) shows δ of one property query against the size of the
database at a fixed ε. The available text refers to the figure but does not contain it, so its p, ε and range of n are
unknown. The text says that δ drops rapidly at first and then flattens out. The figure is therefore drawn here with the
p and the six ε of the tables, for n from 1 to the n of Table 1, and is checked against everything printed about it:

* the 24 δ of the tables, each of which is `Δ_s(ε)` and so a point of the figure;
* the shape: every doubling of n lowers δ, by less than the doubling before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from statpriv.errors import UndecidedError
from statpriv.model.queries.property import PropertyQuery
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import as_fraction
from statpriv.theories.differential.partition import ComparedPartition, compare

if TYPE_CHECKING:
    from statpriv.plotting import Picture
    from statpriv.theories.partial_knowledge.figures import PublishedFigure

__all__ = [
    "FIGURE",
    "PUBLISHED",
    "TABLES",
    "Cell",
    "DeltaAgainstSize",
    "Figure",
    "PrintedPoint",
    "PrintedTable",
    "cells",
    "delta_against_size",
    "published_figure",
]

FIGURE = "figure-delta-n"
"""The name under which the figure is reproduced."""

PUBLISHED = ("figure-3.5", "figure-3.6")
"""The names of the published figures that are drawn beside our own curves."""

P = Fraction(1, 2)


@dataclass(frozen=True)
class PrintedRow:
    """A row as printed: #SP, σ, and the pair (δ, #DP) for each ε."""

    queries: int
    sigma: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class PrintedTable:
    """A table as printed; #DP is rounded down, except in the columns `nearest`."""

    title: str
    n: int
    epsilons: tuple[str, ...]
    rows: tuple[PrintedRow, ...]
    nearest: tuple[str, ...] = ()


TABLES = {
    "table1": PrintedTable(
        title="Table 1",
        n=32768,
        epsilons=("0.005", "0.01", "0.02"),
        rows=(
            PrintedRow(32, ".0153", ((".0225", "0"), (".0203", "3"), (".0163", "9"))),
            PrintedRow(64, ".0219", ((".0329", "1"), (".0306", "6"), (".0264", "20"))),
            PrintedRow(128, ".0311", ((".0475", "3"), (".0452", "12"), (".0409", "44"))),
            PrintedRow(256, ".0441", ((".0682", "6"), (".0660", "25"), (".0617", "93"))),
            PrintedRow(512, ".0624", ((".0973", "12"), (".0953", "50"), (".0912", "194"))),
        ),
        nearest=("0.01",),
    ),
    "table2": PrintedTable(
        title="Table 2",
        n=1024,
        epsilons=("0.05", "0.1", "0.2"),
        rows=(
            PrintedRow(32, ".0869", ((".1214", "2"), (".1020", "7"), (".0711", "23"))),
            PrintedRow(64, ".1240", ((".1808", "4"), (".1644", "16"), (".1291", "55"))),
            PrintedRow(128, ".1760", ((".2618", "9"), (".2496", "35"), (".2232", "126"))),
        ),
    ),
}
"""The printed tables, by the name under which they are reproduced."""


@dataclass(frozen=True)
class Figure:
    """A printed number, the same number recomputed and rounded as in its table, and its unrounded value."""

    printed: str
    computed: str
    value: Enclosure

    @property
    def agrees(self) -> bool:
        """Whether the recomputed number equals the printed one."""
        return self.printed == self.computed


@dataclass(frozen=True)
class Cell:
    """One (#SP, ε) of a table."""

    epsilon: str
    queries: int
    sigma: Figure
    delta: Figure
    dp_queries: Figure
    comparison: ComparedPartition

    @property
    def agrees(self) -> bool:
        """Whether all recomputed numbers of the cell equal the printed ones."""
        return self.sigma.agrees and self.delta.agrees and self.dp_queries.agrees


@dataclass(frozen=True)
class PrintedPoint:
    """A δ printed in a table, as the point of the figure at this size."""

    table: str
    epsilon: str
    size: int
    delta: Figure


@dataclass(frozen=True)
class DeltaAgainstSize:
    """The figure, and the printed values it is compared with.

    Attributes
    ----------
    picture
        One line for each ε of the tables, over sizes that include all powers of two.
    points
        The δ of the tables.
    flattens
        For each ε, whether every doubling of n provably lowers δ, by less than the doubling before.
    """

    picture: Picture
    points: tuple[PrintedPoint, ...]
    flattens: dict[str, bool]

    @property
    def agrees(self) -> bool:
        """Whether the figure agrees with everything printed about it."""
        return all(point.delta.agrees for point in self.points) and all(self.flattens.values())


def published_figure(name: str) -> PublishedFigure:
    """One of `PUBLISHED`, recomputed."""
    from statpriv.theories.partial_knowledge.figures import figure_3_5, figure_3_6

    return dict(zip(PUBLISHED, (figure_3_5, figure_3_6), strict=True))[name]()


def delta_against_size() -> DeltaAgainstSize:
    """The figure, recomputed."""
    from statpriv.plotting import Reference, against_size, sizes_between

    largest = max(table.n for table in TABLES.values())
    doublings = [2**k for k in range(largest.bit_length())]
    epsilons = [epsilon for table in TABLES.values() for epsilon in table.epsilons]
    picture = against_size(PropertyQuery(P), {*sizes_between(1, largest, 200), *doublings}, epsilons)
    deltas = {
        epsilon: dict(zip(line.places, line.values, strict=True))
        for epsilon, line in zip(epsilons, picture.lines, strict=True)
    }
    points = tuple(
        PrintedPoint(table.title, epsilon, size, _as_printed(row.columns[column][0], deltas[epsilon][size]))
        for table in TABLES.values()
        for column, epsilon in enumerate(table.epsilons)
        for row in table.rows
        for size in (table.n // row.queries,)
    )
    marks = Reference(
        "printed in Tables 1 and 2",
        tuple(point.size for point in points),
        tuple(float(point.delta.printed) for point in points),
    )
    flattens = {epsilon: _flattens([at[size] for size in doublings]) for epsilon, at in deltas.items()}
    return DeltaAgainstSize(replace(picture, marks=marks, decades=4), points, flattens)


def _flattens(deltas: list[Enclosure]) -> bool:
    """Whether the values decrease, with decreasing differences."""
    drops = [before - after for before, after in pairwise(deltas)]
    return drops[-1].lower > 0 and all(later.upper < earlier.lower for earlier, later in pairwise(drops))


def cells(table: PrintedTable) -> Iterator[Cell]:
    """Every cell of a table, recomputed; by ε, then by row."""
    for column, epsilon in enumerate(table.epsilons):
        rounding = _nearest if epsilon in table.nearest else math.floor
        for row in table.rows:
            yield _cell(table.n, row, column, epsilon, rounding)


def _cell(n: int, row: PrintedRow, column: int, epsilon: str, rounding: Callable[[Fraction], int]) -> Cell:
    printed_delta, printed_dp = row.columns[column]
    (compared,) = compare(n, parts=row.queries, epsilon=epsilon, p=P)
    variance = P * (1 - P) * (Fraction(row.queries, n) - Fraction(1, n))
    loose = compared.kairouz_queries
    return Cell(
        epsilon=epsilon,
        queries=row.queries,
        sigma=Figure(row.sigma, _decimals(math.isqrt(math.floor(variance * 10**8))), compared.sigma),
        delta=_as_printed(printed_delta, compared.delta_by_theorem),
        dp_queries=Figure(printed_dp, str(_decided(loose.lower, loose.upper, rounding)), loose),
        comparison=compared,
    )


def _as_printed(printed: str, delta: Enclosure) -> Figure:
    """A δ, truncated to four decimals."""
    return Figure(printed, _decimals(_decided(delta.lower, delta.upper, _four_decimals)), delta)


def _decided(low: float | Fraction, high: float | Fraction, rounding: Callable[[Fraction], int]) -> int:
    """The rounded value of a number between two bounds; refused if the bounds round differently."""
    rounded, other = rounding(as_fraction(low, "low")), rounding(as_fraction(high, "high"))
    if rounded != other:
        raise UndecidedError(
            f"a number between {low} and {high} rounds to {rounded} or {other}: more digits are needed"
        )
    return rounded


def _nearest(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))


def _four_decimals(value: Fraction) -> int:
    return math.floor(value * 10**4)


def _decimals(ten_thousandths: int) -> str:
    """The number in the tables' format: `.0225`."""
    return f".{ten_thousandths:04d}"
