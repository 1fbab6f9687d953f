"""Perturbations of counts: what is published is drawn from a law that depends on the count.

A draw with finitely many outcomes is one of several functions, drawn by weight. So the law of the published count is a
mixture of the laws under each function, and nothing but the functions has to be known of a perturbation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar

from statpriv import budget
from statpriv._native import Law
from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.model.probabilities import as_law
from statpriv.model.steps import Lattice, LatticeMap, Step
from statpriv.numeric.arguments import as_mapping
from statpriv.numeric.exact import Number, as_count, as_integer
from statpriv.numeric.literals import abridged, show_number

__all__ = ["CellKey", "Perturbation", "RandomRounding"]


class Perturbation(Step):
    """A draw that depends on the count, with keys that are secret: counts of other rows have draws of their own."""

    least_answer: ClassVar[int | None] = 0

    def law_for(self, count: int) -> dict[int, Fraction]:
        """The probability of each published count, given the count."""
        raise NotAvailableError(f"{self!r} states no law_for: the law of what is published for a count of {count}")

    @property
    def unit(self) -> int:
        """What is published is a multiple of this."""
        return 1

    def published_laws(self, law: Law) -> list[tuple[Fraction, Law]]:
        """The functions by weight, each as the law of what is published for a count with this law."""
        raise NotAvailableError(f"{self!r} states no published_laws: no law of what is published for {law!r}")

    def on_lattice(self, lattice: Lattice) -> LatticeMap | None:
        """Counts only: whole numbers from 0 on."""
        if lattice.unit != 1 or lattice.offset.denominator != 1:
            return None
        published = Lattice(unit=Fraction(self.unit))
        return LatticeMap(lambda law: self._published(law.shifted(int(lattice.offset))), published)

    def _published(self, law: Law) -> Law:
        weights, laws = zip(*self.published_laws(law), strict=True)
        return laws[0] if len(laws) == 1 else Law.mixture(weights, laws)


Row = tuple[tuple[int, Fraction], ...]
"""Of one count: what may be added to it, in order, with the probability of each."""


@dataclass(frozen=True, init=False, repr=False)
class CellKey(Perturbation):
    """The cell-key method: a table says for each count what is added to it, and with which probability.

    Every row of the data has a secret key, drawn uniformly. The key of a cell is the sum of the keys of its rows, so
    the same rows, counted again, get the same addition, and other rows another.

    Parameters
    ----------
    table : dict or list
        For each count from 0 on a dict from what is added to its probability. A count is never made negative. The
        probabilities of a count sum to one. An empty cell has no key, so that what is added to 0 should be certain.
    repeat : int, default 1
        Counts above the last of the table are treated like its last `repeat` counts in turn. 1: like the last.

    Attributes
    ----------
    rows : tuple
        For each count the pairs of what is added and its probability.

    Examples
    --------
    >>> import statpriv as sp
    >>> key = sp.noise.CellKey({0: {0: 1}, 1: {-1: "1/2", 1: "1/2"}, 2: {-1: "1/4", 0: "1/2", 1: "1/4"}})
    >>> key.law_for(1)
    {0: Fraction(1, 2), 2: Fraction(1, 2)}
    >>> key.law_for(100) == {99: Fraction(1, 4), 100: Fraction(1, 2), 101: Fraction(1, 4)}
    True
    >>> sp.PropertyQuery("1/2").noisy(key)
    PostProcessed(PropertyQuery(0.5), noise.CellKey(<counts 0 to 2, then as 2; from -1 to +1>))
    """

    rows: tuple[Row, ...]
    repeat: int

    def __init__(
        self, table: Mapping[Any, Mapping[Any, Number]] | Sequence[Mapping[Any, Number]], *, repeat: Number = 1
    ) -> None:
        required = "for each count from 0 on a dict from what is added to its probability is required"
        by_count = as_mapping(table if hasattr(table, "keys") else dict(enumerate(table)), "table", required)
        counts = sorted(as_count(count, "a count of table") for count in by_count)
        if counts != list(range(len(counts))):
            raise ArgumentError(f"table is given for the counts {abridged(counts)}; {required}, without gaps")
        if len(counts) > budget.MAX_PROCESSED_ANSWERS:
            raise ArgumentError(f"table has {len(counts)} counts; at most {budget.MAX_PROCESSED_ANSWERS} are allowed")
        rows = tuple(_row(by_count[count], int(count)) for count in sorted(by_count, key=int))
        again = as_count(repeat, "repeat", least=1)
        if again > len(rows):
            raise ArgumentError(f"repeat = {again} and table has {len(rows)} counts; at most as many are required")
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "repeat", again)

    @property
    def different_counts(self) -> int:
        """The last row, and once around."""
        return len(self.rows) + self.repeat

    def law_for(self, count: int) -> dict[int, Fraction]:
        """The row of the count, added to it."""
        return {count + added: probability for added, probability in self.rows[self._row_of(count)]}

    def published_laws(self, law: Law) -> list[tuple[Fraction, Law]]:
        """By what the keys in an interval add to each count."""
        return [(weight, self._added(law, additions)) for additions, weight in self._by_key.items()]

    @cached_property
    def _by_key(self) -> dict[tuple[int, ...], Fraction]:
        """Keys from 0 to 1, in the intervals between all ends of rows: what they add to each count."""
        ends = [list(accumulate(probability for _, probability in row)) for row in self.rows]
        weights: dict[tuple[int, ...], Fraction] = {}
        places, from_ = [0] * len(self.rows), Fraction(0)
        for to in sorted({end for row in ends for end in row}):
            additions = tuple(row[place][0] for row, place in zip(self.rows, places, strict=True))
            weights[additions] = weights.get(additions, Fraction(0)) + to - from_
            places = [place + (row[place] == to and to < 1) for row, place in zip(ends, places, strict=True)]
            from_ = to
        return weights

    def _added(self, law: Law, additions: tuple[int, ...]) -> Law:
        """Beyond the rows all counts of a table with `repeat` = 1 are shifted alike."""
        if self.repeat == 1:
            usual = additions[-1]
            others = {c + usual: c + added for c, added in enumerate(additions) if added != usual}
            return law.shifted(usual).relabelled(others) if others else law.shifted(usual)
        _, most = law.support
        if most is None or most * len(self._by_key) > budget.MAX_PERTURBED_COUNTS:
            counts = "counts without an end" if most is None else f"{most + 1} counts"
            raise ArgumentError(
                f"repeat = {self.repeat}: {len(self._by_key)} keys that differ and {counts} are too many; at most "
                f"{budget.MAX_PERTURBED_COUNTS} pairs are allowed. With repeat=1 any number of counts is"
            )
        return law.relabelled({count: count + additions[self._row_of(count)] for count in range(most + 1)})

    def _row_of(self, count: int) -> int:
        beyond = count - len(self.rows)
        return count if beyond < 0 else len(self.rows) - self.repeat + beyond % self.repeat

    def __repr__(self) -> str:
        last, added = len(self.rows) - 1, [change for row in self.rows for change, _ in row]
        later = f"as {last}" if self.repeat == 1 else f"as the last {self.repeat} in turn"
        return f"noise.CellKey(<counts 0 to {last}, then {later}; from {min(added):+d} to {max(added):+d}>)"


@dataclass(frozen=True, init=False, repr=False)
class RandomRounding(Perturbation):
    """Unbiased random rounding: a multiple of `base` next to the count, so that the mean is the count.

    A count of r above a multiple of `base` is published as that multiple with probability 1 − r/base, else as the next.

    Parameters
    ----------
    base : int
        From 2 to 1000.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.RandomRounding(3).law_for(7)
    {6: Fraction(2, 3), 9: Fraction(1, 3)}
    """

    base: int
    keeps_ratios_monotone: ClassVar[bool] = True  # two neighbouring multiples, of which the larger gets likelier
    _MOST: ClassVar[int] = 1000

    def __init__(self, base: Number) -> None:
        number = as_integer(base, "base")
        if not 2 <= number <= self._MOST:
            raise ArgumentError(f"base = {abridged(base)}; an integer from 2 to {self._MOST} is required")
        object.__setattr__(self, "base", number)

    @property
    def different_counts(self) -> int:
        """Counts that differ by the base are treated alike."""
        return self.base

    @property
    def unit(self) -> int:
        """The base."""
        return self.base

    def law_for(self, count: int) -> dict[int, Fraction]:
        """One or two multiples of the base."""
        down, above = divmod(count, self.base)
        if not above:
            return {count: Fraction(1)}
        up = Fraction(above, self.base)
        return {down * self.base: 1 - up, (down + 1) * self.base: up}

    def published_laws(self, law: Law) -> list[tuple[Fraction, Law]]:
        """⌊(count + u)/base⌋ with u uniform below the base."""
        return [(Fraction(1, self.base), law.divided(1, u, self.base)) for u in range(self.base)]

    def __repr__(self) -> str:
        return f"RandomRounding({show_number(Fraction(self.base))})"


def _row(stated: Mapping[Any, Number], count: int) -> Row:
    name = f"table[{count}]"
    by_change = as_mapping(stated, name, "a dict from what is added to its probability, such as {0: 1}, is required")
    changes = [as_integer(added, f"a change of {name}") for added in by_change]
    masses, _ = as_law([(f"{name}[{abridged(added)}]", mass) for added, mass in by_change.items()], name)
    row = tuple(sorted((added, mass) for added, mass in zip(changes, masses, strict=True) if mass))
    if len(set(changes)) < len(changes):
        raise ArgumentError(f"{name} = {abridged(stated)}; each change may stand there only once")
    if count + row[0][0] < 0:
        raise ArgumentError(f"{name} adds {row[0][0]}; what is published must not be negative")
    return row
