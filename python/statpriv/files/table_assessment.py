"""Published tables beside a rule: whether they are what a minimum cell count allows, and what they give away.

The δ that is stated is that of a *rule*: a table is published if every cell that can occur holds at least the minimum,
and otherwise nothing is. It is not inferred from the table. A table whose smallest cell happens to hold 12 people may
have been published under a rule with minimum 12, under one with minimum 3, or under none, and only the rule protects:
it decides what would have been published if one person had been in another cell. So the minimum is asked for, and the
table is only compared with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from statpriv.audit.differences import Comparison, compare
from statpriv.audit.equations import Bounds
from statpriv.audit.suppression import SuppressedBounds, suppressed_bounds
from statpriv.audit.table import PublishedCell, PublishedTable
from statpriv.curves.curve import PrivacyCurve
from statpriv.curves.minimum_count import minimum_count_curve
from statpriv.errors import ArgumentError, UndecidedError
from statpriv.files.published_table import UNNAMED, TableLayout, read_table
from statpriv.files.tables_together import Together, tables_together
from statpriv.numeric.arguments import is_list
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_nonnegative, as_probability
from statpriv.numeric.literals import at_most, literal

Verdict: TypeAlias = Literal["yes", "no", "undecided"]

ABOUT_THE_RULE = (
    "δ is that of a rule that publishes a table only if every cell that can occur holds the minimum, and otherwise "
    "nothing. It is not inferred from this table: its smallest cell does not say which rule was followed."
)
ABOUT_ZEROS = (
    "A cell with nobody in it tells everybody that they are not in it. Such a rule withholds the table, unless the "
    "cell is declared impossible."
)
ABOUT_SUPPRESSION = (
    "Cells were suppressed one by one. The rule withholds a table as a whole, because which cells are missing says "
    "something about them; its δ is not that of this table."
)
ABOUT_NAMES = (
    "A dimension has no name, so the tables were not compared on it. Name it in the corner, `region \\ age`, or by "
    "`columns` (--columns)."
)
ABOUT_CLASSES = (
    "A class was withheld, and a total over the classes is published: the total less the other classes is the table "
    "that was withheld."
)
ABOUT_SEVERAL = (
    "The tables are of the same people. Nothing bounds together what several exact tables of the same rows say, from "
    "their minimum alone: if two columns agree for everybody else, two margins show who differs. Publish the table of "
    "all combinations under the rule (every margin is then covered), or declare how sure anybody may be (--each)."
)


@dataclass(frozen=True)
class AssessedTable:
    """What one published table shows.

    Attributes
    ----------
    table : PublishedTable
        The table.
    below : tuple of PublishedCell
        Cells with fewer people than the minimum, those with nobody included.
    bounds : tuple of SuppressedBounds, or None
        What each suppressed cell lies between; None where that was not asked for.
    by : str, or None
        A dimension that is a public classification: each of its classes is published or withheld by itself.
    """

    table: PublishedTable
    below: tuple[PublishedCell, ...]
    bounds: tuple[SuppressedBounds, ...] | None
    by: str | None = None

    @property
    def holds(self) -> bool:
        """Whether the table is one that the rule publishes."""
        return not self.below and not self.partly_suppressed and not self.gives_classes_away

    @cached_property
    def withheld(self) -> tuple[str, ...]:
        """Classes of the public classification of which no cell is published."""
        if self.by is None:
            return ()
        place = self.table.dimension_names.index(self.by)
        shown = {cell.key[place] for cell in self.table.inner if cell.count is not None}
        hidden = {cell.key[place] for cell in self.table.inner if cell.count is None}
        return tuple(label for label in dict(self.table.dimensions)[self.by] if label in hidden - shown)

    @property
    def partly_suppressed(self) -> bool:
        """Whether cells are suppressed one by one, and not with all of their class."""
        place = None if self.by is None else self.table.dimension_names.index(self.by)
        return any(
            cell.count is None and (place is None or cell.key[place] not in self.withheld) for cell in self.table.inner
        )

    @property
    def gives_classes_away(self) -> bool:
        """Whether a class is withheld, and a total over the classes published."""
        if self.by is None or not self.withheld:
            return False
        place = self.table.dimension_names.index(self.by)
        return any(cell.key[place] is None and cell.count is not None for cell in self.table.totals)

    def known(self) -> tuple[SuppressedBounds, ...]:
        """Suppressed cells of which only one value is possible."""
        return tuple(each for each in self.bounds or () if each.bounds.known)

    def document(self) -> dict[str, Any]:
        """The table for JSON."""
        table, smallest = self.table, self.table.smallest
        return {
            "file": table.name,
            "dimensions": {name: list(categories) for name, categories in table.dimensions},
            "cells": len(table.inner),
            "impossible": [table.labels(key) for key in sorted(table.impossible, key=str)],
            "rows": table.count((None,) * len(table.dimensions)),
            "smallest": None if smallest is None else _cell(table, smallest),
            "below_minimum": [_cell(table, cell) for cell in self.below],
            "zero": [_cell(table, cell) for cell in table.zeros()],
            "suppressed": [
                {"cell": table.labels(cell.key), **(_bounds(each.bounds) if each is not None else {})}
                for cell, each in self._suppressed()
            ],
            "contradictions": [
                {"total": table.labels(each.key), "published": each.total, "sum_of_cells": each.cells}
                for each in table.contradictions()
            ],
            "withheld_classes": list(self.withheld),
            "holds": self.holds,
        }

    def _suppressed(self) -> list[tuple[PublishedCell, SuppressedBounds | None]]:
        hidden = self.table.suppressed()
        return list(zip(hidden, self.bounds if self.bounds is not None else [None] * len(hidden), strict=True))


@dataclass(frozen=True)
class TableAssessment:
    """What published tables show, beside the δ of a rule.

    Attributes
    ----------
    minimum, known_rows : int
        The rule, and how many rows a reader knows.
    epsilons : tuple of Fraction
        ε in nats at which δ is asked, the first one for the target.
    target : Fraction, or None
        The δ that the rule should reach.
    curve : PrivacyCurve
        The δ of the rule, for each table by itself.
    tables : tuple of AssessedTable
        What each table shows.
    comparison : Comparison, or None
        What several tables give away together.
    together : Together, or None
        The δ of several tables together, where a range was declared.
    """

    minimum: int
    known_rows: int
    epsilons: tuple[Fraction, ...]
    target: Fraction | None
    curve: PrivacyCurve
    tables: tuple[AssessedTable, ...]
    comparison: Comparison | None
    together: Together | None = None

    @cached_property
    def deltas(self) -> tuple[Enclosure, ...]:
        """δ of the rule at each ε."""
        return tuple(self.curve.delta(epsilon) for epsilon in self.epsilons)

    @property
    def holds(self) -> bool:
        """Whether every table is one that the rule publishes, and no two of them isolate fewer people."""
        return all(each.holds for each in self.tables) and not (
            self.comparison is not None and (self.comparison.differences or self.comparison.isolated)
        )

    @cached_property
    def reached(self) -> bool | None:
        """Whether the rule reaches the target; None without a target, or where its bound does not decide it."""
        if self.target is None:
            return None
        try:
            return self.curve.satisfies(epsilon=self.epsilons[0], delta=self.target)
        except UndecidedError:
            return None

    @property
    def verdict(self) -> Verdict:
        """Whether all is as the rule has it; "undecided" for several tables, wrong totals, or a target left open."""
        if not self.holds or self.reached is False:
            return "no"
        inexact = any(each.table.contradictions() for each in self.tables)
        undecided = inexact or (self.target is not None and self.reached is None)
        if self.comparison is not None:
            bounded = self.together is not None and (
                self.target is None or self.together.reaches(self.epsilons[0], self.target)
            )
            undecided = undecided or not bounded
        return "undecided" if undecided else "yes"

    @property
    def leaves_a_dimension_out(self) -> bool:
        """Whether a dimension has no name in its file, so that several tables were not compared on it."""
        unnamed = [f"{own} of {each.table.name}" for each in self.tables for own in UNNAMED]
        return any(name in unnamed for each in self.tables for name in each.table.dimension_names)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reviewer should know besides the numbers."""
        found = [ABOUT_ZEROS] if any(each.table.zeros() for each in self.tables) else []
        found += [ABOUT_SUPPRESSION] if any(each.partly_suppressed for each in self.tables) else []
        found += [ABOUT_CLASSES] if any(each.gives_classes_away for each in self.tables) else []
        found += [ABOUT_SEVERAL] if self.comparison is not None and self.together is None else []
        found += [ABOUT_NAMES] if self.leaves_a_dimension_out else []
        for each in self.tables:
            if (base := _base_of_rounding(each.table)) is not None:
                found.append(
                    f"{each.table.name}: every count is a multiple of {base}. If it was rounded, the counts behind it "
                    "are not known, and neither is whether they are below the minimum"
                )
            if wrong := each.table.contradictions():
                first = wrong[0]
                found.append(
                    f"{each.table.name}: {len(wrong)} totals are not the sum of their cells ({first.total} instead of "
                    f"{first.cells} where {each.table.described(first.key)}); it is rounded or changed, or its totals "
                    "are declared wrongly, and δ is about exact tables"
                )
        return tuple(found)

    def document(self) -> dict[str, Any]:
        """The result for JSON: numbers that were given as exact strings, δ with both ends."""
        points = zip(self.epsilons, self.deltas, strict=True)
        return {
            "about": ABOUT_THE_RULE,
            "minimum": self.minimum,
            "known_rows": self.known_rows,
            "delta": _ends(self.deltas[0]),
            "deltas": [{"epsilon": str(epsilon), "delta": _ends(delta)} for epsilon, delta in points],
            "target_delta": None if self.target is None else str(self.target),
            "reached": self.reached,
            "tables": [each.document() for each in self.tables],
            "comparison": None if self.comparison is None else _compared(self.comparison, self._together()),
            "holds": self.holds,
            "verdict": self.verdict,
            "warnings": list(self.warnings),
        }

    def _together(self) -> dict[str, Any] | None:
        if self.together is None:
            return None
        return {
            "each": [str(end) for end in self.together.each],
            "assumption": self.together.assumption,
            "deltas": [
                {"epsilon": str(epsilon), "delta": _ends(self.together.delta(epsilon))} for epsilon in self.epsilons
            ],
        }

    def __str__(self) -> str:
        rule = f"a rule with minimum {self.minimum}"
        lines = [
            f"{rule} has δ at most {at_most(delta.upper)} at ε = {literal(epsilon)}"
            for epsilon, delta in zip(self.epsilons, self.deltas, strict=True)
        ]
        names = ", ".join(each.table.name for each in self.tables)
        lines.append(f"{names}: {'as such a rule has it' if self.holds else 'not what such a rule publishes'}")
        return "\n".join([*lines, *self.warnings])

    def __repr__(self) -> str:
        return f"<TableAssessment of {len(self.tables)} tables, minimum {self.minimum}: {self.verdict}>"


def assess_tables(
    tables: str | Path | PublishedTable | Sequence[str | Path | PublishedTable],
    *,
    minimum: Number,
    epsilon: Number | Sequence[Number],
    known: Number = 0,
    delta: Number | None = None,
    layout: TableLayout | None = None,
    by: str | None = None,
    each: tuple[Number, Number] | None = None,
    bounds: bool = True,
) -> TableAssessment:
    r"""Compare published tables with a minimum cell count, and say which δ a rule with that minimum has.

    Parameters
    ----------
    tables : path or PublishedTable, or several
        CSV files as :mod:`statpriv.files.published_table` reads them. Several are of the same people, or some of them.
    minimum : int
        The least number of people in every cell that can occur, at least 2: the rule that was followed.
    epsilon : number, or several
        ε in nats, at least 0.
    known : int, default 0
        How many rows a reader knows.
    delta : number, optional
        A target for the δ of the rule at the first ε.
    layout : TableLayout, optional
        How the files are to be read.
    by : str, optional
        A dimension that is a public classification, by region for instance: the table of each of its classes is
        published or withheld by itself.
    each : tuple of two numbers, optional
        The least and the largest probability of a cell, for each person their own, given all else about the person:
        several tables about different dimensions are then bounded together (:mod:`statpriv.files.tables_together`).
    bounds : bool, default True
        Whether suppressed cells are bounded and several tables looked at together, for which scipy is needed.

    Returns
    -------
    TableAssessment

    Raises
    ------
    ArgumentError
        A value that is not allowed, or a file that cannot be read without a guess.
    MissingExtraError
        scipy is not installed, and bounds are needed: `pip install 'statpriv[audit]'`.

    Notes
    -----
    Source of δ: the theorem in docs/explanation/minimum-counts.md. Of bounds: :mod:`statpriv.audit.equations`.

    Examples
    --------
    >>> import statpriv as sp
    >>> table = sp.PublishedTable.from_counts({"region": ["n", "s"], "smokes": ["yes", "no"]}, [[12, 40], [9, 31]])
    >>> found = sp.assess_tables(table, minimum=10, epsilon=1)
    >>> found.verdict, [cell.key for cell in found.tables[0].below], found.deltas[0].upper < 0.0046
    ('no', [('s', 'yes')], True)
    """
    several: list[str | Path | PublishedTable] = (
        [tables] if isinstance(tables, str | Path | PublishedTable) else list(tables)
    )
    if not several:
        raise ArgumentError("tables: at least one table is required")
    least, knows = as_count(minimum, "minimum", least=2), as_count(known, "known")
    asked: list[Number] = list(epsilon) if is_list(epsilon) else [epsilon]  # type: ignore[list-item]
    if not asked:
        raise ArgumentError("epsilon: at least one ε is required")
    epsilons = tuple(as_nonnegative(one, "epsilon") for one in asked)
    target = None if delta is None else as_probability(delta, "delta")
    curve = minimum_count_curve(least, known=knows)
    read = _named([one if isinstance(one, PublishedTable) else read_table(one, layout) for one in several])
    assessed = tuple(_assessed(table, least, by, bounds=bounds) for table in read)
    comparison = compare(read, least, jointly=bounds) if len(read) > 1 else None
    if each is not None and comparison is None:
        raise ArgumentError("each: it is about several tables of the same people, and one is given")
    together = None if each is None else tables_together(read, each, knows)
    return TableAssessment(least, knows, epsilons, target, curve, assessed, comparison, together)


def _assessed(table: PublishedTable, minimum: int, by: str | None, *, bounds: bool) -> AssessedTable:
    if by is not None and by not in table.dimension_names:
        raise ArgumentError(f"by = {by}: no dimension of {table.name}, which has {', '.join(table.dimension_names)}")
    hidden = suppressed_bounds(table) if bounds or not table.suppressed() else None
    return AssessedTable(table, table.below(minimum), hidden, by)


def _base_of_rounding(table: PublishedTable) -> int | None:
    """A number that all of several different counts are multiples of."""
    counts = {cell.count for cell in table.inner if cell.count}
    return next((base for base in (10, 5, 3) if len(counts) >= 5 and not any(count % base for count in counts)), None)


def _named(tables: list[PublishedTable]) -> list[PublishedTable]:
    """Several tables, so that none is called as another is, and no two share a dimension that neither names."""
    if len(tables) == 1:
        return tables
    names = [each.name for each in tables]
    found = []
    for k, each in enumerate(tables, start=1):
        name = f"{each.name} ({k})" if names.count(each.name) > 1 else each.name
        dimensions = tuple(
            (f"{own} of {name}" if own in UNNAMED else own, categories) for own, categories in each.dimensions
        )
        found.append(replace(each, name=name, dimensions=dimensions))
    return found


# --- for JSON ------------------------------------------------------------------------------------


def _cell(table: PublishedTable, cell: PublishedCell) -> dict[str, Any]:
    return {"cell": table.labels(cell.key), "count": cell.count}


def _bounds(bounds: Bounds) -> dict[str, Any]:
    return {
        "lower": bounds.lower,
        "upper": bounds.upper,
        "lower_attained": bounds.lower_attained,
        "upper_attained": bounds.upper_attained,
    }


def _compared(found: Comparison, together: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "together": together,
        "why": ABOUT_SEVERAL if together is None else None,
        "compared": found.compared,
        "differences": [
            {"kind": each.kind, "tables": list(each.tables), "where": dict(each.where), "people": each.people}
            for each in found.differences
        ],
        "joint": found.joint,
        "isolated": [{"where": dict(each.where), **_bounds(each.bounds)} for each in found.isolated],
    }


def _ends(delta: Enclosure) -> dict[str, float]:
    return {"lower": delta.lower, "upper": delta.upper}
