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
from importlib.resources import files
from typing import Any

from statpriv.errors import ArgumentError, MissingExtraError
from statpriv.model.fields import elements
from statpriv.numeric.arguments import is_mapping
from statpriv.releasing.page_facts import answered, nearest_multiple, page_facts
from statpriv.releasing.page_text import FILTERS, visible

__all__ = ["render", "validate"]

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
    try:
        json.dumps(report, allow_nan=False, ensure_ascii=False).encode("utf-8")
    except (TypeError, ValueError, RecursionError):
        raise _refused(
            "holds something that JSON cannot (NaN, infinity, half a character, or an object); "
            'infinity is written as the string "inf"'
        ) from None
    fault = _required("jsonschema").exceptions.best_match(_schema().iter_errors(report))
    if fault is not None:
        raise _refused(f"{fault.json_path} breaks the rule {_rule(fault.validator, fault.validator_value)}")
    for holds, fact in _consistency(report):
        if not holds:
            raise _refused(fact)


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
    return _required("jsonschema").Draft202012Validator(json.loads(_own_file("report.schema.json")))


@cache
def _page() -> Any:  # noqa: ANN401 - a type of an optional package
    """The template, compiled once because compilation takes longer than rendering."""
    jinja2 = _required("jinja2")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_own_file),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=visible,
    )
    environment.filters.update(FILTERS)
    return environment.get_template("report.html.jinja")


def _required(module: str) -> Any:  # noqa: ANN401 - a module is typed by its name alone
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(f"the report of a release needs {module}: pip install 'statpriv[release]'") from None


def _own_file(name: str) -> str:
    return files("statpriv.releasing").joinpath(name).read_text(encoding="utf-8")


def _refused(fact: str) -> ArgumentError:
    return ArgumentError(f"report: {fact}")


def _rule(keyword: str, value: object) -> str:
    if keyword == "additionalProperties":
        return "that no key may be there which the schema does not name"
    text = json.dumps(value)
    return f"{keyword}: {text}" if len(text) <= 200 else keyword


def _consistency(report: Mapping[str, Any]) -> list[tuple[bool, str]]:
    """The rules that a schema cannot express: relations between parts of the report."""
    guarantee, queries, answers = report["guarantee"], report["queries"], report["answers"]
    target = Fraction(guarantee["target_delta_exact"])
    asked = list(answered(queries))
    labels = [(query["name"], cell and cell["name"], query["size"]) for query, cell in asked]
    properties = {query["property"] for query in queries}
    return [
        (
            all(0 <= lower <= upper <= 1 for lower, upper in _ranges(report)),
            "a range {lower, upper} or an interval is not in order within [0, 1]",
        ),
        (
            not guarantee["holds"] or Fraction(guarantee["delta"]["upper"]) <= target,
            "$.guarantee.holds is true, but delta.upper is above the target",
        ),
        (
            not answers or [(answer["query"], answer["cell"], answer["size"]) for answer in answers] == labels,
            "$.answers must hold one answer for each query, or for each cell of a histogram, in their order, with "
            "its name and size",
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
            "$.guarantee.epsilon and target_delta must be the doubles nearest to their exact values",
        ),
        (
            guarantee["releases"] == len(report["history"]) + 1,
            "$.guarantee.releases must count the releases of $.history and this one",
        ),
        (
            (guarantee["term"] is None) == (not report["history"]),
            "$.guarantee.term is there exactly if there are earlier releases",
        ),
    ]


def _most(query: Mapping[str, Any]) -> int:
    """The largest number that may be published for a part: all its rows, rounded as its query states."""
    size: int = query["size"]
    base = query["publication"]["rounded_to"]
    return nearest_multiple(size, base) if base else size


def _ranges(value: object) -> Iterator[tuple[Fraction, Fraction]]:
    """Find every pair of ends in a report, however deep; those of a gate are counts."""
    if is_mapping(value):
        if value.keys() == {"lower", "upper"}:
            yield Fraction(value["lower"]), Fraction(value["upper"])
        elif value.get("interval") is not None:
            lower, upper = value["interval"]
            yield Fraction(lower), Fraction(upper)
        children = [child for key, child in value.items() if key not in ("gate", "gates")]
    else:
        children = elements(value)
    for child in children:
        yield from _ranges(child)


def _nearest(number: float, exact: str) -> bool:
    return abs(Fraction(number) - Fraction(exact)) <= Fraction(exact) / 2**53
