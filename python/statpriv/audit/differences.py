"""People who are isolated when one published table is taken from another.

Tables of overlapping groups of people give away, by subtraction, counts that neither shows. Two tables are compared on
the dimensions that they share by name. Three kinds of difference are looked for, each bounded in work:

* **The same cell, two counts** (`"coverage"`). For every combination of shared categories and totals, both counts are
  determined, where each table says them by addition. If they differ, and one group is part of the other, the
  difference is the number of people who are in one only: adults against everybody, two editions of a register, one
  table with "unknown" left out.
* **Breaks that do not coincide** (`"breaks"`). A shared dimension is a range of numbers in both, cut at other places:
  0–15, 16–29 against 0–17, 18–29. The counts below a break of one table and below a break of the other differ by the
  people between both. One dimension at a time is cut, the others are held at shared categories or totals.
* **Everything at once** (`"joint"`). If all tables are of exactly the same people, all their counts are equations about
  the cells of the common refinement. Bounds of each cell are proved by linear programming. Cells that hold at least one
  person, and fewer than the minimum, are isolated by the tables together, though by none of them.

Not found: differences that need another source than these tables; categories that mean the same under other names; cuts
of two dimensions at once, and combinations of three or more tables, where the joint step is too large or does not
apply.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from math import prod
from typing import Literal, TypeAlias

from statpriv import budget
from statpriv.audit.equations import Bounds, ContradictionError, CountSystem, Equation
from statpriv.audit.ordered import Interval, intervals
from statpriv.audit.table import Key, PublishedTable
from statpriv.errors import ArgumentError

Where: TypeAlias = "tuple[tuple[str, str], ...]"
"""The names of dimensions, and the category, range or total of each."""


@dataclass(frozen=True)
class Difference:
    """A count that follows from two tables by subtraction.

    Attributes
    ----------
    kind : "coverage" or "breaks"
        Two counts of one cell, or counts up to two different breaks.
    tables : tuple of two str
        The names of the tables.
    where : tuple of (str, str)
        The cell: dimensions, and the category of each. Totals are left out.
    people : int
        How many people are isolated: in the first table and not in the second, or negative where it is the other way.
        For breaks, those in the range that `where` names.
    """

    kind: Literal["coverage", "breaks"]
    tables: tuple[str, str]
    where: Where
    people: int

    def __str__(self) -> str:
        place = ", ".join(f"{name} = {label}" for name, label in self.where) or "all people"
        if self.kind == "breaks":
            return f"{self.tables[0]} and {self.tables[1]}: {_people(self.people)} with {place}"
        more, fewer = self.tables if self.people > 0 else self.tables[::-1]
        return f"{more} has {_people(abs(self.people))} more than {fewer} where {place}"


@dataclass(frozen=True)
class Isolated:
    """A cell of several tables together that holds somebody, and fewer people than the minimum: proved.

    Attributes
    ----------
    where : tuple of (str, str)
        The cell of the common refinement.
    bounds : Bounds
        How many people it holds.
    """

    where: Where
    bounds: Bounds


@dataclass(frozen=True)
class Comparison:
    """What several tables of the same people give away together.

    Attributes
    ----------
    differences : tuple of Difference
        Of two tables each, with fewer people than the minimum.
    isolated : tuple of Isolated
        Of all tables together.
    joint : str
        Whether all tables were looked at together, and if not, why.
    compared : int
        How many counts were compared two by two.
    """

    differences: tuple[Difference, ...]
    isolated: tuple[Isolated, ...]
    joint: str
    compared: int


def compare(tables: Sequence[PublishedTable], minimum: int, *, jointly: bool = True) -> Comparison:
    """The people whom several tables isolate together.

    Parameters
    ----------
    tables : sequence of PublishedTable
        At least two, of the same people, or of some of them.
    minimum : int
        Differences of fewer people are named.
    jointly : bool, default True
        Also look at all tables at once, which needs scipy.

    Returns
    -------
    Comparison

    Raises
    ------
    ArgumentError
        There are too many tables.
    MissingExtraError
        scipy is not installed, and `jointly` is True.

    Examples
    --------
    >>> everybody = PublishedTable.from_counts({"region": ["n", "s"]}, [52, 40], name="everybody")
    >>> adults = PublishedTable.from_counts({"region": ["n", "s"]}, [49, 18], name="adults")
    >>> for each in compare([everybody, adults], 10).differences:
    ...     print(each)
    everybody has 3 people more than adults where region = n
    """
    if len(tables) > budget.MAX_COMPARED_TABLES:
        raise ArgumentError(f"{len(tables)} tables; at most {budget.MAX_COMPARED_TABLES} are compared at a time")
    found: list[Difference] = []
    compared = 0
    for one, other in combinations(tables, 2):
        for each in (*_of_coverage(one, other), *_of_breaks(one, other)):
            compared += 1
            if abs(each.people) < minimum and (each.people or each.kind == "breaks"):
                found.append(each)
    isolated, joint = _together(tables, minimum) if jointly else ((), "not asked for")
    return Comparison(tuple(_minimal(found)), isolated, joint, compared)


# --- two tables ----------------------------------------------------------------------------------


def _shared(one: PublishedTable, other: PublishedTable) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """The dimensions of both, with the categories in each."""
    categories = dict(other.dimensions)
    return [(name, mine, categories[name]) for name, mine in one.dimensions if name in categories]


def _key(table: PublishedTable, where: dict[str, str | None]) -> Key:
    return tuple(where.get(name) for name in table.dimension_names)


def _of_coverage(one: PublishedTable, other: PublishedTable) -> Iterator[Difference]:
    shared = _shared(one, other)
    options = [[None, *(label for label in mine if label in theirs)] for _, mine, theirs in shared]
    for labels in product(*options):
        where = dict(zip((name for name, _, _ in shared), labels, strict=True))
        mine, theirs = one.count(_key(one, where)), other.count(_key(other, where))
        if mine is not None and theirs is not None:
            named = tuple((name, label) for name, label in where.items() if label is not None)
            yield Difference("coverage", (one.name, other.name), named, mine - theirs)


def _of_breaks(one: PublishedTable, other: PublishedTable) -> Iterator[Difference]:
    shared = _shared(one, other)
    for name, mine, theirs in shared:
        own, others = intervals(mine), intervals(theirs)
        if own is None or others is None or set(own.values()) == set(others.values()):
            continue
        held = [
            (held_name, [None, *(label for label in held_mine if label in held_theirs)])
            for held_name, held_mine, held_theirs in shared
            if held_name != name
        ]
        for labels in product(*(options for _, options in held)):
            where = dict(zip((held_name for held_name, _ in held), labels, strict=True))
            first, second = _below(one, name, own, where), _below(other, name, others, where)
            for (low, counted), (high, counted_there) in product(first.items(), second.items()):
                if low not in second and high not in first:
                    between = (name, _spelled(min(low, high), max(low, high)))
                    others_held = ((held_name, label) for held_name, label in where.items() if label is not None)
                    people = counted_there - counted if low < high else counted - counted_there
                    yield Difference("breaks", (one.name, other.name), (between, *others_held), people)


def _below(
    table: PublishedTable, name: str, ranges: dict[str, Interval], where: dict[str, str | None]
) -> dict[int, int]:
    """How many people are below each break of a dimension, as far as the table says it."""
    found: dict[int, int] = {}
    sum_so_far = 0
    for label, each in ranges.items():
        count = table.count(_key(table, {**where, name: label}))
        if count is None or each.high is None or (not found and each.low > 0):
            break
        sum_so_far += count
        found[each.high] = sum_so_far
    return found


def _spelled(low: int, high: int) -> str:
    return str(low) if high == low + 1 else f"{low}-{high - 1}"


def _minimal(differences: list[Difference]) -> list[Difference]:
    """Each difference once; a difference at a total is left out where it is that of one of its cells."""
    kept: list[Difference] = []
    for each in sorted(differences, key=lambda each: -len(each.where)):
        implied = any(
            each.kind == finer.kind
            and each.tables == finer.tables
            and each.people == finer.people
            and set(each.where) <= set(finer.where)
            for finer in kept
        )
        if not implied:
            kept.append(each)
    return sorted(kept, key=lambda each: (abs(each.people), each.tables, each.where))


# --- all tables ----------------------------------------------------------------------------------


def _together(tables: Sequence[PublishedTable], minimum: int) -> tuple[tuple[Isolated, ...], str]:
    dimensions = _refined(tables)
    if dimensions is None:
        return (), "no: a dimension has other categories in one table than in another"
    size = prod(len(atoms) for _, atoms in dimensions)
    if size > budget.MAX_JOINT_CELLS:
        return (), f"no: {size} combinations of all categories; at most {budget.MAX_JOINT_CELLS} are looked at"
    totals = {table.count((None,) * len(table.dimensions)) for table in tables}
    if len(totals) > 1:
        return (), "no: the tables have different totals, so they are not of the same people"
    atoms = list(product(*(names for _, names in dimensions)))
    equations = [each for table in tables for each in _equations(table, dimensions, atoms)]
    system = CountSystem(len(atoms), tuple(equations), (None,) * len(atoms))
    found = []
    try:
        for j, atom in enumerate(atoms):
            if system.upper[j] == 0:
                continue
            bounds = system.bounds([j])
            if bounds.lower >= 1 and bounds.upper is not None and bounds.upper < minimum:
                where = tuple((name, label) for (name, _), label in zip(dimensions, atom, strict=True))
                found.append(Isolated(where, bounds))
    except ContradictionError:
        return (), "no: no group of people has all these counts, so the tables are not of the same people"
    return tuple(found), f"yes: {size} combinations of all categories"


def _refined(tables: Sequence[PublishedTable]) -> list[tuple[str, tuple[str, ...]]] | None:
    """The dimensions of all tables, each with the finest categories that all tables are made of, if there are such."""
    found: dict[str, tuple[str, ...]] = {}
    for table in tables:
        for name, categories in table.dimensions:
            known = found.get(name, categories)
            if set(known) == set(categories):
                found[name] = known
            elif (both := _cut(known, categories)) is not None:
                found[name] = both
            else:
                return None
    return list(found.items())


def _cut(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...] | None:
    own, others = intervals(one), intervals(other)
    if own is None or others is None:
        return None
    ranges = [*own.values(), *others.values()]
    lows = {min(each.low for each in own.values()), min(each.low for each in others.values())}
    ends = {each.high is None for each in (list(own.values())[-1], list(others.values())[-1])}
    if len(lows) > 1 or len(ends) > 1:
        return None
    highest = max((each.high for each in ranges if each.high is not None), default=0)
    breaks = sorted({each.low for each in ranges} | {each.high for each in ranges if each.high is not None})
    found = [_spelled(low, high) for low, high in pairwise(breaks)]
    return (*found, f"{highest}+") if True in ends else tuple(found)


def _equations(
    table: PublishedTable, dimensions: Sequence[tuple[str, tuple[str, ...]]], atoms: Sequence[tuple[str, ...]]
) -> Iterator[Equation]:
    """What the published cells of a table say about the cells of the refinement."""
    parts = [_parts(name, atoms_of, table) for name, atoms_of in dimensions]
    for key in [*(cell.key for cell in table.cells), *table.impossible]:
        count = table.count(key)
        if count is None:
            continue
        labels = dict(zip(table.dimension_names, key, strict=True))
        allowed = [
            part.get(labels.get(name) or "", None) if labels.get(name) is not None else None
            for (name, _), part in zip(dimensions, parts, strict=True)
        ]
        unknowns = tuple(
            j
            for j, atom in enumerate(atoms)
            if all(own is None or label in own for own, label in zip(allowed, atom, strict=True))
        )
        yield Equation(unknowns, count)


def _parts(name: str, atoms: Sequence[str], table: PublishedTable) -> dict[str, frozenset[str]]:
    """For each category of a table, the finest categories it is made of."""
    categories = dict(table.dimensions).get(name, ())
    if set(categories) == set(atoms):
        return {label: frozenset({label}) for label in categories}
    own, fine = intervals(categories) or {}, intervals(atoms) or {}
    return {
        label: frozenset(
            atom
            for atom, inside in fine.items()
            if inside.low >= each.low and (each.high is None or (inside.high is not None and inside.high <= each.high))
        )
        for label, each in own.items()
    }


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number or 'no'} people"
