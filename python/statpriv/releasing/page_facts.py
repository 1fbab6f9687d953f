"""Facts derived from a report for its page: the meaning of (ε, δ), small cells, figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Any

from statpriv.numeric.transcendental import logarithm_ends
from statpriv.releasing import charts
from statpriv.releasing.table_page import table_pages

__all__ = ["answered", "nearest_multiple", "page_facts"]

_THRESHOLDS = (3, 5, 10)
_ROUNDING_BASE = 5
_FALSE_ALARMS = Decimal("0.05")
_SURE = tuple(Fraction(percent, 100) for percent in (50, 75, 90, 99))
"""How sure a reader is beforehand, in the table of what a release adds."""
_ROUNDING = Fraction(1, 2**52)
_UPWARDS = Context(prec=40, rounding=ROUND_CEILING)
_MAX_ANSWERS_IN_REVIEW = 6
"""Answers that stand in a table on the first sheet; more are a list in columns."""
_MAX_ANSWERS_IN_GRID = 36
"""As many as leave the first sheet room for the decision."""


def page_facts(report: Mapping[str, Any]) -> dict[str, Any]:
    """All template variables, from a valid report."""
    guarantee = report["guarantee"]
    return {
        "report": report,
        "meaning": _meaning(report),
        "rows": _rows(report),
        "in_review": _MAX_ANSWERS_IN_REVIEW,
        "in_grid": _MAX_ANSWERS_IN_GRID,
        "cells": _cells(report),
        "tolerated": _tolerated(report),
        "shares": [
            _product_above(term["weight"], term["delta"]["upper"])
            for term in (*report["history"], *([] if guarantee["term"] is None else [guarantee["term"]]))
        ],
        "figures": _figures(report),
        "tables": table_pages(report),
        "in_parts": _in_parts(report),
    }


def _in_parts(report: Mapping[str, Any]) -> bool:
    """Whether rows were drawn for parts: not if all rows answer everything, or one exact table alone."""
    if "protects" in report["guarantee"]:
        return False
    tables = report.get("tables", ())
    return bool(report["queries"]) or len(tables) > 1 or any(t["rows"] < report["data"]["rows"] for t in tables)


def answered(queries: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
    """Each item with an answer, in order: each cell of a histogram with its query, or the query alone."""
    for query in queries:
        for cell in query["cells"] or (None,):
            yield query, cell


def nearest_multiple(count: int, base: int) -> int:
    """Round a count to the nearest multiple of the base, ties upwards."""
    return (2 * count + base) // (2 * base) * base


def _product_above(weight: float, delta: float) -> Decimal:
    """Upper bound of weight times δ; the weight is the double nearest to a fraction, with relative error ≤ 2^-53."""
    most = Decimal(weight) * (1 + Decimal(2) ** -52)
    return _UPWARDS.multiply(most, Decimal(delta))


def _rows(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One table row for each actual or prospective answer, with everything known about it."""
    answers = report["answers"] or [None] * len(report["comparison"]["rmse_released"])
    asked = answered(report["queries"])
    return [
        {
            "query": query,
            "name": query["name"],
            "cell": cell and cell["name"],
            "where": query["where"] if cell is None else cell["where"],
            "probability": charts.declared(query, cell),
            "gate": query["publication"]["gate"] if cell is None else cell["gate"],
            "answer": answer,
            "unpublished": answer and _unpublished(query, answer),
            "checked": answer and _cell(answer),
            "total": answer and _total(answer, report["data"]["rows"]),
            "error": error,
        }
        for (query, cell), answer, error in zip(asked, answers, report["comparison"]["rmse_released"], strict=True)
    ]


def _unpublished(query: Mapping[str, Any], answer: Mapping[str, Any]) -> str | None:
    """The reason why an answer has no count; None if it has one."""
    if answer["withheld"]:
        return "withheld"
    return f"below {query['publication']['suppressed_below']}" if answer["suppressed"] else None


def _total(answer: Mapping[str, Any], rows: int) -> dict[str, int] | None:
    """The number of all rows with the property: nearest to the share, and the whole numbers within its interval."""
    if answer["interval"] is None:
        return None
    rounding = Fraction(rows, 2**50)  # the ends are doubles outside of fractions with this denominator
    low, high = (Fraction(end) * rows for end in answer["interval"])
    least, most = ceil(low - rounding), floor(high + rounding)
    return {"near": min(max(round(Fraction(answer["proportion"]) * rows), least), most), "least": least, "most": most}


def _meaning(report: Mapping[str, Any]) -> dict[str, Any]:
    """Translate (epsilon, delta) into probabilities about one person.

    Let ``a = P_v(S)`` and ``b = P_w(S)``. The inequality ``a <= e^eps b + delta`` bounds the power of a test of v
    against w. Together with the same inequality for the complement of S it gives ``a - b <= 1 - 2 (1 - delta)/(e^eps
    + 1)``. A guess between v and w at even odds is therefore right with probability at most
    ``1 - (1 - delta)/(e^eps + 1)``.
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
        "gains": _gains(report),
    }


def _gains(report: Mapping[str, Any]) -> list[tuple[float, Decimal]]:
    """By how much a reader of this release becomes surer of one of two values at most, for several priors.

    Whoever holds the likelier value to have probability c guesses right with probability at most
    ``c + (1 − c) δ(ln(c/(1 − c)))`` afterwards (:mod:`statpriv.curves.posterior`). δ does not rise with ε, so it is at
    most that of the last point of the curve before.
    """
    points = [(Fraction(point["epsilon"]), point["partition_secret"]["upper"]) for point in report["curves"]["epsilon"]]

    def gain(sure: Fraction) -> Decimal:
        least, _ = logarithm_ends(sure / (1 - sure))
        # A double of an ε may be above it by its rounding.
        before = [delta for epsilon, delta in points if epsilon * (1 + _ROUNDING) <= least]
        rest = 1 - sure
        share = _UPWARDS.divide(Decimal(rest.numerator), Decimal(rest.denominator))
        return _UPWARDS.multiply(share, Decimal(min(before, default=1.0)))

    return [(float(sure), gain(sure)) for sure in _SURE]


def _share_of_target(report: Mapping[str, Any]) -> Decimal:
    target = Fraction(report["guarantee"]["target_delta_exact"])
    if target == 0:
        return Decimal(1)
    share = Fraction(report["guarantee"]["delta"]["upper"]) / target
    return min(Decimal(1), Decimal(share.numerator) / share.denominator)


def _tolerated(report: Mapping[str, Any]) -> int | None:
    """The largest computed number of known rows at which the target is still met.

    The table refers to this release alone, so the result is None for a target over several releases.
    """
    guarantee, rows = report["guarantee"], report["degradation"]
    target = Fraction(guarantee["target_delta_exact"])
    if guarantee["releases"] > 1:
        return None
    return max((row["known_rows"] for row in rows if Fraction(row["delta"]["upper"]) <= target), default=None)


def _cells(report: Mapping[str, Any]) -> dict[str, Any]:
    """Count small cells; a published count also reveals its complement in the part."""
    rows = [_cell(answer) for answer in report["answers"]]
    cells = [cell for row in rows if row for cell in (row["count"], row["complement"]) if cell is not None]
    cells += [cell["count"] for table in report.get("tables", ()) for cell in table["cells"]]
    return {
        "base": _ROUNDING_BASE,
        "smallest": min(cells, default=None),
        "below": [(threshold, sum(cell < threshold for cell in cells)) for threshold in _THRESHOLDS],
        "exact": all(query["publication"]["rounded_to"] is None for query in report["queries"]),
    }


def _cell(answer: Mapping[str, Any]) -> dict[str, int | None] | None:
    """The cells that a published count reveals; the complement of a histogram's cell consists of its other cells."""
    count = answer["count"]
    if count is None:
        return None
    return {
        "count": count,
        "complement": max(answer["size"] - count, 0) if answer["cell"] is None else None,
        "rounded": nearest_multiple(count, _ROUNDING_BASE),
    }


def _figures(report: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "epsilon": charts.delta_against_epsilon(report),
        "known_rows": charts.delta_against_known_rows(report),
        "probability": [
            {
                "queries": [q for q in report["queries"] if q["property"] == curve["property"]],
                "points": curve["points"],
                "exact_counts": all("exact_counts" in point for point in curve["points"]),
                "chart": charts.delta_against_probability(report, curve),
            }
            for curve in report["curves"]["probability"]
        ],
        "answers": charts.answer_strip(report),
        "histograms": charts.histograms(report),
        "comparison": charts.comparison_strip(report),
    }
