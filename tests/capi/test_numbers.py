"""Does the C library give the numbers of Python to the last bit, and does it refuse everything else with a sentence?"""

from __future__ import annotations

import ctypes as c
import json
import re
import threading
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import statpriv as sp

from .. import doors
from ..cases import cases

pytestmark = pytest.mark.xdist_group("capi")

OK, ARGUMENT, PRECISION, INTERRUPTED = range(4)
ENDED_BY = c.CFUNCTYPE(c.c_int, c.c_void_p)


class Ends(c.Structure):
    _fields_ = (("lower", c.c_double), ("upper", c.c_double))


class Door:
    """The functions of the library: those that make a curve return it, the others return a status."""

    def __init__(self, library):
        self.library = library
        library.statpriv_last_error.restype = library.statpriv_version.restype = c.c_char_p
        library.statpriv_curve_free.argtypes = [c.c_void_p]

    def error(self):
        return self.library.statpriv_last_error().decode()

    def made(self, name, *arguments):
        curve = c.c_void_p()
        status = getattr(self.library, f"statpriv_{name}")(*map(argument, arguments), c.byref(curve))
        assert (curve.value is None) == (status != OK)
        return curve if status == OK else status

    def enclosed(self, name, *arguments):
        ends = Ends()
        status = getattr(self.library, f"statpriv_{name}")(*map(argument, arguments), c.byref(ends))
        return sp.Enclosure(ends.lower, ends.upper) if status == OK else status


def argument(value):
    """Integers are of 64 bits; lists are pointers."""
    if isinstance(value, list):
        kind = {float: c.c_double, int: c.c_int64, str: c.c_char_p}[type(value[0])]
        return (kind * len(value))(*(each.encode() if isinstance(each, str) else each for each in value))
    if isinstance(value, str):
        return c.c_char_p(value.encode())
    return c.c_uint64(value) if isinstance(value, int) else value


@pytest.fixture(scope="session")
def door(installed):
    return Door(c.CDLL(str(installed / "lib" / "libstatpriv.so.1")))


def curve_of(door, query, rows, numbers, known):
    stated = numbers.split()
    values = [value.split(":") for value in stated] if query == "sum" else []
    asked = {
        "count": ("count", rows, *stated, known),
        "range": ("count_in_range", rows, *stated, known),
        "histogram": ("histogram", rows, stated, len(stated), known),
        "sum": ("sum", rows, [int(value) for value, _ in values], [share for _, share in values], len(values), known),
        "table": ("table", rows, known),
        "supremum": ("table_supremum", rows, known),
        "composition": ("composition", numbers),
    }
    return door.made(*asked[query])


def test_the_stored_numbers_are_those_of_python():
    assert doors.FILE.read_text(encoding="utf-8") == doors.written(doors.answers())


@pytest.mark.parametrize("question", doors.QUESTIONS, ids=lambda question: " ".join(map(str, question[:2])))
def test_every_number_is_that_of_python(door, question):
    curve = curve_of(door, *question)
    lines = [line.split("\t") for line in doors.FILE.read_text(encoding="utf-8").splitlines()]
    own = [line for line in lines if line[:4] == [str(part) for part in question]]
    assert len(own) == len(doors.ASKED)
    for *_, quantity, at, lower, upper in own:
        found = door.enclosed(quantity, curve, at)
        assert (found.lower.hex(), found.upper.hex()) == (lower, upper)
    door.library.statpriv_curve_free(curve)


def test_many_epsilons_at_once_are_the_same(door):
    curve, epsilons = door.made("count", 1024, "1/2", 0), [0.0, 0.01, 0.1, 0.5]
    found = (Ends * 4)()
    assert door.library.statpriv_deltas(curve, argument(epsilons), c.c_size_t(4), found) == OK
    expected = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024)).delta(epsilons)
    assert [(ends.lower, ends.upper) for ends in found] == [*zip(expected.lower, expected.upper, strict=True)]


def test_laws_are_those_of_python(door):
    hits = {"n": 10, "p": "0.3"}
    assert door.enclosed("binomial_pmf", 3, 10, "0.3") == sp.laws.binomial_pmf(3, **hits)
    assert door.enclosed("binomial_upper_tail", 3, 10, "0.3") == sp.laws.binomial_upper_tail(3, **hits)
    assert door.enclosed("binomial_lower_tail", 3, 10, "0.3") == sp.laws.binomial_lower_tail(3, **hits)
    drawn = {"population": 10, "marked": 4, "draws": 5}
    assert door.enclosed("hypergeometric_pmf", 2, 10, 4, 5) == sp.laws.hypergeometric_pmf(2, **drawn)
    assert door.enclosed("hypergeometric_upper_tail", 2, 10, 4, 5) == sp.laws.hypergeometric_upper_tail(2, **drawn)
    stick = sp.hockey_stick([0.5, 0.5], [0.25, 0.75], "0.1")
    assert door.enclosed("hockey_stick", [0.5, 0.5], [0.25, 0.75], 2, "0.1") == stick
    assert [door.enclosed("binomial_pmf", k, 5, "1").lower for k in (4, 5, 6)] == [0, 1, 0]


def test_digits_are_texts(door):
    curve, ends = door.made("count", 1024, "1/2", 0), [c.create_string_buffer(80) for _ in range(2)]
    assert door.library.statpriv_delta_digits(curve, argument("0.1"), c.c_uint32(30), *ends, c.c_size_t(80)) == OK
    expected = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024)).delta("0.1", digits=30)
    lower, upper = (Fraction(end.value.decode()) for end in ends)
    least, most = map(Fraction, re.findall(r"'(.*?)'", repr(expected)))
    assert lower <= most
    assert least <= upper
    assert (upper - lower) / upper < 1e-30
    missing = (None, ends[1], c.c_size_t(80))
    assert door.library.statpriv_delta_digits(curve, argument("0.1"), c.c_uint32(30), *missing) == ARGUMENT
    assert door.error() == "lower is NULL"
    assert door.library.statpriv_delta_digits(curve, argument("0.1"), c.c_uint32(30), *ends, c.c_size_t(10)) == ARGUMENT
    assert "capacity = 10; " in door.error()


def test_the_least_minimum_is_that_of_python(door):
    minimum = c.c_uint64()
    for epsilon, delta, known in (("1", "1e-5", 0), ("1", "1e-5", 2**40), ("2", "0.01", 0)):
        status = door.library.statpriv_least_minimum(*map(argument, (epsilon, delta, known)), c.byref(minimum))
        expected = sp.design.least_minimum(epsilon=epsilon, delta=delta, known=known, bound="minimum-count").value
        assert (status, minimum.value) == (OK, expected)
    for epsilon, delta in (("1", "0"), ("1", "-1"), ("1", "2"), ("-1", "0.1")):
        status = door.library.statpriv_least_minimum(*map(argument, (epsilon, delta, 0)), c.byref(minimum))
        assert status == ARGUMENT


# --- what is refused


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("count", (10, "1.5", 0), "p = 3/2; a probability from 0 to 1 is required"),
        ("count", (10, "many", 0), 'p = "many" is not a number such as 0.1, 1e-6 or 1/2'),
        ("count", (10, None, 0), "p is NULL; a text is required"),
        ("count", (0, "0.5", 0), "known = 0 of 0 rows; at most all but one may be known"),
        ("count", (10, "0.5", 10), "known = 10 of 10 rows; at most all but one may be known"),
        (
            "count_in_range",
            (10, "0.6", "0.4", 0),
            "p = 3/5 to 2/5; the lower end of a range must be at most the upper one",
        ),
        (
            "histogram",
            (10, ["0.5", "0.6"], 2, 0),
            "cells sum to 11/10; exactly one is required",
        ),
        ("histogram", (10, None, 2, 0), "cells is NULL; 2 values are required"),
        ("sum", (10, [1, 1], ["0.5", "0.5"], 2, 0), "the value 1 is there twice"),
        ("table", (1, 0), "minimum = 1; a whole number from 2 to 2^52 is required"),
        ("composition", ("{",), "json: EOF while parsing an object at line 1 column 1"),
        ("composition", ("null",), "json: invalid type: null, expected an object with population and part"),
        (
            "composition",
            ('{"population": 10, "part": [{"size": 4, "cells": ["1"]}]}',),
            "cells: at least two are required",
        ),
        ("sum", (10, [5], ["1"], 1, 0), "probabilities: at least two are required, as one alone hides nothing"),
        ("composition", ('{"population": 10, "part": []}',), "a composition needs a part"),
        ("composition", ('{"population": 10, "part": [{"size": 4}]}',), "states one of probability, cells and query"),
        ("composition", ('{"population": 10, "part": [], "bound": "spc"}',), "json: unknown field `bound`"),
        (
            "composition",
            (json.dumps({"population": 10, "part": [{"size": 4, "probability": 0.5, "count": 3}]}),),
            "the parts have 12 rows, and there are 10",
        ),
    ],
)
def test_what_is_not_allowed_is_a_sentence(door, name, arguments, sentence):
    assert door.made(name, *arguments) == ARGUMENT
    assert sentence in door.error()


def test_sizes_beyond_all_bounds_are_refused(door):
    half = 2**63
    parts = [{"size": half, "probability": "0.5", "attribute": "a"}] * 2
    assert door.made("composition", json.dumps({"population": 2**64 - 1, "part": parts})) == ARGUMENT
    many = [{"size": 1, "cells": ["1/400"] * 400, "count": 10**5}]
    assert door.made("composition", json.dumps({"population": 50, "part": many})) == ARGUMENT
    assert door.error() == "the parts have 100000 rows, and there are 50"


def test_hundreds_of_cells_take_no_longer_than_their_pairs(door):
    cells = [f"{k}/45150" for k in range(1, 301)]
    stated = {"population": 10**6, "part": [{"size": 1000, "cells": cells}, {"size": 10, "probability": "0.5"}]}
    assert not isinstance(door.made("composition", json.dumps(stated)), int)


def test_a_question_that_is_not_allowed_leaves_the_result_as_it_was(door):
    curve, ends = door.made("count", 10, "0.5", 0), Ends(7, 7)
    for name, at in (("delta", "x"), ("epsilon", "-1"), ("beta", "2")):
        assert getattr(door.library, f"statpriv_{name}")(curve, argument(at), c.byref(ends)) == ARGUMENT
        assert (ends.lower, ends.upper) == (7, 7)
    assert door.library.statpriv_delta(None, argument("0"), c.byref(ends)) == ARGUMENT
    assert door.error() == "curve is NULL"
    assert door.library.statpriv_delta(curve, argument("0"), None) == ARGUMENT
    assert door.error() == "the pointer for the result is NULL"
    door.library.statpriv_curve_free(None)


def test_a_message_belongs_to_its_thread(door):
    assert door.made("count", 10, "1.5", 0) == ARGUMENT
    others = []

    def elsewhere():
        others.append(door.error())
        door.made("count", 10, "2.5", 0)
        others.append(door.error())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert others[0] == ""
    assert others[1].startswith("p = 5/2; ")
    assert door.error().startswith("p = 3/2; ")


def test_work_is_ended_from_outside(door):
    asked = []

    @ENDED_BY
    def ended(context):
        asked.append(context)
        return 1

    watched = door.made("ended_by", door.made("count", 10**6, "0.3", 0), ended, c.c_void_p(12345))
    buffer = c.create_string_buffer(100)
    digits = (argument("0.001"), c.c_uint32(50), buffer, buffer, c.c_size_t(100))
    assert door.library.statpriv_delta_digits(watched, *digits) == INTERRUPTED
    assert asked == [12345]


TEXTS = st.one_of(
    st.sampled_from(["0", "1", "0.5", "1/3", "-1", "nan", "inf", "1e400", "1e-400", "0x1", "", " ", "1/0"]),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8),
    st.floats().map(repr),
)
NUMBERS = st.one_of(st.integers(0, 12), st.sampled_from([2**31, 2**53, 2**53 + 1, 2**63, 2**64 - 1]))


@settings(max_examples=cases(150, campaign=20000), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=NUMBERS, known=NUMBERS, texts=st.lists(TEXTS, min_size=1, max_size=4), at=TEXTS)
def test_anything_is_a_number_or_a_sentence(door, rows, known, texts, at):
    made = [
        door.made("count", rows, texts[0], known),
        door.made("count_in_range", rows, texts[0], texts[-1], known),
        door.made("histogram", min(rows, 50), texts, len(texts), known),
        door.made("sum", min(rows, 50), [*range(len(texts))], texts, len(texts), known),
        door.made("table", rows, known),
        door.made("composition", json.dumps({"population": min(rows, 50), "part": [{"size": 3, "cells": texts}]})),
    ]
    for curve in made:
        if isinstance(curve, int):
            assert curve in (ARGUMENT, PRECISION)
            assert door.error()
            continue
        for name in ("delta", "beta"):
            found = door.enclosed(name, curve, at)
            assert found in (ARGUMENT, PRECISION) if isinstance(found, int) else 0 <= found.lower <= found.upper <= 1
        door.library.statpriv_curve_free(curve)
