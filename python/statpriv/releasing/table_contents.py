"""What a report says of exact tables: a function of the plan, the number of rows and the published cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.search import least_integer
from statpriv.releasing.cell_ranges import CellRanges
from statpriv.releasing.exact_tables import TableAnswer, declared, too_few_rows
from statpriv.releasing.guarantee import Guarantee
from statpriv.releasing.planned_table import PlannedTable
from statpriv.releasing.stated_ranges import written_range
from statpriv.releasing.withholding import withheld_at_most
from statpriv.rules.assumptions import COMMON_LAW

__all__ = [
    "answered_tables",
    "assumptions_of_tables",
    "known_rows_of_interest",
    "prospective_tables",
    "warnings_of_tables",
]

_DECLARED_ROWS = (
    "every row is in a declared cell that is not impossible: a published table says so, and δ is for every law on "
    "these cells"
)
_DECLARED_RANGES = (
    "every row is in a declared cell that is not impossible: a published table says so, and declared probabilities are "
    "those of these cells"
)
_LADDER = (
    "of a table with coarser groupings, the finest that holds the minimum is published, and which one that is may be "
    "known"
)
_TREE = (
    "of a nested table, a published cell is split where all possible cells that this gives hold the minimum, and which "
    "cells are split may be known"
)
_PUBLIC_CLASSES = "the class of every row by a public classification is known of everybody, as the plan says"
_POINTS = 8
"""Numbers of known rows below the minimum for which δ is computed."""


def prospective_tables(guarantee: Guarantee, deltas: Sequence[Enclosure]) -> dict[str, Any]:
    """The key `tables` of a report without answers; nothing if the plan has no tables.

    Parameters
    ----------
    guarantee
        The guarantee from the plan and the number of rows.
    deltas
        δ of the part of each table, for somebody who knows who is in it.
    """
    asked = zip(guarantee.plan.tables, guarantee.tabulated, deltas, strict=True)
    entries = [
        {
            **_declared(table),
            "rows": part.size,
            "delta": {"lower": delta.lower, "upper": delta.upper},
            **withheld_at_most(part),
            "published": None,
            "withheld": [],
            "cells": [],
        }
        for table, part, delta in asked
    ]
    return {"tables": entries} if entries else {}


def _declared(table: PlannedTable) -> dict[str, Any]:
    return {
        "name": table.name,
        **declared(table),
        "minimum": table.minimum,
        "by": table.by,
        "by_source": table.by_source,
        **({} if table.ranges is None else _ranges(table.ranges)),
    }


def _ranges(ranges: CellRanges) -> dict[str, Any]:
    return {
        "probability": written_range(ranges.of_others),
        "probabilities": [{"cell": list(cell), "probability": written_range(own)} for cell, own in ranges.own],
        "each": ranges.each,
        "source": ranges.source,
    }


def answered_tables(
    prospective: Mapping[str, Any], guarantee: Guarantee, answers: Sequence[TableAnswer]
) -> dict[str, Any]:
    """The key `tables` completed with the published cells; nothing if the plan has no tables."""
    asked = zip(prospective.get("tables", ()), guarantee.plan.tables, answers, strict=True)
    entries = [{**entry, **answer.document(table)} for entry, table, answer in asked]
    return {"tables": entries} if entries else {}


def assumptions_of_tables(guarantee: Guarantee) -> list[str]:
    """What the certificate of the tables rests on, besides what its theorem says."""
    plan = guarantee.plan
    if not plan.tables:
        return []
    stated = [*guarantee.curve.assumptions]
    shared = not all(table.is_each for table in plan.tables) and COMMON_LAW not in stated
    return [
        *([COMMON_LAW] if shared else []),
        *([_DECLARED_ROWS] if any(table.ranges is None for table in plan.tables) else []),
        *([_DECLARED_RANGES] if any(table.ranges is not None for table in plan.tables) else []),
        *([_LADDER] if any(table.is_ladder for table in plan.tables) else []),
        *([_TREE] if any(table.nested for table in plan.tables) else []),
        *([_PUBLIC_CLASSES] if any(table.by is not None for table in plan.tables) else []),
    ]


def known_rows_of_interest(guarantee: Guarantee) -> set[int]:
    """Numbers of known rows between which δ of a table rises to 1."""
    if not guarantee.plan.tables:
        return set()
    most = min(min(table.query.minimum for table in guarantee.plan.tables) - 1, guarantee.rows - 1)
    tolerated = _most_known(guarantee, most)
    return {most * k // _POINTS for k in range(_POINTS + 1)} | {tolerated, min(tolerated + 1, most)}


def _most_known(guarantee: Guarantee, most: int) -> int:
    """The largest number of known rows, up to `most`, with which one table of all rows meets the target; 0 if none."""
    if not guarantee.is_one_table_of_all:
        return 0
    target = guarantee.plan.guarantee.delta

    def missed(known: int) -> bool:
        return Fraction(guarantee.secret(known=known, epsilon=guarantee.epsilon).upper) > target

    return max(least_integer(lambda known: known > most or missed(known), 0, most + 1) - 1, 0)


def warnings_of_tables(guarantee: Guarantee) -> Iterator[str]:
    """What may be wrong with the tables, by the plan and the number of rows."""
    for table, part in zip(guarantee.plan.tables, guarantee.tabulated, strict=True):
        if (warning := too_few_rows(table, part.size)) is not None:
            yield warning
