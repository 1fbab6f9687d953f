"""The certified guarantee of a plan, from the plan and the number of rows alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from statpriv.adversaries import Adversary
from statpriv.analysis import compose, privacy_curve
from statpriv.composition.accountant import PartitionAccountant
from statpriv.curve import PrivacyCurve
from statpriv.enclosure import Enclosure
from statpriv.errors import PlanError
from statpriv.partitions import RandomPartition
from statpriv.populations import Population
from statpriv.queries.property import Between, PropertyQuery
from statpriv.releasing.plan import Plan

__all__ = ["Guarantee", "certify"]

LARGE = 20_000
"""Rows above which the curves and tables of a report use cheaper bounds for known rows than the target does."""


@dataclass(frozen=True)
class Guarantee:
    """What a plan guarantees on a table of `rows` rows, whatever is in it.

    Attributes
    ----------
    sizes
        Rows of each part, in the order of the plan's queries.
    queries
        The same queries as the theory sees them: two with equal canonical predicates have one `attribute`, and
        every query has the hull of the ranges declared for its property.
    """

    plan: Plan
    rows: int
    sizes: tuple[int, ...]
    queries: tuple[PropertyQuery, ...]

    @property
    def epsilon(self) -> Fraction:
        """ε of the target."""
        return self.plan.guarantee.epsilon

    @cached_property
    def accountant(self) -> PartitionAccountant:
        """The budget of the release: every query of the plan is declared before any of them is answered."""
        target = self.plan.guarantee
        return PartitionAccountant(
            Population(self.rows),
            epsilon=target.epsilon,
            delta=target.delta,
            adversary=Adversary(known=target.known_rows),
            declared=(self.queries, RandomPartition(self.sizes)),
        )

    @property
    def curve(self) -> PrivacyCurve:
        """The curve of everything released, the partition secret."""
        return self.accountant.promised_curve

    @property
    def delta(self) -> Enclosure:
        """δ at the target's ε."""
        return self.accountant.get_delta(self.epsilon)

    @property
    def holds(self) -> bool:
        """Whether δ is certified to be at most the target."""
        return self.accountant.remaining_delta >= 0

    def secret(self, *, known: int, epsilon: Fraction) -> Enclosure:
        """δ for a reader who does not know who is in which part, and knows the values of `known` rows."""
        if known == self.plan.guarantee.known_rows and (epsilon == self.epsilon or not self.costly(known)):
            return self.curve.delta(epsilon)
        return self._bounded(known, epsilon)

    def costly(self, known: int) -> bool:
        """Whether the tightest curve with that many known rows takes seconds, so that pictures use cheaper bounds."""
        one_count = len(self.plan.properties) == 1 and sum(self.sizes) == self.rows
        return known > 0 and self.rows > LARGE and not one_count

    def published(self, *, known: int, epsilon: Fraction) -> Enclosure:
        """δ of the worst part, for a reader who knows who is in which part, and `known` values wherever they help."""
        found = self.parts(known=known, epsilon=epsilon)
        return Enclosure(max(delta.lower for delta in found), max(delta.upper for delta in found))

    def parts(self, *, known: int, epsilon: Fraction) -> list[Enclosure]:
        """δ of each part for a reader who knows who is in it, and the values of up to `known` of them."""
        keys = [(size, query.lower, query.upper) for size, query in zip(self.sizes, self.queries, strict=True)]
        found = {key: _part(*key, known).delta(epsilon) for key in dict.fromkeys(keys)}
        return [found[key] for key in keys]

    def if_probability_were(self, attribute: str, values: Sequence[Fraction]) -> list[tuple[Fraction, Enclosure]]:
        """δ of everything if the probability of one property were p, the others at their declared worst."""
        asked = [k for k, query in enumerate(self.queries) if query.attribute == attribute]
        others = [k for k in range(len(self.queries)) if k not in set(asked)]
        known = self.plan.guarantee.known_rows
        if not others:
            return [(p, self._bounded(known, self.epsilon, probability=p)) for p in values]
        # The sums of Theorems 5.1 and 5.2 are additive over parts.
        bound = "threshold" if self.costly(known) else "partition-sum"
        rest = self._compose(known, bound, parts=others).delta(self.epsilon)
        own = [self._compose(known, bound, parts=asked, probability=p).delta(self.epsilon) for p in values]
        return [(p, _at_most_one(rest + delta)) for p, delta in zip(values, own, strict=True)]

    def _bounded(self, known: int, epsilon: Fraction, *, probability: Fraction | None = None) -> Enclosure:
        """The tightest curve where that is cheap, else the smallest of the bounds that are."""
        if not self.costly(known):
            bounds = ["tightest"]
        elif len(self.plan.properties) == 1:
            bounds = ["threshold", "total-count"]
        else:
            bounds = ["threshold"]
        found = [self._compose(known, bound, probability=probability).delta(epsilon) for bound in bounds]
        return Enclosure(min(delta.lower for delta in found), min(delta.upper for delta in found))

    def _compose(
        self, known: int, bound: str, *, parts: list[int] | None = None, probability: Fraction | None = None
    ) -> PrivacyCurve:
        chosen = range(len(self.sizes)) if parts is None else parts
        queries = [self.queries[k] for k in chosen]
        if probability is not None:
            queries = [PropertyQuery(probability, attribute=query.attribute) for query in queries]
        return compose(
            queries,
            Population(self.rows),
            RandomPartition([self.sizes[k] for k in chosen]),
            adversary=Adversary(known=known),
            bound=bound,
        )


def certify(plan: Plan, rows: int) -> Guarantee:
    """The guarantee of a plan on a table of `rows` rows.

    Raises
    ------
    PlanError
        The parts have more rows than the table, or as many rows are known as there are.
    """
    if rows < 1:
        raise PlanError("the table has no rows: there is nothing to release")
    sizes = tuple(query.size(rows) for query in plan.queries)
    if sum(sizes) > rows:
        raise PlanError(
            f"the queries use {sum(sizes)} rows together, the table has {rows}; "
            "give them fewer rows (each row answers one query)"
        )
    known = plan.guarantee.known_rows
    if known > rows - 1:
        raise PlanError(
            f"guarantee.known_rows = {known}; of {rows} rows at most {rows - 1} can be known besides the critical one"
        )
    queries = tuple(
        PropertyQuery(Between(*plan.hull(query)), attribute=plan.attribute(query), name=query.name)
        for query in plan.queries
    )
    return Guarantee(plan, rows, sizes, queries)


def _part(size: int, lower: Fraction, upper: Fraction, known: int) -> PrivacyCurve:
    """A part all by itself: its known rows only shift the count."""
    unknown = size - min(known, size - 1)
    return privacy_curve(PropertyQuery(Between(lower, upper)), Population(unknown))


def _at_most_one(delta: Enclosure) -> Enclosure:
    return Enclosure(min(delta.lower, 1.0), min(delta.upper, 1.0))
