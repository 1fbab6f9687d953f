"""Where *Composition in Differential Privacy for General Granularity Notions* says something else than it proves.

One test for each line of `docs/explanation/misprints.md`.
"""

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest

import statpriv as sp
from statpriv import granularity as gr

TABLES = [table for size in range(5) for table in combinations_with_replacement("abc", size)]


def read(part, table):
    return tuple(record for record in table if record in part)


def test_corollary_iv_15_needs_a_proper_part():
    """On a proper part the closed form is the minimum; on everything it is infinite for different sizes."""
    tables = [table for table in TABLES if len(table) <= 3]
    for first, second in product(tables, repeat=2):
        if len(read("ab", first) + read("ab", second)) > 3:
            continue  # the class of this test would have no room for the records to be added
        closed = gr.subuniverse_distance(first, second, part={"a", "b"}, outside="c")
        found = gr.minimum_distance(
            first, second, metric=gr.Bounded(), reads=lambda table: read("ab", table), universe=TABLES
        )
        assert closed == found.value
    whole = gr.minimum_distance(("a",), ("a", "b"), metric=gr.Bounded(), reads=lambda table: table, universe=TABLES)
    assert whole.value == math.inf
    with pytest.raises(sp.ArgumentError, match=r"Corollary IV\.15 needs a proper part"):
        gr.subuniverse_distance(["a"], ["a", "b"], part={"a", "b", "c"}, outside="c")


def test_corollary_iv_15_cannot_hold_on_the_whole_universe():
    """The number of records is bounded 0-private, and the printed bound ε·1 between sizes 1 and 2 would hide it."""
    size = gr.FiniteMechanism({table: {len(table): 1} for table in TABLES})
    with pytest.warns(gr.NoPathWarning):
        assert size.is_private(gr.Bounded(), 0)
    assert size.law(("a",)) != size.law(("a", "b"))


def test_theorem_vi_3_divides_by_zero_at_epsilon_zero():
    """(e^{εd} − 1)/(e^ε − 1) becomes d."""
    at_zero = gr.preprocess((0, "0.001"), 5, notion="approximate").delta
    near_zero = gr.preprocess(("1e-30", "0.001"), 5, notion="approximate").delta
    assert at_zero == Fraction(5, 1000)
    assert near_zero.lower - 1e-17 <= at_zero <= near_zero.upper


def test_theorems_a_13_and_a_15_need_a_compatible_partition():
    """As printed they speak of any inputs: with two that read everything the maximum is not enough."""
    bit = gr.FiniteMechanism({0: {0: "2/3", 1: "1/3"}, 1: {0: "1/3", 1: "2/3"}})
    both = gr.FiniteMechanism.independent([bit, bit])
    neighbours = gr.Relation([0, 1], [(0, 1)])
    assert bit.least_delta(neighbours, exp_epsilon=2) == 0
    assert both.least_delta(neighbours, exp_epsilon=2) == Fraction(2, 9)
    same = [lambda x: x, lambda x: x]
    with pytest.raises(sp.NotAvailableError, match="not compatible"):
        gr.compose([(1, 0), (1, 0)], granularity=neighbours, setting="disjoint", inputs=same, notion="approximate")
    with pytest.raises(sp.NotAvailableError, match="not compatible"):
        gr.compose([1, 1], granularity=neighbours, setting="disjoint", inputs=same, notion="zcdp")
    # Order 2: D_2 of the bit is ln(3/2), of both it is twice that.
    assert sum(p * p / q for p, q in ((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3)))) == Fraction(
        3, 2
    )


def test_theorem_vi_23_needs_gaussian_privacy():
    """Its hypothesis is printed as pure privacy: a bit that is ε-private is not ε-Gaussian private."""
    bit = gr.FiniteMechanism({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    epsilon = bit.least_epsilon(gr.FreeLunch()).epsilon
    distance = bit.least_delta(gr.FreeLunch(), 0)
    assert sp.differential.gaussian_delta(0, mu=epsilon.upper).upper < distance.lower


def test_example_iv_5_means_at_most_three_hospitals():
    """With "at least three", as printed twice, four hospitals may share an ambulance, and 3ε is too little."""
    four = [{"x"}] * 4
    assert gr.compose([1] * 4, granularity=gr.Unbounded(), inputs=gr.Inputs(four)).epsilon == 4
    assert gr.compose([1] * 4, granularity=gr.Unbounded(), setting="overlapping", reach=3).epsilon == 3


def test_theorem_iv_12_does_not_follow_from_iv_6():
    """It is IV.6 that follows from IV.12 by preprocessing: M ∘ f may be private where M is not.

    Three databases in a row, a mechanism that loses ln 2 a step, and inputs of which the ends are neighbours too.
    """
    row = gr.Relation(range(3), [(0, 1), (1, 2)])
    ring = gr.Relation(range(3), [(0, 1), (1, 2), (0, 2)])
    mechanism = gr.FiniteMechanism(
        {x: {0: Fraction(1, 2 ** (x + 1)), 1: 1 - Fraction(1, 2 ** (x + 1))} for x in range(3)}
    )
    assert mechanism.least_epsilon(row).ratio == 2
    assert mechanism.least_epsilon(ring).ratio == 4
    assert gr.sensitivity(lambda x: x, universe=range(3), source=row, target=ring).value == 1
    composed = gr.compose([1], granularity=row, setting="disjoint", inputs=[lambda x: x])
    assert composed.theorem.startswith("Theorem IV.12")
    assert composed.epsilon == 1


def test_corollary_iv_13_takes_two_different_parts():
    """The maximum over pairs i ≠ j is empty for one part, whose budget it is then."""
    assert gr.compose(["0.3"], granularity=gr.Bounded(), setting="element_partition").epsilon == Fraction(3, 10)
