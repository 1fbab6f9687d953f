"""Blocks of a plan, as forms state them: their text is what a plan file holds."""

from __future__ import annotations

import re
from collections.abc import Mapping

from statpriv.errors import ArgumentError
from statpriv.releasing.first_plan import toml_string
from statpriv.studio.fields import whole

__all__ = ["column_block", "count_block", "histogram_block", "table_block"]


def count_block(form: Mapping[str, str]) -> str:
    """A `[[query]]`.

    Parameters
    ----------
    form
        The texts of the fields name, where, low, high, source, and share or rows; each is there if it is ticked.

    >>> form = {"name": "Smokers", "where": "smoker = 'yes'", "low": "0.2", "high": "0.3", "source": "survey"}
    >>> print(count_block({**form, "share": "1/2"}))
    <BLANKLINE>
    [[query]]
    name = "Smokers"
    where = "smoker = 'yes'"
    probability = ["0.2", "0.3"]
    source = "survey"
    share = "1/2"
    <BLANKLINE>
    """
    low = _stated(form, "low", "a probability, or the lower end of its range")
    lines = [
        "",
        "[[query]]",
        f"name = {toml_string(_stated(form, 'name', 'a label for the report'))}",
        f"where = {toml_string(_stated(form, 'where', 'a condition on columns'))}",
        f"probability = [{toml_string(low)}, {toml_string(form.get('high', '').strip() or low)}]",
    ]
    if form.get("each"):
        lines.append("each = true")
    lines.append(f"source = {toml_string(_stated(form, 'source', 'where the probability is known from'))}")
    if share := form.get("share", "").strip():
        lines.append(f"share = {toml_string(share)}")
    return "\n".join([*lines, ""])


def histogram_block(form: Mapping[str, str]) -> str:
    """A `[[query]]` whose cells are lines such as `under 30 | age < 30 | 0.2..0.3`.

    >>> form = {"name": "Age", "source": "census", "cells": "under 30 | age < 30 | 0.2..0.3"}
    >>> print(histogram_block(form))
    <BLANKLINE>
    [[query]]
    name = "Age"
    source = "census"
    [[query.cell]]
    name = "under 30"
    where = "age < 30"
    probability = ["0.2", "0.3"]
    <BLANKLINE>
    """
    lines = [
        "",
        "[[query]]",
        f"name = {toml_string(_stated(form, 'name', 'a label for the report'))}",
        f"source = {toml_string(_stated(form, 'source', 'where the probabilities are known from'))}",
    ]
    if share := form.get("share", "").strip():
        lines.append(f"share = {toml_string(share)}")
    for line in _stated(form, "cells", "one line a cell, such as under 30 | age < 30 | 0.2..0.3").splitlines():
        if not line.strip():
            continue
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != 3 or not all(parts):
            raise ArgumentError(
                f"cells: {line!r} is no label, condition and probability, such as under 30 | age < 30 | 0.2..0.3"
            )
        name, where, probability = parts
        low, _, high = probability.partition("..")
        ends = f"[{toml_string(low.strip())}, {toml_string(high.strip() or low.strip())}]"
        lines += [
            "[[query.cell]]",
            f"name = {toml_string(name)}",
            f"where = {toml_string(where)}",
            f"probability = {ends}",
        ]
    return "\n".join([*lines, ""])


def column_block(form: Mapping[str, str]) -> str:
    """What the codebook says of a column: its codes, or its least and largest number as `0..120`.

    >>> print(column_block({"name": "smoker", "values": "yes, no", "source": "codebook of 2021"}))
    <BLANKLINE>
    [data.columns."smoker"]
    codes = ["yes", "no"]
    source = "codebook of 2021"
    <BLANKLINE>
    >>> print(column_block({"name": "age", "values": "0..120", "source": "codebook of 2021"}).splitlines()[2])
    range = [0, 120]
    """
    name = toml_string(_stated(form, "name", "the name of a column"))
    stated = _stated(form, "values", "the codes of the column, such as yes, no, or the range of its numbers, as 0..120")
    least, dots, most = stated.partition("..")
    if dots:
        values = f"range = [{_number('values', least)}, {_number('values', most)}]"
    else:
        listed = [each.strip() for each in stated.split(",") if each.strip()]
        values = f"codes = [{', '.join(each if _is_number(each) else toml_string(each) for each in listed)}]"
    source = toml_string(_stated(form, "source", "where the values are known from"))
    return "\n".join(["", f"[data.columns.{name}]", values, f"source = {source}", ""])


_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _number(name: str, text: str) -> str:
    if not _is_number(text.strip()):
        raise ArgumentError(f"{name}: {text.strip()!r} is no number; a range is written as 0..120")
    return text.strip()


def table_block(form: Mapping[str, str]) -> str:
    """A `[[table]]`, whose dimensions are lines such as `region: north, south, *`.

    >>> print(table_block({"name": "Regions", "minimum": "30", "dimensions": "region: north, south, *"}))
    <BLANKLINE>
    [[table]]
    name = "Regions"
    minimum = 30
    [table.dimensions]
    "region" = ["north", "south", "*"]
    <BLANKLINE>
    """
    minimum = whole("minimum", _stated(form, "minimum", "the least number of rows of every cell"))
    lines = [
        "",
        "[[table]]",
        f"name = {toml_string(_stated(form, 'name', 'a label for the report'))}",
        f"minimum = {minimum}",
        "[table.dimensions]",
    ]
    for line in _stated(form, "dimensions", "one line a column, such as region: north, south, *").splitlines():
        column, colon, categories = line.partition(":")
        if line.strip() and not (colon and column.strip() and categories.strip()):
            raise ArgumentError(
                f"dimensions: {line!r} is no column with its categories, such as region: north, south, *"
            )
        if line.strip():
            listed = ", ".join(toml_string(each.strip()) for each in categories.split(",") if each.strip())
            lines.append(f"{toml_string(column.strip())} = [{listed}]")
    return "\n".join([*lines, ""])


def _stated(form: Mapping[str, str], name: str, what: str) -> str:
    text = form.get(name, "").strip()
    if not text:
        raise ArgumentError(f"{name} is empty; {what} is required")
    return text
