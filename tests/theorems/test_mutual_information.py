"""Mutual information of a person's value and the answers, against its definition."""

from fractions import Fraction
from itertools import product
from math import comb, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv.errors import ArgumentError

from ..cases import cases

LN2 = log(2)


def by_definition(first, second, prior):
    """From the laws of the answers under both values."""
    total = 0.0
    for answer in {*first, *second}:
        p, q = first.get(answer, 0), second.get(answer, 0)
        mixed = prior * p + (1 - prior) * q
        total += sum(share * mass * log(mass / mixed) for share, mass in ((prior, p), (1 - prior, q)) if mass)
    return total


def count(n, p, own):
    """The law of a count of n rows, of which one has the value `own`."""
    return {k + own: comb(n - 1, k) * p**k * (1 - p) ** (n - 1 - k) for k in range(n)}


@settings(max_examples=cases(15, campaign=500))
@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 19))
def test_a_count_tells_what_the_definition_says(n, tenth, twentieth):
    p, prior = Fraction(tenth, 10), Fraction(twentieth, 20)
    curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), pair=(1, 0))
    found = curve.mutual_information(prior)
    truth = by_definition(count(n, float(p), 1), count(n, float(p), 0), float(prior))
    assert found.lower <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-9) <= found.upper
    assert found.width <= 0.02 * truth


def test_more_points_make_it_narrower():
    curve = sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(60), pair=(1, 0))
    few, many = (curve.mutual_information(points=points) for points in (50, 800))
    assert few.lower <= many.lower <= many.upper <= few.upper
    assert many.width < few.width / 30


def test_without_a_pair_the_worse_order_counts():
    p, prior = Fraction(1, 10), Fraction(1, 5)
    curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(10))
    laws = [count(10, float(p), own) for own in (1, 0)]
    truth = max(by_definition(*order, float(prior)) for order in (laws, laws[::-1]))
    found = curve.mutual_information(prior)
    assert found.lower <= truth <= found.upper
    assert found.width <= 0.02 * truth


def test_the_worst_pair_of_cells_is_bounded_from_above_alone():
    shares = [0.2, 0.3, 0.5]
    curve = sp.privacy_curve(sp.HistogramQuery(shares), sp.Population(4))
    others = {
        counts: comb(3, counts[0])
        * comb(3 - counts[0], counts[1])
        * 0.2 ** counts[0]
        * 0.3 ** counts[1]
        * 0.5 ** counts[2]
        for counts in product(range(4), repeat=3)
        if sum(counts) == 3
    }

    def law(cell):
        return {tuple(c + (k == cell) for k, c in enumerate(counts)): mass for counts, mass in others.items()}

    truth = max(by_definition(law(v), law(w), 0.5) for v, w in product(range(3), repeat=2))
    found = curve.mutual_information()
    assert found.lower == 0
    assert truth <= found.upper <= 1.2 * truth


def test_it_is_the_entropy_of_the_prior_where_everything_is_told():
    told = sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(1))
    assert told.mutual_information().upper == pytest.approx(LN2)
    assert told.mutual_information().lower == pytest.approx(LN2)
    assert told.mutual_information("0.1").upper == pytest.approx(-(0.1 * log(0.1) + 0.9 * log(0.9)))


def test_a_bound_of_the_curve_bounds_the_information():
    people, prior = sp.Population(500), "0.4"
    exact = sp.privacy_curve(sp.PropertyQuery("0.3"), people, sampling=sp.WithoutReplacement(100))
    bound = sp.privacy_curve(
        sp.PropertyQuery("0.3"), people, sampling=sp.WithoutReplacement(100), bound="amplification"
    )
    assert exact.mutual_information(prior).upper <= bound.mutual_information(prior).upper
    assert bound.mutual_information(prior).lower == 0


def test_a_reader_who_knows_learns_nothing():
    curve = sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(9))
    assert {curve.mutual_information(prior) for prior in (0, 1)} == {sp.Enclosure(0.0, 0.0)}
    assert curve.attack_success() == curve.posterior("1/2")


@pytest.mark.parametrize(
    ("prior", "points", "sentence"),
    [("1.2", 200, "prior"), (-1, 200, "prior"), ("0.5", 2, "points"), ("0.5", 2**21, "at most 1048576 are allowed")],
)
def test_what_is_not_allowed_is_refused(prior, points, sentence):
    curve = sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(9))
    with pytest.raises(ArgumentError, match=sentence):
        curve.mutual_information(prior, points=points)
