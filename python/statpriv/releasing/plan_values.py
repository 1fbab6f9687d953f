"""The values of a plan file's keys: exact numbers and printable texts, each with its rule in words."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, TypeAlias

from statpriv import budget
from statpriv.errors import MissingExtraError
from statpriv.model.fields import Range, range_from
from statpriv.releasing.sql_text import quoted, unprintable

try:
    from pydantic import AfterValidator, BaseModel, ConfigDict, PlainValidator, ValidationInfo, WithJsonSchema
except ImportError as missing:
    raise MissingExtraError("a plan needs pydantic: pip install 'statpriv[release]'") from missing

DECIMAL = re.compile(r"[+-]?([0-9]{1,400}(\.[0-9]{0,400})?|\.[0-9]{1,400})([eE][+-]?[0-9]{1,3})?")
RATIO = re.compile(r"[+-]?[0-9]{1,400}/0*[1-9][0-9]{0,400}")
_NUMBER_RULE = 'must be a number such as 0.1, "0.1" or "1/10"'


def shown(value: object) -> str:
    """A value of a plan for a message, about as TOML writes it.

    >>> print(shown({"values": ["a", 1, True, "b", "c"]}))
    { "values" = ["a", 1, true, "b", …] }
    """
    match value:
        case str():
            return quoted(value)
        case bool():
            return "true" if value else "false"
        case list():
            return "[" + ", ".join([*map(shown, value[:4]), *(["…"] if len(value) > 4 else [])]) + "]"
        case dict():
            return "{ " + ", ".join(f"{quoted(str(key))} = {shown(inner)}" for key, inner in value.items()) + " }"
        case _:
            text = str(value)
            return text if len(text) <= 40 else text[:39] + "…"


def exact_number(value: object) -> Fraction:
    """Read a number exactly."""
    # The patterns bound the length, so that 1e999999999 is never expanded into an integer.
    text = str(value) if type(value) in (int, Decimal, str) else ""
    if DECIMAL.fullmatch(text) or RATIO.fullmatch(text):
        return Fraction(text)
    raise ValueError(_NUMBER_RULE)


def _at_least_zero(value: Fraction) -> Fraction:
    if value < 0:
        raise ValueError("must be a number at least 0")
    return value


def in_unit_interval(value: Fraction) -> Fraction:
    """Refuse what is no probability."""
    if not 0 <= value <= 1:
        raise ValueError("must be a number from 0 to 1")
    return value


def probability_range(value: object) -> Range:
    """Read one probability as a range of width 0, or a range of two."""
    try:
        return range_from(value, lambda end: in_unit_interval(exact_number(end)))
    except ValueError:
        raise ValueError(
            'must be one number from 0 to 1, or a range ["lower", "upper"] of two with lower <= upper'
        ) from None


def _as_a_double(value: Fraction) -> Fraction:
    # A report also states the number as a double, which must not be 0 or infinite unless the number is.
    exponent = budget.MAX_PLAN_EXPONENT
    if value and not Fraction(1, 10**exponent) <= value <= 10**exponent:
        raise ValueError(f"must be 0, or a number from 1e-{exponent} to 1e{exponent}")
    return value


def _proper_share(value: Fraction) -> Fraction:
    if not 0 < value <= 1:
        raise ValueError("must be a number above 0 and at most 1")
    return value


def whole_number(value: object, *, least: int) -> int:
    """Read a whole number that is not written as a text."""
    rule = f"must be a whole number from {least} to 2^53"
    try:
        number = exact_number(value)
    except ValueError:
        raise ValueError(rule) from None
    if type(value) is str or number.denominator != 1 or not least <= number <= budget.MAX_INTEGER:
        raise ValueError(rule)
    return int(number)


def whole_count(value: object) -> int:
    """Read a number of rows, 0 included."""
    return whole_number(value, least=0)


def whole_size(value: object) -> int:
    """Read a number of rows, at least 1."""
    return whole_number(value, least=1)


def printable(value: object, *, longest: int) -> str:
    """Read a text that a page can show on one line."""
    if not isinstance(value, str) or not value.strip() or len(value) > longest:
        raise ValueError(f"must be a text of 1 to {longest} characters, in quotes")
    if (character := unprintable(value)) is not None:
        raise ValueError(f"holds the character {character}; control and bidirectional ones are not allowed")
    return value


def printed_label(value: object) -> str:
    """Read a label of a report."""
    return printable(value, longest=200)


def _note(value: object) -> str:
    return printable(value, longest=1000)


NUMBER_SCHEMA: dict[str, Any] = {
    "anyOf": [{"type": "number"}, {"type": "string", "pattern": f"^({DECIMAL.pattern}|{RATIO.pattern})$"}]
}
_ONE = f"({DECIMAL.pattern}|{RATIO.pattern})"
RANGE_SCHEMAS: list[dict[str, Any]] = [
    *NUMBER_SCHEMA["anyOf"],
    {"type": "string", "pattern": rf"^{_ONE}\.\.{_ONE}$"},
    {"type": "array", "items": NUMBER_SCHEMA, "minItems": 2, "maxItems": 2},
]
Number: TypeAlias = Annotated[Fraction, PlainValidator(exact_number), WithJsonSchema(NUMBER_SCHEMA)]
Epsilon: TypeAlias = Annotated[Number, AfterValidator(_at_least_zero), AfterValidator(_as_a_double)]
Delta: TypeAlias = Annotated[Number, AfterValidator(in_unit_interval), AfterValidator(_as_a_double)]
Share: TypeAlias = Annotated[Number, AfterValidator(_proper_share)]
Count: TypeAlias = Annotated[int, PlainValidator(whole_count), WithJsonSchema({"type": "integer", "minimum": 0})]
Size: TypeAlias = Annotated[int, PlainValidator(whole_size), WithJsonSchema({"type": "integer", "minimum": 1})]
Label: TypeAlias = Annotated[
    str, PlainValidator(printed_label), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 200})
]
Note: TypeAlias = Annotated[
    str, PlainValidator(_note), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 1000})
]


def named_column(info: ValidationInfo, key: str) -> str | None:
    """The column that `[data]` names for ids, groups or persons; None if it names none."""
    return (info.context or {}).get(key)


class StrictTable(BaseModel):
    """A table of a plan file; a key that it does not name is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, defer_build=True)
