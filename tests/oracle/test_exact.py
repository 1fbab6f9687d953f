"""Exact values against the oracle's integers and against enumeration, and all stored vectors in the exact tier."""

import json
import math
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp

from ..theorems import brute_force
from . import oracle

VECTORS = Path(__file__).parents[1] / "vectors"
PAIRS = (*oracle.DIRECTIONS, None)
UNIT = st.fractions(0, 1, max_denominator=60)
RATIO = st.fractions(1, 30, max_denominator=200)
PAIR = st.sampled_from(PAIRS)


def stored(name: str) -> list[dict]:
    return json.loads((VECTORS / f"{name}.json").read_text())


def count(n: int, p: Fraction | str | float, pair: oracle.Pair = None, known: int = 0) -> sp.PrivacyCurve:
    return sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), adversary=sp.Adversary(known=known), pair=pair)


# --- one count


@given(n=st.integers(1, 60), p=UNIT, x=RATIO, pair=PAIR)
def test_one_count(n, p, x, pair):
    assert count(n, p, pair).exact_delta(exp_epsilon=x) == oracle.delta(n, p, x, pair)


@given(n=st.integers(2, 30), data=st.data(), p=UNIT, x=RATIO, pair=PAIR)
def test_the_count_of_a_hidden_sample(n, data, p, x, pair):
    size = data.draw(st.integers(1, n))
    curve = sp.privacy_curve(
        sp.PropertyQuery(p), sp.Population(n), sampling=sp.WithoutReplacement(size), pair=pair, bound="exact"
    )
    assert curve.exact_delta(exp_epsilon=x) == oracle.sampled_delta(n, size, p, x, pair)


@pytest.mark.parametrize("pair", [pytest.param((0, 1), marks=pytest.mark.campaign), None])
@pytest.mark.parametrize(("n", "p", "x"), [(4096, "1/100", "11/10"), (5000, "1/2", "101/100"), (1000, 0.3, "1.01")])
def test_large_counts(n, p, x, pair):
    """The integers are long enough for every algorithm of multiplication and division."""
    exact = oracle.delta(n, Fraction(p), Fraction(x), pair)
    assert count(n, p, pair).exact_delta(exp_epsilon=x) == exact


def test_a_very_large_count_is_one_probability_at_epsilon_zero():
    """Total variation is P[B = ⌈np⌉ − 1] for B ~ Bin(n − 1, p). For p = ½ this is the central binomial probability."""
    n = 60001
    assert count(n, "1/2").exact_delta(exp_epsilon=1) == Fraction(math.comb(n - 1, n // 2), 2 ** (n - 1))


@pytest.mark.parametrize(
    "row",
    [row for row in stored("hockey_stick_binomial") if row["n"] <= 10**4],
    ids=lambda row: f"{row['n']} {row['p']}",
)
def test_terms_of_stored_hockey_sticks(row):
    p = float.fromhex(row["p"]) if "0x" in row["p"] else row["p"]
    epsilon = Fraction(float.fromhex(row["epsilon"]) if "0x" in row["epsilon"] else row["epsilon"])
    for pair in oracle.DIRECTIONS:
        first, second = count(row["n"], p, pair).exact_terms(epsilon)
        lower, upper = (Fraction(end) for end in row[f"delta_{pair[0]}_{pair[1]}"])
        if upper < oracle.NEGLIGIBLE:
            continue
        ratio = oracle.exp_bounds(epsilon, bits=4096)
        assert first - ratio.upper * second <= upper
        assert lower <= first - ratio.lower * second


@given(n=st.integers(1, 80), p=UNIT, epsilon=st.fractions(0, 6, max_denominator=1000), pair=PAIR)
def test_terms_give_the_delta_of_the_oracle(n, p, epsilon, pair):
    first, second = count(n, p, pair).exact_terms(epsilon)
    ratio = oracle.exp_bounds(epsilon)
    truth = oracle.at_epsilon(lambda x: oracle.delta(n, p, x, pair), epsilon)
    assert first - ratio.upper * second <= truth.upper
    assert truth.lower <= first - ratio.lower * second
    assert 0 <= second <= 1
    assert 0 <= first <= 1


# --- ranges, known entries, partitions


@settings(deadline=None)
@given(n=st.integers(1, 20), ends=st.tuples(UNIT, UNIT), x=RATIO, pair=PAIR)
def test_ranges(n, ends, x, pair):
    low, high = sorted(ends)
    curve = count(n, low, pair)
    if low < high:
        curve = sp.privacy_curve(sp.PropertyQuery(sp.Between(low, high)), sp.Population(n), pair=pair)
    truth = oracle.range_supremum(n, low, high, x, pair)
    assert curve.exact_delta(exp_epsilon=x) == truth


@given(n=st.integers(2, 16), data=st.data(), p=UNIT, x=RATIO, pair=PAIR)
def test_known_entries_in_a_sample(n, data, p, x, pair):
    size, known = data.draw(st.integers(1, n)), data.draw(st.integers(0, n - 1))
    spc = sp.privacy_curve(
        sp.PropertyQuery(p),
        sp.Population(n),
        adversary=sp.Adversary(known=known),
        sampling=sp.WithoutReplacement(size),
        pair=pair,
        bound="spc",
    )
    assert spc.exact_delta(exp_epsilon=x) == oracle.spc(n, known, size, p, x, pair=pair)


@pytest.mark.parametrize("row", stored("spc_known_entries_exact"), ids=str)
def test_stored_sampling_privacy_curves(row):
    curve = sp.privacy_curve(
        sp.PropertyQuery(row["p"]),
        sp.Population(row["n"]),
        adversary=sp.Adversary(known=row["known"]),
        sampling=sp.WithoutReplacement(row["sample"]),
        bound="spc",
    )
    assert curve.exact_delta(exp_epsilon=row["exp_epsilon"]) == Fraction(*map(int, row["spc"]))


@pytest.mark.parametrize("row", stored("partition_exact"), ids=str)
def test_stored_partition_sums(row):
    queries = [sp.PropertyQuery(p, attribute=f"property {k}") for k, p in enumerate(row["p"])]
    curve = sp.compose(queries, sp.Population(row["n"]), sp.RandomPartition(row["sizes"]), bound="partition-sum")
    assert curve.exact_delta(exp_epsilon=row["exp_epsilon"]) == Fraction(*map(int, row["theorem_5_1"]))


@pytest.mark.parametrize("row", [row for row in stored("histogram_exact") if len(row["p"]) == 2], ids=str)
def test_stored_histograms_of_two_cells(row):
    curve = count(row["n"], row["p"][0])
    assert curve.exact_delta(exp_epsilon=row["exp_epsilon"]) == Fraction(*map(int, row["delta"]))


def test_sizes_and_known_entries_that_differ():
    n, known, x = 24, 5, Fraction(6, 5)
    parts = [(3, Fraction(1, 3)), (5, Fraction(2, 7)), (5, Fraction(2, 7)), (8, Fraction(9, 10))]
    queries = [sp.PropertyQuery(p, attribute=f"property {k}") for k, (_, p) in enumerate(parts)]
    partition = sp.RandomPartition([size for size, _ in parts])
    curve = sp.compose(queries, sp.Population(n), partition, adversary=sp.Adversary(known=known), bound="partition-sum")
    assert curve.exact_delta(exp_epsilon=x) == oracle.partition_sum(n, parts, x, known)
    first, second = curve.exact_terms("0.2")
    assert curve.delta("0.2").lower <= float(first) - math.exp(0.2) * float(second) + 1e-12


def test_thresholds_share_the_value_of_the_largest_of_their_block():
    situation = {"population": sp.Population(3000), "adversary": sp.Adversary(known=1200)}
    curves = {
        bound: sp.privacy_curve(
            sp.PropertyQuery("1/2"), sampling=sp.WithoutReplacement(900), bound=bound, **situation
        ).exact_delta(exp_epsilon="1.01")
        for bound in ("partition-sum", "threshold")
    }
    enclosed = sp.privacy_curve(
        sp.PropertyQuery("1/2"), sampling=sp.WithoutReplacement(900), bound="threshold", **situation
    ).delta
    assert curves["partition-sum"] < curves["threshold"]
    lower, upper = oracle.at_exp_epsilon(enclosed, Fraction("1.01"))
    assert Fraction(lower) <= curves["threshold"] <= Fraction(upper)
    assert upper - lower <= 1e-12 * upper


@pytest.mark.parametrize("x", [Fraction(1), Fraction(21, 20), Fraction(4)])
@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(3, 10)])
def test_enumerated_databases(p, x):
    """Every database of four entries, every sample of two, every answer."""
    laws = [{0: 1 - p, 1: p}] * 4
    whole = brute_force.privacy_curve(laws, brute_force.exactly(sum))
    assert count(4, p).exact_delta(exp_epsilon=x) == whole(x)
    sampled = brute_force.privacy_curve(laws, brute_force.partitioned([sum], 4, [2]))
    hidden = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(4), sampling=sp.WithoutReplacement(2))
    assert hidden.exact_delta(exp_epsilon=x) == sampled(x)
    spc = brute_force.sampling_privacy_curve(laws, sum, 2, known=[1])
    known = sp.privacy_curve(
        sp.PropertyQuery(p),
        sp.Population(4),
        sampling=sp.WithoutReplacement(2),
        adversary=sp.Adversary(known=1),
        bound="spc",
    )
    assert known.exact_delta(exp_epsilon=x) == spc(x)


# --- the exact value and the enclosure


@settings(deadline=None)
@given(n=st.integers(1, 3000), p=UNIT, x=st.fractions(1, 2, max_denominator=1000), pair=PAIR)
def test_the_enclosure_holds_the_exact_value(n, p, x, pair):
    curve = count(n, p, pair)
    exact = curve.exact_delta(exp_epsilon=x)
    lower, upper = oracle.at_exp_epsilon(curve.delta, x)
    assert oracle.Bounds(exact, exact).fault(lower, upper) == ""


# --- logarithms


@settings(deadline=None)
@given(n=st.integers(1, 3000), p=UNIT, epsilon=st.fractions(0, 12, max_denominator=100), pair=PAIR)
def test_logarithms(n, p, epsilon, pair):
    curve = count(n, p, pair)
    first, second = curve.exact_terms(epsilon)
    ratio = oracle.exp_bounds(epsilon, bits=60000)
    delta = oracle.Bounds(first - ratio.upper * second, first - ratio.lower * second)
    assert delta.lower > 0
    found = curve.log_delta(epsilon)
    assert Fraction(found.lower) <= oracle.log_bounds(delta.upper).upper
    assert oracle.log_bounds(delta.lower).lower <= Fraction(found.upper)
    assert found.width <= 1e-13 * max(1e-3, -found.upper)


# --- trade-off functions

Point = tuple[Fraction, Fraction]


def errors_of_tests(n: int, p: Fraction, pair: tuple[int, int]) -> list[Point]:
    """The errors (α, β) of the tests that reject the answers with the largest likelihood ratios, one by one."""
    others = [Fraction(weight, law.denominator) for law in [oracle.binomial(n - 1, p)] for weight in law.weights]
    laws = {0: [*others, Fraction(0)], 1: [Fraction(0), *others]}
    alternative, null = (laws[value] for value in pair)
    order = sorted(range(n + 1), key=lambda a: (null[a] > 0, -alternative[a] / null[a] if null[a] else 0))
    levels = accumulate((null[a] for a in order), initial=Fraction(0))
    errors = accumulate((-alternative[a] for a in order), initial=Fraction(1))
    return list(zip(levels, errors, strict=True))


def lower_hull(points: list[Point]) -> Callable[[Fraction], Fraction]:
    """The greatest convex function below all points."""
    hull: list[Point] = []
    for x, y in sorted(points):
        while len(hull) > 1 and (hull[-1][0] - hull[-2][0]) * (y - hull[-2][1]) <= (hull[-1][1] - hull[-2][1]) * (
            x - hull[-2][0]
        ):
            hull.pop()
        if not hull or x > hull[-1][0]:
            hull.append((x, y))

    def value(level: Fraction) -> Fraction:
        i = max(1, bisect_left([x for x, _ in hull], level))
        if len(hull) == 1:
            return hull[0][1]
        (x, y), (right, below) = hull[i - 1], hull[i]
        return y + (below - y) * (level - x) / (right - x)

    return value


@settings(deadline=None)
@given(n=st.integers(1, 40), p=UNIT, level=UNIT, pair=PAIR)
def test_no_test_does_better_and_one_does_as_well(n, p, level, pair):
    """The Neyman–Pearson tests for one pair. For both pairs, the convex hull of the errors of both directions."""
    points = [
        point
        for direction in (oracle.DIRECTIONS if pair is None else [pair])
        for point in errors_of_tests(n, p, direction)
    ]
    truth = lower_hull(points)(level)
    found = count(n, p, pair).beta(level)
    assert Fraction(found.lower) <= truth <= Fraction(found.upper)
    assert found.width <= 1e-13
    inverse = count(n, p, pair and (pair[1], pair[0])).beta(level)
    assert count(n, p, pair).alpha(level) == inverse


def hidden_sample(pair: oracle.Pair) -> sp.PrivacyCurve:
    sample = sp.WithoutReplacement(100)
    return sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(500), sampling=sample, pair=pair)


def range_of_p(pair: oracle.Pair) -> sp.PrivacyCurve:
    return sp.privacy_curve(sp.PropertyQuery(sp.Between("0.4", "0.55")), sp.Population(500), pair=pair)


def partition_with_known_entries(pair: oracle.Pair) -> sp.PrivacyCurve:
    queries, partition = [sp.PropertyQuery("0.3", attribute="a")] * 3, sp.RandomPartition([50, 60, 70])
    adversary = sp.Adversary(known=20)
    return sp.compose(queries, sp.Population(200), partition, adversary=adversary, pair=pair, bound="partition-sum")


@pytest.mark.parametrize("level", ["1e-9", "0.05", "0.5", "0.95"])
@pytest.mark.parametrize("pair", [(0, 1), None], ids=str)
@pytest.mark.parametrize("curve", [hidden_sample, range_of_p, partition_with_known_entries])
def test_the_trade_off_is_the_dual_of_the_curve(curve, pair, level):
    """No line of the dual lies above β, and the best line of a grid comes close."""
    beta, alpha = curve(pair).beta(level), float(level)
    curves = curve(pair), curve(pair and (pair[1], pair[0]))
    lines = [
        max(1 - curves[0].delta(epsilon).upper - math.exp(epsilon) * alpha, line_below_zero)
        for epsilon in (0.01 * k for k in range(200))
        for line_below_zero in [math.exp(-epsilon) * (1 - curves[1].delta(epsilon).upper - alpha)]
    ]
    assert beta.lower - 1e-3 <= max(0.0, *lines) <= beta.upper + 1e-14
    assert beta.width <= 1e-13
