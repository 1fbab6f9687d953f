"""Symmetric functions, families of counts, sums, and databases that change: against enumeration."""

import math
from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import statpriv as sp
from statpriv import noiseless


def databases(n, p):
    for bits in product((0, 1), repeat=n):
        yield bits, math.prod(p if bit else 1 - p for bit in bits)


def answer_laws(n, p, query, entry):
    laws = {0: defaultdict(Fraction), 1: defaultdict(Fraction)}
    for bits, mass in databases(n, p):
        laws[bits[entry]][query(bits)] += mass / (p if bits[entry] else 1 - p)
    return laws


def literal_curve(n, p, query, x):
    """The largest hockey stick over entries and pairs of values."""
    worst = Fraction(0)
    for entry in range(n):
        laws = answer_laws(n, p, query, entry)
        for v, w in ((0, 1), (1, 0)):
            worst = max(worst, sum(max(Fraction(0), m - x * laws[w].get(a, 0)) for a, m in laws[v].items()))
    return worst


def excepted(n, p, query, x, entries=None):
    """P[S_1] with S_1 the answers that tell one of the entries by more than a factor x; no value is excepted."""
    bad, law = set(), defaultdict(Fraction)
    for entry in range(n) if entries is None else entries:
        laws = answer_laws(n, p, query, entry)
        for a in {**laws[0], **laws[1]}:
            one, zero = laws[1].get(a, Fraction(0)), laws[0].get(a, Fraction(0))
            if max(one, zero) > x * min(one, zero):
                bad.add(a)
    for bits, mass in databases(n, p):
        law[query(bits)] += mass
    return sum((law[a] for a in bad), Fraction(0))


# --- Theorem 5 and Corollary 2


@pytest.mark.parametrize("n", [1, 2, 5, 7])
@pytest.mark.parametrize("p", ["1/2", "1/3"])
@pytest.mark.parametrize("x", ["1", "3/2", "2", "5"])
def test_theorem_5_is_the_probability_of_the_counts_outside(n, p, x):
    found = noiseless.symmetric_guarantee(n, p=p, exp_epsilon=x)
    assert excepted(n, Fraction(p), sum, Fraction(x)) in found.delta
    assert found.delta.width < 1e-14


def test_known_entries_leave_the_rest_to_hide_in():
    assert (
        noiseless.symmetric_guarantee(50, "0.3", p="0.4", known=20).delta
        == noiseless.symmetric_guarantee(30, "0.3", p="0.4").delta
    )


def test_corollary_2_any_number_of_symmetric_functions_is_at_most_the_count():
    n, p = 6, Fraction(1, 3)
    functions = (lambda c: c % 2, lambda c: c >= 3, lambda c: min(c, 4), lambda c: (c % 3, c >= 5))
    for x in (Fraction(1), Fraction(3, 2), Fraction(3)):
        count = noiseless.symmetric_curve(n, p=p).exact_delta(exp_epsilon=x)
        assert count == literal_curve(n, p, sum, x)
        for function in functions[:3]:
            curve = noiseless.symmetric_curve(n, p=p, function=function)
            assert (
                curve.exact_delta(exp_epsilon=x)
                == literal_curve(n, p, lambda bits, f=function: f(sum(bits)), x)
                <= count
            )
        together = literal_curve(n, p, lambda bits: tuple(f(sum(bits)) for f in functions), x)
        assert together <= count


# --- families of counts


FAMILIES = [
    [range(6)],
    [range(2), range(6)],
    [range(2), range(4), range(6)],
    [range(4), range(2, 6)],
    [[0, 1], [1, 2], [0, 2]],
    [[0, 1, 2], [2, 3, 4], [4, 5, 0]],
    [[0, 1], [2, 3], [0, 1, 2, 3], [4, 5]],
    [range(3), [1, 2, 3], [2, 3, 4], [3, 4, 5]],
]


@pytest.mark.parametrize("subsets", FAMILIES, ids=str)
@pytest.mark.parametrize("p", ["1/2", "1/3"])
def test_counts_of_any_sets_have_the_curve_of_the_definition(subsets, p):
    counts = noiseless.SubsetCounts(subsets, p=p)
    assert counts.kind == "exact"

    def query(bits):
        return tuple(sum(bits[j] for j in subset) for subset in subsets)

    for x in (Fraction(1), Fraction(3, 2), Fraction(4)):
        exact = literal_curve(6, Fraction(p), query, x)
        found = counts.delta(Fraction(math.log(x)))
        assert found.lower - 1e-12 <= exact <= found.upper + 1e-12
        assert found.width < 1e-12


def test_large_families_are_enclosed_between_a_count_and_the_smallest_block():
    counts = noiseless.SubsetCounts([range(1000), range(300, 1300), range(600, 1600)], p="1/2")
    assert counts.kind == "enclosed"
    low, high = (sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(n)) for n in (1000, counts.hidden_among))
    found = counts.delta("0.1")
    assert (found.lower, found.upper) == (low.delta("0.1").lower, high.delta("0.1").upper)
    least = counts.epsilon("1e-6")
    assert (least.lower, least.upper) == (low.epsilon("1e-6").lower, high.epsilon("1e-6").upper)


# --- Theorem 1


def composed_ratio(parts, tables, n, p, entries):
    """The largest ratio of the probabilities of all answers for the values of the given entries."""

    def answers(bits):
        return tuple(table[tuple(bits[j] for j in part)] for part, table in zip(parts, tables, strict=True))

    worst = Fraction(1)
    for entry in entries:
        laws = answer_laws(n, p, answers, entry)
        for a in {**laws[0], **laws[1]}:
            one, zero = laws[1].get(a, Fraction(0)), laws[0].get(a, Fraction(0))
            worst = max(worst, one / zero if zero else math.inf, zero / one if one else math.inf)
    return worst


def private_table(part, shared, p, source):
    """A random function of some entries with a finite ratio when the shared ones are known, and this ratio."""
    leaks = {tuple(k for k, j in enumerate(part) if j in shared and j != entry) for entry in part}
    while True:
        answers = source.integers(0, 2, 2 ** len(part)).tolist()
        ratio = max(noiseless.BooleanFunction(answers, p=p).ratio(leaked=leak) for leak in leaks)
        if 1 < ratio < math.inf:
            return dict(zip(product((0, 1), repeat=len(part)), answers, strict=True)), ratio


@pytest.mark.parametrize(
    "parts", [[range(3), range(3, 6)], [range(4), range(3, 7)], [range(4), range(3, 8), range(7, 11)]], ids=str
)
def test_theorem_1_and_its_sharper_form_bound_the_exact_ratio(parts):
    n, p = 1 + max(parts[-1]), Fraction(1, 2)
    source = np.random.default_rng(1)
    shared = noiseless.compose_overlapping(parts, 0).shared
    for _ in range(3):
        tables, ratios = zip(*(private_table(part, shared, p, source) for part in parts), strict=True)
        exact = composed_ratio(parts, tables, n, p, range(n))
        sharper = max(math.prod(r for part, r in zip(parts, ratios, strict=True) if j in part) for j in range(n))
        assert exact <= sharper <= math.prod(ratios)
        found = noiseless.compose_overlapping(parts, [math.log(r) for r in ratios])
        assert float(found.epsilon) == pytest.approx(math.log(sharper), abs=1e-12)
        assert float(found.printed_epsilon) == pytest.approx(math.log(math.prod(ratios)), abs=1e-12)


def test_misprint_theorem_13_with_one_excepted_set_delta_adds_up():
    """Two disjoint counts of four fair bits, each (ln 3, 1/8)-private with the counts 0 and 4 excepted.

    A set of answers that serves the entries of both has probability 1 − (7/8)² = 15/64; for one entry 1/8 is enough.
    """
    one = noiseless.FiniteModel([{0: "1/2", 1: "1/2"}] * 4, sum)
    assert one.delta(exp_epsilon=3) == Fraction(1, 8)
    both = noiseless.FiniteModel([{0: "1/2", 1: "1/2"}] * 8, lambda bits: (sum(bits[:4]), sum(bits[4:])))
    assert both.delta(exp_epsilon=3) == Fraction(15, 64)
    half = Fraction(1, 2)
    assert excepted(8, half, lambda bits: (sum(bits[:4]), sum(bits[4:])), 3, entries=range(4)) == Fraction(1, 8)
    together = noiseless.compose_overlapping([range(4), range(4, 8)], math.log(3), "1/8")
    assert (together.delta, together.delta_of_each_entry) == (Fraction(1, 4), Fraction(1, 8))
    assert both.delta(exp_epsilon=3) <= together.delta


# --- timelines


def test_theorem_12_a_growing_database_loses_nothing():
    grown = noiseless.Timeline(40, p="0.3").count().add(60).count().add(50).count()
    assert grown.new_before_each_query == (40, 60, 50)
    counts = grown.counts()
    assert counts.kind == "exact"
    assert counts.delta("0.2") == sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(40)).delta("0.2")
    assert counts.blocks == {(0, 1, 2): 40, (1, 2): 60, (2,): 50}


def test_theorem_13_queries_that_read_new_entries_only():
    stream = noiseless.Timeline(100)
    for _ in range(5):
        stream.ask("0.1", "0.001", reads="new").replace_oldest(30)
    found = stream.composition()
    assert (found.epsilon, found.printed_epsilon) == (Fraction("0.1"), Fraction("0.5"))
    assert found.delta_of_each_entry == Fraction("0.001")
    assert found.leaks == (0,) * 5


def test_random_replacement_is_charged_by_how_long_an_entry_stays():
    source = np.random.default_rng(3)
    drawn = noiseless.Timeline(20)
    stays = dict.fromkeys(range(20), 0)
    for _ in range(4):
        drawn.ask("0.25", leaked=20)
        for entry in drawn.present:
            stays[entry] = stays.get(entry, 0) + 1
        drawn.replace(source.permutation(drawn.present)[:10].tolist())
    assert drawn.composition().epsilon == Fraction(1, 4) * max(stays.values())


def test_definition_7_corollary_1_refreshing_all_but_d_entries():
    d, m = 3, 4
    timeline = noiseless.Timeline(12)
    timeline.ask("0.5", "0.01", leaked=d)
    for _ in range(m - 1):
        timeline.refresh(keep=timeline.present[:d]).ask("0.5", "0.01", leaked=d)
    found = timeline.composition()
    assert found.leaks == (d,) * m
    assert (found.epsilon, found.delta) == (Fraction(2), Fraction("0.04"))


def test_a_replaced_entry_and_a_replacement_have_the_curve_of_the_definition():
    timeline = noiseless.Timeline(4, p="1/2").count().replace([1, 2]).count()
    assert timeline.present == (0, 3, 4, 5)
    counts = timeline.counts()

    def query(bits):
        return bits[0] + bits[1] + bits[2] + bits[3], bits[0] + bits[3] + bits[4] + bits[5]

    exact = literal_curve(6, Fraction(1, 2), query, Fraction(2))
    found = counts.delta(Fraction(math.log(2)))
    assert found.lower - 1e-12 <= exact <= found.upper + 1e-12
    assert counts.kind == "exact"


# --- sums


def test_sums_of_functions_have_the_curve_of_the_definition():
    law = {0: Fraction(1, 2), 1: Fraction(1, 4), 3: Fraction(1, 4)}
    moved = noiseless.sum_curve(law, 4, function=lambda value: value * value)
    entries = sp.reference.iid(law, 4)
    reference = sp.reference.privacy_curve(entries, lambda rows: sum(value * value for value in rows), critical=0)
    for x in ("1", "3/2", "4"):
        assert moved.exact_delta(exp_epsilon=x) == reference(x)


def test_sums_of_groups_and_known_entries():
    laws = {"a": {0: "1/2", 1: "1/2"}, "b": {0: "1/3", 1: "2/3"}}
    found = noiseless.sum_curve(laws, {"a": 2, "b": 3}, known={"a": 1, "b": 0})
    assert found.delta("0.5").upper < 1
    assert noiseless.sum_curve(laws["a"], 10, known=4).delta("0.5") == noiseless.sum_curve(laws["a"], 6).delta("0.5")


@pytest.mark.parametrize(("share", "theorem"), [(0, "Theorem 7"), ("0.5", "Theorem 8")])
def test_asymptotic_theorems_raise_and_name_what_replaces_them(share, theorem):
    with pytest.raises(sp.NotAvailableError, match=rf"{theorem} is asymptotic.*sum_curve.*linear_mu"):
        noiseless.sum_guarantee(entries=100, known_fraction=share)


def test_misprint_theorem_7_the_constant_factor_does_not_vanish():
    """The proof leaves 1.1/0.9 in the ratio: by it ε >= ln(1.1/0.9) = 0.2 for any n, against O(ln n/n^{1/6}) stated."""
    n = 10**40
    assert math.log(1.1 / 0.9) > math.log(n) / n ** (1 / 6)


# --- densities on an interval


def irwin_hall(n, x):
    """The density of a sum of n uniform numbers from 0 to 1."""
    return sum((-1) ** k * math.comb(n, k) * max(0.0, x - k) ** (n - 1) for k in range(n + 1)) / math.factorial(n - 1)


@pytest.mark.parametrize("difference", ["1/2", "0.3", "1"])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_the_discretised_bound_is_above_the_curve_of_uniform_entries(difference, epsilon):
    """δ of v + S against S, S a sum of six uniform numbers, by numerical integration of the closed form."""
    shift, others = float(Fraction(difference)), 6
    grid = np.linspace(0, others + 1, 14_001)
    moved = np.array([irwin_hall(others, x - shift) if x > shift else 0.0 for x in grid])
    still = np.array([irwin_hall(others, x) if x < others else 0.0 for x in grid])
    exact = float(np.maximum(0, moved - math.exp(epsilon) * still).sum() * (grid[1] - grid[0]))
    bounds = [
        noiseless.density_sum_guarantee([1] * cells, 7, epsilon, width=Fraction(1, cells), difference=difference).delta
        for cells in (4, 32)
    ]
    assert exact <= bounds[1].upper + 1e-4
    assert exact <= bounds[0].upper + 1e-4
    assert bounds[1].upper <= exact * 1.15 + 1e-3


def test_a_lower_bound_of_the_density_costs_little():
    whole = noiseless.density_sum_guarantee(["1/10"] * 10, 400, "0.2", width=1, difference=3).delta.upper
    rough = noiseless.density_sum_guarantee(["0.09"] * 10, 400, "0.2", width=1, difference=3).delta.upper
    fewer = noiseless.density_sum_guarantee(["1/10"] * 10, 350, "0.2", width=1, difference=3).delta.upper
    assert whole < rough < 1.5 * fewer


def test_no_difference_no_delta_and_nobody_to_hide_among():
    assert noiseless.density_sum_guarantee([1], 5, 0, width=1, difference=0).delta.upper == 0
    assert noiseless.density_sum_guarantee([1], 1, 0, width=1, difference=1).delta.upper == 1
