"""The report of a release: its closed schema, and the page that shows it.

``render`` is a pure function of the report dictionary. It reads no file except its own templates and schema, no
clock and no locale. The page can therefore be rendered again from the published JSON, byte for byte, and shows
nothing that the JSON does not contain.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import MAX_EMAX, MIN_EMIN, Context, localcontext
from fractions import Fraction
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from statpriv.errors import ArgumentError, MissingExtraError
from statpriv.model.fields import elements
from statpriv.numeric.arguments import is_mapping
from statpriv.releasing.page_facts import answered, nearest_multiple, page_facts
from statpriv.releasing.page_text import FILTERS, visible
from statpriv.releasing.released_table import contradictions, holds_other_keys
from statpriv.releasing.sql_text import quoted

__all__ = ["render", "validate", "validate_form"]

_FOLDER = Path(__file__).parent
_MAX_KEYS = 5
# Overflow gives infinity instead of an error: a page with a useless epsilon should still render.
_ARITHMETIC = Context(prec=40, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])


def validate(report: Mapping[str, Any]) -> None:
    """Refuse a report that contains anything not in its schema, or that contradicts itself.

    Raises
    ------
    ArgumentError
        With a message that names the place and the rule but never the value: a value that should not be in a
        report should not be in a message about it either.
    MissingExtraError
        If the release extra is not installed.
    """
    validate_form(report)
    for holds, fact in _consistency(report):
        if not holds:
            raise _refused(fact)


def validate_form(report: Mapping[str, Any], *, naming_keys: bool = False) -> None:
    """Refuse what is not in the schema, and ranges that are none.

    Parameters
    ----------
    report : dict
        The report.
    naming_keys : bool
        Whether messages name unknown keys: to a reader of a published report, and never while one is made.

    Raises
    ------
    ArgumentError
        As :func:`validate` does.
    MissingExtraError
        If the release extra is not installed.
    """
    try:
        json.dumps(report, allow_nan=False, ensure_ascii=False).encode("utf-8")
    except (TypeError, ValueError, RecursionError):
        raise _refused(
            "holds something that JSON cannot (NaN, infinity, half a character, or an object); "
            'infinity is written as the string "inf"'
        ) from None
    fault = _required("jsonschema").exceptions.best_match(_schema().iter_errors(report))
    if fault is not None:
        raise _refused(f"{fault.json_path} breaks the rule {_rule(fault, naming_keys=naming_keys)}")
    if any(map(holds_other_keys, report.get("tables", ()))):
        raise _refused(
            "$.tables.cells breaks the rule that no key may be there which tables.dimensions does not name, and no "
            "category that it does not declare"
        )
    disorder = next((place for place, lower, upper in _ranges(report, "$") if not 0 <= lower <= upper <= 1), None)
    if disorder is not None:
        raise _refused(f"{disorder}: a range {{lower, upper}} or an interval is not in order within [0, 1]")


def render(report: Mapping[str, Any]) -> str:
    """Return the report as one self-contained HTML page.

    The page loads nothing and runs nothing: no script, no font, no picture, no address. Certified bounds are
    rounded in the conservative direction; the full enclosures are listed under "Record".

    Raises
    ------
    ArgumentError
        If the report is not valid.
    MissingExtraError
        If the release extra is not installed.
    """
    validate(report)
    with localcontext(_ARITHMETIC):
        page: str = _page().render(page_facts(report))
    return page


@cache
def _schema() -> Any:  # noqa: ANN401 - a type of an optional package
    jsonschema = _required("jsonschema")
    # By the standard 5.0 is an integer; a count is written without a point.
    types = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    strict = jsonschema.validators.extend(jsonschema.Draft202012Validator, type_checker=types)
    schema = json.loads((_FOLDER / "report.schema.json").read_text(encoding="utf-8"))
    return strict(_without_references(schema, schema.pop("$defs")))


def _without_references(rules: Any, definitions: Mapping[str, Any]) -> Any:  # noqa: ANN401  (any JSON)
    """The same rules, with what each reference names in its place: it would be looked up anew for every value."""
    match rules:
        case {"$ref": str(name)}:
            return _without_references(definitions[name.rpartition("/")[2]], definitions)
        case dict():
            return {key: _without_references(rule, definitions) for key, rule in rules.items()}
        case list():
            return [_without_references(rule, definitions) for rule in rules]
        case _:
            return rules


@cache
def _page() -> Any:  # noqa: ANN401 - a type of an optional package
    _required("jinja2")
    templates = import_module("statpriv.releasing.compiled_templates")
    environment = templates.environment(_FOLDER, finalize=visible, keep_trailing_newline=True)
    environment.filters.update(FILTERS)
    return environment.get_template("report.html.jinja")


def _required(module: str) -> Any:  # noqa: ANN401 - a module is typed by its name alone
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(f"the report of a release needs {module}: pip install 'statpriv[release]'") from None


def _refused(fact: str) -> ArgumentError:
    return ArgumentError(f"report: {fact}")


def _rule(fault: Any, *, naming_keys: bool) -> str:  # noqa: ANN401 - a type of an optional package
    if fault.validator == "additionalProperties" and fault.validator_value is False:
        unknown = [quoted(key) for key in fault.instance if key not in fault.schema.get("properties", {})]
        named = f": {', '.join(unknown[:_MAX_KEYS])}" if naming_keys else ""
        return f"that no key may be there which the schema does not name{named}"
    text = json.dumps(fault.validator_value)
    given = list(dict.fromkeys(_conditions(fault)))
    rule = f"{fault.validator}: {text}" if len(text) <= 200 else str(fault.validator)
    return f"{rule}, given {' and '.join(given)}" if given else rule


def _conditions(fault: Any) -> Iterator[str]:  # noqa: ANN401 - a type of an optional package
    """The keys on whose values it depends whether the broken rule holds."""
    path, rules = list(fault.absolute_schema_path), _schema().schema
    branches = [k for k, step in enumerate(path) if step in ("then", "else")]
    for step in path[: branches[0]] if branches else ():
        rules = rules[step]
    place = ".".join(step for step in path[: branches[0]] if step not in ("properties", "items")) if branches else ""
    yield from _keys(rules["if"], place) if branches else ()


def _keys(rule: Mapping[str, Any], place: str) -> Iterator[str]:
    """The leaves that the condition of a rule is about."""
    for branch in rule.get("anyOf", ()):
        yield from _keys(branch, place)
    for key, inner in rule.get("properties", {}).items():
        yield from _keys(inner, f"{place}.{key}".strip("."))
    if "const" in rule:
        yield place


def _consistency(report: Mapping[str, Any]) -> list[tuple[bool, str]]:
    """The rules that a schema cannot express: relations between parts of the report."""
    guarantee, queries, answers = report["guarantee"], report["queries"], report["answers"]
    target = Fraction(guarantee["target_delta_exact"])
    asked = list(answered(queries))
    labels = [(query["name"], cell and cell["name"], query["size"]) for query, cell in asked]
    properties, tables = {query["property"] for query in queries}, report.get("tables", ())
    return [
        (
            not guarantee["holds"] or Fraction(guarantee["delta"]["upper"]) <= target,
            "$.guarantee.holds is true, but delta.upper is above the target",
        ),
        (
            report["release"] is None
            or [(answer["query"], answer["cell"], answer["size"]) for answer in answers] == labels,
            "$.answers must hold one answer for each query, or for each cell of a histogram, in their order, with "
            "its name and size (answers.query, answers.cell and answers.size)",
        ),
        (
            all(
                answer["count"] is None or answer["count"] <= _most(query)
                for (query, _), answer in zip(asked, answers, strict=False)
            ),
            "$.answers holds a count above the size of its part",
        ),
        (
            all(curve["property"] in properties for curve in report["curves"]["probability"]),
            "$.curves.probability names a property that no query has",
        ),
        (
            len(report["comparison"]["rmse_released"]) == len(asked),
            "$.comparison.rmse_released must hold one number for each answer",
        ),
        (
            all(_nearest(guarantee[key], guarantee[f"{key}_exact"]) for key in ("epsilon", "target_delta")),
            "$.guarantee.epsilon and guarantee.target_delta must be the doubles nearest to guarantee.epsilon_exact and "
            "guarantee.target_delta_exact",
        ),
        (
            guarantee["releases"] == len(report["history"]) + 1,
            "$.guarantee.releases must count the releases of $.history and this one",
        ),
        (
            (guarantee["term"] is None) == (not report["history"]),
            "$.guarantee.term is there exactly if there are earlier releases",
        ),
        (bool(queries or tables), "$.queries is empty, and there are no tables"),
        *((False, f"$.{fault}") for table in tables for fault in contradictions(table)),
        (
            all((table["published"] is None) == (report["release"] is None) for table in tables),
            "$.tables.published is null exactly if nothing was released",
        ),
    ]


def _most(query: Mapping[str, Any]) -> int:
    """The largest number that may be published for a part: all its rows, rounded as its query states."""
    size: int = query["size"]
    base = query["publication"]["rounded_to"]
    return nearest_multiple(size, base) if base else size


def _ranges(value: object, place: str) -> Iterator[tuple[str, Fraction, Fraction]]:
    """Find every pair of ends in a report, however deep, with its place; those of a gate are counts."""
    if is_mapping(value):
        if value.keys() == {"lower", "upper"}:
            yield place, Fraction(value["lower"]), Fraction(value["upper"])
        elif value.get("interval") is not None:
            lower, upper = value["interval"]
            yield f"{place}.interval", Fraction(lower), Fraction(upper)
        for key, child in value.items():
            if key == "tables":  # of these, dimensions and cells have keys of the plan's choice
                yield from _ranges([{"delta": table.get("delta")} for table in child], f"{place}.{key}")
            elif key not in ("gate", "gates"):
                yield from _ranges(child, f"{place}.{key}")
    for k, child in enumerate(elements(value)):
        yield from _ranges(child, f"{place}[{k}]")


def _nearest(number: float, exact: str) -> bool:
    return abs(Fraction(number) - Fraction(exact)) <= Fraction(exact) / 2**53
