"""What the public knows of the cells of an exact table: a range of probability for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from statpriv.model.codec import stated_range
from statpriv.model.fields import Range
from statpriv.model.ranges import Stated
from statpriv.releasing.sql_text import quoted

__all__ = ["CellRanges"]

Cell: TypeAlias = "tuple[str, ...]"


@dataclass(frozen=True)
class CellRanges:
    """The declared ranges of the cells of a table.

    Attributes
    ----------
    of_others
        The range of every possible cell that has none of its own.
    own
        Cells with a range of their own.
    each
        Whether each row has probabilities of its own in the ranges; false if all rows share them.
    source
        Where the ranges are known from.
    """

    of_others: Range
    own: tuple[tuple[Cell, Range], ...]
    each: bool
    source: str

    def check(self, cells: Sequence[Cell]) -> None:
        """Refuse ranges of which no probabilities add up to one.

        Parameters
        ----------
        cells
            The possible cells of the table.

        Raises
        ------
        ValueError
            With a sentence in the words of a plan.
        """
        possible = frozenset(cells)
        if excluded := [cell for cell, _ in self.own if cell not in possible]:
            named = ", ".join(map(quoted, excluded[0]))
            raise ValueError(f"has {named} in impossible and in probabilities; leave it out of one of them")
        ranges = self._by_cell(cells).values()
        least, most = (sum((ends[which] for ends in ranges), Fraction(0)) for which in (0, 1))
        if least > 1 or most < 1:
            ends = f"at least {least}, above 1" if least > 1 else f"at most {most}, below 1"
            raise ValueError(f"has cells whose probabilities add up to {ends}; every row is in one of the cells")

    def stated(self, cells: Sequence[Cell]) -> Mapping[Cell, Stated]:
        """The range of each possible cell, as queries take it."""
        return {cell: stated_range(ends, each=self.each) for cell, ends in self._by_cell(cells).items()}

    def _by_cell(self, cells: Sequence[Cell]) -> dict[Cell, Range]:
        return {**dict.fromkeys(cells, self.of_others), **dict(self.own)}
