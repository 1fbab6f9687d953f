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
from statpriv.theories.differential import replaced_entry

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


# --- an entry that is replaced by another ---


def replaced(laws, m, factor, k=1):
    """One value against the other, both directions, over all joint answers."""
    first, second, without = laws

    def chance(law, values):
        sets = [*combinations(range(m), k)]
        return sum(
            prod((law if place in chosen else without)[value] for place, value in enumerate(values)) for chosen in sets
        ) / Fraction(len(sets))

    found = [Fraction(0), Fraction(0)]
    for values in product(range(len(first)), repeat=m):
        both = [chance(law, values) for law in (first, second)]
        for turn in (0, 1):
            found[turn] += max(Fraction(0), both[turn] - factor * both[1 - turn])
    return max(found)


THREE_LAWS = [
    (["3/4", "1/4"], ["1/4", "3/4"], ["1/2", "1/2"]),
    (["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"], ["1/3", "1/3", "1/3"]),
    (["9/10", "1/10", "0"], ["1/5", "2/5", "2/5"], ["1/4", "1/2", "1/4"]),
]


@pytest.mark.parametrize("answer", THREE_LAWS)
@pytest.mark.parametrize(("m", "k"), [(1, 1), (2, 1), (4, 1), (4, 2), (3, 3)])
def test_a_replaced_entry_is_enclosed_by_the_definition(monkeypatch, answer, m, k):
    laws = [[Fraction(mass) for mass in law] for law in answer]
    for epsilon in ("0", "0.1", "1"):
        ends = (Fraction(math.exp(float(epsilon))) * (1 + side * Fraction(1, 10**14)) for side in (1, -1))
        low, high = (replaced(laws, m, factor, k) for factor in ends)
        found = differential.random_allocation_delta(epsilon, m=m, k=k, answer=answer, replaced=True)
        assert Fraction(found.lower) <= high
        assert low <= Fraction(found.upper)
        assert found.width <= 1e-12
        if k == 1:
            with monkeypatch.context() as patched:
                patched.setattr(budget, "MAX_ALLOCATION_TERMS", 1)
                wider = differential.random_allocation_delta(epsilon, m=m, answer=answer, replaced=True)
            assert Fraction(wider.lower) <= high
            assert low <= Fraction(wider.upper)
            assert wider.width <= 0.02


def moved_to(pair, sigma, m, factor, draws=100_000):
    """δ of contributions of two vectors to one of m answers with normal noise, by simulation; and its error."""
    first, second = pair
    np = pytest.importorskip("numpy")
    noise = np.random.default_rng(9).normal(scale=sigma, size=(draws, m, len(first)))

    def ratio(contribution):
        moved = np.array(contribution, float)
        return np.exp((2 * noise @ moved - moved @ moved) / (2 * sigma**2)).mean(axis=1)

    gain = np.maximum(0, ratio(first) - factor * ratio(second))
    return gain.mean(), gain.std() / math.sqrt(draws)


@spread("epsilon, sigma, m", [("0.2", 4, 20), ("0.02", 2, 70), ("1", 1, 8), ("2", 2, 3)], few=2)
def test_a_simulation_of_a_replaced_entry(epsilon, sigma, m):
    bound = differential.random_allocation_delta(epsilon, sigma=sigma, m=m, replaced=True)
    found, error = moved_to(([1], [-1]), sigma, m, math.exp(float(epsilon)))
    assert abs(found - bound.midpoint) < 5 * error
    assert bound.upper < 1.01 * bound.lower


@pytest.mark.campaign  # half a minute each; alone it notices a wrong product of blocks, or a wrong distance of sums
@pytest.mark.parametrize(("epsilon", "sigma", "m", "k"), [("0.5", 4, 20, 2), ("1", 2, 9, 3)])
def test_a_simulation_of_an_entry_that_is_replaced_in_several_answers(epsilon, sigma, m, k):
    np = pytest.importorskip("numpy")
    noise = np.random.default_rng(10).normal(scale=sigma, size=(200_000, m))

    def ratio(contribution):
        """The mean of the products of k of the answers' ratios."""
        sums = [np.ones(len(noise)), *(np.zeros(len(noise)) for _ in range(k))]
        for own in np.exp((2 * contribution * noise - 1) / (2 * sigma**2)).T:
            for power in range(k, 0, -1):
                sums[power] = sums[power] + own * sums[power - 1]
        return sums[k] / comb(m, k)

    gain = np.maximum(0, ratio(1) - math.exp(float(epsilon)) * ratio(-1))
    error = gain.std() / math.sqrt(len(gain))
    bound = differential.random_allocation_delta(epsilon, sigma=sigma, m=m, k=k, replaced=True)
    assert bound.lower - 5 * error <= gain.mean() <= bound.upper + 5 * error
    assert bound.upper < 1.1 * bound.lower


def test_replaced_in_all_answers_the_mechanism_is_the_gaussian_one():
    found = differential.random_allocation_delta("1", sigma=4, m=4, k=4, replaced=True)
    truth = differential.gaussian_delta("1", mu=1)
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper
    assert found.width <= 1e-12


def test_replaced_in_two_of_three_answers_it_is_between_both_distances(monkeypatch):
    """With fewer points of the curve of each block, which is a larger bound."""
    monkeypatch.setattr(replaced_entry, "_PLACES", 10)
    found = differential.random_allocation_delta("0.1", sigma=8, m=3, k=2, replaced=True)
    known = differential.gaussian_delta("0.1", mu=Fraction("0.35356"))  # 2 √2/8 and a bit
    of_sum = differential.gaussian_delta("0.1", mu=Fraction("0.28867"))  # 4/(8 √3), less a bit
    assert of_sum.lower <= found.lower <= found.upper <= known.upper
    assert found.upper < 0.95 * known.lower


def test_no_other_contributions_are_told_apart_better():
    """Of length at most one in the plane; the worst are opposite ones."""
    bound = differential.random_allocation_delta("0.2", sigma=1, m=4, replaced=True)
    for pair in (((1, 0), (0, 1)), ((1, 0), (0.8, 0.6)), ((1, 0), (0, 0)), ((0.6, 0), (-0.8, 0.6))):
        found, error = moved_to(pair, 1, 4, math.exp(0.2), draws=20_000)
        assert found < bound.upper + 4 * error


def test_replacing_is_told_better_than_adding_or_removing():
    both = [differential.random_allocation_delta("0.1", sigma=3, m=4, replaced=kind) for kind in (True, False)]
    assert both[0].lower > both[1].upper
    known = differential.gaussian_delta("0.1", mu=Fraction(2, 3))
    assert both[0].upper < known.lower
    assert differential.random_allocation_delta("0.1", sigma=3, m=1, replaced=True) == known


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"answer": (["1/2", "1/2"], ["1/4", "3/4"])}, sp.ArgumentError, "answer = .* three sequences"),
        ({"answer": (["1"], ["1/4", "3/4"], ["1/2", "1/2"])}, sp.ArgumentError, "answer = .* as many in each"),
        ({"answer": (["1", "0"], ["0", "1"], ["1", "0"])}, sp.ArgumentError, "answer = .* must be so without"),
        (
            {"answer": (*[[Fraction(1, 40)] * 40] * 2, [Fraction(k, 820) for k in range(1, 41)]), "k": 2},
            sp.NotAvailableError,
            "k = 2: an entry that is replaced in several answers",
        ),
        ({"sigma": 4, "replaced": 1}, sp.ArgumentError, "replaced = 1"),
        ({}, sp.ArgumentError, "sigma and answer are both left out"),
    ],
)
def test_a_bad_replacement_is_refused_by_name(arguments, error, message):
    with pytest.raises(error, match=f"^{message}"):
        differential.random_allocation_delta("0.1", **({"m": 20, "replaced": True} | arguments))


# --- for export ---


@pytest.mark.parametrize(
    "stated",
    [
        {"m": 3, "sigma": 4},
        {"m": 1, "sigma": 4},
        {"m": 4, "answer": (["3/4", "1/4"], ["1/4", "3/4"])},
        pytest.param(
            {"m": 6, "k": 2, "sigma": 4}, marks=pytest.mark.campaign
        ),  # alone it notices a wrong grid for k > 1
    ],
)
def test_the_dominating_curves_are_above_and_next_to_what_is_enclosed(stated):
    allocation = differential.RandomAllocation(**stated)
    curves = allocation.dominating_curves()
    for epsilon in ("0.1", "0.5"):
        found, above = allocation.delta(epsilon), max(curve.delta(epsilon).upper for curve in curves)
        assert found == differential.random_allocation_delta(epsilon, **stated)
        assert found.lower <= above <= 1.01 * found.upper + 1e-12


def test_an_epoch_composes_in_another_accountant():
    """One step of randomized response in each of two epochs, against all their joint answers."""
    pytest.importorskip("dp_accounting")
    answer = (["3/4", "1/4"], ["1/4", "3/4"])
    epoch = differential.RandomAllocation(m=2, answer=answer)
    distribution = sp.interop.to_dp_accounting(epoch, interval=1e-3)
    first, second = ([Fraction(mass) for mass in law] for law in answer)
    one = {
        values: (
            (first[values[0]] * second[values[1]] + second[values[0]] * first[values[1]]) / 2,
            second[values[0]] * second[values[1]],
        )
        for values in product((0, 1), repeat=2)
    }
    twice = [(a[0] * b[0], a[1] * b[1]) for a, b in product(one.values(), repeat=2)]
    for epsilon in (0.0, 0.25, 1.0):
        truth = max(
            sum(max(0, float(p[turn] - Fraction(math.exp(epsilon)) * p[1 - turn])) for p in twice) for turn in (0, 1)
        )
        composed = float(distribution.self_compose(2).get_delta_for_epsilon(epsilon))
        assert truth - 1e-12 <= composed <= truth + 2e-3


def test_an_export_is_above_only():
    pytest.importorskip("dp_accounting")
    with pytest.raises(sp.ArgumentError, match="pessimistic = False"):
        sp.interop.to_dp_accounting(differential.RandomAllocation(m=2, sigma=4), pessimistic=False)
