"""An enclosure with digits is an Enclosure: exact members, exact arithmetic, decided comparisons, copies."""

import copy
import pickle
import subprocess
import sys
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import statpriv as sp

curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024))
many = curve.delta("0.005", digits=50)
other = curve.delta("0.01", digits=30)


def exact(end) -> Fraction:
    sign, mantissa, exponent, _ = end._mpf_
    return (-1) ** sign * int(mantissa) * Fraction(2) ** int(exponent)


lower, upper = exact(many.lower), exact(many.upper)


def test_it_is_an_enclosure_with_mpmath_ends():
    assert isinstance(many, sp.Enclosure)
    assert type(many.lower) is type(many.upper) is mpmath.mpf
    assert exact(many.width) == upper - lower <= Fraction(1, 10**50) * lower
    assert exact(many.midpoint) == (lower + upper) / 2


@pytest.mark.parametrize("precision", [5, 500])
def test_nothing_depends_on_the_precision_of_mpmath(precision):
    with mpmath.workprec(precision):
        again = curve.delta("0.005", digits=50)
        assert exact(again.lower) == lower
        assert exact(again.upper) == upper
        assert many.midpoint in many


def test_members_are_decided_exactly():
    tiny = Fraction(1, 10**100)
    assert lower in many
    assert upper in many
    assert lower - tiny not in many
    assert upper + tiny not in many
    assert many in curve.delta("0.005")
    assert curve.delta("0.005") not in many
    assert 0.5 not in many


def test_comparisons_are_exact_or_undecided():
    assert many < upper + Fraction(1, 10**100)
    assert many <= upper
    assert not many > upper
    assert lower <= many
    assert many > 0.02
    assert other < many
    with pytest.raises(sp.UndecidedError, match="more digits are needed"):
        _ = many < (lower + upper) / 2
    with pytest.raises(sp.UndecidedError):
        _ = many < curve.delta("0.005")


def test_sums_differences_and_products_are_exact():
    c, d = exact(other.lower), exact(other.upper)
    for result, low, high in [
        (many + other, lower + c, upper + d),
        (many - other, lower - d, upper - c),
        (many * other, lower * c, upper * d),
        (-many, -upper, -lower),
        (1 - many, 1 - upper, 1 - lower),
        (many * 3, 3 * lower, 3 * upper),
        (0.5 + many, lower + Fraction(1, 2), upper + Fraction(1, 2)),
    ]:
        assert (exact(result.lower), exact(result.upper)) == (low, high)


def test_quotients_are_rounded_outwards_at_the_precision_of_the_operands():
    for result, low, high in [(many / 3, lower / 3, upper / 3), (1 / many, 1 / upper, 1 / lower)]:
        assert exact(result.lower) <= low <= high <= exact(result.upper)
        assert exact(result.width) <= (high - low) + Fraction(1, 10**50) * high
    third = many + Fraction(1, 3)
    assert lower + Fraction(1, 3) in third
    assert upper + Fraction(1, 3) in third


def test_doubles_and_digits_combine_to_digits():
    difference = many - curve.delta("0.005")
    assert type(difference.lower) is mpmath.mpf
    assert 0 in difference
    assert 0 in curve.delta("0.005") - many


def test_equality_hash_and_copies():
    for same in (copy.copy(many), copy.deepcopy(many), pickle.loads(pickle.dumps(many)), +many):  # noqa: S301  (own pickle)
        assert same == many
        assert hash(same) == hash(many)
    assert many != other
    assert many != curve.delta("0.005")
    assert curve.delta("0.005") != many
    infinite = curve.epsilon(0, digits=30)
    assert pickle.loads(pickle.dumps(infinite)) == infinite  # noqa: S301  (own pickle)


def test_it_is_shown_in_decimal_rounded_outwards():
    shown = eval(repr(many), {"Enclosure": sp.Enclosure, "float": float})  # noqa: S307  (a repr of this very process)
    assert many in shown
    low, high = (Fraction(end) for end in str(many).strip("[]").split(", "))
    assert low <= lower < upper <= high
    assert high - low <= Fraction(1, 10**51)
    assert str(curve.epsilon(0, digits=30)) == "[inf, inf]"


def test_it_is_no_single_number():
    for convert in (float, bool):
        with pytest.raises(sp.NotASingleNumberError, match=r"use \.upper"):
            convert(many)
    with pytest.raises(TypeError):
        np.array([1.0]) + many
    with pytest.raises(sp.ArgumentError, match="has no midpoint"):
        _ = curve.epsilon(0, digits=30).midpoint


@pytest.mark.parametrize("digits", [0, -1, 10_001, 2.5, "x"])
def test_a_number_of_digits_is_an_integer_in_reach(digits):
    with pytest.raises(sp.ArgumentError, match="digits"):
        curve.delta("0.005", digits=digits)


def test_satisfies_asks_for_as_many_digits_as_it_takes():
    for places, verdict in [(25, True), (45, True), (95, True)]:
        with mpmath.workdps(200):
            close = exact(curve.delta("0.005", digits=120).midpoint) * (1 + Fraction(1, 10**places))
        assert curve.satisfies(epsilon="0.005", delta=close) is verdict
    with pytest.raises(sp.UndecidedError, match="more than 100 digits are needed"):
        curve.satisfies(epsilon="0.005", delta=exact(curve.delta("0.005", digits=150).midpoint))


def test_mpmath_is_loaded_for_digits_alone():
    script = (
        "import sys, statpriv as sp; c = sp.privacy_curve(sp.PropertyQuery('1/2'), sp.Population(100)); c.delta(1); "
        "before = 'mpmath' in sys.modules; c.delta(1, digits=20).lower; print(before, 'mpmath' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
