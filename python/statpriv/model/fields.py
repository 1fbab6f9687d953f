"""Fields of documents: how a value is read, how it is written, and how a JSON schema describes it.

A document is plain data (dicts, lists, strings, numbers, truth values), the same in TOML and in JSON. Exact numbers are
written as strings; a number is read from a string or from a number, exactly.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

from statpriv import budget
from statpriv.errors import ArgumentError
from statpriv.model.ranges import is_text_of_range
from statpriv.numeric.arguments import is_list, is_mapping
from statpriv.numeric.exact import as_count, as_fraction, as_probability
from statpriv.numeric.literals import literal

Value: TypeAlias = Any
"""A value of a TOML or JSON document."""
Range: TypeAlias = tuple[Fraction, Fraction]
"""The least and the largest value of a probability; equal where it is one number."""
Schema: TypeAlias = "dict[str, Any]"

MISSING = object()
"""The default of a field that is required."""
_MAX_BITS = 2**14
"""Bits of a numerator or a denominator that is written: some 4900 digits."""


class RefusedError(ArgumentError):
    """A table that cannot be read; each fault starts with the path of its key inside the table."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults).strip(" :"))
        self.faults = tuple(faults)


@dataclass(frozen=True)
class Field:
    """One field of a document.

    Attributes
    ----------
    read
        From the value in a document to the value it stands for; raises ValueError, TypeError or KeyError.
    allowed
        What the message about any other value requires.
    schema
        The JSON schema of the value.
    write
        From the value to what stands in a document.
    absent
        The value of a field that is left out; a field without it is required.
    description
        What the schema says of the field.
    """

    read: Callable[[Value], Any]
    allowed: str
    schema: Schema
    write: Callable[[Any], Value] = lambda value: value
    absent: Any = MISSING
    description: str = ""

    def optional(self, absent: object = None) -> Field:
        """The same field where it may be left out."""
        return replace(self, absent=absent)

    def described(self, description: str) -> Field:
        """The same field with a description."""
        return replace(self, description=description)


# --- reading a table -----------------------------------------------------------------------------


def read_table(
    table: Value, fields: Mapping[str, Field], place: str, faults: list[str], *, closed: bool = True
) -> dict[str, Value]:
    """The values of a table by key; what is wrong with it is added to `faults`."""
    prefix = f"{place}." if place else ""
    if not isinstance(table, dict):
        faults.append(f"{place} = {_shown(table)}; a table with the keys {', '.join(fields)} is required")
        return {}
    if closed:
        faults += [f"{prefix}{name}: no such key{_suggestion(name, fields)}" for name in table if name not in fields]
    values = {}
    for name, field in fields.items():
        if name not in table and field.absent is not MISSING:
            values[name] = field.absent
        elif name not in table:
            faults.append(f"{prefix}{name} is missing; {field.allowed} is required")
        else:
            try:
                values[name] = field.read(table[name])
            except RefusedError as refused:
                faults += [f"{prefix}{name}{_joined(fault)}" for fault in refused.faults]
            except (KeyError, TypeError, ValueError, OverflowError):
                faults.append(f"{prefix}{name} = {_shown(table[name])}; {field.allowed} is required")
    return values


def _joined(fault: str) -> str:
    """A fault inside a table, after the path of the table."""
    return fault if fault.startswith((" ", "[", ":")) else f".{fault}"


def _suggestion(name: str, fields: Mapping[str, Field]) -> str:
    close = difflib.get_close_matches(name, fields, n=1)
    return f"; did you mean {close[0]}?" if close else f"; allowed here: {', '.join(fields)}"


def _shown(value: object) -> str:
    plain = str(value) if isinstance(value, Decimal) else json.dumps(value, default=str, ensure_ascii=False)
    return plain if len(plain) <= 60 else f"{plain[:59]}…"


@dataclass(frozen=True)
class Record:
    """The fields of a table, and what a schema says of it.

    Attributes
    ----------
    fields
        By key.
    description
        For the schema.
    one_of
        Keys of which exactly one is there; the reader of the table checks it, with a message of its own.
    closed
        Whether other keys are refused.
    """

    fields: Mapping[str, Field]
    description: str = ""
    one_of: tuple[str, ...] = ()
    closed: bool = True

    def read(self, table: Value, place: str, faults: list[str]) -> dict[str, Value]:
        """The values by key; what is wrong with the table is added to `faults`."""
        return read_table(table, self.fields, place, faults, closed=self.closed)

    def strictly(self, table: Value) -> dict[str, Value]:
        """The values by key of a table inside another one, or RefusedError."""
        faults: list[str] = []
        values = self.read(table, "", faults)
        if faults:
            raise RefusedError(faults)
        return values

    def write(self, values: Mapping[str, Any]) -> dict[str, Value]:
        """The table of values by key; an optional one that is None or left out is not written."""
        given = ((key, field, values.get(key)) for key, field in self.fields.items())
        return {key: field.write(value) for key, field, value in given if value is not None or field.absent is MISSING}

    def field(self, allowed: str) -> Field:
        """The field of a document that holds such a table."""
        return Field(self.strictly, allowed, self.schema, self.write)

    @property
    def schema(self) -> Schema:
        """The JSON schema of the table."""
        required = [key for key, field in self.fields.items() if field.absent is MISSING]
        return {
            **({"description": self.description} if self.description else {}),
            "type": "object",
            **({"additionalProperties": False} if self.closed else {}),
            **({"required": required} if required else {}),
            **({"oneOf": [{"required": [key]} for key in self.one_of]} if self.one_of else {}),
            "properties": {key: _property(field) for key, field in self.fields.items()},
        }


def _property(field: Field) -> Schema:
    default = {} if field.absent is MISSING or field.absent is None else {"default": field.absent}
    return {**field.schema, **default, **({"description": field.description} if field.description else {})}


# --- schemas -------------------------------------------------------------------------------------

_DEFINITIONS: dict[str, Schema] = {}


def definition(name: str, schema: Schema) -> Schema:
    """A reference to `schema`, which stands under `name` in the definitions of every schema that uses it."""
    if _DEFINITIONS.setdefault(name, schema) != schema:
        raise ValueError(f"two definitions are called {name}")
    return {"$ref": f"#/$defs/{name}"}


def schema_of(schema: Schema, **about: str) -> Schema:
    """The whole JSON schema of a document: what it is about, and the definitions that it uses."""
    used: dict[str, Schema] = {}
    waiting = _references(schema)
    while waiting:
        name = waiting.pop(0)
        if name not in used:
            used[name] = _DEFINITIONS[name]
            waiting += _references(used[name])
    named = {"$id" if key == "id" else key: text for key, text in about.items()}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", **named}
    return {**head, **schema, "$defs": dict(sorted(used.items()))}


def _references(schema: Schema) -> list[str]:
    return re.findall(r'"#/\$defs/([^"]+)"', json.dumps(schema))


# --- texts, tables and lists ---------------------------------------------------------------------


def text_from(value: Value, *, least: int = 1) -> str:
    """A text of at least so many characters."""
    if not isinstance(value, str) or len(value) < least:
        raise ArgumentError("not a text")
    return value


def table_from(value: Value) -> dict[str, Value]:
    """A table, whatever its keys."""
    if not isinstance(value, dict):
        raise ArgumentError("not a table")
    return value


def listed(value: Value, *, least: int = 0, most: int | None = None) -> list[Value]:
    """A list of so many elements."""
    if not isinstance(value, list) or not least <= len(value) <= (budget.MAX_INTEGER if most is None else most):
        raise ArgumentError("not a list")
    return value


def elements(value: Value) -> list[Value]:
    """What a list holds; nothing where there is no list, which its own field refuses."""
    return value if isinstance(value, list) else []


def list_of(field: Field, allowed: str, *, least: int = 0, most: int | None = None) -> Field:
    """A list whose elements are as `field` reads them."""

    def read(value: Value) -> tuple[Any, ...]:
        elements = listed(value, least=least, most=most)
        return tuple(_element(field, element, k) for k, element in enumerate(elements, start=1))

    ends = {**({"minItems": least} if least else {}), **({} if most is None else {"maxItems": most})}
    schema = {"type": "array", **ends, "items": field.schema}
    return Field(read, allowed, schema, lambda values: [field.write(value) for value in values])


def _element(field: Field, element: Value, k: int) -> object:
    try:
        return field.read(element)
    except RefusedError as refused:
        raise RefusedError([f"[{k}]{_joined(fault)}" for fault in refused.faults]) from None


def or_null(field: Field) -> Field:
    """The same field where it may be null or left out."""
    return Field(
        lambda value: None if value is None else field.read(value),
        field.allowed,
        {"anyOf": [{"type": "null"}, field.schema]},
        lambda value: None if value is None else field.write(value),
        absent=None,
    )


def _truth(value: Value) -> bool:
    if value is not True and value is not False:
        raise ArgumentError("not a truth value")
    return bool(value)


# --- numbers -------------------------------------------------------------------------------------


def written_number(value: Fraction | int) -> str:
    """The exact value, as people write it.

    >>> written_number(Fraction(2, 5)), written_number(Fraction(1, 3))
    ('0.4', '1/3')
    """
    exact = Fraction(value)
    if max(abs(exact.numerator), exact.denominator).bit_length() <= _MAX_BITS:
        try:
            return literal(exact)
        except ValueError:  # Python refuses to print integers of more digits than a setting allows
            pass
    raise ArgumentError("a number has more digits than a JSON document can hold; round it to a simpler fraction")


def _number(value: Value) -> Fraction:
    number = as_fraction(value, "value")
    if number < 0:
        raise ArgumentError("negative")
    return number


def _probability(value: Value) -> Fraction:
    return as_probability(value, "value")


def range_from(value: Value, number: Callable[[Value], Fraction] = _probability) -> Range:
    """Two probabilities in order: from one number, from a list of two, or from a text such as ``"0.4..0.6"``.

    >>> range_from("0.4..0.6") == range_from(["0.4", "0.6"]), range_from("1/2")
    (True, (Fraction(1, 2), Fraction(1, 2)))
    """
    if is_text_of_range(value):
        value = value.split("..", 1)
    low, high = value if is_list(value) else (value, value)
    ends = number(low), number(high)
    if ends[0] > ends[1]:
        raise ArgumentError("not in order")
    return ends


def _written_range(ends: Range) -> list[str]:
    return [written_number(end) for end in ends]


_NUMBER = definition(
    "number",
    {
        "description": 'an exact number: 0.1, "0.1" and "1/10" are one tenth',
        "anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "minLength": 1}],
    },
)
_WRITTEN = definition(
    "written_number", {"type": "string", "pattern": r"^[0-9]+(/[1-9][0-9]*|(\.[0-9]+)?(e[+-]?[0-9]+)?)$"}
)
_EXACT = definition(
    "exact", {"description": "an exact number of either sign", "anyOf": [{"type": "number"}, {"type": "string"}]}
)
_RANGE = definition(
    "probability",
    {
        "description": 'one number from 0 to 1, or a range of two in order: a list, or a text "0.4..0.6"',
        "anyOf": [_NUMBER, {"type": "array", "minItems": 2, "maxItems": 2, "items": _NUMBER}],
    },
)
_COUNT = definition("count", {"type": "integer", "minimum": 0, "maximum": int(budget.MAX_INTEGER)})
_SIZE = definition("size", {"type": "integer", "minimum": 1, "maximum": int(budget.MAX_INTEGER)})
_TEXT = definition("text", {"type": "string", "minLength": 1})

NUMBER = Field(_number, 'a number of at least 0 such as 0.1, "0.1" or "1/10"', _NUMBER, written_number)
WRITTEN = replace(NUMBER, schema=_WRITTEN)
"""A number in a document that no person writes: always a text."""
EXACT = Field(partial(as_fraction, name="value"), 'a number such as 0.1, "-3" or "1/10"', _EXACT, written_number)
PROBABILITY = Field(_probability, "a number from 0 to 1", _NUMBER, written_number)
RANGE = Field(range_from, 'a number from 0 to 1, or a range ["low", "high"] of two in order', _RANGE, _written_range)
COUNT = Field(partial(as_count, name="value", least=0), "a whole number from 0 to 2^53", _COUNT)
SIZE = Field(partial(as_count, name="value", least=1), "a whole number from 1 to 2^53", _SIZE)
TEXT = Field(text_from, "a text that is not empty", _TEXT)
LABEL = Field(partial(text_from, least=0), "a text", {"type": "string"})
TRUTH = Field(_truth, "true or false", {"type": "boolean"})


# --- by group ------------------------------------------------------------------------------------


def is_by_group(value: object) -> bool:
    """Whether a value is one for each group: pairs of the name of a group and its value."""
    return isinstance(value, tuple) and isinstance(value[0], tuple) and isinstance(value[0][0], str)


def by_name(value: Any) -> Any:  # noqa: ANN401  (any value)
    """One value for each group as the mapping that constructors take; any other value as it is."""
    return dict(value) if is_by_group(value) else value


def by_group(field: Field, within: Field | None = None) -> Field:
    """One value, or a table with one for each group, read as pairs; `within` reads those of groups."""
    inner = field if within is None else within

    def read(value: Value) -> object:
        if not is_mapping(value):
            return field.read(value)
        if not value:
            raise ArgumentError("no group")
        return tuple((group, inner.read(stated)) for group, stated in value.items())

    def write(value: Any) -> Value:  # noqa: ANN401  (any value of the field)
        return {name: inner.write(stated) for name, stated in value} if is_by_group(value) else field.write(value)

    table = {"type": "object", "minProperties": 1, "additionalProperties": inner.schema}
    schema = {"anyOf": [field.schema, table]}
    return replace(field, read=read, allowed=f"{field.allowed}, or one for each group", schema=schema, write=write)
