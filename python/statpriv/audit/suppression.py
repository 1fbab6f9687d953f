"""What suppressed cells of a published table may be, given everything else in it.

A suppressed cell is a count from 0 to what its mark says. Each published total is an equation about the suppressed
cells that it adds up. A suppressed total whose mark says that it is small is one too, with what is missing to that end
as a further unknown. Bounds are proved as :mod:`statpriv.audit.equations` says.
"""

from __future__ import annotations

from dataclasses import dataclass

from statpriv import budget
from statpriv.audit.equations import Bounds, ContradictionError, CountSystem, Equation
from statpriv.audit.table import Key, PublishedCell, PublishedTable
from statpriv.errors import ArgumentError


@dataclass(frozen=True)
class SuppressedBounds:
    """What a suppressed cell or total lies between, as everybody can work out.

    Attributes
    ----------
    key : tuple of str or None
        The cell.
    bounds : Bounds
        The least and the largest count.
    """

    key: Key
    bounds: Bounds


def suppressed_bounds(table: PublishedTable) -> tuple[SuppressedBounds, ...]:
    """The bounds of every suppressed cell and total of a table.

    Parameters
    ----------
    table : PublishedTable
        Its published totals are what gives suppressed cells away.

    Returns
    -------
    tuple of SuppressedBounds
        In the order of the table.

    Raises
    ------
    ArgumentError
        The counts contradict each other, or more cells are suppressed than can be bounded.
    MissingExtraError
        scipy is not installed.

    Examples
    --------
    Two cells of a row are suppressed, and so is one in another row. The last one is its row's total less the rest.

    >>> from statpriv.audit.table import PublishedCell, PublishedTable
    >>> cells = tuple(
    ...     PublishedCell(key, count)
    ...     for key, count in {
    ...         ("a", "x"): None, ("a", "y"): None, ("a", None): 20,
    ...         ("b", "x"): None, ("b", "y"): 31, ("b", None): 40,
    ...     }.items()
    ... )
    >>> table = PublishedTable("a table", (("row", ("a", "b")), ("column", ("x", "y"))), cells)
    >>> [str(each.bounds) for each in suppressed_bounds(table)]
    ['0 to 20', '0 to 20', '9']
    """
    hidden = table.suppressed()
    if len(hidden) > budget.MAX_SUPPRESSED_CELLS:
        raise ArgumentError(
            f"{table.name}: {len(hidden)} cells are suppressed; bounds are computed of at most "
            f"{budget.MAX_SUPPRESSED_CELLS}. Give the table in parts, or leave the bounds out"
        )
    unknown = [cell for cell in table.inner if cell.count is None]
    number = {cell.key: j for j, cell in enumerate(unknown)}
    system = _system(table, unknown, number)
    try:
        return tuple(_bounded(table, system, cell, number) for cell in hidden)
    except ContradictionError as error:
        raise ArgumentError(f"{table.name}: {error}; is it rounded, or read with the right totals?") from error


def _bounded(
    table: PublishedTable, system: CountSystem, cell: PublishedCell, number: dict[Key, int]
) -> SuppressedBounds:
    if None not in cell.key:
        return SuppressedBounds(cell.key, system.bounds([number[cell.key]]))
    known, hidden = table.parts[cell.key]
    found = system.bounds([number[key] for key in hidden])
    upper = None if found.upper is None else found.upper + known
    return SuppressedBounds(cell.key, Bounds(found.lower + known, upper, found.lower_attained, found.upper_attained))


def _system(table: PublishedTable, unknown: list[PublishedCell], number: dict[Key, int]) -> CountSystem:
    equations, most = [], [cell.most for cell in unknown]
    for total in table.totals:
        end = total.count if total.count is not None else total.most
        if end is None:
            continue
        known, hidden = table.parts[total.key]
        places = [number[key] for key in hidden]
        if total.count is None:  # the sum and what is missing to its end
            places, most = [*places, len(most)], [*most, None]
        equations.append(Equation(tuple(places), end - known))
    return CountSystem(len(most), tuple(equations), tuple(most))
