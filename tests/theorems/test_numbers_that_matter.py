"""Histograms, published Poisson samples and entries that may not matter, against every database of a few entries."""

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb

import pytest

from statpriv._native import Curve, exact_delta, exact_terms

from ..oracle import oracle
from . import brute_force

X_VALUES = (Fraction(1), Fraction(21, 20), Fraction(3, 2), Fraction(4))
CELLS = [
    ("1/2", "1/2"),
    ("1/5", "3/10", "1/2"),
    ("1/4", "1/4", "1/2"),
    ("1/6", "1/3", "1/12", "5/12"),
    ("0", "1/3", "2/3"),
    ("0", "0", "1"),
]


def table(entries: brute_force.Database) -> tuple[brute_force.Value, ...]:
    """A histogram says which values there are and how often, in no order."""
    return tuple(sorted(entries))


def poisson(rate: Fraction) -> brute_force.Mechanism:
    """The size and the number of ones of a sample that takes each entry with probability ``rate``."""

    def mechanism(database: brute_force.Database) -> brute_force.Law:
        law: defaultdict[tuple[int, int], Fraction] = defaultdict(Fraction)
        for size in range(len(database) + 1):
            for chosen in combinations(database, size):
                law[size, sum(chosen)] += rate**size * (1 - rate) ** (len(database) - size)
        return law

    return mechanism


def fault(curve: Curve, truth: brute_force.Curve) -> str:
    """The first x at which a tier is wrong or wide; empty where none is."""
    for x in X_VALUES:
        value = truth(x)
        if exact_delta(curve, x) != value:
            return f"exactly {exact_delta(curve, x)} at e^epsilon = {x}, truth {value}"
        found = oracle.at_exp_epsilon(curve.delta, x)
        if wrong := oracle.Bounds(value, value).fault(*found):
            return f"{wrong} at e^epsilon = {x}: {found}, truth {float(value)!r}"
    return ""


@pytest.mark.parametrize("cells", CELLS, ids=str)
@pytest.mark.parametrize(("population", "size"), [(1, 1), (2, 1), (3, 2), (3, 3), (4, 2), (4, 4)])
def test_a_histogram_of_a_sample(population, size, cells):
    law = {cell: Fraction(p) for cell, p in enumerate(cells)}
    mechanism = brute_force.partitioned([table], population, [size])
    for pair in [None, *permutations(range(len(cells)), 2)]:
        truth = brute_force.privacy_curve([law] * population, mechanism, pairs=None if pair is None else [pair])
        assert fault(Curve.sampled_histogram(population=population, size=size, cells=cells, pair=pair), truth) == ""
        if size == population:
            assert fault(Curve.histogram(size=size, cells=cells, pair=pair), truth) == ""


@pytest.mark.parametrize("p", ["1/2", "3/10", "7/8", "0", "1"])
@pytest.mark.parametrize("rate", ["1/2", "1/7", "9/10", "1"])
@pytest.mark.parametrize("population", [1, 2, 3, 5])
def test_a_poisson_sample_whose_size_is_published(population, rate, p):
    entry = {0: 1 - Fraction(p), 1: Fraction(p)}
    for pair in [None, (1, 0), (0, 1)]:
        pairs = [(1, 0), (0, 1)] if pair is None else [pair]
        truth = brute_force.privacy_curve([entry] * population, poisson(Fraction(rate)), pairs=pairs)
        assert fault(Curve.poisson_published(population=population, rate=rate, p=p, pair=pair), truth) == ""


def sampling_privacy_curve(law: brute_force.Law, entries: int, known: int, rate: Fraction) -> brute_force.Curve:
    """Definition 3.3 for a Poisson sample that holds entry 0: the mean over the published templates."""
    weighted = []
    for taken in product([False, True], repeat=entries - 1):
        template = [0, *(i + 1 for i, chosen in enumerate(taken) if chosen)]
        curve = brute_force.privacy_curve(
            [law] * len(template), brute_force.exactly(sum), known=[i for i, j in enumerate(template) if 0 < j <= known]
        )
        share = rate ** sum(taken) * (1 - rate) ** (entries - 1 - sum(taken))
        weighted.append((share, curve))
    return lambda x: sum((share * curve(x) for share, curve in weighted), Fraction(0))


@pytest.mark.parametrize("p", ["1/2", "3/10"])
@pytest.mark.parametrize(("entries", "known"), [(1, 0), (3, 0), (4, 1), (5, 3), (5, 4)])
def test_the_sampling_curve_of_a_poisson_sample(entries, known, p):
    """Known entries and those outside the sample do not matter: u known ones leave ``Bin(n−1−u, rate)`` others."""
    rate = Fraction(2, 7)
    truth = sampling_privacy_curve({0: 1 - Fraction(p), 1: Fraction(p)}, entries, known, rate)
    unknown = entries - 1 - known
    curve = Curve.irrelevant_entries(size=unknown + 1, others=unknown, irrelevant=1 - rate, lower=p, upper=p)
    assert fault(curve, truth) == ""
    for thresholds in (1, 2):
        bound = Curve.irrelevant_entries(
            size=unknown + 1, others=unknown, irrelevant=1 - rate, lower=p, upper=p, thresholds=thresholds
        )
        assert all(exact_delta(bound, x) >= truth(x) for x in X_VALUES)


def by_definition(size: int, cells: Sequence[Fraction], x: Fraction) -> Fraction:
    """``Σ max(0, P_v − x P_w)`` over the numbers in the cells v and w, in integers; the largest over all pairs."""

    def direction(v: Fraction, w: Fraction) -> Fraction:
        def mass(a: int, b: int) -> Fraction:
            if a < 0 or b < 0:
                return Fraction(0)
            rest = size - 1 - a - b
            return comb(size - 1, a) * comb(size - 1 - a, b) * v**a * w**b * (1 - v - w) ** rest if rest >= 0 else 0

        answers = ((a, b) for a in range(size + 1) for b in range(size + 1 - a))
        return sum((max(Fraction(0), mass(a - 1, b) - x * mass(a, b - 1)) for a, b in answers), Fraction(0))

    return max(direction(v, w) for v, w in permutations(cells, 2))


@pytest.mark.parametrize("cells", [("1/20", "1/4", "7/10"), ("1/3", "1/3", "1/3"), ("2/5", "2/5", "1/10", "1/10")])
def test_a_histogram_of_more_entries(cells):
    shares = [Fraction(cell) for cell in cells]
    for size, x in product((11, 30), (Fraction(1), Fraction(11, 10), Fraction(3))):
        curve = Curve.histogram(size=size, cells=cells)
        assert exact_delta(curve, x) == by_definition(size, shares, x)
    first, second = exact_terms(curve, "0.1")
    value = curve.delta("0.1")
    gap = first - oracle.exp_bounds(Fraction(1, 10)).lower * second
    assert abs(gap - Fraction(value.midpoint)) <= Fraction(1, 10**12)


def test_floats_are_the_rationals_that_they_store():
    with pytest.raises(ValueError, match=r"cells add up to .*; exactly 1 is required: give exact numbers") as refusal:
        Curve.histogram(size=3, cells=[0.1, 0.2, 0.7])
    assert "Fraction(1, 3)" in str(refusal.value)
    # None, one or both of two others in the cells, with 1/4, 1/2, 1/4: total variations 1, 1/2, 1/2.
    found = Curve.histogram(size=3, cells=[0.25, 0.25, 0.5]).delta(0)
    assert (found.lower, found.upper) == (0.625, 0.625)


def test_cells_that_there_are_not_are_refused():
    for pair in [(-1, 0), (0, 3), (1, 1)]:
        with pytest.raises(ValueError, match=r"pair "):
            Curve.histogram(size=3, cells=["1/3", "1/3", "1/3"], pair=pair)
    with pytest.raises(ValueError, match=r"pair = \(2, 0\); \(1, 0\), \(0, 1\) or None is required for a property"):
        Curve.poisson_published(population=3, rate="1/2", p="1/2", pair=(2, 0))
    with pytest.raises(ValueError, match=r"cells\[1\]"):
        Curve.histogram(size=3, cells=["1/2", float("nan")])
