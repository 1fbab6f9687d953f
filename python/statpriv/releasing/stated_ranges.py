"""The statements of a plan's queries: the range of a property, or of each cell of a histogram, and the steps."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.ranges import ends
from statpriv.numeric.literals import literal

__all__ = ["Range", "has_cells", "ranges_of", "written_range"]

Range: TypeAlias = "tuple[Fraction, Fraction]"


def has_cells(query: object) -> bool:
    """Whether a query counts the cells of a histogram instead of one property."""
    return isinstance(query, HistogramQuery)


def ranges_of(query: Any) -> tuple[Range, ...]:  # noqa: ANN401  (any query)
    """The range of each probability that a query states: of one property, or of the cells of a histogram or a table.

    An exact table may state none.
    """
    p = query.cells if has_cells(query) else query.p
    return tuple(map(ends, () if p is None else p if isinstance(p, tuple) else (p,)))


def written_range(declared: Range) -> dict[str, str]:
    """A range as reports write it."""
    lower, upper = declared
    return {"lower": literal(lower), "upper": literal(upper)}
