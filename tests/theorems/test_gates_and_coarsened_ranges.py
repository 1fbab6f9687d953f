"""Counts over ranges of p that are gated or coarsened, against exact rationals: dense grids of p, and every peak."""

from collections import defaultdict
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

import statpriv as sp

from ..cases import spread

RATIOS = (Fraction(1), Fraction(11, 10), Fraction(5, 3), Fraction(4))
GRID = [Fraction(k, 60) for k in range(61)]


@cache
def binomial(trials, p):
    return [comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)]


def published(n, p, publish, added):
    """The law of what is published of a number and the count of `n − 1` entries."""
    law = defaultdict(Fraction)
    for others, mass in enumerate(binomial(n - 1, p)):
        law[publish(others + added)] += mass
    return law


def delta(n, p, ratio, publish, pair=(1, 0)):
    first, second = (published(n, p, publish, value) for value in pair)
    return sum((max(first[a] - ratio * second[a], Fraction(0)) for a in first), Fraction(0))


def peaks(n, ratio):
    """Where the test "answer ≥ j+1" distinguishes best, for either pair."""
    ones = [Fraction(j) / (j + (n - 1 - j) * ratio) for j in range(1, n - 1)]
    return ones + [1 - p for p in ones]


def chained(*steps):
    def publish(answer):
        for step in steps:
            answer = step.apply(answer)
        return answer

    return publish


def shifted(publish, added):
    return lambda answer: publish(answer + added)


# --- the step


@given(answer=st.integers(-9, 9), ends=st.tuples(st.fractions(-9, 9), st.fractions(-9, 9)))
def test_a_gate_publishes_what_lies_between(answer, ends):
    step = sp.RangeGate(min(ends), max(ends))
    assert step.apply(answer) == (answer if min(ends) <= answer <= max(ends) else None)
    assert (answer in step.counts) == (answer >= 0 and step.apply(answer) is not None)


def test_a_gate_passes_what_is_no_number():
    assert [sp.RangeGate(1, 2).apply(other) for other in (None, "few", True)] == [None, "few", True]


def test_a_gate_in_the_wrong_order_is_refused():
    with pytest.raises(sp.ArgumentError, match=r"^lower = 5 and upper = 3; lower <= upper is required$"):
        sp.RangeGate(5, 3)


@pytest.mark.parametrize("gate", [(2, 5), ("3/2", 4), (0, 7), (3, 3), (9, 11), ("5/2", "11/4")])
@pytest.mark.parametrize("steps", [(), (sp.Rounding(2),), (sp.Threshold(2), sp.Rounding(3))])
def test_a_gated_count_of_one_p_is_exact(gate, steps):
    query = sp.PostProcessed(sp.PropertyQuery("1/3"), sp.RangeGate(*gate), *steps)
    curve = sp.privacy_curve(query, sp.Population(8))
    publish = chained(sp.RangeGate(*gate), *steps)
    for ratio in RATIOS:
        truth = max(delta(8, Fraction(1, 3), ratio, publish, pair) for pair in ((1, 0), (0, 1)))
        assert curve.exact_delta(exp_epsilon=ratio) == truth
    assert curve.kind == "exact"


def test_of_many_answers_few_are_looked_at():
    curve = sp.privacy_curve(sp.PropertyQuery("1/2").gated(499_000, 501_000), sp.Population(1_000_000))
    whole = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1_000_000))
    assert 0 < curve.delta("0.003").lower <= whole.delta("0.003").upper


# --- a gated count, every p


def test_the_vector_of_the_theorem():
    curve = sp.privacy_curve(sp.PropertyQuery(sp.Between("0.4", "0.6")).gated(157, 315), sp.Population(472))
    assert curve.kind == "bound"
    assert curve.delta("0.1").lower == pytest.approx(0.008360666, abs=5e-10)
    assert "for every p, whether or not the declared range holds" in " ".join(curve.explain().split())


@spread("ratio, n", product(RATIOS, [1, 2, 3, 5, 9]), few=8)
def test_no_p_exceeds_the_bound_of_a_gated_count(n, ratio):
    for least, most in product(range(n + 2), repeat=2):
        if least > most:
            continue
        publish = chained(sp.RangeGate(least, most))
        query = sp.PropertyQuery(sp.Between("0.2", "0.3")).gated(least, most)
        for pair in ((1, 0), (0, 1)):
            curve = sp.privacy_curve(query, sp.Population(n), pair=pair)
            bound = curve.exact_delta(exp_epsilon=ratio)
            worst = max(delta(n, p, ratio, publish, pair) for p in GRID + peaks(n, ratio))
            assert worst <= bound
            if least >= 2 and most <= n - 2:
                assert bound < 1


def test_the_bound_of_a_gated_count_is_nearly_attained():
    publish = chained(sp.RangeGate(4, 9))
    curve = sp.privacy_curve(sp.PropertyQuery(sp.Between("0.2", "0.3")).gated(4, 9), sp.Population(14))
    for ratio in (Fraction(11, 10), Fraction(5, 3)):
        worst = max(delta(14, p, ratio, publish, pair) for pair in ((1, 0), (0, 1)) for p in peaks(14, ratio))
        assert curve.exact_delta(exp_epsilon=ratio) <= Fraction(101, 100) * worst


@pytest.mark.parametrize("known", [0, 1, 3])
def test_known_entries_shift_a_gated_count(known):
    n, gate = 9, (3, 6)
    publish = chained(sp.RangeGate(*gate))
    curve = sp.privacy_curve(
        sp.PropertyQuery(sp.Between("0.2", "0.3")).gated(*gate), sp.Population(n), adversary=sp.Adversary(known=known)
    )
    for ratio in RATIOS:
        worst = max(
            delta(n - known, p, ratio, shifted(publish, ones), pair)
            for ones in range(known + 1)
            for pair in ((1, 0), (0, 1))
            for p in GRID + peaks(n - known, ratio)
        )
        assert worst <= curve.exact_delta(exp_epsilon=ratio)


def test_steps_after_a_gate_keep_its_bound_and_the_range_is_not_trusted():
    gated = sp.PropertyQuery(sp.Between("0.49", "0.51")).gated(15, 45)
    population = sp.Population(60)
    plain = sp.privacy_curve(gated, population)
    for query in (gated.rounded(5), sp.PostProcessed(gated, sp.Threshold(20), sp.Rounding(5))):
        assert sp.privacy_curve(query, population).delta("0.3") == plain.delta("0.3")
    trusting = sp.privacy_curve(sp.PropertyQuery(sp.Between("0.49", "0.51")), population)
    assert trusting.delta("0.3").upper < plain.delta("0.3").lower
    with pytest.raises(sp.NotAvailableError, match="is certified for every p; leave the gate out"):
        sp.privacy_curve(gated, population, bound="unprocessed")


def test_one_probability_may_be_left_open_too():
    population, query = sp.Population(60), sp.PropertyQuery("1/2").gated(15, 45)
    every = sp.privacy_curve(query, population, bound="gate")
    assert every.delta("0.3") == sp.privacy_curve(sp.PropertyQuery(sp.Between(0, 1)).gated(15, 45), population).delta(
        "0.3"
    )
    assert sp.privacy_curve(query, population).delta("0.3").upper < every.delta("0.3").lower


def test_a_gate_must_come_first():
    query = sp.PropertyQuery(sp.Between("0.4", "0.6")).rounded(5).gated(15, 45)
    with pytest.raises(sp.NotAvailableError, match="the first step is no gate on a count"):
        sp.privacy_curve(query, sp.Population(60), bound="gate")


def test_the_bound_of_a_gated_count_falls_to_zero():
    curve = sp.privacy_curve(sp.PropertyQuery(sp.Between("0.2", "0.3")).gated(15, 45), sp.Population(60))
    found = curve.epsilon("1e-6")
    assert curve.delta(found.upper).upper <= 1e-6 <= curve.delta(found.lower).upper * (1 + 1e-9)
    digits, found = curve.delta("0.1", digits=30), curve.delta("0.1")
    assert found.lower <= digits.lower <= digits.upper <= found.upper


# --- gated counts of secret parts


def compositions(total, rooms):
    """All ways to put so many into rooms of these sizes."""
    if not rooms:
        return [()] if total == 0 else []
    return [(k, *rest) for k in range(min(total, rooms[0]) + 1) for rest in compositions(total - k, rooms[1:])]


def ways(numbers, sizes):
    product_of_ways = 1
    for number, size in zip(numbers, sizes, strict=True):
        product_of_ways *= comb(size, number)
    return product_of_ways


def released(values, sizes, publishes, p, known):
    """The law of the answers of all parts; of the known entries `known[0]` have the property and `known[1]` have not.

    The critical entry has the property asked of part k if `values[k]`.
    """
    law = defaultdict(Fraction)
    for critical, share in enumerate(sizes):
        free = [size - (k == critical) for k, size in enumerate(sizes)]
        for ones in compositions(known[0], free):
            left = [size - one for size, one in zip(free, ones, strict=True)]
            for zeros in compositions(known[1], left):
                fallen = Fraction(ways(ones, free) * ways(zeros, left))
                fallen /= comb(sum(free), known[0]) * comb(sum(free) - known[0], known[1])
                others = [size - zero for size, zero in zip(left, zeros, strict=True)]
                answers = {(): Fraction(share, sum(sizes)) * fallen}
                for k, publish in enumerate(publishes):
                    shift = ones[k] + (values[k] if k == critical else 0)
                    answers = {
                        (*before, publish(number + shift), number): mass * chance
                        for before, mass in answers.items()
                        for number, chance in enumerate(binomial(others[k], p))
                    }
                for labelled, mass in answers.items():
                    law[labelled[::2]] += mass
    return law


def of_parts(ratio, patterns, *release):
    found = Fraction(0)
    for first, second in patterns:
        one, other = released(first, *release), released(second, *release)
        found = max(found, sum((max(one[a] - ratio * other[a], Fraction(0)) for a in one), Fraction(0)))
    return found


BOTH = [(first, tuple(1 - value for value in first)) for first in product((0, 1), repeat=2)]


@pytest.mark.parametrize("known", [0, 1])
@pytest.mark.parametrize("ratio", [Fraction(1), Fraction(5, 4)])
def test_no_p_exceeds_the_bound_of_gated_parts(known, ratio):
    sizes, gates = (5, 6), ((2, 3), (3, 4))
    queries = [sp.PropertyQuery(sp.Between("0.4", "0.6")).gated(*gate) for gate in gates]
    adversary = sp.Adversary(known=known)
    bound = sp.compose(
        queries, sp.Population(12), sp.RandomPartition(sizes), adversary=adversary, bound="partition-sum"
    ).exact_delta(exp_epsilon=ratio)
    publishes = [chained(sp.RangeGate(*gate)) for gate in gates]
    everything = [*publishes, lambda _: None]
    patterns = [((*first, 0), (*second, 0)) for first, second in BOTH]
    for p in (Fraction(k, 12) for k in (1, 3, 5, 6, 7, 9, 11)):
        for ones in range(known + 1):
            worst = of_parts(ratio, patterns, (*sizes, 1), everything, p, (ones, known - ones))
            assert worst <= bound


@pytest.mark.campaign  # alone it notices a range that gates do not need
def test_gated_parts_do_not_trust_the_range():
    def composed(asked, **options):
        return sp.compose([asked] * 4, sp.Population(240), sp.RandomPartition([60] * 4), **options).delta("0.2")

    narrow, wide = (sp.PropertyQuery(sp.Between(*ends)) for ends in (("0.49", "0.51"), (0, 1)))
    for known in (0, 5):
        adversary = sp.Adversary(known=known)
        assert composed(narrow.gated(18, 42), adversary=adversary) == composed(wide.gated(18, 42), adversary=adversary)
    assert composed(narrow).upper < composed(narrow.gated(18, 42)).lower


@pytest.mark.parametrize(
    ("sizes", "gates", "population"),
    [((20, 20), ((4, 16), (4, 16)), 40), ((8, 11), ((2, 6), (3, 3)), 24), ((12,), ((3, 7),), 12)],
)
@pytest.mark.parametrize("epsilon", ["0.05", "0.5"])
def test_no_p_exceeds_the_dominating_law_of_gated_parts(sizes, gates, population, epsilon):
    def composed(asked, **options):
        queries = [sp.PropertyQuery(p).gated(*gate) for p, gate in zip(asked, gates, strict=True)]
        return sp.compose(queries, sp.Population(population), sp.RandomPartition(sizes), **options).delta(epsilon)

    bound = composed([sp.Between(0, 1)] * len(sizes), bound="convex-order")
    each = [Fraction(k, 40) for k in (1, 4, 7, 20, 33, 36, 39)]
    attained = [composed(asked) for asked in product(each, repeat=len(sizes))]
    assert max(value.lower for value in attained) <= bound.upper
    assert bound.upper <= 2 * max(value.upper for value in attained)


@pytest.mark.parametrize(("n", "gate"), [(472, (157, 315)), (60, (2, 40)), (30, (15, 15)), (100_000, (49_000, 51_000))])
@pytest.mark.parametrize("epsilon", ["0", "0.01", "0.1", "1"])
def test_the_dominating_law_of_one_part_is_close_to_four_heights(n, gate, epsilon):
    query = sp.PropertyQuery(sp.Between(0, 1)).gated(*gate)
    alone = sp.privacy_curve(query, sp.Population(n)).delta(epsilon)
    found = sp.compose([query], sp.Population(n), sp.RandomPartition([n]), bound="convex-order").delta(epsilon)
    assert alone.lower <= found.upper
    if alone.upper > 1e-5:  # what is far below is left to the sum over the parts
        assert found.upper <= 1.02 * alone.upper


def test_gated_parts_gain_by_composition_beside_others():
    gated = sp.PropertyQuery(sp.Between("0.45", "0.55")).gated(11, 39)
    others = [sp.PropertyQuery(sp.Between("0.2", "0.3")), sp.PropertyQuery("1/2"), gated.rounded(5), gated]
    population, parts = sp.Population(300), sp.RandomPartition([50] * 4)
    curve = sp.compose(others, population, parts)
    assert (
        curve.delta("0.3").upper < sp.compose(others, population, parts, bound="partition-sum").delta("0.3").lower / 4
    )
    told = sp.compose([*others[:3], sp.PropertyQuery(sp.Between("0.45", "0.55")).gated(1, 39)], population, parts)
    assert 50 / 300 <= told.delta("0.3").upper <= 50 / 300 + curve.delta("0.3").upper
    silent = sp.compose([*others[:3], sp.PropertyQuery(sp.Between("0.45", "0.55")).gated(51, 60)], population, parts)
    assert silent.delta("0.3").upper < curve.delta("0.3").upper
    assert "whether or not a declared range holds" in " ".join(
        sp.compose([gated] * 4, population, parts).explain().split()
    )


# --- coarsened counts, a range of p

COARSENED = [
    (sp.Rounding(3),),
    (sp.Threshold(2),),
    (sp.Threshold(2), sp.Rounding(4)),
    (sp.Clip(2, 6),),
    (sp.Clip(upper=0),),
    (sp.Relabel({0: "few", 1: "few"}), sp.Rounding(5)),
    (sp.Threshold(100),),
    (sp.Rounding("1/2"),),
]
RANGES = [("0.2", "0.7"), ("0.45", "0.5"), ("0", "0.4"), ("0.6", "1"), ("1/3", "1/2")]


@pytest.mark.parametrize("steps", COARSENED, ids=repr)
@spread("size, ends", product([(9, 0), (2, 0), (7, 2)], RANGES), few=8)
def test_the_supremum_of_a_coarsened_count_is_attained(steps, ends, size):
    n, known = size
    low, high = map(Fraction, ends)
    publish = chained(*steps)
    query = sp.PostProcessed(sp.PropertyQuery(sp.Between(low, high)), *steps)
    for pair, ratio in product([(1, 0), (0, 1)], RATIOS):
        curve = sp.privacy_curve(query, sp.Population(n), pair=pair, adversary=sp.Adversary(known=known))
        tried = [p for p in [low, high, *peaks(n - known, ratio), *GRID] if low <= p <= high]
        truth = max(
            delta(n - known, p, ratio, shifted(publish, ones), pair) for ones in range(known + 1) for p in tried
        )
        assert curve.kind == "exact"
        assert curve.exact_delta(exp_epsilon=ratio) == truth


@given(st.data())
def test_any_intervals_of_answers(data):
    n = data.draw(st.integers(1, 12))
    cuts = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    labels = [f"up to {sum(cuts[:a])}" for a in range(n + 1)]
    low, high = sorted(data.draw(st.tuples(st.sampled_from(GRID), st.sampled_from(GRID))))
    ratio = data.draw(st.fractions(1, 6, max_denominator=5))
    pair = data.draw(st.sampled_from([(1, 0), (0, 1)]))
    query = sp.PropertyQuery(sp.Between(low, high)).mapped(dict(enumerate(labels)))
    curve = sp.privacy_curve(query, sp.Population(n), pair=pair)
    tried = [p for p in [low, high, *peaks(n, ratio), *GRID] if low <= p <= high]
    truth = max(delta(n, p, ratio, labels.__getitem__, pair) for p in tried)
    assert curve.exact_delta(exp_epsilon=ratio) == truth
    epsilon = data.draw(st.sampled_from([Fraction(0), Fraction(1, 7), Fraction(1)]))
    found = curve.delta(epsilon)
    if low > 0 and high < 1:
        digits = curve.delta(epsilon, digits=30)
        assert found.lower <= digits.upper
        assert digits.lower <= found.upper
    assert found.upper - found.lower <= 1e-12 * max(found.upper, 1e-9)


def test_a_coarsened_count_of_many_entries_is_close_to_the_worst_of_many_p():
    steps = (sp.Threshold(900), sp.Rounding(64))
    population, query = sp.Population(2000), sp.PropertyQuery(sp.Between("0.45", "0.55"))
    found = sp.privacy_curve(sp.PostProcessed(query, *steps), population)
    grid = [
        sp.privacy_curve(sp.PostProcessed(sp.PropertyQuery(Fraction(k, 1000)), *steps), population).delta("0.05")
        for k in range(450, 551)
    ]
    assert max(value.lower for value in grid) <= found.delta("0.05").upper
    assert found.delta("0.05").upper <= 1.01 * max(value.upper for value in grid)
    assert found.delta("0.05").upper < sp.privacy_curve(query, population).delta("0.05").lower
    assert found.epsilon("1e-3").upper < sp.privacy_curve(query, population).epsilon("1e-3").upper


def test_what_is_no_interval_is_bounded_by_the_count_itself():
    query, population = sp.PropertyQuery(sp.Between("0.4", "0.6")), sp.Population(12)
    parity = query.mapped({a: a % 2 for a in range(13)})
    assert sp.privacy_curve(parity, population).kind == "bound"
    assert sp.privacy_curve(parity, population).delta("0.1") == sp.privacy_curve(query, population).delta("0.1")
    with pytest.raises(sp.NotAvailableError, match="published alike do not follow each other"):
        sp.privacy_curve(parity, population, bound="exact")


# --- histograms with ranges


def histogram_delta(n, cells, ratio, pair):
    """Δ of the histogram of n entries: by the counts of all but the last cell."""

    def law(value):
        found = defaultdict(Fraction)
        for others in compositions(n - 1, [n - 1] * len(cells)):
            mass, left = Fraction(1), n - 1
            for number, share in zip(others, cells, strict=True):
                mass *= comb(left, number) * share**number
                left -= number
            found[tuple(number + (k == value) for k, number in enumerate(others))] += mass
        return found

    first, second = map(law, pair)
    return sum((max(first[a] - ratio * second[a], Fraction(0)) for a in first), Fraction(0))


BOXES = [
    (("0.2", "0.4"), ("0.1", "0.3"), ("0.3", "0.7")),
    (("0.25", "0.25"), ("0.1", "0.6"), ("0.3", "0.4")),
    (("0", "0.2"), ("0.5", "0.6"), ("0.1", "0.5")),
]


def laws_within(boxes, steps=10):
    """Laws on a grid that lie in the boxes, corners among them."""
    ends = [tuple(map(Fraction, box)) for box in boxes]
    axes = [[low + (high - low) * k / steps for k in range(steps + 1)] for low, high in ends[:-1]]
    for some in product(*axes):
        last = 1 - sum(some)
        if ends[-1][0] <= last <= ends[-1][1]:
            yield (*some, last)


@pytest.mark.parametrize("boxes", BOXES)
@pytest.mark.parametrize("n", [1, 4])
def test_no_cells_exceed_the_bound_of_a_histogram_with_ranges(boxes, n):
    query = sp.HistogramQuery([sp.Between(*box) for box in boxes])
    for ratio in RATIOS[1:3]:
        worst = defaultdict(Fraction)
        for cells in laws_within(boxes):
            for pair in permutations(range(3), 2):
                worst[pair] = max(worst[pair], histogram_delta(n, cells, ratio, pair))
        for pair, most in worst.items():
            bound = sp.privacy_curve(query, sp.Population(n), pair=pair).exact_delta(exp_epsilon=ratio)
            assert most <= bound
        bound = sp.privacy_curve(query, sp.Population(n)).exact_delta(exp_epsilon=ratio)
        assert max(worst.values()) <= bound <= 1
        assert bound <= Fraction(3, 2) * max(worst.values())


def test_a_histogram_with_narrow_ranges_is_close_to_one_without():
    exact = sp.privacy_curve(sp.HistogramQuery(["0.2", "0.3", "0.5"]), sp.Population(500))
    ranges = [sp.Between("0.199", "0.201"), sp.Between("0.299", "0.301"), sp.Between("0.49", "0.51")]
    bound = sp.privacy_curve(sp.HistogramQuery(ranges), sp.Population(500))
    assert bound.kind == "bound"
    assert exact.delta("0.2").upper <= bound.delta("0.2").upper <= 1.05 * exact.delta("0.2").upper


def test_what_the_other_ranges_leave_of_a_range_counts():
    wide = sp.HistogramQuery([sp.Between("0.2", "0.3"), sp.Between("0.3", "0.4"), sp.Between(0, 1)])
    left = sp.HistogramQuery([sp.Between("0.2", "0.3"), sp.Between("0.3", "0.4"), sp.Between("0.3", "0.5")])
    deltas = [sp.privacy_curve(query, sp.Population(50)).delta("0.2") for query in (wide, left)]
    assert deltas[0] == deltas[1]


@pytest.mark.parametrize("known", [0, 4])
def test_histograms_with_ranges_are_summed_over_the_parts(known):
    boxes = [("0.2", "0.3"), ("0.3", "0.4"), ("0.3", "0.5")]
    queries = [
        sp.HistogramQuery([sp.Between(*box) for box in boxes]),
        sp.PropertyQuery(sp.Between("0.4", "0.6")).gated(8, 22),
        sp.PropertyQuery(sp.Between("0.4", "0.6")).rounded(5),
    ]
    population, parts = sp.Population(120), sp.RandomPartition([40, 30, 30])
    adversary = sp.Adversary(known=known)
    curve = sp.compose(queries, population, parts, adversary=adversary)
    least = sum(
        Fraction(size, 120) * Fraction(sp.privacy_curve(query, sp.Population(size)).delta("0.2").lower)
        for query, size in zip(queries, parts.sizes, strict=True)
    )
    most = sum(
        Fraction(size, 120)
        * Fraction(sp.privacy_curve(query, sp.Population(size), adversary=sp.Adversary(known=known)).delta("0.2").upper)
        for query, size in zip(queries, parts.sizes, strict=True)
    )
    assert curve.kind == "bound"
    assert least * Fraction(999, 1000) <= curve.delta("0.2").upper <= most * Fraction(1001, 1000)


def test_ranges_of_cells_must_allow_a_law():
    with pytest.raises(sp.ArgumentError, match=r"^p sums to at least 11/10 and at most 13/10; ranges with some"):
        sp.HistogramQuery([sp.Between("0.5", "0.6"), sp.Between("0.6", "0.7")])
    with pytest.raises(sp.ArgumentError, match=r"at least two cells are required"):
        sp.HistogramQuery([sp.Between(0, 1)])
    query = sp.HistogramQuery([sp.Between("0.5", "0.6"), "0.4", sp.Between(0, "0.1")], attribute="age")
    assert eval(repr(query), {"HistogramQuery": sp.HistogramQuery, "Between": sp.Between}) == query  # noqa: S307
