"""Every enclosure contains the truth and is tight: stratified random inputs against the oracle's balls.

The seed is new in every run and printed where a test fails; ``STATPRIV_SEED=…`` repeats a run.
"""

import os
import random
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import exp, expm1, inf, log, log1p, sqrt

import pytest

import statpriv as sp

from . import oracle

SEED = int(os.environ.get("STATPRIV_SEED", random.SystemRandom().randrange(2**32)))
LARGEST_EPSILON = 700.0
PAIRS = (*oracle.DIRECTIONS, None)

SIZES: dict[str, Callable[[random.Random], int]] = {
    "one": lambda rng: 1,
    "a few": lambda rng: rng.randint(2, 12),
    "hundreds": lambda rng: round(10 ** rng.uniform(1, 3)),
    "thousands": lambda rng: round(10 ** rng.uniform(3, 5)),
    "millions": lambda rng: round(10 ** rng.uniform(5, 7)),
}
PROBABILITIES: dict[str, Callable[[random.Random], float | Fraction]] = {
    "tiny": lambda rng: 10 ** rng.uniform(-300, -2),
    "near one": lambda rng: 1 - Fraction(10 ** rng.uniform(-300, -2)),
    "dyadic": lambda rng: Fraction(rng.randint(1, 255), 256),
    "double": lambda rng: rng.uniform(1e-3, 1 - 1e-3),
    "rational": lambda rng: Fraction(rng.randint(1, 996), 997),
}


def deviation(n: int, p: float | Fraction) -> float:
    """σ of the count; p near 1 may round to 1 as a double, so the product is formed exactly."""
    return sqrt(n * Fraction(p) * (1 - Fraction(p)))


def exponent(n: int, p: float | Fraction, epsilon: float) -> float:
    """About −ln Δ_{1,0}: n KL(p'‖p) for the probability p' that e^epsilon tilts to."""
    p, q = float(p), float(1 - Fraction(p))
    log_mean = log1p(p * expm1(epsilon)) if epsilon < 30 else epsilon + log(p + q * exp(-epsilon))
    return n * (p * exp(epsilon - log_mean) * epsilon - log_mean)


def deep(rng: random.Random, n: int, p: float | Fraction) -> float:
    """An epsilon at which δ is about e^−1 … e^−720, where any is."""
    wanted, low, high = rng.uniform(1, 720), 0.0, LARGEST_EPSILON
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if exponent(n, p, middle) < wanted else (low, middle)
    return low


def near_tie(rng: random.Random, n: int, p: float | Fraction) -> float:
    """An epsilon at which two answers are as good a threshold as each other, up to one rounding."""
    spread = int(4 * deviation(n, p)) + 1
    answer = min(int(n * Fraction(p)) + rng.randint(1, spread), n - 1)
    odds = answer * (1 - Fraction(p)) / ((n - answer) * Fraction(p))
    return min(log(odds), LARGEST_EPSILON) if odds > 1 else 0.0


EPSILONS: dict[str, Callable[[random.Random, int, float | Fraction], float | Fraction]] = {
    "zero": lambda rng, n, p: 0.0,
    "vanishing": lambda rng, n, p: 10 ** rng.uniform(-320, -13),
    "1e-12": lambda rng, n, p: 1e-12,
    "around 1/σ": lambda rng, n, p: min(rng.uniform(0.2, 4) / max(deviation(n, p), 1), LARGEST_EPSILON),
    "10/σ": lambda rng, n, p: min(rng.uniform(8, 30) / max(deviation(n, p), 1), LARGEST_EPSILON),
    "above one": lambda rng, n, p: rng.uniform(1, 40),
    "huge": lambda rng, n, p: rng.uniform(40, LARGEST_EPSILON),
    "rational": lambda rng, n, p: Fraction(rng.randint(1, 400), 211),
    "deep": deep,
    "near a tie": near_tie,
}


def first_fault(cases: int, size: str, probability: str, epsilon: str, seed: str) -> str:
    """Draw that many cases of one stratum; the first wrong enclosure, ready to paste, or nothing."""
    rng = random.Random(f"{seed} {size} {probability} {epsilon}")  # noqa: S311  (no secrets here)
    for _ in range(cases):
        n = SIZES[size](rng)
        p = PROBABILITIES[probability](rng)
        at = EPSILONS[epsilon](rng, n, p)
        truths = {pair: oracle.delta_ball(n, Fraction(p), Fraction(at), pair) for pair in oracle.DIRECTIONS}
        truths[None] = oracle.largest(truths.values())
        for pair, truth in truths.items():
            found = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), pair=pair).delta(at)
            if fault := truth.fault(found.lower, found.upper):
                return (
                    f"{fault}: n={n}, p={p!r}, epsilon={at!r}, pair={pair}: {found!r}, truth about "
                    f"{float(truth.lower)!r} (STATPRIV_SEED={seed}, {size}, {probability}, {epsilon})"
                )
    return ""


@pytest.mark.parametrize("probability", PROBABILITIES)
@pytest.mark.parametrize("size", SIZES)
def test_contained_and_tight(size, probability):
    for epsilon in EPSILONS:
        cases = 4 if size == "millions" else 10
        assert not (fault := first_fault(cases, size, probability, epsilon, f"{SEED}")), fault


@pytest.mark.parametrize("epsilon", [0, 5e-324, 1e-200, 1e-100, 1e-30, 1e-17, 1e-12, Fraction(1, 10**400)])
def test_an_expected_count_that_is_an_answer(epsilon):
    """np is an integer, so the threshold jumps as soon as epsilon leaves 0, and δ does not."""
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


@pytest.mark.campaign
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("probability", PROBABILITIES)
@pytest.mark.parametrize("size", SIZES)
def test_campaign_contained_and_tight(size, probability, epsilon):
    cases = 100 if size == "millions" else 500
    assert not (fault := first_fault(cases, size, probability, epsilon, f"{SEED} campaign")), fault


@pytest.mark.parametrize("pair", PAIRS)
def test_the_exact_rational_is_a_member(pair):
    """At epsilon = 0 the truth is rational, and membership of a Fraction is decided exactly."""
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
    """Both ends are strictly below the peak here, so a rule that looks at the ends only would be refuted."""
    n, low, high, epsilon = 9, Fraction(9, 20), Fraction(11, 20), Fraction(1, 2)
    ends = [oracle.delta_ball(n, p, epsilon, (1, 0)).upper for p in (low, high)]
    truth = oracle.at_epsilon(lambda x: oracle.range_supremum(n, low, high, x, (1, 0)), epsilon)
    assert max(ends) < truth.lower * Fraction(95, 100)
    found = sp.privacy_curve(sp.PropertyQuery(sp.Between(low, high)), sp.Population(n), pair=(1, 0)).delta(epsilon)
    assert truth.fault(found.lower, found.upper) == ""


def inverse_fault(found: sp.Enclosure, delta: Fraction, truth: Callable[[Fraction], oracle.Bounds]) -> str:
    """What is wrong with ε(δ), the least epsilon of the curve; empty where nothing is.

    The curve falls, so it is not below δ at the lower end, and not above δ at the upper end.
    """
    if not 0 <= found.lower <= found.upper < inf:
        return "not a finite interval"
    at_lower, at_upper = truth(Fraction(found.lower)), truth(Fraction(found.upper))
    if found.lower > 0 and at_lower.upper < delta:
        return "the lower end is too high"
    if at_upper.lower > delta:
        return "the upper end is too low"
    wide = found.upper - found.lower > 1e-9 * found.upper
    return "too wide" if wide and at_lower.lower - at_upper.upper > delta / 10**10 else ""


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("size", ["a few", "hundreds", "thousands", "millions"])
def test_the_inverse_against_the_oracle(size, pair):
    rng = random.Random(f"{SEED} inverse {size} {pair}")  # noqa: S311  (no secrets here)
    for _ in range(4 if size == "millions" else 15):
        n = SIZES[size](rng)
        p = Fraction(rng.randint(1, 996), 997)
        # Between the two limits: below δ(0), above the mass of answers that only one value can give.
        top = oracle.delta_ball(n, p, Fraction(0), pair).lower
        plateaus = {(1, 0): p, (0, 1): 1 - p, None: max(p, 1 - p)}
        floor = max((n - 1) * log(plateaus[pair]), -690.0)
        ceiling = log(top)
        delta = Fraction(exp(ceiling - (ceiling - floor) * rng.uniform(0.001, 0.98)))
        if exp(floor) * (1 + 1e-9) < delta < top * (1 - Fraction(1, 10**9)):
            found = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), pair=pair).epsilon(delta)
            truth = partial(oracle.delta_ball, n, p, pair=pair)
            fault = inverse_fault(found, delta, truth)
            assert not fault, f"{fault}: {found!r} (STATPRIV_SEED={SEED}, {n=}, {p=}, {delta=}, {pair=})"


def test_an_inverse_that_is_off_is_noticed():
    truth = partial(oracle.delta_ball, 1024, Fraction(1, 2))
    delta = truth(Fraction(1, 10)).lower
    for wrong, fault in [
        ((0.1 + 1e-12, 0.1 + 2e-12), "the lower end is too high"),
        ((0.1 - 2e-12, 0.1 - 1e-12), "the upper end is too low"),
        ((0.09, 0.11), "too wide"),
        ((0.1, inf), "not a finite interval"),
    ]:
        assert inverse_fault(sp.Enclosure(*wrong), delta, truth) == fault
    assert inverse_fault(sp.Enclosure(0.1 - 1e-12, 0.1 + 1e-12), delta, truth) == ""
