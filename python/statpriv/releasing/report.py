"""The report of a release: its closed schema, and the page that shows it.

``render`` is a pure function of the report dictionary. It reads no file but its own template and schema,
no clock and no locale, so that a page can be made again from the published JSON, byte for byte, and shows
nothing that the JSON does not hold.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    localcontext,
)
from fractions import Fraction
from importlib import import_module
from importlib.resources import files
from typing import Any

from statpriv.errors import ArgumentError, MissingExtraError
from statpriv.releasing import charts

__all__ = ["render", "validate"]

# Infinity instead of an overflow: a page that shows a useless epsilon should still be a page.
_ARITHMETIC = Context(prec=40, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
_THRESHOLDS = (3, 5, 10)
_ROUNDING_BASE = 5
_FALSE_ALARMS = Decimal("0.05")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

# Control characters, and the ones that change the direction of the text around them: shown, never obeyed.
_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def validate(report: Mapping[str, Any]) -> None:
    """Refuse a report that holds anything its schema does not name, or that contradicts itself.

    Raises
    ------
    ArgumentError
        Naming the place and the rule, but never the value there: a value that should not be in a
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
    checker = _required("jsonschema").Draft202012Validator(json.loads(_own_file("report.schema.json")))
    fault = _required("jsonschema").exceptions.best_match(checker.iter_errors(report))
    if fault is not None:
        raise _refused(f"{fault.json_path} breaks the rule {_rule(fault.validator, fault.validator_value)}")
    for holds, fact in _consistency(report):
        if not holds:
            raise _refused(fact)


def render(report: Mapping[str, Any]) -> str:
    """Return the report as one self-contained HTML page.

    The page loads nothing and runs nothing: no script, no font, no picture, no address. Numbers that
    stand for a promise are rounded to the safe side; the full enclosures stand under "Record".

    Raises
    ------
    ArgumentError
        If the report is not valid.
    MissingExtraError
        If the release extra is not installed.
    """
    validate(report)
    jinja2 = _required("jinja2")
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_visible,
    )
    environment.filters.update(_FILTERS)
    with localcontext(_ARITHMETIC):
        page: str = environment.from_string(_own_file("report.html.jinja")).render(
            report=report,
            meaning=_meaning(report),
            cells=_cells(report),
            tolerated=_tolerated(report),
            figures=_figures(report),
        )
    return page


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
    """State what a schema cannot: facts that tie one part of the report to another."""
    guarantee, queries, answers = report["guarantee"], report["queries"], report["answers"]
    target = Fraction(guarantee["target_delta_exact"])
    asked = [(query["name"], cell, query["size"]) for query in queries for cell in _cell_names(query)]
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
            not answers or [(answer["query"], answer.get("cell"), answer["size"]) for answer in answers] == asked,
            "$.answers must hold one answer for each query, or for each cell of a histogram, in their order, with "
            "its name and size",
        ),
        (
            all(answer["count"] is None or answer["count"] <= _most(query) for query, answer in _answered(report)),
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
            guarantee.get("releases") in (None, len(report.get("history", ())) + 1),
            "$.guarantee.releases must count the releases of $.history and this one",
        ),
    ]


def _cell_names(query: Mapping[str, Any]) -> list[str | None]:
    """Name what a query has an answer for: each cell of a histogram, or the one count."""
    return [cell["name"] for cell in query.get("cells") or ({"name": None},)]


def _most(query: Mapping[str, Any]) -> int:
    """The largest number that may be published of a part: all of its rows, rounded as its query is."""
    size: int = query["size"]
    base = _published(query)["rounded_to"]
    return _nearest_multiple(size, base) if base else size


def _answered(report: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Each answer with its query, whose answers are as many as its cells."""
    asked = [query for query in report["queries"] for _ in _cell_names(query)]
    return list(zip(asked, report["answers"], strict=False))


def _published(query: Mapping[str, Any]) -> Mapping[str, Any]:
    return query.get("publication") or {"gate": None, "suppressed_below": None, "rounded_to": None}


def _nearest_multiple(count: int, base: int) -> int:
    """Round a count to a multiple of the base, ties upwards."""
    return (2 * count + base) // (2 * base) * base


def _ranges(value: object) -> Iterator[tuple[Fraction, Fraction]]:
    """Find every pair of ends in a report, however deep; those of a gate are counts."""
    if isinstance(value, Mapping):
        if value.keys() == {"lower", "upper"}:
            yield Fraction(value["lower"]), Fraction(value["upper"])
        elif value.get("interval") is not None:
            lower, upper = value["interval"]
            yield Fraction(lower), Fraction(upper)
        children = [child for key, child in value.items() if key != "gate"]
    else:
        children = value if isinstance(value, list) else []
    for child in children:
        yield from _ranges(child)


def _nearest(number: float, exact: str) -> bool:
    return abs(Fraction(number) - Fraction(exact)) <= Fraction(exact) / 2**53


def _meaning(report: Mapping[str, Any]) -> dict[str, Decimal]:
    """Say in chances what (epsilon, delta) promises about one person.

    With ``a = P_v(S)`` and ``b = P_w(S)``, ``a <= e^eps b + delta`` bounds the power of a test of v against
    w; together with the same for the complement of S, ``a - b <= 1 - 2 (1 - delta)/(e^eps + 1)``, so that
    a guess between v and w at even odds is right with a chance of at most ``1 - (1 - delta)/(e^eps + 1)``.
    """
    guarantee = report["guarantee"]
    epsilon = Fraction(guarantee["epsilon_exact"])
    factor = (Decimal(epsilon.numerator) / epsilon.denominator).exp()
    delta = Decimal(guarantee["delta"]["upper"])
    return {
        "factor": factor,
        "false_alarms": _FALSE_ALARMS,
        "detection": min(Decimal(1), factor * _FALSE_ALARMS + delta),
        "guess": 1 - (1 - delta) / (factor + 1),
        "share_of_target": _share_of_target(report),
    }


def _share_of_target(report: Mapping[str, Any]) -> Decimal:
    target = Fraction(report["guarantee"]["target_delta_exact"])
    if target == 0:
        return Decimal(1)
    share = Fraction(report["guarantee"]["delta"]["upper"]) / target
    return min(Decimal(1), Decimal(share.numerator) / share.denominator)


def _tolerated(report: Mapping[str, Any]) -> int | None:
    """Find the most known rows, of those that were computed, with which the target is still met."""
    target = Fraction(report["guarantee"]["target_delta_exact"])
    rows = report["degradation"]
    return max((row["known_rows"] for row in rows if Fraction(row["delta"]["upper"]) <= target), default=None)


def _cells(report: Mapping[str, Any]) -> dict[str, Any]:
    """Count small cells: a published count gives away its complement in the part as well."""
    rows = [
        {
            "count": answer["count"],
            "complement": answer["size"] - answer["count"],
            "rounded": _nearest_multiple(answer["count"], _ROUNDING_BASE),
        }
        if answer["count"] is not None
        else None
        for answer in report["answers"]
    ]
    cells = [cell for row in rows if row for cell in (row["count"], row["complement"])]
    return {
        "rows": rows,
        "base": _ROUNDING_BASE,
        "smallest": min(cells, default=None),
        "below": [(threshold, sum(cell < threshold for cell in cells)) for threshold in _THRESHOLDS],
    }


def _figures(report: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "epsilon": charts.delta_against_epsilon(report),
        "known_rows": charts.delta_against_known_rows(report),
        "probability": [
            {
                "property": curve["property"],
                "queries": [q for q in report["queries"] if q["property"] == curve["property"]],
                "points": curve["points"],
                "chart": charts.delta_against_probability(report, curve),
            }
            for curve in report["curves"]["probability"]
        ],
        "answers": charts.answer_strip(report) if report["answers"] else None,
        "comparison": charts.comparison_strip(report),
    }


def _visible(value: object) -> object:
    """Spell out the characters of a text that would otherwise act on it; what is markup already stays."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return _INVISIBLE.sub(lambda found: f"[U+{ord(found.group()):04X}]", value)


def _rounded(value: float | Decimal | str, digits: int, rounding: str) -> str:
    number = Decimal(value)
    if not number.is_finite():
        return "∞"
    if number == 0:
        return "0"
    short = Context(prec=digits, rounding=rounding).plus(number)
    if number == number.to_integral_value() or short.adjusted() >= digits:
        return f"{short:,.0f}"
    if short.adjusted() >= -4:
        return f"{short:f}"
    power = str(short.adjusted()).translate(_SUPERSCRIPTS)
    return f"{short.scaleb(-short.adjusted()):f} × 10{power}"


def _up(value: float | Decimal | str, digits: int = 3) -> str:
    """Round a bound upwards, from its exact value."""
    return _rounded(value, digits, ROUND_CEILING)


def _near(value: float | str, digits: int = 3) -> str:
    return _rounded(Decimal(str(value)), digits, ROUND_HALF_EVEN)


def _percent(value: float | Decimal, rounding: str = "near", places: int = 1) -> str:
    modes = {"up": ROUND_CEILING, "down": ROUND_FLOOR, "near": ROUND_HALF_EVEN}
    hundredfold = Decimal(str(value)) * 100
    return f"{hundredfold.quantize(Decimal(1).scaleb(-places), rounding=modes[rounding]):f}%"


def _small_percent(value: float | Decimal) -> str:
    """Round a small chance upwards to two digits, however small it is."""
    return _up(Decimal(value) * 100, 2) + "%"


def _exact(text: str) -> str:
    """Return an exact number as a decimal where it ends within 12 places, else as the fraction."""
    number = Fraction(text)
    scaled = number * 10**12
    if scaled.denominator != 1:
        return f"{number.numerator}/{number.denominator}"
    places = Decimal(scaled.numerator).scaleb(-12).normalize()
    return f"{places:f}"


def _whole(value: float) -> str:
    return f"{int(value):,}"


def _full(value: float | str) -> str:
    """Return a double in the shortest decimals that give it back."""
    return value if isinstance(value, str) else repr(float(value))


_FILTERS: Mapping[str, Callable[..., str]] = {
    "exact": _exact,
    "full": _full,
    "near": _near,
    "percent": _percent,
    "small_percent": _small_percent,
    "up": _up,
    "whole": _whole,
}
