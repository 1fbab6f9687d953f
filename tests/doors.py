"""The same questions through every door: Python, Rust, C and R give the same doubles.

`python -m tests.doors` writes what Python answers to `tests/vectors/doors.tsv`.
"""

from __future__ import annotations

import json
from pathlib import Path

import statpriv as sp

FILE = Path(__file__).parent / "vectors" / "doors.tsv"
NAMES = ("query", "rows", "numbers", "known", "quantity", "at", "lower", "upper")

COMPOSITIONS = [
    {"population": 60, "part": [{"size": 20, "probability": "0.3"}, {"size": 30, "probability": "0.6"}]},
    {
        "population": 3000,
        "part": [
            {"size": 1000, "probability": "0.3", "attribute": "smokes"},
            {"size": 400, "probability": "0.3", "attribute": "smokes"},
            {"size": 1500, "cells": ["0.5", "0.3", "0.2"]},
        ],
    },
    {"population": 100, "part": [{"size": 25, "probability": "0.2", "count": 3}]},
    {
        "population": 90,
        "part": [
            {"size": 30, "query": {"kind": "sum", "values": [[0, "1/2"], [1, "1/4"], [5, "1/4"]]}},
            {"size": 40, "probability": 0.5},
        ],
    },
    {"population": 10, "part": [{"size": 5, "probability": "0"}, {"size": 5, "probability": "0.5"}]},
    {"population": 40, "part": [{"size": 20, "cells": ["0.5", "0.5", "0"]}, {"size": 20, "probability": "0.2"}]},
    {"population": 36, "part": [{"size": 30, "query": {"kind": "sum", "values": [[0, "1/2"], [1, "1/2"], [7, "0"]]}}]},
    {"population": 72, "part": [{"size": 12, "probability": f"0.{k}"} for k in range(1, 7)]},
    {"population": 1, "part": [{"size": 1, "probability": "0.3"}]},
    {"population": 11, "part": [{"size": 5, "probability": "0.3", "attribute": "a", "count": 2}]},
    {"population": 12, "part": [{"size": 6, "probability": ["0.2", "0.4"], "attribute": "a", "count": 2}]},
    {"population": 13, "part": [{"size": 9, "cells": ["0.5", "0.3", "0.2"]}]},
    {"population": 50, "part": [{"size": 20, "probability": ["0.2", "0.4"]}, {"size": 10, "probability": "0.5"}]},
]
QUESTIONS = [
    ("count", 1024, "1/2", 0),
    ("count", 1000000, "0.3", 1000),
    ("count", 7, "1/3", 2),
    ("range", 5000, "0.2 0.4", 100),
    ("range", 60, "0.01 0.99", 0),
    ("histogram", 20, "1/2 1/3 1/6", 0),
    ("histogram", 2000, "0.5 0.3 0.15 0.05", 10),
    ("sum", 12, "0:1/2 1:1/4 2:1/4", 0),
    ("sum", 400, "0:0.4 1:0.3 2:0.2 3:0.1", 5),
    ("sum", 50, "-2:0.5 4:0.5", 0),
    ("sum", 40, "0:1/2 1:1/2 7:0", 0),
    ("sum", 40, "0:1/2 3:1/2 4:0", 0),
    ("count", 40, "0", 0),
    ("histogram", 40, "1/2 1/2 0", 0),
    ("table", 10, "", 0),
    ("table", 30, "", 4),
    ("supremum", 4, "", 1),
    *(("composition", stated["population"], json.dumps(stated), 0) for stated in COMPOSITIONS),
]
ASKED = [("delta", "0"), ("delta", "0.1"), ("delta", "3/2"), ("epsilon", "1e-3"), ("beta", "0.05")]


def query_of(kind: str, numbers: str) -> sp.Query:
    stated = numbers.split()
    match kind:
        case "count":
            return sp.PropertyQuery(stated[0])
        case "range":
            return sp.PropertyQuery(sp.Between(*stated))
        case "histogram":
            return sp.HistogramQuery(stated)
        case _:
            values = (value.split(":") for value in stated)
            return sp.SumQuery(pmf={int(value): p for value, p in values})


def part_of(part: dict) -> sp.Query:
    if "cells" in part:
        return sp.HistogramQuery(part["cells"])
    if "query" in part:
        return sp.SumQuery(pmf=dict(map(tuple, part["query"]["values"])))
    p, attribute = part["probability"], part.get("attribute")
    return sp.PropertyQuery(sp.Between(*p) if isinstance(p, list) else p, attribute=attribute)


def curve_of(kind: str, rows: int, numbers: str, known: int) -> sp.PrivacyCurve:
    match kind:
        case "table":
            return sp.minimum_count_curve(rows, known=known, bound="minimum-count")
        case "supremum":
            return sp.minimum_count_curve(rows, known=known, bound="supremum")
        case "composition":
            parts = [part for part in json.loads(numbers)["part"] for _ in range(part.get("count", 1))]
            ranges = any(isinstance(part.get("probability"), list) for part in parts) and rows != 12
            return sp.compose(
                [*map(part_of, parts)],
                sp.Population(rows),
                sp.RandomPartition([part["size"] for part in parts]),
                bound="convex-order" if ranges else "exact",
            )
        case _:
            population, adversary = sp.Population(rows), sp.Adversary(known=known)
            return sp.privacy_curve(query_of(kind, numbers), population, adversary=adversary)


def answers() -> list[tuple[str, ...]]:
    """A line for each question."""
    lines = []
    for question in QUESTIONS:
        curve = curve_of(*question)
        for quantity, at in ASKED:
            found = getattr(curve, quantity)(at)
            lines.append((*map(str, question), quantity, at, found.lower.hex(), found.upper.hex()))
    return lines


def written(lines: list[tuple[str, ...]]) -> str:
    return "".join("\t".join(line) + "\n" for line in (NAMES, *lines))


if __name__ == "__main__":
    FILE.write_text(written(answers()), encoding="utf-8")
