"""How exact tables with a minimum count stand in documents: the fields of one kind of query.

.. code-block:: toml

    [query]
    kind = "contingency-table"
    dimensions = { region = ["n", "s"], age = ["<30", "30-60", ">60"] }
    minimum = 10
    minima = [{ cell = ["n", ">60"], minimum = 20 }]
    impossible = [["n", "<30"]]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from statpriv import budget
from statpriv.model.fields import COUNT, SIZE, TEXT, TRUTH, Field, Record, Value, list_of, table_from
from statpriv.model.kinds import Slot, slot
from statpriv.model.queries.contingency import DEFAULT, ContingencyTable

_DIMENSIONS = Field(
    table_from,
    "a table from each dimension to a list of its categories",
    {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {"type": "array", "minItems": 1, "uniqueItems": True, "items": TEXT.schema},
    },
    lambda dimensions: {name: list(categories) for name, categories in dimensions},
)


def _cell(value: Value) -> Value:
    return tuple(value) if isinstance(value, list) else value


_CELL = Field(
    _cell,
    "a list with a category of each dimension, or the number of a cell",
    {"anyOf": [COUNT.schema, {"type": "array", "minItems": 1, "items": TEXT.schema}]},
    lambda cell: list(cell) if isinstance(cell, tuple) else cell,
)
MINIMUM = replace(
    SIZE,
    allowed="a whole number of at least 2",
    schema={"type": "integer", "minimum": 2, "maximum": int(budget.MAX_INTEGER)},
)
_MINIMA = list_of(
    Record({"cell": _CELL, "minimum": MINIMUM}).field("a table with cell and minimum"),
    "a list of tables with cell and minimum",
    least=1,
)

_GROUPING = Record(
    {"label": TEXT, "categories": list_of(TEXT, "a list of categories", least=1)}, "a group of categories"
)
_GROUPINGS = list_of(
    list_of(_GROUPING.field("a table with label and categories"), "a list of groups", least=1),
    "a list of coarser groupings, the finest first",
    least=1,
)


def _recodings(value: Value) -> Value:
    return {
        name: [{group["label"]: group["categories"] for group in each} for each in _GROUPINGS.read(groupings)]
        for name, groupings in table_from(value).items()
    }


_RECODE = Field(
    _recodings,
    "a table from a dimension to a list of coarser groupings, the finest first",
    {"type": "object", "minProperties": 1, "additionalProperties": _GROUPINGS.schema},
    lambda recode: {
        name: [[{"label": label, "categories": [*own]} for label, own in each] for each in groupings]
        for name, groupings in recode
    },
)

SLOTS: Mapping[str, Slot] = {
    "dimensions": slot(_DIMENSIONS.optional(), "dimensions"),
    "number_of_cells": Slot(
        SIZE.optional(), "number_of_cells", lambda table: None if table.dimensions is not None else table.stated_cells
    ),
    "minimum": slot(MINIMUM.described("of every cell that states none of its own"), "default", "minimum"),
    "minima": Slot(
        _MINIMA.optional(),
        "minima",
        lambda table: [{"cell": cell, "minimum": least} for cell, least in table.minima] or None,
    ),
    "impossible": Slot(
        list_of(_CELL, "a list of cells", least=1).optional(), "impossible", lambda table: table.impossible or None
    ),
    "recode": Slot(_RECODE.optional(), "recode", lambda table: table.recode or None),
    "nested": Slot(TRUTH.optional().described("a tree"), "nested", lambda table: table.nested or None),
    "by": slot(TEXT.optional().described("the dimension that is a public classification"), "by"),
}
"""The fields of the kind, but for the labels and the steps that every query may have."""


def contingency_table(
    *,
    minimum: int,
    dimensions: Mapping[str, Any] | None = None,
    number_of_cells: int = 0,
    minima: Iterable[Mapping[str, Any]] = (),
    **stated: Any,  # noqa: ANN401  (the other fields)
) -> ContingencyTable:
    """The query of what was read."""
    own = {entry["cell"]: entry["minimum"] for entry in minima}
    return ContingencyTable(
        number_of_cells if dimensions is None else dimensions,
        minimum={DEFAULT: minimum, **own},
        **stated,
    )
