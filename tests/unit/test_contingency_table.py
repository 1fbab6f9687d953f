"""An exact table with a minimum count states its cells, and refuses what is no table."""

import copy
import pickle

import pytest

import statpriv as sp

AGES = ["<30", "30-60", ">60"]
TABLE = sp.ContingencyTable(
    {"region": ["n", "s"], "age": AGES},
    minimum={"default": 10, ("s", ">60"): 25},
    impossible=[("n", "<30")],
    by="region",
    name="R",
)


def test_cells_stand_in_row_major_order_without_impossible_ones():
    assert TABLE.cells == (("n", "30-60"), ("n", ">60"), ("s", "<30"), ("s", "30-60"), ("s", ">60"))
    assert (TABLE.number_of_cells, len(TABLE.cells)) == (5, 5)
    assert TABLE.dimensions == (("region", ("n", "s")), ("age", tuple(AGES)))
    assert TABLE.values_in() == TABLE.cells


def test_minima_are_those_of_cells_or_the_default():
    assert [TABLE.minimum_of(cell) for cell in TABLE.cells] == [10, 10, 10, 10, 25]
    assert (TABLE.minimum, TABLE.default, TABLE.minima) == (10, 10, ((("s", ">60"), 25),))
    assert sp.ContingencyTable(2, minimum={0: 4, 1: 3}).minimum == 3
    assert sp.ContingencyTable(3, minimum={0: 4, 1: 3, "default": 2}).minimum == 2
    # A default that no cell has is no minimum of the table.
    assert sp.ContingencyTable(2, minimum={0: 4, 1: 3, "default": 2}).minimum == 3


def test_classes_are_the_categories_of_a_public_classification_that_have_cells():
    assert TABLE.classes == ("n", "s")
    assert TABLE.class_of(("s", "<30")) == "s"
    no_cells = [("s", age) for age in AGES]
    assert sp.ContingencyTable({"r": ["n", "s"], "a": AGES}, minimum=3, impossible=no_cells, by="r").classes == ("n",)
    assert sp.ContingencyTable(5, minimum=3).classes == ()
    assert sp.ContingencyTable(5, minimum=3).dimensions is None


def test_a_number_of_cells_is_not_listed():
    table = sp.ContingencyTable(2**50, minimum=10)
    assert (table.number_of_cells, table.cells[7], table.minimum_of(2**50 - 1)) == (2**50, 7, 10)
    assert sp.ContingencyTable(4, minimum=10, impossible=[2, 2]).cells == (0, 1, 3)


@pytest.mark.parametrize("table", [TABLE, sp.ContingencyTable(5, minimum=3, attribute="a")])
def test_a_table_is_a_value(table):
    twins = [copy.deepcopy(table), pickle.loads(pickle.dumps(table)), eval(repr(table), vars(sp))]  # noqa: S301, S307
    assert all(twin == table and hash(twin) == hash(table) for twin in twins)


def test_the_same_minima_in_other_words_are_the_same_table():
    stated = {("x",): 5, ("y",): 5}
    assert sp.ContingencyTable({"a": ["x", "y"]}, minimum=stated) == sp.ContingencyTable({"a": ["x", "y"]}, minimum=5)


@pytest.mark.parametrize(
    ("stated", "options", "message"),
    [
        (1, {}, "cells_or_dimensions = 1; a whole number of cells, at least 2"),
        ("ab", {}, "cells_or_dimensions = 'ab'"),
        (None, {}, "cells_or_dimensions = None"),
        ({}, {}, "at least one dimension is required"),
        ({"a": ["x"]}, {}, "1 possible cells; at least two are required"),
        ({"a": ["x", "x"]}, {}, r"cells_or_dimensions\['a'\] = \['x', 'x'\]; a list of categories"),
        ({"a": ["x", ""]}, {}, "a category of 'a' is ''; a text that is not empty"),
        ({"a": ["x", 3]}, {}, "a category of 'a' is 3"),
        ({"a": "xyz"}, {}, r"cells_or_dimensions\['a'\] = 'xyz'; a list of categories"),
        ({"": ["x", "y"]}, {}, "a dimension is ''"),
        (
            {"a": [f"{k}" for k in range(1025)], "b": [f"{k}" for k in range(1025)]},
            {},
            "has 1050625 cells; at most 1048576",
        ),
        (5, {"minimum": 1}, "minimum = 1; a whole number of at least 2"),
        (5, {"minimum": "many"}, "minimum = 'many'; a whole number"),
        (5, {"minimum": 2.5}, "minimum = 2.5; a whole number"),
        (
            5,
            {"minimum": {0: 3}},
            "minimum states none for 1; one for every possible cell is required, or the key 'default'",
        ),
        (5, {"minimum": {"default": 3, 5: 4}}, "minimum has 5; a cell is a number from 0 to 4"),
        (5, {"minimum": {"default": 3, 1: 4}, "impossible": [1]}, "minimum has 1, which is declared impossible"),
        (5, {"impossible": [7]}, "impossible has 7; a cell is a number from 0 to 4"),
        (5, {"impossible": 7}, "impossible = 7; a list of cells is required"),
        (2, {"impossible": [0]}, "the table has 1 possible cells"),
        ({"a": ["x", "y"]}, {"impossible": ["x"]}, "impossible has 'x'; a cell is a tuple with a category of 'a'"),
        ({"a": ["x", "y"]}, {"impossible": [("z",)]}, r"impossible has \('z',\)"),
        (5, {"by": "a"}, "by = 'a'; None is required"),
        ({"a": ["x", "y"]}, {"by": "b"}, "by = 'b'; one of 'a' or None is required"),
        (5, {"name": 3}, "name = 3; a string or None"),
    ],
)
def test_what_is_no_table_is_refused(stated, options, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.ContingencyTable(stated, **{"minimum": 10, **options})


def test_what_is_no_possible_cell_has_no_minimum():
    with pytest.raises(sp.ArgumentError, match="declared impossible"):
        TABLE.minimum_of(("n", "<30"))
    with pytest.raises(sp.ArgumentError, match="a cell is a tuple"):
        TABLE.minimum_of("n")


def curve(table, *, population=None, **options):
    return sp.privacy_curve(table, population or sp.Population(500), **options)


def test_pairs_are_different_possible_cells_of_one_class():
    assert curve(TABLE, pair=(("s", "<30"), ("s", ">60"))).situation.pair == (("s", "<30"), ("s", ">60"))
    for pair in [
        (("n", "30-60"), ("s", "<30")),
        (("n", "<30"), ("n", ">60")),
        (("s", "<30"), ("s", "<30")),
        (0, 1),
        ("s", "<30"),
    ]:
        with pytest.raises(sp.ArgumentError, match=r"pair = .*different possible cells of one category of 'region'"):
            curve(TABLE, pair=pair)


def test_groups_whose_laws_may_differ_are_a_public_classification_or_refused():
    groups = sp.Population(groups={"s": 300, "n": 200})
    assert curve(TABLE, population=groups).delta(1) == curve(TABLE).delta(1)
    with pytest.raises(sp.NotAvailableError, match="the population has groups, whose laws may differ"):
        curve(sp.ContingencyTable(5, minimum=10), population=groups)


def test_tables_of_samples_are_refused_and_those_of_parts_have_the_bound_of_one():
    with pytest.raises(sp.NotAvailableError, match="it is not for ContingencyTable with WithoutReplacement"):
        curve(TABLE, sampling=sp.WithoutReplacement(50))
    # Two halves of all rows: each holds the critical entry with probability 1/2 (Theorem 5.2).
    halves = sp.compose([TABLE, TABLE], sp.Population(500), sp.RandomPartition([250, 250]))
    assert halves.delta(1).upper == pytest.approx(curve(TABLE).delta(1).upper)


def test_the_curve_says_that_it_holds_for_every_law():
    explained = curve(TABLE).explain()
    assert "for every law that the entries share" in explained
    assert "Margins, percentages, rounded counts, charts" in explained
    assert "all entries have one law, whatever that is" in explained
    assert "wrong probability" not in explained
    every = sp.minimum_count_curve(10, known=3)
    assert "any number of entries" in every.explain()
    assert "any exact table with at least 10 entries in every cell" in repr(every)
    assert pickle.loads(pickle.dumps(every)) == every  # noqa: S301
