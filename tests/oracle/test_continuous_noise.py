"""Answers with continuous noise, against the integral of the positive part, without closed forms.

The oracle locates the sign changes of the difference of the densities on a grid and by bisection. python-flint then
integrates between them. The error of a place enters squared, so 30 digits of δ need no more than 20 digits of a place.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import comb

import pytest
from flint import acb, arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv._native import Curve, Law

from ..cases import cases

Table = dict[int, Fraction]
"""The probability of each answer."""

ERROR = Fraction(1, 10**28)
STEPS = 24
"""Grid points between two answers, more than the sign changes there for small laws. Wide Gaussian noise has fewer."""


def exactly(x: Fraction | float) -> arb:
    ratio = Fraction(x)
    return arb(fmpq(ratio.numerator, ratio.denominator))


def binomial(trials: int, p: Fraction, shift: int = 0) -> Table:
    return {k + shift: comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)}


def kernel_law(table: Table) -> Law:
    least, most = min(table), max(table)
    return Law.table(least, [table.get(k, Fraction(0)) for k in range(least, most + 1)])


class Oracle:
    """The curve of two tables with Laplace noise (`scale`) or Gaussian noise (`sigma`)."""

    def __init__(self, first: Table, second: Table, *, scale: Fraction | None = None, sigma: Fraction | None = None):
        self.tables = (first, second)
        self.scale, self.sigma = scale, sigma
        self.answers = sorted({*first, *second})

    def noise(self, x: acb, inside: Fraction) -> acb:
        """The density at `x`. The sign of `inside` selects the side of zero, where Laplace noise is not analytic."""
        if self.sigma is not None:
            sigma = exactly(self.sigma)
            return (-((x / sigma) ** 2) / 2).exp() / (sigma * (2 * arb.pi()).sqrt())
        assert self.scale is not None
        scale = exactly(self.scale)
        return ((-x if inside > 0 else x) / scale).exp() / (2 * scale)

    def density(self, x: acb, inside: Fraction, ratio: arb) -> acb:
        first, second = self.tables
        total = acb(0)
        for k in self.answers:
            gap = exactly(first.get(k, Fraction(0))) - ratio * exactly(second.get(k, Fraction(0)))
            total += gap * self.noise(x - k, inside - k)
        return total

    def sign_at(self, x: Fraction, ratio: arb) -> int:
        value = self.density(acb(exactly(x)), x, ratio).real
        return 1 if value > 0 else -1 if value < 0 else 0

    def places(self, epsilon: Fraction) -> list[Fraction]:
        """Ends, answers and sign changes. Between two neighbours, the difference is analytic and of one sign."""
        ratio = exactly(epsilon).exp()
        size = self.sigma if self.sigma is not None else self.scale
        assert size is not None
        # The mass beyond the ends is below e^-75. With Laplace noise, the sign does not change outside the
        # answers.
        reach = 75 * size if self.sigma is None else 13 * size + epsilon * size**2 + len(self.answers)
        start, end = self.answers[0] - reach, self.answers[-1] + reach
        low, high = (start, end) if self.scale is None else (self.answers[0], self.answers[-1])
        step = Fraction(1, STEPS) if self.scale is not None else max(Fraction(1, STEPS), size / 8)
        grid = [low + k * step for k in range(int((high - low) / step) + 1)] + [high]
        places = [start, *(Fraction(k) for k in self.answers), end]
        signs = [self.sign_at(x, ratio) for x in grid]
        for (low, high), (before, after) in zip(pairwise(grid), pairwise(signs), strict=True):
            if before * after < 0:
                places.append(self.bisected(low, high, before, ratio))
            elif after == 0:
                places.append(high)
        return sorted(set(places))

    def bisected(self, low: Fraction, high: Fraction, before: int, ratio: arb) -> Fraction:
        for _ in range(80):
            middle = (low + high) / 2
            if self.sign_at(middle, ratio) == before:
                low = middle
            else:
                high = middle
        return low

    def delta(self, epsilon: Fraction) -> Fraction:
        """δ with an absolute error of about 1e-30."""
        ctx.prec = 220
        ratio = exactly(epsilon).exp()
        total = arb(0)
        for low, high in pairwise(self.places(epsilon)):
            middle = (low + high) / 2
            if self.sign_at(middle, ratio) > 0:
                piece = acb.integral(
                    lambda x, _, middle=middle: self.density(x, middle, ratio), exactly(low), exactly(high)
                )
                total += piece.real
        assert total.rad() < arb(10) ** -30
        mantissa, exponent = (int(x) for x in total.mid().man_exp())
        return Fraction(mantissa) * Fraction(2) ** exponent


def check(first: Table, second: Table, epsilon: Fraction, **noise: Fraction) -> None:
    names = {"scale": "laplace_scale", "sigma": "gaussian_sigma"}
    curve = Curve.smoothed(kernel_law(first), kernel_law(second), **{names[key]: x for key, x in noise.items()})
    truth = Oracle(first, second, **noise).delta(epsilon)
    found = curve.delta(epsilon)
    assert Fraction(found.lower) - ERROR <= truth <= Fraction(found.upper) + ERROR, (found, float(truth))
    assert found.width <= 1e-14 * max(float(truth), 1e-14)


SIZES = st.fractions(Fraction(1, 4), 8, max_denominator=6)
EPSILONS = st.fractions(0, 2, max_denominator=8)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """The probabilities of a few answers."""
    weights = draw(st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any))
    first = draw(st.integers(-2, 2))
    return {first + k: Fraction(weight, sum(weights)) for k, weight in enumerate(weights)}


@given(tables(), tables(), SIZES, EPSILONS)
@settings(max_examples=cases(13, campaign=400), deadline=None)
def test_laplace_noise_on_any_two_laws(first: Table, second: Table, scale: Fraction, epsilon: Fraction) -> None:
    check(first, second, epsilon, scale=scale)


@given(st.integers(0, 6), st.fractions("0.05", "0.95", max_denominator=20), SIZES, EPSILONS, st.booleans())
@settings(max_examples=cases(13, campaign=400), deadline=None)
def test_noise_on_counts(others: int, p: Fraction, size: Fraction, epsilon: Fraction, upwards: bool) -> None:
    laws = (binomial(others, p, 1), binomial(others, p))
    first, second = laws if upwards else laws[::-1]
    check(first, second, epsilon, scale=size)
    check(first, second, epsilon, sigma=size)


@given(tables(), SIZES, EPSILONS)
@settings(max_examples=cases(13, campaign=400), deadline=None)
def test_gaussian_noise_on_other_laws_is_enclosed_or_refused(first: Table, sigma: Fraction, epsilon: Fraction) -> None:
    second = binomial(3, Fraction(1, 3))
    ctx.prec = 200
    ratio = exactly(epsilon).exp()
    gaps = (exactly(first.get(k, Fraction(0))) - ratio * exactly(second.get(k, Fraction(0))) for k in range(-2, 8))
    changes = sum(a * b < 0 for a, b in pairwise(gap for gap in gaps if gap != 0))
    if changes > 1:
        with pytest.raises(sp.PrecisionError, match=r"crosses e\^epsilon more than once, .* Laplace or discrete noise"):
            Curve.smoothed(kernel_law(first), kernel_law(second), gaussian_sigma=sigma).delta(epsilon)
    else:
        check(first, second, epsilon, sigma=sigma)


@pytest.mark.parametrize("epsilon", ["0", "0.01", "0.3", "1", "2.5", "7"])
@pytest.mark.parametrize("size", ["0.3", "1", "7/3", "40"])
def test_without_others_it_is_the_noise_alone(size: str, epsilon: str) -> None:
    one, zero = Law.table(1, [1]), Law.table(0, [1])
    gaussian = Curve.smoothed(one, zero, gaussian_sigma=size).delta(epsilon)
    known = sp.differential.gaussian_delta(epsilon, mu=1 / Fraction(size))
    assert gaussian.lower <= known.upper
    assert known.lower <= gaussian.upper
    assert gaussian.upper < 1e-300 or gaussian.width <= 1e-14 * gaussian.upper
    laplace = Curve.smoothed(one, zero, laplace_scale=size).delta(epsilon)
    ctx.prec = 200
    closed = 1 - ((exactly(Fraction(epsilon)) - 1 / exactly(Fraction(size))) / 2).exp()
    if Fraction(epsilon) >= 1 / Fraction(size):
        assert (laplace.lower, laplace.upper) == (0, 0)
    else:
        assert arb(laplace.lower) <= closed <= arb(laplace.upper)
        assert laplace.width <= 1e-14 * laplace.upper


@pytest.mark.parametrize("n", [2, 30, 1000, 10**6])
@pytest.mark.parametrize("size", ["1/1000", "0.5", 3, 50])
@pytest.mark.parametrize("shift", [1, -1])
def test_noise_on_a_count_adds_to_what_the_others_hide(n: int, size: str | int, shift: int) -> None:
    """δ is at most that of the data alone and that of the noise alone, and its enclosure is narrow at any size."""
    others = Law.binomial(n - 1, "0.3")
    laws = (others.shifted(1), others) if shift == 1 else (others, others.shifted(1))
    points = (Law.table(1, [1]), Law.table(0, [1]))
    for noise in ({"laplace_scale": size}, {"gaussian_sigma": size}):
        for epsilon in ("0", "0.001", "0.01", "0.05"):
            delta = Curve.smoothed(*laws, **noise).delta(epsilon)
            assert delta.lower <= Curve.answers(*laws).delta(epsilon).upper
            assert delta.lower <= Curve.smoothed(*points, **noise).delta(epsilon).upper
            assert delta.width <= 1e-12 * delta.upper, (noise, epsilon)


def test_noise_is_given_once_and_positive() -> None:
    law = Law.binomial(3, "0.5")
    for noise in ({}, {"laplace_scale": 1, "gaussian_sigma": 1}):
        with pytest.raises(sp.ArgumentError, match="either laplace_scale or gaussian_sigma is required"):
            Curve.smoothed(law, law, **noise)
    with pytest.raises(sp.ArgumentError, match="laplace_scale = 0; a number above 0 is required"):
        Curve.smoothed(law, law, laplace_scale=0)
    with pytest.raises(sp.ArgumentError, match="gaussian_sigma = -1; a number above 0 is required"):
        Curve.smoothed(law, law, gaussian_sigma=-1)
