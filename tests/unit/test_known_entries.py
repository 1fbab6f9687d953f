"""The number of known entries in a part: bounds of means over it, and of all splits over groups."""

from fractions import Fraction
from itertools import pairwise, product
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statpriv.lowering.background import Drawn, allocations, boxes

from ..cases import cases

ROUNDING = Fraction(1, 10**12)


def hypergeometric(drawn):
    """The exact law of the number of marked entries among the drawn ones."""
    ways = comb(drawn.population, drawn.draws)
    return {
        k: Fraction(comb(drawn.marked, k) * comb(drawn.population - drawn.marked, drawn.draws - k), ways)
        for k in range(drawn.most + 1)
        if drawn.draws - k <= drawn.population - drawn.marked
    }


@st.composite
def draws(draw):
    population = draw(st.integers(1, 60))
    return Drawn(population, draw(st.integers(0, population)), draw(st.integers(0, population)))


@given(draws())
def test_chances_are_those_of_a_hypergeometric_law(drawn):
    law = hypergeometric(drawn)
    for number in range(-1, drawn.most + 2):
        more = sum(mass for k, mass in law.items() if k > number)
        assert more <= drawn.chance_of_more(number) <= more * (1 + ROUNDING)


@settings(max_examples=cases(20, campaign=600))
@given(st.lists(draws(), min_size=1, max_size=2), st.data())
def test_the_mean_of_what_grows_with_the_numbers_is_bounded(groups, data):
    """Step functions generate all nondecreasing functions: above a corner, in every coordinate or in one."""
    weighted = list(boxes(groups))
    assert sum(weight for weight, _ in weighted) == 1
    assert all(weight > 0 for weight, _ in weighted)
    assert all(low <= high for (_, a), (_, b) in pairwise(weighted) for low, high in zip(a, b, strict=True))
    corner = tuple(data.draw(st.integers(0, drawn.most)) for drawn in groups)
    for reached in (all, any):
        together = product(*(hypergeometric(drawn).items() for drawn in groups))
        mean = Fraction(0)
        for outcome in together:
            mass = Fraction(1)
            for _, share in outcome:
                mass *= share
            mean += mass * reached(number >= least for (number, _), least in zip(outcome, corner, strict=True))
        bound = sum(
            weight * reached(number >= least for number, least in zip(box, corner, strict=True))
            for weight, box in weighted
        )
        assert mean <= bound


def test_few_numbers_of_one_group_lose_nothing():
    drawn = Drawn(50, 12, 20)
    law = hypergeometric(drawn)
    for (weight, (number,)), mass in zip(boxes([drawn]), law.values(), strict=True):
        assert abs(weight - mass) < ROUNDING
        assert law[number] == mass


def test_many_numbers_lose_a_few_percent():
    drawn = Drawn(32767, 1000, 1023)
    mean = sum(weight * number for weight, (number,) in boxes([drawn]))
    assert Fraction(1000 * 1023, 32767) <= mean <= 37


@settings(max_examples=cases(20, campaign=600))
@given(st.lists(st.integers(1, 12), min_size=1, max_size=3), st.data())
def test_no_numbers_by_group_exceed_all_allocations(sizes, data):
    known = data.draw(st.integers(0, sum(sizes)))
    found = allocations(known, sizes)
    assert len(found) <= 12
    assert all(number <= min(size, known) for way in found for number, size in zip(way, sizes, strict=True))
    for numbers in product(*(range(size + 1) for size in sizes)):
        if sum(numbers) == known:
            assert any(all(a <= b for a, b in zip(numbers, way, strict=True)) for way in found)


@pytest.mark.parametrize(
    ("known", "sizes", "ways"),
    [
        (3, [9, 9], [(0, 3), (1, 2), (2, 1), (3, 0)]),
        (3, [9, 1], [(2, 1), (3, 0)]),
        (400, [5000, 50], [(370, 50), (400, 37)]),
        (40, [50] * 5, [(40,) * 5]),
        (0, [4, 4], [(0, 0)]),
    ],
)
def test_few_known_entries_fall_in_all_ways_and_many_in_coarse_ones(known, sizes, ways):
    assert allocations(known, sizes) == ways
