"""The page of limitations has the limits that the code has."""

from pathlib import Path

import pytest

from statpriv import budget

TEXT = (Path(__file__).parents[2] / "docs/LIMITATIONS.md").read_text(encoding="utf-8")
# Lines are wrapped anywhere.
PAGE = " ".join(TEXT.split())


def power(number):
    """As a power of two, where it is one."""
    exponent = number.bit_length() - 1
    digits = "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(exponent))
    return f"2{digits}" if number == 2**exponent else str(number)


STATED = {
    "joint answers": f"exact while there are at most {power(budget.MAX_JOINT_ANSWERS)} joint answers of all laws",
    "summed": f"and at most {power(budget.MAX_SUMMED_ANSWERS)} of one law that adds up several kinds of entries",
    "sizes": f"Histograms of samples at a rate, one law, nobody known.** Use up to {budget.MAX_SAMPLE_SIZES} rows",
    "draws": f"exact while a sample can be drawn from the kinds of entries in at most {budget.MAX_DRAWS} ways",
    "sizes of ordered samples": f"a rate with at most {budget.MAX_ORDER_STATISTIC_SAMPLE_SIZES} rows",
    "known": "Order statistics and known rows.** "
    f"Use at most {budget.MAX_KNOWN_ENTRY_VALUES} compositions of the known rows",
    "compositions": "Sampled sums with known rows.** "
    f"Use at most {budget.MAX_KNOWN_ENTRY_COMPOSITIONS} compositions of the known rows",
    "worlds": f"Use at most {budget.MAX_KNOWN_ENTRY_WORLDS} ways to choose the known rows",
    "labels": f"Laws of more than {power(budget.MAX_LABELS)} answers in the window that matters",
}


@pytest.mark.parametrize("limit", STATED)
def test_a_limit_is_the_one_of_the_code(limit):
    assert STATED[limit] in PAGE


def test_the_table_of_limits_is_the_one_of_the_code():
    """`python -m statpriv.budget docs/LIMITATIONS.md` writes it anew."""
    first, last = budget.MARKERS
    assert f"{first}\n\n{budget.table()}\n\n{last}" in TEXT
