"""Composed counts against a simulation: the tests that were made err as often as the certified curve says.

Every pair of values of the critical entry and every group that may hold it is simulated. The worst of them is what a
curve without a pair is about: its trade-off function is the convex hull of all their tests, and 1 − δ(ε) is the least
β + e^ε α, the least α + e^ε β being that of the tests of the other direction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import permutations, product
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import statpriv as sp

from ..cases import spread
from .simulation import FixedSizes, Mechanism, Numbers, RandomSizes, Values, lower_hull, margin

EPSILONS = (0, 0.05, 0.1, 0.3, 1)
ALPHAS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8)
RISK = 1e-9
"""Of a false alarm, in all of this file together."""


def one_group(sizes, n, p, attributes):
    return FixedSizes((n,), tuple((value,) for value in p), attributes, tuple((size,) for size in sizes))


ONE_PROPERTY = one_group((3, 4, 5), 12, (0.3,) * 3, (0, 0, 0))
ONE_PROPERTY_OF_SOME = one_group((2, 3, 2), 12, (0.3,) * 3, (0, 0, 0))
UNRELATED = one_group((6, 1), 7, (0.3, 0.3), (0, 1))
THREE_UNRELATED = one_group((2, 4, 1), 8, (0.2, 0.5, 0.75), (0, 1, 2))
STRATIFIED = FixedSizes((6, 4), ((0.2, 0.5), (0.2, 0.5)), (0, 0), ((2, 2), (3, 1)))
STRATIFIED_UNRELATED = FixedSizes((5, 4), ((0.25, 0.5), (0.4, 0.125)), (0, 1), ((2, 3), (3, 1)))
MULTINOMIAL = RandomSizes((8,), ((0.3,), (0.6,)), (0, 1), (0.5, 0.25))
MECHANISMS = {
    "one property": ONE_PROPERTY,
    "one property, some entries not used": ONE_PROPERTY_OF_SOME,
    "two unrelated properties": UNRELATED,
    "three unrelated properties": THREE_UNRELATED,
    "stratified": STRATIFIED,
    "stratified, unrelated properties": STRATIFIED_UNRELATED,
    "multinomial, unrelated properties": MULTINOMIAL,
}
each_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS.keys())
some_mechanisms = spread("mechanism", MECHANISMS.values(), few=3)


def certified(mechanism: Mechanism) -> sp.PrivacyCurve:
    """The same in the words of the library."""
    stratified = len(mechanism.groups) > 1
    queries = [
        sp.PropertyQuery(by_group(p) if stratified else str(p[0]), attribute=f"{attribute}")
        for p, attribute in zip(mechanism.p, mechanism.attributes, strict=True)
    ]
    population = sp.Population(groups=by_group(mechanism.groups)) if stratified else sp.Population(*mechanism.groups)
    if isinstance(mechanism, RandomSizes):
        partition = sp.MultinomialPartition(mechanism.weights)
    else:
        partition = sp.RandomPartition([by_group(part) if stratified else part[0] for part in mechanism.parts])
    curve = sp.compose(queries, population, partition)
    assert curve.kind == "exact"
    return curve


def by_group(numbers):
    return {f"group {g}": str(number) for g, number in enumerate(numbers)}


def rivals(mechanism: Mechanism) -> list[tuple[int, Values, Values]]:
    """Groups, and ordered pairs of values that differ in every attribute (others are no worse)."""
    vectors = list(product((0, 1), repeat=len(set(mechanism.attributes))))
    opposite = [(v, w) for v, w in permutations(vectors, 2) if all(a != b for a, b in zip(v, w, strict=True))]
    return [(group, v, w) for group in range(len(mechanism.groups)) for v, w in opposite]


ETA = margin(2 * sum(len(rivals(mechanism)) for mechanism in MECHANISMS.values()), RISK)


def all_errors(mechanism: Mechanism) -> Numbers:
    return np.concatenate([mechanism.errors(*rival) for rival in rivals(mechanism)])


def contradictions(delta: Callable[[float], float], errors: Numbers, epsilons: Iterable[float] = EPSILONS) -> list[str]:
    """Where 1 − δ(ε) is not the least β + e^ε α of the tests, whose errors are each off by η at most."""
    found = []
    for epsilon in epsilons:
        least = float(np.min(errors @ [exp(epsilon), 1]))
        off = ETA * (1 + exp(epsilon))
        if least + off < 1 - delta(epsilon):
            found.append(f"a test beats it at {epsilon}")
        if least - off > 1 - delta(epsilon):
            found.append(f"no test attains it at {epsilon}")
    return found


@pytest.mark.campaign  # alone it notices a rule and an oracle that are wrong alike
@each_mechanism
def test_the_best_tests_attain_the_certified_delta_and_none_beats_it(mechanism):
    curve, errors = certified(mechanism), all_errors(mechanism)
    assert contradictions(lambda epsilon: curve.delta(epsilon).upper, errors) == []
    assert contradictions(lambda epsilon: curve.delta(epsilon).lower, errors) == []


@some_mechanisms
def test_the_trade_off_of_the_tests_lies_in_a_band_around_the_certified_one(mechanism):
    curve, hull = certified(mechanism), lower_hull(all_errors(mechanism))
    for alpha in ALPHAS:
        beta = curve.beta(alpha)
        assert np.interp(alpha + ETA, *hull.T) - ETA <= beta.lower
        assert beta.upper <= np.interp(alpha - ETA, *hull.T) + ETA


@some_mechanisms
@pytest.mark.parametrize(("factor", "message"), [(0.9, "a test beats it"), (1.1, "no test attains it")])
def test_a_wrong_curve_is_caught(mechanism, factor, message):
    curve, errors = certified(mechanism), all_errors(mechanism)
    found = contradictions(lambda epsilon: factor * curve.delta(epsilon).upper, errors)
    assert found
    assert all(text.startswith(message) for text in found)


def test_a_mixed_pattern_is_needed_to_attain_it():
    """Two properties of p = 0.3: one 0 against 1 and the other 1 against 0 is worse than both alike."""
    curve = certified(UNRELATED)
    alike = np.concatenate([UNRELATED.errors(0, v, w) for v, w in permutations([(0, 0), (1, 1)])])
    assert "no test attains it at 0.1" in contradictions(lambda epsilon: curve.delta(epsilon).upper, alike)
    worst = UNRELATED.errors(0, *zip(*curve.worst_case_pairs("0.1"), strict=True))
    assert contradictions(lambda epsilon: curve.delta(epsilon).upper, worst, [0.1]) == []


probabilities = st.sampled_from([0, 0.1, 0.3, 0.5, 0.8, 1])


@given(
    p=st.tuples(probabilities, probabilities),
    sizes=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    unused=st.integers(0, 2),
    weights=st.sampled_from([(0.5, 0.5), (0.1, 0.9), (0.3, 0.2)]),
    epsilon=st.sampled_from([0, 0.05, 0.5, 2]),
)
def test_values_that_agree_in_an_attribute_need_not_be_tried(p, sizes, unused, weights, epsilon):
    """The worst pair of vectors differs in both attributes: neither `rivals` nor the library tries another."""
    n, by_part = sum(sizes) + unused, tuple((value,) for value in p)
    fixed = FixedSizes((n,), by_part, (0, 1), tuple((size,) for size in sizes))
    for mechanism in (fixed, RandomSizes((n,), by_part, (0, 1), weights)):
        laws = {v: mechanism.likelihoods(0, v) for v in product((0, 1), repeat=2)}
        delta = {(v, w): np.sum(np.maximum(0, laws[v] - exp(epsilon) * laws[w])) for v, w in permutations(laws, 2)}
        opposite = [delta[v, w] for _, v, w in rivals(mechanism)]
        # Sums of some hundred doubles below 1, rounded.
        assert max(delta.values()) <= max(opposite) + 1e-12


def test_a_person_whose_part_is_known_is_not_what_the_curve_is_about():
    """The bound of Theorem 5.1 is the curve of published partitions, which the secret one stays well below."""
    queries = [sp.PropertyQuery("0.3", attribute="0")] * 3
    bound = sp.compose(queries, sp.Population(12), sp.RandomPartition([3, 4, 5]), bound="partition-sum")
    errors = all_errors(ONE_PROPERTY)
    assert "no test attains it at 0" in contradictions(lambda epsilon: bound.delta(epsilon).upper, errors)
