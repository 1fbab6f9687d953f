"""Quantiles of counts are the least integers whose tail, summed in fractions, reaches the level."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

import statpriv as sp
from statpriv import budget
from statpriv.distributions import quantiles


def binomial(n: int, p: Fraction) -> list[Fraction]:
    return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def hypergeometric(population: int, marked: int, draws: int) -> list[Fraction]:
    every = math.comb(population, draws)
    return [Fraction(math.comb(marked, k) * math.comb(population - marked, draws - k), every) for k in range(draws + 1)]


def least_of(masses: list[Fraction], level: Fraction) -> int:
    """The least value of the support whose tail reaches the level."""
    return next(
        k
        for k, (mass, reached) in enumerate(zip(masses, accumulate(masses), strict=True))
        if reached >= level and reached > 0
    )


probabilities = st.fractions(0, 1, max_denominator=40)


@given(st.integers(0, 30), probabilities, probabilities)
def test_binomial_quantiles_are_the_least_counts_that_reach_the_level(n: int, p: Fraction, level: Fraction) -> None:
    assert sp.laws.binomial_quantile(level, n=n, p=p) == least_of(binomial(n, p), level)


@given(st.integers(0, 25), probabilities, st.data())
def test_a_level_that_a_binomial_tail_attains_is_reached_there(n: int, p: Fraction, data: st.DataObject) -> None:
    masses = binomial(n, p)
    attained = sum(masses[: data.draw(st.integers(0, n)) + 1])
    assert sp.laws.binomial_quantile(attained, n=n, p=p) == least_of(masses, attained)
    above = min(attained + Fraction(1, 10**80), Fraction(1))
    assert sp.laws.binomial_quantile(above, n=n, p=p) == least_of(masses, above)


@given(st.integers(0, 25), st.data(), probabilities, st.booleans())
def test_hypergeometric_quantiles_are_the_least_counts_that_reach_the_level(
    population: int, data: st.DataObject, level: Fraction, attained: bool
) -> None:
    marked, draws = data.draw(st.integers(0, population)), data.draw(st.integers(0, population))
    masses = hypergeometric(population, marked, draws)
    if attained:
        level = sum(masses[: data.draw(st.integers(0, draws)) + 1], Fraction(0))
    found = sp.laws.hypergeometric_quantile(level, population=population, marked=marked, draws=draws)
    assert found == least_of(masses, level)


@pytest.mark.parametrize("level", ["1e-300", "1e-12", "0.025", "0.5", "0.975", str(1 - Fraction(1, 10**12))])
def test_the_tails_of_a_large_law_enclose_the_level_at_its_quantile(level: str) -> None:
    n, p, exact = 10**12, "1/3", Fraction(level)
    k = sp.laws.binomial_quantile(level, n=n, p=p)
    if exact <= Fraction(1, 2):
        assert Fraction(sp.laws.binomial_lower_tail(k - 1, n=n, p=p).upper) < exact
        assert Fraction(sp.laws.binomial_lower_tail(k, n=n, p=p).lower) >= exact
    else:
        assert Fraction(sp.laws.binomial_upper_tail(k, n=n, p=p).lower) > 1 - exact
        assert Fraction(sp.laws.binomial_upper_tail(k + 1, n=n, p=p).upper) <= 1 - exact


@pytest.mark.parametrize(("p", "quantile"), [("1e-300", 100), ("0", 0), ("1", 100)])
def test_the_whole_probability_is_reached_at_the_end_of_the_support(p: str, quantile: int) -> None:
    assert sp.laws.binomial_quantile(1, n=100, p=p) == quantile


def test_the_median_of_a_fair_coin_is_certain_although_the_tail_attains_one_half() -> None:
    assert sp.laws.binomial_quantile("1/2", n=10_001, p="1/2") == 5_000


def test_a_tie_with_too_many_terms_is_left_undecided_in_words() -> None:
    with pytest.raises(
        sp.UndecidedError, match=r"level = 0\.5: for Bin\(1000001, 0\.5\), P\[X <= 500000\] agrees .* 50 digits"
    ):
        sp.laws.binomial_quantile("1/2", n=10**6 + 1, p="1/2")


def test_only_ties_are_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_BITS_OF_EXACT_TAILS", 0)
    assert sp.laws.binomial_quantile("0.3", n=50, p="1/3") == least_of(binomial(50, Fraction(1, 3)), Fraction(3, 10))
    with pytest.raises(sp.UndecidedError):
        quantiles.binomial_quantile("3/4", n=2, p="1/2")


@pytest.mark.parametrize(
    ("level", "n", "p", "message"),
    [
        ("1.5", 4, "1/2", "level = 1.5"),
        ("nan", 4, "1/2", "level"),
        ("1/2", -1, "1/2", "n = -1"),
        ("1/2", 2.5, "1/2", "n = 2.5"),
        ("1/2", 4, "2", "p = 2"),
        (["1/2"], 4, "1/2", "level"),
    ],
)
def test_a_value_that_is_not_allowed_is_named(level: object, n: object, p: object, message: str) -> None:
    with pytest.raises(sp.ArgumentError, match=message):
        sp.laws.binomial_quantile(level, n=n, p=p)  # type: ignore[arg-type]


def test_more_draws_than_items_are_refused() -> None:
    with pytest.raises(sp.ArgumentError, match="draws = 11; at most population = 10"):
        sp.laws.hypergeometric_quantile("1/2", population=10, marked=3, draws=11)
