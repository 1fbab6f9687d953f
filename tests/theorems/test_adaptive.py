"""Adaptive composition, against every strategy on tiny databases and a recursion in plain floats on larger ones."""

import math
import pickle
from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom

import statpriv as sp
from statpriv import budget

from ..cases import cases

P_VALUES = [Fraction(1, 2), Fraction(3, 10), Fraction(5, 6)]
RATIOS = [Fraction(1), Fraction(21, 20), Fraction(3, 2), Fraction(4)]
FORMATS = [(2, [1, 1]), (3, [1, 2]), (3, [1, 1]), (3, [1, 1, 1]), (4, [2, 2]), (4, [2, 1])]
A, B = sp.PropertyQuery("0.3", attribute="a"), sp.PropertyQuery("0.6", attribute="b")
C = sp.PropertyQuery("1/2", attribute="c")


def queries(*probabilities: Fraction) -> list[sp.PropertyQuery]:
    return [sp.PropertyQuery(p, attribute=f"property {k}") for k, p in enumerate(probabilities)]


def vectors(*probabilities: Fraction) -> dict[tuple[int, ...], Fraction]:
    """The law of an entry: the properties are independent of each other, which no part that asks for one can see."""
    return {
        bits: math.prod((p if bit else 1 - p for p, bit in zip(probabilities, bits, strict=True)), start=Fraction(1))
        for bits in product((0, 1), repeat=len(probabilities))
    }


def counter(k: int):
    return lambda rows: sum(row[k] for row in rows)


def choices(sizes: list[int], properties: int):
    """Functions from the answers so far to a property or to None, given as tables."""
    histories = [history for k in range(len(sizes)) for history in product(*(range(size + 1) for size in sizes[:k]))]
    options = st.sampled_from([*range(properties), None])
    first = st.integers(0, properties - 1)
    return st.fixed_dictionaries({history: options if history else first for history in histories})


@settings(max_examples=cases(10, campaign=250), deadline=None)
@given(st.sampled_from(FORMATS), st.lists(st.sampled_from(P_VALUES), min_size=1, max_size=2), st.sampled_from(RATIOS))
def test_the_worst_analyst_is_the_worst_of_all_strategies(table, probabilities, ratio):
    n, sizes = table
    curve = sp.compose_adaptive(sp.AnyOf(queries(*probabilities)), sp.Population(n), sp.RandomPartition(sizes))
    parts = sp.reference.partitions(n, sizes, ordered=False)
    entries = sp.reference.iid(vectors(*probabilities), n)
    allowed = [counter(k) for k in range(len(probabilities))]
    assert curve.kind == "exact"
    assert curve.exact_delta(exp_epsilon=ratio) == sp.reference.worst_strategy_curve(
        entries, allowed, parts, critical=0
    )(ratio)


@settings(max_examples=cases(10, campaign=250), deadline=None)
@given(st.data(), st.sampled_from(FORMATS), st.tuples(*[st.sampled_from(P_VALUES)] * 2), st.sampled_from(RATIOS))
def test_a_given_analyst_is_the_release_enumerated_and_the_theorem_its_sum(data, table, probabilities, ratio):
    n, sizes = table
    choice = data.draw(choices(sizes, 2))
    asked = queries(*probabilities)
    chosen = {history: None if k is None else asked[k] for history, k in choice.items()}
    analyst, population, partition = chosen.get, sp.Population(n), sp.RandomPartition(sizes)

    def choose(earlier):
        """After None all further answers are the same."""
        stopped = None in earlier or choice[earlier] is None
        return (lambda _: None) if stopped else counter(choice[earlier])

    strategy, parts = sp.reference.Strategy(choose), sp.reference.partitions(n, sizes, ordered=False)
    entries = sp.reference.iid(vectors(*probabilities), n)
    exact = sp.compose_adaptive(analyst, population, partition)
    bound = sp.compose_adaptive(analyst, population, partition, bound="partition-sum")
    assert (exact.kind, bound.kind) == ("exact", "bound")
    value = exact.exact_delta(exp_epsilon=ratio)
    assert value == sp.reference.privacy_curve(entries, strategy, parts, critical=0)(ratio)
    total = sp.reference.adaptive_partition_sum(entries, strategy, parts, critical=0)(ratio)
    assert bound.exact_delta(exp_epsilon=ratio) == total >= value
    free = sp.compose_adaptive(analyst, population, partition, bound="free-signs")
    assert value <= free.exact_delta(exp_epsilon=ratio) <= total


@pytest.mark.parametrize("table", [([2, 2], [1, 2]), ([2, 2], [2, 1]), ([1, 2], [1, 1]), ([1, 1, 1], [1, 2])])
@settings(max_examples=3, deadline=None)
@given(ratio=st.sampled_from(RATIOS), adaptive=st.booleans())
def test_of_entries_in_groups_the_revealed_composition_is_between_the_truth_and_theorem_5_4(table, ratio, adaptive):
    (groups, n), sizes = (dict(zip("fmx", table[0], strict=False)), sum(table[0])), table[1]
    laws = [("3/10", "2/3"), ("1/2", "1/5"), ("1/4", "3/5")]
    by_group = [{name: Fraction(law[k]) for name, law in zip(groups, laws, strict=False)} for k in range(2)]
    asked = [sp.PropertyQuery(p, attribute=f"property {k}") for k, p in enumerate(by_group)]
    chosen = {(): 0} | {(answer,): int(adaptive and answer > 0) for answer in range(sizes[0] + 1)}
    analyst = lambda earlier: asked[chosen[earlier]]  # noqa: E731
    laws = [vectors(*(p[name] for p in by_group)) for name, size in groups.items() for _ in range(size)]
    entries, parts = sp.reference.Database(laws), sp.reference.partitions(n, sizes, ordered=False)
    strategy = sp.reference.Strategy(lambda earlier: counter(chosen[earlier]))
    truth = sp.reference.privacy_curve(entries, strategy, parts)(ratio)
    theorem = sp.reference.adaptive_partition_sum(entries, strategy, parts)(ratio)
    population, partition = sp.Population(groups=groups), sp.RandomPartition(sizes)
    revealed = sp.compose_adaptive(analyst, population, partition, bound="revealed-composition")
    summed = sp.compose_adaptive(analyst, population, partition, bound="partition-sum")
    assert truth <= revealed.exact_delta(exp_epsilon=ratio) <= theorem
    assert summed.exact_delta(exp_epsilon=ratio) == theorem
    worst = sp.compose_adaptive(sp.AnyOf(asked), population, partition, bound="revealed-composition")
    assert revealed.exact_delta(exp_epsilon=ratio) <= worst.exact_delta(exp_epsilon=ratio)


def theorem_5_4_for_any_analyst(groups, known, sizes, asked, ratio):
    """Σ_k (n_k/n) E[max_F Δ^F], every subset of the others in the part of the critical entry, for the worst pair."""
    everyone = [name for name, number in groups.items() for _ in range(number)]
    unknown = {name: number - known.get(name, 0) for name, number in groups.items()}
    worst = Fraction(0)
    for own in (name for name in groups if unknown[name]):
        others = [name for name in groups for _ in range(unknown[name] - (name == own))] + [None] * sum(known.values())
        for signs in product([True, False], repeat=len(asked)):
            total = Fraction(0)
            for size in sizes:
                parts = list(combinations(range(len(others)), size - 1))
                for part in parts:
                    deltas = []
                    for p, upwards in zip(asked, signs, strict=True):
                        law = count_by_definition([p[others[i]] for i in part if others[i] is not None])
                        one, zero = {a + 1: mass for a, mass in law.items()}, law
                        first, second = (one, zero) if upwards else (zero, one)
                        deltas.append(sum(max(0, mass - ratio * second.get(a, 0)) for a, mass in first.items()))
                    total += Fraction(size, len(everyone)) * max(deltas) / len(parts)
            worst = max(worst, total)
    return worst


def count_by_definition(shares):
    law = {0: Fraction(1)}
    for p in shares:
        after = Counter()
        for a, mass in law.items():
            after[a] += mass * (1 - p)
            after[a + 1] += mass * p
        law = after
    return law


@pytest.mark.parametrize("known", [{"f": 0}, {"f": 1}, {"f": 1, "m": 2}])
@settings(max_examples=cases(6, campaign=200), deadline=None)
@given(
    numbers=st.tuples(st.integers(1, 4), st.integers(2, 3)),
    sizes=st.sampled_from([[1, 2], [2, 2], [3], [1, 1, 2]]),
    shares=st.lists(st.tuples(*[st.integers(1, 9).map(lambda k: Fraction(k, 10))] * 2), min_size=1, max_size=2),
    ratio=st.sampled_from(RATIOS),
)
def test_theorem_5_4_of_any_analyst_needs_each_part_only(known, numbers, sizes, shares, ratio):
    groups = dict(zip("fm", numbers, strict=True))
    assume(sum(sizes) <= sum(numbers) and sum(known.values()) < sum(numbers))
    assume(all(known.get(name, 0) <= number for name, number in groups.items()))
    asked = [dict(zip("fm", pair, strict=True)) for pair in shares]
    curve = sp.compose_adaptive(
        sp.AnyOf(sp.PropertyQuery(p, attribute=f"property {k}") for k, p in enumerate(asked)),
        sp.Population(groups=groups),
        sp.RandomPartition(sizes),
        adversary=sp.Adversary(known=known),
        bound="partition-sum",
    )
    assert curve.exact_delta(exp_epsilon=ratio) == theorem_5_4_for_any_analyst(groups, known, sizes, asked, ratio)


TWO_GROUPS = sp.Population(groups={"f": 600, "m": 400})
BY_GROUP = [
    sp.PropertyQuery({"f": f, "m": m}, attribute=name)
    for name, f, m in (("a", "0.2", "0.6"), ("b", "0.5", "0.3"), ("c", "0.4", "0.4"))
]


def test_theorem_5_4_holds_its_value_at_hundreds_of_rows():
    """Against sums in doubles over how many of the first group share the part."""
    found = sp.compose_adaptive(sp.AnyOf(BY_GROUP[:2]), TWO_GROUPS, sp.RandomPartition([125] * 4)).delta("0.1")
    worst = 0.0
    for own in range(2):
        rest = [600 - (own == 0), 400 - (own == 1)]
        for signs in product([1, -1], repeat=2):
            mean = 0.0
            for drawn in range(125):
                deltas = []
                for query, sign in zip(BY_GROUP[:2], signs, strict=True):
                    p = [float(query.probability(name)) for name in "fm"]
                    law = np.convolve(
                        binom.pmf(range(drawn + 1), drawn, p[0]), binom.pmf(range(125 - drawn), 124 - drawn, p[1])
                    )
                    pair = (np.append(0.0, law), np.append(law, 0.0))[::sign]
                    deltas.append(np.maximum(pair[0] - math.exp(0.1) * pair[1], 0).sum())
                mean += hypergeom.pmf(drawn, 999, rest[0], 124) * max(deltas)
            worst = max(worst, mean * 0.5)
    assert found.lower <= worst * (1 + 1e-9)
    assert worst * (1 - 1e-9) <= found.upper <= worst * (1 + 1e-6)


def test_a_tree_of_many_compositions_counts_as_any_analyst_who_asks_the_same():
    a, b, c = BY_GROUP
    tree = sp.Ask(a, then={range(30): sp.Ask(b), range(30, 101): sp.Ask(c)})
    given = sp.compose_adaptive(tree, TWO_GROUPS, sp.RandomPartition([100, 100])).delta("0.1")
    first, second = (
        sp.compose_adaptive(sp.AnyOf(asked), TWO_GROUPS, sp.RandomPartition([100]), bound="partition-sum").delta("0.1")
        for asked in ([a], [b, c])
    )
    assert max(first.lower, second.lower) <= given.upper <= first.upper + second.upper
    small = sp.Population(groups={"f": 3, "m": 3}), sp.RandomPartition([2, 2])
    followed = sp.compose_adaptive(sp.Ask(a, then={0: sp.Ask(b), 1: sp.Ask(c), 2: sp.Ask(c)}), *small)
    any_analyst = sp.compose_adaptive(sp.AnyOf([a, b, c]), *small, bound="partition-sum")
    assert followed.exact_delta(exp_epsilon=RATIOS[0]) <= any_analyst.exact_delta(exp_epsilon=RATIOS[0])


def test_what_takes_the_place_of_too_many_compositions_is_above_them(monkeypatch):
    """The own group alone, or the sum over the queries: whichever is smaller."""
    partition = sp.RandomPartition([40] * 3)
    exact = sp.compose_adaptive(sp.AnyOf(BY_GROUP), TWO_GROUPS, partition).delta("0.1")
    monkeypatch.setattr(budget, "MAX_TEMPLATE_KINDS", 30)
    bound = sp.compose_adaptive(sp.AnyOf(BY_GROUP), TWO_GROUPS, partition).delta("0.1")
    assert exact.upper < bound.lower <= 3 * exact.upper


@pytest.mark.parametrize("known", [1, 2])
def test_known_entries_are_bounded_by_telling_where_they_fell(known):
    n, sizes, ratio = 4, [2, 1], Fraction(3, 2)
    curve = sp.compose_adaptive(
        sp.AnyOf(queries(Fraction(3, 10), Fraction(1, 2))),
        sp.Population(n),
        sp.RandomPartition(sizes),
        adversary=sp.Adversary(known=known),
    )
    entries, parts = sp.reference.iid(vectors(Fraction(3, 10), Fraction(1, 2)), n), sp.reference.partitions(n, sizes)
    truth = sp.reference.worst_strategy_curve(
        entries, [counter(0), counter(1)], parts, critical=0, known=known, limit=10**8
    )(ratio)
    assert curve.kind == "bound"
    assert truth <= curve.exact_delta(exp_epsilon=ratio) < 1


def in_floats(n: int, size: int, steps: int, pair: list[tuple[float, tuple[int, int]]], epsilon: float) -> float:
    """The recursion for two properties by number of parts and hits of each: no grid, no enclosure, plain floats."""
    ratio, share = math.exp(epsilon), size / n
    pmf = [np.array([math.comb(size, k) * p**k * (1 - p) ** (size - k) for k in range(size + 1)]) for p, _ in pair]

    def loss(parts: int, hits: np.ndarray, p: float, sign: tuple[int, int]) -> np.ndarray:
        """Σ w g of some parts of one property, from their hits."""
        ones, zeros = hits / (size * p), (parts * size - hits) / (size * (1 - p))
        return share * ((ones - ratio * zeros) if sign == (1, 0) else (zeros - ratio * ones))

    rest = (1 - steps * share) * (1 - ratio)
    values = {}
    for own in range(steps + 1):
        first = loss(own, np.arange(own * size + 1)[:, None], *pair[0])
        second = loss(steps - own, np.arange((steps - own) * size + 1)[None, :], *pair[1])
        values[own] = np.maximum(rest + first + second, 0)
    for step in range(steps - 1, -1, -1):
        earlier = {}
        for own in range(step + 1):
            ends = own * size + 1, (step - own) * size + 1
            asked = sum(mass * values[own + 1][k : k + ends[0], : ends[1]] for k, mass in enumerate(pmf[0]))
            other = sum(mass * values[own][: ends[0], k : k + ends[1]] for k, mass in enumerate(pmf[1]))
            earlier[own] = np.maximum(asked, other)
        values = earlier
    return float(values[0][0, 0])


@pytest.mark.parametrize(("n", "size", "steps"), [(120, 30, 4), (200, 40, 3)])
@pytest.mark.parametrize("epsilon", [0.05, 0.5])
def test_the_enclosure_is_narrow_and_contains_what_a_recursion_over_hits_gives(n, size, steps, epsilon):
    curve = sp.compose_adaptive(sp.AnyOf([A, B]), sp.Population(n), sp.RandomPartition([size] * steps))
    found = curve.delta(epsilon)
    signs = list(product([(1, 0), (0, 1)], repeat=2))
    truth = max(in_floats(n, size, steps, [(0.3, one), (0.6, other)], epsilon) for one, other in signs)
    # Some thousand sums of positive numbers in floats.
    assert found.lower * (1 - 1e-10) <= truth <= found.upper * (1 + 1e-10)
    assert found.width <= 2e-6 * found.upper


@pytest.mark.campaign  # alone it notices a cost that grows with the queries
def test_eight_parts_of_a_hundred_and_three_queries_take_seconds():
    parts, population = sp.RandomPartition([100] * 8), sp.Population(800)
    adaptive = sp.compose_adaptive(sp.AnyOf([A, B, C]), population, parts).delta("0.05")
    assert adaptive.width <= 2e-6 * adaptive.upper
    fixed = [sp.compose([query] * 8, population, parts).delta("0.05") for query in (A, B, C)]
    assert all(one.lower <= adaptive.upper for one in fixed)
    bounds = [
        sp.compose_adaptive(sp.AnyOf([A, B, C]), population, parts, bound=name).delta("0.05")
        for name in ("free-signs", "partition-sum")
    ]
    assert adaptive.lower <= bounds[0].upper < bounds[1].lower


@pytest.mark.parametrize("p", [pytest.param("0.3", marks=pytest.mark.campaign), "1/2"])
def test_who_may_ask_one_property_only_learns_the_total(p):
    query = sp.PropertyQuery(p, attribute="one")
    adaptive = sp.compose_adaptive(sp.AnyOf([query]), sp.Population(30), sp.RandomPartition([5, 10, 15]))
    total = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(30))
    for epsilon in ("0", "0.02", "0.3", "3"):
        found, truth = adaptive.delta(epsilon), total.delta(epsilon)
        assert found.lower <= truth.upper
        assert truth.lower <= found.upper
    found, truth = adaptive.epsilon("0.01"), total.epsilon("0.01")
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper


@pytest.mark.campaign  # alone it notices a cost that grows with the entries
def test_parts_of_a_million_entries_are_no_obstacle():
    adaptive = sp.compose_adaptive(sp.AnyOf([A]), sp.Population(10**7), sp.RandomPartition([10**6] * 2))
    fixed = sp.compose([A] * 2, sp.Population(10**7), sp.RandomPartition([10**6] * 2))
    found, truth = adaptive.delta("0.0002"), fixed.delta("0.0002")
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper
    assert found.width <= 1e-3 * found.upper


def test_choosing_by_the_answers_tells_more_than_any_fixed_order():
    ratio, n, sizes = Fraction(11, 10), 5, [2, 2]
    population, partition = sp.Population(n), sp.RandomPartition(sizes)
    worst = sp.compose_adaptive(sp.AnyOf([A, B]), population, partition).exact_delta(exp_epsilon=ratio)
    fixed = [
        sp.compose_adaptive(sp.Ask(first, then=sp.Ask(second)), population, partition).exact_delta(exp_epsilon=ratio)
        for first, second in product([A, B], repeat=2)
    ]
    assert worst >= max(fixed)


def test_a_function_a_tree_and_a_tree_of_ranges_are_the_same_analyst():
    tree = sp.Ask(A, then={range(2): sp.Ask(B), 2: sp.Ask(A)})
    function = sp.compose_adaptive(
        lambda earlier: A if earlier == () else (None if earlier[0] > 2 else B if earlier[0] < 2 else A),
        sp.Population(8),
        sp.RandomPartition([3, 3]),
    )
    written = sp.compose_adaptive(tree, sp.Population(8), sp.RandomPartition([3, 3]))
    assert function == written
    assert hash(function) == hash(written)
    assert function.situation.strategy == tree
    names = {"Ask": sp.Ask, "PropertyQuery": sp.PropertyQuery}
    assert eval(repr(tree), names) == tree  # noqa: S307  (a repr reads back)
    again = pickle.loads(pickle.dumps(written))  # noqa: S301  (our own)
    assert again == written
    assert again.delta("0.1") == written.delta("0.1")
    assert "a given strategy" in written.explain()
    assert written.compare("0.1")[0].kind == "exact"


def test_a_part_that_is_not_asked_leaves_no_mass_at_infinity():
    half = sp.compose_adaptive(sp.AnyOf([A, B]), sp.Population(5), sp.RandomPartition([2, 2])).infinity_mass()
    assert (half.lower, half.upper) == (0, 0)
    whole = sp.compose_adaptive(sp.AnyOf([A, B]), sp.Population(4), sp.RandomPartition([2, 2]))
    # Nobody but the critical entry has property "a": (1 − p)^3.
    assert Fraction("0.343") in whole.infinity_mass()
    assert math.isinf(whole.epsilon("0.3").lower)


PARTS = sp.RandomPartition([2, 2])
REFUSED = [
    (lambda: sp.AnyOf(A), "a list of the queries that may be asked is required"),
    (lambda: sp.AnyOf([]), "queries = []; at least one query"),
    (lambda: sp.AnyOf([sp.PropertyQuery("1/2")]), "has no attribute; where queries are chosen adaptively"),
    (lambda: sp.AnyOf([sp.HistogramQuery([".5", ".5"])]), "queries[0] = HistogramQuery"),
    (lambda: sp.Ask(A, then=[B]), "None, an Ask, or a dict from answers to Asks is required"),
    (lambda: sp.Ask(A, then={0: B}), "an Ask is required (leave answers out to stop)"),
    (lambda: sp.Ask(A, then={range(0, 4, 2): sp.Ask(B)}), "a range of counts such as range(0, 31) is required"),
    (lambda: sp.Ask(A, then={range(4): sp.Ask(B), 3: sp.Ask(A)}), "then lists the answer 3 twice"),
    (lambda: sp.compose_adaptive([A, B], sp.Population(4), PARTS), "a function from the answers so far to"),
    (lambda: sp.compose_adaptive(lambda _: None, sp.Population(4), PARTS), "strategy asks nothing"),
    (lambda: sp.compose_adaptive(lambda _: 3, sp.Population(4), PARTS), "strategy(()) = 3; a count such as"),
    (
        lambda: sp.compose_adaptive(lambda _: A, sp.Population(4000), sp.RandomPartition([1000] * 3)),
        "more than 100000: write it as a tree of sp.Ask",
    ),
    (lambda: sp.compose_adaptive(sp.AnyOf([A]), 4, PARTS), "population = 4; a Population such as"),
    (lambda: sp.compose_adaptive(sp.AnyOf([A]), sp.Population(4), [2, 2]), "partition = [2, 2]; a RandomPartition"),
    (lambda: sp.compose_adaptive(sp.AnyOf([A]), sp.Population(4), PARTS, adversary=1), "adversary = 1; an Adversary"),
    (lambda: sp.compose_adaptive(sp.AnyOf([A]), sp.Population(3), PARTS), "the parts have 4 entries together"),
    (
        lambda: sp.compose_adaptive(sp.AnyOf([A]), sp.Population(4), PARTS, adversary=sp.Adversary(known=4)),
        "known = 4; at most 3 of 4 entries can be known",
    ),
    (
        lambda: sp.compose_adaptive(sp.Ask(A, then=sp.Ask(A, then=sp.Ask(A))), sp.Population(4), PARTS),
        "asks up to 3 queries, one a part, and there are 2 parts",
    ),
    (
        lambda: sp.compose_adaptive(sp.AnyOf([A, sp.PropertyQuery("0.4", attribute="a")]), sp.Population(4), PARTS),
        "attribute = 'a' is asked with two different p",
    ),
    (lambda: sp.compose_adaptive(sp.AnyOf([A]), sp.Population(4), PARTS, pair=(1, 1)), "pair = (1, 1); (1, 0)"),
    (
        lambda: sp.compose_adaptive(sp.AnyOf([A, B]), sp.Population(4), PARTS, pair=(1, 0)),
        "a pair is defined for one property only",
    ),
    (
        lambda: sp.compose_adaptive(
            sp.AnyOf([sp.PropertyQuery(sp.Between("0.4", "0.6"), attribute="r")]),
            sp.Population(4),
            PARTS,
            bound="exact",
        ),
        "p is a range, over which the worst of the choices has no closed supremum",
    ),
    (
        lambda: sp.compose_adaptive(
            sp.AnyOf([sp.PropertyQuery(0, attribute="never")]), sp.Population(4), PARTS, bound="exact"
        ),
        "p is 0 or 1",
    ),
    (
        lambda: sp.compose_adaptive(
            sp.AnyOf([sp.PropertyQuery(1, attribute="always")]), sp.Population(4), PARTS, bound="exact"
        ),
        "p is 0 or 1, where an answer may be impossible unless",
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_is_not_allowed_is_named(call, message):
    with pytest.raises(sp.ArgumentError) as refused:
        call()
    assert message in str(refused.value)


def test_a_range_of_p_has_the_sum_of_the_theorem():
    ranged = sp.PropertyQuery(sp.Between("0.4", "0.6"), attribute="r")
    curve = sp.compose_adaptive(sp.AnyOf([ranged, A]), sp.Population(300), sp.RandomPartition([100] * 3))
    singles = [sp.privacy_curve(query, sp.Population(100)).delta("0.1") for query in (ranged, A)]
    assert curve.kind == "bound"
    assert curve.delta("0.1").upper >= max(single.lower for single in singles)
    assert curve.delta("0.1").lower <= max(single.upper for single in singles)


def test_many_properties_are_bounded_with_free_signs():
    many = queries(*(Fraction(k, 20) for k in range(1, 8)))
    curve = sp.compose_adaptive(sp.AnyOf(many), sp.Population(90), sp.RandomPartition([30] * 3))
    assert curve.kind == "bound"
    few = sp.compose_adaptive(sp.AnyOf(many[:3]), sp.Population(90), sp.RandomPartition([30] * 3))
    assert few.kind == "exact"
    assert few.delta("0.1").lower <= curve.delta("0.1").upper


def test_the_pair_stands_outside_the_sum_while_there_are_up_to_sixteen():
    """Of two to the number of properties; of more the worst pair of each part counts, which may be another."""
    groups, partition = sp.Population(groups={"f": 10, "m": 10}), sp.RandomPartition([8, 7])
    asked = [
        sp.PropertyQuery({"f": p, "m": "0.5"}, attribute=name)
        for p, name in zip(("0.1", "0.8", "0.3", "0.6", "0.2"), "abcde", strict=True)
    ]
    four, five = (
        sp.compose_adaptive(sp.AnyOf(asked[:number]), groups, partition, bound="partition-sum").delta("0.1")
        for number in (4, 5)
    )
    assert four.upper < five.lower


@pytest.mark.parametrize(
    ("probabilities", "kind"), [(["1/2"] * 5, "exact"), (["1/3"] * 4 + ["1/2"], "exact"), (["1/3"] * 5, "bound")]
)
def test_of_a_fair_coin_one_order_of_the_values_is_enough(probabilities, kind):
    """So that sixteen pairs are all, of any number of coins and four other properties."""
    asked = [sp.PropertyQuery(p, attribute=name) for p, name in zip(probabilities, "abcde", strict=True)]
    assert sp.compose_adaptive(sp.AnyOf(asked), sp.Population(12), sp.RandomPartition([3, 2])).kind == kind
