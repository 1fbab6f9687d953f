"""What repeats a question costs once."""

from fractions import Fraction

import statpriv as sp
from statpriv.curves.remembered import remembered_delta


def curve():
    return sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(100))


def test_a_curve_that_is_built_again_is_not_evaluated_again():
    epsilon = Fraction(1, 10)
    first = remembered_delta(curve(), epsilon)
    assert remembered_delta(curve(), epsilon) is first
    assert first == curve().delta(epsilon)


def test_other_curves_and_other_epsilons_have_numbers_of_their_own():
    epsilon = Fraction(1, 10)
    larger = sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(101))
    assert remembered_delta(larger, epsilon) == larger.delta(epsilon) != remembered_delta(curve(), epsilon)
    assert remembered_delta(curve(), 2 * epsilon) == curve().delta(2 * epsilon)
