"""Messages about mistakes in a plan file: the path of the key, its value, what is allowed."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from statpriv import budget
from statpriv.errors import PlanError
from statpriv.numeric.arguments import is_mapping
from statpriv.releasing.plan_exact_tables import ExactTable
from statpriv.releasing.plan_tables import (
    CellTable,
    CountTable,
    DataTable,
    GuaranteeTable,
    HistogramTable,
    PlanFile,
    PriorTable,
    PublicationTable,
)
from statpriv.releasing.plan_values import shown
from statpriv.releasing.sql_text import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

__all__ = ["mistake_in_words", "printed"]


def mistake_in_words(detail: ErrorDetails) -> str:
    """One line: the path of the key, its value, what is allowed."""
    location = _Location.of(detail["loc"])
    kind = detail["type"]
    if kind == "missing":
        return f"{location.key} is missing: {location.description}"
    if kind == "extra_forbidden":
        return f"{location.key} is not a key of {location.table_name}{location.suggestion}"
    rule = _rule(detail, location)
    if isinstance(detail.get("ctx", {}).get("error"), PlanError):  # its message already names the value: where = "…"
        return f"{location.above.key}.{rule}"
    if is_mapping(detail["input"]) or not location.key:
        return f"{location.key} {rule}".strip()
    return f"{location.key} = {shown(detail['input'])}: {rule}"


def _rule(detail: ErrorDetails, location: _Location) -> str:
    if detail["type"] == "value_error":
        return str(detail["ctx"]["error"])
    rules = {
        "bool_type": "must be true or false",
        "list_type": f"must be a list: {location.description}",
        "model_type": f"must be {location.description}",
        "too_short": f"needs {location.description}",
        "too_long": f"at most {budget.MAX_CELLS} cells are allowed"
        if location.path[-1] == "cell"
        else f"at most {budget.MAX_PLAN_TABLES} tables are allowed"
        if location.path[-1] == "table"
        else f"at most {budget.MAX_FILE_TABLES} queries are allowed",
        "literal_error": f"must be one of {detail.get('ctx', {}).get('expected')}",
    }
    return rules.get(detail["type"]) or detail["msg"]


@dataclass(frozen=True)
class _Location:
    """A location in a plan: its keys and its 0-based list indices, and whether the enclosing query is a histogram."""

    path: tuple[str | int, ...]
    histogram: bool

    @classmethod
    def of(cls, places: Sequence[str | int]) -> _Location:
        # The kind of a query follows its number in the path and is not a key.
        kinds = places[2:3] if places[:1] == ("query",) else ()
        return cls((*places[:2], *places[3:]) if kinds else tuple(places), "histogram" in kinds)

    @property
    def above(self) -> _Location:
        return _Location(self.path[:-1], self.histogram)

    @property
    def key(self) -> str:
        path = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{printed(part)}" for part in self.path)
        return path.removeprefix(".")

    @property
    def names(self) -> tuple[str, ...]:
        """The keys, without numbers in lists."""
        return tuple(part for part in self.path if isinstance(part, str))

    @property
    def table(self) -> type[BaseModel]:
        """The model of the table that holds the key."""
        tables: dict[tuple[str, ...], type[BaseModel]] = {
            (): PlanFile,
            ("data",): DataTable,
            ("guarantee",): GuaranteeTable,
            ("publication",): PublicationTable,
            ("query",): HistogramTable if self.histogram else CountTable,
            ("query", "cell"): CellTable,
            ("table",): ExactTable,
            ("prior",): PriorTable,
        }
        # A query by itself, number k of its list, is described where the list is.
        return PlanFile if len(self.path) == 2 and isinstance(self.path[1], int) else tables[self.above.names]

    @property
    def table_name(self) -> str:
        return "a histogram" if self.table is HistogramTable else "a plan"

    @property
    def description(self) -> str:
        fields = self.table.model_fields
        name = self.names[-1]
        return str(fields[name].description) if name in fields else "a value"

    @property
    def suggestion(self) -> str:
        if self.table is HistogramTable and self.path[-1] in CellTable.model_fields:
            return "; it stands in each [[query.cell]]"
        known = list(self.table.model_fields)
        close = difflib.get_close_matches(str(self.path[-1]), known, n=1)
        return f"; did you mean {close[0]}?" if close else f"; allowed here: {', '.join(known)}"


def printed(name: str) -> str:
    """Show a name unquoted if a terminal can display it, and otherwise quoted with escapes."""
    return name if name.isprintable() else quoted(name)
