"""Entries that differ by group or one by one, on a partition that is uniform over all of them."""

import json
from fractions import Fraction
from itertools import product
from math import log
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv import reference

from ..cases import cases

VECTORS = json.loads((Path(__file__).parents[1] / "vectors/tables.json").read_text(encoding="utf-8"))
TENTHS = st.integers(1, 9).map(lambda tenths: Fraction(tenths, 10))
RATIOS = st.sampled_from(["1", "11/10", "3/2", "3"])


def population_of(case):
    names = [str(number) for number in range(len(case["groups"]))]
    return sp.Population(groups=dict(zip(names, case["groups"], strict=True))), dict(zip(names, case["p"], strict=True))


@pytest.mark.parametrize("case", VECTORS["spc_by_group"])
def test_the_sampling_privacy_curve_of_groups_is_the_vectors(case):
    """The vectors take the mean of each direction by itself, and then the larger one."""
    groups, p = population_of(case)
    curves = [
        sp.privacy_curve(
            sp.PropertyQuery(p), groups, sampling=sp.WithoutReplacement(case["size"]), bound="spc", pair=pair
        )
        for pair in ((1, 0), (0, 1))
    ]
    largest = max(curve.exact_delta(exp_epsilon=case["exp_epsilon"]) for curve in curves)
    assert largest == Fraction(*map(int, case["exact"]))


@pytest.mark.parametrize("case", VECTORS["one_attribute_by_group"])
def test_one_attribute_is_one_sample_of_the_union_whatever_the_parts(case):
    groups, p = population_of(case)
    used, exact = case["rows_used"], Fraction(*map(int, case["exact"]))
    by_entry = [p[name] for name, size in groups.groups for _ in range(size)]
    for stated, population in ((p, groups), (by_entry, sp.Population(groups.size))):
        query = sp.PropertyQuery(stated, attribute="smoker")
        for sizes in ([used], [1] * used):
            curve = sp.compose([query] * len(sizes), population, sp.RandomPartition(sizes))
            assert (curve.kind, curve.exact_delta(exp_epsilon=case["exp_epsilon"])) == ("exact", exact)


def rows_of(laws):
    """Entries with a bit for each of two unrelated properties; `laws` has the two probabilities of each entry."""
    return [
        {bits: (p if bits[0] else 1 - p) * (q if bits[1] else 1 - q) for bits in product((0, 1), repeat=2)}
        for p, q in laws
    ]


def count_of(part):
    return lambda rows: sum(row[part] for row in rows)


ASKED = [count_of(0), count_of(1)]


@st.composite
def two_properties(draw):
    """Two groups with two probabilities each, the sizes of two parts, and e^ε."""
    sizes = {"a": draw(st.integers(1, 3)), "b": draw(st.integers(1, 2))}
    n = sum(sizes.values())
    parts = draw(st.sampled_from([part for part in ([1, 1], [2, 1], [1, 2], [2, 2]) if sum(part) <= n]))
    p, q = ({name: draw(TENTHS) for name in sizes} for _ in range(2))
    laws = [(p[name], q[name]) for name, size in sizes.items() for _ in range(size)]
    return sizes, parts, (p, q), rows_of(laws), draw(RATIOS)


@settings(max_examples=cases(12, campaign=300), deadline=None)
@given(two_properties())
def test_two_properties_are_exact_where_small_and_below_theorem_5_2(case):
    sizes, parts, laws, rows, ratio = case
    partition, database = reference.partitions(len(rows), parts, ordered=False), reference.Database(rows)
    queries, population = [*map(sp.PropertyQuery, laws)], sp.Population(groups=sizes)
    exact = sp.compose(queries, population, sp.RandomPartition(parts))
    truth = reference.privacy_curve(database, ASKED, partition)(ratio)
    assert (exact.kind, exact.exact_delta(exp_epsilon=ratio)) == ("exact", truth)
    bound = sp.compose(queries, population, sp.RandomPartition(parts), bound="partition-sum")
    summed = reference.partition_sum(database, ASKED, partition)(ratio)
    assert (bound.kind, bound.exact_delta(exp_epsilon=ratio)) == ("bound", summed)
    assert truth <= summed
    for other in ("own-group", "worst-entry"):
        curve = sp.compose(queries, population, sp.RandomPartition(parts), bound=other)
        assert curve.delta(log(Fraction(ratio))).upper >= float(truth) * (1 - 1e-12)


@settings(max_examples=cases(8, campaign=200), deadline=None)
@given(two_properties())
def test_one_p_an_entry_is_one_group_for_each_law(case):
    sizes, parts, laws, rows, ratio = case
    del rows
    by_entry = [[law[name] for name, size in sizes.items() for _ in range(size)] for law in laws]
    population, partition = sp.Population(sum(sizes.values())), sp.RandomPartition(parts)
    for bound in ("exact", "partition-sum"):
        listed = sp.compose([*map(sp.PropertyQuery, by_entry)], population, partition, bound=bound)
        grouped = sp.compose([*map(sp.PropertyQuery, laws)], sp.Population(groups=sizes), partition, bound=bound)
        assert listed.exact_delta(exp_epsilon=ratio) == grouped.exact_delta(exp_epsilon=ratio)


@settings(max_examples=cases(6, campaign=100), deadline=None)
@given(two_properties(), st.integers(1, 2))
def test_known_rows_are_in_the_mean_of_theorem_5_2(case, known):
    sizes, parts, laws, rows, ratio = case
    known = min(known, len(rows) - 1)
    partition, database = reference.partitions(len(rows), parts, ordered=False), reference.Database(rows)
    summed = reference.partition_sum(database, ASKED, partition, known=known)(ratio)
    queries, adversary = [*map(sp.PropertyQuery, laws)], sp.Adversary(known=known)
    curve = sp.compose(
        queries, sp.Population(groups=sizes), sp.RandomPartition(parts), adversary=adversary, bound="partition-sum"
    )
    assert curve.exact_delta(exp_epsilon=ratio) == summed


@settings(max_examples=cases(6, campaign=100), deadline=None)
@given(two_properties())
def test_a_range_of_a_group_bounds_every_p_in_it(case):
    sizes, parts, laws, _, ratio = case
    ranged = [{"a": sp.Between(min(law["a"], law["b"]), max(law["a"], law["b"])), "b": law["b"]} for law in laws]
    population, partition = sp.Population(groups=sizes), sp.RandomPartition(parts)
    bound = sp.compose([*map(sp.PropertyQuery, ranged)], population, partition, bound="partition-sum")
    upper = bound.delta(log(Fraction(ratio))).upper
    for end in ("a", "b"):
        at = [sp.PropertyQuery({"a": law[end], "b": law["b"]}) for law in laws]
        inside = sp.compose(at, population, partition, bound="exact").exact_delta(exp_epsilon=ratio)
        assert float(inside) <= upper * (1 + 1e-12)


@settings(max_examples=cases(3, campaign=100), deadline=None)
@given(two_properties(), st.sampled_from([["1/2", "1/3"], ["1/4", "1/4"], ["1/2", "1/2"]]), st.integers(0, 1))
def test_parts_of_random_sizes_have_the_mean_of_theorem_5_2(case, weights, known):
    """So few others are told apart one by one; their binomial law is bounded by doubles, hence the distance."""
    sizes, _, laws, rows, ratio = case
    families, database = reference.multinomial_assignment(len(rows), weights), reference.Database(rows)
    known = known if 2 <= len(rows) <= 4 else 0  # more are too many to enumerate
    curve = sp.compose(
        [*map(sp.PropertyQuery, laws)],
        sp.Population(groups=sizes),
        sp.MultinomialPartition(weights),
        adversary=sp.Adversary(known=known),
    )
    summed = reference.partition_sum(database, ASKED, families, known=known)(ratio)
    found = curve.delta(log(Fraction(ratio))).upper
    assert curve.kind == "bound"
    assert float(summed) * (1 - 1e-12) <= found <= float(summed) * (1 + 1e-9) + 1e-15
    if not known:
        assert float(reference.privacy_curve(database, ASKED, families)(ratio)) <= found * (1 + 1e-12)


def test_parts_of_random_sizes_are_fast_and_close_to_those_of_their_mean_size():
    population = sp.Population(groups={"a": 600, "b": 400})
    queries = [sp.PropertyQuery({"a": "0.2", "b": "0.6"}), sp.PropertyQuery({"a": "0.4", "b": "0.5"})]
    drawn = sp.compose(queries, population, sp.MultinomialPartition(["1/8", "1/4"])).delta("0.1").upper
    sized = sp.compose(queries, population, sp.RandomPartition([125, 250]), bound="partition-sum").delta("0.1").upper
    assert sized < drawn < 1.05 * sized


@settings(max_examples=cases(8, campaign=100), deadline=None)
@given(two_properties(), st.data())
def test_stated_partitions_have_the_sum_of_theorem_5_2(case, data):
    sizes, parts, laws, rows, ratio = case
    every = [*reference.partitions(len(rows), parts, ordered=False)]
    chosen = data.draw(st.lists(st.sampled_from(every), min_size=1, max_size=3, unique=True))
    law = {family: Fraction(k + 1, sum(range(1, len(chosen) + 1))) for k, family in enumerate(chosen)}
    curve = sp.compose([*map(sp.PropertyQuery, laws)], sp.Population(groups=sizes), sp.PartitionLaw(law))
    summed = reference.partition_sum(reference.Database(rows), ASKED, law)(ratio)
    assert (curve.kind, curve.exact_delta(exp_epsilon=ratio)) == ("bound", summed)


@pytest.mark.parametrize("ratio", ["1", "6/5"])
def test_sums_and_histograms_of_groups(ratio):
    """Values 0 to 2, their sum asked of one part and their histogram of the other."""
    laws = {"a": ["1/2", "1/4", "1/4"], "b": ["1/5", "1/5", "3/5"]}
    queries = [
        sp.SumQuery({name: dict(enumerate(law)) for name, law in laws.items()}),
        sp.HistogramQuery(laws),
    ]
    population = sp.Population(groups={"a": 2, "b": 2})
    of_two = [
        {(v, w): Fraction(p) * Fraction(q) for (v, p), (w, q) in product(enumerate(laws[name]), repeat=2)}
        for name in "aabb"
    ]
    asked = [lambda rows: sum(row[0] for row in rows), lambda rows: tuple(sorted(row[1] for row in rows))]
    partition, database = reference.partitions(4, [2, 1], ordered=False), reference.Database(of_two)
    exact = sp.compose(queries, population, sp.RandomPartition([2, 1]))
    assert exact.kind == "exact"
    assert exact.exact_delta(exp_epsilon=ratio) == reference.privacy_curve(database, asked, partition)(ratio)
    bound = sp.compose(queries, population, sp.RandomPartition([2, 1]), bound="partition-sum")
    assert bound.exact_delta(exp_epsilon=ratio) == reference.partition_sum(database, asked, partition)(ratio)


def test_what_is_done_to_an_answer_raises_no_bound():
    population, partition = sp.Population(groups={"a": 12, "b": 8}), sp.RandomPartition([10, 10])
    plain = [sp.PropertyQuery({"a": "0.3", "b": "0.6"}), sp.PropertyQuery({"a": "0.5", "b": "0.4"})]
    rounded = [query.rounded(3) for query in plain]
    sums = [sp.SumQuery({"a": {0: "0.5", 2: "0.5"}, "b": {0: "0.2", 1: "0.8"}})] * 2
    bounds = [
        sp.compose(queries, population, partition, bound="partition-sum").delta("0.2").upper
        for queries in (plain, rounded, sums, [query.rounded(4) for query in sums])
    ]
    assert bounds[1] <= bounds[0]
    assert bounds[3] <= bounds[2]


def test_the_least_of_the_bounds_is_named_where_the_groups_are_large():
    population = sp.Population(groups={"a": 60, "b": 40})
    queries = [sp.PropertyQuery({"a": "0.2", "b": "0.6"}), sp.PropertyQuery({"a": "0.4", "b": "0.5"})] * 4
    partition = sp.RandomPartition([12] * 8)
    curve = sp.compose(queries, population, partition)
    assert curve.kind == "bound"
    each = [
        sp.compose(queries, population, partition, bound=bound).delta("0.1").upper
        for bound in ("partition-sum", "own-group", "worst-entry", "hull")
    ]
    assert curve.delta("0.1").upper == pytest.approx(min(each), rel=1e-9)


def test_the_total_bounds_counts_of_one_attribute_with_many_known_rows():
    population, query = (
        sp.Population(groups={"a": 600, "b": 400}),
        sp.PropertyQuery({"a": ".2", "b": ".5"}, attribute="x"),
    )
    adversary = sp.Adversary(known={"a": 100})
    curve = sp.compose([query] * 2, population, sp.RandomPartition([250, 250]), adversary=adversary)
    total = sp.privacy_curve(query, population, adversary=adversary)
    assert curve.kind == "bound"
    assert curve.delta("0.1").upper <= total.delta("0.1").upper * (1 + 1e-12)


def test_what_does_not_fit_is_refused():
    listed = sp.PropertyQuery(["0.5", "0.4", "0.3"])
    with pytest.raises(sp.ArgumentError, match="p has 3 probabilities, one an entry, and the population 4 entries"):
        sp.compose([listed] * 2, sp.Population(4), sp.RandomPartition([2, 2]))
    for partition in (sp.MultinomialPartition(["1/2", "1/2"]), sp.RandomPartition([{"a": 1, "b": 1}, {"a": 1}])):
        groups = sp.Population(groups={"a": 2, "b": 1})
        with pytest.raises(sp.ArgumentError, match="over a RandomPartition with the sizes of its parts only"):
            sp.compose([listed] * 2, groups, partition)
    many = sp.PropertyQuery([Fraction(k, 200) for k in range(1, 121)])
    with pytest.raises(sp.NotAvailableError, match="more than 100 different kinds"):
        sp.compose([many] * 2, sp.Population(120), sp.RandomPartition([60, 60]), bound="own-group")


def test_any_number_of_different_entries_is_bounded_by_their_range():
    n, partition = 300, sp.RandomPartition([150, 150])
    listed = [sp.PropertyQuery([Fraction(100 + k, 500) for k in range(n)]), sp.PropertyQuery("1/2")]
    hull = [sp.PropertyQuery(sp.EachBetween("1/5", Fraction(399, 500))), sp.PropertyQuery("1/2")]
    curve, bound = (sp.compose(queries, sp.Population(n), partition) for queries in (listed, hull))
    assert curve.kind == "bound"
    assert curve.delta("0.1") == bound.delta("0.1")


@settings(max_examples=cases(6, campaign=100), deadline=None)
@given(two_properties())
def test_the_range_of_all_entries_bounds_those_in_it(case):
    sizes, parts, laws, _, ratio = case
    population, partition = sp.Population(groups=sizes), sp.RandomPartition(parts)
    queries = [*map(sp.PropertyQuery, laws)]
    exact = sp.compose(queries, population, partition, bound="exact").exact_delta(exp_epsilon=ratio)
    hull = sp.compose(queries, population, partition, bound="hull").delta(log(Fraction(ratio))).upper
    assert float(exact) <= hull * (1 + 1e-12)


def test_the_worst_pair_may_agree_in_an_attribute():
    """Every pair of different values of the critical entry is compared, those that agree in one property too."""
    groups, partition = sp.Population(groups={"a": 1, "b": 1}), sp.RandomPartition([1, 1])
    queries = [sp.PropertyQuery({"a": "1/2", "b": "1/5"}), sp.PropertyQuery({"a": "1/3", "b": "9/10"})]
    rows = rows_of([(Fraction(1, 2), Fraction(1, 3)), (Fraction(1, 5), Fraction(9, 10))])
    law = reference.partitions(2, [1, 1], ordered=False)
    pairs = [pair for pair in product(rows[0], repeat=2) if pair[0] != pair[1]]
    database = reference.Database(rows)
    truth = max(
        reference.privacy_curve(database, ASKED, law, critical=critical, pair=pair)("5/4")
        for critical, pair in product(range(2), pairs)
    )
    assert sp.compose(queries, groups, partition).exact_delta(exp_epsilon="5/4") == truth
