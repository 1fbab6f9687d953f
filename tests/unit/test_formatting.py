"""Enclosures in format strings: what is printed contains what was enclosed."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import statpriv as sp

finite = st.floats(allow_nan=False, allow_infinity=False)
formats = st.builds(
    "{}.{}{}".format, st.sampled_from(["", "+", "12", "<30", ","]), st.integers(0, 20), st.sampled_from("efg%")
)


def read(end: str) -> Fraction:
    text = end.strip().replace(",", "")
    return Fraction(text.removesuffix("%")) / (100 if text.endswith("%") else 1)


@given(finite, finite, formats)
def test_the_printed_ends_enclose_the_ends(first: float, second: float, specification: str) -> None:
    enclosure = sp.Enclosure(min(first, second), max(first, second))
    printed = re.fullmatch(r"\[(.*), (.*)\]", format(enclosure, specification))
    assert printed is not None
    lower, upper = map(read, printed.groups())
    assert lower <= Fraction(enclosure.lower)
    assert Fraction(enclosure.upper) <= upper


@pytest.mark.parametrize(
    ("enclosure", "specification", "printed"),
    [
        (sp.Enclosure("1/3"), ".3g", "[0.333, 0.334]"),
        (sp.Enclosure("1/3"), ".1%", "[33.3%, 33.4%]"),
        (sp.Enclosure("-1/3"), ".2f", "[-0.34, -0.33]"),
        (sp.Enclosure("1/2"), ".2f", "[0.50, 0.50]"),
        (sp.Enclosure(2.0**-1074), ".2e", "[4.94e-324, 4.95e-324]"),
        (sp.Enclosure(0, float("inf")), ".2f", "[0.00, inf]"),
        (sp.Enclosure("1/2"), "", "[0.5, 0.5]"),
    ],
)
def test_the_ends_are_rounded_outward(enclosure: sp.Enclosure, specification: str, printed: str) -> None:
    assert format(enclosure, specification) == printed


def test_an_enclosure_with_digits_is_rounded_outward_too() -> None:
    third = sp.laws.binomial_pmf(0, n=1, p="2/3", digits=60)
    assert f"{third:.40f}" == f"[0.{'3' * 40}, 0.{'3' * 39}4]"


def test_one_end_is_a_number_and_is_formatted_as_one() -> None:
    assert f"{sp.Enclosure('1/3').upper:.3g}" == "0.333"


@pytest.mark.parametrize("specification", ["d", ".", "three", ".3z"])
def test_a_format_that_is_none_of_a_number_is_refused(specification: str) -> None:
    with pytest.raises(sp.ArgumentError, match="is no format of an enclosure; a format of numbers is required"):
        format(sp.Enclosure("1/3"), specification)
