"""User input is the exact rational it denotes, or is refused with a sentence."""

import sys
from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import mpmath
import numpy as np
import pytest

import statpriv as sp
from statpriv.numeric.exact import as_count, as_fraction, as_probability
from statpriv.numeric.literals import show

TENTH = Fraction(1, 10)


@pytest.mark.parametrize(
    "text",
    ["0.1", ".1", "1e-1", "1E-1", "10e-2", "+0.10", "1/10", " 1/10 ", "1 / 10", "0.1/1", "1e5/1e6", "\t0.1\n", "00.1"],
)
def test_a_string_is_exactly_what_it_says(text):
    assert as_fraction(text, "x") == TENTH


@pytest.mark.parametrize("value", [TENTH, Decimal("0.1"), np.str_("0.1")])
def test_other_exact_tenths(value):
    assert as_fraction(value, "x") == TENTH


def test_a_float_is_the_rational_it_stores():
    assert as_fraction(0.1, "x") == Fraction(0.1) != TENTH
    assert sp.PropertyQuery(0.1) != sp.PropertyQuery("0.1")


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (3, Fraction(3)),
        (-3, Fraction(-3)),
        (0.0, Fraction(0)),
        (-0.0, Fraction(0)),
        (5e-324, Fraction(1, 2**1074)),
        (1.7976931348623157e308, Fraction(1.7976931348623157e308)),
        ("1/3", Fraction(1, 3)),
        ("1/-3", Fraction(-1, 3)),
        ("-1/3", Fraction(-1, 3)),
        ("0/5", Fraction(0)),
        ("1e-300", Fraction(1, 10**300)),
        ("-2.50", Fraction(-5, 2)),
        ("5.", Fraction(5)),
        (Decimal("1E+3"), Fraction(1000)),
        (Decimal("-0.00"), Fraction(0)),
        (10**400, Fraction(10**400)),
        (-(2**63), Fraction(-(2**63))),
        (2**63, Fraction(2**63)),
        (Fraction(10**400, 10**401 + 7), Fraction(10**400, 10**401 + 7)),
        (np.float64(0.1), Fraction(0.1)),
        (np.float32(0.1), Fraction(13421773, 2**27)),
        (np.float16(0.5), Fraction(1, 2)),
        (np.longdouble(0.5), Fraction(1, 2)),
        (np.int64(-3), Fraction(-3)),
        (np.uint8(3), Fraction(3)),
        (np.uint64(2**63), Fraction(2**63)),
        (mpmath.mpf("0.375"), Fraction(3, 8)),
        (mpmath.mpf(-(2**70)), Fraction(-(2**70))),
        (mpmath.mpf(0), Fraction(0)),
    ],
)
def test_every_kind_of_number(value, exact):
    assert as_fraction(value, "x") == exact


def test_huge_integers():
    for huge in (10**5000, -(10**5000), 2**100_000 + 1):
        assert as_fraction(huge, "x").numerator == huge
    assert as_fraction("9" * 5000, "x").numerator == 10**5000 - 1


def test_an_mpf_is_exact_whatever_the_global_precision():
    with mpmath.workdps(60):
        third = mpmath.mpf(1) / 3
    exact = as_fraction(third, "x")
    with mpmath.workdps(4):
        assert as_fraction(third, "x") == exact
    assert 0 < abs(exact - Fraction(1, 3)) < Fraction(1, 10**60)


@pytest.mark.parametrize("value", [nan, inf, -inf, np.float32(nan), np.float64(inf), Decimal("NaN"), Decimal("sNaN")])
def test_what_is_not_finite_is_refused(value):
    with pytest.raises(sp.ArgumentError, match=r"^p = .*(nan|NaN|inf).* is not finite; a finite number is required$"):
        as_fraction(value, "p")


@pytest.mark.parametrize("value", [Decimal("-Infinity"), mpmath.mpf("inf"), mpmath.mpf("nan"), np.longdouble("-inf")])
def test_what_is_not_finite_is_refused_in_other_kinds(value):
    with pytest.raises(sp.ArgumentError, match=r"^p = .* is not finite; a finite number is required$"):
        as_fraction(value, "p")


@pytest.mark.parametrize("value", [True, False])
def test_truth_values_are_refused(value):
    with pytest.raises(sp.ArgumentError, match=rf"^p = {value} is a truth value; a number is required$"):
        as_fraction(value, "p")


class HasRatio:
    """An object that looks like a number but is not one."""

    def as_integer_ratio(self):
        return "one", "two"


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        (),
        {},
        b"0.1",
        1j,
        object(),
        np.array([0.1]),
        np.array(0.1),
        np.True_,
        mpmath.mpc(1),
        print,
        Ellipsis,
        range(3),
    ],
)
def test_junk_is_refused(value):
    with pytest.raises(
        sp.ArgumentError, match=r"^p = .* is not a number; a float, int, Fraction, Decimal or string such as"
    ):
        as_fraction(value, "p")


@pytest.mark.parametrize("value", [float, Fraction, HasRatio()])
def test_what_only_looks_like_a_number_is_refused(value):
    with pytest.raises(sp.ArgumentError, match="is not a number"):
        as_fraction(value, "p")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "one",
        "e5",
        "1e",
        "1e1.5",
        "0x10",
        "1_000",
        "1,5",
        "nan",
        "inf",
        "-inf",
        "1//2",
        "1/0",
        "1/",
        "/2",
        "1/2/3",
        "٣",
        "--1",
        "+-1",
        "1e99999999999999999999",
        "0.1\x00",
        "½",
        "1 000",
        "1e+-5",
        "1e--5",
    ],
)
def test_what_reads_as_no_number_is_refused(text):
    with pytest.raises(sp.ArgumentError, match=r'^p: ".*" is not a number such as 0\.1, 1e-6 or 1/2(; write 1\.5)?$'):
        as_fraction(text, "p")


def test_a_long_text_is_not_repeated_in_full():
    for text in ("a" * 150_000, "9" * 250_000):
        with pytest.raises(sp.ArgumentError) as refused:
            as_fraction(text, "p")
        assert str(refused.value).startswith("p")
        assert len(str(refused.value)) < 1000


@pytest.mark.parametrize(
    "value",
    [
        "1e999999999",
        "1e-999999999",
        "1/1e999999999",
        Decimal("1e999999"),
        Decimal("1e-999999"),
        mpmath.ldexp(mpmath.mpf(1), 10**9),
        mpmath.ldexp(mpmath.mpf(1), -(10**9)),
        mpmath.ldexp(mpmath.mpf(1), 10**7),
    ],
)
def test_huge_exponents_are_refused_before_they_are_written_out(value):
    """Writing out such a number would take minutes and gigabytes."""
    with pytest.raises(sp.ArgumentError, match="exponent"):
        as_fraction(value, "p")


# --- counts


@pytest.mark.parametrize(
    "value", [3, 3.0, "3", "6/2", "3.0", "0.3e1", Fraction(3), Decimal("3.00"), np.int64(3), np.float32(3)]
)
def test_an_integer_counts_whatever_its_type(value):
    counted = as_count(value, "size")
    assert (counted, type(counted)) == (3, int)


def test_the_largest_count():
    assert as_count(2**53, "size") == 2**53
    assert as_count(2.0**53, "size") == 2**53
    assert as_count(0, "size") == 0


@pytest.mark.parametrize("value", [1.5, -1, 2**53 + 1, 10**400, "0.5", Fraction(1, 3), -0.5, 1e300, Decimal("1e-5")])
def test_what_is_no_count_is_refused(value):
    with pytest.raises(sp.ArgumentError) as refused:
        as_count(value, "rows", least=0)
    written = str(value) if isinstance(value, Fraction) else repr(value)
    assert str(refused.value).startswith(f"rows = {written}"[:60])
    assert str(refused.value).endswith("; an integer from 0 to 2^53 is required")


def test_the_least_count_is_named():
    with pytest.raises(sp.ArgumentError, match=r"^rows = 0; an integer from 1 to 2\^53 is required$"):
        as_count(0, "rows", least=1)


@pytest.mark.parametrize(
    ("value", "why"), [(True, "truth value"), (nan, "not finite"), (None, "not a number"), ("x", "not a number")]
)
def test_what_is_no_number_is_no_count(value, why):
    with pytest.raises(sp.ArgumentError, match=rf"^rows.*{why}"):
        as_count(value, "rows")


# --- numbers too long for Python to print


@pytest.mark.parametrize(
    "refusal",
    [
        sp.PropertyQuery,
        sp.Population,
        lambda huge: sp.Population(-huge),
        lambda huge: sp.RandomPartition([huge]),
        lambda huge: sp.privacy_curve(sp.PropertyQuery(0.5), sp.Population(9)).delta(-huge),
        lambda huge: sp.privacy_curve(sp.PropertyQuery(0.5), sp.Population(9)).epsilon(-huge),
        lambda huge: sp.privacy_curve(sp.PropertyQuery(0.5), sp.Population(9)).satisfies(epsilon=1, delta=huge),
    ],
)
def test_an_integer_too_long_to_print_is_refused_with_our_message(refusal):
    huge = 10 ** (sys.get_int_max_str_digits() + 1) if hasattr(sys, "get_int_max_str_digits") else 10**5000
    with pytest.raises(sp.ArgumentError, match=r"(p|size|sizes\[0\]|epsilon|delta) = .* is required"):
        refusal(huge)


def test_a_probability_too_long_to_print_still_has_a_repr():
    assert repr(sp.PropertyQuery("1e-5000")).startswith("PropertyQuery(")


# --- probabilities, and how they are shown


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0, "0", "1", "1/3", 5e-324])
def test_probabilities(value):
    assert 0 <= as_probability(value, "p") <= 1


@pytest.mark.parametrize("value", [-0.1, 1.5, "-1/3", "1.0000000000000000001", Fraction(-1, 10**50), 2])
def test_what_is_no_probability_is_refused(value):
    with pytest.raises(sp.ArgumentError) as refused:
        as_probability(value, "p")
    assert str(refused.value) == f"p = {value}; a probability from 0 to 1 is required"


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        (Fraction(1, 2), "0.5"),
        (TENTH, "'1/10'"),
        (Fraction(0.1), "0.1"),
        (Fraction(0), "0.0"),
        (Fraction(10**400), repr(str(10**400))),
    ],
)
def test_a_shown_number_reads_back_as_itself(value, literal):
    assert show(value) == literal
    assert as_fraction(literal.strip("'") if "'" in literal else float(literal), "x") == value
