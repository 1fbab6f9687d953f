"""The number of rows of a part, as a plan states it."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from statpriv.errors import PlanError

__all__ = ["size_of"]


class _Sized(Protocol):
    @property
    def rows(self) -> object: ...
    @property
    def share(self) -> Fraction | None: ...


def size_of(what: str, asked: _Sized, n: int) -> int:
    """The number of rows, of ``n``, that a query or a table may use.

    Raises
    ------
    PlanError
        If the number is 0, or larger than the number of rows.
    """
    if asked.rows is None and asked.share is None:
        return n
    if asked.share is not None:
        size = asked.share.numerator * n // asked.share.denominator
        if size < 1:
            raise PlanError(
                f"{what}: share = {asked.share} of {n} rows is less than one row; use a share of at least 1/{n}"
            )
        return size
    if not isinstance(asked.rows, int) or not 1 <= asked.rows <= n:
        together = "for all queries together" if what.startswith("query") else "for all that is asked together"
        raise PlanError(f"{what}: rows = {asked.rows} of a table of {n}; allowed is 1 to {n}, {together}")
    return asked.rows
