"""Ladders and trees of tables: their levels, and what is none."""

import copy
import pickle

import pytest

import statpriv as sp

AGES = ["20-29", "30-39", "40-49", "50-59"]
HALVES = [AGES[:2], AGES[2:]]
DIMENSIONS = {"region": ["n", "s"], "age": AGES}
LADDER = sp.ContingencyTable(
    DIMENSIONS,
    minimum={"default": 10, ("n", "20-29"): 12, ("n", "30-39"): 14},
    impossible=[("s", "20-29"), ("s", "30-39")],
    recode={"age": [{"young": AGES[:2], "old": AGES[2:]}]},
)
TREE = sp.ContingencyTable({**DIMENSIONS, "sex": ["f", "m"]}, minimum=10, nested=True)


def test_a_ladder_has_the_table_as_declared_and_every_coarser_one():
    finest, coarsest = LADDER.levels
    assert (LADDER.depth, finest.cells, finest.depth) == (2, LADDER.cells, 1)
    assert coarsest.dimensions == (("region", ("n", "s")), ("age", ("young", "old")))
    # What has no possible cell is impossible, and the least minimum of its cells is that of a group.
    assert coarsest.impossible == (("s", "young"),)
    assert [coarsest.minimum_of(cell) for cell in coarsest.cells] == [12, 10, 10]
    assert LADDER.coarsened(("n", "30-39"), 1) == ("n", "young")


def test_a_tree_has_one_dimension_more_at_each_level():
    assert [table.number_of_cells for table in TREE.levels] == [16, 8, 2]
    assert TREE.levels[2].dimensions == (("region", ("n", "s")),)
    assert TREE.coarsened(("n", "30-39", "f"), 1) == ("n", "30-39")


def test_dimensions_with_fewer_recodings_stay_as_coarse_as_they_are():
    table = sp.ContingencyTable(
        {"a": ["1", "2", "3", "4"], "b": ["x", "y", "z"]},
        minimum=5,
        recode={"b": [[["x", "y"], ["z"]]], "a": [[["1", "2"], ["3"], ["4"]], [["1", "2", "3"], ["4"]]]},
    )
    assert [dict(level.dimensions) for level in table.levels[1:]] == [
        {"a": ("1, 2", "3", "4"), "b": ("x, y", "z")},
        {"a": ("1, 2, 3", "4"), "b": ("x, y", "z")},
    ]


@pytest.mark.parametrize("table", [LADDER, TREE])
def test_a_refined_table_is_a_value(table):
    twins = [copy.deepcopy(table), pickle.loads(pickle.dumps(table)), eval(repr(table), vars(sp))]  # noqa: S301, S307
    assert all(twin == table and hash(twin) == hash(table) for twin in twins)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"recode": {"x": [HALVES]}}, r"recode = .*a dict from some of 'region', 'age' to a list of coarser groupings"),
        ({"recode": [HALVES]}, "a dict from some of"),
        ({"recode": {"age": []}}, r"recode\['age'\] = \[\]; a list of coarser groupings"),
        ({"recode": {"age": [[AGES[:2], AGES[2:3]]]}}, r"groups of the categories .* each in exactly one"),
        ({"recode": {"age": [[AGES[:3], AGES[2:]]]}}, "each in exactly one"),
        ({"recode": {"age": [[*HALVES, []]]}}, "each in exactly one"),
        ({"recode": {"age": [{"": AGES[:2], "old": AGES[2:]}]}}, "each in exactly one"),
        ({"recode": {"age": [HALVES, [AGES[:1], AGES[1:]]]}}, "each grouping has to merge groups of the one before"),
        ({"recode": {"age": [HALVES, HALVES]}}, "each grouping has to merge"),
        ({"recode": {"age": [[AGES]], "region": [[["n", "s"]]]}}, "the coarsest table has one possible cell"),
        ({"recode": {"region": [[["n", "s"]]]}, "by": "region"}, "by = 'region' with a recoding of it"),
        ({"nested": True, "by": "region"}, "by = 'region' with nested"),
        ({"nested": True, "recode": {"age": [HALVES]}}, "nested = True; at least two dimensions"),
        ({"nested": 1}, "nested = 1; True or False"),
    ],
)
def test_what_is_no_ladder_and_no_tree_is_refused(options, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.ContingencyTable(DIMENSIONS, minimum=10, **options)


def test_cells_without_dimensions_cannot_be_refined():
    for options in ({"nested": True}, {"recode": {"a": [HALVES]}}):
        with pytest.raises(sp.ArgumentError, match="dimensions"):
            sp.ContingencyTable(5, minimum=10, **options)


def test_a_refined_table_never_has_the_curve_of_one_table():
    for table in (LADDER, TREE):
        curve = sp.privacy_curve(table, sp.Population(500))
        assert "an adaptive composition of at most 2D − 1 stages" in curve.explain()
        for bound in ("minimum-count", "supremum"):
            with pytest.raises(sp.NotAvailableError, match="the data choose among several tables"):
                sp.privacy_curve(table, sp.Population(500), bound=bound)
        assert curve.certify(epsilon=1, delta="0.5").theorems == ("stages",)
    with pytest.raises(sp.NotAvailableError, match="the table is all or nothing"):
        sp.privacy_curve(sp.ContingencyTable(5, minimum=10), sp.Population(500), bound="stages")
