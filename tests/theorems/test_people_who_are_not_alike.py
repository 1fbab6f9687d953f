"""Every row has a probability of its own in a range: the worst are at the ends, and what is not proved is refused."""

import copy
import json
import pickle
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import exp
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv import reference
from statpriv.model.codec import query_from, written_query
from statpriv.model.ranges import ends
from statpriv.model.situation import holds_for_every_probability

VECTORS = Path(__file__).parents[1] / "vectors/tables.json"
OWN = sp.EachBetween("0.1", "0.9")
ASKED = sp.PropertyQuery(OWN)
TWENTY = sp.Population(20)
GROUPS = sp.Population(groups={"a": 10, "b": 10})


def law_of_count(probabilities):
    """The law of a sum of independent bits."""
    law = [Fraction(1)]
    for p in probabilities:
        law = [(1 - p) * stays + p * moves for stays, moves in zip([*law, 0], [0, *law], strict=True)]
    return law


def hockey_stick(first, second, ratio):
    return sum(max(v - ratio * w, Fraction(0)) for v, w in zip(first, second, strict=True))


def delta_of(probabilities, ratio):
    """Of a count of independent others, one at each of these probabilities: the larger of both directions."""
    law = law_of_count(probabilities)
    one, zero = [Fraction(0), *law], [*law, Fraction(0)]
    return max(hockey_stick(one, zero, ratio), hockey_stick(zero, one, ratio))


hundredths = st.integers(1, 99).map(lambda k: Fraction(k, 100))


@settings(max_examples=40, deadline=None)
@given(st.tuples(hundredths, hundredths).map(sorted), st.lists(st.integers(0, 10), min_size=1, max_size=6))
def test_no_laws_inside_the_range_are_worse_and_some_at_its_ends_are_as_bad(box, places):
    lower, upper = box
    inside = [lower + (upper - lower) * place / 10 for place in places]
    curve = sp.privacy_curve(sp.PropertyQuery(sp.EachBetween(lower, upper)), sp.Population(len(places) + 1))
    at_the_ends = [[upper] * k + [lower] * (len(places) - k) for k in range(len(places) + 1)]
    total_variation = curve.delta(0)
    assert max(delta_of(vertex, 1) for vertex in at_the_ends) in total_variation
    assert delta_of(inside, 1) <= total_variation.upper
    assert total_variation.width <= 1e-9 * total_variation.upper


@settings(max_examples=25, deadline=None)
@given(
    st.tuples(hundredths, hundredths).map(sorted),
    st.integers(1, 30),
    st.sampled_from(["0", "0.05", "0.4", "2"]),
)
def test_a_probability_that_all_share_never_looks_less_safe(box, size, epsilon):
    own, shared = (
        sp.privacy_curve(sp.PropertyQuery(of(*box)), sp.Population(size)).delta(epsilon)
        for of in (sp.EachBetween, sp.Between)
    )
    assert shared.lower <= own.upper


def test_known_rows_shift_the_count_only():
    seven = sp.privacy_curve(ASKED, sp.Population(7), adversary=sp.Adversary(known=2))
    assert seven.delta("0.1") == sp.privacy_curve(ASKED, sp.Population(5)).delta("0.1")


def test_the_worst_rows_may_be_at_both_ends():
    """Six others in [.1, .9] at e^ε = 1.05: .5810, and .5314 for a probability that all share."""
    sixes = [[Fraction(9, 10)] * k + [Fraction(1, 10)] * (6 - k) for k in range(7)]
    values = [delta_of(vertex, Fraction(21, 20)) for vertex in sixes]
    assert values.index(max(values)) not in (0, 6)
    assert round(float(max(values)), 4) == 0.5810


def test_the_value_is_a_value():
    assert sp.EachBetween("0.5", "0.5") != sp.Between("0.5", "0.5")
    assert sp.PropertyQuery(OWN) != sp.PropertyQuery(sp.Between("0.1", "0.9"))
    assert sp.PropertyQuery(sp.EachBetween("0.5", "0.5")) != sp.PropertyQuery("0.5"), "it says more of the others"
    assert ends(OWN) == (Fraction(1, 10), Fraction(9, 10))
    assert repr(OWN) == "EachBetween('1/10', '9/10')"
    for made in (OWN, ASKED):
        assert pickle.loads(pickle.dumps(made)) == copy.copy(made) == made  # noqa: S301
        assert hash(made) == hash(copy.deepcopy(made))
    with pytest.raises(sp.ArgumentError, match="lower <= upper"):
        sp.EachBetween("0.9", "0.1")


@pytest.mark.parametrize(
    "query",
    [
        ASKED,
        sp.PropertyQuery({"a": OWN, "b": "0.5"}),
        sp.HistogramQuery([sp.EachBetween("0.1", "0.3"), sp.Between("0.7", "0.9")]),
        sp.SumQuery({0: OWN, 1: OWN}),
        ASKED.rounded(5),
    ],
)
def test_it_is_written_and_read_back(query):
    assert query_from(written_query(query)) == query
    assert "each" in str(written_query(query))


REFUSED = {
    "a promise of any property": lambda: sp.PartitionAccountant(TWENTY, epsilon=1, delta=1, only=ASKED),
    "a certificate": lambda: sp.privacy_curve(ASKED, TWENTY).certify(epsilon=1, delta="0.9"),
    "the gate's bound for every p": lambda: sp.privacy_curve(ASKED.gated(3, 5), TWENTY, bound="gate"),
    "convex order": lambda: sp.compose([ASKED, ASKED], TWENTY, sp.RandomPartition([10, 10]), bound="convex-order"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_proved_is_refused_in_words(what):
    with pytest.raises(sp.NotAvailableError, match="each row has a probability of its own"):
        REFUSED[what]()


def test_a_promise_of_a_shared_probability_does_not_cover_rows_with_their_own():
    account = sp.PartitionAccountant(TWENTY, epsilon=1, delta=1, only=sp.PropertyQuery(sp.Between("0.1", "0.9")))
    with pytest.raises(sp.BudgetExceededError):
        account.compose(ASKED, size=10)


def test_a_gate_does_not_make_the_guarantee_hold_for_every_probability():
    assert not holds_for_every_probability(ASKED.gated(3, 5))
    shared = sp.PropertyQuery(sp.Between("0.1", "0.9")).gated(3, 5)
    assert sp.privacy_curve(shared, TWENTY).situation.holds_for_every_probability


def test_no_explanation_says_that_rows_are_alike():
    shared = "the same probability"
    for what in LARGER.values():
        assert shared not in what(BETWEEN).explain()


def test_explain_says_whose_probability_it_is():
    assert "Each row has its own probability" in sp.privacy_curve(ASKED, TWENTY).explain()


# --- brute force: every number of rows at either end, every database, every template ---

LOW, HIGH = Fraction(1, 10), Fraction(7, 10)
RATIO = Fraction(23, 20)
BETWEEN = sp.PropertyQuery(sp.EachBetween(LOW, HIGH))


def gate(first, last):
    return lambda rows: sum(rows) if first <= sum(rows) <= last else None


def round_to(base):
    return lambda rows: (2 * sum(rows) + base) // (2 * base) * base


def of_rows(probabilities):
    return reference.Database([reference.coin(p) for p in probabilities])


def ends_of(n):
    return [[HIGH] * k + [LOW] * (n - k) for k in range(n + 1)]


PROCESSED = {
    "bare": (BETWEEN, sum),
    "gate": (BETWEEN.gated(2, 3), gate(2, 3)),
    "rounding": (BETWEEN.rounded(2), round_to(2)),
    "threshold": (BETWEEN.thresholded(1), lambda rows: sum(rows) if sum(rows) > 1 else None),
}
SAMPLED = {
    "none": (None, None, sum),
    "without replacement": (sp.WithoutReplacement(2), lambda n: reference.without_replacement(n, 2), sum),
    "with replacement": (sp.WithReplacement(2), lambda n: reference.with_replacement(n, 2), sum),
    "at a rate": (sp.PoissonSampling("1/3"), lambda n: reference.poisson(n, "1/3"), sum),
    "at a rate, size published": (
        sp.PoissonSampling("1/3", size_published=True),
        lambda n: reference.poisson(n, "1/3"),
        lambda rows: (sum(rows), len(rows)),
    ),
}


@pytest.mark.parametrize("known", [0, 2])
@pytest.mark.parametrize("step", PROCESSED)
def test_steps_on_a_count_are_worst_at_the_ends_and_for_the_worst_known_values(step, known):
    """A gated or a rounded count is not shifted by known rows: their number of ones matters."""
    query, answer = PROCESSED[step]
    curve = sp.privacy_curve(query, sp.Population(5), adversary=sp.Adversary(known=known))
    truths = [reference.privacy_curve(of_rows(rows), answer, known=known)(RATIO) for rows in ends_of(5)]
    assert curve.kind == "exact"
    assert curve.exact_delta(exp_epsilon=RATIO) == max(truths)


@pytest.mark.parametrize("known", [0, 1])
@pytest.mark.parametrize("sampling", SAMPLED)
def test_hidden_samples_are_worst_at_the_ends(sampling, known):
    drawn, templates, answer = SAMPLED[sampling]
    curve = sp.privacy_curve(BETWEEN, sp.Population(4), sampling=drawn, adversary=sp.Adversary(known=known))
    law = None if templates is None else templates(4)
    truths = [reference.privacy_curve(of_rows(rows), answer, law, known=known)(RATIO) for rows in ends_of(4)]
    assert curve.kind == "exact"
    assert curve.exact_delta(exp_epsilon=RATIO) == max(truths)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 6), min_size=4, max_size=4),
    st.sampled_from(sorted(SAMPLED)),
    st.sampled_from(sorted(PROCESSED)),
    st.sampled_from([Fraction(1), RATIO, Fraction(2)]),
)
def test_no_rows_inside_the_range_are_worse_however_they_are_drawn_and_whatever_is_done(places, sampling, step, ratio):
    rows = [LOW + (HIGH - LOW) * place / 6 for place in places]
    (drawn, templates, sampled), (query, answer) = SAMPLED[sampling], PROCESSED[step]
    if step == "bare":
        answer = sampled
    elif drawn is not None and drawn.size_published:
        return
    curve = sp.privacy_curve(query, sp.Population(4), sampling=drawn)
    law = None if templates is None else templates(4)
    assert reference.privacy_curve(of_rows(rows), answer, law, critical=0)(ratio) <= curve.exact_delta(
        exp_epsilon=ratio
    )


def test_the_unshifted_block_would_be_too_small_for_a_gate():
    """N = 6, [.1, .5], gate [3, 5], ε = .1, two to five rows at the upper end: .339, and .272 if they only shifted."""
    lower, upper, ratio = Fraction(1, 10), Fraction(1, 2), Fraction(exp(0.1))

    def gated(others, shift=0):
        law = law_of_count(others)
        answers = [Fraction(0)] * shift + law + [Fraction(0)] * (7 - len(law) - shift + 1)
        zero, one = answers[:8], [Fraction(0), *answers[:7]]
        kept = [[law[s] for s in range(3, 6)] + [1 - sum(law[3:6])] for law in (one, zero)]
        return max(hockey_stick(*kept, ratio), hockey_stick(*reversed(kept), ratio))

    block = [upper] * 2 + [lower]
    values = [gated([upper] * k + [lower] * (6 - k)) for k in range(2, 6)]
    assert round(float(gated(block)), 3) == 0.272
    assert round(float(max(values)), 3) == 0.339
    assert max(values) <= max(gated(block, shift) for shift in range(4))
    curve = sp.privacy_curve(sp.PropertyQuery(sp.EachBetween(lower, upper)).gated(3, 5), sp.Population(7))
    assert abs(curve.delta("0.1").upper - float(max(gated([upper] * k + [lower] * (6 - k)) for k in range(7)))) < 1e-9


@pytest.mark.parametrize("known", [{}, {"a": 1}, {"a": 1, "b": 1}])
def test_groups_of_rows_with_their_own_probabilities(known):
    ranges = {"a": (LOW, HIGH), "b": (Fraction(1, 3), Fraction(1, 2))}
    query = sp.PropertyQuery({"a": sp.EachBetween(*ranges["a"]), "b": sp.EachBetween(*ranges["b"])})
    population = sp.Population(groups={"a": 3, "b": 2})
    curve = sp.privacy_curve(query, population, adversary=sp.Adversary(known=known or 0))
    boxes = [ranges["a"]] * 3 + [ranges["b"]] * 2
    indices = [*range(known.get("a", 0)), *(3 + i for i in range(known.get("b", 0)))]
    truths = []
    for chosen in product((0, 1), repeat=5):
        rows = of_rows([box[end] for box, end in zip(boxes, chosen, strict=True)])
        truths.append(reference.privacy_curve(rows, sum, known=indices)(RATIO))
    assert curve.exact_delta(exp_epsilon=RATIO) == max(truths)


def test_many_rows_in_groups_are_bounded_by_the_hull_of_their_ranges():
    """Six hundred and four hundred rows count as a thousand, not as four hundred."""
    population = sp.Population(groups={"a": 600, "b": 400})
    query = sp.PropertyQuery({"a": sp.EachBetween("0.3", "0.5"), "b": sp.EachBetween("0.4", "0.6")})
    found = sp.privacy_curve(query, population)
    hull = sp.privacy_curve(sp.PropertyQuery(sp.EachBetween("0.3", "0.6")), sp.Population(1000))
    truths = [
        sp.privacy_curve(sp.PropertyQuery({"a": first, "b": second}), population).delta("0.05")
        for first, second in product(("0.3", "0.5"), ("0.4", "0.6"))
    ]
    assert found.kind == "bound"
    assert found.delta("0.05").upper <= hull.delta("0.05").upper <= 1.2 * max(truth.lower for truth in truths)
    assert all(truth.lower <= found.delta("0.05").upper for truth in truths)


BOX = (("1/10", "3/10"), ("1/5", "2/5"), ("2/5", "7/10"))


def laws_in(box, steps=2):
    """Laws on a grid of the box within the simplex, its vertices among them."""
    low, high = ([Fraction(pair[end]) for pair in box] for end in (0, 1))
    grids = [[a + (b - a) * k / steps for k in range(steps + 1)] for a, b in zip(low, high, strict=True)]
    firsts = [(x, y) for x in grids[0] for y in grids[1]]
    return [(x, y, 1 - x - y) for x, y in firsts if low[2] <= 1 - x - y <= high[2]]


def cells_of(entries):
    return tuple(entries.count(cell) for cell in range(3))


def test_the_cells_of_a_histogram_are_bounded_for_rows_with_laws_of_their_own():
    query = sp.HistogramQuery([sp.EachBetween(*pair) for pair in BOX])
    curve = sp.privacy_curve(query, sp.Population(4))
    bound = curve.delta(0).upper
    worst = Fraction(0)
    for laws in combinations_with_replacement(laws_in(BOX), 3):
        rows = reference.Database([dict(enumerate((*laws[0],))), *(dict(enumerate(law)) for law in laws)])
        worst = max(worst, reference.privacy_curve(rows, cells_of, critical=0)(1))
    assert curve.kind == "bound"
    assert worst <= bound <= 1.1 * worst


def test_parts_that_ask_one_thing_are_one_sample_of_their_union():
    query = sp.PropertyQuery(sp.EachBetween(LOW, HIGH), attribute="smoker")
    curve = sp.compose([query, query], sp.Population(4), sp.RandomPartition([2, 1]))
    families = reference.partitions(4, [2, 1])
    truths = [reference.privacy_curve(of_rows(rows), [sum, sum], families)(RATIO) for rows in ends_of(4)]
    assert curve.kind == "exact"
    assert curve.exact_delta(exp_epsilon=RATIO) == max(truths)


def test_parts_of_all_rows_that_ask_one_thing_are_their_count_whoever_is_known():
    query, all_rows = sp.PropertyQuery(sp.EachBetween(LOW, HIGH), attribute="smoker"), sp.RandomPartition([2, 2])
    for known in (0, 1):
        curve = sp.compose([query, query], sp.Population(4), all_rows, adversary=sp.Adversary(known=known))
        assert curve.kind == "exact"
        alone = sp.privacy_curve(query, sp.Population(4 - known)).exact_delta(exp_epsilon=RATIO)
        assert curve.exact_delta(exp_epsilon=RATIO) == alone
    families = reference.partitions(4, [2, 2])
    truths = [reference.privacy_curve(of_rows(rows), [sum, sum], families, known=1)(RATIO) for rows in ends_of(4)]
    assert max(truths) == alone


def test_an_analyst_who_chooses_costs_at_most_the_sum_of_the_parts():
    asked = [sp.PropertyQuery(sp.EachBetween(LOW, HIGH), attribute=name) for name in "ab"]
    parts, eight = sp.RandomPartition([5, 3]), sp.Population(8)
    bound = sp.compose_adaptive(sp.AnyOf(asked), eight, parts)
    beforehand = sp.compose(asked, eight, parts, bound="partition-sum")
    assert bound.kind == "bound"
    assert bound.delta("0.1").upper == pytest.approx(beforehand.delta("0.1").upper)
    with pytest.raises(sp.NotAvailableError, match="a probability of its own"):
        sp.compose_adaptive(sp.AnyOf(asked), eight, parts, bound="exact")


def test_parts_that_ask_different_things_are_bounded_by_the_sum_of_their_curves():
    first, second = (LOW, HIGH), (Fraction(1, 3), Fraction(1, 2))
    queries = [sp.PropertyQuery(sp.EachBetween(*box)) for box in (first, second)]
    release = (queries, sp.Population(3), sp.RandomPartition([2, 1]))
    tightest, bound = (sp.compose(*release, bound=bound).delta(0) for bound in ("tightest", "partition-sum"))
    families = reference.partitions(3, [2, 1])
    worst = Fraction(0)
    for k, m in product(range(4), repeat=2):
        rows = []
        for i in range(3):
            p, q = first[i < k], second[i < m]
            rows.append({(x, y): (p if x else 1 - p) * (q if y else 1 - q) for x in (0, 1) for y in (0, 1)})
        asked = [lambda rows: sum(x for x, _ in rows), lambda rows: sum(y for _, y in rows)]
        worst = max(worst, reference.privacy_curve(reference.Database(rows), asked, families)(1))
    assert worst <= tightest.upper < bound.upper
    of_parts = [
        size * sp.privacy_curve(query, sp.Population(size)).delta(0).upper
        for query, size in zip(queries, (2, 1), strict=True)
    ]
    assert bound.upper == pytest.approx(sum(of_parts) / 3)


LARGER = {
    "a sample": lambda p: sp.privacy_curve(p, sp.Population(2000), sampling=sp.WithoutReplacement(500)),
    "a sample, some known": lambda p: sp.privacy_curve(
        p, sp.Population(2000), sampling=sp.WithoutReplacement(500), adversary=sp.Adversary(known=300)
    ),
    "a rate": lambda p: sp.privacy_curve(p, sp.Population(2000), sampling=sp.PoissonSampling("1/4")),
    "rounding": lambda p: sp.privacy_curve(p.rounded(5), sp.Population(2000)),
    "parts": lambda p: sp.compose([p, p], sp.Population(2000), sp.RandomPartition([800, 800])),
    "parts, some known": lambda p: sp.compose(
        [p, p], sp.Population(2000), sp.RandomPartition([800, 800]), adversary=sp.Adversary(known=100)
    ),
    "assigned": lambda p: sp.compose([p, p], sp.Population(2000), sp.MultinomialPartition(["1/2", "1/2"])),
}


BOUNDED = [
    *product(["without replacement", "at a rate"], [0, 1], ["partition-sum", "total-count"]),
    ("without replacement", 0, "amplification"),
]


@pytest.mark.parametrize(("sampling", "known", "bound"), BOUNDED)
def test_bounds_of_samples_are_not_below_the_truth(sampling, known, bound):
    drawn, templates, answer = SAMPLED[sampling]
    curve = sp.privacy_curve(
        BETWEEN, sp.Population(4), sampling=drawn, adversary=sp.Adversary(known=known), bound=bound
    )
    truths = [reference.privacy_curve(of_rows(rows), answer, templates(4), known=known) for rows in ends_of(4)]
    for epsilon in ("0", "0.2", "1"):
        assert max(float(truth(exp(float(epsilon)))) for truth in truths) <= curve.delta(epsilon).upper


@pytest.mark.campaign  # alone it notices an order of bounds of thousands of rows
@pytest.mark.parametrize("what", LARGER)
def test_of_thousands_of_rows_there_is_a_bound_not_below_that_of_a_shared_probability(what):
    box = ("0.3", "0.55")
    own, shared = (LARGER[what](sp.PropertyQuery(of(*box))).delta("0.02") for of in (sp.EachBetween, sp.Between))
    assert own.upper >= max(LARGER[what](sp.PropertyQuery(p)).delta("0.02").lower for p in (*box, "0.45"))
    assert own.upper <= 2 * shared.upper  # of a shared probability some are exact


@pytest.mark.parametrize("case", json.loads(VECTORS.read_text(encoding="utf-8"))["each_between"], ids=str)
def test_stored_exact_values(case):
    curve = sp.privacy_curve(sp.PropertyQuery(sp.EachBetween(case["lower"], case["upper"])), sp.Population(case["n"]))
    numerator, denominator = map(int, case["exact"])
    assert curve.exact_delta(exp_epsilon=case["exp_epsilon"]) == Fraction(numerator, denominator)


@pytest.mark.parametrize("box", [("0.1", "0.9"), ("0.48", "0.64"), ("0.02", "0.3")])
def test_ten_thousand_rows_are_known_to_nine_digits_and_a_million_to_two_per_cent(box):
    """Against every number of rows at either end of a few, and every number at a distance of the ends of many."""
    query = sp.PropertyQuery(sp.EachBetween(*box))
    thousand = sp.privacy_curve(query, sp.Population(10_000)).delta("0.03")
    assert thousand.width <= 1e-9 * thousand.lower
    million = sp.privacy_curve(query, sp.Population(1_000_000)).delta("0.002")
    assert million.width <= 0.02 * million.lower
    ends_alone = max(sp.privacy_curve(sp.PropertyQuery(p), sp.Population(1_000_000)).delta("0.002").lower for p in box)
    assert ends_alone <= million.upper


def test_epsilon_and_beta_of_a_bracket_are_safe():
    curve = sp.privacy_curve(sp.PropertyQuery(sp.EachBetween("0.1", "0.9")), sp.Population(20_000))
    found = curve.epsilon("1e-4")
    assert curve.delta(found.upper).lower <= 1e-4 <= curve.delta(found.lower).upper
    assert found.width <= 0.02 * found.upper
