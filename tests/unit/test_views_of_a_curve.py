"""A curve as a Rényi divergence, as a Gaussian distance, as a table, and next to other theorems."""

from __future__ import annotations

import dataclasses
import inspect
import math
from decimal import ROUND_CEILING, Context
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv.curves import shown
from statpriv.curves.evaluation import EvaluatedCurve
from statpriv.errors import ArgumentError

from ..cases import cases

HALF = sp.PropertyQuery("1/2", attribute="x")


def hidden_sample(n, s, p):
    """The laws of a count of s of n entries, drawn in secret, for the critical values 1 and 0."""

    def binomial(size, k):
        return math.comb(size, k) * p**k * (1 - p) ** (size - k) if 0 <= k <= size else Fraction(0)

    def law(value):
        return [
            Fraction(s, n) * binomial(s - 1, k - value) + (1 - Fraction(s, n)) * binomial(s, k) for k in range(s + 1)
        ]

    return law(1), law(0)


def renyi(p, q, order):
    """ln(Σ p^α q^(1−α))/(α−1) in 40 digits."""
    with mpmath.workdps(40):
        a = mpmath.mpf(order.numerator) / order.denominator
        terms = [
            (mpmath.mpf(x.numerator) / x.denominator, mpmath.mpf(y.numerator) / y.denominator)
            for x, y in zip(p, q, strict=True)
        ]
        return mpmath.log(mpmath.fsum(x**a * y ** (1 - a) for x, y in terms)) / (a - 1)


@settings(max_examples=cases(10, campaign=250), deadline=None)
@given(
    s=st.integers(1, 8),
    more=st.integers(1, 12),
    p=st.fractions("1/10", "9/10", max_denominator=20),
    order=st.fractions("11/10", 12, max_denominator=10),
    pair=st.sampled_from([(1, 0), (0, 1)]),
)
def test_renyi_encloses_the_divergence_of_the_laws(s, more, p, order, pair):
    first, second = hidden_sample(s + more, s, p)
    laws = (first, second) if pair == (1, 0) else (second, first)
    curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(s + more), sampling=sp.WithoutReplacement(s), pair=pair)
    found = curve.renyi(order)
    truth = renyi(*laws, order)
    assert found.lower <= truth <= found.upper
    assert found.width <= truth / 50


def test_more_points_enclose_the_divergence_more_narrowly():
    curve = sp.privacy_curve(HALF, sp.Population(20), sampling=sp.WithoutReplacement(5), pair=(1, 0))
    coarse, fine = curve.renyi(2, points=50), curve.renyi(2, points=500)
    assert coarse.lower <= fine.lower <= fine.upper <= coarse.upper
    assert fine.width < coarse.width / 10


def test_four_hundred_points_are_taken_unless_stated():
    curve = sp.privacy_curve(HALF, sp.Population(20), sampling=sp.WithReplacement(3))
    assert curve.zcdp() == curve.zcdp(points=400) != curve.zcdp(points=399)
    assert curve.renyi(2) == curve.renyi(2, points=400) != curve.renyi(2, points=399)


def test_an_answer_that_gives_the_value_away_is_infinitely_far_from_others():
    assert sp.privacy_curve(HALF, sp.Population(20)).renyi(2) == sp.Enclosure(math.inf, math.inf)


@pytest.mark.parametrize(("order", "points"), [(1, 400), ("1/2", 400), (2, 2), (2, 2.5)])
def test_orders_up_to_one_and_too_few_points_are_refused(order, points):
    with pytest.raises(ArgumentError, match=r"^(order|points) = "):
        sp.privacy_curve(HALF, sp.Population(20)).renyi(order, points=points)


def test_several_orders_at_once():
    curve = sp.privacy_curve(HALF, sp.Population(20), sampling=sp.WithoutReplacement(5))
    assert list(curve.renyi([2, "3/2"])) == [curve.renyi(2), curve.renyi("3/2")]
    with pytest.raises(ArgumentError, match=r"^at \[1\]: order = 1\.0; an order above 1 is required$"):
        curve.renyi([2, 1])
    with pytest.raises(ArgumentError, match=r"^points = 2000000; at most 1048576 are allowed$"):
        curve.renyi(2, points=2_000_000)


# --- zero-concentrated privacy


def largest_ratio(laws):
    """The greatest D_α/α over orders with α − 1 spaced by factors 2^(1/16), both ways: just below the supremum."""
    orders = [1 + Fraction(2.0 ** (k / 16)) for k in range(-160, 160)]
    return max(renyi(p, q, order) / order for order in orders for p, q in (laws, laws[::-1]))


@pytest.mark.campaign  # alone it notices a supremum at an order that no other test asks
@settings(max_examples=cases(3, campaign=30), deadline=None)
@given(s=st.integers(1, 6), more=st.integers(1, 9), p=st.fractions("1/10", "9/10", max_denominator=10))
def test_zcdp_encloses_the_supremum_over_the_orders(s, more, p):
    curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(s + more), sampling=sp.WithoutReplacement(s))
    found, truth = curve.zcdp(), largest_ratio(hidden_sample(s + more, s, p))
    assert found.lower <= truth * 1.001
    assert truth <= found.upper
    assert found.width <= found.upper / 40


def test_zcdp_is_found_to_about_four_parts_in_the_number_of_points():
    curve = sp.privacy_curve(HALF, sp.Population(100), sampling=sp.WithReplacement(3))
    found = curve.zcdp(points=50)
    assert 3 / 50 < found.width / found.lower <= 4 / 50


def test_zcdp_of_one_direction_is_at_most_that_of_both():
    both = sp.privacy_curve(sp.PropertyQuery("1/10"), sp.Population(30), sampling=sp.WithoutReplacement(3))
    directions = [
        sp.privacy_curve(
            sp.PropertyQuery("1/10"), sp.Population(30), sampling=sp.WithoutReplacement(3), pair=pair
        ).zcdp()
        for pair in ((1, 0), (0, 1))
    ]
    assert both.zcdp().lower <= max(one.upper for one in directions)
    assert both.zcdp().upper >= max(one.lower for one in directions)
    assert min(one.upper for one in directions) < both.zcdp().lower


def test_zcdp_is_infinite_where_an_answer_gives_the_value_away():
    assert sp.privacy_curve(HALF, sp.Population(20)).zcdp() == sp.Enclosure(math.inf)


def test_zcdp_of_answers_that_say_nothing_is_zero():
    nothing = sp.privacy_curve(HALF.thresholded(20), sp.Population(20))
    assert nothing.zcdp() == sp.Enclosure(0)
    assert nothing.renyi(2) == sp.Enclosure(0)


@pytest.mark.campaign  # alone it notices a supremum of one law
def test_normal_noise_alone_is_the_least_rho():
    """If the data saturate, only the noise protects: its ρ is attained, whatever the number of entries."""
    for added in (sp.noise.Gaussian(sigma=3), sp.noise.DiscreteGaussian(sigma=3)):
        noisy = sp.privacy_curve(HALF.noisy(added), sp.Population(50))
        assert noisy.zcdp() == sp.Enclosure(Fraction(1, 18))
        assert noisy.renyi(2).upper < 0.6 * 2 / 18  # the data help at every single order
    total = sp.SumQuery(pmf={0: "1/2", 3: "1/4", 5: "1/4"}).noisy(sp.noise.Gaussian(sigma=4))
    assert sp.privacy_curve(total, sp.Population(5)).zcdp() == sp.Enclosure(Fraction(25, 32))
    assert sp.privacy_curve(total, sp.Population(5), pair=(3, 5)).zcdp() == sp.Enclosure(Fraction(4, 32))


@pytest.mark.parametrize("added", [sp.noise.Gaussian(sigma=3), sp.noise.DiscreteGaussian(sigma=3)])
def test_the_rho_of_the_counts_that_an_entry_changes_add_up(added):
    table = sp.HistogramQuery(["1/2", "1/4", "1/4"]).noisy(added)
    counts = sp.LinearQuery([[1, 0, 0], [1, 1, 0], [1, 1, 1]]).noisy(added).rounded(1)
    assert sp.privacy_curve(table, sp.Population(3), bound="noise").zcdp().upper == pytest.approx(2 / 18)
    assert sp.privacy_curve(counts, sp.Population(3), bound="noise").zcdp().upper == pytest.approx(3 / 18)


def test_what_follows_the_noise_can_only_lower_rho():
    clamped = sp.privacy_curve(HALF.noisy(sp.noise.DiscreteGaussian(sigma=2)).clamped(0, 4), sp.Population(4))
    found = clamped.zcdp()
    assert found.upper <= 1 / 8
    assert 0 < found.lower <= found.upper


@pytest.mark.campaign  # alone it notices an error for this noise
@settings(max_examples=15, deadline=None)
@given(n=st.integers(1, 6), sigma=st.integers(1, 3), order=st.integers(2, 5))
def test_renyi_under_discrete_normal_noise(n, sigma, order):
    """The sum over the answers within forty standard deviations, in 60 digits."""
    curve = sp.privacy_curve(HALF.noisy(sp.noise.DiscreteGaussian(sigma=sigma)), sp.Population(n), pair=(1, 0))
    with mpmath.workdps(60):
        reach = range(-40 * sigma, 40 * sigma + n + 1)
        masses = {k: mpmath.exp(-mpmath.mpf(k * k) / (2 * sigma**2)) for k in range(-90 * sigma, 90 * sigma + n)}
        total = mpmath.fsum(masses.values())

        def law(shift):
            return [
                mpmath.fsum(mpmath.binomial(n - 1, j) * masses[x - j - shift] for j in range(n)) / 2 ** (n - 1) / total
                for x in reach
            ]

        one, zero = law(1), law(0)
        moment = mpmath.fsum(x**order * y ** (1 - order) for x, y in zip(one, zero, strict=True))
        truth = mpmath.log(moment) / (order - 1)
        rounded = mpmath.mpf(10) ** -50  # with one entry the truth is an end: order / 2σ²
        found = curve.renyi(order)
        assert found.lower - rounded <= truth <= found.upper + rounded
    assert found.width <= found.upper / 20


def gaussian_delta(mu, epsilon):
    with mpmath.workdps(40):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize(("n", "epsilon"), [(3, 0.0), (3, 0.5), (100, 0.0), (100, 0.5), (10**6, 0.0), (10**6, 0.01)])
def test_normal_laws_at_distance_mu_have_the_same_delta(n, epsilon):
    curve = sp.privacy_curve(HALF, sp.Population(n))
    delta, mu = curve.delta(epsilon), curve.gaussian_mu(epsilon)
    assert gaussian_delta(mu.lower, epsilon) <= delta.upper
    assert gaussian_delta(mu.upper, epsilon) >= delta.lower
    assert mu.width <= mu.upper * 1e-12


def test_mu_is_zero_or_infinite_where_delta_is_zero_or_one():
    certain = sp.privacy_curve(sp.PropertyQuery(1), sp.Population(5))
    assert certain.gaussian_mu("0.1") == sp.Enclosure(math.inf, math.inf)
    sample = sp.privacy_curve(HALF, sp.Population(20), sampling=sp.WithoutReplacement(1))
    assert sample.delta(5).upper == 0
    assert sample.gaussian_mu(5) == sp.Enclosure(0.0, 0.0)


def test_a_table_has_the_delta_of_each_epsilon():
    curve = sp.privacy_curve(HALF, sp.Population(100))
    table = curve.table([0, "0.1"])
    assert list(table) == [(0, curve.delta(0)), ("0.1", curve.delta("0.1"))]
    assert len(table) == 2
    assert str(table) == "ε (nats)  δ\n0         0.0795892\n0.1       0.0418368"
    assert "<td>0.0795892</td>" in table._repr_html_()


def test_a_table_chooses_where_delta_falls_by_powers_of_ten():
    curve = sp.privacy_curve(HALF, sp.Population(1000))
    rows = list(curve.table())
    assert rows[0][0] == 0
    assert [epsilon for epsilon, _ in rows] == sorted({epsilon for epsilon, _ in rows})
    assert rows[-1][1].upper == pytest.approx(1e-6, rel=0.5)


def test_the_table_of_a_bound_says_so():
    curve = sp.privacy_curve(HALF, sp.Population(100), sampling=sp.WithoutReplacement(10), bound="threshold")
    assert str(curve.table([0])).startswith("ε (nats)  upper bound of δ")


def test_a_comparison_names_every_bound_once_and_the_smallest_first():
    curve = sp.privacy_curve(HALF, sp.Population(100), sampling=sp.WithoutReplacement(10))
    compared = curve.compare("0.1")
    names = [row.bound for row in compared]
    assert len(set(names)) == len(names) == len(compared)
    assert {"exact", "spc", "amplification"} <= set(names)
    assert [row.delta.upper for row in compared] == sorted(row.delta.upper for row in compared)
    for row in compared:
        assert row.delta == sp.privacy_curve(
            HALF, sp.Population(100), sampling=sp.WithoutReplacement(10), bound=row.bound
        ).delta("0.1")
    conditional = {row.bound for row in compared if row.conditional}
    assert "spc" in conditional
    assert all(row.delta.upper >= compared[0].delta.lower for row in compared)
    assert str(compared).count("\n") == len(compared)
    assert "given that it is sampled" in compared._repr_html_()


CURVES = [
    sp.privacy_curve(HALF, sp.Population(1024)),
    sp.privacy_curve(HALF, sp.Population(10**12)),
    sp.privacy_curve(sp.PropertyQuery("1/100"), sp.Population(5)),  # told with certainty where nobody else has it
    sp.privacy_curve(sp.PropertyQuery(sp.Between("0.2", "0.4")), sp.Population(30), sampling=sp.WithReplacement(7)),
    sp.minimum_count_curve(10),
]


@pytest.mark.parametrize("curve", CURVES, ids=repr)
def test_a_table_shows_where_delta_has_fallen_to_powers_of_ten(curve, monkeypatch):
    """At the next number of two digits after what `epsilon` says, and by fewer δ than one of its six searches takes."""
    asked = []
    delta = sp.PrivacyCurve.delta
    monkeypatch.setattr(sp.PrivacyCurve, "delta", lambda self, epsilon: asked.extend(epsilon) or delta(self, epsilon))
    listed = [epsilon for epsilon, _ in curve.table()]
    monkeypatch.undo()
    reached = [curve.epsilon(f"1e-{exponent}").upper for exponent in range(1, 7)]
    two_digits = Context(prec=2, rounding=ROUND_CEILING)
    rounded = (float(two_digits.create_decimal_from_float(epsilon)) for epsilon in reached if math.isfinite(epsilon))
    assert listed == sorted({0, *rounded})
    assert len(asked) == len(set(asked)) <= 25


@pytest.mark.parametrize(
    ("falls", "limit"), [(lambda epsilon: 0.2 if epsilon == 0 else 0.1, 0.0), (lambda _: 0.1001, 0.1)]
)
def test_a_delta_that_is_not_told_from_its_limit_ends_the_search(falls, limit):
    """The first jumps at 0 by what an enclosure may be off, the second never reaches what it tends to."""

    class Curve:
        def delta(self, epsilons):
            return [sp.Enclosure(falls(epsilon), falls(epsilon)) for epsilon in epsilons]

        def infinity_mass(self):
            return sp.Enclosure(limit, limit)

    assert list(shown.telling(Curve())) == [0]


def test_a_display_begins_no_delta_when_its_time_is_over(monkeypatch):
    now = iter([0, 1, 2])
    monkeypatch.setattr(shown, "monotonic", lambda: next(now))
    page = sp.privacy_curve(HALF, sp.Population(1023))._repr_html_()
    assert page.count("<tr><td>") == 1
    assert "<td>0.1</td>" in page


def test_a_display_of_a_costly_curve_takes_one_delta(monkeypatch):
    monkeypatch.setattr(EvaluatedCurve, "is_costly", True)
    page = sp.privacy_curve(HALF, sp.Population(1022))._repr_html_()
    assert page.count("<tr><td>") == 1
    assert "<td>0.1</td>" in page


def test_a_page_shows_what_was_stated_and_nothing_that_a_name_smuggles_in():
    query = sp.PropertyQuery({"<b>f": "1/3", "m": "1/2"}, name="a & <script>")
    curve = sp.privacy_curve(query, sp.Population(groups={"<b>f": 3, "m": 2}))
    page = curve._repr_html_()
    assert page.startswith("<table><caption>Privacy curve, exact</caption><tbody><tr><th scope='row'>query</th><td>")
    assert "name=&#x27;a &amp; &lt;script&gt;&#x27;" in page
    assert "<script" not in page
    assert "<b>" not in page
    assert "<tr><th scope='row'>sampling</th><td>none: every entry is counted</td></tr>" in page
    sample = sp.privacy_curve(HALF, sp.Population(9), sampling=sp.WithReplacement(4), bound="spc")
    assert "<caption>Privacy curve, upper bound</caption>" in sample._repr_html_()


def test_a_page_says_which_bounds_could_not_be_evaluated():
    compared = dataclasses.replace(sp.privacy_curve(HALF, sp.Population(9)).compare(), not_evaluated=(("a<b", "why"),))
    assert compared._repr_html_().endswith("</table><p>a&lt;b: not evaluated (why)</p>")
    assert str(compared).endswith("\na<b: not evaluated (why)")


def test_only_a_sample_has_to_be_drawn_as_stated():
    drawn = "the sample is drawn as stated, independently of the data, and kept secret"
    whole, sample = (
        sp.privacy_curve(HALF.thresholded(3), sp.Population(9), sampling=sampling)
        for sampling in (None, sp.WithoutReplacement(4))
    )
    assert drawn not in whole.assumptions
    assert drawn in sample.assumptions


def test_two_three_five_and_ten_rows_a_person_are_tried_unless_stated():
    defaults = [
        inspect.signature(asked).parameters["rows"].default
        for asked in (sp.PrivacyCurve.sensitivity, sp.sensitivity_of)
    ]
    assert defaults == [(2, 3, 5, 10)] * 2


def test_old_names_of_methods_still_work_and_say_the_new_ones():
    curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(4))
    with pytest.warns(DeprecationWarning, match="infinity_mass"):
        assert curve.mass_at_infinity() == curve.infinity_mass()
    rare = sp.PropertyQuery("0.3")
    both = sp.compose([rare, rare], sp.Population(7), sp.RandomPartition([6, 1]))
    with pytest.warns(DeprecationWarning, match="worst_case_pairs"):
        assert both.pattern("0.1") == both.worst_case_pairs("0.1")
