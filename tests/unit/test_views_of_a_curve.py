"""A curve as a Rényi divergence, as a Gaussian distance, as a table, and beside other theorems."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv.errors import ArgumentError

HALF = sp.PropertyQuery("1/2", attribute="x")


def hidden_sample(n, s, p):
    """The laws of a count of s of n entries, drawn in secret, for the critical values 1 and 0."""

    def binomial(size, k):
        return math.comb(size, k) * p**k * (1 - p) ** (size - k) if 0 <= k <= size else Fraction(0)

    def law(value):
        return [
            Fraction(s, n) * binomial(s - 1, k - value) + (1 - Fraction(s, n)) * binomial(s, k) for k in range(s + 1)
        ]

    return law(1), law(0)


def renyi(p, q, order):
    """ln(Σ p^α q^(1−α))/(α−1) in 40 digits."""
    with mpmath.workdps(40):
        a = mpmath.mpf(order.numerator) / order.denominator
        terms = [
            (mpmath.mpf(x.numerator) / x.denominator, mpmath.mpf(y.numerator) / y.denominator)
            for x, y in zip(p, q, strict=True)
        ]
        return mpmath.log(mpmath.fsum(x**a * y ** (1 - a) for x, y in terms)) / (a - 1)


@settings(max_examples=25, deadline=None)
@given(
    s=st.integers(1, 8),
    more=st.integers(1, 12),
    p=st.fractions("1/10", "9/10", max_denominator=20),
    order=st.fractions("11/10", 12, max_denominator=10),
    pair=st.sampled_from([(1, 0), (0, 1)]),
)
def test_renyi_encloses_the_divergence_of_the_laws(s, more, p, order, pair):
    first, second = hidden_sample(s + more, s, p)
    laws = (first, second) if pair == (1, 0) else (second, first)
    curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(s + more), sampling=sp.WithoutReplacement(s), pair=pair)
    found = curve.renyi(order)
    truth = renyi(*laws, order)
    assert found.lower <= truth <= found.upper
    assert found.width <= truth / 50


def test_more_points_enclose_the_divergence_more_narrowly():
    curve = sp.privacy_curve(HALF, sp.Population(20), sampling=sp.WithoutReplacement(5), pair=(1, 0))
    coarse, fine = curve.renyi(2, points=50), curve.renyi(2, points=500)
    assert coarse.lower <= fine.lower <= fine.upper <= coarse.upper
    assert fine.width < coarse.width / 10


def test_an_answer_that_gives_the_value_away_is_infinitely_far_from_others():
    assert sp.privacy_curve(HALF, sp.Population(20)).renyi(2) == sp.Enclosure(math.inf, math.inf)


@pytest.mark.parametrize(("order", "points"), [(1, 400), ("1/2", 400), (2, 2), (2, 2.5)])
def test_orders_up_to_one_and_too_few_points_are_refused(order, points):
    with pytest.raises(ArgumentError, match=r"^(order|points) = "):
        sp.privacy_curve(HALF, sp.Population(20)).renyi(order, points=points)


def gaussian_delta(mu, epsilon):
    with mpmath.workdps(40):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize(("n", "epsilon"), [(3, 0.0), (3, 0.5), (100, 0.0), (100, 0.5), (10**6, 0.0), (10**6, 0.01)])
def test_normal_laws_at_distance_mu_have_the_same_delta(n, epsilon):
    curve = sp.privacy_curve(HALF, sp.Population(n))
    delta, mu = curve.delta(epsilon), curve.gaussian_mu(epsilon)
    assert gaussian_delta(mu.lower, epsilon) <= delta.upper
    assert gaussian_delta(mu.upper, epsilon) >= delta.lower
    assert mu.width <= mu.upper * 1e-12


def test_mu_is_zero_or_infinite_where_delta_is_zero_or_one():
    certain = sp.privacy_curve(sp.PropertyQuery(1), sp.Population(5))
    assert certain.gaussian_mu("0.1") == sp.Enclosure(math.inf, math.inf)
    sample = sp.privacy_curve(HALF, sp.Population(20), sampling=sp.WithoutReplacement(1))
    assert sample.delta(5).upper == 0
    assert sample.gaussian_mu(5) == sp.Enclosure(0.0, 0.0)


def test_a_table_has_the_delta_of_each_epsilon():
    curve = sp.privacy_curve(HALF, sp.Population(100))
    table = curve.table([0, "0.1"])
    assert list(table) == [(0, curve.delta(0)), ("0.1", curve.delta("0.1"))]
    assert len(table) == 2
    assert str(table) == "ε (nats)  δ\n0         0.0795892\n0.1       0.0418368"
    assert "<td>0.0795892</td>" in table._repr_html_()


def test_a_table_chooses_where_delta_falls_by_powers_of_ten():
    curve = sp.privacy_curve(HALF, sp.Population(1000))
    rows = list(curve.table())
    assert rows[0][0] == 0
    assert [epsilon for epsilon, _ in rows] == sorted({epsilon for epsilon, _ in rows})
    assert rows[-1][1].upper == pytest.approx(1e-6, rel=0.5)


def test_the_table_of_a_bound_says_so():
    curve = sp.privacy_curve(HALF, sp.Population(100), sampling=sp.WithoutReplacement(10), bound="threshold")
    assert str(curve.table([0])).startswith("ε (nats)  upper bound of δ")


def test_a_comparison_names_every_bound_once_and_the_smallest_first():
    curve = sp.privacy_curve(HALF, sp.Population(100), sampling=sp.WithoutReplacement(10))
    compared = curve.compare("0.1")
    names = [row.bound for row in compared]
    assert len(set(names)) == len(names) == len(compared)
    assert {"exact", "spc", "amplification"} <= set(names)
    assert [row.delta.upper for row in compared] == sorted(row.delta.upper for row in compared)
    for row in compared:
        assert row.delta == sp.privacy_curve(
            HALF, sp.Population(100), sampling=sp.WithoutReplacement(10), bound=row.bound
        ).delta("0.1")
    conditional = {row.bound for row in compared if row.conditional}
    assert "spc" in conditional
    assert all(row.delta.upper >= compared[0].delta.lower for row in compared)
    assert str(compared).count("\n") == len(compared)
    assert "given that it is sampled" in compared._repr_html_()
