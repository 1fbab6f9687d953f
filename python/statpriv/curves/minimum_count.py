"""The privacy curve of a rule alone: published only if every cell holds a minimum number of entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError
from statpriv.model.adversaries import Adversary
from statpriv.model.populations import Population
from statpriv.model.queries.contingency import ContingencyTable
from statpriv.model.situation import Situation
from statpriv.numeric.calls import answered
from statpriv.numeric.exact import Number, as_count
from statpriv.numeric.literals import abridged

_BOUNDS = ("tightest", "minimum-count", "supremum")


@dataclass(frozen=True)
class EveryTable(Situation):
    """Any table with this minimum, of any number of entries and cells; the query has the least number of cells."""

    is_about_every_size: ClassVar[bool] = True

    def describe(self) -> list[str]:
        """One line for each part, as `explain()` prints them."""
        return [
            f"query       any exact table, published only if every possible cell has at least {self._minimum} entries",
            "population  any number of entries",
            "sampling    none: every entry is counted",
            f"adversary   {self.adversary!r}",
            "pair        the worst",
        ]

    @property
    def _minimum(self) -> int:
        query = self.query
        return int(getattr(query, "minimum", 0))

    @property
    def title(self) -> str:
        """What is released, for a plot."""
        return f"Exact tables with at least {self._minimum} entries in every cell"

    @property
    def summary(self) -> str:
        """One line for a repr."""
        known = f", {self.adversary!r}" if self.adversary != Adversary() else ""
        return f"any exact table with at least {self._minimum} entries in every cell{known}"


@answered
def minimum_count_curve(minimum: Number, *, known: Number = 0, bound: str = "tightest") -> PrivacyCurve:
    """The privacy curve of the rule "published only if every possible cell has at least so many entries".

    It holds for every number of entries, every number of cells and every law that the entries share.

    Parameters
    ----------
    minimum : int
        The least number of entries of every possible cell, at least 2.
    known : int, default 0
        Number of entries that an adversary knows. From `minimum` − 1 on, δ = 1.
    bound : str, default "tightest"
        "tightest" or "minimum-count": the bound by four heights, in every tier. "supremum": the least that holds for
        every such table, about a fifth smaller, for minima up to 1000, in doubles.

    Returns
    -------
    PrivacyCurve
        δ against ε in nats: a certified upper bound, or the exact supremum.

    Raises
    ------
    ArgumentError
        A value that is not allowed; the message names it.

    Notes
    -----
    Source: the theorem in docs/explanation/minimum-counts.md, with the proof.

    Examples
    --------
    >>> import statpriv as sp
    >>> ten = sp.minimum_count_curve(10)
    >>> ten.delta(2).upper < 8.5e-6, ten.delta(1).upper < 0.0046
    (True, True)
    >>> sp.minimum_count_curve(10, known=3).delta(2).upper < 2.5e-4
    True
    >>> sp.minimum_count_curve(10, bound="supremum").delta(2).upper < 6.8e-6
    True
    """
    least, knows = as_count(minimum, "minimum", least=2), as_count(known, "known")
    if not isinstance(bound, str) or bound not in _BOUNDS:
        raise ArgumentError(f"bound = {abridged(bound)}; one of {', '.join(map(repr, _BOUNDS))} is required")
    table = ContingencyTable(2, minimum=least)
    population = Population(max(2 * least, knows + 1))
    return PrivacyCurve(EveryTable(table, population, None, Adversary(known=knows)), bound=bound)
