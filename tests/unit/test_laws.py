"""`sp.laws`: probabilities of numbers and of arrays of numbers, against enumeration in exact fractions."""

import math
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from math import comb, inf, nan

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import statpriv as sp

P = Fraction(3, 10)
QUANTITIES = ["log_pmf", "pmf", "upper_tail", "lower_tail"]


def law(family, quantity):
    return getattr(sp.laws, f"{family}_{quantity}")


def binomial(k, n, p):
    return comb(n, k) * p**k * (1 - p) ** (n - k) if 0 <= k <= n else Fraction(0)


def hypergeometric(k, population, marked, draws):
    if not 0 <= k <= draws:
        return Fraction(0)
    return Fraction(comb(marked, k) * comb(population - marked, draws - k), comb(population, draws))


def encloses(enclosure, quantity, pmf, k, last):
    """Whether the enclosure is narrow and contains the quantity at k of the law with this pmf on 0..last."""
    values = {"upper_tail": range(max(k, 0), last + 1), "lower_tail": range(min(k, last) + 1)}.get(quantity, [k])
    truth = sum(map(pmf, values), Fraction(0))
    if quantity == "log_pmf":
        if truth == 0:
            return enclosure == sp.Enclosure(-inf)
        with mpmath.workprec(200):
            truth = mpmath.log(mpmath.mpf(truth.numerator) / truth.denominator)
        # This keeps a fifth of the digits of mpmath's logarithm in reserve.
        return abs(truth - enclosure.midpoint) <= enclosure.width + 1e-15 * abs(truth) and truth in enclosure
    return truth in enclosure and enclosure.width <= 1e-12 * truth


# --- single numbers


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("n", [0, 1, 2, 7, 100])
def test_binomial_quantities_are_counted_right(quantity, n):
    for k in (-1, *range(0, n + 2, max(1, n // 10))):
        assert encloses(law("binomial", quantity)(k, n=n, p=P), quantity, lambda i: binomial(i, n, P), k, n), k


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("sizes", [(0, 0, 0), (10, 4, 3), (10, 8, 7), (120, 50, 30)])
def test_hypergeometric_quantities_are_counted_right(quantity, sizes):
    population, marked, draws = sizes
    for k in range(-1, draws + 2):
        enclosure = law("hypergeometric", quantity)(k, population=population, marked=marked, draws=draws)
        assert encloses(enclosure, quantity, lambda i: hypergeometric(i, *sizes), k, draws), k


@pytest.mark.parametrize("k", [-(2**53), -1, 4, 2**53])
def test_outside_the_support(k):
    below = k < 0
    assert sp.laws.binomial_pmf(k, n=3, p=0.5) == sp.Enclosure(0)
    assert sp.laws.binomial_log_pmf(k, n=3, p=0.5) == sp.Enclosure(-inf)
    assert sp.laws.binomial_upper_tail(k, n=3, p=0.5) == sp.Enclosure(int(below))
    assert sp.laws.binomial_lower_tail(k, n=3, p=0.5) == sp.Enclosure(int(not below))
    assert sp.laws.hypergeometric_pmf(k, population=9, marked=3, draws=5) == sp.Enclosure(0)
    assert sp.laws.hypergeometric_log_pmf(k, population=9, marked=3, draws=5) == sp.Enclosure(-inf)
    assert sp.laws.hypergeometric_upper_tail(k, population=9, marked=3, draws=5) == sp.Enclosure(int(below))
    assert sp.laws.hypergeometric_lower_tail(k, population=9, marked=3, draws=5) == sp.Enclosure(int(not below))


@pytest.mark.parametrize(("p", "value"), [(0, 0), (1, 3), ("0", 0), (1.0, 3)])
def test_certain_numbers(p, value):
    for k in range(-1, 5):
        here = k == value
        assert sp.laws.binomial_pmf(k, n=3, p=p) == sp.Enclosure(int(here))
        assert sp.laws.binomial_log_pmf(k, n=3, p=p) == sp.Enclosure(0 if here else -inf)
        assert sp.laws.binomial_upper_tail(k, n=3, p=p) == sp.Enclosure(int(k <= value))
        assert sp.laws.binomial_lower_tail(k, n=3, p=p) == sp.Enclosure(int(k >= value))


@pytest.mark.parametrize(
    "call", [lambda k: sp.laws.binomial_pmf(k, n=3, p=0.5), lambda k: sp.laws.binomial_pmf([k], n=3, p=0.5)]
)
def test_a_whole_float_counts_and_half_a_number_does_not(call):
    call(3.0)
    with pytest.raises(sp.ArgumentError, match=r"k(\[0\])? = 1\.5; an integer of size up to 2\^53 is required"):
        call(1.5)


def test_numbers_do_not_load_numpy():
    script = (
        "import sys, statpriv as sp; sp.laws.binomial_pmf('1', n=2, p='1/2'); "
        "sp.laws.hypergeometric_log_pmf(1, population=3, marked=2, draws=1); print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "False\n"


# --- arrays


def entries(array):
    """The entries with their indices."""
    return [(place, array[place]) for place in np.ndindex(array.shape)]


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_an_array_of_k_gives_what_its_entries_give(quantity):
    function, k = law("binomial", quantity), np.arange(-2, 300)
    array = function(k, n=250, p=0.3)
    assert isinstance(array, sp.EnclosureArray)
    assert list(array) == [function(int(one), n=250, p=0.3) for one in k]


numbers = st.integers(-2, 12)
chances = st.floats(0, 1)


@given(
    st.lists(numbers, min_size=1, max_size=4),
    st.lists(st.integers(0, 10), min_size=1, max_size=3),
    st.lists(chances, min_size=1, max_size=3),
    st.permutations(range(3)),
    st.sampled_from(QUANTITIES),
)
def test_binomial_arguments_are_broadcast_as_numpy_does(k, n, p, axes, quantity):
    arrays = [
        np.expand_dims(np.array(one), tuple({0, 1, 2} - {axis})) for one, axis in zip((k, n, p), axes, strict=True)
    ]
    array = law("binomial", quantity)(arrays[0], n=arrays[1], p=arrays[2])
    full = np.broadcast_arrays(*arrays)
    assert array.shape == full[0].shape
    for place, entry in entries(array):
        own = [float(one[place]) for one in full]
        assert entry == law("binomial", quantity)(own[0], n=own[1], p=own[2])


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_hypergeometric_arguments_are_broadcast_as_numpy_does(quantity):
    function = law("hypergeometric", quantity)
    k, marked, draws = np.arange(-1, 8), np.array([[0], [5], [20]]), np.array([[[6]], [[9]]])
    array = function(k, population=20, marked=marked, draws=draws)
    assert array.shape == (2, 3, 9)
    for (i, j, m), entry in entries(array):
        expected = function(int(k[m]), population=20, marked=int(marked[j, 0]), draws=int(draws[i, 0, 0]))
        assert entry == expected


@pytest.mark.parametrize("p", ["1/3", Fraction(1, 3), Decimal("0.1"), ["1/3", 0.1], [Fraction(1, 3), 0.5]], ids=repr)
def test_exact_probabilities_stay_exact_in_arrays(p):
    array = sp.laws.binomial_pmf([[1], [2]], n=2, p=p)
    exact = np.broadcast_to(np.array(p, dtype=object), array.shape if isinstance(p, list) else (2, 1))
    for place, entry in entries(array):
        assert entry == sp.laws.binomial_pmf(place[0] + 1, n=2, p=exact[place])
    if not isinstance(p, list):
        assert Fraction(p) ** 2 in array[1, 0]


@pytest.mark.parametrize(
    "k", [[0, 1, 2], (0, 1.0, 2), range(3), np.arange(3, dtype=np.uint64), np.arange(3, dtype=np.int8), ["0", "1", "2"]]
)
@pytest.mark.parametrize("n", [2, "2", Fraction(2), np.int64(2), np.array(2)])
def test_integers_come_in_every_kind(k, n):
    assert sp.laws.binomial_pmf(k, n=n, p=0.5) == sp.EnclosureArray([0.25, 0.5, 0.25])


def test_arrays_without_axes_are_numbers_and_empty_ones_stay_empty():
    assert sp.laws.binomial_pmf(np.array(1), n=np.array(2), p=np.array(0.5)) == sp.Enclosure(0.5)
    assert sp.laws.binomial_pmf(np.array(1), n=2, p="1/2") == sp.Enclosure(0.5)
    assert sp.laws.binomial_pmf([], n=2, p=0.5).shape == (0,)
    assert sp.laws.binomial_pmf([], n=2, p="1/3").shape == (0,)
    assert sp.laws.binomial_pmf(np.ones((3, 0)), n=2, p=np.ones((3, 1))).shape == (3, 0)


def test_a_result_beyond_all_memory_is_an_error():
    for length in (10**5, 2 * 10**6):
        k = np.zeros(length)
        with pytest.raises((MemoryError, sp.ArgumentError)):
            sp.laws.binomial_pmf(k, n=k[:, None], p=k[:, None, None])


def test_many_entries_are_those_of_few():
    """Several threads work on the long array; each of its entries equals that of a short array."""
    rng = np.random.default_rng(7)
    k, p = rng.integers(-10, 1010, 20_000), rng.random(20_000)
    array = sp.laws.binomial_log_pmf(k, n=1000, p=p)
    again = sp.laws.binomial_log_pmf(k[::-1].reshape(100, 200), n=1000, p=p[::-1].reshape(100, 200))
    assert np.array_equal(array.lower[::-1], again.lower.ravel())
    assert np.array_equal(array.upper[::-1], again.upper.ravel())
    for start in range(0, 20_000, 2000):
        few = slice(start, start + 3)
        assert sp.laws.binomial_log_pmf(k[few], n=1000, p=p[few]) == array[few]


def test_a_whole_law_has_mass_one():
    pmf = sp.laws.binomial_pmf(np.arange(1001), n=1000, p=0.3)
    assert math.fsum(pmf.lower) <= 1 <= math.fsum(pmf.upper)
    assert math.fsum(pmf.width) < 1e-13


# --- rows: all values of a law


@pytest.mark.parametrize("n", [0, 1, 2, 7, 300])
@pytest.mark.parametrize("p", [0.25, Fraction(3, 10), "1e-5", 1 - 2.0**-20])
def test_a_binomial_row_holds_all_probabilities(n, p):
    row, exact = sp.laws.binomial_pmf_row(n=n, p=p), Fraction(p)
    assert row.shape == (n + 1,)
    for k, entry in enumerate(row):
        assert encloses(entry, "pmf", lambda i: binomial(i, n, exact), k, n) or binomial(k, n, exact) < 1e-300


@pytest.mark.parametrize("sizes", [(0, 0, 0), (10, 4, 3), (10, 8, 7), (10, 10, 7), (120, 50, 30)])
def test_a_hypergeometric_row_holds_all_probabilities(sizes):
    population, marked, draws = sizes
    row = sp.laws.hypergeometric_pmf_row(population=population, marked=marked, draws=draws)
    least = max(0, marked + draws - population)
    assert row.shape == (min(marked, draws) - least + 1,)
    for k, entry in enumerate(row, start=least):
        assert encloses(entry, "pmf", lambda i: hypergeometric(i, *sizes), k, draws), k


@pytest.mark.parametrize(("p", "row"), [(0, [1, 0, 0, 0]), ("1", [0, 0, 0, 1])])
def test_the_row_of_a_certain_number(p, row):
    assert sp.laws.binomial_pmf_row(n=3, p=p) == sp.EnclosureArray(row)


def test_rows_have_digits():
    row = sp.laws.binomial_pmf_row(n=4, p="1/3", digits=30)
    assert row.contains([binomial(k, 4, Fraction(1, 3)) for k in range(5)]).all()
    assert all(entry.width <= 1e-30 for entry in row)
    row = sp.laws.hypergeometric_pmf_row(population=5, marked=4, draws=3, digits=30)
    assert row.contains([hypergeometric(k, 5, 4, 3) for k in (2, 3)]).all()
    tail = sp.laws.hypergeometric_lower_tail(2, population=5, marked=4, draws=3, digits=30)
    assert Fraction(3, 5) in tail
    assert tail.width <= 1e-30
    assert Fraction(7, 27) in sp.laws.binomial_lower_tail(1, n=3, p="2/3", digits=30)


@pytest.mark.parametrize("digits", [None, 30])
def test_a_row_that_is_too_long_is_refused(digits):
    for p in (0, 0.5):
        with pytest.raises(sp.ArgumentError, match=r"^a row of 67108865 probabilities is too long; up to 2\^26"):
            sp.laws.binomial_pmf_row(n=2**26, p=p, digits=digits)
    with pytest.raises(sp.ArgumentError, match=r"^a row of 1099511627777 probabilities is too long"):
        sp.laws.hypergeometric_pmf_row(population=2**42, marked=2**40, draws=2**41, digits=digits)


def test_a_row_of_what_is_no_law_is_refused():
    with pytest.raises(sp.ArgumentError, match=r"^n = -1; an integer from 0 to 2\^53 is required$"):
        sp.laws.binomial_pmf_row(n=-1, p=0.5)
    with pytest.raises(sp.ArgumentError, match=r"^p = 1\.5; a probability from 0 to 1 is required$"):
        sp.laws.binomial_pmf_row(n=3, p=1.5)
    with pytest.raises(sp.ArgumentError, match=r"^marked = 4 is above population = 3; 0 ≤ marked ≤ population"):
        sp.laws.hypergeometric_pmf_row(population=3, marked=4, draws=2)


# --- what is refused, and by which index


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": [0, 1.5]}, r"^k\[1\] = 1\.5; an integer of size up to 2\^53 is required$"),
        ({"k": [0, nan]}, r"^k\[1\] = nan; an integer of size up to 2\^53 is required$"),
        ({"k": [[0, 1], [inf, 2]]}, r"^k\[1, 0\] = inf; an integer"),
        ({"k": np.array([0, 2**53 + 1])}, r"^k\[1\] = 9007199254740993; an integer of size up to 2\^53"),
        ({"k": np.array([2**63 + 1], dtype=np.uint64)}, r"^k\[0\] = 9223372036854775809; an integer"),
        ({"k": ["0", "1/2"]}, r"^k\[1\] = 1/2; an integer of size up to 2\^53 is required$"),
        ({"k": [0, None]}, r"^k\[1\] = None is not a number"),
        ({"k": [[0, 1], [2]]}, r"^k\[0\] = \[0, 1\] is not a number"),
        ({"k": np.array([True, False])}, r"^k is an array of bool"),
        ({"n": [2, -1]}, r"^n\[1\] = -1; an integer from 0 to 2\^53 is required$"),
        ({"n": [2, 2.5]}, r"^n\[1\] = 2\.5; an integer from 0 to 2\^53 is required$"),
        ({"p": [0.5, 1.5]}, r"^p\[1\] = 1\.5; a probability from 0 to 1 is required$"),
        ({"p": [0.5, -1e-300]}, r"^p\[1\] = -1e-300; a probability from 0 to 1 is required$"),
        ({"p": [0.5, nan]}, r"^p\[1\] = nan; a probability from 0 to 1 is required$"),
        ({"p": ["1/2", "3/2"]}, r"^p\[1\] = '3/2'; a probability from 0 to 1 is required$"),
        ({"p": [0.5, "half"]}, r'^p\[1\]: "half" is not a number'),
        ({"k": [1, 2], "p": 1.5}, r"^p = 1\.5; a probability from 0 to 1 is required$"),
        ({"k": [1, 2], "p": "3/2"}, r"^p = '3/2'; a probability from 0 to 1 is required$"),
        ({"k": [1, 2], "n": 2.5}, r"^n = 2\.5; an integer"),
        ({"k": [1, 2], "p": [0.1, 0.2, 0.3]}, r"^the shapes k: \(2,\), n: \(\), p: \(3,\) do not fit"),
        ({"k": sp.EnclosureArray([1, 2])}, r"an EnclosureArray is no array of numbers"),
    ],
    ids=repr,
)
def test_the_first_bad_entry_is_named(arguments, message):
    with pytest.raises(sp.StatprivError, match=message):
        sp.laws.binomial_pmf(**({"k": 1, "n": 2, "p": 0.5} | arguments))


def test_sizes_that_do_not_fit_are_named_with_their_index():
    for marked in (np.array([3, 11, 12]), np.append(np.full(20_000, 3), [11, 12])):
        place = marked.size - 2
        message = rf"^at \[{place}\]: marked = 11 is above population = 10; 0 ≤ marked ≤ population is required$"
        with pytest.raises(sp.ArgumentError, match=message):
            sp.laws.hypergeometric_pmf(1, population=10, marked=marked, draws=3)
