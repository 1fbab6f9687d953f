"""Queries, populations, adversaries, samplings and partitions: what they accept, say and equal."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import statpriv as sp

VALUES = [
    sp.PropertyQuery(0.5),
    sp.PropertyQuery("1/3", attribute="smoker"),
    sp.PropertyQuery("0.1", attribute="it's", name='"quoted"\n'),
    sp.PropertyQuery(sp.Between("0.4", 0.6), name="Smokers"),
    sp.PropertyQuery(5e-324),
    sp.PropertyQuery(0),
    sp.PropertyQuery(Fraction(10**400, 10**400 + 1)),
    sp.Between("1/3", "2/3"),
    sp.Between(0, 1),
    sp.Between(0.1, 0.1),
    sp.Population(1),
    sp.Population(2**53),
    sp.Adversary(),
    sp.Adversary(known=100),
    sp.WithoutReplacement(256),
    sp.RandomPartition([1]),
    sp.RandomPartition([1024] * 32),
    sp.RandomPartition([472, 471, 1]),
    sp.RandomPartition([5, 5, 6, 7, 7, 5]),
    sp.RandomPartition(range(1, 40)),
]
IMMUTABLE = [
    (sp.PropertyQuery(0.5), "lower"),
    (sp.Between(0.4, 0.6), "upper"),
    (sp.Population(3), "size"),
    (sp.Adversary(), "known"),
    (sp.WithoutReplacement(3), "size"),
    (sp.RandomPartition([3]), "sizes"),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_survives_copies_and_its_repr(value, copies, read_back):
    for same in (read_back(repr(value)), *copies(value)):
        assert same == value
        assert hash(same) == hash(value)
        assert repr(same) == repr(value)


def test_different_values_differ():
    assert len(set(VALUES)) == len(VALUES)
    for index, value in enumerate(VALUES):
        assert all(value != other for other in VALUES[index + 1 :])


@pytest.mark.parametrize(("value", "field"), IMMUTABLE, ids=str)
def test_values_are_frozen(value, field):
    with pytest.raises(FrozenInstanceError):
        setattr(value, field, 1)
    with pytest.raises(FrozenInstanceError):
        value.another = 1


# --- PropertyQuery and Between


def test_equal_numbers_make_equal_queries():
    assert sp.PropertyQuery("1/2") == sp.PropertyQuery(0.5) == sp.PropertyQuery(Decimal("0.50"))
    assert sp.PropertyQuery(sp.Between(0.5, "1/2")) == sp.PropertyQuery(0.5)
    assert sp.PropertyQuery(0.1) != sp.PropertyQuery("0.1")
    assert sp.PropertyQuery(0.5, attribute="a") != sp.PropertyQuery(0.5, name="a")
    assert sp.Between("0.4", "0.6") == sp.Between(Fraction(2, 5), Decimal("0.6"))


def test_reprs_are_readable():
    assert repr(sp.PropertyQuery(0.5, attribute="a", name="A")) == "PropertyQuery(0.5, attribute='a', name='A')"
    assert repr(sp.PropertyQuery("0.1")) == "PropertyQuery('1/10')"
    assert repr(sp.RandomPartition([3, 3, 4])) == "RandomPartition([3] * 2 + [4])"
    assert repr(sp.RandomPartition([3, 4])) == "RandomPartition([3, 4])"


def test_p_is_exact():
    assert sp.PropertyQuery("0.1").p == Fraction(1, 10)
    assert sp.PropertyQuery(0.1).p == Fraction(0.1)
    assert sp.PropertyQuery(sp.Between("0.1", "0.2")).p == sp.Between("0.1", "0.2")
    assert sp.PropertyQuery(np.float32(0.5)).p == Fraction(1, 2)


@pytest.mark.parametrize(
    ("p", "message"),
    [
        (1.5, r"p = 1\.5; a probability from 0 to 1 is required"),
        ("-1/2", r"p = -1/2; a probability from 0 to 1 is required"),
        (float("nan"), r"p = nan is not finite"),
        (None, r"p = None is not a number"),
        (True, r"p = True is a truth value"),
        ("half", r'p: "half" is not a number'),
        (sp.PropertyQuery(0.5), r"p = PropertyQuery\(0\.5\) is not a number"),
    ],
)
def test_a_bad_probability_is_refused_by_name(p, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.PropertyQuery(p)


@pytest.mark.parametrize("option", ["attribute", "name"])
@pytest.mark.parametrize("value", [1, b"a", ["a"], True])
def test_labels_are_strings(option, value):
    with pytest.raises(sp.ArgumentError, match=rf"^{option} = .*; a string or None is required$"):
        sp.PropertyQuery(0.5, **{option: value})


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        (0.6, 0.4, r"Between\(0\.6, 0\.4\): lower <= upper is required"),
        (-0.1, 0.5, r"lower = -0\.1; a probability from 0 to 1 is required"),
        (0.5, 1.1, r"upper = 1\.1; a probability from 0 to 1 is required"),
        (None, 1, r"lower = None is not a number"),
        (0, sp.Between(0, 1), r"upper = Between\(0\.0, 1\.0\) is not a number"),
    ],
)
def test_a_bad_range_is_refused_by_name(lower, upper, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.Between(lower, upper)


# --- sizes


SIZED: list[tuple[Callable[[object], object], str, int]] = [
    (sp.Population, "size", 1),
    (sp.WithoutReplacement, "size", 1),
    (lambda known: sp.Adversary(known=known), "known", 0),
    (lambda size: sp.RandomPartition([5, size]), r"sizes\[1\]", 1),
]


@pytest.mark.parametrize(("make", "name", "least"), SIZED)
@pytest.mark.parametrize("size", [-1, 1.5, 2**53 + 1, "2.5", Fraction(1, 2)])
def test_a_bad_size_is_refused_by_name(make, name, least, size):
    with pytest.raises(sp.ArgumentError, match=rf"^{name} = .*; an integer from {least} to 2\^53 is required$"):
        make(size)


@pytest.mark.parametrize(("make", "name", "least"), SIZED)
@pytest.mark.parametrize("size", [True, None, float("nan"), float("inf"), "many", b"3", object()])
def test_what_is_no_number_is_no_size(make, name, least, size):
    with pytest.raises(sp.ArgumentError, match=rf"^{name}.*(truth value|not a number|not finite)"):
        make(size)


def test_an_empty_population_is_refused():
    with pytest.raises(sp.ArgumentError, match=r"^size = 0; an integer from 1 to 2\^53 is required$"):
        sp.Population(0)


@pytest.mark.parametrize("size", [3, 3.0, "3", "6/2", Decimal(3), np.int64(3), np.float64(3)])
def test_every_kind_of_integer_is_a_size(size):
    assert sp.Population(size) == sp.Population(3)
    assert sp.Adversary(known=size) == sp.Adversary(known=3)
    assert sp.WithoutReplacement(size) == sp.WithoutReplacement(3)
    assert sp.RandomPartition([size]) == sp.RandomPartition([3])
    assert type(sp.Population(size).size) is int


def test_sizes_come_from_any_iterable():
    expected = sp.RandomPartition([3, 3])
    assert sp.RandomPartition((3, 3)) == expected
    assert sp.RandomPartition(3 for _ in range(2)) == expected
    assert sp.RandomPartition(np.array([3, 3])) == expected
    assert expected.sizes == (3, 3)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([], r"sizes = \[\]; at least one part is required"),
        (5, r"sizes = 5; a list of part sizes is required, such as \[472, 472\]"),
        ("55", r"sizes = '55'; a list of part sizes is required"),
        (None, r"sizes = None; a list of part sizes is required"),
        ({5: 5}, r"sizes = \{5: 5\}; a list of part sizes is required"),
        ([5, 0], r"sizes\[1\] = 0; an integer from 1 to 2\^53 is required"),
    ],
)
def test_bad_sizes_are_refused(sizes, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.RandomPartition(sizes)


# --- keyword-only options


@pytest.mark.parametrize(
    "call",
    [
        lambda: sp.PropertyQuery(0.5, "smoker"),
        lambda: sp.Adversary(3),
        lambda: sp.privacy_curve(sp.PropertyQuery(0.5), sp.Population(9), sp.Adversary()),
        lambda: sp.compose([sp.PropertyQuery(0.5)], sp.Population(9), sp.RandomPartition([9]), sp.Adversary()),
        lambda: sp.privacy_curve(sp.PropertyQuery(0.5), sp.Population(9)).satisfies(1, 1),
    ],
)
def test_options_are_keyword_only(call):
    with pytest.raises(TypeError, match="positional argument"):
        call()


# --- what is not available yet


def test_what_is_promised_for_later_says_so():
    with pytest.raises(sp.NotAvailableError, match=r"sizes by group .*not available yet; one size a part is"):
        sp.RandomPartition([{"f": 30}] * 8)
