"""The noise that differential privacy needs in place of a release, against enumeration and against the mechanisms."""

from fractions import Fraction
from itertools import product
from math import log

import pytest

import statpriv as sp
from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.theories.differential.noise_instead import _changes

PMF = {0: ".5", 1: ".3", 5: ".2"}
COUNT = sp.PropertyQuery("0.3", attribute="smoker")
TABLE = sp.ContingencyTable({"region": ["n", "s"], "age": ["young", "old"]}, minimum=2)
CURVE = sp.privacy_curve(COUNT, sp.Population(1000))


def cells(number):
    return lambda rows: tuple(rows.count(cell) for cell in range(number))


@pytest.mark.parametrize(
    ("query", "values", "answer"),
    [
        (COUNT, (0, 1), lambda rows: (sum(rows),)),
        (COUNT.rounded(5), (0, 1), lambda rows: (sum(rows),)),
        (sp.HistogramQuery([".2", ".3", ".5"]), range(3), cells(3)),
        (TABLE, range(4), cells(4)),
        (sp.SumQuery(PMF), (0, 1, 5), lambda rows: (sum(rows),)),
        (sp.MeanQuery(PMF), (0, 1, 5), lambda rows: (Fraction(sum(rows), len(rows)),)),
        (sp.OrderStatisticQuery(PMF, 1), (0, 1, 5), lambda rows: (min(rows),)),
    ],
)
def test_one_row_changes_as_many_numbers_by_as_much_as_is_said(query, values, answer):
    numbers, most = 0, Fraction(0)
    for rest in product(values, repeat=3):
        for one, other in product(values, repeat=2):
            moved = [abs(a - b) for a, b in zip(answer((one, *rest)), answer((other, *rest)), strict=True)]
            numbers, most = max(numbers, sum(change > 0 for change in moved)), max(most, *moved)
    assert _changes(query, 4) == (numbers, most)


def test_a_row_that_is_in_several_counts_changes_them_all():
    query = sp.LinearQuery([[1, 1, 0], [0, 1, 0], [0, 1, 1]], p=".5")
    assert _changes(query, 3) == (3, 1)


@pytest.mark.parametrize("epsilon", ["0.1", "1"])
@pytest.mark.parametrize("delta", ["1e-6", "0.01"])
@pytest.mark.parametrize(
    ("query", "numbers"),
    [(COUNT, 1), (sp.HistogramQuery([".2", ".3", ".5"]), 2), (TABLE, 2)],
    ids=["count", "cells", "table"],
)
def test_the_noise_is_the_least_that_reaches_the_guarantee(query, numbers, epsilon, delta):
    curve = sp.privacy_curve(query, sp.Population(1000))
    (normal,) = curve.compare_gaussian(epsilon, delta=delta)
    (laplace,) = curve.compare_laplace(epsilon, delta=delta)
    reached = {
        "normal": lambda sigma: sp.differential.GaussianMechanism(sigma=sigma, k=numbers),
        "laplace": lambda deviation: sp.differential.LaplaceMechanism(scale=deviation / 2**0.5, k=numbers),
    }
    for found, mechanism in ((normal.noise, reached["normal"]), (laplace.noise, reached["laplace"])):
        assert mechanism(found.upper * (1 + 1e-9)).delta(epsilon).upper <= Fraction(delta)
        assert mechanism(found.lower * (1 - 1e-9)).delta(epsilon).lower > Fraction(delta)
        assert found.width <= found.upper * 2.0**-13
        assert (normal.error, normal.rows) == (sp.root_mean_squared_error(COUNT, sp.Population(9)), 1000)


def test_one_laplace_answer_has_a_closed_form():
    (row,) = CURVE.compare_laplace("0.5", delta="0.01")
    scale = 1 / (0.5 - 2 * log(1 - 0.01))
    assert row.noise.lower <= 2**0.5 * scale * (1 + 1e-12)
    assert row.noise.upper >= 2**0.5 * scale * (1 - 1e-12)
    (pure,) = CURVE.compare_laplace("0.5", delta=0)
    assert float(Fraction(8) ** Fraction(1, 2)) in pure.noise


@pytest.mark.parametrize("delta", ["1e-300", "1e-320", "0.999999999999999999999"])
def test_noise_is_enclosed_at_the_ends_of_doubles(delta):
    for (row,) in (CURVE.compare_gaussian("0.1", delta=delta), CURVE.compare_laplace("0.1", delta=delta)):
        assert 0 <= row.noise.lower <= row.noise.upper


def test_by_default_the_guarantee_is_that_of_the_curve():
    table = CURVE.compare_gaussian("0.1")
    assert table.delta == Fraction(CURVE.delta("0.1").upper)
    assert table[0] == CURVE.compare_gaussian("0.1", delta=table.delta)[0]


def test_parts_that_ask_one_attribute_are_one_sample():
    asked = [COUNT, sp.SumQuery(PMF, name="visits"), COUNT, COUNT.rounded(5)]
    people = sp.Population(1000)
    table = sp.compose(asked, people, sp.RandomPartition([100, 300, 200, 150])).compare_gaussian("0.1", delta="0.01")
    assert [(row.question, row.rows) for row in table] == [("smoker", 450), ("visits", 300)]
    assert table[0].error == sp.root_mean_squared_error(COUNT, people, sp.WithoutReplacement(450))
    strata = [{"f": 30, "m": 20}, {"f": 20, "m": 30}]
    grouped = sp.Population(groups={"f": 60, "m": 60})
    (row,) = sp.compose([COUNT] * 2, grouped, sp.RandomPartition(strata)).compare_gaussian("0.1", delta="0.01")
    assert row.error == sp.root_mean_squared_error(COUNT, grouped, sp.Stratified({"f": 50, "m": 50}))


def test_all_questions_share_the_guarantee_unless_one_attribute_is_protected():
    own = sp.EachBetween("0.2", "0.8")
    asked = [sp.PropertyQuery(own, attribute=name) for name in "abc"]

    def noise(protects):
        curve = sp.compose(asked, sp.Population(500), sp.SameRows(protects=protects, samples=[None, 100, 200]))
        rows = curve.compare_gaussian("1", delta="0.01")
        assert [row.rows for row in rows] == [500, 100, 200]
        return rows[0].noise

    single = CURVE.compare_gaussian("1", delta="0.01")[0].noise
    assert noise("attribute") == single
    assert Fraction(noise("row").upper) ** 2 == pytest.approx(3 * Fraction(single.upper) ** 2)


def test_what_has_no_such_error_says_so():
    median = sp.OrderStatisticQuery(PMF, rank="median")
    curve = sp.privacy_curve(median, sp.Population(51), sampling=sp.WithoutReplacement(11))
    (row,) = curve.compare_gaussian("1", delta="0.01")
    assert row.error is None
    assert "–" in str(curve.compare_gaussian("1", delta="0.01"))


@pytest.mark.parametrize(
    ("method", "stated", "sentence"),
    [
        ("compare_gaussian", {"delta": 0}, "reached by no Gaussian noise"),
        ("compare_laplace", {"epsilon": 0, "delta": 0}, "reached by no Laplace noise"),
        ("compare_gaussian", {"delta": 1}, "delta = 1 is no guarantee"),
        ("compare_laplace", {"delta": "1.5"}, "a probability from 0 to 1 is required"),
        ("compare_laplace", {"epsilon": -1}, "epsilon = -1"),
    ],
)
def test_targets_that_no_noise_reaches_are_refused(method, stated, sentence):
    with pytest.raises(ArgumentError, match=sentence):
        getattr(CURVE, method)(**stated)


def test_questions_that_are_not_known_or_of_random_samples_are_refused():
    adaptive = sp.compose_adaptive(sp.AnyOf([COUNT]), sp.Population(9), sp.RandomPartition([4, 5]))
    with pytest.raises(NotAvailableError, match="depends on the answers"):
        adaptive.compare_gaussian("0.1", delta="0.01")
    multinomial = sp.compose([COUNT] * 2, sp.Population(9), sp.MultinomialPartition(["1/2", "1/2"]))
    with pytest.raises(NotAvailableError, match="random sizes"):
        multinomial.compare_gaussian("0.1", delta="0.01")


def test_the_table_says_what_differential_privacy_protects_besides():
    table = CURVE.compare_gaussian("0.1")
    assert "knows every other row" in str(table)
    assert "knows every other row" in table._repr_html_()
    assert repr(table) == "<NoiseInstead: Gaussian, 1 questions at ε = 0.1>"


@pytest.mark.parametrize("compare", ["compare_gaussian", "compare_laplace"])
def test_noise_is_compared_at_one_epsilon(compare):
    curve = sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(100))
    with pytest.raises(sp.ArgumentError, match=r"epsilon = \[0\.1, 0\.2\] is not a number"):
        getattr(curve, compare)([0.1, 0.2])
