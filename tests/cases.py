"""How many cases a test tries: some for every change, more where `make campaign` sets `STATPRIV_CAMPAIGN`."""

import os
from collections.abc import Iterable

import pytest

CAMPAIGN = os.environ.get("STATPRIV_CAMPAIGN", "") not in ("", "0")


def cases(few: int, *, campaign: int) -> int:
    """The number for this run."""
    return campaign if CAMPAIGN else few


def spread(names: str, values: Iterable[object], few: int):
    """``pytest.mark.parametrize`` of values that differ in numbers only, which one piece of code computes.

    Of them `few`, at least two, from the first to the last at even distances, run for every change. The others are for
    a campaign: they alone would notice an error that takes a certain combination of numbers.
    """
    listed = list(values)
    kept = {place * (len(listed) - 1) // (few - 1) for place in range(few)}
    several = "," in names
    parameters = [
        pytest.param(*(value if several else (value,)), marks=() if place in kept else pytest.mark.campaign)
        for place, value in enumerate(listed)
    ]
    return pytest.mark.parametrize(names, parameters)
