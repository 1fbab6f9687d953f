"""The fields of a certificate: how each is written, and its JSON schema.

The checker reads certificates with its own code, which shares nothing with this module.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from statpriv import budget
from statpriv.assurance import checker
from statpriv.errors import NotAvailableError
from statpriv.model.fields import COUNT, SIZE, Field, Range, Record, Value, definition, list_of
from statpriv.numeric.literals import abridged, literal

__all__ = ["ABOUT", "CERTIFICATE", "RELEASE", "RELEASES", "RULE", "SEVERAL_GROUPS", "SITUATION", "written_exactly"]

_DIGITS = r"[0-9]{1,4000}(/[1-9][0-9]{0,4000}|(\.[0-9]{1,4000})?(e[+-]?[0-9]{1,4})?)$"


def written_exactly(exact: Fraction) -> str:
    """An exact number as text that the checker can read."""
    if max(abs(exact.numerator), exact.denominator).bit_length() > budget.MAX_FRACTION_BITS:
        raise NotAvailableError(
            f"{abridged(exact)} cannot be certified; fractions of up to {budget.MAX_FRACTION_BITS} bits can"
        )
    return literal(exact)


def _field(schema: dict[str, Any], write: Callable[[Any], Value] = lambda value: value) -> Field:
    """A field read only by the checker."""
    return Field(checker.read, "a certificate", schema, write)


def _written_range(ends: Range) -> dict[str, str]:
    return {"lower": written_exactly(ends[0]), "upper": written_exactly(ends[1])}


def _number(name: str, sign: str) -> dict[str, Any]:
    said = 'a number as text, such as "0.1" or "1/10"'
    return definition(name, {"description": said, "type": "string", "pattern": f"^{sign}{_DIGITS}"})


def _interval(name: str, number: dict[str, Any]) -> dict[str, Any]:
    return definition(name, Record({"lower": _field(number), "upper": _field(number)}).schema)


def _table(name: str, record: Record) -> Field:
    return _field(definition(name, record.schema), record.write)


def _list(element: Field) -> Field:
    return list_of(element, "a list", least=1)


_NUMBER = _number("unsigned", "")
_INTERVAL = _interval("interval", _NUMBER)
_RANGE = _field(_INTERVAL, _written_range)
_CLAIM = Record(
    {
        "epsilon": _field(_NUMBER, written_exactly).described("ε in nats, at most 1000"),
        "delta": _field(_NUMBER, written_exactly).described("δ, at most 1"),
    }
)
_GATE = _field(
    {"anyOf": [{"type": "null"}, {"type": "array", "minItems": 2, "maxItems": 2, "items": COUNT.schema}]},
    lambda gate: None if gate is None else list(gate),
)
_SIZED = {
    "size": SIZE,
    "count": SIZE.described("how many such parts"),
    "attribute": _field({"type": ["string", "null"]}).described(
        "parts with the same attribute ask the same; null: one of its own"
    ),
}
_COUNT = Record(
    {
        "probability": _RANGE.described("strictly between 0 and 1; from 0 to 1 behind a gate"),
        **_SIZED,
        "gate": _GATE.described(
            "the least and the largest count that is published, others are withheld; null: every one is published"
        ),
    }
)
_HISTOGRAM = Record(
    {
        "cells": list_of(_RANGE, "", least=2).described(
            "of each cell the range of its probability, strictly between 0 and 1"
        ),
        **_SIZED,
    }
)
_MINIMA = _field(
    {
        "type": "array",
        "minItems": 1,
        "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "integer", "minimum": 2}},
    },
    lambda minima: [list(pair) for pair in minima],
).described("the two least minima of the cells, ascending; one such pair for each class of a public classification")
_DEPTH = (
    _field({"type": "integer", "minimum": 2})
    .optional()
    .described("of tables that the data refine: how many a ladder has, or how many dimensions a tree")
)
_TABLE = Record({"minima": _MINIMA, "depth": _DEPTH, **_SIZED})


def _written_part(part: dict[str, Any]) -> dict[str, Value]:
    return (_TABLE if part["minima"] else _HISTOGRAM if part["cells"] else _COUNT).write(part)


_PART = _field(
    {
        "anyOf": [
            _table("counted_part", _COUNT).schema,
            _table("histogram_part", _HISTOGRAM).schema,
            _table("table_part", _TABLE).schema,
        ]
    },
    _written_part,
)
SITUATION = Record(
    {
        "population": SIZE.described("entries, the critical one included"),
        "known_rows": COUNT,
        "parts": _list(_PART),
        "pair": _field({"enum": [None, [1, 0], [0, 1]]}).described(
            "values of the critical entry that are compared; null: in both orders"
        ),
    }
)
RULE = Record(
    {"minima": _MINIMA, "depth": _DEPTH, "known_rows": COUNT},
    "exact tables that are published only if every possible cell has at least its minimum: of every number of entries",
)
_WITNESS = Record(
    {
        "theorem": _field(
            {"enum": ["total-count", "hidden-sample", "partition-sum", "composition", "minimum-count", "stages"]}
        ),
        "delta": _field(_INTERVAL).described("δ by this theorem"),
        "margin": _field(_interval("signed_interval", _number("signed", "-?")), _written_range).described(
            "the claimed δ minus that, exactly"
        ),
    }
)
_HEAD = {"format": _field(definition("format", {"const": checker.FORMAT})), "claim": _table("claim", _CLAIM)}
_DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_COHORT = Record({"rows": SIZE, "joined_after": COUNT.described("how many releases had been made")})

ABOUT = Record(
    {
        "release": _field({"type": ["string", "null"], "pattern": "^[0-9a-f]{32}$"}).described("null: a dry run"),
        "report_sha256": _field(_DIGEST).described("of the bytes of the JSON report"),
        "plan_sha256": _field(_DIGEST).described("of the bytes of the plan file"),
    },
    "the report that the claim is about",
)
RELEASE = Record(
    {
        **_HEAD,
        "situation": _field({"anyOf": [SITUATION.schema, definition("table_rule", RULE.schema)]}),
        "witness": _field(_WITNESS.schema, _WITNESS.write),
    },
    "of one release of entries of one kind",
)
_ONE = _field(definition("release", RELEASE.schema))
RELEASES = Record(
    {**_HEAD, "cohorts": _list(_field(_COHORT.schema, _COHORT.write)), "releases": _list(_ONE)},
    "of several releases from one table, each on its own rows",
)
SEVERAL_GROUPS = Record(
    {**_HEAD, "groups": _field({"type": "object", "minProperties": 1, "additionalProperties": _ONE.schema})},
    "of entries of several groups, each drawn for parts of its own",
)


def _naming(record: Record) -> dict[str, Any]:
    """The schema of a certificate that may name its report."""
    about = _field(definition("about", ABOUT.schema)).optional()
    return Record({**record.fields, "about": about}, record.description).schema


CERTIFICATE = {
    "anyOf": [
        definition("of_a_release", _naming(RELEASE)),
        definition("releases", _naming(RELEASES)),
        definition("groups", _naming(SEVERAL_GROUPS)),
    ]
}
"""The JSON schema of all certificates."""
