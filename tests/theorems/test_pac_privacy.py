"""PAC privacy: its noise, its promise, and the success of three attacks, against quadrature and enumeration."""

from fractions import Fraction
from itertools import combinations
from math import comb, erf, log, pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv.errors import ArgumentError
from statpriv.lowering import dominating_pairs

from ..cases import cases

BUDGETS = st.sampled_from(["1/1000", "1/64", "1/8", "1", "4"])
GAMES = ("law", "half", "membership")


def binomial(trials, p):
    return {k: comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)}


def of_half(table):
    """The count of ones in each half of a table, each equally likely."""
    halves = list(combinations(table, len(table) // 2))
    law = {}
    for half in halves:
        law[sum(half)] = law.get(sum(half), 0) + 1 / len(halves)
    return law


def pairs_of_laws(name, ones, rows):
    """The laws of one count before noise, under either value of what is guessed."""
    if name == "half":
        others = ([1] * k + [0] * (rows - 1 - k) for k in (ones - 1, ones))
        return [(of_half([1, *rest]), of_half([0, *rest])) for rest in others]
    law = binomial(rows - 1, ones / rows) if name == "law" else binomial(ones - 1, 0.5)
    return [({k + 1: mass for k, mass in law.items()}, law)]


def density(law, sigma, at):
    return sum(mass * np.exp(-((at - k) ** 2) / (2 * sigma**2)) for k, mass in law.items()) / (sigma * sqrt(2 * pi))


def best_guess(first, second, sigma, prior=0.5):
    """The chance that the more likely value is the true one, by the trapezoidal rule."""
    low, high = min(*first, *second), max(*first, *second)
    at = np.linspace(low - 12 * sigma, high + 12 * sigma, 200_001)
    own = np.maximum(prior * density(first, sigma, at), (1 - prior) * density(second, sigma, at))
    return float(np.trapezoid(own, at))


@pytest.mark.parametrize(("ones", "rows"), [(1, 2), (3, 7), (5, 8)])
@pytest.mark.parametrize("prior", ["0.5", "0.3"])
def test_the_success_of_a_guess_is_that_of_quadrature(ones, rows, prior):
    for name, game in zip(GAMES, sp.pac_privacy.games(ones, rows, information="1/2"), strict=True):
        assert (game.name, game.curve.kind) == (name, "exact")
        numbers = pairs_of_laws(name, ones, rows)
        either = [pair for first, second in numbers for pair in ((first, second), (second, first))]
        worst = max(best_guess(first, second, float(game.sigma), float(prior)) for first, second in either)
        success = game.success(prior)
        assert success.lower - 1e-7 <= worst <= success.upper + 1e-7


@pytest.mark.parametrize("name", GAMES)
def test_two_answers_are_bounded_next_to_their_quadrature(name):
    """With two normal noises the product of both densities on a grid."""
    ones, rows = 3, 6
    game = next(game for game in sp.pac_privacy.games(ones, rows, information="1/2", queries=2) if game.name == name)
    sigma, found = float(game.sigma), []
    for first, second in pairs_of_laws(name, ones, rows):
        at = np.linspace(-10 * sigma, rows + 10 * sigma, 1501)
        p, q = density(first, sigma, at), density(second, sigma, at)
        # Two answers may be about attributes that the compared rows have in the same or in opposite order.
        for one, other in (((p, p), (q, q)), ((p, q), (q, p))):
            larger = np.maximum(np.outer(*one), np.outer(*other))
            found.append(float(np.trapezoid(np.trapezoid(larger, at), at)) / 2)
    success = game.success()
    assert max(found) - 1e-7 <= success.upper <= 0.5 + 1.05 * (max(found) - 0.5)


def test_many_answers_about_one_coin_are_as_one():
    """One row with the property: m answers of noise variance m V/(2β) tell what their mean does."""
    coin = Fraction(1, 2) * (1 + Fraction(erf(0.5 / sqrt(2))))  # σ = 1 at β = 1/8
    for queries in (1, 32):
        game = sp.pac_privacy.games(1, 100, information="1/8", queries=queries)[2]
        assert float(game.sigma) == pytest.approx(sqrt(queries))
        assert float(coin) - 1e-12 <= game.success().upper <= float(coin) + 1e-4


@settings(max_examples=cases(4, campaign=200), deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), BUDGETS, st.sampled_from(["0.5", "0.1", "0.8"]))
def test_no_guess_is_better_than_the_information_allows(ones, others, information, prior):
    for game in sp.pac_privacy.games(ones, ones + others, information=information):
        assert game.success(prior).lower <= game.promised(prior).upper
        assert game.curve.mutual_information(prior).lower <= Fraction(information)


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=5), BUDGETS)
@settings(max_examples=cases(20, campaign=300), deadline=None)
def test_the_noise_spends_the_information_and_no_other_split_is_smaller(variances, information):
    noises = sp.pac_privacy.noise_variances(variances, information=information)
    spent = sum(v / (2 * e) for v, e in zip(variances, noises, strict=True))
    assert Fraction(information) * (1 - Fraction(1, 10**12)) <= spent <= Fraction(information)
    least = sum(map(sqrt, variances)) ** 2 / (2 * float(Fraction(information)))  # Cauchy and Schwarz
    assert abs(float(sum(noises)) - least) <= 1e-9 * least


def test_answers_that_do_not_vary_need_no_noise():
    assert sp.pac_privacy.noise_variances([0, 4, 0], information="1/2") == [0, 4, 0]


@given(st.floats(1e-9, 5), st.floats(0.01, 0.99))
def test_the_allowed_success_solves_the_inequality(information, prior):
    def divergence(s):
        return s * log(s / prior) + ((1 - s) * log((1 - s) / (1 - prior)) if s < 1 else 0.0)

    allowed = sp.pac_privacy.largest_success(information, prior)
    assert prior <= allowed.lower <= allowed.upper <= 1
    assert allowed.width <= 1e-12
    if allowed.upper < 1:
        assert divergence(allowed.midpoint) == pytest.approx(information, rel=1e-3, abs=1e-12)
    else:
        assert divergence(1) <= information * (1 + 1e-9) + 1e-12


def test_no_information_allows_no_better_guess():
    assert sp.pac_privacy.largest_success(0, "0.7").upper == pytest.approx(0.7)
    assert sp.pac_privacy.largest_success(10, "0.5") == sp.Enclosure(1)
    assert sp.pac_privacy.largest_success("1e-300", 1) == sp.Enclosure(1)


def test_an_attack_gains_what_is_certified():
    """A reader who knows a table of 30 rows guesses who is in the secret sample."""
    game = sp.pac_privacy.games(20, 30, information=1)[2]
    sigma = float(game.sigma)

    def answered(rows, source):
        return round((sum(rows) + source.gauss(0, sigma)) * 4) / 4

    law = {1: "1/2", 0: "1/2"}
    found = sp.attack(answered, (1, 0), law=law, others=19, epsilon=0, claimed=game.curve, trials=4000, seed=3)
    assert found.verdict == "consistent"
    assert found.advantage.upper > 0.5 * game.curve.delta(0).lower


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"ones": 5, "rows": 5}, "fewer than all rows"),
        ({"ones": 0, "rows": 5}, "ones = 0"),
        ({"queries": 65}, "queries = 65; at most 64"),
        ({"information": 0}, "information = 0"),
    ],
)
def test_what_cannot_be_played_is_refused(arguments, words):
    stated = {"ones": 3, "rows": 9, "information": "1/8", **arguments}
    with pytest.raises(ArgumentError, match=words):
        sp.pac_privacy.games(**stated)


def test_a_list_of_variances_and_a_possible_guess_are_required():
    with pytest.raises(ArgumentError, match="a list of the variances"):
        sp.pac_privacy.noise_variances(4, information=1)
    with pytest.raises(ArgumentError, match=r"variances\[1\]"):
        sp.pac_privacy.noise_variances([4, -1], information=1)
    with pytest.raises(ArgumentError, match="prior = 0"):
        sp.pac_privacy.largest_success(1, 0)


def test_thirty_two_answers_with_one_law_cost_the_evaluations_of_two(monkeypatch):
    evaluated = []
    heights = dominating_pairs._heights
    monkeypatch.setattr(
        dominating_pairs, "_heights", lambda curve, epsilons: evaluated.append(curve) or heights(curve, epsilons)
    )
    costs = []
    for queries in (2, 32):
        evaluated.clear()
        sp.pac_privacy.games(3, 10, information="1/8", queries=queries)
        costs.append(len(evaluated))
    assert costs == [3, 3]  # one curve for each game
