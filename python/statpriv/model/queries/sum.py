"""The sum of the entries, and their mean."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from typing import ClassVar, TypeAlias

from statpriv.model.groups import ByGroup
from statpriv.model.queries.valued import Valued, ValuesAndLaw

Positions: TypeAlias = "tuple[int, ...]"


class Additive(Valued):
    """A query that depends on the sum of what the entries add alone: of their values, or of numbers instead of these.

    A class that overrides `added` is the sum of other numbers, squares say.
    """

    is_total: ClassVar[bool] = True

    def __init__(self, pmf: ValuesAndLaw, *, attribute: str | None = None, name: str | None = None) -> None:
        self._set_labels(attribute, name)
        self._set_pmf(pmf)

    @property
    def lattice(self) -> tuple[Fraction, Fraction, Positions | ByGroup[Positions]]:
        """The least value, the step of the coarsest lattice from there, and the place of each value on it.

        Places are in the order of `pmf`: integers, or for groups the name of each and its integers.

        Examples
        --------
        >>> import statpriv as sp
        >>> least, step, places = sp.SumQuery({0: "1/2", "1/2": "1/4", 5: "1/4"}).lattice
        >>> str(least), str(step), places
        ('0', '1/2', (0, 1, 10))
        """
        values = self.values
        scale = reduce(lcm, (value.denominator for value in values))
        least = values[0]
        step = Fraction(reduce(gcd, (int((value - least) * scale) for value in values)), scale)
        places = tuple((group, tuple(int((value - least) / step) for value, _ in law)) for group, law in self._by_group)
        return least, step, places[0][1] if self.is_uniform else places

    def added(self, value: Fraction) -> Fraction:
        """What an entry with this value adds: the value."""
        return value

    def __repr__(self) -> str:
        return self._shown(self._pmf_shown)


@dataclass(frozen=True, init=False, repr=False)
class SumQuery(Additive):
    """The sum of the entries, exactly.

    Parameters
    ----------
    pmf : dict of number to number or Between, or dict of str to such
        Probability of each value that an entry may have, of either sign, or a range of it, :class:`Between`; some
        probabilities in the ranges must sum to one. Or that for each group of the population. Values are exact. Where
        floats are among the probabilities, they are divided by their sum, which may differ from one as far as
        :func:`statpriv.hockey_stick` allows; exact ones must sum to exactly one. A value of probability 0 is one that
        the critical entry may have; leave it out to exclude it.
    attribute : str, optional
        What says that two queries ask the *same* number.
    name : str, optional
        A label; it proves nothing.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.SumQuery(pmf={5: 0.25, 0: 0.5, "1/2": 0.25})
    SumQuery({0: 0.5, 0.5: 0.25, 5: 0.25})
    """


@dataclass(frozen=True, init=False, repr=False)
class MeanQuery(Additive):
    """The mean of the entries, exactly: their sum, divided by how many answer.

    Parameters
    ----------
    pmf, attribute, name
        As for :class:`SumQuery`.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.MeanQuery(pmf={0: 0.5, 1: 0.5})
    MeanQuery({0: 0.5, 1: 0.5})
    """

    is_mean: ClassVar[bool] = True
