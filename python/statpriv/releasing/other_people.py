"""δ if people were other than the plan says: not alike, or living in households.

Each figure stands beside the certified one, for the same queries on the same rows, whether or not the plan declares
what it supposes. Rows that each have a probability of their own in a wider range, and rows in households, never have a
smaller δ. The figures are the tightest bounds that there are, so where the certified one is a bound too, one of them
may be smaller. Where no theorem bounds δ, there is no figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import EachBetween
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.parallel import on_all_processors
from statpriv.planning.sensitivity import APART, HOUSEHOLDS, widened
from statpriv.releasing.guarantee import Guarantee, in_units
from statpriv.releasing.part import Part
from statpriv.releasing.stated_ranges import has_cells, ranges_of

__all__ = ["OtherPeople", "other_people"]


@dataclass(frozen=True)
class OtherPeople:
    """Other people than the plan's.

    Attributes
    ----------
    outside
        Each row has a probability of its own, up to so far outside the declared range; None where this is not changed.
    household
        Rows of the largest household; None where each row is one.
    delta
        δ at the target's ε.
    """

    outside: Fraction | None
    household: int | None
    delta: Enclosure


def other_people(guarantee: Guarantee) -> list[OtherPeople]:
    """The other people of whom a report says what they would do to δ, as far as a theorem bounds it."""
    base = guarantee.alike
    if guarantee.tabulated or base.groups is not None:
        return []  # a minimum holds for every law; in strata each group has one

    def deltas(other: _Supposed) -> list[Enclosure]:
        return other.guarantee.if_available(base.plan.guarantee.known_rows, "tightest", other.parts, base.epsilon)

    supposed = list(_supposed(guarantee, base))
    found = zip(supposed, on_all_processors(deltas, supposed), strict=True)
    return [OtherPeople(other.outside, other.household, delta) for other, bounds in found for delta in bounds]


@dataclass(frozen=True)
class _Supposed:
    """What would be certified for other people."""

    outside: Fraction | None
    household: int | None
    guarantee: Guarantee
    parts: Sequence[Part]


def _supposed(guarantee: Guarantee, base: Guarantee) -> Iterator[_Supposed]:
    declared = all(part.asked.each_own for part in guarantee.parts)
    for distance in (Fraction(0), *APART):
        if distance or not declared:
            yield _Supposed(distance, None, base, [_apart(part, distance) for part in base.parts])
    if any(has_cells(part.asked) for part in base.parts):
        return
    own = [_apart(part, Fraction(0)) for part in base.parts]
    for largest in HOUSEHOLDS:
        if (base.plan.data.largest_unit or 1) < largest < base.rows:
            data = replace(base.plan.data, units=-(-base.rows // largest), largest_unit=largest)
            plan = replace(base.plan, data=data)
            parts = [replace(part, clustered=in_units(plan, base.rows, part.size)) for part in own]
            yield _Supposed(None, largest, replace(base, plan=plan), parts)


def _apart(part: Part, distance: Fraction) -> Part:
    """The part with exact counts, if each row had a probability of its own, so far outside each range."""
    ranges: Any = [EachBetween(*widened(ends, distance)) for ends in ranges_of(part.asked)]
    attribute = part.asked.attribute
    if has_cells(part.asked):
        return replace(part.exact, asked=HistogramQuery(ranges, attribute=attribute))
    return replace(part.exact, asked=PropertyQuery(ranges[0], attribute=attribute))
