"""Arrays of results with `digits=`: each entry is the result for one number, with exact ends."""

import operator
from fractions import Fraction
from math import inf, nan

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import statpriv as sp
from statpriv.numeric.digits_array import DigitsEnclosureArray

CURVE = sp.privacy_curve(sp.PropertyQuery("1/3"), sp.Population(50))
EPSILONS = ["0.1", Fraction(1, 3), 0.5]
three = CURVE.delta(EPSILONS, digits=30)
OPERATIONS = [operator.add, operator.sub, operator.mul, operator.truediv]
ORDERS = [operator.lt, operator.le, operator.gt, operator.ge]

CALLS = {
    "delta": (CURVE.delta, EPSILONS),
    "log_delta": (CURVE.log_delta, EPSILONS),
    "epsilon": (CURVE.epsilon, ["0.01", Fraction(1, 1000), 1e-9]),
    "pmf": (lambda k, digits: sp.laws.binomial_pmf(k, n=20, p="1/3", digits=digits), [0, 3, 25]),
    "tail": (
        lambda k, digits: sp.laws.hypergeometric_upper_tail(k, population=20, marked=7, draws=5, digits=digits),
        [0, 3, 6],
    ),
}


@pytest.mark.parametrize(("call", "arguments"), CALLS.values(), ids=CALLS.keys())
def test_an_array_with_digits_is_that_of_its_entries(call, arguments):
    array = call(arguments, digits=40)
    assert isinstance(array, sp.EnclosureArray)
    assert list(array) == [call(argument, digits=40) for argument in arguments]
    assert [type(end) for end in array.upper] == [mpmath.mpf] * len(arguments)


def test_laws_broadcast_with_digits():
    table = sp.laws.binomial_pmf([[0], [1]], n=[4, 5, 6], p="1/2", digits=25)
    assert table.shape == (2, 3)
    assert table[1, 2] == sp.laws.binomial_pmf(1, n=6, p="1/2", digits=25)
    assert table.contains([[Fraction(1, 2**n) for n in (4, 5, 6)], [Fraction(n, 2**n) for n in (4, 5, 6)]]).all()
    with pytest.raises(sp.ArgumentError, match=r"^the shapes k: \(2,\), n: \(3,\), p: \(\) do not fit"):
        sp.laws.binomial_pmf([0, 1], n=[4, 5, 6], p="1/2", digits=25)


def test_shapes_are_kept():
    assert CURVE.delta([], digits=20).shape == (0,)
    assert CURVE.delta(np.array(0.5), digits=20) == CURVE.delta(0.5, digits=20)
    assert CURVE.delta(np.array([[0.1, 0.5]]), digits=20)[0, 1] == CURVE.delta(0.5, digits=20)
    assert len(sp.laws.poisson_binomial_pmf(["1/3", "1/7"], digits=20)) == 3


@pytest.mark.parametrize(
    ("several", "message"),
    [
        ([0.1, -0.1], r"^at \[1\]: epsilon = -0\.1; a number of at least 0 is required$"),
        ([[0.1, nan]], r"^at \[0, 1\]: epsilon = nan is not finite"),
        (["0.1", None], r"^at \[1\]: epsilon = None is not a number"),
    ],
    ids=repr,
)
def test_the_first_bad_entry_is_named(several, message):
    with pytest.raises(sp.ArgumentError, match=message):
        CURVE.delta(several, digits=20)


def test_its_ends_are_exact():
    assert list(three.lower) == [entry.lower for entry in three]
    assert list(three.width) == [entry.width for entry in three]
    assert list(three.midpoint) == [entry.midpoint for entry in three]
    assert np.all(three.width < 1e-30)
    exact = [CURVE.exact_delta(exp_epsilon=x) for x in (2, 3)]
    logarithms = CURVE.delta([mpmath.mpf(2), mpmath.mpf(3)], digits=20)
    assert not logarithms.contains(exact).any()  # e^2 and e^3 are not 2 and 3
    assert logarithms.contains(logarithms).all()
    assert not logarithms.contains(CURVE.delta([2, 3])).any()


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    "other",
    [3, 0.1, Fraction(1, 3), sp.Enclosure(1, 2), CURVE.delta(1, digits=50), [Fraction(1, 3), "0.1", 2], np.ones(3)],
    ids=repr,
)
def test_arithmetic_is_that_of_the_entries(operation, other):
    exact = {"0.1": Fraction(1, 10)}
    others = [exact.get(value, value) for value in other] if isinstance(other, (list, np.ndarray)) else [other] * 3
    assert list(operation(three, other)) == [
        operation(entry, value) for entry, value in zip(three, others, strict=True)
    ]
    assert list(operation(other, three)) == [
        operation(value, entry) for entry, value in zip(three, others, strict=True)
    ]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_arithmetic_with_an_array_of_doubles_keeps_the_digits(operation):
    doubles = sp.EnclosureArray([1, 2, 3])
    assert list(operation(three, doubles)) == [operation(entry, k) for entry, k in zip(three, (1, 2, 3), strict=True)]
    assert list(operation(doubles, three)) == [operation(k, entry) for entry, k in zip(three, (1, 2, 3), strict=True)]
    assert isinstance(operation(doubles, three), DigitsEnclosureArray)


def test_signs():
    assert list(-three) == [-entry for entry in three]
    assert +three is three


@pytest.mark.parametrize("relation", ORDERS)
def test_orders_are_those_of_the_entries(relation):
    targets = ["0.1", "0.02", "0.001"]
    exact = [Fraction(target) for target in targets]
    assert relation(three, targets).tolist() == [relation(e, x) for e, x in zip(three, exact, strict=True)]
    assert relation(three, sp.EnclosureArray(0.02)).tolist() == [relation(e, Fraction(0.02)) for e in three]
    assert relation(sp.EnclosureArray(0.02), three).tolist() == [relation(Fraction(0.02), e) for e in three]
    with pytest.raises(sp.UndecidedError, match=r"^at \[0\]: .* cannot be told from"):
        relation(three, three)
    with pytest.raises(TypeError, match="not supported between"):
        relation(three, None)


def test_digits_decide_what_doubles_do_not():
    reached = CURVE.delta(EPSILONS).upper
    with pytest.raises(sp.UndecidedError, match=r"^at \[0\]"):
        _ = CURVE.delta(EPSILONS) < reached
    assert (three < reached).all()


def test_equality_is_of_whole_arrays():
    same = CURVE.delta(EPSILONS, digits=30)
    assert same == three
    assert hash(same) == hash(three)
    assert three != CURVE.delta(EPSILONS, digits=31)
    assert CURVE.delta(EPSILONS) != three
    with pytest.raises(sp.NotASingleNumberError, match="== compares arrays of enclosures as a whole"):
        _ = np.ones(3) == three


def test_indices_give_enclosures_and_arrays():
    assert three[1] == CURVE.delta(Fraction(1, 3), digits=30)
    assert three[1:] == CURVE.delta(EPSILONS[1:], digits=30)
    assert three[[True, False, True]].shape == (2,)


def test_copies_are_equal(copies):
    assert all(copy == three for copy in copies(three))


def test_it_is_written_with_all_its_digits():
    assert repr(three[:1]) == f"DigitsEnclosureArray([{three[0]!r}])"
    assert repr(three[:0]) == "DigitsEnclosureArray([], shape=(0,))"
    assert repr(three[0].lower.man) not in repr(three[:1])
    assert three._repr_html_() == f"<pre>{three!r}</pre>".replace("'", "&#x27;")


def test_only_enclosures_with_digits_are_held():
    with pytest.raises(
        sp.ArgumentError, match=r"^entries holds Enclosure\(1\.0, 1\.0\); what is computed with digits="
    ):
        DigitsEnclosureArray([sp.Enclosure(1)])
    with pytest.raises(ValueError, match="read-only"):
        three._entries[0] = three[1]


@given(st.lists(st.fractions(0, 3, max_denominator=50), min_size=1, max_size=4))
def test_doubles_and_digits_overlap(epsilons):
    doubles, digits = CURVE.delta(epsilons), CURVE.delta(epsilons, digits=25)
    assert doubles.contains(digits).all()
    assert (digits.lower <= doubles.upper).all()


def test_infinite_ends():
    array = CURVE.epsilon([0, 1], digits=20)
    assert array.upper[0] == inf
    assert list(array.width) == [0, 0]
