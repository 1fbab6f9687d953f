"""Every leaf of a report has a standing, and a report with a changed leaf is refused by the name of the leaf."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import pytest

from statpriv.errors import ArgumentError
from statpriv.releasing import recomputation
from statpriv.releasing.leaves import LEAVES, named, on_trust

from .real_reports import KINDS, again, report

SCHEMA = json.loads(files("statpriv.releasing").joinpath("report.schema.json").read_text(encoding="utf-8"))
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "read-and-verify-a-report.md"


def leaves_of(rule, leaf=""):
    """Every leaf that a rule of the schema allows; the two ends of a number are one."""
    if "$ref" in rule:
        yield from leaves_of(SCHEMA["$defs"][rule["$ref"].rpartition("/")[2]], leaf)
        return
    for branch in rule.get("anyOf", ()):
        yield from leaves_of(branch, leaf)
    properties, more = rule.get("properties", {}), rule.get("additionalProperties")
    if properties and properties.keys() != {"lower", "upper"}:
        for key, inner in properties.items():
            yield from leaves_of(inner, f"{leaf}.{key}".strip("."))
    elif "items" in rule or isinstance(more, dict):
        yield from leaves_of(rule.get("items", more), leaf)
    elif "anyOf" not in rule:
        yield leaf


def test_every_leaf_of_the_schema_is_in_the_list_and_no_other():
    assert set(leaves_of(SCHEMA)) == set(LEAVES)


def test_the_page_names_every_leaf_that_is_taken_on_trust():
    text = PAGE.read_text(encoding="utf-8")
    assert [leaf for leaf in on_trust() if f"`{leaf}`" not in text] == []


FIGURES = ("curves", "degradation", "leaks", "block", "people", "comparison")


def places_of(kind, document):
    """Of each leaf of a report the last place, with its container and key; figures are looked at in two kinds."""
    found = {named(place): (place, container, key) for place, container, key in _places(document)}
    return [place for leaf, place in found.items() if kind in ("counts", "later") or not leaf.startswith(FIGURES)]


def _places(value, place=""):
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        by_group = place.endswith(("population", "probability", "size")) and isinstance(value, dict)
        at = f"{place}[{key}]" if by_group or isinstance(value, list) else f"{place}.{key}".strip(".")
        is_table = isinstance(inner, dict) and inner.keys() != {"lower", "upper"}
        if inner and (is_table or isinstance(inner, list)):
            yield from _places(inner, at)
        if named(at) in LEAVES:
            yield at, value, key


def other(value):
    """Another value of the same kind."""
    return OTHER[type(value)](value)


def other_text(value):
    if re.fullmatch("[0-9.]+(/[0-9]+)?", value):
        return str(Fraction(value) * Fraction(9, 10) + Fraction(1, 100))
    return value + "x"


OTHER = {
    dict: lambda value: {key: other(end) for key, end in value.items()} if "lower" in value else None,
    bool: lambda value: not value,
    int: lambda value: value + 1,
    float: lambda value: value * 0.9 + 1e-3,
    list: lambda value: value[:-1],
    str: other_text,
}
INSTEAD_OF_NULL = (
    "a text",
    3,
    True,
    {"lower": "0.2", "upper": "0.3"},
    {"lower": 1, "upper": 2},
    {"lower": 0.1, "upper": 0.2},
)
VALID = {
    "plan.prior": "not stated",
    "plan.written_before_access": "yes",
    "data.engine": "spark",
    "guarantee.kind": "enclosed",
    "leaks.known": "labels of everyone",
    "queries.where": '"other" = 1',
    "queries.cells.where": '"other" = 1',
    "queries.groups.group": "x",
}
"""Of leaves of which few values are allowed, one that is."""


UNTOLD = (("dry run", "queries.name"), ("suppressed", "queries.publication.suppressed_below"))
"""What the answers tell, in reports that have none."""


@pytest.fixture
def facts_are_computed_once(monkeypatch, few_points):
    """What depends on facts alone is computed once for equal facts: most changes are to what follows from them."""

    def once(name):
        compute, found = getattr(recomputation, name), {}

        def cached(*arguments, **options):
            key = repr((arguments, [(option, given) for option, given in options.items() if option != "progress"]))
            if key not in found:
                found[key] = compute(*arguments, **options)
            return found[key]

        monkeypatch.setattr(recomputation, name, cached)

    for name in ("certify", "everything", "prospective_contents"):
        once(name)


def refusal(document):
    """Why a report is refused; empty if it is not."""
    try:
        return list(again(document).disagreements)
    except ArgumentError as refused:
        return [str(refused)]


@pytest.mark.usefixtures("facts_are_computed_once")
@pytest.mark.parametrize(
    "kind",
    # The other kinds have the same leaves, but for a few; only these would notice one of theirs.
    [pytest.param(kind, marks=() if kind == "counts" else pytest.mark.campaign) for kind in KINDS],
)
def test_a_changed_leaf_is_refused_by_its_name(kind):
    document = report(kind)
    assert refusal(document) == []
    accepted = {}
    for place, container, key in places_of(kind, document):
        leaf, stated = named(place), container[key]
        if LEAVES[leaf].standing == "on trust" or (kind, leaf) in UNTOLD or stated == []:
            continue
        choices = [VALID[leaf]] if leaf in VALID else INSTEAD_OF_NULL if stated is None else [other(stated)]
        for changed in choices:
            container[key] = changed
            told = " ".join(re.sub(r"\[[0-9]+\]", "", line) for line in refusal(document))
            _, _, key_of_plan = leaf.rpartition(".")
            if leaf not in told and f"histogram with {key_of_plan} =" not in told:
                accepted[place] = (stated, changed, told[:300])
        container[key] = stated
    assert not accepted, "\n".join(map(str, accepted.items()))
