"""The Gaussian mechanism, for comparison: exact composition, and the calibration of the literature."""

import math
from fractions import Fraction
from math import inf, nan, nextafter

import mpmath
import pytest

import statpriv as sp
from statpriv import differential
from statpriv.numeric.exact import as_fraction

EPSILONS = ["0", "1e-6", "0.005", "0.1", "1", "3", "10", "50"]
DISTANCES = ["1e-8", "1e-3", "0.05", "0.5", "1", "2", "6", "12", "13", "40"]


def delta_to_fifty_digits(epsilon: str, mu: Fraction | str) -> mpmath.mpf:
    """`Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)`, at a precision that survives the cancellation; `mu` may be rational."""
    with mpmath.workdps(400):
        exact = Fraction(mu)
        x, distance = mpmath.mpf(epsilon), mpmath.mpf(exact.numerator) / exact.denominator
        return tail(x / distance - distance / 2) - mpmath.exp(x) * tail(x / distance + distance / 2)


def exact_delta(epsilon: str, mu: float) -> Fraction:
    """The same as a rational, which no comparison rounds; its error is far below a double's."""
    return as_fraction(delta_to_fifty_digits(epsilon, Fraction(mu)), "delta")


def tail(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.erfc(x / mpmath.sqrt(2)) / 2


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("mu", DISTANCES)
def test_delta_is_contained_and_tight(epsilon, mu):
    truth = delta_to_fifty_digits(epsilon, mu)
    if truth < mpmath.mpf("1e-300"):
        check_vanishing(epsilon, mu)
        return
    enclosed = differential.gaussian_delta(epsilon, mu=mu)
    assert truth in enclosed
    assert enclosed.width <= truth * 1e-12


@pytest.mark.parametrize(("epsilon", "mu"), [("0.1", "1e-12"), ("0.1", "1e-20"), ("5", "1e-300")])
def test_delta_below_the_doubles_is_zero_up_to_the_smallest_one_or_refused(epsilon, mu):
    check_vanishing(epsilon, mu)


def check_vanishing(epsilon: str, mu: str) -> None:
    try:
        enclosed = differential.gaussian_delta(epsilon, mu=mu)
    except sp.PrecisionError as refused:
        assert "epsilon and mu" in str(refused)  # noqa: PT017  (an answer is as good as a refusal)
        return
    assert enclosed.lower <= 1e-300
    assert enclosed.upper <= 1.1e-300


@pytest.mark.parametrize("epsilon", ["0", "0.005", "0.1", "1", "10"])
@pytest.mark.parametrize("delta", ["1e-12", "1e-6", "0.0225", "0.3", "0.99"])
def test_distance_is_the_inverse_of_delta(epsilon, delta):
    mu = differential.gaussian_distance(epsilon, delta)
    assert mu.width <= mu.upper * 1e-12
    assert exact_delta(epsilon, mu.lower) <= Fraction(delta) <= exact_delta(epsilon, mu.upper)


@pytest.mark.parametrize("power", [1, 2, 4])
def test_distance_contains_the_truth_just_above_a_power_of_two(power):
    """A target that the enclosure of δ(power) straddles: the truth is above the power by less than an ulp."""
    enclosed = differential.gaussian_delta("0.1", mu=power)
    truth = exact_delta("0.1", power)
    target = (truth + Fraction(enclosed.upper)) / 2
    assert truth < target < Fraction(enclosed.upper)
    assert differential.gaussian_distance("0.1", target).upper >= nextafter(power, inf)


def test_distance_at_a_huge_epsilon_is_right_or_refused():
    """The truth is about √(2ε), 1.4e150."""
    try:
        mu = differential.gaussian_distance("1e300", "0.1")
    except sp.PrecisionError:
        return
    assert mu.upper > 1e150


def test_distance_at_a_delta_next_to_one_is_safe_below_and_open_above():
    """2 Φ(μ/2) − 1 = 1 − 10^-50 at μ = 29.8, where no double tells δ from 1."""
    mu = differential.gaussian_distance(0, 1 - Fraction(1, 10**50))
    assert exact_delta("0", mu.lower) <= 1 - Fraction(1, 10**50)
    assert mu.lower > 16
    assert mu.upper == math.inf


# --- numbers of queries: Table 1 of "Parallel Composition for Statistical Privacy", m = 32 parts of 1024 entries

PARTS, ENTRIES = 32, 32768
VARIANCE = Fraction(1, 4) * (Fraction(PARTS, ENTRIES) - Fraction(1, ENTRIES))
TABLE = {"variance": VARIANCE, "sensitivity": Fraction(1, ENTRIES)}


def test_exact_gaussian_accounting_of_table_1():
    delta = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(ENTRIES // PARTS)).delta("0.005").upper
    assert differential.gaussian_queries("0.005", delta, **TABLE) == 992


def test_exact_accounting_on_both_sides_allows_one_query_less_than_parts():
    delta = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(ENTRIES)).delta("0.005").upper
    assert differential.gaussian_queries("0.005", delta, **TABLE) == PARTS - 1


@pytest.mark.parametrize(("epsilon", "delta"), [("0.005", "0.0225"), ("1", "1e-6"), ("0.1", "0.5")])
def test_the_calibration_of_the_literature(epsilon, delta):
    with mpmath.workdps(50):
        logarithm = mpmath.log(mpmath.e + mpmath.mpf(epsilon) / mpmath.mpf(delta))
        variance = 8 * 10 * mpmath.mpf("2.5") ** 2 * logarithm / mpmath.mpf(epsilon) ** 2
        queries = mpmath.mpf(7) * mpmath.mpf(epsilon) ** 2 / (8 * mpmath.mpf("2.5") ** 2 * logarithm)
    asked = differential.kairouz_variance(epsilon, delta, queries=10, sensitivity="2.5")
    allowed = differential.kairouz_queries(epsilon, delta, variance=7, sensitivity="2.5")
    for enclosed, truth in ((asked, variance), (allowed, queries)):
        assert truth in enclosed
        assert enclosed.width <= truth * 1e-15


@pytest.mark.parametrize("digits", [3, 15, 100])
def test_nothing_depends_on_the_precision_that_mpmath_is_set_to(digits):
    usual = differential.kairouz_variance("0.005", "0.0225", queries=10, sensitivity="2.5")
    with mpmath.workdps(digits):
        assert differential.kairouz_variance("0.005", "0.0225", queries=10, sensitivity="2.5") == usual


def test_the_calibration_is_looser_than_the_truth():
    loose = differential.kairouz_queries("0.1", "1e-6", variance=10**6, sensitivity=1)
    assert loose < differential.gaussian_queries("0.1", "1e-6", variance=10**6, sensitivity=1)


def test_the_two_calibrations_are_inverse():
    variance = differential.kairouz_variance("0.1", "1e-6", queries=17, sensitivity=3)
    assert 17 in differential.kairouz_queries("0.1", "1e-6", variance=variance.midpoint, sensitivity=3) + sp.Enclosure(
        -1e-12, 1e-12
    )


# --- arguments

GOOD = {"epsilon": "0.1", "delta": "0.01", "variance": 1, "sensitivity": 1, "queries": 3}
POSITIVE = "a number above 0 is required"
FUNCTIONS = {
    differential.gaussian_distance: {"epsilon": "a number of at least 0", "delta": "strictly between 0 and 1"},
    differential.gaussian_queries: {
        "epsilon": "a number of at least 0",
        "delta": "strictly between 0 and 1",
        "variance": POSITIVE,
        "sensitivity": POSITIVE,
    },
    differential.kairouz_variance: {
        "epsilon": POSITIVE,
        "delta": POSITIVE,
        "queries": r"an integer from 1 to 2\^53 is required",
        "sensitivity": POSITIVE,
    },
    differential.kairouz_queries: {
        "epsilon": POSITIVE,
        "delta": POSITIVE,
        "variance": POSITIVE,
        "sensitivity": POSITIVE,
    },
}
CASES = [(function, name, message) for function, names in FUNCTIONS.items() for name, message in names.items()]


@pytest.mark.parametrize(("function", "name", "message"), CASES, ids=lambda x: getattr(x, "__name__", str(x)))
@pytest.mark.parametrize(
    ("bad", "why"), [(-1, None), (nan, "is not finite"), (None, "is not a number"), ("x", "is not a")]
)
def test_a_bad_argument_is_refused_by_name(function, name, message, bad, why):
    arguments = {key: GOOD[key] for key in FUNCTIONS[function]} | {name: bad}
    with pytest.raises(sp.ArgumentError, match=rf"^{name}( = |: ).*{why or message}"):
        function(arguments.pop("epsilon"), arguments.pop("delta"), **arguments)


@pytest.mark.parametrize("delta", [0, 1, "1.5"])
def test_a_distance_needs_delta_between_zero_and_one(delta):
    with pytest.raises(sp.ArgumentError, match=rf"^delta = {delta}; a number strictly between 0 and 1 is required$"):
        differential.gaussian_distance("0.1", delta)


@pytest.mark.parametrize(
    ("epsilon", "mu", "message"),
    [
        (-1, 1, r"epsilon = -1; a number of at least 0 is required"),
        (1, 0, r"mu = 0; a number above 0 is required"),
        (1, -1, r"mu = -1; a number above 0 is required"),
        (1, inf, r"mu = inf is not finite"),
        (nan, 1, r"epsilon = nan is not finite"),
    ],
)
def test_a_bad_pair_of_normal_laws_is_refused(epsilon, mu, message):
    with pytest.raises(sp.ArgumentError, match=message):
        differential.gaussian_delta(epsilon, mu=mu)


@pytest.mark.parametrize("epsilon", [1000, 10**400])
def test_the_calibration_is_refused_where_it_is_not_proved(epsilon):
    with pytest.raises(
        sp.ArgumentError, match=r"^epsilon = '?1.*; the calibration is proved for ε <= 8 ln\(e \+ ε/δ\) only"
    ):
        differential.kairouz_variance(epsilon, "0.1", queries=1, sensitivity=1)
