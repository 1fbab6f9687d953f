"""The best guess of a value, by enumeration of all answers, is right with the probability that the curve states."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import statpriv as sp


def law_of_count(others: int, p: Fraction, own: int) -> dict[int, Fraction]:
    return {k + own: math.comb(others, k) * p**k * (1 - p) ** (others - k) for k in range(others + 1)}


def best_guess(first: dict[int, Fraction], second: dict[int, Fraction], prior: Fraction) -> Fraction:
    return sum(
        (max(prior * first.get(a, 0), (1 - prior) * second.get(a, 0)) for a in first.keys() | second.keys()),
        Fraction(0),
    )


inside = st.fractions(0, 1, max_denominator=60)


@given(st.integers(1, 9), st.fractions("1/20", "19/20", max_denominator=20), inside)
def test_the_best_guess_between_two_values_is_right_as_often_as_stated(n, p, prior):
    laws = [law_of_count(n - 1, p, own) for own in (0, 1)]
    for v, w in ((1, 0), (0, 1)):
        curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), pair=(v, w))
        truth = best_guess(laws[v], laws[w], prior)
        found = curve.posterior(prior)
        assert truth in found
        assert found.width < 1e-14
    worst = max(best_guess(laws[v], laws[w], prior) for v, w in ((1, 0), (0, 1)))
    assert worst in sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n)).posterior(prior)


@given(inside)
def test_a_guess_is_not_worse_with_the_answers(prior):
    found = sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(20)).posterior(prior)
    assert max(prior, 1 - prior) <= Fraction(found.upper) <= 1


@pytest.mark.parametrize("prior", [0, 1])
def test_who_knows_the_value_guesses_right(prior):
    assert sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(20)).posterior(prior) == sp.Enclosure(1)


def test_an_extreme_prior_has_an_enclosure_too():
    curve = sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(20))
    assert 1 - Fraction(1, 10**200) in curve.posterior("1e-200") or curve.posterior("1e-200").upper == 1


@pytest.mark.parametrize("prior", ["1.1", "-0.1", "nan", [0.5, 0.5]])
def test_what_is_no_probability_is_refused(prior):
    with pytest.raises(sp.ArgumentError, match="prior"):
        sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(20)).posterior(prior)
