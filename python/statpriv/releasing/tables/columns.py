"""The columns of a table, and the check of their declared types against the constants of the plan."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, Protocol, TypeAlias

from statpriv import budget
from statpriv.releasing.plan import DataSource
from statpriv.releasing.predicate import ColumnType
from statpriv.releasing.sql_text import quoted
from statpriv.releasing.tables.protocol import Refusals

__all__ = ["Column", "Condition", "Kind", "check_columns", "first_that_holds", "fits_decimal", "position_of"]

Kind: TypeAlias = Literal["number", "float", "text", "date", "boolean", "untyped", "other"]
"""How the values of a column compare; ``untyped`` cells (CSV) are read as the constants of a predicate demand."""


class Condition(Protocol):
    """What a plan asks of columns: a predicate, or a dimension of an exact table."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    @property
    def column_types(self) -> dict[str, ColumnType]:
        """The type that each column must have."""

    @property
    def equated(self) -> frozenset[str]:
        """The columns that are compared for equality."""

    @property
    def place(self) -> str:
        """How messages about the table call the condition."""

    @property
    def subject(self) -> str:
        """What compares the columns, in messages."""


_DECIMAL = re.compile(r"DECIMAL\((\d+), *(\d+)\)", re.IGNORECASE)

_REMEDIES = {
    "number": "write the constant without quotes",
    "float": "write the constant without quotes",
    "text": "write the constant as text, in single quotes",
    "date": "write the constant as DATE '2020-12-31'",
    "boolean": "write TRUE or FALSE",
}
_PADDED_TEXT = re.compile(r"char(acter)?\(", re.IGNORECASE)
_PADDED = "blanks at the end of such texts are there and not there: store it as text without a length"
_TOO_LONG = "decimals have at most 20 digits before the point and 18 after it: store it as DECIMAL(38, 18)"
_COMPARABLE = "only numbers, text, dates and booleans can be compared"


@dataclass(frozen=True)
class Column:
    """A column as its source declares it.

    Attributes
    ----------
    declared
        The type as the engine spells it.
    identifying
        Whether its values are text or whole numbers, and may therefore serve as ids, units or groups.
    """

    name: str
    declared: str
    kind: Kind
    identifying: bool

    def misfit(self, predicate: Condition) -> str | None:
        """Explain why the declared type does not fit a predicate; None if it fits."""
        demand = predicate.column_types[self.name]
        if demand == "any" or self.kind in {"untyped", demand}:
            return None
        if self.kind == "float" and demand == "number":
            if self.name not in predicate.equated:
                return None
            return (
                f"is declared {self.declared}, where equality is a matter of rounding; store whole numbers as "
                "integers, or compare with a range"
            )
        return f"is declared {self.declared}, and {predicate.subject} compares it as a {demand}; {self._remedy}"

    @property
    def _remedy(self) -> str:
        if _PADDED_TEXT.match(self.declared):
            return _PADDED
        if self.kind == "other" and _DECIMAL.fullmatch(self.declared):
            return _TOO_LONG
        return _REMEDIES.get(self.kind, _COMPARABLE)


def fits_decimal(declared: str) -> bool:
    """Whether a declared DECIMAL(width, scale) fits into DECIMAL(38, 18), as every constant does.

    Examples
    --------
    >>> fits_decimal("DECIMAL(38,18)"), fits_decimal("decimal(22, 1)"), fits_decimal("DOUBLE")
    (True, False, False)
    """
    decimal = _DECIMAL.fullmatch(declared)
    if decimal is None:
        return False
    width, scale = int(decimal[1]), int(decimal[2])
    return scale <= 18 and width - scale <= 20


def position_of(columns: Sequence[Column], name: str) -> int:
    """Index of a column whose presence :func:`check_columns` has verified."""
    return next(index for index, column in enumerate(columns) if column.name == name)


def first_that_holds(conditions: Sequence[str]) -> str:
    """Render the index of the first condition that holds, or the number of conditions if none holds."""
    cases = " ".join(f"WHEN {condition} THEN {cell}" for cell, condition in enumerate(conditions))
    return f"CASE {cases} ELSE {len(conditions)} END"


def check_columns(columns: Sequence[Column], source: DataSource, predicates: Sequence[Condition]) -> None:
    """Check names, declared types and settings against the plan, before any row is read.

    Raises
    ------
    TableError
        With a message that names the column, its declared type and the types that would fit.
    """
    refusal = Refusals(source.label)
    if any(column.kind != "untyped" for column in columns) and (source.null_values or source.delimiter != ","):
        raise refusal(
            "null_values and delimiter are for CSV files, and this source has types and says itself what is unknown "
            "(NULL); remove them from [data], or write a condition about the value"
        )
    if len(columns) > budget.MAX_TABLE_COLUMNS:
        raise refusal(
            f"it has {len(columns)} columns, and at most {budget.MAX_TABLE_COLUMNS} are read; release from a copy of "
            "the columns that count"
        )
    names = [column.name for column in columns]
    repeated = next((name for name, times in Counter(names).items() if times > 1), None)
    if repeated is not None:
        raise refusal(f"two columns are called {quoted(repeated)}; give each its own name")
    for key, what, named in (
        ("row_id", "ids", source.row_id),
        ("group", "groups", source.group),
        ("unit", "units", source.unit),
    ):
        if named is not None and (why := _absence(named, names) or _anonymous(columns, named, what)):
            raise refusal(f"{key} = {quoted(named)}: {why}")
    for predicate in predicates:
        where = predicate.place
        if len({name.lower() for name in predicate.columns}) < len(predicate.columns):
            raise refusal(f"{where}: the engine cannot tell columns apart that differ only in case")
        for name in predicate.columns:
            if why := _absence(name, names):
                raise refusal(f"{where}: {why}")
            if why := columns[position_of(columns, name)].misfit(predicate):
                raise refusal(f"{where}: the column {quoted(name)} {why}")


def _anonymous(columns: Sequence[Column], name: str, what: str) -> str | None:
    column = columns[position_of(columns, name)]
    if column.identifying:
        return None
    return f"the column is declared {column.declared}, and {what} are text or whole numbers"


def _absence(name: str, names: Sequence[str]) -> str | None:
    """Explain that a column is absent, with suggestions of similar names; None if the column is present."""
    if name in names:
        return None
    folded = {candidate.lower(): candidate for candidate in names}
    close = [folded[match] for match in get_close_matches(name.lower(), folded, n=3)]
    meant = f"; did you mean {' or '.join(map(quoted, close))}?" if close else ""
    if len(names) == 1 and (marks := [mark for mark in ";|\t" if mark in names[0]]):
        meant = f": the only one is {quoted(names[0])}; state delimiter = {quoted(marks[0])} in [data]"
    return f"there is no column {quoted(name)}{meant}"
