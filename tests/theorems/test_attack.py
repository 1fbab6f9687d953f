"""Attacks by simulation: intervals that cover, claims that hold, and mechanisms that are found out."""

import math
from fractions import Fraction
from math import comb

import pytest

import statpriv as sp
from statpriv.assurance.attack import _success
from statpriv.errors import ArgumentError

from ..cases import cases

LAW = {1: "0.3", 0: "0.7"}
COUNT = sp.PropertyQuery("0.3")
PEOPLE = sp.Population(50)
NOBODY = {0: 1}


def attacked(mechanism, *, claimed, law=LAW, others=49, seed=1, **options):
    return sp.attack(mechanism, (1, 0), law=law, others=others, claimed=claimed, seed=seed, **options)


# --- the interval ---


def tail(k, n, p):
    return sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))


@pytest.mark.parametrize(("count", "tested"), [(0, 9), (9, 9), (3, 9), (1, 40)])
def test_the_ends_are_those_of_clopper_and_pearson(count, tested):
    risk, close = Fraction(1, 40), Fraction(1, 2**39)
    low, high = _success(count, tested, risk)
    assert (low == 0) == (count == 0)
    assert (high == 1) == (count == tested)
    if count:
        assert tail(count, tested, low) <= risk < tail(count, tested, low + close)
    if count < tested:
        assert 1 - tail(count + 1, tested, high) <= risk < 1 - tail(count + 1, tested, high - close)


def test_the_interval_covers_the_advantage_as_often_as_it_says():
    """A coin that falls on "v" with .6 and .3: whatever set is learned, its advantage is one of four."""
    confidence, times = 0.8, cases(60, campaign=1000)
    ratio = math.exp(0.5)
    advantages = {(1, 0): {True: 0.6 - ratio * 0.3}, (0, 1): {True: 0.7 - ratio * 0.4}}
    missed = 0
    for seed in range(times):
        found = attacked(
            lambda rows, random: random.random() < (0.6 if rows[0] else 0.3),
            claimed=None, law=NOBODY, others=0, epsilon="0.5", trials=400, confidence=confidence, seed=seed,
        )  # fmt: skip
        true = advantages[found.pair][True]
        missed += not found.advantage.lower <= true <= found.advantage.upper
    # Twice as many misses as are allowed on average have a chance below one in a thousand.
    assert missed <= 2 * (1 - confidence) * times


# --- what is true is not refuted, and hardly loose ---


@pytest.mark.campaign  # alone it notices an attack that learns too little
def test_an_exact_count_gains_what_is_certified():
    curve = sp.privacy_curve(COUNT, PEOPLE)
    found = attacked(lambda rows, _: sum(rows), claimed=curve, trials=20_000)
    assert found.verdict == "consistent"
    assert found.advantage.upper >= curve.delta("0.1").lower
    assert 0 < found.advantage.lower < curve.delta("0.1").lower
    assert found.loose_by == curve.delta("0.1").upper / found.advantage.lower


@pytest.mark.campaign  # alone it notices an attack on a sample that gains too much
def test_a_secret_sample_gains_no_more_than_is_certified():
    curve = sp.privacy_curve(COUNT, PEOPLE, sampling=sp.WithoutReplacement(10))
    found = attacked(lambda rows, random: sum(random.sample(rows, 10)), claimed=curve)
    assert not found.refuted


def test_a_table_that_is_withheld_below_its_minimum_is_consistent_with_its_rule():
    cells = {"a": "0.4", "b": "0.3", "c": "0.3"}

    def published(rows, _):
        counts = [rows.count(cell) for cell in cells]
        return counts if min(counts) >= 3 else None

    found = sp.attack(
        published, ("a", "b"), law=cells, others=19, claimed=sp.minimum_count_curve(3), epsilon="0.5", seed=4
    )
    assert found.verdict == "consistent"


@pytest.mark.campaign  # alone it notices a feature of answers
def test_what_matters_of_an_answer_can_be_named():
    parts = sp.compose([COUNT_OF_A] * 5, sp.Population(50), sp.RandomPartition([10] * 5))

    def counts(rows, random):
        random.shuffle(rows)
        return [sum(rows[k : k + 10]) for k in range(0, 50, 10)]

    found = attacked(counts, claimed=parts, features=sum, trials=8_000)
    assert found.verdict == "consistent"
    assert found.advantage.lower > 0


COUNT_OF_A = sp.PropertyQuery("0.3", attribute="a")


# --- what is broken is found out ---


def always_asked(rows, random):
    return rows[0] + sum(random.sample(rows[1:], 9))


def first_ten(rows, _):
    return sum(rows[:10])


def twice(rows, random):
    return sum(random.sample(rows, 10)), sum(random.sample(rows, 10)), rows[0] if random.random() < 0.1 else None


@pytest.mark.campaign  # alone it notices a broken sampler that an attack overlooks
@pytest.mark.parametrize("broken", [always_asked, first_ten, twice])
def test_a_sample_that_is_none_is_found_out(broken):
    curve = sp.privacy_curve(COUNT, PEOPLE, sampling=sp.WithoutReplacement(10))
    assert attacked(broken, claimed=curve).verdict == "refuted"


def laplace(scale):
    def noisy(rows, random):
        uniform = random.random() - 0.5
        return rows[0] - math.copysign(scale, uniform) * math.log(1 - 2 * abs(uniform))

    return noisy


def test_noise_that_is_too_small_is_found_out():
    claimed = sp.differential.LaplaceMechanism(scale=2).delta("0.1").upper
    options = {"law": NOBODY, "others": 0, "features": lambda answer: round(2 * answer)}
    assert not attacked(laplace(2), claimed=claimed, **options).refuted
    assert attacked(laplace(1), claimed=claimed, **options).refuted


def test_a_mechanism_of_the_library_can_be_the_claim():
    mechanism = sp.differential.LaplaceMechanism(scale=2)
    found = attacked(laplace(2), claimed=mechanism, law=NOBODY, others=0, trials=400)
    assert found.claimed == mechanism.delta("0.1")


def test_floating_point_noise_leaks_where_it_is_not_rounded():
    options = {"law": NOBODY, "others": 0, "epsilon": 1, "claimed": 0}
    leaking = attacked(laplace(1), **options)
    assert leaking.refuted
    assert leaking.falsely_accused <= leaking.accused / 100
    rounded = attacked(lambda rows, random: round(16 * laplace(1)(rows, random)) / 16, **options)
    assert rounded.verdict == "consistent"


# --- the rest ---


def test_a_seed_repeats_an_attack():
    one, again, other = (attacked(lambda rows, _: sum(rows), claimed=None, trials=400, seed=seed) for seed in (1, 1, 2))
    assert one == again != other
    assert one.verdict == "nothing claimed"
    assert one.loose_by == math.inf


def test_rows_may_be_drawn_by_a_function():
    found = sp.attack(
        lambda rows, _: len(set(rows)), ("x", "y"), law=lambda random: random.choice("xy"), others=1, trials=100
    )
    assert found.tested == 50


def test_the_verdict_reads_as_sentences():
    found = attacked(always_asked, claimed=0.001, trials=4000)
    text, (v, w) = str(found), found.pair
    assert text.startswith(f"refuted: an attack at ε = 0.1 that accuses a row of {v} and not {w}")
    assert "with confidence 0.999" in text
    assert "claimed    δ at most 0.001" in text


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"mechanism": 3}, "mechanism = 3; a function of the rows"),
        ({"pair": (1, 1)}, "two different values"),
        ({"pair": 7}, "two different values"),
        ({"pair": (1, 0, 2)}, "two different values"),
        ({"law": {}}, "law = "),
        ({"law": {1: "0.3", 0: "0.6"}}, "law sums to"),
        ({"others": -1}, "others"),
        ({"trials": 99}, "trials"),
        ({"confidence": 1}, "confidence = 1"),
        ({"confidence": 0}, "confidence = 0"),
        ({"epsilon": -1}, "epsilon = -1"),
        ({"claimed": 2}, "claimed = 2"),
    ],
)
def test_what_is_not_allowed_is_refused(changed, sentence):
    stated = {"mechanism": lambda rows, _: sum(rows), "pair": (1, 0), "law": LAW, "others": 3, **changed}
    with pytest.raises(ArgumentError, match=sentence):
        sp.attack(stated.pop("mechanism"), stated.pop("pair"), **stated)
