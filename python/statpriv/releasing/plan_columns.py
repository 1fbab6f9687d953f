"""The public codes of columns, and the constants of a plan that no row can have.

A condition with a slip, such as ``smoker = 'Yes'`` where the column says ``yes``, counts nobody, and its rows are spent
all the same. So a plan may declare what values a column has, from a codebook. Its constants are compared with these
codes before any data are opened. The codes are never compared with the data: that would tell whether a value occurs.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, TypeAlias

from pydantic import PlainValidator, WithJsonSchema

from statpriv import budget
from statpriv.numeric.arguments import is_list, is_mapping
from statpriv.numeric.literals import literal
from statpriv.releasing.classification import Dimension, plain_decimal
from statpriv.releasing.plan import StatedColumn
from statpriv.releasing.plan_values import NUMBER_SCHEMA, exact_number, printable
from statpriv.releasing.predicate_formula import Atom, ColumnType, Constant
from statpriv.releasing.sql_text import text_literal, unprintable

__all__ = ["Column", "DeclaredColumn", "constants_without_code", "values_without_category"]

_FORMS = 'must be a list of codes, such as ["yes", "no"], or { codes = […], range = [0, 120], source = "…" }'
_EQUAL = {"IN", "NOT IN"}
_SHOWN = 8
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


@dataclass(frozen=True)
class DeclaredColumn:
    """The values that a column may have.

    Attributes
    ----------
    codes
        Single values.
    range
        The ends of a range of numbers, which it may have besides; None if it has none.
    source
        Where the codes are published; None if the plan does not say.
    """

    codes: tuple[Constant, ...] = ()
    range: tuple[Fraction, Fraction] | None = None
    source: str | None = None

    @property
    def types(self) -> frozenset[ColumnType]:
        """The types of its values."""
        return frozenset(code.type for code in self.codes) | ({"number"} if self.range else set())

    def stated(self, name: str) -> StatedColumn:
        """The column as a report states it."""
        ends = None if self.range is None else (literal(self.range[0]), literal(self.range[1]))
        return StatedColumn(name, tuple(code.value for code in self.codes), ends, self.source)

    def mistakes(self, name: str, comparison: Atom) -> Iterator[str]:
        """What is wrong with a comparison, in words; nothing if some value can make a difference to it."""
        for constant in sorted(comparison.constants, key=lambda constant: constant.value):
            if constant.type not in self.types:
                yield (
                    f"{name} is compared with the {constant.type} {_written(constant)}, and {self._stated}"
                    f"{self._meant(constant)}"
                )
            elif comparison.operator in _EQUAL:
                if not self._has(constant):
                    yield f"{name} is never {_written(constant)}: {self._stated}{self._meant(constant)}"
            elif comparison.operator in {"LIKE", "NOT LIKE"}:
                if not any(_is_like(code.value, constant.value) for code in self.codes):
                    yield f"no code of {name} is like {_written(constant)}: {self._stated}"
            elif not self._reaches(constant):
                yield f"{name} never reaches {_written(constant)}: {self._stated}"

    def _has(self, constant: Constant) -> bool:
        return constant in self.codes or (constant.type == "number" and self._is_between(constant, self.range))

    def _reaches(self, constant: Constant) -> bool:
        """Whether a threshold may lie among the numbers; text and dates have no declared order."""
        if constant.type != "number" or self._has(constant):
            return True
        numbers = [Fraction(code.value) for code in self.codes if code.type == "number"]
        # Beside a range, single codes stand for something else than a quantity: 999 for "not stated".
        return self.range is None and self._is_between(constant, (min(numbers), max(numbers)))

    @staticmethod
    def _is_between(constant: Constant, ends: tuple[Fraction, Fraction] | None) -> bool:
        return ends is not None and ends[0] <= Fraction(constant.value) <= ends[1]

    @property
    def _stated(self) -> str:
        listed = ", ".join(map(_written, self.codes[:_SHOWN])) + (", …" if len(self.codes) > _SHOWN else "")
        said = [f"lists {listed}"] if self.codes else []
        if self.range is not None:
            said.append("states {} to {}".format(*map(literal, self.range)))
        return f"data.columns {' and '.join(said)}"

    def _meant(self, constant: Constant) -> str:
        """What may be meant: the number in a text, or a code that is written nearly so."""
        if constant.type == "text" and self.types == {"number"} and _NUMBER.fullmatch(constant.value.strip()):
            return f"; did you mean {constant.value.strip()}, without quotes?"
        folded: dict[str, Constant] = {}
        for code in self.codes:
            folded.setdefault(code.value.strip().casefold(), code)
        close = difflib.get_close_matches(constant.value.strip().casefold(), folded, n=1, cutoff=0.5)
        return f"; did you mean {_written(folded[close[0]])}?" if close else ""


def constants_without_code(
    columns: Mapping[str, DeclaredColumn], places: Iterable[tuple[str, Iterable[Atom]]]
) -> Iterator[str]:
    """Each comparison of a plan with a constant that its column cannot have, in words.

    Parameters
    ----------
    columns
        The declared columns by name; names are case-insensitive, as in SQL.
    places
        What a message calls each condition of the plan, and its comparisons.
    """
    declared = {name.casefold(): column for name, column in columns.items()}
    for place, comparisons in places:
        said: dict[str, None] = {}
        for comparison in comparisons:
            if (column := declared.get(comparison.column.casefold())) is not None:
                said.update(dict.fromkeys(column.mistakes(comparison.column, comparison)))
        yield from (f"{place}: {mistake}" for mistake in said)


def values_without_category(
    columns: Mapping[str, DeclaredColumn], dimensions: Iterable[tuple[str, Dimension]]
) -> Iterator[str]:
    """Each dimension of an exact table that leaves out a declared code, in words.

    A row in no declared cell withholds the whole table, after its rows were spent.
    """
    declared = {name.casefold(): column for name, column in columns.items()}
    for place, dimension in dimensions:
        column, covered = declared.get(dimension.column.casefold()), dimension.covered
        if column is None or covered is None:
            continue
        missing = [code for code in column.codes if code not in covered]
        if missing:
            yield (
                f"{place}: no category holds {_written(missing[0])}, which data.columns lists; a row in no category "
                'withholds the table, so add one, or "*" as the last one for everything else'
            )


def _written(constant: Constant) -> str:
    return constant.sql(text_literal)


def _is_like(text: str, pattern: str) -> bool:
    parts = {"%": ".*", "_": "."}
    return re.fullmatch("".join(parts.get(c) or re.escape(c) for c in pattern), text, re.DOTALL) is not None


def _column(value: object) -> DeclaredColumn:
    if is_list(value):
        return DeclaredColumn(_codes(value))
    if not is_mapping(value):
        raise ValueError(_FORMS)
    unknown = value.keys() - {"codes", "range", "source"}
    if unknown or not value.keys() & {"codes", "range"}:
        raise ValueError(_FORMS)
    return DeclaredColumn(
        _codes(value["codes"]) if "codes" in value else (),
        _ends(value["range"]) if "range" in value else None,
        _source(value["source"]) if "source" in value else None,
    )


def _source(value: object) -> str:
    try:
        return printable(value, longest=1000)
    except ValueError as error:
        raise ValueError(f"source {error}") from None


def _codes(value: object) -> tuple[Constant, ...]:
    if not is_list(value) or not 1 <= len(value) <= budget.MAX_CODES:
        raise ValueError(f"codes must be a list of 1 to {budget.MAX_CODES} texts, numbers, true or false")
    if "…" in value:
        raise ValueError("holds the placeholder …: state the codes that the codebook has")
    codes = tuple(map(_code, value))
    ((most_listed, times),) = Counter(codes).most_common(1)
    if times > 1:
        raise ValueError(f"lists the code {_written(most_listed)} twice")
    return codes


def _code(value: object) -> Constant:
    match value:
        case bool():
            return Constant("boolean", "TRUE" if value else "FALSE")
        case int() | Decimal():
            return Constant("number", _number(value))
        case str() if unprintable(value) is None:
            return Constant("text", value)
        case _:
            raise ValueError("each code must be a text in quotes without control characters, a number, true or false")


def _number(value: int | Decimal) -> str:
    exact_number(value)  # refuses infinities
    try:
        return plain_decimal(value)
    except ValueError:
        most = budget.MAX_PREDICATE_DIGITS
        raise ValueError(f"each number may have at most {most} digits before and after the point") from None


def _ends(value: object) -> tuple[Fraction, Fraction]:
    rule = "range must be two numbers in order, such as [0, 120]"
    if not is_list(value) or len(value) != 2:
        raise ValueError(rule)
    try:
        low, high = map(exact_number, value)
    except ValueError:
        raise ValueError(rule) from None
    if low > high:
        raise ValueError(rule)
    return low, high


_CODES_SCHEMA: dict[str, Any] = {
    "type": "array",
    "items": {"type": ["string", "number", "boolean"]},
    "minItems": 1,
    "maxItems": int(budget.MAX_CODES),
    "uniqueItems": True,
}
_COLUMN_SCHEMA = {
    "anyOf": [
        _CODES_SCHEMA,
        {
            "type": "object",
            "properties": {
                "codes": _CODES_SCHEMA,
                "range": {"type": "array", "items": NUMBER_SCHEMA, "minItems": 2, "maxItems": 2},
                "source": {"type": "string", "minLength": 1, "maxLength": 1000},
            },
            "additionalProperties": False,
            "minProperties": 1,
        },
    ]
}
Column: TypeAlias = Annotated[DeclaredColumn, PlainValidator(_column), WithJsonSchema(_COLUMN_SCHEMA)]
