"""The statements of a plan's queries: the range of a property, or of each cell of a histogram, and the steps."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.queries.property import Between

__all__ = ["Range", "has_cells", "range_of", "ranges_of", "steps_of"]

Range: TypeAlias = "tuple[Fraction, Fraction]"


def has_cells(query: object) -> bool:
    """Whether a query counts the cells of a histogram instead of one property."""
    return isinstance(query, HistogramQuery)


def range_of(stated: Any) -> Range:  # noqa: ANN401  (a number, a range, or a statement by group)
    """Both ends of a probability or a range of probabilities."""
    return (stated.lower, stated.upper) if isinstance(stated, Between) else (stated, stated)


def ranges_of(query: Any) -> tuple[Range, ...]:  # noqa: ANN401  (any query)
    """The range of each probability that a query states: that of one property, or those of a histogram's cells."""
    return tuple(map(range_of, query.cells if has_cells(query) else (getattr(query, "p", None),)))


def steps_of(query: object) -> tuple[Any, ...]:
    """The steps applied to the answer."""
    return query.steps if isinstance(query, PostProcessed) else ()
