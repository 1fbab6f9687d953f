"""Blocks of a plan, as forms state them: their text is what a plan file holds."""

from __future__ import annotations

from collections.abc import Mapping

from statpriv.errors import ArgumentError
from statpriv.releasing.first_plan import toml_string
from statpriv.studio.fields import whole

__all__ = ["count_block", "table_block"]


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
