"""Does the public brute force say what the definitions say, and what the formulas and the library say?"""

from fractions import Fraction
from itertools import combinations, product
from math import comb, exp, factorial, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv import reference as ref

from ..cases import cases

HALF = Fraction(1, 2)
COIN = ref.coin(HALF)
X_VALUES = (Fraction(1), Fraction(21, 20), Fraction(3, 2), Fraction(4))
BOTH = ((1, 0), (0, 1))

probabilities = st.fractions(min_value=Fraction(1, 10), max_value=Fraction(9, 10), max_denominator=10)
exp_epsilons = st.fractions(min_value=1, max_value=5, max_denominator=12)


def coins(n, p=HALF):
    return ref.iid(ref.coin(p), n)


def binomial(n, p):
    return {k: comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)}


def hypergeometric(population, marked, draws):
    ways = comb(population, draws)
    return {k: Fraction(comb(marked, k) * comb(population - marked, draws - k), ways) for k in range(draws + 1)}


def mixture(*weighted):
    law = {}
    for weight, terms in weighted:
        for answer, mass in terms.items():
            law[answer] = law.get(answer, 0) + weight * mass
    return {answer: mass for answer, mass in law.items() if mass}


def shifted(law, by):
    return {answer + by: mass for answer, mass in law.items()}


def count_curve(n, p, x):
    """Δ̂ of a count of n entries, from its binomial laws."""
    ones, zeros = shifted(binomial(n - 1, p), 1), binomial(n - 1, p)
    return max(ref.hockey_stick(ones, zeros, x), ref.hockey_stick(zeros, ones, x))


def stop_loss(w0, parts, x):
    """The exact composition: `E_{⊗R_k}(w_0 (1−x) + Σ_k w_k g_k)_+`; a part is (w_k, R_k, P_{k,v}, P_{k,w})."""
    total = Fraction(0)
    for answers in product(*(law for _, law, _, _ in parts)):
        mass = prod((law[a] for a, (_, law, _, _) in zip(answers, parts, strict=True)), start=Fraction(1))
        gain = w0 * (1 - x)
        for a, (weight, law, one, other) in zip(answers, parts, strict=True):
            gain += weight * (one.get(a, 0) - x * other.get(a, 0)) / law[a]
        total += mass * max(Fraction(0), gain)
    return total


# --- what can be computed by hand, and numbers in print


def test_three_coins_are_piecewise_linear_in_the_exponential():
    curve = ref.privacy_curve(coins(3), sum)
    assert (curve(1), curve(2)) == (HALF, Fraction(1, 4))
    assert curve("1.41421356") == Fraction(3, 4) - Fraction("1.41421356") / 4  # the printed .39645


def test_example_1_with_the_binomials_corrected():
    sample = ref.without_replacement(8, 4, ordered=False)
    spc = ref.sampling_privacy_curve(coins(8), sum, sample, critical=0, known=[1, 2, 3])("11/10")
    assert f"{float(spc):.9f}".startswith("0.485714")
    corrected = sum(
        Fraction(comb(3, z) * comb(4, 3 - z), comb(7, 3)) * count_curve(4 - z, HALF, Fraction(11, 10)) for z in range(4)
    )
    printed = sum(
        Fraction(comb(3, z) * comb(5, 3 - z), comb(8, 3)) * count_curve(4 - z, HALF, Fraction(11, 10)) for z in range(4)
    )
    assert spc == corrected
    assert f"{float(printed):.9f}".startswith("0.470982")


def test_with_replacement_the_sampling_curve_is_far_looser_than_the_law():
    p, draws = Fraction(2, 5), ref.with_replacement(3, 3)
    spc = ref.sampling_privacy_curve(coins(3, p), sum, draws, critical=0)(1)
    inclusion = sum(mass for template, mass in draws.items() if 0 in template)
    exact = ref.privacy_curve(coins(3, p), sum, draws, critical=0)(1)
    assert inclusion == Fraction(19, 27)
    assert (float(spc), float(inclusion * spc), float(exact)) == pytest.approx((0.836, 0.588, 0.384), abs=5e-4)


@pytest.mark.parametrize(("ones", "printed"), [(0, 0.0750), (1, 0.0917), (2, 0.0750)])
def test_the_worst_number_of_known_ones_lies_inside(ones, printed):
    known = {4: int(ones > 0), 5: int(ones > 1)}
    sample = ref.without_replacement(6, 2, ordered=False)
    curve = ref.privacy_curve(coins(6), sum, sample, critical=0, known=known)
    assert float(curve("3/2")) == pytest.approx(printed, abs=5e-5)
    assert ref.privacy_curve(coins(6), sum, sample, critical=0, known=2)("3/2") >= curve("3/2")


def test_a_mixed_sign_pattern_is_the_worst_of_two_properties():
    bit = ref.coin("0.3")
    entry = {(a, b): bit[a] * bit[b] for a in bit for b in bit}
    queries = [lambda rows: sum(row[0] for row in rows), lambda rows: sum(row[1] for row in rows)]
    parts = ref.partitions(7, [6, 1], ordered=False)

    def worst(*pairs):
        database = ref.iid(entry, 7)
        return max(
            ref.privacy_curve(database, queries, parts, critical=0, pair=pair)(Fraction(exp(0.1))) for pair in pairs
        )

    assert float(worst(((1, 1), (0, 0)), ((0, 0), (1, 1)))) == pytest.approx(0.2972438, abs=5e-8)
    assert float(worst(((1, 0), (0, 1)), ((0, 1), (1, 0)))) == pytest.approx(0.3105713, abs=5e-8)


def test_the_order_of_the_rows_counts():
    def first(rows):
        return rows[0]

    assert ref.privacy_curve(coins(2), first, ref.without_replacement(2, 2), critical=1)(1) == HALF
    assert ref.privacy_curve(coins(2), first, ref.without_replacement(2, 2, ordered=False), critical=1)(1) == 0
    assert ref.privacy_curve(coins(2), first)(1) == 1, "the worst critical entry is the one that is shown"


def test_a_value_of_probability_zero_is_one_that_the_critical_entry_may_take():
    assert ref.privacy_curve(coins(3, 0), sum)(4) == 1
    assert ref.privacy_curve(ref.iid({0: 1}, 3), sum)(1) == 0, "with one value there is nothing to tell apart"


# --- the laws of templates


@pytest.mark.parametrize("law", [
    ref.everyone(4),
    ref.without_replacement(4, 2),
    ref.with_replacement(4, 2),
    ref.poisson(4, "0.3"),
    ref.stratified("aabb", {"a": 1, "b": 2}),
    ref.partitions(4, [2, 1]),
    ref.stratified_partitions("aabb", [{"a": 1}, {"a": 1, "b": 1}]),
    ref.multinomial_assignment(4, ["1/2", "1/3"]),
    ref.overlapping(4, [2, 1]),
])  # fmt: skip
def test_a_law_of_templates_is_a_law(law):
    assert sum(law.values()) == 1
    assert all(mass > 0 for mass in law.values())


def test_what_is_drawn():
    assert len(ref.without_replacement(4, 2)) == 4 * 3
    assert set(ref.without_replacement(4, 2, ordered=False)) == set(combinations(range(4), 2))
    assert len(ref.with_replacement(3, 4)) == 3**4
    assert ref.poisson(3, "1/4")[0, 2] == Fraction(1, 4) ** 2 * Fraction(3, 4)
    assert len(ref.partitions(5, [2, 2])) == 5 * 4 * 3 * 2
    assert len(ref.partitions(5, [2, 2], ordered=False)) == 30
    assert all(set(first).isdisjoint(second) for first, second in ref.partitions(5, [2, 2]))
    assert set(ref.stratified("aab", {"a": 1}, ordered=False)) == {(0,), (1,)}
    assert len(ref.overlapping(3, [2, 2], ordered=False)) == 9
    assert ref.multinomial_assignment(3, ["1/2", "1/3"])[(0,), (2,)] == Fraction(1, 2) * Fraction(1, 3) / 6
    assert ref.uniform([(0,), (0,), (1,)]) == {(0,): Fraction(2, 3), (1,): Fraction(1, 3)}


def test_for_queries_that_do_not_look_at_the_order_sets_are_enough():
    for query, sequences, sets in (
        (sum, ref.without_replacement(5, 3), ref.without_replacement(5, 3, ordered=False)),
        ([sum, max], ref.partitions(5, [2, 2]), ref.partitions(5, [2, 2], ordered=False)),
        (sum, ref.stratified("aabbb", {"a": 1, "b": 2}), ref.stratified("aabbb", {"a": 1, "b": 2}, ordered=False)),
    ):
        laws = [ref.answer_law(coins(5, "1/3"), 2, 1, query, law) for law in (sequences, sets)]
        assert laws[0] == laws[1]


# --- formulas for one query


@given(p=probabilities, n=st.integers(1, 5), data=st.data())
def test_the_laws_of_a_sampled_count(p, n, data):
    s, v = data.draw(st.integers(1, n)), data.draw(st.sampled_from([0, 1]))
    gamma = Fraction(s, n)
    database, others = coins(n, p), binomial(n - 1, p)

    def law(query, templates):
        return ref.answer_law(database, n - 1, v, query, templates)

    kept = mixture((1 - gamma, binomial(s, p)), (gamma, shifted(binomial(s - 1, p), v)))
    assert law(sum, ref.without_replacement(n, s, ordered=False)) == kept
    if n**s <= 256:
        replaced = mixture(*((mass, binomial(s, Fraction(ones + v, n))) for ones, mass in others.items()))
        assert law(sum, ref.with_replacement(n, s)) == replaced
    hidden = mixture((1 - gamma, binomial(n - 1, p * gamma)), (gamma, shifted(binomial(n - 1, p * gamma), v)))
    assert law(sum, ref.poisson(n, gamma)) == hidden
    published = mixture(*(
        (mass, {(size, a): share for a, share in sampled(n, size, p, v).items()})
        for size, mass in binomial(n, gamma).items()
    ))  # fmt: skip
    assert law(lambda rows: (len(rows), sum(rows)), ref.poisson(n, gamma)) == published


def sampled(n, size, p, v):
    """The law of the count of a uniform sample of this size."""
    held = Fraction(size, n)
    absent = (1 - held, binomial(size, p)) if size < n else (0, {})
    return mixture(absent, (held, shifted(binomial(size - 1, p), v)) if size else (0, {}))


@given(laws=st.lists(probabilities, min_size=2, max_size=5), x=exp_epsilons)
def test_entries_of_different_laws_give_a_poisson_binomial_count(laws, x):
    others = {0: Fraction(1)}
    for p in laws[1:]:
        others = mixture((1 - p, others), (p, shifted(others, 1)))
    database = ref.Database([ref.coin(p) for p in laws])
    assert ref.answer_law(database, 0, 1, sum) == shifted(others, 1)
    expected = max(ref.hockey_stick(*laws, x) for laws in ((shifted(others, 1), others), (others, shifted(others, 1))))
    assert ref.privacy_curve(database, sum, critical=0)(x) == expected


@given(x=exp_epsilons, n=st.integers(2, 5))
def test_a_histogram_is_decided_by_the_two_cells(x, n):
    cells = {"a": Fraction(1, 2), "b": Fraction(1, 3), "c": Fraction(1, 6)}

    def histogram(rows):
        return tuple(rows.count(cell) for cell in cells)

    pv, pw = cells["a"], cells["c"]
    expected = sum(
        total * share * max(Fraction(0), a / (n * pv) - x * (t - a) / (n * pw))
        for t, total in binomial(n, pv + pw).items()
        for a, share in binomial(t, pv / (pv + pw)).items()
    )
    assert ref.privacy_curve(ref.iid(cells, n), histogram, critical=0, pair=("a", "c"))(x) == expected


@given(p=probabilities, x=exp_epsilons)
def test_binomial_noise_is_as_good_as_more_entries(p, x):
    """Noise is one more entry that is nobody's: Bin(2, p) makes the curve of n into that of n + 2."""
    noisy = ref.Database([ref.coin(p)] * 3 + [binomial(2, p)])
    assert ref.privacy_curve(noisy, sum, critical=0)(x) == ref.privacy_curve(coins(5, p), sum, critical=0)(x)


def test_a_sample_from_groups():
    """Given the composition of the sample the count is a sum of binomials (math. of groups, exact law)."""
    p = {"f": Fraction(1, 3), "m": Fraction(4, 5)}
    groups = "fffmm"
    database = ref.Database([ref.coin(p[group]) for group in groups])
    sample = ref.without_replacement(5, 3, ordered=False)
    inside = {template: mass for template, mass in sample.items() if 0 in template}
    law = ref.answer_law(database, 0, 1, sum, ref.uniform(inside))
    expected = mixture(*(
        (mass, shifted(convolved(binomial(2 - men, p["f"]), binomial(men, p["m"])), 1))
        for men, mass in hypergeometric(4, 2, 2).items()
    ))  # fmt: skip
    assert law == expected
    fixed = ref.answer_law(database, 0, 1, sum, ref.stratified(groups, {"f": 2, "m": 1}))
    assert fixed == mixture(
        (Fraction(2, 3), shifted(convolved(binomial(1, p["f"]), binomial(1, p["m"])), 1)),
        (Fraction(1, 3), convolved(binomial(2, p["f"]), binomial(1, p["m"]))),
    )


def convolved(one, other):
    return mixture(*((mass, shifted(other, a)) for a, mass in one.items()))


# --- composition


def part(size, weight, p, v, w):
    rest = binomial(size - 1, p)
    return weight, binomial(size, p), shifted(rest, v), shifted(rest, w)


@pytest.mark.parametrize(("n", "sizes"), [(3, [1, 1]), (4, [3, 1]), (5, [2, 2]), (5, [2, 1, 1])])
@pytest.mark.parametrize("pair", BOTH)
def test_the_exact_composition_over_a_random_partition(n, sizes, pair):
    p = Fraction(3, 10)
    parts = [part(size, Fraction(size, n), p, *pair) for size in sizes]
    curve = ref.privacy_curve(coins(n, p), [sum] * len(sizes), ref.partitions(n, sizes), critical=1, pair=pair)
    assert all(curve(x) == stop_loss(1 - Fraction(sum(sizes), n), parts, x) for x in X_VALUES)


@pytest.mark.parametrize("pair", BOTH)
def test_the_exact_composition_over_a_stratified_partition(pair):
    p, groups = {"f": Fraction(1, 3), "m": Fraction(4, 5)}, "fffmm"
    sizes = [{"f": 1, "m": 1}, {"f": 1, "m": 1}]
    database = ref.Database([ref.coin(p[group]) for group in groups])
    parts = ref.stratified_partitions(groups, sizes, ordered=False)
    for critical, own, other, weight in ((0, "f", "m", Fraction(1, 3)), (4, "m", "f", HALF)):
        unknown = binomial(1, p[other])
        laws = [(weight, convolved(binomial(1, p[own]), unknown), *(shifted(unknown, value) for value in pair))] * 2
        curve = ref.privacy_curve(database, [sum, sum], parts, critical=critical, pair=pair)
        assert all(curve(x) == stop_loss(1 - 2 * weight, laws, x) for x in X_VALUES)


@pytest.mark.parametrize("pair", BOTH)
def test_multinomial_assignment(pair):
    """Hidden sizes: a multinomial with one entry less. Published ones: the mean of the exact curve over the sizes."""
    n, p, weights = 3, Fraction(1, 3), (Fraction(1, 2), Fraction(1, 4))
    assignment = ref.multinomial_assignment(n, weights)
    cells = [w * p for w in weights]

    def multinomial(trials, cells):
        rest = 1 - sum(cells)
        return {
            counts: factorial(trials)
            / Fraction(prod(map(factorial, (*counts, trials - sum(counts)))))
            * prod((c**k for c, k in zip(cells, counts, strict=True)), start=Fraction(1))
            * rest ** (trials - sum(counts))
            for counts in product(range(trials + 1), repeat=len(cells))
            if sum(counts) <= trials
        }

    others = multinomial(n - 1, cells)
    first = {(a + 1, b): mass for (a, b), mass in others.items()}
    second = {(a, b + 1): mass for (a, b), mass in others.items()}
    laws = {0: others, 1: mixture((Fraction(1, 4), others), (weights[0], first), (weights[1], second))}
    assert all(ref.answer_law(coins(n, p), 0, v, [sum, sum], assignment) == laws[v] for v in (0, 1))

    def with_size(rows):
        return len(rows), sum(rows)

    curve = ref.privacy_curve(coins(n, p), [with_size] * 2, assignment, critical=0, pair=pair)
    for x in X_VALUES:
        mean = Fraction(0)
        for sizes, mass in multinomial(n, weights).items():
            parts = [part(size, Fraction(size, n), p, *pair) for size in sizes if size]
            mean += mass * stop_loss(1 - Fraction(sum(sizes), n), parts, x)
        assert curve(x) == mean


def test_overlapping_samples_are_post_processing_of_the_total():
    n, sizes, p = 4, [2, 3], Fraction(2, 5)
    samples = ref.overlapping(n, sizes, ordered=False)
    for v in (0, 1):
        expected = {}
        for total, mass in shifted(binomial(n - 1, p), v).items():
            for answers in product(*(range(size + 1) for size in sizes)):
                share = prod(hypergeometric(n, total, s)[a] for a, s in zip(answers, sizes, strict=True))
                expected[answers] = expected.get(answers, 0) + mass * share
        law = ref.answer_law(coins(n, p), 0, v, [sum, sum], samples)
        assert law == {answers: mass for answers, mass in expected.items() if mass}
    curve = ref.privacy_curve(coins(n, p), [sum, sum], samples, critical=0)
    assert all(curve(x) <= count_curve(n, p, x) for x in X_VALUES)


@pytest.mark.parametrize("x", X_VALUES)
def test_theorem_5_1_and_5_2(x):
    p, sizes = Fraction(3, 10), [2, 1]
    parts = ref.partitions(4, sizes, ordered=False)
    bound = ref.partition_sum(coins(4, p), [sum, sum], parts, critical=0)(x)
    assert bound == sum(Fraction(size, 4) * count_curve(size, p, x) for size in sizes)
    different = ref.Database([ref.coin(q) for q in ("1/2", "1/3", "1/5", "9/10")])
    for known in (0, 1, [3]):
        exact = ref.privacy_curve(different, [sum, max], parts, known=known)(x)
        assert exact <= ref.partition_sum(different, [sum, max], parts, known=known)(x)
    weighted = ref.Database([ref.coin(p)] * 2 + [{0: 1}] * 2)
    spc = [ref.sampling_privacy_curve(weighted, sum, ref.without_replacement(4, size), critical=0)(x) for size in sizes]
    total = ref.partition_sum(weighted, [sum, sum], parts, critical=0)(x)
    assert total == sum(Fraction(size, 4) * curve for size, curve in zip(sizes, spc, strict=True))


# --- adaptive composition


def parity(rows):
    return sum(rows) % 2


QUERIES = (sum, max, parity)


def test_a_strategy_that_ignores_the_answers_is_a_list_of_queries():
    parts = ref.partitions(4, [2, 1])
    asked = [sum, max]
    strategy = ref.Strategy(lambda earlier: asked[len(earlier)])
    database = ref.Database([ref.coin(q) for q in ("1/2", "1/3", "1/5", "9/10")])
    for x in X_VALUES:
        plain = ref.privacy_curve(database, asked, parts, known=1)
        assert ref.privacy_curve(database, strategy, parts, known=1)(x) == plain(x)
        bound = ref.adaptive_partition_sum(database, strategy, parts, known=1)(x)
        assert plain(x) <= bound <= ref.partition_sum(database, asked, parts, known=1)(x)


@given(choice=st.tuples(*[st.sampled_from(QUERIES)] * 4), x=exp_epsilons)
@settings(deadline=None)
def test_theorem_5_4_bounds_every_strategy(choice, x):
    database = ref.Database([ref.coin(q) for q in ("1/2", "1/3", "1/5", "9/10")])
    parts = ref.partitions(4, [2, 2], ordered=False)
    strategy = ref.Strategy(lambda earlier: choice[earlier[0]] if earlier else choice[3])
    exact = ref.privacy_curve(database, strategy, parts, critical=2)(x)
    assert exact <= ref.adaptive_partition_sum(database, strategy, parts, critical=2)(x)
    assert exact <= ref.worst_strategy_curve(database, QUERIES, parts, critical=2)(x)


def test_the_worst_strategy_is_the_worst_of_all_strategies():
    """All of them: a first query, and one for each answer that it can give."""
    parts = ref.partitions(4, [2, 2], ordered=False)
    worst = ref.worst_strategy_curve(coins(4, "1/3"), QUERIES, parts, critical=0)
    curves = [
        ref.privacy_curve(
            coins(4, "1/3"),
            ref.Strategy(lambda earlier, c=choice: c[earlier[0]] if earlier else c[3]),
            parts,
            critical=0,
        )
        for choice in product(QUERIES, repeat=4)
    ]
    assert all(worst(x) == max(curve(x) for curve in curves) for x in X_VALUES)


@pytest.mark.parametrize("pair", BOTH)
def test_the_recursion_for_the_worst_adaptive_strategy(pair):
    """iid: `V_{k−1}(y) = max_F E_{R_F} V_k(y + w_k g_F)`, `V_m(y) = y_+`, `δ = V_0(w_0 (1 − x))`."""
    n, sizes, p = 4, [1, 2], Fraction(1, 3)
    worst = ref.worst_strategy_curve(
        coins(n, p), [sum, max], ref.partitions(n, sizes, ordered=False), critical=0, pair=pair
    )

    def value(k, y, x):
        if k == len(sizes):
            return max(y, Fraction(0))
        outcomes = []
        for query in (sum, max):
            laws = {}
            for rows in product((0, 1), repeat=sizes[k]):
                mass = prod(p if row else 1 - p for row in rows)
                entry = laws.setdefault(query(rows), [Fraction(0)] * 3)
                entry[0] += mass
                for place, v in enumerate(pair, 1):
                    entry[place] += mass / (p if v else 1 - p) if rows[0] == v else 0
            outcomes.append(sum(
                r * value(k + 1, y + Fraction(sizes[k], n) * (one - x * other) / r, x)
                for r, one, other in laws.values()
            ))  # fmt: skip
        return max(outcomes)

    for x in X_VALUES:
        assert worst(x) == value(0, (1 - Fraction(sum(sizes), n)) * (1 - x), x)


# --- what is true of every privacy curve


small_laws = st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any).map(
    lambda weights: {value: Fraction(weight, sum(weights)) for value, weight in enumerate(weights)}
)  # fmt: skip
tables = st.lists(st.integers(0, 2), min_size=9, max_size=9)


@st.composite
def situations(draw):
    """Three entries with three values each, and an arbitrary query of two of them in the order drawn."""
    database = ref.Database([draw(small_laws) for _ in range(3)])
    answers = draw(tables)
    return database, lambda rows: answers[3 * rows[0] + rows[1]], ref.without_replacement(3, 2)


@given(situation=situations(), xs=st.lists(exp_epsilons, min_size=3, max_size=3, unique=True))
@settings(deadline=None)
def test_a_curve_falls_and_is_convex(situation, xs):
    curve = ref.privacy_curve(*situation, critical=0)
    a, b, c = sorted(xs)
    assert curve(a) >= curve(b) >= curve(c) >= 0
    assert curve(b) * (c - a) <= curve(a) * (c - b) + curve(c) * (b - a)


@given(situation=situations(), merged=st.tuples(*[st.integers(0, 1)] * 3), x=exp_epsilons)
@settings(deadline=None)
def test_processing_the_answer_never_hurts(situation, merged, x):
    database, query, templates = situation
    processed = ref.privacy_curve(database, lambda rows: merged[query(rows)], templates, critical=0)
    assert processed(x) <= ref.privacy_curve(*situation, critical=0)(x)


@given(situation=situations(), x=exp_epsilons)
@settings(deadline=None)
def test_knowing_more_never_helps_privacy(situation, x):
    plain = ref.privacy_curve(*situation, critical=0)(x)
    expected = ref.privacy_curve(*situation, critical=0, known=[1], values="expected")(x)
    worst = ref.privacy_curve(*situation, critical=0, known=1)(x)
    assert plain <= expected <= worst


@given(situation=situations(), x=exp_epsilons)
@settings(deadline=None)
def test_the_expected_curve_is_the_mean_over_the_known_values(situation, x):
    database = situation[0]
    for pair in ((0, 1), (2, 0)):
        mean = sum(
            mass * ref.privacy_curve(*situation, critical=0, pair=pair, known={1: value})(x)
            for value, mass in database.entries[1].items()
        )
        assert ref.privacy_curve(*situation, critical=0, pair=pair, known=[1], values="expected")(x) == mean


@given(situation=situations(), x=st.fractions(min_value=Fraction(1, 5), max_value=5, max_denominator=12))
@settings(deadline=None)
def test_the_two_directions_determine_each_other(situation, x):
    p, q = (ref.answer_law(situation[0], 0, value, *situation[1:]) for value in (0, 1))
    assert ref.hockey_stick(p, q, x) == 1 - x + x * ref.hockey_stick(q, p, 1 / x)
    sets = [set(chosen) for r in range(4) for chosen in combinations({*p, *q}, r)]
    best = max(sum(p.get(a, 0) - x * q.get(a, 0) for a in chosen) for chosen in sets)
    assert ref.hockey_stick(p, q, x) == best, "the best set of answers, Definition 2.3"


@given(situation=situations(), x=exp_epsilons)
@settings(deadline=None)
def test_the_sampling_curve_times_the_inclusion_bounds_the_law(situation, x):
    spc = ref.sampling_privacy_curve(*situation, critical=0)(x)
    assert ref.privacy_curve(*situation, critical=0)(x) <= Fraction(2, 3) * spc


@given(p=probabilities, law=small_laws, x=exp_epsilons, n=st.integers(1, 4))
@settings(deadline=None)
def test_one_more_entry_in_a_sum_never_hurts(p, law, x, n):
    fewer, more = [ref.coin(p)] * n, [ref.coin(p)] * n + [law]
    assert ref.privacy_curve(ref.Database(more), sum, critical=0)(x) <= ref.privacy_curve(
        ref.Database(fewer), sum, critical=0
    )(x)


def test_without_a_critical_entry_the_worst_one_counts():
    database = ref.Database([ref.coin(q) for q in ("1/2", "1/3", "9/10")])
    worst = ref.privacy_curve(database, sum)
    each = [ref.privacy_curve(database, sum, critical=entry) for entry in range(3)]
    assert all(worst(x) == max(curve(x) for curve in each) for x in X_VALUES)
    assert len({curve(1) for curve in each}) > 1


def test_without_a_choice_of_known_entries_the_worst_one_counts():
    database = ref.Database([ref.coin(q) for q in ("1/2", "1/3", "9/10", "1/5")])
    worst = ref.privacy_curve(database, sum, critical=0, known=2)
    each = [ref.privacy_curve(database, sum, critical=0, known=chosen) for chosen in ([1, 2], [1, 3], [2, 3])]
    assert all(worst(x) == max(curve(x) for curve in each) for x in X_VALUES)
    assert len({curve(1) for curve in each}) == 3


# --- the library against the definitions


@given(p=probabilities, n=st.integers(1, 6), x=exp_epsilons, pair=st.sampled_from([*BOTH, None]), data=st.data())
@settings(deadline=None, max_examples=cases(16, campaign=500))
def test_the_library_on_a_full_count(p, n, x, pair, data):
    known = data.draw(st.integers(0, n - 1))
    found = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), adversary=sp.Adversary(known=known), pair=pair)
    truth = ref.privacy_curve(coins(n, p), sum, critical=0, pair=pair, known=range(1, known + 1))
    assert found.exact_delta(exp_epsilon=x) == truth(x)


@given(p=probabilities, n=st.integers(1, 6), x=exp_epsilons, pair=st.sampled_from([*BOTH, None]), data=st.data())
@settings(deadline=None, max_examples=cases(16, campaign=500))
def test_the_library_on_a_secret_sample(p, n, x, pair, data):
    size = data.draw(st.integers(1, n))
    sampling, templates = sp.WithoutReplacement(size), ref.without_replacement(n, size, ordered=False)
    found = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), sampling=sampling, pair=pair)
    truth = ref.privacy_curve(coins(n, p), sum, templates, critical=0, pair=pair)
    assert found.exact_delta(exp_epsilon=x) == truth(x)
    spc = ref.sampling_privacy_curve(coins(n, p), sum, templates, critical=0)
    named = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), sampling=sampling, bound="spc")
    assert named.exact_delta(exp_epsilon=x) == spc(x)


@given(p=probabilities, x=exp_epsilons, shape=st.sampled_from([(3, 2, 1), (4, 2, 2), (5, 2, 2), (5, 3, 1)]))
@settings(deadline=None, max_examples=cases(10, campaign=300))
def test_the_library_on_known_entries_under_hidden_sampling(p, x, shape):
    n, size, known = shape
    situation = {"adversary": sp.Adversary(known=known), "sampling": sp.WithoutReplacement(size)}
    templates = ref.without_replacement(n, size, ordered=False)
    indices = range(1, known + 1)
    spc = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), **situation, bound="spc")
    mean = ref.sampling_privacy_curve(coins(n, p), sum, templates, critical=0, known=indices)
    assert spc.exact_delta(exp_epsilon=x) == mean(x)
    tightest = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), **situation)
    truth = ref.privacy_curve(coins(n, p), sum, templates, critical=0, known=indices)
    delta = tightest.exact_delta(exp_epsilon=x)
    assert delta == truth(x) if tightest.kind == "exact" else delta >= truth(x)


@given(p=probabilities, x=exp_epsilons, n=st.integers(2, 6), data=st.data())
@settings(deadline=None, max_examples=cases(10, campaign=300))
def test_the_library_on_one_property_over_a_random_partition(p, x, n, data):
    sizes = [data.draw(st.integers(1, n - 1))]
    sizes.append(data.draw(st.integers(1, n - sizes[0])))
    queries = [sp.PropertyQuery(p, attribute="smoker")] * 2
    found = sp.compose(queries, sp.Population(n), sp.RandomPartition(sizes))
    templates = ref.partitions(n, sizes, ordered=False)
    truth = ref.privacy_curve(coins(n, p), [sum, sum], templates, critical=0)
    assert found.kind == "exact"
    assert found.exact_delta(exp_epsilon=x) == truth(x)
    if sum(sizes) == n:
        assert truth(x) == ref.privacy_curve(coins(n, p), sum, critical=0)(x), "whatever the sizes"
    bound = sp.compose(queries, sp.Population(n), sp.RandomPartition(sizes), bound="partition-sum")
    assert bound.exact_delta(exp_epsilon=x) == ref.partition_sum(coins(n, p), [sum, sum], templates, critical=0)(x)
