"""`hockey_stick`: the numbers and laws it accepts, its results, and its refusals."""

import math
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


P, Q = ["0.1", "1/3", "17/30"], ["1/7", "2/7", "4/7"]


def by_hand(epsilon, digits):
    """The same sum in decimal numbers with twice as many digits."""
    with mpmath.workdps(2 * digits + 20):
        laws = [[mpmath.mpf(mass.numerator) / mass.denominator for mass in map(Fraction, law)] for law in (P, Q)]
        ratio = mpmath.exp(mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator)
        return mpmath.fsum(max(p - ratio * q, 0) for p, q in zip(*laws, strict=True))


@pytest.mark.parametrize("digits", [1, 20, 300])
@pytest.mark.parametrize("epsilon", ["0.001", "-0.7", "-300", "1/7"])
def test_digits_on_demand(epsilon, digits):
    found, truth = sp.hockey_stick(P, Q, epsilon, digits=digits), by_hand(epsilon, digits)
    with mpmath.workdps(2 * digits + 20):
        slack = truth * mpmath.mpf(10) ** (-2 * digits - 10)
        assert found.lower - slack <= truth <= found.upper + slack
        assert found.upper - found.lower <= truth * mpmath.mpf(10) ** -digits


def test_digits_of_a_rational_factor_enclose_the_fraction():
    exact = sp.hockey_stick(P, Q, exp_epsilon="1.01")
    found = sp.hockey_stick(P, Q, exp_epsilon="1.01", digits=40)
    assert exact in found
    assert found.upper - found.lower <= mpmath.mpf(10) ** -40
    assert sp.hockey_stick(P, Q, 0, digits=40) == sp.hockey_stick(P, Q, exp_epsilon=1, digits=40)


def test_digits_where_nothing_is_left_and_of_exact_floats():
    assert sp.hockey_stick(P, Q, 5, digits=30).upper == 0
    half = sp.hockey_stick([0.75, 0.25], [0.25, 0.75], 0, digits=30)
    assert Fraction(1, 2) in half
    assert half.width == 0


def test_digits_of_an_array():
    found = sp.hockey_stick(P, Q, ["0.001", "0.1"], digits=25)
    assert isinstance(found, sp.EnclosureArray)
    assert [found[k] for k in range(2)] == [sp.hockey_stick(P, Q, at, digits=25) for at in ("0.001", "0.1")]


@pytest.mark.parametrize(("laws", "name"), [(([0.1] * 10, [0.5, 0.5] + [0.0] * 8), "P"), (([1, 0], [0.3, 0.7]), "Q")])
def test_digits_need_probabilities_that_sum_to_one(laws, name):
    message = rf"^digits = 5 and {name} sums to .*; digits= is for probabilities that sum to exactly one: give exact"
    with pytest.raises(sp.ArgumentError, match=message):
        sp.hockey_stick(*laws, 0, digits=5)


@pytest.mark.parametrize("digits", [0, -1, 10_001, 1.5])
def test_bad_numbers_of_digits_are_refused(digits):
    with pytest.raises(sp.ArgumentError, match=r"^digits = "):
        sp.hockey_stick(P, Q, 0, digits=digits)


class ReadOnce(list):
    """A law that records how often it was read."""

    reads = 0

    def __iter__(self):
        self.reads += 1
        return super().__iter__()


@pytest.mark.parametrize("given", ["epsilon", "exp_epsilon"])
@pytest.mark.parametrize("digits", [None, 20])
def test_laws_are_read_once_however_many_epsilons_there_are(given, digits):
    reads = []
    for many in (2, 50):
        law = ReadOnce(P)
        sp.hockey_stick(law, Q, **{given: [1 + k for k in range(many)]}, digits=digits)
        reads.append(law.reads)
    assert reads[0] == reads[1]


def test_an_array_is_what_its_entries_are():
    rng = np.random.default_rng(1)
    p, q = (law / law.sum() for law in rng.random((2, 1000)))
    epsilons = np.linspace(-1, 2, 7)
    array = sp.hockey_stick(p, q, epsilons)
    assert [array[k] for k in range(7)] == [sp.hockey_stick(p, q, float(epsilon)) for epsilon in epsilons]


# --- probabilities that are enclosed, and laws given by functions


def count_of(entries, p):
    """The law of a count of `entries` entries and one more that has the property, or does not."""
    return lambda k: sp.laws.binomial_pmf(k - 1, n=entries, p=p), lambda k: sp.laws.binomial_pmf(k, n=entries, p=p)


@pytest.mark.parametrize("epsilon", ["0", "0.1", "2", "-0.5"])
def test_laws_given_by_functions_have_the_curve_of_their_count(epsilon):
    with_it, without = count_of(39, "1/10")
    truth = sp.privacy_curve(sp.PropertyQuery("1/10"), sp.Population(40), pair=(1, 0))
    for first, second, curve in ((with_it, without, truth), (without, with_it, truth.reversed())):
        found = sp.hockey_stick(first, second, epsilon, answers=range(41), missing=0)
        exact = reflected(curve, Fraction(epsilon))
        assert found.lower <= exact.upper
        assert exact.lower <= found.upper
        assert found.width < 1e-15


def reflected(curve, epsilon):
    """δ of a curve at ε of either sign."""
    if epsilon >= 0:
        return curve.delta(epsilon)
    return 1 - sp.Enclosure(math.exp(epsilon) * (1 - 1e-15), math.exp(epsilon) * (1 + 1e-15)) * (
        1 - curve.reversed().delta(-epsilon)
    )


def test_all_answers_listed_the_far_tail_is_told():
    with_it, without = count_of(39, "1/2")
    truth = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(40), pair=(1, 0)).delta("3.6")
    whole = sp.hockey_stick(with_it, without, "3.6", answers=range(41), missing=0)
    open_ended = sp.hockey_stick(with_it, without, "3.6", answers=range(41))
    assert whole.lower <= truth.upper
    assert truth.lower <= whole.upper < 1e-10
    assert whole.width < 1e-12 * whole.upper
    assert open_ended.lower == whole.lower
    assert whole.upper + 1e-18 < open_ended.upper < whole.upper + 1e-13


def test_arrays_lists_dicts_and_functions_of_enclosures_are_alike():
    with_it, without = count_of(12, "1/3")
    asked = sp.hockey_stick(with_it, without, [0, "0.3"], answers=range(14), missing=0)
    arrays = [sp.laws.binomial_pmf([k - shift for k in range(14)], n=12, p="1/3") for shift in (1, 0)]
    lists = [[law(k) for k in range(14)] for law in (with_it, without)]
    dicts = [dict(enumerate(law)) for law in lists]
    for first, second in (arrays, lists, dicts):
        assert sp.hockey_stick(first, second, [0, "0.3"], missing=0) == asked
    wide = sp.hockey_stick([sp.Enclosure(0.5, 0.75), "0.25"], [0.25, Fraction(3, 4)], exp_epsilon=1)
    assert (wide.lower, wide.upper) == (0.25, 0.75)


def test_digits_of_an_enclosure_are_rounded_outward():
    third = sp.laws.binomial_pmf(1, n=1, p="1/3", digits=30)
    found = sp.hockey_stick([third, "2/3"], [0.25, 0.75], exp_epsilon=1, missing=0)
    assert Fraction(1, 12) in found
    assert 0 < found.width < 1e-16


@pytest.mark.parametrize("kind", [Fraction, float])
def test_functions_of_exact_numbers_are_laws_as_lists_are(kind):
    first, second = {0: kind(3) / 4, 1: kind(1) / 4}, {0: kind(1) / 4, 1: kind(3) / 4}
    asked = sp.hockey_stick(first.get, second.get, exp_epsilon=1, answers=[0, 1])
    assert asked == HALF if kind is Fraction else asked == sp.Enclosure(0.5)
    assert type(asked) is (Fraction if kind is Fraction else sp.Enclosure)


def test_exact_functions_that_go_on_are_cut_at_the_last_answer():
    """Geometric laws of 1/2 and 1/4 at e^ε = 1: only the first two answers are likelier under the first law."""
    first, second = (lambda day, p=p: p * (1 - p) ** day for p in (HALF, Fraction(1, 4)))
    for last, most in ((60, 1e-15), (9, 2**-9)):
        found = sp.hockey_stick(first, second, exp_epsilon=1, answers=range(last + 1))
        truth = sum(max(first(day) - second(day), Fraction(0)) for day in range(200))
        assert truth in found
        assert found.width < most
    with pytest.raises(sp.ArgumentError, match="P sums to 1023/1024; exact probabilities must sum to exactly one"):
        sp.hockey_stick([first(day) for day in range(10)], [second(day) for day in range(10)], 0)


ENCLOSED = [sp.Enclosure(0.25, 0.5), sp.Enclosure(0.5, 0.75)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sp.hockey_stick({0: 1}.get, [1], 0), "P is a function; answers= is required"),
        (lambda: sp.hockey_stick([1], {0: 1}.get, 0), "Q is a function; answers= is required"),
        (lambda: sp.hockey_stick([1], {0: 1}.get, 0, answers=[0]), "answers is given and P is a list; it is for laws"),
        (lambda: sp.hockey_stick({0: 1}.get, {0: 1}.get, 0, answers=3), "answers = 3; an iterable of answers is"),
        (lambda: sp.hockey_stick({0: 1}.get, {0: 1}.get, 0, answers="ab"), "answers = 'ab'; an iterable of"),
        (lambda: sp.hockey_stick({0: 1}.get, {0: None}.get, 0, answers=[0]), "Q[0]"),
        (lambda: sp.hockey_stick(ENCLOSED, [1, 0], 0, digits=5), "digits = 5, with enclosures or missing answers"),
        (lambda: sp.hockey_stick([1, 0], ["1/2", "1/4"], 0, missing=2), "missing = 2; a probability from 0 to 1"),
        (lambda: sp.hockey_stick(["1/4", "1/4"], [1, 0], 0, missing=0.25), "P sums to at most 0.5 and missing = 0.25"),
        (lambda: sp.hockey_stick(ENCLOSED, [1, -0.5], 0), "Q[1] is in [-0.5, -0.5]; a probability from 0 to 1"),
        (lambda: sp.hockey_stick(ENCLOSED, [1], 0), "P has 2 probabilities and Q has 1"),
        (lambda: sp.hockey_stick(ENCLOSED, [0.5, "x"], 0), 'Q[1]: "x" is not a number'),
        (lambda: sp.hockey_stick(ENCLOSED, [0.5, 0.5]), "either epsilon or exp_epsilon is required"),
        (lambda: sp.hockey_stick(ENCLOSED, [0.5, 0.5], "inf"), "epsilon"),
    ],
    ids=range(14),
)
def test_what_cannot_be_compared_by_enclosures_is_refused(call, message):
    with pytest.raises(sp.ArgumentError, match=re.escape(message)):
        call()
