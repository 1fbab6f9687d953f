"""Random allocation, against integrals and a simulation that share no code with the bound."""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest

import statpriv as sp
from statpriv import differential


def two_answers(epsilon: str, mu: str) -> mpmath.mpf:
    """m = 2: given the first ratio, the second one is past a threshold; both directions, by one integral each."""
    factor, d = mpmath.exp(mpmath.mpf(epsilon)), mpmath.mpf(mu)

    def put(strike):
        """E(x − Y)_+ of one lognormal variable, by Black's formula."""
        if strike <= 0:
            return mpmath.mpf(0)
        z = mpmath.log(strike) / d
        return strike * mpmath.ncdf(z + d / 2) - mpmath.ncdf(z - d / 2)

    def of_the_mean(strike):
        end = (mpmath.log(2 * strike) + d**2 / 2) / d
        places = [-12, -4, 0, *([min(end, 3)] if end > 0 else []), max(end, 0.01)]
        places = sorted({min(x, end) for x in places})
        return mpmath.quad(lambda t: mpmath.npdf(t) * put(2 * strike - mpmath.exp(d * t - d**2 / 2)), places) / 2

    return max(1 - factor + of_the_mean(factor), factor * of_the_mean(1 / factor))


@pytest.mark.parametrize(("epsilon", "mu"), [("0", "0.1"), ("0.1", "0.1"), ("0.05", "0.5"), ("0.5", "0.5")])
def test_two_answers_are_bounded_closely(epsilon, mu):
    with mpmath.workdps(25):
        truth = two_answers(epsilon, mu)
    bound = differential.random_allocation_delta(epsilon, sigma=1 / Fraction(mu), m=2)
    assert truth <= bound.upper <= truth * (1 + mpmath.mpf("0.002"))
    assert bound.width <= 1e-13 * bound.upper


@pytest.mark.parametrize(
    ("epsilon", "sigma", "m"),
    [("0.02", 4, 20), ("0", 10, 7), pytest.param("0.02", 2, 70, marks=pytest.mark.campaign)],
)
def test_a_simulation_of_the_mechanism(epsilon, sigma, m):
    """Under Q the noise alone, the ratio of densities is averaged over where the entry may be."""
    np = pytest.importorskip("numpy")
    noise = np.random.default_rng(7).normal(scale=sigma, size=(100_000, m))
    ratio = np.exp((2 * noise - 1) / (2 * sigma**2)).mean(axis=1)
    factor = math.exp(float(epsilon))
    bound = differential.random_allocation_delta(epsilon, sigma=sigma, m=m).upper
    gains = [np.maximum(0, ratio - factor), np.maximum(0, 1 - factor * ratio)]
    error = max(gain.std() for gain in gains) / math.sqrt(len(ratio))
    assert abs(max(gain.mean() for gain in gains) - bound) < 5 * error


def test_one_answer_is_the_gaussian_mechanism():
    assert differential.random_allocation_delta("0.1", sigma=5, m=1) == differential.gaussian_delta("0.1", mu="0.2")


def test_the_secret_helps_and_more_answers_help_more():
    bounds = [differential.random_allocation_delta("0.1", sigma=3, m=m).upper for m in (1, 2, 5, 20)]
    assert all(later < earlier for earlier, later in pairwise(bounds))


def test_only_the_ratio_of_noise_to_sensitivity_matters():
    one = differential.random_allocation_delta("0.1", sigma=3, m=4)
    assert differential.random_allocation_delta("0.1", sigma=30, m=4, sensitivity=10) == one


def test_hardly_any_effect():
    """μ = 1e-6 and two answers: the mean is as good as normal, δ(0) about that of distance μ/√2."""
    bound = differential.random_allocation_delta(0, sigma=10**6, m=2)
    limit = differential.gaussian_delta(0, mu=Fraction(1, 10**6) / Fraction("1.41421356237")).upper
    assert limit * 0.999999 <= bound.upper <= limit * 1.001


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"m": 0}, r"m = 0; an integer from 1 to 2\^53 is required"),
        ({"m": 10**6}, "m = 1000000; at most 16384 answers are summed up"),
        ({"sigma": 0}, "sigma = 0; a number above 0 is required"),
        ({"sensitivity": 0}, "sensitivity = 0; a number above 0 is required"),
        ({"sigma": 1, "m": 10**4}, r"sigma is 1 times the sensitivity; .* more noise is required"),
        ({"epsilon": -1}, "epsilon = -1; a number of at least 0 is required"),
    ],
)
def test_a_bad_argument_is_refused_by_name(arguments, message):
    good = {"epsilon": "0.1", "sigma": 4, "m": 20} | arguments
    with pytest.raises(sp.ArgumentError, match=f"^{message}"):
        differential.random_allocation_delta(good.pop("epsilon"), **good)
