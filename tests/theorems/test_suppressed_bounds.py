"""Bounds of suppressed cells against every table of integers that has the published counts."""

import math
import random
import sys
from itertools import product

import pytest

import statpriv as sp
from statpriv import budget
from statpriv.audit.equations import CountSystem, Equation
from statpriv.audit.suppression import suppressed_bounds
from statpriv.audit.table import PublishedCell, PublishedTable

from ..cases import cases


def covers(total, key):
    return all(label is None or label == other for label, other in zip(total, key, strict=True))


def random_table(rng, shape):
    """A small table with suppressed cells, and totals of which some are missing, suppressed or marked as small."""
    dimensions = tuple((f"d{i}", tuple(f"{i}{j}" for j in range(size))) for i, size in enumerate(shape))
    keys = list(product(*(categories for _, categories in dimensions)))
    truth = {key: rng.randint(0, 4) for key in keys}
    hidden = set(rng.sample(keys, min(len(keys), rng.randint(1, 6))))
    cells = []
    for key in keys:
        mark = rng.choice([None, None, rng.randint(truth[key], 5)])
        cells.append(PublishedCell(key, None, mark) if key in hidden else PublishedCell(key, truth[key]))
    for total in product(*((None, *categories) for _, categories in dimensions)):
        if None in total and rng.random() < 0.75:
            count = sum(truth[key] for key in keys if covers(total, key))
            marked = PublishedCell(total, None, rng.choice([None, count + rng.randint(0, 2)]))
            cells.append(marked if rng.random() < 0.2 else PublishedCell(total, count))
    return PublishedTable("a table", dimensions, tuple(cells))


def every_table(table, most=2_000):
    """All tables of integers with the published counts; None where there are too many to list."""
    hidden = [cell for cell in table.inner if cell.count is None]
    ends = [(total.key, total.count if total.count is not None else total.most) for total in table.totals]
    caps = []
    for cell in hidden:
        cap = [end for key, end in ends if end is not None and covers(key, cell.key)]
        cap += [] if cell.most is None else [cell.most]
        if not cap:
            return None
        caps.append(min(cap))
    if math.prod(cap + 1 for cap in caps) > most:
        return None
    published = {cell.key: cell.count for cell in table.inner if cell.count is not None}
    found = []
    for values in product(*(range(cap + 1) for cap in caps)):
        whole = published | {cell.key: value for cell, value in zip(hidden, values, strict=True)}
        sums = [(total, sum(count for key, count in whole.items() if covers(total.key, key))) for total in table.totals]
        if all(
            count == total.count if total.count is not None else total.most is None or count <= total.most
            for total, count in sums
        ):
            found.append(whole)
    return found


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 3), (4,), (2, 2, 2)], ids=str)
def test_bounds_are_those_of_all_tables_of_integers(shape):
    """Contained always; equal in one and two dimensions, where the vertices of the linear program are integers."""
    rng = random.Random(str(shape))  # noqa: S311  (a case, not a secret)
    compared = 0
    for _ in range(cases(12, campaign=500)):
        table = random_table(rng, shape)
        tables = every_table(table)
        if tables is None:
            continue
        for each in suppressed_bounds(table):
            sums = [sum(count for key, count in whole.items() if covers(each.key, key)) for whole in tables]
            bounds, compared = each.bounds, compared + 1
            assert bounds.lower <= min(sums)
            assert max(sums) <= bounds.upper
            assert not bounds.lower_attained or bounds.lower == min(sums)
            assert not bounds.upper_attained or bounds.upper == max(sums)
            if len(shape) <= 2:
                assert (bounds.lower, bounds.upper) == (min(sums), max(sums))
                assert bounds.lower_attained
                assert bounds.upper_attained
    assert compared > 12


def test_bad_multipliers_make_bounds_weak_and_never_false(monkeypatch):
    """Whatever the solver returns is only a proposal."""
    from scipy.optimize import linprog

    rng = random.Random(5)  # noqa: S311

    def disturbed(costs, **options):
        found = linprog(costs, **options)
        if found.status == 0:
            found.eqlin.marginals = found.eqlin.marginals + [rng.choice([-3, -0.4, 0, 1, 7]) for _ in options["b_eq"]]
            found.x = found.x + 0.7
            found.fun = found.fun - 5 if rng.random() < 0.5 else found.fun + 5
        return found

    monkeypatch.setattr("statpriv.audit.equations._linprog", lambda: disturbed)
    weak = 0
    for _ in range(15):
        table = random_table(rng, (2, 3))
        tables = every_table(table)
        for each in suppressed_bounds(table) if tables is not None else ():
            sums = [sum(count for key, count in whole.items() if covers(each.key, key)) for whole in tables]
            assert each.bounds.lower <= min(sums)
            assert max(sums) <= each.bounds.upper
            weak += (each.bounds.lower, each.bounds.upper) != (min(sums), max(sums))
    assert weak > 0


def test_a_bound_of_fractions_alone_is_not_called_attained():
    """Three unknowns, two at a time sum to one: only halves solve that, and no bound of a whole number is attained."""
    pairs = (Equation((0, 1), 1), Equation((1, 2), 1), Equation((0, 2), 1))
    found = CountSystem(3, pairs, (None, None, None)).bounds([0])
    assert (found.lower_attained, found.upper_attained) == (False, False)


def test_nothing_bounds_a_cell_without_totals():
    (only,) = suppressed_bounds(sp.PublishedTable.from_counts({"a": ["x", "y"]}, [3, None]))
    assert (only.bounds.lower, only.bounds.upper) == (0, None)
    assert str(only.bounds) == "0 to any number"


def test_large_counts_are_exact():
    """A suppressed count is its row's total less the rest, to the last person of 10^15."""
    cells = (PublishedCell(("x",), 10**15 - 7), PublishedCell(("y",), None), PublishedCell((None,), 10**15))
    (only,) = suppressed_bounds(PublishedTable("t", (("a", ("x", "y")),), cells))
    assert (only.bounds.lower, only.bounds.upper, only.bounds.known) == (7, 7, True)


def test_counts_that_contradict_each_other_are_refused():
    cells = (
        *(PublishedCell((row, column), None) for row in "ab" for column in "xy"),
        *(PublishedCell((row, None), 5) for row in "ab"),
        *(PublishedCell((None, column), 6) for column in "xy"),
    )
    table = PublishedTable("t", (("row", ("a", "b")), ("column", ("x", "y"))), cells)
    with pytest.raises(sp.ArgumentError, match="contradict each other"):
        suppressed_bounds(table)


def test_more_suppressed_cells_than_are_bounded_are_refused(monkeypatch):
    monkeypatch.setattr(budget, "MAX_SUPPRESSED_CELLS", 1)
    with pytest.raises(sp.ArgumentError, match="2 cells are suppressed; bounds are computed of at most 1"):
        suppressed_bounds(sp.PublishedTable.from_counts({"a": ["x", "y"]}, [None, None]))


def test_without_scipy_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    table = PublishedTable(
        "t", (("a", ("x", "y")),), (*(PublishedCell((each,), None) for each in "xy"), PublishedCell((None,), 5))
    )
    with pytest.raises(sp.MissingExtraError, match=r"statpriv\[audit\]"):
        suppressed_bounds(table)
