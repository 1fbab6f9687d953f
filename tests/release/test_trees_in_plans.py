"""Trees of exact tables: a cell is split where all parts of it are large enough, and nothing else of them is told."""

from __future__ import annotations

import csv
import json
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv.errors import ArgumentError, PlanError
from statpriv.files.composition import read_composition
from statpriv.releasing.classification import dimension_from
from statpriv.releasing.exact_tables import TableAnswer
from statpriv.releasing.plan_file import load_plan
from statpriv.releasing.planned_table import PlannedTable
from statpriv.releasing.released_table import ReleasedTable, contradictions, holds_other_keys
from statpriv.releasing.table_files import as_csv, as_sdmx_csv
from statpriv.releasing.table_page import table_pages

from ..cases import cases
from .conftest import Workshop, toml

pytestmark = pytest.mark.usefixtures("computed_once")

COLUMNS = ["id", "region", "sex", "age"]
DIMENSIONS = {"region": ["north", "<south>"], "sex": ["f", "m"], "age": ["young", "old"]}
LEAVES = [*product(*DIMENSIONS.values())]


def tree(minimum=3, **more):
    dimensions = tuple(dimension_from(column, own) for column, own in DIMENSIONS.items())
    return PlannedTable("a tree", dimensions, minimum=minimum, nested=True, **more)


def split(cell, counts, own):
    """The published cells of what is in this cell, by the definition of a tree."""
    depth = len(cell)
    inside = {leaf: count for leaf, count in counts.items() if leaf[:depth] == cell}
    if depth == len(DIMENSIONS):
        return {cell: inside[cell]}
    parts = {}
    for leaf, count in inside.items():
        rows, least = parts.get(leaf[: depth + 1], (0, own[leaf]))
        parts[leaf[: depth + 1]] = rows + count, min(least, own[leaf])
    if all(rows >= least for rows, least in parts.values()):
        return {leaf: count for part in parts for leaf, count in split(part, counts, own).items()}
    return {cell: sum(inside.values())}


@settings(max_examples=cases(300, campaign=5000))
@given(
    counts=st.lists(st.sampled_from([0, 1, 2, 3, 4, 9]), min_size=8, max_size=8),
    impossible=st.sets(st.sampled_from(LEAVES), max_size=3),
    own=st.dictionaries(st.sampled_from(LEAVES), st.integers(2, 5), max_size=3),
    outside=st.sampled_from([0, 0, 0, 1]),
)
def test_a_cell_is_split_if_all_its_possible_parts_hold_the_minimum(counts, impossible, own, outside):
    held = dict(zip(LEAVES, counts, strict=True))
    possible = {leaf: count for leaf, count in held.items() if leaf not in impossible}
    if len({leaf[0] for leaf in possible}) < 2:
        return
    minima = tuple((leaf, least) for leaf, least in own.items() if leaf in possible and least != 3)
    table = tree(impossible=tuple(impossible), minima=minima)
    answer = TableAnswer.of_outcomes(table, [*counts, outside])
    expected = split((), possible, {leaf: dict(minima).get(leaf, 3) for leaf in LEAVES})
    if outside or any(held[leaf] for leaf in impossible):
        expected = {(): 0}
    assert answer.published == (() not in expected)
    assert dict(answer.cells) == {cell: count for cell, count in expected.items() if cell}
    assert [*answer.cells] == sorted(answer.cells, key=lambda entry: place(entry[0]))
    document = {
        "name": "a tree",
        "minimum": 3,
        "by": None,
        "by_source": None,
        "rows": sum(possible.values()),
        **answer.document(table),
    }
    assert contradictions(document) == []
    assert not holds_other_keys(document)
    assert TableAnswer.from_document(document) == answer


def place(cell):
    return [own.index(category) for own, category in zip(DIMENSIONS.values(), cell, strict=False)]


def stated(cells, **other):
    """An entry of a report with these published cells."""
    return {
        "name": "a tree",
        "dimensions": DIMENSIONS,
        "minimum": 3,
        "impossible": [],
        "nested": True,
        "by": None,
        "by_source": None,
        "published": True,
        "withheld": [],
        "rows": sum(count for _, count in cells),
        "cells": [{**dict(zip(DIMENSIONS, cell, strict=False)), "count": count} for cell, count in cells],
        **other,
    }


GOOD = [(("north", "f"), 5), (("north", "m", "young"), 3), (("north", "m", "old"), 4), (("<south>",), 3)]


@pytest.mark.parametrize(
    "cells",
    [
        GOOD[1:],
        [*GOOD, GOOD[-1]],
        [GOOD[3], *GOOD[:3]],
        [(("north",), 12), *GOOD],
        [*GOOD[:2], GOOD[3]],
        [*GOOD[:3], (("<south>",), 2)],
        [((), 15)],
        [],
    ],
    ids=["missing", "twice", "order", "and its whole", "a part alone", "small", "the whole table", "nothing"],
)
def test_cells_that_are_no_tree_contradict_the_rule(cells):
    assert contradictions(stated(GOOD)) == []
    assert contradictions(stated(cells))
    with pytest.raises(ArgumentError, match="tables"):
        ReleasedTable.from_document(stated(cells))


def test_what_is_stated_beside_a_tree_has_to_fit_it():
    assert contradictions(stated(GOOD, rows=16)) == ["tables.cells.count add up to something else than tables.rows"]
    assert contradictions(stated([], published=False)) == contradictions(stated([], published=None)) == []
    assert contradictions(stated(GOOD, published=False))
    assert contradictions(stated(GOOD, by="region", by_source="a register"))
    assert contradictions(stated(GOOD, ladder={}))
    only = [["<south>", "f", "young"], ["<south>", "f", "old"]]
    assert contradictions(stated(GOOD, impossible=only)) == [
        "tables.cells has a cell that is not split into its only possible part, which holds as many rows"
    ]
    few = stated([(("north",), 3)], minimum=30, impossible=[[*leaf] for leaf in LEAVES if leaf[0] != "north"])
    assert contradictions(few) == [
        "tables.impossible leaves fewer than two cells of the first dimension, which a tree begins with"
    ]
    minima = [{"cell": ["<south>", "f", "young"], "minimum": 2}, {"cell": ["<south>", "m", "old"], "minimum": 9}]
    assert contradictions(stated([*GOOD[:3], (("<south>",), 2)], minima=minima)) == []
    assert holds_other_keys(stated([*GOOD, (("north", "x"), 3)]))
    skipping = stated(GOOD)
    skipping["cells"][0] = {"region": "north", "age": "old", "count": 5}
    assert holds_other_keys(skipping)
    assert contradictions(skipping)


def test_totals_of_a_tree_are_those_of_its_first_dimensions():
    table = ReleasedTable.from_document(stated(GOOD))
    assert table.margin() == {(): 15}
    assert table.margin("region") == {("north",): 12, ("<south>",): 3}
    assert table.margin("region", "sex") == {("north", "f"): 5, ("north", "m"): 7}
    assert [table.rows_in(cell) for cell in [(), ("<south>",), ("<south>", "f"), ("north", "f")]] == [15, 3, None, 5]
    for kept in (["age"], ["sex", "region"], ["region", "age"]):
        with pytest.raises(ArgumentError, match="of a tree the first of 'region', 'sex', 'age'"):
            table.margin(*kept)


def grids_of(entry):
    (page,) = table_pages({"tables": [entry]})
    return page


def test_a_cell_that_is_not_split_is_one_line_of_the_page_however_many_grids_it_holds():
    deep = {**DIMENSIONS, "job": ["a", "b"]}
    cells = [(("north",), 8), *((leaf, 3) for leaf in product(["<south>"], *[*deep.values()][1:]))]
    entry = stated(cells, dimensions=deep)
    entry["cells"] = [{**dict(zip(deep, cell, strict=False)), "count": count} for cell, count in cells]
    page = grids_of(entry)
    shown = [(grid.heading, grid.not_split, grid.total, grid.column_totals) for grid in page.grids]
    south = [((("region", "<south>"), ("sex", sex)), None, 12, (6, 6)) for sex in "fm"]
    assert shown == [((("region", "north"),), 8, 8, None), *south]
    assert page.left_out == 0


@pytest.mark.parametrize("first", [2, 3])
def test_a_long_last_dimension_gives_the_rows(first):
    """Of what is not split the total is known, in its row or its column; of what cuts across, no total."""
    regions, ages = ["a", "b", "c"][:first], [f"{age}" for age in range(20)]
    cells = [(("a",), 50), *((("b", age), 3) for age in ages), *((("c", age), 4) for age in ages if first == 3)]
    entry = stated(cells, dimensions={"region": regions, "age": ages})
    entry["cells"] = [{**dict(zip(["region", "age"], cell, strict=False)), "count": count} for cell, count in cells]
    page = grids_of(entry)
    (grid,) = page.grids
    assert (grid.row_dimension, grid.column_dimension, len(grid.rows)) == ("age", "region", 20)
    assert grid.column_totals == (50, 60, 80)[:first]
    assert {row.total for row in grid.rows} == {None}
    assert (grid.total, page.left_out) == (sum((50, 60, 80)[:first]), 0)
    assert page.shades[-1].most == (3, 4)[first - 2]


def test_files_have_a_line_for_a_cell_that_is_not_split():
    table = ReleasedTable.from_document(stated(GOOD))
    lines = [*csv.reader(as_csv(table).decode().splitlines())]
    assert lines[0] == [*DIMENSIONS, "count", "count_status"]
    assert [line for line in lines[1:] if line[-1] == "published"] == [
        ["north", "f", "", "5", "published"],
        ["north", "m", "young", "3", "published"],
        ["north", "m", "old", "4", "published"],
        ["<south>", "", "", "3", "published"],
    ]
    assert len(lines) == 1 + len(LEAVES) + 2
    sdmx = [line[3:] for line in csv.reader(as_sdmx_csv(table).decode().splitlines())]
    assert sdmx[1:4] == [
        ["north", "f", "_T", "5", "A", "F"],
        ["north", "f", "young", "", "Q", "C"],
        ["north", "f", "old", "", "Q", "C"],
    ]
    renamed = json.loads(json.dumps(stated(GOOD)).replace("young", "_T"))
    sdmx = [line[3:] for line in csv.reader(as_sdmx_csv(ReleasedTable.from_document(renamed)).decode().splitlines())]
    assert sdmx[1][:3] == ["north", "f", "_T_"]


# --- from plan to report


NESTED = f"""[[table]]
name = "a tree"
minimum = 3
nested = true
[table.dimensions]
region = {toml(DIMENSIONS["region"])}
sex = ["f", "m"]
age = ["young", "old"]
"""


def people(counts):
    """So many rows in each cell, in row-major order."""
    rows = [cell for cell, count in zip(LEAVES, counts, strict=True) for _ in range(count)]
    return [(f"p{k:04}", *row) for k, row in enumerate(rows)]


def released_tree(workshop, counts):
    workshop.table(COLUMNS, people(counts))
    workshop.plan(NESTED, more_data='row_id = "id"', epsilon="1", delta="0.9")
    workshop.release()
    workshop.assert_whole_report()
    return workshop.report


def test_a_tree_from_plan_to_report(workshop):
    report = released_tree(workshop, [1, 4, 3, 4, 0, 2, 1, 0])
    entry = report["tables"][0]
    cells = [((*(cell[name] for name in DIMENSIONS if name in cell),), cell["count"]) for cell in entry["cells"]]
    assert cells == GOOD
    assert (entry["nested"], entry["published"], "ladder" in entry) == (True, True, False)
    query = sp.ContingencyTable(DIMENSIONS, minimum=3, nested=True)
    delta = sp.privacy_curve(query, sp.Population(15)).delta(1)
    assert report["guarantee"]["delta"] == {"lower": delta.lower, "upper": delta.upper}
    assert report["verify"]["proof"] == []
    page = " ".join(workshop.page.read_text(encoding="utf-8").split())
    assert "Published only because every cell of <bdi>region</bdi> has at least 3 rows" in page
    assert "A published cell is split by the next dimension, in the order" in page
    assert '4 cells <span class="tag">2 not split</span>' in page
    assert "<bdi>region</bdi>: <bdi>&lt;south&gt;</bdi>: 3 rows, not split" in page
    assert page.count('<td class="n hatched">not split</td>') == 2
    assert '<td class="n total">5</td>' in page
    read = read_composition(workshop.json)
    assert read.disagreements == ()
    assert read.of_plan(load_plan(workshop.folder / "plan.toml")).disagreements == ()
    without = [{key: own for key, own in entry.items() if key != "nested"}]
    moved = [{**entry, "cells": [{**entry["cells"][0], "count": 6}, *entry["cells"][1:]]}]
    workshop.json.write_text(json.dumps({**report, "tables": moved}), encoding="utf-8")
    assert read_composition(workshop.json).disagreements
    workshop.json.write_text(json.dumps({**report, "tables": without}), encoding="utf-8")
    with pytest.raises(ArgumentError, match=r"\$.tables.cells breaks the rule"):
        read_composition(workshop.json)


def test_what_is_inside_a_cell_that_is_not_split_leaves_no_trace(tmp_path):
    said = []
    for k, counts in enumerate(([5, 0, 3, 4, 0, 2, 1, 0], [1, 4, 3, 4, 3, 0, 0, 0])):
        folder = tmp_path / str(k)
        folder.mkdir()
        report = released_tree(Workshop(folder), counts)
        differs = ("html_sha256", "release", "ledger", "verify")
        said.append({key: own for key, own in report.items() if key not in differs})
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('sex = ["f", "m"]\nage = ["young", "old"]', "", "it needs at least two dimensions, the coarsest first"),
        ("nested = true", 'nested = true\nby = "region"\nby_source = "x"', "has by and nested"),
        (
            'age = ["young", "old"]',
            'age = { values = ["young", "old", "c"], recode = [[["young", "old"], ["c"]]] }',
            "and no recode",
        ),
        ("nested = true", 'nested = "yes"', "table[1].nested"),
    ],
    ids=["one dimension", "by", "recode", "no truth value"],
)
def test_a_mistake_in_a_tree_is_refused(workshop, old, new, message):
    head = '[data]\nsource = "people.csv"\nrow_id = "id"\n[guarantee]\nepsilon = 1\ndelta = 0.9\n'
    assert NESTED.count(old) == 1
    workshop.write("plan.toml", head + NESTED.replace(old, new))
    with pytest.raises(PlanError) as refused:
        load_plan(workshop.folder / "plan.toml")
    assert message in str(refused.value)
