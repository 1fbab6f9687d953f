"""A row is identified by a keyed token of its id. A leak of tokens without their key identifies nobody."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from statpriv.errors import LedgerError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from statpriv._native import RowTokens

__all__ = ["TOKEN", "Rows", "number_shared", "places_of"]

_Mark = TypeVar("_Mark", bound=np.generic)

TOKEN = np.dtype("S16")
"""A keyed hash of 128 bits; `rust/release` defines it."""


@dataclass(frozen=True)
class Rows:
    """The rows of a table as the ledger sees them.

    Attributes
    ----------
    n
        Number of rows.
    tokens
        The keyed tokens of the ids in ascending order; None if the plan names no ids.
    order
        The row that each token belongs to, if it was asked for.
    columns
        The names of the columns, in any order.
    """

    n: int
    tokens: NDArray[np.bytes_] | None = field(default=None, repr=False)
    order: NDArray[np.uint32] | None = field(default=None, repr=False)
    columns: frozenset[str] = field(default=frozenset(), repr=False)

    @classmethod
    def of(cls, n: int, ids: RowTokens | None, columns: Iterable[str] = ()) -> Rows:
        """All n rows, with the keyed tokens of their ids if the plan names an id column."""
        names = frozenset(columns)
        return cls(n, columns=names) if ids is None else cls(n, ids.tokens.view(TOKEN), ids.rows, names)

    def by_row(self, marks: NDArray[_Mark]) -> NDArray[_Mark]:
        """Reorder marks from the order of the tokens to the order of the table."""
        if self.tokens is None:
            return marks
        placed = np.empty_like(marks)
        placed[self._known_order] = marks
        return placed

    def by_token(self, marks: NDArray[_Mark]) -> NDArray[_Mark]:
        """Reorder marks from the order of the table to the order of the tokens."""
        return marks if self.tokens is None else marks[self._known_order]

    @property
    def _known_order(self) -> NDArray[np.uint32]:
        if self.order is None:
            raise LedgerError("the rows of this table were read without their order")
        return self.order


def number_shared(some: NDArray[np.bytes_], among: NDArray[np.bytes_]) -> int:
    """Count the tokens that two ascending arrays have in common."""
    return len(places_of(some, among))


def places_of(some: NDArray[np.bytes_], among: NDArray[np.bytes_]) -> NDArray[np.intp]:
    """Positions in ``among`` of those tokens of ``some`` that occur there; both arrays are ascending."""
    places = np.searchsorted(among, some)
    places[places == len(among)] = 0
    found: NDArray[np.intp] = places[among[places] == some]
    return found
