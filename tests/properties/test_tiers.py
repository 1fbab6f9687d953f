"""Doubles, digits and exact rationals compute the same number in three ways: hypothesis searches for a disagreement.

The tiers share the descriptions of laws and curves, but no computation.
"""

from fractions import Fraction
from math import comb

import mpmath
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import statpriv as sp

from ..cases import cases

DIGITS = 25
LARGEST = 2**53
UNDERFLOW = 1e-300
FEW = settings(max_examples=cases(30, campaign=300))
HUNDRED = settings(max_examples=cases(100, campaign=5000))
MANY = settings(max_examples=cases(400, campaign=20_000))
"""A campaign draws a hundred thousand."""

sizes = st.one_of(
    st.integers(1, 80),
    st.integers(1500, 2000),  # the contour method takes over at a variance of about 400
    st.integers(1, 10**6),
    st.integers(1, LARGEST),
    st.sampled_from([64, 65, LARGEST - 1, LARGEST]),
)
probabilities = st.one_of(
    st.just(Fraction(1, 2)),
    st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000),
    st.floats(1e-300, 1e-3).map(Fraction),
    st.integers(1, 100).map(lambda digits: 1 - Fraction(1, 10**digits)),
    st.integers(5, 60).map(lambda digits: Fraction(1, 2) + Fraction(1, 10**digits)),
)
pairs = st.sampled_from([(1, 0), (0, 1), None])
known_well = st.one_of(st.just(0.0), st.floats(1e-300, 1e-9), st.floats(1e-9, 2), st.floats(2, 700))
deviations = st.one_of(st.floats(1e-3, 40), st.floats(0.45, 0.65), st.floats(7.5, 8.5))
deltas = st.floats(-100, 0).map(lambda exponent: Fraction(10**exponent))


@st.composite
def epsilons(draw, n, p):
    """Doubles and other rationals, mostly within a few standard deviations of the log-likelihood ratio."""
    deviation = max(float(n * p * (1 - p)), 1e-6) ** 0.5
    plain = draw(st.one_of(known_well, deviations.map(lambda x: min(x / deviation, 700.0))))
    return plain if draw(st.booleans()) else Fraction(plain) * (1 + Fraction(1, 10**20))


@st.composite
def counts(draw, sizes=sizes):
    """A situation of one count with a given p, and an ε."""
    n, p = draw(sizes), draw(probabilities)
    return n, p, draw(pairs), draw(epsilons(n, p))


def count(n, p, pair=None, **options):
    return sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), pair=pair, **options)


def same(first, second) -> bool:
    """Two enclosures of one number overlap. (mpmath compares exactly.)"""
    return first.lower <= second.upper and second.lower <= first.upper


def is_narrow(found, least=UNDERFLOW, relative=1e-12) -> bool:
    return found.upper < least or found.width <= relative * found.upper


def has_its_digits(found) -> bool:
    with mpmath.workdps(5000):  # more digits than any end has, so nothing is rounded
        return found.upper - found.lower <= mpmath.mpf(10) ** -DIGITS * found.lower


def exactly(end) -> Fraction:
    """An end with digits as a fraction."""
    sign, mantissa, exponent, _ = end._mpf_
    return (-1) ** sign * int(mantissa) * Fraction(2) ** exponent


def check(curve, epsilon) -> None:
    fast, digits = curve.delta(epsilon), curve.delta(epsilon, digits=DIGITS)
    assert same(fast, digits)
    assert is_narrow(fast)
    assert has_its_digits(digits)


@MANY
@given(counts())
@example((LARGEST - 1, Fraction(1, 2), None, 1e-300))
@example((52, Fraction(1, 10**80), None, 4.6e-6))
@example((52, Fraction(1, 2) + Fraction(1, 10**40), None, 0.1))
def test_counts(situation):
    n, p, pair, epsilon = situation
    check(count(n, p, pair), epsilon)


@HUNDRED
@given(counts(), st.integers(1, 10**6))
@example((10**15, Fraction(1, 5), (1, 0), 1e-8), 10**6)
def test_counts_over_a_range_of_probabilities(situation, above):
    """The peaks inside the range belong to irrational probabilities."""
    n, p, pair, epsilon = situation
    between = sp.Between(p, p + (1 - p) * Fraction(above, 10**6 + 1))
    check(sp.privacy_curve(sp.PropertyQuery(between), sp.Population(n), pair=pair), epsilon)


@HUNDRED
@given(counts(st.integers(2, LARGEST)), st.floats(0, 1))
def test_counts_of_hidden_samples(situation, share):
    n, p, pair, epsilon = situation
    sample = min(max(1, int(share * min(n, 10**9))), n)
    check(count(n, p, pair, sampling=sp.WithoutReplacement(sample)), epsilon)


@FEW
@given(counts(st.integers(2, 500)), st.data())
def test_means_over_the_number_of_known_entries(situation, data):
    n, p, pair, epsilon = situation
    sampling = sp.WithoutReplacement(data.draw(st.integers(1, min(n, 60))))
    adversary = sp.Adversary(known=data.draw(st.integers(0, n - 1)))
    check(count(n, p, pair, sampling=sampling, adversary=adversary, bound="spc"), epsilon)


@FEW
@given(counts(st.integers(2, LARGEST)), st.data())
def test_means_over_the_parts_of_a_partition(situation, data):
    n, p, pair, epsilon = situation
    first = data.draw(st.integers(1, n - 1))
    queries = [sp.PropertyQuery(p, attribute="one"), sp.PropertyQuery(p, attribute="one")]
    check(sp.compose(queries, sp.Population(n), sp.RandomPartition([first, n - first]), pair=pair), epsilon)


@HUNDRED
@given(counts())
def test_logarithms_of_delta(situation):
    n, p, pair, epsilon = situation
    curve = count(n, p, pair)
    digits = curve.log_delta(epsilon, digits=DIGITS)
    try:
        assert same(curve.log_delta(epsilon), digits)
    except sp.PrecisionError:
        # κ is within 10^-20 of an integer and δ depends almost only on that: refused, not wrong.
        assert digits.upper < -1


@HUNDRED
@given(counts(), deltas)
def test_the_least_epsilon(situation, delta):
    n, p, pair, _ = situation
    curve = count(n, p, pair)
    assert same(curve.epsilon(delta), curve.epsilon(delta, digits=DIGITS))


@MANY
@given(sizes, probabilities, st.floats(-40, 40), st.integers(-3, 3))
@pytest.mark.parametrize("quantity", ["pmf", "log_pmf", "upper_tail"])
def test_binomial_laws(quantity, n, p, x, off):
    k = min(max(round(n * p + Fraction(x) * Fraction(float(n * p * (1 - p)) ** 0.5)) + off, 0), n)
    law = getattr(sp.laws, f"binomial_{quantity}")
    fast, digits = law(k, n=n, p=p), law(k, n=n, p=p, digits=DIGITS)
    assert same(fast, digits)
    assert quantity == "log_pmf" or is_narrow(fast)


@HUNDRED
@given(st.integers(1, 10**9), st.data())
@pytest.mark.parametrize("quantity", ["pmf", "log_pmf", "upper_tail"])
def test_hypergeometric_laws(quantity, population, data):
    marked, draws = data.draw(st.integers(0, population)), data.draw(st.integers(0, population))
    k = min(marked * draws // population + data.draw(st.integers(0, 30)), marked, draws)
    law = getattr(sp.laws, f"hypergeometric_{quantity}")
    parameters = {"population": population, "marked": marked, "draws": draws}
    assert same(law(k, **parameters), law(k, **parameters, digits=DIGITS))


@HUNDRED
@given(counts(st.integers(1, 200)))
def test_exact_terms_give_the_digits(situation):
    """δ = A − e^ε B, with e^ε from another library."""
    n, p, pair, epsilon = situation
    assume(p.denominator < 10**30 and epsilon < 50)
    curve = count(n, p, pair)
    first, second = curve.exact_terms(epsilon)
    with mpmath.workdps(30 * n + 200):
        ratio = mpmath.exp(mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator)
        delta = mpmath.mpf(first.numerator) / first.denominator - ratio * second.numerator / second.denominator
        digits = curve.delta(epsilon, digits=DIGITS)
        slack = mpmath.mpf(10) ** (-DIGITS - 20) * delta
        assert digits.lower - slack <= delta <= digits.upper + slack


@HUNDRED
@given(st.integers(1, 2000), probabilities, pairs)
def test_exact_values_lie_in_the_digits_and_in_the_doubles(n, p, pair):
    """At ε = 0, where e^ε is rational."""
    assume(p.denominator < 10**30)
    curve = count(n, p, pair)
    exact = curve.exact_delta(exp_epsilon=1)
    assert exact in curve.delta(0, digits=DIGITS)
    assert exact in curve.delta(0)


@HUNDRED
@given(counts(), st.booleans())
def test_exchanging_the_values_is_exchanging_p_for_its_complement(situation, exchanged):
    n, p, _, epsilon = situation
    pair = (0, 1) if exchanged else (1, 0)
    first, second = count(n, p, pair), count(n, 1 - p, pair[::-1])
    for options in ({}, {"digits": DIGITS}):
        assert same(first.delta(epsilon, **options), second.delta(epsilon, **options))


def laws_of_the_answer(n, p):
    """The laws of a count of n entries under the two values of one of them, by their definition."""
    others = [comb(n - 1, k) * p**k * (1 - p) ** (n - 1 - k) for k in range(n)]
    return [Fraction(0), *others], [*others, Fraction(0)]


@HUNDRED
@given(
    st.integers(1, 12),
    st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100),
    st.fractions(0, 5, max_denominator=100),
)
def test_a_direction_is_the_other_one_at_the_negative_epsilon(n, p, epsilon):
    """Δ_{v,w}(ε) = 1 − e^ε + e^ε Δ_{w,v}(−ε), from the laws themselves and from the curve."""
    one, zero = laws_of_the_answer(n, p)
    ratio = 1 + epsilon
    forwards = sp.hockey_stick(one, zero, exp_epsilon=ratio)
    assert forwards == 1 - ratio + ratio * sp.hockey_stick(zero, one, exp_epsilon=1 / ratio)
    assert forwards == count(n, p, (1, 0)).exact_delta(exp_epsilon=ratio)
    with mpmath.workdps(40):
        growth = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
    growth = sp.Enclosure(exactly(growth) * (1 - Fraction(1, 10**38)), exactly(growth) * (1 + Fraction(1, 10**38)))
    reflected = 1 - growth + growth * sp.hockey_stick(zero, one, -epsilon)
    curve = count(n, p, (1, 0))
    for delta in (curve.delta(epsilon), curve.delta(epsilon, digits=DIGITS), sp.hockey_stick(one, zero, epsilon)):
        assert same(delta, reflected)
