"""The tables `[[table]]` of a plan file as a pydantic model: exact tables with declared categories."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

from statpriv import budget
from statpriv.errors import MissingExtraError
from statpriv.numeric.arguments import is_list, is_mapping
from statpriv.releasing.cell_ranges import CellRanges
from statpriv.releasing.classification import DIMENSIONS_SCHEMA, Dimension, category_label, dimension_from
from statpriv.releasing.plan import Range
from statpriv.releasing.plan_values import (
    RANGE_SCHEMAS,
    Label,
    Note,
    Share,
    Size,
    StrictTable,
    named_column,
    probability_range,
    whole_size,
)
from statpriv.releasing.planned_table import PlannedTable
from statpriv.releasing.sql_text import quoted

try:
    from pydantic import Field, PlainValidator, StrictBool, ValidationInfo, WithJsonSchema, model_validator
except ImportError as missing:
    raise MissingExtraError("a plan needs pydantic: pip install 'statpriv[release]'") from missing

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ExactTable"]

_Read = TypeVar("_Read")
_ByCell: TypeAlias = tuple[tuple[tuple[str, ...], _Read], ...]
"""What is stated of some cells."""

_IMPOSSIBLE_SCHEMA: dict[str, Any] = {
    "type": "array",
    "items": {"type": "array", "minItems": 1, "items": {"type": ["string", "number", "boolean"]}},
}


def _dimensions(value: object, info: ValidationInfo) -> tuple[Dimension, ...]:
    if not is_mapping(value) or not value:
        raise ValueError('must be a table [table.dimensions] with at least one dimension, such as region = ["n", "s"]')
    dimensions = tuple(dimension_from(column, stated) for column, stated in value.items())
    folded = [dimension.column.casefold() for dimension in dimensions]
    if len(set(folded)) < len(folded):
        raise ValueError("has two dimensions whose names differ only in case, which engines cannot tell apart")
    for key in ("row_id", "unit", "group"):
        named = named_column(info, key)
        if named is not None and named.casefold() in folded:
            raise ValueError(f"has the dimension {quoted(named)}, which is the {key} of [data]")
    if "rowid" in folded:
        raise ValueError('has the dimension "rowid", which is the position of a row')
    cells = prod(len(dimension.categories) for dimension in dimensions)
    if not 2 <= cells <= budget.MAX_PLAN_TABLE_CELLS:
        raise ValueError(f"has {cells} cells; allowed are 2 to {budget.MAX_PLAN_TABLE_CELLS}: declare fewer categories")
    return dimensions


def _by_cell(key: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a list that states something of some cells."""
    entry = {
        "type": "object",
        "additionalProperties": False,
        "required": ["cell", key],
        "properties": {"cell": _IMPOSSIBLE_SCHEMA["items"], key: schema},
    }
    return {"type": "array", "items": entry}


_SUCH_MINIMA = '[{ cell = ["north", "<30"], minimum = 30 }]'


def _minimum(value: object) -> int:
    if is_mapping(value):
        raise ValueError(
            f"must be one number, of all cells that have none of their own; state those as minima = {_SUCH_MINIMA}"
        )
    least = whole_size(value)
    if least < 2:
        raise ValueError("must be at least 2: a cell of one row shows where that row is")
    if least > budget.MAX_TABLE_ROWS:
        raise ValueError("must be below 2^32: no table that can be released has that many rows")
    return least


_COMBINATIONS = 'must be a list of combinations, such as [["north", "<30"]], each with one category of every dimension'


def _impossible(value: object) -> tuple[tuple[str, ...], ...]:
    if is_list(value) and all(is_list(combination) for combination in value):
        return tuple(tuple(map(category_label, combination)) for combination in value)
    raise ValueError(_COMBINATIONS)


def _read_by_cell(value: object, key: str, such: str, read: Callable[[object], _Read]) -> _ByCell[_Read]:
    """What a list states of some cells, by its key."""
    if not is_list(value) or not all(is_mapping(entry) and entry.keys() == {"cell", key} for entry in value):
        raise ValueError(f"must be a list of cells, each with its {key}, such as {such}")
    if not all(is_list(entry["cell"]) for entry in value):
        raise ValueError('has a cell that is no list of categories, one of every dimension, such as ["north", "<30"]')
    return tuple((tuple(map(category_label, entry["cell"])), read(entry[key])) for entry in value)


def _minima(value: object) -> _ByCell[int]:
    return _read_by_cell(value, "minimum", _SUCH_MINIMA, _minimum)


def _probabilities(value: object) -> _ByCell[Range]:
    such = '[{ cell = ["north", "<30"], probability = ["0.1", "0.2"] }]'
    return _read_by_cell(value, "probability", such, probability_range)


class ExactTable(StrictTable):
    """An exact table of counts, published only if every possible cell holds a minimum number of rows."""

    name: Label = Field(description="a label for the report")
    minimum: Annotated[int, PlainValidator(_minimum), WithJsonSchema({"type": "integer", "minimum": 2})] = Field(
        description="the least number of rows in every cell that has none of its own in minima, at least 2"
    )
    minima: Annotated[
        _ByCell[int],
        PlainValidator(_minima),
        WithJsonSchema(_by_cell("minimum", {"type": "integer", "minimum": 2})),
    ] = Field(default=(), description="cells with a least number of rows of their own, each as cell and minimum")
    dimensions: Annotated[tuple[Dimension, ...], PlainValidator(_dimensions), WithJsonSchema(DIMENSIONS_SCHEMA)] = (
        Field(description="a table [table.dimensions]: for each column its categories")
    )
    impossible: Annotated[
        tuple[tuple[str, ...], ...], PlainValidator(_impossible), WithJsonSchema(_IMPOSSIBLE_SCHEMA)
    ] = Field(default=(), description="combinations of categories that cannot occur")
    nested: StrictBool = Field(
        default=False,
        description="whether cells of the first dimension are split by the second, and so on, each where all that this "
        "gives hold the minimum; false to publish the table whole or not at all",
    )
    by: Label | None = Field(default=None, description="a dimension that everybody is taken to know of each row")
    by_source: Note | None = Field(default=None, description="where the classes of by are public; required with by")
    rows: Size | None = Field(default=None, description="the number of rows of its part; all rows answer if absent")
    share: Share | None = Field(default=None, description="the part of the rows, instead of rows")
    probability: (
        Annotated[Range, PlainValidator(probability_range), WithJsonSchema({"anyOf": RANGE_SCHEMAS})] | None
    ) = Field(
        default=None,
        description="what the public knows of the probability of each possible cell that has none in probabilities; "
        "not needed: without it, δ is for every distribution of the rows",
    )
    probabilities: Annotated[
        _ByCell[Range],
        PlainValidator(_probabilities),
        WithJsonSchema(_by_cell("probability", {"anyOf": RANGE_SCHEMAS})),
    ] = Field(default=(), description="cells with a probability of their own, each as cell and probability")
    each: StrictBool = Field(
        default=False,
        description="whether each row has probabilities of its own in the ranges; false if all rows share them",
    )
    source: Note | None = Field(
        default=None, description="where the probabilities are publicly known from; required with probability"
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.rows is not None and self.share is not None:
            raise ValueError("has rows and share: one of them states the part; with neither, all rows answer")
        if self.by is not None and self.by_source is None:
            raise ValueError(
                f"has by = {quoted(self.by)} and no by_source: it is taken as known of everybody, and the size of each "
                "published class stands in the report. Say where it is public, such as "
                'by_source = "address register"; if it is not, leave by out'
            )
        if self.by is None and self.by_source is not None:
            raise ValueError("has by_source and no by, whose classes it is about; remove it, or name the dimension")
        self._ranges_fit_together()
        self.planned()  # its own rules name what does not fit
        return self

    def _ranges_fit_together(self) -> None:
        if self.probability is None:
            stated = {"probabilities": self.probabilities, "each": self.each, "source": self.source}
            if alone := [key for key, value in stated.items() if value]:
                raise ValueError(
                    f"has {alone[0]} and no probability, the range of every cell that has none of its own: state it, "
                    f"or leave {alone[0]} out"
                )
        elif self.source is None:
            raise ValueError(
                "has a probability and no source: say where the ranges are publicly known from, such as source = "
                '"census of 2021". They must not come from this table'
            )
        elif (cells := prod(len(dimension.categories) for dimension in self.dimensions)) > budget.MAX_CELLS:
            raise ValueError(
                f"has a probability and {cells} cells; of cells with ranges every pair is looked at, and at most "
                f"{budget.MAX_CELLS} are allowed. Declare fewer categories, or leave probability out: then δ is for "
                "every distribution of the rows"
            )

    def planned(self) -> PlannedTable:
        """The table of the plan."""
        return PlannedTable(
            name=self.name,
            dimensions=self.dimensions,
            minimum=self.minimum,
            minima=tuple((cell, least) for cell, least in self.minima if least != self.minimum),
            impossible=self.impossible,
            by=self.by,
            by_source=self.by_source,
            rows=self.rows,
            share=self.share,
            ranges=self._ranges,
            nested=self.nested,
        )

    @property
    def _ranges(self) -> CellRanges | None:
        if self.probability is None:
            return None
        own = tuple((cell, stated) for cell, stated in self.probabilities if stated != self.probability)
        return CellRanges(self.probability, own, each=self.each, source=self.source or "")
