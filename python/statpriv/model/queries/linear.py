"""Several counts at once, each of its own entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

from statpriv.errors import ArgumentError
from statpriv.model.probabilities import listed_numbers
from statpriv.model.queries.labels import Labelled
from statpriv.model.queries.processed import Numerical
from statpriv.model.queries.property import Between, Stated, as_stated, show_stated
from statpriv.numeric.exact import Number
from statpriv.numeric.literals import abridged, show_list

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LinearQuery"]


@dataclass(frozen=True, init=False, repr=False)
class LinearQuery(Labelled, Numerical):
    """The product of a matrix of zeros and ones with the bits of the entries: all counts together and exactly.

    Parameters
    ----------
    matrix : list of lists, or array of two dimensions
        One row a count, one column an entry: 1 where the count includes the entry, else 0.
    p : float, int, Fraction, Decimal, str or Between, default "1/2"
        Probability that the bit of an entry is one, or a range of it.
    attribute : str, optional
        What says that two queries ask the *same* property.
    name : str, optional
        A label; it proves nothing.

    Attributes
    ----------
    matrix : tuple of tuple of int
        The rows.
    p : Fraction or Between
        The probability, or its range.

    Examples
    --------
    >>> import statpriv as sp
    >>> query = sp.LinearQuery([[1, 1, 1, 0], [0, 1, 1, 1]])
    >>> query.columns
    (((0, 1), 1), ((1, 0), 1), ((1, 1), 2))
    """

    matrix: tuple[tuple[int, ...], ...]
    p: Stated

    def __init__(
        self,
        matrix: Sequence[Sequence[int]] | NDArray[Any],
        p: Number | Between = "1/2",
        *,
        attribute: str | None = None,
        name: str | None = None,
    ) -> None:
        self._set_labels(attribute, name)
        if (dimensions := getattr(matrix, "ndim", 2)) != 2:
            raise ArgumentError(
                f"matrix is an array of {dimensions} dimensions; one of two, rows of 0 and 1, is required"
            )
        rows = listed_numbers(
            list(matrix) if hasattr(matrix, "ndim") else matrix,
            "matrix",
            "a list of rows, such as [[1, 1, 0], [0, 1, 1]],",
        )
        exact = tuple(_row(row, f"matrix[{index}]") for index, row in enumerate(rows))
        lengths = sorted({len(row) for row in exact})
        if len(lengths) > 1:
            raise ArgumentError(
                f"matrix has rows of {lengths[0]} and of {lengths[-1]} entries; one column an entry is required"
            )
        object.__setattr__(self, "matrix", exact)
        object.__setattr__(self, "p", as_stated(p, "p"))

    @property
    def entries(self) -> int:
        """The number of entries."""
        return len(self.matrix[0])

    @cached_property
    def columns(self) -> tuple[tuple[tuple[int, ...], int], ...]:
        """The different columns in order, each with the number of entries that have it."""
        return tuple(sorted(Counter(zip(*self.matrix, strict=True)).items()))

    def __repr__(self) -> str:
        matrix = f"[{', '.join(show_list(row) for row in self.matrix)}]"
        return self._shown(matrix, *([] if self.p == Fraction(1, 2) else [f"p={show_stated(self.p)}"]))


def _row(row: object, name: str) -> tuple[int, ...]:
    bits = listed_numbers(row, name, "a row of 0 and 1, one an entry,")
    for index, bit in enumerate(bits):
        if not isinstance(bit, Real) or bit not in (0, 1):
            raise ArgumentError(f"{name}[{index}] = {abridged(bit)}; 0 or 1 is required")
    return tuple(map(int, bits))
