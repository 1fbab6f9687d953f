"""Properties of every enclosure and every exact number: hypothesis searches for a counterexample."""

import copy
import math
import pickle
import re
import struct
from decimal import Decimal
from fractions import Fraction
from operator import add, ge, gt, le, lt, mul, sub, truediv

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import statpriv as sp
from statpriv.numeric.exact import as_fraction
from statpriv.numeric.literals import show

LARGEST = np.finfo(float).max
doubles = st.floats(allow_nan=False, allow_infinity=False)
ends = st.floats(allow_nan=False)
rationals = st.one_of(
    st.fractions(),
    doubles.map(Fraction),
    st.builds(Fraction, st.integers(), st.integers(1, 10**40)),
    st.builds(lambda x, k: Fraction(x) + Fraction(1, 2**k), doubles, st.integers(1000, 3000)),
)
operations = st.sampled_from([add, sub, mul, truediv])
divisors = st.floats(2.0**-1000, 2.0**1000).flatmap(lambda x: st.sampled_from([x, -x]))


@st.composite
def enclosures(draw):
    return sp.Enclosure(*sorted([draw(ends), draw(ends)]))


@st.composite
def members(draw):
    """An enclosure with finite ends, and a rational inside it."""
    low, high = sorted([draw(doubles), draw(doubles)])
    share = draw(st.fractions(0, 1, max_denominator=1000))
    return sp.Enclosure(low, high), Fraction(low) + share * (Fraction(high) - Fraction(low))


def steps(enclosure) -> int:
    """The number of steps between neighbouring doubles from the lower end to the upper end."""
    return ordinal(enclosure.upper) - ordinal(enclosure.lower)


def ordinal(x: float) -> int:
    bits: int = struct.unpack("<q", struct.pack("<d", x))[0]
    return bits if bits >= 0 else -(bits & (2**63 - 1))


@given(rationals)
@example(Fraction(LARGEST) + 1)
@example(Fraction(1, 2**1075))
@example(-Fraction(1, 2**1075))
def test_a_number_is_enclosed_by_itself_or_by_the_two_doubles_around_it(x):
    around = sp.Enclosure(x)
    assert x in around
    representable = abs(x) <= LARGEST and Fraction(float(x)) == x
    assert steps(around) == (0 if representable else 1)


@given(doubles, doubles, st.sampled_from([add, sub, mul]))
@example(LARGEST, LARGEST / 2**53, add)
@example(5e-324, 0.5, mul)
@example(-5e-324, 5e-324, mul)
@example(LARGEST, -LARGEST, mul)
def test_arithmetic_on_points_is_contained_and_tight(a, b, operation):
    exact = operation(Fraction(a), Fraction(b))
    result = operation(sp.Enclosure(a), sp.Enclosure(b))
    assert exact in result
    assert steps(result) <= 2


@given(doubles, divisors)
def test_division_of_points_is_contained_and_tight(a, b):
    """A reciprocal and a product: each is rounded."""
    result = sp.Enclosure(a) / sp.Enclosure(b)
    assert Fraction(a) / Fraction(b) in result
    assert steps(result) <= 6


@given(members(), members(), operations)
@example((sp.Enclosure(1), Fraction(1)), (sp.Enclosure(5e-324), Fraction(5e-324)), truediv)
@example((sp.Enclosure(1), Fraction(1)), (sp.Enclosure(LARGEST), Fraction(LARGEST)), truediv)
def test_arithmetic_contains_the_results_of_all_members(left, right, operation):
    (first, x), (second, y) = left, right
    assume(operation is not truediv or y != 0)
    assert operation(x, y) in operation(first, second)


@given(members(), rationals, operations)
def test_arithmetic_with_an_exact_number_from_both_sides(member, y, operation):
    enclosure, x = member
    if operation is not truediv or y != 0:
        assert operation(x, y) in operation(enclosure, y)
    if operation is not truediv or x != 0:
        assert operation(y, x) in operation(y, enclosure)


@given(enclosures(), enclosures(), operations)
def test_no_operation_gives_nan_or_crossed_ends(first, second, operation):
    result = operation(first, second)
    assert result.lower <= result.upper
    assert result.width >= 0


@given(enclosures())
def test_width_and_midpoint(e):
    assert e.width >= 0
    assert (e.width == 0) == (e.lower == e.upper)
    if math.isfinite(e.lower) and math.isfinite(e.upper):
        assert e.midpoint in e
        assert e.width == math.inf or Fraction(e.width) >= Fraction(e.upper) - Fraction(e.lower)


@given(enclosures(), rationals)
def test_membership_is_exact(e, x):
    above = e.lower == -math.inf or (e.lower != math.inf and Fraction(e.lower) <= x)
    below = e.upper == math.inf or (e.upper != -math.inf and x <= Fraction(e.upper))
    assert (x in e) is (above and below)


@given(members(), rationals, st.sampled_from([lt, le, gt, ge]))
def test_a_comparison_with_a_number_is_true_of_all_members_or_of_none(member, y, compare):
    """`decided` is the answer of both ends; if they differ, the comparison must be undecided."""
    enclosure, x = member
    ends_say = {compare(Fraction(end), y) for end in (enclosure.lower, enclosure.upper)}
    try:
        answer = compare(enclosure, y)
    except sp.UndecidedError:
        assert len(ends_say) == 2
        return
    assert ends_say == {answer}
    assert compare(x, y) is answer


@given(members(), members(), st.sampled_from([lt, le, gt, ge]))
def test_a_comparison_of_two_enclosures_is_true_of_all_members_or_of_none(left, right, compare):
    (first, x), (second, y) = left, right
    corners = {compare(a, b) for a in (first.lower, first.upper) for b in (second.lower, second.upper)}
    try:
        answer = compare(first, second)
    except sp.UndecidedError:
        assert len(corners) == 2
        return
    assert corners == {answer}
    assert compare(x, y) is answer


@given(enclosures())
def test_copies_and_reprs_are_equal(e):
    read = eval(repr(e), {"Enclosure": sp.Enclosure, "float": float})  # noqa: S307  (a repr of this very process)
    unpickled = pickle.loads(pickle.dumps(e))  # noqa: S301  (own pickle)
    for same in (read, unpickled, copy.copy(e), copy.deepcopy(e)):
        assert same == e
        assert hash(same) == hash(e)


@given(enclosures(), enclosures())
def test_equality_is_that_of_the_ends(first, second):
    assert (first == second) is ((first.lower, first.upper) == (second.lower, second.upper))
    assert (first != second) is not (first == second)


# --- exact numbers


@given(rationals)
def test_a_rational_comes_back_in_every_exact_spelling(x):
    assert as_fraction(x, "x") == x
    assert as_fraction(str(x), "x") == x
    assert as_fraction(f" {x.numerator} / {x.denominator} ", "x") == x


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_a_single_precision_number_is_the_rational_it_stores(x):
    assert as_fraction(np.float32(x), "x") == Fraction(x)


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_a_decimal_is_exactly_what_it_says(x):
    assert as_fraction(x, "x") == Fraction(x)
    assert as_fraction(str(x), "x") == Fraction(x)


@given(st.integers(-(2**63), 2**63 - 1))
def test_a_numpy_integer_is_an_integer(x):
    assert as_fraction(np.int64(x), "x") == x


@given(st.integers(), st.integers(-5000, 5000))
def test_an_mpf_is_a_dyadic_rational(mantissa, exponent):
    with mpmath.workprec(max(53, mantissa.bit_length())):
        number = mpmath.ldexp(mpmath.mpf(mantissa), exponent)
    assert as_fraction(number, "x") == mantissa * Fraction(2) ** exponent


@given(doubles)
def test_python_and_the_kernel_read_the_same_double(x):
    assert as_fraction(repr(x), "x") == Fraction(Decimal(repr(x)))
    assert as_fraction(x, "x") == Fraction(x)


@given(rationals)
def test_a_shown_number_reads_back_as_itself(x):
    literal = show(x)
    value = literal.strip("'") if literal.startswith("'") else float(literal)
    assert as_fraction(value, "x") == x


def decimal_by_hand(text: str) -> Fraction | None:
    """The value of a decimal literal; None if it is not a literal, or is too long to write out."""
    found = re.fullmatch(r"([+-]?)(?=\.?\d)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?", text, re.ASCII)
    if found is None or abs(exponent := int(found[4] or 0) - len(found[3])) > 100_000:
        return None
    return int(f"{found[1]}{found[2]}{found[3]}") * Fraction(10) ** exponent


def number_by_hand(text: str) -> Fraction | None:
    top, slash, bottom = text.partition("/")
    parts = decimal_by_hand(top.strip()), decimal_by_hand(bottom.strip()) if slash else Fraction(1)
    return None if parts[0] is None or not parts[1] else parts[0] / parts[1]


@given(st.text(alphabet="0123456789.eE+-/ ", max_size=12))
@example("0e100001")
@example("1e99999999")
@example("-0.5e-1/ +.5E+1")
def test_text_is_read_by_the_grammar_of_decimals_or_refused_by_name(text):
    expected = number_by_hand(text)
    if expected is None:
        with pytest.raises(sp.ArgumentError, match=r"^p: "):
            as_fraction(text, "p")
    else:
        assert as_fraction(text, "p") == expected


@given(st.text(max_size=20))
def test_any_text_is_a_number_or_refused_by_name(text):
    if number_by_hand(text) is None:
        with pytest.raises(sp.ArgumentError, match=r"^p: "):
            as_fraction(text, "p")
