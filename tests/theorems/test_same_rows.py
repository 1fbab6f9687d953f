"""Several answers about the same rows: bounds against brute force over joint laws of the attributes of a row."""

from fractions import Fraction
from itertools import product
from math import exp, log, nextafter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv._native import Curve, Law

from ..cases import cases

OWN = sp.EachBetween("0.2", "0.7")
ATTRIBUTE, ROW = sp.SameRows(protects="attribute"), sp.SameRows(protects="row")
RATIOS = st.sampled_from(["1", "21/20", "3/2", "3"])


def count(attribute, own=OWN):
    return sp.PropertyQuery(own, attribute=attribute)


def records(attributes):
    """Joint laws of so many bits, by positive integer weights of all combinations."""
    combinations = list(product((0, 1), repeat=attributes))
    weights = st.lists(st.integers(1, 9), min_size=len(combinations), max_size=len(combinations))
    return weights.map(
        lambda drawn: {values: Fraction(w, sum(drawn)) for values, w in zip(combinations, drawn, strict=True)}
    )


def rows(attributes, most):
    return st.lists(records(attributes), min_size=2, max_size=most)


def ranges_of(laws, attributes):
    """For each attribute the range of its conditional probabilities given the others, over these rows."""

    def conditional(law, k, rest):
        one, zero = ((*rest[:k], bit, *rest[k:]) for bit in (1, 0))
        return law[one] / (law[one] + law[zero])

    found = []
    for k in range(attributes):
        all_of = [conditional(law, k, rest) for law in laws for rest in product((0, 1), repeat=attributes - 1)]
        found.append((min(all_of), max(all_of)))
    return found


def counts_of(attributes):
    return lambda chosen: tuple(sum(row[k] for row in chosen) for k in range(attributes))


def differing(attributes, k):
    """Ordered pairs of records that differ in attribute k alone."""
    for rest in product((0, 1), repeat=attributes - 1):
        one, zero = ((*rest[:k], bit, *rest[k:]) for bit in (1, 0))
        yield from ((one, zero), (zero, one))


def composed(laws, attributes, kind):
    asked = [count(str(k), sp.EachBetween(*ends)) for k, ends in enumerate(ranges_of(laws[1:], attributes))]
    return sp.compose(asked, sp.Population(len(laws)), kind)


def by_brute_force(laws, attributes, pairs):
    database = sp.reference.Database(laws)
    curves = [sp.reference.privacy_curve(database, counts_of(attributes), critical=0, pair=pair) for pair in pairs]
    return lambda ratio: max(curve(ratio) for curve in curves)


BITS = list(product((0, 1), repeat=2))
"""Records of two attributes."""
TABLE_ROWS = list(product("abc", (0, 1)))
"""Records of a table's cell and of a bit."""


@settings(max_examples=cases(8, campaign=300), deadline=None)
@given(st.lists(st.lists(st.integers(1, 9), min_size=6, max_size=6), min_size=2, max_size=4), RATIOS)
def test_a_table_beside_a_count_of_the_same_rows_is_within_the_bound(weights, ratio):
    laws = [dict(zip(TABLE_ROWS, (Fraction(w, sum(own)) for w in own), strict=True)) for own in weights]

    def conditional(law, cell, bit):
        """The probability of the cell given the bit."""
        return law[cell, bit] / sum(law[other, bit] for other in "abc")

    shares = [[conditional(law, cell, bit) for law in laws[1:] for bit in (0, 1)] for cell in "abc"]
    bits = [law[cell, 1] / (law[cell, 0] + law[cell, 1]) for law in laws[1:] for cell in "abc"]
    own = [sp.EachBetween(min(share), max(share)) for share in shares]
    table = sp.ContingencyTable({"cell": list("abc")}, minimum=2, p=own, attribute="cell")
    asked = [table, count("bit", sp.EachBetween(min(bits), max(bits)))]

    def published(chosen):
        counts = tuple(sum(row[0] == cell for row in chosen) for cell in "abc")
        return counts if min(counts) >= 2 else None, sum(row[1] for row in chosen)

    database = sp.reference.Database(laws)

    def worst_of(differ):
        pairs = [(x, y) for x, y in product(TABLE_ROWS, repeat=2) if differ(x, y)]
        curves = [sp.reference.privacy_curve(database, published, critical=0, pair=pair) for pair in pairs]
        return max(curve(ratio) for curve in curves)

    epsilon = log(Fraction(ratio))
    for kind, differ in ((ATTRIBUTE, lambda x, y: (x[0] != y[0]) + (x[1] != y[1]) == 1), (ROW, lambda x, y: x != y)):
        curve = sp.compose(asked, sp.Population(len(laws)), kind)
        assert worst_of(differ) <= Fraction(curve.delta(epsilon).upper) + Fraction(1, 10**12)


@settings(max_examples=cases(12, campaign=300), deadline=None)
@given(rows(2, 3), RATIOS, st.data())
def test_samples_of_the_same_rows_are_within_the_bound(laws, ratio, data):
    """Each question on a secret sample of its own, which may overlap; the first one on two, in half of the cases."""
    n, about = len(laws), data.draw(st.sampled_from([(0, 1), (0, 1, 0)]))
    sizes = [data.draw(st.integers(1, n)) for _ in about]
    asked = [lambda chosen, k=k: sum(row[k] for row in chosen) for k in about]
    database, samples = sp.reference.Database(laws), sp.reference.overlapping(n, sizes, ordered=False)

    def truth(pairs):
        return max(sp.reference.privacy_curve(database, asked, samples, critical=0, pair=pair)(ratio) for pair in pairs)

    ranges = [sp.EachBetween(*ends) for ends in ranges_of(laws[1:], 2)]
    queries = [count(str(k), ranges[k]) for k in about]
    attribute, row = (
        sp.compose(queries, sp.Population(n), sp.SameRows(protects=protects, samples=sizes))
        for protects in ("attribute", "row")
    )
    assert truth([pair for k in range(2) for pair in differing(2, k)]) <= upper_at(attribute, ratio)
    assert truth([((1, 1), (0, 0)), ((0, 0), (1, 1)), ((1, 0), (0, 1)), ((0, 1), (1, 0))]) <= upper_at(row, ratio)


@settings(max_examples=cases(8, campaign=200), deadline=None)
@given(st.tuples(*[st.integers(1, 9)] * 2), st.tuples(*[st.integers(1, 4)] * 2), RATIOS)
def test_samples_about_independent_attributes_attain_the_curve_of_one(shares, sizes, ratio):
    p, q = (Fraction(share, 10) for share in shares)
    law = {(a, b): (p if a else 1 - p) * (q if b else 1 - q) for a, b in product((0, 1), repeat=2)}
    entries, samples = sp.reference.Database([law] * 4), sp.reference.overlapping(4, sizes, ordered=False)
    asked = [lambda chosen, k=k: sum(row[k] for row in chosen) for k in range(2)]
    pairs = [pair for k in range(2) for pair in differing(2, k)]
    truth = max(sp.reference.privacy_curve(entries, asked, samples, critical=0, pair=pair)(ratio) for pair in pairs)
    queries = [count(name, sp.EachBetween(p, p)) for name, p in (("a", p), ("b", q))]
    curve = sp.compose(queries, sp.Population(4), sp.SameRows(protects="attribute", samples=sizes))
    assert curve.kind == "exact"
    assert curve.exact_delta(exp_epsilon=ratio) == truth


def test_a_sample_about_what_all_rows_answer_tells_nothing():
    asked, people = [count("a"), count("a"), count("b")], sp.Population(300)
    both = sp.compose(asked, people, sp.SameRows(protects="row", samples=[None, 100, None])).delta("0.1")
    assert both == sp.compose(asked[1:], people, ROW).delta("0.1")
    alone = sp.compose(asked, people, sp.SameRows(protects="row", samples=[100, 100, None])).delta("0.1")
    assert alone.upper <= both.upper


def households(attributes, sizes):
    """For each household the joint law of the records of its members, with any dependence inside."""
    return st.tuples(*(_household(list(product(product((0, 1), repeat=attributes), repeat=size))) for size in sizes))


def _household(combinations):
    weights = st.lists(st.sampled_from([1, 2, 9]), min_size=len(combinations), max_size=len(combinations))
    return weights.map(lambda w: {who: Fraction(one, sum(w)) for who, one in zip(combinations, w, strict=True)})


def given_the_rest(household, k):
    """The least and the largest probability of attribute k of a member, given everything else of the household."""
    found = []
    for member in range(len(next(iter(household)))):
        for records in household:
            record = records[member]
            other = (*record[:k], 1 - record[k], *record[k + 1 :])
            opposite = household[(*records[:member], other, *records[member + 1 :])]
            found.append((household[records] if record[k] else opposite) / (household[records] + opposite))
    return min(found), max(found)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from([[1, 2], [2, 1, 1], [2, 2], [3, 1]]).flatmap(lambda sizes: households(2, sizes)), RATIOS)
def test_records_of_households_are_within_the_bound(laws, ratio):
    truth = sp.reference.clustered_curve(laws, counts_of(2), critical=(0, 0))
    ranges = [[given_the_rest(law, k) for law in laws[1:]] for k in range(2)]
    asked = [
        count(str(k), sp.EachBetween(min(low for low, _ in own), max(high for _, high in own)))
        for k, own in enumerate(ranges)
    ]
    sizes = [len(next(iter(law))) for law in laws]
    people = sp.Population(sum(sizes), clusters=len(sizes), largest_cluster=max(sizes))
    for protected in (ATTRIBUTE, ROW):
        curve = sp.compose(asked, people, protected)
        assert curve.kind == "bound"
        assert truth(ratio) <= upper_at(curve, ratio)


def test_an_attribute_of_a_household_moves_its_others_too():
    """Two members whose answers to both questions are one coin: all answers tell it, whichever attribute differs."""
    alike = {((a, a), (a, b)): Fraction(1, 4) for a, b in product((0, 1), repeat=2)}
    alone = {((a, b),): Fraction(1, 4) for a, b in product((0, 1), repeat=2)}
    truth = sp.reference.clustered_curve([alike, *[alone] * 3], counts_of(2), critical=(0, 0))
    one = sp.privacy_curve(sp.PropertyQuery(sp.EachBetween("1/2", "1/2")), sp.Population(4))
    assert truth("11/10") > one.exact_delta(exp_epsilon="11/10")
    people = sp.Population(5, clusters=4, largest_cluster=2)
    asked = [count(name, sp.EachBetween("1/2", "1/2")) for name in "ab"]
    assert truth("11/10") <= sp.compose(asked, people, ATTRIBUTE).delta(log(1.1)).upper


def test_households_are_never_safer_than_strangers():
    asked = [count(name) for name in "abc"]
    for protected in (ATTRIBUTE, ROW):
        strangers = sp.compose(asked, sp.Population(300), protected).delta("0.5")
        for largest, clusters in ((1, 300), (2, 150), (3, 100)):
            people = sp.Population(300, clusters=clusters, largest_cluster=largest)
            hanging = sp.compose(asked, people, protected).delta("0.5")
            assert strangers.lower <= hanging.upper
            strangers = hanging


@settings(max_examples=25, deadline=None)
@given(rows(2, 5), RATIOS)
def test_one_attribute_is_as_private_as_if_it_were_alone(laws, ratio):
    truth = by_brute_force(laws, 2, [pair for k in range(2) for pair in differing(2, k)])
    curve = composed(laws, 2, ATTRIBUTE)
    assert curve.kind == "exact"
    assert truth(ratio) <= curve.exact_delta(exp_epsilon=ratio)


@settings(max_examples=20, deadline=None)
@given(rows(2, 5), RATIOS)
def test_a_row_of_two_attributes_is_within_the_bound(laws, ratio):
    truth = by_brute_force(
        laws, 2, [pair for pair in product(product((0, 1), repeat=2), repeat=2) if pair[0] != pair[1]]
    )
    assert truth(ratio) <= upper_at(composed(laws, 2, ROW), ratio)


@settings(max_examples=8, deadline=None)
@given(rows(3, 3), RATIOS)
def test_rows_of_three_attributes_are_within_the_bounds(laws, ratio):
    opposite = [(row, tuple(1 - bit for bit in row)) for row in product((0, 1), repeat=3)]
    assert by_brute_force(laws, 3, opposite)(ratio) <= upper_at(composed(laws, 3, ROW), ratio)
    single = [pair for k in range(3) for pair in differing(3, k)]
    assert by_brute_force(laws, 3, single)(ratio) <= composed(laws, 3, ATTRIBUTE).exact_delta(exp_epsilon=ratio)


def upper_at(curve, ratio):
    """δ at most at e^ε = ratio: at an ε that is not above its logarithm."""
    return Fraction(curve.delta(max(nextafter(log(Fraction(ratio)), 0.0), 0.0)).upper)


def test_an_analyst_who_chooses_by_the_answers_is_covered():
    """The second attribute is asked, rounded, only if the first count is large."""
    law = {(0, 0): "4/10", (0, 1): "1/10", (1, 0): "2/10", (1, 1): "3/10"}
    laws = [{values: Fraction(mass) for values, mass in law.items()}] * 4

    def transcript(chosen):
        first, second = counts_of(2)(chosen)
        return (first, second // 2) if first >= 2 else (first, None)

    database = sp.reference.Database(laws)
    for pair in [pair for k in range(2) for pair in differing(2, k)]:
        truth = sp.reference.privacy_curve(database, transcript, critical=0, pair=pair)
        for ratio in ("1", "5/4", "2"):
            assert truth(ratio) <= composed(laws, 2, ATTRIBUTE).exact_delta(exp_epsilon=ratio)


def test_the_other_answers_cost_nothing_for_one_attribute():
    alone = sp.privacy_curve(count("a"), sp.Population(30))
    for others in (1, 5, 40):
        together = sp.compose([count(str(k)) for k in range(others)], sp.Population(30), ATTRIBUTE)
        assert together.delta("0.3") == alone.delta("0.3")


def test_the_worst_attribute_counts():
    asked = [count("a"), count("b", sp.EachBetween("0.05", "0.9")), count("c", sp.EachBetween("0.4", "0.6"))]
    together = sp.compose(asked, sp.Population(12), ATTRIBUTE, adversary=sp.Adversary(known=2))
    alone = [sp.privacy_curve(query, sp.Population(10)).exact_delta(exp_epsilon="1.2") for query in asked]
    assert together.exact_delta(exp_epsilon="1.2") == max(alone)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)).map(sorted), min_size=1, max_size=4),
    st.integers(2, 12),
    st.sampled_from(["0", "0.1", "0.7", "3"]),
)
def test_a_row_is_never_safer_than_an_attribute(ends, n, epsilon):
    asked = [count(str(k), sp.EachBetween(Fraction(low, 10), Fraction(high, 10))) for k, (low, high) in enumerate(ends)]
    attribute, row = (sp.compose(asked, sp.Population(n), kind).delta(epsilon) for kind in (ATTRIBUTE, ROW))
    assert attribute.lower <= row.upper
    if len(ends) == 1:
        assert attribute == row


def test_the_row_of_equal_attributes_is_split_well():
    """Two attributes: no split on a grid is better by much, and δ falls as ε rises."""
    asked, population = [count("a"), count("b")], sp.Population(12)
    alone, row = sp.privacy_curve(count("a"), population), sp.compose(asked, population, ROW)
    values = [alone.delta(k / 20).upper for k in range(41)]
    best = min(values[k] + exp(k / 20) * values[40 - k] for k in range(41))
    assert 0.98 * best <= row.delta(2).upper <= 1.05 * best
    found = row.epsilon("0.5")
    assert row.delta(found.upper).upper <= 0.5 < row.delta(found.lower * 0.99).lower
    assert row.kind == "bound"


def test_several_answers_about_one_attribute_are_one_mechanism():
    rounded, gated = count("a").rounded(5), count("a").gated(2, 9)
    bare = sp.privacy_curve(count("a"), sp.Population(12)).delta("0.2")
    with_count = sp.compose([count("a"), rounded], sp.Population(12), ATTRIBUTE)
    assert (with_count.kind, with_count.delta("0.2")) == ("exact", bare)
    without = sp.compose([rounded, gated, count("b", sp.EachBetween("0.4", "0.6"))], sp.Population(12), ATTRIBUTE)
    assert (without.kind, without.delta("0.2")) == ("bound", bare)


def test_without_conditional_ranges_two_margins_may_give_a_row_away():
    """Everybody has A = B: the difference of the two counts shows who has not."""
    alike = {(0, 0): Fraction(1, 2), (1, 1): Fraction(1, 2), (0, 1): Fraction(0), (1, 0): Fraction(0)}
    curve = sp.reference.privacy_curve(
        sp.reference.Database([alike] * 4), counts_of(2), critical=0, pair=((0, 0), (0, 1))
    )
    assert curve("100") == 1


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.lists(st.integers(1, 9), min_size=2, max_size=2), min_size=2, max_size=4),
    st.tuples(st.integers(0, 1), st.integers(0, 1)),
    RATIOS,
)
def test_independent_attributes_compose(tenths, record, ratio):
    """Rows of two independent bits each: the worst product over all ends of the ranges, by brute force."""
    laws = [
        {
            (a, b): (Fraction(p, 10) if a else 1 - Fraction(p, 10)) * (Fraction(q, 10) if b else 1 - Fraction(q, 10))
            for a, b in product((0, 1), repeat=2)
        }
        for p, q in tenths
    ]
    truth = by_brute_force(laws, 2, [(record, tuple(1 - bit for bit in record))])(ratio)
    ranges = [(Fraction(min(column), 10), Fraction(max(column), 10)) for column in zip(*tenths[1:], strict=True)]
    asked = [count(str(k), sp.EachBetween(*ends)) for k, ends in enumerate(ranges)]
    independent = sp.SameRows(protects="row", independent=True)
    exact = sp.compose(asked, sp.Population(len(laws)), independent)
    assert exact.kind == "exact"
    reached = exact.exact_delta(exp_epsilon=ratio)
    assert truth <= reached
    corners = product(*(product(ends, repeat=len(laws) - 1) for ends in ranges))
    assert reached == max(_of_corner(corner, ratio) for corner in corners)


def _of_corner(corner, ratio):
    """The worst pair of opposite records, for other rows with these probabilities of either attribute."""
    laws = []
    for probabilities in corner:
        law = [Fraction(1)]
        for p in probabilities:
            law = [(1 - p) * a + p * b for a, b in zip([*law, 0], [0, *law], strict=True)]
        laws.append((dict(enumerate(law)), {k + 1: mass for k, mass in enumerate(law)}))

    def joint(record):
        first, second = (laws[k][bit] for k, bit in enumerate(record))
        return {(i, j): a * b for (i, a), (j, b) in product(first.items(), second.items())}

    opposite = [((a, b), (1 - a, 1 - b)) for a, b in product((0, 1), repeat=2)]
    return max(sp.reference.hockey_stick(joint(v), joint(w), ratio) for v, w in opposite)


def test_the_bounds_of_independent_attributes_are_above_the_exact_curve():
    asked = [count("a"), count("b", sp.EachBetween("0.4", "0.6"))]
    curves = [
        sp.compose(asked, sp.Population(8), sp.SameRows(protects="row", independent=True), bound=bound)
        for bound in ("exact", "product", "in-turn")
    ]
    for epsilon in ("0", "0.1", "0.5", "2", "9"):
        exact, dominated, in_turn = (curve.delta(epsilon).upper for curve in curves)
        assert exact <= dominated <= 1.08 * exact
        assert exact <= in_turn


TWO_LAWS = [(p, q) for p in ("0.2", "0.5") for q in ("0.5", "0.9")]


@pytest.mark.parametrize(("p", "q"), TWO_LAWS)
def test_independent_attributes_may_state_their_probabilities(p, q):
    """Against enumeration: one attribute, and the whole row, whose worst pairs differ in both."""
    law = {(a, b): Fraction(p if a else 1 - Fraction(p)) * Fraction(q if b else 1 - Fraction(q)) for a, b in BITS}
    entries, people = sp.reference.Database([law] * 4), sp.Population(4)
    asked = [sp.PropertyQuery(own, attribute=name) for name, own in (("a", p), ("b", q))]
    for protects, different in (("attribute", 1), ("row", 2)):
        curve = sp.compose(asked, people, sp.SameRows(protects=protects, independent=True))
        pairs = [(v, w) for v, w in product(BITS, repeat=2) if (v[0] != w[0]) + (v[1] != w[1]) == different]
        for ratio in ("1", "3/2", "3"):
            truth = max(
                sp.reference.privacy_curve(entries, counts_of(2), critical=0, pair=pair)(ratio) for pair in pairs
            )
            assert curve.kind == "exact"
            assert curve.exact_delta(exp_epsilon=ratio) == truth


def test_independent_attributes_may_state_ranges_that_all_rows_share():
    """The bound holds for every p and q in the ranges, and assumes nothing of single rows."""
    independent = sp.SameRows(protects="row", independent=True)
    between = [sp.PropertyQuery(sp.Between("0.3", "0.6"), attribute=name) for name in "ab"]
    bound = sp.compose(between, sp.Population(9), independent)
    assert bound.kind == "bound"
    for p, q in product(("0.3", "0.45", "0.6"), repeat=2):
        asked = [sp.PropertyQuery(own, attribute=name) for name, own in (("a", p), ("b", q))]
        inside = sp.compose(asked, sp.Population(9), independent)
        for epsilon in (0, "0.2", 1):
            assert inside.delta(epsilon).upper <= bound.delta(epsilon).upper
    assert any("same probability" in text for text in bound.assumptions)
    each = sp.compose([count("a"), count("b")], sp.Population(9), independent)
    assert any("of its own" in text for text in each.assumptions)


@settings(max_examples=cases(5, campaign=200), deadline=None)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=3), st.integers(1, 9), st.integers(2, 5), RATIOS)
def test_an_exact_table_of_any_law_beside_an_independent_count_is_within_the_bound(weights, tenths, rows, ratio):
    cells, p = "abc"[: len(weights)], Fraction(tenths, 10)
    shares = {cell: Fraction(weight, sum(weights)) for cell, weight in zip(cells, weights, strict=True)}
    law = {(cell, bit): share * (p if bit else 1 - p) for cell, share in shares.items() for bit in (0, 1)}

    def published(chosen):
        counts = tuple(sum(row[0] == cell for row in chosen) for cell in cells)
        return counts if min(counts) >= 2 else None, sum(row[1] for row in chosen)

    database = sp.reference.Database([law] * rows)
    pairs = [(x, y) for x, y in product(law, repeat=2) if x != y]
    truth = max(sp.reference.privacy_curve(database, published, critical=0, pair=pair)(ratio) for pair in pairs)
    table = sp.ContingencyTable({"cell": list(cells)}, minimum=2, attribute="cell")
    asked = [table, sp.PropertyQuery(p, attribute="bit")]
    curve = sp.compose(asked, sp.Population(rows), sp.SameRows(protects="row", independent=True))
    assert truth <= upper_at(curve, ratio)


def test_a_range_that_all_rows_share_does_not_stand_beside_one_of_single_rows():
    mixed = [sp.PropertyQuery(sp.Between("0.3", "0.6"), attribute="a"), count("b")]
    with pytest.raises(sp.ArgumentError, match=r"write sp\.EachBetween for all ranges"):
        sp.compose(mixed, sp.Population(9), sp.SameRows(protects="row", independent=True))


@pytest.mark.campaign  # alone it notices a width for large tables
def test_the_product_of_large_tables_is_next_to_its_lower_end():
    """Rows that all have one end: the product of exact laws is attained."""
    asked, independent = [count("a"), count("b")], sp.SameRows(protects="row", independent=True)
    bound = sp.compose(asked, sp.Population(60), independent)
    assert bound.kind == "bound"
    attained = 0.0
    for p, q in product(("0.2", "0.7"), repeat=2):
        first, second = (Law.binomial(59, end) for end in (p, q))
        apart = Law.sum([first, second.scaled(61)])
        for moved in (62, 60, -62, -60):
            attained = max(attained, Curve.answers(apart.shifted(moved), apart).delta("0.4").upper)
    assert attained <= bound.delta("0.4").upper <= 1.05 * attained
    assert bound.delta("0.4").upper < sp.compose(asked, sp.Population(60), ROW).delta("0.4").upper


REFUSED = {
    "a probability": ([sp.PropertyQuery("0.5", attribute="a")], "given the other attributes"),
    "one range for all": ([sp.PropertyQuery(sp.Between("0.4", "0.6"), attribute="a")], "EachBetween"),
    "no attribute": ([sp.PropertyQuery(OWN)], "has no attribute"),
    "two ranges of one attribute": ([count("a"), count("a", sp.EachBetween("0.1", "0.9"))], "two different p"),
    "two kinds of one attribute": ([count("a"), sp.HistogramQuery([OWN, OWN], attribute="a")], "one kind of values"),
    "nothing": ([], "at least one query"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_states_no_conditional_range_is_refused(what):
    queries, reason = REFUSED[what]
    with pytest.raises(sp.ArgumentError, match=reason):
        sp.compose(queries, sp.Population(10), ATTRIBUTE)


def test_pairs_known_rows_and_clusters_that_do_not_fit_are_refused():
    with pytest.raises(sp.ArgumentError, match="leave pair out"):
        sp.compose([count("a")], sp.Population(10), ROW, pair=(1, 0))
    with pytest.raises(sp.ArgumentError, match="at most 9"):
        sp.compose([count("a")], sp.Population(10), ROW, adversary=sp.Adversary(known=10))
    cells = sp.HistogramQuery([OWN, sp.EachBetween("0.3", "0.8")], attribute="a")
    with pytest.raises(sp.NotAvailableError, match="cluster"):
        sp.compose([cells], sp.Population(10, clusters=5, largest_cluster=2), ROW)
    with pytest.raises(sp.ArgumentError, match="protects = 'both'"):
        sp.SameRows(protects="both")


def test_explain_says_what_is_protected():
    attribute, row = (sp.compose([count("a"), count("b")], sp.Population(10), kind) for kind in (ATTRIBUTE, ROW))
    assert "the row as a whole" in str(attribute.explain())
    assert "the row as a whole" not in str(row.explain())
    assert "given all other attributes of its row" in str(attribute.explain())
    for curve in (attribute, row):
        assert curve.reversed() is curve
        with pytest.raises(sp.NotAvailableError):
            curve.certify(epsilon=1, delta=1)
        with pytest.raises(sp.NotAvailableError):
            curve.worst_case_pairs()
        with pytest.raises(sp.NotAvailableError):
            curve.sensitivity(epsilon=1)
        assert curve.compare("0.1").rows
        assert curve.table()
