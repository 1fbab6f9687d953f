"""The page of limitations has the limits that the code has."""

from pathlib import Path

import pytest

from statpriv import budget
from statpriv.lowering import contributions, order_statistics, sums
from statpriv.rules import hidden_sample

TEXT = (Path(__file__).parents[2] / "docs/LIMITATIONS.md").read_text(encoding="utf-8")
# Lines are wrapped anywhere.
PAGE = " ".join(TEXT.split())


def power(number):
    """As a power of two, where it is one."""
    exponent = number.bit_length() - 1
    digits = "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(exponent))
    return f"2{digits}" if number == 2**exponent else str(number)


STATED = {
    "joint answers": f"exact while there are at most {power(sums.MOST_ANSWERS)} joint answers of all laws",
    "summed": f"and at most {power(sums.MOST_SUMMED)} of one law that adds up several kinds of entries",
    "sizes": f"Histograms of samples at a rate, one law, nobody known.** Use up to {hidden_sample.MOST_SIZES} rows",
    "draws": f"exact while a sample can be drawn from the kinds of entries in at most {sums.MOST_DRAWS} ways",
    "sizes of ordered samples": f"a rate with at most {order_statistics.MOST_SIZES} rows",
    "known": "Order statistics and known rows.** "
    f"Use at most {order_statistics.MOST_KNOWN} compositions of the known rows",
    "compositions": "Sampled sums with known rows.** "
    f"Use at most {sums.MOST_COMPOSITIONS} compositions of the known rows",
    "worlds": f"Use at most {contributions.MOST_WORLDS} ways to choose the known rows",
    "labels": f"Laws of more than {power(contributions.MOST_LABELS)} answers in the window that matters",
}


@pytest.mark.parametrize("limit", STATED)
def test_a_limit_is_the_one_of_the_code(limit):
    assert STATED[limit] in PAGE


def test_the_table_of_limits_is_the_one_of_the_code():
    """`python -m statpriv.budget docs/LIMITATIONS.md` writes it anew."""
    first, last = budget.MARKERS
    assert f"{first}\n\n{budget.table()}\n\n{last}" in TEXT
