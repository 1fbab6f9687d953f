"""`Enclosure`, the only kind of number returned: what it supports, and what it refuses."""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import inf, nan, nextafter

import mpmath
import numpy as np
import pytest

import statpriv as sp

narrow = sp.Enclosure(0.25, 0.5)


def test_ends_width_and_midpoint():
    assert (narrow.lower, narrow.upper, narrow.width, narrow.midpoint) == (0.25, 0.5, 0.25, 0.375)


def test_one_end_is_enclosed_as_narrowly_as_doubles_allow():
    tenth = sp.Enclosure("0.1")
    assert Fraction(1, 10) in tenth
    assert tenth.upper == nextafter(tenth.lower, inf)
    assert sp.Enclosure(0.1).width == 0


@pytest.mark.parametrize(
    "end", [2, 2.0, Fraction(2), Decimal(2), "2", "4/2", mpmath.mpf(2), np.int64(2), np.float32(2)]
)
def test_ends_come_in_every_exact_kind(end):
    assert sp.Enclosure(end) == sp.Enclosure(2.0, 2.0)
    assert sp.Enclosure(1, end) == sp.Enclosure(1.0, 2.0)


def test_ends_are_rounded_outwards():
    third = Fraction(1, 3)
    around = sp.Enclosure(third, third)
    assert Fraction(around.lower) < third < Fraction(around.upper)


def test_a_number_beyond_the_doubles_is_enclosed_with_infinity():
    assert sp.Enclosure(10**400) == sp.Enclosure(np.finfo(float).max, inf)
    assert sp.Enclosure("1e-400") == sp.Enclosure(0, nextafter(0, 1))


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ((nan,), r"lower = nan is not finite"),
        ((0, nan), r"upper = nan is not finite"),
        ((2, 1), r"lower = 2 and upper = 1 do not bound an enclosure; lower ≤ upper is required"),
        ((None,), r"lower = None is not a number; a float, int, Fraction, Decimal or string"),
        (("one",), r'lower: "one" is not a number such as 0\.1, 1e-6 or 1/2'),
        ((True,), r"lower = True is a truth value; a number is required"),
        ((Decimal("nan"),), r"lower = Decimal\('NaN'\) is not finite"),
    ],
)
def test_what_does_not_bound_an_enclosure_is_refused(ends, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.Enclosure(*ends)


# --- not a number


@pytest.mark.parametrize("use", [float, complex, math.sqrt, lambda e: np.asarray(e, dtype=float)])
def test_it_is_not_a_float_and_says_which_end_is_safe(use):
    with pytest.raises(
        sp.NotASingleNumberError, match=r"no float value: use \.upper where .*delta.*\.lower where .*rows"
    ):
        use(narrow)


def test_it_has_no_truth_value():
    with pytest.raises(sp.NotASingleNumberError, match="no truth value"):
        bool(narrow)


@pytest.mark.parametrize("use", [int, round, abs, lambda e: e**2, lambda e: [0, 1][e]])
def test_other_ways_to_a_single_number_are_closed(use):
    with pytest.raises(TypeError):
        use(narrow)


def test_it_cannot_be_changed_or_subclassed():
    with pytest.raises(AttributeError):
        narrow.lower = 0.0
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Wider", (sp.Enclosure,), {})


# --- comparisons

ONE_TENTH: list[object] = [0.1, Fraction(1, 10), Decimal("0.1"), mpmath.mpf("0.1"), sp.Enclosure("0.1")]
ONE: list[object] = [1, 1.0, Fraction(1), Decimal(1), np.float64(1), np.int64(1), np.float32(1), sp.Enclosure(1), inf]
INSIDE: list[object] = [0.375, Fraction(3, 8), Decimal("0.375"), np.float32(0.375), sp.Enclosure(0.3, 0.4)]


@pytest.mark.parametrize("below", [*ONE_TENTH, 0, -inf, np.int64(0)])
def test_certainly_above(below):
    assert (narrow > below) is True
    assert (narrow >= below) is True
    assert (narrow < below) is False
    assert (narrow <= below) is False
    assert (below < narrow) is True


@pytest.mark.parametrize("above", ONE)
def test_certainly_below(above):
    assert (narrow < above) is True
    assert (narrow <= above) is True
    assert (narrow > above) is False
    assert (narrow >= above) is False
    assert (above > narrow) is True


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("sign", ["__lt__", "__le__", "__gt__", "__ge__"])
def test_an_open_comparison_is_undecided(inside, sign):
    with pytest.raises(sp.UndecidedError, match=r"\[0\.25, 0\.5\] cannot be told from .*: more digits are needed"):
        getattr(narrow, sign)(inside)


def test_comparisons_at_the_ends():
    assert (narrow <= 0.5, narrow >= 0.25, narrow > 0.5, narrow < 0.25) == (True, True, False, False)
    for undecided in (lambda: narrow < 0.5, lambda: narrow > 0.25, lambda: narrow >= 0.5, lambda: narrow <= 0.25):
        with pytest.raises(sp.UndecidedError):
            undecided()


def test_comparisons_are_exact():
    point, next_to_it = sp.Enclosure(0.1), Fraction(0.1) + Fraction(1, 2**3000)
    assert (point < next_to_it, point > next_to_it) == (True, False)
    assert sp.Enclosure(2.0**60) < 2**60 + 1


def test_infinity_compares():
    infinite = sp.Enclosure(inf)
    assert (infinite >= inf, infinite <= inf, infinite < inf, infinite > 10**400) == (True, True, False, True)
    with pytest.raises(sp.UndecidedError):
        _ = sp.Enclosure(1, inf) < inf


@pytest.mark.parametrize("infinite", [Decimal("Infinity"), mpmath.inf, np.float32(inf)])
def test_infinity_compares_in_every_kind(infinite):
    assert (narrow < infinite) is True


def test_nan_compares_with_nothing():
    with pytest.raises(sp.ArgumentError, match="nan is not finite"):
        narrow.__lt__(nan)


@pytest.mark.parametrize("other", ["0.5", None, [0.5], object()])
def test_what_is_no_number_does_not_compare(other):
    with pytest.raises(TypeError, match="not supported between instances"):
        _ = narrow < other


# --- membership


@pytest.mark.parametrize(
    "x",
    [0.25, 0.5, Fraction(1, 3), Decimal("0.3"), "1/3", "0.3", mpmath.mpf("0.3"), np.float32(0.3), sp.Enclosure("0.3")],
)
def test_members(x):
    assert x in narrow


@pytest.mark.parametrize("x", [0.2, 1, "3/5", Decimal("-0.3"), np.int64(1), inf, -inf, sp.Enclosure(0.3, 0.6), 10**400])
def test_not_members(x):
    assert x not in narrow


def test_membership_is_exact_next_to_an_end():
    smallest = Fraction(1, 2**3000)
    assert Fraction(0.5) in narrow
    assert Fraction(0.5) + smallest not in narrow
    assert Fraction(0.25) - smallest not in narrow


@pytest.mark.parametrize("digits", [15, 50, 1000])
def test_an_mpf_is_a_member_at_its_own_precision(digits):
    with mpmath.workdps(digits):
        third = mpmath.mpf(1) / 3
        above = mpmath.mpf("0.5") + mpmath.mpf(10) ** (1 - digits)
    with mpmath.workdps(3):
        assert third in sp.Enclosure("1/3") or digits == 15
        assert third in narrow
        assert above not in narrow


@pytest.mark.parametrize(
    ("x", "message"),
    [("x", "is not a number"), (None, "x = None is not a number"), (nan, "nan is not finite"), (True, "truth")],
)
def test_what_is_no_number_is_no_candidate(x, message):
    with pytest.raises(sp.ArgumentError, match=message):
        _ = x in narrow


def test_infinity_may_be_a_member():
    infinite, half = sp.Enclosure(inf, inf), sp.Enclosure(1, inf)
    assert inf in infinite
    assert inf in half
    assert 10**400 in half
    assert 10**400 not in infinite
    assert (infinite.width, half.width) == (0, inf)


@pytest.mark.parametrize("ends", [(1, inf), (inf, inf), (-inf, 0), (-inf, inf)])
def test_no_midpoint_with_an_infinite_end(ends):
    with pytest.raises(sp.ArgumentError, match=r"has no midpoint: an end is infinite"):
        _ = sp.Enclosure(*ends).midpoint


def test_the_midpoint_is_inside_at_the_edges_of_the_doubles():
    largest, smallest = np.finfo(float).max, nextafter(0, 1)
    assert sp.Enclosure(largest).midpoint == largest
    assert sp.Enclosure(-largest, largest).midpoint == 0
    assert sp.Enclosure(smallest).midpoint == smallest


# --- arithmetic


@pytest.mark.parametrize(
    "two", [2, 2.0, Fraction(2), Decimal(2), mpmath.mpf(2), np.float32(2), np.float64(2), np.int64(2)]
)
def test_arithmetic_with_every_exact_kind_from_both_sides(two):
    assert narrow + two == two + narrow == sp.Enclosure(2.25, 2.5)
    assert narrow - two == sp.Enclosure(-1.75, -1.5)
    assert two - narrow == sp.Enclosure(1.5, 1.75)
    assert narrow * two == two * narrow == sp.Enclosure(0.5, 1)
    assert narrow / two == sp.Enclosure(0.125, 0.25)
    assert two / narrow == sp.Enclosure(4, 8)


def test_signs():
    assert -narrow == sp.Enclosure(-0.5, -0.25)
    assert +narrow == narrow
    assert narrow * -1 == -narrow
    assert sum([narrow, narrow]) == sp.Enclosure(0.5, 1)


def test_products_of_mixed_signs():
    assert sp.Enclosure(-2, 3) * sp.Enclosure(-5, 7) == sp.Enclosure(-15, 21)


def test_an_enclosure_does_not_know_that_it_is_the_same_number():
    assert narrow - narrow == sp.Enclosure(-0.25, 0.25)


def test_infinite_results_are_whole_lines_not_nan():
    whole = sp.Enclosure(-inf, inf)
    assert sp.Enclosure(inf) - sp.Enclosure(inf) == whole
    assert 1 / sp.Enclosure(-1, 1) == whole
    assert 0 in 1 / sp.Enclosure(1, inf)
    assert sp.Enclosure(1e308) * 10 == sp.Enclosure(np.finfo(float).max, inf)


@pytest.mark.parametrize("other", ["0.1", None, [1], 1j])
def test_arithmetic_with_what_is_no_number(other):
    for operation in (lambda: narrow + other, lambda: other - narrow, lambda: narrow / other):
        with pytest.raises(TypeError, match=r"unsupported operand|can only concatenate"):
            operation()


@pytest.mark.parametrize(
    ("other", "message"),
    [(nan, "nan is not finite"), (Decimal("sNaN"), "is not finite"), (True, "True is a truth value")],
)
def test_arithmetic_with_nan_and_truth_values(other, message):
    with pytest.raises(sp.ArgumentError, match=message):
        _ = narrow + other


# --- numpy


@pytest.mark.parametrize(
    "mix",
    [
        lambda a, e: a + e,
        lambda a, e: e + a,
        lambda a, e: a * e,
        lambda a, e: e / a,
        lambda a, e: a < e,
        lambda a, e: e < a,
        np.add,
        np.maximum,
        np.less,
    ],
)
@pytest.mark.parametrize("array", [np.array([1.0, 2.0]), np.array(1.0), np.array([1, 2])])
def test_arrays_do_not_mix(mix: Callable[[object, object], object], array):
    with pytest.raises(TypeError):
        mix(array, narrow)


def test_an_array_is_never_equal_to_an_enclosure_element_by_element():
    array = np.array([0.25, 0.5])
    assert (array == narrow) is False
    assert (array == narrow) is (narrow == array)
    with pytest.raises(sp.ArgumentError, match="is not a number"):
        _ = array in narrow


def test_an_object_array_does_not_turn_into_floats():
    with pytest.raises(sp.NotASingleNumberError):
        np.array([narrow, narrow]).astype(float)


# --- value semantics


def test_equality_is_structural():
    assert sp.Enclosure(0.25, 0.5) == narrow
    assert sp.Enclosure(0.25, nextafter(0.5, 1)) != narrow
    assert narrow != (0.25, 0.5)
    assert sp.Enclosure(1) != 1, "an enclosure is not a number, even if it is a point"


def test_hash_goes_with_equality():
    assert hash(sp.Enclosure("1/4", "1/2")) == hash(narrow)
    assert hash(sp.Enclosure(0.0)) == hash(sp.Enclosure(-0.0))
    assert sp.Enclosure(0.0) == sp.Enclosure(-0.0)
    assert len({narrow, sp.Enclosure(0.25, 0.5), sp.Enclosure(0.25)}) == 2


@pytest.mark.parametrize(
    "ends",
    [(0.25, 0.5), (0, 0), (-1e300, 1e-300), (nextafter(0, 1), 1e22), (1, inf), (inf, inf), (-inf, inf), (1e16, 1e17)],
)
def test_copies_and_repr_round_trip(ends, copies, read_back):
    value = sp.Enclosure(*ends)
    assert all(copied == value for copied in copies(value))
    assert read_back(repr(value)) == value
    assert (value.lower, value.upper) == ends


def test_repr_and_str():
    assert repr(sp.Enclosure(0.1, inf)) == "Enclosure(0.1, float('inf'))"
    assert str(sp.Enclosure(-inf, 0.1)) == f"{sp.Enclosure(-inf, 0.1)}" == "[-inf, 0.1]"
