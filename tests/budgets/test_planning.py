"""`sp.design`: the answers hold, the neighbours do not, and nothing further on does where that is claimed."""

import json
import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv.planning import study

from ..cases import cases

HALF = Fraction(1, 2)
EPSILON = Fraction(1, 10)
EXP = mpmath.MPContext()
EXP.dps = 50
LAST = EXP.mpf(10) ** -40
"""Above the rounding of the oracle: values such as 1/2 are reached exactly."""


def hockey_stick(n, p, epsilon=EPSILON):
    """The worse direction for the count of n entries, from the definition, to 40 digits."""
    ratio = EXP.exp(EXP.mpf(epsilon.numerator) / epsilon.denominator)
    law = [math.comb(n - 1, k) * p**k * (1 - p) ** (n - 1 - k) for k in range(n)]
    law = [EXP.mpf(mass.numerator) / mass.denominator for mass in law]
    one, zero = [0, *law], [*law, 0]
    return max(
        sum(max(0, a - ratio * b) for a, b in zip(one, zero, strict=True)),
        sum(max(0, b - ratio * a) for a, b in zip(one, zero, strict=True)),
    )


def spc(n, size, known, p):
    """The mean of the curve of the unknown entries of a part that holds the critical one."""
    total = EXP.mpf(0)
    for z in range(min(known, size - 1) + 1):
        if size - 1 - z > n - 1 - known:
            continue
        weight = Fraction(math.comb(known, z) * math.comb(n - 1 - known, size - 1 - z), math.comb(n - 1, size - 1))
        total += EXP.mpf(weight.numerator) / weight.denominator * hockey_stick(size - z, p)
    return total


def theorem_5_2(n, m, known, p):
    """Σ_k (n_k/n) SPC(n_k) over m parts of all entries whose sizes differ by at most one."""
    quotient, larger = divmod(n, m)
    parts = [(quotient + 1, larger), (quotient, m - larger)]
    return sum(EXP.mpf(count * size) / n * spc(n, size, known, p) for size, count in parts if count)


def squared_error(size, n, p=HALF):
    return p * (1 - p) * (Fraction(1, size) - Fraction(1, n))


def unrelated(p=HALF):
    return sp.PropertyQuery(p)


def same(p=HALF):
    return sp.PropertyQuery(p, attribute="a")


# --- the lemmas, on every small case


@pytest.mark.parametrize("known", [0, 3])
@pytest.mark.parametrize("p", [HALF, Fraction(1, 5)])
def test_the_sum_of_theorem_5_2_does_not_fall_with_the_number_of_parts(p, known):
    n = 18
    sums = [theorem_5_2(n, m, known, p) for m in range(1, n + 1)]
    assert all(fewer <= more + LAST for fewer, more in pairwise(sums))


@pytest.mark.parametrize("known", [0, 2])
def test_the_sum_of_theorem_5_2_does_not_rise_with_the_population(known):
    sums = [theorem_5_2(n, 3, known, Fraction(3, 10)) for n in range(3, 26)]
    assert all(larger <= smaller + LAST for smaller, larger in pairwise(sums))


@pytest.mark.parametrize("m", [1, 2, 5])
def test_the_error_rises_within_a_size_of_the_parts_and_falls_along_multiples(m):
    for s in range(1, 12):
        block = [squared_error(s, m * s + r) for r in range(m)]
        assert block == sorted(block) or m == 1
        assert squared_error(s + 1, m * (s + 1)) <= squared_error(s, m * s)


# --- answers against all alternatives


@settings(max_examples=cases(10, campaign=250), deadline=None)
@given(
    n=st.integers(2, 24),
    p=st.sampled_from([HALF, Fraction(1, 5), Fraction(7, 10)]),
    delta=st.integers(1, 99).map(lambda k: Fraction(k, 100)),
    known=st.integers(0, 2),
)
def test_most_queries_is_the_largest_number_that_the_sum_allows(n, p, delta, known):
    if known >= n:
        return
    target = EXP.mpf(delta.numerator) / delta.denominator + LAST
    allowed = [m for m in range(1, n + 1) if theorem_5_2(n, m, known, p) <= target]
    asked = {"epsilon": EPSILON, "delta": delta, "known": known, "bound": "partition-sum"}
    if not allowed:
        with pytest.raises(sp.GuaranteeNotReachedError, match="no number of queries is certified to reach"):
            sp.design.most_queries(unrelated(p), sp.Population(n), **asked)
        return
    plan = sp.design.most_queries(unrelated(p), sp.Population(n), **asked)
    assert plan.value == max(allowed)
    assert plan.best.verdict == "holds"
    if plan.value == n:
        assert plan.neighbour is None
    else:
        assert (plan.neighbour.value, plan.neighbour.verdict) == (plan.value + 1, "undecided")
        assert Fraction(plan.neighbour.delta.lower) > delta
        assert plan.beyond.startswith("The bound proves none of the larger numbers")


@settings(max_examples=20, deadline=None)
@given(
    m=st.integers(1, 4),
    p=st.sampled_from([HALF, Fraction(1, 5)]),
    delta=st.integers(10, 60).map(lambda k: Fraction(k, 100)),
    rmse=st.sampled_from([None, Fraction(1, 10), Fraction(1, 5), Fraction(3, 10)]),
)
def test_the_smallest_population_is_the_first_that_reaches_both(m, p, delta, rmse):
    plan = sp.design.smallest_population(
        unrelated(p), queries=m, epsilon=EPSILON, delta=delta, rmse=rmse, bound="partition-sum"
    )
    target = EXP.mpf(delta.numerator) / delta.denominator + LAST

    def reached(n):
        accurate = rmse is None or squared_error(n // m, n, p) <= rmse**2
        return accurate and theorem_5_2(n, m, 0, p) <= target

    assert plan.value == next(n for n in range(m, 500) if reached(n))
    assert plan.neighbour is None or plan.neighbour.value == plan.value - 1


@pytest.mark.parametrize("delta", ["0.08", "0.2", "0.999", "1"])
def test_most_known_leaves_the_fewest_unknown_entries_that_reach_the_target(delta):
    target = EXP.mpf(delta)
    plan = sp.design.most_known(unrelated("0.3"), sp.Population(60), epsilon="0.1", delta=delta)
    unknown = next(n for n in range(1, 61) if hockey_stick(n, Fraction(3, 10)) <= target)
    assert plan.value == 60 - unknown
    if plan.neighbour is not None:
        assert (plan.neighbour.value, plan.neighbour.verdict) == (plan.value + 1, "fails")
        assert plan.beyond == "All larger numbers fail too: knowing more entries does not lower δ."


def test_the_widest_range_is_the_widest_multiple_of_the_step():
    asked = {"epsilon": "0.1", "delta": "0.12"}
    plan = sp.design.widest_range(unrelated(), sp.Population(30), step="1/50", **asked)
    widths = [Fraction(k, 50) for k in range(26)]

    def worst(width):
        return max(hockey_stick(30, HALF + side * width) for side in (-1, 0, 1))

    # δ of a fair coin grows towards both ends here, so that the ends of the range decide.
    fine = [width for width in widths if worst(width) <= EXP.mpf("0.12")]
    assert plan.value == max(fine)
    assert plan.neighbour.verdict == "fails"
    assert sp.privacy_curve(
        sp.PropertyQuery(sp.Between(HALF - plan.value, HALF + plan.value)), sp.Population(30)
    ).satisfies(**asked)


def test_the_error_of_a_wider_range_is_that_of_its_worst_p():
    plan = sp.design.widest_range(unrelated("0.1"), sp.Population(400), queries=4, epsilon="0.1", delta="0.3")
    worst = min(Fraction(1, 10) + plan.value, HALF)
    assert Fraction(plan.rmse.lower) ** 2 <= squared_error(100, 400, worst) <= Fraction(plan.rmse.upper) ** 2


def test_a_stated_range_grows_at_both_ends_and_stops_at_0():
    plan = sp.design.widest_range(sp.PropertyQuery(sp.Between("0.01", "0.5")), sp.Population(50), epsilon=1, delta=1)
    assert plan.value == HALF
    assert plan.beyond == "The whole range from 0 to 1 holds."


def test_one_property_over_all_entries_costs_one_count_whatever_the_number():
    plan = sp.design.most_queries(same(), sp.Population(32768), epsilon="0.005", delta="0.0024")
    assert plan.value == 32768
    assert plan.evaluations == 1
    assert Fraction("0.002357408469201706682856342974706163") in plan.delta


def test_the_paper_s_table_is_a_row_of_the_trade_off():
    """32 parts of 1024: δ = .02257377618990693694 at ε = 1/200."""
    (row,) = sp.design.trade_off(
        unrelated(), sp.Population(32768), epsilon="0.005", queries=[32], bound="partition-sum"
    )
    assert row.size == 1024
    assert Fraction("0.02257377618990693694135285815974") in row.delta
    assert row.delta.width < 1e-15
    assert Fraction(row.rmse.lower) ** 2 <= squared_error(1024, 32768) <= Fraction(row.rmse.upper) ** 2


def sampled(n, size, p, epsilon=EPSILON):
    """δ of the count of a secret sample, the chance of not being drawn included, from the definition."""
    ratio = EXP.exp(EXP.mpf(epsilon.numerator) / epsilon.denominator)
    share = Fraction(size, n)

    def law(value):
        def b(trials, k):
            return math.comb(trials, k) * p**k * (1 - p) ** (trials - k) if 0 <= k <= trials else Fraction(0)

        return [(1 - share) * b(size, a) + share * b(size - 1, a - value) for a in range(size + 1)]

    one, zero = ([EXP.mpf(mass.numerator) / mass.denominator for mass in law(value)] for value in (1, 0))
    return max(
        sum(max(0, a - ratio * b) for a, b in zip(first, second, strict=True))
        for first, second in ((one, zero), (zero, one))
    )


@pytest.mark.parametrize("p", [HALF, Fraction(1, 10)])
def test_delta_of_a_secret_sample_does_not_fall_with_its_size(p):
    values = [sampled(30, size, p) for size in range(1, 31)]
    assert all(smaller <= larger + LAST for smaller, larger in pairwise(values))


@pytest.mark.parametrize("delta", ["0.005", "0.01", "0.02"])
def test_the_largest_size_is_the_largest_whose_sample_reaches_the_target(delta):
    plan = sp.design.largest_size(same("0.3"), sp.Population(60), queries=3, epsilon="0.1", delta=delta)
    allowed = [size for size in range(1, 21) if sampled(60, 3 * size, Fraction(3, 10)) <= EXP.mpf(delta)]
    assert plan.value == max(allowed)
    assert (plan.neighbour.value, plan.neighbour.verdict) == (plan.value + 1, "fails")
    assert plan.beyond.startswith("All larger parts fail too")


# --- accuracy


def test_sizes_are_the_least_that_reach_the_error_exactly():
    plan = sp.design.smallest_sizes(
        [unrelated(), unrelated("0.1"), unrelated(sp.Between("0.2", "0.3"))],
        sp.Population(10_000),
        epsilon="0.1",
        delta="0.1",
        rmse="0.02",
    )
    for size, p in zip(plan.value, (HALF, Fraction(1, 10), Fraction(3, 10)), strict=True):
        assert squared_error(size, 10_000, p) <= Fraction(1, 50) ** 2 < squared_error(size - 1, 10_000, p)
    assert plan.neighbour.value == tuple(size - 1 for size in plan.value)


def test_fixed_sizes_allow_more_queries_than_sharing_all_entries():
    asked = {"epsilon": "0.01", "delta": "0.05", "bound": "partition-sum"}
    shared = sp.design.most_queries(unrelated(), sp.Population(32768), **asked)
    sized = sp.design.most_queries(unrelated(), sp.Population(32768), rmse="0.05", **asked)
    assert (shared.value, sized.value) == (153, 217)
    assert set(sized.sizes) == {100}
    assert squared_error(100, 32768) <= Fraction(1, 20) ** 2 < squared_error(99, 32768)


@pytest.mark.parametrize("confidence", ["0.5", "0.95"])
def test_the_half_width_covers_whatever_the_table(confidence):
    """Of every table of 40 rows, parts of the least size lie within the half width often enough, counted exactly."""
    n, width = 40, Fraction(1, 4)
    plan = sp.design.smallest_sizes(
        unrelated(), sp.Population(n), epsilon=0, delta=1, half_width=width, confidence=confidence
    )
    (size,) = plan.value
    assert size < n
    for ones in range(n + 1):
        near = sum(
            math.comb(ones, a) * math.comb(n - ones, size - a)
            for a in range(size + 1)
            if abs(Fraction(a, size) - Fraction(ones, n)) < width
        )
        assert Fraction(near, math.comb(n, size)) >= Fraction(confidence)


def test_an_accuracy_that_the_next_number_misses_is_the_neighbour():
    plan = sp.design.most_queries(same(), sp.Population(1000), epsilon="0.1", delta="0.01", rmse="0.05")
    assert (plan.value, plan.neighbour.value, plan.neighbour.verdict) == (10, 11, "fails")
    assert "a part of 90 has 0.0502770 at least, and a root mean squared error of 0.05 is asked for" in str(plan)
    assert plan.neighbour.delta is None


def test_a_delta_that_is_the_target_reaches_it():
    """Of 16 entries in ten parts, one known, the sum is 13/20 whatever small ε is."""
    plan = sp.design.most_queries(
        unrelated(), sp.Population(16), epsilon="0.1", delta="0.65", known=1, bound="partition-sum"
    )
    assert plan.value == 10
    assert sp.design.smallest_population(same(), epsilon=0, delta="0.375").value == 4


# --- cost


@pytest.mark.campaign  # alone it notices work that is done more often than needed
def test_no_curve_is_evaluated_twice(monkeypatch):
    evaluated = []

    def counted(queries, population, partition, **options):
        evaluated.append((tuple(queries), population, partition.sizes, options["adversary"]))
        return sp.compose(queries, population, partition, **options)

    monkeypatch.setattr(study, "compose", counted)
    for design in (
        lambda: sp.design.most_queries(unrelated(), sp.Population(4096), epsilon="0.1", delta="0.05", rmse="0.1"),
        lambda: sp.design.smallest_population(same("0.3"), queries=3, epsilon="0.1", delta="0.01", rmse="0.02"),
        lambda: sp.design.most_known(unrelated(), sp.Population(2000), queries=2, epsilon="0.1", delta="0.02"),
        lambda: sp.design.widest_range(unrelated(), sp.Population(2000), epsilon="0.1", delta="0.02"),
    ):
        evaluated.clear()
        plan = design()
        assert plan.evaluations == len(evaluated) == len(set(evaluated))
        assert plan.evaluations < 40


# --- what is refused


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda: sp.design.most_queries(unrelated(), sp.Population(100), epsilon="0.1", delta="0.001"),
            r"no number of queries is certified to reach δ\(0.1\) ≤ 0.001. The best is 1: δ ≥ 0.0418367",
        ),
        (
            lambda: sp.design.smallest_population(unrelated(sp.Between(0, 1)), epsilon="0.1", delta="0.5"),
            r"no population of up to 2\^53 entries is certified .* The best is 9007199254740992: δ ≥ 1",
        ),
        (
            lambda: sp.design.most_known(unrelated(), sp.Population(10), epsilon="0.1", delta="0.1"),
            "no number of known entries is certified to reach .* The best is 0: δ ≥ 0.2",
        ),
        (
            lambda: sp.design.widest_range(unrelated(), sp.Population(10), epsilon="0.1", delta="0.1"),
            "no range is certified to reach",
        ),
        (
            lambda: sp.design.least_epsilon(unrelated(), sp.Population(10), delta="1e-9"),
            "delta = 1e-9: no finite ε is certified; δ stays at 0.00195313 at most",
        ),
        (
            lambda: sp.design.smallest_population(same(), queries=2, epsilon=1, delta=1, rmse="1e-20"),
            r"no population of up to 2\^53 entries has a root mean squared error of 1e-20 with 2 queries",
        ),
        (
            lambda: sp.design.smallest_sizes([same()] * 3, sp.Population(100), epsilon=1, delta=1, rmse="0.05"),
            "the parts need 150 entries for a root mean squared error of 0.05, and the population has 100",
        ),
    ],
)
def test_a_target_that_nothing_reaches_names_the_best(ask, message):
    with pytest.raises(sp.GuaranteeNotReachedError, match=message):
        ask()


TARGET = {"epsilon": "0.1", "delta": "0.1"}


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda: sp.design.most_queries(sp.HistogramQuery(["1/2", "1/2"]), sp.Population(9), **TARGET),
            "a sp.PropertyQuery with one p or one range for all entries is required",
        ),
        (
            lambda: sp.design.most_queries(unrelated(["0.5", "0.1"]), sp.Population(2), **TARGET),
            "a sp.PropertyQuery with one p or one range for all entries is required",
        ),
        (lambda: sp.design.most_queries(unrelated(), 100, **TARGET), "population = 100; a Population such as"),
        (
            lambda: sp.design.most_queries(unrelated(), sp.Population(9), known=9, **TARGET),
            "known = 9; of 9 entries at most 8 can be known",
        ),
        (
            lambda: sp.design.most_queries(unrelated(), sp.Population(9), epsilon=-1, delta=0),
            "epsilon = -1; a number of at least 0 is required",
        ),
        (
            lambda: sp.design.most_queries(unrelated(), sp.Population(9), epsilon=1, delta=2),
            "delta = 2; a number from 0 to 1 is required",
        ),
        (
            lambda: sp.design.most_queries(unrelated(), sp.Population(9), rmse=1, half_width=1, **TARGET),
            "rmse = 1 and half_width = 1; give only one of them",
        ),
        (
            lambda: sp.design.most_queries(unrelated(), sp.Population(9), half_width=1, confidence=1, **TARGET),
            "confidence = 1; a number above 0 and below 1 is required",
        ),
        (
            lambda: sp.design.most_known(unrelated(), sp.Population(9), queries=10, **TARGET),
            "queries = 10; at most one an entry, here 9, is possible",
        ),
        (
            lambda: sp.design.smallest_sizes([unrelated()], sp.Population(9), **TARGET),
            "rmse = None and half_width = None; the accuracy that the parts must reach is required",
        ),
        (
            lambda: sp.design.smallest_sizes([], sp.Population(9), rmse=1, **TARGET),
            r"queries = \[\]; at least one query is required",
        ),
        (
            lambda: sp.design.widest_range(unrelated(), sp.Population(9), step=0, **TARGET),
            "step = 0; a number above 0 is required",
        ),
    ],
)
def test_arguments_that_are_not_allowed(ask, message):
    with pytest.raises(sp.ArgumentError, match=message):
        ask()


# --- what is given back


def test_a_plan_explains_itself():
    plan = sp.design.most_queries(same(), sp.Population(32768), epsilon="0.01", delta="0.05", rmse="0.02")
    assert repr(plan) == "<Design, queries: 53 holds; 54 fails>"
    assert str(plan).splitlines()[:2] == [
        "queries: 53",
        "  32768 entries, all entries shared equally, queries of p = 0.5, δ(0.01) ≤ 0.05, a root mean squared error of "
        "0.02, no entry known",
    ]
    assert plan.table().splitlines()[0].split("  ")[0] == "queries"
    assert "<td>the accuracy fails</td>" in plan._repr_html_()
    assert plan.curve.kind == "exact"
    assert hash(plan) == hash(plan)


def test_plans_are_json():
    plan = sp.design.widest_range(unrelated(), sp.Population(100), epsilon="0.1", delta="0.05")
    document = json.loads(json.dumps(plan.document(), allow_nan=False))
    assert Fraction(document["value"]) == plan.value
    assert document["neighbour"]["verdict"] == "fails"
    assert document["evaluations"] == len(document["trials"])
    table = sp.design.trade_off(unrelated(), sp.Population(100), epsilon="0.1", delta="0.1", queries=[1, 4])
    assert json.loads(json.dumps(table.document(), allow_nan=False))["rows"][1]["queries"] == 4


def test_the_trade_off_finds_smaller_parts_that_reach_the_target():
    table = sp.design.trade_off(
        unrelated(), sp.Population(1000), epsilon="0.05", delta="0.02", queries=[1, 10], bound="partition-sum"
    )
    one, ten = table
    assert (one.size, one.size_at_guarantee) == (1000, 1000)
    assert ten.size_at_guarantee < ten.size
    parts = sp.RandomPartition([ten.size_at_guarantee] * 10)
    curve = sp.compose([unrelated()] * 10, sp.Population(1000), parts, bound="partition-sum")
    assert curve.satisfies(epsilon="0.05", delta="0.02")


def test_a_guarantee_is_read_off_both_ways():
    found = sp.design.least_epsilon(unrelated(), sp.Population(100), delta="0.01")
    back = sp.design.least_delta(unrelated(), sp.Population(100), epsilon=found.value.upper)
    assert back.value.lower <= 0.01 <= back.value.upper * (1 + 1e-12)
    assert found.beyond == "It is the least: nothing below its lower end holds."
    assert repr(back).startswith("<Design, δ: ")


@pytest.mark.parametrize(
    "plan",
    [
        lambda: sp.design.most_queries(unrelated(), sp.Population(500), epsilon="0.1", delta="0.1"),
        lambda: sp.design.least_delta(unrelated(), sp.Population(500), epsilon="0.1"),
        lambda: sp.design.smallest_sizes(unrelated(), sp.Population(500), epsilon="0.1", delta=1, rmse="0.1"),
    ],
)
def test_plans_are_drawn(plan, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ax = plan().plot()
    assert ax.get_xlabel() in ("number of queries", "ε (nats)")
    assert ax.get_ylabel() == "δ"
    pyplot.close("all")


def test_the_trade_off_is_drawn_side_by_side(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    table = sp.design.trade_off(unrelated(), sp.Population(500), epsilon="0.1", delta="0.1", queries=[1, 2, 4, 8])
    privacy, accuracy = table.plot()
    assert (privacy.get_ylabel(), accuracy.get_ylabel()) == ("δ", "root mean squared error")
    drawn = [tuple(line.get_xdata()) for line in accuracy.get_lines()]
    assert drawn[0] == (2, 4, 8)
    pyplot.close("all")
