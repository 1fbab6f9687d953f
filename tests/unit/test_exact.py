"""Exact values, logarithms and trade-off functions: their guarantees and their refusals."""

import math
import pickle
from decimal import Decimal
from fractions import Fraction
from math import inf

import numpy as np
import pytest

import statpriv as sp

HALF = sp.PropertyQuery("1/2")
FOUR = sp.privacy_curve(HALF, sp.Population(4))
RANGE = sp.privacy_curve(sp.PropertyQuery(sp.Between("0.4", "0.6")), sp.Population(10))
UNRELATED = sp.compose(
    [sp.PropertyQuery("1/2", attribute=name) for name in "ab"],
    sp.Population(40),
    sp.RandomPartition([20, 20]),
    bound="partition-sum",
)


# --- exact values


@pytest.mark.parametrize("ratio", [Fraction(11, 10), "1.1", "11/10", Decimal("1.1")])
def test_every_way_to_write_a_ratio(ratio):
    """P[B ≥ 2] − 1.1 P[B ≥ 3] for three coins."""
    assert FOUR.exact_delta(exp_epsilon=ratio) == Fraction(1, 2) - Fraction(11, 10) * Fraction(1, 8)


def test_a_float_is_the_rational_it_stores():
    assert FOUR.exact_delta(exp_epsilon=1.1) == Fraction(1, 2) - Fraction(1.1) / 8
    assert FOUR.exact_delta(exp_epsilon=np.float64(1.1)) == FOUR.exact_delta(exp_epsilon=1.1)


def test_epsilon_zero_is_total_variation_both_ways():
    first, second = FOUR.exact_terms(0)
    assert first - second == FOUR.exact_delta(exp_epsilon=1) == Fraction(3, 8)


def test_one_entry_has_no_privacy():
    alone = sp.privacy_curve(sp.PropertyQuery("1/3"), sp.Population(1))
    assert alone.exact_delta(exp_epsilon=10**9) == 1
    assert alone.exact_terms(10**9) == (1, 0)
    assert alone.log_delta(5) == sp.Enclosure(0)
    assert alone.beta("0.3") == alone.alpha("0.3") == sp.Enclosure(0)


@pytest.mark.parametrize("p", [0, 1])
def test_a_value_that_never_occurs_has_no_privacy(p):
    curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(9))
    assert curve.exact_delta(exp_epsilon=7) == 1
    assert curve.exact_terms("0.1") == (1, 0)


def test_fractions_are_in_lowest_terms_and_behave_as_such():
    """They are built without the gcd, which would take Python a long time."""
    curve = sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(700))
    for exact in (curve.exact_delta(exp_epsilon="1.05"), *curve.exact_terms("0.05")):
        assert type(exact) is Fraction
        assert math.gcd(exact.numerator, exact.denominator) == 1
        again = Fraction(exact.numerator, exact.denominator)
        assert exact == again
        assert hash(exact) == hash(again)
        assert pickle.loads(pickle.dumps(exact)) == exact  # noqa: S301  (made here)


def test_a_bound_has_its_own_exact_value():
    part = sp.privacy_curve(HALF, sp.Population(20)).exact_delta(exp_epsilon="1.1")
    assert UNRELATED.kind == "bound"
    assert UNRELATED.exact_delta(exp_epsilon="1.1") == part


def test_a_range_is_exact_at_a_rational_ratio_only():
    ends = [sp.privacy_curve(sp.PropertyQuery(p), sp.Population(10)) for p in ("0.4", "0.6")]
    worst = max(curve.exact_delta(exp_epsilon="1.1") for curve in ends)
    assert RANGE.exact_delta(exp_epsilon="1.1") >= worst
    with pytest.raises(sp.ArgumentError, match=r"the worst p of a range .* exact_delta\(exp_epsilon=\)"):
        RANGE.exact_terms("0.1")


@pytest.mark.parametrize("value", ["0.999", 0, -1])
def test_ratios_below_one_are_refused(value):
    with pytest.raises(sp.ArgumentError, match=r"^exp_epsilon = .* of at least 1 is required"):
        FOUR.exact_delta(exp_epsilon=value)


def test_the_terms_at_an_array_are_two_arrays():
    epsilons = np.array([["0", "0.1"], ["0.5", "2"]], dtype=object)
    first, second = FOUR.exact_terms(epsilons)
    assert first.shape == second.shape == (2, 2)
    for place, epsilon in np.ndenumerate(epsilons):
        assert (first[place], second[place]) == FOUR.exact_terms(epsilon)
    assert [part.shape for part in FOUR.exact_terms([])] == [(0,), (0,)]
    assert FOUR.exact_terms(np.array(0.0)) == FOUR.exact_terms(0)
    with pytest.raises(sp.ArgumentError, match=r"^at \[1\]: epsilon = -1\.0; a number of at least 0 is required"):
        FOUR.exact_terms([0, -1])


@pytest.mark.parametrize("method", ["exact_terms", "log_delta"])
def test_negative_epsilon_is_refused(method):
    with pytest.raises(sp.ArgumentError, match=r"^epsilon = -1; a number of at least 0 is required"):
        getattr(FOUR, method)(-1)


@pytest.mark.parametrize("value", [float("nan"), inf, "abc", None, [None]])
def test_what_is_not_a_number_is_refused(value):
    for ask in (FOUR.exact_terms, FOUR.log_delta, FOUR.beta, FOUR.alpha):
        with pytest.raises(sp.ArgumentError):
            ask(value)


@pytest.mark.parametrize(("n", "p"), [(10**6, 0.3), (10**9, "1/2"), (2**53, "1/3"), (2**53, 1e-300)])
def test_what_would_not_fit_is_refused_with_its_size(n, p):
    curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n))
    for ask in (lambda: curve.exact_delta(exp_epsilon="1.001"), lambda: curve.exact_terms("0.001")):
        with pytest.raises(sp.PrecisionError, match=r"denominator of about \d\.\de\d+ bits .* limit of 30 s"):
            ask()


def test_what_would_not_fit_is_refused_for_means_too():
    many = sp.privacy_curve(
        HALF,
        sp.Population(10**7),
        adversary=sp.Adversary(known=10**6),
        sampling=sp.WithoutReplacement(5 * 10**6),
        bound="spc",
    )
    with pytest.raises(sp.PrecisionError, match="denominator of about"):
        many.exact_delta(exp_epsilon="1.001")


# --- logarithms


def test_the_logarithm_goes_on_where_delta_underflows():
    curve = sp.privacy_curve(HALF, sp.Population(10**5))
    assert curve.delta(20).upper <= 5e-324
    last = (10**5 - 1) * math.log(2)
    assert curve.log_delta(20).upper == pytest.approx(-last, rel=1e-14)
    assert curve.log_delta(20).width <= 1e-13 * last


def test_delta_zero_has_the_logarithm_minus_infinity():
    hidden = sp.privacy_curve(HALF, sp.Population(10), sampling=sp.WithoutReplacement(5))
    assert hidden.delta(5) == sp.Enclosure(0)
    assert hidden.log_delta(5) == sp.Enclosure(-inf)
    assert hidden.exact_terms(5) == (0, 0)


# --- trade-off functions


def test_the_trade_off_at_its_ends():
    assert FOUR.beta(1) == FOUR.alpha(1) == sp.Enclosure(0)
    assert Fraction(7, 8) in FOUR.beta(0)
    assert FOUR.beta(0).width < 1e-15


def test_the_trade_off_of_four_coins_by_hand():
    """Reject at 4: errors 0 and 7/8; at 3 and 4: 1/8 and 1/2; the test between is on the line."""
    one = sp.privacy_curve(HALF, sp.Population(4), pair=(1, 0))
    assert Fraction(1, 2) in one.beta("1/8")
    assert Fraction(11, 16) in one.beta("1/16")
    assert Fraction(1, 16) in one.alpha("11/16")


def test_both_directions_together_are_symmetric():
    curve = sp.privacy_curve(sp.PropertyQuery("0.2"), sp.Population(30))
    for level in ("0.01", "0.2", "0.7"):
        assert curve.alpha(level) == curve.beta(level)


def test_a_bound_proves_an_error_that_is_not_above_the_truth():
    """Two parts that ask about one property are as private as one count; the sum over the parts is a weaker bound."""
    parts = [sp.PropertyQuery("1/2", attribute="a")] * 2, sp.Population(40), sp.RandomPartition([20, 20])
    exact, bound = sp.compose(*parts), sp.compose(*parts, bound="partition-sum")
    assert exact.beta("0.1") == sp.privacy_curve(HALF, sp.Population(40)).beta("0.1")
    assert bound.beta("0.1").upper < exact.beta("0.1").lower
    assert bound.beta("0.1") == sp.privacy_curve(HALF, sp.Population(20)).beta("0.1")


def test_the_smallest_of_several_bounds_proves_the_largest_error():
    sampled = {
        bound: sp.privacy_curve(
            sp.PropertyQuery(sp.Between("0.4", "0.6")),
            sp.Population(100),
            sampling=sp.WithoutReplacement(25),
            adversary=sp.Adversary(known=5),
            bound=bound,
        ).beta("0.1")
        for bound in ("tightest", "total-count", "partition-sum")
    }
    assert sampled["tightest"] == max(sampled["total-count"], sampled["partition-sum"], key=lambda beta: beta.lower)


@pytest.mark.parametrize("value", ["-0.1", "1.1", 2])
def test_errors_outside_of_the_unit_interval_are_refused(value):
    with pytest.raises(sp.ArgumentError, match=r"^alpha = .*; a number from 0 to 1 is required"):
        FOUR.beta(value)
    with pytest.raises(sp.ArgumentError, match=r"^beta = .*; a number from 0 to 1 is required"):
        FOUR.alpha(value)
