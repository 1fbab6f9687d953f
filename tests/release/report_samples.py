"""Reports of every kind, made up, for the tests of the schema, of the page and of the page in a browser."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .table_samples import SAMPLES, table

SAMPLE_FILE = Path(__file__).with_name("sample_report.json")
VARIANTS_FILE = Path(__file__).with_name("sample_variants.json")

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onload='alert(1)",
    "</style></title></svg><b>",
    "{{7*7}}{% raw %}",
    "&lt;i&gt;<!--",
    "\u202egnp.exe\u2066\x1b[31m",
    "javascript:alert(1)",
    "</desc><foreignObject><iframe src=//a.example></iframe>",
    "<style>@import url(//a.example/x.css)</style><link rel=stylesheet href=//a.example>",
    '<svg onload=alert(1)><use href="data:image/svg+xml,x#y"/>',
    "<meta http-equiv=refresh content='0;url=//a.example'><base href=//a.example>",
)


def sample() -> dict[str, Any]:
    """A first release of four counts."""
    found: dict[str, Any] = json.loads(SAMPLE_FILE.read_text(encoding="utf-8"))
    return found


def variants() -> dict[str, dict[str, Any]]:
    """The sample and its variants, by name."""
    overlays = json.loads(VARIANTS_FILE.read_text(encoding="utf-8"))
    return {name: overlaid(sample(), overlay) for name, overlay in overlays.items()}


def overlaid(under: Any, over: Any) -> Any:
    """A report with other values in some places; what is no dictionary is replaced as a whole."""
    if not isinstance(over, dict):
        return copy.deepcopy(over)
    under = under if isinstance(under, dict) else {}
    return {**under, **{key: overlaid(under.get(key), value) for key, value in over.items()}}


def smallest(report: dict[str, Any]) -> dict[str, Any]:
    """The same report with as few points and queries as can be, for tests that visit every place of it."""
    small = copy.deepcopy(report)
    curves = small["curves"]
    curves["epsilon"] = _ends(curves["epsilon"])
    curves["probability"] = [curve | {"points": _ends(curve["points"])} for curve in curves["probability"][:1]]
    for part in (small, small["composition"]):
        for key in set(part) & {"queries", "answers", "degradation", "part", "leaks", "block"}:
            part[key] = part[key][:1]
    small["comparison"]["rmse_released"] = small["comparison"]["rmse_released"][:1]
    return small


def _ends(points: list[Any]) -> list[Any]:
    return [points[0], points[-1]]


def dry_run(report: dict[str, Any]) -> dict[str, Any]:
    return report | {"dry_run": True, "release": None, "answers": [], **_uncounted(report)}


def refusal(report: dict[str, Any]) -> dict[str, Any]:
    guarantee = report["guarantee"] | {"holds": False, "target_delta": 1e-9, "target_delta_exact": "1e-9"}
    return report | {"guarantee": guarantee, "release": None, "answers": [], **_uncounted(report)}


def _uncounted(report: dict[str, Any]) -> dict[str, Any]:
    """The tables of a report before anything is counted."""
    nothing = {"published": None, "withheld": [], "cells": []}
    return {"tables": [stated | nothing for stated in report["tables"]]} if "tables" in report else {}


def with_everything(report: dict[str, Any]) -> dict[str, Any]:
    """The report with every key that a report may have, and every kind of query and answer."""
    full = copy.deepcopy(report)
    later, kinds = variants()["later release"], variants()
    full["warnings"] = ["w"]
    full["plan"]["prior"] = [{"description": "d", "epsilon": "inf", "delta": None}]
    full["data"].update(row_id="id", group="g", group_source="s", unit="u", content_edited=True)
    full["guarantee"]["releases"] = len(later["history"]) + 1
    full["guarantee"]["term"] = later["guarantee"]["term"]
    full["history"] = copy.deepcopy(later["history"])
    full["tables"] = [copy.deepcopy(stated) for stated in SAMPLES.values() if stated["published"] is not None]
    full["tables"][0]["delta"] = {"lower": 0.0, "upper": 0.001}
    full["tables"][0]["conditions"] = {
        name: [f"{name} = '{category}'" for category in own] for name, own in full["tables"][0]["dimensions"].items()
    }
    full["people"] = [
        {"outside_range": "0.05", "household": None, "delta": {"lower": 0.001, "upper": 0.002}},
        {"outside_range": None, "household": 2, "delta": {"lower": 0.003, "upper": 0.004}},
    ]
    full["answers"][0]["contradicts_range"] = True
    full["queries"][0]["groups"] = kinds["groups"]["queries"][0]["groups"]
    full["queries"].append(kinds["histogram"]["queries"][0] | {"property": 99})
    full["answers"] += [answer for answer in kinds["histogram"]["answers"] if answer["cell"] is not None]
    full["answers"][-1].update(count=None, proportion=None, rmse=None, interval=None, suppressed=True)
    gate = {"lower": 1, "upper": 200}
    full["queries"][-1]["publication"] = {"gate": gate, "suppressed_below": 10, "rounded_to": None}
    full["comparison"]["rmse_released"] += [0.027] * 3
    full["composition"]["part"] += [
        kinds["histogram"]["composition"]["part"][0],
        kinds["groups"]["composition"]["part"][0],
    ]
    return full


def only_tables(report: dict[str, Any], *tables: dict[str, Any]) -> dict[str, Any]:
    """A release of exact tables alone."""
    alone = report | {"tables": [*tables], "queries": [], "answers": [], "leaks": []}
    alone["data"] = report["data"] | {"rows": tables[0]["rows"]}
    alone["curves"] = report["curves"] | {"probability": []}
    alone["comparison"] = report["comparison"] | {"queries": 0, "rmse_released": []}
    return alone


def hidden_texts(report: dict[str, Any]) -> list[tuple[dict[str, Any] | list[Any], Any]]:
    """Every place of a report that may hold any text and is not shown: what `statpriv compose` reads."""
    return _texts_within([report["composition"]["part"], *(past["part"] for past in report["history"])])


def free_texts(report: dict[str, Any]) -> list[tuple[dict[str, Any] | list[Any], Any]]:
    """Every place of a report that may hold any text and is shown: as container and key."""
    guarantee = report["guarantee"]
    asked = [query for past in report["history"] for query in past["queries"]]
    lists: Sequence[list[Any]] = (
        guarantee["assumptions"],
        guarantee["not_protected"],
        report["warnings"],
    )
    return [
        (report, "statpriv"),
        *((report["data"], key) for key in ("source", "row_id", "group", "group_source", "unit")),
        (guarantee, "theorem"),
        (guarantee, "source"),
        *((texts, i) for texts in lists for i in range(len(texts))),
        *((query, key) for query in report["queries"] for key in ("name", "where", "source") if query[key] is not None),
        *((group, "group") for query in report["queries"] for group in query["groups"] or ()),
        *(
            (cell, key)
            for query in report["queries"]
            for cell in query["cells"] or ()
            for key in ("name", "where")
            if cell[key] is not None
        ),
        *((query, key) for query in asked for key in ("where", "cells") if isinstance(query.get(key), str)),
        *((answer, "query") for answer in report["answers"]),
        *((answer, "cell") for answer in report["answers"] if answer["cell"] is not None),
        (report["comparison"], "note"),
        *((prior, "description") for prior in report["plan"]["prior"]),
        *(
            (table, key)
            for table in report.get("tables", ())
            for key in ("name", "by_source")
            if table[key] is not None
        ),
    ]


def filled(report: dict[str, Any], text: Callable[[int], str]) -> dict[str, Any]:
    """A report with everything, and its own text in every free place; an answer keeps the names of its query."""
    full = with_everything(report)
    for number, (container, key) in enumerate([*free_texts(full), *hidden_texts(full)]):
        container[key] = text(number)
    full["tables"] = [
        table({text(1000): [text(1001), text(1002)], text(1003): [text(1004), text(1005)]}, name=text(1006))
        | {"conditions": {text(1000): [text(1007), text(1008)], text(1003): [text(1009), text(1010)]}},
        table({text(k): [text(k + 3), text(k + 6)] for k in (1010, 1011, 1012)}, by=text(1011), withheld=(text(1014),))
        | {"by_source": text(1020)},
    ]
    asked = [(query, cell) for query in full["queries"] for cell in query["cells"] or (None,)]
    for (query, cell), answer in zip(asked, full["answers"], strict=True):
        answer["query"] = query["name"]
        answer["cell"] = cell and cell["name"]
    return full


def _texts_within(value: Any) -> list[tuple[dict[str, Any] | list[Any], Any]]:
    """The labels of parts."""
    if isinstance(value, dict):
        own = [(value, key) for key in ("attribute",) if key in value]
        return [*own, *(place for child in value.values() for place in _texts_within(child))]
    return [place for child in value for place in _texts_within(child)] if isinstance(value, list) else []
