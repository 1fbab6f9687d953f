"""The masses stay on their side of the curve, however wide its enclosures are."""

import math
from fractions import Fraction

import flint
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.interop.exact_masses import BITS, ball

from statpriv.interop.grid import bits_for, double_above, double_below, grid
from statpriv.interop.loss_masses import masses_above, masses_below

from ..cases import cases

laws = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)
mostly_narrow = st.sampled_from([0, 0, 0, 0, 1, 9])
widths = st.lists(st.tuples(mostly_narrow, mostly_narrow), min_size=41, max_size=41)


def floor_of(value: flint.arb) -> int:
    return int(value.floor().lower().floor().unique_fmpz())


def hockey_stick(first, second, x: flint.arb) -> flint.arb:
    return sum((max(ball(a) - x * ball(b), flint.arb(0)) for a, b in zip(first, second, strict=True)), flint.arb(0))


@settings(max_examples=cases(26, campaign=800), deadline=None, phases=[Phase.reuse, Phase.generate])
@given(laws, laws, widths, st.integers(0, 4), st.sampled_from([Fraction(1, 4), Fraction(0.1), Fraction(1, 64)]))
def test_masses_from_wide_enclosures_stay_on_their_side(first, second, widths, coarseness, step):
    first, second = ([Fraction(m, sum(law)) for m in law] for law in (first, second))
    points = grid(step, -20, 20, bits_for(20 * step) + 64)
    width = Fraction(1, 10 ** (3 * coarseness + 2))
    with flint.ctx.workprec(BITS):
        xs = [(ball(step) * index).exp() for index in range(-20, 21)]
        truths = [hockey_stick(first, second, x) for x in xs]
        one = ball(points.one)
        lower = [floor_of(t * one * ball(1 - a * width)) for t, (a, _) in zip(truths, widths, strict=True)]
        upper = [floor_of(t * one * ball(1 + b * width)) + 1 for t, (_, b) in zip(truths, widths, strict=True)]
        limit = double_below(sum((a for a, b in zip(first, second, strict=True) if b == 0), Fraction(0)))
        other = double_below(sum((b for a, b in zip(first, second, strict=True) if a == 0), Fraction(0)))
        below = masses_below(points, lower, upper, (limit, other))
        above = masses_above(points, upper)
        assert all(mass > 0 for masses in (above, below) for mass in masses.finite.values())
        for x in [flint.arb(0), *((ball(step) * k / 5).exp() for k in range(-150, 151, 3))]:
            truth = hockey_stick(first, second, x)
            reached = [
                sum(
                    (max(ball(m) * (1 - x * (-ball(step) * i).exp()), flint.arb(0)) for i, m in masses.finite.items()),
                    ball(masses.infinity),
                )
                for masses in (below, above)
            ]
            assert not reached[0] > truth
            assert not reached[1] < truth


@given(st.fractions(0, 10))
def test_doubles_are_the_nearest_on_their_side(value):
    below, above = double_below(value), double_above(value)
    assert Fraction(below) <= value <= Fraction(above)
    assert above in (below, math.nextafter(below, math.inf))


@settings(deadline=None)
@given(st.fractions(Fraction(1, 10**6), 1), st.integers(0, 30), st.integers(0, 30))
def test_the_grid_encloses_the_exponential_tightly(step, below, above):
    points = grid(step, -below, above, bits_for(30 * step))
    with flint.ctx.workprec(BITS):
        for index in range(-below, above + 1):
            truth = (ball(step) * index).exp() * ball(points.one)
            low, high = points.low[index + below], points.high[index + below]
            assert not ball(low) > truth
            assert not ball(high) < truth
            assert high - low <= 200 * (abs(index) + 1) * max(1, high // points.one)
