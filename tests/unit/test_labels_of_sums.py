"""Labels of sums are equal if and only if the sums are."""

from fractions import Fraction
from itertools import combinations_with_replacement

import pytest
from hypothesis import given
from hypothesis import strategies as st

import statpriv as sp
from statpriv import budget
from statpriv.lowering.contributions import labels_of_sums

PLACES = st.one_of(st.integers(-12, 12), st.integers(-400, 400))


@given(st.sets(PLACES, max_size=4), st.integers(1, 5))
def test_sums_are_equal_exactly_if_those_of_their_labels_are(values, most):
    places = {0, *values}
    labels = labels_of_sums(places, most)
    both = {
        (sum(chosen), sum(labels[place] for place in chosen))
        for chosen in combinations_with_replacement(sorted(places), most)
    }
    assert len(both) == len({of for of, _ in both}) == len({label for _, label in both})
    assert max(labels.values()) - min(labels.values()) <= max(places) - min(places)


def test_a_free_value_is_one_more_digit():
    assert labels_of_sums({0, 1, 10**6}, 200) == {0: 0, 1: 1, 10**6: 201}
    assert labels_of_sums({0, 120_050, 3_500_017}, 200) == {0: 0, 120_050: 1, 3_500_017: 201}
    assert labels_of_sums({0, 1, 10, 100, 1000}, 5) == {0: 0, 1: 1, 10: 6, 100: 31, 1000: 156}
    assert labels_of_sums({0, -7}, 3) == {0: 0, -7: 1}


def test_values_that_are_not_free_stay_where_they_are():
    assert labels_of_sums({0, 1, 200}, 200) == {0: 0, 1: 1, 200: 200}
    assert labels_of_sums({0, 1, 2, 1000, 1001}, 100) == {place: place for place in (0, 1, 2, 1000, 1001)}
    many = {place**3 for place in range(budget.MAX_LABELLED_VALUES + 1)}
    assert labels_of_sums(many, 1) == {place: place for place in many}


def test_a_curve_does_not_depend_on_how_far_apart_free_values_are():
    def curve(second, third):
        north, south = {0: "1/2", second: "1/3", third: "1/6"}, {0: "1/4", second: "1/4", third: "1/2"}
        query = sp.SumQuery({"north": north, "south": south})
        return sp.privacy_curve(query, sp.Population(groups={"north": 4, "south": 3}))

    near, far = curve(1, 8), curve("1200.50", "35000.17")
    assert near.exact_delta(exp_epsilon="1.1") == far.exact_delta(exp_epsilon="1.1") > 0


def test_any_value_may_be_the_origin_where_the_number_of_answers_is_certain():
    """Of -60, -1, 0 and 1 none is free of the others' distances from -60, but -60 is of those from 0."""
    query = sp.SumQuery(dict.fromkeys((-60, -1, 0, 1), "1/4"))
    curve = sp.privacy_curve(query, sp.Population(3), sampling=sp.OverlappingSamples([1, 2]))
    assert curve.exact_delta(exp_epsilon=1) == Fraction(13, 24)


def test_steps_act_on_the_numbers_themselves():
    """Rounding to thousands leaves the number of thousands among the others, Bin(2, 1/6), and one more or none."""
    query = sp.SumQuery({0: "1/2", 1: "1/3", 1000: "1/6"}).rounded(1000)
    curve = sp.privacy_curve(query, sp.Population(3), pair=(1000, 0))
    assert curve.exact_delta(exp_epsilon=1) == Fraction(25, 36)


ROOTS = {0: "1/2", 2**0.5: "1/4", 3**0.5: "1/8", 5**0.5: "1/8"}


def test_numbers_without_a_common_lattice_have_the_curve_of_their_histogram():
    """Different histograms have different sums, so the sum determines the histogram."""
    entries = sp.Population(20)
    histogram = sp.privacy_curve(sp.HistogramQuery(list(ROOTS.values())), entries)
    total = sp.privacy_curve(sp.SumQuery(ROOTS), entries)
    assert total.kind == "bound"
    assert total.delta("0.1") == histogram.delta("0.1")
    with pytest.raises(sp.NotAvailableError, match=r"about .* answers matter, .* What applies: 'total-histogr"):
        sp.privacy_curve(sp.SumQuery(ROOTS), entries, bound="exact")
    three = {0: "1/2", 2**0.5: "1/4", 3**0.5: "1/4"}
    exact = sp.privacy_curve(sp.SumQuery(three), entries)
    assert exact.kind == "exact"
    cells = sp.privacy_curve(sp.HistogramQuery(list(three.values())), entries)
    assert abs(exact.delta("0.1").midpoint / cells.delta("0.1").midpoint - 1) < 1e-12


@pytest.mark.parametrize("sampling", [None, sp.PoissonSampling("1/2"), sp.PoissonSampling("1/2", size_published=True)])
def test_an_order_statistic_does_not_depend_on_what_the_values_are(sampling):
    roots, ranks = (
        sp.privacy_curve(
            sp.MedianQuery(dict(zip(values, ROOTS.values(), strict=True))), sp.Population(7), sampling=sampling
        )
        for values in (ROOTS, range(4))
    )
    assert roots.exact_delta(exp_epsilon=2) == ranks.exact_delta(exp_epsilon=2) > 0


def test_density_noise_alone_does_not_need_a_lattice():
    noisy = sp.privacy_curve(sp.SumQuery(ROOTS).noisy(sp.noise.Laplace(scale=3)), sp.Population(20), bound="noise")
    mechanism = sp.differential.LaplaceMechanism(scale=3, sensitivity=5**0.5)
    assert abs(noisy.delta("0.1").midpoint / mechanism.delta("0.1").midpoint - 1) < 1e-12
