"""The rows that answer one query of a plan, and the query as the theory sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from statpriv.composition.known_parts import curve_of_part
from statpriv.curves.build import privacy_curve
from statpriv.curves.curve import PrivacyCurve
from statpriv.model.adversaries import Adversary
from statpriv.model.populations import Population
from statpriv.model.queries.contingency import ContingencyTable
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.processed import PostProcessed, Step
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import Between, EachBetween
from statpriv.model.situation import Query
from statpriv.releasing.plan import Publication
from statpriv.releasing.planned_table import PlannedTable
from statpriv.releasing.stated_ranges import ranges_of
from statpriv.releasing.steps import StatedQuery, Steps

__all__ = ["Asked", "Part"]

Asked: TypeAlias = PropertyQuery | HistogramQuery | ContingencyTable


@dataclass(frozen=True)
class Part:
    """The rows that answer one query, and the query as the theory sees it.

    Attributes
    ----------
    size
        Number of rows of the part.
    groups
        For a stratified plan, the number of rows of each group; None without groups.
    asked
        The property or histogram. Queries have equal `attribute` if their canonical predicates are equal, and their
        ranges are the hull of all ranges declared for it.
    steps
        The steps applied to the exact counts before they are published.
    certified
        The steps that the certificate uses. The remaining steps never make the certificate worse.
    supposed
        Whether the probability is supposed instead of declared. The certificate then holds for this probability only.
    table
        The exact table that is asked; None for a query.
    clustered
        The rows of the part in their units; None if each row is a unit of its own.
    """

    size: int
    groups: Mapping[str, int] | None
    asked: Asked
    steps: Steps
    certified: tuple[Step, ...] = ()
    supposed: bool = False
    table: PlannedTable | None = None
    clustered: Population | None = None

    @property
    def query(self) -> Query:
        """The query together with the steps that the certificate uses."""
        asked = self.asked
        if not self.certified or not isinstance(asked, PropertyQuery):
            return asked
        if self.is_gated and not self.supposed and asked.lower == asked.upper:
            # With a single number for p, the curve would hold only for that p and not for every p.
            asked = PropertyQuery(Between(0, 1), name=asked.name)
        return PostProcessed(asked, *self.certified)

    @property
    def stated(self) -> StatedQuery:
        """The query and its publication steps, in the plan's words."""
        return self.steps.stated((self.asked.attribute or "") if self.table is None else self.table.canonical)

    @property
    def is_gated(self) -> bool:
        """Whether the certificate holds for every probability, because of the gate.

        Where each row has a probability of its own, no gate gives that: everybody else may be certain.
        """
        return not self.asked.each_own and any(step.withholds_outside for step in self.certified)

    @property
    def exact(self) -> Part:
        """The same part if its exact counts were published."""
        return replace(self, steps=replace(self.steps, publication=Publication()), certified=())

    def at(self, p: Fraction) -> Part:
        """The same part if the probability of its property were p, in every group."""
        stated = p if self.groups is None else dict.fromkeys(self.groups, p)
        steps = (*self.steps.gate, *self.steps.coarsening) if self.groups is None else ()
        asked = PropertyQuery(stated, attribute=self.asked.attribute)
        return replace(self, asked=asked, certified=steps, supposed=True)

    def given_p(self, p: Fraction) -> Part:
        """The same part with exact counts, if each row had its property with probability p given everything else."""
        return replace(self.exact, asked=PropertyQuery(EachBetween(p, p), attribute=self.asked.attribute))

    @property
    def may_be_certain(self) -> bool:
        """Whether the range of its probability, or of that of a cell, contains 0 or 1."""
        return any(lower == 0 or upper == 1 for lower, upper in ranges_of(self.asked))

    def curve(self, *, known: int) -> PrivacyCurve:
        """Curve of this part alone, for a reader who knows its rows and the values of up to `known` of them."""
        if self.clustered is not None:
            return privacy_curve(self.query, self.clustered, adversary=Adversary(known=min(known, self.size - 1)))
        return curve_of_part(self.query, self.size if self.groups is None else self.groups, known=known)
