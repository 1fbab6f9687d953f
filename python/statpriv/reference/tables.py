"""Exact tables with a minimum count, by definition: every table of a few entries, flat, on a ladder or as a tree.

The entries are independent with one law. Every table of the others is enumerated with its multinomial probability.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any, TypeAlias

from statpriv.errors import ArgumentError
from statpriv.reference.cases import LIMIT, refuse_above, subsets
from statpriv.reference.curves import Curve
from statpriv.reference.laws import Number, Weights, as_law, excess

Cell: TypeAlias = Hashable
Counts: TypeAlias = "dict[Cell, int]"
Node: TypeAlias = Any
"""A cell, or a list of the nodes that it is split into."""


def table_curve(
    law: Mapping[Hashable, Number],
    entries: int,
    *,
    minimum: int,
    tree: Sequence[Node] | None = None,
    ladder: Sequence[Sequence[Sequence[Hashable]]] | None = None,
    known: Sequence[Hashable] = (),
) -> Curve:
    """The least δ of an exact table that is published where its cells hold a minimum number of entries.

    Parameters
    ----------
    law : mapping
        The probability of each cell, one law for all entries; cells are hashable and no lists.
    entries : int
        Number of entries, the critical one and the known ones included.
    minimum : int
        The least number of entries of a cell that is published.
    tree : list, optional
        Nested lists whose leaves are the cells. From the root down, a node is split if all its children hold the
        minimum, and their counts are published. Without it, the table is one node: all cells or nothing.
    ladder : list of groupings, optional
        Instead, several groupings of the cells, the finest first, each a list of groups. The counts of the finest one
        whose groups all hold the minimum are published.
    known : sequence, optional
        The cells of the entries that the adversary knows.

    Returns
    -------
    Curve
        δ of the worst pair of cells, as a function of `e^ε`.

    Raises
    ------
    ArgumentError
        A value that is not allowed, or too many tables.

    Examples
    --------
    >>> import statpriv as sp
    >>> halves = {"a": "1/2", "b": "1/2"}
    >>> sp.reference.table_curve(halves, 5, minimum=2)(1)
    Fraction(1, 8)
    >>> thirds = {"a": "1/3", "b": "1/3", "c": "1/3"}
    >>> sp.reference.table_curve(thirds, 7, minimum=2, tree=["a", ["b", "c"]])("3/2")
    Fraction(283, 1458)
    """
    masses = as_law(law, "law")
    cells = list(masses)
    others = entries - 1 - len(known)
    if others < 0 or minimum < 1 or len(cells) < 2:
        raise ArgumentError(
            f"entries = {entries}, minimum = {minimum}; at least one entry besides the {len(known)} known ones, a "
            "minimum of at least 1 and two cells are required"
        )
    if unknown := [cell for cell in known if cell not in masses]:
        raise ArgumentError(f"known has {unknown[0]!r}, which is no cell of the law")
    refuse_above(LIMIT, subsets(others + len(cells) - 1, others), "tables")
    publish = (
        _on_ladder(ladder, minimum) if ladder is not None else _on_tree([*cells] if tree is None else tree, minimum)
    )
    laws: dict[Cell, Weights[Hashable]] = {}
    for critical in cells:
        published: defaultdict[Hashable, Fraction] = defaultdict(Fraction)
        for counts, mass in _tables(masses, others):
            for cell in [critical, *known]:
                counts[cell] += 1
            published[publish(counts)] += mass
        laws[critical] = Weights.from_law(published)
    return Curve(lambda x: max(excess(laws[v], laws[w], x) for v, w in permutations(cells, 2)))


def _tables(law: Mapping[Cell, Fraction], entries: int) -> Iterator[tuple[Counts, Fraction]]:
    """Every table of so many entries, with its probability: cell by cell, each count binomial among what is left."""

    def fill(cells: list[Cell], left: int, mass: Fraction, counts: Counts) -> Iterator[tuple[Counts, Fraction]]:
        first, *rest = cells
        if not rest:
            yield {**counts, first: left}, mass * law[first] ** left
            return
        for count in range(left + 1):
            ways = subsets(left, count)
            yield from fill(rest, left - count, mass * ways * law[first] ** count, {**counts, first: count})

    yield from fill(list(law), entries, Fraction(1), {})


def _on_tree(tree: Sequence[Node], minimum: int) -> Callable[[Counts], Hashable]:
    def split(node: Node, counts: Counts) -> Hashable:
        if not isinstance(node, list):
            return None
        totals = [_total(child, counts) for child in node]
        if min(totals) < minimum:
            return None
        return tuple((total, split(child, counts)) for total, child in zip(totals, node, strict=True))

    return lambda counts: split([*tree], counts)


def _total(node: Node, counts: Counts) -> int:
    return sum(_total(child, counts) for child in node) if isinstance(node, list) else counts[node]


def _on_ladder(ladder: Sequence[Sequence[Sequence[Cell]]], minimum: int) -> Callable[[Counts], Hashable]:
    def finest(counts: Counts) -> Hashable:
        for level, grouping in enumerate(ladder):
            totals = tuple(sum(counts[cell] for cell in group) for group in grouping)
            if min(totals) >= minimum:
                return level, totals
        return None

    return finest
