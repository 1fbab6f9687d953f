"""Properties of every privacy curve, whatever its formula: hypothesis searches for a counterexample.

Only certain relations can be tested for enclosures: "a ≤ b" is refuted if a.lower > b.upper.
"""

from decimal import Decimal
from fractions import Fraction
from math import inf, log

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import statpriv as sp

from ..cases import cases
from ..oracle import oracle

ROOM = Fraction(1, 10**12)
sizes = st.one_of(st.integers(1, 30), st.integers(1, 20_000))
probabilities = st.one_of(
    st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000),
    st.floats(1e-9, 1 - 1e-9),
    st.floats(1e-300, 1e-9),
)
epsilons = st.one_of(st.just(0.0), st.floats(0, 0.2), st.floats(0, 5), st.floats(0, 700))
pairs = st.sampled_from([(1, 0), (0, 1), None])
deltas = st.one_of(
    st.fractions(Fraction(1, 10**6), Fraction(1), max_denominator=10**6),
    st.floats(-300, 0).map(lambda exponent: Fraction(10**exponent)),
)


def count(n, p, pair=None, **options):
    return sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), pair=pair, **options)


def same(first, second) -> bool:
    """Two enclosures of one number overlap."""
    return first.lower <= second.upper and second.lower <= first.upper


@given(sizes, probabilities, epsilons, epsilons, pairs)
def test_it_never_rises_in_epsilon(n, p, first, second, pair):
    curve = count(n, p, pair)
    assert curve.delta(max(first, second)).lower <= curve.delta(min(first, second)).upper


@given(
    st.integers(1, 500),
    probabilities,
    st.lists(st.fractions(1, 8, max_denominator=64), min_size=3, max_size=3),
    pairs,
)
def test_it_is_convex_in_exp_epsilon(n, p, points, pair):
    """A chord in x = e^epsilon lies above the curve; the chord's ends are rounded to the safe side."""
    left, middle, right = sorted(points)
    assume(left < middle < right)
    curve = count(n, p, pair)
    ends = {x: oracle.at_exp_epsilon(curve.delta, x) for x in (left, middle, right)}
    share = (right - middle) / (right - left)
    chord = share * Fraction(ends[left][1]) + (1 - share) * Fraction(ends[right][1])
    assert Fraction(ends[middle][0]) <= chord


def test_it_is_not_convex_in_epsilon():
    """The counterexample of three fair entries: convexity holds in e^epsilon, not in epsilon."""
    curve = count(3, "1/2")
    left, middle, right = (curve.delta(epsilon) for epsilon in (0.0, log(2) / 2, log(2)))
    assert middle.lower > (left.upper + right.upper) / 2


@given(sizes, probabilities, epsilons)
def test_the_maximum_is_the_larger_direction(n, p, epsilon):
    one_zero, zero_one = (count(n, p, pair).delta(epsilon) for pair in oracle.DIRECTIONS)
    larger = count(n, p).delta(epsilon)
    assert max(one_zero.lower, zero_one.lower) <= larger.upper
    assert larger.lower <= max(one_zero.upper, zero_one.upper)


@given(sizes, st.fractions(Fraction(1, 10**6), 1 - Fraction(1, 10**6)), epsilons)
def test_the_directions_are_mirror_images(n, p, epsilon):
    assert same(count(n, p, (0, 1)).delta(epsilon), count(n, 1 - p, (1, 0)).delta(epsilon))
    assert same(count(n, p).delta(epsilon), count(n, 1 - p).delta(epsilon))


@given(sizes, probabilities)
def test_at_zero_it_is_total_variation(n, p):
    """Δ is symmetric in the two values, and equals the largest probability of the others' count."""
    one_zero, zero_one = (count(n, p, pair).delta(0) for pair in oracle.DIRECTIONS)
    assert same(one_zero, zero_one)
    if n <= 200:
        others = oracle.binomial(n - 1, Fraction(p))
        assert Fraction(max(others.weights), others.denominator) in one_zero


@given(st.integers(1, 5000), probabilities, epsilons, pairs, st.data())
def test_sampling_is_post_processing_of_the_full_count(n, p, epsilon, pair, data):
    size = data.draw(st.integers(1, n))
    sampled = count(n, p, pair, sampling=sp.WithoutReplacement(size)).delta(epsilon)
    assert sampled.lower <= count(n, p, pair).delta(epsilon).upper
    if size == n:
        assert same(sampled, count(n, p, pair).delta(epsilon))


@given(st.integers(1, 5000), probabilities, epsilons, pairs, st.data())
def test_more_knowledge_never_protects_and_more_entries_never_harm(n, p, epsilon, pair, data):
    known = data.draw(st.integers(0, n - 1))
    knowing = count(n, p, pair, adversary=sp.Adversary(known=known)).delta(epsilon)
    assert count(n, p, pair).delta(epsilon).lower <= knowing.upper
    assert same(knowing, count(n - known, p, pair).delta(epsilon))
    assert count(n + 1, p, pair).delta(epsilon).lower <= count(n, p, pair).delta(epsilon).upper


@given(st.integers(1, 300), st.data(), epsilons)
def test_knowing_everything_else_leaves_nothing(n, data, epsilon):
    p = data.draw(probabilities)
    found = count(n, p, adversary=sp.Adversary(known=n - 1)).delta(epsilon)
    assert (found.lower, found.upper) == (1.0, 1.0)


@given(sizes, st.lists(st.fractions(0, 1, max_denominator=500), min_size=3, max_size=3), epsilons, pairs)
def test_a_range_is_the_union_of_its_parts(n, points, epsilon, pair):
    low, middle, high = sorted(points)
    whole = count(n, sp.Between(low, high), pair).delta(epsilon)
    left = count(n, sp.Between(low, middle), pair).delta(epsilon)
    right = count(n, sp.Between(middle, high), pair).delta(epsilon)
    assert max(left.lower, right.lower) <= whole.upper
    assert whole.lower <= max(left.upper, right.upper)
    for inside in (low, middle, high, (low + high) / 2):
        assert count(n, inside, pair).delta(epsilon).lower <= whole.upper


@given(sizes, st.fractions(0, 1, max_denominator=10**6), epsilons, pairs)
def test_a_range_of_one_point_is_the_point(n, p, epsilon, pair):
    assert same(count(n, sp.Between(p, p), pair).delta(epsilon), count(n, p, pair).delta(epsilon))


@given(sizes, probabilities, deltas, pairs)
@example(n=1024, p=Fraction(1, 2), delta=Fraction(1, 10**6), pair=None)
@example(n=3, p=Fraction(1, 2), delta=Fraction(1, 4), pair=None)
def test_the_safe_end_of_epsilon_is_safe(n, p, delta, pair):
    curve = count(n, p, pair)
    found = curve.epsilon(delta)
    assert 0 <= found.lower <= found.upper
    if found.upper < inf:
        assert Fraction(curve.delta(found.upper).upper) <= delta
    if 0 < found.lower < inf:
        assert Fraction(curve.delta(found.lower).upper) >= delta


@given(st.integers(1, 60), st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50), pairs)
def test_epsilon_is_zero_from_delta_of_zero_up(n, p, pair):
    top = oracle.delta(n, p, Fraction(1), pair)
    curve = count(n, p, pair)
    above = min(Fraction(1), top * (1 + ROOM))
    assert (curve.epsilon(above).lower, curve.epsilon(above).upper) == (0.0, 0.0)
    assert curve.epsilon(top).lower == 0.0


@given(st.integers(2, 60), st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50), pairs)
def test_epsilon_is_infinite_exactly_below_the_mass_that_gives_the_value_away(n, p, pair):
    """p^(n−1): if all other entries are ones, the answer n proves a one; for zeros q^(n−1)."""
    chance = {(1, 0): p, (0, 1): 1 - p, None: max(p, 1 - p)}[pair]
    mass = chance ** (n - 1)
    curve = count(n, p, pair)
    below = curve.epsilon(mass * (1 - ROOM))
    assert (below.lower, below.upper) == (inf, inf)
    assert curve.epsilon(mass).lower < inf
    assert curve.epsilon(mass * (1 + 100 * ROOM)).upper < inf


@given(sizes, probabilities, epsilons, pairs, st.fractions(0, 2, max_denominator=1000))
def test_satisfies_agrees_with_delta(n, p, epsilon, pair, factor):
    curve = count(n, p, pair)
    found = curve.delta(epsilon)
    claim = min(Fraction(1), Fraction(found.upper) * factor)
    try:
        verdict = curve.satisfies(epsilon=epsilon, delta=claim)
    except sp.UndecidedError:
        assert found.lower <= claim < found.upper
    else:
        assert claim >= found.lower if verdict else claim < found.upper


def test_a_claim_is_proved_or_refuted():
    curve = count(1024, "1/2")
    assert curve.satisfies(epsilon="0.005", delta="0.0226") is True
    assert curve.satisfies(epsilon="0.005", delta="0.0225") is False


@pytest.mark.parametrize("spelled", ["0.1", "1/10", Decimal("0.1"), Fraction(1, 10)])
def test_one_tenth_is_one_tenth_in_every_spelling(spelled):
    tenth = count(50, Fraction(1, 10)).delta(Fraction(1, 10))
    assert count(50, spelled).delta(spelled) == tenth


def test_a_double_is_the_rational_that_it_stores():
    assert count(50, 0.1).delta(0.1) == count(50, Fraction(0.1)).delta(Fraction(0.1))


@settings(max_examples=cases(10, campaign=250))
@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.integers(0, 30), probabilities, epsilons, pairs)
def test_the_sizes_of_parts_with_one_property_do_not_matter(parts, unused, p, epsilon, pair):
    """Only the number of rows used matters: one part of all of them has the same curve."""
    n = sum(parts) + unused
    query = sp.PropertyQuery(p, attribute="smoker")
    split = sp.compose([query] * len(parts), sp.Population(n), sp.RandomPartition(parts), pair=pair)
    whole = sp.compose([query], sp.Population(n), sp.RandomPartition([sum(parts)]), pair=pair)
    assert same(split.delta(epsilon), whole.delta(epsilon))


@settings(max_examples=cases(3, campaign=250))
@given(
    st.lists(st.tuples(st.integers(1, 30), probabilities), min_size=2, max_size=4),
    st.integers(0, 20),
    st.floats(0, 3),
)
def test_the_tightest_bound_is_never_above_the_partition_sum(parts, unused, epsilon):
    n = sum(size for size, _ in parts) + unused
    queries = [sp.PropertyQuery(p, attribute=f"property {k}") for k, (_, p) in enumerate(parts)]
    partition = sp.RandomPartition([size for size, _ in parts])
    tightest = sp.compose(queries, sp.Population(n), partition).delta(epsilon)
    summed = sp.compose(queries, sp.Population(n), partition, bound="partition-sum").delta(epsilon)
    assert tightest.lower <= summed.upper
