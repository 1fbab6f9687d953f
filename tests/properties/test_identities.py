"""Identities between the numbers of a law, and between hockey sticks: hypothesis searches for a counterexample.

There is no oracle: both sides come from the library, at any size. Two enclosures of one number must overlap; sums of
enclosures use outward arithmetic.
"""

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import statpriv as sp

from ..oracle import oracle

MANY = settings(max_examples=20_000)
LARGEST = 2**53
counts = st.one_of(st.integers(1, 60), st.integers(1, 10**6), st.integers(1, LARGEST - 1))
populations = st.one_of(st.integers(1, 80), st.integers(1, 10**9))
probabilities = st.one_of(
    st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000),
    st.floats(1e-300, 1 - 1e-9).map(Fraction),
    st.integers(1, 300).map(lambda digits: 1 - Fraction(1, 10**digits)),
)


@st.composite
def binomials(draw, sizes=counts):
    """k, n and p; k mostly within a few standard deviations of the mean, and in the support."""
    n, p = draw(sizes), draw(probabilities)
    spread = int((n * p * (1 - p)) ** 0.5)
    near = int(n * p) + draw(st.integers(-8, 8)) * spread // 2 + draw(st.integers(-3, 3))
    return min(max(draw(st.one_of(st.just(near), st.integers(0, n))), 0), n), n, p


@st.composite
def hypergeometrics(draw, sizes=populations):
    """k, population, marked and draws; k mostly near the mean, and in the support."""
    population = draw(sizes)
    marked, draws = draw(st.integers(0, population)), draw(st.integers(0, population))
    near = marked * draws // population + draw(st.integers(-20, 20))
    k = draw(st.one_of(st.just(near), st.integers(0, population)))
    return min(max(k, 0, marked + draws - population), marked, draws), population, marked, draws


def mass(k, n, p):
    return sp.laws.binomial_pmf(k, n=n, p=p)


def tail(k, n, p):
    return sp.laws.binomial_upper_tail(k, n=n, p=p)


def drawn_mass(k, population, marked, draws):
    return sp.laws.hypergeometric_pmf(k, population=population, marked=marked, draws=draws)


def drawn_tail(k, population, marked, draws):
    return sp.laws.hypergeometric_upper_tail(k, population=population, marked=marked, draws=draws)


def same(first, second) -> bool:
    """Two enclosures of one number overlap."""
    return first.lower <= second.upper and second.lower <= first.upper


# --- the binomial law


@given(binomials())
def test_hits_and_misses_are_mirror_images(law):
    k, n, p = law
    assert same(mass(k, n, p), mass(n - k, n, 1 - p))
    assert same(tail(k, n, p), 1 - tail(n - k + 1, n, 1 - p))
    logarithms = (sp.laws.binomial_log_pmf(i, n=n, p=at) for i, at in ((k, p), (n - k, 1 - p)))
    assert same(*logarithms)


@given(binomials())
def test_a_tail_loses_one_probability_a_step(law):
    k, n, p = law
    assert same(tail(k, n, p), tail(k + 1, n, p) + mass(k, n, p))


@given(binomials())
def test_one_more_entry_is_a_hit_or_a_miss(law):
    """Contiguous relations: ``b_{n+1}(k) = p b_n(k−1) + q b_n(k)`` and ``T_{n+1}(k) = T_n(k) + p b_n(k−1)``."""
    k, n, p = law
    assert same(mass(k, n + 1, p), mass(k - 1, n, p) * p + mass(k, n, p) * (1 - p))
    assert same(tail(k, n + 1, p), tail(k, n, p) + mass(k - 1, n, p) * p)


@given(binomials())
def test_neighbours_have_a_rational_ratio(law):
    """``(k+1) q b(k+1) = (n−k) p b(k)``."""
    k, n, p = law
    assert same(mass(k + 1, n, p) * ((k + 1) * (1 - p)), mass(k, n, p) * ((n - k) * p))


@given(binomials())
def test_todhunter(law):
    """``Σ_{i≥k} (i − np) b(i) = k q b(k)``; as ``E[X; X ≥ k] = np P[Bin(n−1, p) ≥ k−1]``, at any size."""
    k, n, p = law
    assert same((tail(k - 1, n - 1, p) - tail(k, n, p)) * (n * p), mass(k, n, p) * (k * (1 - p)))


@given(binomials(st.integers(1, 60)))
def test_todhunter_term_by_term(law):
    k, n, p = law
    total = sum(((i - n * p) * mass(i, n, p) for i in range(k, n + 1)), sp.Enclosure(0))
    assert same(total, mass(k, n, p) * (k * (1 - p)))


@given(st.integers(1, 200), probabilities)
def test_the_total_mass_is_one(n, p):
    total = sum((mass(k, n, p) for k in range(n + 1)), sp.Enclosure(0))
    assert 1 in total
    assert total.width < 1e-12


@given(binomials())
def test_a_logarithm_is_that_of_the_probability(law):
    k, n, p = law
    found, logarithm = mass(k, n, p), sp.laws.binomial_log_pmf(k, n=n, p=p)
    assume(logarithm.lower > -700)
    assert oracle.exp_bounds(Fraction(logarithm.lower)).lower <= Fraction(found.upper)
    assert Fraction(found.lower) <= oracle.exp_bounds(Fraction(logarithm.upper)).upper


# --- the hypergeometric law


@given(hypergeometrics())
def test_marking_and_drawing_are_the_same(law):
    k, population, marked, draws = law
    assert same(drawn_mass(k, population, marked, draws), drawn_mass(k, population, draws, marked))
    assert same(drawn_tail(k, population, marked, draws), drawn_tail(k, population, draws, marked))


@given(hypergeometrics())
def test_what_is_not_marked_is_the_rest(law):
    k, population, marked, draws = law
    assert same(drawn_mass(k, population, marked, draws), drawn_mass(draws - k, population, population - marked, draws))
    others = drawn_tail(draws - k + 1, population, population - marked, draws)
    assert same(drawn_tail(k, population, marked, draws), 1 - others)


@given(hypergeometrics())
def test_neighbours_and_tails_of_draws(law):
    """``(k+1)(N−K−s+k+1) h(k+1) = (K−k)(s−k) h(k)``, and a tail loses h(k) a step."""
    k, population, marked, draws = law
    here, next_one = drawn_mass(k, *law[1:]), drawn_mass(k + 1, *law[1:])
    assert same(next_one * ((k + 1) * (population - marked - draws + k + 1)), here * ((marked - k) * (draws - k)))
    assert same(drawn_tail(k, *law[1:]), drawn_tail(k + 1, *law[1:]) + here)


@given(hypergeometrics(st.integers(1, 150)))
def test_vandermonde(law):
    _, population, marked, draws = law
    total = sum((drawn_mass(k, population, marked, draws) for k in range(draws + 1)), sp.Enclosure(0))
    assert 1 in total
    assert total.width < 1e-12


# --- hockey sticks of any two laws


@st.composite
def laws(draw, answers):
    weights = draw(st.lists(st.integers(0, 50), min_size=answers, max_size=answers).filter(any))
    return [Fraction(weight, sum(weights)) for weight in weights]


@st.composite
def pairs_of_laws(draw):
    answers = draw(st.integers(1, 8))
    return draw(laws(answers)), draw(laws(answers))


@given(pairs_of_laws(), st.fractions(Fraction(1, 50), 50, max_denominator=1000))
def test_the_other_direction_is_the_other_sign(both, x):
    """``Δ_{v,w}(ε) = 1 − e^ε + e^ε Δ_{w,v}(−ε)``, exactly if everything is rational."""
    p, q = both
    forwards, backwards = sp.hockey_stick(p, q, exp_epsilon=x), sp.hockey_stick(q, p, exp_epsilon=1 / x)
    assert forwards == 1 - x + x * backwards
    assert forwards == sum(max(Fraction(0), a - x * b) for a, b in zip(p, q, strict=True))


@given(pairs_of_laws(), st.floats(-30, 30))
def test_the_other_direction_is_the_other_sign_in_doubles(both, epsilon):
    p, q = both
    forwards, backwards = sp.hockey_stick(p, q, epsilon), sp.hockey_stick(q, p, -epsilon)
    x = oracle.exp_bounds(Fraction(epsilon))
    # 1 − x (1 − Δ) falls with x, and rises with Δ.
    assert 1 - x.upper * (1 - Fraction(backwards.lower)) <= Fraction(forwards.upper)
    assert Fraction(forwards.lower) <= 1 - x.lower * (1 - Fraction(backwards.upper))


@given(st.integers(1, 40), st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50), st.fractions(1, 30))
def test_a_count_is_a_pair_of_laws(n, p, x):
    others = oracle.binomial(n - 1, p)
    zero, one = ([Fraction(w, others.denominator) for w in law.weights] for law in (others, oracle.shifted(others, 1)))
    exact = sp.hockey_stick(one, [*zero, 0], exp_epsilon=x)
    curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), pair=(1, 0))
    lower, upper = oracle.at_exp_epsilon(curve.delta, x)
    assert Fraction(lower) <= exact <= Fraction(upper)


@given(st.lists(st.fractions(0, 1, max_denominator=60), min_size=1, max_size=14))
def test_entries_that_differ_are_added_one_by_one(p):
    exact = [Fraction(1)]
    for hit in p:
        exact = [(1 - hit) * a + hit * b for a, b in zip([*exact, 0], [0, *exact], strict=True)]
    found = sp.laws.poisson_binomial_pmf(p)
    assert len(found) == len(exact)
    for truth, lower, upper in zip(exact, found.lower, found.upper, strict=True):
        assert oracle.Bounds(truth, truth).fault(float(lower), float(upper)) == ""


@settings(max_examples=10)
@given(st.integers(50, 900), st.sampled_from([1000, 4001, 12_000]), st.sampled_from(["0", "0.1", "0.7"]))
def test_a_sum_of_values_far_apart_tells_as_much_as_the_histogram(n, far, epsilon):
    """The remainder of the sum is the number of ones; its quotient is the number of far values."""
    cells = ["0.6", "0.3", "0.1"]
    total = sp.SumQuery(dict(zip((0, 1, far), cells, strict=True)))
    found = sp.privacy_curve(total, sp.Population(n)).delta(epsilon)
    histogram = sp.privacy_curve(sp.HistogramQuery(cells), sp.Population(n)).delta(epsilon)
    assert same(found, histogram)
    assert found.width <= 1e-13 * found.upper


@pytest.mark.campaign
@pytest.mark.parametrize(
    "identity",
    [
        test_hits_and_misses_are_mirror_images,
        test_a_tail_loses_one_probability_a_step,
        test_one_more_entry_is_a_hit_or_a_miss,
        test_neighbours_have_a_rational_ratio,
        test_todhunter,
        test_a_logarithm_is_that_of_the_probability,
        test_marking_and_drawing_are_the_same,
        test_what_is_not_marked_is_the_rest,
        test_neighbours_and_tails_of_draws,
        test_the_other_direction_is_the_other_sign_in_doubles,
    ],
)
def test_campaign_identities(identity):
    MANY(identity)()
