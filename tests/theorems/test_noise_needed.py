"""The least noise on top of an exact answer, for a guarantee and for a floor below it."""

from fractions import Fraction

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
