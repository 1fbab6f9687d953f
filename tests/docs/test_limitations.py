"""The page of limitations has the limits that the code has."""

from pathlib import Path

import pytest

from statpriv import budget
from statpriv.lowering import contributions, order_statistics, sums
from statpriv.rules import hidden_sample

PAGE = (Path(__file__).parents[2] / "docs/LIMITATIONS.md").read_text(encoding="utf-8")


def power(number):
    """As a power of two, where it is one."""
    exponent = number.bit_length() - 1
    digits = "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(exponent))
    return f"2{digits}" if number == 2**exponent else str(number)


STATED = {
    "joint answers": f"exact while there are at most {power(sums.MOST_ANSWERS)} joint answers of all laws",
    "summed": f"and {power(sums.MOST_SUMMED)} of a law that adds up several kinds of entries",
    "sizes": f"histograms of samples at a rate, one law, nobody known | exact to {hidden_sample.MOST_SIZES} rows",
    "draws": f"exact where a sample can be drawn from the kinds of entries in at most {sums.MOST_DRAWS} ways",
    "sizes of ordered samples": f"at a rate of more than {order_statistics.MOST_SIZES} rows",
    "known": f"known rows of order statistics with more than {order_statistics.MOST_KNOWN}",
    "compositions": f"of sampled sums with more than {sums.MOST_COMPOSITIONS} compositions",
    "worlds": f"exact up to {contributions.MOST_WORLDS} ways to choose them",
    "labels": f"laws of more than {power(contributions.MOST_LABELS)} answers in the window that matters",
}


@pytest.mark.parametrize("limit", STATED)
def test_a_limit_is_the_one_of_the_code(limit):
    assert STATED[limit] in PAGE


def test_the_table_of_limits_is_the_one_of_the_code():
    """`python -m statpriv.budget docs/LIMITATIONS.md` writes it anew."""
    first, last = budget.MARKERS
    assert f"{first}\n\n{budget.table()}\n\n{last}" in PAGE
