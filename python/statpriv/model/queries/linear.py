"""Several counts at once, each of its own entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

from statpriv.errors import ArgumentError
from statpriv.model.probabilities import listed_numbers
from statpriv.model.queries.labels import Labelled
from statpriv.model.queries.processed import Numerical
from statpriv.model.queries.property import PAIRS_OF_BITS, law_of_bit, read_pair_of_bits
from statpriv.model.queries.protocol import EntryLaw, Groups, LawOfValues, Pair
from statpriv.model.ranges import Range, Stated, as_stated, is_each, is_range, show_stated
from statpriv.numeric.exact import Number
from statpriv.numeric.literals import abridged, show_list

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, init=False, repr=False)
class LinearQuery(Labelled, Numerical):
    """The product of a matrix of zeros and ones with the bits of the entries: all counts together and exactly.

    Parameters
    ----------
    matrix : list of lists, or array of two dimensions
        One row a count, one column an entry: 1 where the count includes the entry, else 0.
    p : float, int, Fraction, Decimal, str, Between or EachBetween, default "1/2"
        Probability that the bit of an entry is one, or a range of it.
    attribute : str, optional
        What says that two queries ask the *same* property.
    name : str, optional
        A label; it proves nothing.

    Attributes
    ----------
    matrix : tuple of tuple of int
        The rows.
    p : Fraction, Between or EachBetween
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
    range_noun: ClassVar[str] = "p is a range"

    def __init__(
        self,
        matrix: Sequence[Sequence[int]] | NDArray[Any],
        p: Number | Range = "1/2",
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

    @property
    def is_uniform(self) -> bool:
        """The bits of all entries have one law."""
        return True

    @property
    def has_ranges(self) -> bool:
        """Whether only a range of the probability is known."""
        return is_range(self.p)

    @property
    def each_own(self) -> bool:
        """Whether entries have probabilities of their own in a range."""
        return is_each(self.p)

    def law(self, group: str | None = None) -> LawOfValues:
        """The law of a bit."""
        del group
        return law_of_bit(self.p)

    def _kinds(self, groups: Groups) -> list[tuple[int, tuple[int, ...]]]:
        """The number of the group, and the column, of each entry; columns are in the order of the groups."""
        numbers = chain.from_iterable([number] * size for number, (_, size) in enumerate(groups))
        return list(zip(numbers, zip(*self.matrix, strict=True), strict=True))

    def laws_by_class(self, groups: Groups) -> tuple[EntryLaw, ...]:
        """A class for each group and column."""
        sizes = sorted(Counter(self._kinds(groups)).items())
        return tuple(EntryLaw(groups[number][0], size, self.law(), column) for (number, column), size in sizes)

    def class_of_entries(self, groups: Groups) -> Sequence[int]:
        """The index of the class of each entry."""
        kinds = self._kinds(groups)
        place = {kind: index for index, kind in enumerate(sorted(set(kinds)))}
        return [place[kind] for kind in kinds]

    def changed_counts(self, pair: Pair) -> list[tuple[int, int]]:
        """The counts that include the entry change; of the entry that most of them include."""
        most = max(sum(column) for column, _ in self.columns)
        pairs = [(1, 0), (0, 1)] if pair is None else [pair]
        return [(most * v, most * w) for v, w in pairs if most]

    def check_size(self, size: int) -> None:
        """Refuse a population whose size is not the number of columns."""
        if self.entries != size:
            raise ArgumentError(f"matrix has {self.entries} columns, one an entry, and the population {size} entries")

    def check_part(self, shown: str, smallest: int | None) -> None:
        """Refuse parts: they have no fixed entries."""
        del smallest
        raise ArgumentError(f"{shown} names single entries; a part of a random partition has no fixed ones")

    @property
    def pairs_required(self) -> str:
        """Which pairs are allowed, as messages say it."""
        return PAIRS_OF_BITS

    def _read_pair(self, first: Any, second: Any) -> Pair:  # noqa: ANN401  (a user's)
        return read_pair_of_bits(first, second)

    def __repr__(self) -> str:
        matrix = f"[{', '.join(show_list(row) for row in self.matrix)}]"
        return self._shown(matrix, *([] if self.p == Fraction(1, 2) else [f"p={show_stated(self.p)}"]))


def _row(row: object, name: str) -> tuple[int, ...]:
    bits = listed_numbers(row, name, "a row of 0 and 1, one an entry,")
    for index, bit in enumerate(bits):
        if not isinstance(bit, Real) or bit not in (0, 1):
            raise ArgumentError(f"{name}[{index}] = {abridged(bit)}; 0 or 1 is required")
    return tuple(map(int, bits))
