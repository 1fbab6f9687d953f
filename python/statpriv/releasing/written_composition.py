"""The composition that a report states: the input from which `statpriv compose` computes δ again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from statpriv.model.codec import ENDS, POPULATION, SAME_ROWS, without_name
from statpriv.model.fields import by_group
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.processed import Step
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.step_fields import written_publication
from statpriv.numeric.literals import literal
from statpriv.releasing.guarantee import Guarantee
from statpriv.releasing.part import Asked

__all__ = ["written_composition", "written_part"]


def written_composition(guarantee: Guarantee) -> dict[str, Any]:
    """The queries of a release with their rows, whom a reader knows, and ε."""
    return {
        "epsilon": literal(guarantee.epsilon),
        "known_rows": guarantee.plan.guarantee.known_rows,
        "population": POPULATION.write(guarantee.population),
        **({} if guarantee.plan.same_rows is None else {"same_rows": SAME_ROWS.write(guarantee.plan.same_rows)}),
        "part": [
            written_part(part.asked, part.size if part.groups is None else part.groups, part.certified)
            for part in guarantee.parts
        ],
    }


def written_part(asked: Asked, size: int | Mapping[str, int], steps: Sequence[Step] = ()) -> dict[str, Any]:
    """The description of a part for `statpriv compose`: the law of the query, the rows, the steps on the count.

    Parameters
    ----------
    asked : PropertyQuery, HistogramQuery or ContingencyTable
        The query.
    size : int, or dict of str to int
        Number of rows of the part, or of each group.
    steps : sequence of Step
        The steps that the certificate uses.
    """
    sized = {"size": size if isinstance(size, int) else dict(size)}
    if not isinstance(asked, PropertyQuery | HistogramQuery):
        return {"query": without_name(asked), **sized}
    if isinstance(asked, HistogramQuery):
        law = {"cells": [ENDS.write(cell) for cell in asked.cells]}
    else:
        law = {"probability": by_group(ENDS).write(asked.probabilities)}
    return {
        **law,
        **sized,
        **({"each": True} if asked.each_own else {}),
        **({} if asked.attribute is None else {"attribute": asked.attribute}),
        **written_publication(steps),
    }
