"""External mechanisms become queries whose curves bound them from above."""

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from tests.interop.exact_masses import BITS, ExactMasses, ball, mpf_ball

import statpriv as sp
from statpriv import interop

pytest.importorskip("dp_accounting", reason="the extra dp is not installed")
from dp_accounting.pld import privacy_loss_distribution as peer

HERE = sp.Population(1)


def test_two_exact_laws_give_the_exact_curve():
    curve = sp.privacy_curve(interop.query_from_laws(["3/4", "1/4"], ["1/4", "3/4"]), HERE)
    assert curve.exact_delta(exp_epsilon=2) == Fraction(1, 4)
    assert curve.epsilon(0).upper == pytest.approx(math.log(3))


def test_dicts_leave_answers_out():
    query = interop.query_from_laws({"a": "1/2", "b": "1/2"}, {"b": 1})
    assert sp.privacy_curve(query, HERE, pair=(1, 0)).exact_delta(exp_epsilon=1) == Fraction(1, 2)
    assert sp.privacy_curve(query, HERE).infinity_mass().upper == 0.5


def test_float_arrays_are_normalised_as_by_the_hockey_stick():
    first, second = np.array([0.1] * 10), np.array([0.05, 0.15] * 5)
    curve = sp.privacy_curve(interop.query_from_laws(first, second), HERE, pair=(1, 0))
    assert sp.hockey_stick(first, second, 0.1).midpoint == pytest.approx(curve.delta(0.1).midpoint, rel=1e-15)


def test_queries_are_values():
    query = interop.query_from_laws([1, 0], [0, 1])
    assert query == interop.query_from_laws([1, 0], [0, 1])
    assert repr(query) == "PairOfLaws(two laws of 2 answers)"


def test_the_exported_dominating_pair_comes_back_up_to_its_sums():
    curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(100))
    pair = interop.dominating_pair(curve, interval=1e-3)
    back = sp.privacy_curve(interop.query_from_laws(pair.P, pair.Q), HERE, pair=(1, 0))
    assert curve.delta("0.1").lower * (1 - 1e-14) < back.delta("0.1").upper < curve.delta("0.1").upper * 1.001


DISTRIBUTIONS = {
    "Gaussian": peer.from_gaussian_mechanism(3.0, value_discretization_interval=1e-2),
    "Laplace, rounded": peer.from_laplace_mechanism(2.0, value_discretization_interval=1e-2, use_connect_dots=False),
    "(ε, δ)": peer.from_privacy_parameters(
        peer.common.DifferentialPrivacyParameters(0.5, 1e-3), value_discretization_interval=1e-2
    ),
    "composed": peer.from_discrete_laplace_mechanism(0.3, value_discretization_interval=1e-2).self_compose(20),
    "sampled": peer.from_gaussian_mechanism(1.0, sampling_prob=0.1, value_discretization_interval=1e-2),
}


@pytest.mark.parametrize("distribution", DISTRIBUTIONS.values(), ids=DISTRIBUTIONS.keys())
def test_the_curve_of_a_distribution_is_not_below_its_masses_and_hardly_above(distribution):
    masses = ExactMasses(distribution._pmf_remove)
    curve = sp.privacy_curve(interop.query_from_distribution(distribution), HERE, pair=(1, 0))
    negative = -sum(mass for mass in masses.masses.values() if mass < 0)
    apart = abs(1 - masses.total()) + negative  # doubles do not sum to one
    with flint.ctx.workprec(BITS):
        least = flint.arb(2) ** -100
        for epsilon in (Fraction(k, 16) for k in range(40)):
            delta, held = curve.delta(epsilon, digits=100), masses.hockey_stick(epsilon)
            assert mpf_ball(delta.upper) > held - least
            assert mpf_ball(delta.lower) < held + ball(apart) + least


@pytest.mark.campaign  # alone it notices a width of what is imported
def test_an_imported_gaussian_is_close_to_the_certified_one():
    distribution = peer.from_gaussian_mechanism(10.0, value_discretization_interval=1e-4)
    curve = sp.privacy_curve(interop.query_from_distribution(distribution), HERE)
    truth = sp.differential.gaussian_delta("0.1", mu="0.1")
    assert truth.upper <= curve.delta("0.1").upper
    assert curve.delta("0.1").upper < truth.upper * 1.0001


def test_an_exported_curve_comes_back():
    curve = sp.privacy_curve(sp.PropertyQuery("1/3"), sp.Population(50), pair=(1, 0))
    distribution = interop.privacy_loss_distribution(curve, interval=1e-3)
    back = sp.privacy_curve(interop.query_from_distribution(distribution), HERE, pair=(1, 0))
    for epsilon in ("0", "0.1", "0.5"):
        assert curve.delta(epsilon).upper <= back.delta(epsilon).upper < curve.delta(epsilon).upper * 1.001
    reverse = sp.privacy_curve(interop.query_from_distribution(distribution), HERE, pair=(0, 1))
    assert (
        curve.reversed().delta("0.3").lower <= reverse.delta("0.3").upper < curve.reversed().delta("0.3").upper * 1.01
    )


def test_laws_of_different_lengths_are_refused():
    with pytest.raises(sp.ArgumentError, match="P has 2 probabilities and Q 3; as many are required"):
        interop.query_from_laws([0.5, 0.5], [0.5, 0.25, 0.25])


def test_optimistic_distributions_are_refused():
    optimistic = peer.from_gaussian_mechanism(1.0, pessimistic_estimate=False, value_discretization_interval=1e-2)
    with pytest.raises(sp.ArgumentError, match="distribution is an optimistic estimate, which guarantees nothing"):
        interop.query_from_distribution(optimistic)


def test_other_objects_are_refused():
    with pytest.raises(sp.ArgumentError, match="distribution = 3; a PrivacyLossDistribution is required"):
        interop.query_from_distribution(3)
