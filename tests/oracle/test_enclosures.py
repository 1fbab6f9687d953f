"""Every enclosure contains the true value and is tight: special places of a curve, samples, known entries, ranges.

Inputs drawn at random from all regions are in ``test_campaign.py``.

Every run has a new seed, which is printed if a test fails. ``STATPRIV_SEED=…`` repeats a run.
"""

import os
import random
from fractions import Fraction

import pytest

import statpriv as sp

from . import oracle

SEED = int(os.environ.get("STATPRIV_SEED", random.SystemRandom().randrange(2**32)))
PAIRS = (*oracle.DIRECTIONS, None)


@pytest.mark.parametrize("epsilon", [0, 5e-324, 1e-200, 1e-100, 1e-30, 1e-17, 1e-12, Fraction(1, 10**400)])
def test_an_expected_count_that_is_an_answer(epsilon):
    """np is an integer, so the threshold jumps as soon as epsilon exceeds 0, but δ does not."""
    rng = random.Random(f"{SEED} integer {epsilon}")  # noqa: S311  (no secrets here)
    for n in (2, 10, 1024, 10**6):
        for p in (Fraction(1, 2), Fraction(rng.randint(1, n - 1), n)):
            truth = oracle.delta_ball(n, p, Fraction(epsilon))
            found = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n)).delta(epsilon)
            assert not (fault := truth.fault(found.lower, found.upper)), (fault, found, n, p, epsilon)


@pytest.mark.parametrize("epsilon", [1e3, 1e6, 1e12, 1e17, 1e18, 1e19, 1e100, 1.7e308])
def test_an_enormous_epsilon_leaves_what_gives_the_value_away(epsilon):
    """Answers that only one value can give keep δ at max(p, q)^(n−1), however large epsilon is."""
    for p in (Fraction(1, 2), Fraction(1, 3), Fraction(1, 1000)):
        for n in (2, 5, 40):
            mass = max(p, 1 - p) ** (n - 1)
            try:
                found = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n)).delta(epsilon)
            except sp.PrecisionError:
                assert epsilon > 1e6, "refusing is for what is out of any reach"
            else:
                assert not (fault := oracle.Bounds(mass, mass).fault(found.lower, found.upper)), (fault, found)


@pytest.mark.parametrize("pair", PAIRS)
def test_the_exact_rational_is_a_member(pair):
    """At epsilon = 0 the true value is rational, and membership of a Fraction is decided exactly."""
    rng = random.Random(f"{SEED} member")  # noqa: S311  (no secrets here)
    for _ in range(100):
        n, p = rng.randint(1, 80), Fraction(rng.randint(1, 99), 100)
        found = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), pair=pair).delta(0)
        truth = oracle.delta(n, p, Fraction(1), pair)
        assert truth in found, (SEED, n, p)
        assert truth * (1 + Fraction(1, 10**11)) not in found, (SEED, n, p)


@pytest.mark.parametrize("p", [0, 1])
@pytest.mark.parametrize("n", [1, 2, 1000])
def test_a_value_of_probability_zero_is_still_told_apart(n, p):
    for pair in PAIRS:
        found = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), pair=pair).delta(3)
        assert (found.lower, found.upper) == (1.0, 1.0)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("known", [1, 3])
def test_known_entries_only_shift_a_full_count(known, pair):
    rng = random.Random(f"{SEED} known")  # noqa: S311  (no secrets here)
    for _ in range(50):
        n, p, epsilon = rng.randint(known + 1, 10**4), rng.random(), rng.uniform(0, 0.5)
        curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), adversary=sp.Adversary(known=known), pair=pair)
        found = curve.delta(epsilon)
        truth = oracle.delta_ball(n - known, Fraction(p), Fraction(epsilon), pair)
        assert not (fault := truth.fault(found.lower, found.upper)), (fault, SEED, n, p, epsilon)
        assert curve.kind == "exact"


@pytest.mark.parametrize("pair", PAIRS)
def test_a_secret_sample_of_a_few_hundred(pair):
    rng = random.Random(f"{SEED} sampled")  # noqa: S311  (no secrets here)
    for _ in range(40):
        n = rng.randint(1, 300)
        size, p = rng.randint(1, n), Fraction(rng.randint(1, 99), 100)
        epsilon = Fraction(rng.choice([0, 1e-12, rng.uniform(0, 0.3), rng.uniform(0, 3), 50.0]))
        curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), sampling=sp.WithoutReplacement(size), pair=pair)
        found = curve.delta(epsilon)
        truth = oracle.at_epsilon(lambda x, n=n, size=size, p=p: oracle.sampled_delta(n, size, p, x, pair), epsilon)
        assert not (fault := truth.fault(found.lower, found.upper)), (fault, SEED, n, size, p, epsilon)
        assert curve.kind == "exact"


@pytest.mark.parametrize("pair", PAIRS)
def test_a_range_of_probabilities_is_the_exact_supremum(pair):
    rng = random.Random(f"{SEED} range")  # noqa: S311  (no secrets here)
    for _ in range(40):
        n = rng.choice([1, 2, 3, rng.randint(4, 25)])
        low, high = sorted(Fraction(rng.randint(0, 200), 200) for _ in range(2))
        epsilon = Fraction(rng.choice([0, 1e-9, rng.uniform(0, 0.4), rng.uniform(0, 3), 30.0]))
        curve = sp.privacy_curve(sp.PropertyQuery(sp.Between(low, high)), sp.Population(n), pair=pair)
        found = curve.delta(epsilon)
        truth = oracle.at_epsilon(
            lambda x, n=n, low=low, high=high: oracle.range_supremum(n, low, high, x, pair), epsilon
        )
        assert not (fault := truth.fault(found.lower, found.upper)), (fault, SEED, n, low, high, epsilon)
        assert curve.kind == "exact"


def test_a_peak_inside_the_range_is_not_missed():
    """Both ends are strictly below the peak here, which would refute a rule that uses only the ends."""
    n, low, high, epsilon = 9, Fraction(9, 20), Fraction(11, 20), Fraction(1, 2)
    ends = [oracle.delta_ball(n, p, epsilon, (1, 0)).upper for p in (low, high)]
    truth = oracle.at_epsilon(lambda x: oracle.range_supremum(n, low, high, x, (1, 0)), epsilon)
    assert max(ends) < truth.lower * Fraction(95, 100)
    found = sp.privacy_curve(sp.PropertyQuery(sp.Between(low, high)), sp.Population(n), pair=(1, 0)).delta(epsilon)
    assert truth.fault(found.lower, found.upper) == ""
