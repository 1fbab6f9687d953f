"""Theorems 3 and 4, printed and sharper, against exact curves; noise on top of them, and mechanisms in a chain."""

import math
import random
from fractions import Fraction
from itertools import product
from math import comb

import mpmath
import pytest

import statpriv as sp
from statpriv import partial_knowledge as pk
from statpriv.theories.partial_knowledge.nested import _almost_certain


@pytest.mark.parametrize(
    ("n", "delta", "sharp", "printed", "valid"),
    [(1000, "1e-3", 0.465, 1.39, False), (10_000, "1e-6", 0.245, 0.622, True)],
)
def test_the_numbers_of_the_sharper_bound(n, delta, sharp, printed, valid):
    ours = pk.bernoulli_epsilon(n=n, margin="0.05", delta=delta, method="sharp")
    theirs = pk.bernoulli_epsilon(n=n, margin="0.05", delta=delta, method="printed")
    assert ours.upper == pytest.approx(sharp, abs=5e-4)
    assert theirs.upper == pytest.approx(printed, abs=2e-3)
    assert (ours.valid, theirs.valid) == (True, valid)
    assert theirs.epsilon.width < 1e-14


def law_of_count(probabilities):
    law = {0: Fraction(1)}
    for p in probabilities:
        law = {k: law.get(k, 0) * (1 - p) + law.get(k - 1, 0) * p for k in range(max(law) + 2)}
    return law


def delta_of_count(probabilities, x):
    """Of the first record, whose own probability does not matter, by definition."""
    others = law_of_count(probabilities[1:])
    one, zero = {k + 1: m for k, m in others.items()}, others
    return max(
        sum(max(Fraction(0), p.get(k, 0) - x * q.get(k, 0)) for k in range(len(probabilities) + 1))
        for p, q in ((one, zero), (zero, one))
    )


def mean_over_coins(n, margin, x):
    """E over B ~ Bin(n−1, 2λ) of Δ_{B+1}(ε; 1/2), with every term written out."""
    return sum(
        comb(n - 1, b)
        * (2 * margin) ** b
        * (1 - 2 * margin) ** (n - 1 - b)
        * delta_of_count([Fraction(1, 2)] * (b + 1), x)
        for b in range(n)
    )


@pytest.mark.parametrize("x", [Fraction(1), Fraction(5, 4), Fraction(2)], ids=str)
@pytest.mark.parametrize("margin", [Fraction(1, 20), Fraction(1, 5), Fraction(1, 2)], ids=str)
def test_the_sharper_bound_is_its_mean_and_holds_for_all_probabilities_with_the_margin(margin, x):
    n = 7
    assert pk.bernoulli_curve(n=n, margin=margin).exact_delta(exp_epsilon=x) == mean_over_coins(n, margin, x)
    generator = random.Random(str(margin))  # noqa: S311
    ends = [[margin] * n, [1 - margin] * n, [margin, 1 - margin] * 3 + [Fraction(1, 2)]]
    inside = [[margin + (1 - 2 * margin) * Fraction(generator.randint(0, 9), 9) for _ in range(n)] for _ in range(5)]
    for probabilities in ends + inside:
        assert delta_of_count(probabilities, x) <= mean_over_coins(n, margin, x)


def test_the_sharper_bound_lies_above_exact_curves_of_many_records():
    generator = random.Random(3)  # noqa: S311
    margin, n = Fraction(1, 10), 300
    bound = pk.bernoulli_curve(n=n, margin=margin)
    for low, high in ((100, 900), (100, 100), (500, 900)):
        probabilities = [Fraction(generator.randint(low, high), 1000) for _ in range(n)]
        exact = sp.privacy_curve(sp.PropertyQuery(probabilities), sp.Population(n))
        for epsilon in (0, "0.1", "0.5"):
            assert exact.delta(epsilon).upper <= bound.delta(epsilon).lower


def test_known_records_leave_fewer():
    told = pk.bernoulli_epsilon(n=1500, known=500, margin="0.1", delta="1e-4")
    assert told.epsilon == pk.bernoulli_epsilon(n=1000, margin="0.1", delta="1e-4").epsilon
    printed = [
        pk.bernoulli_epsilon(n=n, known=known, margin="0.1", delta="1e-4", method="printed").epsilon
        for n, known in ((1500, 500), (1000, 0))
    ]
    assert printed[0] == printed[1]
    assert pk.bernoulli_epsilon(n=5, known=4, margin="0.1", delta="0.1").upper == math.inf
    assert pk.bernoulli_epsilon(n=5, known=4, margin="0.1", delta="0.1", method="printed").upper == math.inf


def test_the_printed_form_is_the_larger_of_two():
    few = pk.bernoulli_epsilon(n=501, margin="0.1", delta="0.5", method="printed")
    assert few.epsilon.lower <= 27 / 50 <= few.epsilon.upper
    many = pk.bernoulli_epsilon(n=1001, margin="0.1", delta="1e-6", method="printed")
    assert many.midpoint == pytest.approx(math.sqrt(14 * math.log(1e6) / 100), rel=1e-14)


@pytest.mark.parametrize("n", [2000, 20_000])
def test_in_its_range_the_printed_form_is_true_of_the_sharper_bound(n):
    printed = pk.bernoulli_epsilon(n=n, margin="0.2", delta="1e-5", method="printed")
    assert printed.valid
    assert pk.bernoulli_curve(n=n, margin="0.2").delta(printed.lower).upper < 1e-5


def threshold_curve(probabilities, threshold, x, known=()):
    """PPKDP of the thresholded count with these indices known, by every database of the others."""
    laws = {}
    for others in product((0, 1), repeat=len(probabilities) - 1):
        weight = math.prod(
            (p if v else 1 - p for p, v in zip(probabilities[1:], others, strict=True)), start=Fraction(1)
        )
        seen = tuple(others[k] for k in known)
        for own in (0, 1):
            count = own + sum(others)
            answer = count if count > threshold else None
            law = laws.setdefault(seen, ({}, {}))[own]
            law[answer] = law.get(answer, 0) + weight
    worst = Fraction(0)
    for order in ((0, 1), (1, 0)):
        total = Fraction(0)
        for pair in laws.values():
            p, q = (pair[own] for own in order)
            total += sum(max(Fraction(0), p.get(a, 0) - x * q.get(a, 0)) for a in {**p, **q})
        worst = max(worst, total)
    return worst


@pytest.mark.parametrize("p", ["1/20", "1/8", "1/4"])
@pytest.mark.parametrize("threshold", [4, 5, 6])
def test_theorem_4_bounds_the_exact_curve(p, threshold):
    n, share = 8, Fraction(p)
    found = pk.threshold_guarantee(n=n, p=p, threshold=threshold)
    x = Fraction(math.exp(found.epsilon.upper))
    for probabilities in ([share] * n, [share, share / 2] * 4, [share / 3] * n):
        assert threshold_curve(probabilities, threshold, x) <= Fraction(found.delta.upper)
    # The formula itself, in rationals: δ = f(T)/(1 − r), ε = −ln(1 − δ).
    f = comb(n - 1, threshold) * share**threshold * (1 - share) ** (n - 1 - threshold)
    delta = f / (1 - share * (n - 1) / ((1 - share) * threshold))
    assert found.delta.lower <= delta <= found.delta.upper
    with mpmath.workdps(40):
        assert found.epsilon.lower <= -mpmath.log(1 - mpmath.mpf(delta.numerator) / delta.denominator)
        assert found.epsilon.upper >= -mpmath.log(1 - mpmath.mpf(delta.numerator) / delta.denominator)
    exact = found.exact_curve()
    assert exact.kind == "exact"
    assert exact.exact_delta(exp_epsilon=2) == threshold_curve([share] * n, threshold, Fraction(2))


@pytest.mark.parametrize("ones", [None, 1, 2, 3])
def test_theorem_4_with_known_records(ones):
    n, share, threshold, known = 9, Fraction(1, 10), 5, 3
    found = pk.threshold_guarantee(n=n, p=share, threshold=threshold, known=known, most_known_ones=ones)
    x = Fraction(math.exp(found.epsilon.upper))
    exact = threshold_curve([share] * n, threshold, x, known=(0, 3, 5))
    assert exact <= Fraction(found.delta.upper)
    of_library = found.exact_curve().exact_delta(exp_epsilon=x)
    assert of_library == exact
    b, unknown = found.most_known_ones, n - known - 1
    y = comb(known, b) * share**b * (1 - share) ** (known - b) / (1 - share * known / ((1 - share) * b))
    rest = threshold - b
    tail = comb(unknown, rest) * share**rest * (1 - share) ** (unknown - rest)
    tail /= 1 - share * unknown / ((1 - share) * rest)
    assert found.delta.lower <= y + tail <= found.delta.upper
    assert found.epsilon.midpoint == pytest.approx(-math.log1p(-float(tail)), rel=1e-12)


def test_without_a_number_of_known_ones_the_best_is_taken():
    asked = {"n": 1000, "p": "0.01", "threshold": 60, "known": 300}
    best = pk.threshold_guarantee(**asked)
    others = [pk.threshold_guarantee(**asked, most_known_ones=b).delta.upper for b in range(4, 52)]
    assert best.delta.upper == min(others)


def test_nothing_is_better_than_the_exact_curve_of_many_records():
    found = pk.threshold_guarantee(n=10_000, p="0.001", threshold=30)
    assert found.delta.upper < 1e-6
    assert found.exact_curve().delta(found.epsilon.upper).upper < found.delta.lower


@pytest.mark.parametrize("known", [0, 50, 99])
@pytest.mark.parametrize("noise", [sp.noise.DiscreteLaplace(alpha="0.6"), sp.noise.Laplace(scale=2)], ids=repr)
def test_data_and_noise_together_are_better_than_either(known, noise):
    found = pk.nested_guarantee(n=100, p="0.3", noise=noise, known=known, delta="1e-3")
    assert found.together.lower <= min(found.data.upper, found.noise.upper)
    if known == 99:
        assert found.data.upper == math.inf
        assert found.together.upper == pytest.approx(found.noise.upper, rel=1e-12)
    else:
        assert found.together.upper < min(found.data.lower, found.noise.lower)


def test_two_layers_of_discrete_noise_are_one_convolution():
    n, p, alpha = 6, Fraction(1, 3), Fraction(1, 2)
    others = law_of_count([p] * (n - 1))

    def noisy(shift):  # beyond thirty further answers lies a mass below 2^-28
        law = {}
        for answer in range(-30, n + 31):
            weights = (m * alpha ** abs(answer - k - shift) for k, m in others.items())
            law[answer] = (1 - alpha) / (1 + alpha) * sum(weights)
        return law

    one, zero = noisy(1), noisy(0)
    found = pk.nested_guarantee(n=n, p=p, noise=sp.noise.DiscreteLaplace(alpha=alpha), known=0, delta="0.01")
    x = Fraction(math.exp(found.together.midpoint))
    deltas = [sum(max(0, p[a] - x * q[a]) for a in p) for p, q in ((one, zero), (zero, one))]
    assert float(max(deltas)) == pytest.approx(0.01, abs=1e-8)


@pytest.mark.parametrize("known", [0, 80, 150, 159])
@pytest.mark.parametrize("noise", [sp.noise.DiscreteLaplace(alpha="0.6"), sp.noise.Laplace(scale=2)], ids=repr)
def test_with_a_margin_both_layers_hold_for_all_probabilities(known, noise):
    margin, n = Fraction(1, 5), 160
    found = pk.nested_guarantee(n=n, margin=margin, noise=noise, known=known, delta="1e-4")
    assert found.together.upper <= min(found.data.upper, found.noise.upper)
    generator = random.Random(known)  # noqa: S311
    inside = [Fraction(generator.randint(200, 800), 1000) for _ in range(n - known)]
    for probabilities in ([margin] * (n - known), [margin, 1 - margin] * ((n - known) // 2), inside):
        if not probabilities:
            continue
        query = sp.PropertyQuery(probabilities).noisy(noise)
        exact = sp.privacy_curve(query, sp.Population(len(probabilities)))
        assert exact.delta(found.together.upper).upper <= 1e-4


def test_with_a_margin_both_layers_can_be_better_than_either():
    found = pk.nested_guarantee(n=100_000, margin="0.05", noise=sp.noise.Laplace(scale=2), known=94_000, delta="1e-10")
    assert found.together.upper < 0.99 * min(found.data.lower, found.noise.lower)


@pytest.mark.parametrize("share", [Fraction(1, 10), Fraction(1, 2), Fraction(1)], ids=str)
def test_the_number_of_coins_is_almost_certain(share):
    law = law_of_count([share] * 40)
    coins, fewer = _almost_certain(40, share, Fraction(1, 1000))
    truth = [sum(law.get(k, Fraction(0)) for k in range(b)) for b in range(42)]
    assert coins == max(b for b in range(41) if truth[b] <= Fraction(1, 1000))
    assert truth[coins] <= fewer <= truth[coins] * (1 + Fraction(1, 10**12))


def response(epsilon):
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    return [[truth, 1 - truth], [1 - truth, truth]]


@pytest.mark.parametrize("pair", [(1.0, 1.0), (0.1, 2.0), (3.0, 0.5)])
def test_a_chain_of_randomised_responses_attains_its_epsilon(pair):
    first, second = map(response, pair)
    both = [sum(first[0][k] * second[k][o] for k in (0, 1)) for o in (0, 1)]
    epsilon = pk.chained_epsilon(*pair)
    assert math.log(both[0] / both[1]) == pytest.approx(epsilon.midpoint, rel=1e-13)
    by_formula = math.log((math.exp(sum(pair)) + 1) / (math.exp(pair[0]) + math.exp(pair[1])))
    assert by_formula == pytest.approx(epsilon.midpoint, rel=1e-13)
    assert epsilon.width < 1e-15


@pytest.mark.parametrize("seed", range(20))
def test_no_chain_of_pure_mechanisms_does_worse(seed):
    generator = random.Random(seed)  # noqa: S311

    def mechanism(rows, answers):
        table = [[Fraction(generator.randint(1, 9)) for _ in range(answers)] for _ in range(rows)]
        return [[mass / sum(row) for mass in row] for row in table]

    def pure(table):
        return max(math.log(a[o] / b[o]) for a in table for b in table for o in range(len(a)))

    first, second = mechanism(2, 3), mechanism(3, 4)
    chain = [[sum(row[k] * second[k][o] for k in range(3)) for o in range(4)] for row in first]
    assert pure(chain) <= pk.chained_epsilon(pure(first), pure(second)).upper * (1 + 1e-12)


def test_chains_of_extreme_mechanisms():
    assert pk.chained_epsilon(5, 0) == sp.Enclosure(0)
    assert pk.chained_epsilon("1e-9", "1e9").midpoint == pytest.approx(1e-9, rel=1e-14)
    # e^ε = (e^110 + 1)/(e^50 + e^60), to so many digits
    assert pk.chained_epsilon(50, 60).midpoint == pytest.approx(50 - math.log1p(math.exp(-10)), rel=1e-15)
    three = pk.chained_epsilon(1, 2, 3)
    assert three.midpoint == pytest.approx(2 * math.atanh(math.tanh(0.5) * math.tanh(1) * math.tanh(1.5)), rel=1e-14)
