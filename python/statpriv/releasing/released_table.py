"""Exact tables as a report states them: their cells, what is withheld, and the totals that may be formed.

A table is published only if every possible cell holds at least `minimum` rows and every row is in a declared cell. With
a public classification (`by`), each class is published or withheld by itself. Everything here is a function of one
entry of the key `tables` of a report, and so of what was published.

**Totals.** A sum over any dimension but `by` is a function of the published table of one class (or of the whole table),
so that it is covered by the guarantee of that table. A sum over the classes is never formed. Where a class is withheld,
the total less the other classes would be the table that was withheld.

**Trees** (`nested`). A published cell of the first dimensions is split by the next one where all cells that this gives
hold the minimum. A cell that is not split has the categories of the first dimensions alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, Literal, TypeAlias

from statpriv.errors import ArgumentError
from statpriv.numeric.literals import abridged

__all__ = ["RESERVED_NAMES", "Cell", "ReleasedTable", "Status", "contradictions", "holds_other_keys", "published_cells"]

Cell: TypeAlias = tuple[str, ...]
"""The category of each dimension, in the order of the dimensions."""
Status: TypeAlias = Literal["published", "withheld", "impossible", "not counted"]

RESERVED_NAMES = ("count", "count_status")
"""Names that no dimension may have: columns and keys that stand beside the dimensions."""


@dataclass(frozen=True)
class ReleasedTable:
    """One table of a report.

    Attributes
    ----------
    name
        A label; labels may repeat.
    dimensions
        Name and declared categories of each dimension.
    minimum
        The least number of rows of every possible cell that has none of its own.
    impossible
        The cells that were declared impossible.
    by, by_source
        The dimension that is a public classification, and where it is public; None without one.
    published
        Whether anything of the table is published; None if nothing was counted.
    withheld
        The classes that are withheld, where there is a public classification.
    rows
        The number of rows that were asked.
    counts
        The published cells with their counts, in row-major order; of a tree those that are not split further.
    """

    name: str
    dimensions: tuple[tuple[str, tuple[str, ...]], ...]
    minimum: int
    impossible: tuple[Cell, ...]
    by: str | None
    by_source: str | None
    published: bool | None
    withheld: tuple[str, ...]
    rows: int
    counts: tuple[tuple[Cell, int], ...]
    groupings: int = 1
    """How many groupings were declared, of which the finest that holds the minimum is published."""
    minima: tuple[tuple[Cell, int], ...] = ()
    """Cells with a least number of rows of their own."""
    nested: bool = False
    """Whether it is a tree."""

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> ReleasedTable:
        """Read an entry of the key `tables` of a report that is valid by the schema.

        Parameters
        ----------
        document
            The JSON object.

        Returns
        -------
        ReleasedTable

        Raises
        ------
        ArgumentError
            If the table contradicts its own rule; see :func:`contradictions`.

        Notes
        -----
        Source: docs/reference/report-file.md.

        Examples
        --------
        >>> table = ReleasedTable.from_document(
        ...     {
        ...         "name": "Region by age", "minimum": 10, "rows": 51, "published": True, "withheld": [],
        ...         "dimensions": {"region": ["n", "s"], "age": ["<30", "30+"]},
        ...         "impossible": [["n", "<30"]], "by": None, "by_source": None,
        ...         "cells": [
        ...             {"region": "n", "age": "30+", "count": 12},
        ...             {"region": "s", "age": "<30", "count": 10},
        ...             {"region": "s", "age": "30+", "count": 29},
        ...         ],
        ...     }
        ... )
        >>> table.margin("age"), table.margin()
        ({('<30',): 10, ('30+',): 41}, {(): 51})
        >>> table.status(("n", "<30"))
        'impossible'
        """
        if faults := contradictions(document):
            raise ArgumentError(f"tables: {'; '.join(faults)}")
        return cls(
            **{key: document[key] for key in ("name", "minimum", "by", "by_source", "published", "rows")},
            dimensions=tuple((name, tuple(categories)) for name, categories in document["dimensions"].items()),
            impossible=tuple(map(tuple, document["impossible"])),
            withheld=tuple(document["withheld"]),
            minima=tuple(own_minima(document).items()),
            nested=document.get("nested", False),
            groupings=1 + max(map(len, document.get("ladder", {}).get("recode", {}).values()), default=0),
            counts=published_cells(document),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the dimensions."""
        return tuple(name for name, _ in self.dimensions)

    def categories(self, dimension: str) -> tuple[str, ...]:
        """The declared categories of a dimension."""
        return dict(self.dimensions)[dimension]

    @property
    def number_of_cells(self) -> int:
        """The number of declared cells, impossible ones included."""
        return prod(len(categories) for _, categories in self.dimensions)

    def cells(self) -> Iterator[Cell]:
        """All declared cells in row-major order, impossible ones included."""
        return product(*(categories for _, categories in self.dimensions))

    @cached_property
    def by_cell(self) -> Mapping[Cell, int]:
        """The published counts by cell."""
        return dict(self.counts)

    @cached_property
    def not_split(self) -> tuple[Cell, ...]:
        """The published cells of a tree that have no category of the last dimension."""
        return tuple(cell for cell, _ in self.counts if len(cell) < len(self.dimensions))

    @cached_property
    def _rows_by_prefix(self) -> Mapping[Cell, int]:
        found: dict[Cell, int] = {}
        for cell, count in self.counts:
            for k in range(len(cell) + 1):
                found[cell[:k]] = found.get(cell[:k], 0) + count
        return found

    def rows_in(self, categories: Cell) -> int | None:
        """The number of rows with these categories of the first dimensions; None if it is not published."""
        return self._rows_by_prefix.get(categories)

    @cached_property
    def _excluded(self) -> frozenset[Cell]:
        return frozenset(self.impossible)

    @property
    def least(self) -> int:
        """The least minimum of all possible cells."""
        own = [least for _, least in self.minima]
        possible = self.number_of_cells - len(self.impossible)
        return min([*own, *([self.minimum] if len(own) < possible else [])])

    def status(self, cell: Cell) -> Status:
        """What became of a declared cell. Of a withheld table it does not depend on the counts."""
        if cell in self._excluded:
            return "impossible"
        if self.published is None:
            return "not counted"
        return "published" if cell in self.by_cell else "withheld"

    @property
    def summable(self) -> tuple[str, ...]:
        """The dimensions over which totals may be formed: all but the public classification."""
        return tuple(name for name in self.names if name != self.by)

    def margin(self, *kept: str) -> dict[Cell, int]:
        """Exact totals of the published cells over all dimensions but the named ones.

        Parameters
        ----------
        *kept
            Names of dimensions; none of them for the grand total.

        Returns
        -------
        dict of tuple to int
            By the categories of the named dimensions, in the order in which they are declared. Combinations of which
            no cell is published are left out.

        Raises
        ------
        ArgumentError
            If a name is no dimension or stands there twice; if the total would be over the public classification; if
            the totals of a tree would be over another dimension than its last ones, which not all its cells have.
        """
        if len(set(kept)) < len(kept) or not set(kept) <= set(self.names):
            raise ArgumentError(
                f"kept = {abridged(kept)}; different names of {', '.join(map(repr, self.names))} are required"
            )
        if self.by is not None and self.by not in kept:
            raise ArgumentError(
                f"kept = {abridged(kept)}; {self.by!r} has to be among them: it is a public classification, and no "
                "total over its classes is formed, since with all classes but one it would tell the last one"
            )
        if self.nested and kept != self.names[: len(kept)]:
            raise ArgumentError(
                f"kept = {abridged(kept)}; of a tree the first of {', '.join(map(repr, self.names))} are required, in "
                "this order: cells that are not split have no category of the last ones"
            )
        places = [self.names.index(name) for name in kept]
        totals: dict[Cell, int] = {}
        for cell, count in self.counts:
            if len(cell) < len(places):
                continue
            key = tuple(cell[place] for place in places)
            totals[key] = totals.get(key, 0) + count
        ordered = product(*(self.categories(name) for name in kept))
        return {key: totals[key] for key in ordered if key in totals}

    @property
    def smallest(self) -> int | None:
        """The smallest published count; None if nothing is published."""
        return min((count for _, count in self.counts), default=None)


# --- consistency ---------------------------------------------------------------------------------


def contradictions(table: Mapping[str, Any]) -> list[str]:
    """Why no release can have published this table.

    Parameters
    ----------
    table
        An entry of the key `tables` of a report, valid by the schema.

    Returns
    -------
    list of str
        Sentences that name the leaves. They quote no name, category or count, because a message about something that
        should not be in a report should not contain it either. Empty if the table is consistent with its rule.
    """
    return list(_declaration_faults(table)) or list(_content_faults(table))


def published_cells(table: Mapping[str, Any]) -> tuple[tuple[Cell, int], ...]:
    """The cells of an entry of the key `tables` with their counts, each with the categories that it has."""
    return tuple(
        (tuple(cell[name] for name in table["dimensions"] if name in cell), cell["count"]) for cell in table["cells"]
    )


def own_minima(table: Mapping[str, Any]) -> dict[Cell, int]:
    """The cells of an entry of the key `tables` that state a minimum of their own."""
    return {tuple(entry["cell"]): entry["minimum"] for entry in table.get("minima", ())}


def holds_other_keys(table: Mapping[str, Any]) -> bool:
    """Whether a cell holds a key that is no dimension, or a category that is not declared.

    The schema of reports cannot say which keys a cell may have. So this is part of the barrier that keeps everything
    that is not meant to be published from leaving with a report.
    """
    declared: dict[str, frozenset[str]] = {name: frozenset(own) for name, own in table["dimensions"].items()}
    names = [*declared]
    fewest = 1 if table.get("nested") else len(names)
    allowed = [{*names[:k], "count"} for k in range(fewest, len(names) + 1)]
    return any(
        cell.keys() not in allowed
        or any(label not in declared[name] for name, label in cell.items() if name in declared)
        for cell in table["cells"]
    )


def _declaration_faults(table: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the declared cells."""
    dimensions, impossible = table["dimensions"], [tuple(cell) for cell in table["impossible"]]
    if not dimensions or not all(map(_are_distinct, dimensions.values())):
        yield "tables.dimensions has to state different categories for at least one dimension"
        return
    conditions = table.get("conditions")
    if conditions is not None and _lengths(conditions) != _lengths(dimensions):
        yield "tables.conditions has to state one condition for each category of tables.dimensions, in their order"
    if set(RESERVED_NAMES) & set(dimensions):
        yield f"tables.dimensions has one with a reserved name ({', '.join(RESERVED_NAMES)})"
    if len(set(impossible)) < len(impossible) or not all(_is_declared(cell, dimensions) for cell in impossible):
        yield "tables.impossible has to name different declared cells, by a category of each dimension in their order"
    elif prod(map(len, dimensions.values())) - len(impossible) < 2:
        yield "tables.impossible leaves fewer than two possible cells"
    own = [tuple(entry["cell"]) for entry in table.get("minima", ())]
    if len({*own, *impossible}) < len(own) + len(impossible) or not all(_is_declared(cell, dimensions) for cell in own):
        yield "tables.minima has to name different possible cells, by a category of each dimension in their order"
    if table.get("nested"):
        if table["by"] is not None or "ladder" in table:
            yield "tables.nested is there beside tables.by or tables.ladder, and each excludes the others"
        excluded = frozenset(impossible)
        if len({cell[0] for cell in product(*dimensions.values()) if cell not in excluded}) < 2:
            yield "tables.impossible leaves fewer than two cells of the first dimension, which a tree begins with"
    if table["by"] is not None and table["by"] not in dimensions:
        yield "tables.by is none of tables.dimensions"
    if (table["by"] is None) != (table["by_source"] is None):
        yield "tables.by_source is there exactly if tables.by is"


def _content_faults(table: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the published cells, where the declaration is sound."""
    dimensions, withheld = table["dimensions"], table["withheld"]
    names, excluded = [*dimensions], {tuple(cell) for cell in table["impossible"]}
    place = None if table["by"] is None else names.index(table["by"])
    possible = [cell for cell in product(*dimensions.values()) if cell not in excluded]
    classes = [] if place is None else list(dict.fromkeys(cell[place] for cell in possible))
    classes.sort(key=[] if place is None else dimensions[table["by"]].index)
    if table["published"] is None:
        expected = []
        if withheld:
            yield "tables.withheld names classes, but tables.published says that nothing was counted"
    else:
        if withheld != [name for name in classes if name in withheld]:
            yield "tables.withheld has to name classes of tables.by that have possible cells, in their order"
        if place is not None and table["published"] != (len(withheld) < len(classes)):
            yield "tables.published has to be true exactly if a class is not in tables.withheld"
        hidden = set(withheld)
        expected = [cell for cell in possible if place is None or cell[place] not in hidden]
        expected = expected if table["published"] else []
    inside = _inside(table, expected)
    if inside is None:
        yield (
            "tables.cells has to hold every possible cell once, in row-major order, by itself or within a cell with "
            "categories of the first dimensions alone, and nothing if tables.published is not true"
            if table.get("nested")
            else "tables.cells has to hold exactly the possible cells that are not withheld, in row-major order, each "
            "with one category of every dimension and a count, and nothing if tables.published is not true"
        )
        return
    parts = ({cell[: len(shown) + 1] for cell in finest} for shown, finest in inside.items() if finest != [shown])
    if any(len(own) == 1 for own in parts):
        yield "tables.cells has a cell that is not split into its only possible part, which holds as many rows"
    counts, own_minimum = [cell["count"] for cell in table["cells"]], own_minima(table)
    least = [min(own_minimum.get(cell, table["minimum"]) for cell in finest) for finest in inside.values()]
    if any(count < minimum for count, minimum in zip(counts, least, strict=True)):
        yield f"tables.cells.count is below tables.minimum{' or tables.minima' if own_minimum else ''}"
    if counts and not (sum(counts) <= table["rows"] if withheld else sum(counts) == table["rows"]):
        yield f"tables.cells.count add up to {'more than' if withheld else 'something else than'} tables.rows"


def _inside(table: Mapping[str, Any], expected: Sequence[Cell]) -> dict[Cell, list[Cell]] | None:
    """The finest cells in each published one, in order; None unless these are exactly the expected ones."""
    if not table.get("nested"):
        return {cell: [cell] for cell in expected} if _are(table["cells"], [*table["dimensions"]], expected) else None
    stated = [_prefix(cell, table["dimensions"]) for cell in table["cells"]]
    shown, found = frozenset(stated), dict[Cell, list[Cell]]()
    for cell in expected:
        holding = [cell[:k] for k in range(1, len(cell) + 1) if cell[:k] in shown]
        if len(holding) != 1:
            return None
        found.setdefault(holding[0], []).append(cell)
    return found if [*found] == stated else None


def _prefix(cell: Mapping[str, Any], dimensions: Mapping[str, Sequence[str]]) -> Cell:
    """The categories of the first dimensions that a cell of a tree has; empty if it is none."""
    names = [*dimensions][: len(cell) - 1]
    fits = cell.keys() == {*names, "count"} and all(cell[name] in dimensions[name] for name in names)
    return tuple(cell[name] for name in names) if fits else ()


def _are(cells: Sequence[Mapping[str, Any]], names: Sequence[str], expected: Sequence[Cell]) -> bool:
    """Whether the stated cells are the expected ones, with no other key than their categories and the count."""
    keys = {*names, "count"}
    return len(cells) == len(expected) and all(
        stated.keys() == keys and all(stated[name] == category for name, category in zip(names, cell, strict=True))
        for stated, cell in zip(cells, expected, strict=True)
    )


def _lengths(by_dimension: Mapping[str, Sequence[str]]) -> list[tuple[str, int]]:
    return [(name, len(stated)) for name, stated in by_dimension.items()]


def _are_distinct(categories: Sequence[str]) -> bool:
    return bool(categories) and len(set(categories)) == len(categories)


def _is_declared(cell: Cell, dimensions: Mapping[str, Sequence[str]]) -> bool:
    return len(cell) == len(dimensions) and all(
        category in categories for category, categories in zip(cell, dimensions.values(), strict=True)
    )
