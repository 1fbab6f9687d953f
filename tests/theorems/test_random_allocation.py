"""Random allocation, against integrals and a simulation that share no code with the bound."""

import math
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb, prod

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv import budget, differential

from ..cases import cases, spread


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


@spread("epsilon, mu", [("0", "0.1"), ("0.1", "0.1"), ("0.05", "0.5"), ("0.5", "0.5")], few=2)
def test_two_answers_are_bounded_closely(epsilon, mu):
    with mpmath.workdps(25):
        truth = two_answers(epsilon, mu)
    bound = differential.random_allocation_delta(epsilon, sigma=1 / Fraction(mu), m=2)
    assert bound.lower <= truth <= bound.upper
    assert bound.upper <= truth * (1 + mpmath.mpf("0.002"))
    assert bound.lower >= truth * (1 - mpmath.mpf("0.002"))


@spread("epsilon, sigma, m", [("0", 10, 7), ("0.02", 4, 20), ("0.02", 2, 70), ("1", 1, 8)], few=2)
def test_a_simulation_of_the_mechanism(epsilon, sigma, m):
    """Under Q the noise alone, the ratio of densities is averaged over where the entry may be."""
    np = pytest.importorskip("numpy")
    noise = np.random.default_rng(7).normal(scale=sigma, size=(100_000, m))
    ratio = np.exp((2 * noise - 1) / (2 * sigma**2)).mean(axis=1)
    factor = math.exp(float(epsilon))
    bound = differential.random_allocation_delta(epsilon, sigma=sigma, m=m)
    gains = [np.maximum(0, ratio - factor), np.maximum(0, 1 - factor * ratio)]
    error = max(gain.std() for gain in gains) / math.sqrt(len(ratio))
    assert abs(max(gain.mean() for gain in gains) - bound.midpoint) < 5 * error
    assert bound.upper < 1.001 * bound.lower


def allocated(first, second, m, factor, k=1):
    """The entry is in k of m answers, drawn in secret: both directions, over all joint answers."""
    joined = left = Fraction(0)
    for values in product(range(len(first)), repeat=m):
        without = prod(second[value] for value in values)
        sets = [*combinations(range(m), k)] if without else []
        within = sum(
            (prod((first if place in chosen else second)[value] for place, value in enumerate(values)))
            for chosen in sets
        ) / Fraction(comb(m, k))
        joined += max(Fraction(0), within - factor * without)
        left += max(Fraction(0), without - factor * within)
    return max(joined, left)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["3/4", "1/4"], ["1/4", "3/4"]),
        (["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"]),
        (["0", "1/10", "9/10"], ["1/3", "1/3", "1/3"]),
        (["1/2", "1/2"], ["1/2", "1/2"]),
        (["1/1000", "999/1000"], ["1/2", "1/2"]),
    ],
)
@pytest.mark.parametrize("m", [2, 3, 6])
def test_answers_with_few_values_are_enclosed(first, second, m):
    laws = [[Fraction(mass) for mass in law] for law in (first, second)]
    for epsilon in ("0", "0.1", "0.5", "2"):
        ends = (Fraction(math.exp(float(epsilon))) * (1 + side * Fraction(1, 10**14)) for side in (1, -1))
        low, high = (allocated(*laws, m, factor) for factor in ends)
        found = differential.random_allocation_delta(epsilon, m=m, answer=(first, second))
        assert Fraction(found.lower) <= high
        assert low <= Fraction(found.upper)
        assert found.width <= 1e-12


@settings(max_examples=cases(20, campaign=300), deadline=None)
@given(st.data())
def test_of_several_answers_with_few_values_it_is_the_definition(data):
    m = data.draw(st.integers(2, 5))
    k = data.draw(st.integers(2, m))
    weights = [data.draw(st.lists(st.integers(1, 6), min_size=2, max_size=3)) for _ in range(2)]
    first, second = ([Fraction(w, sum(own)) for w in own] for own in weights)
    if len(first) != len(second):
        first, second = first[:2], second[:2]
        first, second = ([mass / sum(law) for mass in law] for law in (first, second))
    epsilon = data.draw(st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(2)]))
    ends = (Fraction(math.exp(epsilon)) * (1 + side * Fraction(1, 10**14)) for side in (1, -1))
    low, high = (allocated(first, second, m, factor, k) for factor in ends)
    found = differential.random_allocation_delta(epsilon, m=m, k=k, answer=(first, second))
    assert Fraction(found.lower) <= high
    assert low <= Fraction(found.upper)
    assert found.width <= 1e-12


@pytest.mark.parametrize(("m", "k"), [(6, 2), (5, 2), (4, 4)])
def test_k_allocations_of_one_each_are_above_and_merged_answers_below(monkeypatch, m, k):
    """By the bounds that are used where there are too many ways to have each ratio; here they can be compared."""
    answer = (["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"])
    exact = [differential.random_allocation_delta(epsilon, m=m, k=k, answer=answer) for epsilon in ("0", "0.1", "1")]
    monkeypatch.setattr(budget, "MAX_ALLOCATION_TERMS", 1)
    for epsilon, inner in zip(("0", "0.1", "1"), exact, strict=True):
        found = differential.random_allocation_delta(epsilon, m=m, k=k, answer=answer)
        assert 0 < found.lower <= inner.lower
        assert inner.upper <= found.upper < 1.35 * inner.upper


@pytest.mark.campaign  # alone it notices an error that enumeration of few answers does not show
@spread("epsilon, sigma, m, k", [("1", 1, 8, 2), ("0.2", 4, 20, 2), ("0.5", 4, 40, 10), ("0.5", 2, 9, 4)], few=2)
def test_a_simulation_of_several_answers(epsilon, sigma, m, k):
    """Under Q the noise alone, the ratio of densities is the mean of the products of k of the answers' ratios."""
    np = pytest.importorskip("numpy")
    noise = np.random.default_rng(8).normal(scale=sigma, size=(200_000, m))
    sums = [np.ones(len(noise)), *(np.zeros(len(noise)) for _ in range(k))]
    for ratio in np.exp((2 * noise - 1) / (2 * sigma**2)).T:
        for power in range(k, 0, -1):
            sums[power] = sums[power] + ratio * sums[power - 1]
    mean, factor = sums[k] / comb(m, k), math.exp(float(epsilon))
    bound = differential.random_allocation_delta(epsilon, sigma=sigma, m=m, k=k)
    gains = [np.maximum(0, mean - factor), np.maximum(0, 1 - factor * mean)]
    error = max(gain.std() for gain in gains) / math.sqrt(len(mean))
    found = max(gain.mean() for gain in gains)
    assert bound.lower - 5 * error <= found <= bound.upper + 5 * error
    assert bound.upper < 1.4 * bound.lower


@pytest.mark.campaign  # alone it notices an error for k = m alone
def test_in_all_answers_the_mechanism_is_the_gaussian_one():
    """Nothing is left to draw, and both bounds meet."""
    found = differential.random_allocation_delta("1", sigma=2, m=4, k=4)
    truth = differential.gaussian_delta("1", mu=1)
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper < 1.001 * truth.upper
    assert found.lower > 0.999 * truth.lower


def test_on_a_grid_they_are_enclosed_too(monkeypatch):
    """Where there are too many ways to have each ratio."""
    answer = (["3/4", "1/4"], ["1/4", "3/4"])
    exact = [differential.random_allocation_delta(epsilon, m=6, answer=answer) for epsilon in ("0", "0.1", "0.5")]
    monkeypatch.setattr(budget, "MAX_ALLOCATION_TERMS", 1)
    for epsilon, inner in zip(("0", "0.1", "0.5"), exact, strict=True):
        found = differential.random_allocation_delta(epsilon, m=6, answer=answer)
        assert found.lower <= inner.lower
        assert inner.upper <= found.upper
        assert found.width <= 0.02


@spread("epsilon, sigma, m", [("1", 1, 8), ("0.2", 4, 20), ("2", 1, 8), ("0.5", 1, 8)], few=2)
def test_both_ends_are_close_where_answers_are_noisy(epsilon, sigma, m):
    bound = differential.random_allocation_delta(epsilon, sigma=sigma, m=m)
    assert 0 < bound.lower < bound.upper < 1.005 * bound.lower


def test_one_answer_is_the_gaussian_mechanism():
    assert differential.random_allocation_delta("0.1", sigma=5, m=1) == differential.gaussian_delta("0.1", mu="0.2")


def test_the_secret_helps_and_more_answers_help_more():
    bounds = [differential.random_allocation_delta("0.1", sigma=3, m=m).upper for m in (1, 2, cases(5, campaign=20))]
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
        ({"k": 21}, "k = 21 of m = 20 answers; at most m are required"),
        ({"k": 0}, "k = 0; an integer from 1"),
        ({"m": 0}, r"m = 0; an integer from 1 to 2\^53 is required"),
        ({"m": 10**6}, "m = 1000000; at most 16384 answers are summed up"),
        ({"sigma": 0}, "sigma = 0; a number above 0 is required"),
        ({"sensitivity": 0}, "sensitivity = 0; a number above 0 is required"),
        ({"sigma": 1, "m": 10**4}, r"sigma is 1 times the sensitivity; .* more noise is required"),
        ({"sigma": None}, "sigma and answer are both left out"),
        ({"answer": 3}, "answer = 3; two sequences"),
        ({"answer": (["1/2", "1/2"], ["1"])}, "answer = .* as many in both"),
        ({"answer": (["1/2", "1/4"], ["1/2", "1/2"])}, "answer = .* sums to exactly one"),
        ({"answer": (["1/2", "1/2"], ["1", "0"])}, "answer = .* must be so without"),
        ({"epsilon": -1}, "epsilon = -1; a number of at least 0 is required"),
    ],
)
def test_a_bad_argument_is_refused_by_name(arguments, message):
    good = {"epsilon": "0.1", "sigma": 4, "m": 20} | arguments
    with pytest.raises(sp.ArgumentError, match=f"^{message}"):
        differential.random_allocation_delta(good.pop("epsilon"), **good)
