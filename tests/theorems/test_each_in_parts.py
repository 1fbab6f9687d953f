"""Parts that ask different things of rows that each have a law of their own, against every partition."""

from fractions import Fraction
from functools import reduce
from itertools import combinations, pairwise, product
from math import exp, log, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv.lowering.dominating_pairs import dominating_pairs
from statpriv.rules import each_in_parts
from statpriv.rules.own_count import CountOfEach

from ..cases import cases

FORMATS = [([1, 1], 3), ([1, 1, 1], 3), ([2, 2], 4), ([1, 2], 4), ([2, 1, 2], 5), ([1, 1, 2], 5), ([2, 2, 2], 6)]
FORMATS += [([1, 1, 1, 1], 4), ([1, 2, 1, 1], 5), ([1, 1, 1, 1, 1], 5)]


def partitions(rows, sizes):
    """Every way to draw the parts, one after the other."""
    if not sizes:
        yield ()
        return
    for part in combinations(sorted(rows), sizes[0]):
        for others in partitions(rows - set(part), sizes[1:]):
            yield (part, *others)


def law_of(shares):
    return reduce(np.convolve, [np.array([1 - p, p]) for p in shares], np.ones(1))


def by_definition(shares, attributes, sizes, values, ratio):
    """δ of all answers for a critical row 0: `shares[i][k]` is the probability of row i in attribute k."""
    masses, number = [0.0, 0.0], 0
    for parts in partitions(set(range(len(shares))), sizes):
        number += 1
        for side in (0, 1):
            laws = [
                law_of([values[side][k] if row == 0 else shares[row][k] for row in part])
                for k, part in zip(attributes, parts, strict=True)
            ]
            masses[side] = masses[side] + reduce(np.multiply.outer, laws)
    return float(np.maximum(masses[0] - ratio * masses[1], 0).sum()) / number


@settings(max_examples=cases(20, campaign=3000), deadline=None)
@given(st.sampled_from(FORMATS), st.data())
def test_rows_with_laws_of_their_own_are_within_the_bound_of_representatives(table, data):
    sizes, n = table
    attributes = data.draw(st.sampled_from([list(range(len(sizes))), [0, *range(len(sizes) - 1)]]))
    ranges = data.draw(
        st.lists(st.tuples(*[st.integers(0, 20)] * 2).map(sorted), min_size=len(sizes), max_size=len(sizes))
    )
    shares = [[data.draw(st.sampled_from([low, high])) / 20 for low, high in ranges] for _ in range(n)]
    first = [data.draw(st.integers(0, 1)) for _ in ranges]
    values, ratio = (first, [1 - value for value in first]), data.draw(st.sampled_from([1.0, 1.05, 1.5, 4.0]))
    queries = [
        sp.PropertyQuery(sp.EachBetween(*(Fraction(end, 20) for end in ranges[k])), attribute=str(k))
        for k in attributes
    ]
    curve = sp.compose(queries, sp.Population(n), sp.RandomPartition(sizes), bound="representatives")
    truth = by_definition(shares, attributes, sizes, values, ratio)
    assert truth <= curve.delta(log(ratio)).upper * (1 + 1e-9) + 1e-12


def test_rows_that_take_sides_are_within_the_bound_too():
    """All rows are used, and each has a law of its own in every attribute, so that places tell most."""
    asked = [sp.PropertyQuery(sp.EachBetween("0.05", "0.95"), attribute=name) for name in "abc"]
    bound = sp.compose(asked, sp.Population(3), sp.RandomPartition([1, 1, 1]), bound="representatives").delta(0)
    truth = 0.0
    for ends in product((0.05, 0.95), repeat=6):
        shares = [[0.5] * 3, list(ends[:3]), list(ends[3:])]
        truth = max(truth, by_definition(shares, [0, 1, 2], [1, 1, 1], ([1, 1, 1], [0, 0, 0]), 1.0))
    assert truth <= bound.upper


PARTS = [(316, "0.48", "0.64"), (314, "0.42", "0.58"), (314, "0.22", "0.32")]


@pytest.mark.campaign  # alone it notices a width for surveys
@pytest.mark.parametrize(("n", "within"), [(944, 1.02), (1000, 1.02)])
def test_a_survey_of_three_parts_costs_as_if_all_shared_their_probabilities(n, within):
    """And a fifth of the sum over the parts, whether all rows are used or not."""
    sizes, partition = [size for size, *_ in PARTS], sp.RandomPartition([size for size, *_ in PARTS])
    each, shared = (
        [sp.PropertyQuery(of(low, high), attribute=str(k)) for k, (_, low, high) in enumerate(PARTS)]
        for of in (sp.EachBetween, sp.Between)
    )
    found = sp.compose(each, sp.Population(n), partition).delta("0.1").upper
    assert sum(sizes) == 944
    assert found <= within * sp.compose(shared, sp.Population(n), partition).delta("0.1").upper
    assert 5 * found <= sp.compose(each, sp.Population(n), partition, bound="partition-sum").delta("0.1").upper


@pytest.mark.campaign  # alone it notices an order of bounds
@settings(max_examples=cases(3, campaign=100), deadline=None)
@given(
    st.lists(st.tuples(st.integers(2, 400), st.tuples(*[st.integers(1, 19)] * 2).map(sorted)), min_size=2, max_size=3),
    st.integers(0, 50),
    st.floats(0, 0.5),
)
def test_rows_of_their_own_never_look_safer_than_rows_that_share(parts, unused, epsilon):
    sizes = [size for size, _ in parts]
    each, shared = (
        sp.compose(
            [
                sp.PropertyQuery(of(Fraction(low, 20), Fraction(high, 20)), attribute=str(k))
                for k, (_, (low, high)) in enumerate(parts)
            ],
            sp.Population(sum(sizes) + unused),
            sp.RandomPartition(sizes),
        ).delta(epsilon)
        for of in (sp.EachBetween, sp.Between)
    )
    assert shared.lower <= each.upper


def test_dozens_of_equal_parts_are_prepared_once():
    """Forty parts of two questions with one range are one kind of part."""
    asked = [sp.PropertyQuery(sp.EachBetween("0.41", "0.59"), attribute=name) for name in "ab"]
    before = each_in_parts._any_rows.cache_info().misses
    release = (asked * 20, sp.Population(805), sp.RandomPartition([20] * 40))
    curve = sp.compose(*release, bound="representatives")
    assert each_in_parts._any_rows.cache_info().misses - before == 1
    assert 20 * curve.delta("0.1").upper < sp.compose(*release, bound="partition-sum").delta("0.1").upper


@settings(max_examples=cases(30, campaign=500), deadline=None)
@given(st.lists(st.integers(1, 2**20).map(lambda k: Fraction(k, 2**22)), min_size=1, max_size=9))
def test_what_representatives_add_is_the_sum_over_sets_of_others(spreads):
    for found, own in zip(each_in_parts._norms_of_others(spreads), range(len(spreads)), strict=True):
        others = spreads[:own] + spreads[own + 1 :]
        sums = [sum(map(prod, combinations(others, u)), Fraction(0)) for u in range(len(others) + 1)]
        pairs = sums[2] / (4 * (len(others) - 1)) if len(others) > 1 else 0
        assert found == pairs + sum(sums[3:], Fraction(0)) / 4


@pytest.mark.campaign  # alone it notices a bound that rises with ε
def test_the_bound_does_not_rise():
    each = [sp.PropertyQuery(sp.EachBetween("0.3", "0.6"), attribute=name) for name in "abc"]
    curve = sp.compose(each, sp.Population(90), sp.RandomPartition([30] * 3), bound="representatives")
    found = [curve.delta(k / 4).upper for k in range(16)]
    assert all(after <= before for before, after in pairwise(found))


@settings(max_examples=cases(4, campaign=200), deadline=None)
@given(st.integers(1, 40), st.tuples(*[st.integers(0, 20)] * 2).map(sorted), st.floats(0, 3), st.data())
def test_a_dominating_pair_is_at_least_every_pair_in_both_directions(size, ends, epsilon, data):
    low, high = (Fraction(end, 20) for end in ends)
    count = CountOfEach(low, high)
    others = law_of([float(data.draw(st.sampled_from([low, high]))) for _ in range(size - 1)])
    one, zero = np.append(0.0, others), np.append(others, 0.0)
    pairs = dominating_pairs(count.of(size, (1, 0)), count.of(size, (0, 1)))
    for (first, second), true in zip(pairs, [(one, zero), (zero, one)], strict=True):
        masses = np.array([first, second], dtype=float)
        assert masses.min() >= 0
        assert masses.sum(axis=1) == pytest.approx(1)
        for ratio in (exp(epsilon), exp(-epsilon)):
            dominating = np.maximum(masses[0] - ratio * masses[1], 0).sum()
            assert dominating >= np.maximum(true[0] - ratio * true[1], 0).sum() * (1 - 1e-9) - 1e-12


def test_what_is_not_covered_says_so():
    each = [sp.PropertyQuery(sp.EachBetween("0.3", "0.6"), attribute=name) for name in "ab"]
    with pytest.raises(sp.NotAvailableError, match="some entries are known"):
        sp.compose(
            each, sp.Population(9), sp.RandomPartition([4, 4]), adversary=sp.Adversary(known=1), bound="representatives"
        )
