"""Histograms, sums, order statistics and linear queries: accepted arguments and the resulting values."""

from fractions import Fraction
from math import gcd

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import statpriv as sp

THIRD, HALF = Fraction(1, 3), Fraction(1, 2)
# Cubes of bytes, of varied size and sometimes zero: one draw in total, where a list makes one draw per member.
WEIGHTS = st.binary(min_size=1, max_size=19).map(lambda drawn: [*(byte**3 for byte in drawn), 1])

# --- probabilities that sum to one


@given(weights=WEIGHTS)
def test_exact_probabilities_are_kept(weights):
    total = sum(weights)
    query = sp.HistogramQuery([f"{weight}/{total}" for weight in weights])
    assert query.cells == tuple(Fraction(weight, total) for weight in weights)
    assert query.sums == 1


@given(weights=WEIGHTS)
def test_floats_are_divided_by_their_sum_and_the_query_says_by_which(weights, read_back):
    floats = [weight / sum(weights) for weight in weights]
    query = sp.HistogramQuery(floats)
    assert sum(query.cells) == 1
    assert query.sums == sum(map(Fraction, floats))
    assert tuple(cell * query.sums for cell in query.cells) == tuple(map(Fraction, floats))
    same = read_back(repr(query))
    assert (same.cells, same.sums) == (query.cells, query.sums)


def test_the_tolerance_is_that_of_the_hockey_stick():
    """The largest accepted sums of two doubles, and the next larger sums, which are refused."""
    for cells in (2, 3):
        rest = ["1/4"] * (cells - 2)
        for ulps in (2**12 + cells, 2**12 + cells + 1):
            exact = HALF - sum(map(Fraction, rest)) - Fraction(ulps, 2**52)
            masses = [0.5, float(exact), *rest]
            assert Fraction(masses[1]) == exact
            if ulps == 2**12 + cells:
                assert sp.hockey_stick(masses, masses, 0).sums[0] == sp.HistogramQuery(masses).sums
                continue
            tolerance = rf"sums to .*at most 2\^-40 \+ {cells} · 2\^-52"
            with pytest.raises(sp.ArgumentError, match=tolerance):
                sp.hockey_stick(masses, masses, 0)
            with pytest.raises(sp.ArgumentError, match=tolerance):
                sp.HistogramQuery(masses)


def test_one_float_makes_a_law_rounded():
    third = 1 / 3
    assert sum(sp.HistogramQuery([third, "2/3"]).cells) == 1
    assert sp.HistogramQuery(np.array([0.1] * 10)).cells == (Fraction(1, 10),) * 10
    assert sp.HistogramQuery([0.1] * 10) == sp.HistogramQuery(["1/10"] * 10)
    with mpmath.workdps(40):
        assert sp.HistogramQuery([mpmath.mpf(1) / 3] * 3).cells == (THIRD,) * 3


def test_reprs_show_what_was_written():
    assert repr(sp.HistogramQuery([0.1] * 10)) == "HistogramQuery([0.1] * 10)"
    assert repr(sp.SumQuery({0: 0.1, 1: 0.2, 2: 0.7})) == "SumQuery({0: 0.1, 1: 0.2, 2: 0.7})"


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (sp.HistogramQuery, "p"),
        (lambda masses: sp.HistogramQuery({"f": masses}), r"p\['f'\]"),
        (lambda masses: sp.SumQuery(dict(enumerate(masses))), "pmf"),
        (lambda masses: sp.MeanQuery({"f": dict(enumerate(masses))}), r"pmf\['f'\]"),
        (lambda masses: sp.MedianQuery(dict(enumerate(masses))), "pmf"),
    ],
)
@pytest.mark.parametrize(
    ("masses", "message"),
    [
        (["1/3", "1/3"], r" sums to 2/3; exact probabilities must sum to exactly one: add what is missing"),
        ([0, 0], r" sums to 0; exact probabilities"),
        ([0.5, 0.25], r" sums to 0\.75; probabilities in floats .* at most 2\^-40 \+ 2 · 2\^-52; add what is missing"),
        ([0.5, 1.5], r"\[1\] = 1\.5; a probability from 0 to 1 is required$"),
        ([0.5, "-1/2", 1], r"\[1\] = -1/2; a probability from 0 to 1 is required$"),
        ([0.5, True], r"\[1\] = True is a truth value"),
        ([0.5, float("nan")], r"\[1\] = nan is not finite"),
    ],
)
def test_what_is_no_law_is_refused_by_name(make, name, masses, message):
    with pytest.raises(sp.ArgumentError, match=f"^{name}{message}"):
        make(masses)


# --- histograms


def test_cells_by_group():
    query = sp.HistogramQuery({"m": ["1/3", "2/3"], "f": [0.5, 0.5]})
    assert query.cells == (("m", (THIRD, 2 * THIRD)), ("f", (HALF, HALF)))
    assert query.sums == (("m", 1), ("f", 1))


def test_a_cell_of_probability_zero_stays():
    assert sp.HistogramQuery([0, 0.5, 0.5]).cells == (0, HALF, HALF)


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([1], r"^p = \[1\]; at least two cells are required, one alone hides nothing$"),
        ([], r"^p is empty; a list with the probability of each cell, such as \[0\.2, 0\.3, 0\.5\], is required$"),
        (0.5, r"^p = 0\.5; a list with the probability of each cell"),
        ("0.5", r"^p = '0\.5'; a list with the probability of each cell"),
        ({"a": 0.5, "b": 0.5}, r"^p\['a'\] = 0\.5; a list with the probability of each cell"),
        ({}, r"^p = \{\}; at least one group is required$"),
        (
            {"f": [0.5, 0.5], "m": [0.5, 0.25, 0.25]},
            r"^p has groups with different numbers of cells, \{'f': 2, 'm': 3\}; the same are required$",
        ),
        (np.array([[0.5, 0.5]]), r"^p is an array of 2 dimensions; a list with the probability of each cell"),
    ],
)
def test_a_bad_histogram_is_refused(p, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.HistogramQuery(p)


# --- sums and means


def test_values_are_exact_and_in_order():
    query = sp.SumQuery({"0.1": "1/3", -2: "1/3", 0.5: "1/3"})
    assert query.pmf == ((-2, THIRD), (Fraction(1, 10), THIRD), (HALF, THIRD))
    assert query == sp.SumQuery({0.5: "1/3", "1/10": "1/3", -2: "1/3"})


def test_values_by_group():
    query = sp.SumQuery({"m": {2: 1}, "f": {1: 0.5, 0: 0.5}})
    assert query.pmf == (("m", ((2, 1),)), ("f", ((0, HALF), (1, HALF))))
    assert query.values == (0, 1, 2)
    assert query.lattice == (0, 1, (("m", (2,)), ("f", (0, 1))))


RATIONALS = st.fractions(-(10**6), 10**6, max_denominator=10**4)


@given(values=st.sets(RATIONALS, min_size=2, max_size=12))
def test_the_lattice_is_the_coarsest_that_holds_all_values(values):
    ordered = sorted(values)
    least, step, places = sp.SumQuery({value: Fraction(1, len(values)) for value in values}).lattice
    assert [least + place * step for place in places] == ordered
    assert least == ordered[0]
    assert step > 0
    assert gcd(*places) == 1
    assert all(isinstance(place, int) for place in places)


def test_a_mean_is_no_sum():
    pmf = {0: 0.5, 1: 0.5}
    assert sp.MeanQuery(pmf) != sp.SumQuery(pmf)
    assert not isinstance(sp.MeanQuery(pmf), sp.SumQuery)
    assert sp.MeanQuery({0: 0.5, "1/2": 0.5}).lattice == (0, HALF, (0, 1))


@pytest.mark.parametrize("make", [sp.SumQuery, sp.MeanQuery, lambda pmf: sp.OrderStatisticQuery(pmf, 1)])
@pytest.mark.parametrize(
    ("pmf", "message"),
    [
        ({}, r"^pmf = \{\}; a dict from value to probability, such as \{0: 0\.5, 1: 0\.5\}, is required$"),
        ([0.5, 0.5], r"^pmf = \[0\.5, 0\.5\]; a dict from value to probability"),
        ({3: 1}, r"^pmf = \{3: 1\}; at least two values are required, one alone hides nothing$"),
        ({"f": {3: 1}, "m": {3: 1}}, r"^pmf = .*; at least two values are required"),
        ({"f": {}, "m": {3: 1}}, r"^pmf\['f'\] = \{\}; at least one value is required$"),
        ({"f": {3: 1}, 0: 1}, r"^pmf = .*; a probability for each value, or a dict for each group$"),
        ({0: {3: 1}}, r"^pmf has a group 0; the name of a group is a string, not empty$"),
        ({"half": 1, 0: 0}, r'^a value of pmf: "half" is not a number'),
        ({True: 1, 0: 0}, r"^a value of pmf = True is a truth value"),
        ({"0.5": "1/2", 0.5: "1/2"}, r"^pmf = .*; the value 1/2 stands there twice$"),
    ],
)
def test_a_bad_pmf_is_refused(make, pmf, message):
    with pytest.raises(sp.ArgumentError, match=message):
        make(pmf)


# --- order statistics

PMF = {0: 0.5, 1: 0.5}


def test_named_ranks():
    assert sp.MinimumQuery(PMF) == sp.OrderStatisticQuery(PMF, "minimum") == sp.OrderStatisticQuery(PMF, 1)
    assert sp.MedianQuery(PMF) == sp.OrderStatisticQuery(PMF, "median")
    assert sp.MaximumQuery(PMF) == sp.OrderStatisticQuery(PMF, "maximum")
    assert sp.MaximumQuery(PMF, attribute="a", name="b") == sp.OrderStatisticQuery(
        PMF, "maximum", attribute="a", name="b"
    )


@given(st.lists(st.integers(0, 9), min_size=1, max_size=9))
def test_ranks_count_from_below_and_the_median_is_the_lower_one(entries):
    ordered = sorted(entries)
    chosen = {
        rank: ordered[sp.OrderStatisticQuery(PMF, rank).rank_among(len(entries)) - 1]
        for rank in ("minimum", "median", "maximum")
    }
    assert (chosen["minimum"], chosen["maximum"]) == (min(entries), max(entries))
    assert 2 * sum(entry < chosen["median"] for entry in entries) < len(entries)
    assert 2 * sum(entry <= chosen["median"] for entry in entries) >= len(entries)


@pytest.mark.parametrize(
    ("rank", "message"),
    [
        (0, r"^rank = 0; an integer from 1 to 2\^53 is required, or 'minimum', 'median' or 'maximum'$"),
        (1.5, r"^rank = 1\.5; an integer from 1 to 2\^53 is required, or 'minimum'"),
        ("mode", r"^rank: \"mode\" is not a number .*, or 'minimum', 'median' or 'maximum'$"),
        (None, r"^rank = None is not a number.*, or 'minimum'"),
        ([1], r"^rank = \[1\] is not a number.*, or 'minimum'"),
    ],
)
def test_a_bad_rank_is_refused(rank, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.OrderStatisticQuery(PMF, rank)


def test_a_rank_beyond_the_entries_is_refused():
    with pytest.raises(
        sp.ArgumentError, match=r"^rank = 5; at most 4, the number of entries that answer, is possible$"
    ):
        sp.OrderStatisticQuery(PMF, 5).rank_among(4)


# --- linear queries

MATRICES = st.integers(1, 6).flatmap(
    lambda entries: st.lists(st.lists(st.integers(0, 1), min_size=entries, max_size=entries), min_size=1, max_size=4)
)


@given(matrix=MATRICES)
def test_columns_are_counted(matrix):
    query = sp.LinearQuery(matrix)
    written = [tuple(row[entry] for row in matrix) for entry in range(len(matrix[0]))]
    assert sum(count for _, count in query.columns) == query.entries == len(matrix[0])
    assert query.columns == tuple((column, written.count(column)) for column in sorted(set(written)))


def test_a_matrix_comes_as_lists_or_as_an_array():
    expected = sp.LinearQuery([[1, 0, 1], [0, 1, 1]])
    assert expected.p == HALF
    assert expected.matrix == ((1, 0, 1), (0, 1, 1))
    for same in (np.array(expected.matrix), np.array(expected.matrix, dtype=bool), ((1.0, 0.0, 1.0), [0, 1, 1])):
        assert sp.LinearQuery(same) == expected


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([], r"^matrix is empty; a list of rows, such as \[\[1, 1, 0\], \[0, 1, 1\]\], is required$"),
        ([[]], r"^matrix\[0\] is empty; a row of 0 and 1, one an entry, is required$"),
        (1, r"^matrix = 1; a list of rows"),
        ([1, 0], r"^matrix\[0\] = 1; a row of 0 and 1, one an entry, is required$"),
        ([[1, 0], [1]], r"^matrix has rows of 1 and of 2 entries; one column an entry is required$"),
        ([[1, 2]], r"^matrix\[0\]\[1\] = 2; 0 or 1 is required$"),
        ([[1, "1"]], r"^matrix\[0\]\[1\] = '1'; 0 or 1 is required$"),
        (["10"], r"^matrix\[0\] = '10'; a row of 0 and 1"),
        (np.array([1, 0]), r"^matrix is an array of 1 dimensions; one of two, rows of 0 and 1, is required$"),
        (np.zeros((0, 3)), r"^matrix is empty; a list of rows"),
    ],
)
def test_a_bad_matrix_is_refused(matrix, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.LinearQuery(matrix)


def test_the_probability_of_a_bit_is_one_number():
    with pytest.raises(sp.ArgumentError, match=r"^p = 1\.5; a probability from 0 to 1 is required$"):
        sp.LinearQuery([[1]], p=1.5)
    with pytest.raises(sp.ArgumentError, match=r"^p = \[0\.5\] is not a number"):
        sp.LinearQuery([[1]], p=[0.5])


@pytest.mark.parametrize("make", [sp.SumQuery, sp.MeanQuery, sp.MedianQuery])
def test_values_may_have_ranges_of_probabilities(make, read_back):
    query = make({3: sp.Between("0.2", "0.4"), 0: sp.Between("0.5", "0.7"), 5: "0.1"})
    assert query.has_ranges
    assert query.values == (0, 3, 5)
    assert query.pmf[2] == (5, Fraction(1, 10))
    assert read_back(repr(query)) == query
    assert not make({0: "0.5", 1: sp.Between("0.5", "0.5")}).has_ranges


@pytest.mark.parametrize("make", [sp.SumQuery, sp.MeanQuery, sp.MedianQuery])
@pytest.mark.parametrize(
    ("pmf", "message"),
    [
        ({0: sp.Between(0, "0.2"), 1: "0.5"}, r"^pmf sums to at least 1/2 and at most 7/10; ranges with some prob"),
        ({0: sp.Between("0.6", 1), 1: "0.5"}, r"^pmf sums to at least 11/10 and at most 3/2; ranges with some prob"),
        ({"f": {0: sp.Between(0, "0.2"), 1: "0.5"}}, r"^pmf\['f'\] sums to at least 1/2 and at most 7/10; ranges with"),
    ],
)
def test_ranges_that_no_law_lies_in_are_refused(make, pmf, message):
    with pytest.raises(sp.ArgumentError, match=message):
        make(pmf)


@pytest.mark.parametrize("values", [(-1, 0), (-2, 1), (-3, -1)])
@pytest.mark.parametrize("sampling", [None, sp.PoissonSampling("1/3"), sp.WithReplacement(3)])
def test_a_sum_tells_as_much_as_the_sum_of_all_values_with_the_other_sign(values, sampling):
    curves = [
        sp.privacy_curve(
            sp.SumQuery({sign * values[0]: "1/3", sign * values[1]: "2/3"}), sp.Population(4), sampling=sampling
        )
        for sign in (1, -1)
    ]
    assert curves[0].kind == "exact"
    assert 0 < curves[0].exact_delta(exp_epsilon="3/2") == curves[1].exact_delta(exp_epsilon="3/2")
