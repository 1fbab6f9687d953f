"""What minimum counts are worth: δ of the rule "every cell has at least T entries", for several T and ε."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from statpriv.curves.minimum_count import minimum_count_curve
from statpriv.numeric.enclosure import Enclosure

if TYPE_CHECKING:
    from statpriv.plotting import Picture

NAME = "minimum-counts"
"""The name under which the table is printed."""
MINIMA = (2, 3, 5, 10, 20, 30, 50, 100)
EPSILONS = ("0.1", "0.5", "1", "2", "3")
_DRAWN = range(2, 101)


@dataclass(frozen=True)
class RuleValue:
    """One rule at one ε.

    Attributes
    ----------
    minimum : int
        T: the least number of entries of every possible cell.
    epsilon : str
        ε in nats.
    bound : Enclosure
        δ_T, the bound by four heights.
    supremum : Enclosure
        The supremum over all laws, numbers of entries and numbers of cells.
    """

    minimum: int
    epsilon: str
    bound: Enclosure
    supremum: Enclosure

    @property
    def agrees(self) -> bool:
        """Whether the supremum is at most the bound, as the theorem says."""
        return self.supremum.lower <= self.bound.upper


def table_of_rules(minima: Sequence[int] = MINIMA, epsilons: Sequence[str] = EPSILONS) -> tuple[RuleValue, ...]:
    """Every rule at every ε, by minimum, then by ε."""
    return tuple(
        RuleValue(minimum, epsilon, bound.delta(epsilon), supremum.delta(epsilon))
        for minimum in minima
        for bound, supremum in [(minimum_count_curve(minimum), minimum_count_curve(minimum, bound="supremum"))]
        for epsilon in epsilons
    )


def picture_of_rules() -> Picture:
    """δ_T against T, a line for each ε."""
    from statpriv.plotting import Line, Picture

    curves = [minimum_count_curve(minimum) for minimum in _DRAWN]
    lines = tuple(
        Line(f"ε = {epsilon}", tuple(_DRAWN), tuple(curve.delta(epsilon) for curve in curves), tuple(curves))
        for epsilon in EPSILONS
    )
    return Picture("minimum", "delta", "Exact tables with at least T entries in every cell", lines, decades=12)
