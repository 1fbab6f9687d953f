"""Amplified curves against the law of a hidden Poisson sample, summed from its definition."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv import _native
from statpriv._native import Curve

from ..cases import cases
from . import oracle

RATES = st.fractions(Fraction(1, 50), 1, max_denominator=50)


def sampled_hockey_stick(others: int, p: Fraction, rate: Fraction, x: Fraction) -> Fraction:
    """``Δ_{1,0}``: the critical entry is counted with probability `rate`, each other entry with ``p·rate``."""
    hit = p * rate
    blank = [comb(others, k) * hit**k * (1 - hit) ** (others - k) for k in range(others + 1)] + [Fraction(0)]
    shifted = [Fraction(0), *blank[:-1]]
    return sum(
        (max(Fraction(0), (1 - rate) * a + rate * b - x * a) for a, b in zip(blank, shifted, strict=True)), Fraction(0)
    )


@given(
    st.integers(0, 12),
    st.fractions(Fraction(1, 30), Fraction(29, 30), max_denominator=30),
    RATES,
    st.fractions(1, 9, max_denominator=40),
)
@settings(max_examples=cases(20, campaign=600), deadline=None)
def test_a_hidden_poisson_sample_is_an_amplified_count(others: int, p: Fraction, rate: Fraction, x: Fraction) -> None:
    count = Curve.count(size=others + 1, lower=p * rate, upper=p * rate, pair=(1, 0))
    curve = Curve.amplified(rate, count)
    assert _native.exact_delta(curve, x) == sampled_hockey_stick(others, p, rate, x)
    # δ falls with ε, so its value at ε lies between those at both bounds of e^ε.
    for epsilon in (Fraction(0), Fraction(1, 3), Fraction(2)):
        ratio = oracle.exp_bounds(epsilon, bits=256)
        ends = [sampled_hockey_stick(others, p, rate, end) for end in (ratio.upper, ratio.lower)]
        found = curve.delta(epsilon)
        assert not oracle.Bounds(*ends).refutes(found.lower, found.upper)
        assert found.width <= 1e-13 * max(found.upper, 1e-20)


@pytest.mark.parametrize("rate", [0, "-0.1", "1.5"])
def test_a_rate_is_a_probability_above_zero(rate: int | str) -> None:
    count = Curve.count(size=3, lower="0.5", upper="0.5")
    with pytest.raises(sp.ArgumentError, match=r"rate = .*; a number above 0 and at most 1 is required"):
        Curve.amplified(rate, count)
