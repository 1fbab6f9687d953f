"""How many entries are in each cell of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from statpriv.errors import ArgumentError
from statpriv.model.groups import ByGroup, by_group, show_groups
from statpriv.model.probabilities import as_law, listed_numbers
from statpriv.model.queries.labels import Labelled
from statpriv.model.queries.processed import Numerical
from statpriv.model.queries.protocol import LawOfValues, Pair
from statpriv.model.ranges import Range, Stated, is_each, is_range, ranges_of_a_law, show_stated_law, states_range
from statpriv.numeric.arguments import is_list, is_mapping
from statpriv.numeric.calls import answered_class
from statpriv.numeric.exact import Number, as_fraction
from statpriv.numeric.literals import abridged, show_list

if TYPE_CHECKING:
    from numpy.typing import NDArray

Cells: TypeAlias = tuple[Stated, ...]
Law: TypeAlias = tuple[Cells, Fraction]
"""Probabilities or their ranges, and what they were divided by."""


@answered_class
@dataclass(frozen=True, init=False, repr=False)
class HistogramQuery(Labelled, Numerical):
    """The number of entries in each cell: a contingency table, all counts together and exactly.

    Parameters
    ----------
    p : list, tuple or array of numbers, list or tuple with Between or EachBetween, or dict of str to such
        Probability of each cell, at least two; or those of each group of the population, equally many. A cell may have
        a range of probabilities, :class:`Between` or :class:`EachBetween`; some in the ranges must sum to one. Where
        floats are among them, they are divided by their sum, which may differ from one as far as
        :func:`statpriv.hockey_stick` allows; exact ones must sum to exactly one. A cell of probability 0 is one that
        the critical entry may be in; leave it out to exclude it.
    attribute : str, optional
        What says that two queries ask the *same* histogram.
    name : str, optional
        A label; it proves nothing.

    Attributes
    ----------
    cells : tuple of Fraction, Between or EachBetween, or tuple of (str, such a tuple)
        Probability of each cell, or its range; or group and these, in the order given.
    sums : Fraction, or tuple of (str, Fraction)
        What the probabilities were divided by; other than one only where floats are among them.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.HistogramQuery([0.2, 0.3, 0.5])
    HistogramQuery([0.2, 0.3, 0.5])
    >>> sp.HistogramQuery(["1/3"] * 3).cells
    (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))
    >>> sp.HistogramQuery([sp.Between("0.2", "0.3"), sp.Between("0.1", "0.2"), sp.Between("0.5", "0.7")]).has_ranges
    True
    """

    cells: Cells | ByGroup[Cells]
    sums: Fraction | ByGroup[Fraction] = field(compare=False)
    law_fields: ClassVar[tuple[str, ...]] = ("cells", "sums")
    range_noun: ClassVar[str] = "probabilities of cells are ranges"
    counts_values: ClassVar[bool] = True
    is_symmetric: ClassVar[bool] = True

    def __init__(
        self,
        p: Sequence[Number | Range] | NDArray[Any] | Mapping[str, Sequence[Number | Range] | NDArray[Any]],
        *,
        attribute: str | None = None,
        name: str | None = None,
    ) -> None:
        self._set_labels(attribute, name)
        if is_mapping(p):
            laws = by_group(p, "p", _read)
            lengths = {group: len(masses) for group, (masses, _) in laws}
            if len(set(lengths.values())) > 1:
                raise ArgumentError(f"p has groups with different numbers of cells, {lengths}; the same are required")
            object.__setattr__(self, "cells", tuple((group, masses) for group, (masses, _) in laws))
            object.__setattr__(self, "sums", tuple((group, total) for group, (_, total) in laws))
        else:
            masses, total = _read(p, "p")
            object.__setattr__(self, "cells", masses)
            object.__setattr__(self, "sums", total)

    @property
    def is_uniform(self) -> bool:
        """Whether one law is stated for all entries together."""
        return isinstance(self.sums, Fraction)

    @property
    def has_ranges(self) -> bool:
        """Whether the probability of some cell is only known to a range."""
        return any(map(is_range, chain.from_iterable(cells for _, (cells, _) in self._by_group)))

    @property
    def each_own(self) -> bool:
        """Whether entries have laws of their own in a box of ranges."""
        return any(map(is_each, chain.from_iterable(cells for _, (cells, _) in self._by_group)))

    @property
    def stated_groups(self) -> tuple[str, ...] | None:
        """The groups for which the query states a law of their own."""
        return None if self.is_uniform else tuple(name for name, _ in self._by_group)

    @property
    def stated_law(self) -> object:
        """What two queries of one attribute must state alike."""
        return self.cells

    def law(self, group: str | None = None) -> LawOfValues:
        """The probability of each cell, by its number."""
        cells, _ = self._by_group[0][1] if self.is_uniform else dict(self._by_group).get(group or "", ((), None))
        return tuple(enumerate(cells))

    def values_in(self, group: str | None = None) -> tuple[int, ...]:
        """The numbers of the cells, the same in all groups."""
        del group
        return tuple(range(len(self._by_group[0][1][0])))

    @property
    def one_histogram(self) -> Cells | None:
        """The probability of each cell, where all entries have one law."""
        return self._by_group[0][1][0] if self.is_uniform else None

    def changed_counts(self, pair: Pair) -> list[tuple[int, int]]:
        """The cell that holds the critical entry has one more, under either value."""
        del pair
        return [(1, 1)]

    @property
    def pairs_required(self) -> str:
        """Which pairs of cells are allowed, as messages say it."""
        return "a pair of different cells, counted from 0, or None is required"

    def _read_pair(self, first: Any, second: Any) -> Pair:  # noqa: ANN401  (a user's)
        try:
            chosen = as_fraction(first, "pair"), as_fraction(second, "pair")
        except ArgumentError:
            return None
        allowed = chosen[0] != chosen[1] and set(chosen) <= set(self.values_in())
        return (int(chosen[0]), int(chosen[1])) if allowed else None

    @property
    def _by_group(self) -> ByGroup[Law]:
        """The laws of the groups, or the one law as that of a group without a name."""
        cells: Any = self.cells
        if isinstance(self.sums, Fraction):
            return (("", (cells, self.sums)),)
        laws = zip(cells, self.sums, strict=True)
        return tuple((group, (masses, total)) for (group, masses), (_, total) in laws)

    def __repr__(self) -> str:
        laws = self._by_group
        return self._shown(_show(laws[0][1]) if self.is_uniform else show_groups(laws, _show))


def _has_ranges(p: object) -> bool:
    return is_list(p) and any(map(states_range, p))


def _read(p: Any, name: str) -> Law:  # noqa: ANN401  (numbers and ranges)
    """The probabilities of the cells, and what they were divided by."""
    ranges = _has_ranges(p)
    masses = (
        p if ranges else listed_numbers(p, name, "a list with the probability of each cell, such as [0.2, 0.3, 0.5],")
    )
    if len(masses) < 2:
        raise ArgumentError(f"{name} = {abridged(p)}; at least two cells are required, one alone hides nothing")
    labelled = [(f"{name}[{cell}]", mass) for cell, mass in enumerate(masses)]
    return (ranges_of_a_law(labelled, name), Fraction(1)) if ranges else as_law(labelled, name)


def _show(law: Law) -> str:
    return show_list(show_stated_law(*law))
