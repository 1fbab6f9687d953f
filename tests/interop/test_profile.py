"""Profiles, trade-off functions and arrays give the safe end of every number, to real accountants as well."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import statpriv as sp
from statpriv import interop

COUNT = sp.privacy_curve(sp.PropertyQuery("1/3"), sp.Population(12))
BOUND = sp.privacy_curve(
    sp.PropertyQuery("1/3"), sp.Population(60), sampling=sp.WithoutReplacement(20), bound="amplification"
)


def exact_delta(p, n, x):
    """Both directions of a count from its probabilities, in fractions."""
    from math import comb

    others = [comb(n - 1, k) * p**k * (1 - p) ** (n - 1 - k) for k in range(n)]
    one, zero = [Fraction(0), *others], [*others, Fraction(0)]
    return max(
        sum(max(Fraction(0), a - x * b) for a, b in zip(*laws, strict=True)) for laws in ((one, zero), (zero, one))
    )


@given(st.integers(0, 20_000))
def test_the_profile_is_not_below_delta_and_hardly_above(k):
    epsilon = k / 4096
    reached = interop.privacy_profile(COUNT)(epsilon)
    # δ falls, so it lies between its values at rationals on either side of e^ε.
    around = Fraction(float(np.exp(epsilon))) * (1 + Fraction(1, 2**50)), Fraction(float(np.exp(epsilon)))
    truth = exact_delta(Fraction(1, 3), 12, around[0])
    assert truth <= Fraction(reached) <= truth * (1 + Fraction(1, 10**12)) + Fraction(1, 10**13)


@given(st.fractions(0, 1, max_denominator=1000))
def test_the_trade_off_is_not_above_what_any_epsilon_allows(alpha):
    """The curve proves β(α) ≥ 1 − δ(ε) − e^ε α for all ε, and the best test attains the supremum."""
    beta = Fraction(interop.trade_off(COUNT)(float(alpha)))
    ratios = {Fraction(a, 12 - a) * 2 for a in range(1, 12)} | {Fraction(1)}
    # By convexity of δ, the supremum is at a likelihood ratio of one of the answers, or of its inverse.
    ratios |= {1 / ratio for ratio in ratios if ratio < 1}
    x_and_delta = [(x, exact_delta(Fraction(1, 3), 12, x)) for x in ratios if x >= 1]
    forward = [1 - delta - x * Fraction(float(alpha)) for x, delta in x_and_delta]
    backward = [(1 - delta - Fraction(float(alpha))) / x for x, delta in x_and_delta]
    truth = max(Fraction(0), *forward, *backward)
    assert truth - Fraction(1, 10**12) <= beta <= truth


@pytest.mark.parametrize("curve", [COUNT, BOUND], ids=["exact", "bound"])
def test_arrays_are_the_ends_of_the_enclosures(curve):
    epsilons = [0.0, 0.25, 1.0, 30.0]
    arrays = interop.profile_arrays(curve, epsilons)
    assert arrays.epsilon.tolist() == epsilons
    assert arrays.lower.tolist() == [curve.delta(epsilon).lower for epsilon in epsilons]
    assert arrays.upper.tolist() == [curve.delta(epsilon).upper for epsilon in epsilons]
    assert type(arrays.upper) is np.ndarray


@pytest.mark.parametrize("export", [interop.privacy_profile, interop.trade_off])
def test_what_is_no_curve_is_refused(export):
    with pytest.raises(sp.ArgumentError, match="curve = 'x'; a PrivacyCurve is required"):
        export("x")


def test_opendp_reads_the_profile():
    measures = pytest.importorskip("opendp.measures", reason="OpenDP is not installed")
    from opendp.mod import enable_features

    enable_features("contrib", "honest-but-curious")
    profile = measures.new_privacy_profile(interop.privacy_profile(COUNT))
    for epsilon in (0.0, 0.3, 2.0):
        assert profile.delta(epsilon) == COUNT.delta(epsilon).upper
        assert interop.to_opendp(COUNT).delta(epsilon) == profile.delta(epsilon)
    reached = profile.epsilon(0.1)
    assert COUNT.delta(reached).upper <= 0.1
    assert reached == pytest.approx(COUNT.epsilon("0.1").upper, rel=1e-9)
