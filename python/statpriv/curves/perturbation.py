"""The privacy curve of a perturbation alone: any counts, and a reader who knows all other entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

from statpriv import budget
from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError
from statpriv.model.adversaries import Adversary
from statpriv.model.perturbations import Perturbation
from statpriv.model.populations import Population
from statpriv.model.queries.linear import LinearQuery
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.situation import Pair, Situation
from statpriv.numeric.arguments import as_instance, length_of_tuple
from statpriv.numeric.calls import answered
from statpriv.numeric.exact import Number, as_count
from statpriv.numeric.literals import abridged


@dataclass(frozen=True, init=False, repr=False)
class CountsOfAnEntry(LinearQuery):
    """Counts of different rows, by how many of them an entry joins, and how many it leaves."""

    joined: int
    left: int

    def __init__(self, joined: int, left: int, entries: int) -> None:
        super().__init__([[1] * entries] * (joined + left))
        object.__setattr__(self, "joined", joined)
        object.__setattr__(self, "left", left)

    def changed_counts(self, pair: Pair) -> list[tuple[int, int]]:
        """Those under one value alone and those under the other, either way."""
        del pair
        return [(self.joined, self.left), (self.left, self.joined)]

    def __str__(self) -> str:
        one = "a count that an entry joins" if self.joined == 1 else f"{self.joined} counts that an entry joins"
        return f"{one} and {self.left} that it leaves" if self.left else one


@dataclass(frozen=True)
class AnyCounts(Situation):
    """Counts of other rows, each perturbed by itself; the query stands for as many that an entry changes."""

    is_about_every_size: ClassVar[bool] = True

    def describe(self) -> list[str]:
        """One line for each part, as `explain()` prints them."""
        return [
            f"query       {self.asked}, published after {self.steps[0]!r}",
            "population  any number of entries",
            "sampling    none: every entry is counted",
            "adversary   knows all entries but the critical one",
            "pair        the worst",
        ]

    @property
    def title(self) -> str:
        """What is released, for a plot."""
        return f"{str(self.asked).capitalize()}, perturbed, all other entries known"

    @property
    def summary(self) -> str:
        """One line for a repr."""
        return f"{self.asked}, published after {self.steps[0]!r}, all other entries known"


@answered
def perturbation_curve(perturbation: Perturbation, *, counts: Number | tuple[Number, Number] = 1) -> PrivacyCurve:
    """The privacy curve of what a perturbation publishes, for a reader who knows all other entries.

    It holds for every number of entries and every law of the data: what is random is what the perturbation draws.

    Parameters
    ----------
    perturbation : noise.CellKey or RandomRounding
        How counts are perturbed.
    counts : int or tuple of two int, default 1
        How many counts have the entry under one value and not under the other. Two numbers if it joins some and leaves
        others: (1, 1) if it moves from one cell of a table to another. From 1 to 64 together.
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
    >>> sp.perturbation_curve(sp.RandomRounding(3), counts=(1, 1)).delta(20).upper < 0.556
    True
    """
    required = "a perturbation of counts, such as RandomRounding(3) or noise.CellKey(...), is required"
    step = as_instance(perturbation, "perturbation", Perturbation, required)
    both = cast("tuple[Number, Number]", counts if length_of_tuple(counts) == 2 else (counts, 0))
    joined, left = (as_count(number, "counts") for number in both)
    if not 1 <= joined + left <= budget.MAX_COUNTS_OF_AN_ENTRY:
        raise ArgumentError(
            f"counts = {abridged(counts)}; from 1 to {budget.MAX_COUNTS_OF_AN_ENTRY} counts together are required"
        )
    asked = CountsOfAnEntry(joined, left, (step.different_counts or 0) + 1)
    everybody_else = Adversary(known=asked.entries - 1)
    situation = AnyCounts(PostProcessed(asked, step), Population(asked.entries), None, everybody_else, None)
    return PrivacyCurve(situation, bound="noise")
