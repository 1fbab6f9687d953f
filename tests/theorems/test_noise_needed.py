"""The least noise on top of an exact answer, for a guarantee and for a floor below it."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import statpriv as sp
from statpriv.errors import ArgumentError, GuaranteeNotReachedError

COUNT, PEOPLE = sp.PropertyQuery("0.3"), sp.Population(1000)


def delta(query, scale, epsilon, known=0, people=PEOPLE):
    noisy = query.noisy(sp.noise.DiscreteLaplace(scale=scale)) if scale else query
    return sp.privacy_curve(noisy, people, adversary=sp.Adversary(known=known)).delta(epsilon)


@given(st.fractions("1/20", "9/10"), st.fractions("1/20", "9/10"), st.integers(1, 12))
def test_more_discrete_laplace_noise_is_processing_of_less(one, other, terms):
    """The quotient of two geometric laws' generating functions has the stated coefficients, none below zero."""
    less, more = sorted((one, other))
    quotient = [
        (1 - more) / (1 - less),
        *((1 - more) * (more - less) * more ** (k - 1) / (1 - less) for k in range(1, terms)),
    ]
    assert min(quotient) >= 0
    for k in range(terms):
        product = sum(quotient[i] * (1 - less) * less ** (k - i) for i in range(k + 1))
        assert product == (1 - more) * more**k


@pytest.mark.parametrize("floor", [None, (1, "1e-6"), ("0.5", "0.001")])
@pytest.mark.parametrize("query", [COUNT, sp.PropertyQuery("1/2"), sp.SumQuery({0: ".5", 1: ".3", 2: ".2"})])
def test_the_answer_reaches_both_and_the_next_smaller_scale_does_not(query, floor):
    plan = sp.design.least_noise(query, sp.Population(200), epsilon="0.2", delta="0.001", floor=floor)
    targets = [("0.2", "0.001", 0), *([] if floor is None else [(*floor, 199)])]

    def reached(scale):
        found = [delta(query, scale, epsilon, known, sp.Population(200)) for epsilon, _, known in targets]
        return [
            (found.upper <= Fraction(most), found.lower > Fraction(most))
            for found, (_, most, _) in zip(found, targets, strict=True)
        ]

    assert all(holds for holds, _ in reached(plan.value))
    assert any(fails for _, fails in reached(plan.value - Fraction(1, 64)))
    assert plan.neighbour.value == plan.value - Fraction(1, 64)
    assert plan.neighbour.verdict == "fails"
    assert "All smaller scales fail too" in str(plan)


def test_an_exact_answer_needs_no_noise_where_it_reaches_the_guarantee():
    plan = sp.design.least_noise(COUNT, PEOPLE, epsilon="0.1", delta="0.01")
    assert (plan.value, plan.neighbour) == (0, None)
    assert plan.delta == delta(COUNT, 0, "0.1")


def test_known_rows_cost_noise():
    few, many = (
        sp.design.least_noise(COUNT, PEOPLE, epsilon="0.1", delta="0.003", adversary=sp.Adversary(known=known)).value
        for known in (0, 900)
    )
    assert few == 0 < many


@pytest.mark.parametrize("query", [sp.PropertyQuery(sp.Between("0.2", "0.4")), sp.HistogramQuery([".2", ".3", ".5"])])
def test_where_noise_has_a_bound_alone_it_says_that_less_may_do(query):
    plan = sp.design.least_noise(query, PEOPLE, epsilon="0.1", delta="1e-4")
    assert plan.curve.delta("0.1").upper <= Fraction("1e-4")
    assert plan.neighbour.verdict == "undecided"
    assert "is not decided" in str(plan)


@pytest.mark.campaign  # alone it notices a search that does not end where nothing is reached
def test_what_no_noise_reaches_is_said():
    with pytest.raises(GuaranteeNotReachedError, match="no scale up to 16384"):
        sp.design.least_noise(COUNT, PEOPLE, epsilon=0, delta="1e-6")


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"epsilon": -1}, "epsilon = -1"),
        ({"delta": 2}, "delta = 2"),
        ({"floor": 1}, "floor = 1"),
        ({"floor": (-1, 0)}, "floor"),
        ({"floor": (1, 2)}, "floor"),
    ],
)
def test_what_is_not_allowed_is_refused(changed, sentence):
    with pytest.raises(ArgumentError, match=sentence):
        sp.design.least_noise(COUNT, PEOPLE, **{"epsilon": "0.1", "delta": "0.01", **changed})


# --- the parts of a secret partition -------------------------------------------------------------

FORTY, PARTS = sp.Population(40), sp.RandomPartition([10, 30])


def together(scale, epsilon, p=("0.3", "0.3"), known=0):
    asked = [sp.PropertyQuery(each, attribute=str(index)) for index, each in enumerate(p)]
    noisy = [query.noisy(sp.noise.DiscreteLaplace(scale=scale)) if scale else query for query in asked]
    return asked, sp.compose(noisy, FORTY, PARTS, adversary=sp.Adversary(known=known)).delta(epsilon)


@pytest.mark.campaign  # alone it notices a search over compositions that ends too early
def test_parts_take_the_least_noise_of_their_composition():
    asked, without = together(0, "0.1")
    target = float(without.upper) * 0.8
    plan = sp.design.least_noise(asked, FORTY, partition=PARTS, epsilon="0.1", delta=target)
    assert plan.value > 0
    assert together(plan.value, "0.1")[1].upper <= target
    assert together(plan.value - Fraction(1, 64), "0.1")[1].upper > target
    assert plan.delta == together(plan.value, "0.1")[1]


@pytest.mark.campaign  # alone it notices a floor of compositions that is none
def test_the_floor_of_parts_is_that_of_one_answer():
    """Who knows all other rows and where they are learns from one noisy answer: as with all rows in one part."""
    asked, without = together(0, "0.1")
    plans = [
        sp.design.least_noise(query, FORTY, partition=parts, epsilon="0.1", delta=1, floor=(1, "1e-4"))
        for query, parts in ((asked, PARTS), (COUNT, None))
    ]
    assert plans[0].value == plans[1].value > 0
    assert without.upper < 1


def test_the_floor_of_parts_bounds_who_knows_all_other_rows():
    """Over every partition of five rows, all others known: no more than one noisy answer tells."""
    noise = sp.noise.Truncated(sp.noise.DiscreteLaplace(scale=2), -6, 6)
    alone = sp.privacy_curve(COUNT.noisy(noise), sp.Population(5), adversary=sp.Adversary(known=4))
    masses = {k: Fraction(mass) for k, mass in enumerate(truncated(), start=-6)}
    for ones in range(5):
        others = [1] * ones + [0] * (4 - ones)
        laws = [counts_of_parts([value, *others], (2, 3)) for value in (1, 0)]
        first, second = (with_noise(law, masses) for law in laws)
        for epsilon in ("0", "0.3"):
            factor = Fraction(math.exp(float(epsilon)))
            gain = sum(max(Fraction(0), first[seen] - factor * second.get(seen, 0)) for seen in first)
            assert gain <= Fraction(alone.delta(epsilon).upper) + Fraction(1, 10**9)


def truncated():
    weights = [Fraction(math.exp(-abs(k) / 2)) for k in range(-6, 7)]
    return [weight / sum(weights) for weight in weights]


def counts_of_parts(rows, sizes):
    law = Counter()
    for first in combinations(range(len(rows)), sizes[0]):
        one = sum(rows[place] for place in first)
        law[one, sum(rows) - one] += Fraction(1, math.comb(len(rows), sizes[0]))
    return law


def with_noise(law, masses):
    seen = Counter()
    for (one, other), chance in law.items():
        for k, first in masses.items():
            for m, second in masses.items():
                seen[one + k, other + m] += chance * first * second
    return seen


def test_several_queries_need_parts_and_parts_no_sample():
    asked = [COUNT, COUNT]
    with pytest.raises(ArgumentError, match="several queries need a partition="):
        sp.design.least_noise(asked, PEOPLE, epsilon="0.1", delta="0.01")
    with pytest.raises(ArgumentError, match="with a partition a list of queries"):
        sp.design.least_noise(COUNT, PEOPLE, partition=PARTS, epsilon="0.1", delta="0.01")
    with pytest.raises(ArgumentError, match="one of them is allowed"):
        sp.design.least_noise(
            asked, PEOPLE, partition=PARTS, sampling=sp.WithoutReplacement(9), epsilon="0.1", delta="0.01"
        )
