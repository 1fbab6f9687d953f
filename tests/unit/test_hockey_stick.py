"""`hockey_stick`: the kinds of numbers and laws it takes, what comes back, and what it refuses."""

import re
from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import mpmath
import numpy as np
import pytest

import statpriv as sp

HALF = Fraction(1, 2)


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda law: np.array(law, dtype=np.float32)])
def test_laws_come_as_lists_tuples_and_arrays(kind):
    assert sp.hockey_stick(kind([0.75, 0.25]), kind([0.25, 0.75]), 0) == sp.Enclosure(0.5)


@pytest.mark.parametrize(
    "p",
    [
        ["3/4", "0.25"],
        [Decimal("0.75"), Fraction(1, 4)],
        [mpmath.mpf("0.75"), mpmath.mpf("0.25")],
        [np.float64(0.75), np.float32(0.25)],
        np.array([Fraction(3, 4), Fraction(1, 4)]),
    ],
)
def test_probabilities_come_in_every_exact_kind(p):
    assert sp.hockey_stick(p, [0, 1], 0) == sp.Enclosure(0.75)


def test_a_dict_needs_only_the_answers_that_are_given():
    p, q = {"yes": "3/4", "no": "1/4"}, {"no": "1/2", "refused": "1/2"}
    assert sp.hockey_stick(p, q, exp_epsilon=1) == Fraction(3, 4)
    assert sp.hockey_stick(q, p, exp_epsilon=1) == Fraction(3, 4)
    assert sp.hockey_stick(q, p, exp_epsilon=2) == HALF


def test_exact_numbers_and_a_rational_factor_give_a_fraction():
    value = sp.hockey_stick([HALF, HALF], [Fraction(1, 3), Fraction(2, 3)], exp_epsilon=Fraction(11, 10))
    assert type(value) is Fraction
    assert value == HALF - Fraction(11, 30)
    assert type(sp.hockey_stick([HALF, HALF], [0.5, 0.5], exp_epsilon=1)) is sp.Enclosure


def test_any_finite_epsilon_counts():
    p, q = [HALF, HALF], [Fraction(1, 4), Fraction(3, 4)]
    assert sp.hockey_stick(p, q, -800).upper == 1
    assert sp.hockey_stick(p, q, 800) == sp.Enclosure(0)
    assert sp.hockey_stick(p, q, 10**400) == sp.Enclosure(0)


def test_floats_that_do_not_sum_to_one_are_divided_by_their_sum_and_the_result_says_so(copies, read_back):
    p = [0.1] * 10
    value = sp.hockey_stick(p, [1.0] + [0.0] * 9, 0)
    assert Fraction(9, 10) in value
    assert isinstance(value, sp.NormalisedEnclosure)
    assert value.sums == (10 * Fraction(0.1), 1)
    assert all(copied == value and copied.sums == value.sums for copied in copies(value))
    assert read_back(repr(value)).sums == value.sums
    assert type(value + 0) is sp.Enclosure


def test_floats_that_sum_to_one_need_no_remark():
    assert type(sp.hockey_stick([0.5, 0.5], [0.25, 0.75], 1)) is sp.Enclosure


@pytest.mark.parametrize("off", [Fraction(1), Fraction(-1)])
def test_the_tolerance_is_what_the_documentation_says(off):
    tolerance = Fraction(1, 2**40) + Fraction(2, 2**52)
    within = float(HALF + off * tolerance)
    assert isinstance(sp.hockey_stick([0.5, within], [0.5, 0.5], 0), sp.NormalisedEnclosure)
    with pytest.raises(sp.ArgumentError, match=r"P sums to 1 [+-] 9\.\d+e-13; .* at most 2\^-40 \+ 2 · 2\^-52"):
        sp.hockey_stick([0.5, np.nextafter(within, float(off) * inf)], [0.5, 0.5], 0)


@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        ([HALF, Fraction(1, 3)], [HALF, HALF], "P sums to 5/6; exact probabilities must sum to exactly one"),
        (["0.1"] * 10, ["0.1"] * 9, "Q sums to 9/10; exact"),
        ([0.5, 0.5], [0.5, 0.25], "Q sums to 3/4; probabilities in floats"),
        ([0.5, 0.5], [1.5, -0.5], "Q[1] = -0.5; a probability from 0 to 1 is required"),
        ([Fraction(3, 2), -HALF], [HALF, HALF], "P[1] = -1/2; a probability from 0 to 1 is required"),
        ([0.5, nan], [0.5, 0.5], "P[1] = NaN; a probability from 0 to 1 is required"),
        ([0.5, inf], [0.5, 0.5], "P[1] = inf; a probability from 0 to 1 is required"),
        ([HALF, nan], [HALF, HALF], "P[1] = nan is not finite"),
        ([HALF, None], [HALF, HALF], "P[1] = None is not a number"),
        ([HALF, True], [HALF, HALF], "P[1] = True is a truth value"),
        ([], [], "P is empty; at least one probability is required"),
        ([0.5, 0.5], [1.0], "P has 2 probabilities and Q has 1; both must list the same answers"),
        ([HALF, HALF], [1], "P has 2 probabilities and Q has 1; both must list the same answers"),
        ({1: 1}, [1], "P is a dict; a sequence of probabilities is required, or dicts for both P and Q"),
        ({0.5}, [1], "P is a set"),
        ("1", ["1"], "P is a str"),
        (1, [1], "P is a int"),
        (np.ones((1, 1)), [1.0], "P is an array of 2 dimensions"),
    ],
)
def test_what_is_not_a_law_is_refused(p, q, message):
    with pytest.raises(sp.ArgumentError, match=re.escape(message)):
        sp.hockey_stick(p, q, 0.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either epsilon or exp_epsilon is required; neither is given"),
        (
            {"epsilon": 0, "exp_epsilon": 1},
            "either epsilon or exp_epsilon is required; epsilon = 0 and exp_epsilon = 1",
        ),
        ({"epsilon": inf}, "epsilon = inf is not finite"),
        ({"epsilon": "a"}, 'epsilon: "a" is not a number'),
        ({"exp_epsilon": 0}, "exp_epsilon = 0; a number above 0 is required"),
        ({"exp_epsilon": -HALF}, "exp_epsilon = -1/2; a number above 0 is required"),
    ],
)
@pytest.mark.parametrize("law", [[HALF, HALF], [0.5, 0.5]])
def test_what_is_not_an_epsilon_is_refused(arguments, message, law):
    with pytest.raises(sp.ArgumentError, match=re.escape(message)):
        sp.hockey_stick(law, law, **arguments)


# --- several ε

LAWS = ([0.75, 0.25], [0.25, 0.75])


@pytest.mark.parametrize("epsilons", [[0, 0.5, -1], ["0.1", Fraction(1, 3)], np.array([[0.1], [0.2]]), []], ids=repr)
def test_an_array_of_epsilon_gives_what_its_entries_give(epsilons):
    array = sp.hockey_stick(*LAWS, epsilons)
    entries = np.array(epsilons, dtype=object)
    assert array.shape == entries.shape
    assert [array[place] for place in np.ndindex(array.shape)] == [sp.hockey_stick(*LAWS, x) for x in entries.flat]
    assert sp.hockey_stick(["3/4", 0.25], ["1/4", "3/4"], epsilons) == array


def test_an_array_of_exp_epsilon_gives_fractions_for_exact_laws():
    exact = sp.hockey_stick(["3/4", "1/4"], ["1/4", "3/4"], exp_epsilon=[1, "3/2", 3])
    assert exact.tolist() == [HALF, Fraction(3, 8), 0]
    assert list(sp.hockey_stick(*LAWS, exp_epsilon=[1, 3])) == [sp.Enclosure(0.5), sp.Enclosure(0)]
    assert sp.hockey_stick(["3/4", "1/4"], ["1/4", "3/4"], exp_epsilon=np.array(1.5)) == Fraction(3, 8)


def test_an_array_says_that_laws_were_normalised(copies):
    law = [0.1] * 10
    array = sp.hockey_stick(law, law[::-1], [0, "0.1", 1.0])
    one = sp.hockey_stick(law, law, "0.1")
    assert array.sums == one.sums
    assert list(array) == [sp.hockey_stick(law, law, epsilon) for epsilon in (0, "0.1", 1.0)]
    assert [type(entry) for entry in array] == [sp.NormalisedEnclosure] * 3
    assert array[1:].sums == one.sums
    assert {copy.sums for copy in copies(array)} == {one.sums}
    assert sp.hockey_stick(law, law, np.array(1.0)) == sp.hockey_stick(law, law, 1.0)
    assert type(-array) is sp.EnclosureArray


@pytest.mark.parametrize(
    ("epsilon", "message"),
    [
        ({"epsilon": [0, nan]}, r"^at \[1\]: epsilon = nan is not finite"),
        ({"exp_epsilon": [1, 0]}, r"^at \[1\]: exp_epsilon = 0\.0; "),
        ({"exp_epsilon": ["1", "-2"]}, r"^at \[1\]: exp_epsilon = '-2'; "),
    ],
)
def test_the_first_bad_epsilon_is_named(epsilon, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.hockey_stick(*LAWS, **epsilon)
