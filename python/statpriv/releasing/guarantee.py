"""The certified guarantee of a plan, computed only from the plan, the number of rows and the sizes of groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from statpriv import budget
from statpriv.curves.build import compose, privacy_curve
from statpriv.curves.curve import PrivacyCurve
from statpriv.curves.remembered import remembered_delta
from statpriv.errors import NotAvailableError, PlanError
from statpriv.model.adversaries import Adversary
from statpriv.model.codec import stated_range
from statpriv.model.partitions import RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.queries.variants import unlabelled
from statpriv.model.ranges import EachBetween
from statpriv.model.situation import Query
from statpriv.numeric.enclosure import Enclosure
from statpriv.releasing.deltas import at_most_one, greatest, least, weighted
from statpriv.releasing.part import Asked, Part
from statpriv.releasing.plan import Plan, PlannedQuery, Publication
from statpriv.releasing.planned_table import PlannedTable
from statpriv.releasing.sql_text import quoted
from statpriv.releasing.stated_ranges import has_cells
from statpriv.releasing.steps import Steps, expected_counts

__all__ = ["AS_GOOD_AS_NONE", "Guarantee", "certify", "in_units"]

AS_GOOD_AS_NONE = 1e-30
"""A figure below it is drawn as that."""
_AT_MOST_DOUBLE = 1e-320
"""Below it, doubles are too far apart for a bound to be tight."""


@dataclass(frozen=True)
class Guarantee:
    """The guarantee of a plan on a table of `rows` rows, independent of the contents of the table.

    Attributes
    ----------
    groups
        For a stratified plan, the number of rows of each group of the table; None without groups.
    parts
        One part for each query of the plan, in order, then one for each table.
    """

    plan: Plan
    rows: int
    groups: Mapping[str, int] | None
    parts: tuple[Part, ...]

    @property
    def alike(self) -> Guarantee:
        """The guarantee to which pictures and leaks refer: this one, or a larger δ that costs less."""
        return self

    @property
    def epsilon(self) -> Fraction:
        """ε of the target."""
        return self.plan.guarantee.epsilon

    @property
    def counted(self) -> tuple[Part, ...]:
        """The parts of the queries of the plan."""
        return self.parts[: len(self.plan.queries)]

    @property
    def tabulated(self) -> tuple[Part, ...]:
        """The parts of the tables of the plan."""
        return self.parts[len(self.plan.queries) :]

    @property
    def names(self) -> tuple[str, ...]:
        """What the plan calls each part."""
        return (*(query.name for query in self.plan.queries), *(table.name for table in self.plan.tables))

    @property
    def is_one_table_of_all(self) -> bool:
        """Whether all rows answer one exact table, so that there is no partition."""
        return len(self.parts) == len(self.tabulated) == 1 and self.sizes == (self.rows,)

    @property
    def is_of_parts(self) -> bool:
        """Whether each query or table has rows of its own, which are drawn; false where all rows answer everything."""
        return not self.is_one_table_of_all and self.plan.same_rows is None

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of rows of each part."""
        return tuple(part.size for part in self.parts)

    @property
    def sizes_drawn(self) -> tuple[int, ...]:
        """Number of rows of each set of rows that is drawn: all rows are one set where they answer everything."""
        return self.sizes if self.is_of_parts else (self.rows,)

    @property
    def rows_used(self) -> int:
        """Number of rows that answer anything, each counted once."""
        return sum(self.sizes_drawn)

    @property
    def queries(self) -> tuple[Query, ...]:
        """The published query of each part, as the theory sees it."""
        return tuple(part.query for part in self.parts)

    @property
    def sizes_by_group(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Each group of a stratified plan, with its number of rows in each part; empty for any other plan."""
        return tuple(
            (group, tuple((part.groups or {}).get(group, 0) for part in self.parts)) for group in self.groups or ()
        )

    @cached_property
    def curve(self) -> PrivacyCurve:
        """The curve of the whole release, with a secret partition.

        All queries of the plan are declared before any is answered. Choosing which answers to read, and in which
        order, is therefore post-processing of all answers.
        """
        return self._compose(self.plan.guarantee.known_rows, "tightest", self.parts)

    @cached_property
    def delta(self) -> Enclosure:
        """δ at the target's ε."""
        least_double = self._if_hardly_any(self.plan.guarantee.known_rows, self.parts, self.epsilon, _AT_MOST_DOUBLE)
        return least_double[0] if least_double else remembered_delta(self.curve, self.epsilon)

    @property
    def holds(self) -> bool:
        """Whether δ is certified to be at most the target."""
        return Fraction(self.delta.upper) <= self.plan.guarantee.delta

    def telling(self) -> tuple[str, ...]:
        """Name what is asked and can reveal a value with certainty, because their probability may be 0 or 1.

        Alone, such a query or table has δ = 1 and meets no target. Secretly using only some rows reduces δ of the whole
        release, but for the rows that answer it the value remains certain. Publication steps may hide it again.
        """
        known, epsilon = self.plan.guarantee.known_rows, self.epsilon
        return tuple(
            name
            for name, part in zip(self.names, self.parts, strict=True)
            if part.may_be_certain and remembered_delta(part.curve(known=known), epsilon).upper >= 1
        )

    def with_certified_steps(self) -> Guarantee:
        """The same guarantee, with the certificate using the steps that improve it.

        A gate is used if it gives a bound for every probability. A gate that admits a count which may be that of
        nobody or of everybody gives no such bound.
        Suppression and rounding are used in parts that are not large, if they reduce δ. They are not used behind a gate
        without such a bound, because withholding distinguishes counts that these steps publish alike.
        """
        if self.plan.is_conditional:  # no gate gives a bound for every p there, and exact counts have the bounds
            return self
        target = self.plan.guarantee
        parts = [_gated_if_bounded(part, target.known_rows, target.epsilon) for part in self.parts]
        gated = replace(self, parts=tuple(parts))
        if not gated.if_available(target.known_rows, "tightest", parts, target.epsilon):
            gated = self
        coarsened = replace(gated, parts=tuple(map(_coarsened, gated.parts)))
        if coarsened.parts == gated.parts or coarsened.delta.upper >= gated.delta.upper:
            return gated
        return coarsened

    def secret(self, *, known: int, epsilon: Fraction) -> Enclosure:
        """δ for a reader who knows the values of `known` rows but not the part of any row."""
        if known == self.plan.guarantee.known_rows and epsilon == self.epsilon:
            return self.delta
        if known == self.plan.guarantee.known_rows and not self._is_drawn_by_cheap_bounds(known):
            return remembered_delta(self.curve, epsilon)
        found = [self.bounded(known, epsilon)]
        if self.sizes_by_group and epsilon == self.epsilon and self.rows <= budget.MAX_ROWS_OF_TIGHT_PICTURES:
            found += self.if_available(known, "own-group", self.parts, epsilon)
        if epsilon >= self.epsilon and known <= self.plan.guarantee.known_rows:
            found.append(self.delta)  # δ does not increase with ε, nor decrease with the reader's knowledge
        return least(found)

    def bounded(self, known: int, epsilon: Fraction) -> Enclosure:
        """δ from the tightest curve if that is cheap, else the smallest of the cheap bounds."""
        return self._bounded(known, epsilon, self.parts)

    def costly(self, known: int) -> bool:
        """Whether the tightest curve with `known` known rows takes seconds; figures then use cheaper bounds."""
        if self.plan.is_conditional:
            return False
        if self.groups is not None:
            return self.rows > budget.MAX_ROWS_OF_TIGHT_GROUPED_PICTURES
        if not self.counted:  # a table has a bound that is always cheap
            return False
        one_count = len(self.plan.properties) == 1 and sum(self.sizes) == self.rows
        return known > 0 and self.rows > budget.MAX_ROWS_OF_TIGHT_PICTURES and not one_count

    def _is_drawn_by_cheap_bounds(self, known: int) -> bool:
        """Whether figures do without the tightest curve: also where several properties are composed for long."""
        several = self.groups is None and len(self.plan.properties) > 1 and not self.plan.is_conditional
        return self.costly(known) or (several and self.rows > budget.MAX_ROWS_OF_TIGHT_COMPOSED_PICTURES)

    def published(self, *, known: int, epsilon: Fraction) -> Enclosure:
        """δ of the worst part, for a reader who knows the part of each row, and the `known` most helpful values.

        Without parts there is nothing to know.
        """
        if not self.is_of_parts:
            return self.secret(known=known, epsilon=epsilon)
        return greatest(self.deltas(known=known, epsilon=epsilon))

    def deltas(self, *, known: int, epsilon: Fraction) -> list[Enclosure]:
        """δ of each part, for a reader who knows its rows and the values of up to `known` of them."""
        keys = [(part.size, tuple((part.groups or {}).items()), unlabelled(part.query)) for part in self.parts]
        different = dict(zip(keys, self.parts, strict=True))
        found = {key: remembered_delta(part.curve(known=known), epsilon) for key, part in different.items()}
        return [found[key] for key in keys]

    def if_probability_were(self, attribute: str, p: Fraction, *, published: bool) -> Enclosure:
        """δ of the whole release if one counted property had probability p, the others at their declared worst.

        Parameters
        ----------
        attribute : str
            The property.
        p : Fraction
            Its probability, in every group.
        published : bool
            Whether its counts are published with the plan's steps; otherwise they are published exactly.
        """
        known = self.plan.guarantee.known_rows
        if self.plan.is_conditional:  # steps on a count never add to the δ of the exact one
            parts = [part.given_p(p) if part.asked.attribute == attribute else part for part in self.parts]
            return self._bounded(known, self.epsilon, parts)
        own_parts = [part for part in self.parts if part.asked.attribute == attribute]
        others = [part for part in self.parts if part.asked.attribute != attribute]
        exact = [part.at(p).exact for part in own_parts]
        large = budget.MAX_ROWS_OF_TIGHT_PICTURES
        # The law of a large part's published answers is expensive; the bound of its gate holds for every p.
        asked = [
            part.at(p) if part.size <= large else part if part.is_gated else part.at(p).exact for part in own_parts
        ]
        # The certificate of gated parts holds for every p, hence for this p.
        certified = [self.delta] if published and all(part.is_gated for part in own_parts) else []
        if not others:
            found = [self._bounded(known, self.epsilon, exact)]
            found += [self._additive(known, asked)] if published else []
            return least(found + certified)
        # The sums of Theorems 5.1 and 5.2 are additive over parts.
        own = [self._additive(known, parts) for parts in ([exact, asked] if published and asked != exact else [exact])]
        return least([at_most_one(self._additive_of_others(attribute, tuple(others)) + least(own)), *certified])

    def _additive_of_others(self, attribute: str, others: tuple[Part, ...]) -> Enclosure:
        """The additive bound of the other parts, which is the same at every p of the property."""
        if attribute not in self._of_others:
            self._of_others[attribute] = self._additive(self.plan.guarantee.known_rows, others)
        return self._of_others[attribute]

    @cached_property
    def _of_others(self) -> dict[str, Enclosure]:
        """Cache of the other parts' bound, keyed by the property that they do not count."""
        return {}

    def _additive(self, known: int, parts: Sequence[Part]) -> Enclosure:
        """δ by a bound that is a sum over the parts."""
        if known and self.groups is not None:  # tighter bounds average over the positions of known rows in each group
            return self._revealed(known, self.epsilon, parts)
        # Post-processing of an answer never increases its δ; the threshold bound applies to exact counts.
        exact = [part.exact for part in parts]
        cheap = self.costly(known) and not any(part.is_gated for part in parts)
        attempts: list[tuple[str, Sequence[Part]]] = [("threshold", exact)] if cheap else []
        attempts += [("partition-sum", parts), ("partition-sum", exact)]
        found = (delta for bound, asked in attempts for delta in self.if_available(known, bound, asked, self.epsilon))
        first = next(found, None)
        return self._revealed(known, self.epsilon, parts) if first is None else first

    def _bounded(self, known: int, epsilon: Fraction, parts: Sequence[Part]) -> Enclosure:
        if self.groups is not None and (known or self.costly(known)):  # tighter bounds take seconds for each δ
            return self._revealed(known, epsilon, parts)
        if found := self._if_hardly_any(known, parts, epsilon, AS_GOOD_AS_NONE):
            return found[0]
        drawn_cheaply = self._is_drawn_by_cheap_bounds(known)
        if not drawn_cheaply or any(part.is_gated for part in parts):  # the only bound of gated parts is cheap
            found = self.if_available(known, "tightest", parts, epsilon)
            return found[0] if found else self._revealed(known, epsilon, parts)
        exact = [part.exact for part in parts]
        cheap = ("threshold", "total-count", "worst-entry")
        found = [delta for bound in cheap for delta in self.if_available(known, bound, exact, epsilon)]
        return least(found or self.if_available(known, "tightest", parts, epsilon))

    def _revealed(self, known: int, epsilon: Fraction, parts: Sequence[Part]) -> Enclosure:
        """δ by Theorem 5.2, as if all known rows were in every part: the bound that is always cheap.

        Revealing the part of each row only helps a reader. Hence δ ≤ Σ_k (n_kg/N_g) · Δ̂_k for the worst group g, where
        part k has n_kg of the N_g rows of g. Δ̂_k is taken with as many known rows as part k can hold, at their worst
        values.
        """
        deltas = replace(self, parts=tuple(parts)).deltas(known=known, epsilon=epsilon)
        if self.groups is None:
            return weighted([Fraction(part.size, self.rows) for part in parts], deltas)
        return greatest(
            [
                weighted([Fraction((part.groups or {}).get(group, 0), rows) for part in parts], deltas)
                for group, rows in self.groups.items()
                if rows
            ]
        )

    def _if_hardly_any(self, known: int, parts: Sequence[Part], epsilon: Fraction, most: float) -> list[Enclosure]:
        """Theorem 5.2's bound if it is below `most`; in the far tail, composing large parts takes seconds instead."""
        if self.groups is not None or not self.is_of_parts or self.rows <= budget.MAX_ROWS_OF_TIGHT_COMPOSED_PICTURES:
            return []
        bound = self._revealed(known, epsilon, parts).upper
        return [Enclosure(0.0, bound)] if bound < most else []

    def if_available(self, known: int, bound: str, parts: Sequence[Part], epsilon: Fraction) -> list[Enclosure]:
        """δ by the given bound, as a list of one; empty if the theory has no such bound for these queries.

        In place of the tightest bound there may be another one below 10⁻³⁰.
        """
        try:
            if bound == "tightest" and (found := self._if_hardly_any(known, parts, epsilon, AS_GOOD_AS_NONE)):
                return found
            return [remembered_delta(self._compose(known, bound, parts), epsilon)]
        except NotAvailableError:
            return []

    def _compose(self, known: int, bound: str, parts: Sequence[Part]) -> PrivacyCurve:
        population = self.population
        if self.is_one_table_of_all and bound == "tightest":
            return privacy_curve(parts[0].query, population, adversary=Adversary(known=known))
        return compose(
            [part.query for part in parts],
            population,
            self.plan.same_rows
            or RandomPartition([part.size if part.groups is None else part.groups for part in parts]),
            adversary=Adversary(known=known),
            bound=bound,
        )

    @property
    def population(self) -> Population:
        """The rows of the table, in their groups or units."""
        if self.groups is not None:
            return Population(groups=dict(self.groups))
        return in_units(self.plan, self.rows, self.rows) or Population(self.rows)


@dataclass(frozen=True)
class GuaranteeOfAllGroups(Guarantee):
    """The guarantee of a plan whose groups have probabilities of their own, and whose parts are drawn from all rows.

    Attributes
    ----------
    hull
        The same plan for rows without groups, each with a probability of its own in the hull of all of them. Every δ of
        it is larger, and costs less.
    """

    hull: Guarantee

    @property
    def alike(self) -> Guarantee:
        return self.hull

    @property
    def sizes_by_group(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return ()

    def telling(self) -> tuple[str, ...]:
        return self.hull.telling()

    def costly(self, known: int) -> bool:  # noqa: ARG002  (whatever is known)
        return True

    def bounded(self, known: int, epsilon: Fraction) -> Enclosure:
        return self.hull.secret(known=known, epsilon=epsilon)

    def deltas(self, *, known: int, epsilon: Fraction) -> list[Enclosure]:
        return self.hull.deltas(known=known, epsilon=epsilon)

    def if_probability_were(self, attribute: str, p: Fraction, *, published: bool) -> Enclosure:
        return self.hull.if_probability_were(attribute, p, published=published)


def certify(plan: Plan, rows: int, groups: Mapping[str, int] | None = None) -> Guarantee:
    """Certify the guarantee of a plan on a table of `rows` rows.

    Parameters
    ----------
    plan : Plan
        The plan.
    rows : int
        Number of rows of the table.
    groups : dict of str to int, optional
        If the plan names a group column: the number of rows of each of its values, `rows` in total.

    Raises
    ------
    PlanError
        If the parts have more rows than the table or one of its groups, or if not even one row would be unknown.
    """
    if rows < 1:
        raise PlanError("the table has no rows: there is nothing to release")
    known = plan.guarantee.known_rows
    if known > rows - 1:
        raise PlanError(
            f"guarantee.known_rows = {known}; of {rows} rows at most {rows - 1} can be known besides the critical one"
        )
    if groups is None:
        sizes = [*(query.size(rows) for query in plan.queries), *(table.size(rows) for table in plan.tables)]
        _refuse_units_that_do_not_fit(plan, rows)
        if plan.same_rows is None:
            _refuse_more_than(plan, "the table", rows, sum(sizes))
        counted = (
            replace(_part(plan, query, size), clustered=in_units(plan, rows, size))
            for query, size in zip(plan.queries, sizes, strict=False)
        )
        own = zip(plan.tables, sizes[len(plan.queries) :], strict=True)
        tabulated = (_tabulated(plan, table, size) for table, size in own)
        return Guarantee(plan, rows, None, (*counted, *tabulated)).with_certified_steps()
    if len(groups) > budget.MAX_GROUPS:
        raise PlanError(f"the group column has {len(groups)} values; at most {budget.MAX_GROUPS} groups are possible")
    if not plan.stratified:
        return _of_all_groups(plan, rows, groups)
    by_group = [query.sizes_in(groups) for query in plan.queries]
    for group, most in groups.items():
        _refuse_more_than(plan, f"the group {quoted(group)}", most, sum(sizes_in[group] for sizes_in in by_group))
    parts = tuple(_stratified_part(plan, query, sizes) for query, sizes in zip(plan.queries, by_group, strict=True))
    return Guarantee(plan, rows, dict(groups), parts)


def _of_all_groups(plan: Plan, rows: int, groups: Mapping[str, int]) -> Guarantee:
    """Parts of all rows, whose groups have probabilities of their own."""
    for query in plan.queries:
        query.check_groups(groups)
    sizes = [query.size(rows) for query in plan.queries]
    _refuse_more_than(plan, "the table", rows, sum(sizes))
    parts, hulls = [], []
    for query, size in zip(plan.queries, sizes, strict=True):
        own = _part(plan, query, size, each=True)
        hulls.append(own)
        parts.append(replace(own, asked=_asked_by_group(plan, query, groups)))
    return GuaranteeOfAllGroups(plan, rows, dict(groups), tuple(parts), Guarantee(plan, rows, None, tuple(hulls)))


def _gated_if_bounded(part: Part, known: int, epsilon: Fraction) -> Part:
    gated = replace(part, certified=part.steps.gate)
    return gated if gated.is_gated and remembered_delta(gated.curve(known=known), epsilon).upper < 1 else part


def _coarsened(part: Part) -> Part:
    possible = not has_cells(part.asked) and not part.steps.withholds and part.size <= budget.MAX_ROWS_OF_TIGHT_PICTURES
    return replace(part, certified=part.steps.coarsening) if possible else part


def _refuse_more_than(plan: Plan, what: str, rows: int, used: int) -> None:
    if used > rows:
        raise PlanError(
            f"the {plan.what_is_asked} use {used} rows together, {what} has {rows}; "
            "give them fewer rows (each row answers one query)"
        )


def in_units(plan: Plan, rows: int, size: int) -> Population | None:
    """`size` of the `rows` rows of a table in their units; None if each row is a unit of its own.

    A part lacks rows − size rows, so it lacks at most as many units; and each unit has at most the largest size.
    """
    units, largest = plan.data.units, plan.data.largest_unit
    if units is None or largest is None:
        return None
    fewest = max(units - (rows - size), -(-size // largest))
    return Population(size, clusters=fewest, largest_cluster=min(largest, size))


def _refuse_units_that_do_not_fit(plan: Plan, rows: int) -> None:
    units, largest = plan.data.units, plan.data.largest_unit
    if units is None or largest is None:
        return
    if not units <= rows <= units * largest or largest > rows - units + 1:
        raise PlanError(
            f"data.units = {units} units of 1 to {largest} rows (data.largest_unit) cannot be the {rows} rows of the "
            f"table: {units} units have {units} to {units * largest} rows, and the largest of them at most "
            f"{max(rows - units + 1, 1)}"
        )


def _part(plan: Plan, query: PlannedQuery, size: int, *, each: bool = False) -> Part:
    hulls, attribute, each = plan.hulls(query), plan.attribute(query), each or plan.is_each(query)
    # A range of one point stays a range where it holds given everything else.
    ranges: Any = [EachBetween(*hull) if plan.is_conditional else stated_range(hull, each=each) for hull in hulls]
    asked: Asked
    if query.cells:
        asked = HistogramQuery(ranges, attribute=attribute, name=query.name)
    else:
        asked = PropertyQuery(ranges[0], attribute=attribute, name=query.name)
    expected = tuple(expected_counts([(size, hull)], largest_unit=plan.data.largest_unit or 1) for hull in hulls)
    return Part(size, None, asked, Steps(size, expected, query.publication))


def _tabulated(plan: Plan, table: PlannedTable, size: int) -> Part:
    asked = table.query if plan.same_rows is None else table.of_the_same_rows
    return Part(size, None, asked, Steps(size, (), Publication()), table=table)


def _asked_by_group(plan: Plan, query: PlannedQuery, groups: Iterable[str]) -> PropertyQuery:
    """The count of a query, with a probability or a range for each group."""
    each = plan.is_each(query)
    stated = {group: stated_range(plan.hull(query, group), each=each) for group in groups}
    return PropertyQuery(stated, attribute=plan.attribute(query), name=query.name)


def _stratified_part(plan: Plan, query: PlannedQuery, sizes: Mapping[str, int]) -> Part:
    hulls = {group: plan.hull(query, group) for group in sizes}
    asked = _asked_by_group(plan, query, sizes)
    size = sum(sizes.values())
    expected = (expected_counts([(sizes[group], hulls[group]) for group in sizes]),)
    return Part(size, dict(sizes), asked, Steps(size, expected, query.publication))
