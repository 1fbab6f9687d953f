"""The guarantee of everything released from a table; the target refers to this, including all earlier releases.

A first release alone is composed exactly on all rows. ``statpriv.repeated_releases`` treats several releases.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from statpriv.composition.accountant import PartitionAccountant
from statpriv.composition.cohorts import Cohort
from statpriv.composition.known_parts import worst_part
from statpriv.composition.repeated_releases import RepeatedReleases
from statpriv.model.adversaries import Adversary
from statpriv.model.codec import stated_range
from statpriv.model.partitions import RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.situation import asked_of, capabilities, steps_of
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.literals import literal
from statpriv.releasing.ledger import PastRelease, Position, Rows
from statpriv.releasing.stated_ranges import Range, has_cells, ranges_of
from statpriv.releasing.written_composition import written_part

if TYPE_CHECKING:
    from statpriv.model.situation import Query
    from statpriv.releasing.guarantee import Guarantee
    from statpriv.releasing.steps import StatedQuery

__all__ = ["Everything", "as_first_release", "everything", "namesake_of", "widened", "with_everything"]

_PRIOR = (
    "The guarantee is about this ledger only. The plan names publications outside it: without a model of how these "
    "came about, theirs and this one cannot be added up."
)

_NAMESAKE = (
    "A table with columns of the same names was released before (release {} of this ledger), and by its rows this "
    "is another one. If it is about the same people under other ids, or in another order, they answer twice, and "
    "the guarantee does not cover that."
)


@dataclass(frozen=True)
class Everything:
    """The guarantee of a plan together with all earlier releases from the same table.

    Attributes
    ----------
    guarantee
        The guarantee of the plan alone.
    cohorts
        The rows of the table, grouped by the time at which they joined.
    earlier
        The earlier releases; empty for a first release.
    """

    guarantee: Guarantee
    cohorts: tuple[Cohort, ...]
    earlier: tuple[PastRelease, ...]

    @property
    def is_first(self) -> bool:
        """Whether nothing was released from this table before."""
        return not self.earlier

    @property
    def known(self) -> int:
        """Number of rows, other than the critical one, whose values the reader may know."""
        return self.guarantee.plan.guarantee.known_rows

    @cached_property
    def asked(self) -> tuple[tuple[tuple[Query, ...], tuple[int, ...]], ...]:
        """Queries and sizes of every release, each property with the hull of all ranges ever declared for it."""
        releases = [(release.queries, release.sizes) for release in self.earlier]
        releases.append((self.guarantee.queries, self.guarantee.sizes))
        every = widened([query for queries, _ in releases for query in queries])
        queries = iter(every)
        return tuple((tuple(next(queries) for _ in sizes), sizes) for _, sizes in releases)

    @cached_property
    def accountant(self) -> PartitionAccountant:
        """Each release as a batch, with the rows that joined in between, at this plan's ε and number of known rows.

        Its budget refuses nothing, because earlier plans may have had other targets. At each time as many of the known
        rows as possible are assumed to be in the table.
        """
        first, *later = self.cohorts
        accountant = PartitionAccountant(
            Population(first.rows), epsilon=self.guarantee.epsilon, delta=1, adversary=self._adversary(first.rows)
        )
        for r, (queries, sizes) in enumerate(self.asked):
            for cohort in later:
                if cohort.joined_after == r:
                    there = accountant.population.size
                    known = self._adversary(there + cohort.rows).total - self._adversary(there).total
                    accountant.extend(cohort.rows, known=known)
            accountant.compose_batch(queries, RandomPartition(sizes))
        return accountant

    @cached_property
    def releases(self) -> RepeatedReleases:
        """The bound that composes all releases, each on its own rows."""
        return self.accountant.charged

    @cached_property
    def deltas(self) -> tuple[Enclosure, ...]:
        """δ of each release on its own rows, at the target's ε."""
        return self.releases.deltas(self.guarantee.epsilon)

    @cached_property
    def worst_cohort(self) -> int:
        """Index of the most exposed cohort."""
        sums = self.releases.sums(self.deltas)
        return max(range(len(sums)), key=lambda cohort: sums[cohort][1])

    @cached_property
    def weights(self) -> tuple[Fraction, ...]:
        """For each release, the probability that it uses a given row of the worst cohort."""
        return self.releases.weights[self.worst_cohort]

    @cached_property
    def delta(self) -> Enclosure:
        """δ of everything released, this plan included, at the target's ε."""
        return self.guarantee.delta if self.is_first else self.releases.delta(self.guarantee.epsilon)

    @property
    def holds(self) -> bool:
        """Whether δ of everything is certified to be at most the target."""
        return Fraction(self.delta.upper) <= self.guarantee.plan.guarantee.delta

    @cached_property
    def on_rows_left(self) -> Guarantee:
        """The plan on the unspent rows, each property with its hull; curves and tables of the report refer to it.

        Given all earlier answers, the rows of this release are a uniform sample of the unspent rows, so the release is
        composed on these. Composition on all rows would understate δ for rows that joined later, because these are
        drawn with higher probability.
        """
        if self.is_first:
            return self.guarantee
        plan, rows = self.guarantee.plan, self.rows_left
        queries, _ = self.asked[-1]
        parts = tuple(
            # A gate around a single number is certified without that number, by a query without an attribute.
            replace(part, asked=cast("Any", asked)) if _property(asked := asked_of(query)) is not None else part
            for part, query in zip(self.guarantee.parts, queries, strict=True)
        )
        known = replace(plan.guarantee, known_rows=min(self.known, rows - 1))
        return replace(self.guarantee, plan=replace(plan, guarantee=known), rows=rows, parts=parts)

    @property
    def rows_left(self) -> int:
        """Rows that no earlier release has used."""
        return sum(cohort.rows for cohort in self.cohorts) - sum(release.rows for release in self.earlier)

    def published(self) -> Enclosure:
        """δ of the worst part of all releases, for a reader who knows the part of each row."""
        parts = (part for queries, sizes in self.asked for part in zip(queries, sizes, strict=True))
        return worst_part(parts, known=self.known, epsilon=self.guarantee.epsilon)

    def _adversary(self, rows: int) -> Adversary:
        """An adversary with as many known rows as these rows can hold besides the critical one."""
        return Adversary(known=min(self.known, rows - 1))


def everything(guarantee: Guarantee, position: Position) -> Everything:
    """The guarantee of a plan on a table that has this position in the ledger."""
    return Everything(guarantee, position.cohorts, position.releases)


def widened(queries: Sequence[Query]) -> list[Query]:
    """The same queries, each property with the hull of all ranges that any of them states for it.

    Where one of them states that each row has a probability of its own, all do. The publication steps of a query, such
    as a gate or rounding, stay unchanged.
    """
    hulls: dict[object, _Hull] = {}
    for query in queries:
        asked = asked_of(query)
        key = _property(asked)
        if key is not None:
            own = _Hull.of(asked)
            hulls[key] = hulls.get(key, own).joined(own)
    return [_restated(query, hulls) for query in queries]


def _property(query: Query) -> object:
    """Key that is equal for queries with the same property or the same cells; None if the query has no attribute."""
    attribute = getattr(query, "attribute", None)
    return None if attribute is None else (type(query), attribute)


@dataclass(frozen=True)
class _Hull:
    """What all queries of one property state together: the ranges, and whether each row has its own in them."""

    ranges: tuple[Range, ...]
    each: bool

    @classmethod
    def of(cls, asked: Any) -> _Hull:  # noqa: ANN401  (a count or a histogram)
        return cls(ranges_of(asked), asked.each_own)

    def joined(self, other: _Hull) -> _Hull:
        pairs = zip(self.ranges, other.ranges, strict=False)
        ranges = tuple((min(one[0], two[0]), max(one[1], two[1])) for one, two in pairs)
        return _Hull(ranges, self.each or other.each)


def _restated(query: Query, hulls: Mapping[object, _Hull]) -> Query:
    asked: Any = asked_of(query)
    hull = hulls.get(_property(asked))
    if hull is None or hull == _Hull.of(asked):
        return query
    ranges = [stated_range(ends, each=hull.each) for ends in hull.ranges]
    wider: Any = (
        HistogramQuery(cast("Any", ranges), attribute=asked.attribute)
        if has_cells(asked)
        else PropertyQuery(ranges[0], attribute=asked.attribute)
    )
    steps = steps_of(query)
    return PostProcessed(wider, *steps) if steps else cast("Query", wider)


# --- contents of a report -----------------------------------------------------------------------


def with_everything(contents: Mapping[str, Any], whole: Everything, position: Position) -> dict[str, Any]:
    """The contents of a report without answers, completed with the earlier releases and the ledger."""
    prior = [_PRIOR] if whole.guarantee.plan.prior else []
    namesake = [] if position.namesake is None else [_NAMESAKE.format(position.namesake)]
    told = {
        **contents,
        "data": {**contents["data"], "content_edited": position.content_edited},
        "guarantee": {
            **contents["guarantee"],
            "this_release": _ends(whole.on_rows_left.delta),
            "releases": len(whole.earlier) + 1,
            "term": None,
        },
        "history": [] if whole.is_first else _history(whole),
        "ledger": {
            **contents["ledger"],
            "rows_left": whole.rows_left,
            "rows_spent_before": position.rows_spent,
            "cohorts": [{"rows": c.rows, "since_release": c.joined_after + 1} for c in whole.cohorts],
        },
        "warnings": [*contents["warnings"], *prior, *namesake],
    }
    return told if whole.is_first else _with_earlier(told, whole)


def namesake_of(warnings: Sequence[str]) -> int | None:
    """The release of a table with the same column names, of which a warning of a report tells; None if none does."""
    number = re.escape(_NAMESAKE).replace(re.escape("{}"), "([1-9][0-9]{0,15})")
    found = (re.fullmatch(number, warning) for warning in warnings)
    return next((int(match[1]) for match in found if match), None)


def as_first_release(contents: Mapping[str, Any], guarantee: Guarantee) -> dict[str, Any]:
    """The contents of a dry run, which reads no ledger: those of a first release of the table."""
    rows = Rows(guarantee.rows)
    return with_everything(contents, Everything(guarantee, (Cohort(rows.n),), ()), Position.of_new(rows))


def _with_earlier(contents: Mapping[str, Any], whole: Everything) -> dict[str, Any]:
    guarantee = contents["guarantee"]
    own = (
        f"The curves and tables, δ against ε and against p and known rows, are about this release alone, on the "
        f"{whole.rows_left} rows that were left; the guarantee is about all {len(whole.earlier) + 1} releases together."
    )
    return {
        **contents,
        "guarantee": {
            **guarantee,
            "delta": _ends(whole.delta),
            "term": _term(whole.deltas[-1], whole.weights[-1]),
            "holds": whole.holds,
            "kind": "bound",
            "theorem": RepeatedReleases.theorem,
            "source": RepeatedReleases.source,
            "assumptions": [*guarantee["assumptions"], *RepeatedReleases.own_assumptions],
            "partition_secret": _ends(whole.delta),
            "partition_known": _ends(whole.published()),
        },
        "composition": _composition(contents["composition"], whole),
        "warnings": [*contents["warnings"], own],
    }


def _composition(composition: Mapping[str, Any], whole: Everything) -> dict[str, Any]:
    """The composition of this release alone on the unspent rows, each property with its hull over all releases."""
    queries, _ = whole.asked[-1]
    known = min(whole.known, whole.rows_left - 1)
    parts = [_restated_part(part, query) for part, query in zip(composition["part"], queries, strict=True)]
    return {**composition, "population": whole.rows_left, "known_rows": known, "part": parts}


def _restated_part(part: Mapping[str, Any], query: Query) -> dict[str, Any]:
    asked = asked_of(query)
    if capabilities(query).has_minimum:  # two tables never ask the same, and keep what they state
        return dict(part)
    ranges = [[literal(end) for end in ends] for ends in ranges_of(asked)]
    each = {"each": True} if getattr(asked, "each_own", False) else {}
    return {**part, **({"cells": ranges} if has_cells(asked) else {"probability": ranges[0]}), **each}


def _history(whole: Everything) -> list[dict[str, Any]]:
    entries = zip(whole.earlier, whole.asked, whole.deltas, whole.weights, strict=False)
    return [
        {
            "number": release.number,
            "release_id": release.release_id,
            "rows_spent": release.rows,
            "rows_then": sum(cohort.rows for cohort in whole.cohorts if cohort.joined_after <= r),
            **_term(delta, weight),
            "queries": [_stated(*query) for query in zip(queries, sizes, release.stated, strict=True)],
            "part": [_part(query, size) for query, size in zip(queries, sizes, strict=True)],
        }
        for r, (release, (queries, sizes), delta, weight) in enumerate(entries)
    ]


def _term(delta: Enclosure, weight: Fraction) -> dict[str, Any]:
    return {"delta": _ends(delta), "weight": float(weight)}


def _part(query: Query, size: int) -> dict[str, Any]:
    asked: Any = asked_of(query)
    return written_part(asked, size, steps_of(query))


def _stated(query: Query, size: int, stated: StatedQuery) -> dict[str, Any]:
    document = stated.document()
    kind = "cells" if has_cells(asked_of(query)) else "table" if capabilities(query).has_minimum else "where"
    return {kind: document.pop("predicate"), "size": size, **document}


def _ends(enclosure: Enclosure) -> dict[str, float]:
    return {"lower": enclosure.lower, "upper": enclosure.upper}
