"""Composition of differentially private mechanisms, against sums and integrals that share no code with it."""

import math
import pickle
from fractions import Fraction
from functools import cache
from itertools import product
from math import inf

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv import differential
from statpriv.numeric.exact import as_fraction

from ..cases import cases, spread

LOCAL = ["1e-9", "0.01", "0.1", "1", "5", "40"]


def number(value) -> mpmath.mpf:
    exact = Fraction(value)
    return mpmath.mpf(exact.numerator) / exact.denominator


@cache
def answers(local, k) -> tuple[mpmath.mpf, list[tuple[mpmath.mpf, mpmath.mpf]]]:
    """`(1+e^ε)^k`, and as multiples of one over it the probabilities of each number of lies under both laws."""
    with mpmath.workdps(digits(k)):
        odds = mpmath.exp(number(local))
        powers = [mpmath.mpf(1)]
        for _ in range(k):
            powers.append(powers[-1] * odds)
        ways = [math.comb(k, lies) for lies in range(k + 1)]
        return (1 + odds) ** k, [(ways[lies] * powers[k - lies], ways[lies] * powers[lies]) for lies in range(k + 1)]


def digits(k) -> int:
    return 1500 if k < 100 else 120


def randomized_response(epsilon, local, k, delta=0) -> mpmath.mpf:
    """The definition: Σ_l (P_l − e^ε P_{k−l})_+ over the number of lies, and δ for telling everything."""
    whole, each = answers(local, k)
    with mpmath.workdps(digits(k)):
        ratio = mpmath.exp(number(epsilon))
        terms = (max(mpmath.mpf(0), told - ratio * lied) for told, lied in each)
        return 1 - (1 - number(delta)) ** k * (1 - mpmath.fsum(terms) / whole)


# --- randomized response: any (ε, δ)-private mechanisms


def convolved(odds: Fraction, k: int, delta: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Every sequence of k answers of randomized response, under both laws: tells all, lies or does not."""
    one = [(delta, Fraction(0)), (Fraction(0), delta)]
    one += [((1 - delta) * odds / (1 + odds), (1 - delta) / (1 + odds))]
    one += [((1 - delta) / (1 + odds), (1 - delta) * odds / (1 + odds))]
    return [(math.prod(p for p, _ in answers), math.prod(q for _, q in answers)) for answers in product(one, repeat=k)]


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 7)])
@pytest.mark.parametrize("odds", [Fraction(1), Fraction(3, 2), Fraction(4)])
@pytest.mark.parametrize("factor", [Fraction(1), Fraction(6, 5), Fraction(9, 4), Fraction(100)])
def test_the_fraction_is_that_of_all_sequences_of_answers(k, delta, odds, factor):
    brute = sum(max(Fraction(0), p - factor * q) for p, q in convolved(odds, k, delta))
    found = differential.exact_randomized_response(exp_epsilon=factor, exp_local_epsilon=odds, delta=delta, k=k)
    assert found == brute


@settings(max_examples=cases(20, campaign=600), deadline=None)
@given(
    k=st.integers(1, 12),
    odds=st.fractions(1, 20, max_denominator=50),
    factor=st.fractions(1, 60, max_denominator=50),
    delta=st.fractions(0, 1, max_denominator=40),
)
def test_the_enclosure_and_the_fraction_agree(k, odds, factor, delta):
    """ε = ln of a rational is between two rationals; δ' rises with the local ε and falls in ε'."""
    truth = differential.exact_randomized_response(exp_epsilon=factor, exp_local_epsilon=odds, delta=delta, k=k)
    with mpmath.workdps(60):
        local, target = (as_fraction(mpmath.log(number(x)), "x") for x in (odds, factor))
    slip = Fraction(1, 10**50)
    low = differential.RandomizedResponse(epsilon=max(Fraction(0), local - slip), delta=delta, k=k)
    high = differential.RandomizedResponse(epsilon=local + slip, delta=delta, k=k)
    assert (
        Fraction(low.delta(target + slip).lower) <= truth <= Fraction(high.delta(max(Fraction(0), target - slip)).upper)
    )


@pytest.mark.parametrize("k", [1, 2, 3, 10, 77])
@pytest.mark.parametrize("local", LOCAL)
@pytest.mark.parametrize("epsilon", ["0", "1e-10", "0.05", "0.3", "4", "100"])
def test_delta_is_contained_and_tight(k, local, epsilon):
    truth = randomized_response(epsilon, local, k)
    enclosed = differential.RandomizedResponse(epsilon=local, k=k).delta(epsilon)
    assert truth in enclosed
    assert enclosed.width <= truth * 1e-15


@pytest.mark.parametrize(("local", "k"), [("0.01", 3000), ("0.3", 2001)])
@pytest.mark.parametrize("share", ["0", "0.02", "0.1", "0.16", "0.5"])
def test_many_mechanisms(local, k, share):
    epsilon = Fraction(share) * k * Fraction(local)
    truth = randomized_response(epsilon, local, k, delta="1e-9")
    enclosed = differential.RandomizedResponse(epsilon=local, delta="1e-9", k=k).delta(epsilon)
    assert truth in enclosed
    assert enclosed.width <= truth * 1e-15


@pytest.mark.parametrize("k", [1, 2, 9, 60])
@pytest.mark.parametrize("local", ["0.01", "0.1", "1", "5"])
@pytest.mark.parametrize("delta", ["1e-12", "1e-4", "0.03", "0.4"])
def test_the_least_epsilon_is_where_delta_is_reached(k, local, delta):
    found = differential.RandomizedResponse(epsilon=local, k=k).epsilon(delta)
    assert found.width <= 1e-15 * found.upper
    assert as_fraction(randomized_response(found.upper, local, k), "delta") <= Fraction(delta)
    if found.upper > 0:
        assert as_fraction(randomized_response(found.lower, local, k), "delta") >= Fraction(delta)


def test_the_least_epsilon_at_a_knot_is_the_knot():
    """D_L told to a double: the answer is within a hair of `(k−2L)ε`, on the right side."""
    mechanism = differential.RandomizedResponse(epsilon="0.5", k=8)
    at_knot = mechanism.delta(2)
    assert mechanism.epsilon(at_knot.upper).lower <= 2 <= mechanism.epsilon(at_knot.lower).upper
    assert mechanism.epsilon(at_knot.upper).lower > 2 - 1e-14


@pytest.mark.parametrize("k", [1, 2, 7, 40])
@pytest.mark.parametrize(("local", "delta"), [("0.1", "0"), ("1", "1e-7"), ("0.004", "0.1"), ("0", "0.5"), ("3", "1")])
def test_the_pairs_are_the_knots(k, local, delta):
    pairs = differential.optimal_composition(epsilon=local, delta=delta, k=k)
    assert [pair.epsilon for pair in pairs] == [(k - 2 * i) * Fraction(local) for i in range(k // 2 + 1)]
    for epsilon, enclosed in pairs:
        truth = randomized_response(epsilon, local, k, delta)
        assert abs(truth) < 1e-100 or truth in enclosed
        assert enclosed.width <= abs(truth) * 1e-15


def test_the_printed_formula_of_theorem_3_3():
    """δ_i = Σ_{l<i} C(k,l) (e^{(k−l)ε} − e^{(k−2i+l)ε})/(1+e^ε)^k."""
    k, e = 9, mpmath.mpf("0.25")
    for i, pair in enumerate(differential.optimal_composition(epsilon="0.25", delta="0.001", k=k)):
        with mpmath.workdps(60):
            terms = (
                mpmath.binomial(k, a) * (mpmath.exp((k - a) * e) - mpmath.exp((k - 2 * i + a) * e)) for a in range(i)
            )
            truth = 1 - number("0.999") ** k * (1 - mpmath.fsum(terms) / (1 + mpmath.exp(e)) ** k)
            assert truth in pair.delta


def test_ten_thousand_mechanisms_have_five_thousand_pairs():
    pairs = differential.optimal_composition(epsilon="0.01", delta="1e-9", k=10**4)
    assert len(pairs) == 5001
    mechanism = differential.RandomizedResponse(epsilon="0.01", delta="1e-9", k=10**4)
    for i in (0, 17, 4800, 4990, 5000):
        assert pairs[i].delta.width <= 1e-15 * pairs[i].delta.upper
        assert abs(pairs[i].delta.midpoint - mechanism.delta(pairs[i].epsilon).midpoint) <= pairs[i].delta.width


def test_a_million_mechanisms_answer_at_once():
    mechanism = differential.RandomizedResponse(epsilon="0.001", k=10**6)
    found = mechanism.delta(1)
    # The normal limit: μ = √k ε.
    assert abs(found.midpoint - differential.gaussian_delta(1, mu=1).midpoint) < 1e-6
    assert found.width <= 1e-15


def test_telling_everything():
    twice = differential.RandomizedResponse(epsilon="0.2", delta="0.1", k=2)
    assert twice.epsilon("0.19") == sp.Enclosure("0.4")
    assert twice.epsilon("0.18") == sp.Enclosure(inf)
    assert Fraction(19, 100) in twice.delta(1)
    assert differential.RandomizedResponse(epsilon=1, delta=1).epsilon("0.5") == sp.Enclosure(inf)
    assert differential.RandomizedResponse(epsilon=1, delta=1).delta(0) == sp.Enclosure(1)
    assert differential.RandomizedResponse(epsilon=1, k=3).epsilon(0) == sp.Enclosure(3)
    assert differential.RandomizedResponse(epsilon=0, k=3).epsilon("0.1") == sp.Enclosure(0)
    assert twice.epsilon(1) == sp.Enclosure(0)


# --- the closed form


@pytest.mark.parametrize(("local", "delta", "k", "slack"), [("0.1", "0", 100, "1e-5"), ("0.5", "1e-8", 3, "0.2")])
def test_the_closed_form(local, delta, k, slack):
    with mpmath.workdps(50):
        e, d = number(local), number(slack)
        mean = k * e * (mpmath.exp(e) - 1) / (mpmath.exp(e) + 1)
        epsilon = min(
            k * e,
            mean + e * mpmath.sqrt(2 * k * mpmath.log(mpmath.e + mpmath.sqrt(k * e**2) / d)),
            mean + e * mpmath.sqrt(2 * k * mpmath.log(1 / d)),
        )
        total = 1 - (1 - number(delta)) ** k * (1 - d)
        found = differential.advanced_composition(epsilon=local, delta=delta, k=k, slack=slack)
        assert epsilon in found[0]
        assert total in found[1]
    assert found[0].width <= 1e-15 * found[0].upper
    optimal = differential.RandomizedResponse(epsilon=local, delta=delta, k=k)
    assert optimal.delta(found[0].upper).lower <= found[1].upper


# --- Laplace noise


def laplace_by_cases(epsilon, eta, k) -> mpmath.mpf:
    """A mixture over which losses are the atoms η and −η, and over a sum of uniform variables else.

    Given c continuous losses, `Σ U_i` has the density `2^{−c} e^{−t}` times that of a sum of c uniform variables on
    [0, η] (Irwin and Hall), times `η^c`.
    """
    with mpmath.workdps(40):
        h, x, total = number(eta), number(epsilon), mpmath.mpf(0)
        for at_zero, at_end in product(range(k + 1), repeat=2):
            c = k - at_zero - at_end
            if c < 0:
                continue
            weight = mpmath.factorial(k) / mpmath.factorial(at_zero) / mpmath.factorial(at_end) / mpmath.factorial(c)
            weight *= mpmath.mpf(2) ** -k * mpmath.exp(-h * at_end)

            def gain(t, shift=h * at_end):
                return max(mpmath.mpf(0), 1 - mpmath.exp(x - k * h + 2 * (t + shift)))

            if c == 0:
                total += weight * gain(mpmath.mpf(0))
                continue

            def density(t, c=c):
                terms = ((-1) ** i * mpmath.binomial(c, i) * max(mpmath.mpf(0), t - i * h) ** (c - 1) for i in range(c))
                return mpmath.fsum(terms) / mpmath.factorial(c - 1)

            end = min((k * h - x) / 2 - h * at_end, c * h)
            if end > 0:
                places = [*(i * h for i in range(c) if i * h < end), end]
                total += weight * mpmath.quad(lambda t, f=density, g=gain: mpmath.exp(-t) * f(t) * g(t), places)
        return total


@spread("k, eta, share", product([1, 2, 3, 5], ["0.05", "0.5", "1", "3"], ["0", "0.2", "0.5", "0.93"]), few=10)
def test_laplace_noise_is_the_integral_over_its_losses(k, eta, share):
    epsilon = Fraction(share) * k * Fraction(eta)
    truth = laplace_by_cases(epsilon, eta, k)
    found = differential.LaplaceMechanism(scale=1 / Fraction(eta), k=k).delta(epsilon)
    assert abs(truth - mpmath.mpf(found.midpoint)) <= mpmath.mpf(10) ** -15 * truth
    assert found.width <= 1e-15 * found.upper


@pytest.mark.parametrize(("scale", "sensitivity"), [("2", "1"), ("0.7", "3")])
def test_one_answer_with_laplace_noise(scale, sensitivity):
    """δ = 1 − e^{(ε − S/b)/2}."""
    eta = Fraction(sensitivity) / Fraction(scale)
    with mpmath.workdps(50):
        truth = 1 - mpmath.exp((number("0.1") - number(eta)) / 2)
        assert truth in differential.LaplaceMechanism(scale=scale, sensitivity=sensitivity).delta("0.1")


def test_many_answers_with_laplace_noise():
    """A simulation of the losses that uses none of our formulas agrees within its error."""
    mechanism = differential.LaplaceMechanism(scale=10, k=100)
    np = pytest.importorskip("numpy")
    noise = np.random.default_rng(1).laplace(scale=10, size=(cases(20_000, campaign=100_000), 100))
    losses = ((np.abs(noise - 1) - np.abs(noise)) / 10).sum(axis=1)
    for epsilon in (0.0, 0.5, 1.5):
        gains = np.maximum(0, 1 - np.exp(epsilon - losses))
        assert abs(gains.mean() - mechanism.delta(epsilon).midpoint) < 5 * gains.std() / math.sqrt(gains.size)


def test_laplace_noise_is_better_than_the_worst_of_its_epsilon():
    laplace = differential.LaplaceMechanism(scale=10, k=30)
    worst = differential.RandomizedResponse(epsilon="0.1", k=30)
    for epsilon in ("0", "0.3", "1", "2.5"):
        assert laplace.delta(epsilon) < worst.delta(epsilon)


@pytest.mark.parametrize(
    "mechanism",
    [
        differential.LaplaceMechanism(scale=2),
        differential.LaplaceMechanism(scale=2, k=7),
        differential.GaussianMechanism(sigma=2),
        differential.GaussianMechanism(sigma="2.5", sensitivity="0.5", k=3),
    ],
    ids=str,
)
@pytest.mark.parametrize("delta", ["1e-9", "0.001", "0.09"])
def test_the_least_epsilon_is_the_inverse(mechanism, delta):
    found = mechanism.epsilon(delta)
    assert found.width <= 1e-14 * found.upper
    assert mechanism.delta(found.upper).upper <= Fraction(delta)
    assert mechanism.delta(found.lower).lower > Fraction(delta)


def test_a_delta_that_every_epsilon_reaches():
    assert differential.LaplaceMechanism(scale=10).epsilon("0.5") == sp.Enclosure(0)
    assert differential.GaussianMechanism(sigma=10).epsilon("0.5") == sp.Enclosure(0)
    assert differential.GaussianMechanism(sigma=10).epsilon(0) == sp.Enclosure(inf)
    assert differential.LaplaceMechanism(scale=10, k=3).epsilon(0) == sp.Enclosure("0.3")
    assert differential.LaplaceMechanism(scale=10, k=3).delta("0.3") == sp.Enclosure(0)


def test_normal_noise_composes_to_a_distance():
    """Nine answers at σ = 6 are one at distance 3/6; two at σ = 1 are one at √2."""
    nine = differential.GaussianMechanism(sigma=6, k=9)
    assert nine.delta("0.1") == differential.gaussian_delta("0.1", mu="1/2")
    with mpmath.workdps(60):
        mu, x = mpmath.sqrt(2), mpmath.mpf("0.1")
        truth = mpmath.ncdf(mu / 2 - x / mu) - mpmath.exp(x) * mpmath.ncdf(-mu / 2 - x / mu)
        assert truth in differential.GaussianMechanism(sigma=1, k=2).delta(Fraction(1, 10))


# --- Rényi divergence and zero-concentrated privacy


def moment(mechanism, order) -> mpmath.mpf:
    """ln E_Q[(P/Q)^α]/(α−1), by the definition."""
    a = number(order)
    if isinstance(mechanism, differential.RandomizedResponse):
        p = 1 / (1 + mpmath.exp(-number(mechanism.local_epsilon)))
        expectation = p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)
    else:
        eta = number(mechanism.local_epsilon)
        places = [-mpmath.inf, 0, eta, mpmath.inf]
        expectation = mpmath.quad(lambda t: mpmath.exp(-a * abs(t) - (1 - a) * abs(t - eta)) / 2, places)
    return mechanism.k * mpmath.log(expectation) / (a - 1)


PURE = [
    differential.RandomizedResponse(epsilon="0.1"),
    differential.RandomizedResponse(epsilon=3, k=4),
    differential.LaplaceMechanism(scale=10, k=5),
    differential.LaplaceMechanism(scale="0.5"),
]


@pytest.mark.parametrize("mechanism", PURE, ids=str)
@pytest.mark.parametrize("order", ["1.001", "1.5", "2", "10", "300"])
def test_the_divergence_is_the_integral(mechanism, order):
    with mpmath.workdps(50):
        truth = moment(mechanism, order)
    found = mechanism.renyi(order)
    assert abs(truth - mpmath.mpf(found.midpoint)) <= mpmath.mpf(10) ** -15 * truth
    assert found.width <= 1e-15 * found.upper


@pytest.mark.parametrize("mechanism", [*PURE, differential.GaussianMechanism(sigma=3, k=2)], ids=str)
def test_rho_bounds_the_divergence_of_every_order_and_is_its_slope_at_one(mechanism):
    for order in ("1.000001", "1.01", "1.5", "2", "3", "7", "50", "1e4"):
        assert mechanism.renyi(order).upper <= mechanism.zcdp.upper * float(order) * (1 + 1e-12)
    at_one = mechanism.renyi("1.0000001")
    assert at_one.upper > mechanism.zcdp.lower * (1 - 1e-6)


def test_tiny_and_huge_mechanisms_keep_their_digits():
    assert Fraction(1, 2 * 10**40) in differential.LaplaceMechanism(scale=10**20).zcdp + sp.Enclosure("-1e-60", "1e-60")
    assert differential.RandomizedResponse(epsilon="1e-30").zcdp.midpoint == pytest.approx(5e-61, rel=1e-15)
    assert differential.RandomizedResponse(epsilon="1e300", k=5).epsilon("0.1").midpoint == pytest.approx(5e300)
    assert differential.RandomizedResponse(epsilon=1, delta="0.1").zcdp == sp.Enclosure(inf)
    assert differential.RandomizedResponse(epsilon=1, delta="0.1").renyi(2) == sp.Enclosure(inf)


@pytest.mark.parametrize("mechanism", [*PURE, differential.GaussianMechanism(sigma=3, k=2)], ids=str)
@pytest.mark.parametrize("epsilon", ["0", "0.05", "0.5", "2"])
def test_the_conversion_is_above_the_truth(mechanism, epsilon):
    assert differential.delta_from_renyi(epsilon, mechanism.renyi).upper >= mechanism.delta(epsilon).lower
    rho = differential.delta_from_zcdp(epsilon, rho=mechanism.zcdp)
    assert rho.upper >= mechanism.delta(epsilon).lower


@pytest.mark.parametrize(("rho", "epsilon"), [("0.05", "1"), ("0.001", "0.1"), ("3", "10"), ("0.5", "0.5")])
def test_the_conversion_is_the_least_over_the_orders(rho, epsilon):
    """Against a fine grid of orders at 30 digits: nothing there is smaller, and the best there is not far."""
    found = differential.delta_from_zcdp(epsilon, rho=rho)
    with mpmath.workdps(30):
        r, x = number(rho), number(epsilon)
        grid = [1 + mpmath.mpf(2) ** (mpmath.mpf(i) / 50) for i in range(-500, 500)]
        least = min(mpmath.exp((a - 1) * (r * a - x) + a * mpmath.log(1 - 1 / a)) / (a - 1) for a in grid)
    assert min(least, 1) * (1 - mpmath.mpf("1e-2")) <= found.upper <= min(least, 1) * (1 + mpmath.mpf("1e-14"))
    assert found.width <= 1e-14 * found.upper


@pytest.mark.parametrize(("rho", "delta"), [("0.05", "1e-6"), ("0.001", "1e-10"), ("3", "0.01")])
def test_the_two_conversions_are_inverse(rho, delta):
    epsilon = differential.epsilon_from_zcdp(delta, rho=rho)
    assert differential.delta_from_zcdp(epsilon.upper, rho=rho).midpoint == pytest.approx(float(delta), rel=1e-6)


def test_any_divergence_converts():
    """Numbers count as well as enclosures; at divergence zero δ falls to nothing as the order grows."""
    as_numbers = differential.delta_from_renyi(1, lambda order: order / 20)
    assert as_numbers.midpoint == pytest.approx(differential.delta_from_zcdp(1, rho="0.05").midpoint, rel=1e-14)
    assert differential.delta_from_renyi(1, lambda _: 0).upper < 1e-300


@pytest.mark.parametrize("mechanism", [*PURE, differential.GaussianMechanism(sigma=3, k=2)], ids=str)
def test_mechanisms_are_values(mechanism):
    mechanism.delta("0.01")
    copy = pickle.loads(pickle.dumps(mechanism))  # noqa: S301  (our own)
    assert copy == mechanism
    assert hash(copy) == hash(mechanism)
    assert copy.delta("0.01") == mechanism.delta("0.01")


# --- arguments

BAD = [
    (lambda: differential.RandomizedResponse(epsilon=-1), "epsilon = -1; a number of at least 0 is required"),
    (lambda: differential.RandomizedResponse(epsilon=1, delta=2), "delta = 2; a probability from 0 to 1 is required"),
    (lambda: differential.RandomizedResponse(epsilon=1, k=0), r"k = 0; an integer from 1 to 2\^53 is required"),
    (
        lambda: differential.RandomizedResponse(epsilon=1, k=10**10),
        "k = 10000000000; .* advanced_composition takes more",
    ),
    (lambda: differential.RandomizedResponse(epsilon=1).delta(-1), "epsilon = -1; a number of at least 0 is required"),
    (lambda: differential.RandomizedResponse(epsilon=1).epsilon(2), "delta = 2; a probability from 0 to 1"),
    (lambda: differential.RandomizedResponse(epsilon=1).renyi(1), "order = 1; an order above 1 is required"),
    (lambda: differential.optimal_composition(epsilon="x", k=2), "epsilon: .x. is not a number"),
    (lambda: differential.advanced_composition(epsilon=-1, k=2, slack="0.1"), "epsilon = -1; a number of at least 0"),
    (lambda: differential.advanced_composition(epsilon=1, k=2, slack=0), "slack = 0; a number above 0 is required"),
    (lambda: differential.advanced_composition(epsilon=1, k=2, slack=2), "slack = 2; a number above 0 and at most 1"),
    (
        lambda: differential.exact_randomized_response(exp_epsilon="1/2", exp_local_epsilon=2, k=2),
        r"exp_epsilon = 0\.5; a number of at least 1 is required",
    ),
    (lambda: differential.LaplaceMechanism(scale=0), "scale = 0; a number above 0 is required"),
    (lambda: differential.LaplaceMechanism(scale=1, sensitivity=-1), "sensitivity = -1; a number above 0 is required"),
    (lambda: differential.LaplaceMechanism(scale=1).delta(-1), "epsilon = -1; a number of at least 0 is required"),
    (
        lambda: differential.LaplaceMechanism(scale=1, k=501).delta(1),
        r"k = 501; up to 500 answers .* delta_from_renyi\(",
    ),
    (lambda: differential.GaussianMechanism(sigma=0), "sigma = 0; a number above 0 is required"),
    (lambda: differential.GaussianMechanism(sigma=1).epsilon(2), "delta = 2; a probability from 0 to 1 is required"),
    (lambda: differential.delta_from_zcdp(-1, rho=1), "epsilon = -1; a number of at least 0 is required"),
    (lambda: differential.delta_from_zcdp(1, rho=-1), "rho = -1; a number of at least 0 is required"),
    (lambda: differential.epsilon_from_zcdp(0, rho=1), "delta = 0; a number above 0 is required: .* no pure ε"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message for _, message in BAD])
def test_a_bad_argument_is_refused_by_name(call, message):
    with pytest.raises(sp.ArgumentError, match=f"^{message}"):
        call()
