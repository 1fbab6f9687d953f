"""Tests of the brute force itself, on cases small enough for pencil and paper."""

from fractions import Fraction

import pytest

from .brute_force import (
    answer_law,
    databases,
    exactly,
    fixed,
    hockey_stick,
    partition_sum,
    partitioned,
    privacy_curve,
    sampling_privacy_curve,
    templates,
)

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
COIN = {0: HALF, 1: HALF}


def test_databases_are_all_there_once_with_total_mass_one():
    laws = [COIN, {"a": THIRD, "b": THIRD, "c": THIRD}]
    rows = list(databases(laws))
    assert len({database for database, _ in rows}) == len(rows) == 6
    assert {probability for _, probability in rows} == {Fraction(1, 6)}


def test_templates_are_injective_disjoint_and_all_there():
    assignments = list(templates(4, [2, 1]))
    assert len(set(assignments)) == len(assignments) == 4 * 3 * 2
    assert all(len({*first, *second}) == 3 for first, second in assignments)
    assert all((len(first), len(second)) == (2, 1) for first, second in assignments)


def test_two_coins():
    law = answer_law(fixed([COIN, COIN], {0: 1}), exactly(sum))
    assert law == {1: HALF, 2: HALF}
    assert privacy_curve([COIN, COIN], exactly(sum))(Fraction(1)) == HALF
    assert privacy_curve([COIN, COIN], exactly(lambda entries: entries[0] ^ entries[1]))(Fraction(1)) == 0
    assert privacy_curve([COIN, COIN], exactly(sum), known=[1])(Fraction(1)) == 1


def test_a_hockey_stick_by_hand():
    p, q = {"a": Fraction(3, 4), "b": Fraction(1, 4)}, {"a": HALF, "c": HALF}
    assert hockey_stick(p, q, Fraction(1)) == HALF
    assert hockey_stick(p, q, Fraction(3, 2)) == Fraction(1, 4)


def test_the_worst_pair_of_three_values_counts():
    entry = {0: THIRD, 1: THIRD, 5: THIRD}
    # Sums with one other entry: {0, 1, 5}, {1, 2, 6}, {5, 6, 10}; any two of them share one sum of mass 1/3.
    assert privacy_curve([entry] * 2, exactly(sum))(Fraction(1)) == Fraction(2, 3)
    assert privacy_curve([entry] * 2, exactly(sum), pairs=[(0, 1)])(Fraction(1)) == Fraction(2, 3)
    assert privacy_curve([entry] * 2, exactly(sum), pairs=[(1, 1)])(Fraction(1)) == 0


def test_a_sample_of_one_shows_the_critical_entry_with_its_share():
    # Answer v with chance 1/3, else a fair coin: 1/3 of the mass differs at e^epsilon = 1.
    assert privacy_curve([COIN] * 3, partitioned([sum], 3, [1]))(Fraction(1)) == THIRD
    assert sampling_privacy_curve([COIN] * 3, sum, 1)(Fraction(1)) == 1


def test_the_sampling_curve_of_two_in_three_with_one_known():
    # The other one in the sample is the known entry half of the time (curve 1), else a coin (curve ½).
    assert sampling_privacy_curve([COIN] * 3, sum, 2, known=[2])(Fraction(1)) == Fraction(3, 4)


def test_the_order_inside_a_template_counts():
    def first(entries):
        return entries[0]

    assert sampling_privacy_curve([COIN] * 2, first, 2)(Fraction(1)) == HALF


def test_the_partition_sum_of_one_and_two():
    # Part 1 holds the entry with chance 1/3 (curve 1), part 2 with chance 2/3 (curve ½).
    assert partition_sum([COIN] * 3, [sum, sum], [1, 2])(Fraction(1)) == Fraction(2, 3)


@pytest.mark.parametrize(("known_ones", "printed"), [(0, "0.0750"), (1, "0.0917"), (2, "0.0750")])
def test_the_worst_number_of_known_ones_lies_inside(known_ones, printed):
    laws = [COIN] * 4 + [{int(i < known_ones): Fraction(1)} for i in range(2)]
    curve = privacy_curve(laws, partitioned([sum], 6, [2]), pairs=[(1, 0), (0, 1)])(Fraction(3, 2))
    assert f"{float(curve):.4f}" == printed
    everything = privacy_curve([COIN] * 6, partitioned([sum], 6, [2]), known=[4, 5])(Fraction(3, 2))
    assert f"{float(everything):.4f}" == "0.0917"
