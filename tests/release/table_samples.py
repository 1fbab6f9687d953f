"""Exact tables as reports state them, made up, for the tests of tables, of their files and of the page."""

from __future__ import annotations

from itertools import product
from typing import Any

REGIONS, AGES = ["north", "south", "east"], ["<30", "30-59", "60+"]


def table(
    dimensions: dict[str, list[str]] | None = None,
    *,
    counts: Any = None,
    minimum: int = 10,
    impossible: list[list[str]] | None = None,
    minima: list[dict[str, Any]] | None = None,
    by: str | None = None,
    withheld: tuple[str, ...] = (),
    published: bool | None = True,
    name: str = "Region by age",
) -> dict[str, Any]:
    """A table; `counts` gives the count of a cell from its number in row-major order."""
    dimensions = {"region": REGIONS, "age": AGES} if dimensions is None else dimensions
    impossible = [] if impossible is None else impossible
    place = None if by is None else [*dimensions].index(by)
    possible = [cell for cell in product(*dimensions.values()) if [*cell] not in impossible]
    count = (lambda k: minimum + 7 * k % 23) if counts is None else counts
    counted = {cell: count(k) for k, cell in enumerate(possible)}
    shown = [cell for cell in possible if published and (place is None or cell[place] not in withheld)]
    return {
        "name": name,
        "dimensions": dimensions,
        "minimum": minimum,
        "impossible": impossible,
        **({} if minima is None else {"minima": minima}),
        "by": by,
        "by_source": None if by is None else "the register of addresses is public",
        "rows": sum(counted.values()),
        "published": published,
        "withheld": [*withheld],
        "cells": [{**dict(zip(dimensions, cell, strict=True)), "count": counted[cell]} for cell in shown],
    }


SAMPLES: dict[str, dict[str, Any]] = {
    "two dimensions": table(impossible=[["north", "<30"]]),
    "one dimension": table({"age": AGES}, name="Age"),
    "minima": table(minima=[{"cell": ["north", "<30"], "minimum": 4}, {"cell": ["east", "60+"], "minimum": 11}]),
    "withheld": table(published=False),
    "not counted": table(published=None),
    "by class": table(by="region", withheld=("south",)),
    "all classes withheld": table(by="region", withheld=("north", "south", "east"), published=False),
    "three dimensions": table(
        {"sex": ["f", "m"], "region": REGIONS, "age": AGES}, by="sex", impossible=[["f", "east", "60+"]]
    ),
}
"""Tables of every kind, by name."""
