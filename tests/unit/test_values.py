"""Queries, populations, adversaries, samplings and partitions: arguments, display and equality."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import statpriv as sp

with mpmath.workdps(60):
    THIRD = mpmath.mpf(1) / 3
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
    sp.RandomPartition.folds(11, 3),
    sp.PropertyQuery({"f": 0.5, "it's": sp.Between("0.1", 0.2)}, attribute="smoker"),
    sp.PropertyQuery([0.5, 0.5, "1/3"], name="one an entry"),
    sp.PropertyQuery([0.5]),
    sp.HistogramQuery([0.2, 0.3, 0.5]),
    sp.HistogramQuery([0.1] * 9 + [0.10000000000000009]),
    sp.HistogramQuery(["1/3"] * 3, attribute="party", name="Parties"),
    sp.HistogramQuery({"f": [0.5, 0.5, 0], "m": ["1/3"] * 3}),
    sp.HistogramQuery([THIRD, THIRD, THIRD]),
    sp.SumQuery(pmf={0: 0.5, 1: 0.3, 5: 0.2}),
    sp.SumQuery({"-1/3": "1/3", 0.1: 0, 10**9: "2/3"}, attribute="income", name="Income"),
    sp.SumQuery({"f": {0: 1}, "m": {0: 0.7, 1: 0.2, 2: 0.1}}),
    sp.MeanQuery(pmf={0: 0.5, 1: 0.3, 5: 0.2}),
    sp.OrderStatisticQuery({0: 0.5, 1: 0.3, 5: 0.2}, 7),
    sp.MinimumQuery({0: 0.5, 1: 0.5}),
    sp.MedianQuery({0: 0.5, 1: 0.5}, name="Middle"),
    sp.MaximumQuery({"f": {0: 0.5, 1: 0.5}, "m": {0: 1}}),
    sp.LinearQuery([[1, 1, 0], [0, 1, 1]]),
    sp.LinearQuery([[1] * 100 + [0] * 7], p="1/3", attribute="smoker", name="Row"),
    sp.LinearQuery([[1, 0]], p=sp.Between("0.2", "0.4")),
    sp.HistogramQuery({"f": [sp.Between("0.2", "0.4"), sp.Between("0.6", "0.8")], "m": ["0.5", "0.5"]}),
    sp.SumQuery({"f": {0: sp.Between("0.2", "0.4"), 5: "0.7"}, "m": {0: 0.1, 1: 0.9}}),
    sp.PostProcessed(sp.PropertyQuery(0.5, name="Smokers"), sp.Threshold(10), sp.Rounding("1/3")),
    sp.SumQuery({0: 0.5, "1/3": 0.5}).mapped({0: "none", Fraction(1, 3): None, None: ("x", 1), "3": 0.5}),
    sp.PropertyQuery(0.5).noisy(sp.noise.Truncated(sp.noise.Binomial(trials=9, p="1/3"), 1, 8)).clamped(upper=7),
    sp.Threshold(-2.5),
    sp.Rounding(10**30),
    sp.Clip("1/3", 2),
    sp.RangeGate("1/3", 2),
    sp.Relabel({1: 2}),
    sp.noise.DiscreteLaplace(alpha="1/3"),
    sp.noise.DiscreteLaplace(scale="1/3"),
    sp.noise.DiscreteGaussian(sigma=2),
    sp.noise.Laplace(scale=2),
    sp.noise.Gaussian(sigma=2),
    sp.noise.Binomial(trials=2, p=0.5),
    sp.noise.Truncated(sp.noise.DiscreteGaussian(sigma=2.5), -3, 4),
    sp.Population(groups={"f": 30, "it's": 2**52}),
    sp.Adversary(known={"f": 3, "m": 0}),
    sp.Adversary(known=100, values="expected"),
    sp.WithReplacement(256),
    sp.PoissonSampling("1/3"),
    sp.PoissonSampling("1/3", size_published=True),
    sp.Stratified({"f": 10, "m": 0}),
    sp.OverlappingSamples([100, 100, 50]),
    sp.OverlappingSamples([100]),
    sp.TemplateLaw({(0, 1, 1): "1/3", (2,): "1/3", (): "1/3"}),
]
IMMUTABLE = [
    (sp.PropertyQuery(0.5), "lower"),
    (sp.Between(0.4, 0.6), "upper"),
    (sp.Population(3), "size"),
    (sp.Adversary(), "known"),
    (sp.WithoutReplacement(3), "size"),
    (sp.RandomPartition([3]), "sizes"),
    (sp.PropertyQuery([0.5]), "probabilities"),
    (sp.HistogramQuery([0.5, 0.5]), "cells"),
    (sp.SumQuery({0: 0.5, 1: 0.5}), "pmf"),
    (sp.MeanQuery({0: 0.5, 1: 0.5}), "pmf"),
    (sp.MedianQuery({0: 0.5, 1: 0.5}), "rank"),
    (sp.LinearQuery([[1]]), "matrix"),
    (sp.PropertyQuery(0.5).rounded(5), "steps"),
    (sp.noise.Gaussian(sigma=1), "sigma"),
    (sp.Stratified({"f": 3}), "sizes"),
    (sp.TemplateLaw({(0,): 1}), "probabilities"),
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


def test_probabilities_by_group():
    query = sp.PropertyQuery({"m": sp.Between("0.4", "0.6"), "f": "0.5", "x": sp.Between(0.25, 0.25)})
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    assert query.probabilities == (("m", sp.Between("0.4", "0.6")), ("f", half), ("x", quarter))
    assert not query.is_uniform
    assert (query.lower, query.upper) == (quarter, Fraction(3, 5))
    assert query.p == sp.Between(quarter, "0.6")


def test_probabilities_by_entry():
    expected = (Fraction(1, 2), Fraction(1, 10), Fraction(1, 2))
    for several in ([0.5, "0.1", 0.5], ("1/2", Decimal("0.1"), Fraction(1, 2))):
        query = sp.PropertyQuery(several)
        assert query.probabilities == expected
        assert (query.lower, query.upper, query.is_uniform) == (Fraction(1, 10), Fraction(1, 2), False)
    assert sp.PropertyQuery(np.array([0.5, 0.25])) == sp.PropertyQuery([0.5, 0.25])
    assert sp.PropertyQuery(np.array([0.5, 0.25], dtype=np.float32)) == sp.PropertyQuery([0.5, 0.25])
    assert sp.PropertyQuery(np.array([0, 1])) == sp.PropertyQuery(range(2))


def test_one_probability_is_uniform():
    assert sp.PropertyQuery(0.5).is_uniform
    assert sp.PropertyQuery(sp.Between(0.25, 0.5)).is_uniform
    assert sp.PropertyQuery(sp.Between(0.25, 0.5)).probabilities == sp.Between(0.25, 0.5)
    assert sp.PropertyQuery(sp.Between(0.5, 0.5)).probabilities == Fraction(1, 2)
    assert sp.PropertyQuery([0.5]) != sp.PropertyQuery(0.5)


@given(st.lists(st.floats(0, 1) | st.fractions(0, 1).map(str) | st.integers(0, 1), min_size=1))
def test_a_list_is_read_one_by_one(several):
    exact = tuple(Fraction(p) for p in several)
    for query in (sp.PropertyQuery(several), sp.PropertyQuery(several * 3)):
        assert query.probabilities[: len(exact)] == exact
        assert (query.lower, query.upper) == (min(exact), max(exact))


@pytest.mark.campaign  # alone it notices long lists that cost too much
def test_long_lists_of_probabilities():
    query = sp.PropertyQuery(np.arange(10**5) / 2**17)
    assert query.probabilities[3] == Fraction(3, 2**17)
    assert (query.lower, query.upper) == (0, Fraction(10**5 - 1, 2**17))
    assert repr(sp.PropertyQuery(np.full(10**5, 0.25))) == "PropertyQuery([0.25] * 100000)"


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ({}, r"^p = \{\}; at least one group is required$"),
        ({0: 0.5}, r"^p has a group 0; the name of a group is a string, not empty$"),
        ({"f": 1.5}, r"^p\['f'\] = 1\.5; a probability from 0 to 1 is required$"),
        ({"f": [0.5]}, r"^p\['f'\] = \[0\.5\] is not a number"),
        ([], r"^p is empty; a list with the probability of every entry, such as \[0\.5, 0\.4\], is required$"),
        ([0.5, 1.5], r"^p\[1\] = 1\.5; a probability from 0 to 1 is required$"),
        ([0.5, 2.0, 0.5, 3.0] * 9, r"^p\[1\] = 2\.0; a probability from 0 to 1 is required$"),
        ([0.5, float("nan")], r"^p\[1\] = nan is not finite"),
        ([0, 1, True], r"^p\[2\] = True is a truth value"),
        ([0.5, sp.Between(0, 1)], r"^p\[1\] = Between\(0\.0, 1\.0\) is not a number"),
        ([[0.5]], r"^p\[0\] = \[0\.5\] is not a number"),
        ({0.5}, r"^p = \{0\.5\}; a list with the probability of every entry"),
        (np.array([[0.5]]), r"^p is an array of 2 dimensions; a list with the probability of every entry"),
        (np.array(0.5), r"^p is an array of 0 dimensions; a list with the probability of every entry"),
        (b"0.5", r"^p = b'0\.5' is not a number"),
    ],
)
def test_bad_probabilities_are_refused_by_name(p, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.PropertyQuery(p)


@pytest.mark.parametrize("option", ["attribute", "name"])
@pytest.mark.parametrize("value", [1, b"a", ["a"], True])
@pytest.mark.parametrize(
    "make",
    [
        lambda **label: sp.PropertyQuery(0.5, **label),
        lambda **label: sp.HistogramQuery([0.5, 0.5], **label),
        lambda **label: sp.SumQuery({0: 0.5, 1: 0.5}, **label),
        lambda **label: sp.MedianQuery({0: 0.5, 1: 0.5}, **label),
        lambda **label: sp.LinearQuery([[1]], **label),
    ],
)
def test_labels_are_strings(make, option, value):
    with pytest.raises(sp.ArgumentError, match=rf"^{option} = .*; a string or None is required$"):
        make(**{option: value})


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
    (sp.WithReplacement, "size", 1),
    (lambda size: sp.Population(groups={"m": 5, "f": size}), r"groups\['f'\]", 1),
    (lambda size: sp.OverlappingSamples([5, size]), r"sizes\[1\]", 1),
    (lambda size: sp.Stratified({"m": 5, "f": size}), r"sizes\['f'\]", 0),
    (lambda known: sp.Adversary(known=known), "known", 0),
    (lambda known: sp.Adversary(known={"f": known}), r"known\['f'\]", 0),
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


# --- populations and adversaries by group


def test_groups_keep_their_order_and_add_up():
    population = sp.Population(groups={"m": 20, "f": 30.0})
    assert (population.size, population.groups) == (50, (("m", 20), ("f", 30)))
    assert sp.Population(50).groups is None
    assert population != sp.Population(50)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (sp.Population, r"^size = None is not a number, and groups = None; give one of them$"),
        (
            lambda: sp.Population(3, groups={"f": 3}),
            r"^size = 3 and groups = \{'f': 3\}; give only one of them$",
        ),
        (
            lambda: sp.Population({"f": 3}),
            r"^size = \{'f': 3\} is not a number; write Population\(groups=\.\.\.\) for groups$",
        ),
        (lambda: sp.Population(groups={}), r"^groups = \{\}; at least one group is required$"),
        (lambda: sp.Population(groups=[3]), r"^groups = \[3\]; a dict from group to size, such as \{'f': 30\}, is"),
        (
            lambda: sp.Population(groups={"f": 2**53, "m": 1}),
            r"^groups have 9007199254740993 entries together; at most 2\^53 are allowed$",
        ),
        (lambda: sp.Population(groups={"": 1}), r"^groups has a group ''; the name of a group is a string, not empty$"),
        (lambda: sp.Adversary(known={}), r"^known = \{\}; at least one group is required$"),
        (lambda: sp.Adversary(known={0: 1}), r"^known has a group 0; the name of a group is a string, not empty$"),
        (lambda: sp.Adversary(values="best"), r"^values = 'best'; 'worst' or 'expected' is required$"),
        (lambda: sp.Adversary(values=None), r"^values = None; 'worst' or 'expected' is required$"),
    ],
)
def test_bad_groups_and_adversaries_are_refused(make, message):
    with pytest.raises(sp.ArgumentError, match=message):
        make()


def test_the_known_entries_of_all_groups_add_up():
    assert sp.Adversary(known={"f": 3, "m": 4}).total == 7
    assert sp.Adversary(known={"f": 3, "m": 4}).known == (("f", 3), ("m", 4))
    assert sp.Adversary(known=7).total == 7
    assert sp.Adversary(known=7) != sp.Adversary(known=7, values="expected")


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
