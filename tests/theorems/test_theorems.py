"""What the library says about tiny databases, against every database and every partition enumerated."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product

import pytest

import statpriv as sp

from ..oracle import oracle
from . import brute_force

X_VALUES = (Fraction(1), Fraction(21, 20), Fraction(3, 2), Fraction(4))
P_VALUES = (Fraction(1, 2), Fraction(3, 10), Fraction(7, 8))
PAIRS = (*oracle.DIRECTIONS, None)


def ones(entries: brute_force.Database) -> int:
    return sum(entries)


def bits(p: Fraction, n: int) -> list[brute_force.Law]:
    return [{0: 1 - p, 1: p}] * n


def formats(n: int) -> Iterator[list[int]]:
    """Every way to split at most n rows into parts, the order of the parts left out."""

    def extended(used: list[int], left: int) -> Iterator[list[int]]:
        if used:
            yield used
        for size in range(1, min(left, used[-1] if used else n) + 1):
            yield from extended([*used, size], left - size)

    yield from extended([], n)


FORMATS = [(n, sizes) for n in range(1, 6) for sizes in formats(n)] + [
    (6, [2, 2, 2]),
    (6, [3, 2, 1]),
    (6, [4, 1]),
]


def agrees(curve: sp.PrivacyCurve, truth: brute_force.Curve) -> str:
    """The first x at which the curve's enclosure is wrong or wide; empty where none is."""
    for x in X_VALUES:
        value = truth(x)
        found = oracle.at_exp_epsilon(curve.delta, x)
        if fault := oracle.Bounds(value, value).fault(*found):
            return f"{fault} at e^epsilon = {x}: {found}, truth {float(value)!r}"
    return ""


def dominates(curve: sp.PrivacyCurve, truth: brute_force.Curve) -> bool:
    """Whether the curve's claim is nowhere below the truth."""
    return all(truth(x) <= Fraction(oracle.at_exp_epsilon(curve.delta, x)[1]) for x in X_VALUES)


@cache
def same_property(n: int, sizes: tuple[int, ...], p: Fraction, known: int, pair: oracle.Pair) -> brute_force.Curve:
    return brute_force.privacy_curve(
        bits(p, n),
        brute_force.partitioned([ones] * len(sizes), n, sizes),
        known=range(1, known + 1),
        pairs=None if pair is None else [pair],
    )


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("p", P_VALUES)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 6])
def test_a_full_count_with_known_entries(n, p, pair):
    for known in range(n):
        curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), adversary=sp.Adversary(known=known), pair=pair)
        truth = brute_force.privacy_curve(
            bits(p, n),
            brute_force.exactly(ones),
            known=range(1, known + 1),
            pairs=None if pair is None else [pair],
        )
        assert agrees(curve, truth) == ""
        assert curve.kind == "exact"


def worst_entry(probabilities: list[Fraction], pair: oracle.Pair, known: tuple[int, ...] = ()) -> brute_force.Curve:
    """The count of all entries, the critical one any of those that are not known."""
    laws = [{0: 1 - p, 1: p} for p in probabilities]
    curves = [
        brute_force.privacy_curve(
            laws, brute_force.exactly(ones), critical=entry, known=known, pairs=None if pair is None else [pair]
        )
        for entry in range(len(laws))
        if entry not in known
    ]
    return lambda x: max(curve(x) for curve in curves)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(
    "texts",
    [
        ["2/5", "1/2", "1/2", "3/5"],
        ["1e-12", "1/3", "0.999999999", "1/3", "7/8"],
        ["0", "1/4", "1", "9/10"],
        ["1/7", "0"],
        ["0", "1"],
        ["1/3"],
    ],
    ids=str,
)
def test_a_full_count_of_entries_that_differ(texts, pair):
    probabilities = [Fraction(text) for text in texts]
    curve = sp.privacy_curve(sp.PropertyQuery(texts), sp.Population(len(texts)), pair=pair)
    truth = worst_entry(probabilities, pair)
    assert not agrees(curve, truth)
    assert all(curve.exact_delta(exp_epsilon=x) == truth(x) for x in X_VALUES)
    doubles, digits = curve.delta("0.1"), curve.delta("0.1", digits=25)
    assert doubles.lower <= digits.upper
    assert digits.lower <= doubles.upper


@pytest.mark.parametrize("known", [{"a": 1}, {"b": 2}, {"a": 2, "b": 1}])
def test_a_full_count_of_groups_with_known_entries(known):
    population = sp.Population(groups={"a": 3, "b": 2})
    query = sp.PropertyQuery({"a": "3/10", "b": "7/8"})
    curve = sp.privacy_curve(query, population, adversary=sp.Adversary(known=known))
    probabilities = [Fraction(3, 10)] * 3 + [Fraction(7, 8)] * 2
    first = (*range(known.get("a", 0)), *range(3, 3 + known.get("b", 0)))
    assert not agrees(curve, worst_entry(probabilities, None, first))


def test_a_full_count_of_groups_with_known_entries_of_any_group():
    curve = sp.privacy_curve(
        sp.PropertyQuery({"a": "3/10", "b": "7/8"}),
        sp.Population(groups={"a": 3, "b": 2}),
        adversary=sp.Adversary(known=2),
    )
    probabilities = [Fraction(3, 10)] * 3 + [Fraction(7, 8)] * 2
    choices = [worst_entry(probabilities, None, known) for known in ((0, 1), (0, 3), (3, 4))]
    assert not agrees(curve, lambda x: max(choice(x) for choice in choices))


def test_thousands_of_different_entries_are_one_curve():
    probabilities = [Fraction(i, 3001) for i in range(1, 3001)]
    all_of_them = sp.privacy_curve(sp.PropertyQuery(probabilities), sp.Population(3000))
    less = sp.privacy_curve(sp.PropertyQuery(probabilities[:-1000]), sp.Population(2000))
    for epsilon in ("0", "0.02", "1"):
        found = all_of_them.delta(epsilon)
        assert found.width <= 1e-12 * found.upper
        assert found.lower <= less.delta(epsilon).upper, "an entry more never increases delta"


def test_groups_of_any_size_with_one_probability_are_one_count():
    groups, alike = sp.Population(groups={"a": 10**12, "b": 10**11}), sp.Population(11 * 10**11)
    by_group = sp.privacy_curve(sp.PropertyQuery({"a": "3/10", "b": "3/10"}), groups)
    uniform = sp.privacy_curve(sp.PropertyQuery("3/10"), alike)
    for epsilon in ("0", "0.000001", "0.000005"):
        found, truth = by_group.delta(epsilon), uniform.delta(epsilon)
        assert found.lower <= truth.upper
        assert truth.lower <= found.upper
        assert found.width <= 1e-12 * found.upper


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("p", P_VALUES)
@pytest.mark.parametrize("n", [1, 3, 4])
def test_a_secret_sample(n, p, pair):
    for size in range(1, n + 1):
        curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), sampling=sp.WithoutReplacement(size), pair=pair)
        assert agrees(curve, same_property(n, (size,), p, 0, pair)) == ""
        assert curve.kind == "exact"


@pytest.mark.parametrize("p", P_VALUES)
@pytest.mark.parametrize(("n", "size", "known"), [(3, 2, 1), (4, 2, 2), (4, 3, 1), (5, 2, 2), (5, 3, 3)])
def test_known_entries_under_hidden_sampling(n, size, known, p):
    """The sampling privacy curve is Definition 3.3; whatever "tightest" picks is not below the exact law."""
    situation = (sp.PropertyQuery(p), sp.Population(n))
    secret = {"adversary": sp.Adversary(known=known), "sampling": sp.WithoutReplacement(size)}
    spc = sp.privacy_curve(*situation, **secret, bound="spc")
    truth = brute_force.sampling_privacy_curve(bits(p, n), ones, size, known=range(1, known + 1))
    assert agrees(spc, truth) == ""
    tightest = sp.privacy_curve(*situation, **secret)
    exact = same_property(n, (size,), p, known, None)
    assert dominates(tightest, exact)
    assert dominates(spc, exact)
    if tightest.kind == "exact":
        assert agrees(tightest, exact) == ""


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(("n", "sizes"), FORMATS)
def test_one_property_on_every_format_of_partition(n, sizes, pair):
    p = P_VALUES[(n + len(sizes)) % len(P_VALUES)]
    queries = [sp.PropertyQuery(p, attribute="smoker")] * len(sizes)
    curve = sp.compose(queries, sp.Population(n), sp.RandomPartition(sizes), pair=pair)
    truth = same_property(n, tuple(sizes), p, 0, pair)
    assert agrees(curve, truth) == ""
    assert curve.kind == "exact"
    if sum(sizes) == n:
        full = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), pair=pair)
        assert agrees(full, truth) == "", "all rows used: the curve of the full count, whatever the sizes"


@pytest.mark.parametrize(("n", "sizes"), [(3, [2, 1]), (4, [2, 2]), (4, [2, 1]), (5, [3, 2]), (5, [2, 1, 1])])
@pytest.mark.parametrize("known", [1, 2])
def test_one_property_with_known_entries(n, sizes, known):
    p = Fraction(3, 10)
    curve = sp.compose(
        [sp.PropertyQuery(p, attribute="smoker")] * len(sizes),
        sp.Population(n),
        sp.RandomPartition(sizes),
        adversary=sp.Adversary(known=known),
    )
    truth = same_property(n, tuple(sizes), p, known, None)
    assert dominates(curve, truth)
    if curve.kind == "exact":
        assert agrees(curve, truth) == ""
    if sum(sizes) == n:
        assert curve.kind == "exact"
        assert agrees(curve, oracle_curve(n - known, p)) == ""


def oracle_curve(n: int, p: Fraction) -> brute_force.Curve:
    return lambda x: oracle.delta_max(n, p, x)


def attribute(k: int) -> brute_force.Query:
    """How many of the entries have property k; a value is a vector of bits."""
    return lambda entries: sum(entry[k] for entry in entries)


def vectors(probabilities: list[Fraction], n: int) -> list[brute_force.Law]:
    """Entries with one independent bit for each property."""
    law = {}
    for entry in product((0, 1), repeat=len(probabilities)):
        share = Fraction(1)
        for bit, p in zip(entry, probabilities, strict=True):
            share *= p if bit else 1 - p
        law[entry] = share
    return [law] * n


@pytest.mark.parametrize(
    ("n", "sizes", "probabilities"),
    [
        (2, [1, 1], "1/2 1/2"),
        (3, [2, 1], "3/10 3/10"),
        (4, [2, 1], "1/2 1/5"),
        (4, [3, 1], "3/10 7/10"),
        (4, [2, 2], "9/10 1/5"),
        (3, [1, 1, 1], "1/2 1/4 7/10"),
    ],
)
def test_unrelated_properties(n, sizes, probabilities):
    """Theorem 5.1 is what is claimed, and the joint law of all answers, enumerated, stays below it."""
    shares = [Fraction(p) for p in probabilities.split()]
    queries = [sp.PropertyQuery(p, attribute=f"property {k}") for k, p in enumerate(shares)]
    partition = sp.RandomPartition(sizes)
    laws, enumerated = vectors(shares, n), [attribute(k) for k in range(len(sizes))]

    summed = sp.compose(queries, sp.Population(n), partition, bound="partition-sum")
    assert summed.kind == "bound"
    assert agrees(summed, brute_force.partition_sum(laws, enumerated, sizes)) == ""

    joint = brute_force.privacy_curve(laws, brute_force.partitioned(enumerated, n, sizes))
    assert all(joint(x) == oracle.partition_exact(n, list(zip(sizes, shares, strict=True)), x) for x in X_VALUES)
    tightest = sp.compose(queries, sp.Population(n), partition)
    assert dominates(tightest, joint)
    assert dominates(summed, joint)


@pytest.mark.parametrize(("n", "sizes", "known"), [(3, [2, 1], 1), (4, [2, 2], 1), (4, [2, 1], 2)])
def test_unrelated_properties_with_known_entries(n, sizes, known):
    """Theorem 5.2: the sampling privacy curves in the sum; the exact law stays below."""
    shares = [Fraction(1, 2), Fraction(3, 10)]
    queries = [sp.PropertyQuery(p, attribute=f"property {k}") for k, p in enumerate(shares)]
    laws, enumerated = vectors(shares, n), [attribute(0), attribute(1)]
    curve = sp.compose(
        queries,
        sp.Population(n),
        sp.RandomPartition(sizes),
        adversary=sp.Adversary(known=known),
        bound="partition-sum",
    )
    knowing = range(1, known + 1)
    assert agrees(curve, brute_force.partition_sum(laws, enumerated, sizes, known=knowing)) == ""
    assert dominates(
        curve, brute_force.privacy_curve(laws, brute_force.partitioned(enumerated, n, sizes), known=knowing)
    )


def test_without_a_declared_attribute_properties_are_unrelated():
    """Equal p and an equal name prove nothing: the worst sign pattern counts."""
    n, sizes, p = 7, [6, 1], Fraction(3, 10)
    queries = [sp.PropertyQuery(p, name="smokers")] * 2
    curve = sp.compose(queries, sp.Population(n), sp.RandomPartition(sizes))
    parts = [(size, p) for size in sizes]
    mixed = [oracle.partition_exact(n, parts, x) for x in X_VALUES]
    assert any(
        worst > oracle.partition_delta(n, parts, x, (1, 1), (0, 0)) for worst, x in zip(mixed, X_VALUES, strict=True)
    )
    for worst, x in zip(mixed, X_VALUES, strict=True):
        assert worst <= Fraction(oracle.at_exp_epsilon(curve.delta, x)[1])


@pytest.mark.parametrize("pair", PAIRS)
def test_one_property_in_a_range_on_all_rows(pair):
    low, high = Fraction(1, 5), Fraction(3, 5)
    query = sp.PropertyQuery(sp.Between(low, high), attribute="smoker")
    curve = sp.compose([query] * 3, sp.Population(9), sp.RandomPartition([4, 3, 2]), pair=pair)
    assert agrees(curve, lambda x: oracle.range_supremum(9, low, high, x, pair)) == ""
    assert curve.kind == "exact"


def test_unrelated_properties_in_ranges():
    """Each part at its own worst probability."""
    n, sizes = 12, [5, 4]
    ranges = [(Fraction(1, 5), Fraction(2, 5)), (Fraction(1, 2), Fraction(4, 5))]
    queries = [sp.PropertyQuery(sp.Between(*ends), attribute=f"{ends}") for ends in ranges]
    curve = sp.compose(queries, sp.Population(n), sp.RandomPartition(sizes), bound="partition-sum")

    def truth(x: Fraction) -> Fraction:
        return sum(
            Fraction(size, n) * oracle.range_supremum(size, *ends, x) for size, ends in zip(sizes, ranges, strict=True)
        )

    assert agrees(curve, truth) == ""
