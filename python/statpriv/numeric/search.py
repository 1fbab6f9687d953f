"""The one search that is used throughout."""

from __future__ import annotations

from collections.abc import Callable


def least_integer(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The least integer from `low` to `high` with a monotone property, which must hold at `high`.

    >>> least_integer(lambda k: k * k >= 50, 0, 100)
    8
    """
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
