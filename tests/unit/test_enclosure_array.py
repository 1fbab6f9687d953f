"""`EnclosureArray`: what an array of enclosures supports, and what it refuses."""

import array
import math
import operator
from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import statpriv as sp

pair = sp.EnclosureArray([0.25, 0.5], [0.375, 0.5])
grid = sp.EnclosureArray(np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3) + 0.5)


# --- what it is made of


def test_ends_are_read_only_arrays_of_doubles():
    for ends in (pair.lower, pair.upper):
        assert ends.dtype == np.float64
        with pytest.raises(ValueError, match="read-only"):
            ends[0] = 0
    assert pair.lower.tolist() == [0.25, 0.5]
    assert pair.upper.tolist() == [0.375, 0.5]


def test_it_does_not_change_with_the_arrays_it_was_made_of():
    lower = np.array([0.0, 1.0])
    made = sp.EnclosureArray(lower)
    lower[0] = 7
    assert made == sp.EnclosureArray([0.0, 1.0])


def test_shape_and_size():
    assert (grid.shape, grid.ndim, grid.size, len(grid)) == ((2, 3), 2, 6, 2)
    assert (pair.shape, pair.ndim, pair.size, len(pair)) == ((2,), 1, 2, 2)
    assert sp.EnclosureArray([]).shape == (0,)


def test_ends_are_broadcast():
    assert sp.EnclosureArray(0, [1, 2]) == sp.EnclosureArray([0, 0], [1, 2])


@pytest.mark.parametrize(
    "numbers",
    [
        [2, 3],
        (2.0, 3.0),
        range(2, 4),
        array.array("d", [2, 3]),
        np.array([2, 3], dtype=np.uint64),
        np.array([2, 3], dtype=np.float16),
        np.array([2, 3], dtype=">f8"),
        np.array([2, 0, 3, 0])[::2],
        np.array([2, 3], dtype=np.longdouble),
        ["2", "3"],
        np.array(["2", "3"]),
        [Fraction(2), Decimal(3)],
        [mpmath.mpf(2), 3],
        [sp.Enclosure(2), 3.0],
    ],
    ids=repr,
)
def test_entries_come_in_every_exact_kind(numbers):
    assert sp.EnclosureArray(numbers) == sp.EnclosureArray(np.array([2.0, 3.0]))


@pytest.mark.parametrize("exact", [Fraction(1, 3), "0.1", Decimal("0.1"), 2**53 + 1, 10**400, "1e-400"])
def test_an_entry_that_is_no_double_is_enclosed_as_narrowly_as_doubles_allow(exact):
    made = sp.EnclosureArray([exact, 0.5])
    assert made[0] == sp.Enclosure(exact)
    assert made[1] == sp.Enclosure(0.5)


def test_a_float_next_to_a_string_keeps_its_own_value():
    assert sp.EnclosureArray([0.1, "0.1"])[0] == sp.Enclosure(0.1)


def test_integers_that_are_no_doubles_are_not_rounded():
    for dtype in (np.int64, np.uint64):
        assert Fraction(2**53 + 1) in sp.EnclosureArray(np.array([2**53 + 1], dtype=dtype))[0]


def test_negative_zero_is_zero():
    assert math.copysign(1, sp.EnclosureArray([-0.0]).lower[0]) == 1


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        (([0, nan],), r"^lower\[1\] = nan is not a number"),
        (([0, 0], [1, nan]), r"^upper\[1\] = nan is not a number"),
        ((np.array([[0, 2]]), np.array([[1, 1]])), r"^lower\[0, 1\] = 2\.0 and upper\[0, 1\] = 1\.0 do not bound"),
        (([0, "one"],), r'^at \[1\]: lower: "one" is not a number'),
        (([0, [1, 2]],), r"^at \[1\]: lower = \[1, 2\] is not a number"),
        (([0, True],), r"^at \[1\]: lower = True is a truth value"),
        ((np.array([True, False]),), r"^lower is an array of bool; numbers, or objects that are numbers, are required"),
        ((np.array([1j]),), r"^lower is an array of complex128"),
        ((np.array([1], dtype="M8[ns]"),), r"^lower is an array of datetime64"),
        ((np.ma.array([1.0, 2.0], mask=[0, 1]),), r"^lower is a masked array"),
        (([1, 2], [1, 2, 3]), r"^the shapes lower: \(2,\), upper: \(3,\) do not fit"),
    ],
)
def test_what_does_not_bound_enclosures_is_refused(ends, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.EnclosureArray(*ends)


# --- width and midpoint


def test_widths_are_rounded_up():
    made = sp.EnclosureArray([0.25, 1e-30, 0, inf], [0.375, 1, inf, inf])
    assert made.width.tolist() == [entry.width for entry in made]
    assert made.width[1] == 1  # the exact difference is below


def test_midpoints_lie_inside():
    assert pair.midpoint.tolist() == [0.3125, 0.5]
    huge = np.finfo(float).max
    assert sp.EnclosureArray([huge / 2], [huge]).midpoint[0] < inf
    with pytest.raises(sp.ArgumentError, match=r"the enclosure at \[1\] has no midpoint: an end is infinite"):
        _ = sp.EnclosureArray([0, 0], [1, inf]).midpoint


# --- picking


def test_one_entry_is_an_enclosure():
    assert pair[0] == sp.Enclosure(0.25, 0.375)
    assert pair[-1] == sp.Enclosure(0.5)
    assert grid[1, 2] == sp.Enclosure(5, 5.5)
    with pytest.raises(IndexError):
        _ = pair[2]


@pytest.mark.parametrize(
    "index", [slice(1, None), slice(None, None, -1), np.array([True, False]), [1, 1], (..., None), ()], ids=repr
)
def test_several_entries_are_an_array(index):
    picked = pair[index]
    assert isinstance(picked, sp.EnclosureArray)
    assert np.array_equal(picked.lower, pair.lower[index])
    assert np.array_equal(picked.upper, pair.upper[index])


def test_iteration_goes_along_the_first_axis():
    assert list(pair) == [pair[0], pair[1]]
    assert [row.shape for row in grid] == [(3,), (3,)]


def test_an_entry_cannot_be_replaced():
    with pytest.raises(TypeError, match="does not support item assignment"):
        pair[0] = sp.Enclosure(1)


# --- membership


@pytest.mark.parametrize(
    "values", [0.3, [0.3, 0.3], np.array([[0.3], [0.4]]), Fraction(3, 10), ["0.3", 0.5], inf, 2**60]
)
def test_membership_is_decided_entry_by_entry(values):
    answer = pair.contains(values)
    flat = np.broadcast_to(np.array(values, dtype=object), answer.shape)
    assert answer.dtype == bool
    assert all(answer[place] == (flat[place] in pair[place[-1]]) for place in np.ndindex(answer.shape))


def test_membership_is_exact_where_doubles_round():
    third = sp.EnclosureArray([1 / 3], [1 / 3])
    assert not third.contains(Fraction(1, 3))[0]
    assert third.contains(1 / 3)[0]
    large = sp.EnclosureArray([2.0**53])
    assert not large.contains(np.array([2**53 + 1]))[0]
    assert large.contains(np.array([2**53]))[0]


def test_an_enclosure_is_contained_with_both_ends():
    assert pair.contains(sp.Enclosure(0.25, 0.3)).tolist() == [True, False]
    assert pair.contains(pair).tolist() == [True, True]
    assert pair.contains(pair[::-1]).tolist() == [False, False]


def test_nan_is_no_member():
    with pytest.raises(sp.ArgumentError, match=r"values\[1\] = nan is not a number"):
        pair.contains([0.3, nan])


# --- equality


def test_equality_compares_ends_and_shape():
    assert pair == sp.EnclosureArray([0.25, 0.5], [0.375, 0.5])
    assert pair != sp.EnclosureArray([0.25, 0.5])
    assert pair != pair[None]
    assert sp.EnclosureArray([1, 1]) != sp.EnclosureArray([1])
    assert hash(pair) == hash(sp.EnclosureArray([0.25, 0.5], [0.375, 0.5]))
    assert len({pair, grid, pair + 0}) == 2
    assert pair != "pair"
    assert (pair == None) is False  # noqa: E711


@pytest.mark.parametrize("other", [0.25, np.array([0.25, 0.5]), sp.Enclosure(0.25), Fraction(1, 4), np.float64(0.25)])
def test_equality_with_numbers_is_never_silent(other):
    for compare in (operator.eq, operator.ne):
        with pytest.raises(
            sp.NotASingleNumberError, match=r"use e\.contains\(values\), or compare \.lower and \.upper"
        ):
            compare(pair, other)
        if not isinstance(other, sp.Enclosure):
            with pytest.raises(sp.NotASingleNumberError):
                compare(other, pair)


# --- what it refuses to be


@pytest.mark.parametrize("use", [np.asarray, np.array, lambda e: np.asarray(e, dtype=float), np.sort, np.mean])
def test_it_is_no_array_of_numbers(use):
    with pytest.raises(sp.NotASingleNumberError, match=r"use \.upper where too small would be unsafe"):
        use(pair)


@pytest.mark.parametrize("function", [np.add, np.maximum, np.less])
def test_numpy_functions_do_not_take_it(function):
    for operands in ((pair, 1.0), (np.ones(2), pair)):
        with pytest.raises(TypeError, match="does not support ufuncs"):
            function(*operands)


def test_it_has_no_truth_value_and_no_in():
    with pytest.raises(sp.NotASingleNumberError, match="no truth value"):
        bool(pair)
    with pytest.raises(sp.NotASingleNumberError, match=r"use e\.contains\(values\)\.any\(\)"):
        _ = 0.3 in pair


# --- orders

ORDERS = [operator.lt, operator.le, operator.gt, operator.ge]
small = st.integers(0, 6).map(float)
narrow = st.tuples(small, small).map(lambda ends: sp.Enclosure(min(ends), max(ends)))


def decided(relation, left, right):
    """The comparison of single enclosures; None if it is undecided."""
    try:
        return relation(left, right)
    except sp.UndecidedError:
        return None


@pytest.mark.parametrize("relation", ORDERS)
@given(st.lists(st.tuples(narrow, narrow), min_size=1, max_size=4))
def test_orders_are_those_of_the_entries(relation, operands):
    left, right = (sp.EnclosureArray([pair[side] for pair in operands]) for side in (0, 1))
    expected = [decided(relation, x, y) for x, y in operands]
    if None in expected:
        with pytest.raises(sp.UndecidedError, match=rf"^at \[{expected.index(None)}\]: .* cannot be told from"):
            relation(left, right)
    else:
        outcome = relation(left, right)
        assert outcome.dtype == bool
        assert outcome.tolist() == expected


@pytest.mark.parametrize("relation", ORDERS)
@pytest.mark.parametrize(
    "other", [1, 0.1, Fraction(1, 3) / 100, sp.Enclosure(3, 4), np.float64(0.1), mpmath.mpf("0.1"), inf], ids=repr
)
def test_orders_with_a_number_are_those_of_every_entry(relation, other):
    assert relation(pair, other).tolist() == [relation(entry, other) for entry in pair]
    assert relation(other, pair).tolist() == [relation(other, entry) for entry in pair]


def test_orders_with_arrays_of_numbers():
    assert (pair < np.array([0.5, 0.5])).tolist() == [True, False]
    assert (np.array([0.5, 0.5]) > pair).tolist() == [True, False]
    assert (pair <= ["0.375", Fraction(1, 2)]).tolist() == [True, True]


def test_orders_are_exact():
    """The double nearest to a third is below it; their difference is not a double."""
    third = sp.EnclosureArray([1 / 3])
    assert (third < [Fraction(1, 3)]).tolist() == [True]
    assert (third < Fraction(1, 3)).tolist() == [True]
    assert (third < 1 / 3).tolist() == [False]


def test_orders_broadcast():
    assert (grid[:, :1] < [1, 2, 4]).tolist() == [[True] * 3, [False, False, True]]
    with pytest.raises(sp.ArgumentError, match=r"the shapes left: \(2,\), right: \(2, 3\) do not fit"):
        _ = pair < grid
    with pytest.raises(sp.ArgumentError, match=r"the shapes left: \(2,\), right: \(3,\) do not fit"):
        _ = pair < ["1", 2, 3]


@pytest.mark.parametrize("relation", ORDERS)
def test_orders_with_what_is_no_number(relation):
    with pytest.raises(TypeError, match="not supported between"):
        relation(pair, "0.1")
    with pytest.raises(sp.ArgumentError, match=r"operand\[1\] = nan is not a number"):
        relation(pair, [0, nan])
    with pytest.raises(sp.ArgumentError, match=r"^at \[1\]: operand = None is not a number"):
        relation(pair, [0, None])


# --- arithmetic

OPERATIONS = [operator.add, operator.sub, operator.mul, operator.truediv]
reals = st.floats(-1e100, 1e100)
enclosures = st.tuples(reals, reals).map(lambda ends: sp.Enclosure(min(ends), max(ends)))


@pytest.mark.parametrize("operation", OPERATIONS)
@given(st.lists(st.tuples(enclosures, enclosures), max_size=8))
def test_arithmetic_is_that_of_the_entries(operation, operands):
    left, right = [x for x, _ in operands], [y for _, y in operands]
    expected = [operation(x, y) for x, y in operands]
    assert list(operation(sp.EnclosureArray(left), sp.EnclosureArray(right))) == expected


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    "other",
    [3, 0.1, Fraction(1, 3), Decimal("0.1"), sp.Enclosure(1, 2), np.float64(0.1), np.int64(3), mpmath.mpf("0.1"), inf],
    ids=repr,
)
def test_arithmetic_with_a_number_is_that_of_every_entry(operation, other):
    assert list(operation(pair, other)) == [operation(entry, other) for entry in pair]
    assert list(operation(other, pair)) == [operation(other, entry) for entry in pair]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("other", [np.array([0.1, 3]), [0.1, 3], np.array([1, 2]), [Fraction(1, 3), "0.1"]], ids=repr)
def test_arithmetic_with_arrays_of_numbers(operation, other):
    exact = [sp.Enclosure(value) for value in np.array(other, dtype=object)]
    assert list(operation(pair, other)) == [operation(entry, value) for entry, value in zip(pair, exact, strict=True)]
    if isinstance(other, np.ndarray):
        assert list(operation(other, pair)) == list(operation(sp.EnclosureArray(other), pair))


def test_arithmetic_broadcasts():
    column = grid[:, :1]
    total = column + grid
    assert total.shape == (2, 3)
    assert total[1, 2] == grid[1, 0] + grid[1, 2]
    assert (pair[:, None] * grid)[1, 2] == pair[1] * grid[1, 2]
    with pytest.raises(sp.ArgumentError, match=r"the shapes left: \(2,\), right: \(2, 3\) do not fit"):
        _ = pair + grid
    for values in ([1, 2, 3], ["1", 2, 3], sp.EnclosureArray([1, 2, 3])):
        with pytest.raises(sp.ArgumentError, match=r"the shapes self: \(2,\), values: \(3,\) do not fit"):
            pair.contains(values)


def test_signs():
    assert list(-pair) == [-pair[0], -pair[1]]
    assert +pair == pair


@pytest.mark.parametrize("other", ["0.1", None, {}, 1j])
def test_arithmetic_with_what_is_no_number(other):
    for operation in (lambda: pair + other, lambda: other - pair, lambda: pair / other):
        with pytest.raises(TypeError, match=r"unsupported operand|can only concatenate"):
            operation()


@pytest.mark.parametrize(
    ("other", "message"), [([0, nan], r"operand\[1\] = nan"), (nan, "operand = nan"), (True, "True is a truth value")]
)
def test_arithmetic_with_nan_and_truth_values(other, message):
    with pytest.raises(sp.ArgumentError, match=message):
        _ = pair + other


# --- looks and copies


def test_a_short_array_reads_back(read_back):
    assert eval(repr(pair), {"EnclosureArray": sp.EnclosureArray}) == pair  # noqa: S307  (an own repr)
    assert repr(pair) == "EnclosureArray(lower=[0.25, 0.5 ],\n               upper=[0.375, 0.5  ])"


def test_a_long_array_is_shown_by_its_ends():
    text = repr(sp.EnclosureArray(np.arange(10**5)))
    assert len(text) < 300
    assert "..." in text
    assert "shape=(100000,)" in text


def test_notebooks_show_a_table():
    html = pair._repr_html_()
    assert html.startswith("<table>")
    assert "<td>0.25</td><td>0.375</td>" in html
    assert sp.EnclosureArray(np.arange(1000))._repr_html_().endswith("<p>1000 enclosures</p>")
    assert grid._repr_html_().startswith("<pre>")


def test_copies_are_equal(copies):
    for made in (pair, grid, sp.EnclosureArray([]), sp.EnclosureArray([inf])):
        assert all(copy == made for copy in copies(made))
