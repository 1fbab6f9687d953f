"""How probable withholding is, before anything is counted: bounds against enumeration, and where they are said."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb, exp, factorial, prod

import pytest

import statpriv as sp
from statpriv.files.composition import read_composition
from statpriv.model.ranges import ends
from statpriv.releasing.cell_ranges import CellRanges
from statpriv.releasing.classification import dimension_from
from statpriv.releasing.exact_tables import TableAnswer
from statpriv.releasing.part import Part
from statpriv.releasing.plan import Publication
from statpriv.releasing.planned_table import PlannedTable
from statpriv.releasing.report import render
from statpriv.releasing.steps import Steps, expected_counts
from statpriv.releasing.withholding import chance_of_withholding

from .conftest import query

GATED = Publication(gate=True)
LOW, HIGH = Fraction(3, 10), Fraction(1, 2)


def counted(p, size, *gates, publication=GATED):
    asked = sp.HistogramQuery(p) if isinstance(p, list) else sp.PropertyQuery(p)
    return Part(size, None, asked, Steps(size, gates, publication))


def outside(probabilities, least, most):
    """The probability that so many independent rows have fewer than `least` ones, or more than `most`."""
    law = [Fraction(1)]
    for p in probabilities:
        law = [a * (1 - p) + b * p for a, b in zip([*law, 0], [0, *law], strict=True)]
    return sum(law) - sum(law[least : most + 1])


@pytest.mark.parametrize(("least", "most"), [(1, 4), (2, 3), (0, 4), (2, 6), (0, 6)])
def test_no_rows_within_the_range_are_withheld_more_often(least, most):
    bound = chance_of_withholding(counted(sp.Between(LOW, HIGH), 6, (least, most)))
    own = chance_of_withholding(counted(sp.EachBetween(LOW, HIGH), 6, (least, most)))
    assert own == bound
    worst = max(outside(rows, least, most) for rows in product((LOW, Fraction(2, 5), HIGH), repeat=6))
    assert worst <= bound
    ends = outside([LOW] * 6, least, 6), outside([HIGH] * 6, 0, most)
    assert bound == pytest.approx(float(min(sum(ends), 1)))


def test_a_histogram_is_withheld_if_some_cell_is():
    p, gates = [Fraction(1, 5), Fraction(3, 10), Fraction(1, 2)], [(1, 4), (0, 3), (2, 5)]
    held = [
        Fraction(factorial(6), prod(map(factorial, counts))) * prod(q**c for q, c in zip(p, counts, strict=True))
        for counts in product(range(7), repeat=3)
        if sum(counts) == 6 and all(low <= count <= high for count, (low, high) in zip(counts, gates, strict=True))
    ]
    bound = chance_of_withholding(counted(p, 6, *gates))
    assert 1 - sum(held) <= bound <= 3 * (1 - sum(held))


def test_a_table_is_withheld_if_its_coarsest_grouping_has_a_small_cell():
    ages = {"values": ["a", "b", "c"], "recode": [[["a", "b"], ["c"]]]}
    ranges = CellRanges(
        (Fraction(1, 5), Fraction(1)), ((("c",), (Fraction(2, 5), Fraction(3, 5))),), each=True, source="s"
    )
    table = PlannedTable("ages", (dimension_from("age", ages),), minimum=2, ranges=ranges)
    part = Part(8, None, table.query, Steps(8, (), Publication()), table=table)
    worst = max(
        sum(
            comb(8, k) * p**k * (1 - p) ** (8 - k)
            for k in range(9)
            if not TableAnswer.of_outcomes(table, [8 - k, 0, k, 0]).published
        )
        for p in (Fraction(2, 5), Fraction(1, 2), Fraction(3, 5))
    )
    assert worst <= chance_of_withholding(part) <= 2 * worst


@pytest.mark.parametrize(("least", "most"), [(1, 5), (2, 6), (2, 4), (0, 3)])
@pytest.mark.parametrize("ranges", [(LOW, HIGH), (sp.Between("1/10", "1/5"), sp.Between("3/5", "7/10"))])
def test_rows_of_groups_are_withheld_no_more_often_than_rows_with_their_mean_would(ranges, least, most):
    rows = {"f": 2, "m": 4}
    asked = sp.PropertyQuery(dict(zip(rows, ranges, strict=True)))
    bound = chance_of_withholding(Part(6, rows, asked, Steps(6, ((least, most),), GATED)))
    low, high = zip(*(ends(asked.probability(group)) for group in rows), strict=True)
    worst = max(outside([f] * 2 + [m] * 4, least, most) for f, m in product((low[0], high[0]), (low[1], high[1])))
    assert worst <= bound
    mean = [2 * f + 4 * m for f, m in (low, high)]
    if least <= mean[0] and mean[1] <= most:
        tails = [outside([m / 6] * 6, *gate) for m, gate in zip(mean, [(least, 6), (0, most)], strict=True)]
        assert bound == pytest.approx(float(sum(tails)))
    else:
        assert bound == 1


UNITS = [
    {(0, 0, 0): Fraction(1, 2), (1, 1, 1): Fraction(1, 2)},
    {(0, 0, 0): Fraction(3, 5), (1, 1, 1): Fraction(2, 5)},
    {(1, 0, 0): Fraction(1, 3), (0, 1, 0): Fraction(1, 3), (0, 0, 1): Fraction(1, 3)},
    {(0, 0, 0): Fraction(3, 10), (1, 1, 1): Fraction(3, 10), (1, 0, 1): Fraction(1, 5), (0, 1, 0): Fraction(1, 5)},
]
"""Laws of three rows that hang together, each of which has the property with a probability from LOW to HIGH."""


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("size", "gate"), [(12, (1, 11)), (30, (2, 27)), (60, (6, 50)), (60, (12, 40))])
def test_rows_that_hang_together_are_withheld_no_more_often_than_is_said(unit, size, gate):
    law = {0: Fraction(1)}
    for _ in range(size // 3):
        sums = Counter()
        for (count, mass), (rows, chance) in product(law.items(), unit.items()):
            sums[count + sum(rows)] += mass * chance
        law = sums
    withheld = sum(mass for count, mass in law.items() if not gate[0] <= count <= gate[1])
    part = replace(
        counted(sp.EachBetween(LOW, HIGH), size, gate),
        clustered=sp.Population(size, clusters=size // 3, largest_cluster=3),
    )
    assert withheld <= chance_of_withholding(part) <= 1


def test_three_deviations_of_units_are_withheld_with_a_chance_of_a_few_per_cent():
    size, largest = 3_000_000, 4
    gate = expected_counts([(size, (Fraction(1, 2), Fraction(1, 2)))], largest_unit=largest)
    units = sp.Population(size, clusters=1_000_000, largest_cluster=largest)
    part = replace(counted(sp.EachBetween("1/2", "1/2"), size, gate), clustered=units)
    assert chance_of_withholding(part) == pytest.approx(2 * exp(-4.5), rel=0.01)  # the gate is a whole number
    # A rare property: Cantelli's inequality, one part in ten at each end.
    rare = expected_counts([(size, (Fraction(1, 50), Fraction(1, 50)))], largest_unit=largest)
    part = replace(counted(sp.EachBetween("1/50", "1/50"), size, rare), clustered=units)
    assert 0.15 < chance_of_withholding(part) <= 0.2


def test_nothing_is_said_where_nothing_is_known():
    plain = PlannedTable("ages", (dimension_from("age", ["a", "b"]),), minimum=2)
    assert chance_of_withholding(Part(8, None, plain.query, Steps(8, (), Publication()), table=plain)) is None
    assert chance_of_withholding(counted(LOW, 6, (1, 4), publication=Publication())) is None


# --- in reports ---

COLUMNS = """
[data.columns]
vote = { codes = [0, 1, 9], source = "codebook of 2021" }
age = { range = [0, 120], codes = [999] }
"""


@pytest.fixture
def released(workshop, few_points):
    def released(**options):
        workshop.table(["id", "vote", "age"], [[f"p{k}", k % 2, 30] for k in range(60)])
        gated = query("vote = 0", rows=40, probability=("0.3", "0.6")) + "gate = true\n"
        workshop.plan(gated, more_data='row_id = "id"', more=COLUMNS, epsilon="1")
        return workshop.release(**options).contents

    return released


def test_a_dry_run_says_how_probable_withholding_is(released):
    contents = released(dry_run=True)
    (asked,) = contents["queries"]
    gate = expected_counts([(40, (LOW, Fraction(3, 5)))])
    assert asked["withheld_at_most"] == chance_of_withholding(counted(sp.Between(LOW, "0.6"), 40, gate))
    assert "Chance to be withheld" in render(contents)


def test_the_report_states_the_public_values_of_columns_and_their_sources(workshop, released):
    contents = released()
    assert contents["data"]["columns"] == [
        {"column": "vote", "codes": ["0", "1", "9"], "range": None, "source": "codebook of 2021"},
        {"column": "age", "codes": ["999"], "range": ["0", "120"], "source": None},
    ]
    page = render(contents)
    assert "codebook of 2021" in page
    assert "<bdi>0</bdi> to <bdi>120</bdi>" in page
    assert read_composition(workshop.json).disagreements == ()
