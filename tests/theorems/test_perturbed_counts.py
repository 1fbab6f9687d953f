"""Cell keys and random rounding, against sums over all databases that share no code with them."""

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise, product
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp

from ..cases import cases

MULTIPLIERS = (Fraction(1), Fraction(21, 20), Fraction(3, 2), Fraction(5))
SMALL = ({0: 1}, {-1: "1/2", 1: "1/2"}, {-1: "1/4", 0: "1/2", 1: "1/4"})
WIDE = (
    {0: 1},
    {-1: "0.4", 0: "0.3", 1: "0.2", 3: "0.1"},
    {-2: "0.1", 0: "0.8", 2: "0.1"},
    {-2: "1/3", 0: "1/3", 2: "1/3"},
)
TABLES = {"small": (SMALL, 1), "wide": (WIDE, 1), "in turn": (WIDE, 3)}
STEPS = {
    **{name: sp.noise.CellKey(table, repeat=repeat) for name, (table, repeat) in TABLES.items()},
    "rounded to 2": sp.RandomRounding(2),
    "rounded to 5": sp.RandomRounding(5),
}


def drawn(name, count):
    """The law of what is published, from the tables and the definition of random rounding."""
    if name in TABLES:
        table, repeat = TABLES[name]
        while count >= len(table):
            count -= repeat
        return {added: Fraction(mass) for added, mass in table[count].items()}
    base = int(name[-1])
    up = Fraction(count % base, base)
    return {-(count % base): 1 - up, base - count % base: up}


def published(name, count):
    return {count + added: mass for added, mass in drawn(name, count).items()}


def mixture(law, channel):
    mixed = defaultdict(Fraction)
    for outcome, mass in law.items():
        for seen, chance in channel(outcome).items():
            mixed[seen] += mass * chance
    return mixed


def binomial(n, p, plus=0):
    return {k + plus: comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)}


def stick(first, second, x):
    return sum((max(Fraction(0), first[outcome] - x * second.get(outcome, 0)) for outcome in first), Fraction(0))


def worst(laws, x):
    return max(max(stick(one, other, x), stick(other, one, x)) for one, other in laws)


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("known", [0, 1, 3, 6])
def test_one_count_is_exact(name, known):
    n, p = 7, Fraction(1, 3)
    curve = sp.privacy_curve(
        sp.PropertyQuery(p).noisy(STEPS[name]), sp.Population(n), adversary=sp.Adversary(known=known)
    )
    pairs = [
        [mixture(binomial(n - 1 - known, p, ones + value), lambda count: published(name, count)) for value in (0, 1)]
        for ones in range(known + 1)
    ]
    assert curve.kind == "exact"
    for x in MULTIPLIERS:
        assert curve.exact_delta(exp_epsilon=x) == worst(pairs, x)


@pytest.mark.parametrize("name", STEPS)
def test_a_pair_has_its_direction(name):
    laws = [mixture(binomial(6, Fraction(1, 4), value), lambda count: published(name, count)) for value in (0, 1)]
    for pair in ((0, 1), (1, 0)):
        curve = sp.privacy_curve(sp.PropertyQuery("1/4").noisy(STEPS[name]), sp.Population(7), pair=pair)
        first, second = (laws[value] for value in pair)
        assert all(curve.exact_delta(exp_epsilon=x) == stick(first, second, x) for x in MULTIPLIERS)


@pytest.mark.parametrize("name", STEPS)
def test_alone_it_protects_as_two_neighbouring_counts_tell(name):
    neighbours = [(published(name, c), published(name, c + 1)) for c in range(40)]
    curve = sp.perturbation_curve(STEPS[name])
    for x in MULTIPLIERS:
        assert curve.exact_delta(exp_epsilon=x) == worst(neighbours, x)
    of_many = sp.privacy_curve(sp.PropertyQuery("1/2").noisy(STEPS[name]), sp.Population(50), bound="noise")
    assert all(of_many.exact_delta(exp_epsilon=x) == worst(neighbours, x) for x in MULTIPLIERS)


@pytest.mark.parametrize("name", STEPS)
def test_alone_it_is_the_exact_curve_of_who_knows_all_others(name):
    query, everyone = sp.PropertyQuery("1/2").noisy(STEPS[name]), sp.Population(12)
    exact = sp.privacy_curve(query, everyone, adversary=sp.Adversary(known=11))
    alone = sp.privacy_curve(query, everyone, bound="noise")
    assert all(exact.exact_delta(exp_epsilon=x) == alone.exact_delta(exp_epsilon=x) for x in MULTIPLIERS)


@pytest.mark.parametrize("name", STEPS)
def test_two_counts_have_draws_of_their_own(name):
    """Every choice of two counts stays below the bound, and some choice comes near it."""
    laws = [published(name, c) for c in range(9)]
    ways = {2: ((1, 1), (0, 0)), (1, 1): ((1, 0), (0, 1))}
    for counts, values in ways.items():
        curve = sp.perturbation_curve(STEPS[name], counts=counts)
        for epsilon in ("0", "0.25", "1", "3"):
            bound, x = curve.delta(epsilon), Fraction(_exponential(epsilon)[1])
            truth = max(
                stick(*(_product(laws[a + v], laws[b + w]) for v, w in order), x)
                for a, b in product(range(8), repeat=2)
                for order in (values, values[::-1])
            )
            assert truth <= Fraction(bound.upper)
            assert bound.lower <= 1.3 * float(truth) + 1e-12


def _exponential(epsilon):
    import mpmath

    with mpmath.workdps(30):
        value = mpmath.exp(mpmath.mpf(epsilon))
        return float(value) * (1 - 1e-15), float(value) * (1 + 1e-15)


def _product(one, other):
    return {(a, b): first * second for a, first in one.items() for b, second in other.items()}


@given(st.data())
@settings(max_examples=cases(15, campaign=500))
def test_no_counts_of_a_random_table_are_told_apart_better(data):
    def row(count):
        changes = data.draw(st.lists(st.integers(-min(count, 3), 3), min_size=1, max_size=4, unique=True))
        weights = data.draw(st.lists(st.integers(1, 9), min_size=len(changes), max_size=len(changes)))
        return {change: Fraction(weight, sum(weights)) for change, weight in zip(changes, weights, strict=True)}

    table = [row(count) for count in range(data.draw(st.integers(1, 4)))]
    step = sp.noise.CellKey(table)
    laws = [{c + a: mass for a, mass in table[min(c, len(table) - 1)].items()} for c in range(len(table) + 3)]
    alone = sp.perturbation_curve(step)
    n, p = data.draw(st.integers(1, 5)), Fraction(data.draw(st.integers(1, 9)), 10)
    counted = sp.privacy_curve(sp.PropertyQuery(p).noisy(step), sp.Population(n))
    both = [
        mixture(binomial(n - 1, p, v), lambda c: {c + a: m for a, m in table[min(c, len(table) - 1)].items()})
        for v in (0, 1)
    ]
    for x in MULTIPLIERS:
        assert alone.exact_delta(exp_epsilon=x) == worst(list(pairwise(laws)), x)
        assert counted.exact_delta(exp_epsilon=x) == worst([both], x) <= alone.exact_delta(exp_epsilon=x)


@pytest.mark.parametrize("name", STEPS)
def test_counts_of_secret_parts_are_composed(name):
    n, sizes, p = 6, (2, 3), Fraction(2, 5)
    curve = sp.compose(
        [sp.PropertyQuery(p, attribute="a").noisy(STEPS[name])] * 2, sp.Population(n), sp.RandomPartition(sizes)
    )
    laws = []
    for value in (0, 1):
        law = defaultdict(Fraction)
        for mine, chance in ((0, Fraction(2, n)), (1, Fraction(3, n)), (None, Fraction(1, n))):
            counts = [
                mixture(binomial(size - (part == mine), p, value * (part == mine)), lambda c: published(name, c))
                for part, size in enumerate(sizes)
            ]
            for outcome, mass in _product(*counts).items():
                law[outcome] += chance * mass
        laws.append(law)
    assert curve.kind == "exact"
    assert all(curve.exact_delta(exp_epsilon=x) == worst([laws], x) for x in MULTIPLIERS)


@pytest.mark.parametrize("name", ["small", "rounded to 5"])
def test_a_sample_is_no_less_private_than_the_perturbation_alone(name):
    n, size, p = 6, 3, Fraction(1, 3)
    query, everyone, sampling = sp.PropertyQuery(p).noisy(STEPS[name]), sp.Population(n), sp.WithoutReplacement(size)
    laws = []
    for value in (0, 1):
        law = defaultdict(Fraction)
        for chance, count in (
            (Fraction(size, n), binomial(size - 1, p, value)),
            (1 - Fraction(size, n), binomial(size, p)),
        ):
            for outcome, mass in mixture(count, lambda c: published(name, c)).items():
                law[outcome] += chance * mass
        laws.append(law)
    exact = sp.privacy_curve(query, everyone, sampling=sampling)
    alone = sp.privacy_curve(query, everyone, sampling=sampling, bound="noise")
    for x in MULTIPLIERS:
        assert exact.exact_delta(exp_epsilon=x) == worst([laws], x) <= alone.exact_delta(exp_epsilon=x)


@pytest.mark.parametrize("counts", [1, 2, (1, 1)])
def test_the_data_protect_nothing_where_all_others_are_known(counts):
    """No bound by the data may stand beside that of the perturbation."""
    curve = sp.perturbation_curve(STEPS["small"], counts=counts)
    others = [row for row in curve.compare(1) if row.bound != "noise"]
    assert all(row.delta.lower == 1 for row in others)
    assert "≤ 1 by the data alone" in curve.explain()


@pytest.mark.parametrize("name", STEPS)
def test_a_histogram_of_perturbed_cells_has_two_that_change(name):
    query = sp.HistogramQuery(["1/2", "1/4", "1/4"]).noisy(STEPS[name])
    bound = sp.privacy_curve(query, sp.Population(3), bound="noise")
    seen = [
        (_cells(name, others, v), _cells(name, others, w))
        for others in ((a, b, 2 - a - b) for a in range(3) for b in range(3 - a))
        for v, w in ((0, 1), (0, 2), (1, 2))
    ]
    for epsilon, x in (("0", Fraction(1)), ("0.5", Fraction(_exponential("0.5")[1]))):
        assert worst(seen, x) <= Fraction(bound.delta(epsilon).upper)


def _cells(name, others, value):
    counts = [count + (cell == value) for cell, count in enumerate(others)]
    law = {(): Fraction(1)}
    for count in counts:
        law = {
            (*seen, one): mass * chance for seen, mass in law.items() for one, chance in published(name, count).items()
        }
    return law


def test_later_steps_merge_what_is_published():
    """Counts below three are suppressed after rounding at random: what small counts had told is gone."""
    counts = sp.PropertyQuery("1/2").randomly_rounded(3)
    kept = sp.privacy_curve(counts.thresholded(8), sp.Population(8), bound="noise")
    laws = [
        mixture(published("rounded to 3", c), lambda seen: {seen if seen > 8 else None: Fraction(1)}) for c in range(9)
    ]
    pairs = list(pairwise(laws))
    assert all(kept.exact_delta(exp_epsilon=x) == worst(pairs, x) for x in MULTIPLIERS)


@pytest.mark.parametrize("base", [2, 3, 10])
def test_random_rounding_is_unbiased_and_told_apart_by_one_part_of_the_base(base):
    step = sp.RandomRounding(base)
    for count in range(3 * base):
        law = step.law_for(count)
        assert sum(seen * mass for seen, mass in law.items()) == count
        assert sum(law.values()) == 1
    curve = sp.perturbation_curve(step)
    assert curve.exact_delta(exp_epsilon=1) == Fraction(1, base) == curve.exact_delta(exp_epsilon=10**6)


def test_millions_of_rows_take_no_longer_than_the_kernel_does():
    for step in (STEPS["wide"], sp.RandomRounding(3)):
        rounded = sp.privacy_curve(sp.PropertyQuery("1/2").noisy(step), sp.Population(10**6)).delta("0.001")
        exact = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(10**6)).delta("0.001")
        assert 0.999 * exact.lower < rounded.upper <= exact.upper
