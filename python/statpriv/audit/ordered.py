"""Categories that are ranges of a whole number, as tables label them: "<30", "30-59", "60+", "17"."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

_NUMBER = r"([0-9]{1,9})(?:\s*(?:years?|yrs?|y|jahre?))?"


@dataclass(frozen=True, order=True)
class Interval:
    """The whole numbers from `low` on and below `high`; without end where `high` is None."""

    low: int
    high: int | None


_FORMS: tuple[tuple[re.Pattern[str], Callable[..., Interval]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), made)
    for pattern, made in (
        (rf"(?:<|under|below|less than|unter)\s*{_NUMBER}", lambda high: Interval(0, high)),
        (rf"(?:<=|≤|up to|bis)\s*{_NUMBER}", lambda last: Interval(0, last + 1)),
        (rf"(?:>|over|above|über)\s*{_NUMBER}", lambda before: Interval(before + 1, None)),
        (rf"(?:>=|≥|from|ab)\s*{_NUMBER}", lambda low: Interval(low, None)),
        (rf"{_NUMBER}\s*(?:\+|and over|and older|or more|plus)", lambda low: Interval(low, None)),
        (rf"{_NUMBER}\s*(?:-|–|to|bis)\s*{_NUMBER}", lambda low, last: Interval(low, last + 1)),
        (_NUMBER, lambda only: Interval(only, only + 1)),
    )
)


def intervals(labels: Sequence[str]) -> dict[str, Interval] | None:
    """Labels as ranges of whole numbers that follow each other without a gap or an overlap, in order; None otherwise.

    "30-59" holds 59, as tables of ages mean it; the next range starts at 60. "<30" starts at 0.

    Examples
    --------
    >>> intervals(["60+", "<30", "30-59"])
    {'<30': Interval(low=0, high=30), '30-59': Interval(low=30, high=60), '60+': Interval(low=60, high=None)}
    >>> intervals(["north", "south"]) is intervals(["0-9", "20-29"]) is None
    True
    """
    found = {label: each for label in labels if (each := _interval(label.strip())) is not None}
    if len(found) < len(labels) or len(labels) < 2:
        return None
    ordered = sorted(found.items(), key=lambda item: item[1].low)
    follow = all(before.high == after.low for (_, before), (_, after) in pairwise(ordered))
    return dict(ordered) if follow else None


def _interval(label: str) -> Interval | None:
    for form, made in _FORMS:
        if found := form.fullmatch(label):
            interval = made(*map(int, found.groups()))
            return interval if interval.high is None or interval.high > interval.low else None
    return None
