"""Every exported distribution dominates, every optimistic one is dominated, alone and composed, in exact arithmetic."""

import itertools
import math
import sys
from fractions import Fraction
from functools import cache

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.interop.exact_masses import BITS, ExactMasses, ball, mpf_ball

import statpriv as sp
from statpriv import interop
from statpriv.curves.evaluation import EvaluatedCurve

from ..cases import cases

dp_accounting = pytest.importorskip("dp_accounting", reason="the extra dp is not installed")
from dp_accounting.pld import privacy_loss_distribution as peer  # noqa: E402

third = sp.PropertyQuery("1/3", attribute="smoker")
half = sp.PropertyQuery("1/2", attribute="driver")
values = sp.SumQuery(pmf={0: "1/2", 1: "1/4", 5: "1/4"})


def in_parts(*queries):
    """Unrelated queries on parts of two entries and one entry, in a population with one unused entry."""
    sizes = [2] + [1] * (len(queries) - 1)
    return sp.compose(queries, sp.Population(sum(sizes) + 1), sp.RandomPartition(sizes))


IN_PARTS = {
    "different properties in parts": in_parts(third, half, sp.PropertyQuery("1/5")),
    "a sum and a count in parts": in_parts(values, half),
    "histograms in parts": in_parts(sp.HistogramQuery(["1/2", "1/3", "1/6"]), sp.HistogramQuery(["1/4", "3/4"])),
    "a noisy count and a sum in parts": in_parts(
        third.noisy(sp.noise.Truncated(sp.noise.DiscreteLaplace(alpha="0.5"), -2, 2)), values
    ),
}
"""Compositions of several properties, which take longer to export."""

CURVES = {
    "one count": sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024)),
    "a rare property, named pair": sp.privacy_curve(sp.PropertyQuery("1/100"), sp.Population(60), pair=(1, 0)),
    "known entries": sp.privacy_curve(third, sp.Population(40), adversary=sp.Adversary(known=30)),
    "p in a range": sp.privacy_curve(sp.PropertyQuery(sp.Between("0.4", "0.7")), sp.Population(50)),
    "a histogram": sp.privacy_curve(sp.HistogramQuery(["1/2", "1/3", "1/6"]), sp.Population(20)),
    "a sum": sp.privacy_curve(sp.SumQuery(pmf={0: "1/2", 1: "1/4", 5: "1/4"}), sp.Population(12), pair=(5, 0)),
    "a hidden sample": sp.privacy_curve(third, sp.Population(30), sampling=sp.WithReplacement(10), pair=(1, 0)),
    "a bound": sp.privacy_curve(third, sp.Population(60), sampling=sp.WithoutReplacement(20), bound="amplification"),
    "noise": sp.privacy_curve(third.noisy(sp.noise.DiscreteLaplace(alpha=0.5)), sp.Population(10)),
    "a partition": sp.compose([third] * 3, sp.Population(30), sp.RandomPartition([10, 5, 15])),
    "a partition's bound": sp.compose(
        [third] * 3, sp.Population(30), sp.RandomPartition([10, 5, 15]), bound="partition-sum"
    ),
    "one entry": sp.privacy_curve(third, sp.Population(1)),
    **IN_PARTS,
}
ENCLOSED = {name: curve for name, curve in CURVES.items() if curve.kind == "exact"}
INTERVALS = (1e-3, 2.0**-6)


def on_grids(curves):
    """Each curve with the intervals of its grids; of the finest one, in a campaign."""
    grids = ((name, interval) for name in curves for interval in ([2.0**-4] if name in IN_PARTS else INTERVALS))
    return pytest.mark.parametrize(
        ("curve", "interval"),
        [
            pytest.param(
                curves[name], step, id=f"{name}, {step}", marks=[pytest.mark.campaign] if step < 2.0**-6 else []
            )
            for name, step in grids
        ],
    )


curves = pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES.keys())


def directions(curve, distribution):
    """Each direction of a distribution with the curve it belongs to."""
    yield ExactMasses(distribution._pmf_remove), curve, curve.reversed()
    if not distribution._symmetric:
        yield ExactMasses(distribution._pmf_add), curve.reversed(), curve


LOSSES = cases(40, campaign=1000)


def losses(count):
    """ε of either sign: near zero, where the curves fall, and far from zero."""
    spread = np.concatenate([np.linspace(0, 0.5, count // 4), np.linspace(0.5, 8, count // 4), [20.0, 40.0]])
    return [Fraction(float(epsilon)) for epsilon in (*spread, *-spread[1:])]


@cache
def digits_of_delta(curve, epsilon):
    """The grids of one curve are judged at the same losses."""
    return curve.delta(epsilon, digits=30)


def delta(forward, backward, epsilon):
    """Bounds of δ(ε), for ε of either sign: below zero it is 1 − e^ε (1 − δ'(−ε))."""
    enclosure = digits_of_delta(forward if epsilon >= 0 else backward, abs(epsilon))
    lower, upper = mpf_ball(enclosure.lower), mpf_ball(enclosure.upper)
    if epsilon >= 0:
        return lower, upper
    with flint.ctx.workprec(BITS):
        ratio = ball(epsilon).exp()
        return 1 - ratio * (1 - lower), 1 - ratio * (1 - upper)


def first_below(masses, forward, backward, count=LOSSES):
    """The first ε at which the masses are certainly below δ."""
    for epsilon in losses(count):
        if masses.hockey_stick(epsilon) < delta(forward, backward, epsilon)[0]:
            return float(epsilon)
    return None


@pytest.mark.campaign  # alone it notices losses at which none is exported
@on_grids(CURVES)
def test_a_pessimistic_distribution_dominates_at_many_losses_of_either_sign(curve, interval):
    distribution = interop.privacy_loss_distribution(curve, interval=interval)
    for masses, forward, backward in directions(curve, distribution):
        assert masses.total() >= 1
        assert first_below(masses, forward, backward) is None


@pytest.mark.campaign  # alone it notices losses at which none is exported
@on_grids(ENCLOSED)
def test_an_optimistic_distribution_is_dominated_at_many_losses_of_either_sign(curve, interval):
    distribution = interop.privacy_loss_distribution(curve, interval=interval, pessimistic=False)
    for masses, forward, backward in directions(curve, distribution):
        assert masses.total() <= 1
        for epsilon in losses(LOSSES):
            assert not masses.hockey_stick(epsilon) > delta(forward, backward, epsilon)[1], float(epsilon)


def test_the_check_tells_masses_that_are_too_small_by_a_billionth():
    curve = CURVES["one count"]
    masses = ExactMasses(interop.privacy_loss_distribution(curve, interval=2.0**-9)._pmf_remove)
    assert first_below(masses, curve, curve, 100) is None
    assert first_below(masses.scaled(1 - Fraction(1, 10**9)), curve, curve, 100) is not None


def test_between_the_losses_of_the_grid_the_excess_is_that_of_a_chord():
    """A convex function whose steepness falls by s over a cell of width w is at most s·w/4 below its chord."""
    curve, interval = CURVES["one count"], 2.0**-12
    distribution = interop.privacy_loss_distribution(curve, interval=interval)
    for epsilon in np.linspace(0.001, 0.4, 50):
        around = [(math.floor(epsilon / interval) + k) * interval for k in (-1, 0, 1, 2)]
        x, deltas = [math.exp(loss) for loss in around], [curve.delta(loss).midpoint for loss in around]
        before, _, after = -np.diff(deltas) / np.diff(x)
        excess = distribution.get_delta_for_epsilon(epsilon) - curve.delta(epsilon).midpoint
        assert -1e-16 <= excess <= (before - after) * (x[2] - x[1]) / 4 + 1e-15


def test_at_the_losses_of_the_grid_only_rounding_is_lost():
    curve = CURVES["one count"]
    masses = ExactMasses(interop.privacy_loss_distribution(curve, interval=2.0**-9)._pmf_remove)
    for k in range(0, 200, 7):
        excess = masses.hockey_stick(Fraction(k, 2**9)) / ball(curve.delta(k / 2**9).upper) - 1
        assert 0 <= float(excess) < 1e-15


@pytest.mark.parametrize("interval", [2.0**-8, 2.0**-10, 2.0**-12, 2.0**-14])
def test_an_optimistic_distribution_lacks_one_interval_of_an_answer_or_less(interval):
    """A corner of δ inside a cell moves by at most one interval; the likeliest answer has probability 0.025."""
    curve = CURVES["one count"]
    distribution = interop.privacy_loss_distribution(curve, interval=interval, pessimistic=False)
    for epsilon in np.linspace(0, 0.5, 101):
        gap = curve.delta(epsilon).midpoint - distribution.get_delta_for_epsilon(epsilon)
        assert -1e-15 <= gap <= 0.025 * interval * (1 + epsilon)


def test_without_mass_at_infinity_there_is_none_in_the_distribution():
    sample = CURVES["a hidden sample"]
    distribution = interop.privacy_loss_distribution(sample, interval=1e-3)
    assert distribution._pmf_remove._infinity_mass == 0
    assert distribution.get_epsilon_for_delta(0) < sample.epsilon(0).upper + 2e-3


def test_what_is_truncated_counts_as_mass_at_infinity():
    curve = CURVES["one count"]
    coarse = interop.privacy_loss_distribution(curve, interval=1e-3, truncation="1e-6")
    assert 1e-7 < coarse._pmf_remove._infinity_mass <= 1e-6
    assert coarse.get_delta_for_epsilon(2.0) == coarse._pmf_remove._infinity_mass


# --- composition


def binomial_pair(n, p):
    """The laws of a count of n entries, with the critical one equal to 1 and to 0, as fractions."""
    others = {k: math.comb(n - 1, k) * p**k * (1 - p) ** (n - 1 - k) for k in range(n)}
    return {k + 1: mass for k, mass in others.items()}, others


def product(first, second):
    return {(a, b): p * q for (a, p), (b, q) in itertools.product(first.items(), second.items())}


def test_the_exact_convolution_of_the_masses_dominates_the_product_of_the_laws():
    """Two different counts of independent entries that share the critical one, in exact arithmetic."""
    first, second = binomial_pair(4, Fraction(1, 3)), binomial_pair(3, Fraction(2, 5))
    curves = [sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), pair=(1, 0)) for n, p in ((4, "1/3"), (3, "2/5"))]
    laws = product(first[0], second[0]), product(first[1], second[1])
    above, below = (
        ExactMasses.composed(
            *(
                ExactMasses(interop.privacy_loss_distribution(c, interval=2.0**-5, pessimistic=b)._pmf_remove)
                for c in curves
            )
        )
        for b in (True, False)
    )
    for epsilon in np.linspace(-4, 4, 81):
        truth = sp.hockey_stick(*laws, Fraction(epsilon))
        assert above.hockey_stick(epsilon) > ball(truth.lower) * (1 - flint.arb(2) ** -50)
        assert below.hockey_stick(epsilon) < ball(truth.upper) * (1 + flint.arb(2) ** -50)
    near = sp.hockey_stick(*laws, Fraction(1, 3))
    assert float(above.hockey_stick(Fraction(1, 3))) < near.upper * 1.01
    assert float(below.hockey_stick(Fraction(1, 3))) > near.lower * 0.97


@pytest.mark.campaign  # alone it notices that the real package composes otherwise
@pytest.mark.parametrize("times", [2, 5])
@pytest.mark.parametrize("interval", [1e-4, 1e-2])
def test_the_composition_of_dp_accounting_is_not_below_the_product_of_the_laws(times, interval):
    """Up to the rounding of its doubles: 1e-14 in a probability."""
    one, zero = binomial_pair(3, Fraction(1, 3))
    laws = one, zero
    for _ in range(times - 1):
        laws = product(laws[0], one), product(laws[1], zero)
    curve = sp.privacy_curve(sp.PropertyQuery("1/3"), sp.Population(3), pair=(1, 0))
    above, below = (
        interop.privacy_loss_distribution(curve, interval=interval, pessimistic=pessimistic).self_compose(times)
        for pessimistic in (True, False)
    )
    for epsilon in np.linspace(0, 4, 41):
        truth = max(sp.hockey_stick(*laws, epsilon).lower, sp.hockey_stick(*laws[::-1], epsilon).lower)
        assert above.get_delta_for_epsilon(epsilon) >= truth - 1e-14
        assert below.get_delta_for_epsilon(epsilon) <= truth + 1e-14
        assert above.get_delta_for_epsilon(epsilon) < truth * 1.05 + 1e-14


def partition_law(n, parts, values):
    """The law of the counts on parts (size, p) of a secret partition, given the values of the critical entry."""
    absent = [binomial_pair(size + 1, p)[1] for size, p in parts]
    laws = [(1 - Fraction(sum(size for size, _ in parts), n), absent)]
    for k, ((size, p), value) in enumerate(zip(parts, values, strict=True)):
        laws.append((Fraction(size, n), [*absent[:k], binomial_pair(size, p)[1 - value], *absent[k + 1 :]]))
    return {
        answers: sum(
            weight * math.prod(law.get(a, 0) for law, a in zip(each, answers, strict=True)) for weight, each in laws
        )
        for answers in itertools.product(*absent)
    }


def test_the_composition_of_dp_accounting_is_not_below_that_of_several_properties_on_several_tables():
    """Two tables that share only one person, each with counts of unrelated properties on its secret parts."""
    tables = [(4, [(2, Fraction(1, 3)), (1, Fraction(1, 2))]), (3, [(1, Fraction(1, 5)), (1, Fraction(2, 3))])]
    first, second = (
        interop.privacy_loss_distribution(
            sp.compose(
                [sp.PropertyQuery(p) for _, p in parts], sp.Population(n), sp.RandomPartition([s for s, _ in parts])
            ),
            interval=2.0**-5,
        )
        for n, parts in tables
    )
    both = first.compose(second)
    for values in itertools.product((0, 1), repeat=4):
        laws = [
            product(*(partition_law(n, parts, each) for (n, parts), each in zip(tables, halves, strict=True)))
            for halves in (
                (values[:2], values[2:]),
                tuple(tuple(1 - v for v in each) for each in (values[:2], values[2:])),
            )
        ]
        for epsilon in np.linspace(0, 3, 13):
            assert both.get_delta_for_epsilon(epsilon) >= sp.hockey_stick(*laws, epsilon).lower - 1e-14


@pytest.mark.campaign  # alone it notices that the real package composes otherwise
@pytest.mark.parametrize("curve", IN_PARTS.values(), ids=IN_PARTS.keys())
def test_what_dp_accounting_says_of_a_composition_is_not_below_it(curve):
    """Up to the rounding of its doubles: 1e-14 in a probability."""
    distribution = interop.privacy_loss_distribution(curve, interval=2.0**-4)
    for epsilon in np.linspace(0, 3, 13):
        assert (
            distribution.get_delta_for_epsilon(epsilon)
            >= float(curve.exact_delta(exp_epsilon=math.exp(epsilon))) - 1e-14
        )


def test_it_composes_with_a_gaussian_mechanism():
    """Σ_a P(a) δ_Gauss(ε − ln P(a)/Q(a)) is the truth, in doubles."""
    n, p, sigma, interval = 40, Fraction(1, 2), 5.0, 1e-3
    one, zero = binomial_pair(n, p)
    curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n))
    gaussian = peer.from_gaussian_mechanism(sigma, value_discretization_interval=interval)
    composed = interop.privacy_loss_distribution(curve, interval=interval).compose(gaussian)

    def normal_delta(epsilon):
        if epsilon < 0:
            return 1 - math.exp(epsilon) * (1 - normal_delta(-epsilon))
        return sp.differential.gaussian_delta(epsilon, mu=1 / sigma).midpoint

    for epsilon in (0.1, 0.5, 1.0):
        truth = sum(
            float(mass) * (normal_delta(epsilon - math.log(mass / zero[a])) if zero.get(a) else 1)
            for a, mass in one.items()
        )
        assert truth * (1 - 1e-9) < composed.get_delta_for_epsilon(epsilon) < truth * 1.001


def test_outputs_about_the_same_entries_are_not_a_product():
    """Randomised responses of all entries, then the exact count, reveal more than the two distributions say."""
    n, lie = 3, Fraction(1, 10)

    def law(critical):
        """The joint law of the count and the responses, by enumeration."""
        masses = {}
        for others in itertools.product((0, 1), repeat=n - 1):
            rows = (critical, *others)
            for responses in itertools.product((0, 1), repeat=n):
                truthful = sum(a == b for a, b in zip(rows, responses, strict=True))
                mass = Fraction(1, 2) ** (n - 1) * (1 - lie) ** truthful * lie ** (n - truthful)
                masses[sum(rows), responses] = masses.get((sum(rows), responses), 0) + mass
        return masses

    count = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(n))
    response = peer.from_randomized_response(2 * float(lie), 2, value_discretization_interval=1e-2)
    composed = interop.privacy_loss_distribution(count, interval=1e-2).compose(response)
    assert sp.hockey_stick(law(1), law(0), 3).lower > 1.05 * composed.get_delta_for_epsilon(3.0)


probabilities = st.lists(st.integers(0, 12), min_size=2, max_size=6).filter(any)


@settings(max_examples=cases(20, campaign=600), deadline=None)
@given(probabilities, probabilities, st.sampled_from([0.5, 0.1, 2.0**-7]), st.booleans())
def test_any_two_laws_are_bounded_from_either_side(first, second, interval, pessimistic):
    size = max(len(first), len(second))
    first, second = (
        [Fraction(m, sum(law)) for m in law] + [Fraction(0)] * (size - len(law)) for law in (first, second)
    )
    curve = sp.privacy_curve(interop.query_from_laws(first, second), sp.Population(1), pair=(1, 0))
    masses = ExactMasses(
        interop.privacy_loss_distribution(curve, interval=interval, pessimistic=pessimistic)._pmf_remove
    )
    for epsilon in (Fraction(k, 7) for k in range(-28, 29)):
        with flint.ctx.workprec(BITS):
            ratio = ball(epsilon).exp()
            truth = sum(
                (max(ball(a) - ratio * ball(b), flint.arb(0)) for a, b in zip(first, second, strict=True)), flint.arb(0)
            )
            excess = masses.hockey_stick(epsilon) - truth
        assert not (excess < 0 if pessimistic else excess > 0)


# --- arrays


@curves
def test_the_dominating_pair_dominates_as_the_doubles_it_is(curve):
    """At rational e^ε, against the exact value of δ, without rounding."""
    pair = interop.dominating_pair(curve, interval=2.0**-5)
    laws = [(Fraction(p), Fraction(q)) for p, q in zip(pair.P.tolist(), pair.Q.tolist(), strict=True)]
    for x in (Fraction(1), Fraction(101, 100), Fraction(3, 2), Fraction(20)):
        reached = sum(max(Fraction(0), p - x * q) for p, q in laws)
        assert reached >= curve.exact_delta(exp_epsilon=x)
    assert 1 <= sum(p for p, _ in laws) <= 1 + Fraction(len(laws), 2**52)
    assert sum(q for _, q in laws) <= 1
    assert pair.loss[-1] == math.inf
    assert pair.Q[-1] == 0
    assert np.all(np.diff(pair.loss) > 0)


def test_the_dominating_pair_is_that_of_the_distribution():
    curve = CURVES["one count"]
    pair = interop.dominating_pair(curve, interval=1e-2)
    masses = ExactMasses(interop.privacy_loss_distribution(curve, interval=1e-2)._pmf_remove)
    assert [Fraction(p) for p in pair.P[:-1].tolist()] == [masses.masses[index] for index in masses.indices]
    assert np.allclose(np.log(pair.P[:-1] / pair.Q[:-1]), pair.loss[:-1], rtol=0, atol=1e-15)


# --- refusals


def test_a_bound_has_no_optimistic_distribution():
    with pytest.raises(sp.ArgumentError, match="pessimistic = False: a curve of kind 'bound' says nothing from below"):
        interop.privacy_loss_distribution(CURVES["a bound"], pessimistic=False)


@pytest.mark.parametrize("interval", [0, -1e-4, 1.5, "1/10000"])
def test_intervals_that_are_no_doubles_up_to_one_are_refused(interval):
    with pytest.raises(sp.ArgumentError, match=f"interval = {interval}; a double above 0 and up to 1 is required"):
        interop.privacy_loss_distribution(CURVES["one count"], interval=interval)


def test_grids_that_are_too_long_are_refused():
    with pytest.raises(sp.ArgumentError, match="at most 1048576 are allowed; take a longer interval"):
        interop.privacy_loss_distribution(CURVES["one count"], interval=1e-9)


def test_a_truncation_is_needed_where_no_epsilon_is_the_last():
    normal = sp.privacy_curve(third.noisy(sp.noise.Gaussian(sigma=2)), sp.Population(5))
    with pytest.raises(sp.ArgumentError, match=r"truncation = 0: .* a truncation such as 1e-15 is required"):
        interop.privacy_loss_distribution(normal, truncation=0)


def test_what_is_no_curve_is_refused():
    with pytest.raises(sp.ArgumentError, match="curve = 3; a PrivacyCurve is required"):
        interop.privacy_loss_distribution(3)


def test_the_missing_extra_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "dp_accounting"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(sp.MissingExtraError, match=r"dp_accounting: pip install 'statpriv\[dp\]'"):
        interop.privacy_loss_distribution(CURVES["one count"])


@pytest.mark.parametrize(("costly", "losses"), [(False, 2000), (True, 100)])
@pytest.mark.parametrize(
    "curve",
    [
        sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(100)),
        sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(10**6)),
        sp.privacy_curve(
            sp.PropertyQuery(sp.Between("0.2", "0.6")), sp.Population(200), adversary=sp.Adversary(known=9)
        ),
        sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(400), pair=(1, 0)),
        sp.privacy_curve(sp.PropertyQuery("0.3").noisy(sp.noise.DiscreteLaplace(alpha="0.5")), sp.Population(60)),
    ],
)
def test_an_export_for_one_curve_dominates_it_closely_on_a_short_grid(curve, costly, losses, monkeypatch):
    monkeypatch.setattr(EvaluatedCurve, "is_costly", costly)
    distribution = sp.interop.to_dp_accounting(curve)
    interval = distribution._pmf_remove._discretization
    assert f"{interval:.0e}"[0] in "125"
    reach = curve.epsilon("1e-15").upper
    two_digits = 1.1 if costly else 1
    assert losses - 1e-6 <= two_digits * reach / interval < 2.6 * two_digits * losses
    directions = [curve] if curve.situation.pair is None else [curve, curve.reversed()]
    for share in (0.0123, 0.1234, 0.3333):
        truth = max(direction.delta(share * reach).upper for direction in directions)
        found = distribution.get_delta_for_epsilon(share * reach)
        assert truth * (1 - 1e-12) <= found <= truth + math.expm1(interval) / 4


def test_an_export_on_a_stated_grid_is_the_distribution_of_the_old_name():
    curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(100))
    ours, old = (
        sp.interop.to_dp_accounting(curve, interval=0.01),
        sp.interop.privacy_loss_distribution(curve, interval=0.01),
    )
    assert [ours.get_delta_for_epsilon(e) for e in (0, 0.05, 0.5)] == [
        old.get_delta_for_epsilon(e) for e in (0, 0.05, 0.5)
    ]


def test_a_curve_without_loss_is_exported_too():
    certain = sp.privacy_curve(sp.interop.query_from_laws([1], [1]), sp.Population(1))
    assert sp.interop.to_dp_accounting(certain).get_delta_for_epsilon(0.0) == pytest.approx(0, abs=1e-14)
