"""What a report says of exact tables: a function of the plan, the number of rows and the published cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.search import least_integer
from statpriv.releasing.exact_tables import TableAnswer, declared, too_few_rows
from statpriv.releasing.guarantee import Guarantee
from statpriv.releasing.plan import PlannedTable
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
_LADDER = (
    "of a table with coarser groupings, the finest that holds the minimum is published, and which one that is may be "
    "known"
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
    return [
        *([] if COMMON_LAW in stated else [COMMON_LAW]),
        _DECLARED_ROWS,
        *([_LADDER] if any(table.is_ladder for table in plan.tables) else []),
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
