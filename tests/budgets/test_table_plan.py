"""The chance that a table is published, and the finest recoding that is: against exact polynomials in fractions."""

import math
import random
from fractions import Fraction

import pytest

import statpriv as sp
from statpriv import budget

from ..cases import cases


def exactly(shares, n, minimums):
    """n! times the coefficient of x^n in the product over cells of Σ_{c ≥ T} (p x)^c/c!."""
    total = sum(map(Fraction, shares))
    sums = [Fraction(1)] + [Fraction(0)] * n
    for share, least in zip(shares, minimums, strict=True):
        p = Fraction(share) / total
        terms = [p**c / math.factorial(c) if c >= least else Fraction(0) for c in range(n + 1)]
        sums = [sum(sums[k] * terms[m - k] for k in range(m + 1)) for m in range(n + 1)]
    return sums[n] * math.factorial(n)


def test_the_probability_is_enclosed_and_tight():
    rng = random.Random(1)  # noqa: S311  (a case, not a secret)
    for _ in range(cases(40, campaign=1000)):
        k, n = rng.randint(1, 5), rng.randint(1, 30)
        shares = [rng.randint(1, 20) for _ in range(k)]
        least = [rng.randint(0, max(1, n // k)) for _ in range(k)]
        found, truth = sp.design.gate_probability(shares, n, minimum=least), exactly(shares, n, least)
        assert truth in found
        assert found.width <= 1e-12


def test_single_cells_alone_enclose_it_too(monkeypatch):
    """Where the convolution is too much work: Bonferroni below, negative association above."""
    monkeypatch.setattr(budget, "MAX_GATE_PRODUCTS", -1)
    rng = random.Random(2)  # noqa: S311
    for _ in range(cases(30, campaign=500)):
        k, n = rng.randint(2, 4), rng.randint(5, 30)
        shares = [rng.randint(1, 20) for _ in range(k)]
        least = [rng.randint(0, max(1, n // k)) for _ in range(k)]
        found, truth = sp.design.gate_probability(shares, n, minimum=least), exactly(shares, n, least)
        assert truth in found
        tails = [1 - exactly([p, sum(shares) - p], n, [T, 0]) for p, T in zip(shares, least, strict=True)]
        assert found.width <= sum(tails) ** 2 / 2 + Fraction(1, 10**12) or found.lower == 0


def test_both_ways_agree_where_both_are_certain(monkeypatch):
    shares, n = [*range(20, 60)], 20_000
    summed = sp.design.gate_probability(shares, n, minimum=215)
    monkeypatch.setattr(budget, "MAX_GATE_PRODUCTS", -1)
    single = sp.design.gate_probability(shares, n, minimum=215)
    assert single.lower <= summed.lower <= summed.upper <= single.upper
    assert summed.width < 1e-9 < single.width


def test_many_cells_and_rows():
    found = sp.design.gate_probability([1] * 1000, 50_000, minimum=30)
    assert 0.3996 < found.lower <= found.upper < 0.3997
    assert sp.design.gate_probability([1] * 1000, 10**7, minimum=30).lower > 1 - 1e-12


@pytest.mark.parametrize(
    ("shares", "n", "minimum", "value"),
    [([1, 1], 3, 2, 0), ([1], 5, 5, 1), ([1, 0], 10, 1, 0), ([1, 0], 10, [1, 0], 1), ([1, 1], 2, 1, Fraction(1, 2))],
)
def test_the_ends_are_exact(shares, n, minimum, value):
    found = sp.design.gate_probability(shares, n, minimum=minimum)
    assert value in found
    assert found.width < 1e-14


def test_only_the_ratios_of_shares_matter():
    assert sp.design.gate_probability(["0.5", "0.3", "0.2"], 50, minimum=5) == sp.design.gate_probability(
        [500, 300, 200], 50, minimum=5
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], 5, 2), "a share for each cell"),
        (([0, 0], 5, 2), "all are zero"),
        (([1, -1], 5, 2), r"shares\[1\] = -1"),
        (([1, 1], 0, 2), "n = 0"),
        (([1, 1], 5, -1), "minimum = -1"),
        (([1, 1], 5, [2]), "1 numbers for 2 cells"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    shares, n, minimum = arguments
    with pytest.raises(sp.ArgumentError, match=message):
        sp.design.gate_probability(shares, n, minimum=minimum)


RECODINGS = {"by region and age": [310, 95, 420, 61], "by region": [405, 481]}


def plan(**changes):
    arguments = {"minimum": 30, "epsilon": 1, "source": "survey of 2019"} | changes
    return sp.design.plan_table(RECODINGS, arguments.pop("n", 400), **arguments)


def test_the_finest_recoding_is_the_first_that_is_published_with_the_confidence():
    found = plan()
    assert [each.verdict for each in found.recodings] == ["fails", "holds"]
    assert found.finest.name == "by region"
    assert plan(n=1000).finest.name == "by region and age"
    assert plan(n=40).finest is None


@pytest.mark.parametrize("name", RECODINGS)
def test_the_largest_minimum_passes_and_the_next_does_not(name):
    found = next(each for each in plan().recodings if each.name == name)
    level = Fraction(19, 20)
    chance = [
        sp.design.gate_probability(RECODINGS[name], 400, minimum=least)
        for least in (found.largest_minimum, found.largest_minimum + 1)
    ]
    assert Fraction(chance[0].lower) >= level > Fraction(chance[1].upper)


def test_the_price_of_a_minimum_is_the_delta_of_the_rule():
    found = plan(known=2)
    assert found.delta == sp.minimum_count_curve(30, known=2).delta(1)
    assert [price.minimum for price in found.prices] == [3, 5, 10, 20, 30, 50, 100]
    for price in found.prices:
        assert price.delta == sp.minimum_count_curve(price.minimum, known=2).delta(1)
    below = [price.passes[0].lower for price in found.prices]
    assert below == sorted(below, reverse=True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"source": " "}, "say where"), ({"confidence": 1}, "above 0 and below 1"), ({"minimum": 1}, "minimum = 1")],
)
def test_a_plan_without_a_source_or_a_level_is_refused(changes, message):
    with pytest.raises(sp.ArgumentError, match=message):
        plan(**changes)


def test_a_plan_is_drawn_on_given_axes():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    _, ax = pyplot.subplots()
    assert plan().plot(ax) is ax
    assert ax.get_ylabel() == "probability that the table is published"
    finest = ax.get_lines()[0]
    chances = [
        sp.design.gate_probability(RECODINGS["by region and age"], 400, minimum=int(least)).lower
        for least in finest.get_xdata()
    ]
    assert list(finest.get_ydata()) == chances
    assert {2, 30} <= set(finest.get_xdata())
    pyplot.close("all")
