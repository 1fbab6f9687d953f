"""Do the rational bounds of e^x and ln x enclose them narrowly? Balls of another library are the judge."""

from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from statpriv.numeric.transcendental import exponential_ends, logarithm_ends

NARROW = Fraction(1, 10**37)
MODERATE = st.fractions(0, 2000)
POSITIVE = st.builds(Fraction, st.integers(1, 10**60), st.integers(1, 10**60))


@pytest.fixture(autouse=True)
def precise():
    before, ctx.prec = ctx.prec, 400
    yield
    ctx.prec = before


def ball(x):
    return arb(fmpq(x.numerator, x.denominator))


@given(MODERATE)
def test_an_exponential_lies_between_its_ends(x):
    low, high = exponential_ends(x)
    assert not ball(low) > ball(x).exp()
    assert not ball(high) < ball(x).exp()
    assert high - low <= max(x, 1) * NARROW * low


@given(POSITIVE)
def test_a_logarithm_lies_between_its_ends(x):
    low, high = logarithm_ends(x)
    assert not ball(low) > ball(x).log()
    assert not ball(high) < ball(x).log()
    assert high - low <= NARROW * max(abs(high), 1)


def test_exact_values_are_exact():
    assert exponential_ends(Fraction(0)) == (1, 1)
    assert logarithm_ends(Fraction(1)) == (0, 0)
    low, high = exponential_ends(Fraction(1, 10**60))
    assert low <= 1 < high
