"""The privacy curve of a perturbation alone: any counts, and a reader who knows all other entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from statpriv import budget
from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError
from statpriv.model.adversaries import Adversary
from statpriv.model.perturbations import Perturbation
from statpriv.model.populations import Population
from statpriv.model.queries.linear import LinearQuery
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.situation import Situation
from statpriv.numeric.arguments import as_instance
from statpriv.numeric.calls import answered
from statpriv.numeric.exact import Number, as_count


@dataclass(frozen=True)
class AnyCounts(Situation):
    """Counts of other rows, each perturbed by itself; the query stands for as many that an entry changes."""

    is_about_every_size: ClassVar[bool] = True

    def describe(self) -> list[str]:
        """One line for each part, as `explain()` prints them."""
        return [
            f"query       {self._counts}, each published after {self.steps[0]!r}",
            "population  any number of entries",
            "sampling    none: every entry is counted",
            "adversary   knows all entries but the critical one",
            "pair        the worst",
        ]

    @property
    def _counts(self) -> str:
        several = max(map(sum, self.asked.changed_counts(None) or []))
        return "a count" if several == 1 else f"{several} counts of different rows that an entry changes"

    @property
    def title(self) -> str:
        """What is released, for a plot."""
        return f"{self._counts.capitalize()}, perturbed, all other entries known"

    @property
    def summary(self) -> str:
        """One line for a repr."""
        return f"{self._counts} after {self.steps[0]!r}, all other entries known"


@answered
def perturbation_curve(perturbation: Perturbation, *, counts: Number = 1) -> PrivacyCurve:
    """The privacy curve of what a perturbation publishes, for a reader who knows all other entries.

    It holds for every number of entries and every law of the data: what is random is what the perturbation draws.

    Parameters
    ----------
    perturbation : noise.CellKey or RandomRounding
        How counts are perturbed.
    counts : int, default 1
        How many counts one entry changes, from 1 to 64: two in one table, if the entry moves from one cell to another.
        Their draws must be independent. Those of cells without common rows are; those of a table and its margins, by
        sums of keys, are not.

    Returns
    -------
    PrivacyCurve
        δ against ε in nats: the least for one count, a certified upper bound for several.

    Raises
    ------
    ArgumentError
        A value that is not allowed; the message names it.

    Notes
    -----
    Source: docs/explanation/perturbed-counts.md, with the proof.

    Examples
    --------
    >>> import statpriv as sp
    >>> rounded = sp.perturbation_curve(sp.RandomRounding(3))
    >>> rounded.delta(1).upper < 0.33334 and rounded.delta(20).lower > 0.33333
    True
    >>> sp.perturbation_curve(sp.RandomRounding(3), counts=2).delta(20).upper < 0.556
    True
    """
    required = "a perturbation of counts, such as RandomRounding(3) or noise.CellKey(...), is required"
    step, several = (
        as_instance(perturbation, "perturbation", Perturbation, required),
        as_count(counts, "counts", least=1),
    )
    if several > budget.MAX_COUNTS_OF_AN_ENTRY:
        raise ArgumentError(f"counts = {several}; a number from 1 to {budget.MAX_COUNTS_OF_AN_ENTRY} is required")
    entries = (step.different_counts or 0) + 1
    query = PostProcessed(LinearQuery([[1] * entries] * several), step)
    return PrivacyCurve(AnyCounts(query, Population(entries), None, Adversary(), None), bound="noise")
